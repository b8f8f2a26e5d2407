/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flow events of the Chrome JSON export. Readers bind s and f to the innermost slice that is open at their ts, so an
 * event waits until it is known when its slice is the innermost one. That follows the rows of the track as they are
 * written; see lib/model/build_rows.c for the reader's side.
 */
#include "base/num.h"
#include "export/chrome_internal.h"

/* Ids of flows that are no launches: above every correlation, exact as a double. */
#define OWN_IDS (1LL << 44)

/* Whether the flow is that of a call to the GPU work it launched: the id is the correlation then, as in files of
 * profilers. Only when no other call has that correlation, since the id would mean two flows. */
static bool is_launch(const struct cj *x, const struct fsc_flow *f)
{
	uint32_t call;

	return fsc_seg_correlated(x->seg, f->to, &call, 1) == 1 && call == f->from;
}

static bool is_written(const struct cj *x, uint32_t slice)
{
	struct fsc_seg_slice s;

	if (x->all)
		return true;
	if (fsc_seg_slice(&s, x->seg, slice, NULL) || s.ts >= x->t1)
		return false;
	return s.dur ? fsc_add_i64_sat(s.ts, s.dur) > x->t0 : s.ts >= x->t0;
}

static void put_event(struct cj *x, struct fsc_buf *b, const struct fsc_flow *f, bool in, bool next,
		      int64_t id, int64_t ts)
{
	fsc_cj_event(x, b, in ? 'f' : 's');
	fsc_buf_adds(b, ",\"id\":");
	fsc_buf_addi(b, id);
	if (f->cat)
		fsc_cj_seg_string(x, b, ",\"cat\":", f->cat);
	if (f->name)
		fsc_cj_seg_string(x, b, ",\"name\":", f->name);
	fsc_buf_add(b, x->who.data, x->who.len);
	fsc_buf_adds(b, ",\"ts\":");
	fsc_cj_us(b, ts);
	fsc_buf_adds(b, in && !next ? ",\"bp\":\"e\"}" : "}");
}

/* The first time in the slice at which no deeper one is open; false when there is none before limit. */
static bool own_time(const struct cj *x, const struct cj_flow *f, int64_t limit, int64_t *ts)
{
	int64_t t = f->ts;
	bool moved;

	if (x->row[f->depth].slice != f->slice)
		return false; /* another one took its row */
	do {
		moved = false;
		for (uint32_t d = f->depth + 1u; d < x->n_rows; d++) {
			const struct cj_row *r = &x->row[d];

			if (r->slice == FSC_NO_SLICE || (r->end <= t && r->ts != t))
				continue;
			t = r->end > t ? r->end : t + 1;
			moved = true;
		}
	} while (moved && t < f->end && t < limit);
	*ts = t;
	return t < limit && (t < f->end || t == f->ts);
}

/* Its slice is over, or covered by children: at its start, where it is at least the first that starts. */
static void put_at_start(struct cj *x, struct fsc_buf *b, const struct cj_flow *f)
{
	put_event(x, b, &x->flows.flows[f->flow], f->in, f->in && f->first, OWN_IDS + f->flow,
		  f->ts);
}

void fsc_cj_flows_until(struct cj *x, struct fsc_buf *b, int64_t next)
{
	size_t kept = 0;
	int64_t ts;

	for (size_t i = 0; i < x->waiting.n; i++) {
		struct cj_flow f = x->waiting.v[i];

		if (own_time(x, &f, next, &ts))
			put_event(x, b, &x->flows.flows[f.flow], f.in, false, OWN_IDS + f.flow, ts);
		else if (x->row[f.depth].slice != f.slice || f.end <= next)
			put_at_start(x, b, &f);
		else
			x->waiting.v[kept++] = f;
	}
	x->waiting.n = kept;
}

static void note_row(struct cj *x, const struct fsc_seg_slice *s, int64_t end)
{
	if (s->flags & FSC_SLICE_INSTANT || s->depth >= FSC_MAX_NEST)
		return;
	for (; x->n_rows <= s->depth; x->n_rows++)
		x->row[x->n_rows] = (struct cj_row){ .slice = FSC_NO_SLICE };
	x->row[s->depth] = (struct cj_row){ .ts = s->ts, .end = end, .slice = s->id };
}

static enum fsc_status wait_for(struct cj *x, struct fsc_buf *b, struct cj_flow f,
				struct fsc_err *err)
{
	if (f.depth >= x->n_rows || x->row[f.depth].slice != f.slice)
		put_at_start(x, b, &f); /* an instant */
	else if (!fsc_vec_push(&x->waiting, f))
		return fsc_err_set(err, FSC_ENOMEM, NULL, "export: no memory for flows");
	return FSC_OK;
}

static enum fsc_status flows_out(struct cj *x, struct fsc_buf *b, const struct fsc_seg_slice *s,
				 struct cj_flow f, struct fsc_err *err)
{
	const struct fsc_flow_ends *e = &x->flows;
	const struct fsc_flow *sent = NULL;
	enum fsc_status st = FSC_OK;

	for (uint32_t i = fsc_flow_ends_first_out(e, s->id);
	     !st && i < e->n && e->flows[i].from == s->id; i++) {
		const struct fsc_flow *v = &e->flows[i];

		if (!is_written(x, v->to))
			continue;
		if (fsc_kind_is_gpu_work(s->kind) || !is_launch(x, v)) {
			f.flow = i;
			st = wait_for(x, b, f, err);
		} else if (!sent || sent->cat != v->cat || sent->name != v->name) {
			put_event(x, b, v, false, false, s->correlation, s->ts);
			sent = v; /* one start for all that the call launched */
		}
	}
	return st;
}

static enum fsc_status flows_in(struct cj *x, struct fsc_buf *b, const struct fsc_seg_slice *s,
				struct cj_flow f, struct fsc_err *err)
{
	const struct fsc_flow_ends *e = &x->flows;
	enum fsc_status st = FSC_OK;

	for (size_t i = fsc_flow_ends_first_in(e, s->id);
	     !st && i < e->ins.n && e->ins.v[i].slice == s->id; i++) {
		const struct fsc_flow *v = &e->flows[e->ins.v[i].flow];

		if (!is_written(x, v->from))
			continue;
		f.flow = e->ins.v[i].flow;
		if (fsc_kind_is_gpu_work(s->kind) && is_launch(x, v))
			put_event(x, b, v, true, false, s->correlation, s->ts);
		else
			st = wait_for(x, b, f, err);
	}
	return st;
}

enum fsc_status fsc_cj_flows_of(struct cj *x, struct fsc_buf *b, const struct fsc_seg_slice *s,
				struct fsc_err *err)
{
	struct cj_flow f = { .ts = s->ts,
			     .end = s->flags & FSC_SLICE_OPEN ? INT64_MAX
							      : fsc_add_i64_sat(s->ts, s->dur),
			     .slice = s->id,
			     .depth = s->depth,
			     .first = s->ts != x->last_ts };
	enum fsc_status st;

	if (!(s->flags & FSC_SLICE_INSTANT))
		x->last_ts = s->ts;
	note_row(x, s, f.end);
	if (!x->flows.n || s->depth >= FSC_MAX_NEST)
		return FSC_OK;
	st = flows_out(x, b, s, f, err);
	f.in = true;
	return st ? st : flows_in(x, b, s, f, err);
}

void fsc_cj_async_flow(struct cj *x, struct fsc_buf *b, uint32_t slice)
{
	const struct fsc_flow_ends *e = &x->flows;
	uint32_t out = fsc_flow_ends_first_out(e, slice);
	size_t in = fsc_flow_ends_first_in(e, slice);

	if (out < e->n && e->flows[out].from == slice && is_written(x, e->flows[out].to))
		fsc_buf_addf(b, ",\"bind_id\":%lld,\"flow_out\":true", (long long)(OWN_IDS + out));
	else if (in < e->ins.n && e->ins.v[in].slice == slice &&
		 is_written(x, e->flows[e->ins.v[in].flow].from))
		fsc_buf_addf(b, ",\"bind_id\":%lld,\"flow_in\":true",
			     (long long)(OWN_IDS + e->ins.v[in].flow));
}
