/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Migrations: what a fresh database looks like (tests/store/schema.txt, so that a change of the schema is seen
 * in review), and when the program refuses to touch one. FSC_UPDATE_SCHEMA=1 rewrites the file.
 */
#define CONTRACT_STORE_URL "%s/store.db"
#define CONTRACT_BLOBS_URL "%s/blobs"
#include "tests/store/contract.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/file.h>

#include "base/buf.h"
#include "base/fs.h"
#include "store/sqlite/sqlite_int.h"

static void exec(sqlite3 *h, const char *sql)
{
	char *msg = NULL;

	if (sqlite3_exec(h, sql, NULL, NULL, &msg) != SQLITE_OK)
		fail_msg("%s: %s", sql, msg);
}

static void exec_on(struct place *p, const char *sql)
{
	sqlite3 *h;

	assert_int_equal(sqlite3_open(p->store_url, &h), SQLITE_OK);
	exec(h, sql);
	sqlite3_close(h);
}

static void dump_schema(struct fsc_buf *out, const char *path)
{
	sqlite3_stmt *st;
	sqlite3 *h;

	assert_int_equal(sqlite3_open_v2(path, &h, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(
				 h,
				 "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL "
				 "ORDER BY type, name",
				 -1, &st, NULL),
			 SQLITE_OK);
	while (sqlite3_step(st) == SQLITE_ROW)
		fsc_buf_addf(out, "-- %s %s\n%s;\n\n", sqlite3_column_text(st, 0),
			     sqlite3_column_text(st, 1), sqlite3_column_text(st, 2));
	sqlite3_finalize(st);
	sqlite3_close(h);
}

static void a_fresh_schema_is_the_one_on_record(void **state)
{
	struct place *p = *state;
	struct fsc_buf now = FSC_BUF_INIT(1 << 20);
	const char *update = getenv("FSC_UPDATE_SCHEMA");
	char path[512], *want;
	size_t n;

	dump_schema(&now, p->store_url);
	test_src(path, sizeof(path), "tests/store/schema.txt");
	if (update && update[0] == '1')
		assert_ok(p, fsc_fs_replace(path, now.data, now.len, 0644, &p->err));
	assert_ok(p, fsc_fs_read_file(&want, &n, path, 1 << 20, &p->err));
	assert_string_equal(now.data, want);
	fsc_free(want);
	fsc_buf_fini(&now);
}

static int one_int(void *ctx, int n, char **v, char **names)
{
	(void)n;
	(void)names;
	*(int *)ctx = v[0] ? (int)strtol(v[0], NULL, 10) : -1;
	return 0;
}

static int query_int(struct place *p, const char *sql)
{
	sqlite3 *h;
	int out = -1;

	assert_int_equal(sqlite3_open(p->store_url, &h), SQLITE_OK);
	assert_int_equal(sqlite3_exec(h, sql, one_int, &out, NULL), SQLITE_OK);
	sqlite3_close(h);
	return out;
}

static void every_truth_table_has_a_project(void **state)
{
	struct place *p = *state;
	const char *tables[] = { "bundle", "trace", "job", "token", "audit", "idempotency_key" };

	for (size_t i = 0; i < FSC_ARRAY_LEN(tables); i++) {
		char sql[200];

		snprintf(sql, sizeof(sql),
			 "SELECT COUNT(*) FROM pragma_table_info('%s') WHERE name = "
			 "'project' AND \"notnull\" = 1",
			 tables[i]);
		assert_int_equal(query_int(p, sql), 1);
	}
	/* a table that is not STRICT would take text for a number */
	assert_int_equal(
		query_int(p, "SELECT COUNT(*) FROM pragma_table_list WHERE type = 'table' AND "
			     "strict = 0 AND name NOT LIKE 'sqlite_%'"),
		0);
}

static void the_database_is_set_up_for_durability(void **state)
{
	struct place *p = *state;
	char mode[16] = "";
	sqlite3_stmt *st;
	sqlite3 *h;

	assert_int_equal(sqlite3_open(p->store_url, &h), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(h, "PRAGMA journal_mode", -1, &st, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(st), SQLITE_ROW);
	snprintf(mode, sizeof(mode), "%s", sqlite3_column_text(st, 0));
	sqlite3_finalize(st);
	sqlite3_close(h);
	assert_string_equal(mode, "wal");
	assert_int_equal(
		query_int(p, "SELECT COUNT(*) FROM schema_migration WHERE length(sha256) = 32 AND "
			     "applied_at > 0"),
		query_int(p, "PRAGMA user_version"));
}

static void a_newer_database_is_not_touched(void **state)
{
	struct place *p = *state;

	place_close(p);
	exec_on(p, "PRAGMA user_version = 9999");
	assert_fails(p, fsc_store_open(&p->s, p->store_url, NULL, &p->err), FSC_EUNSUPPORTED,
		     "store_newer");
	assert_null(p->s);
	assert_int_equal(query_int(p, "PRAGMA user_version"), 9999);
}

static void a_changed_migration_is_noticed(void **state)
{
	struct place *p = *state;

	place_close(p);
	exec_on(p, "UPDATE schema_migration SET sha256 = zeroblob(32) WHERE n = 1");
	assert_fails(p, fsc_store_open(&p->s, p->store_url, NULL, &p->err), FSC_ECORRUPT,
		     "store_migration");
}

static enum fsc_status migrate_with(struct place *p, const struct fsc_embed *items, size_t n)
{
	struct fsc_embed_table table = { items, n };
	struct fsc_sqlite_db *db;
	enum fsc_status st;

	assert_ok(p, fsc_sqlite_db_open(&db, NULL, p->store_url, true, 1000, &p->err));
	st = fsc_sqlite_migrate(db, &table, &p->err);
	fsc_sqlite_db_close(db);
	return st;
}

/* Our migrations and two more, made up. */
struct next_files {
	struct fsc_embed items[64];
	char names[2][32], texts[2][256];
};
static struct fsc_embed *files_after_ours(struct next_files *f, const char *first,
					  const char *second)
{
	const size_t n = fsc_store_migrations.n_items;

	assert_true(n + 2 <= FSC_ARRAY_LEN(f->items));
	memcpy(f->items, fsc_store_migrations.items, n * sizeof(f->items[0]));
	for (size_t i = 0; i < 2; i++) {
		snprintf(f->names[i], sizeof(f->names[i]), "%04zu_made_up.sql", n + i + 1);
		snprintf(f->texts[i], sizeof(f->texts[i]), "%s PRAGMA user_version = %zu;",
			 i ? second : first, n + i + 1);
		f->items[n + i] =
			(struct fsc_embed){ f->names[i], (const unsigned char *)f->texts[i],
					    strlen(f->texts[i]) };
	}
	return f->items;
}

static void migrations_apply_in_order_and_only_once(void **state)
{
	struct place *p = *state;
	struct next_files next;
	struct fsc_embed *items = files_after_ours(&next, "CREATE TABLE more (a INTEGER) STRICT;",
						   "INSERT INTO more VALUES (7);");
	const size_t n = fsc_store_migrations.n_items;

	place_close(p);
	assert_ok(p, migrate_with(p, items, n + 1));
	assert_ok(p, migrate_with(p, items, n + 2));
	assert_ok(p, migrate_with(p, items, n + 2));
	assert_int_equal(query_int(p, "SELECT SUM(a) FROM more"), 7);
	assert_int_equal(query_int(p, "SELECT COUNT(*) FROM schema_migration"), (int64_t)n + 2);
	assert_int_equal(query_int(p, "SELECT COUNT(*) FROM project"), 1);
}

static void a_migration_that_fails_leaves_no_trace(void **state)
{
	struct place *p = *state;
	const size_t n = fsc_store_migrations.n_items;
	struct next_files bad, gap, no_version;
	struct fsc_embed *items;

	place_close(p);
	items = files_after_ours(
		&bad, "CREATE TABLE more (a INTEGER) STRICT;",
		"CREATE TABLE most (a INTEGER) STRICT; INSERT INTO nowhere VALUES (1);");
	assert_int_not_equal(migrate_with(p, items, n + 2), FSC_OK);
	items = files_after_ours(&gap, "SELECT 1;", "SELECT 1;");
	items[n] = items[n + 1]; /* one number is missing */
	assert_fails(p, migrate_with(p, items, n + 1), FSC_EBUG, "store_migration");
	items = files_after_ours(&no_version, "", "");
	items[n].data = (const unsigned char *)"SELECT 1;";
	items[n].size = 9;
	assert_fails(p, migrate_with(p, items, n + 1), FSC_EBUG, "store_migration");
	assert_int_equal(query_int(p, "PRAGMA user_version"), (int64_t)n);
	assert_int_equal(
		query_int(p, "SELECT COUNT(*) FROM sqlite_schema WHERE name IN ('more', 'most')"),
		0);
	place_open(p);
	assert_ok(p, fsc_store_health(p->s, &p->err));
}

/* `token list` of the next version, say, while the server of this one goes on. */
static void nothing_is_migrated_under_a_server_that_is_at_work(void **state)
{
	struct place *p = *state;
	const struct fsc_store_opts server = { .exclusive = true };
	const struct fsc_embed *first = &fsc_store_migrations.items[0];
	uint8_t sha256[FSC_SHA256_LEN];
	char hex[FSC_SHA256_HEX], text[300], lock[400];
	int fd;

	place_close(p);
	snprintf(p->store_url, sizeof(p->store_url), "%.240s/old.db", p->dir);
	snprintf(lock, sizeof(lock), "%s.lock", p->store_url);
	fsc_sha256(sha256, first->data, first->size);
	fsc_hex(hex, sha256, sizeof(sha256));
	exec_on(p, (const char *)first->data);
	snprintf(text, sizeof(text),
		 "CREATE TABLE schema_migration (n INTEGER PRIMARY KEY, sha256 BLOB NOT NULL, "
		 "applied_at INTEGER NOT NULL) STRICT; INSERT INTO schema_migration VALUES (1, "
		 "x'%s', 1)",
		 hex);
	exec_on(p, text);
	fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0);
	assert_fails(p, fsc_store_open(&p->s, p->store_url, NULL, &p->err), FSC_EBUSY,
		     "data_in_use");
	assert_int_equal(query_int(p, "PRAGMA user_version"), 1);
	close(fd);
	assert_ok(p, fsc_store_open(&p->s, p->store_url, NULL, &p->err));
	assert_int_equal(query_int(p, "PRAGMA user_version"), fsc_store_migrations.n_items);
	fsc_store_close(p->s);
	/* and it does not keep a server away */
	assert_ok(p, fsc_store_open(&p->s, p->store_url, &server, &p->err));
	fsc_store_close(p->s);
	p->s = NULL;
}

static void a_file_that_is_no_database_is_refused(void **state)
{
	struct place *p = *state;
	char path[320];

	snprintf(path, sizeof(path), "%s/not.db", p->dir);
	assert_ok(p,
		  fsc_fs_replace(path,
				 "this is no database, but long enough to be looked at, is it not? "
				 "yes, it is: more than a hundred bytes",
				 100, 0600, &p->err));
	place_close(p);
	assert_fails(p, fsc_store_open(&p->s, path, NULL, &p->err), FSC_ECORRUPT, "store_corrupt");
	assert_fails(p, fsc_store_open(&p->s, "postgres://x", NULL, &p->err), FSC_EINVAL,
		     "store_url");
	assert_fails(p, fsc_store_open(&p->s, "", NULL, &p->err), FSC_EINVAL, "store_url");
	snprintf(path, sizeof(path), "%s/missing/x.db", p->dir);
	assert_int_not_equal(fsc_store_open(&p->s, path, NULL, &p->err), FSC_OK);
}

static void every_named_query_has_a_text_that_compiles(void **state)
{
	struct place *p = *state;
	sqlite3 *h;

	assert_int_equal(sqlite3_open(p->store_url, &h), SQLITE_OK);
	for (size_t i = 0; i < FSC_Q_COUNT; i++) {
		sqlite3_stmt *st = NULL;
		const char *tail = NULL;

		assert_non_null(fsc_sqlite_queries[i]);
		if (sqlite3_prepare_v2(h, fsc_sqlite_queries[i], -1, &st, &tail) != SQLITE_OK)
			fail_msg("%s: %s", fsc_sqlite_queries[i], sqlite3_errmsg(h));
		assert_int_equal(*tail, '\0'); /* one statement each */
		sqlite3_finalize(st);
	}
	sqlite3_close(h);
}

/* What runs on the one writer for every upload that begins must not walk over all that ended. */
static void uploads_that_ended_cost_those_that_begin_nothing(void **state)
{
	struct place *p = *state;
	static const enum fsc_query queries[] = { FSC_Q_UPLOAD_OPEN, FSC_Q_UPLOAD_BY_KEY };
	sqlite3 *h;

	assert_int_equal(sqlite3_open(p->store_url, &h), SQLITE_OK);
	for (size_t i = 0; i < FSC_ARRAY_LEN(queries); i++) {
		char *sql = fsc_xasprintf("EXPLAIN QUERY PLAN %s", fsc_sqlite_queries[queries[i]]);
		bool good = false;
		sqlite3_stmt *st;

		assert_int_equal(sqlite3_prepare_v2(h, sql, -1, &st, NULL), SQLITE_OK);
		while (sqlite3_step(st) == SQLITE_ROW)
			good |= strstr((const char *)sqlite3_column_text(st, 3),
				       "INDEX upload_open (project=?") != NULL;
		sqlite3_finalize(st);
		fsc_free(sql);
		assert_true(good);
	}
	sqlite3_close(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		contract_test(a_fresh_schema_is_the_one_on_record),
		contract_test(every_truth_table_has_a_project),
		contract_test(the_database_is_set_up_for_durability),
		contract_test(a_newer_database_is_not_touched),
		contract_test(a_changed_migration_is_noticed),
		contract_test(migrations_apply_in_order_and_only_once),
		contract_test(a_migration_that_fails_leaves_no_trace),
		contract_test(nothing_is_migrated_under_a_server_that_is_at_work),
		contract_test(a_file_that_is_no_database_is_refused),
		contract_test(every_named_query_has_a_text_that_compiles),
		contract_test(uploads_that_ended_cost_those_that_begin_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
