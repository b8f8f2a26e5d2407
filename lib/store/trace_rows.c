/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the listing, one trace, and the facts of a trace. */
#include "store/trace_rows.h"

static void read_texts(struct fsc_trace_item *it, const struct fsc_row *row, struct fsc_arena *a,
		       bool *ok)
{
	struct fsc_trace_row *t = &it->t;

	t->bundle_name = fsc_row_text0(row, 4, a, ok);
	t->name = fsc_row_text0(row, 5, a, ok);
	t->member = fsc_row_text0(row, 6, a, ok);
	t->format = fsc_row_text0(row, 8, a, ok);
	t->job = fsc_row_text(row, 9, a, ok);
	t->host = fsc_row_text(row, 10, a, ok);
	t->capture = fsc_row_text(row, 11, a, ok);
	it->member = t->member;
	it->stage = fsc_row_text0(row, 39, a, ok);
	it->err_code = fsc_row_text(row, 43, a, ok);
	it->err_message = fsc_row_text(row, 44, a, ok);
	it->err_file = fsc_row_text(row, 45, a, ok);
}

static void read_ints(struct fsc_trace_row *t, const struct fsc_row *row)
{
	t->id = fsc_row_int(row, 1, 0);
	t->project = fsc_row_int(row, 2, 0);
	t->bundle = fsc_row_int(row, 3, 0);
	t->slot = fsc_row_int(row, 7, 0);
	t->rank = fsc_row_int(row, 12, -1);
	t->world_size = fsc_row_int(row, 13, -1);
	t->has_epoch = fsc_row_int(row, 14, 0) != 0;
	t->t_base_ns = fsc_row_int(row, 15, 0);
	t->t_min_ns = fsc_row_int(row, 16, 0);
	t->t_max_ns = fsc_row_int(row, 17, 0);
	t->slices = fsc_row_int(row, 18, 0);
	t->instants = fsc_row_int(row, 19, 0);
	t->flows = fsc_row_int(row, 20, 0);
	t->counters = fsc_row_int(row, 21, 0);
	t->tracks = fsc_row_int(row, 22, 0);
	t->events = fsc_row_int(row, 23, 0);
	t->launch_pairs = fsc_row_int(row, 24, 0);
	t->launch_none = fsc_row_int(row, 25, 0);
	t->launch_ambiguous = fsc_row_int(row, 26, 0);
	t->synthetic = fsc_row_int(row, 27, 0) != 0;
	t->blob_bytes = fsc_row_int(row, 28, 0);
	t->segment_bytes = fsc_row_int(row, 29, 0);
	t->segment = fsc_row_int(row, 47, 0);
	t->segment_version = fsc_row_int(row, 30, 0);
	t->analysis_version = fsc_row_int(row, 31, 0);
	t->gpu_busy_ppm = fsc_row_int(row, 32, -1);
	t->exposed_comm_ppm = fsc_row_int(row, 33, -1);
	t->losses_kinds = fsc_row_int(row, 34, 0);
	t->losses_count = fsc_row_int(row, 35, 0);
	t->received_at_ns = fsc_row_int(row, 36, 0);
	t->indexed_at_ns = fsc_row_int(row, 37, 0);
	t->keep = fsc_row_int(row, 48, 0) != 0;
	t->blob_deleted_at_ns = fsc_row_int(row, 49, 0);
}

enum fsc_status fsc_store_read_item(struct fsc_trace_item *out, const struct fsc_row *row,
				    struct fsc_arena *a, struct fsc_err *err)
{
	bool ok = true;

	if (row->n < FSC_LISTING_COLUMNS)
		return fsc_err_set(err, FSC_EBUG, NULL, "store: the listing has %zu columns",
				   row->n);
	out->has_trace = row->v[1].type == FSC_VALUE_INT;
	read_texts(out, row, a, &ok);
	read_ints(&out->t, row);
	out->state = fsc_store_state(row, 38);
	out->done = fsc_row_int(row, 40, 0);
	out->total = fsc_row_int(row, 41, 0);
	out->started_at_ns = fsc_row_int(row, 42, 0);
	out->finished_at_ns = fsc_row_int(row, 50, 0);
	out->events = out->t.events;
	out->err_offset = fsc_row_int(row, 46, -1);
	return ok ? FSC_OK : fsc_store_nomem(err);
}

/* ---- one trace ---- */

struct get {
	struct fsc_arena *a;
	int64_t project, id;
	struct fsc_trace_item item;
	bool found;
};

static enum fsc_status take_trace(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct get *g = ctx;

	g->found = true;
	return fsc_store_read_item(&g->item, row, g->a, err);
}

static enum fsc_status take_meta(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct get *g = ctx;
	bool ok = true;

	g->item.t.meta_json = fsc_row_text0(row, 0, g->a, &ok);
	g->item.t.source_disagreements = fsc_row_text0(row, 1, g->a, &ok);
	return ok ? FSC_OK : fsc_store_nomem(err);
}

static enum fsc_status get_work(struct fsc_db *db, void *arg, struct fsc_err *err)
{
	struct get *g = arg;
	enum fsc_status st =
		fsc_db_rows(db, FSC_Q_TRACE_GET, FSC_ARGS(fsc_v_int(g->project), fsc_v_int(g->id)),
			    take_trace, g, err);

	if (st == FSC_OK && !g->found)
		st = fsc_err_set(err, FSC_ENOTFOUND, "not_found", "trace: no such trace");
	g->item.t.meta_json = g->item.t.source_disagreements = "";
	if (st == FSC_OK)
		st = fsc_db_rows(db, FSC_Q_TRACE_META, FSC_ARGS(fsc_v_int(g->id)), take_meta, g,
				 err);
	return st;
}

enum fsc_status fsc_store_trace_get(struct fsc_store *s, struct fsc_arena *a, int64_t project,
				    int64_t id, struct fsc_trace_row *out, struct fsc_err *err)
{
	struct get g = { .a = a, .project = project, .id = id };
	enum fsc_status st = s->ops->read(s, get_work, &g, err);

	*out = g.item.t;
	return st;
}

/* ---- facts of a trace ---- */

struct rows_ok {
	struct fsc_rows rows;
	bool ok;
};

static enum fsc_status done(struct rows_ok *r, struct fsc_err *err)
{
	return r->ok ? FSC_OK : fsc_store_nomem(err);
}

static enum fsc_status add_category(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct rows_ok *r = ctx;
	struct fsc_category_row *c = fsc_rows_add(&r->rows);

	if (!c)
		return fsc_store_nomem(err);
	c->name = fsc_row_text0(row, 0, r->rows.a, &r->ok);
	c->count = fsc_row_int(row, 1, 0);
	c->sum_ns = fsc_row_int(row, 2, 0);
	return done(r, err);
}

enum fsc_status fsc_store_trace_categories(struct fsc_store *s, struct fsc_arena *a, int64_t trace,
					   struct fsc_category_rows *out, struct fsc_err *err)
{
	struct rows_ok r = { .rows = { .a = a, .size = sizeof(struct fsc_category_row) },
			     .ok = true };
	enum fsc_status st = fsc_store_rows(s, FSC_Q_CATEGORIES, FSC_ARGS(fsc_v_int(trace)),
					    add_category, &r, err);

	out->items = r.rows.items;
	out->n_items = r.rows.n;
	return st;
}

static enum fsc_status add_device(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct rows_ok *r = ctx;
	struct fsc_fact_device *d = fsc_rows_add(&r->rows);

	if (!d)
		return fsc_store_nomem(err);
	*d = (struct fsc_fact_device){
		.scope = fsc_row_int(row, 0, 0),
		.device = fsc_row_int(row, 1, 0),
		.window_ns = fsc_row_int(row, 2, 0),
		.busy_ns = fsc_row_int(row, 3, 0),
		.idle_ns = fsc_row_int(row, 4, 0),
		.compute_ns = fsc_row_int(row, 5, 0),
		.comm_ns = fsc_row_int(row, 6, 0),
		.memcpy_ns = fsc_row_int(row, 7, 0),
		.exposed_comm_ns = fsc_row_int(row, 8, 0),
		.exposed_memcpy_ns = fsc_row_int(row, 9, 0),
		.comm_overlap_ns = fsc_row_int(row, 10, 0),
		.unclassified_ns = fsc_row_int(row, 11, 0),
	};
	return FSC_OK;
}

enum fsc_status fsc_store_trace_devices(struct fsc_store *s, struct fsc_arena *a, int64_t trace,
					enum fsc_scope scope, struct fsc_device_rows *out,
					struct fsc_err *err)
{
	struct rows_ok r = { .rows = { .a = a, .size = sizeof(struct fsc_fact_device) },
			     .ok = true };
	enum fsc_status st =
		fsc_store_rows(s, FSC_Q_DEVICES, FSC_ARGS(fsc_v_int(trace), fsc_v_int(scope)),
			       add_device, &r, err);

	out->items = r.rows.items;
	out->n_items = r.rows.n;
	return st;
}

static enum fsc_status add_idle(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct rows_ok *r = ctx;
	struct fsc_fact_idle *i = fsc_rows_add(&r->rows);

	if (!i)
		return fsc_store_nomem(err);
	*i = (struct fsc_fact_idle){
		.scope = fsc_row_int(row, 0, 0),
		.device = fsc_row_int(row, 1, 0),
		.stream = fsc_row_int(row, 2, 0),
		.host_wait_ns = fsc_row_int(row, 3, 0),
		.kernel_wait_ns = fsc_row_int(row, 4, 0),
		.other_ns = fsc_row_int(row, 5, 0),
	};
	return FSC_OK;
}

enum fsc_status fsc_store_trace_idle(struct fsc_store *s, struct fsc_arena *a, int64_t trace,
				     enum fsc_scope scope, struct fsc_idle_rows *out,
				     struct fsc_err *err)
{
	struct rows_ok r = { .rows = { .a = a, .size = sizeof(struct fsc_fact_idle) }, .ok = true };
	enum fsc_status st =
		fsc_store_rows(s, FSC_Q_IDLES, FSC_ARGS(fsc_v_int(trace), fsc_v_int(scope)),
			       add_idle, &r, err);

	out->items = r.rows.items;
	out->n_items = r.rows.n;
	return st;
}

static enum fsc_status add_step(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct rows_ok *r = ctx;
	struct fsc_fact_step *p = fsc_rows_add(&r->rows);

	if (!p)
		return fsc_store_nomem(err);
	p->idx = fsc_row_int(row, 0, 0);
	p->name = fsc_row_text0(row, 1, r->rows.a, &r->ok);
	p->t0_ns = fsc_row_int(row, 2, 0);
	p->dur_ns = fsc_row_int(row, 3, 0);
	p->busy_ns = fsc_row_int(row, 4, 0);
	p->idle_ns = fsc_row_int(row, 5, 0);
	return done(r, err);
}

enum fsc_status fsc_store_trace_steps(struct fsc_store *s, struct fsc_arena *a, int64_t trace,
				      struct fsc_step_rows *out, struct fsc_err *err)
{
	struct rows_ok r = { .rows = { .a = a, .size = sizeof(struct fsc_fact_step) }, .ok = true };
	enum fsc_status st =
		fsc_store_rows(s, FSC_Q_STEPS, FSC_ARGS(fsc_v_int(trace)), add_step, &r, err);

	out->items = r.rows.items;
	out->n_items = r.rows.n;
	return st;
}

enum fsc_status fsc_store_segment_referenced(struct fsc_store *s, int64_t segment, bool *yes,
					     struct fsc_err *err)
{
	int64_t n = 0;
	bool found;
	enum fsc_status st = fsc_store_first_int(s, FSC_Q_SEGMENT_REFS,
						 FSC_ARGS(fsc_v_int(segment)), &n, &found, err);

	*yes = n > 0;
	return st;
}
