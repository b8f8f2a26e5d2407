/* SPDX-License-Identifier: Apache-2.0 */
/* Interval algebra: worked cases, and random sets against a bitmap that needs no algebra. */
#include "analysis/intervals.h"

#include "tests/support/test.h"

#define BITS 512

/* xorshift64*: the same numbers on every run. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545F4914F6CDD1DULL;
}

static void add(struct fsc_spans *s, int64_t t0, int64_t t1)
{
	assert_true(fsc_spans_add(s, t0, t1));
}

static void an_empty_set_has_no_length_and_no_gap(void **state)
{
	struct fsc_spans s = { .v = { 0 } };

	(void)state;
	assert_true(fsc_spans_normalise(&s));
	assert_int_equal(fsc_spans_total(&s), 0);
	assert_int_equal(fsc_spans_total_in(&s, -5, 5), 0);
	assert_int_equal(fsc_spans_gaps(&s), 0);
	fsc_spans_fini(&s);
}

static void touching_and_nested_intervals_become_one(void **state)
{
	struct fsc_spans s = { .v = { 0 } };

	(void)state;
	add(&s, 30, 40);
	add(&s, 0, 10);
	add(&s, 10, 20);
	add(&s, 2, 3);
	add(&s, 50, 50);
	assert_true(fsc_spans_normalise(&s));
	assert_int_equal(s.v.n, 2);
	assert_int_equal(fsc_spans_total(&s), 30);
	assert_int_equal(fsc_spans_gaps(&s), 1);
	assert_int_equal(fsc_spans_gap(&s, 0).t0, 20);
	assert_int_equal(fsc_spans_gap(&s, 0).t1, 30);
	assert_int_equal(fsc_spans_total_in(&s, 15, 35), 10);
	assert_int_equal(fsc_spans_total_in(&s, 20, 30), 0);
	fsc_spans_fini(&s);
}

static void lengths_saturate_instead_of_wrapping(void **state)
{
	struct fsc_spans s = { .v = { 0 } };

	(void)state;
	add(&s, INT64_MIN, INT64_MAX);
	assert_true(fsc_spans_normalise(&s));
	assert_int_equal(fsc_spans_total(&s), INT64_MAX);
	assert_int_equal(fsc_spans_common(&s, &s), INT64_MAX);
	fsc_spans_fini(&s);
}

struct pair {
	struct fsc_spans spans;
	bool bit[BITS];
};

static void fill(struct pair *p, uint64_t *rng)
{
	memset(p, 0, sizeof(*p));
	size_t n = next_random(rng) % 40;
	for (size_t i = 0; i < n; i++) {
		int64_t t0 = (int64_t)(next_random(rng) % (BITS - 1));
		int64_t t1 = t0 + (int64_t)(next_random(rng) % 20);

		if (t1 > BITS)
			t1 = BITS;
		/* now and then an ascending run, as rows of a track give them */
		add(&p->spans, t0, t1);
		for (int64_t t = t0; t < t1; t++)
			p->bit[t] = true;
	}
	assert_true(fsc_spans_normalise(&p->spans));
}

static void check_shape(const struct pair *p)
{
	int64_t total = 0, gaps = 0;

	for (size_t i = 0; i < p->spans.v.n; i++) {
		assert_true(p->spans.v.v[i].t0 < p->spans.v.v[i].t1);
		assert_true(!i || p->spans.v.v[i - 1].t1 < p->spans.v.v[i].t0);
	}
	for (size_t i = 0; i < BITS; i++)
		total += p->bit[i];
	assert_int_equal(fsc_spans_total(&p->spans), total);
	for (size_t i = 0; i < fsc_spans_gaps(&p->spans); i++)
		gaps += fsc_spans_gap(&p->spans, i).t1 - fsc_spans_gap(&p->spans, i).t0;
	if (p->spans.v.n)
		assert_int_equal(gaps + total,
				 p->spans.v.v[p->spans.v.n - 1].t1 - p->spans.v.v[0].t0);
}

static void random_sets_agree_with_a_bitmap(void **state)
{
	uint64_t rng = 0x9E3779B97F4A7C15ULL;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		static struct pair a, b;
		struct fsc_spans u = { .v = { 0 } };
		int64_t common = 0, either = 0, inside = 0;

		fill(&a, &rng);
		fill(&b, &rng);
		check_shape(&a);
		check_shape(&b);
		int64_t w0 = (int64_t)(next_random(&rng) % BITS),
			w1 = (int64_t)(next_random(&rng) % BITS);
		for (int64_t t = 0; t < BITS; t++) {
			common += a.bit[t] && b.bit[t];
			either += a.bit[t] || b.bit[t];
			inside += a.bit[t] && t >= w0 && t < w1;
		}
		assert_true(fsc_spans_union(&u, &a.spans, &b.spans));
		assert_int_equal(fsc_spans_common(&a.spans, &b.spans), common);
		assert_int_equal(fsc_spans_total(&u), either);
		assert_int_equal(fsc_spans_total_in(&a.spans, w0, w1), inside);
		int64_t *sums = fsc_spans_sums(&a.spans);
		assert_non_null(sums);
		if (w0 <= w1)
			assert_int_equal(fsc_spans_total_before(&a.spans, sums, w1) -
						 fsc_spans_total_before(&a.spans, sums, w0),
					 inside);
		fsc_free(sums);
		fsc_spans_fini(&u);
		fsc_spans_fini(&a.spans);
		fsc_spans_fini(&b.spans);
	}
}

static void many_runs_are_sorted(void **state)
{
	struct fsc_spans s = { .v = { 0 } };

	(void)state;
	/* 97 ascending runs that interleave, and never touch: 2 ns each, one start per 3 ns */
	for (int64_t run = 0; run < 97; run++)
		for (int64_t i = 0; i < 100; i++)
			add(&s, 3 * (i * 97 + run), 3 * (i * 97 + run) + 2);
	assert_true(fsc_spans_normalise(&s));
	assert_int_equal(s.v.n, 9700);
	assert_int_equal(fsc_spans_total(&s), 2 * 9700);
	for (size_t i = 0; i < s.v.n; i++)
		assert_int_equal(s.v.v[i].t0, 3 * i);
	fsc_spans_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_set_has_no_length_and_no_gap),
		cmocka_unit_test(touching_and_nested_intervals_become_one),
		cmocka_unit_test(lengths_saturate_instead_of_wrapping),
		cmocka_unit_test(random_sets_agree_with_a_bitmap),
		cmocka_unit_test(many_runs_are_sorted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
