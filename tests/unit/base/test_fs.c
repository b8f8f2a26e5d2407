/* SPDX-License-Identifier: Apache-2.0 */
/* Files. */
#include "base/fs.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "tests/support/test.h"

static char dir[256];

static int make_dir(void **state)
{
	(void)state;
	test_tmpdir(dir, sizeof(dir));
	return 0;
}

static void remove_tree(const char *path)
{
	DIR *d = opendir(path);
	for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
		char sub[1024];
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		snprintf(sub, sizeof(sub), "%s/%s", path, e->d_name);
		if (e->d_type == DT_DIR)
			remove_tree(sub);
		else
			unlink(sub);
	}
	if (d)
		closedir(d);
	rmdir(path);
}

static int drop_dir(void **state)
{
	(void)state;
	remove_tree(dir);
	return 0;
}

static const char *in_dir(const char *name)
{
	static char path[512];
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static unsigned entries_of(const char *path)
{
	unsigned n = 0;
	DIR *d = opendir(path);
	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static void a_replaced_file_has_the_new_bytes_and_no_leftovers(void **state)
{
	(void)state;
	struct fsc_err e = FSC_ERR_INIT;
	assert_int_equal(fsc_fs_replace(in_dir("f"), "one", 3, 0600, &e), FSC_OK);
	assert_int_equal(fsc_fs_replace(in_dir("f"), "second\0x", 8, 0600, &e), FSC_OK);
	char *data = NULL;
	size_t n = 0;
	assert_int_equal(fsc_fs_read_file(&data, &n, in_dir("f"), 100, &e), FSC_OK);
	assert_int_equal(n, 8);
	assert_memory_equal(data, "second\0x\0", 9);
	fsc_free(data);
	struct stat sb;
	assert_int_equal(stat(in_dir("f"), &sb), 0);
	assert_int_equal(sb.st_mode & 0777, 0600);
	assert_int_equal(entries_of(dir), 1);
}

static void a_replacement_that_fails_leaves_nothing(void **state)
{
	(void)state;
	struct fsc_err e = FSC_ERR_INIT;
	assert_int_equal(fsc_fs_replace(in_dir("no/f"), "x", 1, 0600, &e), FSC_ENOTFOUND);
	assert_non_null(strstr(e.msg, "no/f.tmp-"));
	/* a folder cannot be replaced by a file */
	assert_int_equal(mkdir(in_dir("d"), 0700), 0);
	assert_true(fsc_fs_replace(in_dir("d"), "x", 1, 0600, &e) < 0);
	assert_non_null(strstr(e.msg, "rename"));
	assert_int_equal(entries_of(dir), 1);
}

static void a_name_without_a_folder_is_replaced_here(void **state)
{
	(void)state;
	char cwd[1024];
	assert_non_null(getcwd(cwd, sizeof(cwd)));
	assert_int_equal(chdir(dir), 0);
	enum fsc_status st = fsc_fs_replace("plain", "p", 1, 0644, NULL);
	assert_int_equal(chdir(cwd), 0);
	assert_int_equal(st, FSC_OK);
	assert_int_equal(access(in_dir("plain"), R_OK), 0);
}

static void reading_a_whole_file_obeys_the_limit(void **state)
{
	(void)state;
	enum { N = 300000 };
	char *big = fsc_xalloc(N, 1);
	for (int i = 0; i < N; i++)
		big[i] = (char)(i * 7);
	struct fsc_err e = FSC_ERR_INIT;
	assert_int_equal(fsc_fs_replace(in_dir("big"), big, N, 0600, &e), FSC_OK);
	char *data = NULL;
	size_t n = 0;
	assert_int_equal(fsc_fs_read_file(&data, &n, in_dir("big"), N, &e), FSC_OK);
	assert_int_equal(n, N);
	assert_memory_equal(data, big, N);
	assert_int_equal(data[N], 0);
	fsc_free(data);
	assert_int_equal(fsc_fs_read_file(&data, &n, in_dir("big"), N - 1, &e), FSC_ELIMIT);
	assert_null(data);
	assert_int_equal(fsc_fs_read_file(&data, &n, in_dir("big"), 0, &e), FSC_ELIMIT);
	fsc_free(big);
}

static void files_without_a_size_and_empty_ones_are_read(void **state)
{
	(void)state;
	struct fsc_err e = FSC_ERR_INIT;
	char *data = NULL;
	size_t n = 0;
	assert_int_equal(fsc_fs_read_file(&data, &n, "/proc/self/stat", 100000, &e), FSC_OK);
	assert_true(n > 20);
	fsc_free(data);
	assert_int_equal(fsc_fs_replace(in_dir("empty"), "", 0, 0600, &e), FSC_OK);
	assert_int_equal(fsc_fs_read_file(&data, &n, in_dir("empty"), 0, &e), FSC_OK);
	assert_int_equal(n, 0);
	assert_string_equal(data, "");
	fsc_free(data);
}

static void a_missing_file_is_not_found_and_a_folder_is_no_file(void **state)
{
	(void)state;
	struct fsc_err e = FSC_ERR_INIT;
	char *data = NULL;
	size_t n = 0;
	assert_int_equal(fsc_fs_read_file(&data, &n, in_dir("none"), 10, &e), FSC_ENOTFOUND);
	assert_non_null(strstr(e.msg, "none: No such file"));
	assert_int_equal(fsc_fs_read_file(&data, &n, dir, 10, &e), FSC_EIO);
	assert_null(data);
}

static void folders_are_made_with_their_parents(void **state)
{
	(void)state;
	struct fsc_err e = FSC_ERR_INIT;
	assert_int_equal(fsc_fs_mkdirs(in_dir("a/b/c"), 0700, &e), FSC_OK);
	assert_int_equal(fsc_fs_mkdirs(in_dir("a/b/c"), 0700, &e), FSC_OK);
	assert_int_equal(fsc_fs_mkdirs(in_dir("a//x/"), 0700, &e), FSC_OK);
	assert_int_equal(access(in_dir("a/b/c"), X_OK), 0);
	assert_int_equal(access(in_dir("a/x"), X_OK), 0);
	assert_int_equal(fsc_fs_replace(in_dir("file"), "", 0, 0600, &e), FSC_OK);
	assert_int_equal(fsc_fs_mkdirs(in_dir("file"), 0700, &e), FSC_EIO);
	assert_int_equal(fsc_fs_mkdirs(in_dir("file/sub"), 0700, &e), FSC_EIO);
	assert_non_null(strstr(e.msg, "Not a directory"));
}

static void bytes_are_written_and_read_at_their_place(void **state)
{
	(void)state;
	struct fsc_err e = FSC_ERR_INIT;
	int fd = open(in_dir("rw"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(fsc_fs_write_all(fd, "hello world", 11, &e), FSC_OK);
	assert_int_equal(fsc_fs_pwrite_all(fd, "W", 1, 6, &e), FSC_OK);
	char got[32];
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(fsc_fs_read_all(fd, got, 11, &e), FSC_OK);
	assert_memory_equal(got, "hello World", 11);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(fsc_fs_read_all(fd, got, 12, &e), FSC_ECORRUPT);
	assert_string_equal(e.code, "short_read");
	assert_string_equal(e.msg, "file ends after 11 of 12 bytes");
	close(fd);
	assert_int_equal(fsc_fs_write_all(fd, "x", 1, &e), FSC_EIO);
	assert_int_equal(fsc_fs_pwrite_all(fd, "x", 1, 0, &e), FSC_EIO);
	assert_int_equal(fsc_fs_read_all(fd, got, 1, &e), FSC_EIO);
}

static void a_full_device_is_told_as_full(void **state)
{
	(void)state;
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		skip();
	struct fsc_err e = FSC_ERR_INIT;
	assert_int_equal(fsc_fs_write_all(fd, "x", 1, &e), FSC_EFULL);
	close(fd);
}

static void folders_can_be_synced_and_asked_for_space(void **state)
{
	(void)state;
	struct fsc_err e = FSC_ERR_INIT;
	assert_int_equal(fsc_fs_sync_dir(dir, &e), FSC_OK);
	assert_int_equal(fsc_fs_sync_dir(in_dir("gone"), &e), FSC_ENOTFOUND);
	uint64_t n = 0;
	assert_int_equal(fsc_fs_free_bytes(&n, dir, &e), FSC_OK);
	assert_true(n > 0);
	assert_int_equal(fsc_fs_free_bytes(&n, in_dir("gone"), &e), FSC_ENOTFOUND);
}

int main(void)
{
#define WITH_DIR(f) cmocka_unit_test_setup_teardown(f, make_dir, drop_dir)
	const struct CMUnitTest tests[] = {
		WITH_DIR(a_replaced_file_has_the_new_bytes_and_no_leftovers),
		WITH_DIR(a_replacement_that_fails_leaves_nothing),
		WITH_DIR(a_name_without_a_folder_is_replaced_here),
		WITH_DIR(reading_a_whole_file_obeys_the_limit),
		WITH_DIR(files_without_a_size_and_empty_ones_are_read),
		WITH_DIR(a_missing_file_is_not_found_and_a_folder_is_no_file),
		WITH_DIR(folders_are_made_with_their_parents),
		WITH_DIR(bytes_are_written_and_read_at_their_place),
		WITH_DIR(a_full_device_is_told_as_full),
		WITH_DIR(folders_can_be_synced_and_asked_for_space),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
