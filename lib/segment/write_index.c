/* SPDX-License-Identifier: Apache-2.0 */
/* Look-up tables made once at write time: slices by correlation, flows by their target. */
#include <stdlib.h>
#include <string.h>

#include "segment/write_internal.h"

struct keyed {
	uint64_t key;
	uint32_t id;
};
struct keyed_vec {
	FSC_VEC(struct keyed) v, tmp;
};

static bool keyed_push(struct keyed_vec *k, uint64_t key, uint32_t id)
{
	struct keyed e = { key, id };

	return fsc_vec_push(&k->v, e);
}

/* Stable radix sort by key; bytes that are equal in all keys cost one counting pass only. */
static bool keyed_sort(struct keyed_vec *k)
{
	if (!fsc_vec_reserve(&k->tmp, k->v.n))
		return false;
	for (unsigned shift = 0; shift < 64; shift += 8) {
		size_t count[257] = { 0 };
		struct keyed *from = k->v.v, *to = k->tmp.v;

		for (size_t i = 0; i < k->v.n; i++)
			count[(from[i].key >> shift & 255) + 1]++;
		if (k->v.n && count[(from[0].key >> shift & 255) + 1] == k->v.n)
			continue;
		for (unsigned b = 0; b < 256; b++)
			count[b + 1] += count[b];
		for (size_t i = 0; i < k->v.n; i++)
			to[count[from[i].key >> shift & 255]++] = from[i];
		k->v.v = to;
		k->tmp.v = from;
		size_t cap = k->v.cap;
		k->v.cap = k->tmp.cap;
		k->tmp.cap = cap;
	}
	return true;
}

static void keyed_fini(struct keyed_vec *k)
{
	fsc_vec_fini(&k->v);
	fsc_vec_fini(&k->tmp);
}

/* Signed correlations in unsigned order. */
static uint64_t corr_key(int64_t c)
{
	return (uint64_t)c ^ UINT64_C(1) << 63;
}

static enum fsc_status write_corr(struct fsc_seg_writer *w, enum fsc_seg_section_type type,
				  const struct keyed_vec *k)
{
	bool narrow = true;

	for (size_t i = 0; i < k->v.n; i++)
		if (k->v.v[i].key < corr_key(0) || k->v.v[i].key > corr_key(UINT32_MAX))
			narrow = false;
	fsc_seg_out_begin(&w->out, type,
			  narrow ? sizeof(struct fsc_seg_d_corr32) : sizeof(struct fsc_seg_d_corr));
	for (size_t i = 0; i < k->v.n; i++) {
		struct fsc_seg_d_corr d = { (int64_t)(k->v.v[i].key ^ UINT64_C(1) << 63),
					    k->v.v[i].id, 0 };
		struct fsc_seg_d_corr32 d32 = { (uint32_t)d.correlation, d.slice };

		if (narrow)
			fsc_seg_out_add(&w->out, &d32, sizeof(d32));
		else
			fsc_seg_out_add(&w->out, &d, sizeof(d));
	}
	return fsc_seg_out_end(&w->out);
}

/* GPU work on one side, the host calls that can have launched it on the other. */
static enum fsc_status correlations(struct fsc_seg_writer *w, struct fsc_err *err)
{
	const struct fsc_slices *s = &w->t->slices;
	struct keyed_vec gpu = { 0 }, call = { 0 };
	bool ok = true;
	enum fsc_status st;

	for (uint32_t i = 0; i < s->n && ok && w->any_correlation; i++) {
		if (s->correlation[i] == FSC_NO_CORRELATION)
			continue;
		if (fsc_kind_is_gpu_work(s->kind[i]))
			ok = keyed_push(&gpu, corr_key(s->correlation[i]), i);
		else if (fsc_seg_is_call(s->kind[i], w->tracks.v[s->track[i]].kind))
			ok = keyed_push(&call, corr_key(s->correlation[i]), i);
	}
	ok = ok && keyed_sort(&gpu) && keyed_sort(&call);
	st = ok ? FSC_OK
		: fsc_err_set(err, FSC_ENOMEM, NULL, "segment: no memory for correlations");
	if (st == FSC_OK)
		st = write_corr(w, FSC_SEG_CORR_GPU, &gpu);
	if (st == FSC_OK)
		st = write_corr(w, FSC_SEG_CORR_CALL, &call);
	keyed_fini(&gpu);
	keyed_fini(&call);
	return st;
}

static enum fsc_status flows_by_to(struct fsc_seg_writer *w, struct fsc_err *err)
{
	struct keyed_vec k = { 0 };
	bool ok = true;
	enum fsc_status st;

	for (uint32_t i = 0; i < w->t->flows.n && ok; i++)
		ok = keyed_push(&k, w->t->flows.v[i].to, i);
	ok = ok && keyed_sort(&k);
	fsc_seg_out_begin(&w->out, FSC_SEG_FLOWS_BY_TO, sizeof(uint32_t));
	for (size_t i = 0; i < k.v.n && ok; i++)
		fsc_seg_out_add(&w->out, &k.v.v[i].id, sizeof(uint32_t));
	st = fsc_seg_out_end(&w->out);
	keyed_fini(&k);
	return ok ? st : fsc_err_set(err, FSC_ENOMEM, NULL, "segment: no memory for flows");
}

enum fsc_status fsc_seg_w_indexes(struct fsc_seg_writer *w, struct fsc_err *err)
{
	enum fsc_status st = correlations(w, err);

	return st == FSC_OK ? flows_by_to(w, err) : st;
}
