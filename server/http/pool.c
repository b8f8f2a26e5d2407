/* SPDX-License-Identifier: Apache-2.0 */
/* Worker threads. */
#include "http/pool.h"

#include <pthread.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/assert.h"

struct task {
	fsc_pool_fn *fn;
	void *ctx;
};

struct fsc_pool {
	pthread_mutex_t mu; /* guards everything below */
	pthread_cond_t some;
	struct task *ring; /* owned */
	unsigned cap, first, n;
	bool stop;
	unsigned n_threads;
	pthread_t *threads; /* owned */
	char name[16];
};

static void *work(void *arg)
{
	struct fsc_pool *p = arg;

	pthread_setname_np(pthread_self(), p->name);
	pthread_mutex_lock(&p->mu);
	for (;;) {
		struct task t;

		while (!p->n && !p->stop)
			pthread_cond_wait(&p->some, &p->mu);
		if (!p->n)
			break;
		t = p->ring[p->first];
		p->first = (p->first + 1) % p->cap;
		p->n--;
		pthread_mutex_unlock(&p->mu);
		t.fn(t.ctx);
		pthread_mutex_lock(&p->mu);
	}
	pthread_mutex_unlock(&p->mu);
	return NULL;
}

struct fsc_pool *fsc_pool_new(const char *name, unsigned n_threads, unsigned max_queue)
{
	struct fsc_pool *p = fsc_xalloc(1, sizeof(*p));

	snprintf(p->name, sizeof(p->name), "%s", name);
	pthread_mutex_init(&p->mu, NULL);
	pthread_cond_init(&p->some, NULL);
	p->cap = max_queue;
	p->ring = fsc_xalloc(max_queue, sizeof(*p->ring));
	p->threads = fsc_xalloc(n_threads, sizeof(*p->threads));
	for (; p->n_threads < n_threads; p->n_threads++)
		FSC_ASSERT(!pthread_create(&p->threads[p->n_threads], NULL, work, p));
	return p;
}

bool fsc_pool_submit(struct fsc_pool *p, fsc_pool_fn *fn, void *ctx)
{
	bool ok;

	pthread_mutex_lock(&p->mu);
	ok = !p->stop && p->n < p->cap;
	if (ok) {
		p->ring[(p->first + p->n) % p->cap] = (struct task){ fn, ctx };
		p->n++;
		pthread_cond_signal(&p->some);
	}
	pthread_mutex_unlock(&p->mu);
	return ok;
}

unsigned fsc_pool_queued(struct fsc_pool *p)
{
	unsigned n;

	pthread_mutex_lock(&p->mu);
	n = p->n;
	pthread_mutex_unlock(&p->mu);
	return n;
}

void fsc_pool_stop(struct fsc_pool *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->mu);
	p->stop = true;
	pthread_cond_broadcast(&p->some);
	pthread_mutex_unlock(&p->mu);
	for (unsigned i = 0; i < p->n_threads; i++)
		pthread_join(p->threads[i], NULL);
	p->n_threads = 0;
}

void fsc_pool_free(struct fsc_pool *p)
{
	if (!p)
		return;
	fsc_pool_stop(p);
	pthread_cond_destroy(&p->some);
	pthread_mutex_destroy(&p->mu);
	fsc_free(p->threads);
	fsc_free(p->ring);
	fsc_free(p);
}
