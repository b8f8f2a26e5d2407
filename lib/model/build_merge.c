/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Args of begins and of their ends become one record: the begin's members, then those that only the end has. A
 * member that both have with different values keeps the begin's, and so do args too big to compare; such ends are counted as
 * "end_args_not_merged".
 *
 * Both lie in compressed blocks anywhere in the store. They are read in batches, the ends of a batch in their order, then
 * the begins in theirs, so that each block is opened a few times and not once for every pair.
 */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/json_scan.h"
#include "base/limits.h"
#include "model/build_int.h"
#include "model/sort.h"

#define BATCH_BYTES (8 * FSC_MIB) /* of ends' args in memory */
/* Every member of the end is sought in the begin: bounds on what a made file can cost. */
#define MAX_MEMBERS 64u
#define MAX_BEGIN ((size_t)(64 * FSC_KIB))

struct merge {
	struct fsc_build *b;
	struct fsc_args_view view;
	struct fsc_buf ends, out;
	size_t *at; /* owned; places of the batch's ends in `ends`, and the end behind the last */
	uint64_t kept_apart;
};

static bool end_before(const void *ctx, uint32_t i, uint32_t k)
{
	const struct fsc_build_args_pair *p = ctx;
	return p[i].end < p[k].end;
}

static bool begin_before(const void *ctx, uint32_t i, uint32_t k)
{
	const struct fsc_build_args_pair *p = ctx;
	return p[i].begin < p[k].begin;
}

/* m.out becomes begin and end together, or empty when they are too big. False when a member of the end is lost. */
static bool join(struct merge *m, const char *begin, size_t n, const char *end, size_t end_n)
{
	struct fsc_json_scan s = fsc_json_scan_of(end, end_n);
	struct fsc_json_member e, have;
	char key[256];
	bool whole = true;
	fsc_buf_clear(&m->out);
	if (n < 2 || n > MAX_BEGIN)
		return false;
	fsc_buf_add(&m->out, begin, n - 1);
	for (uint32_t k = 0; fsc_json_scan_next(&s, &e); k++) {
		if (k == MAX_MEMBERS || e.key_len >= sizeof(key)) {
			fsc_buf_clear(&m->out);
			return false;
		}
		memcpy(key, e.key, e.key_len);
		key[e.key_len] = '\0';
		if (fsc_json_find(&have, begin, n, key)) {
			whole &= have.value_len == e.value_len &&
				 !memcmp(have.value, e.value, e.value_len);
			continue;
		}
		if (m->out.len > 1)
			fsc_buf_addc(&m->out, ',');
		fsc_buf_addc(&m->out, '"');
		fsc_buf_add(&m->out, e.key, e.key_len);
		fsc_buf_adds(&m->out, "\":");
		fsc_buf_add(&m->out, e.value, e.value_len);
	}
	fsc_buf_addc(&m->out, '}');
	return whole;
}

static enum fsc_status merge_pair(struct merge *m, const struct fsc_build_args_pair *p,
				  const char *end, size_t end_n)
{
	struct fsc_args *a = m->b->t->args;
	const char *begin;
	size_t n;
	enum fsc_status st = fsc_args_view_get(&begin, &n, &m->view, a, p->begin);
	if (st != FSC_OK)
		return st;
	bool whole = join(m, begin, n, end, end_n);
	m->kept_apart += !whole;
	if (fsc_buf_status(&m->out) == FSC_ENOMEM)
		return FSC_ENOMEM;
	if (fsc_buf_status(&m->out) != FSC_OK) {
		m->kept_apart += whole;
		return FSC_OK;
	}
	/* No longer than before: the end says nothing new. */
	if (m->out.len <= n)
		return FSC_OK;
	return fsc_args_put(&m->b->t->slices.args[p->slice], a, m->out.data, m->out.len);
}

/* The ends of order[0 .. n) into memory, as many as fit: *n becomes their number. */
static enum fsc_status read_ends(struct merge *m, const uint32_t *order, size_t *n)
{
	fsc_buf_clear(&m->ends);
	for (size_t i = 0; i < *n; i++) {
		const char *end;
		size_t len;
		enum fsc_status st = fsc_args_view_get(&end, &len, &m->view, m->b->t->args,
						       m->b->args_pairs.v[order[i]].end);
		if (st != FSC_OK)
			return st;
		m->at[order[i]] = m->ends.len;
		m->b->args_pairs.v[order[i]].end_n = (uint32_t)len;
		fsc_buf_add(&m->ends, end, len);
		if (m->ends.len >= BATCH_BYTES)
			*n = i + 1;
	}
	return fsc_buf_status(&m->ends);
}

static enum fsc_status merge_all(struct merge *m, uint32_t *order, uint32_t *tmp)
{
	const struct fsc_build_args_pair *p = m->b->args_pairs.v;
	size_t n_all = m->b->args_pairs.n, n = 0;
	for (size_t i = 0; i < n_all; i++)
		order[i] = (uint32_t)i;
	fsc_sort_u32(order, n_all, tmp, end_before, p);
	for (size_t from = 0; from < n_all; from += n) {
		n = n_all - from;
		enum fsc_status st = read_ends(m, order + from, &n);
		fsc_sort_u32(order + from, n, tmp, begin_before, p);
		for (size_t i = from; st == FSC_OK && i < from + n; i++)
			st = merge_pair(m, &p[order[i]], m->ends.data + m->at[order[i]],
					p[order[i]].end_n);
		if (st != FSC_OK)
			return st;
	}
	return FSC_OK;
}

enum fsc_status fsc_build_merge_args(struct fsc_build *b)
{
	size_t n = b->args_pairs.n;
	struct merge m = { .b = b };
	enum fsc_status st = FSC_ENOMEM;
	if (!n)
		return FSC_OK;
	fsc_buf_init(&m.ends, BATCH_BYTES + FSC_MAX_ARGS_BYTES);
	fsc_buf_init(&m.out, FSC_MAX_ARGS_BYTES);
	uint32_t *order = fsc_realloc(NULL, n + n / 2 + 2, sizeof(*order));
	m.at = fsc_realloc(NULL, n, sizeof(*m.at));
	if (!order || !m.at)
		goto out;
	st = fsc_args_flush(b->t->args);
	if (st == FSC_OK)
		st = merge_all(&m, order, order + n);
	fsc_build_loss(b, "end_args_not_merged", m.kept_apart);
out:
	fsc_args_view_fini(&m.view);
	fsc_buf_fini(&m.ends);
	fsc_buf_fini(&m.out);
	fsc_free(m.at);
	fsc_free(order);
	fsc_vec_fini(&b->args_pairs);
	return st;
}
