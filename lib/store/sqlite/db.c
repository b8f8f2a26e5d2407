/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One SQLite connection: its pragmas, its cache of prepared statements, running a named query. Connections are
 * opened without SQLite's own mutex, because each belongs to one thread at a time.
 */
#include <errno.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "store/sqlite/sqlite_int.h"

#define MAX_COLUMNS 64

/* The writer syncs at every commit, because an upload is acknowledged on it. */
static const char pragmas_writer[] = "PRAGMA journal_mode = WAL;"
				     "PRAGMA synchronous = FULL;"
				     "PRAGMA foreign_keys = ON;"
				     "PRAGMA cache_size = -65536;"
				     "PRAGMA mmap_size = 1073741824;"
				     "PRAGMA temp_store = MEMORY;"
				     "PRAGMA wal_autocheckpoint = 4000;"
				     "PRAGMA trusted_schema = OFF;"
				     "PRAGMA cell_size_check = ON;";
/* Readers are many, so each has a smaller cache of its own; the mapping is shared anyway. */
static const char pragmas_reader[] = "PRAGMA query_only = ON;"
				     "PRAGMA cache_size = -8192;"
				     "PRAGMA mmap_size = 1073741824;"
				     "PRAGMA temp_store = MEMORY;"
				     "PRAGMA trusted_schema = OFF;"
				     "PRAGMA cell_size_check = ON;";

static bool errno_is_full(int e)
{
	return e == ENOSPC || e == EDQUOT || e == EFBIG;
}

/* SQLite tells ENOSPC apart by itself; a quota or a file size limit shows only in the errno that it keeps for
 * each of its files. */
static bool is_full(struct fsc_sqlite_db *db)
{
	sqlite3_file *log = NULL;
	int e = 0;

	if (errno_is_full(sqlite3_system_errno(db->h)))
		return true;
	if (!sqlite3_file_control(db->h, "main", SQLITE_FCNTL_LAST_ERRNO, &e) && errno_is_full(e))
		return true;
	if (sqlite3_file_control(db->h, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) || !log ||
	    !log->pMethods)
		return false;
	e = 0;
	return !log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &e) && errno_is_full(e);
}

enum fsc_status fsc_sqlite_err(struct fsc_sqlite_db *db, int rc, const char *what,
			       struct fsc_err *err)
{
	int ext = sqlite3_extended_errcode(db->h);
	const char *msg = sqlite3_errmsg(db->h);

	switch (rc & 0xff) {
	case SQLITE_OK:
	case SQLITE_ROW:
	case SQLITE_DONE:
		return FSC_OK;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return fsc_err_set(err, FSC_EBUSY, "store_busy",
				   "store: another process holds the database");
	case SQLITE_FULL:
		return fsc_err_set(err, FSC_EFULL, "disk_full", "store: %s: %s", what, msg);
	case SQLITE_NOMEM:
		return fsc_err_set(err, FSC_ENOMEM, "memory", "store: %s: no memory", what);
	case SQLITE_CONSTRAINT:
		return fsc_err_set(err, FSC_EEXIST, "constraint", "store: %s: %s", what, msg);
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return fsc_err_set(err, FSC_ECORRUPT, "store_corrupt", "store: %s: %s", what, msg);
	case SQLITE_IOERR:
		if (is_full(db))
			return fsc_err_set(err, FSC_EFULL, "disk_full", "store: %s: %s", what, msg);
		/* fallthrough */
	default:
		return fsc_err_set(err, FSC_EIO, "store_io", "store: %s: %s (%d)", what, msg, ext);
	}
}

enum fsc_status fsc_sqlite_exec(struct fsc_sqlite_db *db, const char *sql, struct fsc_err *err)
{
	int rc = sqlite3_exec(db->h, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? FSC_OK : fsc_sqlite_err(db, rc, "exec", err);
}

enum fsc_status fsc_sqlite_db_open(struct fsc_sqlite_db **out, struct fsc_store *s,
				   const char *path, bool writer, int busy_timeout_ms,
				   struct fsc_err *err)
{
	struct fsc_sqlite_db *db = fsc_xalloc(1, sizeof(*db));
	int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
		    (writer ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY);
	enum fsc_status st;
	int rc;

	*out = NULL;
	db->base.store = s;
	/* Without memory statistics the connections' allocations share no lock. The writer is opened first, at
	 * start-up; once the library runs this is refused and changes nothing. */
	if (writer)
		(void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	rc = sqlite3_open_v2(path, &db->h, flags, NULL);
	if (!db->h) {
		fsc_free(db);
		return fsc_err_set(err, FSC_ENOMEM, "memory", "store: no memory to open");
	}
	if (rc != SQLITE_OK) {
		st = fsc_sqlite_err(db, rc, path, err);
		goto fail;
	}
	sqlite3_busy_timeout(db->h, busy_timeout_ms);
	st = fsc_sqlite_exec(db, writer ? pragmas_writer : pragmas_reader, err);
	if (st != FSC_OK)
		goto fail;
	*out = db;
	return FSC_OK;
fail:
	fsc_sqlite_db_close(db);
	return st;
}

void fsc_sqlite_db_close(struct fsc_sqlite_db *db)
{
	if (!db)
		return;
	for (size_t i = 0; i < FSC_Q_COUNT; i++)
		sqlite3_finalize(db->stmt[i]);
	sqlite3_close(db->h);
	fsc_free(db);
}

static enum fsc_status prepared(sqlite3_stmt **out, struct fsc_sqlite_db *db, enum fsc_query id,
				struct fsc_err *err)
{
	int rc;

	FSC_ASSERT(id < FSC_Q_COUNT && fsc_sqlite_queries[id]);
	if (!db->stmt[id]) {
		rc = sqlite3_prepare_v3(db->h, fsc_sqlite_queries[id], -1,
					SQLITE_PREPARE_PERSISTENT, &db->stmt[id], NULL);
		if (rc != SQLITE_OK)
			return fsc_sqlite_err(db, rc, fsc_sqlite_queries[id], err);
	}
	*out = db->stmt[id];
	return FSC_OK;
}

/* Values are bound without a copy: they live until the statement is reset. */
static int bind(sqlite3_stmt *st, int idx, const struct fsc_value *v)
{
	switch (v->type) {
	case FSC_VALUE_INT:
		return sqlite3_bind_int64(st, idx, v->i);
	case FSC_VALUE_TEXT:
		return sqlite3_bind_text64(st, idx, v->p, v->n, SQLITE_STATIC, SQLITE_UTF8);
	case FSC_VALUE_BYTES:
		return sqlite3_bind_blob64(st, idx, v->p ? v->p : "", v->n, SQLITE_STATIC);
	case FSC_VALUE_NULL:
	default:
		return sqlite3_bind_null(st, idx);
	}
}

static void column(struct fsc_value *v, sqlite3_stmt *st, int col)
{
	*v = (struct fsc_value){ .type = FSC_VALUE_NULL };
	switch (sqlite3_column_type(st, col)) {
	case SQLITE_INTEGER:
		v->type = FSC_VALUE_INT;
		v->i = sqlite3_column_int64(st, col);
		return;
	case SQLITE_TEXT:
		v->type = FSC_VALUE_TEXT;
		v->p = sqlite3_column_text(st, col);
		v->n = (size_t)sqlite3_column_bytes(st, col);
		return;
	case SQLITE_BLOB:
		v->type = FSC_VALUE_BYTES;
		v->p = sqlite3_column_blob(st, col);
		v->n = (size_t)sqlite3_column_bytes(st, col);
		return;
	default: /* NULL, and no query gives a float */
		return;
	}
}

static enum fsc_status give_row(sqlite3_stmt *st, const struct fsc_query_call *c,
				struct fsc_err *err)
{
	struct fsc_value v[MAX_COLUMNS];
	struct fsc_row row = { .v = v, .n = (size_t)sqlite3_column_count(st) };

	FSC_ASSERT(row.n <= MAX_COLUMNS);
	for (size_t i = 0; i < row.n; i++)
		column(&v[i], st, (int)i);
	return c->row(c->ctx, &row, err);
}

enum fsc_status fsc_sqlite_run(struct fsc_db *base, const struct fsc_query_call *c,
			       struct fsc_err *err)
{
	struct fsc_sqlite_db *db = (struct fsc_sqlite_db *)base;
	sqlite3_stmt *stmt = NULL;
	enum fsc_status st = prepared(&stmt, db, c->id, err);
	int rc = SQLITE_OK;

	if (st != FSC_OK)
		return st;
	FSC_ASSERT((size_t)sqlite3_bind_parameter_count(stmt) == c->n_args);
	for (size_t i = 0; i < c->n_args && rc == SQLITE_OK; i++)
		rc = bind(stmt, (int)i + 1, &c->args[i]);
	while (rc == SQLITE_OK || rc == SQLITE_ROW) {
		rc = sqlite3_step(stmt);
		if (rc == SQLITE_ROW && c->row)
			st = give_row(stmt, c, err);
		if (st != FSC_OK)
			break;
	}
	if (st == FSC_OK && rc != SQLITE_DONE)
		st = fsc_sqlite_err(db, rc, fsc_sqlite_queries[c->id], err);
	if (st == FSC_OK && c->changed)
		*c->changed = sqlite3_changes64(db->h);
	sqlite3_reset(stmt);
	sqlite3_clear_bindings(stmt);
	return st;
}
