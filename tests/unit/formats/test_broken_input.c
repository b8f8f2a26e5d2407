/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Broken text and broken times: the table of docs/formats/broken-input.md, at least three instances of each kind. What comes of a
 * file is told as "name start+length; ..." in absolute ns, "name=value" of counters, then " ! counter=n"; of a
 * refused one as "refused CODE". The first counter, or the fault, must lie in the part of the text that is named.
 */
#include <math.h>

#include <zlib.h>

#include "base/buf.h"
#include "base/fs.h"
#include "tests/support/read_trace.h"

#define E(rest) "{\"ph\":\"X\",\"pid\":1,\"tid\":2," rest "}"
#define N(name) "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":1,\"name\":\"" name "\"}"
#define A(args) \
	"{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":1,\"name\":\"a\",\"args\":{" args "}}"
#define T(ts, dur) "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"name\":\"a\",\"ts\":" ts ",\"dur\":" dur "}"
#define G "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":5,\"dur\":1,\"name\":\"good\"}"

#define D32 "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["
#define U32 "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"
#define O8 "{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":"
#define O32 O8 O8 O8 O8

struct instance {
	const char *kind, *json, *told;
	const char *at; /* the part that holds the place of the first case; NULL: it has none */
};

static const struct instance instances[] = {
#include "tests/unit/formats/broken_input.inc"
};

static void tell_losses(struct fsc_buf *b, const struct fsc_trace *t)
{
	for (uint32_t i = 0; i < t->losses.n; i++)
		fsc_buf_addf(b, " ! %s=%llu", t->losses.v[i].code,
			     (unsigned long long)t->losses.v[i].count);
}

/* Nothing that the API gives may be infinite or no number. */
static void assert_finite(const struct fsc_trace *t)
{
	for (size_t i = 0; i < t->counters.n; i++)
		assert_true(isfinite(t->counters.v[i].value));
	for (size_t i = 0; i < t->launches.n; i++)
		assert_true(isfinite(t->launches.v[i].blocks_per_sm) &&
			    isfinite(t->launches.v[i].warps_per_sm) &&
			    isfinite(t->launches.v[i].occupancy_pct) &&
			    isfinite(t->launches.v[i].bandwidth_gbs));
	const char *meta = str_of(t, t->meta.json);
	assert_null(strstr(meta, "NaN"));
	assert_null(strstr(meta, "nf"));
}

static void tell(struct fsc_buf *b, const struct fsc_trace *t)
{
	for (uint32_t i = 0; i < t->slices.n; i++)
		fsc_buf_addf(b, "%s%s %lld+%lld", i ? "; " : "", str_of(t, t->slices.name[i]),
			     (long long)(t->slices.ts[i] + t->meta.t_base_ns),
			     (long long)t->slices.dur[i]);
	for (size_t k = 0; k < t->tracks.n; k++)
		for (uint32_t i = 0;
		     t->tracks.v[k].kind == FSC_TRACK_COUNTER && i < t->tracks.v[k].n; i++)
			fsc_buf_addf(b, "%s%s=%g", b->len ? "; " : "",
				     str_of(t, t->tracks.v[k].name),
				     t->counters.v[t->tracks.v[k].first + i].value);
	tell_losses(b, t);
	assert_finite(t);
}

static void check_place(const struct instance *v, int64_t offset)
{
	const char *at = v->at ? strstr(v->json, v->at) : NULL;

	if (!v->at) {
		if (offset >= 0)
			fail_msg("%s: %s\nhas a place, %lld", v->kind, v->json, (long long)offset);
		return;
	}
	if (!at)
		fail_msg("%s: no %s in %s", v->kind, v->at, v->json);
	if (offset < at - v->json || offset > at - v->json + (int64_t)strlen(v->at))
		fail_msg("%s: %s\nthe place is %lld, not in %s", v->kind, v->json,
			 (long long)offset, v->at);
}

static void check(const struct instance *v)
{
	struct fsc_buf b = FSC_BUF_INIT(1 << 20);
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_trace *t = read_trace_text(v->json, strlen(v->json), &err);
	int64_t offset = -1;

	if (t) {
		tell(&b, t);
		offset = t->losses.n ? fsc_loss_offset(&t->losses.v[0]) : -1;
	} else {
		fsc_buf_addf(&b, "refused %s", err.code);
		offset = err.offset;
		assert_true(strlen(err.msg) > 30); /* words, not only a code */
		if (!strncmp(err.code, "json_", 5))
			assert_non_null(strstr(err.msg, "line "));
	}
	if (strcmp(b.data, v->told))
		fail_msg("%s: %s\ngave   %s\nwanted %s", v->kind, v->json, b.data, v->told);
	check_place(v, offset);
	fsc_buf_fini(&b);
	fsc_trace_free(t);
}

static void each_instance_gives_what_is_written(void **state)
{
	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(instances); i++)
		check(&instances[i]);
}

/* The page and this table hold the same kinds, and each kind has three instances or more. */
static void each_kind_has_three_instances_and_a_row_in_the_page(void **state)
{
	char path[512], row[200], *page = NULL;
	struct fsc_err err = FSC_ERR_INIT;
	size_t n;

	(void)state;
	test_src(path, sizeof(path), "docs/formats/broken-input.md");
	if (fsc_fs_read_file(&page, &n, path, 1 << 20, &err) != FSC_OK)
		fail_msg("%s", err.msg);
	for (size_t i = 0; i < FSC_ARRAY_LEN(instances); i++) {
		unsigned same = 0;
		for (size_t k = 0; k < FSC_ARRAY_LEN(instances); k++)
			same += !strcmp(instances[i].kind, instances[k].kind);
		if (same < 3)
			fail_msg("%s: %u instances", instances[i].kind, same);
		snprintf(row, sizeof(row), "| %s |", instances[i].kind);
		if (!strstr(page, row))
			fail_msg("no row for %s in %s", instances[i].kind, path);
	}
	fsc_free(page);
}

/* ---- several members or documents in one compressed file ---- */

static void add_member(struct fsc_buf *b, const char *text)
{
	z_stream z = { .next_in = (z_const Bytef *)text, .avail_in = (uInt)strlen(text) };
	char *room = fsc_buf_room(b, 1000);

	assert_non_null(room);
	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_out = (Bytef *)room;
	z.avail_out = 1000;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	b->len += z.total_out;
	deflateEnd(&z);
}

static void gzip_members_are_one_text(void **state)
{
	static const struct {
		const char *member[3], *told;
	} v[] = {
		{ { ("[" N("a") ","), (G "]"), "" }, "a 1000+1000; good 5000+1000" },
		{ { "[{\"ph\":\"X\",\"ts\":1,\"du", "r\":1,\"name\":\"a\"}", "]" }, "a 1000+1000" },
		{ { "", ("[" N("a") "]"), "\n" }, "a 1000+1000" },
		{ { ("[" N("a") "]"), ("[" G "]"), "" }, "a 1000+1000 ! trailing_data=1" },
	};

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(v); i++) {
		struct fsc_buf gz = FSC_BUF_INIT(1 << 20), b = FSC_BUF_INIT(1 << 20);
		struct fsc_err err = FSC_ERR_INIT;
		for (size_t k = 0; k < 3; k++)
			add_member(&gz, v[i].member[k]);
		struct fsc_trace *t = read_trace_text(gz.data, gz.len, &err);
		if (!t)
			fail_msg("%zu: %s", i, err.msg);
		tell(&b, t);
		assert_string_equal(b.data, v[i].told);
		fsc_trace_free(t);
		fsc_buf_fini(&gz);
		fsc_buf_fini(&b);
	}
}

/* ---- no event goes uncounted ---- */

/* Objects directly inside the outermost list, by brackets and strings alone; -1 when those do not close. */
static int64_t count_objects(const char *p)
{
	char open[64];
	size_t depth = 0;
	int64_t n = 0;
	bool text = false;

	for (; *p; p++) {
		if (text) {
			if (*p == '\\' && p[1])
				p++;
			else
				text = *p != '"';
		} else if (*p == '"') {
			text = true;
		} else if (*p == '{' || *p == '[') {
			n += *p == '{' && depth == 1;
			if (depth == sizeof(open))
				return -1;
			open[depth++] = *p == '{' ? '}' : ']';
		} else if (*p == '}' || *p == ']') {
			if (!depth || open[--depth] != *p)
				return -1;
		}
	}
	return depth || text ? -1 : n;
}

static uint32_t rnd(uint32_t *x)
{
	*x = *x * 1664525u + 1013904223u;
	return *x >> 8;
}

/* Events read, and events counted as unreadable. */
static int64_t told_of(const struct fsc_trace *t)
{
	return (int64_t)(t->n_events + loss_of(t, "event_unreadable"));
}

static void every_object_is_read_or_counted(void **state)
{
	/* after the first three, which are whole, come sound oddities, then events that are no JSON */
	static const char *const event[] = {
		G,
		(A("\"l\":[{\"a\":1},{\"b\":[{},{}]}],\"s\":\"}{][\\\"\"")),
		"{\"name\":\"\\u007d,{\",\"ph\":\"B\",\"ts\":3}",
		"{ }",
		"{\"ts\":1}",
		"{\"ph\":\"X\",\"ts\":\"x\",\"dur\":1}",
		"{\"ph\":\"D\",\"ts\":1,\"args\":{\"snapshot\":{\"a\":[{\"b\":1},{\"c\":2}]}}}",
		"{\"ph\":\"E\",\"ts\":\"9\",\"name\":\"\xff\"}",
		"{\"ph\":\"C\",\"ts\":1,\"args\":{\"v\":NaN,}}",
		N("say \"hi\" to"),
		"{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"args\":{\"l\":[{\"a\":1},{\"b\":2}],\"q\":\"a "
		"\"b\" c\"}}",
		"{\"ph\":\"X\",\"ts\":1,\"dur\":tru}",
		"{\"name\":\"x\",\"ph\" \"X\"}",
	};
	static const char *const gap[] = { ",", " ,\n", ",\n\t ", "\r\n,", ",   " };
	uint32_t x = 7;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		struct fsc_buf b = FSC_BUF_INIT(1 << 20);
		struct fsc_err err = FSC_ERR_INIT;
		bool sound = true;
		fsc_buf_addc(&b, '[');
		for (uint32_t i = 0, n = 1 + rnd(&x) % 30; i < n; i++) {
			/* an object without a phase behind a broken event cannot be told from its inside */
			uint32_t k = rnd(&x) % FSC_ARRAY_LEN(event);
			if ((k == 3 || k == 4) && !sound)
				k = 0;
			fsc_buf_adds(&b, event[k]);
			fsc_buf_adds(&b, gap[rnd(&x) % FSC_ARRAY_LEN(gap)]);
			sound = k < 9;
		}
		fsc_buf_adds(&b, G "]");
		struct fsc_trace *t = read_trace_text(b.data, b.len, &err);
		if (!t)
			fail_msg("%s: %s at %lld", b.data, err.msg, (long long)err.offset);
		if (told_of(t) != count_objects(b.data))
			fail_msg("%s: %lld events, told of %lld", b.data,
				 (long long)count_objects(b.data), (long long)told_of(t));
		fsc_trace_free(t);
		fsc_buf_fini(&b);
	}
}

/* True when brackets and strings of the text close and it is read. */
static bool flip_is_told(const char *text, size_t n)
{
	struct fsc_err err = FSC_ERR_INIT;
	int64_t objects = count_objects(text);
	struct fsc_trace *t = read_trace_text(text, n, &err);
	bool told = t && objects >= 0;

	if (told && told_of(t) != objects)
		fail_msg("%s: %lld events, told of %lld", text, (long long)objects,
			 (long long)told_of(t));
	fsc_trace_free(t);
	return told;
}

static void after_a_flip_every_object_is_read_or_counted(void **state)
{
	static const char sample[] =
		"[" G ",\n" A("\"l\":[{\"a\":1},{\"b\":[{},[]]}],\"s\":\"}{]["
			      "\\\"\"") ",\n" N("C:\\x") ",\n"
							 "{\"ph\":\"B\",\"name\":\"b\",\"ts\":2.5},"
							 "\n{\"ph\":\"E\",\"ts\":3},\n"
							 "{\"ph\":\"C\",\"name\":\"c\",\"ts\":1,"
							 "\"args\":{\"v\":1.5e3}},\n" G "\n]";
	char text[sizeof(sample)];
	unsigned told = 0;
	uint32_t x = 11;

	(void)state;
	for (int i = 0; i < 10000; i++) {
		memcpy(text, sample, sizeof(sample));
		text[rnd(&x) % (sizeof(sample) - 1)] = (char)(1 + i % 255);
		told += flip_is_told(text, sizeof(sample) - 1);
	}
	assert_true(told > 5000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_instance_gives_what_is_written),
		cmocka_unit_test(each_kind_has_three_instances_and_a_row_in_the_page),
		cmocka_unit_test(gzip_members_are_one_text),
		cmocka_unit_test(every_object_is_read_or_counted),
		cmocka_unit_test(after_a_flip_every_object_is_read_or_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
