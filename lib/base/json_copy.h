/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text to canonical JSON, as args records hold it: no white space outside strings, valid UTF-8, and of escapes only
 * those that JSON asks for. For values that other formats carry. Any thread.
 */
#ifndef FSC_BASE_JSON_COPY_H
#define FSC_BASE_JSON_COPY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* s as a JSON string with its quotes; ill-formed UTF-8 becomes U+FFFD. */
void fsc_json_copy_text(struct fsc_buf *out, const char *s, size_t n);
/*
 * s as it is, when it is one JSON value (RFC 8259) not nested deeper than 64; strings are checked for UTF-8. False
 * when it is none: out is then as before.
 */
bool fsc_json_copy_value(struct fsc_buf *out, const char *s, size_t n);

#endif
