/* SPDX-License-Identifier: Apache-2.0 */
/* Little-endian numbers and varints, read with bounds and written to a buffer. */
#include "base/bytes.h"

/* n bytes at the cursor, which then moves; NULL and failed when they are not there. */
const uint8_t *fsc_cur_bytes(struct fsc_cur *c, size_t n)
{
	if (c->failed || n > (size_t)(c->end - c->p)) {
		c->failed = true;
		return NULL;
	}
	const uint8_t *p = c->p;
	c->p += n;
	return p;
}

static uint64_t load_le(const uint8_t *p, unsigned n)
{
	uint64_t v = 0;
	for (unsigned i = 0; i < n; i++)
		v |= (uint64_t)p[i] << (8 * i);
	return v;
}

uint8_t fsc_cur_u8(struct fsc_cur *c)
{
	const uint8_t *p = fsc_cur_bytes(c, 1);
	return p ? *p : 0;
}

uint16_t fsc_cur_u16(struct fsc_cur *c)
{
	const uint8_t *p = fsc_cur_bytes(c, 2);
	return p ? (uint16_t)load_le(p, 2) : 0;
}

uint32_t fsc_cur_u32(struct fsc_cur *c)
{
	const uint8_t *p = fsc_cur_bytes(c, 4);
	return p ? (uint32_t)load_le(p, 4) : 0;
}

uint64_t fsc_cur_u64(struct fsc_cur *c)
{
	const uint8_t *p = fsc_cur_bytes(c, 8);
	return p ? load_le(p, 8) : 0;
}

int64_t fsc_cur_i64(struct fsc_cur *c)
{
	return (int64_t)fsc_cur_u64(c);
}

uint64_t fsc_cur_varint(struct fsc_cur *c)
{
	uint64_t v = 0;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		const uint8_t *p = fsc_cur_bytes(c, 1);
		if (!p)
			return 0;
		uint64_t low = *p & 0x7Fu;
		if (shift == 63 && low > 1)
			break; /* past 64 bits */
		v |= low << shift;
		if (!(*p & 0x80u))
			return v;
	}
	c->failed = true;
	return 0;
}

static void store_le(struct fsc_buf *b, uint64_t v, unsigned n)
{
	uint8_t tmp[8];
	for (unsigned i = 0; i < n; i++)
		tmp[i] = (uint8_t)(v >> (8 * i));
	fsc_buf_add(b, tmp, n);
}

void fsc_buf_u8(struct fsc_buf *b, uint8_t v)
{
	store_le(b, v, 1);
}

void fsc_buf_u16(struct fsc_buf *b, uint16_t v)
{
	store_le(b, v, 2);
}

void fsc_buf_u32(struct fsc_buf *b, uint32_t v)
{
	store_le(b, v, 4);
}

void fsc_buf_u64(struct fsc_buf *b, uint64_t v)
{
	store_le(b, v, 8);
}

void fsc_buf_varint(struct fsc_buf *b, uint64_t v)
{
	uint8_t tmp[10];
	size_t n = 0;
	while (v >= 0x80) {
		tmp[n++] = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	tmp[n++] = (uint8_t)v;
	fsc_buf_add(b, tmp, n);
}
