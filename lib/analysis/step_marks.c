/* SPDX-License-Identifier: Apache-2.0 */
/* Step marks of serving engines, and of the profiler's own window. */
#include "analysis/step_marks.h"

#include <string.h>

#include "analysis/run_sort.h"
#include "base/num.h"

static bool starts(const char *s, size_t n, const char *prefix)
{
	size_t k = strlen(prefix);

	return n >= k && !memcmp(s, prefix, k);
}

static bool is_execute(const char *s, size_t n)
{
	static const char prefix[] = "execute_";
	const size_t k = sizeof(prefix) - 1;

	if (!starts(s, n, prefix) || n == k)
		return false;
	s += k;
	n -= k;
	return (*s >= '0' && *s <= '9') || starts(s, n, "context_") || starts(s, n, "new_") ||
	       starts(s, n, "diffusion_");
}

enum fsc_step_mark_kind fsc_step_marks_name(const char *name, size_t n)
{
	if (starts(name, n, "step[") && name[n - 1] == ']')
		return FSC_MARK_STEP;
	if (is_execute(name, n))
		return FSC_MARK_EXECUTE;
	if (starts(name, n, "Iteration Start"))
		return FSC_MARK_ITERATION;
	return starts(name, n, "Record Window End") ? FSC_MARK_END : FSC_MARK_NONE;
}

bool fsc_step_marks_take(struct fsc_step_marks *m, const struct fsc_seg *s,
			 const struct fsc_seg_slice *sl)
{
	size_t len = 0;
	const char *name = fsc_seg_str(s, sl->name, &len);
	enum fsc_step_mark_kind kind = fsc_step_marks_name(name, len);
	bool instant = sl->flags & FSC_SLICE_INSTANT;
	bool wants_instant = kind == FSC_MARK_ITERATION || kind == FSC_MARK_END;
	struct fsc_step_mark mark = { .ts = sl->ts,
				      .end = fsc_add_i64_sat(sl->ts, sl->dur),
				      .name = sl->name };

	if (instant != wants_instant)
		return true;
	if (instant || sl->kind == FSC_KIND_USER)
		return fsc_vec_push(&m->of[kind].host, mark);
	return sl->kind != FSC_KIND_GPU_ANNOTATION || fsc_vec_push(&m->of[kind].gpu, mark);
}

static bool mark_before(const void *a, const void *b)
{
	const struct fsc_step_mark *x = a, *y = b;

	return x->ts != y->ts ? x->ts < y->ts : x->end > y->end;
}

static bool put_ranges(struct fsc_rows *rows, struct fsc_step_mark *v, size_t n)
{
	if (!fsc_run_sort(v, n, sizeof(*v), mark_before))
		return false;
	for (size_t i = 0; i < n; i++) {
		v[i].number = (int64_t)i;
		if (!fsc_vec_push(&rows->steps, v[i]))
			return false;
	}
	return true;
}

/* From each start to the next one or to the end of the window before that; n of them come from one moment. */
static bool put_iterations(struct fsc_rows *rows, struct fsc_step_mark_list *start,
			   struct fsc_step_mark_list *end, int64_t t_max_ns)
{
	struct fsc_step_mark *v = start->host.v;
	size_t n = start->host.n, kept = 0, e = 0;

	if (!fsc_run_sort(v, n, sizeof(*v), mark_before) ||
	    !fsc_run_sort(end->host.v, end->host.n, sizeof(*v), mark_before))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!kept || v[kept - 1].ts != v[i].ts)
			v[kept++] = v[i];
	for (size_t i = 0; kept > 1 && i < kept; i++) {
		v[i].number = (int64_t)i;
		v[i].end = i + 1 < kept ? v[i + 1].ts : t_max_ns;
		while (e < end->host.n && end->host.v[e].ts <= v[i].ts)
			e++;
		if (e < end->host.n && end->host.v[e].ts < v[i].end)
			v[i].end = end->host.v[e].ts;
		if (v[i].end < v[i].ts)
			v[i].end = v[i].ts;
		if (!fsc_vec_push(&rows->steps, v[i]))
			return false;
	}
	return true;
}

bool fsc_step_marks_settle(struct fsc_step_marks *m, struct fsc_rows *rows, int64_t t_max_ns)
{
	static const enum fsc_step_mark_kind ranges[] = { FSC_MARK_STEP, FSC_MARK_EXECUTE };

	for (size_t i = 0; i < FSC_ARRAY_LEN(ranges); i++) {
		struct fsc_step_mark_list *l = &m->of[ranges[i]];

		if (l->host.n)
			return put_ranges(rows, l->host.v, l->host.n);
	}
	for (size_t i = 0; i < FSC_ARRAY_LEN(ranges); i++) {
		struct fsc_step_mark_list *l = &m->of[ranges[i]];

		if (l->gpu.n)
			return put_ranges(rows, l->gpu.v, l->gpu.n);
	}
	return put_iterations(rows, &m->of[FSC_MARK_ITERATION], &m->of[FSC_MARK_END], t_max_ns);
}

void fsc_step_marks_fini(struct fsc_step_marks *m)
{
	for (size_t i = 0; i < FSC_MARK_KINDS; i++) {
		fsc_vec_fini(&m->of[i].host);
		fsc_vec_fini(&m->of[i].gpu);
	}
}
