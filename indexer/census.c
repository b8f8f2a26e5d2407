/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the runtime calls of each GPU row's correlation. */
#include "indexer/census.h"

#include "analysis/run_sort.h"
#include "base/alloc.h"
#include "model/classify.h"

static bool before(const void *a, const void *b)
{
	return *(const int64_t *)a < *(const int64_t *)b;
}

/* Class of each category of the trace; owned by the caller. */
static uint8_t *classes(const struct fsc_trace *t)
{
	uint8_t *class = fsc_alloc(t->cats.n, 1);

	for (size_t i = 0; class && i < t->cats.n; i++) {
		size_t len = 0;
		const char *name = fsc_strtab_get(t->strings, t->cats.v[i], &len);

		class[i] = (uint8_t)fsc_classify_cat(name, len);
	}
	return class;
}

/* Correlations of all runtime and driver calls, sorted. */
static bool collect(int64_t *v, uint32_t *n, const struct fsc_trace *t, const uint8_t *class)
{
	*n = 0;
	for (uint32_t i = 0; i < t->slices.n; i++) {
		if (class[t->slices.cat[i]] == FSC_CAT_RUNTIME &&
		    !(t->slices.flags[i] & FSC_SLICE_INSTANT) &&
		    t->slices.correlation[i] != FSC_NO_CORRELATION)
			v[(*n)++] = t->slices.correlation[i];
	}
	return fsc_run_sort(v, *n, sizeof(*v), before);
}

static uint32_t count_of(const int64_t *v, uint32_t n, int64_t correlation)
{
	uint32_t lo = 0, hi = n, count = 0;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (v[mid] < correlation)
			lo = mid + 1;
		else
			hi = mid;
	}
	/* more than one is all that matters */
	for (; lo < n && v[lo] == correlation && count < 2; lo++)
		count++;
	return count;
}

static void count(struct fsc_launch_census *out, const struct fsc_trace *t, const uint8_t *class,
		  const int64_t *v, uint32_t n)
{
	for (uint32_t i = 0; i < t->slices.n; i++) {
		if (!fsc_kind_is_gpu_work(t->slices.kind[i]) ||
		    (t->slices.flags[i] & FSC_SLICE_INSTANT) ||
		    class[t->slices.cat[i]] == FSC_CAT_DEVICE)
			continue;
		int64_t correlation = t->slices.correlation[i];
		uint32_t calls =
			correlation == FSC_NO_CORRELATION ? 0 : count_of(v, n, correlation);

		*(calls == 1 ? &out->pairs : calls ? &out->ambiguous : &out->none) += 1;
	}
}

enum fsc_status fsc_census_launches(struct fsc_launch_census *out, const struct fsc_trace *t,
				    struct fsc_err *err)
{
	int64_t *v = fsc_alloc(t->slices.n, sizeof(*v));
	uint8_t *class = classes(t);
	uint32_t n = 0;
	bool ok = v && class && collect(v, &n, t, class);

	*out = (struct fsc_launch_census){ 0 };
	if (ok)
		count(out, t, class, v, n);
	fsc_free(v);
	fsc_free(class);
	return ok ? FSC_OK : fsc_err_set(err, FSC_ENOMEM, NULL, "launch census: out of memory");
}
