/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Analyses for the API: computed from the segment for the asked steps, the last few kept, since a page asks for
 * the same one several times (summary, kernels, steps). Any thread. Errors: those of analysis/analysis.h.
 */
#ifndef FSC_SERVICE_ANALYSES_H
#define FSC_SERVICE_ANALYSES_H

#include "base/err.h"
#include "base/json_out.h"
#include "segment/seg_read.h"

struct fsc_analyses;
fsc_nodiscard struct fsc_analyses *fsc_analyses_new(void);
void fsc_analyses_free(struct fsc_analyses *a);

/* Which analysis: the trace and its version (indexed_at_ns), its segment, and `steps` as in the URL. */
struct fsc_analysis_key {
	int64_t trace, version;
	struct fsc_seg *seg; /* borrowed */
	const char *steps;   /* NULL: all */
};

/* The fixed shape, members put into an open object. */
fsc_nodiscard enum fsc_status fsc_analyses_summary(struct fsc_analyses *a,
						   const struct fsc_analysis_key *key,
						   struct fsc_json *j, struct fsc_err *err);

struct fsc_kernels_query {
	const char *q;	  /* every word must occur in the name, without case; NULL any */
	const char *sort; /* "sum" "count" "mean" "min" "max" "name"; NULL sum */
	bool ascending;
	uint32_t offset, limit;
};
/* Members "items", "next" (cursor or null), "total", "total_count", "total_sum_ns". FSC_EINVAL: sort. */
fsc_nodiscard enum fsc_status fsc_analyses_kernels(struct fsc_analyses *a,
						   const struct fsc_analysis_key *key,
						   const struct fsc_kernels_query *query,
						   struct fsc_json *j, struct fsc_err *err);
/* Members "items" and "total". */
fsc_nodiscard enum fsc_status fsc_analyses_steps(struct fsc_analyses *a,
						 const struct fsc_analysis_key *key,
						 struct fsc_json *j, struct fsc_err *err);
/* "compute", "comm", ... of enum fsc_kind. */
const char *fsc_analyses_kind_name(uint8_t kind);

#endif
