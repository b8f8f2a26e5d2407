/* SPDX-License-Identifier: Apache-2.0 */
/* Flow ends by slice; see the header. */
#include "export/flow_ends.h"

#include <stdlib.h>

static int by_slice(const void *a, const void *b)
{
	const struct fsc_flow_end *x = a, *y = b;

	if (x->slice != y->slice)
		return x->slice < y->slice ? -1 : 1;
	return x->flow < y->flow ? -1 : x->flow > y->flow;
}

enum fsc_status fsc_flow_ends_init(struct fsc_flow_ends *e, const struct fsc_seg *seg,
				   struct fsc_err *err)
{
	e->flows = fsc_seg_flows(seg, &e->n);
	for (uint32_t i = 0; i < e->n; i++) {
		struct fsc_flow_end end = { e->flows[i].to, i };

		if (!fsc_vec_push(&e->ins, end))
			return fsc_err_set(err, FSC_ENOMEM, NULL, "export: no memory for flows");
	}
	if (e->ins.n)
		qsort(e->ins.v, e->ins.n, sizeof(*e->ins.v), by_slice);
	return FSC_OK;
}

void fsc_flow_ends_fini(struct fsc_flow_ends *e)
{
	fsc_vec_fini(&e->ins);
}

uint32_t fsc_flow_ends_first_out(const struct fsc_flow_ends *e, uint32_t slice)
{
	uint32_t lo = 0, hi = e->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (e->flows[mid].from < slice)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

size_t fsc_flow_ends_first_in(const struct fsc_flow_ends *e, uint32_t slice)
{
	size_t lo = 0, hi = e->ins.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (e->ins.v[mid].slice < slice)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}
