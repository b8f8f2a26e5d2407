/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files built into a program: scripts/embed.c writes tables of this shape into build/gen/. Three exist:
 * fsc_ui_assets (module ui), fsc_api_openapi (api), fsc_store_migrations (store). Sorted by name (bytes);
 * names are relative to the embedded folder ("index.html", "assets/app.js", "0001_init.sql"). The data is
 * static and has one NUL after its last byte that size does not count. Any thread.
 */
#ifndef FSC_BASE_EMBED_H
#define FSC_BASE_EMBED_H

#include <stddef.h>

struct fsc_embed {
	const char *name;
	const unsigned char *data;
	size_t size;
};

struct fsc_embed_table {
	const struct fsc_embed *items;
	size_t n_items;
};

extern const struct fsc_embed_table fsc_ui_assets;
extern const struct fsc_embed_table fsc_api_openapi;
extern const struct fsc_embed_table fsc_store_migrations;

#endif
