/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks and civil time. */
#include "base/clock.h"

#include <time.h>

#include "base/attr.h"
#include "tests/support/test.h"

static void known_times_have_their_text(void **state)
{
	(void)state;
	static const struct {
		int64_t ns;
		const char *text;
	} cases[] = {
		{ 0, "1970-01-01T00:00:00.000Z" },
		{ -1, "1969-12-31T23:59:59.999Z" },
		{ 999999, "1970-01-01T00:00:00.000Z" },
		{ 1000000, "1970-01-01T00:00:00.001Z" },
		{ 951782400000000000, "2000-02-29T00:00:00.000Z" },
		{ 1694128201549123456, "2023-09-07T23:10:01.549Z" },
		{ 4107542399999000000, "2100-02-28T23:59:59.999Z" },
		{ 4107542400000000000, "2100-03-01T00:00:00.000Z" },
		{ INT64_MAX, "2262-04-11T23:47:16.854Z" },
		{ INT64_MIN, "1677-09-21T00:12:43.145Z" },
	};
	for (size_t i = 0; i < FSC_ARRAY_LEN(cases); i++) {
		char dst[32];
		fsc_clock_iso8601(dst, cases[i].ns);
		assert_string_equal(dst, cases[i].text);
	}
}

static void every_day_agrees_with_the_c_library(void **state)
{
	(void)state;
	for (int64_t day = -106000; day < 106000; day++) {
		time_t t = (time_t)(day * 86400 + 45296);
		struct tm tm;
		char want[32];
		char got[32];
		assert_non_null(gmtime_r(&t, &tm));
		strftime(want, sizeof(want), "%Y-%m-%dT%H:%M:%S.000Z", &tm);
		fsc_clock_iso8601(got, (int64_t)t * 1000000000);
		assert_string_equal(got, want);
	}
}

static void clocks_go_forward(void **state)
{
	(void)state;
	int64_t mono = fsc_clock_mono_ns();
	int64_t cpu = fsc_clock_cpu_ns();
	volatile unsigned x = 0;
	while (fsc_clock_cpu_ns() == cpu)
		x++;
	assert_true(fsc_clock_mono_ns() > mono);
	assert_true(cpu > 0);
	time_t now = time(NULL);
	assert_true(fsc_clock_real_ns() / 1000000000 - now <= 2);
	assert_true(fsc_clock_real_ns() / 1000000000 - now >= -2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_times_have_their_text),
		cmocka_unit_test(every_day_agrees_with_the_c_library),
		cmocka_unit_test(clocks_go_forward),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
