/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole indexer on the reference file, and on the same file repeated with shifted times, beside `gzip -dc`
 * of the same bytes: CPU, and peak memory against the budget of 64 MiB + 96 B per event.
 * Without the test data the synthetic capture of fleetscope-demo would be another file, so nothing is measured.
 */
#include <errno.h>
#include <sys/stat.h>

#include "tests/bench/bench.h"

#define REFERENCE "gpu-traces/hta/df_index_resolver/df_index_resolver.json.gz"
#define COPIES 8

struct text {
	char *p;
	size_t n;
};

static const char *build_dir(void)
{
	const char *b = getenv("FSC_BUILD");

	return b && b[0] ? b : "build/release";
}

static struct text read_gz(const char *path)
{
	struct text t = { malloc(1u << 30), 0 };
	int fd[2];
	pid_t pid;

	if (!t.p || pipe(fd))
		bench_die("memory");
	const char *const argv[] = { "gzip", "-dc", path, NULL };
	posix_spawn_file_actions_t fa;
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_adddup2(&fa, fd[1], 1);
	posix_spawn_file_actions_addclose(&fa, fd[0]);
	if (posix_spawnp(&pid, "gzip", &fa, NULL, (char *const *)(uintptr_t)argv, environ))
		bench_die("gzip");
	posix_spawn_file_actions_destroy(&fa);
	close(fd[1]);
	for (ssize_t r; (r = read(fd[0], t.p + t.n, (1u << 30) - 1 - t.n)) > 0;)
		t.n += (size_t)r;
	close(fd[0]);
	waitpid(pid, NULL, 0);
	t.p[t.n] = 0;
	return t;
}

/* The integer part of each "ts" is moved by shift; everything else is copied. */
static void put_shifted(FILE *f, const char *p, const char *end, long long shift)
{
	while (p < end) {
		const char *ts = memmem(p, (size_t)(end - p), "\"ts\":", 5);

		if (!ts) {
			fwrite(p, 1, (size_t)(end - p), f);
			return;
		}
		ts += 5;
		while (*ts == ' ' || *ts == '"')
			ts++;
		fwrite(p, 1, (size_t)(ts - p), f);
		char *rest;
		long long v = strtoll(ts, &rest, 10);
		fprintf(f, "%lld", v + shift);
		p = rest;
	}
}

/* Writes the trace with its events `copies` times, a second apart and more; returns the number of events. */
static uint64_t expand(const struct text *t, const char *out, unsigned copies)
{
	const char *key = strstr(t->p, "\"traceEvents\"");
	const char *first = key ? strchr(key, '[') : NULL;
	const char *last = NULL;
	uint64_t events = 0;
	FILE *f = fopen(out, "w");

	for (const char *p = first; p; p = strstr(p + 1, "\"ph\""))
		events++;
	/* The last bracket closes the array of events, unless more keys follow it: then the one before them. */
	for (const char *p = t->p + t->n; first && p > first && !last; p--)
		if (*p == ']' && p[-1] != '[')
			last = p;
	if (!f || !first || !last)
		bench_die(out);
	fwrite(t->p, 1, (size_t)(first + 1 - t->p), f);
	for (unsigned i = 0; i < copies; i++) {
		if (i)
			fputc(',', f);
		put_shifted(f, first + 1, last, (long long)i * 3600000000LL);
	}
	fwrite(last, 1, (size_t)(t->p + t->n - last), f);
	if (fclose(f))
		bench_die(out);
	return (events - 1) * copies;
}

static void measure(const char *label, const char *file, uint64_t events, uint64_t raw_bytes)
{
	char indexer[4096], out[4096], name[256];
	const char *const unzip[] = { "gzip", "-dc", file, NULL };
	uint64_t rss = 0;

	snprintf(indexer, sizeof(indexer), "%s/fleetscope-indexer", build_dir());
	snprintf(out, sizeof(out), "%s/bench-out", build_dir());
	const char *const index[] = { indexer, file, "--out", out, NULL };
	double base = bench_spawn_median(unzip, NULL);
	double cpu = bench_spawn_median(index, &rss);
	snprintf(name, sizeof(name), "index_cpu_%s", label);
	bench_report(name, cpu, "s", base, "gzip_-dc");
	snprintf(name, sizeof(name), "index_rate_%s", label);
	bench_report(name, (double)raw_bytes / 1e6 / cpu, "MB/cpu_s", 0, NULL);
	snprintf(name, sizeof(name), "index_memory_%s", label);
	bench_report(name, (double)rss / 1048576, "MiB", 64 + 96.0 * (double)events / 1048576,
		     "64MiB+96B_per_event");
}

int main(void)
{
	const char *data = getenv("FLEETSCOPE_TESTDATA");
	char big[4096], path[sizeof(big) + 8], out[4096];

	snprintf(path, sizeof(path), "%s/%s", data ? data : "", REFERENCE);
	if (!data || access(path, R_OK)) {
		fprintf(stderr, "bench_index: skipped, no test data\n");
		return 0;
	}
	snprintf(out, sizeof(out), "%s/bench-out", build_dir());
	if (mkdir(out, 0777) && errno != EEXIST)
		bench_die(out);
	struct text t = read_gz(path);
	snprintf(big, sizeof(big), "%s/bench-big.json", build_dir());
	uint64_t events = expand(&t, big, 1);
	measure("x1", path, events, t.n);
	events = expand(&t, big, COPIES);
	const char *const zip[] = { "gzip", "-kf6", big, NULL };
	bench_spawn(zip, NULL);
	snprintf(path, sizeof(path), "%s.gz", big);
	measure("x8", path, events, t.n * COPIES);
	unlink(big);
	unlink(path);
	free(t.p);
	return 0;
}
