/* SPDX-License-Identifier: Apache-2.0 */
/* A broken invariant logs its place and ends the process by SIGABRT. */
#include "base/assert.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/log.h"
#include "tests/support/test.h"

static void child(int fd, int value)
{
	struct rlimit no_core = { 0, 0 };
	setrlimit(RLIMIT_CORE, &no_core);
	signal(SIGABRT, SIG_DFL);
	fsc_log_setup(fd, FSC_LOG_INFO);
	FSC_ASSERT(value == 4);
	_exit(0);
}

/* Runs FSC_ASSERT in a child; returns its wait status and what it logged. */
static int run_child(char *out, size_t cap, int value)
{
	int fds[2];
	assert_int_equal(pipe(fds), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		child(fds[1], value);
	close(fds[1]);
	ssize_t n = read(fds[0], out, cap - 1);
	out[n > 0 ? n : 0] = '\0';
	close(fds[0]);
	int status = 0;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void a_broken_invariant_aborts_and_says_where(void **state)
{
	(void)state;
	char out[1024];
	int status = run_child(out, sizeof(out), 5);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	assert_non_null(strstr(out, "level=error mod=assert msg=\"value == 4\""));
	assert_non_null(strstr(out, "test_assert.c line="));
}

static void a_kept_invariant_does_nothing(void **state)
{
	(void)state;
	char out[1024];
	int status = run_child(out, sizeof(out), 4);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_string_equal(out, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_broken_invariant_aborts_and_says_where),
		cmocka_unit_test(a_kept_invariant_does_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
