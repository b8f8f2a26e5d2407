/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows. The slices of a track are taken by (start, longest first, file order) and put on rows: below the
 * innermost open slice that contains them fully, on the first row that is free at their start. Properly
 * nested slices so get their nesting depth. A slice that runs past the end of one that is still open
 * overlaps it partly: it is kept, flagged, and lands on another row because the other one occupies its own.
 *
 * Two slices of no length at the same time nest in file order on host threads, where the outer call comes
 * first, and follow each other on a GPU stream, where nothing nests. An instant never holds a row.
 *
 * The same sweep binds flow events, since it knows what is open at any time.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "model/build_int.h"
#include "model/sort.h"

struct row {
	int64_t ts, end;
	uint32_t slice;
};

struct sweep {
	struct fsc_build *b;
	struct fsc_slices *s;
	struct row row[FSC_MAX_NEST];
	uint32_t top;	/* rows [0, top) were used since the last time nothing was open */
	bool ragged;	/* ends of those rows are not falling: look at all of them */
	bool nest_zero; /* slices of no length nest */
	uint32_t depths;
	uint64_t overlaps, too_deep;
	const uint32_t *order; /* slices of the track in time order */
	uint32_t n;
	uint32_t real;	/* everything between the last flow event and this is an instant */
	uint32_t *flow; /* flow events of the track's identity in time order */
	uint32_t n_flows, next_flow;
};

/* ---- order within a track ---- */

static bool slice_before(const void *ctx, uint32_t i, uint32_t k)
{
	const struct fsc_slices *s = ctx;
	if (s->ts[i] != s->ts[k])
		return s->ts[i] < s->ts[k];
	if (s->dur[i] != s->dur[k])
		return s->dur[i] > s->dur[k];
	return (s->flags[i] & FSC_SLICE_INSTANT) < (s->flags[k] & FSC_SLICE_INSTANT);
}

/* ---- flows ---- */

static void bind(struct fsc_build_flow_ev *f, const struct fsc_slices *s, uint32_t slice)
{
	uint8_t exact = s->ts[slice] == f->ts;
	if (f->slice != FSC_NO_SLICE && (f->exact || !exact))
		return; /* another track of the same identity had a better one */
	f->slice = slice;
	f->exact = exact;
}

/* Innermost slice that is open at t, or FSC_NO_SLICE. All slices that start up to t are on their rows. */
static uint32_t open_at(const struct sweep *w, int64_t t)
{
	for (uint32_t d = w->top; d-- > 0;)
		if (w->row[d].end > t || w->row[d].ts == t)
			return w->row[d].slice;
	return FSC_NO_SLICE;
}

/* order[i] is the first slice that starts after the flow event. */
static void bind_flow(struct sweep *w, struct fsc_build_flow_ev *f, uint32_t i)
{
	const struct fsc_slices *s = w->s;
	uint32_t k = i;
	/* Launch flows carry the correlation id: among slices of one start that decides. */
	for (; k > 0 && i - k < 64 && s->ts[w->order[k - 1]] == f->ts; k--)
		if (s->correlation[w->order[k - 1]] == (int64_t)f->id) {
			bind(f, s, w->order[k - 1]);
			return;
		}
	if (f->phase == FSC_FLOW_END_NEXT) {
		while (k < i && (s->flags[w->order[k]] & FSC_SLICE_INSTANT))
			k++;
		if (k == i) {
			/* i never falls, so no instant is passed over twice. */
			if (w->real < i)
				w->real = i;
			while (w->real < w->n && (s->flags[w->order[w->real]] & FSC_SLICE_INSTANT))
				w->real++;
			k = w->real;
		}
		if (k < w->n)
			bind(f, s, w->order[k]);
		return;
	}
	uint32_t slice = open_at(w, f->ts);
	if (slice != FSC_NO_SLICE)
		bind(f, s, slice);
}

static void bind_flows_before(struct sweep *w, int64_t ts, bool all, uint32_t i)
{
	while (w->next_flow < w->n_flows) {
		struct fsc_build_flow_ev *f = &w->b->flows.v[w->flow[w->next_flow]];
		if (!all && f->ts >= ts)
			return;
		bind_flow(w, f, i);
		w->next_flow++;
	}
}

/* ---- rows ---- */

static inline bool closed(const struct sweep *w, const struct row *r, int64_t ts, int64_t dur)
{
	if (r->end != ts)
		return r->end < ts;
	return !(r->ts == ts && dur == 0 && w->nest_zero);
}

/* Row for a slice when rows do not simply nest. Sets *overlap when it runs past the end of an open one. */
static fsc_noinline uint32_t find_row(const struct sweep *w, int64_t ts, int64_t dur, int64_t end,
				      bool *overlap)
{
	uint32_t d = 0;
	for (uint32_t k = 0; k < w->top; k++) {
		if (closed(w, &w->row[k], ts, dur))
			continue;
		if (w->row[k].end >= end)
			d = k + 1;
		else
			*overlap = true;
	}
	while (d < w->top && !closed(w, &w->row[d], ts, dur))
		d++;
	return d;
}

/* Gives slice i its depth; false when it is deeper than any row. */
static bool place(struct sweep *w, uint32_t i)
{
	struct fsc_slices *s = w->s;
	int64_t ts = s->ts[i], dur = s->dur[i];
	int64_t end = s->flags[i] & FSC_SLICE_OPEN ? INT64_MAX : ts + dur;
	bool instant = s->flags[i] & FSC_SLICE_INSTANT, overlap = false;
	while (w->top && closed(w, &w->row[w->top - 1], ts, dur))
		w->top--;
	uint32_t d = w->top;
	if (!d)
		w->ragged = false;
	else if (w->ragged || end > w->row[d - 1].end)
		d = find_row(w, ts, dur, end, &overlap);
	if (FSC_UNLIKELY(d >= FSC_MAX_NEST))
		return false;
	if (overlap) {
		s->flags[i] |= FSC_SLICE_OVERLAP;
		w->overlaps++;
		w->ragged = true;
	}
	s->depth[i] = (uint16_t)d;
	if (d >= w->depths)
		w->depths = d + 1;
	if (!instant) {
		w->row[d] = (struct row){ .ts = ts, .end = end, .slice = i };
		if (d >= w->top)
			w->top = d + 1;
	}
	return true;
}

/* Places all slices of one track and binds its flow events. Dropped ones get track FSC_NO_TRACK. */
static void sweep_track(struct sweep *w)
{
	w->top = 0;
	w->ragged = false;
	w->depths = 0;
	w->next_flow = 0;
	w->real = 0;
	for (uint32_t k = 0; k < w->n; k++) {
		uint32_t i = w->order[k];
		if (w->next_flow < w->n_flows)
			bind_flows_before(w, w->s->ts[i], false, k);
		if (FSC_UNLIKELY(!place(w, i))) {
			w->s->track[i] = FSC_NO_TRACK;
			w->too_deep++;
		}
	}
	bind_flows_before(w, 0, true, w->n);
}

/* ---- grouping ---- */

void fsc_build_group(uint32_t *perm, uint32_t *first, uint32_t n_keys, const uint32_t *key,
		     size_t n)
{
	memset(first, 0, (n_keys + 2) * sizeof(*first));
	for (size_t i = 0; i < n; i++)
		if (key[i] != UINT32_MAX)
			first[key[i] + 2]++;
	for (uint32_t k = 2; k < n_keys + 2; k++)
		first[k] += first[k - 1];
	for (size_t i = 0; i < n; i++)
		if (key[i] != UINT32_MAX)
			perm[first[key[i] + 1]++] = (uint32_t)i;
}

static bool flow_before(const void *ctx, uint32_t i, uint32_t k)
{
	const struct fsc_build_flow_ev *f = ctx;
	return f[i].ts < f[k].ts;
}

/* Flow events by identity, in time order: perm[first[ident] .. first[ident + 1]). Both owned by the caller. */
static enum fsc_status group_flows(uint32_t **perm, uint32_t **first, struct fsc_build *b)
{
	size_t n = b->flows.n, n_idents = b->idents.n;
	enum fsc_status st = FSC_ENOMEM;
	*first = fsc_realloc(NULL, n_idents + 2, sizeof(**first));
	*perm = fsc_realloc(NULL, n + 1, sizeof(**perm));
	uint32_t *key = fsc_realloc(NULL, n + 1, sizeof(*key));
	if (!*first || !*perm || !key)
		goto out;
	for (size_t i = 0; i < n; i++)
		key[i] = b->flows.v[i].slice == FSC_NO_SLICE ? b->flows.v[i].ident : UINT32_MAX;
	fsc_build_group(*perm, *first, (uint32_t)n_idents, key, n);
	for (size_t k = 0; k < n_idents; k++)
		fsc_sort_u32(*perm + (*first)[k], (*first)[k + 1] - (*first)[k], key, flow_before,
			     b->flows.v);
	st = FSC_OK;
out:
	fsc_free(key);
	return st;
}

/* Stable order by depth of one track's slices, whose depths are set. */
static void order_by_depth(uint32_t *order, uint32_t n, uint32_t *tmp, const struct fsc_slices *s,
			   uint32_t depths)
{
	uint32_t at[FSC_MAX_NEST + 1] = { 0 };
	if (depths < 2)
		return;
	for (uint32_t i = 0; i < n; i++)
		at[s->depth[order[i]] + 1u]++;
	for (uint32_t d = 1; d < depths; d++)
		at[d] += at[d - 1];
	memcpy(tmp, order, n * sizeof(*tmp));
	for (uint32_t i = 0; i < n; i++)
		order[at[s->depth[tmp[i]]]++] = tmp[i];
}

/* ---- moving the columns ---- */

#define MOVE(col)                                                                   \
	do {                                                                        \
		for (uint32_t i = 0; i < n; i++)                                    \
			memcpy((char *)tmp + i * sizeof(*s->col), &s->col[perm[i]], \
			       sizeof(*s->col));                                    \
		memcpy(s->col, tmp, n * sizeof(*s->col));                           \
	} while (0)

static void move_columns(struct fsc_slices *s, const uint32_t *perm, uint32_t n, void *tmp)
{
	s->n = n;
	if (!n)
		return;
	MOVE(ts);
	MOVE(dur);
	MOVE(correlation);
	MOVE(track);
	MOVE(name);
	MOVE(args);
	MOVE(cat);
	MOVE(depth);
	MOVE(kind);
	MOVE(flags);
}

/* Sweeps every track; perm becomes the final order without dropped slices, *n its length. */
static void sweep_all(struct sweep *w, uint32_t *perm, const uint32_t *first, uint32_t *tmp,
		      uint32_t *flows, const uint32_t *flow_first)
{
	struct fsc_trace *t = w->b->t;
	uint32_t n = 0;
	for (uint32_t k = 0; k < t->tracks.n; k++) {
		struct fsc_track *tr = &t->tracks.v[k];
		uint32_t ident = w->b->tracks.v[k].ident;
		uint32_t *order = perm + first[k];
		w->n = first[k + 1] - first[k];
		if (tr->kind == FSC_TRACK_COUNTER)
			continue;
		fsc_sort_u32(order, w->n, tmp, slice_before, w->s);
		w->order = order;
		w->nest_zero = tr->kind == FSC_TRACK_THREAD || tr->kind == FSC_TRACK_ASYNC;
		w->n_flows = ident == FSC_NO_TRACK ? 0 : flow_first[ident + 1] - flow_first[ident];
		w->flow = ident == FSC_NO_TRACK ? NULL : flows + flow_first[ident];
		uint64_t too_deep = w->too_deep;
		sweep_track(w);
		if (w->too_deep != too_deep) {
			uint32_t kept = 0;
			for (uint32_t i = 0; i < w->n; i++)
				if (w->s->track[order[i]] != FSC_NO_TRACK)
					order[kept++] = order[i];
			w->n = kept;
		}
		order_by_depth(order, w->n, tmp, w->s, w->depths);
		memmove(perm + n, order, w->n * sizeof(*perm));
		tr->first = n;
		tr->n = w->n;
		tr->depths = w->depths;
		n += w->n;
	}
	w->n = n;
}

enum fsc_status fsc_build_rows(uint32_t **at, struct fsc_build *b)
{
	struct fsc_slices *s = &b->t->slices;
	uint32_t n = s->n, n_tracks = (uint32_t)b->t->tracks.n;
	enum fsc_status st = FSC_ENOMEM;
	uint32_t *flows = NULL, *flow_first = NULL;
	struct sweep *w = fsc_alloc(1, sizeof(*w));
	uint32_t *perm = fsc_realloc(NULL, n + 1u, sizeof(*perm));
	uint32_t *first = fsc_realloc(NULL, n_tracks + 2u, sizeof(*first));
	void *tmp = fsc_realloc(NULL, n + 1u, sizeof(int64_t));
	*at = NULL;
	if (!w || !perm || !first || !tmp)
		goto out;
	st = group_flows(&flows, &flow_first, b);
	if (st != FSC_OK)
		goto out;
	w->b = b;
	w->s = s;
	fsc_build_group(perm, first, n_tracks, s->track, n);
	sweep_all(w, perm, first, tmp, flows, flow_first);
	fsc_build_loss(b, "slice_overlap_kept", w->overlaps);
	fsc_build_loss(b, "slice_too_deep", w->too_deep);
	move_columns(s, perm, w->n, tmp);
	uint32_t *to = tmp;
	memset(to, 0xFF, (n + 1u) * sizeof(*to));
	for (uint32_t i = 0; i < w->n; i++)
		to[perm[i]] = i;
	*at = to;
	tmp = NULL;
	st = FSC_OK;
out:
	fsc_free(flow_first);
	fsc_free(flows);
	fsc_free(tmp);
	fsc_free(first);
	fsc_free(perm);
	fsc_free(w);
	return st;
}
