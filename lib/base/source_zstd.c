/* SPDX-License-Identifier: Apache-2.0 */
/* zstd source: several frames, skippable frames, content checksums enforced by libzstd. */
#include "base/source.h"

#include <inttypes.h>
#include <stdbool.h>

#include <zstd.h>
#include <zstd_errors.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/limits.h"
#include "base/source_int.h"

struct zstd_source {
	struct fsc_source base;
	struct fsc_source *inner; /* owned */
	ZSTD_DStream *z;	  /* owned */
	ZSTD_inBuffer in;
	uint64_t out_total;
	uint64_t n_frames;
	bool in_frame; /* bytes of a frame were taken and its end was not seen */
	struct fsc_source_sticky sticky;
	uint8_t buf[FSC_SOURCE_IN_BYTES];
};

static uint64_t in_total(const struct zstd_source *z)
{
	return z->inner->consumed - (z->in.size - z->in.pos);
}

static enum fsc_status zstd_fault(struct zstd_source *z, size_t ret)
{
	struct fsc_err *err = &z->sticky.err;
	uint64_t at = in_total(z);
	switch (ZSTD_getErrorCode(ret)) {
	case ZSTD_error_memory_allocation:
		return fsc_err_set(err, FSC_ENOMEM, NULL, "zstd: no memory to decompress");
	case ZSTD_error_frameParameter_windowTooLarge:
		return fsc_err_set(err, FSC_ELIMIT, "zstd_window", "zstd: window exceeds %u MiB",
				   1u << (FSC_MAX_ZSTD_WINDOW_LOG - 20));
	case ZSTD_error_prefix_unknown:
		if (z->n_frames)
			return fsc_err_set(err, FSC_EPARSE, "zstd_trailing",
					   "zstd: other bytes after frame %" PRIu64
					   ", before compressed byte %" PRIu64,
					   z->n_frames, at);
		return fsc_err_set(err, FSC_EPARSE, "zstd_header", "zstd: no zstd frame");
	default:
		return fsc_err_set(err, FSC_ECORRUPT, "zstd_corrupt",
				   "zstd: %s in frame %" PRIu64 ", near compressed byte %" PRIu64,
				   ZSTD_getErrorName(ret), z->n_frames + 1, at);
	}
}

/* Takes more compressed bytes. FSC_END also when there are none, which is a fault inside a frame. */
static enum fsc_status refill(struct zstd_source *z)
{
	size_t n;
	enum fsc_status st =
		fsc_source_read_some(z->inner, z->buf, sizeof(z->buf), &n, &z->sticky.err);
	z->in = (ZSTD_inBuffer){ .src = z->buf, .size = n, .pos = 0 };
	if (st == FSC_END && (z->in_frame || z->n_frames == 0))
		st = fsc_err_set(&z->sticky.err, FSC_ECORRUPT, "zstd_truncated",
				 "zstd: input ends inside frame %" PRIu64
				 " at compressed byte %" PRIu64,
				 z->n_frames + 1, in_total(z));
	return st;
}

/* Decodes until there is output, the end or a fault. */
static enum fsc_status decode(struct zstd_source *z, void *buf, size_t cap, size_t *n)
{
	ZSTD_outBuffer out = { .dst = buf, .size = cap, .pos = 0 };
	bool flushed = false;
	while (out.pos == 0) {
		/* An empty input is offered once: bytes may be waiting inside the decoder. */
		if (z->in.pos == z->in.size && (flushed || !z->in_frame)) {
			enum fsc_status st = refill(z);
			if (st != FSC_OK)
				return st;
		}
		size_t before = z->in.pos;
		size_t ret = ZSTD_decompressStream(z->z, &out, &z->in);
		if (ZSTD_isError(ret))
			return zstd_fault(z, ret);
		flushed = z->in.pos == before && out.pos == 0;
		if (ret == 0) {
			z->in_frame = false;
			z->n_frames++;
		} else if (z->in.pos > before) {
			z->in_frame = true;
		}
	}
	*n = out.pos;
	z->out_total += out.pos;
	return fsc_source_check_ratio(in_total(z), z->out_total, "zstd", &z->sticky.err);
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
	z->z = ZSTD_createDStream();
	FSC_ASSERT(z->z);
	size_t ret = ZSTD_DCtx_setParameter(z->z, ZSTD_d_windowLogMax, FSC_MAX_ZSTD_WINDOW_LOG);
	FSC_ASSERT(!ZSTD_isError(ret));
	return &z->base;
}
