/* SPDX-License-Identifier: Apache-2.0 */
/* Bundles: taking one in, reading one or a page, progress, re-index, delete. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "store/queue.h"
#include "store/store.h"
#include "store/store_ops.h"

/* How long a client may ask what its upload became, when it missed the answer. */
#define UPLOAD_ASK_NS 3600000000000LL

static const char *const state_names[] = { "queued", "indexing", "ready", "failed" };

const char *fsc_bundle_state_name(enum fsc_bundle_state st)
{
	return (size_t)st < FSC_ARRAY_LEN(state_names) ? state_names[st] : "unknown";
}

enum fsc_bundle_state fsc_store_state(const struct fsc_row *row, size_t col)
{
	if (col < row->n && row->v[col].type == FSC_VALUE_TEXT)
		for (size_t i = 0; i < FSC_ARRAY_LEN(state_names); i++)
			if (!strcmp(row->v[col].p, state_names[i]))
				return (enum fsc_bundle_state)i;
	return FSC_BUNDLE_FAILED;
}

enum fsc_status fsc_store_no_bundle(struct fsc_err *err)
{
	return fsc_err_set(err, FSC_ENOTFOUND, "not_found", "bundle: no such bundle");
}

/* ---- put ---- */

struct put {
	const struct fsc_bundle_new *in;
	struct fsc_bundle_put *out;
	const char *search;
};

static bool differs(const char *given, const struct fsc_row *row, size_t col)
{
	const struct fsc_value *v = &row->v[col];

	if (!given || !given[0])
		return false;
	return v->type != FSC_VALUE_TEXT || strcmp(given, v->p) != 0;
}

static enum fsc_status take_existing(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct put *p = ctx;

	(void)err;
	p->out->id = fsc_row_int(row, 0, 0);
	p->out->state = fsc_store_state(row, 1);
	p->out->duplicate = true;
	p->out->restored = fsc_row_int(row, 7, 0) != 0;
	p->out->requeued = p->out->state == FSC_BUNDLE_FAILED;
	p->out->ignored =
		(differs(p->in->name, row, 2) ? FSC_META_NAME : 0) |
		(differs(p->in->job, row, 3) ? FSC_META_JOB : 0) |
		(differs(p->in->host, row, 4) ? FSC_META_HOST : 0) |
		(differs(p->in->capture, row, 5) ? FSC_META_CAPTURE : 0) |
		(p->in->rank >= 0 && p->in->rank != fsc_row_int(row, 6, -1) ? FSC_META_RANK : 0);
	return FSC_OK;
}

struct idem {
	int64_t bundle;
	uint8_t sha256[FSC_SHA256_LEN];
	bool found;
};

static enum fsc_status take_idem(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct idem *i = ctx;

	(void)err;
	i->bundle = fsc_row_int(row, 0, 0);
	i->found = fsc_row_bytes(row, 1, i->sha256, sizeof(i->sha256));
	return FSC_OK;
}

/* An idempotency key belongs to the bytes it first came with. */
static enum fsc_status check_key(struct fsc_db *db, const struct fsc_bundle_new *in,
				 struct fsc_err *err)
{
	struct idem i = { 0 };
	enum fsc_status st;

	if (!in->idempotency_key)
		return FSC_OK;
	st = fsc_db_rows(db, FSC_Q_IDEMPOTENCY_FIND,
			 FSC_ARGS(fsc_v_int(in->project), fsc_v_text(in->idempotency_key)),
			 take_idem, &i, err);
	if (st == FSC_OK && i.found && memcmp(i.sha256, in->sha256, sizeof(i.sha256)) != 0)
		st = fsc_err_set(err, FSC_EEXIST, "idempotency_conflict",
				 "upload: the Idempotency-Key was used for other bytes");
	return st;
}

static enum fsc_status insert_bundle(struct fsc_db *db, struct put *p, int64_t now,
				     struct fsc_err *err)
{
	const struct fsc_bundle_new *in = p->in;
	enum fsc_status st;

	p->out->id = fsc_store_new_id(db->store);
	p->out->state = FSC_BUNDLE_QUEUED;
	st = fsc_db_run(db, FSC_Q_BUNDLE_INSERT,
			FSC_ARGS(fsc_v_int(p->out->id), fsc_v_int(in->project),
				 fsc_v_bytes(in->sha256, FSC_SHA256_LEN), fsc_v_int(in->bytes),
				 fsc_v_text(in->name ? in->name : ""), fsc_v_known(in->job),
				 fsc_v_known(in->host), fsc_v_known(in->capture),
				 fsc_v_count(in->rank), fsc_v_text(p->search), fsc_v_int(now)),
			NULL, err);
	return st == FSC_OK ? fsc_store_enqueue(db, in->project, p->out->id, err) : st;
}

/* The bytes came once more: they count again where they had been let go, and a bundle that had failed gets
 * another chance, be it for a newer version of the program. */
static enum fsc_status revive(struct fsc_db *db, struct put *p, struct fsc_err *err)
{
	struct fsc_value id = fsc_v_int(p->out->id);
	enum fsc_status st = FSC_OK;

	if (p->out->restored)
		st = fsc_db_run(db, FSC_Q_BLOB_RESTORE, FSC_ARGS(id), NULL, err);
	if (st != FSC_OK || !p->out->requeued)
		return st;
	p->out->state = FSC_BUNDLE_QUEUED;
	st = fsc_store_enqueue(db, p->in->project, p->out->id, err);
	return st == FSC_OK ? fsc_db_run(db, FSC_Q_BUNDLE_QUEUE, FSC_ARGS(id), NULL, err) : st;
}

static enum fsc_status put_work(struct fsc_db *db, void *arg, struct fsc_err *err)
{
	struct put *p = arg;
	const struct fsc_bundle_new *in = p->in;
	int64_t now = fsc_store_now(db->store);
	enum fsc_status st = check_key(db, in, err);

	*p->out = (struct fsc_bundle_put){ 0 };
	if (st == FSC_OK)
		st = fsc_db_rows(db, FSC_Q_BUNDLE_BY_DIGEST,
				 FSC_ARGS(fsc_v_int(in->project),
					  fsc_v_bytes(in->sha256, FSC_SHA256_LEN)),
				 take_existing, p, err);
	if (st == FSC_OK)
		st = p->out->duplicate ? revive(db, p, err) : insert_bundle(db, p, now, err);
	if (st == FSC_OK && in->idempotency_key)
		st = fsc_db_run(db, FSC_Q_IDEMPOTENCY_INSERT,
				FSC_ARGS(fsc_v_int(in->project), fsc_v_text(in->idempotency_key),
					 fsc_v_int(p->out->id), fsc_v_int(now)),
				NULL, err);
	if (st == FSC_OK && in->upload)
		st = fsc_db_run(db, FSC_Q_UPLOAD_DONE,
				FSC_ARGS(fsc_v_int(in->project), fsc_v_int(in->upload),
					 fsc_v_int(p->out->id), fsc_v_int(p->out->duplicate),
					 fsc_v_int(in->bytes), fsc_v_int(now + UPLOAD_ASK_NS)),
				NULL, err);
	return st;
}

/* What a search looks at: every known name, one per line, so that a word never matches across two. */
void fsc_store_search_text(struct fsc_buf *b, const char *const *parts, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!parts[i] || !parts[i][0])
			continue;
		if (b->len)
			fsc_buf_addc(b, '\n');
		fsc_buf_adds(b, parts[i]);
	}
	if (!b->len)
		fsc_buf_adds(b, "");
	for (size_t i = 0; i < b->len; i++)
		if (b->data[i] >= 'A' && b->data[i] <= 'Z')
			b->data[i] = (char)(b->data[i] - 'A' + 'a');
}

enum fsc_status fsc_store_bundle_put(struct fsc_store *s, const struct fsc_bundle_new *in,
				     struct fsc_bundle_put *out, struct fsc_err *err)
{
	const char *parts[] = { in->name, in->job, in->host, in->capture };
	struct fsc_buf search = FSC_BUF_INIT(64 * FSC_KIB);
	struct put p = { .in = in, .out = out };
	enum fsc_status st;

	fsc_store_search_text(&search, parts, FSC_ARRAY_LEN(parts));
	st = fsc_buf_status(&search);
	p.search = search.data ? search.data : "";
	if (st != FSC_OK)
		st = fsc_err_set(err, st, NULL, "bundle: metadata is too long");
	else
		st = s->ops->write(s, put_work, &p, false, err);
	fsc_buf_fini(&search);
	return st;
}

enum fsc_status fsc_store_idempotency_find(struct fsc_store *s, int64_t project, const char *key,
					   int64_t *bundle, uint8_t sha256[FSC_SHA256_LEN],
					   struct fsc_err *err)
{
	struct idem i = { 0 };
	enum fsc_status st =
		fsc_store_rows(s, FSC_Q_IDEMPOTENCY_FIND,
			       FSC_ARGS(fsc_v_int(project), fsc_v_text(key)), take_idem, &i, err);

	if (st == FSC_OK && !i.found)
		return fsc_err_set(err, FSC_ENOTFOUND, "not_found", "upload: the key is new");
	*bundle = i.bundle;
	if (sha256)
		memcpy(sha256, i.sha256, sizeof(i.sha256));
	return st;
}

/* ---- get, list ---- */

static enum fsc_status read_bundle(struct fsc_bundle *b, const struct fsc_row *row,
				   struct fsc_arena *a, struct fsc_err *err)
{
	bool ok = true;

	*b = (struct fsc_bundle){
		.id = fsc_row_int(row, 0, 0),
		.project = fsc_row_int(row, 1, 0),
		.bytes = fsc_row_int(row, 3, 0),
		.name = fsc_row_text0(row, 4, a, &ok),
		.job = fsc_row_text(row, 5, a, &ok),
		.host = fsc_row_text(row, 6, a, &ok),
		.capture = fsc_row_text(row, 7, a, &ok),
		.rank = fsc_row_int(row, 8, -1),
		.state = fsc_store_state(row, 9),
		.received_at_ns = fsc_row_int(row, 10, 0),
		.started_at_ns = fsc_row_int(row, 11, 0),
		.finished_at_ns = fsc_row_int(row, 12, 0),
		.tries = fsc_row_int(row, 13, 0),
		.stage = fsc_row_text0(row, 14, a, &ok),
		.member = fsc_row_text0(row, 15, a, &ok),
		.done = fsc_row_int(row, 16, 0),
		.total = fsc_row_int(row, 17, 0),
		.events = fsc_row_int(row, 18, 0),
		.err_code = fsc_row_text(row, 19, a, &ok),
		.err_message = fsc_row_text(row, 20, a, &ok),
		.err_file = fsc_row_text(row, 21, a, &ok),
		.err_offset = fsc_row_int(row, 22, -1),
		.n_traces = fsc_row_int(row, 23, 0),
		.n_failures = fsc_row_int(row, 24, 0),
		.losses_kinds = fsc_row_int(row, 25, 0),
		.losses_count = fsc_row_int(row, 26, 0),
		.deleted_traces = fsc_row_int(row, 27, 0),
		.blob_deleted_at_ns = fsc_row_int(row, 28, 0),
	};
	if (!fsc_row_bytes(row, 2, b->sha256, sizeof(b->sha256)))
		return fsc_err_set(err, FSC_ECORRUPT, "store_corrupt",
				   "store: bundle without digest");
	fsc_hex(b->sha256_hex, b->sha256, sizeof(b->sha256));
	return ok ? FSC_OK : fsc_store_nomem(err);
}

struct get {
	struct fsc_arena *a;
	struct fsc_bundle *out;
	bool found;
};

static enum fsc_status take_bundle(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct get *g = ctx;

	g->found = true;
	return read_bundle(g->out, row, g->a, err);
}

enum fsc_status fsc_store_bundle_get(struct fsc_store *s, struct fsc_arena *a, int64_t project,
				     int64_t id, struct fsc_bundle *out, struct fsc_err *err)
{
	struct get g = { .a = a, .out = out };
	enum fsc_status st =
		fsc_store_rows(s, FSC_Q_BUNDLE_GET, FSC_ARGS(fsc_v_int(project), fsc_v_int(id)),
			       take_bundle, &g, err);

	return st == FSC_OK && !g.found ? fsc_store_no_bundle(err) : st;
}

struct list {
	const struct fsc_bundle_query *q;
	struct fsc_arena *a;
	struct fsc_rows rows;
	struct fsc_value before;
	uint32_t limit;
	int64_t total;
};

static enum fsc_status add_bundle(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct list *l = ctx;
	struct fsc_bundle *b = fsc_rows_add(&l->rows);

	return b ? read_bundle(b, row, l->a, err) : fsc_store_nomem(err);
}

static enum fsc_status list_work(struct fsc_db *db, void *arg, struct fsc_err *err)
{
	struct list *l = arg;
	bool found;
	enum fsc_status st;

	st = fsc_db_int(db, FSC_Q_BUNDLE_COUNT,
			FSC_ARGS(fsc_v_int(l->q->project), fsc_v_text(l->q->state)), &l->total,
			&found, err);
	if (st != FSC_OK)
		return st;
	/* one row more than asked tells whether there is a next page */
	return fsc_db_rows(db, FSC_Q_BUNDLE_LIST,
			   FSC_ARGS(fsc_v_int(l->q->project), fsc_v_text(l->q->state), l->before,
				    fsc_v_int((int64_t)l->limit + 1)),
			   add_bundle, l, err);
}

enum fsc_status fsc_store_bundle_list(struct fsc_store *s, struct fsc_arena *a,
				      const struct fsc_bundle_query *q, struct fsc_bundle_page *out,
				      struct fsc_err *err)
{
	struct list l = { .q = q, .a = a, .limit = fsc_store_limit(q->limit) };
	struct fsc_cursor c = { .kind = "bundles" };
	enum fsc_status st;

	*out = (struct fsc_bundle_page){ 0 };
	l.rows = (struct fsc_rows){ .a = a, .size = sizeof(struct fsc_bundle) };
	l.before = fsc_v_null();
	if (q->cursor) {
		st = fsc_cursor_read(&c, a, q->cursor, "bundles", err);
		if (st != FSC_OK)
			return st;
		l.before = fsc_v_int(c.id);
	}
	st = s->ops->read(s, list_work, &l, err);
	if (st != FSC_OK)
		return st;
	out->items = l.rows.items;
	out->n_items = l.rows.n;
	out->total = l.total;
	if (out->n_items > l.limit) {
		out->n_items = l.limit;
		c.id = out->items[l.limit - 1].id;
		out->next = fsc_cursor_write(a, &c);
		if (!out->next)
			return fsc_store_nomem(err);
	}
	return FSC_OK;
}

/* ---- progress, re-index ---- */

enum fsc_status fsc_store_bundle_progress(struct fsc_store *s, int64_t bundle,
					  const struct fsc_progress *p, struct fsc_err *err)
{
	return fsc_store_change(s, FSC_Q_BUNDLE_PROGRESS,
				FSC_ARGS(fsc_v_int(bundle), fsc_v_text(p->stage ? p->stage : ""),
					 fsc_v_text(p->member ? p->member : ""), fsc_v_int(p->done),
					 fsc_v_int(p->total), fsc_v_int(p->events)),
				NULL, err);
}

struct target {
	int64_t project, id;
};

struct source {
	bool found, gone;
};

static enum fsc_status take_source(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct source *s = ctx;

	(void)err;
	s->found = true;
	s->gone = fsc_row_int(row, 28, 0) != 0;
	return FSC_OK;
}

static enum fsc_status find_source(struct fsc_db *db, const struct target *t, struct fsc_err *err)
{
	struct source s = { 0 };
	enum fsc_status st =
		fsc_db_rows(db, FSC_Q_BUNDLE_GET, FSC_ARGS(fsc_v_int(t->project), fsc_v_int(t->id)),
			    take_source, &s, err);

	if (st == FSC_OK && !s.found)
		return fsc_store_no_bundle(err);
	if (st == FSC_OK && s.gone)
		return fsc_err_set(err, FSC_ENOTFOUND, "blob_gone",
				   "bundle: its bytes are not kept any more");
	return st;
}

static enum fsc_status reindex_work(struct fsc_db *db, void *arg, struct fsc_err *err)
{
	const struct target *t = arg;
	int64_t leased = 0;
	bool found;
	enum fsc_status st = find_source(db, t, err);

	if (st == FSC_OK)
		st = fsc_db_int(db, FSC_Q_JOB_LEASED,
				FSC_ARGS(fsc_v_int(FSC_JOB_INDEX), fsc_v_int(t->id)), &leased,
				&found, err);
	if (st == FSC_OK && leased)
		st = fsc_err_set(err, FSC_EBUSY, "bundle_indexing",
				 "bundle: it is being indexed already");
	if (st == FSC_OK)
		st = fsc_store_enqueue(db, t->project, t->id, err);
	if (st == FSC_OK)
		st = fsc_db_run(db, FSC_Q_BUNDLE_QUEUE, FSC_ARGS(fsc_v_int(t->id)), NULL, err);
	return st;
}

enum fsc_status fsc_store_bundle_reindex(struct fsc_store *s, int64_t project, int64_t id,
					 struct fsc_err *err)
{
	struct target t = { project, id };

	return s->ops->write(s, reindex_work, &t, false, err);
}
