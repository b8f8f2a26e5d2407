/* SPDX-License-Identifier: Apache-2.0 */
/* Apart, because row types of analysis and store share names. */
#include "service/versions.h"

#include "analysis/analysis.h"
#include "segment/seg_read.h"

int64_t fsc_version_segment(void)
{
	return FSC_SEGMENT_VERSION;
}

int64_t fsc_version_analysis(void)
{
	return FSC_ANALYSIS_VERSION;
}
