/* SPDX-License-Identifier: Apache-2.0 */
/* The file system of one file (nsys_vfs.h). */
#include "formats/nsys_vfs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct file {
	sqlite3_file base;
	struct fsc_nsys_vfs *v;
};

static struct fsc_nsys_vfs *vfs_of(sqlite3_file *f)
{
	return ((struct file *)(void *)f)->v;
}

/* ---- the file ---- */

static int file_close(sqlite3_file *f)
{
	(void)f;
	return SQLITE_OK;
}

static int read_fd(struct fsc_nsys_vfs *v, char *dst, size_t n, uint64_t at)
{
	while (n) {
		ssize_t r = pread(v->fd, dst, n, (off_t)at);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0) {
			/* the file was longer when it was opened */
			v->errnum = r < 0 ? errno : EIO;
			return SQLITE_IOERR_READ;
		}
		dst += r;
		n -= (size_t)r;
		at += (uint64_t)r;
	}
	return SQLITE_OK;
}

static int file_read(sqlite3_file *f, void *dst, int n, sqlite3_int64 at)
{
	struct fsc_nsys_vfs *v = vfs_of(f);
	size_t want = n > 0 ? (size_t)n : 0, have = want;
	int rc = SQLITE_OK;

	if (at < 0)
		return SQLITE_IOERR_READ;
	if ((uint64_t)at >= v->size)
		have = 0;
	else if (v->size - (uint64_t)at < want)
		have = (size_t)(v->size - (uint64_t)at);
	v->last = (uint64_t)at;
	v->reads++;
	if (v->fd >= 0)
		rc = read_fd(v, dst, have, (uint64_t)at);
	else if (have)
		memcpy(dst, v->p + at, have);
	if (rc != SQLITE_OK || have == want)
		return rc;
	memset((char *)dst + have, 0, want - have);
	return SQLITE_IOERR_SHORT_READ;
}

static int file_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at)
{
	(void)f;
	(void)p;
	(void)n;
	(void)at;
	return SQLITE_READONLY;
}

static int file_truncate(sqlite3_file *f, sqlite3_int64 n)
{
	(void)f;
	(void)n;
	return SQLITE_READONLY;
}

static int file_size(sqlite3_file *f, sqlite3_int64 *n)
{
	*n = (sqlite3_int64)vfs_of(f)->size;
	return SQLITE_OK;
}

/* Syncs and locks have nothing to do. */
static int file_nothing(sqlite3_file *f, int arg)
{
	(void)f;
	(void)arg;
	return SQLITE_OK;
}

static int file_reserved(sqlite3_file *f, int *out)
{
	(void)f;
	*out = 0;
	return SQLITE_OK;
}

static int file_control(sqlite3_file *f, int op, void *arg)
{
	(void)f;
	(void)op;
	(void)arg;
	return SQLITE_NOTFOUND;
}

static int file_sector(sqlite3_file *f)
{
	(void)f;
	return 4096;
}

/* Nobody changes the file: no locks, no journal beside it, and one in WAL mode is read as it is. */
static int file_traits(sqlite3_file *f)
{
	(void)f;
	return SQLITE_IOCAP_IMMUTABLE;
}

static const sqlite3_io_methods methods = {
	.iVersion = 1,
	.xClose = file_close,
	.xRead = file_read,
	.xWrite = file_write,
	.xTruncate = file_truncate,
	.xSync = file_nothing,
	.xFileSize = file_size,
	.xLock = file_nothing,
	.xUnlock = file_nothing,
	.xCheckReservedLock = file_reserved,
	.xFileControl = file_control,
	.xSectorSize = file_sector,
	.xDeviceCharacteristics = file_traits,
};

/* ---- the file system ---- */

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *out)
{
	struct file *file = (struct file *)(void *)f;

	(void)name;
	file->base.pMethods = NULL;
	if (!(flags & SQLITE_OPEN_MAIN_DB))
		return SQLITE_CANTOPEN;
	file->v = vfs->pAppData;
	file->base.pMethods = &methods;
	if (out)
		*out = SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB;
	return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
	(void)vfs;
	(void)name;
	(void)sync;
	return SQLITE_READONLY;
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *out)
{
	(void)vfs;
	(void)name;
	(void)flags;
	*out = 0;
	return SQLITE_OK;
}

static int vfs_full_path(sqlite3_vfs *vfs, const char *name, int n, char *out)
{
	(void)vfs;
	snprintf(out, n > 0 ? (size_t)n : 0, "%s", name);
	return SQLITE_OK;
}

/* Nothing that is read depends on chance or on the clock. */
static int vfs_random(sqlite3_vfs *vfs, int n, char *out)
{
	(void)vfs;
	memset(out, 7, n > 0 ? (size_t)n : 0);
	return n;
}

static int vfs_sleep(sqlite3_vfs *vfs, int us)
{
	(void)vfs;
	return us;
}

static int vfs_time(sqlite3_vfs *vfs, double *out)
{
	(void)vfs;
	*out = 2440587.5;
	return SQLITE_OK;
}

static int vfs_last_error(sqlite3_vfs *vfs, int n, char *out)
{
	(void)vfs;
	(void)n;
	(void)out;
	return 0;
}

bool fsc_nsys_vfs_add(struct fsc_nsys_vfs *v, int fd, const void *p, uint64_t size)
{
	*v = (struct fsc_nsys_vfs){ .fd = fd, .p = p, .size = size };
	snprintf(v->name, sizeof(v->name), "fsc-%p", (void *)v);
	v->base = (sqlite3_vfs){
		.iVersion = 1,
		.szOsFile = sizeof(struct file),
		.mxPathname = 64,
		.zName = v->name,
		.pAppData = v,
		.xOpen = vfs_open,
		.xDelete = vfs_delete,
		.xAccess = vfs_access,
		.xFullPathname = vfs_full_path,
		.xRandomness = vfs_random,
		.xSleep = vfs_sleep,
		.xCurrentTime = vfs_time,
		.xGetLastError = vfs_last_error,
	};
	v->registered = sqlite3_vfs_register(&v->base, 0) == SQLITE_OK;
	return v->registered;
}

void fsc_nsys_vfs_remove(struct fsc_nsys_vfs *v)
{
	if (v->registered)
		sqlite3_vfs_unregister(&v->base);
	v->registered = false;
}
