/* SPDX-License-Identifier: Apache-2.0 */
/* A folder of static files. */
#include "http/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fs.h"
#include "http/mime.h"

#define PIECE (256u << 10)
#define BODY_MAX (16u << 20) /* text up to this goes as a body, which is compressed on the way */

struct fsc_folder {
	int fd;	      /* owned */
	char **names; /* owned, sorted */
	size_t n, cap;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static enum fsc_status add_name(struct fsc_folder *f, const char *name, struct fsc_err *err)
{
	char **more;

	if (f->n == FSC_FOLDER_MAX_FILES)
		return fsc_err_set(err, FSC_ELIMIT, "too_many_files",
				   "the folder has more than %d files", FSC_FOLDER_MAX_FILES);
	if (f->n == f->cap) {
		f->cap = f->cap ? 2 * f->cap : 64;
		more = fsc_realloc(f->names, f->cap, sizeof(*f->names));
		if (!more)
			return fsc_err_set(err, FSC_ENOMEM, NULL, "no memory for a list of files");
		f->names = more;
	}
	f->names[f->n++] = fsc_xstrdup(name);
	return FSC_OK;
}

static enum fsc_status walk(struct fsc_folder *f, int fd, const char *prefix, unsigned depth,
			    struct fsc_err *err);

/* One entry of a folder: into the table, into it, or passed over. */
static enum fsc_status visit(struct fsc_folder *f, int parent, const char *name, const char *prefix,
			     unsigned depth, struct fsc_err *err)
{
	char path[FSC_FOLDER_MAX_NAME + 1];
	int n = snprintf(path, sizeof(path), "%s%s", prefix, name);
	struct stat sb;
	int fd;

	if (fstatat(parent, name, &sb, AT_SYMLINK_NOFOLLOW) != 0)
		return fsc_err_sys(err, errno, "%s%s", prefix, name);
	if (!S_ISREG(sb.st_mode) && !S_ISDIR(sb.st_mode))
		return FSC_OK;
	if (n < 0 || (size_t)n >= sizeof(path) - 1)
		return fsc_err_set(err, FSC_ELIMIT, "name_too_long",
				   "a name below %s is longer than %d bytes", prefix,
				   FSC_FOLDER_MAX_NAME);
	if (S_ISREG(sb.st_mode))
		return add_name(f, path, err);
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return fsc_err_sys(err, errno, "%s", path);
	path[n] = '/';
	path[n + 1] = '\0';
	return walk(f, fd, path, depth + 1, err);
}

/* Takes fd over. */
static enum fsc_status walk(struct fsc_folder *f, int fd, const char *prefix, unsigned depth,
			    struct fsc_err *err)
{
	enum fsc_status st = FSC_OK;
	const struct dirent *e;
	DIR *d;

	if (depth > FSC_FOLDER_MAX_DEPTH) {
		close(fd);
		return fsc_err_set(err, FSC_ELIMIT, "too_deep", "%s is more than %d folders deep",
				   prefix, FSC_FOLDER_MAX_DEPTH);
	}
	d = fdopendir(fd);
	if (!d) {
		st = fsc_err_sys(err, errno, "%s", prefix);
		close(fd);
		return st;
	}
	while (!st && (e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			st = visit(f, dirfd(d), e->d_name, prefix, depth, err);
	closedir(d);
	return st;
}

enum fsc_status fsc_folder_open(struct fsc_folder **out, const char *path, struct fsc_err *err)
{
	struct fsc_folder *f = fsc_xalloc(1, sizeof(*f));
	enum fsc_status st;
	int fd;

	f->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fd = f->fd < 0 ? -1 : fcntl(f->fd, F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		st = fsc_err_sys(err, errno, "%s", path);
	else
		st = walk(f, fd, "", 0, err);
	if (st) {
		fsc_folder_free(f);
		return st;
	}
	if (f->n)
		qsort(f->names, f->n, sizeof(*f->names), by_text);
	*out = f;
	return FSC_OK;
}

void fsc_folder_free(struct fsc_folder *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->n; i++)
		fsc_free(f->names[i]);
	fsc_free(f->names);
	if (f->fd >= 0)
		close(f->fd);
	fsc_free(f);
}

bool fsc_folder_has(const struct fsc_folder *f, const char *name)
{
	return f->n && bsearch(&name, f->names, f->n, sizeof(*f->names), by_text);
}

/* ---- serving ---- */
struct sending {
	int fd;
};

static enum fsc_status send_pieces(void *ctx, struct fsc_stream *s, struct fsc_err *err)
{
	const struct sending *f = ctx;
	char *piece = fsc_xalloc(1, PIECE);
	enum fsc_status st = FSC_OK;
	ssize_t n;

	while (!st && (n = read(f->fd, piece, PIECE)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		st = n < 0 ? fsc_err_sys(err, errno, "static file")
			   : fsc_stream_write(s, piece, (size_t)n);
	}
	fsc_free(piece);
	return st;
}

static void end_sending(void *ctx)
{
	struct sending *f = ctx;

	close(f->fd);
	fsc_free(f);
}

/* Text goes as a body. Takes fd over. */
static void send_text(struct fsc_resp *resp, int fd, size_t size)
{
	struct fsc_err err = FSC_ERR_INIT;
	char *room = size ? fsc_buf_room(&resp->body, size) : NULL;

	if (room && fsc_fs_read_all(fd, room, size, &err))
		fsc_resp_error(resp, 500, "static_file", "the file cannot be read: %s", err.msg);
	else if (room)
		resp->body.len = size;
	close(fd);
}

static void send_fd(struct fsc_resp *resp, int fd, const char *name)
{
	struct sending *s;
	struct stat sb;

	if (fsc_fs_fstat(fd, &sb) != 0 || !S_ISREG(sb.st_mode)) {
		close(fd);
		fsc_resp_error(resp, 404, "no_such_file", "there is nothing at this path");
		return;
	}
	const int64_t key[] = { sb.st_size, sb.st_mtim.tv_sec, sb.st_mtim.tv_nsec };

	if (fsc_resp_not_modified(resp, key, sizeof(key))) {
		close(fd);
		return;
	}
	resp->cache_control = "no-cache"; /* kept, but asked for each time: the tag answers */
	resp->content_type = fsc_mime_of(name);
	resp->status = 200;
	if (sb.st_size <= BODY_MAX && strncmp(resp->content_type, "text/", 5) == 0) {
		send_text(resp, fd, (size_t)sb.st_size);
		return;
	}
	s = fsc_xalloc(1, sizeof(*s));
	s->fd = fd;
	fsc_resp_stream(resp, resp->content_type, send_pieces, s, end_sending);
}

void fsc_folder_serve(const struct fsc_folder *f, struct fsc_req *req, struct fsc_resp *resp,
		      const char *csp)
{
	const char *name = req->path[0] == '/' ? req->path + 1 : req->path;
	int fd = -1;

	if (!*name)
		name = "index.html";
	if (fsc_folder_has(f, name))
		fd = openat(f->fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		fsc_resp_error(resp, 404, "no_such_file", "there is nothing at this path");
		return;
	}
	resp->csp = csp;
	send_fd(resp, fd, name);
}
