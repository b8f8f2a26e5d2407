/* SPDX-License-Identifier: Apache-2.0 */
/* Deleting by bundle, trace, job or capture, with a dry run; and what a deleted thing answers. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "api/deps.h"
#include "api/handlers.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/num.h"
#include "store/deletes.h"

struct deletion {
	struct fsc_req *req;
	struct fsc_delete_target target;
	bool dry_run;
	struct fsc_delete_plan plan;
	struct fsc_removed done;
};

/* ---- 410 ---- */

static const char *reason_text(enum fsc_delete_reason r)
{
	switch (r) {
	case FSC_DELETE_AGE:
		return "removed by retention, too old";
	case FSC_DELETE_BYTES:
		return "removed by retention, the project had too many bytes";
	case FSC_DELETE_REINDEX:
		return "not found any more when its bundle was indexed again";
	default:
		return "deleted";
	}
}

static char *gone_detail(struct fsc_req *req, const struct fsc_tombstone *t)
{
	struct fsc_buf b;
	struct fsc_json j;
	char *out;

	fsc_buf_init(&b, 64 * FSC_KIB);
	fsc_json_init(&j, &b);
	fsc_json_obj(&j);
	fsc_json_kstr(&j, "kind", t->is_bundle ? "bundle" : "trace");
	fsc_json_kid(&j, "id", (uint64_t)t->id);
	if (!t->is_bundle)
		fsc_json_kid(&j, "bundle", (uint64_t)t->bundle);
	fsc_json_kstr(&j, "name", t->name);
	fsc_api_time(&j, "deleted_at", t->deleted_at_ns);
	fsc_json_kstr(&j, "reason", fsc_delete_reason_name(t->reason));
	fsc_json_kstr(&j, "actor", t->actor);
	fsc_api_opt_str(&j, "detail", t->detail);
	fsc_json_obj_end(&j);
	out = fsc_buf_status(&b) ? NULL : fsc_arena_dup(&req->arena, b.data, b.len);
	fsc_buf_fini(&b);
	return out;
}

bool fsc_api_gone(struct fsc_req *req, struct fsc_resp *resp, bool is_bundle, int64_t id)
{
	struct fsc_tombstone t;
	char at[32], text[800];

	if (id <= 0 || fsc_store_tombstone_get(fsc_api_app(req)->store, &req->arena,
					       fsc_auth_project(req), is_bundle, id, &t, NULL))
		return false;
	fsc_clock_iso8601(at, t.deleted_at_ns);
	snprintf(text, sizeof(text), "the %s \"%.255s\" was %s: %s, by %s%s%.200s",
		 is_bundle ? "bundle" : "trace", t.name, reason_text(t.reason), at, t.actor,
		 t.detail[0] ? ", " : "", t.detail);
	fsc_resp_error_detail(resp, 410, "deleted", text, gone_detail(req, &t));
	return true;
}

/* ---- answers ---- */

static void emit_items(struct fsc_json *j, const struct fsc_delete_plan *p)
{
	fsc_json_key(j, "items");
	fsc_json_arr(j);
	for (size_t i = 0; i < p->n_items; i++) {
		const struct fsc_delete_item *it = &p->items[i];

		fsc_json_obj(j);
		fsc_json_kid(j, "bundle", (uint64_t)it->bundle);
		if (it->trace)
			fsc_json_kid(j, "trace", (uint64_t)it->trace);
		fsc_json_kstr(j, "name", it->name);
		fsc_json_kint(j, "bytes", it->bytes);
		fsc_json_kbool(j, "keep", it->keep);
		fsc_json_obj_end(j);
	}
	fsc_json_arr_end(j);
	fsc_json_kbool(j, "truncated", p->truncated);
}

/* Of a dry run what would go, else what went. */
static void emit_deletion(struct fsc_resp *resp, const struct deletion *d)
{
	const struct fsc_delete_plan *p = &d->plan;
	const struct fsc_removed *r = &d->done;
	struct fsc_json j = fsc_resp_json(resp, 200);

	fsc_json_obj(&j);
	fsc_json_kbool(&j, "dry_run", d->dry_run);
	fsc_json_kint(&j, "bundles", d->dry_run ? p->bundles : r->bundles);
	fsc_json_kint(&j, "traces", d->dry_run ? p->traces : r->traces);
	fsc_json_kint(&j, "kept_skipped", p->kept + r->kept);
	fsc_json_kint(&j, "blob_bytes", d->dry_run ? p->blob_bytes : r->blob_bytes);
	fsc_json_kint(&j, "segment_bytes", d->dry_run ? p->segment_bytes : r->segment_bytes);
	emit_items(&j, p);
	fsc_json_obj_end(&j);
}

static const char *kind_of(const struct fsc_delete_target *t)
{
	return t->bundle ? "bundle" : t->trace ? "trace" : t->job ? "job" : "capture";
}

static void audit(const struct deletion *d)
{
	const struct fsc_delete_target *t = &d->target;
	char action[32], subject[32], detail[160];
	const char *name = t->job ? t->job : t->capture;

	snprintf(action, sizeof(action), "%s.delete", kind_of(t));
	snprintf(subject, sizeof(subject), "%lld", (long long)(t->bundle ? t->bundle : t->trace));
	snprintf(detail, sizeof(detail),
		 "bundles=%lld traces=%lld kept_skipped=%lld blob_bytes=%lld segment_bytes=%lld",
		 (long long)d->done.bundles, (long long)d->done.traces,
		 (long long)(d->plan.kept + d->done.kept), (long long)d->done.blob_bytes,
		 (long long)d->done.segment_bytes);
	fsc_api_audit(d->req, action, name ? name : subject, detail);
}

/* ---- doing it ---- */

/* A single thing that is kept and was not asked for as such: nothing happens to it, and the answer says how. */
static enum fsc_status check_kept(const struct deletion *d, struct fsc_err *err)
{
	if (d->target.job || d->target.capture || !d->plan.kept)
		return FSC_OK;
	return fsc_err_set(err, FSC_EEXIST, "kept",
			   "%s: %lld trace(s) of it are kept; kept=delete deletes them too",
			   kind_of(&d->target), (long long)d->plan.kept);
}

static enum fsc_status remove_planned(struct deletion *d, struct fsc_err *err)
{
	const struct fsc_delete_target *t = &d->target;
	char detail[300] = "";
	struct fsc_delete_request del = { .project = t->project,
					  .bundle = t->bundle,
					  .trace = t->trace,
					  .reason = FSC_DELETE_USER,
					  .actor = d->req->who.label,
					  .detail = detail,
					  .kept = t->kept };
	struct fsc_ingest *in = fsc_api_app(d->req)->ingest;

	if (t->bundle || t->trace)
		return fsc_removal_one(in, &del, &d->done, err);
	snprintf(detail, sizeof(detail), "%s %s", kind_of(t), t->job ? t->job : t->capture);
	return fsc_removal_many(in, &del, d->plan.units, d->plan.n_units, &d->req->stop, &d->done,
				err);
}

static void fail(struct deletion *d, struct fsc_resp *resp, struct fsc_err *err)
{
	const struct fsc_delete_target *t = &d->target;
	bool bundle = t->bundle != 0;

	if (err->status == FSC_ENOTFOUND) {
		if (fsc_api_gone(d->req, resp, bundle, bundle ? t->bundle : t->trace))
			return;
		fsc_err_clear(err);
		fsc_err_set(err, FSC_ENOTFOUND, bundle ? "no_such_bundle" : "no_such_trace",
			    "there is no such %s", bundle ? "bundle" : "trace");
	}
	fsc_api_fail(d->req, resp, err);
}

static void run(struct deletion *d, struct fsc_resp *resp)
{
	struct fsc_app *app = fsc_api_app(d->req);
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_arena arena;
	enum fsc_status st;

	fsc_arena_init(&arena, 4 * FSC_API_ARENA_MAX);
	st = fsc_store_delete_plan(app->store, &arena, &d->target, &d->plan, &err);
	if (!st && !d->dry_run)
		st = check_kept(d, &err);
	if (!st && !d->dry_run) {
		st = remove_planned(d, &err);
		if (d->done.bundles || d->done.traces)
			audit(d);
	}
	if (st)
		fail(d, resp, &err);
	else
		emit_deletion(resp, d);
	fsc_arena_fini(&arena);
}

/* ---- DELETE /bundles/{id}, DELETE /traces/{id} ---- */

static enum fsc_status parse_kept(const char *kept, bool *out, struct fsc_err *err)
{
	*out = kept && !strcmp(kept, "delete");
	if (kept && *kept && !*out && strcmp(kept, "skip") != 0)
		return fsc_err_set(err, FSC_EINVAL, "bad_parameter",
				   "parameter kept is skip or delete");
	return FSC_OK;
}

static void delete_one(struct fsc_req *req, struct fsc_resp *resp, bool is_bundle)
{
	struct deletion d = { .req = req, .target.project = fsc_auth_project(req) };
	const char *dry = fsc_req_param(req, "dry_run");
	struct fsc_err err = FSC_ERR_INIT;
	uint64_t id = 0;
	enum fsc_status st = parse_kept(fsc_req_param(req, "kept"), &d.target.kept, &err);

	if (!st && dry && *dry && strcmp(dry, "1") != 0 && strcmp(dry, "0") != 0)
		st = fsc_err_set(&err, FSC_EINVAL, "bad_parameter", "parameter dry_run is 0 or 1");
	d.dry_run = dry && !strcmp(dry, "1");
	if (!st && (fsc_req_path_id(&id, req, "id", &err) || !id))
		st = fsc_err_set(&err, FSC_ENOTFOUND, "not_found", "no such thing");
	if (is_bundle)
		d.target.bundle = (int64_t)id;
	else
		d.target.trace = (int64_t)id;
	if (st)
		fail(&d, resp, &err);
	else
		run(&d, resp);
}

void fsc_api_bundle_delete(struct fsc_req *req, struct fsc_resp *resp)
{
	delete_one(req, resp, true);
}

void fsc_api_trace_delete(struct fsc_req *req, struct fsc_resp *resp)
{
	delete_one(req, resp, false);
}

/* ---- POST /deletions ---- */

static enum fsc_status bad(struct fsc_err *err, const char *what)
{
	return fsc_err_set(err, FSC_EINVAL, "bad_parameter", "body: %s", what);
}

static enum fsc_status parse_id(const json_t *v, int64_t *id, struct fsc_err *err)
{
	const char *s = json_string_value(v);
	uint64_t n = 0;

	if (v && (!s || !fsc_parse_u64(&n, s, strlen(s)) || !n || n > INT64_MAX))
		return bad(err, "an id is decimal text");
	*id = (int64_t)n;
	return FSC_OK;
}

static enum fsc_status parse_name(const json_t *v, const char **name, struct fsc_err *err)
{
	*name = json_string_value(v);
	if (v && (!*name || strlen(*name) > FSC_INGEST_META_MAX))
		return bad(err, "job and capture are text of at most 255 bytes, \"\" for unknown");
	return FSC_OK;
}

static enum fsc_status parse_body(const json_t *body, struct deletion *d, struct fsc_err *err)
{
	static const char *const keys[] = {
		"bundle", "trace", "job", "capture", "dry_run", "kept"
	};
	struct fsc_delete_target *t = &d->target;
	const json_t *dry = json_object_get(body, "dry_run"), *kept = json_object_get(body, "kept");
	size_t n_known = 0, n = 0;
	enum fsc_status st;

	for (size_t i = 0; i < FSC_ARRAY_LEN(keys); i++) {
		n_known += json_object_get(body, keys[i]) != NULL;
		n += i < 4 && json_object_get(body, keys[i]);
	}
	if (n_known != json_object_size(body))
		return bad(err, "only bundle, trace, job, capture, dry_run and kept are known");
	if (n != 1)
		return bad(err, "name one of bundle, trace, job and capture");
	if ((dry && !json_is_boolean(dry)) || (kept && !json_is_string(kept)))
		return bad(err, "dry_run is true or false, kept is \"skip\" or \"delete\"");
	d->dry_run = json_is_true(dry);
	st = parse_kept(json_string_value(kept), &t->kept, err);
	if (!st)
		st = parse_id(json_object_get(body, "bundle"), &t->bundle, err);
	if (!st)
		st = parse_id(json_object_get(body, "trace"), &t->trace, err);
	if (!st)
		st = parse_name(json_object_get(body, "job"), &t->job, err);
	if (!st)
		st = parse_name(json_object_get(body, "capture"), &t->capture, err);
	return st;
}

void fsc_api_deletion(struct fsc_req *req, struct fsc_resp *resp)
{
	struct deletion d = { .req = req, .target.project = fsc_auth_project(req) };
	struct fsc_err err = FSC_ERR_INIT;
	json_t *body = NULL;

	if (fsc_api_body(req, &body, &err) || parse_body(body, &d, &err))
		fsc_api_fail(req, resp, &err);
	else
		run(&d, resp); /* names stay borrowed from the body until then */
	json_decref(body);
}
