/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace of some size in each wrapping, cut at every 4 KiB and with one bit flipped, 10,000 times each, through archive
 * walk and JSON reader. Nothing crashes, and nothing that is read whole has other bytes than it had.
 */
#include <locale.h>

#include <zstd.h>

#include "base/alloc.h"
#include "base/crc.h"
#include "tests/support/read_trace.h"
#include "tests/unit/bundle/tar_util.h"
#include "tests/unit/bundle/walk.h"
#include "tests/unit/bundle/zip_util.h"

#define FLIPS 10000u
#define EVENTS 3000
#define FLIPPED_EVENTS 60

static void trace_text(struct fsc_buf *b, int n)
{
	fsc_buf_init(b, SIZE_MAX);
	fsc_buf_adds(b, "{\"schemaVersion\":1,\"traceEvents\":[");
	for (int i = 0; i < n; i++)
		fsc_buf_addf(b,
			     "%s{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op_%d\",\"pid\":1,"
			     "\"tid\":%d,\"ts\":%d.%03d,\"dur\":%d,\"args\":{\"Sequence\":%u}}",
			     i ? ",\n" : "", i % 37, i % 3, i * 10, i % 1000, i % 9 + 1,
			     (unsigned)i * 2654435761u);
	fsc_buf_adds(b, "]}");
}

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

static void as_gz(struct fsc_buf *out, const struct fsc_buf *text)
{
	gz(out, text);
}

static void as_tar(struct fsc_buf *out, const struct fsc_buf *text)
{
	tar_header(out, "rank0.json", '0', text->len, NULL);
	tar_data(out, text->data, text->len);
	tar_end(out);
}

static void as_tar_gz(struct fsc_buf *out, const struct fsc_buf *text)
{
	struct fsc_buf t = FSC_BUF_INIT(SIZE_MAX);

	as_tar(&t, text);
	gz(out, &t);
	fsc_buf_fini(&t);
}

static void as_tar_zst(struct fsc_buf *out, const struct fsc_buf *text)
{
	struct fsc_buf t = FSC_BUF_INIT(SIZE_MAX);

	as_tar(&t, text);
	zst(out, &t);
	fsc_buf_fini(&t);
}

static void as_zip(struct fsc_buf *out, const struct fsc_buf *text)
{
	struct zip z;

	zip_init(&z);
	zip_add(&z, "rank0.json", text->data, text->len, ZIP_DEFLATED | ZIP_STREAMED);
	zip_end(&z, false);
	fsc_buf_add(out, z.out.data, z.out.len);
	zip_fini(&z);
}

static void as_gz_in_zip(struct fsc_buf *out, const struct fsc_buf *text)
{
	struct fsc_buf g = FSC_BUF_INIT(SIZE_MAX);
	struct zip z;

	gz(&g, text);
	zip_init(&z);
	zip_add(&z, "rank0.json.gz", g.data, g.len, 0);
	zip_end(&z, false);
	fsc_buf_add(out, z.out.data, z.out.len);
	zip_fini(&z);
	fsc_buf_fini(&g);
}

static const struct {
	const char *name;
	void (*make)(struct fsc_buf *out, const struct fsc_buf *text);
} kinds[] = {
	{ "json.gz", as_gz },	   { "json.zst", zst }, { "tar.gz", as_tar_gz },
	{ "tar.zst", as_tar_zst }, { "zip", as_zip },	{ "json.gz in a zip", as_gz_in_zip },
};

struct outcome {
	bool whole; /* everything was read to its end without an error, one member */
	uint32_t crc;
	size_t n;
};

/* Bytes of the members, decompressed. */
static struct outcome read_bytes(const void *p, size_t n)
{
	struct outcome o = { 0 };
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_bundle *b;
	struct fsc_member m;
	static char buf[65536];
	enum fsc_status st = fsc_bundle_open(&b, fsc_source_mem(p, n), "x", &err);
	unsigned members = 0, bad = 0;
	size_t k, n_skipped;

	if (st != FSC_OK)
		return o;
	while ((st = fsc_bundle_next(b, &m, &err)) == FSC_OK) {
		struct fsc_source *src = fsc_bundle_member_auto(b);
		while ((st = fsc_source_read(src, buf, sizeof(buf), &k, &err)) == FSC_OK) {
			o.crc = fsc_crc32c(o.crc, buf, k);
			o.n += k;
		}
		members++;
		bad += st != FSC_END;
		fsc_source_free(src);
	}
	fsc_bundle_skipped(b, &n_skipped);
	o.whole = st == FSC_END && members == 1 && !bad && !n_skipped;
	fsc_bundle_close(b);
	return o;
}

/* The reader must survive whatever comes. */
static void read_events(const void *p, size_t n)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_bundle *b;
	struct fsc_member m;

	if (fsc_bundle_open(&b, fsc_source_mem(p, n), "x", &err) != FSC_OK)
		return;
	while (fsc_bundle_next(b, &m, &err) == FSC_OK)
		fsc_trace_free(read_trace_source(fsc_bundle_member_auto(b), &err));
	fsc_bundle_close(b);
}

static void cut_at_every_4_kib_nothing_passes_for_whole(void **state)
{
	struct fsc_buf text;
	unsigned cuts = 0;

	(void)state;
	trace_text(&text, EVENTS);
	for (size_t k = 0; k < FSC_ARRAY_LEN(kinds); k++) {
		struct fsc_buf b = FSC_BUF_INIT(SIZE_MAX);
		kinds[k].make(&b, &text);
		struct outcome good = read_bytes(b.data, b.len);
		assert_true(good.whole && good.n == text.len);
		/* near the end as well */
		for (size_t n = 4096; n < b.len;
		     n += n + 4096 < b.len ? 4096 : 1 + (b.len - n) / 8) {
			char *exact = fsc_realloc(NULL, n, 1);
			assert_non_null(exact);
			memcpy(exact, b.data, n);
			if (read_bytes(exact, n).whole)
				fail_msg("%s cut at %zu of %zu passes", kinds[k].name, n, b.len);
			read_events(exact, n);
			fsc_free(exact);
			cuts++;
		}
		fsc_buf_fini(&b);
	}
	print_message("%u cuts of %zu kinds were all told\n", cuts, FSC_ARRAY_LEN(kinds));
	fsc_buf_fini(&text);
}

static void ten_thousand_flipped_bits_change_nothing_in_silence(void **state)
{
	struct fsc_buf text;
	uint32_t want;

	(void)state;
	trace_text(&text, FLIPPED_EVENTS);
	want = fsc_crc32c(0, text.data, text.len);
	for (size_t k = 0; k < FSC_ARRAY_LEN(kinds); k++) {
		struct fsc_buf b = FSC_BUF_INIT(SIZE_MAX);
		unsigned told = 0, harmless = 0;
		uint64_t seed = 88172645463325252u;
		kinds[k].make(&b, &text);
		for (unsigned i = 0; i < FLIPS; i++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			size_t bit = (size_t)(seed % (8 * b.len));
			b.data[bit / 8] ^= (char)(1 << bit % 8);
			struct outcome o = read_bytes(b.data, b.len);
			/* without its mark a file is another file, which the reader refuses */
			bool other = o.whole && (o.n != text.len || o.crc != want);
			if (other && bit >= 32)
				fail_msg("%s, bit %zu of byte %zu: other bytes, no error",
					 kinds[k].name, bit % 8, bit / 8);
			if (i % 10 == 0)
				read_events(b.data, b.len);
			told += !o.whole || other;
			harmless += o.whole && !other;
			b.data[bit / 8] ^= (char)(1 << bit % 8);
		}
		print_message("%-18s %6zu bytes: %u flipped bits told, %u changed nothing\n",
			      kinds[k].name, b.len, told, harmless);
		/* dates and attributes of a zip have no checksum, and nobody reads them */
		assert_true(told > 5 * harmless);
		fsc_buf_fini(&b);
	}
	fsc_buf_fini(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cut_at_every_4_kib_nothing_passes_for_whole),
		cmocka_unit_test(ten_thousand_flipped_bits_change_nothing_in_silence),
	};

	/* as the indexer has it; see bundle_read.h */
	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
