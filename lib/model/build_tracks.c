/* SPDX-License-Identifier: Apache-2.0 */
/* Who: processes, raw identities and tracks of the builder, and their order in the finished trace. */
#include <string.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "model/build_int.h"
#include "model/sort.h"

/* A key word of a raw id; text and number never meet because text sets a bit that process numbers lack. */
static uint64_t id_word(struct fsc_build_id id)
{
	return id.is_text ? id.text : (uint64_t)id.num;
}

enum fsc_status fsc_build_process(uint32_t *process, struct fsc_build *b, struct fsc_build_id pid)
{
	uint32_t have = fsc_map_get(&b->proc_map, id_word(pid), pid.is_text);
	if (have != UINT32_MAX) {
		*process = have;
		return FSC_OK;
	}
	if (b->procs.n >= FSC_MAX_TRACKS)
		return FSC_ELIMIT;
	struct fsc_build_proc p = { .pid = pid };
	p.p.pid = pid.is_text ? -1 : pid.num;
	p.p.pid_text = pid.is_text ? pid.text : 0;
	if (!fsc_map_put(&b->proc_map, id_word(pid), pid.is_text, (uint32_t)b->procs.n) ||
	    !fsc_vec_push(&b->procs, p))
		return FSC_ENOMEM;
	*process = (uint32_t)b->procs.n - 1;
	return FSC_OK;
}

enum fsc_status fsc_build_ident(uint32_t *ident, struct fsc_build *b, struct fsc_build_id pid,
				struct fsc_build_id tid)
{
	uint32_t process;
	enum fsc_status st = fsc_build_process(&process, b, pid);
	if (st != FSC_OK)
		return st;
	uint64_t second = (uint64_t)process << 1 | tid.is_text;
	uint32_t have = fsc_map_get(&b->ident_map, id_word(tid), second);
	if (have != UINT32_MAX) {
		*ident = have;
		return FSC_OK;
	}
	if (b->idents.n >= 4 * (size_t)FSC_MAX_TRACKS)
		return FSC_ELIMIT;
	struct fsc_build_ident e = {
		.tid = tid, .process = process, .thread = FSC_NO_TRACK, .last_stream = FSC_NO_TRACK
	};
	if (!fsc_map_put(&b->ident_map, id_word(tid), second, (uint32_t)b->idents.n) ||
	    !fsc_vec_push(&b->idents, e))
		return FSC_ENOMEM;
	*ident = (uint32_t)b->idents.n - 1;
	return FSC_OK;
}

uint32_t fsc_build_ident_process(const struct fsc_build *b, uint32_t ident)
{
	return b->idents.v[ident].process;
}

static enum fsc_status new_track(uint32_t *track, struct fsc_build *b, uint8_t kind,
				 uint32_t process, uint32_t ident, uint8_t layer)
{
	if (b->t->tracks.n >= FSC_MAX_TRACKS)
		return FSC_ELIMIT;
	struct fsc_track t = { .kind = kind,
			       .process = process,
			       .tid = -1,
			       .device = FSC_NO_ORDINAL,
			       .context = FSC_NO_ORDINAL,
			       .stream = FSC_NO_ORDINAL };
	struct fsc_build_track x = { .ident = ident, .layer = layer };
	if (ident != FSC_NO_TRACK) {
		const struct fsc_build_ident *e = &b->idents.v[ident];
		t.tid = e->tid.is_text ? -1 : e->tid.num;
		t.tid_text = e->tid.is_text ? e->tid.text : 0;
	}
	if (!fsc_vec_push(&b->tracks, x) || !fsc_vec_push(&b->t->tracks, t))
		return FSC_ENOMEM;
	*track = (uint32_t)b->t->tracks.n - 1;
	return FSC_OK;
}

enum fsc_status fsc_build_thread(uint32_t *track, struct fsc_build *b, uint32_t ident)
{
	struct fsc_build_ident *e = &b->idents.v[ident];
	if (e->thread == FSC_NO_TRACK) {
		enum fsc_status st =
			new_track(&e->thread, b, FSC_TRACK_THREAD, e->process, ident, 0);
		if (st != FSC_OK) {
			e->thread = FSC_NO_TRACK;
			return st;
		}
	}
	*track = e->thread;
	return FSC_OK;
}

/* Finds or makes the track of a key; *made tells which. Keys of different kinds differ in their top byte. */
static enum fsc_status keyed_track(uint32_t *track, bool *made, struct fsc_build *b, uint8_t kind,
				   uint64_t a, uint64_t key, uint32_t process, uint32_t ident,
				   uint8_t layer)
{
	key |= (uint64_t)(kind * 2u + layer) << 56;
	uint32_t have = fsc_map_get(&b->track_map, a, key);
	*made = have == UINT32_MAX;
	if (!*made) {
		*track = have;
		return FSC_OK;
	}
	enum fsc_status st = new_track(track, b, kind, process, ident, layer);
	if (st == FSC_OK && !fsc_map_put(&b->track_map, a, key, *track))
		st = FSC_ENOMEM;
	return st;
}

enum fsc_status fsc_build_stream(uint32_t *track, struct fsc_build *b, uint32_t ident,
				 int32_t device, int32_t context, int32_t stream)
{
	struct fsc_build_ident *e = &b->idents.v[ident];
	if (e->last_stream != FSC_NO_TRACK) {
		const struct fsc_track *t = &b->t->tracks.v[e->last_stream];
		if (t->device == device && t->context == context && t->stream == stream) {
			*track = e->last_stream;
			return FSC_OK;
		}
	}
	bool made;
	uint64_t a = (uint64_t)(uint32_t)device << 32 | (uint32_t)context;
	/* The identity takes 19 bits of the 24 that are free: there are at most 400,000. */
	uint64_t key = (uint64_t)ident << 32 | (uint32_t)stream;
	enum fsc_status st =
		keyed_track(track, &made, b, FSC_TRACK_STREAM, a, key, e->process, ident, 0);
	if (st != FSC_OK)
		return st;
	if (made) {
		struct fsc_track *t = &b->t->tracks.v[*track];
		t->device = device;
		t->context = context;
		t->stream = stream;
	}
	e->last_stream = *track;
	return FSC_OK;
}

enum fsc_status fsc_build_annotation(uint32_t *track, struct fsc_build *b, uint32_t ident,
				     int layer)
{
	bool made;
	return keyed_track(track, &made, b, FSC_TRACK_ANNOTATION, ident, 0,
			   b->idents.v[ident].process, ident, layer ? 1 : 0);
}

enum fsc_status fsc_build_async(uint32_t *track, struct fsc_build *b, uint32_t process, bool local,
				uint16_t cat, uint64_t id, uint32_t name)
{
	bool made;
	uint64_t key = (uint64_t)(local ? process + 1 : 0) << 16 | cat;
	enum fsc_status st =
		keyed_track(track, &made, b, FSC_TRACK_ASYNC, id, key, process, FSC_NO_TRACK, 0);
	if (st == FSC_OK && made)
		b->t->tracks.v[*track].name = name;
	return st;
}

enum fsc_status fsc_build_counter_track(uint32_t *track, struct fsc_build *b, uint32_t process,
					uint32_t name, uint32_t unit, int32_t device)
{
	bool made;
	enum fsc_status st = keyed_track(track, &made, b, FSC_TRACK_COUNTER, name, process, process,
					 FSC_NO_TRACK, 0);
	if (st == FSC_OK && made) {
		struct fsc_track *t = &b->t->tracks.v[*track];
		t->name = name;
		t->unit = unit;
		t->device = device;
	}
	return st;
}

void fsc_build_name_process(struct fsc_build *b, uint32_t process, uint32_t name)
{
	b->procs.v[process].p.name = name;
}

void fsc_build_label_process(struct fsc_build *b, uint32_t process, uint32_t labels)
{
	b->procs.v[process].p.labels = labels;
}

void fsc_build_sort_process(struct fsc_build *b, uint32_t process, int32_t sort_index)
{
	b->procs.v[process].p.sort_index = sort_index;
}

void fsc_build_name_ident(struct fsc_build *b, uint32_t ident, uint32_t name)
{
	b->idents.v[ident].name = name;
}

void fsc_build_sort_ident(struct fsc_build *b, uint32_t ident, int32_t sort_index)
{
	b->idents.v[ident].sort_index = sort_index;
	b->idents.v[ident].has_sort = true;
}

/* ---- order of the finished trace ---- */

/* An annotation has no device or stream of its own: those of the stream with its raw identity, else the raw
 * numbers, which profilers make from device and stream. */
static void adopt_stream(struct fsc_build *b, uint32_t track)
{
	struct fsc_track *t = &b->t->tracks.v[track];
	uint32_t ident = b->tracks.v[track].ident;
	uint32_t s = b->idents.v[ident].last_stream;
	if (s != FSC_NO_TRACK) {
		t->device = b->t->tracks.v[s].device;
		t->context = b->t->tracks.v[s].context;
		t->stream = b->t->tracks.v[s].stream;
		return;
	}
	int64_t pid = b->procs.v[t->process].p.pid;
	if (pid >= 0 && pid < 4096 && !b->procs.v[t->process].pid.is_text)
		t->device = (int32_t)pid;
	if (t->tid >= 0 && t->tid < INT32_MAX)
		t->stream = (int32_t)t->tid;
}

static void name_tracks(struct fsc_build *b)
{
	for (uint32_t i = 0; i < b->t->tracks.n; i++) {
		struct fsc_track *t = &b->t->tracks.v[i];
		uint32_t ident = b->tracks.v[i].ident;
		if (ident == FSC_NO_TRACK)
			continue;
		t->name = b->idents.v[ident].name;
		t->sort_index = b->idents.v[ident].sort_index;
		if (t->kind == FSC_TRACK_ANNOTATION)
			adopt_stream(b, i);
	}
}

struct order {
	const struct fsc_track *t;
	const struct fsc_build_proc *p;
};

static int64_t compare_tracks(const struct fsc_track *x, const struct fsc_track *y)
{
	static const uint8_t group[] = { 9, 0, 1, 1, 2, 3 }; /* by enum fsc_track_kind */
	if (group[x->kind] != group[y->kind])
		return (int64_t)group[x->kind] - group[y->kind];
	if (x->device != y->device)
		return (int64_t)x->device - y->device;
	if (x->sort_index != y->sort_index)
		return (int64_t)x->sort_index - y->sort_index;
	if (x->stream != y->stream)
		return (int64_t)x->stream - y->stream;
	if (x->context != y->context)
		return (int64_t)x->context - y->context;
	if (x->kind != y->kind)
		return (int64_t)x->kind - y->kind;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static bool track_before(const void *ctx, uint32_t i, uint32_t k)
{
	const struct order *o = ctx;
	const struct fsc_track *x = &o->t[i], *y = &o->t[k];
	if (x->process != y->process) {
		int32_t a = o->p[x->process].p.sort_index, c = o->p[y->process].p.sort_index;
		return a != c ? a < c : x->process < y->process;
	}
	return compare_tracks(x, y) < 0;
}

/* Marks tracks in use: n becomes 1. */
static void mark_used(struct fsc_build *b)
{
	const struct fsc_slices *s = &b->t->slices;
	for (uint32_t i = 0; i < s->n; i++)
		if (s->track[i] != FSC_NO_TRACK)
			b->t->tracks.v[s->track[i]].n = 1;
	for (size_t i = 0; i < b->counters.n; i++)
		if (b->counters.v[i].track != FSC_NO_TRACK)
			b->t->tracks.v[b->counters.v[i].track].n = 1;
}

/* Moves the processes that used tracks refer to into the trace, in order of the tracks. */
static enum fsc_status keep_processes(struct fsc_build *b, struct fsc_track *tracks, uint32_t n)
{
	uint32_t *at = fsc_realloc(NULL, b->procs.n + 1, sizeof(*at));
	enum fsc_status st = FSC_OK;
	if (!at)
		return FSC_ENOMEM;
	memset(at, 0xFF, (b->procs.n + 1) * sizeof(*at));
	for (uint32_t i = 0; i < n && st == FSC_OK; i++) {
		uint32_t *k = &at[tracks[i].process];
		if (*k == UINT32_MAX) {
			*k = (uint32_t)b->t->processes.n;
			if (!fsc_vec_push(&b->t->processes, b->procs.v[tracks[i].process].p))
				st = FSC_ENOMEM;
		}
		tracks[i].process = *k;
	}
	fsc_free(at);
	return st;
}

static void renumber(struct fsc_build *b, const uint32_t *to)
{
	struct fsc_slices *s = &b->t->slices;
	for (uint32_t i = 0; i < s->n; i++)
		if (s->track[i] != FSC_NO_TRACK)
			s->track[i] = to[s->track[i]];
	for (size_t i = 0; i < b->counters.n; i++)
		if (b->counters.v[i].track != FSC_NO_TRACK)
			b->counters.v[i].track = to[b->counters.v[i].track];
}

enum fsc_status fsc_build_order_tracks(struct fsc_build *b)
{
	enum fsc_status st = FSC_OK;
	name_tracks(b);
	mark_used(b);
	uint32_t n = (uint32_t)b->t->tracks.n, used = 0;
	uint32_t *perm = fsc_realloc(NULL, n + 1, 3 * sizeof(*perm));
	struct fsc_track *tracks = fsc_alloc(n + 1, sizeof(*tracks));
	struct fsc_build_track *origin = fsc_alloc(n + 1, sizeof(*origin));
	if (!perm || !tracks || !origin) {
		st = FSC_ENOMEM;
		goto out;
	}
	uint32_t *to = perm + n + 1;
	for (uint32_t i = 0; i < n; i++)
		if (b->t->tracks.v[i].n)
			perm[used++] = i;
	struct order o = { .t = b->t->tracks.v, .p = b->procs.v };
	fsc_sort_u32(perm, used, to, track_before, &o);
	for (uint32_t i = 0; i < used; i++) {
		tracks[i] = b->t->tracks.v[perm[i]];
		tracks[i].n = 0;
		origin[i] = b->tracks.v[perm[i]];
		to[perm[i]] = i;
	}
	st = keep_processes(b, tracks, used);
	if (st != FSC_OK)
		goto out;
	renumber(b, to);
	if (used) {
		memcpy(b->t->tracks.v, tracks, used * sizeof(*tracks));
		memcpy(b->tracks.v, origin, used * sizeof(*origin));
	}
	b->t->tracks.n = b->tracks.n = used;
out:
	fsc_free(origin);
	fsc_free(tracks);
	fsc_free(perm);
	return st;
}
