/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation, checked sizes, typed vectors. */
#include "base/alloc.h"

#include "base/vec.h"
#include "tests/support/test.h"

/* Impossible sizes shall give NULL under AddressSanitizer too, as they do without it. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static void memory_comes_zeroed(void **state)
{
	(void)state;
	unsigned char *p = fsc_alloc(100, 3);
	assert_non_null(p);
	for (int i = 0; i < 300; i++)
		assert_int_equal(p[i], 0);
	fsc_free(p);
	unsigned char *q = fsc_xalloc(10, 1);
	for (int i = 0; i < 10; i++)
		assert_int_equal(q[i], 0);
	fsc_free(q);
}

static void nothing_asked_is_no_failure(void **state)
{
	(void)state;
	void *p = fsc_alloc(0, 8);
	assert_non_null(p);
	fsc_free(p);
	p = fsc_alloc(8, 0);
	assert_non_null(p);
	p = fsc_realloc(p, 0, 8);
	assert_non_null(p);
	fsc_free(p);
	fsc_free(NULL);
}

static void a_size_that_overflows_fails(void **state)
{
	(void)state;
	volatile size_t half = SIZE_MAX / 2;
	assert_null(fsc_alloc(half, 3));
	char *p = fsc_xalloc(4, 1);
	p[0] = 'k';
	assert_null(fsc_realloc(p, half, 3));
	assert_int_equal(p[0], 'k');
	fsc_free(p);
}

static void checked_arithmetic_leaves_the_result_alone_on_overflow(void **state)
{
	(void)state;
	size_t r = 7;
	assert_false(fsc_mul_size(&r, SIZE_MAX, 2));
	assert_int_equal(r, 7);
	assert_false(fsc_add_size(&r, SIZE_MAX, 1));
	assert_int_equal(r, 7);
	assert_true(fsc_mul_size(&r, SIZE_MAX, 1));
	assert_true(r == SIZE_MAX);
	assert_true(fsc_add_size(&r, SIZE_MAX - 1, 1));
	assert_true(r == SIZE_MAX);
	assert_true(fsc_mul_size(&r, 6, 7));
	assert_int_equal(r, 42);
}

static void texts_are_copied(void **state)
{
	(void)state;
	assert_null(fsc_xstrdup(NULL));
	assert_null(fsc_xstrndup(NULL, 3));
	char *s = fsc_xstrdup("abc");
	assert_string_equal(s, "abc");
	fsc_free(s);
	s = fsc_xstrndup("abcdef", 2);
	assert_string_equal(s, "ab");
	fsc_free(s);
	s = fsc_xstrndup("ab", 50);
	assert_string_equal(s, "ab");
	fsc_free(s);
	s = fsc_xasprintf("%s-%d", "x", 12);
	assert_string_equal(s, "x-12");
	fsc_free(s);
}

static void a_vector_keeps_what_was_pushed(void **state)
{
	(void)state;
	FSC_VEC(int64_t) v = { 0 };
	for (int64_t i = 0; i < 10000; i++)
		assert_true(fsc_vec_push(&v, i * i));
	assert_int_equal(v.n, 10000);
	for (int64_t i = 0; i < 10000; i++)
		assert_true(v.v[i] == i * i);
	fsc_vec_fini(&v);
	assert_null(v.v);
	assert_int_equal(v.n, 0);
}

static void a_vector_that_cannot_grow_is_unchanged(void **state)
{
	(void)state;
	FSC_VEC(uint32_t) v = { 0 };
	assert_true(fsc_vec_push(&v, 5));
	uint32_t *before = v.v;
	size_t cap = v.cap;
	volatile size_t want = SIZE_MAX / 2;
	assert_false(fsc_vec_reserve(&v, want));
	assert_ptr_equal(v.v, before);
	assert_int_equal(v.cap, cap);
	assert_int_equal(v.v[0], 5);
	assert_true(fsc_vec_reserve(&v, 1000));
	assert_true(v.cap >= 1000);
	assert_int_equal(v.v[0], 5);
	fsc_vec_fini(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_comes_zeroed),
		cmocka_unit_test(nothing_asked_is_no_failure),
		cmocka_unit_test(a_size_that_overflows_fails),
		cmocka_unit_test(checked_arithmetic_leaves_the_result_alone_on_overflow),
		cmocka_unit_test(texts_are_copied),
		cmocka_unit_test(a_vector_keeps_what_was_pushed),
		cmocka_unit_test(a_vector_that_cannot_grow_is_unchanged),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
