/* SPDX-License-Identifier: Apache-2.0 */
/* Reads an Nsight Systems export as a whole: open, names, GPU work, threads, what is left, the trace. */
#include "formats/nsys.h"

#include "base/alloc.h"
#include "formats/nsys_int.h"

static const char magic[] = "SQLite format 3"; /* with its zero */

enum fsc_status fsc_ns_failed(struct nsys *x, enum fsc_status st)
{
	/* the database's own faults are told already */
	if (st == FSC_OK || st == FSC_END || x->err->status == st)
		return st;
	if (st == FSC_ELIMIT)
		st = fsc_err_set(x->err, st, "too_many_names",
				 "the file has more events, names or tracks than the limits allow");
	else
		st = fsc_err_set(x->err, st, NULL, "no memory for the trace");
	fsc_err_at(x->err, NULL, (int64_t)x->vfs.last);
	return st;
}

enum fsc_status fsc_ns_cat(uint16_t *cat, struct nsys *x, enum ns_cat c)
{
	static const char *const names[] = {
		[NS_CAT_KERNEL] = "kernel",
		[NS_CAT_MEMCPY] = "gpu_memcpy",
		[NS_CAT_MEMSET] = "gpu_memset",
		[NS_CAT_SYNC] = "cuda_sync",
		[NS_CAT_RUNTIME] = "cuda_runtime",
		[NS_CAT_DRIVER] = "cuda_driver",
		[NS_CAT_USER] = "user_annotation",
		[NS_CAT_MARK] = "nvtx_mark",
		[NS_CAT_OSRT] = "osrt",
		[NS_CAT_OVERHEAD] = "overhead",
		[NS_CAT_RANGE] = "nvtx_range",
	};

	if (x->cat[c] == FSC_BUILD_NO_CAT)
		FSC_TRY(fsc_build_cat(&x->cat[c], x->b, names[c], strlen(names[c])));
	*cat = x->cat[c];
	return FSC_OK;
}

static void name_losses(struct nsys *x)
{
	const struct {
		const char *code;
		const struct fsc_jt_count *n;
	} all[] = {
		{ "row_unreadable", &x->n.bad_row },
		{ "event_bad_ts", &x->n.bad_time },
		{ "name_missing", &x->n.no_name },
		{ "utf8_repaired", &x->n.utf8 },
		{ "control_character", &x->n.zeros },
		{ "blob_left_out", &x->n.blobs },
		{ "number_not_finite", &x->n.nonfinite },
		{ "args_too_big", &x->n.too_big },
		{ "tables_not_read", &x->n.tables },
		{ "table_not_plain", &x->n.not_plain },
		{ "nvtx_event_not_read", &x->n.nvtx_other },
		{ "meta_value_too_big", &x->n.meta_too_big },
	};

	for (size_t i = 0; i < FSC_ARRAY_LEN(all); i++)
		fsc_build_loss_at(x->b, all[i].code, all[i].n->n, (int64_t)all[i].n->first);
	fsc_build_loss_at(x->b, "launch_without_call", x->launches, -1);
	fsc_build_loss_at(x->b, "wal_not_read", x->wal, 18);
}

static enum fsc_status put_meta(struct nsys *x, struct fsc_trace *t)
{
	fsc_buf_adds(&x->meta, "{\"deviceProperties\":[");
	fsc_buf_add(&x->meta, x->gpus.data, x->gpus.len);
	fsc_buf_adds(&x->meta, "]");
	if (x->unread.len) {
		fsc_buf_adds(&x->meta, ",\"tables_not_read\":[");
		fsc_buf_add(&x->meta, x->unread.data, x->unread.len);
		fsc_buf_adds(&x->meta, "]");
	}
	fsc_buf_adds(&x->meta, "}");
	FSC_TRY(fsc_buf_status(&x->meta));
	FSC_TRY(fsc_build_str(&t->meta.format, x->b, "nsys", 4));
	return fsc_build_str(&t->meta.json, x->b, x->meta.data, x->meta.len);
}

static enum fsc_status read_all(struct nsys *x)
{
	FSC_TRY(fsc_ns_open(x));
	FSC_TRY(fsc_ns_read_names(x));
	FSC_TRY(fsc_ns_read_gpu(x));
	FSC_TRY(fsc_ns_read_host(x));
	FSC_TRY(fsc_ns_failed(x, fsc_ns_put_ranges(x)));
	return fsc_ns_count_unread(x);
}

static enum fsc_status no_timeline(struct nsys *x)
{
	bool export = x->string || fsc_build_events(x->b);

	fsc_err_set(x->err, FSC_EUNSUPPORTED, "not_a_timeline",
		    export ? "nsys: the export holds no GPU work, calls or NVTX ranges"
			   : "a SQLite database without the tables of an Nsight Systems export");
	fsc_err_at(x->err, NULL, 0);
	return FSC_EUNSUPPORTED;
}

static enum fsc_status deliver(struct nsys *x)
{
	struct fsc_trace *t = fsc_build_trace(x->b);

	if (!t->slices.n)
		return no_timeline(x);
	FSC_TRY(fsc_ns_failed(x, fsc_launch_pairs_bind(&x->pairs, x->b, &x->launches)));
	name_losses(x);
	FSC_TRY(fsc_ns_failed(x, put_meta(x, t)));
	/* The database is not needed to order the trace. */
	fsc_ns_close(x);
	fsc_buf_fini(&x->raw);
	FSC_TRY(fsc_build_finish(&t, x->b, x->err));
	return x->sink->trace(x->sink->ctx, t, x->err);
}

static int64_t where(const void *ctx)
{
	return (int64_t)((const struct nsys *)ctx)->where;
}

static void free_all(struct nsys *x)
{
	fsc_ns_close(x);
	fsc_build_free(x->b);
	fsc_launch_pairs_fini(&x->pairs);
	fsc_vec_fini(&x->names);
	fsc_vec_fini(&x->domains);
	fsc_vec_fini(&x->ranges);
	fsc_buf_fini(&x->raw);
	fsc_buf_fini(&x->args);
	fsc_buf_fini(&x->text);
	fsc_buf_fini(&x->meta);
	fsc_buf_fini(&x->gpus);
	fsc_buf_fini(&x->unread);
	fsc_free(x);
}

enum fsc_status fsc_nsys_read(struct fsc_source *src, const struct fsc_reader_sink *sink,
			      struct fsc_err *err)
{
	struct fsc_err unused = FSC_ERR_INIT;
	struct nsys *x = fsc_alloc(1, sizeof(*x));
	enum fsc_status st;

	if (!x)
		return fsc_err_set(err, FSC_ENOMEM, NULL, "no memory for the reader");
	x->src = src;
	x->sink = sink;
	x->err = err ? err : &unused;
	fsc_err_clear(x->err);
	fsc_buf_init(&x->raw, FSC_MAX_DATABASE_BYTES + FSC_MIB);
	fsc_buf_init(&x->args, FSC_MAX_ARGS_BYTES);
	fsc_buf_init(&x->text, 256 * FSC_MIB);
	fsc_buf_init(&x->meta, 2 * FSC_MAX_META_BYTES);
	fsc_buf_init(&x->gpus, FSC_MAX_META_BYTES);
	fsc_buf_init(&x->unread, FSC_MAX_META_BYTES);
	memset(x->cat, 0xFF, sizeof(x->cat));
	x->b = fsc_build_new();
	if (x->b)
		fsc_build_where(x->b, where, x);
	st = x->b ? read_all(x) : fsc_ns_failed(x, FSC_ENOMEM);
	if (st == FSC_OK)
		st = deliver(x);
	free_all(x);
	return st;
}

int fsc_nsys_sniff(const uint8_t *head, size_t n)
{
	return n >= sizeof(magic) && !memcmp(head, magic, sizeof(magic)) ? 50 : 0;
}
