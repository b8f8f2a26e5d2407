/* SPDX-License-Identifier: Apache-2.0 */
/* Trace events of JAX and TensorFlow: devices and streams told by the names of processes and threads. */
#include "tests/support/read_trace.h"

#define NAME(what, pid, tid, name)                                       \
	"{\"ph\":\"M\",\"pid\":" pid ",\"tid\":" tid ",\"name\":\"" what \
	"\",\"args\":{\"name\":\"" name "\"}},"
#define PROCESS(pid, name) NAME("process_name", pid, "0", name)
#define THREAD(pid, tid, name) NAME("thread_name", pid, tid, name)
#define X(pid, tid, ts, name, args)                                                              \
	"{\"ph\":\"X\",\"pid\":" pid ",\"tid\":" tid ",\"ts\":" ts ",\"dur\":2,\"name\":\"" name \
	"\",\"args\":{" args "}},"
#define HEAD "{\"displayTimeUnit\":\"ns\",\"traceEvents\":["
#define TAIL "{}]}"

#define KERNEL                                                                    \
	"\"correlation_id\":\"77\",\"kernel_details\":\"regs:32 static_shared:0 " \
	"dynamic_shared:16 "                                                      \
	"grid:8,2,1 block:128,1,1 occ_pct:50\""
#define EVENTS                                                               \
	X("1", "13", "10", "loop_fusion_3", KERNEL)                          \
	X("1", "13", "20", "MemcpyH2D",                                      \
	  "\"correlation_id\":\"78\",\"memcpy_details\":\"size:4096\"")      \
	X("1", "14", "30", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "")    \
	X("1", "2", "10", "fusion.3", "\"hlo_op\":\"fusion.3\"")             \
	X("701", "4242", "1", "cuLaunchKernel", "\"correlation_id\":\"77\"") \
	X("701", "4242", "5", "PjitFunction(f)", "")
#define NAMES                                              \
	PROCESS("1", "/device:GPU:3")                      \
	THREAD("1", "13", "Stream #13(MemcpyH2D,Compute)") \
	THREAD("1", "14", "Stream #14(Compute)")           \
	THREAD("1", "2", "XLA Ops")                        \
	PROCESS("701", "/host:CPU") THREAD("701", "4242", "python3")

static const struct fsc_track *track_of(const struct fsc_trace *t, const char *slice)
{
	return &t->tracks.v[t->slices.track[slice_named(t, slice)]];
}

static uint8_t kind_of(const struct fsc_trace *t, const char *slice)
{
	return t->slices.kind[slice_named(t, slice)];
}

static void streams_of_a_gpu_are_streams_with_kinds(void **state)
{
	struct fsc_trace *t = must_read(HEAD NAMES EVENTS TAIL);

	(void)state;
	assert_string_equal(str_of(t, t->meta.format), "chrome_json");
	assert_int_equal(track_of(t, "loop_fusion_3")->kind, FSC_TRACK_STREAM);
	assert_int_equal(track_of(t, "loop_fusion_3")->device, 3);
	assert_int_equal(track_of(t, "loop_fusion_3")->stream, 13);
	assert_string_equal(str_of(t, track_of(t, "loop_fusion_3")->name),
			    "Stream #13(MemcpyH2D,Compute)");
	assert_int_equal(kind_of(t, "loop_fusion_3"), FSC_KIND_COMPUTE);
	assert_int_equal(kind_of(t, "MemcpyH2D"), FSC_KIND_MEMCPY);
	assert_int_equal(kind_of(t, "ncclDevKernel_AllReduce_Sum_f32_RING_LL"), FSC_KIND_COMM);
	assert_int_equal(track_of(t, "fusion.3")->kind, FSC_TRACK_ANNOTATION);
	assert_int_equal(track_of(t, "fusion.3")->device, 3);
	assert_int_equal(track_of(t, "fusion.3")->stream, FSC_NO_ORDINAL);
	assert_int_equal(track_of(t, "cuLaunchKernel")->kind, FSC_TRACK_THREAD);
	assert_int_equal(kind_of(t, "cuLaunchKernel"), FSC_KIND_RUNTIME);
	assert_int_equal(kind_of(t, "PjitFunction(f)"), FSC_KIND_OTHER);
	assert_int_equal(t->launches.n, 2);
	assert_int_equal(t->launches.v[0].grid[0], 8);
	assert_int_equal(t->launches.v[0].shared_bytes, 16);
	assert_int_equal(t->launches.v[1].bytes, 4096);
	assert_int_equal(t->flows.n, 1);
	assert_int_equal(t->flows.v[0].from, slice_named(t, "cuLaunchKernel"));
	assert_int_equal(t->flows.v[0].to, slice_named(t, "loop_fusion_3"));
	assert_int_equal(loss_of(t, "launch_without_call"), 1);
	fsc_trace_free(t);
}

static void operations_of_a_tpu_are_its_stream(void **state)
{
	struct fsc_trace *t = must_read(
		HEAD THREAD("3", "2", "XLA Ops") PROCESS("3", "/device:TPU:1")
			THREAD("3", "1", "Steps") X("3", "2", "1", "fusion.1",
						    "\"hlo_category\":\"convolution fusion\"")
				X("3", "2", "4", "fusion.2", "\"hlo_category\":\"all-reduce\"")
					X("3", "2", "8", "while.4", "") X("3", "1", "1", "0", "")
						TAIL);

	(void)state;
	assert_int_equal(track_of(t, "fusion.1")->kind, FSC_TRACK_STREAM);
	assert_int_equal(track_of(t, "fusion.1")->device, 1);
	assert_int_equal(track_of(t, "fusion.1")->stream, 2);
	assert_int_equal(kind_of(t, "fusion.1"), FSC_KIND_COMPUTE);
	assert_int_equal(kind_of(t, "fusion.2"), FSC_KIND_COMM);
	assert_int_equal(kind_of(t, "while.4"), FSC_KIND_GPU_OTHER);
	assert_int_equal(track_of(t, "0")->kind, FSC_TRACK_ANNOTATION);
	fsc_trace_free(t);
}

/* Names behind the events say nothing about them any more: they stay threads, as in any other file. */
static void without_names_in_front_nothing_is_guessed(void **state)
{
	static const char *const files[] = { HEAD EVENTS NAMES TAIL, HEAD EVENTS TAIL,
					     HEAD PROCESS("1", "GPU 3")
						     THREAD("1", "13", "Stream #13(x)")
							     EVENTS TAIL };

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(files); i++) {
		struct fsc_trace *t = must_read(files[i]);

		for (size_t k = 0; k < t->tracks.n; k++)
			assert_int_equal(t->tracks.v[k].kind, FSC_TRACK_THREAD);
		assert_int_equal(kind_of(t, "loop_fusion_3"), FSC_KIND_OTHER);
		fsc_trace_free(t);
	}
}

static void events_with_a_category_are_left_alone(void **state)
{
	struct fsc_trace *t =
		must_read(HEAD NAMES "{\"ph\":\"X\",\"cat\":\"mine\",\"pid\":1,\"tid\":13,\"ts\":1,"
				     "\"dur\":1,\"name\":\"a\"}," TAIL);

	(void)state;
	assert_int_equal(track_of(t, "a")->kind, FSC_TRACK_THREAD);
	assert_int_equal(kind_of(t, "a"), FSC_KIND_OTHER);
	fsc_trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(streams_of_a_gpu_are_streams_with_kinds),
		cmocka_unit_test(operations_of_a_tpu_are_its_stream),
		cmocka_unit_test(without_names_in_front_nothing_is_guessed),
		cmocka_unit_test(events_with_a_category_are_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
