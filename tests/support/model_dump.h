/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A finished trace as text, every field that a reader sets, one line for each thing: for golden tests. Args come from
 * the segment that was written of it.
 */
#ifndef FSC_TESTS_SUPPORT_MODEL_DUMP_H
#define FSC_TESTS_SUPPORT_MODEL_DUMP_H

#include "segment/seg_read.h"
#include "tests/support/read_trace.h"

/* Text of the file in quotes; what would break a line is written as \xHH. */
static inline void dump_str(FILE *f, const struct fsc_trace *t, const char *key, uint32_t id)
{
	size_t n;
	const char *s = fsc_strtab_get(t->strings, id, &n);

	if (!id)
		return;
	fprintf(f, " %s=\"", key);
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)s[i] < ' ' || s[i] == '"' || s[i] == '\\')
			fprintf(f, "\\x%02X", (unsigned char)s[i]);
		else
			fputc(s[i], f);
	fputc('"', f);
}

static inline void dump_int(FILE *f, const char *key, int64_t v, int64_t absent)
{
	if (v != absent)
		fprintf(f, " %s=%lld", key, (long long)v);
}

static inline void dump_who(FILE *f, const struct fsc_trace *t)
{
	static const char *const kinds[] = { "?",	   "thread", "stream",
					     "annotation", "async",  "counter" };

	for (size_t i = 0; i < t->processes.n; i++) {
		const struct fsc_process *p = &t->processes.v[i];

		fprintf(f, "process %zu pid=%lld", i, (long long)p->pid);
		dump_str(f, t, "pid_text", p->pid_text);
		dump_str(f, t, "name", p->name);
		dump_str(f, t, "labels", p->labels);
		dump_int(f, "sort", p->sort_index, 0);
		fputc('\n', f);
	}
	for (size_t i = 0; i < t->tracks.n; i++) {
		const struct fsc_track *k = &t->tracks.v[i];

		fprintf(f, "track %zu %s process=%u", i, kinds[k->kind], k->process);
		dump_int(f, "tid", k->tid, -1);
		dump_str(f, t, "tid_text", k->tid_text);
		dump_str(f, t, "name", k->name);
		dump_str(f, t, "unit", k->unit);
		dump_int(f, "sort", k->sort_index, 0);
		dump_int(f, "device", k->device, FSC_NO_ORDINAL);
		dump_int(f, "context", k->context, FSC_NO_ORDINAL);
		dump_int(f, "stream", k->stream, FSC_NO_ORDINAL);
		fprintf(f, " n=%u rows=%u\n", k->n, k->depths);
	}
}

static inline void dump_slice_args(FILE *f, const struct fsc_seg *seg, uint32_t record)
{
	struct fsc_buf b = FSC_BUF_INIT(4u << 20);
	struct fsc_err err = FSC_ERR_INIT;

	if (record == FSC_NO_ARGS)
		return;
	if (fsc_seg_args(&b, seg, record, &err) != FSC_OK)
		fail_msg("args: %s", err.msg);
	fprintf(f, " args=%.*s", (int)b.len, b.data);
	fsc_buf_fini(&b);
}

static inline void dump_slices(FILE *f, const struct fsc_trace *t, const struct fsc_seg *seg)
{
	const struct fsc_slices *s = &t->slices;

	for (uint32_t i = 0; i < s->n; i++) {
		fprintf(f, "slice %u track=%u row=%u ts=%lld dur=%lld %s", i, s->track[i],
			s->depth[i], (long long)s->ts[i], (long long)s->dur[i],
			fsc_kind_name(s->kind[i]));
		dump_str(f, t, "name", s->name[i]);
		dump_str(f, t, "cat", t->cats.v[s->cat[i]]);
		dump_int(f, "correlation", s->correlation[i], FSC_NO_CORRELATION);
		fprintf(f, "%s%s%s%s%s", s->flags[i] & FSC_SLICE_INSTANT ? " instant" : "",
			s->flags[i] & FSC_SLICE_SCOPE_PROCESS ? " of_process" : "",
			s->flags[i] & FSC_SLICE_SCOPE_GLOBAL ? " global" : "",
			s->flags[i] & FSC_SLICE_OVERLAP ? " overlap" : "",
			s->flags[i] & FSC_SLICE_OPEN ? " open" : "");
		dump_slice_args(f, seg, s->args[i]);
		fputc('\n', f);
	}
}

static inline void dump_launch(FILE *f, const struct fsc_launch *l)
{
	fprintf(f, "launch slice=%u grid=%d,%d,%d block=%d,%d,%d", l->slice, l->grid[0], l->grid[1],
		l->grid[2], l->block[0], l->block[1], l->block[2]);
	dump_int(f, "registers", l->registers, -1);
	dump_int(f, "shared", l->shared_bytes, -1);
	dump_int(f, "queued", l->queued_ns, 0);
	dump_int(f, "graph", l->graph_id, -1);
	dump_int(f, "node", l->graph_node_id, -1);
	dump_int(f, "bytes", l->bytes, -1);
	if (l->bandwidth_gbs >= 0)
		fprintf(f, " bandwidth=%g", (double)l->bandwidth_gbs);
	if (l->blocks_per_sm >= 0)
		fprintf(f, " blocks_per_sm=%g", (double)l->blocks_per_sm);
	if (l->warps_per_sm >= 0)
		fprintf(f, " warps_per_sm=%g", (double)l->warps_per_sm);
	if (l->occupancy_pct >= 0)
		fprintf(f, " occupancy=%g", (double)l->occupancy_pct);
	fputc('\n', f);
}

static inline void dump_links(FILE *f, const struct fsc_trace *t)
{
	for (size_t i = 0; i < t->flows.n; i++) {
		fprintf(f, "flow %u -> %u", t->flows.v[i].from, t->flows.v[i].to);
		dump_str(f, t, "cat", t->flows.v[i].cat);
		dump_str(f, t, "name", t->flows.v[i].name);
		fputc('\n', f);
	}
	for (size_t k = 0; k < t->tracks.n; k++)
		for (uint32_t i = 0;
		     t->tracks.v[k].kind == FSC_TRACK_COUNTER && i < t->tracks.v[k].n; i++) {
			const struct fsc_counter_sample *c =
				&t->counters.v[t->tracks.v[k].first + i];

			fprintf(f, "counter track=%zu ts=%lld %.17g\n", k, (long long)c->ts,
				c->value);
		}
	for (size_t i = 0; i < t->launches.n; i++)
		dump_launch(f, &t->launches.v[i]);
	for (size_t i = 0; i < t->collectives.n; i++) {
		const struct fsc_collective *c = &t->collectives.v[i];

		fprintf(f, "collective slice=%u", c->slice);
		dump_str(f, t, "name", c->name);
		dump_str(f, t, "dtype", c->dtype);
		dump_str(f, t, "pg", c->pg_name);
		dump_str(f, t, "pg_desc", c->pg_desc);
		dump_str(f, t, "ranks", c->pg_ranks);
		dump_int(f, "in", c->in_nelems, -1);
		dump_int(f, "out", c->out_nelems, -1);
		dump_int(f, "size", c->group_size, -1);
		dump_int(f, "rank", c->rank, -1);
		dump_int(f, "src", c->src_rank, -1);
		dump_int(f, "dst", c->dst_rank, -1);
		dump_int(f, "seq", c->seq, -1);
		dump_int(f, "comm", c->comms_id, -1);
		fputc('\n', f);
	}
}

static inline void dump_model(FILE *f, const struct fsc_trace *t, const struct fsc_seg *seg)
{
	const struct fsc_trace_meta *m = &t->meta;

	fprintf(f, "trace%s", m->has_epoch ? " epoch" : "");
	dump_str(f, t, "format", m->format);
	dump_int(f, "t_base", m->t_base_ns, INT64_MIN);
	dump_int(f, "t_min", m->t_min_ns, INT64_MIN);
	dump_int(f, "t_max", m->t_max_ns, INT64_MIN);
	dump_int(f, "rank", m->rank, -1);
	dump_int(f, "world", m->world_size, -1);
	dump_str(f, t, "job", m->job);
	dump_str(f, t, "host", m->host);
	dump_str(f, t, "capture", m->capture);
	dump_str(f, t, "name", m->name);
	fprintf(f, " events=%llu\n", (unsigned long long)t->n_events);
	fputs("meta", f);
	dump_str(f, t, "json", m->json);
	fputc('\n', f);
	for (uint32_t i = 0; i < t->losses.n; i++) {
		fprintf(f, "loss %s %llu", t->losses.v[i].code,
			(unsigned long long)t->losses.v[i].count);
		dump_int(f, "first_at", fsc_loss_offset(&t->losses.v[i]), -1);
		fputc('\n', f);
	}
	dump_who(f, t);
	dump_slices(f, t, seg);
	dump_links(f, t);
}

#endif
