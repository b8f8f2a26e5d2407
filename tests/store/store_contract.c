/* SPDX-License-Identifier: Apache-2.0 */
/* Contract of store/store.h. Included by one test program per implementation, see contract.h. */
#include "tests/store/contract.h"

static void the_same_bytes_give_the_same_bundle(void **state)
{
	struct place *p = *state;
	struct fsc_bundle_new n = new_bundle("abc", "first.json");
	struct fsc_bundle_put a, b;

	n.job = "train";
	n.rank = 3;
	assert_ok(p, fsc_store_bundle_put(p->s, &n, &a, &p->err));
	assert_false(a.duplicate);
	assert_int_equal(a.state, FSC_BUNDLE_QUEUED);
	n.name = "second.json";
	n.host = "h1";
	assert_ok(p, fsc_store_bundle_put(p->s, &n, &b, &p->err));
	assert_true(b.duplicate);
	assert_true(a.id == b.id);
	assert_int_equal(b.ignored, FSC_META_NAME | FSC_META_HOST);
	n.rank = 4;
	n.job = "train";
	n.name = NULL;
	n.host = NULL;
	assert_ok(p, fsc_store_bundle_put(p->s, &n, &b, &p->err));
	assert_int_equal(b.ignored, FSC_META_RANK);
	assert_string_equal(get_bundle(p, a.id).name, "first.json");
	assert_string_equal(get_bundle(p, a.id).job, "train");
	assert_null(get_bundle(p, a.id).host);
	assert_true(get_bundle(p, a.id).rank == 3);
}

static void another_project_sees_nothing_of_it(void **state)
{
	struct place *p = *state;
	int64_t other, id = put_bundle(p, "abc", "a"),
		       trace = ready_trace(p, "def", "d", "j", "h", 5);
	struct fsc_bundle_new n = new_bundle("abc", "a");
	struct fsc_trace_query q = { 0 };
	struct fsc_trace_page page;
	struct fsc_trace_row t;
	struct fsc_bundle_put put;
	struct fsc_bundle b;
	struct fsc_bundle_deleted gone;

	assert_ok(p, fsc_store_project_put(p->s, "other", &other, &p->err));
	assert_fails(p, fsc_store_bundle_get(p->s, &p->a, other, id, &b, &p->err), FSC_ENOTFOUND,
		     "not_found");
	assert_fails(p, fsc_store_trace_get(p->s, &p->a, other, trace, &t, &p->err), FSC_ENOTFOUND,
		     "not_found");
	assert_fails(p, fsc_store_bundle_reindex(p->s, other, id, &p->err), FSC_ENOTFOUND,
		     "not_found");
	assert_fails(p, delete_bundle_row(p, other, id, &gone), FSC_ENOTFOUND, "not_found");
	q.project = other;
	assert_ok(p, fsc_store_trace_list(p->s, &p->a, &q, &page, &p->err));
	assert_int_equal(page.n_items, 0);
	assert_int_equal(page.total, 0);
	assert_int_equal(page.job.n_items, 0);
	n.project = other; /* its own copy of the same bytes */
	assert_ok(p, fsc_store_bundle_put(p->s, &n, &put, &p->err));
	assert_false(put.duplicate);
	assert_true(put.id != id);
	/* the blob is shared: gone only with the last */
	assert_ok(p, delete_bundle_row(p, FSC_PROJECT_DEFAULT, id, &gone));
	assert_int_equal(gone.n_blobs, 0);
	assert_ok(p, delete_bundle_row(p, other, put.id, &gone));
	assert_int_equal(gone.n_blobs, 1);
}

static void project_names_are_checked(void **state)
{
	struct place *p = *state;
	const char *bad[] = {
		"",
		"A",
		"a b",
		"-a",
		"_a",
		"a/b",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	};
	const char *name;
	int64_t id, again;

	for (size_t i = 0; i < FSC_ARRAY_LEN(bad); i++)
		assert_fails(p, fsc_store_project_put(p->s, bad[i], &id, &p->err), FSC_EINVAL,
			     "project_name");
	assert_ok(p, fsc_store_project_put(p->s, "team-1_x", &id, &p->err));
	assert_ok(p, fsc_store_project_put(p->s, "team-1_x", &again, &p->err));
	assert_true(id == again);
	assert_ok(p, fsc_store_project_find(p->s, "default", &id, &p->err));
	assert_true(id == FSC_PROJECT_DEFAULT);
	assert_ok(p, fsc_store_project_name(p->s, &p->a, again, &name, &p->err));
	assert_string_equal(name, "team-1_x");
	assert_fails(p, fsc_store_project_find(p->s, "nobody", &id, &p->err), FSC_ENOTFOUND,
		     "not_found");
}

static void projects_are_made_once_and_listed_by_name(void **state)
{
	struct place *p = *state;
	struct fsc_projects all;
	int64_t id, again;

	assert_ok(p, fsc_store_project_create(p->s, "vision", &id, &p->err));
	assert_fails(p, fsc_store_project_create(p->s, "vision", &again, &p->err), FSC_EEXIST,
		     "project_exists");
	assert_fails(p, fsc_store_project_create(p->s, "Vision", &again, &p->err), FSC_EINVAL,
		     "project_name");
	assert_ok(p, fsc_store_project_put(p->s, "audio", &again, &p->err));
	assert_ok(p, fsc_store_project_list(p->s, &p->a, &all, &p->err));
	assert_int_equal(all.n_items, 3);
	assert_string_equal(all.items[0].name, "audio");
	assert_string_equal(all.items[1].name, "default");
	assert_true(all.items[2].id == id && all.items[2].created_at_ns > 0);
}

static void an_idempotency_key_belongs_to_its_bytes(void **state)
{
	struct place *p = *state;
	struct fsc_bundle_new n = new_bundle("abc", "a");
	struct fsc_bundle_put put;
	uint8_t sha256[FSC_SHA256_LEN];
	int64_t id, found;

	n.idempotency_key = "key-1";
	assert_fails(p, fsc_store_idempotency_find(p->s, 1, "key-1", &found, sha256, &p->err),
		     FSC_ENOTFOUND, "not_found");
	assert_ok(p, fsc_store_bundle_put(p->s, &n, &put, &p->err));
	id = put.id;
	assert_ok(p, fsc_store_idempotency_find(p->s, 1, "key-1", &found, sha256, &p->err));
	assert_true(found == id);
	assert_memory_equal(sha256, n.sha256, sizeof(sha256));
	assert_ok(p, fsc_store_bundle_put(p->s, &n, &put, &p->err));
	assert_true(put.duplicate && put.id == id);
	digest_of(n.sha256, "other");
	assert_fails(p, fsc_store_bundle_put(p->s, &n, &put, &p->err), FSC_EEXIST,
		     "idempotency_conflict");
	n.idempotency_key = NULL; /* nothing of the refused one was kept */
	assert_ok(p, fsc_store_bundle_put(p->s, &n, &put, &p->err));
	assert_false(put.duplicate);
}

/* One trace with a row of every kind, and a member that failed. */
static void fill_every_fact(struct fact_list *l)
{
	struct fsc_fact_trace *t = fact_trace(l, "rank0.json", 0);

	t->job = "train";
	t->host = "h1";
	t->capture = "c1";
	t->world_size = 8;
	t->has_epoch = 1;
	t->t_base_ns = 1700000000000000001;
	t->t_max_ns = 5000;
	t->slices = 10;
	t->launch_ambiguous = 2;
	t->meta_json = "{\"synthetic\":true}";
	t->source_disagreements = "rank";
	fact_add(l, FSC_FACT_LOSS)->u.loss = (struct fsc_fact_loss){ "x_without_dur", 4, 1234 };
	fact_add(l, FSC_FACT_LOSS)->u.loss = (struct fsc_fact_loss){ "slice_overlap_kept", 9, -1 };
	fact_add(l, FSC_FACT_CATEGORY)->u.category = (struct fsc_fact_category){ "kernel", 3, 300 };
	fact_add(l, FSC_FACT_CATEGORY)->u.category = (struct fsc_fact_category){ "cpu_op", 7, 700 };
	fact_add(l, FSC_FACT_DEVICE)->u.device = (struct fsc_fact_device){ .device = 0,
									   .window_ns = 1000,
									   .busy_ns = 700,
									   .idle_ns = 300,
									   .exposed_comm_ns = 50 };
	fact_add(l, FSC_FACT_DEVICE)->u.device = (struct fsc_fact_device){
		.device = 1, .window_ns = 1000, .busy_ns = 300, .idle_ns = 700
	};
	fact_add(l, FSC_FACT_DEVICE)->u.device = (struct fsc_fact_device){
		.scope = 1, .device = 0, .window_ns = 800, .busy_ns = 600
	};
	fact_add(l, FSC_FACT_IDLE)->u.idle = (struct fsc_fact_idle){
		.device = 0, .stream = 7, .host_wait_ns = -5, .other_ns = 6
	};
	fact_kernel(l, "gemm_64", 2, 100);
	fact_kernel(l, "ncclAllReduce", 1, 200);
	fact_add(l, FSC_FACT_STEP)->u.step =
		(struct fsc_fact_step){ 0, "ProfilerStep#1", 5, 10, 7, 3 };
	fact_trace_end(l);
	fact_member(l, "rank1.json", "failed", "json_truncated");
	fact_end(l);
	l->v[l->n - 1].u.end.manifest_json = "{\"version\":1}";
}

static void publishing_stores_every_fact(void **state)
{
	struct place *p = *state;
	struct fact_list l = { .n = 0 };
	int64_t bundle = put_bundle(p, "abc", "cap.tar"), id;
	struct fsc_trace_row row;
	struct fsc_category_rows cats;
	struct fsc_device_rows devs;
	struct fsc_idle_rows idles;
	struct fsc_step_rows steps;
	struct fsc_loss_rows losses;
	struct fsc_failures fails;
	struct fsc_kernel_query kq = { 0 };
	struct fsc_kernel_page ks;
	const char *manifest;

	fill_every_fact(&l);
	assert_ok(p, publish_facts(p, bundle, &l, NULL, &id, NULL));

	assert_ok(p, fsc_store_trace_get(p->s, &p->a, 1, id, &row, &p->err));
	assert_string_equal(row.name, "rank0.json");
	assert_string_equal(row.bundle_name, "cap.tar");
	assert_string_equal(row.job, "train");
	assert_string_equal(row.meta_json, "{\"synthetic\":true}");
	assert_string_equal(row.source_disagreements, "rank");
	assert_true(row.synthetic && row.has_epoch);
	assert_true(row.t_base_ns == 1700000000000000001);
	assert_true(row.rank == 0 && row.world_size == 8 && row.slices == 10);
	assert_true(row.launch_ambiguous == 2 && row.launch_none == 0 && row.launch_pairs == 0);
	assert_int_equal(row.gpu_busy_ppm, 500000); /* 1000 of 2000, over both devices */
	assert_int_equal(row.exposed_comm_ppm, 25000);
	assert_true(row.losses_kinds == 2 && row.losses_count == 13);
	assert_true(row.segment_bytes == 10 && row.segment_version == 1 &&
		    row.analysis_version == 3);
	assert_true(row.blob_bytes == 3);

	assert_ok(p, fsc_store_trace_categories(p->s, &p->a, id, &cats, &p->err));
	assert_int_equal(cats.n_items, 2);
	assert_string_equal(cats.items[0].name, "cpu_op");
	assert_true(cats.items[1].sum_ns == 300 && cats.items[1].count == 3);
	assert_ok(p, fsc_store_trace_devices(p->s, &p->a, id, FSC_SCOPE_ALL, &devs, &p->err));
	assert_int_equal(devs.n_items, 2);
	assert_true(devs.items[0].busy_ns == 700 && devs.items[1].idle_ns == 700);
	assert_ok(p, fsc_store_trace_devices(p->s, &p->a, id, FSC_SCOPE_NO_LAST, &devs, &p->err));
	assert_int_equal(devs.n_items, 1);
	assert_true(devs.items[0].window_ns == 800);
	assert_ok(p, fsc_store_trace_idle(p->s, &p->a, id, FSC_SCOPE_ALL, &idles, &p->err));
	assert_true(idles.n_items == 1 && idles.items[0].host_wait_ns == -5);
	assert_ok(p, fsc_store_trace_steps(p->s, &p->a, id, &steps, &p->err));
	assert_true(steps.n_items == 1 && steps.items[0].dur_ns == 10);
	assert_string_equal(steps.items[0].name, "ProfilerStep#1");
	assert_ok(p, fsc_store_trace_losses(p->s, &p->a, id, &losses, &p->err));
	assert_true(losses.n_items == 2 && losses.items[0].count == 9);
	assert_int_equal(losses.items[0].first_offset, -1);
	assert_int_equal(losses.items[1].first_offset, 1234);
	kq.trace = id;
	assert_ok(p, fsc_store_trace_kernels(p->s, &p->a, &kq, &ks, &p->err));
	assert_true(ks.n_items == 2 && ks.total_sum_ns == 300 && ks.total_count == 3);
	assert_string_equal(ks.items[0].name, "ncclAllReduce");
	assert_ok(p, fsc_store_bundle_failures(p->s, &p->a, bundle, &fails, &p->err));
	assert_int_equal(fails.n_items, 1);
	assert_string_equal(fails.items[0].code, "json_truncated");
	assert_true(fails.items[0].offset == 77);
	assert_int_equal(get_bundle(p, bundle).state, FSC_BUNDLE_READY);
	assert_true(get_bundle(p, bundle).n_traces == 1 && get_bundle(p, bundle).n_failures == 1);
	assert_true(get_bundle(p, bundle).losses_kinds == 2 &&
		    get_bundle(p, bundle).losses_count == 13);
	assert_null(get_bundle(p, bundle).err_code);
	assert_ok(p, fsc_store_bundle_manifest(p->s, &p->a, bundle, &manifest, &p->err));
	assert_string_equal(manifest, "{\"version\":1}");
}

static void publishing_again_keeps_ids_and_replaces_facts(void **state)
{
	struct place *p = *state;
	struct fact_list l = { .n = 0 }, again = { .n = 0 };
	int64_t bundle = put_bundle(p, "abc", "cap.tar"), first[3], second[2];
	struct fsc_kernel_query kq = { 0 };
	struct fsc_kernel_page ks;
	struct fsc_published done;
	struct fsc_trace_row row, row2;
	int64_t segments[3];
	bool yes;

	fact_trace(&l, "a", 0);
	fact_kernel(&l, "old", 1, 1);
	fact_trace_end(&l);
	fact_trace(&l, "b", 1);
	fact_trace_end(&l);
	fact_trace(&l, "a", 2)->slot = 1;
	fact_trace_end(&l);
	fact_end(&l);
	assert_ok(p, publish_facts(p, bundle, &l, NULL, first, NULL));
	for (int i = 0; i < 3; i++) {
		assert_ok(p, fsc_store_trace_get(p->s, &p->a, 1, first[i], &row, &p->err));
		segments[i] = row.segment;
		assert_ok(p, fsc_store_segment_referenced(p->s, row.segment, &yes, &p->err));
		assert_true(yes);
	}
	assert_ok(p, fsc_store_trace_get(p->s, &p->a, 1, first[0], &row, &p->err));

	fact_trace(&again, "a", 5);
	fact_kernel(&again, "new", 1, 2);
	fact_trace_end(&again);
	fact_trace(&again, "c", 1);
	fact_trace_end(&again);
	fact_end(&again);
	assert_ok(p, publish_facts(p, bundle, &again, NULL, second, &done));
	assert_true(second[0] == first[0]);
	assert_true(second[1] != first[1]);
	/* the segments of all three, also of the one that stays: it has a new one */
	assert_int_equal(done.n_removed, 3);
	for (int i = 0; i < 3; i++) {
		bool found = false;

		for (size_t k = 0; k < 3; k++)
			found = found || done.removed[k] == segments[i];
		assert_true(found);
		assert_ok(p, fsc_store_segment_referenced(p->s, segments[i], &yes, &p->err));
		assert_false(yes);
	}
	assert_int_equal(fsc_store_trace_get(p->s, &p->a, 1, first[1], &row2, &p->err),
			 FSC_ENOTFOUND);
	kq.trace = first[0];
	assert_ok(p, fsc_store_trace_kernels(p->s, &p->a, &kq, &ks, &p->err));
	assert_int_equal(ks.n_items, 1);
	assert_string_equal(ks.items[0].name, "new");
	assert_ok(p, fsc_store_trace_get(p->s, &p->a, 1, first[0], &row2, &p->err));
	assert_true(row2.rank == 5);
	assert_true(row2.indexed_at_ns > row.indexed_at_ns);
	assert_true(row2.received_at_ns == row.received_at_ns);
}

static void indexing_again_that_finds_nothing_leaves_what_there_is(void **state)
{
	struct place *p = *state;
	struct fact_list l = { .n = 0 }, nothing = { .n = 0 };
	int64_t bundle = put_bundle(p, "abc", "cap.tar"), ids[2];
	struct fsc_published done;
	struct fsc_trace_row row, after;
	struct fsc_bundle b;

	fact_trace(&l, "a", 0);
	fact_trace_end(&l);
	fact_trace(&l, "b", 1);
	fact_trace_end(&l);
	fact_end(&l);
	assert_ok(p, publish_facts(p, bundle, &l, NULL, ids, NULL));
	assert_ok(p, fsc_store_trace_get(p->s, &p->a, 1, ids[1], &row, &p->err));
	fact_member(&nothing, "a", "failed", "json_syntax");
	fact_end(&nothing);
	assert_ok(p, publish_facts(p, bundle, &nothing, NULL, NULL, &done));
	assert_int_equal(done.state, FSC_BUNDLE_FAILED);
	assert_int_equal(done.n_removed, 0);
	b = get_bundle(p, bundle);
	assert_int_equal(b.state, FSC_BUNDLE_FAILED);
	assert_string_equal(b.err_code, "json_syntax");
	assert_int_equal(b.n_traces, 2);
	assert_ok(p, fsc_store_trace_get(p->s, &p->a, 1, ids[1], &after, &p->err));
	assert_true(after.segment == row.segment && after.indexed_at_ns == row.indexed_at_ns);
}

static void a_bundle_without_traces_fails_with_the_first_error(void **state)
{
	struct place *p = *state;
	struct fact_list l = { .n = 0 }, none = { .n = 0 }, broken = { .n = 0 };
	int64_t id = put_bundle(p, "abc", "x");
	struct fsc_published done;
	struct fsc_bundle b;

	fact_member(&l, "README", "skipped", "not_a_trace");
	fact_member(&l, "r0", "failed", "json_truncated");
	fact_member(&l, "r1", "failed", "gzip_crc");
	fact_end(&l);
	assert_ok(p, publish_facts(p, id, &l, NULL, NULL, &done));
	assert_int_equal(done.state, FSC_BUNDLE_FAILED);
	b = get_bundle(p, id);
	assert_string_equal(b.err_code, "json_truncated");
	assert_string_equal(b.err_message, "why it is so");
	assert_string_equal(b.err_file, "r0");
	assert_true(b.err_offset == 77 && b.n_failures == 3);
	assert_true(b.finished_at_ns > 0);

	id = put_bundle(p, "def", "y");
	fact_end(&none);
	assert_ok(p, publish_facts(p, id, &none, NULL, NULL, NULL));
	assert_string_equal(get_bundle(p, id).err_code, "no_traces");

	id = put_bundle(p, "ghi", "z");
	fact_trace(&broken, "a", 0);
	fact_trace_end(&broken);
	fact_end(&broken);
	broken.v[broken.n - 1].u.end.status = FSC_ECORRUPT;
	broken.v[broken.n - 1].u.end.code = "tar_truncated";
	assert_ok(p, publish_facts(p, id, &broken, NULL, NULL, &done));
	assert_int_equal(done.state,
			 FSC_BUNDLE_READY); /* what was read is kept, and why it is not all */
	assert_string_equal(get_bundle(p, id).err_code, "tar_truncated");
}

static void a_stream_that_does_not_hold_together_changes_nothing(void **state)
{
	struct place *p = *state;
	struct fact_list l = { .n = 0 };
	struct fsc_publish in = { .next = fact_next, .ctx = &l };
	struct fsc_publish_trace given[2] = { { 1, 1, 1 }, { 2, 2, 2 } };
	struct fsc_published done;
	int64_t id = ready_trace(p, "abc", "x", "j", "h", 1), bundle;
	struct fsc_trace_row row;

	assert_ok(p, fsc_store_trace_get(p->s, &p->a, 1, id, &row, &p->err));
	bundle = row.bundle;
	in.bundle = bundle;
	in.traces = given;
	in.n_traces = 2;
	fact_trace(&l, "x", 0);
	fact_trace_end(&l); /* no END */
	assert_fails(p, fsc_store_publish(p->s, &p->a, &in, &done, &p->err), FSC_EPARSE, "facts");
	fact_trace(&l, "x", 0); /* the same member and slot twice */
	fact_trace_end(&l);
	fact_end(&l);
	l.at = 0;
	assert_fails(p, fsc_store_publish(p->s, &p->a, &in, &done, &p->err), FSC_EPARSE, "facts");
	l.n = l.at = 0;
	fact_kernel(&l, "k", 1, 1); /* outside a trace */
	fact_end(&l);
	assert_fails(p, fsc_store_publish(p->s, &p->a, &in, &done, &p->err), FSC_EPARSE, "facts");
	in.n_traces = 0;
	l.n = l.at = 0;
	fact_trace(&l, "x", 0); /* more traces than ids */
	fact_trace_end(&l);
	fact_end(&l);
	assert_fails(p, fsc_store_publish(p->s, &p->a, &in, &done, &p->err), FSC_EPARSE, "facts");
	assert_ok(p, fsc_store_trace_get(p->s, &p->a, 1, id, &row, &p->err));
	assert_string_equal(row.job, "j");
	assert_int_equal(get_bundle(p, bundle).state, FSC_BUNDLE_READY);
}

static void a_publish_that_breaks_off_leaves_the_old_facts(void **state)
{
	struct place *p = *state;
	int64_t id = ready_trace(p, "abc", "x", "old job", "h", 1), trace;
	struct fact_list l = { .n = 0 };
	struct fsc_kernel_query kq = { .trace = id };
	struct fsc_kernel_page ks;
	struct fsc_failures fails;
	struct fsc_trace_row row;

	assert_ok(p, fsc_store_trace_get(p->s, &p->a, 1, id, &row, &p->err));
	fact_member(&l, "y", "failed", "json_truncated");
	fact_trace(&l, "x", 0)->job = "new job";
	fact_kernel(&l, "new kernel", 1, 1);
	fact_trace_end(&l); /* and no END */
	assert_fails(p, publish_facts(p, row.bundle, &l, NULL, &trace, NULL), FSC_EPARSE, "facts");
	assert_true(trace == id);
	assert_ok(p, fsc_store_trace_get(p->s, &p->a, 1, id, &row, &p->err));
	assert_string_equal(row.job, "old job");
	assert_ok(p, fsc_store_trace_kernels(p->s, &p->a, &kq, &ks, &p->err));
	assert_int_equal(ks.n_items, 0);
	assert_ok(p, fsc_store_bundle_failures(p->s, &p->a, row.bundle, &fails, &p->err));
	assert_int_equal(fails.n_items, 0);
}

static void deleting_takes_everything_along(void **state)
{
	struct place *p = *state;
	int64_t id = ready_trace(p, "abc", "x", "j", "h", 1);
	struct fsc_bundle_deleted gone;
	struct fsc_trace_row row;
	struct fsc_bundle b;
	struct fsc_store_stats stats;
	uint8_t sha256[FSC_SHA256_LEN];
	int64_t segment;
	bool yes;

	digest_of(sha256, "abc");
	assert_ok(p, fsc_store_trace_get(p->s, &p->a, 1, id, &row, &p->err));
	segment = row.segment;
	assert_ok(p, fsc_store_blob_referenced(p->s, sha256, &yes, &p->err));
	assert_true(yes);
	assert_ok(p, delete_bundle_row(p, 1, row.bundle, &gone));
	assert_true(gone.n_blobs == 1 && gone.n_segments == 1 && gone.segments[0] == segment);
	assert_memory_equal(gone.blobs[0].sha256, sha256, sizeof(sha256));
	assert_fails(p, fsc_store_bundle_get(p->s, &p->a, 1, row.bundle, &b, &p->err),
		     FSC_ENOTFOUND, "not_found");
	assert_fails(p, fsc_store_trace_get(p->s, &p->a, 1, id, &row, &p->err), FSC_ENOTFOUND,
		     "not_found");
	assert_ok(p, fsc_store_blob_referenced(p->s, sha256, &yes, &p->err));
	assert_false(yes);
	assert_ok(p, fsc_store_stats(p->s, &stats, &p->err));
	assert_true(stats.jobs_waiting == 0 && stats.traces == 0 &&
		    stats.bundles[FSC_BUNDLE_READY] == 0);
}

/* ---- the list ---- */

static struct fsc_trace_page list(struct place *p, struct fsc_trace_query q)
{
	struct fsc_trace_page page;

	q.project = FSC_PROJECT_DEFAULT;
	assert_ok(p, fsc_store_trace_list(p->s, &p->a, &q, &page, &p->err));
	return page;
}

static void fill_list(struct place *p)
{
	struct fact_list failed = { .n = 0 };
	int64_t id;

	ready_trace(p, "1", "alpha.json", "train", "h1", 300);
	ready_trace(p, "22", "beta.json", "train", "h2", 100);
	ready_trace(p, "333", "gamma_100%.json", "serve", "h1", 200);
	ready_trace(p, "4444", "delta.json", "", "", 0);
	put_bundle(p, "queued one", "epsilon.json");
	id = put_bundle(p, "failed one", "zeta.json");
	fact_member(&failed, "zeta.json", "failed", "gzip_crc");
	fact_end(&failed);
	assert_ok(p, publish_facts(p, id, &failed, NULL, NULL, NULL));
}

static int64_t facet_count(const struct fsc_facet *f, const char *value)
{
	for (size_t i = 0; i < f->n_items; i++)
		if (!strcmp(f->items[i].value, value))
			return f->items[i].count;
	return 0;
}

static void the_list_holds_traces_and_bundles_without_any(void **state)
{
	struct place *p = *state;
	struct fsc_trace_page page;
	size_t with = 0;

	fill_list(p);
	page = list(p, (struct fsc_trace_query){ 0 });
	assert_int_equal(page.total, 6);
	assert_int_equal(page.n_items, 6);
	assert_null(page.next);
	assert_string_equal(page.items[0].t.name, "zeta.json"); /* newest first */
	assert_false(page.items[0].has_trace);
	assert_int_equal(page.items[0].state, FSC_BUNDLE_FAILED);
	assert_string_equal(page.items[0].err_code, "gzip_crc");
	assert_true(page.items[0].err_offset == 77);
	assert_int_equal(page.items[1].state, FSC_BUNDLE_QUEUED);
	assert_true(page.items[1].t.bundle != 0 && page.items[1].t.blob_bytes == 10);
	for (size_t i = 0; i < page.n_items; i++)
		with += page.items[i].has_trace && page.items[i].state == FSC_BUNDLE_READY;
	assert_int_equal(with, 4);
	assert_int_equal(facet_count(&page.state, "ready"), 4);
	assert_int_equal(facet_count(&page.state, "queued"), 1);
	assert_int_equal(facet_count(&page.state, "failed"), 1);
	assert_int_equal(facet_count(&page.job, "train"), 2);
	assert_int_equal(facet_count(&page.job, ""), 3);
	assert_int_equal(facet_count(&page.host, "h1"), 2);
}

static void search_finds_names_jobs_hosts_and_kernels(void **state)
{
	struct place *p = *state;
	struct fact_list l = { .n = 0 };
	int64_t id;

	fill_list(p);
	assert_int_equal(list(p, (struct fsc_trace_query){ .q = "ALPHA" }).total, 1);
	assert_int_equal(list(p, (struct fsc_trace_query){ .q = "h1" }).total, 2);
	assert_int_equal(list(p, (struct fsc_trace_query){ .q = " train  h2 " }).total, 1);
	assert_int_equal(list(p, (struct fsc_trace_query){ .q = "100%" }).total, 1);
	assert_int_equal(list(p, (struct fsc_trace_query){ .q = "%" }).total, 1);
	assert_int_equal(list(p, (struct fsc_trace_query){ .q = "gamma_" }).total, 1);
	assert_int_equal(list(p, (struct fsc_trace_query){ .q = "_" }).total, 1);
	assert_int_equal(list(p, (struct fsc_trace_query){ .q = "nothing" }).total, 0);
	assert_int_equal(list(p, (struct fsc_trace_query){ .q = "epsilon" }).total, 1);
	assert_int_equal(list(p, (struct fsc_trace_query){ .q = "'; DROP TABLE trace; --" }).total,
			 0);
	id = put_bundle(p, "kernels", "kern.json");
	fact_trace(&l, "kern.json", 0);
	fact_kernel(&l, "ncclDevKernel_AllReduce", 1, 1);
	fact_trace_end(&l);
	fact_end(&l);
	assert_ok(p, publish_facts(p, id, &l, NULL, NULL, NULL));
	assert_int_equal(list(p, (struct fsc_trace_query){ .q = "allreduce" }).total, 1);
	assert_int_equal(list(p, (struct fsc_trace_query){ .q = "allreduce kern.json" }).total, 1);
}

static void filters_narrow_and_facets_ignore_their_own(void **state)
{
	struct place *p = *state;
	struct fsc_trace_page page;

	fill_list(p);
	page = list(p, (struct fsc_trace_query){ .job = { { "train" }, 1 } });
	assert_int_equal(page.total, 2);
	assert_int_equal(facet_count(&page.job, "serve"), 1); /* still to be picked */
	assert_int_equal(facet_count(&page.host, "h1"), 1);
	assert_int_equal(facet_count(&page.state, "failed"), 0);
	page = list(p, (struct fsc_trace_query){ .job = { { "train", "serve" }, 2 },
						 .host = { { "h1" }, 1 } });
	assert_int_equal(page.total, 2);
	page = list(p,
		    (struct fsc_trace_query){ .job = { { "" }, 1 }, .state = { { "ready" }, 1 } });
	assert_int_equal(page.total, 1);
	assert_string_equal(page.items[0].t.name, "delta.json");
	page = list(p, (struct fsc_trace_query){ .state = { { "queued", "failed" }, 2 } });
	assert_int_equal(page.total, 2);
}

static void every_order_pages_without_loss_or_repeat(void **state)
{
	struct place *p = *state;
	const char *names[] = { "received", "started",	    "duration", "slices", "bytes",
				"gpu_busy", "exposed_comm", "losses",	"rank",	  "name",
				"job",	    "host",	    "state" };

	fill_list(p);
	for (size_t i = 0; i < 2 * FSC_ARRAY_LEN(names); i++) {
		struct fsc_trace_query q = { .limit = 2, .ascending = i % 2 };
		struct fsc_trace_page page, whole;
		size_t seen = 0;

		assert_true(fsc_trace_sort_parse(&q.sort, names[i / 2]));
		whole = list(p,
			     (struct fsc_trace_query){ .sort = q.sort, .ascending = q.ascending });
		do {
			page = list(p, q);
			assert_int_equal(page.total, 6);
			for (size_t k = 0; k < page.n_items; k++)
				assert_true(page.items[k].t.bundle ==
					    whole.items[seen + k].t.bundle);
			seen += page.n_items;
			q.cursor = page.next;
		} while (page.next && seen < 6);
		assert_int_equal(seen, 6);
		assert_null(page.next);
	}
}

static void orders_are_what_they_say(void **state)
{
	struct place *p = *state;
	struct fsc_trace_page page;
	enum fsc_trace_sort unused;

	fill_list(p);
	page = list(p, (struct fsc_trace_query){ .sort = FSC_SORT_STARTED,
						 .state = { { "ready" }, 1 } });
	assert_string_equal(page.items[0].t.name, "alpha.json");
	assert_string_equal(page.items[3].t.name, "delta.json"); /* no epoch */
	page = list(p, (struct fsc_trace_query){ .sort = FSC_SORT_SLICES });
	assert_string_equal(page.items[0].t.name, "delta.json");
	page = list(p, (struct fsc_trace_query){ .sort = FSC_SORT_NAME, .ascending = true });
	assert_string_equal(page.items[0].t.name, "alpha.json");
	assert_string_equal(page.items[5].t.name, "zeta.json");
	assert_false(fsc_trace_sort_parse(&unused, "nonsense"));
}

static void pages_stay_right_while_rows_come(void **state)
{
	struct place *p = *state;
	struct fsc_trace_query q = { .limit = 3 };
	struct fsc_trace_page page;

	fill_list(p);
	page = list(p, q);
	q.cursor = page.next;
	put_bundle(p, "newer", "newer.json");
	page = list(p, q);
	assert_int_equal(page.n_items, 3);
	assert_string_equal(page.items[2].t.name, "alpha.json");
	assert_int_equal(page.total, 7);
}

static void a_foreign_cursor_is_refused(void **state)
{
	struct place *p = *state;
	struct fsc_trace_query q = { .project = 1, .limit = 1 };
	struct fsc_trace_page page;
	const char *bad[] = { "", "zz", "1", "00", "72656365697665642e64657363", "deadbeef" };

	fill_list(p);
	page = list(p, q);
	q.cursor = page.next;
	q.sort = FSC_SORT_NAME; /* made for another order */
	assert_fails(p, fsc_store_trace_list(p->s, &p->a, &q, &page, &p->err), FSC_EINVAL,
		     "cursor");
	q.sort = FSC_SORT_STARTED; /* a name of another length */
	assert_fails(p, fsc_store_trace_list(p->s, &p->a, &q, &page, &p->err), FSC_EINVAL,
		     "cursor");
	page = list(p, (struct fsc_trace_query){ .limit = 1, .sort = FSC_SORT_NAME });
	q.cursor = page.next;
	q.sort = FSC_SORT_RANK; /* one of the same length */
	assert_fails(p, fsc_store_trace_list(p->s, &p->a, &q, &page, &p->err), FSC_EINVAL,
		     "cursor");
	q.sort = FSC_SORT_RECEIVED;
	for (size_t i = 0; i < FSC_ARRAY_LEN(bad); i++) {
		q.cursor = bad[i];
		assert_fails(p, fsc_store_trace_list(p->s, &p->a, &q, &page, &p->err), FSC_EINVAL,
			     "cursor");
	}
}

static void kernels_page_sort_and_search(void **state)
{
	struct place *p = *state;
	struct fact_list l = { .n = 0 };
	char names[50][32];
	int64_t bundle = put_bundle(p, "abc", "x"), id;
	struct fsc_kernel_query q = { .limit = 20 };
	struct fsc_kernel_page page;
	size_t seen = 0;

	fact_trace(&l, "x", 0);
	for (int i = 0; i < 50; i++) {
		snprintf(names[i], sizeof(names[i]), "kernel_%02d_%s", i, i % 2 ? "odd" : "even");
		fact_kernel(&l, names[i], i + 1, (i * 37 % 50 + 1) * 10);
	}
	fact_trace_end(&l);
	fact_end(&l);
	assert_ok(p, publish_facts(p, bundle, &l, NULL, &id, NULL));
	q.trace = id;
	do {
		int64_t last = INT64_MAX;

		assert_ok(p, fsc_store_trace_kernels(p->s, &p->a, &q, &page, &p->err));
		assert_int_equal(page.total, 50);
		for (size_t i = 0; i < page.n_items; i++) {
			assert_true(page.items[i].sum_ns <= last);
			last = page.items[i].sum_ns;
		}
		seen += page.n_items;
		q.cursor = page.next;
	} while (page.next && seen < 50);
	assert_int_equal(seen, 50);
	q = (struct fsc_kernel_query){
		.trace = id, .q = "kernel ODD", .sort = FSC_KERNEL_NAME, .ascending = true
	};
	assert_ok(p, fsc_store_trace_kernels(p->s, &p->a, &q, &page, &p->err));
	assert_true(page.n_items == 25 && page.total == 25);
	assert_string_equal(page.items[0].name, "kernel_01_odd");
	assert_string_equal(page.items[0].kind, "compute");
}

static void bundles_page_newest_first(void **state)
{
	struct place *p = *state;
	struct fsc_bundle_query q = { .project = 1, .limit = 4 };
	struct fsc_bundle_page page;
	size_t seen = 0;
	int64_t last = INT64_MAX;

	fill_list(p);
	do {
		assert_ok(p, fsc_store_bundle_list(p->s, &p->a, &q, &page, &p->err));
		assert_int_equal(page.total, 6);
		for (size_t i = 0; i < page.n_items; i++) {
			assert_true(page.items[i].id < last);
			last = page.items[i].id;
		}
		seen += page.n_items;
		q.cursor = page.next;
	} while (page.next && seen < 6);
	assert_int_equal(seen, 6);
	q = (struct fsc_bundle_query){ .project = 1, .state = "failed" };
	assert_ok(p, fsc_store_bundle_list(p->s, &p->a, &q, &page, &p->err));
	assert_true(page.n_items == 1 && page.total == 1);
	assert_string_equal(page.items[0].err_code, "gzip_crc");
}

/* ---- tokens, audit, settings ---- */

static void tokens_are_found_until_revoked_or_expired(void **state)
{
	struct place *p = *state;
	struct fsc_token_new n = { .project = 1,
				   .name = "ci",
				   .scopes = FSC_SCOPE_BIT_UPLOAD,
				   .prefix = "fst_ab12cd",
				   .created_by = "cli" };
	struct fsc_token t;
	struct fsc_tokens all;
	int64_t id, old, count;

	digest_of(n.secret_sha256, "secret");
	assert_ok(p, fsc_store_token_put(p->s, &n, &id, &p->err));
	assert_int_equal(fsc_store_token_put(p->s, &n, &old, &p->err), FSC_EEXIST);
	assert_ok(p, fsc_store_token_find(p->s, &p->a, n.secret_sha256, &t, &p->err));
	assert_true(t.id == id && t.scopes == FSC_SCOPE_BIT_UPLOAD && t.last_used_at_ns == 0);
	assert_string_equal(t.project_name, "default");
	assert_ok(p, fsc_store_token_used(p->s, id, 99, &p->err));
	assert_ok(p, fsc_store_token_find(p->s, &p->a, n.secret_sha256, &t, &p->err));
	assert_true(t.last_used_at_ns == 99);

	digest_of(n.secret_sha256, "expired");
	n.expires_at_ns = fsc_clock_real_ns() - 1;
	assert_ok(p, fsc_store_token_put(p->s, &n, &old, &p->err));
	assert_fails(p, fsc_store_token_find(p->s, &p->a, n.secret_sha256, &t, &p->err),
		     FSC_ENOTFOUND, "not_found");
	assert_ok(p, fsc_store_token_count(p->s, &count, &p->err));
	assert_int_equal(count, 1);
	assert_ok(p, fsc_store_token_list(p->s, &p->a, 1, false, &all, &p->err));
	assert_int_equal(all.n_items, 2);
	assert_string_equal(all.items[1].prefix, "fst_ab12cd");
	assert_string_equal(all.items[1].created_by, "cli");

	assert_fails(p, fsc_store_token_revoke(p->s, 2, id, &p->err), FSC_ENOTFOUND, "not_found");
	assert_ok(p, fsc_store_token_revoke(p->s, 1, id, &p->err));
	assert_fails(p, fsc_store_token_revoke(p->s, 1, id, &p->err), FSC_ENOTFOUND, "not_found");
	digest_of(n.secret_sha256, "secret");
	assert_fails(p, fsc_store_token_find(p->s, &p->a, n.secret_sha256, &t, &p->err),
		     FSC_ENOTFOUND, "not_found");
	assert_ok(p, fsc_store_token_list(p->s, &p->a, 1, false, &all, &p->err));
	assert_true(all.n_items == 1 && all.items[0].id == old);
	assert_ok(p, fsc_store_token_list(p->s, &p->a, 1, true, &all, &p->err));
	assert_true(all.n_items == 2 && all.items[1].id == id && all.items[1].revoked_at_ns > 0);
	assert_true(all.items[0].revoked_at_ns == 0);
}

static void audit_rows_come_back_newest_first(void **state)
{
	static const char *const actions[] = { "token.create", "token.revoke", "tokens",
					       "token.create", "bundle.delete" };
	struct place *p = *state;
	struct fsc_audit_query q = { .project = 1, .limit = 3 };
	struct fsc_audit_page rows;

	for (int i = 0; i < 5; i++) {
		char subject[16];
		struct fsc_audit a = {
			.project = 1, .actor = "cli", .action = actions[i], .subject = subject
		};

		snprintf(subject, sizeof(subject), "s%d", i);
		assert_ok(p, fsc_store_audit_put(p->s, &a, &p->err));
	}
	assert_ok(p, fsc_store_audit_list(p->s, &p->a, &q, &rows, &p->err));
	assert_true(rows.n_items == 3 && rows.total == 5 && rows.next);
	assert_string_equal(rows.items[0].subject, "s4");
	assert_string_equal(rows.items[0].remote, "");
	assert_true(rows.items[0].at_ns > 0);
	q.cursor = rows.next;
	assert_ok(p, fsc_store_audit_list(p->s, &p->a, &q, &rows, &p->err));
	assert_true(rows.n_items == 2 && rows.total == 5 && !rows.next);
	assert_string_equal(rows.items[1].subject, "s0");
	q.cursor = "00";
	assert_fails(p, fsc_store_audit_list(p->s, &p->a, &q, &rows, &p->err), FSC_EINVAL,
		     "cursor");
}

static void audit_rows_are_filtered_by_action(void **state)
{
	static const struct {
		const char *action;
		int64_t total;
	} want[] = { { "token.create", 2 },
		     { "token.", 3 },
		     { "token", 0 },
		     { "tokens", 1 },
		     { "", 5 },
		     { "%", 0 },
		     { ".", 0 } };
	struct place *p = *state;

	audit_rows_come_back_newest_first(state);
	for (size_t i = 0; i < FSC_ARRAY_LEN(want); i++) {
		struct fsc_audit_query q = { .project = 1, .action = want[i].action };
		struct fsc_audit_page rows;

		assert_ok(p, fsc_store_audit_list(p->s, &p->a, &q, &rows, &p->err));
		assert_int_equal(rows.total, want[i].total);
		assert_int_equal(rows.n_items, want[i].total);
		q.project = 2;
		assert_ok(p, fsc_store_audit_list(p->s, &p->a, &q, &rows, &p->err));
		assert_true(!rows.total && !rows.n_items);
	}
}

static void settings_keep_the_first_when_told_so(void **state)
{
	struct place *p = *state;
	const uint8_t *v;
	size_t n;

	assert_fails(p, fsc_store_setting_get(p->s, &p->a, "k", &v, &n, &p->err), FSC_ENOTFOUND,
		     "not_found");
	assert_ok(p, fsc_store_setting_put(p->s, "k", "one\0x", 5, true, &p->err));
	assert_ok(p, fsc_store_setting_put(p->s, "k", "two", 3, true, &p->err));
	assert_ok(p, fsc_store_setting_get(p->s, &p->a, "k", &v, &n, &p->err));
	assert_int_equal(n, 5);
	assert_memory_equal(v, "one\0x", 5);
	assert_ok(p, fsc_store_setting_put(p->s, "k", "", 0, false, &p->err));
	assert_ok(p, fsc_store_setting_get(p->s, &p->a, "k", &v, &n, &p->err));
	assert_int_equal(n, 0);
}

/* ---- all of it ---- */

static void data_outlive_the_process(void **state)
{
	struct place *p = *state;
	int64_t id = ready_trace(p, "abc", "x", "job", "h", 1), next;
	struct fsc_trace_row row;

	place_close(p);
	place_open(p);
	assert_ok(p, fsc_store_health(p->s, &p->err));
	assert_ok(p, fsc_store_trace_get(p->s, &p->a, 1, id, &row, &p->err));
	assert_string_equal(row.job, "job");
	next = fsc_store_new_id(p->s);
	assert_true(next > id);
	assert_true(fsc_store_new_id(p->s) > next);
}

/* A second segment of that name would be written over the first. */
static void no_segment_gets_a_name_that_is_in_use(void **state)
{
	struct place *p = *state;
	struct fact_list l = { .n = 0 };
	struct fsc_publish_trace t = { .segment_bytes = 10 };
	struct fsc_publish in = { .bundle = put_bundle(p, "abc", "x"),
				  .traces = &t,
				  .n_traces = 1,
				  .next = fact_next,
				  .ctx = &l };
	struct fsc_published out;
	bool known;

	fact_trace(&l, "m", 0);
	fact_trace_end(&l);
	fact_end(&l);
	assert_ok(p, fsc_store_trace_id(p->s, in.bundle, "m", 0, &t.id, &known, &p->err));
	/* the last id that was made, as when a bundle is indexed again */
	t.segment = fsc_store_new_id(p->s);
	assert_ok(p, fsc_store_publish(p->s, &p->a, &in, &out, &p->err));
	place_close(p);
	atomic_store(&p->clock_off_ns, -INT64_C(86400000000000)); /* a day back */
	place_open(p);
	assert_true(fsc_store_new_id(p->s) > t.segment);
}

static void a_backup_opens_as_a_store(void **state)
{
	struct place *p = *state;
	int64_t id = ready_trace(p, "abc", "x", "job", "h", 1);
	char path[320];
	struct fsc_store *copy;
	struct fsc_trace_row row;

	snprintf(path, sizeof(path), "%s/copy.db", p->dir);
	assert_ok(p, fsc_store_backup(p->s, path, &p->err));
	assert_fails(p, fsc_store_backup(p->s, path, &p->err), FSC_EEXIST, "backup_exists");
	assert_ok(p, fsc_store_open(&copy, path, NULL, &p->err));
	assert_ok(p, fsc_store_trace_get(copy, &p->a, 1, id, &row, &p->err));
	assert_string_equal(row.job, "job");
	fsc_store_close(copy);
}

struct hammer {
	struct place *p;
	pthread_t thread;
	int n;
	int failed;
};

static void *hammer_main(void *arg)
{
	struct hammer *h = arg;
	struct fsc_arena a;

	fsc_arena_init(&a, 64 * FSC_MIB);
	for (int i = 0; i < 40; i++) {
		char content[32];
		struct fsc_bundle_new n;
		struct fsc_bundle_put put;
		struct fsc_bundle b;
		struct fsc_trace_query q = { .project = 1, .limit = 5 };
		struct fsc_trace_page page;

		snprintf(content, sizeof(content), "content %d %d", h->n, i);
		n = new_bundle(content, content);
		h->failed += fsc_store_bundle_put(h->p->s, &n, &put, NULL) != FSC_OK;
		/* what was acknowledged is seen at once */
		h->failed += fsc_store_bundle_get(h->p->s, &a, 1, put.id, &b, NULL) != FSC_OK;
		h->failed += fsc_store_trace_list(h->p->s, &a, &q, &page, NULL) != FSC_OK;
		h->failed += page.total < i + 1;
	}
	fsc_arena_fini(&a);
	return NULL;
}

static void many_threads_read_and_write_at_once(void **state)
{
	struct place *p = *state;
	struct hammer h[8];
	struct fsc_store_stats stats;

	for (int i = 0; i < 8; i++) {
		h[i] = (struct hammer){ .p = p, .n = i };
		assert_int_equal(pthread_create(&h[i].thread, NULL, hammer_main, &h[i]), 0);
	}
	for (int i = 0; i < 8; i++) {
		pthread_join(h[i].thread, NULL);
		assert_int_equal(h[i].failed, 0);
	}
	assert_ok(p, fsc_store_stats(p->s, &stats, &p->err));
	assert_true(stats.bundles[FSC_BUNDLE_QUEUED] == 320 && stats.jobs_waiting == 320);
	assert_true(stats.writes == 320 && stats.commits <= stats.writes);
	assert_true(stats.blob_bytes > 0 && stats.database_bytes > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		contract_test(the_same_bytes_give_the_same_bundle),
		contract_test(another_project_sees_nothing_of_it),
		contract_test(project_names_are_checked),
		contract_test(projects_are_made_once_and_listed_by_name),
		contract_test(an_idempotency_key_belongs_to_its_bytes),
		contract_test(publishing_stores_every_fact),
		contract_test(publishing_again_keeps_ids_and_replaces_facts),
		contract_test(indexing_again_that_finds_nothing_leaves_what_there_is),
		contract_test(a_bundle_without_traces_fails_with_the_first_error),
		contract_test(a_stream_that_does_not_hold_together_changes_nothing),
		contract_test(a_publish_that_breaks_off_leaves_the_old_facts),
		contract_test(deleting_takes_everything_along),
		contract_test(the_list_holds_traces_and_bundles_without_any),
		contract_test(search_finds_names_jobs_hosts_and_kernels),
		contract_test(filters_narrow_and_facets_ignore_their_own),
		contract_test(every_order_pages_without_loss_or_repeat),
		contract_test(orders_are_what_they_say),
		contract_test(pages_stay_right_while_rows_come),
		contract_test(a_foreign_cursor_is_refused),
		contract_test(kernels_page_sort_and_search),
		contract_test(bundles_page_newest_first),
		contract_test(tokens_are_found_until_revoked_or_expired),
		contract_test(audit_rows_come_back_newest_first),
		contract_test(audit_rows_are_filtered_by_action),
		contract_test(settings_keep_the_first_when_told_so),
		contract_test(data_outlive_the_process),
		contract_test(no_segment_gets_a_name_that_is_in_use),
		contract_test(a_backup_opens_as_a_store),
		contract_test(many_threads_read_and_write_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
