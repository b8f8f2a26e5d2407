/* SPDX-License-Identifier: Apache-2.0 */
/* Media types. */
#include "http/mime.h"

#include <string.h>

static const struct {
	const char *suffix, *mime;
} types[] = {
	{ ".html", "text/html; charset=utf-8" },
	{ ".js", "text/javascript; charset=utf-8" },
	{ ".mjs", "text/javascript; charset=utf-8" },
	{ ".css", "text/css; charset=utf-8" },
	{ ".json", "application/json" },
	{ ".map", "application/json" },
	{ ".webmanifest", "application/manifest+json" },
	{ ".svg", "image/svg+xml" },
	{ ".png", "image/png" },
	{ ".ico", "image/x-icon" },
	{ ".woff", "font/woff" },
	{ ".woff2", "font/woff2" },
	{ ".ttf", "font/ttf" },
	{ ".wasm",
	  "application/wasm" }, /* a browser compiles it while it loads only under this type */
	{ ".txt", "text/plain; charset=utf-8" },
};

const char *fsc_mime_of(const char *name)
{
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; dot && i < FSC_ARRAY_LEN(types); i++)
		if (!strcmp(types[i].suffix, dot))
			return types[i].mime;
	return "application/octet-stream";
}
