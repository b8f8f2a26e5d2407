/* SPDX-License-Identifier: Apache-2.0 */
/* PATCH of a trace: keep, and notes on ranges. What is read here is the body; the rules are in store/notes.h. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "api/deps.h"
#include "base/limits.h"
#include "base/num.h"
#include "store/notes.h"

static enum fsc_status bad(struct fsc_err *err, const char *what)
{
	return fsc_err_set(err, FSC_EINVAL, "bad_parameter", "body: %s", what);
}

static bool known(const char *key, const char *const *keys)
{
	while (*keys && strcmp(key, *keys) != 0)
		keys++;
	return *keys != NULL;
}

/* A member that nobody knows is a typing error whose effect would be missed. */
static enum fsc_status check_keys(json_t *obj, const char *const *keys, struct fsc_err *err)
{
	const char *key;
	json_t *v;

	json_object_foreach(obj, key, v)
	{
		if (!known(key, keys))
			return fsc_err_set(err, FSC_EINVAL, "bad_parameter",
					   "body: \"%.40s\" is not known", key);
	}
	return FSC_OK;
}

static enum fsc_status parse_id(const json_t *v, int64_t *id, struct fsc_err *err)
{
	const char *s = json_string_value(v);
	uint64_t n;

	if (!s || !fsc_parse_u64(&n, s, strlen(s)) || n > INT64_MAX)
		return bad(err, "the id of a note is decimal text");
	*id = (int64_t)n;
	return FSC_OK;
}

static enum fsc_status parse_time(const json_t *obj, const char *key, bool *has, int64_t *t_ns,
				  struct fsc_err *err)
{
	const json_t *v = json_object_get(obj, key);

	*has = v != NULL;
	if (v && !json_is_integer(v))
		return bad(err, "t0 and t1 of a note are integers (ns)");
	*t_ns = v ? json_integer_value(v) : 0;
	return FSC_OK;
}

static enum fsc_status parse_note(json_t *v, enum fsc_note_op op, struct fsc_note_edit *n,
				  struct fsc_err *err)
{
	static const char *const keys[] = { "id", "t0", "t1", "text", NULL };
	const json_t *text, *id;
	enum fsc_status st;

	n->op = op;
	if (op == FSC_NOTE_REMOVE)
		return parse_id(v, &n->id, err);
	if (!json_is_object(v))
		return bad(err, "a note is an object");
	st = check_keys(v, op == FSC_NOTE_ADD ? keys + 1 : keys, err);
	id = json_object_get(v, "id");
	if (st == FSC_OK && op == FSC_NOTE_UPDATE)
		st = parse_id(id, &n->id, err);
	if (st == FSC_OK)
		st = parse_time(v, "t0", &n->has_t0, &n->t0_ns, err);
	if (st == FSC_OK)
		st = parse_time(v, "t1", &n->has_t1, &n->t1_ns, err);
	text = json_object_get(v, "text");
	if (st == FSC_OK && text && !json_is_string(text))
		st = bad(err, "the text of a note is text");
	n->text = json_string_value(text);
	if (st == FSC_OK && op == FSC_NOTE_ADD && (!n->has_t0 || !n->has_t1 || !n->text))
		st = bad(err, "a new note has t0, t1 and text");
	return st;
}

/* Lists of notes in the order in which they are applied. */
static const struct {
	const char *key;
	enum fsc_note_op op;
} lists[] = { { "notes_remove", FSC_NOTE_REMOVE },
	      { "notes_update", FSC_NOTE_UPDATE },
	      { "notes_add", FSC_NOTE_ADD },
	      { "notes", FSC_NOTE_ADD } };

/* More than a trace can hold, in any list, is refused before it is read. */
static enum fsc_status count_notes(const json_t *body, size_t *n, struct fsc_err *err)
{
	*n = 0;
	for (size_t i = 0; i < FSC_ARRAY_LEN(lists); i++) {
		const json_t *list = json_object_get(body, lists[i].key);

		if (!list)
			continue;
		if (!json_is_array(list))
			return fsc_err_set(err, FSC_EINVAL, "bad_parameter",
					   "body: \"%s\" is a list", lists[i].key);
		if (json_array_size(list) > FSC_MAX_NOTES)
			return fsc_err_set(err, FSC_ELIMIT, "too_many_notes",
					   "note: a trace takes at most %u notes", FSC_MAX_NOTES);
		*n += json_array_size(list);
	}
	return FSC_OK;
}

static enum fsc_status parse_notes(struct fsc_api_trace *t, const json_t *body,
				   struct fsc_trace_edit *e, struct fsc_err *err)
{
	struct fsc_note_edit *notes;
	size_t n;
	enum fsc_status st = count_notes(body, &n, err);

	e->replace = json_object_get(body, "notes") != NULL;
	if (st != FSC_OK || (!n && !e->replace))
		return st;
	notes = fsc_arena_alloc(&t->arena, n + 1, sizeof(*notes));
	if (!notes)
		return fsc_err_set(err, FSC_ENOMEM, NULL, "notes");
	e->notes = notes;
	for (size_t i = 0; i < FSC_ARRAY_LEN(lists); i++) {
		json_t *list = json_object_get(body, lists[i].key), *v;
		size_t at;

		if (list && e->replace && i + 1 < FSC_ARRAY_LEN(lists))
			return bad(err, "\"notes\" stands alone: it replaces all");
		json_array_foreach(list, at, v)
		{
			enum fsc_note_op op = lists[i].op;

			/* among all notes, one with an id is one that is there */
			if (e->replace && json_object_get(v, "id"))
				op = FSC_NOTE_UPDATE;
			st = parse_note(v, op, &notes[e->n_notes++], err);
			if (st != FSC_OK)
				return st;
		}
	}
	return FSC_OK;
}

static enum fsc_status parse_edit(struct fsc_api_trace *t, json_t *body, struct fsc_trace_edit *e,
				  struct fsc_err *err)
{
	static const char *const keys[] = { "keep",	    "notes",	    "notes_add",
					    "notes_update", "notes_remove", NULL };
	const json_t *keep = json_object_get(body, "keep");
	enum fsc_status st = check_keys(body, keys, err);

	if (st == FSC_OK && keep && !json_is_boolean(keep))
		st = bad(err, "\"keep\" is true or false");
	e->set_keep = keep != NULL;
	e->keep = json_is_true(keep);
	return st == FSC_OK ? parse_notes(t, body, e, err) : st;
}

bool fsc_api_trace_apply(struct fsc_api_trace *t)
{
	struct fsc_trace_edit e = { .project = t->row.project,
				    .trace = t->row.id,
				    .actor = t->req->who.label };
	struct fsc_trace_edited done = { 0 };
	struct fsc_err err = FSC_ERR_INIT;
	json_t *body = NULL;
	char subject[32];
	enum fsc_status st = fsc_api_body(t->req, &body, &err);

	if (!st)
		st = parse_edit(t, body, &e, &err);
	if (!st)
		st = fsc_store_trace_edit(fsc_api_app(t->req)->store, &e, &done, &err);
	json_decref(body);
	if (st) {
		fsc_api_fail(t->req, t->resp, &err);
		return false;
	}
	snprintf(subject, sizeof(subject), "%lld", (long long)t->row.id);
	if (done.keep_changed)
		fsc_api_audit(t->req, e.keep ? "trace.keep" : "trace.unkeep", subject, t->row.name);
	return true;
}
