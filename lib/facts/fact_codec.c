/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fact frames to bytes and back. Every field list of fact.h is expanded three times here: to a table of
 * (kind, offset in the struct, name) that both directions walk, so that a new field needs no code.
 */
#include "facts/fact_codec.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/limits.h"
#include "base/utf8.h"

enum field_kind { KIND_I, KIND_N, KIND_S };

struct field {
	enum field_kind kind;
	size_t offset;
	const char *name;
};

struct shape {
	const char *name;
	const struct field *fields;
	size_t n;
};

#define FIELD_ROW_IN(STRUCT, k, field_name) \
	{ KIND_##k, offsetof(struct STRUCT, field_name), #field_name },

#define ROW_trace(k, f) FIELD_ROW_IN(fsc_fact_trace, k, f)
#define ROW_loss(k, f) FIELD_ROW_IN(fsc_fact_loss, k, f)
#define ROW_category(k, f) FIELD_ROW_IN(fsc_fact_category, k, f)
#define ROW_device(k, f) FIELD_ROW_IN(fsc_fact_device, k, f)
#define ROW_idle(k, f) FIELD_ROW_IN(fsc_fact_idle, k, f)
#define ROW_kernel(k, f) FIELD_ROW_IN(fsc_fact_kernel, k, f)
#define ROW_step(k, f) FIELD_ROW_IN(fsc_fact_step, k, f)
#define ROW_segment_wanted(k, f) FIELD_ROW_IN(fsc_fact_segment_wanted, k, f)
#define ROW_trace_end(k, f) FIELD_ROW_IN(fsc_fact_trace_end, k, f)
#define ROW_member(k, f) FIELD_ROW_IN(fsc_fact_member, k, f)
#define ROW_progress(k, f) FIELD_ROW_IN(fsc_fact_progress, k, f)
#define ROW_end(k, f) FIELD_ROW_IN(fsc_fact_end, k, f)

#define FIELD_TABLE(num, UPPER, lower) \
	static const struct field fields_##lower[] = { FSC_FACT_FIELDS_##UPPER(ROW_##lower) };
FSC_FACT_TYPES(FIELD_TABLE)

#define SHAPE_ROW(num, UPPER, lower) \
	[num] = { #lower, fields_##lower, sizeof(fields_##lower) / sizeof(fields_##lower[0]) },
static const struct shape shapes[] = { FSC_FACT_TYPES(SHAPE_ROW) };

#define N_SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static const struct shape *shape_of(unsigned type)
{
	return type < N_SHAPES && shapes[type].name ? &shapes[type] : NULL;
}

const char *fsc_fact_type_name(enum fsc_fact_type type)
{
	const struct shape *s = shape_of((unsigned)type);

	return s ? s->name : "unknown";
}

static uint64_t zigzag(int64_t v)
{
	return ((uint64_t)v << 1) ^ (v < 0 ? UINT64_MAX : 0);
}

static int64_t unzigzag(uint64_t u)
{
	return (int64_t)((u >> 1) ^ (u & 1 ? UINT64_MAX : 0));
}

static void put_field(struct fsc_buf *out, const struct field *fd, const char *base)
{
	if (fd->kind == KIND_S) {
		const char *s = NULL;

		memcpy(&s, base + fd->offset, sizeof(s));
		size_t n = s ? strlen(s) : 0;
		fsc_buf_varint(out, n);
		fsc_buf_add(out, s, n);
	} else {
		int64_t v = 0;

		memcpy(&v, base + fd->offset, sizeof(v));
		fsc_buf_varint(out, zigzag(v));
	}
}

enum fsc_status fsc_fact_encode(struct fsc_buf *out, const struct fsc_fact *f)
{
	const struct shape *s = shape_of((unsigned)f->type);
	const char *base = (const char *)&f->u;
	size_t start = out->len;

	if (!s)
		return FSC_EINVAL;
	fsc_buf_u32(out, 0);
	fsc_buf_u16(out, (uint16_t)f->type);
	fsc_buf_u16(out, 0);
	for (size_t i = 0; i < s->n; i++)
		put_field(out, &s->fields[i], base);
	if (fsc_buf_status(out) != FSC_OK)
		return fsc_buf_status(out);
	size_t payload = out->len - start - FSC_FACT_HEADER_BYTES;
	if (payload > FSC_MAX_FACT_FRAME) {
		out->len = start;
		out->data[start] = '\0';
		return FSC_ELIMIT;
	}
	for (unsigned i = 0; i < 4; i++)
		out->data[start + i] = (char)(uint8_t)(payload >> (8 * i));
	return FSC_OK;
}

void fsc_fact_decoder_init(struct fsc_fact_decoder *d)
{
	memset(d, 0, sizeof(*d));
	fsc_buf_init(&d->in, 4 * (FSC_MAX_FACT_FRAME + FSC_FACT_HEADER_BYTES));
}

void fsc_fact_decoder_fini(struct fsc_fact_decoder *d)
{
	fsc_buf_fini(&d->in);
}

enum fsc_status fsc_fact_decoder_put(struct fsc_fact_decoder *d, const void *p, size_t n,
				     struct fsc_err *err)
{
	if (n > FSC_FACT_MAX_STREAM_BYTES - d->total)
		return fsc_err_set(err, FSC_ELIMIT, "indexer_protocol",
				   "fact stream is longer than %llu bytes",
				   FSC_FACT_MAX_STREAM_BYTES);
	d->total += n;
	if (d->pos) {
		memmove(d->in.data, d->in.data + d->pos, d->in.len - d->pos);
		d->in.len -= d->pos;
		d->pos = 0;
	}
	fsc_buf_add(&d->in, p, n);
	if (fsc_buf_status(&d->in) == FSC_ENOMEM) /* ours, not the indexer's fault */
		return fsc_err_set(err, FSC_ENOMEM, NULL, "facts: no memory for the stream");
	if (fsc_buf_status(&d->in) != FSC_OK)
		return fsc_err_set(err, fsc_buf_status(&d->in), "indexer_protocol",
				   "fact stream does not fit its buffer");
	return FSC_OK;
}

/*
 * A string is moved one byte to the left, over the last byte of its length, so that its terminating NUL
 * fits into the payload without a copy elsewhere.
 */
static enum fsc_status get_string(const char **out, struct fsc_cur *c, const char **why)
{
	uint64_t n = fsc_cur_varint(c);

	if (c->failed || n > fsc_cur_left(c)) {
		*why = "passes the end of the frame";
		return FSC_EPARSE;
	}
	char *s = (char *)(uintptr_t)c->p - 1;
	memmove(s, s + 1, (size_t)n);
	s[n] = '\0';
	c->p += n;
	if (memchr(s, '\0', (size_t)n) || !fsc_utf8_valid(s, (size_t)n)) {
		*why = "is not UTF-8 text";
		return FSC_EPARSE;
	}
	*out = s;
	return FSC_OK;
}

static enum fsc_status get_field(char *base, const struct field *fd, struct fsc_cur *c,
				 const char **why)
{
	if (fd->kind == KIND_S) {
		const char *s = NULL;
		enum fsc_status st = get_string(&s, c, why);

		memcpy(base + fd->offset, &s, sizeof(s));
		return st;
	}
	int64_t v = unzigzag(fsc_cur_varint(c));
	memcpy(base + fd->offset, &v, sizeof(v));
	if (c->failed) {
		*why = "passes the end of the frame";
		return FSC_EPARSE;
	}
	if (fd->kind == KIND_I && v < 0) {
		*why = "is negative";
		return FSC_EPARSE;
	}
	return FSC_OK;
}

/* What the grammar allows here; keeps the state of the decoder. NULL when the frame is in order. */
static const char *check_order(struct fsc_fact_decoder *d, const struct fsc_fact *f)
{
	if (d->ended)
		return "follows the end frame";
	switch (f->type) {
	case FSC_FACT_TRACE:
		if (d->in_trace)
			return "begins inside another trace";
		d->in_trace = true;
		d->have_segment = false;
		return NULL;
	case FSC_FACT_LOSS:
	case FSC_FACT_CATEGORY:
	case FSC_FACT_DEVICE:
	case FSC_FACT_IDLE:
	case FSC_FACT_KERNEL:
	case FSC_FACT_STEP:
		return d->in_trace ? NULL : "stands outside a trace";
	case FSC_FACT_SEGMENT_WANTED:
		if (!d->in_trace || d->have_segment)
			return "is not expected here";
		d->have_segment = true;
		return NULL;
	case FSC_FACT_TRACE_END:
		if (!d->in_trace || !d->have_segment)
			return "ends no trace with a segment";
		d->in_trace = false;
		return NULL;
	case FSC_FACT_MEMBER:
		if (strcmp(f->u.member.outcome, "failed") && strcmp(f->u.member.outcome, "skipped"))
			return "has an unknown outcome";
		if (d->in_trace && strcmp(f->u.member.outcome, "failed"))
			return "stands inside a trace";
		d->in_trace = false;
		return NULL;
	case FSC_FACT_PROGRESS:
		return NULL;
	case FSC_FACT_END:
		if (d->in_trace)
			return "stands inside a trace";
		d->ended = true;
		return NULL;
	}
	return "is of an unknown type";
}

static const char *check_values(const struct fsc_fact *f)
{
	int64_t scope = f->type == FSC_FACT_DEVICE   ? f->u.device.scope
			: f->type == FSC_FACT_IDLE   ? f->u.idle.scope
			: f->type == FSC_FACT_KERNEL ? f->u.kernel.scope
						     : 0;

	if (scope > FSC_SCOPE_NO_LAST)
		return "has an unknown scope";
	if (f->type == FSC_FACT_TRACE && (f->u.trace.rank < -1 || f->u.trace.world_size < -1))
		return "has a rank or world size below -1";
	return NULL;
}

static uint32_t get_le(const char *p, unsigned n)
{
	uint32_t v = 0;

	for (unsigned i = 0; i < n; i++)
		v |= (uint32_t)(uint8_t)p[i] << (8 * i);
	return v;
}

enum fsc_status fsc_fact_decoder_next(struct fsc_fact *out, struct fsc_fact_decoder *d,
				      struct fsc_err *err)
{
	size_t have = d->in.len - d->pos;
	const char *why = NULL;

	if (have < FSC_FACT_HEADER_BYTES)
		return FSC_AGAIN;
	const char *head = d->in.data + d->pos;
	uint32_t payload = get_le(head, 4);
	unsigned type = get_le(head + 4, 2);
	const struct shape *s = shape_of(type);
	int64_t at = (int64_t)(d->total - have);

	if (payload > FSC_MAX_FACT_FRAME || !s || get_le(head + 6, 2)) {
		fsc_err_set(err, FSC_EPARSE, "indexer_protocol",
			    "fact stream: frame of type %u with %u bytes is not one of ours", type,
			    payload);
		fsc_err_at(err, NULL, at);
		return FSC_EPARSE;
	}
	if (have - FSC_FACT_HEADER_BYTES < payload)
		return FSC_AGAIN;
	memset(out, 0, sizeof(*out));
	out->type = (enum fsc_fact_type)type;
	struct fsc_cur c = fsc_cur_of(head + FSC_FACT_HEADER_BYTES, payload);
	const char *field = "";
	for (size_t i = 0; i < s->n; i++) {
		field = s->fields[i].name;
		if (get_field((char *)&out->u, &s->fields[i], &c, &why) != FSC_OK)
			goto bad;
	}
	field = "";
	if (fsc_cur_left(&c))
		why = "has bytes after its last field";
	if (!why)
		why = check_values(out);
	if (!why)
		why = check_order(d, out);
	if (why)
		goto bad;
	d->pos += FSC_FACT_HEADER_BYTES + payload;
	return FSC_OK;
bad:
	fsc_err_set(err, FSC_EPARSE, "indexer_protocol", "fact stream: frame %s%s%s %s", s->name,
		    field[0] ? ": field " : "", field, why);
	fsc_err_at(err, NULL, at);
	return FSC_EPARSE;
}

enum fsc_status fsc_fact_decoder_finish(const struct fsc_fact_decoder *d, struct fsc_err *err)
{
	if (d->ended && d->pos == d->in.len)
		return FSC_OK;
	fsc_err_set(err, FSC_EPARSE, "indexer_protocol", "fact stream %s",
		    d->ended ? "goes on after its end frame" : "stops without an end frame");
	fsc_err_at(err, NULL, (int64_t)d->total);
	return FSC_EPARSE;
}
