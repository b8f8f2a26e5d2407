/* SPDX-License-Identifier: Apache-2.0 */
/* Views of a segment that its asker can stop. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>

#include "base/alloc.h"
#include "segment/seg_query.h"
#include "segment/seg_write.h"
#include "tests/support/test.h"
#include "tests/unit/segment/help_gen_trace.h"

#define N_BUCKETS 64

static const struct gen_opts shape = { .seed = 7,
				       .shape = GEN_WILD,
				       .n_threads = 2,
				       .n_streams = 4,
				       .n_outer = 3000,
				       .max_depth = 4,
				       .n_names = 50,
				       .side_tables = true };

struct fixture {
	struct fsc_trace *t;
	struct fsc_seg *whole, *view;
	atomic_bool stop;
	uint32_t *tracks, *rows; /* all of them */
};

static void open_fixture(struct fixture *f)
{
	struct fsc_err err = FSC_ERR_INIT;
	int fd = memfd_create("segment", MFD_CLOEXEC);
	const struct fsc_seg_info *info;

	memset(f, 0, sizeof(*f));
	f->t = gen_trace(&shape);
	if (fsc_seg_write(fd, f->t, NULL, NULL, &err) != FSC_OK ||
	    fsc_seg_open(&f->whole, fd, &err) != FSC_OK ||
	    fsc_seg_view(&f->view, fsc_seg_ref(f->whole), &f->stop, &err) != FSC_OK)
		fail_msg("%s: %s", err.code, err.msg);
	close(fd);
	info = fsc_seg_info(f->whole);
	f->tracks = fsc_xalloc(info->n_tracks, sizeof(*f->tracks));
	f->rows = fsc_xalloc(info->n_rows, sizeof(*f->rows));
	for (uint32_t i = 0; i < info->n_tracks; i++)
		f->tracks[i] = i;
	for (uint32_t i = 0; i < info->n_rows; i++)
		f->rows[i] = i;
}

static void close_fixture(struct fixture *f)
{
	fsc_seg_unref(f->view);
	fsc_seg_unref(f->whole);
	fsc_trace_free(f->t);
	fsc_free(f->tracks);
	fsc_free(f->rows);
}

/* ---- every question that returns an error, each over all of the trace ---- */

typedef enum fsc_status ask_fn(const struct fixture *f, const struct fsc_seg *s, int64_t t1,
			       struct fsc_err *err);

static enum fsc_status ask_slices(const struct fixture *f, const struct fsc_seg *s, int64_t t1,
				  struct fsc_err *err)
{
	struct fsc_seg_items out;
	enum fsc_status st = fsc_seg_query_slices(&out, s, f->rows, fsc_seg_info(s)->n_rows, 0, t1,
						  200, 100000, err);

	fsc_seg_items_fini(&out);
	return st;
}

static enum fsc_status ask_aggregate(const struct fixture *f, const struct fsc_seg *s, int64_t t1,
				     struct fsc_err *err)
{
	struct fsc_seg_agg out;
	enum fsc_status st = fsc_seg_aggregate(&out, s, f->tracks, fsc_seg_info(s)->n_tracks, 0, t1,
					       FSC_AGG_NAME, err);

	fsc_seg_agg_fini(&out);
	return st;
}

static enum fsc_status ask_busy(const struct fixture *f, const struct fsc_seg *s, int64_t t1,
				struct fsc_err *err)
{
	int64_t busy;

	return fsc_seg_busy_exact(&busy, s, f->rows, fsc_seg_info(s)->n_rows, 0, t1, err);
}

static enum fsc_status search_for(const struct fsc_seg *s, const char *text, int64_t t1,
				  struct fsc_err *err)
{
	struct fsc_seg_hits out;
	enum fsc_status st = fsc_seg_search(&out, s, text, 0, t1, 100, 10, err);

	fsc_seg_hits_fini(&out);
	return st;
}

static enum fsc_status ask_search(const struct fixture *f, const struct fsc_seg *s, int64_t t1,
				  struct fsc_err *err)
{
	(void)f;
	return search_for(s, "e", t1, err);
}

/* No name matches, so that no block is ever looked at. */
static enum fsc_status ask_search_nothing(const struct fixture *f, const struct fsc_seg *s,
					  int64_t t1, struct fsc_err *err)
{
	(void)f;
	return search_for(s, "no name has this", t1, err);
}

static enum fsc_status minimap_of(const struct fsc_seg *s, int64_t t1, struct fsc_err *err)
{
	int64_t busy[4 * N_BUCKETS];

	return fsc_seg_minimap(busy, s, 0, t1, N_BUCKETS, err);
}

/* From the tables made at write time. */
static enum fsc_status ask_minimap(const struct fixture *f, const struct fsc_seg *s, int64_t t1,
				   struct fsc_err *err)
{
	(void)f;
	return minimap_of(s, t1, err);
}

/* From raw slices. */
static enum fsc_status ask_minimap_close(const struct fixture *f, const struct fsc_seg *s,
					 int64_t t1, struct fsc_err *err)
{
	(void)f;
	return minimap_of(s, t1 / 1000 + N_BUCKETS, err);
}

static enum fsc_status ask_counters(const struct fixture *f, const struct fsc_seg *s, int64_t t1,
				    struct fsc_err *err)
{
	enum fsc_status st = FSC_OK;

	for (uint32_t i = 0; i < fsc_seg_info(s)->n_tracks && st == FSC_OK; i++) {
		struct fsc_seg_counter_points out;

		st = fsc_seg_counters_minmax(&out, s, f->tracks[i], 0, t1, 100, err);
		fsc_seg_counter_points_fini(&out);
	}
	return st;
}

static enum fsc_status ask_flows(const struct fixture *f, const struct fsc_seg *s, int64_t t1,
				 struct fsc_err *err)
{
	struct fsc_seg_flow_list out;
	enum fsc_status st = fsc_seg_flows_in(&out, s, 0, t1, 100000, err);

	(void)f;
	fsc_seg_flow_list_fini(&out);
	return st;
}

static enum fsc_status ask_iter(const struct fixture *f, const struct fsc_seg *s, int64_t t1,
				struct fsc_err *err)
{
	uint32_t n = fsc_seg_info(s)->n_rows;
	enum fsc_status st = FSC_END;

	for (uint32_t i = 0; i < n && st == FSC_END; i++) {
		struct fsc_seg_iter it;
		struct fsc_seg_slice a;

		st = fsc_seg_iter_init(&it, s, f->rows[i], 0, t1, err);
		while (st == FSC_OK)
			st = fsc_seg_iter_next(&it, &a, err);
		fsc_seg_iter_fini(&it);
	}
	return st == FSC_END ? FSC_OK : st;
}

static enum fsc_status ask_slice(const struct fixture *f, const struct fsc_seg *s, int64_t t1,
				 struct fsc_err *err)
{
	struct fsc_seg_slice a;

	(void)f;
	(void)t1;
	return fsc_seg_slice(&a, s, fsc_seg_info(s)->n_slices / 2, err);
}

static enum fsc_status ask_find(const struct fixture *f, const struct fsc_seg *s, int64_t t1,
				struct fsc_err *err)
{
	struct fsc_seg_slice a, b;
	uint32_t id = fsc_seg_info(s)->n_slices / 2;
	enum fsc_status st = fsc_seg_slice(&a, f->whole, id, err);

	(void)t1;
	return st ? st : fsc_seg_find(&b, s, a.track, a.ts, fsc_seg_str(s, a.name, NULL), err);
}

static const struct {
	const char *name;
	ask_fn *ask;
} questions[] = {
	{ "slices", ask_slices },
	{ "aggregate", ask_aggregate },
	{ "busy", ask_busy },
	{ "search", ask_search },
	{ "search without a hit", ask_search_nothing },
	{ "minimap", ask_minimap },
	{ "minimap of a short window", ask_minimap_close },
	{ "counters", ask_counters },
	{ "flows", ask_flows },
	{ "iteration", ask_iter },
	{ "slice", ask_slice },
	{ "find", ask_find },
};

static void each_query_of_a_stopped_view_ends_and_says_so(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f);
	for (size_t i = 0; i < FSC_ARRAY_LEN(questions); i++) {
		int64_t t1 = f.t->meta.t_max_ns + 1;
		struct fsc_err err = FSC_ERR_INIT;

		atomic_store(&f.stop, false);
		if (questions[i].ask(&f, f.view, t1, &err) != FSC_OK)
			fail_msg("%s: %s", questions[i].name, err.msg);
		atomic_store(&f.stop, true);
		if (questions[i].ask(&f, f.view, t1, &err) != FSC_ECANCELED ||
		    strcmp(err.code, "query_stopped") != 0)
			fail_msg("%s was not stopped: %s", questions[i].name, err.code);
		fsc_err_clear(&err);
		if (questions[i].ask(&f, f.whole, t1, &err) != FSC_OK)
			fail_msg("%s of the segment itself: %s", questions[i].name, err.msg);
	}
	close_fixture(&f);
}

static void a_reference_to_a_view_outlives_it_and_its_flag(void **state)
{
	struct fixture f;
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_seg *kept;

	(void)state;
	open_fixture(&f);
	kept = fsc_seg_ref(f.view);
	assert_ptr_equal(kept, f.whole);
	atomic_store(&f.stop, true);
	fsc_seg_unref(f.view);
	f.view = NULL;
	assert_int_equal(ask_iter(&f, kept, f.t->meta.t_max_ns, &err), FSC_OK);
	fsc_seg_unref(kept);
	close_fixture(&f);
}

static void *set_soon(void *arg)
{
	const struct timespec nap = { .tv_nsec = 20000000 };

	nanosleep(&nap, NULL);
	atomic_store((atomic_bool *)arg, true);
	return NULL;
}

static void a_query_under_way_is_stopped_from_another_thread(void **state)
{
	struct fixture f;
	struct fsc_err err = FSC_ERR_INIT;
	enum fsc_status st = FSC_OK;
	pthread_t t;

	(void)state;
	open_fixture(&f);
	assert_int_equal(pthread_create(&t, NULL, set_soon, &f.stop), 0);
	while (st == FSC_OK)
		st = ask_aggregate(&f, f.view, f.t->meta.t_max_ns, &err);
	assert_int_equal(st, FSC_ECANCELED);
	pthread_join(t, NULL);
	close_fixture(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_query_of_a_stopped_view_ends_and_says_so),
		cmocka_unit_test(a_reference_to_a_view_outlives_it_and_its_flag),
		cmocka_unit_test(a_query_under_way_is_stopped_from_another_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
