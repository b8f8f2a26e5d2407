/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tracks: descriptors (track_descriptor.proto) by uuid, and the builder's track that the events of one go to. A
 * thread is a thread of its process; everything else that is no counter is a track of its own, shown under the
 * process of its ancestors. Events may come before the descriptor of their track: the track is then made anew at the
 * end of the file, when all is known.
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "formats/perfetto_int.h"

#define ANCESTORS_MAX 32 /* parents are followed so far: a file could make a ring of them */

/* ---- finding ---- */

static enum fsc_status new_track(uint32_t *track, struct pft *p, uint64_t uuid)
{
	struct pft_track t = {
		.uuid = uuid, .built = FSC_NO_TRACK, .ident = FSC_NO_TRACK, .unit_multiplier = 1
	};

	if (p->tracks.n >= 4 * (size_t)FSC_MAX_TRACKS)
		return FSC_ELIMIT;
	if (!fsc_vec_push(&p->tracks, t))
		return FSC_ENOMEM;
	*track = (uint32_t)p->tracks.n - 1;
	return FSC_OK;
}

enum fsc_status fsc_pft_track(uint32_t *track, struct pft *p, uint64_t uuid)
{
	*track = fsc_map_get(&p->track_map, uuid, 0);
	if (*track != FSC_MAP_NONE)
		return FSC_OK;
	FSC_TRY(new_track(track, p, uuid));
	return fsc_map_put(&p->track_map, uuid, 0, *track) ? FSC_OK : FSC_ENOMEM;
}

/* Threads that no descriptor has a uuid for: samples, legacy events. */
enum fsc_status fsc_pft_thread_track(uint32_t *track, struct pft *p, int64_t pid, int64_t tid)
{
	struct pft_track *t;

	*track = fsc_map_get(&p->own_map, (uint64_t)pid, (uint64_t)tid);
	if (*track != FSC_MAP_NONE)
		return FSC_OK;
	FSC_TRY(new_track(track, p, 0));
	t = &p->tracks.v[*track];
	t->described = true;
	t->kind = PFT_THREAD;
	t->pid = pid;
	t->tid = tid;
	return fsc_map_put(&p->own_map, (uint64_t)pid, (uint64_t)tid, *track) ? FSC_OK : FSC_ENOMEM;
}

enum fsc_status fsc_pft_async_track(uint32_t *track, struct pft *p, uint64_t id, uint64_t scope)
{
	*track = fsc_map_get(&p->track_map, id, scope + 1);
	if (*track != FSC_MAP_NONE)
		return FSC_OK;
	FSC_TRY(new_track(track, p, 0));
	p->tracks.v[*track].described = p->tracks.v[*track].is_async = true;
	return fsc_map_put(&p->track_map, id, scope + 1, *track) ? FSC_OK : FSC_ENOMEM;
}

static const struct pft_track *by_uuid(const struct pft *p, uint64_t uuid)
{
	uint32_t at = uuid ? fsc_map_get(&p->track_map, uuid, 0) : FSC_MAP_NONE;

	return at == FSC_MAP_NONE ? NULL : &p->tracks.v[at];
}

/* ---- raw identities ---- */

enum fsc_status fsc_pft_text_id(struct fsc_build_id *id, struct pft *p, const char *s)
{
	*id = (struct fsc_build_id){ .is_text = true };
	return fsc_build_str(&id->text, p->b, s, strlen(s));
}

/* pids of other machines are numbers of their own. */
struct fsc_build_id fsc_pft_pid(struct pft *p, int64_t pid)
{
	struct fsc_build_id id = { .num = pid };
	char text[64];

	if (!p->machine)
		return id;
	snprintf(text, sizeof(text), "%lld on machine %llu", (long long)pid,
		 (unsigned long long)p->machine);
	return fsc_pft_text_id(&id, p, text) == FSC_OK ? id : (struct fsc_build_id){ .num = pid };
}

/* The process that a track lies under: of the nearest ancestor that names one, else the topmost ancestor by name. */
static enum fsc_status process_of(struct fsc_build_id *id, struct pft *p, const struct pft_track *t)
{
	const struct pft_track *top = t;

	for (int i = 0; i < ANCESTORS_MAX; i++) {
		const struct pft_track *up;

		if (top->kind == PFT_PROCESS || top->kind == PFT_THREAD) {
			*id = fsc_pft_pid(p, top->pid);
			return FSC_OK;
		}
		up = by_uuid(p, top->parent);
		if (!up)
			break;
		top = up;
	}
	if (top == t || !top->name)
		return fsc_pft_text_id(id, p, "Global");
	return fsc_pft_text_id(id, p, fsc_strtab_get(p->texts, top->name, NULL));
}

static enum fsc_status name_process(struct pft *p, uint32_t process, const struct pft_track *t)
{
	uint32_t name;

	if (t->process_name) {
		FSC_TRY(fsc_pft_name(&name, p, t->process_name));
		fsc_build_name_process(p->b, process, name);
	}
	if (t->labels) {
		FSC_TRY(fsc_pft_name(&name, p, t->labels));
		fsc_build_label_process(p->b, process, name);
	}
	return FSC_OK;
}

/* ---- the builder's track ---- */

static enum fsc_status build_thread(uint32_t *built, struct pft *p, struct pft_track *t)
{
	struct fsc_build_id pid = fsc_pft_pid(p, t->pid), tid = { .num = t->tid };
	uint32_t name;

	FSC_TRY(fsc_build_ident(&t->ident, p->b, pid, tid));
	if (t->name) {
		FSC_TRY(fsc_pft_name(&name, p, t->name));
		fsc_build_name_ident(p->b, t->ident, name);
	}
	if (t->sort)
		fsc_build_sort_ident(p->b, t->ident, t->sort);
	return fsc_build_thread(built, p->b, t->ident);
}

/* The number to put behind the next counter of this name; 0 for the first. They count up, so that a file of very many
 * counters of one name costs no more than one of as many names. */
static enum fsc_status next_suffix(uint32_t *suffix, struct pft *p, uint32_t name, uint32_t process)
{
	uint32_t at = fsc_map_get(&p->counter_names, name, process);

	*suffix = 0;
	if (at != FSC_MAP_NONE) {
		*suffix = p->suffixes.v[at]++;
		return FSC_OK;
	}
	return fsc_vec_push(&p->suffixes, 2u) && fsc_map_put(&p->counter_names, name, process,
							     (uint32_t)p->suffixes.n - 1)
		       ? FSC_OK
		       : FSC_ENOMEM;
}

static enum fsc_status text_name(uint32_t *name, struct pft *p, const struct fsc_buf *text)
{
	uint32_t key;

	FSC_TRY(fsc_buf_status(text));
	FSC_TRY(fsc_strtab_put(&key, p->texts, text->data, text->len));
	return fsc_pft_name(name, p, key);
}

/* "name", "name (thread)" below a thread, "name (2)" when there is another of that name. */
static enum fsc_status counter_name(uint32_t *id, struct pft *p, const struct pft_track *t,
				    uint32_t process)
{
	const struct pft_track *up = by_uuid(p, t->parent);
	struct fsc_buf text = FSC_BUF_INIT(64u << 10);
	uint32_t plain, suffix, number;
	enum fsc_status st;
	size_t len;

	fsc_buf_adds(&text, t->name ? fsc_strtab_get(p->texts, t->name, NULL) : "counter");
	if (up && up->kind == PFT_THREAD && up->name)
		fsc_buf_addf(&text, " (%s)", fsc_strtab_get(p->texts, up->name, NULL));
	else if (up && up->kind == PFT_THREAD)
		fsc_buf_addf(&text, " (thread %lld)", (long long)up->tid);
	len = text.len;
	st = text_name(id, p, &text);
	plain = *id;
	if (st == FSC_OK)
		st = next_suffix(&suffix, p, plain, process);
	number = st == FSC_OK ? suffix : 0;
	while (st == FSC_OK && number) {
		text.len = len;
		fsc_buf_addf(&text, " (%u)", number);
		st = text_name(id, p, &text);
		/* somebody may have called his counter so */
		if (st == FSC_OK)
			st = next_suffix(&suffix, p, *id, process);
		if (st != FSC_OK || !suffix)
			break;
		st = next_suffix(&number, p, plain, process);
	}
	fsc_buf_fini(&text);
	return st;
}

static enum fsc_status build_counter(uint32_t *built, struct pft *p, struct pft_track *t)
{
	struct fsc_build_id id;
	uint32_t process, name, unit;

	FSC_TRY(process_of(&id, p, t));
	FSC_TRY(fsc_build_process(&process, p->b, id));
	FSC_TRY(counter_name(&name, p, t, process));
	FSC_TRY(fsc_pft_name(&unit, p, t->unit));
	return fsc_build_counter_track(built, p->b, process, name, unit, FSC_NO_ORDINAL);
}

static enum fsc_status build_plain(uint32_t *built, struct pft *p, struct pft_track *t,
				   uint32_t event_name)
{
	struct fsc_build_id id;
	uint32_t process, name = event_name;

	if (t->name)
		FSC_TRY(fsc_pft_name(&name, p, t->name));
	else if (t->kind == PFT_PROCESS)
		FSC_TRY(fsc_build_str(&name, p->b, "Process", strlen("Process")));
	else if (!t->uuid && !t->is_async)
		FSC_TRY(fsc_build_str(&name, p->b, "Default Track", strlen("Default Track")));
	FSC_TRY(process_of(&id, p, t));
	FSC_TRY(fsc_build_process(&process, p->b, id));
	/* number in our own list: unique whatever the uuid */
	return fsc_build_async(built, p->b, process, false, FSC_BUILD_NO_CAT,
			       (uint64_t)(t - p->tracks.v), name);
}

enum fsc_status fsc_pft_built(uint32_t *built, struct pft *p, uint32_t track, uint32_t name)
{
	struct pft_track *t = &p->tracks.v[track];

	if (t->built == FSC_NO_TRACK) {
		if (t->kind == PFT_THREAD)
			FSC_TRY(build_thread(&t->built, p, t));
		else if (t->kind == PFT_COUNTER)
			FSC_TRY(build_counter(&t->built, p, t));
		else
			FSC_TRY(build_plain(&t->built, p, t, name));
		t->placeholder = !t->described;
	}
	*built = t->built;
	return FSC_OK;
}

enum fsc_status fsc_pft_ident(uint32_t *ident, struct pft *p, uint32_t track)
{
	struct pft_track *t = &p->tracks.v[track];
	struct fsc_build_id pid, tid;
	uint32_t name;

	if (t->ident == FSC_NO_TRACK) {
		FSC_TRY(process_of(&pid, p, t));
		tid = (struct fsc_build_id){ .num = t->tid };
		if (t->kind != PFT_THREAD) {
			FSC_TRY(fsc_pft_name(&name, p, t->name));
			tid = (struct fsc_build_id){ .is_text = true, .text = name };
		}
		FSC_TRY(fsc_build_ident(&t->ident, p->b, pid, tid));
	}
	*ident = t->ident;
	return FSC_OK;
}

/* ---- descriptors ---- */

static void process_part(struct pft *p, struct pft_track *t, struct fsc_cur c, enum fsc_status *st)
{
	struct fsc_buf labels = FSC_BUF_INIT(64u << 10);
	struct fsc_pb_field f;

	if (t->kind != PFT_THREAD)
		t->kind = PFT_PROCESS;
	while (fsc_pb_next(&c, &f)) {
		if (f.num == 1 && f.wire == FSC_PB_VARINT)
			t->pid = (int32_t)f.v;
		else if (f.num == 6 && f.wire == FSC_PB_BYTES && !*st)
			*st = fsc_pft_text(&t->process_name, p, &f.body);
		else if (f.num == 8 && f.wire == FSC_PB_BYTES) {
			fsc_buf_adds(&labels, labels.len ? ", " : "");
			fsc_buf_add(&labels, f.body.p, fsc_cur_left(&f.body));
		}
	}
	if (!*st && labels.len && fsc_buf_status(&labels) == FSC_OK)
		*st = fsc_strtab_put(&t->labels, p->texts, labels.data, labels.len);
	fsc_buf_fini(&labels);
	if (!*st && c.failed)
		*st = fsc_pft_damaged(p, "the description of a process does not hold together");
}

/* ThreadDescriptor, of a track and of a packet. */
static void thread_part(struct pft *p, struct pft_track *t, struct fsc_cur c, enum fsc_status *st)
{
	struct fsc_pb_field f;

	t->kind = PFT_THREAD;
	while (fsc_pb_next(&c, &f)) {
		if (f.num == 1 && f.wire == FSC_PB_VARINT)
			t->pid = (int32_t)f.v;
		else if (f.num == 2 && f.wire == FSC_PB_VARINT)
			t->tid = (int64_t)f.v;
		else if (f.num == 3 && f.wire == FSC_PB_VARINT)
			t->sort = (int32_t)f.v;
		else if (f.num == 5 && f.wire == FSC_PB_BYTES && fsc_cur_left(&f.body) && !*st)
			*st = fsc_pft_text(&t->name, p, &f.body);
	}
	if (!*st && c.failed)
		*st = fsc_pft_damaged(p, "the description of a thread does not hold together");
}

static void counter_part(struct pft *p, struct pft_track *t, struct fsc_cur c, enum fsc_status *st)
{
	static const char *const units[] = { "", "ns", "count", "bytes" };
	struct fsc_pb_field f;

	t->kind = PFT_COUNTER;
	while (fsc_pb_next(&c, &f)) {
		if (f.num == 3 && f.v && f.v < FSC_ARRAY_LEN(units) && !t->unit && !*st)
			*st = fsc_strtab_put(&t->unit, p->texts, units[f.v], strlen(units[f.v]));
		else if (f.num == 4 && f.wire == FSC_PB_VARINT)
			t->unit_multiplier = (int64_t)f.v;
		else if (f.num == 5 && f.wire == FSC_PB_VARINT)
			t->incremental = f.v != 0;
		else if (f.num == 6 && f.wire == FSC_PB_BYTES && !*st)
			*st = fsc_pft_text(&t->unit, p, &f.body);
		/* counters that Perfetto knows by type: 1 thread time, 2 thread instructions */
		else if (f.num == 1 && !t->name && !*st)
			*st = fsc_strtab_put(&t->name, p->texts,
					     f.v == 1 ? "thread time" : "thread instructions",
					     strlen(f.v == 1 ? "thread time"
							     : "thread instructions"));
	}
	if (!*st && c.failed)
		*st = fsc_pft_damaged(p, "the description of a counter does not hold together");
}

static uint64_t uuid_of(struct fsc_cur c)
{
	struct fsc_pb_field f;

	while (fsc_pb_next(&c, &f))
		if (f.num == 1 && f.wire == FSC_PB_VARINT)
			return f.v;
	return 0;
}

enum fsc_status fsc_pft_describe(struct pft *p, struct fsc_cur c)
{
	enum fsc_status st = FSC_OK;
	struct pft_track *t;
	struct fsc_pb_field f;
	uint32_t track, own = 0;

	FSC_TRY(fsc_pft_track(&track, p, uuid_of(c)));
	t = &p->tracks.v[track];
	while (st == FSC_OK && fsc_pb_next(&c, &f)) {
		if (f.num == 5 && f.wire == FSC_PB_VARINT)
			t->parent = f.v;
		else if ((f.num == 2 || f.num == 10) && f.wire == FSC_PB_BYTES)
			st = fsc_pft_text(&own, p, &f.body);
		else if (f.num == 12 && f.wire == FSC_PB_VARINT)
			t->sort = (int32_t)f.v;
		else if (f.num == 3 && f.wire == FSC_PB_BYTES)
			process_part(p, t, f.body, &st);
		else if (f.num == 4 && f.wire == FSC_PB_BYTES)
			thread_part(p, t, f.body, &st);
		else if (f.num == 8 && f.wire == FSC_PB_BYTES)
			counter_part(p, t, f.body, &st);
		else if (f.num == 18 && f.wire == FSC_PB_BYTES)
			t->kind = PFT_STATE;
	}
	if (st == FSC_OK && c.failed)
		st = fsc_pft_damaged(p, "the description of a track does not hold together");
	if (own && (t->kind != PFT_THREAD || !t->name))
		t->name = own;
	t->described = true;
	return st;
}

enum fsc_status fsc_pft_thread_descriptor(struct pft *p, struct pft_seq *s, struct fsc_cur c)
{
	struct pft_track parsed = { .kind = PFT_THREAD };
	enum fsc_status st = FSC_OK;

	thread_part(p, &parsed, c, &st);
	if (st == FSC_OK)
		st = fsc_pft_thread_track(&s->thread, p, parsed.pid, parsed.tid);
	if (st == FSC_OK && parsed.name)
		p->tracks.v[s->thread].name = parsed.name;
	return st;
}

/* A process that has no track of its own, only a name. */
static enum fsc_status note_process(struct pft *p, const struct pft_track *t)
{
	uint32_t process;

	if (!t->process_name && !t->labels)
		return FSC_OK;
	FSC_TRY(fsc_build_process(&process, p->b, fsc_pft_pid(p, t->pid)));
	return name_process(p, process, t);
}

enum fsc_status fsc_pft_process_descriptor(struct pft *p, struct fsc_cur c)
{
	struct pft_track parsed = { .kind = PFT_PROCESS };
	enum fsc_status st = FSC_OK;

	process_part(p, &parsed, c, &st);
	return st == FSC_OK ? note_process(p, &parsed) : st;
}

/* ProcessTree: {processes 1 {pid 1, ppid 2, cmdline 3}, threads 2 {tid 1, tgid 3, name 2}}. */
enum fsc_status fsc_pft_process_tree(struct pft *p, struct fsc_cur c)
{
	struct fsc_pb_field f, g;

	while (fsc_pb_next(&c, &f)) {
		struct pft_track t = { .kind = PFT_PROCESS };
		uint32_t name = 0, track;
		int64_t tgid = 0;

		if (f.wire != FSC_PB_BYTES || f.num > 2)
			continue;
		while (fsc_pb_next(&f.body, &g)) {
			if (g.num == 1 && g.wire == FSC_PB_VARINT)
				t.pid = (int32_t)g.v;
			else if (g.num == 3 && g.wire == FSC_PB_VARINT)
				tgid = (int32_t)g.v;
			else if (g.num == (f.num == 1 ? 3u : 2u) && g.wire == FSC_PB_BYTES && !name)
				FSC_TRY(fsc_pft_text(&name, p, &g.body));
		}
		if (f.num == 1) {
			t.process_name = name;
			FSC_TRY(note_process(p, &t));
		} else if (name) {
			FSC_TRY(fsc_pft_thread_track(&track, p, tgid, t.pid));
			p->tracks.v[track].name = name;
		}
	}
	return c.failed ? fsc_pft_damaged(p, "a process tree does not hold together") : FSC_OK;
}

/* ---- the end of the file ---- */

/* Events came before the description: the track in the builder, made for want of better, becomes what it is. */
static enum fsc_status correct_placeholder(struct pft *p, struct pft_track *t)
{
	struct fsc_track *k = &fsc_build_trace(p->b)->tracks.v[t->built];
	struct fsc_build_id id;

	if (t->kind == PFT_COUNTER)
		return FSC_OK;
	FSC_TRY(process_of(&id, p, t));
	FSC_TRY(fsc_build_process(&k->process, p->b, id));
	if (t->name)
		FSC_TRY(fsc_pft_name(&k->name, p, t->name));
	if (t->kind == PFT_THREAD) {
		k->kind = FSC_TRACK_THREAD;
		k->tid = t->tid;
	}
	k->sort_index = t->sort;
	return FSC_OK;
}

enum fsc_status fsc_pft_finish_tracks(struct pft *p)
{
	for (size_t i = 0; i < p->tracks.n; i++) {
		struct pft_track *t = &p->tracks.v[i];
		uint32_t name;

		if (t->kind == PFT_PROCESS)
			FSC_TRY(note_process(p, t));
		if (t->built == FSC_NO_TRACK)
			continue;
		if (t->placeholder && t->described)
			FSC_TRY(correct_placeholder(p, t));
		else if (t->kind == PFT_THREAD && t->ident != FSC_NO_TRACK && t->name) {
			FSC_TRY(fsc_pft_name(&name, p, t->name));
			fsc_build_name_ident(p->b, t->ident, name);
		}
	}
	return FSC_OK;
}
