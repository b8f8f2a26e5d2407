/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a delete would take: the rows of the list that the target names, gathered per bundle. A bundle all of
 * whose traces go goes as a whole.
 */
#include "store/deletes.h"
#include "store/store.h"
#include "store/store_ops.h"

struct plan_row {
	int64_t bundle, trace; /* trace 0: a bundle without traces */
	const char *name, *bundle_name;
	int64_t segment_bytes, n_traces, blob_bytes;
	bool keep;
};
struct plan {
	const struct fsc_delete_target *t;
	struct fsc_arena *a;
	struct fsc_delete_plan *out;
	struct fsc_rows units, items;
	struct fsc_rows group; /* struct plan_row of one bundle */
};

static enum fsc_status add_item(struct plan *p, const struct fsc_delete_item *item,
				struct fsc_err *err)
{
	struct fsc_delete_item *to;

	if (p->items.n == FSC_DELETE_ITEMS_MAX) {
		p->out->truncated = true;
		return FSC_OK;
	}
	to = fsc_rows_add(&p->items);
	if (!to)
		return fsc_store_nomem(err);
	*to = *item;
	return FSC_OK;
}

static enum fsc_status add_unit(struct plan *p, int64_t bundle, int64_t trace, struct fsc_err *err)
{
	struct fsc_delete_unit *u = fsc_rows_add(&p->units);

	if (!u)
		return fsc_store_nomem(err);
	*u = (struct fsc_delete_unit){ bundle, trace };
	return FSC_OK;
}

/* The bundle goes, or, when it was asked for as such and something in it is kept, stays, as a whole. */
static enum fsc_status plan_whole(struct plan *p, int64_t n_kept, struct fsc_err *err)
{
	const struct plan_row *r = p->group.items;
	struct fsc_delete_item item = { .bundle = r->bundle,
					.name = r->bundle_name,
					.keep = n_kept > 0 };
	int64_t segments = 0;
	enum fsc_status st;

	for (size_t i = 0; i < p->group.n; i++)
		segments += r[i].segment_bytes;
	item.bytes = segments + r->blob_bytes;
	st = add_item(p, &item, err);
	if (n_kept && !p->t->kept) {
		p->out->kept += n_kept;
		return st;
	}
	p->out->bundles++;
	p->out->traces += r->n_traces;
	p->out->segment_bytes += segments;
	p->out->blob_bytes += r->blob_bytes;
	return st == FSC_OK ? add_unit(p, r->bundle, 0, err) : st;
}

static enum fsc_status plan_traces(struct plan *p, struct fsc_err *err)
{
	const struct plan_row *r = p->group.items;
	enum fsc_status st = FSC_OK;

	for (size_t i = 0; i < p->group.n && st == FSC_OK; i++) {
		const struct fsc_delete_item item = { .bundle = r[i].bundle,
						      .trace = r[i].trace,
						      .name = r[i].name,
						      .bytes = r[i].segment_bytes,
						      .keep = r[i].keep };

		st = add_item(p, &item, err);
		if (item.keep && !p->t->kept) {
			p->out->kept++;
			continue;
		}
		p->out->traces++;
		p->out->segment_bytes += item.bytes;
		if (st == FSC_OK)
			st = add_unit(p, item.bundle, item.trace, err);
	}
	return st;
}

static enum fsc_status end_group(struct plan *p, struct fsc_err *err)
{
	const struct plan_row *r = p->group.items;
	int64_t n_kept = 0;
	bool whole;
	enum fsc_status st;

	if (!p->group.n)
		return FSC_OK;
	for (size_t i = 0; i < p->group.n; i++)
		n_kept += r[i].keep;
	whole = (int64_t)p->group.n >= r->n_traces && (!n_kept || p->t->kept);
	st = whole || p->t->bundle ? plan_whole(p, n_kept, err) : plan_traces(p, err);
	p->group.n = 0;
	return st;
}

static enum fsc_status add_row(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct plan *p = ctx;
	const struct plan_row *first = p->group.items;
	int64_t bundle = fsc_row_int(row, 0, 0);
	struct plan_row *r;
	bool ok = true, named = p->items.n + p->group.n < FSC_DELETE_ITEMS_MAX;
	enum fsc_status st;

	if (p->group.n && first->bundle != bundle) {
		st = end_group(p, err);
		if (st != FSC_OK)
			return st;
	}
	r = fsc_rows_add(&p->group);
	if (!r)
		return fsc_store_nomem(err);
	*r = (struct plan_row){
		.bundle = bundle,
		.trace = fsc_row_int(row, 1, 0),
		/* names only where they can be shown: a job may have a million traces */
		.name = named ? fsc_row_text0(row, 2, p->a, &ok) : "",
		.segment_bytes = fsc_row_int(row, 3, 0),
		.keep = fsc_row_int(row, 4, 0) != 0,
		.n_traces = fsc_row_int(row, 5, 0),
		.blob_bytes = fsc_row_int(row, 6, 0),
		.bundle_name = named ? fsc_row_text0(row, 7, p->a, &ok) : "",
	};
	return ok ? FSC_OK : fsc_store_nomem(err);
}

static enum fsc_status plan_work(struct fsc_db *db, void *arg, struct fsc_err *err)
{
	struct plan *p = arg;
	const struct fsc_delete_target *t = p->t;
	enum fsc_status st;

	if (t->bundle)
		st = fsc_db_rows(db, FSC_Q_DELETE_PLAN_BUNDLE,
				 FSC_ARGS(fsc_v_int(t->project), fsc_v_int(t->bundle)), add_row, p,
				 err);
	else if (t->trace)
		st = fsc_db_rows(db, FSC_Q_DELETE_PLAN_TRACE,
				 FSC_ARGS(fsc_v_int(t->project), fsc_v_int(t->trace)), add_row, p,
				 err);
	else
		st = fsc_db_rows(db, FSC_Q_DELETE_PLAN_LABEL,
				 FSC_ARGS(fsc_v_int(t->project), fsc_v_text(t->job),
					  fsc_v_text(t->capture)),
				 add_row, p, err);
	return st == FSC_OK ? end_group(p, err) : st;
}

enum fsc_status fsc_store_delete_plan(struct fsc_store *s, struct fsc_arena *a,
				      const struct fsc_delete_target *t,
				      struct fsc_delete_plan *out, struct fsc_err *err)
{
	struct plan p = { .t = t, .a = a, .out = out };
	enum fsc_status st;

	*out = (struct fsc_delete_plan){ 0 };
	if (!t->bundle + !t->trace + !t->job + !t->capture != 3)
		return fsc_err_set(err, FSC_EINVAL, "target",
				   "delete: one of bundle, trace, job and capture");
	p.units = (struct fsc_rows){ .a = a, .size = sizeof(struct fsc_delete_unit) };
	p.items = (struct fsc_rows){ .a = a, .size = sizeof(struct fsc_delete_item) };
	p.group = (struct fsc_rows){ .a = a, .size = sizeof(struct plan_row) };
	st = s->ops->read(s, plan_work, &p, err);
	out->units = p.units.items;
	out->n_units = p.units.n;
	out->items = p.items.items;
	out->n_items = p.items.n;
	if (st == FSC_OK && !out->n_items && (t->bundle || t->trace))
		st = fsc_err_set(err, FSC_ENOTFOUND, "not_found", "delete: there is no such thing");
	return st;
}
