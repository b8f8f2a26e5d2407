/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streaming JSON tokenizer over a byte source. There is no resumable state machine: a window holds the
 * bytes from the start of the current item on, and a function that runs off its end returns NULL with
 * fail = FSC_JT_MORE; the caller then refills (fsc_jt_fill) and starts that item again. One item must fit
 * into FSC_JSON_WINDOW. The window ends in zero bytes, so that scans need no bounds: every scan stops at a
 * zero, and a zero at `end` is the end while any other is a control character of the file.
 *
 * Tolerated and counted in `repairs`: ill-formed UTF-8, invalid escapes, lone surrogates, control
 * characters in strings, NaN and Infinity, malformed numbers, commas before a closing bracket. Copies made through struct fsc_jt_out are
 * canonical: no white space outside strings, valid JSON, valid UTF-8. Owner thread.
 */
#ifndef FSC_FORMATS_JSON_TOK_H
#define FSC_FORMATS_JSON_TOK_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/source.h"

#define FSC_JT_PAD 64u

enum fsc_jt_fail {
	FSC_JT_NONE = 0,
	FSC_JT_MORE, /* the window ends inside the item */
	FSC_JT_BAD,  /* no JSON at fail_at */
	FSC_JT_DEEP, /* nested deeper than FSC_MAX_JSON_DEPTH */
};

/* First byte at or after p that is '"', '\\', a control character (zero too) or not ASCII. */
typedef const char *(*fsc_jt_scan_fn)(const char *p);

/* How often, and at which byte of the file first. */
struct fsc_jt_count {
	uint64_t n, first;
};

struct fsc_jt_repairs {
	struct fsc_jt_count utf8, escape, surrogate, control, nonfinite, number, comma;
};

struct fsc_jt {
	struct fsc_source *src; /* borrowed */
	char *buf;		/* owned */
	size_t cap, chunk;	/* window, and bytes asked of the source at once */
	const char *end;	/* end of the bytes in the window; zeros follow */
	uint64_t base;		/* offset in the file of buf[0] */
	uint64_t lines;		/* line ends before buf[0] */
	bool eof;
	enum fsc_jt_fail fail;
	const char *fail_at;
	fsc_jt_scan_fn scan;
	struct fsc_jt_repairs repairs;
	uint64_t counted;	/* grows with every fsc_jt_note: who undoes counts compares it */
	struct fsc_buf scratch; /* owned; text of fsc_jt_text */
};

#define FSC_JT_ESC 1u  /* holds backslashes */
#define FSC_JT_HIGH 2u /* holds bytes above 0x7F */
#define FSC_JT_CTRL 4u /* holds control characters */

enum fsc_jt_type {
	FSC_JT_ABSENT = 0,
	FSC_JT_STR,
	FSC_JT_NUM,
	FSC_JT_BOOL_FALSE,
	FSC_JT_BOOL_TRUE,
	FSC_JT_NULL, /* also NaN and Infinity */
	FSC_JT_OBJ,
	FSC_JT_ARR,
};

/* A value in the window: of a string the text between its quotes, escapes not resolved. */
struct fsc_jt_val {
	const char *s;
	uint32_t n;
	uint8_t type, flags;
};

/* Canonical copy under way: bytes from run on are still to be copied. */
struct fsc_jt_out {
	char *w, *start, *lim; /* lim leaves 32 bytes of slack */
	const char *run;
	bool full; /* did not fit; nothing more is written */
};

fsc_jt_scan_fn fsc_jt_scan_pick(void);
fsc_jt_scan_fn fsc_jt_scan_of(
	const char *name); /* "scalar", "sse2", "avx2"; NULL when the CPU has it not */

/* window 0: FSC_JSON_WINDOW. False when memory is gone. */
fsc_nodiscard bool fsc_jt_init(struct fsc_jt *t, struct fsc_source *src, size_t window);
void fsc_jt_fini(struct fsc_jt *t);
/* Keeps the bytes from *p on, moves them to the front (*p follows) and reads more behind them. FSC_END when
 * the file has no more; FSC_ELIMIT "event_too_big" when the window is full; or an error of the source. */
fsc_nodiscard enum fsc_status fsc_jt_fill(struct fsc_jt *t, const char **p, struct fsc_err *err);
static inline uint64_t fsc_jt_offset(const struct fsc_jt *t, const char *p)
{
	return t->base + (uint64_t)(p - t->buf);
}

/* How many line ends lie in [p, end). */
uint64_t fsc_jt_line_ends(const char *p, const char *end);
/* Line of p, from 1. Walks over the window: for messages. */
uint64_t fsc_jt_line(const struct fsc_jt *t, const char *p);

static inline void fsc_jt_note_at(struct fsc_jt *t, struct fsc_jt_count *k, uint64_t n,
				  uint64_t offset)
{
	if (!k->n)
		k->first = offset;
	k->n += n;
	t->counted += n;
}
static inline void fsc_jt_note(struct fsc_jt *t, struct fsc_jt_count *k, uint64_t n, const char *at)
{
	fsc_jt_note_at(t, k, n, fsc_jt_offset(t, at));
}

/* ---- scanning; all return the position behind, or NULL with t->fail set ---- */

static inline const char *fsc_jt_ws(const char *p)
{
	const uint64_t blanks = 1ULL << ' ' | 1ULL << '\n' | 1ULL << '\r' | 1ULL << '\t';
	unsigned char c = (unsigned char)*p;
	if (FSC_LIKELY(c > ' ') || !(blanks >> c & 1))
		return p;
	p++;
	if (FSC_LIKELY((unsigned char)*p > ' '))
		return p;
#ifdef __SSE2__
	const __m128i blank = _mm_set1_epi8(' '), nl = _mm_set1_epi8('\n');
	for (;; p += 16) {
		__m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
		unsigned m = (unsigned)_mm_movemask_epi8(
			_mm_or_si128(_mm_cmpeq_epi8(v, blank), _mm_cmpeq_epi8(v, nl)));
		if (m != 0xFFFFu) {
			p += __builtin_ctz(~m);
			break;
		}
	}
#endif
	while (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')
		p++;
	return p;
}

static inline const char *fsc_jt_failed(struct fsc_jt *t, const char *at)
{
	t->fail = at >= t->end ? FSC_JT_MORE : FSC_JT_BAD;
	t->fail_at = at;
	return NULL;
}

const char *fsc_jt_string_slow(struct fsc_jt *t, const char *p, const char *from,
			       struct fsc_jt_val *v);

/* p is behind the opening quote. */
static inline const char *fsc_jt_string(struct fsc_jt *t, const char *p, struct fsc_jt_val *v)
{
	const char *q = p;
#ifdef __SSE2__
	__m128i b = _mm_loadu_si128((const __m128i *)(const void *)p);
	unsigned m = (unsigned)_mm_movemask_epi8(
		_mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(b, _mm_set1_epi8('"')),
					  _mm_cmpeq_epi8(b, _mm_set1_epi8('\\'))),
			     _mm_cmplt_epi8(b, _mm_set1_epi8(0x20))));
	if (FSC_LIKELY(m))
		q += __builtin_ctz(m);
	else
		q = t->scan(p + 16);
#else
	q = t->scan(p);
#endif
	v->s = p;
	v->type = FSC_JT_STR;
	if (FSC_LIKELY(*q == '"')) {
		v->n = (uint32_t)(q - p);
		v->flags = 0;
		return q + 1;
	}
	return fsc_jt_string_slow(t, p, q, v);
}

/* Any value at p (no white space before it). out may be NULL; depth is that of the containing value. */
const char *fsc_jt_value(struct fsc_jt *t, const char *p, struct fsc_jt_val *v, unsigned depth,
			 struct fsc_jt_out *out);

/* First byte at or after p that is no digit. */
static inline const char *fsc_jt_digits(const char *p)
{
#ifdef __SSE2__
	const __m128i zero = _mm_set1_epi8('0'), nine = _mm_set1_epi8(9);
	for (;; p += 16) {
		__m128i x = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)(const void *)p), zero);
		unsigned m = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(x, nine), x));
		if (FSC_LIKELY(m != 0xFFFFu))
			return p + __builtin_ctz(~m);
	}
#else
	while ((unsigned char)(*p - '0') < 10)
		p++;
	return p;
#endif
}

/* As fsc_jt_value, with what values mostly are done in place: plain strings and numbers. */
static inline const char *fsc_jt_value_fast(struct fsc_jt *t, const char *p, struct fsc_jt_val *v,
					    unsigned depth, struct fsc_jt_out *out)
{
	if (*p == '"') {
		const char *q = fsc_jt_string(t, p + 1, v);
		if (FSC_LIKELY(q && !v->flags))
			return q;
	} else if ((unsigned char)(*p - '1') < 9) {
		const char *q = fsc_jt_digits(p + 1);
		if (*q == '.' && (unsigned char)(q[1] - '0') < 10)
			q = fsc_jt_digits(q + 2);
		if (FSC_LIKELY(*q == ',' || *q == '}' || *q == ' ' || *q == '\n')) {
			*v = (struct fsc_jt_val){ .s = p,
						  .n = (uint32_t)(q - p),
						  .type = FSC_JT_NUM };
			return q;
		}
	}
	return fsc_jt_value(t, p, v, depth, out);
}

/* ---- canonical copies ---- */
void fsc_jt_out_init(struct fsc_jt_out *o, char *buf, size_t cap, const char *run);
void fsc_jt_out_flush(struct fsc_jt_out *o, const char *p);
void fsc_jt_out_put(struct fsc_jt_out *o, const char *s, size_t n);
/* White space at p is left out of the copy. */
static inline const char *fsc_jt_ws_out(const char *p, struct fsc_jt_out *o)
{
	if (FSC_LIKELY((unsigned char)*p > ' '))
		return p;
	if (o)
		fsc_jt_out_flush(o, p);
	p = fsc_jt_ws(p);
	if (o)
		o->run = p;
	return p;
}
/* A comma with nothing behind it (p is at the closing bracket) is counted and not copied. */
void fsc_jt_out_drop_comma(struct fsc_jt *t, struct fsc_jt_out *o, const char *p);
/* A string that was just scanned gets its repairs in the copy, when it needs any. */
void fsc_jt_out_string(struct fsc_jt *t, struct fsc_jt_out *o, const struct fsc_jt_val *v);

/* The text of a string value with escapes resolved and UTF-8 repaired; borrowed until the next call. */
const char *fsc_jt_text(struct fsc_jt *t, const struct fsc_jt_val *v, size_t *n);

#endif
