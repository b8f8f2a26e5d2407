/* SPDX-License-Identifier: Apache-2.0 */
/* The pyramid of a row against its definition, at lengths far above 4.29 s too. */
#include "base/alloc.h"
#include "segment/lod.h"
#include "tests/support/test.h"
#include "tests/unit/segment/help_gen_trace.h"

struct row {
	uint32_t n, *cls;
	int64_t *ts, *dur;
	struct fsc_seg_lod_shape sh;
	uint8_t *chunk;
	struct fsc_seg_lod l;
};

static void make_row(struct row *r, uint32_t n, int64_t max_dur, uint32_t classes)
{
	uint64_t st = n;
	int64_t t = -1000;

	r->n = n;
	r->ts = fsc_xalloc(n, sizeof(*r->ts));
	r->dur = fsc_xalloc(n, sizeof(*r->dur));
	r->cls = fsc_xalloc(n, sizeof(*r->cls));
	for (uint32_t i = 0; i < n; i++) {
		t += (int64_t)gen_below(&st, 1000);
		r->ts[i] = t;
		r->dur[i] = (int64_t)gen_below(&st, (uint64_t)max_dur);
		r->cls[i] = (uint32_t)gen_below(&st, classes);
		t += r->dur[i];
	}
	fsc_seg_lod_shape(&r->sh, n);
	r->chunk = fsc_xalloc(r->sh.bytes, 1);
	fsc_seg_lod_build(r->chunk, &r->sh, n, r->ts, r->dur, r->cls);
	fsc_seg_lod_map(&r->l, r->chunk, n);
}

static void free_row(struct row *r)
{
	fsc_free(r->ts);
	fsc_free(r->dur);
	fsc_free(r->cls);
	fsc_free(r->chunk);
}

static const uint32_t sizes[] = { 64, 65, 127, 1000, 4096, 4097, 100000 };

static void levels_shrink_fourfold_down_to_at_most_four_nodes(void **state)
{
	(void)state;
	for (size_t k = 0; k < FSC_ARRAY_LEN(sizes); k++) {
		struct fsc_seg_lod_shape sh;

		fsc_seg_lod_shape(&sh, sizes[k]);
		assert_int_equal(sh.groups, (sizes[k] + 15) / 16);
		assert_int_equal(sh.level_n[0], sh.groups);
		for (uint32_t l = 1; l < sh.n_levels; l++)
			assert_int_equal(sh.level_n[l], (sh.level_n[l - 1] + 3) / 4);
		assert_true(sh.level_n[sh.n_levels - 1] <= 4);
		assert_int_equal(sh.bytes % 64, 0);
	}
	struct fsc_seg_lod_shape sh;
	fsc_seg_lod_shape(&sh, UINT32_MAX);
	assert_true(sh.n_levels <= FSC_SEG_MAX_LEVELS);
	assert_true(sh.bytes < (UINT64_C(3) << 32));
}

static void sums_are_exact_over_any_run_of_groups_with_slices_of_minutes(void **state)
{
	(void)state;
	for (size_t k = 0; k < FSC_ARRAY_LEN(sizes); k++) {
		struct row r;
		uint64_t sum = 0;

		make_row(&r, sizes[k], INT64_C(200000000000), 50);
		for (uint32_t i = 0; i < r.n; i++) {
			if (i % 16 == 0)
				assert_int_equal(r.l.sum[i / 16], sum);
			if (i % 16 == 0)
				assert_int_equal(r.l.ts[i / 16], r.ts[i]);
			sum += (uint64_t)r.dur[i];
		}
		assert_int_equal(r.l.sum[r.l.groups], sum);
		free_row(&r);
	}
}

static void groups_name_the_class_with_most_time_and_the_longest_slice(void **state)
{
	struct row r;

	(void)state;
	make_row(&r, 5000, 5000, 9);
	for (uint32_t g = 0; g < r.l.groups; g++) {
		const struct fsc_seg_node *node = &r.l.level[0][g];
		int64_t by_class[9] = { 0 }, longest = -1, end = 0;

		for (uint32_t i = g * 16; i < r.n && i < g * 16 + 16; i++) {
			by_class[r.cls[i]] += r.dur[i];
			longest = r.dur[i] > longest ? r.dur[i] : longest;
			end = r.ts[i] + r.dur[i];
		}
		for (uint32_t c = 0; c < 9; c++)
			assert_true(by_class[c] <= by_class[node->cls]);
		assert_int_equal((int64_t)node->dom, by_class[node->cls]);
		assert_int_equal(r.dur[node->rep], longest);
		assert_int_equal((int64_t)node->max, longest);
		assert_int_equal(r.l.span[g], end - r.ts[g * 16]);
	}
	free_row(&r);
}

static void upper_nodes_keep_the_longest_slice_and_the_larger_class_of_their_children(void **state)
{
	struct row r;

	(void)state;
	make_row(&r, 70000, 9000000000, 5);
	for (uint32_t l = 1; l < r.l.n_levels; l++)
		for (uint32_t i = 0; i < r.sh.level_n[l]; i++) {
			const struct fsc_seg_node *up = &r.l.level[l][i],
						  *c = &r.l.level[l - 1][i * 4];
			uint32_t n =
				r.sh.level_n[l - 1] - i * 4 < 4 ? r.sh.level_n[l - 1] - i * 4 : 4;
			float by_class[5] = { 0 }, max = 0;

			for (uint32_t k = 0; k < n; k++) {
				by_class[c[k].cls] += c[k].dom;
				max = c[k].max > max ? c[k].max : max;
			}
			for (uint32_t k = 0; k < 5; k++)
				assert_true(by_class[k] <= by_class[up->cls]);
			assert_true(up->dom == by_class[up->cls]);
			assert_true(up->max == max);
			assert_true((double)up->max >= (double)r.dur[up->rep]);
		}
	free_row(&r);
}

static void spans_too_long_for_32_bits_say_so(void **state)
{
	struct row r;

	(void)state;
	make_row(&r, 64, INT64_C(9000000000), 2);
	for (uint32_t g = 0; g < r.l.groups; g++) {
		int64_t span = r.ts[g * 16 + 15] + r.dur[g * 16 + 15] - r.ts[g * 16];

		assert_true(span > UINT32_MAX);
		assert_int_equal(r.l.span[g], UINT32_MAX);
	}
	free_row(&r);
}

static void a_tally_sums_up_by_class_and_breaks_ties_by_the_smaller(void **state)
{
	struct fsc_seg_tally t = { .used = 0 };
	int64_t ns;

	(void)state;
	assert_int_equal(fsc_seg_tally_top(&t, &ns), 0);
	for (uint32_t i = 0; i < 100; i++)
		fsc_seg_tally_add(&t, 1000 + i % 10, i % 10 == 3 || i % 10 == 7 ? 2 : 1);
	assert_int_equal(fsc_seg_tally_top(&t, &ns), 1003);
	assert_int_equal(ns, 20);
	/* more classes than slots: no harm, and the first ones stay right */
	for (uint32_t i = 0; i < 1000; i++)
		fsc_seg_tally_add(&t, i, 1);
	assert_int_equal(fsc_seg_tally_top(&t, &ns), 1003);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_shrink_fourfold_down_to_at_most_four_nodes),
		cmocka_unit_test(sums_are_exact_over_any_run_of_groups_with_slices_of_minutes),
		cmocka_unit_test(groups_name_the_class_with_most_time_and_the_longest_slice),
		cmocka_unit_test(
			upper_nodes_keep_the_longest_slice_and_the_larger_class_of_their_children),
		cmocka_unit_test(spans_too_long_for_32_bits_say_so),
		cmocka_unit_test(a_tally_sums_up_by_class_and_breaks_ties_by_the_smaller),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
