/* SPDX-License-Identifier: Apache-2.0 */
/* What the JSON reader accepts, repairs and counts: one small file each. */
#include <inttypes.h>

#include "base/json_scan.h"
#include "tests/support/read_trace.h"

#define X "\"ph\":\"X\",\"pid\":1,\"tid\":2"

static void check(const char *json, const char *name, int64_t abs_ns, int64_t dur)
{
	struct fsc_trace *t = must_read(json);
	uint32_t i = slice_named(t, name);

	assert_int_equal(t->slices.ts[i] + t->meta.t_base_ns, abs_ns);
	assert_int_equal(t->slices.dur[i], dur);
	fsc_trace_free(t);
}

static void times_of_all_three_eras_are_exact(void **state)
{
	(void)state;
	check("{\"traceEvents\":[{" X ",\"name\":\"a\",\"ts\":1669783687464181,\"dur\":45}]}", "a",
	      1669783687464181000, 45000);
	check("{\"traceEvents\":[{" X
	      ",\"name\":\"a\",\"ts\":1694128201549123.456,\"dur\":0.001}]}",
	      "a", 1694128201549123456, 1);
	check("{\"baseTimeNanoseconds\":1767189312000000000,\"traceEvents\":[{" X
	      ",\"name\":\"a\",\"ts\":1365627862757.064,\"dur\":87412.9}]}",
	      "a", 1767189312000000000 + 1365627862757064, 87412900);
	check("{\"traceEvents\":[{" X ",\"name\":\"a\",\"ts\":1365627862757.064,\"dur\":87412.86}],"
	      "\"baseTimeNanoseconds\":1767189312000000000}",
	      "a", 1767189312000000000 + 1365627862757064, 87412860);
	check("[{" X ",\"name\":\"a\",\"ts\":\"1727743122123456.789\",\"dur\":\"1e3\"}]", "a",
	      1727743122123456789, 1000000);
	check("[{" X ",\"name\":\"a\",\"ts\":-5.5,\"dur\":1.5E+1}]", "a", -5500, 15000);
	check("[{" X ",\"name\":\"a\",\"ts\":1.0004,\"dur\":2}]", "a", 1000, 2000);
}

static void a_base_beside_epoch_times_is_ignored_and_counted(void **state)
{
	struct fsc_trace *t =
		must_read("{\"baseTimeNanoseconds\":1767189312000000000,\"traceEvents\":[{" X
			  ",\"name\":\"a\",\"ts\":1669783687464181,\"dur\":45}]}");

	(void)state;
	assert_int_equal(t->meta.t_base_ns, 1669783687464181000);
	assert_int_equal(loss_of(t, "base_time_ignored"), 1);
	assert_true(t->meta.has_epoch);
	fsc_trace_free(t);
}

static void a_file_without_an_epoch_says_so(void **state)
{
	struct fsc_trace *t =
		must_read("[{" X ",\"name\":\"a\",\"ts\":4821938123456.123,\"dur\":1}]");

	(void)state;
	assert_false(t->meta.has_epoch);
	assert_int_equal(t->meta.t_base_ns, 4821938123456123);
	assert_string_equal(str_of(t, t->meta.format), "chrome_json");
	fsc_trace_free(t);
}

static void broken_stamps_do_not_stretch_the_trace(void **state)
{
	struct fsc_trace *t = must_read("[{" X ",\"name\":\"zero\",\"ts\":0,\"dur\":1},{" X
					",\"name\":\"a\",\"ts\":1669783687464181,\"dur\":45},{" X
					",\"name\":\"b\",\"ts\":1669783687464191,\"dur\":1}]");

	(void)state;
	assert_int_equal(t->slices.n, 2);
	assert_int_equal(loss_of(t, "implausible_time"), 1);
	assert_int_equal(t->meta.t_base_ns, 1669783687464181000);
	fsc_trace_free(t);
}

static const struct {
	const char *json, *code;
	uint64_t n;
} faults[] = {
	{ "[{" X ",\"name\":\"a\",\"ts\":1,\"dur\":1},{" X
	  ",\"name\":\"say \"hi\"\",\"ts\":2,\"dur\":1},{" X ",\"name\":\"c\",\"ts\":3,\"dur\":1}]",
	  "event_unreadable", 1 },
	{ "{\"traceEvents\":[{" X ",\"name:1,\"args\":{\"l\":[{\"a\":1},{\"b\":2}]}} , {" X
	  ",\"name\":\"c\",\"ts\":3,\"dur\":1}]}",
	  "event_unreadable", 1 },
	{ "[{" X ",\"name\":\"a\",\"ts\":1,\"dur\":1},{" X ",\"ts\":1}]", "x_without_dur", 1 },
	{ "[{" X ",\"name\":\"a\",\"ts\":1,\"dur\":1},{" X ",\"ts\":1,\"dur\":\"1z\"}]",
	  "x_bad_dur", 1 },
	{ "[{" X ",\"name\":\"a\",\"ts\":1,\"dur\":1},{" X ",\"dur\":1}]", "event_without_ts", 1 },
	{ "[{" X ",\"name\":\"a\",\"ts\":1,\"dur\":1},{" X ",\"ts\":\"100a\",\"dur\":1}]",
	  "event_bad_ts", 1 },
	{ "[{" X ",\"name\":\"a\",\"ts\":1,\"dur\":1},{" X ",\"ts\":1e300,\"dur\":1}]",
	  "event_bad_ts", 1 },
	{ "[{" X ",\"name\":\"a\",\"ts\":1,\"dur\":-1}]", "negative_duration", 1 },
	{ "[{" X ",\"name\":\"a\",\"ts\":1,\"dur\":1},{}]", "event_empty", 1 },
	{ "[{" X ",\"name\":\"a\",\"ts\":1,\"dur\":1},{\"ts\":1}]", "event_without_phase", 1 },
	{ "[{" X ",\"name\":\"a\",\"ts\":1,\"dur\":1},7,\"x\",[1]]", "event_not_object", 3 },
	{ "[{" X ",\"name\":\"a\",\"ts\":1,\"dur\":1},]", "comma_repaired", 1 },
	{ "[{" X ",\"name\":\"a\",\"ts\":1,\"dur\":1},,{" X ",\"ts\":1,\"dur\":1}]",
	  "comma_repaired", 1 },
	{ "[{" X ",\"name\":\"a\",\"ts\":1,\"dur\":1}{" X ",\"ts\":1,\"dur\":1}]", "comma_repaired",
	  1 },
	{ "[{" X ",\"name\":\"a\",\"ts\":1,\"dur\":1,}]", "comma_repaired", 1 },
	{ "[{" X ",\"name\":\"a\",\"ts\":1,\"dur\":1,\"args\":{\"k\":[1,],}}]", "comma_repaired",
	  2 },
	{ "[{" X ",\"name\":\"a\",\"ts\":1,\"dur\":1},", "array_not_closed", 1 },
	{ "[{" X ",\"name\":\"a\",\"ts\":1,\"dur\":1}\n", "array_not_closed", 1 },
	{ "[{" X ",\"name\":\"a\",\"ts\":1,\"dur\":1,\"args\":{\"bw\":inf,\"x\":NaN,\"y\":-"
	  "Infinity}}]",
	  "number_not_finite", 3 },
	{ "[{" X ",\"name\":\"a\",\"ts\":1,\"dur\":1,\"args\":{\"v\":01.5,\"w\":1.2.3}}]",
	  "number_malformed", 2 },
	{ "[{" X ",\"name\":\"C:\\path\",\"ts\":1,\"dur\":1}]", "escape_invalid", 1 },
	{ "[{" X ",\"name\":\"\\ud800x\",\"ts\":1,\"dur\":1}]", "surrogate_lone", 1 },
	{ "[{" X ",\"name\":\"a\x80z\",\"ts\":1,\"dur\":1}]", "utf8_repaired", 1 },
	{ "[{" X ",\"name\":\"a\nz\",\"ts\":1,\"dur\":1}]", "control_character", 1 },
	{ "[{" X ",\"name\":\"a\",\"ts\":1,\"dur\":1,\"args\":5}]", "args_not_object", 1 },
	{ "[{" X ",\"name\":\"a\",\"name\":\"b\",\"ts\":1,\"dur\":1}]", "duplicate_key", 1 },
	{ "[{" X ",\"name\":\"a\",\"ts\":1,\"dur\":1,\"tts\":\"x\",\"tdur\":[4]}]",
	  "thread_time_ignored", 2 },
	{ "[{" X ",\"name\":\"a\",\"ts\":1,\"dur\":1},{\"ph\":\"E\",\"ts\":1,\"tts\":3}]",
	  "thread_time_ignored", 1 },
	{ "[{" X ",\"name\":\"a\",\"ts\":1,\"dur\":1},{\"ph\":\"s\",\"id\":1,\"ts\":1,\"args\":{"
	  "\"a\":1}}]",
	  "flow_args_ignored", 1 },
	{ "[{" X ",\"name\":\"a\",\"ts\":1,\"dur\":1,\"sf\":7}]", "stack_frame_unknown", 1 },
	{ "{\"traceEvents\":[{" X
	  ",\"name\":\"a\",\"ts\":1,\"dur\":1,\"sf\":7}],\"stackFrames\":{\"7\":5}}",
	  "stack_frame_unreadable", 1 },
	{ "{\"traceEvents\":[{" X
	  ",\"name\":\"a\",\"ts\":1,\"dur\":1,\"sf\":7}],\"stackFrames\":{\"7\":"
	  "{\"name\":\"f\",\"parent\":7}}}",
	  "stack_too_deep", 1 },
	{ "{\"traceEvents\":[{" X ",\"name\":\"a\",\"ts\":1,\"dur\":1}],\"samples\":[{\"ts\":1}]}",
	  "event_without_phase", 1 },
	{ "[{" X ",\"name\":\"a\",\"ts\":1,\"dur\":1,\"cname\":\"red\"}]", "event_key_ignored", 1 },
	{ "[{" X ",\"name\":\"a\",\"ts\":1,\"dur\":1},{\"ph\":\"N\",\"ts\":1},{\"ph\":"
	  "\"N\",\"ts\":2}]",
	  "phase_unknown_N", 2 },
	{ "[{" X ",\"name\":\"a\",\"ts\":1,\"dur\":1},{\"ph\":\"E\",\"ts\":1}]",
	  "end_without_begin", 1 },
	{ "[{\"ph\":\"B\",\"name\":\"a\",\"ts\":1}]", "begin_without_end", 1 },
	{ "[{" X ",\"name\":\"a\",\"ts\":1,\"dur\":1.0001}]", "time_below_1_ns", 1 },
	{ "[{" X ",\"name\":\"a\",\"ts\":1,\"dur\":1},{\"ph\":\"C\",\"ts\":1,\"args\":{"
	  "\"v\":\"+\"}}]",
	  "counter_not_a_number", 1 },
	{ "[{" X ",\"name\":\"a\",\"ts\":1,\"dur\":1,\"args\":{\"correlation\":\"x\"}}]",
	  "correlation_not_a_number", 1 },
	{ "[{" X ",\"name\":\"a\",\"ts\":1,\"dur\":1},{\"ph\":\"s\",\"ts\":1}]", "id_missing", 1 },
	{ "[{" X ",\"name\":\"a\",\"ts\":1,\"dur\":1},{\"ph\":\"M\",\"name\":\"num_cpus\"}]",
	  "metadata_event_ignored", 1 },
	{ "[{" X ",\"name\":\"a\",\"ts\":1,\"dur\":1}] junk", "trailing_data", 1 },
	{ "{\"traceEvents\":[{" X
	  ",\"name\":\"a\",\"ts\":1,\"dur\":1}],\"INFO\":[\"a \"quoted\" word\"]}",
	  "metadata_unreadable", 1 },
	{ "{\"INFO\":[\"a \"quoted\" word\"],\"traceEvents\":[{" X
	  ",\"name\":\"a\",\"ts\":1,\"dur\":1}]}",
	  "metadata_unreadable", 1 },
	{ "{\"traceEvents\":[{" X
	  ",\"name\":\"a\",\"ts\":1,\"dur\":1}],\"baseTimeNanoseconds\":[]}",
	  "base_time_unreadable", 1 },
	{ "[{" X ",\"name\":\"a\",\"ts\":0,\"dur\":10},{" X ",\"name\":\"b\",\"ts\":5,\"dur\":10}]",
	  "slice_overlap_kept", 1 },
	{ "[{" X ",\"name\":\"a\",\"ts\":0,\"dur\":10},{\"ph\":\"f\",\"id\":1,\"pid\":1,"
	  "\"tid\":2,\"ts\":1}]",
	  "flow_end_without_start", 1 },
	{ "[{" X ",\"name\":\"a\",\"ts\":0,\"dur\":10},{\"ph\":\"s\",\"id\":1,\"pid\":1,"
	  "\"tid\":2,\"ts\":1}]",
	  "flow_start_without_end", 1 },
	{ "[{" X ",\"name\":\"a\",\"ts\":0,\"dur\":10},{\"ph\":\"s\",\"id\":1,\"pid\":9,\"ts\":1},"
	  "{\"ph\":\"f\",\"bp\":\"e\",\"id\":1,\"pid\":1,\"tid\":2,\"ts\":1}]",
	  "flow_outside_slice", 1 },
};

static void every_tolerated_fault_has_its_counter(void **state)
{
	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(faults); i++) {
		struct fsc_trace *t = must_read(faults[i].json);
		if (loss_of(t, faults[i].code) != faults[i].n)
			fail_msg("%s: %s is %" PRIu64 ", expected %" PRIu64, faults[i].json,
				 faults[i].code, loss_of(t, faults[i].code), faults[i].n);
		assert_true(t->slices.n > 0);
		if (!strcmp(faults[i].code, "event_unreadable"))
			assert_int_equal(t->losses.n, 1); /* and nothing else */
		fsc_trace_free(t);
	}
}

static void names_are_resolved_and_repaired(void **state)
{
	static const struct {
		const char *json, *name;
	} all[] = {
		{ "\\u0041\\n\\t\\\"\\\\\\/", "A\n\t\"\\/" },
		{ "\\ud83d\\ude00", "\xF0\x9F\x98\x80" },
		{ "\\ud83d", "\xEF\xBF\xBD" },
		{ "\\ude00\\ud83d", "\xEF\xBF\xBD\xEF\xBF\xBD" },
		{ "\\u00e9\xC3\xA9", "\xC3\xA9\xC3\xA9" },
		{ "a\\qb", "a\\qb" },
		{ "a\\u12", "a\\u12" },
		{ "\xC0\xAF", "\xEF\xBF\xBD\xEF\xBF\xBD" },
		{ "a\\u0000b", "a\xEF\xBF\xBD"
			       "b" },
		{ "exactly sixteen!", "exactly sixteen!" },
		{ "a name that is longer than one vector of thirty-two bytes \\u0042 and goes on "
		  "after the escape",
		  "a name that is longer than one vector of thirty-two bytes B and goes on after "
		  "the escape" },
	};

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(all); i++) {
		char json[400];
		snprintf(json, sizeof(json), "[{" X ",\"ts\":1,\"dur\":1,\"name\":\"%s\"}]",
			 all[i].json);
		struct fsc_trace *t = must_read(json);
		assert_string_equal(str_of(t, t->slices.name[0]), all[i].name);
		fsc_trace_free(t);
	}
}

static void top_level_keys_are_kept_as_canonical_json(void **state)
{
	struct fsc_trace *t =
		must_read("{ \"schemaVersion\" : 1, \"x\\qy\": [ 1 , NaN, \"a\tb\" ],\n"
			  "\"traceEvents\": [ {" X ", \"name\": \"a\", \"ts\": 1, \"dur\": 1 } ],\n"
			  "\"distributedInfo\": { \"rank\" : 3, \"world_size\": \"8\" },"
			  "\"host_name\":\"node\\u0041\",\"job_id\":17,\"group_trace_id\":\"g\" }");

	(void)state;
	assert_string_equal(
		str_of(t, t->meta.json),
		"{\"schemaVersion\":1,\"x\\\\qy\":[1,null,\"a\\u0009b\"],"
		"\"distributedInfo\":{\"rank\":3,\"world_size\":\"8\"},"
		"\"host_name\":\"node\\u0041\",\"job_id\":17,\"group_trace_id\":\"g\"}");
	assert_int_equal(t->meta.rank, 3);
	assert_int_equal(t->meta.world_size, 8);
	assert_string_equal(str_of(t, t->meta.host), "nodeA");
	assert_string_equal(str_of(t, t->meta.job), "17");
	assert_string_equal(str_of(t, t->meta.capture), "g");
	assert_string_equal(str_of(t, t->meta.format), "kineto");
	fsc_trace_free(t);
}

static void identities_may_be_text_and_numeric_text_is_a_number(void **state)
{
	struct fsc_trace *t = must_read(
		"[{\"ph\":\"X\",\"pid\":\"Spans\",\"tid\":\"x\",\"ts\":1,\"dur\":1,\"name\":\"a\"},"
		"{\"ph\":\"X\",\"pid\":\"\",\"tid\":\"\",\"ts\":1,\"dur\":1,\"name\":\"b\"},"
		"{\"ph\":\"X\",\"pid\":\"12\",\"tid\":\"34\",\"ts\":1,\"dur\":1,\"name\":\"c\"},"
		"{\"ph\":\"X\",\"pid\":12,\"tid\":34,\"ts\":2,\"dur\":1,\"name\":\"d\"},"
		"{\"ph\":\"X\",\"pid\":12.9,\"tid\":34.2,\"ts\":3,\"dur\":1,\"name\":\"e\"},"
		"{\"ph\":\"X\",\"pid\":7,\"ts\":3,\"dur\":1,\"name\":\"f\"},"
		"{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":12,\"tid\":\"34\",\"args\":{"
		"\"name\":\"main\"}},"
		"{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":\"Spans\",\"args\":{\"name\":"
		"\"S\"}}]");

	(void)state;
	assert_int_equal(t->tracks.n, 4);
	assert_int_equal(t->processes.n, 4);
	const struct fsc_track *c = &t->tracks.v[t->slices.track[slice_named(t, "c")]];
	assert_int_equal(c->n, 3);
	assert_int_equal(c->tid, 34);
	assert_string_equal(str_of(t, c->name), "main");
	const struct fsc_track *a = &t->tracks.v[t->slices.track[slice_named(t, "a")]];
	assert_int_equal(a->tid, -1);
	assert_string_equal(str_of(t, a->tid_text), "x");
	assert_string_equal(str_of(t, t->processes.v[a->process].pid_text), "Spans");
	assert_string_equal(str_of(t, t->processes.v[a->process].name), "S");
	const struct fsc_track *f = &t->tracks.v[t->slices.track[slice_named(t, "f")]];
	assert_int_equal(f->tid, 7); /* a missing tid is the pid */
	fsc_trace_free(t);
}

static const char gpu_rows[] =
	"[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":1,\"tid\":7,"
	"\"ts\":10,\"dur\":5,\"args\":{"
	"\"device\":1,\"context\":1,\"stream\":7,\"correlation\":42,\"grid\":[10,"
	" 2,1],\"block\":[128,1,1],"
	"\"registers per thread\":33,\"shared memory\":1024,\"blocks per "
	"SM\":0.5,\"warps per SM\":2,"
	"\"est. achieved occupancy %\":12,\"graph id\":5,\"graph node "
	"id\":6,\"queued\":9}},"
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\","
	"\"pid\":100,\"tid\":100,\"ts\":1,"
	"\"dur\":2,\"args\":{\"correlation\":42}},"
	"{\"ph\":\"s\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":42,\"pid\":100,"
	"\"tid\":100,\"ts\":1},"
	"{\"ph\":\"f\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":42,\"pid\":1,"
	"\"tid\":7,\"ts\":10,\"bp\":\"e\"},"
	"{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":\"step\",\"pid\":"
	"1,\"tid\":7,\"ts\":9,\"dur\":9},"
	"{\"ph\":\"X\",\"cat\":\"cuda_sync\",\"name\":\"Stream "
	"Sync\",\"pid\":1,\"tid\":7,\"ts\":11,\"dur\":9,"
	"\"args\":{\"stream\":7,\"device\":1}},"
	"{\"ph\":\"X\",\"cat\":\"Memcpy\",\"name\":\"Memcpy "
	"HtoD\",\"pid\":0,\"tid\":\"stream 9\",\"ts\":20,"
	"\"dur\":1,\"args\":{\"bytes\":8,\"memory bandwidth (GB/s)\":0.5}},"
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_AllReduce\","
	"\"pid\":1,\"tid\":8,\"ts\":30,"
	"\"dur\":1,\"args\":{\"device\":1,\"stream\":8,\"Collective "
	"name\":\"allreduce\",\"dtype\":\"Float\","
	"\"In msg nelems\":4,\"Out msg nelems\":5,\"Group "
	"size\":8,\"Rank\":3,\"Process Group Name\":\"0\","
	"\"Process Group Ranks\":[0, 1],\"Seq\":77}}]";

static void kernels_get_streams_typed_fields_and_their_launch(void **state)
{
	struct fsc_trace *t = must_read(gpu_rows);

	(void)state;
	uint32_t k = slice_named(t, "gemm"), c = slice_named(t, "cudaLaunchKernel");
	const struct fsc_track *tr = &t->tracks.v[t->slices.track[k]];
	assert_int_equal(tr->kind, FSC_TRACK_STREAM);
	assert_int_equal(tr->device, 1);
	assert_int_equal(tr->context, 1);
	assert_int_equal(tr->stream, 7);
	assert_int_equal(t->slices.kind[k], FSC_KIND_COMPUTE);
	assert_int_equal(t->slices.correlation[k], 42);
	assert_int_equal(t->flows.n, 1);
	assert_int_equal(t->flows.v[0].from, c);
	assert_int_equal(t->flows.v[0].to, k);
	assert_int_equal(t->launches.n, 2);
	const struct fsc_launch *l = &t->launches.v[t->launches.v[0].slice == k ? 0 : 1];
	assert_int_equal(l->grid[0], 10);
	assert_int_equal(l->grid[1], 2);
	assert_int_equal(l->block[0], 128);
	assert_int_equal(l->registers, 33);
	assert_int_equal(l->shared_bytes, 1024);
	assert_true(l->blocks_per_sm == 0.5f && l->warps_per_sm == 2.0f &&
		    l->occupancy_pct == 12.0f);
	assert_int_equal(l->graph_id, 5);
	assert_int_equal(l->graph_node_id, 6);
	assert_int_equal(l->queued_ns, 9);
	assert_int_equal(l->bytes, -1);
	fsc_trace_free(t);
}

static void annotations_syncs_and_collectives_are_told_apart(void **state)
{
	struct fsc_trace *t = must_read(gpu_rows);

	(void)state;
	const struct fsc_track *an = &t->tracks.v[t->slices.track[slice_named(t, "step")]];
	assert_int_equal(an->kind, FSC_TRACK_ANNOTATION);
	assert_int_equal(an->device, 1);
	assert_int_equal(an->stream, 7);
	uint32_t sync = slice_named(t, "Stream Sync");
	assert_int_equal(t->slices.kind[sync], FSC_KIND_SYNC);
	assert_false(fsc_kind_is_gpu_work(t->slices.kind[sync]));
	assert_int_not_equal(t->tracks.v[t->slices.track[sync]].kind, FSC_TRACK_STREAM);
	uint32_t copy = slice_named(t, "Memcpy HtoD");
	assert_int_equal(t->slices.kind[copy], FSC_KIND_MEMCPY);
	assert_int_equal(t->tracks.v[t->slices.track[copy]].kind, FSC_TRACK_STREAM);
	assert_int_equal(t->tracks.v[t->slices.track[copy]].stream, FSC_NO_ORDINAL);
	assert_int_equal(t->collectives.n, 1);
	const struct fsc_collective *co = &t->collectives.v[0];
	assert_string_equal(str_of(t, co->name), "allreduce");
	assert_string_equal(str_of(t, co->dtype), "Float");
	assert_string_equal(str_of(t, co->pg_ranks), "[0, 1]");
	assert_int_equal(co->in_nelems, 4);
	assert_int_equal(co->group_size, 8);
	assert_int_equal(co->rank, 3);
	assert_int_equal(co->seq, 77);
	assert_int_equal(co->src_rank, -1);
	assert_int_equal(t->slices.kind[co->slice], FSC_KIND_COMM);
	fsc_trace_free(t);
}

static void memory_instants_are_counters_too(void **state)
{
	struct fsc_trace *t =
		must_read("[{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\",\"name\":\"["
			  "memory]\",\"pid\":5,\"tid\":6,\"ts\":2,"
			  "\"args\":{\"Device Type\":1,\"Device Id\":3,\"Bytes\":-8,\"Total "
			  "Allocated\":100,\"Total Reserved\":200}},"
			  "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\",\"name\":\"["
			  "memory]\",\"pid\":5,\"tid\":6,\"ts\":1,"
			  "\"args\":{\"Device Type\":1,\"Device Id\":3,\"Bytes\":8,\"Total "
			  "Allocated\":108,\"Total Reserved\":200}}]");
	bool found = false;

	(void)state;
	assert_int_equal(t->slices.n, 2);
	assert_int_equal(t->n_instants, 2);
	assert_int_equal(t->counters.n, 4);
	for (uint32_t i = 0; i < t->tracks.n; i++) {
		const struct fsc_track *k = &t->tracks.v[i];
		if (strcmp(str_of(t, k->name), "GPU 3 memory allocated") != 0)
			continue;
		found = true;
		assert_string_equal(str_of(t, k->unit), "bytes");
		assert_int_equal(k->device, 3);
		assert_true(t->counters.v[k->first].value == 108 &&
			    t->counters.v[k->first].ts == 0);
		assert_true(t->counters.v[k->first + 1].value == 100 &&
			    t->counters.v[k->first + 1].ts == 1000);
	}
	assert_true(found);
	fsc_trace_free(t);
}

static void counters_make_one_track_per_key(void **state)
{
	struct fsc_trace *t = must_read("[{\"ph\":\"C\",\"pid\":1,\"name\":\"m\",\"ts\":1,\"args\":"
					"{\"a\":1,\"b\":\"2.5\"}},"
					"{\"ph\":\"C\",\"pid\":1,\"name\":\"m\",\"id\":3,\"ts\":2,"
					"\"args\":{\"a\":.5,\"b\":7}}]");

	(void)state;
	/* ".5" is no JSON number: a counted repair, still a value */
	assert_int_equal(t->counters.n, 4);
	assert_int_equal(t->tracks.n, 4);
	fsc_trace_free(t);
}

static void a_kernel_category_without_a_gpu_is_an_ordinary_slice(void **state)
{
	static const char json[] = "[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"irq\",\"pid\":1,"
				   "\"tid\":2,\"ts\":1,\"dur\":1%s}]";
	static const char *const more[] = { "", ",\"args\":{\"cpu\":1}",
					    ",\"args\":{\"stream\":7}" };
	char text[200];

	(void)state;
	for (int i = 0; i < 3; i++) {
		snprintf(text, sizeof(text), json, more[i]);
		struct fsc_trace *t = must_read(text);
		assert_int_equal(t->slices.kind[0], i == 2 ? FSC_KIND_COMPUTE : FSC_KIND_OTHER);
		assert_int_equal(t->tracks.v[0].kind, i == 2 ? FSC_TRACK_STREAM : FSC_TRACK_THREAD);
		fsc_trace_free(t);
	}
}

/* Kineto writes an end at each runtime call that launches nothing: that is no loss. */
static void an_end_at_its_own_runtime_call_is_not_counted(void **state)
{
	struct fsc_trace *t = must_read("[{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":"
					"\"cudaEventQuery\",\"pid\":1,\"tid\":1,\"ts\":1,"
					"\"dur\":2,\"args\":{\"correlation\":42}},"
					"{\"ph\":\"f\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":"
					"42,\"pid\":1,\"tid\":1,\"ts\":1,\"bp\":\"e\"},"
					"{\"ph\":\"f\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":"
					"43,\"pid\":1,\"tid\":1,\"ts\":1,\"bp\":\"e\"}]");

	(void)state;
	assert_int_equal(loss_of(t, "flow_end_without_start"), 1); /* 43 */
	fsc_trace_free(t);
}

static void flows_of_both_versions_bind(void **state)
{
	struct fsc_trace *t = must_read(
		"[{" X ",\"name\":\"a\",\"ts\":0,\"dur\":10,\"bind_id\":\"0x1\",\"flow_out\":true},"
		"{\"ph\":\"X\",\"pid\":1,\"tid\":3,\"name\":\"b\",\"ts\":20,\"dur\":10,\"bind_id\":"
		"1,\"flow_in\":true,"
		"\"flow_out\":true},"
		"{\"ph\":\"X\",\"pid\":1,\"tid\":4,\"name\":\"c\",\"ts\":40,\"dur\":10,\"bind_id\":"
		"\"1\",\"flow_in\":true},"
		"{\"ph\":\"s\",\"id\":\"x\",\"name\":\"n\",\"cat\":\"c\",\"pid\":1,\"tid\":2,"
		"\"ts\":5},"
		"{\"ph\":\"t\",\"id\":\"x\",\"name\":\"n\",\"cat\":\"c\",\"pid\":1,\"tid\":3,"
		"\"ts\":25},"
		"{\"ph\":\"f\",\"id\":\"x\",\"name\":\"n\",\"cat\":\"c\",\"pid\":1,\"tid\":4,"
		"\"ts\":35}]");
	uint32_t a = slice_named(t, "a"), b = slice_named(t, "b"), c = slice_named(t, "c");

	(void)state;
	assert_int_equal(t->flows.n, 4);
	for (size_t i = 0; i < 4; i++) {
		const struct fsc_flow *f = &t->flows.v[i];
		assert_true((f->from == a && f->to == b) || (f->from == b && f->to == c));
	}
	fsc_trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_of_all_three_eras_are_exact),
		cmocka_unit_test(a_base_beside_epoch_times_is_ignored_and_counted),
		cmocka_unit_test(a_file_without_an_epoch_says_so),
		cmocka_unit_test(broken_stamps_do_not_stretch_the_trace),
		cmocka_unit_test(every_tolerated_fault_has_its_counter),
		cmocka_unit_test(names_are_resolved_and_repaired),
		cmocka_unit_test(top_level_keys_are_kept_as_canonical_json),
		cmocka_unit_test(identities_may_be_text_and_numeric_text_is_a_number),
		cmocka_unit_test(kernels_get_streams_typed_fields_and_their_launch),
		cmocka_unit_test(annotations_syncs_and_collectives_are_told_apart),
		cmocka_unit_test(memory_instants_are_counters_too),
		cmocka_unit_test(counters_make_one_track_per_key),
		cmocka_unit_test(an_end_at_its_own_runtime_call_is_not_counted),
		cmocka_unit_test(a_kernel_category_without_a_gpu_is_an_ordinary_slice),
		cmocka_unit_test(flows_of_both_versions_bind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
