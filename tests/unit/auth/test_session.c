/* SPDX-License-Identifier: Apache-2.0 */
/* Session cookies and token texts. */
#include "tests/support/test.h"

#include "auth/auth.h"
#include "auth/session.h"
#include "base/crypto.h"

static const uint8_t key[FSC_SESSION_KEY] = { 1, 2, 3 };
static const uint8_t digest[32] = { 9, 8, 7 };

static void a_session_reads_back_until_its_time(void **state)
{
	char text[FSC_SESSION_TEXT];
	uint8_t got[32];

	(void)state;
	fsc_session_make(text, key, digest, 1000);
	assert_true(fsc_session_read(got, text, key, 999));
	assert_memory_equal(got, digest, 32);
	assert_false(fsc_session_read(got, text, key, 1000));
	assert_false(fsc_session_read(got, text, key, 2000));
}

static void a_session_with_any_character_changed_is_refused(void **state)
{
	char text[FSC_SESSION_TEXT], bad[FSC_SESSION_TEXT];
	uint8_t got[32];
	size_t n;

	(void)state;
	fsc_session_make(text, key, digest, INT64_C(99999999999));
	n = strlen(text);
	for (size_t i = 0; i < n; i++) {
		memcpy(bad, text, n + 1);
		bad[i] = bad[i] == '1' ? '2' : '1';
		if (fsc_session_read(got, bad, key, 5))
			fail_msg("taken with character %zu changed", i);
	}
	for (size_t i = 0; i < n; i++) {
		memcpy(bad, text, n + 1);
		bad[i] = '\0';
		assert_false(fsc_session_read(got, bad, key, 5));
	}
}

static void another_key_signs_nothing_here(void **state)
{
	static const uint8_t other[FSC_SESSION_KEY] = { 1, 2, 4 };
	char text[FSC_SESSION_TEXT];
	uint8_t got[32];

	(void)state;
	fsc_session_make(text, other, digest, 1000);
	assert_false(fsc_session_read(got, text, key, 5));
}

/* RFC 4231 has no case with a 32-byte key, so this one is from `openssl dgst -sha256 -mac HMAC`. */
static void the_signature_is_hmac_sha256(void **state)
{
	uint8_t k[FSC_SESSION_KEY], d[32];
	char text[FSC_SESSION_TEXT];

	(void)state;
	memset(k, 0x0b, sizeof(k));
	memset(d, 0xaa, sizeof(d));
	fsc_session_make(text, k, d, 1700000000);
	assert_string_equal(strrchr(text, '.') + 1,
			    "1b861d63fd5d166b0d4562a13dfff3a211c001fb6086dfbaf9187ea81286cc47");
}

static void scopes_are_read_by_name(void **state)
{
	struct fsc_err err = FSC_ERR_INIT;
	uint32_t bits;

	(void)state;
	assert_int_equal(fsc_token_parse_scopes(&bits, "read,upload", &err), FSC_OK);
	assert_int_equal(bits, FSC_PERM_READ | FSC_PERM_UPLOAD);
	assert_int_equal(fsc_token_parse_scopes(&bits, "admin", &err), FSC_OK);
	assert_int_equal(bits, FSC_PERM_ADMIN);
	assert_int_equal(fsc_token_parse_scopes(&bits, "", &err), FSC_EINVAL);
	assert_int_equal(fsc_token_parse_scopes(&bits, "read,root", &err), FSC_EINVAL);
	assert_int_equal(fsc_token_parse_scopes(&bits, "readx", &err), FSC_EINVAL);
	assert_int_equal(fsc_token_parse_scopes(&bits, "rea", &err), FSC_EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_session_reads_back_until_its_time),
		cmocka_unit_test(a_session_with_any_character_changed_is_refused),
		cmocka_unit_test(another_key_signs_nothing_here),
		cmocka_unit_test(the_signature_is_hmac_sha256),
		cmocka_unit_test(scopes_are_read_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
