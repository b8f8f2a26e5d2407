/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Properties of the slices query over generated traces and random windows: it never gives more than asked
 * for, accounts for every slice and for every nanosecond of busy time, and hides nothing that is a pixel long.
 */
#include <sys/mman.h>

#include "base/alloc.h"
#include "segment/seg_query.h"
#include "segment/seg_write.h"
#include "tests/support/test.h"
#include "tests/unit/segment/help_fixture.h"

static const struct gen_opts shapes[] = {
	{ .seed = 11,
	  .shape = GEN_EVEN,
	  .n_threads = 2,
	  .n_streams = 2,
	  .n_outer = 6000,
	  .max_depth = 5,
	  .n_names = 400 },
	{ .seed = 12,
	  .shape = GEN_BURST,
	  .n_threads = 2,
	  .n_streams = 2,
	  .n_outer = 20000,
	  .max_depth = 4,
	  .n_names = 50 },
	{ .seed = 13,
	  .shape = GEN_WILD,
	  .n_threads = 4,
	  .n_streams = 3,
	  .n_outer = 3000,
	  .max_depth = 6,
	  .n_names = 20 },
	{ .seed = 14,
	  .shape = GEN_WILD,
	  .n_threads = 20,
	  .n_streams = 9,
	  .n_outer = 40,
	  .max_depth = 3,
	  .n_names = 3 },
};

/* A window that starts and ends at, just before or just after slices, or anywhere. */
static void random_window(const struct fixture *f, uint64_t *st, int64_t *t0, int64_t *t1)
{
	const struct fsc_slices *s = &f->t->slices;
	int64_t max = f->t->meta.t_max_ns;

	switch (gen_below(st, 4)) {
	case 0:
		*t0 = -5;
		*t1 = max + 10;
		break;
	case 1:
		*t0 = (int64_t)gen_below(st, (uint64_t)max);
		*t1 = *t0 + 1 + (int64_t)gen_below(st, (uint64_t)max / 50 + 1);
		break;
	case 2: {
		uint32_t i = (uint32_t)gen_below(st, s->n);

		*t0 = s->ts[i] - 1 + (int64_t)gen_below(st, 3);
		*t1 = s->ts[i] + s->dur[i] - 1 + (int64_t)gen_below(st, 3);
		break;
	}
	default: {
		uint32_t i = (uint32_t)gen_below(st, s->n), j = (uint32_t)gen_below(st, s->n);

		*t0 = s->ts[i] < s->ts[j] ? s->ts[i] : s->ts[j];
		*t1 = (s->ts[i] < s->ts[j] ? s->ts[j] : s->ts[i]) + 1;
		break;
	}
	}
	if (*t1 <= *t0)
		*t1 = *t0 + 1;
}

static int64_t clipped(int64_t a, int64_t b, int64_t t0, int64_t t1)
{
	a = a < t0 ? t0 : a;
	b = b > t1 ? t1 : b;
	return b > a ? b - a : 0;
}

/* Items that plain binning makes: each slice of a pixel for itself, runs of shorter ones by pixel. */
static uint64_t plain_bins(const struct fsc_slices *s, uint32_t first, uint32_t n, int64_t t0,
			   int64_t t1, int64_t cell)
{
	int64_t bin = -1;
	uint64_t items = 0;

	for (uint32_t i = first; i < first + n; i++) {
		int64_t at = s->ts[i] < t0 ? 0 : (s->ts[i] - t0) / cell;

		if (!intersects(s, i, t0, t1))
			continue;
		items += s->dur[i] >= cell || at != bin;
		bin = s->dur[i] >= cell ? -1 : at;
	}
	return items;
}

/* One row's items against the raw slices of the row. */
static void check_row(const struct fixture *f, uint32_t row, const struct fsc_seg_item *it,
		      size_t n, int64_t t0, int64_t t1, uint32_t px)
{
	const struct fsc_slices *s = &f->t->slices;
	uint32_t first, n_row = fsc_seg_row_slices(f->s, row, &first), i = first, n_exact_seen = 0;
	int64_t busy = 0, want_busy = 0, before = INT64_MIN, exact, cell = (t1 - t0 + px - 1) / px;
	uint64_t plain = plain_bins(s, first, n_row, t0, t1, cell);
	/* Whole groups of 16 can move an item or two over a pixel's edge; with room to spare nothing else may. */
	bool roomy = plain * 10 <= px * UINT64_C(9);

	assert_true(n <= px);
	for (size_t k = 0; k < n; k++) {
		int64_t inside = 0;
		bool rep_seen = false;

		assert_true(it[k].t0 >= before);
		assert_true(it[k].count > 0);
		assert_true(it[k].busy_ns >= 0 && it[k].busy_ns <= it[k].t1 - it[k].t0);
		before = it[k].t1;
		busy += it[k].busy_ns;
		/* The next `count` slices of the window are the ones it stands for. */
		for (uint32_t c = 0; c < it[k].count; c++, i++) {
			while (i < first + n_row && !intersects(s, i, t0, t1))
				i++;
			assert_true(i < first + n_row);
			assert_true(clipped(s->ts[i], s->ts[i] + s->dur[i], t0, t1) ==
				    clipped(s->ts[i], s->ts[i] + s->dur[i],
					    it[k].t0 > t0 ? it[k].t0 : t0,
					    it[k].t1 < t1 ? it[k].t1 : t1));
			inside += clipped(s->ts[i], s->ts[i] + s->dur[i], t0, t1);
			rep_seen |= it[k].slice == i;
			if (!(it[k].flags & FSC_ITEM_MERGED))
				continue;
			n_exact_seen += s->dur[i] >= cell;
		}
		assert_true(rep_seen);
		assert_int_equal(inside, it[k].busy_ns);
		if (it[k].flags & FSC_ITEM_MERGED) {
			if (roomy)
				assert_true(it[k].t1 - it[k].t0 <= 2 * cell);
			assert_true(it[k].count > 1);
			continue;
		}
		assert_int_equal(it[k].count, 1);
		assert_int_equal(it[k].slice, i - 1);
		assert_int_equal(it[k].t0, s->ts[i - 1]);
		assert_int_equal(it[k].t1, s->ts[i - 1] + s->dur[i - 1]);
		assert_int_equal(it[k].name, s->name[i - 1]);
		assert_int_equal(it[k].kind, s->kind[i - 1]);
	}
	for (; i < first + n_row; i++)
		assert_false(intersects(s, i, t0, t1));
	for (i = first; i < first + n_row; i++)
		want_busy += clipped(s->ts[i], s->ts[i] + s->dur[i], t0, t1);
	assert_int_equal(busy, want_busy);
	assert_int_equal(fsc_seg_busy_exact(&exact, f->s, &row, 1, t0, t1, NULL), FSC_OK);
	assert_int_equal(exact, want_busy);
	/* Slices of a pixel or more are merged, and pixels joined, only where they would not fit. */
	if (roomy) {
		assert_int_equal(n_exact_seen, 0);
		assert_true(n * 2 >= plain);
	}
}

static void random_queries(const struct gen_opts *o, unsigned rounds)
{
	static const uint32_t widths[] = { 1, 2, 3, 7, 50, 200, 1000, 2000, 4096 };
	struct fixture f;
	uint64_t st = o->seed * 77;

	open_fixture(&f, o);
	for (unsigned round = 0; round < rounds; round++) {
		uint32_t px = widths[gen_below(&st, FSC_ARRAY_LEN(widths))], rows[6];
		struct fsc_seg_items items;
		uint64_t seen = 0;
		int64_t t0, t1;
		size_t k = 0;

		random_window(&f, &st, &t0, &t1);
		for (unsigned i = 0; i < 6; i++)
			rows[i] = (uint32_t)gen_below(&st, fsc_seg_info(f.s)->n_rows);
		assert_int_equal(fsc_seg_query_slices(&items, f.s, rows, 6, t0, t1, px, UINT32_MAX,
						      NULL),
				 FSC_OK);
		assert_false(items.truncated);
		for (uint16_t i = 0; i < 6; i++) {
			size_t n = 0;

			while (k + n < items.v.n && items.v.v[k + n].row_idx == i)
				seen += items.v.v[k + n++].count;
			check_row(&f, rows[i], items.v.v + k, n, t0, t1, px);
			k += n;
		}
		assert_int_equal(k, items.v.n);
		assert_int_equal(seen, items.n_slices_seen);
		fsc_seg_items_fini(&items);
	}
	close_fixture(&f);
}

static void every_slice_and_nanosecond_is_accounted_for_in_even_rows(void **state)
{
	(void)state;
	random_queries(&shapes[0], 150);
}

static void every_slice_and_nanosecond_is_accounted_for_in_bursts(void **state)
{
	(void)state;
	random_queries(&shapes[1], 100);
}

static void every_slice_and_nanosecond_is_accounted_for_with_lengths_of_all_scales(void **state)
{
	(void)state;
	random_queries(&shapes[2], 150);
}

static void every_slice_and_nanosecond_is_accounted_for_in_short_rows(void **state)
{
	(void)state;
	random_queries(&shapes[3], 300);
}

static void long_slices_stay_exact_when_zoomed_out(void **state)
{
	struct gen_opts o = {
		.seed = 21, .shape = GEN_BURST, .n_streams = 1, .n_outer = 50000, .n_names = 50
	};
	struct fixture f;
	struct fsc_seg_items items;
	uint32_t row = 0, n_long = 0, n_found = 0, px = 500;
	int64_t pixel;

	(void)state;
	open_fixture(&f, &o);
	pixel = (f.t->meta.t_max_ns + px - 1) / px;
	/* Stretch one slice in a thousand to two pixels and move what follows. */
	for (uint32_t i = 0, k = 0; i < f.t->slices.n; i++) {
		f.t->slices.ts[i] += k * 2 * pixel;
		if (i % 1000 == 999) {
			f.t->slices.dur[i] += 2 * pixel;
			k++;
			n_long++;
		}
	}
	fsc_seg_unref(f.s);
	int fd = memfd_create("segment", MFD_CLOEXEC);
	assert_int_equal(fsc_seg_write(fd, f.t, NULL, NULL, NULL), FSC_OK);
	assert_int_equal(fsc_seg_open(&f.s, fd, NULL), FSC_OK);
	close(fd);
	/* 500 pixels as they were: 50 long slices of two pixels each were put in, so 600 show the same. */
	assert_int_equal(fsc_seg_query_slices(&items, f.s, &row, 1, 0, pixel * 600, 600, 10000,
					      NULL),
			 FSC_OK);
	for (size_t i = 0; i < items.v.n; i++)
		n_found += items.v.v[i].slice % 1000 == 999 && items.v.v[i].count == 1;
	assert_int_equal(n_found, n_long);
	assert_true(items.v.n <= 600);
	fsc_seg_items_fini(&items);
	close_fixture(&f);
}

static void parents_that_start_before_the_window_are_found(void **state)
{
	struct fixture f;
	uint64_t st = 4;
	unsigned checked = 0;

	(void)state;
	open_fixture(&f, &shapes[0]);
	for (unsigned round = 0; round < 400; round++) {
		const struct fsc_slices *s = &f.t->slices;
		uint32_t i = (uint32_t)gen_below(&st, s->n), row;
		struct fsc_seg_items items;

		if (s->dur[i] < 10)
			continue;
		row = fsc_seg_track(f.s, s->track[i])->first_row + s->depth[i];
		int64_t t0 = s->ts[i] + s->dur[i] / 3, t1 = s->ts[i] + s->dur[i] / 3 * 2;

		assert_int_equal(fsc_seg_query_slices(&items, f.s, &row, 1, t0, t1, 1000, 100,
						      NULL),
				 FSC_OK);
		assert_int_equal(items.v.n, 1);
		assert_int_equal(items.v.v[0].slice, i);
		assert_int_equal(items.v.v[0].t0, s->ts[i]);
		assert_int_equal(items.v.v[0].busy_ns, t1 - t0);
		fsc_seg_items_fini(&items);
		checked++;
	}
	assert_true(checked > 100);
	close_fixture(&f);
}

static void every_slice_is_found_when_zoomed_in_enough(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f, &shapes[2]);
	for (uint32_t i = 0; i < f.t->slices.n; i += 17) {
		const struct fsc_slices *s = &f.t->slices;
		uint32_t row = fsc_seg_track(f.s, s->track[i])->first_row + s->depth[i];
		struct fsc_seg_items items;
		bool found = false;

		assert_int_equal(fsc_seg_query_slices(&items, f.s, &row, 1, s->ts[i], s->ts[i] + 50,
						      100, 1000, NULL),
				 FSC_OK);
		for (size_t k = 0; k < items.v.n; k++) {
			assert_int_equal(items.v.v[k].count, 1);
			found |= items.v.v[k].slice == i;
		}
		assert_true(found);
		fsc_seg_items_fini(&items);
	}
	close_fixture(&f);
}

static void the_answer_stops_at_max_items_and_says_so(void **state)
{
	struct fixture f;
	struct fsc_seg_items items;
	uint32_t rows[2] = { 0, 1 };

	(void)state;
	open_fixture(&f, &shapes[0]);
	assert_int_equal(fsc_seg_query_slices(&items, f.s, rows, 2, 0, f.t->meta.t_max_ns, 1000,
					      100, NULL),
			 FSC_OK);
	assert_true(items.truncated);
	assert_int_equal(items.v.n, 100);
	fsc_seg_items_fini(&items);
	close_fixture(&f);
}

struct class_time {
	uint32_t name, cat;
	uint8_t kind;
	int64_t ns;
};

/* Adds to the entry of a slice's class and gives the largest time so far. */
static size_t add_class_time(struct class_time *v, size_t n, const struct fsc_seg_slice *a,
			     int64_t ns)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].name == a->name && v[i].cat == a->cat && v[i].kind == a->kind) {
			v[i].ns += ns;
			return n;
		}
	v[n] = (struct class_time){ a->name, a->cat, a->kind, ns };
	return n + 1;
}

static void check_dominant(const struct fixture *f, const struct fsc_seg_item *item, int64_t t0,
			   int64_t t1)
{
	struct class_time v[64];
	struct fsc_seg_slice a;
	struct fsc_seg_iter it;
	size_t n = 0;
	int64_t most = 0, mine = 0;

	assert_int_equal(fsc_seg_iter_init(&it, f->s, 0, item->t0, item->t1, NULL), FSC_OK);
	while (fsc_seg_iter_next(&it, &a, NULL) == FSC_OK)
		n = add_class_time(v, n, &a, clipped(a.ts, a.ts + a.dur, t0, t1));
	fsc_seg_iter_fini(&it);
	for (size_t i = 0; i < n; i++) {
		most = v[i].ns > most ? v[i].ns : most;
		if (v[i].name == item->name && v[i].kind == item->kind && v[i].ns > mine)
			mine = v[i].ns;
	}
	assert_true(most > 0);
	assert_int_equal(mine, most);
}

static void dominant_names_are_those_with_most_time_in_small_buckets(void **state)
{
	struct fixture f;
	struct fsc_seg_items items;
	uint64_t st = 31;
	unsigned checked = 0;
	uint32_t row = 0;

	(void)state;
	open_fixture(&f, &shapes[1]);
	for (unsigned round = 0; round < 200; round++) {
		int64_t t0 = (int64_t)gen_below(&st, (uint64_t)f.t->meta.t_max_ns),
			t1 = t0 + 200000;

		assert_int_equal(fsc_seg_query_slices(&items, f.s, &row, 1, t0, t1, 20, 1000, NULL),
				 FSC_OK);
		for (size_t k = 0; k < items.v.n; k++) {
			if (!(items.v.v[k].flags & FSC_ITEM_MERGED) || items.v.v[k].count > 15)
				continue;
			check_dominant(&f, &items.v.v[k], t0, t1);
			checked++;
		}
		fsc_seg_items_fini(&items);
	}
	assert_true(checked > 20);
	close_fixture(&f);
}

static void nonsense_is_refused(void **state)
{
	struct fixture f;
	struct fsc_seg_items items;
	uint32_t row = 0, none = 1000000;

	(void)state;
	open_fixture(&f, &shapes[3]);
	assert_int_equal(fsc_seg_query_slices(&items, f.s, &row, 1, 5, 5, 10, 10, NULL),
			 FSC_EINVAL);
	assert_int_equal(fsc_seg_query_slices(&items, f.s, &row, 1, 5, 6, 0, 10, NULL), FSC_EINVAL);
	assert_int_equal(fsc_seg_query_slices(&items, f.s, &none, 1, 5, 6, 10, 10, NULL),
			 FSC_ENOTFOUND);
	assert_int_equal(fsc_seg_query_slices(&items, f.s, &row, 1, INT64_MIN, INT64_MAX, 1, 10,
					      NULL),
			 FSC_OK);
	assert_int_equal(items.v.n, 1);
	fsc_seg_items_fini(&items);
	close_fixture(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_slice_and_nanosecond_is_accounted_for_in_even_rows),
		cmocka_unit_test(every_slice_and_nanosecond_is_accounted_for_in_bursts),
		cmocka_unit_test(
			every_slice_and_nanosecond_is_accounted_for_with_lengths_of_all_scales),
		cmocka_unit_test(every_slice_and_nanosecond_is_accounted_for_in_short_rows),
		cmocka_unit_test(long_slices_stay_exact_when_zoomed_out),
		cmocka_unit_test(parents_that_start_before_the_window_are_found),
		cmocka_unit_test(every_slice_is_found_when_zoomed_in_enough),
		cmocka_unit_test(the_answer_stops_at_max_items_and_says_so),
		cmocka_unit_test(dominant_names_are_those_with_most_time_in_small_buckets),
		cmocka_unit_test(nonsense_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
