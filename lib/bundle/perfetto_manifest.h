/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The manifest by which Perfetto merges the files of an archive ("perfetto_manifest", version 1), told by content:
 * {"perfetto_manifest": {"version": 1, "files": [...]}}. Read of it: which machine a file is of, and the offset of
 * its clock. Unknown keys are ignored; of the known ones, a wrong type is an error. At most FSC_MAX_MANIFEST_BYTES.
 * Owner thread.
 */
#ifndef FSC_BUNDLE_PERFETTO_MANIFEST_H
#define FSC_BUNDLE_PERFETTO_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

struct fsc_perfetto_file {
	const char *path;
	const char *machine; /* NULL unknown, or several */
	bool has_offset;
	bool unix_clock;   /* the offset is of the file as a whole, or of its Unix clock */
	int64_t offset_ns; /* to be added to the file's times */
	bool seen;	   /* set by the caller */
};

struct fsc_perfetto_manifest {
	struct fsc_arena arena; /* owns everything below */
	struct fsc_perfetto_file *files;
	size_t n_files;
};

/* Do these first bytes of a file begin such a manifest? */
bool fsc_perfetto_manifest_is(const uint8_t *head, size_t n);
/* Expected errors: FSC_EPARSE "perfetto_manifest_invalid", FSC_EUNSUPPORTED "perfetto_manifest_version", FSC_ELIMIT
 * "manifest_too_big". */
fsc_nodiscard enum fsc_status fsc_perfetto_manifest_parse(struct fsc_perfetto_manifest **out,
							  const char *json, size_t n,
							  struct fsc_err *err);
void fsc_perfetto_manifest_free(struct fsc_perfetto_manifest *m); /* NULL is fine */
/* The entry of a path, or NULL. */
struct fsc_perfetto_file *fsc_perfetto_manifest_file(struct fsc_perfetto_manifest *m,
						     const char *path);

#endif
