/* SPDX-License-Identifier: Apache-2.0 */
/* Tickets. */
#include "auth/ticket.h"

#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/num.h"

#define MAC_HEX 64

static void sign(uint8_t out[32], const uint8_t key[FSC_SESSION_KEY], const char *text, size_t n)
{
	char signed_text[FSC_TICKET_TEXT + 8];
	int len = snprintf(signed_text, sizeof(signed_text), "ticket:%.*s", (int)n, text);

	fsc_session_hmac(out, key, signed_text, (size_t)len);
}

void fsc_ticket_make(char out[FSC_TICKET_TEXT], const uint8_t key[FSC_SESSION_KEY],
		     const struct fsc_ticket *t)
{
	uint8_t mac[32];
	int n = snprintf(out, FSC_TICKET_TEXT, "%lld.%lld.%lld.%lld.%lld", (long long)t->project,
			 (long long)t->trace, (long long)t->t0, (long long)t->t1,
			 (long long)t->expires_s);

	sign(mac, key, out, (size_t)n);
	out[n++] = '.';
	fsc_hex(out + n, mac, sizeof(mac));
}

bool fsc_ticket_read(struct fsc_ticket *out, const char *text, const uint8_t key[FSC_SESSION_KEY],
		     int64_t now_s)
{
	struct fsc_ticket t = { 0 };
	int64_t *const fields[] = { &t.project, &t.trace, &t.t0, &t.t1, &t.expires_s };
	const char *dot = strrchr(text, '.'), *p = text;
	uint8_t given[32], want[32];

	if (!dot || strlen(text) >= FSC_TICKET_TEXT || strlen(dot + 1) != MAC_HEX ||
	    !fsc_unhex(given, dot + 1, sizeof(given)))
		return false;
	sign(want, key, text, (size_t)(dot - text));
	if (!fsc_equal_const_time(given, want, sizeof(want)))
		return false;
	for (size_t i = 0; i < FSC_ARRAY_LEN(fields); i++) {
		size_t n = strcspn(p, ".");

		if (!fsc_parse_i64(fields[i], p, n))
			return false;
		p += n + 1;
	}
	*out = t;
	return p == dot + 1 && t.expires_s > now_s;
}
