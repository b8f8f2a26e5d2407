/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gates, in the order in which they stand in the table at the end. Host and Origin are checked on
 * loopback too: a page of another site can make a browser send requests to 127.0.0.1 (CSRF), and with a
 * name that it re-points it can even read the answers (DNS rebinding).
 */
#include "http/gates.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#include "http/router.h"

/* "name:port" or "[v6]:port" without the port, in buf; false when it is too long or malformed. */
static bool host_name(char buf[256], const char *host)
{
	const char *end;
	size_t n;

	if (*host == '[') {
		end = strchr(host, ']');
		if (!end || (end[1] && end[1] != ':'))
			return false;
		host++;
	} else {
		end = host + strcspn(host, ":");
	}
	n = (size_t)(end - host);
	if (!n || n > 255)
		return false;
	memcpy(buf, host, n);
	buf[n] = '\0';
	return true;
}

static bool is_address(const char *name)
{
	unsigned char bin[16];

	return inet_pton(AF_INET, name, bin) == 1 || inet_pton(AF_INET6, name, bin) == 1;
}

bool fsc_http_host_is_loopback(const char *host)
{
	struct in_addr v4;

	if (!strcasecmp(host, "localhost") || !strcmp(host, "::1"))
		return true;
	return inet_pton(AF_INET, host, &v4) == 1 && (ntohl(v4.s_addr) >> 24) == 127;
}

bool fsc_gates_host_ok(const struct fsc_http_config *cfg, const char *host)
{
	char name[256];

	if (!host_name(name, host))
		return false;
	for (size_t i = 0; i < cfg->n_allow_hosts; i++)
		if (!strcasecmp(cfg->allow_hosts[i], name))
			return true;
	if (fsc_http_host_is_loopback(name))
		return true;
	/* A rebound name is a name, never an address. */
	return !fsc_http_host_is_loopback(cfg->host) && is_address(name);
}

static bool gate_host(struct fsc_req *req, struct fsc_resp *resp)
{
	const char *host = fsc_req_header(req, "Host");

	if (host && fsc_gates_host_ok(req->cfg, host))
		return true;
	resp->close = true;
	fsc_resp_error(resp, host ? 421 : 400, host ? "host_not_allowed" : "host_missing",
		       host ? "this server does not answer to that Host (see --allow-host)"
			    : "the Host header is missing");
	return false;
}

static bool is_safe(const struct fsc_req *req)
{
	return req->is_head || !strcmp(req->method, "GET") || !strcmp(req->method, "OPTIONS");
}

/* "http://HOST" or "https://HOST" with HOST exactly the Host header. */
static bool same_origin(const struct fsc_req *req, const char *origin)
{
	const char *host = fsc_req_header(req, "Host");
	const char *rest = !strncasecmp(origin, "http://", 7)	 ? origin + 7
			   : !strncasecmp(origin, "https://", 8) ? origin + 8
								 : NULL;

	return rest && host && !strcasecmp(rest, host);
}

static bool gate_origin(struct fsc_req *req, struct fsc_resp *resp)
{
	const char *origin = fsc_req_header(req, "Origin");
	const char *site = fsc_req_header(req, "Sec-Fetch-Site");
	const char *mode = fsc_req_header(req, "Sec-Fetch-Mode");
	bool cross = site && (!strcasecmp(site, "cross-site") || !strcasecmp(site, "same-site"));

	if (origin && !same_origin(req, origin))
		cross = true;
	/* Following a link from elsewhere is fine: it reads nothing for the other site. */
	if (!cross || (is_safe(req) && !origin && mode && !strcasecmp(mode, "navigate")))
		return true;
	fsc_resp_error(resp, 403, "cross_origin",
		       "requests from pages of other origins are refused");
	return false;
}

static bool gate_route(struct fsc_req *req, struct fsc_resp *resp)
{
	char allow[64];
	bool api = req->n_segments && !strcmp(req->segments[0], "api");

	switch (fsc_router_find(req, allow)) {
	case FSC_ROUTER_FOUND:
		return true;
	case FSC_ROUTER_WRONG_METHOD:
		break;
	case FSC_ROUTER_NO_PATH:
		if (api || !req->cfg->fallback) {
			fsc_resp_error(resp, 404, "no_such_route", "there is nothing at this path");
			return false;
		}
		if (req->is_head || !strcmp(req->method, "GET"))
			return true;
		memcpy(allow, "GET, HEAD", sizeof("GET, HEAD"));
	}
	fsc_resp_header(resp, "Allow", allow);
	fsc_resp_error(resp, 405, "method_not_allowed", "this path takes %s", allow);
	return false;
}

static bool gate_auth(struct fsc_req *req, struct fsc_resp *resp)
{
	uint32_t perm = req->route ? req->route->perm : FSC_PERM_NONE;

	return !req->cfg->authorize || req->cfg->authorize(req->cfg->app, req, perm, resp);
}

static bool gate_body(struct fsc_req *req, struct fsc_resp *resp)
{
	uint64_t max = req->route ? req->route->max_body : 0;

	if (!req->has_body)
		return true;
	if (!max) {
		fsc_resp_error(resp, 413, "body_not_taken", "this call takes no body");
		return false;
	}
	if (req->content_length != UINT64_MAX && req->content_length > max) {
		fsc_resp_error(resp, 413, "body_too_large",
			       "the body of %llu bytes passes the limit of %llu",
			       (unsigned long long)req->content_length, (unsigned long long)max);
		return false;
	}
	req->body.max = max;
	return true;
}

static bool (*const gates[])(struct fsc_req *, struct fsc_resp *) = {
	gate_host,   /* 421: only names we answer to */
	gate_origin, /* 403: nothing for pages of other sites */
	gate_route,  /* 404, 405 */
	gate_auth,   /* 401 who, 403 may */
	gate_body,   /* 413 before "100 Continue" */
};

bool fsc_gates_pass(struct fsc_req *req, struct fsc_resp *resp)
{
	for (size_t i = 0; i < FSC_ARRAY_LEN(gates); i++)
		if (!gates[i](req, resp))
			return false;
	return true;
}
