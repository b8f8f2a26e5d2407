/* SPDX-License-Identifier: Apache-2.0 */
/* What every response gets: conditional answer, byte range, gzip, security headers. */
#include "http/resp.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "http/range.h"

#define GZIP_MIN 1024
#define GZIP_LEVEL 1 /* of the levels it costs least and keeps most of the gain on JSON */

static bool compressible(const char *type)
{
	return !strncmp(type, "application/json", 16) || !strncmp(type, "text/", 5) ||
	       !strcmp(type, "application/vnd.fleetscope.slices");
}

/* Replaces the body by its gzip form; leaves it alone when that fails or does not pay. */
static bool gzip_body(struct fsc_buf *body)
{
	z_stream z = { 0 };
	struct fsc_buf out;
	bool done = false;
	uLong bound;

	if (body->len < GZIP_MIN || body->len > UINT32_MAX ||
	    deflateInit2(&z, GZIP_LEVEL, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return false;
	bound = deflateBound(&z, (uLong)body->len);
	fsc_buf_init(&out, bound + 1);
	z.next_out = (Bytef *)fsc_buf_room(&out, bound);
	if (z.next_out) {
		z.avail_out = (uInt)bound;
		z.next_in = (Bytef *)body->data;
		z.avail_in = (uInt)body->len;
		done = deflate(&z, Z_FINISH) == Z_STREAM_END && z.total_out < body->len;
		out.len = z.total_out;
	}
	deflateEnd(&z);
	if (done) {
		struct fsc_buf old = *body;

		*body = out;
		out = old;
	}
	fsc_buf_fini(&out);
	return done;
}

static void negotiate_coding(struct fsc_resp *resp)
{
	const char *type = resp->content_type;
	const char *coding = resp->encoding;

	if (!coding && !resp->fixed && !resp->produce && type && compressible(type)) {
		fsc_resp_header(resp, "Vary", "Accept-Encoding");
		/* Columns are for speed: on the same machine compressing them only costs. */
		if (!resp->no_compress &&
		    !(type[0] == 'a' && type[12] == 'v' && resp->req->peer_loopback) &&
		    !fsc_req_header(resp->req, "Range") && fsc_req_accepts(resp->req, "gzip") &&
		    gzip_body(&resp->body))
			coding = "gzip";
	}
	if (!coding)
		return;
	fsc_resp_header(resp, "Content-Encoding", coding);
	if (resp->etag)
		resp->etag = fsc_arena_printf(&resp->req->arena, "%.*s-%s\"",
					      (int)strlen(resp->etag) - 1, resp->etag,
					      coding[0] == 'g' ? "gz" : "br");
}

static void apply_range(struct fsc_resp *resp)
{
	const char *range = fsc_req_header(resp->req, "Range");
	const char *if_range = fsc_req_header(resp->req, "If-Range");
	size_t total = resp->fixed ? resp->fixed_len : resp->body.len;
	const char *data = resp->fixed ? resp->fixed : resp->body.data;
	uint64_t first, last;
	char text[96];

	if (!resp->ranges || resp->status != 200)
		return;
	fsc_resp_header(resp, "Accept-Ranges", "bytes");
	/* Ranges are defined for GET only (RFC 9110 section 14.2). */
	if (!range || resp->req->is_head ||
	    (if_range && (!resp->etag || strcmp(if_range, resp->etag) != 0)))
		return;
	switch (fsc_range_parse(range, total, &first, &last)) {
	case FSC_RANGE_NONE:
		return;
	case FSC_RANGE_BAD:
		fsc_resp_error(resp, 416, "range_not_satisfiable",
			       "the range lies outside the %zu bytes", total);
		snprintf(text, sizeof(text), "bytes */%zu", total);
		fsc_resp_header(resp, "Content-Range", text);
		return;
	case FSC_RANGE_ONE:
		snprintf(text, sizeof(text), "bytes %llu-%llu/%zu", (unsigned long long)first,
			 (unsigned long long)last, total);
		fsc_resp_header(resp, "Content-Range", text);
		resp->status = 206;
		resp->fixed = data + first;
		resp->fixed_len = (size_t)(last - first + 1);
		return;
	}
}

#define API_CSP "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

void fsc_resp_finish(struct fsc_resp *resp)
{
	if (!resp->produce && !resp->fixed && fsc_buf_status(&resp->body) != FSC_OK)
		fsc_resp_error(resp, 500, "response_too_large",
			       "the answer passed its limit of %u bytes", FSC_RESP_MAX_BODY);
	if (resp->status == 304) {
		fsc_buf_clear(&resp->body);
		resp->fixed = NULL;
		/* As its 200 has it: a cache in between must not give the one form for the other. */
		fsc_resp_header(resp, "Vary", "Accept-Encoding");
	} else {
		negotiate_coding(resp);
		apply_range(resp);
	}
	if (resp->content_type && resp->status != 304 && resp->status != 204)
		fsc_resp_header(resp, "Content-Type", resp->content_type);
	if (resp->etag)
		fsc_resp_header(resp, "ETag", resp->etag);
	fsc_resp_header(resp, "Cache-Control",
			resp->cache_control ? resp->cache_control : "no-store");
	if (!resp->csp || *resp->csp)
		fsc_resp_header(resp, "Content-Security-Policy", resp->csp ? resp->csp : API_CSP);
	fsc_resp_header(resp, "X-Content-Type-Options", "nosniff");
	fsc_resp_header(resp, "Referrer-Policy", "same-origin");
	fsc_resp_header(resp, "Cross-Origin-Resource-Policy", "same-origin");
	fsc_resp_header(resp, "X-Request-Id", resp->req->id);
}
