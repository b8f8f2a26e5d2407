/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every unit test includes: cmocka with the headers it wants, and the places a test may use.
 * cmocka runs a group with cmocka_run_group_tests(); main() returns its result.
 */
#ifndef FSC_TESTS_SUPPORT_TEST_H
#define FSC_TESTS_SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* The absolute path of a file of the test data, in buf. Skips the running test when there is none. */
static inline const char *test_data(char *buf, size_t cap, const char *rel)
{
	const char *root = getenv("FLEETSCOPE_TESTDATA");

	if (root && root[0]) {
		snprintf(buf, cap, "%s/%s", root, rel);
		if (access(buf, R_OK) == 0)
			return buf;
	}
	print_message("skipped, no test data: %s\n", rel);
	skip();
	return NULL;
}

/* True under a wrapper such as valgrind: tens of times slower, and vfork is fork there, so that the C library cannot
 * tell why an exec failed. */
static inline bool test_is_wrapped(void)
{
	const char *wrap = getenv("FSC_WRAP");

	return wrap && wrap[0];
}

/* The absolute path of a file of the source tree, in buf. */
static inline const char *test_src(char *buf, size_t cap, const char *rel)
{
	const char *root = getenv("FSC_SRC");

	snprintf(buf, cap, "%s/%s", root && root[0] ? root : ".", rel);
	return buf;
}

/* A program of the plain build (sandbox tests), or of this build when plain is 0. */
static inline const char *test_program(char *buf, size_t cap, const char *name, int plain)
{
	const char *root = getenv(plain ? "FSC_BUILD_PLAIN" : "FSC_BUILD");

	snprintf(buf, cap, "%s/%s", root && root[0] ? root : "build/debug", name);
	return buf;
}

/* A new empty folder under TMPDIR (or /tmp), its path in buf. */
static inline const char *test_tmpdir(char *buf, size_t cap)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(buf, cap, "%s/fsc-test-XXXXXX", tmp && tmp[0] ? tmp : "/tmp");
	assert_non_null(mkdtemp(buf));
	return buf;
}

#endif
