/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One upload from first byte to acknowledgement: stream to a temporary file while hashing, fdatasync, rename,
 * fsync of the folder, row and queue row in one transaction, and only then the answer. Also the sweep
 * of what nobody refers to; deleting is service/removal.h.
 *
 * Thread rule: struct fsc_ingest is for any thread; an upload belongs to one thread at a time.
 * Codes a client sees (status → see server/api/errors.c): "too_large" FSC_ELIMIT (413), "disk_full" FSC_EFULL
 * (507), "digest_mismatch" FSC_ECORRUPT (bytes differ from Repr-Digest), "length_mismatch" FSC_EINVAL (fewer or
 * more bytes than announced), "empty_body" FSC_EINVAL, "metadata" FSC_EINVAL, "idempotency_conflict" FSC_EEXIST,
 * "store_busy" FSC_EBUSY (503 + Retry-After).
 */
#ifndef FSC_SERVICE_INGEST_H
#define FSC_SERVICE_INGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/crypto.h"
#include "base/err.h"
#include "store/store.h"

struct fsc_blobs;
struct fsc_store;
struct fsc_ingest;
struct fsc_upload;

#define FSC_INGEST_META_MAX 255 /* bytes of name, job, host, capture */
#define FSC_INGEST_KEY_MAX 255	/* bytes of an Idempotency-Key */

struct fsc_ingest_opts {
	struct fsc_store *store; /* borrowed */
	struct fsc_blobs *blobs; /* borrowed */
	uint64_t max_bytes;	 /* per upload; 0 = FSC_MAX_UPLOAD_BYTES */
	/* Called after each new bundle, on the uploading thread (wakes the workers). May be NULL. */
	void (*queued)(void *ctx);
	void *queued_ctx;
};
/* Never fails. Free it after the last upload is finished or aborted. */
struct fsc_ingest *fsc_ingest_new(const struct fsc_ingest_opts *opts);
void fsc_ingest_free(struct fsc_ingest *in);
uint64_t fsc_ingest_max_bytes(const struct fsc_ingest *in);

struct fsc_upload_begin {
	int64_t project;
	int64_t bytes;				 /* announced length, -1 unknown */
	const char *name, *job, *host, *capture; /* NULL when not given; UTF-8, no controls */
	int64_t rank;				 /* -1 when not given */
	const uint8_t *sha256;			 /* 32 bytes expected (Repr-Digest), or NULL */
	const char *idempotency_key;		 /* or NULL */
};
#define FSC_UPLOAD_BEGIN_INIT                                           \
	{                                                               \
		.project = FSC_PROJECT_DEFAULT, .bytes = -1, .rank = -1 \
	}

/* Checks metadata, limit and free space before a byte is read. Everything in `b` is copied. */
fsc_nodiscard enum fsc_status fsc_ingest_begin(struct fsc_upload **out, struct fsc_ingest *in,
					       const struct fsc_upload_begin *b,
					       struct fsc_err *err);
/* After an error only fsc_ingest_abort is left. */
fsc_nodiscard enum fsc_status fsc_ingest_write(struct fsc_upload *u, const void *p, size_t n,
					       struct fsc_err *err);
uint64_t fsc_ingest_bytes(const struct fsc_upload *u);

struct fsc_upload_done {
	int64_t id; /* bundle */
	uint8_t sha256[FSC_SHA256_LEN];
	int64_t bytes;
	enum fsc_bundle_state state;
	bool duplicate;
	unsigned ignored; /* FSC_META_* given now and different from what is kept */
};
/* Durable on FSC_OK. Frees the upload in every case. */
fsc_nodiscard enum fsc_status fsc_ingest_finish(struct fsc_upload *u, struct fsc_upload_done *out,
						struct fsc_err *err);
void fsc_ingest_abort(struct fsc_upload *u); /* NULL is fine */

/* Lets go of the uploaded bytes and keeps what they gave; as fsc_store_blob_release, *bytes is what went. */
fsc_nodiscard enum fsc_status fsc_ingest_let_go(struct fsc_ingest *in, int64_t project,
						int64_t bundle, int64_t *bytes,
						struct fsc_err *err);
/* FSC_ENOTFOUND also with code "blob_gone": the bytes are kept no longer. FSC_EBUSY "bundle_indexing". */
fsc_nodiscard enum fsc_status fsc_ingest_reindex(struct fsc_ingest *in, int64_t project,
						 int64_t bundle, struct fsc_err *err);

/* Removes what nobody refers to: temporary files, blobs and segments without a row, all only when older than
 * `older_ns` (1 h in the server; and temporary files of any age when `fresh_start`, i.e. before the first
 * upload of this process). Never touches a blob that a row names, but for rows whose bytes were let go. */
struct fsc_sweep_done {
	uint64_t temps, blobs, segments, bytes;
};
fsc_nodiscard enum fsc_status fsc_ingest_sweep(struct fsc_ingest *in, int64_t older_ns,
					       bool fresh_start, struct fsc_sweep_done *out,
					       struct fsc_err *err);

#endif
