/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trace-event JSON against expected rows. Two sets: the 43 inline tests of trace_processor, whose own expected rows
 * (any columns) must be among ours, and 31 files of other tools with the slices we give by our own rules, worked out by
 * hand. Differences are listed with their reason, and only those may occur.
 */
#include "base/alloc.h"
#include "base/fs.h"
#include "base/json_scan.h"
#include "segment/seg_read.h"
#include "tests/support/export_all.h"
#include "tests/support/read_trace.h"

#define COLS 12
#define CELL 160

struct row {
	char cell[COLS][CELL];
	bool used;
};

struct table {
	struct row *v;
	size_t n, cols;
};

/* ---- expected rows ---- */

static const char *csv_cell(char *cell, const char *p)
{
	size_t n = 0;
	bool quoted = *p == '"';

	p += quoted;
	while (*p && (quoted ? *p != '"' || p[1] == '"' : *p != ',' && *p != '\n')) {
		p += quoted && *p == '"';
		if (n + 1 < CELL)
			cell[n++] = *p;
		p++;
	}
	cell[n] = '\0';
	return p + (quoted && *p);
}

/* The first row holds the names of the columns. */
static struct table csv(const char *path)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct table t = { .n = 0 };
	char *text;
	size_t n;

	if (fsc_fs_read_file(&text, &n, path, 1 << 20, &err) != FSC_OK)
		fail_msg("%s: %s", path, err.msg);
	t.v = fsc_xalloc(n + 1, sizeof(*t.v));
	for (const char *p = text; *p; t.n++) {
		size_t c = 0;
		for (;; p++) {
			assert_true(c < COLS);
			p = csv_cell(t.v[t.n].cell[c++], p);
			if (*p != ',')
				break;
		}
		p += *p == '\n';
		t.cols = c;
	}
	fsc_free(text);
	return t;
}

/* ---- our rows ---- */

struct ours {
	const struct fsc_trace *t;
	struct fsc_seg *seg;
	const struct table *want;
	struct table got;
	/* what the row is about */
	uint32_t slice;
	const struct fsc_json_member *arg;
};

static void put(char *cell, const char *text)
{
	snprintf(cell, CELL, "%s", *text ? text : "[NULL]");
}

static void put_int(char *cell, int64_t v)
{
	snprintf(cell, CELL, "%lld", (long long)v);
}

/* Args of the slice as JSON, in b. */
static void args_of(struct fsc_buf *b, const struct ours *o)
{
	struct fsc_err err = FSC_ERR_INIT;
	uint32_t record = o->t->slices.args[o->slice];

	fsc_buf_clear(b);
	if (record != FSC_NO_ARGS && fsc_seg_args(b, o->seg, record, &err) != FSC_OK)
		fail_msg("args: %s", err.msg);
}

/* A member as their tables have it: numbers and booleans as integers, text as text. */
static void put_value(char *cell, const struct fsc_json_member *m)
{
	if (m->type == FSC_JSON_BOOL)
		put_int(cell, *m->value == 't');
	else if (m->type == FSC_JSON_STRING)
		snprintf(cell, CELL, "%.*s", (int)m->value_len - 2, m->value + 1);
	else
		snprintf(cell, CELL, "%.*s", (int)m->value_len, m->value);
}

static void put_arg(char *cell, const struct ours *o, const char *key)
{
	struct fsc_buf b = FSC_BUF_INIT(4u << 20);
	struct fsc_json_member m;

	args_of(&b, o);
	put(cell, "");
	if (b.len && fsc_json_find(&m, b.data, b.len, key))
		put_value(cell, &m);
	fsc_buf_fini(&b);
}

static void put_arg_cell(char *cell, const struct ours *o, const char *col)
{
	bool text = o->arg && o->arg->type == FSC_JSON_STRING;

	put(cell, "");
	if (!o->arg)
		return;
	if (!strcmp(col, "key") || !strcmp(col, "flat_key"))
		snprintf(cell, CELL, "args.%.*s", (int)o->arg->key_len, o->arg->key);
	else if (!strcmp(col, text ? "string_value" : "int_value"))
		put_value(cell, o->arg);
}

static void put_who_cell(char *cell, const struct ours *o, const char *col)
{
	static const char state[] = "thread state of ";
	const struct fsc_trace *t = o->t;
	const struct fsc_track *k = &t->tracks.v[t->slices.track[o->slice]];
	const struct fsc_process *p = &t->processes.v[k->process];
	const char *name = str_of(t, k->name);

	put(cell, "");
	if (!strcmp(col, "pid") && p->pid >= 0)
		put_int(cell, p->pid);
	else if (!strcmp(col, "tid") && !strncmp(name, state, sizeof(state) - 1))
		put(cell, name + sizeof(state) - 1);
	else if (!strcmp(col, "tid") && k->kind == FSC_TRACK_THREAD)
		put_int(cell, k->tid);
	else if (!strcmp(col,
			 "thread_name")) /* a text in the place of a number is a name to them */
		put(cell, k->tid_text ? str_of(t, k->tid_text) : name);
	else if (!strcmp(col, "process_name"))
		put(cell, str_of(t, p->pid_text ? p->pid_text : p->name));
	else if (!strcmp(col, "track_name"))
		put(cell, name);
}

/* Arrows into or out of the slice. */
static int64_t arrows(const struct ours *o, bool in)
{
	int64_t n = 0;

	for (size_t i = 0; i < o->t->flows.n; i++)
		n += (in ? o->t->flows.v[i].to : o->t->flows.v[i].from) == o->slice;
	return n;
}

static void slice_cell(char *cell, const struct ours *o, const char *col)
{
	const struct fsc_slices *s = &o->t->slices;
	uint32_t i = o->slice;

	if (!strcmp(col, "ts"))
		put_int(cell, s->ts[i] + o->t->meta.t_base_ns);
	else if (!strcmp(col, "dur"))
		put_int(cell, s->flags[i] & FSC_SLICE_OPEN ? -1 : s->dur[i]);
	else if (!strcmp(col, "name") || !strcmp(col, "state"))
		put(cell, str_of(o->t, s->name[i]));
	else if (!strcmp(col, "depth"))
		put_int(cell, s->depth[i]);
	else if (!strcmp(col, "fin") || !strcmp(col, "fout"))
		put_int(cell, arrows(o, !strcmp(col, "fin")));
	else if (!strcmp(col, "thread_ts") || !strcmp(col, "thread_dur"))
		put_arg(cell, o, !strcmp(col, "thread_ts") ? "thread_ts_ns" : "thread_dur_ns");
	else if (!strcmp(col, "cpu") || !strcmp(col, "io_wait") || !strcmp(col, "blocked_function"))
		put_arg(cell, o, col);
	else if (strstr(col, "key") || strstr(col, "_value"))
		put_arg_cell(cell, o, col);
	else
		put_who_cell(cell, o, col);
}

static struct row *new_row(struct ours *o)
{
	return &o->got.v[o->got.n++];
}

static void add_slice_row(struct ours *o)
{
	struct row *r = new_row(o);

	for (size_t c = 0; c < o->want->cols; c++)
		slice_cell(r->cell[c], o, o->want->v[0].cell[c]);
}

static bool has_col(const struct table *t, const char *col)
{
	for (size_t c = 0; c < t->cols; c++)
		if (!strcmp(t->v[0].cell[c], col))
			return true;
	return false;
}

/* A row for each slice, or for each of its args where they are asked for. */
static void slice_rows(struct ours *o)
{
	struct fsc_buf b = FSC_BUF_INIT(4u << 20);
	struct fsc_json_member m;

	for (o->slice = 0; o->slice < o->t->slices.n; o->slice++) {
		o->arg = NULL;
		args_of(&b, o);
		size_t before = o->got.n;
		struct fsc_json_scan s = fsc_json_scan_of(b.data, b.len);
		while (b.len && has_col(o->want, "key") && fsc_json_scan_next(&s, &m)) {
			if (m.key_len > 7 && !memcmp(m.key, "thread_", 7))
				continue; /* thread times are columns to them */
			o->arg = &m;
			add_slice_row(o);
		}
		o->arg = NULL;
		if (o->got.n == before)
			add_slice_row(o);
	}
	fsc_buf_fini(&b);
}

static void counter_rows(struct ours *o)
{
	bool with_pid = has_col(o->want, "pid");

	for (size_t k = 0; k < o->t->tracks.n; k++) {
		const struct fsc_track *tr = &o->t->tracks.v[k];
		const struct fsc_process *p = &o->t->processes.v[tr->process];
		for (uint32_t i = 0; tr->kind == FSC_TRACK_COUNTER && i < tr->n; i++) {
			const struct fsc_counter_sample *s = &o->t->counters.v[tr->first + i];
			struct row *r = new_row(o);
			char *value = r->cell[with_pid ? 3 : 2];
			put(r->cell[with_pid ? 2 : 0], str_of(o->t, tr->name));
			snprintf(value, CELL, "%.6f", s->value);
			if (with_pid) {
				put_int(r->cell[0], p->pid);
				put(r->cell[1], str_of(o->t, p->name));
			} else {
				put_int(r->cell[1], s->ts + o->t->meta.t_base_ns);
			}
		}
	}
}

static void flow_rows(struct ours *o)
{
	for (size_t i = 0; i < o->t->flows.n; i++) {
		const struct fsc_flow *f = &o->t->flows.v[i];
		struct row *r = new_row(o);
		put(r->cell[0], str_of(o->t, o->t->slices.name[f->from]));
		put(r->cell[1], str_of(o->t, o->t->slices.name[f->to]));
	}
}

static void process_rows(struct ours *o)
{
	for (size_t i = 0; i < o->t->processes.n; i++) {
		struct row *r = new_row(o);
		put_int(r->cell[0], o->t->processes.v[i].pid);
		put(r->cell[1], str_of(o->t, o->t->processes.v[i].name));
	}
}

/* pid, tid and both sort indexes; 0 is none. */
static void hint_rows(struct ours *o)
{
	for (size_t i = 0; i < o->t->tracks.n; i++) {
		const struct fsc_track *k = &o->t->tracks.v[i];
		const struct fsc_process *p = &o->t->processes.v[k->process];
		struct row *r = new_row(o);
		put_int(r->cell[0], p->pid);
		put_int(r->cell[1], k->tid);
		put(r->cell[2], "");
		put(r->cell[3], "");
		if (p->sort_index)
			put_int(r->cell[2], p->sort_index);
		if (k->sort_index)
			put_int(r->cell[3], k->sort_index);
	}
}

static void order_rows(struct ours *o)
{
	for (size_t i = 0; i < o->t->processes.n; i++) {
		struct row *r = new_row(o);
		put(r->cell[0], "process");
		put_int(r->cell[1], o->t->processes.v[i].pid);
		put_int(r->cell[2], o->t->processes.v[i].sort_index);
	}
	for (size_t i = 0; i < o->t->tracks.n; i++) {
		struct row *r = new_row(o);
		put(r->cell[0], "thread");
		put_int(r->cell[1], o->t->tracks.v[i].tid);
		put_int(r->cell[2], o->t->tracks.v[i].sort_index);
	}
}

static void metadata_rows(struct ours *o)
{
	const char *json = str_of(o->t, o->t->meta.json);
	struct fsc_json_member meta, m;

	assert_true(fsc_json_find(&meta, json, strlen(json), "metadata"));
	struct fsc_json_scan s = fsc_json_scan_of(meta.value, meta.value_len);
	while (fsc_json_scan_next(&s, &m)) {
		struct row *r = new_row(o);
		bool text = m.type == FSC_JSON_STRING;
		snprintf(r->cell[0], CELL, "json_metadata.%.*s", (int)m.key_len, m.key);
		put(r->cell[1], "");
		put(r->cell[2], "");
		put_value(r->cell[text ? 2 : 1], &m);
	}
}

static void import_log_rows(struct ours *o)
{
	(void)o; /* a known difference */
}

static void overlap_rows(struct ours *o)
{
	struct row *r = new_row(o);

	put_int(r->cell[0], o->t->slices.n);
	put_int(r->cell[1], (int64_t)loss_of(o->t, "slice_overlap_kept"));
	put_int(r->cell[2], 0);
}

static void failure_rows(struct ours *o)
{
	struct row *r = new_row(o);

	put_int(r->cell[0],
		(int64_t)(loss_of(o->t, "event_unreadable") + loss_of(o->t, "event_bad_ts")));
	put_int(r->cell[1], o->t->slices.n);
}

/* Who makes rows with these columns; all others are slices. */
static const struct {
	const char *cols;
	void (*make)(struct ours *o);
} makers[] = {
	{ "pid,name,name,value", counter_rows },
	{ "name,ts,value", counter_rows },
	{ "slice_out,slice_in", flow_rows },
	{ "start_name,end_name", flow_rows },
	{ "pid,name", process_rows },
	{ "pid,tid,process_hint,thread_hint", hint_rows },
	{ "type,id,hint", order_rows },
	{ "name,int_value,str_value", metadata_rows },
	{ "ts,severity,key,display_value", import_log_rows },
	{ "slice_count,spill_count,drop_count", overlap_rows },
	{ "tokenizer_failures,slice_count", failure_rows },
};

/* ---- comparing ---- */

static const struct {
	const char *file;
	unsigned missing; /* of their rows */
	const char *why;
} differences[] = {
	{ "json__json_metadata_missing_or_invalid_ts", 3,
	  "processes with a name and no event are not in the trace" },
	{ "json__json_sort_index_hints", 3,
	  "the same, and theirs has a process 0 and a main thread in each process" },
	{ "json__json_sort_index_ordering", 5, "the same" },
	{ "json__overlapping_complete_event_import_log", 7,
	  "the slice is marked and counted (slice_overlap_kept), there is no log" },
	{ "parsing__thread_time_in_thread_slice", 1,
	  "of a begin and its end the thread time of the begin is kept: no difference is made" },
	{ "parsing__same_ts_zero_duration_slice_then_begin_end_slice_unnesting", 1,
	  "a begin has its length when we order: the longer of two slices of one start is the "
	  "outer, as for X" },
};

static bool equal(const struct row *want, const struct row *got, const struct table *t)
{
	for (size_t c = 0; c < t->cols; c++)
		if (strcmp(want->cell[c], got->cell[c]) != 0 &&
		    strcmp(t->v[0].cell[c], "track_type") != 0) /* their own name for a kind */
			return false;
	return true;
}

static void tell(const char *what, const struct row *r, size_t cols)
{
	print_error("  %s:", what);
	for (size_t c = 0; c < cols; c++)
		print_error(" %s", r->cell[c]);
	print_error("\n");
}

static void compare(const char *file, struct ours *o)
{
	unsigned missing = 0, known = 0;

	for (size_t i = 1; i < o->want->n; i++) {
		size_t k = 0;
		while (k < o->got.n &&
		       (o->got.v[k].used || !equal(&o->want->v[i], &o->got.v[k], o->want)))
			k++;
		if (k < o->got.n)
			o->got.v[k].used = true;
		else
			missing++;
	}
	for (size_t d = 0; d < FSC_ARRAY_LEN(differences); d++)
		if (!strcmp(differences[d].file, file))
			known = differences[d].missing;
	if (missing == known)
		return;
	for (size_t i = 1; i < o->want->n; i++)
		tell("theirs", &o->want->v[i], o->want->cols);
	for (size_t k = 0; k < o->got.n; k++)
		tell("ours", &o->got.v[k], o->want->cols);
	fail_msg("%s: %u of their rows are not among ours, %u known", file, missing, known);
}

/* Rows about reachability repeat arrows: each arrow once. */
static void keep_arrows(struct table *t)
{
	size_t n = 1;

	for (size_t i = 0; i < t->n; i++)
		for (int c = 0; c < 2; c++)
			memmove(t->v[i].cell[c], t->v[i].cell[c + 2], CELL);
	t->cols = 2;
	for (size_t i = 1; i < t->n; i++) {
		size_t k = 1;
		while (k < n && !equal(&t->v[i], &t->v[k], t))
			k++;
		if (k == n)
			t->v[n++] = t->v[i];
	}
	t->n = n;
}

static void make_rows(struct ours *o)
{
	char cols[COLS * CELL] = "";
	size_t n = 0;

	for (size_t c = 0; c < o->want->cols && n < sizeof(cols); c++)
		n += (size_t)snprintf(cols + n, sizeof(cols) - n, "%s%s", c ? "," : "",
				      o->want->v[0].cell[c]);
	o->got.v = fsc_xalloc(1000, sizeof(*o->got.v));
	for (size_t i = 0; i < FSC_ARRAY_LEN(makers); i++)
		if (!strcmp(makers[i].cols, cols)) {
			makers[i].make(o);
			return;
		}
	slice_rows(o);
}

/* One row of INDEX.csv: file, ..., upstream columns, upstream rows, slices, flows, counter rows. */
static bool check_indexed(const char *dir, const struct row *index)
{
	char path[1200], file[256];
	struct fsc_err err = FSC_ERR_INIT;
	size_t n = strlen(index->cell[0]);

	if (strncmp(index->cell[0], "json/", 5) != 0 || strstr(index->cell[0], "gecko"))
		return false;
	snprintf(file, sizeof(file), "%.*s", (int)n - 10, index->cell[0] + 5);
	snprintf(path, sizeof(path), "%s/%s", dir, index->cell[0]);
	struct fsc_trace *t = read_trace_file(path, &err);
	if (!t)
		fail_msg("%s: %s", file, err.msg);
	snprintf(path, sizeof(path), "%s/json/%s.upstream.csv", dir, file);
	struct table want = csv(path);
	if (has_col(&want, "start_name"))
		keep_arrows(&want);
	struct ours o = { .t = t, .seg = segment_of(t), .want = &want };
	make_rows(&o);
	compare(file, &o);
	if ((long)t->flows.n != strtol(index->cell[8], NULL, 10) ||
	    (long)t->counters.n != strtol(index->cell[9], NULL, 10))
		fail_msg("%s: %zu arrows and %zu counter values, expected %s and %s", file,
			 t->flows.n, t->counters.n, index->cell[8], index->cell[9]);
	fsc_seg_unref(o.seg);
	fsc_free(o.got.v);
	fsc_free(want.v);
	fsc_trace_free(t);
	return true;
}

static void rows_of_trace_processor_are_among_ours(void **state)
{
	char dir[700], path[800];
	unsigned n_files = 0;

	(void)state;
	test_data(dir, sizeof(dir), "chrome-json");
	snprintf(path, sizeof(path), "%s/INDEX.csv", dir);
	struct table index = csv(path);
	for (size_t i = 1; i < index.n; i++)
		n_files += check_indexed(dir, &index.v[i]);
	fsc_free(index.v);
	assert_int_equal(n_files, 42); /* and a Firefox profile, which is none of these */
}

/* ---- files of other tools, by our own rules ---- */

/* Slices as "name ts+dur row", times in us from the first; then losses. */
static void shape(struct fsc_buf *b, const struct fsc_trace *t)
{
	const struct fsc_slices *s = &t->slices;

	for (uint32_t i = 0; i < s->n; i++) {
		fsc_buf_addf(b, "%.20s %lld", str_of(t, s->name[i]), (long long)(s->ts[i] / 1000));
		if (!(s->flags[i] & FSC_SLICE_INSTANT))
			fsc_buf_addf(b, "+%lld", (long long)(s->dur[i] / 1000));
		fsc_buf_addf(b, " %u%s%s%s%s; ", s->depth[i],
			     s->flags[i] & FSC_SLICE_OVERLAP ? " overlap" : "",
			     s->flags[i] & FSC_SLICE_OPEN ? " open" : "",
			     s->flags[i] & FSC_SLICE_SCOPE_PROCESS ? " process" : "",
			     s->flags[i] & FSC_SLICE_SCOPE_GLOBAL ? " global" : "");
	}
	fsc_buf_adds(b, "|");
	for (uint32_t i = 0; i < t->losses.n; i++)
		fsc_buf_addf(b, " %s=%llu", t->losses.v[i].code,
			     (unsigned long long)t->losses.v[i].count);
}

static const struct {
	const char *file, *shape;
} others[] = {
	{ "trace-event/bex-interaction.json", "A 0+2 0; C 10+2 0; F 20+2 0; G 30+2 0; "
					      "J 40+2 0; K 50+2 0; B 0+2 1; D 10+2 1; "
					      "E 20+1 1; H 30+1 1; I 41+1 1; L 51+1 1; "
					      "|" },
	{ "trace-event/end-event-with-empty-stack.json", "alpha 0+1 0; | end_without_begin=1" },
	{ "trace-event/end-non-top-of-stack.json",
	  "A 0+10 0; B 1+10 1 overlap open; Z 10+1 2; | misplaced_end=1 end_args_not_merged=1 "
	  "begin_without_end=1 slice_overlap_kept=1" },
	{ "trace-event/event-reordering-name-match.json",
	  "alpha 0+10 0; beta 1+1 1; gamma 1+1 2; | misplaced_end=1 end_args_not_merged=2" },
	{ "trace-event/hermes-multiple-frames.json",
	  "[root] 0+14 0; beta 1+1 1; gamma 4+9 1; beta 4+6 2; |" },
	{ "trace-event/invalid-x-nesting.json",
	  "alpha 0+10 0; beta 5+10 1 overlap; | slice_overlap_kept=1" },
	{ "trace-event/matching-x.json", "alpha 0+10 0; beta 1+1 1; gamma 5+1 1; gamma 1+1 2; "
					 "beta 5+1 2; "
					 "|" },
	{ "trace-event/mismatched-args.json", "A 0+10 0; | end_args_not_merged=1" },
	{ "trace-event/mismatched-name.json",
	  "alpha 0+0 0 open; | end_without_begin=1 begin_without_end=1" },
	{ "trace-event/multi-thread-with-samples.json",
	  "mqt_js 0+0 0; [root] 1941575 0; function1 1962345 0; [GC Young Gen] 1975671 0; "
	  "mqt_js 0+0 0; [root thread 2] 1941575 0; function3 1962345 0; function4 1975671 0; "
	  "[root thread 2] 1985671 0; [root thread 2] 1995671 0; "
	  "| sample_as_instant=8" },
	{ "trace-event/multiprocess.json", "alpha 0+1 0; beta 0+1 0; gamma 0+1 0; delta 0+1 0; "
					   "epsilon 0+1 0; phi 0+1 0; zeta 0+1 0; eta 0+1 0; "
					   "|" },
	{ "trace-event/must-retain-original-order.json", "A 0+3 0; A 4+3 0; X 7+3 0; B 0+2 1; "
							 "B 5+2 1; C 0+1 2; C 6+1 2; "
							 "|" },
	{ "trace-event/not-enough-end-events.json",
	  "A 0+11 0 open; A 1+10 1 open; A 10+1 2; | begin_without_end=2" },
	{ "trace-event/only-begin-events.json",
	  "A 0+2 0 open; B 1+1 1 open; C 2+0 2 open; | begin_without_end=3" },
	{ "trace-event/out-of-order-unbalanced-name.json",
	  "alpha 0+9 0; beta 1+9 1 overlap; | misplaced_end=1 slice_overlap_kept=1" },
	{ "trace-event/out-of-order.json", "A 0+10 0; B 1+8 1; C 2+6 2; |" },
	{ "trace-event/simple-hermes.json", "[root] 0+14 0; beta 1+12 1; |" },
	{ "trace-event/simple-object.json", "alpha 0+14 0; beta 1+12 1; | x_without_dur=1" },
	{ "trace-event/simple-partial-trailing-comma.json",
	  "alpha 0+14 0; beta 1+12 1; gamma 2+5 2; | array_not_closed=1 x_without_dur=1" },
	{ "trace-event/simple-partial-whitespace.json",
	  "alpha 0+14 0; beta 1+12 1; gamma 2+5 2; | array_not_closed=1 x_without_dur=1" },
	{ "trace-event/simple-partial.json",
	  "alpha 0+14 0; beta 1+12 1; gamma 2+5 2; | array_not_closed=1 x_without_dur=1" },
	{ "trace-event/simple-with-samples.json",
	  "[root] 0 0; [root] 4440 0; function1(http://loc 20770 0; function3(http://loc 34096 0; "
	  "[root] 44701 0; [GC Young Gen] 54710 0; [GC Young Gen] 64710 0; "
	  "| sample_as_instant=7" },
	{ "trace-event/simple.json", "alpha 0+14 0; beta 1+12 1; gamma 2+5 2; | x_without_dur=1" },
	{ "trace-event/simultaneous-anonymous-calls.json",
	  "anonymous 0+5 0; anonymous 1+2 1; anonymous 3+2 1; function1 1+2 2; "
	  "anonymous 3+2 2; anonymous 1+2 3; "
	  "|" },
	{ "trace-event/too-many-end-events.json",
	  "alpha 0+14 0; beta 1+12 1; | end_without_begin=2" },
	{ "trace-event/unbalanced-args.json", "A 0+10 0; A 1+8 1; | end_args_not_merged=2" },
	{ "trace-event/unbalanced-name.json",
	  "alpha 0+9 0; beta 1+9 1 overlap; | misplaced_end=1 slice_overlap_kept=1" },
	{ "trace-event/x-events-matching-end.json",
	  "alpha 0+20 0; beta 1+2 1; gamma 5+2 1; beta 9+2 1; "
	  "gamma 14+2 1; gamma 2+1 2; beta 6+1 2; gamma 10+1 2; "
	  "beta 15+1 2; "
	  "|" },
	{ "trace-event/x-events-matching-start.json",
	  "alpha 0+20 0; beta 1+2 1; gamma 5+2 1; gamma 9+2 1; "
	  "beta 13+2 1; gamma 1+1 2; beta 5+1 2; beta 9+1 2; "
	  "gamma 13+1 2; "
	  "|" },
	{ "trace-event/zero-duration-events.json",
	  "A 0+10 0; B 1+0 1; C 2+8 1 overlap open; D 3+0 2; | end_without_begin=1 misplaced_end=1 "
	  "begin_without_end=1 slice_overlap_kept=1" },
	{ "xplane/tf_trace_viewer_trace.json",
	  "X1 0+2 0; Long X type 2+15 0; X same ts and dur as 0+2 1; A long name that doe 8+54 1 "
	  "overlap open; "
	  "Asub with a name tha 9+6 2; ProcessWideEvent1 17 2 process; ThreadLevelI1 17 2; "
	  "ThreadLevelI2 19 2; "
	  "A not as long a name 22+8 2; B 32+4 2; B/E over X 42+10 2; Asub 11+3 3; "
	  "X 42+10 3; B/E under X 42+10 4; A 9+27 0; SampleA 52 0; "
	  "SampleB 57 0; SampleC 60 0; ThreadLevelImmediate 17 1; ThreadLevelImmediate 27 1; "
	  "GlobalEvent1 62 0 global; "
	  "| sample_as_instant=3 end_without_begin=1 begin_without_end=1 slice_overlap_kept=1" },
};

static void files_of_other_tools_give_the_slices_worked_out_by_hand(void **state)
{
	char dir[700], path[1200];
	unsigned faults = 0;

	(void)state;
	test_data(dir, sizeof(dir), "profiles");
	for (size_t i = 0; i < FSC_ARRAY_LEN(others); i++) {
		struct fsc_buf b = FSC_BUF_INIT(1u << 20);
		struct fsc_err err = FSC_ERR_INIT;
		snprintf(path, sizeof(path), "%s/%s", dir, others[i].file);
		struct fsc_trace *t = read_trace_file(path, &err);
		if (!t)
			fail_msg("%s: %s", others[i].file, err.msg);
		shape(&b, t);
		if (strcmp(b.data, others[i].shape) != 0) {
			print_error("%s:\n  got  %s\n  want %s\n", others[i].file, b.data,
				    others[i].shape);
			faults++;
		}
		fsc_buf_fini(&b);
		fsc_trace_free(t);
	}
	assert_int_equal(faults, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_trace_processor_are_among_ours),
		cmocka_unit_test(files_of_other_tools_give_the_slices_worked_out_by_hand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
