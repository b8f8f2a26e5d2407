/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks an open segment everything it can be asked, for the tests of damaged and hostile files and the fuzz
 * target. Each step leaves its status and a hash of its answer. help_reseal() makes all checksums of a
 * changed file right again, so that what lies behind them is reached.
 */
#ifndef FSC_TESTS_UNIT_SEGMENT_HELP_EXERCISE_H
#define FSC_TESTS_UNIT_SEGMENT_HELP_EXERCISE_H

#include <string.h>

#include "base/crc.h"
#include "segment/layout.h"
#include "segment/seg_query.h"

#define HELP_MAX_STEPS 4096u

struct help_steps {
	uint32_t n;
	enum fsc_status st[HELP_MAX_STEPS];
	uint64_t hash[HELP_MAX_STEPS];
};

static inline uint64_t help_mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9E3779B97F4A7C15u;
	return h ^ h >> 29;
}

static inline uint64_t help_bytes(uint64_t h, const void *p, size_t n)
{
	const uint8_t *b = p;

	for (size_t i = 0; i < n; i++)
		h = help_mix(h, b[i]);
	return h;
}

static inline void help_step(struct help_steps *s, enum fsc_status st, uint64_t hash)
{
	if (s->n == HELP_MAX_STEPS)
		return;
	s->st[s->n] = st;
	s->hash[s->n++] = st == FSC_OK || st == FSC_END ? hash : 0;
}

static inline uint64_t help_slice(uint64_t h, const struct fsc_seg_slice *a)
{
	h = help_mix(help_mix(h, (uint64_t)a->ts), (uint64_t)a->dur);
	h = help_mix(help_mix(h, a->id), (uint64_t)a->row << 32 | a->track);
	h = help_mix(help_mix(h, (uint64_t)a->name << 32 | a->cat), a->args);
	return help_mix(help_mix(h, (uint64_t)a->depth << 16 | (uint64_t)a->kind << 8 | a->flags),
			(uint64_t)a->correlation);
}

static inline void help_tables(struct help_steps *steps, const struct fsc_seg *s)
{
	const struct fsc_seg_info *i = fsc_seg_info(s);
	uint64_t h = help_bytes(1, i->blob_sha256, sizeof(i->blob_sha256));
	uint32_t n;

	h = help_mix(help_mix(h, (uint64_t)i->t_base_ns), (uint64_t)i->t_max_ns);
	h = help_mix(help_mix(h, i->n_slices), i->n_events);
	for (uint32_t k = 0; k < i->n_strings; k++) {
		size_t len;
		const char *str = fsc_seg_str(s, k, &len);

		h = help_bytes(h, str, len + 1);
	}
	for (uint32_t k = 0; k < i->n_processes; k++)
		h = help_bytes(h, fsc_seg_process(s, k), sizeof(struct fsc_seg_process));
	for (uint32_t k = 0; k < i->n_tracks; k++) {
		const struct fsc_seg_track *t = fsc_seg_track(s, k);
		const struct fsc_counter_sample *c = fsc_seg_counters(s, k, &n);

		h = help_mix(help_mix(h, (uint64_t)t->busy_ns),
			     (uint64_t)t->kind << 32 | t->first_row);
		h = help_bytes(h, c, n * sizeof(*c));
	}
	h = help_bytes(h, fsc_seg_losses(s)->v, fsc_seg_losses(s)->n * sizeof(struct fsc_loss));
	const struct fsc_launch *l = fsc_seg_launches(s, &n);
	h = help_bytes(h, l, n * sizeof(*l));
	const struct fsc_collective *co = fsc_seg_collectives(s, &n);
	h = help_bytes(h, co, n * sizeof(*co));
	const struct fsc_flow *f = fsc_seg_flows(s, &n);
	h = help_bytes(h, f, n * sizeof(*f));
	help_step(steps, FSC_OK, h);
}

static inline void help_slices(struct help_steps *steps, const struct fsc_seg *s)
{
	uint32_t n = fsc_seg_info(s)->n_slices;

	for (uint32_t id = 0; id < n; id += 1 + n / 20) {
		struct fsc_seg_slice a, p;
		struct fsc_flow f[4];
		struct fsc_launch l;
		uint32_t ids[4], m;
		uint64_t h = 0;
		enum fsc_status st = fsc_seg_slice(&a, s, id, NULL);

		help_step(steps, st, help_slice(0, &a));
		if (st != FSC_OK) {
			for (unsigned k = 0; k < 3; k++)
				help_step(steps, st, 0); /* so that steps stay comparable */
			continue;
		}
		m = fsc_seg_correlated(s, id, ids, 4);
		h = help_bytes(m, ids, (m < 4 ? m : 4) * sizeof(ids[0]));
		m = fsc_seg_flows_of(s, id, f, 4);
		h = help_bytes(help_mix(h, m), f, (m < 4 ? m : 4) * sizeof(f[0]));
		if (fsc_seg_launch(&l, s, id) == FSC_OK)
			h = help_bytes(h, &l, sizeof(l));
		help_step(steps, FSC_OK, h);
		memset(&p, 0, sizeof(p));
		st = fsc_seg_parent(&p, s, &a, NULL);
		help_step(steps, st, help_slice(0, &p));
		st = fsc_seg_find(&p, s, a.track, a.ts, fsc_seg_str(s, a.name, NULL), NULL);
		help_step(steps, st, help_slice(0, &p));
	}
}

static inline void help_rows(struct help_steps *steps, const struct fsc_seg *s)
{
	uint32_t n_rows = fsc_seg_info(s)->n_rows;
	int64_t max = fsc_seg_info(s)->t_max_ns;
	const int64_t windows[][2] = { { INT64_MIN, INT64_MAX },
				       { max / 3, max / 3 + 1 + (max > 0 ? max / 50 : 0) },
				       { 5, 40000 } };

	for (uint32_t row = 0; row < n_rows && row < 64; row++) {
		for (unsigned w = 0; w < 3; w++) {
			struct fsc_seg_items items;
			struct fsc_seg_iter it;
			struct fsc_seg_slice a;
			uint64_t h = 0;
			int64_t busy = 0, t0 = windows[w][0], t1 = windows[w][1];
			enum fsc_status st;

			if (t0 >= t1)
				continue;
			st = fsc_seg_query_slices(&items, s, &row, 1, t0, t1, w ? 30 : 5, 1000,
						  NULL);
			for (size_t i = 0; st == FSC_OK && i < items.v.n; i++) {
				const struct fsc_seg_item *x = &items.v.v[i];

				h = help_mix(help_mix(h, (uint64_t)x->t0), (uint64_t)x->t1);
				h = help_mix(help_mix(h, (uint64_t)x->busy_ns),
					     (uint64_t)x->count << 32 | x->slice);
				h = help_mix(h, (uint64_t)x->name << 32 | x->kind);
			}
			help_step(steps, st, h);
			fsc_seg_items_fini(&items);
			st = fsc_seg_busy_exact(&busy, s, &row, 1, t0, t1, NULL);
			help_step(steps, st, (uint64_t)busy);
			h = 0;
			st = fsc_seg_iter_init(&it, s, row, t0, t1, NULL);
			while (st == FSC_OK && (st = fsc_seg_iter_next(&it, &a, NULL)) == FSC_OK)
				h = help_slice(h, &a);
			help_step(steps, st, h);
			fsc_seg_iter_fini(&it);
		}
	}
}

static inline void help_whole(struct help_steps *steps, const struct fsc_seg *s)
{
	int64_t max = fsc_seg_info(s)->t_max_ns, map[4 * 16] = { 0 };
	uint32_t n_tracks = fsc_seg_info(s)->n_tracks;
	struct fsc_seg_hits hits;
	struct fsc_seg_flow_list flows;
	enum fsc_status st;
	uint64_t h = 0;

	for (uint32_t k = 0; k < n_tracks && k < 16; k++) {
		struct fsc_seg_agg a;
		struct fsc_seg_counter_points p;

		st = fsc_seg_aggregate(&a, s, &k, 1, INT64_MIN, INT64_MAX, FSC_AGG_NAME, NULL);
		h = (uint64_t)a.busy_ns;
		for (size_t i = 0; st == FSC_OK && i < a.v.n; i++)
			h = help_mix(help_mix(h, a.v.v[i].key), (uint64_t)a.v.v[i].self_ns);
		help_step(steps, st, h);
		fsc_seg_agg_fini(&a);
		st = fsc_seg_counters_minmax(&p, s, k, -5, max > 0 ? max : 1, 20, NULL);
		help_step(steps, st,
			  st == FSC_OK ? help_bytes(0, p.v.v, p.v.n * sizeof(*p.v.v)) : 0);
		fsc_seg_counter_points_fini(&p);
	}
	st = fsc_seg_search(&hits, s, "el_1", INT64_MIN, INT64_MAX, 30, 10, NULL);
	h = hits.total;
	for (size_t i = 0; st == FSC_OK && i < hits.v.n; i++)
		h = help_slice(h, &hits.v.v[i]);
	help_step(steps, st, h);
	fsc_seg_hits_fini(&hits);
	st = fsc_seg_minimap(map, s, -7, max > 0 ? max : 1, 16, NULL);
	help_step(steps, st, help_bytes(0, map, sizeof(map)));
	st = fsc_seg_flows_in(&flows, s, 10, INT64_MAX, 50, NULL);
	h = flows.truncated;
	for (size_t i = 0; st == FSC_OK && i < flows.v.n; i++)
		h = help_slice(help_slice(h, &flows.v.v[i].from), &flows.v.v[i].to);
	help_step(steps, st, h);
	fsc_seg_flow_list_fini(&flows);
}

static inline void help_args(struct help_steps *steps, const struct fsc_seg *s)
{
	uint32_t n = fsc_seg_info(s)->n_args;

	for (uint32_t i = 0; i < n; i += 1 + n / 2) {
		struct fsc_buf b = FSC_BUF_INIT(2u << 20);
		enum fsc_status st = fsc_seg_args(&b, s, i, NULL);

		help_step(steps, st, st == FSC_OK ? help_bytes(0, b.data, b.len) : 0);
		fsc_buf_fini(&b);
	}
}

static inline void help_exercise(struct help_steps *steps, const struct fsc_seg *s)
{
	steps->n = 0;
	help_tables(steps, s);
	help_slices(steps, s);
	help_rows(steps, s);
	help_whole(steps, s);
	help_args(steps, s);
}

/* ---- checksums made right ---- */

struct help_file {
	uint8_t *p;
	size_t n;
	struct fsc_seg_d_header *h;
	struct fsc_seg_d_section *t[FSC_SEG_N_TYPES];
};

/* Bytes [off, off + n) of a section, NULL when they lie outside. */
static inline uint8_t *help_at(const struct help_file *f, unsigned type, uint64_t off, uint64_t n)
{
	const struct fsc_seg_d_section *s = f->t[type];

	if (!s || off > s->stored_bytes || n > s->stored_bytes - off)
		return NULL;
	return f->p + s->offset + off;
}

static inline void help_reseal_parts(const struct help_file *f)
{
	for (uint64_t i = 0;; i++) {
		struct fsc_seg_d_block *b =
			(void *)help_at(f, FSC_SEG_BLOCKS, i * sizeof(*b), sizeof(*b));
		uint32_t core = 0, ext = 0;

		if (!b)
			break;
		for (unsigned c = FSC_SEG_COL_TS; c <= FSC_SEG_COL_ARGS; c++) {
			uint64_t bytes = b->n * UINT64_C(4);
			uint8_t *p = help_at(f, c, b->first_slice * UINT64_C(4), bytes);
			uint32_t *crc = c < FSC_SEG_COL_CORRELATION ? &core : &ext;

			if (p)
				*crc = fsc_crc32c(*crc, p, bytes);
		}
		uint64_t bytes = b->n_escapes * sizeof(struct fsc_seg_d_escape);
		uint8_t *e = help_at(f, FSC_SEG_ESCAPES,
				     b->first_escape * sizeof(struct fsc_seg_d_escape), bytes);

		b->crc_core = e && bytes ? fsc_crc32c(core, e, bytes) : core;
		b->crc_ext = ext;
	}
	for (uint64_t i = 0;; i++) {
		struct fsc_seg_d_row *r =
			(void *)help_at(f, FSC_SEG_ROWS, i * sizeof(*r), sizeof(*r));
		uint8_t *p;

		if (!r)
			break;
		p = help_at(f, FSC_SEG_LOD, r->lod_offset, r->lod_bytes);
		if (p)
			r->lod_crc = fsc_crc32c(0, p, r->lod_bytes);
	}
	for (uint64_t i = 0;; i++) {
		struct fsc_seg_d_args_block *b =
			(void *)help_at(f, FSC_SEG_ARGS_BLOCKS, i * sizeof(*b), sizeof(*b));
		uint8_t *p;

		if (!b)
			break;
		p = help_at(f, FSC_SEG_ARGS_DATA, b->offset, b->stored_bytes);
		if (p)
			b->crc = fsc_crc32c(0, p, b->stored_bytes);
	}
}

/* p is 8-aligned. Files whose section table cannot be followed stay as they are. */
static inline void help_reseal(uint8_t *p, size_t n)
{
	struct help_file f = { .p = p, .n = n, .h = (void *)p };
	struct fsc_seg_d_section *t;

	if (n < FSC_SEG_HEADER_BYTES || f.h->table_offset > n || f.h->table_offset % 8 ||
	    f.h->n_sections > (n - f.h->table_offset) / sizeof(*t))
		return;
	memcpy(f.h->magic, FSC_SEG_MAGIC, sizeof(f.h->magic));
	f.h->major = FSC_SEG_MAJOR;
	f.h->endian = FSC_SEG_ENDIAN;
	f.h->file_bytes = n;
	t = (void *)(p + f.h->table_offset);
	for (uint32_t i = 0; i < f.h->n_sections; i++)
		if (t[i].type < FSC_SEG_N_TYPES && t[i].offset % FSC_SEG_ALIGN == 0 &&
		    t[i].offset <= f.h->table_offset && t[i].offset >= FSC_SEG_HEADER_BYTES &&
		    t[i].stored_bytes <= f.h->table_offset - t[i].offset)
			f.t[t[i].type] = &t[i];
	help_reseal_parts(&f);
	for (unsigned k = 0; k < FSC_SEG_N_TYPES; k++)
		if (f.t[k])
			f.t[k]->crc = fsc_crc32c(0, p + f.t[k]->offset, f.t[k]->stored_bytes);
	f.h->table_crc = fsc_crc32c(0, t, f.h->n_sections * sizeof(*t));
	f.h->header_crc = 0;
	f.h->header_crc = fsc_crc32c(0, p, FSC_SEG_HEADER_BYTES);
}

#endif
