/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Token buckets by key, kept as one time each (GCRA). Memory is fixed: 64 shards of 64 keys, each shard under a
 * mutex held for one scan of 1 KiB, so callers on different keys hardly meet. When more keys than that are busy at once,
 * the one of a shard that is nearest to a full bucket is forgotten, i.e. gets its burst again. Any thread.
 */
#ifndef FSC_AUTH_LIMIT_H
#define FSC_AUTH_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

struct fsc_limit;

/* A bucket holds `burst` (>= 1) and gains one each interval_ns. */
fsc_nodiscard struct fsc_limit *fsc_limit_new(int64_t interval_ns, unsigned burst);
void fsc_limit_free(struct fsc_limit *l); /* NULL is fine */
/* Takes one. 0: taken; else nothing is taken and it is the time in ns until there is one. now_ns: monotonic. */
fsc_nodiscard int64_t fsc_limit_take(struct fsc_limit *l, uint64_t key, int64_t now_ns);
/* Puts back what take took. */
void fsc_limit_give(struct fsc_limit *l, uint64_t key);
/* A key from bytes and a kind, so that keys of different kinds do not meet. Never 0. */
uint64_t fsc_limit_key(char kind, const void *p, size_t n);

#endif
