/* SPDX-License-Identifier: Apache-2.0 */
/* A whole export into one buffer, in the pieces in which a server would send it. */
#ifndef FSC_TESTS_SUPPORT_EXPORT_ALL_H
#define FSC_TESTS_SUPPORT_EXPORT_ALL_H

#include <fcntl.h>
#include <sys/mman.h>

#include "export/exporter.h"
#include "segment/seg_write.h"
#include "tests/support/test.h"

/* The caller drops the reference. */
static inline struct fsc_seg *segment_of(const struct fsc_trace *t)
{
	static const uint8_t no_blob[32];
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_seg *seg = NULL;
	int fd = memfd_create("segment", MFD_CLOEXEC);

	assert_true(fd >= 0);
	if (fsc_seg_write(fd, t, no_blob, NULL, &err) || fsc_seg_open(&seg, fd, &err))
		fail_msg("segment: %s", err.msg);
	close(fd);
	return seg;
}

static inline void export_all(struct fsc_buf *out, struct fsc_seg *seg, const char *name)
{
	const struct fsc_exporter *x = fsc_exporter_find(name);
	struct fsc_buf piece = FSC_BUF_INIT(64u << 20);
	struct fsc_export_opts everything = { 0 };
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_export *e = NULL;
	enum fsc_status st;

	assert_non_null(x);
	assert_int_equal(x->open(&e, seg, &everything, &err), FSC_OK);
	while ((st = x->next(e, &piece, &err)) == FSC_OK) {
		fsc_buf_add(out, piece.data, piece.len);
		fsc_buf_clear(&piece);
	}
	if (st != FSC_END)
		fail_msg("%s: %s", name, err.msg);
	x->close(e);
	fsc_buf_fini(&piece);
}

#endif
