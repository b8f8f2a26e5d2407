/* SPDX-License-Identifier: Apache-2.0 */
/* One event to one slice: its time, kind, launch row, correlation and arrows. */
#include "base/num.h"
#include "formats/xplane_int.h"

enum {
	EVENT_META = 1,
	EVENT_OFFSET = 2,
	EVENT_DURATION = 3,
	EVENT_STATS = 4,
	EVENT_OCCURRENCES = 5,
	META_STATS = 5
};

struct event {
	const struct xp_line *line;
	struct fsc_cur body;
	struct xp_meta *meta;
	int64_t meta_id, offset_ps, duration_ps;
	bool aggregated;
	struct xp_facts facts;
	struct fsc_build_slice s;
	struct fsc_launch launch; /* of a stream */
	uint32_t slice;
};

/* ---- fields and time ---- */

static enum fsc_status read_event(struct xplane *x, struct event *e)
{
	struct fsc_cur c = e->body;
	struct fsc_pb_field f;

	while (fsc_pb_next(&c, &f)) {
		bool varint = f.wire == FSC_PB_VARINT;

		if (f.num == EVENT_META && varint) {
			e->meta_id = fsc_pb_int(&f);
		} else if (f.num == EVENT_OFFSET && varint) {
			e->offset_ps = fsc_pb_int(&f);
			e->aggregated = false;
		} else if (f.num == EVENT_OCCURRENCES && varint) {
			e->aggregated = true;
		} else if (f.num == EVENT_DURATION && varint) {
			e->duration_ps = fsc_pb_int(&f);
		} else if (f.num != EVENT_STATS || f.wire != FSC_PB_BYTES) {
			fsc_xp_note(x, &x->n.fields, 1);
		}
	}
	return c.failed ? fsc_xp_corrupt(x, &c, "an event") : FSC_OK;
}

/* To the nearest ns, halves up. Begin and end are rounded alike, so what touches or nests still does. */
static int64_t ns_of_ps(int64_t ps, bool *inexact)
{
	int64_t q = ps / 1000, r = ps % 1000;

	if (r < 0) {
		q--;
		r += 1000;
	}
	*inexact |= r != 0;
	return q + (r >= 500);
}

static bool event_time(struct xplane *x, struct event *e)
{
	bool inexact = false;
	int64_t end, ns;

	if (__builtin_add_overflow(e->offset_ps, e->duration_ps, &end))
		return false;
	ns = ns_of_ps(e->offset_ps, &inexact);
	e->s.dur = ns_of_ps(end, &inexact) - ns;
	if (__builtin_add_overflow(e->line->timestamp_ns, ns, &e->s.ts) ||
	    e->s.ts > INT64_MAX / 2 || e->s.ts < INT64_MIN / 2)
		return false;
	fsc_xp_note(x, &x->n.inexact, inexact);
	return true;
}

/* ---- names and kinds ---- */

static enum fsc_status no_name(struct xplane *x, struct event *e)
{
	char text[40] = "event ";
	size_t n = 6 + fsc_fmt_i64(text + 6, e->meta_id);

	fsc_xp_note(x, &x->n.no_name, 1);
	return fsc_build_str(&e->s.name, x->b, text, n);
}

/* What trace viewers show: the short name when there is one; the long one becomes an argument. */
static enum fsc_status event_name(struct xplane *x, struct event *e)
{
	struct xp_meta *m = e->meta;

	if (!m)
		return no_name(x, e);
	if (m->name_id == UINT32_MAX)
		FSC_TRY(fsc_xp_text(&m->name_id, x,
				    fsc_cur_left(&m->display) ? m->display : m->name));
	e->s.name = m->name_id;
	return FSC_OK;
}

static enum fsc_status set_cat(struct xplane *x, struct event *e, enum xp_cat cat)
{
	static const char *const names[] = { "kernel",		"gpu_memcpy",
					     "gpu_memset",	"gpu_user_annotation",
					     "cuda_runtime",	"python_function",
					     "user_annotation", "trace_me" };

	if (x->cat[cat] == FSC_BUILD_NO_CAT)
		FSC_TRY(fsc_build_cat(&x->cat[cat], x->b, names[cat], strlen(names[cat])));
	e->s.cat = x->cat[cat];
	return FSC_OK;
}

static const char *name_of(struct xplane *x, const struct event *e, size_t *n)
{
	return fsc_strtab_get(fsc_build_trace(x->b)->strings, e->s.name, n);
}

static enum fsc_status work_kind(struct xplane *x, struct event *e)
{
	const struct xp_facts *f = &e->facts;
	size_t n = 0, cat_n = fsc_cur_left(&f->hlo_category);
	const char *name = name_of(x, e, &n);
	const char *hlo = (const char *)f->hlo_category.p;

	if (f->is_memory) {
		e->s.kind = FSC_KIND_OTHER;
		return set_cat(x, e, XP_CAT_TRACE_ME);
	}
	e->s.kind = (uint8_t)fsc_classify(f->is_memcpy	 ? FSC_CAT_MEMCPY
					  : f->is_memset ? FSC_CAT_MEMSET
							 : FSC_CAT_KERNEL,
					  name, n);
	if (cat_n) {
		enum fsc_kind k = fsc_classify(FSC_CAT_KERNEL, hlo, cat_n);

		if (k == FSC_KIND_COMM || k == FSC_KIND_GPU_OTHER)
			e->s.kind = (uint8_t)k;
	}
	return set_cat(x, e,
		       e->s.kind == FSC_KIND_MEMCPY   ? XP_CAT_MEMCPY
		       : e->s.kind == FSC_KIND_MEMSET ? XP_CAT_MEMSET
						      : XP_CAT_KERNEL);
}

static enum fsc_status host_kind(struct xplane *x, struct event *e)
{
	size_t n = 0;
	const char *name = name_of(x, e, &n);
	enum xp_cat cat = XP_CAT_TRACE_ME;

	e->s.kind = FSC_KIND_OTHER;
	if (x->plane.kind == XP_HOST_CALLS) {
		cat = XP_CAT_RUNTIME;
		e->s.kind = (uint8_t)fsc_classify(FSC_CAT_RUNTIME, name, n);
	} else if (x->plane.kind == XP_HOST_PYTHON ||
		   (x->plane.kind == XP_HOST && n && name[0] == '$')) {
		/* frames of the Python tracer are told by their first character */
		cat = XP_CAT_PYTHON;
		e->s.kind = FSC_KIND_PYTHON;
	} else if (e->facts.is_step) {
		cat = XP_CAT_USER;
		e->s.kind = FSC_KIND_USER;
	}
	if (!e->s.dur && x->plane.kind != XP_HOST_CALLS) {
		e->s.flags = FSC_SLICE_INSTANT;
		e->s.kind = FSC_KIND_INSTANT;
	}
	return set_cat(x, e, cat);
}

static enum fsc_status event_kind(struct xplane *x, struct event *e)
{
	if (e->line->kind == XP_STREAM)
		return work_kind(x, e);
	if (e->line->kind == XP_THREAD)
		return host_kind(x, e);
	e->s.kind = FSC_KIND_GPU_ANNOTATION;
	return set_cat(x, e, XP_CAT_GPU_ANNOTATION);
}

/* ---- args ---- */

static bool has_launch(const struct event *e)
{
	const struct xp_facts *f = &e->facts;

	return f->is_kernel || f->is_memcpy || f->is_memset;
}

static enum fsc_status take_stats(struct xplane *x, struct event *e, struct fsc_cur c, uint32_t num)
{
	struct fsc_pb_field f;

	while (fsc_pb_next(&c, &f))
		if (f.num == num && f.wire == FSC_PB_BYTES)
			FSC_TRY(fsc_xp_stat_take(x, &e->facts, f.body));
	return FSC_OK;
}

static enum fsc_status event_args(struct xplane *x, struct event *e)
{
	fsc_xp_args_begin(x);
	FSC_TRY(take_stats(x, e, e->body, EVENT_STATS));
	if (e->meta && !fsc_xp_may_expand(x, fsc_cur_left(&e->meta->body))) {
		fsc_xp_note(x, &x->n.too_big, 1);
	} else if (e->meta) {
		const struct xp_meta *m = e->meta;

		FSC_TRY(take_stats(x, e, m->body, META_STATS));
		if (fsc_cur_left(&m->display) && fsc_cur_left(&m->name) &&
		    (fsc_cur_left(&m->display) != fsc_cur_left(&m->name) ||
		     memcmp(m->display.p, m->name.p, fsc_cur_left(&m->name)) != 0)) {
			fsc_json_key(&x->json, "long_name");
			fsc_json_strn(&x->json, (const char *)m->name.p, fsc_cur_left(&m->name));
		}
	}
	if (e->line->kind == XP_STREAM) {
		const struct fsc_track *t = &fsc_build_trace(x->b)->tracks.v[e->line->track];

		fsc_launch_details(&e->launch, e->facts.kernel, e->facts.bytes);
		fsc_launch_args_put(&x->json, t->device, t->context, t->stream,
				    e->facts.correlation, &e->launch);
	}
	fsc_json_obj_end(&x->json);
	e->s.args = FSC_NO_ARGS;
	if (x->args.failed == FSC_ELIMIT)
		fsc_xp_note(x, &x->n.too_big, 1);
	else if (fsc_buf_status(&x->args) != FSC_OK)
		return fsc_xp_failed(x, FSC_ENOMEM);
	else if (x->args.len > 2)
		return fsc_xp_failed(x,
				     fsc_build_args(&e->s.args, x->b, x->args.data, x->args.len));
	return FSC_OK;
}

/* ---- what hangs on a slice ---- */

static enum fsc_status put_flow(struct xplane *x, const struct event *e, const char *cat,
				uint64_t id, uint8_t phase)
{
	struct fsc_build_flow f = { .ts = e->s.ts, .id = id, .slice = e->slice, .phase = phase };

	FSC_TRY(fsc_build_str(&f.cat, x->b, cat, strlen(cat)));
	return fsc_build_flow(x->b, &f);
}

static enum fsc_status flows(struct xplane *x, const struct event *e)
{
	/* two bits say which end it is: in, out, both */
	static const uint8_t phases[] = { 0, FSC_FLOW_END, FSC_FLOW_START, FSC_FLOW_STEP };
	const struct xp_facts *f = &e->facts;

	if (f->produces)
		FSC_TRY(put_flow(x, e, "producer",
				 f->producer[0] * 0x9E3779B97F4A7C15ULL ^ f->producer[1],
				 FSC_FLOW_START));
	if (f->consumes)
		FSC_TRY(put_flow(x, e, "producer",
				 f->consumer[0] * 0x9E3779B97F4A7C15ULL ^ f->consumer[1],
				 FSC_FLOW_END));
	if (f->has_flow && f->flow & 3)
		FSC_TRY(put_flow(x, e, "flow", f->flow >> 2, phases[f->flow & 3]));
	return FSC_OK;
}

static enum fsc_status launch_side(struct xplane *x, const struct event *e)
{
	struct fsc_launch_side s = { .correlation = e->s.correlation,
				     .ts = e->s.ts,
				     .slice = e->slice };

	if (s.correlation == FSC_NO_CORRELATION)
		return FSC_OK;
	if (x->plane.kind == XP_HOST_CALLS)
		return fsc_launch_pairs_call(&x->pairs, s);
	return fsc_kind_is_gpu_work(e->s.kind) ? fsc_launch_pairs_work(&x->pairs, s) : FSC_OK;
}

static enum fsc_status put_slice(struct xplane *x, struct event *e)
{
	FSC_TRY(event_name(x, e));
	FSC_TRY(event_kind(x, e));
	e->s.track = e->line->track;
	e->s.correlation = e->facts.correlation;
	FSC_TRY(fsc_build_slice(&e->slice, x->b, &e->s));
	e->launch.slice = e->slice;
	if (fsc_kind_is_gpu_work(e->s.kind) && has_launch(e))
		FSC_TRY(fsc_build_launch(x->b, &e->launch));
	FSC_TRY(launch_side(x, e));
	return flows(x, e);
}

enum fsc_status fsc_xp_event(struct xplane *x, const struct xp_line *line, struct fsc_cur body)
{
	struct event e = { .line = line, .body = body, .facts.correlation = FSC_NO_CORRELATION };

	e.facts.kernel = e.facts.bytes = e.facts.hlo_category = fsc_cur_of(body.p, 0);
	fsc_xp_at(x, body.p);
	fsc_build_count_event(x->b);
	FSC_TRY(read_event(x, &e));
	if (e.aggregated) {
		fsc_xp_note(x, &x->n.aggregated, 1);
		return FSC_OK;
	}
	if (!event_time(x, &e)) {
		fsc_xp_note(x, &x->n.bad_time, 1);
		return FSC_OK;
	}
	e.meta = fsc_xp_table_find(&x->events, e.meta_id);
	FSC_TRY(event_args(x, &e));
	return fsc_xp_failed(x, put_slice(x, &e));
}
