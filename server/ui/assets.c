/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Static files. A name is looked up in the table and nothing is ever read from disk, so no path can leave
 * it. Beside a file the build may have put NAME.br and NAME.gz.
 */
#include "ui/ui.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "http/mime.h"

/* As web-ui: nothing inline, nothing from elsewhere. No Cross-Origin-Opener-Policy: the Perfetto hand-over
 * needs window.open and postMessage. Popups are not governed by CSP. */
#define PAGE_CSP                                                                                   \
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src " \
	"'self'; "                                                                                 \
	"connect-src 'self'; frame-src 'self'; frame-ancestors 'none'; base-uri 'none'; "          \
	"form-action 'self'"
#define NAME_MAX_BYTES 200

static int by_name(const void *key, const void *item)
{
	return strcmp(key, ((const struct fsc_embed *)item)->name);
}

static const struct fsc_embed *find(const char *name)
{
	if (!fsc_ui_assets.n_items)
		return NULL;
	return bsearch(name, fsc_ui_assets.items, fsc_ui_assets.n_items,
		       sizeof(fsc_ui_assets.items[0]), by_name);
}

/* The best coding that the client takes and the build made. */
static const struct fsc_embed *coded(const struct fsc_req *req, const struct fsc_embed *plain,
				     const char **coding)
{
	static const struct {
		const char *coding, *suffix;
	} all[] = { { "br", ".br" }, { "gzip", ".gz" } };
	char name[NAME_MAX_BYTES + 4];

	*coding = NULL;
	if (fsc_req_header(req, "Range"))
		return plain;
	for (size_t i = 0; i < FSC_ARRAY_LEN(all); i++) {
		const struct fsc_embed *e;

		if (!fsc_req_accepts(req, all[i].coding))
			continue;
		snprintf(name, sizeof(name), "%s%s", plain->name, all[i].suffix);
		e = find(name);
		if (e) {
			*coding = all[i].coding;
			return e;
		}
	}
	return plain;
}

static void send_file(struct fsc_req *req, struct fsc_resp *resp, const struct fsc_embed *plain)
{
	bool asset = !strncmp(plain->name, "assets/", 7);
	const struct fsc_embed *e;

	/* Before the check: a browser takes the policy of a 304 for the page that it kept. */
	resp->csp = PAGE_CSP;
	if (fsc_resp_not_modified(resp, plain->data, plain->size))
		return;
	resp->cache_control = asset ? "public, max-age=31536000, immutable" : "no-cache";
	resp->content_type = fsc_mime_of(plain->name);
	e = coded(req, plain, &resp->encoding);
	fsc_resp_header(resp, "Vary", "Accept-Encoding");
	resp->fixed = e->data;
	resp->fixed_len = e->size;
	resp->ranges = !resp->encoding;
	resp->status = 200;
}

static void not_built(struct fsc_resp *resp)
{
	resp->content_type = "text/html; charset=utf-8";
	resp->csp = PAGE_CSP;
	fsc_buf_adds(
		&resp->body,
		"<!doctype html><html lang=\"en\"><title>Fleetscope</title><h1>Fleetscope</h1>"
		"<p>This server was built without its pages. Build them with <code>make web</code>"
		"; the API is at <a href=\"/api/v1/openapi.json\">/api/v1</a>.</p>\n");
}

void fsc_ui_serve(struct fsc_req *req, struct fsc_resp *resp)
{
	const char *name = req->path[0] == '/' ? req->path + 1 : req->path;
	const struct fsc_embed *e = NULL;
	size_t n = strlen(name);

	if (n && n <= NAME_MAX_BYTES && !strstr(name, ".br") && !strstr(name, ".gz"))
		e = find(name);
	/* Pages have addresses of their own (/traces/12): the program in index.html reads them. */
	if (!e && strncmp(name, "assets/", 7) != 0 && !strchr(name, '.')) {
		e = find("index.html");
		if (!e) {
			not_built(resp);
			return;
		}
	}
	if (!e) {
		fsc_resp_error(resp, 404, "no_such_file", "there is nothing at this path");
		return;
	}
	send_file(req, resp, e);
}
