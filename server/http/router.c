/* SPDX-License-Identifier: Apache-2.0 */
/* Route lookup: the fixed path wins over one with a {name} at the same place, whatever their order. */
#include "http/router.h"

#include <stdio.h>
#include <string.h>

/* -1 no match, else the number of fixed segments (more is more specific). */
static int match(const struct fsc_req *req, const char *pattern)
{
	int fixed = 0;
	uint32_t i = 0;

	while (*pattern == '/') {
		size_t n = strcspn(++pattern, "/");

		if (i == req->n_segments)
			return -1;
		if (*pattern != '{') {
			if (strlen(req->segments[i]) != n ||
			    strncmp(req->segments[i], pattern, n) != 0)
				return -1;
			fixed++;
		}
		i++;
		pattern += n;
	}
	return i == req->n_segments ? fixed : -1;
}

/* A HEAD of its own wins over the GET that also answers it, at the same path. */
static int method_fits(const struct fsc_req *req, const struct fsc_route *r)
{
	if (!strcmp(r->method, req->method))
		return 2;
	return req->is_head && !strcmp(r->method, "GET");
}

static void add_allow(char allow[64], const char *method)
{
	size_t n = strlen(allow);

	if (!strstr(allow, method))
		snprintf(allow + n, 64 - n, "%s%s%s", n ? ", " : "", method,
			 !strcmp(method, "GET") && !strstr(allow, "HEAD") ? ", HEAD" : "");
}

enum fsc_router_result fsc_router_find(struct fsc_req *req, char allow[64])
{
	const struct fsc_http_config *cfg = req->cfg;
	int best = -1;
	bool any = false;

	allow[0] = '\0';
	for (size_t i = 0; i < cfg->n_routes; i++) {
		const struct fsc_route *r = &cfg->routes[i];
		int score = match(req, r->path), fits = method_fits(req, r);

		if (score < 0)
			continue;
		any = true;
		add_allow(allow, r->method);
		if (fits && 2 * score + fits > best) {
			best = 2 * score + fits;
			req->route = r;
		}
	}
	if (best >= 0)
		return FSC_ROUTER_FOUND;
	return any ? FSC_ROUTER_WRONG_METHOD : FSC_ROUTER_NO_PATH;
}
