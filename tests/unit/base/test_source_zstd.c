/* SPDX-License-Identifier: Apache-2.0 */
/* The zstd source. */
#include "base/source.h"

#include <zstd.h>

#include "base/attr.h"
#include "base/bytes.h"
#include "base/limits.h"
#include "tests/unit/base/source_util.h"

static void add_frame(struct fsc_buf *b, const void *p, size_t n, int level)
{
	ZSTD_CCtx *c = ZSTD_createCCtx();
	assert_non_null(c);
	ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, level);
	ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
	size_t bound = ZSTD_compressBound(n);
	char *dst = fsc_buf_room(b, bound);
	assert_non_null(dst);
	size_t r = ZSTD_compress2(c, dst, bound, p, n);
	assert_false(ZSTD_isError(r));
	b->len += r;
	ZSTD_freeCCtx(c);
}

static void add_skippable(struct fsc_buf *b, uint32_t n)
{
	fsc_buf_u32(b, 0x184D2A5Au);
	fsc_buf_u32(b, n);
	for (uint32_t i = 0; i < n; i++)
		fsc_buf_u8(b, (uint8_t)i);
}

static enum fsc_status unzstd(struct fsc_buf *out, const void *z, size_t n, size_t in_step,
			      size_t out_step, struct fsc_err *err)
{
	void *exact = malloc(n ? n : 1);
	assert_non_null(exact);
	memcpy(exact, z, n);
	fsc_buf_clear(out);
	struct dribble *d = dribble_new(exact, n, in_step);
	enum fsc_status st = drain(fsc_source_zstd(&d->base), out_step, out, err);
	free(exact);
	return st;
}

static void frames_of_any_size_are_read_in_pieces_of_any_size(void **state)
{
	(void)state;
	static const size_t sizes[] = { 0, 1, 100, 5000, 131072, 131073, 600000 };
	static const size_t steps[] = { 1, 17, 1000, 300000 };
	struct fsc_buf plain = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_buf z = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_buf out = FSC_BUF_INIT(SIZE_MAX);
	for (size_t i = 0; i < FSC_ARRAY_LEN(sizes); i++) {
		fsc_buf_clear(&plain);
		sample(&plain, sizes[i]);
		for (int level = 1; level < 20; level += 9) {
			fsc_buf_clear(&z);
			add_frame(&z, plain.data, plain.len, level);
			for (size_t s = 0; s < 16; s++) {
				if (sizes[i] > 6000 && (steps[s / 4] < 1000 || steps[s % 4] < 1000))
					continue;
				struct fsc_err e = FSC_ERR_INIT;
				if (unzstd(&out, z.data, z.len, steps[s / 4], steps[s % 4], &e) !=
				    FSC_END)
					fail_msg("%zu bytes, level %d: %s", sizes[i], level, e.msg);
				assert_int_equal(out.len, plain.len);
				assert_memory_equal(out.data, plain.data, plain.len);
			}
		}
	}
	fsc_buf_fini(&plain);
	fsc_buf_fini(&z);
	fsc_buf_fini(&out);
}

static void data_that_does_not_compress_is_read(void **state)
{
	(void)state;
	struct fsc_buf plain = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_buf z = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_buf out = FSC_BUF_INIT(SIZE_MAX);
	uint32_t x = 5;
	for (int i = 0; i < 500000; i++) {
		x = x * 1664525u + 1013904223u;
		fsc_buf_u8(&plain, (uint8_t)(x >> 24));
	}
	for (int i = 0; i < 3; i++)
		add_frame(&z, plain.data, plain.len, 3);
	assert_true(z.len > 3 * plain.len);
	for (size_t step = 1000; step < 10000000; step *= 10) {
		struct fsc_err e = FSC_ERR_INIT;
		assert_int_equal(unzstd(&out, z.data, z.len, step, 77777, &e), FSC_END);
		assert_int_equal(out.len, 3 * plain.len);
		for (size_t i = 0; i < 3; i++)
			assert_memory_equal(out.data + i * plain.len, plain.data, plain.len);
	}
	fsc_buf_fini(&plain);
	fsc_buf_fini(&z);
	fsc_buf_fini(&out);
}

static void frames_join_and_skippable_frames_are_skipped(void **state)
{
	(void)state;
	struct fsc_buf z = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_buf out = FSC_BUF_INIT(SIZE_MAX);
	add_skippable(&z, 0);
	add_frame(&z, "one ", 4, 3);
	add_skippable(&z, 5000);
	add_frame(&z, "", 0, 3);
	add_frame(&z, "two", 3, 3);
	add_skippable(&z, 3);
	for (size_t step = 1; step < 10000; step += step < 100 ? 1 : 3000) {
		struct fsc_err e = FSC_ERR_INIT;
		assert_int_equal(unzstd(&out, z.data, z.len, step, 2, &e), FSC_END);
		assert_string_equal(out.data, "one two");
	}
	fsc_buf_fini(&z);
	fsc_buf_fini(&out);
}

static void a_cut_at_every_byte_is_told_as_truncated(void **state)
{
	(void)state;
	struct fsc_buf plain = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_buf z = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_buf out = FSC_BUF_INIT(SIZE_MAX);
	sample(&plain, 3000);
	add_frame(&z, plain.data, 1500, 3);
	size_t first = z.len;
	add_skippable(&z, 40);
	size_t skip = z.len;
	add_frame(&z, plain.data + 1500, 1500, 3);
	for (size_t cut = 0; cut <= z.len; cut++) {
		for (size_t step = 1; step < 10000; step += 9000) {
			struct fsc_err e = FSC_ERR_INIT;
			enum fsc_status st = unzstd(&out, z.data, cut, step, 500, &e);
			if (cut == first || cut == skip || cut == z.len) {
				assert_int_equal(st, FSC_END);
			} else {
				if (st != FSC_ECORRUPT || strcmp(e.code, "zstd_truncated") != 0)
					fail_msg("cut at %zu: %d %s %s", cut, st, e.code, e.msg);
				assert_int_equal(e.offset, out.len);
			}
			assert_true(out.len <= plain.len);
			assert_memory_equal(out.data, plain.data, out.len);
		}
	}
	fsc_buf_fini(&plain);
	fsc_buf_fini(&z);
	fsc_buf_fini(&out);
}

static void no_flipped_bit_gives_other_content_in_silence(void **state)
{
	(void)state;
	struct fsc_buf plain = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_buf z = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_buf out = FSC_BUF_INIT(SIZE_MAX);
	sample(&plain, 2500);
	add_frame(&z, plain.data, plain.len, 3);
	unsigned n_noticed = 0;
	for (size_t bit = 0; bit < z.len * 8; bit++) {
		struct fsc_err e = FSC_ERR_INIT;
		z.data[bit / 8] ^= (char)(1 << bit % 8);
		enum fsc_status st = unzstd(&out, z.data, z.len, 1000, 5000, &e);
		z.data[bit / 8] ^= (char)(1 << bit % 8);
		if (st == FSC_END) {
			/* a bit that means nothing, such as the unused one of the descriptor */
			assert_int_equal(out.len, plain.len);
			assert_memory_equal(out.data, plain.data, plain.len);
			continue;
		}
		n_noticed++;
		assert_true(st == FSC_ECORRUPT || st == FSC_EPARSE || st == FSC_ELIMIT);
	}
	assert_true(n_noticed > z.len * 8 * 98 / 100);
	fsc_buf_fini(&plain);
	fsc_buf_fini(&z);
	fsc_buf_fini(&out);
}

static void other_bytes_are_told_by_their_place(void **state)
{
	(void)state;
	struct fsc_buf z = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_buf out = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_err e = FSC_ERR_INIT;
	assert_int_equal(unzstd(&out, "not zstd at all", 15, 100, 100, &e), FSC_EPARSE);
	assert_string_equal(e.code, "zstd_header");
	assert_int_equal(unzstd(&out, "", 0, 100, 100, &e), FSC_ECORRUPT);
	assert_string_equal(e.code, "zstd_truncated");
	add_frame(&z, "hello", 5, 3);
	fsc_buf_adds(&z, "garbage");
	assert_int_equal(unzstd(&out, z.data, z.len, 100, 100, &e), FSC_EPARSE);
	assert_string_equal(e.code, "zstd_trailing");
	assert_string_equal(out.data, "hello");
	assert_int_equal(e.offset, 5);
	fsc_buf_fini(&z);
	fsc_buf_fini(&out);
}

static void formats_from_before_zstd_0_8_are_refused(void **state)
{
	(void)state;
	struct fsc_buf out = FSC_BUF_INIT(SIZE_MAX);
	for (unsigned version = 0x1e; version <= 0x27; version++) {
		uint8_t z[] = { (uint8_t)version, 0xb5, 0x2f, 0xfd, 0x40, 0xfc, 0xfc, 0xff, 0x3d };
		for (size_t step = 1; step < 20; step += 18) {
			struct fsc_err e = FSC_ERR_INIT;
			assert_int_equal(unzstd(&out, z, sizeof(z), step, 100, &e), FSC_EPARSE);
			assert_string_equal(e.code, "zstd_header");
		}
	}
	fsc_buf_fini(&out);
}

static void a_window_past_the_limit_is_refused(void **state)
{
	(void)state;
	/* magic, descriptor 0 (window follows), exponent, then a raw last block of one byte */
	uint8_t z[] = {
		0x28, 0xb5, 0x2f, 0xfd, 0, (FSC_MAX_ZSTD_WINDOW_LOG - 10) << 3, 9, 0, 0, 'x'
	};
	struct fsc_buf out = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_err e = FSC_ERR_INIT;
	assert_int_equal(unzstd(&out, z, sizeof(z), 100, 100, &e), FSC_END);
	assert_string_equal(out.data, "x");
	z[5] += 1 << 3;
	assert_int_equal(unzstd(&out, z, sizeof(z), 100, 100, &e), FSC_ELIMIT);
	assert_string_equal(e.code, "zstd_window");
	fsc_buf_fini(&out);
}

static void a_bomb_is_stopped_soon_after_the_grace(void **state)
{
	(void)state;
	size_t grace = (size_t)FSC_RATIO_GRACE_BYTES;
	char *zeros = fsc_xalloc(2 * grace, 1);
	static char piece[1 << 16];
	struct fsc_buf z = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_err e = FSC_ERR_INIT;
	add_frame(&z, zeros, 2 * grace, 1);
	struct fsc_source *s = fsc_source_zstd(fsc_source_mem(z.data, z.len));
	size_t n = 0;
	enum fsc_status st = FSC_OK;
	while (st == FSC_OK)
		st = fsc_source_read(s, piece, sizeof(piece), &n, &e);
	assert_int_equal(st, FSC_ELIMIT);
	assert_string_equal(e.code, "bomb");
	assert_true(s->consumed >= grace - sizeof(piece) && s->consumed <= grace + sizeof(piece));
	fsc_source_free(s);
	fsc_buf_fini(&z);
	fsc_free(zeros);
}

static void a_fault_below_comes_through_behind_the_bytes_before_it(void **state)
{
	(void)state;
	struct fsc_buf plain = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_buf z = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_buf out = FSC_BUF_INIT(SIZE_MAX);
	int n_freed = 0;
	sample(&plain, 50000);
	add_frame(&z, plain.data, plain.len, 3);
	for (size_t cut = 0; cut < z.len; cut += 7) {
		struct fsc_err e = FSC_ERR_INIT;
		struct dribble *d = dribble_new(z.data, cut, 100);
		d->last = FSC_EIO;
		d->n_freed = &n_freed;
		fsc_buf_clear(&out);
		assert_int_equal(drain(fsc_source_zstd(&d->base), 1000, &out, &e), FSC_EIO);
		assert_string_equal(e.code, "planted");
		assert_memory_equal(out.data, plain.data, out.len);
	}
	assert_int_equal(n_freed, (z.len + 6) / 7);
	fsc_buf_fini(&plain);
	fsc_buf_fini(&z);
	fsc_buf_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_of_any_size_are_read_in_pieces_of_any_size),
		cmocka_unit_test(data_that_does_not_compress_is_read),
		cmocka_unit_test(frames_join_and_skippable_frames_are_skipped),
		cmocka_unit_test(a_cut_at_every_byte_is_told_as_truncated),
		cmocka_unit_test(no_flipped_bit_gives_other_content_in_silence),
		cmocka_unit_test(other_bytes_are_told_by_their_place),
		cmocka_unit_test(formats_from_before_zstd_0_8_are_refused),
		cmocka_unit_test(a_window_past_the_limit_is_refused),
		cmocka_unit_test(a_bomb_is_stopped_soon_after_the_grace),
		cmocka_unit_test(a_fault_below_comes_through_behind_the_bytes_before_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
