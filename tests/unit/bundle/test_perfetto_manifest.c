/* SPDX-License-Identifier: Apache-2.0 */
/* Perfetto's manifest: what is told from it, what it must be. */
#include "bundle/perfetto_manifest.h"

#include "base/attr.h"
#include "base/limits.h"
#include "tests/support/test.h"

#define M(files) "{\"perfetto_manifest\":{\"version\":1,\"files\":[" files "]}}"

static void a_manifest_is_told_by_its_first_bytes(void **state)
{
	static const struct {
		const char *head;
		bool is;
	} cases[] = {
		{ "{\"perfetto_manifest\":{}}", true },
		{ " \n\t{ \r\n\"perfetto_manifest\"", true },
		{ "{\"perfetto_manifest", false },
		{ "{\"perfetto_manifest2\":1}", false },
		{ "{\"traceEvents\":[]}", false },
		{ "[\"perfetto_manifest\"]", false },
		{ "", false },
	};

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(cases); i++)
		if (fsc_perfetto_manifest_is((const uint8_t *)cases[i].head,
					     strlen(cases[i].head)) != cases[i].is)
			fail_msg("%s", cases[i].head);
}

static void machines_and_offsets_are_read(void **state)
{
	static const struct {
		const char *file, *machine;
		bool has_offset, unix_clock;
		int64_t offset_ns;
	} cases[] = {
		{ "{\"path\":\"f\"}", NULL, false, false, 0 },
		{ "{\"path\":\"./f\",\"machine\":{\"name\":\"n1\"}}", "n1", false, false, 0 },
		{ "{\"path\":\"f\",\"machines\":[{\"id\":0,\"name\":\"n1\"}]}", "n1", false, false,
		  0 },
		{ "{\"path\":\"f\",\"machines\":[{\"id\":0,\"name\":\"a\"},{\"id\":1,\"name\":"
		  "\"b\"}]}",
		  NULL, false, false, 0 },
		{ "{\"path\":\"f\",\"clocks\":{\"sync_to\":{\"file\":\"g\"},\"offset_ns\":-250}}",
		  NULL, true, true, -250 },
		{ "{\"path\":\"f\",\"clocks\":{\"sync_to\":{\"file\":\"g\"}}}", NULL, false, true,
		  0 },
		{ "{\"path\":\"f\",\"clocks\":{\"clock\":\"REALTIME_COARSE\",\"sync_to\":{\"file\":"
		  "\"g\","
		  "\"clock\":\"REALTIME\"},\"offset_ns\":9223372036854775807}}",
		  NULL, true, true, INT64_MAX },
		{ "{\"path\":\"f\",\"clocks\":{\"clock\":\"BOOTTIME\",\"sync_to\":{\"file\":\"g\"},"
		  "\"offset_ns\":7},\"new\":1}",
		  NULL, true, false, 7 },
	};

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(cases); i++) {
		char json[1024];
		struct fsc_err err = FSC_ERR_INIT;
		struct fsc_perfetto_manifest *m;

		snprintf(json, sizeof(json), M("%s"), cases[i].file);
		if (fsc_perfetto_manifest_parse(&m, json, strlen(json), &err) != FSC_OK)
			fail_msg("%s: %s", json, err.msg);
		const struct fsc_perfetto_file *f = fsc_perfetto_manifest_file(m, "f");
		assert_non_null(f);
		assert_null(fsc_perfetto_manifest_file(m, "g"));
		assert_true(cases[i].machine ? f->machine && !strcmp(f->machine, cases[i].machine)
					     : !f->machine);
		assert_int_equal(f->has_offset, cases[i].has_offset);
		assert_int_equal(f->unix_clock, cases[i].unix_clock);
		assert_int_equal(f->offset_ns, cases[i].offset_ns);
		fsc_perfetto_manifest_free(m);
	}
}

static void what_is_wrong_is_refused_with_the_place(void **state)
{
	static const struct {
		const char *json, *code, *says;
	} cases[] = {
		{ "{\"perfetto_manifest\":", "perfetto_manifest_invalid", "" },
		{ "{\"perfetto_manifest\":[]}", "perfetto_manifest_invalid", "an object" },
		{ "{\"perfetto_manifest\":{}}", "perfetto_manifest_invalid", "version" },
		{ "{\"perfetto_manifest\":{\"version\":\"1\"}}", "perfetto_manifest_invalid",
		  "version" },
		{ "{\"perfetto_manifest\":{\"version\":2}}", "perfetto_manifest_version",
		  "version 2" },
		{ "{\"perfetto_manifest\":{\"version\":1,\"files\":{}}}",
		  "perfetto_manifest_invalid", "files" },
		{ "{\"perfetto_manifest\":{\"version\":1,\"version\":1}}",
		  "perfetto_manifest_invalid", "" },
		{ M("7"), "perfetto_manifest_invalid", "files" },
		{ M("{}"), "perfetto_manifest_invalid", "path" },
		{ M("{\"path\":\"\"}"), "perfetto_manifest_invalid", "path" },
		{ M("{\"path\":\"f\",\"machine\":\"n\"}"), "perfetto_manifest_invalid", "machine" },
		{ M("{\"path\":\"f\",\"machine\":{\"name\":\"\"}}"), "perfetto_manifest_invalid",
		  "name" },
		{ M("{\"path\":\"f\",\"machine\":{},\"machines\":[]}"), "perfetto_manifest_invalid",
		  "both" },
		{ M("{\"path\":\"f\",\"machines\":{}}"), "perfetto_manifest_invalid", "machines" },
		{ M("{\"path\":\"f\",\"clocks\":{}}"), "perfetto_manifest_invalid", "sync_to" },
		{ M("{\"path\":\"f\",\"clocks\":{\"sync_to\":{}}}"), "perfetto_manifest_invalid",
		  "file" },
		{ M("{\"path\":\"f\",\"clocks\":{\"sync_to\":{\"file\":\"g\"},\"offset_ns\":1.5}}"),
		  "perfetto_manifest_invalid", "offset_ns" },
		{ M("{\"path\":\"f\",\"clocks\":{\"sync_to\":{\"file\":\"g\"},\"offset_ns\":-"
		    "9223372036854775808}}"),
		  "perfetto_manifest_invalid", "offset_ns" },
	};

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(cases); i++) {
		struct fsc_err err = FSC_ERR_INIT;
		struct fsc_perfetto_manifest *m;

		assert_true(fsc_perfetto_manifest_parse(&m, cases[i].json, strlen(cases[i].json),
							&err) < 0);
		assert_null(m);
		if (strcmp(err.code, cases[i].code) || !strstr(err.msg, cases[i].says))
			fail_msg("%s: %s %s", cases[i].json, err.code, err.msg);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_manifest_is_told_by_its_first_bytes),
		cmocka_unit_test(machines_and_offsets_are_read),
		cmocka_unit_test(what_is_wrong_is_refused_with_the_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
