/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Perfetto export of the reference file: slices per CPU second, bytes against the JSON it came from, and the
 * memory an export adds, which must not grow with the trace.
 */
#include <fcntl.h>
#include <malloc.h>

#include "base/source.h"
#include "export/exporter.h"
#include "formats/reader.h"
#include "segment/seg_write.h"
#include "tests/bench/bench.h"

#define REFERENCE "gpu-traces/hta/df_index_resolver/df_index_resolver.json.gz"

struct work {
	struct fsc_seg *seg;
	uint64_t slices;
};

static void check(enum fsc_status st, const struct fsc_err *err)
{
	if (st < 0) {
		fprintf(stderr, "bench: %s\n", err->msg);
		exit(1);
	}
}

static enum fsc_status keep_segment(void *ctx, struct fsc_trace *t, struct fsc_err *err)
{
	static const uint8_t no_blob[32];
	struct work *w = ctx;
	FILE *f = tmpfile();
	enum fsc_status st;

	if (!f)
		bench_die("tmpfile");
	w->slices = t->slices.n;
	st = fsc_seg_write(fileno(f), t, no_blob, NULL, err);
	fsc_trace_free(t);
	if (!st)
		st = fsc_seg_open(&w->seg, fileno(f), err);
	fclose(f);
	return st;
}

/* Reads the file into a segment; returns its bytes as JSON. */
static uint64_t load(struct work *w, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct fsc_reader_sink sink = { .ctx = w, .trace = keep_segment };
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_source *src;
	const struct fsc_reader *reader;
	const uint8_t *head;
	uint64_t bytes;
	size_t n;

	if (fd < 0)
		bench_die(path);
	src = fsc_source_auto(fsc_source_fd(fd));
	check(fsc_source_peek(src, &head, &n, &err), &err);
	reader = fsc_reader_pick(head, n, &err);
	check(reader ? reader->read(src, &sink, &err) : err.status, &err);
	bytes = src->consumed;
	fsc_source_free(src);
	close(fd);
	return bytes;
}

/* Private memory of this process: mapped segment pages are the page cache's. */
static double private_mib(void)
{
	char line[256];
	double kib = 0;
	FILE *f = fopen("/proc/self/status", "r");

	if (!f)
		bench_die("/proc/self/status");
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, "RssAnon:", 8))
			kib = strtod(line + 8, NULL);
	fclose(f);
	return kib / 1024;
}

/* One whole export; peak, when asked for, is the most private memory seen between pieces. */
static uint64_t export_all(struct fsc_seg *seg, double *peak)
{
	const struct fsc_exporter *x = fsc_exporter_find("perfetto");
	struct fsc_export_opts opts = { 0, 0 };
	struct fsc_buf piece = FSC_BUF_INIT(64u << 20);
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_export *e;
	uint64_t bytes = 0;
	enum fsc_status st;

	check(x->open(&e, seg, &opts, &err), &err);
	while ((st = x->next(e, &piece, &err)) == FSC_OK) {
		bytes += piece.len;
		fsc_buf_clear(&piece);
		if (peak && private_mib() > *peak)
			*peak = private_mib();
	}
	check(st, &err);
	x->close(e);
	fsc_buf_fini(&piece);
	return bytes;
}

int main(void)
{
	const char *root = getenv("FLEETSCOPE_TESTDATA");
	char path[4096];
	struct work w = { 0 };
	double cpu[BENCH_RUNS], before, peak = 0;
	uint64_t json, bytes = 0;

	if (!root || !root[0]) {
		fprintf(stderr, "bench_export: skipped, no test data\n");
		return 0;
	}
	snprintf(path, sizeof(path), "%s/%s", root, REFERENCE);
	json = load(&w, path);
	malloc_trim(0); /* what the reader freed must not hide what the export takes */
	before = private_mib();
	export_all(w.seg, &peak);
	for (size_t i = 0; i < BENCH_RUNS; i++) {
		double start = bench_cpu_now();

		bytes = export_all(w.seg, NULL);
		cpu[i] = bench_cpu_now() - start;
	}
	bench_report("export_perfetto_slices",
		     (double)w.slices / bench_median(cpu, BENCH_RUNS) / 1e6, "M/cpu-s", 1.0,
		     "target");
	bench_report("export_perfetto_bytes", (double)bytes / 1e6, "MB", (double)json / 1e6,
		     "json");
	bench_report("export_perfetto_memory", peak - before, "MiB", 64, "limit");
	fsc_seg_unref(w.seg);
	return 0;
}
