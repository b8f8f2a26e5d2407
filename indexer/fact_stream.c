/* SPDX-License-Identifier: Apache-2.0 */
/* Buffered writer of fact frames on the socket that the parent gave. */
#include "indexer/fact_stream.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "facts/fact_codec.h"

#define FLUSH_BYTES 65536

void fsc_fact_stream_init(struct fsc_fact_stream *s, int fd)
{
	memset(s, 0, sizeof(*s));
	s->fd = fd;
	fsc_buf_init(&s->out, FLUSH_BYTES + 2 * FSC_MAX_FACT_FRAME);
	fsc_arena_init(&s->text, 64 * FSC_MIB);
}

void fsc_fact_stream_fini(struct fsc_fact_stream *s)
{
	fsc_buf_fini(&s->out);
	fsc_arena_fini(&s->text);
}

/* Largest m <= max where text may be cut without cutting a character. */
static size_t cut_at(const char *text, size_t n, size_t max)
{
	size_t m = n < max ? n : max;

	if (m == n)
		return n;
	while (m > 0 && ((unsigned char)text[m] & 0xC0) == 0x80)
		m--;
	return m;
}

const char *fsc_fact_stream_text(struct fsc_fact_stream *s, const char *text, size_t n)
{
	struct fsc_buf b = FSC_BUF_INIT(4 * FSC_FACT_TEXT_MAX);
	size_t m = cut_at(text, n, FSC_FACT_TEXT_MAX);

	if (m == n && !memchr(text, '\0', n) && fsc_utf8_valid(text, n))
		return text;
	s->n_cut++;
	for (const char *p = text, *end = text + m; p < end;) {
		const char *nul = memchr(p, '\0', (size_t)(end - p));
		size_t part = (size_t)((nul ? nul : end) - p);

		fsc_utf8_repair(&b, p, part);
		if (nul)
			fsc_buf_adds(&b, "\xE2\x90\x80"); /* U+2400, the picture of a NUL */
		p += part + (nul ? 1 : 0);
	}
	const char *fit = fsc_buf_status(&b) == FSC_OK && b.data
				  ? fsc_arena_dup(&s->text, b.data, b.len)
				  : NULL;
	fsc_buf_fini(&b);
	return fit ? fit : "";
}

enum fsc_status fsc_fact_stream_flush(struct fsc_fact_stream *s, struct fsc_err *err)
{
	if (s->broken)
		return fsc_err_set(err, FSC_EIO, "parent_gone", "parent takes no more facts");
	if (s->out.len && fsc_fs_write_all(s->fd, s->out.data, s->out.len, err) != FSC_OK) {
		s->broken = true;
		return fsc_err_set(err, FSC_EIO, "parent_gone", "parent takes no more facts");
	}
	fsc_buf_clear(&s->out);
	return FSC_OK;
}

enum fsc_status fsc_fact_stream_put(struct fsc_fact_stream *s, const struct fsc_fact *f,
				    struct fsc_err *err)
{
	enum fsc_status st = fsc_fact_encode(&s->out, f);

	if (st != FSC_OK)
		return fsc_err_set(err, st == FSC_ENOMEM ? st : FSC_EBUG, NULL,
				   "fact %s does not fit", fsc_fact_type_name(f->type));
	fsc_arena_fini(&s->text);
	fsc_arena_init(&s->text, 64 * FSC_MIB);
	if (s->out.len < FLUSH_BYTES && f->type != FSC_FACT_SEGMENT_WANTED &&
	    f->type != FSC_FACT_PROGRESS && f->type != FSC_FACT_END)
		return FSC_OK;
	return fsc_fact_stream_flush(s, err);
}

enum fsc_status fsc_fact_stream_segment(int *fd, struct fsc_fact_stream *s, int64_t bytes_hint,
					struct fsc_err *err)
{
	struct fsc_fact f = { .type = FSC_FACT_SEGMENT_WANTED,
			      .u.segment_wanted = { .bytes_hint = bytes_hint } };
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} u;
	char byte = 0;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr mh = { .msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = u.buf,
			     .msg_controllen = sizeof(u.buf) };
	ssize_t n = 0;
	enum fsc_status st = fsc_fact_stream_put(s, &f, err);

	if (st != FSC_OK)
		return st;
	do
		n = recvmsg(s->fd, &mh, 0);
	while (n < 0 && errno == EINTR);
	struct cmsghdr *cm = n == 1 ? CMSG_FIRSTHDR(&mh) : NULL;
	if (!cm || cm->cmsg_level != SOL_SOCKET || cm->cmsg_type != SCM_RIGHTS ||
	    cm->cmsg_len != CMSG_LEN(sizeof(int))) {
		s->broken = true;
		return fsc_err_set(err, FSC_EIO, "parent_gone", "parent gave no segment");
	}
	memcpy(fd, CMSG_DATA(cm), sizeof(*fd));
	return FSC_OK;
}
