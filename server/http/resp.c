/* SPDX-License-Identifier: Apache-2.0 */
/* Building a response: headers, errors, JSON bodies, ETags. What is common to all is in finish.c. */
#include "http/resp.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/crypto.h"

void fsc_resp_init(struct fsc_resp *resp, struct fsc_req *req)
{
	memset(resp, 0, sizeof(*resp));
	resp->req = req;
	resp->status = 200;
	fsc_buf_init(&resp->body, FSC_RESP_MAX_BODY);
}

static void drop_producer(struct fsc_resp *resp)
{
	if (resp->produce && resp->produce_free)
		resp->produce_free(resp->produce_ctx);
	resp->produce = NULL;
}

void fsc_resp_fini(struct fsc_resp *resp)
{
	drop_producer(resp);
	fsc_buf_fini(&resp->body);
}

void fsc_resp_header(struct fsc_resp *resp, const char *name, const char *value)
{
	struct fsc_req_pair *h;

	for (const char *p = value; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 127)
			return;
	if (resp->n_headers == FSC_RESP_MAX_HEADERS)
		return;
	h = &resp->headers[resp->n_headers];
	h->key = fsc_arena_dup(&resp->req->arena, name, strlen(name));
	h->value = fsc_arena_dup(&resp->req->arena, value, strlen(value));
	if (h->key && h->value)
		resp->n_headers++;
}

void fsc_resp_error_detail(struct fsc_resp *resp, int status, const char *code, const char *message,
			   const char *detail_json)
{
	struct fsc_json j;

	drop_producer(resp);
	fsc_buf_clear(&resp->body);
	resp->fixed = NULL;
	resp->etag = NULL;
	resp->cache_control = NULL;
	resp->csp = NULL;
	resp->status = status;
	resp->content_type = "application/json";
	snprintf(resp->error_code, sizeof(resp->error_code), "%s", code);
	fsc_json_init(&j, &resp->body);
	fsc_json_obj(&j);
	fsc_json_key(&j, "error");
	fsc_json_obj(&j);
	fsc_json_kstr(&j, "code", code);
	fsc_json_kstr(&j, "message", message);
	if (detail_json) {
		fsc_json_key(&j, "detail");
		fsc_json_raw(&j, detail_json, strlen(detail_json));
	}
	fsc_json_kstr(&j, "request_id", resp->req->id);
	fsc_json_obj_end(&j);
	fsc_json_obj_end(&j);
}

void fsc_resp_error(struct fsc_resp *resp, int status, const char *code, const char *fmt, ...)
{
	char msg[FSC_ERR_MSG_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	fsc_resp_error_detail(resp, status, code, msg, NULL);
}

struct fsc_json fsc_resp_json(struct fsc_resp *resp, int status)
{
	struct fsc_json j;

	resp->status = status;
	resp->content_type = "application/json";
	fsc_json_init(&j, &resp->body);
	return j;
}

void fsc_resp_stream(struct fsc_resp *resp, const char *content_type, fsc_producer *fn, void *ctx,
		     void (*free_ctx)(void *ctx))
{
	resp->status = 200;
	resp->content_type = content_type;
	resp->produce = fn;
	resp->produce_ctx = ctx;
	resp->produce_free = free_ctx;
}

/* The tag as an If-None-Match list names it, with the suffix of the coding that the client holds; NULL when it
 * does not. */
static const char *tag_in_list(struct fsc_arena *arena, const char *list, const char *tag)
{
	size_t n = strlen(tag) - 1; /* without the closing quote */

	if (!strcmp(list, "*"))
		return tag;
	for (const char *p = list; (p = memmem(p, strlen(p), tag, n)); p += n) {
		if (p[n] == '"')
			return tag;
		if (!strncmp(p + n, "-gz\"", 4) || !strncmp(p + n, "-br\"", 4))
			return fsc_arena_dup(arena, p, n + 4);
	}
	return NULL;
}

bool fsc_resp_not_modified(struct fsc_resp *resp, const void *key, size_t n_key)
{
	const char *asked = fsc_req_header(resp->req, "If-None-Match");
	const char *uri = resp->req->raw_uri, *held;
	struct fsc_sha256 *h = fsc_sha256_new();
	uint8_t sum[FSC_SHA256_LEN];
	char hex[25];

	fsc_sha256_update(h, FSC_VERSION, sizeof(FSC_VERSION));
	fsc_sha256_update(h, key, n_key);
	fsc_sha256_update(h, uri, strlen(uri));
	fsc_sha256_final(h, sum);
	fsc_sha256_free(h);
	fsc_hex(hex, sum, 12);
	resp->etag = fsc_arena_printf(&resp->req->arena, "\"%s\"", hex);
	resp->cache_control = "private, max-age=0, must-revalidate";
	held = resp->etag && asked ? tag_in_list(&resp->req->arena, asked, resp->etag) : NULL;
	if (!held)
		return false;
	resp->etag = held;
	resp->status = 304;
	return true;
}
