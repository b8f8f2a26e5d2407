/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 against FIPS 180-2, hex, base64 against RFC 4648. */
#include "base/crypto.h"

#include "base/attr.h"
#include "tests/support/test.h"

static const char abc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

static void sha256_gives_the_published_digests(void **state)
{
	(void)state;
	uint8_t d[FSC_SHA256_LEN];
	char hex[FSC_SHA256_HEX];
	fsc_sha256(d, "abc", 3);
	fsc_hex(hex, d, sizeof(d));
	assert_string_equal(hex, abc);
	fsc_sha256(d, "", 0);
	fsc_hex(hex, d, sizeof(d));
	assert_string_equal(hex,
			    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	/* a million times 'a', in uneven pieces */
	struct fsc_sha256 *h = fsc_sha256_new();
	char a[977];
	memset(a, 'a', sizeof(a));
	for (size_t left = 1000000; left;) {
		size_t n = left < sizeof(a) ? left : sizeof(a);
		fsc_sha256_update(h, a, n);
		left -= n;
	}
	fsc_sha256_final(h, d);
	fsc_sha256_free(h);
	fsc_sha256_free(NULL);
	fsc_hex(hex, d, sizeof(d));
	assert_string_equal(hex,
			    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void random_bytes_differ(void **state)
{
	(void)state;
	uint8_t a[64] = { 0 };
	uint8_t b[64] = { 0 };
	fsc_random_bytes(a, sizeof(a));
	fsc_random_bytes(b, sizeof(b));
	assert_memory_not_equal(a, b, sizeof(a));
	fsc_random_bytes(a, 0);
}

static void comparison_sees_any_difference(void **state)
{
	(void)state;
	uint8_t a[32] = { 0 };
	uint8_t b[32] = { 0 };
	assert_true(fsc_equal_const_time(a, b, 32));
	for (int bit = 0; bit < 256; bit++) {
		b[bit / 8] = (uint8_t)(1 << bit % 8);
		assert_false(fsc_equal_const_time(a, b, 32));
		b[bit / 8] = 0;
	}
	assert_true(fsc_equal_const_time(a, b, 0));
}

static void hex_reads_back(void **state)
{
	(void)state;
	uint8_t all[256];
	uint8_t back[256];
	char hex[513];
	for (int i = 0; i < 256; i++)
		all[i] = (uint8_t)i;
	fsc_hex(hex, all, 256);
	assert_int_equal(strlen(hex), 512);
	assert_true(fsc_unhex(back, hex, 256));
	assert_memory_equal(back, all, 256);
	assert_true(fsc_unhex(back, "DEADbeef", 4));
	assert_memory_equal(back, "\xDE\xAD\xBE\xEF", 4);
	static const char *const bad[] = { "", "a", "abc", "ag", "0x00", "a b ", "-1-1" };
	for (size_t i = 0; i < FSC_ARRAY_LEN(bad); i++)
		assert_false(fsc_unhex(back, bad[i], 2));
}

static void base64_follows_rfc_4648(void **state)
{
	(void)state;
	static const struct {
		const char *text, *plain;
	} good[] = { { "", "" },
		     { "Zg==", "f" },
		     { "Zm8=", "fo" },
		     { "Zm9v", "foo" },
		     { "Zm9vYg==", "foob" },
		     { "Zm9vYmE=", "fooba" },
		     { "Zm9vYmFy", "foobar" },
		     { "+/+/", "\xFB\xFF\xBF" } };
	uint8_t out[16];
	size_t n = 0;
	for (size_t i = 0; i < FSC_ARRAY_LEN(good); i++) {
		size_t want = strlen(good[i].plain);
		assert_true(fsc_unbase64(out, want, &n, good[i].text, strlen(good[i].text)));
		assert_int_equal(n, want);
		assert_memory_equal(out, good[i].plain, want);
		/* one byte too little room is told, not written past */
		if (want)
			assert_false(fsc_unbase64(out, want - 1, &n, good[i].text,
						  strlen(good[i].text)));
	}
	static const char *const bad[] = { "Z",	   "Zg",       "Zg=",  "Zg===",	  "====",
					   "Z===", "Zg==Zg==", "Zh==", "Zm9=",	  "Zm9v\n",
					   "Zm 9", "Zm-_",     "=Zg=", "Zm9vZm9", "Zg=a" };
	for (size_t i = 0; i < FSC_ARRAY_LEN(bad); i++)
		if (fsc_unbase64(out, sizeof(out), &n, bad[i], strlen(bad[i])))
			fail_msg("'%s' is taken", bad[i]);
}

static void base64_matches_the_vectors_of_rfc_4648_and_reads_back(void **state)
{
	static const char *const want[] = { "",		"Zg==",	    "Zm8=",    "Zm9v",
					    "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy" };
	uint8_t back[8];
	char text[16];
	size_t n;

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(want); i++) {
		fsc_base64(text, (const uint8_t *)"foobar", i);
		assert_string_equal(text, want[i]);
		assert_true(fsc_unbase64(back, sizeof(back), &n, text, strlen(text)));
		assert_int_equal(n, i);
		assert_memory_equal(back, "foobar", n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(base64_matches_the_vectors_of_rfc_4648_and_reads_back),
		cmocka_unit_test(sha256_gives_the_published_digests),
		cmocka_unit_test(random_bytes_differ),
		cmocka_unit_test(comparison_sees_any_difference),
		cmocka_unit_test(hex_reads_back),
		cmocka_unit_test(base64_follows_rfc_4648),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
