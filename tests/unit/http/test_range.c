/* SPDX-License-Identifier: Apache-2.0 */
/* The Range header, against RFC 9110 section 14. */
#include "tests/support/test.h"

#include "http/range.h"

static void ranges_inside_the_bytes_are_taken(void **state)
{
	static const struct {
		const char *header;
		uint64_t total, first, last;
	} cases[] = {
		{ "bytes=0-0", 10, 0, 0 },	{ "bytes=0-9", 10, 0, 9 },
		{ "bytes=3-", 10, 3, 9 },	{ "bytes=9-9", 10, 9, 9 },
		{ "bytes=-1", 10, 9, 9 },	{ "bytes=-10", 10, 0, 9 },
		{ "bytes=-11", 10, 0, 9 },	{ "bytes=5-18446744073709551615", 10, 5, 9 },
		{ "bytes=0-1000000", 1, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t first, last;

		assert_int_equal(fsc_range_parse(cases[i].header, cases[i].total, &first, &last),
				 FSC_RANGE_ONE);
		assert_int_equal(first, cases[i].first);
		assert_int_equal(last, cases[i].last);
	}
}

static void ranges_outside_the_bytes_are_not_satisfiable(void **state)
{
	static const char *const cases[] = { "bytes=10-", "bytes=10-20", "bytes=-0" };
	uint64_t first, last;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(fsc_range_parse(cases[i], 10, &first, &last), FSC_RANGE_BAD);
	assert_int_equal(fsc_range_parse("bytes=0-", 0, &first, &last), FSC_RANGE_BAD);
	assert_int_equal(fsc_range_parse("bytes=-5", 0, &first, &last), FSC_RANGE_BAD);
}

static void what_is_no_range_of_ours_is_ignored(void **state)
{
	static const char *const cases[] = {
		"",	      "bytes",	   "bytes=",	    "bytes=-",	   "bytes=a-b",
		"bytes=5-2",  "items=0-1", "bytes=0-1,3-4", "bytes=1-2-3", "bytes= 0-1",
		"bytes=+1-2", "BYTES=0-1", "bytes=0x1-0x2"
	};
	uint64_t first, last;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(fsc_range_parse(cases[i], 10, &first, &last), FSC_RANGE_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_inside_the_bytes_are_taken),
		cmocka_unit_test(ranges_outside_the_bytes_are_not_satisfiable),
		cmocka_unit_test(what_is_no_range_of_ours_is_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
