/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of the trace-event JSON reader, shared by chrome_*.c. chrome_json.c walks the file, chrome_event.c
 * scans one event into fields, chrome_emit.c gives it to the builder, chrome_async.c those events that are not
 * on a thread; chrome_rare.c and chrome_stack.c see to the keys that few events have.
 */
#ifndef FSC_FORMATS_CHROME_INT_H
#define FSC_FORMATS_CHROME_INT_H

#include "base/limits.h"
#include "formats/json_tok.h"
#include "formats/launch_args.h"
#include "formats/launch_pairs.h"
#include "formats/reader.h"
#include "model/build.h"
#include "model/classify.h"

enum chrome_field {
	F_PH,
	F_CAT,
	F_NAME,
	F_PID,
	F_TID,
	F_TS,
	F_DUR,
	F_ID,
	F_BP,
	F_SCOPE, /* of an instant: "s" */
	F_ARGS,
	F_ID2, /* from here on few events have them: see F_RARE */
	F_ID_SCOPE,
	F_BIND_ID,
	F_FLOW_IN,
	F_FLOW_OUT,
	F_TTS,
	F_TDUR,
	F_SF,
	F_ESF,
	F_STACK,
	F_ESTACK,
	F_CPU,
	F_WEIGHT,
	F_COUNT
};
#define F_RARE F_ID2 /* have >> F_RARE: one of the rare ones is there */

/* Args that become typed columns or tracks. */
enum chrome_arg {
	A_DEVICE,
	A_CONTEXT,
	A_STREAM,
	A_CORRELATION,
	A_GRID,
	A_BLOCK,
	A_QUEUED,
	A_REGISTERS,
	A_SHARED,
	A_BLOCKS_PER_SM,
	A_WARPS_PER_SM,
	A_OCCUPANCY,
	A_GRAPH_ID,
	A_GRAPH_NODE_ID,
	A_BYTES,
	A_BANDWIDTH,
	A_COLLECTIVE,
	A_IN_NELEMS,
	A_OUT_NELEMS,
	A_GROUP_SIZE,
	A_DTYPE,
	A_PG_NAME,
	A_PG_DESC,
	A_PG_RANKS,
	A_RANK,
	A_SEQ,
	A_COMMS_ID,
	A_SRC_RANK,
	A_DST_RANK,
	A_DEVICE_TYPE,
	A_DEVICE_ID,
	A_TOTAL_ALLOCATED,
	A_TOTAL_RESERVED,
	A_NAME,
	A_LABELS,
	A_SORT_INDEX,
	A_QUEUE, /* Intel: what others call a stream */
	A_COUNT
};

#define CHROME_CATS 64u
#define CHROME_IDENTS 256u
#define CHROME_ARGS_CAP ((size_t)(FSC_MAX_ARGS_BYTES + 64))

struct chrome_cat {
	char text[40];
	uint8_t n;   /* 0: free */
	uint8_t cls; /* enum fsc_cat_class */
	uint16_t cat;
	uint32_t name; /* string id */
};

/* Counter tracks of [memory] instants: one pair per process and device. */
#define CHROME_MEMORIES 1024u
struct chrome_memory {
	uint32_t process, track[2]; /* allocated, reserved; FSC_NO_TRACK not made yet */
	int32_t type, device;
};

/* One entry of stackFrames. Ids are hashes of their text, never 0. */
struct chrome_frame {
	uint64_t id, parent; /* parent 0: outermost */
	uint32_t name, category;
};

/* A slice that names a stack frame: its args wait for the frames, which come behind the events. */
struct chrome_stack_ref {
	uint64_t sf, esf; /* 0: none */
	size_t args_at;	  /* canonical args in stacks.text */
	uint64_t at;	  /* byte of the file */
	uint32_t args_n, slice;
	bool named_by_leaf;
};

struct chrome_stacks {
	FSC_VEC(struct chrome_frame) frames;
	FSC_VEC(struct chrome_stack_ref) refs;
	struct fsc_buf text; /* owned; args of the refs */
	struct fsc_jt_count unknown, too_deep, limit, unreadable;
};

/* XLA's traces (chrome_xla.c): what the names of processes and threads say. */
#define CHROME_XLA_LINES 1024u
struct chrome_xla_line {
	uint32_t ident, process;
	int32_t stream; /* of "Stream #13(...)"; -1: another line */
	bool is_ops;
};
struct chrome_xla_device {
	uint32_t process;
	int32_t ordinal; /* FSC_NO_ORDINAL: the name has none */
	bool has_streams;
};
struct chrome_xla {
	FSC_VEC(struct chrome_xla_device) devices; /* empty: no trace of XLA */
	FSC_VEC(struct chrome_xla_line) lines;
	size_t last; /* line that was found before */
	struct fsc_launch_pairs pairs;
	uint64_t unmatched;
};

struct chrome_ident {
	int64_t pid, tid;
	uint32_t ident;
	bool used;
};

struct chrome {
	struct fsc_jt t;
	struct fsc_build *b; /* owned */
	const struct fsc_reader_sink *sink;
	struct fsc_err *err;

	/* the event under way */
	struct fsc_jt_val f[F_COUNT], a[A_COUNT];
	uint32_t have;	   /* bits of enum chrome_field */
	uint64_t have_arg; /* bits of enum chrome_arg */
	char *args;	   /* owned; canonical args, CHROME_ARGS_CAP bytes */
	size_t args_n;	   /* 0: none */
	bool args_full;	   /* they did not fit */
	const char *at;	   /* its brace; NULL between events */
	struct chrome_scan_counts {
		struct fsc_jt_count duplicates, extra_keys, thread_times, args_not_object;
	} n;
	/* counts as they were before the event: an event is scanned again when the window ends in it */
	struct chrome_kept {
		uint64_t counted;
		struct fsc_jt_repairs repairs;
		struct chrome_scan_counts n;
	} kept;

	/* caches: numeric identity, category by text, kind by name */
	struct chrome_ident idents[CHROME_IDENTS];
	struct chrome_cat cats[CHROME_CATS], odd_cat;
	FSC_VEC(struct chrome_memory) memories;
	struct chrome_stacks stacks;
	struct chrome_xla xla;
	bool stack_waits; /* the args of the event under way wait for its stack */
	bool in_samples;  /* the items are those of the top-level list "samples" */
	uint8_t *kinds;	  /* owned; by string id: cls << 4 | kind, 0 unknown */
	uint32_t n_kinds;

	/* losses counted here and named once at the end */
	struct fsc_jt_count phases[128]; /* of unknown ones */
	struct fsc_jt_count no_phase, no_ts, bad_ts, x_no_dur, x_bad_dur, inexact, args_too_big,
		bad_counter, no_id, commas, empty, bad_correlation, bad_stream, metadata_unknown,
		memory_devices, flow_args, samples, unreadable,
		plain_items;	 /* array items that are no events */
	uint64_t events;	 /* with a phase */
	uint64_t wasted, broken; /* chrome_resync.c */

	/* the file */
	struct fsc_buf meta; /* owned; canonical top-level values */
	bool lost_member;    /* the last one of the top level was no JSON */
	bool kineto, saw_events_key, saw_array;
	struct fsc_buf keys; /* owned; first top-level keys, for messages */
	uint64_t bytes_reported;
};

/* Counts something of the event under way. */
static inline void fsc_chrome_note(struct chrome *c, struct fsc_jt_count *k)
{
	fsc_jt_note(&c->t, k, 1, c->at);
}
/* Takes back what was counted since the event began. */
static inline void fsc_chrome_undo(struct chrome *c)
{
	c->t.repairs = c->kept.repairs;
	c->n = c->kept.n;
	c->t.counted = c->kept.counted;
}

/* One event object at p (its brace). Fills f, a, args. NULL with t.fail set. */
const char *fsc_chrome_scan_event(struct chrome *c, const char *p);
/* Reads more behind *p, which moves to the front of the window; err has an offset when it fails. */
enum fsc_status fsc_chrome_fill(struct chrome *c, const char **p);
/* The event at *p is no JSON: moves *p to the next one. FSC_END when there is none. */
enum fsc_status fsc_chrome_resync(struct chrome *c, const char **p);
/* Gives the scanned event to the builder. */
enum fsc_status fsc_chrome_emit(struct chrome *c);

/* ---- what chrome_emit.c lends to chrome_async.c and chrome_rare.c ---- */
bool fsc_chrome_time_ns(struct chrome *c, int64_t *ns, const struct fsc_jt_val *v);
/* False, and counted, when the event has no usable time. */
bool fsc_chrome_event_ts(struct chrome *c, int64_t *ts);
enum fsc_status fsc_chrome_event_ident(uint32_t *ident, struct chrome *c);
/* Name, category, args, correlation and kind of the event. */
enum fsc_status fsc_chrome_fill_slice(struct fsc_build_slice *s, struct chrome *c);
/* What hangs on a slice besides its columns. */
enum fsc_status fsc_chrome_slice_rows(struct chrome *c, uint32_t slice,
				      const struct fsc_build_slice *s);
/* Id of an event: numbers are themselves, text is hexadecimal when it can be, else hashed. */
bool fsc_chrome_id(uint64_t *id, const struct fsc_jt_val *v);
/* Hash of a text, never 0. */
uint64_t fsc_chrome_hash(const char *s, size_t n);

/* ---- chrome_async.c ---- */
/* Id of an async or flow event: id, or id2 with its scope. *local: belongs to its process. */
bool fsc_chrome_async_id(struct chrome *c, uint64_t *id, bool *local);
/* b n e, and the older S T p F. */
enum fsc_status fsc_chrome_async(struct chrome *c, char ph);
/* T with a duration: what the scheduler did with a thread. */
enum fsc_status fsc_chrome_thread_state(struct chrome *c);

/* ---- chrome_rare.c ---- */
/* Adds thread times and stacks to the args of the event; sets stack_waits. */
void fsc_chrome_rare_args(struct chrome *c);
/* Counts the same keys of an event that cannot keep them, and forgets them. */
void fsc_chrome_rare_ignored(struct chrome *c);

/* ---- chrome_stack.c ---- */
/* One member of stackFrames; key is raw text between the quotes, json canonical. */
enum fsc_status fsc_chrome_frame(struct chrome *c, const char *key, size_t key_n, const char *json,
				 size_t n);
/* The args of the event and the stack it names go to this slice when all frames are known. */
enum fsc_status fsc_chrome_stack_wait(struct chrome *c, uint32_t slice);
/* Gives all slices that wait their args. Once, before the trace is made. */
enum fsc_status fsc_chrome_stacks_resolve(struct chrome *c);
void fsc_chrome_stacks_fini(struct chrome *c);

/* One top-level value of the file that is kept as metadata; canonical text. */
enum fsc_status fsc_chrome_top_value(struct chrome *c, const char *key, size_t key_n,
				     const char *json, size_t n);
/* Names all counted losses in the trace. */
void fsc_chrome_name_losses(struct chrome *c);

/* chrome_xla.c: names of processes and threads; a slice without category, before and after it is made. */
enum fsc_status fsc_chrome_xla_process(struct chrome *c, uint32_t process, uint32_t name);
enum fsc_status fsc_chrome_xla_thread(struct chrome *c, uint32_t ident, uint32_t name);
enum fsc_status fsc_chrome_xla_slice(struct chrome *c, uint32_t ident, struct fsc_build_slice *s);
enum fsc_status fsc_chrome_xla_rows(struct chrome *c, uint32_t ident, uint32_t slice,
				    const struct fsc_build_slice *s);
enum fsc_status fsc_chrome_xla_finish(struct chrome *c);
void fsc_chrome_xla_fini(struct chrome *c);

/* Numbers of values; numeric strings count as numbers. */
bool fsc_chrome_i64(int64_t *out, const struct fsc_jt_val *v);
bool fsc_chrome_double(double *out, const struct fsc_jt_val *v);

#endif
