/* SPDX-License-Identifier: Apache-2.0 */
/* Log in, log out, who am I. */
#include <jansson.h>
#include <string.h>

#include "api/deps.h"
#include "api/handlers.h"

void fsc_api_login(struct fsc_req *req, struct fsc_resp *resp)
{
	struct fsc_err err = FSC_ERR_INIT;
	json_t *body = NULL;
	const char *token;
	char cookie[512];

	if (fsc_api_body(req, &body, &err)) {
		fsc_api_fail(req, resp, &err);
		return;
	}
	token = json_string_value(json_object_get(body, "token"));
	if (!token)
		fsc_err_set(&err, FSC_EINVAL, "bad_json", "the body needs a string \"token\"");
	else
		(void)!fsc_auth_login(fsc_api_app(req)->auth, req, token, cookie, &err);
	json_decref(body);
	if (err.status) {
		fsc_api_fail(req, resp, &err);
		return;
	}
	fsc_api_audit(req, "login", "", "");
	fsc_resp_header(resp, "Set-Cookie", cookie);
	resp->status = 204;
}

void fsc_api_logout(struct fsc_req *req, struct fsc_resp *resp)
{
	char cookie[512];

	fsc_auth_logout_cookie(req, cookie);
	fsc_resp_header(resp, "Set-Cookie", cookie);
	resp->status = 204;
}

static const char *via_of(const char *kind)
{
	return !strcmp(kind, "cookie") ? "session" : kind;
}

static void emit_projects(struct fsc_json *j, const struct fsc_projects *projects)
{
	fsc_json_key(j, "projects");
	fsc_json_arr(j);
	for (size_t i = 0; i < projects->n_items; i++)
		fsc_json_str(j, projects->items[i].name);
	fsc_json_arr_end(j);
}

static void say_nobody(struct fsc_req *req, struct fsc_resp *resp)
{
	if (req->who.denied && strcmp(req->who.denied->code, "bad_token") != 0) {
		fsc_api_fail(req, resp, req->who.denied);
		return;
	}
	fsc_resp_header(resp, "WWW-Authenticate", "Bearer realm=\"fleetscope\"");
	fsc_resp_error(resp, 401, "token_required", "log in, or send Authorization: Bearer");
}

void fsc_api_whoami(struct fsc_req *req, struct fsc_resp *resp)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_projects projects;
	struct fsc_arena arena;
	struct fsc_json j;

	if (!req->who.kind[0]) {
		say_nobody(req, resp);
		return;
	}
	fsc_arena_init(&arena, FSC_API_ARENA_MAX);
	if (fsc_auth_projects(fsc_api_app(req)->auth, req, &arena, &projects, &err)) {
		fsc_api_fail(req, resp, &err);
		goto out;
	}
	j = fsc_resp_json(resp, 200);
	fsc_json_obj(&j);
	fsc_json_kstr(&j, "project", req->who.project);
	emit_projects(&j, &projects);
	fsc_api_scopes(&j, req->who.perms);
	fsc_json_kbool(&j, "operator", fsc_auth_operator(req));
	fsc_json_kstr(&j, "user", req->who.user);
	fsc_json_kstr(&j, "via", via_of(req->who.kind));
	fsc_json_kstr(&j, "auth", req->who.kind);
	fsc_json_obj_end(&j);
out:
	fsc_arena_fini(&arena);
}
