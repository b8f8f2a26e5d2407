/* SPDX-License-Identifier: Apache-2.0 */
/* Request targets, Range, Accept-Encoding and cookies: first line the target, second line the headers' value. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "http/range.h"
#include "http/req.h"
#include "http/router.h"

static const struct fsc_route routes[] = {
	{ "GET", "/a/{id}", NULL, 0, 0, 0 },
	{ "GET", "/a/{id}/b", NULL, 0, 0, 0 },
	{ "POST", "/a", NULL, 0, 0, 0 },
};

static void use(struct fsc_req *req, const char *value)
{
	struct fsc_err err = FSC_ERR_INIT;
	char allow[64];
	uint64_t first, last, id;
	int64_t v;

	(void)fsc_router_find(req, allow);
	(void)fsc_req_path(req, "id");
	(void)!fsc_req_path_id(&id, req, "id", &err);
	(void)!fsc_req_i64(&v, req, "t0", 0, -5, 5, &err);
	(void)fsc_req_accepts(req, "gzip");
	(void)fsc_req_cookie(req, "s");
	if (fsc_range_parse(value, 100, &first, &last) == FSC_RANGE_ONE &&
	    (first > last || last >= 100))
		abort();
	for (uint32_t i = 0; i < req->n_segments; i++)
		if (!strcmp(req->segments[i], "..") || strchr(req->segments[i], '/'))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fsc_http_config cfg = FSC_HTTP_CONFIG_INIT;
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_req req;
	char *uri = malloc(size + 1), *value;

	if (!uri)
		return 0;
	memcpy(uri, data, size);
	uri[size] = '\0';
	value = strchr(uri, '\n');
	if (value)
		*value++ = '\0';
	else
		value = uri + strlen(uri);
	cfg.routes = routes;
	cfg.n_routes = sizeof(routes) / sizeof(routes[0]);
	fsc_req_init(&req, &cfg);
	req.method = "GET";
	req.headers[0] = (struct fsc_req_pair){ "Accept-Encoding", value, 15, strlen(value) };
	req.headers[1] = (struct fsc_req_pair){ "Cookie", value, 6, strlen(value) };
	req.n_headers = 2;
	if (!fsc_req_parse_uri(&req, uri, &err))
		use(&req, value);
	fsc_req_fini(&req);
	free(uri);
	return 0;
}
