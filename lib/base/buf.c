/* SPDX-License-Identifier: Apache-2.0 */
/* Bounded growable byte buffer: append many times, look at the status once. */
#include "base/buf.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"

void fsc_buf_init(struct fsc_buf *b, size_t max)
{
	*b = (struct fsc_buf)FSC_BUF_INIT(max);
}

void fsc_buf_fini(struct fsc_buf *b)
{
	fsc_free(b->data);
	fsc_buf_init(b, b->max);
}

void fsc_buf_clear(struct fsc_buf *b)
{
	b->len = 0;
	b->failed = FSC_OK;
	if (b->data)
		b->data[0] = '\0';
}

/* Makes cap > len + n, so that the NUL fits too. */
static fsc_noinline bool grow(struct fsc_buf *b, size_t n)
{
	if (b->max < b->len || n > b->max - b->len) {
		b->failed = FSC_ELIMIT;
		return false;
	}
	size_t want;
	if (!fsc_add_size(&want, b->len + n, 1)) {
		b->failed = FSC_ELIMIT;
		return false;
	}
	size_t next = b->cap + b->cap / 2;
	if (next > b->max)
		next = b->max < SIZE_MAX ? b->max + 1 : b->max;
	if (next < 64)
		next = 64;
	if (next < want)
		next = want;
	char *p = fsc_realloc(b->data, next, 1);
	if (!p) {
		b->failed = FSC_ENOMEM;
		return false;
	}
	b->data = p;
	b->cap = next;
	return true;
}

char *fsc_buf_room(struct fsc_buf *b, size_t n)
{
	if (FSC_UNLIKELY(b->failed != FSC_OK))
		return NULL;
	/* cap may pass max + 1 because of the smallest size, hence both tests */
	if (FSC_LIKELY(b->cap > b->len && n < b->cap - b->len && n <= b->max - b->len))
		return b->data + b->len;
	return grow(b, n) ? b->data + b->len : NULL;
}

void fsc_buf_add(struct fsc_buf *b, const void *p, size_t n)
{
	char *dst = fsc_buf_room(b, n);
	if (!dst)
		return;
	if (n)
		memcpy(dst, p, n);
	b->len += n;
	b->data[b->len] = '\0';
}

void fsc_buf_adds(struct fsc_buf *b, const char *s)
{
	fsc_buf_add(b, s, strlen(s));
}

void fsc_buf_addc(struct fsc_buf *b, char c)
{
	char *dst = fsc_buf_room(b, 1);
	if (!dst)
		return;
	dst[0] = c;
	dst[1] = '\0';
	b->len++;
}

void fsc_buf_vaddf(struct fsc_buf *b, const char *fmt, va_list ap)
{
	char *dst = fsc_buf_room(b, 0);
	if (!dst)
		return;
	va_list again;
	va_copy(again, ap);
	size_t left = b->cap - b->len;
	int n = vsnprintf(dst, left, fmt, ap);
	if (n < 0) {
		b->failed = FSC_ENOMEM;
	} else if ((size_t)n < left && (size_t)n <= b->max - b->len) {
		b->len += (size_t)n;
	} else {
		dst = fsc_buf_room(b, (size_t)n);
		if (dst) {
			vsnprintf(dst, (size_t)n + 1, fmt, again);
			b->len += (size_t)n;
		}
	}
	va_end(again);
	b->data[b->len] = '\0';
}

void fsc_buf_addf(struct fsc_buf *b, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	fsc_buf_vaddf(b, fmt, ap);
	va_end(ap);
}

void fsc_buf_addi(struct fsc_buf *b, int64_t v)
{
	char tmp[21];
	fsc_buf_add(b, tmp, fsc_fmt_i64(tmp, v));
}

void fsc_buf_addu(struct fsc_buf *b, uint64_t v)
{
	char tmp[21];
	fsc_buf_add(b, tmp, fsc_fmt_u64(tmp, v));
}

enum fsc_status fsc_buf_status(const struct fsc_buf *b)
{
	return b->failed;
}

char *fsc_buf_take(struct fsc_buf *b, size_t *len)
{
	char *p = NULL;
	if (b->failed == FSC_OK) {
		/* An empty buffer gives an empty text, so that NULL means failure only. */
		(void)fsc_buf_room(b, 0);
		if (b->failed == FSC_OK) {
			p = b->data;
			p[b->len] = '\0';
			b->data = NULL;
		}
	}
	if (len)
		*len = p ? b->len : 0;
	fsc_buf_fini(b);
	return p;
}
