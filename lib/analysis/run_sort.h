/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stable merge sort over the ascending runs that the input already has: linear for sorted input, n log(runs)
 * otherwise. Rows of a segment come as a few long runs, which is what this is for. Any thread.
 */
#ifndef FSC_ANALYSIS_RUN_SORT_H
#define FSC_ANALYSIS_RUN_SORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"

/* less: is *a to stand strictly before *b? False when memory for a copy could not be had. */
fsc_nodiscard bool fsc_run_sort(void *v, size_t n, size_t size,
				bool (*less)(const void *a, const void *b));

#endif
