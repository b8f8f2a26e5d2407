/* SPDX-License-Identifier: Apache-2.0 */
/* The audit rows of the project. */
#include <string.h>

#include "api/deps.h"
#include "api/handlers.h"

#define ACTION_MAX 64

static void emit_row(struct fsc_json *j, const struct fsc_audit *a)
{
	fsc_json_obj(j);
	fsc_json_kid(j, "id", (uint64_t)a->id);
	fsc_api_time(j, "at", a->at_ns);
	fsc_json_kstr(j, "actor", a->actor);
	fsc_json_kstr(j, "action", a->action);
	fsc_json_kstr(j, "subject", a->subject);
	fsc_json_kstr(j, "detail", a->detail);
	fsc_json_kstr(j, "remote", a->remote);
	fsc_json_obj_end(j);
}

static enum fsc_status read_query(const struct fsc_req *req, struct fsc_audit_query *q,
				  struct fsc_err *err)
{
	int64_t limit;
	enum fsc_status st = fsc_req_i64(&limit, req, "limit", 50, 1, FSC_STORE_PAGE_MAX, err);

	if (st)
		return st;
	q->project = fsc_auth_project(req);
	q->action = fsc_req_param(req, "action");
	q->cursor = fsc_req_param(req, "cursor");
	q->limit = (uint32_t)limit;
	if (q->action && strnlen(q->action, ACTION_MAX + 1) > ACTION_MAX)
		return fsc_err_set(err, FSC_EINVAL, "bad_action", "action has at most %d bytes",
				   ACTION_MAX);
	return FSC_OK;
}

void fsc_api_audit_list(struct fsc_req *req, struct fsc_resp *resp)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_audit_query q = { 0 };
	struct fsc_audit_page page;
	struct fsc_arena arena;
	struct fsc_json j;

	fsc_arena_init(&arena, FSC_API_ARENA_MAX);
	if (read_query(req, &q, &err) ||
	    fsc_store_audit_list(fsc_api_app(req)->store, &arena, &q, &page, &err)) {
		fsc_api_fail(req, resp, &err);
		goto out;
	}
	j = fsc_resp_json(resp, 200);
	fsc_json_obj(&j);
	fsc_json_key(&j, "items");
	fsc_json_arr(&j);
	for (size_t i = 0; i < page.n_items; i++)
		emit_row(&j, &page.items[i]);
	fsc_json_arr_end(&j);
	fsc_json_kstr(&j, "next", page.next);
	fsc_json_kint(&j, "total", page.total);
	fsc_json_obj_end(&j);
out:
	fsc_arena_fini(&arena);
}
