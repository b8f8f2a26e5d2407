/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every benchmark uses. A result is one line `name value unit ratio baseline`; ratio is value against the
 * baseline measured in the same run ("-" without one). CPU means user + system seconds, median of BENCH_RUNS.
 */
#ifndef FSC_TESTS_BENCH_BENCH_H
#define FSC_TESTS_BENCH_BENCH_H

#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BENCH_RUNS 5

extern char **environ;

static inline _Noreturn void bench_die(const char *what)
{
	fprintf(stderr, "bench: %s: %m\n", what);
	exit(1);
}

static inline int bench_by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static inline double bench_median(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), bench_by_value);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* CPU seconds of this thread. */
static inline double bench_cpu_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static inline double bench_seconds(struct timeval tv)
{
	return (double)tv.tv_sec + (double)tv.tv_usec / 1e6;
}

/* One run of a program with its output thrown away: CPU seconds, and the peak of its memory in *rss. */
static inline double bench_spawn(const char *const argv[], uint64_t *rss)
{
	posix_spawn_file_actions_t fa;
	struct rusage ru;
	pid_t pid;
	int status = 0;

	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, 1, "/dev/null", O_WRONLY, 0);
	if (posix_spawnp(&pid, argv[0], &fa, NULL, (char *const *)(uintptr_t)argv, environ))
		bench_die(argv[0]);
	posix_spawn_file_actions_destroy(&fa);
	if (wait4(pid, &status, 0, &ru) != pid)
		bench_die("wait4");
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		fprintf(stderr, "bench: %s ended with status 0x%x\n", argv[0], (unsigned)status);
		exit(1);
	}
	if (rss)
		*rss = (uint64_t)ru.ru_maxrss * 1024;
	return bench_seconds(ru.ru_utime) + bench_seconds(ru.ru_stime);
}

static inline double bench_spawn_median(const char *const argv[], uint64_t *rss)
{
	double v[BENCH_RUNS];

	for (size_t i = 0; i < BENCH_RUNS; i++)
		v[i] = bench_spawn(argv, rss);
	return bench_median(v, BENCH_RUNS);
}

/* baseline <= 0: none. */
static inline void bench_report(const char *name, double value, const char *unit, double baseline,
				const char *baseline_name)
{
	if (baseline > 0)
		printf("%s %.6g %s %.4g %s\n", name, value, unit, value / baseline, baseline_name);
	else
		printf("%s %.6g %s - -\n", name, value, unit);
	fflush(stdout);
}

#endif
