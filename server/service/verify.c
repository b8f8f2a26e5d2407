/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verifying beside a server that works: files are immutable, come before their row and go after it. So a row whose
 * file is not there is a fault only when the row is still there afterwards.
 */
#include "service/verify.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "segment/seg_read.h"
#include "service/backup_int.h"
#include "store/files.h"

#define PIECE_BYTES (1u << 20)

struct verifying {
	const struct fsc_verify_opts *o;
	struct fsc_verify_done *done;
	struct fsc_store *store; /* borrowed */
	struct fsc_blobs *blobs; /* borrowed */
	char *piece;		 /* owned; PIECE_BYTES */
};

fsc_printf(2, 3) static void fault(struct verifying *v, const char *fmt, ...)
{
	struct fsc_buf b = FSC_BUF_INIT(4096);
	va_list ap;

	va_start(ap, fmt);
	fsc_buf_vaddf(&b, fmt, ap);
	va_end(ap);
	v->done->faults++;
	if (v->o->fault)
		v->o->fault(v->o->ctx, b.data ? b.data : fmt);
	fsc_buf_fini(&b);
}

static void on_database_fault(void *ctx, const char *what)
{
	fault(ctx, "database: %s", what);
}

/* ---- blobs ---- */

static enum fsc_status digest_of(struct verifying *v, uint8_t sha256[FSC_SHA256_LEN], int fd,
				 struct fsc_err *err)
{
	struct fsc_sha256 *h = fsc_sha256_new();
	enum fsc_status st = FSC_OK;
	ssize_t n;

	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	while ((n = read(fd, v->piece, PIECE_BYTES)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			st = fsc_err_sys(err, errno, "read");
			break;
		}
		fsc_sha256_update(h, v->piece, (size_t)n);
	}
	fsc_sha256_final(h, sha256);
	fsc_sha256_free(h);
	return st;
}

static enum fsc_status check_blob(void *ctx, const struct fsc_file_row *row, struct fsc_err *err)
{
	struct verifying *v = ctx;
	struct fsc_err why = FSC_ERR_INIT;
	uint8_t sha256[FSC_SHA256_LEN];
	char hex[FSC_SHA256_HEX];
	uint64_t size = 0;
	bool kept = false;
	int fd = -1;
	enum fsc_status st = fsc_blob_open(v->blobs, row->sha256, &fd, &size, &why);

	fsc_hex(hex, row->sha256, FSC_SHA256_LEN);
	if (st != FSC_OK) {
		st = fsc_store_blob_referenced(v->store, row->sha256, &kept, err);
		if (st == FSC_OK && kept)
			fault(v, "blob %s: %s", hex, why.msg);
		return st;
	}
	v->done->blobs++;
	v->done->blob_bytes += size;
	if (size != (uint64_t)row->bytes)
		fault(v, "blob %s: has %llu bytes, its row says %lld", hex,
		      (unsigned long long)size, (long long)row->bytes);
	else if (digest_of(v, sha256, fd, &why))
		fault(v, "blob %s: %s", hex, why.msg);
	else if (memcmp(sha256, row->sha256, FSC_SHA256_LEN) != 0)
		fault(v, "blob %s: its bytes have another digest", hex);
	close(fd);
	return FSC_OK;
}

/* ---- segments ---- */

static void check_bytes_of_segment(struct verifying *v, const struct fsc_file_row *row, int fd)
{
	struct fsc_err why = FSC_ERR_INIT;
	struct fsc_seg *seg = NULL;
	enum fsc_status st = fsc_seg_open(&seg, fd, &why);

	if (st == FSC_EUNSUPPORTED) {
		v->done->outdated++;
		return;
	}
	if (st == FSC_OK)
		st = fsc_seg_verify(seg, &why);
	if (st != FSC_OK)
		fault(v, "segment %lld of trace %lld: %s", (long long)row->segment,
		      (long long)row->trace, why.msg);
	fsc_seg_unref(seg);
}

static enum fsc_status check_segment(void *ctx, const struct fsc_file_row *row, struct fsc_err *err)
{
	struct verifying *v = ctx;
	struct fsc_err why = FSC_ERR_INIT;
	uint64_t size = 0;
	bool kept = false;
	int fd = -1;
	enum fsc_status st = fsc_seg_file_open(v->blobs, row->segment, &fd, &size, &why);

	if (st != FSC_OK) {
		st = fsc_store_segment_referenced(v->store, row->segment, &kept, err);
		if (st == FSC_OK && kept)
			fault(v, "segment %lld of trace %lld: %s", (long long)row->segment,
			      (long long)row->trace, why.msg);
		return st;
	}
	v->done->segments++;
	v->done->segment_bytes += size;
	if (size != (uint64_t)row->bytes)
		fault(v, "segment %lld of trace %lld: has %llu bytes, its row says %lld",
		      (long long)row->segment, (long long)row->trace, (unsigned long long)size,
		      (long long)row->bytes);
	else
		check_bytes_of_segment(v, row, fd);
	close(fd);
	return FSC_OK;
}

/* ---- files without a row ---- */

static enum fsc_status check_file(void *ctx, const struct fsc_blob_entry *e, struct fsc_err *err)
{
	struct verifying *v = ctx;
	bool kept = true;
	enum fsc_status st = FSC_OK;

	if (e->kind == FSC_BLOB_BLOB)
		st = fsc_store_blob_referenced(v->store, e->sha256, &kept, err);
	else
		st = fsc_store_segment_referenced(v->store, e->segment, &kept, err);
	if (st == FSC_OK && !kept) {
		v->done->leftovers++;
		v->done->leftover_bytes += e->bytes;
	}
	return st;
}

static enum fsc_status check_all(struct verifying *v, struct fsc_err *err)
{
	enum fsc_status st = fsc_store_check(v->store, on_database_fault, v, err);

	if (st == FSC_OK)
		st = fsc_store_each_blob(v->store, check_blob, v, err);
	if (st == FSC_OK)
		st = fsc_store_each_segment(v->store, check_segment, v, err);
	if (st == FSC_OK)
		st = fsc_blobs_list(v->blobs, FSC_BLOB_BLOB, check_file, v, err);
	if (st == FSC_OK)
		st = fsc_blobs_list(v->blobs, FSC_BLOB_SEGMENT, check_file, v, err);
	/* A page that cannot be read any more ends the walk, but is what was looked for. */
	if (st == FSC_ECORRUPT) {
		fault(v, "database: %s", err ? err->msg : "broken");
		st = FSC_OK;
	}
	return st;
}

enum fsc_status fsc_verify(const struct fsc_verify_opts *o, struct fsc_verify_done *done,
			   struct fsc_err *err)
{
	const struct fsc_blobs_opts use = { .use = FSC_BLOBS_READ };
	struct verifying v = { .o = o, .done = done };
	enum fsc_status st;

	*done = (struct fsc_verify_done){ 0 };
	if (fsc_backup_has(o->data, FSC_BACKUP_PART))
		fault(&v, "backup: was cut off before its end");
	if (fsc_backup_has(o->data, FSC_RESTORE_PART))
		fault(&v, "restore: was cut off before its end");
	st = fsc_backup_open_db(&v.store, o->data, FSC_BACKUP_DB, err);
	if (st == FSC_OK)
		st = fsc_blobs_open(&v.blobs, o->data, &use, err);
	v.piece = fsc_xalloc(1, PIECE_BYTES);
	if (st == FSC_OK)
		st = check_all(&v, err);
	fsc_free(v.piece);
	fsc_blobs_close(v.blobs);
	fsc_store_close(v.store);
	if (st == FSC_ECORRUPT) { /* not even to be opened */
		fault(&v, "database: %s", err ? err->msg : "broken");
		st = FSC_OK;
	}
	return st;
}
