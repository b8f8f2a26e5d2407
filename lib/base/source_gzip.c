/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gzip source (RFC 1952). Framing is done here, byte by byte, because a header may be split anywhere over
 * reads and every field of it is to be checked; the raw deflate between header and trailer goes through
 * ISA-L, or through zlib where FSC_NO_ISAL is defined. Both give the same bytes and the same faults.
 */
#include "base/source.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

/* The build says whether ISA-L was found; FSC_NO_ISAL asks for zlib all the same (the tests do). */
#if defined(FSC_HAVE_ISAL) && FSC_HAVE_ISAL == 0 && !defined(FSC_NO_ISAL)
#define FSC_NO_ISAL
#endif

#ifdef FSC_NO_ISAL
#include <zlib.h>
#else
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#endif

#include "base/alloc.h"
#include "base/assert.h"
#include "base/limits.h"
#include "base/source_int.h"

/* No file has such a name; a header without end would cost time and give nothing. */
#define HEADER_TEXT_MAX 65536u
#define EMPTY_MEMBERS_MAX 100000u

enum gz_state { GZ_BEFORE_MEMBER, GZ_BODY, GZ_TRAILER };

struct gzip_source {
	struct fsc_source base;
	struct fsc_source *inner; /* owned */
	enum gz_state state;
	const uint8_t *p; /* compressed bytes not taken yet */
	size_t left;
	uint8_t kept[8]; /* bytes that the decoder took too many; they come before p */
	size_t kept_pos, kept_n;
	uint64_t n_members; /* that were read to their end */
	uint32_t n_empty;   /* of them, in a row and last */
	uint64_t out_total;
	uint32_t crc, isize; /* of this member's output */
	uint32_t header_crc; /* of this member's header so far */
	struct fsc_source_sticky sticky;
#ifdef FSC_NO_ISAL
	z_stream z;
#else
	struct inflate_state z;
#endif
	uint8_t buf[FSC_SOURCE_IN_BYTES];
};

/* What one call of a decoder did. */
enum inflate_result { INFLATE_MORE, INFLATE_DONE, INFLATE_BAD };

#ifdef FSC_NO_ISAL

static uint32_t gz_crc32(uint32_t crc, const void *p, size_t n)
{
	return (uint32_t)crc32_z(crc, p, n);
}

static void inflate_setup(struct gzip_source *g)
{
	FSC_ASSERT(inflateInit2(&g->z, -15) == Z_OK);
}

static void inflate_teardown(struct gzip_source *g)
{
	inflateEnd(&g->z);
}

static void inflate_restart(struct gzip_source *g)
{
	FSC_ASSERT(inflateReset(&g->z) == Z_OK);
}

static enum inflate_result inflate_some(struct gzip_source *g, uint8_t *out, uint32_t cap,
					uint32_t *n)
{
	g->z.next_in = (z_const Bytef *)g->p;
	g->z.avail_in = (uInt)g->left;
	g->z.next_out = out;
	g->z.avail_out = cap;
	int ret = inflate(&g->z, Z_NO_FLUSH);
	g->p = g->z.next_in;
	g->left = g->z.avail_in;
	*n = cap - g->z.avail_out;
	if (ret == Z_STREAM_END)
		return INFLATE_DONE;
	/* Z_BUF_ERROR only says that neither input nor output was left */
	return ret == Z_OK || ret == Z_BUF_ERROR ? INFLATE_MORE : INFLATE_BAD;
}

#else

static uint32_t gz_crc32(uint32_t crc, const void *p, size_t n)
{
	return crc32_gzip_refl(crc, p, n);
}

static void inflate_setup(struct gzip_source *g)
{
	isal_inflate_init(&g->z);
}

static void inflate_teardown(struct gzip_source *g)
{
	(void)g;
}

static void inflate_restart(struct gzip_source *g)
{
	isal_inflate_reset(&g->z);
	g->z.crc_flag = ISAL_DEFLATE;
}

/* Whole bytes in the bit buffer of a finished decoder belong to the trailer: keep them. */
static void keep_bits(struct gzip_source *g)
{
	int bits = g->z.read_in_length;
	uint64_t v = g->z.read_in >> (bits % 8);
	g->kept_pos = 0;
	g->kept_n = 0;
	for (; bits >= 8; bits -= 8) {
		g->kept[g->kept_n++] = (uint8_t)v;
		v >>= 8;
	}
	g->z.read_in = 0;
	g->z.read_in_length = 0;
}

static enum inflate_result inflate_some(struct gzip_source *g, uint8_t *out, uint32_t cap,
					uint32_t *n)
{
	g->z.next_in = (uint8_t *)(uintptr_t)g->p;
	g->z.avail_in = (uint32_t)g->left;
	g->z.next_out = out;
	g->z.avail_out = cap;
	int ret = isal_inflate(&g->z);
	g->p = g->z.next_in;
	g->left = g->z.avail_in;
	*n = cap - g->z.avail_out;
	if (ret < 0)
		return INFLATE_BAD;
	if (g->z.block_state != ISAL_BLOCK_FINISH)
		return INFLATE_MORE;
	keep_bits(g);
	return INFLATE_DONE;
}

#endif

static uint64_t in_total(const struct gzip_source *g)
{
	return g->inner->consumed - g->left - (g->kept_n - g->kept_pos);
}

static enum fsc_status truncated(struct gzip_source *g)
{
	return fsc_err_set(&g->sticky.err, FSC_ECORRUPT, "gzip_truncated",
			   "gzip: input ends inside member %" PRIu64 " at compressed byte %" PRIu64,
			   g->n_members + 1, in_total(g));
}

static enum fsc_status bad_header(struct gzip_source *g, const char *what)
{
	return fsc_err_set(&g->sticky.err, FSC_EPARSE, "gzip_header",
			   "gzip: %s in the header of member %" PRIu64
			   ", before compressed byte %" PRIu64,
			   what, g->n_members + 1, in_total(g));
}

/* Makes left > 0, or FSC_END at the end of the input. */
static enum fsc_status refill(struct gzip_source *g)
{
	enum fsc_status st = FSC_OK;
	while (st == FSC_OK && g->left == 0) {
		g->p = g->buf;
		st = fsc_source_read_some(g->inner, g->buf, sizeof(g->buf), &g->left,
					  &g->sticky.err);
	}
	return st;
}

static enum fsc_status next_byte(struct gzip_source *g, uint8_t *b)
{
	if (g->kept_pos < g->kept_n) {
		*b = g->kept[g->kept_pos++];
		return FSC_OK;
	}
	enum fsc_status st = g->left ? FSC_OK : refill(g);
	if (st != FSC_OK)
		return st;
	*b = *g->p++;
	g->left--;
	return FSC_OK;
}

/* n bytes of a header or trailer, whose end is no place for the input to end. */
static enum fsc_status take(struct gzip_source *g, uint8_t *dst, size_t n)
{
	if (g->kept_pos == g->kept_n && g->left >= n) {
		memcpy(dst, g->p, n);
		g->p += n;
		g->left -= n;
	} else {
		for (size_t i = 0; i < n; i++) {
			enum fsc_status st = next_byte(g, &dst[i]);
			if (st != FSC_OK)
				return st == FSC_END ? truncated(g) : st;
		}
	}
	g->header_crc = gz_crc32(g->header_crc, dst, n);
	return FSC_OK;
}

static enum fsc_status skip_text(struct gzip_source *g)
{
	uint8_t b = 1;
	enum fsc_status st = FSC_OK;
	for (size_t n = 0; st == FSC_OK && b != 0; n++) {
		if (n == HEADER_TEXT_MAX)
			return bad_header(g, "a name or comment without end");
		st = take(g, &b, 1);
	}
	return st;
}

static enum fsc_status skip_extra(struct gzip_source *g)
{
	uint8_t b[2];
	enum fsc_status st = take(g, b, 2);
	unsigned n = st == FSC_OK ? b[0] | (unsigned)b[1] << 8 : 0;
	while (st == FSC_OK && n--)
		st = take(g, b, 1);
	return st;
}

static enum fsc_status check_header_crc(struct gzip_source *g)
{
	uint32_t want = g->header_crc & 0xFFFF;
	uint8_t b[2];
	enum fsc_status st = take(g, b, 2);
	if (st == FSC_OK && (b[0] | (uint32_t)b[1] << 8) != want)
		st = bad_header(g, "checksum mismatch");
	return st;
}

/* The header behind its first byte 0x1f. */
static enum fsc_status read_header(struct gzip_source *g)
{
	enum { FHCRC = 2, FEXTRA = 4, FNAME = 8, FCOMMENT = 16, RESERVED = 0xE0 };
	static const uint8_t first = 0x1f;
	uint8_t h[9];
	g->header_crc = gz_crc32(0, &first, 1);
	enum fsc_status st = take(g, h, 1);
	if (st == FSC_OK && h[0] != 0x8b)
		return bad_header(g, "no gzip magic");
	if (st == FSC_OK)
		st = take(g, h + 1, 8);
	if (st != FSC_OK)
		return st;
	if (h[1] != 8)
		return bad_header(g, "unknown compression method");
	if (h[2] & RESERVED)
		return bad_header(g, "unknown flags");
	if (h[2] & FEXTRA)
		st = skip_extra(g);
	if (st == FSC_OK && (h[2] & FNAME))
		st = skip_text(g);
	if (st == FSC_OK && (h[2] & FCOMMENT))
		st = skip_text(g);
	if (st == FSC_OK && (h[2] & FHCRC))
		st = check_header_crc(g);
	return st;
}

/*
 * Between members: zero bytes are padding (tapes and block devices leave them), a member may follow,
 * anything else is a fault and not silently left out as gzip(1) does with a warning.
 */
static enum fsc_status before_member(struct gzip_source *g)
{
	uint8_t b;
	enum fsc_status st;
	do
		st = next_byte(g, &b);
	while (st == FSC_OK && b == 0 && g->n_members > 0);
	if (st == FSC_END)
		return g->n_members ? FSC_END : truncated(g);
	if (st != FSC_OK)
		return st;
	if (b != 0x1f && g->n_members)
		return fsc_err_set(&g->sticky.err, FSC_EPARSE, "gzip_trailing",
				   "gzip: other bytes after member %" PRIu64
				   ", before compressed byte %" PRIu64,
				   g->n_members, in_total(g));
	if (b != 0x1f)
		return bad_header(g, "no gzip magic");
	st = read_header(g);
	if (st != FSC_OK)
		return st;
	inflate_restart(g);
	g->crc = gz_crc32(0, NULL, 0);
	g->isize = 0;
	g->state = GZ_BODY;
	return FSC_OK;
}

static enum fsc_status read_body(struct gzip_source *g, uint8_t *buf, size_t cap, size_t *n)
{
	enum fsc_status st = FSC_OK;
	if (g->left == 0)
		st = refill(g);
	if (st != FSC_OK && st != FSC_END)
		return st;
	/* At the end of the input the decoder is asked once more: it may still hold output. */
	uint32_t out = 0;
	size_t left = g->left;
	enum inflate_result r =
		inflate_some(g, buf, cap < (1u << 30) ? (uint32_t)cap : 1u << 30, &out);
	if (r == INFLATE_BAD || (r == INFLATE_MORE && left && g->left == left && !out))
		return fsc_err_set(&g->sticky.err, FSC_ECORRUPT, "gzip_corrupt",
				   "gzip: damaged deflate data in member %" PRIu64
				   ", near compressed byte %" PRIu64,
				   g->n_members + 1, in_total(g));
	if (r == INFLATE_MORE && st == FSC_END && !out)
		return truncated(g);
	if (r == INFLATE_DONE)
		g->state = GZ_TRAILER;
	g->crc = gz_crc32(g->crc, buf, out);
	g->isize += out;
	g->out_total += out;
	*n = out;
	return fsc_source_check_ratio(in_total(g), g->out_total, FSC_RATIO_GRACE_BYTES, "gzip",
				      &g->sticky.err);
}

static enum fsc_status read_trailer(struct gzip_source *g)
{
	uint8_t t[8];
	enum fsc_status st = take(g, t, sizeof(t));
	if (st != FSC_OK)
		return st;
	uint32_t w[2];
	for (unsigned i = 0; i < 2; i++)
		w[i] = t[4 * i] | (uint32_t)t[4 * i + 1] << 8 | (uint32_t)t[4 * i + 2] << 16 |
		       (uint32_t)t[4 * i + 3] << 24;
	if (w[0] != g->crc || w[1] != g->isize)
		return fsc_err_set(&g->sticky.err, FSC_ECORRUPT, "gzip_crc",
				   "gzip: %s mismatch of member %" PRIu64
				   ", before compressed byte %" PRIu64,
				   w[0] != g->crc ? "checksum" : "length", g->n_members + 1,
				   in_total(g));
	g->n_members++;
	g->n_empty = g->isize ? 0 : g->n_empty + 1;
	g->state = GZ_BEFORE_MEMBER;
	if (g->n_empty > EMPTY_MEMBERS_MAX)
		return fsc_err_set(&g->sticky.err, FSC_ELIMIT, "bomb",
				   "gzip: more than %u empty members in a row", EMPTY_MEMBERS_MAX);
	return FSC_OK;
}

static enum fsc_status gzip_read(struct fsc_source *s, void *buf, size_t cap, size_t *n,
				 struct fsc_err *err)
{
	struct gzip_source *g = (struct gzip_source *)s;
	enum fsc_status st = g->sticky.st;
	if (cap == 0 && st == FSC_OK)
		return FSC_OK;
	while (st == FSC_OK && *n == 0) {
		switch (g->state) {
		case GZ_BEFORE_MEMBER:
			st = before_member(g);
			break;
		case GZ_BODY:
			st = read_body(g, buf, cap, n);
			break;
		case GZ_TRAILER:
			st = read_trailer(g);
			break;
		}
	}
	if (st != FSC_OK && g->sticky.st == FSC_OK) {
		g->sticky.st = st;
		fsc_err_at(&g->sticky.err, NULL, (int64_t)g->out_total);
	}
	return st == FSC_OK ? FSC_OK : fsc_source_repeat(&g->sticky, err);
}

static void gzip_free(struct fsc_source *s)
{
	struct gzip_source *g = (struct gzip_source *)s;
	inflate_teardown(g);
	fsc_source_free(g->inner);
	fsc_free(g);
}

static const struct fsc_source_ops gzip_ops = { .name = "gzip",
						.read = gzip_read,
						.free = gzip_free };

struct fsc_source *fsc_source_gzip(struct fsc_source *inner)
{
	struct gzip_source *g = fsc_xalloc(1, sizeof(*g));
	g->base.ops = &gzip_ops;
	g->inner = inner;
	inflate_setup(g);
	return &g->base;
}
