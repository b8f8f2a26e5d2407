/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Perfetto protobuf export (protos/perfetto/trace/trace.proto of google/perfetto, v58):
 *  - host threads, annotations and async work are TrackEvents (BEGIN/END, nested per track; slices that
 *    partly overlap go to a sibling track, so none is lost and no end is swapped);
 *  - GPU work is GpuRenderStageEvent, one packet each with its own duration, where overlap is legal;
 *  - a launch carries gpu_correlation.render_stage_submission_event_ids with the ids of its GPU work, and of work
 *    that an arrow from it leads to; arrows from GPU work are its event ids in render_stage_wait_event_ids of a
 *    host slice and in event_wait_ids of GPU work; flows between host slices are flow_ids / terminating_flow_ids;
 *  - counters are TrackEvent counters.
 * One packet sequence per track with an incremental clock: timestamps are deltas in ns, and absolute time in
 * the file is exactly t_base_ns + relative ns (shifted up only when that would be negative).
 */
#ifndef FSC_EXPORT_PERFETTO_H
#define FSC_EXPORT_PERFETTO_H

#include "export/exporter.h"

extern const struct fsc_exporter fsc_export_perfetto;

/* ns that the export adds to relative times: what a deep link must use for ts and visStart. */
int64_t fsc_export_perfetto_base_ns(const struct fsc_seg *seg);

#endif
