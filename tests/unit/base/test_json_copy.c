/* SPDX-License-Identifier: Apache-2.0 */
/* Checked copies of JSON values. */
#include "base/json_copy.h"

#include "tests/support/test.h"

static const char *copy_of(struct fsc_buf *b, const char *s, size_t n)
{
	/* exact memory, so that a byte too far is seen */
	char *exact = malloc(n ? n : 1);
	bool ok;

	assert_non_null(exact);
	memcpy(exact, s, n);
	fsc_buf_clear(b);
	fsc_buf_adds(b, "<");
	ok = fsc_json_copy_value(b, exact, n);
	free(exact);
	if (!ok)
		assert_string_equal(b->data, "<");
	return ok ? b->data + 1 : NULL;
}

static void values_lose_their_blanks_only(void **state)
{
	static const struct {
		const char *in, *out;
	} good[] = {
		{ " { \"a\" : [ 1 , -2.50e+3 , { } , [ ] ] ,\n\"b\\u00e9\\\"\":\" x \" } ",
		  "{\"a\":[1,-2.50e+3,{},[]],\"b\\u00e9\\\"\":\" x \"}" },
		{ "0", "0" },
		{ "-0.0", "-0.0" },
		{ "1E9", "1E9" },
		{ "true", "true" },
		{ "[false,null]", "[false,null]" },
		{ "\"\xC3\xA9\"", "\"\xC3\xA9\"" },
		{ "12345678901234567890123", "12345678901234567890123" },
	};
	struct fsc_buf b = FSC_BUF_INIT(4096);

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(good); i++)
		assert_string_equal(copy_of(&b, good[i].in, strlen(good[i].in)), good[i].out);
	fsc_buf_fini(&b);
}

static void what_is_no_json_is_not_copied(void **state)
{
	static const char *const bad[] = {
		"",	     " ",	"{",	       "[1,]",	   "{\"a\":1,}", "{a:1}",
		"{\"a\" 1}", "[1 2]",	"01",	       "1.",	   ".5",	 "+1",
		"1e",	     "--1",	"NaN",	       "inf",	   "nul",	 "truex",
		"\"a",	     "\"\\x\"", "\"\\u12g4\"", "\"\\u12",  "\"\x01\"",	 "\"\xC3\"",
		"\"\\",	     "1 1",	"]",	       "{\"a\":}", "{\"a\":1]"
	};
	struct fsc_buf b = FSC_BUF_INIT(4096);
	char deep[200];

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(bad); i++)
		assert_null(copy_of(&b, bad[i], strlen(bad[i])));
	assert_false(fsc_json_copy_value(&b, NULL, 0));
	memset(deep, '[', 65);
	memset(deep + 65, ']', 65);
	assert_null(copy_of(&b, deep, 130));
	assert_non_null(copy_of(&b, deep + 1, 128));
	fsc_buf_fini(&b);
}

static void text_becomes_a_string(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(4096);

	(void)state;
	fsc_json_copy_text(&b, "a\"b\\c\nd\te\x01<f>\0g\xFFh", 17);
	assert_int_equal(b.len, strlen("\"a\\\"b\\\\c\\nd\\te\\u0001<f>\\u0000g\xEF\xBF\xBDh\""));
	assert_string_equal(b.data, "\"a\\\"b\\\\c\\nd\\te\\u0001<f>\\u0000g\xEF\xBF\xBDh\"");
	fsc_buf_clear(&b);
	fsc_json_copy_text(&b, NULL, 0);
	assert_string_equal(b.data, "\"\"");
	fsc_buf_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_lose_their_blanks_only),
		cmocka_unit_test(what_is_no_json_is_not_copied),
		cmocka_unit_test(text_becomes_a_string),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
