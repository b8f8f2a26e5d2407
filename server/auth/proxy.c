/* SPDX-License-Identifier: Apache-2.0 */
/* Trusted proxies. */
#include "auth/proxy.h"

#include <arpa/inet.h>
#include <string.h>

#include "auth/auth.h"
#include "base/alloc.h"
#include "base/num.h"
#include "base/utf8.h"
#include "store/store.h"

#define GRANTS_MAX 512 /* of all groups together */

struct address {
	bool v6;
	uint8_t bin[16]; /* of IPv4: the first four */
};

struct peer {
	struct address a;
	unsigned bits;
};

/* One right of one group. */
struct right {
	const char *group;
	struct fsc_grant grant; /* project 0: operator */
};

struct fsc_proxy {
	struct fsc_arena arena; /* owns every text */
	struct peer *peers;
	size_t n_peers;
	const char *user_header, *groups_header;
	struct right rights[GRANTS_MAX];
	size_t n_rights;
};

/* ---- addresses ---- */

static bool parse_address(struct address *out, const char *text)
{
	static const uint8_t mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

	memset(out, 0, sizeof(*out));
	if (inet_pton(AF_INET, text, out->bin) == 1)
		return true;
	if (inet_pton(AF_INET6, text, out->bin) != 1)
		return false;
	out->v6 = memcmp(out->bin, mapped, sizeof(mapped)) != 0;
	if (!out->v6) {
		memmove(out->bin, out->bin + 12, 4);
		memset(out->bin + 4, 0, 12);
	}
	return true;
}

static bool same_prefix(const uint8_t *a, const uint8_t *b, unsigned bits)
{
	unsigned rest = bits % 8;

	if (memcmp(a, b, bits / 8) != 0)
		return false;
	return !rest || !((a[bits / 8] ^ b[bits / 8]) >> (8 - rest));
}

static enum fsc_status bad_peer(const char *text, const char *why, struct fsc_err *err)
{
	return fsc_err_set(err, FSC_EINVAL, "bad_peer", "\"%.80s\" %s", text, why);
}

static enum fsc_status parse_peer(struct peer *out, const char *text, struct fsc_err *err)
{
	const char *slash = strchr(text, '/');
	size_t n = slash ? (size_t)(slash - text) : strlen(text);
	uint8_t zero[16] = { 0 }, host[16];
	char address[64];
	uint64_t bits;
	unsigned max;

	if (n >= sizeof(address))
		return bad_peer(text, "is not an address or ADDRESS/BITS", err);
	memcpy(address, text, n);
	address[n] = '\0';
	if (!parse_address(&out->a, address))
		return bad_peer(text, "is not an address or ADDRESS/BITS", err);
	max = out->a.v6 ? 128 : 32;
	bits = max;
	if (slash && (!fsc_parse_u64(&bits, slash + 1, strlen(slash + 1)) || bits > 128))
		return bad_peer(text, "has no number of bits after the slash", err);
	if (slash && !out->a.v6 && strchr(address, ':')) {
		if (bits < 96)
			return bad_peer(text, "is a mapped address with fewer than 96 bits", err);
		bits -= 96;
	}
	if (bits > max)
		return bad_peer(text, "has more bits than such an address", err);
	out->bits = (unsigned)bits;
	/* 10.0.0.5/8 is more likely a slip than meant. */
	memcpy(host, out->a.bin, sizeof(host));
	for (unsigned i = 0; i < out->bits; i++)
		host[i / 8] &= (uint8_t) ~(0x80u >> (i % 8));
	return memcmp(host, zero, sizeof(host)) != 0
		       ? bad_peer(text, "has bits set behind its prefix", err)
		       : FSC_OK;
}

enum fsc_status fsc_proxy_check_peer(const char *text, struct fsc_err *err)
{
	struct peer p;

	return parse_peer(&p, text, err);
}

bool fsc_proxy_configured(const struct fsc_proxy *p)
{
	return p->n_peers > 0;
}

bool fsc_proxy_trusts(const struct fsc_proxy *p, const char *address)
{
	struct address a;

	if (!p->n_peers || !parse_address(&a, address))
		return false;
	for (size_t i = 0; i < p->n_peers; i++)
		if (p->peers[i].a.v6 == a.v6 &&
		    same_prefix(p->peers[i].a.bin, a.bin, p->peers[i].bits))
			return true;
	return false;
}

const char *fsc_proxy_client(const struct fsc_proxy *p, struct fsc_req *req)
{
	const char *list = fsc_req_header_last(req, "X-Forwarded-For"), *last;
	struct address a;
	char *text;
	size_t n;

	if (!list || !fsc_proxy_trusts(p, req->peer))
		return req->peer;
	last = strrchr(list, ',');
	last = last ? last + 1 : list;
	last += strspn(last, " \t");
	n = strcspn(last, " \t");
	text = fsc_arena_dup(&req->arena, last, n);
	return text && parse_address(&a, text) ? text : req->peer;
}

/* ---- configuration ---- */

enum fsc_status fsc_proxy_check_header(const char *name, struct fsc_err *err)
{
	static const char token[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789-_.!#$%&'*+^`|~";

	if (!*name || name[strspn(name, token)])
		return fsc_err_set(err, FSC_EINVAL, "bad_header", "\"%.80s\" is no header name",
				   name);
	return FSC_OK;
}

struct right_text {
	char project[64]; /* "*": operator */
	uint32_t scopes;
};

/* One "PROJECT:scope,scope" of n bytes. */
static enum fsc_status parse_right(struct right_text *out, const char *text, size_t n,
				   struct fsc_err *err)
{
	const char *colon = memchr(text, ':', n);
	char scopes[64];
	size_t n_project = colon ? (size_t)(colon - text) : 0, n_scopes;

	if (!colon || !n_project || n_project >= sizeof(out->project) ||
	    n - n_project > sizeof(scopes))
		return fsc_err_set(err, FSC_EINVAL, "bad_group",
				   "\"%.*s\" is not PROJECT:scope,scope or *:admin",
				   (int)(n > 80 ? 80 : n), text);
	n_scopes = n - n_project - 1;
	memcpy(out->project, text, n_project);
	out->project[n_project] = '\0';
	memcpy(scopes, colon + 1, n_scopes);
	scopes[n_scopes] = '\0';
	if (fsc_token_parse_scopes(&out->scopes, scopes, err))
		return FSC_EINVAL;
	if (!strcmp(out->project, "*"))
		return out->scopes == FSC_PERM_ADMIN
			       ? FSC_OK
			       : fsc_err_set(err, FSC_EINVAL, "bad_group",
					     "* stands for the operators: only *:admin");
	return fsc_store_project_name_ok(out->project)
		       ? FSC_OK
		       : fsc_err_set(err, FSC_EINVAL, "bad_group",
				     "\"%s\" cannot be the name of a project", out->project);
}

/* Calls `each` for every right of the value; stops at the first error. */
static enum fsc_status walk_rights(const char *value,
				   enum fsc_status (*each)(void *ctx, const struct right_text *r,
							   struct fsc_err *err),
				   void *ctx, struct fsc_err *err)
{
	enum fsc_status st = FSC_OK;
	size_t count = 0;

	for (value += strspn(value, " \t"); *value && !st; value += strspn(value, " \t")) {
		size_t n = strcspn(value, " \t");
		struct right_text r;

		st = parse_right(&r, value, n, err);
		if (!st && each)
			st = each(ctx, &r, err);
		value += n;
		count++;
	}
	if (!st && !count)
		st = fsc_err_set(err, FSC_EINVAL, "bad_group", "a group needs a right");
	return st;
}

enum fsc_status fsc_proxy_check_group(const char *value, struct fsc_err *err)
{
	return walk_rights(value, NULL, NULL, err);
}

struct adding {
	struct fsc_proxy *p;
	struct fsc_store *store;
	const char *group;
};

static enum fsc_status make_project(struct fsc_store *store, const char *name, int64_t *id,
				    struct fsc_err *err)
{
	struct fsc_audit row = { .actor = "config", .action = "project.create", .subject = name };
	enum fsc_status st = fsc_store_project_create(store, name, id, err);

	if (st == FSC_EEXIST) {
		fsc_err_clear(err);
		return fsc_store_project_find(store, name, id, err);
	}
	row.project = *id;
	return st ? st : fsc_store_audit_put(store, &row, err);
}

static enum fsc_status add_right(void *ctx, const struct right_text *r, struct fsc_err *err)
{
	struct adding *add = ctx;
	struct fsc_proxy *p = add->p;
	struct right *out = &p->rights[p->n_rights];

	if (p->n_rights == GRANTS_MAX)
		return fsc_err_set(err, FSC_ELIMIT, "bad_group",
				   "groups have more than %d rights together", GRANTS_MAX);
	out->group = add->group;
	out->grant.perms = r->scopes & FSC_PERM_ADMIN ? FSC_AUTH_ALL_PERMS : r->scopes;
	p->n_rights++;
	if (!strcmp(r->project, "*"))
		return FSC_OK;
	out->grant.name = fsc_arena_dup(&p->arena, r->project, strlen(r->project));
	if (!out->grant.name)
		return fsc_err_set(err, FSC_ENOMEM, NULL, "groups");
	return make_project(add->store, r->project, &out->grant.project, err);
}

static enum fsc_status take_groups(struct fsc_proxy *p, const struct fsc_proxy_opts *o,
				   struct fsc_store *store, struct fsc_err *err)
{
	struct adding add = { .p = p, .store = store };
	enum fsc_status st = FSC_OK;

	for (size_t i = 0; i < o->n_groups && !st; i++) {
		add.group = fsc_arena_dup(&p->arena, o->groups[i].name, strlen(o->groups[i].name));
		if (!add.group)
			return fsc_err_set(err, FSC_ENOMEM, NULL, "groups");
		st = walk_rights(o->groups[i].value, add_right, &add, err);
		if (st)
			fsc_err_wrap(err, "group %s", o->groups[i].name);
	}
	return st;
}

enum fsc_status fsc_proxy_new(struct fsc_proxy **out, const struct fsc_proxy_opts *o,
			      struct fsc_store *store, struct fsc_err *err)
{
	struct fsc_proxy *p = fsc_xalloc(1, sizeof(*p));
	enum fsc_status st = FSC_OK;

	fsc_arena_init(&p->arena, 1u << 20);
	p->user_header = fsc_arena_dup(&p->arena, o->user_header, strlen(o->user_header));
	p->groups_header = fsc_arena_dup(&p->arena, o->groups_header, strlen(o->groups_header));
	p->peers = fsc_arena_alloc(&p->arena, o->n_peers + 1, sizeof(*p->peers));
	if (!p->user_header || !p->groups_header || !p->peers)
		st = fsc_err_set(err, FSC_ENOMEM, NULL, "trusted proxies");
	for (size_t i = 0; i < o->n_peers && !st; i++)
		st = parse_peer(&p->peers[p->n_peers++], o->peers[i], err);
	/* Groups of nobody make no projects. */
	if (!st && p->n_peers)
		st = take_groups(p, o, store, err);
	if (st)
		fsc_proxy_free(p);
	else
		*out = p;
	return st;
}

void fsc_proxy_free(struct fsc_proxy *p)
{
	if (!p)
		return;
	fsc_arena_fini(&p->arena);
	fsc_free(p);
}

/* ---- requests ---- */

bool fsc_proxy_named(const struct fsc_proxy *p, const struct fsc_req *req)
{
	return fsc_req_header(req, p->user_header) || fsc_req_header(req, p->groups_header);
}

static bool user_ok(const char *s)
{
	size_t n = strnlen(s, FSC_PROXY_USER_MAX + 1);

	return n <= FSC_PROXY_USER_MAX && fsc_utf8_printable(s, n);
}

static bool in_list(const char *list, const char *name)
{
	size_t n_name = strlen(name);

	while (list && *list) {
		size_t n = strcspn(list, ","), next = n + (list[n] == ',');

		while (n && (*list == ' ' || *list == '\t')) {
			list++;
			n--;
			next--;
		}
		while (n && (list[n - 1] == ' ' || list[n - 1] == '\t'))
			n--;
		if (n == n_name && !memcmp(list, name, n))
			return true;
		list += next;
	}
	return false;
}

static void add_grant(struct fsc_grant *grants, size_t *n, const struct fsc_grant *g)
{
	for (size_t i = 0; i < *n; i++)
		if (grants[i].project == g->project) {
			grants[i].perms |= g->perms;
			return;
		}
	grants[(*n)++] = *g;
}

static enum fsc_status grant(const struct fsc_proxy *p, struct fsc_req *req, const char *groups,
			     struct fsc_err *err)
{
	struct fsc_grant *grants = fsc_arena_alloc(&req->arena, p->n_rights + 1, sizeof(*grants));
	size_t n = 0;

	if (!grants)
		return fsc_err_set(err, FSC_ENOMEM, NULL, "groups of the user");
	for (size_t i = 0; i < p->n_rights; i++) {
		if (!in_list(groups, p->rights[i].group))
			continue;
		if (p->rights[i].grant.project)
			add_grant(grants, &n, &p->rights[i].grant);
		else
			req->who.is_operator = true;
	}
	req->who.grants = grants;
	req->who.n_grants = n;
	if (!n && !req->who.is_operator)
		return fsc_err_set(err, FSC_EDENIED, "no_group",
				   "%s is in no group that may use this server", req->who.user);
	return FSC_OK;
}

enum fsc_status fsc_proxy_identify(const struct fsc_proxy *p, struct fsc_req *req,
				   struct fsc_err *err)
{
	const char *user = fsc_req_header(req, p->user_header);
	const char *groups = fsc_req_header(req, p->groups_header);

	if (fsc_req_header_count(req, p->user_header) > 1 ||
	    fsc_req_header_count(req, p->groups_header) > 1)
		return fsc_err_set(
			err, FSC_EINVAL, "bad_proxy_header",
			"%s or %s came more than once: the proxy must replace what clients send",
			p->user_header, p->groups_header);
	if (!user || !*user)
		return FSC_ENOTFOUND;
	if (!user_ok(user))
		return fsc_err_set(err, FSC_EINVAL, "bad_proxy_header",
				   "%s is not 1 to %d bytes of UTF-8 without control characters",
				   p->user_header, FSC_PROXY_USER_MAX);
	req->who.kind = "proxy";
	req->who.user = user;
	req->who.label = fsc_arena_printf(&req->arena, "user:%s", user);
	if (!req->who.label)
		return fsc_err_set(err, FSC_ENOMEM, NULL, "name of the user");
	return grant(p, req, groups, err);
}
