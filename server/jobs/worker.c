/* SPDX-License-Identifier: Apache-2.0 */
/* The worker threads: lease, run, retry or give up; and the thread that keeps their leases alive. */
#include "jobs/worker.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "base/log.h"
#include "jobs/index_run.h"
#include "store/blob.h"
#include "store/queue.h"
#include "store/store.h"

struct slot {
	struct fsc_worker *w;
	pthread_t thread;
	bool started;
	atomic_bool stop; /* read by the run */
	/* guarded by fsc_worker.lock: */
	bool active;
	struct fsc_store_lease lease;
};

struct fsc_worker {
	struct fsc_index_env env;
	char *indexer;		 /* owned */
	struct fsc_queue *queue; /* owned */
	char owner[FSC_QUEUE_OWNER_MAX];
	int64_t poll_ns, lease_ns, retry_ns, max_pause_ns;
	pthread_mutex_t
		lock;	     /* guards all below but the threads, and the slots' active and lease */
	pthread_cond_t work; /* something was queued, or stopping */
	pthread_cond_t beat; /* stopping */
	bool stopping;
	uint64_t wakes;
	struct fsc_worker_stats stats;
	unsigned n_trouble;    /* runs in a row that failed for the host */
	struct fsc_err why;    /* of the last of them */
	int64_t hold_until_ns; /* no lease before (monotonic) */
	pthread_t beat_thread;
	bool beat_started;
	unsigned n_slots;
	struct slot *slots; /* owned */
};

/* ---- waiting ---- */

/* Waits on c with w->lock held, at most ns. */
static void wait_ns(struct fsc_worker *w, pthread_cond_t *c, int64_t ns)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	ts.tv_sec += (time_t)(ns / 1000000000);
	ts.tv_nsec += (long)(ns % 1000000000);
	if (ts.tv_nsec >= 1000000000) {
		ts.tv_nsec -= 1000000000;
		ts.tv_sec++;
	}
	pthread_cond_timedwait(c, &w->lock, &ts);
}

void fsc_worker_wake(void *worker)
{
	struct fsc_worker *w = worker;

	pthread_mutex_lock(&w->lock);
	w->wakes++;
	pthread_cond_signal(&w->work);
	pthread_mutex_unlock(&w->lock);
}

/* ---- one job ---- */

static void log_end(const struct slot *s, const char *what, const struct fsc_index_result *res,
		    const struct fsc_err *err)
{
	char msg[FSC_ERR_MSG_MAX + 64], file[FSC_ERR_FILE_MAX + 64];
	bool bad = err && err->status != FSC_OK;

	fsc_log(bad ? FSC_LOG_WARN : FSC_LOG_INFO, "jobs",
		"msg=%s bundle=%lld try=%lld cpu_ms=%lld wall_ms=%lld code=%s file=%s why=%s", what,
		(long long)s->lease.subject, (long long)s->lease.tries,
		(long long)(res->cpu_ns / 1000000), (long long)(res->wall_ns / 1000000),
		bad ? err->code : "-",
		fsc_log_quote(file, sizeof(file), bad && err->file[0] ? err->file : "-"),
		fsc_log_quote(msg, sizeof(msg), bad ? err->msg : "-"));
}

static void count(struct fsc_worker *w, uint64_t *counter, const struct fsc_index_result *res)
{
	pthread_mutex_lock(&w->lock);
	++*counter;
	w->stats.cpu_ns += res->cpu_ns;
	w->stats.wall_ns += res->wall_ns;
	pthread_mutex_unlock(&w->lock);
}

static void end_failed(struct slot *s, const struct fsc_index_result *res,
		       const struct fsc_err *why)
{
	struct fsc_worker *w = s->w;
	struct fsc_err err = FSC_ERR_INIT;
	int64_t pause = fsc_index_retry_after(why, w->retry_ns, s->lease.tries);
	bool final = false;
	enum fsc_status st = fsc_queue_fail(w->queue, &s->lease, why, pause, &final, &err);

	if (st !=
	    FSC_OK) /* deleted, another's, or the store is in trouble: the lease will run out */
		log_end(s, "lost", res, &err);
	else
		log_end(s, final ? "failed" : "retry", res, why);
	count(w, final ? &w->stats.failed : &w->stats.retried, res);
}

/* Notes the trouble and gives the pause: for all workers, since the next job would meet the same. */
static int64_t note_trouble(struct fsc_worker *w, const struct fsc_err *why)
{
	int64_t pause = w->retry_ns;

	pthread_mutex_lock(&w->lock);
	for (unsigned i = 0; i < w->n_trouble && pause < w->max_pause_ns; i++)
		pause *= 2;
	pause = pause < w->max_pause_ns ? pause : w->max_pause_ns;
	w->n_trouble++;
	w->why = *why;
	w->hold_until_ns = fsc_clock_mono_ns() + pause;
	pthread_mutex_unlock(&w->lock);
	return pause;
}

static void well_again(struct fsc_worker *w)
{
	pthread_mutex_lock(&w->lock);
	w->n_trouble = 0;
	w->hold_until_ns = 0;
	pthread_mutex_unlock(&w->lock);
}

/* The store may be in trouble too, and then does not take the job back: hold it until it does, since a lease that
 * runs out would count as a try. */
static void end_postponed(struct slot *s, const struct fsc_index_result *res,
			  const struct fsc_err *why)
{
	struct fsc_worker *w = s->w;
	int64_t pause = note_trouble(w, why);
	struct fsc_err err;
	enum fsc_status st;

	count(w, &w->stats.postponed, res);
	log_end(s, "postponed", res, why);
	for (;;) {
		err = (struct fsc_err)FSC_ERR_INIT;
		st = fsc_queue_postpone(w->queue, &s->lease, pause, &err);
		if (st == FSC_OK || !fsc_index_host_trouble(&err))
			break;
		pthread_mutex_lock(&w->lock);
		if (!w->stopping)
			wait_ns(w, &w->beat, pause);
		bool stopping = w->stopping;
		pthread_mutex_unlock(&w->lock);
		if (stopping)
			break;
	}
	if (st != FSC_OK)
		log_end(s, "lost", res, &err);
}

static void run_job(struct slot *s)
{
	struct fsc_worker *w = s->w;
	struct fsc_index_result res;
	struct fsc_err why = FSC_ERR_INIT;
	enum fsc_status st = fsc_index_run(&w->env, &s->lease, &s->stop, &res, &why);

	if (st == FSC_OK) {
		log_end(s, res.ready ? "ready" : "failed", &res, &res.why);
		well_again(w);
		count(w, res.ready ? &w->stats.ready : &w->stats.failed, &res);
	} else if (st == FSC_ENOTFOUND && !strcmp(why.code, "not_found")) {
		log_end(s, "deleted", &res, &why);
		count(w, &w->stats.returned, &res);
	} else if (st == FSC_ECANCELED &&
		   (atomic_load(&s->stop) || !strcmp(why.code, "lease_lost"))) {
		/* Given back untried; when the lease is another's, this changes nothing. */
		(void)!fsc_queue_return(w->queue, &s->lease, NULL);
		log_end(s, "returned", &res, &why);
		count(w, &w->stats.returned, &res);
	} else if (fsc_index_host_trouble(&why)) {
		end_postponed(s, &res, &why);
	} else {
		end_failed(s, &res, &why);
	}
}

/* ---- threads ---- */

/* True when there was something to do. */
static bool work_once(struct slot *s)
{
	struct fsc_worker *w = s->w;
	struct fsc_store_lease lease;
	struct fsc_err err = FSC_ERR_INIT;
	enum fsc_status st = fsc_queue_lease(w->queue, w->owner, w->lease_ns, &lease, &err);

	if (st != FSC_OK) {
		char msg[FSC_ERR_MSG_MAX + 64];

		if (st != FSC_END)
			fsc_log(FSC_LOG_WARN, "jobs", "msg=\"no lease\" code=%s why=%s", err.code,
				fsc_log_quote(msg, sizeof(msg), err.msg));
		return false;
	}
	pthread_mutex_lock(&w->lock);
	s->lease = lease;
	s->active = true;
	atomic_store(&s->stop, w->stopping);
	w->stats.running++;
	pthread_mutex_unlock(&w->lock);
	run_job(s);
	pthread_mutex_lock(&w->lock);
	s->active = false;
	w->stats.running--;
	pthread_mutex_unlock(&w->lock);
	return true;
}

static void *slot_main(void *arg)
{
	struct slot *s = arg;
	struct fsc_worker *w = s->w;

	pthread_mutex_lock(&w->lock);
	while (!w->stopping) {
		uint64_t seen = w->wakes;
		int64_t hold = w->hold_until_ns - fsc_clock_mono_ns();
		bool worked;

		if (hold > 0) {
			wait_ns(w, &w->work, hold < w->poll_ns ? hold : w->poll_ns);
			continue;
		}
		pthread_mutex_unlock(&w->lock);
		worked = work_once(s);
		pthread_mutex_lock(&w->lock);
		if (!worked && !w->stopping && seen == w->wakes)
			wait_ns(w, &w->work, w->poll_ns);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

static void beat_one(struct fsc_worker *w, struct slot *s)
{
	struct fsc_store_lease lease;
	struct fsc_err err = FSC_ERR_INIT;
	bool active;

	pthread_mutex_lock(&w->lock);
	active = s->active;
	lease = s->lease;
	pthread_mutex_unlock(&w->lock);
	if (!active || fsc_queue_heartbeat(w->queue, &lease, w->lease_ns, &err) != FSC_ECANCELED)
		return;
	/* Taken over, or the bundle was deleted: end the run, if it is still this one. */
	pthread_mutex_lock(&w->lock);
	if (s->active && !memcmp(s->lease.token, lease.token, sizeof(lease.token)))
		atomic_store(&s->stop, true);
	pthread_mutex_unlock(&w->lock);
}

static void *beat_main(void *arg)
{
	struct fsc_worker *w = arg;

	pthread_mutex_lock(&w->lock);
	while (!w->stopping) {
		wait_ns(w, &w->beat, w->lease_ns / 3);
		if (w->stopping)
			break;
		pthread_mutex_unlock(&w->lock);
		for (unsigned i = 0; i < w->n_slots; i++)
			beat_one(w, &w->slots[i]);
		pthread_mutex_lock(&w->lock);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* ---- start, stop ---- */

/* host:pid:random, so that a process with the same pid after a restart is another owner. */
static void make_owner(char owner[FSC_QUEUE_OWNER_MAX])
{
	char host[33] = "", hex[17];
	uint8_t random[8];

	if (gethostname(host, sizeof(host) - 1))
		host[0] = '\0';
	fsc_random_bytes(random, sizeof(random));
	fsc_hex(hex, random, sizeof(random));
	snprintf(owner, FSC_QUEUE_OWNER_MAX, "%.24s:%d:%s", host, (int)getpid(), hex);
}

static unsigned default_threads(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n > 2 ? (unsigned)(n / 2) : 1;
}

static struct fsc_worker *worker_new(const struct fsc_worker_opts *o)
{
	struct fsc_worker *w = fsc_xalloc(1, sizeof(*w));
	pthread_condattr_t attr;

	w->indexer = fsc_xstrdup(o->indexer);
	w->env = (struct fsc_index_env){
		.store = o->store,
		.blobs = o->blobs,
		.indexer = w->indexer,
		.max_memory_bytes = o->max_memory_bytes,
		.max_cpu_s = o->max_cpu_s,
		.max_wall_s = o->max_wall_s,
	};
	w->queue = fsc_queue_of_store(o->store);
	make_owner(w->owner);
	w->poll_ns = o->poll_ns ? o->poll_ns : 1000000000LL;
	w->lease_ns = o->lease_ns ? o->lease_ns : FSC_QUEUE_LEASE_NS;
	w->retry_ns = o->retry_ns ? o->retry_ns : 2000000000LL;
	w->max_pause_ns = o->max_pause_ns ? o->max_pause_ns : 60000000000LL;
	w->n_slots = o->n_threads ? o->n_threads : default_threads();
	w->slots = fsc_xalloc(w->n_slots, sizeof(*w->slots));
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&w->work, &attr);
	pthread_cond_init(&w->beat, &attr);
	pthread_condattr_destroy(&attr);
	return w;
}

enum fsc_status fsc_worker_start(struct fsc_worker **out, const struct fsc_worker_opts *opts,
				 struct fsc_err *err)
{
	struct fsc_worker *w = worker_new(opts);
	int64_t released = 0;
	enum fsc_status st = fsc_queue_release_others(w->queue, w->owner, &released, err);
	int rc = 0;

	*out = NULL;
	if (st == FSC_OK && released)
		fsc_log(FSC_LOG_INFO, "jobs", "msg=\"leases of a dead process released\" n=%lld",
			(long long)released);
	if (st == FSC_OK) {
		rc = pthread_create(&w->beat_thread, NULL, beat_main, w);
		w->beat_started = rc == 0;
	}
	for (unsigned i = 0; i < w->n_slots && st == FSC_OK && !rc; i++) {
		w->slots[i].w = w;
		rc = pthread_create(&w->slots[i].thread, NULL, slot_main, &w->slots[i]);
		w->slots[i].started = rc == 0;
	}
	if (rc)
		st = fsc_err_sys(err, rc, "jobs: start a thread");
	if (st != FSC_OK) {
		fsc_worker_stop(w);
		return st;
	}
	*out = w;
	return FSC_OK;
}

void fsc_worker_stop(struct fsc_worker *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->stopping = true;
	for (unsigned i = 0; i < w->n_slots; i++)
		atomic_store(&w->slots[i].stop, true);
	pthread_cond_broadcast(&w->work);
	pthread_cond_broadcast(&w->beat);
	pthread_mutex_unlock(&w->lock);
	for (unsigned i = 0; i < w->n_slots; i++)
		if (w->slots[i].started)
			pthread_join(w->slots[i].thread, NULL);
	if (w->beat_started)
		pthread_join(w->beat_thread, NULL);
	pthread_cond_destroy(&w->beat);
	pthread_cond_destroy(&w->work);
	pthread_mutex_destroy(&w->lock);
	fsc_queue_free(w->queue);
	fsc_free(w->slots);
	fsc_free(w->indexer);
	fsc_free(w);
}

bool fsc_worker_trouble(struct fsc_worker *w, struct fsc_err *why)
{
	pthread_mutex_lock(&w->lock);
	bool trouble = w->n_trouble > 0;
	*why = w->why;
	pthread_mutex_unlock(&w->lock);
	return trouble;
}

void fsc_worker_stats(struct fsc_worker *w, struct fsc_worker_stats *out)
{
	pthread_mutex_lock(&w->lock);
	*out = w->stats;
	pthread_mutex_unlock(&w->lock);
}
