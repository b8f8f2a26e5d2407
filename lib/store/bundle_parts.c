/* SPDX-License-Identifier: Apache-2.0 */
/* What hangs on a bundle: members that failed, losses, traces. */
#include "store/store.h"
#include "store/store_ops.h"

struct rows_ok {
	struct fsc_rows rows;
	bool ok;
};

static enum fsc_status add_failure(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct rows_ok *r = ctx;
	struct fsc_failure *f = fsc_rows_add(&r->rows);

	if (!f)
		return fsc_store_nomem(err);
	f->file = fsc_row_text0(row, 0, r->rows.a, &r->ok);
	f->outcome = fsc_row_text0(row, 1, r->rows.a, &r->ok);
	f->code = fsc_row_text0(row, 2, r->rows.a, &r->ok);
	f->message = fsc_row_text0(row, 3, r->rows.a, &r->ok);
	f->offset = fsc_row_int(row, 4, -1);
	return r->ok ? FSC_OK : fsc_store_nomem(err);
}

enum fsc_status fsc_store_bundle_failures(struct fsc_store *s, struct fsc_arena *a, int64_t bundle,
					  struct fsc_failures *out, struct fsc_err *err)
{
	struct rows_ok r = { .rows = { .a = a, .size = sizeof(struct fsc_failure) }, .ok = true };
	enum fsc_status st = fsc_store_rows(s, FSC_Q_BUNDLE_FAILURES, FSC_ARGS(fsc_v_int(bundle)),
					    add_failure, &r, err);

	out->items = r.rows.items;
	out->n_items = r.rows.n;
	return st;
}

static enum fsc_status add_loss(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct rows_ok *r = ctx;
	struct fsc_loss_row *l = fsc_rows_add(&r->rows);

	if (!l)
		return fsc_store_nomem(err);
	l->code = fsc_row_text0(row, 0, r->rows.a, &r->ok);
	l->count = fsc_row_int(row, 1, 0);
	l->first_offset = fsc_row_int(row, 2, -1);
	return r->ok ? FSC_OK : fsc_store_nomem(err);
}

static enum fsc_status losses(struct fsc_store *s, struct fsc_arena *a, enum fsc_query query,
			      int64_t id, struct fsc_loss_rows *out, struct fsc_err *err)
{
	struct rows_ok r = { .rows = { .a = a, .size = sizeof(struct fsc_loss_row) }, .ok = true };
	enum fsc_status st = fsc_store_rows(s, query, FSC_ARGS(fsc_v_int(id)), add_loss, &r, err);

	out->items = r.rows.items;
	out->n_items = r.rows.n;
	return st;
}

enum fsc_status fsc_store_bundle_losses(struct fsc_store *s, struct fsc_arena *a, int64_t bundle,
					struct fsc_loss_rows *out, struct fsc_err *err)
{
	return losses(s, a, FSC_Q_BUNDLE_LOSSES, bundle, out, err);
}

enum fsc_status fsc_store_trace_losses(struct fsc_store *s, struct fsc_arena *a, int64_t trace,
				       struct fsc_loss_rows *out, struct fsc_err *err)
{
	return losses(s, a, FSC_Q_LOSSES, trace, out, err);
}

static enum fsc_status add_ref(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct rows_ok *r = ctx;
	struct fsc_trace_ref *t = fsc_rows_add(&r->rows);

	if (!t)
		return fsc_store_nomem(err);
	t->id = fsc_row_int(row, 0, 0);
	t->name = fsc_row_text0(row, 1, r->rows.a, &r->ok);
	t->member = fsc_row_text0(row, 2, r->rows.a, &r->ok);
	t->slot = fsc_row_int(row, 3, 0);
	t->rank = fsc_row_int(row, 4, -1);
	t->format = fsc_row_text0(row, 6, r->rows.a, &r->ok);
	return r->ok ? FSC_OK : fsc_store_nomem(err);
}

enum fsc_status fsc_store_bundle_traces(struct fsc_store *s, struct fsc_arena *a, int64_t bundle,
					struct fsc_trace_refs *out, struct fsc_err *err)
{
	struct rows_ok r = { .rows = { .a = a, .size = sizeof(struct fsc_trace_ref) }, .ok = true };
	enum fsc_status st = fsc_store_rows(s, FSC_Q_BUNDLE_TRACES, FSC_ARGS(fsc_v_int(bundle)),
					    add_ref, &r, err);

	out->items = r.rows.items;
	out->n_items = r.rows.n;
	return st;
}

struct manifest {
	struct fsc_arena *a;
	const char *json;
};

static enum fsc_status take_manifest(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct manifest *m = ctx;
	bool ok = true;

	m->json = fsc_row_text0(row, 0, m->a, &ok);
	return ok ? FSC_OK : fsc_store_nomem(err);
}

enum fsc_status fsc_store_bundle_manifest(struct fsc_store *s, struct fsc_arena *a, int64_t bundle,
					  const char **json, struct fsc_err *err)
{
	struct manifest m = { .a = a, .json = "" };
	enum fsc_status st = fsc_store_rows(s, FSC_Q_BUNDLE_META, FSC_ARGS(fsc_v_int(bundle)),
					    take_manifest, &m, err);

	*json = m.json;
	return st;
}
