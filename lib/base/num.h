/* SPDX-License-Identifier: Apache-2.0 */
/* Text to numbers without locale, without doubles where integers are meant. Any thread. */
#ifndef FSC_BASE_NUM_H
#define FSC_BASE_NUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

/* Whole text must be the number (optional '-', digits). False otherwise or out of range. */
fsc_nodiscard bool fsc_parse_i64(int64_t *out, const char *s, size_t n);
fsc_nodiscard bool fsc_parse_u64(uint64_t *out, const char *s, size_t n);
fsc_nodiscard bool fsc_parse_hex_u64(uint64_t *out, const char *s, size_t n); /* optional 0x */
fsc_nodiscard bool fsc_parse_double(double *out, const char *s, size_t n);
/* Value of one hexadecimal digit of either case, or -1. */
static inline int fsc_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/*
 * Decimal microseconds (JSON number text or numeric string: sign, digits, fraction, exponent) to integer
 * nanoseconds, exactly; digits below 1 ns round half away from zero and set *inexact (may be NULL).
 * False when the text is no number or passes int64.
 */
fsc_nodiscard bool fsc_parse_us_to_ns(int64_t *ns, bool *inexact, const char *s, size_t n);

/* Writes v in decimal, returns the length (<= 20), no NUL. dst has 21 bytes. */
size_t fsc_fmt_u64(char *dst, uint64_t v);
size_t fsc_fmt_i64(char *dst, int64_t v);

/* Saturating int64 arithmetic, for times built from input. */
int64_t fsc_add_i64_sat(int64_t a, int64_t b);
int64_t fsc_sub_i64_sat(int64_t a, int64_t b);

#endif
