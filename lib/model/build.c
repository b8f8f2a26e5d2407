/* SPDX-License-Identifier: Apache-2.0 */
/* The appending half of the builder: strings, slices, counters, flows, typed rows; see build.h. */
#include "model/build.h"

#include <string.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "model/build_int.h"

/* ---- life ---- */

struct fsc_build *fsc_build_new(void)
{
	struct fsc_build *b = fsc_alloc(1, sizeof(*b));
	if (!b)
		return NULL;
	b->t = fsc_alloc(1, sizeof(*b->t));
	if (!b->t)
		goto fail;
	b->t->meta.rank = b->t->meta.world_size = -1;
	b->t->strings = fsc_strtab_new();
	b->t->args = fsc_args_new();
	if (!b->t->strings || !b->t->args)
		goto fail;
	return b;
fail:
	fsc_build_free(b);
	return NULL;
}

void fsc_build_free(struct fsc_build *b)
{
	if (!b)
		return;
	fsc_trace_free(b->t);
	fsc_vec_fini(&b->procs);
	fsc_vec_fini(&b->idents);
	fsc_vec_fini(&b->tracks);
	fsc_vec_fini(&b->halves);
	fsc_vec_fini(&b->args_pairs);
	fsc_vec_fini(&b->flows);
	fsc_vec_fini(&b->counters);
	fsc_map_fini(&b->proc_map);
	fsc_map_fini(&b->ident_map);
	fsc_map_fini(&b->track_map);
	fsc_map_fini(&b->cat_map);
	fsc_free(b);
}

struct fsc_trace *fsc_build_trace(struct fsc_build *b)
{
	return b->t;
}

enum fsc_status fsc_build_str(uint32_t *id, struct fsc_build *b, const char *s, size_t n)
{
	return fsc_strtab_put(id, b->t->strings, s, n);
}

int64_t fsc_build_place(const struct fsc_build *b)
{
	return b->where ? b->where(b->where_ctx) : -1;
}

void fsc_build_where(struct fsc_build *b, int64_t (*where)(const void *ctx), const void *ctx)
{
	b->where = where;
	b->where_ctx = ctx;
}

void fsc_build_loss_at(struct fsc_build *b, const char *code, uint64_t n, int64_t offset)
{
	fsc_losses_add_at(&b->t->losses, code, n, offset);
}

enum fsc_status fsc_build_text(uint32_t *id, struct fsc_build *b, const char *s, size_t n,
			       uint64_t *utf8, uint64_t *zeros)
{
	struct fsc_buf text = FSC_BUF_INIT(3 * FSC_MAX_STRING_BYTES);
	enum fsc_status st;

	if (!n)
		return fsc_build_str(id, b, "", 0);
	if (fsc_utf8_valid(s, n) && !memchr(s, '\0', n))
		return fsc_build_str(id, b, s, n);
	for (size_t i = 0; i < n;) {
		size_t run = strnlen(s + i, n - i);

		*utf8 += fsc_utf8_repair(&text, s + i, run);
		i += run;
		if (i < n) {
			fsc_buf_adds(&text, "\xEF\xBF\xBD");
			++*zeros;
			i++;
		}
	}
	st = fsc_buf_status(&text);
	if (st == FSC_OK)
		st = fsc_build_str(id, b, text.data, text.len);
	fsc_buf_fini(&text);
	return st;
}

void fsc_build_loss(struct fsc_build *b, const char *code, uint64_t n)
{
	fsc_losses_add_at(&b->t->losses, code, n, fsc_build_place(b));
}

enum fsc_status fsc_build_cat(uint16_t *cat, struct fsc_build *b, const char *s, size_t n)
{
	uint32_t id;
	enum fsc_status st = fsc_build_str(&id, b, s, n);
	if (st != FSC_OK)
		return st;
	uint32_t have = fsc_map_get(&b->cat_map, id, 0);
	if (have != UINT32_MAX) {
		*cat = (uint16_t)have;
		return FSC_OK;
	}
	if (b->t->cats.n >= FSC_BUILD_NO_CAT) {
		/* 65,534 categories are no categories: the rest shares the first, and says so. */
		fsc_build_loss(b, "category_limit", 1);
		*cat = 0;
		return FSC_OK;
	}
	if (!fsc_map_put(&b->cat_map, id, 0, (uint32_t)b->t->cats.n) ||
	    !fsc_vec_push(&b->t->cats, id))
		return FSC_ENOMEM;
	*cat = (uint16_t)(b->t->cats.n - 1);
	return FSC_OK;
}

/* ---- what ---- */

static bool grow_column(void *column, uint32_t cap, size_t size)
{
	void **p = column;
	void *g = fsc_realloc(*p, cap, size);
	if (!g)
		return false;
	*p = g;
	return true;
}

/* Growth by a quarter once large: the slack is memory that every big trace would pay for. */
static fsc_noinline enum fsc_status grow_slices(struct fsc_slices *s)
{
	if (s->n >= FSC_MAX_EVENTS)
		return FSC_ELIMIT;
	uint32_t cap = s->cap < 4096 ? 4096 : s->cap + s->cap / (s->cap < 65536 ? 1 : 4);
	if (!grow_column(&s->ts, cap, sizeof(*s->ts)) ||
	    !grow_column(&s->dur, cap, sizeof(*s->dur)) ||
	    !grow_column(&s->correlation, cap, sizeof(*s->correlation)) ||
	    !grow_column(&s->track, cap, sizeof(*s->track)) ||
	    !grow_column(&s->name, cap, sizeof(*s->name)) ||
	    !grow_column(&s->args, cap, sizeof(*s->args)) ||
	    !grow_column(&s->cat, cap, sizeof(*s->cat)) ||
	    !grow_column(&s->depth, cap, sizeof(*s->depth)) ||
	    !grow_column(&s->kind, cap, sizeof(*s->kind)) ||
	    !grow_column(&s->flags, cap, sizeof(*s->flags)))
		return FSC_ENOMEM;
	s->cap = cap;
	return FSC_OK;
}

static inline enum fsc_status append(uint32_t *slice, struct fsc_build *b,
				     const struct fsc_build_slice *in, int64_t dur)
{
	struct fsc_slices *s = &b->t->slices;
	if (FSC_UNLIKELY(s->n == s->cap)) {
		enum fsc_status st = grow_slices(s);
		if (st != FSC_OK)
			return st;
	}
	uint32_t i = s->n++;
	s->ts[i] = in->ts;
	s->dur[i] = dur;
	s->correlation[i] = in->correlation;
	s->track[i] = in->track;
	s->name[i] = in->name;
	s->args[i] = in->args;
	s->cat[i] = in->cat;
	s->kind[i] = in->kind;
	s->flags[i] = in->flags;
	*slice = i;
	return FSC_OK;
}

enum fsc_status fsc_build_slice(uint32_t *slice, struct fsc_build *b,
				const struct fsc_build_slice *s)
{
	int64_t dur = s->dur;
	if (FSC_UNLIKELY(dur < 0)) {
		dur = 0;
		fsc_build_loss(b, "negative_duration", 1);
	}
	return append(slice, b, s, dur);
}

enum fsc_status fsc_build_begin(uint32_t *slice, struct fsc_build *b,
				const struct fsc_build_slice *s)
{
	enum fsc_status st = append(slice, b, s, FSC_BUILD_PENDING);
	if (st != FSC_OK)
		return st;
	struct fsc_build_half h = { .ts = s->ts,
				    .track = s->track,
				    .name = s->name,
				    .slice = *slice,
				    .args = s->args,
				    .cat = s->cat,
				    .at = fsc_build_place(b) };
	return fsc_vec_push(&b->halves, h) ? FSC_OK : FSC_ENOMEM;
}

enum fsc_status fsc_build_end(struct fsc_build *b, uint32_t track, int64_t ts, uint32_t name,
			      uint16_t cat, uint32_t args)
{
	struct fsc_build_half h = { .ts = ts,
				    .track = track,
				    .name = name,
				    .slice = FSC_NO_SLICE,
				    .args = args,
				    .cat = cat,
				    .at = fsc_build_place(b) };
	if (b->halves.n >= FSC_MAX_EVENTS)
		return FSC_ELIMIT;
	return fsc_vec_push(&b->halves, h) ? FSC_OK : FSC_ENOMEM;
}

enum fsc_status fsc_build_counter(struct fsc_build *b, uint32_t track, int64_t ts, double value)
{
	struct fsc_build_counter_ev e = { .ts = ts, .value = value, .track = track };
	if (b->counters.n >= FSC_MAX_EVENTS)
		return FSC_ELIMIT;
	return fsc_vec_push(&b->counters, e) ? FSC_OK : FSC_ENOMEM;
}

enum fsc_status fsc_build_flow(struct fsc_build *b, const struct fsc_build_flow *f)
{
	struct fsc_build_flow_ev e = { .ts = f->ts,
				       .id = f->id,
				       .ident = f->ident,
				       .slice = f->slice,
				       .name = f->name,
				       .cat = f->cat,
				       .next = UINT32_MAX,
				       .phase = f->phase };
	if (b->flows.n >= FSC_MAX_EVENTS)
		return FSC_ELIMIT;
	return fsc_vec_push(&b->flows, e) ? FSC_OK : FSC_ENOMEM;
}

enum fsc_status fsc_build_launch(struct fsc_build *b, const struct fsc_launch *l)
{
	return fsc_vec_push(&b->t->launches, *l) ? FSC_OK : FSC_ENOMEM;
}

enum fsc_status fsc_build_collective(struct fsc_build *b, const struct fsc_collective *c)
{
	return fsc_vec_push(&b->t->collectives, *c) ? FSC_OK : FSC_ENOMEM;
}

enum fsc_status fsc_build_args(uint32_t *record, struct fsc_build *b, const char *json, size_t n)
{
	return fsc_args_put(record, b->t->args, json, n);
}

void fsc_build_base_time(struct fsc_build *b, int64_t base_ns)
{
	b->base_time = base_ns;
	b->has_base = true;
}

uint64_t fsc_build_events(const struct fsc_build *b)
{
	return b->t->n_events;
}

void fsc_build_count_event(struct fsc_build *b)
{
	b->t->n_events++;
}
