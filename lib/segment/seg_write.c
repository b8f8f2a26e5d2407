/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a segment: side tables checked, sections in order, then the section table, then the header. */
#include "segment/seg_write.h"

#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/crc.h"
#include "base/fs.h"
#include "segment/write_internal.h"

static enum fsc_status bad(struct fsc_err *err, const char *table, size_t i)
{
	return fsc_err_set(err, FSC_EBUG, "segment_table",
			   "segment: %s %zu breaks an invariant of the trace", table, i);
}

static bool str_ok(const struct fsc_trace *t, uint32_t id)
{
	return id < fsc_strtab_count(t->strings);
}

/* What the reader will insist on: indexes in range and the promised orders. */
static enum fsc_status check_flows_and_counters(const struct fsc_trace *t, struct fsc_err *err)
{
	const struct fsc_flow *f = t->flows.v;

	for (size_t i = 0; i < t->flows.n; i++) {
		if (f[i].from >= t->slices.n || f[i].to >= t->slices.n || !str_ok(t, f[i].cat) ||
		    !str_ok(t, f[i].name))
			return bad(err, "flow", i);
		if (i && (f[i].from < f[i - 1].from ||
			  (f[i].from == f[i - 1].from && f[i].to < f[i - 1].to)))
			return bad(err, "order of flow", i);
	}
	for (size_t k = 0; k < t->tracks.n; k++) {
		const struct fsc_track *tr = &t->tracks.v[k];

		if (tr->kind != FSC_TRACK_COUNTER)
			continue;
		if (tr->first > t->counters.n || tr->n > t->counters.n - tr->first)
			return bad(err, "counter track", k);
		for (size_t i = tr->first; i < (size_t)tr->first + tr->n; i++) {
			if (t->counters.v[i].ts < -FSC_SEG_TIME_MAX ||
			    t->counters.v[i].ts > FSC_SEG_TIME_MAX)
				return fsc_err_set(
					err, FSC_ELIMIT, "time_range",
					"segment: time of counter sample %zu is out of range", i);
			if (i > tr->first && t->counters.v[i].ts < t->counters.v[i - 1].ts)
				return bad(err, "order of counter sample", i);
		}
	}
	return FSC_OK;
}

static enum fsc_status check_typed(const struct fsc_trace *t, struct fsc_err *err)
{
	for (size_t i = 0; i < t->launches.n; i++)
		if (t->launches.v[i].slice >= t->slices.n ||
		    (i && t->launches.v[i].slice <= t->launches.v[i - 1].slice))
			return bad(err, "launch", i);
	for (size_t i = 0; i < t->collectives.n; i++) {
		const struct fsc_collective *c = &t->collectives.v[i];

		if (c->slice >= t->slices.n || (i && c->slice <= c[-1].slice) ||
		    !str_ok(t, c->name) || !str_ok(t, c->dtype) || !str_ok(t, c->pg_name) ||
		    !str_ok(t, c->pg_desc) || !str_ok(t, c->pg_ranks))
			return bad(err, "collective", i);
	}
	for (size_t i = 0; i < t->cats.n; i++)
		if (!str_ok(t, t->cats.v[i]))
			return bad(err, "category", i);
	for (size_t i = 0; i < t->processes.n; i++) {
		const struct fsc_process *p = &t->processes.v[i];

		if (!str_ok(t, p->pid_text) || !str_ok(t, p->name) || !str_ok(t, p->labels))
			return bad(err, "process", i);
	}
	return FSC_OK;
}

static enum fsc_status fill_tracks(struct fsc_seg_writer *w, struct fsc_err *err)
{
	const struct fsc_trace *t = w->t;

	for (size_t i = 0; i < t->tracks.n; i++) {
		const struct fsc_track *f = &t->tracks.v[i];
		struct fsc_seg_d_track d = { .tid = f->tid,
					     .process = f->process,
					     .tid_text = f->tid_text,
					     .name = f->name,
					     .unit = f->unit,
					     .sort_index = f->sort_index,
					     .device = f->device,
					     .context = f->context,
					     .stream = f->stream,
					     .kind = f->kind };

		if (f->process >= t->processes.n || !str_ok(t, f->tid_text) ||
		    !str_ok(t, f->name) || !str_ok(t, f->unit) || f->kind < FSC_TRACK_THREAD ||
		    f->kind > FSC_TRACK_COUNTER)
			return bad(err, "track", i);
		if (f->kind == FSC_TRACK_COUNTER) {
			d.first_counter = f->first;
			d.n_counters = f->n;
		}
		if (!fsc_vec_push(&w->tracks, d))
			return fsc_err_set(err, FSC_ENOMEM, NULL, "segment: no memory for tracks");
	}
	return FSC_OK;
}

static enum fsc_status fill_header(struct fsc_seg_writer *w, const uint8_t blob_sha256[32],
				   struct fsc_err *err)
{
	const struct fsc_trace_meta *m = &w->t->meta;
	struct fsc_seg_d_header *h = &w->h;

	if (!str_ok(w->t, m->format) || !str_ok(w->t, m->job) || !str_ok(w->t, m->host) ||
	    !str_ok(w->t, m->capture) || !str_ok(w->t, m->name) || !str_ok(w->t, m->json))
		return bad(err, "meta string", 0);
	memcpy(h->magic, FSC_SEG_MAGIC, sizeof(h->magic));
	h->major = FSC_SEG_MAJOR;
	h->minor = FSC_SEG_MINOR;
	h->endian = FSC_SEG_ENDIAN;
	h->writer_build = FSC_SEG_WRITER_BUILD;
	if (blob_sha256)
		memcpy(h->blob_sha256, blob_sha256, sizeof(h->blob_sha256));
	h->t_base_ns = m->t_base_ns;
	h->t_min_ns = m->t_min_ns;
	h->t_max_ns = m->t_max_ns;
	h->flags = m->has_epoch ? FSC_SEG_FLAG_EPOCH : 0;
	h->rank = m->rank;
	h->world_size = m->world_size;
	h->format = m->format;
	h->job = m->job;
	h->host = m->host;
	h->capture = m->capture;
	h->name = m->name;
	h->meta_json = m->json;
	h->n_slices = w->t->slices.n;
	h->n_instants = w->t->n_instants;
	h->n_events = w->t->n_events;
	return FSC_OK;
}

static enum fsc_status write_sections(struct fsc_seg_writer *w, struct fsc_err *err)
{
	enum fsc_status st = fsc_seg_w_classes(w, err);

#define THEN(expr) st = st == FSC_OK ? (expr) : st
	THEN(fsc_seg_w_rows(w, err));
	THEN(fsc_seg_w_blocks(w, err));
	THEN(fsc_seg_w_columns(w, err));
	THEN(fsc_seg_w_lod(w, err));
	THEN(fsc_seg_w_track_sums(w, err));
	THEN(fsc_seg_w_cover(w, err));
	THEN(fsc_seg_w_tables(w, err));
	THEN(fsc_seg_w_indexes(w, err));
#undef THEN
	w->h.n_tracks = (uint32_t)w->tracks.n;
	w->h.n_rows = (uint32_t)w->rows.n;
	w->h.n_classes = (uint32_t)w->classes.n;
	w->h.n_blocks = (uint32_t)w->blocks.n;
	w->h.n_escapes = (uint32_t)w->escapes.n;
	return st;
}

/* The section table is not a section; the header is written last, so that a cut file is never valid. */
static enum fsc_status write_ends(struct fsc_seg_writer *w, struct fsc_err *err)
{
	struct fsc_seg_d_header *h = &w->h;
	uint8_t page[FSC_SEG_HEADER_BYTES] = { 0 };
	size_t table = w->out.n_sec * sizeof(w->out.sec[0]);
	enum fsc_status st = fsc_seg_out_flush(&w->out);

	if (st != FSC_OK)
		return st;
	h->n_sections = w->out.n_sec;
	h->table_offset = (w->out.off + FSC_SEG_ALIGN - 1) & ~(uint64_t)(FSC_SEG_ALIGN - 1);
	h->table_crc = fsc_crc32c(0, w->out.sec, table);
	h->file_bytes = h->table_offset + table;
	st = fsc_fs_pwrite_all(w->out.fd, w->out.sec, table, h->table_offset, err);
	if (st != FSC_OK)
		return st;
	memcpy(page, h, sizeof(*h));
	h->header_crc = fsc_crc32c(0, page, sizeof(page));
	memcpy(page, h, sizeof(*h));
	return fsc_fs_pwrite_all(w->out.fd, page, sizeof(page), 0, err);
}

static void fill_stats(struct fsc_seg_write_stats *stats, const struct fsc_seg_writer *w)
{
	memset(stats, 0, sizeof(*stats));
	stats->file_bytes = w->h.file_bytes;
	stats->lod_bytes = w->h.lod_bytes;
	stats->args_bytes = w->h.args_bytes;
	for (uint32_t i = 0; i < w->out.n_sec; i++) {
		const struct fsc_seg_d_section *s = &w->out.sec[i];

		if (s->type >= FSC_SEG_COL_TS && s->type <= FSC_SEG_ESCAPES)
			stats->slice_bytes += s->stored_bytes;
		if (s->type == FSC_SEG_STRING_BYTES || s->type == FSC_SEG_STRING_OFFSETS)
			stats->string_bytes += s->stored_bytes;
	}
}

enum fsc_status fsc_seg_write(int fd, const struct fsc_trace *t, const uint8_t blob_sha256[32],
			      struct fsc_seg_write_stats *stats, struct fsc_err *err)
{
	struct fsc_seg_writer w = { .t = t };
	struct stat sb;
	enum fsc_status st;

	if (fsc_fs_fstat(fd, &sb) || !S_ISREG(sb.st_mode))
		return fsc_err_set(err, FSC_EINVAL, NULL, "segment: output is no regular file");
	fsc_seg_out_init(&w.out, fd, err);
	st = w.out.failed;
#define THEN(expr) st = st == FSC_OK ? (expr) : st
	THEN(check_flows_and_counters(t, err));
	THEN(check_typed(t, err));
	THEN(fill_header(&w, blob_sha256, err));
	THEN(fill_tracks(&w, err));
	THEN(write_sections(&w, err));
	THEN(write_ends(&w, err));
#undef THEN
	if (st == FSC_OK && stats)
		fill_stats(stats, &w);
	fsc_seg_out_fini(&w.out);
	fsc_free(w.cls);
	fsc_vec_fini(&w.classes);
	fsc_vec_fini(&w.tracks);
	fsc_vec_fini(&w.rows);
	fsc_vec_fini(&w.blocks);
	fsc_vec_fini(&w.escapes);
	return st;
}
