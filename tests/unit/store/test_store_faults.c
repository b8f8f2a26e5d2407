/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SQLite store when things go wrong below it: another process holds the lock, the disk is full, an fsync
 * fails. The last two are made by a VFS that wraps the system's and fails on demand.
 */
#define CONTRACT_STORE_URL "sqlite:%s/store.db"
#define CONTRACT_BLOBS_URL "dir:%s/blobs"
#include "tests/store/contract.h"

#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "store/sqlite/sqlite_int.h"

/* ---- a VFS that fails on demand ---- */

static atomic_int sync_fails;  /* xSync of the log: I/O error */
static atomic_int writes_left; /* then SQLITE_FULL; negative = no limit */

struct bad_file {
	sqlite3_file base;
	/* the real file follows */
};

static sqlite3_vfs *real_vfs;
static sqlite3_vfs bad_vfs;

static sqlite3_file *inner(sqlite3_file *f)
{
	return (sqlite3_file *)((struct bad_file *)f + 1);
}

#define PASS(name, decl, call)                        \
	static int bad_##name decl                    \
	{                                             \
		return inner(f)->pMethods->name call; \
	}
PASS(xClose, (sqlite3_file * f), (inner(f)))
PASS(xRead, (sqlite3_file * f, void *p, int n, sqlite3_int64 o), (inner(f), p, n, o))
PASS(xTruncate, (sqlite3_file * f, sqlite3_int64 n), (inner(f), n))
PASS(xFileSize, (sqlite3_file * f, sqlite3_int64 *n), (inner(f), n))
PASS(xLock, (sqlite3_file * f, int l), (inner(f), l))
PASS(xUnlock, (sqlite3_file * f, int l), (inner(f), l))
PASS(xCheckReservedLock, (sqlite3_file * f, int *o), (inner(f), o))
PASS(xFileControl, (sqlite3_file * f, int op, void *p), (inner(f), op, p))
PASS(xSectorSize, (sqlite3_file * f), (inner(f)))
PASS(xDeviceCharacteristics, (sqlite3_file * f), (inner(f)))
PASS(xShmMap, (sqlite3_file * f, int a, int b, int c, void volatile **d), (inner(f), a, b, c, d))
PASS(xShmLock, (sqlite3_file * f, int a, int b, int c), (inner(f), a, b, c))
PASS(xShmUnmap, (sqlite3_file * f, int a), (inner(f), a))
PASS(xFetch, (sqlite3_file * f, sqlite3_int64 o, int n, void **p), (inner(f), o, n, p))
PASS(xUnfetch, (sqlite3_file * f, sqlite3_int64 o, void *p), (inner(f), o, p))

static void bad_xShmBarrier(sqlite3_file *f)
{
	inner(f)->pMethods->xShmBarrier(inner(f));
}

static int bad_xWrite(sqlite3_file *f, const void *p, int n, sqlite3_int64 o)
{
	int left = atomic_load(&writes_left);

	if (left == 0)
		return SQLITE_FULL;
	if (left > 0)
		atomic_fetch_sub(&writes_left, 1);
	return inner(f)->pMethods->xWrite(inner(f), p, n, o);
}

static int bad_xSync(sqlite3_file *f, int flags)
{
	if (atomic_load(&sync_fails))
		return SQLITE_IOERR_FSYNC;
	return inner(f)->pMethods->xSync(inner(f), flags);
}

static const sqlite3_io_methods bad_methods = {
	3,
	bad_xClose,
	bad_xRead,
	bad_xWrite,
	bad_xTruncate,
	bad_xSync,
	bad_xFileSize,
	bad_xLock,
	bad_xUnlock,
	bad_xCheckReservedLock,
	bad_xFileControl,
	bad_xSectorSize,
	bad_xDeviceCharacteristics,
	bad_xShmMap,
	bad_xShmLock,
	bad_xShmBarrier,
	bad_xShmUnmap,
	bad_xFetch,
	bad_xUnfetch,
};

static int bad_open(sqlite3_vfs *v, const char *name, sqlite3_file *f, int flags, int *out)
{
	int rc;

	(void)v;
	f->pMethods = NULL;
	rc = real_vfs->xOpen(real_vfs, name, inner(f), flags, out);
	if (inner(f)->pMethods)
		f->pMethods = &bad_methods;
	return rc;
}

static int vfs_setup(void **state)
{
	(void)state;
	atomic_store(&sync_fails, 0);
	atomic_store(&writes_left, -1);
	real_vfs = sqlite3_vfs_find(NULL);
	bad_vfs = *real_vfs;
	bad_vfs.zName = "bad";
	bad_vfs.pNext = NULL;
	bad_vfs.szOsFile = (int)sizeof(struct bad_file) + real_vfs->szOsFile;
	bad_vfs.xOpen = bad_open;
	return sqlite3_vfs_register(&bad_vfs, 1);
}

static int vfs_teardown(void **state)
{
	(void)state;
	return sqlite3_vfs_unregister(&bad_vfs);
}

static enum fsc_status put(struct place *p, const char *content, int64_t *id)
{
	struct fsc_bundle_new n = new_bundle(content, content);
	struct fsc_bundle_put out = { 0 };
	enum fsc_status st = fsc_store_bundle_put(p->s, &n, &out, &p->err);

	if (id)
		*id = out.id;
	return st;
}

/* ---- tests ---- */

static void after_a_failed_fsync_no_write_is_accepted(void **state)
{
	struct place *p = *state;
	int64_t before;
	struct fsc_bundle b;

	assert_ok(p, put(p, "before", &before));
	atomic_store(&sync_fails, 1);
	assert_int_equal(put(p, "during", NULL), FSC_EIO);
	atomic_store(&sync_fails, 0); /* the next fsync would "work", and lie */
	assert_fails(p, put(p, "after", NULL), FSC_EIO, "store_broken");
	assert_fails(p, fsc_store_health(p->s, &p->err), FSC_EIO, "store_broken");
	b = get_bundle(p, before); /* reading goes on */
	assert_string_equal(b.name, "before");
	place_close(p);
	place_open(p);
	assert_ok(p, put(p, "restarted", NULL));
	assert_ok(p, fsc_store_health(p->s, &p->err));
	assert_string_equal(get_bundle(p, before).name, "before");
}

static void a_full_disk_fails_the_write_at_any_point_and_is_survived(void **state)
{
	struct place *p = *state;
	int refused = 0, taken = 0;

	for (int n = 0; n < 60; n++) {
		char content[32];
		enum fsc_status st;
		struct fsc_bundle_new again;
		struct fsc_bundle_put out;

		snprintf(content, sizeof(content), "content %d", n);
		atomic_store(&writes_left, n);
		st = put(p, content, NULL);
		atomic_store(&writes_left, -1);
		assert_true(st == FSC_OK || st == FSC_EFULL);
		if (st == FSC_EFULL)
			assert_string_equal(p->err.code, "disk_full");
		refused += st == FSC_EFULL;
		taken += st == FSC_OK;
		/* what was refused is not there, what was taken is */
		again = new_bundle(content, content);
		assert_ok(p, fsc_store_bundle_put(p->s, &again, &out, &p->err));
		assert_int_equal(out.duplicate, st == FSC_OK);
	}
	assert_true(refused > 3 && taken > 3);
	assert_ok(p, fsc_store_health(p->s, &p->err));
}

static void a_publish_on_a_full_disk_leaves_the_old_facts(void **state)
{
	struct place *p = *state;
	int64_t trace = ready_trace(p, "abc", "x", "old job", "h", 1);
	struct fsc_trace_row row;
	int refused = 0;

	assert_ok(p, fsc_store_trace_get(p->s, &p->a, 1, trace, &row, &p->err));
	for (int n = 0; n < 40; n += 3) {
		struct fact_list l = { .n = 0 };
		enum fsc_status st;

		fact_trace(&l, "x", 0)->job = "new job";
		fact_kernel(&l, "k", 1, 1);
		fact_trace_end(&l);
		fact_end(&l);
		atomic_store(&writes_left, n);
		st = publish_facts(p, row.bundle, &l, NULL, NULL, NULL);
		atomic_store(&writes_left, -1);
		assert_true(st == FSC_OK || st == FSC_EFULL);
		if (st == FSC_OK)
			break;
		refused++;
		assert_ok(p, fsc_store_trace_get(p->s, &p->a, 1, trace, &row, &p->err));
		assert_string_equal(row.job, "old job");
	}
	assert_true(refused > 0);
	assert_ok(p, fsc_store_trace_get(p->s, &p->a, 1, trace, &row, &p->err));
	assert_string_equal(row.job, "new job");
}

/* Another process takes the write lock and keeps it until told; 1 byte says that it has it. */
static pid_t hold_lock(const char *path, int *ready, int *release)
{
	int up[2], down[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(up), 0);
	assert_int_equal(pipe(down), 0);
	pid = fork();
	if (pid == 0) {
		sqlite3 *h;

		close(up[0]);
		close(down[1]);
		if (sqlite3_open(path, &h) != SQLITE_OK ||
		    sqlite3_exec(h, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK ||
		    write(up[1], "x", 1) != 1)
			_exit(1);
		if (read(down[0], &byte, 1) < 0)
			_exit(1);
		sqlite3_exec(h, "ROLLBACK", NULL, NULL, NULL);
		sqlite3_close(h);
		_exit(0);
	}
	close(up[1]);
	close(down[0]);
	*ready = up[0];
	*release = down[1];
	assert_int_equal(read(*ready, &byte, 1), 1);
	return pid;
}

static void a_lock_held_elsewhere_is_busy_and_does_not_stop_reads(void **state)
{
	struct place *p = *state;
	struct fsc_store_opts o = { .busy_timeout_ms = 150 };
	struct fsc_store_stats stats;
	int ready, release, status;
	int64_t id = put_bundle(p, "before", "before"), t0;
	pid_t pid;

	place_close(p);
	pid = hold_lock(p->store_url + strlen("sqlite:"), &ready, &release);
	/* opening reads the schema only; the lock is in the way of writing */
	assert_int_equal(fsc_store_open(&p->s, p->store_url, &o, &p->err), FSC_EBUSY);
	close(release);
	waitpid(pid, &status, 0);
	close(ready);

	assert_ok(p, fsc_store_open(&p->s, p->store_url, &o, &p->err));
	assert_ok(p, fsc_blobs_open(&p->b, p->blobs_url, NULL, &p->err));
	p->q = fsc_queue_of_store(p->s);
	pid = hold_lock(p->store_url + strlen("sqlite:"), &ready, &release);
	t0 = fsc_clock_mono_ns();
	assert_fails(p, put(p, "x", NULL), FSC_EBUSY, "store_busy");
	assert_true(fsc_clock_mono_ns() - t0 > 100000000);
	assert_string_equal(get_bundle(p, id).name, "before");
	assert_ok(p, fsc_store_stats(p->s, &stats, &p->err));
	assert_int_equal(stats.busy, 1);
	close(release);
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	assert_ok(p, put(p, "x", NULL));
	close(ready);
}

struct waiter {
	struct place *p;
	pthread_t thread;
	enum fsc_status st;
	const char *content;
};

static void *waiter_main(void *arg)
{
	struct waiter *w = arg;
	struct fsc_bundle_new n = new_bundle(w->content, w->content);
	struct fsc_bundle_put out;

	w->st = fsc_store_bundle_put(w->p->s, &n, &out, NULL);
	return NULL;
}

static void a_lock_held_for_a_moment_is_waited_for(void **state)
{
	struct place *p = *state;
	struct waiter w = { .p = p, .content = "waits" };
	int ready, release, status;
	pid_t pid = hold_lock(p->store_url + strlen("sqlite:"), &ready, &release);

	assert_int_equal(pthread_create(&w.thread, NULL, waiter_main, &w), 0);
	usleep(300000);
	close(release);
	pthread_join(w.thread, NULL);
	waitpid(pid, &status, 0);
	close(ready);
	assert_int_equal(w.st, FSC_OK);
}

/* What SQLite does by itself on some errors: the whole transaction is rolled back in the middle of one piece. */
static enum fsc_status lose_transaction(struct fsc_db *db, void *arg, struct fsc_err *err)
{
	(void)arg;
	if (fsc_sqlite_exec((struct fsc_sqlite_db *)db, "ROLLBACK", err) != FSC_OK)
		return FSC_EBUG;
	return fsc_err_set(err, FSC_EFULL, "disk_full", "as if");
}

static void *loser_main(void *arg)
{
	struct waiter *w = arg;

	w->st = w->p->s->ops->write(w->p->s, lose_transaction, NULL, false, NULL);
	return NULL;
}

static void a_piece_that_loses_the_transaction_takes_no_other_along(void **state)
{
	struct place *p = *state;
	void *(*const does[])(void *) = { waiter_main, waiter_main, loser_main, waiter_main };
	const char *contents[] = { "first", "before", NULL, "behind" };
	struct waiter w[4];
	int ready, release, status;
	pid_t pid = hold_lock(p->store_url + strlen("sqlite:"), &ready, &release);

	for (int i = 0; i < 4;
	     i++) { /* the first waits for the lock, the others queue up behind it */
		w[i] = (struct waiter){ .p = p, .content = contents[i] };
		assert_int_equal(pthread_create(&w[i].thread, NULL, does[i], &w[i]), 0);
		usleep(60000);
	}
	close(release);
	for (int i = 0; i < 4; i++)
		pthread_join(w[i].thread, NULL);
	waitpid(pid, &status, 0);
	close(ready);
	for (int i = 0; i < 4; i++) {
		struct fsc_bundle_new n;
		struct fsc_bundle_put out;

		assert_int_equal(w[i].st, contents[i] ? FSC_OK : FSC_EFULL);
		if (!contents[i])
			continue;
		n = new_bundle(contents[i], contents[i]);
		assert_ok(p, fsc_store_bundle_put(p->s, &n, &out, &p->err));
		assert_true(out.duplicate); /* acknowledged and there */
	}
}

static void two_servers_cannot_have_one_folder(void **state)
{
	struct place *p = *state;
	struct fsc_store_opts o = { .exclusive = true };
	struct fsc_store *a, *b;

	assert_ok(p, fsc_store_open(&a, p->store_url, &o, &p->err));
	assert_fails(p, fsc_store_open(&b, p->store_url, &o, &p->err), FSC_EBUSY, "data_in_use");
	/* a command beside the server (token, backup) is no second server */
	assert_ok(p, fsc_store_open(&b, p->store_url, NULL, &p->err));
	fsc_store_close(b);
	fsc_store_close(a);
	assert_ok(p, fsc_store_open(&a, p->store_url, &o, &p->err));
	fsc_store_close(a);
}

static void exec_sql(struct place *p, const char *sql)
{
	char *msg = NULL;
	sqlite3 *h;

	assert_int_equal(sqlite3_open(p->store_url + strlen("sqlite:"), &h), SQLITE_OK);
	sqlite3_busy_timeout(h, 5000);
	if (sqlite3_exec(h, sql, NULL, NULL, &msg) != SQLITE_OK)
		fail_msg("%s: %s", sql, msg);
	sqlite3_close(h);
}

/* Times two hours ahead were written before the clock was set back. */
static void a_clock_that_is_set_back_strands_no_job(void **state)
{
	struct place *p = *state;
	struct fsc_store_lease l, again;

	put_bundle(p, "abc", "x");
	exec_sql(p, "UPDATE job SET due_at = (unixepoch() + 7200) * 1000000000");
	assert_ok(p, fsc_queue_lease(p->q, "me", 60000000000, &l, &p->err));
	exec_sql(p, "UPDATE job SET lease_until = (unixepoch() + 7200) * 1000000000");
	assert_ok(p, fsc_queue_lease(p->q, "me", 60000000000, &again, &p->err));
	assert_true(again.job == l.job);
	/* a little ahead is a pause or a lease like any other */
	exec_sql(p, "UPDATE job SET lease_until = (unixepoch() + 600) * 1000000000");
	assert_int_equal(fsc_queue_lease(p->q, "me", 60000000000, &l, &p->err), FSC_END);
}

static void ids_rise_even_when_the_clock_was_set_back(void **state)
{
	struct place *p = *state;

	put_bundle(p, "abc", "x");
	exec_sql(p, "PRAGMA foreign_keys = OFF; UPDATE bundle SET id = 9000000000000000000");
	place_close(p);
	place_open(p);
	assert_true(fsc_store_new_id(p->s) > 9000000000000000000);
}

static void the_log_does_not_grow_without_end(void **state)
{
	struct place *p = *state;
	char *value = fsc_xalloc(1, 1 << 20);
	char path[320];
	struct stat sb;

	for (int i = 0; i < 60; i++) {
		memset(value, 'a' + i % 26, 1 << 20);
		assert_ok(p, fsc_store_setting_put(p->s, "k", value, 1 << 20, false, &p->err));
	}
	snprintf(path, sizeof(path), "%s/store.db-wal", p->dir);
	assert_int_equal(stat(path, &sb), 0);
	assert_true(sb.st_size < 30 << 20); /* 16 MiB, then it begins again */
	fsc_free(value);
}

int main(void)
{
	const struct CMUnitTest with_vfs[] = {
		contract_test(after_a_failed_fsync_no_write_is_accepted),
		contract_test(a_full_disk_fails_the_write_at_any_point_and_is_survived),
		contract_test(a_publish_on_a_full_disk_leaves_the_old_facts),
		contract_test(a_lock_held_elsewhere_is_busy_and_does_not_stop_reads),
		contract_test(a_lock_held_for_a_moment_is_waited_for),
		contract_test(a_piece_that_loses_the_transaction_takes_no_other_along),
		contract_test(two_servers_cannot_have_one_folder),
		contract_test(a_clock_that_is_set_back_strands_no_job),
		contract_test(ids_rise_even_when_the_clock_was_set_back),
		contract_test(the_log_does_not_grow_without_end),
	};

	return cmocka_run_group_tests(with_vfs, vfs_setup, vfs_teardown);
}
