/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inline JSON tests of trace_processor: each slice it reports, found in ours with the same time, duration,
 * name, category, depth, pid and tid. Differences are listed with their reason, and only those may occur.
 */
#include <dirent.h>

#include "base/alloc.h"
#include "base/fs.h"
#include "tests/support/read_trace.h"

struct difference {
	const char *file;
	unsigned missing, extra; /* rows of theirs that we lack, slices of ours that they lack */
	const char *why;
};

static const struct difference differences[] = {
	{ "json__json_all_slice_types", 3, 3,
	  "global and process instants stay on the thread that wrote them instead of losing it" },
	{ "json__json_flow", 3, 3, "the same instants" },
	{ "json__overlapping_complete_event_recovered", 1, 1,
	  "a partly overlapping slice goes one row lower on its own track, not to a sibling "
	  "track" },
	{ "json__overlapping_complete_event_import_log", 1, 1, "the same" },
	{ "json__json_thread_state", 0, 5,
	  "thread states are slices on a track beside the thread" },
	{ "json__json_thread_state_sched", 0, 3, "the same" },
	{ "json__json_id2", 0, 1, "an empty global id is an id: theirs drops the event" },
	{ "parsing__same_ts_zero_duration_slice_then_begin_end_slice_unnesting", 1, 1,
	  "a begin has its length when we order: the longer of two slices of one start is the "
	  "outer, as for X" },
};

struct row {
	char field[9][256]; /* ts dur name category depth track track_type tid pid */
	bool used;
};

struct rows {
	struct row *v;
	size_t n;
};

/* Fields in double quotes or bare, comma between them. */
static const char *csv_row(struct row *r, const char *p)
{
	for (int f = 0; f < 9; f++) {
		size_t n = 0;
		bool quoted = *p == '"';
		p += quoted;
		while (*p && (quoted ? *p != '"' || p[1] == '"' : *p != ',' && *p != '\n')) {
			p += quoted && *p == '"';
			if (n + 1 < sizeof(r->field[f]))
				r->field[f][n++] = *p;
			p++;
		}
		r->field[f][n] = '\0';
		p += quoted && *p;
		p += *p == ',' || *p == '\n';
	}
	return p;
}

static struct rows csv(const char *path)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct rows rows = { .n = 0 };
	char *text;
	size_t n;

	assert_int_equal(fsc_fs_read_file(&text, &n, path, 1 << 20, &err), FSC_OK);
	const char *p = strchr(text, '\n') + 1;
	rows.v = fsc_xalloc(n + 1, sizeof(*rows.v));
	while (*p)
		p = csv_row(&rows.v[rows.n++], p);
	fsc_free(text);
	return rows;
}

static bool is_null(const char *s)
{
	return !strcmp(s, "[NULL]");
}

static bool id_equals(const char *theirs, int64_t ours, uint32_t text)
{
	/* Theirs numbers a text id by its place in a pool: only numbers can be compared. */
	return is_null(theirs) || text || strtoll(theirs, NULL, 10) == ours;
}

static bool row_is(const struct row *r, const struct fsc_trace *t, uint32_t i)
{
	const struct fsc_slices *s = &t->slices;
	const struct fsc_track *k = &t->tracks.v[s->track[i]];
	const struct fsc_process *p = &t->processes.v[k->process];
	int64_t dur = s->flags[i] & FSC_SLICE_OPEN ? -1 : s->dur[i];
	const char *cat = str_of(t, t->cats.v[s->cat[i]]);

	if (k->kind == FSC_TRACK_ASYNC ? !strstr(r->field[6], "async")
				       : strstr(r->field[6], "async") != NULL)
		return false;
	if (!is_null(r->field[7]) && !id_equals(r->field[7], k->tid, k->tid_text))
		return false;
	return strtoll(r->field[0], NULL, 10) == s->ts[i] + t->meta.t_base_ns &&
	       strtoll(r->field[1], NULL, 10) == dur &&
	       !strcmp(r->field[2], str_of(t, s->name[i])) &&
	       (is_null(r->field[3]) ? !*cat : !strcmp(r->field[3], cat)) &&
	       strtol(r->field[4], NULL, 10) == s->depth[i] &&
	       id_equals(r->field[8], p->pid, p->pid_text) && !strstr(r->field[6], "instant") &&
	       strcmp(r->field[6], "thread_overlapping_slice");
}

static void compare(const char *name, const struct fsc_trace *t, struct rows rows)
{
	unsigned missing = 0, extra = 0, want_missing = 0, want_extra = 0;

	for (uint32_t i = 0; i < t->slices.n; i++) {
		size_t k = 0;
		while (k < rows.n && (rows.v[k].used || !row_is(&rows.v[k], t, i)))
			k++;
		if (k < rows.n)
			rows.v[k].used = true;
		else
			extra++;
	}
	for (size_t k = 0; k < rows.n; k++)
		missing += !rows.v[k].used;
	for (size_t d = 0; d < FSC_ARRAY_LEN(differences); d++)
		if (!strcmp(differences[d].file, name)) {
			want_missing = differences[d].missing;
			want_extra = differences[d].extra;
		}
	if (missing != want_missing || extra != want_extra) {
		for (uint32_t i = 0; i < t->slices.n; i++)
			print_error("  ours: %lld %lld %s depth %u\n",
				    (long long)(t->slices.ts[i] + t->meta.t_base_ns),
				    (long long)t->slices.dur[i], str_of(t, t->slices.name[i]),
				    t->slices.depth[i]);
		fail_msg("%s: %u rows missing (%u known), %u of ours unknown to them (%u known)",
			 name, missing, want_missing, extra, want_extra);
	}
}

static void slices_equal_those_of_trace_processor(void **state)
{
	char dir[700], path[1200];
	unsigned n_files = 0;
	struct dirent *e;

	(void)state;
	test_data(dir, sizeof(dir), "chrome-json/json");
	DIR *d = opendir(dir);
	assert_non_null(d);
	while ((e = readdir(d)) != NULL) {
		struct fsc_err err = FSC_ERR_INIT;
		char name[256];
		size_t n = strlen(e->d_name);
		if (n < 6 || strcmp(e->d_name + n - 5, ".json") != 0)
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)n - 5, e->d_name);
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		struct fsc_trace *t = read_trace_file(path, &err);
		n_files++;
		if (!strcmp(name, "gecko__gecko_markers")) {
			assert_null(t); /* a Firefox profile */
			assert_string_equal(err.code, "not_a_timeline");
			continue;
		}
		if (!t)
			fail_msg("%s: %s", name, err.msg);
		snprintf(path, sizeof(path), "%s/%s.slices.csv", dir, name);
		struct rows rows = csv(path);
		compare(name, t, rows);
		fsc_free(rows.v);
		fsc_trace_free(t);
	}
	closedir(d);
	assert_int_equal(n_files, 43);
}

static void the_synthetic_kineto_file_has_the_slices_of_trace_processor(void **state)
{
	char path[700];
	struct fsc_err err = FSC_ERR_INIT;

	(void)state;
	test_data(path, sizeof(path), "chrome-json/kineto_synth.json");
	struct fsc_trace *t = read_trace_file(path, &err);
	assert_non_null(t);
	assert_int_equal(t->slices.n, 2661);
	assert_int_equal(t->flows.n, 665);
	fsc_trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slices_equal_those_of_trace_processor),
		cmocka_unit_test(the_synthetic_kineto_file_has_the_slices_of_trace_processor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
