/* SPDX-License-Identifier: Apache-2.0 */
/* Events that lie on no thread: asynchronous ones of both generations, and Perfetto's thread states. */
#include "base/num.h"
#include "formats/chrome_int.h"

static bool has(const struct chrome *c, enum chrome_field f)
{
	return c->have >> f & 1;
}

static bool is_id(const struct chrome *c, enum chrome_field f)
{
	return has(c, f) && (c->f[f].type == FSC_JT_NUM || c->f[f].type == FSC_JT_STR);
}

bool fsc_chrome_async_id(struct chrome *c, uint64_t *id, bool *local)
{
	*local = false;
	if (is_id(c, F_ID)) {
		if (!fsc_chrome_id(id, &c->f[F_ID]))
			return false;
	} else if (has(c, F_ID2) && c->f[F_ID2].type == FSC_JT_OBJ) {
		const char *s = c->f[F_ID2].s;
		size_t n = c->f[F_ID2].n;
		*local = memmem(s, n, "\"local\"", 7) != NULL;
		*id = fsc_chrome_hash(s, n);
	} else {
		return false;
	}
	/* A scope keeps ids of different makers apart. */
	if (is_id(c, F_ID_SCOPE) && c->f[F_ID_SCOPE].n)
		*id ^= fsc_chrome_hash(c->f[F_ID_SCOPE].s, c->f[F_ID_SCOPE].n);
	return true;
}

/*
 * The older generation does not nest: a begin (S), steps (T, p) and an end (F) belong together by id and name,
 * so each name has a track of its own.
 */
static bool is_old(char ph)
{
	return ph == 'S' || ph == 'T' || ph == 'p' || ph == 'F';
}

enum fsc_status fsc_chrome_async(struct chrome *c, char ph)
{
	struct fsc_build_slice s = { .flags = 0 };
	bool local, is_end = ph == 'e' || ph == 'F';
	uint32_t ident, slice;
	uint64_t id;
	if (!fsc_chrome_event_ts(c, &s.ts))
		return FSC_OK;
	if (!fsc_chrome_async_id(c, &id, &local)) {
		fsc_chrome_note(c, &c->no_id);
		return FSC_OK;
	}
	if (is_end && c->have >> F_RARE)
		fsc_chrome_rare_ignored(c);
	FSC_TRY(fsc_chrome_fill_slice(&s, c));
	if (is_old(ph))
		id ^= (s.name + 1ULL) * 0x9E3779B97F4A7C15ULL;
	uint16_t cat = has(c, F_CAT) ? s.cat : FSC_BUILD_NO_CAT;
	FSC_TRY(fsc_chrome_event_ident(&ident, c));
	FSC_TRY(fsc_build_async(&s.track, c->b, fsc_build_ident_process(c->b, ident), local, cat,
				id, s.name));
	if (is_end)
		return fsc_build_end(c->b, s.track, s.ts, s.name, cat, s.args);
	if (ph == 'b' || ph == 'S') {
		FSC_TRY(fsc_build_begin(&slice, c->b, &s));
	} else {
		s.flags = FSC_SLICE_INSTANT;
		s.kind = FSC_KIND_INSTANT;
		FSC_TRY(fsc_build_slice(&slice, c->b, &s));
	}
	return fsc_chrome_slice_rows(c, slice, &s);
}

/* "thread state of TID" */
static enum fsc_status state_name(uint32_t *name, uint64_t *id, struct chrome *c)
{
	struct fsc_buf b = FSC_BUF_INIT(FSC_MAX_ARGS_BYTES * 4);
	size_t n = 1;
	const char *s = "0";
	enum chrome_field f = is_id(c, F_TID) ? F_TID : F_PID;
	if (is_id(c, f))
		s = fsc_jt_text(&c->t, &c->f[f], &n);
	fsc_buf_adds(&b, "thread state of ");
	fsc_buf_add(&b, s, n);
	enum fsc_status st = fsc_buf_status(&b);
	if (st == FSC_OK) {
		*id = fsc_chrome_hash(b.data, b.len);
		st = fsc_build_str(name, c->b, b.data, b.len);
	}
	fsc_buf_fini(&b);
	return st;
}

enum fsc_status fsc_chrome_thread_state(struct chrome *c)
{
	struct fsc_build_slice s = { .flags = 0 };
	uint32_t ident, slice, name;
	uint64_t id;
	if (!fsc_chrome_event_ts(c, &s.ts))
		return FSC_OK;
	if (!fsc_chrome_time_ns(c, &s.dur, &c->f[F_DUR])) {
		fsc_chrome_note(c, &c->x_bad_dur);
		return FSC_OK;
	}
	FSC_TRY(fsc_chrome_fill_slice(&s, c));
	FSC_TRY(fsc_chrome_event_ident(&ident, c));
	FSC_TRY(state_name(&name, &id, c));
	FSC_TRY(fsc_build_async(&s.track, c->b, fsc_build_ident_process(c->b, ident), true,
				FSC_BUILD_NO_CAT, id, name));
	FSC_TRY(fsc_build_slice(&slice, c->b, &s));
	return fsc_chrome_slice_rows(c, slice, &s);
}
