/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Publishing: everything that an indexer found out about a bundle replaces, in one transaction, what was there
 * before. Runs alone on the writer (solo), because the facts can be read only once.
 */
#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "store/deletes.h"
#include "store/queue.h"
#include "store/store.h"
#include "store/store_ops.h"

struct old_trace {
	int64_t id, segment;
};

struct publish {
	const struct fsc_publish *in;
	struct fsc_published *out;
	struct fsc_arena *a;
	int64_t now;
	/* of the bundle */
	int64_t project, bytes, received_at;
	char name[512];
	bool found;
	struct fsc_rows old;	 /* struct old_trace */
	struct fsc_rows removed; /* int64_t */
	/* running */
	size_t n_seen;		     /* traces of the stream, */
	size_t n_traces, n_failures; /* of these published */
	int64_t trace;		     /* id of the trace whose facts come now */
	bool skip;		     /* it was deleted: its facts go nowhere */
	int64_t window_ns, busy_ns, exposed_ns;
	struct fsc_buf search;
	struct fsc_strtab *names; /* owned; and the ids of its strings, 0 = not looked up: */
	FSC_VEC(int64_t) name_ids;
	/* why the bundle is failed, should it be */
	struct fsc_err first, end;
	bool end_seen;
};

static enum fsc_status bad(struct fsc_err *err, const char *why)
{
	return fsc_err_set(err, FSC_EPARSE, "facts", "facts: %s", why);
}

static void keep_error(struct fsc_err *e, const char *code, const char *message, const char *file,
		       int64_t offset)
{
	fsc_err_set(e, FSC_EPARSE, code, "%s", message);
	fsc_err_at(e, file, offset);
}

/* ---- the bundle as it is ---- */

static enum fsc_status take_bundle(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct publish *p = ctx;
	const struct fsc_value *name = &row->v[4];
	size_t n = name->n < sizeof(p->name) ? name->n : sizeof(p->name) - 1;

	(void)err;
	p->found = true;
	p->bytes = fsc_row_int(row, 3, 0);
	p->received_at = fsc_row_int(row, 10, 0);
	if (name->type == FSC_VALUE_TEXT)
		memcpy(p->name, name->p, n);
	return FSC_OK;
}

static enum fsc_status add_old(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct publish *p = ctx;
	struct old_trace *t = fsc_rows_add(&p->old);

	if (!t)
		return fsc_store_nomem(err);
	*t = (struct old_trace){ fsc_row_int(row, 0, 0), fsc_row_int(row, 5, 0) };
	return FSC_OK;
}

static enum fsc_status check_lease(struct fsc_db *db, struct publish *p, struct fsc_err *err)
{
	const struct fsc_store_lease *l = p->in->lease;
	int64_t changed = 0;
	enum fsc_status st;

	if (!l)
		return FSC_OK;
	st = fsc_db_run(db, FSC_Q_JOB_DONE,
			FSC_ARGS(fsc_v_int(l->job), fsc_v_bytes(l->token, sizeof(l->token))),
			&changed, err);
	if (st == FSC_OK && changed != 1)
		st = fsc_err_set(err, FSC_ECANCELED, "lease_lost",
				 "job: the lease is another's now");
	return st;
}

static enum fsc_status load(struct fsc_db *db, struct publish *p, struct fsc_err *err)
{
	bool found;
	enum fsc_status st =
		fsc_db_int(db, FSC_Q_BUNDLE_PROJECT, FSC_ARGS(fsc_v_int(p->in->bundle)),
			   &p->project, &found, err);

	if (st == FSC_OK && found)
		st = fsc_db_rows(db, FSC_Q_BUNDLE_GET,
				 FSC_ARGS(fsc_v_int(p->project), fsc_v_int(p->in->bundle)),
				 take_bundle, p, err);
	if (st == FSC_OK && !p->found)
		st = fsc_store_no_bundle(err);
	if (st == FSC_OK)
		st = check_lease(db, p, err);
	if (st == FSC_OK)
		st = fsc_db_rows(db, FSC_Q_BUNDLE_TRACES, FSC_ARGS(fsc_v_int(p->in->bundle)),
				 add_old, p, err);
	if (st == FSC_OK)
		st = fsc_db_run(db, FSC_Q_FAILURE_CLEAR, FSC_ARGS(fsc_v_int(p->in->bundle)), NULL,
				err);
	return st;
}

/* ---- one trace ---- */

static bool was_there(const struct publish *p, int64_t id)
{
	const struct old_trace *old = p->old.items;

	for (size_t i = 0; i < p->old.n; i++)
		if (old[i].id == id)
			return true;
	return false;
}

static enum fsc_status clear_facts(struct fsc_db *db, int64_t trace, struct fsc_err *err)
{
	static const enum fsc_query clear[] = { FSC_Q_LOSS_CLEAR,   FSC_Q_CATEGORY_CLEAR,
						FSC_Q_DEVICE_CLEAR, FSC_Q_IDLE_CLEAR,
						FSC_Q_KERNEL_CLEAR, FSC_Q_STEP_CLEAR };
	enum fsc_status st = FSC_OK;

	for (size_t i = 0; i < FSC_ARRAY_LEN(clear) && st == FSC_OK; i++)
		st = fsc_db_run(db, clear[i], FSC_ARGS(fsc_v_int(trace)), NULL, err);
	return st;
}

static enum fsc_status insert_trace(struct fsc_db *db, struct publish *p,
				    const struct fsc_fact_trace *t,
				    const struct fsc_publish_trace *given, struct fsc_err *err)
{
	const char *parts[] = { t->name, p->name, t->member, t->job, t->host, t->capture };
	enum fsc_status st;

	fsc_buf_clear(&p->search);
	fsc_store_search_text(&p->search, parts, FSC_ARRAY_LEN(parts));
	if (fsc_buf_status(&p->search) == FSC_ENOMEM)
		return fsc_err_set(err, FSC_ENOMEM, NULL, "facts: no memory for the names");
	if (fsc_buf_status(&p->search) != FSC_OK)
		return bad(err, "the names of a trace are too long");
	st = fsc_db_run(db, FSC_Q_TRACE_UPSERT,
			FSC_ARGS(fsc_v_int(p->trace), fsc_v_int(p->project),
				 fsc_v_int(p->in->bundle), fsc_v_text(p->name),
				 fsc_v_text(t->member), fsc_v_int(t->slot), fsc_v_text(t->name),
				 fsc_v_text(t->format), fsc_v_known(t->job), fsc_v_known(t->host),
				 fsc_v_known(t->capture), fsc_v_count(t->rank),
				 fsc_v_count(t->world_size), fsc_v_text(p->search.data),
				 fsc_v_int(p->received_at), fsc_v_int(p->now),
				 fsc_v_int(t->has_epoch != 0), fsc_v_int(t->t_base_ns),
				 fsc_v_int(t->t_min_ns), fsc_v_int(t->t_max_ns),
				 fsc_v_int(t->slices), fsc_v_int(t->instants), fsc_v_int(t->flows),
				 fsc_v_int(t->counters), fsc_v_int(t->tracks), fsc_v_int(t->events),
				 fsc_v_int(t->launch_pairs), fsc_v_text(t->meta_json),
				 fsc_v_int(t->launch_none), fsc_v_int(t->launch_ambiguous),
				 fsc_v_int(p->bytes), fsc_v_int(given->segment_bytes),
				 fsc_v_int(given->segment)),
			NULL, err);
	if (st == FSC_OK)
		st = fsc_db_run(db, FSC_Q_TRACE_META_UPSERT,
				FSC_ARGS(fsc_v_int(p->trace), fsc_v_text(t->meta_json),
					 fsc_v_text(t->source_disagreements)),
				NULL, err);
	return st;
}

/* Whether a person deleted this one out of the bundle: then it stays deleted. */
static enum fsc_status was_deleted(struct fsc_db *db, struct publish *p,
				   const struct fsc_fact_trace *t, struct fsc_err *err)
{
	int64_t id;

	return fsc_db_int(db, FSC_Q_TOMBSTONE_OF_USER,
			  FSC_ARGS(fsc_v_int(p->in->bundle), fsc_v_text(t->member),
				   fsc_v_int(t->slot)),
			  &id, &p->skip, err);
}

static enum fsc_status remove_segment(struct publish *p, int64_t segment, struct fsc_err *err)
{
	int64_t *gone = fsc_rows_add(&p->removed);

	if (!gone)
		return fsc_store_nomem(err);
	*gone = segment;
	return FSC_OK;
}

static enum fsc_status begin_trace(struct fsc_db *db, struct publish *p,
				   const struct fsc_fact_trace *t, struct fsc_err *err)
{
	const struct fsc_publish_trace *given;
	enum fsc_status st;

	if (p->trace)
		return bad(err, "a trace begins inside another");
	if (p->n_seen >= p->in->n_traces)
		return bad(err, "more traces than segments");
	given = &p->in->traces[p->n_seen++];
	p->trace = given->id;
	p->window_ns = p->busy_ns = p->exposed_ns = 0;
	st = was_deleted(db, p, t, err);
	if (st == FSC_OK && p->skip)
		return remove_segment(p, given->segment, err);
	if (st == FSC_OK && was_there(p, p->trace))
		st = clear_facts(db, p->trace, err);
	else if (st ==
		 FSC_OK) /* one that an earlier indexing did not find comes back under its id */
		st = fsc_db_run(db, FSC_Q_TOMBSTONE_REVIVE, FSC_ARGS(fsc_v_int(p->trace)), NULL,
				err);
	return st == FSC_OK ? insert_trace(db, p, t, given, err) : st;
}

static int64_t ppm(int64_t part, int64_t whole)
{
	if (whole <= 0)
		return -1;
	return (int64_t)((__int128)part * 1000000 / whole);
}

static enum fsc_status end_trace(struct fsc_db *db, struct publish *p,
				 const struct fsc_fact_trace_end *e, struct fsc_err *err)
{
	enum fsc_status st =
		fsc_db_run(db, FSC_Q_TRACE_SUMS,
			   FSC_ARGS(fsc_v_int(p->trace), fsc_v_int(ppm(p->busy_ns, p->window_ns)),
				    fsc_v_int(ppm(p->exposed_ns, p->window_ns)),
				    fsc_v_int(e->segment_version), fsc_v_int(e->analysis_version)),
			   NULL, err);

	p->trace = 0;
	p->n_traces++;
	return st;
}

/* ---- facts of the running trace ---- */

/* Ids of names that this publish has met: ranks of one job repeat the same few hundred names. */
static enum fsc_status intern(struct fsc_db *db, struct publish *p, const char *text, int64_t *id,
			      struct fsc_err *err)
{
	uint32_t local;
	bool found;
	enum fsc_status st = fsc_strtab_put(&local, p->names, text, strlen(text));

	if (st != FSC_OK)
		return fsc_err_set(err, st, NULL, "facts: too many names");
	while (p->name_ids.n <= local)
		if (!fsc_vec_push(&p->name_ids, 0))
			return fsc_store_nomem(err);
	*id = p->name_ids.v[local];
	if (*id)
		return FSC_OK;
	st = fsc_db_int(db, FSC_Q_NAME_FIND, FSC_ARGS(fsc_v_text(text)), id, &found, err);
	if (st == FSC_OK && !found)
		st = fsc_db_int(db, FSC_Q_NAME_INSERT, FSC_ARGS(fsc_v_text(text)), id, &found, err);
	p->name_ids.v[local] = *id;
	return st;
}

static enum fsc_status put_category(struct fsc_db *db, struct publish *p,
				    const struct fsc_fact_category *c, struct fsc_err *err)
{
	int64_t name = 0;
	enum fsc_status st = intern(db, p, c->name, &name, err);

	if (st != FSC_OK)
		return st;
	return fsc_db_run(db, FSC_Q_CATEGORY_INSERT,
			  FSC_ARGS(fsc_v_int(p->trace), fsc_v_int(name), fsc_v_int(c->count),
				   fsc_v_int(c->sum_ns)),
			  NULL, err);
}

static enum fsc_status put_device(struct fsc_db *db, struct publish *p,
				  const struct fsc_fact_device *d, struct fsc_err *err)
{
	if (d->scope == FSC_SCOPE_ALL) {
		p->window_ns += d->window_ns;
		p->busy_ns += d->busy_ns;
		p->exposed_ns += d->exposed_comm_ns;
	}
	return fsc_db_run(db, FSC_Q_DEVICE_INSERT,
			  FSC_ARGS(fsc_v_int(p->trace), fsc_v_int(d->scope), fsc_v_int(d->device),
				   fsc_v_int(d->window_ns), fsc_v_int(d->busy_ns),
				   fsc_v_int(d->idle_ns), fsc_v_int(d->compute_ns),
				   fsc_v_int(d->comm_ns), fsc_v_int(d->memcpy_ns),
				   fsc_v_int(d->exposed_comm_ns), fsc_v_int(d->exposed_memcpy_ns),
				   fsc_v_int(d->comm_overlap_ns), fsc_v_int(d->unclassified_ns)),
			  NULL, err);
}

static enum fsc_status put_kernel(struct fsc_db *db, struct publish *p,
				  const struct fsc_fact_kernel *k, struct fsc_err *err)
{
	int64_t name = 0;
	enum fsc_status st = intern(db, p, k->name, &name, err);

	if (st != FSC_OK)
		return st;
	return fsc_db_run(db, FSC_Q_KERNEL_INSERT,
			  FSC_ARGS(fsc_v_int(p->trace), fsc_v_int(k->scope), fsc_v_int(name),
				   fsc_v_text(k->kind), fsc_v_int(k->count), fsc_v_int(k->sum_ns),
				   fsc_v_int(k->min_ns), fsc_v_int(k->max_ns)),
			  NULL, err);
}

static enum fsc_status put_trace_fact(struct fsc_db *db, struct publish *p,
				      const struct fsc_fact *f, struct fsc_err *err)
{
	const struct fsc_fact_idle *i = &f->u.idle;
	const struct fsc_fact_step *s = &f->u.step;

	if (!p->trace)
		return bad(err, "a row belongs to no trace");
	if (p->skip) {
		if (f->type == FSC_FACT_TRACE_END)
			p->trace = 0;
		return FSC_OK;
	}
	switch (f->type) {
	case FSC_FACT_LOSS:
		return fsc_db_run(db, FSC_Q_LOSS_INSERT,
				  FSC_ARGS(fsc_v_int(p->trace), fsc_v_text(f->u.loss.code),
					   fsc_v_int(f->u.loss.count),
					   fsc_v_count(f->u.loss.first_offset)),
				  NULL, err);
	case FSC_FACT_CATEGORY:
		return put_category(db, p, &f->u.category, err);
	case FSC_FACT_DEVICE:
		return put_device(db, p, &f->u.device, err);
	case FSC_FACT_IDLE:
		return fsc_db_run(db, FSC_Q_IDLE_INSERT,
				  FSC_ARGS(fsc_v_int(p->trace), fsc_v_int(i->scope),
					   fsc_v_int(i->device), fsc_v_int(i->stream),
					   fsc_v_int(i->host_wait_ns), fsc_v_int(i->kernel_wait_ns),
					   fsc_v_int(i->other_ns)),
				  NULL, err);
	case FSC_FACT_KERNEL:
		return put_kernel(db, p, &f->u.kernel, err);
	case FSC_FACT_STEP:
		return fsc_db_run(db, FSC_Q_STEP_INSERT,
				  FSC_ARGS(fsc_v_int(p->trace), fsc_v_int(s->idx),
					   fsc_v_text(s->name), fsc_v_int(s->t0_ns),
					   fsc_v_int(s->dur_ns), fsc_v_int(s->busy_ns),
					   fsc_v_int(s->idle_ns)),
				  NULL, err);
	case FSC_FACT_TRACE_END:
		return end_trace(db, p, &f->u.trace_end, err);
	default:
		return bad(err, "a row of unknown type");
	}
}

static enum fsc_status put_failure(struct fsc_db *db, struct publish *p,
				   const struct fsc_fact_member *m, struct fsc_err *err)
{
	bool failed = !strcmp(m->outcome, "failed");

	/* the first member that failed explains the bundle best, else the first that was skipped */
	if (p->first.status == FSC_OK || (failed && p->first.status == FSC_EUNSUPPORTED)) {
		keep_error(&p->first, m->code, m->message, m->member, m->offset);
		p->first.status = failed ? FSC_EPARSE : FSC_EUNSUPPORTED;
	}
	return fsc_db_run(db, FSC_Q_FAILURE_INSERT,
			  FSC_ARGS(fsc_v_int(p->in->bundle), fsc_v_int((int64_t)p->n_failures++),
				   fsc_v_text(m->member), fsc_v_text(failed ? "failed" : "skipped"),
				   fsc_v_text(m->code), fsc_v_text(m->message),
				   fsc_v_count(m->offset)),
			  NULL, err);
}

static enum fsc_status put_end(struct fsc_db *db, struct publish *p, const struct fsc_fact_end *e,
			       struct fsc_err *err)
{
	p->end_seen = true;
	if (e->status)
		keep_error(&p->end, e->code, e->message, e->file, e->offset);
	return fsc_db_run(db, FSC_Q_BUNDLE_META_UPSERT,
			  FSC_ARGS(fsc_v_int(p->in->bundle),
				   fsc_v_text(e->manifest_json ? e->manifest_json : "")),
			  NULL, err);
}

static enum fsc_status put_fact(struct fsc_db *db, struct publish *p, const struct fsc_fact *f,
				struct fsc_err *err)
{
	switch (f->type) {
	case FSC_FACT_TRACE:
		return begin_trace(db, p, &f->u.trace, err);
	case FSC_FACT_MEMBER:
		return put_failure(db, p, &f->u.member, err);
	case FSC_FACT_PROGRESS:
	case FSC_FACT_SEGMENT_WANTED:
		return FSC_OK;
	case FSC_FACT_END:
		return put_end(db, p, &f->u.end, err);
	default:
		return put_trace_fact(db, p, f, err);
	}
}

/* ---- the end ---- */

static bool is_new(const struct publish *p, int64_t id)
{
	for (size_t i = 0; i < p->n_seen; i++)
		if (p->in->traces[i].id == id)
			return true;
	return false;
}

/* Indexing again found nothing at all, as after a reader got stricter: what there is stays, with its notes. */
static bool keeps_old(const struct publish *p)
{
	return p->n_seen == 0 && p->old.n > 0;
}

static enum fsc_status remove_old(struct fsc_db *db, struct publish *p, struct fsc_err *err)
{
	const struct old_trace *old = p->old.items;
	enum fsc_status st = FSC_OK;

	if (keeps_old(p))
		return FSC_OK;
	for (size_t i = 0; i < p->old.n && st == FSC_OK; i++) {
		st = remove_segment(p, old[i].segment, err);
		if (st != FSC_OK || is_new(p, old[i].id))
			continue;
		st = fsc_db_run(db, FSC_Q_TOMBSTONE_TRACE,
				FSC_ARGS(fsc_v_int(old[i].id), fsc_v_int(p->now),
					 fsc_v_text(fsc_delete_reason_name(FSC_DELETE_REINDEX)),
					 fsc_v_text("server"), fsc_v_text("")),
				NULL, err);
		if (st == FSC_OK)
			st = fsc_db_run(db, FSC_Q_TRACE_DELETE, FSC_ARGS(fsc_v_int(old[i].id)),
					NULL, err);
	}
	return st;
}

static enum fsc_status finish(struct fsc_db *db, struct publish *p, struct fsc_err *err)
{
	bool ready = p->n_traces > 0;
	struct fsc_err none = FSC_ERR_INIT;
	const struct fsc_err *why = &p->end;

	if (why->status == FSC_OK && !ready)
		why = &p->first;
	if (why->status == FSC_OK && !ready) {
		if (p->n_seen)
			keep_error(&none, "traces_deleted",
				   "every trace that the bundle holds was deleted", "", -1);
		else
			keep_error(&none, "no_traces", "the bundle holds no trace", "", -1);
		why = &none;
	}
	p->out->state = ready ? FSC_BUNDLE_READY : FSC_BUNDLE_FAILED;
	p->out->why = *why;
	return fsc_db_run(db, FSC_Q_BUNDLE_FINISH,
			  FSC_ARGS(fsc_v_int(p->in->bundle), fsc_v_int(p->now),
				   fsc_v_text(fsc_bundle_state_name(p->out->state)),
				   fsc_v_known(why->code),
				   fsc_v_text(why->status != FSC_OK ? why->msg : NULL),
				   fsc_v_known(why->file), fsc_v_count(why->offset),
				   fsc_v_int((int64_t)(keeps_old(p) ? p->old.n : p->n_traces)),
				   fsc_v_int((int64_t)p->n_failures)),
			  NULL, err);
}

static enum fsc_status publish_work(struct fsc_db *db, void *arg, struct fsc_err *err)
{
	struct publish *p = arg;
	enum fsc_status st = load(db, p, err);

	while (st == FSC_OK) {
		struct fsc_fact f;

		st = p->in->next(p->in->ctx, &f, err);
		if (st == FSC_OK)
			st = put_fact(db, p, &f, err);
		/* the same row twice, or one member twice: not a fault of the store */
		if (st == FSC_EEXIST)
			st = bad(err, "the same row twice");
	}
	if (st != FSC_END)
		return st;
	if (p->trace || !p->end_seen)
		return bad(err, "the stream ends early");
	st = remove_old(db, p, err);
	return st == FSC_OK ? finish(db, p, err) : st;
}

enum fsc_status fsc_store_publish(struct fsc_store *s, struct fsc_arena *a,
				  const struct fsc_publish *in, struct fsc_published *out,
				  struct fsc_err *err)
{
	struct publish p = { .in = in, .out = out, .a = a, .now = fsc_store_now(s) };
	enum fsc_status st;

	*out = (struct fsc_published){ .state = FSC_BUNDLE_FAILED };
	p.old = (struct fsc_rows){ .a = a, .size = sizeof(struct old_trace) };
	p.removed = (struct fsc_rows){ .a = a, .size = sizeof(int64_t) };
	p.first = p.end = (struct fsc_err)FSC_ERR_INIT;
	fsc_buf_init(&p.search, 64 * FSC_KIB);
	p.names = fsc_strtab_new();
	if (!p.names)
		return fsc_store_nomem(err);
	st = s->ops->write(s, publish_work, &p, true, err);
	fsc_buf_fini(&p.search);
	fsc_strtab_free(p.names);
	fsc_vec_fini(&p.name_ids);
	out->removed = p.removed.items;
	out->n_removed = p.removed.n;
	return st;
}

enum fsc_status fsc_store_trace_id(struct fsc_store *s, int64_t bundle, const char *member,
				   int64_t slot, int64_t *id, bool *known, struct fsc_err *err)
{
	enum fsc_status st = fsc_store_first_int(s, FSC_Q_TRACE_ID,
						 FSC_ARGS(fsc_v_int(bundle), fsc_v_text(member),
							  fsc_v_int(slot)),
						 id, known, err);

	if (st == FSC_OK && !*known)
		*id = fsc_store_new_id(s);
	return st;
}
