/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of the handlers: the trace of the path, windows, track lists, small pieces of JSON. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "api/deps.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/num.h"

/* Once more when the file is gone: the bundle was indexed again between the row and the file. */
static enum fsc_status open_segment(struct fsc_api_trace *t, struct fsc_app *app,
				    struct fsc_err *err)
{
	enum fsc_status st = fsc_query_segment(app->query, &t->row, &t->seg, err);
	int64_t segment = t->row.segment;

	if ((st != FSC_ENOTFOUND && st != FSC_EUNSUPPORTED) ||
	    fsc_store_trace_get(app->store, &t->arena, t->row.project, t->row.id, &t->row, NULL) ||
	    t->row.segment == segment)
		return st;
	fsc_err_clear(err);
	return fsc_query_segment(app->query, &t->row, &t->seg, err);
}

/* A segment that this program cannot read is made again; whoever asked is told how far that is. */
static void fail_segment(struct fsc_api_trace *t, struct fsc_app *app, struct fsc_err *err)
{
	struct fsc_reindex_progress p = { 0 };
	const char *detail = NULL;

	if (err->status != FSC_EUNSUPPORTED)
		goto out;
	fsc_err_clear(err);
	if (fsc_reindex_want(app->reindex, &t->row, &p, err) == FSC_EBUSY &&
	    !strcmp(err->code, "reindexing"))
		detail = fsc_arena_printf(
			&t->req->arena,
			"{\"bundle\":\"%lld\",\"state\":\"%s\",\"done\":%lld,\"total\":%lld}",
			(long long)t->row.bundle, fsc_bundle_state_name(p.state), (long long)p.done,
			(long long)p.total);
	if (detail) {
		fsc_resp_header(t->resp, "Retry-After", "5");
		fsc_resp_error_detail(t->resp, 503, err->code, err->msg, detail);
		return;
	}
out:
	fsc_api_fail(t->req, t->resp, err);
}

bool fsc_api_trace_find(struct fsc_api_trace *t, struct fsc_req *req, struct fsc_resp *resp)
{
	struct fsc_app *app = fsc_api_app(req);
	struct fsc_err err = FSC_ERR_INIT;
	uint64_t id = 0;
	enum fsc_status st;

	memset(t, 0, sizeof(*t));
	t->req = req;
	t->resp = resp;
	fsc_arena_init(&t->arena, FSC_API_ARENA_MAX);
	st = fsc_req_path_id(&id, req, "id", &err);
	if (!st)
		st = fsc_store_trace_get(app->store, &t->arena, fsc_auth_project(req), (int64_t)id,
					 &t->row, &err);
	if (!st)
		return true;
	if (st == FSC_ENOTFOUND && !fsc_api_gone(req, resp, false, (int64_t)id)) {
		fsc_err_clear(&err);
		fsc_err_set(&err, st, "no_such_trace", "there is no such trace");
	}
	if (!resp->error_code[0])
		fsc_api_fail(req, resp, &err);
	fsc_arena_fini(&t->arena);
	return false;
}

bool fsc_api_trace_open(struct fsc_api_trace *t, struct fsc_req *req, struct fsc_resp *resp,
			bool with_segment)
{
	struct fsc_app *app = fsc_api_app(req);
	struct fsc_err err = FSC_ERR_INIT;
	int64_t key[2];
	enum fsc_status st = FSC_OK;

	if (!fsc_api_trace_find(t, req, resp))
		return false;
	key[0] = t->row.id;
	key[1] = t->row.indexed_at_ns;
	if (fsc_resp_not_modified(resp, key, sizeof(key)))
		goto failed;
	if (with_segment)
		st = open_segment(t, app, &err);
	if (!st && t->seg)
		st = fsc_seg_view(&t->seg, t->seg, &req->stop, &err);
	if (!st) {
		t->info = t->seg ? fsc_seg_info(t->seg) : NULL;
		return true;
	}
	/* deleted between the row and the file? */
	if (st != FSC_ENOTFOUND || !fsc_api_gone(req, resp, false, key[0]))
		fail_segment(t, app, &err);
failed:
	fsc_arena_fini(&t->arena);
	return false;
}

void fsc_api_trace_close(struct fsc_api_trace *t)
{
	/* Calls without an error give what they have when they are stopped: that is no answer. */
	if (t->seg && atomic_load(&t->req->stop) && !t->resp->error_code[0])
		fsc_resp_error(t->resp, 503, "query_stopped", "the query took too long");
	fsc_seg_unref(t->seg);
	fsc_arena_fini(&t->arena);
}

enum fsc_status fsc_api_window(const struct fsc_req *req, const struct fsc_api_trace *t,
			       int64_t *t0, int64_t *t1, struct fsc_err *err)
{
	const int64_t far = INT64_MAX / 8;
	int64_t end = t->info->t_max_ns < far ? t->info->t_max_ns + 1 : far;
	enum fsc_status st = fsc_req_i64(t0, req, "t0", t->info->t_min_ns, -far, far, err);

	if (!st)
		st = fsc_req_i64(t1, req, "t1", end > *t0 ? end : *t0 + 1, -far, far, err);
	if (!st && *t1 <= *t0)
		st = fsc_err_set(err, FSC_EINVAL, "bad_window", "t1 must be greater than t0");
	return st;
}

static enum fsc_status bad_tracks(struct fsc_err *err, uint32_t max)
{
	return fsc_err_set(err, FSC_EINVAL, "bad_tracks",
			   "tracks is a list of 1 to %u track ids of the trace, each once", max);
}

/* Marks the track; false when it was marked before: a track named twice would be walked and summed twice. */
static bool first_time(uint8_t *seen, uint64_t id)
{
	uint8_t bit = (uint8_t)(1u << (id & 7));

	if (seen[id / 8] & bit)
		return false;
	seen[id / 8] |= bit;
	return true;
}

enum fsc_status fsc_api_track_list(const struct fsc_req *req, struct fsc_api_trace *t,
				   bool required, uint32_t max, uint32_t **out, uint32_t *n,
				   struct fsc_err *err)
{
	const char *s = fsc_req_param(req, "tracks");
	bool all = (!s || !*s) && !required;
	uint32_t cap = all || max > t->info->n_tracks ? t->info->n_tracks : max;
	uint8_t *seen;

	*n = 0;
	if (!all && (!s || !*s))
		return bad_tracks(err, max);
	*out = fsc_arena_alloc(&t->arena, (size_t)cap + 1, sizeof(**out));
	seen = fsc_arena_alloc(&t->arena, t->info->n_tracks / 8 + 1, 1);
	if (!*out || !seen)
		return fsc_err_set(err, FSC_ENOMEM, NULL, "list of tracks");
	for (; all && *n < cap; (*n)++)
		(*out)[*n] = *n;
	while (s && *s) {
		size_t len = strcspn(s, ",");
		uint64_t id;

		if (*n == cap || !fsc_parse_u64(&id, s, len) || id >= t->info->n_tracks ||
		    !first_time(seen, id))
			return bad_tracks(err, max);
		(*out)[(*n)++] = (uint32_t)id;
		s += len + (s[len] == ',');
	}
	return FSC_OK;
}

void fsc_api_opt_str(struct fsc_json *j, const char *key, const char *s)
{
	if (s && *s)
		fsc_json_kstr(j, key, s);
}

void fsc_api_opt_int(struct fsc_json *j, const char *key, int64_t v)
{
	if (v >= 0)
		fsc_json_kint(j, key, v);
}

void fsc_api_null_str(struct fsc_json *j, const char *key, const char *s)
{
	fsc_json_kstr(j, key, s && *s ? s : NULL);
}

void fsc_api_null_int(struct fsc_json *j, const char *key, int64_t v)
{
	fsc_json_key(j, key);
	if (v < 0)
		fsc_json_null(j);
	else
		fsc_json_int(j, v);
}

void fsc_api_time(struct fsc_json *j, const char *key, int64_t real_ns)
{
	char text[32];

	if (!real_ns)
		return;
	fsc_clock_iso8601(text, real_ns);
	fsc_json_kstr(j, key, text);
}

void fsc_api_scopes(struct fsc_json *j, uint32_t perms)
{
	const char *name;
	uint32_t bit;

	fsc_json_key(j, "scopes");
	fsc_json_arr(j);
	for (size_t i = 0; (name = fsc_token_scope_name(i, &bit)); i++)
		if (perms & bit)
			fsc_json_str(j, name);
	fsc_json_arr_end(j);
}

void fsc_api_losses(struct fsc_json *j, const struct fsc_loss_rows *rows)
{
	fsc_json_key(j, "losses");
	fsc_json_arr(j);
	for (size_t i = 0; i < rows->n_items; i++) {
		fsc_json_obj(j);
		fsc_json_kstr(j, "code", rows->items[i].code);
		fsc_json_kint(j, "count", rows->items[i].count);
		if (rows->items[i].first_offset >= 0)
			fsc_json_kint(j, "first_offset", rows->items[i].first_offset);
		fsc_json_obj_end(j);
	}
	fsc_json_arr_end(j);
}

void fsc_api_progress(struct fsc_json *j, const struct fsc_api_progress *p)
{
	if (!p->started_at_ns)
		return;
	fsc_json_key(j, "progress");
	fsc_json_obj(j);
	fsc_json_kint(j, "done", p->done);
	fsc_json_kint(j, "total", p->total);
	fsc_json_kstr(j, "member", p->member ? p->member : "");
	fsc_json_kint(j, "events", p->events);
	fsc_json_kint(j, "elapsed_ms",
		      p->until_ns > p->started_at_ns ? (p->until_ns - p->started_at_ns) / 1000000
						     : 0);
	fsc_json_obj_end(j);
}

void fsc_api_error_obj(struct fsc_json *j, const struct fsc_api_error_fields *e)
{
	if (!e->code || !*e->code)
		return;
	fsc_json_key(j, "error");
	fsc_json_obj(j);
	fsc_json_kstr(j, "code", e->code);
	fsc_json_kstr(j, "message", e->message ? e->message : "");
	fsc_api_opt_str(j, "file", e->file);
	fsc_api_opt_int(j, "offset", e->offset);
	fsc_json_obj_end(j);
}

enum fsc_status fsc_api_body(const struct fsc_req *req, struct json_t **out, struct fsc_err *err)
{
	json_error_t why;

	*out = NULL;
	if (req->body.len > FSC_MAX_CONTROL_JSON)
		return fsc_err_set(err, FSC_ELIMIT, "body_too_large", "the body is too large");
	*out = json_loadb(req->body.data ? req->body.data : "", req->body.len,
			  JSON_REJECT_DUPLICATES, &why);
	if (!*out) {
		fsc_err_set(err, FSC_EINVAL, "bad_json", "body: %s", why.text);
		fsc_err_at(err, NULL, why.position);
		return FSC_EINVAL;
	}
	if (!json_is_object(*out)) {
		json_decref(*out);
		*out = NULL;
		return fsc_err_set(err, FSC_EINVAL, "bad_json", "the body must be a JSON object");
	}
	return FSC_OK;
}

void fsc_api_audit(const struct fsc_req *req, const char *action, const char *subject,
		   const char *detail)
{
	struct fsc_err err = FSC_ERR_INIT;
	const struct fsc_audit row = {
		.project = fsc_auth_project(req),
		.actor = req->who.label,
		.action = action,
		.subject = subject,
		.detail = detail,
		.remote = req->who.remote ? req->who.remote : req->peer,
	};

	if (fsc_store_audit_put(fsc_api_app(req)->store, &row, &err))
		fsc_log(FSC_LOG_ERROR, "api", "msg=\"audit row not written\" action=%s code=%s",
			action, err.code);
}
