/* SPDX-License-Identifier: Apache-2.0 */
/* Uploads from the first byte to the acknowledgement, and taking bundles away again. */
#include "service/ingest.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/utf8.h"
#include "service/ingest_int.h"
#include "store/blob.h"

struct fsc_upload {
	struct fsc_ingest *in;			 /* borrowed */
	struct fsc_blob_put *put;		 /* owned */
	struct fsc_bundle_new row;		 /* its strings are owned */
	char *name, *job, *host, *capture, *key; /* owned */
	int64_t announced;
	uint64_t next_admit;
	uint64_t promised; /* its part of in->promised */
	bool has_expected;
	uint8_t expected[FSC_SHA256_LEN];
};

struct fsc_ingest *fsc_ingest_new(const struct fsc_ingest_opts *opts)
{
	struct fsc_ingest *in = fsc_xalloc(1, sizeof(*in));

	in->o = *opts;
	if (!in->o.max_bytes)
		in->o.max_bytes = FSC_MAX_UPLOAD_BYTES;
	pthread_mutex_init(&in->lock, NULL);
	pthread_cond_init(&in->released, NULL);
	return in;
}

void fsc_ingest_free(struct fsc_ingest *in)
{
	if (!in)
		return;
	pthread_cond_destroy(&in->released);
	pthread_mutex_destroy(&in->lock);
	fsc_free(in);
}

uint64_t fsc_ingest_max_bytes(const struct fsc_ingest *in)
{
	return in->o.max_bytes;
}

/* ---- one at a time for the same bytes ---- */

void fsc_ingest_hold(struct fsc_ingest *in, struct fsc_ingest_hold *h,
		     const uint8_t sha256[FSC_SHA256_LEN])
{
	memcpy(h->sha256, sha256, FSC_SHA256_LEN);
	pthread_mutex_lock(&in->lock);
	for (;;) {
		struct fsc_ingest_hold *other = in->holds;

		while (other && memcmp(other->sha256, sha256, FSC_SHA256_LEN) != 0)
			other = other->next;
		if (!other)
			break;
		pthread_cond_wait(&in->released, &in->lock);
	}
	h->next = in->holds;
	in->holds = h;
	pthread_mutex_unlock(&in->lock);
}

void fsc_ingest_release(struct fsc_ingest *in, struct fsc_ingest_hold *h)
{
	struct fsc_ingest_hold **at;

	pthread_mutex_lock(&in->lock);
	for (at = &in->holds; *at != h; at = &(*at)->next)
		;
	*at = h->next;
	pthread_cond_broadcast(&in->released);
	pthread_mutex_unlock(&in->lock);
}

/* ---- room on the disk ---- */

/* An upload takes its bytes, and its segments about as many again. */
uint64_t fsc_ingest_need(int64_t length)
{
	return length >= 0 ? 2 * (uint64_t)length : FSC_INGEST_STEP_BYTES;
}

/* Promises first and looks then, so that of two uploads at once not both see the room of one. */
enum fsc_status fsc_ingest_promise(struct fsc_ingest *in, uint64_t bytes, struct fsc_err *err)
{
	uint64_t all = atomic_fetch_add(&in->promised, bytes) + bytes;
	enum fsc_status st = fsc_blobs_admit(in->o.blobs, all, err);

	if (st != FSC_OK)
		atomic_fetch_sub(&in->promised, bytes);
	return st;
}

void fsc_ingest_unpromise(struct fsc_ingest *in, uint64_t bytes)
{
	atomic_fetch_sub(&in->promised, bytes);
}

/* Written bytes are missing on the disk already. */
static void keep_promise(struct fsc_upload *u, uint64_t bytes)
{
	bytes = bytes < u->promised ? bytes : u->promised;
	u->promised -= bytes;
	fsc_ingest_unpromise(u->in, bytes);
}

/* From time to time while the body comes: others write to this disk too. */
static enum fsc_status look_again(struct fsc_upload *u, struct fsc_err *err)
{
	enum fsc_status st = FSC_OK;

	if (u->announced >= 0) {
		st = fsc_blobs_admit(u->in->o.blobs, atomic_load(&u->in->promised), err);
	} else {
		uint64_t more = FSC_INGEST_STEP_BYTES - u->promised;

		st = fsc_ingest_promise(u->in, more, err);
		u->promised += st == FSC_OK ? more : 0;
	}
	u->next_admit += FSC_INGEST_STEP_BYTES;
	return st;
}

/* ---- begin ---- */

static enum fsc_status check_text(const char *what, const char *s, size_t max, struct fsc_err *err)
{
	size_t n;

	if (!s)
		return FSC_OK;
	n = strnlen(s, max + 1);
	if (n > max)
		return fsc_err_set(err, FSC_EINVAL, "metadata",
				   "upload: %s is longer than %zu bytes", what, max);
	if (!fsc_utf8_valid(s, n))
		return fsc_err_set(err, FSC_EINVAL, "metadata", "upload: %s is not UTF-8", what);
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)s[i] < ' ' || s[i] == 127)
			return fsc_err_set(err, FSC_EINVAL, "metadata",
					   "upload: %s holds a control character", what);
	return FSC_OK;
}

enum fsc_status fsc_ingest_too_large(const struct fsc_ingest *in, struct fsc_err *err)
{
	return fsc_err_set(err, FSC_ELIMIT, "too_large",
			   "upload: the body is larger than %llu bytes",
			   (unsigned long long)in->o.max_bytes);
}

enum fsc_status fsc_ingest_check(struct fsc_ingest *in, const struct fsc_upload_begin *b,
				 struct fsc_err *err)
{
	enum fsc_status st = check_text("name", b->name, FSC_INGEST_META_MAX, err);

	if (st == FSC_OK)
		st = check_text("job", b->job, FSC_INGEST_META_MAX, err);
	if (st == FSC_OK)
		st = check_text("host", b->host, FSC_INGEST_META_MAX, err);
	if (st == FSC_OK)
		st = check_text("capture", b->capture, FSC_INGEST_META_MAX, err);
	if (st == FSC_OK)
		st = check_text("Idempotency-Key", b->idempotency_key, FSC_INGEST_KEY_MAX, err);
	if (st == FSC_OK && (b->rank < -1 || b->rank > INT32_MAX))
		st = fsc_err_set(err, FSC_EINVAL, "metadata", "upload: the rank is out of range");
	if (st == FSC_OK && b->bytes > 0 && (uint64_t)b->bytes > in->o.max_bytes)
		st = fsc_ingest_too_large(in, err);
	if (st == FSC_OK && b->bytes == 0)
		st = fsc_err_set(err, FSC_EINVAL, "empty_body", "upload: the body is empty");
	return st;
}

enum fsc_status fsc_ingest_begin(struct fsc_upload **out, struct fsc_ingest *in,
				 const struct fsc_upload_begin *b, struct fsc_err *err)
{
	enum fsc_status st = fsc_ingest_check(in, b, err);
	struct fsc_blob_put *put = NULL;
	struct fsc_upload *u;

	*out = NULL;
	if (st == FSC_OK)
		st = fsc_ingest_promise(in, fsc_ingest_need(b->bytes), err);
	if (st != FSC_OK)
		return st;
	st = fsc_blob_put_begin(&put, in->o.blobs, err);
	if (st != FSC_OK) {
		fsc_ingest_unpromise(in, fsc_ingest_need(b->bytes));
		return st;
	}
	u = fsc_xalloc(1, sizeof(*u));
	u->in = in;
	u->put = put;
	u->announced = b->bytes;
	u->promised = fsc_ingest_need(b->bytes);
	u->next_admit = FSC_INGEST_STEP_BYTES;
	u->row.project = b->project;
	u->row.rank = b->rank;
	u->row.name = u->name = fsc_xstrdup(b->name);
	u->row.job = u->job = fsc_xstrdup(b->job);
	u->row.host = u->host = fsc_xstrdup(b->host);
	u->row.capture = u->capture = fsc_xstrdup(b->capture);
	u->row.idempotency_key = u->key = fsc_xstrdup(b->idempotency_key);
	if (b->sha256) {
		u->has_expected = true;
		memcpy(u->expected, b->sha256, FSC_SHA256_LEN);
	}
	*out = u;
	return FSC_OK;
}

/* ---- body ---- */

enum fsc_status fsc_ingest_write(struct fsc_upload *u, const void *p, size_t n, struct fsc_err *err)
{
	uint64_t have = fsc_blob_put_bytes(u->put);

	if (n > u->in->o.max_bytes || have > u->in->o.max_bytes - n)
		return fsc_ingest_too_large(u->in, err);
	if (u->announced >= 0 && have + n > (uint64_t)u->announced)
		return fsc_err_set(err, FSC_EINVAL, "length_mismatch",
				   "upload: the body is longer than the %lld bytes announced",
				   (long long)u->announced);
	if (have + n > u->next_admit) {
		enum fsc_status st = look_again(u, err);

		if (st != FSC_OK)
			return st;
	}
	keep_promise(u, n);
	return fsc_blob_put_write(u->put, p, n, err);
}

uint64_t fsc_ingest_bytes(const struct fsc_upload *u)
{
	return fsc_blob_put_bytes(u->put);
}

static void upload_free(struct fsc_upload *u)
{
	keep_promise(u, u->promised);
	fsc_blob_put_abort(u->put);
	fsc_free(u->name);
	fsc_free(u->job);
	fsc_free(u->host);
	fsc_free(u->capture);
	fsc_free(u->key);
	fsc_free(u);
}

void fsc_ingest_abort(struct fsc_upload *u)
{
	if (u)
		upload_free(u);
}

/* ---- finish ---- */

static enum fsc_status check_body(struct fsc_upload *u, struct fsc_err *err)
{
	char want[FSC_SHA256_HEX], have[FSC_SHA256_HEX];
	enum fsc_status st;

	if (!u->row.bytes)
		return fsc_err_set(err, FSC_EINVAL, "empty_body", "upload: the body is empty");
	if (u->announced >= 0 && u->row.bytes != u->announced)
		return fsc_err_set(err, FSC_EINVAL, "length_mismatch",
				   "upload: %lld bytes came, %lld were announced",
				   (long long)u->row.bytes, (long long)u->announced);
	st = fsc_blob_put_finish(u->put, u->row.sha256, err);
	if (st != FSC_OK || !u->has_expected)
		return st;
	if (!memcmp(u->expected, u->row.sha256, FSC_SHA256_LEN))
		return FSC_OK;
	fsc_hex(want, u->expected, FSC_SHA256_LEN);
	fsc_hex(have, u->row.sha256, FSC_SHA256_LEN);
	return fsc_err_set(err, FSC_ECORRUPT, "digest_mismatch",
			   "upload: sha256 of the body is %s, not %s as announced", have, want);
}

/* With the digest held, so that no delete or sweep falls between the two. */
static enum fsc_status keep_held(struct fsc_ingest *in, struct fsc_blob_put *put,
				 const struct fsc_bundle_new *new, struct fsc_bundle_put *row,
				 struct fsc_err *err)
{
	uint8_t sha256[FSC_SHA256_LEN];
	bool existed = false, referenced = true;
	enum fsc_status st = fsc_blob_put_commit(put, sha256, &existed, err);

	if (st != FSC_OK)
		return st;
	st = fsc_store_bundle_put(in->o.store, new, row, err);
	/* Refused: the bytes are nobody's, unless another bundle has them too. */
	if (st != FSC_OK && !existed &&
	    fsc_store_blob_referenced(in->o.store, sha256, &referenced, NULL) == FSC_OK &&
	    !referenced)
		(void)!fsc_blob_delete(in->o.blobs, sha256, NULL);
	return st;
}

enum fsc_status fsc_ingest_keep(struct fsc_ingest *in, struct fsc_blob_put *put,
				const struct fsc_bundle_new *new, struct fsc_upload_done *out,
				struct fsc_err *err)
{
	struct fsc_ingest_hold hold;
	struct fsc_bundle_put row = { 0 };
	enum fsc_status st;

	fsc_ingest_hold(in, &hold, new->sha256);
	st = keep_held(in, put, new, &row, err);
	fsc_ingest_release(in, &hold);
	if (st != FSC_OK)
		return st;
	*out = (struct fsc_upload_done){
		.id = row.id,
		.bytes = new->bytes,
		.state = row.state,
		.duplicate = row.duplicate,
		.ignored = row.ignored,
	};
	memcpy(out->sha256, new->sha256, FSC_SHA256_LEN);
	if ((!row.duplicate || row.requeued) && in->o.queued)
		in->o.queued(in->o.queued_ctx);
	return FSC_OK;
}

enum fsc_status fsc_ingest_finish(struct fsc_upload *u, struct fsc_upload_done *out,
				  struct fsc_err *err)
{
	struct fsc_blob_put *put = u->put;
	enum fsc_status st;

	u->row.bytes = (int64_t)fsc_blob_put_bytes(put);
	st = check_body(u, err);
	if (st == FSC_OK) {
		u->put = NULL;
		st = fsc_ingest_keep(u->in, put, &u->row, out, err);
	}
	upload_free(u);
	return st;
}
