/* SPDX-License-Identifier: Apache-2.0 */
/* The work queue inside a store: every step is one write transaction, guarded by the lease token. */
#include "store/queue.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "store/store.h"
#include "store/store_ops.h"

/* A time further ahead than this was written before the clock was set back: it counts as passed. */
#define CLOCK_SLACK_NS 3600000000000LL

struct fsc_queue {
	struct fsc_store *store; /* borrowed */
};

struct fsc_queue *fsc_queue_of_store(struct fsc_store *s)
{
	struct fsc_queue *q = fsc_xalloc(1, sizeof(*q));

	q->store = s;
	return q;
}

void fsc_queue_free(struct fsc_queue *q)
{
	fsc_free(q);
}

enum fsc_status fsc_store_enqueue(struct fsc_db *db, int64_t project, int64_t bundle,
				  struct fsc_err *err)
{
	return fsc_db_run(db, FSC_Q_JOB_INSERT,
			  FSC_ARGS(fsc_v_int(fsc_store_new_id(db->store)), fsc_v_int(project),
				   fsc_v_int(FSC_JOB_INDEX), fsc_v_int(bundle),
				   fsc_v_int(fsc_store_now(db->store))),
			  NULL, err);
}

static enum fsc_status lost(struct fsc_err *err)
{
	return fsc_err_set(err, FSC_ECANCELED, "lease_lost", "job: the lease is another's now");
}

/* ---- lease ---- */

struct lease {
	const char *owner;
	int64_t lease_ns;
	struct fsc_store_lease *out;
	bool found;
	int64_t interrupts;
};

static enum fsc_status take_job(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct lease *l = ctx;

	(void)err;
	l->found = true;
	l->out->job = fsc_row_int(row, 0, 0);
	l->out->kind = (enum fsc_job_kind)fsc_row_int(row, 1, 0);
	l->out->project = fsc_row_int(row, 2, 0);
	l->out->subject = fsc_row_int(row, 3, 0);
	l->out->tries = fsc_row_int(row, 4, 0);
	l->interrupts = fsc_row_int(row, 5, 0);
	return FSC_OK;
}

static enum fsc_status fail_bundle(struct fsc_db *db, int64_t bundle, const struct fsc_err *why,
				   struct fsc_err *err)
{
	return fsc_db_run(db, FSC_Q_BUNDLE_FAIL,
			  FSC_ARGS(fsc_v_int(bundle), fsc_v_int(fsc_store_now(db->store)),
				   fsc_v_text(why->code), fsc_v_text(why->msg),
				   fsc_v_known(why->file), fsc_v_count(why->offset)),
			  NULL, err);
}

/* A job without tries left that nobody failed: its workers went away without a word. */
static enum fsc_status give_up(struct fsc_db *db, const struct lease *l, struct fsc_err *err)
{
	struct fsc_err why = FSC_ERR_INIT;
	enum fsc_status st;

	fsc_err_set(&why, FSC_EIO, l->interrupts ? "interrupted" : "lease_expired",
		    "indexing did not end in %lld tries, the worker was lost each time",
		    (long long)l->out->tries);
	st = fail_bundle(db, l->out->subject, &why, err);
	if (st == FSC_OK)
		st = fsc_db_run(db, FSC_Q_JOB_DELETE, FSC_ARGS(fsc_v_int(l->out->job)), NULL, err);
	return st;
}

static enum fsc_status find_job(struct fsc_db *db, struct lease *l, int64_t now,
				struct fsc_err *err)
{
	enum fsc_status st = fsc_db_rows(db, FSC_Q_JOB_EXPIRED,
					 FSC_ARGS(fsc_v_int(now), fsc_v_int(now + CLOCK_SLACK_NS)),
					 take_job, l, err);

	if (st == FSC_OK && !l->found)
		st = fsc_db_rows(db, FSC_Q_JOB_NEXT,
				 FSC_ARGS(fsc_v_int(now), fsc_v_int(now + CLOCK_SLACK_NS)),
				 take_job, l, err);
	return st;
}

static enum fsc_status lease_work(struct fsc_db *db, void *arg, struct fsc_err *err)
{
	struct lease *l = arg;
	int64_t now = fsc_store_now(db->store);
	enum fsc_status st;

	for (;;) {
		l->found = false;
		st = find_job(db, l, now, err);
		if (st != FSC_OK || !l->found)
			return st;
		if (l->out->tries < FSC_QUEUE_MAX_TRIES)
			break;
		st = give_up(db, l, err);
		if (st != FSC_OK)
			return st;
	}
	l->out->tries++;
	fsc_random_bytes(l->out->token, sizeof(l->out->token));
	st = fsc_db_run(db, FSC_Q_JOB_TAKE,
			FSC_ARGS(fsc_v_int(l->out->job), fsc_v_text(l->owner),
				 fsc_v_bytes(l->out->token, sizeof(l->out->token)),
				 fsc_v_int(now + l->lease_ns)),
			NULL, err);
	if (st == FSC_OK)
		st = fsc_db_run(db, FSC_Q_BUNDLE_START,
				FSC_ARGS(fsc_v_int(l->out->subject), fsc_v_int(now),
					 fsc_v_int(l->out->tries)),
				NULL, err);
	return st;
}

/* Idle workers ask often: look with a reader before the writer is troubled. */
static enum fsc_status peek_work(struct fsc_db *db, void *arg, struct fsc_err *err)
{
	return find_job(db, arg, fsc_store_now(db->store), err);
}

enum fsc_status fsc_queue_lease(struct fsc_queue *q, const char *owner, int64_t lease_ns,
				struct fsc_store_lease *out, struct fsc_err *err)
{
	struct lease l = { .owner = owner, .lease_ns = lease_ns, .out = out };
	enum fsc_status st = q->store->ops->read(q->store, peek_work, &l, err);

	if (st == FSC_OK && l.found)
		st = q->store->ops->write(q->store, lease_work, &l, false, err);
	if (st == FSC_OK && !l.found)
		return FSC_END;
	return st;
}

/* ---- with a lease ---- */

static enum fsc_status guarded(struct fsc_db *db, enum fsc_query id,
			       const struct fsc_store_lease *l, const struct fsc_value *third,
			       struct fsc_err *err)
{
	struct fsc_value args[3] = { fsc_v_int(l->job), fsc_v_bytes(l->token, sizeof(l->token)) };
	int64_t changed = 0;
	enum fsc_status st;

	if (third)
		args[2] = *third;
	st = fsc_db_run(db, id, args, third ? 3 : 2, &changed, err);
	return st == FSC_OK && changed != 1 ? lost(err) : st;
}

struct step {
	const struct fsc_store_lease *l;
	int64_t when;
	const struct fsc_err *why;
	bool final;
};

static enum fsc_status beat_work(struct fsc_db *db, void *arg, struct fsc_err *err)
{
	const struct step *s = arg;
	struct fsc_value until = fsc_v_int(s->when);

	return guarded(db, FSC_Q_JOB_BEAT, s->l, &until, err);
}

enum fsc_status fsc_queue_heartbeat(struct fsc_queue *q, const struct fsc_store_lease *l,
				    int64_t lease_ns, struct fsc_err *err)
{
	struct step s = { .l = l, .when = fsc_store_now(q->store) + lease_ns };

	return q->store->ops->write(q->store, beat_work, &s, false, err);
}

static enum fsc_status complete_work(struct fsc_db *db, void *arg, struct fsc_err *err)
{
	const struct step *s = arg;

	return guarded(db, FSC_Q_JOB_DONE, s->l, NULL, err);
}

enum fsc_status fsc_queue_complete(struct fsc_queue *q, const struct fsc_store_lease *l,
				   struct fsc_err *err)
{
	struct step s = { .l = l };

	return q->store->ops->write(q->store, complete_work, &s, false, err);
}

static enum fsc_status fail_work(struct fsc_db *db, void *arg, struct fsc_err *err)
{
	struct step *s = arg;
	struct fsc_value due = fsc_v_int(s->when);
	enum fsc_status st;

	if (s->final) {
		st = guarded(db, FSC_Q_JOB_DONE, s->l, NULL, err);
		return st == FSC_OK ? fail_bundle(db, s->l->subject, s->why, err) : st;
	}
	st = guarded(db, FSC_Q_JOB_RETRY, s->l, &due, err);
	if (st == FSC_OK)
		st = fsc_db_run(db, FSC_Q_BUNDLE_QUEUE, FSC_ARGS(fsc_v_int(s->l->subject)), NULL,
				err);
	return st;
}

enum fsc_status fsc_queue_fail(struct fsc_queue *q, const struct fsc_store_lease *l,
			       const struct fsc_err *why, int64_t retry_after_ns, bool *final,
			       struct fsc_err *err)
{
	struct step s = { .l = l, .why = why };
	enum fsc_status st;

	s.final = retry_after_ns < 0 || l->tries >= FSC_QUEUE_MAX_TRIES;
	s.when = fsc_store_now(q->store) + (retry_after_ns > 0 ? retry_after_ns : 0);
	st = q->store->ops->write(q->store, fail_work, &s, false, err);
	if (final)
		*final = s.final;
	return st;
}

static enum fsc_status return_work(struct fsc_db *db, void *arg, struct fsc_err *err)
{
	const struct step *s = arg;
	struct fsc_value due = fsc_v_int(s->when);
	enum fsc_status st = guarded(db, FSC_Q_JOB_RETURN, s->l, &due, err);

	if (st == FSC_OK)
		st = fsc_db_run(db, FSC_Q_BUNDLE_QUEUE, FSC_ARGS(fsc_v_int(s->l->subject)), NULL,
				err);
	return st;
}

enum fsc_status fsc_queue_return(struct fsc_queue *q, const struct fsc_store_lease *l,
				 struct fsc_err *err)
{
	struct step s = { .l = l };

	return q->store->ops->write(q->store, return_work, &s, false, err);
}

enum fsc_status fsc_queue_postpone(struct fsc_queue *q, const struct fsc_store_lease *l,
				   int64_t after_ns, struct fsc_err *err)
{
	struct step s = { .l = l, .when = fsc_store_now(q->store) + after_ns };

	return q->store->ops->write(q->store, return_work, &s, false, err);
}

/* ---- start-up, figures ---- */

struct release {
	const char *owner;
	int64_t n;
};

static enum fsc_status release_work(struct fsc_db *db, void *arg, struct fsc_err *err)
{
	struct release *r = arg;
	enum fsc_status st;

	st = fsc_db_run(db, FSC_Q_JOB_RELEASE_OTHERS,
			FSC_ARGS(fsc_v_text(r->owner), fsc_v_int(FSC_QUEUE_MAX_INTERRUPTS)), &r->n,
			err);
	if (st == FSC_OK)
		st = fsc_db_run(db, FSC_Q_BUNDLE_REQUEUE_IDLE, NULL, 0, NULL, err);
	if (st == FSC_OK)
		st = fsc_db_run(db, FSC_Q_JOB_DUE_NOW, NULL, 0, NULL, err);
	return st;
}

enum fsc_status fsc_queue_release_others(struct fsc_queue *q, const char *owner, int64_t *n,
					 struct fsc_err *err)
{
	struct release r = { .owner = owner };
	enum fsc_status st = q->store->ops->write(q->store, release_work, &r, false, err);

	if (n)
		*n = r.n;
	return st;
}

struct depth {
	int64_t waiting, running;
};

static enum fsc_status take_depth(void *ctx, const struct fsc_row *row, struct fsc_err *err)
{
	struct depth *d = ctx;

	(void)err;
	d->waiting = fsc_row_int(row, 0, 0);
	d->running = fsc_row_int(row, 1, 0);
	return FSC_OK;
}

enum fsc_status fsc_queue_depth(struct fsc_queue *q, int64_t *waiting, int64_t *running,
				struct fsc_err *err)
{
	struct depth d = { 0 };
	enum fsc_status st =
		fsc_store_rows(q->store, FSC_Q_JOB_DEPTH, NULL, 0, take_depth, &d, err);

	if (waiting)
		*waiting = d.waiting;
	if (running)
		*running = d.running;
	return st;
}
