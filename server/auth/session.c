/* SPDX-License-Identifier: Apache-2.0 */
/* Session cookies. */
#include "auth/session.h"

#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/num.h"

#define BLOCK 64

void fsc_session_hmac(uint8_t out[32], const uint8_t key[FSC_SESSION_KEY], const void *p, size_t n)
{
	uint8_t pad[BLOCK] = { 0 }, inner[32];
	struct fsc_sha256 *h = fsc_sha256_new();

	memcpy(pad, key, FSC_SESSION_KEY);
	for (size_t i = 0; i < BLOCK; i++)
		pad[i] ^= 0x36;
	fsc_sha256_update(h, pad, BLOCK);
	fsc_sha256_update(h, p, n);
	fsc_sha256_final(h, inner);
	fsc_sha256_free(h);
	h = fsc_sha256_new();
	for (size_t i = 0; i < BLOCK; i++)
		pad[i] ^= 0x36 ^ 0x5c;
	fsc_sha256_update(h, pad, BLOCK);
	fsc_sha256_update(h, inner, sizeof(inner));
	fsc_sha256_final(h, out);
	fsc_sha256_free(h);
}

void fsc_session_make(char out[FSC_SESSION_TEXT], const uint8_t key[FSC_SESSION_KEY],
		      const uint8_t token_sha256[32], int64_t expires_s)
{
	uint8_t mac[32];
	char hex[65];
	int n;

	fsc_hex(hex, token_sha256, 32);
	n = snprintf(out, FSC_SESSION_TEXT, "%s.%lld", hex, (long long)expires_s);
	fsc_session_hmac(mac, key, out, (size_t)n);
	fsc_hex(hex, mac, 32);
	snprintf(out + n, FSC_SESSION_TEXT - (size_t)n, ".%s", hex);
}

bool fsc_session_read(uint8_t token_sha256[32], const char *text,
		      const uint8_t key[FSC_SESSION_KEY], int64_t now_s)
{
	const char *dot1 = strchr(text, '.');
	const char *dot2 = dot1 ? strchr(dot1 + 1, '.') : NULL;
	uint8_t given[32], want[32];
	int64_t expires;

	if (!dot2 || dot1 - text != 64 || strlen(dot2 + 1) != 64 || !fsc_unhex(given, dot2 + 1, 32))
		return false;
	fsc_session_hmac(want, key, text, (size_t)(dot2 - text));
	if (!fsc_equal_const_time(given, want, sizeof(want)))
		return false;
	return fsc_parse_i64(&expires, dot1 + 1, (size_t)(dot2 - dot1 - 1)) && expires > now_s &&
	       fsc_unhex(token_sha256, text, 32);
}
