/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which files the rows name, and whether the database itself is sound: for backup and verify. Any thread; rows are
 * read a page at a time, so that a long walk holds no snapshot. Rows that come or go meanwhile may be seen or not.
 */
#ifndef FSC_STORE_FILES_H
#define FSC_STORE_FILES_H

#include "store/store.h"

struct fsc_file_row {
	uint8_t sha256[FSC_SHA256_LEN]; /* of a blob */
	int64_t segment, trace, bundle; /* of a segment */
	int64_t bytes;
};
typedef enum fsc_status fsc_file_row_fn(void *ctx, const struct fsc_file_row *row,
					struct fsc_err *err);

/* Blobs that are kept, each once. Anything but FSC_OK from each stops and is returned. */
fsc_nodiscard enum fsc_status fsc_store_each_blob(struct fsc_store *s, fsc_file_row_fn *each,
						  void *ctx, struct fsc_err *err);
fsc_nodiscard enum fsc_status fsc_store_each_segment(struct fsc_store *s, fsc_file_row_fn *each,
						     void *ctx, struct fsc_err *err);
/* Structure and references of the whole database; found is called for each fault. */
fsc_nodiscard enum fsc_status fsc_store_check(struct fsc_store *s,
					      void (*found)(void *ctx, const char *what), void *ctx,
					      struct fsc_err *err);

#endif
