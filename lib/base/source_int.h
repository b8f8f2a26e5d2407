/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the sources of base/ only: single reads and the rules that every decompressor obeys. */
#ifndef FSC_BASE_SOURCE_INT_H
#define FSC_BASE_SOURCE_INT_H

#include "base/source.h"

/* Compressed bytes are taken from below in steps of this size. */
#define FSC_SOURCE_IN_BYTES ((size_t)128 * 1024)

/* One read of the source: may give fewer bytes than cap without being at the end. Keeps s->consumed. */
fsc_nodiscard enum fsc_status fsc_source_read_some(struct fsc_source *s, void *buf, size_t cap,
						   size_t *n, struct fsc_err *err);

/* FSC_ELIMIT with code "bomb" when out bytes from in bytes pass the ratio limit, which holds from grace on. */
fsc_nodiscard enum fsc_status fsc_source_check_ratio(uint64_t in, uint64_t out, uint64_t grace,
						     const char *what, struct fsc_err *err);

/* State of a source after its end or its first fault, which it repeats from then on. */
struct fsc_source_sticky {
	enum fsc_status st; /* FSC_OK while it goes on */
	struct fsc_err err;
};

/* Copies the kept fault to err and returns its status. */
enum fsc_status fsc_source_repeat(const struct fsc_source_sticky *k, struct fsc_err *err);

#endif
