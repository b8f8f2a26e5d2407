/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a perfetto_manifest in the archive says about its files, put on their traces: the machine, and the offset
 * of the clock. It counts for the files behind it, so it is used only where no trace came before. Owner thread.
 */
#ifndef FSC_INDEXER_PERFETTO_FILES_H
#define FSC_INDEXER_PERFETTO_FILES_H

#include "base/source.h"
#include "bundle/perfetto_manifest.h"
#include "model/trace.h"

/*
 * Reads the member. late: a trace was told already. Expected errors: FSC_EUNSUPPORTED "manifest_not_first",
 * "perfetto_manifest_repeated", and those of the parser and the source.
 */
fsc_nodiscard enum fsc_status fsc_perfetto_files_read(struct fsc_perfetto_manifest **m, bool late,
						      struct fsc_source *src, struct fsc_err *err);
/* Moves the trace in time; counted in it as clock_offset_applied or clock_offset_ignored. */
void fsc_perfetto_files_shift(struct fsc_trace *t, const struct fsc_perfetto_file *f);

#endif
