/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions a timeline asks of a segment. All are const, any thread. Costs are bounded by what is asked for
 * (rows x pixels, limits), never by the size of the trace, thanks to the level-of-detail pyramid.
 */
#ifndef FSC_SEGMENT_SEG_QUERY_H
#define FSC_SEGMENT_SEG_QUERY_H

#include "segment/seg_read.h"

/*
 * Slices query. For each asked row the window [t0, t1) is cut into px pixels (of ceil((t1 - t0) / px) ns). The
 * answer has at most px items a row. An item is either one exact slice (count 1), or stands for several slices
 * (FSC_ITEM_MERGED) shorter than a pixel that start in the same one: its extent from the first start to the
 * last end, cut to the window; how many slices; their summed time inside the window; the name and kind with
 * most time (exact for few slices, else the larger of the pyramid's children); and the longest of them.
 * - Items of a row are in time order and do not overlap; each slice that intersects the window is in exactly
 *   one. So counts add up to the slices of the window and busy_ns to fsc_seg_busy_exact of the row, exactly.
 * - A slice that starts before the window counts in the first pixel. Instants and zero-length slices count
 *   with busy 0. Zero-length slices at the same time merge unless there is 1 ns a pixel and room for all.
 * - Slices of a pixel or more stay exact. Only where they and the short ones between them would pass px items
 *   is the row done again with pixels of twice the width, and so on, until it fits.
 * - A merged item can reach up to a pixel past the end of its own: short slices are not cut, and runs of 16 are
 *   taken whole where they are shorter than a pixel.
 */
struct fsc_seg_item {
	uint16_t row_idx;    /* index into the asked rows */
	uint8_t kind, flags; /* FSC_ITEM_* */
	uint32_t name;	     /* string id; dominant name when merged */
	uint32_t slice;	     /* slice id; a representative (the longest known) when merged */
	uint32_t count;
	int64_t t0, t1;	 /* exact ts and end for a single slice (may lie outside the window) */
	int64_t busy_ns; /* covered time inside [t0, t1) */
};
#define FSC_ITEM_MERGED 1
#define FSC_ITEM_OVERLAP 2
#define FSC_ITEM_INSTANT 4
#define FSC_ITEM_OPEN 8

struct fsc_seg_items {
	FSC_VEC(struct fsc_seg_item) v; /* ordered by (row_idx, t0) */
	uint64_t n_slices_seen;		/* slices these items stand for */
	bool truncated;			/* stopped at max_items */
};
fsc_nodiscard enum fsc_status fsc_seg_query_slices(struct fsc_seg_items *out,
						   const struct fsc_seg *s, const uint32_t *rows,
						   uint32_t n_rows, int64_t t0, int64_t t1,
						   uint32_t px, uint32_t max_items,
						   struct fsc_err *err);
void fsc_seg_items_fini(struct fsc_seg_items *it);

/* Exact busy time (union of slices with a duration) of a set of rows in [t0, t1), from raw slices. */
fsc_nodiscard enum fsc_status fsc_seg_busy_exact(int64_t *busy_ns, const struct fsc_seg *s,
						 const uint32_t *rows, uint32_t n_rows, int64_t t0,
						 int64_t t1, struct fsc_err *err);

/* Aggregate of a range: times are clipped to [t0, t1); self = own time minus nested slices on its track. */
enum fsc_agg_by { FSC_AGG_NAME, FSC_AGG_KIND, FSC_AGG_TRACK };
struct fsc_seg_agg_row {
	uint32_t key; /* string id, enum fsc_kind, or track */
	uint8_t kind; /* of the first slice seen for it */
	uint64_t count;
	int64_t total_ns, self_ns, min_ns, max_ns; /* min/max over clipped durations */
};
struct fsc_seg_agg {
	FSC_VEC(struct fsc_seg_agg_row) v; /* most total first */
	uint64_t count;
	int64_t total_ns;
	int64_t busy_ns; /* union over the GPU work of the asked tracks */
};
fsc_nodiscard enum fsc_status fsc_seg_aggregate(struct fsc_seg_agg *out, const struct fsc_seg *s,
						const uint32_t *tracks, uint32_t n_tracks,
						int64_t t0, int64_t t1, enum fsc_agg_by by,
						struct fsc_err *err);
void fsc_seg_agg_fini(struct fsc_seg_agg *a);

/* Search: substring of the name (of its first FSC_SEG_SEARCH_NAME bytes), ASCII letters in either case. Hits are the slices that intersect [t0, t1), in the
 * order of (ts, id), the first `limit` of them (at most 100,000); total counts all of the window; strip has
 * n_strip (at most 65,536) buckets over it with hit counts. The next page starts at the last hit's ts. */
#define FSC_SEG_SEARCH_NAME 65536u
struct fsc_seg_hits {
	FSC_VEC(struct fsc_seg_slice) v;
	uint64_t total;
	uint32_t *strip; /* owned */
	uint32_t n_strip;
};
fsc_nodiscard enum fsc_status fsc_seg_search(struct fsc_seg_hits *out, const struct fsc_seg *s,
					     const char *text, int64_t t0, int64_t t1,
					     uint32_t limit, uint32_t n_strip, struct fsc_err *err);
void fsc_seg_hits_fini(struct fsc_seg_hits *h);

/* GPU busy share for the minimap: n equal buckets over [t0, t1), busy ns per bucket of compute, comm, copies,
 * other (4 arrays of n, in that order; union per kind over all GPU tracks of a device, summed over devices). */
fsc_nodiscard enum fsc_status fsc_seg_minimap(int64_t *busy, const struct fsc_seg *s, int64_t t0,
					      int64_t t1, uint32_t n, struct fsc_err *err);

/* Counter samples of one track in [t0, t1), at most one point a pixel: the least, greatest and last value
 * that was sampled in it. The first point stands for the value in force at t0 when there is one. */
struct fsc_seg_counter_point {
	int64_t t; /* first sample of the pixel; t0 for the value in force */
	double min, max, last;
};
struct fsc_seg_counter_points {
	FSC_VEC(struct fsc_seg_counter_point) v;
};
fsc_nodiscard enum fsc_status fsc_seg_counters_minmax(struct fsc_seg_counter_points *out,
						      const struct fsc_seg *s, uint32_t track,
						      int64_t t0, int64_t t1, uint32_t px,
						      struct fsc_err *err);
void fsc_seg_counter_points_fini(struct fsc_seg_counter_points *p);

/* Flows of which a slice at either end intersects [t0, t1), each once, in slice order, at most limit. */
struct fsc_seg_flow_ends {
	struct fsc_seg_slice from, to;
	uint32_t cat, name; /* string ids */
};
struct fsc_seg_flow_list {
	FSC_VEC(struct fsc_seg_flow_ends) v;
	bool truncated;
};
fsc_nodiscard enum fsc_status fsc_seg_flows_in(struct fsc_seg_flow_list *out,
					       const struct fsc_seg *s, int64_t t0, int64_t t1,
					       uint32_t limit, struct fsc_err *err);
void fsc_seg_flow_list_fini(struct fsc_seg_flow_list *l);

#endif
