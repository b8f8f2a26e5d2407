/* SPDX-License-Identifier: Apache-2.0 */
/* Error objects and status names. */
#include "base/err.h"

#include <errno.h>

#include "base/attr.h"
#include "base/utf8.h"
#include "tests/support/test.h"

static void setting_fills_every_field(void **state)
{
	(void)state;
	struct fsc_err e = FSC_ERR_INIT;
	fsc_err_at(&e, "old.json", 77);
	assert_int_equal(fsc_err_set(&e, FSC_ELIMIT, "too_big", "entry %d exceeds %s", 812,
				     "2 GiB"),
			 FSC_ELIMIT);
	assert_int_equal(e.status, FSC_ELIMIT);
	assert_string_equal(e.code, "too_big");
	assert_string_equal(e.msg, "entry 812 exceeds 2 GiB");
	assert_string_equal(e.file, "");
	assert_int_equal(e.offset, -1);
}

static void without_a_code_the_status_name_is_the_code(void **state)
{
	(void)state;
	struct fsc_err e = FSC_ERR_INIT;
	(void)fsc_err_set(&e, FSC_EPARSE, NULL, "no");
	assert_string_equal(e.code, "parse");
}

static void no_object_is_accepted_everywhere(void **state)
{
	(void)state;
	assert_int_equal(fsc_err_set(NULL, FSC_EIO, "x", "y"), FSC_EIO);
	assert_int_equal(fsc_err_sys(NULL, ENOENT, "y"), FSC_ENOTFOUND);
	assert_true(fsc_err_wrap(NULL, "y") < 0);
	fsc_err_at(NULL, "f", 1);
	fsc_err_clear(NULL);
}

static void errno_maps_to_the_documented_status(void **state)
{
	(void)state;
	static const struct {
		int errnum;
		enum fsc_status st;
	} cases[] = { { ENOSPC, FSC_EFULL },  { EDQUOT, FSC_EFULL },	 { EFBIG, FSC_EFULL },
		      { ENOMEM, FSC_ENOMEM }, { ENOENT, FSC_ENOTFOUND }, { EACCES, FSC_EDENIED },
		      { EPERM, FSC_EDENIED }, { EIO, FSC_EIO },		 { EBADF, FSC_EIO } };
	for (size_t i = 0; i < FSC_ARRAY_LEN(cases); i++) {
		struct fsc_err e = FSC_ERR_INIT;
		assert_int_equal(fsc_err_sys(&e, cases[i].errnum, "op"), cases[i].st);
		assert_int_equal(e.status, cases[i].st);
		assert_string_equal(e.code, fsc_status_name(cases[i].st));
	}
}

static void a_system_error_carries_the_text_of_errno(void **state)
{
	(void)state;
	struct fsc_err e = FSC_ERR_INIT;
	(void)fsc_err_sys(&e, ENOENT, "open %s", "a.json");
	assert_string_equal(e.msg, "open a.json: No such file or directory");
}

static void wrapping_prepends_and_keeps_the_status(void **state)
{
	(void)state;
	struct fsc_err e = FSC_ERR_INIT;
	(void)fsc_err_set(&e, FSC_ECORRUPT, "gzip_crc", "checksum mismatch");
	fsc_err_at(&e, "a.gz", 5);
	assert_int_equal(fsc_err_wrap(&e, "bundle entry %d", 3), FSC_ECORRUPT);
	assert_string_equal(e.msg, "bundle entry 3: checksum mismatch");
	assert_string_equal(e.code, "gzip_crc");
	assert_string_equal(e.file, "a.gz");
	assert_int_equal(e.offset, 5);
}

static void at_without_a_file_keeps_the_file(void **state)
{
	(void)state;
	struct fsc_err e = FSC_ERR_INIT;
	(void)fsc_err_set(&e, FSC_EPARSE, NULL, "x");
	fsc_err_at(&e, "a", 1);
	fsc_err_at(&e, NULL, 9);
	assert_string_equal(e.file, "a");
	assert_int_equal(e.offset, 9);
	fsc_err_clear(&e);
	assert_int_equal(e.status, FSC_OK);
	assert_string_equal(e.file, "");
	assert_string_equal(e.msg, "");
	assert_int_equal(e.offset, -1);
}

/* Texts of 1 to 4 byte characters behind 0..3 ASCII bytes put the cut at every place of a sequence. */
static void a_cut_message_stays_valid_utf8(void **state)
{
	(void)state;
	static const char *const chars[] = { "x", "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x98\x80" };
	for (size_t c = 0; c < FSC_ARRAY_LEN(chars); c++) {
		for (size_t shift = 0; shift < 4; shift++) {
			char text[1024] = "";
			size_t n = shift;
			memset(text, 'a', shift);
			for (int i = 0; i < 150; i++, n += strlen(chars[c]))
				memcpy(text + n, chars[c], strlen(chars[c]));
			text[n] = '\0';
			struct fsc_err e = FSC_ERR_INIT;
			(void)fsc_err_set(&e, FSC_EPARSE, text, "%s", text);
			fsc_err_at(&e, text, 0);
			assert_true(fsc_utf8_valid(e.msg, strlen(e.msg)));
			assert_true(fsc_utf8_valid(e.code, strlen(e.code)));
			assert_true(fsc_utf8_valid(e.file, strlen(e.file)));
			if (n >= FSC_ERR_MSG_MAX)
				assert_true(strlen(e.msg) >= FSC_ERR_MSG_MAX - 4);
			else
				assert_string_equal(e.msg, text);
			for (int i = 0; i < 40; i++) {
				(void)fsc_err_wrap(&e, "%.*s", i,
						   "layer layer layer layer layer layer");
				assert_true(strlen(e.msg) < FSC_ERR_MSG_MAX);
				assert_true(fsc_utf8_valid(e.msg, strlen(e.msg)));
			}
		}
	}
}

static void a_message_that_just_fits_is_not_cut(void **state)
{
	(void)state;
	char text[FSC_ERR_MSG_MAX];
	memset(text, 'm', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	struct fsc_err e = FSC_ERR_INIT;
	(void)fsc_err_set(&e, FSC_EPARSE, NULL, "%s", text);
	assert_string_equal(e.msg, text);
}

static void every_status_has_a_name_of_its_own(void **state)
{
	(void)state;
	for (int a = FSC_EBUG; a <= FSC_AGAIN; a++) {
		const char *name = fsc_status_name((enum fsc_status)a);
		assert_true(strcmp(name, "unknown") != 0);
		for (int b = FSC_EBUG; b < a; b++)
			assert_true(strcmp(name, fsc_status_name((enum fsc_status)b)) != 0);
	}
	assert_string_equal(fsc_status_name((enum fsc_status) - 99), "unknown");
	assert_string_equal(fsc_status_name(FSC_ELIMIT), "limit");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(setting_fills_every_field),
		cmocka_unit_test(without_a_code_the_status_name_is_the_code),
		cmocka_unit_test(no_object_is_accepted_everywhere),
		cmocka_unit_test(errno_maps_to_the_documented_status),
		cmocka_unit_test(a_system_error_carries_the_text_of_errno),
		cmocka_unit_test(wrapping_prepends_and_keeps_the_status),
		cmocka_unit_test(at_without_a_file_keeps_the_file),
		cmocka_unit_test(a_cut_message_stays_valid_utf8),
		cmocka_unit_test(a_message_that_just_fits_is_not_cut),
		cmocka_unit_test(every_status_has_a_name_of_its_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
