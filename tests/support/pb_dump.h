/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protobuf bytes as text without a schema, for golden tests: `number: value`, nested messages in braces. Bytes that
 * are printable are a text, others a message when they read as one to the end, else hexadecimal.
 */
#ifndef FSC_TESTS_SUPPORT_PB_DUMP_H
#define FSC_TESTS_SUPPORT_PB_DUMP_H

#include <stdio.h>

#include "base/pb_read.h"

static inline bool pb_dump_is_text(struct fsc_cur c)
{
	for (; c.p < c.end; c.p++)
		if (*c.p < ' ' || *c.p > '~')
			return false;
	return true;
}

static inline bool pb_dump_is_message(struct fsc_cur c)
{
	struct fsc_pb_field f;

	while (fsc_pb_next(&c, &f))
		;
	return !c.failed;
}

static inline void pb_dump(FILE *out, struct fsc_cur c, int depth)
{
	struct fsc_pb_field f;

	while (fsc_pb_next(&c, &f)) {
		fprintf(out, "%*s%u", 2 * depth, "", f.num);
		if (f.wire != FSC_PB_BYTES)
			fprintf(out, ": %llu%s\n", (unsigned long long)f.v,
				f.wire == FSC_PB_FIXED64   ? " fixed64"
				: f.wire == FSC_PB_FIXED32 ? " fixed32"
							   : "");
		else if (pb_dump_is_text(f.body))
			fprintf(out, ": \"%.*s\"\n", (int)fsc_cur_left(&f.body),
				(const char *)f.body.p);
		else if (depth < 16 && pb_dump_is_message(f.body)) {
			fputs(" {\n", out);
			pb_dump(out, f.body, depth + 1);
			fprintf(out, "%*s}\n", 2 * depth, "");
		} else {
			fputs(": 0x", out);
			for (const uint8_t *p = f.body.p; p < f.body.end; p++)
				fprintf(out, "%02X", *p);
			fputc('\n', out);
		}
	}
	if (c.failed)
		fprintf(out, "%*s(damaged)\n", 2 * depth, "");
}

#endif
