/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work queue. Jobs are enqueued by the store inside the transaction that makes them needed (an upload, a
 * re-index); workers lease, keep alive by heartbeat, and complete or fail them. A lease is known by a random
 * token that every later call must show: a worker that was too slow cannot complete what another took over.
 * A job is tried FSC_QUEUE_MAX_TRIES times; a try that ended because the server died does not count (up to
 * FSC_QUEUE_MAX_INTERRUPTS of these). No priorities: oldest first. Any thread. Errors as in store/store.h.
 */
#ifndef FSC_STORE_QUEUE_H
#define FSC_STORE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

#define FSC_QUEUE_MAX_TRIES 3
#define FSC_QUEUE_MAX_INTERRUPTS 64
#define FSC_QUEUE_LEASE_NS 30000000000LL     /* 30 s */
#define FSC_QUEUE_HEARTBEAT_NS 10000000000LL /* 10 s */
#define FSC_QUEUE_OWNER_MAX 64
#define FSC_LEASE_TOKEN_LEN 16

struct fsc_store;
struct fsc_queue;

enum fsc_job_kind { FSC_JOB_INDEX = 1 };

struct fsc_store_lease {
	int64_t job;
	enum fsc_job_kind kind;
	int64_t project, subject; /* subject: the bundle for FSC_JOB_INDEX */
	int64_t tries;		  /* 1 for the first */
	uint8_t token[FSC_LEASE_TOKEN_LEN];
};

/* The queue that lives in a store. Free it before the store is closed. Cannot fail. */
struct fsc_queue *fsc_queue_of_store(struct fsc_store *s);
void fsc_queue_free(struct fsc_queue *q);

/* Oldest job that is due, or one whose lease ran out. FSC_END when there is none. owner names the process,
 * see fsc_queue_release_owner. A job whose last allowed try ran out of lease is failed here ("lease_expired")
 * and passed over. The bundle becomes "indexing". */
fsc_nodiscard enum fsc_status fsc_queue_lease(struct fsc_queue *q, const char *owner,
					      int64_t lease_ns, struct fsc_store_lease *out,
					      struct fsc_err *err);
/* Prolongs. FSC_ECANCELED "lease_lost": stop working on it. */
fsc_nodiscard enum fsc_status fsc_queue_heartbeat(struct fsc_queue *q,
						  const struct fsc_store_lease *l, int64_t lease_ns,
						  struct fsc_err *err);
/* Takes the job off. (fsc_store_publish does this in its own transaction.) FSC_ECANCELED "lease_lost". */
fsc_nodiscard enum fsc_status fsc_queue_complete(struct fsc_queue *q,
						 const struct fsc_store_lease *l,
						 struct fsc_err *err);
/* The try failed for `why` (code, message, file, offset are kept). retry_after_ns < 0, or no try left: the
 * bundle is failed with it and the job taken off (*final true). Otherwise it is due again after that time
 * and the bundle is queued. final may be NULL. FSC_ECANCELED "lease_lost". */
fsc_nodiscard enum fsc_status fsc_queue_fail(struct fsc_queue *q, const struct fsc_store_lease *l,
					     const struct fsc_err *why, int64_t retry_after_ns,
					     bool *final, struct fsc_err *err);
/* Puts it back untried, due at once (clean shut-down). FSC_ECANCELED "lease_lost". */
fsc_nodiscard enum fsc_status fsc_queue_return(struct fsc_queue *q, const struct fsc_store_lease *l,
					       struct fsc_err *err);
/* Puts it back untried, due again after a pause: not the job is at fault but what it needs (disk, indexer, store).
 * FSC_ECANCELED "lease_lost". */
fsc_nodiscard enum fsc_status fsc_queue_postpone(struct fsc_queue *q,
						 const struct fsc_store_lease *l, int64_t after_ns,
						 struct fsc_err *err);
/* At start-up: releases every lease that is not `owner`'s at once, as interrupted tries, and makes jobs that wait for
 * another try due (what was in their way may be gone with the old process). Only for stores that
 * one process works on (SQLite, opened exclusive). *n = how many; may be NULL. */
fsc_nodiscard enum fsc_status fsc_queue_release_others(struct fsc_queue *q, const char *owner,
						       int64_t *n, struct fsc_err *err);
/* Jobs waiting (due or not) and leased. Any pointer may be NULL. */
fsc_nodiscard enum fsc_status fsc_queue_depth(struct fsc_queue *q, int64_t *waiting,
					      int64_t *running, struct fsc_err *err);

#endif
