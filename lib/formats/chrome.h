/* SPDX-License-Identifier: Apache-2.0 */
/* The trace-event JSON reader (PyTorch/Kineto and Chrome), for registry.c and for tests. Owner thread. */
#ifndef FSC_FORMATS_CHROME_H
#define FSC_FORMATS_CHROME_H

#include "formats/json_tok.h"
#include "formats/reader.h"

/* Zero means the usual. Tests use small windows and chunks, and every string scan. */
struct fsc_chrome_options {
	size_t window, chunk;
	fsc_jt_scan_fn scan;
};

int fsc_chrome_sniff(const uint8_t *head, size_t n);
fsc_nodiscard enum fsc_status fsc_chrome_read(struct fsc_source *src,
					      const struct fsc_reader_sink *sink,
					      struct fsc_err *err);
fsc_nodiscard enum fsc_status fsc_chrome_read_with(struct fsc_source *src,
						   const struct fsc_reader_sink *sink,
						   const struct fsc_chrome_options *opt,
						   struct fsc_err *err);

#endif
