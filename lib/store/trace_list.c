/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list page: search, filters, facets, sorting, pages. Rows are ready traces and bundles without one. All
 * queries of one call see the same state of the store.
 */
#include <stdio.h>

#include "store/trace_rows.h"

#define N_WHERE 22 /* parameters that every query of the list begins with */

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
	l->args[21] = q->only_kept ? fsc_v_int(1) : fsc_v_null();
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

/* Facets come as rows (which, value, count), most first; which 0 is the total of the page's own filters. */
struct facets {
	struct fsc_trace_page *out;
	struct fsc_rows rows[3];
};

static enum fsc_status add_value(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct facets *f = ctx;
	struct fsc_facet *const facet[] = { &f->out->state, &f->out->job, &f->out->host };
	int64_t which = fsc_row_int(row, 0, 0), count = fsc_row_int(row, 2, 0);
	struct fsc_rows *rows;
	struct fsc_facet_value *v;
	bool ok = true;

	if (which < 1 || which > 3) {
		f->out->total = count;
		return FSC_OK;
	}
	rows = &f->rows[which - 1];
	if (rows->n == FSC_STORE_FACET_MAX) {
		facet[which - 1]->other_values++;
		facet[which - 1]->other_count += count;
		return FSC_OK;
	}
	v = fsc_rows_add(rows);
	if (!v)
		return fsc_store_nomem(err);
	v->value = fsc_row_text0(row, 1, rows->a, &ok);
	v->count = count;
	return ok ? FSC_OK : fsc_store_nomem(err);
}

static enum fsc_status read_facets(struct fsc_db *db, struct list *l, struct fsc_err *err)
{
	struct facets f = { .out = l->out };
	struct fsc_facet *const facet[] = { &l->out->state, &l->out->job, &l->out->host };
	enum fsc_status st;

	for (size_t i = 0; i < FSC_ARRAY_LEN(f.rows); i++)
		f.rows[i] = (struct fsc_rows){ .a = l->a, .size = sizeof(struct fsc_facet_value) };
	st = fsc_db_rows(db, FSC_Q_LIST_FACETS, l->args, N_WHERE, add_value, &f, err);
	for (size_t i = 0; i < FSC_ARRAY_LEN(f.rows); i++) {
		facet[i]->items = f.rows[i].items;
		facet[i]->n_items = f.rows[i].n;
	}
	return st;
}

static enum fsc_status list_work(struct fsc_db *db, void *arg, struct fsc_err *err)
{
	struct list *l = arg;
	const struct fsc_cursor *c = &l->cursor;
	enum fsc_query id = (enum fsc_query)(FSC_Q_LIST_RECEIVED_D + 2 * (int)l->q->sort +
					     (l->q->ascending ? 1 : 0));
	enum fsc_status st;

	l->args[N_WHERE] = !l->has_cursor ? fsc_v_null()
			   : c->is_text	  ? fsc_v_text(c->text)
					  : fsc_v_int(c->key);
	l->args[N_WHERE + 1] = l->has_cursor ? fsc_v_int(c->id) : fsc_v_null();
	l->args[N_WHERE + 2] = fsc_v_int((int64_t)l->limit + 1);
	st = fsc_db_rows(db, id, l->args, FSC_ARRAY_LEN(l->args), add_item, l, err);
	if (st == FSC_OK)
		st = read_facets(db, l, err);
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
