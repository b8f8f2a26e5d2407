/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading alone (tokenizer, model with args, ordering; no segment) of the reference file, as .json and as
 * .json.gz, beside `gzip -dc` of it: MB of JSON per CPU second, and peak memory per event. Each run is a process
 * of its own, so that memory and start-up count.
 */
#include "base/source.h"
#include "formats/reader.h"
#include "model/trace.h"
#include "tests/bench/bench.h"

#define REFERENCE "gpu-traces/hta/df_index_resolver/df_index_resolver.json.gz"

static enum fsc_status count_events(void *ctx, struct fsc_trace *t, struct fsc_err *err)
{
	(void)err;
	*(uint64_t *)ctx += t->n_events;
	fsc_trace_free(t);
	return FSC_OK;
}

/* Reads the file once; events and JSON bytes of it. */
static void read_once(const char *path, uint64_t *events, uint64_t *bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct fsc_reader_sink sink = { .ctx = events, .trace = count_events };
	struct fsc_err err = FSC_ERR_INIT;
	const uint8_t *head;
	size_t n;

	if (fd < 0)
		bench_die(path);
	struct fsc_source *src = fsc_source_auto(fsc_source_fd(fd));
	const struct fsc_reader *r = NULL;
	if (fsc_source_peek(src, &head, &n, &err) == FSC_OK)
		r = fsc_reader_pick(head, n, &err);
	if (!r || r->read(src, &sink, &err) != FSC_OK) {
		fprintf(stderr, "bench_parse: %s: %s\n", path, err.msg);
		exit(1);
	}
	*bytes = src->consumed;
	fsc_source_free(src);
	close(fd);
}

/* CPU seconds of a process that reads the file, median; its peak memory in *rss. */
static double read_cpu(const char *path, uint64_t *rss)
{
	double v[BENCH_RUNS];

	for (size_t i = 0; i < BENCH_RUNS; i++) {
		struct rusage ru;
		int status;
		fflush(stdout);
		pid_t pid = fork();
		if (pid < 0)
			bench_die("fork");
		if (pid == 0) {
			uint64_t events = 0, bytes;
			read_once(path, &events, &bytes);
			_exit(0);
		}
		if (wait4(pid, &status, 0, &ru) != pid || status)
			bench_die("child");
		v[i] = bench_seconds(ru.ru_utime) + bench_seconds(ru.ru_stime);
		*rss = (uint64_t)ru.ru_maxrss * 1024;
	}
	return bench_median(v, BENCH_RUNS);
}

/* The JSON of the file in a temporary one, open for nobody else. */
static void inflate(const char *path, char *out, size_t cap)
{
	static char buf[1 << 18];
	const char *tmp = getenv("TMPDIR");
	struct fsc_err err = FSC_ERR_INIT;
	size_t n;

	snprintf(out, cap, "%s/fsc-bench-XXXXXX", tmp && tmp[0] ? tmp : "/tmp");
	int to = mkstemp(out), fd = open(path, O_RDONLY | O_CLOEXEC);
	if (to < 0 || fd < 0)
		bench_die(out);
	struct fsc_source *src = fsc_source_auto(fsc_source_fd(fd));
	while (fsc_source_read(src, buf, sizeof(buf), &n, &err) == FSC_OK)
		if (write(to, buf, n) != (ssize_t)n)
			bench_die(out);
	fsc_source_free(src);
	close(fd);
	close(to);
}

int main(void)
{
	const char *data = getenv("FLEETSCOPE_TESTDATA");
	char path[4096], raw[4096];
	uint64_t events = 0, bytes, rss;

	snprintf(path, sizeof(path), "%s/%s", data ? data : "", REFERENCE);
	if (!data || access(path, R_OK)) {
		fprintf(stderr, "bench_parse: skipped, no test data\n");
		return 0;
	}
	const char *const unzip[] = { "gzip", "-dc", path, NULL };
	inflate(path, raw, sizeof(raw));
	read_once(raw, &events, &bytes);
	double mb = (double)bytes / 1e6, base = bench_spawn_median(unzip, NULL);
	double cpu = read_cpu(raw, &rss);
	unlink(raw);
	bench_report("parse_rate_json", mb / cpu, "MB/cpu_s", 400, "target_400");
	bench_report("parse_cpu_json", cpu, "s", base, "gzip_-dc");
	bench_report("parse_memory_json", (double)rss / 1048576, "MiB",
		     64 + 96.0 * (double)events / 1048576, "64MiB+96B_per_event");
	cpu = read_cpu(path, &rss);
	bench_report("parse_rate_gz", mb / cpu, "MB/cpu_s", 300, "target_300");
	bench_report("parse_cpu_gz", cpu, "s", base, "gzip_-dc");
	return 0;
}
