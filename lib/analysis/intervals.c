/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interval sets. Input comes as a few ascending runs (one per row of a track), which the sort makes use of.
 */
#include "analysis/intervals.h"

#include "analysis/run_sort.h"
#include "base/num.h"

void fsc_spans_fini(struct fsc_spans *s)
{
	fsc_vec_fini(&s->v);
}

bool fsc_spans_add(struct fsc_spans *s, int64_t t0, int64_t t1)
{
	if (t1 <= t0)
		return true;
	if (s->v.n) {
		struct fsc_span *last = &s->v.v[s->v.n - 1];

		if (t0 >= last->t0 && t0 <= last->t1) {
			if (t1 > last->t1)
				last->t1 = t1;
			return true;
		}
	}
	return fsc_vec_push(&s->v, ((struct fsc_span){ t0, t1 }));
}

static bool starts_before(const void *a, const void *b)
{
	return ((const struct fsc_span *)a)->t0 < ((const struct fsc_span *)b)->t0;
}

bool fsc_spans_normalise(struct fsc_spans *s)
{
	struct fsc_span *v = NULL;
	size_t out = 0;

	if (!fsc_run_sort(s->v.v, s->v.n, sizeof(*s->v.v), starts_before))
		return false;
	v = s->v.v;
	for (size_t i = 0; i < s->v.n; i++) {
		if (out && v[i].t0 <= v[out - 1].t1) {
			if (v[i].t1 > v[out - 1].t1)
				v[out - 1].t1 = v[i].t1;
		} else {
			v[out++] = v[i];
		}
	}
	s->v.n = out;
	return true;
}

int64_t fsc_spans_total(const struct fsc_spans *s)
{
	int64_t total = 0;

	for (size_t i = 0; i < s->v.n; i++)
		total = fsc_add_i64_sat(total, fsc_sub_i64_sat(s->v.v[i].t1, s->v.v[i].t0));
	return total;
}

/* First interval that ends after t. */
static size_t first_ending_after(const struct fsc_spans *s, int64_t t)
{
	size_t lo = 0, hi = s->v.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->v.v[mid].t1 <= t)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

int64_t fsc_spans_total_in(const struct fsc_spans *s, int64_t t0, int64_t t1)
{
	int64_t total = 0;

	for (size_t i = first_ending_after(s, t0); i < s->v.n && s->v.v[i].t0 < t1; i++) {
		int64_t a = s->v.v[i].t0 > t0 ? s->v.v[i].t0 : t0;
		int64_t b = s->v.v[i].t1 < t1 ? s->v.v[i].t1 : t1;

		if (b > a)
			total = fsc_add_i64_sat(total, fsc_sub_i64_sat(b, a));
	}
	return total;
}

int64_t *fsc_spans_sums(const struct fsc_spans *s)
{
	int64_t *sums = fsc_alloc(s->v.n + 1, sizeof(*sums));

	for (size_t i = 0; sums && i < s->v.n; i++)
		sums[i + 1] = fsc_add_i64_sat(sums[i], fsc_sub_i64_sat(s->v.v[i].t1, s->v.v[i].t0));
	return sums;
}

int64_t fsc_spans_total_before(const struct fsc_spans *s, const int64_t *sums, int64_t t)
{
	size_t i = first_ending_after(s, t);

	if (i == s->v.n || s->v.v[i].t0 >= t)
		return sums[i];
	return fsc_add_i64_sat(sums[i], fsc_sub_i64_sat(t, s->v.v[i].t0));
}

int64_t fsc_spans_common(const struct fsc_spans *a, const struct fsc_spans *b)
{
	size_t i = 0, j = 0;
	int64_t total = 0;

	while (i < a->v.n && j < b->v.n) {
		const struct fsc_span *x = &a->v.v[i], *y = &b->v.v[j];
		int64_t t0 = x->t0 > y->t0 ? x->t0 : y->t0;
		int64_t t1 = x->t1 < y->t1 ? x->t1 : y->t1;

		if (t1 > t0)
			total = fsc_add_i64_sat(total, fsc_sub_i64_sat(t1, t0));
		if (x->t1 < y->t1)
			i++;
		else
			j++;
	}
	return total;
}

bool fsc_spans_union(struct fsc_spans *out, const struct fsc_spans *a, const struct fsc_spans *b)
{
	size_t i = 0, j = 0;

	while (i < a->v.n || j < b->v.n) {
		bool from_a = j == b->v.n || (i < a->v.n && a->v.v[i].t0 <= b->v.v[j].t0);
		struct fsc_span next = from_a ? a->v.v[i++] : b->v.v[j++];

		/* add() merges, since the starts come in order */
		if (!fsc_spans_add(out, next.t0, next.t1))
			return false;
	}
	return true;
}

size_t fsc_spans_gaps(const struct fsc_spans *s)
{
	return s->v.n ? s->v.n - 1 : 0;
}

struct fsc_span fsc_spans_gap(const struct fsc_spans *s, size_t i)
{
	return (struct fsc_span){ s->v.v[i].t1, s->v.v[i + 1].t0 };
}
