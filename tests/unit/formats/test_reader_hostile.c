/* SPDX-License-Identifier: Apache-2.0 */
/* Bad input to the JSON reader: each ends with a code and an offset; and cuts never crash or half-accept. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/limits.h"
#include "tests/support/read_trace.h"

/* ---- a source that makes its bytes: head, then n times body, then tail ---- */
struct made_source {
	struct fsc_source base;
	const char *part[3];
	uint64_t times[3];
	size_t at;
	int k;
};

static enum fsc_status made_read(struct fsc_source *s, void *buf, size_t cap, size_t *n,
				 struct fsc_err *err)
{
	struct made_source *m = (struct made_source *)s;
	char *w = buf;

	(void)err;
	*n = 0;
	while (*n < cap && m->k < 3) {
		if (!m->times[m->k] || !m->part[m->k][0]) {
			m->k++;
			continue;
		}
		size_t len = strlen(m->part[m->k]), take = len - m->at;
		if (take > cap - *n)
			take = cap - *n;
		memcpy(w + *n, m->part[m->k] + m->at, take);
		*n += take;
		m->at += take;
		if (m->at == len) {
			m->at = 0;
			m->times[m->k]--;
		}
	}
	return *n ? FSC_OK : FSC_END;
}

static void made_free(struct fsc_source *s)
{
	fsc_free(s);
}

static struct fsc_source *made(const char *head, const char *body, uint64_t times, const char *tail)
{
	static const struct fsc_source_ops ops = { .name = "made",
						   .read = made_read,
						   .free = made_free };
	struct made_source *m = fsc_xalloc(1, sizeof(*m));

	m->base.ops = &ops;
	m->part[0] = head;
	m->part[1] = body;
	m->part[2] = tail;
	m->times[0] = m->times[2] = 1;
	m->times[1] = times;
	return &m->base;
}

static void refused(struct fsc_source *src, enum fsc_status st, const char *code, int64_t offset)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_trace *t = read_trace_source(src, &err);

	assert_null(t);
	if (strcmp(err.code, code) != 0 || err.status != st ||
	    (offset >= 0 && err.offset != offset))
		fail_msg("got %s (%d) at %lld, expected %s (%d) at %lld: %s", err.code, err.status,
			 (long long)err.offset, code, st, (long long)offset, err.msg);
}

#define EV "{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1}"
#define EV_LEN ((int64_t)sizeof(EV) - 1)

static void what_is_no_timeline_is_named(void **state)
{
	static const struct {
		const char *text, *code;
		enum fsc_status st;
		int64_t offset;
	} all[] = {
		{ "", "empty_file", FSC_EUNSUPPORTED, 0 },
		{ " \n\t ", "empty_file", FSC_EUNSUPPORTED, 4 },
		{ "<!DOCTYPE html><html>", "html", FSC_EUNSUPPORTED, 0 },
		{ "\n<?xml version=\"1.0\"?>", "html", FSC_EUNSUPPORTED, 1 },
		{ "\x7F"
		  "ELF\2\1\1",
		  "unknown_format", FSC_EUNSUPPORTED, 0 },
		{ "\x93\xE1\x07\x55\xAA random", "unknown_format", FSC_EUNSUPPORTED, 0 },
		{ "hello", "unknown_format", FSC_EUNSUPPORTED, 0 },
		{ "[]", "not_a_timeline", FSC_EUNSUPPORTED, -1 },
		{ "{}", "not_a_timeline", FSC_EUNSUPPORTED, -1 },
		{ "[1,2,3]", "not_a_timeline", FSC_EUNSUPPORTED, -1 },
		{ "{\"traceEvents\":[]}", "not_a_timeline", FSC_EUNSUPPORTED, -1 },
		{ "{\"traceEvents\":null}", "not_a_timeline", FSC_EUNSUPPORTED, -1 },
		{ "{\"schema\":\"1\",\"nodes\":[]}", "not_a_timeline", FSC_EUNSUPPORTED, -1 },
		{ "[{\"a\":1}]", "not_a_timeline", FSC_EUNSUPPORTED, -1 },
		{ "{\"traceEvents\":[" EV, "json_truncated", FSC_ECORRUPT, 16 + EV_LEN },
		{ "{\"traceEvents\":[" EV "]", "json_truncated", FSC_ECORRUPT, 17 + EV_LEN },
		{ "{\"traceEvents\":[" EV "],\"a\":", "json_truncated", FSC_ECORRUPT, 22 + EV_LEN },
		{ "[{\"ph\":\"X", "json_truncated", FSC_ECORRUPT, 9 },
		{ "[{ph:1}]", "json_syntax", FSC_EPARSE, 2 },
		{ "[{\"ph\" 1}]", "json_syntax", FSC_EPARSE, 7 },
		{ "[{\"ph\":\"X\" \"ts\":1}]", "json_syntax", FSC_EPARSE, 11 },
		{ "[{\"ph\":word}]", "json_syntax", FSC_EPARSE, 7 },
		{ "[{\"ph\":\"X\"]", "json_syntax", FSC_EPARSE, 10 },
		{ "{]", "json_syntax", FSC_EPARSE, 1 },
	};

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(all); i++)
		refused(fsc_source_mem(all[i].text, strlen(all[i].text)), all[i].st, all[i].code,
			all[i].offset);
	refused(fsc_source_mem("[\0]", 3), FSC_EPARSE, "json_syntax", 1);
}

static void a_gigabyte_of_brackets_fails_at_once(void **state)
{
	struct fsc_source *src = made("", "[", 1000000000, "");
	int64_t start = fsc_clock_cpu_ns();

	(void)state;
	refused(src, FSC_ELIMIT, "json_too_deep", FSC_MAX_JSON_DEPTH);
	refused(made("", "{\"a\":", 200000000, ""), FSC_ELIMIT, "json_too_deep", -1);
	refused(made("[{\"args\":", "[", 1000000000, ""), FSC_ELIMIT, "json_too_deep", -1);
	assert_true(fsc_clock_cpu_ns() - start < 1000000000);
}

static void a_value_larger_than_the_window_is_an_error_with_its_offset(void **state)
{
	(void)state;
	refused(made("[" EV ",{\"ph\":\"X\",\"name\":\"", "0123456789abcdef", 20 * FSC_MIB / 16,
		     "\"}]"),
		FSC_ELIMIT, "event_too_big", 2 + EV_LEN);
}

static void a_large_metadata_value_is_left_out_and_counted(void **state)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_trace *t;

	(void)state;
	t = read_trace_source(made("{\"stackFrames\":[", "\"\\\"]}[{,:\",", 2 * FSC_MIB,
				   "0],\"traceEvents\":[" EV "]}"),
			      &err);
	assert_non_null(t);
	assert_int_equal(t->slices.n, 1);
	assert_int_equal(loss_of(t, "meta_value_too_big"), 1);
	assert_string_equal(str_of(t, t->meta.json), "{}");
	fsc_trace_free(t);
	t = read_trace_source(made("{\"x\":\"", "0123456789abcdef", 2 * FSC_MIB / 16,
				   "\",\"traceEvents\":[" EV "]}"),
			      &err);
	assert_non_null(t);
	assert_int_equal(loss_of(t, "meta_value_too_big"), 1);
	fsc_trace_free(t);
}

static void args_larger_than_the_limit_are_left_out_and_counted(void **state)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_trace *t = read_trace_source(
		made("[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1,\"args\":{\"x\":\"",
		     "0123456789abcdef", 2 * FSC_MIB / 16, "\",\"correlation\":7}}]"),
		&err);

	(void)state;
	assert_non_null(t);
	assert_int_equal(loss_of(t, "args_too_big"), 1);
	assert_int_equal(t->slices.args[0], FSC_NO_ARGS);
	assert_int_equal(t->slices.correlation[0], 7);
	fsc_trace_free(t);
}

static void deep_stacks_keep_as_many_rows_as_the_limit(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_err err = FSC_ERR_INIT;

	(void)state;
	fsc_buf_addc(&b, '[');
	for (int i = 0; i < 1000; i++)
		fsc_buf_addf(&b, "%s{\"ph\":\"X\",\"ts\":%d,\"dur\":%d}", i ? "," : "", i,
			     5000 - 2 * i);
	fsc_buf_addc(&b, ']');
	struct fsc_trace *t = read_trace_text(b.data, b.len, &err);
	assert_non_null(t);
	assert_int_equal(t->slices.n, FSC_MAX_NEST);
	assert_int_equal(loss_of(t, "slice_too_deep"), 1000 - FSC_MAX_NEST);
	fsc_trace_free(t);
	fsc_buf_fini(&b);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
/* A file that is one array of n times the same event, its numbers counting up. */
static struct fsc_trace *repeated(const char *fmt, int n)
{
	struct fsc_buf b = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_err err = FSC_ERR_INIT;

	fsc_buf_adds(&b, "[" EV);
	for (int i = 0; i < n; i++)
		fsc_buf_addf(&b, fmt, i, i);
	fsc_buf_addc(&b, ']');
	struct fsc_trace *t = read_trace_text(b.data, b.len, &err);
	assert_non_null(t);
	fsc_buf_fini(&b);
	return t;
}

/* Shapes that cost the square of their size in a naive reader: 60,000 of them must take no time to speak of. */
static void made_up_shapes_cost_no_more_than_real_ones(void **state)
{
	static const char *const shapes[] = {
		/* begins that nothing ends, ends that nothing begins */
		",{\"ph\":\"B\",\"name\":\"b\",\"ts\":%d},{\"ph\":\"E\",\"name\":\"e\",\"ts\":%d}",
		/* one flow with all its ends, latest first */
		",{\"ph\":\"f\",\"bp\":\"e\",\"id\":1,\"pid\":1,\"tid\":1,\"ts\":-%d,\"args\":{"
		"\"k\":%d}}",
		/* flow ends that look for the next slice among instants */
		",{\"ph\":\"f\",\"id\":1,\"pid\":1,\"tid\":1,\"ts\":0},{\"ph\":\"i\",\"pid\":1,"
		"\"tid\":1,\"ts\":%d,"
		"\"args\":{\"k\":%d}}",
		/* a device for every instant */
		",{\"ph\":\"i\",\"name\":\"[memory]\",\"ts\":%d,\"args\":{\"Device "
		"Type\":1,\"Device Id\":%d,"
		"\"Total Allocated\":1}}",
		/* slices that all overlap the next */
		",{\"ph\":\"X\",\"ts\":%d,\"dur\":300,\"args\":{\"k\":%d}}",
		/* latest first */
		",{\"ph\":\"X\",\"ts\":-%d,\"dur\":1,\"args\":{\"k\":%d}}",
	};

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(shapes); i++) {
		int64_t start = fsc_clock_cpu_ns();
		fsc_trace_free(repeated(shapes[i], 60000));
		if (fsc_clock_cpu_ns() - start > 5000000000)
			fail_msg("shape %zu takes %lld ms", i,
				 (long long)(fsc_clock_cpu_ns() - start) / 1000000);
	}
}
#pragma GCC diagnostic pop

/* A small window: thousands of readers with the usual one would only measure the allocator. */
static struct fsc_trace *read_cut(const char *text, size_t n, struct fsc_err *err)
{
	static const struct fsc_chrome_options small = { .window = 4096 };
	struct fsc_trace *t = NULL;
	struct fsc_reader_sink sink = { .ctx = &t, .trace = read_trace_got };
	struct fsc_source *src = fsc_source_mem(text, n);
	enum fsc_status st = fsc_chrome_read_with(src, &sink, &small, err);

	fsc_source_free(src);
	assert_true((st == FSC_OK) == (t != NULL));
	if (t)
		assert_valid(t);
	return t;
}

static const char sample[] =
	"{ \"schemaVersion\": 1, \"distributedInfo\": {\"rank\": 0},\n \"traceEvents\": [\n"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::\\u00e9 "
	"\xC3\xA9\",\"pid\":1,\"tid\":2,\"ts\":10.125,\"dur\":5,"
	"\"args\":{\"External id\": 1, \"Input Dims\": [[1, 2], []], \"s\": \"a\\\"b\", \"n\": "
	"null, \"t\": true}},\n"
	"{\"ph\":\"B\",\"name\":\"b\",\"pid\":1,\"tid\":2,\"ts\":20,\"args\":{}},{\"ph\":\"E\","
	"\"pid\":1,\"tid\":2,\"ts\":30},\n"
	"{\"ph\":\"i\",\"name\":\"[memory]\",\"pid\":1,\"tid\":2,\"ts\":22,\"args\":{\"Device "
	"Type\":0,\"Total Allocated\":5}},\n"
	"{\"ph\":\"b\",\"cat\":\"a\",\"id\":\"0x5\",\"name\":\"as\",\"pid\":1,\"ts\":1},{\"ph\":"
	"\"e\",\"cat\":\"a\",\"id\":\"0x5\",\"name\":\"as\",\"pid\":1,\"ts\":3},\n"
	"{\"ph\":\"C\",\"name\":\"c\",\"pid\":1,\"ts\":1,\"args\":{\"v\":1.5e3}},\n"
	"{\"ph\":\"s\",\"id\":1,\"cat\":\"f\",\"name\":\"f\",\"pid\":1,\"tid\":2,\"ts\":11},"
	"{\"ph\":\"f\",\"bp\":\"e\",\"id\":1,\"cat\":\"f\",\"name\":\"f\",\"pid\":1,\"tid\":2,"
	"\"ts\":25},\n"
	"{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":2,\"args\":{\"name\":\"main\"}}\n"
	" ], \"traceName\": \"x]\" }\n";

/* Only the whole text (with or without its last line end) is a trace; each cut says truncated or not yet one. */
static void an_object_cut_at_any_byte_is_refused(void **state)
{
	size_t whole = sizeof(sample) - 2;

	(void)state;
	for (size_t n = 0; n <= whole; n++) {
		struct fsc_err err = FSC_ERR_INIT;
		char *exact = fsc_realloc(NULL, n ? n : 1, 1);
		memcpy(exact, sample, n);
		struct fsc_trace *t = read_cut(exact, n, &err);
		assert_true((t != NULL) == (n == whole));
		if (!t && n > 0) {
			assert_string_equal(err.code, "json_truncated");
			assert_int_equal(err.offset, n);
		}
		fsc_trace_free(t);
		fsc_free(exact);
	}
}

static void an_array_cut_between_events_is_accepted_and_inside_one_refused(void **state)
{
	static const char array[] = "[" EV ",\n" EV "\n]";
	size_t one = strlen("[" EV), two = strlen("[" EV ",\n" EV);

	(void)state;
	for (size_t n = 1; n <= strlen(array); n++) {
		struct fsc_err err = FSC_ERR_INIT;
		char *exact = fsc_realloc(NULL, n, 1);
		memcpy(exact, array, n);
		struct fsc_trace *t = read_cut(exact, n, &err);
		bool between = (n >= one && n < one + 3) || n >= two;
		assert_true((t != NULL) == between);
		if (t)
			assert_int_equal(loss_of(t, "array_not_closed"), n < strlen(array));
		fsc_trace_free(t);
		fsc_free(exact);
	}
}

/* A number of everything a trace holds that does not depend on how it was read. */
static uint64_t digest(const struct fsc_trace *t)
{
	uint64_t h = t->meta.t_base_ns;
	uint64_t n;
	const uint8_t *args = fsc_args_bytes(t->args, &n);

	for (uint64_t i = 0; i < n; i++)
		h = (h ^ args[i]) * 0x100000001B3ULL;
	for (uint32_t i = 0; i < t->slices.n; i++) {
		uint64_t f[] = { (uint64_t)t->slices.ts[i], (uint64_t)t->slices.dur[i],
				 t->slices.track[i],	    t->slices.depth[i],
				 t->slices.name[i],	    t->slices.args[i],
				 t->slices.kind[i],	    t->slices.flags[i],
				 t->slices.cat[i],	    (uint64_t)t->slices.correlation[i] };
		for (size_t k = 0; k < FSC_ARRAY_LEN(f); k++)
			h = (h ^ f[k]) * 0x100000001B3ULL;
	}
	for (size_t i = 0; i < t->flows.n; i++)
		h = (h ^ t->flows.v[i].from * 31 ^ t->flows.v[i].to) * 0x100000001B3ULL;
	for (uint32_t i = 0; i < fsc_strtab_count(t->strings); i++)
		for (const char *s = str_of(t, i); *s; s++)
			h = (h ^ (unsigned char)*s) * 0x100000001B3ULL;
	for (uint32_t i = 0; i < t->losses.n; i++)
		h = (h ^ t->losses.v[i].count) * 0x100000001B3ULL;
	return h;
}

static uint64_t digest_with(const char *text, size_t n, const struct fsc_chrome_options *opt)
{
	struct fsc_trace *t = NULL;
	struct fsc_reader_sink sink = { .ctx = &t, .trace = read_trace_got };
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_source *src = fsc_source_mem(text, n);
	enum fsc_status st = fsc_chrome_read_with(src, &sink, opt, &err);

	if (st != FSC_OK)
		fail_msg("%s: %s", err.code, err.msg);
	assert_valid(t);
	uint64_t h = digest(t);
	fsc_trace_free(t);
	fsc_source_free(src);
	return h;
}

static void the_trace_does_not_depend_on_how_its_bytes_arrive(void **state)
{
	static const char *const scans[] = { "scalar", "sse2", "avx2" };
	const struct fsc_chrome_options usual = { .window = 0 };
	uint64_t want = digest_with(sample, sizeof(sample) - 1, &usual);

	(void)state;
	for (size_t s = 0; s < FSC_ARRAY_LEN(scans); s++) {
		fsc_jt_scan_fn scan = fsc_jt_scan_of(scans[s]);
		for (size_t chunk = 1; scan && chunk < 500; chunk++) {
			struct fsc_chrome_options o = { .window = 512,
							.chunk = chunk,
							.scan = scan };
			if (digest_with(sample, sizeof(sample) - 1, &o) != want)
				fail_msg("another trace with chunks of %zu and %s", chunk,
					 scans[s]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_timeline_is_named),
		cmocka_unit_test(a_gigabyte_of_brackets_fails_at_once),
		cmocka_unit_test(a_value_larger_than_the_window_is_an_error_with_its_offset),
		cmocka_unit_test(a_large_metadata_value_is_left_out_and_counted),
		cmocka_unit_test(args_larger_than_the_limit_are_left_out_and_counted),
		cmocka_unit_test(made_up_shapes_cost_no_more_than_real_ones),
		cmocka_unit_test(deep_stacks_keep_as_many_rows_as_the_limit),
		cmocka_unit_test(an_object_cut_at_any_byte_is_refused),
		cmocka_unit_test(an_array_cut_between_events_is_accepted_and_inside_one_refused),
		cmocka_unit_test(the_trace_does_not_depend_on_how_its_bytes_arrive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
