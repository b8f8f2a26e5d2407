/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UTF-8 after table 3-7 of the Unicode standard. Repair follows its "substitution of maximal subparts"
 * (as WHATWG decoders do): the longest prefix of a possible sequence becomes one U+FFFD.
 */
#include "base/utf8.h"

#include <string.h>

/*
 * Length of the well-formed sequence at s (1..4), or minus the length of the ill-formed part to replace.
 * n > 0.
 */
static int seq_len(const unsigned char *s, size_t n)
{
	unsigned c = s[0];
	unsigned lo = 0x80;
	unsigned hi = 0xBF;
	int len;
	if (c < 0x80)
		return 1;
	if (c < 0xC2 || c > 0xF4)
		return -1;
	if (c < 0xE0) {
		len = 2;
	} else if (c < 0xF0) {
		len = 3;
		if (c == 0xE0)
			lo = 0xA0; /* no overlong forms */
		else if (c == 0xED)
			hi = 0x9F; /* no surrogates */
	} else {
		len = 4;
		if (c == 0xF0)
			lo = 0x90;
		else if (c == 0xF4)
			hi = 0x8F; /* up to 10FFFF */
	}
	for (int i = 1; i < len; i++) {
		if ((size_t)i >= n || s[i] < lo || s[i] > hi)
			return -i;
		lo = 0x80;
		hi = 0xBF;
	}
	return len;
}

/* Bytes from s on that are ASCII, eight at a time; may stop short of all by less than eight. */
static size_t ascii_run(const char *s, size_t n)
{
	size_t i = 0;
	for (; i + 8 <= n; i += 8) {
		uint64_t v;
		memcpy(&v, s + i, 8);
		if (v & 0x8080808080808080ULL)
			break;
	}
	return i;
}

/* Length of the longest well-formed prefix. */
static size_t valid_prefix(const char *s, size_t n)
{
	size_t i = ascii_run(s, n);
	while (i < n) {
		int len = seq_len((const unsigned char *)s + i, n - i);
		if (len < 0)
			return i;
		i += (size_t)len;
		if (len == 1)
			i += ascii_run(s + i, n - i);
	}
	return i;
}

bool fsc_utf8_valid(const char *s, size_t n)
{
	return valid_prefix(s, n) == n;
}

size_t fsc_utf8_repair(struct fsc_buf *b, const char *s, size_t n)
{
	size_t bad = 0;
	while (n) {
		size_t good = valid_prefix(s, n);
		fsc_buf_add(b, s, good);
		s += good;
		n -= good;
		if (!n)
			break;
		size_t skip = (size_t)-seq_len((const unsigned char *)s, n);
		fsc_buf_add(b, "\xEF\xBF\xBD", 3);
		bad++;
		s += skip;
		n -= skip;
	}
	return bad;
}

size_t fsc_utf8_encode(char dst[4], uint32_t cp)
{
	if (cp > 0x10FFFF || (cp >= 0xD800 && cp <= 0xDFFF))
		cp = 0xFFFD;
	if (cp < 0x80) {
		dst[0] = (char)cp;
		return 1;
	}
	if (cp < 0x800) {
		dst[0] = (char)(0xC0 | cp >> 6);
		dst[1] = (char)(0x80 | (cp & 0x3F));
		return 2;
	}
	if (cp < 0x10000) {
		dst[0] = (char)(0xE0 | cp >> 12);
		dst[1] = (char)(0x80 | (cp >> 6 & 0x3F));
		dst[2] = (char)(0x80 | (cp & 0x3F));
		return 3;
	}
	dst[0] = (char)(0xF0 | cp >> 18);
	dst[1] = (char)(0x80 | (cp >> 12 & 0x3F));
	dst[2] = (char)(0x80 | (cp >> 6 & 0x3F));
	dst[3] = (char)(0x80 | (cp & 0x3F));
	return 4;
}

bool fsc_utf8_printable(const char *s, size_t n)
{
	if (!fsc_utf8_valid(s, n))
		return false;
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c < 0x20 || c == 0x7f || (c == 0xc2 && (unsigned char)s[i + 1] < 0xa0))
			return false;
	}
	return true;
}
