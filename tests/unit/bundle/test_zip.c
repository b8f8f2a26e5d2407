/* SPDX-License-Identifier: Apache-2.0 */
/* Zip archives of every kind that writers make, damaged ones, and what is refused. */
#include <locale.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "tests/unit/bundle/walk.h"
#include "tests/unit/bundle/zip_util.h"

static void gives(const struct zip *z, const char *members, const char *skipped)
{
	struct walk w;

	walk_buf(&w, &z->out);
	if (w.st != FSC_END)
		fail_msg("%s: %s", w.err.code, w.err.msg);
	assert_string_equal(w.paths.data ? w.paths.data : "", members);
	assert_string_equal(w.skips.data ? w.skips.data : "", skipped);
	walk_free(&w);
}

static void every_kind_of_member_is_read(void **state)
{
	static const unsigned kinds[] = {
		0,
		ZIP_DEFLATED,
		ZIP_64,
		ZIP_64 | ZIP_DEFLATED,
		ZIP_STREAMED,
		ZIP_STREAMED | ZIP_DEFLATED,
		ZIP_STREAMED | ZIP_64,
		ZIP_STREAMED | ZIP_64 | ZIP_DEFLATED,
		ZIP_STREAMED | ZIP_DEFLATED | ZIP_NO_MARK,
	};

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(kinds); i++) {
		struct zip z;
		zip_init(&z);
		zip_text(&z, "a.json", "hello, hello, hello", kinds[i]);
		zip_text(&z, "d/b.json", "", kinds[i]);
		zip_text(&z, "../up.json", "passed over, passed over", kinds[i]);
		zip_text(&z, "c.json", "world PK\3\4 PK\1\2 PK\7", kinds[i]);
		zip_end(&z, kinds[i] & ZIP_64);
		gives(&z, "a.json=hello, hello, hello;d/b.json=;c.json=world PK\3\4 PK\1\2 PK\7;",
		      "member_traversal:../up.json;");
		zip_fini(&z);
	}
}

static void an_empty_zip_and_one_of_folders_hold_nothing(void **state)
{
	struct zip z;

	(void)state;
	zip_init(&z);
	zip_end(&z, false);
	gives(&z, "", "");
	zip_fini(&z);
	zip_init(&z);
	zip_text(&z, "d/", "", 0);
	zip_text(&z, "d/e/", "", ZIP_DEFLATED | ZIP_STREAMED);
	zip_end(&z, false);
	gives(&z, "", "");
	zip_fini(&z);
}

static void what_cannot_be_read_is_named_and_the_others_are_read(void **state)
{
	struct zip z;

	(void)state;
	zip_init(&z);
	zip_text(&z, "secret.json", "123456789012 looks like noise", ZIP_ENCRYPTED);
	zip_text(&z, "odd.json", "not really bzip2", ZIP_BZIP2);
	zip_text(&z, "good.json", "1", ZIP_DEFLATED);
	zip_text(&z, "good.json", "2", ZIP_DEFLATED);
	zip_end(&z, false);
	gives(&z, "good.json=1;",
	      "member_encrypted:secret.json;member_compression:odd.json;member_duplicate:good."
	      "json;");
	zip_fini(&z);
}

static void names_are_utf8_or_code_page_437(void **state)
{
	struct zip z;

	(void)state;
	zip_init(&z);
	zip_text(&z, "r\xC3\xA9.json", "1", ZIP_UTF8);
	zip_text(&z, "\xE6\x97\xA5.json", "2", 0);
	zip_text(&z, "r\x82.json", "3", 0);
	zip_text(&z, "r\x84\xE1.json", "4", ZIP_DEFLATED);
	zip_end(&z, false);
	/* the third is the first again */
	gives(&z, "r\xC3\xA9.json=1;\xE6\x97\xA5.json=2;r\xC3\xA4\xC3\x9F.json=4;",
	      "member_duplicate:r\xC3\xA9.json;");
	zip_fini(&z);
}

static void a_directory_that_lists_other_members_is_noticed(void **state)
{
	struct zip z;
	struct walk w;

	(void)state;
	zip_init(&z);
	zip_text(&z, "a", "1", 0);
	zip_text(&z, "b", "2", ZIP_UNLISTED);
	zip_end(&z, false);
	gives(&z, "a=1;b=2;", "archive_not_listed:one.json;");
	zip_fini(&z);
	for (int i = 0; i < 2; i++) {
		zip_init(&z);
		zip_text(&z, "a", "1", 0);
		zip_text(&z, "b", "2", 0);
		z.out.data[z.out.len - 30] ^= 1; /* in the mark of the second */
		z.n += i;
		assert_memory_equal(z.out.data + z.out.len - 32, "PK", 2);
		zip_end(&z, i);
		walk_buf(&w, &z.out);
		assert_int_equal(w.st, FSC_ECORRUPT);
		assert_string_equal(w.err.code, "archive_corrupt");
		walk_free(&w);
		zip_fini(&z);
	}
}

/* ---- damage ---- */

/* What it holds in a form that a damaged copy must give too, or fail. */
static void sample(struct zip *z, unsigned flags)
{
	zip_init(z);
	zip_text(z, "a.json", "{\"traceEvents\":[1,2,3,4]}", flags);
	zip_text(z, "b.json", "some more bytes, more bytes", flags);
	zip_end(z, flags & ZIP_64);
}

static const unsigned damaged_kinds[] = { 0, ZIP_DEFLATED, ZIP_STREAMED,
					  ZIP_STREAMED | ZIP_DEFLATED,
					  ZIP_64 | ZIP_DEFLATED | ZIP_STREAMED };

static void a_zip_cut_at_any_byte_is_told(void **state)
{
	(void)state;
	for (size_t k = 0; k < FSC_ARRAY_LEN(damaged_kinds); k++) {
		struct zip z;
		sample(&z, damaged_kinds[k]);
		for (size_t n = 4; n < z.out.len; n++) {
			struct walk w;
			char *exact = fsc_realloc(NULL, n, 1);
			assert_non_null(exact);
			memcpy(exact, z.out.data, n);
			walk_source(&w, fsc_source_mem(exact, n));
			if (w.st == FSC_END || !w.err.code[0])
				fail_msg("kind %u cut at %zu of %zu: nothing was told",
					 damaged_kinds[k], n, z.out.len);
			walk_free(&w);
			fsc_free(exact);
		}
		zip_fini(&z);
	}
}

/* Bytes of all members, without their names. */
static bool same_bytes(const struct walk *a, const char *const want[2])
{
	const char *p = a->paths.data ? a->paths.data : "";

	for (int i = 0; i < 2; i++) {
		p = strchr(p, '=');
		if (!p || strncmp(p + 1, want[i], strlen(want[i])) != 0)
			return false;
		p += 1 + strlen(want[i]);
	}
	return true;
}

static void no_flipped_bit_gives_other_bytes_or_hides_a_member(void **state)
{
	static const char *const want[] = { "{\"traceEvents\":[1,2,3,4]};",
					    "some more bytes, more bytes;" };
	unsigned told = 0, harmless = 0;

	(void)state;
	for (size_t k = 0; k < FSC_ARRAY_LEN(damaged_kinds); k++) {
		struct zip z;
		sample(&z, damaged_kinds[k]);
		for (size_t bit = 32; bit < 8 * z.out.len; bit++) {
			struct walk w;
			z.out.data[bit / 8] ^= (char)(1 << bit % 8);
			walk_buf(&w, &z.out);
			bool fault = w.st != FSC_END || w.skips.len;
			if (!fault && !same_bytes(&w, want))
				fail_msg("kind %u, bit %zu of byte %zu: %s", damaged_kinds[k],
					 bit % 8, bit / 8, w.paths.data);
			told += fault;
			harmless += !fault;
			walk_free(&w);
			z.out.data[bit / 8] ^= (char)(1 << bit % 8);
		}
		zip_fini(&z);
	}
	print_message("%u flipped bits were told, %u changed no byte of a member\n", told,
		      harmless);
	assert_true(told > harmless / 4);
}

/* ---- size ---- */

static void more_members_than_65535_are_over_the_limit(void **state)
{
	struct zip z;
	struct walk w;
	char name[32];

	(void)state;
	zip_init(&z);
	for (unsigned i = 0; i < 70000; i++) {
		snprintf(name, sizeof(name), "%u", i);
		zip_text(&z, name, "", 0);
	}
	zip_end(&z, false);
	walk_buf(&w, &z.out);
	assert_int_equal(w.st, FSC_ELIMIT);
	assert_string_equal(w.err.code, "too_many_entries");
	walk_free(&w);
	zip_fini(&z);
}

/* A source of head, then n zero bytes, then tail. */
struct long_source {
	struct fsc_source base;
	const struct fsc_buf *head, *tail;
	uint64_t at, n_zero;
};

static enum fsc_status long_read(struct fsc_source *s, void *buf, size_t cap, size_t *n,
				 struct fsc_err *err)
{
	struct long_source *l = (struct long_source *)s;
	uint64_t at = l->at, end = l->head->len;
	const char *p = l->head->data;

	(void)err;
	if (at >= end) {
		at -= end;
		end = l->n_zero;
		p = NULL;
	}
	if (!p && at >= end) {
		at -= end;
		end = l->tail->len;
		p = l->tail->data;
	}
	*n = end - at < cap ? (size_t)(end - at) : cap;
	if (p)
		memcpy(buf, p + at, *n);
	else
		memset(buf, 0, *n);
	l->at += *n;
	return *n ? FSC_OK : FSC_END;
}

static void long_free(struct fsc_source *s)
{
	fsc_free(s);
}

/* A stored member of so many zero bytes, then one of "1"; streamed or with its sizes in front. */
static void long_member_is_read(uint64_t n_zero, unsigned flags, bool whole)
{
	static const struct fsc_source_ops ops = { .name = "long",
						   .read = long_read,
						   .free = long_free };
	struct long_source *l = fsc_xalloc(1, sizeof(*l));
	struct zip_sizes s = { 0, n_zero, n_zero };
	struct fsc_err err = FSC_ERR_INIT;
	struct zip head, tail;
	struct fsc_bundle *b;
	struct fsc_member m;
	static char buf[1 << 20];
	uint64_t got = 0;
	size_t n;

	/* the checksum of zeros by doubling */
	uLong unit = crc32(0, (const Bytef *)"", 1);
	for (uint64_t left = n_zero, len = 1; left; left >>= 1, len *= 2) {
		if (left & 1)
			s.crc = (uint32_t)crc32_combine(s.crc, unit, (z_off_t)len);
		unit = crc32_combine(unit, unit, (z_off_t)len);
	}
	zip_init(&head);
	zip_init(&tail);
	zip_local(&head, "long", flags, &s);
	zip_listed(&tail, "long", flags, &s, 0);
	tail.base = head.out.len + n_zero;
	zip_behind(&tail, flags, &s);
	zip_text(&tail, "after", "1", 0);
	zip_end(&tail, true);
	*l = (struct long_source){ { &ops, 0 }, &head.out, &tail.out, 0, n_zero };
	assert_int_equal(fsc_bundle_open(&b, &l->base, "x", &err), FSC_OK);
	assert_int_equal(fsc_bundle_next(b, &m, &err), FSC_OK);
	assert_int_equal(m.size, flags & ZIP_STREAMED ? -1 : (int64_t)n_zero);
	enum fsc_status st = FSC_END;
	while (whole && (st = fsc_source_read(fsc_bundle_member_source(b), buf, sizeof(buf), &n,
					      &err)) == FSC_OK)
		got += n;
	if (st != FSC_END || got != (whole ? n_zero : 0))
		fail_msg("%s: %s after %llu bytes", err.code, err.msg, (unsigned long long)got);
	st = fsc_bundle_next(b, &m, &err);
	if (st != FSC_OK)
		fail_msg("%s: %s", err.code, err.msg);
	assert_string_equal(m.path, "after");
	assert_int_equal(fsc_bundle_next(b, &m, &err), FSC_END);
	fsc_bundle_close(b);
	zip_fini(&head);
	zip_fini(&tail);
}

static void a_member_of_more_than_4_gib_is_read(void **state)
{
	const uint64_t n = 4 * FSC_GIB + 12345;

	(void)state;
	long_member_is_read(n, ZIP_64, true);
	long_member_is_read(n, ZIP_64, false);
}

static void a_member_that_says_more_than_the_limit_is_refused_at_once(void **state)
{
	struct zip_sizes s = { 1, 1, FSC_MAX_ENTRY_BYTES + 1 };
	struct zip z;
	struct walk w;

	(void)state;
	zip_init(&z);
	zip_local(&z, "a", ZIP_64 | ZIP_DEFLATED, &s);
	fsc_buf_addc(&z.out, 'x');
	walk_buf(&w, &z.out);
	assert_int_equal(w.st, FSC_ELIMIT);
	assert_string_equal(w.err.code, "member_too_big");
	walk_free(&w);
	zip_fini(&z);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_member_is_read),
		cmocka_unit_test(an_empty_zip_and_one_of_folders_hold_nothing),
		cmocka_unit_test(what_cannot_be_read_is_named_and_the_others_are_read),
		cmocka_unit_test(names_are_utf8_or_code_page_437),
		cmocka_unit_test(a_directory_that_lists_other_members_is_noticed),
		cmocka_unit_test(a_zip_cut_at_any_byte_is_told),
		cmocka_unit_test(no_flipped_bit_gives_other_bytes_or_hides_a_member),
		cmocka_unit_test(more_members_than_65535_are_over_the_limit),
		cmocka_unit_test(a_member_of_more_than_4_gib_is_read),
		cmocka_unit_test(a_member_that_says_more_than_the_limit_is_refused_at_once),
	};

	/* as the indexer has it; see bundle_read.h */
	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
