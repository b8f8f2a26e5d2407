/* SPDX-License-Identifier: Apache-2.0 */
/* manifest.json: every field, every wrong type. */
#include "bundle/manifest.h"

#include "base/attr.h"
#include "base/limits.h"
#include "tests/support/test.h"

#define SHA "5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9"

static void every_field_is_read(void **state)
{
	static const char json[] =
		"{\"version\":1,\"job\":\"j\",\"host\":\"h\",\"capture\":\"c\",\"world_size\":"
		"\"64\",\"extra\":[1],"
		"\"files\":[{\"path\":\"a\",\"sha256\":\"" SHA "\",\"rank\":7,"
		"\"devices\":[{\"ordinal\":0,\"uuid\":\"GPU-1\"},{\"ordinal\":1,\"uuid\":\"GPU-2\"}"
		"],"
		"\"clock_pairs\":[{\"a\":\"1767189312000000123\",\"b\":12}]},{\"path\":\"b\"}],"
		"\"collector\":{\"version\":\"1\"}}";
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_manifest *m;

	(void)state;
	assert_int_equal(fsc_manifest_parse(&m, json, sizeof(json) - 1, &err), FSC_OK);
	assert_string_equal(m->job, "j");
	assert_string_equal(m->host, "h");
	assert_string_equal(m->capture, "c");
	assert_int_equal(m->world_size, 64);
	assert_int_equal(m->n_files, 2);
	struct fsc_manifest_file *f = fsc_manifest_file(m, "a");
	assert_non_null(f);
	assert_true(f->has_sha256);
	assert_int_equal(f->sha256[0], 0x5f);
	assert_int_equal(f->rank, 7);
	assert_int_equal(f->n_devices, 2);
	assert_int_equal(f->devices[1].ordinal, 1);
	assert_string_equal(f->devices[1].uuid, "GPU-2");
	assert_int_equal(f->n_clock_pairs, 1);
	assert_int_equal(f->clock_pairs[0].a_ns, 1767189312000000123);
	assert_int_equal(f->clock_pairs[0].b_ns, 12);
	f = fsc_manifest_file(m, "b");
	assert_non_null(f);
	assert_false(f->has_sha256);
	assert_int_equal(f->rank, -1);
	assert_null(fsc_manifest_file(m, "c"));
	fsc_manifest_free(m);
}

static void absent_fields_are_unknown(void **state)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_manifest *m;

	(void)state;
	assert_int_equal(fsc_manifest_parse(&m, "{\"version\":1,\"job\":null}", 24, &err), FSC_OK);
	assert_null(m->job);
	assert_int_equal(m->world_size, -1);
	assert_int_equal(m->n_files, 0);
	fsc_manifest_free(m);
}

static void wrong_types_are_errors_that_name_the_key(void **state)
{
	static const struct {
		const char *json, *code, *says;
	} all[] = {
		{ "", "manifest_invalid", "" },
		{ "{\"version\":1", "manifest_invalid", "" },
		{ "{\"version\":1,\"version\":1}", "manifest_invalid", "" },
		{ "3", "manifest_invalid", "" },
		{ "[]", "manifest_invalid", "object" },
		{ "{}", "manifest_invalid", "version" },
		{ "{\"version\":2}", "manifest_version", "2" },
		{ "{\"version\":1.5}", "manifest_invalid", "version" },
		{ "{\"version\":1,\"job\":5}", "manifest_invalid", "job" },
		{ "{\"version\":1,\"job\":\"a\\u0000b\"}", "manifest_invalid", "" },
		{ "{\"version\":1,\"world_size\":-2}", "manifest_invalid", "world_size" },
		{ "{\"version\":1,\"world_size\":\"x\"}", "manifest_invalid", "world_size" },
		{ "{\"version\":1,\"files\":{}}", "manifest_invalid", "files" },
		{ "{\"version\":1,\"files\":[1]}", "manifest_invalid", "files" },
		{ "{\"version\":1,\"files\":[{}]}", "manifest_invalid", "path" },
		{ "{\"version\":1,\"files\":[{\"path\":\"\"}]}", "manifest_invalid", "path" },
		{ "{\"version\":1,\"files\":[{\"path\":\"a\",\"sha256\":\"zz\"}]}",
		  "manifest_invalid", "sha256" },
		{ "{\"version\":1,\"files\":[{\"path\":\"a\",\"devices\":[{\"ordinal\":0}]}]}",
		  "manifest_invalid", "devices" },
		{ "{\"version\":1,\"files\":[{\"path\":\"a\",\"devices\":[{\"uuid\":\"x\"}]}]}",
		  "manifest_invalid", "devices" },
		{ "{\"version\":1,\"files\":[{\"path\":\"a\",\"clock_pairs\":[{\"a\":1}]}]}",
		  "manifest_invalid", "clock_pairs" },
	};

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(all); i++) {
		struct fsc_err err = FSC_ERR_INIT;
		struct fsc_manifest *m;
		enum fsc_status st = fsc_manifest_parse(&m, all[i].json, strlen(all[i].json), &err);
		if (st == FSC_OK || strcmp(err.code, all[i].code) != 0 ||
		    !strstr(err.msg, all[i].says))
			fail_msg("%s: %s %s", all[i].json, err.code, err.msg);
		assert_null(m);
	}
}

static void a_manifest_over_the_limit_is_refused_unread(void **state)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_manifest *m;

	(void)state;
	assert_int_equal(fsc_manifest_parse(&m, "", FSC_MAX_MANIFEST_BYTES + 1, &err), FSC_ELIMIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_is_read),
		cmocka_unit_test(absent_fields_are_unknown),
		cmocka_unit_test(wrong_types_are_errors_that_name_the_key),
		cmocka_unit_test(a_manifest_over_the_limit_is_refused_unread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
