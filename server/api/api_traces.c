/* SPDX-License-Identifier: Apache-2.0 */
/* The list of traces, and what is known of one without looking into its slices. */
#include <string.h>

#include "api/deps.h"
#include "api/handlers.h"
#include "base/clock.h"
#include "store/notes.h"

/* Comma-separated values of a filter; more than the store takes is an error. */
static enum fsc_status parse_filter(struct fsc_req *req, const char *name, const char *value,
				    struct fsc_filter *f, struct fsc_err *err)
{
	while (value && *value) {
		size_t n = strcspn(value, ",");

		if (f->n == FSC_STORE_FILTER_MAX)
			return fsc_err_set(err, FSC_EINVAL, "bad_parameter",
					   "parameter %s takes at most %d values", name,
					   FSC_STORE_FILTER_MAX);
		f->v[f->n] = fsc_arena_dup(&req->arena, value, n);
		if (!f->v[f->n])
			return fsc_err_set(err, FSC_ENOMEM, NULL, "filter");
		f->n++;
		value += n + (value[n] == ',');
	}
	return FSC_OK;
}

static enum fsc_status parse_sort(struct fsc_trace_query *q, const char *sort, const char *order,
				  struct fsc_err *err)
{
	/* Short names that the page uses. */
	if (sort && !strcmp(sort, "busy"))
		sort = "gpu_busy";
	if (sort && !strcmp(sort, "exposed"))
		sort = "exposed_comm";
	if (sort && *sort && !fsc_trace_sort_parse(&q->sort, sort))
		return fsc_err_set(err, FSC_EINVAL, "bad_parameter",
				   "parameter sort: there is no such column");
	if (order && *order && strcmp(order, "asc") != 0 && strcmp(order, "desc") != 0)
		return fsc_err_set(err, FSC_EINVAL, "bad_parameter",
				   "parameter order is asc or desc");
	q->ascending = order && !strcmp(order, "asc");
	return FSC_OK;
}

static enum fsc_status parse_keep(struct fsc_trace_query *q, const char *keep, struct fsc_err *err)
{
	if (keep && *keep && strcmp(keep, "1") != 0)
		return fsc_err_set(err, FSC_EINVAL, "bad_parameter",
				   "parameter keep is 1 or left out");
	q->only_kept = keep && *keep;
	return FSC_OK;
}

static enum fsc_status parse_query(struct fsc_req *req, struct fsc_trace_query *q,
				   struct fsc_err *err)
{
	int64_t limit;
	enum fsc_status st = fsc_req_i64(&limit, req, "limit", 50, 1, FSC_STORE_PAGE_MAX, err);

	q->project = fsc_auth_project(req);
	q->q = fsc_req_param(req, "q");
	q->cursor = fsc_req_param(req, "cursor");
	if (q->cursor && !*q->cursor)
		q->cursor = NULL;
	q->limit = (uint32_t)limit;
	if (!st)
		st = parse_sort(q, fsc_req_param(req, "sort"), fsc_req_param(req, "order"), err);
	if (!st)
		st = parse_filter(req, "state", fsc_req_param(req, "state"), &q->state, err);
	if (!st)
		st = parse_filter(req, "job", fsc_req_param(req, "job"), &q->job, err);
	if (!st)
		st = parse_filter(req, "host", fsc_req_param(req, "host"), &q->host, err);
	if (!st)
		st = parse_filter(req, "capture", fsc_req_param(req, "capture"), &q->capture, err);
	if (!st)
		st = parse_keep(q, fsc_req_param(req, "keep"), err);
	return st;
}

static void opt_pct(struct fsc_json *j, const char *key, int64_t ppm)
{
	if (ppm >= 0)
		fsc_json_kdouble(j, key, (double)ppm / 10000.0);
}

static void emit_row_trace(struct fsc_json *j, const struct fsc_trace_row *t)
{
	fsc_json_kstr(j, "format", t->format);
	fsc_api_null_int(j, "world_size", t->world_size);
	if (t->has_epoch)
		fsc_api_time(j, "started", t->t_base_ns + t->t_min_ns);
	fsc_json_kint(j, "dur_ns", t->t_max_ns - t->t_min_ns);
	fsc_json_kint(j, "slices", t->slices);
	opt_pct(j, "gpu_busy_pct", t->gpu_busy_ppm);
	opt_pct(j, "exposed_comm_pct", t->exposed_comm_ppm);
	fsc_json_kbool(j, "synthetic", t->synthetic);
	fsc_json_kbool(j, "keep", t->keep);
	fsc_json_kbool(j, "rebuildable", !t->blob_deleted_at_ns);
	fsc_json_kint(j, "losses_kinds", t->losses_kinds);
	fsc_json_kint(j, "losses_count", t->losses_count);
}

static void emit_row_bundle(struct fsc_json *j, const struct fsc_trace_item *it)
{
	const struct fsc_api_error_fields e = { it->err_code, it->err_message, it->err_file,
						it->err_offset };
	const struct fsc_api_progress p = {
		.started_at_ns = it->started_at_ns,
		.until_ns = it->finished_at_ns ? it->finished_at_ns : fsc_clock_real_ns(),
		.done = it->done,
		.total = it->total,
		.events = it->events,
		.member = it->member,
	};

	fsc_api_opt_str(j, "stage", it->stage);
	fsc_api_progress(j, &p);
	fsc_api_error_obj(j, &e);
}

static void emit_row(struct fsc_json *j, const struct fsc_trace_item *it)
{
	const struct fsc_trace_row *t = &it->t;

	fsc_json_obj(j);
	if (it->has_trace) {
		fsc_json_kid(j, "id", (uint64_t)t->id);
	} else {
		fsc_json_key(j, "id");
		fsc_json_null(j);
	}
	fsc_json_kid(j, "bundle", (uint64_t)t->bundle);
	fsc_json_kstr(j, "name", t->name ? t->name : "");
	fsc_json_kstr(j, "state", fsc_bundle_state_name(it->state));
	fsc_api_null_str(j, "job", t->job);
	fsc_api_null_str(j, "host", t->host);
	fsc_api_null_str(j, "capture", t->capture);
	fsc_api_null_int(j, "rank", t->rank);
	fsc_json_kint(j, "bytes", t->blob_bytes);
	fsc_api_time(j, "received_at", t->received_at_ns);
	if (it->has_trace)
		emit_row_trace(j, t);
	else
		emit_row_bundle(j, it);
	fsc_json_obj_end(j);
}

static void emit_facet(struct fsc_json *j, const char *key, const struct fsc_facet *f)
{
	fsc_json_key(j, key);
	fsc_json_arr(j);
	for (size_t i = 0; i < f->n_items; i++) {
		fsc_json_obj(j);
		fsc_json_kstr(j, "value", f->items[i].value);
		fsc_json_kint(j, "count", f->items[i].count);
		fsc_json_obj_end(j);
	}
	fsc_json_arr_end(j);
}

void fsc_api_trace_list(struct fsc_req *req, struct fsc_resp *resp)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_trace_query q = { .sort = FSC_SORT_RECEIVED };
	struct fsc_trace_page page;
	struct fsc_arena arena;
	struct fsc_json j;

	fsc_arena_init(&arena, FSC_API_ARENA_MAX);
	if (parse_query(req, &q, &err) ||
	    fsc_store_trace_list(fsc_api_app(req)->store, &arena, &q, &page, &err)) {
		fsc_api_fail(req, resp, &err);
		goto out;
	}
	j = fsc_resp_json(resp, 200);
	fsc_json_obj(&j);
	fsc_json_key(&j, "items");
	fsc_json_arr(&j);
	for (size_t i = 0; i < page.n_items; i++)
		emit_row(&j, &page.items[i]);
	fsc_json_arr_end(&j);
	fsc_json_kstr(&j, "next", page.next);
	fsc_json_kint(&j, "total", page.total);
	fsc_json_key(&j, "facets");
	fsc_json_obj(&j);
	emit_facet(&j, "state", &page.state);
	emit_facet(&j, "job", &page.job);
	emit_facet(&j, "host", &page.host);
	fsc_json_obj_end(&j);
	fsc_json_obj_end(&j);
out:
	fsc_arena_fini(&arena);
}

static void emit_abs(struct fsc_json *j, const char *key, int64_t ns)
{
	if (ns < 0) {
		fsc_json_kint(j, key,
			      ns); /* before 1970: never written by a profiler, but no lie either */
		return;
	}
	fsc_json_kid(j, key, (uint64_t)ns);
}

static void emit_identity(struct fsc_json *j, const struct fsc_trace_row *t)
{
	fsc_json_kid(j, "id", (uint64_t)t->id);
	fsc_json_kstr(j, "state", "ready");
	fsc_json_kid(j, "bundle", (uint64_t)t->bundle);
	fsc_json_kstr(j, "bundle_name", t->bundle_name ? t->bundle_name : "");
	fsc_json_kstr(j, "name", t->name);
	fsc_json_kstr(j, "member", t->member);
	fsc_json_kstr(j, "format", t->format);
	fsc_api_null_int(j, "rank", t->rank);
	fsc_api_null_int(j, "world_size", t->world_size);
	fsc_api_null_str(j, "job", t->job);
	fsc_api_null_str(j, "host", t->host);
	fsc_api_null_str(j, "capture", t->capture);
	fsc_api_opt_str(j, "source_disagreements", t->source_disagreements);
	fsc_json_kbool(j, "synthetic", t->synthetic);
	fsc_api_time(j, "received_at", t->received_at_ns);
	fsc_api_time(j, "indexed_at", t->indexed_at_ns);
}

static void emit_numbers(struct fsc_json *j, const struct fsc_trace_row *t)
{
	if (t->has_epoch)
		fsc_api_time(j, "started", t->t_base_ns + t->t_min_ns);
	emit_abs(j, "t_base_ns", t->t_base_ns);
	fsc_json_kbool(j, "has_epoch", t->has_epoch);
	fsc_json_kint(j, "t_min_ns", t->t_min_ns);
	fsc_json_kint(j, "t_max_ns", t->t_max_ns);
	fsc_json_kint(j, "slices", t->slices);
	fsc_json_kint(j, "instants", t->instants);
	fsc_json_kint(j, "flows", t->flows);
	fsc_json_kint(j, "counters", t->counters);
	fsc_json_kint(j, "tracks", t->tracks);
	fsc_json_kint(j, "events", t->events);
	fsc_json_kint(j, "bytes", t->blob_bytes);
	fsc_json_kint(j, "segment_bytes", t->segment_bytes);
	fsc_json_key(j, "launch");
	fsc_json_obj(j);
	fsc_json_kint(j, "pairs", t->launch_pairs);
	fsc_json_kint(j, "none", t->launch_none);
	fsc_json_kint(j, "ambiguous", t->launch_ambiguous);
	fsc_json_obj_end(j);
}

static void emit_categories(struct fsc_json *j, const struct fsc_category_rows *c)
{
	fsc_json_key(j, "categories");
	fsc_json_arr(j);
	for (size_t i = 0; i < c->n_items; i++) {
		fsc_json_obj(j);
		fsc_json_kstr(j, "name", c->items[i].name);
		fsc_json_kint(j, "count", c->items[i].count);
		fsc_json_kint(j, "sum_ns", c->items[i].sum_ns);
		fsc_json_obj_end(j);
	}
	fsc_json_arr_end(j);
}

static void emit_notes(struct fsc_json *j, const struct fsc_notes *notes)
{
	fsc_json_key(j, "notes");
	fsc_json_arr(j);
	for (size_t i = 0; i < notes->n_items; i++) {
		const struct fsc_note *n = &notes->items[i];

		fsc_json_obj(j);
		fsc_json_kid(j, "id", (uint64_t)n->id);
		fsc_json_kint(j, "t0", n->t0_ns);
		fsc_json_kint(j, "t1", n->t1_ns);
		fsc_json_kstr(j, "text", n->text);
		fsc_json_kstr(j, "author", n->author);
		fsc_api_time(j, "created_at", n->created_at_ns);
		fsc_api_time(j, "updated_at", n->updated_at_ns);
		fsc_json_obj_end(j);
	}
	fsc_json_arr_end(j);
}

/* Everything that changes the answer: indexing, keep, the blob, each note. */
static bool unchanged(struct fsc_api_trace *t, const struct fsc_notes *notes)
{
	size_t n = 5;
	int64_t *key = fsc_arena_alloc(&t->arena, 5 + 2 * notes->n_items, sizeof(*key));

	if (!key)
		return false; /* no ETag then */
	key[0] = t->row.id;
	key[1] = t->row.indexed_at_ns;
	key[2] = t->row.keep;
	key[3] = t->row.blob_deleted_at_ns;
	key[4] = fsc_reindex_outdated(fsc_api_app(t->req)->reindex, &t->row);
	for (size_t i = 0; i < notes->n_items; i++) {
		key[n++] = notes->items[i].id;
		key[n++] = notes->items[i].updated_at_ns;
	}
	return fsc_resp_not_modified(t->resp, key, n * sizeof(*key));
}

/* Closes t. `fresh`: the answer to a change, without ETag. */
static void answer_trace(struct fsc_api_trace *t, bool fresh)
{
	struct fsc_store *store = fsc_api_app(t->req)->store;
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_category_rows categories;
	struct fsc_loss_rows losses;
	struct fsc_notes notes;
	struct fsc_json j;

	if (fsc_store_trace_notes(store, &t->arena, t->row.id, &notes, &err) ||
	    fsc_store_trace_categories(store, &t->arena, t->row.id, &categories, &err) ||
	    fsc_store_trace_losses(store, &t->arena, t->row.id, &losses, &err)) {
		fsc_api_fail(t->req, t->resp, &err);
		goto out;
	}
	if (!fresh && unchanged(t, &notes))
		goto out;
	j = fsc_resp_json(t->resp, 200);
	fsc_json_obj(&j);
	emit_identity(&j, &t->row);
	fsc_json_kbool(&j, "outdated", fsc_reindex_outdated(fsc_api_app(t->req)->reindex, &t->row));
	emit_numbers(&j, &t->row);
	fsc_json_kbool(&j, "keep", t->row.keep);
	fsc_json_kbool(&j, "rebuildable", !t->row.blob_deleted_at_ns);
	emit_notes(&j, &notes);
	emit_categories(&j, &categories);
	fsc_api_losses(&j, &losses);
	fsc_json_key(&j, "meta");
	if (t->row.meta_json && t->row.meta_json[0] == '{')
		fsc_json_raw(&j, t->row.meta_json, strlen(t->row.meta_json));
	else
		fsc_json_raw(&j, "{}", 2);
	fsc_json_obj_end(&j);
out:
	fsc_api_trace_close(t);
}

void fsc_api_trace_get(struct fsc_req *req, struct fsc_resp *resp)
{
	struct fsc_api_trace t;

	if (fsc_api_trace_find(&t, req, resp))
		answer_trace(&t, false);
}

void fsc_api_trace_patch(struct fsc_req *req, struct fsc_resp *resp)
{
	struct fsc_api_trace t;

	/* Found before, so that one that was deleted says so; and after, for the answer. */
	if (!fsc_api_trace_find(&t, req, resp))
		return;
	if (!fsc_api_trace_apply(&t)) {
		fsc_api_trace_close(&t);
		return;
	}
	fsc_api_trace_close(&t);
	if (fsc_api_trace_find(&t, req, resp))
		answer_trace(&t, true);
}
