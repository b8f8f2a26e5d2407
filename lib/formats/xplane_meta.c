/* SPDX-License-Identifier: Apache-2.0 */
/* The two tables of a plane: what the numbers of its events and stats are called. */
#include <stdlib.h>

#include "formats/xplane_int.h"

/* The fields of XEventMetadata and XStatMetadata that are read have the same numbers, but for display_name. */
enum { META_ID = 1, META_NAME = 2, META_DISPLAY_NAME = 4 };

static const struct {
	const char *name;
	uint8_t role;
} roles[] = {
	{ "correlation_id", XP_CORRELATION },
	{ "kernel_details", XP_KERNEL_DETAILS },
	{ "memcpy_details", XP_MEMCPY_DETAILS },
	{ "Memset_details", XP_MEMSET_DETAILS },
	{ "memset_details", XP_MEMSET_DETAILS },
	{ "memalloc_details", XP_MEMORY_DETAILS },
	{ "MemFree_details", XP_MEMORY_DETAILS },
	{ "MemoryResidency_details", XP_MEMORY_DETAILS },
	{ "hlo_category", XP_HLO_CATEGORY },
	{ "_pt", XP_PRODUCER_TYPE },
	{ "_p", XP_PRODUCER_ID },
	{ "_ct", XP_CONSUMER_TYPE },
	{ "_c", XP_CONSUMER_ID },
	{ "flow", XP_FLOW },
	{ "_r", XP_STEP },
	{ "step_num", XP_STEP },
};

static uint8_t role_of(struct fsc_cur name)
{
	for (size_t i = 0; i < FSC_ARRAY_LEN(roles); i++)
		if (fsc_xp_is(name, roles[i].name))
			return roles[i].role;
	return XP_NONE;
}

static enum fsc_status read_meta(struct xplane *x, struct xp_meta *m)
{
	struct fsc_cur c = m->body;
	struct fsc_pb_field f;

	while (fsc_pb_next(&c, &f)) {
		if (f.num == META_NAME && f.wire == FSC_PB_BYTES)
			m->name = f.body;
		else if (f.num == META_DISPLAY_NAME && f.wire == FSC_PB_BYTES)
			m->display = f.body;
	}
	return c.failed ? fsc_xp_corrupt(x, &c, "an entry of a table of names") : FSC_OK;
}

/* An entry of a protobuf map: key 1, value 2, either may be left out when it is 0 or empty. */
enum fsc_status fsc_xp_table_add(struct xplane *x, struct xp_table *t, struct fsc_cur entry)
{
	struct xp_meta m = { .order = (uint32_t)t->v.n, .name_id = UINT32_MAX };
	struct fsc_cur none = fsc_cur_of(entry.p, 0);
	struct fsc_pb_field f;
	enum fsc_status st;

	fsc_xp_at(x, entry.p);
	m.name = m.display = m.body = none;
	while (fsc_pb_next(&entry, &f)) {
		if (f.num == 1 && f.wire == FSC_PB_VARINT)
			m.id = fsc_pb_int(&f);
		else if (f.num == 2 && f.wire == FSC_PB_BYTES)
			m.body = f.body;
		else
			fsc_xp_note(x, &x->n.fields, 1);
	}
	if (entry.failed)
		return fsc_xp_corrupt(x, &entry, "an entry of a table of names");
	st = read_meta(x, &m);
	if (st != FSC_OK)
		return st;
	m.role = role_of(m.name);
	if (t->v.n >= FSC_MAX_STRINGS)
		return fsc_xp_failed(x, FSC_ELIMIT);
	return fsc_vec_push(&t->v, m) ? FSC_OK : fsc_xp_failed(x, FSC_ENOMEM);
}

static int by_id(const void *a, const void *b)
{
	const struct xp_meta *m = a, *k = b;

	if (m->id != k->id)
		return m->id < k->id ? -1 : 1;
	return m->order < k->order ? 1 : -1;
}

/* In order of the numbers; of entries with one number the last of the file stays. */
void fsc_xp_table_close(struct xplane *x, struct xp_table *t)
{
	size_t n = 0;

	t->last = 0;
	if (t->v.n)
		qsort(t->v.v, t->v.n, sizeof(*t->v.v), by_id);
	for (size_t i = 0; i < t->v.n; i++) {
		if (n && t->v.v[n - 1].id == t->v.v[i].id)
			fsc_xp_note(x, &x->n.twice, 1);
		else
			t->v.v[n++] = t->v.v[i];
	}
	t->v.n = n;
}

struct xp_meta *fsc_xp_table_find(struct xp_table *t, int64_t id)
{
	size_t lo = 0, hi = t->v.n;

	if (t->last < hi && t->v.v[t->last].id == id)
		return &t->v.v[t->last];
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->v.v[mid].id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == t->v.n || t->v.v[lo].id != id)
		return NULL;
	t->last = lo;
	return &t->v.v[lo];
}
