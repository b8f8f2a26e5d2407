/* SPDX-License-Identifier: Apache-2.0 */
/* Makes gzip members for tests, with zlib and by hand. */
#ifndef FSC_TESTS_UNIT_BASE_GZIP_UTIL_H
#define FSC_TESTS_UNIT_BASE_GZIP_UTIL_H

#include <zlib.h>

#include "base/bytes.h"
#include "tests/support/test.h"

enum { GZ_FHCRC = 2, GZ_FEXTRA = 4, GZ_FNAME = 8, GZ_FCOMMENT = 16 };

static inline void add_u32(struct fsc_buf *b, uint32_t v)
{
	fsc_buf_u32(b, v);
}

/* Header with the wanted optional fields. */
static inline void gz_head(struct fsc_buf *b, unsigned flags)
{
	size_t start = b->len;
	fsc_buf_add(b, "\x1f\x8b\x08", 3);
	fsc_buf_u8(b, (uint8_t)flags);
	fsc_buf_add(b, "\x01\x02\x03\x04\x00\x03", 6);
	if (flags & GZ_FEXTRA) {
		fsc_buf_u16(b, 300);
		for (int i = 0; i < 300; i++)
			fsc_buf_u8(b, (uint8_t)i);
	}
	if (flags & GZ_FNAME)
		fsc_buf_add(b, "trace.json", 11);
	if (flags & GZ_FCOMMENT)
		fsc_buf_add(b, "a comment", 10);
	if (flags & GZ_FHCRC) {
		uLong crc = crc32(0, (const Bytef *)b->data + start, (uInt)(b->len - start));
		fsc_buf_u16(b, (uint16_t)crc);
	}
}

/* Raw deflate of p; flush is Z_FINISH or Z_FULL_FLUSH (then not ended). */
static inline void gz_deflate(struct fsc_buf *b, const void *p, size_t n, int level, int strategy,
			      int flush)
{
	z_stream z;
	memset(&z, 0, sizeof(z));
	assert_int_equal(deflateInit2(&z, level, Z_DEFLATED, -15, 8, strategy), Z_OK);
	size_t bound = deflateBound(&z, n) + 64;
	char *dst = fsc_buf_room(b, bound);
	assert_non_null(dst);
	z.next_in = (Bytef *)(uintptr_t)p;
	z.avail_in = (uInt)n;
	z.next_out = (Bytef *)dst;
	z.avail_out = (uInt)bound;
	assert_int_equal(deflate(&z, flush), flush == Z_FINISH ? Z_STREAM_END : Z_OK);
	b->len += bound - z.avail_out;
	deflateEnd(&z);
}

static inline void gz_trailer(struct fsc_buf *b, const void *p, size_t n)
{
	add_u32(b, (uint32_t)crc32_z(crc32(0, NULL, 0), p, n));
	add_u32(b, (uint32_t)n);
}

/* A whole member. */
static inline void gz_member(struct fsc_buf *b, const void *p, size_t n, int level, unsigned flags)
{
	gz_head(b, flags);
	gz_deflate(b, p, n, level, Z_DEFAULT_STRATEGY, Z_FINISH);
	gz_trailer(b, p, n);
}

#endif
