/* SPDX-License-Identifier: Apache-2.0 */
/* Union of intervals by merging sorted rows. */
#include "segment/ivals.h"

/* Moves the cursor to the first interval of v that ends at or after t: by doubling steps, then halving. */
static void seek(struct fsc_ivals *u, int64_t t)
{
	size_t lo = u->cursor, step = 1;

	while (lo + step < u->v.n && u->v.v[lo + step].t1 < t) {
		lo += step;
		step *= 2;
	}
	for (; step; step /= 2)
		while (lo + step < u->v.n && u->v.v[lo + step].t1 < t)
			lo += step;
	if (lo < u->v.n && u->v.v[lo].t1 < t)
		lo++;
	u->cursor = lo;
}

bool fsc_ivals_add(struct fsc_ivals *u, int64_t t0, int64_t t1)
{
	struct fsc_ival iv = { t0, t1 };

	if (t1 <= t0)
		return true;
	seek(u, t1);
	if (u->cursor < u->v.n && u->v.v[u->cursor].t0 <= t0)
		return true;
	if (u->pending.n && u->pending.v[u->pending.n - 1].t1 >= t0) {
		struct fsc_ival *last = &u->pending.v[u->pending.n - 1];

		last->t1 = last->t1 > t1 ? last->t1 : t1;
		return true;
	}
	return fsc_vec_push(&u->pending, iv);
}

static void append_joined(struct fsc_ivals *u, struct fsc_ival iv)
{
	struct fsc_ival *last = u->spare.n ? &u->spare.v[u->spare.n - 1] : NULL;

	if (last && last->t1 >= iv.t0)
		last->t1 = last->t1 > iv.t1 ? last->t1 : iv.t1;
	else
		u->spare.v[u->spare.n++] = iv;
}

bool fsc_ivals_end_row(struct fsc_ivals *u)
{
	size_t i = 0, j = 0;
	struct fsc_ivals was = *u;

	u->cursor = 0;
	if (!u->pending.n)
		return true;
	if (!fsc_vec_reserve(&u->spare, u->v.n + u->pending.n))
		return false;
	u->spare.n = 0;
	while (i < u->v.n || j < u->pending.n) {
		if (j == u->pending.n || (i < u->v.n && u->v.v[i].t0 <= u->pending.v[j].t0))
			append_joined(u, u->v.v[i++]);
		else
			append_joined(u, u->pending.v[j++]);
	}
	was = *u;
	u->v.v = was.spare.v;
	u->v.n = was.spare.n;
	u->v.cap = was.spare.cap;
	u->spare.v = was.v.v;
	u->spare.n = 0;
	u->spare.cap = was.v.cap;
	u->pending.n = 0;
	return true;
}

int64_t fsc_ivals_sum(const struct fsc_ivals *u)
{
	int64_t sum = 0;

	for (size_t i = 0; i < u->v.n; i++)
		sum += u->v.v[i].t1 - u->v.v[i].t0;
	return sum;
}

void fsc_ivals_fini(struct fsc_ivals *u)
{
	fsc_vec_fini(&u->v);
	fsc_vec_fini(&u->pending);
	fsc_vec_fini(&u->spare);
}
