/* SPDX-License-Identifier: Apache-2.0 */
/* The archive walk: what is handed out, what is reported, what is an error; and cut archives at every byte. */
#include "bundle/bundle_read.h"

#include <fcntl.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "tests/support/read_trace.h"
#include "tests/unit/bundle/tar_util.h"
#include "tests/unit/bundle/walk.h"

static void a_plain_file_is_a_bundle_of_one(void **state)
{
	struct walk w;

	(void)state;
	walk_source(&w, fsc_source_mem("{\"a\":1}", 7));
	assert_int_equal(w.st, FSC_END);
	assert_string_equal(w.paths.data, "one.json={\"a\":1};");
	walk_free(&w);
	walk_source(&w, fsc_source_mem("", 0));
	assert_int_equal(w.st, FSC_END);
	assert_string_equal(w.paths.data, "one.json=;");
	walk_free(&w);
}

static void regular_files_of_a_tar_come_in_order(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(SIZE_MAX);
	struct walk w;

	(void)state;
	tar_header(&b, "ranks/", '5', 0, NULL);
	tar_file(&b, "./ranks/0.json", "zero");
	tar_file(&b, "ranks/1.json", "one");
	tar_end(&b);
	walk_buf(&w, &b);
	assert_int_equal(w.st, FSC_END);
	assert_string_equal(w.paths.data, "ranks/0.json=zero;ranks/1.json=one;");
	assert_int_equal(w.skips.len, 0);
	walk_free(&w);
	fsc_buf_fini(&b);
}

static void what_is_no_plain_file_is_reported_and_passed_over(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(SIZE_MAX);
	char long_name[600];
	struct walk w;

	(void)state;
	memset(long_name, 'n', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	tar_file(&b, "first.json", "1");
	tar_header(&b, "sym", '2', 0, "/etc/passwd");
	tar_header(&b, "hard", '1', 0, "first.json");
	tar_header(&b, "dev", '3', 0, NULL);
	tar_header(&b, "fifo", '6', 0, NULL);
	tar_file(&b, "../up.json", "x");
	tar_file(&b, "a/../../up.json", "x");
	tar_file(&b, "a\\..\\up.json", "x");
	tar_file(&b, "/abs.json", "x");
	tar_file(&b, "C:\\abs.json", "x");
	tar_file(&b, "first.json", "again");
	tar_file(&b, "./first.json", "again");
	tar_file(&b, "a/._x.json", "x");
	tar_file(&b, long_name, "x");
	tar_file(&b, "last..json", "2");
	tar_end(&b);
	walk_buf(&w, &b);
	assert_int_equal(w.st, FSC_END);
	assert_string_equal(w.paths.data, "first.json=1;last..json=2;");
	long_name[FSC_MAX_PATH_BYTES] = '\0';
	char want[2000];
	snprintf(want, sizeof(want),
		 "member_symlink:sym;member_hardlink:hard;member_device:dev;member_device:fifo;"
		 "member_traversal:../up.json;member_traversal:a/../../"
		 "up.json;member_traversal:a\\..\\up.json;"
		 "member_absolute:/"
		 "abs.json;member_absolute:C:\\abs.json;member_duplicate:first.json;"
		 "member_duplicate:first.json;member_os_metadata:a/"
		 "._x.json;member_name_too_long:%s;",
		 long_name);
	assert_string_equal(w.skips.data, want);
	walk_free(&w);
	fsc_buf_fini(&b);
}

#define SHA_ZERO "5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9" /* of "0" */

static void digests_of_the_manifest_are_checked(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(SIZE_MAX);
	struct walk w;

	(void)state;
	tar_file(&b, "manifest.json",
		 "{\"version\":1,\"capture\":\"c7\",\"files\":["
		 "{\"path\":\"good\",\"sha256\":\"" SHA_ZERO "\",\"rank\":3},"
		 "{\"path\":\"bad\",\"sha256\":\"" SHA_ZERO "\"},{\"path\":\"gone\"}]}");
	tar_file(&b, "good", "0");
	tar_file(&b, "bad", "1");
	tar_file(&b, "unlisted", "2");
	tar_end(&b);
	walk_buf(&w, &b);
	assert_int_equal(w.st, FSC_END);
	assert_int_equal(w.members, 3);
	assert_int_equal(w.mismatches, 1);
	assert_string_equal(w.err.file, "bad");
	assert_string_equal(w.skips.data, "member_missing:gone;");
	assert_string_equal(w.capture, "c7");
	walk_free(&w);
	fsc_buf_fini(&b);
}

static void a_bad_manifest_fails_the_bundle(void **state)
{
	static const char *const bad[] = {
		"{", "[]", "{}", "{\"version\":1,\"files\":3}",
		"{\"version\":1,\"files\":[{\"path\":\"a\",\"sha256\":\"12\"}]}"
	};

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		struct fsc_buf b = FSC_BUF_INIT(SIZE_MAX);
		struct walk w;
		tar_file(&b, "manifest.json", bad[i]);
		tar_end(&b);
		walk_buf(&w, &b);
		assert_int_equal(w.st, FSC_EPARSE);
		assert_string_equal(w.err.code, "manifest_invalid");
		assert_string_equal(w.err.file, "manifest.json");
		walk_free(&w);
		fsc_buf_fini(&b);
	}
}

static void a_manifest_that_is_not_first_is_reported(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(SIZE_MAX);
	struct walk w;

	(void)state;
	tar_file(&b, "a", "0");
	tar_file(&b, "manifest.json", "{\"version\":1}");
	tar_end(&b);
	walk_buf(&w, &b);
	assert_int_equal(w.st, FSC_END);
	assert_string_equal(w.skips.data, "manifest_not_first:manifest.json;");
	walk_free(&w);
	fsc_buf_fini(&b);
}

static void more_entries_than_the_limit_stop_the_walk(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(SIZE_MAX);
	char name[32];
	struct walk w;

	(void)state;
	for (unsigned i = 0; i <= FSC_MAX_ARCHIVE_ENTRIES; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		tar_file(&b, name, "");
	}
	tar_end(&b);
	walk_buf(&w, &b);
	assert_int_equal(w.st, FSC_ELIMIT);
	assert_string_equal(w.err.code, "too_many_entries");
	assert_int_equal(w.members, FSC_MAX_ARCHIVE_ENTRIES);
	walk_free(&w);
	fsc_buf_fini(&b);
}

static void a_wrong_checksum_behind_the_archive_is_found(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(SIZE_MAX), z = FSC_BUF_INIT(SIZE_MAX);
	struct walk w;

	(void)state;
	tar_file(&b, "a.json", "hello");
	tar_end(&b);
	gz(&z, &b);
	walk_buf(&w, &z);
	assert_int_equal(w.st, FSC_END);
	assert_string_equal(w.paths.data, "a.json=hello;");
	walk_free(&w);
	z.data[z.len - 6] ^= 1;
	walk_buf(&w, &z);
	assert_int_equal(w.st, FSC_ECORRUPT);
	assert_string_equal(w.err.code, "gzip_crc");
	walk_free(&w);
	fsc_buf_fini(&z);
	fsc_buf_fini(&b);
}

static void an_archive_cut_anywhere_ends_without_a_crash_and_says_why(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(SIZE_MAX);

	(void)state;
	tar_file(&b, "manifest.json",
		 "{\"version\":1,\"files\":[{\"path\":\"a\",\"sha256\":\"" SHA_ZERO "\"}]}");
	tar_file(&b, "a", "0");
	tar_file(&b, "b", "some more bytes");
	tar_end(&b);
	for (size_t n = 0; n < b.len; n++) {
		struct walk w;
		char *exact = fsc_realloc(NULL, n ? n : 1, 1);
		assert_non_null(exact);
		memcpy(exact, b.data, n);
		walk_source(&w, fsc_source_mem(exact, n));
		assert_true(w.st == FSC_END || w.err.code[0]);
		walk_free(&w);
		fsc_free(exact);
	}
	fsc_buf_fini(&b);
}

static void the_public_tar_gives_its_eight_ranks(void **state)
{
	char path[700];
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_bundle *b;
	struct fsc_member m;
	unsigned ranks = 0;
	enum fsc_status st;

	(void)state;
	test_data(path, sizeof(path), "gpu-traces/param/dlrm_kineto.tar.gz");
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fsc_bundle_open(&b, fsc_source_fd(fd), "x", &err), FSC_OK);
	while ((st = fsc_bundle_next(b, &m, &err)) == FSC_OK) {
		struct fsc_trace *t = read_trace_source(fsc_bundle_member_auto(b), &err);
		assert_non_null(t);
		assert_int_equal(t->meta.world_size, 8);
		ranks |= 1u << t->meta.rank;
		fsc_trace_free(t);
	}
	assert_int_equal(st, FSC_END);
	assert_int_equal(ranks, 0xFF);
	fsc_bundle_close(b);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plain_file_is_a_bundle_of_one),
		cmocka_unit_test(regular_files_of_a_tar_come_in_order),
		cmocka_unit_test(what_is_no_plain_file_is_reported_and_passed_over),
		cmocka_unit_test(digests_of_the_manifest_are_checked),
		cmocka_unit_test(a_bad_manifest_fails_the_bundle),
		cmocka_unit_test(a_manifest_that_is_not_first_is_reported),
		cmocka_unit_test(more_entries_than_the_limit_stop_the_walk),
		cmocka_unit_test(a_wrong_checksum_behind_the_archive_is_found),
		cmocka_unit_test(an_archive_cut_anywhere_ends_without_a_crash_and_says_why),
		cmocka_unit_test(the_public_tar_gives_its_eight_ranks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
