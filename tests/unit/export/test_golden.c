/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Golden tests: each folder of tests/golden holds a file in one of the formats that are read (input.*) and what comes
 * of it: the model as text and the output of every exporter. `make golden` writes them anew, to be read in a diff.
 */
#include <dirent.h>

#include "tests/support/export_all.h"
#include "tests/support/model_dump.h"
#include "tests/support/pb_dump.h"

static const char *const outputs[] = { "model.txt", "perfetto.txt", "chrome.json", "slices.csv" };
static const char *const exporters[] = { NULL, "perfetto", "chrome", "csv" };

static void export_text(FILE *out, struct fsc_seg *seg, const char *name)
{
	struct fsc_buf b = FSC_BUF_INIT(64u << 20);

	export_all(&b, seg, name);
	if (!strcmp(name, "perfetto"))
		pb_dump(out, fsc_cur_of(b.data, b.len), 0);
	else
		fwrite(b.data, 1, b.len, out);
	fsc_buf_fini(&b);
}

/* The whole file with a zero behind it, or NULL; the caller frees it. */
static char *slurp(const char *path, size_t *n)
{
	FILE *f = fopen(path, "rb");
	char *text;
	long size;

	if (!f)
		return NULL;
	fseek(f, 0, SEEK_END);
	size = ftell(f);
	rewind(f);
	text = malloc((size_t)size + 1);
	assert_non_null(text);
	*n = fread(text, 1, (size_t)size, f);
	text[*n] = '\0';
	fclose(f);
	return text;
}

/* One line more than is equal, of both. */
static void tell_difference(const char *path, const char *got, const char *want)
{
	int line = 1;

	while (*got && *got == *want) {
		line += *got == '\n';
		got++;
		want++;
	}
	print_error("%s, line %d, differs from here:\n  got  %.*s\n  want %.*s\n", path, line,
		    (int)strcspn(got, "\n"), got, (int)strcspn(want, "\n"), want);
}

static bool check_output(const char *folder, const char *name, const char *got, size_t n)
{
	char path[1200];
	size_t want_n = 0;
	char *want;
	bool same;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (getenv("FSC_GOLDEN_WRITE")) {
		FILE *f = fopen(path, "wb");

		assert_non_null(f);
		fwrite(got, 1, n, f);
		fclose(f);
		return true;
	}
	want = slurp(path, &want_n);
	same = want && want_n == n && !memcmp(want, got, n);
	if (!want)
		print_error("%s is missing: make golden writes it\n", path);
	else if (!same)
		tell_difference(path, got, want);
	free(want);
	return same;
}

static bool check_folder(const char *folder, const char *input)
{
	char path[1200];
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_trace *t;
	struct fsc_seg *seg;
	bool ok = true;

	snprintf(path, sizeof(path), "%s/%s", folder, input);
	t = read_trace_file(path, &err);
	if (!t)
		fail_msg("%s: %s at %lld", path, err.msg, (long long)err.offset);
	seg = segment_of(t);
	for (size_t i = 0; i < FSC_ARRAY_LEN(outputs); i++) {
		char *text = NULL;
		size_t n = 0;
		FILE *f = open_memstream(&text, &n);

		assert_non_null(f);
		if (exporters[i])
			export_text(f, seg, exporters[i]);
		else
			dump_model(f, t, seg);
		fclose(f);
		ok &= check_output(folder, outputs[i], text, n);
		free(text);
	}
	fsc_seg_unref(seg);
	fsc_trace_free(t);
	return ok;
}

static bool input_of(const char *folder, char *name, size_t cap)
{
	DIR *d = opendir(folder);
	const struct dirent *e;
	bool found = false;

	while (d && !found && (e = readdir(d)))
		if (!strncmp(e->d_name, "input.", 6)) {
			snprintf(name, cap, "%s", e->d_name);
			found = true;
		}
	if (d)
		closedir(d);
	return found;
}

static void every_format_gives_what_it_gave(void **state)
{
	char root[512], folder[800], input[256];
	unsigned n = 0, bad = 0;
	const struct dirent *e;
	DIR *d = opendir(test_src(root, sizeof(root), "tests/golden"));

	(void)state;
	assert_non_null(d);
	while ((e = readdir(d))) {
		snprintf(folder, sizeof(folder), "%s/%s", root, e->d_name);
		if (e->d_name[0] == '.' || !input_of(folder, input, sizeof(input)))
			continue;
		n++;
		bad += !check_folder(folder, input);
	}
	closedir(d);
	assert_true(n >= 2);
	assert_int_equal(bad, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_format_gives_what_it_gave),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
