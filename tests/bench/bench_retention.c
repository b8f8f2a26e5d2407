/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A data folder with 10,000 traces: how long until a server on it is ready (target 2 s), what the storage page
 * and a look for outdated traces cost, a retention pass that finds nothing, and one that takes all of them,
 * with the longest an upload's row had to wait meanwhile.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/limits.h"
#include "service/ingest.h"
#include "service/retention.h"
#include "store/blob.h"
#include "store/queue.h"
#include "store/retention.h"
#include "store/store.h"
#include "tests/bench/bench.h"

#define TRACES 10000
#define KERNELS 20
#define BLOB_BYTES 4096
#define SEGMENT_BYTES 8192

static char dir[64];
static _Atomic int64_t clock_ahead_ns;

static int64_t now_ns(void *ctx)
{
	(void)ctx;
	return fsc_clock_real_ns() + atomic_load(&clock_ahead_ns);
}

static void check(enum fsc_status st, const struct fsc_err *err, const char *what)
{
	if (st == FSC_OK)
		return;
	fprintf(stderr, "bench: %s: %s: %s\n", what, err->code, err->msg);
	exit(1);
}

/* Old enough for a sweep to ask the store about it. */
static void write_old(const char *path, size_t n)
{
	static const char zeros[SEGMENT_BYTES];
	struct timespec old[2] = { { .tv_sec = time(NULL) - 7200 },
				   { .tv_sec = time(NULL) - 7200 } };
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, zeros, n) != (ssize_t)n || futimens(fd, old))
		bench_die(path);
	close(fd);
}

struct facts {
	struct fsc_fact v[KERNELS + 4];
	size_t n, at;
};

static enum fsc_status next_fact(void *ctx, struct fsc_fact *f, struct fsc_err *err)
{
	struct facts *l = ctx;

	(void)err;
	if (l->at == l->n)
		return FSC_END;
	*f = l->v[l->at++];
	return FSC_OK;
}

static void fill_facts(struct facts *l)
{
	static char names[KERNELS][32];

	*l = (struct facts){ 0 };
	l->v[l->n].type = FSC_FACT_TRACE;
	l->v[l->n++].u.trace = (struct fsc_fact_trace){ .member = "trace.json",
							.format = "kineto",
							.name = "trace.json",
							.job = "train",
							.host = "node-a",
							.capture = "",
							.rank = 3,
							.world_size = 8,
							.meta_json = "{}",
							.source_disagreements = "",
							.slices = 1000,
							.t_max_ns = 1000000 };
	for (int i = 0; i < KERNELS; i++) {
		snprintf(names[i], sizeof(names[i]), "kernel_%d", i);
		l->v[l->n].type = FSC_FACT_KERNEL;
		l->v[l->n++].u.kernel = (struct fsc_fact_kernel){ .name = names[i],
								  .kind = "compute",
								  .count = 1,
								  .sum_ns = 10,
								  .min_ns = 1,
								  .max_ns = 10 };
	}
	l->v[l->n].type = FSC_FACT_TRACE_END;
	l->v[l->n++].u.trace_end = (struct fsc_fact_trace_end){ .segment_bytes = SEGMENT_BYTES,
								.segment_version = 1,
								.analysis_version = 1 };
	l->v[l->n].type = FSC_FACT_END;
	l->v[l->n++].u.end = (struct fsc_fact_end){
		.code = "", .message = "", .file = "", .offset = -1, .manifest_json = ""
	};
}

static int64_t put(struct fsc_store *s, int i)
{
	struct fsc_bundle_new b = { .project = FSC_PROJECT_DEFAULT,
				    .bytes = BLOB_BYTES,
				    .name = "trace.json",
				    .job = "train",
				    .rank = i % 8 };
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_bundle_put out;

	fsc_sha256(b.sha256, &i, sizeof(i));
	check(fsc_store_bundle_put(s, &b, &out, &err), &err, "put");
	return out.id;
}

static void fill_one(struct fsc_store *s, struct fsc_queue *q, int i, const struct facts *facts)
{
	struct facts l = *facts;
	struct fsc_publish_trace given = { fsc_store_new_id(s), fsc_store_new_id(s),
					   SEGMENT_BYTES };
	struct fsc_publish in = {
		.bundle = put(s, i), .traces = &given, .n_traces = 1, .next = next_fact, .ctx = &l
	};
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_store_lease lease;
	struct fsc_published out;
	uint8_t sha256[FSC_SHA256_LEN];
	char path[256], hex[FSC_SHA256_HEX];
	struct fsc_arena a;

	fsc_arena_init(&a, FSC_MIB);
	check(fsc_queue_lease(q, "bench", FSC_QUEUE_LEASE_NS, &lease, &err), &err, "lease");
	in.lease = &lease;
	check(fsc_store_publish(s, &a, &in, &out, &err), &err, "publish");
	fsc_arena_fini(&a);
	fsc_sha256(sha256, &i, sizeof(i));
	fsc_hex(hex, sha256, sizeof(sha256));
	snprintf(path, sizeof(path), "%s/blob/%.2s/%s", dir, hex, hex);
	write_old(path, BLOB_BYTES);
	snprintf(path, sizeof(path), "%s/seg/v1/%lld.seg", dir, (long long)given.segment);
	write_old(path, SEGMENT_BYTES);
}

/* ---- start-up ---- */

static void bench_start(void)
{
	const char *build = getenv("FSC_BUILD");
	char program[512], line[256];
	double v[BENCH_RUNS];

	snprintf(program, sizeof(program), "%s/fleetscope-server", build ? build : "build/release");
	for (int i = 0; i < BENCH_RUNS; i++) {
		int64_t from = fsc_clock_mono_ns();
		int out[2], status;
		pid_t pid;
		FILE *f;

		if (pipe(out))
			bench_die("pipe");
		pid = fork();
		if (pid == 0) {
			dup2(out[1], 1);
			close(out[0]);
			execl(program, program, "--listen", "127.0.0.1:0", "--data", dir,
			      "--log-level", "error", (char *)NULL);
			_exit(127);
		}
		close(out[1]);
		f = fdopen(out[0], "r");
		if (!f || !fgets(line, sizeof(line), f))
			bench_die("the server does not start");
		v[i] = (double)(fsc_clock_mono_ns() - from) / 1e9;
		kill(pid, SIGTERM);
		fclose(f);
		waitpid(pid, &status, 0);
	}
	bench_report("start_10k_traces_s", bench_median(v, BENCH_RUNS), "s", 2, "target");
}

/* ---- an upload beside a pass ---- */

struct waiter {
	struct fsc_store *s;
	atomic_bool stop;
	double longest;
	int n;
};

static void *waiter_main(void *arg)
{
	struct waiter *w = arg;

	for (; !atomic_load(&w->stop); w->n++) {
		int64_t from = fsc_clock_mono_ns();
		double took;

		put(w->s, TRACES + 1 + w->n);
		took = (double)(fsc_clock_mono_ns() - from) / 1e9;
		if (took > w->longest)
			w->longest = took;
		usleep(2000);
	}
	return NULL;
}

/* ---- figures and passes ---- */

static double process_cpu(void)
{
	return (double)fsc_clock_cpu_ns() / 1e9;
}

static void bench_looks(struct fsc_store *s, struct fsc_keeper *k)
{
	const struct fsc_versions same = { 1, 1 };
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_outdated_bundle pick[4];
	struct fsc_keeper_run run;
	struct fsc_storage storage;
	struct fsc_arena a;
	double from;
	size_t n;

	fsc_arena_init(&a, 64 * FSC_MIB);
	from = process_cpu();
	check(fsc_store_storage(s, &a, FSC_PROJECT_DEFAULT, &same, &storage, &err), &err,
	      "storage");
	bench_report("storage_10k_cpu_s", process_cpu() - from, "s", 0, NULL);
	from = process_cpu();
	check(fsc_store_outdated_pick(s, &same, INT64_MAX, pick, 4, &n, &err), &err, "pick");
	bench_report("outdated_none_10k_cpu_s", process_cpu() - from, "s", 0, NULL);
	from = process_cpu();
	check(fsc_keeper_pass(k, &a, FSC_PROJECT_DEFAULT, true, &run, &err), &err, "dry run");
	bench_report("retention_nothing_10k_cpu_s", process_cpu() - from, "s", 0, NULL);
	if (run.taken.bundles || storage.traces != TRACES)
		bench_die("the folder is not what it should be");
	fsc_arena_fini(&a);
}

static void bench_pass(struct fsc_store *s, struct fsc_keeper *k)
{
	struct waiter w = { .s = s };
	struct fsc_err err = FSC_ERR_INIT;
	int64_t taken = 0, from_ns;
	struct fsc_keeper_run run;
	double from, wall, cpu;
	pthread_t thread;

	from = process_cpu();
	from_ns = fsc_clock_mono_ns();
	if (pthread_create(&thread, NULL, waiter_main, &w))
		bench_die("thread");
	do { /* a pass is bounded in time: housekeeping comes again */
		check(fsc_keeper_pass(k, NULL, FSC_PROJECT_DEFAULT, false, &run, &err), &err,
		      "pass");
		taken += run.taken.bundles;
	} while (!run.complete);
	wall = (double)(fsc_clock_mono_ns() - from_ns) / 1e9;
	cpu = process_cpu() - from;
	atomic_store(&w.stop, true);
	pthread_join(thread, NULL);
	if (taken != TRACES)
		bench_die("the pass did not take all");
	bench_report("retention_pass_10k_wall_s", wall, "s", 0, NULL);
	bench_report("retention_pass_10k_cpu_s", cpu, "s", 0, NULL);
	bench_report("upload_row_during_pass_max_s", w.longest, "s", 0, NULL);
}

int main(void)
{
	const struct fsc_store_opts so = { .now_ns = now_ns };
	struct fsc_retention limits = { .project = FSC_PROJECT_DEFAULT, .max_age_days = 30 };
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_store *s = NULL;
	struct fsc_blobs *b = NULL;
	struct fsc_ingest *in;
	struct fsc_keeper *k;
	struct fsc_queue *q;
	struct facts facts;
	char url[128];
	int64_t was;

	snprintf(dir, sizeof(dir), "/tmp/fsc-bench-XXXXXX");
	if (!mkdtemp(dir))
		bench_die("mkdtemp");
	snprintf(url, sizeof(url), "sqlite:%s/fleetscope.db", dir);
	check(fsc_store_open(&s, url, &so, &err), &err, "store");
	check(fsc_blobs_open(&b, dir, NULL, &err), &err, "blobs");
	in = fsc_ingest_new(&(struct fsc_ingest_opts){ .store = s, .blobs = b });
	k = fsc_keeper_new(&(struct fsc_keeper_opts){ .store = s, .ingest = in });
	q = fsc_queue_of_store(s);
	fill_facts(&facts);
	for (int i = 0; i < TRACES; i++)
		fill_one(s, q, i, &facts);
	check(fsc_store_retention_put(s, &limits, &err), &err, "limits");
	bench_looks(s, k);
	bench_start();
	atomic_store(&clock_ahead_ns, 31 * FSC_DAY_NS);
	check(fsc_keeper_confirm_clock(k, &was, &err), &err, "clock");
	bench_pass(s, k);
	fsc_queue_free(q);
	fsc_keeper_free(k);
	fsc_ingest_free(in);
	fsc_blobs_close(b);
	fsc_store_close(s);
	{
		const char *const rm[] = { "rm", "-rf", dir, NULL };

		bench_spawn(rm, NULL);
	}
	return 0;
}
