/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the analyses over the collected rows. */
#include "analysis/analysis.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/breakdown.h"
#include "analysis/idle.h"
#include "analysis/kernels.h"
#include "analysis/rows.h"
#include "analysis/steps.h"

static int by_name(const void *a, const void *b, void *segment)
{
	const struct fsc_category_row *x = a, *y = b;
	const struct fsc_seg *s = segment;

	return strcmp(fsc_seg_str(s, x->name, NULL), fsc_seg_str(s, y->name, NULL));
}

static void take_categories(struct fsc_analysis *out, struct fsc_rows *rows,
			    const struct fsc_seg *s)
{
	out->categories.v = rows->categories.v;
	out->categories.n = rows->categories.n;
	out->categories.cap = rows->categories.cap;
	memset(&rows->categories, 0, sizeof(rows->categories));
	if (out->categories.n)
		qsort_r(out->categories.v, out->categories.n, sizeof(*out->categories.v), by_name,
			(void *)(uintptr_t)s);
}

enum fsc_status fsc_analyse(struct fsc_analysis *out, const struct fsc_seg *s,
			    const struct fsc_analysis_scope *scope, struct fsc_err *err)
{
	struct fsc_rows rows;

	memset(out, 0, sizeof(*out));
	out->scope = *scope;
	enum fsc_status st = fsc_rows_collect(&rows, s, scope, err);
	if (st != FSC_OK)
		return st;
	out->launch = rows.launch;
	take_categories(out, &rows, s);
	if (!fsc_breakdown(out, &rows) || !fsc_idle(out, &rows) || !fsc_kernels(out, &rows, s) ||
	    !fsc_steps(out, &rows)) {
		fsc_analysis_fini(out);
		st = fsc_err_set(err, FSC_ENOMEM, NULL, "analysis: out of memory");
	}
	fsc_rows_fini(&rows);
	return st;
}

void fsc_analysis_fini(struct fsc_analysis *a)
{
	fsc_vec_fini(&a->devices);
	fsc_vec_fini(&a->idle);
	fsc_vec_fini(&a->kernels);
	fsc_vec_fini(&a->steps);
	fsc_vec_fini(&a->categories);
}
