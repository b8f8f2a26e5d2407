/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stable merge sort of u32 indexes that costs one pass where the input is already in order, as events of one
 * track nearly are: short stretches by insertion, then merges that skip what needs none.
 */
#ifndef FSC_MODEL_SORT_H
#define FSC_MODEL_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

/* True when item a must come before item b. Equal items keep their order. */
typedef bool (*fsc_sort_less)(const void *ctx, uint32_t a, uint32_t b);

/* tmp has room for n / 2 + 1 items. */
void fsc_sort_u32(uint32_t *v, size_t n, uint32_t *tmp, fsc_sort_less less, const void *ctx);

#endif
