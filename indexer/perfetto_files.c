/* SPDX-License-Identifier: Apache-2.0 */
/* Reading of a perfetto_manifest and its use on traces. */
#include "indexer/perfetto_files.h"

#include "base/buf.h"
#include "base/limits.h"
#include "base/num.h"

static enum fsc_status read_all(struct fsc_buf *b, struct fsc_source *src, struct fsc_err *err)
{
	for (;;) {
		size_t n = 0;
		char *room = fsc_buf_room(b, 64 * FSC_KIB);

		if (!room && fsc_buf_status(b) == FSC_ENOMEM)
			return fsc_err_set(err, FSC_ENOMEM, NULL, "no memory for the manifest");
		if (!room)
			return fsc_err_set(err, FSC_ELIMIT, "manifest_too_big",
					   "perfetto_manifest: more than %llu bytes",
					   FSC_MAX_MANIFEST_BYTES);
		enum fsc_status st = fsc_source_read(src, room, 64 * FSC_KIB, &n, err);
		if (st != FSC_OK)
			return st == FSC_END ? FSC_OK : st;
		b->len += n;
	}
}

enum fsc_status fsc_perfetto_files_read(struct fsc_perfetto_manifest **m, bool late,
					struct fsc_source *src, struct fsc_err *err)
{
	struct fsc_buf b = FSC_BUF_INIT(FSC_MAX_MANIFEST_BYTES + 64 * FSC_KIB);
	enum fsc_status st = FSC_OK;

	if (*m)
		return fsc_err_set(err, FSC_EUNSUPPORTED, "perfetto_manifest_repeated",
				   "a second perfetto_manifest: the first is used");
	if (late)
		return fsc_err_set(err, FSC_EUNSUPPORTED, "manifest_not_first",
				   "a perfetto_manifest behind a trace is not used: machines and "
				   "clock offsets of this archive are not applied. Pack it first");
	st = read_all(&b, src, err);
	if (st == FSC_OK)
		st = fsc_perfetto_manifest_parse(m, b.data ? b.data : "", b.len, err);
	fsc_buf_fini(&b);
	return st;
}

/* The offset of a clock that is not the one our times are on says nothing about these times. */
void fsc_perfetto_files_shift(struct fsc_trace *t, const struct fsc_perfetto_file *f)
{
	if (!f || !f->has_offset)
		return;
	if (t->meta.has_epoch && !f->unix_clock) {
		fsc_losses_add(&t->losses, "clock_offset_ignored", 1);
		return;
	}
	fsc_losses_add(&t->losses, "clock_offset_applied", 1);
	t->meta.t_base_ns = fsc_add_i64_sat(t->meta.t_base_ns, f->offset_ns);
	t->meta.has_epoch = fsc_trace_is_epoch(t->meta.t_base_ns);
}
