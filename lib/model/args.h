/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Store of args records: canonical JSON objects (the file's own text with white space outside strings
 * removed, valid UTF-8), appended in file order and compressed as they come in blocks of about 128 KiB
 * (zstd level 1), so that memory stays near 8 B per slice. Record numbers are dense from 0.
 * Within a block each record is a varint length and its bytes. A record never spans blocks.
 * Owner thread.
 */
#ifndef FSC_MODEL_ARGS_H
#define FSC_MODEL_ARGS_H

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/status.h"

#define FSC_ARGS_BLOCK_BYTES (128u * 1024u)

struct fsc_args_block {
	uint32_t first_record, n_records;
	uint32_t raw_bytes, stored_bytes;
	uint64_t offset; /* in the store's bytes */
	uint32_t crc;	 /* crc32c of the stored bytes */
};

struct fsc_args;

fsc_nodiscard struct fsc_args *fsc_args_new(void);
void fsc_args_free(struct fsc_args *a);
/* Appends one record and gives its number. FSC_ENOMEM or FSC_ELIMIT. */
fsc_nodiscard enum fsc_status fsc_args_put(uint32_t *record, struct fsc_args *a, const char *json,
					   size_t n);
/* Closes the open block, so that every record so far can be read back. */
fsc_nodiscard enum fsc_status fsc_args_flush(struct fsc_args *a);
/* Reads records back, one block at a time: in order of their numbers that is cheap. Start zeroed. */
struct fsc_args_view {
	char *raw;		   /* owned */
	size_t n, cap, at;	   /* bytes of the block; of the next record */
	uint32_t next, end, block; /* number of the next record, of the first behind the block */
};
/* Text of a record of a closed block, borrowed until the next call. FSC_ENOMEM. */
fsc_nodiscard enum fsc_status fsc_args_view_get(const char **json, size_t *n,
						struct fsc_args_view *v, const struct fsc_args *a,
						uint32_t record);
void fsc_args_view_fini(struct fsc_args_view *v);
/* Closes the last block. Call once; no put afterwards. */
fsc_nodiscard enum fsc_status fsc_args_finish(struct fsc_args *a);
uint32_t fsc_args_count(const struct fsc_args *a);
const struct fsc_args_block *fsc_args_blocks(const struct fsc_args *a, uint32_t *n); /* borrowed */
const uint8_t *fsc_args_bytes(const struct fsc_args *a, uint64_t *n);		     /* borrowed */

#endif
