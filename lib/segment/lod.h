/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The level-of-detail pyramid of a row. It lies in slice-index space: level 0 has one node for each group
 * of 16 slices, each level above one node for 4 nodes below. So its cost and its resolution follow the
 * slices: a short dense burst in a long quiet row is resolved as well as an even row.
 * Per group: ts of its first slice, sum of all durations before it (u64, exact at any length), span from
 * its first start to its last end. Any thread.
 */
#ifndef FSC_SEGMENT_LOD_H
#define FSC_SEGMENT_LOD_H

#include "base/attr.h"
#include "base/err.h"
#include "base/vec.h"
#include "segment/layout.h"

/* Offsets of the arrays inside a row's chunk of the LOD section; a function of the slice count alone. */
struct fsc_seg_lod_shape {
	uint32_t groups, n_levels;
	uint32_t level_n[FSC_SEG_MAX_LEVELS];
	uint64_t off_ts, off_sum, off_span, off_level[FSC_SEG_MAX_LEVELS];
	uint64_t bytes; /* multiple of FSC_SEG_ALIGN */
};
void fsc_seg_lod_shape(struct fsc_seg_lod_shape *sh, uint32_t n);

/* A chunk in memory. */
struct fsc_seg_lod {
	uint32_t groups, n_levels;
	const int64_t *ts;    /* groups */
	const uint64_t *sum;  /* groups + 1 */
	const uint32_t *span; /* groups; UINT32_MAX: too long to tell */
	const struct fsc_seg_node *level[FSC_SEG_MAX_LEVELS];
};
void fsc_seg_lod_map(struct fsc_seg_lod *l, const uint8_t *chunk, uint32_t n);

/* Builds the chunk of a row of n slices into dst (shape.bytes, zeroed by this function). */
void fsc_seg_lod_build(uint8_t *dst, const struct fsc_seg_lod_shape *sh, uint32_t n,
		       const int64_t *ts, const int64_t *dur, const uint32_t *cls);

/* Time per class of the few slices that are added; approximate only past FSC_SEG_TALLY_SLOTS classes. */
#define FSC_SEG_TALLY_SLOTS 64u
struct fsc_seg_tally {
	uint64_t used; /* bit per slot */
	uint32_t cls[FSC_SEG_TALLY_SLOTS];
	int64_t ns[FSC_SEG_TALLY_SLOTS];
};

static inline void fsc_seg_tally_add(struct fsc_seg_tally *t, uint32_t cls, int64_t ns)
{
	uint32_t slot = cls % FSC_SEG_TALLY_SLOTS; /* dense ids: frequent classes do not meet */

	for (uint32_t k = 0; k < FSC_SEG_TALLY_SLOTS;
	     k++, slot = (slot + 1) % FSC_SEG_TALLY_SLOTS) {
		if (!(t->used >> slot & 1)) {
			t->used |= UINT64_C(1) << slot;
			t->cls[slot] = cls;
			t->ns[slot] = ns;
			return;
		}
		if (t->cls[slot] == cls) {
			t->ns[slot] = (int64_t)((uint64_t)t->ns[slot] + (uint64_t)ns);
			return;
		}
	}
}
/* Class with most time; the smaller class id among equals. *ns is its time. */
uint32_t fsc_seg_tally_top(const struct fsc_seg_tally *t, int64_t *ns);

#endif
