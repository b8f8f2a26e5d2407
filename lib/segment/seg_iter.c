/* SPDX-License-Identifier: Apache-2.0 */
/* Slices of a row in a window, block by block. */
#include "base/alloc.h"
#include "segment/seg_internal.h"

struct scratch {
	uint32_t n; /* slices of the loaded block */
	const struct fsc_seg_d_block *b;
	int64_t *ts, *dur; /* into the same allocation */
};

static enum fsc_status load(struct fsc_seg_iter *it, uint32_t block, struct fsc_err *err)
{
	struct scratch *sc = it->scratch;
	enum fsc_status st = fsc_seg_block_core(it->seg, block, err);

	if (st == FSC_OK)
		st = fsc_seg_block_ext(it->seg, block, err);
	if (st != FSC_OK)
		return st;
	sc->b = &it->seg->blocks[block];
	sc->n = sc->b->n;
	fsc_seg_decode_block(it->seg, sc->b, sc->ts, sc->dur);
	it->block = block;
	return FSC_OK;
}

enum fsc_status fsc_seg_iter_init(struct fsc_seg_iter *it, const struct fsc_seg *s, uint32_t row,
				  int64_t t0, int64_t t1, struct fsc_err *err)
{
	const struct fsc_seg_d_row *r = &s->rows[row];
	uint32_t cap = r->n < FSC_SEG_BLOCK ? r->n : FSC_SEG_BLOCK, lo = 0, hi = r->n_blocks;
	struct scratch *sc;

	*it = (struct fsc_seg_iter){ .seg = s, .row = row, .block = UINT32_MAX };
	it->t0 = fsc_seg_clamp_time(t0);
	it->t1 = fsc_seg_clamp_time(t1);
	if (!r->n || t0 >= t1 || it->t1 <= r->first_ts || it->t0 > r->last_end)
		return FSC_OK;
	/* The first block that can hold a slice which reaches t0. */
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (s->blocks[r->first_block + mid].last_end < it->t0)
			lo = mid + 1;
		else
			hi = mid;
	}
	it->next = lo * FSC_SEG_BLOCK;
	it->end = r->n;
	sc = fsc_alloc(1, sizeof(*sc) + (size_t)cap * 2 * sizeof(int64_t));
	if (!sc)
		return fsc_err_set(err, FSC_ENOMEM, NULL, "segment: no memory for a block");
	sc->ts = (int64_t *)(void *)(sc + 1);
	sc->dur = sc->ts + cap;
	it->scratch = sc;
	return FSC_OK;
}

enum fsc_status fsc_seg_iter_next(struct fsc_seg_iter *it, struct fsc_seg_slice *out,
				  struct fsc_err *err)
{
	const struct fsc_seg *s = it->seg;
	struct scratch *sc = it->scratch;

	while (it->next < it->end) {
		const struct fsc_seg_d_row *r = &s->rows[it->row];
		uint32_t block = r->first_block + it->next / FSC_SEG_BLOCK,
			 i = it->next % FSC_SEG_BLOCK;
		int64_t end;

		if (block != it->block) {
			enum fsc_status st = load(it, block, err);

			if (st != FSC_OK)
				return st;
		}
		if (sc->ts[i] >= it->t1)
			break;
		it->next++;
		end = sc->ts[i] + sc->dur[i];
		if (end < it->t0 || (end == it->t0 && sc->dur[i] > 0))
			continue;
		fsc_seg_fill(out, s, sc->b, r->first_slice + it->next - 1);
		out->ts = sc->ts[i];
		out->dur = sc->dur[i];
		return FSC_OK;
	}
	it->next = it->end;
	return FSC_END;
}

void fsc_seg_iter_fini(struct fsc_seg_iter *it)
{
	fsc_free(it->scratch);
	it->scratch = NULL;
}
