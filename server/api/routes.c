/* SPDX-License-Identifier: Apache-2.0 */
/* The route table as data. */
#include <string.h>

#include "api/deps.h"
#include "api/handlers.h"
#include "base/alloc.h"

#define FSC_API_MAX_UPLOAD 0 /* set from the configuration */

static const struct fsc_route routes[] = {
#define FSC_ROUTE(method, path, handler, scope, max_body, flags) \
	{ #method, path, handler, FSC_PERM_##scope, max_body, flags },
#include "api/routes.def"
#undef FSC_ROUTE
};

struct fsc_api_table {
	struct fsc_route routes[FSC_ARRAY_LEN(routes)];
};

struct fsc_api_table *fsc_api_table_new(uint64_t max_upload)
{
	struct fsc_api_table *t = fsc_xalloc(1, sizeof(*t));

	memcpy(t->routes, routes, sizeof(routes));
	for (size_t i = 0; i < FSC_ARRAY_LEN(routes); i++)
		if (t->routes[i].flags & FSC_ROUTE_RAW)
			t->routes[i].max_body = max_upload;
	return t;
}

void fsc_api_table_free(struct fsc_api_table *t)
{
	fsc_free(t);
}

static bool authorize(void *app, struct fsc_req *req, uint32_t perm, struct fsc_resp *resp)
{
	return fsc_auth_check(((struct fsc_app *)app)->auth, req, perm, resp);
}

static enum fsc_status open_body(void *app, struct fsc_req *req, struct fsc_resp *resp,
				 struct fsc_body_sink *sink, struct fsc_err *err)
{
	static const struct {
		fsc_handler *handler;
		fsc_body_opener *open;
	} openers[] = {
		{ fsc_api_bundle_upload, fsc_api_upload_open },
		{ fsc_api_upload_begin, fsc_api_piece_open },
		{ fsc_api_upload_piece, fsc_api_piece_open },
	};

	for (size_t i = 0; i < FSC_ARRAY_LEN(openers); i++)
		if (openers[i].handler == req->route->handler)
			return openers[i].open(app, req, resp, sink, err);
	return fsc_err_set(err, FSC_EBUG, NULL, "a raw route without a way to open its body");
}

void fsc_api_configure(const struct fsc_api_table *t, struct fsc_app *app,
		       struct fsc_http_config *cfg)
{
	cfg->routes = t->routes;
	cfg->n_routes = FSC_ARRAY_LEN(routes);
	cfg->app = app;
	cfg->authorize = authorize;
	cfg->open_body = open_body;
	cfg->fail = fsc_api_fail;
}
