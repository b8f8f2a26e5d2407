/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deleting a job of 5,000 traces, each its own bundle with blob, segment and 350 facts, while another thread
 * uploads: how long the delete takes, and how long an upload waits at most. Store and files as the server has
 * them, without HTTP and without indexer. FSC_BENCH_TRACES sets another number.
 */
#include <ftw.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/limits.h"
#include "service/ingest.h"
#include "service/removal.h"
#include "store/blob.h"
#include "tests/bench/bench.h"

#define TRACES 5000
#define KERNELS 300
#define STEPS 50

struct place {
	char dir[64];
	struct fsc_store *store;
	struct fsc_blobs *blobs;
	struct fsc_ingest *ingest;
};

static void check(enum fsc_status st, const struct fsc_err *err)
{
	if (st == FSC_OK)
		return;
	fprintf(stderr, "bench: %s: %s\n", err->code, err->msg);
	exit(1);
}

static void open_place(struct place *p)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_ingest_opts o = { 0 };
	char url[128];

	snprintf(p->dir, sizeof(p->dir), "/tmp/fsc-bench-XXXXXX");
	if (!mkdtemp(p->dir))
		bench_die("mkdtemp");
	snprintf(url, sizeof(url), "sqlite:%s/store.db", p->dir);
	check(fsc_store_open(&p->store, url, NULL, &err), &err);
	snprintf(url, sizeof(url), "dir:%s/data", p->dir);
	check(fsc_blobs_open(&p->blobs, url, NULL, &err), &err);
	o.store = p->store;
	o.blobs = p->blobs;
	p->ingest = fsc_ingest_new(&o);
}

static int remove_one(const char *path, const struct stat *sb, int flag, struct FTW *ftw)
{
	(void)sb;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static void close_place(struct place *p)
{
	fsc_ingest_free(p->ingest);
	fsc_blobs_close(p->blobs);
	fsc_store_close(p->store);
	nftw(p->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- filling ---- */

static int64_t upload(struct place *p, const char *job, int n)
{
	struct fsc_upload_begin b = FSC_UPLOAD_BEGIN_INIT;
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_upload_done done;
	struct fsc_upload *u;
	char body[2048] = { 0 };

	snprintf(body, sizeof(body), "%s %d", job, n);
	b.name = "bench";
	b.job = job;
	check(fsc_ingest_begin(&u, p->ingest, &b, &err), &err);
	check(fsc_ingest_write(u, body, sizeof(body), &err), &err);
	check(fsc_ingest_finish(u, &done, &err), &err);
	return done.id;
}

struct facts {
	int at;
	char name[64];
};

static enum fsc_status next_fact(void *ctx, struct fsc_fact *f, struct fsc_err *err)
{
	struct facts *s = ctx;
	int n = s->at++;

	(void)err;
	*f = (struct fsc_fact){ 0 };
	snprintf(s->name, sizeof(s->name), "void kernel_number_%d<float, 128>()", n);
	if (n == 0) {
		f->type = FSC_FACT_TRACE;
		f->u.trace = (struct fsc_fact_trace){ .member = "trace.json",
						      .format = "kineto",
						      .name = "trace",
						      .job = "gone",
						      .host = "h",
						      .capture = "",
						      .meta_json = "{}",
						      .source_disagreements = "",
						      .rank = -1,
						      .world_size = -1,
						      .slices = 1000 };
	} else if (n <= KERNELS) {
		f->type = FSC_FACT_KERNEL;
		f->u.kernel = (struct fsc_fact_kernel){ .name = s->name,
							.kind = "compute",
							.count = n,
							.sum_ns = n,
							.min_ns = 1,
							.max_ns = n };
	} else if (n <= KERNELS + STEPS) {
		f->type = FSC_FACT_STEP;
		f->u.step = (struct fsc_fact_step){ .idx = n, .name = s->name, .dur_ns = 5 };
	} else if (n == KERNELS + STEPS + 1) {
		f->type = FSC_FACT_TRACE_END;
	} else if (n == KERNELS + STEPS + 2) {
		f->type = FSC_FACT_END;
		f->u.end = (struct fsc_fact_end){
			.code = "", .message = "", .file = "", .offset = -1, .manifest_json = ""
		};
	} else {
		return FSC_END;
	}
	return FSC_OK;
}

static void publish(struct place *p, int64_t bundle)
{
	struct facts facts = { 0 };
	struct fsc_publish_trace t = { 0 };
	struct fsc_publish in = {
		.bundle = bundle, .traces = &t, .n_traces = 1, .next = next_fact, .ctx = &facts
	};
	struct fsc_published out;
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_seg_put *put;
	struct fsc_arena a;
	int fd;

	fsc_arena_init(&a, FSC_MIB);
	t.id = fsc_store_new_id(p->store);
	t.segment = fsc_store_new_id(p->store);
	t.segment_bytes = 8192;
	check(fsc_seg_put_begin(&put, p->blobs, &fd, &err), &err);
	if (ftruncate(fd, t.segment_bytes))
		bench_die("ftruncate");
	check(fsc_seg_put_commit(put, t.segment, &err), &err);
	check(fsc_store_publish(p->store, &a, &in, &out, &err), &err);
	fsc_arena_fini(&a);
}

/* ---- measuring ---- */

struct uploads {
	struct place *p;
	atomic_bool stop;
	int first, n;
	int64_t worst_ns, sum_ns;
};

static void *upload_main(void *arg)
{
	struct uploads *u = arg;

	while (!atomic_load(&u->stop)) {
		int64_t t0 = fsc_clock_mono_ns(), ns;

		upload(u->p, "other", u->n++);
		ns = fsc_clock_mono_ns() - t0;
		u->sum_ns += ns;
		u->worst_ns = ns > u->worst_ns ? ns : u->worst_ns;
		usleep(2000);
	}
	return NULL;
}

static void report(const char *name, double value, const char *unit)
{
	printf("%-34s %12.3f %-4s - -\n", name, value, unit);
}

static void begin_uploads(struct uploads *u, pthread_t *t)
{
	if (pthread_create(t, NULL, upload_main, u))
		bench_die("thread");
}

static void end_uploads(struct uploads *u, pthread_t t, const char *when)
{
	char name[64];

	atomic_store(&u->stop, true);
	pthread_join(t, NULL);
	snprintf(name, sizeof(name), "upload_mean_%s", when);
	report(name, u->n > u->first ? (double)u->sum_ns / (u->n - u->first) / 1e6 : 0, "ms");
	snprintf(name, sizeof(name), "upload_worst_%s", when);
	report(name, (double)u->worst_ns / 1e6, "ms");
}

int main(void)
{
	const char *want = getenv("FSC_BENCH_TRACES");
	int n = want ? (int)strtol(want, NULL, 10) : TRACES;
	const struct fsc_delete_target target = { .project = 1, .job = "gone" };
	const struct fsc_delete_request req = { .project = 1, .actor = "bench", .detail = "bench" };
	struct place p;
	struct uploads alone = { .p = &p }, during = { .p = &p };
	struct fsc_delete_plan plan;
	struct fsc_removed done;
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_arena a;
	pthread_t t;
	int64_t t0;

	open_place(&p);
	for (int i = 0; i < n; i++)
		publish(&p, upload(&p, "gone", i));
	begin_uploads(&alone, &t);
	usleep(2000000);
	end_uploads(&alone, t, "alone");
	during.n = during.first = alone.n;
	fsc_arena_init(&a, 64 * FSC_MIB);
	t0 = fsc_clock_mono_ns();
	check(fsc_store_delete_plan(p.store, &a, &target, &plan, &err), &err);
	report("delete_plan", (double)(fsc_clock_mono_ns() - t0) / 1e6, "ms");
	begin_uploads(&during, &t);
	t0 = fsc_clock_mono_ns();
	check(fsc_removal_many(p.ingest, &req, plan.units, plan.n_units, NULL, &done, &err), &err);
	t0 = fsc_clock_mono_ns() - t0;
	report("delete_job", (double)t0 / 1e9, "s");
	end_uploads(&during, t, "during_delete");
	if (done.traces != n || done.bundles != n)
		bench_die("not all were deleted");
	fsc_arena_fini(&a);
	close_place(&p);
	return 0;
}
