/* SPDX-License-Identifier: Apache-2.0 */
/* Matches launches by correlation number: both sides are sorted and walked together. */
#include "formats/launch_pairs.h"

#include <stdlib.h>

void fsc_launch_pairs_fini(struct fsc_launch_pairs *p)
{
	fsc_vec_fini(&p->calls);
	fsc_vec_fini(&p->works);
}

enum fsc_status fsc_launch_pairs_call(struct fsc_launch_pairs *p, struct fsc_launch_side s)
{
	return fsc_vec_push(&p->calls, s) ? FSC_OK : FSC_ENOMEM;
}

enum fsc_status fsc_launch_pairs_work(struct fsc_launch_pairs *p, struct fsc_launch_side s)
{
	return fsc_vec_push(&p->works, s) ? FSC_OK : FSC_ENOMEM;
}

static int compare_keys(const struct fsc_launch_side *a, const struct fsc_launch_side *b)
{
	if (a->scope != b->scope)
		return a->scope < b->scope ? -1 : 1;
	return a->correlation < b->correlation ? -1 : a->correlation > b->correlation;
}

/* Slices are numbered in file order, which makes the order total. */
static int by_key(const void *x, const void *y)
{
	const struct fsc_launch_side *a = x, *b = y;
	int c = compare_keys(a, b);

	return c ? c : a->slice < b->slice ? -1 : a->slice > b->slice;
}

static enum fsc_status arrow(struct fsc_build *b, struct fsc_build_flow *f,
			     const struct fsc_launch_side *s, uint8_t phase)
{
	f->ts = s->ts;
	f->slice = s->slice;
	f->phase = phase;
	return fsc_build_flow(b, f);
}

enum fsc_status fsc_launch_pairs_bind(struct fsc_launch_pairs *p, struct fsc_build *b,
				      uint64_t *unmatched)
{
	struct fsc_build_flow f = { .ident = 0 };
	const struct fsc_launch_side *open = NULL;
	enum fsc_status st = fsc_build_str(&f.cat, b, "ac2g", 4);
	size_t c = 0;

	*unmatched = 0;
	if (p->calls.n)
		qsort(p->calls.v, p->calls.n, sizeof(*p->calls.v), by_key);
	if (p->works.n)
		qsort(p->works.v, p->works.n, sizeof(*p->works.v), by_key);
	for (size_t w = 0; st == FSC_OK && w < p->works.n; w++) {
		const struct fsc_launch_side *work = &p->works.v[w];

		while (c < p->calls.n && compare_keys(&p->calls.v[c], work) < 0)
			c++;
		if (c == p->calls.n || compare_keys(&p->calls.v[c], work) != 0) {
			++*unmatched;
			continue;
		}
		/* the number of an arrow is only told apart within the trace */
		if (open != &p->calls.v[c]) {
			open = &p->calls.v[c];
			f.id = c;
			st = arrow(b, &f, open, FSC_FLOW_START);
		}
		if (st == FSC_OK)
			st = arrow(b, &f, work, FSC_FLOW_END);
	}
	return st;
}
