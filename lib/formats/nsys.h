/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of Nsight Systems' SQLite exports (`nsys export --type sqlite`), for registry.c and for tests. Owner thread. */
#ifndef FSC_FORMATS_NSYS_H
#define FSC_FORMATS_NSYS_H

#include "formats/reader.h"

/* Says 50 to every SQLite database: which tables it has is seen when it is read. */
int fsc_nsys_sniff(const uint8_t *head, size_t n);
/* Besides what reader.h names: "nsys_truncated", "nsys_corrupt", "nsys_too_slow", "database_too_big",
 * "not_a_timeline" (another database, or an export without events). */
fsc_nodiscard enum fsc_status fsc_nsys_read(struct fsc_source *src,
					    const struct fsc_reader_sink *sink,
					    struct fsc_err *err);

#endif
