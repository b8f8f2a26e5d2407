/* SPDX-License-Identifier: Apache-2.0 */
/* Names inside archives; see member_name.h. */
#include "bundle/member_name.h"

#include <stdbool.h>
#include <string.h>

#include "base/limits.h"

static bool is_sep(char c)
{
	return c == '/' || c == '\\';
}

/* macOS adds these to what people pack: they are no members of the bundle. */
static bool is_os_metadata(const char *part, size_t n)
{
	return (n >= 2 && part[0] == '.' && part[1] == '_') ||
	       (n == 8 && !memcmp(part, "__MACOSX", 8)) ||
	       (n == 9 && !memcmp(part, ".DS_Store", 9));
}

const char *fsc_member_name_code(const char *path, size_t n)
{
	bool os = false;
	if (n == 0)
		return "member_bad_name";
	if (n > FSC_MAX_PATH_BYTES)
		return "member_name_too_long";
	if (is_sep(path[0]) || (n > 2 && path[1] == ':' && is_sep(path[2])))
		return "member_absolute";
	for (size_t i = 0; i < n;) {
		size_t k = i;
		while (k < n && !is_sep(path[k]))
			k++;
		if (k - i == 2 && path[i] == '.' && path[i + 1] == '.')
			return "member_traversal";
		os |= is_os_metadata(path + i, k - i);
		i = k + 1;
	}
	return os ? "member_os_metadata" : NULL;
}
