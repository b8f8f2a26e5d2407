/* SPDX-License-Identifier: Apache-2.0 */
/* Uploads in several sittings: age, room on the disk, limits, and what the sweep takes. */
#define CONTRACT_STORE_URL "sqlite:%s/store.db"
#define CONTRACT_BLOBS_URL "dir:%s/blobs"
#include "tests/store/contract.h"

#include <time.h>

#include "service/uploads.h"
#include "store/blob_ops.h"
#include "store/store_ops.h"
#include "store/uploads.h"

#define HOUR_NS 3600000000000LL

struct both {
	struct fsc_ingest *in;
	struct fsc_uploads *u;
};

static struct both open_both(struct place *p, uint32_t max_open, int64_t max_age_ns)
{
	struct both b;

	b.in = fsc_ingest_new(&(struct fsc_ingest_opts){ .store = p->s, .blobs = p->b });
	b.u = fsc_uploads_new(&(struct fsc_uploads_opts){ .store = p->s,
							  .blobs = p->b,
							  .ingest = b.in,
							  .max_open = max_open,
							  .max_age_ns = max_age_ns });
	assert_ok(p, fsc_uploads_load(b.u, &p->err));
	return b;
}

static void close_both(struct both *b)
{
	fsc_uploads_free(b->u);
	fsc_ingest_free(b->in);
}

static enum fsc_status piece(struct place *p, struct fsc_uploads *u,
			     const struct fsc_piece_begin *b, const char *text,
			     struct fsc_piece_done *done)
{
	struct fsc_upload_state state;
	struct fsc_piece *w;
	enum fsc_status st = fsc_piece_begin(&w, u, b, &state, &p->err);

	if (st != FSC_OK)
		return st;
	if (*text)
		st = fsc_piece_write(w, text, strlen(text), &p->err);
	if (st != FSC_OK) {
		fsc_piece_abort(w);
		return st;
	}
	return fsc_piece_end(w, done, &p->err);
}

static int64_t begin(struct place *p, struct fsc_uploads *u, int64_t length)
{
	struct fsc_piece_begin b = FSC_PIECE_BEGIN_INIT;
	struct fsc_piece_done done;

	b.length = length;
	b.bytes = 0;
	assert_ok(p, piece(p, u, &b, "", &done));
	return done.state.id;
}

static enum fsc_status go_on(struct place *p, struct fsc_uploads *u, int64_t id, int64_t offset,
			     const char *text, bool complete, struct fsc_piece_done *done)
{
	struct fsc_piece_begin b = FSC_PIECE_BEGIN_INIT;

	b.id = id;
	b.offset = offset;
	b.bytes = (int64_t)strlen(text);
	b.complete = complete;
	return piece(p, u, &b, text, done);
}

static int parts(struct place *p)
{
	return count_files(p, FSC_BLOB_PART);
}

static void what_has_expired_is_gone_and_swept(void **state)
{
	struct place *p = *state;
	struct both b = open_both(p, 0, 300000000);
	struct fsc_piece_done done;
	struct fsc_upload_state where;
	struct fsc_buf text = FSC_BUF_INIT(64 * FSC_KIB);
	int64_t id = begin(p, b.u, 100);
	bool yes;

	assert_ok(p, go_on(p, b.u, id, 0, "hello", false, &done));
	assert_ok(p, fsc_uploads_sweep(b.u, &p->err));
	assert_ok(p, fsc_uploads_state(b.u, 1, id, &where, &p->err));
	assert_int_equal(where.offset, 5);
	nanosleep(&(struct timespec){ .tv_nsec = 400000000 }, NULL);
	assert_fails(p, fsc_uploads_state(b.u, 1, id, &where, &p->err), FSC_ENOTFOUND,
		     "no_such_upload");
	assert_fails(p, go_on(p, b.u, id, 5, "x", false, &done), FSC_ENOTFOUND, "no_such_upload");
	assert_int_equal(parts(p), 1);
	assert_ok(p, fsc_uploads_sweep(b.u, &p->err));
	assert_int_equal(parts(p), 0);
	assert_ok(p, fsc_store_upload_exists(p->s, id, &yes, &p->err));
	assert_false(yes);
	fsc_uploads_metrics(b.u, &text);
	assert_non_null(strstr(text.data, "ended_total{how=\"expired\"} 1\n"));
	assert_non_null(strstr(text.data, "expired_bytes_total 5\n"));
	assert_non_null(strstr(text.data, "promised_bytes 0\n"));
	fsc_buf_fini(&text);
	close_both(&b);
}

static void a_piece_gives_an_upload_more_time(void **state)
{
	struct place *p = *state;
	struct both b = open_both(p, 0, HOUR_NS);
	struct fsc_piece_done done;
	struct fsc_upload_row row;
	int64_t id = begin(p, b.u, 100), now = fsc_clock_real_ns();

	close_both(&b);
	/* as if most of the hour had passed */
	assert_ok(p, fsc_store_upload_update(p->s, id, -1, now + HOUR_NS / 10, &p->err));
	b = open_both(p, 0, HOUR_NS);
	assert_ok(p, go_on(p, b.u, id, 0, "hello", false, &done));
	assert_ok(p, fsc_store_upload_get(p->s, &p->a, 1, id, &row, &p->err));
	assert_true(row.expires_at_ns >= now + HOUR_NS);
	close_both(&b);
}

static void a_project_has_a_limit_of_uploads_that_go_on(void **state)
{
	struct place *p = *state;
	struct both b = open_both(p, 2, 0);
	struct fsc_piece_begin more = FSC_PIECE_BEGIN_INIT;
	struct fsc_piece_done done;
	int64_t first = begin(p, b.u, 5);

	begin(p, b.u, 5);
	more.bytes = 0;
	assert_fails(p, piece(p, b.u, &more, "", &done), FSC_EBUSY, "too_many_uploads");
	assert_int_equal(parts(p), 2);
	more.project = 2;
	/* of another project, which has none: refused by the store only, for there is no such project */
	assert_int_not_equal(piece(p, b.u, &more, "", &done), FSC_EBUSY);
	more.project = 1;
	assert_ok(p, go_on(p, b.u, first, 0, "hello", true, &done));
	assert_true(done.state.complete);
	assert_ok(p, piece(p, b.u, &more, "", &done));
	close_both(&b);
}

static void announced_bytes_count_until_they_are_written_also_over_a_restart(void **state)
{
	struct place *p = *state;
	struct both b = open_both(p, 0, 0);
	struct fsc_piece_begin big = FSC_PIECE_BEGIN_INIT;
	struct fsc_piece_done done;
	int64_t id = 0, n = 0;

	big.length = 16 * FSC_GIB;
	big.bytes = 0;
	/* none of them brings a byte: only what was announced fills the disk */
	for (; n < 4000 && piece(p, b.u, &big, "", &done) == FSC_OK; n++)
		id = done.state.id;
	assert_true(n > 0 && n < 4000);
	assert_string_equal(p->err.code, "disk_full");
	close_both(&b);
	b = open_both(p, 0, 0);
	assert_fails(p, piece(p, b.u, &big, "", &done), FSC_EFULL, "disk_full");
	assert_ok(p, fsc_uploads_cancel(b.u, 1, id, &p->err));
	assert_ok(p, piece(p, b.u, &big, "", &done));
	assert_int_equal(parts(p), n);
	close_both(&b);
}

/* What is left when the server dies after the blob is in place and before its rows are written. */
static void a_crash_before_the_rows_of_the_end_loses_nothing(void **state)
{
	struct place *p = *state;
	struct both b = open_both(p, 0, 0);
	struct fsc_piece_done done;
	struct fsc_blob_put *put;
	uint8_t sha256[FSC_SHA256_LEN];
	uint64_t size;
	int64_t id = begin(p, b.u, -1);

	assert_ok(p, go_on(p, b.u, id, 0, "hello", false, &done));
	close_both(&b);
	assert_ok(p, fsc_blob_part_resume(&put, p->b, id, &p->err));
	assert_ok(p, fsc_blob_put_commit(put, sha256, NULL, &p->err));
	b = open_both(p, 0, 0);
	assert_fails(p, go_on(p, b.u, id, 5, "more", false, &done), FSC_EEXIST, "upload_complete");
	assert_ok(p, go_on(p, b.u, id, 5, "", true, &done));
	assert_true(done.state.complete && done.bundle.bytes == 5);
	assert_memory_equal(done.bundle.sha256, sha256, FSC_SHA256_LEN);
	assert_ok(p, fsc_blob_stat(p->b, sha256, &size, &p->err));
	assert_int_equal(size, 5);
	assert_int_equal(parts(p), 0);
	close_both(&b);
}

static void a_row_whose_bytes_are_lost_is_no_upload(void **state)
{
	struct place *p = *state;
	struct both b = open_both(p, 0, 0);
	struct fsc_upload_state where;
	int64_t id = begin(p, b.u, -1);

	close_both(&b);
	assert_ok(p, fsc_blob_part_delete(p->b, id, &p->err));
	b = open_both(p, 0, 0);
	assert_fails(p, fsc_uploads_state(b.u, 1, id, &where, &p->err), FSC_ENOTFOUND,
		     "no_such_upload");
	close_both(&b);
}

static void begin_writing(struct place *p, struct fsc_piece **w, struct fsc_uploads *u, int64_t id,
			  const char *text)
{
	struct fsc_piece_begin b = FSC_PIECE_BEGIN_INIT;
	struct fsc_upload_state state;

	b.id = id;
	assert_ok(p, fsc_piece_begin(w, u, &b, &state, &p->err));
	assert_ok(p, fsc_piece_write(*w, text, strlen(text), &p->err));
}

static void what_is_written_to_does_not_expire_under_the_writer(void **state)
{
	struct place *p = *state;
	struct both b = open_both(p, 0, 300000000);
	struct fsc_piece_done done;
	struct fsc_upload_state where;
	struct fsc_piece *w;
	int64_t id = begin(p, b.u, 10);

	begin_writing(p, &w, b.u, id, "hello");
	nanosleep(&(struct timespec){ .tv_nsec = 400000000 }, NULL);
	assert_ok(p, fsc_uploads_sweep(b.u, &p->err));
	assert_ok(p, fsc_piece_write(w, "world", 5, &p->err));
	assert_ok(p, fsc_piece_end(w, &done, &p->err));
	assert_ok(p, fsc_uploads_state(b.u, 1, id, &where, &p->err));
	assert_int_equal(where.offset, 10);
	close_both(&b);
}

static struct fsc_blobs_ops ops; /* outlives the test, as its files do */
static unsigned syncs;
static bool sync_fails;
static enum fsc_status (*real_pause)(struct fsc_blob_sink *s, struct fsc_err *err);
static enum fsc_status counted_pause(struct fsc_blob_sink *s, struct fsc_err *err)
{
	syncs++;
	return sync_fails ? fsc_err_set(err, FSC_EIO, "part_lost", "test") : real_pause(s, err);
}

static void count_syncs(struct place *p)
{
	ops = *p->b->ops;
	real_pause = ops.sink_pause;
	ops.sink_pause = counted_pause;
	p->b->ops = &ops;
	syncs = 0;
	sync_fails = false;
}

/* fsc_piece_begin runs on an I/O thread, which hundreds of connections share. */
static void a_wrong_offset_makes_nobody_wait_for_the_disk(void **state)
{
	struct place *p = *state;
	struct both b = open_both(p, 0, 0);
	struct fsc_piece_begin wrong = FSC_PIECE_BEGIN_INIT;
	struct fsc_upload_state where = { 0 };
	struct fsc_piece *w;

	wrong.id = begin(p, b.u, 10);
	wrong.offset = 3;
	begin_writing(p, &w, b.u, wrong.id, "hello");
	fsc_piece_abort(w);
	count_syncs(p);
	assert_fails(p, fsc_piece_begin(&w, b.u, &wrong, &where, &p->err), FSC_EBUSY,
		     "upload_busy");
	assert_int_equal(syncs, 0);
	assert_ok(p, fsc_uploads_state(b.u, 1, wrong.id, &where, &p->err));
	assert_int_equal(syncs, 1);
	where.offset = -1;
	assert_fails(p, fsc_piece_begin(&w, b.u, &wrong, &where, &p->err), FSC_EEXIST,
		     "upload_offset");
	assert_int_equal(where.offset, 5);
	assert_int_equal(syncs, 1);
	close_both(&b);
}

/* A second fdatasync says that all is well when the first has thrown the pages away. */
static void bytes_that_could_not_be_synced_are_never_told_as_kept(void **state)
{
	struct place *p = *state;
	struct both b = open_both(p, 0, 0);
	struct fsc_upload_state where;
	struct fsc_piece *w;
	int64_t id = begin(p, b.u, 10);

	begin_writing(p, &w, b.u, id, "hello");
	fsc_piece_abort(w);
	count_syncs(p);
	sync_fails = true;
	assert_fails(p, fsc_uploads_state(b.u, 1, id, &where, &p->err), FSC_EIO, "part_lost");
	sync_fails = false;
	assert_fails(p, fsc_uploads_state(b.u, 1, id, &where, &p->err), FSC_ENOTFOUND,
		     "no_such_upload");
	assert_int_equal(parts(p), 0);
	close_both(&b);
}

static enum fsc_status no_write(struct fsc_store *s, fsc_work_fn *work, void *arg, bool alone,
				struct fsc_err *err)
{
	(void)s, (void)work, (void)arg, (void)alone;
	return fsc_err_set(err, FSC_EBUSY, "store_busy", "test");
}

static void a_cancel_that_failed_is_not_told_as_done(void **state)
{
	struct place *p = *state;
	struct both b = open_both(p, 0, 0);
	const struct fsc_store_ops *real = p->s->ops;
	struct fsc_store_ops refusing = *real;
	struct fsc_upload_state where;
	int64_t id = begin(p, b.u, 10);

	refusing.write = no_write;
	p->s->ops = &refusing;
	assert_fails(p, fsc_uploads_cancel(b.u, 1, id, &p->err), FSC_EBUSY, "store_busy");
	p->s->ops = real;
	assert_ok(p, fsc_uploads_state(b.u, 1, id, &where, &p->err));
	assert_ok(p, fsc_uploads_cancel(b.u, 1, id, &p->err));
	assert_int_equal(parts(p), 0);
	close_both(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		contract_test(what_has_expired_is_gone_and_swept),
		contract_test(a_piece_gives_an_upload_more_time),
		contract_test(a_project_has_a_limit_of_uploads_that_go_on),
		contract_test(announced_bytes_count_until_they_are_written_also_over_a_restart),
		contract_test(a_crash_before_the_rows_of_the_end_loses_nothing),
		contract_test(a_row_whose_bytes_are_lost_is_no_upload),
		contract_test(what_is_written_to_does_not_expire_under_the_writer),
		contract_test(a_wrong_offset_makes_nobody_wait_for_the_disk),
		contract_test(bytes_that_could_not_be_synced_are_never_told_as_kept),
		contract_test(a_cancel_that_failed_is_not_told_as_done),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
