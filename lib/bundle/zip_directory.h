/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory at the end of a zip archive, against the members that were read as they streamed by. Local headers
 * carry no checksum of themselves: one damaged bit there hides a member, empties or renames it, and nothing else in
 * the archive would tell. Pure, any thread.
 */
#ifndef FSC_BUNDLE_ZIP_DIRECTORY_H
#define FSC_BUNDLE_ZIP_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

struct fsc_zip_member {
	uint64_t at;   /* byte of its local header, or at most 24 before it; rising */
	uint64_t size; /* bytes that were read */
	uint32_t crc;  /* CRC-32 of them */
	uint32_t name; /* fsc_zip_name_hash() of its name */
	bool whole;    /* it was read to its end: size and crc are those of all of it */
	bool listed;   /* set by fsc_zip_directory_check() */
};

/* Of an ASCII name, with folders in the Windows way being the same; 0 for others. */
uint32_t fsc_zip_name_hash(const char *name, size_t n);

/*
 * tail: the bytes of the archive from tail_at, the end of the last member, to its end. FSC_ECORRUPT
 * "archive_truncated": there is no end record. "archive_corrupt": a listed member is not there or is another.
 */
fsc_nodiscard enum fsc_status fsc_zip_directory_check(struct fsc_zip_member *m, size_t n,
						      const uint8_t *tail, size_t len,
						      uint64_t tail_at, struct fsc_err *err);

#endif
