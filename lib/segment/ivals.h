/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Union of time intervals: sorted, disjoint, touching ones joined. Rows are added one after the other;
 * what an earlier row covers already (nested slices) costs a look-up and no memory. Owner thread.
 */
#ifndef FSC_SEGMENT_IVALS_H
#define FSC_SEGMENT_IVALS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/vec.h"

struct fsc_ival {
	int64_t t0, t1;
};
struct fsc_ivals {			  /* start zeroed */
	FSC_VEC(struct fsc_ival) v;	  /* the union of all finished rows */
	FSC_VEC(struct fsc_ival) pending; /* of the open row, not covered by v */
	FSC_VEC(struct fsc_ival) spare;	  /* scratch of the merge */
	size_t cursor;			  /* into v, moves with the open row */
};

/* Adds an interval to the open row; starts must not go back within a row. Empty ones are ignored.
 * False when out of memory. */
fsc_nodiscard bool fsc_ivals_add(struct fsc_ivals *u, int64_t t0, int64_t t1);
/* Ends the open row. */
fsc_nodiscard bool fsc_ivals_end_row(struct fsc_ivals *u);
int64_t fsc_ivals_sum(const struct fsc_ivals *u);
void fsc_ivals_fini(struct fsc_ivals *u);

#endif
