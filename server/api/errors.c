/* SPDX-License-Identifier: Apache-2.0 */
/* The one table from status and code to HTTP. First match wins; a row without code is for all others. */
#include <stdio.h>
#include <string.h>

#include "api/deps.h"
#include "base/log.h"

static const struct {
	enum fsc_status status;
	const char *code;
	int http;
	const char *retry_after;
} table[] = {
	{ FSC_EINVAL, NULL, 400, NULL },
	{ FSC_EPARSE, NULL, 400, NULL },
	{ FSC_ELIMIT, "login_limited", 429, "6" },
	{ FSC_ELIMIT, "rate_limited", 429, "1" }, /* of a login */
	{ FSC_ELIMIT, NULL, 413, NULL },
	{ FSC_ENOMEM, NULL, 503, "5" },
	{ FSC_EIO, NULL, 500, NULL },
	{ FSC_ENOTFOUND, "segment_missing", 409,
	  NULL }, /* the trace is there, its segment is not */
	{ FSC_ENOTFOUND, "blob_gone", 409, NULL },
	{ FSC_ENOTFOUND, NULL, 404, NULL },
	{ FSC_EEXIST, NULL, 409, NULL },		/* also "kept" */
	{ FSC_ECORRUPT, "digest_mismatch", 400, NULL }, /* of an upload */
	{ FSC_ECORRUPT, NULL, 500, NULL },		/* of our own files */
	{ FSC_EUNSUPPORTED, "upload_media_type", 415, NULL },
	{ FSC_EUNSUPPORTED, NULL, 409, NULL }, /* a segment of another version: re-index */
	{ FSC_EBUSY, "bundle_indexing", 409, NULL },
	{ FSC_EBUSY, "too_many_uploads", 429, "60" },
	{ FSC_EBUSY, "upload_busy", 503, "1" },
	{ FSC_EBUSY, "reindexing", 503, "5" },
	{ FSC_EBUSY, NULL, 503, "2" },
	{ FSC_EFULL, NULL, 507, "60" },
	{ FSC_EDENIED, "bad_token", 401, NULL },
	{ FSC_EDENIED, NULL, 403, NULL },
	{ FSC_ECANCELED, NULL, 503, "2" },
	{ FSC_EBUG, NULL, 500, NULL },
};

static const char *where(struct fsc_resp *resp, const struct fsc_err *err)
{
	struct fsc_buf b;
	struct fsc_json j;
	char *out;

	if (!err->file[0] && err->offset < 0)
		return NULL;
	fsc_buf_init(&b, 4096);
	fsc_json_init(&j, &b);
	fsc_json_obj(&j);
	if (err->file[0])
		fsc_json_kstr(&j, "file", err->file);
	if (err->offset >= 0)
		fsc_json_kint(&j, "offset", err->offset);
	fsc_json_obj_end(&j);
	out = fsc_arena_dup(&resp->req->arena, b.data, b.len);
	fsc_buf_fini(&b);
	return out;
}

void fsc_api_fail(struct fsc_req *req, struct fsc_resp *resp, const struct fsc_err *err)
{
	int http = 500;
	char msg[300];

	for (size_t i = 0; i < FSC_ARRAY_LEN(table); i++) {
		if (table[i].status != err->status ||
		    (table[i].code && strcmp(table[i].code, err->code) != 0))
			continue;
		http = table[i].http;
		if (table[i].retry_after)
			fsc_resp_header(resp, "Retry-After", table[i].retry_after);
		break;
	}
	if (http >= 500)
		fsc_log(FSC_LOG_ERROR, "api", "req=%s code=%s msg=%s", req->id, err->code,
			fsc_log_quote(msg, sizeof(msg), err->msg));
	fsc_resp_error_detail(resp, http, err->code[0] ? err->code : fsc_status_name(err->status),
			      err->msg, where(resp, err));
}
