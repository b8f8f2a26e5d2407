/* SPDX-License-Identifier: Apache-2.0 */
/* Every checksum and invariant of a segment, for backup checks and tests. */
#include <string.h>

#include "base/alloc.h"
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

/* The pyramid must be what the writer would make of these slices, byte for byte. */
static enum fsc_status verify_lod(const struct fsc_seg *s, uint32_t row, struct fsc_err *err)
{
	const struct fsc_seg_d_row *r = &s->rows[row];
	struct fsc_seg_lod_shape sh;
	int64_t *ts, *dur;
	uint8_t *chunk;
	enum fsc_status st = FSC_OK;

	fsc_seg_lod_shape(&sh, r->n);
	ts = fsc_alloc(r->n, sizeof(*ts));
	dur = fsc_alloc(r->n, sizeof(*dur));
	chunk = fsc_alloc(sh.bytes, 1);
	if (!ts || !dur || !chunk) {
		st = fsc_err_set(err, FSC_ENOMEM, NULL, "segment: no memory to verify row %u", row);
		goto out;
	}
	for (uint32_t k = 0; k < r->n_blocks; k++)
		fsc_seg_decode_block(s, &s->blocks[r->first_block + k], ts + k * FSC_SEG_BLOCK,
				     dur + k * FSC_SEG_BLOCK);
	fsc_seg_lod_build(chunk, &sh, r->n, ts, dur, s->cls + r->first_slice);
	if (memcmp(chunk, s->part[FSC_SEG_LOD].p + r->lod_offset, sh.bytes) != 0)
		st = fsc_err_set(err, FSC_ECORRUPT, "segment_lod",
				 "segment: pyramid of row %u is not that of its slices", row);
out:
	fsc_free(ts);
	fsc_free(dur);
	fsc_free(chunk);
	return st;
}

static enum fsc_status verify_row(const struct fsc_seg *s, uint32_t row, bool rebuild,
				  struct fsc_err *err)
{
	const struct fsc_seg_d_row *r = &s->rows[row];
	struct fsc_seg_lod l;
	enum fsc_status st = fsc_seg_row_lod(&l, s, row, err);

	for (uint32_t k = 0; k < r->n_blocks && st == FSC_OK; k++) {
		st = fsc_seg_block_core(s, r->first_block + k, err);
		if (st == FSC_OK)
			st = fsc_seg_block_ext(s, r->first_block + k, err);
	}
	return st == FSC_OK && l.groups && rebuild ? verify_lod(s, row, err) : st;
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

static enum fsc_status verify(const struct fsc_seg *s, bool rebuild, struct fsc_err *err)
{
	enum fsc_status st = verify_sections(s, err);

	for (uint32_t i = 0; i < s->h.n_rows && st == FSC_OK; i++)
		st = verify_row(s, i, rebuild, err);
	return st == FSC_OK ? verify_args(s, err) : st;
}

enum fsc_status fsc_seg_verify(const struct fsc_seg *s, struct fsc_err *err)
{
	return verify(s, true, err);
}

enum fsc_status fsc_seg_check(const struct fsc_seg *s, struct fsc_err *err)
{
	return verify(s, false, err);
}
