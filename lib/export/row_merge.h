/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All rows of one track merged in (ts, depth) order: what an exporter of nested slices needs. A binary heap
 * of row iterators. Owner thread.
 */
#ifndef FSC_EXPORT_ROW_MERGE_H
#define FSC_EXPORT_ROW_MERGE_H

#include "segment/seg_read.h"

struct fsc_row_head;
struct fsc_row_merge {
	struct fsc_row_head *heap; /* owned; the earliest head is first */
	uint32_t n, rows;
};

fsc_nodiscard enum fsc_status fsc_row_merge_init(struct fsc_row_merge *m, const struct fsc_seg *s,
						 uint32_t track, int64_t t0, int64_t t1,
						 struct fsc_err *err);
fsc_nodiscard enum fsc_status fsc_row_merge_next(struct fsc_row_merge *m, struct fsc_seg_slice *out,
						 struct fsc_err *err); /* FSC_END after the last */
bool fsc_row_merge_peek(const struct fsc_row_merge *m, int64_t *ts);   /* false at the end */
void fsc_row_merge_fini(struct fsc_row_merge *m);

#endif
