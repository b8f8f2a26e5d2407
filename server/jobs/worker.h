/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The workers: threads that lease jobs, run fleetscope-indexer on the blob, keep the segments and publish the
 * facts. A failed run is tried again (FSC_QUEUE_MAX_TRIES, with growing pauses); then the bundle is failed with
 * the reason. A run that failed for the host does not count as a try: all workers pause, longer each time. One more thread keeps the leases alive. Start and stop from one thread; wake from any.
 */
#ifndef FSC_JOBS_WORKER_H
#define FSC_JOBS_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

struct fsc_store;
struct fsc_blobs;
struct fsc_worker;

struct fsc_worker_opts {
	struct fsc_store *store;   /* borrowed, must outlive the workers */
	struct fsc_blobs *blobs;   /* borrowed, must outlive the workers */
	const char *indexer;	   /* path of fleetscope-indexer; copied */
	unsigned n_threads;	   /* 0 = half of the CPUs, at least 1 */
	int64_t poll_ns;	   /* how often an idle worker looks by itself; 0 = 1 s */
	int64_t lease_ns;	   /* 0 = FSC_QUEUE_LEASE_NS; heartbeat is a third of it */
	int64_t retry_ns;	   /* pause before the second try, doubles with each; 0 = 2 s */
	int64_t max_pause_ns;	   /* longest pause while the host is in trouble; 0 = 60 s */
	uint64_t max_memory_bytes; /* of the indexer; 0 = its own default, as below */
	int max_cpu_s, max_wall_s;
};

/* Releases leases that a dead process left, then starts the threads. */
fsc_nodiscard enum fsc_status fsc_worker_start(struct fsc_worker **out,
					       const struct fsc_worker_opts *opts,
					       struct fsc_err *err);
/* A job was queued: do not wait for the next look. Any thread; shaped to be fsc_ingest_opts.queued. */
void fsc_worker_wake(void *worker);
/* Stops running indexers, gives their jobs back untried, joins the threads, frees w. NULL is fine. */
void fsc_worker_stop(struct fsc_worker *w);

struct fsc_worker_stats {
	uint64_t ready, failed, retried, returned; /* ends of runs since start */
	uint64_t postponed;			   /* runs that the host's trouble ended, untried */
	uint64_t running;
	int64_t cpu_ns, wall_ns; /* of indexers, summed */
};
void fsc_worker_stats(struct fsc_worker *w, struct fsc_worker_stats *out);
/* True while indexing waits for the host to get well (disk full, store busy, indexer not startable ...): *why is
 * the last reason. Ends with the next run that gets through. Any thread. */
bool fsc_worker_trouble(struct fsc_worker *w, struct fsc_err *why);

#endif
