/* SPDX-License-Identifier: Apache-2.0 */
/* The finishing half of the builder: the order of its stages, and the small tables. */
#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "model/build_int.h"
#include "model/sort.h"
#include "model/validate.h"

/* Gives the slack of the columns back, so that the writers that follow find the memory. */
static void shrink_column(void *column, size_t n, size_t size)
{
	void **p = column;
	void *g = fsc_realloc(*p, n ? n : 1, size);
	if (g)
		*p = g;
}

static void shrink_slices(struct fsc_slices *s)
{
	if (!s->cap)
		return;
	shrink_column(&s->ts, s->n, sizeof(*s->ts));
	shrink_column(&s->dur, s->n, sizeof(*s->dur));
	shrink_column(&s->correlation, s->n, sizeof(*s->correlation));
	shrink_column(&s->track, s->n, sizeof(*s->track));
	shrink_column(&s->name, s->n, sizeof(*s->name));
	shrink_column(&s->args, s->n, sizeof(*s->args));
	shrink_column(&s->cat, s->n, sizeof(*s->cat));
	shrink_column(&s->depth, s->n, sizeof(*s->depth));
	shrink_column(&s->kind, s->n, sizeof(*s->kind));
	shrink_column(&s->flags, s->n, sizeof(*s->flags));
	s->cap = s->n;
}

static bool counter_before(const void *ctx, uint32_t i, uint32_t k)
{
	const struct fsc_build_counter_ev *c = ctx;
	return c[i].ts < c[k].ts;
}

/* One track's samples, in time order, behind those of the tracks before it. */
static void take_samples(struct fsc_build *b, uint32_t track, uint32_t *perm, uint32_t n,
			 uint32_t *tmp)
{
	struct fsc_track *t = &b->t->tracks.v[track];
	fsc_sort_u32(perm, n, tmp, counter_before, b->counters.v);
	t->first = (uint32_t)b->t->counters.n;
	t->n = n;
	t->depths = 1;
	for (uint32_t i = 0; i < n; i++) {
		const struct fsc_build_counter_ev *c = &b->counters.v[perm[i]];
		b->t->counters.v[b->t->counters.n++] =
			(struct fsc_counter_sample){ .ts = c->ts, .value = c->value };
	}
}

/* Counter samples by (track, ts) into the trace, and the ranges of their tracks. */
static enum fsc_status finish_counters(struct fsc_build *b)
{
	size_t n = b->counters.n, n_tracks = b->t->tracks.n;
	enum fsc_status st = FSC_ENOMEM;
	uint32_t *perm = fsc_realloc(NULL, n + 1, sizeof(*perm));
	uint32_t *key = fsc_realloc(NULL, n + 1, sizeof(*key));
	uint32_t *first = fsc_realloc(NULL, n_tracks + 2, sizeof(*first));
	if (!perm || !key || !first || !fsc_vec_reserve(&b->t->counters, n))
		goto out;
	for (size_t i = 0; i < n; i++)
		key[i] = b->counters.v[i].track;
	fsc_build_group(perm, first, (uint32_t)n_tracks, key, n);
	for (uint32_t k = 0; k < n_tracks; k++)
		if (b->t->tracks.v[k].kind == FSC_TRACK_COUNTER)
			take_samples(b, k, perm + first[k], first[k + 1] - first[k], key);
	st = FSC_OK;
out:
	fsc_free(first);
	fsc_free(key);
	fsc_free(perm);
	fsc_vec_fini(&b->counters);
	return st;
}

/* Rows of both typed tables begin with their slice. */
static bool row_before(const void *ctx, uint32_t i, uint32_t k)
{
	const uint32_t *slice = ctx;
	return slice[i] < slice[k];
}

/* Renumbers the slices of n rows of the given size, drops rows whose slice is gone, orders the rest. */
static enum fsc_status finish_rows(void **rows, size_t *n_rows, size_t size, const uint32_t *at)
{
	size_t n = *n_rows, kept = 0;
	enum fsc_status st = FSC_ENOMEM;
	uint32_t *perm = fsc_realloc(NULL, n + n / 2 + 2, sizeof(*perm));
	uint32_t *slice = fsc_realloc(NULL, n + 1, sizeof(*slice));
	char *from = *rows, *to = fsc_realloc(NULL, n + 1, size);
	if (!perm || !slice || !to)
		goto out;
	for (size_t i = 0; i < n; i++) {
		memcpy(&slice[i], from + i * size, sizeof(*slice));
		slice[i] = at[slice[i]];
		if (slice[i] != FSC_NO_SLICE)
			perm[kept++] = (uint32_t)i;
	}
	fsc_sort_u32(perm, kept, perm + n, row_before, slice);
	for (size_t i = 0; i < kept; i++) {
		memcpy(to + i * size, from + perm[i] * size, size);
		memcpy(to + i * size, &slice[perm[i]], sizeof(*slice));
	}
	*n_rows = kept;
	*rows = to;
	to = from;
	st = FSC_OK;
out:
	fsc_free(to);
	fsc_free(slice);
	fsc_free(perm);
	return st;
}

static_assert(offsetof(struct fsc_launch, slice) == 0, "finish_rows");
static_assert(offsetof(struct fsc_collective, slice) == 0, "finish_rows");

static enum fsc_status finish_typed_rows(struct fsc_trace *t, const uint32_t *at)
{
	enum fsc_status st = FSC_OK;
	void *rows = t->launches.v;
	if (t->launches.n)
		st = finish_rows(&rows, &t->launches.n, sizeof(*t->launches.v), at);
	t->launches.v = rows;
	t->launches.cap = t->launches.n;
	rows = t->collectives.v;
	if (st == FSC_OK && t->collectives.n)
		st = finish_rows(&rows, &t->collectives.n, sizeof(*t->collectives.v), at);
	t->collectives.v = rows;
	t->collectives.cap = t->collectives.n;
	return st;
}

static enum fsc_status run(struct fsc_build *b)
{
	uint32_t *at = NULL;
	fsc_build_where(b, NULL, NULL);
	enum fsc_status st = fsc_build_match(b);
	if (st == FSC_OK)
		st = fsc_build_merge_args(b);
	if (st == FSC_OK)
		st = fsc_build_times(b);
	if (st == FSC_OK)
		st = fsc_build_order_tracks(b);
	if (st == FSC_OK)
		st = fsc_build_rows(&at, b);
	if (st == FSC_OK)
		st = fsc_build_pair_flows(b, at);
	if (st == FSC_OK)
		st = finish_typed_rows(b->t, at);
	if (st == FSC_OK)
		st = finish_counters(b);
	fsc_free(at);
	if (st == FSC_OK)
		st = fsc_args_finish(b->t->args);
	if (st != FSC_OK)
		return st;
	shrink_slices(&b->t->slices);
	for (uint32_t i = 0; i < b->t->slices.n; i++)
		b->t->n_instants += b->t->slices.flags[i] & FSC_SLICE_INSTANT;
	return FSC_OK;
}

enum fsc_status fsc_build_finish(struct fsc_trace **out, struct fsc_build *b, struct fsc_err *err)
{
	enum fsc_status st = run(b);
	*out = NULL;
	if (st == FSC_ELIMIT)
		return fsc_err_set(err, st, "too_many_events",
				   "trace has more processes or tracks than allowed");
	if (st != FSC_OK)
		return fsc_err_set(err, st, NULL, "no memory to order the trace");
#if FSC_SANITIZED
	/* Sanitizer builds are test builds: what every reader builds is checked there. */
	st = fsc_trace_validate(b->t, err);
	if (st != FSC_OK)
		return st;
#endif
	*out = b->t;
	b->t = NULL;
	return FSC_OK;
}
