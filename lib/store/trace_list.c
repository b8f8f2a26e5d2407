/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list page: search, filters, facets, sorting, pages. Rows are ready traces and bundles without one. All
 * queries of one call see the same state of the store.
 */
#include <stdio.h>

#include "store/trace_rows.h"

#define N_WHERE 21 /* parameters that every query of the list begins with */

static const char *const sort_names[] = {
	"received", "started", "duration", "slices", "bytes", "gpu_busy", "exposed_comm",
	"losses",   "rank",    "name",	   "job",    "host",  "state",
};

bool fsc_trace_sort_parse(enum fsc_trace_sort *out, const char *s)
{
	for (size_t i = 0; i < FSC_ARRAY_LEN(sort_names); i++) {
		if (!strcmp(s, sort_names[i])) {
			*out = (enum fsc_trace_sort)i;
			return true;
		}
	}
	return false;
}

struct list {
	const struct fsc_trace_query *q;
	struct fsc_arena *a;
	struct fsc_trace_page *out;
	uint32_t limit;
	char kind[24]; /* of the cursor */
	bool has_cursor;
	struct fsc_cursor cursor, last;
	struct fsc_value args[N_WHERE + 3];
	struct fsc_rows rows;
};

static void put_filter(struct fsc_value *args, const struct fsc_filter *f)
{
	for (size_t i = 0; i < FSC_STORE_FILTER_MAX; i++)
		args[i] = f && i < f->n ? fsc_v_text(f->v[i]) : fsc_v_null();
}

static enum fsc_status prepare(struct list *l, struct fsc_err *err)
{
	const struct fsc_trace_query *q = l->q;
	struct fsc_words words;
	enum fsc_status st = fsc_words_split(&words, l->a, q->q, err);

	if (st != FSC_OK)
		return st;
	if ((size_t)q->sort >= FSC_ARRAY_LEN(sort_names))
		return fsc_err_set(err, FSC_EINVAL, "sort", "list: unknown order");
	l->args[0] = fsc_v_int(q->project);
	for (size_t i = 0; i < FSC_STORE_WORDS_MAX; i++)
		l->args[1 + i] = fsc_v_text(words.like[i]);
	put_filter(l->args + 5, &q->state);
	put_filter(l->args + 9, &q->job);
	put_filter(l->args + 13, &q->host);
	put_filter(l->args + 17, &q->capture);
	snprintf(l->kind, sizeof(l->kind), "%s.%s", sort_names[q->sort],
		 q->ascending ? "asc" : "desc");
	if (!q->cursor)
		return FSC_OK;
	l->has_cursor = true;
	return fsc_cursor_read(&l->cursor, l->a, q->cursor, l->kind, err);
}

static enum fsc_status add_item(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct list *l = ctx;
	struct fsc_trace_item *it;
	bool ok = true;

	if (l->rows.n == l->limit) { /* there is one more: the page ends at the row before */
		l->out->next = fsc_cursor_write(l->a, &l->last);
		return l->out->next ? FSC_OK : fsc_store_nomem(err);
	}
	it = fsc_rows_add(&l->rows);
	if (!it)
		return fsc_store_nomem(err);
	l->last.id = fsc_row_int(row, 0, 0);
	l->last.is_text = row->v[FSC_LISTING_COLUMNS].type == FSC_VALUE_TEXT;
	l->last.key = fsc_row_int(row, FSC_LISTING_COLUMNS, 0);
	l->last.text = fsc_row_text0(row, FSC_LISTING_COLUMNS, l->a, &ok);
	return ok ? fsc_store_read_item(it, row, l->a, err) : fsc_store_nomem(err);
}

struct facet {
	struct fsc_facet *out;
	struct fsc_rows rows;
};

static enum fsc_status add_value(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct facet *f = ctx;
	struct fsc_facet_value *v;
	bool ok = true;

	if (f->rows.n == FSC_STORE_FACET_MAX) {
		f->out->other_values++;
		f->out->other_count += fsc_row_int(row, 1, 0);
		return FSC_OK;
	}
	v = fsc_rows_add(&f->rows);
	if (!v)
		return fsc_store_nomem(err);
	v->value = fsc_row_text0(row, 0, f->rows.a, &ok);
	v->count = fsc_row_int(row, 1, 0);
	return ok ? FSC_OK : fsc_store_nomem(err);
}

/* Counts of one facet with every filter but its own, whose parameters begin at `own`. */
static enum fsc_status facet(struct fsc_db *db, struct list *l, enum fsc_query id, size_t own,
			     struct fsc_facet *out, struct fsc_err *err)
{
	struct facet f = { .out = out,
			   .rows = { .a = l->a, .size = sizeof(struct fsc_facet_value) } };
	struct fsc_value args[N_WHERE];
	enum fsc_status st;

	memcpy(args, l->args, sizeof(args));
	put_filter(args + own, NULL);
	st = fsc_db_rows(db, id, args, N_WHERE, add_value, &f, err);
	out->items = f.rows.items;
	out->n_items = f.rows.n;
	return st;
}

static enum fsc_status list_work(struct fsc_db *db, void *arg, struct fsc_err *err)
{
	struct list *l = arg;
	const struct fsc_cursor *c = &l->cursor;
	enum fsc_query id = (enum fsc_query)(FSC_Q_LIST_RECEIVED_D + 2 * (int)l->q->sort +
					     (l->q->ascending ? 1 : 0));
	bool found;
	enum fsc_status st;

	l->args[N_WHERE] = !l->has_cursor ? fsc_v_null()
			   : c->is_text	  ? fsc_v_text(c->text)
					  : fsc_v_int(c->key);
	l->args[N_WHERE + 1] = l->has_cursor ? fsc_v_int(c->id) : fsc_v_null();
	l->args[N_WHERE + 2] = fsc_v_int((int64_t)l->limit + 1);
	st = fsc_db_rows(db, id, l->args, FSC_ARRAY_LEN(l->args), add_item, l, err);
	if (st == FSC_OK)
		st = fsc_db_int(db, FSC_Q_LIST_TOTAL, l->args, N_WHERE, &l->out->total, &found,
				err);
	if (st == FSC_OK)
		st = facet(db, l, FSC_Q_FACET_STATE, 5, &l->out->state, err);
	if (st == FSC_OK)
		st = facet(db, l, FSC_Q_FACET_JOB, 9, &l->out->job, err);
	if (st == FSC_OK)
		st = facet(db, l, FSC_Q_FACET_HOST, 13, &l->out->host, err);
	l->out->items = l->rows.items;
	l->out->n_items = l->rows.n;
	return st;
}

enum fsc_status fsc_store_trace_list(struct fsc_store *s, struct fsc_arena *a,
				     const struct fsc_trace_query *q, struct fsc_trace_page *out,
				     struct fsc_err *err)
{
	struct list l = { .q = q, .a = a, .out = out, .limit = fsc_store_limit(q->limit) };
	enum fsc_status st;

	*out = (struct fsc_trace_page){ 0 };
	l.rows = (struct fsc_rows){ .a = a, .size = sizeof(struct fsc_trace_item) };
	st = prepare(&l, err);
	if (st != FSC_OK)
		return st;
	memcpy(l.last.kind, l.kind, sizeof(l.kind));
	return s->ops->read(s, list_work, &l, err);
}
