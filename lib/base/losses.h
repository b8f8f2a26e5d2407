/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Named counters of everything a reader repaired, clipped or lost, each with the place of the first one. They
 * travel with the trace to the API and the page. Codes are stable slugs ("x_without_dur",
 * "slice_overlap_kept"); docs/losses.md explains each. Owner thread. Header-only: a few dozen codes at most, so
 * a linear scan is right.
 */
#ifndef FSC_BASE_LOSSES_H
#define FSC_BASE_LOSSES_H

#include <stdint.h>
#include <string.h>

#define FSC_LOSS_CODE_MAX 32
#define FSC_MAX_LOSS_CODES 64

/* Also its form in segments: those written before places were kept have zeros in first. */
struct fsc_loss {
	char code[FSC_LOSS_CODE_MAX];
	uint64_t
		first; /* byte of the (unpacked) file where the first one is, plus 1; 0 not known */
	uint64_t count;
};
struct fsc_losses { /* start zeroed */
	struct fsc_loss v[FSC_MAX_LOSS_CODES];
	uint32_t n;
};

/* Byte of the first one in the file as it is when unpacked, -1 when not known. */
static inline int64_t fsc_loss_offset(const struct fsc_loss *l)
{
	return l->first && l->first - 1 <= INT64_MAX ? (int64_t)(l->first - 1) : -1;
}

/* Adds count to code; offset < 0: not known. When the table is full, new kinds are counted in its last entry
 * "other_losses". */
static inline void fsc_losses_add_at(struct fsc_losses *l, const char *code, uint64_t count,
				     int64_t offset)
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
	if (offset >= 0 && (!l->v[i].first || (uint64_t)offset + 1 < l->v[i].first))
		l->v[i].first = (uint64_t)offset + 1;
}

static inline void fsc_losses_add(struct fsc_losses *l, const char *code, uint64_t count)
{
	fsc_losses_add_at(l, code, count, -1);
}

#endif
