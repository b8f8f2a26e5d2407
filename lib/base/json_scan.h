/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks the members of one canonical JSON object (as kept in args records: no white space outside strings,
 * valid UTF-8, produced by our reader) without building anything. Text that is not of that form ends the
 * walk with false. Any thread, caller-owned.
 */
#ifndef FSC_BASE_JSON_SCAN_H
#define FSC_BASE_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum fsc_json_type {
	FSC_JSON_STRING,
	FSC_JSON_NUMBER,
	FSC_JSON_BOOL,
	FSC_JSON_NULL,
	FSC_JSON_NESTED
};

struct fsc_json_member {
	const char *key; /* raw text between the quotes, escapes not resolved; borrowed */
	size_t key_len;
	const char *value; /* raw JSON text; strings with their quotes; borrowed */
	size_t value_len;
	enum fsc_json_type type;
};

struct fsc_json_scan {
	const char *p, *end;
	bool started;
};

static inline struct fsc_json_scan fsc_json_scan_of(const char *json, size_t n)
{
	struct fsc_json_scan s = { json, json + n, false };
	return s;
}

/* True and *m filled while there are members. */
bool fsc_json_scan_next(struct fsc_json_scan *s, struct fsc_json_member *m);
/* Value of the first member with this key (compared raw): false when there is none. */
bool fsc_json_find(struct fsc_json_member *m, const char *json, size_t n, const char *key);
/*
 * Resolves the \uXXXX at s (its backslash; the string ends at end), with the second half of a surrogate pair
 * when there is one: its length in the source (6 or 12), 0 when it is ill-formed. A lone surrogate is given
 * as it stands.
 */
fsc_nodiscard size_t fsc_json_escape_u(uint32_t *cp, const char *s, const char *end);
/* Appends the text of a string value with its escapes resolved (ill-formed ones become U+FFFD). */
void fsc_json_unescape(struct fsc_buf *out, const char *value, size_t value_len);

#endif
