/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Indexing one bundle: run the child on the blob, keep what it makes, publish. Knows nothing of threads or of
 * retrying; worker.c does. Private to server/jobs.
 */
#ifndef FSC_JOBS_INDEX_RUN_H
#define FSC_JOBS_INDEX_RUN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

struct fsc_store;
struct fsc_blobs;
struct fsc_store_lease;

struct fsc_index_env {
	struct fsc_store *store; /* all borrowed */
	struct fsc_blobs *blobs;
	const char *indexer;
	uint64_t max_memory_bytes; /* 0 = the indexer's own default, as below */
	int max_cpu_s, max_wall_s;
};
struct fsc_index_result {
	bool ready;	    /* published as ready, else published as failed */
	struct fsc_err why; /* of a bundle published as failed */
	int64_t cpu_ns, wall_ns;
};

/*
 * FSC_OK: published, the job is done. FSC_ECANCELED: *stop became true ("indexer_stopped") or the lease is
 * another's ("lease_lost"). FSC_ENOTFOUND "not_found": the bundle was deleted meanwhile, "blob_gone": its bytes
 * are missing. Otherwise what fsc_indexer_run and the store return; nothing was published then.
 */
fsc_nodiscard enum fsc_status fsc_index_run(const struct fsc_index_env *env,
					    const struct fsc_store_lease *lease,
					    const atomic_bool *stop, struct fsc_index_result *out,
					    struct fsc_err *err);

/* The run failed for the host, not for the bundle: disk full or refusing, store busy, no memory here, the indexer
 * not startable. Such a try does not count; it is taken up again until it can be done. */
bool fsc_index_host_trouble(const struct fsc_err *err);
/* Pause before the next try of any other failure, -1 for none: what the input does to the indexer (limits, protocol,
 * bytes gone) would only happen again. base_ns doubles with each try. */
int64_t fsc_index_retry_after(const struct fsc_err *err, int64_t base_ns, int64_t tries);

#endif
