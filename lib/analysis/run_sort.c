/* SPDX-License-Identifier: Apache-2.0 */
/* Natural merge sort between the array and one copy of it. */
#include "analysis/run_sort.h"

#include <string.h>

#include "base/alloc.h"

struct order {
	size_t size;
	bool (*less)(const void *a, const void *b);
};

/* End of the ascending run that starts at i. */
static size_t run_end(const struct order *o, const char *v, size_t i, size_t n)
{
	for (i++; i < n && !o->less(v + i * o->size, v + (i - 1) * o->size); i++)
		;
	return i;
}

/* src[from, mid) and src[mid, end) are ascending; dst[from, end) becomes their merge. */
static void merge(const struct order *o, char *dst, const char *src, size_t from, size_t mid,
		  size_t end)
{
	const char *a = src + from * o->size, *a_end = src + mid * o->size;
	const char *b = a_end, *b_end = src + end * o->size;
	char *d = dst + from * o->size;

	while (a < a_end && b < b_end) {
		const char **take = o->less(b, a) ? &b : &a;

		memcpy(d, *take, o->size);
		*take += o->size;
		d += o->size;
	}
	memcpy(d, a, (size_t)(a_end - a));
	memcpy(d + (a_end - a), b, (size_t)(b_end - b));
}

/* Neighbouring runs of src become one run each in dst. Returns how many. */
static size_t merge_pass(const struct order *o, char *dst, const char *src, size_t n)
{
	size_t runs = 0;

	for (size_t i = 0, end = 0; i < n; i = end, runs++) {
		size_t mid = run_end(o, src, i, n);

		end = mid < n ? run_end(o, src, mid, n) : n;
		merge(o, dst, src, i, mid, end);
	}
	return runs;
}

bool fsc_run_sort(void *v, size_t n, size_t size, bool (*less)(const void *a, const void *b))
{
	const struct order o = { size, less };
	char *from = v, *to = NULL, *copy = NULL;
	size_t runs = 0;

	if (n < 2 || run_end(&o, v, 0, n) == n)
		return true;
	copy = fsc_alloc(n, size);
	if (!copy)
		return false;
	to = copy;
	do {
		runs = merge_pass(&o, to, from, n);
		char *swap = from;
		from = to;
		to = swap;
	} while (runs > 1);
	if (from != v)
		memcpy(v, from, n * size);
	fsc_free(copy);
	return true;
}
