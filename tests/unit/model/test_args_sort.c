/* SPDX-License-Identifier: Apache-2.0 */
/* The args store, read back by hand, and the sort. */
#include <zstd.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/crc.h"
#include "base/limits.h"
#include "model/args.h"
#include "model/sort.h"
#include "tests/support/test.h"

static void records_come_back_block_by_block(void **state)
{
	struct fsc_args *a = fsc_args_new();
	uint32_t id, n_blocks, record = 0;
	char text[64];
	char *big = fsc_xalloc(300000, 1);
	uint64_t stored;

	(void)state;
	memset(big, 'x', 299999);
	for (uint32_t i = 0; i < 20000; i++) {
		snprintf(text, sizeof(text), "{\"External id\":%u}", i * 7);
		assert_int_equal(fsc_args_put(&id, a, text, strlen(text)), FSC_OK);
		assert_int_equal(id, i);
	}
	assert_int_equal(fsc_args_put(&id, a, big, 299999),
			 FSC_OK); /* larger than a block: alone in one */
	assert_int_equal(fsc_args_put(&id, a, "{}", 2), FSC_OK);
	assert_int_equal(fsc_args_finish(a), FSC_OK);
	const struct fsc_args_block *b = fsc_args_blocks(a, &n_blocks);
	const uint8_t *bytes = fsc_args_bytes(a, &stored);
	char *raw = fsc_xalloc(1, 400000);
	for (uint32_t k = 0; k < n_blocks; k++) {
		assert_int_equal(b[k].first_record, record);
		assert_true(b[k].offset + b[k].stored_bytes <= stored);
		assert_int_equal(b[k].crc, fsc_crc32c(0, bytes + b[k].offset, b[k].stored_bytes));
		assert_int_equal(ZSTD_decompress(raw, 400000, bytes + b[k].offset,
						 b[k].stored_bytes),
				 b[k].raw_bytes);
		struct fsc_cur c = fsc_cur_of(raw, b[k].raw_bytes);
		for (uint32_t i = 0; i < b[k].n_records; i++, record++) {
			size_t n = (size_t)fsc_cur_varint(&c);
			const uint8_t *s = fsc_cur_bytes(&c, n);
			assert_non_null(s);
			if (record >= 20000)
				continue;
			snprintf(text, sizeof(text), "{\"External id\":%u}", record * 7);
			assert_int_equal(n, strlen(text));
			assert_memory_equal(s, text, n);
		}
		assert_int_equal(fsc_cur_left(&c), 0);
	}
	assert_int_equal(record, 20002);
	assert_int_equal(fsc_args_count(a), 20002);
	assert_int_equal(fsc_args_put(&id, a, big, FSC_MAX_ARGS_BYTES + 1), FSC_ELIMIT);
	fsc_free(raw);
	fsc_free(big);
	fsc_args_free(a);
}

static bool key_before(const void *ctx, uint32_t a, uint32_t b)
{
	const uint32_t *key = ctx;

	return key[a] < key[b];
}

static void the_sort_is_stable_on_every_shape(void **state)
{
	enum { MAX = 3000 };
	static uint32_t key[MAX], v[MAX], tmp[MAX];
	uint32_t r = 12345;

	(void)state;
	for (unsigned shape = 0; shape < 6; shape++)
		for (uint32_t n = 0; n < MAX; n = n < 70 ? n + 1 : n * 2 + 1) {
			for (uint32_t i = 0; i < n; i++) {
				r = r * 1664525 + 1013904223;
				key[i] = shape == 0   ? i
					 : shape == 1 ? n - i
					 : shape == 2 ? r >> 8
					 : shape == 3 ? r >> 29
					 : shape == 4 ? (r % 50 ? i : r % n)
						      : i % 100;
				v[i] = i;
			}
			fsc_sort_u32(v, n, tmp, key_before, key);
			for (uint32_t i = 1; i < n; i++) {
				assert_true(key[v[i - 1]] <= key[v[i]]);
				assert_true(key[v[i - 1]] < key[v[i]] || v[i - 1] < v[i]);
			}
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_come_back_block_by_block),
		cmocka_unit_test(the_sort_is_stable_on_every_shape),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
