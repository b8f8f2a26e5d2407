/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resumable uploads (draft-ietf-httpbis-resumable-upload, without interim responses): POST begins one, PATCH
 * brings bytes, HEAD tells the offset, DELETE cancels. The bytes go piece by piece to service/uploads.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "api/deps.h"
#include "api/handlers.h"
#include "base/num.h"

/* ---- what a request says ---- */

/* An item of structured fields (RFC 9651): an integer that is not negative. -1 when the header is absent. */
static enum fsc_status get_count(int64_t *out, const struct fsc_req *req, const char *name,
				 struct fsc_err *err)
{
	const char *s = fsc_req_header(req, name);
	size_t n = s ? strlen(s) : 0;

	*out = -1;
	if (!s)
		return FSC_OK;
	if (!n || n > 15 || strspn(s, "0123456789") != n || !fsc_parse_i64(out, s, n))
		return fsc_err_set(err, FSC_EINVAL, "bad_header", "%s must be a number of bytes",
				   name);
	return FSC_OK;
}

static enum fsc_status get_complete(bool *out, const struct fsc_req *req, struct fsc_err *err)
{
	const char *s = fsc_req_header(req, "Upload-Complete");

	if (!s || (strcmp(s, "?0") != 0 && strcmp(s, "?1") != 0))
		return fsc_err_set(
			err, FSC_EINVAL, "bad_header",
			"Upload-Complete must say ?1 (the upload ends with this request) or ?0");
	*out = s[1] == '1';
	return FSC_OK;
}

static enum fsc_status upload_id(int64_t *id, const struct fsc_req *req, struct fsc_err *err)
{
	uint64_t v = 0;
	enum fsc_status st = fsc_req_path_id(&v, req, "id", NULL);

	*id = (int64_t)v;
	return st ? fsc_err_set(err, FSC_ENOTFOUND, "no_such_upload", "there is no such upload")
		  : FSC_OK;
}

/* What only a request to an upload that goes on has. */
static enum fsc_status read_piece(struct fsc_piece_begin *b, const struct fsc_req *req,
				  struct fsc_err *err)
{
	const char *type = fsc_req_header(req, "Content-Type");
	enum fsc_status st = upload_id(&b->id, req, err);

	if (!st && (!type || strcasecmp(type, "application/partial-upload") != 0))
		st = fsc_err_set(err, FSC_EUNSUPPORTED, "upload_media_type",
				 "the Content-Type of a piece is application/partial-upload");
	if (!st)
		st = get_count(&b->offset, req, "Upload-Offset", err);
	if (!st && b->offset < 0)
		st = fsc_err_set(err, FSC_EINVAL, "bad_header", "Upload-Offset is missing");
	return st;
}

static void put_count(struct fsc_resp *resp, const char *name, int64_t n)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", (long long)n);
	fsc_resp_header(resp, name, text);
}

static void put_state(struct fsc_resp *resp, const struct fsc_uploads *u,
		      const struct fsc_upload_state *s)
{
	char limit[96];

	put_count(resp, "Upload-Offset", s->offset);
	fsc_resp_header(resp, "Upload-Complete", s->complete ? "?1" : "?0");
	if (s->length >= 0)
		put_count(resp, "Upload-Length", s->length);
	snprintf(limit, sizeof(limit), "max-size=%llu, max-age=%lld",
		 (unsigned long long)fsc_uploads_max_bytes(u), (long long)s->expires_in_s);
	fsc_resp_header(resp, "Upload-Limit", limit);
}

/* ---- body ---- */

static enum fsc_status piece_write(void *ctx, const void *p, size_t n, struct fsc_err *err)
{
	return fsc_piece_write(ctx, p, n, err);
}

static void piece_abort(void *ctx)
{
	fsc_piece_abort(ctx);
}

enum fsc_status fsc_api_piece_open(void *arg, struct fsc_req *req, struct fsc_resp *resp,
				   struct fsc_body_sink *sink, struct fsc_err *err)
{
	struct fsc_app *app = arg;
	struct fsc_piece_begin b = FSC_PIECE_BEGIN_INIT;
	struct fsc_upload_state state = { .length = -1, .offset = -1 };
	struct fsc_piece *p = NULL;
	uint8_t sha256[32];
	bool given = false;
	enum fsc_status st = get_complete(&b.complete, req, err);

	if (!st)
		st = get_count(&b.length, req, "Upload-Length", err);
	if (!st)
		st = fsc_api_digest(req, sha256, &given, err);
	if (!st)
		st = fsc_req_path(req, "id") ? read_piece(&b, req, err)
					     : fsc_api_upload_meta(req, &b.meta, err);
	if (st)
		return st;
	b.project = fsc_auth_project(req);
	b.bytes = req->content_length == UINT64_MAX ? -1 : (int64_t)req->content_length;
	b.sha256 = given ? sha256 : NULL;
	b.actor = req->who.label;
	st = fsc_piece_begin(&p, app->uploads, &b, &state, err);
	if (!st)
		*sink = (struct fsc_body_sink){ p, piece_write, piece_abort };
	else if (state.offset >= 0)
		put_state(resp, app->uploads, &state);
	return st;
}

static void answer_piece(struct fsc_req *req, struct fsc_resp *resp, int status)
{
	struct fsc_app *app = fsc_api_app(req);
	struct fsc_piece *p = req->sink.ctx;
	struct fsc_piece_done done;
	struct fsc_err err = FSC_ERR_INIT;
	char where[64];

	memset(&req->sink, 0, sizeof(req->sink)); /* end takes it */
	if (fsc_piece_end(p, &done, &err)) {
		fsc_api_fail(req, resp, &err);
		return;
	}
	put_state(resp, app->uploads, &done.state);
	if (done.state.complete) {
		fsc_api_upload_answer(resp, &done.bundle);
		return;
	}
	snprintf(where, sizeof(where), "/api/v1/uploads/%lld", (long long)done.state.id);
	fsc_resp_header(resp, "Location", where);
	resp->status = status;
}

/* ---- calls ---- */

void fsc_api_upload_begin(struct fsc_req *req, struct fsc_resp *resp)
{
	answer_piece(req, resp, 201);
}

void fsc_api_upload_piece(struct fsc_req *req, struct fsc_resp *resp)
{
	answer_piece(req, resp, 204);
}

void fsc_api_upload_state(struct fsc_req *req, struct fsc_resp *resp)
{
	struct fsc_app *app = fsc_api_app(req);
	struct fsc_upload_state state;
	struct fsc_err err = FSC_ERR_INIT;
	int64_t id;

	if (upload_id(&id, req, &err) ||
	    fsc_uploads_state(app->uploads, fsc_auth_project(req), id, &state, &err)) {
		fsc_api_fail(req, resp, &err);
		return;
	}
	put_state(resp, app->uploads, &state);
	resp->status = 204;
}

void fsc_api_upload_cancel(struct fsc_req *req, struct fsc_resp *resp)
{
	struct fsc_err err = FSC_ERR_INIT;
	int64_t id;

	if (upload_id(&id, req, &err) ||
	    fsc_uploads_cancel(fsc_api_app(req)->uploads, fsc_auth_project(req), id, &err)) {
		fsc_api_fail(req, resp, &err);
		return;
	}
	resp->status = 204;
}
