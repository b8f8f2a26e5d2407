/* SPDX-License-Identifier: Apache-2.0 */
/* The dialects of PyTorch's profiler: each maker's categories, names of all ages, graphs, collectives, memory. */
#include "tests/support/read_trace.h"

#define FILE_OF(events) "{\"schemaVersion\":1,\"traceEvents\":[" events "]}"
/* One X event; args is what stands between the braces. Times in us. */
#define EV(cat, name, pid, tid, ts, dur, args)                                                   \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":" #pid ",\"tid\":" #tid \
	",\"ts\":" #ts ",\"dur\":" #dur ",\"args\":{" args "}}"
#define FLOW(ph, cat, id, pid, tid, ts)                                                            \
	"{\"ph\":\"" ph "\",\"cat\":\"" cat "\",\"name\":\"" cat "\",\"id\":" #id ",\"pid\":" #pid \
	",\"tid\":" #tid ",\"ts\":" #ts ",\"bp\":\"e\"}"
#define NONE FSC_NO_ORDINAL

struct row {
	const char *event;
	enum fsc_kind kind;
	enum fsc_track_kind track;
	int32_t device, stream;
};

static void check_row(const struct row *r)
{
	char json[1024];
	snprintf(json, sizeof(json), "{\"schemaVersion\":1,\"traceEvents\":[%s]}", r->event);
	struct fsc_trace *t = must_read(json);

	assert_int_equal(t->slices.n, 1);
	const struct fsc_track *k = &t->tracks.v[t->slices.track[0]];
	if (t->slices.kind[0] != r->kind || k->kind != r->track || k->device != r->device ||
	    k->stream != r->stream)
		fail_msg("%s\nkind %s, track kind %d, device %d, stream %d", r->event,
			 fsc_kind_name(t->slices.kind[0]), k->kind, k->device, k->stream);
	fsc_trace_free(t);
}

#define DEV(n, s) "\"device\":" #n ",\"stream\":" #s ",\"correlation\":5"

static const struct row makers[] = {
	/* NVIDIA */
	{ EV("kernel", "gemm", 0, 7, 1, 2, DEV(0, 7)), FSC_KIND_COMPUTE, FSC_TRACK_STREAM, 0, 7 },
	{ EV("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 2, 20, 1, 2, DEV(2, 20)),
	  FSC_KIND_MEMCPY, FSC_TRACK_STREAM, 2, 20 },
	{ EV("gpu_memset", "Memset (Device)", 1, 7, 1, 2, DEV(1, 7)), FSC_KIND_MEMSET,
	  FSC_TRACK_STREAM, 1, 7 },
	{ EV("cuda_runtime", "cudaGraphLaunch", 9, 9, 1, 2, "\"correlation\":5"), FSC_KIND_RUNTIME,
	  FSC_TRACK_THREAD, NONE, NONE },
	{ EV("cuda_driver", "cuLaunchKernelEx", 9, 9, 1, 2, "\"correlation\":5"), FSC_KIND_RUNTIME,
	  FSC_TRACK_THREAD, NONE, NONE },
	{ EV("cuda_sync", "Stream Sync", 0, 7, 1, 2, "\"stream\":7"), FSC_KIND_SYNC,
	  FSC_TRACK_ANNOTATION, 0, 7 },
	/* AMD: HIP calls in CUDA's category, copies as kernels */
	{ EV("cuda_runtime", "hipLaunchKernel", 9, 9, 1, 2, "\"correlation\":5"), FSC_KIND_RUNTIME,
	  FSC_TRACK_THREAD, NONE, NONE },
	{ EV("hip_runtime", "hipStreamSynchronize", 9, 9, 1, 2, "\"correlation\":5"), FSC_KIND_SYNC,
	  FSC_TRACK_THREAD, NONE, NONE },
	{ EV("kernel", "CopyDeviceToDevice", 2, 0, 1, 2, DEV(2, 0)), FSC_KIND_MEMCPY,
	  FSC_TRACK_STREAM, 2, 0 },
	{ EV("kernel", "CopyHostToDevice", 2, 0, 1, 2, DEV(2, 0)), FSC_KIND_MEMCPY,
	  FSC_TRACK_STREAM, 2, 0 },
	{ EV("kernel", "__amd_rocclr_copyBuffer", 2, 0, 1, 2, DEV(2, 0)), FSC_KIND_MEMCPY,
	  FSC_TRACK_STREAM, 2, 0 },
	{ EV("kernel", "MEMORY_COPY_DEVICE_TO_HOST", 2, 0, 1, 2, DEV(2, 0)), FSC_KIND_MEMCPY,
	  FSC_TRACK_STREAM, 2, 0 },
	{ EV("kernel", "FillBuffer", 2, 0, 1, 2, DEV(2, 0)), FSC_KIND_MEMSET, FSC_TRACK_STREAM, 2,
	  0 },
	{ EV("kernel", "__amd_rocclr_fillBufferAligned", 2, 0, 1, 2, DEV(2, 0)), FSC_KIND_MEMSET,
	  FSC_TRACK_STREAM, 2, 0 },
	{ EV("kernel", "Marker", 2, 0, 1, 2, DEV(2, 0)), FSC_KIND_GPU_OTHER, FSC_TRACK_STREAM, 2,
	  0 },
	{ EV("kernel", "CopyKernel_f32", 2, 0, 1, 2, DEV(2, 0)), FSC_KIND_COMPUTE, FSC_TRACK_STREAM,
	  2, 0 },
	/* MTIA: the device is the process, a stream sometimes only the row */
	{ EV("mtia_ccp_events", "dma_request", 17, 3672, 1, 2, "\"stream\":105"), FSC_KIND_MEMCPY,
	  FSC_TRACK_STREAM, 17, 105 },
	{ EV("mtia_ccp_events", "pe_exe", 9, 801, 1, 2, "\"sqid\":1"), FSC_KIND_COMPUTE,
	  FSC_TRACK_STREAM, 9, 801 },
	{ EV("mtia_ccp_events", "event_wait", 17, 3774, 1, 2, "\"stream\":108"), FSC_KIND_SYNC,
	  FSC_TRACK_STREAM, 17, 108 },
	{ EV("mtia_runtime", "runFunction - job", 9, 9, 1, 2, "\"correlation\":5"),
	  FSC_KIND_RUNTIME, FSC_TRACK_THREAD, NONE, NONE },
	{ EV("mtia_runtime", "synchronizeStream", 9, 9, 1, 2, "\"correlation\":5"), FSC_KIND_SYNC,
	  FSC_TRACK_THREAD, NONE, NONE },
	{ EV("mtia_insight", "x", 9, 9, 1, 2, ""), FSC_KIND_OTHER, FSC_TRACK_THREAD, NONE, NONE },
	/* Intel: a queue is what others call a stream, its context a handle */
	{ EV("kernel", "gemm_kernel", 0, 0, 1, 2,
	     "\"device\":0,\"context\":\"0x000055d08918fc78\",\"sycl queue\":64,"
	     "\"correlation\":5"),
	  FSC_KIND_COMPUTE, FSC_TRACK_STREAM, 0, 64 },
	{ EV("xpu_runtime", "urEnqueueKernelLaunch", 9, 9, 1, 2, "\"correlation\":5"),
	  FSC_KIND_RUNTIME, FSC_TRACK_THREAD, NONE, NONE },
	{ EV("xpu_driver", "zeCommandQueueSynchronize", 9, 9, 1, 2, "\"correlation\":5"),
	  FSC_KIND_SYNC, FSC_TRACK_THREAD, NONE, NONE },
	{ EV("xpu_sync", "Event Sync", 0, 64, 1, 2, ""), FSC_KIND_SYNC, FSC_TRACK_ANNOTATION, 0,
	  64 },
	{ EV("kernel", "oneccl_allreduce_kernel", 0, 0, 1, 2, "\"device\":0,\"sycl queue\":3"),
	  FSC_KIND_COMM, FSC_TRACK_STREAM, 0, 3 },
	/* backends out of the tree, Gaudi */
	{ EV("privateuse1_runtime", "launchKernel", 9, 9, 1, 2, "\"correlation\":5"),
	  FSC_KIND_RUNTIME, FSC_TRACK_THREAD, NONE, NONE },
	{ EV("privateuse1_driver", "aclrtSynchronizeStream", 9, 9, 1, 2, ""), FSC_KIND_SYNC,
	  FSC_TRACK_THREAD, NONE, NONE },
	{ EV("concurrent_kernel", "k", 3, 4, 1, 2, "\"device\":3,\"stream\":4"), FSC_KIND_COMPUTE,
	  FSC_TRACK_STREAM, 3, 4 },
	{ EV("hpu_op", "mme", 0, 12, 1, 2, ""), FSC_KIND_COMPUTE, FSC_TRACK_STREAM, 0, 12 },
	{ EV("collective_comm", "all_reduce", 0, 12, 1, 2, "\"stream\":12"), FSC_KIND_COMM,
	  FSC_TRACK_STREAM, 0, 12 },
	{ EV("collective_comm", "all_reduce", 99, 98, 1, 2, ""), FSC_KIND_OTHER, FSC_TRACK_THREAD,
	  NONE, NONE },
	{ EV("hardware_counters", "x", 9, 9, 1, 2, ""), FSC_KIND_OTHER, FSC_TRACK_THREAD, NONE,
	  NONE },
	/* before 2022 */
	{ EV("Kernel", "gemm", 0, 7, 1, 2, "\"external id\":3,\"stream\":7"), FSC_KIND_COMPUTE,
	  FSC_TRACK_STREAM, 0, 7 },
	{ EV("Memcpy", "Memcpy DtoH (Device -> Pageable)", 0, 7, 1, 2, "\"stream\":7"),
	  FSC_KIND_MEMCPY, FSC_TRACK_STREAM, 0, 7 },
	{ EV("Memset", "Memset (Device)", 0, 7, 1, 2, "\"stream\":7"), FSC_KIND_MEMSET,
	  FSC_TRACK_STREAM, 0, 7 },
	{ EV("Runtime", "cudaDeviceSynchronize", 9, 9, 1, 2, "\"correlation\":5"), FSC_KIND_SYNC,
	  FSC_TRACK_THREAD, NONE, NONE },
	{ EV("Operator", "aten::mm", 9, 9, 1, 2, "\"external id\":3"), FSC_KIND_OP,
	  FSC_TRACK_THREAD, NONE, NONE },
};

static void what_every_maker_writes_gets_its_kind_and_its_row(void **state)
{
	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(makers); i++)
		check_row(&makers[i]);
}

static uint64_t flows_between(const struct fsc_trace *t, const char *from, const char *to)
{
	uint64_t n = 0;

	for (size_t i = 0; i < t->flows.n; i++)
		n += !strcmp(str_of(t, t->slices.name[t->flows.v[i].from]), from) &&
		     !strcmp(str_of(t, t->slices.name[t->flows.v[i].to]), to);
	return n;
}

#define CALL(name, corr, ts) EV("cuda_runtime", name, 9, 9, ts, 5, "\"correlation\":" #corr)
#define KERNEL(name, corr, ts, more)    \
	EV("kernel", name, 0, 7, ts, 2, \
	   "\"device\":0,\"context\":1,\"stream\":7,\"correlation\":" #corr more)
#define NODE(n) ",\"graph id\":4,\"graph node id\":" #n
#define IN_GRAPH                       \
	KERNEL("k", 50, 100, NODE(11)) \
	"," KERNEL("k", 50, 110, NODE(12)) "," KERNEL("k", 50, 120, NODE(13))

static const struct {
	const char *what, *events;
	uint64_t drawn, by_correlation, no_start, no_end, outside;
} arrows[] = {
	{ "launch",
	  CALL("call", 50, 10) "," KERNEL("k", 50, 100, "") "," FLOW("s", "ac2g", 50, 9, 9,
								     10) "," FLOW("f", "ac2g", 50,
										  0, 7, 100),
	  1, 0, 0, 0, 0 },
	{ "names of 2021",
	  CALL("call", 50, 10) "," KERNEL("k", 50, 100,
					  "") "," FLOW("s", "async_cpu_to_gpu", 1, 9, 9,
						       10) "," FLOW("f", "async_cpu_to_gpu", 1, 0,
								    7, 100),
	  1, 0, 0, 0, 0 },
	{ "other names of 2021",
	  CALL("call", 50, 10) "," KERNEL("k", 50, 100, "") "," FLOW("s", "async_gpu", 50, 9, 9,
								     10) "," FLOW("f", "async_gpu",
										  50, 0, 7, 100),
	  1, 0, 0, 0, 0 },
	{ "names of 2020",
	  CALL("call", 50, 10) "," KERNEL("k", 50, 100, "") "," FLOW("s", "async", 8, 9, 9,
								     10) "," FLOW("f", "async", 8,
										  0, 7, 100),
	  1, 0, 0, 0, 0 },
	{ "a graph: one start, an end for each kernel",
	  CALL("call", 50, 10) "," IN_GRAPH "," FLOW("s", "ac2g", 50, 9, 9, 10) "," FLOW(
		  "f", "ac2g", 50, 0, 7, 100) "," FLOW("f", "ac2g", 50, 0, 7,
						       110) "," FLOW("f", "ac2g", 50, 0, 7, 120),
	  3, 0, 0, 0, 0 },
	{ "a graph: ends only",
	  CALL("call", 50, 10) "," IN_GRAPH "," FLOW("f", "ac2g", 50, 0, 7, 100) "," FLOW(
		  "f", "ac2g", 50, 0, 7, 110) "," FLOW("f", "ac2g", 50, 0, 7, 120),
	  3, 3, 0, 0, 0 },
	{ "a graph: an end at the call as well",
	  FLOW("f", "ac2g", 50, 9, 9, 10) "," CALL("call", 50, 10) "," IN_GRAPH "," FLOW(
		  "f", "ac2g", 50, 0, 7, 100) "," FLOW("f", "ac2g", 50, 0, 7,
						       110) "," FLOW("f", "ac2g", 50, 0, 7, 120),
	  3, 3, 0, 0, 0 },
	{ "a call that launched nothing has an end of its own",
	  CALL("call", 50, 10) "," FLOW("f", "ac2g", 50, 9, 9, 10), 0, 0, 0, 0, 0 },
	{ "an end before its start: clocks differ",
	  CALL("call", 50, 100) "," KERNEL("k", 50, 10, "") "," FLOW("s", "ac2g", 50, 9, 9,
								     100) "," FLOW("f", "ac2g", 50,
										   0, 7, 10),
	  1, 0, 0, 0, 0 },
	{ "an end before the call, without a start",
	  CALL("call", 50, 100) "," KERNEL("k", 50, 10, "") "," FLOW("f", "ac2g", 50, 0, 7, 10), 1,
	  1, 0, 0, 0 },
	{ "the end of a kernel whose call is not in the file",
	  CALL("call", 51, 10) "," KERNEL("k", 50, 100, "") "," FLOW("f", "ac2g", 50, 0, 7, 100), 0,
	  0, 1, 0, 0 },
	{ "an end whose id is not the correlation",
	  CALL("call", 50, 10) "," KERNEL("k", 50, 100, "") "," FLOW("f", "ac2g", 3, 0, 7, 100), 0,
	  0, 1, 0, 0 },
	{ "a start that nothing ends",
	  CALL("call", 50, 10) "," KERNEL("k", 50, 100, "") "," FLOW("s", "ac2g", 50, 9, 9, 10), 0,
	  0, 0, 1, 0 },
	{ "an end where nothing runs",
	  CALL("call", 50, 10) "," KERNEL("k", 50, 100, "") "," FLOW("s", "ac2g", 50, 9, 9,
								     10) "," FLOW("f", "ac2g", 50,
										  0, 7, 500),
	  0, 0, 0, 0, 1 },
};

static void arrows_are_bound_where_they_can_be_and_counted_where_not(void **state)
{
	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(arrows); i++) {
		char json[4096];
		snprintf(json, sizeof(json), "{\"schemaVersion\":1,\"traceEvents\":[%s]}",
			 arrows[i].events);
		struct fsc_trace *t = must_read(json);
		uint64_t got[] = { flows_between(t, "call", "k"),
				   loss_of(t, "flow_bound_by_correlation"),
				   loss_of(t, "flow_end_without_start"),
				   loss_of(t, "flow_start_without_end"),
				   loss_of(t, "flow_outside_slice") };

		if (got[0] != arrows[i].drawn || got[1] != arrows[i].by_correlation ||
		    got[2] != arrows[i].no_start || got[3] != arrows[i].no_end ||
		    got[4] != arrows[i].outside || t->flows.n != arrows[i].drawn)
			fail_msg("%s: %d drawn, %d by correlation, %d without start, %d without "
				 "end, %d outside",
				 arrows[i].what, (int)got[0], (int)got[1], (int)got[2], (int)got[3],
				 (int)got[4]);
		fsc_trace_free(t);
	}
}

static void kernels_of_a_graph_know_their_graph_and_node(void **state)
{
	struct fsc_trace *t = must_read(FILE_OF(CALL("cudaGraphLaunch", 50, 10) "," IN_GRAPH));

	(void)state;
	assert_int_equal(t->launches.n, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(t->launches.v[i].graph_id, 4);
		assert_int_equal(t->launches.v[i].graph_node_id, 11 + (int)i);
		assert_int_equal(t->slices.correlation[t->launches.v[i].slice], 50);
	}
	fsc_trace_free(t);
}

#define COLL                                                                                       \
	"\"Collective name\":\"allgather\",\"In msg nelems\":64,\"Out msg nelems\":512,"           \
	"\"Group size\":8,\"dtype\":\"BFloat16\",\"In split size\":\"[]\",\"Process Group Name\":" \
	"\"3\",\"Process Group Description\":\"mesh_tp\",\"Process Group Ranks\":\"[0, 1, 2]\","   \
	"\"Rank\":2,\"Seq\":77,\"Src Rank\":1,\"Dst Rank\":2"

static void collectives_are_read_on_kernels_and_on_operators(void **state)
{
	struct fsc_trace *t = must_read(
		FILE_OF(EV("cpu_op", "record_param_comms", 9, 9, 1, 2,
			   COLL) "," EV("kernel", "ncclDevKernel_AllGather_RING_LL", 0, 20, 5, 2,
					"\"device\":0,\"stream\":20,\"correlation\":"
					"1," COLL) "," EV("cpu_op", "nccl:all_reduce", 9, 9, 10, 2,
							  "\"Collective name\":null")));

	(void)state;
	assert_int_equal(t->collectives.n, 3);
	for (size_t i = 0; i < t->collectives.n; i++) {
		const struct fsc_collective *k = &t->collectives.v[i];
		if (!k->name)
			continue;
		assert_string_equal(str_of(t, k->name), "allgather");
		assert_string_equal(str_of(t, k->dtype), "BFloat16");
		assert_string_equal(str_of(t, k->pg_name), "3");
		assert_string_equal(str_of(t, k->pg_desc), "mesh_tp");
		assert_string_equal(str_of(t, k->pg_ranks), "[0, 1, 2]");
		assert_int_equal(k->in_nelems, 64);
		assert_int_equal(k->out_nelems, 512);
		assert_int_equal(k->group_size, 8);
		assert_int_equal(k->rank, 2);
		assert_int_equal(k->seq, 77);
		assert_int_equal(k->src_rank, 1);
		assert_int_equal(k->dst_rank, 2);
		assert_int_equal(k->comms_id, -1);
	}
	fsc_trace_free(t);
}

#define MEMORY(type, id, ts, total)                                                                \
	"{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\",\"s\":\"t\",\"pid\":9," \
	"\"tid\":9,\"ts\":" #ts ",\"args\":{\"Total Reserved\":4096,\"Total Allocated\":" #total   \
	",\"Bytes\":-64,\"Addr\":1,\"Device Id\":" #id ",\"Device Type\":" #type "}}"

static void memory_instants_are_counters_of_their_device(void **state)
{
	static const struct {
		const char *event, *name;
		int32_t device;
	} cases[] = {
		{ MEMORY(0, -1, 5, 64), "CPU memory allocated", NONE },
		{ MEMORY(1, 3, 5, 64), "GPU 3 memory allocated", 3 },
		{ MEMORY(6, 1, 5, 64), "GPU 1 memory allocated", 1 },
		{ MEMORY(12, 0, 5, 64), "XPU 0 memory allocated", 0 },
		{ MEMORY(15, 2, 5, 64), "HPU 2 memory allocated", 2 },
		{ MEMORY(19, 9, 5, 64), "MTIA 9 memory allocated", 9 },
		{ MEMORY(20, 0, 5, 64), "PrivateUse1 0 memory allocated", 0 },
		{ MEMORY(77, 4, 5, 64), "device type 77 id 4 memory allocated", 4 },
	};

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(cases); i++) {
		char json[1024];
		snprintf(json, sizeof(json), "{\"schemaVersion\":1,\"traceEvents\":[%s]}",
			 cases[i].event);
		struct fsc_trace *t = must_read(json);
		const struct fsc_track *k = NULL;

		for (size_t n = 0; n < t->tracks.n; n++)
			if (!strcmp(str_of(t, t->tracks.v[n].name), cases[i].name))
				k = &t->tracks.v[n];
		if (!k)
			fail_msg("no counter %s", cases[i].name);
		assert_int_equal(k->device, cases[i].device);
		assert_string_equal(str_of(t, k->unit), "bytes");
		assert_int_equal(k->n, 1);
		assert_true(t->counters.v[k->first].value == 64);
		assert_int_equal(t->n_instants, 1);
		fsc_trace_free(t);
	}
}

#define PY(name, id, parent, ts, dur)              \
	EV("python_function", name, 9, 9, ts, dur, \
	   "\"Python id\":" #id ",\"Python parent id\":" #parent)

static void python_calls_stand_on_each_other(void **state)
{
	struct fsc_trace *t = must_read(FILE_OF(
		PY("nn.Module: Net_0", 2, 1, 10,
		   80) "," PY("train.py(3): main", 1, null, 0,
			      100) "," PY("<built-in method linear>", 3, 2, 20,
					  10) "," EV("cpu_op", "aten::linear", 9, 9, 21, 5, "")));

	(void)state;
	assert_int_equal(t->slices.depth[slice_named(t, "train.py(3): main")], 0);
	assert_int_equal(t->slices.depth[slice_named(t, "nn.Module: Net_0")], 1);
	assert_int_equal(t->slices.depth[slice_named(t, "<built-in method linear>")], 2);
	assert_int_equal(t->slices.depth[slice_named(t, "aten::linear")], 3);
	assert_int_equal(t->slices.kind[slice_named(t, "nn.Module: Net_0")], FSC_KIND_PYTHON);
	assert_int_equal(t->losses.n, 0);
	fsc_trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_every_maker_writes_gets_its_kind_and_its_row),
		cmocka_unit_test(arrows_are_bound_where_they_can_be_and_counted_where_not),
		cmocka_unit_test(kernels_of_a_graph_know_their_graph_and_node),
		cmocka_unit_test(collectives_are_read_on_kernels_and_on_operators),
		cmocka_unit_test(memory_instants_are_counters_of_their_device),
		cmocka_unit_test(python_calls_stand_on_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
