/* SPDX-License-Identifier: Apache-2.0 */
/* Projects: the walls between the rows of teams. They are never renamed or deleted. */
#include "store/store.h"
#include "store/store_ops.h"

enum fsc_status fsc_store_project_find(struct fsc_store *s, const char *name, int64_t *id,
				       struct fsc_err *err)
{
	bool found;
	enum fsc_status st = fsc_store_first_int(s, FSC_Q_PROJECT_FIND, FSC_ARGS(fsc_v_text(name)),
						 id, &found, err);

	if (st == FSC_OK && !found)
		st = fsc_err_set(err, FSC_ENOTFOUND, "not_found", "project: no such project");
	return st;
}

bool fsc_store_project_name_ok(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-");

	return n >= 1 && n <= 63 && !name[n] && name[0] != '_' && name[0] != '-';
}

enum fsc_status fsc_store_project_create(struct fsc_store *s, const char *name, int64_t *id,
					 struct fsc_err *err)
{
	int64_t changed = 0;
	enum fsc_status st;

	if (!fsc_store_project_name_ok(name))
		return fsc_err_set(err, FSC_EINVAL, "project_name",
				   "project: a name is 1 to 63 of a-z 0-9 _ - and starts with a "
				   "letter or digit");
	*id = fsc_store_new_id(s);
	st = fsc_store_change(s, FSC_Q_PROJECT_INSERT,
			      FSC_ARGS(fsc_v_int(*id), fsc_v_text(name),
				       fsc_v_int(fsc_store_now(s))),
			      &changed, err);
	if (st == FSC_OK && !changed)
		st = fsc_err_set(err, FSC_EEXIST, "project_exists",
				 "project: there is one of that name");
	return st;
}

enum fsc_status fsc_store_project_put(struct fsc_store *s, const char *name, int64_t *id,
				      struct fsc_err *err)
{
	enum fsc_status st = fsc_store_project_create(s, name, id, err);

	if (st != FSC_EEXIST)
		return st;
	fsc_err_clear(err);
	return fsc_store_project_find(s, name, id, err);
}

struct project_rows {
	struct fsc_rows rows;
	bool ok;
};

static enum fsc_status add_project(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct project_rows *r = ctx;
	struct fsc_project *p = fsc_rows_add(&r->rows);

	if (!p)
		return fsc_store_nomem(err);
	p->id = fsc_row_int(row, 0, 0);
	p->name = fsc_row_text0(row, 1, r->rows.a, &r->ok);
	p->created_at_ns = fsc_row_int(row, 2, 0);
	return r->ok ? FSC_OK : fsc_store_nomem(err);
}

enum fsc_status fsc_store_project_list(struct fsc_store *s, struct fsc_arena *a,
				       struct fsc_projects *out, struct fsc_err *err)
{
	struct project_rows r = { .rows = { .a = a, .size = sizeof(struct fsc_project) },
				  .ok = true };
	enum fsc_status st = fsc_store_rows(s, FSC_Q_PROJECT_LIST, NULL, 0, add_project, &r, err);

	out->items = r.rows.items;
	out->n_items = r.rows.n;
	return st;
}

struct one_text {
	struct fsc_arena *a;
	const char *text;
	bool ok;
};

static enum fsc_status take_text(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct one_text *t = ctx;

	t->text = fsc_row_text(row, 0, t->a, &t->ok);
	return t->ok ? FSC_OK : fsc_store_nomem(err);
}

enum fsc_status fsc_store_project_name(struct fsc_store *s, struct fsc_arena *a, int64_t id,
				       const char **name, struct fsc_err *err)
{
	struct one_text t = { .a = a, .ok = true };
	enum fsc_status st =
		fsc_store_rows(s, FSC_Q_PROJECT_NAME, FSC_ARGS(fsc_v_int(id)), take_text, &t, err);

	if (st == FSC_OK && !t.text)
		st = fsc_err_set(err, FSC_ENOTFOUND, "not_found", "project: no such project");
	*name = t.text;
	return st;
}
