/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run of the indexer. Its facts go to a scratch file first, because they may be published only when the
 * whole bundle was walked and because they may be many; segments go to temporary files for the same reason.
 */
#include "jobs/index_run.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/vec.h"
#include "facts/fact_codec.h"
#include "facts/indexer_client.h"
#include "segment/seg_read.h"
#include "store/blob.h"
#include "store/queue.h"
#include "store/store.h"

#define SPOOL_BUFFER (256 * FSC_KIB)
#define SPOOL_MAX (16 * FSC_GIB)      /* 10,000 members with all the metadata they may have */
#define PROGRESS_NS 500000000LL	      /* between progress rows */
#define PROGRESS_STAGE_NS 100000000LL /* when the stage changed */

struct trace {
	int64_t id;
	int64_t segment; /* name of its file: a new one, the old is in use till the facts are in */
	bool committed;	 /* its segment is in place */
	struct fsc_seg_put *put; /* owned, NULL once committed */
	int64_t segment_bytes;
	uint64_t spool_at; /* where its facts begin */
};

struct run {
	const struct fsc_index_env *env;
	const struct fsc_store_lease *lease;
	struct fsc_bundle bundle; /* strings in arena */
	struct fsc_arena arena;
	int spool;	    /* scratch file of encoded facts, -1 none */
	struct fsc_buf buf; /* facts not written there yet */
	uint64_t spooled;   /* bytes written there */
	uint64_t n_rows;    /* see FSC_FACT_ROWS_STREAM */
	FSC_VEC(struct trace) traces;
	bool open_trace; /* the last of them has not ended */
	int64_t progress_at_ns;
	char stage[32];
	/* reading the spool again */
	struct fsc_fact_decoder dec;
	uint64_t read_at;
	bool ended;
};

/* ---- facts out of the child, into the scratch file ---- */

static enum fsc_status flush(struct run *r, struct fsc_err *err)
{
	enum fsc_status st = fsc_fs_pwrite_all(r->spool, r->buf.data, r->buf.len, r->spooled, err);

	if (st != FSC_OK)
		return st;
	r->spooled += r->buf.len;
	fsc_buf_clear(&r->buf);
	return FSC_OK;
}

static bool is_row(enum fsc_fact_type type)
{
	return type == FSC_FACT_CATEGORY || type == FSC_FACT_DEVICE || type == FSC_FACT_IDLE ||
	       type == FSC_FACT_KERNEL || type == FSC_FACT_STEP;
}

/* What a sound indexer never passes: the store would be busy with it for too long. */
static enum fsc_status check_amount(struct run *r, const struct fsc_fact *f, struct fsc_err *err)
{
	r->n_rows += is_row(f->type);
	if (r->n_rows <= FSC_FACT_ROWS_STREAM && r->spooled <= SPOOL_MAX)
		return FSC_OK;
	return fsc_err_set(err, FSC_EPARSE, "indexer_protocol",
			   "indexer sent more than %u rows or %llu MiB of facts",
			   FSC_FACT_ROWS_STREAM, (unsigned long long)(SPOOL_MAX >> 20));
}

static enum fsc_status spool(struct run *r, const struct fsc_fact *f, struct fsc_err *err)
{
	enum fsc_status st = check_amount(r, f, err);

	if (st != FSC_OK)
		return st;
	st = fsc_fact_encode(&r->buf, f);
	if (st == FSC_ENOMEM) /* ours, not the row's fault */
		return fsc_err_set(err, st, NULL, "facts: no memory for a row");
	if (st != FSC_OK)
		return fsc_err_set(err, st, "facts", "facts: a row does not fit");
	return r->buf.len >= SPOOL_BUFFER ? flush(r, err) : FSC_OK;
}

/* Takes back what came since `at`: the trace it belongs to was withdrawn. */
static enum fsc_status unspool(struct run *r, uint64_t at, struct fsc_err *err)
{
	if (at >= r->spooled) {
		r->buf.len = (size_t)(at - r->spooled);
		return FSC_OK;
	}
	fsc_buf_clear(&r->buf);
	r->spooled = at;
	return ftruncate(r->spool, (off_t)at) ? fsc_err_sys(err, errno, "facts: cut") : FSC_OK;
}

static enum fsc_status begin_trace(struct run *r, const struct fsc_fact_trace *t,
				   struct fsc_err *err)
{
	struct trace n = { .spool_at = r->spooled + r->buf.len,
			   .segment = fsc_store_new_id(r->env->store) };
	bool known;
	enum fsc_status st = fsc_store_trace_id(r->env->store, r->bundle.id, t->member, t->slot,
						&n.id, &known, err);

	if (st != FSC_OK)
		return st;
	/* one that is new twice is refused when it is published */
	for (size_t i = 0; known && i < r->traces.n; i++)
		if (r->traces.v[i].id == n.id)
			return fsc_err_set(err, FSC_EPARSE, "indexer_protocol",
					   "indexer told of one trace twice");
	if (!fsc_vec_push(&r->traces, n))
		return fsc_err_set(err, FSC_ENOMEM, NULL, "facts: no memory for traces");
	r->open_trace = true;
	return FSC_OK;
}

static enum fsc_status end_trace(struct run *r, const struct fsc_fact_trace_end *e,
				 struct fsc_err *err)
{
	struct trace *t = &r->traces.v[r->traces.n - 1];

	r->open_trace = false;
	t->segment_bytes = e->segment_bytes;
	return fsc_seg_put_finish(t->put, err);
}

static enum fsc_status withdraw(struct run *r, struct fsc_err *err)
{
	struct trace *t = &r->traces.v[--r->traces.n];

	r->open_trace = false;
	fsc_seg_put_abort(t->put);
	return unspool(r, t->spool_at, err);
}

/*
 * Does the end cast doubt on what came before? A wrong checksum at the end of a tar.gz is about all of it, and a zip
 * whose directory lists other members was damaged anywhere. What was merely cut is right as far as it goes.
 */
static bool is_doubtful(const struct fsc_fact_end *e)
{
	static const char *const codes[] = { "gzip_crc", "gzip_corrupt", "zstd_corrupt",
					     "archive_corrupt" };

	for (size_t i = 0; i < FSC_ARRAY_LEN(codes); i++)
		if (e->status == FSC_ECORRUPT && !strcmp(e->code, codes[i]))
			return true;
	return false;
}

static enum fsc_status withdraw_all(struct run *r, struct fsc_err *err)
{
	uint64_t at = r->traces.n ? r->traces.v[0].spool_at : 0;

	if (!r->traces.n)
		return FSC_OK;
	for (size_t i = 0; i < r->traces.n; i++)
		fsc_seg_put_abort(r->traces.v[i].put);
	r->traces.n = 0;
	r->open_trace = false;
	return unspool(r, at, err);
}

/* A row every half second at most; its loss does not matter. */
static void progress(struct run *r, const struct fsc_fact_progress *p)
{
	int64_t now = fsc_clock_mono_ns();
	bool new_stage = strncmp(r->stage, p->stage, sizeof(r->stage) - 1) != 0;
	struct fsc_progress row = { .stage = p->stage,
				    .member = p->member,
				    .done = p->done,
				    .total = p->total,
				    .events = p->events };

	if (now - r->progress_at_ns < (new_stage ? PROGRESS_STAGE_NS : PROGRESS_NS))
		return;
	r->progress_at_ns = now;
	memset(r->stage, 0, sizeof(r->stage));
	memcpy(r->stage, p->stage, strnlen(p->stage, sizeof(r->stage) - 1));
	(void)!fsc_store_bundle_progress(r->env->store, r->bundle.id, &row, NULL);
}

static enum fsc_status on_fact(void *ctx, const struct fsc_fact *f, struct fsc_err *err)
{
	struct run *r = ctx;
	enum fsc_status st = FSC_OK;

	switch (f->type) {
	case FSC_FACT_PROGRESS:
		progress(r, &f->u.progress);
		return FSC_OK;
	case FSC_FACT_TRACE:
		st = begin_trace(r, &f->u.trace, err);
		break;
	case FSC_FACT_TRACE_END:
		st = end_trace(r, &f->u.trace_end, err);
		break;
	case FSC_FACT_MEMBER:
		if (r->open_trace)
			st = withdraw(r, err);
		break;
	case FSC_FACT_END:
		if (is_doubtful(&f->u.end))
			st = withdraw_all(r, err);
		break;
	default:
		break;
	}
	return st == FSC_OK ? spool(r, f, err) : st;
}

static enum fsc_status on_segment(void *ctx, int *fd, struct fsc_err *err)
{
	struct run *r = ctx;

	return fsc_seg_put_begin(&r->traces.v[r->traces.n - 1].put, r->env->blobs, fd, err);
}

static enum fsc_status run_child(struct run *r, int blob_fd, const atomic_bool *stop,
				 struct fsc_index_result *out, struct fsc_err *err)
{
	const struct fsc_bundle *b = &r->bundle;
	struct fsc_indexer_job job = {
		.program = r->env->indexer,
		.blob_fd = blob_fd,
		.name = b->name[0] ? b->name : b->sha256_hex,
		.job = b->job,
		.host = b->host,
		.capture = b->capture,
		.rank = b->rank,
		.blob_sha256 = b->sha256,
		.max_memory_bytes = r->env->max_memory_bytes,
		.max_cpu_s = r->env->max_cpu_s,
		.max_wall_s = r->env->max_wall_s,
	};
	struct fsc_indexer_sink sink = { .ctx = r, .fact = on_fact, .segment_fd = on_segment };
	struct fsc_indexer_result res = { 0 };
	enum fsc_status st = fsc_indexer_run(&job, &sink, &res, stop, err);

	out->cpu_ns = res.cpu_ns;
	out->wall_ns = res.wall_ns;
	return st == FSC_OK ? flush(r, err) : st;
}

/* ---- segments and facts into the store ---- */

/* A read is an input of the writer thread here: small portions, so that nothing big is held there. */
static enum fsc_status refill(struct run *r, struct fsc_err *err)
{
	char portion[32768];
	ssize_t n;

	do
		n = pread(r->spool, portion, sizeof(portion), (off_t)r->read_at);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return fsc_err_sys(err, errno, "facts: read");
	if (n == 0)
		return FSC_END;
	r->read_at += (uint64_t)n;
	return fsc_fact_decoder_put(&r->dec, portion, (size_t)n, err);
}

static enum fsc_status next_fact(void *ctx, struct fsc_fact *f, struct fsc_err *err)
{
	struct run *r = ctx;
	enum fsc_status st;

	for (;;) {
		st = fsc_fact_decoder_next(f, &r->dec, err);
		if (st != FSC_AGAIN)
			return st;
		st = refill(r, err);
		if (st != FSC_OK)
			return st;
	}
}

/* Does the file hold together? Whoever sent it has read untrusted bytes. */
static enum fsc_status check_segment(const struct trace *t, struct fsc_err *err)
{
	struct fsc_seg *seg = NULL;
	int fd = -1;
	enum fsc_status st = fsc_seg_put_open(t->put, &fd, err);

	if (st != FSC_OK)
		return st;
	st = fsc_seg_open(&seg, fd, err);
	if (st == FSC_OK)
		st = fsc_seg_check(seg, err);
	fsc_seg_unref(seg);
	close(fd);
	if (st == FSC_OK || st == FSC_EIO || st == FSC_ENOMEM)
		return st;
	return fsc_err_set(err, FSC_EPARSE, "indexer_protocol", "indexer made a bad segment (%s)",
			   fsc_status_name(st));
}

/* After the child's end, since it could write to them till then; before the first becomes visible. */
static enum fsc_status check_segments(struct run *r, const atomic_bool *stop, struct fsc_err *err)
{
	enum fsc_status st = FSC_OK;

	for (size_t i = 0; i < r->traces.n && st == FSC_OK; i++) {
		if (atomic_load(stop))
			return fsc_err_set(err, FSC_ECANCELED, "indexer_stopped",
					   "indexing was stopped on request");
		st = check_segment(&r->traces.v[i], err);
	}
	return st;
}

static enum fsc_status commit_segments(struct run *r, struct fsc_err *err)
{
	for (size_t i = 0; i < r->traces.n; i++) {
		struct trace *t = &r->traces.v[i];
		struct fsc_seg_put *put = t->put;
		enum fsc_status st;

		t->put = NULL;
		st = fsc_seg_put_commit(put, t->segment, err);
		if (st != FSC_OK)
			return st;
		t->committed = true;
	}
	return FSC_OK;
}

static enum fsc_status publish(struct run *r, struct fsc_index_result *out, struct fsc_err *err)
{
	FSC_VEC(struct fsc_publish_trace) given = { 0 };
	struct fsc_published done = { 0 };
	struct fsc_publish in = {
		.bundle = r->bundle.id, .lease = r->lease, .next = next_fact, .ctx = r
	};
	enum fsc_status st = FSC_OK;

	for (size_t i = 0; i < r->traces.n; i++) {
		struct fsc_publish_trace t = { r->traces.v[i].id, r->traces.v[i].segment,
					       r->traces.v[i].segment_bytes };

		if (!fsc_vec_push(&given, t))
			st = fsc_err_set(err, FSC_ENOMEM, NULL, "publish: no memory");
	}
	in.traces = given.v;
	in.n_traces = given.n;
	fsc_fact_decoder_init(&r->dec);
	if (st == FSC_OK)
		st = fsc_store_publish(r->env->store, &r->arena, &in, &done, err);
	fsc_fact_decoder_fini(&r->dec);
	fsc_vec_fini(&given);
	if (st != FSC_OK)
		return st;
	out->ready = done.state == FSC_BUNDLE_READY;
	out->why = done.why;
	for (size_t i = 0; i < done.n_removed; i++)
		(void)!fsc_seg_file_delete(r->env->blobs, done.removed[i], NULL);
	return FSC_OK;
}

/* ---- all of it ---- */

static void run_fini(struct run *r, bool published)
{
	for (size_t i = 0; i < r->traces.n; i++) {
		struct trace *t = &r->traces.v[i];

		fsc_seg_put_abort(t->put);
		if (t->committed && !published)
			(void)!fsc_seg_file_delete(r->env->blobs, t->segment, NULL);
	}
	fsc_vec_fini(&r->traces);
	fsc_buf_fini(&r->buf);
	fsc_arena_fini(&r->arena);
	if (r->spool >= 0)
		close(r->spool);
}

static enum fsc_status open_blob(struct run *r, int *fd, struct fsc_err *err)
{
	enum fsc_status st = fsc_store_bundle_get(r->env->store, &r->arena, r->lease->project,
						  r->lease->subject, &r->bundle, err);

	if (st != FSC_OK)
		return st;
	if (r->bundle.blob_deleted_at_ns)
		return fsc_err_set(err, FSC_ENOTFOUND, "blob_gone",
				   "bundle: its bytes are not kept any more");
	st = fsc_blob_open(r->env->blobs, r->bundle.sha256, fd, NULL, err);
	if (st == FSC_ENOTFOUND)
		fsc_err_set(err, st, "blob_gone", "bundle: its bytes are not kept any more");
	return st;
}

enum fsc_status fsc_index_run(const struct fsc_index_env *env, const struct fsc_store_lease *lease,
			      const atomic_bool *stop, struct fsc_index_result *out,
			      struct fsc_err *err)
{
	struct run r = { .env = env, .lease = lease, .spool = -1 };
	int blob_fd = -1;
	bool published = false;
	enum fsc_status st;

	*out = (struct fsc_index_result){ 0 };
	fsc_arena_init(&r.arena, 64 * FSC_MIB);
	fsc_buf_init(&r.buf, SPOOL_BUFFER + 2 * FSC_MAX_FACT_FRAME);
	st = open_blob(&r, &blob_fd, err);
	if (st == FSC_OK)
		st = fsc_blobs_scratch(env->blobs, &r.spool, err);
	if (st == FSC_OK)
		st = run_child(&r, blob_fd, stop, out, err);
	if (st == FSC_OK)
		st = check_segments(&r, stop, err);
	if (st == FSC_OK)
		st = commit_segments(&r, err);
	if (st == FSC_OK) {
		st = publish(&r, out, err);
		published = st == FSC_OK;
	}
	if (blob_fd >= 0)
		close(blob_fd);
	run_fini(&r, published);
	return st;
}

static bool one_of(const char *code, const char *const *codes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(code, codes[i]))
			return true;
	return false;
}

bool fsc_index_host_trouble(const struct fsc_err *err)
{
	/* what the child did, whatever the status that goes with it */
	static const char *const childs[] = { "indexer_killed", "indexer_timeout", "indexer_memory",
					      "indexer_protocol", "facts" };

	if (one_of(err->code, childs, FSC_ARRAY_LEN(childs)))
		return false;
	switch (err->status) {
	case FSC_EFULL:
	case FSC_EIO:
	case FSC_EBUSY:
	case FSC_ENOMEM:
	case FSC_EDENIED:
		return true;
	default:
		return false;
	}
}

int64_t fsc_index_retry_after(const struct fsc_err *err, int64_t base_ns, int64_t tries)
{
	static const char *const final[] = { "indexer_timeout", "indexer_memory",
					     "indexer_protocol", "facts", "blob_gone" };

	if (one_of(err->code, final, FSC_ARRAY_LEN(final)))
		return -1;
	return base_ns << (tries > 1 ? tries - 1 : 0);
}
