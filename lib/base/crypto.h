/* SPDX-License-Identifier: Apache-2.0 */
/* Thin calls into OpenSSL libcrypto. Any thread; a context belongs to one thread at a time. */
#ifndef FSC_BASE_CRYPTO_H
#define FSC_BASE_CRYPTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

#define FSC_SHA256_LEN 32
#define FSC_SHA256_HEX 65 /* with NUL */

struct fsc_sha256;
fsc_nodiscard struct fsc_sha256 *fsc_sha256_new(void); /* aborts only when memory is gone */
void fsc_sha256_update(struct fsc_sha256 *h, const void *p, size_t n);
void fsc_sha256_final(struct fsc_sha256 *h, uint8_t out[FSC_SHA256_LEN]);
void fsc_sha256_free(struct fsc_sha256 *h);
void fsc_sha256(uint8_t out[FSC_SHA256_LEN], const void *p, size_t n);

void fsc_random_bytes(void *p, size_t n); /* aborts when the system has no randomness */
bool fsc_equal_const_time(const void *a, const void *b, size_t n);

void fsc_hex(char *dst, const uint8_t *p, size_t n); /* 2n+1 bytes, lower case, NUL */
/* Reads exactly 2 * n_bytes digits, stops false at the first other character; what follows is not looked at. */
fsc_nodiscard bool fsc_unhex(uint8_t *dst, const char *s, size_t n_bytes);
/* Standard base64 (RFC 4648) with padding: 4 * ceil(n / 3) + 1 bytes, NUL. */
void fsc_base64(char *dst, const uint8_t *p, size_t n);
/* Standard base64 with padding. dst_cap must hold 3/4 of n. *out_n bytes written. */
fsc_nodiscard bool fsc_unbase64(uint8_t *dst, size_t dst_cap, size_t *out_n, const char *s,
				size_t n);

#endif
