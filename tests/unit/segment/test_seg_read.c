/* SPDX-License-Identifier: Apache-2.0 */
/* A segment gives back what was written: every slice, table and time, exactly. */
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "segment/seg_query.h"
#include "segment/seg_write.h"
#include "tests/support/test.h"
#include "tests/unit/segment/help_gen_trace.h"

static const struct gen_opts shapes[] = {
	{ .seed = 1,
	  .shape = GEN_EVEN,
	  .n_threads = 3,
	  .n_streams = 3,
	  .n_outer = 3000,
	  .max_depth = 5,
	  .n_names = 400,
	  .side_tables = true },
	{ .seed = 2,
	  .shape = GEN_BURST,
	  .n_threads = 2,
	  .n_streams = 2,
	  .n_outer = 9000,
	  .max_depth = 3,
	  .n_names = 50,
	  .side_tables = true,
	  .big_correlations = true },
	{ .seed = 3,
	  .shape = GEN_WILD,
	  .n_threads = 4,
	  .n_streams = 3,
	  .n_outer = 2500,
	  .max_depth = 6,
	  .n_names = 20,
	  .side_tables = true,
	  .big_correlations = true },
	{ .seed = 4,
	  .shape = GEN_WILD,
	  .n_threads = 30,
	  .n_streams = 9,
	  .n_outer = 10,
	  .max_depth = 2,
	  .n_names = 3 },
	{ .seed = 5, .shape = GEN_EVEN, .n_threads = 0, .n_streams = 0, .n_names = 1 },
};

static struct fsc_seg *segment_of(const struct fsc_trace *t, struct fsc_seg_write_stats *stats)
{
	uint8_t sha[32] = { 1, 2, 3 };
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_seg *s = NULL;
	int fd = memfd_create("segment", MFD_CLOEXEC);

	assert_true(fd >= 0);
	if (fsc_seg_write(fd, t, sha, stats, &err) != FSC_OK ||
	    fsc_seg_open(&s, fd, &err) != FSC_OK)
		fail_msg("%s: %s", err.code, err.msg);
	close(fd);
	return s;
}

static void check_slice(const struct fsc_trace *t, const struct fsc_seg *s,
			const struct fsc_seg_slice *a, uint32_t i)
{
	const struct fsc_slices *w = &t->slices;

	assert_int_equal(a->id, i);
	assert_int_equal(a->ts, w->ts[i]);
	assert_int_equal(a->dur, w->dur[i]);
	assert_int_equal(a->track, w->track[i]);
	assert_int_equal(a->depth, w->depth[i]);
	assert_int_equal(a->name, w->name[i]);
	assert_int_equal(a->cat, t->cats.v[w->cat[i]]);
	assert_int_equal(a->kind, w->kind[i]);
	assert_int_equal(a->flags, w->flags[i]);
	assert_int_equal(a->args, w->args[i]);
	assert_int_equal(a->correlation, w->correlation[i]);
	assert_int_equal(fsc_seg_track(s, a->track)->first_row + a->depth, a->row);
}

static void every_slice_comes_back_by_id_and_by_row(void **state)
{
	(void)state;
	for (size_t k = 0; k < FSC_ARRAY_LEN(shapes); k++) {
		struct fsc_trace *t = gen_trace(&shapes[k]);
		struct fsc_seg *s = segment_of(t, NULL);
		struct fsc_seg_slice a;
		uint32_t n = 0;

		assert_int_equal(fsc_seg_info(s)->n_slices, t->slices.n);
		for (uint32_t i = 0; i < t->slices.n; i += 1 + i % 7) {
			assert_int_equal(fsc_seg_slice(&a, s, i, NULL), FSC_OK);
			check_slice(t, s, &a, i);
		}
		assert_int_equal(fsc_seg_slice(&a, s, t->slices.n, NULL), FSC_ENOTFOUND);
		for (uint32_t r = 0; r < fsc_seg_info(s)->n_rows; r++) {
			struct fsc_seg_iter it;

			assert_int_equal(fsc_seg_iter_init(&it, s, r, INT64_MIN, INT64_MAX, NULL),
					 FSC_OK);
			while (fsc_seg_iter_next(&it, &a, NULL) == FSC_OK)
				check_slice(t, s, &a, n++);
			fsc_seg_iter_fini(&it);
		}
		assert_int_equal(n, t->slices.n);
		assert_int_equal(fsc_seg_verify(s, NULL), FSC_OK);
		fsc_seg_unref(s);
		fsc_trace_free(t);
	}
}

static bool intersects(const struct fsc_trace *t, uint32_t i, int64_t t0, int64_t t1)
{
	int64_t ts = t->slices.ts[i], dur = t->slices.dur[i];

	return dur ? ts < t1 && ts + dur > t0 : ts >= t0 && ts < t1;
}

static void iteration_gives_exactly_the_slices_of_a_window(void **state)
{
	uint64_t st = 99;

	(void)state;
	for (size_t k = 0; k < 4; k++) {
		struct fsc_trace *t = gen_trace(&shapes[k]);
		struct fsc_seg *s = segment_of(t, NULL);

		for (unsigned round = 0; round < 60; round++) {
			uint32_t r = (uint32_t)gen_below(&st, fsc_seg_info(s)->n_rows), first;
			uint32_t n = fsc_seg_row_slices(s, r, &first), at = first;
			uint32_t pick = first + (uint32_t)gen_below(&st, n);
			int64_t t0 = t->slices.ts[pick] + (int64_t)gen_below(&st, 3) - 1, t1;
			struct fsc_seg_iter it;
			struct fsc_seg_slice a;

			pick = first + (uint32_t)gen_below(&st, n);
			t1 = t->slices.ts[pick] +
			     (round & 1 ? t->slices.dur[pick] : (int64_t)gen_below(&st, 3) - 1);
			assert_int_equal(fsc_seg_iter_init(&it, s, r, t0, t1, NULL), FSC_OK);
			for (at = first; at < first + n; at++) {
				if (!intersects(t, at, t0, t1) || t0 >= t1)
					continue;
				assert_int_equal(fsc_seg_iter_next(&it, &a, NULL), FSC_OK);
				check_slice(t, s, &a, at);
			}
			assert_int_equal(fsc_seg_iter_next(&it, &a, NULL), FSC_END);
			fsc_seg_iter_fini(&it);
		}
		fsc_seg_unref(s);
		fsc_trace_free(t);
	}
}

static void header_tracks_and_losses_come_back(void **state)
{
	struct fsc_trace *t = gen_trace(&shapes[0]);
	struct fsc_seg *s = segment_of(t, NULL);
	const struct fsc_seg_info *i = fsc_seg_info(s);

	(void)state;
	assert_int_equal(i->t_base_ns, t->meta.t_base_ns);
	assert_int_equal(i->t_max_ns, t->meta.t_max_ns);
	assert_true(i->has_epoch);
	assert_int_equal(i->rank, 3);
	assert_int_equal(i->n_instants, t->n_instants);
	assert_int_equal(i->n_events, t->n_events);
	assert_int_equal(i->blob_sha256[2], 3);
	assert_int_equal(fsc_seg_losses(s)->n, 2);
	assert_string_equal(fsc_seg_losses(s)->v[0].code, "slice_overlap_kept");
	assert_int_equal(fsc_seg_losses(s)->v[0].count, 3);
	for (uint32_t k = 0; k < fsc_strtab_count(t->strings); k++) {
		size_t n, m;

		assert_string_equal(fsc_seg_str(s, k, &n), fsc_strtab_get(t->strings, k, &m));
		assert_int_equal(n, m);
	}
	for (uint32_t k = 0; k < t->tracks.n; k++) {
		const struct fsc_seg_track *a = fsc_seg_track(s, k);
		const struct fsc_track *w = &t->tracks.v[k];
		uint32_t n;

		assert_int_equal(a->kind, w->kind);
		assert_int_equal(a->tid, w->tid);
		assert_int_equal(a->device, w->device);
		assert_int_equal(a->stream, w->stream);
		if (w->kind != FSC_TRACK_COUNTER) {
			assert_int_equal(a->n_slices, w->n);
			assert_int_equal(a->depths, w->depths);
			continue;
		}
		assert_int_equal(a->n_counters, w->n);
		assert_memory_equal(fsc_seg_counters(s, k, &n), t->counters.v + w->first,
				    w->n * sizeof(struct fsc_counter_sample));
	}
	assert_int_equal(fsc_seg_process(s, 0)->pid, 77);
	assert_int_equal(fsc_seg_process(s, 1)->pid_text, 5);
	fsc_seg_unref(s);
	fsc_trace_free(t);
}

/* The trace of a reader is not asked for sense: as many devices as tracks must not cost tracks squared. */
static void devices_are_counted_once_at_any_number_of_streams(void **state)
{
	static const struct {
		uint32_t streams, devices;
	} of[] = { { 0, 0 }, { 1, 1 }, { 9, 3 }, { 60000, 2 }, { 60000, 60000 } };

	(void)state;
	for (size_t k = 0; k < FSC_ARRAY_LEN(of); k++) {
		struct gen_opts o = { .seed = 6,
				      .n_threads = 2,
				      .n_streams = of[k].streams,
				      .n_outer = 2,
				      .max_depth = 1,
				      .n_names = 3 };
		struct fsc_trace *t = gen_trace(&o);
		int64_t *busy = fsc_xalloc(4 * 4000, sizeof(*busy)), cpu;
		struct fsc_seg *s;

		for (size_t i = 0; i < t->tracks.n; i++)
			if (t->tracks.v[i].kind == FSC_TRACK_STREAM)
				t->tracks.v[i].device =
					(int32_t)(i % of[k].devices) + FSC_NO_ORDINAL;
		s = segment_of(t, NULL);
		cpu = fsc_clock_cpu_ns();
		assert_int_equal(fsc_seg_info(s)->n_devices, of[k].devices);
		assert_int_equal(fsc_seg_minimap(busy, s, 0, fsc_seg_info(s)->t_max_ns + 1, 4000,
						 NULL),
				 FSC_OK);
		assert_true(test_is_wrapped() || fsc_clock_cpu_ns() - cpu < 2000000000);
		fsc_free(busy);
		fsc_seg_unref(s);
		fsc_trace_free(t);
	}
}

static void args_records_come_back_whole(void **state)
{
	struct fsc_trace *t = gen_trace(&shapes[1]);
	struct fsc_seg *s = segment_of(t, NULL);
	struct fsc_seg_args_cache c = { .raw = NULL };
	struct fsc_buf b = FSC_BUF_INIT(1 << 20);

	(void)state;
	for (uint32_t i = 0; i < t->slices.n; i++) {
		char want[32];
		const char *json;
		size_t n;
		int len = snprintf(want, sizeof(want), "{\"slice\":%u,", i);

		if (t->slices.args[i] == FSC_NO_ARGS)
			continue;
		assert_int_equal(fsc_seg_args_get(&json, &n, &c, s, t->slices.args[i], NULL),
				 FSC_OK);
		assert_memory_equal(json, want, (size_t)len);
		assert_int_equal(json[n - 1], '}');
		if (i % 501)
			continue;
		fsc_buf_clear(&b);
		assert_int_equal(fsc_seg_args(&b, s, t->slices.args[i], NULL), FSC_OK);
		assert_int_equal(b.len, n);
		assert_memory_equal(b.data, json, n);
	}
	assert_int_equal(fsc_seg_args(&b, s, fsc_seg_info(s)->n_args, NULL), FSC_ENOTFOUND);
	fsc_buf_fini(&b);
	fsc_seg_args_cache_fini(&c);
	fsc_seg_unref(s);
	fsc_trace_free(t);
}

static void correlations_link_calls_and_gpu_work_both_ways(void **state)
{
	(void)state;
	for (size_t k = 0; k < 3; k++) {
		struct fsc_trace *t = gen_trace(&shapes[k]);
		struct fsc_seg *s = segment_of(t, NULL);
		uint64_t st = 5;

		for (unsigned round = 0; round < 300; round++) {
			uint32_t i = (uint32_t)gen_below(&st, t->slices.n), ids[64], want[64],
				 n_want = 0, n;
			bool gpu = fsc_kind_is_gpu_work(t->slices.kind[i]);

			n = fsc_seg_correlated(s, i, ids, 64);
			if (t->slices.correlation[i] == FSC_NO_CORRELATION) {
				assert_int_equal(n, 0);
				continue;
			}
			for (uint32_t j = 0; j < t->slices.n && n_want < 64; j++)
				if (t->slices.correlation[j] == t->slices.correlation[i] &&
				    (gpu ? t->slices.kind[j] == FSC_KIND_RUNTIME
					 : fsc_kind_is_gpu_work(t->slices.kind[j])))
					want[n_want++] = j;
			assert_int_equal(n, n_want);
			assert_memory_equal(ids, want, n * sizeof(ids[0]));
		}
		fsc_seg_unref(s);
		fsc_trace_free(t);
	}
}

static void flows_of_a_slice_are_found_from_both_ends(void **state)
{
	struct fsc_trace *t = gen_trace(&shapes[2]);
	struct fsc_seg *s = segment_of(t, NULL);
	uint32_t n_all;

	(void)state;
	assert_memory_equal(fsc_seg_flows(s, &n_all), t->flows.v,
			    t->flows.n * sizeof(struct fsc_flow));
	assert_int_equal(n_all, t->flows.n);
	for (uint32_t i = 0; i < t->slices.n; i += 37) {
		struct fsc_flow f[32];
		uint32_t n = fsc_seg_flows_of(s, i, f, 32), want = 0;

		for (uint32_t k = 0; k < t->flows.n; k++)
			want += t->flows.v[k].from == i || t->flows.v[k].to == i;
		assert_int_equal(n, want);
		for (uint32_t k = 0; k < n && k < 32; k++)
			assert_true(f[k].from == i || f[k].to == i);
	}
	fsc_seg_unref(s);
	fsc_trace_free(t);
}

static void launches_and_collectives_are_found_by_slice(void **state)
{
	struct fsc_trace *t = gen_trace(&shapes[0]);
	struct fsc_seg *s = segment_of(t, NULL);
	struct fsc_launch l;
	struct fsc_collective c;
	uint32_t n;
	const struct fsc_launch *all = fsc_seg_launches(s, &n);

	(void)state;
	assert_int_equal(n, t->launches.n);
	for (size_t i = 0; i < t->launches.n; i += 13) {
		assert_int_equal(fsc_seg_launch(&l, s, t->launches.v[i].slice), FSC_OK);
		assert_int_equal(l.queued_ns, t->launches.v[i].slice);
		assert_int_equal(all[i].slice, t->launches.v[i].slice);
		assert_int_equal(all[i].grid[2], t->launches.v[i].grid[2]);
		assert_int_equal(all[i].graph_node_id, -1);
		assert_int_equal(fsc_seg_launch(&l, s, t->launches.v[i].slice + 1),
				 i + 1 < t->launches.n && t->launches.v[i + 1].slice ==
								  t->launches.v[i].slice + 1
					 ? FSC_OK
					 : FSC_ENOTFOUND);
	}
	assert_int_equal(fsc_seg_collective(&c, s, t->collectives.v[5].slice), FSC_OK);
	assert_int_equal(c.in_nelems, t->collectives.v[5].slice);
	fsc_seg_unref(s);
	fsc_trace_free(t);
}

/* The definition, slice by slice. */
static uint32_t parent_by_definition(const struct fsc_trace *t, uint32_t i)
{
	const struct fsc_slices *s = &t->slices;
	uint32_t best = UINT32_MAX;

	for (uint32_t j = t->tracks.v[s->track[i]].first; j < i; j++)
		if (s->depth[j] < s->depth[i] && s->ts[j] <= s->ts[i] &&
		    s->ts[j] + s->dur[j] >= s->ts[i] + s->dur[i] && s->dur[j] > 0 &&
		    (best == UINT32_MAX || s->depth[j] >= s->depth[best]))
			best = j;
	return best;
}

static void parents_are_the_innermost_containing_slices(void **state)
{
	struct fsc_trace *t = gen_trace(&shapes[2]);
	struct fsc_seg *s = segment_of(t, NULL);
	uint64_t st = 8;
	unsigned found = 0;

	(void)state;
	for (unsigned round = 0; round < 3000; round++) {
		uint32_t i = (uint32_t)gen_below(&st, t->slices.n), want;
		struct fsc_seg_slice a, p;
		enum fsc_status got;

		if (!t->slices.dur[i])
			continue;
		want = parent_by_definition(t, i);
		assert_int_equal(fsc_seg_slice(&a, s, i, NULL), FSC_OK);
		got = fsc_seg_parent(&p, s, &a, NULL);
		assert_int_equal(got, want == UINT32_MAX ? FSC_ENOTFOUND : FSC_OK);
		if (got == FSC_OK)
			assert_int_equal(p.id, want);
		found += got == FSC_OK;
	}
	assert_true(found > 500);
	fsc_seg_unref(s);
	fsc_trace_free(t);
}

static void a_permalink_finds_its_slice_again(void **state)
{
	struct fsc_trace *t = gen_trace(&shapes[1]);
	struct fsc_seg *s = segment_of(t, NULL);
	struct fsc_seg_slice a;

	(void)state;
	for (uint32_t i = 0; i < t->slices.n; i += 11) {
		const char *name = fsc_strtab_get(t->strings, t->slices.name[i], NULL);

		assert_int_equal(fsc_seg_find(&a, s, t->slices.track[i], t->slices.ts[i], name,
					      NULL),
				 FSC_OK);
		assert_true(a.id <= i);
		assert_int_equal(a.ts, t->slices.ts[i]);
		assert_int_equal(a.name, t->slices.name[i]);
	}
	assert_int_equal(fsc_seg_find(&a, s, 0, -5, "nothing", NULL), FSC_ENOTFOUND);
	assert_int_equal(fsc_seg_find(&a, s, 10000, 0, "nothing", NULL), FSC_ENOTFOUND);
	fsc_seg_unref(s);
	fsc_trace_free(t);
}

static void a_permalink_whose_track_has_another_number_finds_the_only_such_slice(void **state)
{
	struct fsc_trace *t = gen_trace(&shapes[1]);
	struct fsc_seg *s = segment_of(t, NULL);
	uint32_t only = 0, several = 0;

	(void)state;
	for (uint32_t i = 0; i < t->slices.n; i += 7) {
		const char *name = fsc_strtab_get(t->strings, t->slices.name[i], NULL);
		struct fsc_err err = FSC_ERR_INIT;
		struct fsc_seg_slice a;
		enum fsc_status st = fsc_seg_find_any(&a, s, t->slices.ts[i], name, &err);
		uint32_t same = 0;

		for (uint32_t k = 0; k < t->slices.n; k++)
			same += t->slices.ts[k] == t->slices.ts[i] &&
				t->slices.name[k] == t->slices.name[i];
		if (same == 1) {
			only++;
			assert_int_equal(st, FSC_OK);
			assert_int_equal(a.id, i);
		} else {
			several++;
			assert_int_equal(st, FSC_ENOTFOUND);
			assert_string_equal(err.code, "ambiguous_slice");
		}
	}
	assert_true(only > 0);
	print_message("%u of one, %u of several\n", only, several);
	fsc_seg_unref(s);
	fsc_trace_free(t);
}

static void the_writer_refuses_what_breaks_the_model(void **state)
{
	struct fsc_trace *t = gen_trace(&shapes[0]);
	struct fsc_err err = FSC_ERR_INIT;
	int fd = memfd_create("segment", MFD_CLOEXEC);
	int64_t was = t->slices.ts[5];

	(void)state;
	t->slices.ts[5] = t->slices.ts[6] + 1;
	assert_int_equal(fsc_seg_write(fd, t, NULL, NULL, &err), FSC_EBUG);
	assert_string_equal(err.code, "segment_order");
	t->slices.ts[5] = was;
	t->slices.dur[t->tracks.v[0].n - 1] = INT64_MAX;
	assert_int_equal(fsc_seg_write(fd, t, NULL, NULL, &err), FSC_ELIMIT);
	close(fd);
	fsc_trace_free(t);
}

static void slice_columns_and_pyramid_stay_below_sixteen_bytes(void **state)
{
	struct gen_opts o = { .seed = 9,
			      .shape = GEN_BURST,
			      .n_threads = 0,
			      .n_streams = 8,
			      .n_outer = 50000,
			      .max_depth = 1,
			      .n_names = 400 };
	struct fsc_trace *t = gen_trace(&o);
	struct fsc_seg_write_stats stats;
	double n = t->slices.n;

	(void)state;
	for (uint32_t i = 0; i < t->slices.n; i++)
		t->slices.correlation[i] = FSC_NO_CORRELATION;
	fsc_seg_unref(segment_of(t, &stats));
	assert_true((double)(stats.slice_bytes + stats.lod_bytes) / n <= 16.0);
	/* with names, blocks and the minimap */
	assert_true((double)stats.file_bytes / n <= 18.0);
	fsc_trace_free(t);
}

struct asker {
	const struct fsc_seg *s;
	uint64_t hash;
};

static void *ask(void *p)
{
	struct asker *a = p;

	for (uint32_t row = 0; row < fsc_seg_info(a->s)->n_rows; row++) {
		struct fsc_seg_items items;
		int64_t busy;

		if (fsc_seg_query_slices(&items, a->s, &row, 1, 0, INT64_MAX, 300, 10000, NULL) !=
			    FSC_OK ||
		    fsc_seg_busy_exact(&busy, a->s, &row, 1, 0, INT64_MAX, NULL) != FSC_OK)
			continue;
		a->hash = a->hash * 31 + items.n_slices_seen + (uint64_t)busy;
		fsc_seg_items_fini(&items);
	}
	fsc_seg_unref(fsc_seg_ref((struct fsc_seg *)(uintptr_t)a->s));
	return NULL;
}

/* Blocks are checked by whoever comes first; make tsan watches. */
static void many_threads_ask_one_segment_at_once(void **state)
{
	struct fsc_trace *t = gen_trace(&shapes[1]);
	struct fsc_seg *s = segment_of(t, NULL);
	struct asker a[4];
	pthread_t th[4];

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		a[i] = (struct asker){ s, 0 };
		assert_int_equal(pthread_create(&th[i], NULL, ask, &a[i]), 0);
	}
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(pthread_join(th[i], NULL), 0);
	for (unsigned i = 1; i < 4; i++)
		assert_int_equal(a[i].hash, a[0].hash);
	assert_true(a[0].hash != 0);
	fsc_seg_unref(s);
	fsc_trace_free(t);
}

static void a_full_disk_is_told_and_leaves_no_valid_segment(void **state)
{
	struct fsc_trace *t = gen_trace(&shapes[0]);
	int fd = memfd_create("segment", MFD_CLOEXEC);
	struct fsc_err err = FSC_ERR_INIT;
	struct rlimit was, now;
	struct fsc_seg *s;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	for (rlim_t max = 0; max < 2000000; max += 300000) {
		now = (struct rlimit){ max, was.rlim_max };
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &now), 0);
		assert_int_equal(fsc_seg_write(fd, t, NULL, NULL, &err), FSC_EFULL);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
		assert_int_equal(fsc_seg_open(&s, fd, NULL), FSC_ECORRUPT);
	}
	assert_int_equal(fsc_seg_write(fd, t, NULL, NULL, NULL), FSC_OK);
	assert_int_equal(fsc_seg_open(&s, fd, NULL), FSC_OK);
	fsc_seg_unref(s);
	close(fd);
	fsc_trace_free(t);
}

static void the_same_trace_gives_the_same_bytes(void **state)
{
	struct fsc_trace *t = gen_trace(&shapes[1]), *again = gen_trace(&shapes[1]);
	struct fsc_seg *a = segment_of(t, NULL), *b = segment_of(again, NULL);
	int fa = memfd_create("a", MFD_CLOEXEC), fb = memfd_create("b", MFD_CLOEXEC);
	size_t n = fsc_seg_info(a)->file_bytes;
	char *pa = malloc(n), *pb = malloc(n);

	(void)state;
	assert_int_equal(fsc_seg_write(fa, t, NULL, NULL, NULL), FSC_OK);
	assert_int_equal(fsc_seg_write(fb, again, NULL, NULL, NULL), FSC_OK);
	assert_int_equal(pread(fa, pa, n, 0), (ssize_t)n);
	assert_int_equal(pread(fb, pb, n, 0), (ssize_t)n);
	assert_memory_equal(pa, pb, n);
	free(pa);
	free(pb);
	close(fa);
	close(fb);
	fsc_seg_unref(a);
	fsc_seg_unref(b);
	fsc_trace_free(t);
	fsc_trace_free(again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_slice_comes_back_by_id_and_by_row),
		cmocka_unit_test(iteration_gives_exactly_the_slices_of_a_window),
		cmocka_unit_test(header_tracks_and_losses_come_back),
		cmocka_unit_test(devices_are_counted_once_at_any_number_of_streams),
		cmocka_unit_test(args_records_come_back_whole),
		cmocka_unit_test(correlations_link_calls_and_gpu_work_both_ways),
		cmocka_unit_test(flows_of_a_slice_are_found_from_both_ends),
		cmocka_unit_test(launches_and_collectives_are_found_by_slice),
		cmocka_unit_test(parents_are_the_innermost_containing_slices),
		cmocka_unit_test(a_permalink_finds_its_slice_again),
		cmocka_unit_test(
			a_permalink_whose_track_has_another_number_finds_the_only_such_slice),
		cmocka_unit_test(the_writer_refuses_what_breaks_the_model),
		cmocka_unit_test(slice_columns_and_pyramid_stay_below_sixteen_bytes),
		cmocka_unit_test(many_threads_ask_one_segment_at_once),
		cmocka_unit_test(a_full_disk_is_told_and_leaves_no_valid_segment),
		cmocka_unit_test(the_same_trace_gives_the_same_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
