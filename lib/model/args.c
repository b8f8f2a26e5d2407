/* SPDX-License-Identifier: Apache-2.0 */
/* Args records, compressed block by block as they are appended; see args.h. */
#include "model/args.h"

#include <string.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/bytes.h"
#include "base/crc.h"
#include "base/limits.h"
#include "base/vec.h"

/* Level 1 costs about as much as reading the JSON; the fast levels below it give 10 % more bytes. */
#define LEVEL 1

struct fsc_args {
	char *raw; /* owned; the open block */
	size_t raw_n, raw_cap;
	uint32_t first, n; /* records: first of the open block, all */
	uint8_t *out;	   /* owned; closed blocks */
	size_t out_n, out_cap;
	FSC_VEC(struct fsc_args_block) blocks;
	ZSTD_CCtx *z; /* owned */
};

struct fsc_args *fsc_args_new(void)
{
	struct fsc_args *a = fsc_alloc(1, sizeof(*a));
	if (!a)
		return NULL;
	a->z = ZSTD_createCCtx();
	a->raw_cap = FSC_ARGS_BLOCK_BYTES + 4096;
	a->raw = fsc_realloc(NULL, a->raw_cap, 1);
	if (!a->z || !a->raw) {
		fsc_args_free(a);
		return NULL;
	}
	ZSTD_CCtx_setParameter(a->z, ZSTD_c_compressionLevel, LEVEL);
	/* Args repeat whole keys: long matches found through a table that stays in the first-level cache give
	 * fewer bytes in less time than the defaults of the level. */
	ZSTD_CCtx_setParameter(a->z, ZSTD_c_hashLog, 12);
	ZSTD_CCtx_setParameter(a->z, ZSTD_c_minMatch, 7);
	ZSTD_CCtx_setParameter(a->z, ZSTD_c_contentSizeFlag, 0);
	return a;
}

void fsc_args_free(struct fsc_args *a)
{
	if (!a)
		return;
	ZSTD_freeCCtx(a->z);
	fsc_free(a->raw);
	fsc_free(a->out);
	fsc_vec_fini(&a->blocks);
	fsc_free(a);
}

static bool room(void **p, size_t *cap, size_t want)
{
	return want <= *cap || fsc_vec_grow(p, cap, want, 1);
}

/* Compresses the open block, if there is one, and starts the next. */
static enum fsc_status close_block(struct fsc_args *a)
{
	if (a->raw_n == 0)
		return FSC_OK;
	size_t bound = ZSTD_compressBound(a->raw_n);
	if (!room((void **)&a->out, &a->out_cap, a->out_n + bound))
		return FSC_ENOMEM;
	size_t n = ZSTD_compress2(a->z, a->out + a->out_n, bound, a->raw, a->raw_n);
	if (ZSTD_isError(n))
		return FSC_ENOMEM;
	struct fsc_args_block b = {
		.first_record = a->first,
		.n_records = a->n - a->first,
		.raw_bytes = (uint32_t)a->raw_n,
		.stored_bytes = (uint32_t)n,
		.offset = a->out_n,
		.crc = fsc_crc32c(0, a->out + a->out_n, n),
	};
	if (!fsc_vec_push(&a->blocks, b))
		return FSC_ENOMEM;
	a->out_n += n;
	a->first = a->n;
	a->raw_n = 0;
	return FSC_OK;
}

enum fsc_status fsc_args_put(uint32_t *record, struct fsc_args *a, const char *json, size_t n)
{
	if (n > FSC_MAX_ARGS_BYTES || a->n == UINT32_MAX)
		return FSC_ELIMIT;
	if (a->raw_n + n + 5 > FSC_ARGS_BLOCK_BYTES) {
		enum fsc_status st = close_block(a);
		if (st != FSC_OK)
			return st;
	}
	if (!room((void **)&a->raw, &a->raw_cap, a->raw_n + n + 5))
		return FSC_ENOMEM;
	char *w = a->raw + a->raw_n;
	size_t v = n;
	for (; v >= 0x80; v >>= 7)
		*w++ = (char)(unsigned char)(v | 0x80);
	*w++ = (char)v;
	memcpy(w, json, n);
	a->raw_n = (size_t)(w - a->raw) + n;
	*record = a->n++;
	return FSC_OK;
}

enum fsc_status fsc_args_finish(struct fsc_args *a)
{
	enum fsc_status st = close_block(a);
	if (st != FSC_OK)
		return st;
	fsc_free(a->raw);
	a->raw = NULL;
	a->raw_cap = 0;
	ZSTD_freeCCtx(a->z);
	a->z = NULL;
	return FSC_OK;
}

enum fsc_status fsc_args_flush(struct fsc_args *a)
{
	return close_block(a);
}

/* The block that holds a record. */
static uint32_t block_of(const struct fsc_args *a, uint32_t record)
{
	size_t lo = 0, hi = a->blocks.n;
	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;
		if (a->blocks.v[mid].first_record <= record)
			lo = mid;
		else
			hi = mid;
	}
	return (uint32_t)lo;
}

static enum fsc_status open_block(struct fsc_args_view *v, const struct fsc_args *a, uint32_t block)
{
	const struct fsc_args_block *b = &a->blocks.v[block];
	if (!room((void **)&v->raw, &v->cap, b->raw_bytes))
		return FSC_ENOMEM;
	size_t n = ZSTD_decompress(v->raw, v->cap, a->out + b->offset, b->stored_bytes);
	if (ZSTD_isError(n)) /* it is what we wrote */
		return FSC_ENOMEM;
	v->n = n;
	v->at = 0;
	v->next = b->first_record;
	v->end = b->first_record + b->n_records;
	v->block = block;
	return FSC_OK;
}

enum fsc_status fsc_args_view_get(const char **json, size_t *n, struct fsc_args_view *v,
				  const struct fsc_args *a, uint32_t record)
{
	FSC_ASSERT(record < a->first);
	if (record < v->next || record >= v->end) {
		enum fsc_status st = open_block(v, a, block_of(a, record));
		if (st != FSC_OK)
			return st;
	}
	struct fsc_cur c = fsc_cur_of(v->raw, v->n);
	c.p += v->at;
	do {
		*n = (size_t)fsc_cur_varint(&c);
		*json = (const char *)fsc_cur_bytes(&c, *n);
	} while (v->next++ < record && !c.failed);
	v->at = (size_t)(c.p - c.start);
	FSC_ASSERT(!c.failed);
	return FSC_OK;
}

void fsc_args_view_fini(struct fsc_args_view *v)
{
	fsc_free(v->raw);
	*v = (struct fsc_args_view){ .raw = NULL };
}

uint32_t fsc_args_count(const struct fsc_args *a)
{
	return a->n;
}

const struct fsc_args_block *fsc_args_blocks(const struct fsc_args *a, uint32_t *n)
{
	*n = (uint32_t)a->blocks.n;
	return a->blocks.v;
}

const uint8_t *fsc_args_bytes(const struct fsc_args *a, uint64_t *n)
{
	*n = a->out_n;
	return a->out;
}
