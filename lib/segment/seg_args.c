/* SPDX-License-Identifier: Apache-2.0 */
/* Args records: one block is inflated for each call; records of one block are served from one inflate by
 * struct fsc_seg_args_cache. */
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/crc.h"
#include "base/source.h"
#include "segment/seg_internal.h"

static enum fsc_status damaged(struct fsc_err *err, uint32_t block)
{
	return fsc_err_set(err, FSC_ECORRUPT, "segment_args", "segment: args block %u is damaged",
			   block);
}

static enum fsc_status check_block(const struct fsc_seg *s, uint32_t block, struct fsc_err *err)
{
	const struct fsc_seg_d_args_block *b = &s->args_blocks[block];
	const uint8_t *p = s->part[FSC_SEG_ARGS_DATA].p + b->offset;

	if (atomic_load_explicit(&s->args_ok[block], memory_order_acquire))
		return FSC_OK;
	if (fsc_crc32c(0, p, b->stored_bytes) != b->crc)
		return damaged(err, block);
	atomic_store_explicit(&s->args_ok[block], 1, memory_order_release);
	return FSC_OK;
}

enum fsc_status fsc_seg_args_inflate(uint8_t *raw, const struct fsc_seg *s, uint32_t block,
				     struct fsc_err *err)
{
	const struct fsc_seg_d_args_block *b = &s->args_blocks[block];
	enum fsc_status st = check_block(s, block, err);
	struct fsc_source *src;
	uint8_t past;
	size_t got = 0, n = 0;

	if (st != FSC_OK)
		return st;
	src = fsc_source_zstd(
		fsc_source_mem(s->part[FSC_SEG_ARGS_DATA].p + b->offset, b->stored_bytes));
	while (st == FSC_OK && got < b->raw_bytes) {
		st = fsc_source_read(src, raw + got, b->raw_bytes - got, &n, err);
		got += st == FSC_OK ? n : 0;
	}
	if (st == FSC_OK && fsc_source_read(src, &past, 1, &n, err) != FSC_END)
		st = FSC_ECORRUPT;
	fsc_source_free(src);
	return st == FSC_OK ? st : damaged(err, block);
}

bool fsc_seg_args_block_of(uint32_t *block, const struct fsc_seg *s, uint32_t record)
{
	uint32_t lo = 0, hi = s->h.n_args_blocks;

	if (record >= s->h.n_args)
		return false;
	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (s->args_blocks[mid].first_record <= record)
			lo = mid;
		else
			hi = mid;
	}
	*block = lo;
	return true;
}

/* Moves the cursor past `skip` records and gives the next one; NULL when the block is cut. */
static const uint8_t *record_at(struct fsc_cur *c, uint32_t skip, size_t *n)
{
	const uint8_t *p;

	for (;; skip--) {
		uint64_t len = fsc_cur_varint(c);

		if (c->failed || len > fsc_cur_left(c))
			return NULL;
		p = fsc_cur_bytes(c, (size_t)len);
		*n = (size_t)len;
		if (!skip)
			return p;
	}
}

static enum fsc_status no_record(struct fsc_err *err, uint32_t record)
{
	return fsc_err_set(err, FSC_ENOTFOUND, "no_such_args", "segment: no args record %u",
			   record);
}

enum fsc_status fsc_seg_args(struct fsc_buf *out, const struct fsc_seg *s, uint32_t record,
			     struct fsc_err *err)
{
	struct fsc_seg_args_cache c = { .raw = NULL };
	const char *p;
	size_t n;
	enum fsc_status st = fsc_seg_args_get(&p, &n, &c, s, record, err);

	if (st == FSC_OK) {
		fsc_buf_add(out, p, n);
		st = fsc_buf_status(out);
		if (st != FSC_OK)
			st = fsc_err_set(err, st, NULL, "segment: args record %u does not fit",
					 record);
	}
	fsc_seg_args_cache_fini(&c);
	return st;
}

enum fsc_status fsc_seg_args_get(const char **json, size_t *n, struct fsc_seg_args_cache *c,
				 const struct fsc_seg *s, uint32_t record, struct fsc_err *err)
{
	const struct fsc_seg_d_args_block *b;
	struct fsc_cur cur;
	uint32_t block;

	if (!fsc_seg_args_block_of(&block, s, record))
		return no_record(err, record);
	b = &s->args_blocks[block];
	if (!c->raw || c->block != block) {
		enum fsc_status st;

		fsc_seg_args_cache_fini(c);
		c->raw = fsc_alloc((size_t)b->raw_bytes + 1, 1);
		if (!c->raw)
			return fsc_err_set(err, FSC_ENOMEM, NULL,
					   "segment: no memory for an args block");
		st = fsc_seg_args_inflate(c->raw, s, block, err);
		if (st != FSC_OK) {
			fsc_seg_args_cache_fini(c);
			return st;
		}
		c->block = block;
		c->next_record = b->first_record;
	}
	/* Records asked in order are found without starting over. */
	if (record < c->next_record) {
		c->next_record = b->first_record;
		c->next_at = 0;
	}
	cur = fsc_cur_of(c->raw + c->next_at, b->raw_bytes - c->next_at);
	*json = (const char *)record_at(&cur, record - c->next_record, n);
	if (!*json)
		return damaged(err, block);
	c->next_record = record + 1;
	c->next_at = (uint32_t)((size_t)(cur.p - c->raw));
	return FSC_OK;
}

void fsc_seg_args_cache_fini(struct fsc_seg_args_cache *c)
{
	fsc_free(c->raw);
	memset(c, 0, sizeof(*c));
}
