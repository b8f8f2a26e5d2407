/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The child's end of the fact stream: frames are collected and written to the socket, text is made fit for
 * them, segment descriptors are received. Once a write has failed, the parent is gone or has had enough: every
 * later call fails, and the process has nothing left to do. Owner thread.
 */
#ifndef FSC_INDEXER_FACT_STREAM_H
#define FSC_INDEXER_FACT_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"
#include "facts/fact.h"

/* Longest text that a frame carries, but for meta_json and manifest_json. Cut at a character. */
#define FSC_FACT_TEXT_MAX 16384u
#define FSC_FACT_JSON_MAX (900u * 1024u)

struct fsc_fact_stream {
	int fd;		       /* borrowed */
	struct fsc_buf out;    /* owned */
	struct fsc_arena text; /* owned; repaired text, until the frame is written */
	uint64_t n_cut; /* texts that were cut or repaired since the last fsc_fact_stream_taken */
	uint64_t n_rows,
		row_text; /* rows put, and bytes of their names, see FSC_FACT_ROWS_STREAM */
	bool broken;
};

void fsc_fact_stream_init(struct fsc_fact_stream *s, int fd);
void fsc_fact_stream_fini(struct fsc_fact_stream *s);

/* Text as a frame takes it: valid UTF-8 without NUL and not too long. Borrowed until the next put. */
const char *fsc_fact_stream_text(struct fsc_fact_stream *s, const char *text, size_t n);

/* FSC_EIO when the parent is gone; FSC_EBUG for a frame that does not fit. */
fsc_nodiscard enum fsc_status fsc_fact_stream_put(struct fsc_fact_stream *s,
						  const struct fsc_fact *f, struct fsc_err *err);
fsc_nodiscard enum fsc_status fsc_fact_stream_flush(struct fsc_fact_stream *s, struct fsc_err *err);
/* Asks for a descriptor for the segment of the open trace: SEGMENT_WANTED out, one descriptor in. */
fsc_nodiscard enum fsc_status fsc_fact_stream_segment(int *fd, struct fsc_fact_stream *s,
						      int64_t bytes_hint, struct fsc_err *err);

#endif
