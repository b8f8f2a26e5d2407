/* SPDX-License-Identifier: Apache-2.0 */
/* Request parsing: target, parameters, headers, cookies. Everything here comes from outside. */
#include "http/req.h"

#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/num.h"

#define REQ_ARENA_MAX (1u << 20)

void fsc_req_init(struct fsc_req *req, const struct fsc_http_config *cfg)
{
	uint8_t id[8];

	memset(req, 0, sizeof(*req));
	req->cfg = cfg;
	req->method = "";
	req->raw_uri = "";
	req->path = "";
	req->who.label = "-";
	req->who.kind = "";
	req->who.project = "";
	fsc_arena_init(&req->arena, REQ_ARENA_MAX);
	fsc_buf_init(&req->body, 0);
	fsc_random_bytes(id, sizeof(id));
	fsc_hex(req->id, id, sizeof(id));
	req->start_ns = fsc_clock_mono_ns();
}

void fsc_req_fini(struct fsc_req *req)
{
	if (req->sink.free)
		req->sink.free(req->sink.ctx);
	memset(&req->sink, 0, sizeof(req->sink));
	fsc_buf_fini(&req->body);
	fsc_arena_fini(&req->arena);
}

void *fsc_req_app(const struct fsc_req *req)
{
	return req->cfg->app;
}

/* Percent-decodes s[0..n) into the arena; NULL when an escape is broken or gives NUL. */
static const char *decode(struct fsc_req *req, const char *s, size_t n, bool plus, size_t *out_n)
{
	char *dst = fsc_arena_alloc(&req->arena, n + 1, 1);
	size_t o = 0;

	if (!dst)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		char c = s[i];

		if (c == '%') {
			int hi = i + 2 < n ? fsc_hex_digit(s[i + 1]) : -1;
			int lo = hi >= 0 ? fsc_hex_digit(s[i + 2]) : -1;

			if (hi < 0 || lo < 0 || (hi == 0 && lo == 0))
				return NULL;
			c = (char)(hi * 16 + lo);
			i += 2;
		} else if (c == '+' && plus) {
			c = ' ';
		}
		dst[o++] = c;
	}
	*out_n = o;
	return dst;
}

static enum fsc_status bad_uri(struct fsc_err *err, const char *why)
{
	return fsc_err_set(err, FSC_EINVAL, "bad_request_target", "request target: %s", why);
}

static enum fsc_status split_path(struct fsc_req *req, const char *s, size_t n, struct fsc_err *err)
{
	size_t len, i = 0;

	if (!n || s[0] != '/')
		return bad_uri(err, "must start with a slash");
	const char *path = decode(req, s, n, false, &len);

	if (!path)
		return bad_uri(err, "broken percent escape");
	req->path = path;
	while (i < n) {
		size_t start = ++i;

		while (i < n && s[i] != '/')
			i++;
		const char *seg = decode(req, s + start, i - start, false, &len);

		if (!seg)
			return bad_uri(err, "broken percent escape");
		if (!strcmp(seg, ".") || !strcmp(seg, "..") || strpbrk(seg, "/\\"))
			return bad_uri(err, "dot segments and escaped slashes are not taken");
		if (!len && !(start == i && i == n))
			return bad_uri(err, "empty path segment");
		if (!len)
			continue; /* trailing slash */
		if (req->n_segments == FSC_REQ_MAX_SEGMENTS)
			return bad_uri(err, "too many path segments");
		req->segments[req->n_segments++] = seg;
	}
	return FSC_OK;
}

static enum fsc_status split_query(struct fsc_req *req, const char *s, struct fsc_err *err)
{
	while (*s) {
		size_t n = strcspn(s, "&");
		const char *eq = memchr(s, '=', n);
		struct fsc_req_pair p = { 0 };

		if (n) {
			size_t klen = eq ? (size_t)(eq - s) : n;

			p.key = decode(req, s, klen, true, &p.key_len);
			p.value = eq ? decode(req, eq + 1, n - klen - 1, true, &p.value_len) : "";
			if (!p.key || !p.value)
				return bad_uri(err, "broken percent escape in the query");
			if (fsc_req_param(req, p.key))
				return bad_uri(err, "a parameter is given twice");
			if (req->n_params == FSC_REQ_MAX_PARAMS)
				return bad_uri(err, "too many parameters");
			req->params[req->n_params++] = p;
		}
		s += n + (s[n] == '&');
	}
	return FSC_OK;
}

enum fsc_status fsc_req_parse_uri(struct fsc_req *req, const char *uri, struct fsc_err *err)
{
	size_t n = strcspn(uri, "?");
	enum fsc_status st;

	req->raw_uri = uri;
	for (const char *p = uri; *p; p++)
		if ((unsigned char)*p <= ' ' || (unsigned char)*p >= 127 || *p == '#')
			return bad_uri(err, "a character that must be escaped");
	st = split_path(req, uri, n, err);
	if (!st && uri[n] == '?')
		st = split_query(req, uri + n + 1, err);
	return st;
}

unsigned fsc_req_header_count(const struct fsc_req *req, const char *name)
{
	size_t n = strlen(name);
	unsigned count = 0;

	for (uint32_t i = 0; i < req->n_headers; i++)
		count += req->headers[i].key_len == n && !strncasecmp(req->headers[i].key, name, n);
	return count;
}

const char *fsc_req_header(const struct fsc_req *req, const char *name)
{
	for (uint32_t i = 0; i < req->n_headers; i++)
		if (!strcasecmp(req->headers[i].key, name))
			return req->headers[i].value;
	return NULL;
}

const char *fsc_req_header_last(const struct fsc_req *req, const char *name)
{
	for (uint32_t i = req->n_headers; i > 0; i--)
		if (!strcasecmp(req->headers[i - 1].key, name))
			return req->headers[i - 1].value;
	return NULL;
}

const char *fsc_req_param(const struct fsc_req *req, const char *name)
{
	for (uint32_t i = 0; i < req->n_params; i++)
		if (!strcmp(req->params[i].key, name))
			return req->params[i].value;
	return NULL;
}

const char *fsc_req_path(const struct fsc_req *req, const char *name)
{
	const char *p = req->route ? req->route->path : "";
	size_t want = strlen(name);

	for (uint32_t i = 0; *p == '/' && i < req->n_segments; i++) {
		size_t n = strcspn(++p, "/");

		if (n == want + 2 && p[0] == '{' && !strncmp(p + 1, name, want))
			return req->segments[i];
		p += n;
	}
	return NULL;
}

const char *fsc_req_cookie(struct fsc_req *req, const char *name)
{
	const char *s = fsc_req_header(req, "Cookie");
	size_t want = strlen(name);

	while (s && *s) {
		size_t n;

		s += strspn(s, " ;");
		n = strcspn(s, ";");
		if (n > want && !strncmp(s, name, want) && s[want] == '=')
			return fsc_arena_dup(&req->arena, s + want + 1, n - want - 1);
		s += n;
	}
	return NULL;
}

enum fsc_status fsc_req_i64(int64_t *out, const struct fsc_req *req, const char *name, int64_t dflt,
			    int64_t min, int64_t max, struct fsc_err *err)
{
	const char *s = fsc_req_param(req, name);

	*out = dflt;
	if (!s || !*s)
		return FSC_OK;
	if (!fsc_parse_i64(out, s, strlen(s)) || *out < min || *out > max)
		return fsc_err_set(err, FSC_EINVAL, "bad_parameter",
				   "parameter %s must be an integer from %lld to %lld", name,
				   (long long)min, (long long)max);
	return FSC_OK;
}

enum fsc_status fsc_req_path_id(uint64_t *out, const struct fsc_req *req, const char *name,
				struct fsc_err *err)
{
	const char *s = fsc_req_path(req, name);

	if (!s || !fsc_parse_u64(out, s, strlen(s)) || !*out || *out > INT64_MAX)
		return fsc_err_set(err, FSC_ENOTFOUND, NULL, "no such %s", name);
	return FSC_OK;
}

/* One list item like "gzip;q=0.5": does it name the coding, and with a q above zero? */
static bool item_accepts(const char *s, size_t n, const char *coding, bool *q0)
{
	size_t len = 0;
	const char *q;

	while (n && (*s == ' ' || *s == '\t'))
		s++, n--;
	while (len < n && s[len] != ';' && s[len] != ' ' && s[len] != '\t')
		len++;
	if (len != strlen(coding) || strncasecmp(s, coding, len))
		return false;
	q = memmem(s, n, "q=", 2);
	*q0 = q && strspn(q + 2, "0.") == (size_t)(s + n - (q + 2));
	return true;
}

bool fsc_req_accepts(const struct fsc_req *req, const char *coding)
{
	const char *s = fsc_req_header(req, "Accept-Encoding");

	while (s && *s) {
		size_t n = strcspn(s, ",");
		bool q0 = false;

		if (item_accepts(s, n, coding, &q0))
			return !q0;
		s += n + (s[n] == ',');
	}
	return false;
}
