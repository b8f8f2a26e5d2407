/* SPDX-License-Identifier: Apache-2.0 */
/* TrackEvent: slices, instants, counters, states, and the arrows between them (track_event.proto). */
#include <string.h>

#include "formats/perfetto_int.h"

enum {
	TYPE_BEGIN = 1,
	TYPE_END = 2,
	TYPE_INSTANT = 3,
	TYPE_COUNTER = 4,
	TYPE_STATE = 5,
	TYPE_COMPLETE = 100, /* ours: phase X of a legacy event */
};

struct legacy {
	char phase; /* 0: none */
	int64_t dur_ns, pid, tid;
	bool has_pid, has_tid, has_id, local;
	uint64_t id;
	uint32_t scope;
};

struct event {
	struct pft_seq *s;
	const struct pft_packet *k;
	uint64_t type, uuid, name_iid, callstack;
	bool has_uuid, has_name, has_int, has_double;
	struct fsc_cur name, inlined, links;
	int64_t int_value;
	double double_value;
	struct legacy legacy;
	bool extra_ints, extra_doubles; /* counter values beside it */

	/* found out */
	uint32_t track, text, name_id;
	uint16_t cat;
	enum fsc_cat_class cls;
};

/* ---- parts ---- */

/* LegacyEvent. */
static enum fsc_status parse_legacy(struct pft *p, struct event *e, struct fsc_cur c)
{
	struct legacy *l = &e->legacy;
	struct fsc_pb_field f;

	while (fsc_pb_next(&c, &f)) {
		if (f.num == 1 && f.wire == FSC_PB_VARINT)
			e->name_iid = f.v;
		else if (f.num == 2 && f.wire == FSC_PB_VARINT)
			l->phase = (char)f.v;
		else if (f.num == 3 && f.wire == FSC_PB_VARINT)
			l->dur_ns = (int64_t)f.v >= 0 && (int64_t)f.v < INT64_MAX / 2000
					    ? (int64_t)f.v * 1000
					    : 0;
		else if ((f.num == 6 || f.num == 10 || f.num == 11) && f.wire == FSC_PB_VARINT) {
			l->id = f.v;
			l->has_id = true;
			l->local = f.num == 10;
		} else if (f.num == 7 && f.wire == FSC_PB_BYTES)
			FSC_TRY(fsc_pft_text(&l->scope, p, &f.body));
		else if (f.num == 18 && f.wire == FSC_PB_VARINT) {
			l->pid = (int32_t)f.v;
			l->has_pid = true;
		} else if (f.num == 19 && f.wire == FSC_PB_VARINT) {
			l->tid = (int32_t)f.v;
			l->has_tid = true;
		} else if (f.num == 4 || f.num == 5)
			fsc_pft_note(p, &p->n.thread_time, 1);
	}
	return c.failed ? fsc_pft_damaged(p, "a legacy event does not hold together") : FSC_OK;
}

/* What is read later by walking the event once more, and what is known not to be read. */
static bool is_known(uint32_t num)
{
	static const uint16_t nums[] = {
		3, 4, 12, 22, 31, 36, 42, 45, 46, 47, 48, 52, 54, 57, 3001
	};

	for (size_t i = 0; i < FSC_ARRAY_LEN(nums); i++)
		if (nums[i] == num)
			return true;
	return false;
}

static enum fsc_status parse_field(struct pft *p, struct event *e, const struct fsc_pb_field *f)
{
	switch (f->num) {
	case 6:
		return f->wire == FSC_PB_BYTES ? parse_legacy(p, e, f->body) : FSC_OK;
	case 12:
		e->extra_ints = true;
		break;
	case 46:
		e->extra_doubles = true;
		break;
	case 9:
		e->type = f->v;
		break;
	case 10:
		e->name_iid = f->v;
		break;
	case 11:
		e->uuid = f->v;
		e->has_uuid = true;
		break;
	case 17:
	case 18:
	case 19:
	case 20:
		fsc_pft_note(p, &p->n.thread_time, 1);
		break;
	case 23:
		e->name = f->body;
		e->has_name = true;
		break;
	case 30:
		e->int_value = fsc_pb_int(f);
		e->has_int = true;
		break;
	case 44:
		e->double_value = fsc_pb_double(f);
		e->has_double = true;
		break;
	case 55:
		e->inlined = f->body;
		break;
	case 56:
		e->callstack = f->v;
		break;
	case 3000:
		e->links = f->body;
		break;
	default:
		fsc_pft_note(p, &p->n.typed, f->wire == FSC_PB_BYTES && !is_known(f->num));
	}
	return FSC_OK;
}

static enum fsc_status parse(struct pft *p, struct event *e)
{
	struct fsc_cur c = e->k->event;
	struct fsc_pb_field f;

	while (fsc_pb_next(&c, &f))
		FSC_TRY(parse_field(p, e, &f));
	return c.failed ? fsc_pft_damaged(p, "a track event does not hold together") : FSC_OK;
}

/* Types of events that only have a phase. False: of a kind that is not read. */
static bool type_of_phase(struct event *e)
{
	static const struct {
		char phase;
		uint8_t type;
	} types[] = { { 'B', TYPE_BEGIN },   { 'b', TYPE_BEGIN },   { 'E', TYPE_END },
		      { 'e', TYPE_END },     { 'I', TYPE_INSTANT }, { 'i', TYPE_INSTANT },
		      { 'R', TYPE_INSTANT }, { 'n', TYPE_INSTANT }, { 'X', TYPE_COMPLETE } };

	for (size_t i = 0; !e->type && i < FSC_ARRAY_LEN(types); i++)
		if (types[i].phase == e->legacy.phase)
			e->type = types[i].type;
	return e->type != 0;
}

static enum fsc_status find_name(struct pft *p, struct event *e)
{
	if (e->has_name)
		FSC_TRY(fsc_pft_text(&e->text, p, &e->name));
	else if (e->name_iid) {
		const struct pft_entry *n = fsc_pft_entry(p, e->s, PFT_EVENT_NAMES, e->name_iid);

		e->text = n ? n->text : 0;
	}
	return fsc_pft_name(&e->name_id, p, e->text);
}

/* Several categories are one, with commas, as in JSON. */
static enum fsc_status find_category(struct pft *p, struct event *e)
{
	struct fsc_cur c = e->k->event;
	struct fsc_buf all = FSC_BUF_INIT(64u << 10);
	uint32_t text = 0, n = 0;
	struct fsc_pb_field f;
	enum fsc_status st = FSC_OK;
	const char *s;
	size_t len;

	while (st == FSC_OK && fsc_pb_next(&c, &f)) {
		struct fsc_pb_numbers iids = FSC_PB_NUMBERS(&f, FSC_PB_VARINT);
		uint64_t iid;

		if (f.num == 22 && f.wire == FSC_PB_BYTES) {
			st = fsc_pft_text(&text, p, &f.body);
			fsc_buf_adds(&all, n++ ? "," : "");
			fsc_buf_add(&all, f.body.p, fsc_cur_left(&f.body));
		}
		while (f.num == 3 && fsc_pb_number(&iids, &iid)) {
			const struct pft_entry *entry = fsc_pft_entry(p, e->s, PFT_CATEGORIES, iid);

			text = entry ? entry->text : 0;
			fsc_buf_adds(&all, n++ ? "," : "");
			fsc_buf_adds(&all, fsc_strtab_get(p->texts, text, NULL));
		}
	}
	if (st == FSC_OK && n > 1 && fsc_buf_status(&all) == FSC_OK)
		st = fsc_strtab_put(&text, p->texts, all.data, all.len);
	fsc_buf_fini(&all);
	if (st != FSC_OK)
		return st;
	s = fsc_strtab_get(p->texts, text, &len);
	e->cls = fsc_classify_cat(s, len);
	return fsc_pft_cat(&e->cat, p, text);
}

static enum fsc_status find_track(struct pft *p, struct event *e)
{
	const struct legacy *l = &e->legacy;
	bool async = l->phase == 'b' || l->phase == 'e' || l->phase == 'n';

	if (async && l->has_id)
		return fsc_pft_async_track(&e->track, p, l->id,
					   (uint64_t)l->scope << 2 | (l->local ? 2u : 1u));
	if (l->has_pid && l->has_tid)
		return fsc_pft_thread_track(&e->track, p, l->pid, l->tid);
	if (e->has_uuid)
		return fsc_pft_track(&e->track, p, e->uuid);
	if (e->s->has_track)
		return fsc_pft_track(&e->track, p, e->s->track_uuid);
	if (e->s->thread != FSC_NO_TRACK) {
		e->track = e->s->thread;
		return FSC_OK;
	}
	return fsc_pft_track(&e->track, p, 0);
}

/* ---- args, arrows ---- */

static enum fsc_status find_args(uint32_t *record, struct pft *p, const struct event *e)
{
	struct fsc_cur c = e->k->event;
	struct fsc_pb_field f;

	fsc_pft_args_begin(p);
	while (fsc_pb_next(&c, &f))
		if (f.num == 4 && f.wire == FSC_PB_BYTES)
			fsc_pft_args_annotation(p, e->s, f.body);
	if (e->callstack || e->inlined.start)
		(void)fsc_pft_args_callstack(p, e->s, e->callstack, e->inlined);
	return fsc_pft_args_end(record, p);
}

static enum fsc_status add_flow(struct pft *p, uint32_t slice, int64_t ts, uint64_t id,
				enum fsc_flow_phase phase)
{
	struct fsc_build_flow flow = {
		.ts = ts, .id = id, .slice = slice, .phase = (uint8_t)phase
	};

	FSC_TRY(fsc_build_str(&flow.cat, p->b, "flow", strlen("flow")));
	return fsc_build_flow(p->b, &flow);
}

static enum fsc_status find_flows(struct pft *p, const struct event *e, uint32_t slice)
{
	struct fsc_cur c = e->k->event;
	struct fsc_pb_field f;

	while (slice != FSC_NO_SLICE && fsc_pb_next(&c, &f)) {
		bool old = f.num == 36 || f.num == 42;
		struct fsc_pb_numbers ids =
			FSC_PB_NUMBERS(&f, old ? FSC_PB_VARINT : FSC_PB_FIXED64);
		bool last = f.num == 48 || f.num == 42;
		uint64_t id;

		while ((old || f.num == 47 || f.num == 48) && fsc_pb_number(&ids, &id))
			FSC_TRY(add_flow(p, slice, e->k->ns, id,
					 last ? FSC_FLOW_END : FSC_FLOW_TOUCH));
	}
	if (slice != FSC_NO_SLICE && e->links.start)
		return fsc_pft_link(p, e->links, slice, e->k->ns);
	return FSC_OK;
}

/* ---- counters ---- */

static enum fsc_status count(struct pft *p, uint64_t uuid, int64_t ts, double v)
{
	uint32_t track, built;
	struct pft_track *t;

	FSC_TRY(fsc_pft_track(&track, p, uuid));
	t = &p->tracks.v[track];
	if (t->kind != PFT_COUNTER) {
		fsc_pft_note(p, &p->n.counters_without_track, 1);
		return FSC_OK;
	}
	v *= (double)t->unit_multiplier;
	if (t->incremental)
		v = t->value += v;
	FSC_TRY(fsc_pft_built(&built, p, track, 0));
	return fsc_build_counter(p->b, built, ts, v);
}

/* Values beside an event: the tracks are the event's own or those of the sequence, in the same order. */
static enum fsc_status extra_counters(struct pft *p, const struct event *e, bool doubles)
{
	uint32_t value_field = doubles ? 46 : 12, track_field = doubles ? 45 : 31;
	const uint64_t *uuids = doubles ? e->s->doubles.v : e->s->counters.v;
	size_t n = doubles ? e->s->doubles.n : e->s->counters.n, i = 0;
	struct fsc_cur c = e->k->event;
	struct fsc_pb_field f;
	FSC_VEC(uint64_t) own = { .n = 0 };
	enum fsc_status st = FSC_OK;

	while (st == FSC_OK && fsc_pb_next(&c, &f)) {
		struct fsc_pb_numbers u = FSC_PB_NUMBERS(&f, FSC_PB_VARINT);
		uint64_t v;

		while (f.num == track_field && fsc_pb_number(&u, &v))
			if (!fsc_vec_push(&own, v))
				st = FSC_ENOMEM;
	}
	if (own.n) {
		uuids = own.v;
		n = own.n;
	}
	for (c = e->k->event; st == FSC_OK && fsc_pb_next(&c, &f);) {
		struct fsc_pb_numbers u =
			FSC_PB_NUMBERS(&f, doubles ? FSC_PB_FIXED64 : FSC_PB_VARINT);
		uint64_t v;

		while (st == FSC_OK && f.num == value_field && fsc_pb_number(&u, &v)) {
			struct fsc_pb_field one = { .v = v };

			if (i >= n)
				fsc_pft_note(p, &p->n.counters_without_track, 1);
			else
				st = count(p, uuids[i], e->k->ns,
					   doubles ? fsc_pb_double(&one)
						   : (double)fsc_pb_int(&one));
			i++;
		}
	}
	fsc_vec_fini(&own);
	return st;
}

static enum fsc_status counter_event(struct pft *p, const struct event *e)
{
	if (!e->has_int && !e->has_double)
		return FSC_OK;
	return count(p, p->tracks.v[e->track].uuid, e->k->ns,
		     e->has_double ? e->double_value : (double)e->int_value);
}

/* ---- slices ---- */

/* GPU work that a writer put on a plain track belongs on a stream, when its args say which. */
static enum fsc_status slice_track(uint32_t *built, struct pft *p, const struct event *e,
				   const struct fsc_gpu_args *g)
{
	uint32_t ident;

	if (fsc_cat_is_gpu(e->cls) && g->stream != FSC_NO_ORDINAL) {
		FSC_TRY(fsc_pft_ident(&ident, p, e->track));
		return fsc_build_stream(built, p->b, ident, g->device, g->context, g->stream);
	}
	return fsc_pft_built(built, p, e->track, e->name_id);
}

static enum fsc_status make_slice(uint32_t *slice, uint32_t *built, struct pft *p,
				  const struct event *e)
{
	struct fsc_build_slice s = { .ts = e->k->ns,
				     .dur = e->legacy.dur_ns,
				     .name = e->name_id,
				     .cat = e->cat,
				     .correlation = FSC_NO_CORRELATION };
	struct fsc_gpu_args g = { .stream = FSC_NO_ORDINAL, .correlation = FSC_NO_CORRELATION };
	bool instant = e->type == TYPE_INSTANT, gpu;
	const char *name;
	size_t n;

	FSC_TRY(find_args(&s.args, p, e));
	if (s.args != FSC_NO_ARGS)
		FSC_TRY(fsc_gpu_args_read(&g, p->b, p->args.data, p->args.len));
	FSC_TRY(slice_track(built, p, e, &g));
	gpu = fsc_build_trace(p->b)->tracks.v[*built].kind == FSC_TRACK_STREAM;
	s.track = *built;
	s.correlation = g.correlation;
	name = fsc_strtab_get(fsc_build_trace(p->b)->strings, e->name_id, &n);
	s.kind = (uint8_t)(instant			    ? FSC_KIND_INSTANT
			   : fsc_cat_is_gpu(e->cls) && !gpu ? FSC_KIND_OTHER
							    : fsc_classify(e->cls, name, n));
	s.flags = instant ? FSC_SLICE_INSTANT : 0;
	if (instant || e->type == TYPE_COMPLETE)
		FSC_TRY(fsc_build_slice(slice, p->b, &s));
	else
		FSC_TRY(fsc_build_begin(slice, p->b, &s));
	return fsc_gpu_args_put(&g, p->b, *slice, s.kind);
}

static enum fsc_status begin(struct pft *p, const struct event *e)
{
	struct pft_open open;

	FSC_TRY(make_slice(&open.slice, &open.track, p, e));
	if (e->type != TYPE_INSTANT && e->type != TYPE_COMPLETE &&
	    !fsc_vec_push(&p->tracks.v[e->track].open, open))
		return FSC_ENOMEM;
	return find_flows(p, e, open.slice);
}

/* An end closes the begin that was read last on its track; when they came in another order, the builder, which
 * goes by time, still pairs them right: only arrows and args of the end then go by the order of the file. */
static enum fsc_status end(struct pft *p, const struct event *e)
{
	struct pft_track *t = &p->tracks.v[e->track];
	struct pft_open open = { FSC_NO_SLICE, FSC_NO_TRACK };
	uint32_t args;

	if (t->open.n)
		open = t->open.v[--t->open.n];
	else
		FSC_TRY(fsc_pft_built(&open.track, p, e->track, e->name_id));
	FSC_TRY(find_args(&args, p, e));
	FSC_TRY(fsc_build_end(p->b, open.track, e->k->ns, 0, FSC_BUILD_NO_CAT, args));
	return find_flows(p, e, open.slice);
}

/* A state lasts until the next one of its track. */
static enum fsc_status change_state(struct pft *p, struct event *e)
{
	if (p->tracks.v[e->track].open.n) {
		struct pft_open was = p->tracks.v[e->track].open.v[--p->tracks.v[e->track].open.n];

		FSC_TRY(fsc_build_end(p->b, was.track, e->k->ns, 0, FSC_BUILD_NO_CAT, FSC_NO_ARGS));
	}
	return e->text ? begin(p, e) : FSC_OK;
}

enum fsc_status fsc_pft_event(struct pft *p, struct pft_seq *s, const struct pft_packet *k)
{
	struct event e = { .s = s, .k = k };

	FSC_TRY(parse(p, &e));
	if (!type_of_phase(&e)) {
		fsc_pft_note(p, &p->n.legacy, 1);
		return FSC_OK;
	}
	FSC_TRY(find_track(p, &e));
	if (e.extra_ints)
		FSC_TRY(extra_counters(p, &e, false));
	if (e.extra_doubles)
		FSC_TRY(extra_counters(p, &e, true));
	if (e.type == TYPE_COUNTER)
		return counter_event(p, &e);
	FSC_TRY(find_name(p, &e));
	if (e.type == TYPE_END)
		return end(p, &e);
	FSC_TRY(find_category(p, &e));
	switch (e.type) {
	case TYPE_BEGIN:
	case TYPE_INSTANT:
	case TYPE_COMPLETE:
		return begin(p, &e);
	case TYPE_STATE:
		return change_state(p, &e);
	default:
		fsc_pft_note(p, &p->n.legacy, 1);
		return FSC_OK;
	}
}
