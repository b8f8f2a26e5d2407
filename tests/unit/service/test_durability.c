/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The promise behind an acknowledgement, seen at the system calls: this program puts itself before write,
 * fdatasync, fsync and renameat (also for SQLite), notes their order, and makes the n-th of them fail.
 */
#define CONTRACT_STORE_URL "sqlite:%s/store.db"
#define CONTRACT_BLOBS_URL "dir:%s/blobs"
#include "tests/store/contract.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>

#include "base/log.h"
#include "service/ingest.h"
#include "tests/unit/service/remove.h"

/* ---- in the way of the calls ---- */

enum call { CALL_WRITE, CALL_PWRITE, CALL_FDATASYNC, CALL_FSYNC, CALL_RENAME };
struct note {
	enum call call;
	char path[200]; /* what the descriptor is */
};
static struct note notes[512];
static atomic_int n_notes, recording;  /* noted so far; 1 while they are to be noted */
static atomic_int fail_at, fail_errno; /* number of the call that fails, 0 none */

/* Notes the call; true when it shall fail. */
static int noted(enum call call, int fd, const char *path)
{
	char link[64];
	int n;

	if (!atomic_load(&recording) || fd == 1 || fd == 2)
		return 0;
	n = atomic_fetch_add(&n_notes, 1);
	if (n < (int)FSC_ARRAY_LEN(notes)) {
		notes[n].call = call;
		notes[n].path[0] = '\0';
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		if (path)
			snprintf(notes[n].path, sizeof(notes[n].path), "%s", path);
		else if (readlink(link, notes[n].path, sizeof(notes[n].path) - 1) < 0)
			notes[n].path[0] = '?';
		else
			notes[n].path[sizeof(notes[n].path) - 1] = '\0';
	}
	if (n + 1 != atomic_load(&fail_at))
		return 0;
	errno = atomic_load(&fail_errno);
	return 1;
}

static void *real(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

ssize_t write(int fd, const void *p, size_t n)
{
	ssize_t (*call)(int, const void *, size_t);

	*(void **)&call = real("write");
	return noted(CALL_WRITE, fd, NULL) ? -1 : call(fd, p, n);
}

ssize_t pwrite64(int fd, const void *p, size_t n, off64_t at)
{
	ssize_t (*call)(int, const void *, size_t, off64_t);

	*(void **)&call = real("pwrite64");
	return noted(CALL_PWRITE, fd, NULL) ? -1 : call(fd, p, n, at);
}

int fdatasync(int fd)
{
	int (*call)(int);

	*(void **)&call = real("fdatasync");
	return noted(CALL_FDATASYNC, fd, NULL) ? -1 : call(fd);
}

int fsync(int fd)
{
	int (*call)(int);

	*(void **)&call = real("fsync");
	return noted(CALL_FSYNC, fd, NULL) ? -1 : call(fd);
}

int renameat(int a, const char *from, int b, const char *to)
{
	int (*call)(int, const char *, int, const char *);

	*(void **)&call = real("renameat");
	return noted(CALL_RENAME, a, to) ? -1 : call(a, from, b, to);
}

static void record(int at, int errnum)
{
	memset(notes, 0, sizeof(notes));
	atomic_store(&n_notes, 0);
	atomic_store(&fail_at, at);
	atomic_store(&fail_errno, errnum);
	atomic_store(&recording, 1);
}

static int stop_recording(void)
{
	atomic_store(&recording, 0);
	return atomic_load(&n_notes);
}

/* Index of the first such call from `from` on whose path holds `part`; fails the test when there is none. */
static int find(int from, enum call a, enum call b, const char *part)
{
	for (int i = from; i < atomic_load(&n_notes) && i < (int)FSC_ARRAY_LEN(notes); i++)
		if ((notes[i].call == a || notes[i].call == b) && strstr(notes[i].path, part))
			return i;
	for (int i = 0; i < atomic_load(&n_notes); i++)
		print_message("%d %s\n", notes[i].call, notes[i].path);
	fail_msg("no such call on %s after %d", part, from);
	return -1;
}

static enum fsc_status upload(struct place *p, struct fsc_ingest *in, const char *text,
			      struct fsc_upload_done *done)
{
	struct fsc_upload_begin b = FSC_UPLOAD_BEGIN_INIT;
	struct fsc_upload *u;
	enum fsc_status st = fsc_ingest_begin(&u, in, &b, &p->err);

	if (st != FSC_OK)
		return st;
	st = fsc_ingest_write(u, text, strlen(text), &p->err);
	if (st == FSC_OK)
		return fsc_ingest_finish(u, done, &p->err);
	fsc_ingest_abort(u);
	return st;
}

static struct fsc_ingest *ingest(struct place *p)
{
	struct fsc_ingest_opts o = { .store = p->s, .blobs = p->b };

	return fsc_ingest_new(&o);
}

/* ---- tests ---- */

static void an_acknowledged_upload_is_on_the_disk_in_the_right_order(void **state)
{
	struct place *p = *state;
	struct fsc_ingest *in = ingest(p);
	struct fsc_upload_done done;
	char hex[FSC_SHA256_HEX], folder[80];
	int bytes, data, name, dir, row;

	assert_ok(p, upload(p, in, "warm up", &done));
	record(0, 0);
	assert_ok(p, upload(p, in, "the bytes", &done));
	stop_recording();
	fsc_hex(hex, done.sha256, sizeof(done.sha256));
	snprintf(folder, sizeof(folder), "/blob/%.2s", hex);
	bytes = find(0, CALL_WRITE, CALL_WRITE, "/tmp/");
	data = find(bytes, CALL_FDATASYNC, CALL_FSYNC, "/tmp/");
	name = find(data, CALL_RENAME, CALL_RENAME, hex);
	dir = find(name, CALL_FSYNC, CALL_FSYNC, folder);
	row = find(dir, CALL_FDATASYNC, CALL_FSYNC, "store.db-wal");
	assert_true(bytes < data && data < name && name < dir && dir < row);
	fsc_ingest_free(in);
}

static void a_published_segment_is_on_the_disk_before_its_row(void **state)
{
	struct place *p = *state;
	struct fact_list l = { .n = 0 };
	int64_t bundle = put_bundle(p, "abc", "x");
	struct fsc_seg_put *put;
	int fd, data, name, dir;

	assert_ok(p, fsc_seg_put_begin(&put, p->b, &fd, &p->err));
	record(0, 0);
	assert_ok(p, fsc_seg_put_commit(put, 42, &p->err));
	fact_trace(&l, "x", 0);
	fact_trace_end(&l);
	fact_end(&l);
	assert_ok(p, publish_facts(p, bundle, &l, NULL, NULL, NULL));
	stop_recording();
	data = find(0, CALL_FDATASYNC, CALL_FSYNC, "/tmp/");
	name = find(data, CALL_RENAME, CALL_RENAME, "seg/v1/42.seg");
	dir = find(name, CALL_FSYNC, CALL_FSYNC, "/seg/v1");
	find(dir, CALL_FDATASYNC, CALL_FSYNC, "store.db-wal");
}

static bool is_there(struct place *p, const char *text)
{
	struct fsc_bundle_query q = { .project = 1, .limit = FSC_STORE_PAGE_MAX };
	struct fsc_bundle_page page;
	uint8_t sha256[FSC_SHA256_LEN];
	uint64_t size = 0;
	bool row = false;

	digest_of(sha256, text);
	assert_ok(p, fsc_store_bundle_list(p->s, &p->a, &q, &page, &p->err));
	for (size_t i = 0; i < page.n_items; i++)
		row = row || !memcmp(page.items[i].sha256, sha256, sizeof(sha256));
	if (row) { /* never a row without its bytes */
		assert_ok(p, fsc_blob_stat(p->b, sha256, &size, &p->err));
		assert_int_equal(size, strlen(text));
	}
	return row;
}

/* Fails call number n of one upload, for every n, with this errno. */
static void fail_each_call(struct place *p, int errnum, const char *label)
{
	int refused = 0;

	for (int n = 1; n < 100; n++) {
		struct fsc_ingest *in = ingest(p);
		struct fsc_upload_done done;
		char text[64];
		enum fsc_status st;
		bool there;
		int calls;

		snprintf(text, sizeof(text), "%s %d", label, n);
		record(n, errnum);
		st = upload(p, in, text, &done);
		calls = stop_recording();
		fsc_ingest_free(in);
		there = is_there(p, text);
		if (st == FSC_OK)
			assert_true(there);
		/* after a failed sync of the log the row may or may not be there, but then nothing goes on */
		if (st != FSC_OK && there)
			assert_string_not_equal(fsc_store_health(p->s, &p->err) ? p->err.code : "",
						"");
		refused += st != FSC_OK;
		place_close(p);
		place_open(p);
		assert_ok(p, fsc_store_health(p->s, &p->err));
		if (calls < n) { /* there is no n-th call: all were tried */
			assert_int_equal(st, FSC_OK);
			break;
		}
	}
	assert_true(refused >= 4);
}

static void whichever_call_fails_the_answer_is_true(void **state)
{
	fail_each_call(*state, EIO, "io");
}

static void wherever_the_disk_is_full_the_answer_is_true(void **state)
{
	fail_each_call(*state, ENOSPC, "full");
}

/* The first attempt cannot write the log: the reserve is given up, and the second one works. */
static void a_bundle_can_be_deleted_on_a_full_disk(void **state)
{
	struct place *p = *state;
	struct fsc_ingest *in = ingest(p);
	struct fsc_upload_done done;
	uint64_t size;
	char path[320];

	assert_ok(p, upload(p, in, "to be deleted", &done));
	snprintf(path, sizeof(path), "%s/blobs/reserve", p->dir);
	assert_int_equal(access(path, F_OK), 0);
	record(1, ENOSPC);
	assert_ok(p, delete_bundle(in, 1, done.id, &p->err));
	stop_recording();
	assert_int_equal(notes[0].call, CALL_PWRITE); /* it was the log that failed */
	assert_int_equal(fsc_blob_stat(p->b, done.sha256, &size, &p->err), FSC_ENOTFOUND);
	assert_int_equal(access(path, F_OK), 0); /* taken back */
	fsc_ingest_free(in);
}

static void the_bytes_of_an_upload_can_be_let_go_on_a_full_disk(void **state)
{
	struct place *p = *state;
	struct fsc_ingest *in = ingest(p);
	struct fsc_upload_done done;
	struct fsc_store_lease lease;
	struct fsc_err why = FSC_ERR_INIT;
	int64_t bytes;
	uint64_t size;
	char path[320];

	assert_ok(p, upload(p, in, "to be let go", &done));
	fsc_err_set(&why, FSC_EPARSE, "bad", "it is bad"); /* nothing waits for it any more */
	assert_ok(p, fsc_queue_lease(p->q, "me", FSC_QUEUE_LEASE_NS, &lease, &p->err));
	assert_ok(p, fsc_queue_fail(p->q, &lease, &why, -1, NULL, &p->err));
	record(1, ENOSPC);
	assert_ok(p, fsc_ingest_let_go(in, 1, done.id, &bytes, &p->err));
	stop_recording();
	assert_int_equal(notes[0].call, CALL_PWRITE);
	assert_int_equal(fsc_blob_stat(p->b, done.sha256, &size, &p->err), FSC_ENOTFOUND);
	assert_true(get_bundle(p, done.id).blob_deleted_at_ns > 0);
	snprintf(path, sizeof(path), "%s/blobs/reserve", p->dir);
	assert_int_equal(access(path, F_OK), 0);
	fsc_ingest_free(in);
}

/* Whoever made a folder may have died before the sync of its name: the next one to open cannot know. */
static void all_folders_are_there_and_durable_after_each_open(void **state)
{
	struct place *p = *state;
	char path[400];

	for (int round = 0; round < 2; round++) {
		place_close(p);
		record(0, 0);
		place_open(p);
		stop_recording();
		find(0, CALL_FSYNC, CALL_FSYNC, "/blobs/blob");
		find(0, CALL_FSYNC, CALL_FSYNC, "/blobs/seg");
		snprintf(path, sizeof(path), "%s/blobs", p->dir);
		int i = find(0, CALL_FSYNC, CALL_FSYNC, path);
		while (strcmp(notes[i].path, path) != 0)
			i = find(i + 1, CALL_FSYNC, CALL_FSYNC, path);
	}
	for (unsigned i = 0; i < 256; i++) {
		snprintf(path, sizeof(path), "%s/blobs/blob/%02x", p->dir, i);
		assert_int_equal(access(path, X_OK), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		contract_test(an_acknowledged_upload_is_on_the_disk_in_the_right_order),
		contract_test(a_published_segment_is_on_the_disk_before_its_row),
		contract_test(all_folders_are_there_and_durable_after_each_open),
		contract_test(whichever_call_fails_the_answer_is_true),
		contract_test(wherever_the_disk_is_full_the_answer_is_true),
		contract_test(a_bundle_can_be_deleted_on_a_full_disk),
		contract_test(the_bytes_of_an_upload_can_be_let_go_on_a_full_disk),
	};

	fsc_log_setup(2, FSC_LOG_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
