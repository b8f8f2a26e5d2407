/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planes and lines: which process, which track. Planes of devices become a process each; the planes that tell what
 * the host's threads did (TraceMe events, CUPTI and ROCTRACER calls, Python frames) use the same thread numbers and
 * become one.
 */
#include "formats/xplane_int.h"

enum { PLANE_ID = 1, PLANE_NAME, PLANE_LINES, PLANE_EVENT_META, PLANE_STAT_META, PLANE_STATS };
enum {
	LINE_ID = 1,
	LINE_NAME = 2,
	LINE_TIMESTAMP = 3,
	LINE_EVENTS = 4,
	LINE_DURATION = 9,
	LINE_DISPLAY_ID = 10,
	LINE_DISPLAY_NAME = 11
};

static const char host_name[] = "/host:CPU";

/* ---- planes ---- */

/* The number in "/device:GPU:3" and "/device:TPU:0 SparseCore 1". */
static int32_t device_of(struct fsc_cur name)
{
	const uint8_t *p = name.p + strlen("/device:");
	int64_t v = 0;

	while (p < name.end && *p != ':')
		p++;
	if (p == name.end || ++p == name.end)
		return FSC_NO_ORDINAL;
	for (; p < name.end && *p >= '0' && *p <= '9'; p++)
		if (v <= INT32_MAX)
			v = v * 10 + (*p - '0');
	if (p[-1] == ':' || (p < name.end && *p != ' ') || v > INT32_MAX)
		return FSC_NO_ORDINAL;
	return (int32_t)v;
}

static enum xp_plane_kind kind_of(struct fsc_cur name)
{
	static const struct {
		const char *name;
		enum xp_plane_kind kind;
	} all[] = {
		{ host_name, XP_HOST },
		{ "/host:CUPTI", XP_HOST_CALLS },
		{ "/host:ROCTRACER", XP_HOST_CALLS },
		{ "/host:python-tracer", XP_HOST_PYTHON },
	};

	for (size_t i = 0; i < FSC_ARRAY_LEN(all); i++)
		if (fsc_xp_is(name, all[i].name))
			return all[i].kind;
	return fsc_xp_starts(name, "/device:") ? XP_DEVICE : XP_OTHER;
}

/* Planes with one name are one process; those of the host's threads too. */
static enum fsc_status make_process(struct xplane *x)
{
	struct xp_plane *p = &x->plane;
	struct fsc_cur name = p->name;

	if (p->kind == XP_HOST_CALLS || p->kind == XP_HOST_PYTHON)
		name = fsc_cur_of(host_name, strlen(host_name));
	p->pid = (struct fsc_build_id){ .is_text = true };
	FSC_TRY(fsc_xp_text(&p->pid.text, x, name));
	FSC_TRY(fsc_build_process(&p->process, x->b, p->pid));
	fsc_build_name_process(x->b, p->process, p->pid.text);
	return FSC_OK;
}

/* ---- lines ---- */

static bool is_hardware_stream(struct fsc_cur name)
{
	return fsc_xp_starts(name, "Stream #");
}

static bool is_op_line(struct fsc_cur name)
{
	return fsc_xp_is(name, "XLA Ops") || fsc_xp_is(name, "Sparse Core Ops");
}

/* Streams of a GPU are its work. A TPU has none: its work is the line of operations, which on a GPU is a view of
 * the streams and must not count twice. */
static enum xp_line_kind line_kind(const struct xp_plane *p, struct fsc_cur name)
{
	if (p->kind != XP_DEVICE)
		return XP_THREAD;
	if (is_hardware_stream(name) || (!p->has_streams && is_op_line(name)))
		return XP_STREAM;
	return XP_ANNOTATION;
}

static enum fsc_status read_line(struct xplane *x, struct xp_line *l, uint64_t *events)
{
	struct fsc_cur c = l->body;
	struct fsc_pb_field f;

	l->name = l->display = fsc_cur_of(c.p, 0);
	while (fsc_pb_next(&c, &f)) {
		if (f.num == LINE_ID && f.wire == FSC_PB_VARINT)
			l->id = fsc_pb_int(&f);
		else if (f.num == LINE_NAME && f.wire == FSC_PB_BYTES)
			l->name = f.body;
		else if (f.num == LINE_TIMESTAMP && f.wire == FSC_PB_VARINT)
			l->timestamp_ns = fsc_pb_int(&f);
		else if (f.num == LINE_DISPLAY_NAME && f.wire == FSC_PB_BYTES)
			l->display = f.body;
		else if (f.num == LINE_EVENTS && f.wire == FSC_PB_BYTES)
			++*events;
		else if (f.num != LINE_DURATION && f.num != LINE_DISPLAY_ID)
			fsc_xp_note(x, &x->n.fields, 1);
	}
	return c.failed ? fsc_xp_corrupt(x, &c, "a line") : FSC_OK;
}

/* The stream's number: of its name, else the line's. */
static int32_t stream_of(const struct xp_line *l)
{
	double v = -1;

	fsc_launch_detail(&v, 1, l->name, "Stream #");
	if (v < 0)
		v = (double)l->id;
	return v >= 0 && v <= INT32_MAX ? (int32_t)v : FSC_NO_ORDINAL;
}

static enum fsc_status make_track(struct xplane *x, struct xp_line *l)
{
	const struct xp_plane *p = &x->plane;
	struct fsc_build_id tid = { .num = l->id };
	uint32_t ident, name;

	FSC_TRY(fsc_xp_text(&name, x, fsc_cur_left(&l->display) ? l->display : l->name));
	/* the builder takes the numbers of an annotation for those of a stream, which these are not */
	if (l->kind == XP_ANNOTATION && name)
		tid = (struct fsc_build_id){ .is_text = true, .text = name };
	FSC_TRY(fsc_build_ident(&ident, x->b, p->pid, tid));
	if (name)
		fsc_build_name_ident(x->b, ident, name);
	if (l->kind == XP_STREAM)
		return fsc_build_stream(&l->track, x->b, ident, p->device, FSC_NO_ORDINAL,
					stream_of(l));
	if (l->kind == XP_THREAD)
		return fsc_build_thread(&l->track, x->b, ident);
	FSC_TRY(fsc_build_annotation(&l->track, x->b, ident, 0));
	fsc_build_trace(x->b)->tracks.v[l->track].device = p->device;
	return FSC_OK;
}

static enum fsc_status take_line(struct xplane *x, struct fsc_cur body)
{
	struct xp_line l = { .body = body };
	struct fsc_pb_field f;
	uint64_t events = 0;

	fsc_xp_at(x, body.p);
	FSC_TRY(read_line(x, &l, &events));
	x->plane.lines++;
	x->plane.events += events;
	if (!events)
		return FSC_OK;
	l.kind = line_kind(&x->plane, l.name);
	FSC_TRY(fsc_xp_failed(x, make_track(x, &l)));
	while (fsc_pb_next(&body, &f))
		if (f.num == LINE_EVENTS && f.wire == FSC_PB_BYTES)
			FSC_TRY(fsc_xp_event(x, &l, f.body));
	return FSC_OK;
}

/* ---- the plane ---- */

/* {"name":"/device:TPU:0","stats":{...}} of planes that say something of themselves. */
static enum fsc_status keep_stats(struct xplane *x)
{
	struct fsc_cur c = x->plane.body;
	struct fsc_buf one = FSC_BUF_INIT(2 * FSC_MAX_META_BYTES);
	struct fsc_pb_field f;
	struct fsc_json j;

	fsc_xp_args_begin(x);
	while (fsc_pb_next(&c, &f))
		if (f.num == PLANE_STATS && f.wire == FSC_PB_BYTES)
			FSC_TRY(fsc_xp_stat_take(x, NULL, f.body));
	fsc_json_obj_end(&x->json);
	fsc_json_init(&j, &one);
	fsc_json_obj(&j);
	fsc_json_key(&j, "name");
	fsc_json_strn(&j, (const char *)x->plane.name.p, fsc_cur_left(&x->plane.name));
	if (fsc_buf_status(&x->args) == FSC_OK) {
		fsc_json_key(&j, "stats");
		fsc_json_raw(&j, x->args.data, x->args.len);
	}
	fsc_json_obj_end(&j);
	if (fsc_buf_status(&x->args) != FSC_OK || fsc_buf_status(&one) != FSC_OK ||
	    x->planes.len + one.len + 2 > FSC_MAX_META_BYTES / 2) {
		fsc_xp_note(x, &x->n.meta_too_big, 1);
	} else {
		if (x->planes.len)
			fsc_buf_addc(&x->planes, ',');
		fsc_buf_add(&x->planes, one.data, one.len);
	}
	fsc_buf_fini(&one);
	return FSC_OK;
}

static enum fsc_status read_fields(struct xplane *x)
{
	struct xp_plane *p = &x->plane;
	struct fsc_cur c = p->body;
	struct fsc_pb_field f;

	while (fsc_pb_next(&c, &f)) {
		if (f.num == PLANE_NAME && f.wire == FSC_PB_BYTES)
			p->name = f.body;
		else if (f.num == PLANE_EVENT_META && f.wire == FSC_PB_BYTES)
			FSC_TRY(fsc_xp_table_add(x, &x->events, f.body));
		else if (f.num == PLANE_STAT_META && f.wire == FSC_PB_BYTES)
			FSC_TRY(fsc_xp_table_add(x, &x->stats, f.body));
		else if (f.num > PLANE_STATS ||
			 (f.wire != (f.num == PLANE_ID ? FSC_PB_VARINT : FSC_PB_BYTES)))
			fsc_xp_note(x, &x->n.fields, 1);
	}
	return c.failed ? fsc_xp_corrupt(x, &c, "a plane") : FSC_OK;
}

/* Whether a line is a stream of the hardware: it decides about lines that come before it. */
static enum fsc_status look_for_streams(struct xplane *x)
{
	struct fsc_cur c = x->plane.body;
	struct fsc_pb_field f;
	uint64_t events = 0;

	while (x->plane.kind == XP_DEVICE && !x->plane.has_streams && fsc_pb_next(&c, &f)) {
		struct xp_line l = { .body = f.body };
		struct fsc_jt_count unknown = x->n.fields;

		if (f.num != PLANE_LINES || f.wire != FSC_PB_BYTES)
			continue;
		FSC_TRY(read_line(x, &l, &events));
		x->n.fields = unknown; /* it is read again */
		x->plane.has_streams = is_hardware_stream(l.name);
	}
	return FSC_OK;
}

enum fsc_status fsc_xp_plane(struct xplane *x)
{
	struct xp_plane *p = &x->plane;
	struct fsc_pb_field f;
	struct fsc_cur c;

	*p = (struct xp_plane){ .body = fsc_cur_of(x->raw.data, x->raw.len) };
	p->device = FSC_NO_ORDINAL;
	p->name = fsc_cur_of(x->raw.data, 0);
	x->events.v.n = x->stats.v.n = 0;
	FSC_TRY(read_fields(x));
	p->metadata = x->events.v.n;
	fsc_xp_table_close(x, &x->events);
	fsc_xp_table_close(x, &x->stats);
	p->kind = kind_of(p->name);
	if (p->kind == XP_DEVICE)
		p->device = device_of(p->name);
	FSC_TRY(look_for_streams(x));
	FSC_TRY(fsc_xp_failed(x, make_process(x)));
	FSC_TRY(keep_stats(x));
	c = p->body;
	while (fsc_pb_next(&c, &f))
		if (f.num == PLANE_LINES && f.wire == FSC_PB_BYTES)
			FSC_TRY(take_line(x, f.body));
	fsc_xp_note(x, &x->n.empty_planes, !p->events);
	return FSC_OK;
}
