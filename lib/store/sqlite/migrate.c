/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Applies the numbered migrations that are built in. All missing ones go into one transaction, so that two
 * processes that start together cannot both apply one, and a failure leaves the database as it was.
 */
#include "base/clock.h"
#include "base/crypto.h"
#include "base/num.h"
#include "store/sqlite/sqlite_int.h"

static enum fsc_status user_version(struct fsc_sqlite_db *db, int64_t *out, struct fsc_err *err)
{
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(db->h, "PRAGMA user_version", -1, &stmt, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW)
		*out = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return rc == SQLITE_ROW ? FSC_OK : fsc_sqlite_err(db, rc, "user_version", err);
}

static enum fsc_status record(struct fsc_sqlite_db *db, int64_t n, const uint8_t *sha256,
			      struct fsc_err *err)
{
	static const char sql[] = "INSERT INTO schema_migration (n, sha256, applied_at) "
				  "VALUES (?1, ?2, ?3)";
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(db->h, sql, -1, &stmt, NULL);

	if (rc == SQLITE_OK) {
		sqlite3_bind_int64(stmt, 1, n);
		sqlite3_bind_blob(stmt, 2, sha256, FSC_SHA256_LEN, SQLITE_STATIC);
		sqlite3_bind_int64(stmt, 3, fsc_clock_real_ns());
		rc = sqlite3_step(stmt);
	}
	sqlite3_finalize(stmt);
	return rc == SQLITE_DONE ? FSC_OK : fsc_sqlite_err(db, rc, "schema_migration", err);
}

/* What was applied must be what is built in: a changed file would mean a schema that nobody tested. */
static enum fsc_status check_applied(struct fsc_sqlite_db *db, int64_t n, const uint8_t *sha256,
				     struct fsc_err *err)
{
	static const char sql[] = "SELECT sha256 FROM schema_migration WHERE n = ?1";
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(db->h, sql, -1, &stmt, NULL);
	bool same = false;

	if (rc == SQLITE_OK) {
		sqlite3_bind_int64(stmt, 1, n);
		rc = sqlite3_step(stmt);
	}
	if (rc == SQLITE_ROW && sqlite3_column_bytes(stmt, 0) == FSC_SHA256_LEN)
		same = !memcmp(sqlite3_column_blob(stmt, 0), sha256, FSC_SHA256_LEN);
	sqlite3_finalize(stmt);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		return fsc_sqlite_err(db, rc, "schema_migration", err);
	if (!same)
		return fsc_err_set(
			err, FSC_ECORRUPT, "store_migration",
			"store: migration %lld of the database is not the one of this program",
			(long long)n);
	return FSC_OK;
}

static enum fsc_status apply(struct fsc_sqlite_db *db, const struct fsc_embed *m, int64_t n,
			     const uint8_t *sha256, struct fsc_err *err)
{
	int64_t now = 0;
	enum fsc_status st = fsc_sqlite_exec(db, (const char *)m->data, err);

	if (st == FSC_OK)
		st = user_version(db, &now, err);
	if (st == FSC_OK && now != n)
		st = fsc_err_set(err, FSC_EBUG, "store_migration",
				 "store: migration %s does not set user_version to %lld", m->name,
				 (long long)n);
	if (st == FSC_OK)
		st = record(db, n, sha256, err);
	if (st != FSC_OK)
		return fsc_err_wrap(err, "migration %s", m->name);
	return FSC_OK;
}

static enum fsc_status newer(int64_t have, const struct fsc_embed_table *table, struct fsc_err *err)
{
	return fsc_err_set(err, FSC_EUNSUPPORTED, "store_newer",
			   "store: the database has schema %lld, this program knows up to %zu",
			   (long long)have, table->n_items);
}

enum fsc_status fsc_sqlite_is_current(struct fsc_sqlite_db *db, const struct fsc_embed_table *table,
				      struct fsc_err *err)
{
	int64_t have = 0;
	enum fsc_status st = user_version(db, &have, err);

	if (st == FSC_OK && have > (int64_t)table->n_items)
		return newer(have, table, err);
	if (st == FSC_OK && have < (int64_t)table->n_items)
		st = fsc_err_set(err, FSC_EUNSUPPORTED, "store_older",
				 "store: the database has schema %lld, this program works on %zu: "
				 "let its server start on it once, or use the program it is of",
				 (long long)have, table->n_items);
	return st;
}

static enum fsc_status apply_all(struct fsc_sqlite_db *db, const struct fsc_embed_table *table,
				 struct fsc_err *err)
{
	int64_t have = 0;
	enum fsc_status st = user_version(db, &have, err);

	if (st == FSC_OK && have > (int64_t)table->n_items)
		return newer(have, table, err);
	if (st == FSC_OK)
		st = fsc_sqlite_exec(db,
				     "CREATE TABLE IF NOT EXISTS schema_migration ("
				     "n INTEGER PRIMARY KEY, sha256 BLOB NOT NULL, "
				     "applied_at INTEGER NOT NULL) STRICT",
				     err);
	for (size_t i = 0; i < table->n_items && st == FSC_OK; i++) {
		const struct fsc_embed *m = &table->items[i];
		int64_t n = (int64_t)i + 1, named = 0;
		uint8_t sha256[FSC_SHA256_LEN];

		if (strlen(m->name) < 5 || !fsc_parse_i64(&named, m->name, 4) || named != n)
			return fsc_err_set(err, FSC_EBUG, "store_migration",
					   "store: migration %zu is missing, found %s", i + 1,
					   m->name);
		fsc_sha256(sha256, m->data, m->size);
		st = n <= have ? check_applied(db, n, sha256, err) : apply(db, m, n, sha256, err);
	}
	return st;
}

enum fsc_status fsc_sqlite_migrate(struct fsc_sqlite_db *db, const struct fsc_embed_table *table,
				   struct fsc_err *err)
{
	enum fsc_status st = fsc_sqlite_exec(db, "BEGIN IMMEDIATE", err);

	if (st != FSC_OK)
		return st;
	st = apply_all(db, table, err);
	if (st == FSC_OK)
		return fsc_sqlite_exec(db, "COMMIT", err);
	sqlite3_exec(db->h, "ROLLBACK", NULL, NULL, NULL);
	return st;
}
