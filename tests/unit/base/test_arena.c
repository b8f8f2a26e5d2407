/* SPDX-License-Identifier: Apache-2.0 */
/* Arenas: alignment, zeroing, the limit, many sizes at once. */
#include "base/arena.h"

#include "tests/support/test.h"

static void objects_are_zeroed_aligned_and_apart(void **state)
{
	(void)state;
	enum { N = 3000 };
	static unsigned char *p[N];
	struct fsc_arena a;
	fsc_arena_init(&a, SIZE_MAX);
	unsigned seed = 1;
	for (unsigned i = 0; i < N; i++) {
		seed = seed * 1103515245u + 12345u;
		size_t n = (seed >> 16) % (i % 100 == 0 ? 40000 : 300) + 1;
		p[i] = fsc_arena_alloc(&a, n, 1);
		assert_non_null(p[i]);
		assert_int_equal((uintptr_t)p[i] % 16, 0);
		for (size_t k = 0; k < n; k++)
			assert_int_equal(p[i][k], 0);
		memset(p[i], (int)(i % 251) + 1, n);
	}
	for (unsigned i = 0; i < N; i++)
		assert_int_equal(p[i][0], i % 251 + 1);
	fsc_arena_fini(&a);
	assert_null(a.head);
	assert_int_equal(a.used, 0);
}

static void the_limit_holds(void **state)
{
	(void)state;
	struct fsc_arena a;
	fsc_arena_init(&a, 1024);
	for (int i = 0; i < 64; i++)
		assert_non_null(fsc_arena_alloc(&a, 1, 16));
	assert_int_equal(a.used, 1024);
	assert_null(fsc_arena_alloc(&a, 1, 1));
	assert_null(fsc_arena_dup(&a, "", 0));
	assert_null(fsc_arena_printf(&a, "%d", 1));
	fsc_arena_fini(&a);
	fsc_arena_init(&a, SIZE_MAX);
	volatile size_t half = SIZE_MAX / 2;
	assert_null(fsc_arena_alloc(&a, half, 3));
	assert_null(fsc_arena_alloc(&a, SIZE_MAX - (half - half), 1));
	assert_int_equal(a.used, 0);
	fsc_arena_fini(&a);
}

static void texts_are_copied_and_formatted(void **state)
{
	(void)state;
	struct fsc_arena a;
	fsc_arena_init(&a, 100000);
	char *s = fsc_arena_dup(&a, "abc\0def", 7);
	assert_memory_equal(s, "abc\0def", 8);
	assert_string_equal(fsc_arena_dup(&a, NULL, 0), "");
	assert_string_equal(fsc_arena_printf(&a, "%s=%d", "k", 42), "k=42");
	char *longer = fsc_arena_printf(&a, "%09000d", 1);
	assert_int_equal(strlen(longer), 9000);
	assert_memory_equal(s, "abc\0def", 8);
	fsc_arena_fini(&a);
}

static void an_empty_arena_can_be_finished(void **state)
{
	(void)state;
	struct fsc_arena a;
	fsc_arena_init(&a, 10);
	fsc_arena_fini(&a);
	assert_non_null(fsc_arena_alloc(&a, 0, 4));
	fsc_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_are_zeroed_aligned_and_apart),
		cmocka_unit_test(the_limit_holds),
		cmocka_unit_test(texts_are_copied_and_formatted),
		cmocka_unit_test(an_empty_arena_can_be_finished),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
