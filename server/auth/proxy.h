/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Users that a trusted proxy vouches for. Only a peer whose address is on the list is believed; it names the user
 * in one header and the user's groups in another, and groups have rights in projects. Made at start-up, then read only:
 * any thread.
 *
 * A proxy must take these headers out of what it gets from clients before it sets its own; that is its part of the deal, as
 * docs/access.md says.
 */
#ifndef FSC_AUTH_PROXY_H
#define FSC_AUTH_PROXY_H

#include "http/req.h"

struct fsc_store;
struct fsc_proxy;

#define FSC_PROXY_USER_MAX 128 /* bytes of a user's name */

struct fsc_proxy_group {
	const char *name;
	const char *value; /* "PROJECT:scope,scope ..." or "*:admin", the operators */
};
struct fsc_proxy_opts {
	const char *const *peers; /* "ADDRESS" or "ADDRESS/BITS" */
	size_t n_peers;
	const char *user_header, *groups_header;
	const struct fsc_proxy_group *groups;
	size_t n_groups;
};
/* Everything in opts is copied. Projects that groups name are made when they are missing (audit row "project.create" of
 * "config"). FSC_EINVAL. */
fsc_nodiscard enum fsc_status fsc_proxy_new(struct fsc_proxy **out,
					    const struct fsc_proxy_opts *opts,
					    struct fsc_store *store, struct fsc_err *err);
void fsc_proxy_free(struct fsc_proxy *p); /* NULL is fine */

/* Is one value of the configuration well formed? FSC_EINVAL says what is wrong. */
fsc_nodiscard enum fsc_status fsc_proxy_check_peer(const char *text, struct fsc_err *err);
fsc_nodiscard enum fsc_status fsc_proxy_check_group(const char *value, struct fsc_err *err);
fsc_nodiscard enum fsc_status fsc_proxy_check_header(const char *name, struct fsc_err *err);

bool fsc_proxy_configured(const struct fsc_proxy *p); /* is there any peer to trust? */
/* Is this numeric address (also "::ffff:10.0.0.1", which is 10.0.0.1) on the list? */
bool fsc_proxy_trusts(const struct fsc_proxy *p, const char *address);
/* Does the request carry one of the two headers? */
bool fsc_proxy_named(const struct fsc_proxy *p, const struct fsc_req *req);
/*
 * The user a trusted peer names, into req->who (kind "proxy", no project yet). FSC_ENOTFOUND: it names none.
 * FSC_EINVAL "bad_proxy_header": a header twice, or a name that is none. FSC_EDENIED "no_group": known, but in no group that
 * may do anything.
 */
fsc_nodiscard enum fsc_status fsc_proxy_identify(const struct fsc_proxy *p, struct fsc_req *req,
						 struct fsc_err *err);
/* Address of who asks: of the peer, or for a trusted peer the last one of its (last) X-Forwarded-For, which is what the
 * proxy itself has added. Lives as the request. */
const char *fsc_proxy_client(const struct fsc_proxy *p, struct fsc_req *req);

#endif
