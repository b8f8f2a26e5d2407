/* SPDX-License-Identifier: Apache-2.0 */
/* The table of uploads that go on, and what is asked of one as a whole. */
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/limits.h"
#include "service/uploads_int.h"

#define BUSY_WAIT_S 2 /* the longest that somebody waits for a sync or an end */
#define SEC_NS INT64_C(1000000000)

struct fsc_uploads *fsc_uploads_new(const struct fsc_uploads_opts *opts)
{
	struct fsc_uploads *u = fsc_xalloc(1, sizeof(*u));

	u->o = *opts;
	if (!u->o.max_open)
		u->o.max_open = FSC_MAX_UPLOAD_SESSIONS;
	if (!u->o.max_age_ns)
		u->o.max_age_ns = FSC_MAX_UPLOAD_AGE_S * SEC_NS;
	pthread_mutex_init(&u->lock, NULL);
	return u;
}

uint64_t fsc_uploads_max_bytes(const struct fsc_uploads *u)
{
	return fsc_ingest_max_bytes(u->o.ingest);
}

enum fsc_status fsc_uploads_none(struct fsc_err *err)
{
	return fsc_err_set(err, FSC_ENOTFOUND, "no_such_upload",
			   "there is no such upload: it ended, expired or never was");
}

/* ---- the table ---- */

static struct fsc_session **bucket(struct fsc_uploads *u, int64_t id)
{
	/* the low bits of an id are random at first and then count */
	return &u->buckets[(uint64_t)id % FSC_UPLOAD_BUCKETS];
}

static struct fsc_session *find(struct fsc_uploads *u, int64_t id)
{
	struct fsc_session *s = *bucket(u, id);

	while (s && s->row.id != id)
		s = s->next;
	return s;
}

bool fsc_uploads_knows(struct fsc_uploads *u, int64_t id)
{
	bool yes;

	pthread_mutex_lock(&u->lock);
	yes = find(u, id) != NULL;
	pthread_mutex_unlock(&u->lock);
	return yes;
}

static const char *dup(struct fsc_session *s, const char *text)
{
	return text ? fsc_arena_dup(&s->arena, text, strlen(text)) : NULL;
}

static struct fsc_session *make(struct fsc_uploads *u, const struct fsc_upload_row *row)
{
	struct fsc_session *s = fsc_xalloc(1, sizeof(*s));

	s->u = u;
	s->refs = 1;
	s->row = *row;
	fsc_arena_init(&s->arena, 16 * FSC_KIB);
	s->row.name = dup(s, row->name ? row->name : "");
	s->row.job = dup(s, row->job);
	s->row.host = dup(s, row->host);
	s->row.capture = dup(s, row->capture);
	s->row.idempotency_key = dup(s, row->idempotency_key);
	s->row.actor = dup(s, row->actor);
	s->touched_ns = fsc_clock_mono_ns();
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->idle, NULL);
	return s;
}

static void session_free(struct fsc_session *s)
{
	fsc_session_unpromise(s, s->promised);
	fsc_blob_put_abort(s->put);
	fsc_arena_fini(&s->arena);
	pthread_cond_destroy(&s->idle);
	pthread_mutex_destroy(&s->lock);
	fsc_free(s);
}

/* Table locked. */
static void insert(struct fsc_uploads *u, struct fsc_session *s)
{
	struct fsc_session **at = bucket(u, s->row.id);

	s->next = *at;
	*at = s;
}

struct fsc_session *fsc_session_new(struct fsc_uploads *u, const struct fsc_upload_row *row)
{
	struct fsc_session *s = make(u, row);

	pthread_mutex_lock(&u->lock);
	insert(u, s);
	pthread_mutex_unlock(&u->lock);
	return s;
}

/* Of what the store says; *out keeps NULL when the row is gone. */
static enum fsc_status load_row(struct fsc_session **out, struct fsc_uploads *u, int64_t project,
				int64_t id, struct fsc_err *err)
{
	struct fsc_upload_row row;
	struct fsc_arena a;
	enum fsc_status st;

	fsc_arena_init(&a, 64 * FSC_KIB);
	st = fsc_store_upload_get(u->o.store, &a, project, id, &row, err);
	if (st == FSC_OK) {
		*out = make(u, &row);
		atomic_store(&(*out)->stored, true);
		atomic_store(&(*out)->ended, row.bundle != 0);
	}
	fsc_arena_fini(&a);
	return st;
}

bool fsc_session_expired(const struct fsc_session *s)
{
	return !s->writer && s->row.expires_at_ns <= fsc_clock_real_ns();
}

enum fsc_status fsc_session_any(struct fsc_session **out, struct fsc_uploads *u, int64_t project,
				int64_t id, struct fsc_err *err)
{
	struct fsc_session *s, *fresh = NULL;
	enum fsc_status st = FSC_OK;

	*out = NULL;
	pthread_mutex_lock(&u->lock);
	s = find(u, id);
	if (!s) {
		pthread_mutex_unlock(&u->lock);
		st = load_row(&fresh, u, project, id, err);
		pthread_mutex_lock(&u->lock);
		s = find(u, id); /* somebody else may have been faster */
	}
	if (s)
		s->refs++;
	else if (fresh)
		insert(u, fresh);
	pthread_mutex_unlock(&u->lock);
	if (s && fresh)
		session_free(fresh);
	s = s ? s : fresh;
	if (!s)
		return st == FSC_ENOTFOUND ? (fsc_err_clear(err), fsc_uploads_none(err)) : st;
	fsc_err_clear(err);
	if (s->row.project != project) {
		fsc_session_unref(s);
		return fsc_uploads_none(err);
	}
	*out = s;
	return FSC_OK;
}

enum fsc_status fsc_session_get(struct fsc_session **out, struct fsc_uploads *u, int64_t project,
				int64_t id, struct fsc_err *err)
{
	struct fsc_session *s;
	bool expired;
	enum fsc_status st = fsc_session_any(&s, u, project, id, err);

	*out = NULL;
	if (st != FSC_OK)
		return st;
	pthread_mutex_lock(&s->lock);
	expired = fsc_session_expired(s);
	pthread_mutex_unlock(&s->lock);
	if (expired) {
		fsc_session_unref(s);
		return fsc_uploads_none(err);
	}
	*out = s;
	return FSC_OK;
}

void fsc_session_unref(struct fsc_session *s)
{
	struct fsc_uploads *u = s->u;
	bool last;

	pthread_mutex_lock(&u->lock);
	last = --s->refs == 0 && (atomic_load(&s->ended) || !atomic_load(&s->stored));
	if (last) {
		struct fsc_session **at = bucket(u, s->row.id);

		while (*at != s)
			at = &(*at)->next;
		*at = s->next;
	}
	pthread_mutex_unlock(&u->lock);
	if (last)
		session_free(s);
}

void fsc_uploads_each(struct fsc_uploads *u, void (*fn)(struct fsc_session *s, void *ctx),
		      void *ctx)
{
	for (size_t i = 0; i < FSC_UPLOAD_BUCKETS; i++) {
		struct fsc_session *s, *next;

		pthread_mutex_lock(&u->lock);
		s = u->buckets[i];
		if (s)
			s->refs++;
		pthread_mutex_unlock(&u->lock);
		for (; s; s = next) {
			fn(s, ctx);
			pthread_mutex_lock(&u->lock);
			next = s->next;
			if (next)
				next->refs++;
			pthread_mutex_unlock(&u->lock);
			fsc_session_unref(s);
		}
	}
}

void fsc_uploads_free(struct fsc_uploads *u)
{
	if (!u)
		return;
	for (size_t i = 0; i < FSC_UPLOAD_BUCKETS; i++)
		for (struct fsc_session *s = u->buckets[i], *next; s; s = next) {
			next = s->next;
			session_free(s);
		}
	pthread_mutex_destroy(&u->lock);
	fsc_free(u);
}

/* ---- one upload, its lock held ---- */

enum fsc_status fsc_session_wait(struct fsc_session *s, struct fsc_err *err)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += BUSY_WAIT_S;
	while (s->busy)
		if (pthread_cond_timedwait(&s->idle, &s->lock, &until))
			break;
	if (s->busy)
		return fsc_err_set(err, FSC_EBUSY, "upload_busy",
				   "upload: it is being made durable or completed");
	return s->gone ? fsc_uploads_none(err) : FSC_OK;
}

enum fsc_status fsc_session_open(struct fsc_session *s, struct fsc_err *err)
{
	enum fsc_status st;

	if (s->put || s->row.bundle)
		return FSC_OK;
	st = fsc_blob_part_resume(&s->put, s->u->o.blobs, s->row.id, err);
	if (st == FSC_ENOTFOUND) {
		/* A data folder that was put back from a backup has the row only. */
		s->gone = true;
		atomic_store(&s->ended, true);
		fsc_err_clear(err);
		return fsc_uploads_none(err);
	}
	return st;
}

static void set_busy(struct fsc_session *s, bool busy)
{
	s->busy = busy;
	if (!busy)
		pthread_cond_broadcast(&s->idle);
}

static void forget(struct fsc_session *s)
{
	s->gone = true;
	atomic_store(&s->ended, true);
	fsc_session_unpromise(s, s->promised);
}

enum fsc_status fsc_session_sync(struct fsc_session *s, struct fsc_err *err)
{
	struct fsc_err own = FSC_ERR_INIT;
	enum fsc_status st;

	if (!s->put)
		return FSC_OK;
	set_busy(s, true);
	pthread_mutex_unlock(&s->lock);
	st = fsc_blob_part_pause(s->put, &own);
	pthread_mutex_lock(&s->lock);
	set_busy(s, false);
	if (st != FSC_OK && err)
		*err = own;
	/* Another sync would say that all is well, and the end would keep a blob with holes. */
	if (st != FSC_OK && !strcmp(own.code, "part_lost")) {
		(void)!fsc_session_remove(s, NULL);
		forget(s);
	}
	return st;
}

enum fsc_status fsc_session_remove(struct fsc_session *s, struct fsc_err *err)
{
	enum fsc_status st;

	set_busy(s, true);
	pthread_mutex_unlock(&s->lock);
	/* The row first: a part without one is swept, a row without one is an upload that lies. */
	st = fsc_store_upload_delete(s->u->o.store, s->row.id, err);
	if (st == FSC_OK)
		(void)!fsc_blob_part_delete(s->u->o.blobs, s->row.id, NULL);
	pthread_mutex_lock(&s->lock);
	if (st == FSC_OK)
		forget(s);
	set_busy(s, false);
	return st;
}

void fsc_session_unpromise(struct fsc_session *s, uint64_t bytes)
{
	bytes = bytes < s->promised ? bytes : s->promised;
	s->promised -= bytes;
	fsc_ingest_unpromise(s->u->o.ingest, bytes);
}

void fsc_session_state(const struct fsc_session *s, struct fsc_upload_state *out)
{
	int64_t left = s->row.expires_at_ns - fsc_clock_real_ns();

	*out = (struct fsc_upload_state){
		.id = s->row.id,
		.offset = s->put	  ? (int64_t)fsc_blob_put_bytes(s->put)
			  : s->row.bundle ? s->row.length
					  : 0,
		.length = s->row.length,
		.complete = s->row.bundle != 0,
		.expires_in_s = left > 0 ? left / SEC_NS : 0,
	};
}

enum fsc_status fsc_uploads_state(struct fsc_uploads *u, int64_t project, int64_t id,
				  struct fsc_upload_state *out, struct fsc_err *err)
{
	struct fsc_session *s;
	enum fsc_status st = fsc_session_get(&s, u, project, id, err);

	if (st != FSC_OK)
		return st;
	pthread_mutex_lock(&s->lock);
	st = fsc_session_wait(s, err);
	if (st == FSC_OK)
		st = fsc_session_open(s, err);
	if (st == FSC_OK) {
		s->writer = 0;
		st = fsc_session_sync(s, err);
	}
	if (st == FSC_OK)
		fsc_session_state(s, out);
	pthread_mutex_unlock(&s->lock);
	fsc_session_unref(s);
	return st;
}

enum fsc_status fsc_uploads_cancel(struct fsc_uploads *u, int64_t project, int64_t id,
				   struct fsc_err *err)
{
	struct fsc_session *s;
	enum fsc_status st = fsc_session_get(&s, u, project, id, err);

	if (st != FSC_OK)
		return st;
	pthread_mutex_lock(&s->lock);
	st = fsc_session_wait(s, err);
	if (st == FSC_OK)
		st = fsc_session_remove(s, err);
	if (st == FSC_OK)
		atomic_fetch_add(&u->cancelled, s->row.bundle == 0);
	pthread_mutex_unlock(&s->lock);
	fsc_session_unref(s);
	return st;
}
