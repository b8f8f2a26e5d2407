/* SPDX-License-Identifier: Apache-2.0 */
/* The text form of a step scope, and the numbers of ProfilerStep names. */
#include "analysis/scope.h"

#include <string.h>

#include "base/num.h"

int64_t fsc_analysis_step_number(const char *name, size_t n)
{
	static const char prefix[] = "ProfilerStep#";
	const size_t len = sizeof(prefix) - 1;
	int64_t number = 0;

	if (n <= len || memcmp(name, prefix, len) || !fsc_parse_i64(&number, name + len, n - len) ||
	    number < 0)
		return -1;
	return number;
}

enum fsc_status fsc_analysis_scope_parse(struct fsc_analysis_scope *out, const char *text,
					 struct fsc_err *err)
{
	*out = (struct fsc_analysis_scope){ .steps = FSC_STEPS_ALL };
	if (!text || !text[0] || !strcmp(text, "all"))
		return FSC_OK;
	if (!strcmp(text, "no_last")) {
		out->steps = FSC_STEPS_NO_LAST;
		return FSC_OK;
	}
	const char *dash = strchr(text, '-');
	size_t n = dash ? (size_t)(dash - text) : strlen(text);
	out->steps = FSC_STEPS_RANGE;
	if (fsc_parse_i64(&out->first, text, n) && out->first >= 0) {
		out->last = out->first;
		if (!dash || (fsc_parse_i64(&out->last, dash + 1, strlen(dash + 1)) &&
			      out->last >= out->first))
			return FSC_OK;
	}
	return fsc_err_set(err, FSC_EINVAL, "bad_steps",
			   "steps must be all, no_last or A-B with A <= B, not \"%.40s\"", text);
}
