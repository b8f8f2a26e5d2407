/* SPDX-License-Identifier: Apache-2.0 */
/* Passes over projects in batches, and the thread that makes them. */
#include "service/retention.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/vec.h"
#include "service/ingest.h"
#include "service/reindex.h"
#include "service/removal.h"
#include "store/store.h"

#define SEC_NS INT64_C(1000000000)
#define ROUND_NS (60 * SEC_NS)
#define PASS_NS (20 * SEC_NS) /* a pass ends after the batch in which this is over */
#define BATCH 500
#define TURN_S 2
#define ACTOR "retention"

struct project {
	int64_t id;
	struct fsc_keeper_taken last;
};

struct fsc_keeper {
	struct fsc_keeper_opts o;
	pthread_mutex_t
		pass; /* one pass at a time; guards guard. Held during I/O, taken before `lock` */
	struct fsc_clock_guard guard;
	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t wake;
	bool started, stopping;
	pthread_t thread;
	atomic_bool stop; /* read by a running pass */
	struct fsc_keeper_stats stats;
	struct fsc_keeper_state state; /* without `last` */
	FSC_VEC(struct project) projects;
};

struct fsc_keeper *fsc_keeper_new(const struct fsc_keeper_opts *opts)
{
	struct fsc_keeper *k = fsc_xalloc(1, sizeof(*k));
	pthread_condattr_t attr;

	k->o = *opts;
	if (!k->o.round_ns)
		k->o.round_ns = ROUND_NS;
	k->guard = (struct fsc_clock_guard){ .store = opts->store,
					     .mono_ns = opts->mono_ns,
					     .ctx = opts->clock_ctx };
	pthread_mutex_init(&k->pass, NULL);
	pthread_mutex_init(&k->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&k->wake, &attr);
	pthread_condattr_destroy(&attr);
	return k;
}

void fsc_keeper_free(struct fsc_keeper *k)
{
	if (!k)
		return;
	fsc_keeper_stop(k);
	pthread_cond_destroy(&k->wake);
	pthread_mutex_destroy(&k->lock);
	pthread_mutex_destroy(&k->pass);
	fsc_vec_fini(&k->projects);
	fsc_free(k);
}

/* ---- the clock, with `pass` held ---- */

static void publish_trust(struct fsc_keeper *k)
{
	pthread_mutex_lock(&k->lock);
	k->state.trust = k->stats.trust = k->guard.trust;
	k->state.since_ns = k->guard.since_ns;
	k->state.mark_ns = k->guard.mark_ns;
	pthread_mutex_unlock(&k->lock);
}

static enum fsc_status look_at_clock(struct fsc_keeper *k, struct fsc_err *err)
{
	enum fsc_clock_trust was = k->guard.trust;
	enum fsc_status st = fsc_clock_guard_look(&k->guard, err);

	if (st != FSC_OK)
		return st;
	publish_trust(k);
	if (k->guard.trust == FSC_CLOCK_AHEAD && was != FSC_CLOCK_AHEAD)
		fsc_log(FSC_LOG_WARN, "retention",
			"msg=\"the clock is far ahead of when it was last looked at: nothing is "
			"deleted by age until that is confirmed\"");
	if (k->guard.trust == FSC_CLOCK_BEHIND && was != FSC_CLOCK_BEHIND)
		fsc_log(FSC_LOG_WARN, "retention",
			"msg=\"the clock went back: nothing is deleted by age until it has passed "
			"that time again\"");
	return FSC_OK;
}

enum fsc_status fsc_keeper_confirm_clock(struct fsc_keeper *k, int64_t *was_ns, struct fsc_err *err)
{
	enum fsc_status st;

	pthread_mutex_lock(&k->pass);
	st = k->guard.loaded ? FSC_OK : look_at_clock(k, err);
	*was_ns = k->guard.mark_ns;
	if (st == FSC_OK)
		st = fsc_clock_guard_confirm(&k->guard, err);
	if (st == FSC_OK)
		publish_trust(k);
	pthread_mutex_unlock(&k->pass);
	return st;
}

/* ---- one batch, with `pass` held ---- */

struct pass {
	struct fsc_keeper *k;
	struct fsc_retention_query q;
	struct fsc_keeper_run *out;
	struct fsc_arena *a; /* for out->items; NULL: they are not wanted */
	uint64_t by_age, by_bytes;
	bool progress; /* the batch took something */
};

static void keep_item(struct pass *p, const struct fsc_retention_item *it)
{
	struct fsc_keeper_run *o = p->out;

	if (!p->a)
		return;
	if (!o->items)
		o->items = fsc_arena_alloc(p->a, FSC_KEEPER_ITEMS_MAX, sizeof(*o->items));
	if (!o->items || o->n_items == FSC_KEEPER_ITEMS_MAX) {
		o->truncated = true;
		return;
	}
	o->items[o->n_items] = *it;
	o->items[o->n_items].name = fsc_arena_dup(p->a, it->name, strlen(it->name));
	if (!o->items[o->n_items].name)
		o->items[o->n_items].name = "";
	o->n_items++;
}

/* A blob alone. What changed since the plan was made is left alone. */
static enum fsc_status let_go(struct pass *p, const struct fsc_retention_item *it,
			      struct fsc_err *err)
{
	int64_t bytes = 0;
	enum fsc_status st =
		fsc_ingest_let_go(p->k->o.ingest, p->q.limits.project, it->bundle, &bytes, err);

	if (st == FSC_ENOTFOUND || st == FSC_EEXIST ||
	    (st == FSC_EBUSY && !strcmp(err->code, "bundle_indexing"))) {
		fsc_err_clear(err);
		return FSC_OK;
	}
	if (st != FSC_OK)
		return st;
	p->progress = true;
	p->out->taken.blobs++;
	p->out->taken.blob_bytes += bytes;
	keep_item(p, it);
	return FSC_OK;
}

static void why_text(char *dst, size_t n, const struct fsc_retention *l, enum fsc_retention_why why)
{
	if (why == FSC_RETENTION_AGE)
		snprintf(dst, n, "older than %lld days", (long long)l->max_age_days);
	else
		snprintf(dst, n, "the project had more than %lld bytes", (long long)l->max_bytes);
}

/* All bundles of the batch that go for the same reason. */
static enum fsc_status remove_bundles(struct pass *p, const struct fsc_retention_plan *plan,
				      enum fsc_retention_why why, struct fsc_err *err)
{
	struct fsc_delete_unit units[BATCH];
	struct fsc_removed gone = { 0 };
	char detail[80];
	const struct fsc_delete_request req = {
		.project = p->q.limits.project,
		.reason = why == FSC_RETENTION_AGE ? FSC_DELETE_AGE : FSC_DELETE_BYTES,
		.actor = ACTOR,
		.detail = detail,
	};
	size_t n = 0;
	enum fsc_status st;

	why_text(detail, sizeof(detail), &p->q.limits, why);
	for (size_t i = 0; i < plan->n_items; i++)
		if (plan->items[i].why == why)
			units[n++] = (struct fsc_delete_unit){ plan->items[i].bundle, 0 };
	if (!n)
		return FSC_OK;
	st = fsc_removal_many(p->k->o.ingest, &req, units, n, &p->k->stop, &gone, err);
	p->out->taken.bundles += gone.bundles;
	p->out->taken.traces += gone.traces;
	p->out->bundle_blob_bytes += gone.blob_bytes;
	p->out->segment_bytes += gone.segment_bytes;
	*(why == FSC_RETENTION_AGE ? &p->by_age : &p->by_bytes) += (uint64_t)gone.bundles;
	p->progress |= gone.bundles > 0;
	for (size_t i = 0; i < plan->n_items && st == FSC_OK; i++)
		if (plan->items[i].why == why)
			keep_item(p, &plan->items[i]);
	return st;
}

static enum fsc_status take_batch(struct pass *p, const struct fsc_retention_plan *plan,
				  struct fsc_err *err)
{
	enum fsc_status st = remove_bundles(p, plan, FSC_RETENTION_AGE, err);

	for (size_t i = 0; i < plan->n_items && st == FSC_OK; i++)
		if (plan->items[i].why == FSC_RETENTION_BLOB && !atomic_load(&p->k->stop))
			st = let_go(p, &plan->items[i], err);
	if (st == FSC_OK)
		st = remove_bundles(p, plan, FSC_RETENTION_BYTES, err);
	return st;
}

/* ---- a pass over one project, with `pass` held ---- */

static enum fsc_status pass_for_real(struct pass *p, struct fsc_err *err)
{
	int64_t until = fsc_clock_mono_ns() + PASS_NS;
	enum fsc_status st = FSC_OK;

	do {
		struct fsc_retention_plan plan;
		struct fsc_arena a;

		fsc_arena_init(&a, 4 * FSC_MIB);
		p->progress = false;
		plan = (struct fsc_retention_plan){ 0 };
		/* Each batch by the limits of now: who lifted one has the word that nothing goes by it any more. */
		st = fsc_store_retention_get(p->k->o.store, p->q.limits.project, &p->q.limits, err);
		if (st == FSC_OK)
			st = fsc_store_retention_plan(p->k->o.store, &a, &p->q, &plan, err);
		p->out->kept = plan.kept;
		p->out->over_bytes = plan.over_bytes;
		p->out->complete = st == FSC_OK && plan.n_items == 0;
		if (st == FSC_OK && plan.n_items)
			st = take_batch(p, &plan, err);
		fsc_arena_fini(&a);
	} while (st == FSC_OK && p->progress && !p->out->complete && !atomic_load(&p->k->stop) &&
		 fsc_clock_mono_ns() < until);
	return st;
}

static enum fsc_status pass_dry(struct pass *p, struct fsc_err *err)
{
	struct fsc_keeper_run *o = p->out;
	struct fsc_retention_plan plan;
	enum fsc_status st = fsc_store_retention_plan(p->k->o.store, p->a, &p->q, &plan, err);

	if (st != FSC_OK)
		return st;
	o->taken.bundles = plan.bundles;
	o->taken.traces = plan.traces;
	o->taken.blobs = plan.blobs;
	o->taken.blob_bytes = plan.blob_bytes;
	o->bundle_blob_bytes = plan.bundle_blob_bytes;
	o->segment_bytes = plan.segment_bytes;
	o->kept = plan.kept;
	o->over_bytes = plan.over_bytes;
	o->items = plan.items;
	o->n_items = plan.n_items;
	o->truncated = plan.bundles + plan.blobs > (int64_t)plan.n_items;
	o->complete = plan.n_items == 0;
	return FSC_OK;
}

static bool took(const struct fsc_keeper_taken *t)
{
	return t->bundles || t->blobs;
}

/* The last pass that took something is what people ask for. */
static void remember(struct fsc_keeper *k, int64_t project, const struct pass *p)
{
	const struct fsc_keeper_taken *t = &p->out->taken;
	struct project fresh = { .id = project };
	struct project *at = NULL;

	pthread_mutex_lock(&k->lock);
	k->stats.by_age += p->by_age;
	k->stats.by_bytes += p->by_bytes;
	k->stats.blobs += (uint64_t)t->blobs;
	k->stats.bytes += (uint64_t)(t->bytes + t->blob_bytes);
	for (size_t i = 0; i < k->projects.n && !at; i++)
		if (k->projects.v[i].id == project)
			at = &k->projects.v[i];
	if (!at && fsc_vec_push(&k->projects, fresh))
		at = &k->projects.v[k->projects.n - 1];
	if (at && (took(t) || !took(&at->last)))
		at->last = *t;
	pthread_mutex_unlock(&k->lock);
}

static enum fsc_status run_pass(struct fsc_keeper *k, const struct fsc_retention *limits,
				bool dry_run, struct fsc_arena *a, struct fsc_keeper_run *out,
				struct fsc_err *err)
{
	struct pass p = { .k = k, .out = out, .a = a };
	enum fsc_status st;

	p.q = (struct fsc_retention_query){
		.limits = *limits,
		.now_ns = fsc_store_now(k->o.store),
		.by_age = dry_run || k->guard.trust == FSC_CLOCK_GOOD,
		.max_items = dry_run ? FSC_KEEPER_ITEMS_MAX : BATCH,
	};
	*out = (struct fsc_keeper_run){ 0 };
	st = dry_run ? pass_dry(&p, err) : pass_for_real(&p, err);
	out->taken.bytes = out->bundle_blob_bytes + out->segment_bytes;
	out->taken.at_ns = p.q.now_ns;
	if (!dry_run)
		remember(k, limits->project, &p);
	return st;
}

/* Waits a little for a pass that runs: a caller of the API holds a thread of the server meanwhile. */
static enum fsc_status take_turn(struct fsc_keeper *k, struct fsc_err *err)
{
	struct timespec until;
	int rc;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += TURN_S;
	rc = pthread_mutex_timedlock(&k->pass, &until);
	return rc ? fsc_err_set(err, FSC_EBUSY, "retention_running",
				"retention: a pass runs, ask again in a few seconds")
		  : FSC_OK;
}

enum fsc_status fsc_keeper_pass(struct fsc_keeper *k, struct fsc_arena *a, int64_t project,
				bool dry_run, struct fsc_keeper_run *out, struct fsc_err *err)
{
	struct fsc_retention limits;
	enum fsc_status st = fsc_store_retention_get(k->o.store, project, &limits, err);

	*out = (struct fsc_keeper_run){ 0 };
	if (st != FSC_OK)
		return st;
	if (dry_run)
		return run_pass(k, &limits, true, a, out, err);
	st = take_turn(k, err);
	if (st != FSC_OK)
		return st;
	st = look_at_clock(k, err);
	if (st == FSC_OK && k->guard.trust == FSC_CLOCK_AHEAD &&
	    (limits.max_age_days || limits.blob_age_days))
		st = fsc_err_set(err, FSC_EEXIST, "retention_held",
				 "retention: the clock is more than a day ahead of when it was "
				 "last looked at: confirm it first");
	if (st == FSC_OK)
		st = run_pass(k, &limits, false, a, out, err);
	pthread_mutex_unlock(&k->pass);
	return st;
}

enum fsc_status fsc_keeper_try(struct fsc_keeper *k, struct fsc_arena *a,
			       const struct fsc_retention *limits, struct fsc_keeper_run *out,
			       struct fsc_err *err)
{
	enum fsc_status st = fsc_retention_check(limits, err);

	*out = (struct fsc_keeper_run){ 0 };
	return st == FSC_OK ? run_pass(k, limits, true, a, out, err) : st;
}

/* ---- rounds ---- */

static void audit(struct fsc_keeper *k, int64_t project, const struct fsc_keeper_run *r)
{
	const struct fsc_keeper_taken *t = &r->taken;
	char detail[200];
	const struct fsc_audit row = { .project = project,
				       .actor = ACTOR,
				       .action = "retention.run",
				       .subject = "",
				       .detail = detail,
				       .remote = "" };

	snprintf(detail, sizeof(detail),
		 "bundles=%lld traces=%lld bytes=%lld blobs=%lld blob_bytes=%lld",
		 (long long)t->bundles, (long long)t->traces, (long long)t->bytes,
		 (long long)t->blobs, (long long)t->blob_bytes);
	fsc_log(FSC_LOG_INFO, "retention", "msg=\"deleted by policy\" project=%lld %s",
		(long long)project, detail);
	if (fsc_store_audit_put(k->o.store, &row, NULL))
		fsc_log(FSC_LOG_ERROR, "retention", "msg=\"audit row not written\"");
}

static void note_failure(struct fsc_keeper *k, const char *what, const struct fsc_err *err)
{
	char msg[FSC_ERR_MSG_MAX + 64];

	if (err->status == FSC_ECANCELED)
		return;
	fsc_log(FSC_LOG_WARN, "retention", "msg=\"%s failed\" code=%s why=%s", what, err->code,
		fsc_log_quote(msg, sizeof(msg), err->msg));
	pthread_mutex_lock(&k->lock);
	k->stats.failures++;
	pthread_mutex_unlock(&k->lock);
}

static enum fsc_status round_held(struct fsc_keeper *k, struct fsc_err *err)
{
	struct fsc_retentions all;
	struct fsc_arena a;
	enum fsc_status st = look_at_clock(k, err);

	fsc_arena_init(&a, 4 * FSC_MIB);
	if (st == FSC_OK)
		st = fsc_store_retention_list(k->o.store, &a, &all, err);
	for (size_t i = 0; st == FSC_OK && i < all.n_items && !atomic_load(&k->stop); i++) {
		struct fsc_err why = FSC_ERR_INIT;
		struct fsc_keeper_run run;

		if (run_pass(k, &all.items[i], false, NULL, &run, &why))
			note_failure(k, "pass", &why);
		if (took(&run.taken))
			audit(k, all.items[i].project, &run);
	}
	fsc_arena_fini(&a);
	return st;
}

enum fsc_status fsc_keeper_round(struct fsc_keeper *k, struct fsc_err *err)
{
	enum fsc_status st;

	pthread_mutex_lock(&k->pass);
	st = round_held(k, err);
	pthread_mutex_unlock(&k->pass);
	if (st != FSC_OK)
		note_failure(k, "round", err);
	pthread_mutex_lock(&k->lock);
	k->stats.rounds++;
	pthread_mutex_unlock(&k->lock);
	return st;
}

/* Sleeps, at most ns; true when it is time to end. With k->lock held. */
static bool nap(struct fsc_keeper *k, int64_t ns)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	ts.tv_sec += (time_t)(ns / SEC_NS);
	ts.tv_nsec += (long)(ns % SEC_NS);
	if (ts.tv_nsec >= SEC_NS) {
		ts.tv_nsec -= SEC_NS;
		ts.tv_sec++;
	}
	if (!k->stopping)
		pthread_cond_timedwait(&k->wake, &k->lock, &ts);
	return k->stopping;
}

static void *keeper_main(void *arg)
{
	struct fsc_keeper *k = arg;
	int64_t next = fsc_clock_mono_ns() + SEC_NS; /* those who wait for the start go first */

	pthread_mutex_lock(&k->lock);
	while (!nap(k, SEC_NS)) {
		struct fsc_err err = FSC_ERR_INIT;

		pthread_mutex_unlock(&k->lock);
		if (fsc_clock_mono_ns() >= next) {
			(void)!fsc_keeper_round(k, &err);
			next = fsc_clock_mono_ns() + k->o.round_ns;
		}
		fsc_err_clear(&err);
		if (k->o.reindex && fsc_reindex_step(k->o.reindex, &err))
			note_failure(k, "re-index", &err);
		pthread_mutex_lock(&k->lock);
	}
	pthread_mutex_unlock(&k->lock);
	return NULL;
}

enum fsc_status fsc_keeper_start(struct fsc_keeper *k, struct fsc_err *err)
{
	int rc = pthread_create(&k->thread, NULL, keeper_main, k);

	k->started = rc == 0;
	return rc ? fsc_err_sys(err, rc, "retention: start a thread") : FSC_OK;
}

void fsc_keeper_stop(struct fsc_keeper *k)
{
	if (!k)
		return;
	pthread_mutex_lock(&k->lock);
	k->stopping = true;
	atomic_store(&k->stop, true);
	pthread_cond_signal(&k->wake);
	pthread_mutex_unlock(&k->lock);
	if (k->started)
		pthread_join(k->thread, NULL);
	k->started = false;
}

/* ---- figures ---- */

void fsc_keeper_state(struct fsc_keeper *k, int64_t project, struct fsc_keeper_state *out)
{
	pthread_mutex_lock(&k->lock);
	*out = k->state;
	out->last = (struct fsc_keeper_taken){ 0 };
	for (size_t i = 0; i < k->projects.n; i++)
		if (k->projects.v[i].id == project)
			out->last = k->projects.v[i].last;
	pthread_mutex_unlock(&k->lock);
}

void fsc_keeper_stats(struct fsc_keeper *k, struct fsc_keeper_stats *out)
{
	pthread_mutex_lock(&k->lock);
	*out = k->stats;
	pthread_mutex_unlock(&k->lock);
}
