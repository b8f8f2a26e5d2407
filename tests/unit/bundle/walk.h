/* SPDX-License-Identifier: Apache-2.0 */
/* Walks an archive in memory and keeps everything that it told as text. */
#ifndef FSC_TESTS_BUNDLE_WALK_H
#define FSC_TESTS_BUNDLE_WALK_H

#include <zlib.h>

#include "base/buf.h"
#include "bundle/bundle_read.h"
#include "tests/support/test.h"

struct walk {
	struct fsc_buf paths; /* "path=bytes;" of every member */
	struct fsc_buf skips; /* "code:path;" */
	enum fsc_status st;
	struct fsc_err err;
	unsigned members, mismatches;
	char capture[32];
};

static inline void walk_free(struct walk *w)
{
	fsc_buf_fini(&w->paths);
	fsc_buf_fini(&w->skips);
}

static inline enum fsc_status walk_member(struct walk *w, struct fsc_bundle *b)
{
	char buf[700];
	size_t n;
	enum fsc_status st;

	while ((st = fsc_source_read(fsc_bundle_member_source(b), buf, sizeof(buf), &n, &w->err)) ==
	       FSC_OK)
		fsc_buf_add(&w->paths, buf, n);
	return st;
}

static inline void walk_source(struct walk *w, struct fsc_source *src)
{
	struct fsc_bundle *b;
	struct fsc_member m;
	size_t n;

	*w = (struct walk){ .err = FSC_ERR_INIT };
	fsc_buf_init(&w->paths, SIZE_MAX);
	fsc_buf_init(&w->skips, SIZE_MAX);
	w->st = fsc_bundle_open(&b, src, "one.json", &w->err);
	if (w->st != FSC_OK)
		return;
	while ((w->st = fsc_bundle_next(b, &m, &w->err)) == FSC_OK) {
		w->members++;
		fsc_buf_addf(&w->paths, "%s=", m.path);
		enum fsc_status st = walk_member(w, b);
		if (st != FSC_END && !strcmp(w->err.code, "digest_mismatch"))
			w->mismatches++;
		else if (st != FSC_END)
			break;
		fsc_buf_adds(&w->paths, ";");
	}
	const struct fsc_skipped *s = fsc_bundle_skipped(b, &n);
	for (size_t i = 0; i < n; i++)
		fsc_buf_addf(&w->skips, "%s:%s;", s[i].code, s[i].path);
	if (fsc_bundle_manifest(b) && fsc_bundle_manifest(b)->capture)
		snprintf(w->capture, sizeof(w->capture), "%s", fsc_bundle_manifest(b)->capture);
	fsc_bundle_close(b);
}

static inline void walk_buf(struct walk *w, const struct fsc_buf *b)
{
	walk_source(w, fsc_source_mem(b->data, b->len));
}

/* gzip of a buffer, in memory. */
static inline void gz(struct fsc_buf *out, const struct fsc_buf *in)
{
	z_stream z = { .zalloc = Z_NULL };

	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
	size_t cap = deflateBound(&z, in->len) + 64;
	char *room = fsc_buf_room(out, cap);
	assert_non_null(room);
	z.next_in = (Bytef *)in->data;
	z.avail_in = (uInt)in->len;
	z.next_out = (Bytef *)room;
	z.avail_out = (uInt)cap;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	out->len += z.total_out;
	deflateEnd(&z);
}

#endif
