/* SPDX-License-Identifier: Apache-2.0 */
/* Least recently used blocks of args; see the header. A slot keeps its memory when its block changes. */
#include "segment/seg_args_lru.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "segment/seg_internal.h"

struct slot {
	uint32_t block; /* UINT32_MAX when empty */
	uint64_t used;	/* tick of the last get */
	uint8_t *raw;	/* owned */
	uint32_t *at;	/* owned: where each record's bytes start, then one past the last */
	size_t raw_cap, at_cap;
};

struct fsc_seg_args_lru {
	const struct fsc_seg *seg; /* borrowed */
	struct slot *slots;	   /* owned */
	uint32_t n_slots;
	uint32_t last; /* slot of the last get: the next one is often beside it */
	uint64_t tick;
};

struct fsc_seg_args_lru *fsc_seg_args_lru_new(const struct fsc_seg *seg, uint32_t n_blocks)
{
	struct fsc_seg_args_lru *l = fsc_alloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->seg = seg;
	l->n_slots = n_blocks ? n_blocks : 1;
	l->slots = fsc_alloc(l->n_slots, sizeof(*l->slots));
	if (!l->slots) {
		fsc_free(l);
		return NULL;
	}
	for (uint32_t i = 0; i < l->n_slots; i++)
		l->slots[i].block = UINT32_MAX;
	return l;
}

void fsc_seg_args_lru_free(struct fsc_seg_args_lru *l)
{
	if (!l)
		return;
	for (uint32_t i = 0; i < l->n_slots; i++) {
		fsc_free(l->slots[i].raw);
		fsc_free(l->slots[i].at);
	}
	fsc_free(l->slots);
	fsc_free(l);
}

static bool room(struct slot *s, const struct fsc_seg_d_args_block *b)
{
	void *p;

	if (s->raw_cap < b->raw_bytes) {
		p = fsc_realloc(s->raw, b->raw_bytes, 1);
		if (!p)
			return false;
		s->raw = p;
		s->raw_cap = b->raw_bytes;
	}
	if (s->at_cap < b->n_records) {
		p = fsc_realloc(s->at, b->n_records, sizeof(*s->at));
		if (!p)
			return false;
		s->at = p;
		s->at_cap = b->n_records;
	}
	return true;
}

/* Where each record's length stands. False when the block does not hold the records it says. */
static bool find_records(struct slot *s, const struct fsc_seg_d_args_block *b)
{
	struct fsc_cur c = fsc_cur_of(s->raw, b->raw_bytes);

	for (uint32_t i = 0; i < b->n_records; i++) {
		uint64_t len;

		s->at[i] = (uint32_t)(c.p - c.start);
		len = fsc_cur_varint(&c);
		if (c.failed || len > fsc_cur_left(&c))
			return false;
		c.p += len;
	}
	return true;
}

static enum fsc_status load(struct slot *s, const struct fsc_seg *seg, uint32_t block,
			    struct fsc_err *err)
{
	const struct fsc_seg_d_args_block *b = &seg->args_blocks[block];
	enum fsc_status st;

	s->block = UINT32_MAX;
	if (!room(s, b))
		return fsc_err_set(err, FSC_ENOMEM, NULL, "segment: no memory for an args block");
	st = fsc_seg_args_inflate(s->raw, seg, block, err);
	if (!st && !find_records(s, b))
		st = fsc_err_set(err, FSC_ECORRUPT, "segment_args",
				 "segment: args block %u is damaged", block);
	if (!st)
		s->block = block;
	return st;
}

/* The slot that holds block, or the one that was used longest ago. */
static uint32_t slot_for(const struct fsc_seg_args_lru *l, uint32_t block)
{
	uint32_t oldest = 0;

	if (l->slots[l->last].block == block)
		return l->last;
	for (uint32_t i = 0; i < l->n_slots; i++) {
		if (l->slots[i].block == block)
			return i;
		if (l->slots[i].used < l->slots[oldest].used)
			oldest = i;
	}
	return oldest;
}

enum fsc_status fsc_seg_args_lru_get(const char **json, size_t *n, struct fsc_seg_args_lru *l,
				     uint32_t record, struct fsc_err *err)
{
	const struct fsc_seg_d_args_block *b;
	struct fsc_cur c;
	struct slot *s;
	uint32_t block;
	enum fsc_status st;

	if (!fsc_seg_args_block_of(&block, l->seg, record))
		return fsc_err_set(err, FSC_ENOTFOUND, "no_such_args", "segment: no args record %u",
				   record);
	b = &l->seg->args_blocks[block];
	l->last = slot_for(l, block);
	s = &l->slots[l->last];
	s->used = ++l->tick;
	if (s->block != block) {
		st = load(s, l->seg, block, err);
		if (st)
			return st;
	}
	/* find_records has shown that the record lies inside the block */
	c = fsc_cur_of(s->raw + s->at[record - b->first_record],
		       b->raw_bytes - s->at[record - b->first_record]);
	*n = (size_t)fsc_cur_varint(&c);
	*json = (const char *)c.p;
	return FSC_OK;
}
