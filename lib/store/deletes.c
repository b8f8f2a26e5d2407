/* SPDX-License-Identifier: Apache-2.0 */
/* Deleting bundles and traces with a tombstone each; tombstones read back. */
#include "store/deletes.h"

#include "base/clock.h"
#include "store/queue.h"
#include "store/store.h"
#include "store/store_ops.h"

static const char *const reason_names[] = { "user", "age", "bytes", "reindex" };

const char *fsc_delete_reason_name(enum fsc_delete_reason r)
{
	return (size_t)r < FSC_ARRAY_LEN(reason_names) ? reason_names[r] : "user";
}

struct del {
	struct fsc_arena *a;
	const struct fsc_delete_request *req;
	const struct fsc_delete_unit *units;
	size_t n_units;
	int64_t max_ns; /* 0: one unit, whose error is the error of the call */
	struct fsc_bundle_deleted *out;
	struct fsc_rows segments, blobs;
	int64_t now;
};

static enum fsc_status kept(struct fsc_err *err, const char *what)
{
	return fsc_err_set(err, FSC_EEXIST, "kept", "%s: it is kept", what);
}

/* ---- a bundle ---- */

struct found_bundle {
	struct fsc_deleted_blob blob;
	int64_t n_kept, n_traces, segment_bytes;
	bool found, has_blob;
};

static enum fsc_status take_bundle(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct found_bundle *b = ctx;

	if (!fsc_row_bytes(row, 0, b->blob.sha256, sizeof(b->blob.sha256)))
		return fsc_err_set(err, FSC_ECORRUPT, "store_corrupt",
				   "store: bundle without digest");
	b->found = true;
	b->blob.bytes = fsc_row_int(row, 1, 0);
	b->has_blob = fsc_row_int(row, 2, 0) == 0;
	b->n_kept = fsc_row_int(row, 3, 0);
	b->n_traces = fsc_row_int(row, 4, 0);
	b->segment_bytes = fsc_row_int(row, 5, 0);
	return FSC_OK;
}

static enum fsc_status add_segment(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct del *d = ctx;
	int64_t *id = fsc_rows_add(&d->segments);

	if (!id)
		return fsc_store_nomem(err);
	*id = fsc_row_int(row, 5, 0);
	return FSC_OK;
}

/* Tombstones of what `query` selects by `id`. */
static enum fsc_status bury(struct fsc_db *db, struct del *d, enum fsc_query query, int64_t id,
			    struct fsc_err *err)
{
	return fsc_db_run(db, query,
			  FSC_ARGS(fsc_v_int(id), fsc_v_int(d->now),
				   fsc_v_text(fsc_delete_reason_name(d->req->reason)),
				   fsc_v_text(d->req->actor ? d->req->actor : ""),
				   fsc_v_text(d->req->detail ? d->req->detail : "")),
			  NULL, err);
}

/* Whether the blob is nobody's now that the row is gone. */
static enum fsc_status free_blob(struct fsc_db *db, struct del *d, const struct found_bundle *b,
				 struct fsc_err *err)
{
	struct fsc_deleted_blob *blob;
	int64_t refs = 0;
	bool found;
	enum fsc_status st;

	if (!b->has_blob)
		return FSC_OK;
	st = fsc_db_int(db, FSC_Q_BUNDLE_REFS,
			FSC_ARGS(fsc_v_bytes(b->blob.sha256, sizeof(b->blob.sha256))), &refs,
			&found, err);
	/* Whether another project has the same bytes is not told: this one loses them either way. */
	if (st == FSC_OK)
		d->out->blob_bytes += b->blob.bytes;
	if (st != FSC_OK || refs)
		return st;
	blob = fsc_rows_add(&d->blobs);
	if (!blob)
		return fsc_store_nomem(err);
	*blob = b->blob;
	return FSC_OK;
}

static enum fsc_status delete_bundle(struct fsc_db *db, struct del *d, int64_t id,
				     struct fsc_err *err)
{
	struct found_bundle b = { 0 };
	enum fsc_status st = fsc_db_rows(db, FSC_Q_DELETE_BUNDLE_FIND,
					 FSC_ARGS(fsc_v_int(d->req->project), fsc_v_int(id)),
					 take_bundle, &b, err);

	if (st == FSC_OK && !b.found)
		return fsc_store_no_bundle(err);
	if (st == FSC_OK && b.n_kept && !d->req->kept)
		return kept(err, "bundle: a trace of");
	if (st == FSC_OK)
		st = fsc_db_rows(db, FSC_Q_BUNDLE_TRACES, FSC_ARGS(fsc_v_int(id)), add_segment, d,
				 err);
	if (st == FSC_OK)
		st = bury(db, d, FSC_Q_TOMBSTONE_TRACES, id, err);
	if (st == FSC_OK)
		st = bury(db, d, FSC_Q_TOMBSTONE_BUNDLE, id, err);
	if (st == FSC_OK)
		st = fsc_db_run(db, FSC_Q_JOB_DELETE_SUBJECT,
				FSC_ARGS(fsc_v_int(FSC_JOB_INDEX), fsc_v_int(id)), NULL, err);
	/* traces, facts, failures, notes and keys go with it by their foreign keys */
	if (st == FSC_OK)
		st = fsc_db_run(db, FSC_Q_BUNDLE_DELETE,
				FSC_ARGS(fsc_v_int(d->req->project), fsc_v_int(id)), NULL, err);
	d->out->bundles++;
	d->out->traces += b.n_traces;
	d->out->segment_bytes += b.segment_bytes;
	return st == FSC_OK ? free_blob(db, d, &b, err) : st;
}

/* ---- a trace ---- */

struct found_trace {
	int64_t bundle, segment, segment_bytes, n_traces;
	bool found, kept;
};

static enum fsc_status take_trace(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct found_trace *t = ctx;

	(void)err;
	t->found = true;
	t->bundle = fsc_row_int(row, 0, 0);
	t->segment = fsc_row_int(row, 1, 0);
	t->segment_bytes = fsc_row_int(row, 2, 0);
	t->kept = fsc_row_int(row, 3, 0) != 0;
	t->n_traces = fsc_row_int(row, 4, 0);
	return FSC_OK;
}

static enum fsc_status delete_trace(struct fsc_db *db, struct del *d, int64_t id,
				    struct fsc_err *err)
{
	struct found_trace t = { 0 };
	int64_t *segment;
	enum fsc_status st = fsc_db_rows(db, FSC_Q_DELETE_TRACE_FIND,
					 FSC_ARGS(fsc_v_int(d->req->project), fsc_v_int(id)),
					 take_trace, &t, err);

	if (st != FSC_OK)
		return st;
	if (!t.found)
		return fsc_err_set(err, FSC_ENOTFOUND, "not_found", "trace: no such trace");
	if (t.kept && !d->req->kept)
		return kept(err, "trace");
	if (t.n_traces <= 1)
		return delete_bundle(db, d, t.bundle, err);
	segment = fsc_rows_add(&d->segments);
	if (!segment)
		return fsc_store_nomem(err);
	*segment = t.segment;
	d->out->traces++;
	d->out->segment_bytes += t.segment_bytes;
	st = bury(db, d, FSC_Q_TOMBSTONE_TRACE, id, err);
	if (st == FSC_OK)
		st = fsc_db_run(db, FSC_Q_TRACE_DELETE, FSC_ARGS(fsc_v_int(id)), NULL, err);
	if (st == FSC_OK)
		st = fsc_db_run(db, FSC_Q_BUNDLE_RECOUNT, FSC_ARGS(fsc_v_int(t.bundle)), NULL, err);
	return st;
}

/* ---- one or many ---- */

static enum fsc_status delete_unit(struct fsc_db *db, struct del *d,
				   const struct fsc_delete_unit *u, struct fsc_err *err)
{
	enum fsc_status st = u->trace ? delete_trace(db, d, u->trace, err)
				      : delete_bundle(db, d, u->bundle, err);

	/* Both are found out before anything is written. */
	if (!d->max_ns || (st != FSC_ENOTFOUND && st != FSC_EEXIST))
		return st;
	d->out->missing += st == FSC_ENOTFOUND;
	d->out->kept += st == FSC_EEXIST;
	fsc_err_clear(err);
	return FSC_OK;
}

static enum fsc_status delete_work(struct fsc_db *db, void *arg, struct fsc_err *err)
{
	struct del *d = arg;
	int64_t until = fsc_clock_mono_ns() + d->max_ns;
	enum fsc_status st = FSC_OK;
	size_t n = 0;

	*d->out = (struct fsc_bundle_deleted){ 0 };
	d->segments = (struct fsc_rows){ .a = d->a, .size = sizeof(int64_t) };
	d->blobs = (struct fsc_rows){ .a = d->a, .size = sizeof(struct fsc_deleted_blob) };
	d->now = fsc_clock_real_ns();
	for (; n < d->n_units && st == FSC_OK; n++) {
		if (n && fsc_clock_mono_ns() >= until)
			break;
		st = delete_unit(db, d, &d->units[n], err);
	}
	d->out->n_units = n;
	d->out->segments = d->segments.items;
	d->out->n_segments = d->segments.n;
	d->out->blobs = d->blobs.items;
	d->out->n_blobs = d->blobs.n;
	return st;
}

enum fsc_status fsc_store_delete(struct fsc_store *s, struct fsc_arena *a,
				 const struct fsc_delete_request *req,
				 struct fsc_bundle_deleted *out, struct fsc_err *err)
{
	const struct fsc_delete_unit unit = { req->bundle, req->trace };
	struct del d = { .a = a, .req = req, .units = &unit, .n_units = 1, .out = out };

	return s->ops->write(s, delete_work, &d, false, err);
}

enum fsc_status fsc_store_delete_some(struct fsc_store *s, struct fsc_arena *a,
				      const struct fsc_delete_request *req,
				      const struct fsc_delete_unit *units, size_t n_units,
				      int64_t max_ns, struct fsc_bundle_deleted *out,
				      struct fsc_err *err)
{
	struct del d = { .a = a,
			 .req = req,
			 .units = units,
			 .n_units = n_units,
			 .max_ns = max_ns > 0 ? max_ns : 1,
			 .out = out };

	return s->ops->write(s, delete_work, &d, false, err);
}

/* ---- tombstones ---- */

struct get {
	struct fsc_arena *a;
	struct fsc_tombstone *out;
	bool found;
};

static enum fsc_delete_reason read_reason(const struct fsc_row *row, size_t col)
{
	for (size_t i = 0; i < FSC_ARRAY_LEN(reason_names); i++)
		if (row->v[col].type == FSC_VALUE_TEXT && !strcmp(row->v[col].p, reason_names[i]))
			return (enum fsc_delete_reason)i;
	return FSC_DELETE_USER;
}

static enum fsc_status take_tombstone(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct get *g = ctx;
	bool ok = true;

	g->found = true;
	*g->out = (struct fsc_tombstone){
		.id = fsc_row_int(row, 0, 0),
		.bundle = fsc_row_int(row, 1, 0),
		.member = fsc_row_text0(row, 2, g->a, &ok),
		.slot = fsc_row_int(row, 3, 0),
		.name = fsc_row_text0(row, 4, g->a, &ok),
		.deleted_at_ns = fsc_row_int(row, 5, 0),
		.reason = read_reason(row, 6),
		.actor = fsc_row_text0(row, 7, g->a, &ok),
		.detail = fsc_row_text0(row, 8, g->a, &ok),
	};
	return ok ? FSC_OK : fsc_store_nomem(err);
}

enum fsc_status fsc_store_tombstone_get(struct fsc_store *s, struct fsc_arena *a, int64_t project,
					bool is_bundle, int64_t id, struct fsc_tombstone *out,
					struct fsc_err *err)
{
	struct get g = { .a = a, .out = out };
	enum fsc_status st =
		fsc_store_rows(s, FSC_Q_TOMBSTONE_GET,
			       FSC_ARGS(fsc_v_int(project),
					fsc_v_text(is_bundle ? "bundle" : "trace"), fsc_v_int(id)),
			       take_tombstone, &g, err);

	if (st == FSC_OK && !g.found)
		return fsc_err_set(err, FSC_ENOTFOUND, "not_found",
				   "nothing of this id was deleted");
	if (st == FSC_OK)
		out->is_bundle = is_bundle;
	return st;
}
