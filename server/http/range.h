/* SPDX-License-Identifier: Apache-2.0 */
/* The Range header (RFC 9110 section 14): one range of bytes. Several ranges are answered with the whole,
 * which the RFC allows. Any thread. */
#ifndef FSC_HTTP_RANGE_H
#define FSC_HTTP_RANGE_H

#include <stdint.h>

enum fsc_range {
	FSC_RANGE_NONE, /* not a range we serve: send everything */
	FSC_RANGE_ONE,	/* [first, last] set */
	FSC_RANGE_BAD,	/* 416 */
};

enum fsc_range fsc_range_parse(const char *header, uint64_t total, uint64_t *first, uint64_t *last);

#endif
