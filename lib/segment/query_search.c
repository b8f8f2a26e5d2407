/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Search by name: first which classes match, then only the blocks that can hold one of them. Letters of
 * ASCII match in either case, other bytes as they are.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "segment/seg_internal.h"
#include "segment/seg_query.h"

#define MAX_HITS 100000u
#define MAX_STRIP 65536u

struct hit {
	int64_t ts;
	uint32_t id;
};

struct search {
	const struct fsc_seg *s;
	struct fsc_seg_hits *out;
	struct fsc_err *err;
	int64_t t0, t1;
	uint64_t mask;	   /* class bits of the matching classes */
	uint8_t *matches;  /* owned; by class */
	uint8_t *seen;	   /* owned; by string */
	char *scratch;	   /* owned; a name in lower case */
	int64_t *ts, *dur; /* owned; a decoded block */
	uint32_t limit;
	FSC_VEC(struct hit) heap; /* the first `limit` hits by (ts, id), the last of them on top */
};

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* needle is lower-case already; scratch has room for FSC_SEG_SEARCH_NAME. memmem() is linear. */
static bool contains(const char *s, size_t n, const char *needle, size_t m, char *scratch)
{
	if (n > FSC_SEG_SEARCH_NAME)
		n = FSC_SEG_SEARCH_NAME;
	for (size_t i = 0; i < n; i++)
		scratch[i] = lower(s[i]);
	return memmem(scratch, n, needle, m) != NULL;
}

enum { NOT_SEEN, NO_MATCH, MATCH };

/* Each string is looked at once, however many classes (name, category, kind) share it. */
static bool match_classes(struct search *q, const char *text)
{
	size_t m = strlen(text);
	char *needle = fsc_xstrndup(text, m);
	bool any = false;

	for (size_t i = 0; i < m; i++)
		needle[i] = lower(needle[i]);
	for (uint32_t c = 0; c < q->s->h.n_classes && !fsc_seg_stopped(q->s, NULL); c++) {
		uint32_t id = q->s->classes[c].name;
		size_t n;
		const char *name = fsc_seg_str(q->s, id, &n);

		if (q->seen[id] == NOT_SEEN)
			q->seen[id] = contains(name, n, needle, m, q->scratch) ? MATCH : NO_MATCH;
		if (q->seen[id] == NO_MATCH)
			continue;
		q->matches[c] = 1;
		q->mask |= fsc_seg_class_bit(c);
		any = true;
	}
	fsc_free(needle);
	return any;
}

static bool after(struct hit a, struct hit b)
{
	return a.ts != b.ts ? a.ts > b.ts : a.id > b.id;
}

static void sift_down(struct hit *h, size_t n, size_t i)
{
	for (;;) {
		size_t c = 2 * i + 1;

		if (c >= n)
			return;
		if (c + 1 < n && after(h[c + 1], h[c]))
			c++;
		if (!after(h[c], h[i]))
			return;
		struct hit t = h[i];

		h[i] = h[c];
		h[c] = t;
		i = c;
	}
}

static bool keep(struct search *q, struct hit x)
{
	struct hit *h;

	if (q->heap.n == q->limit) {
		if (!q->limit || !after(q->heap.v[0], x))
			return true;
		q->heap.v[0] = x;
		sift_down(q->heap.v, q->heap.n, 0);
		return true;
	}
	if (!fsc_vec_push(&q->heap, x))
		return false;
	h = q->heap.v;
	for (size_t i = q->heap.n - 1; i && after(h[i], h[(i - 1) / 2]); i = (i - 1) / 2) {
		struct hit t = h[i];

		h[i] = h[(i - 1) / 2];
		h[(i - 1) / 2] = t;
	}
	return true;
}

static void count_in_strip(struct search *q, int64_t ts)
{
	struct fsc_seg_hits *o = q->out;
	double at = (double)(ts - q->t0) / (double)(q->t1 - q->t0) * o->n_strip;
	uint32_t i = at <= 0 ? 0 : at >= o->n_strip ? o->n_strip - 1 : (uint32_t)at;

	if (o->n_strip)
		o->strip[i] += o->strip[i] < UINT32_MAX;
}

static enum fsc_status search_block(struct search *q, uint32_t block)
{
	const struct fsc_seg_d_block *b = &q->s->blocks[block];
	const uint32_t *cls = q->s->cls + b->first_slice;
	bool decoded = false;
	enum fsc_status st = fsc_seg_block_core(q->s, block, q->err);

	if (st != FSC_OK)
		return st;
	for (uint32_t i = 0; i < b->n; i++) {
		struct hit x;
		int64_t end;

		if (FSC_LIKELY(!q->matches[cls[i]]))
			continue;
		if (!decoded)
			fsc_seg_decode_block(q->s, b, q->ts, q->dur);
		decoded = true;
		end = q->ts[i] + q->dur[i];
		if (q->ts[i] >= q->t1 || end < q->t0 || (end == q->t0 && q->dur[i] > 0))
			continue;
		q->out->total++;
		count_in_strip(q, q->ts[i]);
		x = (struct hit){ q->ts[i], b->first_slice + i };
		if (!keep(q, x))
			return fsc_err_set(q->err, FSC_ENOMEM, NULL, "segment: no memory for hits");
	}
	return FSC_OK;
}

static enum fsc_status search_all(struct search *q)
{
	enum fsc_status st = FSC_OK;

	for (uint32_t k = 0; k < q->s->h.n_blocks && st == FSC_OK; k++) {
		const struct fsc_seg_d_block *b = &q->s->blocks[k];

		if (b->class_mask & q->mask && b->last_end >= q->t0 && b->first_ts < q->t1)
			st = search_block(q, k);
	}
	return st;
}

static int in_order(const void *pa, const void *pb)
{
	const struct hit *a = pa, *b = pb;

	return after(*a, *b) ? 1 : after(*b, *a) ? -1 : 0;
}

static enum fsc_status give_hits(struct search *q)
{
	enum fsc_status st = FSC_OK;

	if (q->heap.n)
		qsort(q->heap.v, q->heap.n, sizeof(*q->heap.v), in_order);
	for (size_t i = 0; i < q->heap.n && st == FSC_OK; i++) {
		struct fsc_seg_slice a;

		st = fsc_seg_slice(&a, q->s, q->heap.v[i].id, q->err);
		if (st == FSC_OK && !fsc_vec_push(&q->out->v, a))
			st = fsc_err_set(q->err, FSC_ENOMEM, NULL, "segment: no memory for hits");
	}
	return st;
}

enum fsc_status fsc_seg_search(struct fsc_seg_hits *out, const struct fsc_seg *s, const char *text,
			       int64_t t0, int64_t t1, uint32_t limit, uint32_t n_strip,
			       struct fsc_err *err)
{
	struct search q = { .s = s, .out = out, .err = err };
	enum fsc_status st = FSC_OK;

	memset(out, 0, sizeof(*out));
	if (t0 >= t1 || n_strip > MAX_STRIP)
		return fsc_err_set(err, FSC_EINVAL, NULL,
				   "segment: bad window or strip of a search");
	q.t0 = fsc_seg_clamp_time(t0);
	q.t1 = fsc_seg_clamp_time(t1);
	q.limit = limit < MAX_HITS ? limit : MAX_HITS;
	q.matches = fsc_alloc((size_t)s->h.n_classes + 1, 1);
	q.seen = fsc_alloc((size_t)s->h.n_strings + 1, 1);
	q.scratch = fsc_alloc(FSC_SEG_SEARCH_NAME, 1);
	q.ts = fsc_alloc(FSC_SEG_BLOCK, sizeof(*q.ts));
	q.dur = fsc_alloc(FSC_SEG_BLOCK, sizeof(*q.dur));
	out->n_strip = n_strip;
	out->strip = fsc_alloc((size_t)n_strip + 1, sizeof(*out->strip));
	if (!q.matches || !q.seen || !q.scratch || !q.ts || !q.dur || !out->strip)
		st = fsc_err_set(err, FSC_ENOMEM, NULL, "segment: no memory to search");
	if (st == FSC_OK && match_classes(&q, text))
		st = search_all(&q);
	if (st == FSC_OK)
		st = fsc_seg_stopped(s, err);
	if (st == FSC_OK)
		st = give_hits(&q);
	if (st != FSC_OK)
		fsc_seg_hits_fini(out);
	fsc_free(q.matches);
	fsc_free(q.seen);
	fsc_free(q.scratch);
	fsc_free(q.ts);
	fsc_free(q.dur);
	fsc_vec_fini(&q.heap);
	return st;
}

void fsc_seg_hits_fini(struct fsc_seg_hits *h)
{
	fsc_vec_fini(&h->v);
	fsc_free(h->strip);
	memset(h, 0, sizeof(*h));
}
