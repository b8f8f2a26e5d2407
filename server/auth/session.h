/* SPDX-License-Identifier: Apache-2.0 */
/* Session cookies: "<64 hex token digest>.<expiry, Unix s>.<64 hex HMAC-SHA256>". Any thread. */
#ifndef FSC_AUTH_SESSION_H
#define FSC_AUTH_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

#define FSC_SESSION_KEY 32
#define FSC_SESSION_TEXT 160

/* HMAC-SHA256 (RFC 2104) under the key of this installation. */
void fsc_session_hmac(uint8_t out[32], const uint8_t key[FSC_SESSION_KEY], const void *p, size_t n);

void fsc_session_make(char out[FSC_SESSION_TEXT], const uint8_t key[FSC_SESSION_KEY],
		      const uint8_t token_sha256[32], int64_t expires_s);
/* False: not ours, altered or past its time. */
fsc_nodiscard bool fsc_session_read(uint8_t token_sha256[32], const char *text,
				    const uint8_t key[FSC_SESSION_KEY], int64_t now_s);

#endif
