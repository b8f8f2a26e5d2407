/* SPDX-License-Identifier: Apache-2.0 */
/* Everything about one slice. */
#include <string.h>

#include "api/deps.h"
#include "api/handlers.h"

#define ANCESTORS_MAX 64
#define LAUNCHES_MAX 100
#define FLOWS_MAX 100
#define SAME_NAME_MAX_SLICES \
	3000000 /* beyond it stepping through a track costs too much for a click */

static void emit_ref_fields(struct fsc_json *j, const struct fsc_seg *s,
			    const struct fsc_seg_slice *x)
{
	fsc_json_kuint(j, "id", x->id);
	fsc_json_kstr(j, "name", fsc_seg_str(s, x->name, NULL));
	fsc_json_kuint(j, "track", x->track);
	fsc_json_kuint(j, "depth", x->depth);
	fsc_json_kstr(j, "kind", fsc_analyses_kind_name(x->kind));
	fsc_json_kint(j, "ts", x->ts);
	fsc_json_kint(j, "dur", x->dur);
}

static void emit_ref(struct fsc_json *j, const struct fsc_seg *s, const struct fsc_seg_slice *x)
{
	fsc_json_obj(j);
	emit_ref_fields(j, s, x);
	fsc_json_obj_end(j);
}

static enum fsc_status emit_self(struct fsc_json *j, const struct fsc_seg *s,
				 const struct fsc_seg_slice *x, struct fsc_err *err)
{
	struct fsc_buf args;
	enum fsc_status st = FSC_OK;

	emit_ref_fields(j, s, x);
	fsc_json_kstr(j, "cat", x->cat ? fsc_seg_str(s, x->cat, NULL) : NULL);
	fsc_json_key(j, "flags");
	fsc_json_obj(j);
	fsc_json_kbool(j, "instant", x->flags & FSC_SLICE_INSTANT);
	fsc_json_kbool(j, "overlap", x->flags & FSC_SLICE_OVERLAP);
	fsc_json_kbool(j, "open", x->flags & FSC_SLICE_OPEN);
	fsc_json_obj_end(j);
	fsc_json_key(j, "args");
	fsc_buf_init(&args, 2u << 20);
	if (x->args != FSC_NO_ARGS)
		st = fsc_seg_args(&args, s, x->args, err);
	if (!st)
		fsc_json_raw(j, args.len ? args.data : "{}", args.len ? args.len : 2);
	fsc_buf_fini(&args);
	if (x->correlation != FSC_NO_CORRELATION)
		fsc_json_kint(j, "correlation", x->correlation);
	return st;
}

static void emit_dims(struct fsc_json *j, const char *key, const int32_t v[3])
{
	if (v[0] < 0)
		return;
	fsc_json_key(j, key);
	fsc_json_arr(j);
	for (int i = 0; i < 3; i++)
		fsc_json_int(j, v[i]);
	fsc_json_arr_end(j);
}

static void opt_float(struct fsc_json *j, const char *key, float v)
{
	if (v >= 0)
		fsc_json_kdouble(j, key, (double)v);
}

static void emit_launch(struct fsc_json *j, const struct fsc_seg *s, uint32_t id)
{
	struct fsc_launch l;

	if (fsc_seg_launch(&l, s, id))
		return;
	fsc_json_key(j, "launch");
	fsc_json_obj(j);
	emit_dims(j, "grid", l.grid);
	emit_dims(j, "block", l.block);
	fsc_api_opt_int(j, "registers", l.registers);
	fsc_api_opt_int(j, "shared_bytes", l.shared_bytes);
	opt_float(j, "blocks_per_sm", l.blocks_per_sm);
	opt_float(j, "warps_per_sm", l.warps_per_sm);
	opt_float(j, "occupancy_pct", l.occupancy_pct);
	fsc_api_opt_int(j, "graph_id", l.graph_id);
	fsc_api_opt_int(j, "graph_node_id", l.graph_node_id);
	fsc_api_opt_int(j, "bytes", l.bytes);
	opt_float(j, "bandwidth_gbs", l.bandwidth_gbs);
	if (l.queued_ns > 0)
		fsc_json_kid(j, "queued_ns", (uint64_t)l.queued_ns);
	fsc_json_obj_end(j);
}

static void opt_seg_str(struct fsc_json *j, const struct fsc_seg *s, const char *key, uint32_t id)
{
	if (id)
		fsc_json_kstr(j, key, fsc_seg_str(s, id, NULL));
}

static void emit_collective(struct fsc_json *j, const struct fsc_seg *s, uint32_t id)
{
	struct fsc_collective c;

	if (fsc_seg_collective(&c, s, id))
		return;
	fsc_json_key(j, "collective");
	fsc_json_obj(j);
	opt_seg_str(j, s, "name", c.name);
	opt_seg_str(j, s, "dtype", c.dtype);
	opt_seg_str(j, s, "group", c.pg_name);
	opt_seg_str(j, s, "group_description", c.pg_desc);
	opt_seg_str(j, s, "group_ranks", c.pg_ranks);
	fsc_api_opt_int(j, "in_elements", c.in_nelems);
	fsc_api_opt_int(j, "out_elements", c.out_nelems);
	fsc_api_opt_int(j, "group_size", c.group_size);
	fsc_api_opt_int(j, "rank", c.rank);
	fsc_api_opt_int(j, "src_rank", c.src_rank);
	fsc_api_opt_int(j, "dst_rank", c.dst_rank);
	fsc_api_opt_int(j, "seq", c.seq);
	fsc_api_opt_int(j, "comms_id", c.comms_id);
	fsc_json_obj_end(j);
}

/* From the innermost outwards. */
static enum fsc_status emit_ancestors(struct fsc_json *j, const struct fsc_seg *s,
				      const struct fsc_seg_slice *x, struct fsc_err *err)
{
	struct fsc_seg_slice at = *x, up;
	enum fsc_status st = FSC_OK;
	int n = 0;

	fsc_json_key(j, "ancestors");
	fsc_json_arr(j);
	while (n++ < ANCESTORS_MAX && !(st = fsc_seg_parent(&up, s, &at, err))) {
		emit_ref(j, s, &up);
		at = up;
	}
	fsc_json_arr_end(j);
	if (st == FSC_ENOTFOUND) {
		fsc_err_clear(err);
		st = FSC_OK;
	}
	if (st || fsc_seg_parent(&up, s, x, err)) {
		fsc_err_clear(err);
		return st;
	}
	fsc_json_key(j, "parent");
	emit_ref(j, s, &up);
	return FSC_OK;
}

/* The call of a GPU slice, the GPU work of a call; delay = start of the GPU work less start of the call. */
static enum fsc_status emit_launches(struct fsc_json *j, const struct fsc_seg *s,
				     const struct fsc_seg_slice *x, struct fsc_err *err)
{
	bool gpu = fsc_kind_is_gpu_work(x->kind);
	uint32_t ids[LAUNCHES_MAX];
	uint32_t total = fsc_seg_correlated(s, x->id, ids, LAUNCHES_MAX);
	uint32_t n = total < LAUNCHES_MAX ? total : LAUNCHES_MAX;
	enum fsc_status st = FSC_OK;

	if (gpu && !n)
		return FSC_OK;
	fsc_json_key(j, gpu ? "launched_by" : "launches");
	if (!gpu)
		fsc_json_arr(j);
	for (uint32_t i = 0; i < (gpu ? 1 : n); i++) {
		struct fsc_seg_slice y;

		st = fsc_seg_slice(&y, s, ids[i], err);
		if (st)
			return st;
		fsc_json_obj(j);
		emit_ref_fields(j, s, &y);
		fsc_json_kint(j, "delay_ns", gpu ? x->ts - y.ts : y.ts - x->ts);
		fsc_json_obj_end(j);
	}
	if (!gpu) {
		fsc_json_arr_end(j);
		fsc_json_kuint(j, "launches_total", total);
	}
	return FSC_OK;
}

static enum fsc_status emit_flows(struct fsc_json *j, const struct fsc_seg *s,
				  const struct fsc_seg_slice *x, struct fsc_err *err)
{
	struct fsc_flow v[FLOWS_MAX];
	uint32_t total = fsc_seg_flows_of(s, x->id, v, FLOWS_MAX);
	uint32_t n = total < FLOWS_MAX ? total : FLOWS_MAX;
	enum fsc_status st = FSC_OK;

	fsc_json_key(j, "flows");
	fsc_json_arr(j);
	for (uint32_t i = 0; i < n && !st; i++) {
		struct fsc_seg_slice y;
		bool out = v[i].from == x->id;

		st = fsc_seg_slice(&y, s, out ? v[i].to : v[i].from, err);
		if (st)
			break;
		fsc_json_obj(j);
		fsc_json_kstr(j, "dir", out ? "out" : "in");
		emit_ref_fields(j, s, &y);
		fsc_json_kstr(j, "cat", fsc_seg_str(s, v[i].cat, NULL));
		fsc_json_obj_end(j);
	}
	fsc_json_arr_end(j);
	fsc_json_kuint(j, "flows_total", total);
	return st;
}

struct neighbours {
	uint64_t count;
	bool has_prev, has_next;
	struct fsc_seg_slice prev, next;
};

static enum fsc_status scan_row(struct neighbours *nb, const struct fsc_seg *s, uint32_t row,
				const struct fsc_seg_slice *x, struct fsc_err *err)
{
	const struct fsc_seg_info *info = fsc_seg_info(s);
	struct fsc_seg_iter it;
	struct fsc_seg_slice y;
	enum fsc_status st = fsc_seg_iter_init(&it, s, row, info->t_min_ns, INT64_MAX, err);

	if (st)
		return st;
	while (!(st = fsc_seg_iter_next(&it, &y, err))) {
		if (y.name != x->name)
			continue;
		nb->count++;
		if (y.id == x->id)
			continue;
		if (y.ts < x->ts || (y.ts == x->ts && y.id < x->id)) {
			if (!nb->has_prev || y.ts >= nb->prev.ts)
				nb->prev = y;
			nb->has_prev = true;
		} else {
			if (!nb->has_next || y.ts < nb->next.ts)
				nb->next = y;
			nb->has_next = true;
		}
	}
	fsc_seg_iter_fini(&it);
	return st == FSC_END ? FSC_OK : st;
}

/* Slices of the same name on the same track: how many, the one before, the one after. */
static enum fsc_status emit_same_name(struct fsc_json *j, const struct fsc_seg *s,
				      const struct fsc_seg_slice *x, struct fsc_err *err)
{
	const struct fsc_seg_track *t = fsc_seg_track(s, x->track);
	struct neighbours nb = { 0 };
	enum fsc_status st = FSC_OK;

	if (t->n_slices > SAME_NAME_MAX_SLICES)
		return FSC_OK;
	for (uint32_t d = 0; d < t->depths && !st; d++)
		st = scan_row(&nb, s, t->first_row + d, x, err);
	if (st)
		return st;
	fsc_json_key(j, "same_name");
	fsc_json_obj(j);
	fsc_json_kuint(j, "count", nb.count);
	if (nb.has_prev) {
		fsc_json_key(j, "prev");
		emit_ref(j, s, &nb.prev);
	}
	if (nb.has_next) {
		fsc_json_key(j, "next");
		emit_ref(j, s, &nb.next);
	}
	fsc_json_obj_end(j);
	return FSC_OK;
}

static enum fsc_status emit_details(struct fsc_json *j, const struct fsc_seg *s,
				    const struct fsc_seg_slice *x, struct fsc_err *err)
{
	enum fsc_status st;

	fsc_json_obj(j);
	st = emit_self(j, s, x, err);
	if (!st) {
		emit_launch(j, s, x->id);
		emit_collective(j, s, x->id);
		st = emit_ancestors(j, s, x, err);
	}
	if (!st)
		st = emit_launches(j, s, x, err);
	if (!st)
		st = emit_flows(j, s, x, err);
	if (!st)
		st = emit_same_name(j, s, x, err);
	fsc_json_obj_end(j);
	return st;
}

static void answer(struct fsc_req *req, struct fsc_resp *resp, const struct fsc_seg *s,
		   const struct fsc_seg_slice *x)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_json j = fsc_resp_json(resp, 200);

	if (emit_details(&j, s, x, &err))
		fsc_api_fail(req, resp, &err);
}

void fsc_api_slice(struct fsc_req *req, struct fsc_resp *resp)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_api_trace t;
	struct fsc_seg_slice x;
	uint64_t id = 0;
	const char *text = fsc_req_path(req, "slice");

	if (!fsc_api_trace_open(&t, req, resp, true))
		return;
	/* Slice 0 exists, unlike id 0 of rows. */
	if ((strcmp(text, "0") != 0 && fsc_req_path_id(&id, req, "slice", &err)) ||
	    id >= t.info->n_slices) {
		fsc_err_clear(&err);
		fsc_err_set(&err, FSC_ENOTFOUND, "no_such_slice", "the trace has no such slice");
		fsc_api_fail(req, resp, &err);
	} else if (fsc_seg_slice(&x, t.seg, (uint32_t)id, &err)) {
		fsc_api_fail(req, resp, &err);
	} else {
		answer(req, resp, t.seg, &x);
	}
	fsc_api_trace_close(&t);
}

/* Tracks may be numbered anew when a trace is indexed again by a newer reader: then what has the start and the name
 * of the permalink is it, if it is the only one. */
static void find_slice(struct fsc_seg_slice *x, const struct fsc_seg *s, int64_t track, int64_t ts,
		       const char *name, struct fsc_err *err)
{
	enum fsc_status st = FSC_ENOTFOUND;

	if (track < fsc_seg_info(s)->n_tracks)
		st = fsc_seg_find(x, s, (uint32_t)track, ts, name, err);
	if (st == FSC_ENOTFOUND) {
		fsc_err_clear(err);
		st = fsc_seg_find_any(x, s, ts, name, err);
	}
	if (st == FSC_ENOTFOUND) {
		fsc_err_clear(err);
		fsc_err_set(err, st, "no_such_slice",
			    "no slice of that name starts there on that track, nor on one other");
	}
}

void fsc_api_slice_find(struct fsc_req *req, struct fsc_resp *resp)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_api_trace t;
	struct fsc_seg_slice x;
	const char *name = fsc_req_param(req, "name");
	int64_t track, ts;

	if (!fsc_api_trace_open(&t, req, resp, true))
		return;
	if (!name || !fsc_req_param(req, "track") || !fsc_req_param(req, "ts"))
		fsc_err_set(&err, FSC_EINVAL, "bad_parameter",
			    "parameters track, ts and name are needed");
	else if (!fsc_req_i64(&track, req, "track", 0, 0, UINT32_MAX, &err) &&
		 !fsc_req_i64(&ts, req, "ts", 0, INT64_MIN, INT64_MAX, &err)) {
		find_slice(&x, t.seg, track, ts, name, &err);
	}
	if (err.status)
		fsc_api_fail(req, resp, &err);
	else
		answer(req, resp, t.seg, &x);
	fsc_api_trace_close(&t);
}
