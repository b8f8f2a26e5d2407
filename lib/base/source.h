/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Byte sources: the one way bytes enter a parser. A source is read forward only; wrappers own the source
 * they wrap and free it. fsc_source_read fills up to cap bytes: FSC_OK with *n > 0, FSC_END at the end
 * (*n = 0), or an error with the offset in the innermost decompressed bytes. Bytes before a fault are handed
 * out first; the end and a fault are repeated by every later call. Owner thread.
 *
 * Decompression: gzip through ISA-L (zlib where it was not built in), several members, zero padding
 * after a member tolerated, CRC and length of each member enforced ("gzip_crc"), truncation reported
 * ("gzip_truncated"). zstd through libzstd, several frames ("zstd_corrupt", "zstd_truncated").
 * Other bytes after a member or frame are a fault ("gzip_trailing", "zstd_trailing"), not left out in silence.
 * Ratio limit: after FSC_RATIO_GRACE_BYTES out, out/in above FSC_MAX_RATIO is FSC_ELIMIT ("bomb"); after half as
 * many for a zstd frame whose window is above FSC_LARGE_ZSTD_WINDOW, since the window stays in memory. It holds for
 * each layer, and for all layers of all files in one upload together: struct fsc_source_budget.
 */
#ifndef FSC_BASE_SOURCE_H
#define FSC_BASE_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

struct fsc_source;
struct fsc_source_ops {
	const char *name;
	enum fsc_status (*read)(struct fsc_source *s, void *buf, size_t cap, size_t *n,
				struct fsc_err *err);
	void (*free)(struct fsc_source *s);    /* frees s itself */
	int (*plain_fd)(struct fsc_source *s); /* NULL: never one; see fsc_source_plain_fd */
};
struct fsc_source {
	const struct fsc_source_ops *ops;
	uint64_t consumed; /* bytes handed out so far; kept by fsc_source_read */
};

fsc_nodiscard enum fsc_status fsc_source_read(struct fsc_source *s, void *buf, size_t cap,
					      size_t *n, struct fsc_err *err);
void fsc_source_free(struct fsc_source *s); /* NULL is fine */

/* The descriptor of the regular file whose bytes, from its first on, are exactly what this source gives, for readers
 * that have to read at any place (pread). Borrowed. -1 when there is none: the bytes were decompressed, come out of an
 * archive or a pipe. What was read so far does not matter, and the file's position is left alone. */
int fsc_source_plain_fd(struct fsc_source *s);

/* Constructors abort only when memory is gone. */
struct fsc_source *fsc_source_mem(const void *p, size_t n); /* borrows p */
struct fsc_source *fsc_source_fd(int fd); /* borrows fd, read() from its position */
struct fsc_source *fsc_source_gzip(struct fsc_source *inner);
struct fsc_source *fsc_source_zstd(struct fsc_source *inner);
/* One zlib stream (RFC 1950), which other formats hold inside; "zlib_corrupt", "zlib_truncated", "zlib_trailing". */
struct fsc_source *fsc_source_zlib(struct fsc_source *inner);
/* Looks at the first bytes and wraps in gzip or zstd when they say so, repeatedly up to
 * FSC_MAX_COMPRESSION_NEST layers (then FSC_ELIMIT at read); otherwise passes bytes through. */
struct fsc_source *fsc_source_auto(struct fsc_source *inner);
/* What the decompression of one upload made so far, whichever file of it and whichever layer. Past the ratio limit
 * against the bytes read of raw it is FSC_ELIMIT "bomb", past FSC_MAX_ARCHIVE_BYTES "archive_too_big". */
struct fsc_source_budget {
	const struct fsc_source *raw; /* borrowed: the bytes of the upload */
	uint64_t out;
};
/* As fsc_source_auto; counts into the budget (borrowed) instead of into one of its own. */
struct fsc_source *fsc_source_auto_within(struct fsc_source *inner,
					  struct fsc_source_budget *budget);
/* Counts n bytes more that were made in another way. */
fsc_nodiscard enum fsc_status fsc_source_budget_add(struct fsc_source_budget *b, uint64_t n,
						    struct fsc_err *err);
/* First bytes without consuming them: up to 4096, fewer only at the end. Only for sources made by
 * fsc_source_auto. The bytes are borrowed until the next read. Empty input is FSC_OK with *n = 0; a fault is
 * told when no byte comes before it, otherwise by the read that meets it. */
fsc_nodiscard enum fsc_status fsc_source_peek(struct fsc_source *s, const uint8_t **p, size_t *n,
					      struct fsc_err *err);

#endif
