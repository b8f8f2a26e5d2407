/* SPDX-License-Identifier: Apache-2.0 */
/* Busy and idle time of each ProfilerStep. */
#include "analysis/steps.h"

#include "base/alloc.h"
#include "base/num.h"

static bool in_scope(const struct fsc_analysis_scope *scope, const struct fsc_rows *rows, size_t i)
{
	int64_t number = rows->steps.v[i].number;

	if (scope->steps == FSC_STEPS_RANGE)
		return number >= scope->first && number <= scope->last;
	return scope->steps == FSC_STEPS_ALL || rows->steps.n < 2 || i + 1 < rows->steps.n;
}

/* Steps of a hostile trace may all span everything, so each is answered by two searches. */
static bool put_steps(struct fsc_analysis *out, const struct fsc_rows *rows,
		      const struct fsc_spans *busy, const int64_t *sums)
{
	for (size_t i = 0; i < rows->steps.n; i++) {
		const struct fsc_step_mark *m = &rows->steps.v[i];
		struct fsc_step_row row = { .name = m->name, .number = m->number, .t0 = m->ts };

		if (!in_scope(&out->scope, rows, i))
			continue;
		row.dur_ns = fsc_sub_i64_sat(m->end, m->ts);
		row.busy_ns = fsc_spans_total_before(busy, sums, m->end) -
			      fsc_spans_total_before(busy, sums, m->ts);
		row.idle_ns = row.dur_ns - row.busy_ns;
		if (!fsc_vec_push(&out->steps, row))
			return false;
	}
	return true;
}

bool fsc_steps(struct fsc_analysis *out, const struct fsc_rows *rows)
{
	struct fsc_spans busy = { .v = { 0 } };
	int64_t *sums = NULL;
	bool ok = true;

	out->n_steps_total = (uint32_t)rows->steps.n;
	if (!rows->steps.n)
		return true;
	for (size_t i = 0; ok && i < rows->gpu.n; i++)
		ok = fsc_spans_add(&busy, rows->gpu.v[i].ts, rows->gpu.v[i].end);
	ok = ok && fsc_spans_normalise(&busy);
	if (ok)
		sums = fsc_spans_sums(&busy);
	ok = sums && put_steps(out, rows, &busy, sums);
	fsc_free(sums);
	fsc_spans_fini(&busy);
	return ok;
}
