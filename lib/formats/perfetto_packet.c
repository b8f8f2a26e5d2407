/* SPDX-License-Identifier: Apache-2.0 */
/* One TracePacket: its parts, and the order in which they count. */
#include "formats/perfetto_int.h"

enum {
	SEQ_STATE_CLEARED = 1,
	SEQ_NEEDS_STATE = 2,
};

static void take_number(struct pft_packet *k, const struct fsc_pb_field *f)
{
	switch (f->num) {
	case 8:
		k->ts = f->v;
		k->has_ts = true;
		break;
	case 10:
		k->seq = f->v;
		break;
	case 13:
		k->flags = f->v;
		break;
	case 41:
		k->cleared |= f->v != 0;
		break;
	case 42:
		k->dropped |= f->v != 0;
		break;
	case 58:
		k->clock = f->v;
		k->has_clock = true;
		break;
	case 98:
		k->machine = f->v;
		break;
	default:
		break;
	}
}

/* NULL: a message that is not read. */
static struct fsc_cur *part(struct pft_packet *k, uint32_t num)
{
	switch (num) {
	case 2:
		return &k->tree;
	case 6:
		return &k->clocks;
	case 11:
		return &k->event;
	case 12:
		return &k->interned;
	case 43:
		return &k->process;
	case 44:
		return &k->thread;
	case 50:
		return &k->zipped;
	case 52:
		return &k->gpu_counter;
	case 53:
		return &k->gpu_stage;
	case 54:
		return &k->stream_profile;
	case 59:
		return &k->defaults;
	case 60:
		return &k->track;
	case 66:
		return &k->perf_sample;
	case 128:
		return &k->gpu_info;
	case 133:
		return &k->zstd;
	case 135:
		return &k->stack_sample;
	default:
		return NULL;
	}
}

/* Packets about the recording itself, which no timeline misses: configuration, identity, statistics, marks. */
static bool is_about_recording(uint32_t num)
{
	static const uint8_t nums[] = { 33, 35, 36, 39, 45,  62,  64,  88,
					89, 90, 92, 96, 111, 115, 126, 127 };

	for (size_t i = 0; i < FSC_ARRAY_LEN(nums); i++)
		if (nums[i] == num)
			return true;
	return false;
}

static enum fsc_status parse(struct pft *p, struct pft_packet *k, struct fsc_cur c)
{
	struct fsc_pb_field f;
	bool ignored = false;

	while (fsc_pb_next(&c, &f)) {
		struct fsc_cur *to = f.wire == FSC_PB_BYTES ? part(k, f.num) : NULL;

		if (f.wire == FSC_PB_VARINT)
			take_number(k, &f);
		else if (to)
			*to = f.body;
		else
			ignored |= f.wire == FSC_PB_BYTES && !is_about_recording(f.num);
	}
	fsc_pft_note(p, &p->n.packets, ignored);
	return c.failed ? fsc_pft_damaged(p, "a packet does not hold together") : FSC_OK;
}

static bool has(const struct fsc_cur *c)
{
	return c->start != NULL;
}

/* What is told of tracks, processes and GPUs. */
static enum fsc_status descriptions(struct pft *p, struct pft_seq *s, const struct pft_packet *k)
{
	if (has(&k->tree))
		FSC_TRY(fsc_pft_process_tree(p, k->tree));
	if (has(&k->process))
		FSC_TRY(fsc_pft_process_descriptor(p, k->process));
	if (has(&k->thread))
		FSC_TRY(fsc_pft_thread_descriptor(p, s, k->thread));
	if (has(&k->track))
		FSC_TRY(fsc_pft_describe(p, k->track));
	if (has(&k->gpu_info))
		fsc_pft_gpu_info(p, k->gpu_info);
	return FSC_OK;
}

static enum fsc_status events(struct pft *p, struct pft_seq *s, const struct pft_packet *k)
{
	bool any = has(&k->event) || has(&k->gpu_stage) || has(&k->gpu_counter) ||
		   has(&k->perf_sample) || has(&k->stream_profile) || has(&k->stack_sample);

	if (!any)
		return FSC_OK;
	fsc_build_count_event(p->b);
	if (s->broken && (k->flags & SEQ_NEEDS_STATE)) {
		fsc_pft_note(p, &p->n.state, 1);
		return FSC_OK;
	}
	fsc_pft_note(p, &p->n.no_ts, k->time == PFT_TIME_NONE);
	fsc_pft_note(p, &p->n.clock, k->time == PFT_TIME_CLOCK);
	fsc_pft_note(p, &p->n.bad_ts, k->time == PFT_TIME_BAD);
	if (k->time != PFT_TIME_OK)
		return FSC_OK;
	if (has(&k->event))
		FSC_TRY(fsc_pft_event(p, s, k));
	if (has(&k->gpu_stage))
		FSC_TRY(fsc_pft_gpu_stage(p, s, k));
	if (has(&k->gpu_counter))
		FSC_TRY(fsc_pft_gpu_counter(p, s, k));
	if (has(&k->perf_sample))
		FSC_TRY(fsc_pft_perf_sample(p, s, k));
	if (has(&k->stream_profile))
		FSC_TRY(fsc_pft_stream_profile(p, s, k));
	return has(&k->stack_sample) ? fsc_pft_stack_sample(p, s, k) : FSC_OK;
}

enum fsc_status fsc_pft_packet(struct pft *p, struct fsc_cur c, bool inner)
{
	struct pft_packet k = { .seq = 0 };
	struct pft_seq *s;

	FSC_TRY(parse(p, &k, c));
	if (has(&k.zipped) || has(&k.zstd)) {
		if (inner)
			return fsc_pft_damaged(p, "compressed packets inside compressed packets");
		return fsc_pft_unpack(p, has(&k.zipped) ? k.zipped : k.zstd, !has(&k.zipped));
	}
	FSC_TRY(fsc_pft_seq(&s, p, k.seq));
	p->machine = k.machine;
	s->broken |= k.dropped;
	if (k.cleared || (k.flags & SEQ_STATE_CLEARED)) {
		fsc_pft_seq_clear(s);
		s->broken = false;
	}
	if (has(&k.defaults))
		FSC_TRY(fsc_pft_defaults(p, s, k.defaults));
	if (has(&k.interned))
		FSC_TRY(fsc_pft_intern(p, s, k.interned));
	if (has(&k.clocks))
		FSC_TRY(fsc_pft_snapshot(p, s, k.clocks));
	k.time = fsc_pft_time(&k.ns, p, s, &k);
	FSC_TRY(descriptions(p, s, &k));
	return events(p, s, &k);
}
