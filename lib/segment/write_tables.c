/* SPDX-License-Identifier: Apache-2.0 */
/* The tables that go into a segment as the trace holds them: names, processes, tracks, side tables, args. */
#include <string.h>

#include "segment/write_internal.h"

static enum fsc_status write_strings(struct fsc_seg_writer *w, struct fsc_err *err)
{
	const struct fsc_strtab *tab = w->t->strings;
	uint32_t n = fsc_strtab_count(tab);
	FSC_VEC(uint32_t) off = { 0 };
	uint32_t at = 0;
	enum fsc_status st;

	if ((uint64_t)fsc_strtab_bytes(tab) + n >= UINT32_MAX)
		return fsc_err_set(err, FSC_ELIMIT, "string_bytes", "segment: strings pass 4 GiB");
	if (!fsc_vec_reserve(&off, (size_t)n + 1))
		return fsc_err_set(err, FSC_ENOMEM, NULL, "segment: no memory for %u strings", n);
	fsc_seg_out_begin(&w->out, FSC_SEG_STRING_BYTES, 1);
	for (uint32_t i = 0; i < n; i++) {
		size_t len;
		const char *s = fsc_strtab_get(tab, i, &len);

		off.v[i] = at;
		fsc_seg_out_add(&w->out, s, len + 1);
		at += (uint32_t)len + 1;
	}
	off.v[n] = at;
	st = fsc_seg_out_end(&w->out);
	if (st == FSC_OK)
		st = fsc_seg_out_array(&w->out, FSC_SEG_STRING_OFFSETS, sizeof(*off.v), off.v,
				       (uint64_t)n + 1);
	fsc_vec_fini(&off);
	w->h.n_strings = n;
	return st;
}

static enum fsc_status write_processes(struct fsc_seg_writer *w)
{
	fsc_seg_out_begin(&w->out, FSC_SEG_PROCESSES, sizeof(struct fsc_seg_d_process));
	for (size_t i = 0; i < w->t->processes.n; i++) {
		const struct fsc_process *p = &w->t->processes.v[i];
		struct fsc_seg_d_process d = { .pid = p->pid,
					       .pid_text = p->pid_text,
					       .name = p->name,
					       .labels = p->labels,
					       .sort_index = p->sort_index };

		fsc_seg_out_add(&w->out, &d, sizeof(d));
	}
	w->h.n_processes = (uint32_t)w->t->processes.n;
	return fsc_seg_out_end(&w->out);
}

/* Copies launches field by field, so that padding bytes are zero and files are reproducible. */
static enum fsc_status write_launches(struct fsc_seg_writer *w)
{
	fsc_seg_out_begin(&w->out, FSC_SEG_LAUNCHES, sizeof(struct fsc_launch));
	for (size_t i = 0; i < w->t->launches.n; i++) {
		const struct fsc_launch *l = &w->t->launches.v[i];
		struct fsc_launch d;

		memset(&d, 0, sizeof(d));
		d.slice = l->slice;
		memcpy(d.grid, l->grid, sizeof(d.grid));
		memcpy(d.block, l->block, sizeof(d.block));
		d.registers = l->registers;
		d.shared_bytes = l->shared_bytes;
		d.queued_ns = l->queued_ns;
		d.blocks_per_sm = l->blocks_per_sm;
		d.warps_per_sm = l->warps_per_sm;
		d.occupancy_pct = l->occupancy_pct;
		d.graph_id = l->graph_id;
		d.graph_node_id = l->graph_node_id;
		d.bytes = l->bytes;
		d.bandwidth_gbs = l->bandwidth_gbs;
		fsc_seg_out_add(&w->out, &d, sizeof(d));
	}
	w->h.n_launches = (uint32_t)w->t->launches.n;
	return fsc_seg_out_end(&w->out);
}

static enum fsc_status write_losses(struct fsc_seg_writer *w)
{
	w->h.n_losses = w->t->losses.n;
	return fsc_seg_out_array(&w->out, FSC_SEG_LOSSES, sizeof(struct fsc_loss), w->t->losses.v,
				 w->t->losses.n);
}

static enum fsc_status write_args(struct fsc_seg_writer *w)
{
	const struct fsc_args *a = w->t->args;
	const struct fsc_args_block *b = NULL;
	const uint8_t *bytes = NULL;
	uint32_t n = 0;
	enum fsc_status st;

	if (a) {
		b = fsc_args_blocks(a, &n);
		bytes = fsc_args_bytes(a, &w->h.args_bytes);
		w->h.n_args = fsc_args_count(a);
	}
	w->h.n_args_blocks = n;
	st = fsc_seg_out_array(&w->out, FSC_SEG_ARGS_DATA, 1, bytes, w->h.args_bytes);
	if (st != FSC_OK)
		return st;
	fsc_seg_out_begin(&w->out, FSC_SEG_ARGS_BLOCKS, sizeof(struct fsc_seg_d_args_block));
	for (uint32_t i = 0; i < n; i++) {
		struct fsc_seg_d_args_block d = { .offset = b[i].offset,
						  .first_record = b[i].first_record,
						  .n_records = b[i].n_records,
						  .raw_bytes = b[i].raw_bytes,
						  .stored_bytes = b[i].stored_bytes,
						  .crc = b[i].crc };

		fsc_seg_out_add(&w->out, &d, sizeof(d));
	}
	return fsc_seg_out_end(&w->out);
}

enum fsc_status fsc_seg_w_tables(struct fsc_seg_writer *w, struct fsc_err *err)
{
	const struct fsc_trace *t = w->t;
	struct fsc_seg_out *o = &w->out;
	enum fsc_status st = write_strings(w, err);

#define THEN(expr) st = st == FSC_OK ? (expr) : st
	THEN(write_processes(w));
	THEN(fsc_seg_out_array(o, FSC_SEG_TRACKS, sizeof(*w->tracks.v), w->tracks.v, w->tracks.n));
	THEN(fsc_seg_out_array(o, FSC_SEG_ROWS, sizeof(*w->rows.v), w->rows.v, w->rows.n));
	THEN(fsc_seg_out_array(o, FSC_SEG_BLOCKS, sizeof(*w->blocks.v), w->blocks.v, w->blocks.n));
	THEN(fsc_seg_out_array(o, FSC_SEG_CLASSES, sizeof(*w->classes.v), w->classes.v,
			       w->classes.n));
	THEN(fsc_seg_out_array(o, FSC_SEG_FLOWS, sizeof(*t->flows.v), t->flows.v, t->flows.n));
	THEN(fsc_seg_out_array(o, FSC_SEG_COUNTERS, sizeof(*t->counters.v), t->counters.v,
			       t->counters.n));
	THEN(write_launches(w));
	THEN(fsc_seg_out_array(o, FSC_SEG_COLLECTIVES, sizeof(*t->collectives.v), t->collectives.v,
			       t->collectives.n));
	THEN(write_losses(w));
	THEN(write_args(w));
#undef THEN
	w->h.n_collectives = (uint32_t)t->collectives.n;
	w->h.n_flows = (uint32_t)t->flows.n;
	w->h.n_counters = (uint32_t)t->counters.n;
	return st;
}
