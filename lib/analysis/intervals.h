/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of time intervals in integer ns: union, intersection, gaps. The core of every breakdown. Intervals are
 * half-open [t0, t1); empty ones are not kept. A set is filled with add, then normalised once: sorted, and
 * intervals that touch or overlap merged. All other calls need normalised sets. Caller-owned; owner thread.
 */
#ifndef FSC_ANALYSIS_INTERVALS_H
#define FSC_ANALYSIS_INTERVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/vec.h"

struct fsc_span {
	int64_t t0, t1;
};

struct fsc_spans { /* start zeroed */
	FSC_VEC(struct fsc_span) v;
};

void fsc_spans_fini(struct fsc_spans *s);
/* False when memory could not be had. Runs in order of start are merged as they come, so that a stream of
 * back-to-back kernels needs one interval. */
fsc_nodiscard bool fsc_spans_add(struct fsc_spans *s, int64_t t0, int64_t t1);
fsc_nodiscard bool fsc_spans_normalise(struct fsc_spans *s); /* false: no memory */

/* Length of the set; saturates at INT64_MAX. */
int64_t fsc_spans_total(const struct fsc_spans *s);
/* Length of the part inside [t0, t1). */
int64_t fsc_spans_total_in(const struct fsc_spans *s, int64_t t0, int64_t t1);
/* For many questions of that kind: sums[i] = length of the first i intervals, n + 1 of them; NULL when memory could
 * not be had, fsc_free'd by the caller. Then a question costs a search, however long its window. */
fsc_nodiscard int64_t *fsc_spans_sums(const struct fsc_spans *s);
/* Length of the part before t. */
int64_t fsc_spans_total_before(const struct fsc_spans *s, const int64_t *sums, int64_t t);
/* Length of the intersection of two sets. */
int64_t fsc_spans_common(const struct fsc_spans *a, const struct fsc_spans *b);
/* out (zeroed) = union of two sets, normalised. */
fsc_nodiscard bool fsc_spans_union(struct fsc_spans *out, const struct fsc_spans *a,
				   const struct fsc_spans *b);
/* i-th gap between neighbours, i < fsc_spans_gaps(). */
size_t fsc_spans_gaps(const struct fsc_spans *s);
struct fsc_span fsc_spans_gap(const struct fsc_spans *s, size_t i);

#endif
