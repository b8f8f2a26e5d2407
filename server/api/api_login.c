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

static void emit_scopes(struct fsc_json *j, uint32_t perms)
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

void fsc_api_whoami(struct fsc_req *req, struct fsc_resp *resp)
{
	struct fsc_json j;

	if (!req->who.kind[0]) {
		fsc_resp_header(resp, "WWW-Authenticate", "Bearer realm=\"fleetscope\"");
		fsc_resp_error(resp, 401, "token_required",
			       "log in, or send Authorization: Bearer");
		return;
	}
	j = fsc_resp_json(resp, 200);
	fsc_json_obj(&j);
	fsc_json_kstr(&j, "project", req->who.project);
	emit_scopes(&j, req->who.perms);
	fsc_json_kstr(&j, "auth", req->who.kind);
	fsc_json_obj_end(&j);
}
