/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the host call that launched a piece of GPU work, by correlation. */
#include "base/alloc.h"
#include "model/build_int.h"
#include "model/sort.h"

static bool is_call(const struct fsc_trace *t, uint32_t i)
{
	const struct fsc_slices *s = &t->slices;
	if (s->correlation[i] == FSC_NO_CORRELATION)
		return false;
	return s->kind[i] == FSC_KIND_RUNTIME ||
	       (s->kind[i] == FSC_KIND_SYNC && t->tracks.v[s->track[i]].kind == FSC_TRACK_THREAD);
}

static bool call_before(const void *ctx, uint32_t i, uint32_t k)
{
	const struct fsc_slices *s = ctx;
	if (s->correlation[i] != s->correlation[k])
		return s->correlation[i] < s->correlation[k];
	return s->ts[i] < s->ts[k];
}

static enum fsc_status collect(struct fsc_build_calls *c, const struct fsc_trace *t)
{
	size_t n = 0;
	for (uint32_t i = 0; i < t->slices.n; i++)
		n += is_call(t, i);
	c->v = fsc_realloc(NULL, n + n / 2 + 2, sizeof(*c->v));
	if (!c->v)
		return FSC_ENOMEM;
	for (uint32_t i = 0; i < t->slices.n; i++)
		if (is_call(t, i))
			c->v[c->n++] = i;
	fsc_sort_u32(c->v, c->n, c->v + c->n, call_before, &t->slices);
	c->made = true;
	return FSC_OK;
}

/* First of c->v that is behind (correlation, ts). */
static uint32_t behind(const struct fsc_build_calls *c, const struct fsc_slices *s,
		       int64_t correlation, int64_t ts)
{
	uint32_t lo = 0, hi = c->n;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2, i = c->v[mid];
		if (s->correlation[i] < correlation ||
		    (s->correlation[i] == correlation && s->ts[i] <= ts))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

enum fsc_status fsc_build_call_of(uint32_t *call, struct fsc_build_calls *c,
				  const struct fsc_trace *t, uint32_t gpu)
{
	const struct fsc_slices *s = &t->slices;
	int64_t correlation = s->correlation[gpu];
	enum fsc_status st = c->made ? FSC_OK : collect(c, t);
	*call = FSC_NO_SLICE;
	if (st != FSC_OK)
		return st;
	uint32_t k = behind(c, s, correlation, s->ts[gpu]);
	if (k > 0 && s->correlation[c->v[k - 1]] == correlation)
		*call = c->v[k - 1];
	else if (k < c->n && s->correlation[c->v[k]] == correlation)
		*call = c->v[k];
	return FSC_OK;
}
