/* SPDX-License-Identifier: Apache-2.0 */
/* Perfetto traces made to cost time, and what becomes of counters of one name. */
#include <time.h>

#include "export/pb.h"
#include "tests/support/read_trace.h"

#define SECONDS_MAX 5.0 /* of CPU, with sanitizers */

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void put_counter_track(struct fsc_buf *b, uint64_t uuid, const char *name)
{
	size_t packet = pb_begin(b, 1), track;

	pb_uint(b, 10, 1);
	track = pb_begin(b, 60);
	pb_uint(b, 1, uuid);
	pb_str(b, 2, name);
	pb_end(b, pb_begin(b, 8));
	pb_end(b, track);
	pb_end(b, packet);
}

static void put_value(struct fsc_buf *b, uint64_t uuid, uint64_t ts, uint64_t v)
{
	size_t packet = pb_begin(b, 1), event;

	pb_uint(b, 8, ts);
	pb_uint(b, 10, 1);
	event = pb_begin(b, 11);
	pb_uint(b, 9, 4);
	pb_uint(b, 11, uuid);
	pb_uint(b, 30, v);
	pb_end(b, event);
	pb_end(b, packet);
}

static void put_reading(struct fsc_buf *b, uint64_t clock, uint64_t ts)
{
	size_t m = pb_begin(b, 1);

	pb_uint(b, 1, clock);
	pb_uint(b, 2, ts);
	pb_end(b, m);
}

/* n clocks from `first` on, all showing ts. */
static void put_snapshot(struct fsc_buf *b, uint64_t first, unsigned n, uint64_t ts)
{
	size_t packet = pb_begin(b, 1), snapshot;

	pb_uint(b, 10, 1);
	snapshot = pb_begin(b, 6);
	for (unsigned i = 0; i < n; i++)
		put_reading(b, first + i, ts);
	pb_end(b, snapshot);
	pb_end(b, packet);
}

static void put_instant(struct fsc_buf *b, uint64_t clock, uint64_t ts)
{
	size_t packet = pb_begin(b, 1), event;

	pb_uint(b, 8, ts);
	pb_uint(b, 10, 1);
	if (clock)
		pb_uint(b, 58, clock);
	event = pb_begin(b, 11);
	pb_uint(b, 9, 3);
	pb_str(b, 23, "e");
	pb_end(b, event);
	pb_end(b, packet);
}

static struct fsc_trace *read_in_time(struct fsc_buf *b)
{
	struct fsc_err err = FSC_ERR_INIT;
	double start = cpu_s();
	struct fsc_trace *t = read_trace_text(b->data, b->len, &err);

	if (!t)
		fail_msg("%s: %s", err.code, err.msg);
	if (cpu_s() - start > SECONDS_MAX)
		fail_msg("took %.1f s of CPU", cpu_s() - start);
	return t;
}

static bool has_counter(const struct fsc_trace *t, const char *name)
{
	for (size_t i = 0; i < t->tracks.n; i++)
		if (!strcmp(str_of(t, t->tracks.v[i].name), name))
			return true;
	return false;
}

static void counters_of_one_name_stay_apart(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(1u << 20);
	static const char *const names[] = { "power", "power (2)", "power", "power", "power (2)" };
	struct fsc_trace *t;

	(void)state;
	for (unsigned i = 0; i < FSC_ARRAY_LEN(names); i++) {
		put_counter_track(&b, i + 1, names[i]);
		put_value(&b, i + 1, 10 + i, i);
	}
	t = read_in_time(&b);
	assert_int_equal(t->counters.n, 5);
	assert_int_equal(t->tracks.n, 5);
	assert_true(has_counter(t, "power") && has_counter(t, "power (2)") &&
		    has_counter(t, "power (3)") && has_counter(t, "power (4)") &&
		    has_counter(t, "power (2) (3)"));
	fsc_trace_free(t);
	fsc_buf_fini(&b);
}

static void very_many_counters_of_one_name_cost_no_more(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(64u << 20);
	struct fsc_trace *t;

	(void)state;
	for (unsigned i = 0; i < 60000; i++) {
		put_counter_track(&b, i + 1, "power");
		put_value(&b, i + 1, 10, i);
	}
	t = read_in_time(&b);
	assert_int_equal(t->tracks.n, 60000);
	fsc_trace_free(t);
	fsc_buf_fini(&b);
}

/* Clock 200 leads to the trace's clock (6) over clock 300 only; 400 and the many others lead nowhere. */
static void a_time_goes_over_a_third_clock(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(1u << 20);
	struct fsc_trace *t;
	size_t packet, snapshot;

	(void)state;
	packet = pb_begin(&b, 1);
	snapshot = pb_begin(&b, 6);
	put_reading(&b, 6, 1000);
	put_reading(&b, 300, 50);
	pb_end(&b, snapshot);
	pb_end(&b, packet);
	packet = pb_begin(&b, 1);
	snapshot = pb_begin(&b, 6);
	put_reading(&b, 300, 150);
	put_reading(&b, 200, 7);
	pb_end(&b, snapshot);
	pb_end(&b, packet);
	put_snapshot(&b, 400, 1, 5);
	put_instant(&b, 0, 1000);
	put_instant(&b, 200, 10); /* 3 after 150 of clock 300, which is 103 after 1000 */
	put_instant(&b, 400, 6);
	t = read_in_time(&b);
	assert_int_equal(t->slices.n, 2);
	assert_int_equal(t->slices.ts[1] - t->slices.ts[0], 103);
	assert_int_equal(loss_of(t, "clock_unknown"), 1);
	fsc_trace_free(t);
	fsc_buf_fini(&b);
}

static void clocks_that_lead_nowhere_cost_little(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(64u << 20);
	struct fsc_trace *t;

	(void)state;
	put_snapshot(&b, 6, 1, 1000);
	for (unsigned i = 0; i < 200; i++) {
		put_snapshot(&b, 1000, 500, i);
		for (unsigned k = 0; k < 500; k++)
			put_instant(&b, 1000 + k, i);
	}
	put_instant(&b, 0, 1000);
	t = read_in_time(&b);
	assert_int_equal(t->slices.n, 1);
	assert_int_equal(loss_of(t, "clock_unknown"), 100000);
	fsc_trace_free(t);
	fsc_buf_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counters_of_one_name_stay_apart),
		cmocka_unit_test(very_many_counters_of_one_name_cost_no_more),
		cmocka_unit_test(a_time_goes_over_a_third_clock),
		cmocka_unit_test(clocks_that_lead_nowhere_cost_little),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
