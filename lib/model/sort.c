/* SPDX-License-Identifier: Apache-2.0 */
/* Bottom-up merge sort over runs of 24; see sort.h. */
#include "model/sort.h"

#include <string.h>

#define RUN 24u

static void insertion(uint32_t *v, size_t n, fsc_sort_less less, const void *ctx)
{
	for (size_t i = 1; i < n; i++) {
		uint32_t x = v[i];
		size_t k = i;
		while (k > 0 && less(ctx, x, v[k - 1])) {
			v[k] = v[k - 1];
			k--;
		}
		v[k] = x;
	}
}

/* Items of v[0, n) that do not come after x (upper bound). */
static size_t upper(const uint32_t *v, size_t n, uint32_t x, fsc_sort_less less, const void *ctx)
{
	size_t lo = 0;
	while (lo < n) {
		size_t mid = lo + (n - lo) / 2;
		if (less(ctx, x, v[mid]))
			n = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

static size_t lower(const uint32_t *v, size_t n, uint32_t x, fsc_sort_less less, const void *ctx)
{
	size_t lo = 0;
	while (lo < n) {
		size_t mid = lo + (n - lo) / 2;
		if (less(ctx, v[mid], x))
			lo = mid + 1;
		else
			n = mid;
	}
	return lo;
}

/* Merges v[0, m) and v[m, n), both sorted. Only the part that is out of place is copied. */
static void merge(uint32_t *v, size_t m, size_t n, uint32_t *tmp, fsc_sort_less less,
		  const void *ctx)
{
	if (!less(ctx, v[m], v[m - 1]))
		return;
	size_t skip = upper(v, m, v[m], less, ctx);
	v += skip;
	m -= skip;
	n = m + lower(v + m, n - skip - m, v[m - 1], less, ctx);
	if (m <= n - m) {
		memcpy(tmp, v, m * sizeof(*v));
		size_t i = 0, j = m, o = 0;
		while (i < m && j < n)
			v[o++] = less(ctx, v[j], tmp[i]) ? v[j++] : tmp[i++];
		memcpy(v + o, tmp + i, (m - i) * sizeof(*v));
		return;
	}
	size_t k = n - m;
	memcpy(tmp, v + m, k * sizeof(*v));
	size_t i = m, o = n;
	while (i > 0 && k > 0)
		v[--o] = less(ctx, tmp[k - 1], v[i - 1]) ? v[--i] : tmp[--k];
	memcpy(v + (o - k), tmp, k * sizeof(*v));
}

static size_t ordered_prefix(const uint32_t *v, size_t n, fsc_sort_less less, const void *ctx)
{
	size_t i = 1;
	while (i < n && !less(ctx, v[i], v[i - 1]))
		i++;
	return i;
}

void fsc_sort_u32(uint32_t *v, size_t n, uint32_t *tmp, fsc_sort_less less, const void *ctx)
{
	if (n < 2 || ordered_prefix(v, n, less, ctx) >= n)
		return;
	for (size_t i = 0; i < n; i += RUN)
		insertion(v + i, n - i < RUN ? n - i : RUN, less, ctx);
	for (size_t w = RUN; w < n; w *= 2)
		for (size_t i = 0; i + w < n; i += 2 * w)
			merge(v + i, w, n - i < 2 * w ? n - i : 2 * w, tmp, less, ctx);
}
