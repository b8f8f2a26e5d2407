/* SPDX-License-Identifier: Apache-2.0 */
/* The fixed analysis shape as JSON. Names of keys are interface: see the API's openapi.json. */
#include "analysis/analysis_json.h"

#include <inttypes.h>
#include <stdio.h>

const char *fsc_analysis_kind_name(uint8_t kind)
{
	return fsc_kind_name(kind);
}

/* Ordinals that are not known are null, never a number that looks like one. */
static void put_ordinal(struct fsc_json *j, const char *key, int32_t v)
{
	fsc_json_key(j, key);
	if (v < 0)
		fsc_json_null(j);
	else
		fsc_json_int(j, v);
}

void fsc_analysis_json_device(struct fsc_json *j, const struct fsc_device_row *d)
{
	fsc_json_obj(j);
	put_ordinal(j, "device", d->device);
	fsc_json_kint(j, "t0", d->t0_ns);
	fsc_json_kuint(j, "slices", d->slices);
	fsc_json_kint(j, "window_ns", d->window_ns);
	fsc_json_kint(j, "busy_ns", d->busy_ns);
	fsc_json_kint(j, "idle_ns", d->idle_ns);
	fsc_json_kint(j, "compute_ns", d->compute_ns);
	fsc_json_kint(j, "comm_ns", d->comm_ns);
	fsc_json_kint(j, "memcpy_ns", d->memcpy_ns);
	fsc_json_kint(j, "exposed_comm_ns", d->exposed_comm_ns);
	fsc_json_kint(j, "exposed_memcpy_ns", d->exposed_memcpy_ns);
	fsc_json_kint(j, "comm_overlap_ns", d->comm_overlap_ns);
	fsc_json_key(j, "comm_overlap_pct");
	if (d->comm_ns > 0)
		fsc_json_double(j, 100.0 * (double)d->comm_overlap_ns / (double)d->comm_ns);
	else
		fsc_json_null(j);
	fsc_json_kint(j, "unclassified_ns", d->unclassified_ns);
	fsc_json_kint(j, "unclassified_exposed_ns", d->unclassified_exposed_ns);
	fsc_json_obj_end(j);
}

static void put_idle(struct fsc_json *j, const struct fsc_idle_row *r)
{
	fsc_json_obj(j);
	put_ordinal(j, "device", r->device);
	put_ordinal(j, "stream", r->stream);
	fsc_json_kint(j, "host_wait_ns", r->host_wait_ns);
	fsc_json_kint(j, "kernel_wait_ns", r->kernel_wait_ns);
	fsc_json_kint(j, "other_ns", r->other_ns);
	fsc_json_obj_end(j);
}

void fsc_analysis_json_kernel(struct fsc_json *j, const struct fsc_kernel_row *k, const char *name)
{
	int64_t n = (int64_t)k->count;

	fsc_json_obj(j);
	fsc_json_kstr(j, "name", name);
	fsc_json_kstr(j, "kind", fsc_analysis_kind_name(k->kind));
	fsc_json_kint(j, "count", n);
	fsc_json_kint(j, "sum_ns", k->sum_ns);
	fsc_json_kint(j, "min_ns", k->min_ns);
	fsc_json_kint(j, "max_ns", k->max_ns);
	/* nearest ns: quotient and remainder, so that no sum can overflow */
	fsc_json_kint(j, "mean_ns", n ? k->sum_ns / n + (k->sum_ns % n >= n - n / 2) : 0);
	fsc_json_key(j, "first");
	fsc_json_obj(j);
	fsc_json_kuint(j, "track", k->first_track);
	fsc_json_kint(j, "ts", k->first_ts);
	fsc_json_kid(j, "slice", k->first_slice);
	fsc_json_obj_end(j);
	fsc_json_obj_end(j);
}

void fsc_analysis_json_step(struct fsc_json *j, const struct fsc_step_row *r, const char *name)
{
	fsc_json_obj(j);
	fsc_json_kstr(j, "name", name);
	fsc_json_kint(j, "number", r->number);
	fsc_json_kint(j, "t0", r->t0);
	fsc_json_kint(j, "dur_ns", r->dur_ns);
	fsc_json_kint(j, "busy_ns", r->busy_ns);
	fsc_json_kint(j, "idle_ns", r->idle_ns);
	fsc_json_obj_end(j);
}

static void put_scope(struct fsc_json *j, const struct fsc_analysis_scope *scope)
{
	char text[64];

	if (scope->steps == FSC_STEPS_RANGE)
		snprintf(text, sizeof(text), "%" PRId64 "-%" PRId64, scope->first, scope->last);
	fsc_json_kstr(j, "scope",
		      scope->steps == FSC_STEPS_RANGE ? text
		      : scope->steps == FSC_STEPS_ALL ? "all"
						      : "no_last");
}

static void put_losses(struct fsc_json *j, const struct fsc_losses *l)
{
	fsc_json_key(j, "losses");
	fsc_json_arr(j);
	for (uint32_t i = 0; i < l->n; i++) {
		fsc_json_obj(j);
		fsc_json_kstr(j, "code", l->v[i].code);
		fsc_json_kuint(j, "count", l->v[i].count);
		if (l->v[i].first)
			fsc_json_kint(j, "first_offset", fsc_loss_offset(&l->v[i]));
		fsc_json_obj_end(j);
	}
	fsc_json_arr_end(j);
}

void fsc_analysis_json(struct fsc_json *j, const struct fsc_analysis *a, const struct fsc_seg *s)
{
	fsc_json_kstr(j, "unit", "ns");
	put_scope(j, &a->scope);
	fsc_json_kuint(j, "steps_total", a->n_steps_total);
	fsc_json_key(j, "devices");
	fsc_json_arr(j);
	for (size_t i = 0; i < a->devices.n; i++)
		fsc_analysis_json_device(j, &a->devices.v[i]);
	fsc_json_arr_end(j);
	fsc_json_key(j, "idle");
	fsc_json_arr(j);
	for (size_t i = 0; i < a->idle.n; i++)
		put_idle(j, &a->idle.v[i]);
	fsc_json_arr_end(j);
	fsc_json_key(j, "kernels");
	fsc_json_arr(j);
	for (size_t i = 0; i < a->kernels.n; i++)
		fsc_analysis_json_kernel(j, &a->kernels.v[i],
					 fsc_seg_str(s, a->kernels.v[i].name, NULL));
	fsc_json_arr_end(j);
	fsc_json_key(j, "steps");
	fsc_json_arr(j);
	for (size_t i = 0; i < a->steps.n; i++)
		fsc_analysis_json_step(j, &a->steps.v[i], fsc_seg_str(s, a->steps.v[i].name, NULL));
	fsc_json_arr_end(j);
	put_losses(j, fsc_seg_losses(s));
}
