/* SPDX-License-Identifier: Apache-2.0 */
/* Unions of intervals against a bitmap. */
#include "segment/ivals.h"
#include "tests/support/test.h"
#include "tests/unit/segment/help_gen_trace.h"

#define SPAN 2000

static void any_rows_give_the_union_of_their_intervals(void **state)
{
	uint64_t st = 5;

	(void)state;
	for (unsigned round = 0; round < 300; round++) {
		struct fsc_ivals u = { 0 };
		bool covered[SPAN] = { false };
		int64_t want = 0;

		for (uint64_t row = gen_below(&st, 8); row; row--) {
			int64_t t = (int64_t)gen_below(&st, 50);

			while (t < SPAN - 60) {
				int64_t dur = (int64_t)gen_below(&st, 40);

				assert_true(fsc_ivals_add(&u, t, t + dur));
				for (int64_t i = t; i < t + dur; i++)
					covered[i] = true;
				t += dur + (int64_t)gen_below(&st, 1 + 60 * (round % 3));
			}
			assert_true(fsc_ivals_end_row(&u));
		}
		for (unsigned i = 0; i < SPAN; i++)
			want += covered[i];
		assert_int_equal(fsc_ivals_sum(&u), want);
		for (size_t i = 0; i < u.v.n; i++) {
			assert_true(u.v.v[i].t0 < u.v.v[i].t1);
			assert_true(!i || u.v.v[i].t0 > u.v.v[i - 1].t1);
		}
		fsc_ivals_fini(&u);
	}
}

static void nested_rows_take_no_memory(void **state)
{
	struct fsc_ivals u = { 0 };

	(void)state;
	assert_true(fsc_ivals_add(&u, 0, 1000000));
	assert_true(fsc_ivals_end_row(&u));
	for (int64_t t = 0; t < 1000000; t += 10)
		assert_true(fsc_ivals_add(&u, t, t + 5));
	assert_int_equal(u.pending.n, 0);
	assert_true(fsc_ivals_end_row(&u));
	assert_int_equal(u.v.n, 1);
	fsc_ivals_fini(&u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_rows_give_the_union_of_their_intervals),
		cmocka_unit_test(nested_rows_take_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
