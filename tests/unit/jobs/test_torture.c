/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two uploads are taken and indexed while the n-th allocation, or the n-th operation on a file, fails in the
 * server's part (the indexer is a fake here, see ../indexer/test_torture.c for the real one). Each time the
 * process answers with an error, goes on, or says that it is out of memory and ends; it does not leak; and
 * whoever starts after it finds a whole database, a file for every row, and every acknowledged upload, which
 * becomes ready.
 */
#define CONTRACT_STORE_URL "sqlite:%s/store.db"
#define CONTRACT_BLOBS_URL "dir:%s/blobs"
#include "tests/store/contract.h"
#include "tests/support/torture.h"
#include "tests/unit/jobs/fake_indexer.h"

#include <sqlite3.h>
#include <sys/wait.h>

#include "jobs/worker.h"
#include "service/ingest.h"

#define UPLOADS 2
#define WAIT_MS 6000

/* What the child tells, in memory that both see. */
struct report {
	bool acked[UPLOADS], acked_after_db_sync_failed, leaked, fired;
	char step[32], where[FAULTS_WHERE], code[UPLOADS][32];
	uint64_t count;
};

static uint32_t *stacks; /* of the counting run, shared */
static int stacks_fd = -1, report_fd = -1;

static const char *const scripts[UPLOADS] = { "trace rank0\ntrace rank1\nfail other",
					      "progress reading\ntrace rank2" };

static bool db_sync_failed(void)
{
	return faults_fired() && strstr(faults_where(), "sync") &&
	       strstr(faults_where(), "store.db");
}

static void upload_one(struct report *r, struct fsc_ingest *in, int i)
{
	struct fsc_upload_begin b = FSC_UPLOAD_BEGIN_INIT;
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_upload_done done;
	struct fsc_upload *u;
	bool broken = db_sync_failed();
	enum fsc_status st;

	b.name = "script";
	b.job = "torture";
	st = fsc_ingest_begin(&u, in, &b, &err);
	if (st == FSC_OK) {
		st = fsc_ingest_write(u, scripts[i], strlen(scripts[i]), &err);
		if (st == FSC_OK)
			st = fsc_ingest_finish(u, &done, &err);
		else
			fsc_ingest_abort(u);
	}
	r->acked[i] = st == FSC_OK;
	r->acked_after_db_sync_failed |= st == FSC_OK && (broken || db_sync_failed());
	snprintf(r->code[i], sizeof(r->code[i]), "%s", st == FSC_OK ? "" : err.code);
}

/* Until nothing is queued, or the store or the workers say that they are in trouble. */
static void poll_idle(struct fsc_store *s, struct fsc_worker *w)
{
	for (int i = 0; i < WAIT_MS / 2; i++) {
		struct fsc_store_stats stats;
		struct fsc_err err = FSC_ERR_INIT;
		struct fsc_worker_stats ws;

		if (fsc_store_health(s, &err) != FSC_OK)
			return;
		if (fsc_store_stats(s, &stats, &err) == FSC_OK &&
		    !stats.bundles[FSC_BUNDLE_QUEUED] && !stats.bundles[FSC_BUNDLE_INDEXING])
			return;
		fsc_worker_stats(w, &ws);
		if (ws.postponed > 3)
			return;
		usleep(2000);
	}
}

static void wait_idle(struct fsc_store *s, struct fsc_worker *w)
{
	faults_spare(true);
	poll_idle(s, w);
	faults_spare(false);
}

static void read_back(struct fsc_store *s)
{
	struct fsc_trace_query q = { .project = 1, .limit = 10 };
	struct fsc_trace_page page;
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_arena a;

	fsc_arena_init(&a, FSC_MIB);
	(void)!fsc_store_trace_list(s, &a, &q, &page, &err);
	fsc_arena_fini(&a);
}

static void serve(struct report *r, struct fsc_store *s, struct fsc_blobs *b)
{
	struct fsc_worker_opts wo = { .store = s,
				      .blobs = b,
				      .indexer = fake_indexer_path,
				      .poll_ns = 5000000,
				      .retry_ns = 1000000,
				      .max_pause_ns = 4000000,
				      .n_threads = 1 };
	struct fsc_ingest_opts io = { .store = s, .blobs = b, .queued = fsc_worker_wake };
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_worker *w = NULL;

	if (fsc_worker_start(&w, &wo, &err) != FSC_OK)
		return;
	io.queued_ctx = w;
	struct fsc_ingest *in = fsc_ingest_new(&io);

	for (int i = 0; i < UPLOADS; i++) {
		snprintf(r->step, sizeof(r->step), "upload %d", i);
		upload_one(r, in, i);
		wait_idle(s, w);
	}
	snprintf(r->step, sizeof(r->step), "list");
	read_back(s);
	snprintf(r->step, sizeof(r->step), "stop");
	fsc_worker_stop(w);
	fsc_ingest_free(in);
}

static void child_main(struct report *r, const struct place *p, enum fault_kind kind, uint64_t n)
{
	struct fsc_blobs_opts bo = { .min_free_bytes = 1, .reserve_bytes = 1 };
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_store *s = NULL;
	struct fsc_blobs *b = NULL;
	uint8_t digest[FSC_SHA256_LEN];
	char log[320];

	snprintf(log, sizeof(log), "%s/log", p->dir);
	int fd = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd >= 0)
		dup2(fd, 2);
	if (fd > 2)
		close(fd);
	/* libcrypto sets itself up at its first use and cannot do so without memory: it crashes. That is at start-up,
	 * before anything was taken. */
	fsc_sha256(digest, "", 0);
	fsc_random_bytes(digest, sizeof(digest));
	snprintf(r->step, sizeof(r->step), "open");
	if (!n)
		faults_record(stacks, TORTURE_MAX);
	faults_tell(r->where);
	faults_arm(kind, n);
	if (fsc_store_open(&s, p->store_url, NULL, &err) == FSC_OK &&
	    fsc_blobs_open(&b, p->blobs_url, &bo, &err) == FSC_OK)
		serve(r, s, b);
	snprintf(r->step, sizeof(r->step), "close");
	fsc_blobs_close(b);
	fsc_store_close(s);
	faults_disarm();
	r->count = faults_count();
	r->fired = faults_fired();
	snprintf(r->step, sizeof(r->step), "done");
	/* the unwinder of the counting run loads a library, which stays */
	r->leaked = n && faults_leaked();
	_exit(0);
}

/* ---- what it left ---- */

static void read_log(const struct place *p, char *buf, size_t cap)
{
	char path[320];

	snprintf(path, sizeof(path), "%s/log", p->dir);
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? 0 : read(fd, buf, cap - 1);

	buf[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		close(fd);
}

#define expect(what)                                                                          \
	do {                                                                                  \
		if (!(what)) {                                                                \
			read_log(p, log, sizeof(log));                                        \
			fail_msg("%s\n%s %llu (%s) at step \"%s\", codes %s %s: exit %x\n%s", \
				 #what, torture_kind(kind), (unsigned long long)n, r->where,  \
				 r->step, r->code[0], r->code[1], status, log);               \
		}                                                                             \
	} while (0)

static bool database_is_whole(const struct place *p)
{
	const char *text = "";
	sqlite3_stmt *q = NULL;
	sqlite3 *h = NULL;
	bool ok = sqlite3_open(p->store_url + strlen("sqlite:"), &h) == SQLITE_OK &&
		  sqlite3_prepare_v2(h, "PRAGMA integrity_check", -1, &q, NULL) == SQLITE_OK &&
		  sqlite3_step(q) == SQLITE_ROW &&
		  (text = (const char *)sqlite3_column_text(q, 0)) != NULL && !strcmp(text, "ok");

	sqlite3_finalize(q);
	sqlite3_close(h);
	return ok;
}

/* Every bundle has its blob and every trace its segment; returns the number of bundles, -1 if not so. */
static int rows_have_files(struct place *p)
{
	struct fsc_bundle_query q = { .project = 1 };
	struct fsc_bundle_page page;
	uint64_t size;

	assert_ok(p, fsc_store_bundle_list(p->s, &p->a, &q, &page, &p->err));
	for (size_t i = 0; i < page.n_items; i++) {
		struct fsc_trace_refs refs;
		struct fsc_bundle b = get_bundle(p, page.items[i].id);

		if (fsc_blob_stat(p->b, b.sha256, &size, &p->err) != FSC_OK ||
		    size != (uint64_t)b.bytes)
			return -1;
		assert_ok(p, fsc_store_bundle_traces(p->s, &p->a, b.id, &refs, &p->err));
		for (size_t k = 0; k < refs.n_items; k++) {
			struct fsc_trace_row row;
			int fd;

			assert_ok(p, fsc_store_trace_get(p->s, &p->a, 1, refs.items[k].id, &row,
							 &p->err));
			if (fsc_seg_file_open(p->b, row.segment, &fd, NULL, &p->err) != FSC_OK)
				return -1;
			close(fd);
		}
	}
	return (int)page.n_items;
}

/* Is the upload there, and does it become ready with all its traces? */
static bool becomes_ready(struct place *p, int i, size_t n_traces)
{
	struct fsc_bundle_query q = { .project = 1 };
	struct fsc_bundle_page page;
	uint8_t sha256[FSC_SHA256_LEN];

	digest_of(sha256, scripts[i]);
	assert_ok(p, fsc_store_bundle_list(p->s, &p->a, &q, &page, &p->err));
	for (size_t k = 0; k < page.n_items; k++) {
		struct fsc_bundle b = get_bundle(p, page.items[k].id);
		struct fsc_trace_refs refs;

		if (memcmp(b.sha256, sha256, sizeof(sha256)) != 0)
			continue;
		for (int t = 0; t < 4000 && b.state != FSC_BUNDLE_READY; t++) {
			if (b.state == FSC_BUNDLE_FAILED) {
				print_error("upload %d failed: %s: %s\n", i, b.err_code,
					    b.err_message);
				return false;
			}
			usleep(2000);
			b = get_bundle(p, b.id);
		}
		assert_ok(p, fsc_store_bundle_traces(p->s, &p->a, b.id, &refs, &p->err));
		if (refs.n_items != n_traces)
			print_error("upload %d is %s, tries %lld, with %zu traces\n", i,
				    fsc_bundle_state_name(b.state), (long long)b.tries,
				    refs.n_items);
		return refs.n_items == n_traces;
	}
	print_error("upload %d is not there\n", i);
	return false;
}

/* The sanitizer asks for memory too, when a thread starts, and has no answer to getting none. What it left is looked
 * at all the same. */
static bool sanitizer_gave_up(const struct place *p, char *log, size_t cap)
{
	read_log(p, log, cap);
	return strstr(log, "AddressSanitizer: CHECK failed: sanitizer_linux") != NULL;
}

static void look_after(struct place *p, const struct report *r, int status, enum fault_kind kind,
		       uint64_t n)
{
	static char log[1 << 16];
	struct fsc_worker_opts wo = { .store = NULL,
				      .indexer = fake_indexer_path,
				      .poll_ns = 5000000,
				      .retry_ns = 1000000,
				      .n_threads = 1 };
	struct fsc_worker *w;
	bool died = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;

	if (died) {
		read_log(p, log, sizeof(log));
		/* fsc_xalloc: there is no way to say so, and nothing that was acknowledged is lost */
		expect(kind == FAULT_ALLOC && strstr(log, "out of memory"));
	} else if (status == 0 || !sanitizer_gave_up(p, log, sizeof(log))) {
		expect(status == 0);
		expect(!r->leaked);
		expect(!r->acked_after_db_sync_failed);
	}
	expect(database_is_whole(p));
	place_open(p);
	expect(rows_have_files(p) >= r->acked[0] + r->acked[1]);
	wo.store = p->s;
	wo.blobs = p->b;
	assert_ok(p, fsc_worker_start(&w, &wo, &p->err));
	expect(!r->acked[0] || becomes_ready(p, 0, 2));
	expect(!r->acked[1] || becomes_ready(p, 1, 1));
	fsc_worker_stop(w);
	expect(rows_have_files(p) >= 0);
	place_close(p);
}

/* As a program of its own: what we have allocated, and which threads we had, is nothing that its leak checker should
 * have to understand. */
static void start_again(const struct place *p, enum fault_kind kind, uint64_t n)
{
	char text[4][24];

	snprintf(text[0], sizeof(text[0]), "%d", (int)kind);
	snprintf(text[1], sizeof(text[1]), "%llu", (unsigned long long)n);
	snprintf(text[2], sizeof(text[2]), "%d", report_fd);
	snprintf(text[3], sizeof(text[3]), "%d", n ? -1 : stacks_fd);
	execl("/proc/self/exe", "test_torture", "--serve", p->dir, text[0], text[1], text[2],
	      text[3], (char *)NULL);
	_exit(127);
}

/* The other end of start_again. */
static void serve_main(char **argv)
{
	static struct place p;
	enum fault_kind kind = (enum fault_kind)strtol(argv[3], NULL, 10);
	uint64_t n = strtoull(argv[4], NULL, 10);
	int fd = (int)strtol(argv[6], NULL, 10);

	snprintf(p.dir, sizeof(p.dir), "%s", argv[2]);
	snprintf(p.store_url, sizeof(p.store_url), CONTRACT_STORE_URL, p.dir);
	snprintf(p.blobs_url, sizeof(p.blobs_url), CONTRACT_BLOBS_URL, p.dir);
	if (fd >= 0)
		stacks = torture_map(fd, TORTURE_MAX * sizeof(*stacks));
	child_main(torture_map((int)strtol(argv[5], NULL, 10), sizeof(struct report)), &p, kind, n);
}

static void run_one(enum fault_kind kind, uint64_t n, struct report *r)
{
	void *state = NULL;
	int status = 0;

	place_setup(&state);
	struct place *p = state;

	place_close(p);
	memset(r, 0, sizeof(*r));
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		start_again(p, kind, n);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	look_after(p, r, status, kind, n);
	place_teardown(&state);
}

static void torture(enum fault_kind kind)
{
	struct report *r = torture_shared(&report_fd, sizeof(*r));
	size_t fired = 0;

	if (test_is_wrapped())
		skip();
	stacks = torture_shared(&stacks_fd, TORTURE_MAX * sizeof(*stacks));
	run_one(kind, 0, r);
	assert_true(r->acked[0] && r->acked[1] && !r->fired);
	struct torture_plan plan = torture_plan(stacks, r->count);

	print_message("# %zu of %zu %ss are to fail in turn\n", plan.len, (size_t)r->count,
		      torture_kind(kind));
	munmap(stacks, TORTURE_MAX * sizeof(*stacks));
	stacks = NULL;
	close(stacks_fd);
	for (size_t i = 0; i < plan.len; i++) {
		run_one(kind, plan.n[i], r);
		fired += r->fired || strcmp(r->step, "done") != 0;
	}
	/* the last few depend on how the threads ran */
	print_message("# %zu did\n", fired);
	assert_true(fired >= plan.len * 8 / 10);
	free(plan.n);
	munmap(r, sizeof(*r));
	close(report_fd);
}

static void an_allocation_that_fails_costs_no_acknowledged_upload(void **state)
{
	(void)state;
	torture(FAULT_ALLOC);
}

static void a_file_operation_that_fails_costs_no_acknowledged_upload(void **state)
{
	(void)state;
	torture(FAULT_IO);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_allocation_that_fails_costs_no_acknowledged_upload),
		cmocka_unit_test(a_file_operation_that_fails_costs_no_acknowledged_upload),
	};

	fake_indexer_main(argc, argv);
	if (argc == 7 && !strcmp(argv[1], "--serve"))
		serve_main(argv);
	torture_use_memory();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
