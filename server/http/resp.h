/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One response under construction. A handler sets a status, headers and either a body, borrowed bytes or a
 * producer that streams. Conditional requests, ranges, compression and security headers are applied
 * afterwards by fsc_resp_finish (finish.c), so that no handler can forget them.
 */
#ifndef FSC_HTTP_RESP_H
#define FSC_HTTP_RESP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/json_out.h"
#include "http/req.h"

#define FSC_RESP_MAX_HEADERS 24
#define FSC_RESP_MAX_BODY (64u << 20)

/* Pushes bytes to the client, blocking while it is slow: FSC_ECANCELED when it is gone. */
struct fsc_stream;
fsc_nodiscard enum fsc_status fsc_stream_write(struct fsc_stream *s, const void *p, size_t n);

/* Runs on a slow worker after the head was sent. An error ends the connection without a final chunk, so
 * that the client sees a cut body. */
typedef enum fsc_status fsc_producer(void *ctx, struct fsc_stream *s, struct fsc_err *err);

struct fsc_resp {
	struct fsc_req *req; /* borrowed */
	int status;
	const char *content_type;
	const char *etag;	   /* quoted opaque value without coding suffix, or NULL */
	const char *cache_control; /* NULL: no-store */
	const char
		*csp; /* NULL: the strict default for API answers; "": none, the page has its own */
	struct fsc_req_pair headers[FSC_RESP_MAX_HEADERS];
	uint32_t n_headers;
	struct fsc_buf body;
	const void *fixed; /* borrowed static bytes instead of body */
	size_t fixed_len;
	const char *encoding; /* coding of fixed, when it is precompressed */
	bool ranges;	      /* byte ranges may be asked for */
	bool no_compress;
	bool close;
	fsc_producer *produce;
	void *produce_ctx;
	void (*produce_free)(void *ctx);
	char error_code[FSC_ERR_CODE_MAX]; /* for the access log */
};

void fsc_resp_init(struct fsc_resp *resp, struct fsc_req *req);
void fsc_resp_fini(struct fsc_resp *resp);
/* Name and value are copied. Values with control characters are dropped (header injection). */
void fsc_resp_header(struct fsc_resp *resp, const char *name, const char *value);
/* Replaces whatever was built by {"error":{code,message,request_id}}. */
void fsc_resp_error(struct fsc_resp *resp, int status, const char *code, const char *fmt, ...)
	fsc_printf(4, 5);
/* As fsc_resp_error with "detail", an object already in JSON (may be NULL). */
void fsc_resp_error_detail(struct fsc_resp *resp, int status, const char *code, const char *message,
			   const char *detail_json);
/* Starts a JSON body: status 200, type set. */
struct fsc_json fsc_resp_json(struct fsc_resp *resp, int status);
/* Marks the answer as unchanging for this ETag. Returns true when the client has it already: the response
 * is then a finished 304 and the handler returns. parts are hashed together with the request target. */
bool fsc_resp_not_modified(struct fsc_resp *resp, const void *key, size_t n_key);
void fsc_resp_stream(struct fsc_resp *resp, const char *content_type, fsc_producer *fn, void *ctx,
		     void (*free_ctx)(void *ctx));

/* Applies If-None-Match, Range, gzip and the headers every answer has. Called once by listen.c. */
void fsc_resp_finish(struct fsc_resp *resp);

#endif
