/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects what the analyses need. Tracks are visited by (device, stream), so that the rows of a stream lie
 * together; launches are resolved afterwards, against the calls sorted by correlation.
 */
#include "analysis/rows.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/idmap.h"
#include "analysis/run_sort.h"
#include "analysis/step_marks.h"
#include "base/num.h"
#include "model/classify.h"

enum name_class {
	NAME_PLAIN,
	NAME_STEPLIKE /* has "ProfilerStep" in it */,
	NAME_STEP /* ProfilerStep#N */,
	NAME_MARK /* of another maker, which fsc_step_marks_name knows */
};

struct collect {
	struct fsc_rows *rows;
	const struct fsc_seg *s;
	struct fsc_err *err;
	uint8_t *name_class;			 /* owned; by string id */
	FSC_VEC(struct fsc_step_mark) marks;	 /* host rows called ProfilerStep#N */
	FSC_VEC(struct fsc_step_mark) gpu_marks; /* the same among projected annotations */
	struct fsc_step_marks other;		 /* steps of serving engines */
	struct fsc_idmap category_of, step_names;
	FSC_VEC(uint8_t) category_class; /* enum fsc_cat_class; by index of category */
};

static enum fsc_status no_memory(struct fsc_err *err)
{
	return fsc_err_set(err, FSC_ENOMEM, NULL, "analysis: out of memory");
}

/* ---- names ---- */

static enum fsc_status classify_names(struct collect *c)
{
	uint32_t n = fsc_seg_info(c->s)->n_strings;

	c->name_class = fsc_alloc(n ? n : 1, 1);
	if (!c->name_class)
		return no_memory(c->err);
	for (uint32_t id = 0; id < n; id++) {
		size_t len = 0;
		const char *name = fsc_seg_str(c->s, id, &len);

		if (fsc_step_marks_name(name, len) != FSC_MARK_NONE)
			c->name_class[id] = NAME_MARK;
		if (len < sizeof("ProfilerStep") - 1 || !strstr(name, "ProfilerStep"))
			continue;
		c->name_class[id] =
			fsc_analysis_step_number(name, len) >= 0 ? NAME_STEP : NAME_STEPLIKE;
	}
	return FSC_OK;
}

/* ---- slices ---- */

static bool count_category(struct collect *c, const struct fsc_seg_slice *sl, uint32_t *index)
{
	struct fsc_rows *r = c->rows;

	if (!fsc_idmap_get(index, &c->category_of, sl->cat, (uint32_t)r->categories.n))
		return false;
	if (*index == r->categories.n) {
		struct fsc_category_row row = { .name = sl->cat };
		size_t len = 0;
		const char *name = fsc_seg_str(c->s, sl->cat, &len);
		uint8_t class = (uint8_t)fsc_classify_cat(name, len);

		if (!fsc_vec_push(&r->categories, row) || !fsc_vec_push(&c->category_class, class))
			return false;
	}
	struct fsc_category_row *row = &r->categories.v[*index];
	row->count++;
	row->sum_ns = fsc_add_i64_sat(row->sum_ns, sl->dur);
	return true;
}

static bool take_gpu(struct collect *c, const struct fsc_seg_slice *sl, uint8_t class)
{
	struct fsc_gpu_row row = {
		.ts = sl->ts,
		.end = fsc_add_i64_sat(sl->ts, sl->dur),
		.launch_ts = sl->correlation, /* until the launches are resolved */
		.id = sl->id,
		.name = sl->name,
		.track = sl->track,
		.kind = sl->kind,
		/* queue entries of other accelerators are no kernels: the census leaves them out */
		.in_census = class != FSC_CAT_DEVICE && class != FSC_CAT_COLLECTIVE,
	};

	return fsc_vec_push(&c->rows->gpu, row);
}

static bool take_step(struct collect *c, const struct fsc_seg_slice *sl)
{
	size_t len = 0;
	const char *name = fsc_seg_str(c->s, sl->name, &len);
	uint32_t index = 0;

	if (sl->ts > c->rows->last_step_start)
		c->rows->last_step_start = sl->ts;
	if (!fsc_idmap_get(&index, &c->step_names, sl->name, 0))
		return false;
	if (c->name_class[sl->name] != NAME_STEP)
		return true;
	struct fsc_step_mark mark = { .number = fsc_analysis_step_number(name, len),
				      .ts = sl->ts,
				      .end = fsc_add_i64_sat(sl->ts, sl->dur),
				      .name = sl->name };
	if (sl->kind == FSC_KIND_GPU_ANNOTATION)
		return fsc_vec_push(&c->gpu_marks, mark);
	return fsc_vec_push(&c->marks, mark);
}

static bool take_slice(struct collect *c, const struct fsc_seg_slice *sl)
{
	uint32_t category = 0;

	if (c->name_class[sl->name] == NAME_MARK && !fsc_step_marks_take(&c->other, c->s, sl))
		return false;
	if (sl->flags & FSC_SLICE_INSTANT)
		return true;
	if (!count_category(c, sl, &category))
		return false;
	if (fsc_kind_is_gpu_work(sl->kind))
		return take_gpu(c, sl, c->category_class.v[category]);
	if (c->name_class[sl->name] == NAME_STEP || c->name_class[sl->name] == NAME_STEPLIKE)
		return take_step(c, sl);
	/* rows of other categories may have a correlation, but launch nothing */
	if (sl->correlation != FSC_NO_CORRELATION &&
	    c->category_class.v[category] == FSC_CAT_RUNTIME)
		return fsc_vec_push(&c->rows->calls,
				    ((struct fsc_call_row){ sl->correlation, sl->ts }));
	return true;
}

static enum fsc_status take_track(struct collect *c, uint32_t track)
{
	const struct fsc_seg_track *t = fsc_seg_track(c->s, track);
	enum fsc_status st = FSC_OK;

	for (uint32_t i = 0; st == FSC_OK && i < t->depths; i++) {
		struct fsc_seg_iter it;
		struct fsc_seg_slice sl;

		st = fsc_seg_iter_init(&it, c->s, t->first_row + i, INT64_MIN, INT64_MAX, c->err);
		if (st != FSC_OK)
			return st;
		while ((st = fsc_seg_iter_next(&it, &sl, c->err)) == FSC_OK)
			if (!take_slice(c, &sl)) {
				st = no_memory(c->err);
				break;
			}
		fsc_seg_iter_fini(&it);
		if (st == FSC_END)
			st = FSC_OK;
	}
	return st;
}

/* ---- tracks ---- */

struct track_key {
	int32_t device, stream;
	uint32_t track;
};

static int by_device_stream(const void *a, const void *b)
{
	const struct track_key *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	return x->track < y->track ? -1 : x->track > y->track;
}

static bool row_before(const void *a, const void *b)
{
	const struct fsc_gpu_row *x = a, *y = b;

	return x->ts != y->ts ? x->ts < y->ts : x->id < y->id;
}

/* The GPU rows from `first` on belong to the key: a new stream, or more of the one before. */
static bool close_stream(struct collect *c, const struct track_key *k, size_t first)
{
	struct fsc_rows *r = c->rows;
	struct fsc_stream_rows *last = r->streams.n ? &r->streams.v[r->streams.n - 1] : NULL;
	struct fsc_stream_rows fresh = { k->device, k->stream, first, 0 };

	if (first == r->gpu.n)
		return true;
	if (!last || last->device != k->device || last->stream != k->stream) {
		if (!fsc_vec_push(&r->streams, fresh))
			return false;
		last = &r->streams.v[r->streams.n - 1];
	}
	last->n = r->gpu.n - last->first;
	return fsc_run_sort(r->gpu.v + last->first, last->n, sizeof(*r->gpu.v), row_before);
}

static enum fsc_status take_tracks(struct collect *c)
{
	uint32_t n = fsc_seg_info(c->s)->n_tracks;
	struct track_key *keys = fsc_alloc(n, sizeof(*keys));
	enum fsc_status st = FSC_OK;

	if (!keys)
		return no_memory(c->err);
	for (uint32_t i = 0; i < n; i++) {
		const struct fsc_seg_track *t = fsc_seg_track(c->s, i);

		keys[i].device = t->device == FSC_NO_ORDINAL ? FSC_DEVICE_UNKNOWN : t->device;
		keys[i].stream = t->stream == FSC_NO_ORDINAL ? FSC_STREAM_UNKNOWN : t->stream;
		keys[i].track = i;
	}
	qsort(keys, n, sizeof(*keys), by_device_stream);
	for (uint32_t i = 0; st == FSC_OK && i < n; i++) {
		size_t first = c->rows->gpu.n;

		if (fsc_seg_track(c->s, keys[i].track)->kind == FSC_TRACK_COUNTER)
			continue;
		st = take_track(c, keys[i].track);
		if (st == FSC_OK && !close_stream(c, &keys[i], first))
			st = no_memory(c->err);
	}
	fsc_free(keys);
	return st;
}

/* ---- steps ---- */

static bool number_before(const void *a, const void *b)
{
	const struct fsc_step_mark *x = a, *y = b;

	return x->number != y->number ? x->number < y->number : x->ts < y->ts;
}

static bool start_before(const void *a, const void *b)
{
	const struct fsc_step_mark *x = a, *y = b;

	return x->ts != y->ts ? x->ts < y->ts : x->number < y->number;
}

/* No row is called ProfilerStep: the steps of the engine that ran the model, each a name of its own. */
static enum fsc_status settle_others(struct collect *c)
{
	struct fsc_rows *r = c->rows;

	if (!fsc_step_marks_settle(&c->other, r, fsc_seg_info(c->s)->t_max_ns))
		return no_memory(c->err);
	r->n_step_names = r->steps.n;
	if (r->steps.n)
		r->last_step_start = r->steps.v[r->steps.n - 1].ts;
	return FSC_OK;
}

/* Host marks count; a trace without any is served by those on its streams. Each number once: its first.
 * By sorting and not by hashing: the numbers are the file's. */
static enum fsc_status settle_steps(struct collect *c)
{
	bool host = c->marks.n > 0;
	struct fsc_step_mark *v = host ? c->marks.v : c->gpu_marks.v;
	size_t n = host ? c->marks.n : c->gpu_marks.n;
	struct fsc_rows *r = c->rows;

	c->rows->n_step_names = c->step_names.n;
	if (!c->step_names.n)
		return settle_others(c);
	if (!fsc_run_sort(v, n, sizeof(*v), number_before))
		return no_memory(c->err);
	for (size_t i = 0; i < n; i++)
		if ((!i || v[i].number != v[i - 1].number) && !fsc_vec_push(&r->steps, v[i]))
			return no_memory(c->err);
	if (!fsc_run_sort(r->steps.v, r->steps.n, sizeof(*v), start_before))
		return no_memory(c->err);
	return FSC_OK;
}

/* ---- launches ---- */

static bool call_before(const void *a, const void *b)
{
	const struct fsc_call_row *x = a, *y = b;

	return x->correlation != y->correlation ? x->correlation < y->correlation : x->ts < y->ts;
}

/* First call whose correlation is not below (or, after, is above) the given one. */
static uint32_t bound(const struct fsc_rows *r, int64_t correlation, bool after)
{
	size_t lo = 0, hi = r->calls.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int64_t c = r->calls.v[mid].correlation;

		if (c < correlation || (after && c == correlation))
			lo = mid + 1;
		else
			hi = mid;
	}
	return (uint32_t)lo;
}

/*
 * A correlation that several calls have (ids are used again, or two processes are in one file): the launch is the
 * last of them that began before the row; none did, as clocks differ: the first.
 */
static uint32_t launch_of(const struct fsc_rows *r, const struct fsc_gpu_row *row)
{
	uint32_t lo = row->first_call, hi = row->first_call + row->n_calls;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (r->calls.v[mid].ts <= row->ts)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo > row->first_call ? lo - 1 : lo;
}

static enum fsc_status resolve_launches(struct collect *c)
{
	struct fsc_rows *r = c->rows;

	if (!fsc_run_sort(r->calls.v, r->calls.n, sizeof(*r->calls.v), call_before))
		return no_memory(c->err);
	for (size_t i = 0; i < r->gpu.n; i++) {
		struct fsc_gpu_row *row = &r->gpu.v[i];
		int64_t correlation = row->launch_ts;

		row->launch_ts = FSC_NO_LAUNCH;
		if (correlation != FSC_NO_CORRELATION) {
			row->first_call = bound(r, correlation, false);
			/* nearly always one: the second search is for what is odd, or hostile */
			uint32_t next = row->first_call + 1;
			bool one =
				next >= r->calls.n || r->calls.v[next].correlation != correlation;
			bool none = row->first_call == r->calls.n ||
				    r->calls.v[row->first_call].correlation != correlation;

			row->n_calls = none  ? 0
				       : one ? 1
					     : bound(r, correlation, true) - row->first_call;
		}
		if (row->n_calls)
			row->launch_ts = r->calls.v[launch_of(r, row)].ts;
		if (row->in_census)
			*(row->n_calls == 1 ? &r->launch.pairs
			  : row->n_calls    ? &r->launch.ambiguous
					    : &r->launch.none) += 1;
	}
	return FSC_OK;
}

enum fsc_status fsc_rows_collect(struct fsc_rows *rows, const struct fsc_seg *s,
				 struct fsc_err *err)
{
	struct collect c = { .rows = rows, .s = s, .err = err };

	memset(rows, 0, sizeof(*rows));
	rows->last_step_start = INT64_MIN;
	enum fsc_status st = classify_names(&c);
	if (st == FSC_OK)
		st = take_tracks(&c);
	if (st == FSC_OK)
		st = settle_steps(&c);
	if (st == FSC_OK)
		st = resolve_launches(&c);
	fsc_step_marks_fini(&c.other);
	fsc_free(c.name_class);
	fsc_vec_fini(&c.marks);
	fsc_vec_fini(&c.gpu_marks);
	fsc_vec_fini(&c.category_class);
	fsc_idmap_fini(&c.category_of);
	fsc_idmap_fini(&c.step_names);
	if (st != FSC_OK)
		fsc_rows_fini(rows);
	return st;
}

void fsc_rows_fini(struct fsc_rows *rows)
{
	fsc_vec_fini(&rows->gpu);
	fsc_vec_fini(&rows->streams);
	fsc_vec_fini(&rows->calls);
	fsc_vec_fini(&rows->steps);
	fsc_vec_fini(&rows->categories);
}

/* ---- scope ---- */

/* The time of the steps A-B, or an error when one of them is not there. */
static enum fsc_status range_windows(struct fsc_spans *windows, const struct fsc_rows *r,
				     const struct fsc_analysis_scope *scope, struct fsc_err *err)
{
	bool first = false, last = false;

	for (size_t i = 0; i < r->steps.n; i++) {
		const struct fsc_step_mark *m = &r->steps.v[i];

		first |= m->number == scope->first;
		last |= m->number == scope->last;
		if (m->number >= scope->first && m->number <= scope->last &&
		    !fsc_spans_add(windows, m->ts, m->end))
			return no_memory(err);
	}
	if (!first || !last)
		return fsc_err_set(err, FSC_ENOTFOUND, "no_such_step", "trace has no step %lld",
				   (long long)(first ? scope->last : scope->first));
	return fsc_spans_normalise(windows) ? FSC_OK : no_memory(err);
}

/* before[i] = how many of the calls before i are in scope; one pass, so that a trace in which everything has the
 * same correlation costs no more than another. NULL: no memory. */
static uint32_t *count_in_scope(const struct fsc_rows *r, const struct fsc_spans *windows)
{
	uint32_t *before = fsc_alloc(r->calls.n + 1, sizeof(*before));

	for (size_t i = 0; before && i < r->calls.n; i++) {
		int64_t ts = r->calls.v[i].ts;
		bool in = windows ? fsc_spans_total_in(windows, ts, fsc_add_i64_sat(ts, 1)) > 0
				  : ts < r->last_step_start;

		before[i + 1] = before[i] + in;
	}
	return before;
}

enum fsc_status fsc_rows_set_scope(struct fsc_rows *r, const struct fsc_analysis_scope *scope,
				   struct fsc_err *err)
{
	bool range = scope->steps == FSC_STEPS_RANGE;
	/* HTA filters only when there are two or more different names */
	bool filter = range || (scope->steps == FSC_STEPS_NO_LAST && r->n_step_names >= 2);
	struct fsc_spans windows = { .v = { 0 } };
	enum fsc_status st = range ? range_windows(&windows, r, scope, err) : FSC_OK;
	uint32_t *before = NULL;

	if (st == FSC_OK && filter) {
		before = count_in_scope(r, range ? &windows : NULL);
		st = before ? FSC_OK : no_memory(err);
	}
	for (size_t i = 0; st == FSC_OK && i < r->gpu.n; i++) {
		struct fsc_gpu_row *row = &r->gpu.v[i];

		row->in_scope =
			!filter || before[row->first_call + row->n_calls] > before[row->first_call];
	}
	fsc_free(before);
	fsc_spans_fini(&windows);
	return st;
}
