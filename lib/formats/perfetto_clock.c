/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times of packets to the time of the trace. A snapshot shows several clocks at one moment; a time of one clock is
 * carried to another by the last snapshot that shows both and is not later (clock_snapshot.proto). Ids 64 to 127 are
 * clocks of one sequence, which may count from one packet to the next (is_incremental).
 */
#include "base/alloc.h"
#include "base/num.h"
#include "formats/perfetto_int.h"

enum {
	CLOCK_REALTIME = 1,
	CLOCK_OWN_FIRST = 64,
	CLOCK_OWN_LAST = 127,
	NEAR_MAX = 8, /* snapshots that are looked at */
};

void fsc_pft_clocks_free(struct pft *p)
{
	for (size_t i = 0; i < p->all_clocks.n; i++)
		fsc_vec_fini(&p->all_clocks.v[i].readings);
	fsc_vec_fini(&p->all_clocks);
	fsc_vec_fini(&p->shown);
	fsc_vec_fini(&p->shown_from);
	fsc_map_fini(&p->clock_map);
}

static bool is_own(uint64_t id)
{
	return id >= CLOCK_OWN_FIRST && id <= CLOCK_OWN_LAST;
}

static struct pft_clock *find_clock(const struct pft *p, uint64_t seq, uint64_t id)
{
	uint32_t at = fsc_map_get(&p->clock_map, id, is_own(id) ? seq : 0);

	return at == FSC_MAP_NONE ? NULL : &p->all_clocks.v[at];
}

static struct pft_own_clock *own_clock(struct pft_seq *s, uint64_t id)
{
	for (size_t i = 0; i < s->clocks.n; i++)
		if (s->clocks.v[i].id == id)
			return &s->clocks.v[i];
	return NULL;
}

/* ---- snapshots ---- */

struct shown {
	uint64_t id, value, unit_ns;
	bool incremental;
};

static enum fsc_status add_reading(struct pft *p, struct pft_seq *s, const struct shown *r,
				   int64_t value)
{
	struct pft_reading reading = { .value = value, .snapshot = p->n_snapshots };
	struct pft_clock *c = find_clock(p, s->id, r->id);

	if (!c) {
		struct pft_clock fresh = { .seq = is_own(r->id) ? s->id : 0, .id = r->id };

		if (p->all_clocks.n >= 2 * (size_t)FSC_MAX_TRACKS)
			return FSC_ELIMIT;
		if (!fsc_vec_push(&p->all_clocks, fresh) ||
		    !fsc_map_put(&p->clock_map, fresh.id, fresh.seq, (uint32_t)p->all_clocks.n - 1))
			return FSC_ENOMEM;
		c = &p->all_clocks.v[p->all_clocks.n - 1];
	}
	return fsc_vec_push(&c->readings, reading) &&
			       fsc_vec_push(&p->shown, (uint32_t)(c - p->all_clocks.v))
		       ? FSC_OK
		       : FSC_ENOMEM;
}

static enum fsc_status set_own(struct pft_seq *s, const struct shown *r, int64_t value)
{
	struct pft_own_clock *own = own_clock(s, r->id);
	struct pft_own_clock fresh = { .id = r->id };

	if (!own) {
		if (!fsc_vec_push(&s->clocks, fresh))
			return FSC_ENOMEM;
		own = &s->clocks.v[s->clocks.n - 1];
	}
	own->incremental = r->incremental;
	own->unit_ns = (int64_t)r->unit_ns;
	own->now = value;
	return FSC_OK;
}

static bool parse_shown(struct shown *r, struct fsc_cur c)
{
	struct fsc_pb_field f;

	*r = (struct shown){ .unit_ns = 1 };
	while (fsc_pb_next(&c, &f)) {
		if (f.num == 1)
			r->id = f.v;
		else if (f.num == 2)
			r->value = f.v;
		else if (f.num == 3)
			r->incremental = f.v != 0;
		else if (f.num == 4 && f.v && f.v <= 1000000000)
			r->unit_ns = f.v;
	}
	return !c.failed;
}

static int64_t scaled(uint64_t v, int64_t unit)
{
	int64_t out;

	return v > INT64_MAX || __builtin_mul_overflow((int64_t)v, unit, &out) ? INT64_MAX / 2
									       : out;
}

static void note_real(struct pft *p, const int64_t *real, const int64_t *trace)
{
	if (p->has_real || !real || !trace)
		return;
	p->has_real = true;
	p->real_offset = fsc_sub_i64_sat(*real, *trace);
}

enum fsc_status fsc_pft_snapshot(struct pft *p, struct pft_seq *s, struct fsc_cur c)
{
	struct fsc_cur again = c;
	struct fsc_pb_field f;
	int64_t real, trace;
	bool has_real = false, has_trace = false;

	if (!fsc_vec_push(&p->shown_from, p->shown.n))
		return FSC_ENOMEM;
	while (fsc_pb_next(&c, &f))
		if (f.num == 2 && f.wire == FSC_PB_VARINT && f.v && !p->trace_clock_fixed) {
			p->trace_clock = f.v;
			p->trace_clock_fixed = true;
		}
	while (fsc_pb_next(&again, &f)) {
		struct shown r;
		int64_t value;

		if (f.num != 1 || f.wire != FSC_PB_BYTES)
			continue;
		if (!parse_shown(&r, f.body))
			return fsc_pft_damaged(p, "a clock snapshot does not hold together");
		value = scaled(r.value, (int64_t)r.unit_ns);
		if (is_own(r.id))
			FSC_TRY(set_own(s, &r, value));
		FSC_TRY(add_reading(p, s, &r, value));
		if (r.id == CLOCK_REALTIME) {
			real = value;
			has_real = true;
		}
		if (r.id == p->trace_clock) {
			trace = value;
			has_trace = true;
		}
	}
	if (c.failed || again.failed)
		return fsc_pft_damaged(p, "a clock snapshot does not hold together");
	note_real(p, has_real ? &real : NULL, has_trace ? &trace : NULL);
	p->n_snapshots++;
	return FSC_OK;
}

/* ---- conversion ---- */

static const struct pft_reading *in_snapshot(const struct pft_clock *c, uint32_t snapshot)
{
	size_t lo = 0, hi = c->readings.n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (c->readings.v[mid].snapshot < snapshot)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < c->readings.n && c->readings.v[lo].snapshot == snapshot ? &c->readings.v[lo]
									    : NULL;
}

/* The last reading not after v, else the first. Clocks may be set back, so it is searched from the end. */
static size_t reading_for(const struct pft_clock *c, int64_t v)
{
	size_t i = c->readings.n - 1;

	for (size_t looked = 0; i > 0 && c->readings.v[i].value > v && looked < 1024; looked++)
		i--;
	return i;
}

/* By a snapshot that shows both clocks, one near the time. */
static bool directly(int64_t *out, const struct pft_clock *goal, const struct pft_clock *from,
		     int64_t v)
{
	size_t at = from->readings.n ? reading_for(from, v) + 1 : 0;

	for (size_t looked = 0; at-- > 0 && looked < NEAR_MAX; looked++) {
		const struct pft_reading *a = &from->readings.v[at];
		const struct pft_reading *b = in_snapshot(goal, a->snapshot);

		if (b) {
			*out = fsc_add_i64_sat(b->value, fsc_sub_i64_sat(v, a->value));
			return true;
		}
	}
	return false;
}

/* Over a third clock, which the snapshot nearest to the time shows as well. */
static bool over_another(int64_t *out, const struct pft *p, const struct pft_clock *goal,
			 const struct pft_clock *from, int64_t v)
{
	const struct pft_reading *a = &from->readings.v[reading_for(from, v)];
	size_t first = p->shown_from.v[a->snapshot];
	size_t end =
		a->snapshot + 1 < p->shown_from.n ? p->shown_from.v[a->snapshot + 1] : p->shown.n;

	for (size_t i = first; i < end; i++) {
		const struct pft_clock *via = &p->all_clocks.v[p->shown.v[i]];
		const struct pft_reading *b = via == from ? NULL : in_snapshot(via, a->snapshot);

		if (b && directly(out, goal, via,
				  fsc_add_i64_sat(b->value, fsc_sub_i64_sat(v, a->value))))
			return true;
	}
	return false;
}

/* A clock that leads nowhere is not asked again before there is another snapshot. */
static bool convert(int64_t *out, struct pft *p, struct pft_clock *from, int64_t v)
{
	const struct pft_clock *goal = find_clock(p, 0, p->trace_clock);

	if (!goal || !from->readings.n || from->unrelated == p->n_snapshots + 1)
		return false;
	if (directly(out, goal, from, v) || over_another(out, p, goal, from, v))
		return true;
	from->unrelated = p->n_snapshots + 1;
	return false;
}

enum pft_time fsc_pft_time(int64_t *ns, struct pft *p, struct pft_seq *s,
			   const struct pft_packet *k)
{
	uint64_t id = k->has_clock ? k->clock : s->clock ? s->clock : p->trace_clock;
	struct pft_own_clock *own = is_own(id) ? own_clock(s, id) : NULL;
	struct pft_clock *clock;
	int64_t v = scaled(k->ts, 1);

	if (!k->has_ts)
		return PFT_TIME_NONE;
	if (own) {
		v = scaled(k->ts, own->unit_ns);
		if (own->incremental)
			v = own->now = fsc_add_i64_sat(own->now, v);
	}
	if (id != p->trace_clock) {
		clock = find_clock(p, s->id, id);
		if (!clock || !convert(&v, p, clock, v))
			return PFT_TIME_CLOCK;
	}
	/* Half of int64 keeps every later difference and sum inside. */
	if (v > INT64_MAX / 2 || v < INT64_MIN / 2)
		return PFT_TIME_BAD;
	*ns = v;
	return PFT_TIME_OK;
}
