/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the segment of a trace through the parent's descriptor, analyses it, and puts what came of it. */
#include "indexer/trace_facts.h"

#include <string.h>
#include <unistd.h>

#include "analysis/analysis.h"
#include "analysis/analysis_json.h"
#include "base/num.h"
#include "indexer/census.h"
#include "segment/seg_read.h"
#include "segment/seg_write.h"

struct put {
	struct fsc_fact_stream *out;
	const struct fsc_seg *seg;
	struct fsc_err *err;
};

static const char *seg_text(struct put *p, uint32_t id)
{
	size_t n = 0;
	const char *s = fsc_seg_str(p->seg, id, &n);

	return fsc_fact_stream_text(p->out, s, n);
}

/* ---- before the segment: what the trace in memory says ---- */

static const char *trace_text(struct fsc_fact_stream *out, const struct fsc_trace *t, uint32_t id)
{
	size_t n = 0;
	const char *s = fsc_strtab_get(t->strings, id, &n);

	return fsc_fact_stream_text(out, s, n);
}

/* Metadata that passes the limit of a frame is left out as a whole: cut JSON is no JSON. */
static const char *trace_meta(struct fsc_trace *t)
{
	size_t n = 0;
	const char *s = fsc_strtab_get(t->strings, t->meta.json, &n);

	if (n <= FSC_FACT_JSON_MAX)
		return s;
	fsc_losses_add(&t->losses, "meta_left_out", 1);
	return "";
}

/* First start and last end of the slices that have a duration: an instant, such as the mark of the recording's
 * end, says nothing about when work was done. Only instants: theirs. */
static void span_of(int64_t *t0, int64_t *t1, const struct fsc_trace *t)
{
	const struct fsc_slices *s = &t->slices;
	bool any = false;

	*t0 = t->meta.t_min_ns;
	*t1 = t->meta.t_max_ns;
	for (uint32_t i = 0; i < s->n; i++) {
		if (s->flags[i] & FSC_SLICE_INSTANT)
			continue;
		int64_t end = fsc_add_i64_sat(s->ts[i], s->dur[i]);

		*t0 = !any || s->ts[i] < *t0 ? s->ts[i] : *t0;
		*t1 = !any || end > *t1 ? end : *t1;
		any = true;
	}
}

static enum fsc_status put_trace(struct fsc_fact_stream *out, struct fsc_trace *t,
				 const struct fsc_trace_facts *about, struct fsc_err *err)
{
	struct fsc_fact f = { .type = FSC_FACT_TRACE };
	struct fsc_launch_census launch;
	int64_t t0 = 0, t1 = 0;
	enum fsc_status st = fsc_census_launches(&launch, t, err);

	if (st != FSC_OK)
		return st;
	span_of(&t0, &t1, t);
	f.u.trace = (struct fsc_fact_trace){
		.member = fsc_fact_stream_text(out, about->member, strlen(about->member)),
		.slot = about->slot,
		.format = trace_text(out, t, t->meta.format),
		.rank = t->meta.rank,
		.world_size = t->meta.world_size,
		.job = trace_text(out, t, t->meta.job),
		.host = trace_text(out, t, t->meta.host),
		.capture = trace_text(out, t, t->meta.capture),
		.name = fsc_fact_stream_text(out, about->name, strlen(about->name)),
		.t_base_ns = t->meta.t_base_ns,
		.has_epoch = t->meta.has_epoch,
		.t_min_ns = t0,
		.t_max_ns = t1,
		.slices = (int64_t)t->slices.n - (int64_t)t->n_instants,
		.instants = (int64_t)t->n_instants,
		.flows = (int64_t)t->flows.n,
		.counters = (int64_t)t->counters.n,
		.tracks = (int64_t)t->tracks.n,
		.events = (int64_t)t->n_events,
		.launch_pairs = (int64_t)launch.pairs,
		.launch_none = (int64_t)launch.none,
		.launch_ambiguous = (int64_t)launch.ambiguous,
		.meta_json = trace_meta(t),
		.source_disagreements = about->disagreements,
	};
	return fsc_fact_stream_put(out, &f, err);
}

/* ---- after it: what the analyses say ---- */

static enum fsc_status put_loss_at(struct put *p, const char *code, uint64_t count, int64_t offset)
{
	struct fsc_fact f = {
		.type = FSC_FACT_LOSS,
		.u.loss = { .code = code, .count = (int64_t)count, .first_offset = offset }
	};

	return count ? fsc_fact_stream_put(p->out, &f, p->err) : FSC_OK;
}

static enum fsc_status put_loss(struct put *p, const char *code, uint64_t count)
{
	return put_loss_at(p, code, count, -1);
}

/* Room for row i of its kind, with a name? */
static bool has_room(struct put *p, size_t i, const char *name)
{
	struct fsc_fact_stream *s = p->out;
	size_t n = name ? strlen(name) : 0;

	if (i >= FSC_FACT_ROWS_KIND || s->n_rows >= FSC_FACT_ROWS_STREAM ||
	    n > FSC_FACT_NAMES_STREAM - s->row_text)
		return false;
	s->n_rows++;
	s->row_text += n;
	return true;
}

static enum fsc_status put_categories(struct put *p, const struct fsc_analysis *a)
{
	enum fsc_status st = FSC_OK;
	size_t i = 0;

	for (; st == FSC_OK && i < a->categories.n; i++) {
		const struct fsc_category_row *c = &a->categories.v[i];
		struct fsc_fact f = { .type = FSC_FACT_CATEGORY };
		const char *name = seg_text(p, c->name);

		if (!has_room(p, i, name))
			break;
		f.u.category = (struct fsc_fact_category){ .name = name,
							   .count = (int64_t)c->count,
							   .sum_ns = c->sum_ns };
		st = fsc_fact_stream_put(p->out, &f, p->err);
	}
	return st == FSC_OK ? put_loss(p, "categories_not_stored", a->categories.n - i) : st;
}

static enum fsc_status put_devices(struct put *p, const struct fsc_analysis *a,
				   enum fsc_scope scope)
{
	enum fsc_status st = FSC_OK;
	size_t i = 0;

	for (; st == FSC_OK && i < a->devices.n && has_room(p, i, NULL); i++) {
		const struct fsc_device_row *d = &a->devices.v[i];
		struct fsc_fact f = { .type = FSC_FACT_DEVICE };

		f.u.device = (struct fsc_fact_device){
			.scope = scope,
			.device = d->device,
			.window_ns = d->window_ns,
			.busy_ns = d->busy_ns,
			.idle_ns = d->idle_ns,
			.compute_ns = d->compute_ns,
			.comm_ns = d->comm_ns,
			.memcpy_ns = d->memcpy_ns,
			.exposed_comm_ns = d->exposed_comm_ns,
			.exposed_memcpy_ns = d->exposed_memcpy_ns,
			.comm_overlap_ns = d->comm_overlap_ns,
			.unclassified_ns = d->unclassified_ns,
		};
		st = fsc_fact_stream_put(p->out, &f, p->err);
	}
	return st == FSC_OK ? put_loss(p, "devices_not_stored", a->devices.n - i) : st;
}

static enum fsc_status put_idle(struct put *p, const struct fsc_analysis *a, enum fsc_scope scope)
{
	enum fsc_status st = FSC_OK;
	size_t i = 0;

	for (; st == FSC_OK && i < a->idle.n && has_room(p, i, NULL); i++) {
		const struct fsc_idle_row *r = &a->idle.v[i];
		struct fsc_fact f = { .type = FSC_FACT_IDLE };

		f.u.idle = (struct fsc_fact_idle){ .scope = scope,
						   .device = r->device,
						   .stream = r->stream,
						   .host_wait_ns = r->host_wait_ns,
						   .kernel_wait_ns = r->kernel_wait_ns,
						   .other_ns = r->other_ns };
		st = fsc_fact_stream_put(p->out, &f, p->err);
	}
	return st == FSC_OK ? put_loss(p, "idle_not_stored", a->idle.n - i) : st;
}

static enum fsc_status put_kernels(struct put *p, const struct fsc_analysis *a)
{
	enum fsc_status st = FSC_OK;
	size_t i = 0;

	for (; st == FSC_OK && i < a->kernels.n; i++) {
		const struct fsc_kernel_row *k = &a->kernels.v[i];
		struct fsc_fact f = { .type = FSC_FACT_KERNEL };
		const char *name = seg_text(p, k->name);

		if (!has_room(p, i, name))
			break;
		f.u.kernel = (struct fsc_fact_kernel){ .scope = FSC_SCOPE_ALL,
						       .name = name,
						       .kind = fsc_analysis_kind_name(k->kind),
						       .count = (int64_t)k->count,
						       .sum_ns = k->sum_ns,
						       .min_ns = k->min_ns,
						       .max_ns = k->max_ns,
						       .first_track = k->first_track,
						       .first_ts_ns = k->first_ts,
						       .first_slice = k->first_slice };
		st = fsc_fact_stream_put(p->out, &f, p->err);
	}
	return st == FSC_OK ? put_loss(p, "kernels_not_stored", a->kernels.n - i) : st;
}

static enum fsc_status put_steps(struct put *p, const struct fsc_analysis *a)
{
	enum fsc_status st = FSC_OK;
	size_t i = 0;

	for (; st == FSC_OK && i < a->steps.n; i++) {
		const struct fsc_step_row *r = &a->steps.v[i];
		struct fsc_fact f = { .type = FSC_FACT_STEP };
		const char *name = seg_text(p, r->name);

		if (!has_room(p, i, name))
			break;
		f.u.step = (struct fsc_fact_step){ .idx = (int64_t)i,
						   .name = name,
						   .t0_ns = r->t0,
						   .dur_ns = r->dur_ns,
						   .busy_ns = r->busy_ns,
						   .idle_ns = r->idle_ns };
		st = fsc_fact_stream_put(p->out, &f, p->err);
	}
	return st == FSC_OK ? put_loss(p, "steps_not_stored", a->steps.n - i) : st;
}

/* a: all steps; no_last: without the last one, told when that is something else */
static enum fsc_status put_rows(struct put *p, const struct fsc_analysis *a,
				const struct fsc_analysis *no_last)
{
	const struct fsc_losses *l = fsc_seg_losses(p->seg);
	enum fsc_status st = FSC_OK;

	for (uint32_t i = 0; st == FSC_OK && i < l->n; i++)
		st = put_loss_at(p, l->v[i].code, l->v[i].count, fsc_loss_offset(&l->v[i]));
	if (st == FSC_OK)
		st = put_categories(p, a);
	if (st == FSC_OK)
		st = put_devices(p, a, FSC_SCOPE_ALL);
	if (st == FSC_OK)
		st = put_idle(p, a, FSC_SCOPE_ALL);
	if (st == FSC_OK && a->n_steps_total >= 2)
		st = put_devices(p, no_last, FSC_SCOPE_NO_LAST);
	if (st == FSC_OK && a->n_steps_total >= 2)
		st = put_idle(p, no_last, FSC_SCOPE_NO_LAST);
	if (st == FSC_OK)
		st = put_kernels(p, a);
	if (st == FSC_OK)
		st = put_steps(p, a);
	if (st == FSC_OK)
		st = put_loss(p, "fact_text_cut", p->out->n_cut);
	p->out->n_cut = 0;
	return st;
}

static enum fsc_status analyse_and_put(struct put *p)
{
	static const struct fsc_analysis_scope scopes[2] = { { .steps = FSC_STEPS_ALL },
							     { .steps = FSC_STEPS_NO_LAST } };
	struct fsc_analysis a[2];
	enum fsc_status st = fsc_analyse_scopes(a, p->seg, scopes, 2, p->err);

	if (st != FSC_OK)
		return st;
	st = put_rows(p, &a[0], &a[1]);
	fsc_analysis_fini(&a[0]);
	fsc_analysis_fini(&a[1]);
	return st;
}

static enum fsc_status put_end(struct fsc_fact_stream *out, uint64_t segment_bytes,
			       struct fsc_err *err)
{
	struct fsc_fact f = { .type = FSC_FACT_TRACE_END };

	f.u.trace_end = (struct fsc_fact_trace_end){ .segment_bytes = (int64_t)segment_bytes,
						     .segment_version = FSC_SEGMENT_VERSION,
						     .analysis_version = FSC_ANALYSIS_VERSION };
	return fsc_fact_stream_put(out, &f, err);
}

enum fsc_status fsc_trace_facts_put(struct fsc_fact_stream *out, bool *open, struct fsc_trace *t,
				    const struct fsc_trace_facts *about, struct fsc_err *err)
{
	struct fsc_seg_write_stats stats = { 0 };
	struct fsc_seg *seg = NULL;
	int fd = -1;
	enum fsc_status st = put_trace(out, t, about, err);

	*open = st == FSC_OK;
	if (st == FSC_OK)
		st = fsc_fact_stream_segment(&fd, out, (int64_t)t->slices.n * 32, err);
	if (st == FSC_OK)
		st = fsc_seg_write(fd, t, about->blob_sha256, &stats, err);
	/* the trace and its analysis are never in memory together */
	fsc_trace_free(t);
	if (st == FSC_OK)
		st = fsc_seg_open(&seg, fd, err);
	if (st == FSC_OK) {
		struct put p = { .out = out, .seg = seg, .err = err };

		st = analyse_and_put(&p);
	}
	if (st == FSC_OK)
		st = put_end(out, stats.file_bytes, err);
	*open = *open && st != FSC_OK;
	fsc_seg_unref(seg);
	if (fd >= 0)
		close(fd);
	return st;
}
