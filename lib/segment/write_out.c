/* SPDX-License-Identifier: Apache-2.0 */
/* Buffered section output with pwrite: aligns, counts and checksums what passes through. */
#include "segment/write_internal.h"

#include <string.h>

#include "base/alloc.h"
#include "base/crc.h"
#include "base/fs.h"

#define OUT_BYTES (256u * 1024u)

void fsc_seg_out_init(struct fsc_seg_out *o, int fd, struct fsc_err *err)
{
	memset(o, 0, sizeof(*o));
	o->fd = fd;
	o->err = err;
	o->off = o->flushed = FSC_SEG_HEADER_BYTES;
	o->buf = fsc_alloc(OUT_BYTES, 1);
	if (!o->buf)
		o->failed = fsc_err_set(err, FSC_ENOMEM, NULL,
					"segment: no memory for the output buffer");
}

void fsc_seg_out_fini(struct fsc_seg_out *o)
{
	fsc_free(o->buf);
	o->buf = NULL;
}

enum fsc_status fsc_seg_out_flush(struct fsc_seg_out *o)
{
	if (o->failed == FSC_OK && o->n) {
		o->failed = fsc_fs_pwrite_all(o->fd, o->buf, o->n, o->flushed, o->err);
		o->flushed += o->n;
		o->n = 0;
	}
	return o->failed;
}

static void put(struct fsc_seg_out *o, const uint8_t *p, size_t n)
{
	while (n && o->failed == FSC_OK) {
		size_t room = OUT_BYTES - o->n, part = n < room ? n : room;

		memcpy(o->buf + o->n, p, part);
		o->n += part;
		o->off += part;
		p += part;
		n -= part;
		if (o->n == OUT_BYTES && fsc_seg_out_flush(o) != FSC_OK)
			return;
	}
}

void fsc_seg_out_begin(struct fsc_seg_out *o, enum fsc_seg_section_type type, uint32_t elem_bytes)
{
	static const uint8_t zeros[FSC_SEG_ALIGN];
	struct fsc_seg_d_section *s = &o->sec[o->n_sec];

	put(o, zeros, (size_t)(-o->off & (FSC_SEG_ALIGN - 1)));
	memset(s, 0, sizeof(*s));
	s->type = type;
	s->elem_bytes = elem_bytes;
	s->offset = o->off;
	s->track = UINT32_MAX;
}

void fsc_seg_out_add(struct fsc_seg_out *o, const void *p, size_t n)
{
	struct fsc_seg_d_section *s = &o->sec[o->n_sec];

	if (!n)
		return;
	s->crc = fsc_crc32c(s->crc, p, n);
	put(o, p, n);
}

enum fsc_status fsc_seg_out_end(struct fsc_seg_out *o)
{
	struct fsc_seg_d_section *s = &o->sec[o->n_sec];

	if (o->failed != FSC_OK)
		return o->failed;
	s->stored_bytes = s->raw_bytes = o->off - s->offset;
	o->n_sec++;
	return FSC_OK;
}

enum fsc_status fsc_seg_out_array(struct fsc_seg_out *o, enum fsc_seg_section_type type,
				  uint32_t elem_bytes, const void *p, uint64_t n)
{
	fsc_seg_out_begin(o, type, elem_bytes);
	fsc_seg_out_add(o, p, (size_t)n * elem_bytes);
	return fsc_seg_out_end(o);
}
