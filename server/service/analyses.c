/* SPDX-License-Identifier: Apache-2.0 */
/* Analyses and the cache of the last ones. */
#include "service/analyses.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "analysis/analysis_json.h"
#include "base/alloc.h"

#define KEEP 8
#define STEPS_MAX 64

/* One result; shared by the cache and the requests that read it. */
struct result {
	unsigned refs; /* guarded by fsc_analyses.mu */
	int64_t trace, version;
	char steps[STEPS_MAX];
	struct fsc_seg *seg; /* ref */
	struct fsc_analysis a;
};

struct fsc_analyses {
	pthread_mutex_t mu;	/* guards everything below */
	struct result *v[KEEP]; /* refs; most recent first */
};

struct fsc_analyses *fsc_analyses_new(void)
{
	struct fsc_analyses *a = fsc_xalloc(1, sizeof(*a));

	pthread_mutex_init(&a->mu, NULL);
	return a;
}

static void drop(struct fsc_analyses *a, struct result *r)
{
	bool last;

	if (!r)
		return;
	pthread_mutex_lock(&a->mu);
	last = --r->refs == 0;
	pthread_mutex_unlock(&a->mu);
	if (!last)
		return;
	fsc_analysis_fini(&r->a);
	fsc_seg_unref(r->seg);
	fsc_free(r);
}

void fsc_analyses_free(struct fsc_analyses *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < KEEP; i++)
		drop(a, a->v[i]);
	pthread_mutex_destroy(&a->mu);
	fsc_free(a);
}

static struct result *find(struct fsc_analyses *a, const struct fsc_analysis_key *key)
{
	struct result *r = NULL;

	pthread_mutex_lock(&a->mu);
	for (size_t i = 0; i < KEEP && !r; i++)
		if (a->v[i] && a->v[i]->trace == key->trace && a->v[i]->version == key->version &&
		    !strcmp(a->v[i]->steps, key->steps ? key->steps : ""))
			r = a->v[i];
	if (r)
		r->refs++;
	pthread_mutex_unlock(&a->mu);
	return r;
}

static void keep(struct fsc_analyses *a, struct result *r)
{
	struct result *old;

	pthread_mutex_lock(&a->mu);
	old = a->v[KEEP - 1];
	memmove(&a->v[1], &a->v[0], (KEEP - 1) * sizeof(a->v[0]));
	a->v[0] = r;
	r->refs++;
	pthread_mutex_unlock(&a->mu);
	drop(a, old);
}

/* A reference for the caller, computed or found. */
static enum fsc_status get(struct fsc_analyses *a, const struct fsc_analysis_key *key,
			   struct result **out, struct fsc_err *err)
{
	struct fsc_analysis_scope scope;
	struct result *r = find(a, key);
	enum fsc_status st;

	*out = r;
	if (r)
		return FSC_OK;
	if (key->steps && strlen(key->steps) >= STEPS_MAX)
		return fsc_err_set(err, FSC_EINVAL, "bad_steps", "steps is all, no_last or A-B");
	st = fsc_analysis_scope_parse(&scope, key->steps, err);
	if (st)
		return st;
	r = fsc_xalloc(1, sizeof(*r));
	st = fsc_analyse(&r->a, key->seg, &scope, err);
	if (st) {
		fsc_free(r);
		return st;
	}
	r->refs = 1;
	r->trace = key->trace;
	r->version = key->version;
	r->seg = fsc_seg_ref(key->seg);
	snprintf(r->steps, sizeof(r->steps), "%s", key->steps ? key->steps : "");
	keep(a, r);
	*out = r;
	return FSC_OK;
}

enum fsc_status fsc_analyses_summary(struct fsc_analyses *a, const struct fsc_analysis_key *key,
				     struct fsc_json *j, struct fsc_err *err)
{
	struct result *r;
	enum fsc_status st = get(a, key, &r, err);

	if (st)
		return st;
	fsc_analysis_json(j, &r->a, r->seg);
	drop(a, r);
	return FSC_OK;
}

enum fsc_status fsc_analyses_steps(struct fsc_analyses *a, const struct fsc_analysis_key *key,
				   struct fsc_json *j, struct fsc_err *err)
{
	struct result *r;
	enum fsc_status st = get(a, key, &r, err);

	if (st)
		return st;
	fsc_json_key(j, "items");
	fsc_json_arr(j);
	for (size_t i = 0; i < r->a.steps.n; i++)
		fsc_analysis_json_step(j, &r->a.steps.v[i],
				       fsc_seg_str(r->seg, r->a.steps.v[i].name, NULL));
	fsc_json_arr_end(j);
	fsc_json_kuint(j, "total", r->a.steps.n);
	drop(a, r);
	return FSC_OK;
}

/* Every word of q occurs in the name. */
static bool name_matches(const char *name, const char *q)
{
	char word[256];

	while (q && *q) {
		size_t n;

		q += strspn(q, " ");
		n = strcspn(q, " ");
		if (!n)
			break;
		if (n >= sizeof(word))
			return false;
		memcpy(word, q, n);
		word[n] = '\0';
		if (!strcasestr(name, word))
			return false;
		q += n;
	}
	return true;
}

struct sort_ctx {
	const struct fsc_seg *seg;
	char by; /* first letter of the sort, 'x' for max */
	bool ascending;
};

static int64_t sort_value(const struct fsc_kernel_row *k, char by)
{
	switch (by) {
	case 'c':
		return (int64_t)k->count;
	case 'm':
		return k->sum_ns / (int64_t)k->count;
	case 'n':
		return k->min_ns;
	case 'x':
		return k->max_ns;
	default:
		return k->sum_ns;
	}
}

static int compare(const void *pa, const void *pb, void *arg)
{
	const struct fsc_kernel_row *a = *(const struct fsc_kernel_row *const *)pa;
	const struct fsc_kernel_row *b = *(const struct fsc_kernel_row *const *)pb;
	const struct sort_ctx *c = arg;
	int names = strcmp(fsc_seg_str(c->seg, a->name, NULL), fsc_seg_str(c->seg, b->name, NULL));
	int64_t va = sort_value(a, c->by), vb = sort_value(b, c->by);
	int r = c->by == 'a' ? names : (va > vb) - (va < vb);

	if (!c->ascending)
		r = -r;
	return r ? r : names;
}

static bool sort_letter(const char *sort, char *by)
{
	static const struct {
		const char *name;
		char by;
	} all[] = { { "sum", 's' }, { "count", 'c' }, { "mean", 'm' },
		    { "min", 'n' }, { "max", 'x' },   { "name", 'a' } };

	*by = 's';
	for (size_t i = 0; sort && i < FSC_ARRAY_LEN(all); i++)
		if (!strcmp(sort, all[i].name)) {
			*by = all[i].by;
			return true;
		}
	return !sort;
}

static void emit_kernels(struct fsc_json *j, const struct fsc_kernel_row *const *v, size_t n,
			 const struct fsc_kernels_query *query, const struct fsc_seg *seg)
{
	size_t end = query->offset + (size_t)query->limit;
	uint64_t count = 0;
	int64_t sum = 0;

	fsc_json_key(j, "items");
	fsc_json_arr(j);
	for (size_t i = 0; i < n; i++) {
		count += v[i]->count;
		sum += v[i]->sum_ns;
		if (i >= query->offset && i < end)
			fsc_analysis_json_kernel(j, v[i], fsc_seg_str(seg, v[i]->name, NULL));
	}
	fsc_json_arr_end(j);
	fsc_json_key(j, "next");
	if (end < n) {
		char cursor[24];

		snprintf(cursor, sizeof(cursor), "%zu", end);
		fsc_json_str(j, cursor);
	} else {
		fsc_json_null(j);
	}
	fsc_json_kuint(j, "total", n);
	fsc_json_kuint(j, "total_count", count);
	fsc_json_kint(j, "total_sum_ns", sum);
}

enum fsc_status fsc_analyses_kernels(struct fsc_analyses *a, const struct fsc_analysis_key *key,
				     const struct fsc_kernels_query *query, struct fsc_json *j,
				     struct fsc_err *err)
{
	struct sort_ctx ctx = { .seg = key->seg, .ascending = query->ascending };
	const struct fsc_kernel_row **v;
	struct result *r;
	size_t n = 0;
	enum fsc_status st;

	if (!sort_letter(query->sort, &ctx.by))
		return fsc_err_set(err, FSC_EINVAL, "bad_parameter",
				   "sort is sum, count, mean, min, max or name");
	st = get(a, key, &r, err);
	if (st)
		return st;
	v = fsc_alloc(r->a.kernels.n + 1, sizeof(*v));
	if (!v) {
		drop(a, r);
		return fsc_err_set(err, FSC_ENOMEM, NULL, "list of kernels");
	}
	for (size_t i = 0; i < r->a.kernels.n; i++)
		if (name_matches(fsc_seg_str(r->seg, r->a.kernels.v[i].name, NULL), query->q))
			v[n++] = &r->a.kernels.v[i];
	if (n)
		qsort_r(v, n, sizeof(*v), compare, &ctx);
	emit_kernels(j, v, n, query, r->seg);
	fsc_free(v);
	drop(a, r);
	return FSC_OK;
}

const char *fsc_analyses_kind_name(uint8_t kind)
{
	return fsc_analysis_kind_name(kind);
}
