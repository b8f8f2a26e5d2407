/* SPDX-License-Identifier: Apache-2.0 */
/* What a project keeps, by job and age, and which of its traces an older version made. */
#include "store/retention.h"
#include "store/store_ops.h"

struct storage {
	struct fsc_storage *out;
	int64_t project, now;
	const struct fsc_versions *v;
	struct fsc_rows jobs;
};

static enum fsc_status take_bundles(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct fsc_storage *o = ctx;

	(void)err;
	o->bundles = fsc_row_int(row, 0, 0);
	o->blob_bytes = fsc_row_int(row, 1, 0);
	o->oldest_received_at_ns = fsc_row_int(row, 2, 0);
	return FSC_OK;
}

static enum fsc_status take_traces(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct fsc_storage *o = ctx;

	(void)err;
	o->traces = fsc_row_int(row, 0, 0);
	o->segment_bytes = fsc_row_int(row, 1, 0);
	o->kept_traces = fsc_row_int(row, 2, 0);
	return FSC_OK;
}

static enum fsc_status add_job(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct storage *s = ctx;
	struct fsc_storage_part p = { .bundles = fsc_row_int(row, 1, 0),
				      .traces = fsc_row_int(row, 2, 0),
				      .bytes = fsc_row_int(row, 3, 0) };
	struct fsc_storage_part *rest = &s->out->by_job_rest, *to;
	bool ok = true;

	if (s->jobs.n == FSC_STORAGE_JOBS) {
		s->out->n_jobs_rest++;
		rest->bundles += p.bundles;
		rest->traces += p.traces;
		rest->bytes += p.bytes;
		return FSC_OK;
	}
	p.job = fsc_row_text(row, 0, s->jobs.a, &ok);
	to = ok ? fsc_rows_add(&s->jobs) : NULL;
	if (!to)
		return fsc_store_nomem(err);
	*to = p;
	return FSC_OK;
}

static enum fsc_status add_age(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct fsc_storage *o = ctx;
	int64_t i = fsc_row_int(row, 0, -1);

	if (i < 0 || i >= FSC_STORAGE_AGES)
		return fsc_err_set(err, FSC_EBUG, NULL, "store: there is no age %lld",
				   (long long)i);
	o->by_age[i] = (struct fsc_storage_part){ .bundles = fsc_row_int(row, 1, 0),
						  .traces = fsc_row_int(row, 2, 0),
						  .bytes = fsc_row_int(row, 3, 0) };
	return FSC_OK;
}

static enum fsc_status take_outdated(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct fsc_outdated *o = ctx;

	(void)err;
	o->traces = fsc_row_int(row, 0, 0);
	o->running = fsc_row_int(row, 1, 0);
	o->waiting = fsc_row_int(row, 2, 0);
	o->failed = fsc_row_int(row, 3, 0);
	o->not_rebuildable = fsc_row_int(row, 4, 0);
	return FSC_OK;
}

static enum fsc_status storage_work(struct fsc_db *db, void *arg, struct fsc_err *err)
{
	struct storage *s = arg;
	struct fsc_storage *o = s->out;
	struct fsc_value project = fsc_v_int(s->project);
	enum fsc_status st =
		fsc_db_rows(db, FSC_Q_STORAGE_BUNDLES, FSC_ARGS(project), take_bundles, o, err);

	if (st == FSC_OK)
		st = fsc_db_rows(db, FSC_Q_STORAGE_TRACES, FSC_ARGS(project), take_traces, o, err);
	if (st == FSC_OK)
		st = fsc_db_rows(db, FSC_Q_STORAGE_JOBS, FSC_ARGS(project), add_job, s, err);
	if (st == FSC_OK)
		st = fsc_db_rows(db, FSC_Q_STORAGE_AGES,
				 FSC_ARGS(project, fsc_v_int(s->now - FSC_DAY_NS),
					  fsc_v_int(s->now - 7 * FSC_DAY_NS),
					  fsc_v_int(s->now - 30 * FSC_DAY_NS),
					  fsc_v_int(s->now - 90 * FSC_DAY_NS)),
				 add_age, o, err);
	if (st == FSC_OK)
		st = fsc_db_rows(db, FSC_Q_OUTDATED_SUMS,
				 FSC_ARGS(project, fsc_v_int(s->v->segment),
					  fsc_v_int(s->v->analysis)),
				 take_outdated, &o->outdated, err);
	return st;
}

enum fsc_status fsc_store_storage(struct fsc_store *s, struct fsc_arena *a, int64_t project,
				  const struct fsc_versions *v, struct fsc_storage *out,
				  struct fsc_err *err)
{
	struct storage w = { .out = out, .project = project, .now = fsc_store_now(s), .v = v };
	enum fsc_status st;

	*out = (struct fsc_storage){ .database_bytes = s->ops->bytes(s) };
	w.jobs = (struct fsc_rows){ .a = a, .size = sizeof(struct fsc_storage_part) };
	st = s->ops->read(s, storage_work, &w, err);
	out->by_job = w.jobs.items;
	out->n_by_job = w.jobs.n;
	return st;
}

/* ---- indexing again ---- */

enum fsc_status fsc_store_outdated(struct fsc_store *s, int64_t project,
				   const struct fsc_versions *v, struct fsc_outdated *out,
				   struct fsc_err *err)
{
	*out = (struct fsc_outdated){ 0 };
	return fsc_store_rows(s, FSC_Q_OUTDATED_SUMS,
			      FSC_ARGS(project ? fsc_v_int(project) : fsc_v_null(),
				       fsc_v_int(v->segment), fsc_v_int(v->analysis)),
			      take_outdated, out, err);
}

struct pick {
	struct fsc_outdated_bundle *out;
	size_t n;
};

static enum fsc_status add_pick(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct pick *p = ctx;

	(void)err;
	p->out[p->n++] = (struct fsc_outdated_bundle){ .project = fsc_row_int(row, 0, 0),
						       .bundle = fsc_row_int(row, 1, 0),
						       .traces = fsc_row_int(row, 2, 0) };
	return FSC_OK;
}

enum fsc_status fsc_store_outdated_pick(struct fsc_store *s, const struct fsc_versions *v,
					int64_t before, struct fsc_outdated_bundle *out, size_t max,
					size_t *n, struct fsc_err *err)
{
	struct pick p = { .out = out };
	enum fsc_status st = fsc_store_rows(s, FSC_Q_OUTDATED_PICK,
					    FSC_ARGS(fsc_v_int(v->segment), fsc_v_int(v->analysis),
						     fsc_v_int(before), fsc_v_int((int64_t)max)),
					    add_pick, &p, err);

	*n = p.n;
	return st;
}
