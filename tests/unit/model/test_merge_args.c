/* SPDX-License-Identifier: Apache-2.0 */
/* Args of a begin and of its end become one record. */
#include "base/buf.h"
#include "model/build.h"
#include "tests/support/read_trace.h"

static uint32_t track_of(struct fsc_build *b)
{
	uint32_t ident, track;
	struct fsc_build_id id = { .num = 1 };

	assert_int_equal(fsc_build_ident(&ident, b, id, id), FSC_OK);
	assert_int_equal(fsc_build_thread(&track, b, ident), FSC_OK);
	return track;
}

static uint32_t args(struct fsc_build *b, const char *json)
{
	uint32_t record = FSC_NO_ARGS;

	if (*json)
		assert_int_equal(fsc_build_args(&record, b, json, strlen(json)), FSC_OK);
	return record;
}

static void begin(struct fsc_build *b, uint32_t track, int64_t ts, const char *json)
{
	struct fsc_build_slice s = { .ts = ts,
				     .track = track,
				     .args = args(b, json),
				     .correlation = FSC_NO_CORRELATION,
				     .kind = FSC_KIND_OTHER };
	uint32_t i;

	assert_int_equal(fsc_build_cat(&s.cat, b, "", 0), FSC_OK);
	assert_int_equal(fsc_build_begin(&i, b, &s), FSC_OK);
}

static void end(struct fsc_build *b, uint32_t track, int64_t ts, const char *json)
{
	assert_int_equal(fsc_build_end(b, track, ts, 0, FSC_BUILD_NO_CAT, args(b, json)), FSC_OK);
}

static struct fsc_trace *finish(struct fsc_build *b)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_trace *t;

	assert_int_equal(fsc_build_finish(&t, b, &err), FSC_OK);
	fsc_build_free(b);
	assert_valid(t);
	return t;
}

static void expect(struct fsc_args_view *v, const struct fsc_trace *t, uint32_t slice,
		   const char *want)
{
	const char *json = "";
	size_t n = 0;

	if (t->slices.args[slice] != FSC_NO_ARGS)
		assert_int_equal(fsc_args_view_get(&json, &n, v, t->args, t->slices.args[slice]),
				 FSC_OK);
	if (n != strlen(want) || memcmp(json, want, n) != 0)
		fail_msg("args are %.*s, expected %s", (int)n, json, want);
}

static void members_of_the_end_are_added(void **state)
{
	static const struct {
		const char *begin, *end, *both;
		uint64_t lost;
	} all[] = {
		{ "", "", "", 0 },
		{ "{\"a\":1}", "", "{\"a\":1}", 0 },
		{ "", "{\"a\":1}", "{\"a\":1}", 0 },
		{ "{\"a\":1}", "{\"a\":1}", "{\"a\":1}", 0 },
		{ "{\"a\":1}", "{\"b\":2}", "{\"a\":1,\"b\":2}", 0 },
		{ "{\"a\":1}", "{\"b\":[{\"a\":3}],\"c\":\"}\"}",
		  "{\"a\":1,\"b\":[{\"a\":3}],\"c\":\"}\"}", 0 },
		{ "{\"a\":1}", "{\"a\":2,\"b\":3}", "{\"a\":1,\"b\":3}", 1 },
		{ "{\"a\":1}", "{\"a\":1.0}", "{\"a\":1}", 1 },
	};

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(all); i++) {
		struct fsc_build *b = fsc_build_new();
		uint32_t track = track_of(b);
		struct fsc_args_view v = { .raw = NULL };
		begin(b, track, 1, all[i].begin);
		end(b, track, 2, all[i].end);
		struct fsc_trace *t = finish(b);
		expect(&v, t, 0, all[i].both);
		assert_int_equal(loss_of(t, "end_args_not_merged"), all[i].lost);
		fsc_args_view_fini(&v);
		fsc_trace_free(t);
	}
}

/* 65 members, or a begin of more than 64 KiB: left as they are and counted. */
static void args_that_are_too_many_to_compare_are_counted(void **state)
{
	struct fsc_build *b = fsc_build_new();
	struct fsc_args_view v = { .raw = NULL };
	struct fsc_buf many = FSC_BUF_INIT(1u << 20), big = FSC_BUF_INIT(1u << 20);
	uint32_t track = track_of(b);

	(void)state;
	for (int i = 0; i < 65; i++)
		fsc_buf_addf(&many, "%c\"k%d\":{}", i ? ',' : '{', i);
	fsc_buf_addc(&many, '}');
	fsc_buf_adds(&big, "{\"a\":\"");
	for (int i = 0; i < 70000; i++)
		fsc_buf_addc(&big, 'x');
	fsc_buf_adds(&big, "\"}");
	begin(b, track, 1, "{\"a\":1}");
	end(b, track, 2, many.data);
	begin(b, track, 3, big.data);
	end(b, track, 4, "{\"b\":1}");
	struct fsc_trace *t = finish(b);
	expect(&v, t, 0, "{\"a\":1}");
	expect(&v, t, 1, big.data);
	assert_int_equal(loss_of(t, "end_args_not_merged"), 2);
	fsc_args_view_fini(&v);
	fsc_trace_free(t);
	fsc_buf_fini(&many);
	fsc_buf_fini(&big);
}

/* Begins in one order, ends in another, hundreds of blocks between them, several batches. */
static void pairs_that_lie_far_apart_find_each_other(void **state)
{
	enum { N = 60000 };
	struct fsc_build *b = fsc_build_new();
	struct fsc_args_view v = { .raw = NULL };
	uint32_t track = track_of(b);
	char json[512], pad[301];

	(void)state;
	memset(pad, 'p', 300);
	pad[300] = '\0';
	for (int i = 0; i < N; i++) {
		snprintf(json, sizeof(json), "{\"begin\":%d,\"same\":\"%s\"}", i, pad);
		begin(b, track, 10LL * i, json);
	}
	for (int i = 0; i < N; i++) {
		int k = (int)((long long)i * 7919 % N); /* every one once */
		snprintf(json, sizeof(json), "{\"same\":\"%s\",\"end\":%d}", pad, k);
		end(b, track, 10LL * k + 5, json);
	}
	struct fsc_trace *t = finish(b);
	assert_int_equal(t->slices.n, N);
	assert_int_equal(t->losses.n, 0);
	for (int i = 0; i < N; i++) {
		assert_int_equal(t->slices.ts[i], 10LL * i);
		snprintf(json, sizeof(json), "{\"begin\":%d,\"same\":\"%s\",\"end\":%d}", i, pad,
			 i);
		expect(&v, t, (uint32_t)i, json);
	}
	fsc_args_view_fini(&v);
	fsc_trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_of_the_end_are_added),
		cmocka_unit_test(args_that_are_too_many_to_compare_are_counted),
		cmocka_unit_test(pairs_that_lie_far_apart_find_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
