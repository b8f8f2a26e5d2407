/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Perfetto exporter's walk: a preamble with the processes, then one packet sequence per track. A track's
 * rows (depths) are merged in time order; host slices become BEGIN/END pairs on nesting lanes, GPU work one
 * render-stage packet each. See perfetto.h for the mapping and its source.
 */
#include "export/perfetto.h"

#include "base/alloc.h"
#include "base/limits.h"
#include "export/pb.h"
#include "export/perfetto_args.h"
#include "export/perfetto_internal.h"

int64_t fsc_export_perfetto_base_ns(const struct fsc_seg *seg)
{
	const struct fsc_seg_info *info = fsc_seg_info(seg);
	int64_t first = fsc_add_i64_sat(info->t_base_ns, info->t_min_ns < 0 ? info->t_min_ns : 0);

	return first < 0 ? fsc_sub_i64_sat(info->t_base_ns, first) : info->t_base_ns;
}

static void preamble(struct pf *x, struct fsc_buf *out)
{
	fsc_pf_seq_start(&x->seq, out, abs_ts(x, 0), 0);
	for (uint32_t i = 0; i < x->info->n_processes; i++)
		fsc_pf_describe_process(x, out, i);
	x->preamble_done = true;
}

static void dim3(struct fsc_buf *b, uint32_t field, const int32_t v[3])
{
	size_t m;

	if (v[0] < 0)
		return;
	m = pb_begin(b, field);
	for (uint32_t i = 0; i < 3; i++)
		pb_int(b, i + 1, v[i]);
	pb_end(b, m);
}

static enum fsc_status args_of(struct pf *x, const struct fsc_seg_slice *s, const char **json,
			       size_t *n, struct fsc_err *err)
{
	*n = 0;
	if (s->args == FSC_NO_ARGS)
		return FSC_OK;
	return fsc_seg_args_lru_get(json, n, x->args, s->args, err);
}

static bool is_gpu_work(struct pf *x, uint32_t slice)
{
	struct fsc_seg_slice s;

	return !fsc_seg_slice(&s, x->seg, slice, NULL) && fsc_kind_is_gpu_work(s.kind);
}

/* Ids of the GPU work whose arrows end here: what this slice waited for. */
static void awaited_ids(struct pf *x, uint32_t field, uint32_t slice)
{
	const struct fsc_flow_ends *e = &x->flows;

	for (size_t i = fsc_flow_ends_first_in(e, slice);
	     i < e->ins.n && e->ins.v[i].slice == slice; i++) {
		uint32_t from = e->flows[e->ins.v[i].flow].from;

		if (is_gpu_work(x, from))
			pb_uint(&x->seq.body, field, (uint64_t)from + 1);
	}
}

static enum fsc_status gpu_event(struct pf *x, struct fsc_buf *out, const struct fsc_seg_slice *s,
				 struct fsc_err *err)
{
	const struct fsc_seg_track *t = fsc_seg_track(x->seg, s->track);
	bool copy = s->kind == FSC_KIND_MEMCPY, set = s->kind == FSC_KIND_MEMSET, typed;
	struct fsc_buf *b = &x->seq.body;
	struct fsc_launch launch;
	const char *json;
	size_t n, m;
	enum fsc_status st = args_of(x, s, &json, &n, err);

	if (st)
		return st;
	fsc_pf_intern_stream(x);
	pb_uint(b, 1, (uint64_t)s->id + 1);
	pb_uint(b, 2, (uint64_t)s->dur);
	pb_uint(b, 5, 1);
	if (t->device != FSC_NO_ORDINAL)
		pb_int(b, 11, t->device);
	pb_uint(b, 13, QUEUE_BASE + x->track);
	pb_uint(b, 14, copy ? STAGE_MEMCPY : set ? STAGE_MEMSET : STAGE_KERNEL);
	if (!copy && !set)
		pb_uint(b, 19,
			fsc_pf_intern_seg(&x->seq, PF_COMPUTE_KERNELS, &x->seq.seen_kernel,
					  s->name));
	awaited_ids(x, 18, s->id);
	pb_uint(b, 20, fsc_pf_intern_seg(&x->seq, PF_EVENT_NAMES, &x->seq.seen_name, s->name));
	m = pb_begin(b, 21);
	typed = !fsc_seg_launch(&launch, x->seg, s->id) && launch.grid[0] >= 0;
	if (typed) {
		dim3(b, 1, launch.grid);
		dim3(b, 2, launch.block);
	}
	if (n)
		fsc_pf_launch_args(&x->seq, 3, json, n, typed);
	pb_end(b, m);
	fsc_pf_seq_event(&x->seq, out, abs_ts(x, s->ts), PKT_GPU_RENDER_STAGE);
	return FSC_OK;
}

static void end_event(struct pf *x, struct fsc_buf *out, uint32_t lane, int64_t ts)
{
	pb_uint(&x->seq.body, 9, TYPE_END);
	if (lane)
		pb_uint(&x->seq.body, 11, track_uuid(x->track, lane));
	fsc_pf_seq_event(&x->seq, out, abs_ts(x, ts), PKT_TRACK_EVENT);
}

/* Closes, in time order over all lanes, every slice that ends at or before ts. */
static void close_until(struct pf *x, struct fsc_buf *out, int64_t ts)
{
	for (;;) {
		struct lane *best = NULL;

		for (size_t i = 0; i < x->lanes.n; i++) {
			struct lane *l = &x->lanes.v[i];

			if (l->ends.n && l->ends.v[l->ends.n - 1] <= ts &&
			    (!best || l->ends.v[l->ends.n - 1] < best->ends.v[best->ends.n - 1]))
				best = l;
		}
		if (!best)
			return;
		end_event(x, out, (uint32_t)(best - x->lanes.v), best->ends.v[best->ends.n - 1]);
		best->ends.n--;
	}
}

/* The first lane where [ts, end) nests; a new one (described first) when there is none. */
static enum fsc_status place(uint32_t *lane, struct pf *x, struct fsc_buf *out, int64_t end,
			     struct fsc_err *err)
{
	struct lane fresh = { 0 };
	size_t i;

	for (i = 0; i < x->lanes.n; i++) {
		const struct lane *l = &x->lanes.v[i];

		if (!l->ends.n || l->ends.v[l->ends.n - 1] >= end)
			break;
	}
	if (i == MAX_LANES)
		return fsc_err_set(err, FSC_ELIMIT, NULL,
				   "export: more than %d slices overlap on one track", MAX_LANES);
	if (i == x->lanes.n) {
		if (!fsc_vec_push(&x->lanes, fresh))
			return fsc_err_set(err, FSC_ENOMEM, NULL, "export: no memory for lanes");
		if (i)
			fsc_pf_describe_track(x, out, (uint32_t)i);
	}
	if (!fsc_vec_push(&x->lanes.v[i].ends, end))
		return fsc_err_set(err, FSC_ENOMEM, NULL, "export: no memory for lanes");
	*lane = (uint32_t)i;
	return FSC_OK;
}

/* Ids of flows between host slices that start or end here. */
static void flow_ids(struct pf *x, uint32_t slice)
{
	const struct fsc_flow_ends *e = &x->flows;

	for (uint32_t i = fsc_flow_ends_first_out(e, slice); i < e->n && e->flows[i].from == slice;
	     i++)
		if (!is_gpu_work(x, e->flows[i].to))
			pb_fixed64(&x->seq.body, 47, (uint64_t)i + 1);
	for (size_t i = fsc_flow_ends_first_in(e, slice);
	     i < e->ins.n && e->ins.v[i].slice == slice; i++)
		if (!is_gpu_work(x, e->flows[e->ins.v[i].flow].from))
			pb_fixed64(&x->seq.body, 48, (uint64_t)e->ins.v[i].flow + 1);
}

/* Ids of the GPU work to which arrows lead from here, other than the work of the same correlation. */
static void pointed_ids(struct pf *x, const struct fsc_seg_slice *s)
{
	const struct fsc_flow_ends *e = &x->flows;
	struct fsc_seg_slice to;

	for (uint32_t i = fsc_flow_ends_first_out(e, s->id); i < e->n && e->flows[i].from == s->id;
	     i++)
		if (!fsc_seg_slice(&to, x->seg, e->flows[i].to, NULL) &&
		    fsc_kind_is_gpu_work(to.kind) &&
		    (to.correlation != s->correlation || s->correlation == FSC_NO_CORRELATION))
			pb_uint(&x->seq.body, 1, (uint64_t)to.id + 1);
}

/* The GPU work that a call launched, by their common correlation; a graph launch can have thousands. */
static enum fsc_status launched(uint32_t *n, struct pf *x, const struct fsc_seg_slice *s,
				struct fsc_err *err)
{
	*n = 0;
	if (s->correlation == FSC_NO_CORRELATION)
		return FSC_OK;
	*n = fsc_seg_correlated(x->seg, s->id, x->ids.v, (uint32_t)x->ids.cap);
	if (*n > x->ids.cap) {
		if (!fsc_vec_reserve(&x->ids, *n))
			return fsc_err_set(err, FSC_ENOMEM, NULL,
					   "export: no memory for %u launched ids", *n);
		*n = fsc_seg_correlated(x->seg, s->id, x->ids.v, (uint32_t)x->ids.cap);
	}
	return FSC_OK;
}

/* gpu_correlation: links between a slice of the host and GPU work. */
static enum fsc_status gpu_links(struct pf *x, const struct fsc_seg_slice *s, struct fsc_err *err)
{
	uint32_t n;
	size_t m, before = x->seq.body.len;
	enum fsc_status st = launched(&n, x, s, err);

	if (st)
		return st;
	m = pb_begin(&x->seq.body, 3000);
	for (uint32_t i = 0; i < n; i++)
		pb_uint(&x->seq.body, 1, (uint64_t)x->ids.v[i] + 1);
	pointed_ids(x, s);
	awaited_ids(x, 2, s->id);
	if (x->seq.body.len > m)
		pb_end(&x->seq.body, m);
	else
		x->seq.body.len = before; /* nothing to tell */
	return FSC_OK;
}

static enum fsc_status host_event(struct pf *x, struct fsc_buf *out, const struct fsc_seg_slice *s,
				  struct fsc_err *err)
{
	bool instant = s->flags & FSC_SLICE_INSTANT;
	struct fsc_buf *b = &x->seq.body;
	const char *json;
	uint32_t lane = 0;
	size_t n;
	enum fsc_status st;

	close_until(x, out, s->ts);
	st = instant ? FSC_OK : place(&lane, x, out, fsc_add_i64_sat(s->ts, s->dur), err);
	if (!st)
		st = args_of(x, s, &json, &n, err);
	if (st)
		return st;
	pb_uint(b, 9, instant ? TYPE_INSTANT : TYPE_BEGIN);
	if (lane)
		pb_uint(b, 11, track_uuid(x->track, lane));
	if (s->cat)
		pb_uint(b, 3,
			fsc_pf_intern_seg(&x->seq, PF_EVENT_CATEGORIES, &x->seq.seen_cat, s->cat));
	pb_uint(b, 10, fsc_pf_intern_seg(&x->seq, PF_EVENT_NAMES, &x->seq.seen_name, s->name));
	flow_ids(x, s->id);
	st = gpu_links(x, s, err);
	if (st)
		return st;
	if (n)
		fsc_pf_annotations(&x->seq, 4, json, n);
	fsc_pf_seq_event(&x->seq, out, abs_ts(x, s->ts), PKT_TRACK_EVENT);
	return FSC_OK;
}

static enum fsc_status counter_piece(struct pf *x, struct fsc_buf *out)
{
	uint32_t n;
	const struct fsc_counter_sample *v = fsc_seg_counters(x->seg, x->track, &n);

	for (; x->counter < n && out->len < FSC_EXPORT_PIECE_BYTES; x->counter++) {
		const struct fsc_counter_sample *c = &v[x->counter];

		if (c->ts < x->t0 || c->ts >= x->t1)
			continue;
		pb_uint(&x->seq.body, 9, TYPE_COUNTER);
		pb_double(&x->seq.body, 44, c->value);
		fsc_pf_seq_event(&x->seq, out, abs_ts(x, c->ts), PKT_TRACK_EVENT);
	}
	return x->counter < n ? FSC_OK : FSC_END;
}

static enum fsc_status slices_piece(struct pf *x, struct fsc_buf *out, struct fsc_err *err)
{
	bool gpu = fsc_seg_track(x->seg, x->track)->kind == FSC_TRACK_STREAM;
	struct fsc_seg_slice s;
	enum fsc_status st = FSC_OK;

	while (out->len < FSC_EXPORT_PIECE_BYTES) {
		st = fsc_row_merge_next(&x->rows, &s, err);
		if (st)
			break;
		st = gpu ? gpu_event(x, out, &s, err) : host_event(x, out, &s, err);
		if (st)
			break;
	}
	if (st == FSC_END)
		close_until(x, out, INT64_MAX);
	return st;
}

/* First time of the track inside the window, for its clock; false when the track has nothing there. */
static bool first_time(struct pf *x, int64_t *ts)
{
	uint32_t n;
	const struct fsc_counter_sample *v;

	if (fsc_seg_track(x->seg, x->track)->kind != FSC_TRACK_COUNTER)
		return fsc_row_merge_peek(&x->rows, ts);
	v = fsc_seg_counters(x->seg, x->track, &n);
	for (uint32_t i = 0; i < n; i++) {
		if (v[i].ts >= x->t0 && v[i].ts < x->t1) {
			*ts = v[i].ts;
			return true;
		}
	}
	return false;
}

static enum fsc_status start_track(struct pf *x, struct fsc_buf *out, struct fsc_err *err)
{
	const struct fsc_seg_track *t = fsc_seg_track(x->seg, x->track);
	enum fsc_status st = FSC_OK;
	int64_t first;

	if (t->kind != FSC_TRACK_COUNTER) {
		st = fsc_row_merge_init(&x->rows, x->seg, x->track, x->t0, x->t1, err);
		if (st)
			return st;
		x->rows_open = true;
	}
	x->counter = 0;
	x->in_track = first_time(x, &first);
	if (!x->in_track)
		return FSC_END;
	fsc_pf_seq_start(&x->seq, out, abs_ts(x, first),
			 t->kind == FSC_TRACK_STREAM ? 0 : track_uuid(x->track, 0));
	if (t->kind != FSC_TRACK_STREAM)
		fsc_pf_describe_track(x, out, 0);
	return FSC_OK;
}

static void end_track(struct pf *x)
{
	if (x->rows_open)
		fsc_row_merge_fini(&x->rows);
	for (size_t i = 0; i < x->lanes.n; i++)
		fsc_vec_fini(&x->lanes.v[i].ends);
	x->lanes.n = 0;
	x->rows_open = false;
	x->in_track = false;
	x->track++;
}

static enum fsc_status perfetto_next(struct fsc_export *e, struct fsc_buf *out, struct fsc_err *err)
{
	struct pf *x = (struct pf *)e;
	size_t before = out->len;
	enum fsc_status st = FSC_OK;

	if (!x->preamble_done)
		preamble(x, out);
	while (st >= 0 && out->len < FSC_EXPORT_PIECE_BYTES && x->track < x->info->n_tracks) {
		st = x->in_track ? FSC_OK : start_track(x, out, err);
		if (!st)
			st = fsc_seg_track(x->seg, x->track)->kind == FSC_TRACK_COUNTER
				     ? counter_piece(x, out)
				     : slices_piece(x, out, err);
		if (st == FSC_END)
			end_track(x);
	}
	if (st < 0)
		return st;
	if (fsc_buf_status(out))
		return fsc_err_set(err, fsc_buf_status(out), NULL,
				   "export: packet does not fit its buffer");
	return out->len > before ? FSC_OK : FSC_END;
}

static void perfetto_close(struct fsc_export *e)
{
	struct pf *x = (struct pf *)e;

	if (!x)
		return;
	end_track(x);
	fsc_vec_fini(&x->lanes);
	fsc_flow_ends_fini(&x->flows);
	fsc_vec_fini(&x->ids);
	fsc_seg_args_lru_free(x->args);
	fsc_pf_seq_fini(&x->seq);
	fsc_seg_unref(x->seg);
	fsc_free(x);
}

static enum fsc_status perfetto_open(struct fsc_export **out, struct fsc_seg *seg,
				     const struct fsc_export_opts *opts, struct fsc_err *err)
{
	struct pf *x = fsc_xalloc(1, sizeof(*x));
	bool all = opts->t1 <= opts->t0;
	enum fsc_status st;

	/* the reference is the segment itself; what was given may be an asker's view, which ends before us */
	seg = x->seg = fsc_seg_ref(seg);
	x->info = fsc_seg_info(seg);
	x->t0 = all ? INT64_MIN : opts->t0;
	x->t1 = all ? INT64_MAX : opts->t1;
	x->base = fsc_export_perfetto_base_ns(seg);
	x->args = fsc_seg_args_lru_new(seg, ARGS_BLOCKS_KEPT);
	st = fsc_pf_seq_init(&x->seq, seg, err);
	if (!st && !x->args)
		st = fsc_err_set(err, FSC_ENOMEM, NULL, "export: no memory for args");
	if (!st)
		st = fsc_flow_ends_init(&x->flows, seg, err);
	if (st) {
		perfetto_close((struct fsc_export *)x);
		return st;
	}
	*out = (struct fsc_export *)x;
	return FSC_OK;
}

const struct fsc_exporter fsc_export_perfetto = {
	.name = "perfetto",
	.mime = "application/octet-stream",
	.suffix = ".pftrace",
	.open = perfetto_open,
	.next = perfetto_next,
	.close = perfetto_close,
};
