/* SPDX-License-Identifier: Apache-2.0 */
/* Flows with an end in a window: the slices of the window are walked and their flows looked up. */
#include <string.h>

#include "segment/seg_internal.h"
#include "segment/seg_query.h"

struct flow_query {
	const struct fsc_seg *s;
	struct fsc_seg_flow_list *out;
	struct fsc_err *err;
	int64_t t0, t1;
	uint32_t limit;
};

static bool in_window(const struct flow_query *q, const struct fsc_seg_slice *a)
{
	return a->ts >= q->t0 ? a->ts < q->t1 : a->ts + a->dur > q->t0;
}

static enum fsc_status add_flow(struct flow_query *q, const struct fsc_flow *f,
				const struct fsc_seg_slice *end, bool end_is_from)
{
	struct fsc_seg_flow_ends e = { .cat = f->cat, .name = f->name };
	struct fsc_seg_slice *other = end_is_from ? &e.to : &e.from;
	enum fsc_status st = fsc_seg_slice(other, q->s, end_is_from ? f->to : f->from, q->err);

	if (st != FSC_OK)
		return st;
	if (!end_is_from && in_window(q, other) && f->from != f->to)
		return FSC_OK; /* was given from its other end */
	*(end_is_from ? &e.from : &e.to) = *end;
	if (q->out->v.n == q->limit) {
		q->out->truncated = true;
		return FSC_END;
	}
	if (!fsc_vec_push(&q->out->v, e))
		return fsc_err_set(q->err, FSC_ENOMEM, NULL, "segment: no memory for flows");
	return FSC_OK;
}

/* The cursors move with the slices, which come in the order of their ids. */
static enum fsc_status flows_of_slice(struct flow_query *q, const struct fsc_seg_slice *a,
				      uint32_t *from, uint32_t *to)
{
	const struct fsc_seg *s = q->s;
	enum fsc_status st = FSC_OK;

	while (*from < s->h.n_flows && s->flows[*from].from < a->id)
		(*from)++;
	while (*to < s->h.n_flows && s->flows[s->flows_by_to[*to]].to < a->id)
		(*to)++;
	for (; *from < s->h.n_flows && s->flows[*from].from == a->id && st == FSC_OK; (*from)++)
		st = add_flow(q, &s->flows[*from], a, true);
	for (; *to < s->h.n_flows && s->flows[s->flows_by_to[*to]].to == a->id && st == FSC_OK;
	     (*to)++)
		if (s->flows[s->flows_by_to[*to]].from != a->id)
			st = add_flow(q, &s->flows[s->flows_by_to[*to]], a, false);
	return st;
}

/* First flow at or after a slice id, in either order. */
static uint32_t flow_at(const struct fsc_seg *s, uint32_t id, bool by_to)
{
	uint32_t lo = 0, hi = s->h.n_flows;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		uint32_t at = by_to ? s->flows[s->flows_by_to[mid]].to : s->flows[mid].from;

		if (at < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static enum fsc_status flows_of_row(struct flow_query *q, uint32_t row)
{
	const struct fsc_seg_d_row *r = &q->s->rows[row];
	uint32_t from = flow_at(q->s, r->first_slice, false),
		 to = flow_at(q->s, r->first_slice, true);
	struct fsc_seg_iter it;
	struct fsc_seg_slice a;
	enum fsc_status st = fsc_seg_stopped(q->s, q->err);

	if (st != FSC_OK)
		return st;
	/* Nothing to walk when no flow touches the row. */
	if ((from == q->s->h.n_flows || q->s->flows[from].from >= r->first_slice + r->n) &&
	    (to == q->s->h.n_flows ||
	     q->s->flows[q->s->flows_by_to[to]].to >= r->first_slice + r->n))
		return FSC_OK;
	st = fsc_seg_iter_init(&it, q->s, row, q->t0, q->t1, q->err);
	while (st == FSC_OK) {
		st = fsc_seg_iter_next(&it, &a, q->err);
		if (st == FSC_OK)
			st = flows_of_slice(q, &a, &from, &to);
	}
	fsc_seg_iter_fini(&it);
	return st == FSC_END ? FSC_OK : st;
}

enum fsc_status fsc_seg_flows_in(struct fsc_seg_flow_list *out, const struct fsc_seg *s, int64_t t0,
				 int64_t t1, uint32_t limit, struct fsc_err *err)
{
	struct flow_query q = { .s = s, .out = out, .err = err, .limit = limit };
	enum fsc_status st = FSC_OK;

	memset(out, 0, sizeof(*out));
	q.t0 = fsc_seg_clamp_time(t0);
	q.t1 = fsc_seg_clamp_time(t1);
	for (uint32_t row = 0; row < s->h.n_rows && st == FSC_OK && !out->truncated; row++)
		st = flows_of_row(&q, row);
	if (st != FSC_OK)
		fsc_seg_flow_list_fini(out);
	return st;
}

void fsc_seg_flow_list_fini(struct fsc_seg_flow_list *l)
{
	fsc_vec_fini(&l->v);
	memset(l, 0, sizeof(*l));
}
