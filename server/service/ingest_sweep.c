/* SPDX-License-Identifier: Apache-2.0 */
/* Indexing a bundle again, and the sweep of files that nobody refers to. */
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "service/ingest_int.h"
#include "store/blob.h"
#include "store/retention.h"

/* Temporary files of uploads and indexers that run now are touched all the time, but a file system may be
 * lazy with times: wait longer for these. */
#define TEMP_PATIENCE 4

enum fsc_status fsc_ingest_reindex(struct fsc_ingest *in, int64_t project, int64_t bundle,
				   struct fsc_err *err)
{
	struct fsc_bundle b;
	struct fsc_arena a;
	uint64_t size;
	enum fsc_status st;

	fsc_arena_init(&a, FSC_MIB);
	st = fsc_store_bundle_get(in->o.store, &a, project, bundle, &b, err);
	if (st == FSC_OK) {
		/* another project may have the same bytes: they are not this one's any more */
		st = b.blob_deleted_at_ns ? FSC_ENOTFOUND
					  : fsc_blob_stat(in->o.blobs, b.sha256, &size, err);
		if (st == FSC_ENOTFOUND)
			fsc_err_set(err, st, "blob_gone",
				    "bundle: its bytes are not kept any more, it cannot be indexed "
				    "again");
	}
	if (st == FSC_OK)
		st = fsc_store_bundle_reindex(in->o.store, project, bundle, err);
	fsc_arena_fini(&a);
	if (st == FSC_OK && in->o.queued)
		in->o.queued(in->o.queued_ctx);
	return st;
}

/* A full disk is when it matters most, and marking the row writes to the log of the database first: the reserve is
 * kept for this. */
static enum fsc_status release_row(struct fsc_ingest *in, int64_t project, int64_t bundle,
				   struct fsc_blob_release *gone, struct fsc_err *err)
{
	enum fsc_status st = fsc_store_blob_release(in->o.store, project, bundle, gone, err);

	if (st != FSC_EFULL)
		return st;
	st = fsc_blobs_reserve_release(in->o.blobs, err);
	if (st == FSC_OK) {
		fsc_err_clear(err);
		st = fsc_store_blob_release(in->o.store, project, bundle, gone, err);
	}
	return st;
}

enum fsc_status fsc_ingest_let_go(struct fsc_ingest *in, int64_t project, int64_t bundle,
				  int64_t *bytes, struct fsc_err *err)
{
	struct fsc_blob_release gone = { 0 };
	struct fsc_ingest_hold hold;
	struct fsc_bundle b;
	struct fsc_arena a;
	enum fsc_status st;

	*bytes = 0;
	fsc_arena_init(&a, FSC_MIB);
	st = fsc_store_bundle_get(in->o.store, &a, project, bundle, &b, err);
	if (st == FSC_OK) {
		fsc_ingest_hold(in, &hold, b.sha256);
		st = release_row(in, project, bundle, &gone, err);
		/* a file that stays is left to the sweep */
		if (st == FSC_OK && gone.blob_free)
			(void)!fsc_blob_delete(in->o.blobs, gone.sha256, NULL);
		fsc_ingest_release(in, &hold);
		(void)!fsc_blobs_reserve_take(in->o.blobs, NULL);
	}
	if (st == FSC_OK)
		*bytes = gone.bytes;
	fsc_arena_fini(&a);
	return st;
}

/* ---- sweep ---- */

struct sweep {
	struct fsc_ingest *in;
	struct fsc_sweep_done *out;
	int64_t before_ns;	/* older blobs and segments are looked at */
	int64_t temp_before_ns; /* older temporary files go */
};

static enum fsc_status sweep_temp(void *ctx, const struct fsc_blob_entry *e, struct fsc_err *err)
{
	struct sweep *s = ctx;

	(void)err;
	if (e->modified_at_ns >= s->temp_before_ns)
		return FSC_OK;
	if (fsc_blobs_temp_delete(s->in->o.blobs, e->temp, NULL) == FSC_OK) {
		s->out->temps++;
		s->out->bytes += e->bytes;
	}
	return FSC_OK;
}

static enum fsc_status sweep_blob(void *ctx, const struct fsc_blob_entry *e, struct fsc_err *err)
{
	struct sweep *s = ctx;
	struct fsc_ingest_hold hold;
	bool referenced = true;
	enum fsc_status st;

	if (e->modified_at_ns >= s->before_ns)
		return FSC_OK;
	fsc_ingest_hold(s->in, &hold, e->sha256);
	st = fsc_store_blob_referenced(s->in->o.store, e->sha256, &referenced, err);
	if (st == FSC_OK && !referenced &&
	    fsc_blob_delete(s->in->o.blobs, e->sha256, NULL) == FSC_OK) {
		s->out->blobs++;
		s->out->bytes += e->bytes;
	}
	fsc_ingest_release(s->in, &hold);
	return st;
}

static enum fsc_status sweep_segment(void *ctx, const struct fsc_blob_entry *e, struct fsc_err *err)
{
	struct sweep *s = ctx;
	bool exists = true;
	enum fsc_status st;

	if (e->modified_at_ns >= s->before_ns)
		return FSC_OK;
	st = fsc_store_segment_referenced(s->in->o.store, e->segment, &exists, err);
	if (st == FSC_OK && !exists &&
	    fsc_seg_file_delete(s->in->o.blobs, e->segment, NULL) == FSC_OK) {
		s->out->segments++;
		s->out->bytes += e->bytes;
	}
	return st;
}

enum fsc_status fsc_ingest_sweep(struct fsc_ingest *in, int64_t older_ns, bool fresh_start,
				 struct fsc_sweep_done *out, struct fsc_err *err)
{
	int64_t now = fsc_clock_real_ns();
	struct sweep s = { .in = in, .out = out, .before_ns = now - older_ns };
	enum fsc_status st;

	*out = (struct fsc_sweep_done){ 0 };
	s.temp_before_ns = fresh_start ? INT64_MAX : now - TEMP_PATIENCE * older_ns;
	st = fsc_blobs_list(in->o.blobs, FSC_BLOB_TEMP, sweep_temp, &s, err);
	if (st == FSC_OK)
		st = fsc_blobs_list(in->o.blobs, FSC_BLOB_BLOB, sweep_blob, &s, err);
	if (st == FSC_OK)
		st = fsc_blobs_list(in->o.blobs, FSC_BLOB_SEGMENT, sweep_segment, &s, err);
	if (st == FSC_OK)
		(void)!fsc_blobs_reserve_take(in->o.blobs, NULL);
	if (out->temps || out->blobs || out->segments)
		fsc_log(FSC_LOG_INFO, "ingest",
			"msg=swept temps=%llu blobs=%llu segments=%llu bytes=%llu",
			(unsigned long long)out->temps, (unsigned long long)out->blobs,
			(unsigned long long)out->segments, (unsigned long long)out->bytes);
	return st;
}
