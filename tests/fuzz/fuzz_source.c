/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Byte sources on any input. Besides not crashing: the way of reading changes nothing (one byte below and
 * odd pieces above against large ones), a fault stays, and ISA-L and zlib agree on what is sound.
 */
#define FSC_NO_ISAL
#define fsc_source_gzip fsc_source_gzip_zlib
#include "lib/base/source_gzip.c"
#undef fsc_source_gzip

#include <stdlib.h>

#include "base/crc.h"
#include "tests/fuzz/fuzz.h"

struct fsc_source *fsc_source_gzip(struct fsc_source *inner);

#define OUT_MAX ((uint64_t)8 << 20)

struct outcome {
	enum fsc_status st; /* FSC_OK when it was stopped at OUT_MAX */
	uint64_t n;
	uint32_t crc;
};

/* A source that gives one byte a read. */
struct slow {
	struct fsc_source base;
	const uint8_t *p;
	size_t left;
};

static enum fsc_status slow_read(struct fsc_source *s, void *buf, size_t cap, size_t *n,
				 struct fsc_err *err)
{
	struct slow *w = (struct slow *)s;
	(void)err;
	if (!w->left || !cap)
		return FSC_END;
	*(uint8_t *)buf = *w->p++;
	w->left--;
	*n = 1;
	return FSC_OK;
}

static void slow_free(struct fsc_source *s)
{
	fsc_free(s);
}

static const struct fsc_source_ops slow_ops = { .name = "slow",
						.read = slow_read,
						.free = slow_free };

static struct fsc_source *slow_new(const uint8_t *p, size_t n)
{
	struct slow *w = fsc_xalloc(1, sizeof(*w));
	w->base.ops = &slow_ops;
	w->p = p;
	w->left = n;
	return &w->base;
}

static struct outcome read_all(struct fsc_source *s, size_t step)
{
	struct outcome o = { FSC_OK, 0, 0 };
	struct fsc_err err = FSC_ERR_INIT;
	uint8_t *piece = malloc(step);
	while (o.st == FSC_OK && o.n < OUT_MAX) {
		size_t n = 0;
		o.st = fsc_source_read(s, piece, step, &n, &err);
		FSC_ASSERT((o.st == FSC_OK) == (n > 0) && n <= step);
		o.crc = fsc_crc32c(o.crc, piece, n);
		o.n += n;
	}
	if (o.st < 0) {
		size_t n = 0;
		FSC_ASSERT(err.status == o.st && err.code[0] && err.msg[0] &&
			   err.offset == (int64_t)o.n);
		FSC_ASSERT(fsc_source_read(s, piece, step, &n, NULL) == o.st && n == 0);
	}
	free(piece);
	fsc_source_free(s);
	return o;
}

static int same(struct outcome a, struct outcome b)
{
	return a.st == b.st && a.n == b.n && a.crc == b.crc;
}

/*
 * How much comes out in front of a fault may differ, what comes out whole may not. libzstd itself is not
 * strict: a frame that is there as a whole goes a shorter way, which lets an RLE block of no bytes pass
 * that the other way refuses. So whether zstd bytes are sound may differ, their content may not.
 */
static void check_two_ways(struct fsc_source *(*wrap)(struct fsc_source *), const uint8_t *data,
			   size_t size)
{
	struct outcome big = read_all(wrap(fsc_source_mem(data, size)), 1 << 16);
	if (size > 4096 || big.n > 65536 || big.st == FSC_OK)
		return; /* single bytes would take too long */
	struct outcome small = read_all(wrap(slow_new(data, size)), 777);
	if (big.st == FSC_END && small.st == FSC_END)
		FSC_ASSERT(same(big, small));
	else if (wrap == fsc_source_gzip)
		FSC_ASSERT(big.st < 0 && small.st < 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_two_ways(fsc_source_auto, data, size);
	check_two_ways(fsc_source_zstd, data, size);
	check_two_ways(fsc_source_gzip, data, size);
	struct outcome isal = read_all(fsc_source_gzip(fsc_source_mem(data, size)), 1 << 16);
	struct outcome zlib = read_all(fsc_source_gzip_zlib(fsc_source_mem(data, size)), 1 << 16);
	FSC_ASSERT(isal.st == FSC_END || zlib.st == FSC_END ? same(isal, zlib) : 1);
	return 0;
}
