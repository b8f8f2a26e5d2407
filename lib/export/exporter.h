/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exporters turn a segment, or a time range of it, into a file of another format. They are pulled: each
 * fsc_export_next() appends a bounded piece, so that an HTTP response, a file and a test use the same code
 * and memory does not grow with the trace. An export belongs to one thread at a time.
 */
#ifndef FSC_EXPORT_EXPORTER_H
#define FSC_EXPORT_EXPORTER_H

#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"
#include "segment/seg_read.h"

/* A next() stops soon after this many bytes; a single packet may be larger. */
#define FSC_EXPORT_PIECE_BYTES (256u * 1024u)

struct fsc_export_opts {
	int64_t t0,
		t1; /* slices that touch [t0, t1) are written whole, never cut; t1 <= t0 = everything */
};

struct fsc_export; /* opaque; each exporter embeds it as its first member */

struct fsc_exporter {
	const char *name;   /* "perfetto": the last part of the route */
	const char *mime;   /* media type of the file */
	const char *suffix; /* ".pftrace" */
	/* Takes a reference of its own with fsc_seg_ref() and uses only that: seg may be an asker's view, which
	 * an export outlives. Expected: FSC_ENOMEM. */
	enum fsc_status (*open)(struct fsc_export **out, struct fsc_seg *seg,
				const struct fsc_export_opts *opts, struct fsc_err *err);
	/* Appends the next piece: FSC_OK, FSC_END when nothing is left (nothing appended), or an error
	 * (FSC_ECORRUPT of a damaged block) after which only close is allowed. */
	enum fsc_status (*next)(struct fsc_export *e, struct fsc_buf *out, struct fsc_err *err);
	void (*close)(struct fsc_export *e); /* NULL is fine */
};

/* NULL when there is no exporter of that name. Any thread. */
const struct fsc_exporter *fsc_exporter_find(const char *name);

#endif
