/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that decide who may: sessions, tickets, token secrets, lists of scopes, peers, groups and header names. */
#include <stdlib.h>
#include <string.h>

#include "auth/auth.h"
#include "auth/proxy.h"
#include "auth/session.h"
#include "auth/ticket.h"
#include "base/assert.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t key[FSC_SESSION_KEY] = { 7 };
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_ticket ticket;
	uint8_t digest[32];
	uint32_t scopes;
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	/* Nobody signs by chance. */
	FSC_ASSERT(!fsc_session_read(digest, text, key, 1));
	FSC_ASSERT(!fsc_ticket_read(&ticket, text, key, 1));
	(void)!fsc_token_digest(digest, text, size);
	if (fsc_token_parse_scopes(&scopes, text, &err) == FSC_OK)
		FSC_ASSERT(scopes && scopes < 16);
	(void)!fsc_proxy_check_peer(text, &err);
	(void)!fsc_proxy_check_group(text, &err);
	(void)!fsc_proxy_check_header(text, &err);
	free(text);
	return 0;
}
