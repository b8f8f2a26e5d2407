/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every public GPU trace through the real program in its sandbox: what it tells equals the exact recount, and
 * the files that are no timelines are refused by name.
 */
#include <ftw.h>

#include <jansson.h>

#include "analysis/analysis.h"
#include "tests/unit/indexer/run_program.h"

static unsigned n_faults, n_traces, n_refused;
static char root[2048];

static void same(const char *file, const char *what, long long got, long long want)
{
	if (got == want)
		return;
	print_error("%s: %s is %lld, expected %lld\n", file, what, got, want);
	n_faults++;
}

static long long num(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

static void check_categories(const char *file, const struct told_trace *t, json_t *exact)
{
	json_t *all = json_object_get(exact, "categories");
	size_t n = 0;

	for (size_t i = 0; i < t->categories.n; i++) {
		json_t *want = json_object_get(all, t->categories.v[i].name);

		same(file, t->categories.v[i].name, t->categories.v[i].count, num(want, "count"));
		same(file, t->categories.v[i].name, t->categories.v[i].sum_ns,
		     num(want, "sum_dur_ns"));
		n++;
	}
	same(file, "categories", (long long)n, (long long)json_object_size(all));
}

static void check_kernels(const char *file, const struct told_trace *t, json_t *exact)
{
	size_t at = 0;
	json_t *want = NULL;

	json_array_foreach(json_object_get(exact, "kernel_top20"), at, want)
	{
		const char *name = json_string_value(json_object_get(want, "name"));
		size_t i = 0;

		while (i < t->kernels.n && strcmp(t->kernels.v[i].name, name))
			i++;
		if (i == t->kernels.n) {
			same(file, name, 0, num(want, "count"));
			continue;
		}
		same(file, name, t->kernels.v[i].count, num(want, "count"));
		same(file, name, t->kernels.v[i].sum_ns, num(want, "sum_ns"));
		same(file, name, t->kernels.v[i].min_ns, num(want, "min_ns"));
		same(file, name, t->kernels.v[i].max_ns, num(want, "max_ns"));
	}
}

/* The census that TRACE tells before there is a segment is that of the segment's analysis. */
static void check_census(const char *file, const struct told_trace *t)
{
	struct fsc_analysis_scope scope = { .steps = FSC_STEPS_ALL };
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_analysis a;

	assert_int_equal(fsc_analyse(&a, t->seg, &scope, &err), FSC_OK);
	same(file, "pairs of the segment", (long long)a.launch.pairs, t->t.launch_pairs);
	same(file, "none of the segment", (long long)a.launch.none, t->t.launch_none);
	same(file, "ambiguous of the segment", (long long)a.launch.ambiguous,
	     t->t.launch_ambiguous);
	fsc_analysis_fini(&a);
}

static void check_trace(const char *file, const struct told_trace *t, json_t *exact)
{
	json_t *launch = json_object_get(exact, "launch_to_gpu");
	json_t *rank = json_object_get(exact, "rank");

	assert_true(t->finished);
	same(file, "slices", t->t.slices, num(exact, "x_with_dur"));
	same(file, "first time", t->t.t_base_ns + t->t.t_min_ns, num(exact, "min_ts_ns"));
	same(file, "last time", t->t.t_base_ns + t->t.t_max_ns, num(exact, "max_end_ns"));
	same(file, "pairs", t->t.launch_pairs, num(launch, "pairs"));
	same(file, "without launch", t->t.launch_none, num(launch, "no_launch"));
	same(file, "ambiguous", t->t.launch_ambiguous, num(launch, "ambiguous"));
	if (json_is_integer(rank))
		same(file, "rank", t->t.rank, json_integer_value(rank));
	check_census(file, t);
	check_categories(file, t, exact);
	check_kernels(file, t, exact);
}

static json_t *expected_of(const char *rel)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/expected/%s.expected.json", root, rel);
	return json_load_file(path, 0, NULL);
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	const char *rel =
		type == FTW_F ? path + strlen(root) + 1 : ""; /* the first is root itself */
	struct fsc_indexer_job job = FSC_INDEXER_JOB_INIT;
	struct told d;

	(void)st;
	(void)ftw;
	bool wanted = strstr(rel, ".json") || strstr(rel, ".raw.gz");
	if (type != FTW_F || !strchr(rel, '/') || !strncmp(rel, "oracle/", 7) ||
	    !strncmp(rel, "expected/", 9) || !wanted)
		return 0;
	json_t *doc = expected_of(rel);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	job.name = strrchr(rel, '/') + 1;
	told_run(&d, job, fd);
	close(fd);
	if (d.st != FSC_OK)
		fail_msg("%s: %s: %s", rel, d.err.code, d.err.msg);
	if (doc) {
		n_traces++;
		same(rel, "traces", (long long)d.traces.n, 1);
		if (d.traces.n == 1)
			check_trace(rel, &d.traces.v[0], json_object_get(doc, "exact"));
	} else {
		n_refused++;
		same(rel, "traces", (long long)d.traces.n, 0);
		same(rel, "reasons", (long long)d.members.n, 1);
		if (d.members.n == 1)
			assert_string_equal(d.members.v[0].code, "not_a_timeline");
	}
	json_decref(doc);
	told_fini(&d);
	return 0;
}

static void every_public_trace_is_told_exactly(void **state)
{
	(void)state;
	test_data(root, sizeof(root), "gpu-traces");
	assert_int_equal(nftw(root, visit, 32, FTW_PHYS), 0);
	assert_int_equal(n_traces, 60);
	assert_int_equal(n_refused, 9);
	assert_int_equal(n_faults, 0);
}

static void an_archive_gives_the_ranks_that_its_files_give(void **state)
{
	struct fsc_indexer_job job = FSC_INDEXER_JOB_INIT;
	char path[4096];
	struct told d;
	unsigned seen = 0;

	(void)state;
	n_faults = 0;
	test_data(root, sizeof(root), "gpu-traces");
	int fd = open(test_data(path, sizeof(path), "gpu-traces/param/dlrm_kineto.tar.gz"),
		      O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	job.name = "dlrm_kineto.tar.gz";
	told_run(&d, job, fd);
	close(fd);
	assert_int_equal(d.st, FSC_OK);
	assert_int_equal(d.members.n, 0);
	assert_int_equal(d.traces.n, 8);
	for (size_t i = 0; i < d.traces.n; i++) {
		const char *base = strrchr(d.traces.v[i].t.member, '/') + 1;
		char rel[1024];

		seen |= 1u << d.traces.v[i].t.rank;
		snprintf(rel, sizeof(rel), "param/dlrm_8rank/%s", base);
		json_t *doc = expected_of(rel);
		assert_non_null(doc);
		check_trace(rel, &d.traces.v[i], json_object_get(doc, "exact"));
		json_decref(doc);
	}
	assert_int_equal(seen, 0xFF);
	assert_int_equal(n_faults, 0);
	told_fini(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_public_trace_is_told_exactly),
		cmocka_unit_test(an_archive_gives_the_ranks_that_its_files_give),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
