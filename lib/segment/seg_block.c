/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of slices: checked when first touched, then decoded. A checked block holds what the decoders rely
 * on: an escape for every marker, classes in range, times in order and in range.
 */
#include <string.h>

#include "base/crc.h"
#include "segment/seg_internal.h"

static enum fsc_status damaged(struct fsc_err *err, const char *code, const char *what, uint32_t i)
{
	return fsc_err_set(err, FSC_ECORRUPT, code, "segment: %s %u is damaged", what, i);
}

static bool is_ok(const _Atomic uint8_t *ok, uint8_t bit)
{
	return (atomic_load_explicit(ok, memory_order_acquire) & bit) != 0;
}

static void set_ok(_Atomic uint8_t *ok, uint8_t bit)
{
	atomic_fetch_or_explicit(ok, bit, memory_order_release);
}

/* The value that the escape list holds for a marker; 0 when there is none. */
static uint64_t escaped(const struct fsc_seg *s, const struct fsc_seg_d_block *b, uint32_t id,
			uint32_t column, bool *found)
{
	const struct fsc_seg_d_escape *e = s->escapes + b->first_escape;
	uint32_t lo = 0, hi = b->n_escapes;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (e[mid].slice < id || (e[mid].slice == id && e[mid].column < column))
			lo = mid + 1;
		else
			hi = mid;
	}
	*found = lo < b->n_escapes && e[lo].slice == id && e[lo].column == column;
	return *found ? e[lo].value : 0;
}

static int64_t time_at(const struct fsc_seg *s, const struct fsc_seg_d_block *b,
		       const uint32_t *col, uint32_t id, uint32_t column)
{
	bool found;

	return FSC_LIKELY(col[id] != FSC_SEG_ESCAPED) ? col[id]
						      : (int64_t)escaped(s, b, id, column, &found);
}

/* ---- checks ---- */

static bool core_sums_match(const struct fsc_seg *s, const struct fsc_seg_d_block *b)
{
	size_t bytes = b->n * sizeof(uint32_t);
	uint32_t crc = fsc_crc32c(0, s->dt + b->first_slice, bytes);

	crc = fsc_crc32c(crc, s->dur + b->first_slice, bytes);
	crc = fsc_crc32c(crc, s->cls + b->first_slice, bytes);
	if (b->n_escapes)
		crc = fsc_crc32c(crc, s->escapes + b->first_escape,
				 b->n_escapes * sizeof(*s->escapes));
	return crc == b->crc_core;
}

/* Takes the next escape when the value is a marker; false when it is not there or out of range. */
static bool take_time(int64_t *v, const struct fsc_seg_d_escape **e,
		      const struct fsc_seg_d_escape *end, uint32_t stored, uint32_t id,
		      uint32_t column)
{
	*v = stored;
	if (stored != FSC_SEG_ESCAPED)
		return true;
	if (*e == end || (*e)->slice != id || (*e)->column != column ||
	    (*e)->value > (uint64_t)FSC_SEG_TIME_MAX * 2)
		return false;
	*v = (int64_t)(*e)->value;
	(*e)++;
	return true;
}

static bool core_contents_ok(const struct fsc_seg *s, const struct fsc_seg_d_block *b)
{
	const struct fsc_seg_d_escape *e = s->escapes + b->first_escape, *end = e + b->n_escapes;
	int64_t t = b->first_ts, last = b->first_ts;

	if (s->dt[b->first_slice] != 0)
		return false;
	for (uint32_t id = b->first_slice; id < b->first_slice + b->n; id++) {
		int64_t dt, dur;

		if (s->cls[id] >= s->h.n_classes ||
		    !(b->class_mask & fsc_seg_class_bit(s->cls[id])))
			return false;
		if (!take_time(&dt, &e, end, s->dt[id], id, FSC_SEG_ESC_TS) ||
		    !take_time(&dur, &e, end, s->dur[id], id, FSC_SEG_ESC_DUR))
			return false;
		if (e != end && e->slice == id && e->column == FSC_SEG_ESC_CORRELATION)
			e++;
		t += dt; /* both sides are far below the range of int64 */
		if (t < last || t > FSC_SEG_TIME_MAX || dur > FSC_SEG_TIME_MAX - t)
			return false;
		last = t + dur;
	}
	return e == end && last == b->last_end;
}

enum fsc_status fsc_seg_block_core(const struct fsc_seg *s, uint32_t block, struct fsc_err *err)
{
	const struct fsc_seg_d_block *b = &s->blocks[block];
	enum fsc_status st = fsc_seg_stopped(s, err);

	if (st != FSC_OK)
		return st;
	if (FSC_LIKELY(is_ok(&s->block_ok[block], FSC_SEG_OK_CORE)))
		return FSC_OK;
	if (!core_sums_match(s, b))
		return damaged(err, "segment_checksum", "block", block);
	if (!core_contents_ok(s, b))
		return damaged(err, "segment_block", "block", block);
	set_ok(&s->block_ok[block], FSC_SEG_OK_CORE);
	return FSC_OK;
}

enum fsc_status fsc_seg_block_ext(const struct fsc_seg *s, uint32_t block, struct fsc_err *err)
{
	const struct fsc_seg_d_block *b = &s->blocks[block];
	size_t bytes = b->n * sizeof(uint32_t);
	uint32_t crc = 0;
	bool found = true;

	if (FSC_LIKELY(is_ok(&s->block_ok[block], FSC_SEG_OK_EXT)))
		return FSC_OK;
	if (s->corr)
		crc = fsc_crc32c(crc, s->corr + b->first_slice, bytes);
	if (s->args)
		crc = fsc_crc32c(crc, s->args + b->first_slice, bytes);
	if (crc != b->crc_ext)
		return damaged(err, "segment_checksum", "block", block);
	for (uint32_t id = b->first_slice; id < b->first_slice + b->n && found; id++) {
		if (s->corr && s->corr[id] == FSC_SEG_ESCAPED)
			escaped(s, b, id, FSC_SEG_ESC_CORRELATION, &found);
		if (s->args && s->args[id] != FSC_NO_ARGS && s->args[id] >= s->h.n_args)
			found = false;
	}
	if (!found)
		return damaged(err, "segment_block", "block", block);
	set_ok(&s->block_ok[block], FSC_SEG_OK_EXT);
	return FSC_OK;
}

static bool lod_contents_ok(const struct fsc_seg *s, const struct fsc_seg_d_row *r,
			    const struct fsc_seg_lod *l)
{
	struct fsc_seg_lod_shape sh;
	const float max = (float)(FSC_SEG_TIME_MAX * 2); /* so that it fits int64 again */

	fsc_seg_lod_shape(&sh, r->n);
	for (uint32_t k = 0; k < sh.n_levels; k++)
		for (uint32_t i = 0; i < sh.level_n[k]; i++) {
			const struct fsc_seg_node *node = &l->level[k][i];

			if (node->cls >= s->h.n_classes || node->rep >= r->n ||
			    !(node->dom >= 0 && node->dom <= max) ||
			    !(node->max >= 0 && node->max <= max))
				return false;
		}
	for (uint32_t g = 0; g < l->groups; g++)
		if (l->ts[g] < (g ? l->ts[g - 1] : r->first_ts) || l->ts[g] > r->last_end ||
		    l->sum[g + 1] < l->sum[g])
			return false;
	return l->sum[0] == 0 && l->sum[l->groups] <= (uint64_t)FSC_SEG_TIME_MAX * 2;
}

enum fsc_status fsc_seg_row_lod(struct fsc_seg_lod *l, const struct fsc_seg *s, uint32_t row,
				struct fsc_err *err)
{
	const struct fsc_seg_d_row *r = &s->rows[row];
	const uint8_t *chunk;

	if (r->lod_offset == FSC_SEG_NO_OFFSET) {
		memset(l, 0, sizeof(*l));
		return FSC_OK;
	}
	chunk = s->part[FSC_SEG_LOD].p + r->lod_offset;
	fsc_seg_lod_map(l, chunk, r->n);
	if (FSC_LIKELY(is_ok(&s->row_ok[row], FSC_SEG_OK_CORE)))
		return FSC_OK;
	if (fsc_crc32c(0, chunk, r->lod_bytes) != r->lod_crc)
		return damaged(err, "segment_checksum", "pyramid of row", row);
	if (!lod_contents_ok(s, r, l))
		return damaged(err, "segment_lod", "pyramid of row", row);
	set_ok(&s->row_ok[row], FSC_SEG_OK_CORE);
	return FSC_OK;
}

/* ---- decoding ---- */

void fsc_seg_decode_block(const struct fsc_seg *s, const struct fsc_seg_d_block *b, int64_t *ts,
			  int64_t *dur)
{
	const uint32_t *dt = s->dt + b->first_slice, *du = s->dur + b->first_slice;
	int64_t t = b->first_ts;

	for (uint32_t i = 0; i < b->n; i++) {
		t += dt[i];
		ts[i] = t;
		dur[i] = du[i];
	}
	if (!b->n_escapes)
		return;
	t = b->first_ts;
	for (uint32_t i = 0; i < b->n; i++) {
		t += time_at(s, b, s->dt, b->first_slice + i, FSC_SEG_ESC_TS);
		ts[i] = t;
		dur[i] = time_at(s, b, s->dur, b->first_slice + i, FSC_SEG_ESC_DUR);
	}
}

enum fsc_status fsc_seg_decode(int64_t *ts, int64_t *dur, const struct fsc_seg *s, uint32_t row,
			       const struct fsc_seg_lod *l, uint32_t idx, uint32_t n,
			       struct fsc_err *err)
{
	const struct fsc_seg_d_row *r = &s->rows[row];
	uint32_t block = r->first_block + idx / FSC_SEG_BLOCK;
	const struct fsc_seg_d_block *b = &s->blocks[block];
	uint32_t start = l->groups ? idx / FSC_SEG_GROUP * FSC_SEG_GROUP
				   : idx / FSC_SEG_BLOCK * FSC_SEG_BLOCK;
	int64_t t = l->groups ? l->ts[start / FSC_SEG_GROUP] : b->first_ts;
	enum fsc_status st;

	/* The three columns are far apart: fetch them side by side. */
	__builtin_prefetch(s->dt + r->first_slice + idx);
	__builtin_prefetch(s->dur + r->first_slice + idx);
	__builtin_prefetch(s->cls + r->first_slice + idx);
	st = fsc_seg_block_core(s, block, err);

	if (st != FSC_OK)
		return st;
	for (uint32_t i = start; i < idx + n; i++) {
		uint32_t id = r->first_slice + i;

		if (i != start)
			t += time_at(s, b, s->dt, id, FSC_SEG_ESC_TS);
		if (FSC_UNLIKELY(t > FSC_SEG_TIME_MAX))
			t = FSC_SEG_TIME_MAX; /* a pyramid that lies must not overflow sums */
		if (i >= idx) {
			ts[i - idx] = t;
			dur[i - idx] = time_at(s, b, s->dur, id, FSC_SEG_ESC_DUR);
		}
	}
	return FSC_OK;
}

/* Last block whose first slice starts before t, relative to the row; 0 when there is none. */
static uint32_t block_before(const struct fsc_seg *s, const struct fsc_seg_d_row *r, int64_t t)
{
	uint32_t lo = 0, hi = r->n_blocks;

	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (s->blocks[r->first_block + mid].first_ts < t)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

enum fsc_status fsc_seg_lower_bound(uint32_t *idx, const struct fsc_seg *s, uint32_t row,
				    const struct fsc_seg_lod *l, int64_t t, struct fsc_err *err)
{
	const struct fsc_seg_d_row *r = &s->rows[row];
	int64_t ts[FSC_SEG_LOD_MIN], dur[FSC_SEG_LOD_MIN];
	uint32_t first, n = FSC_SEG_GROUP;
	enum fsc_status st;

	*idx = 0;
	if (!r->n || t <= r->first_ts)
		return FSC_OK;
	if (t > r->last_end) {
		*idx = r->n;
		return FSC_OK;
	}
	first = block_before(s, r, t) * FSC_SEG_BLOCK;
	if (l->groups) {
		uint32_t lo = first / FSC_SEG_GROUP, hi = lo + FSC_SEG_BLOCK / FSC_SEG_GROUP;

		for (hi = hi < l->groups ? hi : l->groups; hi - lo > 1;) {
			uint32_t mid = lo + (hi - lo) / 2;

			if (l->ts[mid] < t)
				lo = mid;
			else
				hi = mid;
		}
		first = lo * FSC_SEG_GROUP;
	} else {
		n = r->n;
	}
	if (r->n - first < n)
		n = r->n - first;
	st = fsc_seg_decode(ts, dur, s, row, l, first, n, err);
	if (st != FSC_OK)
		return st;
	while (n && ts[n - 1] >= t)
		n--;
	*idx = first + n;
	return FSC_OK;
}

int64_t fsc_seg_correlation_of(const struct fsc_seg *s, const struct fsc_seg_d_block *b,
			       uint32_t id)
{
	bool found;

	if (!s->corr || s->corr[id] == 0)
		return FSC_NO_CORRELATION;
	if (s->corr[id] == FSC_SEG_ESCAPED)
		return (int64_t)escaped(s, b, id, FSC_SEG_ESC_CORRELATION, &found);
	return (int64_t)s->corr[id] - 1;
}

void fsc_seg_fill(struct fsc_seg_slice *out, const struct fsc_seg *s,
		  const struct fsc_seg_d_block *b, uint32_t id)
{
	const struct fsc_seg_d_class *c = &s->classes[s->cls[id]];
	const struct fsc_seg_d_row *r = &s->rows[b->row];

	out->id = id;
	out->row = b->row;
	out->track = r->track;
	out->depth = r->depth;
	out->name = c->name;
	out->cat = c->cat;
	out->kind = c->kind;
	out->flags = c->flags;
	out->args = s->args ? s->args[id] : FSC_NO_ARGS;
	out->correlation = fsc_seg_correlation_of(s, b, id);
}
