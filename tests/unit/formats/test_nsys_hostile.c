/* SPDX-License-Identifier: Apache-2.0 */
/* Databases that are damaged, cut short, or made to run something: none of it runs, and each is told or counted. */
#include <time.h>

#include "tests/support/nsys_db.h"

/* The bytes of the database of these statements; the caller frees them. */
static uint8_t *bytes_of(const char *sql, size_t *n)
{
	char path[300], dir[200];
	uint8_t *p = malloc(8u << 20);
	FILE *f;

	assert_non_null(p);
	snprintf(path, sizeof(path), "%s/x.sqlite", test_tmpdir(dir, sizeof(dir)));
	nsys_make(path, sql);
	f = fopen(path, "rb");
	assert_non_null(f);
	*n = fread(p, 1, 8u << 20, f);
	fclose(f);
	unlink(path);
	rmdir(dir);
	return p;
}

static struct fsc_trace *read_bytes(const uint8_t *p, size_t n, struct fsc_err *err)
{
	return read_trace_text((const char *)p, n, err);
}

static void a_view_named_like_a_table_is_not_run(void **state)
{
	struct fsc_trace *t = nsys_must_read(
		NSYS_STRINGS NSYS_KERNELS
		"CREATE VIEW CUPTI_ACTIVITY_KIND_RUNTIME AS WITH RECURSIVE n(i) AS (SELECT 1 UNION "
		"ALL SELECT i+1 "
		"FROM n) SELECT i AS start, i+1 AS end, 1<<24 AS globalTid, 1 AS nameId FROM n;"
		"CREATE VIEW NVTX_EVENTS AS SELECT start, end, 59 AS eventType, 'evil' AS text, "
		"globalPid AS "
		"globalTid FROM CUPTI_ACTIVITY_KIND_KERNEL;");

	(void)state;
	assert_int_equal(t->slices.n, 2);
	/* NVTX_EVENTS is looked at twice: for domains, then for ranges */
	assert_int_equal(loss_of(t, "table_not_plain"), 3);
	fsc_trace_free(t);
}

static void a_virtual_table_is_not_run(void **state)
{
	struct fsc_trace *t =
		nsys_must_read(NSYS_STRINGS NSYS_KERNELS
			       "CREATE VIRTUAL TABLE NVTX_EVENTS USING fts5(start, end, text);"
			       "CREATE VIRTUAL TABLE SCHED_EVENTS USING fts5(start);");

	(void)state;
	assert_int_equal(t->slices.n, 2);
	assert_int_equal(loss_of(t, "table_not_plain"), 2);
	assert_int_equal(loss_of(t, "sched_events_not_read"), 0);
	fsc_trace_free(t);
}

static void columns_that_compute_with_functions_are_not_read(void **state)
{
	struct fsc_trace *t = nsys_must_read(
		NSYS_STRINGS NSYS_KERNELS
		"CREATE TABLE OSRT_API (start INT, end INT, globalTid INT, nameId TEXT, "
		"big TEXT GENERATED ALWAYS AS (hex(zeroblob(1000000 + start))) VIRTUAL);"
		"INSERT INTO OSRT_API (start,end,globalTid,nameId) VALUES (1,2,1<<24,'a');");

	(void)state;
	assert_int_equal(t->slices.n, 2);
	assert_int_equal(loss_of(t, "table_not_plain"), 1);
	fsc_trace_free(t);
}

static void triggers_and_indexes_change_nothing(void **state)
{
	struct fsc_trace *t = nsys_must_read(
		NSYS_STRINGS NSYS_KERNELS
		"CREATE INDEX lies ON CUPTI_ACTIVITY_KIND_KERNEL (start, end) WHERE start > 6000;"
		"CREATE TRIGGER tr AFTER INSERT ON StringIds BEGIN DELETE FROM StringIds; END;");

	(void)state;
	assert_int_equal(t->slices.n, 2);
	fsc_trace_free(t);
}

static void a_table_of_strings_without_row_numbers_costs_the_names(void **state)
{
	struct fsc_trace *t = nsys_must_read(
		"CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT) WITHOUT ROWID;"
		"INSERT INTO StringIds VALUES (1,'x');" NSYS_KERNELS);

	(void)state;
	assert_int_equal(t->slices.n, 2);
	assert_int_equal(loss_of(t, "name_missing"), 2);
	fsc_trace_free(t);
}

static void a_file_that_was_cut_short_is_refused(void **state)
{
	size_t n;
	uint8_t *p = bytes_of(NSYS_WHOLE, &n);

	(void)state;
	for (size_t cut = 16; cut < n; cut += cut < 600 ? 1 : 97) {
		struct fsc_err err = FSC_ERR_INIT;

		assert_null(read_bytes(p, cut, &err));
		assert_int_equal(err.status, FSC_ECORRUPT);
		assert_string_equal(err.code, "nsys_truncated");
		assert_int_equal(err.offset, cut);
	}
	free(p);
}

/* Interior pages that all point on: each is visited as often as all before it together. */
static void a_tree_that_branches_without_end_is_stopped(void **state)
{
	static const char sql[] =
		"PRAGMA page_size = 512; CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end "
		"INT, name TEXT);"
		"WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i < 20000) "
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i, i+1, 'some text to fill the "
		"page' FROM n;";
	struct fsc_err err = FSC_ERR_INIT;
	uint32_t inner[64], k = 0;
	size_t n;
	uint8_t *p = bytes_of(sql, &n);
	clock_t began = clock();

	(void)state;
	for (size_t page = 1; page < n / 512 && k < 14; page++)
		if (p[page * 512] == 5)
			inner[k++] = (uint32_t)page + 1;
	assert_true(k >= 10);
	for (uint32_t i = 0; i + 1 < k; i++) {
		uint8_t *q = p + (size_t)(inner[i] - 1) * 512;
		unsigned cells = q[3] << 8 | q[4];

		for (unsigned c = 0; c <= cells; c++) {
			uint8_t *child =
				c == cells ? q + 8 : q + (q[12 + 2 * c] << 8 | q[13 + 2 * c]);

			child[0] = child[1] = 0;
			child[2] = (uint8_t)(inner[i + 1] >> 8);
			child[3] = (uint8_t)inner[i + 1];
		}
	}
	assert_null(read_bytes(p, n, &err));
	assert_true(!strcmp(err.code, "nsys_too_slow") || !strcmp(err.code, "nsys_corrupt"));
	print_message("%s after %ld ms\n", err.code,
		      (long)((clock() - began) * 1000 / CLOCKS_PER_SEC));
	free(p);
}

static void a_database_in_wal_mode_is_read_and_says_so(void **state)
{
	size_t n;
	uint8_t *p = bytes_of("PRAGMA journal_mode = WAL;" NSYS_STRINGS NSYS_KERNELS, &n);
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_trace *t = read_bytes(p, n, &err);

	(void)state;
	if (!t)
		fail_msg("%s: %s", err.code, err.msg);
	assert_int_equal(t->slices.n, 2);
	assert_int_equal(loss_of(t, "wal_not_read"), 1);
	fsc_trace_free(t);
	free(p);
}

static void rows_cannot_multiply_a_long_text(void **state)
{
	struct fsc_trace *t = nsys_must_read(
		"CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
		"INSERT INTO StringIds VALUES (1, printf('%.*c', 100000, 'x'));"
		"CREATE TABLE NVTX_EVENTS (start INT, end INT, eventType INT, text TEXT, globalTid "
		"INT, jsonTextId INT);"
		"WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i < 1999) "
		"INSERT INTO NVTX_EVENTS SELECT i*10, i*10+5, 59, 'r', 1<<24, 1 FROM n;");

	(void)state;
	assert_int_equal(t->slices.n, 2000);
	assert_in_range(loss_of(t, "args_too_big"), 1200, 1999);
	fsc_trace_free(t);
}

static void garbage_behind_the_mark_is_refused(void **state)
{
	uint8_t p[4096];
	struct fsc_err err = FSC_ERR_INIT;

	(void)state;
	memset(p, 0xA5, sizeof(p));
	memcpy(p, "SQLite format 3", 16);
	assert_null(read_bytes(p, sizeof(p), &err));
	assert_true(!strncmp(err.code, "nsys_", 5));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_view_named_like_a_table_is_not_run),
		cmocka_unit_test(a_virtual_table_is_not_run),
		cmocka_unit_test(columns_that_compute_with_functions_are_not_read),
		cmocka_unit_test(triggers_and_indexes_change_nothing),
		cmocka_unit_test(a_table_of_strings_without_row_numbers_costs_the_names),
		cmocka_unit_test(a_file_that_was_cut_short_is_refused),
		cmocka_unit_test(a_tree_that_branches_without_end_is_stopped),
		cmocka_unit_test(a_database_in_wal_mode_is_read_and_says_so),
		cmocka_unit_test(rows_cannot_multiply_a_long_text),
		cmocka_unit_test(garbage_behind_the_mark_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
