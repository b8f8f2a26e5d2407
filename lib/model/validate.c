/* SPDX-License-Identifier: Apache-2.0 */
/* The invariants of a finished trace, one check each. */
#include "model/validate.h"

#include <inttypes.h>

#define CHECK(cond, ...)                                                                   \
	do {                                                                               \
		if (!(cond))                                                               \
			return fsc_err_set(err, FSC_EBUG, "model_invariant", __VA_ARGS__); \
	} while (0)

static bool is_str(const struct fsc_trace *t, uint32_t id)
{
	return id < fsc_strtab_count(t->strings);
}

static int64_t end_of(const struct fsc_slices *s, uint32_t i)
{
	return s->ts[i] + s->dur[i];
}

static enum fsc_status check_tracks(const struct fsc_trace *t, struct fsc_err *err)
{
	uint64_t slices = 0, samples = 0;
	for (uint32_t i = 0; i < t->tracks.n; i++) {
		const struct fsc_track *k = &t->tracks.v[i];
		bool counter = k->kind == FSC_TRACK_COUNTER;
		CHECK(k->kind >= FSC_TRACK_THREAD && k->kind <= FSC_TRACK_COUNTER,
		      "track %u: kind %u", i, k->kind);
		CHECK(k->process < t->processes.n, "track %u: process %u", i, k->process);
		CHECK(is_str(t, k->name) && is_str(t, k->tid_text) && is_str(t, k->unit),
		      "track %u: strings", i);
		CHECK(k->first == (counter ? samples : slices), "track %u: first %u", i, k->first);
		CHECK(k->n > 0 && k->depths > 0, "track %u: empty", i);
		if (counter)
			samples += k->n;
		else
			slices += k->n;
	}
	CHECK(slices == t->slices.n, "tracks hold %" PRIu64 " of %u slices", slices, t->slices.n);
	CHECK(samples == t->counters.n, "tracks hold %" PRIu64 " of %zu samples", samples,
	      t->counters.n);
	for (uint32_t i = 0; i < t->processes.n; i++)
		CHECK(is_str(t, t->processes.v[i].name) && is_str(t, t->processes.v[i].labels) &&
			      is_str(t, t->processes.v[i].pid_text),
		      "process %u: strings", i);
	for (uint32_t i = 0; i < t->cats.n; i++)
		CHECK(is_str(t, t->cats.v[i]), "category %u: string", i);
	return FSC_OK;
}

static enum fsc_status check_slice(const struct fsc_trace *t, uint32_t i, uint32_t track,
				   struct fsc_err *err)
{
	const struct fsc_slices *s = &t->slices;
	const struct fsc_track *k = &t->tracks.v[track];
	CHECK(s->track[i] == track, "slice %u: track %u, not %u", i, s->track[i], track);
	CHECK(s->depth[i] < k->depths, "slice %u: depth %u of %u", i, s->depth[i], k->depths);
	CHECK(s->kind[i] > FSC_KIND_NONE && s->kind[i] < FSC_KIND_COUNT, "slice %u: kind %u", i,
	      s->kind[i]);
	CHECK(s->dur[i] >= 0 && s->ts[i] >= 0 && s->ts[i] <= INT64_MAX - s->dur[i],
	      "slice %u: times", i);
	CHECK(!(s->flags[i] & FSC_SLICE_INSTANT) || s->dur[i] == 0,
	      "slice %u: instant with a duration", i);
	CHECK(is_str(t, s->name[i]), "slice %u: name %u", i, s->name[i]);
	CHECK(s->cat[i] < t->cats.n, "slice %u: category %u", i, s->cat[i]);
	CHECK(s->args[i] == FSC_NO_ARGS || s->args[i] < fsc_args_count(t->args),
	      "slice %u: args %u", i, s->args[i]);
	return FSC_OK;
}

/* Index of the slice of row [lo, hi) that contains slice i fully, or FSC_NO_SLICE. */
static uint32_t holder(const struct fsc_slices *s, uint32_t lo, uint32_t hi, uint32_t i)
{
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (s->ts[mid] <= s->ts[i])
			lo = mid + 1;
		else
			hi = mid;
	}
	/* Slices of no length may share the start: look back over them. */
	while (lo-- > 0 && s->depth[lo] + 1 == s->depth[i] && s->track[lo] == s->track[i]) {
		if (!(s->flags[lo] & FSC_SLICE_INSTANT) && end_of(s, lo) >= end_of(s, i))
			return lo;
		if (s->ts[lo] < s->ts[i])
			break;
	}
	return FSC_NO_SLICE;
}

static enum fsc_status check_rows(const struct fsc_trace *t, uint32_t track, struct fsc_err *err)
{
	const struct fsc_slices *s = &t->slices;
	const struct fsc_track *k = &t->tracks.v[track];
	uint32_t row = k->first, above = k->first;
	bool overlaps = false;
	for (uint32_t i = k->first; i < k->first + k->n; i++)
		overlaps |= s->flags[i] & FSC_SLICE_OVERLAP;
	for (uint32_t i = k->first; i < k->first + k->n; i++) {
		FSC_TRY(check_slice(t, i, track, err));
		if (i == k->first) {
			CHECK(s->depth[i] == 0, "track %u: no row 0", track);
			continue;
		}
		CHECK(s->depth[i] == s->depth[i - 1] || s->depth[i] == s->depth[i - 1] + 1,
		      "slice %u: row order", i);
		if (s->depth[i] == s->depth[i - 1]) {
			CHECK(s->ts[i] >= s->ts[i - 1], "slice %u: time order", i);
			CHECK((s->flags[i - 1] & FSC_SLICE_OPEN && s->ts[i] == end_of(s, i - 1)) ||
				      end_of(s, i - 1) <= s->ts[i],
			      "slice %u overlaps the one before it in its row", i);
		} else {
			above = row;
			row = i;
		}
		if (!overlaps && s->depth[i] > 0)
			CHECK(holder(s, above, row, i) != FSC_NO_SLICE,
			      "slice %u: nothing contains it", i);
	}
	return FSC_OK;
}

static enum fsc_status check_counters(const struct fsc_trace *t, struct fsc_err *err)
{
	for (uint32_t k = 0; k < t->tracks.n; k++) {
		const struct fsc_track *tr = &t->tracks.v[k];
		for (uint32_t i = 1; tr->kind == FSC_TRACK_COUNTER && i < tr->n; i++)
			CHECK(t->counters.v[tr->first + i].ts >=
				      t->counters.v[tr->first + i - 1].ts,
			      "track %u: sample %u is earlier than the one before", k, i);
	}
	return FSC_OK;
}

static enum fsc_status check_links(const struct fsc_trace *t, struct fsc_err *err)
{
	for (size_t i = 0; i < t->flows.n; i++) {
		const struct fsc_flow *f = &t->flows.v[i];
		CHECK(f->from < t->slices.n && f->to < t->slices.n, "flow %zu: ends", i);
		CHECK(is_str(t, f->cat) && is_str(t, f->name), "flow %zu: strings", i);
		CHECK(i == 0 || f[-1].from < f->from ||
			      (f[-1].from == f->from && f[-1].to <= f->to),
		      "flow %zu: order", i);
	}
	for (size_t i = 0; i < t->launches.n; i++) {
		const struct fsc_launch *l = &t->launches.v[i];
		CHECK(l->slice < t->slices.n && (i == 0 || l[-1].slice < l->slice),
		      "launch %zu: slice", i);
		CHECK(fsc_kind_is_gpu_work(t->slices.kind[l->slice]), "launch %zu: no GPU work", i);
	}
	for (size_t i = 0; i < t->collectives.n; i++) {
		const struct fsc_collective *c = &t->collectives.v[i];
		CHECK(c->slice < t->slices.n && (i == 0 || c[-1].slice < c->slice),
		      "collective %zu: slice", i);
		CHECK(is_str(t, c->name) && is_str(t, c->dtype) && is_str(t, c->pg_name) &&
			      is_str(t, c->pg_desc) && is_str(t, c->pg_ranks),
		      "collective %zu: strings", i);
	}
	return FSC_OK;
}

static enum fsc_status check_meta(const struct fsc_trace *t, struct fsc_err *err)
{
	const struct fsc_trace_meta *m = &t->meta;
	int64_t first = INT64_MAX, last = 0;
	uint64_t instants = 0;
	for (uint32_t i = 0; i < t->slices.n; i++) {
		first = t->slices.ts[i] < first ? t->slices.ts[i] : first;
		last = end_of(&t->slices, i) > last ? end_of(&t->slices, i) : last;
		instants += t->slices.flags[i] & FSC_SLICE_INSTANT;
	}
	for (size_t i = 0; i < t->counters.n; i++)
		first = t->counters.v[i].ts < first ? t->counters.v[i].ts : first;
	CHECK(first == INT64_MAX || first == 0, "the earliest time is %" PRId64 ", not 0", first);
	CHECK(m->t_min_ns >= 0 && m->t_max_ns >= last, "t_max %" PRId64 " is before an end",
	      m->t_max_ns);
	CHECK(instants == t->n_instants, "instants: %" PRIu64 " of %" PRIu64, instants,
	      t->n_instants);
	CHECK(is_str(t, m->format) && is_str(t, m->job) && is_str(t, m->host) &&
		      is_str(t, m->capture) && is_str(t, m->name) && is_str(t, m->json),
	      "meta: strings");
	return FSC_OK;
}

enum fsc_status fsc_trace_validate(const struct fsc_trace *t, struct fsc_err *err)
{
	FSC_TRY(check_tracks(t, err));
	for (uint32_t k = 0; k < t->tracks.n; k++)
		if (t->tracks.v[k].kind != FSC_TRACK_COUNTER)
			FSC_TRY(check_rows(t, k, err));
	FSC_TRY(check_counters(t, err));
	FSC_TRY(check_links(t, err));
	return check_meta(t, err);
}
