/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums over a range by name, kind or track, from raw slices. Times are clipped to the range. Self time is
 * the own time minus that of direct children: each slice takes its clipped time away from the key of its
 * parent, which is found by walking the row above along with its own.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "segment/ivals.h"
#include "segment/seg_internal.h"
#include "segment/seg_query.h"

struct agg {
	const struct fsc_seg *s;
	struct fsc_seg_agg *out;
	struct fsc_err *err;
	enum fsc_agg_by by;
	int64_t t0, t1;
	uint32_t *slot; /* owned; key -> row + 1 */
	struct fsc_ivals gpu;
};

/* A row walked alongside: the last slice that starts at or before the asked time. */
struct beside {
	struct fsc_seg_iter it;
	struct fsc_seg_slice cur, next;
	bool has_cur, has_next;
};

static enum fsc_status no_memory(struct agg *a)
{
	return fsc_err_set(a->err, FSC_ENOMEM, NULL, "segment: no memory to aggregate");
}

static enum fsc_status beside_step(struct beside *b, struct agg *a)
{
	enum fsc_status st = fsc_seg_iter_next(&b->it, &b->next, a->err);

	b->has_next = st == FSC_OK;
	return st == FSC_END ? FSC_OK : st;
}

static enum fsc_status beside_init(struct beside *b, struct agg *a, uint32_t row)
{
	enum fsc_status st = fsc_seg_iter_init(&b->it, a->s, row, a->t0, a->t1, a->err);

	b->has_cur = b->has_next = false;
	return st == FSC_OK ? beside_step(b, a) : st;
}

static uint32_t key_of(const struct agg *a, const struct fsc_seg_slice *x)
{
	return a->by == FSC_AGG_NAME ? x->name : a->by == FSC_AGG_KIND ? x->kind : x->track;
}

static struct fsc_seg_agg_row *row_of(struct agg *a, const struct fsc_seg_slice *x)
{
	uint32_t *slot = &a->slot[key_of(a, x)];
	struct fsc_seg_agg_row r = { .key = key_of(a, x), .kind = x->kind };

	if (!*slot) {
		r.min_ns = INT64_MAX;
		if (!fsc_vec_push(&a->out->v, r))
			return NULL;
		*slot = (uint32_t)a->out->v.n;
	}
	return &a->out->v.v[*slot - 1];
}

static int64_t clipped(const struct agg *a, const struct fsc_seg_slice *x, int64_t *from)
{
	int64_t to = x->ts + x->dur > a->t1 ? a->t1 : x->ts + x->dur;

	*from = x->ts < a->t0 ? a->t0 : x->ts;
	return to > *from ? to - *from : 0;
}

static enum fsc_status add_slice(struct agg *a, const struct fsc_seg_slice *x, int64_t *ns)
{
	struct fsc_seg_agg_row *r = row_of(a, x);
	int64_t from;

	if (!r)
		return no_memory(a);
	*ns = clipped(a, x, &from);
	r->count++;
	r->total_ns = fsc_add_i64_sat(r->total_ns, *ns);
	r->self_ns = fsc_add_i64_sat(r->self_ns, *ns);
	r->min_ns = *ns < r->min_ns ? *ns : r->min_ns;
	r->max_ns = *ns > r->max_ns ? *ns : r->max_ns;
	a->out->count++;
	a->out->total_ns = fsc_add_i64_sat(a->out->total_ns, *ns);
	if (fsc_kind_is_gpu_work(x->kind) && !fsc_ivals_add(&a->gpu, from, from + *ns))
		return no_memory(a);
	return FSC_OK;
}

/* Takes ns away from the self time of x's parent, if it has one. */
static enum fsc_status take_from_parent(struct agg *a, struct beside *above,
					const struct fsc_seg_slice *x, int64_t ns)
{
	struct fsc_seg_slice other;
	const struct fsc_seg_slice *parent = &above->cur;
	struct fsc_seg_agg_row *r;
	enum fsc_status st = FSC_OK;

	while (above->has_next && above->next.ts <= x->ts && st == FSC_OK) {
		above->cur = above->next;
		above->has_cur = true;
		st = beside_step(above, a);
	}
	if (st != FSC_OK)
		return st;
	if (!above->has_cur || parent->ts + parent->dur < x->ts + x->dur) {
		/* Not inside the row above: a slice that overlaps, or what is nested in one. */
		st = fsc_seg_parent(&other, a->s, x, a->err);
		if (st != FSC_OK)
			return st == FSC_ENOTFOUND ? FSC_OK : st;
		parent = &other;
	}
	if (parent->flags & FSC_SLICE_INSTANT)
		return FSC_OK;
	r = row_of(a, parent);
	if (!r)
		return no_memory(a);
	r->self_ns = fsc_sub_i64_sat(r->self_ns, ns);
	return FSC_OK;
}

static enum fsc_status add_row(struct agg *a, uint32_t row, bool has_above)
{
	struct fsc_seg_iter it;
	struct beside above = { .has_cur = false };
	struct fsc_seg_slice x;
	enum fsc_status st = fsc_seg_iter_init(&it, a->s, row, a->t0, a->t1, a->err);

	if (st == FSC_OK && has_above)
		st = beside_init(&above, a, row - 1);
	while (st == FSC_OK) {
		int64_t ns = 0;

		st = fsc_seg_iter_next(&it, &x, a->err);
		if (st != FSC_OK || x.flags & FSC_SLICE_INSTANT)
			continue;
		st = add_slice(a, &x, &ns);
		if (st == FSC_OK && has_above && ns)
			st = take_from_parent(a, &above, &x, ns);
	}
	fsc_seg_iter_fini(&it);
	if (has_above)
		fsc_seg_iter_fini(&above.it);
	if (st != FSC_END)
		return st;
	return fsc_ivals_end_row(&a->gpu) ? FSC_OK : no_memory(a);
}

static enum fsc_status add_track(struct agg *a, uint32_t track)
{
	const struct fsc_seg_track *t;
	enum fsc_status st = fsc_seg_stopped(a->s, a->err);

	if (st != FSC_OK)
		return st;
	if (track >= a->s->h.n_tracks)
		return fsc_err_set(a->err, FSC_ENOTFOUND, "no_such_track", "segment: no track %u",
				   track);
	t = &a->s->tracks[track];
	for (uint32_t d = 0; d < t->depths && st == FSC_OK; d++)
		st = add_row(a, t->first_row + d, d > 0);
	return st;
}

static int most_first(const void *pa, const void *pb)
{
	const struct fsc_seg_agg_row *a = pa, *b = pb;

	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return a->key < b->key ? -1 : a->key > b->key;
}

/* A parent is a row even when all its own time lies outside; such rows have count 0 and go. */
static void finish(struct fsc_seg_agg *out)
{
	size_t n = 0;

	for (size_t i = 0; i < out->v.n; i++)
		if (out->v.v[i].count)
			out->v.v[n++] = out->v.v[i];
	out->v.n = n;
	if (n)
		qsort(out->v.v, n, sizeof(*out->v.v), most_first);
}

enum fsc_status fsc_seg_aggregate(struct fsc_seg_agg *out, const struct fsc_seg *s,
				  const uint32_t *tracks, uint32_t n_tracks, int64_t t0, int64_t t1,
				  enum fsc_agg_by by, struct fsc_err *err)
{
	struct agg a = { .s = s, .out = out, .err = err, .by = by };
	size_t keys = by == FSC_AGG_NAME   ? s->h.n_strings
		      : by == FSC_AGG_KIND ? FSC_KIND_COUNT
					   : s->h.n_tracks;
	enum fsc_status st = FSC_OK;

	memset(out, 0, sizeof(*out));
	a.t0 = fsc_seg_clamp_time(t0);
	a.t1 = fsc_seg_clamp_time(t1);
	a.slot = fsc_alloc(keys + 1, sizeof(*a.slot));
	if (!a.slot)
		st = no_memory(&a);
	for (uint32_t i = 0; i < n_tracks && st == FSC_OK; i++)
		st = add_track(&a, tracks[i]);
	if (st == FSC_OK) {
		out->busy_ns = fsc_ivals_sum(&a.gpu);
		finish(out);
	} else {
		fsc_seg_agg_fini(out);
	}
	fsc_ivals_fini(&a.gpu);
	fsc_free(a.slot);
	return st;
}

void fsc_seg_agg_fini(struct fsc_seg_agg *a)
{
	fsc_vec_fini(&a->v);
	memset(a, 0, sizeof(*a));
}
