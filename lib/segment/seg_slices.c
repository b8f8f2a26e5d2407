/* SPDX-License-Identifier: Apache-2.0 */
/* Single slices: by id, parent, by place and name. */
#include <string.h>

#include "segment/seg_internal.h"

/* The slice at idx of a row, everything checked. */
static enum fsc_status slice_at(struct fsc_seg_slice *out, const struct fsc_seg *s, uint32_t row,
				const struct fsc_seg_lod *l, uint32_t idx, struct fsc_err *err)
{
	uint32_t block = s->rows[row].first_block + idx / FSC_SEG_BLOCK;
	enum fsc_status st = fsc_seg_decode(&out->ts, &out->dur, s, row, l, idx, 1, err);

	if (st == FSC_OK)
		st = fsc_seg_block_ext(s, block, err);
	if (st == FSC_OK)
		fsc_seg_fill(out, s, &s->blocks[block], s->rows[row].first_slice + idx);
	return st;
}

enum fsc_status fsc_seg_slice(struct fsc_seg_slice *out, const struct fsc_seg *s, uint32_t id,
			      struct fsc_err *err)
{
	uint32_t lo = 0, hi = s->h.n_rows;
	struct fsc_seg_lod l;
	enum fsc_status st;

	if (id >= s->info.n_slices)
		return fsc_err_set(err, FSC_ENOTFOUND, "no_such_slice", "segment: no slice %u", id);
	/* The last row that starts at or before id: empty rows before it start there too. */
	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (s->rows[mid].first_slice <= id)
			lo = mid;
		else
			hi = mid;
	}
	st = fsc_seg_row_lod(&l, s, lo, err);
	if (st != FSC_OK)
		return st;
	return slice_at(out, s, lo, &l, id - s->rows[lo].first_slice, err);
}

enum fsc_status fsc_seg_parent(struct fsc_seg_slice *out, const struct fsc_seg *s,
			       const struct fsc_seg_slice *of, struct fsc_err *err)
{
	const struct fsc_seg_track *t = &s->tracks[of->track];

	for (uint32_t d = of->depth; d-- > 0;) {
		uint32_t row = t->first_row + d, idx;
		struct fsc_seg_lod l;
		enum fsc_status st = fsc_seg_row_lod(&l, s, row, err);

		if (st == FSC_OK)
			st = fsc_seg_lower_bound(&idx, s, row, &l, of->ts + 1, err);
		if (st != FSC_OK)
			return st;
		if (!idx)
			continue;
		st = slice_at(out, s, row, &l, idx - 1, err);
		if (st != FSC_OK)
			return st;
		if (out->ts + out->dur >= of->ts + of->dur)
			return FSC_OK;
	}
	return fsc_err_set(err, FSC_ENOTFOUND, "no_parent", "segment: slice %u has no parent",
			   of->id);
}

/* Slices of the track that start at ts and have this name: counts at most `max` of them, out is the last. */
static enum fsc_status find_on(struct fsc_seg_slice *out, uint32_t *n, const struct fsc_seg *s,
			       uint32_t track, int64_t ts, const char *name, uint32_t max,
			       struct fsc_err *err)
{
	const struct fsc_seg_track *t = &s->tracks[track];

	for (uint32_t row = t->first_row; row < t->first_row + t->depths; row++) {
		struct fsc_seg_slice x;
		struct fsc_seg_lod l;
		uint32_t idx;
		enum fsc_status st = fsc_seg_row_lod(&l, s, row, err);

		if (st == FSC_OK)
			st = fsc_seg_lower_bound(&idx, s, row, &l, ts, err);
		for (; st == FSC_OK && idx < s->rows[row].n; idx++) {
			st = slice_at(&x, s, row, &l, idx, err);
			if (st != FSC_OK || x.ts != ts)
				break;
			if (strcmp(fsc_seg_str(s, x.name, NULL), name) != 0)
				continue;
			*out = x;
			if (++*n >= max)
				return FSC_OK;
		}
		if (st != FSC_OK)
			return st;
	}
	return FSC_OK;
}

static enum fsc_status no_such_slice(struct fsc_err *err)
{
	return fsc_err_set(err, FSC_ENOTFOUND, "no_such_slice",
			   "segment: no slice starts there with this name");
}

enum fsc_status fsc_seg_find(struct fsc_seg_slice *out, const struct fsc_seg *s, uint32_t track,
			     int64_t ts, const char *name, struct fsc_err *err)
{
	uint32_t n = 0;
	enum fsc_status st;

	if (track >= s->h.n_tracks)
		return fsc_err_set(err, FSC_ENOTFOUND, "no_such_track", "segment: no track %u",
				   track);
	st = find_on(out, &n, s, track, fsc_seg_clamp_time(ts), name, 1, err);
	return st == FSC_OK && !n ? no_such_slice(err) : st;
}

enum fsc_status fsc_seg_find_any(struct fsc_seg_slice *out, const struct fsc_seg *s, int64_t ts,
				 const char *name, struct fsc_err *err)
{
	uint32_t n = 0;
	enum fsc_status st = FSC_OK;

	for (uint32_t track = 0; track < s->h.n_tracks && st == FSC_OK && n < 2; track++)
		st = find_on(out, &n, s, track, fsc_seg_clamp_time(ts), name, 2, err);
	if (st != FSC_OK)
		return st;
	if (n > 1)
		return fsc_err_set(err, FSC_ENOTFOUND, "ambiguous_slice",
				   "segment: several slices start there with this name");
	return n ? FSC_OK : no_such_slice(err);
}
