/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A parser that misbehaves inside the sandbox is stopped, and its run ends with an error that says why.
 * The program is its own child: fsc_indexer_run() starts it again with --child, where --name says what to do.
 * A sanitizer build tests the program of the plain build when that is there, because only that one has the
 * production filter and the memory limit.
 */
#include "indexer/sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/fs.h"
#include "facts/fact_codec.h"
#include "facts/indexer_client.h"
#include "tests/support/test.h"

/* ---- the child ---- */

#define STILL_ALIVE 42 /* exit status of a child that got away with it */

static int do_open(void)
{
	(void)!open("/etc/hostname", O_RDONLY);
	return STILL_ALIVE;
}

static int do_openat_write(void)
{
	(void)!openat(AT_FDCWD, "/tmp/fsc-sandbox-escape", O_WRONLY | O_CREAT, 0600);
	return STILL_ALIVE;
}

static int do_unlink(void)
{
	unlink("/tmp/fsc-sandbox-escape");
	return STILL_ALIVE;
}

static int do_stat_path(void)
{
	struct stat st;

	fstatat(AT_FDCWD, "/etc/hostname", &st, 0);
	return STILL_ALIVE;
}

/* With this flag the kernel takes the descriptor, but only when the path is empty. */
static int do_stat_flagged(void)
{
	struct stat st;

	fstatat(AT_FDCWD, "/etc/hostname", &st, AT_EMPTY_PATH);
	return STILL_ALIVE;
}

static int do_stat_plain(void)
{
	struct stat st;

#ifdef SYS_stat
	syscall(SYS_stat, "/etc/hostname", &st);
#else
	fstatat(AT_FDCWD, "/etc/hostname", &st, AT_SYMLINK_NOFOLLOW);
#endif
	return STILL_ALIVE;
}

static int do_statx(void)
{
	struct statx st;

	syscall(SYS_statx, AT_FDCWD, "/etc/hostname", AT_EMPTY_PATH, STATX_ALL, &st);
	return STILL_ALIVE;
}

static int do_readlink(void)
{
	char buf[64];

	(void)!readlink("/proc/self/exe", buf, sizeof(buf));
	return STILL_ALIVE;
}

static int do_access(void)
{
	(void)!access("/etc/hostname", R_OK);
	return STILL_ALIVE;
}

static int do_socket(void)
{
	socket(AF_INET, SOCK_STREAM, 0);
	return STILL_ALIVE;
}

static int do_exec(void)
{
	execl("/bin/true", "true", (char *)NULL);
	return STILL_ALIVE;
}

static int do_fork(void)
{
	if (fork() == 0)
		_exit(0);
	return STILL_ALIVE;
}

static int do_kill_parent(void)
{
	kill(getppid(), SIGTERM);
	return STILL_ALIVE;
}

static int do_ptrace(void)
{
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	return STILL_ALIVE;
}

static int do_raise_limit(void)
{
	syscall(SYS_prlimit64, 0, 0, NULL, NULL);
	return STILL_ALIVE;
}

static int do_map_code(void)
{
	mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return STILL_ALIVE;
}

static int do_make_code(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mprotect(p, 4096, PROT_READ | PROT_EXEC);
	return STILL_ALIVE;
}

/* As a careless parser: takes 4 GiB and writes to them. */
static int do_allocate(void)
{
	volatile char *p = malloc(4ULL << 30);

	if (!p)
		return FSC_INDEXER_EXIT_MEMORY;
	for (size_t i = 0; i < 4ULL << 30; i += 4096)
		p[i] = 1;
	return STILL_ALIVE;
}

static int do_abort_for_memory(void)
{
	/* what fsc_xalloc does when there is none */
	if (!malloc(4ULL << 30)) {
		static const char text[] = "level=error mod=alloc msg=\"out of memory\"\n";

		if (write(2, text, sizeof(text) - 1) < 0)
			return 1;
		signal(SIGABRT, SIG_DFL);
		abort();
	}
	return STILL_ALIVE;
}

static int do_loop(void)
{
	for (volatile uint64_t i = 0;; i++)
		;
	return STILL_ALIVE;
}

static int do_write_too_much(void)
{
	static char block[1 << 20];
	int fd = FSC_INDEXER_FD_BLOB;

	/* the blob of these tests is a scratch file that is open for writing */
	for (int i = 0; i < 64; i++)
		if (write(fd, block, sizeof(block)) < 0)
			return errno == EFBIG ? 7 : 8;
	return STILL_ALIVE;
}

static int do_crash(void)
{
	signal(SIGSEGV, SIG_DFL);
	raise(SIGSEGV);
	return STILL_ALIVE;
}

/* What a parser does need: memory, descriptors, qsort, the clock. Then a sound stream. */
static int compare_ints(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return x < y ? -1 : x > y;
}

static int do_work(void)
{
	struct fsc_fact end = { .type = FSC_FACT_END };
	struct fsc_buf b = FSC_BUF_INIT(4096);
	int *v = malloc(sizeof(int) << 20);
	struct stat st;

	if (!v || fsc_fs_fstat(FSC_INDEXER_FD_BLOB, &st) < 0)
		return 1;
	for (int i = 0; i < 1 << 20; i++)
		v[i] = (int)((i * 7919LL) % 1048573);
	qsort(v, 1 << 20, sizeof(int), compare_ints);
	free(v);
	if (fsc_fact_encode(&b, &end) != FSC_OK ||
	    write(FSC_INDEXER_FD_SOCKET, b.data, b.len) != (ssize_t)b.len)
		return 2;
	return 0;
}

static const struct deed {
	const char *name;
	int (*act)(void);
	bool forbidden; /* a plain build dies of SIGSYS */
} deeds[] = {
	{ "open", do_open, true },
	{ "create", do_openat_write, true },
	{ "unlink", do_unlink, true },
	{ "stat", do_stat_path, true },
	{ "stat_flagged", do_stat_flagged, true },
	{ "stat_plain", do_stat_plain, true },
	{ "statx", do_statx, true },
	{ "readlink", do_readlink, true },
	{ "access", do_access, true },
	{ "socket", do_socket, true },
	{ "exec", do_exec, true },
	{ "fork", do_fork, true },
	{ "kill_parent", do_kill_parent, true },
	{ "ptrace", do_ptrace, true },
	{ "raise_limit", do_raise_limit, true },
	{ "map_code", do_map_code, true },
	{ "make_code", do_make_code, true },
	{ "allocate", do_allocate, false },
	{ "abort_for_memory", do_abort_for_memory, false },
	{ "loop", do_loop, false },
	{ "write_too_much", do_write_too_much, false },
	{ "crash", do_crash, false },
	{ "work", do_work, false },
};

static int child(const char *name)
{
	struct fsc_sandbox_limits limits = { .max_memory_bytes = 512u << 20,
					     .max_file_bytes = 8u << 20,
					     .max_cpu_s = 1 };
	struct fsc_err err = FSC_ERR_INIT;

	if (fsc_sandbox_enter(&limits, NULL, &err) != FSC_OK)
		_exit(FSC_INDEXER_EXIT_SANDBOX);
	for (size_t i = 0; i < FSC_ARRAY_LEN(deeds); i++)
		if (!strcmp(deeds[i].name, name))
			_exit(deeds[i].act());
	_exit(99);
}

/* ---- the tests ---- */

static char self[4096]; /* the program under test; set once by main */
static bool plain;	/* it is of a plain build */

static enum fsc_status no_segment(void *ctx, int *fd, struct fsc_err *err)
{
	(void)ctx;
	(void)fd;
	return fsc_err_set(err, FSC_EBUG, NULL, "no segment was wanted");
}

static unsigned count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static enum fsc_status run_deed(const char *name, struct fsc_indexer_result *res,
				struct fsc_err *err)
{
	struct fsc_indexer_job job = FSC_INDEXER_JOB_INIT;
	struct fsc_indexer_sink sink = { .segment_fd = no_segment };
	FILE *blob = tmpfile();
	unsigned before = count_fds();

	assert_non_null(blob);
	job.program = self;
	job.blob_fd = fileno(blob);
	job.name = name;
	job.max_memory_bytes = 512u << 20;
	job.max_cpu_s = 1;
	job.max_wall_s = 60;
	enum fsc_status st = fsc_indexer_run(&job, &sink, res, NULL, err);
	assert_int_equal(count_fds(), before);
	fclose(blob);
	return st;
}

static void what_a_parser_needs_is_allowed(void **state)
{
	struct fsc_indexer_result res = { 0 };
	struct fsc_err err = FSC_ERR_INIT;

	(void)state;
	if (run_deed("work", &res, &err) != FSC_OK)
		fail_msg("%s (%s)", err.msg, res.note);
	assert_int_equal(res.exit_code, 0);
	assert_int_equal(res.frames, 1);
	assert_true(res.cpu_ns > 0 && res.maxrss_bytes > 0);
}

static void a_forbidden_call_ends_the_run(void **state)
{
	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(deeds); i++) {
		struct fsc_indexer_result res = { 0 };
		struct fsc_err err = FSC_ERR_INIT;

		if (!deeds[i].forbidden)
			continue;
		enum fsc_status st = run_deed(deeds[i].name, &res, &err);
		if (st != FSC_EIO || strcmp(err.code, "indexer_killed") ||
		    (plain && res.term_signal != SIGSYS))
			fail_msg("%s: %s: %s", deeds[i].name, err.code, err.msg);
		if (plain)
			assert_non_null(strstr(err.msg, "forbidden system call"));
	}
	assert_int_equal(access("/tmp/fsc-sandbox-escape", F_OK), -1);
}

static void four_gib_are_not_to_be_had(void **state)
{
	static const char *const how[] = { "allocate", "abort_for_memory" };

	(void)state;
	if (!plain) {
		print_message("skipped, a sanitizer build has no memory limit\n");
		skip();
	}
	for (size_t i = 0; i < FSC_ARRAY_LEN(how); i++) {
		struct fsc_indexer_result res = { 0 };
		struct fsc_err err = FSC_ERR_INIT;

		assert_int_equal(run_deed(how[i], &res, &err), FSC_ENOMEM);
		assert_string_equal(err.code, "indexer_memory");
		assert_non_null(strstr(err.msg, "512 MiB"));
		assert_true(res.maxrss_bytes < 256 << 20);
	}
}

static void an_endless_loop_ends_at_the_cpu_limit(void **state)
{
	struct fsc_indexer_result res = { 0 };
	struct fsc_err err = FSC_ERR_INIT;

	(void)state;
	assert_int_equal(run_deed("loop", &res, &err), FSC_ECANCELED);
	assert_string_equal(err.code, "indexer_timeout");
	assert_non_null(strstr(err.msg, "CPU"));
	assert_int_equal(res.term_signal, SIGXCPU);
	/* the kernel looks at its own ticks, so the account is only near the limit of 1 s */
	assert_true(res.cpu_ns >= 200000000 && res.cpu_ns < 10000000000LL);
}

static void a_file_cannot_grow_past_its_limit(void **state)
{
	struct fsc_indexer_result res = { 0 };
	struct fsc_err err = FSC_ERR_INIT;

	(void)state;
	assert_int_equal(run_deed("write_too_much", &res, &err), FSC_EIO);
	assert_int_equal(res.exit_code, 7);
}

static void a_crash_is_named(void **state)
{
	struct fsc_indexer_result res = { 0 };
	struct fsc_err err = FSC_ERR_INIT;

	(void)state;
	assert_int_equal(run_deed("crash", &res, &err), FSC_EIO);
	assert_string_equal(err.code, "indexer_killed");
	if (plain)
		assert_non_null(strstr(err.msg, "SIGSEGV"));
}

static void the_next_run_is_not_affected(void **state)
{
	struct fsc_indexer_result res = { 0 };
	struct fsc_err err = FSC_ERR_INIT;

	(void)state;
	assert_int_equal(run_deed("socket", &res, &err), FSC_EIO);
	assert_int_equal(run_deed("work", &res, &err), FSC_OK);
}

/* The plain build's copy of this program when this one has sanitizers, else this one. */
static void find_program(void)
{
	static const char rel[] = "tests/unit/indexer/test_sandbox";

	plain = !FSC_SANITIZED;
	if (FSC_SANITIZED && access(test_program(self, sizeof(self), rel, 1), X_OK) == 0) {
		plain = true;
		return;
	}
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	self[n > 0 ? n : 0] = '\0';
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_parser_needs_is_allowed),
		cmocka_unit_test(a_forbidden_call_ends_the_run),
		cmocka_unit_test(four_gib_are_not_to_be_had),
		cmocka_unit_test(an_endless_loop_ends_at_the_cpu_limit),
		cmocka_unit_test(a_file_cannot_grow_past_its_limit),
		cmocka_unit_test(a_crash_is_named),
		cmocka_unit_test(the_next_run_is_not_affected),
	};

	for (int i = 1; i < argc; i++)
		if (!strncmp(argv[i], "--name=", 7))
			return child(argv[i] + 7);
	find_program();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
