/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256, randomness, constant-time comparison, hex and base64. */
#include "base/crypto.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <limits.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/num.h"

struct fsc_sha256 {
	EVP_MD_CTX *ctx; /* owned */
};

struct fsc_sha256 *fsc_sha256_new(void)
{
	struct fsc_sha256 *h = fsc_xalloc(1, sizeof(*h));
	h->ctx = EVP_MD_CTX_new();
	/* the algorithm is built in: what can be missing here, and wherever a context is made, is memory */
	if (!h->ctx || EVP_DigestInit_ex(h->ctx, EVP_sha256(), NULL) != 1)
		fsc_out_of_memory(0);
	return h;
}

void fsc_sha256_update(struct fsc_sha256 *h, const void *p, size_t n)
{
	FSC_ASSERT(EVP_DigestUpdate(h->ctx, p, n) == 1);
}

void fsc_sha256_final(struct fsc_sha256 *h, uint8_t out[FSC_SHA256_LEN])
{
	unsigned len = 0;
	FSC_ASSERT(EVP_DigestFinal_ex(h->ctx, out, &len) == 1 && len == FSC_SHA256_LEN);
}

void fsc_sha256_free(struct fsc_sha256 *h)
{
	if (!h)
		return;
	EVP_MD_CTX_free(h->ctx);
	fsc_free(h);
}

void fsc_sha256(uint8_t out[FSC_SHA256_LEN], const void *p, size_t n)
{
	unsigned len = 0;
	if (EVP_Digest(p, n, out, &len, EVP_sha256(), NULL) != 1)
		fsc_out_of_memory(0);
	FSC_ASSERT(len == FSC_SHA256_LEN);
}

void fsc_random_bytes(void *p, size_t n)
{
	uint8_t *b = p;
	while (n) {
		int step = n < INT_MAX ? (int)n : INT_MAX;
		/* the kernel's randomness does not fail */
		if (RAND_bytes(b, step) != 1)
			fsc_out_of_memory(0);
		b += step;
		n -= (size_t)step;
	}
}

bool fsc_equal_const_time(const void *a, const void *b, size_t n)
{
	return CRYPTO_memcmp(a, b, n) == 0;
}

void fsc_hex(char *dst, const uint8_t *p, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	for (size_t i = 0; i < n; i++) {
		dst[2 * i] = digits[p[i] >> 4];
		dst[2 * i + 1] = digits[p[i] & 15];
	}
	dst[2 * n] = '\0';
}

bool fsc_unhex(uint8_t *dst, const char *s, size_t n_bytes)
{
	for (size_t i = 0; i < n_bytes; i++) {
		int hi = fsc_hex_digit(s[2 * i]);
		if (hi < 0) /* also at a NUL, so a short text is not read past its end */
			return false;
		int lo = fsc_hex_digit(s[2 * i + 1]);
		if (lo < 0)
			return false;
		dst[i] = (uint8_t)(hi << 4 | lo);
	}
	return true;
}

static int base64_value(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c == '+')
		return 62;
	return c == '/' ? 63 : -1;
}

/* One group of four characters, of which `keep` carry bits. Unused bits must be zero (RFC 4648 3.5). */
static bool unbase64_group(uint8_t out[3], const char *s, unsigned keep)
{
	uint32_t v = 0;
	for (unsigned i = 0; i < 4; i++) {
		int d = i < keep ? base64_value(s[i]) : 0;
		if (d < 0)
			return false;
		v = v << 6 | (uint32_t)d;
	}
	out[0] = (uint8_t)(v >> 16);
	out[1] = (uint8_t)(v >> 8);
	out[2] = (uint8_t)v;
	return (keep > 3 || out[2] == 0) && (keep > 2 || out[1] == 0);
}

void fsc_base64(char *dst, const uint8_t *p, size_t n)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (; n; p += n < 3 ? n : 3, n -= n < 3 ? n : 3) {
		uint32_t v = (uint32_t)p[0] << 16 | (n > 1 ? (uint32_t)p[1] << 8 : 0) |
			     (n > 2 ? p[2] : 0);

		*dst++ = digits[v >> 18];
		*dst++ = digits[v >> 12 & 63];
		*dst++ = n > 1 ? digits[v >> 6 & 63] : '=';
		*dst++ = n > 2 ? digits[v & 63] : '=';
	}
	*dst = '\0';
}

bool fsc_unbase64(uint8_t *dst, size_t dst_cap, size_t *out_n, const char *s, size_t n)
{
	*out_n = 0;
	if (n % 4)
		return false;
	for (size_t i = 0; i < n; i += 4) {
		unsigned keep = 4;
		if (i + 4 == n && s[i + 3] == '=')
			keep = s[i + 2] == '=' ? 2 : 3;
		uint8_t b[3];
		if (!unbase64_group(b, s + i, keep) || dst_cap - *out_n < keep - 1)
			return false;
		for (unsigned k = 0; k + 1 < keep; k++)
			dst[(*out_n)++] = b[k];
	}
	return true;
}
