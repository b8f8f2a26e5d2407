/* SPDX-License-Identifier: Apache-2.0 */
/* Archives of several ranks, as tools make them, through the real program: who each trace is of, and when it was. */
#include "tests/unit/bundle/tar_util.h"
#include "tests/unit/bundle/zip_util.h"
#include "tests/unit/indexer/run_program.h"

/* Every rank has the same pid, thread, stream, correlation and flow ids. */
#define EVENTS                                                                                     \
	"\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\","   \
	"\"pid\":9,"                                                                               \
	"\"tid\":9,\"ts\":10,\"dur\":2,\"args\":{\"correlation\":1}},{\"ph\":\"X\",\"cat\":"       \
	"\"kernel\","                                                                              \
	"\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":20,\"dur\":2,\"args\":{\"device\":0,"           \
	"\"stream\":7,"                                                                            \
	"\"correlation\":1}},{\"ph\":\"s\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":1,\"pid\":9," \
	"\"tid\":9,"                                                                               \
	"\"ts\":10},{\"ph\":\"f\",\"bp\":\"e\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":1,"       \
	"\"pid\":0,"                                                                               \
	"\"tid\":7,\"ts\":20}]}"
#define PLAIN "{\"schemaVersion\":1," EVENTS
#define RANK(r, w) \
	"{\"schemaVersion\":1,\"distributedInfo\":{\"rank\":" #r ",\"world_size\":" #w "}," EVENTS
#define EPOCH "{\"schemaVersion\":1,\"baseTimeNanoseconds\":1767189312000000000," EVENTS
#define CUT "{\"schemaVersion\":1,\"traceEvents\":[{\"ph\":\"X\",\"ts\":1"
#define ONE_EPOCH_US "1767189312000010000"

struct file {
	const char *path, *data;
};

struct archive_case {
	const char *what;
	struct file files[6];
	/* "path rank host capture t_base losses; ..." */
	const char *traces;
	/* "path outcome code; ..." */
	const char *members;
	bool zip;
};

static const char *known(const char *s)
{
	return s[0] ? s : "-";
}

static void tell(struct fsc_buf *traces, struct fsc_buf *members, const struct told *d)
{
	for (size_t i = 0; i < d->traces.n; i++) {
		const struct told_trace *t = &d->traces.v[i];

		assert_true(t->finished);
		/* nothing of another rank has come in */
		assert_int_equal(t->t.flows, 1);
		assert_int_equal(t->t.launch_pairs, 1);
		fsc_buf_addf(traces, "%s%s %lld/%lld %s %s %lld", i ? "; " : "", t->t.member,
			     (long long)t->t.rank, (long long)t->t.world_size, known(t->t.host),
			     known(t->t.capture), (long long)t->t.t_base_ns);
		for (size_t k = 0; k < t->losses.n; k++)
			fsc_buf_addf(traces, " !%s", t->losses.v[k].code);
	}
	for (size_t i = 0; i < d->members.n; i++)
		fsc_buf_addf(members, "%s%s %s %s", i ? "; " : "", d->members.v[i].member,
			     d->members.v[i].outcome, d->members.v[i].code);
	fsc_buf_add(traces, "", 0);
	fsc_buf_add(members, "", 0);
}

static void pack(struct fsc_buf *out, const struct archive_case *c)
{
	struct zip z;

	zip_init(&z);
	for (const struct file *f = c->files; f->path; f++) {
		if (c->zip)
			zip_text(&z, f->path, f->data, ZIP_DEFLATED);
		else
			tar_file(out, f->path, f->data);
	}
	if (c->zip) {
		zip_end(&z, false);
		fsc_buf_add(out, z.out.data, z.out.len);
	} else {
		tar_end(out);
	}
	zip_fini(&z);
}

static void check(const struct archive_case *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct fsc_buf b = FSC_BUF_INIT(1 << 20), traces = FSC_BUF_INIT(1 << 16),
			       members = FSC_BUF_INIT(1 << 16);
		struct fsc_indexer_job job = FSC_INDEXER_JOB_INIT;
		struct told d;

		pack(&b, &v[i]);
		job.name = "ranks";
		job.max_wall_s = 120;
		told_run_bytes(&d, job, b.data, b.len);
		if (d.st != FSC_OK)
			fail_msg("%s: %s", v[i].what, d.err.msg);
		tell(&traces, &members, &d);
		if (strcmp(traces.data, v[i].traces) || strcmp(members.data, v[i].members))
			fail_msg("%s\ngave   %s | %s\nwanted %s | %s", v[i].what, traces.data,
				 members.data, v[i].traces, v[i].members);
		told_fini(&d);
		fsc_buf_fini(&members);
		fsc_buf_fini(&traces);
		fsc_buf_fini(&b);
	}
}

static const struct archive_case by_name[] = {
	{ "names with a rank",
	  { { "rank-0.json", PLAIN },
	    { "rank_1.json", PLAIN },
	    { "rank2.json", PLAIN },
	    { "worker3.1623143089861.pt.trace.json", PLAIN },
	    { "node7_rank4_step_5.json", PLAIN } },
	  "rank-0.json 0/-1 - - 10000; rank_1.json 1/-1 - - 10000; rank2.json 2/-1 - - "
	  "10000; "
	  "worker3.1623143089861.pt.trace.json 3/-1 - - 10000; node7_rank4_step_5.json "
	  "4/-1 node7 - "
	  "10000",
	  "",
	  false },
	{ "the same in a zip",
	  { { "run/rank-0.json", PLAIN }, { "run/rank-1.json", PLAIN } },
	  "run/rank-0.json 0/-1 - - 10000; run/rank-1.json 1/-1 - - 10000",
	  "",
	  true },
	{ "folders of ranks",
	  { { "rank_0/trace.json", PLAIN },
	    { "rank_1/trace.json", PLAIN },
	    { "rank_2/a/trace.json", PLAIN } },
	  "rank_0/trace.json 0/-1 - - 10000; rank_1/trace.json 1/-1 - - 10000; "
	  "rank_2/a/trace.json 2/-1 - - 10000",
	  "",
	  false },
	{ "the file says its own",
	  { { "a.json", RANK(5, 8) },
	    { "rank6.json", RANK(6, 8) },
	    { "trace_3.json", RANK(7, 8) } },
	  "a.json 5/8 - - 10000; rank6.json 6/8 - - 10000; trace_3.json 7/8 - - 10000",
	  "",
	  false },
	{ "the name contradicts it",
	  { { "rank0.json", RANK(5, 8) }, { "rank1.json", RANK(5, 8) } },
	  "rank0.json 5/8 - - 10000 !identity_disagreement; rank1.json 5/8 - - 10000 "
	  "!identity_disagreement",
	  "",
	  false },
	{ "a rank outside its world",
	  { { "a.json", RANK(8, 8) },
	    { "rank5.json", "{\"schemaVersion\":1,\"distributedInfo\":{\"world_size\":4}," EVENTS },
	    { "b.json", RANK(0, 0) } },
	  "a.json 8/-1 - - 10000 !rank_outside_world; rank5.json 5/-1 - - 10000 "
	  "!rank_outside_world; "
	  "b.json 0/-1 - - 10000 !rank_outside_world",
	  "",
	  false },
	{ "our manifest before names",
	  { { "manifest.json", "{\"version\":1,\"host\":\"m1\",\"world_size\":2,\"files\":["
			       "{\"path\":\"x.json\","
			       "\"rank\":1},{\"path\":\"y.json\",\"rank\":0}]}" },
	    { "x.json", PLAIN },
	    { "y.json", PLAIN } },
	  "x.json 1/2 m1 - 10000; y.json 0/2 m1 - 10000",
	  "",
	  false },
};

static void ranks_come_from_content_and_then_from_names(void **state)
{
	(void)state;
	check(by_name, FSC_ARRAY_LEN(by_name));
}

static void folders_of_tensorboard_say_host_and_run(void **state)
{
	static const struct archive_case v[] = {
		{ "PyTorch's handler",
		  { { "log/gpu-1_4711.1694128201545.pt.trace.json", RANK(0, 2) },
		    { "log/gpu-2_4711.1694128201549.pt.trace.json", RANK(1, 2) } },
		  "log/gpu-1_4711.1694128201545.pt.trace.json 0/2 gpu-1 - 10000; "
		  "log/gpu-2_4711.1694128201549.pt.trace.json 1/2 gpu-2 - 10000",
		  "",
		  false },
		{ "TensorBoard's folders",
		  { { "plugins/profile/2026_11_30/t1-w-0.trace.json", PLAIN },
		    { "plugins/profile/2026_11_30/t1-w-1.trace.json", PLAIN } },
		  "plugins/profile/2026_11_30/t1-w-0.trace.json -1/-1 t1-w-0 2026_11_30 10000; "
		  "plugins/profile/2026_11_30/t1-w-1.trace.json -1/-1 t1-w-1 2026_11_30 10000",
		  "",
		  true },
		{ "the file says its host",
		  { { "gpu-1_4711.1694128201545.pt.trace.json",
		      "{\"host_name\":\"real\"," EVENTS } },
		  "gpu-1_4711.1694128201545.pt.trace.json -1/-1 real - 10000",
		  "",
		  false },
	};

	(void)state;
	check(v, FSC_ARRAY_LEN(v));
}

#define PM(files) " {\"perfetto_manifest\": {\"version\":1,\"files\":[" files "]}}"
#define PINNED(path, machine, ns)                                 \
	"{\"path\":\"" path "\",\"machine\":{\"name\":\"" machine \
	"\"},\"clocks\":{\"sync_to\":{\"file\":"                  \
	"\"a.json\"},\"offset_ns\":" ns "}}"

static const struct archive_case by_manifest[] = {
	{ "machines and offsets",
	  { { "perfetto_manifest.json",
	      PM("{\"path\":\"a.json\",\"machine\":{\"name\":\"n0\"}}," PINNED(
		      "b.json", "n1", "5000") "," PINNED("c.json", "n2", "-4000")) },
	    { "a.json", RANK(0, 3) },
	    { "b.json", RANK(1, 3) },
	    { "c.json", RANK(2, 3) } },
	  "a.json 0/3 n0 - 10000; b.json 1/3 n1 - 15000 !clock_offset_applied; c.json 2/3 "
	  "n2 - 6000 "
	  "!clock_offset_applied",
	  "",
	  false },
	{ "any name, an epoch, a zip",
	  { { "meta.json", PM(PINNED("e.json", "n1", "-1000")) }, { "e.json", EPOCH } },
	  "e.json -1/-1 n1 - 1767189312000009000 !clock_offset_applied",
	  "",
	  true },
	{ "the offset of another clock says nothing about Unix time",
	  { { "m.json", PM("{\"path\":\"e.json\",\"clocks\":{\"clock\":\"BOOTTIME\",\"sync_"
			   "to\":{\"file\":"
			   "\"x.json\"},\"offset_ns\":77}}") },
	    { "e.json", EPOCH } },
	  "e.json -1/-1 - - " ONE_EPOCH_US " !clock_offset_ignored",
	  "",
	  false },
	{ "a pinned file comes into Unix time",
	  { { "m.json", PM(PINNED("p.json", "n1", "1767189312000000000")) }, { "p.json", PLAIN } },
	  "p.json -1/-1 n1 - " ONE_EPOCH_US " !clock_offset_applied",
	  "",
	  false },
	{ "a file that is not there, one that is not named",
	  { { "m.json", PM(PINNED("gone.json", "n1", "1")) }, { "rank3.json", PLAIN } },
	  "rank3.json 3/-1 - - 10000",
	  "gone.json skipped member_missing",
	  false },
	{ "behind a trace it is not used, and that is told",
	  { { "a.json", PLAIN },
	    { "m.json", PM(PINNED("b.json", "n1", "5000")) },
	    { "b.json", PLAIN } },
	  "a.json -1/-1 - - 10000; b.json -1/-1 - - 10000",
	  "m.json skipped manifest_not_first",
	  false },
	{ "a second one",
	  { { "m.json", PM(PINNED("b.json", "n1", "5000")) },
	    { "m2.json", PM("") },
	    { "b.json", PLAIN } },
	  "b.json -1/-1 n1 - 15000 !clock_offset_applied",
	  "m2.json skipped perfetto_manifest_repeated",
	  false },
	{ "a broken one takes no trace with it",
	  { { "m.json", "{\"perfetto_manifest\":{\"version\":1,\"files\":7}}" },
	    { "b.json", PLAIN } },
	  "b.json -1/-1 - - 10000",
	  "m.json failed perfetto_manifest_invalid",
	  false },
};

static void a_manifest_of_perfetto_names_machines_and_moves_files(void **state)
{
	(void)state;
	check(by_manifest, FSC_ARRAY_LEN(by_manifest));
}

static void one_bad_rank_does_not_take_the_others_with_it(void **state)
{
	static const struct archive_case v[] = {
		{ "cut",
		  { { "rank0.json", PLAIN }, { "rank1.json", CUT }, { "rank2.json", PLAIN } },
		  "rank0.json 0/-1 - - 10000; rank2.json 2/-1 - - 10000",
		  "rank1.json failed json_truncated",
		  false },
		{ "empty, first",
		  { { "rank0.json", "" }, { "rank1.json", PLAIN } },
		  "rank1.json 1/-1 - - 10000",
		  "rank0.json skipped empty_file",
		  true },
		{ "an error page, last",
		  { { "rank0.json", PLAIN }, { "rank1.json", "<html>503</html>" } },
		  "rank0.json 0/-1 - - 10000",
		  "rank1.json skipped html",
		  false },
		{ "no JSON",
		  { { "rank0.json", "{\"traceEvents\":[{\"ph\":]}" }, { "rank1.json", PLAIN } },
		  "rank1.json 1/-1 - - 10000",
		  "rank0.json failed json_syntax",
		  true },
	};

	(void)state;
	check(v, FSC_ARRAY_LEN(v));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_come_from_content_and_then_from_names),
		cmocka_unit_test(folders_of_tensorboard_say_host_and_run),
		cmocka_unit_test(a_manifest_of_perfetto_names_machines_and_moves_files),
		cmocka_unit_test(one_bad_rank_does_not_take_the_others_with_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
