/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Perfetto traces of the test data against what trace_processor read of them: every slice with its time, length and
 * name, and the number of arrows. Where we differ on purpose the table says so.
 */
#include <dirent.h>

#include "tests/support/read_trace.h"
#include "tests/unit/analysis/csv.h"

static unsigned n_faults;

struct row {
	int64_t ts, dur;
	char name[400];
};
struct rows {
	struct row *v;
	size_t n, cap;
};

static void add_row(struct rows *r, int64_t ts, int64_t dur, const char *name)
{
	if (r->n == r->cap) {
		r->cap = r->cap ? 2 * r->cap : 64;
		r->v = realloc(r->v, r->cap * sizeof(*r->v));
		assert_non_null(r->v);
	}
	r->v[r->n].ts = ts;
	r->v[r->n].dur = dur;
	snprintf(r->v[r->n++].name, sizeof(r->v->name), "%s", name);
}

static int by_all(const void *x, const void *y)
{
	const struct row *a = x, *b = y;

	if (a->ts != b->ts)
		return a->ts < b->ts ? -1 : 1;
	if (a->dur != b->dur)
		return a->dur < b->dur ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void expected_rows(struct rows *r, const char *path)
{
	struct csv c;

	csv_open(&c, path);
	while (csv_next(&c))
		add_row(r, strtoll(csv_text(&c, "ts"), NULL, 10),
			strtoll(csv_text(&c, "dur"), NULL, 10), csv_text(&c, "name"));
	csv_close(&c);
}

static void own_rows(struct rows *r, const struct fsc_trace *t, int64_t base)
{
	for (uint32_t i = 0; i < t->slices.n; i++)
		add_row(r, t->slices.ts[i] + base,
			t->slices.flags[i] & FSC_SLICE_OPEN ? -1 : t->slices.dur[i],
			str_of(t, t->slices.name[i]));
	if (r->n)
		qsort(r->v, r->n, sizeof(*r->v), by_all);
}

#define fault(...) (n_faults++, print_error(__VA_ARGS__), print_error("\n"))

static void compare(const char *file, const struct rows *got, const struct rows *want)
{
	size_t n = got->n < want->n ? got->n : want->n;

	for (size_t i = 0; i < n; i++)
		if (by_all(&got->v[i], &want->v[i])) {
			fault("%s: slice %zu is %lld %lld %s, expected %lld %lld %s", file, i,
			      (long long)got->v[i].ts, (long long)got->v[i].dur, got->v[i].name,
			      (long long)want->v[i].ts, (long long)want->v[i].dur, want->v[i].name);
			return;
		}
	if (got->n != want->n)
		fault("%s: %zu slices, expected %zu", file, got->n, want->n);
}

static const struct file {
	const char *name;
	unsigned flows, counters;
	const char *refused; /* code, when there is no timeline in it */
	const char *names
		[3]; /* ours, where trace_processor shows the stage of a kernel and not the kernel */
	int samples;	  /* CPU samples, which are instants here */
	struct row extra; /* a slice more than there */
	const char *note;
} files[] = {
	{ .name = "track_event__track_event_tracks_slices.pftrace" },
	{ .name = "track_event__flow_events_track_event.pftrace", .flows = 8 },
	{ .name = "track_event__track_event_counters_slices.pftrace",
	  .counters = 14,
	  .note = "18 there: four are thread clocks of old Chrome, counted here as "
		  "thread_time_ignored" },
	{ .name = "track_event__track_event_instant_slices.pftrace" },
	{ .name = "track_event__track_event_name_resolution.pftrace" },
	{ .name = "track_event__track_event_merged_debug_annotations_args.pftrace" },
	{ .name = "track_event__track_event_callstacks.pftrace" },
	{ .name = "track_event__track_event_monotonic_trace_clock_slices.pftrace" },
	{ .name = "graphics_gpu_trace__gpu_api_arg.pftrace" },
	{ .name = "graphics_gpu_trace__gpu_info.pftrace", .refused = "not_a_timeline" },
	{ .name = "graphics_gpu_trace__gpu_compute_kernel.pftrace",
	  .names = { "vectorAdd(float*, float*, float*, int)",
		     "matMul(float*, float*, float*, int, int)",
		     "vectorAdd(float*, float*, float*, int)" } },
	{ .name = "graphics_gpu_trace__gpu_compute_launch.pftrace" },
	{ .name = "graphics_gpu_trace__gpu_render_stages_flow.pftrace", .flows = 3 },
	{ .name = "graphics_gpu_trace__gpu_render_stages_interned_spec.pftrace",
	  .extra = { 300, 10, "render" },
	  .note = "a stage whose queue was never described is dropped there, kept here and "
		  "counted" },
	{ .name = "graphics_gpu_trace__gpu_counter_interned_descriptor.pftrace", .counters = 4 },
	{ .name = "profiling__stack_sample.pftrace", .samples = 1 },
	{ .name = "kineto_synth_trackevent.pftrace", .flows = 655 },
	{ .name = "kineto_synth_renderstage.pftrace", .flows = 655 },
	{ .name = "kineto_synth_compressed_packets.pftrace", .flows = 655 },
	{ .name = "kineto_synth_renderstage.pftrace.gz", .flows = 655 },
};

static void check_file(const struct file *f, const char *path)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_trace *t = read_trace_file(path, &err);
	struct rows got = { 0 }, want = { 0 };
	char csv[1200];

	if (f->refused) {
		assert_null(t);
		assert_string_equal(err.code, f->refused);
		return;
	}
	if (!t) {
		fault("%s: %s at %lld", f->name, err.msg, (long long)err.offset);
		return;
	}
	assert_string_equal(str_of(t, t->meta.format), "perfetto");
	snprintf(csv, sizeof(csv), "%s.slices.csv", path);
	expected_rows(&want, csv);
	own_rows(&got, t, t->meta.t_base_ns);
	for (size_t i = 0; f->names[0] && i < want.n; i++)
		snprintf(want.v[i].name, sizeof(want.v[i].name), "%s", f->names[i]);
	if (f->extra.dur)
		add_row(&want, f->extra.ts, f->extra.dur, f->extra.name);
	if (want.n)
		qsort(want.v, want.n, sizeof(*want.v), by_all);
	if (!f->samples)
		compare(f->name, &got, &want);
	if (t->flows.n != f->flows)
		fault("%s: %zu flows, expected %u", f->name, t->flows.n, f->flows);
	if (t->counters.n != f->counters)
		fault("%s: %zu counter samples, expected %u", f->name, t->counters.n, f->counters);
	for (uint32_t i = 0; i < t->losses.n; i++)
		print_message("# %s: %s %llu\n", f->name, t->losses.v[i].code,
			      (unsigned long long)t->losses.v[i].count);
	free(got.v);
	free(want.v);
	fsc_trace_free(t);
}

static void every_file_gives_its_slices(void **state)
{
	char root[512], path[1024];

	(void)state;
	test_data(root, sizeof(root), "chrome-json/pftrace");
	for (size_t i = 0; i < FSC_ARRAY_LEN(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, files[i].name);
		check_file(&files[i], path);
	}
	assert_int_equal(n_faults, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_file_gives_its_slices),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
