/* SPDX-License-Identifier: Apache-2.0 */
/* For the tests of byte sources: sample data, a source that gives few bytes a time, whole reads. */
#ifndef FSC_TESTS_UNIT_BASE_SOURCE_UTIL_H
#define FSC_TESTS_UNIT_BASE_SOURCE_UTIL_H

#include "base/alloc.h"
#include "base/buf.h"
#include "base/source.h"
#include "tests/support/test.h"

/* Text that compresses like a trace: repeated keys and numbers that vary. */
static inline void sample(struct fsc_buf *b, size_t n)
{
	uint32_t x = 12345;
	fsc_buf_adds(b, "");
	while (b->len < n) {
		x = x * 1664525u + 1013904223u;
		fsc_buf_addf(b, "{\"ph\":\"X\",\"name\":\"kernel_%u\",\"ts\":%u.%03u},\n", x >> 28,
			     x, x % 1000);
	}
	b->len = n;
	b->data[n] = '\0';
}

/* Bytes of p, 1 to step a read (step chosen by a small generator), then END or a fault. */
struct dribble {
	struct fsc_source base;
	const uint8_t *p;
	size_t left, step;
	uint32_t x;
	enum fsc_status last;
	int *n_freed;
};

static inline enum fsc_status dribble_read(struct fsc_source *s, void *buf, size_t cap, size_t *n,
					   struct fsc_err *err)
{
	struct dribble *d = (struct dribble *)s;
	d->x = d->x * 1664525u + 1013904223u;
	size_t k = (d->x >> 8) % d->step + 1;
	if (k > d->left)
		k = d->left;
	if (k > cap)
		k = cap;
	if (k == 0)
		return d->last == FSC_END ? FSC_END
					  : fsc_err_set(err, d->last, "planted", "a planted fault");
	memcpy(buf, d->p, k);
	d->p += k;
	d->left -= k;
	*n = k;
	return FSC_OK;
}

static inline void dribble_free(struct fsc_source *s)
{
	struct dribble *d = (struct dribble *)s;
	if (d->n_freed)
		++*d->n_freed;
	fsc_free(d);
}

static const struct fsc_source_ops dribble_ops = { .name = "dribble",
						   .read = dribble_read,
						   .free = dribble_free };

static inline struct dribble *dribble_new(const void *p, size_t n, size_t step)
{
	struct dribble *d = fsc_xalloc(1, sizeof(*d));
	d->base.ops = &dribble_ops;
	d->p = p;
	d->left = n;
	d->step = step;
	d->x = (uint32_t)n;
	d->last = FSC_END;
	return d;
}

/* Reads all of s in pieces of 1..step bytes into out, frees s, returns how it ended. */
static inline enum fsc_status drain(struct fsc_source *s, size_t step, struct fsc_buf *out,
				    struct fsc_err *err)
{
	uint32_t x = 99;
	enum fsc_status st = FSC_OK;
	fsc_buf_adds(out, "");
	while (st == FSC_OK) {
		x = x * 1664525u + 1013904223u;
		size_t cap = (x >> 8) % step + 1;
		/* exactly as long as asked, so that a sanitizer sees a write behind it */
		char *piece = malloc(cap);
		size_t n = 0;
		assert_non_null(piece);
		st = fsc_source_read(s, piece, cap, &n, err);
		assert_int_equal(st == FSC_OK, n > 0);
		assert_true(n <= cap);
		fsc_buf_add(out, piece, n);
		free(piece);
	}
	assert_int_equal(fsc_buf_status(out), FSC_OK);
	assert_int_equal(s->consumed, out->len);
	/* the end and a fault stay */
	char c;
	size_t n = 1;
	struct fsc_err again = FSC_ERR_INIT;
	assert_int_equal(fsc_source_read(s, &c, 1, &n, &again), st);
	assert_int_equal(n, 0);
	if (err && st != FSC_END)
		assert_string_equal(again.msg, err->msg);
	fsc_source_free(s);
	return st;
}

#endif
