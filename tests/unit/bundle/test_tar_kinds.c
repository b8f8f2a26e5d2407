/* SPDX-License-Identifier: Apache-2.0 */
/* Tar archives of every kind that writers make, and compressed ones that were cut or damaged. */
#include <locale.h>

#include <zstd.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "tests/unit/bundle/tar_util.h"
#include "tests/unit/bundle/walk.h"

static void gives(const struct fsc_buf *b, const char *members, const char *skipped)
{
	struct walk w;

	walk_buf(&w, b);
	if (w.st != FSC_END)
		fail_msg("%s: %s", w.err.code, w.err.msg);
	assert_string_equal(w.paths.data ? w.paths.data : "", members);
	assert_string_equal(w.skips.data ? w.skips.data : "", skipped);
	walk_free(&w);
}

/* One record of a pax header: its length counts itself. */
static void pax_record(struct fsc_buf *b, const char *key, const char *value)
{
	size_t n = strlen(key) + strlen(value) + 3, digits = n + 1 > 9 ? n + 2 > 99 ? 3 : 2 : 1;

	fsc_buf_addf(b, "%zu %s=%s\n", n + digits, key, value);
}

static void pax_header(struct fsc_buf *b, const struct fsc_buf *records)
{
	tar_header(b, "pax", 'x', records->len, NULL);
	tar_data(b, records->data, records->len);
}

static void pax_path(struct fsc_buf *b, const char *path, const char *charset)
{
	struct fsc_buf r = FSC_BUF_INIT(SIZE_MAX);

	if (charset)
		pax_record(&r, "hdrcharset", charset);
	pax_record(&r, "path", path);
	pax_header(b, &r);
	tar_header(b, "short", '0', 1, NULL);
	tar_data(b, "1", 1);
	fsc_buf_fini(&r);
}

static void long_names_are_whole(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(SIZE_MAX);
	char gnu[FSC_MAX_PATH_BYTES + 1], pax[FSC_MAX_PATH_BYTES + 1], want[2000];

	(void)state;
	memset(gnu, 'g', sizeof(gnu) - 1);
	memset(pax, 'p', sizeof(pax) - 1);
	gnu[FSC_MAX_PATH_BYTES] = pax[FSC_MAX_PATH_BYTES] = '\0';
	gnu[200] = pax[200] = '/';
	tar_file(&b, gnu, "1");
	pax_path(&b, pax, NULL);
	tar_end(&b);
	snprintf(want, sizeof(want), "%s=1;%s=1;", gnu, pax);
	gives(&b, want, "");
	fsc_buf_fini(&b);
}

static void names_outside_ascii_come_unchanged_or_visibly_repaired(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(SIZE_MAX);

	(void)state;
	tar_file(&b, "r\xC3\xA9.json", "1");
	pax_path(&b, "\xE6\x97\xA5.json", NULL);
	/* Latin-1: two names that differ only there */
	tar_file(&b, "m\xE9.json", "2");
	tar_file(&b, "m\xE8.json", "3");
	pax_path(&b, "p\xE9.json", "BINARY");
	pax_path(&b, "p\xE8.json", NULL);
	tar_end(&b);
	gives(&b,
	      "r\xC3\xA9.json=1;\xE6\x97\xA5.json=1;m%E9.json=2;m%E8.json=3;p%E9.json=1;p%E8.json="
	      "1;",
	      "");
	fsc_buf_fini(&b);
}

/* ---- sparse files: "ab", a hole of 1022, "yz", a hole of 1022 ---- */

static void gives_holes(const struct fsc_buf *b)
{
	struct walk w;
	char want[2048] = { 0 };

	memcpy(want, "ab", 2);
	memcpy(want + 1024, "yz", 2);
	walk_buf(&w, b);
	if (w.st != FSC_END)
		fail_msg("%s: %s", w.err.code, w.err.msg);
	assert_int_equal(w.paths.len, 7 + 2048 + 1);
	assert_memory_equal(w.paths.data, "s.json=", 7);
	assert_memory_equal(w.paths.data + 7, want, sizeof(want));
	walk_free(&w);
}

static void tar_checksum(char *h)
{
	unsigned sum = 0;

	memset(h + 148, ' ', 8);
	for (size_t i = 0; i < 512; i++)
		sum += (unsigned char)h[i];
	snprintf(h + 148, 8, "%06o", sum);
}

static void holes_of_old_gnu_are_zeros(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(SIZE_MAX);
	static const unsigned map[] = { 0, 2, 1024, 2, 2048, 0 };

	(void)state;
	tar_header(&b, "s.json", 'S', 4, NULL);
	char *h = b.data;
	memcpy(h + 257, "ustar  ", 8);
	for (size_t i = 0; i < FSC_ARRAY_LEN(map); i++)
		snprintf(h + 386 + 12 * i, 12, "%011o", map[i]);
	snprintf(h + 483, 12, "%011o", 2048);
	tar_checksum(h);
	tar_data(&b, "abyz", 4);
	tar_end(&b);
	gives_holes(&b);
	fsc_buf_fini(&b);
}

static void holes_of_pax_are_zeros(void **state)
{
	(void)state;
	for (int minor = 0; minor < 2; minor++) {
		struct fsc_buf b = FSC_BUF_INIT(SIZE_MAX), r = FSC_BUF_INIT(SIZE_MAX);
		pax_record(&r, "GNU.sparse.size", "2048");
		pax_record(&r, "GNU.sparse.numblocks", "3");
		if (minor == 0) {
			static const char *const v[] = { "0", "2", "1024", "2", "2048", "0" };
			for (int i = 0; i < 6; i++)
				pax_record(&r, i % 2 ? "GNU.sparse.numbytes" : "GNU.sparse.offset",
					   v[i]);
		} else {
			pax_record(&r, "GNU.sparse.map", "0,2,1024,2,2048,0");
		}
		pax_record(&r, "GNU.sparse.name", "s.json");
		pax_header(&b, &r);
		tar_header(&b, "s.json", '0', 4, NULL);
		tar_data(&b, "abyz", 4);
		tar_end(&b);
		gives_holes(&b);
		fsc_buf_fini(&r);
		fsc_buf_fini(&b);
	}
}

static void holes_of_pax_1_0_are_zeros(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(SIZE_MAX), r = FSC_BUF_INIT(SIZE_MAX);
	char data[516] = "3\n0\n2\n1024\n2\n2048\n0\n";

	(void)state;
	memcpy(data + 512, "abyz", 4);
	pax_record(&r, "GNU.sparse.major", "1");
	pax_record(&r, "GNU.sparse.minor", "0");
	pax_record(&r, "GNU.sparse.name", "s.json");
	pax_record(&r, "GNU.sparse.realsize", "2048");
	pax_header(&b, &r);
	tar_header(&b, "GNUSparseFile.0/s.json", '0', sizeof(data), NULL);
	tar_data(&b, data, sizeof(data));
	tar_end(&b);
	gives_holes(&b);
	fsc_buf_fini(&r);
	fsc_buf_fini(&b);
}

static void a_hole_as_large_as_a_bomb_is_one(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(SIZE_MAX), r = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_bundle *bundle;
	struct fsc_member m;
	static char buf[1 << 20];
	enum fsc_status st;
	uint64_t got = 0;
	size_t n;

	(void)state;
	pax_record(&r, "GNU.sparse.map", "0,2,15000000000,2");
	pax_record(&r, "GNU.sparse.size", "15000000002");
	pax_record(&r, "GNU.sparse.numblocks", "2");
	pax_header(&b, &r);
	tar_header(&b, "s.json", '0', 4, NULL);
	tar_data(&b, "abyz", 4);
	tar_end(&b);
	assert_int_equal(fsc_bundle_open(&bundle, fsc_source_mem(b.data, b.len), "x", &err),
			 FSC_OK);
	assert_int_equal(fsc_bundle_next(bundle, &m, &err), FSC_OK);
	while ((st = fsc_source_read(fsc_bundle_member_source(bundle), buf, sizeof(buf), &n,
				     &err)) == FSC_OK)
		got += n;
	assert_int_equal(st, FSC_ELIMIT);
	assert_string_equal(err.code, "bomb");
	assert_true(got <= FSC_RATIO_GRACE_BYTES + 2 * sizeof(buf));
	fsc_bundle_close(bundle);
	fsc_buf_fini(&r);
	fsc_buf_fini(&b);
}

/* ---- around the archive ---- */

static void old_and_empty_archives_are_read(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(SIZE_MAX);

	(void)state;
	tar_header(&b, "old.json", '\0', 1, NULL); /* before ustar */
	memset(b.data + 257, 0, 10);
	tar_checksum(b.data);
	tar_data(&b, "1", 1);
	tar_end(&b);
	gives(&b, "old.json=1;", "");
	fsc_buf_clear(&b);
	tar_header(&b, "d/", '5', 0, NULL);
	tar_header(&b, "d/e/", '5', 0, NULL);
	tar_end(&b);
	gives(&b, "", "");
	fsc_buf_fini(&b);
}

static void bytes_behind_the_end_are_told_and_zeros_are_not(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(SIZE_MAX);
	static const char zeros[20000];

	(void)state;
	tar_file(&b, "a", "1");
	tar_end(&b);
	fsc_buf_add(&b, zeros, sizeof(zeros));
	gives(&b, "a=1;", "");
	fsc_buf_add(&b, zeros, 512 - sizeof(zeros) % 512);
	tar_file(&b, "second", "2");
	tar_end(&b);
	gives(&b, "a=1;", "archive_trailing_data:one.json;");
	fsc_buf_clear(&b);
	tar_file(&b, "a", "1");
	tar_end(&b);
	for (int i = 0; i < 40; i++)
		fsc_buf_add(&b, zeros, sizeof(zeros));
	fsc_buf_addc(&b, 'x');
	gives(&b, "a=1;", "archive_trailing_data:one.json;");
	fsc_buf_fini(&b);
}

static void several_gzip_members_with_padding_are_one_archive(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(SIZE_MAX), half = FSC_BUF_INIT(SIZE_MAX),
		       z = FSC_BUF_INIT(SIZE_MAX);
	static const char zeros[3000];

	(void)state;
	tar_file(&b, "a", "one");
	tar_file(&b, "b", "two");
	tar_end(&b);
	fsc_buf_add(&half, b.data, 700);
	gz(&z, &half);
	fsc_buf_add(&z, zeros, 37);
	fsc_buf_clear(&half);
	fsc_buf_add(&half, b.data + 700, b.len - 700);
	gz(&z, &half);
	fsc_buf_add(&z, zeros, sizeof(zeros));
	gives(&z, "a=one;b=two;", "");
	fsc_buf_fini(&z);
	fsc_buf_fini(&half);
	fsc_buf_fini(&b);
}

/* ---- damage ---- */

static void zst(struct fsc_buf *out, const struct fsc_buf *in)
{
	ZSTD_CCtx *c = ZSTD_createCCtx();
	size_t cap = ZSTD_compressBound(in->len);

	assert_non_null(c);
	ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
	size_t n = ZSTD_compress2(c, fsc_buf_room(out, cap), cap, in->data, in->len);
	assert_false(ZSTD_isError(n));
	out->len += n;
	ZSTD_freeCCtx(c);
}

#define WANT "a.json={\"traceEvents\":[1,2,3]};b.json=some more bytes;"

static void sample(struct fsc_buf *out, bool zstd)
{
	struct fsc_buf b = FSC_BUF_INIT(SIZE_MAX);

	tar_file(&b, "a.json", "{\"traceEvents\":[1,2,3]}");
	tar_file(&b, "b.json", "some more bytes");
	tar_end(&b);
	fsc_buf_init(out, SIZE_MAX);
	if (zstd)
		zst(out, &b);
	else
		gz(out, &b);
	fsc_buf_fini(&b);
}

static void a_compressed_tar_cut_at_any_byte_is_told(void **state)
{
	(void)state;
	for (int zstd = 0; zstd < 2; zstd++) {
		struct fsc_buf z;
		sample(&z, zstd);
		for (size_t n = 4; n < z.len; n++) {
			struct walk w;
			char *exact = fsc_realloc(NULL, n, 1);
			assert_non_null(exact);
			memcpy(exact, z.data, n);
			walk_source(&w, fsc_source_mem(exact, n));
			if (w.st == FSC_END || !w.err.code[0])
				fail_msg("cut at %zu of %zu: nothing was told", n, z.len);
			walk_free(&w);
			fsc_free(exact);
		}
		fsc_buf_fini(&z);
	}
}

static void no_flipped_bit_of_a_compressed_tar_gives_other_bytes(void **state)
{
	unsigned told = 0, harmless = 0;

	(void)state;
	for (int zstd = 0; zstd < 2; zstd++) {
		struct fsc_buf z;
		sample(&z, zstd);
		for (size_t bit = 0; bit < 8 * z.len; bit++) {
			struct walk w;
			z.data[bit / 8] ^= (char)(1 << bit % 8);
			walk_buf(&w, &z);
			/* without its mark it is a file of its own, which no reader takes */
			bool fault = w.st != FSC_END || !strncmp(w.paths.data, "one.json=", 9);
			if (!fault && strcmp(w.paths.data, WANT) != 0)
				fail_msg("bit %zu of byte %zu: %s", bit % 8, bit / 8, w.paths.data);
			told += fault;
			harmless += !fault;
			walk_free(&w);
			z.data[bit / 8] ^= (char)(1 << bit % 8);
		}
		fsc_buf_fini(&z);
	}
	print_message("%u flipped bits were told, %u changed nothing\n", told, harmless);
	assert_true(told > 10 * harmless);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_names_are_whole),
		cmocka_unit_test(names_outside_ascii_come_unchanged_or_visibly_repaired),
		cmocka_unit_test(holes_of_old_gnu_are_zeros),
		cmocka_unit_test(holes_of_pax_are_zeros),
		cmocka_unit_test(holes_of_pax_1_0_are_zeros),
		cmocka_unit_test(a_hole_as_large_as_a_bomb_is_one),
		cmocka_unit_test(old_and_empty_archives_are_read),
		cmocka_unit_test(bytes_behind_the_end_are_told_and_zeros_are_not),
		cmocka_unit_test(several_gzip_members_with_padding_are_one_archive),
		cmocka_unit_test(a_compressed_tar_cut_at_any_byte_is_told),
		cmocka_unit_test(no_flipped_bit_of_a_compressed_tar_gives_other_bytes),
	};

	/* as the indexer has it; see bundle_read.h */
	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
