/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTA's rules of which rows count and how, written down a second time and apart from lib/analysis, so that its
 * reference tables can be reproduced row for row: with the rows that HTA takes for GPU work and we do not
 * (synchronisation and Triton rows with a stream), and without them.
 * Rules: HTA 0.6.1, f4d0062 (trace filter, temporal breakdown, idle time, kernel breakdown, overlap).
 */
#ifndef FSC_TESTS_UNIT_ANALYSIS_HTA_H
#define FSC_TESTS_UNIT_ANALYSIS_HTA_H

#include "analysis/intervals.h"
#include "base/num.h"
#include "segment/seg_read.h"
#include "tests/support/test.h"

struct hta_row {
	int64_t ts, end, correlation, launch_ts; /* launch_ts INT64_MIN: none */
	int64_t stream;
	const char *name;
	char type;     /* C M K O, by HTA's name rules */
	char our_type; /* the same letters, by our kind */
	uint32_t id;
	bool extra;   /* not GPU work for us */
	bool sync;    /* a cuda_sync row: extra, but HTA's idle table leaves it out */
	bool dropped; /* by the step filter */
};
struct hta_cpu {
	int64_t ts, correlation;
};
struct hta {
	FSC_VEC(struct hta_row) gpu; /* by (stream, ts, id) */
	FSC_VEC(struct hta_cpu) cpu; /* with a correlation, by (correlation, ts) */
	int64_t first_event;	     /* start of the file's first event */
	int64_t last_step;
	unsigned n_steps; /* different names */
};

/*
 * args.stream of a row, -1 when there is none. GPU work lies on the track of its stream. Of the others only
 * synchronisation rows and Triton's operators can have one, so only their args are unpacked.
 */
static inline int64_t hta_stream(const struct fsc_seg *s, const struct fsc_seg_slice *sl,
				 const char *name)
{
	struct fsc_buf b = FSC_BUF_INIT(16 << 20);
	struct fsc_err err = FSC_ERR_INIT;
	int64_t v = -1;

	if (fsc_kind_is_gpu_work(sl->kind))
		return fsc_seg_track(s, sl->track)->stream;
	if (sl->args == FSC_NO_ARGS || (sl->kind != FSC_KIND_SYNC && !strstr(name, "triton")))
		return -1;
	assert_int_equal(fsc_seg_args(&b, s, sl->args, &err), FSC_OK);
	const char *p = strstr(b.data, "\"stream\":");
	if (p) {
		p += strlen("\"stream\":");
		p += *p == '"';
		size_t n = strspn(p, "-0123456789");
		if (!fsc_parse_i64(&v, p, n))
			v = -1;
	}
	fsc_buf_fini(&b);
	return v;
}

static inline bool hta_starts(const char *name, const char *const *prefixes)
{
	for (; *prefixes; prefixes++)
		if (!strncmp(name, *prefixes, strlen(*prefixes)))
			return true;
	return false;
}

/* HTA's kind of a GPU row by its name, first match wins. */
static inline char hta_type_of(const char *name)
{
	static const char *const comm[] = { "nccl", "hip", "hccl", NULL };
	static const char *const memory[] = { "Memcpy", "Memset", "dma", NULL };
	static const char *const deny[] = { "Context Sync", "Stream Sync", "Event Sync",
					    "Device Sync",  "cudaLaunch",  "Stream Wait Event",
					    "cuLaunch",	    NULL };

	if (hta_starts(name, comm) || strstr(name, "ncclKernel"))
		return 'C';
	if (hta_starts(name, memory))
		return 'M';
	return hta_starts(name, deny) ? 'O' : 'K';
}

static inline char hta_letter(uint8_t kind)
{
	return kind == FSC_KIND_COMM	  ? 'C'
	       : kind == FSC_KIND_COMPUTE ? 'K'
	       : kind == FSC_KIND_MEMCPY  ? 'M'
	       : kind == FSC_KIND_MEMSET  ? 'M'
					  : 'O';
}

static inline int hta_cpu_order(const void *a, const void *b)
{
	const struct hta_cpu *x = a, *y = b;

	if (x->correlation != y->correlation)
		return x->correlation < y->correlation ? -1 : 1;
	return x->ts < y->ts ? -1 : x->ts > y->ts;
}

static inline int hta_gpu_order(const void *a, const void *b)
{
	const struct hta_row *x = a, *y = b;

	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static inline void hta_take(struct hta *h, const struct fsc_seg *s, const struct fsc_seg_slice *sl,
			    char names[][64])
{
	size_t n = 0;
	const char *name = fsc_seg_str(s, sl->name, &n);
	int64_t stream = hta_stream(s, sl, name);
	const char *cat = fsc_seg_str(s, sl->cat, NULL);

	if (!cat[0] || !strcmp(cat, "Trace"))
		return;
	if (stream != -1) {
		struct hta_row r = { .ts = sl->ts,
				     .end = sl->ts + sl->dur,
				     .correlation = sl->correlation,
				     .launch_ts = INT64_MIN,
				     .stream = stream,
				     .name = name,
				     .type = hta_type_of(name),
				     .our_type = hta_letter(sl->kind),
				     .id = sl->id,
				     .extra = !fsc_kind_is_gpu_work(sl->kind),
				     .sync = sl->kind == FSC_KIND_SYNC };
		assert_true(fsc_vec_push(&h->gpu, r));
		return;
	}
	if (sl->correlation != FSC_NO_CORRELATION)
		assert_true(fsc_vec_push(&h->cpu, ((struct hta_cpu){ sl->ts, sl->correlation })));
	if (!strstr(name, "ProfilerStep"))
		return;
	if (sl->ts > h->last_step)
		h->last_step = sl->ts;
	unsigned i = 0;
	while (i < h->n_steps && strcmp(names[i], name))
		i++;
	if (i == h->n_steps && i < 64)
		snprintf(names[h->n_steps++], 64, "%s", name);
}

static inline void hta_resolve(struct hta *h, bool filter)
{
	filter = filter && h->n_steps >= 2;
	for (size_t i = 0; i < h->gpu.n; i++) {
		struct hta_row *r = &h->gpu.v[i];
		bool kept = false;

		for (size_t lo = 0, hi = h->cpu.n;
		     r->correlation != FSC_NO_CORRELATION && lo < hi;) {
			size_t mid = lo + (hi - lo) / 2;

			if (h->cpu.v[mid].correlation < r->correlation) {
				lo = mid + 1;
				continue;
			}
			hi = mid;
			if (h->cpu.v[mid].correlation == r->correlation) {
				r->launch_ts = h->cpu.v[mid].ts;
				kept = kept || h->cpu.v[mid].ts < h->last_step;
			}
		}
		r->dropped = filter && !kept;
	}
}

static inline int hta_file_order(const void *a, const void *b)
{
	const struct fsc_seg_slice *x = a, *y = b;

	return x->args < y->args ? -1 : x->args > y->args;
}

/* Args records are numbered in file order: read so, each block is unpacked once, and the first is event 0. */
static inline void hta_load(struct hta *h, const struct fsc_seg *s, bool filter)
{
	static char names[64][64];
	struct fsc_err err = FSC_ERR_INIT;
	FSC_VEC(struct fsc_seg_slice) all = { 0 };

	memset(h, 0, sizeof(*h));
	h->last_step = INT64_MIN;
	for (uint32_t row = 0; row < fsc_seg_info(s)->n_rows; row++) {
		struct fsc_seg_iter it;
		struct fsc_seg_slice sl;

		assert_int_equal(fsc_seg_iter_init(&it, s, row, INT64_MIN, INT64_MAX, &err),
				 FSC_OK);
		while (fsc_seg_iter_next(&it, &sl, &err) == FSC_OK)
			if (!(sl.flags & FSC_SLICE_INSTANT))
				assert_true(fsc_vec_push(&all, sl));
		fsc_seg_iter_fini(&it);
	}
	if (all.n)
		qsort(all.v, all.n, sizeof(*all.v), hta_file_order);
	h->first_event = all.n ? all.v[0].ts : 0;
	for (size_t i = 0; i < all.n; i++)
		hta_take(h, s, &all.v[i], names);
	fsc_vec_fini(&all);
	if (h->cpu.n)
		qsort(h->cpu.v, h->cpu.n, sizeof(*h->cpu.v), hta_cpu_order);
	if (h->gpu.n)
		qsort(h->gpu.v, h->gpu.n, sizeof(*h->gpu.v), hta_gpu_order);
	hta_resolve(h, filter);
}

static inline void hta_fini(struct hta *h)
{
	fsc_vec_fini(&h->gpu);
	fsc_vec_fini(&h->cpu);
}

/* as_hta: with the rows that only HTA takes for GPU work, and with its types. Else ours. */
static inline bool hta_counts(const struct hta_row *r, bool as_hta)
{
	return !r->dropped && (as_hta || !r->extra);
}

/* Rows of one type ('*': all) as intervals. */
static inline struct fsc_spans hta_spans(const struct hta *h, bool as_hta, char type)
{
	struct fsc_spans s = { .v = { 0 } };

	for (size_t i = 0; i < h->gpu.n; i++) {
		const struct hta_row *r = &h->gpu.v[i];

		if (hta_counts(r, as_hta) &&
		    (type == '*' || type == (as_hta ? r->type : r->our_type)))
			assert_true(fsc_spans_add(&s, r->ts, r->end));
	}
	assert_true(fsc_spans_normalise(&s));
	return s;
}

/* Time by which types run at once: index is a sum of 1 computation, 2 communication, 4 memory. The sweep over
 * all edges is HTA's; whole_us cuts each stretch to whole us, as its integer column does. */
#define HTA_COMBOS 8
static inline void hta_combos(int64_t out[HTA_COMBOS], const struct hta *h, bool as_hta,
			      bool whole_us)
{
	struct fsc_spans part[3] = { hta_spans(h, as_hta, 'K'), hta_spans(h, as_hta, 'C'),
				     hta_spans(h, as_hta, 'M') };
	size_t at[3] = { 0, 0, 0 };
	int64_t now = INT64_MIN;

	for (;;) {
		int64_t next = INT64_MAX;
		unsigned on = 0;

		for (unsigned i = 0; i < 3; i++) {
			const struct fsc_spans *s = &part[i];

			while (at[i] < s->v.n && s->v.v[at[i]].t1 <= now)
				at[i]++;
			if (at[i] == s->v.n)
				continue;
			const struct fsc_span *v = &s->v.v[at[i]];
			bool inside = v->t0 <= now;
			int64_t edge = inside ? v->t1 : v->t0;

			on |= inside ? 1u << i : 0;
			next = edge < next ? edge : next;
		}
		if (next == INT64_MAX)
			break;
		if (on)
			out[on] += whole_us ? (next - now) / 1000 * 1000 : next - now;
		now = next;
	}
	for (unsigned i = 0; i < 3; i++)
		fsc_spans_fini(&part[i]);
}

struct hta_temporal {
	int64_t window, busy, compute, comm, memory, comm_overlap;
};

static inline int64_t hta_total(const struct hta *h, bool as_hta, char type)
{
	struct fsc_spans s = hta_spans(h, as_hta, type);
	int64_t total = fsc_spans_total(&s);

	fsc_spans_fini(&s);
	return total;
}

static inline struct hta_temporal hta_temporal(const struct hta *h, bool as_hta)
{
	int64_t combos[HTA_COMBOS] = { 0 }, first = INT64_MAX, last = INT64_MIN;
	struct hta_temporal t = { 0 };

	for (size_t i = 0; i < h->gpu.n; i++) {
		if (!hta_counts(&h->gpu.v[i], as_hta))
			continue;
		first = h->gpu.v[i].ts < first ? h->gpu.v[i].ts : first;
		last = h->gpu.v[i].end > last ? h->gpu.v[i].end : last;
	}
	hta_combos(combos, h, as_hta, false);
	t.window = last >= first ? last - first : 0;
	t.busy = hta_total(h, as_hta, '*');
	t.compute = hta_total(h, as_hta, 'K');
	t.comm = hta_total(h, as_hta, 'C');
	t.memory = hta_total(h, as_hta, 'M');
	t.comm_overlap = combos[1 + 2] + combos[1 + 2 + 4];
	return t;
}

struct hta_idle {
	int64_t host_wait, kernel_wait, other;
};

/*
 * as_hta: with the Triton rows, and with HTA's mistake of giving a row without a launch the start of the file's
 * first event as its launch (index 0 stands for "none" there, and is a row).
 */
static inline struct hta_idle hta_idle(const struct hta *h, bool as_hta, int64_t stream)
{
	struct hta_idle out = { 0 };
	const struct hta_row *prev = NULL;

	for (size_t i = 0; i < h->gpu.n; i++) {
		const struct hta_row *r = &h->gpu.v[i];

		if (r->stream != stream || r->sync || !hta_counts(r, as_hta))
			continue;
		if (prev) {
			int64_t gap = r->ts - prev->end;
			int64_t launch =
				r->launch_ts == INT64_MIN && as_hta ? h->first_event : r->launch_ts;

			*(launch > prev->end ? &out.host_wait
			  : gap < 30000	     ? &out.kernel_wait
					     : &out.other) += gap;
		}
		prev = r;
	}
	return out;
}

/* What sets a trace apart from the plain case. */
struct hta_oddities {
	size_t extra;	     /* rows that only HTA takes for GPU work */
	size_t orphans;	     /* GPU rows without a known launch */
	size_t reclassified; /* GPU rows whose kind is not HTA's */
};

static inline struct hta_oddities hta_oddities(const struct hta *h)
{
	struct hta_oddities o = { 0 };

	for (size_t i = 0; i < h->gpu.n; i++) {
		const struct hta_row *r = &h->gpu.v[i];

		o.extra += !r->dropped && r->extra;
		o.orphans += !r->dropped && !r->extra && r->launch_ts == INT64_MIN;
		o.reclassified += !r->dropped && !r->extra && r->type != r->our_type;
	}
	return o;
}

struct hta_kernel {
	uint64_t count;
	int64_t sum, min, max;
	char type;
};

static inline struct hta_kernel hta_kernel(const struct hta *h, bool as_hta, const char *name)
{
	struct hta_kernel k = { .min = INT64_MAX, .max = INT64_MIN };

	for (size_t i = 0; i < h->gpu.n; i++) {
		const struct hta_row *r = &h->gpu.v[i];
		int64_t dur = r->end - r->ts;

		if (!hta_counts(r, as_hta) || strcmp(r->name, name))
			continue;
		k.count++;
		k.sum += dur;
		k.min = dur < k.min ? dur : k.min;
		k.max = dur > k.max ? dur : k.max;
		k.type = as_hta ? r->type : r->our_type;
	}
	return k;
}

#endif
