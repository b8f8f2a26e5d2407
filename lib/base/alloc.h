/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The only place that calls malloc. Two families: fsc_alloc* may fail and return NULL (sizes that come
 * from input), fsc_x* abort on failure (small fixed-size objects at start-up and per request). Any thread.
 */
#ifndef FSC_BASE_ALLOC_H
#define FSC_BASE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"

fsc_nodiscard void *fsc_alloc(size_t n, size_t size); /* zeroed; NULL on failure or overflow */
fsc_nodiscard void *fsc_realloc(void *p, size_t n,
				size_t size);	       /* not zeroed; NULL leaves p as it was */
fsc_nodiscard void *fsc_xalloc(size_t n, size_t size); /* zeroed; aborts on failure */
fsc_nodiscard char *fsc_xstrdup(const char *s);	       /* NULL gives NULL */
fsc_nodiscard char *fsc_xstrndup(const char *s, size_t n);
fsc_nodiscard char *fsc_xasprintf(const char *fmt, ...) fsc_printf(1, 2);
/* The end of fsc_x*, for who finds out by other means: a line in the log that says "out of memory", then abort. */
fsc_noreturn void fsc_out_of_memory(size_t bytes); /* 0: unknown */
void fsc_free(void *p);

/* Checked arithmetic on sizes: false on overflow, *out untouched then. */
fsc_nodiscard bool fsc_mul_size(size_t *out, size_t a, size_t b);
fsc_nodiscard bool fsc_add_size(size_t *out, size_t a, size_t b);

#endif
