/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPU busy time in equal buckets, from the covered-time tables made at write time. A bucket narrower than
 * the grid of a table is made from raw slices instead, so that zooming in never shows a smeared picture;
 * wider ones can be off by the part of one grid step at each edge, and sum up exactly all the same.
 */
#include <string.h>

#include "segment/ivals.h"
#include "segment/seg_internal.h"
#include "segment/seg_query.h"

#define MAX_BUCKETS 65536u

struct minimap {
	const struct fsc_seg *s;
	struct fsc_err *err;
	int64_t *busy; /* [group][n] */
	int64_t t0, t1;
	uint32_t n;
};

static int64_t edge(const struct minimap *m, uint32_t i)
{
	return m->t0 + (int64_t)((__int128)(m->t1 - m->t0) * i / m->n);
}

/* Covered time before t, on a grid; straight between two boundaries. */
static uint64_t grid_at(const struct fsc_seg *s, const struct fsc_seg_d_cover *c, int64_t t)
{
	const uint64_t *sum = s->cover_sums + c->first_sum;
	int64_t i = (t >> c->shift) - c->first_bucket;
	uint64_t part;

	if (i < 0)
		return 0;
	if (i >= (int64_t)c->n_sums - 1)
		return sum[c->n_sums - 1];
	part = (uint64_t)t & ((UINT64_C(1) << c->shift) - 1);
	return sum[i] + (uint64_t)((unsigned __int128)(sum[i + 1] - sum[i]) * part >> c->shift);
}

static void add_grid(struct minimap *m, const struct fsc_seg_d_cover *c)
{
	int64_t *to = m->busy + (size_t)c->group * m->n;
	uint64_t was = grid_at(m->s, c, m->t0);

	for (uint32_t b = 0; b < m->n; b++) {
		uint64_t now = grid_at(m->s, c, edge(m, b + 1));

		to[b] = (int64_t)((uint64_t)to[b] + now - was);
		was = now;
	}
}

/* A bucket that no later one than t's. */
static uint32_t bucket_of(const struct minimap *m, int64_t t)
{
	__int128 b;

	if (t <= m->t0)
		return 0;
	if (t >= m->t1)
		return m->n;
	b = (__int128)(t - m->t0) * m->n / (m->t1 - m->t0);
	return b > 0 ? (uint32_t)b - 1 : 0;
}

/* Costs the buckets that are touched: there may be as many tables as streams. */
static void add_intervals(struct minimap *m, uint32_t group, const struct fsc_ival *v, size_t n)
{
	int64_t *to = m->busy + (size_t)group * m->n;
	size_t i = 0;

	for (uint32_t b = bucket_of(m, n ? v[0].t0 : m->t1); b < m->n && i < n; b++) {
		int64_t from = edge(m, b), end = edge(m, b + 1);

		while (i < n && v[i].t1 <= from)
			i++;
		for (size_t k = i; k < n && v[k].t0 < end; k++)
			to[b] +=
				(v[k].t1 < end ? v[k].t1 : end) - (v[k].t0 > from ? v[k].t0 : from);
	}
}

static enum fsc_status add_row(struct fsc_ivals *u, const struct minimap *m, uint32_t row,
			       uint32_t group)
{
	struct fsc_seg_iter it;
	struct fsc_seg_slice a;
	enum fsc_status st = fsc_seg_iter_init(&it, m->s, row, m->t0, m->t1, m->err);

	while (st == FSC_OK) {
		st = fsc_seg_iter_next(&it, &a, m->err);
		if (st == FSC_OK && fsc_seg_cover_group(a.kind) == group &&
		    !fsc_ivals_add(u, a.ts, a.ts + a.dur))
			st = FSC_ENOMEM;
	}
	fsc_seg_iter_fini(&it);
	if (st == FSC_END)
		st = fsc_ivals_end_row(u) ? FSC_OK : FSC_ENOMEM;
	return st == FSC_ENOMEM
		       ? fsc_err_set(m->err, st, NULL, "segment: no memory for the minimap")
		       : st;
}

static enum fsc_status add_raw(struct minimap *m, const struct fsc_seg_d_cover *c)
{
	struct fsc_ivals u = { 0 };
	enum fsc_status st = FSC_OK;

	for (uint32_t k = 0; k < m->s->h.n_tracks && st == FSC_OK; k++) {
		const struct fsc_seg_track *t = &m->s->tracks[k];

		if (t->kind != FSC_TRACK_STREAM || t->device != c->device)
			continue;
		for (uint32_t d = 0; d < t->depths && st == FSC_OK; d++)
			st = add_row(&u, m, t->first_row + d, c->group);
	}
	if (st == FSC_OK)
		add_intervals(m, c->group, u.v.v, u.v.n);
	fsc_ivals_fini(&u);
	return st;
}

enum fsc_status fsc_seg_minimap(int64_t *busy, const struct fsc_seg *s, int64_t t0, int64_t t1,
				uint32_t n, struct fsc_err *err)
{
	struct minimap m = { .s = s, .err = err, .busy = busy, .n = n };

	if (t0 >= t1 || n == 0 || n > MAX_BUCKETS)
		return fsc_err_set(err, FSC_EINVAL, NULL,
				   "segment: bad window or bucket count of a minimap");
	m.t0 = fsc_seg_clamp_time(t0);
	m.t1 = fsc_seg_clamp_time(t1);
	memset(busy, 0, (size_t)n * FSC_SEG_COVER_GROUPS * sizeof(*busy));
	for (uint32_t i = 0; i < s->h.n_covers; i++) {
		const struct fsc_seg_d_cover *c = &s->covers[i];
		enum fsc_status st = fsc_seg_stopped(s, err);

		if (st != FSC_OK)
			return st;
		if (c->form == FSC_SEG_COVER_INTERVALS)
			add_intervals(&m, c->group, (const void *)(s->cover_sums + c->first_sum),
				      c->n_sums / 2);
		else if ((m.t1 - m.t0) / n < INT64_C(1) << c->shift)
			st = add_raw(&m, c);
		else
			add_grid(&m, c);
		if (st != FSC_OK)
			return st;
	}
	return FSC_OK;
}
