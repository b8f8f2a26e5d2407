/* SPDX-License-Identifier: Apache-2.0 */
/* Who did it, where files say it oddly: the table of docs/formats/identity.md, several instances of each kind. */
#include "tests/support/read_trace.h"

#define X(pid, tid, ts, dur)                                                       \
	"{\"ph\":\"X\",\"name\":\"x\",\"pid\":" pid ",\"tid\":" tid ",\"ts\":" #ts \
	",\"dur\":" #dur "}"
#define K(pid, tid, ts, dur, args)                                                     \
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":" pid ",\"tid\":" tid \
	",\"ts\":" #ts ",\"dur\":" #dur ",\"args\":{" args "}}"
#define CALL(pid, ts, corr)                                                                       \
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"call\",\"pid\":" #pid ",\"tid\":" #pid \
	",\"ts\":" #ts ",\"dur\":2,\"args\":{\"correlation\":" #corr "}}"
#define DS(device, stream) "\"device\":" device ",\"stream\":" stream

/* Tracks as "T pid/tid", "S pid/tid [device:stream]" with ? for what is not known, then " ! code=count". */
static void tell(struct fsc_buf *b, const struct fsc_trace *t)
{
	for (size_t i = 0; i < t->tracks.n; i++) {
		const struct fsc_track *k = &t->tracks.v[i];
		const struct fsc_process *p = &t->processes.v[k->process];

		fsc_buf_adds(b, i ? ", " : "");
		fsc_buf_addc(b, k->kind == FSC_TRACK_STREAM ? 'S' : 'T');
		if (p->pid_text)
			fsc_buf_addf(b, " '%s'/", str_of(t, p->pid_text));
		else
			fsc_buf_addf(b, " %lld/", (long long)p->pid);
		if (k->tid_text)
			fsc_buf_addf(b, "'%s'", str_of(t, k->tid_text));
		else
			fsc_buf_addf(b, "%lld", (long long)k->tid);
		if (k->kind != FSC_TRACK_STREAM)
			continue;
		if (k->stream == FSC_NO_ORDINAL)
			fsc_buf_addf(b, " [%d:?]", k->device);
		else
			fsc_buf_addf(b, " [%d:%d]", k->device, k->stream);
	}
	for (uint32_t i = 0; i < t->losses.n; i++)
		fsc_buf_addf(b, " ! %s=%llu", t->losses.v[i].code,
			     (unsigned long long)t->losses.v[i].count);
}

struct instance {
	const char *events, *told;
};

static void check(const struct instance *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char json[4096];
		struct fsc_buf b = FSC_BUF_INIT(4096);
		snprintf(json, sizeof(json), "{\"schemaVersion\":1,\"traceEvents\":[%s]}",
			 v[i].events);
		struct fsc_trace *t = must_read(json);

		tell(&b, t);
		assert_int_equal(fsc_buf_status(&b), FSC_OK);
		if (strcmp(b.data, v[i].told))
			fail_msg("%s\ngave   %s\nwanted %s", v[i].events, b.data, v[i].told);
		fsc_buf_fini(&b);
		fsc_trace_free(t);
	}
}

static void one_stream_number_on_several_devices_is_several_streams(void **state)
{
	static const struct instance v[] = {
		{ K("0", "7", 1, 2, DS("0", "7")) "," K("1", "7", 1, 2, DS("1", "7")),
		  "S 0/7 [0:7], S 1/7 [1:7]" },
		/* one process for all devices */
		{ K("5", "7", 1, 2, DS("0", "7")) "," K("5", "7", 1, 2, DS("1", "7")),
		  "S 5/7 [0:7], S 5/7 [1:7]" },
		/* the process is the device */
		{ K("0", "7", 1, 2, "\"stream\":7") "," K("3", "7", 1, 2, "\"stream\":7"),
		  "S 0/7 [0:7], S 3/7 [3:7]" },
		/* and on several contexts of one */
		{ K("0", "7", 1, 2,
		    DS("0", "7") ",\"context\":1") "," K("0", "7", 1, 2,
							 DS("0", "7") ",\"context\":2"),
		  "S 0/7 [0:7], S 0/7 [0:7]" },
	};

	(void)state;
	check(v, FSC_ARRAY_LEN(v));
}

static void ids_may_be_text_and_below_zero(void **state)
{
	static const struct instance v[] = {
		{ X("\"Spans\"", "\"PyTorch Profiler\"", 1, 2), "T 'Spans'/'PyTorch Profiler'" },
		/* an empty text has no number: -1, and is not the number -1 */
		{ X("\"\"", "\"\"", 1, 2) "," X("-1", "-1", 1, 2), "T -1/-1, T -1/-1" },
		/* a text that is a number is the number */
		{ X("12", "13", 1, 2) "," X("\"12\"", "\"13\"", 5, 2), "T 12/13" },
		{ X("-1", "-5", 1, 2) "," X("-1", "5", 1, 2), "T -1/-5, T -1/5" },
		{ X("7.0", "8e0", 1, 2) "," X("7", "8", 5, 2), "T 7/8" },
		/* a missing thread is that of the process, a missing process is 0 */
		{ "{\"ph\":\"X\",\"name\":\"x\",\"pid\":4,\"ts\":1,\"dur\":2},{\"ph\":\"X\","
		  "\"name\":"
		  "\"x\",\"ts\":1,\"dur\":2}",
		  "T 4/4, T 0/0" },
		{ X("null", "[1]", 1, 2), "T 0/0" },
	};

	(void)state;
	check(v, FSC_ARRAY_LEN(v));
}

static void streams_may_be_text_below_zero_and_handles(void **state)
{
	static const struct instance v[] = {
		{ K("0", "7", 1, 2, DS("0", "7")) "," K("0", "7", 5, 2, DS("\"0\"", "\"7\"")),
		  "S 0/7 [0:7]" },
		{ K("0", "9", 1, 2, DS("0", "\"copy\"")) "," K("0", "10", 1, 2,
							       DS("0", "\"main\"")),
		  "S 0/9 [0:9], S 0/10 [0:10] ! stream_not_a_number=2" },
		{ K("0", "4", 1, 2, DS("0", "140234567890123")),
		  "S 0/4 [0:4] ! stream_not_a_number=1" },
		{ K("0", "\"q\"", 1, 2, DS("0", "\"q\"")),
		  "S 0/'q' [0:?] ! stream_not_a_number=1" },
		{ K("0", "4", 1, 2, DS("0", "-3")) "," K("0", "5", 1, 2, DS("0", "3")),
		  "S 0/4 [0:-3], S 0/5 [0:3]" },
	};

	(void)state;
	check(v, FSC_ARRAY_LEN(v));
}

static void stream_0_and_the_default_streams_are_streams_like_others(void **state)
{
	static const struct instance v[] = {
		{ K("0", "0", 1, 2, DS("0", "0")), "S 0/0 [0:0]" },
		{ K("0", "0", 1, 2, DS("0", "0")) "," K("0", "7", 1, 2, DS("0", "7")),
		  "S 0/0 [0:0], S 0/7 [0:7]" },
		/* no number: that of the row */
		{ K("2", "7", 1, 2, "\"device\":2"), "S 2/7 [2:7]" },
		{ K("2", "0", 1, 2, DS("2", "null")), "S 2/0 [2:0]" },
	};

	(void)state;
	check(v, FSC_ARRAY_LEN(v));
}

static void a_kernel_may_begin_before_its_launch(void **state)
{
#define ARROW(call_ts, kernel_ts)                                                             \
	",{\"ph\":\"s\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":5,\"pid\":9,\"tid\":9,"     \
	"\"ts\":" #call_ts "},{\"ph\":\"f\",\"bp\":\"e\",\"cat\":\"ac2g\",\"name\":\"ac2g\"," \
	"\"id\":5,\"pid\":0,\"tid\":7,"                                                       \
	"\"ts\":" #kernel_ts "}"
#define EARLY(call_ts, kernel_ts) \
	CALL(9, call_ts, 5) "," K("0", "7", kernel_ts, 2, DS("0", "7") ",\"correlation\":5")
	static const char *const v[] = {
		EARLY(10.001, 10) ARROW(10.001, 10),
		EARLY(5000, 10) ARROW(5000, 10),
		EARLY(11, 10), /* inside it, without an arrow */
		EARLY(500, 10),
	};

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(v); i++) {
		char json[2048];
		snprintf(json, sizeof(json), "{\"schemaVersion\":1,\"traceEvents\":[%s]}", v[i]);
		struct fsc_trace *t = must_read(json);

		/* nothing moves, and it is no fault of the file */
		assert_int_equal(t->losses.n, 0);
		assert_int_equal(t->slices.ts[slice_named(t, "k")], 0);
		assert_int_equal(t->meta.t_base_ns, 10000);
		assert_int_equal(t->flows.n, i < 2);
		assert_int_equal(t->slices.correlation[slice_named(t, "k")],
				 t->slices.correlation[slice_named(t, "call")]);
		fsc_trace_free(t);
	}
}

static void slices_of_one_stream_may_overlap(void **state)
{
#define ON7(ts, dur) K("0", "7", ts, dur, DS("0", "7"))
	static const struct {
		const char *events;
		uint32_t n, rows, overlaps;
	} v[] = {
		{ ON7(0, 10) "," ON7(9, 10), 2, 2, 1 }, /* the next begins before the end of this */
		{ ON7(0, 10) "," ON7(9, 10) "," ON7(18, 10) "," ON7(27, 10), 4, 2, 3 },
		{ ON7(0, 10) "," ON7(1, 10) "," ON7(2, 10), 3, 3, 2 },
		{ ON7(0, 10) "," ON7(3, 2), 2, 2, 0 },	/* inside it: two rows, no overlap */
		{ ON7(0, 10) "," ON7(10, 5), 2, 1, 0 }, /* back to back */
	};

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(v); i++) {
		char json[2048];
		snprintf(json, sizeof(json), "{\"schemaVersion\":1,\"traceEvents\":[%s]}",
			 v[i].events);
		struct fsc_trace *t = must_read(json);

		assert_int_equal(t->slices.n, v[i].n);
		assert_int_equal(t->tracks.n, 1);
		assert_int_equal(t->tracks.v[0].depths, v[i].rows);
		assert_int_equal(loss_of(t, "slice_overlap_kept"), v[i].overlaps);
		assert_int_equal(t->losses.n, v[i].overlaps > 0);
		fsc_trace_free(t);
	}
}

static void an_arrow_without_a_start_takes_the_right_one_of_several_calls(void **state)
{
#define END_AT(ts)                                                                           \
	",{\"ph\":\"f\",\"bp\":\"e\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":5,\"pid\":0," \
	"\"tid\":7,\"ts\":" #ts "}"
#define AT(ts) K("0", "7", ts, 2, DS("0", "7") ",\"correlation\":5")
	static const struct {
		const char *events;
		int64_t call_us; /* after the first event */
	} v[] = {
		{ CALL(9, 0, 5) "," CALL(9, 100, 5) "," AT(50) END_AT(50), 0 },
		{ CALL(9, 0, 5) "," CALL(9, 100, 5) "," AT(150) END_AT(150), 100 },
		{ CALL(9, 0, 5) "," CALL(8, 20, 5) "," CALL(9, 100, 5) "," AT(90) END_AT(90), 20 },
		{ CALL(9, 10, 5) "," CALL(9, 100, 5) "," AT(0) END_AT(0), 10 },
	};

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(v); i++) {
		char json[2048];
		snprintf(json, sizeof(json), "{\"schemaVersion\":1,\"traceEvents\":[%s]}",
			 v[i].events);
		struct fsc_trace *t = must_read(json);

		assert_int_equal(t->flows.n, 1);
		assert_int_equal(t->slices.ts[t->flows.v[0].from], v[i].call_us * 1000);
		assert_int_equal(loss_of(t, "flow_bound_by_correlation"), 1);
		fsc_trace_free(t);
	}
}

static void rank_and_world_size_come_from_what_can_be_read(void **state)
{
#define INFO(x) "\"distributedInfo\":{" x "}"
	static const struct {
		const char *keys;
		int64_t rank, world;
		const char *told;
	} v[] = {
		{ INFO("\"rank\":3,\"world_size\":8"), 3, 8, "" },
		{ INFO("\"rank\":\"3\",\"world_size\":\"8\""), 3, 8, "" },
		{ INFO("\"world_size\":8"), -1, 8, "" },
		{ INFO("\"rank\":3"), 3, -1, "" },
		{ INFO("\"rank\":-1,\"world_size\":null"), -1, -1, "" },
		{ INFO(""), -1, -1, "" },
		{ "\"distributedInfo\":[]", -1, -1, "" },
		{ INFO("\"rank\":\"three\",\"world_size\":8"), -1, 8, "rank_unreadable" },
		{ INFO("\"rank\":[3],\"world_size\":{}"), -1, -1, "rank_unreadable" },
		{ INFO("\"rank\":3,\"world_size\":8") "," INFO("\"rank\":3,\"world_size\":8"), 3, 8,
		  "" },
		{ INFO("\"rank\":3,\"world_size\":8") "," INFO("\"rank\":4,\"world_size\":8"), 4, 8,
		  "rank_contradicted" },
		{ INFO("\"rank\":3,\"world_size\":8") "," INFO("\"rank\":3,\"world_size\":16"), 3,
		  16, "rank_contradicted" },
		{ INFO("\"rank\":3,\"world_size\":8") "," INFO("\"world_size\":8"), -1, 8,
		  "rank_contradicted" },
	};

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(v); i++) {
		char json[1024];
		snprintf(json, sizeof(json), "{%s,\"traceEvents\":[" X("1", "1", 1, 2) "]}",
			 v[i].keys);
		struct fsc_trace *t = must_read(json);

		assert_int_equal(t->meta.rank, v[i].rank);
		assert_int_equal(t->meta.world_size, v[i].world);
		assert_int_equal(t->losses.n, v[i].told[0] != 0);
		assert_true(!v[i].told[0] || loss_of(t, v[i].told) > 0);
		fsc_trace_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_stream_number_on_several_devices_is_several_streams),
		cmocka_unit_test(ids_may_be_text_and_below_zero),
		cmocka_unit_test(streams_may_be_text_below_zero_and_handles),
		cmocka_unit_test(stream_0_and_the_default_streams_are_streams_like_others),
		cmocka_unit_test(a_kernel_may_begin_before_its_launch),
		cmocka_unit_test(slices_of_one_stream_may_overlap),
		cmocka_unit_test(an_arrow_without_a_start_takes_the_right_one_of_several_calls),
		cmocka_unit_test(rank_and_world_size_come_from_what_can_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
