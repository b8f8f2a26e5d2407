/* SPDX-License-Identifier: Apache-2.0 */
/* Passes of retention, the clock that guards them, and indexing again, on a place whose clocks the test moves. */
#define CONTRACT_STORE_URL "sqlite:%s/store.db"
#define CONTRACT_BLOBS_URL "dir:%s/blobs"
#include "tests/store/contract.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include "service/ingest.h"
#include "service/reindex.h"
#include "service/retention.h"
#include "store/deletes.h"
#include "store/notes.h"
#include "store/retention.h"

#define HOUR_NS INT64_C(3600000000000)

/* A keeper with what it needs, on a place. Monotonic and wall time move together unless a test says otherwise. */
struct home {
	struct place *p;
	struct fsc_ingest *in;
	struct fsc_keeper *k;
	int64_t mono_ns;
	bool lift; /* somebody lifts all limits as soon as a pass looks at its clock */
	bool ask;  /* somebody else asks for a pass at that moment */
	enum fsc_status answer;
	struct fsc_err answer_err;
};

static void limit(struct home *h, int64_t age, int64_t blob_age, int64_t bytes);

static void *ask_for_a_pass(void *ctx)
{
	struct home *h = ctx;
	struct fsc_keeper_run run;
	struct fsc_arena a;

	fsc_arena_init(&a, 1u << 20);
	h->answer = fsc_keeper_pass(h->k, &a, FSC_PROJECT_DEFAULT, false, &run, &h->answer_err);
	fsc_arena_fini(&a);
	return NULL;
}

static int64_t home_mono(void *ctx)
{
	struct home *h = ctx;
	pthread_t other;

	if (h->lift)
		limit(h, 0, 0, 0);
	if (h->ask) {
		h->ask = false;
		assert_int_equal(pthread_create(&other, NULL, ask_for_a_pass, h), 0);
		pthread_join(other, NULL);
	}
	return h->mono_ns;
}

static void home_open(struct home *h, struct place *p)
{
	struct fsc_ingest_opts in = { .store = p->s, .blobs = p->b };

	h->p = p;
	h->in = fsc_ingest_new(&in);
	h->k = fsc_keeper_new(&(struct fsc_keeper_opts){
		.store = p->s, .ingest = h->in, .mono_ns = home_mono, .clock_ctx = h });
}

static void home_close(struct home *h)
{
	fsc_keeper_free(h->k);
	fsc_ingest_free(h->in);
}

/* As a restart: a new process knows only what the store knows, and another monotonic clock. */
static void home_restart(struct home *h)
{
	home_close(h);
	h->mono_ns = 5;
	home_open(h, h->p);
}

static void wall_jumps(struct home *h, int64_t ns)
{
	atomic_fetch_add(&h->p->clock_off_ns, ns);
}

static void time_passes(struct home *h, int64_t ns)
{
	wall_jumps(h, ns);
	h->mono_ns += ns;
}

static void one_round(struct home *h)
{
	assert_ok(h->p, fsc_keeper_round(h->k, &h->p->err));
}

/* Days go by with a round each hour, as they do in a server. */
static void days_pass(struct home *h, int days)
{
	for (int i = 0; i < days * 24; i++) {
		time_passes(h, HOUR_NS);
		one_round(h);
	}
}

static struct fsc_upload_done upload_again(struct home *h, const char *text)
{
	struct fsc_upload_begin b = FSC_UPLOAD_BEGIN_INIT;
	struct fsc_upload_done done;
	struct fsc_upload *u;

	b.name = text;
	assert_ok(h->p, fsc_ingest_begin(&u, h->in, &b, &h->p->err));
	assert_ok(h->p, fsc_ingest_write(u, text, strlen(text), &h->p->err));
	assert_ok(h->p, fsc_ingest_finish(u, &done, &h->p->err));
	return done;
}

static int64_t uploaded(struct home *h, const char *text)
{
	struct fsc_store_lease lease;
	struct fact_list l = { .n = 0 };
	struct fsc_upload_done done = upload_again(h, text);

	assert_ok(h->p, fsc_queue_lease(h->p->q, "me", FSC_QUEUE_LEASE_NS, &lease, &h->p->err));
	fact_trace(&l, "m", 0);
	fact_trace_end(&l);
	fact_end(&l);
	assert_ok(h->p, publish_facts(h->p, done.id, &l, &lease, NULL, NULL));
	return done.id;
}

static bool is_there(struct home *h, int64_t bundle)
{
	struct fsc_bundle b;

	return fsc_store_bundle_get(h->p->s, &h->p->a, FSC_PROJECT_DEFAULT, bundle, &b, NULL) ==
	       FSC_OK;
}

static void limit(struct home *h, int64_t age, int64_t blob_age, int64_t bytes)
{
	struct fsc_retention r = { .project = FSC_PROJECT_DEFAULT,
				   .max_age_days = age,
				   .blob_age_days = blob_age,
				   .max_bytes = bytes };

	assert_ok(h->p, fsc_store_retention_put(h->p->s, &r, &h->p->err));
}

static enum fsc_clock_trust trust(struct home *h)
{
	struct fsc_keeper_state st;

	fsc_keeper_state(h->k, FSC_PROJECT_DEFAULT, &st);
	return st.trust;
}

static void keep_trace_of(struct home *h, int64_t bundle)
{
	struct fsc_trace_refs refs;
	struct fsc_trace_edit edit = {
		.project = FSC_PROJECT_DEFAULT, .actor = "cli", .set_keep = true, .keep = true
	};
	struct fsc_trace_edited out;

	assert_ok(h->p, fsc_store_bundle_traces(h->p->s, &h->p->a, bundle, &refs, &h->p->err));
	edit.trace = refs.items[0].id;
	assert_ok(h->p, fsc_store_trace_edit(h->p->s, &edit, &out, &h->p->err));
}

static void age_takes_bundles_with_files_and_says_so(void **state)
{
	struct home h = { 0 };
	struct fsc_tombstone stone;
	struct fsc_audit_query q = { .project = FSC_PROJECT_DEFAULT };
	struct fsc_audit_page audits;
	struct fsc_keeper_state ks;
	int64_t old, kept, young;

	home_open(&h, *state);
	one_round(&h);
	limit(&h, 7, 0, 0);
	old = uploaded(&h, "old");
	kept = uploaded(&h, "kept");
	keep_trace_of(&h, kept);
	days_pass(&h, 5);
	young = uploaded(&h, "young");
	assert_true(is_there(&h, old));
	days_pass(&h, 3);
	assert_false(is_there(&h, old));
	assert_true(is_there(&h, kept) && is_there(&h, young));
	assert_int_equal(count_files(h.p, FSC_BLOB_BLOB), 2);
	assert_ok(h.p, fsc_store_tombstone_get(h.p->s, &h.p->a, 1, true, old, &stone, &h.p->err));
	assert_int_equal(stone.reason, FSC_DELETE_AGE);
	assert_string_equal(stone.actor, "retention");
	assert_string_equal(stone.detail, "older than 7 days");
	assert_ok(h.p, fsc_store_audit_list(h.p->s, &h.p->a, &q, &audits, &h.p->err));
	assert_int_equal(audits.n_items, 1); /* not one a round */
	assert_string_equal(audits.items[0].action, "retention.run");
	fsc_keeper_state(h.k, 1, &ks);
	assert_true(ks.last.bundles == 1 && ks.last.traces == 1 && ks.last.bytes == 3 + 10);
	home_close(&h);
}

static void bytes_of_uploads_go_while_their_traces_stay(void **state)
{
	struct home h = { 0 };
	struct fsc_reindex *r;
	struct fsc_reindex_progress progress;
	struct fsc_trace_row row = { .project = FSC_PROJECT_DEFAULT };
	struct fsc_keeper_state ks;
	int64_t old;

	home_open(&h, *state);
	one_round(&h);
	limit(&h, 0, 3, 0);
	old = uploaded(&h, "old");
	days_pass(&h, 4);
	assert_true(is_there(&h, old) && get_bundle(h.p, old).n_traces == 1);
	assert_true(get_bundle(h.p, old).blob_deleted_at_ns > 0);
	assert_int_equal(count_files(h.p, FSC_BLOB_BLOB), 0);
	fsc_keeper_state(h.k, 1, &ks);
	assert_true(ks.last.blobs == 1 && ks.last.blob_bytes == 3 && !ks.last.bundles);
	r = fsc_reindex_new(&(struct fsc_reindex_opts){ .store = h.p->s, .ingest = h.in });
	row.bundle = old;
	for (int i = 0; i < 2; i++) /* and again: asking does not change the answer */
		assert_fails(h.p, fsc_reindex_want(r, &row, &progress, &h.p->err), FSC_EEXIST,
			     "not_rebuildable");
	upload_again(&h, "old"); /* as the answer says */
	assert_fails(h.p, fsc_reindex_want(r, &row, &progress, &h.p->err), FSC_EBUSY, "reindexing");
	assert_int_equal(get_bundle(h.p, old).state, FSC_BUNDLE_QUEUED);
	fsc_reindex_free(r);
	home_close(&h);
}

static void a_clock_a_day_ahead_deletes_nothing_by_age_until_confirmed(void **state)
{
	struct home h = { 0 };
	struct fsc_keeper_run run;
	struct fsc_keeper_stats stats;
	int64_t old, was;

	home_open(&h, *state);
	one_round(&h);
	limit(&h, 7, 3, 0);
	old = uploaded(&h, "old");
	wall_jumps(&h, 30 * FSC_DAY_NS);
	for (int i = 0; i < 100; i++) {
		time_passes(&h, HOUR_NS);
		one_round(&h);
	}
	assert_true(is_there(&h, old) && !get_bundle(h.p, old).blob_deleted_at_ns);
	assert_int_equal(trust(&h), FSC_CLOCK_AHEAD);
	assert_fails(h.p, fsc_keeper_pass(h.k, &h.p->a, 1, false, &run, &h.p->err), FSC_EEXIST,
		     "retention_held");
	assert_ok(h.p, fsc_keeper_pass(h.k, &h.p->a, 1, true, &run, &h.p->err));
	assert_true(run.taken.bundles == 1 &&
		    is_there(&h, old)); /* what a confirmation would cost */
	home_restart(&h);		/* no way around it */
	one_round(&h);
	assert_int_equal(trust(&h), FSC_CLOCK_AHEAD);
	assert_true(is_there(&h, old));
	fsc_keeper_stats(h.k, &stats);
	assert_int_equal(stats.trust, FSC_CLOCK_AHEAD);
	assert_ok(h.p, fsc_keeper_confirm_clock(h.k, &was, &h.p->err));
	assert_true(was < fsc_store_now(h.p->s) - 30 * FSC_DAY_NS);
	one_round(&h);
	assert_false(is_there(&h, old));
	home_close(&h);
}

static void a_clock_ahead_still_lets_bytes_be_taken(void **state)
{
	struct home h = { 0 };
	int64_t first, second;

	home_open(&h, *state);
	one_round(&h);
	first = uploaded(&h, "first");
	second = uploaded(&h, "second");
	limit(&h, 1, 0, 20);
	wall_jumps(&h, 30 * FSC_DAY_NS);
	one_round(&h);
	assert_false(is_there(&h, first)); /* for room: 5 + 10 + 6 + 10 bytes */
	assert_true(is_there(&h, second)); /* not for its age */
	home_close(&h);
}

static void small_jumps_change_nothing(void **state)
{
	struct home h = { 0 };
	int64_t b;

	home_open(&h, *state);
	one_round(&h);
	limit(&h, 2, 0, 0);
	b = uploaded(&h, "b");
	wall_jumps(&h, HOUR_NS);
	one_round(&h);
	assert_int_equal(trust(&h), FSC_CLOCK_GOOD);
	wall_jumps(&h, -HOUR_NS);
	one_round(&h);
	assert_int_equal(trust(&h), FSC_CLOCK_BEHIND); /* until the hour has passed again */
	time_passes(&h, HOUR_NS);
	one_round(&h);
	assert_int_equal(trust(&h), FSC_CLOCK_GOOD);
	assert_true(is_there(&h, b));
	home_close(&h);
}

static void a_clock_set_back_deletes_nothing_until_it_has_caught_up(void **state)
{
	struct home h = { 0 };
	struct fsc_keeper_run run;
	int64_t old;

	home_open(&h, *state);
	one_round(&h);
	wall_jumps(&h, -10 * FSC_DAY_NS);
	old = uploaded(&h, "old"); /* received, it says, ten days ago */
	limit(&h, 2, 0, 0);
	days_pass(&h, 9);
	assert_int_equal(trust(&h), FSC_CLOCK_BEHIND);
	assert_true(is_there(&h, old));
	assert_ok(h.p, fsc_keeper_pass(h.k, &h.p->a, 1, false, &run, &h.p->err));
	assert_true(run.taken.bundles == 0 && is_there(&h, old));
	days_pass(&h, 2);
	assert_int_equal(trust(&h), FSC_CLOCK_GOOD);
	assert_false(is_there(&h, old));
	home_close(&h);
}

static void a_long_stop_needs_a_confirmation_and_a_short_one_none(void **state)
{
	struct home h = { 0 };

	home_open(&h, *state);
	one_round(&h);
	wall_jumps(&h, 23 * HOUR_NS);
	home_restart(&h);
	one_round(&h);
	assert_int_equal(trust(&h), FSC_CLOCK_GOOD);
	wall_jumps(&h, 25 * HOUR_NS);
	home_restart(&h);
	one_round(&h);
	assert_int_equal(trust(&h), FSC_CLOCK_AHEAD);
	wall_jumps(&h, -25 * HOUR_NS); /* it was wrong, and is put right */
	one_round(&h);
	assert_int_equal(trust(&h), FSC_CLOCK_GOOD);
	home_close(&h);
}

static void a_pass_beside_another_is_told_to_come_again(void **state)
{
	struct home h = { .ask = true, .answer_err = FSC_ERR_INIT };

	home_open(&h, *state);
	one_round(&h);
	assert_int_equal(h.answer, FSC_EBUSY);
	assert_string_equal(h.answer_err.code, "retention_running");
	home_close(&h);
}

/* That is when limits by bytes are needed most. */
static void a_full_disk_does_not_end_the_rounds(void **state)
{
	struct home h = { 0 };
	struct rlimit keep, small = { 4096, RLIM_INFINITY };
	struct fsc_retention r = { .project = FSC_PROJECT_DEFAULT };

	home_open(&h, *state);
	one_round(&h);
	time_passes(&h, 23 * HOUR_NS); /* what is saved of the clock is old now */
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &keep);
	small.rlim_max = keep.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(fsc_store_retention_put(h.p->s, &r, &h.p->err), FSC_EFULL);
	fsc_err_clear(&h.p->err);
	one_round(&h);
	assert_int_equal(trust(&h), FSC_CLOCK_GOOD);
	setrlimit(RLIMIT_FSIZE, &keep);
	one_round(&h); /* and now it is saved */
	wall_jumps(&h, 23 * HOUR_NS);
	home_restart(&h);
	one_round(&h);
	assert_int_equal(trust(&h), FSC_CLOCK_GOOD);
	home_close(&h);
}

static void a_pass_goes_on_over_many_batches(void **state)
{
	struct home h = { 0 };
	struct fsc_keeper_run run;
	struct fsc_store_stats stats;
	char name[32];

	home_open(&h, *state);
	one_round(&h);
	for (int i = 0; i < 1201; i++) {
		snprintf(name, sizeof(name), "b%d", i);
		put_bundle(h.p, name, name);
	}
	limit(&h, 1, 0, 0);
	time_passes(&h, FSC_DAY_NS);
	time_passes(&h, HOUR_NS);
	assert_ok(h.p, fsc_keeper_pass(h.k, &h.p->a, 1, false, &run, &h.p->err));
	assert_true(run.complete && run.taken.bundles == 1201);
	assert_true(run.n_items == FSC_KEEPER_ITEMS_MAX && run.truncated);
	assert_ok(h.p, fsc_store_stats(h.p->s, &stats, &h.p->err));
	assert_int_equal(stats.bundles[FSC_BUNDLE_QUEUED], 0);
	home_close(&h);
}

static void a_limit_that_was_lifted_takes_nothing_more(void **state)
{
	struct home h = { 0 };
	struct fsc_keeper_run run;
	int64_t old;

	home_open(&h, *state);
	one_round(&h);
	old = uploaded(&h, "old");
	limit(&h, 2, 1, 1);
	time_passes(&h, FSC_DAY_NS);
	time_passes(&h, 2 * FSC_DAY_NS);
	h.lift = true; /* after the pass began, before it takes anything */
	assert_ok(h.p, fsc_keeper_pass(h.k, &h.p->a, 1, false, &run, &h.p->err));
	assert_true(run.taken.bundles == 0 && run.taken.blobs == 0 && run.complete);
	assert_true(is_there(&h, old) && !get_bundle(h.p, old).blob_deleted_at_ns);
	home_close(&h);
}

/* ---- indexing again ---- */

static void index_all(struct home *h, int64_t *order, size_t *n)
{
	struct fsc_store_lease lease;

	while (fsc_queue_lease(h->p->q, "me", FSC_QUEUE_LEASE_NS, &lease, &h->p->err) == FSC_OK) {
		struct fact_list l = { .n = 0 };

		order[(*n)++] = lease.subject;
		fact_trace(&l, "m", 0);
		fact_trace_end(&l);
		fact_end(&l);
		assert_ok(h->p, publish_facts(h->p, lease.subject, &l, &lease, NULL, NULL));
	}
}

static void outdated_bundles_are_queued_a_few_at_a_time_newest_first(void **state)
{
	struct home h = { 0 };
	/* what the facts of this test say is version 1 and 3 */
	struct fsc_reindex_opts o = { .versions = { 1, 4 } };
	struct fsc_reindex_stats stats;
	struct fsc_reindex *r;
	int64_t ids[10], order[40], waiting;
	size_t n = 0;
	char name[16];

	home_open(&h, *state);
	for (int i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "b%d", i);
		ids[i] = uploaded(&h, name);
	}
	o.store = h.p->s;
	o.ingest = h.in;
	r = fsc_reindex_new(&o);
	assert_ok(h.p, fsc_reindex_step(r, &h.p->err));
	assert_ok(h.p, fsc_queue_depth(h.p->q, &waiting, NULL, &h.p->err));
	assert_int_equal(waiting, 4);
	assert_ok(h.p, fsc_reindex_step(r, &h.p->err)); /* not more while these wait */
	assert_ok(h.p, fsc_queue_depth(h.p->q, &waiting, NULL, &h.p->err));
	assert_int_equal(waiting, 4);
	/* This "indexer" makes what is outdated too: each bundle is tried once, not for ever. */
	for (int i = 0; i < 10; i++) {
		index_all(&h, order, &n);
		assert_ok(h.p, fsc_reindex_step(r, &h.p->err));
	}
	assert_int_equal(n, 10);
	for (int i = 0; i < 10; i++) { /* four at a time, and within those the queue's own order */
		bool found = false;

		for (int k = 0; k < 10; k++)
			found |= order[k] == ids[i] && k / 4 == (9 - i) / 4;
		assert_true(found);
	}
	fsc_reindex_stats(r, FSC_PROJECT_DEFAULT, &stats);
	assert_true(stats.queued_bundles == 10 && stats.done_traces == 10 && !stats.failed_traces);
	fsc_reindex_stats(r, 77, &stats);
	assert_true(!stats.queued_bundles);
	fsc_reindex_free(r);
	home_close(&h);
}

static void nothing_is_indexed_again_while_uploads_wait(void **state)
{
	struct home h = { 0 };
	struct fsc_reindex_opts o = { .versions = { 1, 4 } };
	struct fsc_reindex *r;
	int64_t waiting;

	home_open(&h, *state);
	uploaded(&h, "old");
	put_bundle(h.p, "new", "new");
	o.store = h.p->s;
	o.ingest = h.in;
	r = fsc_reindex_new(&o);
	assert_ok(h.p, fsc_reindex_step(r, &h.p->err));
	assert_ok(h.p, fsc_queue_depth(h.p->q, &waiting, NULL, &h.p->err));
	assert_int_equal(waiting, 1);
	fsc_reindex_free(r);
	home_close(&h);
}

static void what_is_asked_for_is_queued_once(void **state)
{
	struct home h = { 0 };
	struct fsc_reindex *r;
	struct fsc_reindex_progress progress;
	struct fsc_trace_row row = { .project = FSC_PROJECT_DEFAULT };
	int64_t order[4];
	size_t n = 0;

	home_open(&h, *state);
	row.bundle = uploaded(&h, "b");
	r = fsc_reindex_new(&(struct fsc_reindex_opts){ .store = h.p->s, .ingest = h.in });
	for (int i = 0; i < 3; i++) {
		assert_fails(h.p, fsc_reindex_want(r, &row, &progress, &h.p->err), FSC_EBUSY,
			     "reindexing");
		assert_int_equal(progress.state, FSC_BUNDLE_QUEUED);
	}
	index_all(&h, order, &n);
	assert_int_equal(n, 1);
	/* it is as unreadable as before: another time would not help */
	assert_fails(h.p, fsc_reindex_want(r, &row, &progress, &h.p->err), FSC_EUNSUPPORTED,
		     "reindex_failed");
	index_all(&h, order, &n);
	assert_int_equal(n, 1);
	fsc_reindex_free(r);
	home_close(&h);
}

static void the_thread_makes_rounds_and_stops(void **state)
{
	struct home h = { 0 };
	struct fsc_keeper_stats stats = { 0 };

	home_open(&h, *state);
	assert_ok(h.p, fsc_keeper_start(h.k, &h.p->err));
	for (int i = 0; i < 500 && !stats.rounds; i++) {
		usleep(20000);
		fsc_keeper_stats(h.k, &stats);
	}
	assert_true(stats.rounds > 0 && !stats.failures);
	home_close(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		contract_test(age_takes_bundles_with_files_and_says_so),
		contract_test(bytes_of_uploads_go_while_their_traces_stay),
		contract_test(a_clock_a_day_ahead_deletes_nothing_by_age_until_confirmed),
		contract_test(a_clock_ahead_still_lets_bytes_be_taken),
		contract_test(a_pass_beside_another_is_told_to_come_again),
		contract_test(small_jumps_change_nothing),
		contract_test(a_clock_set_back_deletes_nothing_until_it_has_caught_up),
		contract_test(a_long_stop_needs_a_confirmation_and_a_short_one_none),
		contract_test(a_full_disk_does_not_end_the_rounds),
		contract_test(a_pass_goes_on_over_many_batches),
		contract_test(a_limit_that_was_lifted_takes_nothing_more),
		contract_test(outdated_bundles_are_queued_a_few_at_a_time_newest_first),
		contract_test(nothing_is_indexed_again_while_uploads_wait),
		contract_test(what_is_asked_for_is_queued_once),
		contract_test(the_thread_makes_rounds_and_stops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
