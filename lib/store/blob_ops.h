/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seam under store/blob.h: what an implementation provides (a folder now, S3 later). Digests, limits and
 * admission are above it. Private to lib/store and its tests.
 */
#ifndef FSC_STORE_BLOB_OPS_H
#define FSC_STORE_BLOB_OPS_H

#include "store/blob.h"

struct fsc_blob_sink; /* one object being written */

struct fsc_blobs_ops {
	const char *name;
	void (*close)(struct fsc_blobs *b); /* frees b */
	enum fsc_status (*sink_new)(struct fsc_blob_sink **out, struct fsc_blobs *b,
				    struct fsc_err *err);
	enum fsc_status (*sink_write)(struct fsc_blob_sink *s, const void *p, size_t n,
				      struct fsc_err *err);
	/* An object that grows under its key: opened at its end, made anew when `create`. sink_free leaves it.
	 * *sealed: a commit has linked it already. */
	enum fsc_status (*sink_keep)(struct fsc_blob_sink **out, struct fsc_blobs *b,
				     const char *key, bool create, uint64_t *bytes, bool *sealed,
				     struct fsc_err *err);
	/* Of a kept one: durable so far; sink_write goes on. */
	enum fsc_status (*sink_pause)(struct fsc_blob_sink *s, struct fsc_err *err);
	void (*sink_rest)(
		struct fsc_blob_sink *s);	 /* of a kept one: holds no descriptor until then */
	int (*sink_fd)(struct fsc_blob_sink *s); /* for segments: something to map and seek in */
	enum fsc_status (*sink_finish)(struct fsc_blob_sink *s, struct fsc_err *err);
	/* After finish: a descriptor to read it with, owned by the caller. */
	enum fsc_status (*sink_open)(struct fsc_blob_sink *s, int *fd, struct fsc_err *err);
	/* After finish: visible under the key, durably. sink_free is still called. A kept one stays too. */
	enum fsc_status (*sink_commit)(struct fsc_blob_sink *s, const char *key,
				       struct fsc_err *err);
	/* Visible under the key, but not durable before sync: for many files at once. sink_free is still called. */
	enum fsc_status (*sink_place)(struct fsc_blob_sink *s, const char *key,
				      struct fsc_err *err);
	void (*sink_free)(struct fsc_blob_sink *s); /* drops what was not committed */
	/* One more name in b for the bytes of src; FSC_EUNSUPPORTED where that cannot be. Not durable before sync. */
	enum fsc_status (*link)(struct fsc_blobs *b, struct fsc_blobs *src, const char *key,
				struct fsc_err *err);
	enum fsc_status (*sync)(struct fsc_blobs *b, struct fsc_err *err); /* all of b */
	enum fsc_status (*hold)(int *fd, struct fsc_blobs *b, struct fsc_err *err);
	enum fsc_status (*open)(struct fsc_blobs *b, const char *key, int *fd, uint64_t *size,
				struct fsc_err *err);
	enum fsc_status (*stat)(struct fsc_blobs *b, const char *key, uint64_t *size,
				struct fsc_err *err);
	enum fsc_status (*remove)(struct fsc_blobs *b, const char *key, struct fsc_err *err);
	/* prefix: "blob", "seg/v1", "tmp" or "upload". name is the last part of the key. */
	enum fsc_status (*list)(struct fsc_blobs *b, const char *prefix,
				enum fsc_status (*each)(void *ctx, const char *name, uint64_t bytes,
							int64_t modified_at_ns,
							struct fsc_err *err),
				void *ctx, struct fsc_err *err);
	enum fsc_status (*scratch)(struct fsc_blobs *b, int *fd, struct fsc_err *err);
	enum fsc_status (*disk_bytes)(struct fsc_blobs *b, uint64_t *total, uint64_t *free_bytes,
				      struct fsc_err *err);
	enum fsc_status (*reserve)(struct fsc_blobs *b, uint64_t bytes, struct fsc_err *err);
};

/* First member of an implementation's own struct. */
struct fsc_blobs {
	const struct fsc_blobs_ops *ops;
	uint64_t min_free_bytes, reserve_bytes;
};

fsc_nodiscard enum fsc_status fsc_blobs_open_dir(struct fsc_blobs **out, const char *path,
						 bool make, struct fsc_err *err);
/* Keys of objects; at least FSC_BLOB_KEY_MAX bytes. */
#define FSC_BLOB_KEY_MAX 96
void fsc_blob_key(char *key, const uint8_t sha256[FSC_SHA256_LEN]);
void fsc_seg_key(char *key, int64_t segment);

#endif
