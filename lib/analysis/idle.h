/* SPDX-License-Identifier: Apache-2.0 */
/* Idle time per stream by cause (definition: struct fsc_idle_row). Internal to lib/analysis. */
#ifndef FSC_ANALYSIS_IDLE_H
#define FSC_ANALYSIS_IDLE_H

#include "analysis/rows.h"

/* HTA's consecutive_kernel_delay: 30 us. */
#define FSC_KERNEL_WAIT_BELOW_NS 30000

/* Appends a row per stream that has GPU work in scope. False: no memory. */
fsc_nodiscard bool fsc_idle(struct fsc_analysis *out, const struct fsc_rows *rows);

#endif
