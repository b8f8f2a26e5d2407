/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arena for the lifetime of one import or one request. Everything is freed at once by fini. Built with
 * -DFSC_ARENA_DEBUG (the asan mode) each object is its own malloc, so that sanitizers see its bounds.
 */
#ifndef FSC_BASE_ARENA_H
#define FSC_BASE_ARENA_H

#include <stddef.h>

#include "base/attr.h"

struct fsc_arena_chunk;
struct fsc_arena {
	struct fsc_arena_chunk *head; /* owned */
	size_t used, max;	      /* bytes handed out, and their limit */
};

void fsc_arena_init(struct fsc_arena *a, size_t max);
void fsc_arena_fini(struct fsc_arena *a);
fsc_nodiscard void *fsc_arena_alloc(struct fsc_arena *a, size_t n,
				    size_t size); /* zeroed, 16-aligned; NULL past max */
fsc_nodiscard char *fsc_arena_dup(struct fsc_arena *a, const char *s,
				  size_t n); /* NUL-terminated copy */
fsc_nodiscard char *fsc_arena_printf(struct fsc_arena *a, const char *fmt, ...) fsc_printf(2, 3);

#endif
