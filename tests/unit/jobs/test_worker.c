/* SPDX-License-Identifier: Apache-2.0 */
/* Workers from lease to publish, with indexers that behave and indexers that do not. */
#define CONTRACT_STORE_URL "sqlite:%s/store.db"
#define CONTRACT_BLOBS_URL "dir:%s/blobs"
#include "tests/store/contract.h"
#include "tests/unit/jobs/fake_indexer.h"

#include "jobs/index_run.h"
#include "jobs/worker.h"
#include "service/ingest.h"
#include "tests/unit/service/remove.h"

static struct fsc_worker *start_with(struct place *p, struct fsc_worker_opts o)
{
	struct fsc_worker *w;

	o.store = p->s;
	o.blobs = p->b;
	o.indexer = fake_indexer_path;
	o.n_threads = o.n_threads ? o.n_threads : 2;
	o.poll_ns = 20000000;
	o.retry_ns = 1000000;
	assert_ok(p, fsc_worker_start(&w, &o, &p->err));
	return w;
}

static struct fsc_worker *start(struct place *p)
{
	return start_with(p, (struct fsc_worker_opts){ 0 });
}

static int64_t upload(struct place *p, const char *script)
{
	struct fsc_ingest_opts o = { .store = p->s, .blobs = p->b };
	struct fsc_ingest *in = fsc_ingest_new(&o);
	struct fsc_upload_begin b = FSC_UPLOAD_BEGIN_INIT;
	struct fsc_upload_done done;
	struct fsc_upload *u;

	b.name = "script";
	assert_ok(p, fsc_ingest_begin(&u, in, &b, &p->err));
	assert_ok(p, fsc_ingest_write(u, script, strlen(script), &p->err));
	assert_ok(p, fsc_ingest_finish(u, &done, &p->err));
	fsc_ingest_free(in);
	return done.id;
}

static struct fsc_bundle wait_end(struct place *p, int64_t id)
{
	struct fsc_bundle b = get_bundle(p, id);

	for (int i = 0; i < 2000 && b.state != FSC_BUNDLE_READY && b.state != FSC_BUNDLE_FAILED;
	     i++) {
		usleep(10000);
		b = get_bundle(p, id);
	}
	return b;
}

static void wait_state(struct place *p, int64_t id, enum fsc_bundle_state state)
{
	for (int i = 0; i < 2000 && get_bundle(p, id).state != state; i++)
		usleep(5000);
	assert_int_equal(get_bundle(p, id).state, state);
}

/* Descriptor of the segment of a trace. */
static int open_segment(struct place *p, int64_t trace)
{
	struct fsc_trace_row row;
	int fd;

	assert_ok(p, fsc_store_trace_get(p->s, &p->a, 1, trace, &row, &p->err));
	assert_ok(p, fsc_seg_file_open(p->b, row.segment, &fd, NULL, &p->err));
	return fd;
}

static void assert_segment(struct place *p, int64_t trace, const char *text)
{
	struct fsc_seg *seg;
	int fd = open_segment(p, trace);

	assert_ok(p, fsc_seg_open(&seg, fd, &p->err));
	assert_string_equal(fsc_seg_str(seg, fsc_seg_info(seg)->job, NULL), text);
	fsc_seg_unref(seg);
	close(fd);
}

static struct fsc_trace_refs traces_of(struct place *p, int64_t bundle)
{
	struct fsc_trace_refs t;

	assert_ok(p, fsc_store_bundle_traces(p->s, &p->a, bundle, &t, &p->err));
	return t;
}

static void a_queued_bundle_becomes_ready_with_its_segments(void **state)
{
	struct place *p = *state;
	int64_t id = upload(p, "trace rank0\ntrace rank1\nfail rank2");
	struct fsc_worker *w = start(p);
	struct fsc_bundle b = wait_end(p, id);
	struct fsc_kernel_query kq = { 0 };
	struct fsc_kernel_page ks;
	struct fsc_worker_stats stats;
	struct fsc_trace_refs t;

	fsc_worker_stats(w, &stats);
	fsc_worker_stop(w);
	assert_int_equal(b.state, FSC_BUNDLE_READY);
	assert_true(b.n_traces == 2 && b.n_failures == 1 && b.tries == 1);
	t = traces_of(p, id);
	assert_segment(p, t.items[0].id, "rank0");
	assert_segment(p, t.items[1].id, "rank1");
	kq.trace = t.items[1].id;
	assert_ok(p, fsc_store_trace_kernels(p->s, &p->a, &kq, &ks, &p->err));
	assert_string_equal(ks.items[0].name, "rank1");
	assert_int_equal(count_files(p, FSC_BLOB_TEMP), 0);
	assert_int_equal(count_files(p, FSC_BLOB_SEGMENT), 2);
}

static void a_withdrawn_trace_leaves_no_facts_and_no_segment(void **state)
{
	struct place *p = *state;
	int64_t id = upload(p, "trace good\nwithdraw bad\ntrace good2");
	struct fsc_worker *w = start(p);
	struct fsc_bundle b = wait_end(p, id);
	struct fsc_trace_query q = { .project = 1, .q = "bad" };
	struct fsc_trace_page page;
	struct fsc_failures f;

	fsc_worker_stop(w);
	assert_int_equal(b.state, FSC_BUNDLE_READY);
	assert_int_equal(b.n_traces, 2);
	assert_int_equal(count_files(p, FSC_BLOB_SEGMENT), 2);
	assert_segment(p, traces_of(p, id).items[1].id, "good2");
	assert_ok(p, fsc_store_trace_list(p->s, &p->a, &q, &page, &p->err));
	assert_int_equal(page.total, 0);
	assert_ok(p, fsc_store_bundle_failures(p->s, &p->a, id, &f, &p->err));
	assert_int_equal(f.n_items, 1);
	assert_string_equal(f.items[0].file, "bad");
}

static void a_killed_indexer_is_tried_again_then_fails_with_the_reason(void **state)
{
	struct place *p = *state;
	int64_t id = upload(p, "trace rank0\ndie");
	struct fsc_worker *w = start(p);
	struct fsc_bundle b = wait_end(p, id);
	struct fsc_worker_stats stats;

	fsc_worker_stats(w, &stats);
	fsc_worker_stop(w);
	assert_int_equal(b.state, FSC_BUNDLE_FAILED);
	assert_string_equal(b.err_code, "indexer_killed");
	assert_non_null(strstr(b.err_message, "signal 9"));
	assert_true(b.tries == 3);
	assert_int_equal(count_files(p, FSC_BLOB_TEMP), 0);
	assert_int_equal(count_files(p, FSC_BLOB_SEGMENT), 0);
}

static void an_indexer_killed_once_does_not_spoil_the_bundle(void **state)
{
	struct place *p = *state;
	char script[400];
	struct fsc_worker *w;
	struct fsc_bundle b;
	int64_t id;

	snprintf(script, sizeof(script), "trace rank0\ndie_once %s/marker\ntrace rank1", p->dir);
	id = upload(p, script);
	w = start(p);
	b = wait_end(p, id);
	fsc_worker_stop(w);
	assert_int_equal(b.state, FSC_BUNDLE_READY);
	assert_true(b.tries == 2 && b.n_traces == 2);
	assert_null(b.err_code);
}

static void nonsense_from_the_indexer_is_final(void **state)
{
	struct place *p = *state;
	static const char *const scripts[] = { "trace rank0\nnonsense", "nonsense" };

	for (size_t i = 0; i < FSC_ARRAY_LEN(scripts); i++) {
		int64_t id = upload(p, scripts[i]);
		struct fsc_worker *w = start(p);
		struct fsc_bundle b = wait_end(p, id);

		fsc_worker_stop(w);
		assert_int_equal(b.state, FSC_BUNDLE_FAILED);
		assert_string_equal(b.err_code, "indexer_protocol");
		assert_true(b.tries == 1);
		assert_int_equal(count_files(p, FSC_BLOB_SEGMENT), 0);
	}
}

static void an_indexer_that_sends_rows_without_end_is_stopped(void **state)
{
	struct place *p = *state;
	char script[64];
	int64_t fits, too_many;
	struct fsc_worker *w;
	struct fsc_bundle b;

	fits = upload(p, "rows 20000");
	snprintf(script, sizeof(script), "rows %u", FSC_FACT_ROWS_STREAM + 1);
	too_many = upload(p, script);
	w = start(p);
	assert_int_equal(wait_end(p, fits).state, FSC_BUNDLE_READY);
	b = wait_end(p, too_many);
	fsc_worker_stop(w);
	assert_int_equal(b.state, FSC_BUNDLE_FAILED);
	assert_string_equal(b.err_code, "indexer_protocol");
	assert_true(b.tries == 1);
}

/* Behind its table of contents too: nobody has looked at these bytes before. */
static void a_bad_segment_is_not_published(void **state)
{
	static const char *const scripts[] = { "trace good\ngarbage bad",
					       "trace good\ndamaged bad" };
	struct place *p = *state;

	for (size_t i = 0; i < FSC_ARRAY_LEN(scripts); i++) {
		int64_t id = upload(p, scripts[i]);
		struct fsc_worker *w = start(p);
		struct fsc_bundle b = wait_end(p, id);

		fsc_worker_stop(w);
		assert_int_equal(b.state, FSC_BUNDLE_FAILED);
		assert_string_equal(b.err_code, "indexer_protocol");
		assert_true(b.tries == 1);
		assert_int_equal(traces_of(p, id).n_items, 0);
		assert_int_equal(count_files(p, FSC_BLOB_SEGMENT), 0);
		assert_int_equal(count_files(p, FSC_BLOB_TEMP), 0);
	}
}

static void an_indexer_over_its_time_is_ended(void **state)
{
	struct place *p = *state;
	int64_t id = upload(p, "slow 60000");
	struct fsc_worker *w = start_with(p, (struct fsc_worker_opts){ .max_wall_s = 1 });
	struct fsc_bundle b = wait_end(p, id);

	fsc_worker_stop(w);
	assert_int_equal(b.state, FSC_BUNDLE_FAILED);
	assert_string_equal(b.err_code, "indexer_timeout");
	assert_true(b.tries == 1);
}

static void stopping_gives_the_job_back_untried(void **state)
{
	struct place *p = *state;
	int64_t id = upload(p, "trace rank0\nslow 30000"), t0 = fsc_clock_mono_ns();
	struct fsc_worker *w = start(p);
	struct fsc_store_lease l;

	wait_state(p, id, FSC_BUNDLE_INDEXING);
	fsc_worker_stop(w);
	assert_true(fsc_clock_mono_ns() - t0 < 10000000000);
	assert_int_equal(get_bundle(p, id).state, FSC_BUNDLE_QUEUED);
	assert_int_equal(count_files(p, FSC_BLOB_TEMP), 0);
	assert_ok(p, fsc_queue_lease(p->q, "me", 1000000000, &l, &p->err));
	assert_int_equal(l.tries, 1);
}

static void a_lease_of_a_dead_process_is_taken_up_at_once(void **state)
{
	struct place *p = *state;
	int64_t id = upload(p, "trace rank0");
	struct fsc_store_lease l;
	struct fsc_worker *w;
	struct fsc_bundle b;

	assert_ok(p, fsc_queue_lease(p->q, "dead", 3600000000000, &l, &p->err));
	w = start(p);
	b = wait_end(p, id);
	fsc_worker_stop(w);
	assert_int_equal(b.state, FSC_BUNDLE_READY);
	assert_true(b.tries == 1);
}

static void deleting_a_bundle_ends_its_indexing(void **state)
{
	struct place *p = *state;
	int64_t id = upload(p, "trace rank0\nslow 30000");
	struct fsc_ingest_opts o = { .store = p->s, .blobs = p->b };
	struct fsc_ingest *in = fsc_ingest_new(&o);
	struct fsc_worker *w = start_with(p, (struct fsc_worker_opts){ .lease_ns = 300000000 });
	struct fsc_worker_stats stats = { .running = 1 };

	wait_state(p, id, FSC_BUNDLE_INDEXING);
	assert_ok(p, delete_bundle(in, 1, id, &p->err));
	for (int i = 0; i < 500 && stats.running; i++) {
		usleep(10000);
		fsc_worker_stats(w, &stats);
	}
	assert_int_equal(stats.running, 0);
	assert_int_equal(stats.returned, 1);
	fsc_worker_stop(w);
	fsc_ingest_free(in);
	assert_int_equal(count_files(p, FSC_BLOB_TEMP), 0);
	assert_int_equal(count_files(p, FSC_BLOB_BLOB), 0);
	assert_int_equal(count_files(p, FSC_BLOB_SEGMENT), 0);
}

static void progress_is_seen_while_it_runs(void **state)
{
	struct place *p = *state;
	int64_t id = upload(p, "progress parse\nslow 700\ntrace rank0");
	struct fsc_worker *w = start(p);
	struct fsc_bundle b = get_bundle(p, id);

	for (int i = 0; i < 400 && strcmp(b.stage, "parse") != 0; i++) {
		usleep(5000);
		b = get_bundle(p, id);
	}
	assert_string_equal(b.stage, "parse");
	assert_string_equal(b.member, "member");
	assert_true(b.done == 3 && b.total == 9 && b.events == 27 && b.started_at_ns > 0);
	b = wait_end(p, id);
	assert_string_equal(b.stage, "");
	fsc_worker_stop(w);
}

static void a_heartbeat_outlasts_the_lease(void **state)
{
	struct place *p = *state;
	int64_t id = upload(p, "slow 1500\ntrace rank0");
	struct fsc_worker *w =
		start_with(p, (struct fsc_worker_opts){ .lease_ns = 300000000, .n_threads = 3 });
	struct fsc_bundle b = wait_end(p, id);

	fsc_worker_stop(w);
	assert_int_equal(b.state, FSC_BUNDLE_READY);
	assert_true(b.tries == 1);
}

static void indexing_again_keeps_ids_and_segments(void **state)
{
	struct place *p = *state;
	struct fsc_trace_refs before, after;
	struct fsc_worker *w;
	int64_t id;

	id = upload(p, "trace rank0\ntrace rank1\n");
	w = start(p);
	wait_state(p, id, FSC_BUNDLE_READY);
	before = traces_of(p, id);
	assert_ok(p, fsc_store_bundle_reindex(p->s, 1, id, &p->err));
	fsc_worker_wake(w);
	for (int i = 0; i < 500 && get_bundle(p, id).state != FSC_BUNDLE_READY; i++)
		usleep(5000);
	after = traces_of(p, id);
	fsc_worker_stop(w);
	assert_int_equal(after.n_items, 2);
	assert_true(after.items[0].id == before.items[0].id);
	assert_true(after.items[1].id == before.items[1].id);
	assert_int_equal(count_files(p, FSC_BLOB_SEGMENT), 2);
}

static void indexing_again_drops_what_is_gone(void **state)
{
	struct place *p = *state;
	struct fsc_worker *w;
	char script[400];
	int64_t id;

	snprintf(script, sizeof(script), "trace stays\nvanish %s/marker", p->dir);
	id = upload(p, script);
	w = start(p);
	wait_state(p, id, FSC_BUNDLE_READY);
	assert_int_equal(count_files(p, FSC_BLOB_SEGMENT), 2);
	assert_ok(p, fsc_store_bundle_reindex(p->s, 1, id, &p->err));
	fsc_worker_wake(w);
	wait_state(p, id, FSC_BUNDLE_READY);
	fsc_worker_stop(w);
	assert_int_equal(traces_of(p, id).n_items, 1);
	assert_string_equal(traces_of(p, id).items[0].name, "stays");
	assert_int_equal(count_files(p, FSC_BLOB_SEGMENT), 1);
}

/* Facts and segment of a trace change together or not at all. */
static void a_run_that_is_not_published_leaves_the_old_segment_in_use(void **state)
{
	static const char *const words[] = { "dup_if", "again_if" };
	static const char *const codes[] = { "facts", "indexer_protocol" };
	struct place *p = *state;

	for (int k = 0; k < 2; k++) {
		char script[400], marker[320];
		struct stat before, after;
		struct fsc_worker *w = start(p);
		struct fsc_bundle b;
		int64_t id, trace;
		int fd;

		snprintf(marker, sizeof(marker), "%s/marker%d", p->dir, k);
		snprintf(script, sizeof(script), "trace rank0\n%s %s", words[k], marker);
		id = upload(p, script);
		assert_int_equal(wait_end(p, id).state, FSC_BUNDLE_READY);
		trace = traces_of(p, id).items[0].id;
		fd = open_segment(p, trace);
		assert_int_equal(fstat(fd, &before), 0);
		close(fd);
		close(open(marker, O_CREAT | O_WRONLY, 0600));
		assert_ok(p, fsc_store_bundle_reindex(p->s, 1, id, &p->err));
		fsc_worker_wake(w);
		b = wait_end(p, id);
		fsc_worker_stop(w);
		assert_int_equal(b.state, FSC_BUNDLE_FAILED);
		assert_string_equal(b.err_code, codes[k]);
		fd = open_segment(p, trace);
		assert_int_equal(fstat(fd, &after), 0);
		close(fd);
		assert_true(before.st_ino == after.st_ino);
		assert_int_equal(count_files(p, FSC_BLOB_SEGMENT), k + 1);
		assert_int_equal(count_files(p, FSC_BLOB_TEMP), 0);
	}
}

/* Nobody tells the worker before it publishes: the lease is long, so there is no heartbeat meanwhile. */
static void a_bundle_deleted_before_publishing_leaves_no_segments(void **state)
{
	struct place *p = *state;
	int64_t id = upload(p, "trace rank0\nslow 600");
	struct fsc_ingest_opts o = { .store = p->s, .blobs = p->b };
	struct fsc_ingest *in = fsc_ingest_new(&o);
	struct fsc_worker *w = start(p);
	struct fsc_worker_stats stats = { 0 };

	wait_state(p, id, FSC_BUNDLE_INDEXING);
	assert_ok(p, delete_bundle(in, 1, id, &p->err));
	for (int i = 0; i < 500 && !stats.returned; i++) {
		usleep(10000);
		fsc_worker_stats(w, &stats);
	}
	assert_int_equal(stats.returned, 1);
	fsc_worker_stop(w);
	fsc_ingest_free(in);
	assert_int_equal(count_files(p, FSC_BLOB_SEGMENT), 0);
	assert_int_equal(count_files(p, FSC_BLOB_TEMP), 0);
}

static void a_missing_blob_is_said_so(void **state)
{
	struct place *p = *state;
	int64_t id = upload(p, "trace rank0");
	struct fsc_worker *w;
	struct fsc_bundle b = get_bundle(p, id);

	assert_ok(p, fsc_blob_delete(p->b, b.sha256, &p->err));
	w = start(p);
	b = wait_end(p, id);
	fsc_worker_stop(w);
	assert_int_equal(b.state, FSC_BUNDLE_FAILED);
	assert_string_equal(b.err_code, "blob_gone");
}

static void wait_postponed(struct fsc_worker *w, uint64_t n)
{
	struct fsc_worker_stats stats = { 0 };

	for (int i = 0; i < 2000 && stats.postponed < n; i++) {
		usleep(5000);
		fsc_worker_stats(w, &stats);
	}
	assert_true(stats.postponed >= n);
}

static void a_missing_indexer_is_waited_for_however_long(void **state)
{
	struct place *p = *state;
	int64_t id = upload(p, "trace rank0");
	char path[320];
	struct fsc_worker_opts o = { .store = p->s,
				     .blobs = p->b,
				     .indexer = path,
				     .poll_ns = 10000000,
				     .retry_ns = 1000000,
				     .max_pause_ns = 20000000,
				     .n_threads = 1 };
	struct fsc_err why = FSC_ERR_INIT;
	struct fsc_worker *w;
	struct fsc_bundle b;

	if (test_is_wrapped())
		skip();
	snprintf(path, sizeof(path), "%s/indexer", p->dir);
	assert_ok(p, fsc_worker_start(&w, &o, &p->err));
	wait_postponed(w, 2 * FSC_QUEUE_MAX_TRIES);
	assert_true(fsc_worker_trouble(w, &why));
	assert_string_equal(why.code, "indexer_start");
	b = get_bundle(p, id);
	assert_true(b.state == FSC_BUNDLE_QUEUED || b.state == FSC_BUNDLE_INDEXING);
	assert_int_equal(symlink(fake_indexer_path, path), 0);
	b = wait_end(p, id);
	assert_false(fsc_worker_trouble(w, &why));
	fsc_worker_stop(w);
	assert_int_equal(b.state, FSC_BUNDLE_READY);
	assert_true(b.tries == 1);
}

/* What was made before stays, the bundle does not fail, and with room again the run is done. */
static void trouble_of_the_host_while_indexing_again_costs_nothing(void **state)
{
	static const char *const words[] = { "full_if", "io_if" };
	static const char *const codes[] = { "disk_full", "indexer_io" };
	struct place *p = *state;

	for (size_t k = 0; k < FSC_ARRAY_LEN(words); k++) {
		char script[400], marker[320];
		struct fsc_err why = FSC_ERR_INIT;
		struct fsc_trace_refs before;
		struct fsc_worker *w =
			start_with(p, (struct fsc_worker_opts){ .max_pause_ns = 20000000 });
		struct fsc_bundle b;
		int64_t id;

		snprintf(marker, sizeof(marker), "%s/marker%zu", p->dir, k);
		snprintf(script, sizeof(script), "trace rank%zu\n%s %s", k, words[k], marker);
		id = upload(p, script);
		b = wait_end(p, id);
		assert_int_equal(b.state, FSC_BUNDLE_READY);
		before = traces_of(p, id);
		close(open(marker, O_CREAT | O_WRONLY, 0600));
		assert_ok(p, fsc_store_bundle_reindex(p->s, 1, id, &p->err));
		fsc_worker_wake(w);
		wait_postponed(w, 2 * FSC_QUEUE_MAX_TRIES);
		assert_true(fsc_worker_trouble(w, &why));
		assert_string_equal(why.code, codes[k]);
		assert_int_equal(traces_of(p, id).n_items, 1);
		snprintf(script, sizeof(script), "rank%zu", k);
		assert_segment(p, before.items[0].id, script);
		unlink(marker);
		b = wait_end(p, id);
		fsc_worker_stop(w);
		assert_int_equal(b.state, FSC_BUNDLE_READY);
		assert_true(b.tries == 1 && b.n_failures == 0);
		assert_true(traces_of(p, id).items[0].id == before.items[0].id);
	}
}

static void the_log_tells_why_a_bundle_failed_for_its_content(void **state)
{
	struct place *p = *state;
	char path[320], text[4096] = "";
	int64_t id = upload(p, "fail rank7.json");
	struct fsc_worker *w;
	int fd;

	snprintf(path, sizeof(path), "%s/log", p->dir);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	assert_true(fd >= 0);
	fsc_log_setup(fd, FSC_LOG_INFO);
	w = start(p);
	assert_int_equal(wait_end(p, id).state, FSC_BUNDLE_FAILED);
	fsc_worker_stop(w);
	fsc_log_setup(2, FSC_LOG_ERROR);
	assert_true(pread(fd, text, sizeof(text) - 1, 0) > 0);
	close(fd);
	if (!strstr(text, "msg=failed") || !strstr(text, "code=json_truncated") ||
	    !strstr(text, "rank7.json") || !strstr(text, "cut short"))
		fail_msg("%s", text);
}

static void many_bundles_on_many_threads_all_end(void **state)
{
	struct place *p = *state;
	struct fsc_worker *w = start_with(p, (struct fsc_worker_opts){ .n_threads = 4 });
	int64_t id[30];

	for (int i = 0; i < 30; i++) {
		char script[64];

		snprintf(script, sizeof(script), "trace t%d\n%s", i,
			 i % 3 ? "trace other" : "fail other");
		id[i] = upload(p, script);
		fsc_worker_wake(w);
	}
	for (int i = 0; i < 30; i++)
		assert_int_equal(wait_end(p, id[i]).state, FSC_BUNDLE_READY);
	fsc_worker_stop(w);
	assert_int_equal(count_files(p, FSC_BLOB_SEGMENT), 50);
	assert_int_equal(count_files(p, FSC_BLOB_TEMP), 0);
}

static void the_hosts_trouble_is_told_from_the_bundles(void **state)
{
	static const struct {
		enum fsc_status st;
		const char *code;
		bool hosts;
		int64_t second; /* pause before the second try, when it counts */
	} all[] = {
		{ FSC_EFULL, "disk_full", true, 0 },
		{ FSC_EBUSY, "store_busy", true, 0 },
		{ FSC_EIO, "store_io", true, 0 },
		{ FSC_EIO, "store_broken", true, 0 },
		{ FSC_EIO, "io", true, 0 },
		{ FSC_EIO, "indexer_io", true, 0 },
		{ FSC_EIO, "indexer_start", true, 0 },
		{ FSC_EDENIED, "denied", true, 0 },
		{ FSC_ENOMEM, "nomem", true, 0 },
		{ FSC_EIO, "indexer_killed", false, 10 },
		{ FSC_EBUG, "bug", false, 10 },
		{ FSC_ENOMEM, "indexer_memory", false, -1 },
		{ FSC_ECANCELED, "indexer_timeout", false, -1 },
		{ FSC_EPARSE, "indexer_protocol", false, -1 },
		{ FSC_EPARSE, "facts", false, -1 },
		{ FSC_ENOTFOUND, "blob_gone", false, -1 },
	};

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(all); i++) {
		struct fsc_err err = FSC_ERR_INIT;

		fsc_err_set(&err, all[i].st, all[i].code, "x");
		if (fsc_index_host_trouble(&err) != all[i].hosts)
			fail_msg("%s", all[i].code);
		if (all[i].hosts)
			continue;
		assert_int_equal(fsc_index_retry_after(&err, 10, 1), all[i].second);
		if (all[i].second > 0)
			assert_int_equal(fsc_index_retry_after(&err, 10, 2), 20);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		contract_test(a_queued_bundle_becomes_ready_with_its_segments),
		contract_test(a_withdrawn_trace_leaves_no_facts_and_no_segment),
		contract_test(a_killed_indexer_is_tried_again_then_fails_with_the_reason),
		contract_test(an_indexer_killed_once_does_not_spoil_the_bundle),
		contract_test(nonsense_from_the_indexer_is_final),
		contract_test(an_indexer_that_sends_rows_without_end_is_stopped),
		contract_test(a_bad_segment_is_not_published),
		contract_test(an_indexer_over_its_time_is_ended),
		contract_test(stopping_gives_the_job_back_untried),
		contract_test(a_lease_of_a_dead_process_is_taken_up_at_once),
		contract_test(deleting_a_bundle_ends_its_indexing),
		contract_test(progress_is_seen_while_it_runs),
		contract_test(a_heartbeat_outlasts_the_lease),
		contract_test(indexing_again_keeps_ids_and_segments),
		contract_test(indexing_again_drops_what_is_gone),
		contract_test(a_run_that_is_not_published_leaves_the_old_segment_in_use),
		contract_test(a_bundle_deleted_before_publishing_leaves_no_segments),
		contract_test(a_missing_blob_is_said_so),
		contract_test(a_missing_indexer_is_waited_for_however_long),
		contract_test(trouble_of_the_host_while_indexing_again_costs_nothing),
		contract_test(the_log_tells_why_a_bundle_failed_for_its_content),
		contract_test(many_bundles_on_many_threads_all_end),
		cmocka_unit_test(the_hosts_trouble_is_told_from_the_bundles),
	};

	fake_indexer_main(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
