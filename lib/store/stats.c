/* SPDX-License-Identifier: Apache-2.0 */
/* Figures over all projects, for the metrics page, and what the sweep asks. */
#include "store/store.h"
#include "store/store_ops.h"

static enum fsc_status take_bundles(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct fsc_store_stats *o = ctx;

	(void)err;
	o->bundles[fsc_store_state(row, 0)] = fsc_row_int(row, 1, 0);
	return FSC_OK;
}

static enum fsc_status take_traces(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct fsc_store_stats *o = ctx;

	(void)err;
	o->traces = fsc_row_int(row, 0, 0);
	o->slices = fsc_row_int(row, 1, 0);
	o->segment_bytes = fsc_row_int(row, 2, 0);
	return FSC_OK;
}

static enum fsc_status take_jobs(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct fsc_store_stats *o = ctx;

	(void)err;
	o->jobs_waiting = fsc_row_int(row, 0, 0);
	o->jobs_running = fsc_row_int(row, 1, 0);
	o->oldest_waiting_at_ns = fsc_row_int(row, 2, 0);
	return FSC_OK;
}

static enum fsc_status stats_work(struct fsc_db *db, void *arg, struct fsc_err *err)
{
	struct fsc_store_stats *o = arg;
	bool found;
	enum fsc_status st = fsc_db_rows(db, FSC_Q_STATS_BUNDLES, NULL, 0, take_bundles, o, err);

	if (st == FSC_OK)
		st = fsc_db_rows(db, FSC_Q_STATS_TRACES, NULL, 0, take_traces, o, err);
	if (st == FSC_OK)
		st = fsc_db_int(db, FSC_Q_STATS_BLOBS, NULL, 0, &o->blob_bytes, &found, err);
	if (st == FSC_OK)
		st = fsc_db_rows(db, FSC_Q_JOB_DEPTH, NULL, 0, take_jobs, o, err);
	return st;
}

enum fsc_status fsc_store_stats(struct fsc_store *s, struct fsc_store_stats *out,
				struct fsc_err *err)
{
	*out = (struct fsc_store_stats){
		.database_bytes = s->ops->bytes(s),
		.commits = atomic_load(&s->commits),
		.writes = atomic_load(&s->writes),
		.busy = atomic_load(&s->busy),
	};
	return s->ops->read(s, stats_work, out, err);
}

enum fsc_status fsc_store_blob_referenced(struct fsc_store *s, const uint8_t sha256[FSC_SHA256_LEN],
					  bool *yes, struct fsc_err *err)
{
	int64_t n = 0;
	bool found;
	enum fsc_status st =
		fsc_store_first_int(s, FSC_Q_BUNDLE_REFS,
				    FSC_ARGS(fsc_v_bytes(sha256, FSC_SHA256_LEN)), &n, &found, err);

	*yes = n > 0;
	return st;
}
