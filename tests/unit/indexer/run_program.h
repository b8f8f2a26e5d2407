/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests of the real fleetscope-indexer: runs it on bytes or a file and keeps what it told. The program is
 * that of the plain build when there is one, since only that has the production sandbox.
 */
#ifndef FSC_TESTS_UNIT_INDEXER_RUN_PROGRAM_H
#define FSC_TESTS_UNIT_INDEXER_RUN_PROGRAM_H

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/vec.h"
#include "facts/indexer_client.h"
#include "segment/seg_read.h"
#include "tests/support/test.h"

struct told_trace {
	struct fsc_fact_trace t;
	FSC_VEC(struct fsc_fact_device) devices;
	FSC_VEC(struct fsc_fact_kernel) kernels;
	FSC_VEC(struct fsc_fact_category) categories;
	FSC_VEC(struct fsc_fact_loss) losses;
	FSC_VEC(struct fsc_fact_step) steps;
	struct fsc_seg *seg; /* when it is finished */
	bool finished;
};

struct told {
	struct fsc_arena arena;
	FSC_VEC(struct told_trace) traces;
	FSC_VEC(struct fsc_fact_member) members;
	struct fsc_fact_end end;
	unsigned n_progress;
	int fd;
	enum fsc_status st;
	struct fsc_err err;
	struct fsc_indexer_result res;
};

static inline const char *told_text(struct told *d, const char *s)
{
	char *p = fsc_arena_dup(&d->arena, s, strlen(s));

	assert_non_null(p);
	return p;
}

static inline void told_trace_rows(struct told *d, struct told_trace *t, const struct fsc_fact *f)
{
	if (f->type == FSC_FACT_DEVICE)
		assert_true(fsc_vec_push(&t->devices, f->u.device));
	if (f->type == FSC_FACT_KERNEL) {
		assert_true(fsc_vec_push(&t->kernels, f->u.kernel));
		t->kernels.v[t->kernels.n - 1].name = told_text(d, f->u.kernel.name);
		t->kernels.v[t->kernels.n - 1].kind = told_text(d, f->u.kernel.kind);
	}
	if (f->type == FSC_FACT_CATEGORY) {
		assert_true(fsc_vec_push(&t->categories, f->u.category));
		t->categories.v[t->categories.n - 1].name = told_text(d, f->u.category.name);
	}
	if (f->type == FSC_FACT_LOSS) {
		assert_true(fsc_vec_push(&t->losses, f->u.loss));
		t->losses.v[t->losses.n - 1].code = told_text(d, f->u.loss.code);
	}
	if (f->type == FSC_FACT_STEP) {
		assert_true(fsc_vec_push(&t->steps, f->u.step));
		t->steps.v[t->steps.n - 1].name = told_text(d, f->u.step.name);
	}
}

static inline enum fsc_status told_fact(void *ctx, const struct fsc_fact *f, struct fsc_err *err)
{
	struct told *d = ctx;
	struct told_trace *t = d->traces.n ? &d->traces.v[d->traces.n - 1] : NULL;

	if (f->type == FSC_FACT_TRACE) {
		struct told_trace fresh = { .t = f->u.trace };

		fresh.t.member = told_text(d, f->u.trace.member);
		fresh.t.format = told_text(d, f->u.trace.format);
		fresh.t.job = told_text(d, f->u.trace.job);
		fresh.t.host = told_text(d, f->u.trace.host);
		fresh.t.capture = told_text(d, f->u.trace.capture);
		fresh.t.name = told_text(d, f->u.trace.name);
		fresh.t.meta_json = told_text(d, f->u.trace.meta_json);
		fresh.t.source_disagreements = told_text(d, f->u.trace.source_disagreements);
		assert_true(fsc_vec_push(&d->traces, fresh));
	} else if (f->type == FSC_FACT_TRACE_END) {
		t->finished = true;
		enum fsc_status st = fsc_seg_open(&t->seg, d->fd, err);
		close(d->fd);
		d->fd = -1;
		return st;
	} else if (f->type == FSC_FACT_MEMBER) {
		assert_true(fsc_vec_push(&d->members, f->u.member));
		struct fsc_fact_member *m = &d->members.v[d->members.n - 1];
		m->member = told_text(d, m->member);
		m->outcome = told_text(d, m->outcome);
		m->code = told_text(d, m->code);
		m->message = told_text(d, m->message);
	} else if (f->type == FSC_FACT_END) {
		d->end = f->u.end;
		d->end.code = told_text(d, d->end.code);
		d->end.message = told_text(d, d->end.message);
		d->end.manifest_json = told_text(d, d->end.manifest_json);
	} else if (f->type == FSC_FACT_PROGRESS) {
		d->n_progress++;
	} else {
		told_trace_rows(d, t, f);
	}
	return FSC_OK;
}

static inline enum fsc_status told_segment(void *ctx, int *fd, struct fsc_err *err)
{
	struct told *d = ctx;

	if (d->fd >= 0)
		close(d->fd);
	d->fd = memfd_create("segment", MFD_CLOEXEC);
	*fd = d->fd;
	return d->fd < 0 ? fsc_err_sys(err, errno, "memfd") : FSC_OK;
}

static inline const char *indexer_program(char *buf, size_t cap, bool *plain)
{
	*plain = access(test_program(buf, cap, "fleetscope-indexer", 1), X_OK) == 0;
	if (!*plain)
		test_program(buf, cap, "fleetscope-indexer", 0);
	if (access(buf, X_OK)) {
		print_message("skipped, %s is not built\n", buf);
		skip();
	}
	return buf;
}

/* job.blob_fd and job.program are filled in. */
static inline void told_run(struct told *d, struct fsc_indexer_job job, int fd)
{
	struct fsc_indexer_sink sink = { d, told_fact, told_segment };
	char program[4096];
	bool plain = false;

	memset(d, 0, sizeof(*d));
	d->fd = -1;
	fsc_arena_init(&d->arena, 256 << 20);
	job.program = indexer_program(program, sizeof(program), &plain);
	job.blob_fd = fd;
	d->st = fsc_indexer_run(&job, &sink, &d->res, NULL, &d->err);
}

static inline void told_run_bytes(struct told *d, struct fsc_indexer_job job, const void *p,
				  size_t n)
{
	int fd = memfd_create("blob", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, p, n), (ssize_t)n);
	told_run(d, job, fd);
	close(fd);
}

static inline void told_fini(struct told *d)
{
	for (size_t i = 0; i < d->traces.n; i++) {
		struct told_trace *t = &d->traces.v[i];

		fsc_vec_fini(&t->devices);
		fsc_vec_fini(&t->kernels);
		fsc_vec_fini(&t->categories);
		fsc_vec_fini(&t->losses);
		fsc_vec_fini(&t->steps);
		fsc_seg_unref(t->seg);
	}
	fsc_vec_fini(&d->traces);
	fsc_vec_fini(&d->members);
	fsc_arena_fini(&d->arena);
	if (d->fd >= 0)
		close(d->fd);
}

#endif
