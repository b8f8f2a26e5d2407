/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The normalised trace in memory: what every reader produces (through model/build.h) and what the segment
 * writer consumes. Plain data, structure of arrays, everything addressed by index. Times are int64 ns
 * relative to meta.t_base_ns once the builder has finished. Owner thread.
 *
 * After fsc_build_finish() these invariants hold (model/validate.c checks them):
 *  - slices are ordered by (track, depth, ts); within one (track, depth) row they never overlap;
 *  - depth is 0 for outermost; a slice's parent is the innermost slice of the same track that contains it
 *    fully and has a smaller depth; a slice that partly overlaps another one is kept, one row lower,
 *    with FSC_SLICE_OVERLAP set and the loss counter "slice_overlap_kept" raised;
 *  - counters are ordered by (track, ts); flows by (from, to); launches and collectives by slice;
 *  - min over all plausible timestamps is 0.
 */
#ifndef FSC_MODEL_TRACE_H
#define FSC_MODEL_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/losses.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "model/args.h"

enum fsc_track_kind {
	FSC_TRACK_THREAD = 1,	  /* host thread */
	FSC_TRACK_STREAM = 2,	  /* GPU stream: kernels, copies, sets */
	FSC_TRACK_ANNOTATION = 3, /* annotations projected on a GPU stream (gpu_user_annotation) */
	FSC_TRACK_ASYNC = 4,	  /* nestable async events of one (process, category, id) */
	FSC_TRACK_COUNTER = 5,	  /* has counter samples instead of slices */
};

/* What a slice is. Stored in files and sent to browsers: never renumber, only append. */
enum fsc_kind {
	FSC_KIND_NONE = 0,
	FSC_KIND_OP = 1,	/* host operator (cpu_op, Operator) */
	FSC_KIND_RUNTIME = 2,	/* runtime or driver call (cuda_runtime, cuda_driver, hip*) */
	FSC_KIND_PYTHON = 3,	/* python_function */
	FSC_KIND_USER = 4,	/* user_annotation on a host thread, ProfilerStep included */
	FSC_KIND_COMPUTE = 5,	/* GPU kernel classified as computation */
	FSC_KIND_COMM = 6,	/* GPU kernel classified as communication */
	FSC_KIND_MEMCPY = 7,	/* GPU copy */
	FSC_KIND_MEMSET = 8,	/* GPU set */
	FSC_KIND_GPU_OTHER = 9, /* GPU work that no rule classifies: shown as "not classified" */
	FSC_KIND_SYNC = 10,	/* cuda_sync rows and blocking synchronisation calls */
	FSC_KIND_GPU_ANNOTATION = 11,
	FSC_KIND_OVERHEAD = 12, /* profiler overhead */
	FSC_KIND_INSTANT = 13,	/* no duration */
	FSC_KIND_OTHER = 14,	/* everything else */
	FSC_KIND_COUNT
};

/* Name in answers and exports: "op", "compute" … */
const char *fsc_kind_name(uint8_t kind);

static inline bool fsc_kind_is_gpu_work(uint8_t k)
{
	return k >= FSC_KIND_COMPUTE && k <= FSC_KIND_GPU_OTHER;
}

enum fsc_slice_flag {
	FSC_SLICE_INSTANT = 1, /* ph i/I/R: dur is 0 by nature; not counted as a slice */
	FSC_SLICE_OVERLAP = 2, /* partly overlaps an earlier slice of its track */
	FSC_SLICE_OPEN = 4,    /* begin without end: dur runs to the end of the trace */
	/* of instants: what they concern besides the track they are on */
	FSC_SLICE_SCOPE_PROCESS = 8,
	FSC_SLICE_SCOPE_GLOBAL = 16,
};

#define FSC_NO_ARGS UINT32_MAX
#define FSC_NO_TRACK UINT32_MAX
#define FSC_NO_SLICE UINT32_MAX
#define FSC_NO_CORRELATION INT64_MIN
#define FSC_NO_ORDINAL INT32_MIN /* device, context or stream is not known */

struct fsc_process {
	int64_t pid;	   /* numeric id, or -1 when the file had text */
	uint32_t pid_text; /* string id of the text pid, 0 when numeric */
	uint32_t name;	   /* string id, 0 unknown */
	uint32_t labels;   /* string id, 0 none */
	int32_t sort_index;
};

struct fsc_track {
	uint8_t kind;	   /* enum fsc_track_kind */
	uint32_t process;  /* index into processes */
	int64_t tid;	   /* numeric, or -1 */
	uint32_t tid_text; /* string id, 0 when numeric */
	uint32_t name;	   /* string id, 0 unknown */
	int32_t sort_index;
	int32_t device, context, stream; /* FSC_NO_ORDINAL when not a GPU track or not known */
	uint32_t unit;			 /* counters: string id of the unit, 0 none */
	/* set by finish */
	uint32_t first, n; /* range in slices, or in counter samples when kind is COUNTER */
	uint32_t depths;   /* number of rows */
};

/* Parallel columns, n entries each. correlation is args.correlation of the source. */
struct fsc_slices {
	uint32_t n, cap;
	int64_t *ts, *dur;
	int64_t *correlation; /* FSC_NO_CORRELATION when absent */
	uint32_t *track, *name, *args;
	uint16_t *cat; /* index into trace.cats */
	uint16_t *depth;
	uint8_t *kind, *flags;
};

struct fsc_flow {
	uint32_t from, to; /* slice indexes */
	uint32_t cat;	   /* string id */
	uint32_t name;	   /* string id */
};

struct fsc_counter_sample {
	int64_t ts;
	double value;
};

/* Typed launch fields of a GPU slice; -1 where the file does not say. */
struct fsc_launch {
	uint32_t slice;
	int32_t grid[3], block[3];
	int32_t registers, shared_bytes;
	int64_t queued_ns;				  /* absolute as in the file, 0 unknown */
	float blocks_per_sm, warps_per_sm, occupancy_pct; /* -1 unknown */
	int64_t graph_id, graph_node_id;
	int64_t bytes;	     /* memcpy/memset */
	float bandwidth_gbs; /* memcpy/memset, -1 unknown */
};

/* Typed collective fields (kernel or record_param_comms); -1 / string id 0 where not given. */
struct fsc_collective {
	uint32_t slice;
	uint32_t name, dtype, pg_name, pg_desc, pg_ranks; /* string ids */
	int64_t in_nelems, out_nelems;
	int32_t group_size, rank, src_rank, dst_rank;
	int64_t seq, comms_id;
};

struct fsc_trace_meta {
	uint32_t format; /* string id: "kineto", "chrome_json" */
	int64_t t_base_ns; /* absolute ns of relative 0. Without an epoch it is on the file's own clock, so
				   that t_base_ns + t is always the time the file gives */
	bool has_epoch;			   /* t_base_ns is Unix time */
	int64_t t_min_ns, t_max_ns;	   /* relative; over slices with duration and instants */
	int64_t rank, world_size;	   /* -1 unknown */
	uint32_t job, host, capture, name; /* string ids, 0 unknown */
	uint32_t json; /* string id of a JSON object: top-level keys other than traceEvents,
				   bounded by FSC_MAX_META_BYTES (bigger values are left out and counted) */
};

struct fsc_trace {
	struct fsc_strtab *strings; /* owned */
	struct fsc_trace_meta meta;
	struct fsc_losses losses;
	FSC_VEC(struct fsc_process) processes;
	FSC_VEC(struct fsc_track) tracks;
	FSC_VEC(uint32_t) cats; /* string ids; slices.cat indexes this */
	struct fsc_slices slices;
	FSC_VEC(struct fsc_flow) flows;
	FSC_VEC(struct fsc_counter_sample) counters;
	FSC_VEC(struct fsc_launch) launches;
	FSC_VEC(struct fsc_collective) collectives;
	struct fsc_args *args; /* owned */
	uint64_t n_instants;   /* of slices.n, how many carry FSC_SLICE_INSTANT */
	uint64_t n_events;     /* events read from the file, all phases */
};

/* Can ns be Unix time of a trace (2001-09-09 to 2096-10-02)? */
static inline bool fsc_trace_is_epoch(int64_t ns)
{
	return ns >= 1000000000000000000LL && ns <= 4000000000000000000LL;
}

void fsc_trace_free(struct fsc_trace *t);

#endif
