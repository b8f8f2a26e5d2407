/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The independent integer-ns recount of every public GPU trace: busy, computation, communication, copies,
 * overlap and gaps over all GPU rows of a file (its devices taken together).
 */
#include "analysis/analysis.h"
#include "analysis/intervals.h"
#include "tests/unit/analysis/csv.h"
#include "tests/unit/analysis/load.h"

#include <math.h>

enum { COMPUTE, COMM, COPY, OTHER, N_PARTS };

struct file_sets {
	struct fsc_spans all, part[N_PARTS];
	FSC_VEC(int64_t) points; /* rows without length: they cut a gap in two */
	int64_t first, last;
	uint64_t n;
};

static unsigned part_of(uint8_t kind)
{
	return kind == FSC_KIND_COMPUTE				    ? COMPUTE
	       : kind == FSC_KIND_COMM				    ? COMM
	       : kind == FSC_KIND_MEMCPY || kind == FSC_KIND_MEMSET ? COPY
								    : OTHER;
}

static void collect(struct file_sets *f, const struct fsc_seg *s)
{
	struct fsc_err err = FSC_ERR_INIT;

	memset(f, 0, sizeof(*f));
	for (uint32_t row = 0; row < fsc_seg_info(s)->n_rows; row++) {
		struct fsc_seg_iter it;
		struct fsc_seg_slice sl;

		assert_int_equal(fsc_seg_iter_init(&it, s, row, INT64_MIN, INT64_MAX, &err),
				 FSC_OK);
		while (fsc_seg_iter_next(&it, &sl, &err) == FSC_OK) {
			/* the recount leaves out accelerators whose rows are not called kernels */
			const char *cat = fsc_seg_str(s, sl.cat, NULL);

			if (!fsc_kind_is_gpu_work(sl.kind) || !strcmp(cat, "mtia_ccp_events"))
				continue;
			if (!f->n || sl.ts < f->first)
				f->first = sl.ts;
			if (!f->n || sl.ts + sl.dur > f->last)
				f->last = sl.ts + sl.dur;
			f->n++;
			if (!sl.dur)
				assert_true(fsc_vec_push(&f->points, sl.ts));
			assert_true(fsc_spans_add(&f->all, sl.ts, sl.ts + sl.dur));
			assert_true(
				fsc_spans_add(&f->part[part_of(sl.kind)], sl.ts, sl.ts + sl.dur));
		}
		fsc_seg_iter_fini(&it);
	}
	assert_true(fsc_spans_normalise(&f->all));
	for (unsigned i = 0; i < N_PARTS; i++)
		assert_true(fsc_spans_normalise(&f->part[i]));
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* Number of gaps over 1 ms, and the largest. */
static size_t gaps(struct file_sets *f, int64_t *largest)
{
	size_t n = 0, k = 0;

	*largest = 0;
	if (f->points.n)
		qsort(f->points.v, f->points.n, sizeof(*f->points.v), by_value);
	for (size_t i = 0; i < fsc_spans_gaps(&f->all); i++) {
		struct fsc_span g = fsc_spans_gap(&f->all, i);

		while (g.t0 < g.t1) {
			while (k < f->points.n && f->points.v[k] <= g.t0)
				k++;
			int64_t end =
				k < f->points.n && f->points.v[k] < g.t1 ? f->points.v[k] : g.t1;

			*largest = end - g.t0 > *largest ? end - g.t0 : *largest;
			n += end - g.t0 > 1000000;
			g.t0 = end;
		}
	}
	return n;
}

static void drop(struct file_sets *f)
{
	fsc_vec_fini(&f->points);
	fsc_spans_fini(&f->all);
	for (unsigned i = 0; i < N_PARTS; i++)
		fsc_spans_fini(&f->part[i]);
}

static unsigned n_faults;

static void same(const char *file, const char *what, double ours, double table, double tolerance)
{
	if (fabs(ours - table) <= tolerance)
		return;
	print_error("%s: %s is %.6f, recounted %.6f\n", file, what, ours, table);
	n_faults++;
}

static double ms(const struct fsc_spans *s)
{
	return (double)fsc_spans_total(s) / 1e6;
}

/* Every device's own figures, from the analysis, must be those of its rows in the file's sets. */
static void check_devices(const char *file, const struct fsc_analysis *a, const struct file_sets *f)
{
	uint64_t n = 0;
	int64_t most = 0;

	for (size_t i = 0; i < a->devices.n; i++) {
		n += a->devices.v[i].slices;
		most = a->devices.v[i].busy_ns > most ? a->devices.v[i].busy_ns : most;
	}
	same(file, "GPU rows over devices", (double)n, (double)f->n, 0);
	if (a->devices.n == 1)
		same(file, "busy of its device", (double)most, (double)fsc_spans_total(&f->all), 0);
}

static void check_file(struct csv *c)
{
	const char *file = csv_text(c, "file");
	struct fsc_analysis_scope scope = { .steps = FSC_STEPS_ALL };
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_analysis a;
	struct file_sets f;
	char rel[1024], path[2048];
	int64_t largest = 0;

	snprintf(rel, sizeof(rel), "gpu-traces/%s", file);
	struct fsc_seg *s = seg_of_file(test_data(path, sizeof(path), rel));
	collect(&f, s);
	assert_int_equal(fsc_analyse(&a, s, &scope, &err), FSC_OK);
	double span = (double)(f.last - f.first);
	double busy = span > 0 ? 100.0 * (double)fsc_spans_total(&f.all) / span : 0;
	int64_t overlap = fsc_spans_common(&f.part[COMM], &f.part[COMPUTE]);
	size_t long_gaps = gaps(&f, &largest);
	same(file, "gpu_events", (double)f.n, csv_num(c, "gpu_events"), 0);
	same(file, "span_ms", span / 1e6, csv_num(c, "span_ms"), 5e-7);
	same(file, "busy_pct", busy, csv_num(c, "busy_pct"), 0.0050001);
	same(file, "compute_ms", ms(&f.part[COMPUTE]), csv_num(c, "compute_ms"), 5e-7);
	same(file, "comm_ms", ms(&f.part[COMM]), csv_num(c, "comm_ms"), 5e-7);
	same(file, "mem_ms", ms(&f.part[COPY]), csv_num(c, "mem_ms"), 5e-7);
	if (csv_text(c, "exposed_comm_ms")[0])
		same(file, "exposed_comm_ms", ms(&f.part[COMM]) - (double)overlap / 1e6,
		     csv_num(c, "exposed_comm_ms"), 5e-7);
	same(file, "gaps_gt_1ms", (double)long_gaps, csv_num(c, "gaps_gt_1ms"), 0);
	same(file, "largest_gap_ms", (double)largest / 1e6, csv_num(c, "largest_gap_ms"), 5e-7);
	check_devices(file, &a, &f);
	fsc_analysis_fini(&a);
	drop(&f);
	fsc_seg_unref(s);
}

static void every_trace_equals_the_recount(void **state)
{
	char path[2048];
	unsigned n = 0;
	struct csv c;

	(void)state;
	csv_open(&c, test_data(path, sizeof(path), "gpu-traces/oracle/antipatterns.csv"));
	for (; csv_next(&c); n++)
		check_file(&c);
	csv_close(&c);
	assert_true(n > 40);
	assert_int_equal(n_faults, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_trace_equals_the_recount) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
