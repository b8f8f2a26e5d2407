/* SPDX-License-Identifier: Apache-2.0 */
/* Contract of store/uploads.h and of the parts of store/blob.h. Included by one test program per
 * implementation, see contract.h. */
#include "tests/store/contract.h"

#include "store/uploads.h"

static enum fsc_status take_entry(void *ctx, const struct fsc_blob_entry *e, struct fsc_err *err)
{
	struct fsc_blob_entry *out = ctx;

	(void)err;
	*out = *e;
	return FSC_OK;
}

static struct fsc_blob_entry last(struct place *p, enum fsc_blob_kind kind)
{
	struct fsc_blob_entry e = { .bytes = 0 };

	assert_ok(p, fsc_blobs_list(p->b, kind, take_entry, &e, &p->err));
	return e;
}

static void assert_blob(struct place *p, const uint8_t sha256[FSC_SHA256_LEN], const char *text)
{
	char buf[256];
	int fd;

	assert_ok(p, fsc_blob_open(p->b, sha256, &fd, NULL, &p->err));
	assert_int_equal(read(fd, buf, sizeof(buf)), strlen(text));
	assert_memory_equal(buf, text, strlen(text));
	close(fd);
}

/* ---- parts ---- */

static void a_part_stays_when_it_is_left_and_goes_on_where_it_ended(void **state)
{
	struct place *p = *state;
	struct fsc_blob_put *put;
	uint8_t sha256[FSC_SHA256_LEN], want[FSC_SHA256_LEN];
	bool existed;

	assert_fails(p, fsc_blob_part_resume(&put, p->b, 7, &p->err), FSC_ENOTFOUND, "not_found");
	assert_ok(p, fsc_blob_part_begin(&put, p->b, 7, &p->err));
	assert_ok(p, fsc_blob_put_write(put, "one ", 4, &p->err));
	assert_ok(p, fsc_blob_part_pause(put, &p->err));
	assert_ok(p, fsc_blob_part_pause(put, &p->err));
	assert_ok(p, fsc_blob_put_write(put, "two", 3, &p->err));
	fsc_blob_part_rest(put);
	assert_ok(p, fsc_blob_put_write(put, " ", 1, &p->err));
	fsc_blob_part_rest(put);
	fsc_blob_put_abort(put);
	assert_fails(p, fsc_blob_part_begin(&put, p->b, 7, &p->err), FSC_EEXIST, "exists");
	place_close(p);
	place_open(p);
	assert_true(last(p, FSC_BLOB_PART).part == 7 && last(p, FSC_BLOB_PART).bytes == 8);
	assert_ok(p, fsc_blob_part_resume(&put, p->b, 7, &p->err));
	assert_int_equal(fsc_blob_put_bytes(put), 8);
	assert_false(fsc_blob_part_sealed(put));
	assert_ok(p, fsc_blob_put_write(put, "three", 5, &p->err));
	assert_ok(p, fsc_blob_put_commit(put, sha256, &existed, &p->err));
	assert_false(existed);
	/* also of what another process wrote */
	digest_of(want, "one two three");
	assert_memory_equal(sha256, want, sizeof(want));
	assert_blob(p, want, "one two three");
	assert_ok(p, fsc_blob_part_delete(p->b, 7, &p->err));
	assert_blob(p, want, "one two three");
	assert_int_equal(fsc_blob_part_delete(p->b, 7, &p->err), FSC_ENOTFOUND);
}

static void a_part_that_was_committed_takes_nothing_more_and_is_committed_again(void **state)
{
	struct place *p = *state;
	struct fsc_blob_put *put;
	uint8_t sha256[FSC_SHA256_LEN];
	bool existed;

	assert_ok(p, fsc_blob_part_begin(&put, p->b, 8, &p->err));
	assert_ok(p, fsc_blob_put_write(put, "whole", 5, &p->err));
	assert_ok(p, fsc_blob_put_commit(put, sha256, NULL, &p->err));
	/* a crash here: the blob is there, its rows are not */
	assert_ok(p, fsc_blob_part_resume(&put, p->b, 8, &p->err));
	assert_true(fsc_blob_part_sealed(put));
	assert_int_equal(fsc_blob_put_write(put, "more", 4, &p->err), FSC_EINVAL);
	assert_blob(p, sha256, "whole");
	assert_ok(p, fsc_blob_put_commit(put, sha256, &existed, &p->err));
	assert_true(existed);
	assert_blob(p, sha256, "whole");
	assert_int_equal(last(p, FSC_BLOB_TEMP).bytes, 0);
	assert_ok(p, fsc_blob_part_delete(p->b, 8, &p->err));
	assert_blob(p, sha256, "whole");
}

/* ---- rows ---- */

static struct fsc_upload_row new_row(struct place *p, int64_t expires)
{
	return (struct fsc_upload_row){ .id = fsc_store_new_id(p->s),
					.project = FSC_PROJECT_DEFAULT,
					.length = -1,
					.name = "x",
					.rank = -1,
					.idempotency_key = "key",
					.actor = "loopback",
					.created_at_ns = 1,
					.expires_at_ns = expires };
}

static void a_row_is_kept_as_it_was_given(void **state)
{
	struct place *p = *state;
	struct fsc_upload_row in = new_row(p, 1000), out;
	bool yes;

	in.job = "j";
	in.rank = 3;
	in.has_sha256 = true;
	digest_of(in.sha256, "a");
	assert_ok(p, fsc_store_upload_put(p->s, &in, 10, &p->err));
	assert_ok(p, fsc_store_upload_get(p->s, &p->a, in.project, in.id, &out, &p->err));
	assert_true(out.length == -1 && out.rank == 3 && out.expires_at_ns == 1000 && !out.bundle);
	assert_string_equal(out.name, "x");
	assert_string_equal(out.job, "j");
	assert_null(out.host);
	assert_string_equal(out.idempotency_key, "key");
	assert_true(out.has_sha256);
	assert_memory_equal(out.sha256, in.sha256, FSC_SHA256_LEN);
	assert_fails(p, fsc_store_upload_get(p->s, &p->a, in.project + 1, in.id, &out, &p->err),
		     FSC_ENOTFOUND, "not_found");
	assert_ok(p, fsc_store_upload_update(p->s, in.id, 55, 2000, &p->err));
	assert_ok(p, fsc_store_upload_update(p->s, in.id, -1, 3000, &p->err));
	assert_ok(p, fsc_store_upload_get(p->s, &p->a, in.project, in.id, &out, &p->err));
	assert_true(out.length == 55 && out.expires_at_ns == 3000);
	assert_ok(p, fsc_store_upload_delete(p->s, in.id, &p->err));
	assert_ok(p, fsc_store_upload_delete(p->s, in.id, &p->err));
	assert_ok(p, fsc_store_upload_exists(p->s, in.id, &yes, &p->err));
	assert_false(yes);
}

static void a_key_finds_what_goes_on_and_has_not_expired(void **state)
{
	struct place *p = *state;
	struct fsc_upload_row old = new_row(p, 100), in = new_row(p, 1000), out;

	assert_ok(p, fsc_store_upload_put(p->s, &old, 10, &p->err));
	assert_ok(p, fsc_store_upload_put(p->s, &in, 10, &p->err));
	assert_ok(p, fsc_store_upload_by_key(p->s, &p->a, 1, "key", 500, &out, &p->err));
	assert_true(out.id == in.id);
	assert_fails(p, fsc_store_upload_by_key(p->s, &p->a, 1, "key", 1000, &out, &p->err),
		     FSC_ENOTFOUND, "not_found");
	assert_fails(p, fsc_store_upload_by_key(p->s, &p->a, 2, "key", 1, &out, &p->err),
		     FSC_ENOTFOUND, "not_found");
}

static void a_project_has_at_most_so_many_that_go_on(void **state)
{
	struct place *p = *state;
	struct fsc_upload_row a = new_row(p, 1), b = new_row(p, 2), c = new_row(p, 3);

	assert_ok(p, fsc_store_upload_put(p->s, &a, 2, &p->err));
	assert_ok(p, fsc_store_upload_put(p->s, &b, 2, &p->err));
	assert_fails(p, fsc_store_upload_put(p->s, &c, 2, &p->err), FSC_EBUSY, "too_many_uploads");
	assert_ok(p, fsc_store_upload_delete(p->s, a.id, &p->err));
	assert_ok(p, fsc_store_upload_put(p->s, &c, 2, &p->err));
}

static void its_end_is_written_with_the_bundle(void **state)
{
	struct place *p = *state;
	struct fsc_upload_row in = new_row(p, 1000), out;
	struct fsc_bundle_new n = new_bundle("bytes", "x");
	struct fsc_bundle_put put;
	struct fsc_upload_rows rows;

	assert_ok(p, fsc_store_upload_put(p->s, &in, 10, &p->err));
	assert_ok(p, fsc_store_upload_list(p->s, &p->a, true, 0, 0, 10, &rows, &p->err));
	assert_true(rows.n_items == 1 && rows.items[0].id == in.id);
	n.upload = in.id;
	assert_ok(p, fsc_store_bundle_put(p->s, &n, &put, &p->err));
	assert_ok(p, fsc_store_upload_get(p->s, &p->a, in.project, in.id, &out, &p->err));
	assert_true(out.bundle == put.id && !out.duplicate && out.length == 5);
	assert_ok(p, fsc_store_upload_list(p->s, &p->a, true, 0, 0, 10, &rows, &p->err));
	assert_int_equal(rows.n_items, 0);
	/* it can be asked for a while what it became */
	assert_ok(p, fsc_store_upload_list(p->s, &p->a, false, fsc_clock_real_ns(), 0, 10, &rows,
					   &p->err));
	assert_int_equal(rows.n_items, 0);
	assert_ok(p, fsc_store_upload_list(p->s, &p->a, false, INT64_MAX, 0, 10, &rows, &p->err));
	assert_int_equal(rows.n_items, 1);
	assert_ok(p,
		  fsc_store_upload_list(p->s, &p->a, false, INT64_MAX, in.id, 10, &rows, &p->err));
	assert_int_equal(rows.n_items, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		contract_test(a_part_stays_when_it_is_left_and_goes_on_where_it_ended),
		contract_test(a_part_that_was_committed_takes_nothing_more_and_is_committed_again),
		contract_test(a_row_is_kept_as_it_was_given),
		contract_test(a_key_finds_what_goes_on_and_has_not_expired),
		contract_test(a_project_has_at_most_so_many_that_go_on),
		contract_test(its_end_is_written_with_the_bundle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
