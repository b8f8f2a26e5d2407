/* SPDX-License-Identifier: Apache-2.0 */
/* Trace generator of the segment tests. */
#include "tests/unit/segment/help_gen_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

struct gen_slice {
	int64_t ts, dur;
	uint8_t flags;
};
struct gen_row {
	FSC_VEC(struct gen_slice) v;
};

uint64_t gen_rand(uint64_t *state)
{
	uint64_t z = (*state += 0x9E3779B97F4A7C15u);

	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
	z = (z ^ z >> 27) * 0x94D049BB133111EBu;
	return z ^ z >> 31;
}

uint64_t gen_below(uint64_t *state, uint64_t n)
{
	return n ? gen_rand(state) % n : 0;
}

static void must(bool ok)
{
	if (!ok)
		abort();
}

static void push(struct gen_row *r, int64_t ts, int64_t dur, uint8_t flags)
{
	struct gen_slice s = { ts, dur, flags };

	must(fsc_vec_push(&r->v, s));
}

/* A length with a random number of digits below 10^max_digits. */
static int64_t wild(uint64_t *st, unsigned max_digits)
{
	int64_t top = 1;

	for (uint64_t d = gen_below(st, max_digits + 1); d; d--)
		top *= 10;
	return (int64_t)gen_below(st, (uint64_t)top);
}

static int64_t length(uint64_t *st, const struct gen_opts *o)
{
	switch (o->shape) {
	case GEN_EVEN:
		return 500 + (int64_t)gen_below(st, 4000);
	case GEN_BURST:
		return 200 + (int64_t)gen_below(st, 3000);
	default:
		return gen_below(st, 40)
			       ? wild(st, 8)
			       : (int64_t)(gen_below(st, 20) * 1000000000 + gen_below(st, 1000));
	}
}

static int64_t gap(uint64_t *st, const struct gen_opts *o, uint32_t i)
{
	switch (o->shape) {
	case GEN_EVEN:
		return (int64_t)gen_below(st, 3000);
	case GEN_BURST:
		return i % 97 == 96 ? (int64_t)gen_below(st, 2000000) : (int64_t)gen_below(st, 300);
	default:
		return gen_below(st, 4) ? wild(st, 7) : 0;
	}
}

static void outer_row(struct gen_row *r, uint64_t *st, const struct gen_opts *o)
{
	int64_t t = (int64_t)gen_below(st, 10000);

	for (uint32_t i = 0; i < o->n_outer; i++) {
		int64_t dur = length(st, o);

		t += gap(st, o, i);
		if (gen_below(st, 50) == 0) {
			push(r, t, 0, gen_below(st, 2) ? FSC_SLICE_INSTANT : 0);
			continue;
		}
		push(r, t, dur, 0);
		t += dur;
	}
}

/* Slices inside those of the row above, now and then one that sticks out of its parent. */
static void inner_row(struct gen_row *r, const struct gen_row *above, uint64_t *st)
{
	int64_t free_from = INT64_MIN;

	for (size_t i = 0; i < above->v.n; i++) {
		int64_t t = above->v.v[i].ts, end = t + above->v.v[i].dur;

		if (t < free_from)
			t = free_from;
		for (uint64_t k = gen_below(st, 4); k && t < end; k--) {
			int64_t dur = (int64_t)gen_below(st, (uint64_t)(end - t) + 1);

			push(r, t, dur, dur == 0 && gen_below(st, 2) ? FSC_SLICE_INSTANT : 0);
			t += dur + (int64_t)gen_below(st, (uint64_t)(end - t - dur) + 1);
			free_from = t;
		}
		if (t < end && gen_below(st, 200) == 0) {
			push(r, t, end - t + 1 + (int64_t)gen_below(st, 1000), FSC_SLICE_OVERLAP);
			free_from = r->v.v[r->v.n - 1].ts + r->v.v[r->v.n - 1].dur;
		}
	}
}

static uint8_t kind_of(uint64_t *st, uint8_t track_kind, uint32_t depth, uint8_t flags)
{
	static const uint8_t gpu[] = { FSC_KIND_COMPUTE,  FSC_KIND_COMPUTE, FSC_KIND_COMPUTE,
				       FSC_KIND_COMM,	  FSC_KIND_MEMCPY,  FSC_KIND_MEMSET,
				       FSC_KIND_GPU_OTHER };

	if (flags & FSC_SLICE_INSTANT)
		return FSC_KIND_INSTANT;
	if (track_kind == FSC_TRACK_STREAM)
		return gpu[gen_below(st, sizeof(gpu))];
	if (gen_below(st, 3) == 0)
		return FSC_KIND_RUNTIME;
	return depth ? FSC_KIND_OP : FSC_KIND_PYTHON;
}

static int64_t correlation_of(uint64_t *st, const struct gen_opts *o, uint8_t kind)
{
	int64_t c = (int64_t)gen_below(st, 100000);

	if (kind != FSC_KIND_RUNTIME && !fsc_kind_is_gpu_work(kind))
		return FSC_NO_CORRELATION;
	if (o->big_correlations && c % 7 == 0)
		return c % 2 ? -c : c + (INT64_C(1) << 40);
	return c;
}

static void reserve(struct fsc_slices *s, size_t n)
{
#define ROOM(col)                                                     \
	do {                                                          \
		s->col = fsc_realloc(s->col, n + 1, sizeof(*s->col)); \
		must(s->col != NULL);                                 \
	} while (0)
	ROOM(ts);
	ROOM(dur);
	ROOM(correlation);
	ROOM(track);
	ROOM(name);
	ROOM(args);
	ROOM(cat);
	ROOM(depth);
	ROOM(kind);
	ROOM(flags);
#undef ROOM
	s->cap = (uint32_t)n;
}

static void append_row(struct fsc_trace *t, const struct gen_opts *o, uint64_t *st, uint32_t track,
		       uint32_t depth, const struct gen_row *r)
{
	struct fsc_slices *s = &t->slices;

	if (s->n + r->v.n > s->cap)
		reserve(s, (s->n + r->v.n) * 2);
	for (size_t k = 0; k < r->v.n; k++) {
		const struct gen_slice *g = &r->v.v[k];
		uint32_t i = s->n++;

		s->ts[i] = g->ts;
		s->dur[i] = g->dur;
		s->flags[i] = g->flags;
		s->track[i] = track;
		s->depth[i] = (uint16_t)depth;
		s->kind[i] = kind_of(st, t->tracks.v[track].kind, depth, g->flags);
		/* few names are frequent, many are rare, as in real traces */
		s->name[i] = 10 + (uint32_t)gen_below(st, gen_below(st, 4) ? o->n_names / 16 + 1
									   : o->n_names);
		s->cat[i] = (uint16_t)gen_below(st, t->cats.n);
		s->correlation[i] = correlation_of(st, o, s->kind[i]);
		s->args[i] = FSC_NO_ARGS;
		if (g->flags & FSC_SLICE_INSTANT)
			t->n_instants++;
	}
}

static void add_track(struct fsc_trace *t, const struct gen_opts *o, uint64_t *st, uint8_t kind,
		      int32_t ordinal)
{
	uint32_t id = (uint32_t)t->tracks.n, depths = kind == FSC_TRACK_THREAD ? o->max_depth : 1;
	struct fsc_track tr = { .kind = kind,
				.process = kind == FSC_TRACK_STREAM,
				.tid = 100 + (int64_t)id,
				.sort_index = ordinal,
				.device = FSC_NO_ORDINAL,
				.context = FSC_NO_ORDINAL,
				.stream = FSC_NO_ORDINAL,
				.first = t->slices.n };
	struct gen_row row = { { 0 } };

	if (kind == FSC_TRACK_STREAM) {
		tr.device = ordinal % 2;
		tr.context = 1;
		tr.stream = 7 + ordinal;
	}
	must(fsc_vec_push(&t->tracks, tr));
	outer_row(&row, st, o);
	for (uint32_t d = 0; d < depths && row.v.n; d++) {
		struct gen_row next = { { 0 } };

		append_row(t, o, st, id, d, &row);
		t->tracks.v[id].depths = d + 1;
		inner_row(&next, &row, st);
		fsc_vec_fini(&row.v);
		row = next;
	}
	fsc_vec_fini(&row.v);
	t->tracks.v[id].n = t->slices.n - tr.first;
}

static void add_counters(struct fsc_trace *t, uint64_t *st)
{
	for (uint32_t k = 0; k < 2; k++) {
		struct fsc_track tr = { .kind = FSC_TRACK_COUNTER,
					.tid = -1,
					.name = 10 + k,
					.device = FSC_NO_ORDINAL,
					.context = FSC_NO_ORDINAL,
					.stream = FSC_NO_ORDINAL,
					.unit = 3,
					.first = (uint32_t)t->counters.n,
					.n = 500 * k };
		struct fsc_counter_sample c = { .ts = 5 };

		for (uint32_t i = 0; i < tr.n; i++) {
			c.ts += (int64_t)gen_below(st, 100000);
			c.value = (double)gen_below(st, 1000) / 7;
			must(fsc_vec_push(&t->counters, c));
		}
		must(fsc_vec_push(&t->tracks, tr));
	}
}

static int by_from_to(const void *pa, const void *pb)
{
	const struct fsc_flow *a = pa, *b = pb;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->to < b->to ? -1 : a->to > b->to;
}

static void add_typed(struct fsc_trace *t, uint64_t *st)
{
	for (uint32_t i = 0; i < t->slices.n; i++) {
		struct fsc_launch l = { .slice = i,
					.grid = { 1, 2, (int32_t)(i % 100) },
					.block = { 128, 1, 1 },
					.registers = 32,
					.shared_bytes = -1,
					.queued_ns = i,
					.occupancy_pct = 50,
					.graph_id = -1,
					.graph_node_id = -1,
					.bytes = -1,
					.bandwidth_gbs = -1 };
		struct fsc_collective c = {
			.slice = i, .name = 11, .dtype = 12, .in_nelems = i, .rank = -1
		};

		if (fsc_kind_is_gpu_work(t->slices.kind[i]) && i % 3 == 0)
			must(fsc_vec_push(&t->launches, l));
		if (t->slices.kind[i] == FSC_KIND_COMM)
			must(fsc_vec_push(&t->collectives, c));
	}
	for (uint32_t i = 0; i < t->slices.n / 10; i++) {
		struct fsc_flow f = { .from = (uint32_t)gen_below(st, t->slices.n),
				      .to = (uint32_t)gen_below(st, t->slices.n),
				      .cat = 2,
				      .name = 3 };

		must(fsc_vec_push(&t->flows, f));
	}
	if (t->flows.n)
		qsort(t->flows.v, t->flows.n, sizeof(*t->flows.v), by_from_to);
}

static void add_args(struct fsc_trace *t, uint64_t *st)
{
	for (uint32_t i = 0; i < t->slices.n; i++) {
		char json[128];
		int n = snprintf(json, sizeof(json),
				 "{\"slice\":%u,\"External id\":%u,\"x\":\"%llx\"}", i, i / 2,
				 (unsigned long long)gen_rand(st));

		if (i % 3 != 1)
			must(fsc_args_put(&t->slices.args[i], t->args, json, (size_t)n) == FSC_OK);
	}
}

static void add_strings(struct fsc_trace *t, const struct gen_opts *o)
{
	uint32_t id;

	for (uint32_t i = 1; i < 10 + o->n_names; i++) {
		char s[64];
		int n = snprintf(s, sizeof(s),
				 i % 5 ? "void kernel_%u<float, %u>(int)" : "aten::Op%u/%u", i,
				 i * 7);

		must(fsc_strtab_put(&id, t->strings, s, (size_t)n) == FSC_OK && id == i);
	}
	for (uint32_t i = 1; i < 6; i++)
		must(fsc_vec_push(&t->cats, i));
}

static void set_meta(struct fsc_trace *t)
{
	struct fsc_process p[2] = { { .pid = 77, .name = 4 },
				    { .pid = -1, .pid_text = 5, .sort_index = 3 } };

	must(fsc_vec_push(&t->processes, p[0]) && fsc_vec_push(&t->processes, p[1]));
	t->meta.format = 1;
	t->meta.t_base_ns = 1700000000000000000;
	t->meta.has_epoch = true;
	t->meta.rank = 3;
	t->meta.world_size = 8;
	t->meta.job = 6;
	t->meta.host = 7;
	t->meta.json = 9;
	t->n_events = 12345;
	fsc_losses_add(&t->losses, "slice_overlap_kept", 3);
	fsc_losses_add(&t->losses, "x_without_dur", 1);
}

struct fsc_trace *gen_trace(const struct gen_opts *o)
{
	struct fsc_trace *t = fsc_xalloc(1, sizeof(*t));
	uint64_t st = o->seed;

	t->strings = fsc_strtab_new();
	t->args = fsc_args_new();
	must(t->strings && t->args);
	add_strings(t, o);
	set_meta(t);
	reserve(&t->slices, 16);
	for (uint32_t i = 0; i < o->n_threads; i++)
		add_track(t, o, &st, FSC_TRACK_THREAD, (int32_t)i);
	for (uint32_t i = 0; i < o->n_streams; i++)
		add_track(t, o, &st, FSC_TRACK_STREAM, (int32_t)i);
	if (o->side_tables) {
		add_counters(t, &st);
		add_typed(t, &st);
		add_args(t, &st);
	}
	must(fsc_args_finish(t->args) == FSC_OK);
	for (uint32_t i = 0; i < t->slices.n; i++)
		if (t->slices.ts[i] + t->slices.dur[i] > t->meta.t_max_ns)
			t->meta.t_max_ns = t->slices.ts[i] + t->slices.dur[i];
	return t;
}
