/* SPDX-License-Identifier: Apache-2.0 */
/* Exact busy time of rows, from raw slices. */
#include "segment/ivals.h"
#include "segment/seg_internal.h"
#include "segment/seg_query.h"

static enum fsc_status add_row(struct fsc_ivals *u, const struct fsc_seg *s, uint32_t row,
			       int64_t t0, int64_t t1, struct fsc_err *err)
{
	struct fsc_seg_iter it;
	struct fsc_seg_slice a;
	enum fsc_status st = fsc_seg_iter_init(&it, s, row, t0, t1, err);

	while (st == FSC_OK) {
		st = fsc_seg_iter_next(&it, &a, err);
		if (st != FSC_OK)
			break;
		int64_t from = a.ts < t0 ? t0 : a.ts, to = a.ts + a.dur > t1 ? t1 : a.ts + a.dur;

		if (!fsc_ivals_add(u, from, to))
			st = FSC_ENOMEM;
	}
	fsc_seg_iter_fini(&it);
	if (st == FSC_END)
		st = fsc_ivals_end_row(u) ? FSC_OK : FSC_ENOMEM;
	return st == FSC_ENOMEM ? fsc_err_set(err, st, NULL, "segment: no memory for busy time")
				: st;
}

enum fsc_status fsc_seg_busy_exact(int64_t *busy_ns, const struct fsc_seg *s, const uint32_t *rows,
				   uint32_t n_rows, int64_t t0, int64_t t1, struct fsc_err *err)
{
	struct fsc_ivals u = { 0 };
	enum fsc_status st = FSC_OK;

	*busy_ns = 0;
	t0 = fsc_seg_clamp_time(t0);
	t1 = fsc_seg_clamp_time(t1);
	for (uint32_t i = 0; i < n_rows && st == FSC_OK; i++) {
		st = fsc_seg_stopped(s, err);
		if (st != FSC_OK)
			break;
		if (rows[i] >= s->h.n_rows)
			st = fsc_err_set(err, FSC_ENOTFOUND, "no_such_row", "segment: no row %u",
					 rows[i]);
		else
			st = add_row(&u, s, rows[i], t0, t1, err);
	}
	if (st == FSC_OK)
		*busy_ns = fsc_ivals_sum(&u);
	fsc_ivals_fini(&u);
	return st;
}
