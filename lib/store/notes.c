/* SPDX-License-Identifier: Apache-2.0 */
/* Keep marks and notes of traces. */
#include "store/notes.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/num.h"
#include "base/utf8.h"
#include "store/store.h"
#include "store/store_ops.h"

struct edit {
	const struct fsc_trace_edit *e;
	struct fsc_trace_edited *out;
	int64_t t_base_ns, now;
	bool found;
};

/* ---- reading ---- */

struct list {
	struct fsc_rows rows;
	bool ok;
};

static enum fsc_status add_note(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct list *l = ctx;
	struct fsc_note *n = fsc_rows_add(&l->rows);
	int64_t base = fsc_row_int(row, 7, 0);

	if (!n)
		return fsc_store_nomem(err);
	*n = (struct fsc_note){
		.id = fsc_row_int(row, 0, 0),
		.t0_ns = fsc_row_int(row, 1, 0),
		.t1_ns = fsc_row_int(row, 2, 0),
		.text = fsc_row_text0(row, 3, l->rows.a, &l->ok),
		.author = fsc_row_text0(row, 4, l->rows.a, &l->ok),
		.created_at_ns = fsc_row_int(row, 5, 0),
		.updated_at_ns = fsc_row_int(row, 6, 0),
	};
	base = base == INT64_MIN ? INT64_MAX : -base;
	n->t0_ns = fsc_add_i64_sat(n->t0_ns, base);
	n->t1_ns = fsc_add_i64_sat(n->t1_ns, base);
	return l->ok ? FSC_OK : fsc_store_nomem(err);
}

enum fsc_status fsc_store_trace_notes(struct fsc_store *s, struct fsc_arena *a, int64_t trace,
				      struct fsc_notes *out, struct fsc_err *err)
{
	struct list l = { .rows = { .a = a, .size = sizeof(struct fsc_note) }, .ok = true };
	enum fsc_status st =
		fsc_store_rows(s, FSC_Q_NOTES, FSC_ARGS(fsc_v_int(trace)), add_note, &l, err);

	out->items = l.rows.items;
	out->n_items = l.rows.n;
	return st;
}

/* ---- checking ---- */

static enum fsc_status check_text(const char *s, struct fsc_err *err)
{
	size_t n = strnlen(s, FSC_MAX_NOTE_BYTES + 1);

	if (!n || n > FSC_MAX_NOTE_BYTES)
		return fsc_err_set(err, FSC_EINVAL, "note_text", "note: the text has 1 to %u bytes",
				   FSC_MAX_NOTE_BYTES);
	if (!fsc_utf8_valid(s, n))
		return fsc_err_set(err, FSC_EINVAL, "note_text", "note: the text is not UTF-8");
	for (size_t i = 0; i < n; i++)
		if (((unsigned char)s[i] < ' ' && s[i] != '\n') || s[i] == 127)
			return fsc_err_set(err, FSC_EINVAL, "note_text",
					   "note: the text holds a control character");
	return FSC_OK;
}

static enum fsc_status absolute(const struct edit *e, int64_t t_ns, int64_t *abs_ns,
				struct fsc_err *err)
{
	*abs_ns = fsc_add_i64_sat(e->t_base_ns, t_ns);
	if (*abs_ns == INT64_MAX || *abs_ns == INT64_MIN)
		return fsc_err_set(err, FSC_EINVAL, "note_range", "note: the time is out of range");
	return FSC_OK;
}

/* ---- writing ---- */

struct old_note {
	int64_t t0, t1;
	bool found, same_text;
	const struct fsc_note_edit *n; /* the edit */
};

static enum fsc_status take_old(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct old_note *o = ctx;

	(void)err;
	o->found = true;
	o->t0 = fsc_row_int(row, 0, 0);
	o->t1 = fsc_row_int(row, 1, 0);
	o->same_text = !o->n->text ||
		       (row->v[2].type == FSC_VALUE_TEXT && !strcmp(o->n->text, row->v[2].p));
	return FSC_OK;
}

static enum fsc_status put_note(struct fsc_db *db, const struct edit *e,
				const struct fsc_note_edit *n, struct fsc_err *err)
{
	struct old_note old = { .n = n };
	int64_t t0 = 0, t1 = 0, id = n->op == FSC_NOTE_ADD ? fsc_store_new_id(db->store) : n->id;
	enum fsc_status st = n->text ? check_text(n->text, err) : FSC_OK;

	if (st == FSC_OK && n->op == FSC_NOTE_UPDATE)
		st = fsc_db_rows(db, FSC_Q_NOTE_GET,
				 FSC_ARGS(fsc_v_int(e->e->trace), fsc_v_int(id)), take_old, &old,
				 err);
	if (st == FSC_OK && n->op == FSC_NOTE_UPDATE && !old.found)
		st = fsc_err_set(err, FSC_ENOTFOUND, "no_such_note", "note: no such note");
	t0 = old.t0;
	t1 = old.t1;
	if (st == FSC_OK && n->has_t0)
		st = absolute(e, n->t0_ns, &t0, err);
	if (st == FSC_OK && n->has_t1)
		st = absolute(e, n->t1_ns, &t1, err);
	if (st == FSC_OK && t1 < t0)
		st = fsc_err_set(err, FSC_EINVAL, "note_range", "note: t1 is before t0");
	if (st != FSC_OK || (old.found && old.same_text && t0 == old.t0 && t1 == old.t1))
		return st;
	if (n->op == FSC_NOTE_UPDATE)
		return fsc_db_run(db, FSC_Q_NOTE_UPDATE,
				  FSC_ARGS(fsc_v_int(id), fsc_v_int(t0), fsc_v_int(t1),
					   fsc_v_text(n->text), fsc_v_int(e->now)),
				  NULL, err);
	return fsc_db_run(db, FSC_Q_NOTE_INSERT,
			  FSC_ARGS(fsc_v_int(id), fsc_v_int(e->e->project), fsc_v_int(e->e->trace),
				   fsc_v_int(t0), fsc_v_int(t1), fsc_v_text(n->text),
				   fsc_v_text(e->e->actor), fsc_v_int(e->now)),
			  NULL, err);
}

static enum fsc_status remove_note(struct fsc_db *db, const struct edit *e, int64_t id,
				   struct fsc_err *err)
{
	int64_t changed = 0;
	enum fsc_status st =
		fsc_db_run(db, FSC_Q_NOTE_DELETE, FSC_ARGS(fsc_v_int(e->e->trace), fsc_v_int(id)),
			   &changed, err);

	if (st == FSC_OK && !changed)
		st = fsc_err_set(err, FSC_ENOTFOUND, "no_such_note", "note: no such note");
	return st;
}

struct others {
	const struct edit *e;
	int64_t *ids; /* of notes that no edit names; the list is read before any goes */
	size_t n;
};

static enum fsc_status add_other(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct others *o = ctx;
	int64_t id = fsc_row_int(row, 0, 0);

	(void)err;
	for (size_t i = 0; i < o->e->e->n_notes; i++)
		if (o->e->e->notes[i].op != FSC_NOTE_ADD && o->e->e->notes[i].id == id)
			return FSC_OK;
	if (o->n < FSC_MAX_NOTES)
		o->ids[o->n++] = id;
	return FSC_OK;
}

static enum fsc_status remove_others(struct fsc_db *db, const struct edit *e, struct fsc_err *err)
{
	int64_t ids[FSC_MAX_NOTES];
	struct others o = { .e = e, .ids = ids };
	enum fsc_status st =
		fsc_db_rows(db, FSC_Q_NOTES, FSC_ARGS(fsc_v_int(e->e->trace)), add_other, &o, err);

	for (size_t i = 0; i < o.n && st == FSC_OK; i++)
		st = remove_note(db, e, ids[i], err);
	return st;
}

static enum fsc_status edit_notes(struct fsc_db *db, const struct edit *e, struct fsc_err *err)
{
	enum fsc_status st = e->e->replace ? remove_others(db, e, err) : FSC_OK;
	int64_t count = 0;
	bool found;

	for (size_t i = 0; i < e->e->n_notes && st == FSC_OK; i++) {
		const struct fsc_note_edit *n = &e->e->notes[i];

		st = n->op == FSC_NOTE_REMOVE ? remove_note(db, e, n->id, err)
					      : put_note(db, e, n, err);
	}
	if (st == FSC_OK)
		st = fsc_db_int(db, FSC_Q_NOTE_COUNT, FSC_ARGS(fsc_v_int(e->e->trace)), &count,
				&found, err);
	if (st == FSC_OK && count > FSC_MAX_NOTES)
		st = fsc_err_set(err, FSC_ELIMIT, "too_many_notes",
				 "note: a trace takes at most %u notes", FSC_MAX_NOTES);
	return st;
}

static enum fsc_status set_keep(struct fsc_db *db, struct edit *e, struct fsc_err *err)
{
	int64_t changed = 0;
	enum fsc_status st;

	if (!e->e->set_keep)
		return FSC_OK;
	if (e->e->keep)
		st = fsc_db_run(db, FSC_Q_KEEP_PUT,
				FSC_ARGS(fsc_v_int(e->e->trace), fsc_v_int(e->e->project),
					 fsc_v_text(e->e->actor), fsc_v_int(e->now)),
				&changed, err);
	else
		st = fsc_db_run(db, FSC_Q_KEEP_DROP, FSC_ARGS(fsc_v_int(e->e->trace)), &changed,
				err);
	e->out->keep_changed = changed > 0;
	return st;
}

static enum fsc_status edit_work(struct fsc_db *db, void *arg, struct fsc_err *err)
{
	struct edit *e = arg;
	enum fsc_status st;

	*e->out = (struct fsc_trace_edited){ 0 };
	e->now = fsc_clock_real_ns();
	st = fsc_db_int(db, FSC_Q_NOTE_BASE,
			FSC_ARGS(fsc_v_int(e->e->project), fsc_v_int(e->e->trace)), &e->t_base_ns,
			&e->found, err);
	if (st == FSC_OK && !e->found)
		st = fsc_err_set(err, FSC_ENOTFOUND, "not_found", "trace: no such trace");
	if (st == FSC_OK)
		st = set_keep(db, e, err);
	return st == FSC_OK ? edit_notes(db, e, err) : st;
}

enum fsc_status fsc_store_trace_edit(struct fsc_store *s, const struct fsc_trace_edit *edit,
				     struct fsc_trace_edited *out, struct fsc_err *err)
{
	struct edit e = { .e = edit, .out = out };

	for (size_t i = 0; i < edit->n_notes; i++) {
		const struct fsc_note_edit *n = &edit->notes[i];

		if (n->op == FSC_NOTE_ADD && (!n->has_t0 || !n->has_t1 || !n->text))
			return fsc_err_set(err, FSC_EINVAL, "note_text",
					   "note: a new note has t0, t1 and a text");
	}
	return s->ops->write(s, edit_work, &e, false, err);
}
