/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading very many args records in an order that jumps between parts of the file, as an export does that
 * goes track by track: keeps the last blocks inflated, with the place of each record. For a few records
 * fsc_seg_args() is enough, for one pass in file order struct fsc_seg_args_cache. Belongs to one thread.
 */
#ifndef FSC_SEGMENT_SEG_ARGS_LRU_H
#define FSC_SEGMENT_SEG_ARGS_LRU_H

#include "segment/seg_read.h"

struct fsc_seg_args_lru;

/* Keeps n_blocks inflated blocks (about 160 KiB each); seg is borrowed. NULL when out of memory. */
fsc_nodiscard struct fsc_seg_args_lru *fsc_seg_args_lru_new(const struct fsc_seg *seg,
							    uint32_t n_blocks);
void fsc_seg_args_lru_free(struct fsc_seg_args_lru *l);
/* The record's canonical JSON; *json is borrowed until the next get. FSC_ENOTFOUND past the last record. */
fsc_nodiscard enum fsc_status fsc_seg_args_lru_get(const char **json, size_t *n,
						   struct fsc_seg_args_lru *l, uint32_t record,
						   struct fsc_err *err);

#endif
