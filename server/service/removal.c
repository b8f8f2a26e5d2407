/* SPDX-License-Identifier: Apache-2.0 */
/* Rows away, then files; one or many. */
#include "service/removal.h"

#include "base/limits.h"
#include "service/ingest_int.h"
#include "store/blob.h"

/* What one batch may hold the writer for. */
#define BATCH_NS 8000000LL
#define ARENA_MAX (64 * FSC_MIB)

struct removal {
	struct fsc_ingest *in;
	const struct fsc_delete_request *req;
	struct fsc_removed *out;
	bool released; /* the reserve */
};

/* With the digest held: an upload of the same bytes may have got its row since ours went. */
static void remove_blob(struct fsc_ingest *in, const struct fsc_deleted_blob *blob)
{
	struct fsc_ingest_hold hold;
	bool referenced = true;

	fsc_ingest_hold(in, &hold, blob->sha256);
	if (fsc_store_blob_referenced(in->o.store, blob->sha256, &referenced, NULL) == FSC_OK &&
	    !referenced)
		(void)!fsc_blob_delete(in->o.blobs, blob->sha256, NULL);
	fsc_ingest_release(in, &hold);
}

/* The rows are gone, so the bundle is: files that stay are left to the sweep. */
static void remove_files(struct removal *r, const struct fsc_bundle_deleted *gone)
{
	struct fsc_removed *out = r->out;

	for (size_t i = 0; i < gone->n_segments; i++)
		(void)!fsc_seg_file_delete(r->in->o.blobs, gone->segments[i], NULL);
	for (size_t i = 0; i < gone->n_blobs; i++)
		remove_blob(r->in, &gone->blobs[i]);
	out->bundles += gone->bundles;
	out->traces += gone->traces;
	out->kept += gone->kept;
	out->missing += gone->missing;
	out->blobs += (int64_t)gone->n_blobs;
	out->blob_bytes += gone->blob_bytes;
	out->segment_bytes += gone->segment_bytes;
}

static enum fsc_status delete_rows(struct removal *r, struct fsc_arena *a,
				   const struct fsc_delete_unit *units, size_t n_units,
				   struct fsc_bundle_deleted *gone, struct fsc_err *err)
{
	struct fsc_store *s = r->in->o.store;

	if (!units)
		return fsc_store_delete(s, a, r->req, gone, err);
	return fsc_store_delete_some(s, a, r->req, units, n_units, BATCH_NS, gone, err);
}

/* Without units: the one of the request. *done of the units were dealt with. */
static enum fsc_status batch(struct removal *r, const struct fsc_delete_unit *units, size_t n_units,
			     size_t *done, struct fsc_err *err)
{
	struct fsc_bundle_deleted gone = { 0 };
	struct fsc_arena a;
	enum fsc_status st;

	fsc_arena_init(&a, ARENA_MAX);
	st = delete_rows(r, &a, units, n_units, &gone, err);
	/* Deleting writes to the log of the database first; the reserve is kept for exactly this. */
	if (st == FSC_EFULL && !r->released) {
		r->released = true;
		st = fsc_blobs_reserve_release(r->in->o.blobs, err);
		if (st == FSC_OK) {
			fsc_err_clear(err);
			st = delete_rows(r, &a, units, n_units, &gone, err);
		}
	}
	if (st == FSC_OK)
		remove_files(r, &gone);
	*done = st == FSC_OK ? gone.n_units : 0;
	fsc_arena_fini(&a);
	return st;
}

enum fsc_status fsc_removal_one(struct fsc_ingest *in, const struct fsc_delete_request *req,
				struct fsc_removed *out, struct fsc_err *err)
{
	struct removal r = { .in = in, .req = req, .out = out };
	size_t done;
	enum fsc_status st;

	*out = (struct fsc_removed){ 0 };
	st = batch(&r, NULL, 0, &done, err);
	(void)!fsc_blobs_reserve_take(in->o.blobs, NULL);
	return st;
}

enum fsc_status fsc_removal_many(struct fsc_ingest *in, const struct fsc_delete_request *req,
				 const struct fsc_delete_unit *units, size_t n_units,
				 const atomic_bool *stop, struct fsc_removed *out,
				 struct fsc_err *err)
{
	struct removal r = { .in = in, .req = req, .out = out };
	enum fsc_status st = FSC_OK;

	*out = (struct fsc_removed){ 0 };
	for (size_t at = 0, done; at < n_units && st == FSC_OK; at += done) {
		st = batch(&r, units + at, n_units - at, &done, err);
		if (st == FSC_OK && at + done < n_units && stop && atomic_load(stop))
			st = fsc_err_set(err, FSC_ECANCELED, "stopped",
					 "delete: stopped after %zu of %zu", at + done, n_units);
	}
	(void)!fsc_blobs_reserve_take(in->o.blobs, NULL);
	return st;
}
