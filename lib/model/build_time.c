/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time base. A broken stamp (GPU records out of range, a zero among epoch times) would stretch every
 * view to years, so events further than FSC_PLAUSIBLE_NS from the median start are left out and counted as
 * "implausible_time". The earliest plausible event becomes 0.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/num.h"
#include "model/build_int.h"

#define FSC_PLAUSIBLE_NS (31LL * 24 * 3600 * 1000000000LL)
#define SAMPLES 1023u
/* 2001-09-09 */
#define EPOCH_MIN 1000000000000000000LL

static int by_value(const void *x, const void *y)
{
	int64_t a = *(const int64_t *)x, c = *(const int64_t *)y;
	return a < c ? -1 : a > c;
}

/* Median of evenly spread starts: cheap, and no fault that touches less than half of the file moves it. */
static int64_t median_start(const struct fsc_build *b)
{
	int64_t v[SAMPLES];
	size_t n = 0, total = b->t->slices.n, step;
	if (total) {
		step = total / SAMPLES + 1;
		for (size_t i = 0; i < total && n < SAMPLES; i += step)
			v[n++] = b->t->slices.ts[i];
	} else {
		step = b->counters.n / SAMPLES + 1;
		for (size_t i = 0; i < b->counters.n && n < SAMPLES; i += step)
			v[n++] = b->counters.v[i].ts;
	}
	if (!n)
		return 0;
	qsort(v, n, sizeof(v[0]), by_value);
	return v[n / 2];
}

/* Drops what lies outside [lo, hi] and finds the first start of the rest. */
static int64_t first_plausible(struct fsc_build *b, int64_t lo, int64_t hi)
{
	struct fsc_slices *s = &b->t->slices;
	uint64_t dropped = 0;
	int64_t first = INT64_MAX;
	for (uint32_t i = 0; i < s->n; i++) {
		if (FSC_UNLIKELY(s->ts[i] < lo || s->ts[i] > hi)) {
			s->track[i] = FSC_NO_TRACK;
			dropped++;
		} else if (s->ts[i] < first) {
			first = s->ts[i];
		}
	}
	for (size_t i = 0; i < b->counters.n; i++) {
		struct fsc_build_counter_ev *c = &b->counters.v[i];
		if (c->ts < lo || c->ts > hi) {
			c->track = FSC_NO_TRACK;
			dropped++;
		} else if (c->ts < first) {
			first = c->ts;
		}
	}
	fsc_build_loss(b, "implausible_time", dropped);
	return first == INT64_MAX ? 0 : first;
}

/* Ends that pass the plausible range are counted, not cut: sums must stay those of the file. */
static void relative_slices(struct fsc_build *b, int64_t first)
{
	struct fsc_slices *s = &b->t->slices;
	uint64_t open = 0, longer = 0;
	int64_t last = 0;
	for (uint32_t i = 0; i < s->n; i++) {
		if (s->track[i] == FSC_NO_TRACK)
			continue;
		s->ts[i] -= first;
		int64_t dur = s->dur[i];
		if (FSC_UNLIKELY(dur == FSC_BUILD_PENDING)) {
			open++;
			dur = 0;
		} else if (FSC_UNLIKELY(dur > FSC_PLAUSIBLE_NS)) {
			longer++;
			if (dur > INT64_MAX - s->ts[i])
				s->dur[i] = dur = INT64_MAX - s->ts[i];
		}
		if (s->ts[i] + dur > last)
			last = s->ts[i] + dur;
	}
	b->t->meta.t_max_ns = last;
	fsc_build_loss(b, "implausible_duration", longer);
	fsc_build_loss_at(b, "begin_without_end", open, b->open_at);
	for (uint32_t i = 0; open && i < s->n; i++) {
		if (s->dur[i] != FSC_BUILD_PENDING || s->track[i] == FSC_NO_TRACK)
			continue;
		s->dur[i] = last - s->ts[i];
		s->flags[i] |= FSC_SLICE_OPEN;
		open--;
	}
}

enum fsc_status fsc_build_times(struct fsc_build *b)
{
	struct fsc_trace_meta *m = &b->t->meta;
	int64_t mid = median_start(b);
	int64_t lo = fsc_sub_i64_sat(mid, FSC_PLAUSIBLE_NS),
		hi = fsc_add_i64_sat(mid, FSC_PLAUSIBLE_NS);
	int64_t first = first_plausible(b, lo, hi);
	relative_slices(b, first);
	for (size_t i = 0; i < b->counters.n; i++)
		b->counters.v[i].ts = fsc_sub_i64_sat(b->counters.v[i].ts, first);
	for (size_t i = 0; i < b->flows.n; i++)
		b->flows.v[i].ts = fsc_sub_i64_sat(b->flows.v[i].ts, first);
	if (b->base_time && first >= EPOCH_MIN) {
		/* Epoch times and a base as well: adding them would land in the next century. */
		fsc_build_loss(b, "base_time_ignored", 1);
		b->base_time = 0;
	}
	m->t_base_ns = fsc_add_i64_sat(first, b->base_time);
	m->has_epoch = fsc_trace_is_epoch(m->t_base_ns);
	m->t_min_ns = 0;
	return FSC_OK;
}
