/* SPDX-License-Identifier: Apache-2.0 */
/* CRC-32C: the vectors of RFC 3720 B.4, both ways against each other and against a bitwise definition. */
#include "base/crc.h"

#include "base/attr.h"
#include "tests/support/test.h"

/* Straight from the polynomial 0x1EDC6F41, reflected. */
static uint32_t bitwise(const uint8_t *p, size_t n)
{
	uint32_t crc = UINT32_MAX;
	for (size_t i = 0; i < n; i++) {
		crc ^= p[i];
		for (int k = 0; k < 8; k++)
			crc = crc & 1 ? crc >> 1 ^ 0x82F63B78u : crc >> 1;
	}
	return ~crc;
}

static void the_vectors_of_rfc_3720_hold(void **state)
{
	(void)state;
	uint8_t zeros[32] = { 0 };
	uint8_t ones[32];
	uint8_t up[32];
	uint8_t down[32];
	memset(ones, 0xFF, sizeof(ones));
	for (int i = 0; i < 32; i++) {
		up[i] = (uint8_t)i;
		down[i] = (uint8_t)(31 - i);
	}
	uint32_t (*const ways[])(uint32_t, const void *, size_t) = { fsc_crc32c, fsc_crc32c_table };
	for (size_t w = 0; w < FSC_ARRAY_LEN(ways); w++) {
		assert_int_equal(ways[w](0, zeros, 32), 0x8A9136AA);
		assert_int_equal(ways[w](0, ones, 32), 0x62A8AB43);
		assert_int_equal(ways[w](0, up, 32), 0x46DD794E);
		assert_int_equal(ways[w](0, down, 32), 0x113FDB5C);
		assert_int_equal(ways[w](0, "123456789", 9), 0xE3069283);
		assert_int_equal(ways[w](0, "", 0), 0);
	}
}

static void every_length_and_alignment_agrees(void **state)
{
	(void)state;
	enum { N = 10000 };
	static uint8_t data[N + 16];
	uint32_t x = 1;
	for (size_t i = 0; i < sizeof(data); i++) {
		x = x * 1664525u + 1013904223u;
		data[i] = (uint8_t)(x >> 24);
	}
	for (size_t n = 0; n <= N; n += n < 1300 ? 1 : 97) {
		const uint8_t *p = data + n % 16;
		uint32_t want = bitwise(p, n);
		assert_int_equal(fsc_crc32c(0, p, n), want);
		assert_int_equal(fsc_crc32c_table(0, p, n), want);
		/* in two pieces */
		size_t k = n ? x % n : 0;
		assert_int_equal(fsc_crc32c(fsc_crc32c(0, p, k), p + k, n - k), want);
		x = x * 1664525u + 1013904223u;
	}
}

static void the_crc_of_zip_is_another(void **state)
{
	(void)state;
	assert_int_equal(fsc_crc32(0, "123456789", 9), 0xCBF43926);
	assert_int_equal(fsc_crc32(fsc_crc32(0, "1234", 4), "56789", 5), 0xCBF43926);
	assert_int_equal(fsc_crc32(7, NULL, 0), 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_vectors_of_rfc_3720_hold),
		cmocka_unit_test(the_crc_of_zip_is_another),
		cmocka_unit_test(every_length_and_alignment_agrees),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
