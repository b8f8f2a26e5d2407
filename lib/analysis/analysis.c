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

static bool copy_categories(struct fsc_analysis *out, const struct fsc_rows *rows,
			    const struct fsc_seg *s)
{
	if (!rows->categories.n)
		return true;
	if (!fsc_vec_reserve(&out->categories, rows->categories.n))
		return false;
	memcpy(out->categories.v, rows->categories.v,
	       rows->categories.n * sizeof(*rows->categories.v));
	out->categories.n = rows->categories.n;
	qsort_r(out->categories.v, out->categories.n, sizeof(*out->categories.v), by_name,
		(void *)(uintptr_t)s);
	return true;
}

static enum fsc_status analyse_scope(struct fsc_analysis *out, struct fsc_rows *rows,
				     const struct fsc_seg *s,
				     const struct fsc_analysis_scope *scope, struct fsc_err *err)
{
	enum fsc_status st = fsc_rows_set_scope(rows, scope, err);

	out->scope = *scope;
	out->launch = rows->launch;
	if (st == FSC_OK &&
	    (!copy_categories(out, rows, s) || !fsc_breakdown(out, rows) || !fsc_idle(out, rows) ||
	     !fsc_kernels(out, rows, s) || !fsc_steps(out, rows)))
		st = fsc_err_set(err, FSC_ENOMEM, NULL, "analysis: out of memory");
	if (st != FSC_OK)
		fsc_analysis_fini(out);
	return st;
}

enum fsc_status fsc_analyse_scopes(struct fsc_analysis *out, const struct fsc_seg *s,
				   const struct fsc_analysis_scope *scopes, size_t n,
				   struct fsc_err *err)
{
	struct fsc_rows rows;
	size_t done = 0;

	memset(out, 0, n * sizeof(*out));
	enum fsc_status st = fsc_rows_collect(&rows, s, err);
	if (st != FSC_OK)
		return st;
	while (st == FSC_OK && done < n) {
		st = analyse_scope(&out[done], &rows, s, &scopes[done], err);
		done += st == FSC_OK;
	}
	fsc_rows_fini(&rows);
	while (st != FSC_OK && done > 0)
		fsc_analysis_fini(&out[--done]);
	return st;
}

enum fsc_status fsc_analyse(struct fsc_analysis *out, const struct fsc_seg *s,
			    const struct fsc_analysis_scope *scope, struct fsc_err *err)
{
	return fsc_analyse_scopes(out, s, scope, 1, err);
}

void fsc_analysis_fini(struct fsc_analysis *a)
{
	fsc_vec_fini(&a->devices);
	fsc_vec_fini(&a->idle);
	fsc_vec_fini(&a->kernels);
	fsc_vec_fini(&a->steps);
	fsc_vec_fini(&a->categories);
}
