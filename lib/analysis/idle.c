/* SPDX-License-Identifier: Apache-2.0 */
/* Gaps of each stream, by what the stream waited for. */
#include "analysis/idle.h"

#include "base/num.h"

static void take_gap(struct fsc_idle_row *out, const struct fsc_gpu_row *prev,
		     const struct fsc_gpu_row *next)
{
	int64_t gap = fsc_sub_i64_sat(next->ts, prev->end);

	if (next->launch_ts != FSC_NO_LAUNCH && next->launch_ts > prev->end) {
		out->host_wait_ns = fsc_add_i64_sat(out->host_wait_ns, gap);
		out->has_host_wait = true;
	} else if (gap < FSC_KERNEL_WAIT_BELOW_NS) {
		out->kernel_wait_ns = fsc_add_i64_sat(out->kernel_wait_ns, gap);
		out->has_kernel_wait = true;
	} else {
		out->other_ns = fsc_add_i64_sat(out->other_ns, gap);
	}
}

bool fsc_idle(struct fsc_analysis *out, const struct fsc_rows *rows)
{
	for (size_t i = 0; i < rows->streams.n; i++) {
		const struct fsc_stream_rows *s = &rows->streams.v[i];
		struct fsc_idle_row row = { .device = s->device, .stream = s->stream };
		const struct fsc_gpu_row *prev = NULL;

		for (size_t k = s->first; k < s->first + s->n; k++) {
			const struct fsc_gpu_row *g = &rows->gpu.v[k];

			if (!g->in_scope)
				continue;
			if (prev)
				take_gap(&row, prev, g);
			prev = g;
		}
		if (prev && !fsc_vec_push(&out->idle, row))
			return false;
	}
	return true;
}
