/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the Chrome JSON exporter share: its state, the text of values, and the flows of a track. */
#ifndef FSC_EXPORT_CHROME_INTERNAL_H
#define FSC_EXPORT_CHROME_INTERNAL_H

#include "base/limits.h"
#include "base/vec.h"
#include "export/flow_ends.h"
#include "export/row_merge.h"
#include "segment/seg_args_lru.h"

/* The last slice of a row: what a reader has open there. */
struct cj_row {
	int64_t ts, end;
	uint32_t slice; /* FSC_NO_SLICE: none yet */
};

/* A flow event that waits for a time at which its slice is the innermost one. */
struct cj_flow {
	int64_t ts, end;
	uint32_t slice, flow;
	uint16_t depth;
	bool in;    /* f, else s */
	bool first; /* no other slice of the track starts at ts before this one */
};

/* An async slice whose end has not been written. */
struct cj_open {
	int64_t end;
	uint32_t name, cat;
};

struct cj {
	struct fsc_seg *seg; /* owned reference */
	const struct fsc_seg_info *info;
	int64_t t0, t1;
	bool all;		       /* no window: every slice is written */
	struct fsc_seg_args_lru *args; /* owned */
	struct fsc_flow_ends flows;
	struct fsc_row_merge rows;
	bool head_done, tail_done, any_event, in_track, rows_open;
	uint32_t process; /* next one to name */
	uint32_t named;	  /* next track to name */
	uint32_t track;
	uint32_t counter;   /* next sample of a counter track */
	struct fsc_buf who; /* "pid":…,"tid":… of the track */
	FSC_VEC(struct cj_open) open;
	FSC_VEC(struct cj_flow) waiting;
	struct cj_row row[FSC_MAX_NEST];
	uint32_t n_rows;
	int64_t last_ts; /* start of the slice before this one */
};

/* ---- text (chrome_text.c); failure is the buffer's ---- */
void fsc_cj_string(struct fsc_buf *b, const char *s, size_t n);
void fsc_cj_us(struct fsc_buf *b, int64_t ns); /* three decimals */
/* {"ph":"X", with the comma in front that it needs. */
void fsc_cj_event(struct cj *x, struct fsc_buf *b, char ph);
void fsc_cj_pid(const struct cj *x, struct fsc_buf *b, uint32_t process);
/* ,"pid":…,"tid":… of the identity that the track belongs to. */
void fsc_cj_who(const struct cj *x, struct fsc_buf *b, uint32_t track);
void fsc_cj_seg_string(const struct cj *x, struct fsc_buf *b, const char *key, uint32_t id);
/* Everything up to the bracket of traceEvents. */
void fsc_cj_head(struct cj *x, struct fsc_buf *b);
void fsc_cj_name_process(struct cj *x, struct fsc_buf *b, uint32_t process);
void fsc_cj_name_track(struct cj *x, struct fsc_buf *b, uint32_t track);
void fsc_cj_sample(struct cj *x, struct fsc_buf *b, const struct fsc_counter_sample *c);
/* A counter track that reading the [memory] instants again makes anew. */
bool fsc_cj_is_derived(const struct cj *x, const struct fsc_seg_track *t);

/* ---- flows (chrome_flows.c) ---- */
/* Flows of async slices are members of the event: readers bind s and f to threads. */
void fsc_cj_async_flow(struct cj *x, struct fsc_buf *b, uint32_t slice);
/* Notes the slice and what starts or ends at it. Call in (ts, depth) order. */
fsc_nodiscard enum fsc_status fsc_cj_flows_of(struct cj *x, struct fsc_buf *b,
					      const struct fsc_seg_slice *s, struct fsc_err *err);
/* Writes the flow events whose time is known now that nothing starts before `next` any more. */
void fsc_cj_flows_until(struct cj *x, struct fsc_buf *b, int64_t next);

#endif
