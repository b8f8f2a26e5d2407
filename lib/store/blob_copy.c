/* SPDX-License-Identifier: Apache-2.0 */
/* Files from one folder of blobs to another, and keeping them from being deleted meanwhile. */
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fs.h"
#include "store/blob_ops.h"

#define HOLD_POLL_MS 20
#define PIECE_BYTES (1u << 20)

enum fsc_status fsc_blobs_hold(int *hold, struct fsc_blobs *b, int wait_ms, struct fsc_err *err)
{
	const struct timespec pause = { .tv_nsec = HOLD_POLL_MS * 1000000L };
	enum fsc_status st = b->ops->hold(hold, b, err);

	while (st == FSC_EBUSY && wait_ms > 0) {
		nanosleep(&pause, NULL);
		wait_ms -= HOLD_POLL_MS;
		fsc_err_clear(err);
		st = b->ops->hold(hold, b, err);
	}
	return st;
}

enum fsc_status fsc_blobs_sync(struct fsc_blobs *b, struct fsc_err *err)
{
	return b->ops->sync(b, err);
}

/* For file systems between which the kernel does not copy by itself. */
static enum fsc_status copy_by_hand(int to, int from, struct fsc_err *err)
{
	char *piece = fsc_xalloc(1, PIECE_BYTES);
	enum fsc_status st = FSC_OK;
	ssize_t n = 0;

	while (st == FSC_OK && (n = read(from, piece, PIECE_BYTES)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		st = n < 0 ? fsc_err_sys(err, errno, "storage: read")
			   : fsc_fs_write_all(to, piece, (size_t)n, err);
	}
	fsc_free(piece);
	return st;
}

/* In the kernel where it can: that shares the bytes on file systems that know how. */
static enum fsc_status copy_bytes(int to, int from, uint64_t bytes, struct fsc_err *err)
{
	uint64_t done = 0;

	while (done < bytes) {
		ssize_t n = copy_file_range(from, NULL, to, NULL, bytes - done, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == ENOSPC || errno == EDQUOT || errno == EIO))
			return fsc_err_sys(err, errno, "storage: copy");
		if (n <= 0)
			return copy_by_hand(to, from, err);
		done += (uint64_t)n;
	}
	return FSC_OK;
}

static enum fsc_status copy_open(const struct fsc_blob_copy *c, const char *key, int from,
				 uint64_t bytes, struct fsc_err *err)
{
	struct fsc_blob_sink *sink;
	enum fsc_status st = c->dst->ops->sink_new(&sink, c->dst, err);

	if (st != FSC_OK)
		return st;
	st = copy_bytes(c->dst->ops->sink_fd(sink), from, bytes, err);
	if (st == FSC_OK)
		st = c->dst->ops->sink_place(sink, key, err);
	c->dst->ops->sink_free(sink);
	return st;
}

static enum fsc_status copy_key(const struct fsc_blob_copy *c, const char *key, uint64_t bytes,
				bool *fresh, struct fsc_err *err)
{
	uint64_t there = 0, size = 0;
	int from = -1;
	enum fsc_status st;

	if (fresh)
		*fresh = true;
	if (!c->again && c->dst->ops->stat(c->dst, key, &there, NULL) == FSC_OK && there == bytes) {
		if (fresh)
			*fresh = false;
		return FSC_OK;
	}
	st = c->src->ops->open(c->src, key, &from, &size, err);
	if (st == FSC_OK && size != bytes)
		st = fsc_err_set(err, FSC_ECORRUPT, "size",
				 "storage: %s has %llu bytes, its row says %llu", key,
				 (unsigned long long)size, (unsigned long long)bytes);
	if (st == FSC_OK) {
		st = c->link ? c->dst->ops->link(c->dst, c->src, key, err) : FSC_EUNSUPPORTED;
		if (st == FSC_EUNSUPPORTED) {
			fsc_err_clear(err);
			st = copy_open(c, key, from, bytes, err);
		}
	}
	if (from >= 0)
		close(from);
	return st;
}

enum fsc_status fsc_blob_copy(const struct fsc_blob_copy *c, const uint8_t sha256[FSC_SHA256_LEN],
			      uint64_t bytes, bool *fresh, struct fsc_err *err)
{
	char key[FSC_BLOB_KEY_MAX];

	fsc_blob_key(key, sha256);
	return copy_key(c, key, bytes, fresh, err);
}

enum fsc_status fsc_seg_file_copy(const struct fsc_blob_copy *c, int64_t segment, uint64_t bytes,
				  bool *fresh, struct fsc_err *err)
{
	char key[FSC_BLOB_KEY_MAX];

	fsc_seg_key(key, segment);
	return copy_key(c, key, bytes, fresh, err);
}
