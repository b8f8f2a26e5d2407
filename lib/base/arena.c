/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arena of chunks that grow from 4 KiB to 1 MiB. With FSC_ARENA_DEBUG each object is a chunk of its own,
 * exactly as long as asked, so that a sanitizer sees every overrun.
 */
#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/limits.h"

#if defined(FSC_SANITIZED) && FSC_SANITIZED && !defined(FSC_ARENA_DEBUG)
#define FSC_ARENA_DEBUG
#endif

struct fsc_arena_chunk {
	struct fsc_arena_chunk *next; /* owned */
	size_t used, cap;	      /* bytes of data[] */
	fsc_aligned(16) unsigned char data[];
};

#define CHUNK_MIN ((size_t)(4 * FSC_KIB))
#define CHUNK_MAX ((size_t)(1 * FSC_MIB))

void fsc_arena_init(struct fsc_arena *a, size_t max)
{
	*a = (struct fsc_arena){ .head = NULL, .used = 0, .max = max };
}

void fsc_arena_fini(struct fsc_arena *a)
{
	while (a->head) {
		struct fsc_arena_chunk *c = a->head;
		a->head = c->next;
		fsc_free(c);
	}
	a->used = 0;
}

static struct fsc_arena_chunk *new_chunk(size_t cap)
{
	size_t total;
	if (!fsc_add_size(&total, sizeof(struct fsc_arena_chunk), cap))
		return NULL;
	struct fsc_arena_chunk *c = fsc_realloc(NULL, total, 1);
	if (!c)
		return NULL;
	c->next = NULL;
	c->used = 0;
	c->cap = cap;
	return c;
}

#ifndef FSC_ARENA_DEBUG
static size_t next_cap(const struct fsc_arena *a)
{
	size_t cap = a->head ? a->head->cap * 2 : CHUNK_MIN;
	if (cap < CHUNK_MIN)
		cap = CHUNK_MIN;
	return cap > CHUNK_MAX ? CHUNK_MAX : cap;
}
#endif

/* Room for n bytes; padded is n rounded up to the alignment. */
static void *take(struct fsc_arena *a, size_t n, size_t padded)
{
#ifdef FSC_ARENA_DEBUG
	(void)padded;
	struct fsc_arena_chunk *c = new_chunk(n);
	if (!c)
		return NULL;
	c->used = n;
	c->next = a->head;
	a->head = c;
	return c->data;
#else
	(void)n;
	struct fsc_arena_chunk *c = a->head;
	if (!c || padded > c->cap - c->used) {
		size_t cap = next_cap(a);
		bool big = padded > cap / 2;
		c = new_chunk(big ? padded : cap);
		if (!c)
			return NULL;
		if (big && a->head) {
			/* behind the head, whose rest stays in use */
			c->next = a->head->next;
			a->head->next = c;
		} else {
			c->next = a->head;
			a->head = c;
		}
	}
	void *p = c->data + c->used;
	c->used += padded;
	return p;
#endif
}

static void *alloc_raw(struct fsc_arena *a, size_t n)
{
	size_t padded;
	if (!fsc_add_size(&padded, n, 15))
		return NULL;
	padded &= ~(size_t)15;
	if (a->used > a->max || padded > a->max - a->used)
		return NULL;
	void *p = take(a, n, padded);
	if (p)
		a->used += padded;
	return p;
}

void *fsc_arena_alloc(struct fsc_arena *a, size_t n, size_t size)
{
	size_t total;
	if (!fsc_mul_size(&total, n, size))
		return NULL;
	void *p = alloc_raw(a, total);
	if (p)
		memset(p, 0, total);
	return p;
}

char *fsc_arena_dup(struct fsc_arena *a, const char *s, size_t n)
{
	size_t total;
	if (!fsc_add_size(&total, n, 1))
		return NULL;
	char *p = alloc_raw(a, total);
	if (!p)
		return NULL;
	if (n)
		memcpy(p, s, n);
	p[n] = '\0';
	return p;
}

char *fsc_arena_printf(struct fsc_arena *a, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		return NULL;
	char *p = alloc_raw(a, (size_t)n + 1);
	if (!p)
		return NULL;
	va_start(ap, fmt);
	vsnprintf(p, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return p;
}
