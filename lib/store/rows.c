/* SPDX-License-Identifier: Apache-2.0 */
/* Reading result rows into the caller's arena. */
#include "store/store_ops.h"

int64_t fsc_row_int(const struct fsc_row *row, size_t col, int64_t none)
{
	return col < row->n && row->v[col].type == FSC_VALUE_INT ? row->v[col].i : none;
}

const char *fsc_row_text(const struct fsc_row *row, size_t col, struct fsc_arena *a, bool *ok)
{
	const char *s;

	if (col >= row->n || row->v[col].type != FSC_VALUE_TEXT)
		return NULL;
	s = fsc_arena_dup(a, row->v[col].p, row->v[col].n);
	if (!s)
		*ok = false;
	return s;
}

const char *fsc_row_text0(const struct fsc_row *row, size_t col, struct fsc_arena *a, bool *ok)
{
	const char *s = fsc_row_text(row, col, a, ok);

	return s ? s : "";
}

bool fsc_row_bytes(const struct fsc_row *row, size_t col, void *dst, size_t n)
{
	if (col >= row->n || row->v[col].type != FSC_VALUE_BYTES || row->v[col].n != n)
		return false;
	memcpy(dst, row->v[col].p, n);
	return true;
}

struct first_int {
	int64_t *out;
	bool *found;
};

static enum fsc_status take_int(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct first_int *f = ctx;

	(void)err;
	if (!*f->found && row->n && row->v[0].type == FSC_VALUE_INT) {
		*f->out = row->v[0].i;
		*f->found = true;
	}
	return FSC_OK;
}

enum fsc_status fsc_db_int(struct fsc_db *db, enum fsc_query id, const struct fsc_value *args,
			   size_t n_args, int64_t *out, bool *found, struct fsc_err *err)
{
	struct first_int f = { out, found };

	*found = false;
	*out = 0;
	return fsc_db_rows(db, id, args, n_args, take_int, &f, err);
}

void *fsc_rows_add(struct fsc_rows *r)
{
	if (r->n == r->cap) {
		size_t cap = r->cap ? r->cap * 2 : 16;
		void *grown = fsc_arena_alloc(r->a, cap, r->size);

		if (!grown)
			return NULL;
		if (r->n)
			memcpy(grown, r->items, r->n * r->size);
		r->items = grown;
		r->cap = cap;
	}
	return (char *)r->items + r->n++ * r->size;
}

enum fsc_status fsc_store_nomem(struct fsc_err *err)
{
	return fsc_err_set(err, FSC_ENOMEM, "memory", "store: no memory for the result");
}

static enum fsc_status run_call(struct fsc_db *db, void *arg, struct fsc_err *err)
{
	return db->store->ops->run(db, arg, err);
}

enum fsc_status fsc_store_rows(struct fsc_store *s, enum fsc_query id, const struct fsc_value *args,
			       size_t n_args, fsc_row_fn *row, void *ctx, struct fsc_err *err)
{
	struct fsc_query_call c = {
		.id = id, .args = args, .n_args = n_args, .row = row, .ctx = ctx
	};

	return s->ops->read(s, run_call, &c, err);
}

enum fsc_status fsc_store_change(struct fsc_store *s, enum fsc_query id,
				 const struct fsc_value *args, size_t n_args, int64_t *changed,
				 struct fsc_err *err)
{
	struct fsc_query_call c = { .id = id, .args = args, .n_args = n_args, .changed = changed };

	return s->ops->write(s, run_call, &c, false, err);
}

enum fsc_status fsc_store_first_int(struct fsc_store *s, enum fsc_query id,
				    const struct fsc_value *args, size_t n_args, int64_t *out,
				    bool *found, struct fsc_err *err)
{
	struct first_int f = { out, found };

	*found = false;
	*out = 0;
	return fsc_store_rows(s, id, args, n_args, take_int, &f, err);
}
