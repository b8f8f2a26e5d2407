/* SPDX-License-Identifier: Apache-2.0 */
/*
 * By-hand mode: what the sandboxed child told, kept in memory, and the JSON document of --summary. The shape
 * is that of GET /traces/{id} with its analysis inside. Owner thread.
 */
#ifndef FSC_INDEXER_SUMMARY_H
#define FSC_INDEXER_SUMMARY_H

#include "analysis/scope.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"
#include "facts/fact.h"

struct fsc_summary_trace {
	struct fsc_fact_trace t; /* strings in the arena */
	int64_t segment_bytes;
	char *segment_path; /* in the arena */
	FSC_VEC(struct fsc_fact_category) categories;
	FSC_VEC(struct fsc_fact_loss) losses;
};

struct fsc_summary {
	struct fsc_arena arena;
	FSC_VEC(struct fsc_summary_trace) traces; /* the finished ones */
	FSC_VEC(struct fsc_fact_member) failures; /* failed and skipped members */
	size_t n_failed;
	struct fsc_fact_end end;
	bool open; /* the last of traces is not finished */
};

void fsc_summary_init(struct fsc_summary *s);
void fsc_summary_fini(struct fsc_summary *s);
/* Takes a fact. segment_path is that of the open trace (SEGMENT_WANTED comes with it set). */
fsc_nodiscard enum fsc_status fsc_summary_take(struct fsc_summary *s, const struct fsc_fact *f,
					       const char *segment_path, struct fsc_err *err);
/* The document; analyses are run over the written segments. FSC_ENOTFOUND: a step range that a trace lacks. */
fsc_nodiscard enum fsc_status fsc_summary_json(struct fsc_buf *out, const struct fsc_summary *s,
					       const struct fsc_analysis_scope *scope,
					       struct fsc_err *err);

#endif
