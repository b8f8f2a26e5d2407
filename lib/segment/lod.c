/* SPDX-License-Identifier: Apache-2.0 */
/* Shape and construction of the level-of-detail pyramid. */
#include "segment/lod.h"

#include <math.h>
#include <string.h>

static uint64_t round_up(uint64_t v, uint64_t to)
{
	return (v + to - 1) / to * to;
}

void fsc_seg_lod_shape(struct fsc_seg_lod_shape *sh, uint32_t n)
{
	uint32_t count = n / FSC_SEG_GROUP + (n % FSC_SEG_GROUP != 0);
	uint64_t off;

	memset(sh, 0, sizeof(*sh));
	sh->groups = count;
	sh->off_ts = 0;
	sh->off_sum = (uint64_t)count * sizeof(int64_t);
	off = sh->off_sum + ((uint64_t)count + 1) * sizeof(uint64_t);
	for (;;) {
		sh->level_n[sh->n_levels] = count;
		sh->off_level[sh->n_levels++] = off;
		off += (uint64_t)count * sizeof(struct fsc_seg_node);
		if (count <= FSC_SEG_FAN)
			break;
		count = count / FSC_SEG_FAN + (count % FSC_SEG_FAN != 0);
	}
	sh->off_span = off;
	sh->bytes = round_up(off + (uint64_t)sh->groups * sizeof(uint32_t), FSC_SEG_ALIGN);
}

void fsc_seg_lod_map(struct fsc_seg_lod *l, const uint8_t *chunk, uint32_t n)
{
	struct fsc_seg_lod_shape sh;

	fsc_seg_lod_shape(&sh, n);
	l->groups = sh.groups;
	l->n_levels = sh.n_levels;
	l->ts = (const void *)(chunk + sh.off_ts);
	l->sum = (const void *)(chunk + sh.off_sum);
	l->span = (const void *)(chunk + sh.off_span);
	for (uint32_t i = 0; i < FSC_SEG_MAX_LEVELS; i++)
		l->level[i] = i < sh.n_levels ? (const void *)(chunk + sh.off_level[i]) : NULL;
}

uint32_t fsc_seg_tally_top(const struct fsc_seg_tally *t, int64_t *ns)
{
	uint32_t best = 0;
	int64_t most = -1;

	for (uint64_t left = t->used; left; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(left);

		if (t->ns[i] > most || (t->ns[i] == most && t->cls[i] < best)) {
			most = t->ns[i];
			best = t->cls[i];
		}
	}
	*ns = most < 0 ? 0 : most;
	return best;
}

/* A float that is never below v, so that "longer than" tests on it have no false negatives. */
static float float_up(int64_t v)
{
	float f = (float)v;

	return (double)f < (double)v ? nextafterf(f, INFINITY) : f;
}

static struct fsc_seg_node group_node(uint32_t first, uint32_t n, const int64_t *dur,
				      const uint32_t *cls)
{
	struct fsc_seg_tally t = { .used = 0 };
	struct fsc_seg_node node;
	int64_t longest = -1, dom;

	node.rep = first;
	for (uint32_t i = first; i < first + n; i++) {
		fsc_seg_tally_add(&t, cls[i], dur[i]);
		if (dur[i] > longest) {
			longest = dur[i];
			node.rep = i;
		}
	}
	node.cls = fsc_seg_tally_top(&t, &dom);
	node.dom = (float)dom;
	node.max = float_up(longest);
	return node;
}

static struct fsc_seg_node parent_node(const struct fsc_seg_node *child, uint32_t n)
{
	struct fsc_seg_node node = child[0];
	float best = -1;

	for (uint32_t i = 0; i < n; i++) {
		float sum = 0;

		for (uint32_t j = 0; j < n; j++)
			if (child[j].cls == child[i].cls)
				sum += child[j].dom;
		if (sum > best) {
			best = sum;
			node.cls = child[i].cls;
		}
		if (child[i].max > node.max) {
			node.max = child[i].max;
			node.rep = child[i].rep;
		}
	}
	node.dom = best;
	return node;
}

static void build_groups(uint8_t *dst, const struct fsc_seg_lod_shape *sh, uint32_t n,
			 const int64_t *ts, const int64_t *dur, const uint32_t *cls)
{
	int64_t *g_ts = (void *)(dst + sh->off_ts);
	uint64_t *g_sum = (void *)(dst + sh->off_sum);
	uint32_t *g_span = (void *)(dst + sh->off_span);
	struct fsc_seg_node *node = (void *)(dst + sh->off_level[0]);
	uint64_t sum = 0;

	for (uint32_t g = 0; g < sh->groups; g++) {
		uint32_t first = g * FSC_SEG_GROUP;
		uint32_t m = n - first < FSC_SEG_GROUP ? n - first : FSC_SEG_GROUP;
		int64_t span = ts[first + m - 1] + dur[first + m - 1] - ts[first];

		g_ts[g] = ts[first];
		g_sum[g] = sum;
		g_span[g] = span < UINT32_MAX ? (uint32_t)span : UINT32_MAX;
		node[g] = group_node(first, m, dur, cls);
		for (uint32_t i = first; i < first + m; i++)
			sum += (uint64_t)dur[i];
	}
	g_sum[sh->groups] = sum;
}

void fsc_seg_lod_build(uint8_t *dst, const struct fsc_seg_lod_shape *sh, uint32_t n,
		       const int64_t *ts, const int64_t *dur, const uint32_t *cls)
{
	memset(dst, 0, sh->bytes);
	build_groups(dst, sh, n, ts, dur, cls);
	for (uint32_t l = 1; l < sh->n_levels; l++) {
		const struct fsc_seg_node *below = (const void *)(dst + sh->off_level[l - 1]);
		struct fsc_seg_node *node = (void *)(dst + sh->off_level[l]);

		for (uint32_t i = 0; i < sh->level_n[l]; i++) {
			uint32_t first = i * FSC_SEG_FAN, left = sh->level_n[l - 1] - first;

			node[i] =
				parent_node(below + first, left < FSC_SEG_FAN ? left : FSC_SEG_FAN);
		}
	}
}
