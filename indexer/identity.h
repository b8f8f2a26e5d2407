/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who a trace is of: job, host, capture, rank, world size. Each comes from the first of these that knows it:
 * what the upload said, the manifest, the trace itself, the file's name; else it is unknown. A source that
 * knows something else is counted and told, never silently dropped. (An archive's upload cannot say the rank
 * of one of its files: there the rank of the upload comes last.) Owner thread.
 */
#ifndef FSC_INDEXER_IDENTITY_H
#define FSC_INDEXER_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"

enum fsc_identity_source {
	FSC_FROM_UPLOAD,
	FSC_FROM_MANIFEST,
	FSC_FROM_TRACE,
	FSC_FROM_NAME,
	FSC_N_SOURCES
};

/* What one source knows; NULL or "" and -1 for what it does not. Strings borrowed. */
struct fsc_identity {
	const char *job, *host, *capture;
	int64_t rank, world_size;
};
#define FSC_IDENTITY_INIT                    \
	{                                    \
		.rank = -1, .world_size = -1 \
	}

/*
 * Rank in a file name: "rank-7", "rank_7", "rank7", "worker 7", or, when weak is not NULL, also "…_7.json",
 * which sets *weak because such a number often means something else. -1 when there is none.
 */
int64_t fsc_identity_rank_of_name(const char *name, bool *weak);

/*
 * Merges what the sources know. Appends to `told` a JSON array of {"field","used","used_from","other",
 * "other_from"}, nothing when all agree, and returns the number of disagreements.
 */
uint32_t fsc_identity_merge(struct fsc_identity *out, const struct fsc_identity src[FSC_N_SOURCES],
			    bool archive, struct fsc_buf *told);

#endif
