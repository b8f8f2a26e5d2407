/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source that finds out what it reads. Nothing is read at construction: the first read or peek looks
 * at the head of the bytes, and puts a decompressor on top while the head says so.
 */
#include "base/source.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "base/source_int.h"

#define HEAD_BYTES 4096u

enum fsc_status fsc_source_check_ratio(uint64_t in, uint64_t out, uint64_t grace, const char *what,
				       struct fsc_err *err)
{
	if (out <= grace || out / FSC_MAX_RATIO <= in)
		return FSC_OK;
	return fsc_err_set(err, FSC_ELIMIT, "bomb",
			   "%s: %" PRIu64 " bytes expand to more than %llu times as many", what, in,
			   FSC_MAX_RATIO);
}

enum fsc_status fsc_source_repeat(const struct fsc_source_sticky *k, struct fsc_err *err)
{
	if (err && k->st != FSC_END)
		*err = k->err;
	return k->st;
}

enum fsc_status fsc_source_budget_add(struct fsc_source_budget *b, uint64_t n, struct fsc_err *err)
{
	b->out += n;
	if (b->out > FSC_MAX_ARCHIVE_BYTES)
		return fsc_err_set(err, FSC_ELIMIT, "archive_too_big",
				   "decompressed, the upload is more than %llu bytes",
				   FSC_MAX_ARCHIVE_BYTES);
	return fsc_source_check_ratio(b->raw->consumed, b->out, FSC_RATIO_GRACE_BYTES,
				      "compressed input", err);
}

/* Bytes that were looked at, then the rest of the source they came from. */
struct unread_source {
	struct fsc_source base;
	struct fsc_source *rest; /* owned */
	struct fsc_source_budget
		*budget; /* borrowed; NULL when rest gives the bytes of the input */
	size_t pos, n;
	uint8_t head[HEAD_BYTES];
};

static enum fsc_status unread_read(struct fsc_source *s, void *buf, size_t cap, size_t *n,
				   struct fsc_err *err)
{
	struct unread_source *u = (struct unread_source *)s;
	/* A layer above may make nothing of all this: endless headers, empty members, padding. */
	if (u->pos == u->n) {
		enum fsc_status st = fsc_source_read_some(u->rest, buf, cap, n, err);
		if (st == FSC_OK && u->budget)
			st = fsc_source_budget_add(u->budget, *n, err);
		return st;
	}
	size_t k = u->n - u->pos;
	if (k > cap)
		k = cap;
	memcpy(buf, u->head + u->pos, k);
	u->pos += k;
	*n = k;
	return FSC_OK;
}

static void unread_free(struct fsc_source *s)
{
	struct unread_source *u = (struct unread_source *)s;
	fsc_source_free(u->rest);
	fsc_free(u);
}

static const struct fsc_source_ops unread_ops = { .name = "unread",
						  .read = unread_read,
						  .free = unread_free };

struct auto_source {
	struct fsc_source base;
	struct fsc_source *chain;	  /* owned: the top of it */
	struct fsc_source_budget *budget; /* borrowed, maybe its own */
	struct fsc_source_budget own;
	struct fsc_source_sticky sticky;
	bool resolved, layered;
	size_t pos, n; /* bytes of head not handed out yet */
	uint8_t head[HEAD_BYTES];
};

enum magic { MAGIC_NONE, MAGIC_GZIP, MAGIC_ZSTD };

static enum magic magic_of(const uint8_t *p, size_t n)
{
	if (n >= 2 && p[0] == 0x1f && p[1] == 0x8b)
		return MAGIC_GZIP;
	if (n < 4)
		return MAGIC_NONE;
	if (p[0] == 0x28 && p[1] == 0xb5 && p[2] == 0x2f && p[3] == 0xfd)
		return MAGIC_ZSTD;
	/* a skippable frame may come first (pzstd writes one) */
	if ((p[0] & 0xf0) == 0x50 && p[1] == 0x2a && p[2] == 0x4d && p[3] == 0x18)
		return MAGIC_ZSTD;
	return MAGIC_NONE;
}

/* Fills head up to its size from the chain; the end and faults are left for later reads. */
static void fill_head(struct auto_source *a)
{
	if (a->pos) {
		memmove(a->head, a->head + a->pos, a->n - a->pos);
		a->n -= a->pos;
		a->pos = 0;
	}
	while (a->n < HEAD_BYTES && a->sticky.st == FSC_OK) {
		size_t k;
		a->sticky.st = fsc_source_read_some(a->chain, a->head + a->n, HEAD_BYTES - a->n, &k,
						    &a->sticky.err);
		a->n += k;
	}
}

static void push_layer(struct auto_source *a, enum magic m)
{
	struct unread_source *u = fsc_xalloc(1, sizeof(*u));
	u->base.ops = &unread_ops;
	u->rest = a->chain;
	u->budget = a->layered ? a->budget : NULL;
	memcpy(u->head, a->head, a->n);
	u->n = a->n;
	a->n = 0;
	/* the end or a fault seen while looking will be met again through the layer */
	a->sticky.st = FSC_OK;
	a->chain = m == MAGIC_GZIP ? fsc_source_gzip(&u->base) : fsc_source_zstd(&u->base);
	a->layered = true;
}

static void resolve(struct auto_source *a)
{
	a->resolved = true;
	for (unsigned layers = 0;; layers++) {
		fill_head(a);
		enum magic m = magic_of(a->head, a->n);
		if (m == MAGIC_NONE)
			return;
		if (layers == FSC_MAX_COMPRESSION_NEST) {
			a->n = 0;
			a->sticky.st = fsc_err_set(&a->sticky.err, FSC_ELIMIT, "compression_nest",
						   "compressed more than %d times over",
						   FSC_MAX_COMPRESSION_NEST);
			fsc_err_at(&a->sticky.err, NULL, 0);
			return;
		}
		push_layer(a, m);
	}
}

static enum fsc_status auto_read(struct fsc_source *s, void *buf, size_t cap, size_t *n,
				 struct fsc_err *err)
{
	struct auto_source *a = (struct auto_source *)s;
	if (!a->resolved)
		resolve(a);
	if (a->pos < a->n) {
		size_t k = a->n - a->pos;
		if (k > cap)
			k = cap;
		memcpy(buf, a->head + a->pos, k);
		a->pos += k;
		*n = k;
		return FSC_OK;
	}
	if (a->sticky.st == FSC_OK)
		a->sticky.st = fsc_source_read_some(a->chain, buf, cap, n, &a->sticky.err);
	/* Each layer checks its own ratio; layers and files multiply, so the whole is checked too. */
	if (a->sticky.st == FSC_OK && a->layered) {
		a->sticky.st = fsc_source_budget_add(a->budget, *n, &a->sticky.err);
		fsc_err_at(&a->sticky.err, NULL, (int64_t)(s->consumed + *n));
	}
	return a->sticky.st == FSC_OK ? FSC_OK : fsc_source_repeat(&a->sticky, err);
}

static void auto_free(struct fsc_source *s)
{
	struct auto_source *a = (struct auto_source *)s;
	fsc_source_free(a->chain);
	fsc_free(a);
}

static int auto_plain(struct fsc_source *s)
{
	struct auto_source *a = (struct auto_source *)s;

	if (!a->resolved)
		resolve(a);
	return a->layered ? -1 : fsc_source_plain_fd(a->chain);
}

static const struct fsc_source_ops auto_ops = {
	.name = "auto", .read = auto_read, .free = auto_free, .plain_fd = auto_plain
};

struct fsc_source *fsc_source_auto_within(struct fsc_source *inner,
					  struct fsc_source_budget *budget)
{
	struct auto_source *a = fsc_xalloc(1, sizeof(*a));
	a->base.ops = &auto_ops;
	a->chain = inner;
	a->own.raw = inner;
	a->budget = budget ? budget : &a->own;
	return &a->base;
}

struct fsc_source *fsc_source_auto(struct fsc_source *inner)
{
	return fsc_source_auto_within(inner, NULL);
}

enum fsc_status fsc_source_peek(struct fsc_source *s, const uint8_t **p, size_t *n,
				struct fsc_err *err)
{
	*p = NULL;
	*n = 0;
	if (s->ops != &auto_ops)
		return fsc_err_set(err, FSC_EBUG, NULL, "peek on a %s source", s->ops->name);
	struct auto_source *a = (struct auto_source *)s;
	if (!a->resolved)
		resolve(a);
	else
		fill_head(a);
	if (a->n == a->pos && a->sticky.st != FSC_OK && a->sticky.st != FSC_END)
		return fsc_source_repeat(&a->sticky, err);
	*p = a->head + a->pos;
	*n = a->n - a->pos;
	return FSC_OK;
}
