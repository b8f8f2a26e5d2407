/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a timeline draws: slices of a window as binary columns (version 1, described in server/api/openapi.json).
 * Const, any thread.
 */
#ifndef FSC_SERVICE_SLICES_H
#define FSC_SERVICE_SLICES_H

#include "base/buf.h"
#include "segment/seg_query.h"

#define FSC_SLICES_MAGIC 0x314C5346u /* "FSL1" */
#define FSC_SLICES_VERSION 1u
#define FSC_SLICES_MAX_TRACKS 256u
#define FSC_SLICES_MAX_ITEMS 150000u

/* Flags of an item in the columns. */
#define FSC_SLICES_MERGED 1u
#define FSC_SLICES_OVERLAP 2u
#define FSC_SLICES_INSTANT 4u
#define FSC_SLICES_OPEN 8u
#define FSC_SLICES_BEFORE 16u /* begins before base_ns: its start is cut there */
#define FSC_SLICES_AFTER 32u  /* ends after the window */

/* Columns of all depths of the tracks (ids must exist) in [t0, t1) at px pixels, appended to out. */
fsc_nodiscard enum fsc_status fsc_slices_columns(struct fsc_buf *out, const struct fsc_seg *s,
						 const uint32_t *tracks, uint32_t n_tracks,
						 int64_t t0, int64_t t1, uint32_t px,
						 struct fsc_err *err);

#endif
