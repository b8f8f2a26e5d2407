/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slices query. A row's window is cut into cells of one pixel. Slices at least a pixel long are given
 * as they are; shorter ones that start in the same cell become one merged item. Runs of short slices are
 * taken from the pyramid, a node at a time; single slices are decoded only around long ones and at the
 * edges of the window. So a row costs O(px), whatever its length and however uneven it is.
 *
 * Long slices with short ones between them can make more than px items. Then the row is done again with
 * cells and the meaning of "long" twice as wide, until it fits; at last everything becomes one item.
 */
#include <string.h>

#include "segment/seg_internal.h"
#include "segment/seg_query.h"

/* The merged item that is being made. */
struct merged {
	bool open;
	int64_t cell_end; /* slices that start before it belong here */
	int64_t t0, t1, busy;
	uint32_t count;
	uint32_t rep; /* idx of the longest */
	double rep_ns;
	int64_t rep_ts, rep_dur; /* exact while count is 1 */
	struct fsc_seg_tally tally;
};

struct row_query {
	const struct fsc_seg *s;
	struct fsc_seg_items *out;
	struct fsc_err *err;
	uint32_t row, max_items;
	uint16_t row_idx;
	int64_t t0, t1;
	struct fsc_seg_lod lod;
	uint32_t first, end; /* slices of the window, idx */
	bool starts_before;  /* the first one starts before t0 */
	/* of the current attempt */
	int64_t cell;
	bool separate, one; /* every slice for itself; everything in one item */
	uint32_t n, budget; /* items so far, at most */
	bool over;	    /* passed the budget: the attempt is void */
	struct merged m;
};

static uint8_t item_flags(uint8_t slice_flags)
{
	uint8_t f = 0;

	if (slice_flags & FSC_SLICE_OVERLAP)
		f |= FSC_ITEM_OVERLAP;
	if (slice_flags & FSC_SLICE_INSTANT)
		f |= FSC_ITEM_INSTANT;
	if (slice_flags & FSC_SLICE_OPEN)
		f |= FSC_ITEM_OPEN;
	return f;
}

static int64_t clipped(const struct row_query *q, int64_t t0, int64_t t1)
{
	t0 = t0 < q->t0 ? q->t0 : t0;
	t1 = t1 > q->t1 ? q->t1 : t1;
	return t1 > t0 ? t1 - t0 : 0;
}

static enum fsc_status add_item(struct row_query *q, const struct fsc_seg_item *item)
{
	if (q->n == q->budget) {
		q->over = true;
		return FSC_END;
	}
	if (q->out->v.n >= q->max_items) {
		q->out->truncated = true;
		return FSC_END;
	}
	if (!fsc_vec_push(&q->out->v, *item))
		return fsc_err_set(q->err, FSC_ENOMEM, NULL, "segment: no memory for items");
	q->n++;
	return FSC_OK;
}

static enum fsc_status add_exact(struct row_query *q, uint32_t idx, int64_t ts, int64_t dur)
{
	uint32_t id = q->s->rows[q->row].first_slice + idx;
	const struct fsc_seg_d_class *c = &q->s->classes[q->s->cls[id]];
	struct fsc_seg_item item = { .row_idx = q->row_idx,
				     .kind = c->kind,
				     .flags = item_flags(c->flags),
				     .name = c->name,
				     .slice = id,
				     .count = 1,
				     .t0 = ts,
				     .t1 = ts + dur,
				     .busy_ns = clipped(q, ts, ts + dur) };

	return add_item(q, &item);
}

static enum fsc_status flush(struct row_query *q)
{
	struct merged *m = &q->m;
	struct fsc_seg_item item = { .row_idx = q->row_idx,
				     .flags = FSC_ITEM_MERGED,
				     .count = m->count };
	const struct fsc_seg_d_class *c;
	int64_t dom;

	if (!m->open)
		return FSC_OK;
	m->open = false;
	if (m->count == 1)
		return add_exact(q, m->rep, m->rep_ts, m->rep_dur);
	c = &q->s->classes[fsc_seg_tally_top(&m->tally, &dom)];
	item.kind = c->kind;
	item.name = c->name;
	item.slice = q->s->rows[q->row].first_slice + m->rep;
	item.t0 = m->t0 < q->t0 ? q->t0 : m->t0;
	item.t1 = m->t1 > q->t1 ? q->t1 : m->t1;
	item.busy_ns = m->busy;
	return add_item(q, &item);
}

/* End of the cell that t lies in. */
static int64_t cell_end(const struct row_query *q, int64_t t)
{
	if (q->m.open && t < q->m.cell_end)
		return q->m.cell_end;
	if (q->one)
		return INT64_MAX;
	return q->t0 + (t < q->t0 ? 1 : (t - q->t0) / q->cell + 1) * q->cell;
}

/* Makes the merged item of t's cell the open one. */
static enum fsc_status enter_cell(struct row_query *q, int64_t t, int64_t end)
{
	enum fsc_status st;

	if (q->m.open && t < q->m.cell_end)
		return FSC_OK;
	st = flush(q);
	q->m.open = true;
	q->m.cell_end = end;
	q->m.t0 = t;
	q->m.busy = 0;
	q->m.count = 0;
	q->m.rep_ns = -1;
	q->m.tally.used = 0;
	return st;
}

/* Adds n slices, all shorter than a cell, that start in the cell which ends at `end`. */
static enum fsc_status add_run(struct row_query *q, uint32_t idx, const int64_t *ts,
			       const int64_t *dur, uint32_t n, int64_t end)
{
	const uint32_t *cls = q->s->cls + q->s->rows[q->row].first_slice + idx;
	struct merged *m = &q->m;
	enum fsc_status st = enter_cell(q, ts[0], end);
	uint32_t longest = 0;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		int64_t busy = clipped(q, ts[i], ts[i] + dur[i]);

		fsc_seg_tally_add(&m->tally, cls[i], busy);
		sum += (uint64_t)busy;
		longest = dur[i] > dur[longest] ? i : longest;
	}
	if ((double)dur[longest] > m->rep_ns) {
		m->rep = idx + longest;
		m->rep_ns = (double)dur[longest];
		m->rep_ts = ts[longest];
		m->rep_dur = dur[longest];
	}
	m->busy = (int64_t)((uint64_t)m->busy + sum);
	m->t1 = ts[n - 1] + dur[n - 1];
	m->count += n;
	return st;
}

/* Adds decoded slices: long ones for themselves, the others in runs of one cell. */
static enum fsc_status add_slices(struct row_query *q, uint32_t idx, const int64_t *ts,
				  const int64_t *dur, uint32_t n)
{
	int64_t long_ns = q->separate ? 0 : q->one ? INT64_MAX : q->cell;
	enum fsc_status st = FSC_OK;
	uint32_t i = 0, j;

	while (i < n && st == FSC_OK) {
		int64_t end;

		if (dur[i] >= long_ns) {
			st = flush(q);
			if (st == FSC_OK)
				st = add_exact(q, idx + i, ts[i], dur[i]);
			i++;
			continue;
		}
		end = cell_end(q, ts[i]);
		for (j = i + 1; j < n && ts[j] < end && dur[j] < long_ns;)
			j++;
		st = add_run(q, idx + i, ts + i, dur + i, j - i, end);
		i = j;
	}
	return st;
}

/* Can the node of `count` groups from g on go into a cell whole? Its slices are all shorter than a cell
 * and start in it, and none of them needs clipping at the end of the window. */
static bool fits(const struct row_query *q, uint32_t g, uint32_t level, int64_t end)
{
	uint32_t last = g + (1u << (FSC_SEG_FAN_BITS * level)) - 1;

	if (last >= q->lod.groups || (uint64_t)(last + 1) * FSC_SEG_GROUP >= q->end ||
	    q->lod.ts[last] >= end)
		return false;
	if (q->one)
		return q->lod.span[last] != UINT32_MAX;
	return (double)q->lod.level[level][g >> (FSC_SEG_FAN_BITS * level)].max < (double)q->cell &&
	       q->lod.span[last] != UINT32_MAX && q->lod.span[last] <= q->cell;
}

/* Takes the largest node that starts at group g and fits; *taken is 0 when none does. */
static enum fsc_status add_node(struct row_query *q, uint32_t g, uint32_t *taken)
{
	int64_t ts = q->lod.ts[g], end = cell_end(q, ts);
	const struct fsc_seg_node *node;
	struct merged *m = &q->m;
	uint32_t level = 0, groups;
	enum fsc_status st;

	*taken = 0;
	if (!fits(q, g, 0, end))
		return FSC_OK;
	while (level + 1 < q->lod.n_levels && g % (1u << (FSC_SEG_FAN_BITS * (level + 1))) == 0 &&
	       fits(q, g, level + 1, end))
		level++;
	st = enter_cell(q, ts, end);
	if (st != FSC_OK)
		return st;
	groups = 1u << (FSC_SEG_FAN_BITS * level);
	node = &q->lod.level[level][g >> (FSC_SEG_FAN_BITS * level)];
	fsc_seg_tally_add(&m->tally, node->cls, (int64_t)node->dom);
	if ((double)node->max > m->rep_ns) {
		m->rep = node->rep;
		m->rep_ns = (double)node->max;
	}
	m->busy = (int64_t)((uint64_t)m->busy + (q->lod.sum[g + groups] - q->lod.sum[g]));
	m->t1 = q->lod.ts[g + groups - 1] + q->lod.span[g + groups - 1];
	m->count += groups * FSC_SEG_GROUP;
	*taken = groups * FSC_SEG_GROUP;
	return FSC_OK;
}

/* Decodes and adds the slices from idx to the end of its group. */
static enum fsc_status add_raw(struct row_query *q, uint32_t idx, uint32_t *taken)
{
	int64_t ts[FSC_SEG_GROUP], dur[FSC_SEG_GROUP];
	uint32_t n = FSC_SEG_GROUP - idx % FSC_SEG_GROUP;
	enum fsc_status st;

	n = n < q->end - idx ? n : q->end - idx;
	*taken = n;
	st = fsc_seg_decode(ts, dur, q->s, q->row, &q->lod, idx, n, q->err);
	return st == FSC_OK ? add_slices(q, idx, ts, dur, n) : st;
}

/* One pass over the row with the cell width in q->cell. FSC_END when stopped by a limit. */
static enum fsc_status attempt(struct row_query *q)
{
	enum fsc_status st = FSC_OK;
	uint32_t pos = q->first, taken;

	q->n = 0;
	q->over = false;
	q->m.open = false;
	while (pos < q->end && st == FSC_OK) {
		bool edge = pos == q->first && q->starts_before;

		taken = 0;
		if (q->lod.groups && pos % FSC_SEG_GROUP == 0 && !edge && !q->separate)
			st = add_node(q, pos / FSC_SEG_GROUP, &taken);
		if (!taken && st == FSC_OK)
			st = add_raw(q, pos, &taken);
		pos += taken;
	}
	return st == FSC_OK ? flush(q) : st;
}

/* Finds the slices of the window. */
static enum fsc_status find_window(struct row_query *q)
{
	enum fsc_status st = fsc_seg_row_lod(&q->lod, q->s, q->row, q->err);

	if (st == FSC_OK)
		st = fsc_seg_lower_bound(&q->first, q->s, q->row, &q->lod, q->t0, q->err);
	if (st == FSC_OK)
		st = fsc_seg_lower_bound(&q->end, q->s, q->row, &q->lod, q->t1, q->err);
	q->starts_before = false;
	if (st == FSC_OK && q->first > 0) {
		int64_t ts, dur;

		st = fsc_seg_decode(&ts, &dur, q->s, q->row, &q->lod, q->first - 1, 1, q->err);
		if (st == FSC_OK && ts + dur > q->t0) {
			q->first--;
			q->starts_before = true;
		}
	}
	return st;
}

static enum fsc_status query_row(struct row_query *q, uint32_t px)
{
	const struct fsc_seg_d_row *r = &q->s->rows[q->row];
	size_t had = q->out->v.n;
	enum fsc_status st;
	int64_t window = q->t1 - q->t0;

	if (!r->n || r->last_end < q->t0 || r->first_ts >= q->t1)
		return FSC_OK;
	st = find_window(q);
	if (st != FSC_OK || q->first >= q->end)
		return st;
	q->budget = px;
	q->cell = window / px + (window % px != 0);
	q->separate = q->cell == 1 && q->end - q->first <= px;
	q->one = false;
	for (;;) {
		st = attempt(q);
		if (!q->over)
			break;
		q->out->v.n = had;
		q->separate = false;
		q->one = q->cell >= window / 2;
		q->cell = q->one ? window : q->cell * 2;
	}
	if (st < 0)
		return st;
	for (size_t i = had; i < q->out->v.n; i++)
		q->out->n_slices_seen += q->out->v.v[i].count;
	return FSC_OK;
}

enum fsc_status fsc_seg_query_slices(struct fsc_seg_items *out, const struct fsc_seg *s,
				     const uint32_t *rows, uint32_t n_rows, int64_t t0, int64_t t1,
				     uint32_t px, uint32_t max_items, struct fsc_err *err)
{
	struct row_query q = { .s = s, .out = out, .err = err, .max_items = max_items };

	memset(out, 0, sizeof(*out));
	if (n_rows > UINT16_MAX + 1u || px == 0 || t0 >= t1)
		return fsc_err_set(err, FSC_EINVAL, NULL,
				   "segment: bad window, width or number of rows");
	q.t0 = fsc_seg_clamp_time(t0);
	q.t1 = fsc_seg_clamp_time(t1);
	if (q.t0 >= q.t1)
		return FSC_OK;
	for (uint32_t i = 0; i < n_rows && !out->truncated; i++) {
		enum fsc_status st = fsc_seg_stopped(s, err);

		if (st != FSC_OK) {
			fsc_seg_items_fini(out);
			return st;
		}
		if (rows[i] >= s->h.n_rows) {
			fsc_seg_items_fini(out);
			return fsc_err_set(err, FSC_ENOTFOUND, "no_such_row", "segment: no row %u",
					   rows[i]);
		}
		q.row = rows[i];
		q.row_idx = (uint16_t)i;
		st = query_row(&q, px);
		if (st != FSC_OK) {
			fsc_seg_items_fini(out);
			return st;
		}
	}
	return FSC_OK;
}

void fsc_seg_items_fini(struct fsc_seg_items *it)
{
	fsc_vec_fini(&it->v);
	memset(it, 0, sizeof(*it));
}
