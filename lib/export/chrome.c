/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Chrome JSON exporter's walk: top-level keys, names of processes and threads, then track by track in the order
 * of the segment, each track's rows merged in time order. See chrome.h for the mapping.
 */
#include "export/chrome.h"

#include "base/alloc.h"
#include "base/json_scan.h"
#include "base/num.h"
#include "export/chrome_internal.h"

enum { ARGS_BLOCKS_KEPT = 32 };

static enum fsc_status put_args(struct cj *x, struct fsc_buf *b, const struct fsc_seg_slice *s,
				struct fsc_err *err)
{
	bool column = s->correlation != FSC_NO_CORRELATION;
	struct fsc_json_member m;
	const char *json = "{}";
	size_t n = 2;

	if (s->args != FSC_NO_ARGS) {
		enum fsc_status st = fsc_seg_args_lru_get(&json, &n, x->args, s->args, err);

		if (st)
			return st;
	}
	if (column && n > 2 && fsc_json_find(&m, json, n, "correlation"))
		column = false;
	if (n <= 2 && !column)
		return FSC_OK;
	fsc_buf_adds(b, ",\"args\":");
	fsc_buf_add(b, json, column ? n - 1 : n);
	if (column) { /* its args were too big to keep, or the format has it elsewhere */
		fsc_buf_adds(b, n > 2 ? ",\"correlation\":" : "\"correlation\":");
		fsc_buf_addi(b, s->correlation);
		fsc_buf_addc(b, '}');
	}
	return FSC_OK;
}

static void put_name(struct cj *x, struct fsc_buf *b, uint32_t name, uint32_t cat)
{
	if (cat)
		fsc_cj_seg_string(x, b, ",\"cat\":", cat);
	fsc_cj_seg_string(x, b, ",\"name\":", name);
	fsc_buf_add(b, x->who.data, x->who.len);
}

static void put_time(struct fsc_buf *b, const char *key, int64_t ns)
{
	fsc_buf_adds(b, key);
	fsc_cj_us(b, ns);
}

static enum fsc_status thread_slice(struct cj *x, struct fsc_buf *b, const struct fsc_seg_slice *s,
				    struct fsc_err *err)
{
	bool instant = s->flags & FSC_SLICE_INSTANT, open = s->flags & FSC_SLICE_OPEN;
	enum fsc_status st;

	fsc_cj_event(x, b, instant ? 'i' : open ? 'B' : 'X');
	put_name(x, b, s->name, s->cat);
	put_time(b, ",\"ts\":", s->ts);
	if (instant)
		fsc_buf_adds(b, s->flags & FSC_SLICE_SCOPE_GLOBAL    ? ",\"s\":\"g\""
				: s->flags & FSC_SLICE_SCOPE_PROCESS ? ",\"s\":\"p\""
								     : ",\"s\":\"t\"");
	else if (!open)
		put_time(b, ",\"dur\":", s->dur);
	st = put_args(x, b, s, err);
	fsc_buf_addc(b, '}');
	if (st)
		return st;
	return fsc_cj_flows_of(x, b, s, err);
}

/* ---- async: one id a track, begins and ends matched by name from the innermost ---- */

static void put_async_id(struct cj *x, struct fsc_buf *b)
{
	fsc_buf_adds(b, ",\"id\":");
	fsc_buf_addu(b, (uint64_t)x->track + 1);
}

static void close_until(struct cj *x, struct fsc_buf *b, int64_t ts)
{
	for (;;) {
		size_t best = SIZE_MAX;
		struct cj_open o;

		for (size_t i = 0; i < x->open.n; i++)
			if (x->open.v[i].end <= ts &&
			    (best == SIZE_MAX || x->open.v[i].end <= x->open.v[best].end))
				best = i;
		if (best == SIZE_MAX)
			return;
		o = x->open.v[best];
		for (size_t i = best + 1; i < x->open.n; i++)
			x->open.v[i - 1] = x->open.v[i];
		x->open.n--;
		fsc_cj_event(x, b, 'e');
		put_name(x, b, o.name, o.cat);
		put_async_id(x, b);
		put_time(b, ",\"ts\":", o.end);
		fsc_buf_addc(b, '}');
	}
}

static enum fsc_status async_slice(struct cj *x, struct fsc_buf *b, const struct fsc_seg_slice *s,
				   struct fsc_err *err)
{
	struct cj_open o = { fsc_add_i64_sat(s->ts, s->dur), s->name, s->cat };
	enum fsc_status st;

	close_until(x, b, s->ts);
	fsc_cj_event(x, b, s->flags & FSC_SLICE_INSTANT ? 'n' : 'b');
	put_name(x, b, s->name, s->cat);
	put_async_id(x, b);
	put_time(b, ",\"ts\":", s->ts);
	fsc_cj_async_flow(x, b, s->id);
	st = put_args(x, b, s, err);
	fsc_buf_addc(b, '}');
	if (st || s->flags & (FSC_SLICE_INSTANT | FSC_SLICE_OPEN))
		return st;
	return fsc_vec_push(&x->open, o)
		       ? FSC_OK
		       : fsc_err_set(err, FSC_ENOMEM, NULL, "export: no memory for open slices");
}

/* ---- pieces ---- */

static enum fsc_status slices_piece(struct cj *x, struct fsc_buf *b, struct fsc_err *err)
{
	bool async = fsc_seg_track(x->seg, x->track)->kind == FSC_TRACK_ASYNC;
	struct fsc_seg_slice s;
	enum fsc_status st = FSC_OK;
	int64_t next;

	while (b->len < FSC_EXPORT_PIECE_BYTES) {
		st = fsc_row_merge_next(&x->rows, &s, err);
		if (st)
			break;
		st = async ? async_slice(x, b, &s, err) : thread_slice(x, b, &s, err);
		if (st)
			break;
		if (x->waiting.n)
			fsc_cj_flows_until(x, b,
					   fsc_row_merge_peek(&x->rows, &next) ? next : INT64_MAX);
	}
	if (st == FSC_END && async)
		close_until(x, b, INT64_MAX);
	return st;
}

static enum fsc_status counter_piece(struct cj *x, struct fsc_buf *b)
{
	uint32_t n;
	const struct fsc_counter_sample *v = fsc_seg_counters(x->seg, x->track, &n);

	if (fsc_cj_is_derived(x, fsc_seg_track(x->seg, x->track)))
		return FSC_END;
	for (; x->counter < n && b->len < FSC_EXPORT_PIECE_BYTES; x->counter++)
		if (v[x->counter].ts >= x->t0 && v[x->counter].ts < x->t1)
			fsc_cj_sample(x, b, &v[x->counter]);
	return x->counter < n ? FSC_OK : FSC_END;
}

static enum fsc_status start_track(struct cj *x, struct fsc_err *err)
{
	const struct fsc_seg_track *t = fsc_seg_track(x->seg, x->track);
	enum fsc_status st = FSC_OK;

	if (t->kind != FSC_TRACK_COUNTER) {
		st = fsc_row_merge_init(&x->rows, x->seg, x->track, x->t0, x->t1, err);
		if (st)
			return st;
		x->rows_open = true;
	}
	fsc_buf_clear(&x->who);
	fsc_cj_who(x, &x->who, x->track);
	x->counter = 0;
	x->n_rows = 0;
	x->last_ts = INT64_MIN;
	x->in_track = true;
	return FSC_OK;
}

static void end_track(struct cj *x)
{
	if (x->rows_open)
		fsc_row_merge_fini(&x->rows);
	x->open.n = 0;
	x->waiting.n = 0;
	x->rows_open = false;
	x->in_track = false;
	x->track++;
}

static void names_piece(struct cj *x, struct fsc_buf *b)
{
	if (!x->head_done)
		fsc_cj_head(x, b);
	x->head_done = true;
	for (; x->process < x->info->n_processes && b->len < FSC_EXPORT_PIECE_BYTES; x->process++)
		fsc_cj_name_process(x, b, x->process);
	for (; x->process == x->info->n_processes && x->named < x->info->n_tracks &&
	       b->len < FSC_EXPORT_PIECE_BYTES;
	     x->named++)
		fsc_cj_name_track(x, b, x->named);
}

static enum fsc_status chrome_next(struct fsc_export *e, struct fsc_buf *b, struct fsc_err *err)
{
	struct cj *x = (struct cj *)e;
	size_t before = b->len;
	enum fsc_status st = FSC_OK;

	if (x->named < x->info->n_tracks || !x->head_done)
		names_piece(x, b);
	while (st >= 0 && b->len < FSC_EXPORT_PIECE_BYTES && x->track < x->info->n_tracks) {
		st = x->in_track ? FSC_OK : start_track(x, err);
		if (!st)
			st = fsc_seg_track(x->seg, x->track)->kind == FSC_TRACK_COUNTER
				     ? counter_piece(x, b)
				     : slices_piece(x, b, err);
		if (st == FSC_END)
			end_track(x);
	}
	if (st < 0)
		return st;
	if (x->track == x->info->n_tracks && !x->tail_done) {
		fsc_buf_adds(b, "\n]}\n");
		x->tail_done = true;
	}
	if (fsc_buf_status(&x->who))
		b->failed = fsc_buf_status(&x->who);
	if (fsc_buf_status(b))
		return fsc_err_set(err, fsc_buf_status(b), NULL,
				   "export: event does not fit its buffer");
	return b->len > before ? FSC_OK : FSC_END;
}

static void chrome_close(struct fsc_export *e)
{
	struct cj *x = (struct cj *)e;

	if (!x)
		return;
	end_track(x);
	fsc_vec_fini(&x->open);
	fsc_vec_fini(&x->waiting);
	fsc_flow_ends_fini(&x->flows);
	fsc_buf_fini(&x->who);
	fsc_seg_args_lru_free(x->args);
	fsc_seg_unref(x->seg);
	fsc_free(x);
}

static enum fsc_status chrome_open(struct fsc_export **out, struct fsc_seg *seg,
				   const struct fsc_export_opts *opts, struct fsc_err *err)
{
	struct cj *x = fsc_xalloc(1, sizeof(*x));
	enum fsc_status st;

	/* the reference is the segment itself; what was given may be an asker's view, which ends before us */
	seg = x->seg = fsc_seg_ref(seg);
	x->info = fsc_seg_info(seg);
	x->all = opts->t1 <= opts->t0;
	x->t0 = x->all ? INT64_MIN : opts->t0;
	x->t1 = x->all ? INT64_MAX : opts->t1;
	fsc_buf_init(&x->who, 8 * FSC_MIB);
	x->args = fsc_seg_args_lru_new(seg, ARGS_BLOCKS_KEPT);
	st = x->args ? fsc_flow_ends_init(&x->flows, seg, err)
		     : fsc_err_set(err, FSC_ENOMEM, NULL, "export: no memory for args");
	if (st) {
		chrome_close((struct fsc_export *)x);
		return st;
	}
	*out = (struct fsc_export *)x;
	return FSC_OK;
}

const struct fsc_exporter fsc_export_chrome = {
	.name = "chrome",
	.mime = "application/json",
	.suffix = ".json",
	.open = chrome_open,
	.next = chrome_next,
	.close = chrome_close,
};
