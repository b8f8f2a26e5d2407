/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU samples (profile_packet.proto). The model has no table of samples: each is an instant on its thread, named by
 * the innermost function, with the whole stack in its args, outermost first.
 */
#include <string.h>

#include "base/json_copy.h"
#include "formats/perfetto_int.h"

static void put_frame(struct pft *p, const char *s, size_t n, bool *any)
{
	fsc_buf_adds(&p->args, *any ? "," : "");
	*any = true;
	fsc_json_copy_text(&p->args, s, n);
}

/* The function of an interned frame; 0 when unknown. */
static uint32_t frame_text(struct pft *p, struct pft_seq *s, uint64_t iid)
{
	const struct pft_entry *frame = fsc_pft_entry(p, s, PFT_FRAMES, iid), *fn;

	if (!frame)
		return 0;
	fn = fsc_pft_entry(p, s, PFT_FUNCTIONS, frame->num);
	return fn ? fn->text : 0;
}

uint32_t fsc_pft_args_callstack(struct pft *p, struct pft_seq *s, uint64_t iid,
				struct fsc_cur inlined)
{
	const struct pft_entry *e = iid ? fsc_pft_entry(p, s, PFT_CALLSTACKS, iid) : NULL;
	struct fsc_pb_field f, g;
	uint32_t leaf = 0;
	bool any = false;
	size_t n;

	fsc_pft_args_key(p, "callstack", strlen("callstack"));
	fsc_buf_addc(&p->args, '[');
	for (uint32_t i = 0; e && i < e->n; i++) {
		const char *name;

		leaf = frame_text(p, s, s->lists.v[e->first + i]);
		name = fsc_strtab_get(p->texts, leaf, &n);
		put_frame(p, name, n, &any);
	}
	/* Callstack {frames 1 {function_name 1}} */
	while (fsc_pb_next(&inlined, &f)) {
		if (f.num != 1 || f.wire != FSC_PB_BYTES)
			continue;
		while (fsc_pb_next(&f.body, &g))
			if (g.num == 1 && g.wire == FSC_PB_BYTES) {
				if (fsc_pft_text(&leaf, p, &g.body) != FSC_OK)
					leaf = 0;
				put_frame(p, (const char *)g.body.p, fsc_cur_left(&g.body), &any);
			}
	}
	fsc_buf_addc(&p->args, ']');
	return leaf;
}

struct sample {
	int64_t pid, tid, ts;
	uint64_t callstack, weight;
	bool has_weight;
	struct fsc_cur inlined;
};

static enum fsc_status put_sample(struct pft *p, struct pft_seq *s, const struct sample *x,
				  uint32_t track)
{
	struct fsc_build_slice slice = { .ts = x->ts,
					 .correlation = FSC_NO_CORRELATION,
					 .kind = FSC_KIND_INSTANT,
					 .flags = FSC_SLICE_INSTANT };
	uint32_t leaf, at;

	fsc_pft_args_begin(p);
	leaf = fsc_pft_args_callstack(p, s, x->callstack, x->inlined);
	if (x->has_weight) {
		fsc_pft_args_key(p, "weight", strlen("weight"));
		fsc_buf_addu(&p->args, x->weight);
	}
	FSC_TRY(fsc_pft_args_end(&slice.args, p));
	FSC_TRY(fsc_pft_name(&slice.name, p, leaf));
	if (!leaf)
		FSC_TRY(fsc_build_str(&slice.name, p->b, "sample", strlen("sample")));
	FSC_TRY(fsc_build_cat(&slice.cat, p->b, "cpu_sample", strlen("cpu_sample")));
	FSC_TRY(fsc_pft_built(&slice.track, p, track, slice.name));
	fsc_pft_note(p, &p->n.samples, 1);
	return fsc_build_slice(&at, p->b, &slice);
}

/* PerfSample {pid 2, tid 3, callstack_iid 4}. */
enum fsc_status fsc_pft_perf_sample(struct pft *p, struct pft_seq *s, const struct pft_packet *k)
{
	struct sample x = { .ts = k->ns };
	struct fsc_cur c = k->perf_sample;
	struct fsc_pb_field f;
	uint32_t track;

	while (fsc_pb_next(&c, &f)) {
		if (f.wire != FSC_PB_VARINT)
			continue;
		if (f.num == 2)
			x.pid = (int32_t)f.v;
		else if (f.num == 3)
			x.tid = (int32_t)f.v;
		else if (f.num == 4)
			x.callstack = f.v;
		else if (f.num == 6) {
			x.weight = f.v;
			x.has_weight = true;
		}
	}
	if (c.failed)
		return fsc_pft_damaged(p, "a sample does not hold together");
	FSC_TRY(fsc_pft_thread_track(&track, p, x.pid, x.tid));
	return put_sample(p, s, &x, track);
}

/* StackSample {task_context 1 {pid 2, tid 3}, callstack 5, callstack_iid 6, primary_weight 11}. */
enum fsc_status fsc_pft_stack_sample(struct pft *p, struct pft_seq *s, const struct pft_packet *k)
{
	struct sample x = { .ts = k->ns };
	struct fsc_cur c = k->stack_sample;
	struct fsc_pb_field f, g;
	uint32_t track;

	while (fsc_pb_next(&c, &f)) {
		if (f.num == 5 && f.wire == FSC_PB_BYTES)
			x.inlined = f.body;
		else if (f.num == 6 && f.wire == FSC_PB_VARINT)
			x.callstack = f.v;
		else if (f.num == 11 && f.wire == FSC_PB_VARINT) {
			x.weight = f.v;
			x.has_weight = true;
		}
		while (f.num == 1 && f.wire == FSC_PB_BYTES && fsc_pb_next(&f.body, &g)) {
			if (g.num == 2 && g.wire == FSC_PB_VARINT)
				x.pid = (int32_t)g.v;
			else if (g.num == 3 && g.wire == FSC_PB_VARINT)
				x.tid = (int32_t)g.v;
		}
	}
	if (c.failed)
		return fsc_pft_damaged(p, "a sample does not hold together");
	FSC_TRY(fsc_pft_thread_track(&track, p, x.pid, x.tid));
	return put_sample(p, s, &x, track);
}

/* StreamingProfilePacket: stacks and the microseconds from one to the next, of the thread of the sequence. */
enum fsc_status fsc_pft_stream_profile(struct pft *p, struct pft_seq *s, const struct pft_packet *k)
{
	FSC_VEC(uint64_t) stacks = { .n = 0 };
	struct sample x = { .ts = k->ns };
	struct fsc_cur c = k->stream_profile;
	struct fsc_pb_field f;
	enum fsc_status st = FSC_OK;
	uint64_t v;
	size_t i = 0;

	if (s->thread == FSC_NO_TRACK) {
		fsc_pft_note(p, &p->n.no_track, 1);
		return FSC_OK;
	}
	while (st == FSC_OK && fsc_pb_next(&c, &f)) {
		struct fsc_pb_numbers n = FSC_PB_NUMBERS(&f, FSC_PB_VARINT);

		while (f.num == 1 && fsc_pb_number(&n, &v))
			if (!fsc_vec_push(&stacks, v))
				st = FSC_ENOMEM;
	}
	if (st == FSC_OK && c.failed)
		st = fsc_pft_damaged(p, "a streaming profile does not hold together");
	for (c = k->stream_profile; st == FSC_OK && fsc_pb_next(&c, &f);) {
		struct fsc_pb_numbers n = FSC_PB_NUMBERS(&f, FSC_PB_VARINT);

		while (st == FSC_OK && f.num == 2 && i < stacks.n && fsc_pb_number(&n, &v)) {
			int64_t us = (int64_t)v;

			if (us > INT64_MIN / 4000 && us < INT64_MAX / 4000)
				x.ts += us * 1000;
			if (x.ts > INT64_MAX / 2 || x.ts < INT64_MIN / 2) {
				fsc_pft_note(p, &p->n.bad_ts, 1);
				break;
			}
			x.callstack = stacks.v[i++];
			st = put_sample(p, s, &x, s->thread);
		}
	}
	fsc_vec_fini(&stacks);
	return st;
}
