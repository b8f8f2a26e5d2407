/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of resumable uploads. The end of one is written with its bundle, in bundles.c. */
#include "store/uploads.h"

#include "store/store_ops.h"

static enum fsc_status no_upload(struct fsc_err *err)
{
	return fsc_err_set(err, FSC_ENOTFOUND, "not_found", "upload: no such upload");
}

struct put {
	const struct fsc_upload_row *in;
	uint32_t max_open;
};

static enum fsc_status put_work(struct fsc_db *db, void *arg, struct fsc_err *err)
{
	const struct put *p = arg;
	const struct fsc_upload_row *in = p->in;
	int64_t open = 0;
	bool found;
	enum fsc_status st;

	st = fsc_db_int(db, FSC_Q_UPLOAD_OPEN,
			FSC_ARGS(fsc_v_int(in->project), fsc_v_int(p->max_open)), &open, &found,
			err);
	if (st == FSC_OK && open >= p->max_open)
		st = fsc_err_set(err, FSC_EBUSY, "too_many_uploads",
				 "upload: the project has %u that go on already", p->max_open);
	if (st != FSC_OK)
		return st;
	return fsc_db_run(
		db, FSC_Q_UPLOAD_INSERT,
		FSC_ARGS(fsc_v_int(in->id), fsc_v_int(in->project), fsc_v_count(in->length),
			 in->has_sha256 ? fsc_v_bytes(in->sha256, FSC_SHA256_LEN) : fsc_v_null(),
			 fsc_v_text(in->name ? in->name : ""), fsc_v_known(in->job),
			 fsc_v_known(in->host), fsc_v_known(in->capture), fsc_v_count(in->rank),
			 fsc_v_text(in->idempotency_key), fsc_v_text(in->actor ? in->actor : ""),
			 fsc_v_int(in->created_at_ns), fsc_v_int(in->expires_at_ns)),
		NULL, err);
}

enum fsc_status fsc_store_upload_put(struct fsc_store *s, const struct fsc_upload_row *in,
				     uint32_t max_open, struct fsc_err *err)
{
	struct put p = { in, max_open };

	return s->ops->write(s, put_work, &p, false, err);
}

static enum fsc_status add_upload(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct fsc_rows *r = ctx;
	struct fsc_upload_row *u = fsc_rows_add(r);
	bool ok = true;

	if (!u)
		return fsc_store_nomem(err);
	u->id = fsc_row_int(row, 0, 0);
	u->project = fsc_row_int(row, 1, 0);
	u->length = fsc_row_int(row, 2, -1);
	u->has_sha256 = fsc_row_bytes(row, 3, u->sha256, FSC_SHA256_LEN);
	u->name = fsc_row_text0(row, 4, r->a, &ok);
	u->job = fsc_row_text(row, 5, r->a, &ok);
	u->host = fsc_row_text(row, 6, r->a, &ok);
	u->capture = fsc_row_text(row, 7, r->a, &ok);
	u->rank = fsc_row_int(row, 8, -1);
	u->idempotency_key = fsc_row_text(row, 9, r->a, &ok);
	u->actor = fsc_row_text0(row, 10, r->a, &ok);
	u->created_at_ns = fsc_row_int(row, 11, 0);
	u->expires_at_ns = fsc_row_int(row, 12, 0);
	u->bundle = fsc_row_int(row, 13, 0);
	u->duplicate = fsc_row_int(row, 14, 0) != 0;
	return ok ? FSC_OK : fsc_store_nomem(err);
}

static enum fsc_status first_upload(enum fsc_status st, const struct fsc_rows *r,
				    struct fsc_upload_row *out, struct fsc_err *err)
{
	if (st == FSC_OK && !r->n)
		return no_upload(err);
	if (st == FSC_OK)
		*out = *(const struct fsc_upload_row *)r->items;
	return st;
}

enum fsc_status fsc_store_upload_get(struct fsc_store *s, struct fsc_arena *a, int64_t project,
				     int64_t id, struct fsc_upload_row *out, struct fsc_err *err)
{
	struct fsc_rows r = { .a = a, .size = sizeof(*out) };

	return first_upload(fsc_store_rows(s, FSC_Q_UPLOAD_GET,
					   FSC_ARGS(fsc_v_int(project), fsc_v_int(id)), add_upload,
					   &r, err),
			    &r, out, err);
}

enum fsc_status fsc_store_upload_by_key(struct fsc_store *s, struct fsc_arena *a, int64_t project,
					const char *key, int64_t now_ns, struct fsc_upload_row *out,
					struct fsc_err *err)
{
	struct fsc_rows r = { .a = a, .size = sizeof(*out) };

	return first_upload(fsc_store_rows(s, FSC_Q_UPLOAD_BY_KEY,
					   FSC_ARGS(fsc_v_int(project), fsc_v_text(key),
						    fsc_v_int(now_ns)),
					   add_upload, &r, err),
			    &r, out, err);
}

enum fsc_status fsc_store_upload_update(struct fsc_store *s, int64_t id, int64_t length,
					int64_t expires_at_ns, struct fsc_err *err)
{
	return fsc_store_change(s, FSC_Q_UPLOAD_UPDATE,
				FSC_ARGS(fsc_v_int(id), fsc_v_count(length),
					 fsc_v_int(expires_at_ns)),
				NULL, err);
}

enum fsc_status fsc_store_upload_delete(struct fsc_store *s, int64_t id, struct fsc_err *err)
{
	return fsc_store_change(s, FSC_Q_UPLOAD_DELETE, FSC_ARGS(fsc_v_int(id)), NULL, err);
}

enum fsc_status fsc_store_upload_exists(struct fsc_store *s, int64_t id, bool *yes,
					struct fsc_err *err)
{
	int64_t n = 0;
	bool found;
	enum fsc_status st = fsc_store_first_int(s, FSC_Q_UPLOAD_EXISTS, FSC_ARGS(fsc_v_int(id)),
						 &n, &found, err);

	*yes = n > 0;
	return st;
}

enum fsc_status fsc_store_upload_list(struct fsc_store *s, struct fsc_arena *a, bool open,
				      int64_t until_ns, int64_t after, uint32_t limit,
				      struct fsc_upload_rows *out, struct fsc_err *err)
{
	struct fsc_rows r = { .a = a, .size = sizeof(struct fsc_upload_row) };
	enum fsc_status st = fsc_store_rows(s, FSC_Q_UPLOAD_LIST,
					    FSC_ARGS(fsc_v_int(open), fsc_v_int(until_ns),
						     fsc_v_int(after), fsc_v_int(limit)),
					    add_upload, &r, err);

	out->items = r.items;
	out->n_items = r.n;
	return st;
}
