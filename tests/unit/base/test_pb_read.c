/* SPDX-License-Identifier: Apache-2.0 */
/* Protobuf fields out of bytes that may lie. The good bytes are the examples of protobuf.dev, "Encoding". */
#include "base/pb_read.h"

#include "tests/support/test.h"

static struct fsc_pb_field only(const void *p, size_t n)
{
	struct fsc_cur c = fsc_cur_of(p, n);
	struct fsc_pb_field f = { 0 };

	assert_true(fsc_pb_next(&c, &f));
	assert_false(c.failed);
	struct fsc_pb_field more;
	assert_false(fsc_pb_next(&c, &more));
	assert_false(c.failed);
	return f;
}

static void each_wire_type_is_read(void **state)
{
	(void)state;
	struct fsc_pb_field f = only("\x08\x96\x01", 3);
	assert_int_equal(f.num, 1);
	assert_int_equal(f.wire, FSC_PB_VARINT);
	assert_true(f.v == 150 && fsc_pb_int(&f) == 150);
	f = only("\x12\x07testing", 9);
	assert_int_equal(f.num, 2);
	assert_int_equal(fsc_cur_left(&f.body), 7);
	assert_memory_equal(f.body.p, "testing", 7);
	f = only("\x11\0\0\0\0\0\0\xF8\x3F", 9);
	assert_true(fsc_pb_double(&f) == 1.5);
	f = only("\x15\x04\x03\x02\x01", 5);
	assert_true(f.v == 0x01020304);
	f = only("\x08\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 11); /* int64 -2 */
	assert_true(fsc_pb_int(&f) == -2);
	f = only("\x08\x03", 2); /* sint64 -2 */
	assert_true(fsc_pb_sint(&f) == -2);
	f = only("\xC2\xC1\x08\x00", 4); /* field 17432, empty bytes */
	assert_int_equal(f.num, 17432);
	assert_int_equal(fsc_cur_left(&f.body), 0);
}

static void numbers_come_packed_or_one_by_one(void **state)
{
	(void)state;
	static const uint64_t want[] = { 3, 270, 86942 };
	struct fsc_pb_field f = only("\x32\x06\x03\x8E\x02\x9E\xA7\x05", 8);
	struct fsc_pb_numbers n = FSC_PB_NUMBERS(&f, FSC_PB_VARINT);
	uint64_t v;
	size_t i = 0;

	while (fsc_pb_number(&n, &v))
		assert_true(i < 3 && v == want[i++]);
	assert_int_equal(i, 3);
	assert_false(n.rest.failed);
	f = only("\x30\x8E\x02", 3);
	n = (struct fsc_pb_numbers)FSC_PB_NUMBERS(&f, FSC_PB_VARINT);
	assert_true(fsc_pb_number(&n, &v) && v == 270);
	assert_false(fsc_pb_number(&n, &v));
	f = only("\x32\x09\1\0\0\0\0\0\0\0\2", 11); /* one fixed64 and a rest */
	n = (struct fsc_pb_numbers)FSC_PB_NUMBERS(&f, FSC_PB_FIXED64);
	assert_true(fsc_pb_number(&n, &v) && v == 1);
	assert_false(fsc_pb_number(&n, &v));
	assert_true(n.rest.failed);
	f = only("\x11\7\0\0\0\0\0\0\0", 9);
	n = (struct fsc_pb_numbers)FSC_PB_NUMBERS(&f, FSC_PB_FIXED64);
	assert_true(fsc_pb_number(&n, &v) && v == 7);
	assert_false(fsc_pb_number(&n, &v));
	/* a number of another type than the field should have is not taken for one */
	n = (struct fsc_pb_numbers)FSC_PB_NUMBERS(&f, FSC_PB_VARINT);
	assert_false(fsc_pb_number(&n, &v));
}

static void damage_is_told_where_the_field_begins(void **state)
{
	(void)state;
	static const struct {
		const char *bytes;
		size_t n, at;
	} bad[] = {
		{ "\x08", 1, 0 },	      /* no value */
		{ "\x08\x01\x08\x80", 4, 2 }, /* a varint without its end */
		{ "\x12\x05\x01\x02", 4, 0 }, /* longer than the message */
		{ "\x12\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01x", 12, 0 },
		{ "\x11\1\2\3", 4, 0 },
		{ "\x15\1\2\3", 4, 0 },
		{ "\x00\x01", 2, 0 },					       /* field 0 */
		{ "\x0B\x0C", 2, 0 },					       /* a group */
		{ "\x0E\x01", 2, 0 },					       /* no such type */
		{ "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01\x01", 11, 0 },     /* field 2^61 - 1 */
		{ "\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 12, 0 }, /* 11 bytes */
	};

	for (size_t i = 0; i < FSC_ARRAY_LEN(bad); i++) {
		struct fsc_cur c = fsc_cur_of(bad[i].bytes, bad[i].n);
		struct fsc_pb_field f;

		while (fsc_pb_next(&c, &f))
			;
		assert_true(c.failed);
		assert_int_equal(c.p - c.start, bad[i].at);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_wire_type_is_read),
		cmocka_unit_test(numbers_come_packed_or_one_by_one),
		cmocka_unit_test(damage_is_told_where_the_field_begins),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
