/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hostile JSON through the real program in its sandbox: an error or a repair that is counted, in at most 1 s of CPU per
 * 100 MB, within the memory that is meant for it. A line per input says what it took.
 */
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/limits.h"
#include "tests/unit/indexer/run_program.h"

/* Plain builds of tests run without optimisation to speak of; the release build takes a third. */
#define NS_PER_BYTE 10
/* A small input still starts a process, its libraries and its sandbox. */
#define START_NS 200000000LL

struct sink {
	int fd;
	struct fsc_buf buf;
};

static void put(struct sink *s, const char *text, size_t n)
{
	fsc_buf_add(&s->buf, text, n);
	if (s->buf.len < (1u << 20))
		return;
	if (write(s->fd, s->buf.data, s->buf.len) != (ssize_t)s->buf.len)
		_exit(1);
	fsc_buf_clear(&s->buf);
}

static void puts_(struct sink *s, const char *text)
{
	put(s, text, strlen(text));
}

#define EVENT(name, more) \
	"{\"ph\":\"X\",\"name\":\"" name "\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1" more "}"

static void deep_arrays(struct sink *s)
{
	for (int i = 0; i < 1000000; i++)
		put(s, "[", 1);
}

static void deep_objects(struct sink *s)
{
	for (int i = 0; i < 1000000; i++)
		put(s, "{\"a\":", 5);
}

static void deep_args(struct sink *s)
{
	puts_(s, "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1,\"args\":");
	for (int i = 0; i < 1000000; i++)
		put(s, "{\"a\":", 5);
}

static void long_name(struct sink *s)
{
	puts_(s, "[" EVENT("first", "") ",{\"ph\":\"X\",\"ts\":2,\"dur\":1,\"name\":\"");
	for (int i = 0; i < 20000000 / 16; i++)
		put(s, "0123456789abcdef", 16);
	puts_(s, "\"}]");
}

static void long_key(struct sink *s)
{
	puts_(s, "{\"");
	for (int i = 0; i < 20000000 / 16; i++)
		put(s, "0123456789abcdef", 16);
	puts_(s, "\":1,\"traceEvents\":[" EVENT("a", "") "]}");
}

static void no_numbers(struct sink *s)
{
	static const char *const bad[] = { "NaN", "Infinity", "-Infinity", "nan", "inf" };

	puts_(s, "[" EVENT("first", ""));
	for (int i = 0; i < 300000; i++) {
		puts_(s, ",{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":2,\"dur\":1,"
			 "\"args\":{\"x\":");
		puts_(s, bad[i % 5]);
		puts_(s, "}}");
	}
	puts_(s, "]");
}

static void times_that_are_no_numbers(struct sink *s)
{
	puts_(s, "[" EVENT("first", ""));
	for (int i = 0; i < 300000; i++)
		puts_(s, i % 2 ? ",{\"ph\":\"X\",\"name\":\"a\",\"ts\":NaN,\"dur\":1}"
			       : ",{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":Infinity}");
	puts_(s, "]");
}

static void lone_surrogates(struct sink *s)
{
	puts_(s, "[" EVENT("first", ""));
	for (int i = 0; i < 300000; i++)
		puts_(s, i % 2 ? "," EVENT("\\ud800", "") : "," EVENT("\\udfff\\ud83d\\u0041", ""));
	puts_(s, "]");
}

static void bad_utf8(struct sink *s)
{
	puts_(s, "[" EVENT("first", ""));
	for (int i = 0; i < 300000; i++)
		puts_(s, "," EVENT("\xC0\xAF\xED\xA0\x80\xF5\xFF", ""));
	puts_(s, "]");
}

static void many_names(struct sink *s)
{
	char text[120];

	puts_(s, "[" EVENT("first", ""));
	for (int i = 0; i < 10000000; i++) {
		int n = snprintf(text, sizeof(text),
				 ",{\"ph\":\"X\",\"name\":\"n%d\",\"ts\":%d,\"dur\":1}", i, i);
		put(s, text, (size_t)n);
	}
	puts_(s, "]");
}

static void many_tracks(struct sink *s)
{
	char text[120];

	puts_(s, "[" EVENT("first", ""));
	for (int i = 0; i < 2000000; i++) {
		int n = snprintf(
			text, sizeof(text),
			",{\"ph\":\"X\",\"name\":\"n\",\"pid\":%d,\"tid\":%d,\"ts\":1,\"dur\":1}",
			i / 1000, i);
		put(s, text, (size_t)n);
	}
	puts_(s, "]");
}

static const struct {
	const char *name;
	void (*make)(struct sink *s);
	const char *code; /* of the failure, or the counter of the trace */
	int max_mib;
} inputs[] = {
	{ "10^6 nested arrays", deep_arrays, "json_too_deep", 64 },
	{ "10^6 nested objects", deep_objects, "json_too_deep", 64 },
	{ "10^6 nested objects in args", deep_args, "json_too_deep", 64 },
	{ "a name of 20 MB", long_name, "event_too_big", 64 },
	{ "a key of 20 MB", long_key, "", 64 },
	{ "300,000 times NaN, Infinity ...", no_numbers, "number_not_finite", 64 },
	{ "300,000 times that are NaN or Infinity", times_that_are_no_numbers, "event_without_ts",
	  64 },
	{ "300,000 lone surrogates", lone_surrogates, "surrogate_lone", 64 },
	{ "300,000 names of bad UTF-8", bad_utf8, "utf8_repaired", 64 },
	{ "10^7 distinct names", many_names, "too_many_names", 1024 },
	{ "2 * 10^6 tracks", many_tracks, "", 1024 },
};

/* In a file: the memory of this process counts for the one that it starts. */
static int file_of(void (*make)(struct sink *), int64_t *size)
{
	char name[] = "/tmp/fsc-hostile-XXXXXX";
	struct sink s = { .fd = mkstemp(name) };
	struct stat st;
	int status = -1;

	assert_true(s.fd >= 0);
	unlink(name);
	pid_t pid = fork();
	if (pid == 0) {
		fsc_buf_init(&s.buf, SIZE_MAX);
		make(&s);
		_exit(write(s.fd, s.buf.data, s.buf.len) == (ssize_t)s.buf.len ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(fstat(s.fd, &st), 0);
	assert_int_equal(lseek(s.fd, 0, SEEK_SET), 0);
	*size = st.st_size;
	return s.fd;
}

/* Is code the failure, or a counter of the trace? */
static bool is_told(const struct told *d, const char *code)
{
	for (size_t i = 0; i < d->members.n; i++)
		if (!strcmp(d->members.v[i].code, code))
			return true;
	for (size_t i = 0; d->traces.n && i < d->traces.v[0].losses.n; i++)
		if (!strcmp(d->traces.v[0].losses.v[i].code, code))
			return true;
	return !code[0] && (d->traces.n || d->members.n);
}

static void hostile_json_costs_little_and_is_told(void **state)
{
	unsigned failed = 0;

	(void)state;
	print_message("%-40s %11s  %-20s %8s %9s\n", "input", "bytes", "told as", "CPU", "memory");
	for (size_t i = 0; i < FSC_ARRAY_LEN(inputs); i++) {
		struct fsc_indexer_job job = FSC_INDEXER_JOB_INIT;
		struct told d;
		int64_t size = 0;
		int fd = file_of(inputs[i].make, &size);
		job.name = "hostile.json";
		job.max_wall_s = 120;
		told_run(&d, job, fd);
		close(fd);
		const char *code = d.members.n ? d.members.v[0].code : inputs[i].code;
		bool good = d.st == FSC_OK && is_told(&d, inputs[i].code) &&
			    d.res.cpu_ns <= START_NS + size * NS_PER_BYTE &&
			    d.res.maxrss_bytes <= (int64_t)inputs[i].max_mib << 20;
		print_message("%-40s %11lld  %-20s %6.2f s %5lld MiB%s\n", inputs[i].name,
			      (long long)size, d.st == FSC_OK ? code : d.err.code,
			      (double)d.res.cpu_ns / 1e9, (long long)(d.res.maxrss_bytes >> 20),
			      good ? "" : "  <-- not as it should be");
		failed += !good;
		told_fini(&d);
	}
	assert_int_equal(failed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hostile_json_costs_little_and_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
