/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading the protobuf wire format (protobuf.dev, "Encoding") out of untrusted bytes: one field after the
 * other, every length held against the message it is in. Nothing is allocated and nothing recurses: a nested
 * message is a cursor of its own. Any thread, caller-owned.
 *
 *	struct fsc_pb_field f;
 *	while (fsc_pb_next(&cur, &f))
 *		switch (f.num) { ... }
 *	if (cur.failed) ... the message is damaged at cur.p
 */
#ifndef FSC_BASE_PB_READ_H
#define FSC_BASE_PB_READ_H

#include "base/bytes.h"

enum fsc_pb_wire { FSC_PB_VARINT = 0, FSC_PB_FIXED64 = 1, FSC_PB_BYTES = 2, FSC_PB_FIXED32 = 5 };

struct fsc_pb_field {
	uint32_t num; /* 1 .. 2^29 - 1 */
	enum fsc_pb_wire wire;
	uint64_t v;	     /* of VARINT, FIXED64 and FIXED32; 0 for BYTES */
	struct fsc_cur body; /* of BYTES: a string, a message or packed numbers; else empty */
};

/* False at the end of the message and when it is damaged (c->failed; c->p is where the bad field begins). Groups,
 * which proto3 cannot write, are damage. */
bool fsc_pb_next(struct fsc_cur *c, struct fsc_pb_field *f);

/*
 * The numbers of a repeated field, which come one a field or packed into one, as the writer likes:
 *
 *	struct fsc_pb_numbers n = FSC_PB_NUMBERS(&f, FSC_PB_VARINT);
 *	while (fsc_pb_number(&n, &v))
 *		...
 *	if (n.rest.failed) ... damaged
 */
struct fsc_pb_numbers {
	struct fsc_cur rest;
	enum fsc_pb_wire each; /* VARINT, FIXED64 or FIXED32 */
	bool single;	       /* not packed: v is the one number, not taken yet */
	uint64_t v;
};
#define FSC_PB_NUMBERS(f, each_)                                 \
	{                                                        \
		(f)->body, (each_), (f)->wire == (each_), (f)->v \
	}
bool fsc_pb_number(struct fsc_pb_numbers *n, uint64_t *v);

static inline double fsc_pb_double(const struct fsc_pb_field *f)
{
	double d;

	memcpy(&d, &f->v, sizeof(d));
	return d;
}
/* int32 and int64 are plain two's complement; sint32 and sint64 are zigzag. */
static inline int64_t fsc_pb_int(const struct fsc_pb_field *f)
{
	return (int64_t)f->v;
}
static inline int64_t fsc_pb_sint(const struct fsc_pb_field *f)
{
	return (int64_t)(f->v >> 1) ^ -(int64_t)(f->v & 1);
}

#endif
