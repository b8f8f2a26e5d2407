/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one thread that writes. Callers put their work into a queue and sleep; the thread takes what is there
 * (up to 1,000 pieces or 20 ms of work), runs each inside a savepoint of one transaction, commits, and wakes
 * them. What arrives during a commit makes the next group, so the cost of an fsync is shared under load and
 * nobody waits for a timer without load.
 *
 * After a failed fsync nobody knows what is on the disk (a second fsync may succeed without the data), so the
 * writer then refuses everything until the process is started again.
 */
#include <errno.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "store/sqlite/sqlite_int.h"

#define GROUP_MAX 1000
#define GROUP_NS 20000000LL
/* Pages in the log above which readers are pushed out of the way of a full checkpoint: 256 MiB. */
#define WAL_PAGES_MAX 65536

struct op {
	fsc_work_fn *fn;
	void *arg;
	bool solo;
	struct fsc_err *err; /* of the caller, who sleeps */
	enum fsc_status st;
	bool done;
	pthread_cond_t wake;
	struct op *next;
};

struct fsc_sqlite_writer {
	struct fsc_sqlite_db *db; /* owned; the thread's alone */
	pthread_t thread;
	pthread_mutex_t
		lock; /* guards head, tail, stopping, op.done; broken is written under it by the thread */
	pthread_cond_t work;
	struct op *head, **tail;
	bool stopping, broken;
	int wal_pages; /* the thread's alone */
};

static int on_wal(void *ctx, sqlite3 *h, const char *name, int pages)
{
	struct fsc_sqlite_writer *w = ctx;

	(void)name;
	w->wal_pages = pages;
	/* Setting a hook takes the place of wal_autocheckpoint, so its work is done here. */
	if (pages >= 4000)
		sqlite3_wal_checkpoint_v2(h, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
	return SQLITE_OK;
}

/* Runs one piece inside a savepoint, so that its failure takes nothing else with it. False when the whole
 * transaction is gone: SQLite rolls back by itself on a full disk, an I/O error or no memory. */
static bool run_one(struct fsc_sqlite_db *db, struct op *op)
{
	op->st = fsc_sqlite_exec(db, "SAVEPOINT piece", op->err);
	if (op->st == FSC_OK)
		op->st = op->fn(&db->base, op->arg, op->err);
	if (sqlite3_get_autocommit(db->h))
		return false;
	if (op->st != FSC_OK)
		sqlite3_exec(db->h, "ROLLBACK TO piece", NULL, NULL, NULL);
	sqlite3_exec(db->h, "RELEASE piece", NULL, NULL, NULL);
	return true;
}

static bool is_fsync_failure(sqlite3 *h)
{
	switch (sqlite3_extended_errcode(h)) {
	case SQLITE_IOERR_FSYNC:
	case SQLITE_IOERR_DIR_FSYNC:
	case SQLITE_IOERR_TRUNCATE:
		return true;
	default:
		return false;
	}
}

static enum fsc_status refuse(struct fsc_err *err)
{
	return fsc_err_set(err, FSC_EIO, "store_broken",
			   "store: an earlier write to the disk failed, restart the server");
}

static struct op *nth(struct op *op, size_t n)
{
	while (op && n--)
		op = op->next;
	return op;
}

static void set_broken(struct fsc_sqlite_writer *w)
{
	pthread_mutex_lock(&w->lock);
	w->broken = true;
	pthread_mutex_unlock(&w->lock);
}

static void fail_all(struct op *from, const struct op *end, enum fsc_status st,
		     const struct fsc_err *err)
{
	for (struct op *op = from; op != end; op = op->next) {
		op->st = st;
		if (op->err)
			*op->err = *err;
	}
}

/* One transaction from `from` on, as far as *reached (NULL: all of it). Failed pieces keep their own error.
 * Returns false when SQLite threw the transaction away because of one piece; *reached is that one. */
static bool run_group(struct fsc_sqlite_writer *w, struct op *from, size_t max, struct op **reached)
{
	struct fsc_store *s = w->db->base.store;
	int64_t until = fsc_clock_mono_ns() + GROUP_NS;
	struct fsc_err err = FSC_ERR_INIT;
	enum fsc_status st;
	struct op *op = from;

	st = w->broken ? refuse(&err) : fsc_sqlite_exec(w->db, "BEGIN IMMEDIATE", &err);
	if (st != FSC_OK) {
		if (st == FSC_EBUSY)
			atomic_fetch_add(&s->busy, 1);
		*reached = nth(from, max);
		fail_all(from, *reached, st, &err);
		return true;
	}
	for (size_t n = 0; op && n < max; op = op->next, n++) {
		if (n && fsc_clock_mono_ns() > until)
			break;
		if (!run_one(w->db, op)) {
			*reached = op;
			return false;
		}
	}
	*reached = op;
	st = fsc_sqlite_exec(w->db, "COMMIT", &err);
	if (st == FSC_OK) {
		atomic_fetch_add(&s->commits, 1);
		return true;
	}
	if (is_fsync_failure(w->db->h))
		set_broken(w);
	if (!sqlite3_get_autocommit(w->db->h))
		sqlite3_exec(w->db->h, "ROLLBACK", NULL, NULL, NULL);
	fail_all(from, *reached, st, &err);
	return true;
}

/* A piece whose transaction went away must not be reported as done. */
static void mark_lost(struct op *op)
{
	if (op->st == FSC_OK)
		op->st = fsc_err_set(op->err, FSC_EIO, "store_io", "store: transaction lost");
}

/* Runs pieces from `from` on and returns the first that was not run. When one of them took the transaction
 * down, those before it run again, each by itself. */
static struct op *run_some(struct fsc_sqlite_writer *w, struct op *from)
{
	struct op *gone = NULL, *unused = NULL;

	if (run_group(w, from, GROUP_MAX, &gone))
		return gone;
	if (is_fsync_failure(w->db->h))
		set_broken(w);
	mark_lost(gone);
	for (struct op *op = from; op != gone; op = op->next) {
		fsc_err_clear(op->err);
		if (!run_group(w, op, 1, &unused))
			mark_lost(op);
	}
	return gone->next;
}

static void wake_all(struct fsc_sqlite_writer *w, struct op *from, const struct op *end)
{
	pthread_mutex_lock(&w->lock);
	while (from != end) {
		struct op *next =
			from->next; /* from may be gone once its owner is awake and has the lock */

		from->done = true;
		pthread_cond_signal(&from->wake);
		from = next;
	}
	pthread_mutex_unlock(&w->lock);
}

/* Takes the next group off the queue; NULL when there is none and the writer shall stop. The group is linked
 * by next and ends with NULL. */
static struct op *take_group(struct fsc_sqlite_writer *w)
{
	struct op *from, *last;
	size_t n = 1;

	pthread_mutex_lock(&w->lock);
	while (!w->head && !w->stopping)
		pthread_cond_wait(&w->work, &w->lock);
	from = last = w->head;
	if (from && !from->solo)
		for (; n < GROUP_MAX && last->next && !last->next->solo; n++)
			last = last->next;
	if (from) {
		w->head = last->next;
		if (!w->head)
			w->tail = &w->head;
		last->next = NULL;
		atomic_fetch_add(&w->db->base.store->writes, n);
	}
	pthread_mutex_unlock(&w->lock);
	return from;
}

static void *writer_main(void *arg)
{
	struct fsc_sqlite_writer *w = arg;

	for (struct op *from = take_group(w); from; from = take_group(w)) {
		while (from) {
			struct op *next = run_some(w, from);

			wake_all(w, from, next);
			from = next;
		}
		if (w->wal_pages > WAL_PAGES_MAX)
			sqlite3_wal_checkpoint_v2(w->db->h, NULL, SQLITE_CHECKPOINT_RESTART, NULL,
						  &w->wal_pages);
	}
	return NULL;
}

enum fsc_status fsc_sqlite_writer_start(struct fsc_sqlite_writer **out, struct fsc_sqlite_db *db,
					struct fsc_err *err)
{
	struct fsc_sqlite_writer *w = fsc_xalloc(1, sizeof(*w));
	int rc;

	*out = NULL;
	w->db = db;
	w->tail = &w->head;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->work, NULL);
	sqlite3_wal_hook(db->h, on_wal, w);
	rc = pthread_create(&w->thread, NULL, writer_main, w);
	if (rc) {
		pthread_cond_destroy(&w->work);
		pthread_mutex_destroy(&w->lock);
		fsc_free(w);
		return fsc_err_sys(err, rc, "store: writer thread");
	}
	*out = w;
	return FSC_OK;
}

enum fsc_status fsc_sqlite_writer_do(struct fsc_sqlite_writer *w, fsc_work_fn *fn, void *arg,
				     bool solo, struct fsc_err *err)
{
	struct op op = { .fn = fn, .arg = arg, .solo = solo, .err = err };

	pthread_mutex_lock(&w->lock);
	if (w->broken) {
		pthread_mutex_unlock(&w->lock);
		return refuse(err);
	}
	FSC_ASSERT(!w->stopping);
	pthread_cond_init(&op.wake, NULL);
	*w->tail = &op;
	/* cppcheck-suppress autoVariables ; this call waits until the writer is done with op */
	w->tail = &op.next;
	pthread_cond_signal(&w->work);
	while (!op.done)
		pthread_cond_wait(&op.wake, &w->lock);
	pthread_mutex_unlock(&w->lock);
	pthread_cond_destroy(&op.wake);
	return op.st;
}

enum fsc_status fsc_sqlite_writer_health(struct fsc_sqlite_writer *w, struct fsc_err *err)
{
	bool broken;

	pthread_mutex_lock(&w->lock);
	broken = w->broken;
	pthread_mutex_unlock(&w->lock);
	return broken ? refuse(err) : FSC_OK;
}

void fsc_sqlite_writer_stop(struct fsc_sqlite_writer *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->stopping = true;
	pthread_cond_signal(&w->work);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	sqlite3_exec(w->db->h, "PRAGMA optimize", NULL, NULL, NULL);
	fsc_sqlite_db_close(w->db);
	pthread_cond_destroy(&w->work);
	pthread_mutex_destroy(&w->lock);
	fsc_free(w);
}
