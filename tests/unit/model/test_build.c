/* SPDX-License-Identifier: Apache-2.0 */
/* The builder: matching, rows, flows, times; and random traces against a slow second opinion. */
#include "model/build.h"

#include "base/alloc.h"
#include "base/limits.h"
#include "tests/support/read_trace.h"

static uint64_t rnd_state;

static uint64_t rnd(uint64_t n)
{
	rnd_state = rnd_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (rnd_state >> 33) % n;
}

static uint32_t thread_of(struct fsc_build *b, int64_t pid, int64_t tid)
{
	uint32_t ident, track;
	struct fsc_build_id p = { .num = pid }, t = { .num = tid };

	assert_int_equal(fsc_build_ident(&ident, b, p, t), FSC_OK);
	assert_int_equal(fsc_build_thread(&track, b, ident), FSC_OK);
	return track;
}

static struct fsc_build_slice slice_at(struct fsc_build *b, uint32_t track, int64_t ts, int64_t dur,
				       const char *name)
{
	struct fsc_build_slice s = { .ts = ts,
				     .dur = dur,
				     .track = track,
				     .args = FSC_NO_ARGS,
				     .correlation = FSC_NO_CORRELATION,
				     .kind = FSC_KIND_OTHER };

	assert_int_equal(fsc_build_str(&s.name, b, name, strlen(name)), FSC_OK);
	assert_int_equal(fsc_build_cat(&s.cat, b, "", 0), FSC_OK);
	return s;
}

static uint32_t add(struct fsc_build *b, uint32_t track, int64_t ts, int64_t dur, const char *name)
{
	struct fsc_build_slice s = slice_at(b, track, ts, dur, name);
	uint32_t i;

	assert_int_equal(fsc_build_slice(&i, b, &s), FSC_OK);
	return i;
}

static struct fsc_trace *finish(struct fsc_build *b)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_trace *t;

	assert_int_equal(fsc_build_finish(&t, b, &err), FSC_OK);
	fsc_build_free(b);
	assert_valid(t);
	return t;
}

static unsigned depth_of(const struct fsc_trace *t, const char *name)
{
	return t->slices.depth[slice_named(t, name)];
}

static void nested_slices_get_their_depth_in_any_file_order(void **state)
{
	struct fsc_build *b = fsc_build_new();
	uint32_t k = thread_of(b, 1, 2);

	(void)state;
	add(b, k, 12, 3, "leaf");
	add(b, k, 10, 10, "inner");
	add(b, k, 25, 5, "sibling");
	add(b, k, 10, 30, "outer");
	add(b, k, 40, 1, "next");
	struct fsc_trace *t = finish(b);
	assert_int_equal(depth_of(t, "outer"), 0);
	assert_int_equal(depth_of(t, "inner"), 1);
	assert_int_equal(depth_of(t, "sibling"), 1);
	assert_int_equal(depth_of(t, "leaf"), 2);
	assert_int_equal(depth_of(t, "next"), 0);
	assert_int_equal(t->meta.t_base_ns, 10);
	assert_int_equal(t->slices.ts[slice_named(t, "outer")], 0);
	fsc_trace_free(t);
}

static void chains_of_overlaps_alternate_between_two_rows(void **state)
{
	struct fsc_build *b = fsc_build_new();
	uint32_t k = thread_of(b, 1, 2);

	(void)state;
	for (int i = 0; i < 100; i++)
		add(b, k, 10 * i, 11, "k");
	struct fsc_trace *t = finish(b);
	assert_int_equal(t->tracks.v[0].depths, 2);
	assert_int_equal(loss_of(t, "slice_overlap_kept"), 99);
	fsc_trace_free(t);
}

static void open_begins_run_to_the_end_and_ends_match_by_name(void **state)
{
	struct fsc_build *b = fsc_build_new();
	uint32_t k = thread_of(b, 1, 2), i;
	struct fsc_build_slice s = slice_at(b, k, 0, 0, "open"), c = slice_at(b, k, 5, 0, "closed");

	(void)state;
	assert_int_equal(fsc_build_end(b, k, 9, c.name, c.cat, FSC_NO_ARGS),
			 FSC_OK); /* the end comes first */
	assert_int_equal(fsc_build_begin(&i, b, &s), FSC_OK);
	assert_int_equal(fsc_build_begin(&i, b, &c), FSC_OK);
	assert_int_equal(fsc_build_end(b, k, 3, c.name, c.cat, FSC_NO_ARGS),
			 FSC_OK); /* before its begin */
	add(b, k, 20, 30, "last");
	struct fsc_trace *t = finish(b);
	uint32_t o = slice_named(t, "open");
	assert_int_equal(t->slices.dur[o], 50);
	assert_true(t->slices.flags[o] & FSC_SLICE_OPEN);
	assert_int_equal(t->slices.dur[slice_named(t, "closed")], 4);
	assert_int_equal(depth_of(t, "closed"), 1);
	assert_int_equal(depth_of(t, "last"), 1);
	assert_int_equal(loss_of(t, "end_without_begin"), 1);
	assert_int_equal(loss_of(t, "begin_without_end"), 1);
	fsc_trace_free(t);
}

static void crossed_begins_and_ends_keep_both_times(void **state)
{
	struct fsc_build *b = fsc_build_new();
	uint32_t k = thread_of(b, 1, 2), i;
	struct fsc_build_slice x = slice_at(b, k, 0, 0, "x"), y = slice_at(b, k, 5, 0, "y");

	(void)state;
	assert_int_equal(fsc_build_begin(&i, b, &x), FSC_OK);
	assert_int_equal(fsc_build_begin(&i, b, &y), FSC_OK);
	assert_int_equal(fsc_build_end(b, k, 10, x.name, x.cat, FSC_NO_ARGS), FSC_OK);
	assert_int_equal(fsc_build_end(b, k, 15, y.name, y.cat, FSC_NO_ARGS), FSC_OK);
	struct fsc_trace *t = finish(b);
	assert_int_equal(t->slices.dur[slice_named(t, "x")], 10);
	assert_int_equal(t->slices.dur[slice_named(t, "y")], 10);
	assert_int_equal(loss_of(t, "misplaced_end"), 1);
	assert_int_equal(loss_of(t, "slice_overlap_kept"), 1);
	fsc_trace_free(t);
}

static void a_launch_flow_finds_the_slice_with_its_correlation(void **state)
{
	struct fsc_build *b = fsc_build_new();
	struct fsc_build_id gpu = { .num = 0 }, seven = { .num = 7 }, host = { .num = 100 };
	uint32_t ident, stream, from, i;

	(void)state;
	assert_int_equal(fsc_build_ident(&ident, b, gpu, seven), FSC_OK);
	assert_int_equal(fsc_build_stream(&stream, b, ident, 0, 1, 7), FSC_OK);
	/* three kernels of no length at one time: integer-us files have thousands */
	for (int64_t c = 1; c <= 3; c++) {
		struct fsc_build_slice s = slice_at(b, stream, 50, 0,
						    c == 1   ? "k1"
						    : c == 2 ? "k2"
							     : "k3");
		s.correlation = c;
		assert_int_equal(fsc_build_slice(&i, b, &s), FSC_OK);
	}
	add(b, thread_of(b, 100, 100), 10, 5, "launch");
	assert_int_equal(fsc_build_ident(&from, b, host, host), FSC_OK);
	struct fsc_build_flow s = {
		.ts = 10, .id = 2, .ident = from, .slice = FSC_NO_SLICE, .phase = FSC_FLOW_START
	};
	struct fsc_build_flow f = {
		.ts = 50, .id = 2, .ident = ident, .slice = FSC_NO_SLICE, .phase = FSC_FLOW_END
	};
	assert_int_equal(fsc_build_flow(b, &f), FSC_OK);
	assert_int_equal(fsc_build_flow(b, &s), FSC_OK);
	struct fsc_trace *t = finish(b);
	assert_int_equal(t->flows.n, 1);
	assert_int_equal(t->flows.v[0].from, slice_named(t, "launch"));
	assert_int_equal(t->flows.v[0].to, slice_named(t, "k2"));
	assert_int_equal(t->tracks.v[t->slices.track[slice_named(t, "k1")]].depths,
			 1); /* nothing nests on a stream */
	fsc_trace_free(t);
}

static void ends_earlier_than_their_start_are_kept(void **state)
{
	struct fsc_build *b = fsc_build_new();
	uint32_t k = thread_of(b, 1, 2), m = thread_of(b, 1, 3), a, c;
	struct fsc_build_id one = { .num = 1 }, two = { .num = 2 }, three = { .num = 3 };

	(void)state;
	add(b, k, 100, 5, "from");
	add(b, m, 90, 5, "to");
	assert_int_equal(fsc_build_ident(&a, b, one, two), FSC_OK);
	assert_int_equal(fsc_build_ident(&c, b, one, three), FSC_OK);
	struct fsc_build_flow s = {
		.ts = 100, .id = 1, .ident = a, .slice = FSC_NO_SLICE, .phase = FSC_FLOW_START
	};
	struct fsc_build_flow f = {
		.ts = 90, .id = 1, .ident = c, .slice = FSC_NO_SLICE, .phase = FSC_FLOW_END
	};
	assert_int_equal(fsc_build_flow(b, &s), FSC_OK);
	assert_int_equal(fsc_build_flow(b, &f), FSC_OK);
	struct fsc_trace *t = finish(b);
	assert_int_equal(t->flows.n, 1);
	assert_int_equal(t->flows.v[0].from, slice_named(t, "from"));
	assert_int_equal(loss_of(t, "flow_start_without_end"), 0);
	fsc_trace_free(t);
}

static void an_empty_trace_is_valid(void **state)
{
	(void)state;
	struct fsc_trace *t = finish(fsc_build_new());
	assert_int_equal(t->slices.n, 0);
	assert_int_equal(t->tracks.n, 0);
	fsc_trace_free(t);
}

/* ---- random traces ---- */

/* Nested slices below [t0, t1). */
static void nest(struct fsc_build *b, uint32_t track, int64_t t0, int64_t t1, int depth,
		 uint32_t *left)
{
	while (*left && t0 < t1) {
		int64_t a = t0 + (int64_t)rnd(3), e = a + (int64_t)rnd((uint64_t)(t1 - t0) / 2 + 2);
		if (a >= t1)
			return;
		if (e > t1)
			e = t1;
		add(b, track, a, e - a, "n");
		--*left;
		if (depth < 8 && rnd(2))
			nest(b, track, a, e, depth + 1, left);
		t0 = e + (int64_t)rnd(4);
	}
}

static void check_sums(const struct fsc_trace *t, uint32_t n, int64_t sum)
{
	int64_t got = 0;

	assert_int_equal(t->slices.n, n);
	for (uint32_t i = 0; i < t->slices.n; i++)
		got += t->slices.dur[i];
	assert_int_equal(got, sum);
}

static void properly_nested_random_traces_have_no_overlaps(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 200; seed++) {
		struct fsc_build *b = fsc_build_new();
		uint32_t left = 1 + (uint32_t)(seed * 7);
		rnd_state = seed;
		for (int64_t k = 0; k < 3; k++)
			nest(b, thread_of(b, 1, k), 0, 100000, 0, &left);
		struct fsc_trace *t = finish(b);
		/* zero-length slices at the end of their parent are siblings, so nothing overlaps */
		assert_int_equal(loss_of(t, "slice_overlap_kept"), 0);
		fsc_trace_free(t);
	}
}

/* Slow opinion on the row of slice i: below the deepest row whose last open slice contains it. */
static void check_parents(const struct fsc_trace *t)
{
	const struct fsc_slices *s = &t->slices;

	for (uint32_t i = 0; i < s->n; i++) {
		bool partly = false;
		int64_t end = s->ts[i] + s->dur[i];
		for (uint32_t k = 0; k < s->n; k++) {
			if (k == i || s->track[k] != s->track[i])
				continue;
			int64_t e = s->ts[k] + s->dur[k];
			bool before = s->ts[k] < s->ts[i];
			if (before && e > s->ts[i] && e < end)
				partly = true;
			/* what contains a slice strictly lies above it */
			if (before && e >= end && e > s->ts[i])
				assert_true(s->depth[k] < s->depth[i]);
		}
		assert_int_equal(partly, (s->flags[i] & FSC_SLICE_OVERLAP) != 0);
	}
}

static void random_traces_keep_every_slice_and_all_invariants(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 300; seed++) {
		struct fsc_build *b = fsc_build_new();
		uint32_t n = 1 + (uint32_t)(seed % 150);
		int64_t sum = 0;
		rnd_state = seed * 977 + 5;
		for (uint32_t i = 0; i < n; i++) {
			int64_t dur = (int64_t)rnd(rnd(3) ? 30 : 3);
			add(b, thread_of(b, 1, (int64_t)rnd(2)), 1000 + (int64_t)rnd(200), dur,
			    "n");
			sum += dur;
		}
		struct fsc_trace *t = finish(b);
		check_sums(t, n, sum);
		check_parents(t);
		fsc_trace_free(t);
	}
}

/* Two orders of the same events give the same times and depths (names differ only in their ids). */
static void shuffled_events_give_the_same_rows(void **state)
{
	enum { N = 400 };
	static int64_t ts[N], dur[N];

	(void)state;
	rnd_state = 42;
	for (int i = 0; i < N; i++) {
		ts[i] = (int64_t)rnd(100000);
		dur[i] = 1 + (int64_t)rnd(3000);
	}
	struct fsc_trace *t[2];
	for (int pass = 0; pass < 2; pass++) {
		struct fsc_build *b = fsc_build_new();
		for (int i = 0; i < N; i++) {
			int k = pass ? (i * 7 + 3) % N : i;
			add(b, thread_of(b, 1, 1), ts[k], dur[k], "n");
		}
		t[pass] = finish(b);
	}
	for (uint32_t i = 0; i < N; i++) {
		assert_int_equal(t[0]->slices.ts[i], t[1]->slices.ts[i]);
		assert_int_equal(t[0]->slices.dur[i], t[1]->slices.dur[i]);
		assert_int_equal(t[0]->slices.depth[i], t[1]->slices.depth[i]);
	}
	fsc_trace_free(t[0]);
	fsc_trace_free(t[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nested_slices_get_their_depth_in_any_file_order),
		cmocka_unit_test(chains_of_overlaps_alternate_between_two_rows),
		cmocka_unit_test(open_begins_run_to_the_end_and_ends_match_by_name),
		cmocka_unit_test(crossed_begins_and_ends_keep_both_times),
		cmocka_unit_test(a_launch_flow_finds_the_slice_with_its_correlation),
		cmocka_unit_test(ends_earlier_than_their_start_are_kept),
		cmocka_unit_test(an_empty_trace_is_valid),
		cmocka_unit_test(properly_nested_random_traces_have_no_overlaps),
		cmocka_unit_test(random_traces_keep_every_slice_and_all_invariants),
		cmocka_unit_test(shuffled_events_give_the_same_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
