/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of resumable uploads: what was announced, and what the upload became. The bytes are a part of
 * store/blob.h under the same id. Rules of store/store.h hold: any thread, durable on return, another project's
 * row is FSC_ENOTFOUND.
 */
#ifndef FSC_STORE_UPLOADS_H
#define FSC_STORE_UPLOADS_H

#include "store/store.h"

struct fsc_upload_row {
	int64_t id, project;
	int64_t length; /* -1 not announced yet */
	bool has_sha256;
	uint8_t sha256[FSC_SHA256_LEN];		 /* as announced */
	const char *name, *job, *host, *capture; /* name "" and the others NULL when not given */
	int64_t rank;				 /* -1 when not given */
	const char *idempotency_key;		 /* NULL when not given */
	const char *actor;			 /* who began it, as in audit rows */
	int64_t created_at_ns, expires_at_ns;
	int64_t bundle; /* what it became, 0 while it goes on */
	bool duplicate; /* the bundle was there already */
};

/* FSC_EBUSY "too_many_uploads": the project has max_open (> 0) that go on. */
fsc_nodiscard enum fsc_status fsc_store_upload_put(struct fsc_store *s,
						   const struct fsc_upload_row *in,
						   uint32_t max_open, struct fsc_err *err);
fsc_nodiscard enum fsc_status fsc_store_upload_get(struct fsc_store *s, struct fsc_arena *a,
						   int64_t project, int64_t id,
						   struct fsc_upload_row *out, struct fsc_err *err);
/* The newest that goes on, has this key and expires after now_ns. FSC_ENOTFOUND. */
fsc_nodiscard enum fsc_status fsc_store_upload_by_key(struct fsc_store *s, struct fsc_arena *a,
						      int64_t project, const char *key,
						      int64_t now_ns, struct fsc_upload_row *out,
						      struct fsc_err *err);
/* Length (-1 leaves it) and a new time of expiry. */
fsc_nodiscard enum fsc_status fsc_store_upload_update(struct fsc_store *s, int64_t id,
						      int64_t length, int64_t expires_at_ns,
						      struct fsc_err *err);
/* FSC_OK also when it is not there. */
fsc_nodiscard enum fsc_status fsc_store_upload_delete(struct fsc_store *s, int64_t id,
						      struct fsc_err *err);
fsc_nodiscard enum fsc_status fsc_store_upload_exists(struct fsc_store *s, int64_t id, bool *yes,
						      struct fsc_err *err);

struct fsc_upload_rows {
	struct fsc_upload_row *items; /* by id */
	size_t n_items;
};
/* Of all projects, id above `after`, at most limit: with `open` those that go on, else those that expire at
 * or before until_ns. */
fsc_nodiscard enum fsc_status fsc_store_upload_list(struct fsc_store *s, struct fsc_arena *a,
						    bool open, int64_t until_ns, int64_t after,
						    uint32_t limit, struct fsc_upload_rows *out,
						    struct fsc_err *err);

#endif
