/* SPDX-License-Identifier: Apache-2.0 */
/* The project of a request. */
#include "auth/choose.h"

#include <string.h>

#include "auth/auth.h"

static enum fsc_status denied(struct fsc_err *err)
{
	fsc_err_clear(err);
	return fsc_err_set(err, FSC_EDENIED, "project_denied",
			   "there is no such project, or you may not enter it");
}

static void enter(struct fsc_req *req, const char *name, int64_t id, uint32_t perms)
{
	req->who.project = name;
	req->who.project_id = id;
	req->who.perms = perms;
}

/* FSC_ENOTFOUND: not one this caller may enter. */
static enum fsc_status enter_named(struct fsc_cache *c, struct fsc_req *req, const char *name,
				   struct fsc_err *err)
{
	enum fsc_status st;
	int64_t id;

	if (!req->who.is_operator) {
		for (size_t i = 0; i < req->who.n_grants; i++) {
			const struct fsc_grant *g = &req->who.grants[i];

			if (strcmp(g->name, name) != 0)
				continue;
			enter(req, g->name, g->project, g->perms);
			return FSC_OK;
		}
		return FSC_ENOTFOUND;
	}
	if (!fsc_store_project_name_ok(name))
		return FSC_ENOTFOUND;
	st = fsc_cache_project(c, name, &id, err);
	if (!st)
		enter(req, name, id, FSC_AUTH_ALL_PERMS);
	return st;
}

/* "default" when the caller may enter it, else the first of the configuration. */
static void enter_first(struct fsc_req *req)
{
	const struct fsc_grant *first = req->who.grants;

	if (req->who.is_operator) {
		enter(req, "default", FSC_PROJECT_DEFAULT, FSC_AUTH_ALL_PERMS);
		return;
	}
	for (size_t i = 0; i < req->who.n_grants; i++)
		if (req->who.grants[i].project == FSC_PROJECT_DEFAULT)
			first = &req->who.grants[i];
	enter(req, first->name, first->project, first->perms);
}

enum fsc_status fsc_auth_choose(struct fsc_cache *c, struct fsc_req *req, struct fsc_err *err)
{
	const char *header = fsc_req_header(req, FSC_PROJECT_HEADER), *cookie;
	enum fsc_status st;

	if (fsc_req_header_count(req, FSC_PROJECT_HEADER) > 1)
		return denied(err);
	if (req->who.token_id)
		return header && strcmp(header, req->who.project) != 0 ? denied(err) : FSC_OK;
	if (header) {
		st = enter_named(c, req, header, err);
		return st == FSC_ENOTFOUND ? denied(err) : st;
	}
	cookie = fsc_req_cookie(req, FSC_PROJECT_COOKIE);
	if (cookie) {
		st = enter_named(c, req, cookie, err);
		if (st != FSC_ENOTFOUND)
			return st;
		fsc_err_clear(err);
	}
	enter_first(req);
	return FSC_OK;
}
