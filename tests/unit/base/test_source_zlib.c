/* SPDX-License-Identifier: Apache-2.0 */
/* The zlib source. */
#include "base/source.h"

#include <zlib.h>

#include "base/attr.h"
#include "base/limits.h"
#include "tests/unit/base/source_util.h"

static void deflate_into(struct fsc_buf *z, const void *p, size_t n)
{
	uLongf len = compressBound(n);
	char *room = fsc_buf_room(z, len);

	assert_non_null(room);
	assert_int_equal(compress2((Bytef *)room, &len, p, n, 6), Z_OK);
	z->len += len;
}

static enum fsc_status unzlib(struct fsc_buf *out, const void *z, size_t n, size_t step,
			      struct fsc_err *err)
{
	void *exact = malloc(n ? n : 1);
	enum fsc_status st;

	assert_non_null(exact);
	memcpy(exact, z, n);
	fsc_buf_clear(out);
	fsc_err_clear(err);
	st = drain(fsc_source_zlib(&dribble_new(exact, n, step)->base), 1000, out, err);
	free(exact);
	return st;
}

static void streams_are_read_whole(void **state)
{
	static const size_t sizes[] = { 0, 1, 5000, 300000 }, steps[] = { 1, 17, 100000 };
	struct fsc_buf plain = FSC_BUF_INIT(SIZE_MAX), z = FSC_BUF_INIT(SIZE_MAX),
		       out = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_err err = FSC_ERR_INIT;

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(sizes); i++) {
		fsc_buf_clear(&plain);
		fsc_buf_clear(&z);
		sample(&plain, sizes[i]);
		deflate_into(&z, plain.data, plain.len);
		for (size_t k = 0; k < FSC_ARRAY_LEN(steps); k++) {
			assert_int_equal(unzlib(&out, z.data, z.len, steps[k], &err), FSC_END);
			assert_int_equal(out.len, plain.len);
			assert_true(!plain.len || !memcmp(out.data, plain.data, plain.len));
		}
	}
	fsc_buf_fini(&plain);
	fsc_buf_fini(&z);
	fsc_buf_fini(&out);
}

static void damage_is_always_told(void **state)
{
	struct fsc_buf plain = FSC_BUF_INIT(SIZE_MAX), z = FSC_BUF_INIT(SIZE_MAX),
		       out = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_err err = FSC_ERR_INIT;

	(void)state;
	sample(&plain, 2000);
	deflate_into(&z, plain.data, plain.len);
	for (size_t n = 0; n < z.len; n++) {
		assert_int_equal(unzlib(&out, z.data, n, 100, &err), FSC_ECORRUPT);
		assert_string_equal(err.code, "zlib_truncated");
	}
	for (size_t i = 0; i < z.len; i++) {
		z.data[i] ^= 0x10;
		assert_int_equal(unzlib(&out, z.data, z.len, 100, &err), FSC_ECORRUPT);
		z.data[i] ^= 0x10;
	}
	fsc_buf_addc(&z, 'x');
	assert_int_equal(unzlib(&out, z.data, z.len, 100, &err), FSC_ECORRUPT);
	assert_string_equal(err.code, "zlib_trailing");
	fsc_buf_fini(&plain);
	fsc_buf_fini(&z);
	fsc_buf_fini(&out);
}

static void a_bomb_is_stopped(void **state)
{
	size_t n = FSC_RATIO_GRACE_BYTES + (8u << 20);
	char *zeros = calloc(1, n);
	struct fsc_buf z = FSC_BUF_INIT(SIZE_MAX), out = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_err err = FSC_ERR_INIT;

	(void)state;
	assert_non_null(zeros);
	deflate_into(&z, zeros, n);
	assert_int_equal(unzlib(&out, z.data, z.len, 100000, &err), FSC_ELIMIT);
	assert_string_equal(err.code, "bomb");
	free(zeros);
	fsc_buf_fini(&z);
	fsc_buf_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(streams_are_read_whole),
		cmocka_unit_test(damage_is_always_told),
		cmocka_unit_test(a_bomb_is_stopped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
