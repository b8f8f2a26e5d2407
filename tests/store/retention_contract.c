/* SPDX-License-Identifier: Apache-2.0 */
/* Contract of store/retention.h. Included by one test program per implementation, see contract.h. */
#include "tests/store/contract.h"

#include <sqlite3.h>

#include "store/retention.h"

/* Segments of publish_facts have this size, traces of fact_trace_end these versions. */
#define SEGMENT_BYTES 10
static const struct fsc_versions same = { 1, 3 };

static void days_pass(struct place *p, int64_t days)
{
	atomic_fetch_add(&p->clock_off_ns, days * FSC_DAY_NS);
}

/* Writes what no call of this header writes. */
static void by_hand(struct place *p, const char *sql)
{
	sqlite3 *h = NULL;

	assert_int_equal(sqlite3_open(p->store_url + strlen("sqlite:"), &h), SQLITE_OK);
	assert_int_equal(sqlite3_exec(h, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(h);
}

static void keep(struct place *p, int64_t bundle)
{
	char sql[200];

	snprintf(sql, sizeof(sql),
		 "INSERT INTO trace_keep (trace, project, actor, at) "
		 "SELECT MIN(id), project, 'cli', 0 FROM trace WHERE bundle = %lld",
		 (long long)bundle);
	by_hand(p, sql);
}

static int64_t queued(struct place *p, int64_t project, const char *name, int64_t bytes)
{
	struct fsc_bundle_new n = new_bundle(name, name);
	struct fsc_bundle_put out;

	n.project = project;
	n.bytes = bytes;
	assert_ok(p, fsc_store_bundle_put(p->s, &n, &out, &p->err));
	return out.id;
}

/* Publishes n traces (0: the bundle fails). */
static void publish_n(struct place *p, int64_t bundle, int n)
{
	static const char *const members[] = { "a", "b", "c" };
	struct fact_list l = { .n = 0 };
	struct fsc_store_lease lease;

	assert_ok(p, fsc_queue_lease(p->q, "me", FSC_QUEUE_LEASE_NS, &lease, &p->err));
	assert_true(lease.subject == bundle);
	for (int i = 0; i < n; i++) {
		fact_trace(&l, members[i], i);
		fact_trace_end(&l);
	}
	fact_end(&l);
	assert_ok(p, publish_facts(p, bundle, &l, &lease, NULL, NULL));
}

static int64_t bundle_of(struct place *p, const char *name, int64_t bytes, int n_traces)
{
	int64_t id = queued(p, FSC_PROJECT_DEFAULT, name, bytes);

	publish_n(p, id, n_traces);
	return id;
}

static struct fsc_retention_plan plan_of(struct place *p, int64_t age, int64_t blob_age,
					 int64_t max_bytes, bool by_age)
{
	struct fsc_retention_query q = { .limits = { .project = FSC_PROJECT_DEFAULT,
						     .max_age_days = age,
						     .blob_age_days = blob_age,
						     .max_bytes = max_bytes },
					 .now_ns = fsc_store_now(p->s),
					 .by_age = by_age,
					 .max_items = 100 };
	struct fsc_retention_plan plan;

	assert_ok(p, fsc_store_retention_plan(p->s, &p->a, &q, &plan, &p->err));
	return plan;
}

static void assert_item(const struct fsc_retention_plan *plan, size_t i, enum fsc_retention_why why,
			int64_t bundle)
{
	assert_true(i < plan->n_items);
	assert_int_equal(plan->items[i].why, why);
	assert_true(plan->items[i].bundle == bundle);
}

static void limits_belong_to_their_project_and_are_checked(void **state)
{
	struct place *p = *state;
	struct fsc_retention r = { .project = FSC_PROJECT_DEFAULT, .max_age_days = 7 }, back;
	struct fsc_retentions all;
	int64_t other;

	assert_ok(p, fsc_store_retention_get(p->s, FSC_PROJECT_DEFAULT, &back, &p->err));
	assert_true(!back.max_age_days && !back.max_bytes && !back.updated_at_ns);
	assert_ok(p, fsc_store_retention_put(p->s, &r, &p->err));
	r.max_bytes = 1000;
	assert_ok(p, fsc_store_retention_put(p->s, &r, &p->err));
	assert_ok(p, fsc_store_retention_get(p->s, FSC_PROJECT_DEFAULT, &back, &p->err));
	assert_true(back.max_age_days == 7 && back.max_bytes == 1000 && back.updated_at_ns > 0);
	assert_ok(p, fsc_store_project_put(p->s, "other", &other, &p->err));
	assert_ok(p, fsc_store_retention_get(p->s, other, &back, &p->err));
	assert_true(!back.max_age_days && !back.max_bytes);
	back.project = other; /* set, but to nothing */
	assert_ok(p, fsc_store_retention_put(p->s, &back, &p->err));
	assert_ok(p, fsc_store_retention_list(p->s, &p->a, &all, &p->err));
	assert_int_equal(all.n_items, 1);
	assert_true(all.items[0].project == FSC_PROJECT_DEFAULT);
	r.max_age_days = -1;
	assert_fails(p, fsc_store_retention_put(p->s, &r, &p->err), FSC_EINVAL, "retention");
	r.max_age_days = FSC_RETENTION_DAYS_MAX + 1;
	assert_fails(p, fsc_store_retention_put(p->s, &r, &p->err), FSC_EINVAL, "retention");
}

static void storage_adds_up_by_job_and_by_age(void **state)
{
	struct place *p = *state;
	struct fsc_storage o;
	int64_t old = bundle_of(p, "old", 1000, 2), other;
	int64_t sum_job = 0, sum_age = 0;

	days_pass(p, 8);
	for (int i = 0; i < FSC_STORAGE_JOBS + 3; i++) {
		char name[32];
		struct fsc_bundle_new n;
		struct fsc_bundle_put out;

		snprintf(name, sizeof(name), "job-%02d", i);
		n = new_bundle(name, name);
		n.job = name;
		n.bytes = 10 + i;
		assert_ok(p, fsc_store_bundle_put(p->s, &n, &out, &p->err));
	}
	assert_ok(p, fsc_store_project_put(p->s, "other", &other, &p->err));
	queued(p, other, "old", 1000); /* the same bytes, of another */
	keep(p, old);
	assert_ok(p, fsc_store_storage(p->s, &p->a, FSC_PROJECT_DEFAULT, &same, &o, &p->err));
	assert_int_equal(o.bundles, FSC_STORAGE_JOBS + 4);
	assert_int_equal(o.traces, 2);
	assert_int_equal(o.kept_traces, 1);
	assert_int_equal(o.segment_bytes, 2 * SEGMENT_BYTES);
	assert_int_equal(o.blob_bytes, 1000 + 53 * 10 + 53 * 52 / 2);
	assert_true(o.database_bytes > 0);
	assert_true(o.oldest_received_at_ns == get_bundle(p, old).received_at_ns);
	assert_int_equal(o.n_by_job, FSC_STORAGE_JOBS);
	assert_int_equal(o.n_jobs_rest, 4);
	assert_null(o.by_job[0].job); /* most bytes first */
	assert_true(o.by_job[0].bytes == 1000 + 2 * SEGMENT_BYTES && o.by_job[0].traces == 2);
	assert_string_equal(o.by_job[1].job, "job-52");
	for (size_t i = 0; i < o.n_by_job; i++)
		sum_job += o.by_job[i].bytes;
	for (size_t i = 0; i < FSC_STORAGE_AGES; i++)
		sum_age += o.by_age[i].bytes;
	assert_true(sum_job + o.by_job_rest.bytes == o.blob_bytes + o.segment_bytes);
	assert_true(sum_age == o.blob_bytes + o.segment_bytes);
	assert_true(o.by_age[0].bundles == FSC_STORAGE_JOBS + 3 && o.by_age[2].bundles == 1);
	assert_ok(p, fsc_store_storage(p->s, &p->a, other, &same, &o, &p->err));
	assert_true(o.bundles == 1 && o.blob_bytes == 1000 && !o.traces && !o.kept_traces);
}

static void age_takes_the_old_and_passes_over_the_kept(void **state)
{
	struct place *p = *state;
	int64_t first = bundle_of(p, "first", 100, 2), kept = bundle_of(p, "kept", 100, 3);
	int64_t waiting = queued(p, FSC_PROJECT_DEFAULT, "waiting", 50);
	struct fsc_retention_plan plan;

	keep(p, kept);
	days_pass(p, 10);
	bundle_of(p, "waiting", 50, 1); /* the queue gives the oldest first */
	bundle_of(p, "young", 100, 1);
	plan = plan_of(p, 11, 0, 0, true);
	assert_int_equal(plan.n_items + (size_t)plan.kept, 0);
	plan = plan_of(p, 9, 0, 0, true);
	assert_int_equal(plan.n_items, 2);
	assert_item(&plan, 0, FSC_RETENTION_AGE, first);
	assert_item(&plan, 1, FSC_RETENTION_AGE, waiting);
	assert_string_equal(plan.items[0].name, "first");
	assert_true(plan.bundles == 2 && plan.traces == 3 && plan.bundle_blob_bytes == 150 &&
		    plan.segment_bytes == 3 * SEGMENT_BYTES && plan.kept == 1 && !plan.blobs);
	/* a clock that nobody trusts takes nothing by age */
	plan = plan_of(p, 9, 1, 0, false);
	assert_int_equal(plan.n_items, 0);
}

static void a_bundle_from_the_future_is_not_old(void **state)
{
	struct place *p = *state;
	struct fsc_retention_plan plan;

	days_pass(p, 400);
	bundle_of(p, "future", 100, 1);
	days_pass(p, -400);
	plan = plan_of(p, 1, 1, 0, true);
	assert_int_equal(plan.n_items, 0);
}

static void bytes_take_what_came_first_whatever_the_clock_said(void **state)
{
	struct place *p = *state;
	int64_t first, second, kept, last;
	struct fsc_retention_plan plan;

	days_pass(p, 20); /* the clock is ahead, and put right later */
	first = bundle_of(p, "first", 100, 1);
	days_pass(p, -20);
	second = bundle_of(p, "second", 100, 1);
	kept = bundle_of(p, "kept", 100, 1);
	last = bundle_of(p, "last", 100, 1);
	keep(p, kept);
	plan = plan_of(p, 0, 0, 440, true); /* 4 x (100 + 10): exactly so much */
	assert_int_equal(plan.n_items, 0);
	plan = plan_of(p, 0, 0, 439, true);
	assert_int_equal(plan.n_items, 1);
	assert_item(&plan, 0, FSC_RETENTION_BYTES, first);
	plan = plan_of(p, 0, 0, 120, false); /* by bytes without trust in the clock too */
	assert_int_equal(plan.n_items, 3);
	assert_item(&plan, 1, FSC_RETENTION_BYTES, second);
	assert_item(&plan, 2, FSC_RETENTION_BYTES, last);
	assert_true(plan.kept == 1 && plan.over_bytes == 0);
	plan = plan_of(p, 0, 0, 1, true);
	assert_true(plan.n_items == 3 && plan.over_bytes == 109); /* what is kept is too much */
}

static void bytes_count_after_age_and_leave_what_is_in_work(void **state)
{
	struct place *p = *state;
	int64_t old = bundle_of(p, "old", 1000, 1), young, busy;
	struct fsc_retention_plan plan;

	days_pass(p, 10);
	young = bundle_of(p, "young", 100, 1);
	plan = plan_of(p, 9, 0, 110, true);
	assert_int_equal(plan.n_items, 1); /* without the old it is little enough */
	assert_item(&plan, 0, FSC_RETENTION_AGE, old);
	plan = plan_of(p, 0, 9, 130, true); /* without the bytes of the old too */
	assert_int_equal(plan.n_items, 1);
	assert_item(&plan, 0, FSC_RETENTION_BLOB, old);
	assert_true(plan.blobs == 1 && plan.blob_bytes == 1000 && !plan.bundles);
	plan = plan_of(p, 0, 9, 115, true); /* not quite: then it goes whole */
	assert_int_equal(plan.n_items, 1);
	assert_item(&plan, 0, FSC_RETENTION_BYTES, old);
	assert_true(plan.bundle_blob_bytes == 1000 && plan.segment_bytes == SEGMENT_BYTES);
	busy = queued(p, FSC_PROJECT_DEFAULT, "busy", 500);
	plan = plan_of(p, 0, 0, 1, true);
	assert_int_equal(plan.n_items, 2);
	assert_item(&plan, 1, FSC_RETENTION_BYTES, young);
	assert_true(plan.over_bytes == 499 && busy > young);
}

static void a_plan_lists_no_more_than_asked_for_but_sums_all(void **state)
{
	struct place *p = *state;
	struct fsc_retention_query q = {
		.limits = { .project = FSC_PROJECT_DEFAULT, .max_bytes = 1 }, .max_items = 2
	};
	struct fsc_retention_plan plan;

	for (int i = 0; i < 5; i++)
		bundle_of(p, (const char[]){ (char)('a' + i), 0 }, 10, 1);
	assert_ok(p, fsc_store_retention_plan(p->s, &p->a, &q, &plan, &p->err));
	assert_int_equal(plan.n_items, 2);
	assert_true(plan.bundles == 5 && plan.bundle_blob_bytes == 50);
}

static void bytes_of_an_upload_go_and_come_back(void **state)
{
	struct place *p = *state;
	int64_t id = bundle_of(p, "a", 100, 1), other, twin;
	struct fsc_bundle_new n = new_bundle("a", "a");
	struct fsc_blob_release out;
	struct fsc_bundle_put put;
	struct fsc_store_stats stats;
	bool yes;

	assert_ok(p, fsc_store_project_put(p->s, "other", &other, &p->err));
	twin = queued(p, other, "a", 100);
	assert_fails(p, fsc_store_blob_release(p->s, other, id, &out, &p->err), FSC_ENOTFOUND,
		     "not_found");
	assert_fails(p, fsc_store_blob_release(p->s, other, twin, &out, &p->err), FSC_EBUSY,
		     "bundle_indexing");
	assert_ok(p, fsc_store_blob_release(p->s, 1, id, &out, &p->err));
	assert_true(!out.blob_free && out.bytes == 100);
	assert_memory_equal(out.sha256, n.sha256, sizeof(out.sha256));
	assert_true(get_bundle(p, id).blob_deleted_at_ns > 0);
	assert_int_equal(get_bundle(p, id).n_traces, 1);
	assert_fails(p, fsc_store_bundle_reindex(p->s, 1, id, &p->err), FSC_ENOTFOUND, "blob_gone");
	assert_fails(p, fsc_store_blob_release(p->s, 1, id, &out, &p->err), FSC_ENOTFOUND,
		     "blob_gone");
	publish_n(p, twin, 1);
	assert_ok(p, fsc_store_blob_release(p->s, other, twin, &out, &p->err));
	assert_true(out.blob_free); /* nobody else has them */
	assert_ok(p, fsc_store_blob_referenced(p->s, n.sha256, &yes, &p->err));
	assert_false(yes);
	assert_ok(p, fsc_store_stats(p->s, &stats, &p->err));
	assert_int_equal(stats.blob_bytes, 0);
	n.bytes = 100;
	assert_ok(p, fsc_store_bundle_put(p->s, &n, &put, &p->err));
	assert_true(put.duplicate && put.restored && !put.requeued && put.id == id);
	assert_int_equal(put.state, FSC_BUNDLE_READY);
	assert_true(get_bundle(p, id).blob_deleted_at_ns == 0);
	assert_ok(p, fsc_store_blob_referenced(p->s, n.sha256, &yes, &p->err));
	assert_true(yes);
	keep(p, id);
	assert_fails(p, fsc_store_blob_release(p->s, 1, id, &out, &p->err), FSC_EEXIST, "kept");
}

static void a_failed_bundle_gets_another_chance_with_its_bytes(void **state)
{
	struct place *p = *state;
	int64_t id = bundle_of(p, "bad", 100, 0);
	struct fsc_bundle_new n = new_bundle("bad", "bad");
	struct fsc_bundle_put put;

	assert_int_equal(get_bundle(p, id).state, FSC_BUNDLE_FAILED);
	assert_ok(p, fsc_store_bundle_put(p->s, &n, &put, &p->err));
	assert_true(put.duplicate && put.requeued && put.id == id);
	assert_int_equal(put.state, FSC_BUNDLE_QUEUED);
	assert_int_equal(get_bundle(p, id).state, FSC_BUNDLE_QUEUED);
	assert_ok(p, fsc_store_bundle_put(p->s, &n, &put, &p->err));
	assert_false(put.requeued); /* it waits already */
	publish_n(p, id, 1);
	assert_int_equal(get_bundle(p, id).state, FSC_BUNDLE_READY);
}

static void what_an_older_version_made_is_counted_and_picked_newest_first(void **state)
{
	struct place *p = *state;
	const struct fsc_versions newer = { 1, 4 }, newest = { 2, 3 };
	int64_t a = bundle_of(p, "a", 10, 2), b = bundle_of(p, "b", 10, 1), c, d;
	struct fsc_outdated_bundle got[3];
	struct fsc_blob_release gone;
	struct fsc_outdated o;
	size_t n;

	c = bundle_of(p, "c", 10, 1);
	d = bundle_of(p, "d", 10, 3);
	assert_ok(p, fsc_store_outdated(p->s, 0, &same, &o, &p->err));
	assert_int_equal(o.traces, 0);
	assert_ok(p, fsc_store_outdated_pick(p->s, &same, INT64_MAX, got, 3, &n, &p->err));
	assert_int_equal(n, 0);
	assert_ok(p, fsc_store_blob_release(p->s, 1, b, &gone, &p->err));
	assert_ok(p, fsc_store_bundle_reindex(p->s, 1, d, &p->err));
	assert_ok(p, fsc_store_outdated(p->s, FSC_PROJECT_DEFAULT, &newer, &o, &p->err));
	assert_true(o.traces == 7 && o.not_rebuildable == 1 && o.waiting == 3 && !o.running);
	assert_ok(p, fsc_store_outdated_pick(p->s, &newest, INT64_MAX, got, 3, &n, &p->err));
	assert_int_equal(n, 2); /* not what waits already, nor what cannot be made again */
	assert_true(got[0].bundle == c && got[1].bundle == a && got[1].traces == 2);
	assert_ok(p, fsc_store_outdated_pick(p->s, &newest, c, got, 3, &n, &p->err));
	assert_true(n == 1 && got[0].bundle == a);
	assert_ok(p, fsc_store_outdated_pick(p->s, &newest, INT64_MAX, got, 1, &n, &p->err));
	assert_true(n == 1 && got[0].bundle == c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		contract_test(limits_belong_to_their_project_and_are_checked),
		contract_test(storage_adds_up_by_job_and_by_age),
		contract_test(age_takes_the_old_and_passes_over_the_kept),
		contract_test(a_bundle_from_the_future_is_not_old),
		contract_test(bytes_take_what_came_first_whatever_the_clock_said),
		contract_test(bytes_count_after_age_and_leave_what_is_in_work),
		contract_test(a_plan_lists_no_more_than_asked_for_but_sums_all),
		contract_test(bytes_of_an_upload_go_and_come_back),
		contract_test(a_failed_bundle_gets_another_chance_with_its_bytes),
		contract_test(what_an_older_version_made_is_counted_and_picked_newest_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
