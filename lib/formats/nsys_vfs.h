/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file system for SQLite of one file that can only be read: a descriptor (by pread, so that its position stays), or
 * bytes in memory. Nothing is opened, created, locked or deleted, and there is no journal: in the sandbox nothing else
 * would be allowed. Owner thread.
 */
#ifndef FSC_FORMATS_NSYS_VFS_H
#define FSC_FORMATS_NSYS_VFS_H

#include <stdbool.h>
#include <sqlite3.h>
#include <stdint.h>

#include "base/attr.h"

struct fsc_nsys_vfs {
	sqlite3_vfs base;
	char name[32]; /* to open by; of this one alone */
	int fd;	       /* borrowed; -1: the bytes at p */
	const uint8_t *p;
	uint64_t size;
	uint64_t last; /* offset of the page that was read last, for messages */
	uint64_t reads;
	int errnum; /* of a read that failed */
	bool registered;
};

/* False when SQLite has no memory. */
fsc_nodiscard bool fsc_nsys_vfs_add(struct fsc_nsys_vfs *v, int fd, const void *p, uint64_t size);
void fsc_nsys_vfs_remove(struct fsc_nsys_vfs *v);

#endif
