/* SPDX-License-Identifier: Apache-2.0 */
/* Aggregates, search, busy time, minimap, counters and flows against plain loops over the trace. */
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/limits.h"
#include "model/build.h"
#include "segment/seg_query.h"
#include "segment/seg_write.h"
#include "tests/support/test.h"
#include "tests/unit/segment/help_fixture.h"

static const struct gen_opts shapes[] = {
	{ .seed = 31,
	  .shape = GEN_EVEN,
	  .n_threads = 2,
	  .n_streams = 4,
	  .n_outer = 4000,
	  .max_depth = 5,
	  .n_names = 300,
	  .side_tables = true },
	{ .seed = 32,
	  .shape = GEN_WILD,
	  .n_threads = 3,
	  .n_streams = 3,
	  .n_outer = 1500,
	  .max_depth = 5,
	  .n_names = 20,
	  .side_tables = true },
};

static void some_window(const struct fixture *f, uint64_t *st, int64_t *t0, int64_t *t1)
{
	*t0 = (int64_t)gen_below(st, (uint64_t)f->t->meta.t_max_ns) - 100;
	*t1 = *t0 + 1 + (int64_t)gen_below(st, (uint64_t)f->t->meta.t_max_ns / 20);
}

static int64_t clipped(const struct fsc_slices *s, uint32_t i, int64_t t0, int64_t t1)
{
	int64_t a = s->ts[i] < t0 ? t0 : s->ts[i],
		b = s->ts[i] + s->dur[i] > t1 ? t1 : s->ts[i] + s->dur[i];

	return b > a ? b - a : 0;
}

/* Union by marking: few intervals, so quadratic is fine; chosen to share nothing with the code under test. */
static int64_t union_of(const struct fsc_slices *s, const uint32_t *ids, uint32_t n, int64_t t0,
			int64_t t1)
{
	int64_t sum = 0, at = t0;

	for (;;) {
		int64_t next = INT64_MAX, end = at;

		for (uint32_t k = 0; k < n; k++) {
			int64_t a = s->ts[ids[k]], b = a + s->dur[ids[k]];

			if (a <= at && b > end)
				end = b;
			else if (a > at && s->dur[ids[k]] && a < next)
				next = a;
		}
		end = end > t1 ? t1 : end;
		sum += end - at;
		if (end > at)
			at = end;
		else if (next < t1)
			at = next;
		else
			return sum;
	}
}

static uint32_t parent_of(const struct fixture *f, uint32_t i)
{
	struct fsc_seg_slice a, p;

	assert_int_equal(fsc_seg_slice(&a, f->s, i, NULL), FSC_OK);
	return fsc_seg_parent(&p, f->s, &a, NULL) == FSC_OK ? p.id : UINT32_MAX;
}

struct sums {
	uint64_t count;
	int64_t total, self, min, max;
};

static uint32_t key_of(const struct fsc_slices *s, uint32_t i, enum fsc_agg_by by)
{
	return by == FSC_AGG_NAME ? s->name[i] : by == FSC_AGG_KIND ? s->kind[i] : s->track[i];
}

static void aggregates_equal_plain_sums_and_self_times_add_up(void **state)
{
	uint64_t st = 6;
	struct fixture both[2];

	(void)state;
	for (unsigned k = 0; k < 2; k++)
		open_fixture(&both[k], &shapes[k]);
	for (unsigned round = 0; round < 18; round++) {
		struct fixture f = both[round % 2];
		enum fsc_agg_by by = round % 3 == 0   ? FSC_AGG_NAME
				     : round % 3 == 1 ? FSC_AGG_KIND
						      : FSC_AGG_TRACK;
		struct sums *want = calloc(1000, sizeof(*want));
		struct fsc_seg_agg a;
		uint32_t tracks[3] = { 0, 1, 3 }, seen = 0, gpu[4096], n_gpu = 0;
		int64_t t0, t1, total = 0, self = 0, outer = 0;

		const struct fsc_slices *s = &f.t->slices;
		some_window(&f, &st, &t0, &t1);
		assert_int_equal(fsc_seg_aggregate(&a, f.s, tracks, 3, t0, t1, by, NULL), FSC_OK);
		for (uint32_t i = 0; i < s->n; i++) {
			struct sums *w = &want[key_of(s, i, by)];
			int64_t ns = clipped(s, i, t0, t1);
			uint32_t parent;

			if ((s->track[i] != 0 && s->track[i] != 1 && s->track[i] != 3) ||
			    !intersects(s, i, t0, t1) || s->flags[i] & FSC_SLICE_INSTANT)
				continue;
			w->min = w->count && w->min < ns ? w->min : ns;
			w->max = w->max > ns ? w->max : ns;
			w->count++;
			w->total += ns;
			w->self += ns;
			total += ns;
			parent = parent_of(&f, i);
			if (parent != UINT32_MAX && !(s->flags[parent] & FSC_SLICE_INSTANT))
				want[key_of(s, parent, by)].self -= ns;
			else
				outer += ns;
			if (fsc_kind_is_gpu_work(s->kind[i]) && n_gpu < 4096)
				gpu[n_gpu++] = i;
		}
		for (size_t k = 0; k < a.v.n; k++) {
			const struct fsc_seg_agg_row *r = &a.v.v[k];
			const struct sums *w = &want[r->key];

			assert_int_equal(r->count, w->count);
			assert_int_equal(r->total_ns, w->total);
			assert_int_equal(r->self_ns, w->self);
			assert_int_equal(r->min_ns, w->min);
			assert_int_equal(r->max_ns, w->max);
			assert_true(!k || r->total_ns <= a.v.v[k - 1].total_ns);
			seen++;
			self += r->self_ns;
		}
		for (uint32_t k = 0; k < 1000; k++)
			seen -= want[k].count != 0;
		assert_int_equal(seen, 0);
		assert_int_equal(a.total_ns, total);
		assert_int_equal(self, outer);
		if (n_gpu < 4096)
			assert_int_equal(a.busy_ns, union_of(s, gpu, n_gpu, t0, t1));
		fsc_seg_agg_fini(&a);
		free(want);
	}
	for (unsigned k = 0; k < 2; k++)
		close_fixture(&both[k]);
}

static void busy_time_of_many_rows_is_their_union(void **state)
{
	struct fixture f;
	uint64_t st = 17;

	(void)state;
	open_fixture(&f, &shapes[1]);
	for (unsigned round = 0; round < 100; round++) {
		uint32_t rows[4], ids[4096], n = 0;
		int64_t t0, t1, got;

		some_window(&f, &st, &t0, &t1);
		for (unsigned k = 0; k < 4; k++) {
			uint32_t first, m;

			rows[k] = (uint32_t)gen_below(&st, fsc_seg_info(f.s)->n_rows);
			m = fsc_seg_row_slices(f.s, rows[k], &first);
			for (uint32_t i = first; i < first + m && n < 4096; i++)
				if (intersects(&f.t->slices, i, t0, t1))
					ids[n++] = i;
		}
		if (n == 4096)
			continue;
		assert_int_equal(fsc_seg_busy_exact(&got, f.s, rows, 4, t0, t1, NULL), FSC_OK);
		assert_int_equal(got, union_of(&f.t->slices, ids, n, t0, t1));
	}
	close_fixture(&f);
}

static void busy_time_of_tracks_equals_that_of_their_rows(void **state)
{
	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		struct fixture f;

		open_fixture(&f, &shapes[k]);
		for (uint32_t i = 0; i < fsc_seg_info(f.s)->n_tracks; i++) {
			const struct fsc_seg_track *t = fsc_seg_track(f.s, i);
			uint32_t rows[16];
			int64_t got;

			for (uint32_t d = 0; d < t->depths; d++)
				rows[d] = t->first_row + d;
			assert_int_equal(fsc_seg_busy_exact(&got, f.s, rows, t->depths, INT64_MIN,
							    INT64_MAX, NULL),
					 FSC_OK);
			assert_int_equal(got, t->busy_ns);
		}
		close_fixture(&f);
	}
}

static void search_finds_all_hits_and_gives_the_first_in_time(void **state)
{
	static const char *const texts[] = { "KERNEL_1", "aten::op2", "no such name", "kernel_297<",
					     "op" };
	struct fixture f;
	uint64_t st = 3;

	(void)state;
	open_fixture(&f, &shapes[0]);
	for (unsigned round = 0; round < 60; round++) {
		const char *text = texts[round % 5];
		struct fsc_seg_hits h;
		const struct fsc_slices *s = &f.t->slices;
		uint64_t total = 0, in_strip = 0, before_last = 0;
		int64_t t0, t1;

		some_window(&f, &st, &t0, &t1);
		if (round % 5 == 3) { /* a rare name: look everywhere */
			t0 = 0;
			t1 = INT64_MAX;
		}
		assert_int_equal(fsc_seg_search(&h, f.s, text, t0, t1, 20, 50, NULL), FSC_OK);
		for (uint32_t i = 0; i < s->n; i++) {
			const struct fsc_seg_slice *last = h.v.n ? &h.v.v[h.v.n - 1] : NULL;

			if (!intersects(s, i, t0, t1) ||
			    !strcasestr(fsc_strtab_get(f.t->strings, s->name[i], NULL), text))
				continue;
			total++;
			assert_non_null(last);
			before_last +=
				s->ts[i] < last->ts || (s->ts[i] == last->ts && i <= last->id);
		}
		assert_int_equal(h.total, total);
		assert_true(round % 5 == 2 ? total == 0 : round % 5 == 3 ? total > 10 : true);
		assert_int_equal(h.v.n, total < 20 ? total : 20);
		assert_int_equal(before_last, h.v.n);
		for (size_t k = 0; k < h.v.n; k++) {
			assert_non_null(strcasestr(fsc_seg_str(f.s, h.v.v[k].name, NULL), text));
			assert_true(!k || h.v.v[k].ts >= h.v.v[k - 1].ts);
		}
		for (uint32_t k = 0; k < h.n_strip; k++)
			in_strip += h.strip[k];
		assert_int_equal(in_strip, total);
		fsc_seg_hits_fini(&h);
	}
	close_fixture(&f);
}

/* One slice for each category, all with the name `name`. */
static void add_named(struct fsc_build *b, const char *name, size_t n, unsigned n_cats)
{
	struct fsc_build_slice s = { .kind = FSC_KIND_OTHER,
				     .correlation = FSC_NO_CORRELATION,
				     .args = FSC_NO_ARGS };
	struct fsc_build_id one = { .num = 1 };
	uint32_t ident, slice;

	assert_int_equal(fsc_build_ident(&ident, b, one, one), FSC_OK);
	assert_int_equal(fsc_build_thread(&s.track, b, ident), FSC_OK);
	assert_int_equal(fsc_build_str(&s.name, b, name, n), FSC_OK);
	for (unsigned i = 0; i < n_cats; i++) {
		char cat[16];

		snprintf(cat, sizeof(cat), "c%u", i);
		assert_int_equal(fsc_build_cat(&s.cat, b, cat, strlen(cat)), FSC_OK);
		s.ts = (int64_t)fsc_build_events(b) * 10;
		s.dur = 5;
		fsc_build_count_event(b);
		assert_int_equal(fsc_build_slice(&slice, b, &s), FSC_OK);
	}
}

static uint64_t hits_of(const struct fsc_seg *s, const char *text)
{
	struct fsc_seg_hits h;
	uint64_t total;

	assert_int_equal(fsc_seg_search(&h, s, text, INT64_MIN, INT64_MAX, 10, 10, NULL), FSC_OK);
	total = h.total;
	fsc_seg_hits_fini(&h);
	return total;
}

/* Names that are made to be slow to search, each shared by many categories. */
static void a_search_costs_the_bytes_of_the_names_not_more(void **state)
{
	const size_t n = 7 * FSC_MIB;
	char *name = fsc_xalloc(n, 1), *text = fsc_xalloc(501, 1);
	struct fsc_build *b = fsc_build_new();
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_trace *t;
	struct fsc_seg *s;
	int64_t cpu;
	int fd = memfd_create("segment", MFD_CLOEXEC);

	(void)state;
	memset(name, 'a', n);
	for (unsigned i = 0; i < 4; i++) {
		name[n - 1] = (char)('b' + i);
		add_named(b, name, n, 200);
	}
	memcpy(name + FSC_SEG_SEARCH_NAME - 4, "Tail", 4);
	memcpy(name + FSC_SEG_SEARCH_NAME, "beyond", 6);
	add_named(b, name, n, 3);
	assert_int_equal(fsc_build_finish(&t, b, &err), FSC_OK);
	assert_int_equal(fsc_seg_write(fd, t, NULL, NULL, &err), FSC_OK);
	assert_int_equal(fsc_seg_open(&s, fd, &err), FSC_OK);
	cpu = fsc_clock_cpu_ns();
	for (size_t m = 2; m <= 500; m += 83) {
		memset(text, 'A', m);
		text[m] = '\0';
		assert_int_equal(hits_of(s, text), 803);
		text[0] = 'b';
		assert_int_equal(hits_of(s, text), 0);
		text[0] = 'a';
		text[m / 2] = 'b';
		assert_int_equal(hits_of(s, text), 0);
	}
	assert_true(fsc_clock_cpu_ns() - cpu < 2000000000);
	assert_int_equal(hits_of(s, "atail"), 3);
	assert_int_equal(hits_of(s, "beyond"), 0);
	fsc_seg_unref(s);
	close(fd);
	fsc_trace_free(t);
	fsc_build_free(b);
	fsc_free(name);
	fsc_free(text);
}

/* Busy of one group of all devices in [t0, t1), by definition. */
static int64_t minimap_by_definition(const struct fixture *f, unsigned group, int64_t t0,
				     int64_t t1)
{
	static uint32_t ids[100000];
	const struct fsc_slices *s = &f->t->slices;
	int64_t sum = 0;

	for (int32_t device = 0; device < 2; device++) {
		uint32_t n = 0;

		for (uint32_t i = 0; i < s->n; i++) {
			uint8_t k = s->kind[i];
			unsigned g = k == FSC_KIND_COMPUTE			    ? 0
				     : k == FSC_KIND_COMM			    ? 1
				     : k == FSC_KIND_MEMCPY || k == FSC_KIND_MEMSET ? 2
				     : k == FSC_KIND_GPU_OTHER			    ? 3
										    : 9;

			if (g == group && f->t->tracks.v[s->track[i]].device == device &&
			    intersects(s, i, t0, t1))
				ids[n++] = i;
		}
		sum += union_of(s, ids, n, t0, t1);
	}
	return sum;
}

static void minimap_sums_equal_the_union_per_device(void **state)
{
	uint64_t st = 41;

	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		struct fixture f;
		int64_t busy[4 * 40];

		open_fixture(&f, &shapes[k]);
		for (unsigned round = 0; round < 8; round++) {
			int64_t t0, t1;

			some_window(&f, &st, &t0, &t1);
			assert_int_equal(fsc_seg_minimap(busy, f.s, t0, t1, 40, NULL), FSC_OK);
			for (unsigned g = 0; g < 4; g++)
				for (unsigned b = 0; b < 40; b += 7) {
					int64_t from = t0 + (int64_t)((__int128)(t1 - t0) * b / 40);
					int64_t to =
						t0 + (int64_t)((__int128)(t1 - t0) * (b + 1) / 40);

					assert_int_equal(busy[g * 40 + b],
							 minimap_by_definition(&f, g, from, to));
				}
		}
		close_fixture(&f);
	}
}

static void minimap_of_a_large_trace_sums_up_exactly_over_its_whole_range(void **state)
{
	struct gen_opts o = {
		.seed = 5, .shape = GEN_BURST, .n_streams = 4, .n_outer = 20000, .n_names = 10
	};
	struct fixture f;
	int64_t busy[4 * 100], sum = 0, whole = 0;

	(void)state;
	open_fixture(&f, &o);
	assert_int_equal(fsc_seg_minimap(busy, f.s, 0, f.t->meta.t_max_ns, 100, NULL), FSC_OK);
	for (unsigned b = 0; b < 100; b++) {
		sum += busy[b];
		assert_true(busy[b] >= 0 && busy[b] <= 2 * (f.t->meta.t_max_ns / 100 + 1));
	}
	/* The fine windows are made from raw slices, the coarse ones from the table. */
	for (unsigned b = 0; b < 40; b++) {
		int64_t part[4], t0 = f.t->meta.t_max_ns / 40 * b,
				 t1 = f.t->meta.t_max_ns / 40 * (b + 1);

		if (b == 39)
			t1 = f.t->meta.t_max_ns;
		assert_int_equal(fsc_seg_minimap(part, f.s, t0, t1, 1, NULL), FSC_OK);
		whole += part[0];
	}
	assert_int_equal(sum, whole);
	uint32_t tracks[4] = { 0, 1, 2, 3 };
	struct fsc_seg_agg a;
	assert_int_equal(fsc_seg_aggregate(&a, f.s, tracks, 4, 0, f.t->meta.t_max_ns, FSC_AGG_KIND,
					   NULL),
			 FSC_OK);
	for (size_t i = 0; i < a.v.n; i++)
		if (a.v.v[i].key == FSC_KIND_COMPUTE)
			assert_true(sum <= a.v.v[i].total_ns && sum > a.v.v[i].total_ns / 2);
	fsc_seg_agg_fini(&a);
	close_fixture(&f);
}

static void counters_keep_their_least_and_greatest_value_per_pixel(void **state)
{
	struct fixture f;
	uint64_t st = 12;
	uint32_t track = 0, n;

	(void)state;
	open_fixture(&f, &shapes[0]);
	while (fsc_seg_track(f.s, track)->n_counters == 0)
		track++;
	const struct fsc_counter_sample *c = fsc_seg_counters(f.s, track, &n);
	for (unsigned round = 0; round < 200; round++) {
		struct fsc_seg_counter_points p;
		int64_t t0 = c[gen_below(&st, n)].ts - (int64_t)gen_below(&st, 3) + 1;
		int64_t t1 = t0 + 1 + (int64_t)gen_below(&st, (uint64_t)c[n - 1].ts);
		uint32_t px = 1 + (uint32_t)gen_below(&st, 60), i = 0;
		double min = 1e300, max = -1e300, pmin = 1e300, pmax = -1e300;

		assert_int_equal(fsc_seg_counters_minmax(&p, f.s, track, t0, t1, px, NULL), FSC_OK);
		assert_true(p.v.n <= px);
		for (size_t k = 0; k < p.v.n; k++) {
			assert_true(p.v.v[k].t >= t0 && p.v.v[k].t < t1 &&
				    (!k || p.v.v[k].t > p.v.v[k - 1].t));
			pmin = p.v.v[k].min < pmin ? p.v.v[k].min : pmin;
			pmax = p.v.v[k].max > pmax ? p.v.v[k].max : pmax;
		}
		while (i < n && c[i].ts < t0)
			i++;
		if (i && (i == n || c[i].ts > t0))
			i--;
		for (; i < n && c[i].ts < t1; i++) {
			min = c[i].value < min ? c[i].value : min;
			max = c[i].value > max ? c[i].value : max;
		}
		assert_true(pmin == min && pmax == max);
		fsc_seg_counter_points_fini(&p);
	}
	close_fixture(&f);
}

static void flows_of_a_window_are_given_once(void **state)
{
	struct fixture f;
	uint64_t st = 2;

	(void)state;
	open_fixture(&f, &shapes[1]);
	for (unsigned round = 0; round < 40; round++) {
		struct fsc_seg_flow_list l;
		uint64_t want = 0;
		int64_t t0, t1;

		some_window(&f, &st, &t0, &t1);
		assert_int_equal(fsc_seg_flows_in(&l, f.s, t0, t1, UINT32_MAX, NULL), FSC_OK);
		for (size_t k = 0; k < f.t->flows.n; k++)
			want += intersects(&f.t->slices, f.t->flows.v[k].from, t0, t1) ||
				intersects(&f.t->slices, f.t->flows.v[k].to, t0, t1);
		assert_int_equal(l.v.n, want);
		assert_false(l.truncated);
		for (size_t k = 0; k < l.v.n; k++)
			assert_true(intersects(&f.t->slices, l.v.v[k].from.id, t0, t1) ||
				    intersects(&f.t->slices, l.v.v[k].to.id, t0, t1));
		fsc_seg_flow_list_fini(&l);
		assert_int_equal(fsc_seg_flows_in(&l, f.s, t0, t1, 1, NULL), FSC_OK);
		assert_int_equal(l.truncated, want > 1);
		fsc_seg_flow_list_fini(&l);
	}
	close_fixture(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(aggregates_equal_plain_sums_and_self_times_add_up),
		cmocka_unit_test(busy_time_of_many_rows_is_their_union),
		cmocka_unit_test(busy_time_of_tracks_equals_that_of_their_rows),
		cmocka_unit_test(search_finds_all_hits_and_gives_the_first_in_time),
		cmocka_unit_test(a_search_costs_the_bytes_of_the_names_not_more),
		cmocka_unit_test(minimap_sums_equal_the_union_per_device),
		cmocka_unit_test(minimap_of_a_large_trace_sums_up_exactly_over_its_whole_range),
		cmocka_unit_test(counters_keep_their_least_and_greatest_value_per_pixel),
		cmocka_unit_test(flows_of_a_window_are_given_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
