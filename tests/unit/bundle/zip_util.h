/* SPDX-License-Identifier: Apache-2.0 */
/* Makes zip archives in memory, member by member, in all forms that writers have, and in wrong ones. */
#ifndef FSC_TESTS_BUNDLE_ZIP_UTIL_H
#define FSC_TESTS_BUNDLE_ZIP_UTIL_H

#include <zlib.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "tests/support/test.h"

enum {
	ZIP_DEFLATED = 1,
	ZIP_STREAMED = 2, /* sizes and checksum behind the data */
	ZIP_64 = 4,	  /* sizes of 8 bytes, in an extra field or behind the data */
	ZIP_UTF8 = 8,	  /* says that its name is UTF-8 */
	ZIP_ENCRYPTED = 16,
	ZIP_NO_MARK = 32, /* no signature before what stands behind the data */
	ZIP_UNLISTED = 64,
	ZIP_BZIP2 = 128, /* says so; the bytes are not */
};

struct zip {
	struct fsc_buf out, directory;
	uint64_t n;    /* members listed */
	uint64_t base; /* bytes that stand before out */
};

static inline void zip_init(struct zip *z)
{
	fsc_buf_init(&z->out, SIZE_MAX);
	fsc_buf_init(&z->directory, SIZE_MAX);
	z->n = 0;
	z->base = 0;
}

static inline void zip_fini(struct zip *z)
{
	fsc_buf_fini(&z->out);
	fsc_buf_fini(&z->directory);
}

static inline void zip_deflate(struct fsc_buf *out, const void *p, size_t n)
{
	z_stream s = { .zalloc = Z_NULL };

	assert_int_equal(deflateInit2(&s, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
	size_t cap = deflateBound(&s, n) + 64;
	char *room = fsc_buf_room(out, cap);
	assert_non_null(room);
	s.next_in = (z_const Bytef *)p;
	s.avail_in = (uInt)n;
	s.next_out = (Bytef *)room;
	s.avail_out = (uInt)cap;
	assert_int_equal(deflate(&s, Z_FINISH), Z_STREAM_END);
	out->len += s.total_out;
	deflateEnd(&s);
}

struct zip_sizes {
	uint32_t crc;
	uint64_t packed, plain;
};

static inline uint16_t zip_method(unsigned flags)
{
	return flags & ZIP_BZIP2 ? 12 : flags & ZIP_DEFLATED ? 8 : 0;
}

/* The 26 bytes that local header and directory entry share, from "version needed" to the length of the name. */
static inline void zip_common(struct fsc_buf *b, unsigned flags, const struct zip_sizes *s,
			      size_t name_len, size_t extra_len)
{
	fsc_buf_u16(b, flags & ZIP_64 ? 45 : 20);
	fsc_buf_u16(b, (uint16_t)((flags & ZIP_ENCRYPTED ? 1 : 0) | (flags & ZIP_STREAMED ? 8 : 0) |
				  (flags & ZIP_UTF8 ? 0x800 : 0)));
	fsc_buf_u16(b, zip_method(flags));
	fsc_buf_u32(b, 0x50210000); /* 2020-01-01 */
	fsc_buf_u32(b, s->crc);
	fsc_buf_u32(b, flags & ZIP_64 ? UINT32_MAX : (uint32_t)s->packed);
	fsc_buf_u32(b, flags & ZIP_64 ? UINT32_MAX : (uint32_t)s->plain);
	fsc_buf_u16(b, (uint16_t)name_len);
	fsc_buf_u16(b, (uint16_t)extra_len);
}

static inline void zip_extra64(struct fsc_buf *b, unsigned flags, const struct zip_sizes *s)
{
	if (!(flags & ZIP_64))
		return;
	fsc_buf_u16(b, 1);
	fsc_buf_u16(b, 16);
	fsc_buf_u64(b, s->plain);
	fsc_buf_u64(b, s->packed);
}

static inline void zip_local(struct zip *z, const char *name, unsigned flags,
			     const struct zip_sizes *s)
{
	static const struct zip_sizes unknown;
	const struct zip_sizes *said = flags & ZIP_STREAMED ? &unknown : s;

	fsc_buf_add(&z->out, "PK\3\4", 4);
	zip_common(&z->out, flags, said, strlen(name), flags & ZIP_64 ? 20 : 0);
	fsc_buf_adds(&z->out, name);
	zip_extra64(&z->out, flags, said);
}

static inline void zip_listed(struct zip *z, const char *name, unsigned flags,
			      const struct zip_sizes *s, uint64_t at)
{
	bool far = at >= UINT32_MAX;

	fsc_buf_add(&z->directory, "PK\1\2\x14", 6);
	zip_common(&z->directory, flags, s, strlen(name),
		   (flags & ZIP_64 ? 20 : 0) + (far ? 12 : 0) - (far && flags & ZIP_64 ? 4 : 0));
	fsc_buf_u16(&z->directory, 0); /* comment, disk, attributes */
	fsc_buf_u16(&z->directory, 0);
	fsc_buf_u16(&z->directory, 0);
	fsc_buf_u32(&z->directory, 0);
	fsc_buf_u32(&z->directory, far ? UINT32_MAX : (uint32_t)at);
	fsc_buf_adds(&z->directory, name);
	if (flags & ZIP_64 || far) {
		fsc_buf_u16(&z->directory, 1);
		fsc_buf_u16(&z->directory, (flags & ZIP_64 ? 16 : 0) + (far ? 8 : 0));
	}
	if (flags & ZIP_64) {
		fsc_buf_u64(&z->directory, s->plain);
		fsc_buf_u64(&z->directory, s->packed);
	}
	if (far)
		fsc_buf_u64(&z->directory, at);
	z->n++;
}

static inline void zip_behind(struct zip *z, unsigned flags, const struct zip_sizes *s)
{
	if (!(flags & ZIP_STREAMED))
		return;
	if (!(flags & ZIP_NO_MARK))
		fsc_buf_add(&z->out, "PK\7\10", 4);
	fsc_buf_u32(&z->out, s->crc);
	if (flags & ZIP_64) {
		fsc_buf_u64(&z->out, s->packed);
		fsc_buf_u64(&z->out, s->plain);
	} else {
		fsc_buf_u32(&z->out, (uint32_t)s->packed);
		fsc_buf_u32(&z->out, (uint32_t)s->plain);
	}
}

static inline void zip_add(struct zip *z, const char *name, const void *p, size_t n, unsigned flags)
{
	struct fsc_buf data = FSC_BUF_INIT(SIZE_MAX);
	uint64_t at = z->base + z->out.len;

	if (flags & ZIP_DEFLATED)
		zip_deflate(&data, p, n);
	else
		fsc_buf_add(&data, p, n);
	struct zip_sizes s = { (uint32_t)crc32_z(0, p, n), data.len, n };
	zip_local(z, name, flags, &s);
	fsc_buf_add(&z->out, data.data, data.len);
	zip_behind(z, flags, &s);
	if (!(flags & ZIP_UNLISTED))
		zip_listed(z, name, flags, &s, at);
	fsc_buf_fini(&data);
}

static inline void zip_text(struct zip *z, const char *name, const char *text, unsigned flags)
{
	zip_add(z, name, text, strlen(text), flags);
}

/* Directory and end, as z->n says; force64 writes the zip64 records for any number. */
static inline void zip_end(struct zip *z, bool force64)
{
	uint64_t at = z->base + z->out.len;
	bool large = force64 || z->n >= UINT16_MAX || at >= UINT32_MAX;

	fsc_buf_add(&z->out, z->directory.data ? z->directory.data : "", z->directory.len);
	if (large) {
		fsc_buf_add(&z->out, "PK\6\6", 4);
		fsc_buf_u64(&z->out, 44);
		fsc_buf_u32(&z->out, 45 | 45 << 16);
		fsc_buf_u64(&z->out, 0); /* this disk, disk of the directory */
		fsc_buf_u64(&z->out, z->n);
		fsc_buf_u64(&z->out, z->n);
		fsc_buf_u64(&z->out, z->directory.len);
		fsc_buf_u64(&z->out, at);
		fsc_buf_add(&z->out, "PK\6\7\0\0\0", 8);
		fsc_buf_u64(&z->out, at + z->directory.len);
		fsc_buf_u32(&z->out, 1);
	}
	fsc_buf_add(&z->out, "PK\5\6\0\0\0", 8);
	fsc_buf_u16(&z->out, large ? UINT16_MAX : (uint16_t)z->n);
	fsc_buf_u16(&z->out, large ? UINT16_MAX : (uint16_t)z->n);
	fsc_buf_u32(&z->out, (uint32_t)z->directory.len);
	fsc_buf_u32(&z->out, large ? UINT32_MAX : (uint32_t)at);
	fsc_buf_u16(&z->out, 0);
}

#endif
