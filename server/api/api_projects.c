/* SPDX-License-Identifier: Apache-2.0 */
/* Projects: those the caller may enter, and making one. */
#include <jansson.h>
#include <string.h>

#include "api/deps.h"
#include "api/handlers.h"
#include "base/clock.h"

static void emit_project(struct fsc_json *j, const struct fsc_project *p, bool current)
{
	fsc_json_obj(j);
	fsc_json_kid(j, "id", (uint64_t)p->id);
	fsc_json_kstr(j, "name", p->name);
	fsc_api_time(j, "created_at", p->created_at_ns);
	fsc_json_kbool(j, "current", current);
	fsc_json_obj_end(j);
}

void fsc_api_project_list(struct fsc_req *req, struct fsc_resp *resp)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_projects projects;
	struct fsc_arena arena;
	struct fsc_json j;

	fsc_arena_init(&arena, FSC_API_ARENA_MAX);
	if (fsc_auth_projects(fsc_api_app(req)->auth, req, &arena, &projects, &err)) {
		fsc_api_fail(req, resp, &err);
		goto out;
	}
	j = fsc_resp_json(resp, 200);
	fsc_json_obj(&j);
	fsc_json_key(&j, "items");
	fsc_json_arr(&j);
	for (size_t i = 0; i < projects.n_items; i++)
		emit_project(&j, &projects.items[i], projects.items[i].id == fsc_auth_project(req));
	fsc_json_arr_end(&j);
	fsc_json_kstr(&j, "next", NULL);
	fsc_json_kuint(&j, "total", projects.n_items);
	fsc_json_obj_end(&j);
out:
	fsc_arena_fini(&arena);
}

void fsc_api_project_create(struct fsc_req *req, struct fsc_resp *resp)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_project p = { 0 };
	json_t *body = NULL;
	struct fsc_json j;

	if (!fsc_auth_operator(req)) {
		fsc_resp_error(resp, 403, "operator_only",
			       "projects are made by those who run the server");
		return;
	}
	if (!fsc_api_body(req, &body, &err)) {
		p.name = json_string_value(json_object_get(body, "name"));
		if (!p.name)
			fsc_err_set(&err, FSC_EINVAL, "project_name",
				    "the body needs a string \"name\"");
		else
			(void)!fsc_store_project_create(fsc_api_app(req)->store, p.name, &p.id,
							&err);
	}
	if (err.status) {
		fsc_api_fail(req, resp, &err);
		goto out;
	}
	fsc_api_audit(req, "project.create", p.name, "");
	p.created_at_ns = fsc_clock_real_ns();
	j = fsc_resp_json(resp, 201);
	emit_project(&j, &p, false);
out:
	json_decref(body);
}
