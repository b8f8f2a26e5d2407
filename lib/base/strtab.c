/* SPDX-License-Identifier: Apache-2.0 */
/*
 * String interner. Open addressing with linear probing over 16-byte slots that hold the address of the
 * bytes, so that a hit costs two cache lines: the slot and the string. Bytes live in chunks, each string
 * preceded by its length and followed by a NUL; they never move.
 *
 * The hash is XXH3-64 with a secret drawn per table: names come from untrusted traces, and with a fixed
 * secret a file could be made whose names all collide. Ids follow the order of the first put, so the
 * secret is not visible from outside.
 */
#include "base/strtab.h"

#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/crypto.h"
#include "base/limits.h"
#include "base/vec.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define SECRET_BYTES 192 /* as the default secret of XXH3; at least XXH3_SECRET_SIZE_MIN */
#define SLOTS_MIN 64u
#define CHUNK_MIN ((size_t)(4 * FSC_KIB))
#define CHUNK_MAX ((size_t)(1 * FSC_MIB))

struct slot {
	const char *s; /* NULL when free */
	uint32_t tag;  /* upper half of the hash; its low bits choose the slot */
	uint32_t id;
};

struct fsc_strtab {
	struct slot *slots; /* owned */
	uint32_t mask;	    /* slots - 1 */
	uint32_t grow_at;   /* count at which the table doubles */
	FSC_VEC(const char *) strs;
	FSC_VEC(char *) chunks; /* each owned */
	char *fill;		/* next free byte of the newest chunk */
	size_t left;		/* bytes left there */
	size_t next_chunk;
	size_t bytes;
	uint8_t secret[SECRET_BYTES];
};

static uint32_t hash_of(const struct fsc_strtab *t, const char *s, size_t n)
{
	return (uint32_t)(XXH3_64bits_withSecret(s, n, t->secret, SECRET_BYTES) >> 32);
}

static uint32_t len_of(const char *s)
{
	uint32_t n;
	memcpy(&n, s - sizeof(n), sizeof(n));
	return n;
}

static void set_slots(struct fsc_strtab *t, struct slot *slots, uint32_t n)
{
	t->slots = slots;
	t->mask = n - 1;
	t->grow_at = n / 2 + n / 8; /* load at most 5/8: linear probing stays short */
}

/* Room for a string with its length and NUL, 4-aligned, in the newest chunk or in a new one. */
static char *room_for(struct fsc_strtab *t, size_t n)
{
	size_t need = (n + sizeof(uint32_t) + 1 + 3) & ~(size_t)3;
	if (FSC_LIKELY(need <= t->left)) {
		char *p = t->fill;
		t->fill += need;
		t->left -= need;
		return p;
	}
	bool big = need > t->next_chunk / 2;
	size_t cap = big ? need : t->next_chunk;
	char *c = fsc_realloc(NULL, cap, 1);
	if (!c)
		return NULL;
	if (!fsc_vec_push(&t->chunks, c)) {
		fsc_free(c);
		return NULL;
	}
	if (big) /* the rest of the newest chunk stays in use */
		return c;
	if (t->next_chunk < CHUNK_MAX)
		t->next_chunk *= 2;
	t->fill = c + need;
	t->left = cap - need;
	return c;
}

struct fsc_strtab *fsc_strtab_new(void)
{
	struct fsc_strtab *t = fsc_alloc(1, sizeof(*t));
	if (!t)
		return NULL;
	fsc_random_bytes(t->secret, sizeof(t->secret));
	t->next_chunk = CHUNK_MIN;
	struct slot *slots = fsc_alloc(SLOTS_MIN, sizeof(*slots));
	if (!slots)
		goto fail;
	set_slots(t, slots, SLOTS_MIN);
	char *empty = room_for(t, 0);
	if (!empty)
		goto fail;
	memset(empty, 0, sizeof(uint32_t) + 1);
	if (!fsc_vec_push(&t->strs, empty + sizeof(uint32_t)))
		goto fail;
	return t;
fail:
	fsc_strtab_free(t);
	return NULL;
}

void fsc_strtab_free(struct fsc_strtab *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->chunks.n; i++)
		fsc_free(t->chunks.v[i]);
	fsc_vec_fini(&t->chunks);
	fsc_vec_fini(&t->strs);
	fsc_free(t->slots);
	fsc_free(t);
}

/* The slot that holds s, or the free one where it belongs. n > 0. */
static struct slot *probe(const struct fsc_strtab *t, uint32_t tag, const char *s, size_t n)
{
	for (uint32_t i = tag & t->mask;; i = (i + 1) & t->mask) {
		struct slot *sl = &t->slots[i];
		if (!sl->s)
			return sl;
		if (sl->tag == tag && len_of(sl->s) == n && memcmp(sl->s, s, n) == 0)
			return sl;
	}
}

static bool grow(struct fsc_strtab *t)
{
	uint32_t n = (t->mask + 1) * 2;
	struct slot *slots = fsc_alloc(n, sizeof(*slots));
	if (!slots)
		return false;
	for (uint32_t i = 0; i <= t->mask; i++) {
		if (!t->slots[i].s)
			continue;
		uint32_t k = t->slots[i].tag & (n - 1);
		while (slots[k].s)
			k = (k + 1) & (n - 1);
		slots[k] = t->slots[i];
	}
	fsc_free(t->slots);
	set_slots(t, slots, n);
	return true;
}

static fsc_noinline enum fsc_status insert(uint32_t *id, struct fsc_strtab *t, uint32_t tag,
					   const char *s, size_t n)
{
	if (t->strs.n >= FSC_MAX_STRINGS || n > FSC_MAX_STRING_BYTES - t->bytes)
		return FSC_ELIMIT;
	if (t->strs.n >= t->grow_at && !grow(t))
		return FSC_ENOMEM;
	if (!fsc_vec_reserve(&t->strs, t->strs.n + 1))
		return FSC_ENOMEM;
	char *p = room_for(t, n);
	if (!p)
		return FSC_ENOMEM;
	uint32_t n32 = (uint32_t)n;
	memcpy(p, &n32, sizeof(n32));
	p += sizeof(n32);
	memcpy(p, s, n);
	p[n] = '\0';
	struct slot *sl = probe(t, tag, s, n);
	*sl = (struct slot){ .s = p, .tag = tag, .id = (uint32_t)t->strs.n };
	*id = sl->id;
	t->strs.v[t->strs.n++] = p;
	t->bytes += n;
	return FSC_OK;
}

enum fsc_status fsc_strtab_put(uint32_t *id, struct fsc_strtab *t, const char *s, size_t n)
{
	if (n == 0) {
		*id = 0;
		return FSC_OK;
	}
	uint32_t tag = hash_of(t, s, n);
	const struct slot *sl = probe(t, tag, s, n);
	if (FSC_LIKELY(sl->s != NULL)) {
		*id = sl->id;
		return FSC_OK;
	}
	return insert(id, t, tag, s, n);
}

uint32_t fsc_strtab_find(const struct fsc_strtab *t, const char *s, size_t n)
{
	if (n == 0)
		return 0;
	const struct slot *sl = probe(t, hash_of(t, s, n), s, n);
	return sl->s ? sl->id : UINT32_MAX;
}

const char *fsc_strtab_get(const struct fsc_strtab *t, uint32_t id, size_t *n)
{
	const char *s = t->strs.v[id];
	if (n)
		*n = len_of(s);
	return s;
}

uint32_t fsc_strtab_count(const struct fsc_strtab *t)
{
	return (uint32_t)t->strs.n;
}

size_t fsc_strtab_bytes(const struct fsc_strtab *t)
{
	return t->bytes;
}
