/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Named counters of everything a reader repaired, clipped or lost. They travel with the trace to the API
 * and the page. Codes are stable slugs ("x_without_dur", "slice_overlap_kept"); docs/losses.md explains each.
 * Owner thread. Header-only: a few dozen codes at most, so a linear scan is right.
 */
#ifndef FSC_BASE_LOSSES_H
#define FSC_BASE_LOSSES_H

#include <stdint.h>
#include <string.h>

#define FSC_LOSS_CODE_MAX 40
#define FSC_MAX_LOSS_CODES 64

struct fsc_loss {
	char code[FSC_LOSS_CODE_MAX];
	uint64_t count;
};
struct fsc_losses { /* start zeroed */
	struct fsc_loss v[FSC_MAX_LOSS_CODES];
	uint32_t n;
};

/* Adds count to code. When the table is full, new kinds are counted in its last entry "other_losses". */
static inline void fsc_losses_add(struct fsc_losses *l, const char *code, uint64_t count)
{
	uint32_t i;

	if (!count)
		return;
	for (i = 0; i < l->n; i++)
		if (!strcmp(l->v[i].code, code))
			break;
	if (i == FSC_MAX_LOSS_CODES)
		i = FSC_MAX_LOSS_CODES - 1;
	if (i == l->n) {
		if (i == FSC_MAX_LOSS_CODES - 1)
			code = "other_losses";
		memcpy(l->v[i].code, code, strnlen(code, FSC_LOSS_CODE_MAX - 1));
		l->n++;
	}
	l->v[i].count += count;
}

#endif
