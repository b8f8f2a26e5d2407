/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions of the JSON tokenizer on a made file that is always the same, counted by callgrind, beside the
 * count at commit df77604 (gcc 12, -O2, x86-64): exact where times are not. Without valgrind it is left out
 * (scripts/install-deps.sh valgrind). Run with the argument "read" it is what callgrind looks at.
 *
 * tokenizer_instructions: refilling the window, scanning events into fields, resolving texts.
 * read_instructions: all of reading up to the point where the trace is put in order.
 */
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "formats/chrome.h"
#include "model/trace.h"
#include "tests/bench/bench.h"

#define EVENTS 60000
/* Both counts at df77604 for the file that make() gives. */
#define TOKENIZER_AT_DF77604 171.902e6
#define READ_AT_DF77604 331.56e6

/* The mix of a PyTorch trace: operators, calls, kernels with launch fields, arrows, Python frames. */
static void add_event(struct fsc_buf *b, int i)
{
	long long ts = 1694128201549000LL + 7LL * i;
	int k = i % 10;

	if (k < 4)
		fsc_buf_addf(b,
			     "  {\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": "
			     "\"aten::op_%d\", \"pid\": 4711, "
			     "\"tid\": 4711,\n    \"ts\": %lld.%03d, \"dur\": %d.250,\n    "
			     "\"args\": {\n      "
			     "\"External id\": %d,\"Record function id\": 0, \"Concrete Inputs\": "
			     "[\"\", \"[%d, "
			     "64]\"], \"Ev Idx\": %d\n    }\n  }",
			     i % 97, ts, i % 1000, i % 50, i, i % 512, i);
	else if (k < 6)
		fsc_buf_addf(b,
			     "  {\n    \"ph\": \"X\", \"cat\": \"python_function\", \"name\": "
			     "\"torch/nn/modules/module_%d.py(%d): _call_impl\", \"pid\": 4711, "
			     "\"tid\": 4711,\n    "
			     "\"ts\": %lld.%03d, \"dur\": %d.125,\n    \"args\": {\n      \"Python "
			     "id\": %d, \"Python "
			     "parent id\": %d\n    }\n  }",
			     i % 211, i % 1900, ts, i % 1000, i % 90, i, i / 2);
	else if (k < 8)
		fsc_buf_addf(b,
			     "  {\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void "
			     "at::native::vectorized_elementwise_kernel<4, f<%d>>(int, char*)\", "
			     "\"pid\": 0, \"tid\": "
			     "7,\n    \"ts\": %lld.%03d, \"dur\": 4.032,\n    \"args\": {\n      "
			     "\"queued\": 0, "
			     "\"device\": 0, \"context\": 1,\n      \"stream\": 7, "
			     "\"correlation\": %d,\n      "
			     "\"registers per thread\": 32,\n      \"shared memory\": 0,\n      "
			     "\"blocks per SM\": "
			     "2.370370,\n      \"grid\": [%d, 1, 1],\n      \"block\": [128, 1, "
			     "1],\n      \"est. "
			     "achieved occupancy %%\": 52\n    }\n  }",
			     i % 61, ts, i % 1000, i, i % 4096);
	else
		fsc_buf_addf(b,
			     "  {\n    \"ph\": \"%s\", \"id\": %d, \"pid\": %d, \"tid\": %d, "
			     "\"ts\": %lld.%03d,\n    "
			     "\"cat\": \"ac2g\", \"name\": \"ac2g\"%s\n  }",
			     k == 8 ? "s" : "f", i / 10, k == 8 ? 4711 : 0, k == 8 ? 4711 : 7, ts,
			     i % 1000, k == 8 ? "" : ", \"bp\": \"e\"");
}

static enum fsc_status drop_trace(void *ctx, struct fsc_trace *t, struct fsc_err *err)
{
	(void)ctx;
	(void)err;
	fsc_trace_free(t);
	return FSC_OK;
}

static int read_made_file(void)
{
	struct fsc_chrome_options opt = { .window = 0 };
	struct fsc_reader_sink sink = { .trace = drop_trace };
	struct fsc_buf b = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_err err = FSC_ERR_INIT;

	fsc_buf_adds(&b, "{\n  \"schemaVersion\": 1,\n  \"traceEvents\": [\n");
	for (int i = 0; i < EVENTS; i++) {
		add_event(&b, i);
		fsc_buf_adds(&b, i + 1 < EVENTS ? ",\n" : "\n");
	}
	fsc_buf_adds(&b, "  ],\n  \"traceName\": \"made.json\"\n}\n");
	struct fsc_source *src = fsc_source_mem(b.data, b.len);
	if (fsc_chrome_read_with(src, &sink, &opt, &err) != FSC_OK) {
		fprintf(stderr, "bench_instructions: %s\n", err.msg);
		return 1;
	}
	fsc_source_free(src);
	fsc_buf_fini(&b);
	return 0;
}

/* What the program says on both of its outputs. Its exit status, -1 when it could not be started. */
static int run_program(const char *const argv[], char *said, size_t cap)
{
	posix_spawn_file_actions_t fa;
	size_t n = 0;
	ssize_t got;
	pid_t pid;
	int fd[2], rc, status = -1;

	if (pipe(fd))
		bench_die("pipe");
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_adddup2(&fa, fd[1], 1);
	posix_spawn_file_actions_adddup2(&fa, fd[1], 2);
	posix_spawn_file_actions_addclose(&fa, fd[0]);
	rc = posix_spawnp(&pid, argv[0], &fa, NULL, (char *const *)(uintptr_t)argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	close(fd[1]);
	while (!rc && n + 1 < cap && (got = read(fd[0], said + n, cap - n - 1)) > 0)
		n += (size_t)got;
	said[n] = '\0';
	close(fd[0]);
	return !rc && waitpid(pid, &status, 0) == pid ? status : -1;
}

/* Instructions between the functions that switch the count on and off; 0 when valgrind does not run. */
static double count(const char *self, const char *const toggles[])
{
	char options[8][64], said[65536];
	const char *argv[16] = { "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null" };
	const char *c;
	int n = 3;

	for (int i = 0; toggles[i] && i < 8; i++) {
		snprintf(options[i], sizeof(options[i]), "--toggle-collect=%s", toggles[i]);
		argv[n++] = options[i];
	}
	argv[n++] = self;
	argv[n++] = "read";
	if (run_program(argv, said, sizeof(said)) != 0)
		return 0;
	c = strstr(said, "Collected :");
	return c ? strtod(c + 11, NULL) : 0;
}

int main(int argc, char **argv)
{
	static const char *const tokenizer[] = { "fsc_chrome_scan_event", "fsc_jt_fill",
						 "fsc_jt_text", NULL };
	static const char *const reading[] = { "fsc_chrome_read_with", "fsc_build_finish", NULL };

	if (argc == 2 && !strcmp(argv[1], "read"))
		return read_made_file();
	double n = count(argv[0], tokenizer);
	if (n <= 0) {
		fprintf(stderr, "bench_instructions: skipped, no valgrind\n");
		return 0;
	}
	bench_report("tokenizer_instructions", n, "instructions", TOKENIZER_AT_DF77604, "df77604");
	bench_report("read_instructions", count(argv[0], reading), "instructions", READ_AT_DF77604,
		     "df77604");
	return 0;
}
