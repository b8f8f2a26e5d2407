/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of the project. A secret is shown once, in the answer that makes it. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "api/deps.h"
#include "api/handlers.h"
#include "base/clock.h"

#define DAY_NS (INT64_C(86400) * 1000000000)

static void emit_token(struct fsc_json *j, const struct fsc_token *t)
{
	fsc_json_kid(j, "id", (uint64_t)t->id);
	fsc_json_kstr(j, "name", t->name);
	fsc_json_kstr(j, "prefix", t->prefix);
	fsc_api_scopes(j, t->scopes);
	fsc_json_kstr(j, "created_by", t->created_by);
	fsc_api_time(j, "created_at", t->created_at_ns);
	fsc_api_time(j, "expires_at", t->expires_at_ns);
	fsc_api_time(j, "last_used_at", t->last_used_at_ns);
	fsc_api_time(j, "revoked_at", t->revoked_at_ns);
}

void fsc_api_token_list(struct fsc_req *req, struct fsc_resp *resp)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_tokens tokens;
	struct fsc_arena arena;
	struct fsc_json j;
	int64_t revoked;

	fsc_arena_init(&arena, FSC_API_ARENA_MAX);
	if (fsc_req_i64(&revoked, req, "revoked", 0, 0, 1, &err) ||
	    fsc_store_token_list(fsc_api_app(req)->store, &arena, fsc_auth_project(req), revoked,
				 &tokens, &err)) {
		fsc_api_fail(req, resp, &err);
		goto out;
	}
	j = fsc_resp_json(resp, 200);
	fsc_json_obj(&j);
	fsc_json_key(&j, "items");
	fsc_json_arr(&j);
	for (size_t i = 0; i < tokens.n_items; i++) {
		fsc_json_obj(&j);
		emit_token(&j, &tokens.items[i]);
		fsc_json_obj_end(&j);
	}
	fsc_json_arr_end(&j);
	fsc_json_kstr(&j, "next", NULL);
	fsc_json_kuint(&j, "total", tokens.n_items);
	fsc_json_obj_end(&j);
out:
	fsc_arena_fini(&arena);
}

struct wanted {
	char name[101];
	uint32_t scopes;
	int64_t expires_at_ns;
};

static enum fsc_status parse_scopes(const json_t *list, uint32_t *out, struct fsc_err *err)
{
	size_t i;
	const json_t *v;

	*out = 0;
	if (!json_is_array(list))
		return fsc_err_set(err, FSC_EINVAL, "bad_scope", "\"scopes\" must be a list");
	json_array_foreach(list, i, v)
	{
		uint32_t bit = 0;

		if (!json_is_string(v))
			return fsc_err_set(err, FSC_EINVAL, "bad_scope", "a scope must be text");
		if (fsc_token_parse_scopes(&bit, json_string_value(v), err))
			return FSC_EINVAL;
		*out |= bit;
	}
	if (!*out)
		return fsc_err_set(err, FSC_EINVAL, "bad_scope",
				   "a token needs at least one scope");
	return FSC_OK;
}

static enum fsc_status parse_wanted(const json_t *body, struct wanted *w, struct fsc_err *err)
{
	const char *name = json_string_value(json_object_get(body, "name"));
	const json_t *days = json_object_get(body, "expires_in_days");

	if (!days)
		days = json_object_get(body, "expires_days");
	if (!name || !*name || strlen(name) >= sizeof(w->name))
		return fsc_err_set(err, FSC_EINVAL, "bad_name",
				   "\"name\" must have 1 to 100 bytes");
	snprintf(w->name, sizeof(w->name), "%s", name);
	w->expires_at_ns = 0;
	if (days && !json_is_null(days)) {
		json_int_t d = json_integer_value(days);

		if (!json_is_integer(days) || d < 1 || d > 36500)
			return fsc_err_set(err, FSC_EINVAL, "bad_expiry",
					   "\"expires_in_days\" is 1 to 36500");
		w->expires_at_ns = fsc_clock_real_ns() + d * DAY_NS;
	}
	return parse_scopes(json_object_get(body, "scopes"), &w->scopes, err);
}

void fsc_api_token_create(struct fsc_req *req, struct fsc_resp *resp)
{
	struct fsc_err err = FSC_ERR_INIT;
	char text[FSC_TOKEN_TEXT_MAX], prefix[FSC_TOKEN_PREFIX], subject[32];
	struct fsc_token t = { 0 };
	struct wanted w;
	json_t *body = NULL;
	struct fsc_json j;

	if (fsc_api_body(req, &body, &err) || parse_wanted(body, &w, &err) ||
	    fsc_token_create(fsc_api_app(req)->store, fsc_auth_project(req), w.name, w.scopes,
			     w.expires_at_ns, req->who.label, &t.id, text, &err)) {
		json_decref(body);
		fsc_api_fail(req, resp, &err);
		return;
	}
	json_decref(body);
	snprintf(subject, sizeof(subject), "%lld", (long long)t.id);
	fsc_api_audit(req, "token.create", subject, w.name);
	fsc_token_prefix(prefix, text);
	t.name = w.name;
	t.prefix = prefix;
	t.created_by = req->who.label;
	t.scopes = w.scopes;
	t.created_at_ns = fsc_clock_real_ns();
	t.expires_at_ns = w.expires_at_ns;
	j = fsc_resp_json(resp, 201);
	fsc_json_obj(&j);
	emit_token(&j, &t);
	fsc_json_kstr(&j, "secret", text);
	fsc_json_obj_end(&j);
}

void fsc_api_token_revoke(struct fsc_req *req, struct fsc_resp *resp)
{
	struct fsc_err err = FSC_ERR_INIT;
	char subject[32];
	uint64_t id = 0;

	if (fsc_req_path_id(&id, req, "id", &err) ||
	    fsc_store_token_revoke(fsc_api_app(req)->store, fsc_auth_project(req), (int64_t)id,
				   &err)) {
		if (err.status == FSC_ENOTFOUND) {
			fsc_err_clear(&err);
			fsc_err_set(&err, FSC_ENOTFOUND, "no_such_token", "there is no such token");
		}
		fsc_api_fail(req, resp, &err);
		return;
	}
	fsc_auth_revoked(fsc_api_app(req)->auth);
	snprintf(subject, sizeof(subject), "%llu", (unsigned long long)id);
	fsc_api_audit(req, "token.revoke", subject, "");
	resp->status = 204;
}
