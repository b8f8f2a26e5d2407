/* SPDX-License-Identifier: Apache-2.0 */
/* The end of the line for broken invariants: one log line, then abort so that a core can be had. */
#include "base/assert.h"

#include <stdlib.h>

#include "base/log.h"

void fsc_assert_fail(const char *expr, const char *file, int line)
{
	char quoted[256];
	fsc_log(FSC_LOG_ERROR, "assert", "msg=%s file=%s line=%d",
		fsc_log_quote(quoted, sizeof(quoted), expr), file, line);
	abort();
}
