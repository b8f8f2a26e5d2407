/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of Perfetto protobuf traces (.pftrace), for registry.c and for tests; docs/formats/perfetto.md. Owner thread. */
#ifndef FSC_FORMATS_PERFETTO_H
#define FSC_FORMATS_PERFETTO_H

#include "formats/reader.h"

int fsc_perfetto_sniff(const uint8_t *head, size_t n);
fsc_nodiscard enum fsc_status fsc_perfetto_read(struct fsc_source *src,
						const struct fsc_reader_sink *sink,
						struct fsc_err *err);

#endif
