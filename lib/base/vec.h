/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Typed growable arrays: `FSC_VEC(int64_t) ts = {0};` then fsc_vec_push(&ts, 5). Growth is 1.5x; push and
 * reserve evaluate to false when memory could not be had, and the vector is then unchanged. Owner thread.
 */
#ifndef FSC_BASE_VEC_H
#define FSC_BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/alloc.h"

#define FSC_VEC(type)          \
	struct {               \
		type *v;       \
		size_t n, cap; \
	}

/* Makes room for at least `want` items of `size` bytes; used through the macros only. */
fsc_nodiscard bool fsc_vec_grow(void **v, size_t *cap, size_t want, size_t size);

#define fsc_vec_reserve(vec, want) \
	((want) <= (vec)->cap      \
		 ? true            \
		 : fsc_vec_grow((void **)&(vec)->v, &(vec)->cap, (want), sizeof(*(vec)->v)))
#define fsc_vec_push(vec, item) \
	(fsc_vec_reserve((vec), (vec)->n + 1) ? ((vec)->v[(vec)->n++] = (item), true) : false)
#define fsc_vec_fini(vec)           \
	do {                        \
		fsc_free((vec)->v); \
		(vec)->v = NULL;    \
		(vec)->n = 0;       \
		(vec)->cap = 0;     \
	} while (0)

#endif
