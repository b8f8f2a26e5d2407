/* SPDX-License-Identifier: Apache-2.0 */
/* Targets, parameters, headers and cookies of a request, and the lookup of its route. */
#include "tests/support/test.h"

#include "http/gates.h"
#include "http/router.h"

static void nothing(struct fsc_req *req, struct fsc_resp *resp)
{
	(void)req;
	(void)resp;
}

static const struct fsc_route routes[] = {
	{ "GET", "/a", nothing, 0, 0, 0 },
	{ "GET", "/a/{id}", nothing, 0, 0, 0 },
	{ "GET", "/a/find", nothing, 0, 0, 0 },
	{ "POST", "/a", nothing, 0, 0, 0 },
	{ "GET", "/a/{id}/b/{x}", nothing, 0, 0, 0 },
	{ "DELETE", "/a/{id}", nothing, 0, 0, 0 },
	{ "GET", "/own/{id}", nothing, 0, 0, 0 },
	{ "HEAD", "/own/{id}", nothing, 0, 0, 0 },
	{ "HEAD", "/only/{id}", nothing, 0, 0, 0 },
};

static struct fsc_http_config config = FSC_HTTP_CONFIG_INIT;

static struct fsc_req *start(const char *method)
{
	static struct fsc_req req;

	config.routes = routes;
	config.n_routes = sizeof(routes) / sizeof(routes[0]);
	fsc_req_init(&req, &config);
	req.method = method;
	req.is_head = !strcmp(method, "HEAD");
	return &req;
}

static void parse(struct fsc_req *req, const char *uri)
{
	struct fsc_err err = FSC_ERR_INIT;

	assert_int_equal(fsc_req_parse_uri(req, uri, &err), FSC_OK);
}

static void targets_are_split_and_decoded(void **state)
{
	struct fsc_req *req = start("GET");

	(void)state;
	parse(req, "/a/b%20c/%C3%A9?q=x+y%2Bz&empty=&flag&a%3Db=%26");
	assert_string_equal(req->path, "/a/b c/\xC3\xA9");
	assert_int_equal(req->n_segments, 3);
	assert_string_equal(req->segments[1], "b c");
	assert_string_equal(fsc_req_param(req, "q"), "x y+z");
	assert_string_equal(fsc_req_param(req, "empty"), "");
	assert_string_equal(fsc_req_param(req, "flag"), "");
	assert_string_equal(fsc_req_param(req, "a=b"), "&");
	assert_null(fsc_req_param(req, "none"));
	fsc_req_fini(req);
}

static void hostile_targets_are_refused(void **state)
{
	static const char *const cases[] = {
		"",	     "a",
		"*",	     "http://x/",
		"/..",	     "/a/../b",
		"/a/%2e%2e", "/a/%2E",
		"/./a",	     "//a",
		"/a//b",     "/a%2fb",
		"/a%5cb",    "/a%00",
		"/%",	     "/%4",
		"/%zz",	     "/a?x=%",
		"/a?x=%00",  "/a?x=1&x=2",
		"/a?x&x",    "/a b",
		"/a\x7f",    "/a\xC3\xA9",
		"/a#b",	     "/1/2/3/4/5/6/7/8/9/a/b/c/d/e/f/g/h",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fsc_req *req = start("GET");
		struct fsc_err err = FSC_ERR_INIT;

		if (fsc_req_parse_uri(req, cases[i], &err) != FSC_EINVAL)
			fail_msg("taken: %s", cases[i]);
		assert_true(err.msg[0]);
		fsc_req_fini(req);
	}
}

static void more_parameters_than_the_limit_are_refused(void **state)
{
	char uri[1024] = "/a?";
	struct fsc_req *req = start("GET");
	struct fsc_err err = FSC_ERR_INIT;
	size_t n = 3;

	(void)state;
	for (int i = 0; i <= FSC_REQ_MAX_PARAMS; i++)
		n += (size_t)snprintf(uri + n, sizeof(uri) - n, "p%d=%d&", i, i);
	assert_int_equal(fsc_req_parse_uri(req, uri, &err), FSC_EINVAL);
	fsc_req_fini(req);
}

static void the_fixed_path_wins_over_a_name(void **state)
{
	char allow[64];
	struct fsc_req *req = start("GET");

	(void)state;
	parse(req, "/a/find");
	assert_int_equal(fsc_router_find(req, allow), FSC_ROUTER_FOUND);
	assert_ptr_equal(req->route, &routes[2]);
	fsc_req_fini(req);
	req = start("HEAD");
	parse(req, "/a/7/b/y");
	assert_int_equal(fsc_router_find(req, allow), FSC_ROUTER_FOUND);
	assert_string_equal(fsc_req_path(req, "id"), "7");
	assert_string_equal(fsc_req_path(req, "x"), "y");
	assert_null(fsc_req_path(req, "i"));
	fsc_req_fini(req);
}

static void a_head_of_its_own_wins_over_get_and_is_no_get(void **state)
{
	char allow[64];
	struct fsc_req *req = start("HEAD");

	(void)state;
	parse(req, "/own/7");
	assert_int_equal(fsc_router_find(req, allow), FSC_ROUTER_FOUND);
	assert_string_equal(req->route->method, "HEAD");
	fsc_req_fini(req);
	req = start("GET");
	parse(req, "/own/7");
	assert_int_equal(fsc_router_find(req, allow), FSC_ROUTER_FOUND);
	assert_string_equal(req->route->method, "GET");
	fsc_req_fini(req);
	req = start("GET");
	parse(req, "/only/7");
	assert_int_equal(fsc_router_find(req, allow), FSC_ROUTER_WRONG_METHOD);
	assert_string_equal(allow, "HEAD");
	fsc_req_fini(req);
}

static void a_wrong_method_lists_the_right_ones(void **state)
{
	char allow[64];
	struct fsc_req *req = start("PUT");

	(void)state;
	parse(req, "/a/7");
	assert_int_equal(fsc_router_find(req, allow), FSC_ROUTER_WRONG_METHOD);
	assert_string_equal(allow, "GET, HEAD, DELETE");
	fsc_req_fini(req);
	req = start("GET");
	parse(req, "/none");
	assert_int_equal(fsc_router_find(req, allow), FSC_ROUTER_NO_PATH);
	fsc_req_fini(req);
}

static void integers_keep_to_their_range(void **state)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_req *req = start("GET");
	int64_t v;

	(void)state;
	parse(req, "/a?n=5&bad=5x&big=9223372036854775808&neg=-3&none=");
	assert_int_equal(fsc_req_i64(&v, req, "n", 1, 0, 9, &err), FSC_OK);
	assert_int_equal(v, 5);
	assert_int_equal(fsc_req_i64(&v, req, "neg", 1, -3, 9, &err), FSC_OK);
	assert_int_equal(v, -3);
	assert_int_equal(fsc_req_i64(&v, req, "none", 7, 0, 9, &err), FSC_OK);
	assert_int_equal(v, 7);
	assert_int_equal(fsc_req_i64(&v, req, "absent", 8, 0, 9, &err), FSC_OK);
	assert_int_equal(v, 8);
	assert_int_equal(fsc_req_i64(&v, req, "bad", 1, 0, 9, &err), FSC_EINVAL);
	assert_int_equal(fsc_req_i64(&v, req, "big", 1, 0, INT64_MAX, &err), FSC_EINVAL);
	assert_int_equal(fsc_req_i64(&v, req, "n", 1, 6, 9, &err), FSC_EINVAL);
	fsc_req_fini(req);
}

static void set_header(struct fsc_req *req, const char *key, const char *value)
{
	req->headers[req->n_headers++] =
		(struct fsc_req_pair){ key, value, strlen(key), strlen(value) };
}

static void codings_are_read_with_their_weights(void **state)
{
	static const struct {
		const char *header;
		bool gzip, br;
	} cases[] = {
		{ "gzip", true, false },
		{ "gzip, br", true, true },
		{ "GZIP;q=0.5 , br;q=0", true, false },
		{ "gzip;q=0.000,br;q=1.0", false, true },
		{ "xgzip, gzipx", false, false },
		{ "identity", false, false },
		{ "", false, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fsc_req *req = start("GET");

		set_header(req, "accept-encoding", cases[i].header);
		assert_int_equal(fsc_req_accepts(req, "gzip"), cases[i].gzip);
		assert_int_equal(fsc_req_accepts(req, "br"), cases[i].br);
		fsc_req_fini(req);
	}
}

static void cookies_are_found_by_their_whole_name(void **state)
{
	struct fsc_req *req = start("GET");

	(void)state;
	set_header(req, "Cookie", "xs=1; s=two;s2=3; =4");
	assert_string_equal(fsc_req_cookie(req, "s"), "two");
	assert_string_equal(fsc_req_cookie(req, "s2"), "3");
	assert_null(fsc_req_cookie(req, "x"));
	fsc_req_fini(req);
}

static void only_our_names_are_hosts(void **state)
{
	static const char *const names[] = { "perf.example.com" };
	struct fsc_http_config c = FSC_HTTP_CONFIG_INIT;

	(void)state;
	c.allow_hosts = names;
	c.n_allow_hosts = 1;
	assert_true(fsc_gates_host_ok(&c, "127.0.0.1:80"));
	assert_true(fsc_gates_host_ok(&c, "[::1]"));
	assert_true(fsc_gates_host_ok(&c, "Perf.Example.com:443"));
	assert_false(fsc_gates_host_ok(&c, "10.1.2.3"));
	assert_false(fsc_gates_host_ok(&c, "evil.perf.example.com"));
	assert_false(fsc_gates_host_ok(&c, ""));
	assert_false(fsc_gates_host_ok(&c, "[::1"));
	assert_false(fsc_gates_host_ok(&c, "[::1]x"));
	c.host = "0.0.0.0";
	assert_true(fsc_gates_host_ok(&c, "10.1.2.3:8080"));
	assert_false(fsc_gates_host_ok(&c, "rebound.example"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(targets_are_split_and_decoded),
		cmocka_unit_test(hostile_targets_are_refused),
		cmocka_unit_test(more_parameters_than_the_limit_are_refused),
		cmocka_unit_test(the_fixed_path_wins_over_a_name),
		cmocka_unit_test(a_head_of_its_own_wins_over_get_and_is_no_get),
		cmocka_unit_test(a_wrong_method_lists_the_right_ones),
		cmocka_unit_test(integers_keep_to_their_range),
		cmocka_unit_test(codings_are_read_with_their_weights),
		cmocka_unit_test(cookies_are_found_by_their_whole_name),
		cmocka_unit_test(only_our_names_are_hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
