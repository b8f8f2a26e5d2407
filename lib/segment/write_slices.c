/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slices to rows, blocks and columns. Classes (name, category, kind, flags) become dense ids; times become
 * deltas within a block; what does not fit 32 bits goes to the escape list of its block.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/crc.h"
#include "segment/lod.h"
#include "segment/write_internal.h"

static enum fsc_status no_memory(struct fsc_err *err)
{
	return fsc_err_set(err, FSC_ENOMEM, NULL, "segment: no memory while writing");
}

/* ---- classes ---- */

struct class_map {
	uint64_t *key; /* owned; key + 1, 0 is free */
	uint32_t *id;  /* owned */
	uint32_t cap;  /* power of two */
};

static uint32_t class_slot(const struct class_map *m, uint64_t key)
{
	uint64_t h = key * 0x9E3779B97F4A7C15u;
	uint32_t i = (uint32_t)(h >> 32) & (m->cap - 1);

	while (m->key[i] && m->key[i] != key + 1)
		i = (i + 1) & (m->cap - 1);
	return i;
}

static bool class_map_grow(struct class_map *m)
{
	struct class_map to = { .cap = m->cap ? m->cap * 2 : 4096 };

	to.key = fsc_alloc(to.cap, sizeof(*to.key));
	to.id = fsc_alloc(to.cap, sizeof(*to.id));
	if (!to.key || !to.id || to.cap > (1u << 30)) {
		fsc_free(to.key);
		fsc_free(to.id);
		return false;
	}
	for (uint32_t i = 0; i < m->cap; i++) {
		if (!m->key[i])
			continue;
		uint32_t slot = class_slot(&to, m->key[i] - 1);

		to.key[slot] = m->key[i];
		to.id[slot] = m->id[i];
	}
	fsc_free(m->key);
	fsc_free(m->id);
	*m = to;
	return true;
}

static bool class_of(uint32_t *id, struct fsc_seg_writer *w, struct class_map *m, uint32_t i)
{
	const struct fsc_slices *s = &w->t->slices;
	uint64_t key = (uint64_t)s->name[i] << 32 | (uint64_t)s->cat[i] << 16 |
		       (uint64_t)s->kind[i] << 8 | s->flags[i];
	uint32_t slot = class_slot(m, key);

	if (!m->key[slot]) {
		struct fsc_seg_d_class c = { .name = s->name[i],
					     .cat = w->t->cats.v[s->cat[i]],
					     .kind = s->kind[i],
					     .flags = s->flags[i] };

		if (!fsc_vec_push(&w->classes, c))
			return false;
		if (w->classes.n * 2 > m->cap) {
			if (!class_map_grow(m))
				return false;
			slot = class_slot(m, key);
		}
		m->key[slot] = key + 1;
		m->id[slot] = (uint32_t)(w->classes.n - 1);
	}
	*id = m->id[slot];
	return true;
}

enum fsc_status fsc_seg_w_classes(struct fsc_seg_writer *w, struct fsc_err *err)
{
	const struct fsc_slices *s = &w->t->slices;
	uint32_t n_args = w->t->args ? fsc_args_count(w->t->args) : 0;
	uint32_t n_strings = fsc_strtab_count(w->t->strings);
	struct class_map m = { .cap = 0 };
	enum fsc_status st = FSC_OK;

	w->cls = fsc_alloc(s->n ? s->n : 1, sizeof(*w->cls));
	if (!w->cls || !class_map_grow(&m))
		st = no_memory(err);
	for (uint32_t i = 0; i < s->n && st == FSC_OK; i++) {
		if (s->name[i] >= n_strings || s->cat[i] >= w->t->cats.n ||
		    s->kind[i] >= FSC_KIND_COUNT ||
		    (s->args[i] != FSC_NO_ARGS && s->args[i] >= n_args))
			st = fsc_err_set(
				err, FSC_EBUG, "segment_slice",
				"segment: slice %u has no such name, category, kind or args", i);
		else if (!class_of(&w->cls[i], w, &m, i))
			st = no_memory(err);
	}
	fsc_free(m.key);
	fsc_free(m.id);
	return st;
}

/* ---- rows ---- */

static enum fsc_status bad_order(struct fsc_err *err, uint32_t slice, const char *what)
{
	return fsc_err_set(err, FSC_EBUG, "segment_order", "segment: slice %u %s", slice, what);
}

/* One row for each depth of a track, empty ones included. Gives the number of slices taken. */
static enum fsc_status rows_of_track(struct fsc_seg_writer *w, uint32_t track, struct fsc_err *err)
{
	const struct fsc_track *t = &w->t->tracks.v[track];
	const struct fsc_slices *s = &w->t->slices;
	uint32_t i = t->first, end = t->first + t->n;

	if (t->depths > UINT16_MAX + 1u)
		return fsc_err_set(err, FSC_EBUG, "segment_order",
				   "segment: track %u has %u depths", track, t->depths);
	for (uint32_t d = 0; d < t->depths; d++) {
		struct fsc_seg_d_row r = { .lod_offset = FSC_SEG_NO_OFFSET,
					   .track = track,
					   .depth = (uint16_t)d,
					   .first_slice = i,
					   .first_block = 0 };

		for (; i < end && s->depth[i] == d; i++) {
			if (s->track[i] != track)
				return bad_order(err, i, "is outside its track's range");
			if (s->ts[i] < -FSC_SEG_TIME_MAX || s->ts[i] > FSC_SEG_TIME_MAX ||
			    s->dur[i] < 0 || s->dur[i] > FSC_SEG_TIME_MAX - s->ts[i])
				return fsc_err_set(err, FSC_ELIMIT, "time_range",
						   "segment: time of slice %u is out of range", i);
			if (r.n && s->ts[i] < r.last_end)
				return bad_order(err, i, "overlaps the one before it in its row");
			r.first_ts = r.n ? r.first_ts : s->ts[i];
			r.last_end = s->ts[i] + s->dur[i];
			r.n++;
		}
		if (!fsc_vec_push(&w->rows, r))
			return no_memory(err);
	}
	return i == end ? FSC_OK : bad_order(err, i, "is not ordered by depth");
}

enum fsc_status fsc_seg_w_rows(struct fsc_seg_writer *w, struct fsc_err *err)
{
	uint32_t next = 0;

	for (uint32_t k = 0; k < w->t->tracks.n; k++) {
		const struct fsc_track *t = &w->t->tracks.v[k];
		enum fsc_status st;

		w->tracks.v[k].first_row = (uint32_t)w->rows.n;
		if (t->kind == FSC_TRACK_COUNTER)
			continue;
		if (t->first != next || t->n > w->t->slices.n - next)
			return bad_order(err, next, "is not where its track says");
		next += t->n;
		st = rows_of_track(w, k, err);
		if (st != FSC_OK)
			return st;
		w->tracks.v[k].depths = (uint32_t)w->rows.n - w->tracks.v[k].first_row;
	}
	return next == w->t->slices.n ? FSC_OK : bad_order(err, next, "belongs to no track");
}

/* ---- blocks and escapes ---- */

/* Stored correlation: 0 none, v + 1, or FSC_SEG_ESCAPED. */
static uint32_t stored_correlation(int64_t c)
{
	if (c == FSC_NO_CORRELATION)
		return 0;
	return c >= 0 && c < (int64_t)UINT32_MAX - 1 ? (uint32_t)c + 1 : FSC_SEG_ESCAPED;
}

static uint32_t stored_time(int64_t v)
{
	return v < (int64_t)UINT32_MAX ? (uint32_t)v : FSC_SEG_ESCAPED;
}

static bool escape(struct fsc_seg_writer *w, uint32_t slice, uint32_t column, int64_t value)
{
	struct fsc_seg_d_escape e = { slice, column, (uint64_t)value };

	return fsc_vec_push(&w->escapes, e);
}

static bool block_escapes(struct fsc_seg_writer *w, struct fsc_seg_d_block *b)
{
	const struct fsc_slices *s = &w->t->slices;

	for (uint32_t i = b->first_slice; i < b->first_slice + b->n; i++) {
		int64_t dt = i > b->first_slice ? s->ts[i] - s->ts[i - 1] : 0;

		b->class_mask |= fsc_seg_class_bit(w->cls[i]);
		if (stored_time(dt) == FSC_SEG_ESCAPED && !escape(w, i, FSC_SEG_ESC_TS, dt))
			return false;
		if (stored_time(s->dur[i]) == FSC_SEG_ESCAPED &&
		    !escape(w, i, FSC_SEG_ESC_DUR, s->dur[i]))
			return false;
		if (s->correlation[i] != FSC_NO_CORRELATION)
			w->any_correlation = true;
		if (stored_correlation(s->correlation[i]) == FSC_SEG_ESCAPED &&
		    !escape(w, i, FSC_SEG_ESC_CORRELATION, s->correlation[i]))
			return false;
		if (s->args[i] != FSC_NO_ARGS)
			w->any_args = true;
	}
	return true;
}

enum fsc_status fsc_seg_w_blocks(struct fsc_seg_writer *w, struct fsc_err *err)
{
	const struct fsc_slices *s = &w->t->slices;

	for (uint32_t k = 0; k < w->rows.n; k++) {
		struct fsc_seg_d_row *r = &w->rows.v[k];

		r->first_block = (uint32_t)w->blocks.n;
		for (uint32_t i = 0; i < r->n; i += FSC_SEG_BLOCK) {
			struct fsc_seg_d_block b = { .first_slice = r->first_slice + i, .row = k };
			uint32_t last;

			b.n = r->n - i < FSC_SEG_BLOCK ? r->n - i : FSC_SEG_BLOCK;
			last = b.first_slice + b.n - 1;
			b.first_ts = s->ts[b.first_slice];
			b.last_end = s->ts[last] + s->dur[last];
			b.first_escape = (uint32_t)w->escapes.n;
			if (!block_escapes(w, &b) || w->escapes.n > UINT32_MAX - 3 * FSC_SEG_BLOCK)
				return no_memory(err);
			b.n_escapes = (uint32_t)w->escapes.n - b.first_escape;
			if (!fsc_vec_push(&w->blocks, b))
				return no_memory(err);
		}
		r->n_blocks = (uint32_t)w->blocks.n - r->first_block;
	}
	return FSC_OK;
}

/* ---- columns ---- */

static void fill_column(uint32_t *to, const struct fsc_seg_writer *w,
			enum fsc_seg_section_type type, uint32_t first, uint32_t n)
{
	const struct fsc_slices *s = &w->t->slices;

	switch (type) {
	case FSC_SEG_COL_TS:
		to[0] = 0;
		for (uint32_t i = 1; i < n; i++)
			to[i] = stored_time(s->ts[first + i] - s->ts[first + i - 1]);
		break;
	case FSC_SEG_COL_DUR:
		for (uint32_t i = 0; i < n; i++)
			to[i] = stored_time(s->dur[first + i]);
		break;
	case FSC_SEG_COL_CLASS:
		memcpy(to, w->cls + first, (size_t)n * sizeof(*to));
		break;
	case FSC_SEG_COL_CORRELATION:
		for (uint32_t i = 0; i < n; i++)
			to[i] = stored_correlation(s->correlation[first + i]);
		break;
	default:
		memcpy(to, s->args + first, (size_t)n * sizeof(*to));
		break;
	}
}

static enum fsc_status write_column(struct fsc_seg_writer *w, enum fsc_seg_section_type type)
{
	bool core = type < FSC_SEG_COL_CORRELATION;
	uint32_t buf[FSC_SEG_BLOCK];

	fsc_seg_out_begin(&w->out, type, sizeof(uint32_t));
	for (uint32_t k = 0; k < w->blocks.n; k++) {
		struct fsc_seg_d_block *b = &w->blocks.v[k];
		uint32_t *crc = core ? &b->crc_core : &b->crc_ext;

		fill_column(buf, w, type, b->first_slice, b->n);
		*crc = fsc_crc32c(*crc, buf, b->n * sizeof(*buf));
		fsc_seg_out_add(&w->out, buf, b->n * sizeof(*buf));
	}
	return fsc_seg_out_end(&w->out);
}

enum fsc_status fsc_seg_w_columns(struct fsc_seg_writer *w, struct fsc_err *err)
{
	enum fsc_status st;

	(void)err;
	for (uint32_t type = FSC_SEG_COL_TS; type <= FSC_SEG_COL_ARGS; type++) {
		if ((type == FSC_SEG_COL_CORRELATION && !w->any_correlation) ||
		    (type == FSC_SEG_COL_ARGS && !w->any_args))
			continue;
		st = write_column(w, type);
		if (st != FSC_OK)
			return st;
	}
	for (uint32_t k = 0; k < w->blocks.n; k++) {
		struct fsc_seg_d_block *b = &w->blocks.v[k];

		if (b->n_escapes)
			b->crc_core = fsc_crc32c(b->crc_core, w->escapes.v + b->first_escape,
						 b->n_escapes * sizeof(*w->escapes.v));
	}
	return fsc_seg_out_array(&w->out, FSC_SEG_ESCAPES, sizeof(*w->escapes.v), w->escapes.v,
				 w->escapes.n);
}

/* ---- pyramid ---- */

enum fsc_status fsc_seg_w_lod(struct fsc_seg_writer *w, struct fsc_err *err)
{
	const struct fsc_slices *s = &w->t->slices;
	FSC_VEC(uint8_t) chunk = { 0 };
	uint64_t off = 0;

	fsc_seg_out_begin(&w->out, FSC_SEG_LOD, 1);
	for (uint32_t k = 0; k < w->rows.n; k++) {
		struct fsc_seg_d_row *r = &w->rows.v[k];
		struct fsc_seg_lod_shape sh;

		if (r->n < FSC_SEG_LOD_MIN)
			continue;
		fsc_seg_lod_shape(&sh, r->n);
		if (!fsc_vec_reserve(&chunk, sh.bytes)) {
			fsc_vec_fini(&chunk);
			return no_memory(err);
		}
		fsc_seg_lod_build(chunk.v, &sh, r->n, s->ts + r->first_slice,
				  s->dur + r->first_slice, w->cls + r->first_slice);
		r->lod_offset = off;
		r->lod_bytes = (uint32_t)sh.bytes;
		r->lod_crc = fsc_crc32c(0, chunk.v, sh.bytes);
		fsc_seg_out_add(&w->out, chunk.v, sh.bytes);
		off += sh.bytes;
	}
	w->h.lod_bytes = off;
	fsc_vec_fini(&chunk);
	return fsc_seg_out_end(&w->out);
}
