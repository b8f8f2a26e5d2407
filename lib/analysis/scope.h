/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which rows of a trace an analysis looks at: `steps=all|no_last|A-B`.
 *  all      every row.
 *  no_last  HTA's default: with two or more different ProfilerStep names, host rows that start before the
 *           last step begins, and the GPU rows that such rows launched (same correlation). "The last step
 *           begins" = the latest start of any row that is called ProfilerStep and is not GPU work:
 *           annotations projected on a stream count too. With fewer steps: every row.
 *  A-B      host rows that start inside the steps ProfilerStep#A to ProfilerStep#B, and the GPU rows that
 *           they launched (HTA's "a GPU row belongs to the iteration of its launch"). "A" alone means A-A.
 * Source of the rules: HTA 0.6.1 (trace filter and iteration assignment).
 * Plain data, any thread.
 */
#ifndef FSC_ANALYSIS_SCOPE_H
#define FSC_ANALYSIS_SCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

enum fsc_analysis_steps { FSC_STEPS_ALL, FSC_STEPS_NO_LAST, FSC_STEPS_RANGE };

struct fsc_analysis_scope {
	enum fsc_analysis_steps steps;
	int64_t first, last; /* step numbers, when steps is FSC_STEPS_RANGE */
};

/* NULL and "" mean all. FSC_EINVAL (code "bad_steps") for anything else that is not of the form above. */
fsc_nodiscard enum fsc_status fsc_analysis_scope_parse(struct fsc_analysis_scope *out,
						       const char *text, struct fsc_err *err);

/* Number of "ProfilerStep#N", or -1 when name is not exactly that. */
int64_t fsc_analysis_step_number(const char *name, size_t n);

#endif
