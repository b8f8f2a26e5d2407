/* SPDX-License-Identifier: Apache-2.0 */
/* Blobs and segments over whatever implementation is below: digests, names, limits. */
#include "store/blob_ops.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/num.h"

#define KEY_MAX FSC_BLOB_KEY_MAX
#define HASH_STEP (256u << 10)

enum fsc_status fsc_blobs_open(struct fsc_blobs **out, const char *url,
			       const struct fsc_blobs_opts *opts, struct fsc_err *err)
{
	static const char dir[] = "dir:";
	const char *path = url;
	enum fsc_status st;

	*out = NULL;
	if (!strncmp(url, dir, sizeof(dir) - 1))
		path = url + sizeof(dir) - 1;
	else if (strstr(url, "://"))
		return fsc_err_set(err, FSC_EINVAL, "blobs_url", "blobs: unknown kind of URL: %s",
				   url);
	if (!path[0])
		return fsc_err_set(err, FSC_EINVAL, "blobs_url", "blobs: the URL has no path");
	st = fsc_blobs_open_dir(out, path, !opts || opts->use != FSC_BLOBS_READ, err);
	if (st != FSC_OK)
		return st;
	(*out)->min_free_bytes =
		opts && opts->min_free_bytes ? opts->min_free_bytes : FSC_BLOB_MIN_FREE_BYTES;
	(*out)->reserve_bytes =
		opts && opts->reserve_bytes ? opts->reserve_bytes : FSC_BLOB_RESERVE_BYTES;
	/* A disk that is too full for the reserve can still be read and pruned. */
	if (!opts || opts->use == FSC_BLOBS_SERVE)
		(void)!fsc_blobs_reserve_take(*out, NULL);
	return FSC_OK;
}

void fsc_blobs_close(struct fsc_blobs *b)
{
	if (b)
		b->ops->close(b);
}

/* ---- keys ---- */

void fsc_blob_key(char *key, const uint8_t sha256[FSC_SHA256_LEN])
{
	char hex[FSC_SHA256_HEX];

	fsc_hex(hex, sha256, FSC_SHA256_LEN);
	snprintf(key, KEY_MAX, "blob/%.2s/%s", hex, hex);
}

void fsc_seg_key(char *key, int64_t segment)
{
	snprintf(key, KEY_MAX, "seg/v1/%lld.seg", (long long)segment);
}

static void part_key(char key[KEY_MAX], int64_t id)
{
	snprintf(key, KEY_MAX, "upload/%lld.part", (long long)id);
}

/* ---- writing a blob ---- */

struct fsc_blob_put {
	struct fsc_blobs *b;	    /* borrowed */
	struct fsc_blob_sink *sink; /* owned */
	struct fsc_sha256 *hash;    /* owned */
	uint64_t bytes, hashed; /* hashed < bytes: a part whose begin another process has written */
	bool kept, sealed;	/* a part */
	bool durable;		/* a part, since its last pause */
	bool finished, failed;
	uint8_t sha256[FSC_SHA256_LEN];
};

enum fsc_status fsc_blob_put_begin(struct fsc_blob_put **out, struct fsc_blobs *b,
				   struct fsc_err *err)
{
	struct fsc_blob_put *p = fsc_xalloc(1, sizeof(*p));
	enum fsc_status st;

	*out = NULL;
	p->b = b;
	st = b->ops->sink_new(&p->sink, b, err);
	if (st != FSC_OK) {
		fsc_free(p);
		return st;
	}
	p->hash = fsc_sha256_new();
	*out = p;
	return FSC_OK;
}

static enum fsc_status broken_put(struct fsc_err *err)
{
	return fsc_err_set(err, FSC_EINVAL, NULL, "blob: the put has failed or is finished");
}

enum fsc_status fsc_blob_put_write(struct fsc_blob_put *p, const void *data, size_t n,
				   struct fsc_err *err)
{
	enum fsc_status st;

	if (p->failed || p->finished || p->sealed)
		return broken_put(err);
	p->durable = false;
	st = p->b->ops->sink_write(p->sink, data, n, err);
	if (st != FSC_OK) {
		p->failed = !p->kept;
		return st;
	}
	if (p->hashed == p->bytes) {
		fsc_sha256_update(p->hash, data, n);
		p->hashed += n;
	}
	p->bytes += n;
	return FSC_OK;
}

uint64_t fsc_blob_put_bytes(const struct fsc_blob_put *p)
{
	return p->bytes;
}

/* What this process has not seen itself. */
static enum fsc_status hash_rest(struct fsc_blob_put *p, struct fsc_err *err)
{
	char *buf;
	int fd = -1;
	enum fsc_status st;

	if (p->hashed == p->bytes)
		return FSC_OK;
	st = p->b->ops->sink_open(p->sink, &fd, err);
	if (st != FSC_OK)
		return st;
	buf = fsc_xalloc(1, HASH_STEP);
	while (p->hashed < p->bytes && st == FSC_OK) {
		uint64_t left = p->bytes - p->hashed;
		size_t n = left < HASH_STEP ? (size_t)left : HASH_STEP;
		ssize_t got = pread(fd, buf, n, (off_t)p->hashed);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			st = got ? fsc_err_sys(err, errno, "storage: read a part")
				 : fsc_err_set(err, FSC_ECORRUPT, "part_short",
					       "storage: a part lost bytes");
		else
			fsc_sha256_update(p->hash, buf, (size_t)got);
		p->hashed += got > 0 ? (uint64_t)got : 0;
	}
	fsc_free(buf);
	close(fd);
	return st;
}

enum fsc_status fsc_blob_put_finish(struct fsc_blob_put *p, uint8_t sha256[FSC_SHA256_LEN],
				    struct fsc_err *err)
{
	enum fsc_status st;

	if (p->failed)
		return broken_put(err);
	if (!p->finished) {
		st = p->b->ops->sink_finish(p->sink, err);
		if (st == FSC_OK)
			st = hash_rest(p, err);
		p->finished = true;
		if (st != FSC_OK) {
			p->failed = true;
			return st;
		}
		fsc_sha256_final(p->hash, p->sha256);
	}
	memcpy(sha256, p->sha256, FSC_SHA256_LEN);
	return FSC_OK;
}

enum fsc_status fsc_blob_put_commit(struct fsc_blob_put *p, uint8_t sha256[FSC_SHA256_LEN],
				    bool *existed, struct fsc_err *err)
{
	char key[KEY_MAX];
	uint64_t size = 0;
	enum fsc_status st = fsc_blob_put_finish(p, sha256, err);

	if (st == FSC_OK) {
		fsc_blob_key(key, sha256);
		if (existed)
			*existed = p->b->ops->stat(p->b, key, &size, NULL) == FSC_OK &&
				   size == p->bytes;
		/* Also when it is there: the new copy is known to be good and looks young to a sweep. */
		st = p->b->ops->sink_commit(p->sink, key, err);
	}
	fsc_blob_put_abort(p);
	return st;
}

void fsc_blob_put_abort(struct fsc_blob_put *p)
{
	if (!p)
		return;
	p->b->ops->sink_free(p->sink);
	fsc_sha256_free(p->hash);
	fsc_free(p);
}

/* ---- parts ---- */

static enum fsc_status part_open(struct fsc_blob_put **out, struct fsc_blobs *b, int64_t id,
				 bool create, struct fsc_err *err)
{
	struct fsc_blob_put *p = fsc_xalloc(1, sizeof(*p));
	char key[KEY_MAX];
	enum fsc_status st;

	*out = NULL;
	part_key(key, id);
	p->b = b;
	p->kept = true;
	st = b->ops->sink_keep(&p->sink, b, key, create, &p->bytes, &p->sealed, err);
	if (st != FSC_OK) {
		fsc_free(p);
		return st;
	}
	p->hash = fsc_sha256_new();
	*out = p;
	return FSC_OK;
}

enum fsc_status fsc_blob_part_begin(struct fsc_blob_put **out, struct fsc_blobs *b, int64_t id,
				    struct fsc_err *err)
{
	return part_open(out, b, id, true, err);
}

enum fsc_status fsc_blob_part_resume(struct fsc_blob_put **out, struct fsc_blobs *b, int64_t id,
				     struct fsc_err *err)
{
	return part_open(out, b, id, false, err);
}

enum fsc_status fsc_blob_part_pause(struct fsc_blob_put *p, struct fsc_err *err)
{
	enum fsc_status st;

	if (p->failed || p->finished)
		return broken_put(err);
	st = p->b->ops->sink_pause(p->sink, err);
	p->durable = st == FSC_OK;
	return st;
}

bool fsc_blob_part_durable(const struct fsc_blob_put *p)
{
	return p->durable;
}

void fsc_blob_part_rest(struct fsc_blob_put *p)
{
	if (!p->finished)
		p->b->ops->sink_rest(p->sink);
}

bool fsc_blob_part_sealed(const struct fsc_blob_put *p)
{
	return p->sealed;
}

enum fsc_status fsc_blob_part_delete(struct fsc_blobs *b, int64_t id, struct fsc_err *err)
{
	char key[KEY_MAX];

	part_key(key, id);
	return b->ops->remove(b, key, err);
}

/* ---- reading ---- */

enum fsc_status fsc_blob_open(struct fsc_blobs *b, const uint8_t sha256[FSC_SHA256_LEN], int *fd,
			      uint64_t *size, struct fsc_err *err)
{
	char key[KEY_MAX];

	fsc_blob_key(key, sha256);
	return b->ops->open(b, key, fd, size, err);
}

enum fsc_status fsc_blob_stat(struct fsc_blobs *b, const uint8_t sha256[FSC_SHA256_LEN],
			      uint64_t *size, struct fsc_err *err)
{
	char key[KEY_MAX];

	fsc_blob_key(key, sha256);
	return b->ops->stat(b, key, size, err);
}

enum fsc_status fsc_blob_delete(struct fsc_blobs *b, const uint8_t sha256[FSC_SHA256_LEN],
				struct fsc_err *err)
{
	char key[KEY_MAX];

	fsc_blob_key(key, sha256);
	return b->ops->remove(b, key, err);
}

/* ---- segments ---- */

struct fsc_seg_put {
	struct fsc_blobs *b;	    /* borrowed */
	struct fsc_blob_sink *sink; /* owned */
	bool finished;
};

enum fsc_status fsc_seg_put_begin(struct fsc_seg_put **out, struct fsc_blobs *b, int *fd,
				  struct fsc_err *err)
{
	struct fsc_seg_put *p = fsc_xalloc(1, sizeof(*p));
	enum fsc_status st;

	*out = NULL;
	p->b = b;
	st = b->ops->sink_new(&p->sink, b, err);
	if (st != FSC_OK) {
		fsc_free(p);
		return st;
	}
	*fd = b->ops->sink_fd(p->sink);
	*out = p;
	return FSC_OK;
}

enum fsc_status fsc_seg_put_finish(struct fsc_seg_put *p, struct fsc_err *err)
{
	enum fsc_status st;

	if (p->finished)
		return FSC_OK;
	st = p->b->ops->sink_finish(p->sink, err);
	p->finished = st == FSC_OK;
	return st;
}

enum fsc_status fsc_seg_put_open(struct fsc_seg_put *p, int *fd, struct fsc_err *err)
{
	enum fsc_status st = fsc_seg_put_finish(p, err);

	return st == FSC_OK ? p->b->ops->sink_open(p->sink, fd, err) : st;
}

enum fsc_status fsc_seg_put_commit(struct fsc_seg_put *p, int64_t segment, struct fsc_err *err)
{
	char key[KEY_MAX];
	enum fsc_status st = fsc_seg_put_finish(p, err);

	fsc_seg_key(key, segment);
	if (st == FSC_OK)
		st = p->b->ops->sink_commit(p->sink, key, err);
	fsc_seg_put_abort(p);
	return st;
}

void fsc_seg_put_abort(struct fsc_seg_put *p)
{
	if (!p)
		return;
	p->b->ops->sink_free(p->sink);
	fsc_free(p);
}

enum fsc_status fsc_seg_file_open(struct fsc_blobs *b, int64_t segment, int *fd, uint64_t *size,
				  struct fsc_err *err)
{
	char key[KEY_MAX];

	fsc_seg_key(key, segment);
	return b->ops->open(b, key, fd, size, err);
}

enum fsc_status fsc_seg_file_delete(struct fsc_blobs *b, int64_t segment, struct fsc_err *err)
{
	char key[KEY_MAX];

	fsc_seg_key(key, segment);
	return b->ops->remove(b, key, err);
}

enum fsc_status fsc_blobs_scratch(struct fsc_blobs *b, int *fd, struct fsc_err *err)
{
	return b->ops->scratch(b, fd, err);
}

/* ---- housekeeping ---- */

struct listing {
	enum fsc_blob_kind kind;
	enum fsc_status (*each)(void *ctx, const struct fsc_blob_entry *e, struct fsc_err *err);
	void *ctx;
};

static bool parse_id_name(int64_t *id, const char *name, const char *suffix)
{
	size_t n = strlen(name), k = strlen(suffix);

	return n > k && !strcmp(name + n - k, suffix) && fsc_parse_i64(id, name, n - k);
}

static enum fsc_status list_one(void *ctx, const char *name, uint64_t bytes, int64_t modified_at_ns,
				struct fsc_err *err)
{
	const struct listing *l = ctx;
	struct fsc_blob_entry e = { .kind = l->kind,
				    .bytes = bytes,
				    .modified_at_ns = modified_at_ns };

	if (l->kind == FSC_BLOB_TEMP)
		e.temp = name;
	else if (l->kind == FSC_BLOB_SEGMENT && !parse_id_name(&e.segment, name, ".seg"))
		return FSC_OK;
	else if (l->kind == FSC_BLOB_PART && !parse_id_name(&e.part, name, ".part"))
		return FSC_OK;
	else if (l->kind == FSC_BLOB_BLOB &&
		 (strlen(name) != FSC_SHA256_HEX - 1 || !fsc_unhex(e.sha256, name, FSC_SHA256_LEN)))
		return FSC_OK;
	return l->each(l->ctx, &e, err);
}

enum fsc_status fsc_blobs_list(struct fsc_blobs *b, enum fsc_blob_kind kind,
			       enum fsc_status (*each)(void *ctx, const struct fsc_blob_entry *e,
						       struct fsc_err *err),
			       void *ctx, struct fsc_err *err)
{
	static const char *const prefix[] = { "blob", "seg/v1", "tmp", "upload" };
	struct listing l = { kind, each, ctx };

	return b->ops->list(b, prefix[kind], list_one, &l, err);
}

enum fsc_status fsc_blobs_temp_delete(struct fsc_blobs *b, const char *temp, struct fsc_err *err)
{
	char key[KEY_MAX];

	if (strchr(temp, '/') || strlen(temp) + 5 > sizeof(key))
		return fsc_err_set(err, FSC_EINVAL, NULL, "blobs: not a temporary name");
	snprintf(key, sizeof(key), "tmp/%s", temp);
	return b->ops->remove(b, key, err);
}

enum fsc_status fsc_blobs_free_bytes(struct fsc_blobs *b, uint64_t *out, struct fsc_err *err)
{
	uint64_t total;

	return b->ops->disk_bytes(b, &total, out, err);
}

enum fsc_status fsc_blobs_disk(struct fsc_blobs *b, struct fsc_blobs_disk *out, struct fsc_err *err)
{
	out->min_free_bytes = b->min_free_bytes;
	return b->ops->disk_bytes(b, &out->total_bytes, &out->free_bytes, err);
}

enum fsc_status fsc_blobs_admit(struct fsc_blobs *b, uint64_t need, struct fsc_err *err)
{
	uint64_t free_bytes = 0;
	enum fsc_status st = fsc_blobs_free_bytes(b, &free_bytes, err);

	if (st != FSC_OK)
		return st;
	if (need < b->min_free_bytes)
		need = b->min_free_bytes;
	if (free_bytes < need)
		return fsc_err_set(
			err, FSC_EFULL, "disk_full",
			"storage: %llu MiB free, this upload and those under way need %llu MiB",
			(unsigned long long)(free_bytes >> 20), (unsigned long long)(need >> 20));
	return FSC_OK;
}

enum fsc_status fsc_blobs_reserve_release(struct fsc_blobs *b, struct fsc_err *err)
{
	return b->ops->reserve(b, 0, err);
}

enum fsc_status fsc_blobs_reserve_take(struct fsc_blobs *b, struct fsc_err *err)
{
	return b->ops->reserve(b, b->reserve_bytes, err);
}
