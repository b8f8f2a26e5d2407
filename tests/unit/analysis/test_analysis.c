/* SPDX-License-Identifier: Apache-2.0 */
/* The analyses on small traces made by hand, whose answers can be checked on paper, and on random ones. */
#include "analysis/analysis.h"
#include "analysis/analysis_json.h"
#include "base/clock.h"
#include "tests/unit/analysis/load.h"

#define US 1000LL

/* One X event; args is what stands between the braces. Times in us. */
#define EV(cat, name, pid, tid, ts, dur, args)                                                   \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":" #pid ",\"tid\":" #tid \
	",\"ts\":" #ts ",\"dur\":" #dur ",\"args\":{" args "}}"
#define GPU(cat, name, dev, stream, corr, ts, dur) \
	EV(cat, name, dev, stream, ts, dur,        \
	   "\"device\":" #dev ",\"context\":1,\"stream\":" #stream ",\"correlation\":" #corr)
#define CALL(corr, ts, dur) \
	EV("cuda_runtime", "cudaLaunchKernel", 100, 100, ts, dur, "\"correlation\":" #corr)
#define STEP(n, ts, dur) EV("user_annotation", "ProfilerStep#" #n, 100, 100, ts, dur, "")
#define TRACE(events) "{\"schemaVersion\":1,\"traceEvents\":[" events "]}"

static struct fsc_analysis analyse(const struct fsc_seg *s, const char *steps)
{
	struct fsc_analysis_scope scope;
	struct fsc_analysis a = { 0 };
	struct fsc_err err = FSC_ERR_INIT;

	if (fsc_analysis_scope_parse(&scope, steps, &err) != FSC_OK ||
	    fsc_analyse(&a, s, &scope, &err) != FSC_OK)
		fail_msg("%s", err.msg);
	return a;
}

static void check_sums(const struct fsc_device_row *d)
{
	assert_int_equal(d->busy_ns + d->idle_ns, d->window_ns);
	assert_int_equal(d->compute_ns + d->exposed_comm_ns + d->exposed_memcpy_ns +
				 d->unclassified_exposed_ns,
			 d->busy_ns);
	assert_int_equal(d->comm_overlap_ns + d->exposed_comm_ns, d->comm_ns);
}

/*
 *   us            0    10   20   30   40   50   60   70
 *   stream 7      KKKKKKKKKK          KKKKK
 *   stream 8           CCCCCCCCCC               MMMMM        (C: ncclDevKernel, M: Memcpy)
 *   stream 9                     MMMMMMMMMM               sSs
 */
static const char four_kinds[] = TRACE(
	GPU("kernel", "gemm", 0, 7, 1, 0, 20) "," GPU("kernel", "gemm", 0, 7, 2, 40, 10) "," GPU(
		"kernel", "ncclDevKernel_AllReduce", 0, 8, 3, 10,
		20) "," GPU("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 0, 9, 4, 25,
			    20) "," GPU("gpu_memset", "Memset (Device)", 0, 8, 5, 60,
					10) "," GPU("kernel", "cudaLaunchHostFunc", 0, 9, 6, 65,
						    15));

static void the_parts_of_a_device_add_up(void **state)
{
	struct fsc_seg *s = seg_of_json(four_kinds);
	struct fsc_analysis a = analyse(s, "all");
	const struct fsc_device_row *d = a.devices.v;

	(void)state;
	assert_int_equal(a.devices.n, 1);
	assert_int_equal(d->device, 0);
	assert_int_equal(d->slices, 6);
	assert_int_equal(d->window_ns, 80 * US);
	assert_int_equal(d->busy_ns, (50 + 20) * US);
	assert_int_equal(d->idle_ns, 10 * US);
	assert_int_equal(d->compute_ns, 30 * US);
	assert_int_equal(d->comm_ns, 20 * US);
	assert_int_equal(d->comm_overlap_ns, 10 * US);
	assert_int_equal(d->exposed_comm_ns, 10 * US);
	assert_int_equal(d->memcpy_ns, 30 * US);
	/* 25..45 without compute (40..45) and comm (25..30), and 60..70 */
	assert_int_equal(d->exposed_memcpy_ns, 20 * US);
	assert_int_equal(d->unclassified_ns, 15 * US);
	assert_int_equal(d->unclassified_exposed_ns, 10 * US);
	check_sums(d);
	fsc_analysis_fini(&a);
	fsc_seg_unref(s);
}

static void kernels_are_grouped_by_name_with_most_time_first(void **state)
{
	struct fsc_seg *s = seg_of_json(four_kinds);
	struct fsc_analysis a = analyse(s, "all");

	(void)state;
	assert_int_equal(a.kernels.n, 5);
	for (size_t i = 1; i < a.kernels.n; i++)
		assert_true(a.kernels.v[i - 1].sum_ns >= a.kernels.v[i].sum_ns);
	assert_string_equal(fsc_seg_str(s, a.kernels.v[0].name, NULL), "gemm");
	assert_int_equal(a.kernels.v[0].count, 2);
	assert_int_equal(a.kernels.v[0].sum_ns, 30 * US);
	assert_int_equal(a.kernels.v[0].min_ns, 10 * US);
	assert_int_equal(a.kernels.v[0].max_ns, 20 * US);
	assert_int_equal(a.kernels.v[0].first_ts, 0);
	assert_int_equal(a.kernels.v[0].kind, FSC_KIND_COMPUTE);
	/* its first occurrence is a slice of that name, there */
	struct fsc_seg_slice sl;
	assert_int_equal(fsc_seg_slice(&sl, s, a.kernels.v[0].first_slice, NULL), FSC_OK);
	assert_int_equal(sl.name, a.kernels.v[0].name);
	assert_int_equal(sl.ts, 0);
	assert_int_equal(sl.track, a.kernels.v[0].first_track);
	fsc_analysis_fini(&a);
	fsc_seg_unref(s);
}

static void a_trace_without_gpu_work_has_no_devices(void **state)
{
	struct fsc_seg *s =
		seg_of_json(TRACE(EV("cpu_op", "aten::add", 1, 1, 0, 5, "") "," CALL(1, 1, 2)));
	struct fsc_analysis a = analyse(s, "all");

	(void)state;
	assert_int_equal(a.devices.n, 0);
	assert_int_equal(a.idle.n, 0);
	assert_int_equal(a.kernels.n, 0);
	assert_int_equal(a.steps.n, 0);
	assert_int_equal(a.categories.n, 2);
	assert_int_equal(a.launch.pairs + a.launch.none + a.launch.ambiguous, 0);
	fsc_analysis_fini(&a);
	fsc_seg_unref(s);
}

static void devices_of_one_trace_are_kept_apart(void **state)
{
	struct fsc_seg *s = seg_of_json(TRACE(GPU("kernel", "a", 0, 7, 1, 0, 10) "," GPU(
		"kernel", "a", 3, 7, 2, 5, 20) "," GPU("kernel", "a", 3, 8, 3, 100, 20)));
	struct fsc_analysis a = analyse(s, "all");

	(void)state;
	assert_int_equal(a.devices.n, 2);
	assert_int_equal(a.devices.v[0].device, 0);
	assert_int_equal(a.devices.v[0].window_ns, 10 * US);
	assert_int_equal(a.devices.v[1].device, 3);
	assert_int_equal(a.devices.v[1].window_ns, 115 * US);
	assert_int_equal(a.devices.v[1].busy_ns, 40 * US);
	assert_int_equal(a.idle.n, 3);
	fsc_analysis_fini(&a);
	fsc_seg_unref(s);
}

static void a_window_of_nothing_but_empty_slices_has_no_length(void **state)
{
	struct fsc_seg *s = seg_of_json(TRACE(GPU("kernel", "a", 0, 7, 1, 4, 0)));
	struct fsc_analysis a = analyse(s, "all");

	(void)state;
	assert_int_equal(a.devices.n, 1);
	assert_int_equal(a.devices.v[0].window_ns, 0);
	assert_int_equal(a.devices.v[0].slices, 1);
	assert_int_equal(a.kernels.v[0].count, 1);
	fsc_analysis_fini(&a);
	fsc_seg_unref(s);
}

static void accelerators_other_than_cuda_have_a_breakdown_too(void **state)
{
	/* AMD rows have no context; MTIA rows are called mtia_ccp_events */
	static const char amd[] = TRACE(
		EV("kernel", "Cijk_Ailk", 2, 0, 10, 5,
		   "\"device\":2,\"stream\":0,\"correlation\":9,\"kind\":\"Dispatch Kernel\""));
	struct fsc_seg *s = seg_of_json(amd);
	struct fsc_analysis a = analyse(s, "all");

	(void)state;
	assert_int_equal(a.devices.n, 1);
	assert_int_equal(a.devices.v[0].device, 2);
	assert_int_equal(a.devices.v[0].compute_ns, 5 * US);
	assert_int_equal(a.idle.v[0].stream, 0);
	fsc_analysis_fini(&a);
	fsc_seg_unref(s);
}

/*
 * Stream 7: a 0..10, b 12..20 (launched 11: host), c 45..50 (launched 15: gap 25 us), d 85..90 (launched 16:
 * gap 35 us, other), e 88..95 (overlaps d by 2 us: a negative kernel wait), f 130..131 without a launch.
 */
static void gaps_of_a_stream_are_told_apart_by_their_cause(void **state)
{
	struct fsc_seg *s = seg_of_json(TRACE(
		CALL(1, -5, 1) "," CALL(2, 11, 1) "," CALL(3, 15, 1) "," CALL(4, 16, 1) "," CALL(
			5, 17,
			1) "," GPU("kernel", "a", 0, 7, 1, 0,
				   10) "," GPU("kernel", "b", 0, 7, 2, 12,
					       8) "," GPU("kernel", "c", 0, 7, 3, 45,
							  5) "," GPU("kernel", "d", 0, 7, 4, 85,
								     5) "," GPU("kernel", "e", 0, 7,
										5, 88,
										7) "," GPU("kernel",
											   "f", 0,
											   7, 6,
											   130,
											   1)));
	struct fsc_analysis a = analyse(s, "all");

	(void)state;
	assert_int_equal(a.idle.n, 1);
	assert_int_equal(a.idle.v[0].host_wait_ns, 2 * US);
	assert_int_equal(a.idle.v[0].kernel_wait_ns, (25 - 2) * US);
	assert_int_equal(a.idle.v[0].other_ns, (35 + 35) * US);
	assert_int_equal(a.launch.pairs, 5);
	assert_int_equal(a.launch.none, 1);
	fsc_analysis_fini(&a);
	fsc_seg_unref(s);
}

static void a_correlation_with_two_calls_is_ambiguous(void **state)
{
	struct fsc_seg *s = seg_of_json(TRACE(CALL(1, 0, 1) "," CALL(1, 2, 1) "," EV(
		"cuda_sync", "Stream Sync", 0, 7, 3, 1,
		"\"correlation\":2,\"stream\":7") "," GPU("kernel", "a", 0, 7, 1, 5,
							  1) "," GPU("kernel", "b", 0, 7, 2, 7,
								     1)));
	struct fsc_analysis a = analyse(s, "all");

	(void)state;
	assert_int_equal(a.launch.ambiguous, 1);
	/* a synchronisation row has a correlation, but launches nothing */
	assert_int_equal(a.launch.none, 1);
	/* and is no GPU work */
	assert_int_equal(a.devices.v[0].window_ns, 3 * US);
	fsc_analysis_fini(&a);
	fsc_seg_unref(s);
}

/* 60,000 calls and 60,000 kernels with one and the same correlation: work grows with their sum, not product. */
static void one_correlation_for_everything_is_no_trap(void **state)
{
	struct fsc_buf json = FSC_BUF_INIT(64 << 20);

	(void)state;
	fsc_buf_adds(&json, "{\"traceEvents\":[" STEP(1, 0, 1000) "," STEP(2, 1000, 100000));
	for (int i = 0; i < 60000; i++) {
		fsc_buf_addf(&json,
			     ",{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":"
			     "\"cudaLaunchKernel\",\"pid\":1,"
			     "\"tid\":1,\"ts\":%d,\"dur\":1,\"args\":{\"correlation\":7}}",
			     i);
		fsc_buf_addf(&json,
			     ",{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,"
			     "\"ts\":%d,"
			     "\"dur\":1,\"args\":{\"device\":0,\"stream\":7,\"correlation\":7}}",
			     i);
	}
	fsc_buf_adds(&json, "]}");
	struct fsc_seg *s = seg_of_json(json.data);
	int64_t t0 = fsc_clock_cpu_ns();
	struct fsc_analysis a = analyse(s, "no_last"), b = analyse(s, "1-2");
	/* 3.6 * 10^9 steps would take many seconds even without a sanitizer */
	assert_true(fsc_clock_cpu_ns() - t0 < 2000000000);
	assert_int_equal(a.launch.ambiguous, 60000);
	assert_int_equal(a.devices.v[0].slices, 60000);
	assert_int_equal(b.devices.v[0].slices, 60000);
	fsc_analysis_fini(&a);
	fsc_analysis_fini(&b);
	fsc_seg_unref(s);
	fsc_buf_fini(&json);
}

/* Three steps of 100 us; the kernel of step 2 runs in step 3, one kernel was launched before the first. */
static const char three_steps[] = TRACE(
	STEP(5, 0, 100) "," STEP(6, 100, 100) "," STEP(7, 200, 100) "," CALL(9, -20, 1) "," CALL(
		1, 10,
		1) "," CALL(2, 110,
			    1) "," CALL(3, 210,
					1) "," GPU("kernel", "early", 0, 7, 9, -10,
						   5) "," GPU("kernel", "one", 0, 7, 1, 20,
							      30) "," GPU("kernel", "two", 0, 7, 2,
									  190,
									  40) "," GPU("kernel",
										      "three", 0, 7,
										      3, 240,
										      20) "," GPU("kernel",
												  "orphan",
												  0,
												  7,
												  77,
												  150,
												  10));

static void steps_have_their_busy_time(void **state)
{
	static const int64_t busy[] = { 30, 20, 50 };
	struct fsc_seg *s = seg_of_json(three_steps);
	struct fsc_analysis a = analyse(s, "all");

	(void)state;
	assert_int_equal(a.n_steps_total, 3);
	assert_int_equal(a.steps.n, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(a.steps.v[i].number, 5 + i);
		/* times start at the earliest event, 20 us before the first step */
		assert_int_equal(a.steps.v[i].t0, (20 + 100 * (int64_t)i) * US);
		assert_int_equal(a.steps.v[i].dur_ns, 100 * US);
		assert_int_equal(a.steps.v[i].busy_ns, busy[i] * US);
		assert_int_equal(a.steps.v[i].idle_ns, (100 - busy[i]) * US);
	}
	assert_int_equal(a.kernels.n, 5);
	fsc_analysis_fini(&a);
	fsc_seg_unref(s);
}

static void no_last_keeps_what_was_launched_before_the_last_step(void **state)
{
	struct fsc_seg *s = seg_of_json(three_steps);
	struct fsc_analysis a = analyse(s, "no_last");

	(void)state;
	/* early, one and two; three was launched in the last step, orphan by nobody */
	assert_int_equal(a.kernels.n, 3);
	assert_int_equal(a.devices.v[0].slices, 3);
	assert_int_equal(a.devices.v[0].window_ns, (230 + 10) * US);
	assert_int_equal(a.devices.v[0].busy_ns, 75 * US);
	assert_int_equal(a.steps.n, 2);
	assert_int_equal(a.n_steps_total, 3);
	/* the census is of the whole trace */
	assert_int_equal(a.launch.pairs, 4);
	assert_int_equal(a.launch.none, 1);
	fsc_analysis_fini(&a);
	fsc_seg_unref(s);
}

static void a_range_keeps_what_was_launched_in_its_steps(void **state)
{
	struct fsc_seg *s = seg_of_json(three_steps);
	struct fsc_analysis a = analyse(s, "6-7");

	(void)state;
	assert_int_equal(a.kernels.n, 2);
	assert_int_equal(a.devices.v[0].busy_ns, 60 * US);
	assert_int_equal(a.steps.n, 2);
	assert_int_equal(a.steps.v[0].number, 6);
	fsc_analysis_fini(&a);
	a = analyse(s, "5");
	assert_int_equal(a.kernels.n, 1);
	assert_string_equal(fsc_seg_str(s, a.kernels.v[0].name, NULL), "one");
	fsc_analysis_fini(&a);
	fsc_seg_unref(s);
}

static void a_range_that_the_trace_does_not_have_is_not_found(void **state)
{
	struct fsc_seg *s = seg_of_json(three_steps);
	struct fsc_analysis_scope scope = { FSC_STEPS_RANGE, 6, 8 };
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_analysis a;

	(void)state;
	assert_int_equal(fsc_analyse(&a, s, &scope, &err), FSC_ENOTFOUND);
	assert_string_equal(err.code, "no_such_step");
	assert_non_null(strstr(err.msg, "8"));
	fsc_seg_unref(s);
}

static void one_step_is_never_left_out(void **state)
{
	struct fsc_seg *s = seg_of_json(TRACE(
		STEP(5, 0, 100) "," CALL(1, 200, 1) "," GPU("kernel", "one", 0, 7, 1, 220, 30)));
	struct fsc_analysis a = analyse(s, "no_last");

	(void)state;
	assert_int_equal(a.kernels.n, 1);
	assert_int_equal(a.steps.n, 1);
	fsc_analysis_fini(&a);
	fsc_seg_unref(s);
}

/* HTA's last step is the latest start of any ProfilerStep row, those projected on a stream included. */
static void the_projection_of_a_step_can_be_the_last_start(void **state)
{
	struct fsc_seg *s = seg_of_json(TRACE(STEP(5, 0, 100) "," STEP(6, 100, 100) "," CALL(
		1, 150, 1) "," GPU("kernel", "one", 0, 7, 1, 260,
				   30) "," EV("gpu_user_annotation", "ProfilerStep#6", 0, 7, 250,
					      50, "\"External id\":3")));
	struct fsc_analysis a = analyse(s, "no_last");

	(void)state;
	assert_int_equal(a.kernels.n, 1);
	/* but it is the same step, not another */
	assert_int_equal(a.n_steps_total, 2);
	fsc_analysis_fini(&a);
	fsc_seg_unref(s);
}

static void the_text_of_a_scope_is_checked(void **state)
{
	static const char *const bad[] = { "x",	      "1-",    "-1",
					   "3-2",     "1-2-3", "all ",
					   "no-last", "1 - 2", "99999999999999999999" };
	struct fsc_analysis_scope scope;

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(bad); i++) {
		struct fsc_err err = FSC_ERR_INIT;

		assert_int_equal(fsc_analysis_scope_parse(&scope, bad[i], &err), FSC_EINVAL);
		assert_string_equal(err.code, "bad_steps");
	}
	assert_int_equal(fsc_analysis_scope_parse(&scope, NULL, NULL), FSC_OK);
	assert_int_equal(scope.steps, FSC_STEPS_ALL);
	assert_int_equal(fsc_analysis_scope_parse(&scope, "12-34", NULL), FSC_OK);
	assert_int_equal(scope.first, 12);
	assert_int_equal(scope.last, 34);
}

static void the_json_has_the_fixed_shape(void **state)
{
	struct fsc_seg *s = seg_of_json(four_kinds);
	struct fsc_analysis a = analyse(s, "all");
	struct fsc_buf b = FSC_BUF_INIT(1 << 20);
	struct fsc_json j;

	(void)state;
	fsc_json_init(&j, &b);
	fsc_json_obj(&j);
	fsc_analysis_json(&j, &a, s);
	fsc_json_obj_end(&j);
	assert_int_equal(fsc_buf_status(&b), FSC_OK);
	assert_non_null(strstr(b.data, "\"devices\":[{\"device\":0,"));
	assert_non_null(strstr(b.data, "\"window_ns\":80000,\"busy_ns\":70000,\"idle_ns\":10000,"
				       "\"compute_ns\":30000,\"comm_ns\":20000,\"memcpy_ns\":30000,"
				       "\"exposed_comm_ns\":10000,\"exposed_memcpy_ns\":20000,"
				       "\"comm_overlap_ns\":10000,\"comm_overlap_pct\":50"));
	assert_non_null(strstr(b.data, "\"idle\":[{\"device\":0,\"stream\":7,\"host_wait_ns\":0,"));
	assert_non_null(
		strstr(b.data,
		       "{\"name\":\"gemm\",\"kind\":\"compute\",\"count\":2,\"sum_ns\":30000,"
		       "\"min_ns\":10000,\"max_ns\":20000,\"mean_ns\":15000,"));
	assert_non_null(strstr(b.data, "\"steps\":[],\"losses\":["));
	/* fields of later features are absent */
	assert_null(strstr(b.data, "findings"));
	fsc_buf_fini(&b);
	fsc_analysis_fini(&a);
	fsc_seg_unref(s);
}

/* ---- random traces against a bitmap ---- */

#define SPAN 400 /* us */

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545F4914F6CDD1DULL;
}

struct bits {
	uint8_t on[SPAN]; /* a bit per part: 1 compute, 2 comm, 4 copy, 8 other */
	int first, last;
	unsigned n;
};

static void random_event(struct fsc_buf *json, struct bits bits[2], uint64_t *rng)
{
	static const struct {
		const char *cat, *name;
	} kinds[] = { { "kernel", "gemm" },
		      { "kernel", "ncclDevKernel_X" },
		      { "gpu_memcpy", "Memcpy DtoD" },
		      { "kernel", "cudaLaunchHostFunc" } };
	unsigned kind = (unsigned)(next_random(rng) % 4), dev = (unsigned)(next_random(rng) % 2);
	int ts = (int)(next_random(rng) % (SPAN - 40)), dur = (int)(next_random(rng) % 40);

	fsc_buf_addf(json,
		     ",{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":%u,\"tid\":%u,\"ts\":%"
		     "d,\"dur\":%d,"
		     "\"args\":{\"device\":%u,\"stream\":%u,\"correlation\":1}}",
		     kinds[kind].cat, kinds[kind].name, dev, kind, ts, dur, dev,
		     (unsigned)(next_random(rng) % 3));
	struct bits *b = &bits[dev];
	if (!b->n || ts < b->first)
		b->first = ts;
	if (!b->n || ts + dur > b->last)
		b->last = ts + dur;
	b->n++;
	for (int t = ts; t < ts + dur; t++)
		b->on[t] |= (uint8_t)(1u << kind);
}

static void check_device(const struct fsc_device_row *d, const struct bits *b)
{
	int64_t busy = 0, part[4] = { 0 }, exposed[4] = { 0 };

	for (int t = 0; t < SPAN; t++) {
		busy += b->on[t] != 0;
		for (int k = 0; k < 4; k++) {
			part[k] += b->on[t] >> k & 1;
			/* exposed: none of the parts before it */
			exposed[k] += (b->on[t] >> k & 1) && !(b->on[t] & ((1u << k) - 1));
		}
	}
	assert_int_equal(d->slices, b->n);
	assert_int_equal(d->window_ns, (b->last - b->first) * US);
	assert_int_equal(d->busy_ns, busy * US);
	assert_int_equal(d->compute_ns, part[0] * US);
	assert_int_equal(d->comm_ns, part[1] * US);
	assert_int_equal(d->memcpy_ns, part[2] * US);
	assert_int_equal(d->unclassified_ns, part[3] * US);
	assert_int_equal(d->exposed_comm_ns, exposed[1] * US);
	assert_int_equal(d->exposed_memcpy_ns, exposed[2] * US);
	assert_int_equal(d->unclassified_exposed_ns, exposed[3] * US);
	check_sums(d);
}

static void random_traces_agree_with_a_bitmap(void **state)
{
	uint64_t rng = 0xD1B54A32D192ED03ULL;

	(void)state;
	for (int round = 0; round < 300; round++) {
		static struct bits bits[2];
		struct fsc_buf json = FSC_BUF_INIT(1 << 20);
		unsigned n = 1 + (unsigned)(next_random(&rng) % 40);

		memset(bits, 0, sizeof(bits));
		fsc_buf_adds(&json,
			     "{\"traceEvents\":[" EV("cpu_op", "aten::add", 99, 99, 0, 1, ""));
		for (unsigned i = 0; i < n; i++)
			random_event(&json, bits, &rng);
		fsc_buf_adds(&json, "]}");
		struct fsc_seg *s = seg_of_json(json.data);
		struct fsc_analysis a = analyse(s, "all");
		for (size_t i = 0; i < a.devices.n; i++)
			check_device(&a.devices.v[i], &bits[a.devices.v[i].device]);
		assert_int_equal(a.devices.n, (bits[0].n > 0) + (bits[1].n > 0));
		fsc_analysis_fini(&a);
		fsc_seg_unref(s);
		fsc_buf_fini(&json);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_parts_of_a_device_add_up),
		cmocka_unit_test(kernels_are_grouped_by_name_with_most_time_first),
		cmocka_unit_test(a_trace_without_gpu_work_has_no_devices),
		cmocka_unit_test(devices_of_one_trace_are_kept_apart),
		cmocka_unit_test(a_window_of_nothing_but_empty_slices_has_no_length),
		cmocka_unit_test(accelerators_other_than_cuda_have_a_breakdown_too),
		cmocka_unit_test(gaps_of_a_stream_are_told_apart_by_their_cause),
		cmocka_unit_test(a_correlation_with_two_calls_is_ambiguous),
		cmocka_unit_test(one_correlation_for_everything_is_no_trap),
		cmocka_unit_test(steps_have_their_busy_time),
		cmocka_unit_test(no_last_keeps_what_was_launched_before_the_last_step),
		cmocka_unit_test(a_range_keeps_what_was_launched_in_its_steps),
		cmocka_unit_test(a_range_that_the_trace_does_not_have_is_not_found),
		cmocka_unit_test(one_step_is_never_left_out),
		cmocka_unit_test(the_projection_of_a_step_can_be_the_last_start),
		cmocka_unit_test(the_text_of_a_scope_is_checked),
		cmocka_unit_test(the_json_has_the_fixed_shape),
		cmocka_unit_test(random_traces_agree_with_a_bitmap),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
