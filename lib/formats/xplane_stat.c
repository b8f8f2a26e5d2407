/* SPDX-License-Identifier: Apache-2.0 */
/* Stats: the args of events, and what in them is more than an argument. */
#include "formats/xplane_int.h"

#include <math.h>

enum { STAT_ID = 1, STAT_DOUBLE, STAT_UINT, STAT_INT, STAT_STR, STAT_BYTES, STAT_REF };

enum fsc_status fsc_xp_stat_read(struct xplane *x, struct xp_stat *s, struct fsc_cur body)
{
	static const enum fsc_pb_wire wires[] = { FSC_PB_VARINT, FSC_PB_FIXED64, FSC_PB_VARINT,
						  FSC_PB_VARINT, FSC_PB_BYTES,	 FSC_PB_BYTES,
						  FSC_PB_VARINT };
	struct fsc_pb_field f;

	*s = (struct xp_stat){ .body = fsc_cur_of(body.p, 0) };
	while (fsc_pb_next(&body, &f)) {
		if (f.num > STAT_REF || f.wire != wires[f.num - 1]) {
			fsc_xp_note(x, &x->n.fields, 1);
		} else if (f.num == STAT_ID) {
			s->id = fsc_pb_int(&f);
		} else {
			s->num = f.num;
			s->v = f.v;
			s->body = f.body;
		}
	}
	return body.failed ? fsc_xp_corrupt(x, &body, "a stat") : FSC_OK;
}

/* ---- meaning ---- */

static bool number(int64_t *out, const struct xp_stat *s)
{
	*out = (int64_t)s->v;
	if (s->num == STAT_UINT)
		return s->v <= INT64_MAX;
	return s->num == STAT_INT;
}

static struct fsc_cur text_of(struct xplane *x, const struct xp_stat *s)
{
	const struct xp_meta *m;

	if (s->num != STAT_REF)
		return s->body;
	m = fsc_xp_table_find(&x->stats, (int64_t)s->v);
	return m ? m->name : s->body;
}

static void take_role(struct xplane *x, struct xp_facts *f, uint8_t role, const struct xp_stat *s)
{
	switch (role) {
	case XP_CORRELATION:
		if (!number(&f->correlation, s)) {
			f->correlation = FSC_NO_CORRELATION;
			fsc_xp_note(x, &x->n.bad_corr, 1);
		}
		break;
	case XP_KERNEL_DETAILS:
		f->is_kernel = true;
		f->kernel = text_of(x, s);
		break;
	case XP_MEMCPY_DETAILS:
		f->is_memcpy = true;
		f->bytes = text_of(x, s);
		break;
	case XP_MEMSET_DETAILS:
		f->is_memset = true;
		f->bytes = text_of(x, s);
		break;
	case XP_MEMORY_DETAILS:
		f->is_memory = true;
		break;
	case XP_HLO_CATEGORY:
		f->hlo_category = text_of(x, s);
		break;
	case XP_PRODUCER_TYPE:
	case XP_PRODUCER_ID:
		f->produces |= role == XP_PRODUCER_ID;
		f->producer[role == XP_PRODUCER_ID] = s->v;
		break;
	case XP_CONSUMER_TYPE:
	case XP_CONSUMER_ID:
		f->consumes |= role == XP_CONSUMER_ID;
		f->consumer[role == XP_CONSUMER_ID] = s->v;
		break;
	case XP_FLOW:
		f->has_flow = true;
		f->flow = s->v;
		break;
	case XP_STEP:
		f->is_step = true;
		break;
	default:
		break;
	}
}

/* ---- args ---- */

void fsc_xp_args_begin(struct xplane *x)
{
	fsc_buf_clear(&x->args);
	fsc_json_init(&x->json, &x->args);
	fsc_json_obj(&x->json);
	x->n_seen = 0;
}

static void put_text(struct xplane *x, struct fsc_cur s)
{
	fsc_json_strn(&x->json, (const char *)s.p, fsc_cur_left(&s));
}

static void put_ref(struct xplane *x, const struct xp_stat *s)
{
	const struct xp_meta *m = fsc_xp_table_find(&x->stats, (int64_t)s->v);

	if (m && fsc_xp_may_expand(x, fsc_cur_left(&m->name))) {
		put_text(x, m->name);
		return;
	}
	fsc_xp_note(x, m ? &x->n.too_big : &x->n.bad_ref, 1);
	fsc_json_uint(&x->json, s->v);
}

static void put_value(struct xplane *x, const struct xp_stat *s)
{
	double d;

	switch (s->num) {
	case STAT_DOUBLE:
		memcpy(&d, &s->v, sizeof(d));
		fsc_xp_note(x, &x->n.nonfinite, isfinite(d) ? 0u : 1u);
		fsc_json_double(&x->json, d);
		break;
	case STAT_UINT:
		fsc_json_uint(&x->json, s->v);
		break;
	case STAT_INT:
		fsc_json_int(&x->json, (int64_t)s->v);
		break;
	case STAT_STR:
		put_text(x, s->body);
		break;
	case STAT_REF:
		put_ref(x, s);
		break;
	default:
		fsc_json_null(&x->json);
	}
}

/* False when a stat of this number came before: those of the event come before those of its name. */
static bool first_of(struct xplane *x, int64_t id)
{
	for (uint32_t i = 0; i < x->n_seen; i++)
		if (x->seen[i] == id)
			return false;
	if (x->n_seen < FSC_ARRAY_LEN(x->seen))
		x->seen[x->n_seen++] = id;
	return true;
}

enum fsc_status fsc_xp_stat_take(struct xplane *x, struct xp_facts *facts, struct fsc_cur body)
{
	struct xp_stat s;
	struct xp_meta *m;
	size_t n = 0;
	const char *key;

	FSC_TRY(fsc_xp_stat_read(x, &s, body));
	m = fsc_xp_table_find(&x->stats, s.id);
	if (!m) {
		fsc_xp_note(x, &x->n.no_stat, 1);
		return FSC_OK;
	}
	if (!first_of(x, s.id))
		return FSC_OK;
	if (facts && m->role)
		take_role(x, facts, m->role, &s);
	if (s.num == STAT_BYTES) {
		fsc_xp_note(x, &x->n.bytes, 1);
		return FSC_OK;
	}
	if (m->name_id == UINT32_MAX)
		FSC_TRY(fsc_xp_failed(x, fsc_xp_text(&m->name_id, x, m->name)));
	key = fsc_strtab_get(fsc_build_trace(x->b)->strings, m->name_id, &n);
	fsc_json_key(&x->json, key);
	put_value(x, &s);
	return FSC_OK;
}
