/* SPDX-License-Identifier: Apache-2.0 */
/* Sequences: what their packets take as given (defaults), and what they have interned (InternedData). */
#include <string.h>

#include "base/alloc.h"
#include "formats/perfetto_int.h"

enum fsc_status fsc_pft_seq(struct pft_seq **out, struct pft *p, uint64_t id)
{
	uint32_t at = fsc_map_get(&p->seq_map, id, 0);
	struct pft_seq *s;

	if (at != FSC_MAP_NONE) {
		*out = p->seqs.v[at];
		return FSC_OK;
	}
	if (p->seqs.n >= 2 * (size_t)FSC_MAX_TRACKS)
		return FSC_ELIMIT;
	s = fsc_alloc(1, sizeof(*s));
	if (!s)
		return FSC_ENOMEM;
	s->id = id;
	s->thread = FSC_NO_TRACK;
	if (!fsc_vec_push(&p->seqs, s)) {
		fsc_free(s);
		return FSC_ENOMEM;
	}
	*out = s;
	return fsc_map_put(&p->seq_map, id, 0, (uint32_t)p->seqs.n - 1) ? FSC_OK : FSC_ENOMEM;
}

void fsc_pft_seq_clear(struct pft_seq *s)
{
	fsc_map_fini(&s->dict);
	s->entries.n = s->lists.n = s->specs.n = 0;
	s->counters.n = s->doubles.n = 0;
	s->has_track = false;
	s->clock = 0;
}

void fsc_pft_seq_free(struct pft_seq *s)
{
	fsc_map_fini(&s->dict);
	fsc_vec_fini(&s->entries);
	fsc_vec_fini(&s->lists);
	fsc_vec_fini(&s->specs);
	fsc_vec_fini(&s->counters);
	fsc_vec_fini(&s->doubles);
	fsc_vec_fini(&s->clocks);
	fsc_free(s);
}

/* ---- defaults ---- */

static enum fsc_status add_uuids(void *vec, const struct fsc_pb_field *f)
{
	FSC_VEC(uint64_t) *to = vec;
	struct fsc_pb_numbers n = FSC_PB_NUMBERS(f, FSC_PB_VARINT);
	uint64_t v;

	while (fsc_pb_number(&n, &v))
		if (!fsc_vec_push(to, v))
			return FSC_ENOMEM;
	return FSC_OK;
}

static enum fsc_status event_defaults(struct pft *p, struct pft_seq *s, struct fsc_cur c)
{
	struct fsc_pb_field f;

	while (fsc_pb_next(&c, &f)) {
		if (f.num == 11 && f.wire == FSC_PB_VARINT) {
			s->track_uuid = f.v;
			s->has_track = true;
		} else if (f.num == 31) {
			FSC_TRY(add_uuids(&s->counters, &f));
		} else if (f.num == 45) {
			FSC_TRY(add_uuids(&s->doubles, &f));
		}
	}
	return c.failed ? fsc_pft_damaged(p, "the defaults of a sequence do not hold together")
			: FSC_OK;
}

enum fsc_status fsc_pft_defaults(struct pft *p, struct pft_seq *s, struct fsc_cur c)
{
	struct fsc_pb_field f;

	/* They replace the ones before them, as a whole. */
	s->counters.n = s->doubles.n = 0;
	s->has_track = false;
	s->clock = 0;
	while (fsc_pb_next(&c, &f)) {
		if (f.num == 58 && f.wire == FSC_PB_VARINT)
			s->clock = f.v;
		else if (f.num == 11 && f.wire == FSC_PB_BYTES)
			FSC_TRY(event_defaults(p, s, f.body));
	}
	return c.failed ? fsc_pft_damaged(p, "the defaults of a sequence do not hold together")
			: FSC_OK;
}

/* ---- texts ---- */

enum fsc_status fsc_pft_text(uint32_t *id, struct pft *p, const struct fsc_cur *c)
{
	return fsc_strtab_put(id, p->texts, (const char *)c->p, fsc_cur_left(c));
}

enum fsc_status fsc_pft_name(uint32_t *id, struct pft *p, uint32_t text)
{
	uint64_t utf8 = 0, zeros = 0;
	uint32_t *known;
	const char *s;
	size_t n;

	*id = 0;
	if (!text)
		return FSC_OK;
	if (text >= p->names.n) {
		size_t want = (size_t)text + 1024;

		if (!fsc_vec_reserve(&p->names, want))
			return FSC_ENOMEM;
		memset(p->names.v + p->names.n, 0, (want - p->names.n) * sizeof(*p->names.v));
		p->names.n = want;
	}
	known = &p->names.v[text];
	if (*known) {
		*id = *known - 1;
		return FSC_OK;
	}
	s = fsc_strtab_get(p->texts, text, &n);
	FSC_TRY(fsc_build_text(id, p->b, s, n, &utf8, &zeros));
	fsc_pft_note(p, &p->n.utf8, utf8);
	fsc_pft_note(p, &p->n.zeros, zeros);
	*known = *id + 1;
	return FSC_OK;
}

enum fsc_status fsc_pft_cat(uint16_t *cat, struct pft *p, uint32_t text)
{
	uint32_t name;
	const char *s;
	size_t n;

	FSC_TRY(fsc_pft_name(&name, p, text));
	s = fsc_strtab_get(fsc_build_trace(p->b)->strings, name, &n);
	return fsc_build_cat(cat, p->b, s, n);
}

/* ---- interned data ---- */

/* Messages that are {iid 1, text 2} and nothing more. */
static bool is_plain(uint32_t dict)
{
	return dict == PFT_CATEGORIES || dict == PFT_EVENT_NAMES || dict == PFT_ANNOTATION_NAMES ||
	       dict == PFT_FUNCTIONS || dict == PFT_ANNOTATION_STRINGS || dict == PFT_ARG_NAMES ||
	       dict == PFT_GPU_SPECS || dict == PFT_KERNELS;
}

static enum fsc_status add_list(struct pft_seq *s, struct pft_entry *e,
				const struct fsc_pb_field *f)
{
	struct fsc_pb_numbers n = FSC_PB_NUMBERS(f, FSC_PB_VARINT);
	uint64_t v;

	while (fsc_pb_number(&n, &v)) {
		if (!fsc_vec_push(&s->lists, v))
			return FSC_ENOMEM;
		e->n++;
	}
	return FSC_OK;
}

/* A field of an entry other than its id. */
static enum fsc_status entry_field(struct pft *p, struct pft_seq *s, uint32_t dict,
				   struct pft_entry *e, const struct fsc_pb_field *f)
{
	bool text = f->wire == FSC_PB_BYTES;

	if (is_plain(dict) && f->num == 2 && text)
		return fsc_pft_text(&e->text, p, &f->body);
	if (dict == PFT_KERNELS && f->num == 3 && text)
		return fsc_pft_text(&e->text2, p, &f->body);
	if (dict == PFT_GPU_SPECS && f->num == 4)
		e->num = f->v;
	if (dict == PFT_FRAMES && f->num == 2)
		e->num = f->v;
	if (dict == PFT_CONTEXTS && f->num == 2)
		e->num = f->v;
	if (dict == PFT_COUNTER_DESCRIPTORS && f->num == 3)
		e->num = f->v;
	if (dict == PFT_CALLSTACKS && f->num == 2)
		return add_list(s, e, f);
	if (dict == PFT_COUNTER_DESCRIPTORS && f->num == 2 && text)
		return fsc_pft_counter_specs(p, s, e, f->body);
	return FSC_OK;
}

static enum fsc_status intern_one(struct pft *p, struct pft_seq *s, uint32_t dict, struct fsc_cur c)
{
	struct pft_entry e = { .first = (uint32_t)(dict == PFT_COUNTER_DESCRIPTORS ? s->specs.n
										   : s->lists.n) };
	struct fsc_pb_field f;
	uint64_t iid = 0;

	while (fsc_pb_next(&c, &f)) {
		if (f.num == 1 && f.wire == FSC_PB_VARINT)
			iid = f.v;
		else
			FSC_TRY(entry_field(p, s, dict, &e, &f));
	}
	if (c.failed)
		return fsc_pft_damaged(p, "interned data do not hold together");
	/* Sent again, it says the same again. */
	if (fsc_map_get(&s->dict, iid, dict) != FSC_MAP_NONE)
		return FSC_OK;
	if (s->entries.n >= FSC_MAX_STRINGS)
		return FSC_ELIMIT;
	return fsc_vec_push(&s->entries, e) &&
			       fsc_map_put(&s->dict, iid, dict, (uint32_t)s->entries.n - 1)
		       ? FSC_OK
		       : FSC_ENOMEM;
}

static bool is_read(uint32_t dict)
{
	return is_plain(dict) || dict == PFT_FRAMES || dict == PFT_CALLSTACKS ||
	       dict == PFT_CONTEXTS || dict == PFT_COUNTER_DESCRIPTORS;
}

enum fsc_status fsc_pft_intern(struct pft *p, struct pft_seq *s, struct fsc_cur c)
{
	struct fsc_pb_field f;

	while (fsc_pb_next(&c, &f))
		if (f.wire == FSC_PB_BYTES && is_read(f.num))
			FSC_TRY(intern_one(p, s, f.num, f.body));
	return c.failed ? fsc_pft_damaged(p, "interned data do not hold together") : FSC_OK;
}

const struct pft_entry *fsc_pft_entry(struct pft *p, const struct pft_seq *s, enum pft_dict d,
				      uint64_t iid)
{
	uint32_t at = fsc_map_get(&s->dict, iid, d);

	if (at != FSC_MAP_NONE)
		return &s->entries.v[at];
	fsc_pft_note(p, &p->n.interned, 1);
	return NULL;
}
