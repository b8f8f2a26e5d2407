/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers from text and back. Nothing here looks at the locale. Times are parsed as exact decimals: a
 * double has 53 bits, and 1694128201549123.456 us needs 61.
 */
#include "base/num.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Eight ASCII digits at once: *ok tells whether all were digits. Needs a little-endian machine. */
static uint32_t eight_digits(const char *s, bool *ok)
{
	uint64_t v;
	memcpy(&v, s, 8);
	*ok = ((v & 0xF0F0F0F0F0F0F0F0ULL) |
	       (((v + 0x0606060606060606ULL) & 0xF0F0F0F0F0F0F0F0ULL) >> 4)) ==
	      0x3333333333333333ULL;
	v &= 0x0F0F0F0F0F0F0F0FULL;
	v = v * 10 + (v >> 8);
	v = ((v & 0x000000FF000000FFULL) * 0x000F424000000064ULL +
	     ((v >> 16) & 0x000000FF000000FFULL) * 0x0000271000000001ULL) >>
	    32;
	return (uint32_t)v;
}

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "base/num.c reads eight digits as a little-endian word"
#endif

/* Digits of s[0, n) into *v; false when one is no digit or the value passes 64 bits. n may be 0. */
static bool digits_u64(uint64_t *v, const char *s, size_t n)
{
	uint64_t r = 0;
	for (size_t i = 0; i < n; i++) {
		if (!is_digit(s[i]))
			return false;
		if (__builtin_mul_overflow(r, (uint64_t)10, &r) ||
		    __builtin_add_overflow(r, (uint64_t)(s[i] - '0'), &r))
			return false;
	}
	*v = r;
	return true;
}

/* Sign and magnitude to int64; false when it does not fit. */
static bool signed_of(int64_t *out, bool neg, uint64_t mag)
{
	if (mag > (uint64_t)INT64_MAX + (neg ? 1u : 0u))
		return false;
	*out = neg ? (int64_t)(0 - mag) : (int64_t)mag;
	return true;
}

bool fsc_parse_u64(uint64_t *out, const char *s, size_t n)
{
	uint64_t v;
	if (n == 0 || !digits_u64(&v, s, n))
		return false;
	*out = v;
	return true;
}

bool fsc_parse_i64(int64_t *out, const char *s, size_t n)
{
	bool neg = n > 0 && s[0] == '-';
	uint64_t mag;
	if (!fsc_parse_u64(&mag, s + neg, n - neg))
		return false;
	return signed_of(out, neg, mag);
}

bool fsc_parse_hex_u64(uint64_t *out, const char *s, size_t n)
{
	if (n >= 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
		s += 2;
		n -= 2;
	}
	if (n == 0)
		return false;
	uint64_t v = 0;
	for (size_t i = 0; i < n; i++) {
		int d = fsc_hex_digit(s[i]);
		if (d < 0 || v >> 60)
			return false;
		v = v << 4 | (uint64_t)d;
	}
	*out = v;
	return true;
}

/* The parts of a decimal number text. */
struct decimal {
	const char *ip, *fp; /* digits before and after the point */
	size_t ni, nf;
	int64_t exp; /* cut to +-10^15, far outside what any text of digits can balance */
	bool neg;
};

static bool split_exponent(struct decimal *d, const char *s, const char *end)
{
	bool neg = false;
	if (s < end && (*s == '+' || *s == '-'))
		neg = *s++ == '-';
	if (s == end)
		return false;
	int64_t e = 0;
	for (; s < end; s++) {
		if (!is_digit(*s))
			return false;
		if (e < 100000000000000)
			e = e * 10 + (*s - '0');
	}
	d->exp = neg ? -e : e;
	return true;
}

/* [+-] digits [. digits] [eE [+-] digits], with a digit before the exponent. */
static bool split(struct decimal *d, const char *s, size_t n)
{
	const char *end = s + n;
	*d = (struct decimal){ .exp = 0 };
	if (s < end && (*s == '+' || *s == '-'))
		d->neg = *s++ == '-';
	d->ip = s;
	while (s < end && is_digit(*s))
		s++;
	d->ni = (size_t)(s - d->ip);
	d->fp = s;
	if (s < end && *s == '.') {
		d->fp = ++s;
		while (s < end && is_digit(*s))
			s++;
		d->nf = (size_t)(s - d->fp);
	}
	if (d->ni + d->nf == 0)
		return false;
	if (s == end)
		return true;
	if (*s != 'e' && *s != 'E')
		return false;
	return split_exponent(d, s + 1, end);
}

/* strtod_l wants a NUL behind the text; the C locale object of glibc is static, so this is no cost. */
static bool strtod_c(double *out, const char *text)
{
	locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (c == (locale_t)0)
		return false;
	double v = strtod_l(text, NULL, c);
	freelocale(c);
	if (isinf(v))
		return false;
	*out = v;
	return true;
}

static bool double_slow(double *out, const char *s, size_t n)
{
	char small[128];
	char *text = small;
	if (n >= sizeof(small)) {
		text = fsc_alloc(n + 1, 1);
		if (!text)
			return false;
	}
	memcpy(text, s, n);
	text[n] = '\0';
	bool ok = strtod_c(out, text);
	if (text != small)
		fsc_free(text);
	return ok;
}

bool fsc_parse_double(double *out, const char *s, size_t n)
{
	static const double pow10[] = { 1e0,  1e1,  1e2,  1e3,	1e4,  1e5,  1e6,  1e7,
					1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
					1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
	struct decimal d;
	if (!split(&d, s, n))
		return false;
	/* Up to 2^53 times or over an exact power of ten is one correctly rounded operation. */
	if (d.ni + d.nf <= 19 && d.exp > -1000 && d.exp < 1000) {
		uint64_t a = 0;
		uint64_t mant = 0;
		for (size_t i = 0; i < d.ni; i++)
			a = a * 10 + (uint64_t)(d.ip[i] - '0');
		mant = a;
		for (size_t i = 0; i < d.nf; i++)
			mant = mant * 10 + (uint64_t)(d.fp[i] - '0');
		int64_t e = d.exp - (int64_t)d.nf;
		if (mant <= (1ULL << 53) && e >= -22 && e <= 22) {
			double v = (double)mant;
			v = e < 0 ? v / pow10[-e] : v * pow10[e];
			*out = d.neg ? -v : v;
			return true;
		}
	}
	return double_slow(out, s, n);
}

/* Microseconds with any number of digits and an exponent. See the header for the rounding. */
static fsc_noinline bool us_to_ns_slow(int64_t *ns, bool *inexact, const char *s, size_t n)
{
	struct decimal d;
	if (!split(&d, s, n))
		return false;
	/* The value is 0.d0 d1 d2 ... times 10^point, in ns. */
	int64_t point = (int64_t)d.ni + d.exp + 3;
	int64_t nd = (int64_t)(d.ni + d.nf);
	uint64_t v = 0;
	bool up = false;
	bool lost = false;
	for (int64_t k = 0; k < nd; k++) {
		char c = k < (int64_t)d.ni ? d.ip[k] : d.fp[k - (int64_t)d.ni];
		uint64_t digit = (uint64_t)(c - '0');
		if (k < point) {
			if (__builtin_mul_overflow(v, (uint64_t)10, &v) ||
			    __builtin_add_overflow(v, digit, &v))
				return false;
		} else {
			up = up || (k == point && digit >= 5);
			lost = lost || digit != 0;
		}
	}
	for (int64_t k = nd; k < point && v != 0; k++)
		if (__builtin_mul_overflow(v, (uint64_t)10, &v))
			return false;
	if (up && __builtin_add_overflow(v, (uint64_t)1, &v))
		return false;
	if (!signed_of(ns, d.neg, v))
		return false;
	if (inexact)
		*inexact = lost;
	return true;
}

bool fsc_parse_us_to_ns(int64_t *ns, bool *inexact, const char *s, size_t n)
{
	const char *p = s;
	const char *end = s + n;
	bool neg = n > 0 && *p == '-';
	p += neg;
	/* Up to 16 digits before the point: times 1000 that stays inside 64 bits. */
	const char *digits = p;
	uint64_t v = 0;
	while (end - p >= 8 && p - digits <= 8) {
		bool ok;
		uint32_t eight = eight_digits(p, &ok);
		if (!ok)
			break;
		v = v * 100000000 + eight;
		p += 8;
	}
	while (p < end && is_digit(*p) && p - digits < 16)
		v = v * 10 + (uint64_t)(*p++ - '0');
	if (p == digits)
		return us_to_ns_slow(ns, inexact, s, n);
	v *= 1000;
	if (p < end && *p == '.' && end - p >= 2 && end - p <= 4) {
		uint64_t scale = 100;
		for (p++; p < end && is_digit(*p); scale /= 10)
			v += (uint64_t)(*p++ - '0') * scale;
	}
	if (p != end)
		return us_to_ns_slow(ns, inexact, s, n);
	if (!signed_of(ns, neg, v))
		return false;
	if (inexact)
		*inexact = false;
	return true;
}

size_t fsc_fmt_u64(char *dst, uint64_t v)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";
	char tmp[20];
	size_t i = sizeof(tmp);
	while (v >= 100) {
		size_t r = (size_t)(v % 100) * 2;
		v /= 100;
		tmp[--i] = pairs[r + 1];
		tmp[--i] = pairs[r];
	}
	tmp[--i] = pairs[v * 2 + 1];
	if (v >= 10)
		tmp[--i] = pairs[v * 2];
	memcpy(dst, tmp + i, sizeof(tmp) - i);
	return sizeof(tmp) - i;
}

size_t fsc_fmt_i64(char *dst, int64_t v)
{
	if (v >= 0)
		return fsc_fmt_u64(dst, (uint64_t)v);
	dst[0] = '-';
	return 1 + fsc_fmt_u64(dst + 1, 0 - (uint64_t)v);
}

int64_t fsc_add_i64_sat(int64_t a, int64_t b)
{
	int64_t r;
	if (__builtin_add_overflow(a, b, &r))
		return b < 0 ? INT64_MIN : INT64_MAX;
	return r;
}

int64_t fsc_sub_i64_sat(int64_t a, int64_t b)
{
	int64_t r;
	if (__builtin_sub_overflow(a, b, &r))
		return b < 0 ? INT64_MAX : INT64_MIN;
	return r;
}
