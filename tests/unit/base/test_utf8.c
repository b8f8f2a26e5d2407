/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 against the definition and the substitution examples of the Unicode standard. */
#include "base/utf8.h"

#include "base/attr.h"
#include "tests/support/test.h"

#define FFFD "\xEF\xBF\xBD"

static void every_code_point_is_valid_and_surrogates_are_not(void **state)
{
	(void)state;
	for (uint32_t cp = 0; cp <= 0x110010; cp++) {
		char s[4];
		size_t n = fsc_utf8_encode(s, cp);
		int surrogate = cp >= 0xD800 && cp <= 0xDFFF;
		if (!fsc_utf8_valid(s, n))
			fail_msg("U+%04X is not valid", cp);
		if ((surrogate || cp > 0x10FFFF) && (n != 3 || memcmp(s, FFFD, 3) != 0))
			fail_msg("U+%04X is not replaced", cp);
		size_t want = cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
		if (cp <= 0x10FFFF && !surrogate && n != want)
			fail_msg("U+%04X has length %zu", cp, n);
		/* cut short it is not valid */
		for (size_t k = 1; k < n; k++)
			if (fsc_utf8_valid(s, k))
				fail_msg("U+%04X cut to %zu is valid", cp, k);
	}
}

static void encoding_gives_the_known_bytes(void **state)
{
	(void)state;
	char s[4];
	assert_int_equal(fsc_utf8_encode(s, 0x20AC), 3);
	assert_memory_equal(s, "\xE2\x82\xAC", 3);
	assert_int_equal(fsc_utf8_encode(s, 0x1F600), 4);
	assert_memory_equal(s, "\xF0\x9F\x98\x80", 4);
	assert_int_equal(fsc_utf8_encode(s, 0xE4), 2);
	assert_memory_equal(s, "\xC3\xA4", 2);
}

static void repair_replaces_maximal_subparts(void **state)
{
	(void)state;
	static const struct {
		const char *in, *out;
		size_t n_bad;
	} cases[] = {
		{ "", "", 0 },
		{ "plain ascii, longer than eight", "plain ascii, longer than eight", 0 },
		{ "gr\xC3\xBC\xC3\x9F", "gr\xC3\xBC\xC3\x9F", 0 },
		{ "\x80", FFFD, 1 },
		{ "a\xFFz", "a" FFFD "z", 1 },
		{ "\xC0\xAF", FFFD FFFD, 2 },	       /* overlong '/' */
		{ "\xE0\x80\xAF", FFFD FFFD FFFD, 3 }, /* overlong */
		{ "\xED\xA0\x80", FFFD FFFD FFFD, 3 }, /* surrogate */
		{ "\xF4\x91\x92\x93", FFFD FFFD FFFD FFFD, 4 },
		{ "\xE2\x82", FFFD, 1 },
		{ "\xE2\x82x", FFFD "x", 1 },
		{ "\xF0\x9F\x98\xE2\x82\xAC", FFFD "\xE2\x82\xAC", 1 },
		/* Unicode 15, table 3-11 */
		{ "\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41", FFFD FFFD FFFD FFFD "A", 4 },
		/* table 3-8 */
		{ "\x41\xC0\xAF\x41\xF4\x80\x80\x41", "A" FFFD FFFD "A" FFFD "A", 3 },
	};
	for (size_t i = 0; i < FSC_ARRAY_LEN(cases); i++) {
		struct fsc_buf b = FSC_BUF_INIT(1000);
		fsc_buf_adds(&b, "");
		size_t n = strlen(cases[i].in);
		assert_int_equal(fsc_utf8_repair(&b, cases[i].in, n), cases[i].n_bad);
		assert_string_equal(b.data, cases[i].out);
		assert_int_equal(fsc_utf8_valid(cases[i].in, n), cases[i].n_bad == 0);
		fsc_buf_fini(&b);
	}
}

static void whatever_comes_in_valid_text_comes_out(void **state)
{
	(void)state;
	uint32_t x = 7;
	for (int round = 0; round < 50000; round++) {
		char s[24];
		x = x * 1664525u + 1013904223u;
		size_t n = x >> 27 & 15;
		for (size_t i = 0; i < n; i++) {
			x = x * 1664525u + 1013904223u;
			/* mostly lead and continuation bytes */
			s[i] = (char)(x >> 30 ? 0x80 | x >> 23 : x >> 24);
		}
		char *exact = malloc(n ? n : 1);
		assert_non_null(exact);
		memcpy(exact, s, n);
		struct fsc_buf b = FSC_BUF_INIT(1000);
		fsc_buf_adds(&b, "");
		size_t bad = fsc_utf8_repair(&b, exact, n);
		assert_true(fsc_utf8_valid(b.data, b.len));
		assert_int_equal(bad == 0, fsc_utf8_valid(exact, n));
		if (bad == 0)
			assert_memory_equal(b.data, s, n);
		fsc_buf_fini(&b);
		free(exact);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_code_point_is_valid_and_surrogates_are_not),
		cmocka_unit_test(encoding_gives_the_known_bytes),
		cmocka_unit_test(repair_replaces_maximal_subparts),
		cmocka_unit_test(whatever_comes_in_valid_text_comes_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
