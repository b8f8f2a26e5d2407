/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one pass over a segment that all analyses share: GPU rows with their launch, step marks, categories.
 * Internal to lib/analysis. Owner thread.
 */
#ifndef FSC_ANALYSIS_ROWS_H
#define FSC_ANALYSIS_ROWS_H

#include "analysis/analysis.h"
#include "analysis/intervals.h"

#define FSC_NO_LAUNCH INT64_MIN

/* One slice of GPU work. */
struct fsc_gpu_row {
	int64_t ts, end;
	int64_t launch_ts; /* start of its launch call, FSC_NO_LAUNCH when none is known */
	uint32_t first_call, n_calls; /* its launches: calls[first_call, first_call + n_calls) */
	uint32_t id, name, track;
	uint8_t kind;
	bool in_scope; /* set by fsc_rows_set_scope */
	bool in_census;
};

/* GPU rows [first, first + n) of one stream, in order of (ts, id). */
struct fsc_stream_rows {
	int32_t device, stream;
	size_t first, n;
};

/* A runtime or driver call that can have launched something. */
struct fsc_call_row {
	int64_t correlation, ts;
};

struct fsc_step_mark {
	int64_t number, ts, end;
	uint32_t name;
};

struct fsc_rows {
	FSC_VEC(struct fsc_gpu_row) gpu;
	FSC_VEC(struct fsc_stream_rows) streams; /* by device, stream; a pair once */
	FSC_VEC(struct fsc_call_row) calls;	 /* by correlation, start */
	FSC_VEC(struct fsc_step_mark) steps;	 /* each number once, by start */
	/* different names with "ProfilerStep" in them; of marks of other makers, how many steps there are */
	size_t n_step_names;
	int64_t last_step_start; /* latest start of a row called so */
	FSC_VEC(struct fsc_category_row) categories;
	struct fsc_launch_census launch;
};

/* rows is initialised by the call; on failure it is empty. No row is in scope yet. */
fsc_nodiscard enum fsc_status fsc_rows_collect(struct fsc_rows *rows, const struct fsc_seg *s,
					       struct fsc_err *err);
/* Says which rows are in scope. May be called again with another scope. Errors as fsc_analyse. */
fsc_nodiscard enum fsc_status fsc_rows_set_scope(struct fsc_rows *rows,
						 const struct fsc_analysis_scope *scope,
						 struct fsc_err *err);
void fsc_rows_fini(struct fsc_rows *rows);

#endif
