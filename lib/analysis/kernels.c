/* SPDX-License-Identifier: Apache-2.0 */
/* Groups GPU rows by (name, kind). */
#include "analysis/kernels.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/idmap.h"
#include "base/num.h"

static void add_row(struct fsc_kernel_row *k, const struct fsc_gpu_row *g)
{
	int64_t dur = fsc_sub_i64_sat(g->end, g->ts);

	if (!k->count || dur < k->min_ns)
		k->min_ns = dur;
	if (!k->count || dur > k->max_ns)
		k->max_ns = dur;
	if (!k->count || g->ts < k->first_ts) {
		k->first_ts = g->ts;
		k->first_track = g->track;
		k->first_slice = g->id;
	}
	k->sum_ns = fsc_add_i64_sat(k->sum_ns, dur);
	k->count++;
}

static int most_time_first(const void *a, const void *b, void *segment)
{
	const struct fsc_kernel_row *x = a, *y = b;
	const struct fsc_seg *s = segment;

	if (x->sum_ns != y->sum_ns)
		return x->sum_ns > y->sum_ns ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	int c = strcmp(fsc_seg_str(s, x->name, NULL), fsc_seg_str(s, y->name, NULL));
	return c ? c : (int)x->kind - (int)y->kind;
}

bool fsc_kernels(struct fsc_analysis *out, const struct fsc_rows *rows, const struct fsc_seg *s)
{
	struct fsc_idmap of = { 0 };
	bool ok = true;

	for (size_t i = 0; ok && i < rows->gpu.n; i++) {
		const struct fsc_gpu_row *g = &rows->gpu.v[i];
		uint32_t index = 0;

		if (!g->in_scope)
			continue;
		ok = fsc_idmap_get(&index, &of, (uint64_t)g->name << 8 | g->kind,
				   (uint32_t)out->kernels.n);
		if (ok && index == out->kernels.n)
			ok = fsc_vec_push(&out->kernels,
					  ((struct fsc_kernel_row){ .name = g->name,
								    .kind = g->kind }));
		if (ok)
			add_row(&out->kernels.v[index], g);
	}
	fsc_idmap_fini(&of);
	if (ok && out->kernels.n)
		qsort_r(out->kernels.v, out->kernels.n, sizeof(*out->kernels.v), most_time_first,
			(void *)(uintptr_t)s);
	return ok;
}
