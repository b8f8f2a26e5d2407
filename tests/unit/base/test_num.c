/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers from text and back, against hand-computed cases and a decimal oracle. */
#include "base/num.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>

#include "base/attr.h"
#include "tests/support/test.h"

static uint64_t rng_state = 0x9E3779B97F4A7C15ULL;
static uint64_t rng(void)
{
	rng_state ^= rng_state << 13;
	rng_state ^= rng_state >> 7;
	rng_state ^= rng_state << 17;
	return rng_state;
}

/* Parses from memory of exactly n bytes, so that a sanitizer sees a read behind the text. */
static bool us_to_ns(int64_t *ns, bool *inexact, const char *s)
{
	size_t n = strlen(s);
	char *exact = malloc(n ? n : 1);
	assert_non_null(exact);
	memcpy(exact, s, n);
	bool ok = fsc_parse_us_to_ns(ns, inexact, exact, n);
	free(exact);
	return ok;
}

static void microseconds_become_the_hand_computed_nanoseconds(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int64_t ns;
		bool inexact;
	} cases[] = {
		{ "0", 0, false },
		{ "-0", 0, false },
		{ "1", 1000, false },
		{ "+1", 1000, false },
		{ "-1", -1000, false },
		{ "0.001", 1, false },
		{ ".75", 750, false },
		{ "-.75", -750, false },
		{ "246.", 246000, false },
		{ "246.5", 246500, false },
		{ "246.05", 246050, false },
		{ "246.005", 246005, false },
		{ "246.0000", 246000, false },
		{ "246.0050", 246005, false },
		{ "1694128201549123.456", 1694128201549123456, false },
		{ "1694128201549123", 1694128201549123000, false },
		{ "-1694128201549123.456", -1694128201549123456, false },
		{ "+1694128201549123.456", 1694128201549123456, false },
		{ "00000000000000000000001694128201549123.456", 1694128201549123456, false },
		{ "1694128201549123.4560000000000000000000", 1694128201549123456, false },
		{ "000000001694128201549123", 1694128201549123000, false },
		{ "00000000000000001694128201549123", 1694128201549123000, false },
		{ "1.5e3", 1500000, false },
		{ "1.5E3", 1500000, false },
		{ "1.5e+3", 1500000, false },
		{ "1500e-3", 1500, false },
		{ "1e-3", 1, false },
		{ "1.694128201549123456e15", 1694128201549123456, false },
		{ "1694128201549123456e-3", 1694128201549123456, false },
		{ "0e999999999999999999999999", 0, false },
		{ "0.0000000000000000000001e22", 1000, false },
		{ "10000000000000000000000e-22", 1000, false },
		/* half away from zero */
		{ "0.0005", 1, true },
		{ "-0.0005", -1, true },
		{ "0.00049999999999999999", 0, true },
		{ "0.0004", 0, true },
		{ "0.0015", 2, true },
		{ "0.0025", 3, true },
		{ "-0.0025", -3, true },
		{ "0.0024999", 2, true },
		{ "0.00000001", 0, true },
		{ "9.9995", 10000, true },
		{ "99999999.9999", 100000000000, true },
		{ "5e-4", 1, true },
		{ "4e-4", 0, true },
		{ "5e-5", 0, true },
		{ "1e-99999999999999999999", 0, true },
		/* the ends of int64 */
		{ "9223372036854775.807", INT64_MAX, false },
		{ "9223372036854775.8074", INT64_MAX, true },
		{ "-9223372036854775.808", INT64_MIN, false },
		{ "-9223372036854775.8084", INT64_MIN, true },
		{ "9223372036854775807e-3", INT64_MAX, false },
	};
	for (size_t i = 0; i < FSC_ARRAY_LEN(cases); i++) {
		int64_t ns = 77;
		bool inexact = !cases[i].inexact;
		if (!us_to_ns(&ns, &inexact, cases[i].text))
			fail_msg("%s is refused", cases[i].text);
		if (ns != cases[i].ns || inexact != cases[i].inexact)
			fail_msg("%s gives %lld, inexact %d", cases[i].text, (long long)ns,
				 inexact);
		assert_true(us_to_ns(&ns, NULL, cases[i].text));
	}
}

static void what_is_no_time_is_refused(void **state)
{
	(void)state;
	static const char *const bad[] = {
		"",
		"-",
		"+",
		".",
		"-.",
		"e5",
		".e5",
		"1e",
		"1e+",
		"1e-",
		"1e5x",
		"1.2.3",
		"1,5",
		" 1",
		"1 ",
		"--1",
		"+-1",
		"0x10",
		"nan",
		"inf",
		"-inf",
		"1f",
		"1.5f",
		"12345678a",
		"1234567812345678a",
		"1234567.12a",
		"1e5.5",
		"1e 5",
		"\xEF\xBC\x91",
		"1/2",
		"1:2",
		"12345678/2345678",
		/* past int64 */
		"9223372036854775.808",
		"-9223372036854775.809",
		"9223372036854775.8075",
		"-9223372036854775.8085",
		"9223372036854776",
		"9999999999999999",
		"9999999999999999.999",
		"10000000000000000",
		"99999999999999999999",
		"999999999999999999999999",
		"000018446744073709551617",
		"10000000000000000000000000000000",
		"1e30",
		"-1e30",
		"1e99999999999999999999999",
		"18446744073709551.616",
		"18446744073709552e0",
		"0.00001e25",
	};
	for (size_t i = 0; i < FSC_ARRAY_LEN(bad); i++) {
		int64_t ns = 77;
		bool inexact = true;
		if (us_to_ns(&ns, &inexact, bad[i]))
			fail_msg("'%s' is taken for %lld", bad[i], (long long)ns);
		assert_int_equal(ns, 77);
	}
	int64_t ns;
	assert_false(fsc_parse_us_to_ns(&ns, NULL, "1\0", 2));
}

/*
 * The oracle builds texts of a known value: the decimal digits of |ns|, any number of zeros around them,
 * the point at a random place and the exponent that makes up for it, and below 1 ns digits whose rounding
 * is known from the first of them.
 */
static void random_decimals_agree_with_the_value_they_were_built_from(void **state)
{
	(void)state;
	for (int round = 0; round < 300000; round++) {
		uint64_t mag = rng() >> (1 + rng() % 63);
		bool neg = rng() & 1;
		bool frac = rng() & 1;
		char digits[128];
		size_t nd = (size_t)snprintf(digits, sizeof(digits), "%.*s%llu", (int)(rng() % 12),
					     "000000000000", (unsigned long long)mag);
		size_t below = 0; /* digits below 1 ns */
		bool lost = false;
		bool up = false;
		if (frac) {
			below = rng() % 20 + 1;
			for (size_t i = 0; i < below; i++) {
				char c = (char)('0' + rng() % 10);
				digits[nd++] = c;
				lost = lost || c != '0';
				up = up || (i == 0 && c >= '5');
			}
		}
		/* value in us = digits * 10^(-3 - below) */
		size_t point = rng() % (nd + 1);
		long exp = (long)nd - (long)point - 3 - (long)below;
		char text[256];
		int n = snprintf(text, sizeof(text), "%s%.*s.%.*s",
				 neg	     ? "-"
				 : rng() & 1 ? "+"
					     : "",
				 (int)point, digits, (int)(nd - point), digits + point);
		if (exp != 0 || (rng() & 1))
			snprintf(text + n, sizeof(text) - (size_t)n, "%s%ld", rng() & 1 ? "e" : "E",
				 exp);
		uint64_t want = mag + up;
		int64_t ns = 0;
		bool inexact = false;
		bool fits = want <= (uint64_t)INT64_MAX + neg;
		if (us_to_ns(&ns, &inexact, text) != fits)
			fail_msg("%s: fits is not %d", text, fits);
		if (fits && (ns != (int64_t)(neg ? 0 - want : want) || inexact != lost))
			fail_msg("%s gives %lld, not %s%llu", text, (long long)ns, neg ? "-" : "",
				 (unsigned long long)want);
	}
}

/* The plain form of traces, where the quick way is taken. */
static void every_plain_time_with_up_to_three_decimals_is_exact(void **state)
{
	(void)state;
	for (int round = 0; round < 300000; round++) {
		uint64_t us = rng() >> (11 + rng() % 53);
		unsigned f = (unsigned)(rng() % 1000);
		unsigned places = (unsigned)(rng() % 4);
		static const unsigned cut[] = { 1000, 100, 10, 1 };
		f -= f % cut[places];
		char text[64];
		char frac[16];
		snprintf(frac, sizeof(frac), ".%03u", f);
		snprintf(text, sizeof(text), "%llu%.*s", (unsigned long long)us,
			 places ? (int)places + 1 : 0, frac);
		int64_t ns = -1;
		bool fits = us < 9223372036854775ULL;
		if (!fits)
			continue;
		if (!us_to_ns(&ns, NULL, text) || ns != (int64_t)(us * 1000 + f))
			fail_msg("%s gives %lld", text, (long long)ns);
	}
}

static void integers_parse_to_their_ends(void **state)
{
	(void)state;
	int64_t i = 0;
	uint64_t u = 0;
	assert_true(fsc_parse_i64(&i, "9223372036854775807", 19) && i == INT64_MAX);
	assert_true(fsc_parse_i64(&i, "-9223372036854775808", 20) && i == INT64_MIN);
	assert_true(fsc_parse_i64(&i, "-0", 2) && i == 0);
	assert_true(fsc_parse_i64(&i, "0000000000000000000000012", 25) && i == 12);
	assert_false(fsc_parse_i64(&i, "9223372036854775808", 19));
	assert_false(fsc_parse_i64(&i, "-9223372036854775809", 20));
	assert_true(fsc_parse_u64(&u, "18446744073709551615", 20) && u == UINT64_MAX);
	assert_false(fsc_parse_u64(&u, "18446744073709551616", 20));
	assert_false(fsc_parse_u64(&u, "-1", 2));
	assert_true(fsc_parse_hex_u64(&u, "ffffFFFFffffFFFF", 16) && u == UINT64_MAX);
	assert_true(fsc_parse_hex_u64(&u, "0x1a", 4) && u == 26);
	assert_true(fsc_parse_hex_u64(&u, "0X00000000000000000001", 22) && u == 1);
	assert_false(fsc_parse_hex_u64(&u, "10000000000000000", 17));
	assert_int_equal(u, 1);
}

static void what_is_no_integer_is_refused(void **state)
{
	(void)state;
	static const char *const bad[] = { "",	  "-", "+1",  " 1",  "1 ", "1.0",
					   "1e3", "a", "--1", "0x1", "1-" };
	for (size_t k = 0; k < FSC_ARRAY_LEN(bad); k++) {
		int64_t i = 5;
		uint64_t u = 6;
		assert_false(fsc_parse_i64(&i, bad[k], strlen(bad[k])));
		assert_false(fsc_parse_u64(&u, bad[k], strlen(bad[k])));
		assert_int_equal(i, 5);
		assert_int_equal(u, 6);
	}
	uint64_t u = 6;
	assert_false(fsc_parse_hex_u64(&u, "", 0));
	assert_false(fsc_parse_hex_u64(&u, "0x", 2));
	assert_false(fsc_parse_hex_u64(&u, "0xg", 3));
	assert_false(fsc_parse_hex_u64(&u, "-1", 2));
	assert_false(fsc_parse_hex_u64(&u, "0x0x1", 5));
}

static bool to_double(double *v, const char *s)
{
	return fsc_parse_double(v, s, strlen(s));
}

static void doubles_parse_as_the_c_library_rounds_them(void **state)
{
	(void)state;
	for (int round = 0; round < 200000; round++) {
		uint64_t bits = rng();
		double v;
		memcpy(&v, &bits, sizeof(v));
		if (!isfinite(v))
			continue;
		char text[64];
		snprintf(text, sizeof(text), "%.*g", (int)(rng() % 22 + 1),
			 round & 1 ? v : (double)(bits >> 20) / 64);
		double got = 0;
		double want = strtod(text, NULL);
		if (isinf(want))
			continue;
		if (!to_double(&got, text) || memcmp(&got, &want, sizeof(got)) != 0)
			fail_msg("%s gives %.17g, not %.17g", text, got, want);
	}
}

static void doubles_at_the_edges(void **state)
{
	(void)state;
	double v = 1;
	assert_true(to_double(&v, "-0") && v == 0 && signbit(v));
	assert_true(to_double(&v, ".5") && v == 0.5);
	assert_true(to_double(&v, "+5.") && v == 5);
	assert_true(to_double(&v, "1.7976931348623157e308") && v == DBL_MAX);
	assert_true(to_double(&v, "4.9406564584124654e-324") && v > 0 && v < DBL_MIN);
	assert_true(to_double(&v, "1e-400") && v == 0);
	assert_true(to_double(&v, "9007199254740993") && v == 9007199254740992.0);
	v = 7;
	static const char *const bad[] = { "",	  "-",	   ".",	     "1e",    "nan",
					   "inf", "1e309", "-1e400", "0x1p3", " 1",
					   "1 ",  "1,5",   "1.5.1",  "1e5e5", "e1" };
	for (size_t i = 0; i < FSC_ARRAY_LEN(bad); i++)
		assert_false(to_double(&v, bad[i]));
	assert_true(v == 7);
	/* longer than the room on the stack */
	char text[2001];
	memset(text, '0', sizeof(text));
	text[1] = '.';
	text[1999] = '1';
	text[2000] = '\0';
	assert_true(to_double(&v, text) && v == 0);
	text[0] = '3';
	assert_true(to_double(&v, text) && v == 3);
}

static void the_locale_changes_nothing(void **state)
{
	(void)state;
	static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE" };
	const char *set = NULL;
	for (size_t i = 0; i < FSC_ARRAY_LEN(names) && !set; i++)
		set = setlocale(LC_ALL, names[i]);
	if (!set) {
		print_message("skipped, no locale with a decimal comma\n");
		skip();
	}
	double v = 0;
	assert_true(to_double(&v, "1.5") && v == 1.5);
	assert_true(to_double(&v, "0.1234567890123456789012345") && v == 0.12345678901234568);
	assert_false(to_double(&v, "1,5"));
	int64_t ns = 0;
	assert_true(us_to_ns(&ns, NULL, "1.5") && ns == 1500);
	setlocale(LC_ALL, "C");
}

static void formatting_and_parsing_are_inverse(void **state)
{
	(void)state;
	char text[21];
	assert_int_equal(fsc_fmt_i64(text, INT64_MIN), 20);
	assert_memory_equal(text, "-9223372036854775808", 20);
	assert_int_equal(fsc_fmt_u64(text, UINT64_MAX), 20);
	assert_memory_equal(text, "18446744073709551615", 20);
	assert_int_equal(fsc_fmt_u64(text, 0), 1);
	assert_int_equal(text[0], '0');
	uint64_t p = 1;
	for (int round = 0; round < 100000; round++) {
		uint64_t u = round < 60 ? p + (uint64_t)(round % 3) - 1 : rng() >> (rng() % 64);
		if (round % 3 == 2 && p < 1000000000000000000ULL)
			p *= 10;
		char want[32];
		size_t n = fsc_fmt_u64(text, u);
		snprintf(want, sizeof(want), "%llu", (unsigned long long)u);
		assert_int_equal(n, strlen(want));
		assert_memory_equal(text, want, n);
		uint64_t back = 0;
		assert_true(fsc_parse_u64(&back, text, n) && back == u);
		int64_t i = 0;
		n = fsc_fmt_i64(text, (int64_t)u);
		assert_true(fsc_parse_i64(&i, text, n) && i == (int64_t)u);
	}
}

static void sums_stop_at_the_ends(void **state)
{
	(void)state;
	assert_true(fsc_add_i64_sat(INT64_MAX, 1) == INT64_MAX);
	assert_true(fsc_add_i64_sat(INT64_MIN, -1) == INT64_MIN);
	assert_true(fsc_add_i64_sat(2, 3) == 5);
	assert_true(fsc_sub_i64_sat(INT64_MIN, 1) == INT64_MIN);
	assert_true(fsc_sub_i64_sat(INT64_MAX, -1) == INT64_MAX);
	assert_true(fsc_sub_i64_sat(0, INT64_MIN) == INT64_MAX);
	assert_true(fsc_sub_i64_sat(-1, INT64_MIN) == INT64_MAX);
	assert_true(fsc_sub_i64_sat(2, 3) == -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(microseconds_become_the_hand_computed_nanoseconds),
		cmocka_unit_test(what_is_no_time_is_refused),
		cmocka_unit_test(random_decimals_agree_with_the_value_they_were_built_from),
		cmocka_unit_test(every_plain_time_with_up_to_three_decimals_is_exact),
		cmocka_unit_test(integers_parse_to_their_ends),
		cmocka_unit_test(what_is_no_integer_is_refused),
		cmocka_unit_test(doubles_parse_as_the_c_library_rounds_them),
		cmocka_unit_test(doubles_at_the_edges),
		cmocka_unit_test(the_locale_changes_nothing),
		cmocka_unit_test(formatting_and_parsing_are_inverse),
		cmocka_unit_test(sums_stop_at_the_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
