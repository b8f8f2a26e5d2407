/* SPDX-License-Identifier: Apache-2.0 */
/* Exports. */
#include "service/exporting.h"

#include "base/alloc.h"
#include "export/exporter.h"
#include "export/perfetto.h"

struct fsc_exporting {
	const struct fsc_exporter *how;
	struct fsc_export *e; /* owned */
};

enum fsc_status fsc_exporting_open(struct fsc_exporting **out, const char *format,
				   struct fsc_seg *seg, int64_t t0, int64_t t1, struct fsc_err *err)
{
	const struct fsc_exporter *how = fsc_exporter_find(format);
	const struct fsc_export_opts opts = { .t0 = t0, .t1 = t1 };
	struct fsc_export *e = NULL;
	enum fsc_status st;

	if (!how)
		return fsc_err_set(err, FSC_ENOTFOUND, "no_such_exporter",
				   "there is no such export format");
	st = how->open(&e, seg, &opts, err);
	if (st)
		return st;
	*out = fsc_xalloc(1, sizeof(**out));
	(*out)->how = how;
	(*out)->e = e;
	return FSC_OK;
}

const char *fsc_exporting_mime(const struct fsc_exporting *e)
{
	return e->how->mime;
}

const char *fsc_exporting_suffix(const struct fsc_exporting *e)
{
	return e->how->suffix;
}

enum fsc_status fsc_exporting_run(struct fsc_exporting *e,
				  enum fsc_status (*write)(void *ctx, const void *p, size_t n),
				  void *ctx, struct fsc_err *err)
{
	struct fsc_buf piece;
	enum fsc_status st;

	fsc_buf_init(&piece, 64u << 20);
	for (;;) {
		fsc_buf_clear(&piece);
		st = e->how->next(e->e, &piece, err);
		if (st)
			break;
		st = fsc_buf_status(&piece);
		if (!st)
			st = write(ctx, piece.data, piece.len);
		if (st)
			break;
	}
	fsc_buf_fini(&piece);
	return st == FSC_END ? FSC_OK : st;
}

void fsc_exporting_free(struct fsc_exporting *e)
{
	if (!e)
		return;
	e->how->close(e->e);
	fsc_free(e);
}

int64_t fsc_exporting_perfetto_base_ns(const struct fsc_seg *seg)
{
	return fsc_export_perfetto_base_ns(seg);
}
