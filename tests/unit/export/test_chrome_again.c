/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trace-event JSON of other tools, exported as Chrome JSON and read again, is the same trace: slices with their rows,
 * flags, categories and args, counters and arrows.
 */
#include <ftw.h>

#include "tests/support/export_all.h"
#include "tests/support/read_trace.h"

#define MAX_LINES 2000

struct lines {
	char *v[MAX_LINES];
	size_t n;
};

static void add(struct lines *l, struct fsc_buf *b)
{
	assert_true(l->n < MAX_LINES && fsc_buf_status(b) == FSC_OK);
	l->v[l->n] = strdup(b->data ? b->data : "");
	assert_non_null(l->v[l->n++]);
	fsc_buf_clear(b);
}

static int by_text(const void *x, const void *y)
{
	return strcmp(*(char *const *)x, *(char *const *)y);
}

static void add_name(struct fsc_buf *b, const struct fsc_trace *t, uint32_t slice)
{
	fsc_buf_addf(b, "%s@%lld", str_of(t, t->slices.name[slice]),
		     (long long)t->slices.ts[slice]);
}

static void slice_lines(struct lines *l, struct fsc_buf *b, const struct fsc_trace *t,
			const struct fsc_seg *seg)
{
	static const char *const kinds[] = { "?",	   "thread", "stream",
					     "annotation", "async",  "counter" };
	const struct fsc_slices *s = &t->slices;
	struct fsc_err err = FSC_ERR_INIT;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct fsc_track *k = &t->tracks.v[s->track[i]];
		const struct fsc_process *p = &t->processes.v[k->process];
		add_name(b, t, i);
		fsc_buf_addf(
			b, "+%lld row %u flags %u %s cat '%s' pid %lld '%s' '%s' %s tid %lld '%s' ",
			(long long)s->dur[i], s->depth[i], s->flags[i], fsc_kind_name(s->kind[i]),
			str_of(t, t->cats.v[s->cat[i]]), (long long)p->pid, str_of(t, p->pid_text),
			str_of(t, p->name), kinds[k->kind], (long long)k->tid,
			str_of(t, k->tid_text));
		if (s->args[i] != FSC_NO_ARGS && fsc_seg_args(b, seg, s->args[i], &err) != FSC_OK)
			fail_msg("args: %s", err.msg);
		add(l, b);
	}
}

static void all_lines(struct lines *l, const struct fsc_trace *t)
{
	struct fsc_buf b = FSC_BUF_INIT(4u << 20);
	struct fsc_seg *seg = segment_of(t);

	slice_lines(l, &b, t, seg);
	for (size_t i = 0; i < t->flows.n; i++) {
		add_name(&b, t, t->flows.v[i].from);
		fsc_buf_adds(&b, " -> ");
		add_name(&b, t, t->flows.v[i].to);
		add(l, &b);
	}
	for (size_t k = 0; k < t->tracks.n; k++)
		for (uint32_t i = 0;
		     t->tracks.v[k].kind == FSC_TRACK_COUNTER && i < t->tracks.v[k].n; i++) {
			const struct fsc_counter_sample *c =
				&t->counters.v[t->tracks.v[k].first + i];
			fsc_buf_addf(&b, "%s %lld %.17g", str_of(t, t->tracks.v[k].name),
				     (long long)c->ts, c->value);
			add(l, &b);
		}
	qsort(l->v, l->n, sizeof(l->v[0]), by_text);
	fsc_seg_unref(seg);
	fsc_buf_fini(&b);
}

static void forget(struct lines *l)
{
	while (l->n)
		free(l->v[--l->n]);
}

static unsigned n_files, n_faults;

static void again(const char *path, const struct fsc_trace *t)
{
	struct fsc_buf b = FSC_BUF_INIT(64u << 20);
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_seg *seg = segment_of(t);
	static struct lines was, is;

	export_all(&b, seg, "chrome");
	fsc_seg_unref(seg);
	struct fsc_trace *back = read_trace_text(b.data, b.len, &err);
	if (!back)
		fail_msg("%s: %s: %s", path, err.code, err.msg);
	all_lines(&was, t);
	all_lines(&is, back);
	for (size_t i = 0; i < was.n || i < is.n; i++) {
		const char *x = i < was.n ? was.v[i] : "nothing",
			   *y = i < is.n ? is.v[i] : "nothing";
		if (!strcmp(x, y))
			continue;
		print_error("%s:\n  was %s\n  is  %s\n", path, x, y);
		n_faults++;
		break;
	}
	forget(&was);
	forget(&is);
	fsc_trace_free(back);
	fsc_buf_fini(&b);
	n_files++;
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	size_t n = strlen(path);
	struct fsc_err err = FSC_ERR_INIT;

	(void)st;
	(void)ftw;
	if (type != FTW_F || n < 6 || strcmp(path + n - 5, ".json") != 0 || strstr(path, "gecko"))
		return 0;
	struct fsc_trace *t = read_trace_file(path, &err);
	if (!t)
		fail_msg("%s: %s", path, err.msg);
	if (t->slices.n + t->counters.n) /* an export of nothing is no timeline */
		again(path, t);
	fsc_trace_free(t);
	return 0;
}

static void every_file_is_the_same_when_it_was_exported(void **state)
{
	static const char *const dirs[] = { "chrome-json/json", "profiles/trace-event",
					    "profiles/xplane" };
	char dir[700];

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(dirs); i++) {
		test_data(dir, sizeof(dir), dirs[i]);
		assert_int_equal(nftw(dir, visit, 16, FTW_PHYS), 0);
	}
	assert_int_equal(n_faults, 0);
	assert_int_equal(n_files, 70);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_file_is_the_same_when_it_was_exported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
