/* SPDX-License-Identifier: Apache-2.0 */
/* Unions of GPU work per device and kind, and what each kind leaves uncovered by the ones before it. */
#include "analysis/breakdown.h"

#include "base/num.h"

enum part { PART_COMPUTE, PART_COMM, PART_COPY, PART_OTHER, N_PARTS };

struct device_sets {
	struct fsc_spans busy, part[N_PARTS];
	struct fsc_device_row row;
	int64_t first, last; /* of all rows, zero-length ones too */
};

static enum part part_of(uint8_t kind)
{
	switch (kind) {
	case FSC_KIND_COMPUTE:
		return PART_COMPUTE;
	case FSC_KIND_COMM:
		return PART_COMM;
	case FSC_KIND_MEMCPY:
	case FSC_KIND_MEMSET:
		return PART_COPY;
	default:
		return PART_OTHER;
	}
}

static bool take_stream(struct device_sets *d, const struct fsc_rows *rows,
			const struct fsc_stream_rows *stream)
{
	for (size_t i = stream->first; i < stream->first + stream->n; i++) {
		const struct fsc_gpu_row *g = &rows->gpu.v[i];

		if (!g->in_scope)
			continue;
		if (!fsc_spans_add(&d->busy, g->ts, g->end) ||
		    !fsc_spans_add(&d->part[part_of(g->kind)], g->ts, g->end))
			return false;
		if (!d->row.slices || g->ts < d->first)
			d->first = g->ts;
		if (!d->row.slices || g->end > d->last)
			d->last = g->end;
		d->row.slices++;
	}
	return true;
}

/* Length of x outside cover; cover then becomes cover + x. */
static bool exposed(int64_t *out, const struct fsc_spans *x, struct fsc_spans *cover)
{
	struct fsc_spans both = { .v = { 0 } };

	*out = fsc_spans_total(x) - fsc_spans_common(x, cover);
	if (!fsc_spans_union(&both, cover, x)) {
		fsc_spans_fini(&both);
		return false;
	}
	fsc_spans_fini(cover);
	*cover = both;
	return true;
}

static bool settle(struct device_sets *d)
{
	struct fsc_device_row *r = &d->row;
	struct fsc_spans cover = { .v = { 0 } };
	int64_t compute_alone = 0;
	bool ok = fsc_spans_normalise(&d->busy);

	for (int i = 0; ok && i < N_PARTS; i++)
		ok = fsc_spans_normalise(&d->part[i]);
	if (!ok)
		return false;
	r->t0_ns = d->first;
	r->window_ns = fsc_sub_i64_sat(d->last, d->first);
	r->busy_ns = fsc_spans_total(&d->busy);
	r->idle_ns = r->window_ns - r->busy_ns;
	r->compute_ns = fsc_spans_total(&d->part[PART_COMPUTE]);
	r->comm_ns = fsc_spans_total(&d->part[PART_COMM]);
	r->memcpy_ns = fsc_spans_total(&d->part[PART_COPY]);
	r->unclassified_ns = fsc_spans_total(&d->part[PART_OTHER]);
	ok = exposed(&compute_alone, &d->part[PART_COMPUTE], &cover) &&
	     exposed(&r->exposed_comm_ns, &d->part[PART_COMM], &cover) &&
	     exposed(&r->exposed_memcpy_ns, &d->part[PART_COPY], &cover) &&
	     exposed(&r->unclassified_exposed_ns, &d->part[PART_OTHER], &cover);
	r->comm_overlap_ns = r->comm_ns - r->exposed_comm_ns;
	fsc_spans_fini(&cover);
	return ok;
}

static void sets_fini(struct device_sets *d)
{
	fsc_spans_fini(&d->busy);
	for (int i = 0; i < N_PARTS; i++)
		fsc_spans_fini(&d->part[i]);
}

bool fsc_breakdown(struct fsc_analysis *out, const struct fsc_rows *rows)
{
	bool ok = true;

	for (size_t i = 0; ok && i < rows->streams.n;) {
		struct device_sets d = { .row = { .device = rows->streams.v[i].device } };

		for (; ok && i < rows->streams.n && rows->streams.v[i].device == d.row.device; i++)
			ok = take_stream(&d, rows, &rows->streams.v[i]);
		if (ok && d.row.slices)
			ok = settle(&d) && fsc_vec_push(&out->devices, d.row);
		sets_fini(&d);
	}
	return ok;
}
