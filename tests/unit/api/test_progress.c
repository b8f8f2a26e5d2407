/* SPDX-License-Identifier: Apache-2.0 */
/* Durations in answers come from two readings of a clock that may have been set in between. */
#include "tests/support/test.h"

#include "api/deps.h"
#include "base/json_out.h"

#define START_NS INT64_C(1700000000000000000)

static void assert_elapsed(int64_t until_ns, const char *want)
{
	const struct fsc_api_progress p = { .started_at_ns = START_NS, .until_ns = until_ns };
	struct fsc_buf b = FSC_BUF_INIT(4096);
	struct fsc_json j;

	fsc_json_init(&j, &b);
	fsc_json_obj(&j);
	fsc_api_progress(&j, &p);
	fsc_json_obj_end(&j);
	assert_non_null(strstr(b.data, want));
	fsc_buf_fini(&b);
}

static void no_duration_is_negative_after_the_clock_went_back(void **state)
{
	(void)state;
	assert_elapsed(START_NS + 1500000, "\"elapsed_ms\":1}");
	assert_elapsed(START_NS, "\"elapsed_ms\":0}");
	assert_elapsed(START_NS - INT64_C(3600000000000), "\"elapsed_ms\":0}");
	assert_elapsed(0, "\"elapsed_ms\":0}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_duration_is_negative_after_the_clock_went_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
