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
 * What the path of a file says by the ways in which profilers name files:
 *   rank     "rank-7", "rank_7", "rank7", "worker 7" in its name, else a folder that is called exactly so.
 *            Weak, because such numbers often mean something else: "…_7.json", and "…-TP-7…" where no other kind of
 *            parallelism is named
 *   host     "HOST_PID.TIME.pt.trace.json" (PyTorch's TensorBoard handler), "plugins/profile/RUN/HOST.xplane.pb" or
 *            ".trace.json.gz" (TensorBoard's folders), "HOST_rank7…" where HOST looks like the name of a host
 *   capture  RUN
 * Host and capture are always weak: a name is how somebody called a file.
 */
struct fsc_identity_name {
	int64_t rank; /* -1 when there is none */
	bool rank_weak;
	char host[256], capture[256]; /* "" when there is none */
};
void fsc_identity_of_name(struct fsc_identity_name *out, const char *path);
/* Fills src[FSC_FROM_NAME]; weak parts only where no other source says. one_rank: the file is of one rank. Strings are
 * borrowed from name. */
void fsc_identity_from_name(struct fsc_identity src[FSC_N_SOURCES],
			    const struct fsc_identity_name *name, bool one_rank);
/* A rank that the world does not hold: then the world's size is not known. True when that was so. */
bool fsc_identity_outside_world(struct fsc_identity *id);

/*
 * Merges what the sources know. Appends to `told` a JSON array of {"field","used","used_from","other",
 * "other_from"}, nothing when all agree, and returns the number of disagreements.
 */
uint32_t fsc_identity_merge(struct fsc_identity *out, const struct fsc_identity src[FSC_N_SOURCES],
			    bool archive, struct fsc_buf *told);

#endif
