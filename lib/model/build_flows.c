/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs flow events: those of one key (id, category, name) in time order; a start opens the chain, a step
 * continues it, an end closes it but may be followed by more ends. Ends before the first start in time belong
 * to that start (clocks of host and GPU differ). Counted: "flow_end_without_start", "flow_start_without_end",
 * "flow_outside_slice" (an end of a pair has no slice to hold it), "flow_bound_by_correlation" (an end without
 * a start at GPU work whose launch call is known: the replay of a graph has such ends, one for each kernel).
 */
#include <string.h>

#include "base/alloc.h"
#include "model/build_int.h"
#include "model/sort.h"

struct u32s {
	FSC_VEC(uint32_t) a;
};

/* Open addressing over the heads of the chains; a slot is the number of a flow event, UINT32_MAX when free. */
struct chains {
	uint32_t *head; /* owned */
	size_t cap;	/* a power of two */
};

static uint64_t hash_of(const struct fsc_build_flow_ev *f)
{
	uint64_t h = (f->id ^ 0x9E3779B97F4A7C15ULL) * 0xBF58476D1CE4E5B9ULL;
	h = (h ^ h >> 29 ^ ((uint64_t)f->name << 32 | f->cat)) * 0x94D049BB133111EBULL;
	return h >> 20;
}

/* Chains the events of each key through next, in file order: from the last event on, each new one in front. */
static enum fsc_status chain(struct chains *c, struct fsc_build *b)
{
	size_t n = b->flows.n;
	for (c->cap = 64; c->cap < 2 * n; c->cap *= 2)
		;
	c->head = fsc_realloc(NULL, c->cap, sizeof(*c->head));
	if (!c->head)
		return FSC_ENOMEM;
	memset(c->head, 0xFF, c->cap * sizeof(*c->head));
	while (n-- > 0) {
		struct fsc_build_flow_ev *f = &b->flows.v[n];
		size_t k = hash_of(f) & (c->cap - 1);
		for (; c->head[k] != UINT32_MAX; k = (k + 1) & (c->cap - 1)) {
			const struct fsc_build_flow_ev *h = &b->flows.v[c->head[k]];
			if (h->id == f->id && h->name == f->name && h->cat == f->cat)
				break;
		}
		f->next = c->head[k];
		c->head[k] = (uint32_t)n;
	}
	return FSC_OK;
}

static int rank_of(uint8_t phase)
{
	return phase == FSC_FLOW_START				   ? 0
	       : phase == FSC_FLOW_STEP || phase == FSC_FLOW_TOUCH ? 1
								   : 2;
}

static bool event_before(const struct fsc_build_flow_ev *a, const struct fsc_build_flow_ev *b)
{
	return a->ts != b->ts ? a->ts < b->ts : rank_of(a->phase) < rank_of(b->phase);
}

static bool index_before(const void *ctx, uint32_t i, uint32_t k)
{
	const struct fsc_build_flow_ev *f = ctx;
	return event_before(&f[i], &f[k]);
}

/* The events of one chain in time order, with room for the sort behind them. */
static bool collect(struct u32s *l, const struct fsc_build *b, uint32_t head)
{
	bool ordered = true;
	l->a.n = 0;
	for (uint32_t i = head; i != UINT32_MAX; i = b->flows.v[i].next) {
		if (!fsc_vec_push(&l->a, i))
			return false;
		size_t n = l->a.n;
		ordered &= n < 2 || !index_before(b->flows.v, i, l->a.v[n - 2]);
	}
	if (ordered)
		return true;
	size_t n = l->a.n;
	if (!fsc_vec_reserve(&l->a, n + n / 2 + 1))
		return false;
	fsc_sort_u32(l->a.v, n, l->a.v + n, index_before, b->flows.v);
	return true;
}

struct counts {
	uint64_t no_start, no_end, outside, by_correlation;
	struct fsc_build_calls calls;
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

/*
 * Kineto writes an end at each runtime call that launched nothing, with the call's own correlation as id. No
 * arrow is missing there.
 */
static bool ends_in_its_own_call(const struct fsc_build *b, const struct fsc_build_flow_ev *f,
				 const uint32_t *at)
{
	const struct fsc_slices *s = &b->t->slices;
	uint32_t i = f->slice == FSC_NO_SLICE ? FSC_NO_SLICE : at[f->slice];
	return i != FSC_NO_SLICE && s->correlation[i] == (int64_t)f->id &&
	       (s->kind[i] == FSC_KIND_RUNTIME || s->kind[i] == FSC_KIND_SYNC);
}

/* An end whose start the file does not have. */
static enum fsc_status orphan(struct fsc_build *b, struct counts *c,
			      const struct fsc_build_flow_ev *f, const uint32_t *at)
{
	const struct fsc_slices *s = &b->t->slices;
	uint32_t to = f->slice == FSC_NO_SLICE ? FSC_NO_SLICE : at[f->slice], from = FSC_NO_SLICE;
	if (to != FSC_NO_SLICE && fsc_kind_is_gpu_work(s->kind[to]) &&
	    s->correlation[to] == (int64_t)f->id) {
		enum fsc_status st = fsc_build_call_of(&from, &c->calls, b->t, to);
		if (st != FSC_OK)
			return st;
	}
	if (from == FSC_NO_SLICE) {
		c->no_start += !ends_in_its_own_call(b, f, at);
		return FSC_OK;
	}
	c->by_correlation++;
	struct fsc_flow flow = { .from = from, .to = to, .cat = f->cat, .name = f->name };
	return fsc_vec_push(&b->t->flows, flow) ? FSC_OK : FSC_ENOMEM;
}

/* v holds the events of one key in time order. */
static enum fsc_status pair(struct fsc_build *b, struct counts *c, const uint32_t *v, size_t n,
			    const uint32_t *at)
{
	const struct fsc_build_flow_ev *ev = b->flows.v, *cur = NULL, *start = NULL;
	bool used = true, closed = false;
	for (size_t i = 0; i < n && !start; i++)
		if (ev[v[i]].phase == FSC_FLOW_START || ev[v[i]].phase == FSC_FLOW_TOUCH)
			start = &ev[v[i]];
	for (size_t i = 0; i < n; i++) {
		const struct fsc_build_flow_ev *f = &ev[v[i]];
		if (f->phase == FSC_FLOW_START ||
		    (f->phase == FSC_FLOW_TOUCH && (!cur || closed))) {
			closed = false;
			c->no_end += !used;
			used = cur == NULL && i > 0; /* ends before it were given to it */
			cur = f;
			continue;
		}
		const struct fsc_build_flow_ev *from = cur ? cur : start;
		enum fsc_status st = from ? emit(b, c, from, f, at) : orphan(b, c, f, at);
		if (st != FSC_OK)
			return st;
		used = true;
		if ((f->phase == FSC_FLOW_STEP || f->phase == FSC_FLOW_TOUCH) && cur)
			cur = f;
		closed |= rank_of(f->phase) == 2;
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
	struct chains c = { .cap = 0 };
	struct counts counts = { .calls = { .n = 0 } };
	struct u32s v = { .a = { .n = 0 } };
	enum fsc_status st = chain(&c, b);
	for (size_t k = 0; st == FSC_OK && k < c.cap; k++)
		if (c.head[k] != UINT32_MAX)
			st = collect(&v, b, c.head[k]) ? pair(b, &counts, v.a.v, v.a.n, at)
						       : FSC_ENOMEM;
	fsc_vec_fini(&b->flows);
	if (st == FSC_OK)
		st = order_flows(b->t);
	fsc_build_loss(b, "flow_end_without_start", counts.no_start);
	fsc_build_loss(b, "flow_start_without_end", counts.no_end);
	fsc_build_loss(b, "flow_outside_slice", counts.outside);
	fsc_build_loss(b, "flow_bound_by_correlation", counts.by_correlation);
	fsc_free(counts.calls.v);
	fsc_vec_fini(&v.a);
	fsc_free(c.head);
	return st;
}
