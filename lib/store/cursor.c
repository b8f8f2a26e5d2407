/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Page cursors and search words. A cursor names the last row of a page by its sort key and id, so that pages
 * stay right while rows come and go; it is hexadecimal so that nobody is tempted to build one.
 */
#include "base/buf.h"
#include "base/crypto.h"
#include "base/num.h"
#include "store/store.h"
#include "store/store_ops.h"

#define CURSOR_TEXT_MAX 4096
#define WORD_MAX 200

const char *fsc_cursor_write(struct fsc_arena *a, const struct fsc_cursor *c)
{
	char *plain, *hex;
	size_t n;

	if (c->is_text)
		plain = fsc_arena_printf(a, "%s %lld t%s", c->kind, (long long)c->id, c->text);
	else
		plain = fsc_arena_printf(a, "%s %lld i%lld", c->kind, (long long)c->id,
					 (long long)c->key);
	if (!plain)
		return NULL;
	n = strlen(plain);
	hex = fsc_arena_alloc(a, 2 * n + 1, 1);
	if (hex)
		fsc_hex(hex, (const uint8_t *)plain, n);
	return hex;
}

static bool cursor_parse(struct fsc_cursor *out, char *plain, const char *kind)
{
	size_t n_kind = strlen(kind);
	char *id, *key;

	if (strncmp(plain, kind, n_kind) || plain[n_kind] != ' ')
		return false;
	id = plain + n_kind + 1;
	key = strchr(id, ' ');
	if (!key || !fsc_parse_i64(&out->id, id, (size_t)(key - id)))
		return false;
	key++;
	out->is_text = key[0] == 't';
	out->text = key + 1;
	if (out->is_text)
		return true;
	return key[0] == 'i' && fsc_parse_i64(&out->key, key + 1, strlen(key + 1));
}

enum fsc_status fsc_cursor_read(struct fsc_cursor *out, struct fsc_arena *a, const char *s,
				const char *kind, struct fsc_err *err)
{
	size_t n = strnlen(s, 2 * CURSOR_TEXT_MAX + 1);
	char *plain;

	if (n % 2 || n > 2 * CURSOR_TEXT_MAX)
		goto bad;
	plain = fsc_arena_alloc(a, n / 2 + 1, 1);
	if (!plain)
		return fsc_store_nomem(err);
	if (!fsc_unhex((uint8_t *)plain, s, n / 2))
		goto bad;
	if (!cursor_parse(out, plain, kind))
		goto bad;
	return FSC_OK;
bad:
	return fsc_err_set(err, FSC_EINVAL, "cursor",
			   "cursor: not one of this list in this order, start at the first page");
}

static char *like_pattern(struct fsc_arena *a, const char *w, size_t n)
{
	char *p = fsc_arena_alloc(a, 2 * n + 3, 1);
	size_t o = 0;

	if (!p)
		return NULL;
	p[o++] = '%';
	for (size_t i = 0; i < n; i++) {
		if (w[i] == '%' || w[i] == '_' || w[i] == '\\')
			p[o++] = '\\';
		p[o++] = w[i];
	}
	p[o++] = '%';
	return p;
}

enum fsc_status fsc_words_split(struct fsc_words *out, struct fsc_arena *a, const char *q,
				struct fsc_err *err)
{
	size_t n_words = 0;

	*out = (struct fsc_words){ 0 };
	if (!q)
		return FSC_OK;
	for (;;) {
		size_t n;

		q += strspn(q, " \t\r\n");
		/* the last word takes the rest of the text */
		n = n_words + 1 < FSC_ARRAY_LEN(out->like) ? strcspn(q, " \t\r\n")
							   : strnlen(q, WORD_MAX + 1);
		if (!n)
			return FSC_OK;
		if (n > WORD_MAX)
			return fsc_err_set(err, FSC_EINVAL, "query",
					   "search: a word is longer than %d bytes", WORD_MAX);
		out->like[n_words] = like_pattern(a, q, n);
		if (!out->like[n_words++])
			return fsc_store_nomem(err);
		q += n;
		if (n_words == FSC_ARRAY_LEN(out->like))
			return FSC_OK;
	}
}
