/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contents of the tables of a segment, checked once when it is opened: after this every index in them can
 * be followed without another look. Checksums guard against damage, these checks against a hostile writer.
 */
#include <string.h>

#include "base/limits.h"
#include "segment/seg_internal.h"

static enum fsc_status bad(struct fsc_err *err, const char *table, uint64_t i)
{
	return fsc_err_set(err, FSC_ECORRUPT, "segment_table",
			   "segment: entry %llu of table %s is wrong", (unsigned long long)i,
			   table);
}

static bool time_ok(int64_t t)
{
	return t >= -FSC_SEG_TIME_MAX && t <= FSC_SEG_TIME_MAX;
}

static bool str_ok(const struct fsc_seg *s, uint32_t id)
{
	return id < s->h.n_strings;
}

static enum fsc_status check_strings(const struct fsc_seg *s, struct fsc_err *err)
{
	const struct fsc_seg_d_header *h = &s->h;
	uint64_t bytes = s->part[FSC_SEG_STRING_BYTES].bytes;

	if (s->str_off[0] != 0 || s->str_off[h->n_strings] != bytes)
		return bad(err, "strings", 0);
	for (uint32_t i = 0; i < h->n_strings; i++)
		if (s->str_off[i] >= s->str_off[i + 1] || s->str_off[i + 1] > bytes ||
		    s->str_bytes[s->str_off[i + 1] - 1] != '\0')
			return bad(err, "strings", i);
	if (!time_ok(h->t_min_ns) || !time_ok(h->t_max_ns))
		return bad(err, "header times", 0);
	if (!str_ok(s, h->format) || !str_ok(s, h->job) || !str_ok(s, h->host) ||
	    !str_ok(s, h->capture) || !str_ok(s, h->name) || !str_ok(s, h->meta_json))
		return bad(err, "header strings", 0);
	for (uint32_t i = 0; i < h->n_classes; i++)
		if (!str_ok(s, s->classes[i].name) || !str_ok(s, s->classes[i].cat) ||
		    s->classes[i].kind >= FSC_KIND_COUNT)
			return bad(err, "classes", i);
	for (uint32_t i = 0; i < h->n_processes; i++)
		if (!str_ok(s, s->processes[i].pid_text) || !str_ok(s, s->processes[i].name) ||
		    !str_ok(s, s->processes[i].labels))
			return bad(err, "processes", i);
	return FSC_OK;
}

static void load_track(struct fsc_seg_track *to, const struct fsc_seg_d_track *d)
{
	to->kind = d->kind;
	to->process = d->process;
	to->tid = d->tid;
	to->tid_text = d->tid_text;
	to->name = d->name;
	to->unit = d->unit;
	to->sort_index = d->sort_index;
	to->device = d->device;
	to->context = d->context;
	to->stream = d->stream;
	to->first_row = d->first_row;
	to->depths = d->depths;
	to->first_counter = d->first_counter;
	to->n_counters = d->n_counters;
	to->n_slices = d->n_slices;
	to->t_min_ns = d->t_min_ns;
	to->t_max_ns = d->t_max_ns;
	to->busy_ns = d->busy_ns;
	to->main_kind = d->main_kind;
}

static enum fsc_status check_tracks(struct fsc_seg *s, struct fsc_err *err)
{
	const struct fsc_seg_d_track *d = (const void *)s->part[FSC_SEG_TRACKS].p;
	uint32_t next_row = 0;

	for (uint32_t i = 0; i < s->h.n_tracks; i++) {
		uint64_t n = 0;

		if (d[i].kind < FSC_TRACK_THREAD || d[i].kind > FSC_TRACK_COUNTER ||
		    d[i].main_kind >= FSC_KIND_COUNT || d[i].process >= s->h.n_processes ||
		    !str_ok(s, d[i].tid_text) || !str_ok(s, d[i].name) || !str_ok(s, d[i].unit))
			return bad(err, "tracks", i);
		if (d[i].first_row != next_row || d[i].depths > s->h.n_rows - next_row ||
		    d[i].first_counter > s->h.n_counters ||
		    d[i].n_counters > s->h.n_counters - d[i].first_counter)
			return bad(err, "tracks", i);
		for (uint32_t k = 0; k < d[i].depths; k++) {
			const struct fsc_seg_d_row *r = &s->rows[next_row + k];

			if (r->track != i || r->depth != k)
				return bad(err, "rows", next_row + k);
			n += r->n;
		}
		if (n != d[i].n_slices || !time_ok(d[i].t_min_ns) || !time_ok(d[i].t_max_ns) ||
		    d[i].busy_ns < 0 || d[i].busy_ns > 2 * FSC_SEG_TIME_MAX)
			return bad(err, "tracks", i);
		next_row += d[i].depths;
		load_track(&s->tracks[i], &d[i]);
	}
	return next_row == s->h.n_rows ? FSC_OK : bad(err, "rows", next_row);
}

static bool lod_ok(const struct fsc_seg *s, const struct fsc_seg_d_row *r)
{
	struct fsc_seg_lod_shape sh;

	if (r->n < FSC_SEG_LOD_MIN)
		return r->lod_offset == FSC_SEG_NO_OFFSET;
	fsc_seg_lod_shape(&sh, r->n);
	return r->lod_bytes == sh.bytes && r->lod_offset % FSC_SEG_ALIGN == 0 &&
	       r->lod_offset <= s->h.lod_bytes && r->lod_bytes <= s->h.lod_bytes - r->lod_offset;
}

static bool blocks_ok(const struct fsc_seg *s, uint32_t row, uint32_t *next_escape)
{
	const struct fsc_seg_d_row *r = &s->rows[row];
	const struct fsc_seg_d_block *b = s->blocks + r->first_block;
	int64_t end = r->first_ts;

	for (uint32_t k = 0; k < r->n_blocks; k++, b++) {
		uint32_t done = k * FSC_SEG_BLOCK;

		if (b->first_slice != r->first_slice + done || b->row != row ||
		    b->n != (r->n - done < FSC_SEG_BLOCK ? r->n - done : FSC_SEG_BLOCK) ||
		    b->first_escape != *next_escape ||
		    b->n_escapes > s->h.n_escapes - *next_escape || b->first_ts < end ||
		    b->last_end < b->first_ts || (!k && b->first_ts != r->first_ts))
			return false;
		*next_escape += b->n_escapes;
		end = b->last_end;
	}
	return end == r->last_end;
}

static enum fsc_status check_rows(const struct fsc_seg *s, struct fsc_err *err)
{
	uint32_t next_slice = 0, next_block = 0, next_escape = 0;

	for (uint32_t i = 0; i < s->h.n_rows; i++) {
		const struct fsc_seg_d_row *r = &s->rows[i];
		uint32_t blocks = r->n / FSC_SEG_BLOCK + (r->n % FSC_SEG_BLOCK != 0);

		if (r->first_slice != next_slice || r->n > s->info.n_slices - next_slice ||
		    r->first_block != next_block || r->n_blocks != blocks ||
		    blocks > s->h.n_blocks - next_block || !time_ok(r->first_ts) ||
		    !time_ok(r->last_end) || !lod_ok(s, r) || !blocks_ok(s, i, &next_escape))
			return bad(err, "rows", i);
		next_slice += r->n;
		next_block += blocks;
	}
	if (next_slice != s->info.n_slices || next_block != s->h.n_blocks ||
	    next_escape != s->h.n_escapes)
		return bad(err, "rows", s->h.n_rows);
	return FSC_OK;
}

static enum fsc_status check_flows(const struct fsc_seg *s, struct fsc_err *err)
{
	const struct fsc_flow *f = s->flows;

	for (uint32_t i = 0; i < s->h.n_flows; i++) {
		uint32_t k = s->flows_by_to[i];

		if (f[i].from >= s->info.n_slices || f[i].to >= s->info.n_slices ||
		    !str_ok(s, f[i].cat) || !str_ok(s, f[i].name) || k >= s->h.n_flows)
			return bad(err, "flows", i);
		if (i && (f[i].from < f[i - 1].from || f[k].to < f[s->flows_by_to[i - 1]].to))
			return bad(err, "flows", i);
	}
	for (uint32_t i = 0; i < s->h.n_tracks; i++) {
		const struct fsc_counter_sample *c = s->counters + s->tracks[i].first_counter;

		for (uint32_t k = 0; k < s->tracks[i].n_counters; k++)
			if (!time_ok(c[k].ts) || (k && c[k].ts < c[k - 1].ts))
				return bad(err, "counters", s->tracks[i].first_counter + k);
	}
	return FSC_OK;
}

static enum fsc_status check_typed(const struct fsc_seg *s, struct fsc_err *err)
{
	const struct fsc_launch *l = s->launches;
	const struct fsc_collective *c = s->collectives;

	for (uint32_t i = 0; i < s->h.n_launches; i++)
		if (l[i].slice >= s->info.n_slices || (i && l[i].slice <= l[i - 1].slice))
			return bad(err, "launches", i);
	for (uint32_t i = 0; i < s->h.n_collectives; i++)
		if (c[i].slice >= s->info.n_slices || (i && c[i].slice <= c[i - 1].slice) ||
		    !str_ok(s, c[i].name) || !str_ok(s, c[i].dtype) || !str_ok(s, c[i].pg_name) ||
		    !str_ok(s, c[i].pg_desc) || !str_ok(s, c[i].pg_ranks))
			return bad(err, "collectives", i);
	for (uint32_t t = FSC_SEG_CORR_GPU; t <= FSC_SEG_CORR_CALL; t++) {
		const struct fsc_seg_part *p = &s->part[t];
		const struct fsc_seg_d_corr *w = (const void *)p->p;
		const struct fsc_seg_d_corr32 *n = (const void *)p->p;
		bool narrow = p->elem == sizeof(*n);

		if (!narrow && p->elem != sizeof(*w))
			return bad(err, "correlations", 0);
		for (uint64_t i = 0; i < p->bytes / p->elem; i++)
			if ((narrow ? n[i].slice : w[i].slice) >= s->info.n_slices)
				return bad(err, "correlations", i);
	}
	return FSC_OK;
}

static enum fsc_status check_args_blocks(const struct fsc_seg *s, struct fsc_err *err)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < s->h.n_args_blocks; i++) {
		const struct fsc_seg_d_args_block *b = &s->args_blocks[i];

		if (b->first_record != next || b->n_records == 0 ||
		    b->n_records > s->h.n_args - next || b->offset > s->h.args_bytes ||
		    b->stored_bytes > s->h.args_bytes - b->offset ||
		    b->raw_bytes > FSC_ARGS_BLOCK_BYTES + FSC_MAX_ARGS_BYTES + 16)
			return bad(err, "args", i);
		next += b->n_records;
	}
	return next == s->h.n_args ? FSC_OK : bad(err, "args", s->h.n_args_blocks);
}

static bool intervals_ok(const int64_t *t, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (!time_ok(t[i]) || (i && t[i] < t[i - 1]))
			return false;
	return n % 2 == 0;
}

static enum fsc_status check_small(struct fsc_seg *s, struct fsc_err *err)
{
	const struct fsc_loss *l = (const void *)s->part[FSC_SEG_LOSSES].p;
	uint64_t n_sums = s->part[FSC_SEG_COVER_SUMS].bytes / sizeof(uint64_t);

	if (s->h.n_losses > FSC_MAX_LOSS_CODES)
		return bad(err, "losses", s->h.n_losses);
	for (uint32_t i = 0; i < s->h.n_losses; i++) {
		if (!memchr(l[i].code, 0, sizeof(l[i].code)) || l[i].first > INT64_MAX)
			return bad(err, "losses", i);
		s->losses.v[i] = l[i];
	}
	s->losses.n = s->h.n_losses;
	for (uint32_t i = 0; i < s->h.n_covers; i++) {
		const struct fsc_seg_d_cover *c = &s->covers[i];
		int64_t max;

		if (c->group >= FSC_SEG_COVER_GROUPS || c->n_sums < 2 || c->first_sum > n_sums ||
		    c->n_sums > n_sums - c->first_sum || c->form > FSC_SEG_COVER_INTERVALS)
			return bad(err, "covers", i);
		if (c->form == FSC_SEG_COVER_INTERVALS) {
			if (!intervals_ok((const int64_t *)(const void *)s->cover_sums +
						  c->first_sum,
					  c->n_sums))
				return bad(err, "covers", i);
			continue;
		}
		max = c->shift > 61 ? 0 : (FSC_SEG_TIME_MAX >> c->shift) + 1;
		if (!max || c->first_bucket < -max ||
		    c->first_bucket > max - ((int64_t)c->n_sums - 1))
			return bad(err, "covers", i);
	}
	return FSC_OK;
}

enum fsc_status fsc_seg_check_tables(struct fsc_seg *s, struct fsc_err *err)
{
	enum fsc_status st = check_strings(s, err);

	/* Tracks before flows: counters are reached through them. */
	if (st == FSC_OK)
		st = check_rows(s, err);
	if (st == FSC_OK)
		st = check_tracks(s, err);
	if (st == FSC_OK)
		st = check_flows(s, err);
	if (st == FSC_OK)
		st = check_typed(s, err);
	if (st == FSC_OK)
		st = check_args_blocks(s, err);
	if (st == FSC_OK)
		st = check_small(s, err);
	return st;
}
