/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes XSpace messages for tests, in the order protobuf gives fields: lines before the tables of names. A plane is
 * begun with xs_plane() and ended with xs_end(); lines and events likewise.
 */
#ifndef FSC_TESTS_SUPPORT_XSPACE_H
#define FSC_TESTS_SUPPORT_XSPACE_H

#include "export/pb.h"

static inline size_t xs_plane(struct fsc_buf *b, int64_t id, const char *name)
{
	size_t p = pb_begin(b, 1);

	if (id)
		pb_int(b, 1, id);
	pb_str(b, 2, name);
	return p;
}
static inline size_t xs_line(struct fsc_buf *b, int64_t id, const char *name, int64_t timestamp_ns)
{
	size_t l = pb_begin(b, 3);

	pb_int(b, 1, id);
	pb_str(b, 2, name);
	pb_int(b, 3, timestamp_ns);
	return l;
}
static inline size_t xs_event(struct fsc_buf *b, int64_t meta, int64_t offset_ps, int64_t dur_ps)
{
	size_t e = pb_begin(b, 4);

	pb_int(b, 1, meta);
	pb_int(b, 2, offset_ps);
	pb_int(b, 3, dur_ps);
	return e;
}
static inline void xs_plain_event(struct fsc_buf *b, int64_t meta, int64_t offset_ps,
				  int64_t dur_ps)
{
	pb_end(b, xs_event(b, meta, offset_ps, dur_ps));
}
/* field: 4 in an event, 5 in an entry of event_metadata, 6 in a plane. */
static inline size_t xs_stat(struct fsc_buf *b, uint32_t field, int64_t meta)
{
	size_t s = pb_begin(b, field);

	pb_int(b, 1, meta);
	return s;
}
static inline void xs_stat_uint(struct fsc_buf *b, uint32_t field, int64_t meta, uint64_t v)
{
	size_t s = xs_stat(b, field, meta);

	pb_uint(b, 3, v);
	pb_end(b, s);
}
static inline void xs_stat_str(struct fsc_buf *b, uint32_t field, int64_t meta, const char *v)
{
	size_t s = xs_stat(b, field, meta);

	pb_str(b, 5, v);
	pb_end(b, s);
}
static inline void xs_stat_ref(struct fsc_buf *b, uint32_t field, int64_t meta, uint64_t to)
{
	size_t s = xs_stat(b, field, meta);

	pb_uint(b, 7, to);
	pb_end(b, s);
}
/* An entry of a table, field 4 (events) or 5 (stats). */
static inline void xs_name(struct fsc_buf *b, uint32_t table, int64_t id, const char *name)
{
	size_t entry = pb_begin(b, table), value;

	pb_int(b, 1, id);
	value = pb_begin(b, 2);
	pb_int(b, 1, id);
	pb_str(b, 2, name);
	pb_end(b, value);
	pb_end(b, entry);
}
static inline void xs_end(struct fsc_buf *b, size_t what)
{
	pb_end(b, what);
}

#endif
