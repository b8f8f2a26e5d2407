/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of a segment v1 file as C structs (docs/formats/segment.md explains each field). Little-endian,
 * every struct is its own on-disk image: sizes and offsets are fixed by the assertions at the end.
 * Private to lib/segment.
 */
#ifndef FSC_SEGMENT_LAYOUT_H
#define FSC_SEGMENT_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "model/trace.h"
#include "segment/seg_read.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "segments are mapped as they are: a little-endian machine is needed"
#endif

#define FSC_SEG_MAGIC "FSCSEG\r\n"
#define FSC_SEG_MAJOR 1
#define FSC_SEG_MINOR 0
#define FSC_SEG_ENDIAN 0x01020304u
#define FSC_SEG_WRITER_BUILD 1u
#define FSC_SEG_HEADER_BYTES 4096u
#define FSC_SEG_ALIGN 64u
#define FSC_SEG_MAX_SECTIONS 64u

#define FSC_SEG_BLOCK 4096u /* slices in a block: the unit of checksums */
#define FSC_SEG_GROUP 16u   /* slices in a group: the base of the pyramid */
#define FSC_SEG_FAN 4u	    /* children of a pyramid node */
#define FSC_SEG_FAN_BITS 2u
#define FSC_SEG_LOD_MIN 64u /* rows with fewer slices have no pyramid */
#define FSC_SEG_MAX_LEVELS 16u
#define FSC_SEG_TIME_MAX (INT64_C(1) << 61) /* bound of |ts| and of ts + dur */

#define FSC_SEG_ESCAPED UINT32_MAX /* column value that stands for an entry of the escape list */
#define FSC_SEG_NO_OFFSET UINT64_MAX

/* Section types. Never renumber. */
enum fsc_seg_section_type {
	FSC_SEG_STRING_OFFSETS = 1,
	FSC_SEG_STRING_BYTES = 2,
	FSC_SEG_PROCESSES = 3,
	FSC_SEG_TRACKS = 4,
	FSC_SEG_ROWS = 5,
	FSC_SEG_BLOCKS = 6,
	FSC_SEG_CLASSES = 7,
	FSC_SEG_COL_TS = 8,
	FSC_SEG_COL_DUR = 9,
	FSC_SEG_COL_CLASS = 10,
	FSC_SEG_COL_CORRELATION = 11,
	FSC_SEG_COL_ARGS = 12,
	FSC_SEG_ESCAPES = 13,
	FSC_SEG_LOD = 14,
	FSC_SEG_FLOWS = 15,
	FSC_SEG_FLOWS_BY_TO = 16,
	FSC_SEG_COUNTERS = 17,
	FSC_SEG_LAUNCHES = 18,
	FSC_SEG_COLLECTIVES = 19,
	FSC_SEG_CORR_GPU = 20,
	FSC_SEG_CORR_CALL = 21,
	FSC_SEG_LOSSES = 22,
	FSC_SEG_ARGS_BLOCKS = 23,
	FSC_SEG_ARGS_DATA = 24,
	FSC_SEG_COVER = 25,
	FSC_SEG_COVER_SUMS = 26,
	FSC_SEG_N_TYPES
};

#define FSC_SEG_FLAG_EPOCH 1u

struct fsc_seg_d_header {
	char magic[8];
	uint16_t major, minor;
	uint32_t endian;
	uint32_t header_crc; /* of all FSC_SEG_HEADER_BYTES with this field zero */
	uint32_t n_sections;
	uint64_t file_bytes;
	uint64_t table_offset;
	uint8_t blob_sha256[32];
	int64_t t_base_ns, t_min_ns, t_max_ns;
	uint64_t n_slices, n_instants, n_events;
	uint32_t n_tracks, n_rows, n_processes, n_strings;
	uint32_t n_classes, n_blocks, n_flows, n_counters;
	uint32_t n_launches, n_collectives, n_args, n_args_blocks;
	uint32_t n_escapes, n_losses, n_covers, table_crc;
	int64_t rank, world_size;
	uint32_t format, job, host, capture, name, meta_json; /* string ids */
	uint32_t flags, writer_build;
	uint64_t lod_bytes, args_bytes;
};

struct fsc_seg_d_section {
	uint32_t type, flags, codec, elem_bytes;
	uint64_t offset, stored_bytes, raw_bytes;
	uint32_t crc, track;
	uint64_t reserved[2];
};

struct fsc_seg_d_process {
	int64_t pid;
	uint32_t pid_text, name, labels;
	int32_t sort_index;
};

struct fsc_seg_d_track {
	int64_t tid;
	int64_t t_min_ns, t_max_ns, busy_ns;
	uint64_t n_slices;
	uint32_t process, tid_text, name, unit;
	int32_t sort_index, device, context, stream;
	uint32_t first_row, depths, first_counter, n_counters;
	uint8_t kind, main_kind;
	uint8_t zero[6];
};

struct fsc_seg_d_row {
	int64_t first_ts, last_end;
	uint64_t lod_offset; /* in the LOD section, FSC_SEG_NO_OFFSET without a pyramid */
	uint32_t track;
	uint16_t depth, zero;
	uint32_t first_slice, n;
	uint32_t first_block, n_blocks;
	uint32_t lod_bytes, lod_crc;
};

struct fsc_seg_d_block {
	int64_t first_ts, last_end;
	uint64_t class_mask; /* fsc_seg_class_bit() of each class in the block */
	uint32_t first_slice, n, row;
	uint32_t first_escape, n_escapes;
	uint32_t crc_core; /* ts, dur, class bytes and escapes of the block */
	uint32_t crc_ext;  /* correlation and args bytes of the block */
	uint32_t zero;
};

struct fsc_seg_d_class {
	uint32_t name, cat; /* string ids */
	uint8_t kind, flags;
	uint16_t zero;
};

enum fsc_seg_column { FSC_SEG_ESC_TS = 0, FSC_SEG_ESC_DUR = 1, FSC_SEG_ESC_CORRELATION = 2 };

struct fsc_seg_d_escape {
	uint32_t slice, column;
	uint64_t value;
};

/* Node of the pyramid: what the slices of a group (level 0) or of 4 nodes below are. */
struct fsc_seg_node {
	uint32_t cls; /* class with most time */
	float dom;    /* its time in ns */
	uint32_t rep; /* longest slice, relative to the row */
	float max;    /* its duration in ns, rounded up */
};

struct fsc_seg_d_corr {
	int64_t correlation;
	uint32_t slice, zero;
};
struct fsc_seg_d_corr32 {
	uint32_t correlation, slice;
};

struct fsc_seg_d_args_block {
	uint64_t offset;
	uint32_t first_record, n_records;
	uint32_t raw_bytes, stored_bytes;
	uint32_t crc, zero;
};

/* Covered time of one kind group of one device: sums at multiples of 2^shift ns, or, where they are few,
 * the intervals themselves (pairs of start and end). */
struct fsc_seg_d_cover {
	int64_t first_bucket; /* grid: boundary i lies at (first_bucket + i) << shift */
	uint32_t first_sum, n_sums;
	int32_t device;
	uint8_t group, shift, form, zero;
};
#define FSC_SEG_COVER_GROUPS 4u
#define FSC_SEG_COVER_GRID 0
#define FSC_SEG_COVER_INTERVALS 1

#define FSC_SEG_SIZE_IS(type, bytes) _Static_assert(sizeof(type) == (bytes), #type " is on disk")
FSC_SEG_SIZE_IS(struct fsc_seg_d_header, 248);
FSC_SEG_SIZE_IS(struct fsc_seg_d_section, 64);
FSC_SEG_SIZE_IS(struct fsc_seg_d_process, 24);
FSC_SEG_SIZE_IS(struct fsc_seg_d_track, 96);
FSC_SEG_SIZE_IS(struct fsc_seg_d_row, 56);
FSC_SEG_SIZE_IS(struct fsc_seg_d_block, 56);
FSC_SEG_SIZE_IS(struct fsc_seg_d_class, 12);
FSC_SEG_SIZE_IS(struct fsc_seg_d_escape, 16);
FSC_SEG_SIZE_IS(struct fsc_seg_node, 16);
FSC_SEG_SIZE_IS(struct fsc_seg_d_corr, 16);
FSC_SEG_SIZE_IS(struct fsc_seg_d_corr32, 8);
FSC_SEG_SIZE_IS(struct fsc_seg_d_args_block, 32);
FSC_SEG_SIZE_IS(struct fsc_seg_d_cover, 24);
/* Served as they lie in the file: a change of these structs is a new format version. */
FSC_SEG_SIZE_IS(struct fsc_seg_process, 24);
FSC_SEG_SIZE_IS(struct fsc_flow, 16);
FSC_SEG_SIZE_IS(struct fsc_counter_sample, 16);
FSC_SEG_SIZE_IS(struct fsc_launch, 96);
FSC_SEG_SIZE_IS(struct fsc_collective, 72);
FSC_SEG_SIZE_IS(struct fsc_loss, 48);
_Static_assert(offsetof(struct fsc_launch, queued_ns) == 40, "layout of a launch");
_Static_assert(offsetof(struct fsc_launch, graph_id) == 64, "layout of a launch");
_Static_assert(offsetof(struct fsc_launch, bytes) == 80, "layout of a launch");
_Static_assert(offsetof(struct fsc_collective, in_nelems) == 24, "layout of a collective");
_Static_assert(offsetof(struct fsc_collective, seq) == 56, "layout of a collective");

static inline uint64_t fsc_seg_class_bit(uint32_t cls)
{
	return UINT64_C(1) << ((cls * 0x9E3779B1u) >> 26);
}

/* Kind group of the minimap: compute, comm, copies, other; FSC_SEG_COVER_GROUPS for anything else. */
static inline uint32_t fsc_seg_cover_group(uint8_t kind)
{
	switch (kind) {
	case FSC_KIND_COMPUTE:
		return 0;
	case FSC_KIND_COMM:
		return 1;
	case FSC_KIND_MEMCPY:
	case FSC_KIND_MEMSET:
		return 2;
	case FSC_KIND_GPU_OTHER:
		return 3;
	default:
		return FSC_SEG_COVER_GROUPS;
	}
}

/* Host calls that can launch GPU work or wait for it: the other side of a correlation. */
static inline bool fsc_seg_is_call(uint8_t kind, uint8_t track_kind)
{
	return kind == FSC_KIND_RUNTIME ||
	       (kind == FSC_KIND_SYNC && track_kind == FSC_TRACK_THREAD);
}

#endif
