/* SPDX-License-Identifier: Apache-2.0 */
/* State of the builder, shared by build*.c only. */
#ifndef FSC_MODEL_BUILD_INT_H
#define FSC_MODEL_BUILD_INT_H

#include "base/map.h"
#include "model/build.h"

/* A raw (pid, tid) pair. */
struct fsc_build_ident {
	struct fsc_build_id tid;
	uint32_t process;
	uint32_t name;
	int32_t sort_index;
	bool has_sort;
	uint32_t thread;      /* its host track, FSC_NO_TRACK before the first event */
	uint32_t last_stream; /* cache of fsc_build_stream */
};

struct fsc_build_proc {
	struct fsc_build_id pid;
	struct fsc_process p;
};

/* What a track was made from; parallel to trace.tracks. */
struct fsc_build_track {
	uint32_t ident; /* FSC_NO_TRACK for async and counter tracks */
	uint8_t layer;
};

/* A slice whose begin and end both have args. */
struct fsc_build_args_pair {
	uint32_t slice, begin, end; /* the latter two are args records */
	uint32_t end_n;		    /* build_merge.c: bytes of the end's */
};

/* Begin or end, waiting for its other half. */
struct fsc_build_half {
	int64_t ts;
	uint32_t track, name;
	uint32_t slice; /* FSC_NO_SLICE: an end */
	uint32_t args;	/* of an end */
	uint16_t cat;
	int64_t at; /* byte of the file, -1 not known */
};

struct fsc_build_flow_ev {
	int64_t ts;
	uint64_t id;
	uint32_t ident, slice, name, cat;
	uint32_t next; /* next event of the same key, in file order */
	uint8_t phase;
	uint8_t exact; /* bound to a slice that starts at ts */
};

struct fsc_build_counter_ev {
	int64_t ts;
	double value;
	uint32_t track;
};

struct fsc_build {
	struct fsc_trace *t; /* owned until finish */
	FSC_VEC(struct fsc_build_proc) procs;
	FSC_VEC(struct fsc_build_ident) idents;
	FSC_VEC(struct fsc_build_track) tracks;
	FSC_VEC(struct fsc_build_half) halves;
	FSC_VEC(struct fsc_build_args_pair) args_pairs;
	FSC_VEC(struct fsc_build_flow_ev) flows;
	FSC_VEC(struct fsc_build_counter_ev) counters;
	struct fsc_map proc_map, ident_map, track_map, cat_map;
	int64_t base_time;
	bool has_base;
	int64_t open_at; /* byte of the first begin that nothing ends, -1 not known */
	int64_t (*where)(const void *ctx);
	const void *where_ctx; /* borrowed */
};

int64_t fsc_build_place(const struct fsc_build *b); /* byte the reader is at, -1 not known */

/* build_match.c: gives every begin its duration; open ones keep FSC_BUILD_PENDING. */
fsc_nodiscard enum fsc_status fsc_build_match(struct fsc_build *b);
/* build_merge.c: one args record of those of a begin and its end. */
fsc_nodiscard enum fsc_status fsc_build_merge_args(struct fsc_build *b);
/* build_time.c: finds t_base, drops implausible slices (track = FSC_NO_TRACK), closes open ones, makes times relative. */
fsc_nodiscard enum fsc_status fsc_build_times(struct fsc_build *b);
/* build_tracks.c: keeps tracks in use, in display order; renumbers them everywhere. */
fsc_nodiscard enum fsc_status fsc_build_order_tracks(struct fsc_build *b);
/* build_rows.c: depth of every slice, order of all, flows bound. *at is owned by the caller:
 * at[file number] = final number, FSC_NO_SLICE when dropped. */
fsc_nodiscard enum fsc_status fsc_build_rows(uint32_t **at, struct fsc_build *b);
/* Counting sort of [0, n) by key: perm, and in first (n_keys + 2 items) the starts of the groups, the last being
 * the end. Keys of UINT32_MAX are left out. */
void fsc_build_group(uint32_t *perm, uint32_t *first, uint32_t n_keys, const uint32_t *key,
		     size_t n);

/* build_calls.c: host calls by correlation, made when first asked for. */
struct fsc_build_calls {
	uint32_t *v; /* owned; slices, by (correlation, start) */
	uint32_t n;
	bool made;
};
/* *call: the host call that launched the GPU slice, final numbers; of several with its correlation the last that
 * began before it, or the first. FSC_NO_SLICE when there is none. */
fsc_nodiscard enum fsc_status fsc_build_call_of(uint32_t *call, struct fsc_build_calls *c,
						const struct fsc_trace *t, uint32_t gpu);

/* build_flows.c: pairs the bound flow events. */
fsc_nodiscard enum fsc_status fsc_build_pair_flows(struct fsc_build *b, const uint32_t *at);

#endif
