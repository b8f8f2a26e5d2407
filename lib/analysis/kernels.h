/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of GPU work by name and kind. Internal to lib/analysis. */
#ifndef FSC_ANALYSIS_KERNELS_H
#define FSC_ANALYSIS_KERNELS_H

#include "analysis/rows.h"

/* Fills out->kernels, most time first. False: no memory. */
fsc_nodiscard bool fsc_kernels(struct fsc_analysis *out, const struct fsc_rows *rows,
			       const struct fsc_seg *s);

#endif
