/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encoder and decoder of the fact stream (layout and rules: facts/fact.h). Both are made from the field
 * lists there. The decoder takes bytes in any portions, checks every frame (limits, UTF-8 without NUL, counts
 * not negative, order of frames) and never looks ahead: what it gives out is valid. Caller-owned; owner thread.
 */
#ifndef FSC_FACTS_FACT_CODEC_H
#define FSC_FACTS_FACT_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"
#include "facts/fact.h"

#define FSC_FACT_HEADER_BYTES 8
/* Over all frames of one bundle. */
#define FSC_FACT_MAX_STREAM_BYTES (1ULL << 30)

/* Appends one frame. NULL strings are written as "". FSC_ELIMIT when the payload passes FSC_MAX_FACT_FRAME
 * (out is then as before), FSC_ENOMEM, FSC_EINVAL for an unknown type. */
fsc_nodiscard enum fsc_status fsc_fact_encode(struct fsc_buf *out, const struct fsc_fact *f);

/* Name of a type ("trace", "segment_wanted"), or "unknown". */
const char *fsc_fact_type_name(enum fsc_fact_type type);

struct fsc_fact_decoder {
	struct fsc_buf in; /* owned; bytes not yet given out start at pos */
	size_t pos;
	uint64_t total; /* bytes taken so far */
	bool in_trace, have_segment, ended;
};

void fsc_fact_decoder_init(struct fsc_fact_decoder *d);
void fsc_fact_decoder_fini(struct fsc_fact_decoder *d);
/* Takes n more bytes of the stream. Invalidates strings given out. FSC_ELIMIT past the stream's limit. */
fsc_nodiscard enum fsc_status fsc_fact_decoder_put(struct fsc_fact_decoder *d, const void *p,
						   size_t n, struct fsc_err *err);
/* Next whole frame: FSC_OK, FSC_AGAIN when bytes are missing, FSC_EPARSE (code "indexer_protocol") for a
 * frame that breaks the rules. Strings are borrowed until the next call of put or next. */
fsc_nodiscard enum fsc_status fsc_fact_decoder_next(struct fsc_fact *out,
						    struct fsc_fact_decoder *d,
						    struct fsc_err *err);
/* At the end of the stream: FSC_EPARSE unless END was the last frame and nothing follows it. */
fsc_nodiscard enum fsc_status fsc_fact_decoder_finish(const struct fsc_fact_decoder *d,
						      struct fsc_err *err);

#endif
