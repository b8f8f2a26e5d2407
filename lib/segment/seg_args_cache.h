/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading many args records in nearly file order (exports, checks) without decompressing a block for each:
 * keeps the last few decoded blocks and where their records start. Belongs to one thread.
 */
#ifndef FSC_SEGMENT_SEG_ARGS_CACHE_H
#define FSC_SEGMENT_SEG_ARGS_CACHE_H

#include "segment/seg_read.h"

struct fsc_seg_args_cache;

/* n_blocks decoded blocks (about 128 KiB each) are kept; seg is borrowed. NULL when out of memory. */
fsc_nodiscard struct fsc_seg_args_cache *fsc_seg_args_cache_new(const struct fsc_seg *seg,
								uint32_t n_blocks);
void fsc_seg_args_cache_free(struct fsc_seg_args_cache *c);
/* The record's canonical JSON; *json is borrowed until the next get. FSC_ENOTFOUND past the end. */
fsc_nodiscard enum fsc_status fsc_seg_args_cache_get(const char **json, size_t *n,
						     struct fsc_seg_args_cache *c, uint32_t record,
						     struct fsc_err *err);

#endif
