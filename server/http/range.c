/* SPDX-License-Identifier: Apache-2.0 */
/* Range header. */
#include "http/range.h"

#include <string.h>

#include "base/num.h"

static enum fsc_range suffix(const char *s, uint64_t total, uint64_t *first, uint64_t *last)
{
	uint64_t n;

	if (!fsc_parse_u64(&n, s, strlen(s)))
		return FSC_RANGE_NONE;
	if (!n || !total)
		return FSC_RANGE_BAD;
	*first = n >= total ? 0 : total - n;
	*last = total - 1;
	return FSC_RANGE_ONE;
}

enum fsc_range fsc_range_parse(const char *header, uint64_t total, uint64_t *first, uint64_t *last)
{
	const char *dash;

	if (strncmp(header, "bytes=", 6) != 0 || strchr(header, ','))
		return FSC_RANGE_NONE;
	header += 6;
	dash = strchr(header, '-');
	if (!dash)
		return FSC_RANGE_NONE;
	if (dash == header)
		return suffix(dash + 1, total, first, last);
	if (!fsc_parse_u64(first, header, (size_t)(dash - header)))
		return FSC_RANGE_NONE;
	*last = total ? total - 1 : 0;
	if (dash[1] && !fsc_parse_u64(last, dash + 1, strlen(dash + 1)))
		return FSC_RANGE_NONE;
	if (dash[1] && *last < *first)
		return FSC_RANGE_NONE;
	if (*first >= total)
		return FSC_RANGE_BAD;
	if (*last >= total)
		*last = total - 1;
	return FSC_RANGE_ONE;
}
