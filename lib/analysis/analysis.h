/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All analyses of one trace, from its segment, in one pass: temporal breakdown, idle time by cause, kernel
 * statistics, steps, categories, launch pairs. Integer ns throughout; times are relative to the trace's
 * t_base_ns. String ids are the segment's. A trace without GPU rows has no devices and no kernels: that is
 * an answer. Costs: about 20 ns a slice, memory about 100 B per GPU slice and launch call while it runs.
 * Any thread.
 */
#ifndef FSC_ANALYSIS_ANALYSIS_H
#define FSC_ANALYSIS_ANALYSIS_H

#include <stdint.h>

#include "analysis/scope.h"
#include "base/attr.h"
#include "base/err.h"
#include "base/vec.h"
#include "segment/seg_read.h"

/* Raised whenever a number below can change for the same segment. */
#define FSC_ANALYSIS_VERSION 2

#define FSC_DEVICE_UNKNOWN (-1) /* GPU work on a track that names no device */
#define FSC_STREAM_UNKNOWN (-1)

/*
 * Temporal breakdown of one device over its window: first start to last end of its GPU work (copies and sets
 * included). compute, comm, memcpy (copies and sets) and unclassified are unions of intervals.
 *   busy + idle = window;  compute + exposed_comm + exposed_memcpy + unclassified_exposed = busy
 */
struct fsc_device_row {
	int32_t device;
	uint64_t slices;
	int64_t t0_ns; /* start of the window */
	int64_t window_ns, busy_ns, idle_ns, compute_ns, comm_ns, memcpy_ns;
	int64_t exposed_comm_ns;   /* comm outside compute */
	int64_t exposed_memcpy_ns; /* memcpy outside compute and comm */
	int64_t comm_overlap_ns;   /* comm inside compute */
	int64_t unclassified_ns;
	int64_t unclassified_exposed_ns; /* outside the other three */
};

/*
 * Idle time of one stream by cause, HTA's rule: rows in order of start, gap = start - end of the row before
 * (not the running maximum, so gaps of overlapping rows are negative and are summed all the same).
 * host_wait: its launch call started after the previous end. Else kernel_wait: gap < 30 us. Else other.
 */
struct fsc_idle_row {
	int32_t device, stream;
	int64_t host_wait_ns, kernel_wait_ns, other_ns;
	bool has_host_wait, has_kernel_wait; /* some gap fell into it */
};

struct fsc_kernel_row {
	uint32_t name;
	uint8_t kind; /* enum fsc_kind, one of the GPU work kinds */
	uint64_t count;
	int64_t sum_ns, min_ns, max_ns;
	uint32_t first_track, first_slice; /* its first occurrence in time */
	int64_t first_ts;
};

/* busy = some device has work; over [t0, t0 + dur). */
struct fsc_step_row {
	uint32_t name;
	int64_t number, t0, dur_ns, busy_ns, idle_ns;
};

/* Slices with a duration, per category of the file. Whole trace, whatever the scope. */
struct fsc_category_row {
	uint32_t name;
	uint64_t count;
	int64_t sum_ns;
};

/* Kernels, copies and sets by how many runtime or driver calls have their correlation: 1, 0, more. Queue entries
 * of accelerators that are not called kernels (mtia_ccp_events) are not counted. Whole trace. */
struct fsc_launch_census {
	uint64_t pairs, none, ambiguous;
};

struct fsc_analysis {
	struct fsc_analysis_scope scope;
	uint32_t n_steps_total;			     /* steps of the trace, whatever the scope */
	FSC_VEC(struct fsc_device_row) devices;	     /* by device */
	FSC_VEC(struct fsc_idle_row) idle;	     /* by device, stream */
	FSC_VEC(struct fsc_kernel_row) kernels;	     /* most time first, then count, then name */
	FSC_VEC(struct fsc_step_row) steps;	     /* those in scope, by start */
	FSC_VEC(struct fsc_category_row) categories; /* by name */
	struct fsc_launch_census launch;
};

/* out is initialised by the call, and on failure left as fini would. FSC_ENOMEM, FSC_ECORRUPT (a block of
 * the segment), FSC_ENOTFOUND (code "no_such_step": a range names a step that the trace does not have). */
fsc_nodiscard enum fsc_status fsc_analyse(struct fsc_analysis *out, const struct fsc_seg *s,
					  const struct fsc_analysis_scope *scope,
					  struct fsc_err *err);
/* The same for n scopes (out and scopes have n elements) in one pass over the segment. */
fsc_nodiscard enum fsc_status fsc_analyse_scopes(struct fsc_analysis *out, const struct fsc_seg *s,
						 const struct fsc_analysis_scope *scopes, size_t n,
						 struct fsc_err *err);
void fsc_analysis_fini(struct fsc_analysis *a);

#endif
