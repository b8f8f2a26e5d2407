/* SPDX-License-Identifier: Apache-2.0 */
/* Which bundles are being indexed again because of their version, and which come next. */
#include "service/reindex.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/vec.h"
#include "service/ingest.h"
#include "service/versions.h"
#include "store/queue.h"

#define AT_ONCE 4 /* queued together: a person's upload waits for no more than these */

struct counts {
	int64_t project;
	struct fsc_reindex_stats s;
};

struct fsc_reindex {
	struct fsc_reindex_opts o;
	struct fsc_queue *queue; /* owned */
	pthread_mutex_t lock;	 /* guards all below; never held during I/O */
	int64_t before;		 /* bundles with a smaller id were not looked at yet */
	bool ended;		 /* there are none */
	FSC_VEC(struct fsc_outdated_bundle) open; /* queued, and not seen to be done */
	FSC_VEC(int64_t) wanted;		  /* bundles queued because somebody asked */
	FSC_VEC(struct counts) counts;
};

struct fsc_reindex *fsc_reindex_new(const struct fsc_reindex_opts *opts)
{
	struct fsc_reindex *r = fsc_xalloc(1, sizeof(*r));

	r->o = *opts;
	if (!r->o.versions.segment)
		r->o.versions =
			(struct fsc_versions){ fsc_version_segment(), fsc_version_analysis() };
	r->queue = fsc_queue_of_store(opts->store);
	r->before = INT64_MAX;
	pthread_mutex_init(&r->lock, NULL);
	return r;
}

void fsc_reindex_free(struct fsc_reindex *r)
{
	if (!r)
		return;
	fsc_queue_free(r->queue);
	pthread_mutex_destroy(&r->lock);
	fsc_vec_fini(&r->open);
	fsc_vec_fini(&r->wanted);
	fsc_vec_fini(&r->counts);
	fsc_free(r);
}

const struct fsc_versions *fsc_reindex_versions(const struct fsc_reindex *r)
{
	return &r->o.versions;
}

bool fsc_reindex_outdated(const struct fsc_reindex *r, const struct fsc_trace_row *t)
{
	return t->segment_version < r->o.versions.segment ||
	       t->analysis_version < r->o.versions.analysis;
}

/* ---- counting, with the lock held ---- */

/* NULL without memory: then a count is lost, nothing else. */
static struct fsc_reindex_stats *counts_of(struct fsc_reindex *r, int64_t project)
{
	struct counts c = { .project = project };

	for (size_t i = 0; i < r->counts.n; i++)
		if (r->counts.v[i].project == project)
			return &r->counts.v[i].s;
	return fsc_vec_push(&r->counts, c) ? &r->counts.v[r->counts.n - 1].s : NULL;
}

static void note_queued(struct fsc_reindex *r, const struct fsc_outdated_bundle *b)
{
	struct fsc_reindex_stats *c = counts_of(r, b->project);

	if (c)
		c->queued_bundles++;
	(void)!fsc_vec_push(&r->open, *b);
}

/* ---- those under way ---- */

enum fate { OPEN, DONE, FAILED, GONE };

static enum fate fate_of(struct fsc_reindex *r, const struct fsc_outdated_bundle *o)
{
	struct fsc_bundle b;
	struct fsc_arena a;
	enum fate fate = OPEN;
	enum fsc_status st;

	fsc_arena_init(&a, FSC_MIB);
	st = fsc_store_bundle_get(r->o.store, &a, o->project, o->bundle, &b, NULL);
	if (st == FSC_ENOTFOUND)
		fate = GONE;
	else if (st == FSC_OK && b.state == FSC_BUNDLE_READY)
		fate = DONE;
	else if (st == FSC_OK && b.state == FSC_BUNDLE_FAILED)
		fate = FAILED;
	fsc_arena_fini(&a);
	return fate;
}

static void count_end(struct fsc_reindex *r, const struct fsc_outdated_bundle *o, enum fate fate)
{
	struct fsc_reindex_stats *c = counts_of(r, o->project);

	if (c && fate == DONE)
		c->done_traces += (uint64_t)o->traces;
	if (c && fate == FAILED)
		c->failed_traces += (uint64_t)o->traces;
}

/* Takes out of `open` what has ended. True when nothing is under way any more. */
static bool settle(struct fsc_reindex *r)
{
	size_t i = 0;
	bool empty;

	pthread_mutex_lock(&r->lock);
	while (i < r->open.n) {
		struct fsc_outdated_bundle o = r->open.v[i];
		enum fate fate;

		pthread_mutex_unlock(&r->lock);
		fate = fate_of(r, &o);
		pthread_mutex_lock(&r->lock);
		/* others only add at the end, and only this function takes away */
		if (fate == OPEN) {
			i++;
			continue;
		}
		count_end(r, &o, fate);
		r->open.v[i] = r->open.v[--r->open.n];
	}
	empty = r->open.n == 0;
	pthread_mutex_unlock(&r->lock);
	return empty;
}

static enum fsc_status queue_one(struct fsc_reindex *r, const struct fsc_outdated_bundle *b,
				 struct fsc_err *err)
{
	enum fsc_status st = fsc_ingest_reindex(r->o.ingest, b->project, b->bundle, err);

	if (st == FSC_OK) {
		pthread_mutex_lock(&r->lock);
		note_queued(r, b);
		pthread_mutex_unlock(&r->lock);
	}
	return st;
}

static enum fsc_status queue_next(struct fsc_reindex *r, struct fsc_err *err)
{
	struct fsc_outdated_bundle next[AT_ONCE];
	size_t n = 0;
	enum fsc_status st = fsc_store_outdated_pick(r->o.store, &r->o.versions, r->before, next,
						     AT_ONCE, &n, err);

	for (size_t i = 0; i < n && st == FSC_OK; i++) {
		st = queue_one(r, &next[i], err);
		/* deleted, let go or in work meanwhile: not ours any more */
		if (st == FSC_ENOTFOUND || st == FSC_EBUSY) {
			fsc_err_clear(err);
			st = FSC_OK;
		}
		if (st == FSC_OK)
			r->before = next[i].bundle;
	}
	if (st == FSC_OK && n)
		fsc_log(FSC_LOG_INFO, "reindex", "msg=\"queued bundles of an older version\" n=%zu",
			n);
	r->ended = st == FSC_OK && n == 0;
	return st;
}

enum fsc_status fsc_reindex_step(struct fsc_reindex *r, struct fsc_err *err)
{
	int64_t waiting = 0, running = 0;
	enum fsc_status st;

	if (!settle(r) || r->ended)
		return FSC_OK;
	st = fsc_queue_depth(r->queue, &waiting, &running, err);
	if (st != FSC_OK || waiting || running)
		return st;
	return queue_next(r, err);
}

/* ---- when somebody waits for it ---- */

/* True the first time. */
static bool want_first(struct fsc_reindex *r, int64_t bundle)
{
	bool first = true;

	pthread_mutex_lock(&r->lock);
	for (size_t i = 0; i < r->wanted.n && first; i++)
		first = r->wanted.v[i] != bundle;
	if (first)
		first = fsc_vec_push(&r->wanted, bundle);
	pthread_mutex_unlock(&r->lock);
	return first;
}

/* It was not queued: the next one who asks may have more luck, as after its bytes were uploaded again. */
static void want_again(struct fsc_reindex *r, int64_t bundle)
{
	pthread_mutex_lock(&r->lock);
	for (size_t i = 0; i < r->wanted.n; i++)
		if (r->wanted.v[i] == bundle)
			r->wanted.v[i--] = r->wanted.v[--r->wanted.n];
	pthread_mutex_unlock(&r->lock);
}

static enum fsc_status cannot(struct fsc_err *err, const char *code, const char *why)
{
	return fsc_err_set(err, FSC_EUNSUPPORTED, code,
			   "the segment of the trace is of a version that this program does not "
			   "read, and indexing its bundle again did not help: %s",
			   why);
}

static enum fsc_status want_ready(struct fsc_reindex *r, const struct fsc_bundle *b,
				  struct fsc_err *err)
{
	const struct fsc_outdated_bundle o = { b->project, b->id, b->n_traces };
	enum fsc_status st;

	if (!want_first(r, b->id))
		return cannot(err, "reindex_failed", "is fleetscope-indexer of another version?");
	st = queue_one(r, &o, err);
	if (st == FSC_EBUSY && !strcmp(err->code, "bundle_indexing"))
		st = FSC_OK;
	if (st != FSC_OK)
		want_again(r, b->id);
	return st;
}

enum fsc_status fsc_reindex_want(struct fsc_reindex *r, const struct fsc_trace_row *t,
				 struct fsc_reindex_progress *out, struct fsc_err *err)
{
	struct fsc_arena a;
	struct fsc_bundle b;
	enum fsc_status st;

	*out = (struct fsc_reindex_progress){ .state = FSC_BUNDLE_QUEUED };
	fsc_arena_init(&a, FSC_MIB);
	st = fsc_store_bundle_get(r->o.store, &a, t->project, t->bundle, &b, err);
	if (st == FSC_OK && b.state == FSC_BUNDLE_FAILED)
		st = cannot(err, "reindex_failed", b.err_message ? b.err_message : "it failed");
	else if (st == FSC_OK && b.state == FSC_BUNDLE_READY)
		st = want_ready(r, &b, err);
	if (st == FSC_ENOTFOUND && !strcmp(err->code, "blob_gone")) {
		fsc_err_clear(err);
		st = fsc_err_set(err, FSC_EEXIST, "not_rebuildable",
				 "the segment of the trace is of a version that this program does "
				 "not read, and the bytes of its upload are not kept any more: "
				 "upload them again");
	}
	if (st == FSC_OK) {
		if (b.state == FSC_BUNDLE_INDEXING)
			*out = (struct fsc_reindex_progress){ b.state, b.done, b.total };
		fsc_err_clear(err);
		st = fsc_err_set(err, FSC_EBUSY, "reindexing",
				 "the trace was indexed by another version and is being indexed "
				 "again, ask again in a few seconds");
	}
	fsc_arena_fini(&a);
	return st;
}

void fsc_reindex_stats(struct fsc_reindex *r, int64_t project, struct fsc_reindex_stats *out)
{
	*out = (struct fsc_reindex_stats){ 0 };
	pthread_mutex_lock(&r->lock);
	for (size_t i = 0; i < r->counts.n; i++) {
		const struct counts *c = &r->counts.v[i];

		if (project && c->project != project)
			continue;
		out->queued_bundles += c->s.queued_bundles;
		out->done_traces += c->s.done_traces;
		out->failed_traces += c->s.failed_traces;
	}
	pthread_mutex_unlock(&r->lock);
}
