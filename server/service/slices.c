/* SPDX-License-Identifier: Apache-2.0 */
/* Slices as columns. Every name is written once a response, every number in the width it needs. */
#include "service/slices.h"

#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/num.h"

/* The names of one response: string id of the segment -> index in order of first use. */
struct names {
	uint32_t *key,
		*idx; /* owned, open addressing; key 0 marks a free place, so ids are kept + 1 */
	uint32_t mask, n;
	FSC_VEC(uint32_t) ids;
};

static bool names_init(struct names *m, size_t n_items)
{
	uint32_t cap = 16;

	while (cap < 2 * n_items)
		cap *= 2;
	memset(m, 0, sizeof(*m));
	m->mask = cap - 1;
	m->key = fsc_alloc(cap, sizeof(*m->key));
	m->idx = fsc_alloc(cap, sizeof(*m->idx));
	return m->key && m->idx;
}

static void names_fini(struct names *m)
{
	fsc_free(m->key);
	fsc_free(m->idx);
	fsc_vec_fini(&m->ids);
}

static bool names_put(struct names *m, uint32_t id, uint32_t *idx)
{
	uint32_t at = (id * 2654435761u) & m->mask;

	while (m->key[at] && m->key[at] != id + 1)
		at = (at + 1) & m->mask;
	if (!m->key[at]) {
		if (!fsc_vec_push(&m->ids, id))
			return false;
		m->key[at] = id + 1;
		m->idx[at] = m->n++;
	}
	*idx = m->idx[at];
	return true;
}

/* How times are written: base and unit such that a window and one before it fit 32 bits. */
struct ticks {
	int64_t base, t0, t1;
	uint32_t shift;
};

static struct ticks make_ticks(const struct fsc_seg_info *info, int64_t t0, int64_t t1)
{
	struct ticks t = { .t0 = t0, .t1 = t1 };
	int64_t window = t1 - t0;

	t.base = fsc_sub_i64_sat(t0, window);
	if (t.base < info->t_min_ns)
		t.base = info->t_min_ns < t0 ? info->t_min_ns : t0;
	if (window <= UINT32_MAX && (uint64_t)(t1 - t.base) > UINT32_MAX)
		t.base = t1 - (int64_t)UINT32_MAX; /* exact for windows below 4.29 s */
	while (((uint64_t)(t1 - t.base) >> t.shift) > UINT32_MAX)
		t.shift++;
	return t;
}

static uint32_t to_ticks(const struct ticks *t, int64_t ns)
{
	uint64_t v = ns > 0 ? (uint64_t)ns >> t->shift : 0;

	return v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
}

static uint8_t busy_share(const struct fsc_seg_item *it)
{
	int64_t extent = it->t1 - it->t0;
	int64_t share;

	if (!(it->flags & FSC_ITEM_MERGED))
		return 255;
	if (extent <= 0 || it->busy_ns <= 0)
		return 0;
	share = it->busy_ns >= extent ? 255
				      : (int64_t)((double)it->busy_ns * 255.0 / (double)extent);
	return (uint8_t)(share ? share : 1);
}

static uint8_t item_flags(const struct ticks *t, const struct fsc_seg_item *it)
{
	return (uint8_t)(it->flags | (it->t0 < t->base ? FSC_SLICES_BEFORE : 0) |
			 (it->t1 > t->t1 ? FSC_SLICES_AFTER : 0));
}

struct row_place {
	uint16_t track, depth;
};

static enum fsc_status list_rows(uint32_t **rows, struct row_place **places, uint32_t *n,
				 const struct fsc_seg *s, const uint32_t *tracks, uint32_t n_tracks,
				 struct fsc_err *err)
{
	size_t total = 0, at = 0;

	for (uint32_t i = 0; i < n_tracks; i++)
		total += fsc_seg_track(s, tracks[i])->depths;
	if (total > UINT16_MAX)
		return fsc_err_set(
			err, FSC_EINVAL, "too_many_rows",
			"the tracks have %zu rows, at most 65535 can be asked for at once", total);
	*rows = fsc_alloc(total + 1, sizeof(**rows));
	*places = fsc_alloc(total + 1, sizeof(**places));
	if (!*rows || !*places)
		return fsc_err_set(err, FSC_ENOMEM, NULL, "rows of a slices query");
	for (uint32_t i = 0; i < n_tracks; i++) {
		const struct fsc_seg_track *t = fsc_seg_track(s, tracks[i]);

		for (uint32_t d = 0; d < t->depths; d++, at++) {
			(*rows)[at] = t->first_row + d;
			(*places)[at] = (struct row_place){ (uint16_t)i, (uint16_t)d };
		}
	}
	*n = (uint32_t)total;
	return FSC_OK;
}

static void write_header(struct fsc_buf *out, const struct ticks *t,
			 const struct fsc_seg_items *items, uint32_t n_names, uint32_t px)
{
	fsc_buf_u32(out, FSC_SLICES_MAGIC);
	fsc_buf_u32(out, FSC_SLICES_VERSION);
	fsc_buf_u32(out, (uint32_t)items->v.n);
	fsc_buf_u32(out, n_names);
	fsc_buf_u64(out, (uint64_t)t->base);
	fsc_buf_u64(out, UINT64_C(1) << t->shift);
	fsc_buf_u64(out, (uint64_t)t->t0);
	fsc_buf_u64(out, (uint64_t)t->t1);
	fsc_buf_u32(out, items->truncated ? 1 : 0);
	fsc_buf_u32(out, px);
	fsc_buf_u64(out, 0);
}

static void write_wide(struct fsc_buf *out, const struct ticks *t,
		       const struct fsc_seg_items *items, const uint32_t *names)
{
	const struct fsc_seg_item *v = items->v.v;
	size_t n = items->v.n;

	for (size_t i = 0; i < n; i++)
		fsc_buf_u32(out, to_ticks(t, v[i].t0 - t->base));
	for (size_t i = 0; i < n; i++)
		fsc_buf_u32(out, to_ticks(t, v[i].t1 - (v[i].t0 > t->base ? v[i].t0 : t->base)));
	for (size_t i = 0; i < n; i++)
		fsc_buf_u32(out, names[i]);
	for (size_t i = 0; i < n; i++)
		fsc_buf_u32(out, v[i].slice);
	for (size_t i = 0; i < n; i++)
		fsc_buf_u32(out, v[i].count);
}

static void write_narrow(struct fsc_buf *out, const struct ticks *t,
			 const struct fsc_seg_items *items, const struct row_place *places)
{
	const struct fsc_seg_item *v = items->v.v;
	size_t n = items->v.n;

	for (size_t i = 0; i < n; i++)
		fsc_buf_u16(out, places[v[i].row_idx].track);
	for (size_t i = 0; i < n; i++)
		fsc_buf_u16(out, places[v[i].row_idx].depth);
	for (size_t i = 0; i < n; i++)
		fsc_buf_u8(out, v[i].kind);
	for (size_t i = 0; i < n; i++)
		fsc_buf_u8(out, busy_share(&v[i]));
	for (size_t i = 0; i < n; i++)
		fsc_buf_u8(out, item_flags(t, &v[i]));
	for (size_t i = 3 * n; i % 4; i++)
		fsc_buf_u8(out, 0);
}

static void write_names(struct fsc_buf *out, const struct names *m, const struct fsc_seg *s)
{
	uint32_t off = 0;

	for (uint32_t i = 0; i <= m->n; i++) {
		size_t len = 0;

		fsc_buf_u32(out, off);
		if (i < m->n)
			(void)fsc_seg_str(s, m->ids.v[i], &len);
		off += (uint32_t)len;
	}
	for (uint32_t i = 0; i < m->n; i++) {
		size_t len;
		const char *p = fsc_seg_str(s, m->ids.v[i], &len);

		fsc_buf_add(out, p, len);
	}
}

enum fsc_status fsc_slices_columns(struct fsc_buf *out, const struct fsc_seg *s,
				   const uint32_t *tracks, uint32_t n_tracks, int64_t t0,
				   int64_t t1, uint32_t px, struct fsc_err *err)
{
	struct fsc_seg_items items = { 0 };
	struct names names = { 0 };
	struct row_place *places = NULL;
	uint32_t *rows = NULL, *idx = NULL, n_rows = 0;
	struct ticks t = make_ticks(fsc_seg_info(s), t0, t1);
	enum fsc_status st = list_rows(&rows, &places, &n_rows, s, tracks, n_tracks, err);

	if (!st)
		st = fsc_seg_query_slices(&items, s, rows, n_rows, t0, t1, px, FSC_SLICES_MAX_ITEMS,
					  err);
	if (st)
		goto out;
	st = FSC_ENOMEM;
	idx = fsc_alloc(items.v.n + 1, sizeof(*idx));
	if (!idx || !names_init(&names, items.v.n))
		goto out;
	for (size_t i = 0; i < items.v.n; i++)
		if (!names_put(&names, items.v.v[i].name, &idx[i]))
			goto out;
	write_header(out, &t, &items, names.n, px);
	write_wide(out, &t, &items, idx);
	write_narrow(out, &t, &items, places);
	write_names(out, &names, s);
	st = fsc_buf_status(out);
out:
	if (st == FSC_ENOMEM && err && !err->status)
		fsc_err_set(err, st, NULL, "columns of a slices query");
	fsc_seg_items_fini(&items);
	names_fini(&names);
	fsc_free(rows);
	fsc_free(places);
	fsc_free(idx);
	return st;
}
