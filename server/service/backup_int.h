/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by backup.c and restore.c: names of files, marks, copying what a database names. Private to them. */
#ifndef FSC_SERVICE_BACKUP_INT_H
#define FSC_SERVICE_BACKUP_INT_H

#include "base/crypto.h"
#include "service/backup.h"
#include "store/blob.h"
#include "store/store.h"

#define FSC_BACKUP_DB "fleetscope.db"
#define FSC_BACKUP_DB_PART "fleetscope.db.part" /* until the rest is there */
#define FSC_BACKUP_JSON "backup.json"
#define FSC_BACKUP_PART "backup.part"	/* a backup is being written */
#define FSC_RESTORE_PART "restore.part" /* a data folder is being written */
#define FSC_BACKUP_FORMAT "fleetscope-backup"
#define FSC_BACKUP_VERSION 1

fsc_nodiscard char *fsc_backup_path(const char *dir,
				    const char *name); /* fsc_free'd by the caller */
bool fsc_backup_has(const char *dir, const char *name);
bool fsc_backup_is_empty(const char *dir); /* or not there */
/* Leaves the mark, durably. *again: it stood there from before the machine was started, so that nobody knows which of
 * the files beside it are whole. */
fsc_nodiscard enum fsc_status fsc_backup_mark(const char *dir, const char *name, bool *again,
					      struct fsc_err *err);
/* Takes a file away, durably; fine when it is not there. */
fsc_nodiscard enum fsc_status fsc_backup_unmark(const char *dir, const char *name,
						struct fsc_err *err);
/* Every file that the rows of s name. */
fsc_nodiscard enum fsc_status fsc_backup_copy_files(const struct fsc_backup_opts *o,
						    const struct fsc_blob_copy *c,
						    struct fsc_store *s,
						    struct fsc_backup_done *done,
						    struct fsc_err *err);
/* Digest and size of a file; with `to` not NULL also copies it there (0600, made anew, synced). */
fsc_nodiscard enum fsc_status fsc_backup_digest(uint8_t sha256[FSC_SHA256_LEN], uint64_t *bytes,
						const char *path, const char *to,
						struct fsc_err *err);
fsc_nodiscard enum fsc_status fsc_backup_open_db(struct fsc_store **out, const char *dir,
						 const char *name, struct fsc_err *err);
fsc_nodiscard enum fsc_status fsc_backup_rename(const char *dir, const char *from, const char *to,
						struct fsc_err *err);

#endif
