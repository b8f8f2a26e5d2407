/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request as handlers see it. Strings are borrowed and live as long as the request. Owner thread: the
 * I/O thread until the body is in, then the one worker that runs the handler.
 */
#ifndef FSC_HTTP_REQ_H
#define FSC_HTTP_REQ_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "http/http.h"

#define FSC_REQ_MAX_SEGMENTS 16
#define FSC_REQ_MAX_PARAMS 64
#define FSC_REQ_MAX_HEADERS 100
#define FSC_REQ_MAX_URI 8192
#define FSC_REQ_ID_LEN 17 /* with NUL */

struct fsc_req_pair {
	const char *key, *value;
	size_t key_len, value_len;
};

/* Who is asking, set by the authorize hook. */
struct fsc_grant; /* of the hook (auth/auth.h) */
struct fsc_who {
	const char *project; /* name; "" none */
	int64_t project_id;  /* row isolation */
	const char *label;   /* actor, for log and audit: "loopback", "token:12", "user:ann", "-" */
	const char *kind;    /* "loopback", "token", "cookie", "proxy"; "" nobody */
	const char *user;    /* name the proxy gave, NULL */
	const char *remote;  /* address of who asks, also through a trusted proxy */
	uint32_t perms;	     /* in the project */
	bool is_operator;    /* of the installation: all projects */
	uint64_t token_id;   /* 0 without a token */
	const struct fsc_grant *grants; /* projects of a proxy user */
	size_t n_grants;
	const struct fsc_err *denied; /* of a route open to all: why the caller is nobody; NULL */
};

struct fsc_req {
	const struct fsc_http_config *cfg; /* borrowed */
	struct fsc_http *http;		   /* the server that serves it */
	const struct fsc_route *route;	   /* NULL: fallback */
	const char *method;
	const char *raw_uri; /* as it came */
	const char *path;    /* decoded; "" segments and dots are refused before */
	const char *segments[FSC_REQ_MAX_SEGMENTS];
	uint32_t n_segments;
	struct fsc_req_pair params[FSC_REQ_MAX_PARAMS];
	uint32_t n_params;
	struct fsc_req_pair headers[FSC_REQ_MAX_HEADERS];
	uint32_t n_headers;
	uint64_t content_length; /* UINT64_MAX: chunked */
	bool has_body, is_head, http10;
	bool peer_loopback;
	char peer[64];
	char id[FSC_REQ_ID_LEN];
	struct fsc_arena arena;
	struct fsc_buf body; /* of routes without FSC_ROUTE_RAW */
	struct fsc_body_sink sink;
	struct fsc_who who;
	int64_t start_ns;
	atomic_bool stop; /* nobody waits for the answer any more: long work should end */
};

void fsc_req_init(struct fsc_req *req, const struct fsc_http_config *cfg);
void fsc_req_fini(struct fsc_req *req);
/* Splits and decodes the request target: FSC_EINVAL with a reason for the client. */
fsc_nodiscard enum fsc_status fsc_req_parse_uri(struct fsc_req *req, const char *uri,
						struct fsc_err *err);

void *fsc_req_app(const struct fsc_req *req);
/* NULL when absent. Header names are compared without case. */
const char *fsc_req_header(const struct fsc_req *req, const char *name);
/* Of a header that came several times the last one: what was added last. */
const char *fsc_req_header_last(const struct fsc_req *req, const char *name);
/* How often the header came. */
unsigned fsc_req_header_count(const struct fsc_req *req, const char *name);
const char *fsc_req_param(const struct fsc_req *req, const char *name);
/* The segment that stands at {name} of the route's path, NULL when the route has none of that name. */
const char *fsc_req_path(const struct fsc_req *req, const char *name);
/* Value of a cookie, copied to the request's memory; NULL when absent. */
const char *fsc_req_cookie(struct fsc_req *req, const char *name);

/* Typed parameters: *out is dflt when absent; FSC_EINVAL names the parameter and its range. */
fsc_nodiscard enum fsc_status fsc_req_i64(int64_t *out, const struct fsc_req *req, const char *name,
					  int64_t dflt, int64_t min, int64_t max,
					  struct fsc_err *err);
/* A path segment that is a decimal id; FSC_ENOTFOUND when it is no number, as no such thing exists. */
fsc_nodiscard enum fsc_status fsc_req_path_id(uint64_t *out, const struct fsc_req *req,
					      const char *name, struct fsc_err *err);
/* True when the Accept-Encoding header takes the coding ("gzip", "br") with q > 0. */
bool fsc_req_accepts(const struct fsc_req *req, const char *coding);

#endif
