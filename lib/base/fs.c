/* SPDX-License-Identifier: Apache-2.0 */
/* Files: whole reads and writes, atomic replacement that survives a power cut. */
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/crypto.h"

/* Linux moves at most 0x7ffff000 bytes a call; a smaller step keeps signals answered. */
#define STEP_MAX ((size_t)1 << 26)

static size_t step_of(size_t n)
{
	return n < STEP_MAX ? n : STEP_MAX;
}

enum fsc_status fsc_fs_write_all(int fd, const void *p, size_t n, struct fsc_err *err)
{
	const char *s = p;
	while (n) {
		ssize_t r = write(fd, s, step_of(n));
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return fsc_err_sys(err, errno, "write");
		s += r;
		n -= (size_t)r;
	}
	return FSC_OK;
}

enum fsc_status fsc_fs_pwrite_all(int fd, const void *p, size_t n, uint64_t off,
				  struct fsc_err *err)
{
	const char *s = p;
	while (n) {
		ssize_t r = pwrite(fd, s, step_of(n), (off_t)off);
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return fsc_err_sys(err, errno, "write at byte %llu",
					   (unsigned long long)off);
		s += r;
		n -= (size_t)r;
		off += (uint64_t)r;
	}
	return FSC_OK;
}

enum fsc_status fsc_fs_read_all(int fd, void *p, size_t n, struct fsc_err *err)
{
	char *s = p;
	size_t got = 0;
	while (got < n) {
		ssize_t r = read(fd, s + got, step_of(n - got));
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return fsc_err_sys(err, errno, "read");
		if (r == 0)
			return fsc_err_set(err, FSC_ECORRUPT, "short_read",
					   "file ends after %zu of %zu bytes", got, n);
		got += (size_t)r;
	}
	return FSC_OK;
}

/* Reads fd to its end into b, whose maximum is the limit. */
static enum fsc_status read_to_end(struct fsc_buf *b, int fd, size_t hint, const char *path,
				   struct fsc_err *err)
{
	size_t want = hint ? hint : 4096;
	for (;;) {
		/* At the limit one more byte is asked for on the side, to tell "just fits" from "more". */
		char extra = 0;
		size_t left = b->max - b->len;
		size_t n = want < left ? want : left;
		char *dst = n ? fsc_buf_room(b, n) : &extra;
		if (!dst)
			return fsc_err_set(err, fsc_buf_status(b), NULL, "%s: no memory to read it",
					   path);
		ssize_t r = read(fd, dst, n ? step_of(n) : 1);
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return fsc_err_sys(err, errno, "read %s", path);
		if (r == 0)
			return FSC_OK;
		if (!n)
			return fsc_err_set(err, FSC_ELIMIT, NULL, "%s: exceeds %zu bytes", path,
					   b->max);
		b->len += (size_t)r;
		want = b->len > 65536 ? b->len : 65536;
	}
}

enum fsc_status fsc_fs_read_file(char **data, size_t *n, const char *path, size_t max,
				 struct fsc_err *err)
{
	*data = NULL;
	*n = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fsc_err_sys(err, errno, "open %s", path);
	struct fsc_buf b = FSC_BUF_INIT(max);
	struct stat sb;
	size_t hint = 0;
	if (fsc_fs_fstat(fd, &sb) == 0 && S_ISREG(sb.st_mode) && sb.st_size > 0)
		hint = (size_t)sb.st_size + 1; /* one more shows the end without growing */
	enum fsc_status st = read_to_end(&b, fd, hint, path, err);
	if (st == FSC_OK) {
		*data = fsc_buf_take(&b, n);
		if (!*data)
			st = fsc_err_set(err, FSC_ENOMEM, NULL, "%s: no memory to read it", path);
	}
	fsc_buf_fini(&b);
	close(fd);
	return st;
}

int fsc_fs_fstat(int fd, struct stat *sb)
{
	return (int)syscall(SYS_fstat, fd, sb);
}

static enum fsc_status mkdir_one(const char *path, unsigned mode, struct fsc_err *err)
{
	if (mkdir(path, (mode_t)mode) == 0)
		return FSC_OK;
	int e = errno;
	struct stat sb;
	/* also when mkdir says EROFS or EACCES: a folder that is there is good */
	if (stat(path, &sb) == 0) {
		if (S_ISDIR(sb.st_mode))
			return FSC_OK;
		e = ENOTDIR;
	}
	return fsc_err_sys(err, e, "mkdir %s", path);
}

enum fsc_status fsc_fs_mkdirs(const char *path, unsigned mode, struct fsc_err *err)
{
	char *p = fsc_xstrdup(path);
	enum fsc_status st = FSC_OK;
	for (char *s = p + (*p == '/'); st == FSC_OK && *s; s++) {
		if (*s != '/')
			continue;
		*s = '\0';
		st = mkdir_one(p, mode, err);
		*s = '/';
	}
	if (st == FSC_OK)
		st = mkdir_one(p, mode, err);
	fsc_free(p);
	return st;
}

enum fsc_status fsc_fs_sync_dir(const char *path, struct fsc_err *err)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return fsc_err_sys(err, errno, "open %s", path);
	enum fsc_status st = FSC_OK;
	if (fsync(fd) != 0)
		st = fsc_err_sys(err, errno, "fsync %s", path);
	close(fd);
	return st;
}

static enum fsc_status sync_parent(const char *path, struct fsc_err *err)
{
	const char *slash = strrchr(path, '/');
	if (!slash)
		return fsc_fs_sync_dir(".", err);
	if (slash == path)
		return fsc_fs_sync_dir("/", err);
	char *dir = fsc_xstrndup(path, (size_t)(slash - path));
	enum fsc_status st = fsc_fs_sync_dir(dir, err);
	fsc_free(dir);
	return st;
}

static enum fsc_status write_temp(const char *tmp, const void *p, size_t n, unsigned mode,
				  struct fsc_err *err)
{
	int fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, (mode_t)mode);
	if (fd < 0)
		return fsc_err_sys(err, errno, "create %s", tmp);
	enum fsc_status st = fsc_fs_write_all(fd, p, n, err);
	if (st != FSC_OK)
		(void)fsc_err_wrap(err, "%s", tmp);
	else if (fdatasync(fd) != 0)
		st = fsc_err_sys(err, errno, "fdatasync %s", tmp);
	if (close(fd) != 0 && st == FSC_OK)
		st = fsc_err_sys(err, errno, "close %s", tmp);
	if (st != FSC_OK)
		unlink(tmp);
	return st;
}

enum fsc_status fsc_fs_replace(const char *path, const void *p, size_t n, unsigned mode,
			       struct fsc_err *err)
{
	uint8_t rnd[8];
	char hex[2 * sizeof(rnd) + 1];
	fsc_random_bytes(rnd, sizeof(rnd));
	fsc_hex(hex, rnd, sizeof(rnd));
	char *tmp = fsc_xasprintf("%s.tmp-%s", path, hex);
	enum fsc_status st = write_temp(tmp, p, n, mode, err);
	if (st == FSC_OK && rename(tmp, path) != 0) {
		st = fsc_err_sys(err, errno, "rename %s to %s", tmp, path);
		unlink(tmp);
	}
	fsc_free(tmp);
	return st == FSC_OK ? sync_parent(path, err) : st;
}

enum fsc_status fsc_fs_disk_bytes(uint64_t *total, uint64_t *free_bytes, const char *path,
				  struct fsc_err *err)
{
	struct statvfs v;
	if (statvfs(path, &v) != 0)
		return fsc_err_sys(err, errno, "statvfs %s", path);
	*total = (uint64_t)v.f_blocks * v.f_frsize;
	*free_bytes = (uint64_t)v.f_bavail * v.f_frsize;
	return FSC_OK;
}

enum fsc_status fsc_fs_free_bytes(uint64_t *out, const char *path, struct fsc_err *err)
{
	uint64_t total;

	return fsc_fs_disk_bytes(&total, out, path, err);
}
