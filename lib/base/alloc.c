/* SPDX-License-Identifier: Apache-2.0 */
/* Memory: the only calls of the C allocator in the tree, and the growth of typed vectors. */
#include "base/alloc.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/vec.h"

bool fsc_mul_size(size_t *out, size_t a, size_t b)
{
	size_t r;
	if (__builtin_mul_overflow(a, b, &r))
		return false;
	*out = r;
	return true;
}

bool fsc_add_size(size_t *out, size_t a, size_t b)
{
	size_t r;
	if (__builtin_add_overflow(a, b, &r))
		return false;
	*out = r;
	return true;
}

void *fsc_alloc(size_t n, size_t size)
{
	/* One byte instead of none: NULL shall mean failure only. */
	if (n == 0 || size == 0)
		return calloc(1, 1);
	return calloc(n, size);
}

void *fsc_realloc(void *p, size_t n, size_t size)
{
	size_t total;
	if (!fsc_mul_size(&total, n, size))
		return NULL;
	return realloc(p, total ? total : 1);
}

void fsc_out_of_memory(size_t n)
{
	fsc_log(FSC_LOG_ERROR, "alloc", "msg=\"out of memory\" bytes=%zu", n);
	abort();
}

void *fsc_xalloc(size_t n, size_t size)
{
	void *p = fsc_alloc(n, size);
	if (!p)
		fsc_out_of_memory(n > SIZE_MAX / (size ? size : 1) ? SIZE_MAX : n * size);
	return p;
}

char *fsc_xstrndup(const char *s, size_t n)
{
	if (!s)
		return NULL;
	n = strnlen(s, n);
	char *p = malloc(n + 1);
	if (!p)
		fsc_out_of_memory(n + 1);
	memcpy(p, s, n);
	p[n] = '\0';
	return p;
}

char *fsc_xstrdup(const char *s)
{
	return s ? fsc_xstrndup(s, strlen(s)) : NULL;
}

char *fsc_xasprintf(const char *fmt, ...)
{
	char *p = NULL;
	va_list ap;
	va_start(ap, fmt);
	int n = vasprintf(&p, fmt, ap);
	va_end(ap);
	if (n < 0)
		fsc_out_of_memory(0);
	return p;
}

void fsc_free(void *p)
{
	free(p);
}

bool fsc_vec_grow(void **v, size_t *cap, size_t want, size_t size)
{
	size_t grown = *cap + *cap / 2;
	size_t next = grown < want ? want : grown;
	if (next < 16)
		next = 16;
	void *p = fsc_realloc(*v, next, size);
	if (!p)
		return false;
	*v = p;
	*cap = next;
	return true;
}
