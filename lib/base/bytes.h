/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Little-endian loads and stores, LEB128 varints, and a bounded cursor for reading untrusted bytes: every
 * fsc_cur_* reads inside [p, end) or sets failed and returns 0. Any thread, caller-owned.
 */
#ifndef FSC_BASE_BYTES_H
#define FSC_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"

struct fsc_cur {
	const uint8_t *start, *p, *end;
	bool failed;
};

static inline struct fsc_cur fsc_cur_of(const void *p, size_t n)
{
	const uint8_t *b = p;
	struct fsc_cur c = { b, b, b + n, false };
	return c;
}

uint8_t fsc_cur_u8(struct fsc_cur *c);
uint16_t fsc_cur_u16(struct fsc_cur *c);
uint32_t fsc_cur_u32(struct fsc_cur *c);
uint64_t fsc_cur_u64(struct fsc_cur *c);
int64_t fsc_cur_i64(struct fsc_cur *c);
uint64_t fsc_cur_varint(struct fsc_cur *c);		   /* LEB128, at most 10 bytes */
const uint8_t *fsc_cur_bytes(struct fsc_cur *c, size_t n); /* NULL and failed when fewer are left */
static inline size_t fsc_cur_left(const struct fsc_cur *c)
{
	return (size_t)(c->end - c->p);
}

void fsc_buf_u8(struct fsc_buf *b, uint8_t v);
void fsc_buf_u16(struct fsc_buf *b, uint16_t v);
void fsc_buf_u32(struct fsc_buf *b, uint32_t v);
void fsc_buf_u64(struct fsc_buf *b, uint64_t v);
void fsc_buf_varint(struct fsc_buf *b, uint64_t v);

#endif
