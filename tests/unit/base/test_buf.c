/* SPDX-License-Identifier: Apache-2.0 */
/* Bounded buffers. */
#include "base/buf.h"

#include "base/alloc.h"
#include "tests/support/test.h"

/* Impossible sizes shall give NULL under AddressSanitizer too, as they do without it. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static void appends_join_and_end_in_nul(void **state)
{
	(void)state;
	struct fsc_buf b = FSC_BUF_INIT(1000);
	fsc_buf_add(&b, "ab\0c", 4);
	fsc_buf_adds(&b, "de");
	fsc_buf_addc(&b, 'f');
	fsc_buf_addf(&b, "%d|%s", 12, "x");
	fsc_buf_addi(&b, INT64_MIN);
	fsc_buf_addc(&b, ' ');
	fsc_buf_addu(&b, UINT64_MAX);
	assert_int_equal(fsc_buf_status(&b), FSC_OK);
	static const char want[] = "ab\0cdef12|x-9223372036854775808 18446744073709551615";
	assert_int_equal(b.len, sizeof(want) - 1);
	assert_memory_equal(b.data, want, sizeof(want));
	fsc_buf_fini(&b);
	assert_null(b.data);
	assert_int_equal(b.max, 1000);
}

static void the_maximum_may_be_reached_and_not_passed(void **state)
{
	(void)state;
	for (size_t max = 0; max < 200; max++) {
		struct fsc_buf b = FSC_BUF_INIT(max);
		for (size_t i = 0; i < max; i++)
			fsc_buf_addc(&b, 'x');
		assert_int_equal(fsc_buf_status(&b), FSC_OK);
		assert_int_equal(b.len, max);
		fsc_buf_addc(&b, 'y');
		assert_int_equal(fsc_buf_status(&b), FSC_ELIMIT);
		assert_int_equal(b.len, max);
		if (b.data)
			assert_int_equal(b.data[max], 0);
		fsc_buf_fini(&b);
	}
}

static void a_failed_buffer_takes_nothing_more(void **state)
{
	(void)state;
	struct fsc_buf b = FSC_BUF_INIT(4);
	fsc_buf_adds(&b, "abc");
	fsc_buf_adds(&b, "toolong");
	fsc_buf_addc(&b, 'd');
	fsc_buf_addf(&b, "%d", 1);
	assert_null(fsc_buf_room(&b, 0));
	assert_int_equal(fsc_buf_status(&b), FSC_ELIMIT);
	assert_string_equal(b.data, "abc");
	fsc_buf_clear(&b);
	assert_int_equal(fsc_buf_status(&b), FSC_OK);
	assert_string_equal(b.data, "");
	fsc_buf_adds(&b, "wxyz");
	assert_string_equal(b.data, "wxyz");
	fsc_buf_fini(&b);
}

static void formatting_obeys_the_maximum(void **state)
{
	(void)state;
	struct fsc_buf b = FSC_BUF_INIT(100);
	fsc_buf_addf(&b, "%099d", 0);
	assert_int_equal(b.len, 99);
	fsc_buf_addf(&b, "%d", 12);
	assert_int_equal(fsc_buf_status(&b), FSC_ELIMIT);
	assert_int_equal(strlen(b.data), 99);
	fsc_buf_fini(&b);

	/* the smallest allocation is larger than this maximum */
	struct fsc_buf tiny = FSC_BUF_INIT(3);
	fsc_buf_addf(&tiny, "%s", "abcd");
	assert_int_equal(fsc_buf_status(&tiny), FSC_ELIMIT);
	assert_int_equal(tiny.len, 0);
	assert_string_equal(tiny.data, "");
	fsc_buf_fini(&tiny);
}

static void formatting_grows_for_long_results(void **state)
{
	(void)state;
	struct fsc_buf b = FSC_BUF_INIT(SIZE_MAX);
	fsc_buf_addf(&b, "%05000d", 7);
	assert_int_equal(b.len, 5000);
	assert_int_equal(b.data[4999], '7');
	assert_int_equal(b.data[5000], 0);
	fsc_buf_fini(&b);
}

static void room_can_be_written_into(void **state)
{
	(void)state;
	struct fsc_buf b = FSC_BUF_INIT(5000);
	char *p = fsc_buf_room(&b, 3000);
	assert_non_null(p);
	memset(p, 'r', 3000);
	b.len += 3000;
	assert_null(fsc_buf_room(&b, 2001));
	assert_int_equal(fsc_buf_status(&b), FSC_ELIMIT);
	assert_int_equal(b.data[2999], 'r');
	fsc_buf_fini(&b);
}

static void memory_that_cannot_be_had_is_told_apart_from_the_limit(void **state)
{
	(void)state;
	struct fsc_buf b = FSC_BUF_INIT(SIZE_MAX);
	fsc_buf_addc(&b, 'x');
	assert_null(fsc_buf_room(&b, SIZE_MAX / 2 - 64));
	assert_int_equal(fsc_buf_status(&b), FSC_ENOMEM);
	fsc_buf_clear(&b);
	fsc_buf_addc(&b, 'x');
	assert_null(fsc_buf_room(&b, SIZE_MAX - 1));
	assert_int_equal(fsc_buf_status(&b), FSC_ELIMIT);
	fsc_buf_fini(&b);
}

static void taking_moves_the_bytes(void **state)
{
	(void)state;
	struct fsc_buf b = FSC_BUF_INIT(100);
	fsc_buf_adds(&b, "hello");
	size_t n = 0;
	char *p = fsc_buf_take(&b, &n);
	assert_string_equal(p, "hello");
	assert_int_equal(n, 5);
	assert_null(b.data);
	assert_int_equal(b.len, 0);
	fsc_free(p);

	p = fsc_buf_take(&b, NULL);
	assert_string_equal(p, "");
	fsc_free(p);

	struct fsc_buf failed = FSC_BUF_INIT(2);
	fsc_buf_adds(&failed, "abc");
	n = 9;
	assert_null(fsc_buf_take(&failed, &n));
	assert_int_equal(n, 0);
	assert_int_equal(fsc_buf_status(&failed), FSC_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(appends_join_and_end_in_nul),
		cmocka_unit_test(the_maximum_may_be_reached_and_not_passed),
		cmocka_unit_test(a_failed_buffer_takes_nothing_more),
		cmocka_unit_test(formatting_obeys_the_maximum),
		cmocka_unit_test(formatting_grows_for_long_results),
		cmocka_unit_test(room_can_be_written_into),
		cmocka_unit_test(memory_that_cannot_be_had_is_told_apart_from_the_limit),
		cmocka_unit_test(taking_moves_the_bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
