/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our numbers against the reference tables of HTA 0.6.1 for real traces with exact times, to printed digits.
 *
 * hta.h holds HTA's rules, written down a second time. Every table must equal hta.h as HTA counts, and our
 * analysis must equal hta.h as we count. The two ways of counting differ in three named things only, and the
 * test knows for each trace which of them it has: so where none is, ours equals the table, and where one is,
 * the difference is exactly those rows.
 *   extra        synchronisation and Triton rows with a stream are GPU work to HTA
 *   reclassified multimem_all_reduce kernels are computation to HTA, communication to us
 *   orphans      in the idle table, a row without a launch gets the file's first event as its launch
 */
#include "analysis/analysis.h"
#include "analysis/analysis_json.h"
#include "tests/unit/analysis/csv.h"
#include "tests/unit/analysis/hta.h"
#include "tests/unit/analysis/load.h"

#include <math.h>

enum { EXTRA = 1, RECLASSIFIED = 2, ORPHANS = 4 };

struct run {
	const char *folder;
	int64_t rank;
	const char *trace;
	unsigned odd; /* of the above */
	/* fractional us: HTA adds doubles of epoch us, whose grain is up to 0.25 us */
	bool fractional;
	bool no_tables; /* HTA itself failed */
};

#define DLRM(folder, rank, file, odd)                                     \
	{                                                                 \
		folder, rank, "param/dlrm_8rank/" file, odd, false, false \
	}
#define DLRM_8(folder)                                                                   \
	DLRM(folder, 0, "worker0_step_12.1694128201545.pt.trace.json", 0),               \
		DLRM(folder, 1, "worker1_step_12.1694128201556.pt.trace.json", ORPHANS), \
		DLRM(folder, 2, "worker2_step_12.1694128201554.pt.trace.json", 0),       \
		DLRM(folder, 3, "worker3_step_12.1694128201557.pt.trace.json", ORPHANS), \
		DLRM(folder, 4, "worker4_step_12.1694128201547.pt.trace.json", 0),       \
		DLRM(folder, 5, "worker5_step_12.1694128201549.pt.trace.json", 0),       \
		DLRM(folder, 6, "worker6_step_12.1694128201553.pt.trace.json", 0),       \
		DLRM(folder, 7, "worker7_step_12.1694128201553.pt.trace.json", 0)
#define HTA_CP "hta/critical_path/"

/* Runs of one folder stand together. */
static const struct run runs[] = {
	DLRM_8("dlrm_8rank"),
	DLRM_8("dlrm_8rank_incl_last"),
	DLRM("param_dlrm_rank0", 0, "worker0_step_12.1694128201545.pt.trace.json", 0),
	{ "hta_alexnet", 0, HTA_CP "alexnet/benchmark_result_2869224_1695835535_trace.json.gz",
	  EXTRA, false, false },
	{ "hta_alexnet_fwd", 0, HTA_CP "alexnet/benchmark_result_2869224_1695835535_trace.json.gz",
	  EXTRA, false, false },
	{ "hta_simple_add", 0, HTA_CP "simple_add/benchmark_result_493459_1694039959_trace.json.gz",
	  EXTRA, false, false },
	{ "hta_event_sync", 0, HTA_CP "cuda_event_sync/event_sync_trace.json.gz", EXTRA, false,
	  false },
	{ "hta_cupti", 0, "hta/cupti_profiler/benchmark_result_924719_1679055439_trace.json.gz", 0,
	  false, true },
	{ "hta_gpu_user_anno", 0, "hta/gpu_user_annotation/step_based_trace_2543932.json.gz", 0,
	  false, false },
	{ "hta_trace_diff_control", 3, "hta/trace_diff/control/control.json.gz", 0, false, false },
	{ "hta_trace_diff_test", 1, "hta/trace_diff/test/test.json.gz", 0, false, false },
	{ "hta_trace_filter_2rank", 0, "hta/trace_filter/sampled_rank-0.json.gz", 0, false, false },
	{ "hta_trace_filter_2rank", 1, "hta/trace_filter/sampled_rank-1.json.gz", 0, false, false },
	{ "kineto_resnet50_nw0", 0,
	  "kineto/resnet50_num_workers_0_worker0.1623143089861.pt.trace.json.gz", 0, false, false },
	{ "param_resnet", 0, "param/resnet_kineto.json.gz", 0, false, false },
	{ "tl_b200_nsexact", 0, "tracelens/b200/eager_trace.json.gz", EXTRA | RECLASSIFIED, true,
	  false },
	{ "tl_h100_qwen_nsexact", 0, "tracelens/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
	  ORPHANS, true, false },
	{ "tl_resnet_ac_nsexact", 0, "tracelens/mi300/resnet_act_checkpoint.json.gz", 0, true,
	  false },
};
#define N_RUNS FSC_ARRAY_LEN(runs)

struct loaded {
	const struct run *run; /* NULL: not loaded yet */
	struct fsc_seg *seg;
	struct fsc_analysis a;
	struct hta hta;
};
static struct loaded loaded[N_RUNS];

static const struct loaded *get(size_t i)
{
	struct fsc_analysis_scope scope = { .steps = FSC_STEPS_NO_LAST };
	struct fsc_err err = FSC_ERR_INIT;
	struct loaded *l = &loaded[i];
	char rel[1024], path[2048];

	if (l->run)
		return l;
	snprintf(rel, sizeof(rel), "gpu-traces/%s", runs[i].trace);
	test_data(path, sizeof(path), rel);
	l->seg = seg_of_file(path);
	if (fsc_analyse(&l->a, l->seg, &scope, &err) != FSC_OK)
		fail_msg("%s", err.msg);
	hta_load(&l->hta, l->seg, true);
	l->run = &runs[i];
	return l;
}

static int unload_all(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_RUNS; i++) {
		if (!loaded[i].run)
			continue;
		hta_fini(&loaded[i].hta);
		fsc_analysis_fini(&loaded[i].a);
		fsc_seg_unref(loaded[i].seg);
	}
	return 0;
}

static void open_table(struct csv *c, const struct run *run, const char *table)
{
	char rel[1024], path[2048];

	snprintf(rel, sizeof(rel), "gpu-traces/oracle/%s/%s.csv", run->folder, table);
	csv_open(c, test_data(path, sizeof(path), rel));
}

/* For each row of a table that is about this run's rank. */
static bool next_of_rank(struct csv *c, const struct run *run)
{
	while (csv_next(c))
		if ((int64_t)csv_num(c, "rank") == run->rank)
			return true;
	return false;
}

/* ours in ns, table in us: integer-us traces exactly, the others within what doubles lose over the trace. */
static void same_us(const struct run *run, const char *what, int64_t ours_ns, double table_us)
{
	double tolerance = run->fractional ? 0.02 : 0;

	if (!(fabs((double)ours_ns / 1000 - table_us) <= tolerance))
		fail_msg("%s rank %lld: %s: %.3f us, table %.6f", run->folder, (long long)run->rank,
			 what, (double)ours_ns / 1000, table_us);
}

static void same_pct(const struct run *run, const char *what, double part, double whole,
		     double table, double half_digit)
{
	double ours = whole > 0 ? 100 * part / whole : 0;

	if (!(fabs(ours - table) <= half_digit * 1.0001 + (run->fractional ? 1e-4 : 0)))
		fail_msg("%s rank %lld: %s: %.4f %%, table %.4f", run->folder, (long long)run->rank,
			 what, ours, table);
}

static void same_ns(const struct run *run, const char *what, int64_t a, int64_t b)
{
	if (a != b)
		fail_msg("%s rank %lld: %s: %lld ns, by HTA's rules on the same rows %lld",
			 run->folder, (long long)run->rank, what, (long long)a, (long long)b);
}

/* The one device of these traces; zero when there is no GPU work. */
static struct fsc_device_row device_of(const struct loaded *l)
{
	assert_true(l->a.devices.n <= 1);
	return l->a.devices.n ? l->a.devices.v[0] : (struct fsc_device_row){ 0 };
}

static void check_oddities(const struct loaded *l)
{
	struct hta_oddities o = hta_oddities(&l->hta);
	unsigned odd = (o.extra ? EXTRA : 0) | (o.reclassified ? RECLASSIFIED : 0) |
		       (o.orphans ? ORPHANS : 0);

	if (odd != l->run->odd)
		fail_msg("%s rank %lld: %zu extra, %zu reclassified, %zu orphans: not as the test "
			 "says",
			 l->run->folder, (long long)l->run->rank, o.extra, o.reclassified,
			 o.orphans);
}

static void check_temporal(const struct loaded *l)
{
	struct fsc_device_row d = device_of(l);
	struct hta_temporal ours = hta_temporal(&l->hta, false), all = hta_temporal(&l->hta, true);
	struct csv c;
	unsigned n = 0;

	same_ns(l->run, "window", d.window_ns, ours.window);
	same_ns(l->run, "busy", d.busy_ns, ours.busy);
	same_ns(l->run, "compute", d.compute_ns, ours.compute);
	same_ns(l->run, "comm", d.comm_ns, ours.comm);
	same_ns(l->run, "memcpy", d.memcpy_ns, ours.memory);
	same_ns(l->run, "comm overlap", d.comm_overlap_ns, ours.comm_overlap);
	if (l->run->no_tables)
		return;
	open_table(&c, l->run, "temporal_breakdown");
	for (; next_of_rank(&c, l->run); n++) {
		int64_t idle = all.window - all.busy, rest = all.busy - all.compute;

		same_us(l->run, "kernel_time", all.window, csv_num(&c, "kernel_time(us)"));
		same_us(l->run, "idle_time", idle, csv_num(&c, "idle_time(us)"));
		same_us(l->run, "compute_time", all.compute, csv_num(&c, "compute_time(us)"));
		same_us(l->run, "non_compute_time", rest, csv_num(&c, "non_compute_time(us)"));
		same_pct(l->run, "idle", (double)idle, (double)all.window,
			 csv_num(&c, "idle_time_pctg"), 0.005);
		same_pct(l->run, "compute", (double)all.compute, (double)all.window,
			 csv_num(&c, "compute_time_pctg"), 0.005);
		same_pct(l->run, "non-compute", (double)rest, (double)all.window,
			 csv_num(&c, "non_compute_time_pctg"), 0.005);
	}
	assert_int_equal(n, 1);
	csv_close(&c);
}

static const struct fsc_idle_row *idle_of(const struct loaded *l, int64_t stream)
{
	for (size_t i = 0; i < l->a.idle.n; i++)
		if (l->a.idle.v[i].stream == stream)
			return &l->a.idle.v[i];
	return NULL;
}

static void check_idle(const struct loaded *l)
{
	struct csv c;
	unsigned n = 0;

	for (size_t i = 0; i < l->a.idle.n; i++) {
		const struct fsc_idle_row *r = &l->a.idle.v[i];
		struct hta_idle ours = hta_idle(&l->hta, false, r->stream);

		same_ns(l->run, "host_wait", r->host_wait_ns, ours.host_wait);
		same_ns(l->run, "kernel_wait", r->kernel_wait_ns, ours.kernel_wait);
		same_ns(l->run, "other", r->other_ns, ours.other);
	}
	if (l->run->no_tables)
		return;
	open_table(&c, l->run, "idle_time_breakdown.0");
	for (; next_of_rank(&c, l->run); n++) {
		int64_t stream = (int64_t)csv_num(&c, "stream");
		const char *category = csv_text(&c, "idle_category");
		struct hta_idle v = hta_idle(&l->hta, true, stream);

		assert_true(idle_of(l, stream) || (l->run->odd & EXTRA));
		same_us(l->run, category,
			!strcmp(category, "host_wait")	   ? v.host_wait
			: !strcmp(category, "kernel_wait") ? v.kernel_wait
							   : v.other,
			csv_num(&c, "idle_time"));
	}
	assert_true(n > 0);
	csv_close(&c);
}

static void check_overlap(const struct loaded *l)
{
	struct fsc_device_row d = device_of(l);
	struct csv c;
	unsigned n = 0;

	open_table(&c, l->run, "comm_comp_overlap");
	for (; next_of_rank(&c, l->run); n++) {
		const char *pct = csv_text(&c, "comp_comm_overlap_pctg");

		if (!pct[0])
			assert_int_equal(d.comm_ns, 0);
		else
			same_pct(l->run, "overlap", (double)d.comm_overlap_ns, (double)d.comm_ns,
				 strtod(pct, NULL), 0.005);
	}
	assert_int_equal(n, 1);
	csv_close(&c);
}

/* Our row for a name, all kinds together: HTA's kinds go by name alone. */
static struct fsc_kernel_row kernel_of(const struct loaded *l, const char *name)
{
	struct fsc_kernel_row sum = { .count = 0 };

	for (size_t i = 0; i < l->a.kernels.n; i++) {
		const struct fsc_kernel_row *k = &l->a.kernels.v[i];

		if (strcmp(fsc_seg_str(l->seg, k->name, NULL), name))
			continue;
		assert_int_equal(sum.count, 0);
		sum = *k;
	}
	return sum;
}

static const char *type_name(char type)
{
	return type == 'C'   ? "COMMUNICATION"
	       : type == 'M' ? "MEMORY"
	       : type == 'K' ? "COMPUTATION"
			     : "OTHER";
}

static void check_kernels(const struct loaded *l)
{
	size_t n = 0;
	struct csv c;

	for (size_t i = 0; i < l->a.kernels.n; i++) {
		const char *name = fsc_seg_str(l->seg, l->a.kernels.v[i].name, NULL);
		struct fsc_kernel_row k = kernel_of(l, name);
		struct hta_kernel ours = hta_kernel(&l->hta, false, name);

		same_ns(l->run, name, k.sum_ns, ours.sum);
		same_ns(l->run, name, k.min_ns, ours.min);
		same_ns(l->run, name, k.max_ns, ours.max);
		same_ns(l->run, name, (int64_t)k.count, (int64_t)ours.count);
		assert_int_equal(hta_letter(k.kind), ours.type);
	}
	open_table(&c, l->run, "gpu_kernel_breakdown_all.1");
	while (next_of_rank(&c, l->run)) {
		const char *name = csv_text(&c, "name");
		struct hta_kernel all = hta_kernel(&l->hta, true, name);

		same_us(l->run, name, all.sum, csv_num(&c, "sum (us)"));
		same_us(l->run, name, all.min, csv_num(&c, "min (us)"));
		same_us(l->run, name, all.max, csv_num(&c, "max (us)"));
		/* the mean holds the count: half a ns of it is less than what one more row would move */
		assert_true(fabs((double)all.sum / 1000 / (double)all.count -
				 csv_num(&c, "mean (us)")) < (l->run->fractional ? 0.001 : 1e-6));
		assert_string_equal(type_name(all.type), csv_text(&c, "kernel_type"));
		n += kernel_of(l, name).count > 0;
	}
	csv_close(&c);
	/* none of ours is missing there */
	if (!l->run->no_tables)
		assert_int_equal(n, l->a.kernels.n);
}

/* Time by type and by types at once: one table for all ranks of a folder. */
static const struct {
	const char *name;
	unsigned combo;
} combos[] = {
	{ "COMPUTATION", 1 },
	{ "COMMUNICATION", 2 },
	{ "MEMORY", 4 },
	{ "COMPUTATION overlapping COMMUNICATION", 3 },
	{ "COMPUTATION overlapping MEMORY", 5 },
	{ "COMMUNICATION overlapping MEMORY", 6 },
	{ "COMPUTATION overlapping COMMUNICATION overlapping MEMORY", 7 },
};

static void check_types_of_folder(size_t first, size_t end)
{
	int64_t table[HTA_COMBOS] = { 0 }, total = 0;
	struct csv c;

	for (size_t i = first; i < end; i++) {
		const struct loaded *l = get(i);
		struct fsc_device_row d = device_of(l);
		int64_t ours[HTA_COMBOS] = { 0 };

		hta_combos(ours, &l->hta, false, false);
		same_ns(l->run, "computation", d.compute_ns, ours[1] + ours[3] + ours[5] + ours[7]);
		same_ns(l->run, "exposed comm", d.exposed_comm_ns, ours[2] + ours[6]);
		same_ns(l->run, "exposed memcpy", d.exposed_memcpy_ns, ours[4]);
		hta_combos(table, &l->hta, true, l->run->fractional);
	}
	for (unsigned i = 0; i < HTA_COMBOS; i++)
		total += table[i];
	open_table(&c, &runs[first], "gpu_kernel_breakdown.0");
	while (csv_next(&c)) {
		const char *type = csv_text(&c, "kernel_type");
		unsigned i = 0;

		while (i < FSC_ARRAY_LEN(combos) && strcmp(combos[i].name, type))
			i++;
		assert_true(i < FSC_ARRAY_LEN(combos));
		same_us(&runs[first], type, table[combos[i].combo], csv_num(&c, "sum"));
		same_pct(&runs[first], type, (double)table[combos[i].combo], (double)total,
			 csv_num(&c, "percentage"), 0.05);
		table[combos[i].combo] = 0;
	}
	csv_close(&c);
	/* what the table does not name is nothing */
	for (unsigned i = 0; i < HTA_COMBOS; i++)
		assert_int_equal(table[i], 0);
}

static void check_all(void (*check)(const struct loaded *l))
{
	for (size_t i = 0; i < N_RUNS; i++)
		check(get(i));
}

static void each_trace_has_the_oddities_it_is_known_for(void **state)
{
	(void)state;
	check_all(check_oddities);
}

static void temporal_breakdown_equals_the_reference(void **state)
{
	(void)state;
	check_all(check_temporal);
}

static void idle_time_by_cause_equals_the_reference(void **state)
{
	(void)state;
	check_all(check_idle);
}

static void communication_overlap_equals_the_reference(void **state)
{
	(void)state;
	check_all(check_overlap);
}

static void every_kernel_equals_the_reference(void **state)
{
	(void)state;
	check_all(check_kernels);
}

static void time_by_type_and_overlap_equals_the_reference(void **state)
{
	(void)state;
	for (size_t i = 0, end = 0; i < N_RUNS; i = end) {
		for (end = i; end < N_RUNS && !strcmp(runs[end].folder, runs[i].folder); end++)
			;
		check_types_of_folder(i, end);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_trace_has_the_oddities_it_is_known_for),
		cmocka_unit_test(temporal_breakdown_equals_the_reference),
		cmocka_unit_test(idle_time_by_cause_equals_the_reference),
		cmocka_unit_test(communication_overlap_equals_the_reference),
		cmocka_unit_test(every_kernel_equals_the_reference),
		cmocka_unit_test(time_by_type_and_overlap_equals_the_reference),
	};
	return cmocka_run_group_tests(tests, NULL, unload_all);
}
