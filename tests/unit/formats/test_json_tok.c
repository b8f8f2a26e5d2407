/* SPDX-License-Identifier: Apache-2.0 */
/* The tokenizer alone: string scans agree, canonical copies are what they should be, the window moves. */
#include "formats/json_tok.h"

#include "base/alloc.h"
#include "base/attr.h"
#include "base/limits.h"
#include "tests/support/test.h"

static bool special(unsigned char c)
{
	return c == '"' || c == '\\' || c < 0x20 || c >= 0x80;
}

static void all_string_scans_find_the_same_byte(void **state)
{
	static const char *const names[] = { "scalar", "sse2", "avx2" };
	char buf[300];

	(void)state;
	for (int c = 0; c < 256; c++)
		for (size_t at = 0; at < 100; at += c % 7 + 1)
			for (size_t k = 0; k < FSC_ARRAY_LEN(names); k++) {
				fsc_jt_scan_fn scan = fsc_jt_scan_of(names[k]);
				if (!scan)
					continue;
				memset(buf, 'a' + c % 26, sizeof(buf));
				buf[at] = (char)c;
				buf[150] = '\0';
				const char *want = special((unsigned char)c) ? buf + at : buf + 150;
				assert_ptr_equal(scan(buf), want);
			}
	assert_null(fsc_jt_scan_of("mmx"));
	assert_non_null(fsc_jt_scan_pick());
}

struct copy {
	const char *json, *canonical; /* NULL: no JSON */
};

static const struct copy copies[] = {
	{ "{ }", "{}" },
	{ "[ ]", "[]" },
	{ "{ \"a\" : 1 , \"b\" : [ true , false , null ] }", "{\"a\":1,\"b\":[true,false,null]}" },
	{ "[1,-0,0.5,-1.5e+10,2E-3]", "[1,-0,0.5,-1.5e+10,2E-3]" },
	{ "[ 01 , +1 , .5 , 1. , 1e , -, 0x1F ]",
	  "[\"01\",\"+1\",\".5\",\"1.\",\"1e\",\"-\",\"0x1F\"]" },
	{ "[NaN,-inf,Infinity]", "[null,null,null]" },
	{ "\"a b\\n\\u00e9\"", "\"a b\\n\\u00e9\"" },
	{ "\"bad \\q\"", "\"bad \\\\q\"" },
	{ "\"tab\there\"", "\"tab\\u0009here\"" },
	{ "\"\\ud800 and \\ud83d\\ude00\"", "\"\xEF\xBF\xBD and \xF0\x9F\x98\x80\"" },
	{ "\"\\ud83d\\ude00\"", "\"\\ud83d\\ude00\"" },
	{ "\"\xFF\"", "\"\xEF\xBF\xBD\"" },
	{ "{\"k\xFF\" : 1}", "{\"k\xEF\xBF\xBD\":1}" },
	{ "[1,2,]", "[1,2]" },
	{ "{\"a\":1 , }", "{\"a\":1}" },
	{ "[1 2]", NULL },
	{ "[,1]", NULL },
	{ "{\"a\"}", NULL },
	{ "{1:2}", NULL },
	{ "[tru]", NULL },
	{ "[truely]", NULL },
	{ "[\x01 1]", NULL },
};

static void copies_are_canonical(void **state)
{
	char out[512];

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(copies); i++) {
		struct fsc_source *src = fsc_source_mem(copies[i].json, strlen(copies[i].json));
		struct fsc_err err = FSC_ERR_INIT;
		struct fsc_jt t;
		struct fsc_jt_val v;
		struct fsc_jt_out o;
		assert_true(fsc_jt_init(&t, src, 0));
		const char *p = t.end;
		assert_int_equal(fsc_jt_fill(&t, &p, &err), FSC_OK);
		assert_int_equal(fsc_jt_fill(&t, &p, &err), FSC_END);
		fsc_jt_out_init(&o, out, sizeof(out), p);
		const char *q = fsc_jt_value(&t, p, &v, 0, &o);
		if (q) {
			fsc_jt_out_flush(&o, q);
			*o.w = '\0';
		}
		if (!copies[i].canonical) {
			assert_null(q);
			assert_int_equal(t.fail, FSC_JT_BAD);
		} else if (!q || strcmp(out, copies[i].canonical) != 0) {
			fail_msg("%s became %s", copies[i].json, q ? out : "nothing");
		} else {
			assert_ptr_equal(q, t.end);
		}
		fsc_jt_fini(&t);
		fsc_source_free(src);
	}
}

static void a_copy_that_does_not_fit_says_so_and_writes_nothing_more(void **state)
{
	static const char json[] =
		"[\"0123456789\",\"0123456789\",\"0123456789\",\"0123456789\",\"x\\q\"]";
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_jt t;
	struct fsc_jt_val v;
	struct fsc_jt_out o;

	(void)state;
	for (size_t cap = 32; cap < 32 + sizeof(json) + 8; cap++) {
		char *out = fsc_realloc(NULL, cap, 1);
		struct fsc_source *src = fsc_source_mem(json, sizeof(json) - 1);
		assert_true(fsc_jt_init(&t, src, 0));
		const char *p = t.end;
		assert_int_equal(fsc_jt_fill(&t, &p, &err), FSC_OK);
		assert_int_equal(fsc_jt_fill(&t, &p, &err), FSC_END);
		fsc_jt_out_init(&o, out, cap, p);
		const char *q = fsc_jt_value(&t, p, &v, 0, &o);
		assert_non_null(q);
		fsc_jt_out_flush(&o, q);
		assert_int_equal(o.full,
				 cap < 32 + sizeof(json)); /* one byte more: \q becomes \\q */
		assert_true(o.w <= out + cap);
		fsc_jt_fini(&t);
		fsc_source_free(src);
		fsc_free(out);
	}
}

static void nesting_stops_at_the_limit(void **state)
{
	char json[200];
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_jt_val v;
	struct fsc_jt t;

	(void)state;
	for (unsigned n = 60; n < 70; n++) {
		memset(json, '[', n);
		memset(json + n, ']', n);
		struct fsc_source *src = fsc_source_mem(json, 2 * n);
		assert_true(fsc_jt_init(&t, src, 0));
		const char *p = t.end;
		assert_int_equal(fsc_jt_fill(&t, &p, &err), FSC_OK);
		const char *q = fsc_jt_value(&t, p, &v, 0, NULL);
		assert_true((q != NULL) == (n <= FSC_MAX_JSON_DEPTH));
		if (!q)
			assert_int_equal(t.fail, FSC_JT_DEEP);
		fsc_jt_fini(&t);
		fsc_source_free(src);
	}
}

static void a_full_window_is_a_limit(void **state)
{
	char json[300];
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_jt t;

	(void)state;
	memset(json, 'x', sizeof(json));
	struct fsc_source *src = fsc_source_mem(json, sizeof(json));
	assert_true(fsc_jt_init(&t, src, 128));
	const char *p = t.end;
	assert_int_equal(fsc_jt_fill(&t, &p, &err), FSC_OK);
	assert_int_equal(t.end - p, 128);
	p += 100;
	assert_int_equal(fsc_jt_fill(&t, &p, &err), FSC_OK);
	assert_int_equal(fsc_jt_offset(&t, p), 100);
	assert_int_equal(t.end - p, 128);
	assert_int_equal(fsc_jt_fill(&t, &p, &err), FSC_ELIMIT);
	assert_string_equal(err.code, "event_too_big");
	fsc_jt_fini(&t);
	fsc_source_free(src);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_string_scans_find_the_same_byte),
		cmocka_unit_test(copies_are_canonical),
		cmocka_unit_test(a_copy_that_does_not_fit_says_so_and_writes_nothing_more),
		cmocka_unit_test(nesting_stops_at_the_limit),
		cmocka_unit_test(a_full_window_is_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
