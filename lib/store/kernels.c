/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of one trace, in pages or whole. The rows of a trace change only when its bundle is indexed again,
 * so a cursor is simply how many rows were seen.
 */
#include <stdio.h>

#include "store/store.h"
#include "store/store_ops.h"

static const char *const sort_names[] = { "sum", "count", "mean", "min", "max", "name" };

bool fsc_kernel_sort_parse(enum fsc_kernel_sort *out, const char *s)
{
	for (size_t i = 0; i < FSC_ARRAY_LEN(sort_names); i++) {
		if (!strcmp(s, sort_names[i])) {
			*out = (enum fsc_kernel_sort)i;
			return true;
		}
	}
	return false;
}

struct kernels {
	const struct fsc_kernel_query *q;
	struct fsc_kernel_page *out;
	struct fsc_value args[8];
	struct fsc_rows rows;
};

static enum fsc_status add_kernel(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct kernels *k = ctx;
	struct fsc_fact_kernel *f = fsc_rows_add(&k->rows);
	bool ok = true;

	if (!f)
		return fsc_store_nomem(err);
	f->scope = (int64_t)k->q->scope;
	f->name = fsc_row_text0(row, 0, k->rows.a, &ok);
	f->kind = fsc_row_text0(row, 1, k->rows.a, &ok);
	f->count = fsc_row_int(row, 2, 0);
	f->sum_ns = fsc_row_int(row, 3, 0);
	f->min_ns = fsc_row_int(row, 4, 0);
	f->max_ns = fsc_row_int(row, 5, 0);
	return ok ? FSC_OK : fsc_store_nomem(err);
}

static enum fsc_status take_totals(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct kernels *k = ctx;

	(void)err;
	k->out->total = fsc_row_int(row, 0, 0);
	k->out->total_count = fsc_row_int(row, 1, 0);
	k->out->total_sum_ns = fsc_row_int(row, 2, 0);
	return FSC_OK;
}

static enum fsc_status kernels_work(struct fsc_db *db, void *arg, struct fsc_err *err)
{
	struct kernels *k = arg;
	enum fsc_query id = (enum fsc_query)(FSC_Q_KERNELS_SUM_D + 2 * (int)k->q->sort +
					     (k->q->ascending ? 1 : 0));
	enum fsc_status st = fsc_db_rows(db, FSC_Q_KERNEL_TOTALS, k->args, 6, take_totals, k, err);

	return st == FSC_OK ? fsc_db_rows(db, id, k->args, 8, add_kernel, k, err) : st;
}

enum fsc_status fsc_store_trace_kernels(struct fsc_store *s, struct fsc_arena *a,
					const struct fsc_kernel_query *q,
					struct fsc_kernel_page *out, struct fsc_err *err)
{
	struct kernels k = { .q = q, .out = out };
	struct fsc_cursor c = { .id = 0 };
	struct fsc_words words;
	enum fsc_status st;

	*out = (struct fsc_kernel_page){ 0 };
	k.rows = (struct fsc_rows){ .a = a, .size = sizeof(struct fsc_fact_kernel) };
	if ((size_t)q->sort >= FSC_ARRAY_LEN(sort_names))
		return fsc_err_set(err, FSC_EINVAL, "sort", "kernels: unknown order");
	snprintf(c.kind, sizeof(c.kind), "k%s.%s", sort_names[q->sort], q->ascending ? "a" : "d");
	st = fsc_words_split(&words, a, q->q, err);
	if (st == FSC_OK && q->cursor)
		st = fsc_cursor_read(&c, a, q->cursor, c.kind, err);
	if (st != FSC_OK)
		return st;
	k.args[0] = fsc_v_int(q->trace);
	k.args[1] = fsc_v_int(q->scope);
	for (size_t i = 0; i < FSC_STORE_WORDS_MAX; i++)
		k.args[2 + i] = fsc_v_text(words.like[i]);
	k.args[6] = fsc_v_int(q->limit ? (int64_t)fsc_store_limit(q->limit) : -1);
	k.args[7] = fsc_v_int(c.id);
	st = s->ops->read(s, kernels_work, &k, err);
	out->items = k.rows.items;
	out->n_items = k.rows.n;
	c.id += (int64_t)out->n_items;
	if (st == FSC_OK && q->limit && c.id < out->total) {
		out->next = fsc_cursor_write(a, &c);
		if (!out->next)
			return fsc_store_nomem(err);
	}
	return st;
}
