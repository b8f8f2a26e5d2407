/* SPDX-License-Identifier: Apache-2.0 */
/* Tracks, slices as columns, flows, aggregates, search, minimap, counters of one trace. */
#include <stdlib.h>
#include <string.h>

#include "api/deps.h"
#include "api/handlers.h"
#include "service/slices.h"

#define FLOWS_MAX 5000
#define AGG_ROWS_MAX 1000
#define SEARCH_MAX 1000
#define STRIP_MAX 4000
#define MINIMAP_MAX 8192
#define PX_MAX 8192
#define COUNTER_POINTS_MAX 400000

/* ---- tracks ---- */

static const char *track_kind_name(uint8_t kind)
{
	static const char *const names[] = { "thread",	   "thread", "stream",
					     "annotation", "async",  "counter" };

	return kind < FSC_ARRAY_LEN(names) ? names[kind] : "thread";
}

static int display_rank(uint8_t kind)
{
	static const int rank[] = { 0, 0, 2, 2, 1, 3 };

	return kind < (int)FSC_ARRAY_LEN(rank) ? rank[kind] : 4;
}

/* Processes by their sort index; in one: threads, async work, streams each below its annotations, counters. */
static int by_display(const void *pa, const void *pb, void *arg)
{
	const struct fsc_seg *s = arg;
	uint32_t ia = *(const uint32_t *)pa, ib = *(const uint32_t *)pb;
	const struct fsc_seg_track *a = fsc_seg_track(s, ia), *b = fsc_seg_track(s, ib);
	const struct fsc_seg_process *p = fsc_seg_process(s, a->process),
				     *q = fsc_seg_process(s, b->process);
	const int64_t ka[] = { p->sort_index,
			       a->process,
			       display_rank(a->kind),
			       a->stream,
			       a->kind != FSC_TRACK_ANNOTATION,
			       a->sort_index,
			       a->tid,
			       ia };
	const int64_t kb[] = { q->sort_index,
			       b->process,
			       display_rank(b->kind),
			       b->stream,
			       b->kind != FSC_TRACK_ANNOTATION,
			       b->sort_index,
			       b->tid,
			       ib };

	for (size_t i = 0; i < FSC_ARRAY_LEN(ka); i++)
		if (ka[i] != kb[i])
			return ka[i] < kb[i] ? -1 : 1;
	return 0;
}

static void emit_id_or_text(struct fsc_json *j, const struct fsc_seg *s, const char *key,
			    int64_t id, uint32_t text)
{
	if (text)
		fsc_json_kstr(j, key, fsc_seg_str(s, text, NULL));
	else
		fsc_json_kint(j, key, id);
}

static void emit_str_id(struct fsc_json *j, const struct fsc_seg *s, const char *key, uint32_t id)
{
	fsc_json_kstr(j, key, id ? fsc_seg_str(s, id, NULL) : NULL);
}

static void emit_ordinal(struct fsc_json *j, const char *key, int32_t v)
{
	fsc_json_key(j, key);
	if (v == FSC_NO_ORDINAL)
		fsc_json_null(j);
	else
		fsc_json_int(j, v);
}

static void emit_process(struct fsc_json *j, const struct fsc_seg *s, uint32_t idx)
{
	const struct fsc_seg_process *p = fsc_seg_process(s, idx);

	fsc_json_obj(j);
	fsc_json_kuint(j, "index", idx);
	emit_id_or_text(j, s, "pid", p->pid, p->pid_text);
	emit_str_id(j, s, "name", p->name);
	emit_str_id(j, s, "labels", p->labels);
	fsc_json_kint(j, "sort_index", p->sort_index);
	fsc_json_obj_end(j);
}

static void emit_track(struct fsc_json *j, const struct fsc_seg *s, uint32_t id)
{
	const struct fsc_seg_track *t = fsc_seg_track(s, id);

	fsc_json_obj(j);
	fsc_json_kuint(j, "id", id);
	fsc_json_kstr(j, "kind", track_kind_name(t->kind));
	fsc_json_kuint(j, "process", t->process);
	emit_id_or_text(j, s, "tid", t->tid, t->tid_text);
	emit_str_id(j, s, "name", t->name);
	emit_ordinal(j, "device", t->device);
	emit_ordinal(j, "context", t->context);
	emit_ordinal(j, "stream", t->stream);
	fsc_json_kuint(j, "depths", t->depths);
	fsc_json_kuint(j, "slices", t->n_slices);
	fsc_json_kint(j, "t_min_ns", t->t_min_ns);
	fsc_json_kint(j, "t_max_ns", t->t_max_ns);
	fsc_json_kint(j, "busy_ns", t->busy_ns);
	fsc_json_kstr(j, "main_kind", fsc_analyses_kind_name(t->main_kind));
	if (t->kind == FSC_TRACK_COUNTER) {
		emit_str_id(j, s, "unit", t->unit);
		fsc_json_kuint(j, "samples", t->n_counters);
	}
	fsc_json_obj_end(j);
}

void fsc_api_tracks(struct fsc_req *req, struct fsc_resp *resp)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_api_trace t;
	struct fsc_json j;
	uint32_t *ids, n;

	if (!fsc_api_trace_open(&t, req, resp, true))
		return;
	if (fsc_api_track_list(req, &t, false, UINT32_MAX, &ids, &n, &err)) {
		fsc_api_fail(req, resp, &err);
		goto out;
	}
	if (n)
		qsort_r(ids, n, sizeof(*ids), by_display, t.seg);
	j = fsc_resp_json(resp, 200);
	fsc_json_obj(&j);
	fsc_json_key(&j, "processes");
	fsc_json_arr(&j);
	for (uint32_t i = 0; i < t.info->n_processes; i++)
		emit_process(&j, t.seg, i);
	fsc_json_arr_end(&j);
	fsc_json_key(&j, "tracks");
	fsc_json_arr(&j);
	for (uint32_t i = 0; i < n; i++)
		emit_track(&j, t.seg, ids[i]);
	fsc_json_arr_end(&j);
	fsc_json_obj_end(&j);
out:
	fsc_api_trace_close(&t);
}

/* ---- slices ---- */

void fsc_api_slices(struct fsc_req *req, struct fsc_resp *resp)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_api_trace t;
	uint32_t *tracks, n;
	int64_t t0, t1, px;

	if (!fsc_api_trace_open(&t, req, resp, true))
		return;
	if (fsc_api_window(req, &t, &t0, &t1, &err) ||
	    fsc_req_i64(&px, req, "px", 1000, 1, PX_MAX, &err) ||
	    fsc_api_track_list(req, &t, true, FSC_SLICES_MAX_TRACKS, &tracks, &n, &err) ||
	    fsc_slices_columns(&resp->body, t.seg, tracks, n, t0, t1, (uint32_t)px, &err))
		fsc_api_fail(req, resp, &err);
	else
		resp->content_type = "application/vnd.fleetscope.slices";
	fsc_api_trace_close(&t);
}

/* ---- flows ---- */

static void emit_end(struct fsc_json *j, const char *key, const struct fsc_seg_slice *x)
{
	fsc_json_key(j, key);
	fsc_json_obj(j);
	fsc_json_kuint(j, "id", x->id);
	fsc_json_kuint(j, "track", x->track);
	fsc_json_kuint(j, "depth", x->depth);
	fsc_json_kint(j, "ts", x->ts);
	fsc_json_kint(j, "dur", x->dur);
	fsc_json_obj_end(j);
}

static void emit_flow_list(struct fsc_resp *resp, const struct fsc_seg *s,
			   const struct fsc_seg_flow_list *l)
{
	struct fsc_json j = fsc_resp_json(resp, 200);

	fsc_json_obj(&j);
	fsc_json_key(&j, "items");
	fsc_json_arr(&j);
	for (size_t i = 0; i < l->v.n; i++) {
		fsc_json_obj(&j);
		emit_end(&j, "from", &l->v.v[i].from);
		emit_end(&j, "to", &l->v.v[i].to);
		fsc_json_kstr(&j, "cat", fsc_seg_str(s, l->v.v[i].cat, NULL));
		fsc_json_obj_end(&j);
	}
	fsc_json_arr_end(&j);
	fsc_json_kbool(&j, "truncated", l->truncated);
	fsc_json_obj_end(&j);
}

void fsc_api_flows(struct fsc_req *req, struct fsc_resp *resp)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_seg_flow_list list = { 0 };
	struct fsc_api_trace t;
	int64_t t0, t1, limit = 0;

	if (!fsc_api_trace_open(&t, req, resp, true))
		return;
	if (fsc_api_window(req, &t, &t0, &t1, &err) ||
	    fsc_req_i64(&limit, req, "limit", 2000, 1, FLOWS_MAX, &err) ||
	    fsc_seg_flows_in(&list, t.seg, t0, t1, (uint32_t)limit, &err))
		fsc_api_fail(req, resp, &err);
	else
		emit_flow_list(resp, t.seg, &list);
	fsc_seg_flow_list_fini(&list);
	fsc_api_trace_close(&t);
}

/* ---- aggregate ---- */

static enum fsc_status parse_by(const struct fsc_req *req, enum fsc_agg_by *by, struct fsc_err *err)
{
	const char *s = fsc_req_param(req, "by");

	*by = FSC_AGG_NAME;
	if (!s || !*s || !strcmp(s, "name"))
		return FSC_OK;
	*by = !strcmp(s, "kind") ? FSC_AGG_KIND : FSC_AGG_TRACK;
	if (*by == FSC_AGG_TRACK && strcmp(s, "track") != 0)
		return fsc_err_set(err, FSC_EINVAL, "bad_parameter",
				   "parameter by is name, kind or track");
	return FSC_OK;
}

static void emit_agg_row(struct fsc_json *j, const struct fsc_seg *s,
			 const struct fsc_seg_agg_row *r, enum fsc_agg_by by)
{
	fsc_json_obj(j);
	if (by == FSC_AGG_NAME)
		fsc_json_kstr(j, "key", fsc_seg_str(s, r->key, NULL));
	else if (by == FSC_AGG_KIND)
		fsc_json_kstr(j, "key", fsc_analyses_kind_name((uint8_t)r->key));
	else
		fsc_json_kuint(j, "key", r->key);
	fsc_json_kstr(j, "kind", fsc_analyses_kind_name(r->kind));
	fsc_json_kuint(j, "count", r->count);
	fsc_json_kint(j, "total_ns", r->total_ns);
	fsc_json_kint(j, "self_ns", r->self_ns);
	fsc_json_kint(j, "mean_ns", r->count ? r->total_ns / (int64_t)r->count : 0);
	fsc_json_kint(j, "min_ns", r->min_ns);
	fsc_json_kint(j, "max_ns", r->max_ns);
	fsc_json_obj_end(j);
}

static void emit_agg_other(struct fsc_json *j, const struct fsc_seg_agg *a)
{
	uint64_t count = 0;
	int64_t total = 0;

	if (a->v.n <= AGG_ROWS_MAX)
		return;
	for (size_t i = AGG_ROWS_MAX; i < a->v.n; i++) {
		count += a->v.v[i].count;
		total += a->v.v[i].total_ns;
	}
	fsc_json_key(j, "other");
	fsc_json_obj(j);
	fsc_json_kuint(j, "keys", a->v.n - AGG_ROWS_MAX);
	fsc_json_kuint(j, "count", count);
	fsc_json_kint(j, "total_ns", total);
	fsc_json_obj_end(j);
}

/* GPU work that ran while other GPU work of the asked tracks ran: its sum less its union. */
static int64_t overlap(const struct fsc_seg_agg *a)
{
	int64_t sum = 0;

	for (size_t i = 0; i < a->v.n; i++)
		if (fsc_kind_is_gpu_work(a->v.v[i].kind))
			sum += a->v.v[i].total_ns;
	return sum > a->busy_ns ? sum - a->busy_ns : 0;
}

static void emit_aggregate(struct fsc_resp *resp, const struct fsc_seg *s,
			   const struct fsc_seg_agg *a, enum fsc_agg_by by, int64_t t0, int64_t t1)
{
	struct fsc_json j = fsc_resp_json(resp, 200);

	fsc_json_obj(&j);
	fsc_json_kint(&j, "t0", t0);
	fsc_json_kint(&j, "t1", t1);
	fsc_json_kuint(&j, "count", a->count);
	fsc_json_kint(&j, "total_ns", a->total_ns);
	fsc_json_kint(&j, "busy_ns", a->busy_ns);
	fsc_json_kint(&j, "overlap_ns", overlap(a));
	fsc_json_key(&j, "rows");
	fsc_json_arr(&j);
	for (size_t i = 0; i < a->v.n && i < AGG_ROWS_MAX; i++)
		emit_agg_row(&j, s, &a->v.v[i], by);
	fsc_json_arr_end(&j);
	emit_agg_other(&j, a);
	fsc_json_kbool(&j, "truncated", a->v.n > AGG_ROWS_MAX);
	fsc_json_obj_end(&j);
}

void fsc_api_aggregate(struct fsc_req *req, struct fsc_resp *resp)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_api_trace t;
	struct fsc_seg_agg agg = { 0 };
	enum fsc_agg_by by;
	uint32_t *tracks, n;
	int64_t t0, t1;

	if (!fsc_api_trace_open(&t, req, resp, true))
		return;
	if (fsc_api_window(req, &t, &t0, &t1, &err) || parse_by(req, &by, &err) ||
	    fsc_api_track_list(req, &t, false, t.info->n_tracks, &tracks, &n, &err) ||
	    fsc_seg_aggregate(&agg, t.seg, tracks, n, t0, t1, by, &err))
		fsc_api_fail(req, resp, &err);
	else
		emit_aggregate(resp, t.seg, &agg, by, t0, t1);
	fsc_seg_agg_fini(&agg);
	fsc_api_trace_close(&t);
}

/* ---- search ---- */

static void emit_hits(struct fsc_resp *resp, const struct fsc_seg *s, const struct fsc_seg_hits *h)
{
	struct fsc_json j = fsc_resp_json(resp, 200);

	fsc_json_obj(&j);
	fsc_json_kuint(&j, "total", h->total);
	fsc_json_key(&j, "hits");
	fsc_json_arr(&j);
	for (size_t i = 0; i < h->v.n; i++) {
		const struct fsc_seg_slice *x = &h->v.v[i];

		fsc_json_obj(&j);
		fsc_json_kuint(&j, "id", x->id);
		fsc_json_kuint(&j, "track", x->track);
		fsc_json_kuint(&j, "depth", x->depth);
		fsc_json_kstr(&j, "name", fsc_seg_str(s, x->name, NULL));
		fsc_json_kstr(&j, "kind", fsc_analyses_kind_name(x->kind));
		fsc_json_kint(&j, "ts", x->ts);
		fsc_json_kint(&j, "dur", x->dur);
		fsc_json_obj_end(&j);
	}
	fsc_json_arr_end(&j);
	fsc_json_key(&j, "strip");
	fsc_json_arr(&j);
	for (uint32_t i = 0; i < h->n_strip; i++)
		fsc_json_uint(&j, h->strip[i]);
	fsc_json_arr_end(&j);
	fsc_json_kbool(&j, "truncated", h->total > h->v.n);
	fsc_json_obj_end(&j);
}

void fsc_api_search(struct fsc_req *req, struct fsc_resp *resp)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_api_trace t;
	struct fsc_seg_hits hits = { 0 };
	const char *q = fsc_req_param(req, "q");
	int64_t t0, t1, limit = 0, strip = 0;

	if (!fsc_api_trace_open(&t, req, resp, true))
		return;
	if (!q || !*q || strlen(q) > 500)
		fsc_err_set(&err, FSC_EINVAL, "bad_parameter",
			    "parameter q is a text of 1 to 500 bytes");
	else if (!fsc_api_window(req, &t, &t0, &t1, &err) &&
		 !fsc_req_i64(&limit, req, "limit", 200, 1, SEARCH_MAX, &err) &&
		 !fsc_req_i64(&strip, req, "strip", 0, 0, STRIP_MAX, &err) &&
		 !fsc_seg_search(&hits, t.seg, q, t0, t1, (uint32_t)limit, (uint32_t)strip, &err))
		emit_hits(resp, t.seg, &hits);
	if (err.status)
		fsc_api_fail(req, resp, &err);
	fsc_seg_hits_fini(&hits);
	fsc_api_trace_close(&t);
}

/* ---- minimap ---- */

static void emit_permille(struct fsc_json *j, const char *key, const int64_t *busy, uint32_t n,
			  double whole)
{
	fsc_json_key(j, key);
	fsc_json_arr(j);
	for (uint32_t i = 0; i < n; i++)
		fsc_json_int(j, (int64_t)((double)busy[i] * 1000.0 / whole + 0.5));
	fsc_json_arr_end(j);
}

void fsc_api_minimap(struct fsc_req *req, struct fsc_resp *resp)
{
	static const char *const keys[] = { "compute", "comm", "copy", "other" };
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_api_trace t;
	struct fsc_json j;
	int64_t *busy = NULL, t0, t1, n = 0;
	double whole;

	if (!fsc_api_trace_open(&t, req, resp, true))
		return;
	if (fsc_api_window(req, &t, &t0, &t1, &err) ||
	    fsc_req_i64(&n, req, "n", 1000, 1, MINIMAP_MAX, &err))
		goto fail;
	busy = fsc_arena_alloc(&t.arena, 4 * (size_t)n, sizeof(*busy));
	if (!busy || fsc_seg_minimap(busy, t.seg, t0, t1, (uint32_t)n, &err))
		goto fail;
	whole = (double)(t1 - t0) / (double)n * (t.info->n_devices ? t.info->n_devices : 1);
	j = fsc_resp_json(resp, 200);
	fsc_json_obj(&j);
	fsc_json_kint(&j, "t0", t0);
	fsc_json_kint(&j, "t1", t1);
	fsc_json_kint(&j, "n", n);
	for (size_t k = 0; k < FSC_ARRAY_LEN(keys); k++)
		emit_permille(&j, keys[k], busy + k * (size_t)n, (uint32_t)n, whole);
	fsc_json_obj_end(&j);
	fsc_api_trace_close(&t);
	return;
fail:
	fsc_api_fail(req, resp, &err);
	fsc_api_trace_close(&t);
}

/* ---- counters ---- */

enum counter_column { COUNTER_MIN, COUNTER_MAX, COUNTER_LAST };

static void emit_values(struct fsc_json *j, const char *key, const struct fsc_seg_counter_points *p,
			enum counter_column which)
{
	fsc_json_key(j, key);
	fsc_json_arr(j);
	for (size_t i = 0; i < p->v.n; i++)
		fsc_json_double(j, which == COUNTER_MIN	  ? p->v.v[i].min
				   : which == COUNTER_MAX ? p->v.v[i].max
							  : p->v.v[i].last);
	fsc_json_arr_end(j);
}

static void emit_counter(struct fsc_json *j, uint32_t track, const struct fsc_seg_counter_points *p)
{
	fsc_json_obj(j);
	fsc_json_kuint(j, "track", track);
	fsc_json_key(j, "t");
	fsc_json_arr(j);
	for (size_t i = 0; i < p->v.n; i++)
		fsc_json_int(j, p->v.v[i].t);
	fsc_json_arr_end(j);
	emit_values(j, "min", p, COUNTER_MIN);
	emit_values(j, "max", p, COUNTER_MAX);
	emit_values(j, "last", p, COUNTER_LAST);
	fsc_json_obj_end(j);
}

void fsc_api_counters(struct fsc_req *req, struct fsc_resp *resp)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_seg_counter_points points = { 0 };
	struct fsc_api_trace t;
	struct fsc_json j;
	uint32_t *tracks, n = 0;
	int64_t t0, t1, px = 0;

	if (!fsc_api_trace_open(&t, req, resp, true))
		return;
	if (fsc_api_window(req, &t, &t0, &t1, &err) ||
	    fsc_req_i64(&px, req, "px", 1000, 1, PX_MAX, &err) ||
	    fsc_api_track_list(req, &t, true, FSC_SLICES_MAX_TRACKS, &tracks, &n, &err))
		goto out;
	if ((uint64_t)px * n > COUNTER_POINTS_MAX)
		px = COUNTER_POINTS_MAX / n; /* fewer, wider pixels: still every extreme is in */
	j = fsc_resp_json(resp, 200);
	fsc_json_obj(&j);
	fsc_json_key(&j, "tracks");
	fsc_json_arr(&j);
	for (uint32_t i = 0; i < n; i++) {
		if (fsc_seg_counters_minmax(&points, t.seg, tracks[i], t0, t1, (uint32_t)px, &err))
			goto out;
		emit_counter(&j, tracks[i], &points);
		fsc_seg_counter_points_fini(&points);
	}
	fsc_json_arr_end(&j);
	fsc_json_obj_end(&j);
out:
	if (err.status)
		fsc_api_fail(req, resp, &err);
	fsc_seg_counter_points_fini(&points);
	fsc_api_trace_close(&t);
}
