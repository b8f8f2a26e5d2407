/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protobuf wire format into a struct fsc_buf (protobuf.dev, "Encoding"). Nested messages are written in
 * place: one length byte is reserved and the body moved up when the length needs more, which is rare enough
 * to be cheaper than measuring first. Failure is the buffer's: check it once.
 */
#ifndef FSC_EXPORT_PB_H
#define FSC_EXPORT_PB_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"

enum { PB_VARINT = 0, PB_FIXED64 = 1, PB_BYTES = 2 };

static inline size_t pb_put_varint(uint8_t *p, uint64_t v)
{
	size_t n = 0;

	while (v >= 0x80) {
		p[n++] = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	p[n++] = (uint8_t)v;
	return n;
}

/* Room for `want` more bytes, without a call when they are there already. */
static inline uint8_t *pb_room(struct fsc_buf *b, size_t want)
{
	if (b->cap - b->len > want && !b->failed)
		return (uint8_t *)b->data + b->len;
	return (uint8_t *)fsc_buf_room(b, want);
}

static inline void pb_raw_varint(struct fsc_buf *b, uint64_t v)
{
	uint8_t *p = pb_room(b, 10);

	if (p)
		b->len += pb_put_varint(p, v);
}

static inline void pb_uint(struct fsc_buf *b, uint32_t field, uint64_t v)
{
	uint8_t *p = pb_room(b, 16);
	size_t n;

	if (!p)
		return;
	n = pb_put_varint(p, (uint64_t)field << 3 | PB_VARINT);
	b->len += n + pb_put_varint(p + n, v);
}

static inline void pb_int(struct fsc_buf *b, uint32_t field, int64_t v)
{
	pb_uint(b, field, (uint64_t)v); /* int32/int64: plain two's complement, not zigzag */
}

static inline void pb_fixed64(struct fsc_buf *b, uint32_t field, uint64_t v)
{
	uint8_t *p = pb_room(b, 16);
	size_t n;

	if (!p)
		return;
	n = pb_put_varint(p, (uint64_t)field << 3 | PB_FIXED64);
	for (int i = 0; i < 8; i++)
		p[n + (size_t)i] = (uint8_t)(v >> (8 * i));
	b->len += n + 8;
}

static inline void pb_double(struct fsc_buf *b, uint32_t field, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	pb_fixed64(b, field, bits);
}

static inline void pb_bytes(struct fsc_buf *b, uint32_t field, const void *s, size_t n)
{
	uint8_t *p = pb_room(b, n + 16);
	size_t k;

	if (!p)
		return;
	k = pb_put_varint(p, (uint64_t)field << 3 | PB_BYTES);
	k += pb_put_varint(p + k, n);
	memcpy(p + k, s, n);
	b->len += k + n;
}

static inline void pb_str(struct fsc_buf *b, uint32_t field, const char *s)
{
	pb_bytes(b, field, s, strlen(s));
}

/* Opens a nested message; give the result to pb_end. */
static inline size_t pb_begin(struct fsc_buf *b, uint32_t field)
{
	uint8_t *p = pb_room(b, 8);

	if (!p)
		return 0;
	b->len += pb_put_varint(p, (uint64_t)field << 3 | PB_BYTES) + 1;
	return b->len;
}

static inline void pb_end(struct fsc_buf *b, size_t start)
{
	size_t body, extra;
	uint8_t len[10], *p;

	if (b->failed || !start)
		return;
	body = b->len - start;
	extra = pb_put_varint(len, body) - 1;
	if (extra) {
		if (!pb_room(b, extra))
			return;
		p = (uint8_t *)b->data + start;
		memmove(p + extra, p, body);
		b->len += extra;
	}
	memcpy((uint8_t *)b->data + start - 1, len, extra + 1);
}

#endif
