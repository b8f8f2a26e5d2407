/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All SQL of the Nsight Systems reader. Columns are found by their names in the result, because exports of each version
 * have others; NOT INDEXED, because an index of an untrusted file need not agree with its table.
 */
#include "formats/nsys_int.h"

#define ROWS(table) "SELECT * FROM \"" table "\" NOT INDEXED"
#define COUNT(table) "SELECT count(*) FROM \"" table "\" NOT INDEXED"

const char *const fsc_nsys_tables[NS_TABLES] = {
	[NS_STRINGS] = "StringIds",
	[NS_KERNEL] = "CUPTI_ACTIVITY_KIND_KERNEL",
	[NS_MEMCPY] = "CUPTI_ACTIVITY_KIND_MEMCPY",
	[NS_MEMSET] = "CUPTI_ACTIVITY_KIND_MEMSET",
	[NS_SYNC] = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
	[NS_GRAPH] = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
	[NS_RUNTIME] = "CUPTI_ACTIVITY_KIND_RUNTIME",
	[NS_NVTX] = "NVTX_EVENTS",
	[NS_OSRT] = "OSRT_API",
	[NS_OVERHEAD] = "PROFILER_OVERHEAD",
	[NS_THREADS] = "ThreadNames",
	[NS_PROCESSES] = "PROCESSES",
	[NS_GPUS] = "TARGET_INFO_GPU",
	[NS_START_TIME] = "TARGET_INFO_SESSION_START_TIME",
	[NS_SYSTEM] = "TARGET_INFO_SYSTEM_ENV",
	[NS_RANKS] = "MPI_RANKS",
};

const char *const fsc_nsys_queries[NS_TABLES] = {
	[NS_STRINGS] = ROWS("StringIds"),
	[NS_KERNEL] = ROWS("CUPTI_ACTIVITY_KIND_KERNEL"),
	[NS_MEMCPY] = ROWS("CUPTI_ACTIVITY_KIND_MEMCPY"),
	[NS_MEMSET] = ROWS("CUPTI_ACTIVITY_KIND_MEMSET"),
	[NS_SYNC] = ROWS("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"),
	[NS_GRAPH] = ROWS("CUPTI_ACTIVITY_KIND_GRAPH_TRACE"),
	[NS_RUNTIME] = ROWS("CUPTI_ACTIVITY_KIND_RUNTIME"),
	[NS_NVTX] = ROWS("NVTX_EVENTS"),
	[NS_OSRT] = ROWS("OSRT_API"),
	[NS_OVERHEAD] = ROWS("PROFILER_OVERHEAD"),
	[NS_THREADS] = ROWS("ThreadNames"),
	[NS_PROCESSES] = ROWS("PROCESSES"),
	[NS_GPUS] = ROWS("TARGET_INFO_GPU"),
	[NS_START_TIME] = ROWS("TARGET_INFO_SESSION_START_TIME"),
	[NS_SYSTEM] = ROWS("TARGET_INFO_SYSTEM_ENV"),
	[NS_RANKS] = ROWS("MPI_RANKS"),
};

/* Of the connection, before anything of the file is looked at. */
const char *const fsc_nsys_settings = "PRAGMA query_only = ON;"
				      "PRAGMA trusted_schema = OFF;"
				      "PRAGMA temp_store = MEMORY;"
				      "PRAGMA mmap_size = 0;"
				      "PRAGMA cell_size_check = ON;"
				      "PRAGMA cache_size = -16384;";

const char *const fsc_nsys_list = "SELECT name, type, rootpage FROM sqlite_master";
const char *const fsc_nsys_look = "SELECT type, rootpage FROM sqlite_master WHERE name = ?1";
/* Columns that are computed when they are read. */
const char *const fsc_nsys_computed = "SELECT 1 FROM pragma_table_xinfo(?1) WHERE hidden <> 0";
const char *const fsc_nsys_string =
	"SELECT \"id\", \"value\" FROM \"StringIds\" NOT INDEXED WHERE rowid = ?1";

const struct fsc_nsys_unread fsc_nsys_unread[] = {
	{ "SCHED_EVENTS", "sched_events_not_read", COUNT("SCHED_EVENTS") },
	{ "COMPOSITE_EVENTS", "cpu_samples_not_read", COUNT("COMPOSITE_EVENTS") },
	{ "SAMPLING_CALLCHAINS", "cpu_sample_frames_not_read", COUNT("SAMPLING_CALLCHAINS") },
	{ "CUDA_CALLCHAINS", "cuda_call_frames_not_read", COUNT("CUDA_CALLCHAINS") },
	{ "OSRT_CALLCHAINS", "osrt_call_frames_not_read", COUNT("OSRT_CALLCHAINS") },
	{ "GPU_METRICS", "gpu_metrics_not_read", COUNT("GPU_METRICS") },
	{ "CUDA_GPU_MEMORY_USAGE_EVENTS", "gpu_memory_events_not_read",
	  COUNT("CUDA_GPU_MEMORY_USAGE_EVENTS") },
	{ "CUPTI_ACTIVITY_KIND_CUDA_EVENT", "cuda_events_not_read",
	  COUNT("CUPTI_ACTIVITY_KIND_CUDA_EVENT") },
	{ "CUPTI_ACTIVITY_KIND_OVERHEAD", "cupti_overhead_not_read",
	  COUNT("CUPTI_ACTIVITY_KIND_OVERHEAD") },
	{ "CUDA_GRAPH_EVENTS", "cuda_graph_events_not_read", COUNT("CUDA_GRAPH_EVENTS") },
	{ "CUDA_GRAPH_NODE_EVENTS", "cuda_graph_nodes_not_read", COUNT("CUDA_GRAPH_NODE_EVENTS") },
	{ "GPU_CONTEXT_SWITCH_EVENTS", "context_switches_not_read",
	  COUNT("GPU_CONTEXT_SWITCH_EVENTS") },
	{ "DIAGNOSTIC_EVENT", "diagnostics_not_read", COUNT("DIAGNOSTIC_EVENT") },
	{ "CUBLAS_EVENTS", "cublas_events_not_read", COUNT("CUBLAS_EVENTS") },
	{ "CUDNN_EVENTS", "cudnn_events_not_read", COUNT("CUDNN_EVENTS") },
	{ "MPI_P2P_EVENTS", "mpi_p2p_not_read", COUNT("MPI_P2P_EVENTS") },
	{ "MPI_COLLECTIVES_EVENTS", "mpi_collectives_not_read", COUNT("MPI_COLLECTIVES_EVENTS") },
	{ "MPI_OTHER_EVENTS", "mpi_other_not_read", COUNT("MPI_OTHER_EVENTS") },
	{ NULL, NULL, NULL },
};
