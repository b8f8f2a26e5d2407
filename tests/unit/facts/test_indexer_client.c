/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parent's side of the indexer against children that behave and children that do not. The program is its
 * own child: fsc_indexer_run() starts it again with --child, where --name says what to do.
 */
#include "facts/indexer_client.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "tests/support/indexer_child.h"
#include "tests/support/test.h"

/* ---- the child ---- */

static void say_end(void)
{
	child_say((struct fsc_fact){ .type = FSC_FACT_END, .u.end = { .manifest_json = "" } });
}

static void say_trace(const char *name, const char *segment, int64_t claimed)
{
	child_say((struct fsc_fact){ .type = FSC_FACT_TRACE,
				     .u.trace = { .member = name, .rank = -1 } });
	child_say((struct fsc_fact){ .type = FSC_FACT_SEGMENT_WANTED });
	int fd = child_receive_fd();
	if (write(fd, segment, strlen(segment)) < 0)
		_exit(92);
	close(fd);
	child_say(
		(struct fsc_fact){ .type = FSC_FACT_TRACE_END, .u.trace_end = { claimed, 1, 1 } });
}

/* Every option back as a loss, then every descriptor above 2. */
static void act_tell(int argc, char **argv)
{
	child_say((struct fsc_fact){ .type = FSC_FACT_TRACE, .u.trace.rank = -1 });
	for (int i = 1; i < argc; i++)
		child_say((struct fsc_fact){ .type = FSC_FACT_LOSS, .u.loss = { argv[i], 0, -1 } });
	for (int fd = 3; fd < 1024; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			child_say((struct fsc_fact){ .type = FSC_FACT_LOSS,
						     .u.loss = { "fd", fd, -1 } });
	if (getpgrp() == getpid())
		child_say((struct fsc_fact){ .type = FSC_FACT_LOSS,
					     .u.loss = { "own group", 1, -1 } });
	child_say((struct fsc_fact){ .type = FSC_FACT_SEGMENT_WANTED });
	close(child_receive_fd());
	child_say((struct fsc_fact){ .type = FSC_FACT_TRACE_END });
	say_end();
}

static void act_grandchild(void)
{
	/* a descendant that would outlive everybody, with the pipe of descriptor 2 in its hands */
	if (fork() == 0)
		for (;;)
			pause();
	say_end();
}

static void act_greedy(void)
{
	for (int i = 0; i < 100000; i++) {
		child_say((struct fsc_fact){ .type = FSC_FACT_TRACE, .u.trace.rank = -1 });
		child_say((struct fsc_fact){ .type = FSC_FACT_SEGMENT_WANTED });
		child_say((struct fsc_fact){ .type = FSC_FACT_TRACE_END });
	}
	say_end();
}

static void act_chatty(void)
{
	/* more than a pipe holds, with bytes that no log should see */
	static const char line[] = "noise \033[31m and more noise in every single line\n";

	for (int i = 0; i < 4000; i++)
		if (write(2, line, sizeof(line) - 1) < 0)
			_exit(93);
	_exit(9);
}

static int child(const char *what, int argc, char **argv)
{
	if (!strcmp(what, "tell"))
		act_tell(argc, argv);
	else if (!strcmp(what, "two_traces")) {
		say_trace("a", "first", 5);
		say_trace("b", "second!", 7);
		say_end();
	} else if (!strcmp(what, "wrong_size")) {
		say_trace("a", "first", 6);
		say_end();
	} else if (!strcmp(what, "silent"))
		return 0;
	else if (!strcmp(what, "garbage")) {
		if (write(FSC_INDEXER_FD_SOCKET, "garbage garbage", 15) < 0)
			return 1;
		pause();
	} else if (!strcmp(what, "hang"))
		pause();
	else if (!strcmp(what, "hang_after_end")) {
		say_end();
		close(FSC_INDEXER_FD_SOCKET);
		for (;;)
			pause();
	} else if (!strcmp(what, "kill9"))
		raise(SIGKILL);
	else if (!strcmp(what, "grandchild"))
		act_grandchild();
	else if (!strcmp(what, "greedy"))
		act_greedy();
	else if (!strcmp(what, "chatty"))
		act_chatty();
	else if (!strcmp(what, "exit_memory"))
		return FSC_INDEXER_EXIT_MEMORY;
	return 0;
}

/* ---- the sink ---- */

struct seen {
	char told[8192];
	unsigned traces, n_fds;
	int64_t fds[16];
	FILE *segment;
	char segments[2][64];
	bool refuse; /* the sink fails at the first trace */
	atomic_bool *stop;
};

static enum fsc_status take_fact(void *ctx, const struct fsc_fact *f, struct fsc_err *err)
{
	struct seen *s = ctx;

	if (f->type == FSC_FACT_LOSS && !strcmp(f->u.loss.code, "fd")) {
		if (s->n_fds < 16)
			s->fds[s->n_fds++] = f->u.loss.count;
	} else if (f->type == FSC_FACT_LOSS) {
		size_t n = strlen(s->told);

		snprintf(s->told + n, sizeof(s->told) - n, "%s\n", f->u.loss.code);
	}
	if (f->type == FSC_FACT_TRACE && s->refuse)
		return fsc_err_set(err, FSC_EFULL, "no_room", "the store is full");
	if (f->type == FSC_FACT_TRACE_END) {
		if (s->traces < 2) {
			rewind(s->segment);
			(void)!fread(s->segments[s->traces], 1, 63, s->segment);
		}
		s->traces++;
		fclose(s->segment);
		s->segment = NULL;
	}
	return FSC_OK;
}

static enum fsc_status give_segment(void *ctx, int *fd, struct fsc_err *err)
{
	struct seen *s = ctx;

	s->segment = tmpfile();
	if (!s->segment)
		return fsc_err_sys(err, errno, "tmpfile");
	*fd = fileno(s->segment);
	return FSC_OK;
}

static char self[4096];

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

static struct fsc_indexer_job new_job(const char *what)
{
	struct fsc_indexer_job job = FSC_INDEXER_JOB_INIT;

	job.program = self;
	job.name = what;
	job.max_wall_s = 60;
	return job;
}

static enum fsc_status run_job(struct fsc_indexer_job *job, struct seen *seen,
			       struct fsc_indexer_result *res, struct fsc_err *err)
{
	struct fsc_indexer_sink sink = { seen, take_fact, give_segment };
	FILE *blob = tmpfile();

	assert_non_null(blob);
	job->blob_fd = fileno(blob);
	unsigned before = count_fds();
	enum fsc_status st = fsc_indexer_run(job, &sink, res, seen->stop, err);
	if (seen->segment)
		fclose(seen->segment);
	seen->segment = NULL;
	assert_int_equal(count_fds(), before);
	fclose(blob);
	/* nobody is left to be waited for */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	return st;
}

static enum fsc_status run_as(const char *what, struct seen *seen, struct fsc_indexer_result *res,
			      struct fsc_err *err)
{
	struct fsc_indexer_job job = new_job(what);

	return run_job(&job, seen, res, err);
}

/* ---- the tests ---- */

static void the_child_gets_its_options_and_no_other_descriptor(void **state)
{
	struct fsc_indexer_job job = new_job("tell");
	struct fsc_err err = FSC_ERR_INIT;
	struct seen seen = { .traces = 0 };
	uint8_t sha[32] = { 0xAB, [31] = 0xCD };
	int stray = open("/dev/null", O_RDONLY); /* without O_CLOEXEC, on purpose */

	(void)state;
	job.job = "train";
	job.host = "node 7";
	job.capture = "";
	job.rank = 3;
	job.blob_sha256 = sha;
	job.max_memory_bytes = 1 << 30;
	job.max_cpu_s = 12;
	if (run_job(&job, &seen, NULL, &err) != FSC_OK)
		fail_msg("%s", err.msg);
	close(stray);
	assert_string_equal(
		seen.told,
		"--child\n--name=tell\n--job=train\n--host=node 7\n--capture=\n--rank=3\n"
		"--blob-sha256="
		"ab000000000000000000000000000000000000000000000000000000000000cd\n"
		"--max-memory=1073741824\n--max-cpu=12\nown group\n");
	assert_int_equal(seen.n_fds, 2);
	assert_int_equal(seen.fds[0], FSC_INDEXER_FD_SOCKET);
	assert_int_equal(seen.fds[1], FSC_INDEXER_FD_BLOB);
}

static void segments_arrive_in_the_files_of_the_sink(void **state)
{
	struct fsc_indexer_result res = { 0 };
	struct fsc_err err = FSC_ERR_INIT;
	struct seen seen = { .traces = 0 };

	(void)state;
	if (run_as("two_traces", &seen, &res, &err) != FSC_OK)
		fail_msg("%s", err.msg);
	assert_int_equal(seen.traces, 2);
	assert_string_equal(seen.segments[0], "first");
	assert_string_equal(seen.segments[1], "second!");
	assert_int_equal(res.frames, 7);
	assert_int_equal(res.exit_code, 0);
	assert_int_equal(res.term_signal, 0);
	assert_true(res.wall_ns > 0 && res.maxrss_bytes > 0);
}

/* Status and code that a child's behaviour ends in, and a piece of the reason. */
static void expect(const char *what, enum fsc_status st, const char *code, const char *why)
{
	struct fsc_indexer_result res = { 0 };
	struct fsc_err err = FSC_ERR_INIT;
	struct seen seen = { .traces = 0 };
	enum fsc_status got = run_as(what, &seen, &res, &err);

	if (got != st || strcmp(err.code, code) || !strstr(err.msg, why))
		fail_msg("%s: status %d, %s: %s", what, got, err.code, err.msg);
}

static void nonsense_from_the_child_is_a_protocol_error(void **state)
{
	(void)state;
	expect("silent", FSC_EPARSE, "indexer_protocol", "without an end frame");
	expect("garbage", FSC_EPARSE, "indexer_protocol", "not one of ours");
	expect("wrong_size", FSC_EPARSE, "indexer_protocol", "5 bytes where its trace says 6");
}

static void a_child_that_takes_no_segments_cannot_block_the_parent(void **state)
{
	struct fsc_indexer_result res = { 0 };
	struct fsc_err err = FSC_ERR_INIT;
	struct seen seen = { .traces = 0 };

	(void)state;
	/* the parent's patience depends on the socket's buffers: refused or finished, never stuck */
	enum fsc_status st = run_as("greedy", &seen, &res, &err);
	assert_true(st == FSC_OK || (st == FSC_EPARSE && !strcmp(err.code, "indexer_protocol")));
}

static void death_is_told_with_its_signal(void **state)
{
	(void)state;
	expect("kill9", FSC_EIO, "indexer_killed", "SIGKILL");
	expect("exit_memory", FSC_ENOMEM, "indexer_memory", "out of memory");
	expect("chatty", FSC_EIO, "indexer_killed", "status 9: noise  [31m");
}

static void the_wall_deadline_holds(void **state)
{
	static const char *const what[] = { "hang", "hang_after_end" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct fsc_indexer_job job = new_job(what[i]);
		struct fsc_indexer_result res = { 0 };
		struct fsc_err err = FSC_ERR_INIT;
		struct seen seen = { .traces = 0 };

		job.max_wall_s = 1;
		assert_int_equal(run_job(&job, &seen, &res, &err), FSC_ECANCELED);
		assert_string_equal(err.code, "indexer_timeout");
		assert_int_equal(res.term_signal, SIGKILL);
		assert_true(res.wall_ns >= 1000000000 && res.wall_ns < 10000000000LL);
	}
}

static void a_run_stops_on_request(void **state)
{
	struct fsc_indexer_result res = { 0 };
	struct fsc_err err = FSC_ERR_INIT;
	atomic_bool stop = true;
	struct seen seen = { .stop = &stop };

	(void)state;
	assert_int_equal(run_as("hang", &seen, &res, &err), FSC_ECANCELED);
	assert_string_equal(err.code, "indexer_stopped");
	assert_int_equal(res.term_signal, SIGKILL);
}

static void an_error_of_the_sink_ends_the_run_and_comes_back(void **state)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct seen seen = { .refuse = true };

	(void)state;
	assert_int_equal(run_as("two_traces", &seen, NULL, &err), FSC_EFULL);
	assert_string_equal(err.code, "no_room");
	assert_int_equal(seen.traces, 0);
}

static void descendants_do_not_outlive_the_run(void **state)
{
	struct fsc_indexer_result res = { 0 };
	struct fsc_err err = FSC_ERR_INIT;
	struct seen seen = { .traces = 0 };
	int64_t t0 = fsc_clock_mono_ns();

	(void)state;
	/* the grandchild holds the socket open: the end frame alone ends the talk */
	assert_int_equal(run_as("grandchild", &seen, &res, &err), FSC_OK);
	assert_true(fsc_clock_mono_ns() - t0 < 30000000000LL);
}

static void a_program_that_its_loader_refuses_counts_as_not_started(void **state)
{
	static const char script[] = "#!/bin/sh\necho 'no such library' >&2\nexit 127\n";
	char path[] = "/tmp/fsc-indexer-XXXXXX";
	int fd = mkstemp(path);
	struct fsc_indexer_job job = new_job("x");
	struct fsc_indexer_result res;
	struct fsc_err err = FSC_ERR_INIT;
	struct seen seen = { .traces = 0 };

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, script, sizeof(script) - 1), sizeof(script) - 1);
	assert_int_equal(fchmod(fd, 0700), 0);
	close(fd);
	job.program = path;
	assert_int_equal(run_job(&job, &seen, &res, &err), FSC_EIO);
	unlink(path);
	assert_string_equal(err.code, "indexer_start");
	assert_non_null(strstr(err.msg, "no such library"));
}

static void a_program_that_is_not_there_is_an_error_with_its_name(void **state)
{
	struct fsc_indexer_job job = new_job("x");
	struct fsc_indexer_result res = { .frames = 77 };
	struct fsc_err err = FSC_ERR_INIT;
	struct seen seen = { .traces = 0 };

	(void)state;
	if (test_is_wrapped())
		skip();
	job.program = "/nonexistent/fleetscope-indexer";
	assert_int_equal(run_job(&job, &seen, &res, &err), FSC_EIO);
	assert_string_equal(err.code, "indexer_start");
	assert_non_null(strstr(err.msg, "/nonexistent/fleetscope-indexer: No such file"));
	assert_int_equal(res.frames, 77);
}

#define N_THREADS 4
#define RUNS_EACH 5

/* Counts in failed what is not as it should be: cmocka's asserts are for the main thread. */
static void *run_many(void *ctx)
{
	atomic_int *failed = ctx;

	for (int i = 0; i < RUNS_EACH; i++) {
		struct fsc_indexer_job job = new_job(i % 2 ? "tell" : "two_traces");
		struct fsc_err err = FSC_ERR_INIT;
		struct seen seen = { .traces = 0 };
		struct fsc_indexer_sink sink = { &seen, take_fact, give_segment };
		FILE *blob = tmpfile();

		job.blob_fd = blob ? fileno(blob) : -1;
		enum fsc_status st = fsc_indexer_run(&job, &sink, NULL, NULL, &err);
		if (st != FSC_OK || seen.n_fds != (i % 2 ? 2 : 0) || seen.traces != (i % 2 ? 1 : 2))
			atomic_fetch_add(failed, 1);
		if (blob)
			fclose(blob);
	}
	return NULL;
}

static void runs_of_several_threads_do_not_share_descriptors(void **state)
{
	pthread_t thread[N_THREADS];
	atomic_int failed = 0;
	unsigned before = count_fds();

	(void)state;
	for (int i = 0; i < N_THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, run_many, &failed), 0);
	for (int i = 0; i < N_THREADS; i++)
		assert_int_equal(pthread_join(thread[i], NULL), 0);
	assert_int_equal(failed, 0);
	assert_int_equal(count_fds(), before);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_of_several_threads_do_not_share_descriptors),
		cmocka_unit_test(the_child_gets_its_options_and_no_other_descriptor),
		cmocka_unit_test(segments_arrive_in_the_files_of_the_sink),
		cmocka_unit_test(nonsense_from_the_child_is_a_protocol_error),
		cmocka_unit_test(a_child_that_takes_no_segments_cannot_block_the_parent),
		cmocka_unit_test(death_is_told_with_its_signal),
		cmocka_unit_test(the_wall_deadline_holds),
		cmocka_unit_test(a_run_stops_on_request),
		cmocka_unit_test(an_error_of_the_sink_ends_the_run_and_comes_back),
		cmocka_unit_test(descendants_do_not_outlive_the_run),
		cmocka_unit_test(a_program_that_its_loader_refuses_counts_as_not_started),
		cmocka_unit_test(a_program_that_is_not_there_is_an_error_with_its_name),
	};

	for (int i = 1; i < argc; i++)
		if (!strncmp(argv[i], "--name=", 7))
			_exit(child(argv[i] + 7, argc, argv));
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	self[n > 0 ? n : 0] = '\0';
	return cmocka_run_group_tests(tests, NULL, NULL);
}
