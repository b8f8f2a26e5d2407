/* SPDX-License-Identifier: Apache-2.0 */
/* Tickets: they read back until their time, and nothing that differs by a character does. */
#include "tests/support/test.h"

#include "auth/ticket.h"

static const uint8_t key[FSC_SESSION_KEY] = { 4, 5, 6 };
static const struct fsc_ticket sample = {
	.project = 3, .trace = INT64_C(7123456789012345678), .t0 = -5, .t1 = 99, .expires_s = 1000
};

static void a_ticket_reads_back_until_its_time(void **state)
{
	char text[FSC_TICKET_TEXT];
	struct fsc_ticket got;

	(void)state;
	fsc_ticket_make(text, key, &sample);
	assert_true(fsc_ticket_read(&got, text, key, 999));
	assert_int_equal(got.project, sample.project);
	assert_int_equal(got.trace, sample.trace);
	assert_int_equal(got.t0, sample.t0);
	assert_int_equal(got.t1, sample.t1);
	assert_int_equal(got.expires_s, sample.expires_s);
	assert_false(fsc_ticket_read(&got, text, key, 1000));
}

static void the_longest_ticket_fits(void **state)
{
	const struct fsc_ticket t = { INT64_MAX, INT64_MAX, INT64_MIN, INT64_MIN, INT64_MAX };
	char text[FSC_TICKET_TEXT];
	struct fsc_ticket got;

	(void)state;
	fsc_ticket_make(text, key, &t);
	assert_true(fsc_ticket_read(&got, text, key, 1));
	assert_int_equal(got.t0, INT64_MIN);
}

static void a_ticket_with_any_character_changed_is_refused(void **state)
{
	char text[FSC_TICKET_TEXT], bad[FSC_TICKET_TEXT];
	struct fsc_ticket got;
	size_t n;

	(void)state;
	fsc_ticket_make(text, key, &sample);
	n = strlen(text);
	for (size_t i = 0; i < n; i++) {
		memcpy(bad, text, n + 1);
		bad[i] = bad[i] == '1' ? '2' : '1';
		if (fsc_ticket_read(&got, bad, key, 5))
			fail_msg("taken with character %zu changed", i);
		bad[i] = '\0';
		assert_false(fsc_ticket_read(&got, bad, key, 5));
	}
}

static void another_key_and_a_session_cookie_open_nothing(void **state)
{
	static const uint8_t other[FSC_SESSION_KEY] = { 4, 5, 7 }, digest[32] = { 1 };
	char text[FSC_TICKET_TEXT];
	struct fsc_ticket got;

	(void)state;
	fsc_ticket_make(text, other, &sample);
	assert_false(fsc_ticket_read(&got, text, key, 5));
	fsc_session_make(text, key, digest, 1000);
	assert_false(fsc_ticket_read(&got, text, key, 5));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ticket_reads_back_until_its_time),
		cmocka_unit_test(the_longest_ticket_fits),
		cmocka_unit_test(a_ticket_with_any_character_changed_is_refused),
		cmocka_unit_test(another_key_and_a_session_cookie_open_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
