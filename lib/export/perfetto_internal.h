/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the Perfetto exporter share: its state and the numbering of tracks. */
#ifndef FSC_EXPORT_PERFETTO_INTERNAL_H
#define FSC_EXPORT_PERFETTO_INTERNAL_H

#include "base/num.h"
#include "export/flow_ends.h"
#include "export/perfetto_seq.h"
#include "export/row_merge.h"
#include "segment/seg_args_lru.h"

enum {
	PKT_TRACK_EVENT = 11,
	PKT_GPU_RENDER_STAGE = 53,
	PKT_TRACK_DESCRIPTOR = 60,
	TYPE_BEGIN = 1,
	TYPE_END = 2,
	TYPE_INSTANT = 3,
	TYPE_COUNTER = 4,
	ARGS_BLOCKS_KEPT = 32,
	MAX_LANES = 4096,
};

/* Stages of a GPU event: iids in InternedData.gpu_specifications. */
enum { STAGE_KERNEL = 1, STAGE_MEMCPY, STAGE_MEMSET, STAGE_COUNT, QUEUE_BASE = 16 };

/* Open slices of one nesting lane; ends grow towards the outermost. */
struct lane {
	FSC_VEC(int64_t) ends;
};

struct pf {
	struct fsc_seg *seg; /* owned reference */
	const struct fsc_seg_info *info;
	int64_t t0, t1, base;
	struct pf_seq seq;
	struct fsc_seg_args_lru *args; /* owned */
	struct fsc_row_merge rows;
	bool preamble_done, in_track, rows_open;
	uint32_t track;
	uint32_t counter; /* next sample of a counter track */
	FSC_VEC(struct lane) lanes;
	struct fsc_flow_ends flows; /* ends at host slices only */
	FSC_VEC(uint32_t) ids;	    /* scratch: what a call launched */
};

static inline uint64_t process_uuid(uint32_t process)
{
	return 0x100000000ULL + process;
}

static inline uint64_t track_uuid(uint32_t track, uint32_t lane)
{
	return 0x200000000ULL + (uint64_t)track * MAX_LANES + lane;
}

static inline uint64_t abs_ts(const struct pf *x, int64_t rel)
{
	return (uint64_t)fsc_add_i64_sat(x->base, rel);
}

/* TrackDescriptor packets. */
void fsc_pf_describe_process(struct pf *x, struct fsc_buf *out, uint32_t process);
void fsc_pf_describe_track(struct pf *x, struct fsc_buf *out, uint32_t lane);
/* Context, queue and stages of the current stream, once per sequence, in front of its first event. */
void fsc_pf_intern_stream(struct pf *x);

#endif
