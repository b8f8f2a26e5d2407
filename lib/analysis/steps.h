/* SPDX-License-Identifier: Apache-2.0 */
/* Steps with their busy time (definition: struct fsc_step_row). Internal to lib/analysis. */
#ifndef FSC_ANALYSIS_STEPS_H
#define FSC_ANALYSIS_STEPS_H

#include "analysis/rows.h"

/* Fills out->steps with the steps in scope. Busy counts all GPU work of the trace. False: no memory. */
fsc_nodiscard bool fsc_steps(struct fsc_analysis *out, const struct fsc_rows *rows);

#endif
