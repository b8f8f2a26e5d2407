/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backups of a data folder, taken beside a running server, and back again (docs/backup.md, docs/decisions/0020).
 * A backup is a folder laid out as a data folder, and backup.json, which appears last: without it a backup does not
 * count. One call at a time for a folder; for command-line front ends.
 */
#ifndef FSC_SERVICE_BACKUP_H
#define FSC_SERVICE_BACKUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

struct fsc_backup_opts {
	const char *data, *out;
	bool link;   /* one more name of a file instead of a copy, where that can be */
	int wait_ms; /* for another backup to end; 0 = 60 s */
	/* A file that a row names and the data folder lacks, or has with another size: the rest goes on. May be NULL. */
	void (*lost)(void *ctx, const char *what);
	void *ctx;
};
struct fsc_backup_done {
	uint64_t blobs, segments, bytes;   /* what the backup holds, without the database */
	uint64_t fresh_files, fresh_bytes; /* of these, what was not there before */
	uint64_t database_bytes;
	uint64_t lost; /* files that were not there to be copied */
};
/* out is made, or holds an earlier backup, finished or not, which is brought up to date; FSC_EEXIST "not_empty" for
 * anything else. FSC_EINVAL "backup_inside": one folder lies in the other. FSC_EBUSY "files_held". */
fsc_nodiscard enum fsc_status fsc_backup(const struct fsc_backup_opts *o,
					 struct fsc_backup_done *done, struct fsc_err *err);

/* o->data becomes the data folder of the backup in o->out. It must be empty, or not there, or be left from a restore
 * that was cut off (FSC_EEXIST "not_empty"). FSC_ECORRUPT "not_a_backup", "backup_unfinished", "database_differs". */
fsc_nodiscard enum fsc_status fsc_restore(const struct fsc_backup_opts *o,
					  struct fsc_backup_done *done, struct fsc_err *err);

/* May a server work on this folder? FSC_EUNSUPPORTED "restore_unfinished" or "is_backup". */
fsc_nodiscard enum fsc_status fsc_backup_check_data(const char *data, struct fsc_err *err);

#endif
