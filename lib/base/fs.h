/* SPDX-License-Identifier: Apache-2.0 */
/* Files: whole reads and writes that handle EINTR and short counts, atomic replacement, durability. */
#ifndef FSC_BASE_FS_H
#define FSC_BASE_FS_H

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

fsc_nodiscard enum fsc_status fsc_fs_write_all(int fd, const void *p, size_t n,
					       struct fsc_err *err);
fsc_nodiscard enum fsc_status fsc_fs_pwrite_all(int fd, const void *p, size_t n, uint64_t off,
						struct fsc_err *err);
fsc_nodiscard enum fsc_status fsc_fs_read_all(int fd, void *p, size_t n,
					      struct fsc_err *err); /* FSC_ECORRUPT when short */
/* Whole file, at most max bytes (FSC_ELIMIT above). *data is fsc_free'd by the caller, NUL-terminated. */
fsc_nodiscard enum fsc_status fsc_fs_read_file(char **data, size_t *n, const char *path, size_t max,
					       struct fsc_err *err);
struct stat;
/* fstat(): 0, or -1 with errno. By the system call of that name: the C library's goes through newfstatat, which
 * takes any path when it is not empty, so the indexer's sandbox cannot allow it. */
int fsc_fs_fstat(int fd, struct stat *sb);
fsc_nodiscard enum fsc_status fsc_fs_mkdirs(const char *path, unsigned mode, struct fsc_err *err);
fsc_nodiscard enum fsc_status fsc_fs_sync_dir(const char *path, struct fsc_err *err);
/* temp file beside path, write, fdatasync, rename, fsync of the folder. */
fsc_nodiscard enum fsc_status fsc_fs_replace(const char *path, const void *p, size_t n,
					     unsigned mode, struct fsc_err *err);
/* Of the file system that path is on; free for those who are not root. */
fsc_nodiscard enum fsc_status fsc_fs_disk_bytes(uint64_t *total, uint64_t *free_bytes,
						const char *path, struct fsc_err *err);
fsc_nodiscard enum fsc_status fsc_fs_free_bytes(uint64_t *out, const char *path,
						struct fsc_err *err);

#endif
