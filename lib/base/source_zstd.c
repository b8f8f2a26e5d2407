/* SPDX-License-Identifier: Apache-2.0 */
/* zstd source: several frames, skippable frames, content checksums enforced by libzstd. */
#include "base/source.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include <zstd.h>
#include <zstd_errors.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/limits.h"
#include "base/source_int.h"

#define FRAME_HEADER_MAX 18u

struct zstd_source {
	struct fsc_source base;
	struct fsc_source *inner; /* owned */
	ZSTD_DStream *z;	  /* owned */
	ZSTD_inBuffer in;
	uint64_t out_total;
	uint64_t n_frames;
	uint64_t grace; /* output before the ratio counts: less once a frame has a large window */
	bool in_frame;	/* its magic was seen and its end was not */
	struct fsc_source_sticky sticky;
	uint8_t buf[FSC_SOURCE_IN_BYTES];
};

static uint64_t in_total(const struct zstd_source *z)
{
	return z->inner->consumed - (z->in.size - z->in.pos);
}

static enum fsc_status wrong_magic(struct zstd_source *z)
{
	if (z->n_frames)
		return fsc_err_set(&z->sticky.err, FSC_EPARSE, "zstd_trailing",
				   "zstd: other bytes after frame %" PRIu64
				   ", at compressed byte %" PRIu64,
				   z->n_frames, in_total(z));
	return fsc_err_set(&z->sticky.err, FSC_EPARSE, "zstd_header", "zstd: no zstd frame");
}

static enum fsc_status truncated(struct zstd_source *z)
{
	return fsc_err_set(&z->sticky.err, FSC_ECORRUPT, "zstd_truncated",
			   "zstd: input ends inside frame %" PRIu64 " at compressed byte %" PRIu64,
			   z->n_frames + 1, in_total(z));
}

static enum fsc_status zstd_fault(struct zstd_source *z, size_t ret)
{
	struct fsc_err *err = &z->sticky.err;
	switch (ZSTD_getErrorCode(ret)) {
	case ZSTD_error_memory_allocation:
		return fsc_err_set(err, FSC_ENOMEM, NULL, "zstd: no memory to decompress");
	case ZSTD_error_frameParameter_windowTooLarge:
		return fsc_err_set(err, FSC_ELIMIT, "zstd_window", "zstd: window exceeds %u MiB",
				   1u << (FSC_MAX_ZSTD_WINDOW_LOG - 20));
	default:
		return fsc_err_set(err, FSC_ECORRUPT, "zstd_corrupt",
				   "zstd: %s in frame %" PRIu64 ", near compressed byte %" PRIu64,
				   ZSTD_getErrorName(ret), z->n_frames + 1, in_total(z));
	}
}

/* Appends compressed bytes behind those not taken yet. */
static enum fsc_status refill(struct zstd_source *z)
{
	size_t left = z->in.size - z->in.pos;
	memmove(z->buf, z->buf + z->in.pos, left);
	z->in = (ZSTD_inBuffer){ .src = z->buf, .size = left, .pos = 0 };
	size_t n;
	enum fsc_status st = fsc_source_read_some(z->inner, z->buf + left, sizeof(z->buf) - left,
						  &n, &z->sticky.err);
	z->in.size += n;
	return st;
}

/* The window that the header of a frame asks for (RFC 8878, 3.1.1.1); 0 when its bytes are not all there. */
static uint64_t window_of(const uint8_t *p, size_t n)
{
	static const uint8_t id_bytes[] = { 0, 1, 2, 4 };
	if (n < 6)
		return 0;
	if (!(p[4] & 0x20)) {
		uint64_t base = (uint64_t)1 << (10 + (p[5] >> 3));
		return base + base / 8 * (p[5] & 7);
	}
	/* a single segment has its content for a window */
	size_t at = 5 + id_bytes[p[4] & 3], size = (size_t)1 << (p[4] >> 6);
	uint64_t v = 0;
	for (size_t i = 0; i < size && at + i < n; i++)
		v |= (uint64_t)p[at + i] << 8 * i;
	return v;
}

/*
 * Looks at the header before a frame, once its bytes are there. libzstd would take the formats that
 * were in use before zstd 0.8 too, through decoders that nobody tests any more.
 */
static enum fsc_status before_frame(struct zstd_source *z)
{
	enum fsc_status st = FSC_OK;
	while (st == FSC_OK && z->in.size - z->in.pos < FRAME_HEADER_MAX)
		st = refill(z);
	if (st != FSC_OK && st != FSC_END)
		return st;
	const uint8_t *p = z->buf + z->in.pos;
	size_t n = z->in.size - z->in.pos;
	if (n == 0)
		return z->n_frames ? FSC_END : truncated(z);
	static const uint8_t magic[4] = { 0x28, 0xb5, 0x2f, 0xfd };
	static const uint8_t skippable[3] = { 0x2a, 0x4d, 0x18 };
	if (n > 4)
		n = 4;
	if (memcmp(p, magic, n) != 0 &&
	    ((p[0] & 0xf0) != 0x50 || memcmp(p + 1, skippable, n - 1) != 0))
		return wrong_magic(z);
	if (p[0] == magic[0] && window_of(p, z->in.size - z->in.pos) > FSC_LARGE_ZSTD_WINDOW)
		z->grace = FSC_RATIO_GRACE_BYTES / 2;
	z->in_frame = true;
	return FSC_OK;
}

/* Decodes until there is output, the end or a fault. */
static enum fsc_status decode(struct zstd_source *z, void *buf, size_t cap, size_t *n)
{
	ZSTD_outBuffer out = { .dst = buf, .size = cap, .pos = 0 };
	bool starved = false;
	while (out.pos == 0) {
		enum fsc_status st = FSC_OK;
		if (!z->in_frame)
			st = before_frame(z);
		else if (starved)
			st = refill(z);
		if (st != FSC_OK)
			return st == FSC_END && z->in_frame ? truncated(z) : st;
		size_t ret = ZSTD_decompressStream(z->z, &out, &z->in);
		if (ZSTD_isError(ret))
			return zstd_fault(z, ret);
		/* without input it was called once all the same: output may wait inside the decoder */
		starved = z->in.pos == z->in.size;
		if (ret == 0) {
			z->in_frame = false;
			z->n_frames++;
		}
	}
	*n = out.pos;
	z->out_total += out.pos;
	return fsc_source_check_ratio(in_total(z), z->out_total, z->grace, "zstd", &z->sticky.err);
}

static enum fsc_status zstd_read(struct fsc_source *s, void *buf, size_t cap, size_t *n,
				 struct fsc_err *err)
{
	struct zstd_source *z = (struct zstd_source *)s;
	if (cap == 0 && z->sticky.st == FSC_OK)
		return FSC_OK;
	if (z->sticky.st == FSC_OK) {
		z->sticky.st = decode(z, buf, cap, n);
		if (z->sticky.st != FSC_OK)
			fsc_err_at(&z->sticky.err, NULL, (int64_t)z->out_total);
	}
	return z->sticky.st == FSC_OK ? FSC_OK : fsc_source_repeat(&z->sticky, err);
}

static void zstd_free(struct fsc_source *s)
{
	struct zstd_source *z = (struct zstd_source *)s;
	ZSTD_freeDStream(z->z);
	fsc_source_free(z->inner);
	fsc_free(z);
}

static const struct fsc_source_ops zstd_ops = { .name = "zstd",
						.read = zstd_read,
						.free = zstd_free };

struct fsc_source *fsc_source_zstd(struct fsc_source *inner)
{
	struct zstd_source *z = fsc_xalloc(1, sizeof(*z));
	z->base.ops = &zstd_ops;
	z->inner = inner;
	z->grace = FSC_RATIO_GRACE_BYTES;
	z->z = ZSTD_createDStream();
	if (!z->z)
		fsc_out_of_memory(0);
	size_t ret = ZSTD_DCtx_setParameter(z->z, ZSTD_d_windowLogMax, FSC_MAX_ZSTD_WINDOW_LOG);
	FSC_ASSERT(!ZSTD_isError(ret));
	return &z->base;
}
