/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of analyses: a trace file, or a trace made by hand, as an open segment. */
#ifndef FSC_TESTS_UNIT_ANALYSIS_LOAD_H
#define FSC_TESTS_UNIT_ANALYSIS_LOAD_H

#include <fcntl.h>
#include <sys/mman.h>

#include "base/source.h"
#include "formats/reader.h"
#include "segment/seg_read.h"
#include "segment/seg_write.h"
#include "tests/support/test.h"

static inline struct fsc_seg *seg_of_trace(struct fsc_trace *t)
{
	static const uint8_t no_sha[32];
	struct fsc_seg_write_stats stats;
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_seg *seg = NULL;
	int fd = memfd_create("segment", MFD_CLOEXEC);

	assert_true(fd >= 0);
	if (fsc_seg_write(fd, t, no_sha, &stats, &err) != FSC_OK ||
	    fsc_seg_open(&seg, fd, &err) != FSC_OK)
		fail_msg("%s", err.msg);
	close(fd);
	fsc_trace_free(t);
	return seg;
}

static inline enum fsc_status load_take(void *ctx, struct fsc_trace *t, struct fsc_err *err)
{
	struct fsc_trace **out = ctx;

	(void)err;
	assert_null(*out);
	*out = t;
	return FSC_OK;
}

static inline struct fsc_seg *seg_of_source(struct fsc_source *raw, const char *name)
{
	struct fsc_source *src = fsc_source_auto(raw);
	struct fsc_trace *t = NULL;
	struct fsc_reader_sink sink = { .ctx = &t, .trace = load_take };
	struct fsc_err err = FSC_ERR_INIT;
	const uint8_t *head = NULL;
	size_t n = 0;

	if (fsc_source_peek(src, &head, &n, &err) != FSC_OK)
		fail_msg("%s: %s", name, err.msg);
	const struct fsc_reader *r = fsc_reader_pick(head, n, &err);
	if (!r || r->read(src, &sink, &err) != FSC_OK || !t)
		fail_msg("%s: %s", name, err.msg);
	fsc_source_free(src);
	return seg_of_trace(t);
}

static inline struct fsc_seg *seg_of_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	struct fsc_seg *s = seg_of_source(fsc_source_fd(fd), path);
	close(fd);
	return s;
}

static inline struct fsc_seg *seg_of_json(const char *json)
{
	return seg_of_source(fsc_source_mem(json, strlen(json)), "json");
}

#endif
