/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums over whole tracks and devices that the writer can make in one pass: busy time and main kind of a
 * track, and the covered time per device and kind group that the minimap is drawn from.
 */
#include <stdlib.h>

#include "base/num.h"
#include "segment/ivals.h"
#include "segment/write_internal.h"

#define COVER_BUCKETS 16384u  /* at most, for each device and group */
#define COVER_INTERVALS 2048u /* up to here the intervals themselves are kept */

static enum fsc_status no_memory(struct fsc_err *err)
{
	return fsc_err_set(err, FSC_ENOMEM, NULL, "segment: no memory while writing");
}

/* Adds the slices of a row; group FSC_SEG_COVER_GROUPS takes all of them. */
static bool add_row(struct fsc_ivals *u, const struct fsc_seg_writer *w,
		    const struct fsc_seg_d_row *r, uint32_t group)
{
	const struct fsc_slices *s = &w->t->slices;

	for (uint32_t i = r->first_slice; i < r->first_slice + r->n; i++) {
		if (group != FSC_SEG_COVER_GROUPS && fsc_seg_cover_group(s->kind[i]) != group)
			continue;
		if (!fsc_ivals_add(u, s->ts[i], s->ts[i] + s->dur[i]))
			return false;
	}
	return fsc_ivals_end_row(u);
}

static void times_and_kind(struct fsc_seg_d_track *to, const struct fsc_seg_writer *w)
{
	const struct fsc_slices *s = &w->t->slices;
	int64_t by_kind[FSC_KIND_COUNT] = { 0 };
	uint64_t n_by_kind[FSC_KIND_COUNT] = { 0 };
	uint32_t best = 0;

	for (uint32_t k = to->first_row; k < to->first_row + to->depths; k++) {
		const struct fsc_seg_d_row *r = &w->rows.v[k];

		if (!r->n)
			continue;
		if (!to->n_slices || r->first_ts < to->t_min_ns)
			to->t_min_ns = r->first_ts;
		if (!to->n_slices || r->last_end > to->t_max_ns)
			to->t_max_ns = r->last_end;
		to->n_slices += r->n;
		for (uint32_t i = r->first_slice; i < r->first_slice + r->n; i++) {
			by_kind[s->kind[i]] = fsc_add_i64_sat(by_kind[s->kind[i]], s->dur[i]);
			n_by_kind[s->kind[i]]++;
		}
	}
	for (uint32_t k = 1; k < FSC_KIND_COUNT; k++)
		if (by_kind[k] > by_kind[best] ||
		    (by_kind[k] == by_kind[best] && n_by_kind[k] > n_by_kind[best]))
			best = k;
	to->main_kind = (uint8_t)best;
}

static void counter_times(struct fsc_seg_d_track *to, const struct fsc_seg_writer *w)
{
	const struct fsc_counter_sample *c = w->t->counters.v;

	if (!to->n_counters)
		return;
	to->t_min_ns = c[to->first_counter].ts;
	to->t_max_ns = c[to->first_counter + to->n_counters - 1].ts;
}

enum fsc_status fsc_seg_w_track_sums(struct fsc_seg_writer *w, struct fsc_err *err)
{
	struct fsc_ivals u = { 0 };
	enum fsc_status st = FSC_OK;

	for (uint32_t k = 0; k < w->tracks.n && st == FSC_OK; k++) {
		struct fsc_seg_d_track *to = &w->tracks.v[k];

		if (to->kind == FSC_TRACK_COUNTER) {
			counter_times(to, w);
			continue;
		}
		times_and_kind(to, w);
		u.v.n = 0;
		for (uint32_t d = 0; d < to->depths && st == FSC_OK; d++)
			if (!add_row(&u, w, &w->rows.v[to->first_row + d], FSC_SEG_COVER_GROUPS))
				st = no_memory(err);
		to->busy_ns = fsc_ivals_sum(&u);
	}
	fsc_ivals_fini(&u);
	return st;
}

/* ---- covered time of devices ---- */

struct covers {
	FSC_VEC(struct fsc_seg_d_cover) head;
	FSC_VEC(uint64_t) sums;
};

/* Few intervals are kept as they are: pairs of times. */
static bool add_intervals(struct covers *c, const struct fsc_ivals *u, struct fsc_seg_d_cover *h)
{
	h->form = FSC_SEG_COVER_INTERVALS;
	h->first_sum = (uint32_t)c->sums.n;
	h->n_sums = (uint32_t)u->v.n * 2;
	for (size_t i = 0; i < u->v.n; i++)
		if (!fsc_vec_push(&c->sums, (uint64_t)u->v.v[i].t0) ||
		    !fsc_vec_push(&c->sums, (uint64_t)u->v.v[i].t1))
			return false;
	return fsc_vec_push(&c->head, *h);
}

/* Covered time at each multiple of 2^shift over the extent of the union. */
static bool add_cover(struct covers *c, const struct fsc_ivals *u, int32_t device, uint32_t group)
{
	struct fsc_seg_d_cover h = { .device = device, .group = (uint8_t)group };
	uint64_t max = u->v.n / 2 < COVER_BUCKETS ? u->v.n / 2 : COVER_BUCKETS;
	int64_t first = u->v.v[0].t0, last = u->v.v[u->v.n - 1].t1;
	uint64_t sum = 0;
	size_t i = 0;

	if (u->v.n <= COVER_INTERVALS)
		return add_intervals(c, u, &h);
	while ((uint64_t)((last >> h.shift) - (first >> h.shift)) + 1 > max)
		h.shift++;
	h.first_bucket = first >> h.shift;
	h.first_sum = (uint32_t)c->sums.n;
	h.n_sums = (uint32_t)((last >> h.shift) - h.first_bucket) + 2;
	for (uint32_t b = 0; b < h.n_sums; b++) {
		int64_t at = (h.first_bucket + b) * (INT64_C(1) << h.shift);
		uint64_t part = 0;

		for (; i < u->v.n && u->v.v[i].t1 <= at; i++)
			sum += (uint64_t)(u->v.v[i].t1 - u->v.v[i].t0);
		if (i < u->v.n && u->v.v[i].t0 < at)
			part = (uint64_t)(at - u->v.v[i].t0);
		if (!fsc_vec_push(&c->sums, sum + part))
			return false;
	}
	return fsc_vec_push(&c->head, h);
}

struct device_track {
	int32_t device;
	uint32_t track;
};

static int by_device(const void *pa, const void *pb)
{
	const struct device_track *a = pa, *b = pb;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	return a->track < b->track ? -1 : a->track > b->track;
}

/* Tracks d[0..n) are all streams of one device. */
static bool cover_of_device(struct covers *c, struct fsc_ivals *u, const struct fsc_seg_writer *w,
			    const struct device_track *d, size_t n)
{
	for (uint32_t group = 0; group < FSC_SEG_COVER_GROUPS; group++) {
		u->v.n = 0;
		for (size_t k = 0; k < n; k++) {
			const struct fsc_seg_d_track *t = &w->tracks.v[d[k].track];

			for (uint32_t i = 0; i < t->depths; i++)
				if (!add_row(u, w, &w->rows.v[t->first_row + i], group))
					return false;
		}
		if (u->v.n && !add_cover(c, u, d[0].device, group))
			return false;
	}
	return true;
}

static bool cover_all(struct covers *c, const struct fsc_seg_writer *w)
{
	FSC_VEC(struct device_track) d = { 0 };
	struct fsc_ivals u = { 0 };
	bool ok = true;

	for (uint32_t k = 0; k < w->tracks.n && ok; k++) {
		struct device_track e = { w->tracks.v[k].device, k };

		if (w->tracks.v[k].kind == FSC_TRACK_STREAM)
			ok = fsc_vec_push(&d, e);
	}
	if (d.n)
		qsort(d.v, d.n, sizeof(*d.v), by_device);
	for (size_t i = 0, j; i < d.n && ok; i = j) {
		for (j = i + 1; j < d.n && d.v[j].device == d.v[i].device;)
			j++;
		ok = cover_of_device(c, &u, w, d.v + i, j - i);
	}
	fsc_ivals_fini(&u);
	fsc_vec_fini(&d);
	return ok;
}

enum fsc_status fsc_seg_w_cover(struct fsc_seg_writer *w, struct fsc_err *err)
{
	struct covers c = { 0 };
	enum fsc_status st = cover_all(&c, w) ? FSC_OK : no_memory(err);

	w->h.n_covers = (uint32_t)c.head.n;
	if (st == FSC_OK)
		st = fsc_seg_out_array(&w->out, FSC_SEG_COVER, sizeof(*c.head.v), c.head.v,
				       c.head.n);
	if (st == FSC_OK)
		st = fsc_seg_out_array(&w->out, FSC_SEG_COVER_SUMS, sizeof(*c.sums.v), c.sums.v,
				       c.sums.n);
	fsc_vec_fini(&c.head);
	fsc_vec_fini(&c.sums);
	return st;
}
