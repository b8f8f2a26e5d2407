/* SPDX-License-Identifier: Apache-2.0 */
/* Every checksum and invariant of a segment, for backup checks and tests. */
#include "base/crc.h"
#include "segment/seg_internal.h"

static enum fsc_status verify_sections(const struct fsc_seg *s, struct fsc_err *err)
{
	for (uint32_t t = 1; t < FSC_SEG_N_TYPES; t++) {
		const struct fsc_seg_part *p = &s->part[t];

		if (p->present && fsc_crc32c(0, p->p, p->bytes) != p->crc)
			return fsc_err_set(err, FSC_ECORRUPT, "segment_checksum",
					   "segment: checksum of section %u does not match", t);
	}
	return FSC_OK;
}

static enum fsc_status verify_row(const struct fsc_seg *s, uint32_t row, struct fsc_err *err)
{
	const struct fsc_seg_d_row *r = &s->rows[row];
	struct fsc_seg_lod l;
	enum fsc_status st = fsc_seg_row_lod(&l, s, row, err);

	for (uint32_t k = 0; k < r->n_blocks && st == FSC_OK; k++) {
		st = fsc_seg_block_core(s, r->first_block + k, err);
		if (st == FSC_OK)
			st = fsc_seg_block_ext(s, r->first_block + k, err);
	}
	/* The pyramid says what the slices say. */
	for (uint32_t g = 0; g < l.groups && st == FSC_OK; g++) {
		int64_t ts[FSC_SEG_GROUP], dur[FSC_SEG_GROUP];
		uint32_t first = g * FSC_SEG_GROUP;
		uint32_t n = r->n - first < FSC_SEG_GROUP ? r->n - first : FSC_SEG_GROUP;
		uint64_t sum = 0;

		st = fsc_seg_decode(ts, dur, s, row, &l, first, n, err);
		for (uint32_t i = 0; i < n && st == FSC_OK; i++)
			sum += (uint64_t)dur[i];
		if (st == FSC_OK && sum != l.sum[g + 1] - l.sum[g])
			st = fsc_err_set(err, FSC_ECORRUPT, "segment_lod",
					 "segment: pyramid of row %u does not sum up its slices",
					 row);
	}
	return st;
}

static enum fsc_status verify_args(const struct fsc_seg *s, struct fsc_err *err)
{
	struct fsc_seg_args_cache c = { .raw = NULL };
	enum fsc_status st = FSC_OK;

	for (uint32_t i = 0; i < s->h.n_args && st == FSC_OK; i++) {
		const char *json;
		size_t n;

		st = fsc_seg_args_get(&json, &n, &c, s, i, err);
	}
	fsc_seg_args_cache_fini(&c);
	return st;
}

enum fsc_status fsc_seg_verify(const struct fsc_seg *s, struct fsc_err *err)
{
	enum fsc_status st = verify_sections(s, err);

	for (uint32_t i = 0; i < s->h.n_rows && st == FSC_OK; i++)
		st = verify_row(s, i, err);
	return st == FSC_OK ? verify_args(s, err) : st;
}
