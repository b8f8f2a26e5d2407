/* SPDX-License-Identifier: Apache-2.0 */
/* What the command line names, as a list of files to push. Owner thread. */
#ifndef FSC_COLLECTOR_CLI_FILES_H
#define FSC_COLLECTOR_CLI_FILES_H

#include <stdbool.h>

#include "base/err.h"
#include "base/vec.h"

struct fsc_cli_files {
	FSC_VEC(char *) v; /* owned paths, in the order given; files of a folder by name */
	uint32_t skipped;  /* files of folders whose names are no trace, profile or archive */
};

/* A file is taken as it is. Of a folder the regular files with a known suffix are taken, of its sub-folders
 * too when recursive; links are not followed. FSC_ENOTFOUND, FSC_EINVAL (neither file nor folder), FSC_EIO. */
fsc_nodiscard enum fsc_status fsc_cli_files_add(struct fsc_cli_files *f, const char *path,
						bool recursive, struct fsc_err *err);
void fsc_cli_files_fini(struct fsc_cli_files *f);
/* Last part of a path, borrowed from it. */
const char *fsc_cli_base_name(const char *path);

#endif
