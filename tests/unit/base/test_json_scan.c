/* SPDX-License-Identifier: Apache-2.0 */
/* The member walk over canonical JSON: what it finds, and that broken text ends it inside its bounds. */
#include "tests/support/test.h"

#include <string.h>

#include "base/alloc.h"
#include "base/json_scan.h"

static void walk_gives_each_member_with_its_type_and_raw_text(void **state)
{
	static const char json[] = "{\"a\":1,\"b\":\"x\\\"},{\",\"c\":[1,{\"d\":\"]\"}],\"e\":{},"
				   "\"f\":true,\"g\":null,\"\":-1.5e3}";
	static const struct {
		const char *key, *value;
		enum fsc_json_type type;
	} want[] = {
		{ "a", "1", FSC_JSON_NUMBER },
		{ "b", "\"x\\\"},{\"", FSC_JSON_STRING },
		{ "c", "[1,{\"d\":\"]\"}]", FSC_JSON_NESTED },
		{ "e", "{}", FSC_JSON_NESTED },
		{ "f", "true", FSC_JSON_BOOL },
		{ "g", "null", FSC_JSON_NULL },
		{ "", "-1.5e3", FSC_JSON_NUMBER },
	};
	struct fsc_json_scan s = fsc_json_scan_of(json, sizeof(json) - 1);
	struct fsc_json_member m;

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(want); i++) {
		assert_true(fsc_json_scan_next(&s, &m));
		assert_int_equal(m.key_len, strlen(want[i].key));
		assert_memory_equal(m.key, want[i].key, m.key_len);
		assert_int_equal(m.value_len, strlen(want[i].value));
		assert_memory_equal(m.value, want[i].value, m.value_len);
		assert_int_equal(m.type, want[i].type);
	}
	assert_false(fsc_json_scan_next(&s, &m));
}

static void empty_objects_and_other_values_have_no_members(void **state)
{
	static const char *const none[] = { "", "{}", "[1]", "1", "\"a\"", "null", "{", "{1:2}" };
	struct fsc_json_member m;

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(none); i++) {
		struct fsc_json_scan s = fsc_json_scan_of(none[i], strlen(none[i]));

		assert_false(fsc_json_scan_next(&s, &m));
	}
}

static void an_escape_is_resolved_with_its_pair_or_told_as_ill_formed(void **state)
{
	static const struct {
		const char *text;
		size_t used;
		uint32_t cp;
	} all[] = {
		{ "\\u0041", 6, 'A' },
		{ "\\u20aC rest", 6, 0x20ac },
		{ "\\ud83d\\uDE00", 12, 0x1f600 },
		{ "\\uDBFF\\uDFFF", 12, 0x10ffff },
		{ "\\ud83d\\ud83d", 6, 0xd83d },
		{ "\\ud83d\\u00", 6, 0xd83d },
		{ "\\ud83d", 6, 0xd83d },
		{ "\\ude00\\ud83d", 6, 0xde00 },
		{ "\\u004", 0, 0 },
		{ "\\u00g1", 0, 0 },
		{ "\\n0041", 0, 0 },
		{ "\\", 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(all); i++) {
		size_t n = strlen(all[i].text);
		char *exact = fsc_alloc(n, 1); /* no byte behind the end */
		uint32_t cp = 0;

		memcpy(exact, all[i].text, n);
		if (fsc_json_escape_u(&cp, exact, exact + n) != all[i].used || cp != all[i].cp)
			fail_msg("%s: %x", all[i].text, cp);
		fsc_free(exact);
	}
}

static void find_compares_whole_keys_of_the_outer_object_only(void **state)
{
	static const char json[] = "{\"x\":{\"key\":1},\"ke\":2,\"key\":3,\"key\":4}";
	struct fsc_json_member m;

	(void)state;
	assert_true(fsc_json_find(&m, json, sizeof(json) - 1, "key"));
	assert_memory_equal(m.value, "3", 1);
	assert_false(fsc_json_find(&m, json, sizeof(json) - 1, "keyx"));
}

static void unescape_resolves_every_escape_and_repairs_lone_surrogates(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "\"plain\"", "plain" },
		{ "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t" },
		{ "\"\\u00e9\\u20AC\"", "\xc3\xa9\xe2\x82\xac" },
		{ "\"\\ud83d\\ude00\"", "\xf0\x9f\x98\x80" },
		{ "\"\\ud83dx\"", "\xef\xbf\xbdx" },
		{ "\"\\ude00\"", "\xef\xbf\xbd" },
		{ "\"\\u12\"", "\xef\xbf\xbd"
			       "12" },
		{ "\"\"", "" },
	};

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(cases); i++) {
		struct fsc_buf b = FSC_BUF_INIT(256);

		fsc_json_unescape(&b, cases[i].in, strlen(cases[i].in));
		assert_int_equal(b.len, strlen(cases[i].out));
		if (b.len)
			assert_memory_equal(b.data, cases[i].out, b.len);
		fsc_buf_fini(&b);
	}
}

static void a_text_cut_anywhere_is_walked_inside_its_bounds(void **state)
{
	static const char json[] =
		"{\"a\\\"b\":\"\\u00e9\\\\\",\"n\":[{\"x\":[]}],\"t\":true,\"d\":1.25}";
	struct fsc_json_member m;

	(void)state;
	for (size_t n = 0; n < sizeof(json) - 1; n++) {
		char *exact = fsc_xalloc(n ? n : 1, 1); /* ASan sees one byte too far */
		struct fsc_json_scan s;
		int members = 0;

		memcpy(exact, json, n);
		s = fsc_json_scan_of(exact, n);
		while (fsc_json_scan_next(&s, &m)) {
			assert_true(m.value + m.value_len <= exact + n);
			members++;
		}
		assert_true(members <= 4);
		fsc_free(exact);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(walk_gives_each_member_with_its_type_and_raw_text),
		cmocka_unit_test(empty_objects_and_other_values_have_no_members),
		cmocka_unit_test(an_escape_is_resolved_with_its_pair_or_told_as_ill_formed),
		cmocka_unit_test(find_compares_whole_keys_of_the_outer_object_only),
		cmocka_unit_test(unescape_resolves_every_escape_and_repairs_lone_surrogates),
		cmocka_unit_test(a_text_cut_anywhere_is_walked_inside_its_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
