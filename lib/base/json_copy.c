/* SPDX-License-Identifier: Apache-2.0 */
/* Checked copies of JSON values. */
#include "base/json_copy.h"

#include <string.h>

#include "base/num.h"
#include "base/utf8.h"

#define DEPTH_MAX 64

void fsc_json_copy_text(struct fsc_buf *out, const char *s, size_t n)
{
	size_t from = 0;

	fsc_buf_addc(out, '"');
	for (size_t i = 0; i <= n; i++) {
		if (i < n && (unsigned char)s[i] >= ' ' && s[i] != '"' && s[i] != '\\')
			continue;
		if (i > from)
			fsc_utf8_repair(out, s + from, i - from);
		from = i + 1;
		if (i == n)
			break;
		switch (s[i]) {
		case '"':
		case '\\':
			fsc_buf_addc(out, '\\');
			fsc_buf_addc(out, s[i]);
			break;
		case '\n':
			fsc_buf_adds(out, "\\n");
			break;
		case '\t':
			fsc_buf_adds(out, "\\t");
			break;
		default:
			fsc_buf_addf(out, "\\u%04x", (unsigned char)s[i]);
		}
	}
	fsc_buf_addc(out, '"');
}

struct copy {
	struct fsc_buf *out;
	const char *p, *end;
};

static void blanks(struct copy *c)
{
	while (c->p < c->end && (*c->p == ' ' || *c->p == '\n' || *c->p == '\r' || *c->p == '\t'))
		c->p++;
}

static bool escape_ok(struct copy *c)
{
	if (c->p + 1 >= c->end)
		return false;
	if (c->p[1] != 'u')
		return strchr("\"\\/bfnrt", c->p[1]) && c->p[1];
	for (int i = 2; i < 6; i++)
		if (c->p + i >= c->end || fsc_hex_digit(c->p[i]) < 0)
			return false;
	return true;
}

static bool string(struct copy *c)
{
	const char *from = c->p++;

	for (; c->p < c->end && *c->p != '"'; c->p++) {
		if ((unsigned char)*c->p < ' ' || (*c->p == '\\' && !escape_ok(c)))
			return false;
		c->p += *c->p == '\\';
	}
	if (c->p >= c->end || !fsc_utf8_valid(from, (size_t)(c->p - from)))
		return false;
	c->p++;
	fsc_buf_add(c->out, from, (size_t)(c->p - from));
	return true;
}

static bool digits(struct copy *c)
{
	const char *from = c->p;

	while (c->p < c->end && *c->p >= '0' && *c->p <= '9')
		c->p++;
	return c->p > from;
}

static bool number(struct copy *c)
{
	const char *from = c->p;

	c->p += *c->p == '-';
	const char *whole = c->p;
	if (!digits(c) || (*whole == '0' && c->p > whole + 1))
		return false;
	if (c->p < c->end && *c->p == '.') {
		c->p++;
		if (!digits(c))
			return false;
	}
	if (c->p < c->end && (*c->p == 'e' || *c->p == 'E')) {
		c->p++;
		if (c->p < c->end && (*c->p == '+' || *c->p == '-'))
			c->p++;
		if (!digits(c))
			return false;
	}
	fsc_buf_add(c->out, from, (size_t)(c->p - from));
	return true;
}

static bool word(struct copy *c, const char *w)
{
	size_t n = strlen(w);

	if ((size_t)(c->end - c->p) < n || memcmp(c->p, w, n) != 0)
		return false;
	c->p += n;
	fsc_buf_add(c->out, w, n);
	return true;
}

static bool value(struct copy *c, unsigned depth);

static bool member_key(struct copy *c)
{
	if (c->p >= c->end || *c->p != '"' || !string(c))
		return false;
	blanks(c);
	if (c->p >= c->end || *c->p++ != ':')
		return false;
	fsc_buf_addc(c->out, ':');
	blanks(c);
	return true;
}

/* An object or a list; recursion ends at DEPTH_MAX. */
static bool nested(struct copy *c, unsigned depth)
{
	char close = *c->p == '{' ? '}' : ']';

	if (depth == DEPTH_MAX)
		return false;
	fsc_buf_addc(c->out, *c->p++);
	blanks(c);
	if (c->p < c->end && *c->p == close) {
		fsc_buf_addc(c->out, *c->p++);
		return true;
	}
	for (;;) {
		if ((close == '}' && !member_key(c)) || !value(c, depth + 1))
			return false;
		blanks(c);
		if (c->p >= c->end || (*c->p != ',' && *c->p != close))
			return false;
		fsc_buf_addc(c->out, *c->p);
		if (*c->p++ == close)
			return true;
		blanks(c);
	}
}

static bool value(struct copy *c, unsigned depth)
{
	if (c->p >= c->end)
		return false;
	switch (*c->p) {
	case '{':
	case '[':
		return nested(c, depth);
	case '"':
		return string(c);
	case 't':
		return word(c, "true");
	case 'f':
		return word(c, "false");
	case 'n':
		return word(c, "null");
	default:
		return number(c);
	}
}

bool fsc_json_copy_value(struct fsc_buf *out, const char *s, size_t n)
{
	struct copy c = { out, s, NULL };
	size_t before = out->len;
	bool ok;

	if (!n)
		return false;
	c.end = s + n;
	blanks(&c);
	ok = value(&c, 0);
	blanks(&c);
	if (ok && c.p == c.end)
		return true;
	if (out->data) {
		out->len = before;
		out->data[before] = '\0';
	}
	return false;
}
