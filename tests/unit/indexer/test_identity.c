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
		{ "rank7/trace.json", -1, false },
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
		bool weak = !cases[i].weak;
		int64_t rank = fsc_identity_rank_of_name(cases[i].name, &weak);

		if (rank != cases[i].rank || weak != cases[i].weak)
			fail_msg("%s gave %lld%s", cases[i].name, (long long)rank,
				 weak ? " (weak)" : "");
	}
	assert_int_equal(fsc_identity_rank_of_name("trace_5.json", NULL), -1);
	assert_int_equal(fsc_identity_rank_of_name(NULL, NULL), -1);
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
		cmocka_unit_test(the_upload_goes_before_manifest_trace_and_name),
		cmocka_unit_test(contradictions_are_counted_and_told),
		cmocka_unit_test(the_rank_of_an_upload_says_nothing_about_the_files_of_an_archive),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
