/* SPDX-License-Identifier: Apache-2.0 */
/* Plain byte sources (memory, descriptor) and the reader that fills a whole buffer. */
#include "base/source.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fs.h"
#include "base/source_int.h"

#define STEP_MAX ((size_t)1 << 26)

enum fsc_status fsc_source_read_some(struct fsc_source *s, void *buf, size_t cap, size_t *n,
				     struct fsc_err *err)
{
	*n = 0;
	enum fsc_status st = s->ops->read(s, buf, cap, n, err);
	if (st == FSC_OK)
		s->consumed += *n;
	else
		*n = 0;
	return st;
}

enum fsc_status fsc_source_read(struct fsc_source *s, void *buf, size_t cap, size_t *n,
				struct fsc_err *err)
{
	char *dst = buf;
	size_t got = 0;
	enum fsc_status st = FSC_OK;
	while (got < cap && st == FSC_OK) {
		size_t k;
		/* A fault behind bytes that were read is told by the next call: sources repeat it. */
		st = fsc_source_read_some(s, dst + got, cap - got, &k, got ? NULL : err);
		got += k;
	}
	*n = got;
	return got ? FSC_OK : st;
}

void fsc_source_free(struct fsc_source *s)
{
	if (s)
		s->ops->free(s);
}

int fsc_source_plain_fd(struct fsc_source *s)
{
	return s->ops->plain_fd ? s->ops->plain_fd(s) : -1;
}

struct mem_source {
	struct fsc_source base;
	const char *p; /* borrowed */
	size_t left;
};

static enum fsc_status mem_read(struct fsc_source *s, void *buf, size_t cap, size_t *n,
				struct fsc_err *err)
{
	(void)err;
	struct mem_source *m = (struct mem_source *)s;
	size_t k = cap < m->left ? cap : m->left;
	if (k == 0)
		return FSC_END;
	memcpy(buf, m->p, k);
	m->p += k;
	m->left -= k;
	*n = k;
	return FSC_OK;
}

static void plain_free(struct fsc_source *s)
{
	fsc_free(s);
}

static const struct fsc_source_ops mem_ops = { .name = "mem",
					       .read = mem_read,
					       .free = plain_free };

struct fsc_source *fsc_source_mem(const void *p, size_t n)
{
	struct mem_source *m = fsc_xalloc(1, sizeof(*m));
	m->base.ops = &mem_ops;
	m->p = p;
	m->left = n;
	return &m->base;
}

struct fd_source {
	struct fsc_source base;
	int fd;	    /* borrowed */
	int errnum; /* of the read that failed; told again by later calls */
};

static enum fsc_status fd_read(struct fsc_source *s, void *buf, size_t cap, size_t *n,
			       struct fsc_err *err)
{
	struct fd_source *f = (struct fd_source *)s;
	ssize_t r = -1;
	while (!f->errnum && r < 0) {
		r = read(f->fd, buf, cap < STEP_MAX ? cap : STEP_MAX);
		if (r < 0 && errno != EINTR)
			f->errnum = errno;
	}
	if (f->errnum) {
		enum fsc_status st = fsc_err_sys(err, f->errnum, "read input");
		fsc_err_at(err, NULL, (int64_t)s->consumed);
		return st;
	}
	*n = (size_t)r;
	return r ? FSC_OK : FSC_END;
}

/* The source has to have begun at the file's first byte. */
static int fd_plain(struct fsc_source *s)
{
	struct fd_source *f = (struct fd_source *)s;
	struct stat sb;
	off_t at = lseek(f->fd, 0, SEEK_CUR);

	if (at < 0 || (uint64_t)at != s->consumed || fsc_fs_fstat(f->fd, &sb) < 0 ||
	    !S_ISREG(sb.st_mode))
		return -1;
	return f->fd;
}

static const struct fsc_source_ops fd_ops = {
	.name = "fd", .read = fd_read, .free = plain_free, .plain_fd = fd_plain
};

struct fsc_source *fsc_source_fd(int fd)
{
	struct fd_source *f = fsc_xalloc(1, sizeof(*f));
	f->base.ops = &fd_ops;
	f->fd = fd;
	return &f->base;
}
