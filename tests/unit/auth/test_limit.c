/* SPDX-License-Identifier: Apache-2.0 */
/* Rate limits: what is let through, when there is more, and what memory holds. */
#include "tests/support/test.h"

#include <pthread.h>
#include <stdatomic.h>

#include "auth/limit.h"

#define SEC INT64_C(1000000000)

static void a_bucket_gives_its_burst_then_one_each_interval(void **state)
{
	struct fsc_limit *l = fsc_limit_new(SEC, 4);
	int64_t now = 1000 * SEC;

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(fsc_limit_take(l, 7, now), 0);
	assert_int_equal(fsc_limit_take(l, 7, now), SEC);
	assert_int_equal(fsc_limit_take(l, 7, now + SEC / 4), SEC - SEC / 4);
	assert_int_equal(fsc_limit_take(l, 8, now), 0); /* another key */
	assert_int_equal(fsc_limit_take(l, 7, now + SEC), 0);
	assert_int_equal(fsc_limit_take(l, 7, now + SEC), SEC);
	/* a long pause fills it to the burst, not beyond */
	now += 100 * SEC;
	for (int i = 0; i < 4; i++)
		assert_int_equal(fsc_limit_take(l, 7, now), 0);
	assert_true(fsc_limit_take(l, 7, now) > 0);
	fsc_limit_free(l);
}

static void what_is_given_back_can_be_taken_again(void **state)
{
	struct fsc_limit *l = fsc_limit_new(SEC, 2);

	(void)state;
	for (int i = 0; i < 10; i++) {
		assert_int_equal(fsc_limit_take(l, 7, 5 * SEC), 0);
		fsc_limit_give(l, 7);
	}
	assert_int_equal(fsc_limit_take(l, 7, 5 * SEC), 0);
	assert_int_equal(fsc_limit_take(l, 7, 5 * SEC), 0);
	assert_true(fsc_limit_take(l, 7, 5 * SEC) > 0);
	fsc_limit_give(l, 99); /* of nobody */
	fsc_limit_free(l);
}

static void more_keys_than_places_are_let_through_and_the_emptiest_bucket_stays(void **state)
{
	struct fsc_limit *l = fsc_limit_new(SEC, 100);
	uint64_t hot = fsc_limit_key('t', "hot", 3);

	(void)state;
	for (int i = 0; i < 100; i++)
		assert_int_equal(fsc_limit_take(l, hot, SEC), 0);
	for (uint64_t i = 0; i < 100000; i++)
		assert_int_equal(fsc_limit_take(l, fsc_limit_key('u', &i, sizeof(i)), SEC), 0);
	assert_true(fsc_limit_take(l, hot, SEC) > 0);
	fsc_limit_free(l);
}

static void keys_of_different_kinds_differ(void **state)
{
	(void)state;
	assert_true(fsc_limit_key('t', "a", 1) != fsc_limit_key('u', "a", 1));
	assert_true(fsc_limit_key('t', "a", 1) != fsc_limit_key('t', "b", 1));
	assert_true(fsc_limit_key('t', "", 0) != 0);
}

struct crowd {
	struct fsc_limit *l;
	_Atomic int taken;
};

static void *take_many(void *arg)
{
	struct crowd *c = arg;

	for (int i = 0; i < 1000; i++)
		if (!fsc_limit_take(c->l, 7, SEC))
			atomic_fetch_add(&c->taken, 1);
	return NULL;
}

static void threads_together_take_no_more_than_the_burst(void **state)
{
	struct crowd c = { .l = fsc_limit_new(SEC, 500) };
	pthread_t threads[4];

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, take_many, &c), 0);
	for (size_t i = 0; i < FSC_ARRAY_LEN(threads); i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(atomic_load(&c.taken), 500);
	fsc_limit_free(c.l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bucket_gives_its_burst_then_one_each_interval),
		cmocka_unit_test(what_is_given_back_can_be_taken_again),
		cmocka_unit_test(
			more_keys_than_places_are_let_through_and_the_emptiest_bucket_stays),
		cmocka_unit_test(keys_of_different_kinds_differ),
		cmocka_unit_test(threads_together_take_no_more_than_the_burst),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
