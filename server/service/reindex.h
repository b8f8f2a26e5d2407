/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Indexing again what an older version of the program made: a few bundles at a time while nothing else waits,
 * newest first, each once in the life of a process; and at once, when somebody asks for a trace whose segment
 * this program cannot read. Until then the old facts and segments are served. Any thread.
 */
#ifndef FSC_SERVICE_REINDEX_H
#define FSC_SERVICE_REINDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "store/retention.h"
#include "store/store.h"

struct fsc_ingest;
struct fsc_reindex;

struct fsc_reindex_opts {
	struct fsc_store *store;      /* borrowed */
	struct fsc_ingest *ingest;    /* borrowed */
	struct fsc_versions versions; /* zero: those of this program */
};
/* Never fails. */
fsc_nodiscard struct fsc_reindex *fsc_reindex_new(const struct fsc_reindex_opts *opts);
void fsc_reindex_free(struct fsc_reindex *r); /* NULL is fine */
const struct fsc_versions *fsc_reindex_versions(const struct fsc_reindex *r);
/* An older version made the trace. */
bool fsc_reindex_outdated(const struct fsc_reindex *r, const struct fsc_trace_row *t);

/* Queues the next few when the queue is empty; cheap when there is nothing to do. Call it every second or so. */
fsc_nodiscard enum fsc_status fsc_reindex_step(struct fsc_reindex *r, struct fsc_err *err);

/* Where the bundle of a trace stands whose segment cannot be read. */
struct fsc_reindex_progress {
	enum fsc_bundle_state state; /* queued or indexing */
	int64_t done, total;	     /* bytes of the upload, while indexing */
};
/* Queues it, unless that was done. FSC_EBUSY "reindexing": *out is set, ask again later. FSC_EEXIST
 * "not_rebuildable": its bytes were let go. FSC_EUNSUPPORTED "reindex_failed": it was tried, and did not help. */
fsc_nodiscard enum fsc_status fsc_reindex_want(struct fsc_reindex *r, const struct fsc_trace_row *t,
					       struct fsc_reindex_progress *out,
					       struct fsc_err *err);

struct fsc_reindex_stats {
	uint64_t queued_bundles;	     /* since start */
	uint64_t done_traces, failed_traces; /* of them */
};
/* project 0: all. */
void fsc_reindex_stats(struct fsc_reindex *r, int64_t project, struct fsc_reindex_stats *out);

#endif
