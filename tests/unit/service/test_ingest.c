/* SPDX-License-Identifier: Apache-2.0 */
/* Uploads, deletes and the sweep: what is refused, what is kept, what goes. */
#define CONTRACT_STORE_URL "sqlite:%s/store.db"
#define CONTRACT_BLOBS_URL "dir:%s/blobs"
#include "tests/store/contract.h"

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/log.h"
#include "service/ingest.h"
#include "tests/unit/service/remove.h"
#include "store/blob_ops.h"

/* Stands for others who fill the disk. */
static void blobs_now_need_free(struct fsc_blobs *b, uint64_t bytes)
{
	b->min_free_bytes = bytes;
}

static int n_queued;

static void on_queued(void *ctx)
{
	(void)ctx;
	__atomic_fetch_add(&n_queued, 1, __ATOMIC_RELAXED);
}

static struct fsc_ingest *ingest(struct place *p, uint64_t max_bytes)
{
	struct fsc_ingest_opts o = {
		.store = p->s, .blobs = p->b, .max_bytes = max_bytes, .queued = on_queued
	};

	return fsc_ingest_new(&o);
}

static enum fsc_status upload(struct place *p, struct fsc_ingest *in,
			      const struct fsc_upload_begin *b, const char *text,
			      struct fsc_upload_done *done)
{
	struct fsc_upload *u;
	enum fsc_status st = fsc_ingest_begin(&u, in, b, &p->err);

	if (st != FSC_OK)
		return st;
	for (size_t i = 0; text[i] && st == FSC_OK; i++)
		st = fsc_ingest_write(u, text + i, 1, &p->err);
	if (st != FSC_OK) {
		fsc_ingest_abort(u);
		return st;
	}
	return fsc_ingest_finish(u, done, &p->err);
}

static void an_upload_is_stored_and_queued(void **state)
{
	struct place *p = *state;
	struct fsc_ingest *in = ingest(p, 0);
	struct fsc_upload_begin b = FSC_UPLOAD_BEGIN_INIT;
	struct fsc_upload_done done, again;
	struct fsc_bundle row;
	uint8_t want[FSC_SHA256_LEN];
	uint64_t size;

	n_queued = 0;
	digest_of(want, "hello");
	b.name = "x.json";
	b.rank = 2;
	b.bytes = 5;
	b.sha256 = want;
	assert_ok(p, upload(p, in, &b, "hello", &done));
	assert_memory_equal(done.sha256, want, sizeof(want));
	assert_true(done.bytes == 5 && !done.duplicate && done.state == FSC_BUNDLE_QUEUED);
	assert_int_equal(n_queued, 1);
	row = get_bundle(p, done.id);
	assert_string_equal(row.name, "x.json");
	assert_true(row.rank == 2 && row.bytes == 5);
	assert_ok(p, fsc_blob_stat(p->b, want, &size, &p->err));
	b.job = "late";
	assert_ok(p, upload(p, in, &b, "hello", &again));
	assert_true(again.duplicate && again.id == done.id && again.ignored == FSC_META_JOB);
	assert_int_equal(n_queued, 1);
	assert_int_equal(count_files(p, FSC_BLOB_TEMP), 0);
	fsc_ingest_free(in);
}

static void a_body_that_is_not_what_was_announced_is_refused(void **state)
{
	struct place *p = *state;
	struct fsc_ingest *in = ingest(p, 10);
	struct fsc_upload_begin b = FSC_UPLOAD_BEGIN_INIT;
	struct fsc_upload_done done;
	uint8_t other[FSC_SHA256_LEN];

	digest_of(other, "other");
	b.sha256 = other;
	assert_fails(p, upload(p, in, &b, "hello", &done), FSC_ECORRUPT, "digest_mismatch");
	b.sha256 = NULL;
	b.bytes = 6;
	assert_fails(p, upload(p, in, &b, "hello", &done), FSC_EINVAL, "length_mismatch");
	b.bytes = 4;
	assert_fails(p, upload(p, in, &b, "hello", &done), FSC_EINVAL, "length_mismatch");
	b.bytes = 0;
	assert_fails(p, upload(p, in, &b, "", &done), FSC_EINVAL, "empty_body");
	b.bytes = -1;
	assert_fails(p, upload(p, in, &b, "", &done), FSC_EINVAL, "empty_body");
	assert_fails(p, upload(p, in, &b, "eleven byte", &done), FSC_ELIMIT, "too_large");
	b.bytes = 11;
	assert_fails(p, upload(p, in, &b, "eleven byte", &done), FSC_ELIMIT, "too_large");
	b.bytes = -1;
	assert_ok(p, upload(p, in, &b, "ten bytes.", &done));
	assert_int_equal(count_files(p, FSC_BLOB_TEMP), 0);
	assert_int_equal(count_files(p, FSC_BLOB_BLOB), 1);
	fsc_ingest_free(in);
}

static void metadata_is_checked(void **state)
{
	struct place *p = *state;
	struct fsc_ingest *in = ingest(p, 0);
	struct fsc_upload_begin b = FSC_UPLOAD_BEGIN_INIT;
	struct fsc_upload_done done;
	char longest[300];
	const char *bad[] = { longest, "a\nb", "a\x7f", "\xff\xfe", "\xc3" };

	memset(longest, 'a', sizeof(longest));
	longest[256] = '\0';
	for (size_t i = 0; i < FSC_ARRAY_LEN(bad); i++) {
		b.job = bad[i];
		assert_fails(p, upload(p, in, &b, "x", &done), FSC_EINVAL, "metadata");
	}
	longest[255] = '\0';
	b.job = longest;
	b.name = "../../etc/\xc3\xa9 passwd"; /* a name is data */
	assert_ok(p, upload(p, in, &b, "x", &done));
	b.rank = -2;
	assert_fails(p, upload(p, in, &b, "y", &done), FSC_EINVAL, "metadata");
	fsc_ingest_free(in);
}

static void a_refused_key_leaves_no_blob(void **state)
{
	struct place *p = *state;
	struct fsc_ingest *in = ingest(p, 0);
	struct fsc_upload_begin b = FSC_UPLOAD_BEGIN_INIT;
	struct fsc_upload_done done;

	b.idempotency_key = "k";
	assert_ok(p, upload(p, in, &b, "one", &done));
	assert_fails(p, upload(p, in, &b, "two", &done), FSC_EEXIST, "idempotency_conflict");
	assert_int_equal(count_files(p, FSC_BLOB_BLOB), 1);
	b.idempotency_key = NULL;
	assert_ok(p, upload(p, in, &b, "two", &done));
	b.idempotency_key = "k"; /* refused again, but now the blob is another bundle's */
	assert_fails(p, upload(p, in, &b, "two", &done), FSC_EEXIST, "idempotency_conflict");
	assert_int_equal(count_files(p, FSC_BLOB_BLOB), 2);
	fsc_ingest_free(in);
}

static void a_disk_with_too_little_room_refuses_uploads(void **state)
{
	struct place *p = *state;
	struct fsc_blobs_opts o = { .min_free_bytes = UINT64_MAX };
	struct fsc_upload_begin b = FSC_UPLOAD_BEGIN_INIT;
	struct fsc_upload_done done;
	struct fsc_ingest *in;

	fsc_blobs_close(p->b);
	assert_ok(p, fsc_blobs_open(&p->b, p->blobs_url, &o, &p->err));
	in = ingest(p, 0);
	assert_fails(p, upload(p, in, &b, "x", &done), FSC_EFULL, "disk_full");
	fsc_ingest_free(in);
}

/* A file size limit stands for a full disk: writes end in EFBIG, which is treated like ENOSPC. */
static void a_disk_that_fills_during_an_upload_fails_it_cleanly(void **state)
{
	struct place *p = *state;
	struct fsc_ingest *in = ingest(p, 0);
	struct fsc_upload_begin b = FSC_UPLOAD_BEGIN_INIT;
	struct rlimit keep, small;
	struct fsc_upload_done done;
	struct fsc_upload *u;
	char *chunk = fsc_xalloc(1, 1 << 20);
	enum fsc_status st = FSC_OK;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &keep);
	small = keep;
	small.rlim_cur = 3 << 20;
	assert_ok(p, fsc_ingest_begin(&u, in, &b, &p->err));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	for (int i = 0; i < 5 && st == FSC_OK; i++)
		st = fsc_ingest_write(u, chunk, 1 << 20, &p->err);
	setrlimit(RLIMIT_FSIZE, &keep);
	assert_int_equal(st, FSC_EFULL);
	assert_string_equal(p->err.code, "disk_full");
	assert_int_equal(fsc_ingest_write(u, chunk, 1, &p->err), FSC_EINVAL);
	fsc_ingest_abort(u);
	assert_int_equal(count_files(p, FSC_BLOB_TEMP), 0);
	assert_ok(p, upload(p, in, &b, "after that", &done));
	fsc_ingest_free(in);
	fsc_free(chunk);
}

/* The same for the database: its log cannot grow, so the row is refused, and so is the upload. */
static void a_database_that_cannot_grow_refuses_and_recovers(void **state)
{
	struct place *p = *state;
	struct fsc_ingest *in = ingest(p, 0);
	struct fsc_upload_begin b = FSC_UPLOAD_BEGIN_INIT;
	struct rlimit keep, small;
	struct fsc_upload_done done;
	int refused = 0, kept = 0;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &keep);
	small = keep;
	small.rlim_cur = 256 << 10;
	setrlimit(RLIMIT_FSIZE, &small);
	for (int i = 0; i < 200 && refused < 3; i++) {
		char text[32];
		enum fsc_status st;

		snprintf(text, sizeof(text), "upload %d", i);
		st = upload(p, in, &b, text, &done);
		assert_true(st == FSC_OK || st == FSC_EFULL);
		refused += st == FSC_EFULL;
		kept += st == FSC_OK;
	}
	setrlimit(RLIMIT_FSIZE, &keep);
	assert_int_equal(refused, 3);
	assert_int_equal(count_files(p, FSC_BLOB_BLOB), kept); /* refused ones leave nothing */
	assert_ok(p, fsc_store_health(p->s, &p->err));
	assert_ok(p, upload(p, in, &b, "after that", &done));
	fsc_ingest_free(in);
}

static void deleting_removes_files_that_nobody_else_has(void **state)
{
	struct place *p = *state;
	struct fsc_ingest *in = ingest(p, 0);
	struct fsc_upload_begin b = FSC_UPLOAD_BEGIN_INIT;
	struct fsc_upload_done one, two;

	assert_ok(p, upload(p, in, &b, "shared", &one));
	assert_ok(p, fsc_store_project_put(p->s, "other", &b.project, &p->err));
	assert_ok(p, upload(p, in, &b, "shared", &two));
	assert_false(two.duplicate);
	assert_int_equal(count_files(p, FSC_BLOB_BLOB), 1);
	assert_ok(p, delete_bundle(in, 1, one.id, &p->err));
	assert_int_equal(count_files(p, FSC_BLOB_BLOB), 1);
	assert_fails(p, delete_bundle(in, 1, two.id, &p->err), FSC_ENOTFOUND, "not_found");
	assert_ok(p, delete_bundle(in, b.project, two.id, &p->err));
	assert_int_equal(count_files(p, FSC_BLOB_BLOB), 0);
	assert_fails(p, fsc_ingest_reindex(in, 1, one.id, &p->err), FSC_ENOTFOUND, "not_found");
	fsc_ingest_free(in);
}

static void what_is_deleted_beside_a_backup_is_left_to_the_sweep(void **state)
{
	struct place *p = *state;
	struct fsc_ingest *in = ingest(p, 0);
	struct fsc_upload_begin b = FSC_UPLOAD_BEGIN_INIT;
	struct fsc_upload_done done;
	struct fsc_sweep_done swept;
	struct fsc_bundle row;
	int hold;

	assert_ok(p, upload(p, in, &b, "held", &done));
	assert_ok(p, fsc_blobs_hold(&hold, p->b, 0, &p->err));
	assert_ok(p, delete_bundle(in, 1, done.id, &p->err));
	assert_int_equal(fsc_store_bundle_get(p->s, &p->a, 1, done.id, &row, NULL), FSC_ENOTFOUND);
	assert_ok(p, fsc_ingest_sweep(in, 0, false, &swept, &p->err));
	assert_int_equal(swept.blobs, 0);
	assert_int_equal(count_files(p, FSC_BLOB_BLOB), 1);
	close(hold);
	assert_ok(p, fsc_ingest_sweep(in, 0, false, &swept, &p->err));
	assert_int_equal(swept.blobs, 1);
	assert_int_equal(count_files(p, FSC_BLOB_BLOB), 0);
	fsc_ingest_free(in);
}

static void reindex_needs_the_bytes(void **state)
{
	struct place *p = *state;
	struct fsc_ingest *in = ingest(p, 0);
	struct fsc_upload_begin b = FSC_UPLOAD_BEGIN_INIT;
	struct fsc_upload_done done;

	assert_ok(p, upload(p, in, &b, "abc", &done));
	assert_ok(p, fsc_ingest_reindex(in, 1, done.id, &p->err));
	assert_ok(p, fsc_blob_delete(p->b, done.sha256, &p->err));
	assert_fails(p, fsc_ingest_reindex(in, 1, done.id, &p->err), FSC_ENOTFOUND, "blob_gone");
	fsc_ingest_free(in);
}

/* ---- sweep ---- */

static void orphan_blob(struct place *p, const char *text);

static void bytes_that_were_let_go_are_swept_and_come_back_with_an_upload(void **state)
{
	struct place *p = *state;
	struct fsc_ingest *in = ingest(p, 0);
	struct fsc_upload_begin b = FSC_UPLOAD_BEGIN_INIT;
	struct fsc_upload_done done, again;
	struct fsc_sweep_done swept;
	struct fsc_store_lease lease;
	struct fsc_err why = FSC_ERR_INIT;
	int64_t bytes;
	int before;

	assert_ok(p, upload(p, in, &b, "hello", &done));
	assert_fails(p, fsc_ingest_let_go(in, 1, done.id, &bytes, &p->err), FSC_EBUSY,
		     "bundle_indexing");
	fsc_err_set(&why, FSC_EPARSE, "bad", "it is bad");
	assert_ok(p, fsc_queue_lease(p->q, "me", FSC_QUEUE_LEASE_NS, &lease, &p->err));
	assert_ok(p, fsc_queue_fail(p->q, &lease, &why, -1, NULL, &p->err));
	assert_ok(p, fsc_ingest_let_go(in, 1, done.id, &bytes, &p->err));
	assert_true(bytes == 5);
	assert_int_equal(count_files(p, FSC_BLOB_BLOB), 0);
	assert_fails(p, fsc_ingest_reindex(in, 1, done.id, &p->err), FSC_ENOTFOUND, "blob_gone");
	orphan_blob(p, "hello"); /* as if the file had not gone: nobody needs it */
	assert_ok(p, fsc_ingest_sweep(in, -1000000000, false, &swept, &p->err));
	assert_true(swept.blobs == 1);
	assert_int_equal(count_files(p, FSC_BLOB_BLOB), 0);
	before = n_queued;
	assert_ok(p, upload(p, in, &b, "hello", &again));
	assert_true(again.duplicate && again.id == done.id && again.state == FSC_BUNDLE_QUEUED);
	assert_int_equal(n_queued, before + 1); /* it had failed: the workers hear of it */
	assert_int_equal(count_files(p, FSC_BLOB_BLOB), 1);
	assert_ok(p, fsc_ingest_sweep(in, -1000000000, false, &swept, &p->err));
	assert_int_equal(count_files(p, FSC_BLOB_BLOB), 1);
	fsc_ingest_free(in);
}

static void orphan_blob(struct place *p, const char *text)
{
	struct fsc_blob_put *put;
	uint8_t sha256[FSC_SHA256_LEN];

	assert_ok(p, fsc_blob_put_begin(&put, p->b, &p->err));
	assert_ok(p, fsc_blob_put_write(put, text, strlen(text), &p->err));
	assert_ok(p, fsc_blob_put_commit(put, sha256, NULL, &p->err));
}

static void orphan_segment(struct place *p, int64_t trace)
{
	struct fsc_seg_put *put;
	int fd;

	assert_ok(p, fsc_seg_put_begin(&put, p->b, &fd, &p->err));
	assert_ok(p, fsc_seg_put_commit(put, trace, &p->err));
}

static void the_sweep_takes_only_what_is_old_and_nobodys(void **state)
{
	struct place *p = *state;
	struct fsc_ingest *in = ingest(p, 0);
	struct fsc_upload_begin b = FSC_UPLOAD_BEGIN_INIT;
	struct fsc_upload_done done;
	struct fsc_sweep_done swept;
	struct fsc_upload *running;
	struct fsc_trace_row row;
	int64_t trace = ready_trace(p, "t", "t", "", "", 0);
	uint64_t size;
	int fd;

	assert_ok(p, upload(p, in, &b, "acknowledged", &done));
	orphan_blob(p, "orphan");
	assert_ok(p, fsc_store_trace_get(p->s, &p->a, 1, trace, &row, &p->err));
	orphan_segment(p, row.segment);	    /* not an orphan: its trace is there */
	orphan_segment(p, row.segment + 1); /* one */
	assert_ok(p, fsc_ingest_begin(&running, in, &b, &p->err));
	assert_ok(p, fsc_ingest_sweep(in, 3600000000000, false, &swept, &p->err));
	assert_true(!swept.temps && !swept.blobs && !swept.segments); /* all of it is young */
	usleep(20000);
	assert_ok(p, fsc_ingest_sweep(in, 3000000, false, &swept, &p->err));
	assert_int_equal(swept.blobs, 1);
	assert_int_equal(swept.segments, 1);
	assert_int_equal(swept.temps, 1); /* older than four times that */
	fsc_ingest_abort(running);
	assert_ok(p, fsc_blob_stat(p->b, done.sha256, &size, &p->err));
	assert_ok(p, fsc_seg_file_open(p->b, row.segment, &fd, &size, &p->err));
	close(fd);
	assert_int_equal(count_files(p, FSC_BLOB_BLOB), 1);
	fsc_ingest_free(in);
}

static void a_fresh_start_takes_every_temporary_file(void **state)
{
	struct place *p = *state;
	struct fsc_ingest *in = ingest(p, 0);
	struct fsc_upload_begin b = FSC_UPLOAD_BEGIN_INIT;
	struct fsc_upload *dead;
	struct fsc_sweep_done swept;

	assert_ok(p, fsc_ingest_begin(&dead, in, &b, &p->err));
	assert_ok(p, fsc_ingest_sweep(in, 3600000000000, true, &swept, &p->err));
	assert_int_equal(swept.temps, 1);
	assert_int_equal(count_files(p, FSC_BLOB_TEMP), 0);
	fsc_ingest_abort(dead);
	fsc_ingest_free(in);
}

/* ---- upload, delete and sweep of the same bytes at once ---- */

struct racer {
	struct place *p;
	struct fsc_ingest *in;
	pthread_t thread;
	int n, rounds, failed;
};

static void *racer_main(void *arg)
{
	struct racer *r = arg;

	for (int i = 0; i < r->rounds; i++) {
		struct fsc_upload_begin b = FSC_UPLOAD_BEGIN_INIT;
		struct fsc_upload_done done;
		struct fsc_upload *u;
		struct fsc_sweep_done swept;
		struct fsc_err err = FSC_ERR_INIT;

		if (r->n == 3) {
			r->failed += fsc_ingest_sweep(r->in, 0, false, &swept, &err) != FSC_OK;
			continue;
		}
		if (fsc_ingest_begin(&u, r->in, &b, &err) != FSC_OK)
			continue;
		if (fsc_ingest_write(u, "same", 4, &err) != FSC_OK ||
		    fsc_ingest_finish(u, &done, &err) != FSC_OK) {
			/* only the sweep of age 0 may take the temporary file away */
			r->failed += err.status != FSC_ENOTFOUND;
			continue;
		}
		if (r->n == 0)
			r->failed += delete_bundle(r->in, 1, done.id, &err) != FSC_OK &&
				     err.status != FSC_ENOTFOUND;
	}
	return NULL;
}

static void a_row_never_loses_its_blob_to_a_delete_or_sweep(void **state)
{
	struct place *p = *state;
	struct fsc_ingest *in = ingest(p, 0);
	struct fsc_bundle_query q = { .project = 1 };
	struct fsc_bundle_page page;
	struct racer r[4];

	for (int i = 0; i < 4; i++) {
		r[i] = (struct racer){ .p = p, .in = in, .n = i, .rounds = 60 };
		assert_int_equal(pthread_create(&r[i].thread, NULL, racer_main, &r[i]), 0);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(r[i].thread, NULL);
		assert_int_equal(r[i].failed, 0);
	}
	assert_ok(p, fsc_store_bundle_list(p->s, &p->a, &q, &page, &p->err));
	assert_true(page.n_items <= 1);
	assert_int_equal(count_files(p, FSC_BLOB_BLOB), page.n_items);
	fsc_ingest_free(in);
}

/* The row of an upload is kept waiting by another writer, when its blob is in place already. */
static void an_upload_between_blob_and_row_is_safe_from_a_sweep(void **state)
{
	struct place *p = *state;
	struct fsc_ingest *in = ingest(p, 0);
	struct racer up = { .p = p, .in = in, .n = 1 }, sweeper = { .p = p, .in = in, .n = 3 };
	uint8_t sha256[FSC_SHA256_LEN];
	uint64_t size;
	sqlite3 *h;

	up.rounds = sweeper.rounds = 1;
	digest_of(sha256, "same");
	assert_int_equal(sqlite3_open(p->store_url + strlen("sqlite:"), &h), SQLITE_OK);
	assert_int_equal(sqlite3_exec(h, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(pthread_create(&up.thread, NULL, racer_main, &up), 0);
	for (int i = 0; i < 1000 && fsc_blob_stat(p->b, sha256, &size, NULL) != FSC_OK; i++)
		usleep(1000);
	assert_ok(p, fsc_blob_stat(p->b, sha256, &size, &p->err));
	usleep(5000); /* older than the age of 0 that this sweep has */
	assert_int_equal(pthread_create(&sweeper.thread, NULL, racer_main, &sweeper), 0);
	usleep(200000);
	sqlite3_exec(h, "ROLLBACK", NULL, NULL, NULL);
	sqlite3_close(h);
	pthread_join(up.thread, NULL);
	pthread_join(sweeper.thread, NULL);
	assert_true(up.failed == 0 && sweeper.failed == 0);
	assert_ok(p, fsc_blob_stat(p->b, sha256, &size, &p->err));
	fsc_ingest_free(in);
}

/* Each alone would fit; what counts is what all of them together may take. */
static void uploads_under_way_count_when_another_wants_to_start(void **state)
{
	struct place *p = *state;
	struct fsc_blobs_opts bo = { .min_free_bytes = 1, .reserve_bytes = 1 };
	struct fsc_ingest_opts o = { .store = p->s, .max_bytes = UINT64_MAX / 4 };
	struct fsc_upload_begin b = FSC_UPLOAD_BEGIN_INIT;
	struct fsc_upload *u[3];
	struct fsc_ingest *in;
	uint64_t free_bytes = 0;

	assert_ok(p, fsc_blobs_open(&o.blobs, p->blobs_url, &bo, &p->err));
	assert_ok(p, fsc_blobs_free_bytes(o.blobs, &free_bytes, &p->err));
	in = fsc_ingest_new(&o);
	b.bytes = (int64_t)(free_bytes / 5);
	assert_ok(p, fsc_ingest_begin(&u[0], in, &b, &p->err));
	assert_ok(p, fsc_ingest_begin(&u[1], in, &b, &p->err));
	for (int i = 0; i < 3; i++) /* what is refused leaves nothing behind */
		assert_fails(p, fsc_ingest_begin(&u[2], in, &b, &p->err), FSC_EFULL, "disk_full");
	fsc_ingest_abort(u[0]);
	assert_ok(p, fsc_ingest_begin(&u[2], in, &b, &p->err));
	assert_fails(p, fsc_ingest_begin(&u[0], in, &b, &p->err), FSC_EFULL, "disk_full");
	fsc_ingest_abort(u[1]);
	fsc_ingest_abort(u[2]);
	/* of unknown length: a step at a time, given back at the end, however it ends */
	b.bytes = -1;
	for (int i = 0; i < 1000; i++) {
		struct fsc_upload_done done;

		assert_ok(p, fsc_ingest_begin(&u[0], in, &b, &p->err));
		if (i % 2) {
			fsc_ingest_abort(u[0]);
			continue;
		}
		assert_ok(p, fsc_ingest_write(u[0], &i, sizeof(i), &p->err));
		if (i % 100)
			fsc_ingest_abort(u[0]);
		else
			assert_ok(p, fsc_ingest_finish(u[0], &done, &p->err));
	}
	b.bytes = (int64_t)(free_bytes / 5);
	assert_ok(p, fsc_ingest_begin(&u[0], in, &b, &p->err));
	assert_ok(p, fsc_ingest_begin(&u[1], in, &b, &p->err));
	fsc_ingest_abort(u[0]);
	fsc_ingest_abort(u[1]);
	fsc_ingest_free(in);
	fsc_blobs_close(o.blobs);
}

/* The disk fills up meanwhile: told before it is full, not by the write that fails. */
static void an_announced_upload_looks_again_while_it_comes(void **state)
{
	struct place *p = *state;
	struct fsc_blobs_opts bo = { .min_free_bytes = 1, .reserve_bytes = 1 };
	struct fsc_ingest_opts o = { .store = p->s, .max_bytes = UINT64_MAX / 4 };
	struct fsc_upload_begin b = FSC_UPLOAD_BEGIN_INIT;
	const size_t n = 16 << 20;
	char *portion = fsc_xalloc(n, 1);
	struct fsc_ingest *in;
	struct fsc_upload *u;
	uint64_t free_bytes = 0, sent = 0;
	enum fsc_status st = FSC_OK;

	assert_ok(p, fsc_blobs_open(&o.blobs, p->blobs_url, &bo, &p->err));
	assert_ok(p, fsc_blobs_free_bytes(o.blobs, &free_bytes, &p->err));
	in = fsc_ingest_new(&o);
	b.bytes = 400 << 20;
	if (free_bytes < 2 * (uint64_t)b.bytes + (1 << 30)) {
		print_message("skipped, the disk has too little room\n");
		skip();
	}
	assert_ok(p, fsc_ingest_begin(&u, in, &b, &p->err));
	blobs_now_need_free(o.blobs, UINT64_MAX);
	while (st == FSC_OK && sent < (uint64_t)b.bytes) {
		st = fsc_ingest_write(u, portion, n, &p->err);
		sent += st == FSC_OK ? n : 0;
	}
	assert_int_equal(st, FSC_EFULL);
	assert_string_equal(p->err.code, "disk_full");
	assert_true(sent == 256 << 20);
	fsc_ingest_abort(u);
	fsc_ingest_free(in);
	fsc_blobs_close(o.blobs);
	fsc_free(portion);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		contract_test(an_upload_is_stored_and_queued),
		contract_test(uploads_under_way_count_when_another_wants_to_start),
		contract_test(an_announced_upload_looks_again_while_it_comes),
		contract_test(a_body_that_is_not_what_was_announced_is_refused),
		contract_test(metadata_is_checked),
		contract_test(a_refused_key_leaves_no_blob),
		contract_test(a_disk_with_too_little_room_refuses_uploads),
		contract_test(a_disk_that_fills_during_an_upload_fails_it_cleanly),
		contract_test(a_database_that_cannot_grow_refuses_and_recovers),
		contract_test(deleting_removes_files_that_nobody_else_has),
		contract_test(what_is_deleted_beside_a_backup_is_left_to_the_sweep),
		contract_test(reindex_needs_the_bytes),
		contract_test(bytes_that_were_let_go_are_swept_and_come_back_with_an_upload),
		contract_test(the_sweep_takes_only_what_is_old_and_nobodys),
		contract_test(a_fresh_start_takes_every_temporary_file),
		contract_test(a_row_never_loses_its_blob_to_a_delete_or_sweep),
		contract_test(an_upload_between_blob_and_row_is_safe_from_a_sweep),
	};

	fsc_log_setup(2, FSC_LOG_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
