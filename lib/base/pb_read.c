/* SPDX-License-Identifier: Apache-2.0 */
/* The protobuf wire format, read field by field. */
#include "base/pb_read.h"

#define FIELD_MAX ((1u << 29) - 1)

bool fsc_pb_next(struct fsc_cur *c, struct fsc_pb_field *f)
{
	const uint8_t *begin = c->p;
	uint64_t tag, n;

	if (c->failed || c->p == c->end)
		return false;
	/* nearly all tags and many numbers are one byte */
	tag = *c->p < 0x80 ? *c->p++ : fsc_cur_varint(c);
	*f = (struct fsc_pb_field){ .num = (uint32_t)(tag >> 3), .wire = tag & 7 };
	if (tag >> 3 == 0 || tag >> 3 > FIELD_MAX)
		c->failed = true;
	switch (f->wire) {
	case FSC_PB_VARINT:
		f->v = c->p < c->end && *c->p < 0x80 ? *c->p++ : fsc_cur_varint(c);
		break;
	case FSC_PB_FIXED64:
		f->v = fsc_cur_u64(c);
		break;
	case FSC_PB_FIXED32:
		f->v = fsc_cur_u32(c);
		break;
	case FSC_PB_BYTES:
		n = c->p < c->end && *c->p < 0x80 ? *c->p++ : fsc_cur_varint(c);
		if (n > fsc_cur_left(c)) {
			c->failed = true;
			break;
		}
		f->body = fsc_cur_of(c->p, (size_t)n);
		c->p += n;
		break;
	default:
		c->failed = true;
	}
	if (c->failed)
		c->p = begin;
	return !c->failed;
}

bool fsc_pb_number(struct fsc_pb_numbers *n, uint64_t *v)
{
	if (n->single) {
		n->single = false;
		*v = n->v;
		return true;
	}
	if (n->rest.failed || n->rest.p == n->rest.end)
		return false;
	*v = n->each == FSC_PB_VARINT	 ? fsc_cur_varint(&n->rest)
	     : n->each == FSC_PB_FIXED64 ? fsc_cur_u64(&n->rest)
					 : fsc_cur_u32(&n->rest);
	return !n->rest.failed;
}
