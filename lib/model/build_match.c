/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Begins and their ends. Matching is by time within a track, in file order at equal times; an end closes the
 * innermost open begin whose name and category agree (what it leaves out agrees with everything). An end
 * that closes one further out leaves those inside open for ends of their own: the slices then overlap partly
 * and are kept so, counted as "misplaced_end". Ends with no begin are counted as "end_without_begin".
 */
#include "base/alloc.h"
#include "base/limits.h"
#include "model/build_int.h"
#include "model/sort.h"

/* Begins that an end looks at: more than any row can hold, and a bound on what a made file can cost. */
#define MAX_LOOK (2 * FSC_MAX_NEST)

struct stack {
	FSC_VEC(uint32_t) open; /* indexes of halves */
};

static bool half_before(const void *ctx, uint32_t i, uint32_t k)
{
	const struct fsc_build_half *h = ctx;
	if (h[i].track != h[k].track)
		return h[i].track < h[k].track;
	return h[i].ts < h[k].ts;
}

static bool agrees(const struct fsc_build_half *begin, const struct fsc_build_half *end)
{
	return (!end->name || end->name == begin->name) &&
	       (end->cat == FSC_BUILD_NO_CAT || end->cat == begin->cat);
}

/* False when memory is gone. */
static bool close_begin(struct fsc_build *b, struct stack *s, const struct fsc_build_half *end)
{
	struct fsc_slices *sl = &b->t->slices;
	size_t k = s->open.n, last = k > MAX_LOOK ? k - MAX_LOOK : 0;
	while (k > last && !agrees(&b->halves.v[s->open.v[k - 1]], end))
		k--;
	if (k == last) {
		fsc_build_loss_at(b, "end_without_begin", 1, end->at);
		return true;
	}
	const struct fsc_build_half *begin = &b->halves.v[s->open.v[k - 1]];
	if (k != s->open.n)
		fsc_build_loss_at(b, "misplaced_end", 1, end->at);
	if (__builtin_sub_overflow(end->ts, begin->ts, &sl->dur[begin->slice]) ||
	    sl->dur[begin->slice] < 0)
		sl->dur[begin->slice] = 0;
	struct fsc_build_args_pair both = { .slice = begin->slice,
					    .begin = sl->args[begin->slice],
					    .end = end->args };
	for (; k < s->open.n; k++)
		s->open.v[k - 1] = s->open.v[k];
	s->open.n--;
	if (both.end == FSC_NO_ARGS)
		return true;
	if (both.begin != FSC_NO_ARGS)
		return fsc_vec_push(&b->args_pairs, both);
	sl->args[both.slice] = both.end;
	return true;
}

/* The begins of a track that nothing ended. */
static void leave_open(struct fsc_build *b, struct stack *s)
{
	for (size_t i = 0; i < s->open.n; i++) {
		int64_t at = b->halves.v[s->open.v[i]].at;
		if (at >= 0 && (b->open_at < 0 || at < b->open_at))
			b->open_at = at;
	}
	s->open.n = 0;
}

enum fsc_status fsc_build_match(struct fsc_build *b)
{
	size_t n = b->halves.n;
	enum fsc_status st = FSC_ENOMEM;
	struct stack s = { .open = { .n = 0 } };
	uint32_t *perm = fsc_realloc(NULL, n + n / 2 + 2, sizeof(*perm));
	if (!perm)
		return st;
	for (size_t i = 0; i < n; i++)
		perm[i] = (uint32_t)i;
	fsc_sort_u32(perm, n, perm + n, half_before, b->halves.v);
	uint32_t track = FSC_NO_TRACK;
	b->open_at = -1;
	for (size_t i = 0; i < n; i++) {
		const struct fsc_build_half *h = &b->halves.v[perm[i]];
		if (h->track != track)
			leave_open(b, &s);
		track = h->track;
		if (h->slice == FSC_NO_SLICE ? !close_begin(b, &s, h)
					     : !fsc_vec_push(&s.open, perm[i]))
			goto out;
	}
	leave_open(b, &s);
	st = FSC_OK;
out:
	fsc_vec_fini(&s.open);
	fsc_vec_fini(&b->halves);
	fsc_free(perm);
	return st;
}
