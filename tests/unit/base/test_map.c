/* SPDX-License-Identifier: Apache-2.0 */
/* The map against a plain array. */
#include "base/map.h"

#include "tests/support/test.h"

static void what_was_put_is_found_and_nothing_else(void **state)
{
	struct fsc_map m = { .cap = 0 };

	(void)state;
	assert_true(fsc_map_get(&m, 1, 2) == FSC_MAP_NONE);
	for (uint32_t i = 0; i < 5000; i++) {
		/* keys that differ in one word, in few bits, and near each other */
		uint64_t a = i % 7 ? i : (uint64_t)i << 40, b = i % 3;

		assert_true(fsc_map_get(&m, a, b) == FSC_MAP_NONE);
		assert_true(fsc_map_put(&m, a, b, i));
		assert_int_equal(fsc_map_get(&m, a, b), i);
		assert_true(fsc_map_get(&m, a, b + 3) == FSC_MAP_NONE);
	}
	assert_int_equal(m.n, 5000);
	for (uint32_t i = 0; i < 5000; i++)
		assert_int_equal(fsc_map_get(&m, i % 7 ? i : (uint64_t)i << 40, i % 3), i);
	fsc_map_fini(&m);
	assert_true(fsc_map_get(&m, 1, 1) == FSC_MAP_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_put_is_found_and_nothing_else),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
