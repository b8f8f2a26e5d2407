/* SPDX-License-Identifier: Apache-2.0 */
/* fleetscope-indexer FILE --out DIR: exit statuses, segments, and the document of --summary. */
#include <ftw.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <jansson.h>
#include <zlib.h>

#include "base/fs.h"
#include "tests/unit/bundle/tar_util.h"
#include "tests/unit/indexer/run_program.h"

extern char **environ;

static char dir[1024]; /* scratch, made by setup */

#define STEPS_TRACE                                                                                \
	"{\"schemaVersion\":1,\"distributedInfo\":{\"rank\":2},\"traceEvents\":["                  \
	"{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#1\",\"pid\":9,\"tid\":" \
	"9,\"ts\":0,\"dur\":50},"                                                                  \
	"{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#2\",\"pid\":9,\"tid\":" \
	"9,\"ts\":50,\"dur\":50},"                                                                 \
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":9,\"tid\":"  \
	"9,\"ts\":1,\"dur\":2,"                                                                    \
	"\"args\":{\"correlation\":1}},"                                                           \
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":9,\"tid\":"  \
	"9,\"ts\":60,\"dur\":2,"                                                                   \
	"\"args\":{\"correlation\":2}},"                                                           \
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm "                                        \
	"<&>\",\"pid\":0,\"tid\":7,\"ts\":10,\"dur\":20,"                                          \
	"\"args\":{\"device\":0,\"context\":1,\"stream\":7,\"correlation\":1}},"                   \
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"late\",\"pid\":0,\"tid\":7,\"ts\":70,"        \
	"\"dur\":5,"                                                                               \
	"\"args\":{\"device\":0,\"context\":1,\"stream\":7,\"correlation\":2}}]}"

static const char *scratch(char buf[4096], const char *name)
{
	snprintf(buf, 4096, "%s/%s", dir, name);
	return buf;
}

static void put_file(const char *name, const void *p, size_t n)
{
	char path[4096];
	FILE *f = fopen(scratch(path, name), "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(p, 1, n, f), n);
	fclose(f);
}

/* Exit status of the program with these arguments; its standard output goes to the file "stdout". */
static int run(const char *const *args)
{
	posix_spawn_file_actions_t fa;
	const char *argv[16] = { NULL };
	char program[4096], out[4096];
	bool plain = false;
	pid_t pid = 0;
	int status = 0;

	argv[0] = indexer_program(program, sizeof(program), &plain);
	for (size_t i = 0; args[i]; i++)
		argv[i + 1] = args[i];
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, 1, scratch(out, "stdout"),
					 O_WRONLY | O_CREAT | O_TRUNC, 0600);
	posix_spawn_file_actions_addopen(&fa, 2, "/dev/null", O_WRONLY, 0);
	assert_int_equal(posix_spawn(&pid, program, &fa, NULL, (char *const *)(uintptr_t)argv,
				     environ),
			 0);
	posix_spawn_file_actions_destroy(&fa);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

#define RUN(...) run((const char *const[]){ __VA_ARGS__, NULL })

static json_t *document(void)
{
	char path[4096];
	json_t *doc = json_load_file(scratch(path, "stdout"), 0, NULL);

	assert_non_null(doc);
	return doc;
}

static const char *text(json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	assert_non_null(s);
	return s;
}

static long long num(json_t *o, const char *key)
{
	json_t *v = json_object_get(o, key);

	assert_true(json_is_integer(v));
	return json_integer_value(v);
}

static void a_sound_file_gives_a_segment_and_a_document(void **state)
{
	char file[4096], out[4096], seg[4096];

	(void)state;
	put_file("rank2.json", STEPS_TRACE, strlen(STEPS_TRACE));
	assert_int_equal(RUN(scratch(file, "rank2.json"), "--out", scratch(out, "new/dir"),
			     "--summary", "--job", "j"),
			 0);
	json_t *doc = document(), *t = json_array_get(json_object_get(doc, "traces"), 0);
	assert_int_equal(json_array_size(json_object_get(doc, "traces")), 1);
	assert_int_equal(json_array_size(json_object_get(doc, "failures")), 0);
	assert_string_equal(text(t, "id"), "0");
	assert_string_equal(text(t, "state"), "ready");
	assert_string_equal(text(t, "format"), "kineto");
	assert_string_equal(text(t, "job"), "j");
	assert_true(json_is_null(json_object_get(t, "host")));
	assert_string_equal(text(t, "t_base_ns"), "0");
	assert_int_equal(num(t, "rank"), 2);
	assert_int_equal(num(t, "t_max_ns"), 100000);
	assert_int_equal(num(t, "slices"), 6);
	assert_int_equal(num(json_object_get(t, "launch"), "pairs"), 2);
	json_t *a = json_object_get(t, "analysis"),
	       *d = json_array_get(json_object_get(a, "devices"), 0);
	assert_int_equal(num(d, "busy_ns"), 25000);
	assert_int_equal(num(d, "window_ns"), 65000);
	assert_int_equal(json_array_size(json_object_get(a, "steps")), 2);
	json_t *k = json_array_get(json_object_get(a, "kernels"), 0);
	assert_string_equal(text(k, "name"), "gemm <&>");
	assert_int_equal(num(k, "mean_ns"), 20000);
	/* the segment is where the document says */
	snprintf(seg, sizeof(seg), "%s", text(t, "segment"));
	struct stat st;
	assert_int_equal(stat(seg, &st), 0);
	assert_int_equal(st.st_size, num(t, "segment_bytes"));
	json_decref(doc);
}

static void steps_choose_what_the_analysis_covers(void **state)
{
	static const struct {
		const char *steps;
		long long busy;
		size_t n_steps;
	} cases[] = {
		{ "all", 25000, 2 }, { "no_last", 20000, 1 }, { "2-2", 5000, 1 }, { "1", 20000, 1 }
	};
	char file[4096], out[4096];

	(void)state;
	put_file("s.json", STEPS_TRACE, strlen(STEPS_TRACE));
	for (size_t i = 0; i < FSC_ARRAY_LEN(cases); i++) {
		assert_int_equal(RUN(scratch(file, "s.json"), "--out", scratch(out, "o"),
				     "--summary", "--steps", cases[i].steps),
				 0);
		json_t *doc = document();
		json_t *a = json_object_get(json_array_get(json_object_get(doc, "traces"), 0),
					    "analysis");
		json_t *d = json_array_get(json_object_get(a, "devices"), 0);
		assert_int_equal(num(d, "busy_ns"), cases[i].busy);
		assert_int_equal(json_array_size(json_object_get(a, "steps")), cases[i].n_steps);
		json_decref(doc);
	}
	assert_int_equal(RUN(scratch(file, "s.json"), "--out", scratch(out, "o"), "--summary",
			     "--steps", "7-9"),
			 2);
}

static void a_failed_member_shows_in_status_and_document(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(1 << 20);
	char file[4096], out[4096], left[4096];

	(void)state;
	tar_file(&b, "rank2.json", STEPS_TRACE);
	tar_header(&b, "cut.json", '0', 150, NULL);
	tar_data(&b, STEPS_TRACE, 150);
	tar_end(&b);
	put_file("b.tar", b.data, b.len);
	fsc_buf_fini(&b);
	assert_int_equal(RUN(scratch(file, "b.tar"), "--out", scratch(out, "t"), "--summary"), 1);
	json_t *doc = document(), *f = json_array_get(json_object_get(doc, "failures"), 0);
	assert_int_equal(json_array_size(json_object_get(doc, "traces")), 1);
	assert_string_equal(text(f, "file"), "cut.json");
	assert_string_equal(text(f, "outcome"), "failed");
	assert_true(num(f, "offset") > 0);
	json_decref(doc);
	/* no segment of it is left */
	assert_int_equal(access(scratch(left, "t/1.seg"), F_OK), -1);
}

static void bad_input_and_bad_options_give_status_2(void **state)
{
	char file[4096], out[4096];

	(void)state;
	put_file("page.html", "<html></html>", 13);
	put_file("empty", "", 0);
	assert_int_equal(RUN(scratch(file, "page.html"), "--out", scratch(out, "x")), 2);
	assert_int_equal(RUN(scratch(file, "empty"), "--out", scratch(out, "x")), 2);
	assert_int_equal(RUN(scratch(file, "not there"), "--out", scratch(out, "x")), 2);
	assert_int_equal(RUN(scratch(file, "empty")), 2);
	assert_int_equal(RUN(scratch(file, "empty"), "--out", scratch(out, "x"), "--steps", "last"),
			 2);
	assert_int_equal(RUN(scratch(file, "empty"), "--out", scratch(out, "x"), "--rank", "-1"),
			 2);
	assert_int_equal(RUN(scratch(file, "empty"), "--out", scratch(out, "x"), "--frobnicate"),
			 2);
	assert_int_equal(RUN("--version"), 0);
	assert_int_equal(RUN("--help"), 0);
}

static int setup(void **state)
{
	(void)state;
	test_tmpdir(dir, sizeof(dir));
	return 0;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int teardown(void **state)
{
	(void)state;
	return nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* The sandbox allows no open(): SQLite reads the descriptor that is there, or a copy in memory. */
static void a_database_is_read_in_the_sandbox_plain_and_packed(void **state)
{
	char file[4096], out[4096], input[4096], *p = NULL;
	struct fsc_err err = FSC_ERR_INIT;
	size_t n = 0;

	(void)state;
	test_src(input, sizeof(input), "tests/golden/nsys/input.sqlite");
	for (int packed = 0; packed < 2; packed++) {
		if (packed) {
			gzFile gz = gzopen(scratch(file, "x.sqlite.gz"), "wb");

			assert_non_null(gz);
			assert_int_equal(fsc_fs_read_file(&p, &n, input, 1 << 20, &err), FSC_OK);
			assert_int_equal(gzwrite(gz, p, (unsigned)n), n);
			assert_int_equal(gzclose(gz), Z_OK);
			fsc_free(p);
		}
		assert_int_equal(RUN(packed ? file : input, "--out", scratch(out, "nsys"),
				     "--summary"),
				 0);
		json_t *doc = document(), *t = json_array_get(json_object_get(doc, "traces"), 0);
		assert_string_equal(text(t, "format"), "nsys");
		assert_string_equal(text(t, "host"), "node-9");
		assert_int_equal(num(json_object_get(t, "launch"), "pairs"), 3);
		json_decref(doc);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sound_file_gives_a_segment_and_a_document),
		cmocka_unit_test(a_database_is_read_in_the_sandbox_plain_and_packed),
		cmocka_unit_test(steps_choose_what_the_analysis_covers),
		cmocka_unit_test(a_failed_member_shows_in_status_and_document),
		cmocka_unit_test(bad_input_and_bad_options_give_status_2),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
