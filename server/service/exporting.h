/* SPDX-License-Identifier: Apache-2.0 */
/* Exports for the API: which exporter, and its pieces one after the other. Any thread; one export to one. */
#ifndef FSC_SERVICE_EXPORTING_H
#define FSC_SERVICE_EXPORTING_H

#include "base/err.h"
#include "segment/seg_read.h"

struct fsc_exporting;

/* t1 <= t0: everything. Keeps a reference on seg. FSC_ENOTFOUND "no_such_exporter". */
fsc_nodiscard enum fsc_status fsc_exporting_open(struct fsc_exporting **out, const char *format,
						 struct fsc_seg *seg, int64_t t0, int64_t t1,
						 struct fsc_err *err);
const char *fsc_exporting_mime(const struct fsc_exporting *e);
const char *fsc_exporting_suffix(const struct fsc_exporting *e);
/* Gives every piece to write, until the end or its first error. */
fsc_nodiscard enum fsc_status fsc_exporting_run(struct fsc_exporting *e,
						enum fsc_status (*write)(void *ctx, const void *p,
									 size_t n),
						void *ctx, struct fsc_err *err);
void fsc_exporting_free(struct fsc_exporting *e); /* NULL is fine */

/* ns that the Perfetto export adds to relative times. */
int64_t fsc_exporting_perfetto_base_ns(const struct fsc_seg *seg);

#endif
