/* SPDX-License-Identifier: Apache-2.0 */
/* Heap of row iterators; see the header. */
#include "export/row_merge.h"

#include "base/alloc.h"

struct fsc_row_head {
	struct fsc_seg_iter it;
	struct fsc_seg_slice s;
};

static bool before(const struct fsc_row_head *a, const struct fsc_row_head *b)
{
	return a->s.ts != b->s.ts ? a->s.ts < b->s.ts : a->s.depth < b->s.depth;
}

static void sift_down(struct fsc_row_merge *m, uint32_t i)
{
	for (;;) {
		uint32_t least = i, l = 2 * i + 1, r = l + 1;
		struct fsc_row_head tmp;

		if (l < m->n && before(&m->heap[l], &m->heap[least]))
			least = l;
		if (r < m->n && before(&m->heap[r], &m->heap[least]))
			least = r;
		if (least == i)
			return;
		tmp = m->heap[i];
		m->heap[i] = m->heap[least];
		m->heap[least] = tmp;
		i = least;
	}
}

enum fsc_status fsc_row_merge_init(struct fsc_row_merge *m, const struct fsc_seg *s, uint32_t track,
				   int64_t t0, int64_t t1, struct fsc_err *err)
{
	const struct fsc_seg_track *t = fsc_seg_track(s, track);
	enum fsc_status st;

	*m = (struct fsc_row_merge){ .rows = t->depths };
	m->heap = fsc_xalloc(t->depths ? t->depths : 1, sizeof(*m->heap));
	for (uint32_t d = 0; d < t->depths; d++) {
		struct fsc_row_head *h = &m->heap[m->n];

		st = fsc_seg_iter_init(&h->it, s, t->first_row + d, t0, t1, err);
		if (!st)
			st = fsc_seg_iter_next(&h->it, &h->s, err);
		if (st == FSC_OK)
			m->n++;
		else
			fsc_seg_iter_fini(&h->it);
		if (st < 0) {
			fsc_row_merge_fini(m);
			return st;
		}
	}
	for (uint32_t i = m->n / 2; i-- > 0;)
		sift_down(m, i);
	return FSC_OK;
}

enum fsc_status fsc_row_merge_next(struct fsc_row_merge *m, struct fsc_seg_slice *out,
				   struct fsc_err *err)
{
	struct fsc_row_head *top = m->heap;
	enum fsc_status st;

	if (!m->n)
		return FSC_END;
	*out = top->s;
	st = fsc_seg_iter_next(&top->it, &top->s, err);
	if (st < 0)
		return st;
	if (st == FSC_END) {
		fsc_seg_iter_fini(&top->it);
		*top = m->heap[--m->n];
	}
	sift_down(m, 0);
	return FSC_OK;
}

bool fsc_row_merge_peek(const struct fsc_row_merge *m, int64_t *ts)
{
	if (!m->n)
		return false;
	*ts = m->heap[0].s.ts;
	return true;
}

void fsc_row_merge_fini(struct fsc_row_merge *m)
{
	for (uint32_t i = 0; i < m->n; i++)
		fsc_seg_iter_fini(&m->heap[i].it);
	fsc_free(m->heap);
	*m = (struct fsc_row_merge){ 0 };
}
