/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks an XSpace: planes one after the other, each read whole (the names of its events stand behind them), and
 * the few texts around them. Field numbers are those of xplane.proto.
 */
#include "formats/xplane.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "formats/xplane_int.h"

#define READ_STEP ((size_t)FSC_MIB)

enum { SPACE_PLANES = 1, SPACE_ERRORS = 2, SPACE_WARNINGS = 3, SPACE_HOSTNAMES = 4 };

/* ---- errors ---- */

/* Files that went through a text editor or a JSON API have U+FFFD where bytes were. */
static const char *hint(const struct xplane *x)
{
	const char *s = x->raw.data;

	return s && memmem(s, x->raw.len, "\xEF\xBF\xBD\xEF\xBF\xBD", 6)
		       ? "; it seems to have been saved as text once, which destroys it"
		       : "";
}

enum fsc_status fsc_xp_corrupt(struct xplane *x, const struct fsc_cur *c, const char *what)
{
	enum fsc_status st = fsc_err_set(x->err, FSC_ECORRUPT, "xplane_corrupt",
					 "xplane: %s is damaged%s", what, hint(x));
	const uint8_t *raw = (const uint8_t *)x->raw.data;

	fsc_err_at(x->err, NULL, (int64_t)(x->base + (uint64_t)(c->p - raw)));
	return st;
}

enum fsc_status fsc_xp_failed(struct xplane *x, enum fsc_status st)
{
	if (st == FSC_ELIMIT)
		st = fsc_err_set(x->err, st, "too_many_names",
				 "the file has more events, names or tracks than the limits allow");
	else if (st == FSC_ENOMEM)
		st = fsc_err_set(x->err, st, NULL, "no memory for the trace");
	else
		return st;
	fsc_err_at(x->err, NULL, (int64_t)x->base);
	return st;
}

static enum fsc_status truncated(struct xplane *x)
{
	enum fsc_status st = fsc_err_set(x->err, FSC_ECORRUPT, "xplane_truncated",
					 "xplane: the file ends inside a plane: it was cut short");

	fsc_err_at(x->err, NULL, (int64_t)x->at);
	return st;
}

static enum fsc_status bad_field(struct xplane *x, uint64_t at)
{
	enum fsc_status st =
		fsc_err_set(x->err, FSC_ECORRUPT, "xplane_corrupt",
			    "xplane: what follows the planes is no field of an XSpace%s", hint(x));

	fsc_err_at(x->err, NULL, (int64_t)at);
	return st;
}

enum fsc_status fsc_xp_text(uint32_t *id, struct xplane *x, struct fsc_cur s)
{
	uint64_t utf8 = 0, zeros = 0;
	enum fsc_status st =
		fsc_build_text(id, x->b, (const char *)s.p, fsc_cur_left(&s), &utf8, &zeros);

	fsc_xp_note(x, &x->n.utf8, utf8);
	fsc_xp_note(x, &x->n.zeros, zeros);
	return st;
}

/* ---- bytes ---- */

/* n bytes that must be there. */
static enum fsc_status take(struct xplane *x, void *dst, size_t n)
{
	size_t got = 0;
	enum fsc_status st = fsc_source_read(x->src, dst, n, &got, x->err);

	x->at += got;
	if (st == FSC_OK && got == n)
		return FSC_OK;
	return st == FSC_OK || st == FSC_END ? truncated(x) : st;
}

/* A varint; FSC_END when the file ends before it and that is a place to end. */
static enum fsc_status take_varint(struct xplane *x, uint64_t *v, bool may_end)
{
	uint64_t from = x->at;

	*v = 0;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte;
		size_t got = 0;
		enum fsc_status st = fsc_source_read(x->src, &byte, 1, &got, x->err);

		if (st == FSC_END)
			return may_end && shift == 0 ? FSC_END : truncated(x);
		if (st != FSC_OK)
			return st;
		x->at++;
		*v |= (uint64_t)(byte & 0x7F) << shift;
		if (!(byte & 0x80))
			return shift == 63 && byte > 1 ? bad_field(x, from) : FSC_OK;
	}
	return bad_field(x, from);
}

/* The body of a field into x->raw, which grows as bytes come: a length alone allocates nothing. */
static enum fsc_status take_body(struct xplane *x, uint64_t n)
{
	fsc_buf_clear(&x->raw);
	x->base = x->at;
	if (n > FSC_MAX_PLANE_BYTES) {
		fsc_err_set(x->err, FSC_ELIMIT, "plane_too_big",
			    "xplane: a plane of %" PRIu64 " bytes: more than %llu are not read", n,
			    FSC_MAX_PLANE_BYTES);
		fsc_err_at(x->err, NULL, (int64_t)x->base);
		return FSC_ELIMIT;
	}
	/* an empty body has an address too */
	if (!fsc_buf_room(&x->raw, 1))
		return fsc_xp_failed(x, FSC_ENOMEM);
	while (n) {
		size_t step = n < READ_STEP ? (size_t)n : READ_STEP;
		char *room = fsc_buf_room(&x->raw, step);

		if (!room)
			return fsc_xp_failed(x, FSC_ENOMEM);
		FSC_TRY(take(x, room, step));
		x->raw.len += step;
		n -= step;
		if (x->sink->progress)
			x->sink->progress(x->sink->ctx, x->at, fsc_build_events(x->b));
	}
	return FSC_OK;
}

static enum fsc_status skip(struct xplane *x, uint64_t n)
{
	uint8_t sink[4096];

	while (n) {
		size_t step = n < sizeof(sink) ? (size_t)n : sizeof(sink);

		FSC_TRY(take(x, sink, step));
		n -= step;
	}
	return FSC_OK;
}

/* ---- the fields of an XSpace ---- */

/* Errors, warnings and host names: kept as metadata; the first host name is the host. */
static enum fsc_status space_text(struct xplane *x, uint64_t num, uint64_t n)
{
	struct fsc_trace_meta *m = &fsc_build_trace(x->b)->meta;
	static const char *const keys[] = { "errors", "warnings", "hostnames" };
	struct fsc_buf one = FSC_BUF_INIT(2 * FSC_MAX_META_BYTES);
	struct fsc_json j;
	struct fsc_cur c;

	if (n > FSC_MAX_META_BYTES / 8) {
		fsc_xp_note(x, &x->n.meta_too_big, 1);
		return skip(x, n);
	}
	FSC_TRY(take_body(x, n));
	c = fsc_cur_of(x->raw.data, x->raw.len);
	if (num == SPACE_HOSTNAMES && !m->host)
		FSC_TRY(fsc_xp_failed(x, fsc_xp_text(&m->host, x, c)));
	fsc_json_init(&j, &one);
	fsc_json_arr(&j);
	fsc_json_str(&j, keys[num - SPACE_ERRORS]);
	fsc_json_strn(&j, (const char *)c.p, n);
	fsc_json_arr_end(&j);
	if (fsc_buf_status(&one) != FSC_OK || x->texts.len + one.len + 2 > FSC_MAX_META_BYTES / 2) {
		fsc_xp_note(x, &x->n.meta_too_big, 1);
	} else {
		if (x->texts.len)
			fsc_buf_addc(&x->texts, ',');
		fsc_buf_add(&x->texts, one.data, one.len);
	}
	fsc_buf_fini(&one);
	return FSC_OK;
}

static enum fsc_status space_field(struct xplane *x, uint64_t tag, uint64_t at)
{
	uint64_t n;

	if (tag >> 3 == 0 || tag >> 3 >= 1u << 29)
		return bad_field(x, at);
	if ((tag & 7) != FSC_PB_BYTES)
		fsc_xp_note(x, &x->n.fields, 1);
	switch (tag & 7) {
	case FSC_PB_VARINT:
		return take_varint(x, &n, false);
	case FSC_PB_FIXED64:
		return skip(x, 8);
	case FSC_PB_FIXED32:
		return skip(x, 4);
	case FSC_PB_BYTES:
		break;
	default:
		return bad_field(x, at);
	}
	FSC_TRY(take_varint(x, &n, false));
	if (tag >> 3 == SPACE_PLANES) {
		FSC_TRY(take_body(x, n));
		return fsc_xp_plane(x);
	}
	if (tag >> 3 <= SPACE_HOSTNAMES)
		return space_text(x, tag >> 3, n);
	fsc_xp_note(x, &x->n.fields, 1);
	return skip(x, n);
}

static enum fsc_status walk(struct xplane *x)
{
	for (;;) {
		uint64_t at = x->at, tag;
		enum fsc_status st = take_varint(x, &tag, true);

		if (st == FSC_END)
			return FSC_OK;
		x->where = at;
		if (st == FSC_OK)
			st = space_field(x, tag, at);
		if (st != FSC_OK)
			return st;
	}
}

/* ---- the trace ---- */

static void name_losses(struct xplane *x)
{
	const struct {
		const char *code;
		const struct fsc_jt_count *n;
	} all[] = {
		{ "xplane_field_unknown", &x->n.fields },
		{ "time_below_1_ns", &x->n.inexact },
		{ "event_bad_ts", &x->n.bad_time },
		{ "event_aggregated", &x->n.aggregated },
		{ "event_name_missing", &x->n.no_name },
		{ "stat_name_missing", &x->n.no_stat },
		{ "stat_ref_unknown", &x->n.bad_ref },
		{ "stat_bytes_left_out", &x->n.bytes },
		{ "number_not_finite", &x->n.nonfinite },
		{ "args_too_big", &x->n.too_big },
		{ "utf8_repaired", &x->n.utf8 },
		{ "control_character", &x->n.zeros },
		{ "meta_value_too_big", &x->n.meta_too_big },
		{ "duplicate_key", &x->n.twice },
		{ "plane_without_events", &x->n.empty_planes },
		{ "correlation_not_a_number", &x->n.bad_corr },
	};

	for (size_t i = 0; i < FSC_ARRAY_LEN(all); i++)
		fsc_build_loss_at(x->b, all[i].code, all[i].n->n, (int64_t)all[i].n->first);
}

/* {"planes":[...],"texts":[["hostnames","host-0"]]} */
static enum fsc_status put_meta(struct xplane *x, struct fsc_trace *t)
{
	fsc_buf_adds(&x->meta, "{\"planes\":[");
	fsc_buf_add(&x->meta, x->planes.data, x->planes.len);
	fsc_buf_adds(&x->meta, "]");
	if (x->texts.len) {
		fsc_buf_adds(&x->meta, ",\"texts\":[");
		fsc_buf_add(&x->meta, x->texts.data, x->texts.len);
		fsc_buf_adds(&x->meta, "]");
	}
	fsc_buf_adds(&x->meta, "}");
	FSC_TRY(fsc_buf_status(&x->meta));
	FSC_TRY(fsc_build_str(&t->meta.format, x->b, "xplane", 6));
	return fsc_build_str(&t->meta.json, x->b, x->meta.data, x->meta.len);
}

static enum fsc_status deliver(struct xplane *x)
{
	struct fsc_trace *t = fsc_build_trace(x->b);
	uint64_t unmatched = 0;

	if (!t->slices.n) {
		fsc_err_set(x->err, FSC_EUNSUPPORTED, "not_a_timeline",
			    "xplane: no plane holds an event with a time");
		fsc_err_at(x->err, NULL, (int64_t)x->at);
		return FSC_EUNSUPPORTED;
	}
	FSC_TRY(fsc_xp_failed(x, fsc_launch_pairs_bind(&x->pairs, x->b, &unmatched)));
	fsc_build_loss_at(x->b, "launch_without_call", unmatched, -1);
	name_losses(x);
	FSC_TRY(fsc_xp_failed(x, put_meta(x, t)));
	/* The bytes are not needed to order the trace. */
	fsc_buf_fini(&x->raw);
	FSC_TRY(fsc_build_finish(&t, x->b, x->err));
	return x->sink->trace(x->sink->ctx, t, x->err);
}

static int64_t where(const void *ctx)
{
	return (int64_t)((const struct xplane *)ctx)->where;
}

static void free_all(struct xplane *x)
{
	fsc_build_free(x->b);
	fsc_launch_pairs_fini(&x->pairs);
	fsc_vec_fini(&x->events.v);
	fsc_vec_fini(&x->stats.v);
	fsc_buf_fini(&x->raw);
	fsc_buf_fini(&x->text);
	fsc_buf_fini(&x->args);
	fsc_buf_fini(&x->meta);
	fsc_buf_fini(&x->planes);
	fsc_buf_fini(&x->texts);
	fsc_free(x);
}

enum fsc_status fsc_xplane_read(struct fsc_source *src, const struct fsc_reader_sink *sink,
				struct fsc_err *err)
{
	struct xplane *x = fsc_alloc(1, sizeof(*x));
	enum fsc_status st;

	if (!x)
		return fsc_err_set(err, FSC_ENOMEM, NULL, "no memory for the reader");
	x->src = src;
	x->sink = sink;
	x->err = err;
	fsc_buf_init(&x->raw, FSC_MAX_PLANE_BYTES + READ_STEP);
	fsc_buf_init(&x->text, 3 * FSC_MAX_PLANE_BYTES);
	fsc_buf_init(&x->args, FSC_MAX_ARGS_BYTES);
	fsc_buf_init(&x->meta, 2 * FSC_MAX_META_BYTES);
	fsc_buf_init(&x->planes, FSC_MAX_META_BYTES);
	fsc_buf_init(&x->texts, FSC_MAX_META_BYTES);
	memset(x->cat, 0xFF, sizeof(x->cat));
	x->b = fsc_build_new();
	if (x->b)
		fsc_build_where(x->b, where, x);
	st = x->b ? walk(x) : fsc_xp_failed(x, FSC_ENOMEM);
	if (st == FSC_OK)
		st = deliver(x);
	free_all(x);
	return st;
}

/* ---- telling it ---- */

static bool known_plane(struct fsc_cur name)
{
	static const char *const known[] = { "/device:",	 "/host:",    "#Chip",
					     "Task Environment", "Host CPUs", "Syscalls",
					     "/custom:",	 NULL };

	for (const char *const *k = known; *k; k++)
		if (fsc_xp_starts(name, *k))
			return true;
	return false;
}

/* Takes a string or message field's length off c; its body is what of it the head has. */
static bool take_bytes(struct fsc_cur *c, struct fsc_cur *body)
{
	uint64_t n = fsc_cur_varint(c);
	size_t have = fsc_cur_left(c);

	if (c->failed)
		return false;
	*body = fsc_cur_of(c->p, n < have ? (size_t)n : have);
	c->p = body->end;
	return true;
}

/* A plane begins with its number, when that is not 0, and its name; then come lines or tables of names. */
int fsc_xplane_sniff(const uint8_t *head, size_t n)
{
	struct fsc_cur c = fsc_cur_of(head, n), plane, name;
	uint8_t tag = fsc_cur_u8(&c);

	if (n < 4 || tag != (SPACE_PLANES << 3 | FSC_PB_BYTES) || !take_bytes(&c, &plane))
		return 0;
	tag = fsc_cur_u8(&plane);
	if (tag == (1 << 3 | FSC_PB_VARINT)) {
		fsc_cur_varint(&plane);
		tag = fsc_cur_u8(&plane);
	}
	if (plane.failed || tag != (2 << 3 | FSC_PB_BYTES) || !take_bytes(&plane, &name))
		return 0;
	if (known_plane(name))
		return 95;
	if (!fsc_cur_left(&name) || !fsc_utf8_valid((const char *)name.p, fsc_cur_left(&name)))
		return 0;
	for (const uint8_t *p = name.p; p < name.end; p++)
		if (*p < ' ')
			return 0;
	if (plane.p == plane.end)
		return 0;
	tag = *plane.p & 7;
	return tag == FSC_PB_BYTES && *plane.p >> 3 >= 3 && *plane.p >> 3 <= 6 ? 60 : 0;
}
