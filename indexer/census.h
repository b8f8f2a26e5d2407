/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launch census of a trace in memory: TRACE, the first fact of a trace, tells it before there is a segment to
 * analyse. Same definition and same result as struct fsc_analysis.launch.
 */
#ifndef FSC_INDEXER_CENSUS_H
#define FSC_INDEXER_CENSUS_H

#include "analysis/analysis.h"
#include "base/attr.h"
#include "model/trace.h"

/* FSC_ENOMEM */
fsc_nodiscard enum fsc_status fsc_census_launches(struct fsc_launch_census *out,
						  const struct fsc_trace *t, struct fsc_err *err);

#endif
