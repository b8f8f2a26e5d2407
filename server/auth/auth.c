/* SPDX-License-Identifier: Apache-2.0 */
/* The authorize step. */
#include "auth/auth.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "auth/session.h"
#include "auth/ticket.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "base/log.h"
#include "store/store.h"

#define ALL_PERMS (FSC_PERM_READ | FSC_PERM_UPLOAD | FSC_PERM_CAPTURE | FSC_PERM_ADMIN)
#define USED_MAX 64
#define SEC_NS INT64_C(1000000000)
#define USED_EVERY_NS (60 * SEC_NS)

struct used {
	int64_t token, at_ns, written_ns;
};

struct fsc_auth {
	struct fsc_auth_opts opts;
	uint8_t key[FSC_SESSION_KEY];
	pthread_mutex_t mu; /* guards used */
	struct used used[USED_MAX];
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
	pthread_mutex_init(&a->mu, NULL);
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
	pthread_mutex_destroy(&a->mu);
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

static void note_use(struct fsc_auth *a, int64_t token)
{
	struct used *slot = &a->used[0];

	pthread_mutex_lock(&a->mu);
	for (size_t i = 0; i < USED_MAX; i++) {
		if (a->used[i].token == token) {
			slot = &a->used[i];
			break;
		}
		if (a->used[i].at_ns < slot->at_ns)
			slot = &a->used[i];
	}
	if (slot->token != token)
		*slot = (struct used){ .token = token };
	slot->at_ns = fsc_clock_real_ns();
	pthread_mutex_unlock(&a->mu);
}

void fsc_auth_flush(struct fsc_auth *a)
{
	struct used due[USED_MAX];
	size_t n = 0;

	pthread_mutex_lock(&a->mu);
	for (size_t i = 0; i < USED_MAX; i++) {
		struct used *u = &a->used[i];

		if (!u->token || u->at_ns - u->written_ns < USED_EVERY_NS)
			continue;
		u->written_ns = u->at_ns;
		due[n++] = *u;
	}
	pthread_mutex_unlock(&a->mu);
	for (size_t i = 0; i < n; i++) {
		struct fsc_err err = FSC_ERR_INIT;

		if (fsc_store_token_used(a->opts.store, due[i].token, due[i].at_ns, &err))
			fsc_log(FSC_LOG_WARN, "auth", "msg=\"use of a token not noted\" code=%s",
				err.code);
	}
}

/* Sets who from the digest of a live token. */
static enum fsc_status admit(struct fsc_auth *a, struct fsc_req *req, const uint8_t sha256[32],
			     const char *kind, struct fsc_err *err)
{
	struct fsc_token t;
	enum fsc_status st = fsc_store_token_find(a->opts.store, &req->arena, sha256, &t, err);

	if (st)
		return st;
	req->who.kind = kind;
	req->who.perms = t.scopes & ALL_PERMS;
	if (req->who.perms & FSC_PERM_ADMIN)
		req->who.perms = ALL_PERMS;
	req->who.project = t.project_name;
	req->who.project_id = t.project;
	req->who.token_id = (uint64_t)t.id;
	req->who.label = fsc_arena_printf(&req->arena, "%s:%lld", kind, (long long)t.id);
	note_use(a, t.id);
	return FSC_OK;
}

/* FSC_ENOTFOUND: says nothing who it is. FSC_EDENIED: says something wrong. */
static enum fsc_status identify(struct fsc_auth *a, struct fsc_req *req, struct fsc_err *err)
{
	const char *header = fsc_req_header(req, "Authorization");
	const char *cookie = header ? NULL : fsc_req_cookie(req, FSC_COOKIE_NAME);
	uint8_t digest[32];
	enum fsc_status st = FSC_ENOTFOUND;

	if (header) {
		if (strncasecmp(header, "Bearer ", 7) != 0 ||
		    !fsc_token_digest(digest, header + 7, strlen(header + 7)))
			return FSC_EDENIED;
		st = admit(a, req, digest, "token", err);
		return st == FSC_ENOTFOUND ? FSC_EDENIED : st;
	}
	if (cookie && fsc_session_read(digest, cookie, a->key, fsc_clock_real_ns() / SEC_NS))
		st = admit(a, req, digest, "cookie", err);
	return st;
}

/* A proxy on this machine speaks for someone elsewhere: the loopback address proves nothing then. */
static bool is_forwarded(const struct fsc_req *req)
{
	static const char *const headers[] = { "Forwarded",	   "X-Forwarded-For",
					       "X-Forwarded-Host", "X-Forwarded-Proto",
					       "X-Forwarded-Port", "X-Forwarded-Server",
					       "X-Real-IP",	   "Via" };

	for (size_t i = 0; i < FSC_ARRAY_LEN(headers); i++)
		if (fsc_req_header(req, headers[i]))
			return true;
	return false;
}

static void admit_loopback(struct fsc_req *req)
{
	req->who.kind = "loopback";
	req->who.label = "loopback";
	req->who.project = "default";
	req->who.project_id = FSC_PROJECT_DEFAULT;
	req->who.perms = ALL_PERMS;
}

static bool unauthorized(struct fsc_resp *resp, bool given)
{
	fsc_resp_header(resp, "WWW-Authenticate", "Bearer realm=\"fleetscope\"");
	fsc_resp_error(resp, 401, given ? "bad_token" : "token_required",
		       given ? "the token is unknown, revoked or past its time"
			     : "this call needs a token: Authorization: Bearer, or log in");
	return false;
}

bool fsc_auth_check(struct fsc_auth *a, struct fsc_req *req, uint32_t perm, struct fsc_resp *resp)
{
	struct fsc_err err = FSC_ERR_INIT;
	enum fsc_status st = identify(a, req, &err);

	if (st == FSC_ENOTFOUND && !a->opts.required && (a->opts.open || !is_forwarded(req))) {
		admit_loopback(req);
		st = FSC_OK;
	}
	if (perm == FSC_PERM_NONE)
		return true;
	if (st == FSC_ENOTFOUND || st == FSC_EDENIED)
		return unauthorized(resp, st == FSC_EDENIED);
	if (st) {
		req->cfg->fail(req, resp, &err);
		return false;
	}
	if (req->who.perms & perm)
		return true;
	for (size_t i = 0;; i++) {
		uint32_t bit;
		const char *name = fsc_token_scope_name(i, &bit);

		if (!name || bit == perm) {
			fsc_resp_error(resp, 403, "scope_missing", "the token lacks the scope %s",
				       name ? name : "");
			return false;
		}
	}
}

int64_t fsc_auth_project(const struct fsc_req *req)
{
	return req->who.project_id;
}

static const char *secure(const struct fsc_req *req)
{
	const char *proto = fsc_req_header(req, "X-Forwarded-Proto");

	return proto && !strcasecmp(proto, "https") ? "; Secure" : "";
}

enum fsc_status fsc_auth_login(struct fsc_auth *a, struct fsc_req *req, const char *token,
			       char cookie[512], struct fsc_err *err)
{
	char session[FSC_SESSION_TEXT];
	uint8_t digest[32];
	enum fsc_status st = FSC_ENOTFOUND;

	if (fsc_token_digest(digest, token, strlen(token)))
		st = admit(a, req, digest, "token", err);
	if (st == FSC_ENOTFOUND) {
		fsc_err_clear(err);
		return fsc_err_set(err, FSC_EDENIED, "bad_token",
				   "the token is unknown, revoked or past its time");
	}
	if (st)
		return st;
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
