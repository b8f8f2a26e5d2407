/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of the Perfetto reader, shared by perfetto_*.c. perfetto_read.c finds the packets, perfetto_packet.c takes one
 * apart, perfetto_seq.c keeps what a sequence has interned, perfetto_clock.c turns its times into trace time,
 * perfetto_tracks.c finds the track of an event, perfetto_event.c reads track events, perfetto_gpu.c GPU packets,
 * perfetto_samples.c CPU samples, perfetto_args.c annotations.
 *
 * Field numbers: protos/perfetto/trace of google/perfetto (trace_packet.proto and what it imports).
 */
#ifndef FSC_FORMATS_PERFETTO_INT_H
#define FSC_FORMATS_PERFETTO_INT_H

#include "base/limits.h"
#include "base/map.h"
#include "base/pb_read.h"
#include "formats/gpu_args.h"
#include "formats/perfetto.h"
#include "model/build.h"
#include "model/classify.h"

/* InternedData: which dictionary. */
enum pft_dict {
	PFT_CATEGORIES = 1,
	PFT_EVENT_NAMES = 2,
	PFT_ANNOTATION_NAMES = 3,
	PFT_FUNCTIONS = 5,
	PFT_FRAMES = 6,
	PFT_CALLSTACKS = 7,
	PFT_CONTEXTS = 23,
	PFT_GPU_SPECS = 24,
	PFT_ANNOTATION_STRINGS = 29,
	PFT_COUNTER_DESCRIPTORS = 47,
	PFT_KERNELS = 1000,
	PFT_ARG_NAMES = 1001,
};

/* What an interned id stands for. */
struct pft_entry {
	uint32_t text, text2; /* of texts */
	uint64_t
		num; /* frame: its function; context: pid; specification: category; descriptor: GPU */
	uint32_t first, n; /* callstack: its frames in lists; descriptor: its counters in specs */
};

struct pft_counter_spec {
	uint64_t id;
	uint32_t name, unit; /* of texts */
};

/* A clock of the sequence itself, ids 64 .. 127. */
struct pft_own_clock {
	uint64_t id;
	bool incremental;
	int64_t unit_ns, now;
};

struct pft_seq {
	uint64_t id;
	bool broken;	/* packets were lost since its state was last cleared */
	bool has_track; /* defaults */
	uint64_t track_uuid, clock;
	FSC_VEC(uint64_t) counters, doubles; /* tracks of extra counter values */
	FSC_VEC(struct pft_own_clock) clocks;
	uint32_t thread; /* index of the track of its thread_descriptor, FSC_NO_TRACK */
	struct fsc_map dict;
	FSC_VEC(struct pft_entry) entries;
	FSC_VEC(uint64_t) lists;
	FSC_VEC(struct pft_counter_spec) specs;
	int64_t sample_ts; /* of a streaming profile */
};

/* ---- clocks ---- */
struct pft_reading {
	int64_t value;
	uint32_t snapshot;
};
struct pft_clock {
	uint64_t seq, id; /* seq 0: of all sequences */
	FSC_VEC(struct pft_reading) readings;
	uint32_t
		unrelated; /* when nothing led from it to the trace's clock: number of snapshots then, plus 1 */
};

/* ---- tracks ---- */
enum pft_track_kind { PFT_PLAIN, PFT_PROCESS, PFT_THREAD, PFT_COUNTER, PFT_STATE };

struct pft_open {
	uint32_t slice, track; /* of the builder */
};

struct pft_track {
	uint64_t uuid, parent; /* parent 0: none */
	bool described, is_async;
	uint8_t kind;
	bool incremental;
	int64_t pid, tid, unit_multiplier;
	int32_t sort;
	uint32_t name, process_name, labels, unit; /* of texts */
	uint32_t built;	  /* builder's track, FSC_NO_TRACK before its first event */
	uint32_t ident;	  /* builder's raw identity of a thread, FSC_NO_TRACK */
	bool placeholder; /* was built before it was described */
	double value;	  /* of an incremental counter */
	FSC_VEC(struct pft_open) open;
};

/* ---- GPU work and who submitted it ---- */
struct pft_gpu_slice {
	uint64_t event;
	uint32_t slice;
};
struct pft_link {
	uint64_t event; /* of a render stage */
	uint64_t at;	/* the packet that says so */
	uint32_t slice;
	int64_t ts;
	uint8_t kind; /* enum pft_link_kind */
};
enum pft_link_kind {
	PFT_SUBMITS, /* the slice submitted the work */
	PFT_WAITS,   /* the slice waited for it, on the host or on the GPU */
};

enum pft_time { PFT_TIME_OK, PFT_TIME_NONE, PFT_TIME_CLOCK, PFT_TIME_BAD };

/* One TracePacket. Cursors are empty when the field is not there. */
struct pft_packet {
	enum pft_time time;
	int64_t ns; /* trace time, when time is OK */
	bool has_ts, has_clock;
	uint64_t ts, clock, seq, flags, machine;
	bool cleared, dropped;
	struct fsc_cur defaults, interned, clocks, track, thread, process, tree, event, gpu_stage,
		gpu_counter, gpu_info, perf_sample, stream_profile, stack_sample;
	struct fsc_cur zipped, zstd;
};

/* A counter, and the packet in which it was first raised. */
struct pft_count {
	uint64_t n, first;
};

struct pft {
	struct fsc_build *b; /* owned */
	const struct fsc_reader_sink *sink;
	struct fsc_err *err;
	struct fsc_source *src; /* borrowed */

	/* the window: bytes [at, len) of buf are not read yet; base is the offset of buf[0] */
	uint8_t *buf; /* owned */
	size_t at, len, cap;
	uint64_t base, bytes_reported, unpacked;
	bool eof;

	struct fsc_strtab *texts; /* owned; what events name, and what only they use */
	FSC_VEC(uint32_t) names;  /* builder's string id + 1 of a text, 0 not asked yet */
	FSC_VEC(uint16_t) cats;	  /* builder's category + 1 of a text */
	struct fsc_map seq_map, track_map, own_map, counter_names;
	FSC_VEC(struct pft_seq *) seqs; /* owned */
	FSC_VEC(struct pft_track) tracks;
	struct fsc_map clock_map;
	FSC_VEC(struct pft_clock) all_clocks;
	uint32_t n_snapshots;
	FSC_VEC(uint32_t) shown;    /* clocks of all snapshots, in their order */
	FSC_VEC(size_t) shown_from; /* where those of a snapshot begin */
	FSC_VEC(uint32_t) suffixes; /* of counters of one name and process: the next number */
	uint64_t trace_clock;
	bool trace_clock_fixed, has_real;
	int64_t real_offset;
	FSC_VEC(struct pft_gpu_slice) gpu_slices;
	FSC_VEC(struct pft_link) links;
	struct fsc_buf args, scratch, gpus;
	bool args_open; /* args has its brace and a member */
	uint64_t machine;
	struct {
		struct pft_count utf8, zeros, no_ts, bad_ts, clock, state, interned, args_too_big,
			annotations, legacy, typed, thread_time, no_track, packets, samples, deep,
			counters_without_track, nonfinite;
	} n;
};

static inline void fsc_pft_note(struct pft *p, struct pft_count *c, uint64_t n)
{
	if (n && !c->n)
		c->first = p->base + p->at;
	c->n += n;
}

/* perfetto_read.c */
enum fsc_status fsc_pft_damaged(struct pft *p, const char *what);
/* perfetto_packet.c: one packet of the file; inner: it came out of a compressed one. */
enum fsc_status fsc_pft_packet(struct pft *p, struct fsc_cur c, bool inner);
enum fsc_status fsc_pft_unpack(struct pft *p, struct fsc_cur c, bool zstd);

/* perfetto_seq.c */
enum fsc_status fsc_pft_seq(struct pft_seq **out, struct pft *p, uint64_t id);
void fsc_pft_seq_free(struct pft_seq *s);
void fsc_pft_seq_clear(struct pft_seq *s);
enum fsc_status fsc_pft_defaults(struct pft *p, struct pft_seq *s, struct fsc_cur c);
enum fsc_status fsc_pft_intern(struct pft *p, struct pft_seq *s, struct fsc_cur c);
/* NULL when the id was never given; counted. */
const struct pft_entry *fsc_pft_entry(struct pft *p, const struct pft_seq *s, enum pft_dict d,
				      uint64_t iid);
enum fsc_status fsc_pft_text(uint32_t *id, struct pft *p, const struct fsc_cur *c);
/* A text as the builder's string and category. */
enum fsc_status fsc_pft_name(uint32_t *id, struct pft *p, uint32_t text);
enum fsc_status fsc_pft_cat(uint16_t *cat, struct pft *p, uint32_t text);

/* perfetto_clock.c */
enum fsc_status fsc_pft_snapshot(struct pft *p, struct pft_seq *s, struct fsc_cur c);
/* Time of the packet in trace time. Once for each packet: clocks count on. */
enum pft_time fsc_pft_time(int64_t *ns, struct pft *p, struct pft_seq *s,
			   const struct pft_packet *k);
void fsc_pft_clocks_free(struct pft *p);

/* perfetto_tracks.c */
enum fsc_status fsc_pft_describe(struct pft *p, struct fsc_cur c);
enum fsc_status fsc_pft_thread_descriptor(struct pft *p, struct pft_seq *s, struct fsc_cur c);
enum fsc_status fsc_pft_process_descriptor(struct pft *p, struct fsc_cur c);
enum fsc_status fsc_pft_process_tree(struct pft *p, struct fsc_cur c);
/* The track of that uuid, made when it is new. The pointer is good until the next one is made. */
enum fsc_status fsc_pft_track(uint32_t *track, struct pft *p, uint64_t uuid);
enum fsc_status fsc_pft_thread_track(uint32_t *track, struct pft *p, int64_t pid, int64_t tid);
/* The track of nestable async events of an id, within a scope (0: everywhere). */
enum fsc_status fsc_pft_async_track(uint32_t *track, struct pft *p, uint64_t id, uint64_t scope);
/* Its builder's track; name is that of the event, for a track that has none. */
enum fsc_status fsc_pft_built(uint32_t *built, struct pft *p, uint32_t track, uint32_t name);
/* Raw identity for GPU rows named by the track's events. */
enum fsc_status fsc_pft_ident(uint32_t *ident, struct pft *p, uint32_t track);
struct fsc_build_id fsc_pft_pid(struct pft *p, int64_t pid);
enum fsc_status fsc_pft_text_id(struct fsc_build_id *id, struct pft *p, const char *s);
/* After the last packet: tracks that were described after their first event, and names that came late. */
enum fsc_status fsc_pft_finish_tracks(struct pft *p);

/* perfetto_args.c: annotations and the like into p->args */
void fsc_pft_args_begin(struct pft *p);
void fsc_pft_args_annotation(struct pft *p, struct pft_seq *s, struct fsc_cur c);
void fsc_pft_args_compute(struct pft *p, struct pft_seq *s, struct fsc_cur c);
/* Member of this name: the caller writes its value to p->args next. */
void fsc_pft_args_key(struct pft *p, const char *key, size_t n);
enum fsc_status fsc_pft_args_end(uint32_t *record, struct pft *p);

/* perfetto_event.c, perfetto_gpu.c, perfetto_samples.c */
enum fsc_status fsc_pft_event(struct pft *p, struct pft_seq *s, const struct pft_packet *k);
enum fsc_status fsc_pft_gpu_stage(struct pft *p, struct pft_seq *s, const struct pft_packet *k);
enum fsc_status fsc_pft_gpu_counter(struct pft *p, struct pft_seq *s, const struct pft_packet *k);
enum fsc_status fsc_pft_counter_specs(struct pft *p, struct pft_seq *s, struct pft_entry *e,
				      struct fsc_cur c);
void fsc_pft_gpu_info(struct pft *p, struct fsc_cur c);
enum fsc_status fsc_pft_link(struct pft *p, struct fsc_cur c, uint32_t slice, int64_t ts);
enum fsc_status fsc_pft_finish_links(struct pft *p);
enum fsc_status fsc_pft_perf_sample(struct pft *p, struct pft_seq *s, const struct pft_packet *k);
enum fsc_status fsc_pft_stream_profile(struct pft *p, struct pft_seq *s,
				       const struct pft_packet *k);
enum fsc_status fsc_pft_stack_sample(struct pft *p, struct pft_seq *s, const struct pft_packet *k);
/* "callstack" of the args: interned, or written out. The text of its leaf, 0 when there is none. */
uint32_t fsc_pft_args_callstack(struct pft *p, struct pft_seq *s, uint64_t iid,
				struct fsc_cur inlined);

#endif
