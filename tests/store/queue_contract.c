/* SPDX-License-Identifier: Apache-2.0 */
/* Contract of store/queue.h. Included by one test program per implementation, see contract.h. */
#include "tests/store/contract.h"

#define LEASE_NS 60000000000LL

static struct fsc_store_lease lease(struct place *p)
{
	struct fsc_store_lease l;

	assert_ok(p, fsc_queue_lease(p->q, "me", LEASE_NS, &l, &p->err));
	return l;
}

static struct fsc_err reason(const char *code)
{
	struct fsc_err e = FSC_ERR_INIT;

	fsc_err_set(&e, FSC_EIO, code, "it went wrong");
	fsc_err_at(&e, "rank0.json", 42);
	return e;
}

static void jobs_are_leased_oldest_first_and_once(void **state)
{
	struct place *p = *state;
	int64_t a = put_bundle(p, "a", "a"), b = put_bundle(p, "b", "b"), waiting, running;
	struct fsc_store_lease l1 = lease(p), l2 = lease(p), none;

	assert_true(l1.subject == a && l2.subject == b);
	assert_int_equal(l1.kind, FSC_JOB_INDEX);
	assert_true(l1.tries == 1 && l1.project == FSC_PROJECT_DEFAULT);
	assert_int_equal(fsc_queue_lease(p->q, "me", LEASE_NS, &none, &p->err), FSC_END);
	assert_int_equal(get_bundle(p, a).state, FSC_BUNDLE_INDEXING);
	assert_true(get_bundle(p, a).started_at_ns > 0 && get_bundle(p, a).tries == 1);
	assert_ok(p, fsc_queue_depth(p->q, &waiting, &running, &p->err));
	assert_true(waiting == 0 && running == 2);
	assert_ok(p, fsc_queue_complete(p->q, &l1, &p->err));
	assert_fails(p, fsc_queue_complete(p->q, &l1, &p->err), FSC_ECANCELED, "lease_lost");
	assert_ok(p, fsc_queue_depth(p->q, NULL, &running, &p->err));
	assert_int_equal(running, 1);
}

static void a_job_is_tried_three_times_then_its_bundle_fails(void **state)
{
	struct place *p = *state;
	int64_t id = put_bundle(p, "a", "a");
	struct fsc_err why = reason("indexer_killed");
	struct fsc_store_lease l, none;
	bool final;

	for (int i = 1; i <= FSC_QUEUE_MAX_TRIES; i++) {
		l = lease(p);
		assert_int_equal(l.tries, i);
		assert_ok(p, fsc_queue_fail(p->q, &l, &why, 0, &final, &p->err));
		assert_int_equal(final, i == FSC_QUEUE_MAX_TRIES);
		assert_int_equal(get_bundle(p, id).state,
				 final ? FSC_BUNDLE_FAILED : FSC_BUNDLE_QUEUED);
	}
	assert_string_equal(get_bundle(p, id).err_code, "indexer_killed");
	assert_string_equal(get_bundle(p, id).err_message, "it went wrong");
	assert_string_equal(get_bundle(p, id).err_file, "rank0.json");
	assert_true(get_bundle(p, id).err_offset == 42 && get_bundle(p, id).tries == 3);
	assert_int_equal(fsc_queue_lease(p->q, "me", LEASE_NS, &none, &p->err), FSC_END);
}

static void a_final_failure_is_not_tried_again(void **state)
{
	struct place *p = *state;
	int64_t id = put_bundle(p, "a", "a");
	struct fsc_err why = reason("indexer_timeout");
	struct fsc_store_lease l = lease(p);
	bool final;

	assert_ok(p, fsc_queue_fail(p->q, &l, &why, -1, &final, &p->err));
	assert_true(final);
	assert_int_equal(get_bundle(p, id).state, FSC_BUNDLE_FAILED);
}

static void a_retry_waits_for_its_time(void **state)
{
	struct place *p = *state;
	struct fsc_err why = reason("x");
	struct fsc_store_lease l, none;

	put_bundle(p, "a", "a");
	l = lease(p);
	assert_ok(p, fsc_queue_fail(p->q, &l, &why, 300000000, NULL, &p->err));
	assert_int_equal(fsc_queue_lease(p->q, "me", LEASE_NS, &none, &p->err), FSC_END);
	usleep(350000);
	assert_int_equal(lease(p).tries, 2);
}

static void a_lease_that_ran_out_is_taken_over(void **state)
{
	struct place *p = *state;
	int64_t id = put_bundle(p, "a", "a");
	struct fsc_err why = reason("x");
	struct fsc_store_lease slow, other;
	struct fact_list l = { .n = 0 };

	assert_ok(p, fsc_queue_lease(p->q, "slow", 1, &slow, &p->err));
	other = lease(p);
	assert_true(other.job == slow.job && other.tries == 2);
	assert_memory_not_equal(other.token, slow.token, sizeof(other.token));
	/* the slow one can do no harm any more */
	assert_fails(p, fsc_queue_heartbeat(p->q, &slow, LEASE_NS, &p->err), FSC_ECANCELED,
		     "lease_lost");
	assert_fails(p, fsc_queue_fail(p->q, &slow, &why, -1, NULL, &p->err), FSC_ECANCELED,
		     "lease_lost");
	assert_fails(p, fsc_queue_return(p->q, &slow, &p->err), FSC_ECANCELED, "lease_lost");
	fact_trace(&l, "a", 0);
	fact_trace_end(&l);
	fact_end(&l);
	assert_fails(p, publish_facts(p, id, &l, &slow, NULL, NULL), FSC_ECANCELED, "lease_lost");
	assert_int_equal(get_bundle(p, id).state, FSC_BUNDLE_INDEXING);
	assert_true(get_bundle(p, id).n_traces == 0);
	l.at = 0;
	assert_ok(p, publish_facts(p, id, &l, &other, NULL, NULL));
	assert_int_equal(get_bundle(p, id).state, FSC_BUNDLE_READY);
	assert_fails(p, fsc_queue_complete(p->q, &other, &p->err), FSC_ECANCELED, "lease_lost");
}

static void a_heartbeat_keeps_the_lease(void **state)
{
	struct place *p = *state;
	struct fsc_store_lease l, none;

	put_bundle(p, "a", "a");
	assert_ok(p, fsc_queue_lease(p->q, "me", 200000000, &l, &p->err));
	assert_ok(p, fsc_queue_heartbeat(p->q, &l, LEASE_NS, &p->err));
	usleep(250000);
	assert_int_equal(fsc_queue_lease(p->q, "other", LEASE_NS, &none, &p->err), FSC_END);
}

static void a_job_whose_workers_vanish_is_given_up(void **state)
{
	struct place *p = *state;
	int64_t id = put_bundle(p, "a", "a");
	struct fsc_store_lease l;

	for (int i = 0; i < FSC_QUEUE_MAX_TRIES; i++)
		assert_ok(p, fsc_queue_lease(p->q, "dead", 1, &l, &p->err));
	assert_int_equal(fsc_queue_lease(p->q, "me", LEASE_NS, &l, &p->err), FSC_END);
	assert_int_equal(get_bundle(p, id).state, FSC_BUNDLE_FAILED);
	assert_string_equal(get_bundle(p, id).err_code, "lease_expired");
}

static void a_restart_releases_leases_without_counting_tries(void **state)
{
	struct place *p = *state;
	int64_t id = put_bundle(p, "a", "a"), n;
	struct fsc_store_lease l;

	for (int i = 0; i < 20; i++) {
		assert_ok(p, fsc_queue_lease(p->q, "old", LEASE_NS, &l, &p->err));
		assert_int_equal(l.tries, 1);
		assert_ok(p, fsc_queue_release_others(p->q, "new", &n, &p->err));
		assert_int_equal(n, 1);
		assert_int_equal(get_bundle(p, id).state, FSC_BUNDLE_QUEUED);
	}
	assert_ok(p, fsc_queue_lease(p->q, "new", LEASE_NS, &l, &p->err));
	assert_ok(p, fsc_queue_release_others(p->q, "new", &n, &p->err));
	assert_int_equal(n, 0);
	assert_ok(p, fsc_queue_heartbeat(p->q, &l, LEASE_NS, &p->err));
}

static void a_restart_does_not_wait_for_a_pause(void **state)
{
	struct place *p = *state;
	struct fsc_err why = reason("disk_full");
	struct fsc_store_lease l;

	put_bundle(p, "a", "a");
	l = lease(p);
	assert_ok(p, fsc_queue_fail(p->q, &l, &why, 3000000000000, NULL, &p->err));
	assert_int_equal(fsc_queue_lease(p->q, "me", LEASE_NS, &l, &p->err), FSC_END);
	assert_ok(p, fsc_queue_release_others(p->q, "me", NULL, &p->err));
	assert_int_equal(lease(p).tries, 2); /* the try counts all the same */
}

static void a_bundle_that_kills_servers_is_given_up_in_the_end(void **state)
{
	struct place *p = *state;
	int64_t id = put_bundle(p, "a", "a");
	struct fsc_store_lease l;
	int n = 0;

	while (fsc_queue_lease(p->q, "old", LEASE_NS, &l, &p->err) == FSC_OK && n++ < 1000)
		assert_ok(p, fsc_queue_release_others(p->q, "new", NULL, &p->err));
	assert_int_equal(n, FSC_QUEUE_MAX_INTERRUPTS + FSC_QUEUE_MAX_TRIES);
	assert_int_equal(get_bundle(p, id).state, FSC_BUNDLE_FAILED);
	assert_string_equal(get_bundle(p, id).err_code, "interrupted");
}

static void a_postponed_job_is_untried_and_due_later(void **state)
{
	struct place *p = *state;
	int64_t id = put_bundle(p, "a", "a");
	struct fsc_store_lease l;

	for (int i = 0; i < 3 * FSC_QUEUE_MAX_TRIES; i++) {
		l = lease(p);
		assert_int_equal(l.tries, 1);
		assert_ok(p, fsc_queue_postpone(p->q, &l, 0, &p->err));
	}
	l = lease(p);
	assert_ok(p, fsc_queue_postpone(p->q, &l, 150000000, &p->err));
	assert_int_equal(get_bundle(p, id).state, FSC_BUNDLE_QUEUED);
	assert_fails(p, fsc_queue_postpone(p->q, &l, 0, &p->err), FSC_ECANCELED, "lease_lost");
	assert_int_equal(fsc_queue_lease(p->q, "me", 1000000000, &l, &p->err), FSC_END);
	usleep(200000);
	assert_int_equal(lease(p).tries, 1);
}

static void a_returned_job_is_untried_and_due(void **state)
{
	struct place *p = *state;
	int64_t id = put_bundle(p, "a", "a");
	struct fsc_store_lease l = lease(p);

	assert_ok(p, fsc_queue_return(p->q, &l, &p->err));
	assert_int_equal(get_bundle(p, id).state, FSC_BUNDLE_QUEUED);
	assert_int_equal(lease(p).tries, 1);
}

static void reindex_queues_once_and_not_while_indexing(void **state)
{
	struct place *p = *state;
	int64_t id = put_bundle(p, "a", "a"), waiting;
	struct fact_list f = { .n = 0 };
	struct fsc_store_lease l;

	assert_ok(p, fsc_store_bundle_reindex(p->s, 1, id, &p->err)); /* queued already */
	assert_ok(p, fsc_queue_depth(p->q, &waiting, NULL, &p->err));
	assert_int_equal(waiting, 1);
	l = lease(p);
	assert_fails(p, fsc_store_bundle_reindex(p->s, 1, id, &p->err), FSC_EBUSY,
		     "bundle_indexing");
	fact_trace(&f, "a", 0);
	fact_trace_end(&f);
	fact_end(&f);
	assert_ok(p, publish_facts(p, id, &f, &l, NULL, NULL));
	assert_ok(p, fsc_store_bundle_reindex(p->s, 1, id, &p->err));
	assert_int_equal(get_bundle(p, id).state, FSC_BUNDLE_QUEUED);
	assert_true(get_bundle(p, id).n_traces == 1); /* they stay until the new ones are there */
	assert_true(lease(p).subject == id);
}

static void deleting_a_bundle_takes_its_lease(void **state)
{
	struct place *p = *state;
	int64_t id = put_bundle(p, "a", "a");
	struct fsc_store_lease l = lease(p);
	struct fsc_bundle_deleted gone;
	struct fact_list f = { .n = 0 };

	assert_ok(p, delete_bundle_row(p, 1, id, &gone));
	assert_fails(p, fsc_queue_heartbeat(p->q, &l, LEASE_NS, &p->err), FSC_ECANCELED,
		     "lease_lost");
	fact_end(&f);
	assert_fails(p, publish_facts(p, id, &f, &l, NULL, NULL), FSC_ENOTFOUND, "not_found");
}

static void progress_shows_only_while_indexing(void **state)
{
	struct place *p = *state;
	int64_t id = put_bundle(p, "a", "a");
	struct fsc_progress pr = {
		.stage = "parse", .member = "rank0", .done = 5, .total = 10, .events = 7
	};
	struct fsc_store_lease l;
	struct fsc_bundle b;

	assert_ok(p, fsc_store_bundle_progress(p->s, id, &pr, &p->err));
	assert_string_equal(get_bundle(p, id).stage, "");
	l = lease(p);
	assert_ok(p, fsc_store_bundle_progress(p->s, id, &pr, &p->err));
	b = get_bundle(p, id);
	assert_string_equal(b.stage, "parse");
	assert_string_equal(b.member, "rank0");
	assert_true(b.done == 5 && b.total == 10 && b.events == 7);
	assert_ok(p, fsc_queue_return(p->q, &l, &p->err));
	assert_string_equal(get_bundle(p, id).stage, "");
}

struct taker {
	struct place *p;
	pthread_t thread;
	int64_t got[256];
	size_t n;
};

#define HOUR_NS 3600000000000LL

/* The clock jumps while a worker has the job: another may take it, but only one of the two ends it. */
static void jump_during_lease(struct place *p, const char *name, int64_t jump_ns)
{
	int64_t id = put_bundle(p, name, name);
	struct fact_list l = { .n = 0 };
	struct fsc_store_lease first = lease(p), second;
	struct fsc_published done;

	assert_true(first.subject == id);
	atomic_fetch_add(&p->clock_off_ns, jump_ns);
	assert_ok(p, fsc_queue_lease(p->q, "other", LEASE_NS, &second, &p->err));
	assert_true(second.subject == id && second.job == first.job);
	assert_fails(p, fsc_queue_heartbeat(p->q, &first, LEASE_NS, &p->err), FSC_ECANCELED,
		     "lease_lost");
	fact_trace(&l, "m", 0);
	fact_trace_end(&l);
	fact_end(&l);
	assert_int_equal(publish_facts(p, id, &l, &first, NULL, &done), FSC_ECANCELED);
	assert_int_equal(get_bundle(p, id).n_traces, 0);
	l.at = 0;
	assert_ok(p, publish_facts(p, id, &l, &second, NULL, &done));
	assert_int_equal(get_bundle(p, id).n_traces, 1);
	assert_int_equal(get_bundle(p, id).state, FSC_BUNDLE_READY);
	assert_fails(p, fsc_queue_complete(p->q, &first, &p->err), FSC_ECANCELED, "lease_lost");
	assert_fails(p, fsc_queue_complete(p->q, &second, &p->err), FSC_ECANCELED, "lease_lost");
	atomic_store(&p->clock_off_ns, 0);
}

static void a_clock_that_jumps_during_a_lease_ends_the_job_once(void **state)
{
	struct place *p = *state;

	jump_during_lease(p, "an hour ahead", HOUR_NS);
	jump_during_lease(p, "an hour back", -HOUR_NS);
}

/* Between two heartbeats the lease's end may lie an hour ahead of a clock set back: no reason to lose it. */
static void a_heartbeat_after_a_small_jump_keeps_the_lease(void **state)
{
	struct place *p = *state;
	int64_t id = put_bundle(p, "a", "a");
	struct fsc_store_lease l = lease(p), none;

	for (int i = 0; i < 4; i++) {
		atomic_fetch_add(&p->clock_off_ns, i % 2 ? -LEASE_NS / 2 : LEASE_NS / 2);
		assert_int_equal(fsc_queue_lease(p->q, "other", LEASE_NS, &none, &p->err), FSC_END);
		assert_ok(p, fsc_queue_heartbeat(p->q, &l, LEASE_NS, &p->err));
	}
	assert_ok(p, fsc_queue_complete(p->q, &l, &p->err));
	assert_true(l.subject == id);
}

/* A pause that was set by a clock far ahead does not outlast it by more than the slack of an hour. */
static void a_pause_set_by_a_wrong_clock_ends_when_it_is_right_again(void **state)
{
	struct place *p = *state;
	struct fsc_err why = reason("indexer_killed");
	struct fsc_store_lease l;

	put_bundle(p, "a", "a");
	atomic_store(&p->clock_off_ns, 2 * HOUR_NS);
	l = lease(p);
	assert_ok(p, fsc_queue_fail(p->q, &l, &why, LEASE_NS, NULL, &p->err));
	atomic_store(&p->clock_off_ns, 0);
	l = lease(p);
	assert_int_equal(l.tries, 2);
}

static void *taker_main(void *arg)
{
	struct taker *t = arg;
	struct fsc_store_lease l;

	while (fsc_queue_lease(t->p->q, "me", LEASE_NS, &l, NULL) == FSC_OK && t->n < 256) {
		t->got[t->n++] = l.subject;
		if (fsc_queue_complete(t->p->q, &l, NULL) != FSC_OK)
			break;
	}
	return NULL;
}

static void many_workers_take_each_job_exactly_once(void **state)
{
	struct place *p = *state;
	struct taker t[4];
	int64_t first = 0, last = 0;
	size_t total = 0;

	for (int i = 0; i < 100; i++) {
		char name[16];

		snprintf(name, sizeof(name), "%d", i);
		last = put_bundle(p, name, name);
		first = first ? first : last;
	}
	memset(t, 0, sizeof(t));
	for (int i = 0; i < 4; i++) {
		t[i].p = p;
		assert_int_equal(pthread_create(&t[i].thread, NULL, taker_main, &t[i]), 0);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(t[i].thread, NULL);
		total += t[i].n;
	}
	assert_int_equal(total, 100);
	for (int i = 0; i < 4; i++)
		for (size_t k = 0; k < t[i].n; k++)
			for (int j = 0; j < 4; j++)
				for (size_t m = 0; m < t[j].n; m++)
					assert_true((i == j && k == m) ||
						    t[i].got[k] != t[j].got[m]);
	assert_true(first < last);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		contract_test(jobs_are_leased_oldest_first_and_once),
		contract_test(a_job_is_tried_three_times_then_its_bundle_fails),
		contract_test(a_final_failure_is_not_tried_again),
		contract_test(a_retry_waits_for_its_time),
		contract_test(a_lease_that_ran_out_is_taken_over),
		contract_test(a_heartbeat_keeps_the_lease),
		contract_test(a_job_whose_workers_vanish_is_given_up),
		contract_test(a_restart_releases_leases_without_counting_tries),
		contract_test(a_restart_does_not_wait_for_a_pause),
		contract_test(a_bundle_that_kills_servers_is_given_up_in_the_end),
		contract_test(a_postponed_job_is_untried_and_due_later),
		contract_test(a_returned_job_is_untried_and_due),
		contract_test(reindex_queues_once_and_not_while_indexing),
		contract_test(deleting_a_bundle_takes_its_lease),
		contract_test(progress_shows_only_while_indexing),
		contract_test(a_clock_that_jumps_during_a_lease_ends_the_job_once),
		contract_test(a_heartbeat_after_a_small_jump_keeps_the_lease),
		contract_test(a_pause_set_by_a_wrong_clock_ends_when_it_is_right_again),
		contract_test(many_workers_take_each_job_exactly_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
