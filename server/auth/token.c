/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens: random text, kept as a digest. */
#include "auth/auth.h"

#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/utf8.h"
#include "store/store.h"

#define PREFIX "fst_" /* lets secret scanners find leaked tokens */
#define RANDOM_BYTES 20
#define MIN_GIVEN 16 /* of a token that the operator chose */

static const struct {
	const char *name;
	uint32_t bit;
} scopes_table[] = {
	{ "read", FSC_PERM_READ },
	{ "upload", FSC_PERM_UPLOAD },
	{ "capture", FSC_PERM_CAPTURE },
	{ "admin", FSC_PERM_ADMIN },
};

const char *fsc_token_scope_name(size_t i, uint32_t *bit)
{
	if (i >= FSC_ARRAY_LEN(scopes_table))
		return NULL;
	*bit = scopes_table[i].bit;
	return scopes_table[i].name;
}

enum fsc_status fsc_token_parse_scopes(uint32_t *out, const char *text, struct fsc_err *err)
{
	*out = 0;
	while (*text) {
		size_t n = strcspn(text, ","), i = 0;

		while (i < FSC_ARRAY_LEN(scopes_table) &&
		       (strlen(scopes_table[i].name) != n ||
			strncmp(scopes_table[i].name, text, n) != 0))
			i++;
		if (i == FSC_ARRAY_LEN(scopes_table))
			return fsc_err_set(err, FSC_EINVAL, "bad_scope",
					   "scope is read, upload, capture or admin, not %.*s",
					   (int)n, text);
		*out |= scopes_table[i].bit;
		text += n + (text[n] == ',');
	}
	if (!*out)
		return fsc_err_set(err, FSC_EINVAL, "bad_scope",
				   "a token needs at least one scope");
	return FSC_OK;
}

bool fsc_token_digest(uint8_t out[32], const char *text, size_t n)
{
	if (n < MIN_GIVEN || n >= FSC_TOKEN_TEXT_MAX * 4)
		return false;
	fsc_sha256(out, text, n);
	return true;
}

void fsc_token_prefix(char out[FSC_TOKEN_PREFIX], const char *text)
{
	bool ours = !strncmp(text, PREFIX, sizeof(PREFIX) - 1) &&
		    strlen(text) == sizeof(PREFIX) - 1 + (size_t)2 * RANDOM_BYTES;

	snprintf(out, FSC_TOKEN_PREFIX, "%s", ours ? text : "");
}

enum fsc_status fsc_token_adopt(struct fsc_store *s, int64_t project, const char *name,
				uint32_t scopes, const char *text, int64_t *id, struct fsc_err *err)
{
	char prefix[FSC_TOKEN_PREFIX];
	struct fsc_token_new in = { .project = project,
				    .name = name,
				    .scopes = scopes,
				    .prefix = prefix,
				    .created_by = "config" };

	fsc_token_prefix(prefix, text);
	if (!fsc_token_digest(in.secret_sha256, text, strlen(text)))
		return fsc_err_set(err, FSC_EINVAL, "bad_token", "a token has %d to %d characters",
				   MIN_GIVEN, FSC_TOKEN_TEXT_MAX * 4 - 1);
	return fsc_store_token_put(s, &in, id, err);
}

enum fsc_status fsc_token_create(struct fsc_store *s, int64_t project, const char *name,
				 uint32_t scopes, int64_t expires_at_ns, const char *created_by,
				 int64_t *id, char text[FSC_TOKEN_TEXT_MAX], struct fsc_err *err)
{
	char prefix[FSC_TOKEN_PREFIX];
	struct fsc_token_new in = { .project = project,
				    .name = name,
				    .scopes = scopes,
				    .expires_at_ns = expires_at_ns,
				    .prefix = prefix,
				    .created_by = created_by };
	uint8_t raw[RANDOM_BYTES];
	char hex[2 * RANDOM_BYTES + 1];

	/* `token list` shows them on the terminal of whoever runs the server. */
	if (!name[0] || strlen(name) > 100 || !fsc_utf8_printable(name, strlen(name)))
		return fsc_err_set(err, FSC_EINVAL, "bad_name",
				   "a token's name has 1 to 100 bytes of UTF-8 without control "
				   "characters");
	fsc_random_bytes(raw, sizeof(raw));
	fsc_hex(hex, raw, sizeof(raw));
	snprintf(text, FSC_TOKEN_TEXT_MAX, PREFIX "%s", hex);
	fsc_token_prefix(prefix, text);
	fsc_sha256(in.secret_sha256, text, strlen(text));
	return fsc_store_token_put(s, &in, id, err);
}
