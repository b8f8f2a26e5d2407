/* SPDX-License-Identifier: Apache-2.0 */
/* Exports, streamed from the segment while they are made. */
#include <stdio.h>
#include <string.h>

#include "api/deps.h"
#include "api/handlers.h"
#include "service/exporting.h"

static enum fsc_status push(void *ctx, const void *p, size_t n)
{
	return fsc_stream_write(ctx, p, n);
}

static enum fsc_status produce(void *ctx, struct fsc_stream *s, struct fsc_err *err)
{
	return fsc_exporting_run(ctx, push, s, err);
}

static void free_export(void *ctx)
{
	fsc_exporting_free(ctx);
}

/* Names come from files: only a plain part of one goes into the header. */
static void disposition(struct fsc_resp *resp, const char *name, const char *suffix)
{
	char safe[128], text[256];
	size_t n = 0;

	for (; *name && n < sizeof(safe) - 1; name++) {
		bool plain = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
			     (*name >= '0' && *name <= '9') || strchr("-_.", *name);

		safe[n++] = plain ? *name : '_';
	}
	safe[n] = '\0';
	snprintf(text, sizeof(text), "attachment; filename=\"%s%s\"", n ? safe : "trace", suffix);
	fsc_resp_header(resp, "Content-Disposition", text);
}

void fsc_api_send_export(struct fsc_resp *resp, struct fsc_exporting *e, const char *name)
{
	disposition(resp, name, fsc_exporting_suffix(e));
	fsc_resp_stream(resp, fsc_exporting_mime(e), produce, e, free_export);
}

void fsc_api_export(struct fsc_req *req, struct fsc_resp *resp)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_exporting *e = NULL;
	struct fsc_api_trace t;
	char base[24];
	int64_t t0 = 0, t1 = 0;

	if (!fsc_api_trace_open(&t, req, resp, true))
		return;
	if ((fsc_req_param(req, "t0") || fsc_req_param(req, "t1")) &&
	    fsc_api_window(req, &t, &t0, &t1, &err))
		goto fail;
	if (fsc_exporting_open(&e, fsc_req_path(req, "format"), t.seg, t0, t1, &err))
		goto fail;
	snprintf(base, sizeof(base), "%lld", (long long)fsc_exporting_perfetto_base_ns(t.seg));
	fsc_resp_header(resp, "X-Fleetscope-Base-Ns", base);
	fsc_api_send_export(resp, e, t.row.name);
	fsc_api_trace_close(&t);
	return;
fail:
	fsc_api_fail(req, resp, &err);
	fsc_api_trace_close(&t);
}
