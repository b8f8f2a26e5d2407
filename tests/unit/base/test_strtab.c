/* SPDX-License-Identifier: Apache-2.0 */
/* The string interner. */
#include "base/strtab.h"

#include "base/alloc.h"
#include "base/limits.h"
#include "tests/support/test.h"

static uint32_t put(struct fsc_strtab *t, const char *s, size_t n)
{
	uint32_t id = UINT32_MAX;
	assert_int_equal(fsc_strtab_put(&id, t, s, n), FSC_OK);
	return id;
}

static void the_empty_string_is_id_0(void **state)
{
	(void)state;
	struct fsc_strtab *t = fsc_strtab_new();
	assert_int_equal(fsc_strtab_count(t), 1);
	assert_int_equal(put(t, "", 0), 0);
	assert_int_equal(put(t, NULL, 0), 0);
	assert_int_equal(fsc_strtab_find(t, "", 0), 0);
	size_t n = 9;
	assert_string_equal(fsc_strtab_get(t, 0, &n), "");
	assert_int_equal(n, 0);
	assert_int_equal(fsc_strtab_count(t), 1);
	assert_int_equal(fsc_strtab_bytes(t), 0);
	fsc_strtab_free(t);
	fsc_strtab_free(NULL);
}

static void equal_bytes_give_equal_ids_in_order_of_first_put(void **state)
{
	(void)state;
	struct fsc_strtab *t = fsc_strtab_new();
	assert_int_equal(put(t, "a", 1), 1);
	assert_int_equal(put(t, "b", 1), 2);
	assert_int_equal(put(t, "a", 1), 1);
	assert_int_equal(put(t, "a\0", 2), 3);
	assert_int_equal(put(t, "a\0x", 3), 4);
	assert_int_equal(put(t, "a\0", 2), 3);
	size_t n = 0;
	assert_memory_equal(fsc_strtab_get(t, 4, &n), "a\0x", 4);
	assert_int_equal(n, 3);
	assert_int_equal(fsc_strtab_count(t), 5);
	assert_int_equal(fsc_strtab_bytes(t), 7);
	assert_int_equal(fsc_strtab_find(t, "b", 1), 2);
	assert_true(fsc_strtab_find(t, "c", 1) == UINT32_MAX);
	assert_int_equal(fsc_strtab_count(t), 5);
	fsc_strtab_free(t);
}

/* The text of string i: lengths 1..~700 so that all branches of the hash and big chunks are met. */
static size_t text_of(char *dst, uint32_t i)
{
	size_t n = (size_t)snprintf(dst, 32, "s%u", i);
	size_t pad = i % 97 == 0 ? i % 700 : i % 23;
	memset(dst + n, 'a' + (int)(i % 26), pad);
	return n + pad;
}

static void many_strings_keep_ids_bytes_and_addresses(void **state)
{
	(void)state;
	enum { N = 200000 };
	struct fsc_strtab *t = fsc_strtab_new();
	const char **at = fsc_xalloc(N + 1, sizeof(*at));
	char text[800];
	size_t bytes = 0;
	for (uint32_t i = 1; i <= N; i++) {
		size_t n = text_of(text, i);
		bytes += n;
		if (put(t, text, n) != i)
			fail_msg("string %u got another id", i);
		at[i] = fsc_strtab_get(t, i, NULL);
	}
	assert_int_equal(fsc_strtab_count(t), N + 1);
	assert_int_equal(fsc_strtab_bytes(t), bytes);
	for (uint32_t i = 1; i <= N; i++) {
		size_t n = text_of(text, i);
		size_t got = 0;
		const char *s = fsc_strtab_get(t, i, &got);
		if (s != at[i] || got != n || memcmp(s, text, n) != 0 || s[n] != '\0')
			fail_msg("string %u changed", i);
		if (put(t, text, n) != i || fsc_strtab_find(t, text, n) != i)
			fail_msg("string %u is not found again", i);
	}
	assert_int_equal(fsc_strtab_count(t), N + 1);
	fsc_free(at);
	fsc_strtab_free(t);
}

static void a_string_of_megabytes_is_kept(void **state)
{
	(void)state;
	size_t n = 5u << 20;
	char *big = fsc_xalloc(n, 1);
	memset(big, 'q', n);
	struct fsc_strtab *t = fsc_strtab_new();
	assert_int_equal(put(t, "before", 6), 1);
	assert_int_equal(put(t, big, n), 2);
	assert_int_equal(put(t, "after", 5), 3);
	assert_int_equal(put(t, big, n), 2);
	assert_int_equal(put(t, big, n - 1), 4);
	size_t got = 0;
	const char *s = fsc_strtab_get(t, 2, &got);
	assert_int_equal(got, n);
	assert_memory_equal(s, big, n);
	assert_string_equal(fsc_strtab_get(t, 1, NULL), "before");
	fsc_strtab_free(t);
	fsc_free(big);
}

static void the_limit_on_bytes_holds(void **state)
{
	(void)state;
	size_t n = 64u << 20;
	char *big = fsc_xalloc(n, 1);
	struct fsc_strtab *t = fsc_strtab_new();
	for (char c = 1; c <= 3; c++) {
		big[0] = c;
		put(t, big, n);
	}
	big[0] = 4;
	put(t, big, n - 1);
	put(t, "z", 1);
	assert_true(fsc_strtab_bytes(t) == FSC_MAX_STRING_BYTES);
	uint32_t id = 7;
	assert_int_equal(fsc_strtab_put(&id, t, "y", 1), FSC_ELIMIT);
	assert_int_equal(id, 7);
	/* what is there is still found */
	assert_int_equal(put(t, "z", 1), 5);
	assert_true(fsc_strtab_find(t, "y", 1) == UINT32_MAX);
	fsc_strtab_free(t);
	fsc_free(big);
}

static void the_limit_on_count_holds(void **state)
{
	(void)state;
	struct fsc_strtab *t = fsc_strtab_new();
	for (uint32_t i = 1; i < FSC_MAX_STRINGS; i++) {
		uint32_t id = 0;
		if (fsc_strtab_put(&id, t, (const char *)&i, sizeof(i)) != FSC_OK || id != i)
			fail_msg("string %u was refused", i);
	}
	uint32_t id = 0;
	assert_int_equal(fsc_strtab_put(&id, t, "new", 3), FSC_ELIMIT);
	assert_int_equal(fsc_strtab_count(t), FSC_MAX_STRINGS);
	fsc_strtab_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_empty_string_is_id_0),
		cmocka_unit_test(equal_bytes_give_equal_ids_in_order_of_first_put),
		cmocka_unit_test(many_strings_keep_ids_bytes_and_addresses),
		cmocka_unit_test(a_string_of_megabytes_is_kept),
		cmocka_unit_test(the_limit_on_bytes_holds),
		cmocka_unit_test(the_limit_on_count_holds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
