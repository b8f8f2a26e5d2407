/* SPDX-License-Identifier: Apache-2.0 */
/* Log lines: one line each, no forging, level, quoting; lines of threads do not mix. */
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>

#include "base/attr.h"
#include "base/utf8.h"
#include "tests/support/test.h"

static int fds[2];

static int open_pipe(void **state)
{
	(void)state;
	return pipe(fds);
}

static int close_pipe(void **state)
{
	(void)state;
	fsc_log_setup(2, FSC_LOG_INFO);
	close(fds[0]);
	close(fds[1]);
	return 0;
}

static const char *logged(void)
{
	static char out[65536];
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	ssize_t n = read(fds[0], out, sizeof(out) - 1);
	out[n > 0 ? n : 0] = '\0';
	return out;
}

static void a_line_has_time_level_module_and_text(void **state)
{
	(void)state;
	fsc_log_setup(fds[1], FSC_LOG_INFO);
	errno = 42;
	fsc_log(FSC_LOG_WARN, "http", "msg=\"slow\" ms=%d", 12);
	assert_int_equal(errno, 42);
	const char *s = logged();
	assert_memory_equal(s, "ts=2", 4);
	assert_non_null(strstr(s, "Z level=warn mod=http msg=\"slow\" ms=12\n"));
}

static void lines_below_the_level_are_left_out(void **state)
{
	(void)state;
	fsc_log_setup(fds[1], FSC_LOG_WARN);
	fsc_log(FSC_LOG_INFO, "m", "no");
	fsc_log(FSC_LOG_DEBUG, "m", "no");
	fsc_log(FSC_LOG_ERROR, "m", "yes");
	const char *s = logged();
	assert_null(strstr(s, "no\n"));
	assert_non_null(strstr(s, "level=error mod=m yes\n"));
}

static void a_line_cannot_be_forged_by_a_newline(void **state)
{
	(void)state;
	fsc_log_setup(fds[1], FSC_LOG_INFO);
	fsc_log(FSC_LOG_INFO, "m", "a=%s", "x\nts=1 level=error\r\x1b[31m");
	const char *s = logged();
	assert_ptr_equal(strchr(s, '\n'), s + strlen(s) - 1);
	assert_null(strchr(s, '\r'));
	assert_null(strchr(s, '\x1b'));
}

static void a_long_line_is_cut_and_still_ends(void **state)
{
	(void)state;
	char big[9000];
	memset(big, 'b', sizeof(big));
	big[sizeof(big) - 1] = '\0';
	fsc_log_setup(fds[1], FSC_LOG_INFO);
	fsc_log(FSC_LOG_INFO, "m", "%s", big);
	const char *s = logged();
	assert_true(strlen(s) <= 4096);
	assert_true(strlen(s) > 4000);
	assert_int_equal(s[strlen(s) - 1], '\n');
}

static void *log_many(void *arg)
{
	for (int i = 0; i < 100; i++)
		fsc_log(FSC_LOG_INFO, "t", "who=%s end", (const char *)arg);
	return NULL;
}

static void lines_of_threads_do_not_mix(void **state)
{
	(void)state;
	fsc_log_setup(fds[1], FSC_LOG_INFO);
	pthread_t t[4];
	static const char *const who[] = { "aaaa", "bbbb", "cccc", "dddd" };
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&t[i], NULL, log_many, (void *)(uintptr_t)who[i]),
				 0);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	int lines = 0;
	for (const char *s = logged(); *s; lines++) {
		const char *nl = strchr(s, '\n');
		assert_non_null(nl);
		assert_memory_equal(s, "ts=", 3);
		assert_memory_equal(nl - 4, " end", 4);
		s = nl + 1;
	}
	assert_int_equal(lines, 400);
}

static void quoting_escapes(void **state)
{
	(void)state;
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "", "\"\"" },
		{ "a b", "\"a b\"" },
		{ "say \"x\\y\"", "\"say \\\"x\\\\y\\\"\"" },
		{ "a\nb\tc\rd", "\"a\\nb\\tc\\rd\"" },
		{ "\x01\x1b\x7f", "\"\\x01\\x1b\\x7f\"" },
		{ "gr\xC3\xBC\xC3\x9F \xE2\x82\xAC", "\"gr\xC3\xBC\xC3\x9F \xE2\x82\xAC\"" },
		{ "\xFF\xC3", "\"\\xff\\xc3\"" },
		{ "\xE2\x82", "\"\\xe2\\x82\"" },
	};
	for (size_t i = 0; i < FSC_ARRAY_LEN(cases); i++) {
		char dst[100];
		assert_ptr_equal(fsc_log_quote(dst, sizeof(dst), cases[i].in), dst);
		assert_string_equal(dst, cases[i].out);
	}
	char dst[100];
	assert_string_equal(fsc_log_quote(dst, sizeof(dst), NULL), "\"\"");
}

static void quoting_into_any_room_stays_closed_and_valid(void **state)
{
	(void)state;
	static const char text[] = "a\"\n\x01\xC3\xBC\xE2\x82\xAC\xF0\x9F\x98\x80z";
	for (unsigned cap = 1; cap < 40; cap++) {
		char *dst = malloc(cap);
		assert_non_null(dst);
		fsc_log_quote(dst, cap, text);
		size_t n = strlen(dst);
		assert_true(n < cap);
		assert_true(fsc_utf8_valid(dst, n));
		if (cap >= 3)
			assert_true(dst[0] == '"' && dst[n - 1] == '"' && n >= 2);
		free(dst);
	}
	fsc_log_quote(NULL, 0, text);
}

static void write_lines(const char *text, int n)
{
	for (int i = 0; i < n; i++)
		fsc_log(FSC_LOG_INFO, "test", "%s", text);
}

static void *write_many(void *arg)
{
	write_lines(arg, 2000);
	return NULL;
}

static int lines_of(const char *path)
{
	FILE *f = fopen(path, "r");
	char line[256];
	int n = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		assert_non_null(strstr(line, "rotated line\n"));
		n++;
	}
	fclose(f);
	return n;
}

static void a_log_file_is_opened_anew_without_losing_a_line(void **state)
{
	char dir[256], path[300], old[300];
	struct fsc_err err = FSC_ERR_INIT;
	int total = 0, n_files = 0;
	pthread_t t[4];

	(void)state;
	test_tmpdir(dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/none/log", dir);
	assert_int_equal(fsc_log_open(path, &err), FSC_ENOTFOUND);
	snprintf(path, sizeof(path), "%s/log", dir);
	assert_int_equal(fsc_log_open(path, &err), FSC_OK);
	for (size_t i = 0; i < FSC_ARRAY_LEN(t); i++)
		assert_int_equal(pthread_create(&t[i], NULL, write_many, (void *)"rotated line"),
				 0);
	for (; n_files < 20; n_files++) {
		snprintf(old, sizeof(old), "%s/log.%d", dir, n_files);
		assert_int_equal(rename(path, old), 0);
		assert_int_equal(fsc_log_open(path, &err), FSC_OK);
	}
	for (size_t i = 0; i < FSC_ARRAY_LEN(t); i++)
		pthread_join(t[i], NULL);
	total = lines_of(path);
	unlink(path);
	while (n_files--) {
		snprintf(old, sizeof(old), "%s/log.%d", dir, n_files);
		total += lines_of(old);
		unlink(old);
	}
	rmdir(dir);
	assert_int_equal(total, 4 * 2000);
	fsc_log_setup(2, FSC_LOG_INFO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_line_has_time_level_module_and_text, open_pipe,
						close_pipe),
		cmocka_unit_test_setup_teardown(lines_below_the_level_are_left_out, open_pipe,
						close_pipe),
		cmocka_unit_test_setup_teardown(a_line_cannot_be_forged_by_a_newline, open_pipe,
						close_pipe),
		cmocka_unit_test_setup_teardown(a_long_line_is_cut_and_still_ends, open_pipe,
						close_pipe),
		cmocka_unit_test_setup_teardown(lines_of_threads_do_not_mix, open_pipe, close_pipe),
		cmocka_unit_test(a_log_file_is_opened_anew_without_losing_a_line),
		cmocka_unit_test(quoting_escapes),
		cmocka_unit_test(quoting_into_any_room_stays_closed_and_valid),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
