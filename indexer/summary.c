/* SPDX-License-Identifier: Apache-2.0 */
/* Collects facts and writes the summary document. */
#include "indexer/summary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis/analysis_json.h"
#include "base/json_out.h"
#include "base/limits.h"

void fsc_summary_init(struct fsc_summary *s)
{
	memset(s, 0, sizeof(*s));
	fsc_arena_init(&s->arena, 1 * FSC_GIB);
}

static void drop_trace(struct fsc_summary_trace *t)
{
	fsc_vec_fini(&t->categories);
	fsc_vec_fini(&t->losses);
}

void fsc_summary_fini(struct fsc_summary *s)
{
	for (size_t i = 0; i < s->traces.n; i++)
		drop_trace(&s->traces.v[i]);
	fsc_vec_fini(&s->traces);
	fsc_vec_fini(&s->failures);
	fsc_arena_fini(&s->arena);
}

/* ---- taking ---- */

static const char *keep(struct fsc_summary *s, const char *text)
{
	char *copy = fsc_arena_dup(&s->arena, text, strlen(text));

	return copy ? copy : "";
}

static bool take_trace(struct fsc_summary *s, const struct fsc_fact_trace *t)
{
	struct fsc_summary_trace row = { .t = *t };

	row.t.member = keep(s, t->member);
	row.t.format = keep(s, t->format);
	row.t.job = keep(s, t->job);
	row.t.host = keep(s, t->host);
	row.t.capture = keep(s, t->capture);
	row.t.name = keep(s, t->name);
	row.t.meta_json = keep(s, t->meta_json);
	row.t.source_disagreements = keep(s, t->source_disagreements);
	s->open = true;
	return fsc_vec_push(&s->traces, row);
}

static bool take_member(struct fsc_summary *s, const struct fsc_fact_member *m)
{
	struct fsc_fact_member row = *m;

	/* a failure inside a trace withdraws it */
	if (s->open)
		drop_trace(&s->traces.v[--s->traces.n]);
	s->open = false;
	s->n_failed += !strcmp(m->outcome, "failed");
	row.member = keep(s, m->member);
	row.outcome = keep(s, m->outcome);
	row.code = keep(s, m->code);
	row.message = keep(s, m->message);
	return fsc_vec_push(&s->failures, row);
}

enum fsc_status fsc_summary_take(struct fsc_summary *s, const struct fsc_fact *f,
				 const char *segment_path, struct fsc_err *err)
{
	struct fsc_summary_trace *t = s->open ? &s->traces.v[s->traces.n - 1] : NULL;
	bool ok = true;

	if (f->type == FSC_FACT_TRACE) {
		ok = take_trace(s, &f->u.trace);
	} else if (f->type == FSC_FACT_CATEGORY) {
		struct fsc_fact_category c = f->u.category;

		c.name = keep(s, c.name);
		ok = fsc_vec_push(&t->categories, c);
	} else if (f->type == FSC_FACT_LOSS) {
		struct fsc_fact_loss l = f->u.loss;

		l.code = keep(s, l.code);
		ok = fsc_vec_push(&t->losses, l);
	} else if (f->type == FSC_FACT_TRACE_END) {
		t->segment_bytes = f->u.trace_end.segment_bytes;
		t->segment_path = fsc_arena_dup(&s->arena, segment_path, strlen(segment_path));
		ok = t->segment_path != NULL;
		s->open = false;
	} else if (f->type == FSC_FACT_MEMBER) {
		ok = take_member(s, &f->u.member);
	} else if (f->type == FSC_FACT_END) {
		s->end = f->u.end;
		s->end.code = keep(s, s->end.code);
		s->end.message = keep(s, s->end.message);
		s->end.file = keep(s, s->end.file);
		s->end.manifest_json = keep(s, s->end.manifest_json);
	}
	return ok ? FSC_OK : fsc_err_set(err, FSC_ENOMEM, NULL, "summary: out of memory");
}

/* ---- writing ---- */

static void put_known(struct fsc_json *j, const char *key, const char *text)
{
	fsc_json_kstr(j, key, text[0] ? text : NULL);
}

static void put_ordinal(struct fsc_json *j, const char *key, int64_t v)
{
	fsc_json_key(j, key);
	if (v < 0)
		fsc_json_null(j);
	else
		fsc_json_int(j, v);
}

static void put_counts(struct fsc_json *j, const struct fsc_summary_trace *t)
{
	fsc_json_key(j, "launch");
	fsc_json_obj(j);
	fsc_json_kint(j, "pairs", t->t.launch_pairs);
	fsc_json_kint(j, "none", t->t.launch_none);
	fsc_json_kint(j, "ambiguous", t->t.launch_ambiguous);
	fsc_json_obj_end(j);
	fsc_json_key(j, "categories");
	fsc_json_arr(j);
	for (size_t i = 0; i < t->categories.n; i++) {
		fsc_json_obj(j);
		fsc_json_kstr(j, "name", t->categories.v[i].name);
		fsc_json_kint(j, "count", t->categories.v[i].count);
		fsc_json_kint(j, "sum_ns", t->categories.v[i].sum_ns);
		fsc_json_obj_end(j);
	}
	fsc_json_arr_end(j);
	fsc_json_key(j, "losses");
	fsc_json_arr(j);
	for (size_t i = 0; i < t->losses.n; i++) {
		fsc_json_obj(j);
		fsc_json_kstr(j, "code", t->losses.v[i].code);
		fsc_json_kint(j, "count", t->losses.v[i].count);
		if (t->losses.v[i].first_offset >= 0)
			fsc_json_kint(j, "first_offset", t->losses.v[i].first_offset);
		fsc_json_obj_end(j);
	}
	fsc_json_arr_end(j);
}

static void put_json(struct fsc_json *j, const char *key, const char *json)
{
	fsc_json_key(j, key);
	if (json[0])
		fsc_json_raw(j, json, strlen(json));
	else
		fsc_json_null(j);
}

static void put_trace(struct fsc_json *j, const struct fsc_summary_trace *t, size_t id)
{
	fsc_json_kid(j, "id", id);
	fsc_json_kstr(j, "state", "ready");
	fsc_json_kstr(j, "member", t->t.member);
	fsc_json_kint(j, "slot", t->t.slot);
	fsc_json_kstr(j, "name", t->t.name);
	fsc_json_kstr(j, "format", t->t.format);
	put_ordinal(j, "rank", t->t.rank);
	put_ordinal(j, "world_size", t->t.world_size);
	put_known(j, "job", t->t.job);
	put_known(j, "host", t->t.host);
	put_known(j, "capture", t->t.capture);
	fsc_json_key(j, "t_base_ns");
	char base[24];
	snprintf(base, sizeof(base), "%lld", (long long)t->t.t_base_ns);
	fsc_json_str(j, base);
	fsc_json_kbool(j, "has_epoch", t->t.has_epoch != 0);
	fsc_json_kint(j, "t_min_ns", t->t.t_min_ns);
	fsc_json_kint(j, "t_max_ns", t->t.t_max_ns);
	fsc_json_kint(j, "slices", t->t.slices);
	fsc_json_kint(j, "instants", t->t.instants);
	fsc_json_kint(j, "flows", t->t.flows);
	fsc_json_kint(j, "counters", t->t.counters);
	fsc_json_kint(j, "tracks", t->t.tracks);
	fsc_json_kint(j, "events", t->t.events);
	fsc_json_kstr(j, "segment", t->segment_path);
	fsc_json_kint(j, "segment_bytes", t->segment_bytes);
	put_counts(j, t);
	put_json(j, "source_disagreements", t->t.source_disagreements);
	put_json(j, "meta", t->t.meta_json);
}

static enum fsc_status put_analysis(struct fsc_json *j, const struct fsc_summary_trace *t,
				    const struct fsc_analysis_scope *scope, struct fsc_err *err)
{
	int fd = open(t->segment_path, O_RDONLY | O_CLOEXEC);
	struct fsc_seg *seg = NULL;
	struct fsc_analysis a;

	if (fd < 0)
		return fsc_err_sys(err, errno, "%s", t->segment_path);
	enum fsc_status st = fsc_seg_open(&seg, fd, err);
	close(fd);
	if (st != FSC_OK)
		return st;
	st = fsc_analyse(&a, seg, scope, err);
	if (st == FSC_OK) {
		fsc_json_key(j, "analysis");
		fsc_json_obj(j);
		fsc_analysis_json(j, &a, seg);
		fsc_json_obj_end(j);
		fsc_analysis_fini(&a);
	}
	fsc_seg_unref(seg);
	return st;
}

static void put_failures(struct fsc_json *j, const struct fsc_summary *s)
{
	fsc_json_key(j, "failures");
	fsc_json_arr(j);
	for (size_t i = 0; i < s->failures.n; i++) {
		const struct fsc_fact_member *m = &s->failures.v[i];

		fsc_json_obj(j);
		fsc_json_kstr(j, "file", m->member);
		fsc_json_kstr(j, "outcome", m->outcome);
		fsc_json_kstr(j, "code", m->code);
		fsc_json_kstr(j, "message", m->message);
		put_ordinal(j, "offset", m->offset);
		fsc_json_obj_end(j);
	}
	fsc_json_arr_end(j);
	if (s->end.status == FSC_OK)
		return;
	fsc_json_key(j, "error");
	fsc_json_obj(j);
	fsc_json_kstr(j, "code", s->end.code);
	fsc_json_kstr(j, "message", s->end.message);
	fsc_json_kstr(j, "file", s->end.file);
	put_ordinal(j, "offset", s->end.offset);
	fsc_json_obj_end(j);
}

enum fsc_status fsc_summary_json(struct fsc_buf *out, const struct fsc_summary *s,
				 const struct fsc_analysis_scope *scope, struct fsc_err *err)
{
	enum fsc_status st = FSC_OK;
	struct fsc_json j;

	fsc_json_init(&j, out);
	fsc_json_obj(&j);
	fsc_json_key(&j, "traces");
	fsc_json_arr(&j);
	for (size_t i = 0; st == FSC_OK && i < s->traces.n; i++) {
		fsc_json_obj(&j);
		put_trace(&j, &s->traces.v[i], i);
		st = put_analysis(&j, &s->traces.v[i], scope, err);
		fsc_json_obj_end(&j);
	}
	if (st != FSC_OK)
		return st;
	fsc_json_arr_end(&j);
	put_failures(&j, s);
	fsc_json_obj_end(&j);
	fsc_buf_addc(out, '\n');
	st = fsc_buf_status(out);
	return st == FSC_OK ? st : fsc_err_set(err, st, NULL, "summary: document is too long");
}
