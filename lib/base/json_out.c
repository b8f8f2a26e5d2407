/* SPDX-License-Identifier: Apache-2.0 */
/* JSON writer: commas, escapes and numbers that read back exactly. */
#include "base/json_out.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/num.h"
#include "base/utf8.h"

#define DEPTH_MAX 32u

void fsc_json_init(struct fsc_json *j, struct fsc_buf *b)
{
	j->b = b;
	j->depth = 0;
	j->first[0] = true;
}

/* Comma before a value, unless it is the first here or follows its key. */
static void before(struct fsc_json *j)
{
	if (!j->first[j->depth])
		fsc_buf_addc(j->b, ',');
	j->first[j->depth] = false;
}

static void open_level(struct fsc_json *j, char c)
{
	before(j);
	FSC_ASSERT(j->depth < DEPTH_MAX);
	fsc_buf_addc(j->b, c);
	j->first[++j->depth] = true;
}

static void close_level(struct fsc_json *j, char c)
{
	FSC_ASSERT(j->depth > 0);
	j->depth--;
	fsc_buf_addc(j->b, c);
}

void fsc_json_obj(struct fsc_json *j)
{
	open_level(j, '{');
}

void fsc_json_obj_end(struct fsc_json *j)
{
	close_level(j, '}');
}

void fsc_json_arr(struct fsc_json *j)
{
	open_level(j, '[');
}

void fsc_json_arr_end(struct fsc_json *j)
{
	close_level(j, ']');
}

static bool plain(unsigned char c)
{
	return c >= 0x20 && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&';
}

static void add_escape(struct fsc_buf *b, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";
	char u[6] = { '\\', 'u', '0', '0', hex[c >> 4], hex[c & 15] };
	static const char from[] = "\"\\\b\f\n\r\t";
	static const char to[] = "\"\\bfnrt";
	const char *at = c ? strchr(from, c) : NULL;
	if (at) {
		u[1] = to[at - from];
		fsc_buf_add(b, u, 2);
		return;
	}
	fsc_buf_add(b, u, 6);
}

/* s is well-formed UTF-8. */
static void add_escaped(struct fsc_buf *b, const char *s, size_t n)
{
	size_t start = 0;
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];
		if (FSC_LIKELY(plain(c)))
			continue;
		fsc_buf_add(b, s + start, i - start);
		add_escape(b, c);
		start = i + 1;
	}
	fsc_buf_add(b, s + start, n - start);
}

static void add_string(struct fsc_buf *b, const char *s, size_t n)
{
	fsc_buf_addc(b, '"');
	if (FSC_LIKELY(fsc_utf8_valid(s, n))) {
		add_escaped(b, s, n);
	} else {
		struct fsc_buf tmp = FSC_BUF_INIT(SIZE_MAX);
		(void)fsc_utf8_repair(&tmp, s, n);
		if (fsc_buf_status(&tmp) == FSC_OK)
			add_escaped(b, tmp.data, tmp.len);
		else if (b->failed == FSC_OK)
			b->failed = fsc_buf_status(&tmp);
		fsc_buf_fini(&tmp);
	}
	fsc_buf_addc(b, '"');
}

void fsc_json_key(struct fsc_json *j, const char *key)
{
	before(j);
	add_string(j->b, key, strlen(key));
	fsc_buf_addc(j->b, ':');
	j->first[j->depth] = true; /* the value that follows takes no comma */
}

void fsc_json_strn(struct fsc_json *j, const char *s, size_t n)
{
	before(j);
	add_string(j->b, s, n);
}

void fsc_json_str(struct fsc_json *j, const char *s)
{
	if (s)
		fsc_json_strn(j, s, strlen(s));
	else
		fsc_json_null(j);
}

void fsc_json_int(struct fsc_json *j, int64_t v)
{
	before(j);
	fsc_buf_addi(j->b, v);
}

void fsc_json_uint(struct fsc_json *j, uint64_t v)
{
	before(j);
	fsc_buf_addu(j->b, v);
}

/* printf writes the decimal point of the locale, which may be several bytes: make it one '.'. */
static size_t fix_point(char *s)
{
	size_t n = 0;
	bool point = false;
	for (const char *p = s; *p; p++) {
		bool num = (*p >= '0' && *p <= '9') || *p == '-' || *p == '+' || *p == 'e';
		if (num) {
			s[n++] = *p;
			point = false;
		} else if (!point) {
			s[n++] = '.';
			point = true;
		}
	}
	s[n] = '\0';
	return n;
}

/* The fewest digits that read back as v. Below DBL_MIN fewer than 15 can do, elsewhere %g drops zeros. */
static size_t format_double(char dst[40], double v)
{
	size_t n = 0;
	for (int digits = fabs(v) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
		double back;
		snprintf(dst, 40, "%.*g", digits, v);
		n = fix_point(dst);
		if (digits == 17 || (fsc_parse_double(&back, dst, n) && back == v))
			break;
	}
	return n;
}

void fsc_json_double(struct fsc_json *j, double v)
{
	if (!isfinite(v)) {
		fsc_json_null(j);
		return;
	}
	before(j);
	if (v == 0) {
		fsc_buf_adds(j->b, signbit(v) ? "-0" : "0");
	} else if (fabs(v) < 1e15 && v == floor(v)) {
		fsc_buf_addi(j->b, (int64_t)v);
	} else {
		char tmp[40];
		fsc_buf_add(j->b, tmp, format_double(tmp, v));
	}
}

void fsc_json_bool(struct fsc_json *j, bool v)
{
	before(j);
	fsc_buf_adds(j->b, v ? "true" : "false");
}

void fsc_json_null(struct fsc_json *j)
{
	before(j);
	fsc_buf_adds(j->b, "null");
}

void fsc_json_raw(struct fsc_json *j, const char *s, size_t n)
{
	before(j);
	fsc_buf_add(j->b, s, n);
}

void fsc_json_kstr(struct fsc_json *j, const char *key, const char *s)
{
	fsc_json_key(j, key);
	fsc_json_str(j, s);
}

void fsc_json_kint(struct fsc_json *j, const char *key, int64_t v)
{
	fsc_json_key(j, key);
	fsc_json_int(j, v);
}

void fsc_json_kuint(struct fsc_json *j, const char *key, uint64_t v)
{
	fsc_json_key(j, key);
	fsc_json_uint(j, v);
}

void fsc_json_kbool(struct fsc_json *j, const char *key, bool v)
{
	fsc_json_key(j, key);
	fsc_json_bool(j, v);
}

void fsc_json_kdouble(struct fsc_json *j, const char *key, double v)
{
	fsc_json_key(j, key);
	fsc_json_double(j, v);
}

void fsc_json_kid(struct fsc_json *j, const char *key, uint64_t id)
{
	char tmp[21];
	fsc_json_key(j, key);
	fsc_json_strn(j, tmp, fsc_fmt_u64(tmp, id));
}
