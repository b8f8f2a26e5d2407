/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the SQLite store: connections, the pool of readers, the writer thread, migrations. Private to
 * lib/store/sqlite and its tests.
 */
#ifndef FSC_STORE_SQLITE_INT_H
#define FSC_STORE_SQLITE_INT_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/embed.h"
#include "base/err.h"
#include "store/store_ops.h"

extern const char *const fsc_sqlite_queries[FSC_Q_COUNT];

/* ---- db.c: one connection; belongs to one thread at a time ---- */
struct fsc_sqlite_db {
	struct fsc_db base;
	sqlite3 *h;			 /* owned */
	sqlite3_stmt *stmt[FSC_Q_COUNT]; /* owned; prepared at first use */
	struct fsc_sqlite_db *next;	 /* in the pool of readers */
};
fsc_nodiscard enum fsc_status fsc_sqlite_db_open(struct fsc_sqlite_db **out, struct fsc_store *s,
						 const char *path, bool writer, int busy_timeout_ms,
						 struct fsc_err *err);
void fsc_sqlite_db_close(struct fsc_sqlite_db *db); /* NULL is fine */
fsc_nodiscard enum fsc_status fsc_sqlite_exec(struct fsc_sqlite_db *db, const char *sql,
					      struct fsc_err *err);
/* Named query; what fsc_store_ops.run is. */
fsc_nodiscard enum fsc_status fsc_sqlite_run(struct fsc_db *db, const struct fsc_query_call *c,
					     struct fsc_err *err);
/* Turns a result code of SQLite into a status with detail. */
enum fsc_status fsc_sqlite_err(struct fsc_sqlite_db *db, int rc, const char *what,
			       struct fsc_err *err);

/* ---- migrate.c ---- */
/* Brings the database to the newest version in `table`, or refuses (see fsc_store_open). */
fsc_nodiscard enum fsc_status fsc_sqlite_migrate(struct fsc_sqlite_db *db,
						 const struct fsc_embed_table *table,
						 struct fsc_err *err);
/* FSC_EUNSUPPORTED "store_older" or "store_newer" when it is not at the newest version in table. */
fsc_nodiscard enum fsc_status fsc_sqlite_is_current(struct fsc_sqlite_db *db,
						    const struct fsc_embed_table *table,
						    struct fsc_err *err);

/* ---- writer.c: the thread that writes ---- */
struct fsc_sqlite_writer;
/* Takes db over. */
fsc_nodiscard enum fsc_status fsc_sqlite_writer_start(struct fsc_sqlite_writer **out,
						      struct fsc_sqlite_db *db,
						      struct fsc_err *err);
fsc_nodiscard enum fsc_status fsc_sqlite_writer_do(struct fsc_sqlite_writer *w, fsc_work_fn *fn,
						   void *arg, bool solo, struct fsc_err *err);
/* FSC_EIO once a commit or fsync has failed. */
fsc_nodiscard enum fsc_status fsc_sqlite_writer_health(struct fsc_sqlite_writer *w,
						       struct fsc_err *err);
/* Finishes what is queued, stops, closes the connection. */
void fsc_sqlite_writer_stop(struct fsc_sqlite_writer *w);

#endif
