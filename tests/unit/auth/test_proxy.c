/* SPDX-License-Identifier: Apache-2.0 */
/* Trusted proxies: addresses, groups, and which requests name a user. */
#define CONTRACT_STORE_URL "sqlite:%s/store.db"
#define CONTRACT_BLOBS_URL "dir:%s/blobs"
#include "tests/store/contract.h"

#include "auth/auth.h"
#include "auth/proxy.h"

static struct fsc_proxy *proxy_of(struct place *p, const char *const *peers, size_t n,
				  const struct fsc_proxy_group *groups, size_t n_groups)
{
	const struct fsc_proxy_opts o = { .peers = peers,
					  .n_peers = n,
					  .user_header = "X-Forwarded-User",
					  .groups_header = "X-Forwarded-Groups",
					  .groups = groups,
					  .n_groups = n_groups };
	struct fsc_proxy *out = NULL;

	assert_ok(p, fsc_proxy_new(&out, &o, p->s, &p->err));
	return out;
}

static void an_address_is_trusted_when_a_prefix_of_its_kind_covers_it(void **state)
{
	static const struct {
		const char *peer, *address;
		bool trusted;
	} all[] = {
		{ "10.0.0.0/8", "10.255.0.1", true },
		{ "10.0.0.0/8", "11.0.0.1", false },
		{ "10.0.0.0/8", "::ffff:10.1.2.3", true },
		{ "10.0.0.0/8", "a00::1", false }, /* the same first byte */
		{ "192.168.4.128/25", "192.168.4.127", false },
		{ "192.168.4.128/25", "192.168.4.128", true },
		{ "192.168.4.128/31", "192.168.4.129", true },
		{ "192.168.4.128/31", "192.168.4.130", false },
		{ "127.0.0.1", "127.0.0.1", true },
		{ "127.0.0.1", "127.0.0.2", false },
		{ "127.0.0.1", "::1", false },
		{ "0.0.0.0/0", "203.0.113.9", true },
		{ "0.0.0.0/0", "2001:db8::1", false },
		{ "::/0", "2001:db8::1", true },
		{ "::/0", "203.0.113.9", false },
		{ "::/0", "::ffff:203.0.113.9", false },
		{ "::1", "::1", true },
		{ "fd00:1234::/33", "fd00:1234:7fff::1", true },
		{ "fd00:1234::/33", "fd00:1234:8000::1", false },
		{ "::ffff:10.1.0.0/112", "10.1.255.255", true },
		{ "::ffff:10.1.0.0/112", "10.2.0.0", false },
		{ "::ffff:10.1.2.3", "10.1.2.3", true },
		{ "10.0.0.0/8", "-", false },
		{ "10.0.0.0/8", "", false },
		{ "10.0.0.0/8", "10.0.0.1x", false },
	};
	struct place *p = *state;

	for (size_t i = 0; i < FSC_ARRAY_LEN(all); i++) {
		struct fsc_proxy *x = proxy_of(p, &all[i].peer, 1, NULL, 0);

		if (fsc_proxy_trusts(x, all[i].address) != all[i].trusted)
			fail_msg("%s by %s", all[i].address, all[i].peer);
		fsc_proxy_free(x);
	}
}

static void nobody_is_trusted_without_a_list(void **state)
{
	struct fsc_proxy *x = proxy_of(*state, NULL, 0, NULL, 0);

	assert_false(fsc_proxy_configured(x));
	assert_false(fsc_proxy_trusts(x, "127.0.0.1"));
	fsc_proxy_free(x);
}

static void values_that_are_slips_are_refused(void **state)
{
	static const char *const peers[] = { "",
					     "/8",
					     "10.0.0.0/",
					     "10.0.0.0/33",
					     "10.0.0.1/8",
					     "::1/129",
					     "10.0.0.0/-1",
					     "localhost",
					     "10.0.0.0/8/8",
					     "fd00::1/64",
					     "::ffff:0:0/95",
					     "10.0.0.0 /8",
					     "1.2.3",
					     "010.0.0.1" };
	static const char *const groups[] = { "",
					      " ",
					      "vision",
					      "vision:",
					      ":read",
					      "vision:write",
					      "*:read",
					      "*:admin,read",
					      "Vis:read",
					      "a:read b:nope",
					      "a:read,read b" };
	struct place *p = *state;

	for (size_t i = 0; i < FSC_ARRAY_LEN(peers); i++)
		assert_fails(p, fsc_proxy_check_peer(peers[i], &p->err), FSC_EINVAL, "bad_peer");
	for (size_t i = 0; i < FSC_ARRAY_LEN(groups); i++)
		assert_int_equal(fsc_proxy_check_group(groups[i], &p->err), FSC_EINVAL);
	fsc_err_clear(&p->err);
	assert_ok(p, fsc_proxy_check_group("a:read b:upload,capture *:admin", &p->err));
	assert_int_equal(fsc_proxy_check_header("X Y", NULL), FSC_EINVAL);
	assert_int_equal(fsc_proxy_check_header("", NULL), FSC_EINVAL);
	assert_int_equal(fsc_proxy_check_header("X-Auth-Request-User", NULL), FSC_OK);
}

static void set_headers(struct fsc_req *req, const char *const *pairs, size_t n)
{
	req->n_headers = 0;
	for (size_t i = 0; i + 1 < n; i += 2)
		req->headers[req->n_headers++] =
			(struct fsc_req_pair){ pairs[i], pairs[i + 1], strlen(pairs[i]),
					       strlen(pairs[i + 1]) };
}

static void groups_of_a_user_add_up(void **state)
{
	static const struct fsc_proxy_group groups[] = { { "a", "one:read two:read" },
							 { "b", "one:upload" },
							 { "c", "one:admin" },
							 { "ops", "*:admin" } };
	static const char *const peer = "10.0.0.0/8";
	const char *head[] = { "x-forwarded-user", "ann", "X-Forwarded-Groups", "b ,a" };
	struct place *p = *state;
	struct fsc_proxy *x = proxy_of(p, &peer, 1, groups, FSC_ARRAY_LEN(groups));
	struct fsc_http_config cfg = FSC_HTTP_CONFIG_INIT;
	struct fsc_req req;
	int64_t one;

	assert_ok(p, fsc_store_project_find(p->s, "one", &one, &p->err));
	fsc_req_init(&req, &cfg);
	set_headers(&req, head, FSC_ARRAY_LEN(head));
	assert_ok(p, fsc_proxy_identify(x, &req, &p->err));
	assert_string_equal(req.who.label, "user:ann");
	assert_true(req.who.n_grants == 2 && !req.who.is_operator);
	assert_true(req.who.grants[0].project == one);
	assert_int_equal(req.who.grants[0].perms, FSC_PERM_READ | FSC_PERM_UPLOAD);
	assert_int_equal(req.who.grants[1].perms, FSC_PERM_READ);
	head[3] = "c,ops";
	set_headers(&req, head, FSC_ARRAY_LEN(head));
	assert_ok(p, fsc_proxy_identify(x, &req, &p->err));
	assert_true(req.who.is_operator);
	assert_int_equal(req.who.grants[0].perms, FSC_AUTH_ALL_PERMS);
	head[3] = ",, ,\t, ";
	req.who.is_operator = false;
	set_headers(&req, head, FSC_ARRAY_LEN(head));
	assert_fails(p, fsc_proxy_identify(x, &req, &p->err), FSC_EDENIED, "no_group");
	fsc_req_fini(&req);
	fsc_proxy_free(x);
}

static void the_client_of_a_trusted_proxy_is_the_last_it_names(void **state)
{
	static const char *const peer = "10.0.0.0/8";
	static const struct {
		const char *peer, *list, *client;
	} all[] = {
		{ "10.0.0.1", "198.51.100.1, 203.0.113.9", "203.0.113.9" },
		{ "10.0.0.1", "2001:db8::7", "2001:db8::7" },
		{ "10.0.0.1", "unknown", "10.0.0.1" },
		{ "10.0.0.1", "", "10.0.0.1" },
		{ "11.0.0.1", "203.0.113.9", "11.0.0.1" },
	};
	struct fsc_http_config cfg = FSC_HTTP_CONFIG_INIT;
	struct fsc_proxy *x = proxy_of(*state, &peer, 1, NULL, 0);

	for (size_t i = 0; i < FSC_ARRAY_LEN(all); i++) {
		const char *head[] = { "X-Forwarded-For", all[i].list };
		struct fsc_req req;

		fsc_req_init(&req, &cfg);
		memcpy(req.peer, all[i].peer, strlen(all[i].peer) + 1);
		set_headers(&req, head, 2);
		assert_string_equal(fsc_proxy_client(x, &req), all[i].client);
		fsc_req_fini(&req);
	}
	fsc_proxy_free(x);
}

/* Proxies that append, as HAProxy does, add a line of their own behind what the client sent. */
static void of_several_lines_of_addresses_the_last_is_the_proxys(void **state)
{
	static const char *const peer = "10.0.0.0/8";
	const char *head[] = { "X-Forwarded-For", "198.51.100.1", "Accept", "*/*",
			       "x-forwarded-for", "203.0.113.9" };
	struct fsc_http_config cfg = FSC_HTTP_CONFIG_INIT;
	struct fsc_proxy *x = proxy_of(*state, &peer, 1, NULL, 0);
	struct fsc_req req;

	fsc_req_init(&req, &cfg);
	memcpy(req.peer, "10.0.0.1", sizeof("10.0.0.1"));
	set_headers(&req, head, FSC_ARRAY_LEN(head));
	assert_string_equal(fsc_proxy_client(x, &req), "203.0.113.9");
	fsc_req_fini(&req);
	fsc_proxy_free(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		contract_test(an_address_is_trusted_when_a_prefix_of_its_kind_covers_it),
		contract_test(nobody_is_trusted_without_a_list),
		contract_test(values_that_are_slips_are_refused),
		contract_test(groups_of_a_user_add_up),
		contract_test(the_client_of_a_trusted_proxy_is_the_last_it_names),
		contract_test(of_several_lines_of_addresses_the_last_is_the_proxys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
