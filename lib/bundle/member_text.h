/* SPDX-License-Identifier: Apache-2.0 */
/* Names inside archives as text: UTF-8 stays, all else is made visible. Pure, any thread. */
#ifndef FSC_BUNDLE_MEMBER_TEXT_H
#define FSC_BUNDLE_MEMBER_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/*
 * Appends the name as valid UTF-8 and says whether it had to be changed. Bytes that are no UTF-8 are, in a zip, of
 * code page 437, as its specification says. In a tar nobody says what they are: each becomes "%E9", so that
 * different names stay different.
 */
bool fsc_member_text(struct fsc_buf *b, const char *raw, size_t n, bool zip);

#endif
