/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts: the rows that the sandboxed indexer derives from a bundle and hands to the worker as a stream of
 * length-prefixed frames. Rows carry names, never ids: the store interns. Plain data; strings are
 * NUL-terminated UTF-8, borrowed from the decoder until the next frame.
 *
 * Frame: u32 payload bytes (<= FSC_MAX_FACT_FRAME), u16 type, u16 zero, payload. Payload: the fields of the
 * struct in the order of FSC_FACT_FIELDS_*; i64/u64/i32 as zigzag LEB128, str as LEB128 length + bytes.
 * fact_codec.[ch] makes encoder, decoder and validation from these lists, so that they cannot differ.
 * Order in a stream: (PROGRESS | MEMBER | TRACE (LOSS|CATEGORY|DEVICE|IDLE|KERNEL|STEP|SEGMENT_WANTED|PROGRESS)*
 * TRACE_END)* END.
 * A MEMBER "failed" in place of TRACE_END withdraws the open trace: nothing of it is to be kept.
 * SEGMENT_WANTED asks for a segment descriptor, exactly once between TRACE and TRACE_END (indexer_client.h).
 * -1 stands for unknown in rank, world_size, device, stream and offset. IDLE sums can be negative (kernels that
 * overlap on one stream). END.status is an enum fsc_status.
 * DEVICE and IDLE rows come for FSC_SCOPE_ALL and, when the trace has two or more steps, for
 * FSC_SCOPE_NO_LAST too (with fewer steps both scopes are the same); KERNEL rows only for FSC_SCOPE_ALL.
 */
#ifndef FSC_FACTS_FACT_H
#define FSC_FACTS_FACT_H

#include <stdint.h>

/*
 * Rows (CATEGORY, DEVICE, IDLE, KERNEL, STEP) and bytes of their names that a stream may have: publishing is one
 * transaction, in which nobody else writes. The indexer leaves out the rest, least first, and says how many by a LOSS
 * for each kind; the worker refuses more. Analyses are computed from the segment and miss nothing.
 */
#define FSC_FACT_ROWS_KIND 10000u    /* of one kind and scope, for a trace */
#define FSC_FACT_ROWS_STREAM 250000u /* of all kinds, for a bundle */
#define FSC_FACT_NAMES_STREAM (64u << 20)

/* Which steps a derived row covers. */
enum fsc_scope { FSC_SCOPE_ALL = 0, FSC_SCOPE_NO_LAST = 1 };

/* I = int64_t, 0 or more; N = int64_t of any sign; S = const char *. X(kind, name) */
/* clang-format off */
#define FSC_FACT_FIELDS_TRACE(X)                                                                        \
	X(S, member) /* archive member or file name, as data */                                         \
	X(I, slot)   /* 0, or the n-th trace inside that member */                                      \
	X(S, format) X(N, rank) X(N, world_size) X(S, job) X(S, host) X(S, capture) X(S, name)          \
	X(N, t_base_ns) X(I, has_epoch) X(N, t_min_ns) X(N, t_max_ns) /* of slices with a duration */     \
	X(I, slices) X(I, instants) X(I, flows) X(I, counters) X(I, tracks) X(I, events)                \
	X(I, launch_pairs) X(I, launch_none) X(I, launch_ambiguous) X(S, meta_json)                      \
	X(S, source_disagreements) /* "" or JSON array of {"field","used","used_from","other","other_from"} */
#define FSC_FACT_FIELDS_LOSS(X) X(S, code) X(I, count) X(N, first_offset)
#define FSC_FACT_FIELDS_CATEGORY(X) X(S, name) X(I, count) X(I, sum_ns)
#define FSC_FACT_FIELDS_DEVICE(X)                                                                       \
	X(I, scope) X(N, device) X(I, window_ns) X(I, busy_ns) X(I, idle_ns) X(I, compute_ns) X(I, comm_ns) \
	X(I, memcpy_ns) X(I, exposed_comm_ns) X(I, exposed_memcpy_ns) X(I, comm_overlap_ns) X(I, unclassified_ns)
#define FSC_FACT_FIELDS_IDLE(X)                                                                         \
	X(I, scope) X(N, device) X(N, stream) X(N, host_wait_ns) X(N, kernel_wait_ns) X(N, other_ns)
#define FSC_FACT_FIELDS_KERNEL(X)                                                                       \
	X(I, scope) X(S, name) X(S, kind) X(I, count) X(I, sum_ns) X(I, min_ns) X(I, max_ns)               \
	X(I, first_track) X(N, first_ts_ns) X(I, first_slice) /* its first occurrence, to lead to the timeline */
#define FSC_FACT_FIELDS_STEP(X) X(I, idx) X(S, name) X(N, t0_ns) X(I, dur_ns) X(I, busy_ns) X(I, idle_ns)
#define FSC_FACT_FIELDS_SEGMENT_WANTED(X) X(I, bytes_hint)
#define FSC_FACT_FIELDS_TRACE_END(X) X(I, segment_bytes) X(I, segment_version) X(I, analysis_version)
/* outcome: "failed" (a trace that could not be read) or "skipped" (not a trace; reason says why) */
#define FSC_FACT_FIELDS_MEMBER(X) X(S, member) X(S, outcome) X(S, code) X(S, message) X(N, offset)
#define FSC_FACT_FIELDS_PROGRESS(X) X(S, stage) X(S, member) X(I, done) X(I, total) X(I, events)
/* status 0: whole bundle was walked. Otherwise the bundle itself is broken (code, message, file, offset). */
#define FSC_FACT_FIELDS_END(X) X(N, status) X(S, code) X(S, message) X(S, file) X(N, offset) X(S, manifest_json)

#define FSC_FACT_TYPES(X)                                                                               \
	X(1, TRACE, trace) X(2, LOSS, loss) X(3, CATEGORY, category) X(4, DEVICE, device) X(5, IDLE, idle) \
	X(6, KERNEL, kernel) X(7, STEP, step) X(8, SEGMENT_WANTED, segment_wanted) X(9, TRACE_END, trace_end) \
	X(10, MEMBER, member) X(11, PROGRESS, progress) X(12, END, end)

/* clang-format on */

#define FSC_FACT_I(name) int64_t name;
#define FSC_FACT_N(name) int64_t name;
#define FSC_FACT_S(name) const char *name;
#define FSC_FACT_FIELD(kind, name) FSC_FACT_##kind(name)
#define FSC_FACT_STRUCT(num, UPPER, lower)              \
	struct fsc_fact_##lower {                       \
		FSC_FACT_FIELDS_##UPPER(FSC_FACT_FIELD) \
	};
FSC_FACT_TYPES(FSC_FACT_STRUCT)

#define FSC_FACT_ENUM(num, UPPER, lower) FSC_FACT_##UPPER = num,
enum fsc_fact_type { FSC_FACT_TYPES(FSC_FACT_ENUM) };

#define FSC_FACT_MEMBER_OF_UNION(num, UPPER, lower) struct fsc_fact_##lower lower;
struct fsc_fact {
	enum fsc_fact_type type;
	union {
		FSC_FACT_TYPES(FSC_FACT_MEMBER_OF_UNION)
	} u;
};

#endif
