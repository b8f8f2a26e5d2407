/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text of a ticket (auth/auth.h): "<project>.<trace>.<t0>.<t1>.<expiry, Unix s>.<64 hex HMAC-SHA256>", decimal
 * numbers, fit to be one segment of a path. The HMAC covers "ticket:" and what stands before the last dot, so a
 * session cookie is never one. Any thread.
 */
#ifndef FSC_AUTH_TICKET_H
#define FSC_AUTH_TICKET_H

#include "auth/auth.h"
#include "auth/session.h"

void fsc_ticket_make(char out[FSC_TICKET_TEXT], const uint8_t key[FSC_SESSION_KEY],
		     const struct fsc_ticket *t);
/* False: not ours, altered or past its time. */
fsc_nodiscard bool fsc_ticket_read(struct fsc_ticket *out, const char *text,
				   const uint8_t key[FSC_SESSION_KEY], int64_t now_s);

#endif
