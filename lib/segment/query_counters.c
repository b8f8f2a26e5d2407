/* SPDX-License-Identifier: Apache-2.0 */
/* Counter samples thinned to pixels: the least and the greatest value that held during each. */
#include <string.h>

#include "segment/seg_internal.h"
#include "segment/seg_query.h"

/* First sample at or after t. */
static uint32_t sample_at(const struct fsc_counter_sample *c, uint32_t n, int64_t t)
{
	uint32_t lo = 0, hi = n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (c[mid].ts < t)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void add_value(struct fsc_seg_counter_point *p, double v)
{
	p->min = v < p->min ? v : p->min;
	p->max = v > p->max ? v : p->max;
	p->last = v;
}

enum fsc_status fsc_seg_counters_minmax(struct fsc_seg_counter_points *out, const struct fsc_seg *s,
					uint32_t track, int64_t t0, int64_t t1, uint32_t px,
					struct fsc_err *err)
{
	const struct fsc_counter_sample *c;
	uint32_t n, i;
	int64_t cell;

	memset(out, 0, sizeof(*out));
	if (fsc_seg_stopped(s, err))
		return FSC_ECANCELED;
	if (track >= s->h.n_tracks)
		return fsc_err_set(err, FSC_ENOTFOUND, "no_such_track", "segment: no track %u",
				   track);
	if (t0 >= t1 || px == 0)
		return fsc_err_set(err, FSC_EINVAL, NULL, "segment: bad window or width");
	t0 = fsc_seg_clamp_time(t0);
	t1 = fsc_seg_clamp_time(t1);
	c = fsc_seg_counters(s, track, &n);
	cell = (t1 - t0) / px + ((t1 - t0) % px != 0);
	i = sample_at(c, n, t0);
	/* The value that holds when the window opens. */
	if (i && t0 < t1 && (i == n || c[i].ts > t0))
		i--;
	while (i < n && c[i].ts < t1) {
		int64_t t = c[i].ts < t0 ? t0 : c[i].ts, end = t0 + ((t - t0) / cell + 1) * cell;
		struct fsc_seg_counter_point p = { t, c[i].value, c[i].value, c[i].value };

		for (i++; i < n && c[i].ts < end && c[i].ts < t1; i++)
			add_value(&p, c[i].value);
		if (!fsc_vec_push(&out->v, p)) {
			fsc_seg_counter_points_fini(out);
			return fsc_err_set(err, FSC_ENOMEM, NULL,
					   "segment: no memory for counters");
		}
	}
	return FSC_OK;
}

void fsc_seg_counter_points_fini(struct fsc_seg_counter_points *p)
{
	fsc_vec_fini(&p->v);
	memset(p, 0, sizeof(*p));
}
