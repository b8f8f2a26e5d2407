/* SPDX-License-Identifier: Apache-2.0 */
/* Walks over the files that rows name. */
#include "store/files.h"

#include "base/alloc.h"
#include "store/store_ops.h"

#define PAGE_ROWS 500

struct page {
	struct fsc_file_row rows[PAGE_ROWS];
	size_t n;
};

static enum fsc_status take_blob(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct page *p = ctx;
	struct fsc_file_row *f = &p->rows[p->n];

	if (p->n == PAGE_ROWS || !fsc_row_bytes(row, 0, f->sha256, FSC_SHA256_LEN))
		return fsc_err_set(err, FSC_ECORRUPT, "store_corrupt", "store: a digest is broken");
	f->bytes = fsc_row_int(row, 1, 0);
	p->n++;
	return FSC_OK;
}

static enum fsc_status take_segment(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct page *p = ctx;
	struct fsc_file_row *f = &p->rows[p->n];

	if (p->n == PAGE_ROWS)
		return fsc_err_set(err, FSC_EBUG, NULL, "store: page is full");
	f->segment = fsc_row_int(row, 0, 0);
	f->bytes = fsc_row_int(row, 1, 0);
	f->trace = fsc_row_int(row, 2, 0);
	f->bundle = fsc_row_int(row, 3, 0);
	p->n++;
	return FSC_OK;
}

static enum fsc_status give(const struct page *p, fsc_file_row_fn *each, void *ctx,
			    struct fsc_err *err)
{
	enum fsc_status st = FSC_OK;

	for (size_t i = 0; i < p->n && st == FSC_OK; i++)
		st = each(ctx, &p->rows[i], err);
	return st;
}

enum fsc_status fsc_store_each_blob(struct fsc_store *s, fsc_file_row_fn *each, void *ctx,
				    struct fsc_err *err)
{
	struct page *p = fsc_xalloc(1, sizeof(*p));
	uint8_t after[FSC_SHA256_LEN];
	size_t n_after = 0; /* the empty digest comes before all */
	enum fsc_status st;

	do {
		p->n = 0;
		st = fsc_store_rows(s, FSC_Q_FILES_BLOBS,
				    FSC_ARGS(fsc_v_bytes(after, n_after), fsc_v_int(PAGE_ROWS)),
				    take_blob, p, err);
		if (st == FSC_OK)
			st = give(p, each, ctx, err);
		if (p->n)
			memcpy(after, p->rows[p->n - 1].sha256, n_after = FSC_SHA256_LEN);
	} while (st == FSC_OK && p->n);
	fsc_free(p);
	return st;
}

enum fsc_status fsc_store_each_segment(struct fsc_store *s, fsc_file_row_fn *each, void *ctx,
				       struct fsc_err *err)
{
	struct page *p = fsc_xalloc(1, sizeof(*p));
	int64_t after = -1;
	enum fsc_status st;

	do {
		p->n = 0;
		st = fsc_store_rows(s, FSC_Q_FILES_SEGMENTS,
				    FSC_ARGS(fsc_v_int(after), fsc_v_int(PAGE_ROWS)), take_segment,
				    p, err);
		if (st == FSC_OK)
			st = give(p, each, ctx, err);
		if (p->n)
			after = p->rows[p->n - 1].segment;
	} while (st == FSC_OK && p->n);
	fsc_free(p);
	return st;
}

enum fsc_status fsc_store_check(struct fsc_store *s, void (*found)(void *ctx, const char *what),
				void *ctx, struct fsc_err *err)
{
	return s->ops->check(s, found, ctx, err);
}
