/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP server: what the rest of the program sees of it. It knows routes, requests and responses, and
 * nothing of traces, tokens or stores; those come in through the hooks of struct fsc_http_config.
 *
 * A request passes: head check (head.c) -> gates in order (gates.c) -> body -> handler -> response. Handlers
 * run on a worker thread and may block; with FSC_ROUTE_INLINE they run on the I/O thread and must not.
 */
#ifndef FSC_HTTP_HTTP_H
#define FSC_HTTP_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"

struct fsc_http;
struct fsc_req;
struct fsc_resp;

/* What a caller must be allowed to do. A set of bits in a caller, one bit in a route. */
enum fsc_perm {
	FSC_PERM_NONE = 0, /* open to everyone */
	FSC_PERM_READ = 1,
	FSC_PERM_UPLOAD = 2,
	FSC_PERM_CAPTURE = 4,
	FSC_PERM_ADMIN = 8,
};

enum fsc_route_flag {
	FSC_ROUTE_INLINE = 1, /* never blocks: runs on the I/O thread */
	FSC_ROUTE_RAW = 2,    /* body goes to config.open_body piece by piece */
	FSC_ROUTE_QUIET = 4,  /* probes: logged at debug level */
	FSC_ROUTE_DISK = 8,   /* waits for the disk: not on the workers of readers, as RAW */
};

typedef void fsc_handler(struct fsc_req *req, struct fsc_resp *resp);

struct fsc_route {
	const char *method; /* GET answers HEAD too, unless the path has a HEAD of its own */
	const char *path;   /* segments, "{name}" stands for one segment */
	fsc_handler *handler;
	uint32_t perm;
	uint64_t max_body; /* 0: the route takes no body */
	uint32_t flags;
};

/* Receives a raw body. All calls come from one I/O thread at a time. */
struct fsc_body_sink {
	void *ctx;
	/* An error stops the body; the handler is not called and err becomes the response. */
	enum fsc_status (*write)(void *ctx, const void *p, size_t n, struct fsc_err *err);
	void (*free)(void *ctx); /* always called once, after the handler or on abort */
};

struct fsc_http_config {
	const char *host; /* numeric address or "localhost" */
	uint16_t port;	  /* 0: any free port, see fsc_http_port */
	unsigned io_threads, workers, slow_workers;
	unsigned max_connections, max_per_ip;
	unsigned header_timeout_s; /* whole request head */
	unsigned idle_timeout_s;   /* between requests */
	unsigned body_grace_s;	   /* before the minimum rate counts */
	uint32_t body_min_bytes_s; /* a body slower than this is cut off, in either direction */
	unsigned query_timeout_s;  /* then a handler is told to stop */
	unsigned send_window_s;	   /* a large answer must keep the rate in each of these */
	const char *const *allow_hosts; /* names accepted in Host beside the address itself */
	size_t n_allow_hosts;

	const struct fsc_route *routes; /* borrowed */
	size_t n_routes;
	void *app; /* fsc_req_app() */
	/* Finds out who is asking and whether that may do perm; on refusal fills resp and returns false. */
	bool (*authorize)(void *app, struct fsc_req *req, uint32_t perm, struct fsc_resp *resp);
	/* Opens the sink of a RAW route before the body is read; an error becomes the response. Headers that it
	 * puts into resp stay, whatever answer follows. */
	enum fsc_status (*open_body)(void *app, struct fsc_req *req, struct fsc_resp *resp,
				     struct fsc_body_sink *sink, struct fsc_err *err);
	/* Turns an error into a response (the one table of the API). */
	void (*fail)(struct fsc_req *req, struct fsc_resp *resp, const struct fsc_err *err);
	/* GET of a path that no route has: pages and static files. */
	fsc_handler *fallback;
};
#define FSC_HTTP_CONFIG_INIT                                                           \
	{                                                                              \
		.host = "127.0.0.1", .io_threads = 2, .workers = 8, .slow_workers = 4, \
		.max_connections = 2000, .max_per_ip = 0, .header_timeout_s = 10,      \
		.idle_timeout_s = 60, .body_grace_s = 30, .body_min_bytes_s = 16384,   \
		.query_timeout_s = 60, .send_window_s = 30,                            \
	}

/* Binds and serves. Expected: FSC_EINVAL (address), FSC_EIO (port in use). */
fsc_nodiscard enum fsc_status fsc_http_start(struct fsc_http **out,
					     const struct fsc_http_config *cfg,
					     struct fsc_err *err);
/* host:port as it is reached, e.g. "127.0.0.1:8080" or "[::1]:8080". */
const char *fsc_http_authority(const struct fsc_http *h);
uint16_t fsc_http_port(const struct fsc_http *h);
/* Stops accepting, lets running requests finish for at most grace_ms, cuts the rest, frees. Owner thread. */
void fsc_http_stop(struct fsc_http *h, unsigned grace_ms);

/* Figures about the server itself, in Prometheus text format. Any thread. */
void fsc_http_metrics(struct fsc_http *h, struct fsc_buf *out);

/* True when host is a loopback address or "localhost". Any thread. */
bool fsc_http_host_is_loopback(const char *host);

#endif
