/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that uploads, indexes and deletes is killed at random moments, again and again on the same folder. What
 * it acknowledged must be there afterwards, whole, and must become ready. What it was deleting is there whole, or
 * gone with a tombstone; no file is left without a row. FSC_KILLS sets how often (20).
 */
#define CONTRACT_STORE_URL "sqlite:%s/store.db"
#define CONTRACT_BLOBS_URL "dir:%s/blobs"
#include "tests/store/contract.h"
#include "tests/unit/jobs/fake_indexer.h"

#include <sys/wait.h>

#include "jobs/worker.h"
#include "service/ingest.h"
#include "service/removal.h"

#define UPLOADERS 3

struct ack {
	int64_t id;
	uint8_t sha256[FSC_SHA256_LEN];
	int64_t deleting; /* 1: from now on it may be gone */
};

struct uploader {
	struct fsc_ingest *in;
	int round, n, pipe;
};

static void tell(struct uploader *up, const struct ack *ack)
{
	if (write(up->pipe, ack, sizeof(*ack)) != sizeof(*ack))
		_exit(81);
}

/* What was acknowledged just now: it waits, is being indexed, or is ready. */
static void delete_again(struct uploader *up, struct ack *ack)
{
	const struct fsc_delete_request req = { .project = 1, .bundle = ack->id, .actor = "test" };
	struct fsc_removed gone;

	ack->deleting = 1;
	tell(up, ack);
	if (fsc_removal_one(up->in, &req, &gone, NULL) != FSC_OK)
		_exit(86);
}

/* Uploads until it is killed; every acknowledgement goes down the pipe, in one write. */
static void *upload_main(void *arg)
{
	struct uploader *up = arg;

	for (int i = 0;; i++) {
		struct fsc_upload_begin b = FSC_UPLOAD_BEGIN_INIT;
		struct fsc_upload_done done;
		struct fsc_upload *u;
		struct ack ack;
		char script[200];
		int n = snprintf(script, sizeof(script), "trace r%d_%d_%d\ntrace same\nslow %d\n",
				 up->round, up->n, i, i % 3 * 10);

		if (fsc_ingest_begin(&u, up->in, &b, NULL) != FSC_OK ||
		    fsc_ingest_write(u, script, (size_t)n, NULL) != FSC_OK ||
		    fsc_ingest_finish(u, &done, NULL) != FSC_OK)
			_exit(80);
		memset(&ack, 0, sizeof(ack));
		ack.id = done.id;
		memcpy(ack.sha256, done.sha256, sizeof(ack.sha256));
		tell(up, &ack);
		if (i % 4 == 3)
			delete_again(up, &ack);
		usleep(3000); /* indexing is slower than this already; the queue need not grow without end */
	}
	return NULL;
}

/* What a server does: open, sweep, workers, uploads. Never returns. */
static void serve(struct place *p, int round, int pipe)
{
	struct fsc_store_opts so = { .exclusive = true };
	struct fsc_worker_opts wo = { .indexer = fake_indexer_path,
				      .n_threads = 2,
				      .poll_ns = 5000000 };
	struct fsc_ingest_opts io = { 0 };
	struct uploader up[UPLOADERS];
	struct fsc_sweep_done swept;
	struct fsc_worker *w;
	pthread_t t;

	if (fsc_store_open(&p->s, p->store_url, &so, &p->err) != FSC_OK ||
	    fsc_blobs_open(&p->b, p->blobs_url, NULL, &p->err) != FSC_OK)
		_exit(82);
	wo.store = io.store = p->s;
	wo.blobs = io.blobs = p->b;
	if (fsc_worker_start(&w, &wo, &p->err) != FSC_OK)
		_exit(83);
	io.queued = fsc_worker_wake;
	io.queued_ctx = w;
	struct fsc_ingest *in = fsc_ingest_new(&io);
	if (fsc_ingest_sweep(in, 0, true, &swept, &p->err) !=
	    FSC_OK) /* age 0: as harsh as it gets */
		_exit(84);
	for (int i = 0; i < UPLOADERS; i++) {
		up[i] = (struct uploader){ in, round, i, pipe };
		if (pthread_create(&t, NULL, upload_main, &up[i]))
			_exit(85);
	}
	for (;;)
		pause();
}

static size_t read_acks(int fd, struct ack *acks, size_t n, size_t max)
{
	struct ack a;

	while (n < max && read(fd, &a, sizeof(a)) == sizeof(a))
		acks[n++] = a;
	return n;
}

static void assert_whole(struct place *p, const struct ack *a)
{
	char buf[512];
	uint8_t sha256[FSC_SHA256_LEN];
	struct fsc_bundle b = get_bundle(p, a->id);
	ssize_t n;
	int fd;

	assert_memory_equal(b.sha256, a->sha256, sizeof(b.sha256));
	assert_ok(p, fsc_blob_open(p->b, a->sha256, &fd, NULL, &p->err));
	n = read(fd, buf, sizeof(buf));
	close(fd);
	fsc_sha256(sha256, buf, n > 0 ? (size_t)n : 0);
	assert_memory_equal(sha256, a->sha256, sizeof(sha256));
}

static void wait_all_ready(struct place *p)
{
	struct fsc_store_stats s = { .jobs_waiting = 1 };

	for (int i = 0; i < 6000 && s.jobs_waiting + s.jobs_running > 0; i++) {
		usleep(10000);
		assert_ok(p, fsc_store_stats(p->s, &s, &p->err));
	}
	assert_true(s.bundles[FSC_BUNDLE_QUEUED] == 0 && s.bundles[FSC_BUNDLE_INDEXING] == 0);
	assert_true(s.bundles[FSC_BUNDLE_FAILED] == 0);
	assert_true(s.traces == 2 * s.bundles[FSC_BUNDLE_READY]);
}

/* Of the last notice of each bundle: those that were being deleted are whole, or gone with a tombstone. */
static size_t check_deleted(struct place *p, const struct ack *acks, size_t n)
{
	size_t gone = 0;

	for (size_t i = 0; i < n; i++) {
		struct fsc_tombstone t;
		struct fsc_bundle b;

		if (!acks[i].deleting)
			continue;
		if (fsc_store_bundle_get(p->s, &p->a, 1, acks[i].id, &b, NULL) == FSC_OK) {
			assert_whole(p, &acks[i]);
			continue;
		}
		assert_ok(p,
			  fsc_store_tombstone_get(p->s, &p->a, 1, true, acks[i].id, &t, &p->err));
		gone++;
	}
	return gone;
}

static bool was_deleting(const struct ack *acks, size_t n, int64_t id)
{
	for (size_t i = 0; i < n; i++)
		if (acks[i].deleting && acks[i].id == id)
			return true;
	return false;
}

static enum fsc_status check_blob(void *ctx, const struct fsc_blob_entry *e, struct fsc_err *err)
{
	struct place *p = ctx;
	bool yes;

	(void)err;
	assert_ok(p, fsc_store_blob_referenced(p->s, e->sha256, &yes, &p->err));
	assert_true(yes);
	return FSC_OK;
}

static enum fsc_status check_segment(void *ctx, const struct fsc_blob_entry *e, struct fsc_err *err)
{
	struct place *p = ctx;
	bool yes;

	(void)err;
	assert_ok(p, fsc_store_segment_referenced(p->s, e->segment, &yes, &p->err));
	assert_true(yes);
	return FSC_OK;
}

static void check_everything(struct place *p, const struct ack *acks, size_t n)
{
	struct fsc_worker_opts wo = { .indexer = fake_indexer_path,
				      .n_threads = 2,
				      .poll_ns = 5000000 };
	struct fsc_ingest_opts io = { 0 };
	struct fsc_ingest *in;
	struct fsc_sweep_done swept;
	struct fsc_worker *w;

	wo.store = io.store = p->s;
	wo.blobs = io.blobs = p->b;
	in = fsc_ingest_new(&io);
	assert_ok(p, fsc_ingest_sweep(in, 0, true, &swept, &p->err));
	assert_ok(p, fsc_worker_start(&w, &wo, &p->err));
	wait_all_ready(p);
	fsc_worker_stop(w);
	print_message("%zu of them deleted\n", check_deleted(p, acks, n));
	for (size_t i = 0; i < n; i++) {
		if (was_deleting(acks, n, acks[i].id))
			continue;
		assert_whole(p, &acks[i]);
		assert_int_equal(get_bundle(p, acks[i].id).state, FSC_BUNDLE_READY);
		fsc_arena_fini(&p->a);
		fsc_arena_init(&p->a, 64 * FSC_MIB);
	}
	assert_ok(p, fsc_ingest_sweep(in, 0, true, &swept, &p->err));
	assert_ok(p, fsc_blobs_list(p->b, FSC_BLOB_SEGMENT, check_segment, p, &p->err));
	assert_ok(p, fsc_blobs_list(p->b, FSC_BLOB_BLOB, check_blob, p, &p->err));
	assert_ok(p, fsc_store_health(p->s, &p->err));
	fsc_ingest_free(in);
}

static void nothing_acknowledged_is_lost_over_random_kills(void **state)
{
	static struct ack acks[65536];
	struct place *p = *state;
	const char *want = getenv("FSC_KILLS");
	int kills = want ? (int)strtol(want, NULL, 10) : 20;
	useconds_t slow = test_is_wrapped() ? 30 : 1; /* so that there is something to lose */
	size_t n = 0;

	place_close(p);
	srandom((unsigned)fsc_clock_real_ns());
	for (int round = 0; round < kills; round++) {
		int fds[2], status;
		pid_t pid;

		assert_int_equal(pipe(fds), 0);
		pid = fork();
		if (pid == 0) {
			close(fds[0]);
			serve(p, round, fds[1]);
		}
		close(fds[1]);
		usleep((useconds_t)(20000 + random() % 180000) * slow);
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		assert_true(WIFSIGNALED(status)); /* it did not fail by itself */
		n = read_acks(fds[0], acks, n, FSC_ARRAY_LEN(acks));
		close(fds[0]);
	}
	print_message("%d kills, %zu acknowledged uploads\n", kills, n);
	assert_true(n > 0);
	place_open(p);
	check_everything(p, acks, n);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		contract_test(nothing_acknowledged_is_lost_over_random_kills),
	};

	fake_indexer_main(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
