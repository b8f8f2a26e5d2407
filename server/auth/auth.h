/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is asking, which project they are in, and may they. In this order:
 *   1. "Authorization: Bearer" with a token;
 *   2. a user that a trusted proxy names (auth/proxy.h), with rights by groups;
 *   3. the cookie that POST /login gave for a token;
 *   4. nobody: on a loopback address, unless tokens are required, everyone is admitted with all scopes.
 * A token is inside one project. Loopback and the operators among proxy users may enter every project, other proxy users those of
 * their groups; X-Fleetscope-Project or the cookie fleetscope_project chooses (auth/choose.c).
 *
 * A token is "fst_" and 40 hex digits of randomness; the store keeps its sha256 only. A session cookie is
 * the token's digest, an expiry and an HMAC under a key of this installation: it needs no table, and dies
 * with the token (docs/decisions/0012-session-cookie.md). How soon a revoked token ends: auth/cache.h.
 * Any thread unless said otherwise.
 */
#ifndef FSC_AUTH_AUTH_H
#define FSC_AUTH_AUTH_H

#include "http/resp.h"

struct fsc_auth;
struct fsc_proxy;
struct fsc_projects;
struct fsc_store;

#define FSC_TOKEN_TEXT_MAX 64
#define FSC_SESSION_SECONDS 43200
#define FSC_COOKIE_NAME "fleetscope_session"

#define FSC_AUTH_ALL_PERMS (FSC_PERM_READ | FSC_PERM_UPLOAD | FSC_PERM_CAPTURE | FSC_PERM_ADMIN)
#define FSC_PROJECT_HEADER "X-Fleetscope-Project"
#define FSC_PROJECT_COOKIE "fleetscope_project"
#define FSC_AUTH_BURST 4 /* times rate_limit */

/* What a proxy user may do in one project. */
struct fsc_grant {
	int64_t project;
	const char *name;
	uint32_t perms;
};

struct fsc_auth_opts {
	struct fsc_store *store;       /* borrowed */
	const struct fsc_proxy *proxy; /* borrowed */
	bool required;		       /* false: loopback without tokens */
	bool open;	     /* without tokens even what a proxy passes on (--no-tokens) */
	unsigned rate_limit; /* requests a second of one token or proxy user; 0: no limit */
};
/* Reads or makes the cookie key. */
fsc_nodiscard enum fsc_status fsc_auth_new(struct fsc_auth **out, const struct fsc_auth_opts *opts,
					   struct fsc_err *err);
void fsc_auth_free(struct fsc_auth *a);
bool fsc_auth_required(const struct fsc_auth *a);

/* The authorize step of a request: sets req->who, or fills resp with 400, 401, 403 or 429 and returns false. */
bool fsc_auth_check(struct fsc_auth *a, struct fsc_req *req, uint32_t perm, struct fsc_resp *resp);
/* The project of the request: the one way for handlers to learn it. */
int64_t fsc_auth_project(const struct fsc_req *req);
/* Is the caller one of those who run the installation? */
bool fsc_auth_operator(const struct fsc_req *req);
/* Projects the caller may enter, by name; strings in the arena or living as the request. May block. */
fsc_nodiscard enum fsc_status fsc_auth_projects(struct fsc_auth *a, struct fsc_req *req,
						struct fsc_arena *arena, struct fsc_projects *out,
						struct fsc_err *err);
/* To be called after a token was revoked, before that is said to the client. */
void fsc_auth_revoked(struct fsc_auth *a);

/* Set-Cookie value for the token, in cookie. FSC_EDENIED when it is not a live token; FSC_ELIMIT "login_limited" after
 * too many wrong ones from one address (10, then one each 6 s), "rate_limited" when the token passes its rate. */
fsc_nodiscard enum fsc_status fsc_auth_login(struct fsc_auth *a, struct fsc_req *req,
					     const char *token, char cookie[512],
					     struct fsc_err *err);
void fsc_auth_logout_cookie(const struct fsc_req *req, char cookie[512]);

/* Figures in Prometheus text format. */
void fsc_auth_metrics(struct fsc_auth *a, struct fsc_buf *out);

/* Writes down when tokens were used last; from the housekeeping thread. */
void fsc_auth_flush(struct fsc_auth *a);

/*
 * Tickets: an address that lets whoever has it read one export for a short time, for a viewer that sends neither
 * cookie nor token. Signed with the installation's key, kept nowhere; they outlive a revoked token by at most
 * their own life.
 */
#define FSC_TICKET_SECONDS 600
#define FSC_TICKET_TEXT 200
struct fsc_ticket {
	int64_t project, trace;
	int64_t t0, t1; /* window, t1 <= t0: all of it */
	int64_t expires_s;
};
void fsc_auth_ticket(const struct fsc_auth *a, const struct fsc_ticket *t,
		     char text[FSC_TICKET_TEXT]);
/* False: not ours, altered or past its time. */
fsc_nodiscard bool fsc_auth_ticket_read(const struct fsc_auth *a, const char *text,
					struct fsc_ticket *out);

/* ---- tokens (token.c) ---- */
/* Makes a token; text gets the secret, which is shown once. scopes: FSC_PERM_* bits; created_by: actor. */
fsc_nodiscard enum fsc_status fsc_token_create(struct fsc_store *s, int64_t project,
					       const char *name, uint32_t scopes,
					       int64_t expires_at_ns, const char *created_by,
					       int64_t *id, char text[FSC_TOKEN_TEXT_MAX],
					       struct fsc_err *err);
/* First characters of a secret, to tell tokens apart in a list; "" of a secret that we did not make, which may be short. */
#define FSC_TOKEN_PREFIX 11 /* "fst_ab12cd" and NUL */
void fsc_token_prefix(char out[FSC_TOKEN_PREFIX], const char *text);
/* Takes a given secret instead of a random one (FLEETSCOPE_ADMIN_TOKEN_FILE); FSC_EEXIST when it is known. */
fsc_nodiscard enum fsc_status fsc_token_adopt(struct fsc_store *s, int64_t project,
					      const char *name, uint32_t scopes, const char *text,
					      int64_t *id, struct fsc_err *err);
/* "read,upload" to bits; FSC_EINVAL names the word. */
fsc_nodiscard enum fsc_status fsc_token_parse_scopes(uint32_t *out, const char *text,
						     struct fsc_err *err);
/* Scope names in a fixed order: index 0.. until NULL; *bit gets the bit. */
const char *fsc_token_scope_name(size_t i, uint32_t *bit);
/* Digest of a secret as the store knows it; false when it cannot be one of ours. */
fsc_nodiscard bool fsc_token_digest(uint8_t out[32], const char *text, size_t n);

#endif
