/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SQLite implementation of fsc_store_ops: a pool of read-only connections for any thread, and the writer
 * thread. Also holds the data folder for one server (a lock file beside the database, freed by the kernel).
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "store/sqlite/sqlite_int.h"

struct sqlite_store {
	struct fsc_store base;
	char *path;			  /* owned */
	int lock_fd;			  /* -1 when not exclusive */
	struct fsc_sqlite_writer *writer; /* owned */
	int busy_timeout_ms;
	pthread_mutex_t lock; /* guards idle, n_readers */
	pthread_cond_t returned;
	struct fsc_sqlite_db *idle; /* owned list of readers that nobody uses */
	uint32_t n_readers, max_readers;
};

static enum fsc_status reader_take(struct fsc_sqlite_db **out, struct sqlite_store *s,
				   struct fsc_err *err)
{
	enum fsc_status st;

	pthread_mutex_lock(&s->lock);
	while (!s->idle && s->n_readers >= s->max_readers)
		pthread_cond_wait(&s->returned, &s->lock);
	*out = s->idle;
	if (s->idle)
		s->idle = s->idle->next;
	else
		s->n_readers++;
	pthread_mutex_unlock(&s->lock);
	if (*out)
		return FSC_OK;
	st = fsc_sqlite_db_open(out, &s->base, s->path, false, s->busy_timeout_ms, err);
	if (st != FSC_OK) {
		pthread_mutex_lock(&s->lock);
		s->n_readers--;
		pthread_cond_signal(&s->returned);
		pthread_mutex_unlock(&s->lock);
	}
	return st;
}

static void reader_give(struct sqlite_store *s, struct fsc_sqlite_db *db)
{
	pthread_mutex_lock(&s->lock);
	db->next = s->idle;
	s->idle = db;
	pthread_cond_signal(&s->returned);
	pthread_mutex_unlock(&s->lock);
}

/* One read transaction, so that the queries inside see one state. */
static enum fsc_status sqlite_read(struct fsc_store *base, fsc_work_fn *fn, void *arg,
				   struct fsc_err *err)
{
	struct sqlite_store *s = (struct sqlite_store *)base;
	struct fsc_sqlite_db *db;
	enum fsc_status st = reader_take(&db, s, err);

	if (st != FSC_OK)
		return st;
	st = fsc_sqlite_exec(db, "BEGIN", err);
	if (st == FSC_OK) {
		st = fn(&db->base, arg, err);
		sqlite3_exec(db->h, "ROLLBACK", NULL, NULL, NULL); /* nothing was written */
	}
	reader_give(s, db);
	return st;
}

static enum fsc_status sqlite_write(struct fsc_store *base, fsc_work_fn *fn, void *arg, bool solo,
				    struct fsc_err *err)
{
	struct sqlite_store *s = (struct sqlite_store *)base;

	if (!s->writer)
		return fsc_err_set(err, FSC_EDENIED, "store_read_only",
				   "store: opened for reading only");
	return fsc_sqlite_writer_do(s->writer, fn, arg, solo, err);
}

static enum fsc_status count_projects(struct fsc_db *db, void *arg, struct fsc_err *err)
{
	bool found;

	return fsc_db_int(db, FSC_Q_HEALTH, NULL, 0, arg, &found, err);
}

static enum fsc_status sqlite_health(struct fsc_store *base, struct fsc_err *err)
{
	struct sqlite_store *s = (struct sqlite_store *)base;
	enum fsc_status st = s->writer ? fsc_sqlite_writer_health(s->writer, err) : FSC_OK;
	int64_t n = 0;

	if (st == FSC_OK)
		st = sqlite_read(base, count_projects, &n, err);
	if (st == FSC_OK && n != 1)
		st = fsc_err_set(err, FSC_ECORRUPT, "store_corrupt", "store: no default project");
	return st;
}

static enum fsc_status backup_to(struct fsc_sqlite_db *db, const char *path, struct fsc_err *err)
{
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(db->h, "VACUUM INTO ?1", -1, &stmt, NULL);

	if (rc == SQLITE_OK) {
		sqlite3_bind_text(stmt, 1, path, -1, SQLITE_STATIC);
		rc = sqlite3_step(stmt);
	}
	sqlite3_finalize(stmt);
	return rc == SQLITE_DONE ? FSC_OK : fsc_sqlite_err(db, rc, "backup", err);
}

/* The bytes of unfinished uploads are not part of a backup, so neither are their rows. */
static enum fsc_status settle_copy(const char *path, struct fsc_err *err)
{
	static const char sql[] = "DELETE FROM upload WHERE bundle IS NULL";
	sqlite3 *h = NULL;
	enum fsc_status st = FSC_OK;

	if (sqlite3_open_v2(path, &h, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK ||
	    sqlite3_exec(h, sql, NULL, NULL, NULL) != SQLITE_OK)
		st = fsc_err_set(err, FSC_EIO, "store_io", "store: %s: %s", path,
				 h ? sqlite3_errmsg(h) : "no memory");
	sqlite3_close(h);
	return st;
}

/* On a connection of its own: query_only would be in the way of VACUUM INTO. */
static enum fsc_status sqlite_backup(struct fsc_store *base, const char *path, struct fsc_err *err)
{
	struct sqlite_store *s = (struct sqlite_store *)base;
	struct fsc_sqlite_db *db;
	enum fsc_status st;

	if (access(path, F_OK) == 0)
		return fsc_err_set(err, FSC_EEXIST, "backup_exists", "backup: %s is there already",
				   path);
	st = fsc_sqlite_db_open(&db, base, s->path, false, s->busy_timeout_ms, err);
	if (st != FSC_OK)
		return st;
	st = fsc_sqlite_exec(db, "PRAGMA query_only = OFF", err);
	if (st == FSC_OK)
		st = backup_to(db, path, err);
	fsc_sqlite_db_close(db);
	return st == FSC_OK ? settle_copy(path, err) : st;
}

struct checking {
	void (*found)(void *ctx, const char *what);
	void *ctx;
};

/* Rows of text, each a fault but "ok". */
static int on_check(void *ctx, int n, char **text, char **name)
{
	const struct checking *c = ctx;

	(void)name;
	if (n && text[0] && strcmp(text[0], "ok") != 0)
		c->found(c->ctx, text[0]);
	return 0;
}

static enum fsc_status sqlite_check(struct fsc_store *base,
				    void (*found)(void *ctx, const char *what), void *ctx,
				    struct fsc_err *err)
{
	static const char *const checks[] = {
		"PRAGMA integrity_check",
		"SELECT 'row ' || rowid || ' of ' || \"table\" || ' refers to a row of ' || parent "
		"|| "
		"' that is not there' FROM pragma_foreign_key_check",
	};
	struct sqlite_store *s = (struct sqlite_store *)base;
	struct checking c = { found, ctx };
	struct fsc_sqlite_db *db;
	enum fsc_status st = reader_take(&db, s, err);

	if (st != FSC_OK)
		return st;
	for (size_t i = 0; i < FSC_ARRAY_LEN(checks) && st == FSC_OK; i++) {
		int rc = sqlite3_exec(db->h, checks[i], on_check, &c, NULL);

		/* A file so broken that the check itself cannot run is a fault, too, not a failure of the check. */
		if ((rc & 0xff) == SQLITE_CORRUPT || (rc & 0xff) == SQLITE_NOTADB)
			found(ctx, sqlite3_errmsg(db->h));
		else
			st = fsc_sqlite_err(db, rc, "check", err);
	}
	reader_give(s, db);
	return st;
}

static int64_t file_bytes(const char *path, const char *suffix)
{
	char *full = fsc_xasprintf("%s%s", path, suffix);
	struct stat sb;
	int64_t n = stat(full, &sb) ? 0 : (int64_t)sb.st_size;

	fsc_free(full);
	return n;
}

static int64_t sqlite_bytes(struct fsc_store *base)
{
	struct sqlite_store *s = (struct sqlite_store *)base;

	return file_bytes(s->path, "") + file_bytes(s->path, "-wal");
}

static void sqlite_close(struct fsc_store *base)
{
	struct sqlite_store *s = (struct sqlite_store *)base;

	while (s->idle) {
		struct fsc_sqlite_db *db = s->idle;

		s->idle = db->next;
		s->n_readers--;
		fsc_sqlite_db_close(db);
	}
	FSC_ASSERT(s->n_readers == 0);
	fsc_sqlite_writer_stop(s->writer); /* last: closing it checkpoints the log */
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	pthread_cond_destroy(&s->returned);
	pthread_mutex_destroy(&s->lock);
	fsc_free(s->path);
	fsc_free(s);
}

static const struct fsc_store_ops sqlite_ops = {
	.name = "sqlite",
	.close = sqlite_close,
	.read = sqlite_read,
	.write = sqlite_write,
	.run = fsc_sqlite_run,
	.health = sqlite_health,
	.backup = sqlite_backup,
	.check = sqlite_check,
	.bytes = sqlite_bytes,
};

static enum fsc_status hold_folder(int *fd, const char *db_path, struct fsc_err *err)
{
	char *path = fsc_xasprintf("%s.lock", db_path);
	enum fsc_status st = FSC_OK;

	*fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (*fd < 0)
		st = fsc_err_sys(err, errno, "store: %s", path);
	else if (flock(*fd, LOCK_EX | LOCK_NB))
		st = errno == EWOULDBLOCK
			     ? fsc_err_set(err, FSC_EBUSY, "data_in_use",
					   "store: another server works on %s", db_path)
			     : fsc_err_sys(err, errno, "store: lock %s", path);
	if (st != FSC_OK && *fd >= 0) {
		close(*fd);
		*fd = -1;
	}
	fsc_free(path);
	return st;
}

/* A server that is at work has the schema that it was started with: who opens beside it must not change that. *fd is
 * the folder's lock, or -1 where no server ever was. */
static enum fsc_status hold_to_migrate(int *fd, struct sqlite_store *s, struct fsc_sqlite_db *db,
				       struct fsc_err *err)
{
	struct fsc_err why = FSC_ERR_INIT;
	char *path;
	enum fsc_status st = FSC_OK;

	*fd = -1;
	if (s->lock_fd >= 0 || fsc_sqlite_is_current(db, &fsc_store_migrations, &why) == FSC_OK ||
	    strcmp(why.code, "store_older") != 0)
		return FSC_OK;
	path = fsc_xasprintf("%s.lock", s->path);
	if (access(path, F_OK) == 0)
		st = hold_folder(fd, s->path, err);
	fsc_free(path);
	if (st != FSC_EBUSY)
		return st;
	fsc_err_clear(err);
	return fsc_err_set(err, st, "data_in_use",
			   "store: a server of an older version works on %s: let one of this "
			   "version start on it first",
			   s->path);
}

static enum fsc_status open_writer(struct sqlite_store *s, struct fsc_err *err)
{
	struct fsc_sqlite_db *db = NULL;
	int hold = -1;
	enum fsc_status st =
		fsc_sqlite_db_open(&db, &s->base, s->path, true, s->busy_timeout_ms, err);

	if (st == FSC_OK)
		st = hold_to_migrate(&hold, s, db, err);
	if (st == FSC_OK)
		st = fsc_sqlite_migrate(db, &fsc_store_migrations, err);
	if (hold >= 0)
		close(hold);
	if (st == FSC_OK)
		st = fsc_sqlite_writer_start(&s->writer, db, err);
	if (st != FSC_OK)
		fsc_sqlite_db_close(db);
	return st;
}

static enum fsc_status open_read_only(struct sqlite_store *s, struct fsc_err *err)
{
	struct fsc_sqlite_db *db;
	enum fsc_status st;

	if (access(s->path, R_OK))
		return fsc_err_sys(err, errno, "store: %s", s->path);
	st = reader_take(&db, s, err);
	if (st == FSC_OK) {
		st = fsc_sqlite_is_current(db, &fsc_store_migrations, err);
		reader_give(s, db);
	}
	return st;
}

enum fsc_status fsc_store_open_sqlite(struct fsc_store **out, const char *path,
				      const struct fsc_store_opts *opts, struct fsc_err *err)
{
	struct sqlite_store *s = fsc_xalloc(1, sizeof(*s));
	enum fsc_status st = FSC_OK;

	*out = NULL;
	s->base.ops = &sqlite_ops;
	s->path = fsc_xstrdup(path);
	s->lock_fd = -1;
	s->busy_timeout_ms = opts->busy_timeout_ms;
	s->max_readers = opts->max_readers;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->returned, NULL);
	if (opts->exclusive)
		st = hold_folder(&s->lock_fd, path, err);
	if (st == FSC_OK)
		st = opts->read_only ? open_read_only(s, err) : open_writer(s, err);
	if (st != FSC_OK) {
		sqlite_close(&s->base);
		return st;
	}
	*out = &s->base;
	return FSC_OK;
}
