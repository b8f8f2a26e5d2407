/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The appending builder that every reader uses. A reader names who (fsc_build_thread, fsc_build_stream ...),
 * appends what happened in any order and with the file's own times, and calls fsc_build_finish() once:
 * it matches begins with ends, orders, assigns rows, binds flows and makes times relative (model/trace.h has
 * the result's invariants). Slice numbers handed out before that are file order and only good for the builder.
 *
 * Raw identity: a pid or tid is a number or a text ("Spans", ""); a text that is a decimal number is the
 * number. All times are int64 ns in the file's clock. Appending functions return FSC_OK, FSC_ENOMEM or
 * FSC_ELIMIT (with err set where they take one; otherwise the caller sets it). Owner thread.
 */
#ifndef FSC_MODEL_BUILD_H
#define FSC_MODEL_BUILD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "model/trace.h"

struct fsc_build;

struct fsc_build_id {
	bool is_text;
	int64_t num;   /* when !is_text */
	uint32_t text; /* string id when is_text */
};

#define FSC_BUILD_NO_CAT UINT16_MAX
#define FSC_BUILD_PENDING INT64_MIN /* duration of a begin whose end is not known yet */

fsc_nodiscard struct fsc_build *fsc_build_new(void); /* NULL when out of memory */
void fsc_build_free(struct fsc_build *b);	     /* NULL is fine */

/* The trace under construction: readers set meta and losses in it. Borrowed. */
struct fsc_trace *fsc_build_trace(struct fsc_build *b);
fsc_nodiscard enum fsc_status fsc_build_str(uint32_t *id, struct fsc_build *b, const char *s,
					    size_t n);
/* Counts at the place the reader is at (fsc_build_where), or at a given byte of the file; -1 not known. */
/* As fsc_build_str for bytes that need not be UTF-8: ill-formed sequences and zero bytes become U+FFFD, and are added
 * to *utf8 and *zeros. */
fsc_nodiscard enum fsc_status fsc_build_text(uint32_t *id, struct fsc_build *b, const char *s,
					     size_t n, uint64_t *utf8, uint64_t *zeros);
void fsc_build_loss(struct fsc_build *b, const char *code, uint64_t n);
void fsc_build_loss_at(struct fsc_build *b, const char *code, uint64_t n, int64_t offset);
/* How the builder asks where in the file the reader is; only until finish. ctx is borrowed. */
void fsc_build_where(struct fsc_build *b, int64_t (*where)(const void *ctx), const void *ctx);
/* Index of a category (string) in trace.cats. */
fsc_nodiscard enum fsc_status fsc_build_cat(uint16_t *cat, struct fsc_build *b, const char *s,
					    size_t n);

/* ---- who ---- */
/* Number of the raw (pid, tid) pair: what names and flows refer to. */
fsc_nodiscard enum fsc_status fsc_build_ident(uint32_t *ident, struct fsc_build *b,
					      struct fsc_build_id pid, struct fsc_build_id tid);
uint32_t fsc_build_ident_process(const struct fsc_build *b, uint32_t ident);
fsc_nodiscard enum fsc_status fsc_build_process(uint32_t *process, struct fsc_build *b,
						struct fsc_build_id pid);

fsc_nodiscard enum fsc_status fsc_build_thread(uint32_t *track, struct fsc_build *b,
					       uint32_t ident);
/* GPU stream of a raw identity; unknown ordinals are FSC_NO_ORDINAL. Profilers give each stream a tid of its
 * own, so a track is (process, device, context, stream), and rows without ordinals still keep apart. */
fsc_nodiscard enum fsc_status fsc_build_stream(uint32_t *track, struct fsc_build *b, uint32_t ident,
					       int32_t device, int32_t context, int32_t stream);
/* Annotations of the stream that shares this raw identity. layer 0: gpu_user_annotation, 1: synchronisation. */
fsc_nodiscard enum fsc_status fsc_build_annotation(uint32_t *track, struct fsc_build *b,
						   uint32_t ident, int layer);
/* Nestable async events: one track per (category, id), shown under the process that used it first; a local id
 * belongs to its process alone. */
fsc_nodiscard enum fsc_status fsc_build_async(uint32_t *track, struct fsc_build *b,
					      uint32_t process, bool local, uint16_t cat,
					      uint64_t id, uint32_t name);
fsc_nodiscard enum fsc_status fsc_build_counter_track(uint32_t *track, struct fsc_build *b,
						      uint32_t process, uint32_t name,
						      uint32_t unit, int32_t device);

void fsc_build_name_process(struct fsc_build *b, uint32_t process, uint32_t name);
void fsc_build_label_process(struct fsc_build *b, uint32_t process, uint32_t labels);
void fsc_build_sort_process(struct fsc_build *b, uint32_t process, int32_t sort_index);
void fsc_build_name_ident(struct fsc_build *b, uint32_t ident, uint32_t name);
void fsc_build_sort_ident(struct fsc_build *b, uint32_t ident, int32_t sort_index);

/* ---- what ---- */
struct fsc_build_slice {
	int64_t ts, dur; /* dur < 0 is counted and becomes 0 */
	int64_t correlation;
	uint32_t track, name, args;
	uint16_t cat;
	uint8_t kind, flags; /* flags: FSC_SLICE_INSTANT or 0 */
};
fsc_nodiscard enum fsc_status fsc_build_slice(uint32_t *slice, struct fsc_build *b,
					      const struct fsc_build_slice *s);
/* A begin: dur is ignored. Its end, in any order; name 0 and cat FSC_BUILD_NO_CAT match every begin. */
fsc_nodiscard enum fsc_status fsc_build_begin(uint32_t *slice, struct fsc_build *b,
					      const struct fsc_build_slice *s);
fsc_nodiscard enum fsc_status fsc_build_end(struct fsc_build *b, uint32_t track, int64_t ts,
					    uint32_t name, uint16_t cat, uint32_t args);
fsc_nodiscard enum fsc_status fsc_build_counter(struct fsc_build *b, uint32_t track, int64_t ts,
						double value);

enum fsc_flow_phase {
	FSC_FLOW_START,	   /* s */
	FSC_FLOW_STEP,	   /* t */
	FSC_FLOW_END,	   /* f with bp "e": the slice around it */
	FSC_FLOW_END_NEXT, /* f: the next slice of that thread */
	FSC_FLOW_TOUCH, /* a start when no chain of this key is open, else a step; an end closes it */
};
struct fsc_build_flow {
	int64_t ts;
	uint64_t id;	    /* already hashed when it was text */
	uint32_t ident;	    /* where, unless slice is given */
	uint32_t slice;	    /* FSC_NO_SLICE: bound by ident and ts at finish */
	uint32_t name, cat; /* string ids, part of the key */
	uint8_t phase;
};
fsc_nodiscard enum fsc_status fsc_build_flow(struct fsc_build *b, const struct fsc_build_flow *f);
fsc_nodiscard enum fsc_status fsc_build_launch(struct fsc_build *b, const struct fsc_launch *l);
fsc_nodiscard enum fsc_status fsc_build_collective(struct fsc_build *b,
						   const struct fsc_collective *c);
/* Canonical args (model/args.h). */
fsc_nodiscard enum fsc_status fsc_build_args(uint32_t *record, struct fsc_build *b,
					     const char *json, size_t n);

/* What has to be added to the file's times to get absolute ns (baseTimeNanoseconds). May come at any time. */
void fsc_build_base_time(struct fsc_build *b, int64_t base_ns);
uint64_t fsc_build_events(const struct fsc_build *b);
void fsc_build_count_event(struct fsc_build *b);

/*
 * Makes the trace. On FSC_OK *out is owned by the caller (fsc_trace_free) and the builder is empty; free it.
 * Expected errors: FSC_ENOMEM, FSC_ELIMIT.
 */
fsc_nodiscard enum fsc_status fsc_build_finish(struct fsc_trace **out, struct fsc_build *b,
					       struct fsc_err *err);

#endif
