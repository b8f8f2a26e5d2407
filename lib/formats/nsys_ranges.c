/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVTX start/end ranges: they may overlap without nesting and end on another thread. Those of a process and domain are
 * laid on as few lanes as keep them apart, each an asynchronous track.
 */
#include <stdlib.h>

#include "formats/nsys_int.h"

/* More at a time share the last lane, where they are kept as overlapping. */
#define LANES 256u

struct lanes {
	uint64_t vm_pid;
	int64_t domain;
	uint32_t n, process, name;
	int64_t end[LANES]; /* of the last range on it */
	bool begun;
};

static int by_start(const void *a, const void *b)
{
	const struct ns_range *x = a, *y = b;

	if (x->vm_pid != y->vm_pid)
		return x->vm_pid < y->vm_pid ? -1 : 1;
	if (x->domain != y->domain)
		return x->domain < y->domain ? -1 : 1;
	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* The first lane that is free again, else a new one. */
static uint32_t lane_of(struct lanes *l, const struct ns_range *r)
{
	uint32_t i = 0;

	while (i < l->n && l->end[i] > r->ts)
		i++;
	if (i == LANES)
		i = LANES - 1;
	else if (i == l->n)
		l->n++;
	l->end[i] = r->end;
	return i;
}

static enum fsc_status begin_group(struct nsys *x, struct lanes *l, const struct ns_range *r)
{
	*l = (struct lanes){ .vm_pid = r->vm_pid, .domain = r->domain, .begun = true };
	FSC_TRY(fsc_build_process(&l->process, x->b, fsc_ns_pid(x, (int64_t)(r->vm_pid << 24))));
	fsc_buf_clear(&x->text);
	fsc_buf_adds(&x->text, "NVTX ranges");
	for (size_t i = 0; r->domain && i < x->domains.n; i++) {
		const struct ns_domain *d = &x->domains.v[i];

		if (d->id != r->domain || (uint64_t)d->vm_pid != r->vm_pid)
			continue;
		fsc_buf_addf(&x->text, " of %s",
			     fsc_strtab_get(fsc_build_trace(x->b)->strings, d->name, NULL));
		break;
	}
	FSC_TRY(fsc_buf_status(&x->text));
	return fsc_build_str(&l->name, x->b, x->text.data, x->text.len);
}

static enum fsc_status put_range(struct nsys *x, struct lanes *l, const struct ns_range *r)
{
	struct fsc_build_slice s = { .ts = r->ts,
				     .correlation = FSC_NO_CORRELATION,
				     .name = r->name,
				     .args = r->args,
				     .kind = FSC_KIND_USER };
	uint64_t id = (uint64_t)r->domain * 0x9E3779B97F4A7C15ULL + lane_of(l, r);
	uint32_t slice;

	FSC_TRY(fsc_ns_cat(&s.cat, x, NS_CAT_RANGE));
	FSC_TRY(fsc_build_async(&s.track, x->b, l->process, true, s.cat, id, l->name));
	if (r->end == INT64_MAX)
		return fsc_build_begin(&slice, x->b, &s);
	s.dur = r->end - r->ts;
	return fsc_build_slice(&slice, x->b, &s);
}

enum fsc_status fsc_ns_put_ranges(struct nsys *x)
{
	struct lanes l = { .begun = false };

	if (x->ranges.n)
		qsort(x->ranges.v, x->ranges.n, sizeof(*x->ranges.v), by_start);
	for (size_t i = 0; i < x->ranges.n; i++) {
		const struct ns_range *r = &x->ranges.v[i];

		if (!l.begun || l.vm_pid != r->vm_pid || l.domain != r->domain)
			FSC_TRY(begin_group(x, &l, r));
		FSC_TRY(put_range(x, &l, r));
	}
	return FSC_OK;
}
