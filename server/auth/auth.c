/* SPDX-License-Identifier: Apache-2.0 */
/* The authorize step. */
#include "auth/auth.h"

#include <arpa/inet.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "auth/cache.h"
#include "auth/choose.h"
#include "auth/limit.h"
#include "auth/proxy.h"
#include "auth/session.h"
#include "auth/ticket.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "base/log.h"
#include "store/store.h"

#define SEC_NS INT64_C(1000000000)
#define LOGIN_BURST 10
#define LOGIN_EVERY_NS (6 * SEC_NS)

struct fsc_auth {
	struct fsc_auth_opts opts;
	uint8_t key[FSC_SESSION_KEY];
	struct fsc_cache *cache; /* owned */
	struct fsc_limit *rate;	 /* owned; NULL: no limit */
	struct fsc_limit *login; /* owned: wrong tokens by address */
	_Atomic uint64_t limited, login_failed, login_limited, headers_ignored;
};

static enum fsc_status load_key(struct fsc_auth *a, struct fsc_err *err)
{
	uint8_t fresh[FSC_SESSION_KEY];
	const uint8_t *kept;
	struct fsc_arena arena;
	size_t n = 0;
	enum fsc_status st;

	fsc_arena_init(&arena, 4096);
	fsc_random_bytes(fresh, sizeof(fresh));
	st = fsc_store_setting_put(a->opts.store, "session_key", fresh, sizeof(fresh), true, err);
	if (!st)
		st = fsc_store_setting_get(a->opts.store, &arena, "session_key", &kept, &n, err);
	if (!st && n != FSC_SESSION_KEY)
		st = fsc_err_set(err, FSC_ECORRUPT, NULL,
				 "setting session_key has %zu bytes, not %d", n, FSC_SESSION_KEY);
	if (!st)
		memcpy(a->key, kept, FSC_SESSION_KEY);
	fsc_arena_fini(&arena);
	return st;
}

enum fsc_status fsc_auth_new(struct fsc_auth **out, const struct fsc_auth_opts *opts,
			     struct fsc_err *err)
{
	struct fsc_auth *a = fsc_xalloc(1, sizeof(*a));
	enum fsc_status st;

	a->opts = *opts;
	a->cache = fsc_cache_new(opts->store);
	a->login = fsc_limit_new(LOGIN_EVERY_NS, LOGIN_BURST);
	if (opts->rate_limit)
		a->rate =
			fsc_limit_new(SEC_NS / opts->rate_limit, opts->rate_limit * FSC_AUTH_BURST);
	st = load_key(a, err);
	if (st) {
		fsc_auth_free(a);
		return st;
	}
	*out = a;
	return FSC_OK;
}

void fsc_auth_free(struct fsc_auth *a)
{
	if (!a)
		return;
	fsc_cache_free(a->cache);
	fsc_limit_free(a->rate);
	fsc_limit_free(a->login);
	fsc_free(a);
}

bool fsc_auth_required(const struct fsc_auth *a)
{
	return a->opts.required;
}

void fsc_auth_ticket(const struct fsc_auth *a, const struct fsc_ticket *t,
		     char text[FSC_TICKET_TEXT])
{
	fsc_ticket_make(text, a->key, t);
}

bool fsc_auth_ticket_read(const struct fsc_auth *a, const char *text, struct fsc_ticket *out)
{
	return fsc_ticket_read(out, text, a->key, fsc_clock_real_ns() / SEC_NS);
}

void fsc_auth_flush(struct fsc_auth *a)
{
	fsc_cache_flush(a->cache);
}

void fsc_auth_revoked(struct fsc_auth *a)
{
	fsc_cache_drop(a->cache);
}

static void nobody(struct fsc_req *req)
{
	const char *remote = req->who.remote;

	req->who = (struct fsc_who){ .project = "", .label = "-", .kind = "", .remote = remote };
}

/* Sets who from the digest of a live token. */
static enum fsc_status admit(struct fsc_auth *a, struct fsc_req *req, const uint8_t sha256[32],
			     const char *kind, struct fsc_err *err)
{
	struct fsc_cache_token t;
	enum fsc_status st = fsc_cache_token(a->cache, sha256, &t, err);

	if (st)
		return st;
	req->who.kind = kind;
	req->who.perms =
		t.scopes & FSC_PERM_ADMIN ? FSC_AUTH_ALL_PERMS : t.scopes & FSC_AUTH_ALL_PERMS;
	req->who.project = fsc_arena_dup(&req->arena, t.project_name, strlen(t.project_name));
	req->who.project_id = t.project;
	req->who.token_id = (uint64_t)t.id;
	req->who.label = fsc_arena_printf(&req->arena, "token:%lld", (long long)t.id);
	if (!req->who.project || !req->who.label)
		return fsc_err_set(err, FSC_ENOMEM, NULL, "who is asking");
	return FSC_OK;
}

/* A proxy on this machine speaks for someone elsewhere: the loopback address proves nothing then. */
static bool is_forwarded(const struct fsc_auth *a, const struct fsc_req *req)
{
	static const char *const headers[] = { "Forwarded",	   "X-Forwarded-For",
					       "X-Forwarded-Host", "X-Forwarded-Proto",
					       "X-Forwarded-Port", "X-Forwarded-Server",
					       "X-Real-IP",	   "Via" };

	for (size_t i = 0; i < FSC_ARRAY_LEN(headers); i++)
		if (fsc_req_header(req, headers[i]))
			return true;
	return fsc_proxy_named(a->opts.proxy, req);
}

static enum fsc_status admit_loopback(struct fsc_auth *a, struct fsc_req *req)
{
	if (a->opts.required || (!a->opts.open && is_forwarded(a, req)))
		return FSC_ENOTFOUND;
	req->who.kind = "loopback";
	req->who.label = "loopback";
	req->who.is_operator = true;
	return FSC_OK;
}

static enum fsc_status bad_token(struct fsc_err *err)
{
	fsc_err_clear(err);
	return fsc_err_set(err, FSC_EDENIED, "bad_token",
			   "the token is unknown, revoked or past its time");
}

static enum fsc_status admit_bearer(struct fsc_auth *a, struct fsc_req *req, const char *header,
				    struct fsc_err *err)
{
	uint8_t digest[32];
	enum fsc_status st = FSC_ENOTFOUND;

	if (!strncasecmp(header, "Bearer ", 7) &&
	    fsc_token_digest(digest, header + 7, strlen(header + 7)))
		st = admit(a, req, digest, "token", err);
	return st == FSC_ENOTFOUND ? bad_token(err) : st;
}

/* FSC_ENOTFOUND: says nothing who it is. FSC_EDENIED, FSC_EINVAL: says something wrong. */
static enum fsc_status identify(struct fsc_auth *a, struct fsc_req *req, struct fsc_err *err)
{
	const char *header = fsc_req_header(req, "Authorization"), *cookie;
	enum fsc_status st = FSC_ENOTFOUND;
	uint8_t digest[32];

	if (header)
		return admit_bearer(a, req, header, err);
	if (fsc_proxy_trusts(a->opts.proxy, req->peer))
		st = fsc_proxy_identify(a->opts.proxy, req, err);
	else if (fsc_proxy_named(a->opts.proxy, req))
		atomic_fetch_add(&a->headers_ignored, 1);
	if (st != FSC_ENOTFOUND)
		return st;
	cookie = fsc_req_cookie(req, FSC_COOKIE_NAME);
	if (cookie && fsc_session_read(digest, cookie, a->key, fsc_clock_real_ns() / SEC_NS))
		st = admit(a, req, digest, "cookie", err);
	return st == FSC_ENOTFOUND ? admit_loopback(a, req) : st;
}

/* One request of this caller; 0, or for how long it is too much. */
static int64_t take_rate(struct fsc_auth *a, const struct fsc_who *w)
{
	int64_t wait;

	if (!a->rate || (!w->token_id && !w->user))
		return 0;
	wait = fsc_limit_take(a->rate,
			      w->token_id ? fsc_limit_key('t', &w->token_id, sizeof(w->token_id))
					  : fsc_limit_key('u', w->user, strlen(w->user)),
			      fsc_clock_mono_ns());
	if (wait)
		atomic_fetch_add(&a->limited, 1);
	return wait;
}

/* False: 429. */
static bool within_rate(struct fsc_auth *a, const struct fsc_req *req, struct fsc_resp *resp)
{
	int64_t wait = take_rate(a, &req->who);
	char seconds[24];

	if (!wait)
		return true;
	snprintf(seconds, sizeof(seconds), "%lld", (long long)((wait + SEC_NS - 1) / SEC_NS));
	fsc_resp_header(resp, "Retry-After", seconds);
	fsc_resp_error(resp, 429, "rate_limited",
		       "more than %u requests a second (and %u at once) of one token or user",
		       a->opts.rate_limit, a->opts.rate_limit * FSC_AUTH_BURST);
	return false;
}

static bool unauthorized(struct fsc_resp *resp, bool given)
{
	fsc_resp_header(resp, "WWW-Authenticate", "Bearer realm=\"fleetscope\"");
	fsc_resp_error(resp, 401, given ? "bad_token" : "token_required",
		       given ? "the token is unknown, revoked or past its time"
			     : "this call needs a token: Authorization: Bearer, or log in");
	return false;
}

static bool refuse(const struct fsc_err *err, struct fsc_req *req, struct fsc_resp *resp)
{
	if (err->status == FSC_EDENIED && !strcmp(err->code, "bad_token"))
		return unauthorized(resp, true);
	req->cfg->fail(req, resp, err);
	return false;
}

/* The reason stays for whoami. */
static bool admit_nobody(struct fsc_req *req, const struct fsc_err *err)
{
	struct fsc_err *copy = fsc_arena_alloc(&req->arena, 1, sizeof(*copy));

	nobody(req);
	if (copy && err->status) {
		*copy = *err;
		req->who.denied = copy;
	}
	return true;
}

static bool may(const struct fsc_req *req, uint32_t perm, struct fsc_resp *resp)
{
	if (req->who.perms & perm)
		return true;
	for (size_t i = 0;; i++) {
		uint32_t bit;
		const char *name = fsc_token_scope_name(i, &bit);

		if (!name || bit == perm) {
			fsc_resp_error(resp, 403, "scope_missing", "%s lacks the scope %s",
				       req->who.token_id ? "the token" : "the user",
				       name ? name : "");
			return false;
		}
	}
}

bool fsc_auth_check(struct fsc_auth *a, struct fsc_req *req, uint32_t perm, struct fsc_resp *resp)
{
	struct fsc_err err = FSC_ERR_INIT;
	enum fsc_status st;

	req->who.remote = fsc_proxy_client(a->opts.proxy, req);
	st = identify(a, req, &err);
	if (!st)
		st = fsc_auth_choose(a->cache, req, &err);
	if (st == FSC_ENOTFOUND)
		fsc_err_clear(&err);
	if (perm == FSC_PERM_NONE)
		return st ? admit_nobody(req, &err) : true;
	if (st == FSC_ENOTFOUND)
		return unauthorized(resp, false);
	if (st)
		return refuse(&err, req, resp);
	return within_rate(a, req, resp) && may(req, perm, resp);
}

int64_t fsc_auth_project(const struct fsc_req *req)
{
	return req->who.project_id;
}

bool fsc_auth_operator(const struct fsc_req *req)
{
	return req->who.is_operator;
}

static bool may_enter(const struct fsc_req *req, int64_t project)
{
	if (req->who.is_operator || req->who.project_id == project)
		return true;
	for (size_t i = 0; i < req->who.n_grants; i++)
		if (req->who.grants[i].project == project)
			return true;
	return false;
}

enum fsc_status fsc_auth_projects(struct fsc_auth *a, struct fsc_req *req, struct fsc_arena *arena,
				  struct fsc_projects *out, struct fsc_err *err)
{
	enum fsc_status st = fsc_store_project_list(a->opts.store, arena, out, err);
	size_t n = 0;

	for (size_t i = 0; !st && i < out->n_items; i++)
		if (may_enter(req, out->items[i].id))
			out->items[n++] = out->items[i];
	out->n_items = st ? 0 : n;
	return st;
}

static const char *secure(const struct fsc_req *req)
{
	const char *proto = fsc_req_header(req, "X-Forwarded-Proto");

	return proto && !strcasecmp(proto, "https") ? "; Secure" : "";
}

/* An address of IPv6 by its /64: who has one has them all. */
static uint64_t address_key(const char *address)
{
	struct in6_addr v6;

	if (inet_pton(AF_INET6, address, &v6) == 1 && !IN6_IS_ADDR_V4MAPPED(&v6))
		return fsc_limit_key('6', &v6, 8);
	return fsc_limit_key('4', address, strlen(address));
}

enum fsc_status fsc_auth_login(struct fsc_auth *a, struct fsc_req *req, const char *token,
			       char cookie[512], struct fsc_err *err)
{
	uint64_t key = address_key(req->who.remote);
	char session[FSC_SESSION_TEXT];
	uint8_t digest[32];
	enum fsc_status st = FSC_ENOTFOUND;

	/* Taken before the token is looked at, so that tries at the same time count too. */
	if (fsc_limit_take(a->login, key, fsc_clock_mono_ns())) {
		atomic_fetch_add(&a->login_limited, 1);
		return fsc_err_set(err, FSC_ELIMIT, "login_limited",
				   "too many wrong tokens from this address, try again later");
	}
	nobody(req);
	if (fsc_token_digest(digest, token, strlen(token)))
		st = admit(a, req, digest, "token", err);
	if (st == FSC_ENOTFOUND) {
		atomic_fetch_add(&a->login_failed, 1);
		return bad_token(err);
	}
	fsc_limit_give(a->login, key);
	if (st)
		return st;
	/* Each leaves an audit row for ever. */
	if (take_rate(a, &req->who))
		return fsc_err_set(err, FSC_ELIMIT, "rate_limited",
				   "more than %u requests a second of one token",
				   a->opts.rate_limit);
	fsc_session_make(session, a->key, digest,
			 fsc_clock_real_ns() / SEC_NS + FSC_SESSION_SECONDS);
	snprintf(cookie, 512,
		 FSC_COOKIE_NAME "=%s; Path=/; HttpOnly; SameSite=Strict; Max-Age=%d%s", session,
		 FSC_SESSION_SECONDS, secure(req));
	return FSC_OK;
}

void fsc_auth_logout_cookie(const struct fsc_req *req, char cookie[512])
{
	snprintf(cookie, 512, FSC_COOKIE_NAME "=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0%s",
		 secure(req));
}

void fsc_auth_metrics(struct fsc_auth *a, struct fsc_buf *out)
{
	const struct {
		const char *name, *help;
		uint64_t n;
	} all[] = {
		{ "fleetscope_rate_limited_total", "Requests refused with 429.",
		  atomic_load(&a->limited) },
		{ "fleetscope_login_failed_total", "Logins with a wrong token.",
		  atomic_load(&a->login_failed) },
		{ "fleetscope_login_limited_total",
		  "Logins refused after too many wrong ones from one address.",
		  atomic_load(&a->login_limited) },
		{ "fleetscope_proxy_headers_ignored_total",
		  "Requests that named a user but did not come from a trusted proxy.",
		  atomic_load(&a->headers_ignored) },
	};

	for (size_t i = 0; i < FSC_ARRAY_LEN(all); i++)
		fsc_buf_addf(out, "# HELP %s %s\n# TYPE %s counter\n%s %llu\n", all[i].name,
			     all[i].help, all[i].name, all[i].name, (unsigned long long)all[i].n);
	fsc_cache_metrics(a->cache, out);
}
