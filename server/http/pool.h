/* SPDX-License-Identifier: Apache-2.0 */
/* A fixed set of threads with one bounded queue. Any thread may submit. */
#ifndef FSC_HTTP_POOL_H
#define FSC_HTTP_POOL_H

#include <stdbool.h>

#include "base/attr.h"

struct fsc_pool;
typedef void fsc_pool_fn(void *ctx);

fsc_nodiscard struct fsc_pool *fsc_pool_new(const char *name, unsigned n_threads,
					    unsigned max_queue);
/* False when the queue is full or the pool stops: fn is then not called. */
fsc_nodiscard bool fsc_pool_submit(struct fsc_pool *p, fsc_pool_fn *fn, void *ctx);
unsigned fsc_pool_queued(struct fsc_pool *p);
/* Runs what is queued and joins the threads; submitting is refused from now on. NULL is fine. */
void fsc_pool_stop(struct fsc_pool *p);
void fsc_pool_free(struct fsc_pool *p); /* stops it first when that was not done; NULL is fine */

#endif
