/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking bundles and traces away, rows first and files after: for the API and for retention. A crash in between
 * leaves files that nobody refers to, which the sweep (service/ingest.h) takes; never a row without its file.
 * Works on a full disk: the reserve is given up for it. Any thread.
 */
#ifndef FSC_SERVICE_REMOVAL_H
#define FSC_SERVICE_REMOVAL_H

#include <stdatomic.h>

#include "base/attr.h"
#include "base/err.h"
#include "store/deletes.h"

struct fsc_ingest;

struct fsc_removed {
	int64_t bundles, traces; /* rows that went, the traces of the bundles included */
	int64_t kept;		 /* units passed over because they are kept (fsc_removal_many) */
	int64_t missing;	 /* units that were not there any more (fsc_removal_many) */
	int64_t blobs;		 /* whose files may go: no bundle of any project has these bytes */
	int64_t blob_bytes, segment_bytes;
};

/* One bundle or one trace; errors are those of fsc_store_delete: "not_found", "kept". */
fsc_nodiscard enum fsc_status fsc_removal_one(struct fsc_ingest *in,
					      const struct fsc_delete_request *req,
					      struct fsc_removed *out, struct fsc_err *err);
/* All units, in batches of a few ms each, so that an upload never waits long for the writer. The request's own
 * bundle and trace are not looked at. stop may be NULL; when it becomes true the call ends after the running
 * batch with FSC_ECANCELED "stopped". out says in every case what was done. */
fsc_nodiscard enum fsc_status fsc_removal_many(struct fsc_ingest *in,
					       const struct fsc_delete_request *req,
					       const struct fsc_delete_unit *units, size_t n_units,
					       const atomic_bool *stop, struct fsc_removed *out,
					       struct fsc_err *err);

#endif
