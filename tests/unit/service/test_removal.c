/* SPDX-License-Identifier: Apache-2.0 */
/* Deleting many at once: rows and files in step, in short batches, and an end when nobody waits any more. */
#define CONTRACT_STORE_URL "sqlite:%s/store.db"
#define CONTRACT_BLOBS_URL "dir:%s/blobs"
#include "tests/store/contract.h"

#include "service/ingest.h"
#include "service/removal.h"

#define MANY 60

static struct fsc_ingest *ingest(struct place *p)
{
	const struct fsc_ingest_opts o = { .store = p->s, .blobs = p->b };

	return fsc_ingest_new(&o);
}

static enum fsc_status upload(struct fsc_ingest *in, int64_t project, const char *content,
			      struct fsc_upload_done *done, struct fsc_err *err)
{
	struct fsc_upload_begin b = FSC_UPLOAD_BEGIN_INIT;
	struct fsc_upload *u;
	enum fsc_status st;

	b.project = project;
	b.job = "j";
	st = fsc_ingest_begin(&u, in, &b, err);
	if (st != FSC_OK)
		return st;
	st = fsc_ingest_write(u, content, strlen(content), err);
	if (st == FSC_OK)
		return fsc_ingest_finish(u, done, err);
	fsc_ingest_abort(u);
	return st;
}

/* MANY bundles of job j, each with a trace whose segment is a file. */
static void fill(struct place *p, struct fsc_ingest *in)
{
	char name[32];

	for (int i = 0; i < MANY; i++) {
		struct fact_list l = { .n = 0 };
		struct fsc_upload_done done;
		struct fsc_trace_row row;
		struct fsc_seg_put *put;
		int64_t id;
		int fd;

		snprintf(name, sizeof(name), "bundle %d", i);
		assert_ok(p, upload(in, 1, name, &done, &p->err));
		fact_trace(&l, name, 0)->job = "j";
		fact_kernel(&l, "gemm", 1, 2);
		fact_trace_end(&l);
		fact_end(&l);
		assert_ok(p, publish_facts(p, done.id, &l, NULL, &id, NULL));
		assert_ok(p, fsc_store_trace_get(p->s, &p->a, 1, id, &row, &p->err));
		assert_ok(p, fsc_seg_put_begin(&put, p->b, &fd, &p->err));
		assert_int_equal(write(fd, "segment", 7), 7);
		assert_ok(p, fsc_seg_put_commit(put, row.segment, &p->err));
	}
}

static struct fsc_delete_plan plan_job(struct place *p)
{
	const struct fsc_delete_target t = { .project = 1, .job = "j" };
	struct fsc_delete_plan plan;

	assert_ok(p, fsc_store_delete_plan(p->s, &p->a, &t, &plan, &p->err));
	return plan;
}

static const struct fsc_delete_request by_test = { .project = 1, .actor = "test" };

static void many_go_with_all_their_files(void **state)
{
	struct place *p = *state;
	struct fsc_ingest *in = ingest(p);
	struct fsc_delete_plan plan;
	struct fsc_removed done;
	struct fsc_upload_done shared;
	int64_t other;

	fill(p, in);
	/* one of them is another project's too */
	assert_ok(p, fsc_store_project_put(p->s, "other", &other, &p->err));
	assert_ok(p, upload(in, other, "bundle 7", &shared, &p->err));
	assert_false(shared.duplicate);
	plan = plan_job(p);
	assert_true(plan.bundles == MANY && plan.n_units == MANY);
	assert_ok(p,
		  fsc_removal_many(in, &by_test, plan.units, plan.n_units, NULL, &done, &p->err));
	assert_true(done.bundles == MANY && done.traces == MANY && done.blobs == MANY - 1);
	assert_true(done.blob_bytes == plan.blob_bytes && done.segment_bytes == 10 * MANY);
	assert_int_equal(count_files(p, FSC_BLOB_SEGMENT), 0);
	assert_int_equal(count_files(p, FSC_BLOB_BLOB), 1);
	assert_int_equal(plan_job(p).n_items, 0);
	fsc_ingest_free(in);
}

static void who_is_told_to_stop_has_done_whole_units_and_can_go_on(void **state)
{
	struct place *p = *state;
	struct fsc_ingest *in = ingest(p);
	struct fsc_delete_plan plan;
	struct fsc_removed done;
	atomic_bool stop = true;
	int64_t left;

	fill(p, in);
	plan = plan_job(p);
	for (int calls = 0; (left = plan.bundles) > 0; calls++) {
		enum fsc_status st;

		assert_true(calls < MANY);
		fsc_err_clear(&p->err);
		st = fsc_removal_many(in, &by_test, plan.units, plan.n_units, &stop, &done,
				      &p->err);
		assert_true(done.bundles > 0);
		plan = plan_job(p);
		assert_int_equal(plan.bundles, left - done.bundles);
		assert_int_equal(count_files(p, FSC_BLOB_BLOB), plan.bundles);
		assert_int_equal(count_files(p, FSC_BLOB_SEGMENT), plan.bundles);
		if (plan.bundles) {
			assert_int_equal(st, FSC_ECANCELED);
			assert_string_equal(p->err.code, "stopped");
		} else {
			assert_int_equal(st, FSC_OK);
		}
	}
	fsc_ingest_free(in);
}

struct again {
	struct fsc_ingest *in;
	atomic_bool stop;
	int failed, n;
};

/* The same bytes over and over, while they are deleted. */
static void *upload_again(void *arg)
{
	struct again *a = arg;
	struct fsc_upload_done done;
	char name[32];

	while (!atomic_load(&a->stop)) {
		struct fsc_err err = FSC_ERR_INIT;

		snprintf(name, sizeof(name), "bundle %d", a->n++ % MANY);
		a->failed += upload(a->in, 1, name, &done, &err) != FSC_OK;
	}
	return NULL;
}

static void bytes_that_come_again_while_they_are_deleted_stay(void **state)
{
	struct place *p = *state;
	struct fsc_ingest *in = ingest(p);
	struct again a = { .in = in };
	struct fsc_bundle_query q = { .project = 1, .limit = FSC_STORE_PAGE_MAX };
	struct fsc_bundle_page page;
	pthread_t t;

	fill(p, in);
	assert_int_equal(pthread_create(&t, NULL, upload_again, &a), 0);
	for (int i = 0; i < 10; i++) {
		struct fsc_delete_plan plan = plan_job(p);
		struct fsc_removed done;

		assert_ok(p, fsc_removal_many(in, &by_test, plan.units, plan.n_units, NULL, &done,
					      &p->err));
	}
	atomic_store(&a.stop, true);
	pthread_join(t, NULL);
	assert_int_equal(a.failed, 0);
	assert_ok(p, fsc_store_bundle_list(p->s, &p->a, &q, &page, &p->err));
	for (size_t i = 0; i < page.n_items; i++)
		assert_ok(p, fsc_blob_stat(p->b, page.items[i].sha256, &(uint64_t){ 0 }, &p->err));
	assert_int_equal(count_files(p, FSC_BLOB_BLOB), page.n_items);
	fsc_ingest_free(in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		contract_test(many_go_with_all_their_files),
		contract_test(who_is_told_to_stop_has_done_whole_units_and_can_go_on),
		contract_test(bytes_that_come_again_while_they_are_deleted_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
