/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs flow events: those of one key (id, category, name) in time order; a start opens the chain, a step
 * continues it, an end closes it but may be followed by more ends. Ends before the first start in time belong
 * to that start (clocks of host and GPU differ). Counted: "flow_end_without_start", "flow_start_without_end",
 * "flow_outside_slice" (an end of a pair has no slice to hold it).
 */
#include "base/alloc.h"
#include "model/build_int.h"
#include "model/sort.h"

static uint64_t key_b(const struct fsc_build_flow_ev *f)
{
	return (uint64_t)f->name << 32 | f->cat;
}

struct u32s {
	FSC_VEC(uint32_t) a;
};

/* Chains events of one key through next, in file order. heads: one per key, filled. */
struct chains {
	FSC_VEC(uint32_t) head;
	FSC_VEC(uint32_t) tail;
};

static enum fsc_status chain(struct chains *c, struct fsc_build *b)
{
	struct fsc_build_map m = { .cap = 0 };
	enum fsc_status st = FSC_ENOMEM;
	for (uint32_t i = 0; i < b->flows.n; i++) {
		struct fsc_build_flow_ev *f = &b->flows.v[i];
		uint32_t k = fsc_build_map_get(&m, f->id, key_b(f));
		if (k == UINT32_MAX) {
			k = (uint32_t)c->head.n;
			if (!fsc_build_map_put(&m, f->id, key_b(f), k) ||
			    !fsc_vec_push(&c->head, i) || !fsc_vec_push(&c->tail, i))
				goto out;
			continue;
		}
		b->flows.v[c->tail.v[k]].next = i;
		c->tail.v[k] = i;
	}
	st = FSC_OK;
out:
	fsc_free(m.v);
	return st;
}

static int rank_of(uint8_t phase)
{
	return phase == FSC_FLOW_START ? 0 : phase == FSC_FLOW_STEP ? 1 : 2;
}

static bool event_before(const struct fsc_build_flow_ev *a, const struct fsc_build_flow_ev *b)
{
	return a->ts != b->ts ? a->ts < b->ts : rank_of(a->phase) < rank_of(b->phase);
}

/* Order of one chain: insertion, since chains are short; long ones are mostly in order already. */
static bool collect(struct u32s *l, const struct fsc_build *b, uint32_t head)
{
	l->a.n = 0;
	for (uint32_t i = head; i != UINT32_MAX; i = b->flows.v[i].next) {
		if (!fsc_vec_push(&l->a, i))
			return false;
		size_t k = l->a.n - 1;
		while (k > 0 && event_before(&b->flows.v[i], &b->flows.v[l->a.v[k - 1]])) {
			l->a.v[k] = l->a.v[k - 1];
			k--;
		}
		l->a.v[k] = i;
	}
	return true;
}

struct counts {
	uint64_t no_start, no_end, outside;
};

static enum fsc_status emit(struct fsc_build *b, struct counts *c,
			    const struct fsc_build_flow_ev *from,
			    const struct fsc_build_flow_ev *to, const uint32_t *at)
{
	if (from->slice == FSC_NO_SLICE || to->slice == FSC_NO_SLICE ||
	    at[from->slice] == FSC_NO_SLICE || at[to->slice] == FSC_NO_SLICE) {
		c->outside++;
		return FSC_OK;
	}
	struct fsc_flow f = {
		.from = at[from->slice], .to = at[to->slice], .cat = from->cat, .name = from->name
	};
	return fsc_vec_push(&b->t->flows, f) ? FSC_OK : FSC_ENOMEM;
}

/* v holds the events of one key in time order. */
static enum fsc_status pair(struct fsc_build *b, struct counts *c, const uint32_t *v, size_t n,
			    const uint32_t *at)
{
	const struct fsc_build_flow_ev *ev = b->flows.v, *cur = NULL, *start = NULL;
	bool used = true;
	for (size_t i = 0; i < n && !start; i++)
		if (ev[v[i]].phase == FSC_FLOW_START)
			start = &ev[v[i]];
	for (size_t i = 0; i < n; i++) {
		const struct fsc_build_flow_ev *f = &ev[v[i]];
		if (f->phase == FSC_FLOW_START) {
			c->no_end += !used;
			used = cur == NULL && i > 0; /* ends before it were given to it */
			cur = f;
			continue;
		}
		const struct fsc_build_flow_ev *from = cur ? cur : start;
		if (!from) {
			c->no_start++;
			continue;
		}
		enum fsc_status st = emit(b, c, from, f, at);
		if (st != FSC_OK)
			return st;
		used = true;
		if (f->phase == FSC_FLOW_STEP && cur)
			cur = f;
	}
	c->no_end += !used;
	return FSC_OK;
}

static bool flow_before(const void *ctx, uint32_t i, uint32_t k)
{
	const struct fsc_flow *f = ctx, *a = &f[i], *c = &f[k];
	if (a->from != c->from)
		return a->from < c->from;
	if (a->to != c->to)
		return a->to < c->to;
	return a->cat != c->cat ? a->cat < c->cat : a->name < c->name;
}

/* By (from, to): launches come nearly in order, so this is one pass and a copy. */
static enum fsc_status order_flows(struct fsc_trace *t)
{
	size_t n = t->flows.n;
	enum fsc_status st = FSC_ENOMEM;
	uint32_t *perm = fsc_realloc(NULL, n + n / 2 + 2, sizeof(*perm));
	struct fsc_flow *v = fsc_realloc(NULL, n + 1, sizeof(*v));
	if (!perm || !v)
		goto out;
	for (size_t i = 0; i < n; i++)
		perm[i] = (uint32_t)i;
	fsc_sort_u32(perm, n, perm + n, flow_before, t->flows.v);
	for (size_t i = 0; i < n; i++)
		v[i] = t->flows.v[perm[i]];
	fsc_free(t->flows.v);
	t->flows.v = v;
	t->flows.cap = n + 1;
	v = NULL;
	st = FSC_OK;
out:
	fsc_free(v);
	fsc_free(perm);
	return st;
}

enum fsc_status fsc_build_pair_flows(struct fsc_build *b, const uint32_t *at)
{
	struct chains c = { .head = { .n = 0 } };
	struct counts counts = { 0 };
	struct u32s v = { .a = { .n = 0 } };
	enum fsc_status st = chain(&c, b);
	for (size_t k = 0; st == FSC_OK && k < c.head.n; k++)
		st = collect(&v, b, c.head.v[k]) ? pair(b, &counts, v.a.v, v.a.n, at) : FSC_ENOMEM;
	fsc_vec_fini(&b->flows);
	if (st == FSC_OK)
		st = order_flows(b->t);
	fsc_build_loss(b, "flow_end_without_start", counts.no_start);
	fsc_build_loss(b, "flow_start_without_end", counts.no_end);
	fsc_build_loss(b, "flow_outside_slice", counts.outside);
	fsc_vec_fini(&v.a);
	fsc_vec_fini(&c.head);
	fsc_vec_fini(&c.tail);
	return st;
}
