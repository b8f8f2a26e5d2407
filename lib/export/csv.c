/* SPDX-License-Identifier: Apache-2.0 */
/* The CSV exporter; see the header for its form. */
#include "export/csv.h"

#include <string.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "base/num.h"
#include "export/row_merge.h"

static const char head[] =
	"slice,track,pid,process,tid,thread,device,stream,depth,ts_ns,abs_ts_ns,dur_ns,"
	"name,category,kind,flags,correlation\r\n";

struct csv {
	struct fsc_seg *seg; /* owned reference */
	const struct fsc_seg_info *info;
	int64_t t0, t1;
	struct fsc_row_merge rows;
	bool head_done, rows_open;
	uint32_t track;
	struct fsc_buf who; /* cells of the track, the same in all its rows */
};

static void put_text(struct fsc_buf *b, const char *s, size_t n)
{
	bool quote = n && (memchr(s, '"', n) || memchr(s, ',', n) || memchr(s, '\n', n) ||
			   memchr(s, '\r', n) || *s == ' ' || s[n - 1] == ' ');

	if (quote)
		fsc_buf_addc(b, '"');
	if (n && memchr("=+-@\t\r'", *s, 7))
		fsc_buf_addc(b, '\'');
	for (const char *q; quote && (q = memchr(s, '"', n)) != NULL;) {
		fsc_buf_add(b, s, (size_t)(q + 1 - s));
		fsc_buf_addc(b, '"');
		n -= (size_t)(q + 1 - s);
		s = q + 1;
	}
	fsc_buf_add(b, s, n);
	if (quote)
		fsc_buf_addc(b, '"');
}

/* A text cell and the comma behind it. */
static void put_seg_text(const struct csv *x, struct fsc_buf *b, uint32_t id)
{
	size_t n;
	const char *s = fsc_seg_str(x->seg, id, &n);

	put_text(b, s, n);
	fsc_buf_addc(b, ',');
}

static void put_int(struct fsc_buf *b, int64_t v)
{
	fsc_buf_addi(b, v);
	fsc_buf_addc(b, ',');
}

static void put_id(const struct csv *x, struct fsc_buf *b, int64_t num, uint32_t text)
{
	if (text)
		put_seg_text(x, b, text);
	else
		put_int(b, num);
}

static void put_ordinal(struct fsc_buf *b, int32_t v)
{
	if (v == FSC_NO_ORDINAL)
		fsc_buf_addc(b, ',');
	else
		put_int(b, v);
}

static void track_cells(struct csv *x)
{
	const struct fsc_seg_track *t = fsc_seg_track(x->seg, x->track);
	const struct fsc_seg_process *p = fsc_seg_process(x->seg, t->process);

	fsc_buf_clear(&x->who);
	put_int(&x->who, x->track);
	put_id(x, &x->who, p->pid, p->pid_text);
	put_seg_text(x, &x->who, p->name);
	if (t->kind == FSC_TRACK_ASYNC)
		fsc_buf_addc(&x->who, ',');
	else
		put_id(x, &x->who, t->tid, t->tid_text);
	put_seg_text(x, &x->who, t->name);
	put_ordinal(&x->who, t->device);
	put_ordinal(&x->who, t->stream);
}

static void put_row(struct csv *x, struct fsc_buf *b, const struct fsc_seg_slice *s)
{
	const char *sep = "";

	put_int(b, s->id);
	fsc_buf_add(b, x->who.data, x->who.len);
	put_int(b, s->depth);
	put_int(b, s->ts);
	put_int(b, fsc_add_i64_sat(x->info->t_base_ns, s->ts));
	put_int(b, s->dur);
	put_seg_text(x, b, s->name);
	put_seg_text(x, b, s->cat);
	fsc_buf_adds(b, fsc_kind_name(s->kind));
	fsc_buf_addc(b, ',');
	if (s->flags & FSC_SLICE_OVERLAP) {
		fsc_buf_adds(b, "overlap");
		sep = " ";
	}
	if (s->flags & FSC_SLICE_OPEN) {
		fsc_buf_adds(b, sep);
		fsc_buf_adds(b, "open");
	}
	fsc_buf_addc(b, ',');
	if (s->correlation != FSC_NO_CORRELATION)
		fsc_buf_addi(b, s->correlation);
	fsc_buf_adds(b, "\r\n");
}

static void end_track(struct csv *x)
{
	if (x->rows_open)
		fsc_row_merge_fini(&x->rows);
	x->rows_open = false;
}

static enum fsc_status rows_piece(struct csv *x, struct fsc_buf *b, struct fsc_err *err)
{
	struct fsc_seg_slice s;
	enum fsc_status st = FSC_OK;

	if (!x->rows_open) {
		if (fsc_seg_track(x->seg, x->track)->kind == FSC_TRACK_COUNTER)
			return FSC_END;
		st = fsc_row_merge_init(&x->rows, x->seg, x->track, x->t0, x->t1, err);
		if (st)
			return st;
		x->rows_open = true;
		track_cells(x);
	}
	while (!st && b->len < FSC_EXPORT_PIECE_BYTES) {
		st = fsc_row_merge_next(&x->rows, &s, err);
		if (!st)
			put_row(x, b, &s);
	}
	return st;
}

static enum fsc_status csv_next(struct fsc_export *e, struct fsc_buf *b, struct fsc_err *err)
{
	struct csv *x = (struct csv *)e;
	size_t before = b->len;
	enum fsc_status st = FSC_OK;

	if (!x->head_done)
		fsc_buf_adds(b, head);
	x->head_done = true;
	while (b->len < FSC_EXPORT_PIECE_BYTES && x->track < x->info->n_tracks) {
		st = rows_piece(x, b, err);
		if (st < 0)
			return st;
		if (st == FSC_END) {
			end_track(x);
			x->track++;
		}
	}
	if (fsc_buf_status(&x->who))
		b->failed = fsc_buf_status(&x->who);
	if (fsc_buf_status(b))
		return fsc_err_set(err, fsc_buf_status(b), NULL,
				   "export: row does not fit its buffer");
	return b->len > before ? FSC_OK : FSC_END;
}

static void csv_close(struct fsc_export *e)
{
	struct csv *x = (struct csv *)e;

	if (!x)
		return;
	end_track(x);
	fsc_buf_fini(&x->who);
	fsc_seg_unref(x->seg);
	fsc_free(x);
}

static enum fsc_status csv_open(struct fsc_export **out, struct fsc_seg *seg,
				const struct fsc_export_opts *opts, struct fsc_err *err)
{
	struct csv *x = fsc_xalloc(1, sizeof(*x));
	bool all = opts->t1 <= opts->t0;

	(void)err;
	x->seg = fsc_seg_ref(seg);
	x->info = fsc_seg_info(x->seg);
	x->t0 = all ? INT64_MIN : opts->t0;
	x->t1 = all ? INT64_MAX : opts->t1;
	fsc_buf_init(&x->who, 16 * FSC_MIB);
	*out = (struct fsc_export *)x;
	return FSC_OK;
}

const struct fsc_exporter fsc_export_csv = {
	.name = "csv",
	.mime = "text/csv; charset=utf-8",
	.suffix = ".csv",
	.open = csv_open,
	.next = csv_next,
	.close = csv_close,
};
