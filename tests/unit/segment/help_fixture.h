/* SPDX-License-Identifier: Apache-2.0 */
/* A made-up trace beside the segment written of it: what the query tests compare. */
#ifndef FSC_TESTS_UNIT_SEGMENT_HELP_FIXTURE_H
#define FSC_TESTS_UNIT_SEGMENT_HELP_FIXTURE_H

#include <sys/mman.h>

#include "segment/seg_read.h"
#include "segment/seg_write.h"
#include "tests/support/test.h"
#include "tests/unit/segment/help_gen_trace.h"

struct fixture {
	struct fsc_trace *t;
	struct fsc_seg *s;
};

static inline void open_fixture(struct fixture *f, const struct gen_opts *o)
{
	struct fsc_err err = FSC_ERR_INIT;
	int fd = memfd_create("segment", MFD_CLOEXEC);

	f->t = gen_trace(o);
	if (fsc_seg_write(fd, f->t, NULL, NULL, &err) != FSC_OK ||
	    fsc_seg_open(&f->s, fd, &err) != FSC_OK)
		fail_msg("%s: %s", err.code, err.msg);
	close(fd);
}

static inline void close_fixture(struct fixture *f)
{
	fsc_seg_unref(f->s);
	fsc_trace_free(f->t);
}

/* Is slice i (of no length: its instant) inside [t0, t1)? */
static inline bool intersects(const struct fsc_slices *s, uint32_t i, int64_t t0, int64_t t1)
{
	return s->dur[i] ? s->ts[i] < t1 && s->ts[i] + s->dur[i] > t0
			 : s->ts[i] >= t0 && s->ts[i] < t1;
}

#endif
