/* SPDX-License-Identifier: Apache-2.0 */
/* What this program makes of a bundle: a trace with smaller numbers is outdated. Any thread. */
#ifndef FSC_SERVICE_VERSIONS_H
#define FSC_SERVICE_VERSIONS_H

#include <stdint.h>

int64_t fsc_version_segment(void);
int64_t fsc_version_analysis(void);

#endif
