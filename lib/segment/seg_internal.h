/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The open segment, private to lib/segment. Everything but the verified bits is read-only after open.
 * Row-relative slice indexes are called "idx", slice ids "id". Any thread.
 */
#ifndef FSC_SEGMENT_SEG_INTERNAL_H
#define FSC_SEGMENT_SEG_INTERNAL_H

#include <stdatomic.h>

#include "segment/lod.h"
#include "segment/seg_read.h"

struct fsc_seg_part {
	const uint8_t *p;
	uint64_t bytes;
	uint32_t elem, crc;
	bool present;
};

struct fsc_seg {
	_Atomic uint32_t refs;
	/* of a view only (seg_view.c); all pointers below are then those of whole */
	struct fsc_seg *whole;	 /* ref */
	const atomic_bool *stop; /* borrowed */
	const uint8_t *map;	 /* owned mapping */
	size_t map_bytes;
	struct fsc_seg_d_header h;
	struct fsc_seg_part part[FSC_SEG_N_TYPES];
	struct fsc_seg_info info;
	struct fsc_losses losses;
	struct fsc_seg_track *tracks; /* owned */
	/* into the mapping */
	const uint32_t *str_off;
	const char *str_bytes;
	const struct fsc_seg_process *processes;
	const struct fsc_seg_d_row *rows;
	const struct fsc_seg_d_block *blocks;
	const struct fsc_seg_d_class *classes;
	const uint32_t *dt, *dur, *cls;
	const uint32_t *corr, *args; /* NULL when no slice has one */
	const struct fsc_seg_d_escape *escapes;
	const struct fsc_flow *flows;
	const uint32_t *flows_by_to;
	const struct fsc_counter_sample *counters;
	const struct fsc_launch *launches;
	const struct fsc_collective *collectives;
	const struct fsc_seg_d_args_block *args_blocks;
	const struct fsc_seg_d_cover *covers;
	const uint64_t *cover_sums;
	/* Verified on first touch: set once, never cleared. Owned. */
	_Atomic uint8_t *block_ok; /* FSC_SEG_OK_* */
	_Atomic uint8_t *row_ok, *args_ok;
};
#define FSC_SEG_OK_CORE 1
#define FSC_SEG_OK_EXT 2

/* seg_view.c: frees a view. */
void fsc_seg_view_free(struct fsc_seg *view);
fsc_nodiscard enum fsc_status fsc_seg_stop_error(struct fsc_err *err);

/* FSC_ECANCELED when the asker of a view wants no answer any more. In every loop that can be long and does not touch
 * blocks of slices, which look themselves. */
fsc_nodiscard static inline enum fsc_status fsc_seg_stopped(const struct fsc_seg *s,
							    struct fsc_err *err)
{
	if (FSC_LIKELY(!s->stop || !atomic_load_explicit(s->stop, memory_order_relaxed)))
		return FSC_OK;
	return fsc_seg_stop_error(err);
}

/* seg_check.c: bounds and orders of every table but the slice columns, pyramids and args. */
fsc_nodiscard enum fsc_status fsc_seg_check_tables(struct fsc_seg *s, struct fsc_err *err);

/* seg_block.c: checks a block, a row's pyramid, when not done before. */
fsc_nodiscard enum fsc_status fsc_seg_block_core(const struct fsc_seg *s, uint32_t block,
						 struct fsc_err *err);
fsc_nodiscard enum fsc_status fsc_seg_block_ext(const struct fsc_seg *s, uint32_t block,
						struct fsc_err *err);
/* l->groups is 0 for a row without a pyramid. */
fsc_nodiscard enum fsc_status fsc_seg_row_lod(struct fsc_seg_lod *l, const struct fsc_seg *s,
					      uint32_t row, struct fsc_err *err);

/* All slices of a block whose core is checked. */
void fsc_seg_decode_block(const struct fsc_seg *s, const struct fsc_seg_d_block *b, int64_t *ts,
			  int64_t *dur);
/*
 * n <= 64 slices of a row from idx on, all of one block. l is the row's pyramid (groups 0: none, and then
 * the row is shorter than FSC_SEG_LOD_MIN). Checks the block.
 */
fsc_nodiscard enum fsc_status fsc_seg_decode(int64_t *ts, int64_t *dur, const struct fsc_seg *s,
					     uint32_t row, const struct fsc_seg_lod *l,
					     uint32_t idx, uint32_t n, struct fsc_err *err);
/* First idx of the row with ts >= t (its slice count when there is none). */
fsc_nodiscard enum fsc_status fsc_seg_lower_bound(uint32_t *idx, const struct fsc_seg *s,
						  uint32_t row, const struct fsc_seg_lod *l,
						  int64_t t, struct fsc_err *err);
/* Correlation of a slice of a block whose ext is checked. */
int64_t fsc_seg_correlation_of(const struct fsc_seg *s, const struct fsc_seg_d_block *b,
			       uint32_t id);
/* Everything of one slice but its times. Block core and ext are checked. */
void fsc_seg_fill(struct fsc_seg_slice *out, const struct fsc_seg *s,
		  const struct fsc_seg_d_block *b, uint32_t id);

/* seg_side.c: flow indexes with this target, as a range of flows_by_to. */
uint32_t fsc_seg_flows_to_range(const struct fsc_seg *s, uint32_t slice, uint32_t *first);

/* Args block that holds a record; false past the last record. */
bool fsc_seg_args_block_of(uint32_t *block, const struct fsc_seg *s, uint32_t record);
/* Checks and inflates an args block into raw, which has room for its raw_bytes. */
fsc_nodiscard enum fsc_status fsc_seg_args_inflate(uint8_t *raw, const struct fsc_seg *s,
						   uint32_t block, struct fsc_err *err);

/* Windows are cut to the times a segment can hold, so that sums with them cannot overflow. */
static inline int64_t fsc_seg_clamp_time(int64_t t)
{
	const int64_t max = FSC_SEG_TIME_MAX + 1;

	return t < -max ? -max : t > max ? max : t;
}

#endif
