/* SPDX-License-Identifier: Apache-2.0 */
/* Backup, restore and verify of a folder that no server works on; beside one: tests/e2e/backup.test.ts. */
#define CONTRACT_STORE_URL "sqlite:%s/data/fleetscope.db"
#define CONTRACT_BLOBS_URL "dir:%s/data"
#include "tests/store/contract.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "base/embed.h"
#include "base/fs.h"
#include "service/backup.h"
#include "service/verify.h"
#include "store/deletes.h"
#include "store/files.h"

extern const struct fsc_embed_table fsc_store_migrations;

struct told {
	char text[8192];
	int n;
};

static void on_told(void *ctx, const char *what)
{
	struct told *t = ctx;
	size_t n = strlen(t->text);

	t->n++;
	snprintf(t->text + n, sizeof(t->text) - n, "%s\n", what);
}

static struct told told;
static char data[300], out[300], back[300];

static int setup(void **state)
{
	char dir[256];
	struct place *p = fsc_xalloc(1, sizeof(*p));

	test_tmpdir(dir, sizeof(dir));
	snprintf(p->dir, sizeof(p->dir), "%s", dir);
	snprintf(data, sizeof(data), "%s/data", dir);
	snprintf(out, sizeof(out), "%s/backups/one", dir);
	snprintf(back, sizeof(back), "%s/back", dir);
	assert_ok(p, fsc_fs_mkdirs(data, 0700, &p->err));
	snprintf(p->store_url, sizeof(p->store_url), CONTRACT_STORE_URL, dir);
	snprintf(p->blobs_url, sizeof(p->blobs_url), CONTRACT_BLOBS_URL, dir);
	fsc_arena_init(&p->a, 64 * FSC_MIB);
	place_open(p);
	memset(&told, 0, sizeof(told));
	*state = p;
	return 0;
}

#define backup_test(fn) cmocka_unit_test_setup_teardown(fn, setup, place_teardown)

/* Bytes and the row that names them. */
static int64_t add(struct place *p, const char *text)
{
	struct fsc_blob_put *put;
	uint8_t sha256[FSC_SHA256_LEN];

	assert_ok(p, fsc_blob_put_begin(&put, p->b, &p->err));
	assert_ok(p, fsc_blob_put_write(put, text, strlen(text), &p->err));
	assert_ok(p, fsc_blob_put_commit(put, sha256, NULL, &p->err));
	return put_bundle(p, text, "a");
}

static void path_of(char path[500], const char *dir, const char *text)
{
	uint8_t sha256[FSC_SHA256_LEN];
	char hex[FSC_SHA256_HEX];

	digest_of(sha256, text);
	fsc_hex(hex, sha256, sizeof(sha256));
	snprintf(path, 500, "%s/blob/%.2s/%s", dir, hex, hex);
}

static bool has(const char *dir, const char *text)
{
	char path[500];

	path_of(path, dir, text);
	return access(path, F_OK) == 0;
}

static bool there(const char *dir, const char *name)
{
	char path[500];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return access(path, F_OK) == 0;
}

static void write_text(struct place *p, const char *dir, const char *name, const char *text)
{
	char path[700];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_ok(p, fsc_fs_replace(path, text, strlen(text), 0600, &p->err));
}

static enum fsc_status backup(struct place *p, struct fsc_backup_done *done)
{
	const struct fsc_backup_opts o = {
		.data = data, .out = out, .wait_ms = 1, .lost = on_told, .ctx = &told
	};

	fsc_err_clear(&p->err);
	return fsc_backup(&o, done, &p->err);
}

static enum fsc_status restore(struct place *p, struct fsc_backup_done *done)
{
	const struct fsc_backup_opts o = {
		.data = back, .out = out, .lost = on_told, .ctx = &told
	};

	fsc_err_clear(&p->err);
	return fsc_restore(&o, done, &p->err);
}

static struct fsc_verify_done verify(struct place *p, const char *dir)
{
	const struct fsc_verify_opts o = { .data = dir, .fault = on_told, .ctx = &told };
	struct fsc_verify_done done;

	memset(&told, 0, sizeof(told));
	assert_ok(p, fsc_verify(&o, &done, &p->err));
	assert_int_equal(done.faults, told.n);
	return done;
}

static void assert_told(const char *what)
{
	if (!strstr(told.text, what))
		fail_msg("wanted \"%s\", got \"%s\"", what, told.text);
}

static void what_was_backed_up_comes_back(void **state)
{
	struct place *p = *state;
	struct fsc_backup_done done;
	struct fsc_verify_done v;
	struct stat sb;
	int64_t id = add(p, "first");
	char path[400];

	add(p, "second");
	assert_ok(p, backup(p, &done));
	assert_int_equal(done.blobs, 2);
	assert_int_equal(done.bytes, 11);
	assert_int_equal(done.fresh_files, 2);
	assert_int_equal(done.lost, 0);
	assert_true(there(out, "backup.json"));
	assert_false(there(out, "backup.part"));
	snprintf(path, sizeof(path), "%s/backup.json", out);
	assert_int_equal(stat(path, &sb), 0);
	assert_int_equal(sb.st_mode & 077, 0);
	v = verify(p, out);
	assert_int_equal(v.faults, 0);
	assert_int_equal(v.blobs, 2);
	assert_int_equal(v.leftovers, 0);

	snprintf(path, sizeof(path), "%s/lost+found",
		 back); /* as a volume that was just made has */
	assert_ok(p, fsc_fs_mkdirs(path, 0700, &p->err));
	assert_ok(p, restore(p, &done));
	assert_int_equal(done.blobs, 2);
	assert_false(there(back, "restore.part"));
	assert_false(there(back, "reserve"));
	assert_int_equal(verify(p, back).faults, 0);
	place_close(p);
	snprintf(p->store_url, sizeof(p->store_url), "sqlite:%.280s/fleetscope.db", back);
	place_open(p);
	assert_string_equal(get_bundle(p, id).name, "a");
}

static void a_second_backup_takes_what_is_new_and_drops_what_is_gone(void **state)
{
	struct place *p = *state;
	struct fsc_backup_done done;
	struct fsc_delete_request req = { .project = FSC_PROJECT_DEFAULT, .actor = "test" };
	struct fsc_bundle_deleted gone;
	int64_t first = add(p, "first");

	add(p, "stays");
	assert_ok(p, backup(p, &done));
	req.bundle = first;
	assert_ok(p, fsc_store_delete(p->s, &p->a, &req, &gone, &p->err));
	assert_int_equal(gone.n_blobs, 1);
	assert_ok(p, fsc_blob_delete(p->b, gone.blobs[0].sha256, &p->err));
	add(p, "third");
	assert_ok(p, backup(p, &done));
	assert_int_equal(done.blobs, 2);
	assert_int_equal(done.fresh_files, 1);
	assert_false(has(out, "first"));
	assert_true(has(out, "stays"));
	assert_true(has(out, "third"));
	assert_int_equal(verify(p, out).faults, 0);
	assert_int_equal(verify(p, out).leftovers, 0);
}

#define BIG_BYTES (96u << 20)
#define N_SMALL 30

/* One that is copied first, since digests are walked in order, and takes its time. */
static void add_big(struct place *p)
{
	char *bytes = fsc_xalloc(1, BIG_BYTES);
	uint8_t sha256[FSC_SHA256_LEN];
	struct fsc_bundle_new n = new_bundle("", "big");
	struct fsc_bundle_put row;
	struct fsc_blob_put *put;

	do {
		bytes[0]++;
		fsc_sha256(sha256, bytes, BIG_BYTES);
	} while (sha256[0] >= 0x20);
	assert_ok(p, fsc_blob_put_begin(&put, p->b, &p->err));
	assert_ok(p, fsc_blob_put_write(put, bytes, BIG_BYTES, &p->err));
	assert_ok(p, fsc_blob_put_commit(put, n.sha256, NULL, &p->err));
	n.bytes = BIG_BYTES;
	assert_ok(p, fsc_store_bundle_put(p->s, &n, &row, &p->err));
	fsc_free(bytes);
}

struct deleter {
	struct place *p;
	struct fsc_delete_unit units[N_SMALL];
	size_t n;
	int64_t deleted;
};

/* As soon as the database is copied and the first file under way, everything else goes. */
static void *delete_beside(void *arg)
{
	struct deleter *d = arg;
	const struct fsc_delete_request req = { .project = FSC_PROJECT_DEFAULT, .actor = "test" };
	struct fsc_bundle_deleted gone = { 0 };
	struct fsc_arena a;

	for (int i = 0; i < 20000 && !there(out, "blob/ff"); i++)
		usleep(500);
	fsc_arena_init(&a, FSC_MIB);
	if (!fsc_store_delete_some(d->p->s, &a, &req, d->units, d->n, 5000000000, &gone, NULL))
		d->deleted = gone.bundles;
	for (size_t i = 0; i < gone.n_blobs; i++)
		(void)!fsc_blob_delete(d->p->b, gone.blobs[i].sha256, NULL);
	fsc_arena_fini(&a);
	return NULL;
}

static void what_is_deleted_while_files_are_copied_is_in_the_backup(void **state)
{
	struct place *p = *state;
	struct deleter d = { .p = p };
	struct fsc_backup_done done;
	pthread_t thread;

	add_big(p);
	for (int i = 0; d.n < N_SMALL; i++) {
		char text[32];
		uint8_t sha256[FSC_SHA256_LEN];

		snprintf(text, sizeof(text), "small %d", i);
		digest_of(sha256, text);
		if (sha256[0] >= 0x20)
			d.units[d.n++].bundle = add(p, text);
	}
	assert_int_equal(pthread_create(&thread, NULL, delete_beside, &d), 0);
	assert_ok(p, backup(p, &done));
	pthread_join(thread, NULL);
	assert_int_equal(d.deleted, N_SMALL);
	if (done.lost)
		fail_msg("%d lost: %s", (int)done.lost, told.text);
	assert_int_equal(verify(p, out).faults, 0);
	assert_int_equal(verify(p, data).faults, 0);
}

static void a_file_that_is_lost_is_told_and_the_rest_is_kept(void **state)
{
	struct place *p = *state;
	struct fsc_backup_done done;
	char path[500];

	add(p, "lost");
	add(p, "short");
	add(p, "here");
	path_of(path, data, "lost");
	assert_int_equal(unlink(path), 0);
	path_of(path, data, "short");
	assert_int_equal(truncate(path, 2), 0);
	assert_ok(p, backup(p, &done));
	assert_int_equal(done.lost, 2);
	assert_int_equal(done.blobs, 1);
	assert_told("No such file");
	assert_told("has 2 bytes, its row says 5");
	assert_true(has(out, "here"));
	assert_ok(p, restore(p, &done));
	assert_int_equal(done.lost, 2);
	assert_int_equal(verify(p, back).faults, 2);
}

static void folders_that_are_not_fit_are_refused(void **state)
{
	struct place *p = *state;
	struct fsc_backup_done done;
	struct fsc_backup_opts o = { .data = data, .out = out };
	char inner[400];

	assert_int_equal(restore(p, &done), FSC_ECORRUPT);
	assert_string_equal(p->err.code, "not_a_backup");
	snprintf(inner, sizeof(inner), "%s/backup", data);
	o.out = inner;
	assert_fails(p, fsc_backup(&o, &done, &p->err), FSC_EINVAL, "backup_inside");
	o.out = p->dir;
	assert_fails(p, fsc_backup(&o, &done, &p->err), FSC_EEXIST, "not_empty");
	o.data = back;
	o.out = out;
	assert_fails(p, fsc_backup(&o, &done, &p->err), FSC_ENOTFOUND, "no_data");
	assert_ok(p, backup(p, &done));
	snprintf(inner, sizeof(inner), "%s/lost+found", back);
	assert_ok(p, fsc_fs_mkdirs(inner, 0700, &p->err));
	snprintf(inner, sizeof(inner), "%s/backup", data);
	write_text(p, back, "note.txt", "mine");
	assert_int_equal(restore(p, &done), FSC_EEXIST);
	assert_true(there(back, "note.txt"));
	assert_false(there(back, "fleetscope.db"));
	write_text(p, out, "fleetscope.db", "other bytes");
	o.data = inner;
	assert_fails(p,
		     fsc_restore(&(struct fsc_backup_opts){ .data = inner, .out = out }, &done,
				 &p->err),
		     FSC_ECORRUPT, "database_differs");
	assert_false(there(inner, "fleetscope.db"));
}

static void a_server_keeps_off_backups_and_unfinished_restores(void **state)
{
	struct place *p = *state;
	struct fsc_backup_done done;

	assert_ok(p, backup(p, &done));
	assert_ok(p, fsc_backup_check_data(data, &p->err));
	assert_ok(p, fsc_backup_check_data(back, &p->err)); /* not there yet */
	assert_fails(p, fsc_backup_check_data(out, &p->err), FSC_EUNSUPPORTED, "is_backup");
	assert_ok(p, fsc_fs_mkdirs(back, 0700, &p->err));
	write_text(p, back, "restore.part", "x");
	assert_fails(p, fsc_backup_check_data(back, &p->err), FSC_EUNSUPPORTED,
		     "restore_unfinished");
}

static void one_backup_at_a_time(void **state)
{
	struct place *p = *state;
	struct fsc_backup_done done;
	int hold;

	assert_ok(p, fsc_blobs_hold(&hold, p->b, 0, &p->err));
	assert_int_equal(backup(p, &done), FSC_EBUSY);
	assert_false(there(out, "backup.json"));
	close(hold);
	assert_ok(p, backup(p, &done));
	assert_false(there(out, "backup.part"));
	/* one that is refused leaves the backup that is there as good as it was */
	assert_ok(p, fsc_blobs_hold(&hold, p->b, 0, &p->err));
	assert_int_equal(backup(p, &done), FSC_EBUSY);
	close(hold);
	assert_false(there(out, "backup.part"));
	assert_ok(p, restore(p, &done));
}

static void a_backup_that_was_cut_off_is_not_restored(void **state)
{
	struct place *p = *state;
	struct fsc_backup_done done;
	char path[400];

	assert_ok(p, backup(p, &done));
	snprintf(path, sizeof(path), "%s/fleetscope.db.part", out);
	assert_ok(p, fsc_fs_mkdirs(path, 0700, &p->err)); /* in the way of the database */
	assert_int_not_equal(backup(p, &done), FSC_OK);
	assert_true(there(out, "backup.part"));
	assert_int_equal(restore(p, &done), FSC_ECORRUPT);
	assert_string_equal(p->err.code, "backup_unfinished");
	assert_int_equal(rmdir(path), 0);
	assert_ok(p, backup(p, &done));
	assert_ok(p, restore(p, &done));
}

/* Files of a backup that a power cut ended may have their size and not their bytes. */
static void after_another_start_of_the_machine_nothing_half_done_is_trusted(void **state)
{
	struct place *p = *state;
	struct fsc_backup_done done;
	char path[500];

	add(p, "whole");
	assert_ok(p, backup(p, &done));
	path_of(path, out, "whole");
	for (int other_boot = 0; other_boot < 2; other_boot++) {
		int fd = open(path, O_WRONLY);

		assert_int_equal(pwrite(fd, "\0\0", 2, 0), 2);
		close(fd);
		if (other_boot)
			write_text(p, out, "backup.part", "another boot");
		assert_ok(p, backup(p, &done));
		assert_int_equal(done.fresh_files, other_boot);
		assert_int_equal(verify(p, out).faults, !other_boot);
	}
}

static void verify_names_each_fault(void **state)
{
	struct place *p = *state;
	struct fsc_verify_done v;
	struct fsc_seg_put *put;
	char path[500];
	int fd;

	for (int i = 0; i < 4; i++)
		add(p, (const char *[]){ "good", "changed", "longer", "missing" }[i]);
	path_of(path, data, "changed");
	fd = open(path, O_WRONLY);
	assert_int_equal(pwrite(fd, "C", 1, 3), 1);
	close(fd);
	path_of(path, data, "longer");
	assert_int_equal(truncate(path, 100), 0);
	path_of(path, data, "missing");
	assert_int_equal(unlink(path), 0);
	assert_ok(p, fsc_seg_put_begin(&put, p->b, &fd, &p->err));
	assert_ok(p, fsc_seg_put_commit(put, 4711, &p->err));
	v = verify(p, data);
	assert_int_equal(v.faults, 3);
	assert_int_equal(v.blobs, 3);
	assert_int_equal(v.leftovers, 1);
	assert_told("its bytes have another digest");
	assert_told("has 100 bytes, its row says 6");
	assert_told("No such file");
}

static void publish_segment(struct place *p, int64_t segment, const char *bytes, size_t n)
{
	struct fact_list l = { .n = 0 };
	struct fsc_publish_trace t = { .segment = segment, .segment_bytes = (int64_t)n };
	struct fsc_publish in = { .bundle = add(p, "with a segment"),
				  .traces = &t,
				  .n_traces = 1,
				  .next = fact_next,
				  .ctx = &l };
	struct fsc_published published;
	struct fsc_seg_put *put;
	bool known;
	int fd;

	fact_trace(&l, "a.json", 0);
	fact_trace_end(&l);
	fact_add(&l, FSC_FACT_END);
	assert_ok(p, fsc_store_trace_id(p->s, in.bundle, "a.json", 0, &t.id, &known, &p->err));
	assert_ok(p, fsc_store_publish(p->s, &p->a, &in, &published, &p->err));
	assert_ok(p, fsc_seg_put_begin(&put, p->b, &fd, &p->err));
	assert_ok(p, fsc_fs_write_all(fd, bytes, n, &p->err));
	assert_ok(p, fsc_seg_put_commit(put, segment, &p->err));
}

static void a_segment_that_is_none_is_a_fault(void **state)
{
	struct place *p = *state;
	struct fsc_backup_done done;

	publish_segment(p, 77, "not a segment at all", 20);
	assert_int_equal(verify(p, data).faults, 1);
	assert_told("segment 77 of trace ");
	assert_ok(p, backup(p, &done)); /* a backup copies, it does not judge */
	assert_int_equal(done.segments, 1);
	assert_int_equal(verify(p, out).faults, 1);
}

static void sql(const char *path, const char *text)
{
	sqlite3 *h;

	assert_int_equal(sqlite3_open(path, &h), SQLITE_OK);
	if (sqlite3_exec(h, text, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s: %s", text, sqlite3_errmsg(h));
	sqlite3_close(h);
}

static void verify_looks_into_the_database(void **state)
{
	struct place *p = *state;
	char path[400];
	int fd;
	struct stat sb;

	snprintf(path, sizeof(path), "%s/fleetscope.db", data);
	sql(path, "INSERT INTO note VALUES (5, 1, 99, 0, 1, 'x', 'y', 0, 0)");
	assert_int_equal(verify(p, data).faults, 1);
	assert_told("of note refers to a row of trace that is not there");

	for (int i = 0; i < 300; i++) {
		char text[32];

		snprintf(text, sizeof(text), "bundle %d", i);
		add(p, text);
	}
	place_close(p);
	assert_int_equal(stat(path, &sb), 0);
	fd = open(path, O_WRONLY);
	for (off_t at = 3 * 4096; at + 4096 < sb.st_size; at += 3 * 4096)
		assert_int_equal(pwrite(fd, "garbage garbage garbage", 23, at), 23);
	close(fd);
	verify(p, data);
	assert_told("malformed");
}

static void verify_finds_nothing_where_nothing_is(void **state)
{
	struct place *p = *state;
	const struct fsc_verify_opts o = { .data = back };
	struct fsc_verify_done done;

	assert_fails(p, fsc_verify(&o, &done, &p->err), FSC_ENOTFOUND, "not_found");
	assert_int_equal(access(back, F_OK), -1);
}

static void a_store_for_reading_only_writes_nothing(void **state)
{
	struct place *p = *state;
	const struct fsc_store_opts opts = { .read_only = true };
	struct fsc_store *s;
	int64_t id;

	assert_ok(p, fsc_store_open(&s, p->store_url, &opts, &p->err));
	assert_ok(p, fsc_store_health(s, &p->err));
	assert_ok(p, fsc_store_project_find(s, "default", &id, &p->err));
	assert_fails(p, fsc_store_project_put(s, "other", &id, &p->err), FSC_EDENIED,
		     "store_read_only");
	fsc_store_close(s);
}

/* A backup of the version before: its schema is made from the first migration alone. */
static void a_backup_of_an_older_version_is_restored_into_this_one(void **state)
{
	struct place *p = *state;
	struct fsc_backup_done done;
	char path[400], copy[400], hex[FSC_SHA256_HEX], text[300];
	uint8_t sha256[FSC_SHA256_LEN];
	char *bytes;
	size_t n;

	snprintf(path, sizeof(path), "%s/old.db", p->dir);
	sql(path, (const char *)fsc_store_migrations.items[0].data);
	fsc_sha256(sha256, fsc_store_migrations.items[0].data, fsc_store_migrations.items[0].size);
	fsc_hex(hex, sha256, sizeof(sha256));
	snprintf(text, sizeof(text),
		 "CREATE TABLE schema_migration (n INTEGER PRIMARY KEY, sha256 BLOB NOT NULL, "
		 "applied_at "
		 "INTEGER NOT NULL) STRICT; INSERT INTO schema_migration VALUES (1, x'%s', 1)",
		 hex);
	sql(path, text);
	digest_of(sha256, "from before");
	fsc_hex(hex, sha256, sizeof(sha256));
	snprintf(text, sizeof(text),
		 "INSERT INTO bundle (id, project, sha256, bytes, name, search, received_at, "
		 "state) VALUES "
		 "(7, 1, x'%s', 11, 'old', '', 5, 'queued')",
		 hex);
	sql(path, text);
	add(p, "from before"); /* its bytes */
	assert_ok(p, backup(p, &done));
	assert_ok(p, fsc_fs_read_file(&bytes, &n, path, FSC_MIB, &p->err));
	snprintf(copy, sizeof(copy), "%s/fleetscope.db", out);
	assert_ok(p, fsc_fs_replace(copy, bytes, n, 0600, &p->err));
	fsc_sha256(sha256, bytes, n);
	fsc_free(bytes);
	fsc_hex(hex, sha256, sizeof(sha256));
	snprintf(text, sizeof(text),
		 "{\"format\":\"fleetscope-backup\",\"version\":1,\"database_sha256\":\"%s\"}",
		 hex);
	write_text(p, out, "backup.json", text);

	assert_ok(p, restore(p, &done));
	assert_int_equal(done.blobs, 1);
	assert_int_equal(verify(p, back).faults, 0);
	place_close(p);
	snprintf(p->store_url, sizeof(p->store_url), "sqlite:%.280s/fleetscope.db", back);
	place_open(p);
	assert_string_equal(get_bundle(p, 7).name, "old");
}

static void unfinished_uploads_are_not_in_a_backup(void **state)
{
	struct place *p = *state;
	struct fsc_backup_done done;
	char path[400];
	sqlite3_stmt *stmt;
	sqlite3 *h;

	snprintf(path, sizeof(path), "%s/fleetscope.db", data);
	sql(path,
	    "INSERT INTO upload (id, project, name, actor, created_at, expires_at, bundle) VALUES "
	    "(1, 1, 'half', 'a', 0, 0, NULL), (2, 1, 'whole', 'a', 0, 0, 5)");
	assert_ok(p, backup(p, &done));
	snprintf(path, sizeof(path), "%s/fleetscope.db", out);
	assert_int_equal(sqlite3_open(path, &h), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(h, "SELECT group_concat(name) FROM upload", -1, &stmt,
					    NULL),
			 SQLITE_OK);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	assert_string_equal((const char *)sqlite3_column_text(stmt, 0), "whole");
	sqlite3_finalize(stmt);
	sqlite3_close(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		backup_test(what_was_backed_up_comes_back),
		backup_test(a_second_backup_takes_what_is_new_and_drops_what_is_gone),
		backup_test(what_is_deleted_while_files_are_copied_is_in_the_backup),
		backup_test(a_file_that_is_lost_is_told_and_the_rest_is_kept),
		backup_test(folders_that_are_not_fit_are_refused),
		backup_test(a_server_keeps_off_backups_and_unfinished_restores),
		backup_test(one_backup_at_a_time),
		backup_test(a_backup_that_was_cut_off_is_not_restored),
		backup_test(after_another_start_of_the_machine_nothing_half_done_is_trusted),
		backup_test(verify_names_each_fault),
		backup_test(a_segment_that_is_none_is_a_fault),
		backup_test(verify_looks_into_the_database),
		backup_test(verify_finds_nothing_where_nothing_is),
		backup_test(a_store_for_reading_only_writes_nothing),
		backup_test(a_backup_of_an_older_version_is_restored_into_this_one),
		backup_test(unfinished_uploads_are_not_in_a_backup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
