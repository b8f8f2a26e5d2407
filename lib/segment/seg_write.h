/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a finished trace (model/trace.h, after fsc_build_finish) as segment v1 to fd, from offset 0, with
 * pwrite only; the caller syncs and renames. The descriptor must be a regular file or memfd.
 */
#ifndef FSC_SEGMENT_SEG_WRITE_H
#define FSC_SEGMENT_SEG_WRITE_H

#include "base/err.h"
#include "model/trace.h"

struct fsc_seg_write_stats {
	uint64_t file_bytes, slice_bytes, lod_bytes, args_bytes, string_bytes;
};

fsc_nodiscard enum fsc_status fsc_seg_write(int fd, const struct fsc_trace *t,
					    const uint8_t blob_sha256[32],
					    struct fsc_seg_write_stats *stats, struct fsc_err *err);

#endif
