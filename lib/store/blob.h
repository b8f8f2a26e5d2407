/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes that are too big for rows: blobs (uploads, named by their sha256) and segments (named by an id of their own).
 * An ops struct with one implementation so far, a folder:
 *     blob/<first 2 hex>/<sha256>   seg/v1/<segment id>.seg   upload/<upload id>.part   tmp/...   reserve
 * Everything appears whole and durable or not at all: written to tmp/, fdatasync, rename, fsync of the folder.
 * Only a part grows in its place: it is a blob that comes in several sittings, and what came stays.
 * Shared by all projects. Any thread, except that one put belongs to one thread at a time.
 * Errors: FSC_EFULL (disk full; the put is then only good for abort), FSC_EIO, FSC_ENOTFOUND.
 */
#ifndef FSC_STORE_BLOB_H
#define FSC_STORE_BLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/crypto.h"
#include "base/err.h"

#define FSC_BLOB_RESERVE_BYTES (64ULL << 20)
#define FSC_BLOB_MIN_FREE_BYTES (2ULL << 30)

struct fsc_blobs;
struct fsc_blob_put;

enum fsc_blobs_use {
	FSC_BLOBS_SERVE,
	FSC_BLOBS_COPY, /* a backup: without the reserve */
	FSC_BLOBS_READ, /* what is there; nothing is made, FSC_ENOTFOUND */
};
struct fsc_blobs_opts {
	enum fsc_blobs_use use;
	uint64_t min_free_bytes; /* uploads are refused below; 0 = FSC_BLOB_MIN_FREE_BYTES */
	uint64_t reserve_bytes;	 /* size of the reserve file; 0 = FSC_BLOB_RESERVE_BYTES */
};

/* url: "dir:PATH" or a plain PATH; the folder is made. opts may be NULL. FSC_EINVAL for another kind. */
fsc_nodiscard enum fsc_status fsc_blobs_open(struct fsc_blobs **out, const char *url,
					     const struct fsc_blobs_opts *opts,
					     struct fsc_err *err);
void fsc_blobs_close(struct fsc_blobs *b);

/* ---- writing a blob: begin, write*, then commit or abort; both free the put ---- */
fsc_nodiscard enum fsc_status fsc_blob_put_begin(struct fsc_blob_put **out, struct fsc_blobs *b,
						 struct fsc_err *err);
fsc_nodiscard enum fsc_status fsc_blob_put_write(struct fsc_blob_put *p, const void *data, size_t n,
						 struct fsc_err *err);
uint64_t fsc_blob_put_bytes(const struct fsc_blob_put *p); /* written so far */
/* Digest of everything written and the bytes made durable under tmp/; no more writes after it. Lets the
 * caller check the digest before the blob appears. May be left out: commit does it. */
fsc_nodiscard enum fsc_status fsc_blob_put_finish(struct fsc_blob_put *p,
						  uint8_t sha256[FSC_SHA256_LEN],
						  struct fsc_err *err);
/* Durable under its digest on FSC_OK. *existed (may be NULL): it was there, with the same size. */
fsc_nodiscard enum fsc_status fsc_blob_put_commit(struct fsc_blob_put *p,
						  uint8_t sha256[FSC_SHA256_LEN], bool *existed,
						  struct fsc_err *err);
void fsc_blob_put_abort(struct fsc_blob_put *p); /* NULL is fine */

/* ---- a part: as above, but abort leaves what was written, under the id ---- */
/* FSC_EEXIST when there is one of this id. */
fsc_nodiscard enum fsc_status fsc_blob_part_begin(struct fsc_blob_put **out, struct fsc_blobs *b,
						  int64_t id, struct fsc_err *err);
/* Goes on behind what is there. FSC_ENOTFOUND. */
fsc_nodiscard enum fsc_status fsc_blob_part_resume(struct fsc_blob_put **out, struct fsc_blobs *b,
						   int64_t id, struct fsc_err *err);
/* What was written is durable, also its name; the descriptor is closed until the next write. After a failed
 * write the put goes on behind the last whole one. Code "part_lost": the disk did not take bytes that it had been given,
 * and a later pause would not know; only deleting the part is left. */
fsc_nodiscard enum fsc_status fsc_blob_part_pause(struct fsc_blob_put *p, struct fsc_err *err);
/* Paused, and nothing was written since? */
bool fsc_blob_part_durable(const struct fsc_blob_put *p);
/* Only closes the descriptor until the next write or pause: does not wait for the disk. */
void fsc_blob_part_rest(struct fsc_blob_put *p);
/* A commit put these bytes in place as a blob before a crash: nothing may be added, only committed again. */
bool fsc_blob_part_sealed(const struct fsc_blob_put *p);
/* After a commit too: it leaves the part, so that a crash before the rows are written loses nothing. */
fsc_nodiscard enum fsc_status fsc_blob_part_delete(struct fsc_blobs *b, int64_t id,
						   struct fsc_err *err);

/* ---- reading ---- */
/* Read-only descriptor at offset 0, owned by the caller. size may be NULL. */
fsc_nodiscard enum fsc_status fsc_blob_open(struct fsc_blobs *b,
					    const uint8_t sha256[FSC_SHA256_LEN], int *fd,
					    uint64_t *size, struct fsc_err *err);
fsc_nodiscard enum fsc_status fsc_blob_stat(struct fsc_blobs *b,
					    const uint8_t sha256[FSC_SHA256_LEN], uint64_t *size,
					    struct fsc_err *err);
/* FSC_ENOTFOUND when it is not there; FSC_EBUSY "files_held" while a backup runs: the sweep takes it later. Works on a
 * full disk (see reserve). */
fsc_nodiscard enum fsc_status fsc_blob_delete(struct fsc_blobs *b,
					      const uint8_t sha256[FSC_SHA256_LEN],
					      struct fsc_err *err);

/* ---- segments ---- */
struct fsc_seg_put;
/* *fd: empty file open for reading and writing, owned by the put; give it to the indexer. */
fsc_nodiscard enum fsc_status fsc_seg_put_begin(struct fsc_seg_put **out, struct fsc_blobs *b,
						int *fd, struct fsc_err *err);
/* Makes the bytes durable under tmp/ and closes the descriptor. May be left out: commit does it. For many
 * segments at once, so that they do not hold a descriptor each. */
fsc_nodiscard enum fsc_status fsc_seg_put_finish(struct fsc_seg_put *p, struct fsc_err *err);
/* Read-only descriptor of a finished segment that is not committed yet, owned by the caller. */
fsc_nodiscard enum fsc_status fsc_seg_put_open(struct fsc_seg_put *p, int *fd, struct fsc_err *err);
/* Durable under its name, replacing an older one (open descriptors of that stay good). Frees p. */
fsc_nodiscard enum fsc_status fsc_seg_put_commit(struct fsc_seg_put *p, int64_t segment,
						 struct fsc_err *err);
void fsc_seg_put_abort(struct fsc_seg_put *p); /* NULL is fine */
fsc_nodiscard enum fsc_status fsc_seg_file_open(struct fsc_blobs *b, int64_t segment, int *fd,
						uint64_t *size, struct fsc_err *err);
fsc_nodiscard enum fsc_status fsc_seg_file_delete(struct fsc_blobs *b, int64_t segment,
						  struct fsc_err *err);
/* An unnamed temporary file, read-write, owned by the caller: gone when closed. */
fsc_nodiscard enum fsc_status fsc_blobs_scratch(struct fsc_blobs *b, int *fd, struct fsc_err *err);

/* ---- backup (blob_copy.c) ---- */
/* From the return of hold until *hold is closed nothing of b is deleted, by any process: deletes are then FSC_EBUSY
 * "files_held", and the files are left to the next sweep. FSC_EBUSY "files_held" when somebody else holds them
 * longer than wait_ms. The kernel ends the hold of a process that dies. */
fsc_nodiscard enum fsc_status fsc_blobs_hold(int *hold, struct fsc_blobs *b, int wait_ms,
					     struct fsc_err *err);
/* Brings one file of src to dst under the same name, whole, but not durable before fsc_blobs_sync. With link as one
 * more name of the same bytes where that can be. *fresh (may be NULL): it was not there, with that size, before;
 * again: it is copied also then. FSC_ENOTFOUND; FSC_ECORRUPT "size" when src has not `bytes` bytes. */
struct fsc_blob_copy {
	struct fsc_blobs *dst, *src;
	bool link, again;
};
fsc_nodiscard enum fsc_status fsc_blob_copy(const struct fsc_blob_copy *c,
					    const uint8_t sha256[FSC_SHA256_LEN], uint64_t bytes,
					    bool *fresh, struct fsc_err *err);
fsc_nodiscard enum fsc_status fsc_seg_file_copy(const struct fsc_blob_copy *c, int64_t segment,
						uint64_t bytes, bool *fresh, struct fsc_err *err);
/* Everything copied before is durable on FSC_OK. */
fsc_nodiscard enum fsc_status fsc_blobs_sync(struct fsc_blobs *b, struct fsc_err *err);

/* ---- housekeeping ---- */
enum fsc_blob_kind { FSC_BLOB_BLOB, FSC_BLOB_SEGMENT, FSC_BLOB_TEMP, FSC_BLOB_PART };
struct fsc_blob_entry {
	enum fsc_blob_kind kind;
	uint8_t sha256[FSC_SHA256_LEN]; /* BLOB */
	int64_t segment;		/* SEGMENT */
	int64_t part;			/* PART */
	const char *temp;		/* TEMP: name to give to fsc_blobs_temp_delete; borrowed */
	uint64_t bytes;
	int64_t modified_at_ns;
};
/* Calls each for every entry of a kind, in no order; a status other than FSC_OK stops and is returned.
 * Entries that come or go meanwhile may be seen or not. Files that are none of ours are left out. */
fsc_nodiscard enum fsc_status fsc_blobs_list(struct fsc_blobs *b, enum fsc_blob_kind kind,
					     enum fsc_status (*each)(void *ctx,
								     const struct fsc_blob_entry *e,
								     struct fsc_err *err),
					     void *ctx, struct fsc_err *err);
fsc_nodiscard enum fsc_status fsc_blobs_temp_delete(struct fsc_blobs *b, const char *temp,
						    struct fsc_err *err);
fsc_nodiscard enum fsc_status fsc_blobs_free_bytes(struct fsc_blobs *b, uint64_t *out,
						   struct fsc_err *err);
struct fsc_blobs_disk {
	uint64_t total_bytes, free_bytes; /* of the disk they are on */
	uint64_t min_free_bytes;	  /* uploads are refused below */
};
fsc_nodiscard enum fsc_status fsc_blobs_disk(struct fsc_blobs *b, struct fsc_blobs_disk *out,
					     struct fsc_err *err);
/* May something that will take `need` bytes, with all else that was admitted and is not written yet, start or go on?
 * FSC_EFULL "disk_full" when less than max(min_free_bytes, need) is free. */
fsc_nodiscard enum fsc_status fsc_blobs_admit(struct fsc_blobs *b, uint64_t need,
					      struct fsc_err *err);
/* The reserve file makes deleting possible on a full disk: release it, prune, take it back. Taking needs
 * room: FSC_EFULL otherwise, try again later. Both are no-ops when already so. */
fsc_nodiscard enum fsc_status fsc_blobs_reserve_release(struct fsc_blobs *b, struct fsc_err *err);
fsc_nodiscard enum fsc_status fsc_blobs_reserve_take(struct fsc_blobs *b, struct fsc_err *err);

#endif
