/* SPDX-License-Identifier: Apache-2.0 */
/* Temporal breakdown per device (definitions: struct fsc_device_row). Internal to lib/analysis. */
#ifndef FSC_ANALYSIS_BREAKDOWN_H
#define FSC_ANALYSIS_BREAKDOWN_H

#include "analysis/rows.h"

/* Appends a row per device that has GPU work in scope. False: no memory. */
fsc_nodiscard bool fsc_breakdown(struct fsc_analysis *out, const struct fsc_rows *rows);

#endif
