/* SPDX-License-Identifier: Apache-2.0 */
/* Uploads that nobody goes on with: after a restart, by age, and parts without a row. */
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "service/uploads_int.h"

#define SEC_NS INT64_C(1000000000)
#define STILL_NS (3600 * SEC_NS) /* then its room is for others */
#define BATCH 200
#define BATCHES_MAX 100

/* ---- start ---- */

static void load_one(struct fsc_uploads *u, const struct fsc_upload_row *row)
{
	struct fsc_session *s;

	if (fsc_session_get(&s, u, row->project, row->id, NULL) != FSC_OK)
		return;
	pthread_mutex_lock(&s->lock);
	if (fsc_session_open(s, NULL) == FSC_OK && s->put) {
		uint64_t need = fsc_ingest_need(s->row.length), have = fsc_blob_put_bytes(s->put);

		need = s->row.length < 0 ? 0 : need > have ? need - have : 0;
		fsc_blob_part_rest(s->put);
		/* No room: the next piece asks, and is told. */
		if (fsc_ingest_promise(u->o.ingest, need, NULL) == FSC_OK)
			s->promised = need;
	}
	pthread_mutex_unlock(&s->lock);
	fsc_session_unref(s);
}

enum fsc_status fsc_uploads_load(struct fsc_uploads *u, struct fsc_err *err)
{
	struct fsc_upload_rows rows = { 0 };
	int64_t after = 0;
	enum fsc_status st = FSC_OK;

	do {
		struct fsc_arena a;

		fsc_arena_init(&a, FSC_MIB);
		st = fsc_store_upload_list(u->o.store, &a, true, 0, after, BATCH, &rows, err);
		for (size_t i = 0; st == FSC_OK && i < rows.n_items; i++) {
			load_one(u, &rows.items[i]);
			after = rows.items[i].id;
		}
		fsc_arena_fini(&a);
	} while (st == FSC_OK && rows.n_items == BATCH);
	return st;
}

/* ---- age ---- */

static void expire_one(struct fsc_uploads *u, const struct fsc_upload_row *row)
{
	struct fsc_session *s;

	if (fsc_session_any(&s, u, row->project, row->id, NULL) != FSC_OK)
		return;
	pthread_mutex_lock(&s->lock);
	/* A piece that ended meanwhile may have given it more time. */
	if (!s->busy && !s->gone && fsc_session_expired(s)) {
		bool open = fsc_session_open(s, NULL) == FSC_OK && s->put;
		uint64_t bytes = open ? fsc_blob_put_bytes(s->put) : 0;

		if (fsc_session_remove(s, NULL) == FSC_OK && open) {
			atomic_fetch_add(&u->expired, 1);
			atomic_fetch_add(&u->expired_bytes, bytes);
			fsc_log(FSC_LOG_INFO, "uploads", "msg=expired upload=%lld bytes=%llu",
				(long long)s->row.id, (unsigned long long)bytes);
		}
	}
	pthread_mutex_unlock(&s->lock);
	fsc_session_unref(s);
}

/* Bounded: what is left is for the next time. */
static enum fsc_status expire(struct fsc_uploads *u, struct fsc_err *err)
{
	struct fsc_upload_rows rows = { 0 };
	int64_t after = 0;
	enum fsc_status st = FSC_OK;

	for (int n = 0; n < BATCHES_MAX; n++) {
		struct fsc_arena a;

		fsc_arena_init(&a, FSC_MIB);
		st = fsc_store_upload_list(u->o.store, &a, false, fsc_clock_real_ns(), after, BATCH,
					   &rows, err);
		for (size_t i = 0; st == FSC_OK && i < rows.n_items; i++) {
			after = rows.items[i].id;
			expire_one(u, &rows.items[i]);
		}
		fsc_arena_fini(&a);
		if (st != FSC_OK || rows.n_items < BATCH)
			break;
	}
	return st;
}

/* ---- room and leftovers ---- */

static void give_back(struct fsc_session *s, void *ctx)
{
	int64_t before = *(const int64_t *)ctx;

	pthread_mutex_lock(&s->lock);
	if (!s->busy && !s->writer && s->touched_ns < before)
		fsc_session_unpromise(s, s->promised);
	pthread_mutex_unlock(&s->lock);
}

static enum fsc_status sweep_part(void *ctx, const struct fsc_blob_entry *e, struct fsc_err *err)
{
	struct fsc_uploads *u = ctx;
	bool exists = true;
	enum fsc_status st;

	/* Young ones may be about to get their row. */
	if (e->modified_at_ns >= fsc_clock_real_ns() - STILL_NS || fsc_uploads_knows(u, e->part))
		return FSC_OK;
	st = fsc_store_upload_exists(u->o.store, e->part, &exists, err);
	if (st == FSC_OK && !exists)
		(void)!fsc_blob_part_delete(u->o.blobs, e->part, NULL);
	return st;
}

enum fsc_status fsc_uploads_sweep(struct fsc_uploads *u, struct fsc_err *err)
{
	int64_t still = fsc_clock_mono_ns() - STILL_NS;
	enum fsc_status st = expire(u, err);

	fsc_uploads_each(u, give_back, &still);
	if (st == FSC_OK)
		st = fsc_blobs_list(u->o.blobs, FSC_BLOB_PART, sweep_part, u, err);
	return st;
}

/* ---- figures ---- */

struct figures {
	unsigned long long open, bytes, promised;
};

static void count(struct fsc_session *s, void *ctx)
{
	struct figures *f = ctx;

	pthread_mutex_lock(&s->lock);
	f->open += !s->row.bundle && !s->gone;
	f->bytes += s->put ? fsc_blob_put_bytes(s->put) : 0;
	f->promised += s->promised;
	pthread_mutex_unlock(&s->lock);
}

void fsc_uploads_metrics(struct fsc_uploads *u, struct fsc_buf *out)
{
	const struct {
		const char *name;
		_Atomic uint64_t *n;
	} ends[] = {
		{ "completed", &u->completed },
		{ "cancelled", &u->cancelled },
		{ "expired", &u->expired },
	};
	struct figures f = { 0 };

	fsc_uploads_each(u, count, &f);
	fsc_buf_addf(out,
		     "# TYPE fleetscope_uploads_open gauge\nfleetscope_uploads_open %llu\n"
		     "# TYPE fleetscope_uploads_partial_bytes gauge\n"
		     "fleetscope_uploads_partial_bytes %llu\n"
		     "# TYPE fleetscope_uploads_promised_bytes gauge\n"
		     "fleetscope_uploads_promised_bytes %llu\n",
		     f.open, f.bytes, f.promised);
	fsc_buf_addf(out,
		     "# TYPE fleetscope_uploads_begun_total counter\n"
		     "fleetscope_uploads_begun_total %llu\n"
		     "# TYPE fleetscope_uploads_cut_pieces_total counter\n"
		     "fleetscope_uploads_cut_pieces_total %llu\n"
		     "# TYPE fleetscope_uploads_superseded_pieces_total counter\n"
		     "fleetscope_uploads_superseded_pieces_total %llu\n"
		     "# TYPE fleetscope_uploads_expired_bytes_total counter\n"
		     "fleetscope_uploads_expired_bytes_total %llu\n"
		     "# TYPE fleetscope_uploads_ended_total counter\n",
		     (unsigned long long)atomic_load(&u->begun),
		     (unsigned long long)atomic_load(&u->cut),
		     (unsigned long long)atomic_load(&u->superseded),
		     (unsigned long long)atomic_load(&u->expired_bytes));
	for (size_t i = 0; i < FSC_ARRAY_LEN(ends); i++)
		fsc_buf_addf(out, "fleetscope_uploads_ended_total{how=\"%s\"} %llu\n", ends[i].name,
			     (unsigned long long)atomic_load(ends[i].n));
}
