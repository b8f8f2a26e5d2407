/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The golden file of every format, damaged: cut short at every byte, and 2,500 times (FSC_FLIPS) with one byte changed. Whatever
 * comes of it, it is a trace that holds together or an error with a code; never a crash, nor a long wait. The same
 * inside gzip and zstd: a flipped byte of those is always told.
 */
#include <dirent.h>
#include <time.h>

#include <zlib.h>
#include <zstd.h>

#include "base/fs.h"
#include "tests/support/read_trace.h"

#define FLIPS 2500
#define SECONDS_MAX 2.0

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* of this program: the machine may be busy */
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint32_t rnd(uint32_t *x)
{
	*x = *x * 1664525u + 1013904223u;
	return *x >> 8;
}

/* Reads exact memory, so that a byte too far is seen. True when it gave a trace. */
static bool try_bytes(const char *file, const void *p, size_t n, struct fsc_err *err)
{
	void *exact = malloc(n ? n : 1);
	double start = now_s();
	struct fsc_trace *t;

	assert_non_null(exact);
	memcpy(exact, p, n);
	fsc_err_clear(err);
	t = read_trace_source(fsc_source_mem(exact, n), err);
	if (now_s() - start > SECONDS_MAX)
		fail_msg("%s: took %.1f s", file, now_s() - start);
	fsc_trace_free(t);
	free(exact);
	return t != NULL;
}

static void cut_everywhere(const char *file, char *p, size_t n)
{
	struct fsc_err err = FSC_ERR_INIT;

	for (size_t cut = 0; cut < n; cut++)
		(void)try_bytes(file, p, cut, &err);
}

static void flip(const char *file, char *p, size_t n)
{
	struct fsc_err err = FSC_ERR_INIT;
	const char *asked = getenv("FSC_FLIPS");
	long flips = asked && *asked ? strtol(asked, NULL, 10) : FLIPS;
	uint32_t x = 42, good = 0;

	for (long i = 0; i < flips; i++) {
		size_t at = rnd(&x) % n;
		char was = p[at];

		p[at] = (char)(was ^ (1 + rnd(&x) % 255));
		good += try_bytes(file, p, n, &err);
		p[at] = was;
	}
	print_message("# %s: %u of %ld flips are read, the others refused\n", file, good, flips);
	assert_true(try_bytes(file, p, n, &err));
}

/* Of a compressed file: every byte has its check sum, or its place in a head that is checked. */
static void flip_packed(const char *file, char *p, size_t n)
{
	struct fsc_err err = FSC_ERR_INIT;
	unsigned unseen = 0;

	for (size_t at = 0; at < n; at++)
		for (int bit = 0; bit < 8; bit++) {
			p[at] ^= (char)(1 << bit);
			unseen += try_bytes(file, p, n, &err);
			p[at] ^= (char)(1 << bit);
		}
	for (size_t cut = 1; cut < n; cut++)
		assert_false(try_bytes(file, p, cut, &err));
	/* Not data: of a gzip head the time, the extra flags, the system and the flag that says "text" (49 bits), and the
	 * bits behind the last deflate code. */
	if (unseen > 49 + 7)
		fail_msg("%s: %u of %zu flips were not seen", file, unseen, 8 * n);
}

static char *gzip_of(const char *p, size_t n, size_t *out)
{
	z_stream z = { .next_in = (z_const Bytef *)p, .avail_in = (uInt)n };
	char *b;

	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	b = malloc(deflateBound(&z, n));
	assert_non_null(b);
	z.next_out = (Bytef *)b;
	z.avail_out = (uInt)deflateBound(&z, n);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	*out = z.total_out;
	deflateEnd(&z);
	return b;
}

static char *zstd_of(const char *p, size_t n, size_t *out)
{
	ZSTD_CCtx *c = ZSTD_createCCtx();
	char *b = malloc(ZSTD_compressBound(n));

	assert_true(c && b);
	ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
	*out = ZSTD_compress2(c, b, ZSTD_compressBound(n), p, n);
	assert_false(ZSTD_isError(*out));
	ZSTD_freeCCtx(c);
	return b;
}

static void each_golden_file(void (*test)(const char *file, char *p, size_t n))
{
	char root[512], path[1200];
	const struct dirent *e;
	unsigned files = 0;
	DIR *d = opendir(test_src(root, sizeof(root), "tests/golden"));

	assert_non_null(d);
	while ((e = readdir(d))) {
		const struct dirent *in;
		DIR *folder;

		snprintf(path, sizeof(path), "%s/%s", root, e->d_name);
		folder = e->d_name[0] == '.' ? NULL : opendir(path);
		while (folder && (in = readdir(folder))) {
			struct fsc_err err = FSC_ERR_INIT;
			char *p = NULL;
			size_t n = 0;

			if (strncmp(in->d_name, "input.", 6) != 0)
				continue;
			snprintf(path, sizeof(path), "%s/%s/%s", root, e->d_name, in->d_name);
			if (fsc_fs_read_file(&p, &n, path, 8 << 20, &err) != FSC_OK)
				fail_msg("%s", err.msg);
			test(e->d_name, p, n);
			fsc_free(p);
			files++;
		}
		if (folder)
			closedir(folder);
	}
	closedir(d);
	assert_true(files >= 3);
}

static void cutting_a_file_anywhere_gives_no_crash(void **state)
{
	(void)state;
	each_golden_file(cut_everywhere);
}

static void changing_any_byte_gives_no_crash(void **state)
{
	(void)state;
	each_golden_file(flip);
}

static void damage_of_compressed_files_is_always_told(void **state)
{
	char path[600], *p = NULL, *packed;
	struct fsc_err err = FSC_ERR_INIT;
	size_t n = 0, m;

	(void)state;
	test_src(path, sizeof(path), "tests/golden/chrome_json/input.json");
	if (fsc_fs_read_file(&p, &n, path, 8 << 20, &err) != FSC_OK)
		fail_msg("%s", err.msg);
	packed = gzip_of(p, n, &m);
	flip_packed("gzip", packed, m);
	free(packed);
	packed = zstd_of(p, n, &m);
	flip_packed("zstd", packed, m);
	free(packed);
	fsc_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cutting_a_file_anywhere_gives_no_crash),
		cmocka_unit_test(changing_any_byte_gives_no_crash),
		cmocka_unit_test(damage_of_compressed_files_is_always_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
