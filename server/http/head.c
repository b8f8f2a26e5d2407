/* SPDX-License-Identifier: Apache-2.0 */
/* Head checks. A request that two HTTP implementations may understand differently is refused. */
#include "http/head.h"

#include <string.h>
#include <strings.h>

#include "base/num.h"

static enum fsc_status refuse(struct fsc_err *err, const char *code, const char *why)
{
	return fsc_err_set(err, FSC_EINVAL, code, "request head: %s", why);
}

static bool is_token(const char *s, size_t n)
{
	static const char extra[] = "!#$%&'*+-.^_`|~";

	for (size_t i = 0; i < n; i++) {
		char c = s[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      (c && strchr(extra, c))))
			return false;
	}
	return n > 0;
}

static bool is_field_value(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (((unsigned char)s[i] < ' ' && s[i] != '\t') || s[i] == 127)
			return false;
	return true;
}

/*
 * libmicrohttpd cuts the head in place: "\r\n" becomes two NULs, a bare "\n" becomes one, and a folded line
 * is copied away from its place. So after each line there are exactly two NULs before the next line begins,
 * or the head was not written as RFC 9112 demands.
 */
static bool line_ends_before(const char *end, const char *next)
{
	return next == end + 2 && end[0] == '\0' && end[1] == '\0';
}

static enum fsc_status check_lines(const struct fsc_req *req, const char *url, const char *version,
				   size_t head_bytes, struct fsc_err *err)
{
	const char *end = version + strlen(version);

	if (url != req->method + strlen(req->method) + 1 ||
	    version != url + strlen(req->raw_uri) + 1)
		return refuse(err, "bad_request_line",
			      "the request line is not METHOD SP target SP version");
	for (uint32_t i = 0; i < req->n_headers; i++) {
		const struct fsc_req_pair *h = &req->headers[i];

		if (!line_ends_before(end, h->key))
			return refuse(err, "bad_line_end",
				      "a line does not end in CR LF, or is folded");
		if (h->value < h->key + h->key_len + 1)
			return refuse(err, "bad_header", "a header is not in its place");
		if (!is_token(h->key, h->key_len))
			return refuse(err, "bad_header",
				      "a header name holds characters it must not");
		if (!is_field_value(h->value, h->value_len))
			return refuse(err, "bad_header", "a header value holds control characters");
		end = h->value + h->value_len;
	}
	/* The last line end and the empty line: the count says what the bytes after it cannot. */
	if ((size_t)(end - req->method) + 4 != head_bytes || !line_ends_before(end, end + 2))
		return refuse(err, "bad_line_end", "the head does not end in an empty CR LF line");
	return FSC_OK;
}

/* The only header of that name, NULL when absent; *twice when there are more. */
static const struct fsc_req_pair *single(const struct fsc_req *req, const char *name, bool *twice)
{
	const struct fsc_req_pair *found = NULL;

	for (uint32_t i = 0; i < req->n_headers; i++) {
		if (strcasecmp(req->headers[i].key, name) != 0)
			continue;
		if (found)
			*twice = true;
		found = &req->headers[i];
	}
	return found;
}

static enum fsc_status check_framing(struct fsc_req *req, struct fsc_err *err)
{
	bool twice = false;
	const struct fsc_req_pair *cl = single(req, "Content-Length", &twice);
	const struct fsc_req_pair *te = single(req, "Transfer-Encoding", &twice);

	if (twice)
		return refuse(err, "bad_framing",
			      "Content-Length or Transfer-Encoding is given twice");
	if (cl && te)
		return refuse(err, "bad_framing",
			      "both Content-Length and Transfer-Encoding are given");
	if (te && (req->http10 || strcasecmp(te->value, "chunked") != 0))
		return refuse(err, "bad_framing", "the only transfer coding taken is chunked");
	if (cl && (!cl->value_len || strspn(cl->value, "0123456789") != cl->value_len ||
		   !fsc_parse_u64(&req->content_length, cl->value, cl->value_len)))
		return refuse(err, "bad_framing", "Content-Length is no decimal number");
	if (te)
		req->content_length = UINT64_MAX;
	req->has_body = te || req->content_length > 0;
	return FSC_OK;
}

enum fsc_status fsc_head_check(struct fsc_req *req, const char *url, const char *version,
			       size_t head_bytes, struct fsc_err *err)
{
	bool twice = false;
	enum fsc_status st;

	req->http10 = strcmp(version, "HTTP/1.1") != 0;
	if (req->http10 && strcmp(version, "HTTP/1.0") != 0)
		return refuse(err, "bad_version", "only HTTP/1.1 and HTTP/1.0 are spoken");
	if (!is_token(req->method, strlen(req->method)))
		return refuse(err, "bad_method", "the method is no token");
	st = check_lines(req, url, version, head_bytes, err);
	if (!st)
		st = check_framing(req, err);
	if (st)
		return st;
	(void)single(req, "Host", &twice);
	(void)single(req, "Authorization", &twice);
	(void)single(req, "Origin", &twice);
	if (twice)
		return refuse(err, "bad_header", "Host, Authorization or Origin is given twice");
	return FSC_OK;
}
