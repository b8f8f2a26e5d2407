/* SPDX-License-Identifier: Apache-2.0 */
/* Contract of store/blob.h. Included by one test program per implementation, see contract.h. */
#include "tests/store/contract.h"

#include <sys/resource.h>

static void put_text(struct place *p, const char *text, uint8_t sha256[FSC_SHA256_LEN],
		     bool *existed)
{
	struct fsc_blob_put *put;

	assert_ok(p, fsc_blob_put_begin(&put, p->b, &p->err));
	/* in two parts, so that hashing is seen to stream */
	assert_ok(p, fsc_blob_put_write(put, text, strlen(text) / 2, &p->err));
	assert_ok(p, fsc_blob_put_write(put, text + strlen(text) / 2,
					strlen(text) - strlen(text) / 2, &p->err));
	assert_int_equal(fsc_blob_put_bytes(put), strlen(text));
	assert_ok(p, fsc_blob_put_commit(put, sha256, existed, &p->err));
}

static void assert_content(int fd, const char *text)
{
	char buf[256];
	ssize_t n = read(fd, buf, sizeof(buf));

	assert_int_equal(n, strlen(text));
	assert_memory_equal(buf, text, strlen(text));
	close(fd);
}

static void a_blob_is_named_by_its_digest(void **state)
{
	struct place *p = *state;
	uint8_t sha256[FSC_SHA256_LEN], want[FSC_SHA256_LEN];
	uint64_t size;
	bool existed;
	int fd;

	digest_of(want, "hello blob");
	assert_fails(p, fsc_blob_open(p->b, want, &fd, NULL, &p->err), FSC_ENOTFOUND, "not_found");
	put_text(p, "hello blob", sha256, &existed);
	assert_memory_equal(sha256, want, sizeof(want));
	assert_false(existed);
	assert_ok(p, fsc_blob_open(p->b, sha256, &fd, &size, &p->err));
	assert_int_equal(size, 10);
	assert_content(fd, "hello blob");
	assert_ok(p, fsc_blob_stat(p->b, sha256, &size, &p->err));
	assert_int_equal(size, 10);
	put_text(p, "hello blob", sha256, &existed);
	assert_true(existed);
	assert_int_equal(count_files(p, FSC_BLOB_BLOB), 1);
	assert_int_equal(count_files(p, FSC_BLOB_TEMP), 0);
	assert_ok(p, fsc_blob_delete(p->b, sha256, &p->err));
	assert_int_equal(fsc_blob_delete(p->b, sha256, &p->err), FSC_ENOTFOUND);
	assert_int_equal(fsc_blob_stat(p->b, sha256, &size, &p->err), FSC_ENOTFOUND);
}

static void an_aborted_put_leaves_nothing(void **state)
{
	struct place *p = *state;
	struct fsc_blob_put *put;
	uint8_t sha256[FSC_SHA256_LEN];

	assert_ok(p, fsc_blob_put_begin(&put, p->b, &p->err));
	assert_ok(p, fsc_blob_put_write(put, "abc", 3, &p->err));
	assert_int_equal(count_files(p, FSC_BLOB_TEMP), 1);
	assert_int_equal(count_files(p, FSC_BLOB_BLOB), 0); /* not there before commit */
	fsc_blob_put_abort(put);
	assert_int_equal(count_files(p, FSC_BLOB_TEMP), 0);
	assert_ok(p, fsc_blob_put_begin(&put, p->b, &p->err));
	assert_ok(p, fsc_blob_put_finish(put, sha256, &p->err));
	assert_int_equal(fsc_blob_put_write(put, "abc", 3, &p->err), FSC_EINVAL);
	fsc_blob_put_abort(put);
	fsc_blob_put_abort(NULL);
	assert_int_equal(count_files(p, FSC_BLOB_TEMP), 0);
	assert_int_equal(count_files(p, FSC_BLOB_BLOB), 0);
}

static void put_segment(struct place *p, int64_t trace, const char *text)
{
	struct fsc_seg_put *put;
	int fd;

	assert_ok(p, fsc_seg_put_begin(&put, p->b, &fd, &p->err));
	assert_int_equal(pwrite(fd, text, strlen(text), 0), strlen(text));
	assert_ok(p, fsc_seg_put_commit(put, trace, &p->err));
}

static void a_segment_replaces_the_one_before(void **state)
{
	struct place *p = *state;
	int before, after;
	uint64_t size;

	put_segment(p, 77, "one");
	assert_ok(p, fsc_seg_file_open(p->b, 77, &before, &size, &p->err));
	assert_int_equal(size, 3);
	put_segment(p, 77, "second");
	assert_ok(p, fsc_seg_file_open(p->b, 77, &after, &size, &p->err));
	assert_int_equal(size, 6);
	assert_content(before, "one"); /* who has it open keeps what it opened */
	assert_content(after, "second");
	assert_int_equal(count_files(p, FSC_BLOB_SEGMENT), 1);
	assert_ok(p, fsc_seg_file_delete(p->b, 77, &p->err));
	assert_int_equal(fsc_seg_file_open(p->b, 77, &after, NULL, &p->err), FSC_ENOTFOUND);
}

static void an_aborted_segment_leaves_nothing(void **state)
{
	struct place *p = *state;
	struct fsc_seg_put *put;
	int fd;

	assert_ok(p, fsc_seg_put_begin(&put, p->b, &fd, &p->err));
	assert_int_equal(write(fd, "abc", 3), 3);
	assert_ok(p, fsc_seg_put_finish(put, &p->err));
	assert_ok(p, fsc_seg_put_finish(put, &p->err));
	fsc_seg_put_abort(put);
	fsc_seg_put_abort(NULL);
	assert_int_equal(count_files(p, FSC_BLOB_TEMP), 0);
	assert_int_equal(count_files(p, FSC_BLOB_SEGMENT), 0);
}

static void a_scratch_file_has_no_name(void **state)
{
	struct place *p = *state;
	char buf[4] = "";
	int fd;

	assert_ok(p, fsc_blobs_scratch(p->b, &fd, &p->err));
	assert_int_equal(pwrite(fd, "abc", 3, 0), 3);
	assert_int_equal(pread(fd, buf, 3, 0), 3);
	assert_string_equal(buf, "abc");
	assert_int_equal(count_files(p, FSC_BLOB_TEMP), 0);
	close(fd);
}

static enum fsc_status take_entry(void *ctx, const struct fsc_blob_entry *e, struct fsc_err *err)
{
	(void)err;
	*(struct fsc_blob_entry *)ctx = *e;
	return FSC_OK;
}

static enum fsc_status delete_temp(void *ctx, const struct fsc_blob_entry *e, struct fsc_err *err)
{
	return fsc_blobs_temp_delete(ctx, e->temp, err);
}

static void listing_tells_what_is_there(void **state)
{
	struct place *p = *state;
	uint8_t sha256[FSC_SHA256_LEN];
	struct fsc_blob_entry e;
	struct fsc_blob_put *put;
	int64_t now = fsc_clock_real_ns();

	put_text(p, "some bytes", sha256, NULL);
	put_segment(p, 123456789012345, "seg");
	assert_ok(p, fsc_blobs_list(p->b, FSC_BLOB_BLOB, take_entry, &e, &p->err));
	assert_int_equal(e.kind, FSC_BLOB_BLOB);
	assert_memory_equal(e.sha256, sha256, sizeof(sha256));
	assert_int_equal(e.bytes, 10);
	assert_true(e.modified_at_ns > now - 10000000000 && e.modified_at_ns < now + 10000000000);
	assert_ok(p, fsc_blobs_list(p->b, FSC_BLOB_SEGMENT, take_entry, &e, &p->err));
	assert_true(e.segment == 123456789012345 && e.bytes == 3);
	assert_ok(p, fsc_blob_put_begin(&put, p->b, &p->err));
	assert_ok(p, fsc_blobs_list(p->b, FSC_BLOB_TEMP, delete_temp, p->b, &p->err));
	assert_int_equal(count_files(p, FSC_BLOB_TEMP), 0);
	/* a put whose file was swept away fails, it does not pretend */
	assert_ok(p, fsc_blob_put_write(put, "abc", 3, &p->err));
	assert_int_equal(fsc_blob_put_commit(put, sha256, NULL, &p->err), FSC_ENOTFOUND);
	assert_fails(p, fsc_blobs_temp_delete(p->b, "../store.db", &p->err), FSC_EINVAL, "invalid");
}

static void uploads_that_do_not_fit_are_refused(void **state)
{
	struct place *p = *state;
	struct fsc_blobs_opts o = { .min_free_bytes = 1 };
	struct fsc_blobs *b;
	uint64_t free_bytes;

	assert_ok(p, fsc_blobs_open(&b, p->blobs_url, &o, &p->err));
	assert_ok(p, fsc_blobs_free_bytes(b, &free_bytes, &p->err));
	assert_true(free_bytes > 0);
	assert_ok(p, fsc_blobs_admit(b, 1, &p->err));
	assert_fails(p, fsc_blobs_admit(b, 2 * free_bytes, &p->err), FSC_EFULL, "disk_full");
	assert_fails(p, fsc_blobs_admit(b, UINT64_MAX, &p->err), FSC_EFULL, "disk_full");
	fsc_blobs_close(b);
	o.min_free_bytes = UINT64_MAX;
	assert_ok(p, fsc_blobs_open(&b, p->blobs_url, &o, &p->err));
	assert_fails(p, fsc_blobs_admit(b, 0, &p->err), FSC_EFULL, "disk_full");
	fsc_blobs_close(b);
}

static void the_reserve_can_be_given_up_and_taken_back(void **state)
{
	struct place *p = *state;

	assert_ok(p, fsc_blobs_reserve_release(p->b, &p->err));
	assert_ok(p, fsc_blobs_reserve_release(p->b, &p->err));
	assert_ok(p, fsc_blobs_reserve_take(p->b, &p->err));
	assert_ok(p, fsc_blobs_reserve_take(p->b, &p->err));
}

/* A second folder, opened as backups do. */
static struct fsc_blobs *other_blobs(struct place *p)
{
	const struct fsc_blobs_opts use = { .use = FSC_BLOBS_COPY };
	char url[400];
	struct fsc_blobs *b;

	snprintf(url, sizeof(url), "%s-2", p->blobs_url);
	assert_ok(p, fsc_blobs_open(&b, url, &use, &p->err));
	return b;
}

static void what_is_held_is_not_deleted_by_anyone(void **state)
{
	struct place *p = *state;
	uint8_t sha256[FSC_SHA256_LEN];
	uint64_t size;
	int hold, again;

	put_text(p, "held", sha256, NULL);
	assert_ok(p, fsc_blobs_hold(&hold, p->b, 0, &p->err));
	assert_fails(p, fsc_blob_delete(p->b, sha256, &p->err), FSC_EBUSY, "files_held");
	assert_fails(p, fsc_seg_file_delete(p->b, 1, &p->err), FSC_EBUSY, "files_held");
	assert_fails(p, fsc_blobs_hold(&again, p->b, 50, &p->err), FSC_EBUSY, "files_held");
	put_text(p, "uploads go on", sha256, NULL);
	close(hold);
	assert_ok(p, fsc_blob_delete(p->b, sha256, &p->err));
	assert_fails(p, fsc_blob_stat(p->b, sha256, &size, &p->err), FSC_ENOTFOUND, "not_found");
	assert_ok(p, fsc_blobs_hold(&hold, p->b, 0, &p->err));
	close(hold);
}

/* Without a descriptor to look at the lock of a backup, nothing is deleted: it might run. */
static void without_descriptors_nothing_is_deleted(void **state)
{
	struct place *p = *state;
	uint8_t sha256[FSC_SHA256_LEN];
	struct rlimit was, none;
	uint64_t size;
	enum fsc_status st;

	put_text(p, "stays", sha256, NULL);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	none = was;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	st = fsc_blob_delete(p->b, sha256, &p->err);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	assert_true(st < 0);
	fsc_err_clear(&p->err);
	assert_ok(p, fsc_blob_stat(p->b, sha256, &size, &p->err));
	assert_ok(p, fsc_blob_delete(p->b, sha256, &p->err));
}

static void a_file_is_copied_whole_under_its_name(void **state)
{
	struct place *p = *state;
	struct fsc_blob_copy c = { .dst = other_blobs(p), .src = p->b };
	uint8_t sha256[FSC_SHA256_LEN], none[FSC_SHA256_LEN];
	bool fresh;
	int fd;

	digest_of(none, "nothing has this digest");
	put_text(p, "copy me", sha256, NULL);
	for (int link = 0; link < 2; link++) {
		c.link = link;
		c.again = false;
		assert_ok(p, fsc_blob_copy(&c, sha256, 7, &fresh, &p->err));
		assert_true(fresh);
		assert_ok(p, fsc_blob_copy(&c, sha256, 7, &fresh, &p->err));
		assert_false(fresh);
		c.again = true;
		assert_ok(p, fsc_blob_copy(&c, sha256, 7, &fresh, &p->err));
		assert_true(fresh);
		assert_ok(p, fsc_blobs_sync(c.dst, &p->err));
		assert_ok(p, fsc_blob_open(c.dst, sha256, &fd, NULL, &p->err));
		assert_content(fd, "copy me");
		assert_ok(p, fsc_blob_delete(c.dst, sha256, &p->err));
	}
	assert_fails(p, fsc_blob_copy(&c, sha256, 8, NULL, &p->err), FSC_ECORRUPT, "size");
	assert_fails(p, fsc_blob_copy(&c, none, 8, NULL, &p->err), FSC_ENOTFOUND, "not_found");
	fsc_blobs_close(c.dst);
}

static void a_folder_opened_for_reading_is_not_made(void **state)
{
	struct place *p = *state;
	const struct fsc_blobs_opts use = { .use = FSC_BLOBS_READ };
	char url[400];
	struct fsc_blobs *b;

	snprintf(url, sizeof(url), "%s-3", p->blobs_url);
	assert_fails(p, fsc_blobs_open(&b, url, &use, &p->err), FSC_ENOTFOUND, "not_found");
}

static void data_outlive_the_process(void **state)
{
	struct place *p = *state;
	uint8_t sha256[FSC_SHA256_LEN];
	int fd;

	put_text(p, "kept", sha256, NULL);
	place_close(p);
	place_open(p);
	assert_ok(p, fsc_blob_open(p->b, sha256, &fd, NULL, &p->err));
	assert_content(fd, "kept");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		contract_test(a_blob_is_named_by_its_digest),
		contract_test(an_aborted_put_leaves_nothing),
		contract_test(a_segment_replaces_the_one_before),
		contract_test(an_aborted_segment_leaves_nothing),
		contract_test(a_scratch_file_has_no_name),
		contract_test(listing_tells_what_is_there),
		contract_test(uploads_that_do_not_fit_are_refused),
		contract_test(the_reserve_can_be_given_up_and_taken_back),
		contract_test(what_is_held_is_not_deleted_by_anyone),
		contract_test(without_descriptors_nothing_is_deleted),
		contract_test(a_file_is_copied_whole_under_its_name),
		contract_test(a_folder_opened_for_reading_is_not_made),
		contract_test(data_outlive_the_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
