/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON writer. */
#include "base/json_out.h"

#include <float.h>
#include <locale.h>
#include <math.h>

#include "base/attr.h"
#include "tests/support/test.h"

static struct fsc_buf buf = FSC_BUF_INIT(100000);

static int finish(void **state)
{
	(void)state;
	fsc_buf_fini(&buf);
	return 0;
}

static struct fsc_json start(void)
{
	struct fsc_json j;
	fsc_buf_clear(&buf);
	fsc_buf_adds(&buf, "");
	fsc_json_init(&j, &buf);
	return j;
}

static void commas_stand_between_members_only(void **state)
{
	(void)state;
	struct fsc_json j = start();
	fsc_json_obj(&j);
	fsc_json_key(&j, "a");
	fsc_json_arr(&j);
	fsc_json_arr_end(&j);
	fsc_json_key(&j, "b");
	fsc_json_arr(&j);
	fsc_json_int(&j, -1);
	fsc_json_uint(&j, UINT64_MAX);
	fsc_json_obj(&j);
	fsc_json_obj_end(&j);
	fsc_json_obj(&j);
	fsc_json_kint(&j, "x", 1);
	fsc_json_obj_end(&j);
	fsc_json_null(&j);
	fsc_json_bool(&j, true);
	fsc_json_raw(&j, "[1]", 3);
	fsc_json_str(&j, NULL);
	fsc_json_arr_end(&j);
	fsc_json_kstr(&j, "s", "t");
	fsc_json_kstr(&j, "n", NULL);
	fsc_json_kuint(&j, "u", 7);
	fsc_json_kbool(&j, "f", false);
	fsc_json_kdouble(&j, "d", 0.5);
	fsc_json_kid(&j, "id", UINT64_MAX);
	fsc_json_obj_end(&j);
	assert_int_equal(fsc_buf_status(&buf), FSC_OK);
	assert_string_equal(
		buf.data,
		"{\"a\":[],\"b\":[-1,18446744073709551615,{},{\"x\":1},null,true,[1],null],"
		"\"s\":\"t\",\"n\":null,\"u\":7,\"f\":false,\"d\":0.5,"
		"\"id\":\"18446744073709551615\"}");
}

static void strings_are_escaped_and_inert_in_html(void **state)
{
	(void)state;
	static const struct {
		const char *in;
		size_t n;
		const char *out;
	} cases[] = {
		{ "a\"b\\c", 5, "\"a\\\"b\\\\c\"" },
		{ "\b\f\n\r\t", 5, "\"\\b\\f\\n\\r\\t\"" },
		{ "\0\x01\x1f\x7f", 4, "\"\\u0000\\u0001\\u001f\x7f\"" },
		{ "</script>&", 10, "\"\\u003c/script\\u003e\\u0026\"" },
		{ "\xE2\x82\xAC", 3, "\"\xE2\x82\xAC\"" },
		{ "a\xFF<", 3, "\"a\xEF\xBF\xBD\\u003c\"" },
		{ "", 0, "\"\"" },
	};
	for (size_t i = 0; i < FSC_ARRAY_LEN(cases); i++) {
		struct fsc_json j = start();
		fsc_json_strn(&j, cases[i].in, cases[i].n);
		assert_string_equal(buf.data, cases[i].out);
	}
	struct fsc_json j = start();
	fsc_json_obj(&j);
	fsc_json_kint(&j, "k\"<", 1);
	fsc_json_obj_end(&j);
	assert_string_equal(buf.data, "{\"k\\\"\\u003c\":1}");
}

static const char *double_text(double v)
{
	struct fsc_json j = start();
	fsc_json_double(&j, v);
	return buf.data;
}

static void doubles_are_the_shortest_that_read_back(void **state)
{
	(void)state;
	static const struct {
		double v;
		const char *text;
	} cases[] = {
		{ 0, "0" },
		{ -0.0, "-0" },
		{ 1, "1" },
		{ -1, "-1" },
		{ 0.1, "0.1" },
		{ 1.0 / 3, "0.3333333333333333" },
		{ 2.0 / 3, "0.6666666666666666" },
		{ 0.1 + 0.2, "0.30000000000000004" },
		{ 123456789012345, "123456789012345" },
		{ 1e15, "1e+15" },
		{ 1e22, "1e+22" },
		{ 9007199254740993.0, "9007199254740992" },
		{ DBL_MAX, "1.7976931348623157e+308" },
		{ DBL_MIN, "2.2250738585072014e-308" },
		{ 4.9406564584124654e-324, "5e-324" },
		{ 1e-7, "1e-07" },
		{ 5e-5, "5e-05" },
		{ NAN, "null" },
		{ INFINITY, "null" },
		{ -INFINITY, "null" },
	};
	for (size_t i = 0; i < FSC_ARRAY_LEN(cases); i++)
		assert_string_equal(double_text(cases[i].v), cases[i].text);
}

static void random_doubles_read_back(void **state)
{
	(void)state;
	uint64_t x = 88172645463325252ULL;
	for (int round = 0; round < 100000; round++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		double v;
		memcpy(&v, &x, sizeof(v));
		if (round & 1)
			v = (double)(int64_t)x / 1e6;
		if (!isfinite(v))
			continue;
		double back = strtod(double_text(v), NULL);
		if (memcmp(&back, &v, sizeof(v)) != 0)
			fail_msg("%.17g is written as %s", v, buf.data);
	}
}

static void the_decimal_point_is_a_point_in_every_locale(void **state)
{
	(void)state;
	if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "de_DE.utf8") &&
	    !setlocale(LC_ALL, "fr_FR.UTF-8")) {
		print_message("skipped, no locale with a decimal comma\n");
		skip();
	}
	assert_string_equal(double_text(1.5), "1.5");
	assert_string_equal(double_text(-1.5e-300), "-1.5e-300");
	setlocale(LC_ALL, "C");
}

static void nesting_of_32_is_possible(void **state)
{
	(void)state;
	struct fsc_json j = start();
	for (int i = 0; i < 32; i++)
		fsc_json_arr(&j);
	fsc_json_int(&j, 5);
	for (int i = 0; i < 32; i++)
		fsc_json_arr_end(&j);
	assert_int_equal(strlen(buf.data), 65);
	assert_int_equal(buf.data[32], '5');
}

static void a_full_buffer_is_told_by_its_status(void **state)
{
	(void)state;
	struct fsc_buf small = FSC_BUF_INIT(8);
	struct fsc_json j;
	fsc_json_init(&j, &small);
	fsc_json_arr(&j);
	fsc_json_str(&j, "\xFF\xFF\xFF\xFF long text");
	fsc_json_arr_end(&j);
	assert_int_equal(fsc_buf_status(&small), FSC_ELIMIT);
	fsc_buf_fini(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commas_stand_between_members_only),
		cmocka_unit_test(strings_are_escaped_and_inert_in_html),
		cmocka_unit_test(doubles_are_the_shortest_that_read_back),
		cmocka_unit_test(random_doubles_read_back),
		cmocka_unit_test(the_decimal_point_is_a_point_in_every_locale),
		cmocka_unit_test(nesting_of_32_is_possible),
		cmocka_unit_test(a_full_buffer_is_told_by_its_status),
	};
	return cmocka_run_group_tests(tests, NULL, finish);
}
