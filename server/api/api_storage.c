/* SPDX-License-Identifier: Apache-2.0 */
/* What a project keeps, its limits, a pass over it now, and the word of a person that the clock is right. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "api/deps.h"
#include "api/handlers.h"
#include "base/clock.h"
#include "service/reindex.h"
#include "service/retention.h"
#include "store/blob.h"

/* Shorter steps back are the work of time servers, over in a moment and nothing to tell people of. */
#define TELL_BEHIND_NS INT64_C(60000000000)

/* ---- GET /storage ---- */

static void emit_part(struct fsc_json *j, const struct fsc_storage_part *p)
{
	fsc_json_kint(j, "bundles", p->bundles);
	fsc_json_kint(j, "traces", p->traces);
	fsc_json_kint(j, "bytes", p->bytes);
}

static void emit_jobs(struct fsc_json *j, const struct fsc_storage *s)
{
	fsc_json_key(j, "by_job");
	fsc_json_arr(j);
	for (size_t i = 0; i < s->n_by_job; i++) {
		fsc_json_obj(j);
		fsc_api_null_str(j, "job", s->by_job[i].job);
		emit_part(j, &s->by_job[i]);
		fsc_json_obj_end(j);
	}
	if (s->n_jobs_rest) {
		fsc_json_obj(j);
		fsc_json_kstr(j, "job", "other");
		fsc_json_kint(j, "jobs", s->n_jobs_rest);
		emit_part(j, &s->by_job_rest);
		fsc_json_obj_end(j);
	}
	fsc_json_arr_end(j);
}

static void emit_ages(struct fsc_json *j, const struct fsc_storage *s)
{
	static const char *const days[FSC_STORAGE_AGES] = { "0-1", "1-7", "7-30", "30-90", "90+" };

	fsc_json_key(j, "by_age");
	fsc_json_arr(j);
	for (size_t i = 0; i < FSC_STORAGE_AGES; i++) {
		fsc_json_obj(j);
		fsc_json_kstr(j, "days", days[i]);
		emit_part(j, &s->by_age[i]);
		fsc_json_obj_end(j);
	}
	fsc_json_arr_end(j);
}

static void emit_limits(struct fsc_json *j, const struct fsc_retention *r)
{
	fsc_json_kint(j, "max_age_days", r->max_age_days);
	fsc_json_kint(j, "blob_age_days", r->blob_age_days);
	fsc_json_kint(j, "max_bytes", r->max_bytes);
	fsc_api_time(j, "updated_at", r->updated_at_ns);
}

static void emit_taken(struct fsc_json *j, const struct fsc_keeper_taken *t)
{
	fsc_json_kint(j, "bundles", t->bundles);
	fsc_json_kint(j, "traces", t->traces);
	fsc_json_kint(j, "bytes", t->bytes);
	fsc_json_kint(j, "blobs", t->blobs);
	fsc_json_kint(j, "blob_bytes", t->blob_bytes);
}

static void emit_last(struct fsc_json *j, const struct fsc_keeper_state *k)
{
	fsc_json_key(j, "last_run");
	if (!k->last.at_ns) {
		fsc_json_null(j);
		return;
	}
	fsc_json_obj(j);
	fsc_api_time(j, "at", k->last.at_ns);
	emit_taken(j, &k->last);
	fsc_json_obj_end(j);
}

static void emit_held(struct fsc_json *j, const struct fsc_keeper_state *k)
{
	bool ahead = k->trust == FSC_CLOCK_AHEAD;

	fsc_json_key(j, "held");
	if (k->trust == FSC_CLOCK_GOOD || (!ahead && k->mark_ns - k->since_ns < TELL_BEHIND_NS)) {
		fsc_json_null(j);
		return;
	}
	fsc_json_obj(j);
	fsc_api_time(j, "since", k->since_ns);
	fsc_json_kstr(
		j, "why",
		ahead ? "the clock is more than a day ahead of when the server last looked at "
			"it (it was set, or the server was down for long): nothing is deleted "
			"by age until somebody confirms that it is right"
		      : "the clock was set back: nothing is deleted by age until it has passed "
			"the latest time it showed, or somebody confirms that it is right");
	fsc_json_kbool(j, "confirm", true);
	fsc_api_time(j, "believed_until", k->mark_ns);
	fsc_json_obj_end(j);
}

static void emit_disk(struct fsc_json *j, const struct fsc_blobs_disk *d)
{
	fsc_json_key(j, "disk");
	fsc_json_obj(j);
	fsc_json_kuint(j, "total_bytes", d->total_bytes);
	fsc_json_kuint(j, "free_bytes", d->free_bytes);
	fsc_json_kuint(j, "min_free_bytes", d->min_free_bytes);
	fsc_json_obj_end(j);
}

static void emit_reindex(struct fsc_json *j, struct fsc_app *app, int64_t project,
			 const struct fsc_outdated *o)
{
	const struct fsc_versions *v = fsc_reindex_versions(app->reindex);
	struct fsc_reindex_stats s;

	fsc_reindex_stats(app->reindex, project, &s);
	fsc_json_key(j, "reindex");
	fsc_json_obj(j);
	fsc_json_kint(j, "outdated", o->traces);
	fsc_json_kint(j, "running", o->running);
	fsc_json_kint(j, "waiting", o->waiting);
	fsc_json_kint(j, "failed", o->failed);
	fsc_json_kint(j, "not_rebuildable", o->not_rebuildable);
	fsc_json_kuint(j, "done_since_start", s.done_traces);
	fsc_json_kint(j, "segment_version", v->segment);
	fsc_json_kint(j, "analysis_version", v->analysis);
	fsc_json_obj_end(j);
}

struct view {
	struct fsc_storage s;
	struct fsc_retention limits;
	struct fsc_keeper_run next;
	struct fsc_keeper_state keeper;
	struct fsc_blobs_disk disk;
};

static void emit_view(struct fsc_json *j, const struct fsc_req *req, const struct view *v)
{
	fsc_json_obj(j);
	fsc_json_kstr(j, "project", req->who.project);
	fsc_json_kint(j, "bundles", v->s.bundles);
	fsc_json_kint(j, "traces", v->s.traces);
	fsc_json_kint(j, "kept_traces", v->s.kept_traces);
	fsc_json_kint(j, "blob_bytes", v->s.blob_bytes);
	fsc_json_kint(j, "segment_bytes", v->s.segment_bytes);
	fsc_json_kint(j, "database_bytes", v->s.database_bytes);
	fsc_api_time(j, "oldest_received_at", v->s.oldest_received_at_ns);
	emit_jobs(j, &v->s);
	emit_ages(j, &v->s);
	fsc_json_key(j, "policy");
	fsc_json_obj(j);
	emit_limits(j, &v->limits);
	fsc_json_obj_end(j);
	fsc_json_key(j, "next");
	fsc_json_obj(j);
	emit_taken(j, &v->next.taken);
	fsc_json_obj_end(j);
	fsc_json_kint(j, "kept_skipped", v->next.kept);
	fsc_json_kint(j, "over_bytes", v->next.over_bytes);
	emit_last(j, &v->keeper);
	emit_held(j, &v->keeper);
	emit_disk(j, &v->disk);
	emit_reindex(j, fsc_api_app(req), fsc_auth_project(req), &v->s.outdated);
	fsc_json_obj_end(j);
}

void fsc_api_storage(struct fsc_req *req, struct fsc_resp *resp)
{
	struct fsc_app *app = fsc_api_app(req);
	int64_t project = fsc_auth_project(req);
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_arena a;
	struct fsc_json j;
	struct view v;

	fsc_arena_init(&a, FSC_API_ARENA_MAX);
	if (fsc_store_storage(app->store, &a, project, fsc_reindex_versions(app->reindex), &v.s,
			      &err) ||
	    fsc_store_retention_get(app->store, project, &v.limits, &err) ||
	    fsc_keeper_pass(app->keeper, &a, project, true, &v.next, &err) ||
	    fsc_blobs_disk(app->blobs, &v.disk, &err)) {
		fsc_api_fail(req, resp, &err);
		goto out;
	}
	fsc_keeper_state(app->keeper, project, &v.keeper);
	j = fsc_resp_json(resp, 200);
	emit_view(&j, req, &v);
out:
	fsc_arena_fini(&a);
}

/* ---- PUT /retention ---- */

/* *which: those that the body has. The others stay in r as they are. */
static enum fsc_status take_limits(const json_t *body, struct fsc_retention *r, unsigned *which,
				   struct fsc_err *err)
{
	const struct {
		const char *name;
		int64_t *to;
		unsigned bit;
	} known[] = { { "max_age_days", &r->max_age_days, FSC_LIMIT_AGE },
		      { "blob_age_days", &r->blob_age_days, FSC_LIMIT_BLOB_AGE },
		      { "max_bytes", &r->max_bytes, FSC_LIMIT_BYTES } };
	const char *key;
	json_t *v;

	*which = 0;
	json_object_foreach((json_t *)body, key, v)
	{
		size_t i = 0;

		while (i < FSC_ARRAY_LEN(known) && strcmp(known[i].name, key) != 0)
			i++;
		if (i == FSC_ARRAY_LEN(known))
			return fsc_err_set(err, FSC_EINVAL, "bad_json",
					   "the body may have max_age_days, blob_age_days and "
					   "max_bytes only");
		if (!json_is_integer(v))
			return fsc_err_set(err, FSC_EINVAL, "bad_json", "\"%s\" must be an integer",
					   known[i].name);
		*known[i].to = json_integer_value(v);
		*which |= known[i].bit;
	}
	return FSC_OK;
}

static void audit_limits(const struct fsc_req *req, const struct fsc_retention *was,
			 const struct fsc_retention *now)
{
	char detail[240];

	snprintf(detail, sizeof(detail),
		 "max_age_days %lld -> %lld, blob_age_days %lld -> %lld, max_bytes %lld -> %lld",
		 (long long)was->max_age_days, (long long)now->max_age_days,
		 (long long)was->blob_age_days, (long long)now->blob_age_days,
		 (long long)was->max_bytes, (long long)now->max_bytes);
	fsc_api_audit(req, "retention.set", "", detail);
}

void fsc_api_retention_set(struct fsc_req *req, struct fsc_resp *resp)
{
	struct fsc_store *store = fsc_api_app(req)->store;
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_retention was = { 0 }, now = { .project = fsc_auth_project(req) };
	unsigned which = 0;
	json_t *body = NULL;
	struct fsc_json j;
	enum fsc_status st = fsc_api_body(req, &body, &err);

	if (!st)
		st = take_limits(body, &now, &which, &err);
	if (!st)
		st = fsc_store_retention_set(store, &now, which, &was, &err);
	json_decref(body);
	if (st) {
		fsc_api_fail(req, resp, &err);
		return;
	}
	audit_limits(req, &was, &now);
	j = fsc_resp_json(resp, 200);
	fsc_json_obj(&j);
	emit_limits(&j, &now);
	fsc_json_obj_end(&j);
}

/* ---- POST /retention/run ---- */

static void emit_run(struct fsc_json *j, const struct fsc_keeper_run *r, bool dry_run)
{
	fsc_json_obj(j);
	fsc_json_kbool(j, "dry_run", dry_run);
	fsc_json_kint(j, "bundles", r->taken.bundles);
	fsc_json_kint(j, "traces", r->taken.traces);
	fsc_json_kint(j, "kept_skipped", r->kept);
	fsc_json_kint(j, "blobs", r->taken.blobs);
	fsc_json_kint(j, "blob_bytes", r->bundle_blob_bytes + r->taken.blob_bytes);
	fsc_json_kint(j, "segment_bytes", r->segment_bytes);
	fsc_json_kint(j, "over_bytes", r->over_bytes);
	fsc_json_kbool(j, "complete", r->complete);
	fsc_json_key(j, "items");
	fsc_json_arr(j);
	for (size_t i = 0; i < r->n_items; i++) {
		const struct fsc_retention_item *it = &r->items[i];

		fsc_json_obj(j);
		fsc_json_kid(j, "bundle", (uint64_t)it->bundle);
		fsc_json_kstr(j, "name", it->name);
		fsc_json_kint(j, "bytes", it->blob_bytes + it->segment_bytes);
		fsc_json_kint(j, "traces", it->traces);
		fsc_json_kstr(j, "reason", fsc_retention_why_name(it->why));
		fsc_json_kbool(j, "keep", false);
		fsc_json_obj_end(j);
	}
	fsc_json_arr_end(j);
	fsc_json_kbool(j, "truncated", r->truncated);
	fsc_json_obj_end(j);
}

static void audit_run(const struct fsc_req *req, const struct fsc_keeper_run *r)
{
	char detail[200];

	snprintf(detail, sizeof(detail),
		 "bundles=%lld traces=%lld bytes=%lld blobs=%lld blob_bytes=%lld",
		 (long long)r->taken.bundles, (long long)r->taken.traces, (long long)r->taken.bytes,
		 (long long)r->taken.blobs, (long long)r->taken.blob_bytes);
	fsc_api_audit(req, "retention.run", "", detail);
}

/* What a dry run is to try: the body's limits, and the project's where it leaves some out. */
static enum fsc_status try_limits(struct fsc_req *req, struct fsc_arena *a,
				  struct fsc_keeper_run *run, struct fsc_err *err)
{
	struct fsc_app *app = fsc_api_app(req);
	struct fsc_retention limits;
	unsigned which;
	json_t *body = NULL;
	enum fsc_status st = fsc_api_body(req, &body, err);

	if (!st)
		st = fsc_store_retention_get(app->store, fsc_auth_project(req), &limits, err);
	if (!st)
		st = take_limits(body, &limits, &which, err);
	limits.project = fsc_auth_project(req);
	if (!st)
		st = fsc_keeper_try(app->keeper, a, &limits, run, err);
	json_decref(body);
	return st;
}

static enum fsc_status run_retention(struct fsc_req *req, struct fsc_arena *a, bool dry,
				     struct fsc_keeper_run *run, struct fsc_err *err)
{
	if (!req->body.len)
		return fsc_keeper_pass(fsc_api_app(req)->keeper, a, fsc_auth_project(req), dry, run,
				       err);
	if (!dry)
		return fsc_err_set(err, FSC_EINVAL, "bad_parameter",
				   "only a dry run (dry_run=1) tries limits; PUT /retention sets "
				   "them");
	return try_limits(req, a, run, err);
}

void fsc_api_retention_run(struct fsc_req *req, struct fsc_resp *resp)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_keeper_run run = { 0 };
	struct fsc_arena a;
	struct fsc_json j;
	int64_t dry = 0;
	enum fsc_status st;

	fsc_arena_init(&a, FSC_API_ARENA_MAX);
	st = fsc_req_i64(&dry, req, "dry_run", 0, 0, 1, &err);
	if (!st)
		st = run_retention(req, &a, dry != 0, &run, &err);
	/* One that failed may have deleted before. */
	if (!dry && (!st || run.taken.bundles || run.taken.blobs))
		audit_run(req, &run);
	if (st) {
		fsc_api_fail(req, resp, &err);
	} else {
		j = fsc_resp_json(resp, 200);
		emit_run(&j, &run, dry != 0);
	}
	fsc_arena_fini(&a);
}

/* ---- POST /retention/confirm-clock ---- */

void fsc_api_retention_confirm(struct fsc_req *req, struct fsc_resp *resp)
{
	struct fsc_app *app = fsc_api_app(req);
	struct fsc_err err = FSC_ERR_INIT;
	char was[32], now[32], detail[96];
	struct fsc_json j;
	int64_t was_ns = 0;

	if (!fsc_auth_operator(req)) {
		fsc_resp_error(resp, 403, "operator_only",
			       "the clock is that of all projects: this is for operators");
		return;
	}
	if (fsc_keeper_confirm_clock(app->keeper, &was_ns, &err)) {
		fsc_api_fail(req, resp, &err);
		return;
	}
	fsc_clock_iso8601(was, was_ns);
	fsc_clock_iso8601(now, fsc_store_now(app->store));
	snprintf(detail, sizeof(detail), "last believed %s, now %s", was, now);
	fsc_api_audit(req, "retention.confirm_clock", "", detail);
	j = fsc_resp_json(resp, 200);
	fsc_json_obj(&j);
	fsc_json_kstr(&j, "now", now);
	fsc_json_kstr(&j, "was", was);
	fsc_json_obj_end(&j);
}
