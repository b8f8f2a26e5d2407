/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is exported as Perfetto protobuf is read back whole: the same slices to the nanosecond, launches, arrows and
 * counters as the file that it was made of, and the second export equals the third.
 */
#include "tests/support/export_all.h"
#include "tests/support/read_trace.h"

static void export_to(struct fsc_buf *b, const struct fsc_trace *t)
{
	struct fsc_seg *seg = segment_of(t);

	fsc_buf_clear(b);
	export_all(b, seg, "perfetto");
	fsc_seg_unref(seg);
}

static struct fsc_trace *import_of(const struct fsc_buf *b)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_trace *t = read_trace_text(b->data, b->len, &err);

	if (!t)
		fail_msg("import: %s: %s at %lld", err.code, err.msg, (long long)err.offset);
	return t;
}

/* ---- comparing what does not depend on the order of tracks ---- */

struct key {
	int64_t ts, dur;
	const char *name;
	uint32_t slice;
	bool gpu, instant;
};

static int by_key(const void *x, const void *y)
{
	const struct key *a = x, *b = y;

	if (a->ts != b->ts)
		return a->ts < b->ts ? -1 : 1;
	if (a->dur != b->dur)
		return a->dur < b->dur ? -1 : 1;
	if (a->gpu != b->gpu)
		return a->gpu - b->gpu;
	if (a->instant != b->instant)
		return a->instant - b->instant;
	return strcmp(a->name, b->name);
}

/* Slices in an order of their own, and the place of each in it. */
static struct key *keys_of(const struct fsc_trace *t, uint32_t **rank)
{
	struct key *k = calloc(t->slices.n + 1, sizeof(*k));

	*rank = calloc(t->slices.n + 1, sizeof(**rank));
	assert_true(k && *rank);
	for (uint32_t i = 0; i < t->slices.n; i++)
		k[i] = (struct key){ .ts = t->slices.ts[i] + t->meta.t_base_ns,
				     .dur = t->slices.dur[i],
				     .name = str_of(t, t->slices.name[i]),
				     .slice = i,
				     .gpu = t->tracks.v[t->slices.track[i]].kind ==
					    FSC_TRACK_STREAM,
				     .instant = t->slices.flags[i] & FSC_SLICE_INSTANT };
	qsort(k, t->slices.n, sizeof(*k), by_key);
	/* slices that nothing tells apart have one place */
	for (uint32_t i = 0; i < t->slices.n; i++)
		(*rank)[k[i].slice] = i && !by_key(&k[i], &k[i - 1]) ? (*rank)[k[i - 1].slice] : i;
	return k;
}

static int by_pair(const void *x, const void *y)
{
	const uint32_t *a = x, *b = y;

	return a[0] != b[0] ? (a[0] < b[0] ? -1 : 1) : (a[1] > b[1]) - (a[1] < b[1]);
}

struct arrows {
	uint32_t (*v)[2];
	size_t n;
};

static void add_arrow(struct arrows *a, uint32_t from, uint32_t to)
{
	if (!(a->n & (a->n - 1))) {
		a->v = realloc(a->v, (a->n ? 2 * a->n : 1) * sizeof(*a->v));
		assert_non_null(a->v);
	}
	a->v[a->n][0] = from;
	a->v[a->n++][1] = to;
}

/* Flows, and launches that only a common correlation tells: Perfetto has one kind of link for both. Each once. */
static struct arrows arrows_of(const struct fsc_trace *t, const uint32_t *rank)
{
	struct fsc_seg *seg = segment_of(t);
	struct arrows a = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < t->flows.n; i++)
		add_arrow(&a, rank[t->flows.v[i].from], rank[t->flows.v[i].to]);
	for (uint32_t i = 0; i < t->slices.n; i++) {
		uint32_t calls[8], k = 0;

		if (fsc_kind_is_gpu_work(t->slices.kind[i]))
			k = fsc_seg_correlated(seg, i, calls, 8);
		for (uint32_t c = 0; c < k && c < 8; c++)
			add_arrow(&a, rank[calls[c]], rank[i]);
	}
	fsc_seg_unref(seg);
	if (a.n)
		qsort(a.v, a.n, sizeof(*a.v), by_pair);
	for (size_t i = 0; i < a.n; i++)
		if (!i || by_pair(a.v[i], a.v[n - 1]))
			memcpy(a.v[n++], a.v[i], sizeof(*a.v));
	a.n = n;
	return a;
}

static void same_launches(const char *file, const struct fsc_trace *a, const struct fsc_trace *b,
			  const uint32_t *ra, const uint32_t *rb)
{
	uint64_t sum[2] = { 0, 0 };
	const struct fsc_trace *t[] = { a, b };
	const uint32_t *r[] = { ra, rb };

	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < t[k]->launches.n; i++) {
			const struct fsc_launch *l = &t[k]->launches.v[i];
			uint64_t h = r[k][l->slice];

			h = h * 31 + (uint64_t)l->grid[0] * 7 + (uint64_t)l->grid[1] * 11 +
			    (uint64_t)l->grid[2];
			h = h * 31 + (uint64_t)l->block[0] + (uint64_t)l->registers * 3 +
			    (uint64_t)l->shared_bytes;
			h = h * 31 + (uint64_t)l->bytes + (uint64_t)l->graph_id;
			sum[k] += h * 0x9E3779B97F4A7C15ULL;
		}
	if (a->launches.n != b->launches.n || sum[0] != sum[1])
		fail_msg("%s: launches differ: %zu and %zu", file, a->launches.n, b->launches.n);
}

static void same(const char *file, const struct fsc_trace *a, const struct fsc_trace *b)
{
	uint32_t *ra, *rb;
	struct key *ka = keys_of(a, &ra), *kb = keys_of(b, &rb);
	struct arrows fa, fb;

	for (uint32_t i = 0; i < a->slices.n && i < b->slices.n; i++)
		if (by_key(&ka[i], &kb[i]))
			fail_msg("%s: slice %u: %lld %lld %s is read back as %lld %lld %s", file, i,
				 (long long)ka[i].ts, (long long)ka[i].dur, ka[i].name,
				 (long long)kb[i].ts, (long long)kb[i].dur, kb[i].name);
	assert_int_equal(a->slices.n, b->slices.n);
	assert_int_equal(a->n_instants, b->n_instants);
	assert_int_equal(a->counters.n, b->counters.n);
	same_launches(file, a, b, ra, rb);
	fa = arrows_of(a, ra);
	fb = arrows_of(b, rb);
	if (fa.n != fb.n || memcmp(fa.v, fb.v, fa.n * sizeof(*fa.v)) != 0)
		fail_msg("%s: %zu arrows, %zu read back, or others", file, fa.n, fb.n);
	free(ka);
	free(kb);
	free(ra);
	free(rb);
	free(fa.v);
	free(fb.v);
}

/* Names are numbered in the order in which they come, which is that of the tracks from the second time on. */
static void round_trip(const char *path)
{
	struct fsc_buf last = FSC_BUF_INIT(1u << 30), next = FSC_BUF_INIT(1u << 30);
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_trace *t = read_trace_file(path, &err);

	if (!t)
		fail_msg("%s: %s", path, err.msg);
	export_to(&next, t);
	for (int i = 0; i < 3; i++) {
		struct fsc_trace *back = import_of(&next);
		struct fsc_buf swap = last;

		same(path, t, back);
		fsc_trace_free(t);
		t = back;
		last = next;
		next = swap;
		export_to(&next, t);
	}
	assert_int_equal(next.len, last.len);
	assert_memory_equal(next.data, last.data, next.len);
	fsc_trace_free(t);
	fsc_buf_fini(&last);
	fsc_buf_fini(&next);
}

static void a_kineto_file_comes_back(void **state)
{
	char path[600];

	(void)state;
	round_trip(test_src(path, sizeof(path), "tests/golden/kineto/input.json"));
}

static void a_chrome_file_comes_back(void **state)
{
	char path[600];

	(void)state;
	round_trip(test_src(path, sizeof(path), "tests/golden/chrome_json/input.json"));
}

static void real_files_come_back(void **state)
{
	static const char *const files[] = {
		"gpu-traces/hta/amd_trace/mi250_minitoy_train_ROCm6_2_kineto.json.gz",
		"gpu-traces/hta/critical_path/cuda_event_sync/event_sync_trace.json.gz",
		"gpu-traces/hta/mtia/mtia_inference_rank_0.json.gz",
		"gpu-traces/hta/critical_path/overlaid/overlaid_critical_path_trace.json.gz",
		"gpu-traces/kineto/docs_before_fix_trace.json",
		"gpu-traces/param/dlrm_8rank/worker0_step_12.1694128201545.pt.trace.json",
		"gpu-traces/tracelens/h100/gaunernst_bert-small-uncased__1016001.json.gz",
		"gpu-traces/tracelens/sglang_decode/sglang_Qwen3-8B_decode.json.gz",
		"gpu-traces/tracelens/torch_compile_triton/trace.json.gz",
	};
	char path[800];

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(files); i++)
		round_trip(test_data(path, sizeof(path), files[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kineto_file_comes_back),
		cmocka_unit_test(a_chrome_file_comes_back),
		cmocka_unit_test(real_files_come_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
