/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blobs and segments in a folder. Everything is relative to one open descriptor of it. An object is written
 * under tmp/, made durable, renamed into place, and the folder that now names it is made durable: only then
 * does it exist.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/crypto.h"
#include "base/fs.h"
#include "store/blob_ops.h"

#define TEMP_NAME_MAX 48
#define HOLD_FILE "files.lock"
/* Start writing back while the upload still runs, so that the sync at its end is short. */
#define WRITEBACK_BYTES (8ULL << 20)

struct dir_blobs {
	struct fsc_blobs base;
	char *path; /* owned */
	int fd;
};

struct fsc_blob_sink {
	struct dir_blobs *d;	  /* borrowed */
	int fd;			  /* -1 once finished, or paused */
	char temp[TEMP_NAME_MAX]; /* "tmp/..." or "" once committed; of a kept one its key */
	uint64_t bytes, flushed;
	bool kept, unnamed, unsynced; /* unnamed: the folder may not know it durably yet */
};

/* A full disk has one code wherever it shows. */
static enum fsc_status sys_err(struct fsc_err *err, int errnum, const char *what, const char *key)
{
	enum fsc_status st = fsc_err_sys(err, errnum, "storage: %s %s", what, key);

	if (st == FSC_EFULL && err)
		snprintf(err->code, sizeof(err->code), "disk_full");
	return st;
}

static void dir_close(struct fsc_blobs *b)
{
	struct dir_blobs *d = (struct dir_blobs *)b;

	if (d->fd >= 0)
		close(d->fd);
	fsc_free(d->path);
	fsc_free(d);
}

static enum fsc_status sync_at(struct dir_blobs *d, const char *dir, struct fsc_err *err)
{
	int fd = openat(d->fd, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	enum fsc_status st = FSC_OK;

	if (fd < 0)
		return sys_err(err, errno, "open", dir);
	if (fsync(fd))
		st = sys_err(err, errno, "sync", dir);
	close(fd);
	return st;
}

static enum fsc_status make_dir(struct dir_blobs *d, const char *dir, struct fsc_err *err)
{
	if (mkdirat(d->fd, dir, 0700) && errno != EEXIST)
		return sys_err(err, errno, "make", dir);
	return FSC_OK;
}

/* All folders that will ever be needed, and their names durable. Synced also when they were there: who made them
 * may have died before its own sync. Later nobody has to think of folders. */
static enum fsc_status make_dirs(struct dir_blobs *d, struct fsc_err *err)
{
	static const char *const dirs[] = { "tmp", "blob", "seg", "seg/v1", "upload" };
	static const char *const parents[] = { "blob", "seg", "." };
	enum fsc_status st = FSC_OK;
	int hold;

	for (size_t i = 0; i < FSC_ARRAY_LEN(dirs) && st == FSC_OK; i++)
		st = make_dir(d, dirs[i], err);
	for (unsigned i = 0; i < 256 && st == FSC_OK; i++) {
		char dir[16];

		snprintf(dir, sizeof(dir), "blob/%02x", i);
		st = make_dir(d, dir, err);
	}
	hold = st == FSC_OK ? openat(d->fd, HOLD_FILE, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
	if (st == FSC_OK && hold < 0)
		st = sys_err(err, errno, "make", HOLD_FILE);
	if (hold >= 0)
		close(hold);
	for (size_t i = 0; i < FSC_ARRAY_LEN(parents) && st == FSC_OK; i++)
		st = sync_at(d, parents[i], err);
	return st;
}

/* ---- writing ---- */

static void temp_name(char temp[TEMP_NAME_MAX])
{
	uint8_t random[10];
	char hex[2 * sizeof(random) + 1];

	fsc_random_bytes(random, sizeof(random));
	fsc_hex(hex, random, sizeof(random));
	snprintf(temp, TEMP_NAME_MAX, "tmp/%s", hex);
}

static enum fsc_status sink_new(struct fsc_blob_sink **out, struct fsc_blobs *b,
				struct fsc_err *err)
{
	struct fsc_blob_sink *s = fsc_xalloc(1, sizeof(*s));

	*out = NULL;
	s->d = (struct dir_blobs *)b;
	temp_name(s->temp);
	s->fd = openat(s->d->fd, s->temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (s->fd < 0) {
		enum fsc_status st = sys_err(err, errno, "create", s->temp);

		fsc_free(s);
		return st;
	}
	*out = s;
	return FSC_OK;
}

/* Also after a pause. Appending by the kernel: no offset of ours can ever write over what is there. */
static enum fsc_status kept_open(struct fsc_blob_sink *s, int flags, struct fsc_err *err)
{
	s->fd = openat(s->d->fd, s->temp, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
	if (s->fd < 0 && errno == EEXIST)
		return fsc_err_set(err, FSC_EEXIST, "exists", "storage: %s is there already",
				   s->temp);
	return s->fd < 0 ? sys_err(err, errno, "open", s->temp) : FSC_OK;
}

static enum fsc_status sink_keep(struct fsc_blob_sink **out, struct fsc_blobs *b, const char *key,
				 bool create, uint64_t *bytes, bool *sealed, struct fsc_err *err)
{
	struct fsc_blob_sink *s = fsc_xalloc(1, sizeof(*s));
	struct stat sb;
	enum fsc_status st;

	*out = NULL;
	s->d = (struct dir_blobs *)b;
	s->kept = s->unsynced = true;
	s->unnamed = create;
	snprintf(s->temp, sizeof(s->temp), "%s", key);
	st = kept_open(s, create ? O_CREAT | O_EXCL : 0, err);
	if (st == FSC_OK && fstat(s->fd, &sb)) {
		st = sys_err(err, errno, "stat", key);
		close(s->fd);
	}
	if (st != FSC_OK) {
		fsc_free(s);
		return st;
	}
	*bytes = s->bytes = s->flushed = (uint64_t)sb.st_size;
	*sealed = sb.st_nlink > 1;
	*out = s;
	return FSC_OK;
}

static enum fsc_status sink_pause(struct fsc_blob_sink *s, struct fsc_err *err)
{
	enum fsc_status st = FSC_OK;

	if (s->fd < 0 && s->unsynced)
		st = kept_open(s, 0, err);
	if (st == FSC_OK && s->unsynced && fdatasync(s->fd)) {
		/* The kernel has said it once and forgets the pages: no later sync means anything. */
		st = sys_err(err, errno, "sync", s->temp);
		if (err)
			snprintf(err->code, sizeof(err->code), "part_lost");
	}
	if (st == FSC_OK && s->unnamed)
		st = sync_at(s->d, "upload", err);
	if (s->fd >= 0 && close(s->fd) && st == FSC_OK)
		st = sys_err(err, errno, "close", s->temp);
	s->fd = -1;
	if (st == FSC_OK)
		s->unsynced = s->unnamed = false;
	return st;
}

static void sink_rest(struct fsc_blob_sink *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

static enum fsc_status sink_write(struct fsc_blob_sink *s, const void *p, size_t n,
				  struct fsc_err *err)
{
	enum fsc_status st = s->kept && s->fd < 0 ? kept_open(s, 0, err) : FSC_OK;

	if (st != FSC_OK)
		return st;
	s->unsynced = true;
	st = fsc_fs_write_all(s->fd, p, n, err);
	if (st == FSC_EFULL && err)
		snprintf(err->code, sizeof(err->code), "disk_full");
	/* What was kept ends where the caller thinks, whatever part of this came to the disk. */
	if (st != FSC_OK && s->kept && ftruncate(s->fd, (off_t)s->bytes))
		st = sys_err(err, errno, "truncate", s->temp);
	if (st != FSC_OK)
		return st;
	s->bytes += n;
	if (s->bytes - s->flushed >= WRITEBACK_BYTES) {
		/* only a hint: its failure shows at the sync */
		(void)!sync_file_range(s->fd, (off_t)s->flushed, (off_t)(s->bytes - s->flushed),
				       SYNC_FILE_RANGE_WRITE);
		s->flushed = s->bytes;
	}
	return FSC_OK;
}

static int sink_fd(struct fsc_blob_sink *s)
{
	return s->fd;
}

static enum fsc_status sink_finish(struct fsc_blob_sink *s, struct fsc_err *err)
{
	enum fsc_status st = FSC_OK;

	if (s->kept)
		return sink_pause(s, err);
	if (fdatasync(s->fd))
		st = sys_err(err, errno, "sync", s->temp);
	if (close(s->fd) && st == FSC_OK)
		st = sys_err(err, errno, "close", s->temp);
	s->fd = -1;
	return st;
}

/* A second name of the same bytes, renamed over what is there: both stay until the caller removes the part. */
static enum fsc_status link_to(struct fsc_blob_sink *s, const char *key, struct fsc_err *err)
{
	char temp[TEMP_NAME_MAX];
	enum fsc_status st = FSC_OK;

	temp_name(temp);
	if (linkat(s->d->fd, s->temp, s->d->fd, temp, 0))
		return sys_err(err, errno, "link", s->temp);
	if (renameat(s->d->fd, temp, s->d->fd, key))
		st = sys_err(err, errno, "rename to", key);
	/* Still there after an error, and when the key was a name of these bytes already. */
	(void)!unlinkat(s->d->fd, temp, 0);
	return st;
}

static enum fsc_status sink_commit(struct fsc_blob_sink *s, const char *key, struct fsc_err *err)
{
	char dir[64];
	const char *slash = strrchr(key, '/');
	enum fsc_status st = FSC_OK;

	snprintf(dir, sizeof(dir), "%.*s", (int)(slash - key), key);
	/* Young from now on: a segment may have been written long before it is published. */
	if (utimensat(s->d->fd, s->temp, NULL, 0))
		return sys_err(err, errno, "touch", s->temp);
	if (s->kept)
		st = link_to(s, key, err);
	else if (renameat(s->d->fd, s->temp, s->d->fd, key))
		st = sys_err(err, errno, "rename to", key);
	if (st != FSC_OK)
		return st;
	s->temp[0] = '\0';
	return sync_at(s->d, dir, err);
}

static enum fsc_status sink_place(struct fsc_blob_sink *s, const char *key, struct fsc_err *err)
{
	if (close(s->fd))
		return sys_err(err, errno, "close", s->temp);
	s->fd = -1;
	if (renameat(s->d->fd, s->temp, s->d->fd, key))
		return sys_err(err, errno, "rename to", key);
	s->temp[0] = '\0';
	return FSC_OK;
}

static void sink_free(struct fsc_blob_sink *s)
{
	if (s->fd >= 0)
		close(s->fd);
	if (s->temp[0] && !s->kept)
		(void)!unlinkat(s->d->fd, s->temp, 0);
	fsc_free(s);
}

/* ---- reading, removing ---- */

static enum fsc_status dir_open(struct fsc_blobs *b, const char *key, int *fd, uint64_t *size,
				struct fsc_err *err)
{
	struct dir_blobs *d = (struct dir_blobs *)b;
	struct stat sb;
	enum fsc_status st;

	*fd = openat(d->fd, key, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (*fd < 0)
		return sys_err(err, errno, "open", key);
	if (fstat(*fd, &sb)) {
		st = sys_err(err, errno, "stat", key);
		close(*fd);
		*fd = -1;
		return st;
	}
	if (size)
		*size = (uint64_t)sb.st_size;
	return FSC_OK;
}

static enum fsc_status sink_open(struct fsc_blob_sink *s, int *fd, struct fsc_err *err)
{
	return dir_open(&s->d->base, s->temp, fd, NULL, err);
}

static enum fsc_status dir_stat(struct fsc_blobs *b, const char *key, uint64_t *size,
				struct fsc_err *err)
{
	struct stat sb;

	if (fstatat(((struct dir_blobs *)b)->fd, key, &sb, AT_SYMLINK_NOFOLLOW))
		return sys_err(err, errno, "stat", key);
	*size = (uint64_t)sb.st_size;
	return FSC_OK;
}

/* Not synced: a name that comes back after a crash is an orphan, and the sweep takes it. */
static enum fsc_status dir_remove(struct fsc_blobs *b, const char *key, struct fsc_err *err)
{
	struct dir_blobs *d = (struct dir_blobs *)b;
	enum fsc_status st = FSC_OK;
	int hold = -1;

	/* Deletes share the lock among themselves; who holds the files has it alone. A descriptor for each, since
	 * the lock belongs to the descriptor. */
	if (!strncmp(key, "blob/", 5) || !strncmp(key, "seg/", 4)) {
		hold = openat(d->fd, HOLD_FILE, O_RDONLY | O_CLOEXEC);
		/* Without the lock file there is no backup; without a descriptor for it nobody knows. */
		if (hold < 0 && errno != ENOENT)
			return sys_err(err, errno, "open", HOLD_FILE);
	}
	if (hold >= 0 && flock(hold, LOCK_SH | LOCK_NB))
		st = errno == EWOULDBLOCK
			     ? fsc_err_set(err, FSC_EBUSY, "files_held",
					   "storage: %s stays until the backup that runs is done",
					   key)
			     : sys_err(err, errno, "lock", HOLD_FILE);
	if (st == FSC_OK && unlinkat(d->fd, key, 0))
		st = sys_err(err, errno, "remove", key);
	if (hold >= 0)
		close(hold);
	return st;
}

static enum fsc_status dir_hold(int *fd, struct fsc_blobs *b, struct fsc_err *err)
{
	enum fsc_status st = FSC_OK;

	*fd = openat(((struct dir_blobs *)b)->fd, HOLD_FILE, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (*fd < 0)
		return sys_err(err, errno, "open", HOLD_FILE);
	if (flock(*fd, LOCK_EX | LOCK_NB) == 0)
		return FSC_OK;
	st = errno == EWOULDBLOCK
		     ? fsc_err_set(err, FSC_EBUSY, "files_held", "storage: another backup runs")
		     : sys_err(err, errno, "lock", HOLD_FILE);
	close(*fd);
	*fd = -1;
	return st;
}

static enum fsc_status dir_link(struct fsc_blobs *b, struct fsc_blobs *src, const char *key,
				struct fsc_err *err)
{
	int from = ((struct dir_blobs *)src)->fd, to = ((struct dir_blobs *)b)->fd;

	if (unlinkat(to, key, 0) && errno != ENOENT)
		return sys_err(err, errno, "replace", key);
	if (linkat(from, key, to, key, 0) == 0)
		return FSC_OK;
	if (errno == EXDEV || errno == EPERM || errno == EMLINK || errno == EOPNOTSUPP)
		return fsc_err_set(err, FSC_EUNSUPPORTED, "no_link", "storage: no link to %s", key);
	return sys_err(err, errno, "link", key);
}

/* The whole file system: one call for any number of files. */
static enum fsc_status dir_sync(struct fsc_blobs *b, struct fsc_err *err)
{
	if (syncfs(((struct dir_blobs *)b)->fd))
		return sys_err(err, errno, "sync", ((struct dir_blobs *)b)->path);
	return FSC_OK;
}

/* ---- housekeeping ---- */

struct walk {
	enum fsc_status (*each)(void *ctx, const char *name, uint64_t bytes, int64_t modified_at_ns,
				struct fsc_err *err);
	void *ctx;
	int depth; /* folders below this one */
};

static enum fsc_status walk_dir(int parent, const char *name, const struct walk *w, int depth,
				struct fsc_err *err);

static enum fsc_status walk_entry(int dir, const char *name, const struct walk *w, int depth,
				  struct fsc_err *err)
{
	struct stat sb;

	if (name[0] == '.' || fstatat(dir, name, &sb, AT_SYMLINK_NOFOLLOW))
		return FSC_OK; /* it went away meanwhile */
	if (S_ISDIR(sb.st_mode))
		return depth > 0 ? walk_dir(dir, name, w, depth - 1, err) : FSC_OK;
	if (!S_ISREG(sb.st_mode) || depth > 0)
		return FSC_OK;
	return w->each(w->ctx, name, (uint64_t)sb.st_size,
		       (int64_t)sb.st_mtim.tv_sec * 1000000000 + sb.st_mtim.tv_nsec, err);
}

static enum fsc_status walk_dir(int parent, const char *name, const struct walk *w, int depth,
				struct fsc_err *err)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	enum fsc_status st = FSC_OK;

	if (!dir) {
		st = sys_err(err, errno, "list", name);
		if (fd >= 0)
			close(fd);
		return st;
	}
	for (struct dirent *e = readdir(dir); e && st == FSC_OK; e = readdir(dir))
		st = walk_entry(dirfd(dir), e->d_name, w, depth, err);
	closedir(dir);
	return st;
}

static enum fsc_status dir_list(struct fsc_blobs *b, const char *prefix,
				enum fsc_status (*each)(void *ctx, const char *name, uint64_t bytes,
							int64_t modified_at_ns,
							struct fsc_err *err),
				void *ctx, struct fsc_err *err)
{
	struct walk w = { .each = each, .ctx = ctx };

	/* blobs lie one folder deeper */
	return walk_dir(((struct dir_blobs *)b)->fd, prefix, &w, !strcmp(prefix, "blob"), err);
}

static enum fsc_status dir_scratch(struct fsc_blobs *b, int *fd, struct fsc_err *err)
{
	struct fsc_blob_sink *s;
	enum fsc_status st;

	*fd = openat(((struct dir_blobs *)b)->fd, "tmp", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	if (*fd >= 0)
		return FSC_OK;
	/* not every file system has O_TMPFILE */
	st = sink_new(&s, b, err);
	if (st != FSC_OK)
		return st;
	*fd = s->fd;
	s->fd = -1;
	sink_free(s); /* takes the name away, the descriptor stays */
	return FSC_OK;
}

static enum fsc_status dir_disk_bytes(struct fsc_blobs *b, uint64_t *total, uint64_t *free_bytes,
				      struct fsc_err *err)
{
	return fsc_fs_disk_bytes(total, free_bytes, ((struct dir_blobs *)b)->path, err);
}

static enum fsc_status dir_reserve(struct fsc_blobs *b, uint64_t bytes, struct fsc_err *err)
{
	struct dir_blobs *d = (struct dir_blobs *)b;
	enum fsc_status st = FSC_OK;
	struct stat sb;
	int fd, rc;

	if (!bytes)
		return unlinkat(d->fd, "reserve", 0) && errno != ENOENT
			       ? sys_err(err, errno, "remove", "reserve")
			       : FSC_OK;
	fd = openat(d->fd, "reserve", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return sys_err(err, errno, "create", "reserve");
	if (fstat(fd, &sb) || (uint64_t)sb.st_size < bytes) {
		rc = posix_fallocate(fd, 0, (off_t)bytes);
		if (rc) {
			st = sys_err(err, rc, "reserve", "space");
			(void)!unlinkat(d->fd, "reserve", 0);
		}
	}
	close(fd);
	return st;
}

static const struct fsc_blobs_ops dir_ops = {
	.name = "dir",
	.close = dir_close,
	.sink_new = sink_new,
	.sink_write = sink_write,
	.sink_keep = sink_keep,
	.sink_pause = sink_pause,
	.sink_rest = sink_rest,
	.sink_fd = sink_fd,
	.sink_finish = sink_finish,
	.sink_open = sink_open,
	.sink_commit = sink_commit,
	.sink_place = sink_place,
	.link = dir_link,
	.sync = dir_sync,
	.hold = dir_hold,
	.sink_free = sink_free,
	.open = dir_open,
	.stat = dir_stat,
	.remove = dir_remove,
	.list = dir_list,
	.scratch = dir_scratch,
	.disk_bytes = dir_disk_bytes,
	.reserve = dir_reserve,
};

enum fsc_status fsc_blobs_open_dir(struct fsc_blobs **out, const char *path, bool make,
				   struct fsc_err *err)
{
	struct dir_blobs *d = fsc_xalloc(1, sizeof(*d));
	enum fsc_status st = make ? fsc_fs_mkdirs(path, 0700, err) : FSC_OK;

	*out = NULL;
	d->base.ops = &dir_ops;
	d->path = fsc_xstrdup(path);
	d->fd = -1;
	if (st == FSC_OK) {
		d->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (d->fd < 0)
			st = sys_err(err, errno, "open", path);
	}
	if (st == FSC_OK && make)
		st = make_dirs(d, err);
	if (st != FSC_OK) {
		dir_close(&d->base);
		return st;
	}
	*out = &d->base;
	return FSC_OK;
}
