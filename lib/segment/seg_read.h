/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reader of segment v1 files (docs/formats/segment.md): the immutable columnar form of one trace. A segment
 * is mmapped; its header and all its tables are checked when it is opened, blocks of slices, pyramids of rows
 * and args when they are first touched, so that a damaged block fails its own query with FSC_ECORRUPT and
 * nothing else. Opened segments are shared: ref/unref from any thread; all queries are const and safe from
 * any thread at once. Times are int64 ns relative to info.t_base_ns.
 *
 * A row is one (track, depth). Within a row slices are ordered by ts and never overlap. A slice id is its
 * index in row-major order over the whole segment; it is stable for one segment file only (a permalink is
 * track + ts + name).
 */
#ifndef FSC_SEGMENT_SEG_READ_H
#define FSC_SEGMENT_SEG_READ_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/losses.h"
#include "model/trace.h"

#define FSC_SEGMENT_VERSION 1

struct fsc_seg;

struct fsc_seg_info {
	int64_t t_base_ns, t_min_ns, t_max_ns;
	bool has_epoch;
	int64_t rank, world_size; /* -1 unknown */
	uint32_t n_slices;	  /* all slice records, instants included */
	uint64_t n_instants;
	uint64_t n_events; /* events read from the file, all phases */
	uint32_t n_flows, n_counters, n_tracks, n_rows, n_processes, n_strings;
	uint32_t n_launches, n_collectives, n_args;
	uint32_t n_devices; /* different devices of the stream tracks, the unknown one included */
	uint64_t file_bytes;
	uint32_t format, job, host, capture, name, meta_json; /* string ids */
	uint8_t blob_sha256[32]; /* of the bundle this came from; zero when unknown */
};

struct fsc_seg_process {
	int64_t pid;
	uint32_t pid_text, name, labels; /* string ids */
	int32_t sort_index;
};

struct fsc_seg_track {
	uint8_t kind; /* enum fsc_track_kind */
	uint32_t process;
	int64_t tid;
	uint32_t tid_text, name, unit; /* string ids */
	int32_t sort_index;
	int32_t device, context, stream; /* FSC_NO_ORDINAL unknown */
	uint32_t first_row, depths;	 /* rows [first_row, first_row + depths) */
	uint32_t first_counter, n_counters;
	uint64_t n_slices;
	int64_t t_min_ns, t_max_ns;
	int64_t busy_ns;   /* union over the track's slices with a duration */
	uint8_t main_kind; /* kind with most time in the track */
};

struct fsc_seg_slice {
	uint32_t id, row, track, name; /* name: string id */
	uint32_t cat;		       /* string id */
	uint32_t args;		       /* record, FSC_NO_ARGS when none */
	uint16_t depth;
	uint8_t kind, flags; /* enum fsc_kind, enum fsc_slice_flag */
	int64_t ts, dur;
	int64_t correlation; /* FSC_NO_CORRELATION when none */
};

/* fd is borrowed (the mapping outlives it). Expected: FSC_ECORRUPT, FSC_EUNSUPPORTED (other major). */
fsc_nodiscard enum fsc_status fsc_seg_open(struct fsc_seg **out, int fd, struct fsc_err *err);
struct fsc_seg *fsc_seg_ref(struct fsc_seg *s);
void fsc_seg_unref(struct fsc_seg *s); /* NULL is fine */
/* A view of the segment for one asker: soon after *stop is true each of its queries, and each analysis, ends with
 * FSC_ECANCELED (code "query_stopped"); the calls without an error then give what they have, so look at the flag
 * before such an answer is used. stop is borrowed. Takes the caller's reference, also when it fails. A further
 * fsc_seg_ref() of a view is one of the segment itself, without the flag: what is kept may outlive the asker. */
fsc_nodiscard enum fsc_status fsc_seg_view(struct fsc_seg **out, struct fsc_seg *s,
					   const atomic_bool *stop, struct fsc_err *err);
/* Checks every checksum and invariant of the file. Reads all of it. */
fsc_nodiscard enum fsc_status fsc_seg_verify(const struct fsc_seg *s, struct fsc_err *err);
/* The same in little memory: pyramids are checked for harm, not compared with their slices. */
fsc_nodiscard enum fsc_status fsc_seg_check(const struct fsc_seg *s, struct fsc_err *err);

const struct fsc_seg_info *fsc_seg_info(const struct fsc_seg *s);
const struct fsc_losses *fsc_seg_losses(const struct fsc_seg *s);
/* Index must be below the count in info. Borrowed. */
const struct fsc_seg_track *fsc_seg_track(const struct fsc_seg *s, uint32_t track);
const struct fsc_seg_process *fsc_seg_process(const struct fsc_seg *s, uint32_t process);
const char *fsc_seg_str(const struct fsc_seg *s, uint32_t id,
			size_t *n); /* NUL-terminated; n may be NULL */
uint32_t fsc_seg_row_slices(const struct fsc_seg *s, uint32_t row,
			    uint32_t *first); /* count; first slice id */

/* One slice by id: FSC_ENOTFOUND past the end. */
fsc_nodiscard enum fsc_status fsc_seg_slice(struct fsc_seg_slice *out, const struct fsc_seg *s,
					    uint32_t id, struct fsc_err *err);
/* Innermost slice of the same track that contains this one and has a smaller depth: FSC_ENOTFOUND when none. */
fsc_nodiscard enum fsc_status fsc_seg_parent(struct fsc_seg_slice *out, const struct fsc_seg *s,
					     const struct fsc_seg_slice *of, struct fsc_err *err);
/* The permalink form: first slice of the track that starts at ts and has this name. */
fsc_nodiscard enum fsc_status fsc_seg_find(struct fsc_seg_slice *out, const struct fsc_seg *s,
					   uint32_t track, int64_t ts, const char *name,
					   struct fsc_err *err);

/* The only slice of all tracks that starts at ts and has this name, for a permalink whose track has another number
 * now. FSC_ENOTFOUND "no_such_slice" when there is none, "ambiguous_slice" when there are several. Looks into
 * every row. */
fsc_nodiscard enum fsc_status fsc_seg_find_any(struct fsc_seg_slice *out, const struct fsc_seg *s,
					       int64_t ts, const char *name, struct fsc_err *err);

/* Slices of one row that intersect [t0, t1), in ts order (a slice that starts before t0 included; an instant
 * or zero-length slice at t counts as intersecting when t0 <= t < t1). Fast bulk path: decodes blocks. */
struct fsc_seg_iter {
	const struct fsc_seg *seg;
	uint32_t row, next, end, block; /* internal */
	int64_t t0, t1;
	void *scratch; /* owned; internal */
};
fsc_nodiscard enum fsc_status fsc_seg_iter_init(struct fsc_seg_iter *it, const struct fsc_seg *s,
						uint32_t row, int64_t t0, int64_t t1,
						struct fsc_err *err);
fsc_nodiscard enum fsc_status fsc_seg_iter_next(struct fsc_seg_iter *it, struct fsc_seg_slice *out,
						struct fsc_err *err); /* FSC_END after the last */
void fsc_seg_iter_fini(struct fsc_seg_iter *it);

/* Canonical JSON object of an args record, appended to out. */
fsc_nodiscard enum fsc_status fsc_seg_args(struct fsc_buf *out, const struct fsc_seg *s,
					   uint32_t record, struct fsc_err *err);

/* The same for many records: keeps the last block inflated, so that records asked in order cost one
 * inflate a block. The text is borrowed until the next call. Owner thread; start zeroed, end with fini. */
struct fsc_seg_args_cache {
	uint8_t *raw; /* owned; internal, as are the others */
	uint32_t block, next_record, next_at;
};
fsc_nodiscard enum fsc_status fsc_seg_args_get(const char **json, size_t *n,
					       struct fsc_seg_args_cache *c,
					       const struct fsc_seg *s, uint32_t record,
					       struct fsc_err *err);
void fsc_seg_args_cache_fini(struct fsc_seg_args_cache *c);

/* Typed launch / collective fields of a slice; string ids are the segment's. FSC_ENOTFOUND when none. */
fsc_nodiscard enum fsc_status fsc_seg_launch(struct fsc_launch *out, const struct fsc_seg *s,
					     uint32_t slice);
fsc_nodiscard enum fsc_status fsc_seg_collective(struct fsc_collective *out,
						 const struct fsc_seg *s, uint32_t slice);
/* Whole tables, ordered by slice, for analyses. Borrowed. */
const struct fsc_launch *fsc_seg_launches(const struct fsc_seg *s, uint32_t *n);
const struct fsc_collective *fsc_seg_collectives(const struct fsc_seg *s, uint32_t *n);

/* Launch <-> GPU work by correlation within the process-independent trace: other ends of a slice.
 * For a GPU slice: the runtime/driver calls with its correlation (1 in a sound trace). For a call: its GPU
 * work. Up to cap ids are written, the full number is returned. 0 for a slice that fsc_seg_slice cannot read. */
uint32_t fsc_seg_correlated(const struct fsc_seg *s, uint32_t slice, uint32_t *ids, uint32_t cap);

/* Flows that start or end at a slice, and flows with an end in [t0, t1). Up to cap, full number returned. */
uint32_t fsc_seg_flows_of(const struct fsc_seg *s, uint32_t slice, struct fsc_flow *out,
			  uint32_t cap);
const struct fsc_flow *fsc_seg_flows(const struct fsc_seg *s,
				     uint32_t *n); /* all, ordered by (from, to) */

const struct fsc_counter_sample *fsc_seg_counters(const struct fsc_seg *s, uint32_t track,
						  uint32_t *n);

#endif
