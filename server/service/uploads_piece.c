/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of resumable uploads: a piece from its head to its answer, and the end of an upload. */
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "service/uploads_int.h"

struct fsc_piece {
	struct fsc_session *s; /* a reference */
	uint64_t writer;       /* the number under which it may write */
	bool complete, has_sha256;
	bool begins; /* the upload itself begins with it */
	bool asks;   /* brings nothing: the upload is complete, or was found by its key */
	int64_t length;
	uint8_t sha256[FSC_SHA256_LEN];
	uint64_t bytes;
};

/* ---- checks before a byte is read ---- */

static enum fsc_status bad_length(struct fsc_err *err, int64_t known, int64_t said)
{
	return fsc_err_set(err, FSC_EINVAL, "upload_length",
			   "upload: its length is %lld bytes, this request says %lld",
			   (long long)known, (long long)said);
}

/* known: length announced before, -1 not. */
static enum fsc_status check_length(struct fsc_uploads *u, const struct fsc_piece_begin *b,
				    int64_t known, struct fsc_err *err)
{
	int64_t end = b->bytes >= 0 ? b->offset + b->bytes : b->offset;

	if (b->length >= 0 && known >= 0 && b->length != known)
		return bad_length(err, known, b->length);
	known = known >= 0 ? known : b->length;
	if (known > 0 && (uint64_t)known > fsc_uploads_max_bytes(u))
		return fsc_ingest_too_large(u->o.ingest, err);
	if (b->complete && b->bytes >= 0 && known >= 0 && end != known)
		return bad_length(err, known, end);
	if (known >= 0 && end > known)
		return fsc_err_set(err, FSC_EINVAL, "length_mismatch",
				   "upload: the piece ends at byte %lld, %lld were announced",
				   (long long)end, (long long)known);
	return (uint64_t)end > fsc_uploads_max_bytes(u) ? fsc_ingest_too_large(u->o.ingest, err)
							: FSC_OK;
}

/* Lock held. Room for what is still to come, once more after it was given back. */
static enum fsc_status take_room(struct fsc_session *s, struct fsc_err *err)
{
	uint64_t have = s->put ? fsc_blob_put_bytes(s->put) : 0;
	uint64_t need = fsc_ingest_need(s->row.length);
	enum fsc_status st;

	if (s->row.length >= 0)
		need = need > have ? need - have : 0;
	need = need > s->promised ? need - s->promised : 0;
	st = fsc_ingest_promise(s->u->o.ingest, need, err);
	s->promised += st == FSC_OK ? need : 0;
	s->next_look = have + FSC_INGEST_STEP_BYTES;
	return st;
}

static struct fsc_piece *new_piece(struct fsc_session *s, const struct fsc_piece_begin *b)
{
	struct fsc_piece *p = fsc_xalloc(1, sizeof(*p));

	p->s = s;
	p->complete = b->complete;
	p->length = b->length;
	p->has_sha256 = b->sha256 != NULL;
	if (b->sha256)
		memcpy(p->sha256, b->sha256, FSC_SHA256_LEN);
	return p;
}

/* Lock held. From now on only this piece writes. */
static void take_over(struct fsc_piece *p)
{
	struct fsc_session *s = p->s;

	if (s->writer)
		atomic_fetch_add(&s->u->superseded, 1);
	s->writer = p->writer = atomic_fetch_add(&s->u->pieces, 1) + 1;
	s->touched_ns = fsc_clock_mono_ns();
}

/* ---- an upload that begins ---- */

/* The key may stand for other bytes: better said now than after all of them. */
static enum fsc_status check_key(struct fsc_uploads *u, const struct fsc_piece_begin *b,
				 struct fsc_err *err)
{
	uint8_t sha256[FSC_SHA256_LEN];
	int64_t bundle;
	enum fsc_status st;

	if (!b->meta.idempotency_key || !b->sha256)
		return FSC_OK;
	st = fsc_store_idempotency_find(u->o.store, b->project, b->meta.idempotency_key, &bundle,
					sha256, err);
	if (st == FSC_ENOTFOUND) {
		fsc_err_clear(err);
		return FSC_OK;
	}
	if (st == FSC_OK && memcmp(sha256, b->sha256, FSC_SHA256_LEN) != 0)
		st = fsc_err_set(err, FSC_EEXIST, "idempotency_conflict",
				 "upload: the Idempotency-Key was used for other bytes");
	return st;
}

static bool same_upload(const struct fsc_upload_row *row, const struct fsc_piece_begin *b)
{
	return row->length == b->length && row->has_sha256 == (b->sha256 != NULL) &&
	       (!b->sha256 || !memcmp(row->sha256, b->sha256, FSC_SHA256_LEN));
}

/* The upload that a client began and lost the address of; NULL when there is none to be had. */
static struct fsc_session *find_begun(struct fsc_uploads *u, const struct fsc_piece_begin *b)
{
	struct fsc_session *s = NULL;
	struct fsc_upload_row row;
	struct fsc_arena a;
	bool usable;

	if (!b->meta.idempotency_key || b->bytes != 0 || b->complete)
		return NULL;
	fsc_arena_init(&a, 64 * 1024);
	if (fsc_store_upload_by_key(u->o.store, &a, b->project, b->meta.idempotency_key,
				    fsc_clock_real_ns(), &row, NULL) == FSC_OK &&
	    same_upload(&row, b) && fsc_session_get(&s, u, b->project, row.id, NULL) != FSC_OK)
		s = NULL;
	fsc_arena_fini(&a);
	if (!s)
		return NULL;
	pthread_mutex_lock(&s->lock);
	usable = !s->busy && !s->gone && !s->writer && !s->row.bundle &&
		 fsc_session_open(s, NULL) == FSC_OK;
	pthread_mutex_unlock(&s->lock);
	if (usable)
		return s;
	fsc_session_unref(s);
	return NULL;
}

static enum fsc_status begin_upload(struct fsc_piece **out, struct fsc_uploads *u,
				    const struct fsc_piece_begin *b, struct fsc_err *err)
{
	int64_t now = fsc_clock_real_ns();
	struct fsc_upload_row row = {
		.id = fsc_store_new_id(u->o.store),
		.project = b->project,
		.length = b->length,
		.has_sha256 = b->sha256 != NULL,
		.name = b->meta.name,
		.job = b->meta.job,
		.host = b->meta.host,
		.capture = b->meta.capture,
		.rank = b->meta.rank,
		.idempotency_key = b->meta.idempotency_key,
		.actor = b->actor,
		.created_at_ns = now,
		.expires_at_ns = now + u->o.max_age_ns,
	};
	struct fsc_session *s;
	enum fsc_status st;

	if (b->sha256)
		memcpy(row.sha256, b->sha256, FSC_SHA256_LEN);
	s = fsc_session_new(u, &row);
	pthread_mutex_lock(&s->lock);
	st = take_room(s, err);
	if (st == FSC_OK)
		st = fsc_blob_part_begin(&s->put, u->o.blobs, row.id, err);
	if (st == FSC_OK) {
		*out = new_piece(s, b);
		(*out)->begins = true;
		take_over(*out);
	}
	pthread_mutex_unlock(&s->lock);
	if (st != FSC_OK)
		fsc_session_unref(s);
	return st;
}

static enum fsc_status begin_or_find(struct fsc_piece **out, struct fsc_uploads *u,
				     const struct fsc_piece_begin *b, struct fsc_err *err)
{
	struct fsc_upload_begin meta = b->meta;
	struct fsc_session *s;
	enum fsc_status st;

	meta.bytes = b->length;
	st = fsc_ingest_check(u->o.ingest, &meta, err);
	if (st == FSC_OK)
		st = check_length(u, b, -1, err);
	if (st == FSC_OK)
		st = check_key(u, b, err);
	if (st != FSC_OK)
		return st;
	s = find_begun(u, b);
	if (!s)
		return begin_upload(out, u, b, err);
	*out = new_piece(s, b);
	(*out)->asks = true;
	return FSC_OK;
}

/* ---- an upload that goes on ---- */

static enum fsc_status wrong_offset(struct fsc_session *s, const struct fsc_piece_begin *b,
				    struct fsc_upload_state *state, struct fsc_err *err)
{
	/* What is told must be durable, and this thread must not wait for the disk: asking for the state does. */
	if (!fsc_blob_part_durable(s->put))
		return fsc_err_set(err, FSC_EBUSY, "upload_busy",
				   "upload: the piece begins at the wrong byte, and the last ones "
				   "that came are not durable yet: ask for the offset");
	s->writer = 0; /* nobody may move it afterwards */
	fsc_session_state(s, state);
	return fsc_err_set(err, FSC_EEXIST, "upload_offset",
			   "upload: it is at byte %lld, the piece begins at %lld",
			   (long long)state->offset, (long long)b->offset);
}

static enum fsc_status is_complete(struct fsc_session *s, struct fsc_upload_state *state,
				   struct fsc_err *err)
{
	fsc_session_state(s, state);
	return fsc_err_set(err, FSC_EEXIST, "upload_complete",
			   "upload: it has all of its %lld bytes", (long long)state->offset);
}

/* Lock held, not busy, part open. */
static enum fsc_status go_on(struct fsc_piece *p, const struct fsc_piece_begin *b,
			     struct fsc_upload_state *state, struct fsc_err *err)
{
	struct fsc_session *s = p->s;
	enum fsc_status st;

	if (s->row.bundle) {
		/* It missed the answer and asks for it again. */
		p->asks = b->complete && b->bytes == 0 && b->offset == s->row.length;
		return p->asks ? FSC_OK : is_complete(s, state, err);
	}
	if (b->offset != (int64_t)fsc_blob_put_bytes(s->put))
		return wrong_offset(s, b, state, err);
	if (fsc_blob_part_sealed(s->put) && b->bytes != 0)
		return is_complete(s, state, err);
	st = check_length(s->u, b, s->row.length, err);
	if (st != FSC_OK)
		return st;
	if (s->row.length < 0)
		s->row.length = b->length;
	st = take_room(s, err);
	if (st == FSC_OK)
		take_over(p);
	return st;
}

static enum fsc_status begin_piece(struct fsc_piece **out, struct fsc_uploads *u,
				   const struct fsc_piece_begin *b, struct fsc_upload_state *state,
				   struct fsc_err *err)
{
	struct fsc_session *s;
	struct fsc_piece *p;
	enum fsc_status st = fsc_session_get(&s, u, b->project, b->id, err);

	if (st != FSC_OK)
		return st;
	p = new_piece(s, b);
	pthread_mutex_lock(&s->lock);
	if (s->gone)
		st = fsc_uploads_none(err);
	else if (s->busy)
		st = fsc_err_set(err, FSC_EBUSY, "upload_busy",
				 "upload: it is being made durable or completed");
	else
		st = fsc_session_open(s, err);
	if (st == FSC_OK)
		st = go_on(p, b, state, err);
	pthread_mutex_unlock(&s->lock);
	if (st == FSC_OK) {
		*out = p;
		return FSC_OK;
	}
	fsc_session_unref(s);
	fsc_free(p);
	return st;
}

enum fsc_status fsc_piece_begin(struct fsc_piece **out, struct fsc_uploads *u,
				const struct fsc_piece_begin *b, struct fsc_upload_state *state,
				struct fsc_err *err)
{
	*out = NULL;
	return b->id ? begin_piece(out, u, b, state, err) : begin_or_find(out, u, b, err);
}

/* ---- bytes ---- */

/* Lock held. */
static enum fsc_status may_write(const struct fsc_piece *p, struct fsc_err *err)
{
	const struct fsc_session *s = p->s;

	if (s->gone)
		return fsc_uploads_none(err);
	if (s->writer != p->writer)
		return fsc_err_set(err, FSC_EEXIST, "upload_superseded",
				   "upload: a newer request goes on with it");
	return FSC_OK;
}

static enum fsc_status write_held(struct fsc_piece *p, const void *data, size_t n,
				  struct fsc_err *err)
{
	struct fsc_session *s = p->s;
	struct fsc_uploads *u = s->u;
	uint64_t have, max = fsc_uploads_max_bytes(u);
	enum fsc_status st = may_write(p, err);

	if (st != FSC_OK)
		return st;
	have = fsc_blob_put_bytes(s->put);
	if (n > max || have > max - n)
		return fsc_ingest_too_large(u->o.ingest, err);
	if (s->row.length >= 0 && have + n > (uint64_t)s->row.length)
		return fsc_err_set(err, FSC_EINVAL, "length_mismatch",
				   "upload: there is more than the %lld bytes announced",
				   (long long)s->row.length);
	if (have + n > s->next_look) {
		st = take_room(s, err);
		if (st != FSC_OK)
			return st;
	}
	st = fsc_blob_put_write(s->put, data, n, err);
	if (st == FSC_OK)
		fsc_session_unpromise(s, n);
	return st;
}

enum fsc_status fsc_piece_write(struct fsc_piece *p, const void *data, size_t n,
				struct fsc_err *err)
{
	enum fsc_status st;

	if (p->asks) /* it said that it brings nothing */
		return fsc_err_set(err, FSC_EINVAL, "length_mismatch",
				   "upload: this request was to have no body");
	pthread_mutex_lock(&p->s->lock);
	st = write_held(p, data, n, err);
	pthread_mutex_unlock(&p->s->lock);
	p->bytes += st == FSC_OK ? n : 0;
	return st;
}

/* ---- end ---- */

static void piece_free(struct fsc_piece *p)
{
	struct fsc_session *s = p->s;
	struct fsc_blobs *blobs = s->u->o.blobs;
	int64_t id = s->row.id;
	bool lost;

	pthread_mutex_lock(&s->lock);
	if (p->writer && s->writer == p->writer) {
		s->writer = 0;
		/* No sync here: whoever tells the offset syncs first. */
		if (s->put && !s->busy)
			fsc_blob_part_rest(s->put);
	}
	lost = p->begins && !atomic_load(&s->stored);
	pthread_mutex_unlock(&s->lock);
	fsc_session_unref(s);
	/* Nobody knows its address. */
	if (lost)
		(void)!fsc_blob_part_delete(blobs, id, NULL);
	fsc_free(p);
}

void fsc_piece_abort(struct fsc_piece *p)
{
	if (!p)
		return;
	atomic_fetch_add(&p->s->u->cut, !p->asks);
	piece_free(p);
}

static enum fsc_status digest_differs(const uint8_t *want, const uint8_t *have, struct fsc_err *err)
{
	char want_hex[FSC_SHA256_HEX], have_hex[FSC_SHA256_HEX];

	fsc_hex(want_hex, want, FSC_SHA256_LEN);
	fsc_hex(have_hex, have, FSC_SHA256_LEN);
	return fsc_err_set(err, FSC_ECORRUPT, "digest_mismatch",
			   "upload: sha256 of the bytes is %s, not %s as announced", have_hex,
			   want_hex);
}

/* Without the lock, busy set. Takes put in every case. */
static enum fsc_status keep(struct fsc_piece *p, struct fsc_blob_put *put,
			    struct fsc_upload_done *out, struct fsc_err *err)
{
	struct fsc_session *s = p->s;
	const struct fsc_upload_row *row = &s->row;
	struct fsc_bundle_new new = {
		.project = row->project,
		.bytes = (int64_t)fsc_blob_put_bytes(put),
		.name = row->name,
		.job = row->job,
		.host = row->host,
		.capture = row->capture,
		.rank = row->rank,
		.idempotency_key = row->idempotency_key,
		.upload = row->id,
	};
	enum fsc_status st = fsc_blob_put_finish(put, new.sha256, err);

	if (st == FSC_OK && row->has_sha256 && memcmp(row->sha256, new.sha256, FSC_SHA256_LEN) != 0)
		st = digest_differs(row->sha256, new.sha256, err);
	if (st == FSC_OK && p->has_sha256 && memcmp(p->sha256, new.sha256, FSC_SHA256_LEN) != 0)
		st = digest_differs(p->sha256, new.sha256, err);
	if (st != FSC_OK) {
		fsc_blob_put_abort(put);
		return st;
	}
	return fsc_ingest_keep(s->u->o.ingest, put, &new, out, err);
}

static bool is_final(const struct fsc_err *err)
{
	return !strcmp(err->code, "digest_mismatch") || !strcmp(err->code, "idempotency_conflict");
}

/* Lock held, not busy; opens it meanwhile. */
static enum fsc_status complete(struct fsc_piece *p, struct fsc_upload_done *out,
				struct fsc_err *err)
{
	struct fsc_session *s = p->s;
	int64_t total = (int64_t)fsc_blob_put_bytes(s->put);
	struct fsc_blob_put *put = s->put;
	struct fsc_err own = FSC_ERR_INIT;
	enum fsc_status st;

	if (!total)
		return fsc_err_set(err, FSC_EINVAL, "empty_body", "upload: it has no bytes");
	if (s->row.length >= 0 && total != s->row.length)
		return fsc_err_set(err, FSC_EINVAL, "length_mismatch",
				   "upload: %lld bytes came, %lld were announced", (long long)total,
				   (long long)s->row.length);
	s->busy = true;
	s->put = NULL;
	pthread_mutex_unlock(&s->lock);
	st = keep(p, put, out, &own);
	if (st == FSC_OK)
		(void)!fsc_blob_part_delete(s->u->o.blobs, s->row.id, NULL);
	pthread_mutex_lock(&s->lock);
	s->busy = false;
	pthread_cond_broadcast(&s->idle);
	if (st == FSC_OK) {
		s->row.bundle = out->id;
		s->row.length = total;
		s->row.duplicate = out->duplicate;
		atomic_store(&s->ended, true);
		fsc_session_unpromise(s, s->promised);
		atomic_fetch_add(&s->u->completed, 1);
	} else if (is_final(&own)) {
		(void)!fsc_session_remove(s, NULL);
	}
	if (st != FSC_OK && err)
		*err = own;
	return st;
}

/* Lock held, not busy; opens it meanwhile. The row of a new upload, or what changed of an older one. */
static enum fsc_status write_row(struct fsc_piece *p, struct fsc_err *err)
{
	struct fsc_session *s = p->s;
	struct fsc_uploads *u = s->u;
	int64_t now = fsc_clock_real_ns();
	bool later = s->row.expires_at_ns - now < u->o.max_age_ns / 2;
	enum fsc_status st;

	if (!p->begins && !later && p->length < 0)
		return FSC_OK;
	if (later)
		s->row.expires_at_ns = now + u->o.max_age_ns;
	s->busy = true;
	pthread_mutex_unlock(&s->lock);
	st = p->begins ? fsc_store_upload_put(u->o.store, &s->row, u->o.max_open, err)
		       : fsc_store_upload_update(u->o.store, s->row.id, p->length,
						 s->row.expires_at_ns, err);
	pthread_mutex_lock(&s->lock);
	s->busy = false;
	pthread_cond_broadcast(&s->idle);
	if (p->begins && st == FSC_OK) {
		atomic_store(&s->stored, true);
		atomic_fetch_add(&u->begun, 1);
	}
	return st;
}

static enum fsc_status end_held(struct fsc_piece *p, struct fsc_piece_done *out,
				struct fsc_err *err)
{
	struct fsc_session *s = p->s;
	enum fsc_status st = fsc_session_wait(s, err);

	if (st == FSC_OK && !p->asks)
		st = may_write(p, err);
	if (st == FSC_OK && p->asks)
		s->writer = 0; /* nobody may write during the sync */
	if (st == FSC_OK)
		st = fsc_session_sync(s, err);
	if (st == FSC_OK && !p->asks)
		st = write_row(p, err);
	if (st == FSC_OK && p->complete && !s->row.bundle)
		st = complete(p, &out->bundle, err);
	if (st == FSC_OK)
		fsc_session_state(s, &out->state);
	return st;
}

/* Once more what the client missed. */
static enum fsc_status say_again(struct fsc_session *s, struct fsc_upload_done *out,
				 struct fsc_err *err)
{
	struct fsc_bundle b;
	struct fsc_arena a;
	enum fsc_status st;

	fsc_arena_init(&a, FSC_STORE_PAGE_MAX * 1024);
	st = fsc_store_bundle_get(s->u->o.store, &a, s->row.project, s->row.bundle, &b, err);
	if (st == FSC_OK) {
		*out = (struct fsc_upload_done){ .id = b.id,
						 .bytes = b.bytes,
						 .state = b.state,
						 .duplicate = s->row.duplicate };
		memcpy(out->sha256, b.sha256, FSC_SHA256_LEN);
	} else if (st == FSC_ENOTFOUND) {
		/* Not as an upload that expired, which a client would begin anew: someone did not want these bytes. */
		fsc_err_clear(err);
		st = fsc_err_set(err, FSC_EEXIST, "upload_complete",
				 "upload: it became bundle %lld, which was deleted since",
				 (long long)s->row.bundle);
	}
	fsc_arena_fini(&a);
	return st;
}

enum fsc_status fsc_piece_end(struct fsc_piece *p, struct fsc_piece_done *out, struct fsc_err *err)
{
	struct fsc_session *s = p->s;
	bool again;
	enum fsc_status st;

	*out = (struct fsc_piece_done){ .state = { .length = -1 } };
	pthread_mutex_lock(&s->lock);
	again = s->row.bundle != 0;
	st = end_held(p, out, err);
	pthread_mutex_unlock(&s->lock);
	if (st == FSC_OK && again)
		st = say_again(s, &out->bundle, err);
	piece_free(p);
	return st;
}
