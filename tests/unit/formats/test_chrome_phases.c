/* SPDX-License-Identifier: Apache-2.0 */
/* Phases and keys of trace-event JSON that few writers use: what becomes of each. */
#include "base/limits.h"
#include "base/pb_read.h"
#include "model/args.h"
#include "tests/support/read_trace.h"

#include <zstd.h>

/* All args of a small trace, one record a line. */
static const char *args_of(char *out, size_t cap, const struct fsc_trace *t)
{
	uint32_t n_blocks;
	uint64_t n_bytes;
	const struct fsc_args_block *b = fsc_args_blocks(t->args, &n_blocks);
	const uint8_t *bytes = fsc_args_bytes(t->args, &n_bytes);
	static char raw[1 << 18];
	size_t w = 0;

	assert_true(n_blocks <= 1);
	for (uint32_t k = 0; k < n_blocks; k++) {
		struct fsc_cur c;
		assert_int_equal(ZSTD_decompress(raw, sizeof(raw), bytes + b[k].offset,
						 b[k].stored_bytes),
				 b[k].raw_bytes);
		c = fsc_cur_of(raw, b[k].raw_bytes);
		for (uint32_t i = 0; i < b[k].n_records; i++) {
			size_t n = (size_t)fsc_cur_varint(&c);
			assert_true(w + n + 2 < cap && n <= fsc_cur_left(&c));
			memcpy(out + w, c.p, n);
			c.p += n;
			w += n;
			out[w++] = '\n';
		}
	}
	out[w] = '\0';
	return out;
}

static void expect_args(const struct fsc_trace *t, const char *want)
{
	char text[8192];

	assert_string_equal(args_of(text, sizeof(text), t), want);
}

static const struct fsc_track *track_of(const struct fsc_trace *t, const char *slice)
{
	return &t->tracks.v[t->slices.track[slice_named(t, slice)]];
}

static void the_older_async_events_belong_together_by_id_and_name(void **state)
{
	struct fsc_trace *t = must_read(
		"[{\"ph\":\"S\",\"cat\":\"c\",\"id\":1,\"name\":\"a\",\"pid\":1,\"tid\":2,\"ts\":1}"
		","
		"{\"ph\":\"S\",\"cat\":\"c\",\"id\":1,\"name\":\"b\",\"pid\":1,\"tid\":2,\"ts\":2},"
		"{\"ph\":\"T\",\"cat\":\"c\",\"id\":1,\"name\":\"a\",\"pid\":1,\"tid\":2,\"ts\":3,"
		"\"args\":{\"step\":\"s1\"}},"
		"{\"ph\":\"p\",\"cat\":\"c\",\"id\":1,\"name\":\"b\",\"pid\":1,\"tid\":2,\"ts\":4},"
		"{\"ph\":\"F\",\"cat\":\"c\",\"id\":1,\"name\":\"a\",\"pid\":1,\"tid\":3,\"ts\":5},"
		"{\"ph\":\"F\",\"cat\":\"c\",\"id\":1,\"name\":\"b\",\"pid\":1,\"tid\":3,\"ts\":7}"
		"]");

	(void)state;
	assert_int_equal(t->losses.n, 0);
	assert_int_equal(t->tracks.n, 2);
	assert_int_equal(t->slices.n, 4);
	assert_int_equal(t->n_instants, 2);
	for (int i = 0; i < 2; i++) {
		uint32_t k = slice_named(t, i ? "b" : "a");
		assert_int_equal(t->tracks.v[t->slices.track[k]].kind, FSC_TRACK_ASYNC);
		assert_int_equal(t->slices.dur[k], i ? 5000 : 4000);
		assert_int_equal(t->slices.depth[k + 1], 1); /* the step lies in it */
	}
	fsc_trace_free(t);
}

static void a_thread_state_is_a_slice_beside_its_thread(void **state)
{
	struct fsc_trace *t = must_read(
		"[{\"ph\":\"X\",\"name\":\"work\",\"pid\":1,\"tid\":2,\"ts\":0,\"dur\":9},"
		"{\"ph\":\"T\",\"cat\":\"thread_state\",\"name\":\"Running\",\"pid\":1,\"tid\":2,"
		"\"ts\":0,\"dur\":4,\"args\":{\"cpu\":3}},"
		"{\"ph\":\"T\",\"cat\":\"thread_state\",\"name\":\"D\",\"pid\":1,\"tid\":2,\"ts\":"
		"4,\"dur\":5},"
		"{\"ph\":\"T\",\"cat\":\"thread_state\",\"name\":\"S\",\"pid\":1,\"tid\":7,\"ts\":"
		"4,\"dur\":5},"
		"{\"ph\":\"T\",\"cat\":\"thread_state\",\"name\":\"R\",\"pid\":1,\"tid\":7,\"ts\":"
		"4,\"dur\":\"x\"}]");

	(void)state;
	assert_int_equal(t->tracks.n, 3);
	assert_int_equal(t->slices.n, 4);
	assert_int_equal(loss_of(t, "x_bad_dur"), 1);
	assert_string_equal(str_of(t, track_of(t, "Running")->name), "thread state of 2");
	assert_ptr_equal(track_of(t, "Running"), track_of(t, "D"));
	assert_string_equal(str_of(t, track_of(t, "S")->name), "thread state of 7");
	assert_int_equal(track_of(t, "work")->n, 1);
	expect_args(t, "{\"cpu\":3}\n");
	fsc_trace_free(t);
}

static void a_scope_and_a_local_id_keep_async_ids_apart(void **state)
{
	static const char one[] =
		"{\"ph\":\"n\",\"name\":\"%d\",\"cat\":\"c\",\"pid\":%d,\"ts\":1,%s}";
	static const struct {
		int pid;
		const char *id;
		uint32_t tracks; /* after this one */
	} all[] = {
		{ 1, "\"id\":\"0x10\"", 1 },
		{ 1, "\"id\":16", 1 },
		{ 2, "\"id\":\"10\"", 1 },
		{ 1, "\"id\":16,\"scope\":\"gpu\"", 2 },
		{ 1, "\"id2\":{\"global\":\"0x10\"}", 3 },
		{ 2, "\"id2\":{\"global\":\"0x10\"}", 3 },
		{ 1, "\"id2\":{\"local\":\"0x10\"}", 4 },
		{ 1, "\"id2\":{\"local\":\"0x10\"}", 4 },
		{ 2, "\"id2\":{\"local\":\"0x10\"}", 5 },
		{ 2, "\"id2\":{\"local\":\"0x10\"},\"scope\":\"gpu\"", 6 },
	};
	char json[4096] = "[";

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(all); i++) {
		size_t n = strlen(json);
		if (i)
			json[n++] = ',';
		snprintf(json + n, sizeof(json) - n - 1, one, (int)i, all[i].pid, all[i].id);
		struct fsc_trace *t = must_read(json); /* an array without its end */
		assert_int_equal(t->tracks.n, all[i].tracks);
		fsc_trace_free(t);
	}
}

static void flows_may_have_an_id_of_their_process(void **state)
{
	struct fsc_trace *t = must_read(
		"[{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":9},"
		"{\"ph\":\"X\",\"name\":\"b\",\"pid\":2,\"tid\":1,\"ts\":0,\"dur\":9},"
		"{\"ph\":\"X\",\"name\":\"c\",\"pid\":1,\"tid\":2,\"ts\":0,\"dur\":9},"
		"{\"ph\":\"s\",\"id2\":{\"local\":5},\"pid\":1,\"tid\":1,\"ts\":1},"
		"{\"ph\":\"f\",\"bp\":\"e\",\"id2\":{\"local\":5},\"pid\":2,\"tid\":1,\"ts\":2},"
		"{\"ph\":\"f\",\"bp\":\"e\",\"id2\":{\"local\":5},\"pid\":1,\"tid\":2,\"ts\":3}]");

	(void)state;
	assert_int_equal(t->flows.n, 1);
	assert_int_equal(t->flows.v[0].from, slice_named(t, "a"));
	assert_int_equal(t->flows.v[0].to, slice_named(t, "c"));
	assert_int_equal(loss_of(t, "flow_end_without_start"), 1);
	fsc_trace_free(t);
}

static void instants_know_what_they_concern(void **state)
{
	struct fsc_trace *t =
		must_read("[{\"ph\":\"i\",\"name\":\"t\",\"s\":\"t\",\"pid\":1,\"ts\":1},"
			  "{\"ph\":\"I\",\"name\":\"p\",\"s\":\"p\",\"pid\":1,\"ts\":1},"
			  "{\"ph\":\"R\",\"name\":\"g\",\"s\":\"g\",\"pid\":1,\"ts\":1},"
			  "{\"ph\":\"i\",\"name\":\"none\",\"pid\":1,\"ts\":1}]");

	(void)state;
	assert_int_equal(t->slices.flags[slice_named(t, "t")], FSC_SLICE_INSTANT);
	assert_int_equal(t->slices.flags[slice_named(t, "none")], FSC_SLICE_INSTANT);
	assert_int_equal(t->slices.flags[slice_named(t, "p")],
			 FSC_SLICE_INSTANT | FSC_SLICE_SCOPE_PROCESS);
	assert_int_equal(t->slices.flags[slice_named(t, "g")],
			 FSC_SLICE_INSTANT | FSC_SLICE_SCOPE_GLOBAL);
	fsc_trace_free(t);
}

static void thread_times_become_args_in_ns(void **state)
{
	struct fsc_trace *t = must_read(
		"[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":9,\"tts\":\"3.5\",\"tdur\":2,"
		"\"args\":{\"k\":[1, 2]}},"
		"{\"ph\":\"B\",\"name\":\"b\",\"ts\":1,\"tts\":4},"
		"{\"ph\":\"X\",\"name\":\"c\",\"ts\":1,\"dur\":1,\"tts\":7,\"args\":{\"thread_ts_"
		"ns\":\"mine\"}}]");

	(void)state;
	expect_args(t, "{\"k\":[1,2],\"thread_ts_ns\":3500,\"thread_dur_ns\":2000}\n"
		       "{\"thread_ts_ns\":4000}\n"
		       "{\"thread_ts_ns\":\"mine\"}\n");
	assert_int_equal(loss_of(t, "event_key_ignored"), 1);
	fsc_trace_free(t);
}

#define FRAMES                                                                                 \
	"\"stackFrames\":{\"1\":{\"name\":\"main\"},\"x\":{\"name\":\"f<T>\\n\",\"category\":" \
	"\"lib\",\"parent\":1},\"3\":{\"name\":\"g\",\"parent\":\"x\"},\"4\":{\"name\":"       \
	"\"orphan\",\"parent\":99}}"

static void a_stack_is_found_before_and_behind_the_events(void **state)
{
	static const char events[] =
		"\"traceEvents\":[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":9,\"sf\":3,\"esf\":"
		"\"1\",\"args\":{\"k\":1}},{\"ph\":\"X\",\"name\":\"b\",\"ts\":1,\"dur\":9,\"sf\":"
		"\"4\"},{\"ph\":\"B\",\"name\":\"c\",\"ts\":1,\"sf\":1}]";
	static const char want[] =
		"{\"k\":1,\"callstack\":[\"main\",\"f<T>\\n (lib)\",\"g\"],\"end_callstack\":["
		"\"main\"]}\n{\"callstack\":[\"orphan\"]}\n{\"callstack\":[\"main\"]}\n";
	char json[2000];

	(void)state;
	for (int i = 0; i < 2; i++) {
		snprintf(json, sizeof(json), "{%s,%s}", i ? FRAMES : events, i ? events : FRAMES);
		struct fsc_trace *t = must_read(json);
		expect_args(t, want);
		assert_int_equal(loss_of(t, "stack_frame_unknown"), 1);
		assert_int_equal(t->losses.n, 3); /* and two of the begin without its end */
		fsc_trace_free(t);
	}
}

static void stacks_may_be_written_out(void **state)
{
	struct fsc_trace *t = must_read(
		"[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":9,\"stack\":[ \"0x1\", \"f\\q\" ],"
		"\"estack\":\"x\"},{\"ph\":\"i\",\"name\":\"b\",\"ts\":1,\"stack\":[1]}]");

	(void)state;
	expect_args(t, "{\"callstack\":[\"0x1\",\"f\\\\q\"],\"end_callstack\":\"x\"}\n"
		       "{\"callstack\":[1]}\n");
	fsc_trace_free(t);
}

static void a_sample_is_an_instant_named_by_its_innermost_frame(void **state)
{
	struct fsc_trace *t = must_read(
		"{\"traceEvents\":[{\"ph\":\"P\",\"cat\":\"prof\",\"name\":\"\",\"pid\":1,\"tid\":"
		"2,"
		"\"ts\":1,\"sf\":\"x\"},"
		"{\"ph\":\"P\",\"name\":\"Chunk\",\"pid\":1,\"tid\":2,\"ts\":2,\"args\":{\"d\":1}}]"
		","
		"\"samples\":[{\"cpu\":\"-1\",\"name\":\"\",\"ts\":\"5\",\"pid\":1,\"tid\":\"2\","
		"\"weight\":\"1\",\"sf\":3},{\"ts\":6,\"pid\":1,\"tid\":2,\"sf\":77},7]," FRAMES
		"}");

	(void)state;
	assert_int_equal(t->slices.n, 4);
	assert_int_equal(t->n_instants, 4);
	assert_int_equal(t->tracks.n, 1);
	uint32_t g = slice_named(t, "g");
	assert_int_equal(t->slices.ts[g], 4000);
	assert_string_equal(str_of(t, t->cats.v[t->slices.cat[g]]), "cpu_sample");
	assert_string_equal(str_of(t, t->slices.name[slice_named(t, "f<T>\n")]), "f<T>\n");
	expect_args(t, "{\"d\":1}\n"
		       "{\"callstack\":[\"main\",\"f<T>\\n (lib)\"]}\n"
		       "{\"cpu\":\"-1\",\"weight\":\"1\",\"callstack\":[\"main\",\"f<T>\\n "
		       "(lib)\",\"g\"]}\n");
	assert_int_equal(loss_of(t, "sample_as_instant"), 4);
	assert_int_equal(loss_of(t, "stack_frame_unknown"), 1);
	assert_int_equal(loss_of(t, "event_not_object"), 1);
	fsc_trace_free(t);
}

static void equal_stacks_are_kept_once(void **state)
{
	struct fsc_trace *t = must_read("{\"samples\":[{\"ts\":1,\"sf\":1},{\"ts\":2,\"sf\":1},{"
					"\"ts\":3,\"sf\":1,\"cpu\":2},"
					"{\"ts\":4,\"sf\":3},{\"ts\":5,\"sf\":1},{\"ts\":6,\"sf\":"
					"4},{\"ts\":7,\"sf\":4}]," FRAMES "}");

	(void)state;
	assert_int_equal(t->slices.n, 7);
	assert_int_equal(t->slices.args[0], t->slices.args[1]);
	assert_int_equal(t->slices.args[0], t->slices.args[4]);
	expect_args(t, "{\"callstack\":[\"main\"]}\n{\"cpu\":2,\"callstack\":[\"main\"]}\n"
		       "{\"callstack\":[\"main\",\"f<T>\\n (lib)\",\"g\"]}\n"
		       "{\"callstack\":[\"orphan\"]}\n{\"callstack\":[\"orphan\"]}\n");
	assert_int_equal(loss_of(t, "stack_frame_unknown"), 2); /* every slice counts */
	fsc_trace_free(t);
}

static void a_circle_of_frames_ends(void **state)
{
	struct fsc_trace *t = must_read(
		"{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":9,\"sf\":1}],"
		"\"stackFrames\":{\"1\":{\"name\":\"p\",\"parent\":2},\"2\":{\"name\":\"q\","
		"\"parent\":1}}}");
	char text[8192];
	size_t n = 0;

	(void)state;
	for (const char *s = args_of(text, sizeof(text), t); (s = strpbrk(s, "pq")) != NULL; s++)
		n += s[-1] == '"';
	assert_int_equal(n, FSC_MAX_STACK_DEPTH);
	assert_int_equal(loss_of(t, "stack_too_deep"), 1);
	fsc_trace_free(t);
}

/* stackFrames that is no JSON: before the events reading goes on at them, behind them the file counts as whole. */
static void frames_that_are_no_json_cost_the_stacks_alone(void **state)
{
	static const char *const all[] = {
		"{\"stackFrames\":{\"1\":{\"name\":\"a \"b\" c\"}},\"traceEvents\":[{\"ph\":\"X\","
		"\"name\":\"a\",\"ts\":1,\"dur\":9,\"sf\":1}]}",
		"{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":9,\"sf\":1}],"
		"\"stackFrames\":{\"1\":{\"name\":\"a \"b\" c\"}}}",
	};

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(all); i++) {
		struct fsc_trace *t = must_read(all[i]);
		assert_int_equal(t->slices.n, 1);
		assert_int_equal(loss_of(t, "metadata_unreadable"), 1);
		assert_int_equal(loss_of(t, "stack_frame_unknown"), 1);
		fsc_trace_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_older_async_events_belong_together_by_id_and_name),
		cmocka_unit_test(a_thread_state_is_a_slice_beside_its_thread),
		cmocka_unit_test(a_scope_and_a_local_id_keep_async_ids_apart),
		cmocka_unit_test(flows_may_have_an_id_of_their_process),
		cmocka_unit_test(instants_know_what_they_concern),
		cmocka_unit_test(thread_times_become_args_in_ns),
		cmocka_unit_test(a_stack_is_found_before_and_behind_the_events),
		cmocka_unit_test(stacks_may_be_written_out),
		cmocka_unit_test(a_sample_is_an_instant_named_by_its_innermost_frame),
		cmocka_unit_test(equal_stacks_are_kept_once),
		cmocka_unit_test(a_circle_of_frames_ends),
		cmocka_unit_test(frames_that_are_no_json_cost_the_stacks_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
