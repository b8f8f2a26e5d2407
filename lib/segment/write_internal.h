/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the segment writer; private to lib/segment. Owner thread. */
#ifndef FSC_SEGMENT_WRITE_INTERNAL_H
#define FSC_SEGMENT_WRITE_INTERNAL_H

#include "base/err.h"
#include "base/vec.h"
#include "segment/layout.h"
#include "segment/seg_write.h"

/* Appends sections to the file: begin, add, end. Buffered; errors stick and come out of end. */
struct fsc_seg_out {
	int fd; /* borrowed */
	uint64_t off, flushed;
	uint8_t *buf; /* owned */
	size_t n;
	struct fsc_seg_d_section sec[FSC_SEG_MAX_SECTIONS];
	uint32_t n_sec;
	enum fsc_status failed;
	struct fsc_err *err; /* borrowed */
};
void fsc_seg_out_init(struct fsc_seg_out *o, int fd, struct fsc_err *err);
void fsc_seg_out_fini(struct fsc_seg_out *o);
void fsc_seg_out_begin(struct fsc_seg_out *o, enum fsc_seg_section_type type, uint32_t elem_bytes);
void fsc_seg_out_add(struct fsc_seg_out *o, const void *p, size_t n);
fsc_nodiscard enum fsc_status fsc_seg_out_end(struct fsc_seg_out *o);
/* A section made of one array. */
fsc_nodiscard enum fsc_status fsc_seg_out_array(struct fsc_seg_out *o,
						enum fsc_seg_section_type type, uint32_t elem_bytes,
						const void *p, uint64_t n);
/* Writes what is buffered. */
fsc_nodiscard enum fsc_status fsc_seg_out_flush(struct fsc_seg_out *o);

struct fsc_seg_writer {
	const struct fsc_trace *t; /* borrowed */
	struct fsc_seg_out out;
	struct fsc_seg_d_header h;
	uint32_t *cls; /* owned; class of each slice */
	FSC_VEC(struct fsc_seg_d_class) classes;
	FSC_VEC(struct fsc_seg_d_track) tracks;
	FSC_VEC(struct fsc_seg_d_row) rows;
	FSC_VEC(struct fsc_seg_d_block) blocks;
	FSC_VEC(struct fsc_seg_d_escape) escapes;
	bool any_correlation, any_args;
};

/* Each fills its part of the writer's tables from the trace, or writes sections from them. */
fsc_nodiscard enum fsc_status fsc_seg_w_classes(struct fsc_seg_writer *w, struct fsc_err *err);
fsc_nodiscard enum fsc_status fsc_seg_w_rows(struct fsc_seg_writer *w, struct fsc_err *err);
fsc_nodiscard enum fsc_status fsc_seg_w_blocks(struct fsc_seg_writer *w, struct fsc_err *err);
fsc_nodiscard enum fsc_status fsc_seg_w_columns(struct fsc_seg_writer *w, struct fsc_err *err);
fsc_nodiscard enum fsc_status fsc_seg_w_lod(struct fsc_seg_writer *w, struct fsc_err *err);
fsc_nodiscard enum fsc_status fsc_seg_w_track_sums(struct fsc_seg_writer *w, struct fsc_err *err);
fsc_nodiscard enum fsc_status fsc_seg_w_cover(struct fsc_seg_writer *w, struct fsc_err *err);
fsc_nodiscard enum fsc_status fsc_seg_w_tables(struct fsc_seg_writer *w, struct fsc_err *err);
fsc_nodiscard enum fsc_status fsc_seg_w_indexes(struct fsc_seg_writer *w, struct fsc_err *err);

#endif
