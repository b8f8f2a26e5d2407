/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of files without ProfilerStep: serving engines mark each forward pass in their own way. In this order, the
 * first that a file has:
 *   FSC_MARK_STEP       "step[EXTEND bs=15 toks=15360]", "step[DECODE bs=32]" (SGLang)
 *   FSC_MARK_EXECUTE    "execute_8192_context_9(...)...", "execute_context_...", "execute_new_...",
 *                       "execute_diffusion_1_256x256" (vLLM, xDiT)
 *   FSC_MARK_ITERATION  instants "Iteration Start: ...", from each to the next one, to "Record Window End" or to the
 *                       end of the trace; one alone only says where recording began, and is no step
 * Ranges on host threads count, and without any those projected on streams. The file has no numbers for them: they
 * are numbered from 0 in order of start. Internal to lib/analysis. Owner thread.
 */
#ifndef FSC_ANALYSIS_STEP_MARKS_H
#define FSC_ANALYSIS_STEP_MARKS_H

#include "analysis/rows.h"

enum fsc_step_mark_kind {
	FSC_MARK_NONE,
	FSC_MARK_STEP,
	FSC_MARK_EXECUTE,
	FSC_MARK_ITERATION,
	FSC_MARK_END, /* "Record Window End" */
	FSC_MARK_KINDS
};

struct fsc_step_marks { /* start zeroed */
	/* by kind; ranges on host threads, and on streams */
	struct fsc_step_mark_list {
		FSC_VEC(struct fsc_step_mark) host, gpu;
	} of[FSC_MARK_KINDS];
};

/* What a name says, before it is looked at where it stands. */
enum fsc_step_mark_kind fsc_step_marks_name(const char *name, size_t n);
/* Notes a slice whose name is a mark; one that is no range of a user, or no instant, is passed over. False: no
 * memory. */
fsc_nodiscard bool fsc_step_marks_take(struct fsc_step_marks *m, const struct fsc_seg *s,
				       const struct fsc_seg_slice *sl);
/* Fills rows->steps. False: no memory. */
fsc_nodiscard bool fsc_step_marks_settle(struct fsc_step_marks *m, struct fsc_rows *rows,
					 int64_t t_max_ns);
void fsc_step_marks_fini(struct fsc_step_marks *m);

#endif
