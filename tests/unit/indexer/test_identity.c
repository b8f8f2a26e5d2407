/* SPDX-License-Identifier: Apache-2.0 */
/* Whose word counts for job, host, capture and rank, and that a contradiction is told. */
#include "indexer/identity.h"

#include "tests/support/test.h"

static void ranks_are_found_in_file_names(void **state)
{
	static const struct {
		const char *name;
		int64_t rank;
		bool weak;
	} cases[] = {
		{ "rank-7.json", 7, false },
		{ "rank_12.pt.trace.json.gz", 12, false },
		{ "a/b/rank0.json", 0, false },
		{ "Rank 3.json", 3, false },
		{ "sampled_rank-1.json.gz", 1, false },
		{ "worker 4.json", 4, false },
		{ "worker2_step_12.1694128201554.pt.trace.json", 2, false },
		{ "resnet50_num_workers_0_worker0.1623143089861.pt.trace.json", 0, false },
		{ "trace_5.json", 5, true },
		{ "x_1_2.json", 2, true },
		{ "rank7/trace.json", 7, false },
		{ "run/Rank-12/host0/trace.json", 12, false },
		{ "worker_3/rank4/t.json", 4, false },
		{ "rank_2/rank5.json", 5, false },
		{ "rank7b/trace.json", -1, false },
		{ "myrank7/trace.json", -1, false },
		{ "rank/trace.json", -1, false },
		{ "rank_/trace.json", -1, false },
		{ "ranks/8/trace.json", -1, false },
		{ "gpu-node-12_rank3_step_7.json", 3, false },
		{ "dp0_pp0_tp0_dcp0_ep0_rank6.1773709679453551615.pt.trace.json.gz", 6, false },
		{ "1773709679453-TP-3.trace.json.gz", 3, true },
		{ "1773709679453-TP-3-DP-1.trace.json.gz", -1, false },
		{ "1773709679453-TP-0-PP-1.trace.json.gz", -1, false },
		{ "crank7.json", -1, false },
		{ "ranking.json", -1, false },
		{ "host_4711.1694128201545.pt.trace.json", -1, false },
		{ "rank1694128201545.json", -1, false },
		{ "trace.json", -1, false },
		{ "", -1, false },
		{ "rank", -1, false },
		{ "rank-", -1, false },
		{ "_", -1, false },
	};

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(cases); i++) {
		struct fsc_identity_name n;

		fsc_identity_of_name(&n, cases[i].name);
		if (n.rank != cases[i].rank || n.rank_weak != cases[i].weak)
			fail_msg("%s gave %lld%s", cases[i].name, (long long)n.rank,
				 n.rank_weak ? " (weak)" : "");
	}
	struct fsc_identity_name none;
	fsc_identity_of_name(&none, NULL);
	assert_int_equal(none.rank, -1);
}

static void hosts_and_captures_are_found_where_profilers_write_them(void **state)
{
	static const struct {
		const char *path, *host, *capture;
	} cases[] = {
		{ "log/plugins/profile/2026_11_30_12_00_00/t1v-n-7f2a-w-0.xplane.pb",
		  "t1v-n-7f2a-w-0", "2026_11_30_12_00_00" },
		{ "plugins/profile/run7/host.example.com.trace.json.gz", "host.example.com",
		  "run7" },
		{ "plugins/profile/run7/host.xplane.pb.gz", "host", "run7" },
		{ "plugins/profile/run7/other_1.json", "", "run7" },
		{ "myplugins/profile/run7/host.xplane.pb", "", "" },
		{ "plugins/profile/a/b/host.xplane.pb", "", "" },
		{ "plugins/profile/host.xplane.pb", "", "" },
		{ "run/gpu-node-12_48121.1694128201545.pt.trace.json", "gpu-node-12", "" },
		{ "ip-10-0-3-7_1.1694128201545678901.pt.trace.json.gz", "ip-10-0-3-7", "" },
		{ "a.b.c_77.pt.trace.json.zst", "a.b.c", "" },
		{ "worker0.1623143089861.pt.trace.json.gz", "", "" },
		{ "worker_0.1623143089861.pt.trace.json.gz", "", "" },
		{ "rank_0.1623143089861.pt.trace.json", "", "" },
		{ "graph_capture_rank_0.1773709679453551615.pt.trace.json.gz", "", "" },
		{ "my_run_7.1694128201545.pt.trace.json", "", "" },
		{ "gpu-node-12_rank0_step5.json", "gpu-node-12", "" },
		{ "node3_rank0.json.gz", "node3", "" },
		{ "c1.example.org_rank_1.json", "c1.example.org", "" },
		/* what a file is called and no host */
		{ "sampled_rank-1.json.gz", "", "" },
		{ "trace7_rank0.json", "", "" },
		{ "bs_32_rank0.json.gz", "", "" },
		{ "capture_trace_rank_0.json.gz", "", "" },
		{ "rank0.json", "", "" },
		{ "trace.json", "", "" },
		{ "", "", "" },
	};

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(cases); i++) {
		struct fsc_identity_name n;

		fsc_identity_of_name(&n, cases[i].path);
		if (strcmp(n.host, cases[i].host) || strcmp(n.capture, cases[i].capture))
			fail_msg("%s gave host '%s', capture '%s'", cases[i].path, n.host,
				 n.capture);
	}
}

static void a_name_counts_only_where_nobody_else_says(void **state)
{
	static const struct {
		struct fsc_identity upload, manifest, trace;
		const char *host, *capture;
		int64_t rank;
	} cases[] = {
		{ FSC_IDENTITY_INIT, FSC_IDENTITY_INIT, FSC_IDENTITY_INIT, "h-1", "run", 5 },
		{ { NULL, "up", NULL, -1, -1 },
		  FSC_IDENTITY_INIT,
		  FSC_IDENTITY_INIT,
		  NULL,
		  "run",
		  5 },
		{ FSC_IDENTITY_INIT, { NULL, "m", "c", -1, -1 }, FSC_IDENTITY_INIT, NULL, NULL, 5 },
		{ FSC_IDENTITY_INIT, FSC_IDENTITY_INIT, { NULL, "t", "", 0, -1 }, NULL, "run", -1 },
		{ FSC_IDENTITY_INIT,
		  { NULL, "", NULL, 3, -1 },
		  FSC_IDENTITY_INIT,
		  "h-1",
		  "run",
		  -1 },
	};
	struct fsc_identity_name name = {
		.rank = 5, .rank_weak = true, .host = "h-1", .capture = "run"
	};

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(cases); i++) {
		struct fsc_identity src[FSC_N_SOURCES] = { cases[i].upload, cases[i].manifest,
							   cases[i].trace, FSC_IDENTITY_INIT };

		fsc_identity_from_name(src, &name, true);
		const struct fsc_identity *n = &src[FSC_FROM_NAME];
		assert_int_equal(n->rank, cases[i].rank);
		assert_true(cases[i].host ? !strcmp(n->host, cases[i].host) : !n->host);
		assert_true(cases[i].capture ? !strcmp(n->capture, cases[i].capture) : !n->capture);
	}
	/* a strong one stands, and is told when it is contradicted; a file of several ranks has none */
	struct fsc_identity src[FSC_N_SOURCES] = {
		FSC_IDENTITY_INIT, { NULL, NULL, NULL, 3, -1 }, FSC_IDENTITY_INIT, FSC_IDENTITY_INIT
	};
	name.rank_weak = false;
	fsc_identity_from_name(src, &name, true);
	assert_int_equal(src[FSC_FROM_NAME].rank, 5);
	src[FSC_FROM_NAME].rank = -1;
	fsc_identity_from_name(src, &name, false);
	assert_int_equal(src[FSC_FROM_NAME].rank, -1);
}

static void a_rank_outside_its_world_leaves_the_world_unknown(void **state)
{
	static const struct {
		int64_t rank, world, then;
		bool outside;
	} cases[] = {
		{ 7, 8, 8, false },  { 8, 8, -1, true },   { 12, 8, -1, true }, { 0, 0, -1, true },
		{ -1, 8, 8, false }, { 3, -1, -1, false }, { 0, 1, 1, false },
	};

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(cases); i++) {
		struct fsc_identity id = { .rank = cases[i].rank, .world_size = cases[i].world };

		assert_int_equal(fsc_identity_outside_world(&id), cases[i].outside);
		assert_int_equal(id.rank, cases[i].rank);
		assert_int_equal(id.world_size, cases[i].then);
	}
}

static void the_upload_goes_before_manifest_trace_and_name(void **state)
{
	struct fsc_identity src[FSC_N_SOURCES] = { { "j1", NULL, NULL, 1, -1 },
						   { "j1", "h2", "", -1, 8 },
						   { "", "h2", "c3", 1, 8 },
						   { NULL, NULL, NULL, 1, -1 } };
	struct fsc_buf told = FSC_BUF_INIT(4096);
	struct fsc_identity id;

	(void)state;
	assert_int_equal(fsc_identity_merge(&id, src, false, &told), 0);
	assert_string_equal(id.job, "j1");
	assert_string_equal(id.host, "h2");
	assert_string_equal(id.capture, "c3");
	assert_int_equal(id.rank, 1);
	assert_int_equal(id.world_size, 8);
	assert_int_equal(told.len, 0);
	fsc_buf_fini(&told);
}

static void contradictions_are_counted_and_told(void **state)
{
	struct fsc_identity src[FSC_N_SOURCES] = { { "mine", NULL, NULL, 3, -1 },
						   { "other", NULL, NULL, 3, 8 },
						   { NULL, NULL, NULL, 5, 16 },
						   { NULL, NULL, NULL, 3, -1 } };
	struct fsc_buf told = FSC_BUF_INIT(4096);
	struct fsc_identity id;

	(void)state;
	assert_int_equal(fsc_identity_merge(&id, src, false, &told), 3);
	assert_string_equal(id.job, "mine");
	assert_int_equal(id.rank, 3);
	assert_int_equal(id.world_size, 8);
	assert_string_equal(
		told.data,
		"[{\"field\":\"job\",\"used\":\"mine\",\"used_from\":\"upload\",\"other\":"
		"\"other\","
		"\"other_from\":\"manifest\"},{\"field\":\"rank\",\"used\":\"3\",\"used_from\":"
		"\"upload\",\"other\":\"5\",\"other_from\":\"trace\"},{\"field\":\"world_size\","
		"\"used\":\"8\",\"used_from\":\"manifest\",\"other\":\"16\",\"other_from\":"
		"\"trace\"}]");
	fsc_buf_fini(&told);
}

static void the_rank_of_an_upload_says_nothing_about_the_files_of_an_archive(void **state)
{
	struct fsc_identity src[FSC_N_SOURCES] = { { NULL, NULL, NULL, 0, -1 },
						   FSC_IDENTITY_INIT,
						   { NULL, NULL, NULL, 6, -1 },
						   FSC_IDENTITY_INIT };
	struct fsc_buf told = FSC_BUF_INIT(4096);
	struct fsc_identity id;

	(void)state;
	assert_int_equal(fsc_identity_merge(&id, src, true, &told), 0);
	assert_int_equal(id.rank, 6);
	/* but it is better than nothing */
	src[FSC_FROM_TRACE].rank = -1;
	assert_int_equal(fsc_identity_merge(&id, src, true, &told), 0);
	assert_int_equal(id.rank, 0);
	fsc_buf_fini(&told);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_are_found_in_file_names),
		cmocka_unit_test(hosts_and_captures_are_found_where_profilers_write_them),
		cmocka_unit_test(a_name_counts_only_where_nobody_else_says),
		cmocka_unit_test(a_rank_outside_its_world_leaves_the_world_unknown),
		cmocka_unit_test(the_upload_goes_before_manifest_trace_and_name),
		cmocka_unit_test(contradictions_are_counted_and_told),
		cmocka_unit_test(the_rank_of_an_upload_says_nothing_about_the_files_of_an_archive),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
