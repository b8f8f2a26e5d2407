/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON tokenizer; see json_tok.h. */
#include "formats/json_tok.h"

#include "base/alloc.h"
#include "base/json_scan.h"
#include "base/limits.h"
#include "base/utf8.h"

#define CHUNK ((size_t)(256 * FSC_KIB))

bool fsc_jt_init(struct fsc_jt *t, struct fsc_source *src, size_t window)
{
	*t = (struct fsc_jt){ .src = src,
			      .cap = window ? window : (size_t)FSC_JSON_WINDOW,
			      .chunk = CHUNK };
	t->buf = fsc_realloc(NULL, t->cap + FSC_JT_PAD, 1);
	if (!t->buf)
		return false;
	memset(t->buf, 0, FSC_JT_PAD);
	t->end = t->buf;
	t->scan = fsc_jt_scan_pick();
	fsc_buf_init(&t->scratch, 4 * t->cap);
	return true;
}

void fsc_jt_fini(struct fsc_jt *t)
{
	fsc_buf_fini(&t->scratch);
	fsc_free(t->buf);
	t->buf = NULL;
}

uint64_t fsc_jt_line(const struct fsc_jt *t, const char *p)
{
	return t->lines + fsc_jt_line_ends(t->buf, p) + 1;
}

enum fsc_status fsc_jt_fill(struct fsc_jt *t, const char **p, struct fsc_err *err)
{
	size_t keep = (size_t)(t->end - *p), n = 0;
	if (t->eof)
		return FSC_END;
	if (keep >= t->cap)
		return fsc_err_set(err, FSC_ELIMIT, "event_too_big",
				   "one JSON value is larger than the window of %zu bytes", t->cap);
	t->base += (uint64_t)(*p - t->buf);
	t->lines += fsc_jt_line_ends(t->buf, *p);
	memmove(t->buf, *p, keep);
	*p = t->buf;
	size_t want = t->cap - keep < t->chunk ? t->cap - keep : t->chunk;
	enum fsc_status st = fsc_source_read(t->src, t->buf + keep, want, &n, err);
	if (st != FSC_OK)
		n = 0;
	t->end = t->buf + keep + n;
	memset(t->buf + keep + n, 0, FSC_JT_PAD);
	if (st == FSC_END)
		t->eof = true;
	return st;
}

/* ---- scanning ---- */

/* q is at the first byte of the string p that is not plain. */
const char *fsc_jt_string_slow(struct fsc_jt *t, const char *p, const char *q, struct fsc_jt_val *v)
{
	v->flags = 0;
	while (*q != '"') {
		unsigned char c = (unsigned char)*q;
		if (q >= t->end)
			return fsc_jt_failed(t, q);
		if (c == '\\') {
			v->flags |= FSC_JT_ESC;
			if (q + 1 >= t->end)
				return fsc_jt_failed(t, t->end);
			q += 2;
		} else if (c >= 0x80) {
			v->flags |= FSC_JT_HIGH;
			while ((unsigned char)*q >= 0x80)
				q++;
		} else {
			v->flags |= FSC_JT_CTRL;
			q++;
		}
		q = t->scan(q);
	}
	if (q >= t->end)
		return fsc_jt_failed(t, q);
	v->n = (uint32_t)(q - p);
	return q + 1;
}

static bool is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '.' || c == '+' || c == '-' || c == '_';
}

/* A number or word that is no JSON: NaN and its kind become null, the rest a string. */
static const char *odd_word(struct fsc_jt *t, const char *p, struct fsc_jt_val *v,
			    struct fsc_jt_out *out)
{
	static const char *const nonfinite[] = { "NaN",	     "nan",	  "-nan", "-NaN",
						 "Infinity", "-Infinity", "inf",  "-inf",
						 "Inf",	     "-Inf",	  "+inf", "+Infinity" };
	const char *q = p;
	while (is_word(*q))
		q++;
	if (q >= t->end && !t->eof)
		return fsc_jt_failed(t, t->end);
	if (q == p)
		return fsc_jt_failed(t, p);
	size_t n = (size_t)(q - p);
	*v = (struct fsc_jt_val){ .s = p, .n = (uint32_t)n, .type = FSC_JT_NUM };
	bool null = false;
	for (size_t i = 0; i < FSC_ARRAY_LEN(nonfinite); i++)
		null |= strlen(nonfinite[i]) == n && !memcmp(nonfinite[i], p, n);
	/* A bare word is no number gone wrong but text without quotes: that is a broken file. */
	if (!null && !((*p >= '0' && *p <= '9') || *p == '-' || *p == '+' || *p == '.'))
		return fsc_jt_failed(t, p);
	if (null) {
		v->type = FSC_JT_NULL;
		fsc_jt_note(t, &t->repairs.nonfinite, 1, p);
	} else {
		fsc_jt_note(t, &t->repairs.number, 1, p);
	}
	if (!out)
		return q;
	fsc_jt_out_flush(out, p);
	if (null) {
		fsc_jt_out_put(out, "null", 4);
	} else {
		fsc_jt_out_put(out, "\"", 1);
		fsc_jt_out_put(out, p, n);
		fsc_jt_out_put(out, "\"", 1);
	}
	out->run = q;
	return q;
}

static const char *number(struct fsc_jt *t, const char *p, struct fsc_jt_val *v,
			  struct fsc_jt_out *out)
{
	const char *q = p + (*p == '-');
	const char *d = q;
	q = fsc_jt_digits(q);
	bool ok = q > d && (*d != '0' || q == d + 1);
	if (*q == '.') {
		d = ++q;
		q = fsc_jt_digits(q);
		ok &= q > d;
	}
	if ((*q | 0x20) == 'e') {
		q++;
		q += *q == '+' || *q == '-';
		d = q;
		q = fsc_jt_digits(q);
		ok &= q > d;
	}
	if (FSC_UNLIKELY(q >= t->end && !t->eof))
		return fsc_jt_failed(t, t->end);
	/* What ends a number is one of these, mostly; the rest is looked at closely. */
	bool ended = *q == ',' || *q == '}' || *q == ']' || (unsigned char)*q <= ' ';
	if (FSC_UNLIKELY(!ok || (!ended && is_word(*q))))
		return odd_word(t, p, v, out);
	*v = (struct fsc_jt_val){ .s = p, .n = (uint32_t)(q - p), .type = FSC_JT_NUM };
	return q;
}

static const char *literal(struct fsc_jt *t, const char *p, struct fsc_jt_val *v, const char *word,
			   size_t n, enum fsc_jt_type type, struct fsc_jt_out *out)
{
	if (FSC_UNLIKELY((size_t)(t->end - p) <= n && !t->eof))
		return fsc_jt_failed(t, t->end);
	if (memcmp(p, word, n) != 0 || is_word(p[n]))
		return odd_word(t, p, v, out);
	*v = (struct fsc_jt_val){ .s = p, .n = (uint32_t)n, .type = (uint8_t)type };
	return p + n;
}

/* p is behind the opening bracket of an array or object. */
static const char *container(struct fsc_jt *t, const char *p, bool object, unsigned depth,
			     struct fsc_jt_out *out)
{
	struct fsc_jt_val v;
	const char close = object ? '}' : ']';
	p = fsc_jt_ws_out(p, out);
	if (*p == close)
		return p + 1;
	for (;;) {
		if (object) {
			if (*p != '"')
				return fsc_jt_failed(t, p);
			p = fsc_jt_string(t, p + 1, &v);
			if (!p)
				return NULL;
			if (FSC_UNLIKELY(v.flags) && out)
				fsc_jt_out_string(t, out, &v);
			p = fsc_jt_ws_out(p, out);
			if (*p != ':')
				return fsc_jt_failed(t, p);
			p = fsc_jt_ws_out(p + 1, out);
		}
		p = fsc_jt_value(t, p, &v, depth, out);
		if (!p)
			return NULL;
		p = fsc_jt_ws_out(p, out);
		if (*p == close)
			return p + 1;
		if (*p != ',')
			return fsc_jt_failed(t, p);
		p = fsc_jt_ws_out(p + 1, out);
		if (FSC_UNLIKELY(*p == close)) {
			fsc_jt_out_drop_comma(t, out, p);
			return p + 1;
		}
	}
}

const char *fsc_jt_value(struct fsc_jt *t, const char *p, struct fsc_jt_val *v, unsigned depth,
			 struct fsc_jt_out *out)
{
	switch (*p) {
	case '"': {
		const char *q = fsc_jt_string(t, p + 1, v);
		if (FSC_UNLIKELY(q && v->flags && out))
			fsc_jt_out_string(t, out, v);
		return q;
	}
	case '{':
	case '[': {
		if (FSC_UNLIKELY(depth + 1 > FSC_MAX_JSON_DEPTH)) {
			t->fail = FSC_JT_DEEP;
			t->fail_at = p;
			return NULL;
		}
		bool object = *p == '{';
		const char *q = container(t, p + 1, object, depth + 1, out);
		if (q)
			*v = (struct fsc_jt_val){ .s = p,
						  .n = (uint32_t)(q - p),
						  .type = object ? FSC_JT_OBJ : FSC_JT_ARR };
		return q;
	}
	case 't':
		return literal(t, p, v, "true", 4, FSC_JT_BOOL_TRUE, out);
	case 'f':
		return literal(t, p, v, "false", 5, FSC_JT_BOOL_FALSE, out);
	case 'n':
		return literal(t, p, v, "null", 4, FSC_JT_NULL, out);
	case '\0':
		return fsc_jt_failed(t, p);
	default:
		if (FSC_LIKELY(*p == '-' || (unsigned char)(*p - '0') < 10))
			return number(t, p, v, out);
		return odd_word(t, p, v, out);
	}
}

/* ---- canonical copies ---- */

void fsc_jt_out_init(struct fsc_jt_out *o, char *buf, size_t cap, const char *run)
{
	*o = (struct fsc_jt_out){ .w = buf, .start = buf, .lim = buf + cap - 32, .run = run };
}

/* Copies are short: 16 bytes at a time, over the end into the slack. The window has 64 zeros behind it. */
void fsc_jt_out_flush(struct fsc_jt_out *o, const char *p)
{
	size_t n = (size_t)(p - o->run);
	if (FSC_UNLIKELY(o->full || n > (size_t)(o->lim - o->w))) {
		o->full = true;
		return;
	}
	char *w = o->w;
	const char *s = o->run;
	o->w += n;
	while (w < o->w) {
		memcpy(w, s, 16);
		w += 16;
		s += 16;
	}
}

void fsc_jt_out_drop_comma(struct fsc_jt *t, struct fsc_jt_out *o, const char *p)
{
	fsc_jt_note(t, &t->repairs.comma, 1, p);
	if (!o)
		return;
	fsc_jt_out_flush(o, p);
	o->w -= !o->full;
	o->run = p;
}

void fsc_jt_out_put(struct fsc_jt_out *o, const char *s, size_t n)
{
	if (o->full || n > (size_t)(o->lim - o->w)) {
		o->full = true;
		return;
	}
	memcpy(o->w, s, n);
	o->w += n;
}

enum escape_fault { ESCAPE_OK, ESCAPE_INVALID, ESCAPE_LONE };

/*
 * Resolves the escape at s (a backslash; end is the end of the string) to a code point and its length in the
 * source. A lone surrogate is U+FFFD, an invalid escape is the backslash itself.
 */
static uint32_t escape(enum escape_fault *fault, const char *s, const char *end, size_t *used)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *k = s + 1 < end && s[1] ? strchr(from, s[1]) : NULL;
	*used = 2;
	*fault = ESCAPE_OK;
	if (k)
		return (unsigned char)to[k - from];
	uint32_t cp;
	*used = fsc_json_escape_u(&cp, s, end);
	if (!*used) {
		*fault = ESCAPE_INVALID;
		*used = 1;
		return '\\';
	}
	if (cp < 0xD800 || cp > 0xDFFF)
		return cp;
	*fault = ESCAPE_LONE;
	return 0xFFFD;
}

/* Appends the run of bytes from s on that needs no escape resolved, repaired; returns what follows it. */
static const char *plain_run(struct fsc_jt *t, struct fsc_buf *b, const char *s, const char *end)
{
	const char *q = memchr(s, '\\', (size_t)(end - s));
	if (!q)
		q = end;
	size_t bad = fsc_utf8_repair(b, s, (size_t)(q - s));
	if (FSC_UNLIKELY(bad > 0))
		fsc_jt_note(t, &t->repairs.utf8, bad, s);
	return q;
}

const char *fsc_jt_text(struct fsc_jt *t, const struct fsc_jt_val *v, size_t *n)
{
	if (FSC_LIKELY(!v->flags)) {
		*n = v->n;
		return v->s;
	}
	const char *s = v->s, *end = v->s + v->n;
	struct fsc_buf *b = &t->scratch;
	fsc_buf_clear(b);
	if (v->flags & FSC_JT_CTRL)
		fsc_jt_note(t, &t->repairs.control, 1, s);
	while (s < end) {
		s = plain_run(t, b, s, end);
		if (s >= end)
			break;
		size_t used;
		char utf8[4];
		enum escape_fault fault;
		uint32_t cp = escape(&fault, s, end, &used);
		if (FSC_UNLIKELY(fault != ESCAPE_OK))
			fsc_jt_note(t,
				    fault == ESCAPE_LONE ? &t->repairs.surrogate
							 : &t->repairs.escape,
				    1, s);
		if (!cp) /* names are also C strings */
			cp = 0xFFFD;
		fsc_buf_add(b, utf8, fsc_utf8_encode(utf8, cp));
		s += used;
	}
	*n = b->len;
	return b->data ? b->data : "";
}

/* True when the text between the quotes can stand as it is. */
static bool is_canonical(const struct fsc_jt_val *v)
{
	if (v->flags & FSC_JT_CTRL)
		return false;
	if ((v->flags & FSC_JT_HIGH) && !fsc_utf8_valid(v->s, v->n))
		return false;
	const char *s = v->s, *end = s + v->n;
	enum escape_fault fault;
	while ((v->flags & FSC_JT_ESC) && (s = memchr(s, '\\', (size_t)(end - s))) != NULL) {
		size_t used;
		escape(&fault, s, end, &used);
		if (fault != ESCAPE_OK)
			return false;
		s += used;
	}
	return true;
}

/* Writes clean text as the inside of a JSON string. */
static void put_escaped(struct fsc_jt_out *o, const char *s, size_t n)
{
	static const char hex[] = "0123456789abcdef";
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];
		char u[6] = { '\\', 'u', '0', '0', hex[c >> 4], hex[c & 15] };
		if (c == '"' || c == '\\') {
			char e[2] = { '\\', (char)c };
			fsc_jt_out_put(o, e, 2);
		} else if (c < 0x20) {
			fsc_jt_out_put(o, u, 6);
		} else {
			fsc_jt_out_put(o, s + i, 1);
		}
	}
}

void fsc_jt_out_string(struct fsc_jt *t, struct fsc_jt_out *o, const struct fsc_jt_val *v)
{
	if (is_canonical(v))
		return;
	size_t n;
	const char *s = fsc_jt_text(t, v, &n);
	fsc_jt_out_flush(o, v->s);
	put_escaped(o, s, n);
	o->run = v->s + v->n;
}
