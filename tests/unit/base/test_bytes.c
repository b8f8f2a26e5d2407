/* SPDX-License-Identifier: Apache-2.0 */
/* Cursors, little-endian numbers, varints. */
#include "base/bytes.h"

#include "tests/support/test.h"

static void numbers_are_little_endian(void **state)
{
	(void)state;
	struct fsc_buf b = FSC_BUF_INIT(100);
	fsc_buf_u8(&b, 0xAB);
	fsc_buf_u16(&b, 0x0102);
	fsc_buf_u32(&b, 0x03040506);
	fsc_buf_u64(&b, 0x0708090A0B0C0D0EULL);
	fsc_buf_u64(&b, (uint64_t)-5);
	static const uint8_t want[] = { 0xAB, 2,    1,	  6,	5,    4,    3,	 0x0E,
					0x0D, 0x0C, 0x0B, 0x0A, 9,    8,    7,	 0xFB,
					0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF };
	assert_int_equal(b.len, sizeof(want));
	assert_memory_equal(b.data, want, sizeof(want));
	struct fsc_cur c = fsc_cur_of(b.data, b.len);
	assert_int_equal(fsc_cur_u8(&c), 0xAB);
	assert_int_equal(fsc_cur_u16(&c), 0x0102);
	assert_int_equal(fsc_cur_u32(&c), 0x03040506);
	assert_true(fsc_cur_u64(&c) == 0x0708090A0B0C0D0EULL);
	assert_true(fsc_cur_i64(&c) == -5);
	assert_int_equal(fsc_cur_left(&c), 0);
	assert_false(c.failed);
	fsc_buf_fini(&b);
}

static void a_read_past_the_end_fails_for_good(void **state)
{
	(void)state;
	static const uint8_t bytes[7] = { 1, 2, 3, 4, 5, 6, 7 };
	struct fsc_cur c = fsc_cur_of(bytes, sizeof(bytes));
	assert_true(fsc_cur_u64(&c) == 0);
	assert_true(c.failed);
	assert_int_equal(fsc_cur_u8(&c), 0);
	assert_null(fsc_cur_bytes(&c, 0));
	struct fsc_cur d = fsc_cur_of(bytes, sizeof(bytes));
	assert_ptr_equal(fsc_cur_bytes(&d, 7), bytes);
	assert_non_null(fsc_cur_bytes(&d, 0));
	assert_null(fsc_cur_bytes(&d, SIZE_MAX));
	assert_true(d.failed);
	struct fsc_cur e = fsc_cur_of(NULL, 0);
	assert_int_equal(fsc_cur_u16(&e), 0);
	assert_true(e.failed);
	struct fsc_cur f = fsc_cur_of(bytes, 3);
	assert_int_equal(fsc_cur_u32(&f), 0);
	assert_true(f.failed);
}

static uint64_t varint_of(const void *p, size_t n, int *ok)
{
	struct fsc_cur c = fsc_cur_of(p, n);
	uint64_t v = fsc_cur_varint(&c);
	*ok = !c.failed && fsc_cur_left(&c) == 0;
	return v;
}

static void varints_have_the_known_bytes(void **state)
{
	(void)state;
	struct fsc_buf b = FSC_BUF_INIT(100);
	fsc_buf_varint(&b, 300); /* the example of the protobuf documentation */
	assert_int_equal(b.len, 2);
	assert_memory_equal(b.data, "\xAC\x02", 2);
	fsc_buf_clear(&b);
	fsc_buf_varint(&b, UINT64_MAX);
	assert_int_equal(b.len, 10);
	assert_memory_equal(b.data, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 10);
	fsc_buf_fini(&b);
}

static void varints_read_back(void **state)
{
	(void)state;
	struct fsc_buf b = FSC_BUF_INIT(100);
	for (unsigned bit = 0; bit <= 64; bit++) {
		for (int d = -1; d <= 1; d++) {
			uint64_t v = (bit == 64 ? 0 : 1ULL << bit) + (uint64_t)(int64_t)d;
			fsc_buf_clear(&b);
			fsc_buf_varint(&b, v);
			int ok = 0;
			assert_true(varint_of(b.data, b.len, &ok) == v && ok);
			for (size_t cut = 0; cut < b.len; cut++) {
				assert_true(varint_of(b.data, cut, &ok) == 0);
				assert_false(ok);
			}
		}
	}
	fsc_buf_fini(&b);
}

static void varints_past_64_bits_are_refused(void **state)
{
	(void)state;
	int ok = 1;
	(void)varint_of("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02", 10, &ok);
	assert_false(ok);
	(void)varint_of("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 11, &ok);
	assert_false(ok);
	(void)varint_of("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x81\x00", 11, &ok);
	assert_false(ok);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_little_endian),
		cmocka_unit_test(a_read_past_the_end_fails_for_good),
		cmocka_unit_test(varints_have_the_known_bytes),
		cmocka_unit_test(varints_read_back),
		cmocka_unit_test(varints_past_64_bits_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
