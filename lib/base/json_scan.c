/* SPDX-License-Identifier: Apache-2.0 */
/* Member walk over canonical JSON text; see the header. Nesting is skipped by counting brackets outside
 * strings, which is enough because the text was produced by our own reader. */
#include "base/json_scan.h"

#include <string.h>

#include "base/num.h"
#include "base/utf8.h"

/* Position after the closing quote of the string that starts at p (which is '"'), or NULL. */
static const char *skip_string(const char *p, const char *end)
{
	for (p++; p < end; p++) {
		if (*p == '"')
			return p + 1;
		if (*p == '\\')
			p++;
	}
	return NULL;
}

static const char *skip_nested(const char *p, const char *end)
{
	size_t depth = 0;

	while (p < end) {
		if (*p == '"') {
			p = skip_string(p, end);
			if (!p)
				return NULL;
			continue;
		}
		if (*p == '{' || *p == '[')
			depth++;
		else if ((*p == '}' || *p == ']') && --depth == 0)
			return p + 1;
		p++;
	}
	return NULL;
}

static const char *skip_scalar(const char *p, const char *end)
{
	while (p < end && *p != ',' && *p != '}' && *p != ']')
		p++;
	return p;
}

static const char *skip_value(enum fsc_json_type *type, const char *p, const char *end)
{
	switch (*p) {
	case '"':
		*type = FSC_JSON_STRING;
		return skip_string(p, end);
	case '{':
	case '[':
		*type = FSC_JSON_NESTED;
		return skip_nested(p, end);
	case 't':
	case 'f':
		*type = FSC_JSON_BOOL;
		break;
	case 'n':
		*type = FSC_JSON_NULL;
		break;
	default:
		*type = FSC_JSON_NUMBER;
		break;
	}
	return skip_scalar(p, end);
}

bool fsc_json_scan_next(struct fsc_json_scan *s, struct fsc_json_member *m)
{
	const char *p = s->p, *after;

	if (p >= s->end || *p != (s->started ? ',' : '{'))
		return false;
	s->started = true;
	p++;
	if (p >= s->end || *p != '"')
		return false;
	after = skip_string(p, s->end);
	if (!after || after >= s->end || *after != ':' || after + 1 >= s->end)
		return false;
	m->key = p + 1;
	m->key_len = (size_t)(after - p) - 2;
	m->value = after + 1;
	after = skip_value(&m->type, m->value, s->end);
	if (!after || after == m->value)
		return false;
	m->value_len = (size_t)(after - m->value);
	s->p = after;
	return true;
}

bool fsc_json_find(struct fsc_json_member *m, const char *json, size_t n, const char *key)
{
	struct fsc_json_scan s = fsc_json_scan_of(json, n);
	size_t key_len = strlen(key);

	while (fsc_json_scan_next(&s, m))
		if (m->key_len == key_len && !memcmp(m->key, key, key_len))
			return true;
	return false;
}

/* Four hex digits at s, or -1. */
static int hex4(const char *s)
{
	int v = 0;

	for (int i = 0; i < 4; i++) {
		int d = fsc_hex_digit(s[i]);

		if (d < 0)
			return -1;
		v = v * 16 + d;
	}
	return v;
}

size_t fsc_json_escape_u(uint32_t *cp, const char *s, const char *end)
{
	int hi = end - s >= 6 && s[0] == '\\' && s[1] == 'u' ? hex4(s + 2) : -1;
	int lo = -1;

	if (hi < 0)
		return 0;
	*cp = (uint32_t)hi;
	if (hi < 0xd800 || hi > 0xdbff)
		return 6;
	if (end - s >= 12 && s[6] == '\\' && s[7] == 'u')
		lo = hex4(s + 8);
	if (lo < 0xdc00 || lo > 0xdfff)
		return 6;
	*cp = 0x10000u + (((uint32_t)hi - 0xd800u) << 10) + ((uint32_t)lo - 0xdc00u);
	return 12;
}

/* p is at the 'u' of an escape; returns the position after the escape (pair included). */
static const char *unescape_u(struct fsc_buf *out, const char *p, const char *end)
{
	uint32_t cp = 0xfffd;
	size_t used = fsc_json_escape_u(&cp, p - 1, end);
	char utf8[4];

	fsc_buf_add(out, utf8, fsc_utf8_encode(utf8, cp));
	return used ? p - 1 + used : p + 1;
}

void fsc_json_unescape(struct fsc_buf *out, const char *value, size_t value_len)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *p = value + 1, *end = value + value_len - 1, *run, *hit;

	while (p < end) {
		run = p;
		while (p < end && *p != '\\')
			p++;
		fsc_buf_add(out, run, (size_t)(p - run));
		if (p >= end || ++p >= end)
			break;
		if (*p == 'u') {
			p = unescape_u(out, p, end);
			continue;
		}
		hit = memchr(from, *p, sizeof(from) - 1);
		fsc_buf_addc(out, hit ? to[hit - from] : *p);
		p++;
	}
}
