/* SPDX-License-Identifier: Apache-2.0 */
/* The protobuf writer against bytes given in the encoding guide of protobuf.dev and against its own limits. */
#include "tests/support/test.h"

#include <string.h>

#include "export/pb.h"

static void assert_bytes(struct fsc_buf *b, const void *want, size_t n)
{
	assert_int_equal(fsc_buf_status(b), FSC_OK);
	assert_int_equal(b->len, n);
	assert_memory_equal(b->data, want, n);
	fsc_buf_fini(b);
}

static void scalars_match_the_encoding_guide(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(256);

	(void)state;
	pb_uint(&b, 1, 150);
	pb_str(&b, 2, "testing");
	assert_bytes(&b, "\x08\x96\x01\x12\x07testing", 12);
	fsc_buf_init(&b, 256);
	pb_int(&b, 1, -2);
	assert_bytes(&b, "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11);
	fsc_buf_init(&b, 256);
	pb_fixed64(&b, 3, 0x0102030405060708ULL);
	pb_double(&b, 3000, 1.0);
	assert_bytes(&b, "\x19\x08\x07\x06\x05\x04\x03\x02\x01\xc1\xbb\x01\0\0\0\0\0\0\xf0\x3f",
		     20);
}

static void a_nested_message_carries_its_length_whatever_the_length_takes(void **state)
{
	static const size_t sizes[] = { 0, 1, 126, 127, 128, 129, 16383, 16384, 300000 };

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(sizes); i++) {
		struct fsc_buf b = FSC_BUF_INIT(1 << 20);
		size_t m = pb_begin(&b, 3), n = 1, body = 0, shift = 0;

		for (size_t k = 0; k < sizes[i]; k++)
			fsc_buf_addc(&b, (char)('a' + k % 26));
		pb_end(&b, m);
		assert_int_equal((uint8_t)b.data[0], 0x1a);
		do {
			body |= (size_t)((uint8_t)b.data[n] & 127) << shift;
			shift += 7;
		} while ((uint8_t)b.data[n++] & 128);
		assert_int_equal(body, sizes[i]);
		assert_int_equal(b.len, n + body);
		for (size_t k = 0; k < body; k++)
			assert_int_equal(b.data[n + k], 'a' + (char)(k % 26));
		fsc_buf_fini(&b);
	}
}

static void a_full_buffer_fails_without_writing_past_its_maximum(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(64);
	size_t m = pb_begin(&b, 1);

	(void)state;
	for (int i = 0; i < 100; i++)
		pb_str(&b, 2, "some text that does not fit");
	pb_end(&b, m);
	assert_int_equal(fsc_buf_status(&b), FSC_ELIMIT);
	assert_true(b.len <= 64);
	fsc_buf_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scalars_match_the_encoding_guide),
		cmocka_unit_test(a_nested_message_carries_its_length_whatever_the_length_takes),
		cmocka_unit_test(a_full_buffer_fails_without_writing_past_its_maximum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
