/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions about traces: the one place that joins the store (which trace, whose) with segments (its
 * slices). Keeps the segments used last mapped. Everything here is for any thread.
 */
#ifndef FSC_SERVICE_QUERY_H
#define FSC_SERVICE_QUERY_H

#include "base/arena.h"
#include "segment/seg_query.h"
#include "store/store.h"

struct fsc_blobs;
struct fsc_query;

struct fsc_query_opts {
	struct fsc_store *store; /* borrowed */
	struct fsc_blobs *blobs; /* borrowed */
	uint32_t max_open;	 /* segments kept mapped; 0 = 64 */
};
/* Never fails. */
fsc_nodiscard struct fsc_query *fsc_query_new(const struct fsc_query_opts *opts);
void fsc_query_free(struct fsc_query *q); /* no query may run */

/* The segment of a trace row, as a reference of the caller (fsc_seg_unref). FSC_ENOTFOUND
 * "segment_missing", FSC_ECORRUPT, FSC_EUNSUPPORTED (re-index it). */
fsc_nodiscard enum fsc_status fsc_query_segment(struct fsc_query *q,
						const struct fsc_trace_row *row,
						struct fsc_seg **out, struct fsc_err *err);

struct fsc_query_stats {
	uint64_t hits, misses;
	uint32_t open;
};
void fsc_query_stats(struct fsc_query *q, struct fsc_query_stats *out);

#endif
