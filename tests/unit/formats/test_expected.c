/* SPDX-License-Identifier: Apache-2.0 */
/* Every public GPU trace against its exact recount: counts, sums, top kernels, links, first and last time. */
#include <ftw.h>
#include <strings.h>

#include <jansson.h>

#include "tests/support/read_trace.h"

static char root[512];
static unsigned n_files, n_faults, n_refused;

static void differs(const char *file, const char *what, long long got, long long want)
{
	print_error("%s: %s is %lld, expected %lld\n", file, what, got, want);
	n_faults++;
}

static void same(const char *file, const char *what, long long got, long long want)
{
	if (got != want)
		differs(file, what, got, want);
}

static long long num(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

static bool instant(const struct fsc_trace *t, uint32_t i)
{
	return t->slices.flags[i] & FSC_SLICE_INSTANT;
}

static const char *cat_of(const struct fsc_trace *t, uint32_t i)
{
	return str_of(t, t->cats.v[t->slices.cat[i]]);
}

static bool cat_in(const char *cat, const char *const *list)
{
	for (; *list; list++)
		if (!strcasecmp(cat, *list))
			return true;
	return false;
}

static void check_categories(const char *file, const struct fsc_trace *t, const json_t *exact)
{
	const char *cat;
	json_t *want;
	long long all = 0;
	struct {
		long long n, sum;
	} *by_cat = fsc_xalloc(t->cats.n + 1, sizeof(*by_cat));

	for (uint32_t i = 0; i < t->slices.n; i++)
		if (!instant(t, i)) {
			by_cat[t->slices.cat[i]].n++;
			by_cat[t->slices.cat[i]].sum += t->slices.dur[i];
		}
	json_object_foreach(json_object_get(exact, "categories"), cat, want)
	{
		long long n = 0, sum = 0;
		for (size_t k = 0; k < t->cats.n; k++)
			if (!strcmp(str_of(t, t->cats.v[k]), cat)) {
				n += by_cat[k].n;
				sum += by_cat[k].sum;
			}
		same(file, cat, n, num(want, "count"));
		same(file, cat, sum, num(want, "sum_dur_ns"));
		all += n;
	}
	fsc_free(by_cat);
	same(file, "x_with_dur", all, num(exact, "x_with_dur"));
	same(file, "slices with a duration", (long long)(t->slices.n - t->n_instants),
	     num(exact, "x_with_dur"));
}

struct kernel {
	const char *name;
	long long n, sum, min, max;
};

static int by_sum(const void *x, const void *y)
{
	const struct kernel *a = x, *b = y;

	return a->sum != b->sum ? (a->sum < b->sum ? 1 : -1) : strcmp(a->name, b->name);
}

static void check_kernels(const char *file, const struct fsc_trace *t, const json_t *exact)
{
	static const char *const kernel[] = { "kernel", NULL };
	uint32_t n_str = fsc_strtab_count(t->strings), n = 0;
	struct kernel *k = fsc_xalloc(n_str, sizeof(*k));
	size_t at;
	json_t *want;

	for (uint32_t i = 0; i < t->slices.n; i++) {
		struct kernel *e = &k[t->slices.name[i]];
		if (instant(t, i) || !cat_in(cat_of(t, i), kernel))
			continue;
		if (!e->n++) {
			e->name = str_of(t, t->slices.name[i]);
			e->min = INT64_MAX;
		}
		e->sum += t->slices.dur[i];
		e->min = t->slices.dur[i] < e->min ? t->slices.dur[i] : e->min;
		e->max = t->slices.dur[i] > e->max ? t->slices.dur[i] : e->max;
	}
	for (uint32_t i = 0; i < n_str; i++)
		if (k[i].n)
			k[n++] = k[i];
	if (n)
		qsort(k, n, sizeof(*k), by_sum);
	same(file, "kernel_names", n, num(exact, "kernel_names"));
	json_array_foreach(json_object_get(exact, "kernel_top20"), at, want)
	{
		if (at >= n ||
		    strcmp(k[at].name, json_string_value(json_object_get(want, "name")))) {
			differs(file, "kernel_top20 name", (long long)at, (long long)at);
			continue;
		}
		same(file, "kernel count", k[at].n, num(want, "count"));
		same(file, "kernel sum", k[at].sum, num(want, "sum_ns"));
		same(file, "kernel min", k[at].min, num(want, "min_ns"));
		same(file, "kernel max", k[at].max, num(want, "max_ns"));
	}
	fsc_free(k);
}

static void check_flows(const char *file, const struct fsc_trace *t, const json_t *exact)
{
	const char *cat;
	json_t *want;
	long long paired = 0, ends = 0, outside = (long long)loss_of(t, "flow_outside_slice");
	/* ends without a start at GPU work, drawn from its launch call; all of them are launches */
	long long bound = (long long)loss_of(t, "flow_bound_by_correlation");

	json_object_foreach(json_object_get(exact, "flows"), cat, want)
	{
		long long n = 0;
		for (size_t i = 0; i < t->flows.n; i++)
			n += !strcmp(str_of(t, t->flows.v[i].cat), cat);
		paired += num(want, "f_with_s");
		ends += num(want, "f");
		if (!outside)
			same(file, cat, n,
			     num(want, "f_with_s") + (strcmp(cat, "ac2g") ? 0 : bound));
	}
	same(file, "flows", (long long)t->flows.n + outside, paired + bound);
	/* Ends at a runtime call's own correlation are no loss and not counted; the rest is. */
	if ((long long)loss_of(t, "flow_end_without_start") + bound > ends - paired)
		differs(file, "ends without a start",
			(long long)loss_of(t, "flow_end_without_start"), ends - paired);
}

static int by_value(const void *x, const void *y)
{
	int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

	return a < b ? -1 : a > b;
}

/* How often v holds x; v is sorted. */
static unsigned occurrences(const int64_t *v, size_t n, int64_t x)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (v[mid] < x)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (hi = lo; hi < n && v[hi] == x;)
		hi++;
	return (unsigned)(hi - lo);
}

static void check_launches(const char *file, const struct fsc_trace *t, const json_t *exact)
{
	static const char *const ops[] = { "kernel", "gpu_memcpy", "gpu_memset",
					   "memcpy", "memset",	   NULL };
	static const char *const calls[] = { "cuda_runtime", "cuda_driver", "runtime",
					     "hip_runtime", NULL };
	const json_t *want = json_object_get(exact, "launch_to_gpu");
	int64_t *corr = fsc_xalloc(t->slices.n + 1, sizeof(*corr));
	long long n_ops = 0, with = 0, pairs = 0, none = 0, many = 0;
	size_t n = 0;

	for (uint32_t i = 0; i < t->slices.n; i++)
		if (!instant(t, i) && t->slices.correlation[i] != FSC_NO_CORRELATION &&
		    cat_in(cat_of(t, i), calls)) {
			assert_true(t->slices.kind[i] == FSC_KIND_RUNTIME ||
				    t->slices.kind[i] == FSC_KIND_SYNC);
			corr[n++] = t->slices.correlation[i];
		}
	qsort(corr, n, sizeof(*corr), by_value);
	for (uint32_t i = 0; i < t->slices.n; i++) {
		if (instant(t, i) || !cat_in(cat_of(t, i), ops))
			continue;
		assert_true(fsc_kind_is_gpu_work(t->slices.kind[i]));
		assert_int_equal(t->tracks.v[t->slices.track[i]].kind, FSC_TRACK_STREAM);
		n_ops++;
		if (t->slices.correlation[i] == FSC_NO_CORRELATION)
			continue;
		unsigned k = occurrences(corr, n, t->slices.correlation[i]);
		with++;
		pairs += k == 1;
		none += k == 0;
		many += k > 1;
	}
	same(file, "gpu_ops", n_ops, num(want, "gpu_ops"));
	same(file, "gpu_ops_with_correlation", with, num(want, "gpu_ops_with_correlation"));
	same(file, "pairs", pairs, num(want, "pairs"));
	same(file, "no_launch", none, num(want, "no_launch"));
	same(file, "ambiguous", many, num(want, "ambiguous"));
	fsc_free(corr);
}

static void check_times(const char *file, const struct fsc_trace *t, const json_t *exact)
{
	const json_t *rank = json_object_get(exact, "rank"),
		     *world = json_object_get(exact, "world_size");
	int64_t first = INT64_MAX, last = INT64_MIN;

	for (uint32_t i = 0; i < t->slices.n; i++) {
		int64_t ts = t->slices.ts[i], end = ts + t->slices.dur[i];
		if (instant(t, i))
			continue;
		first = ts < first ? ts : first;
		last = end > last ? end : last;
	}
	same(file, "min_ts_ns", first + t->meta.t_base_ns, num(exact, "min_ts_ns"));
	same(file, "max_end_ns", last + t->meta.t_base_ns, num(exact, "max_end_ns"));
	same(file, "rank", t->meta.rank, json_is_integer(rank) ? json_integer_value(rank) : -1);
	same(file, "world_size", t->meta.world_size,
	     json_is_integer(world) ? json_integer_value(world) : -1);
}

static void check_file(const char *expected)
{
	char path[1024];
	struct fsc_err err = FSC_ERR_INIT;
	json_t *doc = json_load_file(expected, 0, NULL);
	const json_t *exact = json_object_get(doc, "exact");
	const char *file = json_string_value(json_object_get(doc, "file"));
	struct fsc_trace *t;

	assert_non_null(exact);
	snprintf(path, sizeof(path), "%s/%s", root, file);
	t = read_trace_file(path, &err);
	if (!t)
		fail_msg("%s: %s: %s", file, err.code, err.msg);
	assert_string_equal(str_of(t, t->meta.format), "kineto");
	same(file, "events", (long long)t->n_events, num(exact, "events"));
	same(file, "x_without_usable_ts_or_dur",
	     (long long)(loss_of(t, "x_without_dur") + loss_of(t, "x_bad_dur")),
	     num(exact, "x_without_usable_ts_or_dur"));
	check_categories(file, t, exact);
	check_kernels(file, t, exact);
	check_flows(file, t, exact);
	check_launches(file, t, exact);
	check_times(file, t, exact);
	fsc_trace_free(t);
	json_decref(doc);
	n_files++;
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	const char *end = strstr(path, ".expected.json");

	(void)st;
	(void)ftw;
	if (type == FTW_F && end && !end[14])
		check_file(path);
	return 0;
}

static void all_sixty_traces_equal_their_exact_recount(void **state)
{
	char dir[700];

	(void)state;
	test_data(root, sizeof(root), "gpu-traces");
	snprintf(dir, sizeof(dir), "%s/expected", root);
	assert_int_equal(nftw(dir, visit, 16, FTW_PHYS), 0);
	assert_int_equal(n_files, 60);
	assert_int_equal(n_faults, 0);
}

/* Files of the set that hold no timeline: each must say so and what it is. */
static int visit_other(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	char expected[1200];
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_trace *t;

	(void)st;
	(void)ftw;
	if (type != FTW_F || strstr(path, "/expected/") || strstr(path, "/oracle/"))
		return 0;
	if (!strstr(path, ".json") && !strstr(path, ".raw.gz"))
		return 0;
	snprintf(expected, sizeof(expected), "%s/expected%s.expected.json", root,
		 path + strlen(root));
	if (access(expected, R_OK) == 0)
		return 0;
	t = read_trace_file(path, &err);
	if (t)
		fail_msg("%s was taken for a timeline", path);
	assert_int_equal(err.status, FSC_EUNSUPPORTED);
	assert_string_equal(err.code, "not_a_timeline");
	assert_true(strlen(err.msg) > 40);
	n_refused++;
	return 0;
}

static void the_nine_files_that_are_no_timelines_are_refused_with_a_reason(void **state)
{
	(void)state;
	test_data(root, sizeof(root), "gpu-traces");
	assert_int_equal(nftw(root, visit_other, 16, FTW_PHYS), 0);
	assert_int_equal(n_refused, 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_sixty_traces_equal_their_exact_recount),
		cmocka_unit_test(the_nine_files_that_are_no_timelines_are_refused_with_a_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
