/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The head check on buffers cut as libmicrohttpd cuts them: every way in which a good head can be one byte
 * different must be seen. tests/api/http.test.ts does the same through the library itself.
 */
#include "tests/support/test.h"

#include "http/head.h"

/* Cuts text in place: CR LF to two NULs, a bare LF to one, blanks of the request line and colons to NUL. */
struct cut {
	char buf[512];
	const char *url, *version;
	size_t bytes;
};

static char *line_end(char *p)
{
	while (*p && *p != '\r' && *p != '\n')
		p++;
	return p;
}

static char *cut_end(char *p)
{
	if (p[0] == '\r' && p[1] == '\n')
		*p++ = '\0';
	*p = '\0';
	return p + 1;
}

static void cut_head(struct cut *c, struct fsc_req *req, const char *text)
{
	char *p = c->buf, *end, *sp;

	memset(c, 0, sizeof(*c));
	snprintf(c->buf, sizeof(c->buf), "%s", text);
	end = line_end(p);
	req->method = p;
	sp = strchr(p, ' ');
	*sp = '\0';
	c->url = sp + 1;
	req->raw_uri = c->url;
	sp = strchr(sp + 1, ' ');
	*sp = '\0';
	c->version = sp + 1;
	p = cut_end(end);
	while (*p && *p != '\r' && *p != '\n') {
		char *colon = strchr(p, ':');
		struct fsc_req_pair *h = &req->headers[req->n_headers++];

		end = line_end(p);
		*colon = '\0';
		h->key = p;
		h->key_len = strlen(p);
		h->value = colon + 1 + strspn(colon + 1, " \t");
		h->value_len = (size_t)(end - h->value);
		p = cut_end(end);
	}
	c->bytes = (size_t)(cut_end(p) - c->buf);
}

static enum fsc_status check(const char *text, struct fsc_req *out)
{
	static struct fsc_http_config cfg = FSC_HTTP_CONFIG_INIT;
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_req req;
	struct cut c;
	enum fsc_status st;

	fsc_req_init(&req, &cfg);
	cut_head(&c, &req, text);
	st = fsc_head_check(&req, c.url, c.version, c.bytes, &err);
	if (out)
		*out = req;
	fsc_req_fini(&req);
	return st;
}

static void a_good_head_passes(void **state)
{
	struct fsc_req req;

	(void)state;
	assert_int_equal(check("GET /a HTTP/1.1\r\nHost: x\r\nA:b\r\nEmpty:\r\n\r\n", &req),
			 FSC_OK);
	assert_false(req.has_body);
	assert_int_equal(check("GET /a HTTP/1.1\r\n\r\n", NULL), FSC_OK);
	assert_int_equal(check("POST /a HTTP/1.1\r\nContent-Length: 17\r\n\r\n", &req), FSC_OK);
	assert_int_equal(req.content_length, 17);
	assert_int_equal(check("POST /a HTTP/1.1\r\ntransfer-encoding: Chunked\r\n\r\n", &req),
			 FSC_OK);
	assert_true(req.content_length == UINT64_MAX && req.has_body);
}

static void every_line_end_that_is_not_crlf_is_seen(void **state)
{
	static const char *const cases[] = {
		"GET /a HTTP/1.1\nHost: x\r\nA: b\r\n\r\n",
		"GET /a HTTP/1.1\r\nHost: x\nA: b\r\n\r\n",
		"GET /a HTTP/1.1\r\nHost: x\r\nA: b\n\r\n",
		"GET /a HTTP/1.1\r\nHost: x\r\nA: b\r\n\n",
		"GET /a HTTP/1.1\n\n",
		"GET /a HTTP/1.1\n\r\n",
		"GET /a HTTP/1.1\r\n\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (check(cases[i], NULL) != FSC_EINVAL)
			fail_msg("case %zu taken", i);
}

static void framing_that_two_hops_could_read_differently_is_refused(void **state)
{
	static const char *const heads[] = {
		"Content-Length: 1\r\nTransfer-Encoding: chunked",
		"Transfer-Encoding: chunked\r\nContent-Length: 1",
		"Content-Length: 1\r\nContent-Length: 1",
		"content-length: 1\r\nCONTENT-LENGTH: 2",
		"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
		"Transfer-Encoding: identity",
		"Transfer-Encoding: chunked, chunked",
		"Content-Length: 1,1",
		"Content-Length: 0x1",
		"Content-Length: -1",
		"Content-Length: 1 ",
		"Content-Length:",
		"Content-Length: 18446744073709551616",
		"Host: a\r\nHost: a",
		"Na(me: x",
		"Name : x",
		": x",
	};
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		snprintf(text, sizeof(text), "POST /a HTTP/1.1\r\n%s\r\n\r\n", heads[i]);
		if (check(text, NULL) != FSC_EINVAL)
			fail_msg("taken: %s", heads[i]);
	}
	assert_int_equal(check("POST /a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", NULL),
			 FSC_EINVAL);
	assert_int_equal(check("GET /a HTTP/2.0\r\n\r\n", NULL), FSC_EINVAL);
	assert_int_equal(check("GET /a HTTP/1.1\r\nA: b\x01\r\n\r\n", NULL), FSC_EINVAL);
	assert_int_equal(check("G<T /a HTTP/1.1\r\n\r\n", NULL), FSC_EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_head_passes),
		cmocka_unit_test(every_line_end_that_is_not_crlf_is_seen),
		cmocka_unit_test(framing_that_two_hops_could_read_differently_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
