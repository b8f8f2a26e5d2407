/* SPDX-License-Identifier: Apache-2.0 */
/* What backup and restore do alike: marks of what is unfinished, and copying what rows name. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fs.h"
#include "service/backup_int.h"
#include "store/files.h"

#define PIECE_BYTES (1u << 20)

char *fsc_backup_path(const char *dir, const char *name)
{
	return fsc_xasprintf("%s/%s", dir, name);
}

bool fsc_backup_has(const char *dir, const char *name)
{
	char *path = fsc_backup_path(dir, name);
	bool yes = access(path, F_OK) == 0;

	fsc_free(path);
	return yes;
}

bool fsc_backup_is_empty(const char *dir)
{
	DIR *d = opendir(dir);
	bool empty = true;

	if (!d)
		return errno == ENOENT;
	for (struct dirent *e = readdir(d); e && empty; e = readdir(d))
		/* a volume that was just made has lost+found */
		empty = !strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
			!strcmp(e->d_name, "lost+found");
	closedir(d);
	return empty;
}

/* Made in place, so that a kill leaves no other name behind; an empty mark is one of another start. */
static enum fsc_status make_mark(const char *path, const char *text, size_t n, struct fsc_err *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	enum fsc_status st;

	if (fd < 0)
		return fsc_err_sys(err, errno, "create %s", path);
	st = fsc_fs_write_all(fd, text, n, err);
	if (st == FSC_OK && fdatasync(fd))
		st = fsc_err_sys(err, errno, "sync %s", path);
	close(fd);
	return st;
}

enum fsc_status fsc_backup_mark(const char *dir, const char *name, bool *again, struct fsc_err *err)
{
	char *path = fsc_backup_path(dir, name), *was = NULL, *boot = NULL;
	size_t n_was = 0, n_boot = 0;
	enum fsc_status st =
		fsc_fs_read_file(&boot, &n_boot, "/proc/sys/kernel/random/boot_id", 4096, err);

	*again = false;
	/* An older mark stays as it is: until everything was copied again, it is the truth. */
	if (st == FSC_OK && access(path, F_OK) == 0) {
		st = fsc_fs_read_file(&was, &n_was, path, 4096, err);
		*again = st == FSC_OK && (n_was != n_boot || memcmp(was, boot, n_boot) != 0);
	} else if (st == FSC_OK) {
		st = make_mark(path, boot, n_boot, err);
	}
	if (st == FSC_OK)
		st = fsc_fs_sync_dir(dir, err);
	fsc_free(was);
	fsc_free(boot);
	fsc_free(path);
	return st;
}

enum fsc_status fsc_backup_unmark(const char *dir, const char *name, struct fsc_err *err)
{
	char *path = fsc_backup_path(dir, name);
	enum fsc_status st = FSC_OK;

	if (unlink(path) && errno != ENOENT)
		st = fsc_err_sys(err, errno, "remove %s", path);
	fsc_free(path);
	return st == FSC_OK ? fsc_fs_sync_dir(dir, err) : st;
}

enum fsc_status fsc_backup_rename(const char *dir, const char *from, const char *to,
				  struct fsc_err *err)
{
	char *a = fsc_backup_path(dir, from), *b = fsc_backup_path(dir, to);
	enum fsc_status st = FSC_OK;

	if (rename(a, b))
		st = fsc_err_sys(err, errno, "rename %s to %s", a, b);
	fsc_free(a);
	fsc_free(b);
	return st == FSC_OK ? fsc_fs_sync_dir(dir, err) : st;
}

enum fsc_status fsc_backup_open_db(struct fsc_store **out, const char *dir, const char *name,
				   struct fsc_err *err)
{
	const struct fsc_store_opts opts = { .read_only = true };
	char *url = fsc_xasprintf("sqlite:%s/%s", dir, name);
	enum fsc_status st = fsc_store_open(out, url, &opts, err);

	fsc_free(url);
	return st;
}

/* ---- files ---- */

struct copying {
	const struct fsc_backup_opts *o;
	const struct fsc_blob_copy *c;
	struct fsc_backup_done *done;
};

/* A file that is not there, or not whole, is told and passed over: the others are wanted all the more. */
static enum fsc_status counted(struct copying *k, enum fsc_status st, uint64_t bytes, bool fresh,
			       const struct fsc_err *why, struct fsc_err *err)
{
	if (st == FSC_ENOTFOUND || st == FSC_ECORRUPT) {
		k->done->lost++;
		if (k->o->lost)
			k->o->lost(k->o->ctx, why->msg);
		return FSC_OK;
	}
	if (st != FSC_OK) {
		if (err)
			*err = *why;
		return st;
	}
	k->done->bytes += bytes;
	k->done->fresh_files += fresh;
	k->done->fresh_bytes += fresh ? bytes : 0;
	return FSC_OK;
}

static enum fsc_status copy_blob(void *ctx, const struct fsc_file_row *row, struct fsc_err *err)
{
	struct copying *k = ctx;
	struct fsc_err why = FSC_ERR_INIT;
	bool fresh = false;
	enum fsc_status st = fsc_blob_copy(k->c, row->sha256, (uint64_t)row->bytes, &fresh, &why);

	k->done->blobs += st == FSC_OK;
	return counted(k, st, (uint64_t)row->bytes, fresh, &why, err);
}

static enum fsc_status copy_segment(void *ctx, const struct fsc_file_row *row, struct fsc_err *err)
{
	struct copying *k = ctx;
	struct fsc_err why = FSC_ERR_INIT;
	bool fresh = false;
	enum fsc_status st =
		fsc_seg_file_copy(k->c, row->segment, (uint64_t)row->bytes, &fresh, &why);

	k->done->segments += st == FSC_OK;
	return counted(k, st, (uint64_t)row->bytes, fresh, &why, err);
}

enum fsc_status fsc_backup_copy_files(const struct fsc_backup_opts *o,
				      const struct fsc_blob_copy *c, struct fsc_store *s,
				      struct fsc_backup_done *done, struct fsc_err *err)
{
	struct copying k = { o, c, done };
	enum fsc_status st = fsc_store_each_blob(s, copy_blob, &k, err);

	return st == FSC_OK ? fsc_store_each_segment(s, copy_segment, &k, err) : st;
}

/* ---- one file with its digest ---- */

static enum fsc_status pump(struct fsc_sha256 *h, uint64_t *bytes, int from, int to,
			    struct fsc_err *err)
{
	char *piece = fsc_xalloc(1, PIECE_BYTES);
	enum fsc_status st = FSC_OK;
	ssize_t n;

	while (st == FSC_OK && (n = read(from, piece, PIECE_BYTES)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			st = fsc_err_sys(err, errno, "read");
			break;
		}
		fsc_sha256_update(h, piece, (size_t)n);
		*bytes += (uint64_t)n;
		if (to >= 0)
			st = fsc_fs_write_all(to, piece, (size_t)n, err);
	}
	fsc_free(piece);
	return st;
}

enum fsc_status fsc_backup_digest(uint8_t sha256[FSC_SHA256_LEN], uint64_t *bytes, const char *path,
				  const char *to, struct fsc_err *err)
{
	struct fsc_sha256 *h = fsc_sha256_new();
	int from = open(path, O_RDONLY | O_CLOEXEC), out = -1;
	enum fsc_status st = FSC_OK;

	*bytes = 0;
	if (from < 0)
		st = fsc_err_sys(err, errno, "open %s", path);
	if (st == FSC_OK && to) {
		out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		if (out < 0)
			st = fsc_err_sys(err, errno, "create %s", to);
	}
	if (st == FSC_OK)
		st = pump(h, bytes, from, out, err);
	if (st == FSC_OK && out >= 0 && fdatasync(out))
		st = fsc_err_sys(err, errno, "sync %s", to);
	fsc_sha256_final(h, sha256);
	fsc_sha256_free(h);
	if (out >= 0)
		close(out);
	if (from >= 0)
		close(from);
	return st;
}
