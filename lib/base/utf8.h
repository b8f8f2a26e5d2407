/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 checks and repair. Repair replaces each ill-formed byte sequence by U+FFFD and counts it. */
#ifndef FSC_BASE_UTF8_H
#define FSC_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

bool fsc_utf8_valid(const char *s, size_t n);
/* Valid, and without control characters (C0, DEL, C1): safe to show on a terminal. */
bool fsc_utf8_printable(const char *s, size_t n);
/* Appends s to b with repairs; returns how many sequences were replaced. */
size_t fsc_utf8_repair(struct fsc_buf *b, const char *s, size_t n);
/* Encodes one code point, returns its length 1..4 (U+FFFD for surrogates and > 10FFFF). */
size_t fsc_utf8_encode(char dst[4], uint32_t cp);

#endif
