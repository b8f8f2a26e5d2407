/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call stacks by number: an event names a frame (sf, and esf for its end), the top-level object stackFrames tells each
 * frame's name, category and parent. Files have it behind the events, so the args of such events wait here, and
 * get a member "callstack": frames as text, outermost first, "name (category)".
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/json_copy.h"
#include "base/json_scan.h"
#include "formats/chrome_int.h"

/* ---- frames ---- */

/* Text inside the quotes of a string, a number as it is written; 0 for anything else. */
static uint64_t frame_id(const struct fsc_json_member *m)
{
	if (m->type == FSC_JSON_STRING)
		return fsc_chrome_hash(m->value + 1, m->value_len - 2);
	return m->type == FSC_JSON_NUMBER ? fsc_chrome_hash(m->value, m->value_len) : 0;
}

static enum fsc_status frame_text(uint32_t *id, struct chrome *c, const char *json, size_t n,
				  const char *key)
{
	struct fsc_json_member m;
	*id = 0;
	if (!fsc_json_find(&m, json, n, key) || m.type != FSC_JSON_STRING)
		return FSC_OK;
	struct fsc_buf b = FSC_BUF_INIT(FSC_MAX_ARGS_BYTES * 4);
	fsc_json_unescape(&b, m.value, m.value_len);
	enum fsc_status st = fsc_buf_status(&b);
	if (st == FSC_OK)
		st = fsc_build_str(id, c->b, b.data ? b.data : "", b.len);
	fsc_buf_fini(&b);
	return st;
}

enum fsc_status fsc_chrome_frame(struct chrome *c, const char *key, size_t key_n, const char *json,
				 size_t n)
{
	struct chrome_stacks *s = &c->stacks;
	struct chrome_frame f = { .id = fsc_chrome_hash(key, key_n) };
	struct fsc_json_member m;
	if (n == 0 || *json != '{') {
		fsc_chrome_note(c, &s->unreadable);
		return FSC_OK;
	}
	if (s->frames.n >= FSC_MAX_STACK_FRAMES) {
		fsc_chrome_note(c, &s->limit);
		return FSC_OK;
	}
	if (fsc_json_find(&m, json, n, "parent"))
		f.parent = frame_id(&m);
	FSC_TRY(frame_text(&f.name, c, json, n, "name"));
	FSC_TRY(frame_text(&f.category, c, json, n, "category"));
	return fsc_vec_push(&s->frames, f) ? FSC_OK : FSC_ENOMEM;
}

static int by_id(const void *x, const void *y)
{
	const struct chrome_frame *a = x, *b = y;
	return a->id < b->id ? -1 : a->id > b->id;
}

static const struct chrome_frame *find(const struct chrome_stacks *s, uint64_t id)
{
	const struct chrome_frame key = { .id = id };
	return id && s->frames.n
		       ? bsearch(&key, s->frames.v, s->frames.n, sizeof(*s->frames.v), by_id)
		       : NULL;
}

/* ---- slices that wait ---- */

static uint64_t field_id(const struct chrome *c, enum chrome_field f)
{
	const struct fsc_jt_val *v = &c->f[f];
	if (!(c->have >> f & 1) || (v->type != FSC_JT_NUM && v->type != FSC_JT_STR) || !v->n)
		return 0;
	return fsc_chrome_hash(v->s, v->n);
}

/* Gives a slice its args as they are. */
static enum fsc_status put_args(struct chrome *c, uint32_t slice, const char *json, size_t n)
{
	return n ? fsc_build_args(&fsc_build_trace(c->b)->slices.args[slice], c->b, json, n)
		 : FSC_OK;
}

enum fsc_status fsc_chrome_stack_wait(struct chrome *c, uint32_t slice)
{
	struct chrome_stacks *s = &c->stacks;
	const struct fsc_jt_val *ph = &c->f[F_PH];
	struct chrome_stack_ref r = { .sf = field_id(c, F_SF),
				      .esf = field_id(c, F_ESF),
				      .args_at = s->text.len,
				      .at = fsc_jt_offset(&c->t, c->at),
				      .args_n = (uint32_t)c->args_n,
				      .slice = slice };
	r.named_by_leaf = c->in_samples || (c->have >> F_PH & 1 && ph->n && *ph->s == 'P');
	if (s->refs.n >= FSC_MAX_STACK_REFS || s->text.len + c->args_n > FSC_MAX_STACK_BYTES) {
		fsc_chrome_note(c, &s->limit);
		return put_args(c, slice, c->args, c->args_n);
	}
	s->text.max = FSC_MAX_STACK_BYTES + 1;
	fsc_buf_add(&s->text, c->args, c->args_n);
	FSC_TRY(fsc_buf_status(&s->text));
	return fsc_vec_push(&s->refs, r) ? FSC_OK : FSC_ENOMEM;
}

/* ---- writing stacks out ---- */

static void put_frame(struct fsc_buf *out, struct fsc_buf *tmp, struct chrome *c,
		      const struct chrome_frame *f)
{
	const struct fsc_strtab *strings = fsc_build_trace(c->b)->strings;
	size_t n;
	const char *s = fsc_strtab_get(strings, f->name, &n);
	if (f->category) {
		fsc_buf_clear(tmp);
		fsc_buf_add(tmp, s, n);
		fsc_buf_adds(tmp, " (");
		s = fsc_strtab_get(strings, f->category, &n);
		fsc_buf_add(tmp, s, n);
		fsc_buf_addc(tmp, ')');
		s = tmp->data;
		n = tmp->len;
		if (fsc_buf_status(tmp) != FSC_OK)
			out->failed = fsc_buf_status(tmp);
	}
	if (fsc_buf_status(out) == FSC_OK)
		fsc_json_copy_text(out, s, n);
}

/* "key":["main (m)", ...] as another member of the object under way; the depth limit ends circles too. */
static void put_stack(struct fsc_buf *out, struct fsc_buf *tmp, struct chrome *c, const char *key,
		      uint64_t id, uint64_t at)
{
	const struct chrome_frame *v[FSC_MAX_STACK_DEPTH], *f;
	size_t n = 0;
	for (; id && n < FSC_MAX_STACK_DEPTH; id = f->parent) {
		f = find(&c->stacks, id);
		if (!f)
			break;
		v[n++] = f;
	}
	if (id)
		fsc_jt_note_at(&c->t,
			       n == FSC_MAX_STACK_DEPTH ? &c->stacks.too_deep : &c->stacks.unknown,
			       1, at);
	if (!n)
		return;
	fsc_buf_adds(out, out->len > 1 ? ",\"" : "\"");
	fsc_buf_adds(out, key);
	fsc_buf_adds(out, "\":[");
	while (n) {
		put_frame(out, tmp, c, v[--n]);
		fsc_buf_adds(out, n ? "," : "]");
	}
}

/* The members of the event's own args, then its stacks. */
static void put_all(struct fsc_buf *out, struct fsc_buf *tmp, struct chrome *c,
		    const struct chrome_stack_ref *r, const char *args)
{
	fsc_buf_clear(out);
	fsc_buf_clear(tmp);
	fsc_buf_addc(out, '{');
	if (r->args_n > 2)
		fsc_buf_add(out, args + 1, r->args_n - 2);
	put_stack(out, tmp, c, "callstack", r->sf, r->at);
	put_stack(out, tmp, c, "end_callstack", r->esf, r->at);
	fsc_buf_addc(out, '}');
}

struct writer {
	struct chrome *c;
	struct fsc_buf out, tmp;
	uint64_t written;
	/* Samples repeat a few stacks: those written last, by their hash; slices with equal args share a record. */
	struct recent {
		const struct chrome_stack_ref *r; /* NULL: free */
		uint32_t record;
	} recent[4096];
};

static const char *args_of(const struct chrome *c, const struct chrome_stack_ref *r)
{
	return r->args_n ? c->stacks.text.data + r->args_at : "";
}

static struct recent *recent_of(struct writer *w, const struct chrome_stack_ref *r)
{
	uint64_t h = fsc_chrome_hash(args_of(w->c, r), r->args_n);
	h = (h ^ r->sf ^ r->esf << 7) * 0x9E3779B97F4A7C15ULL;
	return &w->recent[h >> 52];
}

static bool same_args(const struct chrome *c, const struct chrome_stack_ref *a,
		      const struct chrome_stack_ref *b)
{
	return a->sf == b->sf && a->esf == b->esf && a->args_n == b->args_n &&
	       !memcmp(args_of(c, a), args_of(c, b), a->args_n);
}

static enum fsc_status write_out(struct writer *w, const struct chrome_stack_ref *r)
{
	struct chrome *c = w->c;
	if (w->written >= FSC_MAX_STACK_TEXT) {
		fsc_jt_note_at(&c->t, &c->stacks.limit, 1, r->at);
		return put_args(c, r->slice, args_of(c, r), r->args_n);
	}
	put_all(&w->out, &w->tmp, c, r, args_of(c, r));
	if (fsc_buf_status(&w->out) == FSC_ENOMEM)
		return FSC_ENOMEM;
	if (fsc_buf_status(&w->out) != FSC_OK) {
		fsc_jt_note_at(&c->t, &c->args_too_big, 1, r->at);
		return put_args(c, r->slice, args_of(c, r), r->args_n);
	}
	w->written += w->out.len;
	return w->out.len > 2 ? put_args(c, r->slice, w->out.data, w->out.len) : FSC_OK;
}

static enum fsc_status resolve(struct writer *w, const struct chrome_stack_ref *r)
{
	struct chrome *c = w->c;
	struct fsc_slices *s = &fsc_build_trace(c->b)->slices;
	const struct chrome_frame *leaf = find(&c->stacks, r->sf);
	struct recent *e = recent_of(w, r);
	if (r->named_by_leaf && leaf && !s->name[r->slice])
		s->name[r->slice] = leaf->name;
	if (e->r && same_args(c, e->r, r)) {
		s->args[r->slice] = e->record;
		return FSC_OK;
	}
	uint64_t counted = c->t.counted;
	FSC_TRY(write_out(w, r));
	/* What lost something is done again, so that each slice counts. */
	if (counted == c->t.counted)
		*e = (struct recent){ .r = r, .record = s->args[r->slice] };
	return FSC_OK;
}

enum fsc_status fsc_chrome_stacks_resolve(struct chrome *c)
{
	struct chrome_stacks *s = &c->stacks;
	struct writer *w = fsc_alloc(1, sizeof(*w));
	enum fsc_status st = FSC_OK;
	if (!w)
		return FSC_ENOMEM;
	w->c = c;
	fsc_buf_init(&w->out, FSC_MAX_ARGS_BYTES);
	fsc_buf_init(&w->tmp, FSC_MAX_ARGS_BYTES);
	if (s->frames.n)
		qsort(s->frames.v, s->frames.n, sizeof(*s->frames.v), by_id);
	for (size_t i = 0; st == FSC_OK && i < s->refs.n; i++)
		st = resolve(w, &s->refs.v[i]);
	fsc_buf_fini(&w->out);
	fsc_buf_fini(&w->tmp);
	fsc_free(w);
	fsc_chrome_stacks_fini(c);
	return st;
}

void fsc_chrome_stacks_fini(struct chrome *c)
{
	fsc_vec_fini(&c->stacks.frames);
	fsc_vec_fini(&c->stacks.refs);
	fsc_buf_fini(&c->stacks.text);
}
