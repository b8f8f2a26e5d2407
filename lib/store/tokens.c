/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens, audit rows and settings. */
#include "base/clock.h"
#include "store/store.h"
#include "store/store_ops.h"

struct rows_ok {
	struct fsc_rows rows;
	bool ok;
};

/* ---- tokens ---- */

enum fsc_status fsc_store_token_put(struct fsc_store *s, const struct fsc_token_new *in,
				    int64_t *id, struct fsc_err *err)
{
	*id = fsc_store_new_id(s);
	return fsc_store_change(s, FSC_Q_TOKEN_INSERT,
				FSC_ARGS(fsc_v_int(*id), fsc_v_int(in->project),
					 fsc_v_text(in->name ? in->name : ""),
					 fsc_v_int(in->scopes),
					 fsc_v_bytes(in->secret_sha256, FSC_SHA256_LEN),
					 fsc_v_int(fsc_store_now(s)), fsc_v_int(in->expires_at_ns),
					 fsc_v_text(in->prefix ? in->prefix : ""),
					 fsc_v_text(in->created_by ? in->created_by : "")),
				NULL, err);
}

static enum fsc_status add_token(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct rows_ok *r = ctx;
	struct fsc_token *t = fsc_rows_add(&r->rows);

	if (!t)
		return fsc_store_nomem(err);
	t->id = fsc_row_int(row, 0, 0);
	t->project = fsc_row_int(row, 1, 0);
	t->project_name = fsc_row_text0(row, 2, r->rows.a, &r->ok);
	t->name = fsc_row_text0(row, 3, r->rows.a, &r->ok);
	t->scopes = (unsigned)fsc_row_int(row, 4, 0);
	t->created_at_ns = fsc_row_int(row, 5, 0);
	t->expires_at_ns = fsc_row_int(row, 6, 0);
	t->last_used_at_ns = fsc_row_int(row, 7, 0);
	t->revoked_at_ns = fsc_row_int(row, 8, 0);
	t->prefix = fsc_row_text0(row, 9, r->rows.a, &r->ok);
	t->created_by = fsc_row_text0(row, 10, r->rows.a, &r->ok);
	return r->ok ? FSC_OK : fsc_store_nomem(err);
}

enum fsc_status fsc_store_token_find(struct fsc_store *s, struct fsc_arena *a,
				     const uint8_t secret_sha256[FSC_SHA256_LEN],
				     struct fsc_token *out, struct fsc_err *err)
{
	struct rows_ok r = { .rows = { .a = a, .size = sizeof(struct fsc_token) }, .ok = true };
	enum fsc_status st = fsc_store_rows(s, FSC_Q_TOKEN_FIND,
					    FSC_ARGS(fsc_v_bytes(secret_sha256, FSC_SHA256_LEN),
						     fsc_v_int(fsc_store_now(s))),
					    add_token, &r, err);

	if (st == FSC_OK && !r.rows.n)
		return fsc_err_set(err, FSC_ENOTFOUND, "not_found",
				   "token: unknown, revoked or expired");
	if (st == FSC_OK)
		*out = *(struct fsc_token *)r.rows.items;
	return st;
}

enum fsc_status fsc_store_token_list(struct fsc_store *s, struct fsc_arena *a, int64_t project,
				     bool with_revoked, struct fsc_tokens *out, struct fsc_err *err)
{
	struct rows_ok r = { .rows = { .a = a, .size = sizeof(struct fsc_token) }, .ok = true };
	enum fsc_status st = fsc_store_rows(s, FSC_Q_TOKEN_LIST,
					    FSC_ARGS(fsc_v_int(project), fsc_v_int(with_revoked)),
					    add_token, &r, err);

	out->items = r.rows.items;
	out->n_items = r.rows.n;
	return st;
}

enum fsc_status fsc_store_token_revoke(struct fsc_store *s, int64_t project, int64_t id,
				       struct fsc_err *err)
{
	int64_t changed = 0;
	enum fsc_status st = fsc_store_change(s, FSC_Q_TOKEN_REVOKE,
					      FSC_ARGS(fsc_v_int(project), fsc_v_int(id),
						       fsc_v_int(fsc_store_now(s))),
					      &changed, err);

	if (st == FSC_OK && !changed)
		st = fsc_err_set(err, FSC_ENOTFOUND, "not_found", "token: no such token");
	return st;
}

enum fsc_status fsc_store_token_used(struct fsc_store *s, int64_t id, int64_t at_ns,
				     struct fsc_err *err)
{
	return fsc_store_change(s, FSC_Q_TOKEN_USED, FSC_ARGS(fsc_v_int(id), fsc_v_int(at_ns)),
				NULL, err);
}

enum fsc_status fsc_store_token_count(struct fsc_store *s, int64_t *n, struct fsc_err *err)
{
	bool found;

	return fsc_store_first_int(s, FSC_Q_TOKEN_COUNT, FSC_ARGS(fsc_v_int(fsc_store_now(s))), n,
				   &found, err);
}

/* ---- audit ---- */

enum fsc_status fsc_store_audit_put(struct fsc_store *s, const struct fsc_audit *in,
				    struct fsc_err *err)
{
	return fsc_store_change(s, FSC_Q_AUDIT_INSERT,
				FSC_ARGS(fsc_v_int(fsc_store_new_id(s)), fsc_v_int(in->project),
					 fsc_v_int(fsc_store_now(s)),
					 fsc_v_text(in->actor ? in->actor : ""),
					 fsc_v_text(in->action ? in->action : ""),
					 fsc_v_text(in->subject ? in->subject : ""),
					 fsc_v_text(in->detail ? in->detail : ""),
					 fsc_v_text(in->remote ? in->remote : "")),
				NULL, err);
}

static enum fsc_status add_audit(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct rows_ok *r = ctx;
	struct fsc_audit *e = fsc_rows_add(&r->rows);

	if (!e)
		return fsc_store_nomem(err);
	e->id = fsc_row_int(row, 0, 0);
	e->project = fsc_row_int(row, 1, 0);
	e->at_ns = fsc_row_int(row, 2, 0);
	e->actor = fsc_row_text0(row, 3, r->rows.a, &r->ok);
	e->action = fsc_row_text0(row, 4, r->rows.a, &r->ok);
	e->subject = fsc_row_text0(row, 5, r->rows.a, &r->ok);
	e->detail = fsc_row_text0(row, 6, r->rows.a, &r->ok);
	e->remote = fsc_row_text0(row, 7, r->rows.a, &r->ok);
	return r->ok ? FSC_OK : fsc_store_nomem(err);
}

/* One row more than asked for says whether there is a next page. */
static enum fsc_status end_audit_page(struct fsc_arena *a, uint32_t limit,
				      struct fsc_audit_page *out, struct fsc_err *err)
{
	struct fsc_cursor c = { .kind = "audit" };

	if (out->n_items <= limit)
		return FSC_OK;
	out->n_items = limit;
	c.id = out->items[limit - 1].id;
	out->next = fsc_cursor_write(a, &c);
	return out->next ? FSC_OK : fsc_store_nomem(err);
}

enum fsc_status fsc_store_audit_list(struct fsc_store *s, struct fsc_arena *a,
				     const struct fsc_audit_query *q, struct fsc_audit_page *out,
				     struct fsc_err *err)
{
	struct rows_ok r = { .rows = { .a = a, .size = sizeof(struct fsc_audit) }, .ok = true };
	uint32_t limit = fsc_store_limit(q->limit);
	struct fsc_cursor c = { .kind = "audit" };
	const char *action = q->action && q->action[0] ? q->action : NULL;
	enum fsc_status st = FSC_OK;
	bool found;

	*out = (struct fsc_audit_page){ 0 };
	if (q->cursor)
		st = fsc_cursor_read(&c, a, q->cursor, "audit", err);
	if (!st)
		st = fsc_store_first_int(s, FSC_Q_AUDIT_COUNT,
					 FSC_ARGS(fsc_v_int(q->project), fsc_v_text(action)),
					 &out->total, &found, err);
	if (!st)
		st = fsc_store_rows(s, FSC_Q_AUDIT_LIST,
				    FSC_ARGS(fsc_v_int(q->project),
					     q->cursor ? fsc_v_int(c.id) : fsc_v_null(),
					     fsc_v_int((int64_t)limit + 1), fsc_v_text(action)),
				    add_audit, &r, err);
	out->items = r.rows.items;
	out->n_items = r.rows.n;
	return st ? st : end_audit_page(a, limit, out, err);
}

/* ---- settings ---- */

struct setting {
	struct fsc_arena *a;
	const uint8_t *value;
	size_t n;
};

static enum fsc_status take_setting(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct setting *g = ctx;

	g->n = row->v[0].n;
	g->value = (const uint8_t *)fsc_arena_dup(g->a, row->v[0].p ? row->v[0].p : "", g->n);
	return g->value ? FSC_OK : fsc_store_nomem(err);
}

enum fsc_status fsc_store_setting_get(struct fsc_store *s, struct fsc_arena *a, const char *key,
				      const uint8_t **value, size_t *n, struct fsc_err *err)
{
	struct setting g = { .a = a };
	enum fsc_status st = fsc_store_rows(s, FSC_Q_SETTING_GET, FSC_ARGS(fsc_v_text(key)),
					    take_setting, &g, err);

	*value = g.value;
	*n = g.n;
	if (st == FSC_OK && !g.value)
		st = fsc_err_set(err, FSC_ENOTFOUND, "not_found", "setting: %s is not set", key);
	return st;
}

enum fsc_status fsc_store_setting_put(struct fsc_store *s, const char *key, const void *value,
				      size_t n, bool only_new, struct fsc_err *err)
{
	return fsc_store_change(s, only_new ? FSC_Q_SETTING_PUT_NEW : FSC_Q_SETTING_PUT,
				FSC_ARGS(fsc_v_text(key), fsc_v_bytes(value, n)), NULL, err);
}
