/* SPDX-License-Identifier: Apache-2.0 */
/* Uploads and their state. The body of an upload goes piece by piece to service/ingest. */
#include <stdio.h>
#include <string.h>

#include "api/deps.h"
#include "api/handlers.h"
#include "base/clock.h"
#include "base/crypto.h"

/* ---- upload ---- */

enum fsc_status fsc_api_digest(const struct fsc_req *req, uint8_t sha256[32], bool *given,
			       struct fsc_err *err)
{
	const char *s = fsc_req_header(req, "Repr-Digest");
	size_t n, got = 0;

	*given = false;
	s = s ? strcasestr(s, "sha-256=:") : NULL;
	if (!s)
		return FSC_OK;
	s += strlen("sha-256=:");
	n = strcspn(s, ":");
	if (s[n] != ':' || n != 44 || !fsc_unbase64(sha256, 32, &got, s, n) || got != 32)
		return fsc_err_set(err, FSC_EINVAL, "bad_digest",
				   "Repr-Digest is not sha-256=:base64 of 32 bytes:");
	*given = true;
	return FSC_OK;
}

static enum fsc_status upload_write(void *ctx, const void *p, size_t n, struct fsc_err *err)
{
	return fsc_ingest_write(ctx, p, n, err);
}

static void upload_abort(void *ctx)
{
	fsc_ingest_abort(ctx);
}

enum fsc_status fsc_api_upload_meta(const struct fsc_req *req, struct fsc_upload_begin *b,
				    struct fsc_err *err)
{
	*b = (struct fsc_upload_begin)FSC_UPLOAD_BEGIN_INIT;
	b->project = fsc_auth_project(req);
	b->name = fsc_req_param(req, "name");
	b->job = fsc_req_param(req, "job");
	b->host = fsc_req_param(req, "host");
	b->capture = fsc_req_param(req, "capture");
	b->idempotency_key = fsc_req_header(req, "Idempotency-Key");
	return fsc_req_i64(&b->rank, req, "rank", -1, 0, 1000000, err);
}

enum fsc_status fsc_api_upload_open(void *arg, struct fsc_req *req, struct fsc_resp *resp,
				    struct fsc_body_sink *sink, struct fsc_err *err)
{
	struct fsc_app *app = arg;
	struct fsc_upload_begin b;
	struct fsc_upload *u = NULL;
	uint8_t sha256[32];
	bool given;
	enum fsc_status st = fsc_api_digest(req, sha256, &given, err);

	(void)resp;
	if (!st)
		st = fsc_api_upload_meta(req, &b, err);
	if (st)
		return st;
	b.bytes = req->content_length == UINT64_MAX ? -1 : (int64_t)req->content_length;
	b.sha256 = given ? sha256 : NULL;
	st = fsc_ingest_begin(&u, app->ingest, &b, err);
	if (!st)
		*sink = (struct fsc_body_sink){ u, upload_write, upload_abort };
	return st;
}

static void emit_ignored(struct fsc_json *j, unsigned ignored)
{
	static const struct {
		unsigned bit;
		const char *name;
	} all[] = { { FSC_META_NAME, "name" },
		    { FSC_META_JOB, "job" },
		    { FSC_META_HOST, "host" },
		    { FSC_META_RANK, "rank" },
		    { FSC_META_CAPTURE, "capture" } };

	if (!ignored)
		return;
	fsc_json_key(j, "ignored");
	fsc_json_arr(j);
	for (size_t i = 0; i < FSC_ARRAY_LEN(all); i++)
		if (ignored & all[i].bit)
			fsc_json_str(j, all[i].name);
	fsc_json_arr_end(j);
}

void fsc_api_upload_answer(struct fsc_resp *resp, const struct fsc_upload_done *done)
{
	struct fsc_json j;
	char hex[FSC_SHA256_HEX], where[64];

	fsc_hex(hex, done->sha256, sizeof(done->sha256));
	snprintf(where, sizeof(where), "/api/v1/bundles/%lld", (long long)done->id);
	fsc_resp_header(resp, "Location", where);
	j = fsc_resp_json(resp, 202);
	fsc_json_obj(&j);
	fsc_json_kid(&j, "id", (uint64_t)done->id);
	fsc_json_kstr(&j, "sha256", hex);
	fsc_json_kint(&j, "bytes", done->bytes);
	fsc_json_kstr(&j, "state", fsc_bundle_state_name(done->state));
	fsc_json_kbool(&j, "duplicate", done->duplicate);
	emit_ignored(&j, done->ignored);
	fsc_json_obj_end(&j);
}

void fsc_api_bundle_upload(struct fsc_req *req, struct fsc_resp *resp)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_upload *u = req->sink.ctx;
	struct fsc_upload_done done;

	memset(&req->sink, 0, sizeof(req->sink)); /* finish takes it */
	if (fsc_ingest_finish(u, &done, &err))
		fsc_api_fail(req, resp, &err);
	else
		fsc_api_upload_answer(resp, &done);
}

/* ---- state ---- */

static void emit_progress(struct fsc_json *j, const struct fsc_bundle *b)
{
	const struct fsc_api_progress p = {
		.started_at_ns = b->started_at_ns,
		.until_ns = b->finished_at_ns ? b->finished_at_ns : fsc_clock_real_ns(),
		.done = b->done,
		.total = b->total,
		.events = b->events,
		.member = b->member,
	};

	fsc_api_opt_str(j, "stage", b->stage);
	fsc_api_progress(j, &p);
}

/* Members of a bundle that lists and the single answer share. */
static void emit_bundle(struct fsc_json *j, const struct fsc_bundle *b)
{
	const struct fsc_api_error_fields e = { b->err_code, b->err_message, b->err_file,
						b->err_offset };

	fsc_json_kid(j, "id", (uint64_t)b->id);
	fsc_json_kstr(j, "sha256", b->sha256_hex);
	fsc_json_kstr(j, "name", b->name ? b->name : "");
	fsc_json_kstr(j, "state", fsc_bundle_state_name(b->state));
	emit_progress(j, b);
	fsc_json_kint(j, "bytes", b->bytes);
	fsc_api_time(j, "received_at", b->received_at_ns);
	fsc_api_time(j, "finished_at", b->finished_at_ns);
	fsc_api_time(j, "blob_deleted_at", b->blob_deleted_at_ns);
	fsc_json_kint(j, "tries", b->tries);
	fsc_api_null_str(j, "job", b->job);
	fsc_api_null_str(j, "host", b->host);
	fsc_api_null_str(j, "capture", b->capture);
	fsc_api_null_int(j, "rank", b->rank);
	fsc_json_kint(j, "n_traces", b->n_traces);
	fsc_json_kint(j, "n_failures", b->n_failures);
	if (b->deleted_traces)
		fsc_json_kint(j, "deleted_traces", b->deleted_traces);
	fsc_api_error_obj(j, &e);
}

static void emit_failures(struct fsc_json *j, const struct fsc_failures *f)
{
	fsc_json_key(j, "failures");
	fsc_json_arr(j);
	for (size_t i = 0; i < f->n_items; i++) {
		fsc_json_obj(j);
		fsc_json_kstr(j, "file", f->items[i].file);
		fsc_json_kstr(j, "outcome", f->items[i].outcome);
		fsc_json_kstr(j, "code", f->items[i].code);
		fsc_json_kstr(j, "message", f->items[i].message);
		fsc_api_null_int(j, "offset", f->items[i].offset);
		fsc_json_obj_end(j);
	}
	fsc_json_arr_end(j);
}

static void emit_trace_refs(struct fsc_json *j, const struct fsc_trace_refs *t)
{
	fsc_json_key(j, "traces");
	fsc_json_arr(j);
	for (size_t i = 0; i < t->n_items; i++) {
		fsc_json_obj(j);
		fsc_json_kid(j, "id", (uint64_t)t->items[i].id);
		fsc_json_kstr(j, "name", t->items[i].name);
		fsc_json_kstr(j, "member", t->items[i].member);
		fsc_json_kstr(j, "format", t->items[i].format);
		fsc_api_null_int(j, "rank", t->items[i].rank);
		fsc_json_kstr(j, "state", "ready");
		fsc_json_obj_end(j);
	}
	fsc_json_arr_end(j);
}

/* Another project's bundle is told apart from none by nobody. */
static void fail_bundle(struct fsc_req *req, struct fsc_resp *resp, int64_t id, struct fsc_err *err)
{
	if (err->status == FSC_ENOTFOUND && fsc_api_gone(req, resp, true, id))
		return;
	if (err->status == FSC_ENOTFOUND && strcmp(err->code, "blob_gone") != 0) {
		fsc_err_clear(err);
		fsc_err_set(err, FSC_ENOTFOUND, "no_such_bundle", "there is no such bundle");
	}
	fsc_api_fail(req, resp, err);
}

static enum fsc_status bundle_id(const struct fsc_req *req, int64_t *id, struct fsc_err *err)
{
	uint64_t v = 0;
	enum fsc_status st = fsc_req_path_id(&v, req, "id", err);

	*id = (int64_t)v;
	return st;
}

void fsc_api_bundle_get(struct fsc_req *req, struct fsc_resp *resp)
{
	struct fsc_store *store = fsc_api_app(req)->store;
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_arena arena;
	struct fsc_bundle b;
	struct fsc_failures failures;
	struct fsc_loss_rows losses;
	struct fsc_trace_refs traces;
	struct fsc_json j;
	int64_t id;

	fsc_arena_init(&arena, FSC_API_ARENA_MAX);
	if (bundle_id(req, &id, &err) ||
	    fsc_store_bundle_get(store, &arena, fsc_auth_project(req), id, &b, &err) ||
	    fsc_store_bundle_failures(store, &arena, id, &failures, &err) ||
	    fsc_store_bundle_losses(store, &arena, id, &losses, &err) ||
	    fsc_store_bundle_traces(store, &arena, id, &traces, &err)) {
		fail_bundle(req, resp, id, &err);
		goto out;
	}
	j = fsc_resp_json(resp, 200);
	fsc_json_obj(&j);
	emit_bundle(&j, &b);
	emit_failures(&j, &failures);
	fsc_api_losses(&j, &losses);
	emit_trace_refs(&j, &traces);
	fsc_json_obj_end(&j);
out:
	fsc_arena_fini(&arena);
}

void fsc_api_bundle_list(struct fsc_req *req, struct fsc_resp *resp)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_bundle_query q = { .project = fsc_auth_project(req) };
	struct fsc_bundle_page page;
	struct fsc_arena arena;
	struct fsc_json j;
	int64_t limit;

	fsc_arena_init(&arena, FSC_API_ARENA_MAX);
	q.state = fsc_req_param(req, "state");
	q.cursor = fsc_req_param(req, "cursor");
	if (fsc_req_i64(&limit, req, "limit", 50, 1, FSC_STORE_PAGE_MAX, &err))
		goto fail;
	q.limit = (uint32_t)limit;
	if (fsc_store_bundle_list(fsc_api_app(req)->store, &arena, &q, &page, &err))
		goto fail;
	j = fsc_resp_json(resp, 200);
	fsc_json_obj(&j);
	fsc_json_key(&j, "items");
	fsc_json_arr(&j);
	for (size_t i = 0; i < page.n_items; i++) {
		fsc_json_obj(&j);
		emit_bundle(&j, &page.items[i]);
		fsc_json_obj_end(&j);
	}
	fsc_json_arr_end(&j);
	fsc_json_kstr(&j, "next", page.next);
	fsc_json_kint(&j, "total", page.total);
	fsc_json_obj_end(&j);
	fsc_arena_fini(&arena);
	return;
fail:
	fsc_api_fail(req, resp, &err);
	fsc_arena_fini(&arena);
}

static void audit_bundle(const struct fsc_req *req, const char *action, int64_t id)
{
	char subject[32];

	snprintf(subject, sizeof(subject), "%lld", (long long)id);
	fsc_api_audit(req, action, subject, "");
}

void fsc_api_bundle_reindex(struct fsc_req *req, struct fsc_resp *resp)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_json j;
	int64_t id;

	if (bundle_id(req, &id, &err) ||
	    fsc_ingest_reindex(fsc_api_app(req)->ingest, fsc_auth_project(req), id, &err)) {
		fail_bundle(req, resp, id, &err);
		return;
	}
	audit_bundle(req, "bundle.reindex", id);
	j = fsc_resp_json(resp, 202);
	fsc_json_obj(&j);
	fsc_json_kid(&j, "id", (uint64_t)id);
	fsc_json_kstr(&j, "state", "queued");
	fsc_json_obj_end(&j);
}
