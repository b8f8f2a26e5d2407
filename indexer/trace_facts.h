/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One finished trace to its segment and its facts: TRACE, SEGMENT_WANTED, rows, TRACE_END. Owner thread.
 */
#ifndef FSC_INDEXER_TRACE_FACTS_H
#define FSC_INDEXER_TRACE_FACTS_H

#include <stdbool.h>

#include "base/err.h"
#include "indexer/fact_stream.h"
#include "model/trace.h"

struct fsc_trace_facts {
	const char *member; /* path in the bundle, or the file's name */
	const char *name;   /* what people see */
	int64_t slot;
	const char *disagreements;  /* JSON array, or "" */
	const uint8_t *blob_sha256; /* 32 bytes */
};

/*
 * Takes the trace, also on failure. *open is true when TRACE was put and TRACE_END was not, so that the caller
 * has to withdraw it. Expected errors: FSC_EIO (parent gone), FSC_EFULL (segment), FSC_ENOMEM.
 */
fsc_nodiscard enum fsc_status fsc_trace_facts_put(struct fsc_fact_stream *out, bool *open,
						  struct fsc_trace *t,
						  const struct fsc_trace_facts *about,
						  struct fsc_err *err);

#endif
