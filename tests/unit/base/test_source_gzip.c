/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gzip source. This file is compiled twice: here against the library as it was built, and by
 * test_source_gzip_zlib.c against the zlib way.
 */
#include "base/limits.h"
#include "base/source.h"

#include <fcntl.h>

#include "base/attr.h"
#include "base/crc.h"
#include "tests/unit/base/gzip_util.h"
#include "tests/unit/base/source_util.h"

/* Decompresses gz (copied to its exact size), reading steps of the given sizes. */
static enum fsc_status gunzip(struct fsc_buf *out, const void *gz, size_t n, size_t in_step,
			      size_t out_step, struct fsc_err *err)
{
	void *exact = malloc(n ? n : 1);
	assert_non_null(exact);
	memcpy(exact, gz, n);
	fsc_buf_clear(out);
	struct dribble *d = dribble_new(exact, n, in_step);
	enum fsc_status st = drain(fsc_source_gzip(&d->base), out_step, out, err);
	free(exact);
	return st;
}

static void whatever_zlib_wrote_is_read_in_pieces_of_any_size(void **state)
{
	(void)state;
	static const size_t sizes[] = { 0, 1, 2, 100, 5000, 32768, 65536, 70000, 400000 };
	static const struct {
		int level, strategy;
	} ways[] = { { 0, Z_DEFAULT_STRATEGY },
		     { 1, Z_DEFAULT_STRATEGY },
		     { 6, Z_DEFAULT_STRATEGY },
		     { 9, Z_DEFAULT_STRATEGY },
		     { 6, Z_FIXED },
		     { 6, Z_HUFFMAN_ONLY },
		     { 6, Z_RLE } };
	static const size_t steps[] = { 1, 3, 17, 1000, 300000 };
	struct fsc_buf plain = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_buf gz = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_buf out = FSC_BUF_INIT(SIZE_MAX);
	for (size_t i = 0; i < FSC_ARRAY_LEN(sizes); i++) {
		fsc_buf_clear(&plain);
		sample(&plain, sizes[i]);
		for (size_t w = 0; w < FSC_ARRAY_LEN(ways); w++) {
			fsc_buf_clear(&gz);
			gz_head(&gz, 0);
			gz_deflate(&gz, plain.data, plain.len, ways[w].level, ways[w].strategy,
				   Z_FINISH);
			gz_trailer(&gz, plain.data, plain.len);
			for (size_t s = 0; s < FSC_ARRAY_LEN(steps) * FSC_ARRAY_LEN(steps); s++) {
				size_t in = steps[s / FSC_ARRAY_LEN(steps)];
				size_t o = steps[s % FSC_ARRAY_LEN(steps)];
				/* single bytes of much data take long and show nothing new */
				if (sizes[i] > 6000 && (in < 1000 || o < 1000))
					continue;
				struct fsc_err e = FSC_ERR_INIT;
				if (gunzip(&out, gz.data, gz.len, in, o, &e) != FSC_END)
					fail_msg("%zu bytes, way %zu, steps %zu %zu: %s", sizes[i],
						 w, in, o, e.msg);
				assert_int_equal(out.len, plain.len);
				assert_memory_equal(out.data, plain.data, plain.len);
			}
		}
	}
	fsc_buf_fini(&plain);
	fsc_buf_fini(&gz);
	fsc_buf_fini(&out);
}

static void every_set_of_header_fields_is_read(void **state)
{
	(void)state;
	struct fsc_buf gz = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_buf out = FSC_BUF_INIT(SIZE_MAX);
	for (unsigned flags = 0; flags < 32; flags++) {
		for (size_t step = 1; step < 600; step += 299) {
			struct fsc_err e = FSC_ERR_INIT;
			fsc_buf_clear(&gz);
			gz_member(&gz, "hello", 5, 6, flags);
			if (gunzip(&out, gz.data, gz.len, step, 100, &e) != FSC_END)
				fail_msg("flags %u: %s", flags, e.msg);
			assert_string_equal(out.data, "hello");
		}
	}
	fsc_buf_fini(&gz);
	fsc_buf_fini(&out);
}

static void a_wrong_header_is_told(void **state)
{
	(void)state;
	static const struct {
		size_t at;
		uint8_t value;
		const char *what;
	} cases[] = { { 0, 0x1e, "no gzip magic" },	      { 1, 0x8c, "no gzip magic" },
		      { 2, 7, "unknown compression method" }, { 3, 0x20, "unknown flags" },
		      { 3, 0x40, "unknown flags" },	      { 3, 0x80, "unknown flags" } };
	struct fsc_buf gz = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_buf out = FSC_BUF_INIT(SIZE_MAX);
	for (size_t i = 0; i < FSC_ARRAY_LEN(cases); i++) {
		struct fsc_err e = FSC_ERR_INIT;
		fsc_buf_clear(&gz);
		gz_member(&gz, "hello", 5, 6, 0);
		gz.data[cases[i].at] = (char)cases[i].value;
		assert_int_equal(gunzip(&out, gz.data, gz.len, 1000, 1000, &e), FSC_EPARSE);
		assert_string_equal(e.code, "gzip_header");
		assert_non_null(strstr(e.msg, cases[i].what));
		assert_int_equal(e.offset, 0);
		assert_int_equal(out.len, 0);
	}
	/* the header's own checksum covers every field of it */
	fsc_buf_clear(&gz);
	gz_head(&gz, GZ_FHCRC | GZ_FEXTRA | GZ_FNAME | GZ_FCOMMENT);
	size_t n_header = gz.len;
	gz_deflate(&gz, "hello", 5, 6, Z_DEFAULT_STRATEGY, Z_FINISH);
	gz_trailer(&gz, "hello", 5);
	for (size_t at = 4; at < n_header; at++) {
		struct fsc_err e = FSC_ERR_INIT;
		gz.data[at] ^= 0x10;
		assert_true(gunzip(&out, gz.data, gz.len, 50, 1000, &e) < 0);
		gz.data[at] ^= 0x10;
	}
	fsc_buf_fini(&gz);
	fsc_buf_fini(&out);
}

static void members_join(void **state)
{
	(void)state;
	struct fsc_buf gz = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_buf out = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_buf plain = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_buf all = FSC_BUF_INIT(SIZE_MAX);
	for (size_t i = 0; i < 40; i++) {
		fsc_buf_clear(&plain);
		sample(&plain, i * i * 10 % 3001);
		gz_member(&gz, plain.data, plain.len, (int)(i % 10), i % 3 ? 0 : GZ_FNAME);
		fsc_buf_add(&all, plain.data, plain.len);
	}
	for (size_t step = 1; step < 5000; step = step * 3 + 1) {
		struct fsc_err e = FSC_ERR_INIT;
		assert_int_equal(gunzip(&out, gz.data, gz.len, step, 700, &e), FSC_END);
		assert_int_equal(out.len, all.len);
		assert_memory_equal(out.data, all.data, all.len);
	}
	fsc_buf_fini(&gz);
	fsc_buf_fini(&out);
	fsc_buf_fini(&plain);
	fsc_buf_fini(&all);
}

/* What follows the first member, and how the read must end. */
static void expect_tail(const void *tail, size_t n, enum fsc_status want, const char *code,
			const char *text)
{
	struct fsc_buf gz = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_buf out = FSC_BUF_INIT(SIZE_MAX);
	gz_member(&gz, "first", 5, 6, 0);
	fsc_buf_add(&gz, tail, n);
	for (size_t step = 1; step < 100; step += 48) {
		struct fsc_err e = FSC_ERR_INIT;
		assert_int_equal(gunzip(&out, gz.data, gz.len, step, 3, &e), want);
		assert_string_equal(e.code, code);
		assert_string_equal(out.data, text);
		if (want < 0)
			assert_int_equal(e.offset, out.len);
	}
	fsc_buf_fini(&gz);
	fsc_buf_fini(&out);
}

static void zero_padding_is_tolerated_and_other_bytes_are_not(void **state)
{
	(void)state;
	uint8_t zeros[3000] = { 0 };
	for (size_t n = 0; n <= sizeof(zeros); n += n < 20 ? 1 : 331)
		expect_tail(zeros, n, FSC_END, "", "first");
	expect_tail("x", 1, FSC_EPARSE, "gzip_trailing", "first");
	expect_tail("\0\0\0x", 4, FSC_EPARSE, "gzip_trailing", "first");
	expect_tail("\x1f", 1, FSC_ECORRUPT, "gzip_truncated", "first");
	expect_tail("\x1fz", 2, FSC_EPARSE, "gzip_header", "first");
	struct fsc_buf second = FSC_BUF_INIT(SIZE_MAX);
	fsc_buf_add(&second, zeros, 512);
	gz_member(&second, "second", 6, 6, 0);
	expect_tail(second.data, second.len, FSC_END, "", "firstsecond");
	fsc_buf_fini(&second);
	/* padding belongs behind a member */
	struct fsc_buf out = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_err e = FSC_ERR_INIT;
	assert_int_equal(gunzip(&out, zeros, 100, 10, 10, &e), FSC_EPARSE);
	assert_string_equal(e.code, "gzip_header");
	fsc_buf_fini(&out);
}

static void a_cut_at_every_byte_is_told_as_truncated(void **state)
{
	(void)state;
	struct fsc_buf gz = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_buf plain = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_buf out = FSC_BUF_INIT(SIZE_MAX);
	sample(&plain, 3000);
	gz_member(&gz, plain.data, 1000, 6, GZ_FNAME | GZ_FHCRC);
	size_t first = gz.len;
	gz_member(&gz, plain.data + 1000, 1000, 0, GZ_FEXTRA);
	size_t second = gz.len;
	gz_member(&gz, plain.data + 2000, 1000, 9, 0);
	for (size_t cut = 0; cut <= gz.len; cut++) {
		for (size_t step = 1; step < 10000; step += 9000) {
			struct fsc_err e = FSC_ERR_INIT;
			enum fsc_status st = gunzip(&out, gz.data, cut, step, 500, &e);
			if (cut == first || cut == second || cut == gz.len) {
				assert_int_equal(st, FSC_END);
				assert_int_equal(out.len, cut == first	  ? 1000
							  : cut == second ? 2000
									  : 3000);
			} else {
				if (st != FSC_ECORRUPT || strcmp(e.code, "gzip_truncated") != 0)
					fail_msg("cut at %zu: %d %s", cut, st, e.msg);
				assert_int_equal(e.offset, out.len);
			}
			/* what came out is right as far as it goes */
			assert_true(out.len <= plain.len);
			assert_memory_equal(out.data, plain.data, out.len);
		}
	}
	fsc_buf_fini(&gz);
	fsc_buf_fini(&plain);
	fsc_buf_fini(&out);
}

static void what_can_be_decoded_before_a_cut_comes_out_whatever_the_pieces(void **state)
{
	(void)state;
	struct fsc_buf gz = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_buf plain = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_buf out = FSC_BUF_INIT(SIZE_MAX);
	sample(&plain, 100000);
	gz_member(&gz, plain.data, plain.len, 6, 0);
	for (size_t cut = 20; cut < gz.len; cut += 311) {
		struct fsc_err e = FSC_ERR_INIT;
		assert_int_equal(gunzip(&out, gz.data, cut, 1 << 20, 1 << 20, &e), FSC_ECORRUPT);
		size_t want = out.len;
		assert_int_equal(gunzip(&out, gz.data, cut, 1 << 20, 700, &e), FSC_ECORRUPT);
		assert_int_equal(out.len, want);
		assert_memory_equal(out.data, plain.data, want);
	}
	fsc_buf_fini(&gz);
	fsc_buf_fini(&plain);
	fsc_buf_fini(&out);
}

/*
 * Time, extra flags, system and the text flag are covered by no checksum and change nothing of the
 * content. Nor do the bits that fill up the byte before a stored block and at the end of the data. Any other
 * flipped bit must be told.
 */
static void no_flipped_bit_gives_other_content_in_silence(void **state)
{
	(void)state;
	struct fsc_buf gz = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_buf plain = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_buf out = FSC_BUF_INIT(SIZE_MAX);
	sample(&plain, 1000);
	unsigned n_crc = 0;
	unsigned n_padding = 0;
	for (int level = 0; level <= 9; level += 3) {
		fsc_buf_clear(&gz);
		gz_member(&gz, plain.data, plain.len, level, 0);
		for (size_t bit = 0; bit < gz.len * 8; bit++) {
			size_t at = bit / 8;
			struct fsc_err e = FSC_ERR_INIT;
			gz.data[at] ^= (char)(1 << bit % 8);
			enum fsc_status st = gunzip(&out, gz.data, gz.len, 1000, 5000, &e);
			gz.data[at] ^= (char)(1 << bit % 8);
			if (st == FSC_END) {
				n_padding += at >= 10;
				assert_int_equal(out.len, plain.len);
				assert_memory_equal(out.data, plain.data, plain.len);
				continue;
			}
			assert_true(st == FSC_EPARSE || st == FSC_ECORRUPT);
			n_crc += strcmp(e.code, "gzip_crc") == 0;
			if (at >= gz.len - 8)
				assert_string_equal(e.code, "gzip_crc");
		}
	}
	/* 5 bits before the stored block of level 0, at most 7 at the end of each of the three others */
	assert_true(n_padding <= 5 + 3 * 7);
	assert_true(n_crc > 1000);
	fsc_buf_fini(&gz);
	fsc_buf_fini(&plain);
	fsc_buf_fini(&out);
}

static void a_wrong_length_is_told_apart_from_a_wrong_checksum(void **state)
{
	(void)state;
	struct fsc_buf gz = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_buf out = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_err e = FSC_ERR_INIT;
	gz_member(&gz, "hello", 5, 6, 0);
	gz.data[gz.len - 4]++;
	assert_int_equal(gunzip(&out, gz.data, gz.len, 9, 9, &e), FSC_ECORRUPT);
	assert_string_equal(e.code, "gzip_crc");
	assert_non_null(strstr(e.msg, "length mismatch of member 1"));
	assert_int_equal(e.offset, 5);
	gz.data[gz.len - 4]--;
	gz.data[gz.len - 8]++;
	assert_int_equal(gunzip(&out, gz.data, gz.len, 9, 9, &e), FSC_ECORRUPT);
	assert_non_null(strstr(e.msg, "checksum mismatch of member 1"));
	fsc_buf_fini(&gz);
	fsc_buf_fini(&out);
}

/* Reads to the end without keeping the bytes. */
static enum fsc_status skim(struct fsc_source *s, uint64_t *total, struct fsc_err *err)
{
	static char piece[1 << 16];
	size_t n = 0;
	enum fsc_status st = FSC_OK;
	while (st == FSC_OK)
		st = fsc_source_read(s, piece, sizeof(piece), &n, err);
	*total = s->consumed;
	fsc_source_free(s);
	return st;
}

static void a_bomb_is_stopped_soon_after_the_grace(void **state)
{
	(void)state;
	size_t grace = (size_t)FSC_RATIO_GRACE_BYTES;
	char *zeros = fsc_xalloc(2 * grace, 1);
	struct fsc_buf gz = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_err e = FSC_ERR_INIT;
	uint64_t total = 0;
	gz_member(&gz, zeros, 2 * grace, 6, 0);
	assert_int_equal(skim(fsc_source_gzip(fsc_source_mem(gz.data, gz.len)), &total, &e),
			 FSC_ELIMIT);
	assert_string_equal(e.code, "bomb");
	assert_true(total >= grace - 65536 && total <= grace + 65536);
	/* up to the grace any ratio is let through */
	fsc_buf_clear(&gz);
	fsc_err_clear(&e);
	gz_member(&gz, zeros, grace, 6, 0);
	assert_int_equal(skim(fsc_source_gzip(fsc_source_mem(gz.data, gz.len)), &total, &e),
			 FSC_END);
	assert_int_equal(total, grace);
	fsc_buf_fini(&gz);
	fsc_free(zeros);
}

static void a_fault_below_comes_through_behind_the_bytes_before_it(void **state)
{
	(void)state;
	struct fsc_buf gz = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_buf plain = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_buf out = FSC_BUF_INIT(SIZE_MAX);
	int n_freed = 0;
	sample(&plain, 50000);
	gz_member(&gz, plain.data, plain.len, 6, 0);
	for (size_t cut = 0; cut < gz.len; cut += 7) {
		struct fsc_err e = FSC_ERR_INIT;
		struct dribble *d = dribble_new(gz.data, cut, 100);
		d->last = FSC_EIO;
		d->n_freed = &n_freed;
		fsc_buf_clear(&out);
		assert_int_equal(drain(fsc_source_gzip(&d->base), 1000, &out, &e), FSC_EIO);
		assert_string_equal(e.code, "planted");
		assert_int_equal(e.offset, out.len);
		assert_memory_equal(out.data, plain.data, out.len);
	}
	assert_int_equal(n_freed, (gz.len + 6) / 7);
	fsc_buf_fini(&gz);
	fsc_buf_fini(&plain);
	fsc_buf_fini(&out);
}

static void random_bytes_behind_a_header_never_pass(void **state)
{
	(void)state;
	struct fsc_buf out = FSC_BUF_INIT(SIZE_MAX);
	uint32_t x = 3;
	for (int round = 0; round < 3000; round++) {
		uint8_t gz[200] = { 0x1f, 0x8b, 8, 0 };
		for (size_t i = 10; i < sizeof(gz); i++) {
			x = x * 1664525u + 1013904223u;
			gz[i] = (uint8_t)(x >> 24);
		}
		struct fsc_err e = FSC_ERR_INIT;
		assert_true(gunzip(&out, gz, sizeof(gz), 60, 5000, &e) < 0);
	}
	fsc_buf_fini(&out);
}

static void a_real_trace_reads_as_with_zlib(void **state)
{
	(void)state;
	char path[1024];
	test_data(path, sizeof(path), "gpu-traces/hta/df_index_resolver/df_index_resolver.json.gz");
	static char piece[1 << 18];
	gzFile f = gzopen(path, "rb");
	assert_non_null(f);
	uint32_t want = 0;
	uint64_t want_n = 0;
	for (int n = 0; (n = gzread(f, piece, sizeof(piece))) > 0; want_n += (uint64_t)n)
		want = fsc_crc32c(want, piece, (size_t)n);
	gzclose(f);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	struct fsc_source *s = fsc_source_gzip(fsc_source_fd(fd));
	uint32_t got = 0;
	size_t n = 0;
	struct fsc_err e = FSC_ERR_INIT;
	enum fsc_status st;
	while ((st = fsc_source_read(s, piece, sizeof(piece), &n, &e)) == FSC_OK)
		got = fsc_crc32c(got, piece, n);
	assert_int_equal(st, FSC_END);
	assert_int_equal(s->consumed, want_n);
	assert_int_equal(got, want);
	fsc_source_free(s);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whatever_zlib_wrote_is_read_in_pieces_of_any_size),
		cmocka_unit_test(every_set_of_header_fields_is_read),
		cmocka_unit_test(a_wrong_header_is_told),
		cmocka_unit_test(members_join),
		cmocka_unit_test(zero_padding_is_tolerated_and_other_bytes_are_not),
		cmocka_unit_test(a_cut_at_every_byte_is_told_as_truncated),
		cmocka_unit_test(what_can_be_decoded_before_a_cut_comes_out_whatever_the_pieces),
		cmocka_unit_test(no_flipped_bit_gives_other_content_in_silence),
		cmocka_unit_test(a_wrong_length_is_told_apart_from_a_wrong_checksum),
		cmocka_unit_test(a_bomb_is_stopped_soon_after_the_grace),
		cmocka_unit_test(a_fault_below_comes_through_behind_the_bytes_before_it),
		cmocka_unit_test(random_bytes_behind_a_header_never_pass),
		cmocka_unit_test(a_real_trace_reads_as_with_zlib),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
