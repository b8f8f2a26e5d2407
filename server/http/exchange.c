/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request from its first line to its last byte. libmicrohttpd calls fsc_exchange_step() on an I/O
 * thread: first with the head, then with pieces of the body, then once with nothing left. The handler runs
 * on a worker while the connection is suspended; when it wakes, step() is called again and answers.
 */
#include <stdio.h>
#include <string.h>
#include <arpa/inet.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "http/gates.h"
#include "http/head.h"
#include "http/server.h"

/* A refused body this small is read and thrown away, so that the client surely gets the answer. */
#define DRAIN_MAX (1u << 20)
/* After a failed write the rest is read up to this, else the connection is cut. */
#define DRAIN_AFTER_ERROR (256u << 20)
#define PIECE (64u << 10)
#define PIECES_FROM (256u << 10) /* smaller bodies are handed over whole */
#define UNSENT_MAX (256u << 20)	 /* of all answers together */

enum phase { PHASE_HEAD, PHASE_BODY, PHASE_DRAIN, PHASE_RUNNING, PHASE_ANSWER, PHASE_SENT };

struct exchange {
	struct fsc_http *h;
	struct MHD_Connection *mc;
	struct fsc_conn *conn;
	struct fsc_req req;
	struct fsc_resp resp;
	enum phase phase;
	uint64_t body_bytes, drained, sent_bytes;
	size_t unsent;		   /* counted in fsc_http.unsent */
	struct fsc_stream *stream; /* ref of the response's reader side, while it exists */
};

void *fsc_exchange_begin(void *cls, const char *uri, struct MHD_Connection *mc)
{
	struct exchange *x = fsc_xalloc(1, sizeof(*x));
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(mc, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	x->h = cls;
	x->mc = mc;
	x->conn = info ? info->socket_context : NULL;
	fsc_req_init(&x->req, &x->h->cfg);
	x->req.http = x->h;
	fsc_resp_init(&x->resp, &x->req);
	x->req.raw_uri = fsc_arena_dup(&x->req.arena, uri, strnlen(uri, FSC_REQ_MAX_URI + 1));
	if (x->conn && atomic_load(&x->conn->state) == FSC_CONN_IDLE)
		fsc_conn_enter(x->conn, FSC_CONN_HEAD);
	atomic_fetch_add(&x->h->active, 1);
	return x;
}

static enum MHD_Result take_header(void *cls, enum MHD_ValueKind kind, const char *key,
				   size_t key_len, const char *value, size_t value_len)
{
	struct fsc_req *req = cls;

	(void)kind;
	if (req->n_headers == FSC_REQ_MAX_HEADERS) {
		req->n_headers++; /* says too many */
		return MHD_NO;
	}
	if (req->n_headers > FSC_REQ_MAX_HEADERS)
		return MHD_NO;
	req->headers[req->n_headers++] =
		(struct fsc_req_pair){ key, value ? value : key + key_len, key_len, value_len };
	return MHD_YES;
}

static void take_peer(struct exchange *x)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(x->mc, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	const struct sockaddr *sa = info ? info->client_addr : NULL;
	const void *addr = NULL;

	if (sa && sa->sa_family == AF_INET)
		addr = &((const struct sockaddr_in *)(const void *)sa)->sin_addr;
	else if (sa && sa->sa_family == AF_INET6)
		addr = &((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr;
	if (!addr || !inet_ntop(sa->sa_family, addr, x->req.peer, sizeof(x->req.peer)))
		memcpy(x->req.peer, "-", 2);
	x->req.peer_loopback = fsc_http_host_is_loopback(x->req.peer);
}

static enum fsc_status read_head(struct exchange *x, const char *method, const char *url,
				 const char *version, struct fsc_err *err)
{
	struct fsc_req *req = &x->req;
	const union MHD_ConnectionInfo *info;
	enum fsc_status st;

	req->method = method;
	req->is_head = !strcmp(method, "HEAD");
	take_peer(x);
	MHD_get_connection_values_n(x->mc, MHD_HEADER_KIND, take_header, req);
	if (req->n_headers > FSC_REQ_MAX_HEADERS) {
		req->n_headers = FSC_REQ_MAX_HEADERS;
		return fsc_err_set(err, FSC_ELIMIT, "too_many_headers", "more than %d headers",
				   FSC_REQ_MAX_HEADERS);
	}
	if (!req->raw_uri || strlen(req->raw_uri) > FSC_REQ_MAX_URI)
		return fsc_err_set(err, FSC_ELIMIT, "uri_too_long",
				   "the request target passes %d bytes", FSC_REQ_MAX_URI);
	info = MHD_get_connection_info(x->mc, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
	st = fsc_head_check(req, url, version, info ? info->header_size : 0, err);
	return st ? st : fsc_req_parse_uri(req, req->raw_uri, err);
}

static enum MHD_Result add_headers(struct MHD_Response *r, const struct exchange *x)
{
	enum MHD_Result ok = MHD_YES;

	for (uint32_t i = 0; i < x->resp.n_headers && ok == MHD_YES; i++)
		ok = MHD_add_response_header(r, x->resp.headers[i].key, x->resp.headers[i].value);
	/* What follows a chunked body is never read: its framing is looser in libmicrohttpd than we like. */
	if (ok == MHD_YES &&
	    (x->resp.close || x->req.content_length == UINT64_MAX || atomic_load(&x->h->stopping)))
		ok = MHD_add_response_header(r, "Connection", "close");
	return ok;
}

static void suspend_conn(void *ctx)
{
	MHD_suspend_connection(ctx);
}

static void resume_conn(void *ctx)
{
	MHD_resume_connection(ctx);
}

static ssize_t pull(void *cls, uint64_t pos, char *buf, size_t max)
{
	struct exchange *x = cls;
	ssize_t n = fsc_stream_read(x->stream, buf, max);

	(void)pos;
	if (n > 0)
		x->sent_bytes += (uint64_t)n;
	return n == -1	 ? MHD_CONTENT_READER_END_OF_STREAM
	       : n == -2 ? MHD_CONTENT_READER_END_WITH_ERROR
			 : n;
}

/* A producer outlives its exchange when the client goes away, so it has its own object. */
struct production {
	struct fsc_stream *stream; /* ref */
	fsc_producer *fn;
	void *ctx;
	void (*free_ctx)(void *ctx);
	char req_id[FSC_REQ_ID_LEN];
};

static void produce(void *arg)
{
	struct production *p = arg;
	struct fsc_err err = FSC_ERR_INIT;
	enum fsc_status st = p->fn(p->ctx, p->stream, &err);
	char quoted[300];

	if (st && st != FSC_ECANCELED)
		fsc_log(FSC_LOG_ERROR, "http", "msg=\"streamed answer cut\" req=%s error=%s",
			p->req_id, fsc_log_quote(quoted, sizeof(quoted), err.msg));
	fsc_stream_finish(p->stream, st == FSC_OK);
	if (p->free_ctx)
		p->free_ctx(p->ctx);
	fsc_stream_unref(p->stream);
	fsc_free(p);
}

/* Starts the producer; false when too many run already. */
static bool start_stream(struct exchange *x)
{
	struct fsc_stream_hooks hooks = { x->mc, suspend_conn, resume_conn };
	struct production *p = fsc_xalloc(1, sizeof(*p));

	x->stream = fsc_stream_new(&hooks);
	p->stream = fsc_stream_ref(x->stream);
	p->fn = x->resp.produce;
	p->ctx = x->resp.produce_ctx;
	p->free_ctx = x->resp.produce_free;
	memcpy(p->req_id, x->req.id, sizeof(p->req_id));
	if (fsc_pool_submit(x->h->slow, produce, p)) {
		x->resp.produce = NULL; /* moved */
		if (x->conn)
			fsc_conns_set_stream(x->h->conns, x->conn, x->stream);
		return true;
	}
	fsc_stream_unref(p->stream);
	fsc_stream_unref(x->stream);
	x->stream = NULL;
	fsc_free(p);
	return false;
}

/* A large body goes in pieces, so that the sweep sees whether the client takes them. */
static ssize_t pull_body(void *cls, uint64_t pos, char *buf, size_t max)
{
	struct exchange *x = cls;
	const char *p = x->resp.fixed ? x->resp.fixed : x->resp.body.data;
	size_t left = (x->resp.fixed ? x->resp.fixed_len : x->resp.body.len) - (size_t)pos;

	if (max > left)
		max = left;
	memcpy(buf, p + pos, max);
	x->sent_bytes = pos + max;
	if (x->conn)
		atomic_store(&x->conn->bytes, x->sent_bytes);
	return (ssize_t)max;
}

/* Many clients that ask for much and read nothing must not fill the memory. */
static void hold_unsent(struct exchange *x)
{
	size_t n = x->resp.fixed ? 0 : x->resp.body.len;

	if (atomic_fetch_add(&x->h->unsent, n) + n > UNSENT_MAX && n > PIECES_FROM) {
		atomic_fetch_sub(&x->h->unsent, n);
		fsc_resp_header(&x->resp, "Retry-After", "5");
		fsc_resp_error(&x->resp, 503, "too_busy", "too many answers wait for slow clients");
		return;
	}
	x->unsent = n;
}

static struct MHD_Response *make_response(struct exchange *x)
{
	struct fsc_resp *r = &x->resp;
	/* The exchange, and so the body, outlives the response. */
	const void *p = r->fixed ? r->fixed : r->body.data;
	size_t n = r->fixed ? r->fixed_len : r->body.len;

	if (x->stream || r->produce)
		return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, PIECE, pull, x, NULL);
	if (n > PIECES_FROM && !x->req.is_head) {
		if (x->conn)
			fsc_conn_enter(x->conn, FSC_CONN_PIECES);
		return MHD_create_response_from_callback(n, PIECE, pull_body, x, NULL);
	}
	x->sent_bytes = x->req.is_head ? 0 : n;
	return MHD_create_response_from_buffer(n, (void *)(uintptr_t)(p ? p : ""),
					       MHD_RESPMEM_PERSISTENT);
}

static enum MHD_Result answer(struct exchange *x)
{
	struct MHD_Response *r;
	enum MHD_Result ok = MHD_NO;

	if (x->resp.produce && !x->req.is_head && !start_stream(x)) {
		fsc_resp_header(&x->resp, "Retry-After", "5");
		fsc_resp_error(&x->resp, 503, "too_busy", "too many exports run at this moment");
	}
	if (!x->stream)
		hold_unsent(x);
	fsc_resp_finish(&x->resp);
	x->phase = PHASE_SENT;
	if (x->conn)
		fsc_conn_enter(x->conn, FSC_CONN_SENDING);
	r = make_response(x);
	if (!r)
		return MHD_NO;
	if (x->conn && atomic_load(&x->conn->state) == FSC_CONN_SENDING)
		atomic_store(&x->conn->bytes, x->sent_bytes);
	if (add_headers(r, x) == MHD_YES)
		ok = MHD_queue_response(x->mc, (unsigned)x->resp.status, r);
	MHD_destroy_response(r);
	return ok;
}

static void run_handler(struct exchange *x)
{
	fsc_handler *fn = x->req.route ? x->req.route->handler : x->req.cfg->fallback;

	fn(&x->req, &x->resp);
}

static void work(void *arg)
{
	struct exchange *x = arg;

	bool reads = x->req.is_head || !strcmp(x->req.method, "GET");

	if (atomic_load(&x->h->cutting))
		fsc_resp_error(&x->resp, 503, "stopping", "the server stops");
	else if (reads && atomic_load(&x->req.stop)) /* while it waited for a worker */
		fsc_resp_error(&x->resp, 503, "query_stopped", "the query took too long");
	else
		run_handler(x);
	if (x->conn)
		fsc_conns_set_stop(x->h->conns, x->conn, NULL);
	x->phase = PHASE_ANSWER;
	MHD_resume_connection(x->mc);
}

/* The whole request is here. */
static enum MHD_Result dispatch(struct exchange *x)
{
	uint32_t flags = x->req.route ? x->req.route->flags : FSC_ROUTE_INLINE;

	if (x->conn)
		fsc_conn_enter(x->conn, FSC_CONN_RUNNING);
	if (flags & FSC_ROUTE_INLINE) {
		run_handler(x);
		return answer(x);
	}
	x->phase = PHASE_RUNNING;
	if (x->conn)
		fsc_conns_set_stop(x->h->conns, x->conn, &x->req.stop);
	MHD_suspend_connection(x->mc);
	/* What waits for the disk must not keep readers from their answers: the end of an upload, or hundreds of clients
	 * that ask after a cut where theirs is. */
	if (fsc_pool_submit(flags & (FSC_ROUTE_RAW | FSC_ROUTE_DISK) ? x->h->uploads
								     : x->h->workers,
			    work, x))
		return MHD_YES;
	if (x->conn)
		fsc_conns_set_stop(x->h->conns, x->conn, NULL);
	MHD_resume_connection(x->mc);
	fsc_resp_header(&x->resp, "Retry-After", "1");
	fsc_resp_error(&x->resp, 503, "too_busy", "too many requests wait at this moment");
	x->phase = PHASE_ANSWER;
	return MHD_YES;
}

/* The refusal is in resp; a small body is read first, unless the client waits to be told to send it. */
static enum MHD_Result refuse(struct exchange *x)
{
	if (x->req.has_body && !x->resp.close && x->req.content_length <= DRAIN_MAX &&
	    !fsc_req_header(&x->req, "Expect")) {
		x->phase = PHASE_DRAIN;
		return MHD_YES;
	}
	if (x->req.has_body)
		x->resp.close = true;
	return answer(x);
}

static enum MHD_Result on_head(struct exchange *x, const char *method, const char *url,
			       const char *version)
{
	struct fsc_err err = FSC_ERR_INIT;

	if (read_head(x, method, url, version, &err)) {
		x->resp.close = true;
		fsc_resp_error(&x->resp, err.status == FSC_ELIMIT ? 431 : 400, err.code, "%s",
			       err.msg);
		return refuse(x);
	}
	if (!fsc_gates_pass(&x->req, &x->resp))
		return refuse(x);
	if (x->req.route && (x->req.route->flags & FSC_ROUTE_RAW) &&
	    x->h->cfg.open_body(x->h->cfg.app, &x->req, &x->resp, &x->req.sink, &err)) {
		x->h->cfg.fail(&x->req, &x->resp, &err);
		return refuse(x);
	}
	x->phase = PHASE_BODY;
	if (x->conn && x->req.has_body)
		fsc_conn_enter(x->conn, FSC_CONN_BODY);
	return MHD_YES;
}

static enum fsc_status take_body(struct exchange *x, const char *data, size_t n,
				 struct fsc_err *err)
{
	struct fsc_req *req = &x->req;

	x->body_bytes += n;
	if (x->conn)
		atomic_store(&x->conn->bytes, x->body_bytes);
	if (!req->route || x->body_bytes > req->route->max_body)
		return fsc_err_set(err, FSC_ELIMIT, "body_too_large",
				   "the body passes the limit of %llu bytes",
				   req->route ? (unsigned long long)req->route->max_body : 0ULL);
	if (req->sink.write)
		return req->sink.write(req->sink.ctx, data, n, err);
	fsc_buf_add(&req->body, data, n);
	if (fsc_buf_status(&req->body) == FSC_ENOMEM)
		return fsc_err_set(err, FSC_ENOMEM, NULL, "no memory for the body");
	return fsc_buf_status(&req->body)
		       ? fsc_err_set(err, fsc_buf_status(&req->body), "body_too_large",
				     "the body passes its limit")
		       : FSC_OK;
}

/* Gives up what the body was written to, at once: it may be many gigabytes of disk. */
static void drop_sink(struct fsc_req *req)
{
	if (req->sink.free)
		req->sink.free(req->sink.ctx);
	memset(&req->sink, 0, sizeof(req->sink));
}

static enum MHD_Result on_body(struct exchange *x, const char *data, size_t *n)
{
	struct fsc_err err = FSC_ERR_INIT;
	size_t got = *n;

	*n = 0;
	if (x->phase == PHASE_DRAIN) {
		x->drained += got;
		return x->drained > DRAIN_AFTER_ERROR ? MHD_NO : MHD_YES;
	}
	if (take_body(x, data, got, &err)) {
		x->h->cfg.fail(&x->req, &x->resp, &err);
		drop_sink(&x->req);
		x->resp.close = true;
		x->phase = PHASE_DRAIN;
	}
	return MHD_YES;
}

enum MHD_Result fsc_exchange_step(void *cls, struct MHD_Connection *mc, const char *url,
				  const char *method, const char *version, const char *data,
				  size_t *n, void **con_cls)
{
	struct exchange *x = *con_cls;

	(void)cls;
	(void)mc;
	switch (x->phase) {
	case PHASE_HEAD:
		return on_head(x, method, url, version);
	case PHASE_BODY:
		return *n ? on_body(x, data, n) : dispatch(x);
	case PHASE_DRAIN:
		return *n ? on_body(x, data, n) : answer(x);
	case PHASE_ANSWER:
		return answer(x);
	case PHASE_RUNNING:
	case PHASE_SENT:
		break;
	}
	return MHD_YES;
}

static void log_access(const struct exchange *x, int64_t ns, bool complete)
{
	const struct fsc_req *req = &x->req;
	bool quiet = req->route && (req->route->flags & FSC_ROUTE_QUIET) && x->resp.status < 400;
	char method[64], path[512], who[96];

	fsc_log(quiet ? FSC_LOG_DEBUG : FSC_LOG_INFO, "http",
		"req=%s peer=%s who=%s method=%s path=%s status=%d bytes_in=%llu bytes=%llu "
		"ms=%.2f%s%s%s",
		req->id, req->peer[0] ? req->peer : "-",
		fsc_log_quote(who, sizeof(who), req->who.label),
		fsc_log_quote(method, sizeof(method), req->method[0] ? req->method : "-"),
		fsc_log_quote(path, sizeof(path), req->path[0] ? req->path : "-"),
		x->phase == PHASE_SENT ? x->resp.status : 0, (unsigned long long)x->body_bytes,
		(unsigned long long)x->sent_bytes, (double)ns / 1e6,
		x->resp.error_code[0] ? " error=" : "", x->resp.error_code,
		complete ? "" : " aborted=1");
}

void fsc_exchange_end(void *cls, struct MHD_Connection *mc, void **con_cls,
		      enum MHD_RequestTerminationCode why)
{
	struct exchange *x = *con_cls;
	int64_t ns;

	(void)cls;
	(void)mc;
	if (!x)
		return;
	ns = fsc_clock_mono_ns() - x->req.start_ns;
	if (x->stream) {
		fsc_stream_cancel(x->stream);
		if (x->conn)
			fsc_conns_set_stream(x->h->conns, x->conn, NULL);
		fsc_stream_unref(x->stream);
	}
	log_access(x, ns, why == MHD_REQUEST_TERMINATED_COMPLETED_OK);
	fsc_stats_add(x->h->stats, &x->req, x->phase == PHASE_SENT ? x->resp.status : 0,
		      x->body_bytes, x->sent_bytes, ns);
	atomic_fetch_sub(&x->h->unsent, x->unsent);
	fsc_resp_fini(&x->resp);
	fsc_req_fini(&x->req);
	if (x->conn)
		fsc_conn_enter(x->conn, FSC_CONN_IDLE);
	atomic_fetch_sub(&x->h->active, 1);
	fsc_free(x);
	*con_cls = NULL;
}
