/* SPDX-License-Identifier: Apache-2.0 */
/* What the authorize step remembers. */
#include "auth/cache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"

#define SETS 128
#define WAYS 8
#define NAMES 64
#define USED_EVERY_NS (60 * INT64_C(1000000000))

struct entry {
	uint8_t sha256[32];
	struct fsc_cache_token t; /* id 0: free */
	int64_t expires_at_ns;	  /* wall clock, 0 never */
	int64_t read_ns;	  /* monotonic */
	uint64_t generation;
	int64_t used_ns, written_ns; /* wall clock */
};

struct set {
	pthread_mutex_t mu; /* guards ways */
	struct entry ways[WAYS];
};

struct name {
	char text[64]; /* "" free */
	int64_t id;
};

struct fsc_cache {
	struct fsc_store *store;
	_Atomic uint64_t generation, hits, misses;
	struct set sets[SETS];
	pthread_mutex_t names_mu; /* guards names, next_name */
	struct name names[NAMES];
	size_t next_name;
};

struct fsc_cache *fsc_cache_new(struct fsc_store *store)
{
	struct fsc_cache *c = fsc_xalloc(1, sizeof(*c));

	c->store = store;
	for (size_t i = 0; i < SETS; i++)
		pthread_mutex_init(&c->sets[i].mu, NULL);
	pthread_mutex_init(&c->names_mu, NULL);
	return c;
}

void fsc_cache_free(struct fsc_cache *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < SETS; i++)
		pthread_mutex_destroy(&c->sets[i].mu);
	pthread_mutex_destroy(&c->names_mu);
	fsc_free(c);
}

/* The digest's own place, or the one that was read longest ago. */
static struct entry *place(struct set *s, const uint8_t sha256[32])
{
	struct entry *oldest = &s->ways[0];

	for (size_t i = 0; i < WAYS; i++) {
		if (s->ways[i].t.id && !memcmp(s->ways[i].sha256, sha256, 32))
			return &s->ways[i];
		if (s->ways[i].read_ns < oldest->read_ns)
			oldest = &s->ways[i];
	}
	return oldest;
}

static bool recall(struct fsc_cache *c, struct set *s, const uint8_t sha256[32],
		   struct fsc_cache_token *out)
{
	int64_t now = fsc_clock_real_ns();
	struct entry *e;
	bool ok;

	pthread_mutex_lock(&s->mu);
	e = place(s, sha256);
	ok = e->t.id && !memcmp(e->sha256, sha256, 32) &&
	     e->generation == atomic_load(&c->generation) &&
	     fsc_clock_mono_ns() - e->read_ns < FSC_CACHE_TTL_NS &&
	     (!e->expires_at_ns || e->expires_at_ns > now);
	if (ok) {
		e->used_ns = now;
		*out = e->t;
	}
	pthread_mutex_unlock(&s->mu);
	return ok;
}

static void keep(struct set *s, const struct entry *fresh)
{
	struct entry *e;

	pthread_mutex_lock(&s->mu);
	e = place(s, fresh->sha256);
	if (e->t.id == fresh->t.id) {
		int64_t written = e->written_ns;

		*e = *fresh;
		e->written_ns = written;
	} else {
		*e = *fresh;
	}
	pthread_mutex_unlock(&s->mu);
}

enum fsc_status fsc_cache_token(struct fsc_cache *c, const uint8_t sha256[32],
				struct fsc_cache_token *out, struct fsc_err *err)
{
	struct set *s = &c->sets[sha256[0] % SETS];
	/* Taken before the row is read: when a token is revoked meanwhile, what is kept is not believed. */
	struct entry fresh = { .generation = atomic_load(&c->generation),
			       .read_ns = fsc_clock_mono_ns(),
			       .used_ns = fsc_clock_real_ns() };
	struct fsc_arena arena;
	struct fsc_token t;
	enum fsc_status st;
	size_t n;

	if (recall(c, s, sha256, out)) {
		atomic_fetch_add_explicit(&c->hits, 1, memory_order_relaxed);
		return FSC_OK;
	}
	atomic_fetch_add_explicit(&c->misses, 1, memory_order_relaxed);
	fsc_arena_init(&arena, 64u << 10);
	st = fsc_store_token_find(c->store, &arena, sha256, &t, err);
	if (!st) {
		memcpy(fresh.sha256, sha256, 32);
		fresh.t = (struct fsc_cache_token){ .id = t.id,
						    .project = t.project,
						    .scopes = t.scopes };
		n = strnlen(t.project_name, sizeof(fresh.t.project_name) - 1);
		memcpy(fresh.t.project_name, t.project_name, n);
		fresh.expires_at_ns = t.expires_at_ns;
		fresh.written_ns = t.last_used_at_ns;
		keep(s, &fresh);
		*out = fresh.t;
	}
	fsc_arena_fini(&arena);
	return st;
}

static bool recall_name(struct fsc_cache *c, const char *name, int64_t *id)
{
	bool found = false;

	pthread_mutex_lock(&c->names_mu);
	for (size_t i = 0; i < NAMES && !found; i++)
		if (c->names[i].text[0] && !strcmp(c->names[i].text, name)) {
			*id = c->names[i].id;
			found = true;
		}
	pthread_mutex_unlock(&c->names_mu);
	return found;
}

enum fsc_status fsc_cache_project(struct fsc_cache *c, const char *name, int64_t *id,
				  struct fsc_err *err)
{
	size_t n = strlen(name);
	enum fsc_status st;
	struct name *slot;

	if (n && n < sizeof(slot->text) && recall_name(c, name, id))
		return FSC_OK;
	st = fsc_store_project_find(c->store, name, id, err);
	if (st || !n || n >= sizeof(slot->text))
		return st;
	pthread_mutex_lock(&c->names_mu);
	slot = &c->names[c->next_name++ % NAMES];
	memcpy(slot->text, name, n + 1);
	slot->id = *id;
	pthread_mutex_unlock(&c->names_mu);
	return FSC_OK;
}

void fsc_cache_drop(struct fsc_cache *c)
{
	atomic_fetch_add(&c->generation, 1);
}

static void flush_set(struct fsc_cache *c, struct set *s)
{
	struct {
		int64_t id, used_ns;
	} due[WAYS];
	size_t n = 0;

	pthread_mutex_lock(&s->mu);
	for (size_t i = 0; i < WAYS; i++) {
		struct entry *e = &s->ways[i];

		if (!e->t.id || e->used_ns - e->written_ns < USED_EVERY_NS)
			continue;
		e->written_ns = e->used_ns;
		due[n].id = e->t.id;
		due[n++].used_ns = e->used_ns;
	}
	pthread_mutex_unlock(&s->mu);
	for (size_t i = 0; i < n; i++) {
		struct fsc_err err = FSC_ERR_INIT;

		if (fsc_store_token_used(c->store, due[i].id, due[i].used_ns, &err))
			fsc_log(FSC_LOG_WARN, "auth", "msg=\"use of a token not noted\" code=%s",
				err.code);
	}
}

void fsc_cache_flush(struct fsc_cache *c)
{
	for (size_t i = 0; i < SETS; i++)
		flush_set(c, &c->sets[i]);
}

void fsc_cache_metrics(struct fsc_cache *c, struct fsc_buf *out)
{
	fsc_buf_addf(out,
		     "# HELP fleetscope_token_lookups_total Tokens looked up, by where they were "
		     "found.\n"
		     "# TYPE fleetscope_token_lookups_total counter\n"
		     "fleetscope_token_lookups_total{from=\"memory\"} %llu\n"
		     "fleetscope_token_lookups_total{from=\"store\"} %llu\n",
		     (unsigned long long)atomic_load(&c->hits),
		     (unsigned long long)atomic_load(&c->misses));
}
