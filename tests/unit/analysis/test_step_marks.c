/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of files that serving engines write, and launches that a correlation alone does not tell apart. */
#include "analysis/analysis.h"
#include "tests/unit/analysis/load.h"

#define US 1000LL

#define EV(cat, name, pid, tid, ts, dur, args)                                                   \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":" #pid ",\"tid\":" #tid \
	",\"ts\":" #ts ",\"dur\":" #dur ",\"args\":{" args "}}"
#define USER(name, ts, dur) EV("user_annotation", name, 9, 9, ts, dur, "")
#define ON_GPU(name, ts, dur) EV("gpu_user_annotation", name, 0, 7, ts, dur, "")
#define CALL(pid, corr, ts) EV("cuda_runtime", "call", pid, pid, ts, 1, "\"correlation\":" #corr)
#define KERNEL(corr, ts, dur)            \
	EV("kernel", "k", 0, 7, ts, dur, \
	   "\"device\":0,\"context\":1,\"stream\":7,\"correlation\":" #corr)
#define MARK(name, ts)                                   \
	"{\"ph\":\"i\",\"s\":\"g\",\"name\":\"" name     \
	"\",\"pid\":\"Traces\",\"tid\":\"Trace PyTorch " \
	"Profiler\",\"ts\":" #ts "}"

static struct fsc_analysis analyse(struct fsc_seg **s, const char *events, const char *steps)
{
	char json[8192];
	struct fsc_analysis_scope scope;
	struct fsc_analysis a = { 0 };
	struct fsc_err err = FSC_ERR_INIT;

	snprintf(json, sizeof(json), "{\"schemaVersion\":1,\"traceEvents\":[%s]}", events);
	*s = seg_of_json(json);
	if (fsc_analysis_scope_parse(&scope, steps, &err) != FSC_OK ||
	    fsc_analyse(&a, *s, &scope, &err) != FSC_OK)
		fail_msg("%s", err.msg);
	return a;
}

/* Steps as "name@start+duration", in us. */
static void tell(struct fsc_buf *b, const struct fsc_analysis *a, const struct fsc_seg *s)
{
	for (size_t i = 0; i < a->steps.n; i++) {
		const struct fsc_step_row *r = &a->steps.v[i];

		fsc_buf_addf(b, "%s%lld:%s@%lld+%lld", i ? " " : "", (long long)r->number,
			     fsc_seg_str(s, r->name, NULL), (long long)(r->t0 / US),
			     (long long)(r->dur_ns / US));
	}
	fsc_buf_add(b, "", 0);
}

static const struct {
	const char *events, *steps;
} engines[] = {
	/* SGLang */
	{ USER("step[EXTEND bs=15 toks=15360]", 0,
	       10) "," USER("step[DECODE bs=32]", 20, 5) "," USER("step[DECODE bs=32]", 30, 6),
	  "0:step[EXTEND bs=15 toks=15360]@0+10 1:step[DECODE bs=32]@20+5 2:step[DECODE "
	  "bs=32]@30+6" },
	/* vLLM of several ages, xDiT */
	{ USER("execute_8192_context_9(sq8155)_generation_37(sq37)", 0,
	       10) "," USER("execute_context_1(5)_generation_0(0)", 20, 5),
	  "0:execute_8192_context_9(sq8155)_generation_37(sq37)@0+10 "
	  "1:execute_context_1(5)_generation_0(0)@20+5" },
	{ USER("execute_new_3_cached_7", 5, 10) "," USER("execute_new_0_cached_7", 0, 2),
	  "0:execute_new_0_cached_7@0+2 1:execute_new_3_cached_7@5+10" },
	{ USER("execute_diffusion_1_256x256", 0, 10), "0:execute_diffusion_1_256x256@0+10" },
	/* both of one engine are one step, not two */
	{ USER("step[DECODE bs=32]", 0, 12) "," USER("execute_32_context_0()_generation_32()", 1,
						     10),
	  "0:step[DECODE bs=32]@0+12" },
	/* only what is projected on the stream is there */
	{ ON_GPU("step[DECODE bs=1]", 3, 4) "," ON_GPU("step[DECODE bs=1]", 9, 4),
	  "0:step[DECODE bs=1]@0+4 1:step[DECODE bs=1]@6+4" },
	{ ON_GPU("step[DECODE bs=1]", 3, 4) "," USER("step[DECODE bs=1]", 0, 2),
	  "0:step[DECODE bs=1]@0+2" },
	/* the profiler's windows */
	{ MARK("Iteration Start: PyTorch Profiler",
	       0) "," MARK("Iteration Start: PyTorch Profiler",
			   100) "," MARK("Record Window End", 150) "," USER("x", 0, 400),
	  "0:Iteration Start: PyTorch Profiler@0+100 1:Iteration Start: PyTorch "
	  "Profiler@100+50" },
	{ MARK("Iteration Start: a", 0) "," MARK("Iteration Start: a", 100) "," USER("x", 0, 400),
	  "0:Iteration Start: a@0+100 1:Iteration Start: a@100+300" },
	{ MARK("Iteration Start: a", 10) "," MARK("Iteration Start: b", 10) "," USER("x", 0, 400),
	  "" },
	{ MARK("Iteration Start: a", 10) "," USER("x", 0, 400), "" },
	/* a ProfilerStep goes before all of them */
	{ USER("ProfilerStep#3", 0, 50) "," USER("execute_diffusion_1_256x256", 5, 10),
	  "3:ProfilerStep#3@0+50" },
	/* not these */
	{ USER("step", 0, 1) "," USER("step[x", 2, 1) "," USER("execute_", 4, 1) "," USER(
		  "execute_model", 6, 1) "," EV("cpu_op", "step[DECODE bs=1]", 9, 9, 8, 1, ""),
	  "" },
};

static void steps_of_serving_engines_are_steps_where_there_is_no_profiler_step(void **state)
{
	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(engines); i++) {
		struct fsc_seg *s;
		struct fsc_buf b = FSC_BUF_INIT(4096);
		struct fsc_analysis a = analyse(&s, engines[i].events, "all");

		tell(&b, &a, s);
		assert_string_equal(b.data, engines[i].steps);
		assert_int_equal(a.n_steps_total, a.steps.n);
		fsc_buf_fini(&b);
		fsc_analysis_fini(&a);
		fsc_seg_unref(s);
	}
}

static void scopes_cover_the_steps_of_serving_engines_too(void **state)
{
	static const char events[] =
		USER("step[DECODE bs=1]", 0, 10) "," USER("step[DECODE bs=1]", 20, 10) "," USER(
			"step[DECODE bs=1]", 40,
			10) "," CALL(9, 1,
				     1) "," CALL(9, 2,
						 21) "," CALL(9, 3,
							      41) "," KERNEL(1, 2,
									     3) "," KERNEL(2, 22,
											   4) "," KERNEL(3,
													 42,
													 5);
	static const struct {
		const char *scope;
		size_t steps;
		int64_t busy;
	} v[] = { { "all", 3, 12 }, { "no_last", 2, 7 }, { "1-2", 2, 9 }, { "0", 1, 3 } };

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(v); i++) {
		struct fsc_seg *s;
		struct fsc_analysis a = analyse(&s, events, v[i].scope);

		assert_int_equal(a.steps.n, v[i].steps);
		assert_int_equal(a.devices.v[0].busy_ns, v[i].busy * US);
		fsc_analysis_fini(&a);
		fsc_seg_unref(s);
	}
}

/* The kernel before it ends at 4 us, so its gap is a wait for the host only when its launch came after that. */
static void a_correlation_used_again_means_the_last_call_before_the_kernel(void **state)
{
#define BEFORE CALL(9, 4, 1) "," KERNEL(4, 2, 2) ","
	static const struct {
		const char *events;
		int64_t host_wait, kernel_wait;
		uint64_t ambiguous;
	} v[] = {
		/* used again later, by this process or by another one of the file */
		{ BEFORE CALL(9, 5, 0) "," CALL(9, 5, 30) "," KERNEL(5, 10, 10), 0, 6, 1 },
		{ BEFORE CALL(9, 5, 0) "," CALL(8, 5, 30) "," KERNEL(5, 10, 10), 0, 6, 1 },
		{ BEFORE CALL(9, 5, 0) "," CALL(9, 5, 8) "," CALL(9, 5, 30) "," KERNEL(5, 10, 10),
		  6, 0, 1 },
		/* each kernel has its own */
		{ BEFORE CALL(9, 5, 0) "," CALL(9, 5, 30) "," KERNEL(5, 10, 10) "," KERNEL(5, 40,
											   10),
		  20, 6, 2 },
		/* none began before it: clocks differ */
		{ BEFORE CALL(9, 5, 30) "," CALL(9, 5, 60) "," KERNEL(5, 10, 10), 6, 0, 1 },
		/* one call, many kernels: a graph */
		{ BEFORE CALL(9, 5, 5) "," KERNEL(5, 10, 10) "," KERNEL(5, 21, 9) "," KERNEL(5, 32,
											     8),
		  6, 3, 0 },
	};

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(v); i++) {
		struct fsc_seg *s;
		struct fsc_analysis a = analyse(&s, v[i].events, "all");

		assert_int_equal(a.idle.n, 1);
		if (a.idle.v[0].host_wait_ns != v[i].host_wait * US ||
		    a.idle.v[0].kernel_wait_ns != v[i].kernel_wait * US)
			fail_msg("%zu: host wait %lld, kernel wait %lld", i,
				 (long long)a.idle.v[0].host_wait_ns,
				 (long long)a.idle.v[0].kernel_wait_ns);
		assert_int_equal(a.launch.ambiguous, v[i].ambiguous);
		assert_int_equal(a.launch.none, 0);
		fsc_analysis_fini(&a);
		fsc_seg_unref(s);
	}
}

static void overlaps_and_early_kernels_count_once(void **state)
{
	static const struct {
		const char *events;
		int64_t window, busy;
	} v[] = {
		{ CALL(9, 1, 0) "," KERNEL(1, 10, 10) "," KERNEL(2, 15, 10), 15, 15 },
		{ CALL(9, 1, 0) "," KERNEL(1, 10, 10) "," KERNEL(2, 12, 2) "," KERNEL(3, 30, 5), 25,
		  15 },
		{ CALL(9, 1, 0) "," KERNEL(1, 10, 10) "," KERNEL(2, 19, 10) "," KERNEL(3, 28, 10),
		  28, 28 },
		/* before the call that launched it */
		{ CALL(9, 1, 11) "," KERNEL(1, 10, 10), 10, 10 },
		{ CALL(9, 1, 500) "," KERNEL(1, 10, 10) "," KERNEL(2, 30, 10), 30, 20 },
	};

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(v); i++) {
		struct fsc_seg *s;
		struct fsc_analysis a = analyse(&s, v[i].events, "all");

		assert_int_equal(a.devices.n, 1);
		assert_int_equal(a.devices.v[0].window_ns, v[i].window * US);
		assert_int_equal(a.devices.v[0].busy_ns, v[i].busy * US);
		assert_int_equal(a.devices.v[0].compute_ns, v[i].busy * US);
		assert_int_equal(a.launch.pairs, 1);
		fsc_analysis_fini(&a);
		fsc_seg_unref(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			steps_of_serving_engines_are_steps_where_there_is_no_profiler_step),
		cmocka_unit_test(scopes_cover_the_steps_of_serving_engines_too),
		cmocka_unit_test(a_correlation_used_again_means_the_last_call_before_the_kernel),
		cmocka_unit_test(overlaps_and_early_kernels_count_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
