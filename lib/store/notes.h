/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What people say about a trace: that it is kept (retention passes over it, a delete asks twice), and notes on
 * ranges of it. Both survive indexing again, and go with the trace. Notes are stored in absolute time and given
 * in the trace's own, so that they keep their place when indexing again finds another base. Thread rule,
 * ownership and common errors: store/store.h.
 */
#ifndef FSC_STORE_NOTES_H
#define FSC_STORE_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/err.h"

struct fsc_store;

struct fsc_note {
	int64_t id;
	int64_t t0_ns, t1_ns; /* relative to t_base_ns of the trace; t1_ns >= t0_ns */
	const char *text;     /* 1..FSC_MAX_NOTE_BYTES of UTF-8, no controls but \n */
	const char *author;   /* who made it: "loopback", "token:5" */
	int64_t created_at_ns, updated_at_ns;
};
struct fsc_notes {
	struct fsc_note *items; /* by t0_ns, id */
	size_t n_items;
};
/* Of a trace the caller has already found with fsc_store_trace_get. */
fsc_nodiscard enum fsc_status fsc_store_trace_notes(struct fsc_store *s, struct fsc_arena *a,
						    int64_t trace, struct fsc_notes *out,
						    struct fsc_err *err);

enum fsc_note_op { FSC_NOTE_ADD, FSC_NOTE_UPDATE, FSC_NOTE_REMOVE };
struct fsc_note_edit {
	enum fsc_note_op op;
	int64_t id; /* not of an ADD */
	/* An ADD has all three; an UPDATE changes what it has. */
	bool has_t0, has_t1;
	int64_t t0_ns, t1_ns; /* relative to t_base_ns */
	const char *text;     /* NULL: stays */
};
struct fsc_trace_edit {
	int64_t project, trace;
	const char *actor;
	bool set_keep, keep;
	bool replace;			   /* notes that no edit names by id go */
	const struct fsc_note_edit *notes; /* in this order */
	size_t n_notes;
};
struct fsc_trace_edited {
	bool keep_changed;
};
/*
 * All of the edit or nothing, in one transaction. A note that an UPDATE leaves as it is keeps its updated_at_ns.
 * FSC_ENOTFOUND "not_found" (trace), "no_such_note"; FSC_EINVAL "note_text", "note_range" (t1 before t0, or
 * beyond int64 as absolute time); FSC_ELIMIT "too_many_notes" (more than FSC_MAX_NOTES on the trace).
 */
fsc_nodiscard enum fsc_status fsc_store_trace_edit(struct fsc_store *s,
						   const struct fsc_trace_edit *edit,
						   struct fsc_trace_edited *out,
						   struct fsc_err *err);

#endif
