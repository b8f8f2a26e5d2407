/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An own Perfetto UI on a port of its own. Its page fetches the trace by `#!/?url=`, without cookie or token and,
 * by its own content policy, only from where it came: so the second listener serves the trace too, to whoever
 * shows a ticket that the first has signed.
 */
#include <stdio.h>
#include <string.h>

#include "api/deps.h"
#include "api/handlers.h"
#include "base/clock.h"
#include "http/folder.h"
#include "service/exporting.h"

#define FAR (INT64_MAX / 8)

/* "http://NAME:PORT", NAME as the browser reached us by. NULL: no Host that says. */
static const char *own_origin(struct fsc_req *req)
{
	const struct fsc_app *app = fsc_api_app(req);
	const char *host = fsc_req_header(req, "Host");
	size_t n;

	if (app->perfetto_url)
		return app->perfetto_url;
	if (!host)
		return NULL;
	n = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
	return fsc_arena_printf(&req->arena, "http://%.*s:%u", (int)n, host, app->perfetto_port);
}

struct link_range {
	int64_t t0, t1;	 /* of the export; t1 <= t0: all */
	int64_t ts, dur; /* slice to select; dur < 0: none */
};

static enum fsc_status read_range(const struct fsc_req *req, const struct fsc_api_trace *t,
				  struct link_range *r, struct fsc_err *err)
{
	enum fsc_status st = FSC_OK;

	*r = (struct link_range){ .dur = -1 };
	if (fsc_req_param(req, "t0") || fsc_req_param(req, "t1"))
		st = fsc_api_window(req, t, &r->t0, &r->t1, err);
	if (!st)
		st = fsc_req_i64(&r->ts, req, "ts", 0, -FAR, FAR, err);
	if (!st)
		st = fsc_req_i64(&r->dur, req, "dur", -1, 0, FAR, err);
	return st;
}

/* Times in the address are those of the export: ours and its base. */
static const char *viewer_link(struct fsc_req *req, const char *origin, const char *ticket,
			       const struct link_range *r, int64_t base)
{
	struct fsc_buf b;
	char *text;

	fsc_buf_init(&b, 2048);
	fsc_buf_addf(&b, "%s/#!/?url=%%2Ftrace%%2F%s%%2Ftrace.pftrace", origin, ticket);
	if (r->t1 > r->t0)
		fsc_buf_addf(&b, "&visStart=%lld&visEnd=%lld", (long long)(base + r->t0),
			     (long long)(base + r->t1));
	if (r->dur >= 0)
		fsc_buf_addf(&b, "&ts=%lld&dur=%lld", (long long)(base + r->ts), (long long)r->dur);
	text = fsc_buf_status(&b) ? NULL : fsc_arena_dup(&req->arena, b.data, b.len);
	fsc_buf_fini(&b);
	return text;
}

void fsc_api_perfetto_open(struct fsc_req *req, struct fsc_resp *resp)
{
	struct fsc_app *app = fsc_api_app(req);
	struct fsc_err err = FSC_ERR_INIT;
	const char *origin = app->perfetto_ui ? own_origin(req) : NULL, *link;
	char ticket[FSC_TICKET_TEXT];
	struct fsc_ticket what;
	struct fsc_api_trace t;
	struct link_range r;
	struct fsc_json j;

	if (!fsc_api_trace_open(&t, req, resp, true))
		return;
	if (!origin) {
		fsc_resp_error(resp, 404, "no_perfetto_ui",
			       "this server has no Perfetto UI of its own (see --perfetto-ui)");
		goto out;
	}
	resp->etag = NULL; /* each answer has a ticket of its own */
	resp->cache_control = NULL;
	if (read_range(req, &t, &r, &err)) {
		fsc_api_fail(req, resp, &err);
		goto out;
	}
	what = (struct fsc_ticket){ .project = t.row.project,
				    .trace = t.row.id,
				    .t0 = r.t0,
				    .t1 = r.t1,
				    .expires_s =
					    fsc_clock_real_ns() / 1000000000 + FSC_TICKET_SECONDS };
	fsc_auth_ticket(app->auth, &what, ticket);
	link = viewer_link(req, origin, ticket, &r, fsc_exporting_perfetto_base_ns(t.seg));
	if (!link) {
		fsc_resp_error(resp, 500, "link_too_long", "the address of the viewer is too long");
		goto out;
	}
	j = fsc_resp_json(resp, 303);
	fsc_resp_header(resp, "Location", link);
	fsc_json_obj(&j);
	fsc_json_kstr(&j, "url", link);
	fsc_api_time(&j, "expires_at", what.expires_s * 1000000000);
	fsc_json_obj_end(&j);
out:
	fsc_api_trace_close(&t);
}

/* ---- the second listener ---- */
static void ticket_trace(struct fsc_req *req, struct fsc_resp *resp)
{
	struct fsc_app *app = fsc_api_app(req);
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_exporting *e = NULL;
	struct fsc_seg *seg = NULL;
	struct fsc_trace_row row;
	struct fsc_ticket t;
	struct fsc_arena arena;
	enum fsc_status st;

	if (!fsc_auth_ticket_read(app->auth, fsc_req_path(req, "ticket"), &t)) {
		fsc_resp_error(resp, 403, "bad_ticket",
			       "this link is too old: open the trace from Fleetscope again");
		return;
	}
	fsc_arena_init(&arena, FSC_API_ARENA_MAX);
	st = fsc_store_trace_get(app->store, &arena, t.project, t.trace, &row, &err);
	if (!st)
		st = fsc_query_segment(app->query, &row, &seg, &err);
	if (!st)
		st = fsc_exporting_open(&e, "perfetto", seg, t.t0, t.t1, &err);
	if (st)
		fsc_api_fail(req, resp, &err);
	else
		fsc_api_send_export(resp, e, row.name);
	fsc_seg_unref(seg);
	fsc_arena_fini(&arena);
}

static void ui_file(struct fsc_req *req, struct fsc_resp *resp)
{
	/* Its page has a content policy of its own, which ours would break. */
	fsc_folder_serve(fsc_api_app(req)->perfetto_ui, req, resp, "");
}

/* Files that anyone may have, and traces that show a ticket. */
static bool admit(void *app, struct fsc_req *req, uint32_t perm, struct fsc_resp *resp)
{
	(void)app;
	(void)perm;
	(void)resp;
	req->who = (struct fsc_who){ .project = "", .label = "perfetto-ui", .kind = "ticket" };
	return true;
}

void fsc_api_configure_perfetto(struct fsc_app *app, struct fsc_http_config *cfg)
{
	static const struct fsc_route routes[] = {
		{ "GET", "/trace/{ticket}/{name}", ticket_trace, FSC_PERM_NONE, 0, 0 },
	};

	cfg->routes = routes;
	cfg->n_routes = FSC_ARRAY_LEN(routes);
	cfg->app = app;
	cfg->authorize = admit;
	cfg->fail = fsc_api_fail;
	cfg->fallback = ui_file;
}
