/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segments beside the same slices as rows of SQLite: bytes, build and the timeline query (64 tracks x 2,000
 * pixels) at several zooms, warm. The segment holds 10 M slices; SQLite is measured with 1 M rows, and where
 * its cost grows with the rows its figure is multiplied by 10 (an index-only scan is linear in the rows it
 * reads). Slices come in bursts with gaps. A second 10 M slices are made to be hard: one slice of a good
 * pixel after every 150 short ones, so that each pixel of the whole range needs single slices.
 */
#include <sqlite3.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "segment/seg_query.h"
#include "segment/seg_write.h"
#include "tests/bench/bench.h"

#define TRACKS 64u
#define PX 2000u
#define BIG 10000000u
#define SMALL 1000000u
#define NAMES 400u
#define QUERIES 41

enum shape { BURSTS, HARD };

static uint64_t rnd(uint64_t *state)
{
	uint64_t z = (*state += 0x9E3779B97F4A7C15u);

	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
	return z ^ z >> 27;
}

static void columns(struct fsc_slices *s, uint32_t n)
{
	s->ts = fsc_xalloc(n, sizeof(*s->ts));
	s->dur = fsc_xalloc(n, sizeof(*s->dur));
	s->correlation = fsc_xalloc(n, sizeof(*s->correlation));
	s->track = fsc_xalloc(n, sizeof(*s->track));
	s->name = fsc_xalloc(n, sizeof(*s->name));
	s->args = fsc_xalloc(n, sizeof(*s->args));
	s->cat = fsc_xalloc(n, sizeof(*s->cat));
	s->depth = fsc_xalloc(n, sizeof(*s->depth));
	s->kind = fsc_xalloc(n, sizeof(*s->kind));
	s->flags = fsc_xalloc(n, sizeof(*s->flags));
	s->cap = n;
}

/* One track. BURSTS: about a thousand slices, then a gap. HARD: 150 short slices, then one of a pixel.
 * Frequent names first, as in real traces. */
static void fill_track(struct fsc_trace *t, enum shape shape, uint32_t track, uint32_t n,
		       uint64_t *st)
{
	struct fsc_slices *s = &t->slices;
	int64_t at = (int64_t)(rnd(st) % 100000);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = s->n++;
		uint64_t r = rnd(st);

		if (shape == BURSTS && i % 1024 == 1023)
			at += (int64_t)(r % 40000000);
		else
			at += (int64_t)(r % 700);
		s->ts[k] = at;
		s->dur[k] = 300 + (int64_t)(r >> 32) % 4000;
		if (shape == HARD && i % 150 == 149)
			s->dur[k] = 210000;
		at += s->dur[k];
		s->track[k] = track;
		s->name[k] = 1 + (uint32_t)(r >> 20) % ((r & 3) ? NAMES / 16 : NAMES);
		s->kind[k] = r >> 60 < 3 ? FSC_KIND_COMM : FSC_KIND_COMPUTE;
		s->correlation[k] = FSC_NO_CORRELATION;
		s->args[k] = FSC_NO_ARGS;
	}
	if (at > t->meta.t_max_ns)
		t->meta.t_max_ns = at;
}

static struct fsc_trace *make_trace(uint32_t n, enum shape shape, bool linked)
{
	struct fsc_trace *t = fsc_xalloc(1, sizeof(*t));
	struct fsc_process p = { .pid = 1 };
	uint32_t id = 0;
	uint64_t st = 7;

	t->strings = fsc_strtab_new();
	t->args = fsc_args_new();
	for (uint32_t i = 1; i <= NAMES; i++) {
		char s[80];
		int len =
			snprintf(s, sizeof(s),
				 "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_%u>(Params)",
				 i);

		if (!t->strings || !t->args ||
		    fsc_strtab_put(&id, t->strings, s, (size_t)len) != FSC_OK)
			bench_die("names");
	}
	if (!fsc_vec_push(&t->cats, 1u) || !fsc_vec_push(&t->processes, p))
		bench_die("memory");
	columns(&t->slices, n);
	for (uint32_t k = 0; k < TRACKS; k++) {
		struct fsc_track tr = { .kind = FSC_TRACK_STREAM,
					.tid = k,
					.device = (int32_t)(k / 8),
					.context = 1,
					.stream = (int32_t)k,
					.first = t->slices.n,
					.n = n / TRACKS,
					.depths = 1 };

		fill_track(t, shape, k, tr.n, &st);
		if (!fsc_vec_push(&t->tracks, tr))
			bench_die("memory");
	}
	/* Two slices in five have a correlation, three in five have args. */
	for (uint32_t i = 0; linked && i < t->slices.n; i++) {
		if (i % 5 < 2)
			t->slices.correlation[i] = (int64_t)(i * 7u % 5000000);
		else if (fsc_args_put(&t->slices.args[i], t->args, "{\"External id\":1}", 17) !=
			 FSC_OK)
			bench_die("args");
	}
	if (fsc_args_finish(t->args) != FSC_OK)
		bench_die("args");
	return t;
}

/* CPU milliseconds of QUERIES windows of 1/zoom of the range; sorted. */
static void time_queries(double ms[QUERIES], const struct fsc_seg *s, uint32_t zoom,
			 uint64_t *items)
{
	uint32_t rows[TRACKS];
	int64_t whole = fsc_seg_info(s)->t_max_ns;
	uint64_t st = zoom;

	for (uint32_t i = 0; i < TRACKS; i++)
		rows[i] = fsc_seg_track(s, i)->first_row;
	for (int q = -2; q < QUERIES; q++) {
		int64_t t0 = zoom == 1 ? 0 : (int64_t)(rnd(&st) % (uint64_t)(whole - whole / zoom));
		struct fsc_seg_items out;
		double from = bench_cpu_now();

		if (fsc_seg_query_slices(&out, s, rows, TRACKS, t0, t0 + whole / zoom, PX,
					 UINT32_MAX, NULL) != FSC_OK)
			bench_die("query");
		if (q >= 0)
			ms[q] = (bench_cpu_now() - from) * 1e3;
		*items = out.v.n;
		fsc_seg_items_fini(&out);
	}
	qsort(ms, QUERIES, sizeof(*ms), bench_by_value);
}

/* ---- SQLite ---- */

static void sql(sqlite3 *db, const char *text)
{
	if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK)
		bench_die(sqlite3_errmsg(db));
}

static sqlite3 *sqlite_rows(const struct fsc_trace *t, double *build_s, double *bytes)
{
	const struct fsc_slices *s = &t->slices;
	sqlite3 *db;
	sqlite3_stmt *ins, *size;
	double from = bench_cpu_now();

	if (sqlite3_open(":memory:", &db) != SQLITE_OK)
		bench_die("sqlite");
	sql(db, "CREATE TABLE slice(track INT, ts INT, dur INT, name INT);"
		"PRAGMA journal_mode=OFF; BEGIN");
	if (sqlite3_prepare_v2(db, "INSERT INTO slice VALUES(?,?,?,?)", -1, &ins, NULL) !=
	    SQLITE_OK)
		bench_die(sqlite3_errmsg(db));
	for (uint32_t i = 0; i < s->n; i++) {
		sqlite3_bind_int64(ins, 1, s->track[i]);
		sqlite3_bind_int64(ins, 2, s->ts[i]);
		sqlite3_bind_int64(ins, 3, s->dur[i]);
		sqlite3_bind_int64(ins, 4, s->name[i]);
		sqlite3_step(ins);
		sqlite3_reset(ins);
	}
	sqlite3_finalize(ins);
	sql(db, "CREATE INDEX slice_at ON slice(track, ts, dur, name); COMMIT");
	*build_s = bench_cpu_now() - from;
	if (sqlite3_prepare_v2(
		    db, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
		    -1, &size, NULL) != SQLITE_OK ||
	    sqlite3_step(size) != SQLITE_ROW)
		bench_die("sqlite size");
	*bytes = (double)sqlite3_column_int64(size, 0);
	sqlite3_finalize(size);
	return db;
}

/* Busy time, count and the longest slice of each pixel, from an index-only range scan a track. */
static double sqlite_query(sqlite3 *db, int64_t t0, int64_t t1)
{
	static uint64_t busy[PX], count[PX], longest[PX];
	static int64_t name[PX];
	sqlite3_stmt *q;
	double from = bench_cpu_now();

	if (sqlite3_prepare_v2(
		    db,
		    "SELECT ts, dur, name FROM slice WHERE track=? AND ts>=? AND ts<? ORDER BY ts",
		    -1, &q, NULL) != SQLITE_OK)
		bench_die(sqlite3_errmsg(db));
	for (uint32_t k = 0; k < TRACKS; k++) {
		sqlite3_bind_int64(q, 1, k);
		sqlite3_bind_int64(q, 2, t0);
		sqlite3_bind_int64(q, 3, t1);
		while (sqlite3_step(q) == SQLITE_ROW) {
			int64_t ts = sqlite3_column_int64(q, 0);
			uint64_t dur = (uint64_t)sqlite3_column_int64(q, 1);
			size_t b = (size_t)((double)(ts - t0) / (double)(t1 - t0) * PX);

			b = b < PX ? b : PX - 1;
			busy[b] += dur;
			count[b]++;
			if (dur > longest[b]) {
				longest[b] = dur;
				name[b] = sqlite3_column_int64(q, 2);
			}
		}
		sqlite3_reset(q);
	}
	sqlite3_finalize(q);
	if (name[0] < 0)
		bench_die("names"); /* keeps the work from being left out */
	return (bench_cpu_now() - from) * 1e3;
}

/* ---- lines ---- */

static struct fsc_seg *written(const struct fsc_trace *t, struct fsc_seg_write_stats *st,
			       double *best_s, int runs)
{
	int fd = memfd_create("segment", MFD_CLOEXEC);
	struct fsc_seg *s;

	*best_s = 1e9;
	for (int i = 0; i < runs; i++) {
		double from = bench_cpu_now(), took;

		if (ftruncate(fd, 0) || fsc_seg_write(fd, t, NULL, st, NULL) != FSC_OK)
			bench_die("write");
		took = bench_cpu_now() - from;
		*best_s = took < *best_s ? took : *best_s;
	}
	if (fsc_seg_open(&s, fd, NULL) != FSC_OK)
		bench_die("open");
	close(fd);
	return s;
}

static void size_lines(const struct fsc_seg_write_stats *st, double n, double sql_bytes_per_row)
{
	double per = (double)(st->slice_bytes + st->lod_bytes) / n;
	char base[64];

	snprintf(base, sizeof(base), "sqlite_rows_%.1f_B", sql_bytes_per_row);
	bench_report("segment_bytes_per_slice", per, "B", sql_bytes_per_row, base);
	bench_report("segment_bytes_per_slice", per, "B", 16, "limit_16");
	bench_report("segment_lod_bytes_per_slice", (double)st->lod_bytes / n, "B", per,
		     "all_of_it");
}

static void linked_lines(void)
{
	struct fsc_trace *t = make_trace(SMALL, BURSTS, true);
	struct fsc_seg_write_stats st;
	double took, n = t->slices.n;
	struct fsc_seg *s = written(t, &st, &took, 1);

	bench_report("segment_file_bytes_per_linked_slice",
		     (double)(st.file_bytes - st.args_bytes) / n, "B", 28, "limit_28");
	fsc_seg_unref(s);
	fsc_trace_free(t);
}

static void query_lines(const struct fsc_seg *s, uint32_t zoom, const char *name, double sql_ms)
{
	double ms[QUERIES];
	uint64_t items = 0;
	char line[96], base[64];

	time_queries(ms, s, zoom, &items);
	snprintf(line, sizeof(line), "segment_query_%s_p50", name);
	snprintf(base, sizeof(base), "sqlite_rows_%.1f_ms", sql_ms);
	bench_report(line, ms[QUERIES / 2], "ms", sql_ms, sql_ms > 0 ? base : "-");
	snprintf(line, sizeof(line), "segment_query_%s_p99", name);
	bench_report(line, ms[QUERIES - 1], "ms", 20, "limit_20");
	fprintf(stderr, "# %s: %llu items\n", name, (unsigned long long)items);
}

/* What is not bounded by pixels: search over all names and an aggregate of the whole range. */
static void scan_lines(const struct fsc_seg *s)
{
	uint32_t tracks[TRACKS];
	struct fsc_seg_hits h;
	struct fsc_seg_agg a;
	double ms[BENCH_RUNS];

	for (uint32_t i = 0; i < TRACKS; i++)
		tracks[i] = i;
	for (int i = 0; i < BENCH_RUNS; i++) {
		double from = bench_cpu_now();

		if (fsc_seg_search(&h, s, "gemm_39", 0, INT64_MAX, 1000, 2000, NULL) != FSC_OK)
			bench_die("search");
		ms[i] = (bench_cpu_now() - from) * 1e3;
		fsc_seg_hits_fini(&h);
	}
	bench_report("segment_search_all", bench_median(ms, BENCH_RUNS), "ms", 100, "limit_100");
	for (int i = 0; i < BENCH_RUNS; i++) {
		double from = bench_cpu_now();

		if (fsc_seg_aggregate(&a, s, tracks, TRACKS, 0, INT64_MAX, FSC_AGG_NAME, NULL) !=
		    FSC_OK)
			bench_die("aggregate");
		ms[i] = (bench_cpu_now() - from) * 1e3;
		fsc_seg_agg_fini(&a);
	}
	bench_report("segment_aggregate_all", bench_median(ms, BENCH_RUNS), "ms", 300, "limit_300");
}

static void hard_lines(void)
{
	struct fsc_trace *t = make_trace(BIG, HARD, false);
	struct fsc_seg_write_stats st;
	double took;
	struct fsc_seg *s = written(t, &st, &took, 1);

	fsc_trace_free(t);
	query_lines(s, 1, "hard_full", 0);
	query_lines(s, 10, "hard_1_10", 0);
	fsc_seg_unref(s);
}

int main(void)
{
	struct fsc_trace *t = make_trace(SMALL, BURSTS, false);
	int64_t whole = t->meta.t_max_ns, third = whole / 3;
	double sql_s, sql_bytes, sql_full, sql_100, sql_10000, build_s;
	struct fsc_seg_write_stats st;
	struct fsc_seg *s;
	sqlite3 *db = sqlite_rows(t, &sql_s, &sql_bytes);
	char base[64];

	sql_full = sqlite_query(db, 0, whole) * (BIG / SMALL);
	sql_100 = sqlite_query(db, third, third + whole / 100) * (BIG / SMALL);
	sql_10000 = sqlite_query(db, third, third + whole / 10000) * (BIG / SMALL);
	sqlite3_close(db);
	fsc_trace_free(t);
	t = make_trace(BIG, BURSTS, false);
	s = written(t, &st, &build_s, 3);
	size_lines(&st, t->slices.n, sql_bytes / SMALL);
	snprintf(base, sizeof(base), "sqlite_rows_%.2f_M/s", SMALL / sql_s / 1e6);
	bench_report("segment_build", t->slices.n / build_s / 1e6, "Mslices/cpu_s",
		     SMALL / sql_s / 1e6, base);
	bench_report("segment_build", t->slices.n / build_s / 1e6, "Mslices/cpu_s", 10,
		     "target_10");
	fsc_trace_free(t);
	linked_lines();
	query_lines(s, 1, "full", sql_full);
	query_lines(s, 100, "1_100", sql_100);
	query_lines(s, 5, "1_5", 0);
	query_lines(s, 10000, "1_10000", sql_10000);
	scan_lines(s);
	fsc_seg_unref(s);
	hard_lines();
	return 0;
}
