/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is a data folder, or a backup, as it should be? Reads everything: the database's structure and references, the
 * digest of each blob, each checksum and invariant of each segment, rows against files both ways. Changes nothing and
 * works beside a running server.
 */
#ifndef FSC_SERVICE_VERIFY_H
#define FSC_SERVICE_VERIFY_H

#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

struct fsc_verify_opts {
	const char *data;
	/* Each fault, in words that name the file or row. May be NULL. */
	void (*fault)(void *ctx, const char *what);
	void *ctx;
};
struct fsc_verify_done {
	uint64_t blobs, blob_bytes, segments, segment_bytes; /* that rows name and that are there */
	uint64_t faults;
	uint64_t outdated; /* segments of an older version: made again when they are asked for */
	/* Files that no row names: what a delete beside a backup, or a crash, leaves to the hourly sweep. */
	uint64_t leftovers, leftover_bytes;
};
/* FSC_OK also with faults; anything else means that it could not look. FSC_ENOTFOUND, FSC_EUNSUPPORTED
 * "store_older" or "store_newer". */
fsc_nodiscard enum fsc_status fsc_verify(const struct fsc_verify_opts *o,
					 struct fsc_verify_done *done, struct fsc_err *err);

#endif
