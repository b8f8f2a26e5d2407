/* SPDX-License-Identifier: Apache-2.0 */
/* Side tables: launches, collectives, correlations, flows, counters. All were checked at open. */
#include "segment/seg_internal.h"

const struct fsc_launch *fsc_seg_launches(const struct fsc_seg *s, uint32_t *n)
{
	*n = s->h.n_launches;
	return s->launches;
}

const struct fsc_collective *fsc_seg_collectives(const struct fsc_seg *s, uint32_t *n)
{
	*n = s->h.n_collectives;
	return s->collectives;
}

enum fsc_status fsc_seg_launch(struct fsc_launch *out, const struct fsc_seg *s, uint32_t slice)
{
	uint32_t lo = 0, hi = s->h.n_launches;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (s->launches[mid].slice < slice)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == s->h.n_launches || s->launches[lo].slice != slice)
		return FSC_ENOTFOUND;
	*out = s->launches[lo];
	return FSC_OK;
}

enum fsc_status fsc_seg_collective(struct fsc_collective *out, const struct fsc_seg *s,
				   uint32_t slice)
{
	uint32_t lo = 0, hi = s->h.n_collectives;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (s->collectives[mid].slice < slice)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == s->h.n_collectives || s->collectives[lo].slice != slice)
		return FSC_ENOTFOUND;
	*out = s->collectives[lo];
	return FSC_OK;
}

/* ---- correlations ---- */

static int64_t corr_at(const struct fsc_seg_part *p, uint64_t i, uint32_t *slice)
{
	if (p->elem == sizeof(struct fsc_seg_d_corr32)) {
		const struct fsc_seg_d_corr32 *e = (const void *)p->p;

		*slice = e[i].slice;
		return e[i].correlation;
	}
	const struct fsc_seg_d_corr *e = (const void *)p->p;

	*slice = e[i].slice;
	return e[i].correlation;
}

uint32_t fsc_seg_correlated(const struct fsc_seg *s, uint32_t slice, uint32_t *ids, uint32_t cap)
{
	const struct fsc_seg_part *p;
	struct fsc_seg_slice of;
	uint64_t lo = 0, hi, n;
	uint32_t id, found = 0;

	if (fsc_seg_slice(&of, s, slice, NULL) != FSC_OK || of.correlation == FSC_NO_CORRELATION)
		return 0;
	if (fsc_seg_is_call(of.kind, s->tracks[of.track].kind))
		p = &s->part[FSC_SEG_CORR_GPU];
	else if (fsc_kind_is_gpu_work(of.kind) || of.kind == FSC_KIND_SYNC)
		p = &s->part[FSC_SEG_CORR_CALL];
	else
		return 0;
	n = hi = p->bytes / p->elem;
	while (lo < hi) {
		uint64_t mid = lo + (hi - lo) / 2;

		if (corr_at(p, mid, &id) < of.correlation)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < n && corr_at(p, lo, &id) == of.correlation; lo++) {
		if (found < cap)
			ids[found] = id;
		found++;
	}
	return found;
}

/* ---- flows ---- */

const struct fsc_flow *fsc_seg_flows(const struct fsc_seg *s, uint32_t *n)
{
	*n = s->h.n_flows;
	return s->flows;
}

static uint32_t flows_from(const struct fsc_seg *s, uint32_t slice)
{
	uint32_t lo = 0, hi = s->h.n_flows;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (s->flows[mid].from < slice)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

uint32_t fsc_seg_flows_to_range(const struct fsc_seg *s, uint32_t slice, uint32_t *first)
{
	uint32_t lo = 0, hi = s->h.n_flows, n = 0;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (s->flows[s->flows_by_to[mid]].to < slice)
			lo = mid + 1;
		else
			hi = mid;
	}
	*first = lo;
	while (lo + n < s->h.n_flows && s->flows[s->flows_by_to[lo + n]].to == slice)
		n++;
	return n;
}

uint32_t fsc_seg_flows_of(const struct fsc_seg *s, uint32_t slice, struct fsc_flow *out,
			  uint32_t cap)
{
	uint32_t found = 0, first, n;

	for (uint32_t i = flows_from(s, slice); i < s->h.n_flows && s->flows[i].from == slice;
	     i++) {
		if (found < cap)
			out[found] = s->flows[i];
		found++;
	}
	n = fsc_seg_flows_to_range(s, slice, &first);
	for (uint32_t i = first; i < first + n; i++) {
		const struct fsc_flow *f = &s->flows[s->flows_by_to[i]];

		if (f->from == slice)
			continue; /* already given */
		if (found < cap)
			out[found] = *f;
		found++;
	}
	return found;
}

const struct fsc_counter_sample *fsc_seg_counters(const struct fsc_seg *s, uint32_t track,
						  uint32_t *n)
{
	*n = s->tracks[track].n_counters;
	return s->counters + s->tracks[track].first_counter;
}
