/* SPDX-License-Identifier: Apache-2.0 */
/* The pipe between a producer and the I/O thread. */
#include "tests/support/test.h"

#include <pthread.h>
#include <stdatomic.h>

#include "http/pool.h"
#include "http/stream.h"

struct fixture {
	struct fsc_stream *s;
	atomic_uint suspends, resumes;
	size_t total;
	enum fsc_status wrote;
};

static void on_suspend(void *ctx)
{
	atomic_fetch_add(&((struct fixture *)ctx)->suspends, 1);
}

static void on_resume(void *ctx)
{
	atomic_fetch_add(&((struct fixture *)ctx)->resumes, 1);
}

static void open_stream(struct fixture *f)
{
	const struct fsc_stream_hooks hooks = { f, on_suspend, on_resume };

	memset(f, 0, sizeof(*f));
	f->s = fsc_stream_new(&hooks);
}

static void *produce(void *arg)
{
	struct fixture *f = arg;
	uint8_t piece[7777];

	for (size_t at = 0; at < f->total && f->wrote == FSC_OK;) {
		size_t n = f->total - at < sizeof(piece) ? f->total - at : sizeof(piece);

		for (size_t i = 0; i < n; i++)
			piece[i] = (uint8_t)((at + i) * 31 + ((at + i) >> 8));
		f->wrote = fsc_stream_write(f->s, piece, n);
		at += n;
	}
	fsc_stream_finish(f->s, f->wrote == FSC_OK);
	fsc_stream_unref(f->s);
	return NULL;
}

static void bytes_arrive_in_order_through_a_full_pipe(void **state)
{
	struct fixture f;
	pthread_t t;
	uint8_t buf[5000];
	size_t at = 0;
	ssize_t n;

	(void)state;
	open_stream(&f);
	f.total = 3000001;
	(void)fsc_stream_ref(f.s);
	assert_int_equal(pthread_create(&t, NULL, produce, &f), 0);
	while ((n = fsc_stream_read(f.s, buf, sizeof(buf))) >= 0) {
		for (ssize_t i = 0; i < n; i++, at++)
			assert_int_equal(buf[i], (uint8_t)(at * 31 + (at >> 8)));
		/* As the event loop: nothing is asked of a suspended connection until it was woken. */
		while (n == 0 && atomic_load(&f.resumes) < atomic_load(&f.suspends))
			sched_yield();
	}
	assert_int_equal(n, -1);
	assert_int_equal(at, f.total);
	pthread_join(t, NULL);
	assert_int_equal(f.wrote, FSC_OK);
	assert_int_equal(atomic_load(&f.suspends), atomic_load(&f.resumes));
	fsc_stream_unref(f.s);
}

static void a_cancelled_reader_ends_the_writer(void **state)
{
	struct fixture f;
	pthread_t t;
	uint8_t buf[100];
	bool full = false;

	(void)state;
	open_stream(&f);
	f.total = 100u << 20;
	(void)fsc_stream_ref(f.s);
	assert_int_equal(pthread_create(&t, NULL, produce, &f), 0);
	while (!full)
		(void)fsc_stream_pulled(f.s, &full);
	fsc_stream_cancel(f.s);
	pthread_join(t, NULL);
	assert_int_equal(f.wrote, FSC_ECANCELED);
	assert_int_equal(fsc_stream_read(f.s, buf, sizeof(buf)), -2);
	fsc_stream_unref(f.s);
}

static void a_failed_writer_cuts_the_body_after_its_bytes(void **state)
{
	struct fixture f;
	char buf[10];

	(void)state;
	open_stream(&f);
	assert_int_equal(fsc_stream_write(f.s, "abc", 3), FSC_OK);
	fsc_stream_finish(f.s, false);
	assert_int_equal(fsc_stream_read(f.s, buf, sizeof(buf)), 3);
	assert_int_equal(fsc_stream_read(f.s, buf, sizeof(buf)), -2);
	fsc_stream_unref(f.s);
}

static void count(void *ctx)
{
	atomic_fetch_add((atomic_uint *)ctx, 1);
}

static void a_pool_runs_all_it_took_before_it_ends(void **state)
{
	struct fsc_pool *p = fsc_pool_new("test", 3, 100);
	atomic_uint ran = 0;
	unsigned taken = 0;

	(void)state;
	for (int i = 0; i < 1000; i++)
		taken += fsc_pool_submit(p, count, &ran);
	assert_true(taken >= 100);
	fsc_pool_free(p);
	assert_int_equal(atomic_load(&ran), taken);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_arrive_in_order_through_a_full_pipe),
		cmocka_unit_test(a_cancelled_reader_ends_the_writer),
		cmocka_unit_test(a_failed_writer_cuts_the_body_after_its_bytes),
		cmocka_unit_test(a_pool_runs_all_it_took_before_it_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
