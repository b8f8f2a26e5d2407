/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Live tokens by digest, and projects by name, so that the authorize step, which runs on an I/O thread, rarely asks the
 * store. Memory is fixed (1,024 tokens, 64 projects). Any thread.
 *
 * How old an answer may be: a token is believed for FSC_CACHE_TTL_NS after it was read. Revoking through this process is seen
 * at once (fsc_cache_drop after the store has it); by another process on the same data folder, such as `fleetscope-server
 * token revoke`, within that time. Unknown tokens are not kept: each costs a look-up. Projects are never renamed or deleted, so
 * a name that was found stays.
 */
#ifndef FSC_AUTH_CACHE_H
#define FSC_AUTH_CACHE_H

#include "base/buf.h"
#include "store/store.h"

#define FSC_CACHE_TTL_NS INT64_C(1000000000)

struct fsc_cache;

fsc_nodiscard struct fsc_cache *fsc_cache_new(struct fsc_store *store); /* borrowed */
void fsc_cache_free(struct fsc_cache *c);

struct fsc_cache_token {
	int64_t id, project;
	unsigned scopes;
	char project_name[64];
};
/* FSC_ENOTFOUND: unknown, revoked or expired. Notes the use. */
fsc_nodiscard enum fsc_status fsc_cache_token(struct fsc_cache *c, const uint8_t sha256[32],
					      struct fsc_cache_token *out, struct fsc_err *err);
/* FSC_ENOTFOUND: there is no such project. */
fsc_nodiscard enum fsc_status fsc_cache_project(struct fsc_cache *c, const char *name, int64_t *id,
						struct fsc_err *err);
/* Nothing that was read before this call is believed any more. */
void fsc_cache_drop(struct fsc_cache *c);
/* Writes down when tokens were used last, each at most once a minute; blocks. */
void fsc_cache_flush(struct fsc_cache *c);
void fsc_cache_metrics(struct fsc_cache *c, struct fsc_buf *out);

#endif
