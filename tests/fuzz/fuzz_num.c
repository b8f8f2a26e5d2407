/* SPDX-License-Identifier: Apache-2.0 */
/* Number texts. The exact decimal way and the way through doubles must tell the same story. */
#include "base/num.h"

#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "tests/fuzz/fuzz.h"

static void check_integers(const char *s, size_t n)
{
	int64_t i = 0;
	uint64_t u = 0;
	char text[21];
	size_t zeros = 0;
	while (zeros + 1 < n && s[zeros] == '0')
		zeros++;
	if (fsc_parse_u64(&u, s, n)) {
		size_t k = fsc_fmt_u64(text, u);
		FSC_ASSERT(k == n - zeros && memcmp(text, s + zeros, k) == 0);
		FSC_ASSERT(fsc_parse_i64(&i, s, n) == (u <= (uint64_t)INT64_MAX));
	} else if (fsc_parse_i64(&i, s, n)) {
		FSC_ASSERT(s[0] == '-' && i <= 0);
	}
	(void)!fsc_parse_hex_u64(&u, s, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *s = (const char *)data;
	int64_t ns = 0;
	bool inexact = false;
	double us = 0;
	check_integers(s, size);
	bool is_ns = fsc_parse_us_to_ns(&ns, &inexact, s, size);
	bool is_double = fsc_parse_double(&us, s, size);
	if (is_ns) {
		FSC_ASSERT(is_double);
		FSC_ASSERT(fabs(us * 1000 - (double)ns) <= fabs((double)ns) * 1e-15 + 0.5);
		if (!inexact && fabs(us) < 1e12 && ns % 1000 == 0)
			FSC_ASSERT(us == (double)(ns / 1000));
	} else if (is_double) {
		FSC_ASSERT(fabs(us) > 9.2233720368547e15);
	}
	return 0;
}
