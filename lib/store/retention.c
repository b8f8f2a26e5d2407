/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of projects, what a pass would take, and letting go of the bytes of an upload. */
#include "store/retention.h"

#include "store/store_ops.h"

/* ---- limits ---- */

static void read_limits(struct fsc_retention *r, const struct fsc_row *row)
{
	r->project = fsc_row_int(row, 0, 0);
	r->max_age_days = fsc_row_int(row, 1, 0);
	r->blob_age_days = fsc_row_int(row, 2, 0);
	r->max_bytes = fsc_row_int(row, 3, 0);
	r->updated_at_ns = fsc_row_int(row, 4, 0);
}

static enum fsc_status take_limits(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	(void)err;
	read_limits(ctx, row);
	return FSC_OK;
}

enum fsc_status fsc_store_retention_get(struct fsc_store *s, int64_t project,
					struct fsc_retention *out, struct fsc_err *err)
{
	*out = (struct fsc_retention){ .project = project };
	return fsc_store_rows(s, FSC_Q_RETENTION_GET, FSC_ARGS(fsc_v_int(project)), take_limits,
			      out, err);
}

static bool days_ok(int64_t days)
{
	return days >= 0 && days <= FSC_RETENTION_DAYS_MAX;
}

enum fsc_status fsc_retention_check(const struct fsc_retention *in, struct fsc_err *err)
{
	if (!days_ok(in->max_age_days) || !days_ok(in->blob_age_days) || in->max_bytes < 0)
		return fsc_err_set(err, FSC_EINVAL, "retention",
				   "retention: days are 0 to %d, bytes are not negative; 0 is no "
				   "limit",
				   FSC_RETENTION_DAYS_MAX);
	return FSC_OK;
}

struct set {
	const struct fsc_retention *in;
	unsigned which;
	struct fsc_retention was, now;
};

static enum fsc_status set_work(struct fsc_db *db, void *arg, struct fsc_err *err)
{
	struct set *w = arg;
	struct fsc_retention *n = &w->now;
	enum fsc_status st;

	w->was = (struct fsc_retention){ .project = w->in->project };
	st = fsc_db_rows(db, FSC_Q_RETENTION_GET, FSC_ARGS(fsc_v_int(w->in->project)), take_limits,
			 &w->was, err);
	if (st != FSC_OK)
		return st;
	*n = w->was;
	if (w->which & FSC_LIMIT_AGE)
		n->max_age_days = w->in->max_age_days;
	if (w->which & FSC_LIMIT_BLOB_AGE)
		n->blob_age_days = w->in->blob_age_days;
	if (w->which & FSC_LIMIT_BYTES)
		n->max_bytes = w->in->max_bytes;
	n->updated_at_ns = fsc_store_now(db->store);
	st = fsc_retention_check(n, err);
	if (st != FSC_OK)
		return st;
	return fsc_db_run(db, FSC_Q_RETENTION_PUT,
			  FSC_ARGS(fsc_v_int(n->project), fsc_v_int(n->max_age_days),
				   fsc_v_int(n->blob_age_days), fsc_v_int(n->max_bytes),
				   fsc_v_int(n->updated_at_ns)),
			  NULL, err);
}

enum fsc_status fsc_store_retention_set(struct fsc_store *s, struct fsc_retention *in,
					unsigned which, struct fsc_retention *was,
					struct fsc_err *err)
{
	struct set w = { .in = in, .which = which };
	enum fsc_status st = s->ops->write(s, set_work, &w, false, err);

	if (st != FSC_OK)
		return st;
	*was = w.was;
	*in = w.now;
	return FSC_OK;
}

enum fsc_status fsc_store_retention_put(struct fsc_store *s, struct fsc_retention *in,
					struct fsc_err *err)
{
	struct fsc_retention was;

	return fsc_store_retention_set(s, in, FSC_LIMIT_AGE | FSC_LIMIT_BLOB_AGE | FSC_LIMIT_BYTES,
				       &was, err);
}

static enum fsc_status add_limits(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct fsc_retention *r = fsc_rows_add(ctx);

	if (!r)
		return fsc_store_nomem(err);
	read_limits(r, row);
	return FSC_OK;
}

enum fsc_status fsc_store_retention_list(struct fsc_store *s, struct fsc_arena *a,
					 struct fsc_retentions *out, struct fsc_err *err)
{
	struct fsc_rows rows = { .a = a, .size = sizeof(struct fsc_retention) };
	enum fsc_status st =
		fsc_store_rows(s, FSC_Q_RETENTION_LIST, NULL, 0, add_limits, &rows, err);

	out->items = rows.items;
	out->n_items = rows.n;
	return st;
}

/* ---- the plan ---- */

const char *fsc_retention_why_name(enum fsc_retention_why why)
{
	static const char *const names[] = { "age", "bytes", "blob_age" };

	return (size_t)why < FSC_ARRAY_LEN(names) ? names[why] : "unknown";
}

struct bundle_row {
	int64_t id, received_at, blob_bytes, traces, segment_bytes;
	bool has_blob, busy, kept;
};

struct plan {
	const struct fsc_retention_query *q;
	struct fsc_arena *a;
	struct fsc_retention_plan *out;
	struct fsc_rows items;
	int64_t age_before, blob_before; /* INT64_MIN: no limit */
	int64_t left;			 /* bytes that stay after the first look */
	int64_t over;			 /* still to be taken by bytes */
};

/* Bundles received before this are too old. */
static int64_t before(const struct fsc_retention_query *q, int64_t days)
{
	return q->by_age && days ? q->now_ns - days * FSC_DAY_NS : INT64_MIN;
}

static struct bundle_row read_row(const struct fsc_row *row)
{
	return (struct bundle_row){
		.id = fsc_row_int(row, 0, 0),
		.received_at = fsc_row_int(row, 2, 0),
		.blob_bytes = fsc_row_int(row, 3, 0),
		.has_blob = fsc_row_int(row, 4, 0) != 0,
		.busy = fsc_row_int(row, 5, 0) != 0,
		.traces = fsc_row_int(row, 6, 0),
		.segment_bytes = fsc_row_int(row, 7, 0),
		.kept = fsc_row_int(row, 8, 0) != 0,
	};
}

/* By age alone. False: it stays whole. */
static bool by_age(const struct plan *p, const struct bundle_row *b, enum fsc_retention_why *why)
{
	if (b->received_at < p->age_before) {
		*why = FSC_RETENTION_AGE;
		return true;
	}
	*why = FSC_RETENTION_BLOB;
	return b->has_blob && b->received_at < p->blob_before && !b->busy;
}

/* First look: how much is there when what is too old has gone? */
static enum fsc_status sum_row(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct plan *p = ctx;
	struct bundle_row b = read_row(row);
	enum fsc_retention_why why;
	bool goes = !b.kept && by_age(p, &b, &why);

	(void)err;
	if (!goes)
		p->left += b.blob_bytes + b.segment_bytes;
	else if (why == FSC_RETENTION_BLOB)
		p->left += b.segment_bytes;
	return FSC_OK;
}

static enum fsc_status add_item(struct plan *p, const struct fsc_row *row,
				const struct bundle_row *b, enum fsc_retention_why why,
				struct fsc_err *err)
{
	bool whole = why != FSC_RETENTION_BLOB;
	struct fsc_retention_item *it;
	bool ok = true;

	if (whole) {
		p->out->bundles++;
		p->out->traces += b->traces;
		p->out->bundle_blob_bytes += b->blob_bytes;
		p->out->segment_bytes += b->segment_bytes;
	} else {
		p->out->blobs++;
		p->out->blob_bytes += b->blob_bytes;
	}
	if (p->items.n >= p->q->max_items)
		return FSC_OK;
	it = fsc_rows_add(&p->items);
	if (!it)
		return fsc_store_nomem(err);
	*it = (struct fsc_retention_item){
		.why = why,
		.bundle = b->id,
		.name = fsc_row_text0(row, 1, p->a, &ok),
		.traces = whole ? b->traces : 0,
		.blob_bytes = b->blob_bytes,
		.segment_bytes = whole ? b->segment_bytes : 0,
	};
	return ok ? FSC_OK : fsc_store_nomem(err);
}

static enum fsc_status plan_row(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct plan *p = ctx;
	struct bundle_row b = read_row(row);
	enum fsc_retention_why why;
	bool old = by_age(p, &b, &why);
	/* what goes by bytes, after its blob may have gone by age */
	int64_t gain = b.segment_bytes + (old && why == FSC_RETENTION_BLOB ? 0 : b.blob_bytes);

	if (b.kept) {
		p->out->kept += old || (p->over > 0 && !b.busy);
		return FSC_OK;
	}
	if (old && why == FSC_RETENTION_AGE)
		return add_item(p, row, &b, why, err);
	if (p->over > 0 && !b.busy && gain > 0) {
		p->over -= gain;
		return add_item(p, row, &b, FSC_RETENTION_BYTES, err);
	}
	return old ? add_item(p, row, &b, why, err) : FSC_OK;
}

static enum fsc_status plan_work(struct fsc_db *db, void *arg, struct fsc_err *err)
{
	struct plan *p = arg;
	const struct fsc_retention *l = &p->q->limits;
	enum fsc_status st = FSC_OK;

	if (l->max_bytes)
		st = fsc_db_rows(db, FSC_Q_RETENTION_SCAN, FSC_ARGS(fsc_v_int(l->project)), sum_row,
				 p, err);
	if (l->max_bytes && p->left > l->max_bytes)
		p->over = p->left - l->max_bytes;
	if (st == FSC_OK && (p->over || p->age_before > INT64_MIN || p->blob_before > INT64_MIN))
		st = fsc_db_rows(db, FSC_Q_RETENTION_SCAN, FSC_ARGS(fsc_v_int(l->project)),
				 plan_row, p, err);
	return st;
}

enum fsc_status fsc_store_retention_plan(struct fsc_store *s, struct fsc_arena *a,
					 const struct fsc_retention_query *q,
					 struct fsc_retention_plan *out, struct fsc_err *err)
{
	struct plan p = { .q = q, .a = a, .out = out };
	enum fsc_status st;

	*out = (struct fsc_retention_plan){ 0 };
	p.items = (struct fsc_rows){ .a = a, .size = sizeof(struct fsc_retention_item) };
	p.age_before = before(q, q->limits.max_age_days);
	p.blob_before = before(q, q->limits.blob_age_days);
	st = s->ops->read(s, plan_work, &p, err);
	out->items = p.items.items;
	out->n_items = p.items.n;
	out->over_bytes = p.over > 0 ? p.over : 0;
	return st;
}

/* ---- the bytes of an upload ---- */

struct release {
	int64_t project, bundle, now;
	struct fsc_blob_release *out;
	bool found, has_blob, busy, kept;
};

static enum fsc_status take_release(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct release *r = ctx;

	r->found = true;
	r->out->bytes = fsc_row_int(row, 1, 0);
	r->has_blob = fsc_row_int(row, 2, 0) == 0;
	r->busy = fsc_row_int(row, 3, 0) != 0;
	r->kept = fsc_row_int(row, 4, 0) != 0;
	if (!fsc_row_bytes(row, 0, r->out->sha256, sizeof(r->out->sha256)))
		return fsc_err_set(err, FSC_ECORRUPT, "store_corrupt",
				   "store: bundle without digest");
	return FSC_OK;
}

static enum fsc_status may_release(const struct release *r, struct fsc_err *err)
{
	if (!r->found)
		return fsc_store_no_bundle(err);
	if (!r->has_blob)
		return fsc_err_set(err, FSC_ENOTFOUND, "blob_gone",
				   "bundle: its bytes are not kept any more");
	if (r->busy)
		return fsc_err_set(err, FSC_EBUSY, "bundle_indexing",
				   "bundle: it is queued or being indexed");
	if (r->kept)
		return fsc_err_set(err, FSC_EEXIST, "kept", "bundle: a trace of it is kept");
	return FSC_OK;
}

static enum fsc_status release_work(struct fsc_db *db, void *arg, struct fsc_err *err)
{
	struct release *r = arg;
	int64_t refs = 0;
	bool found;
	enum fsc_status st;

	*r->out = (struct fsc_blob_release){ 0 };
	r->found = false;
	st = fsc_db_rows(db, FSC_Q_BLOB_STATE,
			 FSC_ARGS(fsc_v_int(r->project), fsc_v_int(r->bundle)), take_release, r,
			 err);
	if (st == FSC_OK)
		st = may_release(r, err);
	if (st == FSC_OK)
		st = fsc_db_run(db, FSC_Q_BLOB_RELEASE,
				FSC_ARGS(fsc_v_int(r->bundle), fsc_v_int(r->now)), NULL, err);
	if (st == FSC_OK)
		st = fsc_db_int(db, FSC_Q_BUNDLE_REFS,
				FSC_ARGS(fsc_v_bytes(r->out->sha256, sizeof(r->out->sha256))),
				&refs, &found, err);
	r->out->blob_free = refs == 0;
	return st;
}

enum fsc_status fsc_store_blob_release(struct fsc_store *s, int64_t project, int64_t bundle,
				       struct fsc_blob_release *out, struct fsc_err *err)
{
	struct release r = {
		.project = project, .bundle = bundle, .now = fsc_store_now(s), .out = out
	};

	return s->ops->write(s, release_work, &r, false, err);
}
