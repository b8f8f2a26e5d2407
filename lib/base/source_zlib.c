/* SPDX-License-Identifier: Apache-2.0 */
/* zlib source (RFC 1950), for single blocks inside other formats: one stream, its Adler-32 enforced by zlib. */
#include "base/source.h"

#include <stdbool.h>

#include <zlib.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "base/source_int.h"

struct zlib_source {
	struct fsc_source base;
	struct fsc_source *inner; /* owned */
	z_stream z;
	uint64_t out_total;
	bool ended;
	struct fsc_source_sticky sticky;
	uint8_t buf[16 * 1024];
};

static enum fsc_status fault(struct zlib_source *s, const char *code, const char *what)
{
	return fsc_err_set(&s->sticky.err, FSC_ECORRUPT, code, "zlib: %s at compressed byte %llu",
			   what, (unsigned long long)(s->inner->consumed - s->z.avail_in));
}

/* Makes input, or says that there is none. */
static enum fsc_status refill(struct zlib_source *s)
{
	size_t n;
	enum fsc_status st;

	if (s->z.avail_in)
		return FSC_OK;
	st = fsc_source_read_some(s->inner, s->buf, sizeof(s->buf), &n, &s->sticky.err);
	s->z.next_in = s->buf;
	s->z.avail_in = st == FSC_OK ? (uInt)n : 0;
	return st == FSC_END ? fault(s, "zlib_truncated", "the data end inside the stream") : st;
}

static enum fsc_status decode(struct zlib_source *s, void *buf, size_t cap, size_t *n)
{
	s->z.next_out = buf;
	s->z.avail_out = (uInt)(cap < (1u << 30) ? cap : 1u << 30);
	uInt room = s->z.avail_out;

	while (s->z.avail_out == room) {
		if (s->ended)
			return s->z.avail_in
				       ? fault(s, "zlib_trailing", "other bytes follow the stream")
				       : FSC_END;
		enum fsc_status st = refill(s);
		if (st != FSC_OK)
			return st;
		int ret = inflate(&s->z, Z_NO_FLUSH);
		s->ended = ret == Z_STREAM_END;
		if (ret == Z_MEM_ERROR)
			return fsc_err_set(&s->sticky.err, FSC_ENOMEM, NULL,
					   "zlib: no memory to decompress");
		if (ret != Z_OK && ret != Z_STREAM_END && ret != Z_BUF_ERROR)
			return fault(s, "zlib_corrupt", "the stream is damaged");
	}
	*n = room - s->z.avail_out;
	s->out_total += *n;
	return fsc_source_check_ratio(s->inner->consumed, s->out_total, FSC_RATIO_GRACE_BYTES,
				      "zlib", &s->sticky.err);
}

static enum fsc_status zlib_read(struct fsc_source *base, void *buf, size_t cap, size_t *n,
				 struct fsc_err *err)
{
	struct zlib_source *s = (struct zlib_source *)base;

	*n = 0;
	if (s->sticky.st == FSC_OK)
		s->sticky.st = decode(s, buf, cap, n);
	if (s->sticky.st < 0)
		fsc_err_at(&s->sticky.err, NULL, (int64_t)s->out_total);
	if (s->sticky.st == FSC_OK)
		return FSC_OK;
	*n = 0;
	return fsc_source_repeat(&s->sticky, err);
}

static void zlib_free(struct fsc_source *base)
{
	struct zlib_source *s = (struct zlib_source *)base;

	inflateEnd(&s->z);
	fsc_source_free(s->inner);
	fsc_free(s);
}

struct fsc_source *fsc_source_zlib(struct fsc_source *inner)
{
	static const struct fsc_source_ops ops = { .name = "zlib",
						   .read = zlib_read,
						   .free = zlib_free };
	struct zlib_source *s = fsc_xalloc(1, sizeof(*s));

	s->base.ops = &ops;
	s->inner = inner;
	if (inflateInit(&s->z) != Z_OK)
		fsc_out_of_memory(0);
	return &s->base;
}
