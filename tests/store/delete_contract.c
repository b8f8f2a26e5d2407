/* SPDX-License-Identifier: Apache-2.0 */
/* What every store must do when bundles and traces are deleted. Included, see contract.h. */
#include "tests/store/contract.h"

/* A bundle with traces of these members, each of `job`. */
static int64_t bundle_of(struct place *p, const char *content, const char *job,
			 const char *const *members, size_t n, int64_t *ids)
{
	struct fact_list l = { .n = 0 };
	int64_t bundle = put_bundle(p, content, content);

	for (size_t i = 0; i < n; i++) {
		fact_trace(&l, members[i], (int64_t)i)->job = job;
		fact_kernel(&l, "gemm", 2, 10);
		fact_trace_end(&l);
	}
	fact_end(&l);
	assert_ok(p, publish_facts(p, bundle, &l, NULL, ids, NULL));
	return bundle;
}

static enum fsc_status publish_again(struct place *p, int64_t bundle, const char *const *members,
				     size_t n, int64_t *ids, struct fsc_published *out)
{
	struct fact_list l = { .n = 0 };

	for (size_t i = 0; i < n; i++) {
		fact_trace(&l, members[i], (int64_t)i);
		fact_kernel(&l, "gemm", 2, 10);
		fact_trace_end(&l);
	}
	fact_end(&l);
	return publish_facts(p, bundle, &l, NULL, ids, out);
}

static enum fsc_status delete_one(struct place *p, int64_t bundle, int64_t trace,
				  struct fsc_bundle_deleted *gone)
{
	const struct fsc_delete_request req = { .project = 1,
						.bundle = bundle,
						.trace = trace,
						.actor = "token:7",
						.detail = "a test" };

	return fsc_store_delete(p->s, &p->a, &req, gone, &p->err);
}

static struct fsc_tombstone tombstone(struct place *p, bool is_bundle, int64_t id)
{
	struct fsc_tombstone t;

	assert_ok(p, fsc_store_tombstone_get(p->s, &p->a, 1, is_bundle, id, &t, &p->err));
	return t;
}

static bool has_trace(struct place *p, int64_t id)
{
	struct fsc_trace_row t;

	return fsc_store_trace_get(p->s, &p->a, 1, id, &t, NULL) == FSC_OK;
}

static const char *const ab[] = { "a.json", "b.json" };

static void a_deleted_bundle_leaves_tombstones_of_itself_and_its_traces(void **state)
{
	struct place *p = *state;
	int64_t other, ids[2], bundle = bundle_of(p, "abc", "j", ab, 2, ids);
	int64_t before = fsc_clock_real_ns();
	struct fsc_bundle_deleted gone;
	struct fsc_tombstone t;

	assert_ok(p, delete_one(p, bundle, 0, &gone));
	assert_true(gone.bundles == 1 && gone.traces == 2 && gone.n_segments == 2);
	assert_true(gone.n_blobs == 1 && gone.blob_bytes == 3 && gone.segment_bytes == 20);
	t = tombstone(p, true, bundle);
	assert_true(t.is_bundle && t.id == bundle && t.bundle == bundle);
	assert_string_equal(t.name, "abc");
	assert_string_equal(t.actor, "token:7");
	assert_string_equal(t.detail, "a test");
	assert_int_equal(t.reason, FSC_DELETE_USER);
	assert_true(t.deleted_at_ns >= before && t.deleted_at_ns <= fsc_clock_real_ns());
	t = tombstone(p, false, ids[1]);
	assert_true(!t.is_bundle && t.bundle == bundle);
	assert_string_equal(t.name, "b.json");
	assert_string_equal(t.member, "b.json");
	/* of the right kind only, and in the own project only */
	assert_fails(p, fsc_store_tombstone_get(p->s, &p->a, 1, false, bundle, &t, &p->err),
		     FSC_ENOTFOUND, "not_found");
	assert_ok(p, fsc_store_project_put(p->s, "other", &other, &p->err));
	assert_fails(p, fsc_store_tombstone_get(p->s, &p->a, other, true, bundle, &t, &p->err),
		     FSC_ENOTFOUND, "not_found");
	assert_fails(p, delete_one(p, bundle, 0, &gone), FSC_ENOTFOUND, "not_found");
	/* the same bytes are a new bundle */
	assert_true(put_bundle(p, "abc", "abc") != bundle);
}

static void a_deleted_trace_does_not_come_back_by_indexing(void **state)
{
	struct place *p = *state;
	int64_t ids[2], again[2], bundle = bundle_of(p, "abc", "j", ab, 2, ids);
	struct fsc_bundle_deleted gone;
	struct fsc_published out;
	struct fsc_bundle b;

	assert_ok(p, delete_one(p, 0, ids[0], &gone));
	assert_true(gone.bundles == 0 && gone.traces == 1 && gone.n_segments == 1);
	assert_int_equal(gone.n_blobs, 0);
	b = get_bundle(p, bundle);
	assert_true(b.n_traces == 1 && b.deleted_traces == 1);
	assert_ok(p, publish_again(p, bundle, ab, 2, again, &out));
	assert_int_equal(out.state, FSC_BUNDLE_READY);
	assert_int_equal(out.n_removed, 2); /* what b had, and what a would have had */
	assert_true(again[1] == ids[1] && has_trace(p, ids[1]));
	assert_false(has_trace(p, ids[0]) || has_trace(p, again[0]));
	b = get_bundle(p, bundle);
	assert_true(b.n_traces == 1 && b.deleted_traces == 1);
	assert_int_equal(tombstone(p, false, ids[0]).reason, FSC_DELETE_USER);
	/* nothing else is left in it: it says so, and does not claim to be empty */
	assert_ok(p, publish_again(p, bundle, ab, 1, NULL, &out));
	assert_int_equal(out.state, FSC_BUNDLE_FAILED);
	assert_string_equal(out.why.code, "traces_deleted");
}

static void the_last_trace_takes_its_bundle_along(void **state)
{
	struct place *p = *state;
	int64_t ids[2], bundle = bundle_of(p, "abc", "j", ab, 2, ids);
	struct fsc_bundle_deleted gone;
	struct fsc_bundle b;

	assert_ok(p, delete_one(p, 0, ids[0], &gone));
	assert_ok(p, delete_one(p, 0, ids[1], &gone));
	assert_true(gone.bundles == 1 && gone.traces == 1 && gone.n_blobs == 1);
	assert_fails(p, fsc_store_bundle_get(p->s, &p->a, 1, bundle, &b, &p->err), FSC_ENOTFOUND,
		     "not_found");
	assert_true(tombstone(p, true, bundle).is_bundle);
	assert_int_equal(tombstone(p, false, ids[0]).bundle, bundle);
	assert_int_equal(tombstone(p, false, ids[1]).bundle, bundle);
}

static void a_trace_that_indexing_does_not_find_any_more_comes_back_under_its_id(void **state)
{
	struct place *p = *state;
	int64_t ids[2], again[2], bundle = bundle_of(p, "abc", "j", ab, 2, ids);
	struct fsc_tombstone t;

	assert_ok(p, publish_again(p, bundle, ab, 1, NULL, NULL));
	t = tombstone(p, false, ids[1]);
	assert_int_equal(t.reason, FSC_DELETE_REINDEX);
	assert_string_equal(t.actor, "server");
	assert_int_equal(get_bundle(p, bundle).deleted_traces, 0);
	assert_ok(p, publish_again(p, bundle, ab, 2, again, NULL));
	assert_true(again[1] == ids[1] && has_trace(p, ids[1]));
	assert_fails(p, fsc_store_tombstone_get(p->s, &p->a, 1, false, ids[1], &t, &p->err),
		     FSC_ENOTFOUND, "not_found");
}

static void indexing_again_that_finds_nothing_leaves_what_was_there(void **state)
{
	struct place *p = *state;
	int64_t ids[2], bundle = bundle_of(p, "abc", "j", ab, 2, ids);
	struct fsc_kernel_query q = { .trace = ids[0] };
	struct fsc_kernel_page kernels;
	struct fact_list l = { .n = 0 };
	struct fsc_published out;
	struct fsc_bundle b;

	fact_member(&l, "a.json", "failed", "json_depth");
	fact_end(&l);
	assert_ok(p, publish_facts(p, bundle, &l, NULL, NULL, &out));
	assert_int_equal(out.state, FSC_BUNDLE_FAILED);
	assert_string_equal(out.why.code, "json_depth");
	assert_int_equal(out.n_removed, 0);
	assert_true(has_trace(p, ids[0]) && has_trace(p, ids[1]));
	assert_ok(p, fsc_store_trace_kernels(p->s, &p->a, &q, &kernels, &p->err));
	assert_int_equal(kernels.total, 1);
	b = get_bundle(p, bundle);
	assert_true(b.state == FSC_BUNDLE_FAILED && b.n_traces == 2 && b.n_failures == 1);
	assert_string_equal(b.err_code, "json_depth");
	/* and the next one that works replaces it */
	assert_ok(p, publish_again(p, bundle, ab, 2, NULL, &out));
	assert_int_equal(out.state, FSC_BUNDLE_READY);
	assert_int_equal(out.n_removed, 2);
	assert_null(get_bundle(p, bundle).err_code);
}

/* What links and notes hang on is the id of a trace. */
static void ids_follow_the_members_in_whatever_order_they_come(void **state)
{
	struct place *p = *state;
	const char *const ba[] = { "b.json", "a.json" }, *const cba[] = { "c.json", "b.json",
									  "a.json" };
	int64_t ids[2], again[3], bundle = bundle_of(p, "abc", "j", ab, 2, ids);

	assert_ok(p, publish_again(p, bundle, ba, 2, again, NULL));
	assert_true(again[0] == ids[1] && again[1] == ids[0]);
	assert_ok(p, publish_again(p, bundle, cba, 3, again, NULL));
	assert_true(again[1] == ids[1] && again[2] == ids[0]);
	assert_true(has_trace(p, ids[0]) && has_trace(p, ids[1]) && has_trace(p, again[0]));
}

static void a_delete_takes_the_lease_of_whoever_is_indexing(void **state)
{
	struct place *p = *state;
	int64_t bundle = put_bundle(p, "abc", "x");
	struct fact_list l = { .n = 0 };
	struct fsc_store_lease lease;
	struct fsc_bundle_deleted gone;
	struct fsc_store_stats stats;

	assert_ok(p, fsc_queue_lease(p->q, "w", FSC_QUEUE_LEASE_NS, &lease, &p->err));
	assert_ok(p, delete_one(p, bundle, 0, &gone));
	fact_trace(&l, "a", 0);
	fact_trace_end(&l);
	fact_end(&l);
	assert_int_equal(publish_facts(p, bundle, &l, &lease, NULL, NULL), FSC_ENOTFOUND);
	assert_fails(p, fsc_queue_heartbeat(p->q, &lease, FSC_QUEUE_LEASE_NS, &p->err),
		     FSC_ECANCELED, "lease_lost");
	assert_ok(p, fsc_store_stats(p->s, &stats, &p->err));
	assert_true(stats.traces == 0 && stats.jobs_waiting == 0 && stats.jobs_running == 0);
}

static void a_trace_deleted_while_its_bundle_is_indexed_stays_deleted(void **state)
{
	struct place *p = *state;
	int64_t ids[2], again[2], bundle = bundle_of(p, "abc", "j", ab, 2, ids);
	struct fsc_publish_trace given[2];
	struct fact_list l = { .n = 0 };
	struct fsc_bundle_deleted gone;
	struct fsc_store_lease lease;
	struct fsc_publish in = { .bundle = bundle,
				  .lease = &lease,
				  .traces = given,
				  .n_traces = 2,
				  .next = fact_next,
				  .ctx = &l };
	struct fsc_published out;
	bool known;

	assert_ok(p, fsc_store_bundle_reindex(p->s, 1, bundle, &p->err));
	/* the worker knows both before one of them is deleted */
	assert_ok(p, fsc_queue_lease(p->q, "w", FSC_QUEUE_LEASE_NS, &lease, &p->err));
	for (size_t i = 0; i < 2; i++) {
		assert_ok(p,
			  fsc_store_trace_id(p->s, bundle, ab[i], 0, &again[i], &known, &p->err));
		assert_true(known && again[i] == ids[i]);
		given[i] = (struct fsc_publish_trace){ again[i], fsc_store_new_id(p->s), 10 };
		fact_trace(&l, ab[i], (int64_t)i);
		fact_trace_end(&l);
	}
	fact_end(&l);
	assert_ok(p, delete_one(p, 0, ids[0], &gone));
	assert_ok(p, fsc_store_publish(p->s, &p->a, &in, &out, &p->err));
	assert_false(has_trace(p, ids[0]));
	assert_true(has_trace(p, ids[1]));
	/* the new segment of the deleted one, and the old one of the other */
	assert_int_equal(out.n_removed, 2);
	assert_int_equal(out.removed[0], given[0].segment);
}

static struct fsc_delete_plan plan(struct place *p, struct fsc_delete_target t)
{
	struct fsc_delete_plan out;

	t.project = 1;
	assert_ok(p, fsc_store_delete_plan(p->s, &p->a, &t, &out, &p->err));
	return out;
}

static void a_plan_says_what_a_delete_then_does(void **state)
{
	struct place *p = *state;
	const struct fsc_delete_request req = { .project = 1, .actor = "a" };
	const char *const one[] = { "c.json" };
	int64_t ids[2], mixed[2], single, other;
	int64_t bundle = bundle_of(p, "abc", "j", ab, 2, ids);
	int64_t queued, mix = put_bundle(p, "mixed", "mixed");
	struct fsc_bundle_new n = new_bundle("waits", "waits");
	struct fact_list l = { .n = 0 };
	struct fsc_bundle_deleted gone;
	struct fsc_bundle_put put;
	struct fsc_delete_plan pl;

	n.job = "j";
	assert_ok(p, fsc_store_bundle_put(p->s, &n, &put, &p->err));
	queued = put.id;
	fact_trace(&l, "d.json", 0)->job = "j";
	fact_trace_end(&l);
	fact_trace(&l, "e.json", 1)->job = "k";
	fact_trace_end(&l);
	fact_end(&l);
	assert_ok(p, publish_facts(p, mix, &l, NULL, mixed, NULL));
	(void)bundle_of(p, "other", "k", one, 1, &single);
	/* another project has the same bytes as the first bundle */
	assert_ok(p, fsc_store_project_put(p->s, "other", &other, &p->err));
	n = new_bundle("abc", "abc");
	n.project = other;
	n.job = "j";
	assert_ok(p, fsc_store_bundle_put(p->s, &n, &put, &p->err));

	pl = plan(p, (struct fsc_delete_target){ .job = "j" });
	assert_true(pl.bundles == 2 && pl.traces == 3 && pl.kept == 0 && !pl.truncated);
	assert_true(pl.n_units == 3 && pl.n_items == 3);
	/* "waits" and "abc": that another project has "abc" too must not show */
	assert_int_equal(pl.blob_bytes, 8);
	assert_int_equal(pl.segment_bytes, 30);
	assert_true(pl.items[0].bundle == bundle && pl.items[0].trace == 0);
	assert_int_equal(pl.items[0].bytes, 23);
	assert_true(pl.items[1].bundle == mix && pl.items[1].trace == mixed[0]);
	assert_string_equal(pl.items[1].name, "d.json");
	assert_int_equal(pl.items[2].bundle, queued);

	assert_ok(p, fsc_store_delete_some(p->s, &p->a, &req, pl.units, pl.n_units, 1000000000,
					   &gone, &p->err));
	assert_true(gone.n_units == 3 && gone.bundles == pl.bundles && gone.traces == pl.traces);
	assert_true(gone.blob_bytes == pl.blob_bytes && gone.segment_bytes == pl.segment_bytes);
	assert_true(has_trace(p, mixed[1]) && has_trace(p, single));
	assert_int_equal(plan(p, (struct fsc_delete_target){ .job = "j" }).n_units, 0);
	/* once more: nothing is there, which is counted and no error */
	assert_ok(p, fsc_store_delete_some(p->s, &p->a, &req, pl.units, pl.n_units, 1000000000,
					   &gone, &p->err));
	assert_true(gone.missing == 3 && gone.bundles == 0 && gone.traces == 0);
}

static void a_target_names_one_thing_that_is_there(void **state)
{
	struct place *p = *state;
	int64_t id = ready_trace(p, "abc", "x", "j", "h", 1), other;
	struct fsc_delete_target t = { .project = 1 };
	struct fsc_delete_plan pl;

	assert_fails(p, fsc_store_delete_plan(p->s, &p->a, &t, &pl, &p->err), FSC_EINVAL, "target");
	t.trace = id;
	t.job = "j";
	assert_fails(p, fsc_store_delete_plan(p->s, &p->a, &t, &pl, &p->err), FSC_EINVAL, "target");
	t.job = NULL;
	assert_ok(p, fsc_store_delete_plan(p->s, &p->a, &t, &pl, &p->err));
	assert_true(pl.bundles == 1 && pl.traces == 1); /* it is the only one of its bundle */
	assert_ok(p, fsc_store_project_put(p->s, "other", &other, &p->err));
	t.project = other;
	assert_fails(p, fsc_store_delete_plan(p->s, &p->a, &t, &pl, &p->err), FSC_ENOTFOUND,
		     "not_found");
	t.trace = 0;
	t.capture = "none has it";
	assert_ok(p, fsc_store_delete_plan(p->s, &p->a, &t, &pl, &p->err));
	assert_int_equal(pl.n_units, 0);
}

static void a_batch_ends_when_its_time_is_over(void **state)
{
	struct place *p = *state;
	const struct fsc_delete_request req = { .project = 1, .actor = "a" };
	struct fsc_delete_plan pl;
	struct fsc_bundle_deleted gone;
	char name[16];
	size_t at = 0;

	for (int i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "t%d", i);
		(void)ready_trace(p, name, name, "j", "h", 1);
	}
	pl = plan(p, (struct fsc_delete_target){ .job = "j" });
	assert_int_equal(pl.n_units, 5);
	for (int calls = 0; at < pl.n_units; calls++, at += gone.n_units) {
		assert_ok(p, fsc_store_delete_some(p->s, &p->a, &req, pl.units + at,
						   pl.n_units - at, 1, &gone, &p->err));
		assert_int_equal(gone.n_units, 1);
		assert_true(calls < 5);
	}
	assert_int_equal(plan(p, (struct fsc_delete_target){ .job = "j" }).n_units, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		contract_test(a_deleted_bundle_leaves_tombstones_of_itself_and_its_traces),
		contract_test(a_deleted_trace_does_not_come_back_by_indexing),
		contract_test(the_last_trace_takes_its_bundle_along),
		contract_test(a_trace_that_indexing_does_not_find_any_more_comes_back_under_its_id),
		contract_test(indexing_again_that_finds_nothing_leaves_what_was_there),
		contract_test(ids_follow_the_members_in_whatever_order_they_come),
		contract_test(a_delete_takes_the_lease_of_whoever_is_indexing),
		contract_test(a_trace_deleted_while_its_bundle_is_indexed_stays_deleted),
		contract_test(a_plan_says_what_a_delete_then_does),
		contract_test(a_target_names_one_thing_that_is_there),
		contract_test(a_batch_ends_when_its_time_is_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
