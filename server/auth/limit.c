/* SPDX-License-Identifier: Apache-2.0 */
/* Rate limits. */
#include "auth/limit.h"

#include <pthread.h>

#include "base/alloc.h"

#define SHARDS 64
#define KEYS 64

struct bucket {
	uint64_t key;	 /* 0: free */
	int64_t full_ns; /* when it will be full */
};

struct shard {
	pthread_mutex_t mu; /* guards buckets */
	struct bucket buckets[KEYS];
};

struct fsc_limit {
	int64_t interval_ns, slack_ns; /* slack: how far ahead full_ns may be to take one more */
	struct shard shards[SHARDS];
};

struct fsc_limit *fsc_limit_new(int64_t interval_ns, unsigned burst)
{
	struct fsc_limit *l = fsc_xalloc(1, sizeof(*l));

	l->interval_ns = interval_ns;
	l->slack_ns = interval_ns * (int64_t)(burst - 1);
	for (size_t i = 0; i < SHARDS; i++)
		pthread_mutex_init(&l->shards[i].mu, NULL);
	return l;
}

void fsc_limit_free(struct fsc_limit *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < SHARDS; i++)
		pthread_mutex_destroy(&l->shards[i].mu);
	fsc_free(l);
}

uint64_t fsc_limit_key(char kind, const void *p, size_t n)
{
	/* FNV-1a, then mixed: the low bits choose the shard. */
	uint64_t h = UINT64_C(0xcbf29ce484222325) ^ (unsigned char)kind;

	for (size_t i = 0; i < n; i++)
		h = (h ^ ((const unsigned char *)p)[i]) * UINT64_C(0x100000001b3);
	h ^= h >> 32;
	h *= UINT64_C(0x9e3779b97f4a7c15);
	h ^= h >> 29;
	return h ? h : 1;
}

static struct bucket *find(struct shard *s, uint64_t key)
{
	struct bucket *oldest = &s->buckets[0];

	for (size_t i = 0; i < KEYS; i++) {
		if (s->buckets[i].key == key)
			return &s->buckets[i];
		if (s->buckets[i].full_ns < oldest->full_ns)
			oldest = &s->buckets[i];
	}
	*oldest = (struct bucket){ .key = key };
	return oldest;
}

int64_t fsc_limit_take(struct fsc_limit *l, uint64_t key, int64_t now_ns)
{
	struct shard *s = &l->shards[key % SHARDS];
	int64_t wait = 0, full;
	struct bucket *b;

	pthread_mutex_lock(&s->mu);
	b = find(s, key);
	full = b->full_ns > now_ns ? b->full_ns : now_ns;
	if (full - now_ns > l->slack_ns)
		wait = full - now_ns - l->slack_ns;
	else
		b->full_ns = full + l->interval_ns;
	pthread_mutex_unlock(&s->mu);
	return wait;
}

void fsc_limit_give(struct fsc_limit *l, uint64_t key)
{
	struct shard *s = &l->shards[key % SHARDS];

	pthread_mutex_lock(&s->mu);
	for (size_t i = 0; i < KEYS; i++)
		if (s->buckets[i].key == key)
			s->buckets[i].full_ns -= l->interval_ns;
	pthread_mutex_unlock(&s->mu);
}
