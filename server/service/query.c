/* SPDX-License-Identifier: Apache-2.0 */
/* Cache of open segments: few entries, so a scan for the key and for the oldest is right. */
#include "service/query.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "store/blob.h"

#define DEFAULT_OPEN 64

struct entry {
	int64_t trace, segment;
	struct fsc_seg *seg; /* ref; NULL: free */
	uint64_t used;
};

struct fsc_query {
	struct fsc_query_opts opts;
	pthread_mutex_t mu; /* guards everything below */
	struct entry *v;    /* owned; opts.max_open of them */
	uint64_t clock, hits, misses;
};

struct fsc_query *fsc_query_new(const struct fsc_query_opts *opts)
{
	struct fsc_query *q = fsc_xalloc(1, sizeof(*q));

	q->opts = *opts;
	if (!q->opts.max_open)
		q->opts.max_open = DEFAULT_OPEN;
	pthread_mutex_init(&q->mu, NULL);
	q->v = fsc_xalloc(q->opts.max_open, sizeof(*q->v));
	return q;
}

void fsc_query_free(struct fsc_query *q)
{
	if (!q)
		return;
	for (uint32_t i = 0; i < q->opts.max_open; i++)
		fsc_seg_unref(q->v[i].seg);
	pthread_mutex_destroy(&q->mu);
	fsc_free(q->v);
	fsc_free(q);
}

/* A segment of the cache with a reference for the caller, or NULL. */
static struct fsc_seg *lookup(struct fsc_query *q, const struct fsc_trace_row *row)
{
	struct fsc_seg *seg = NULL;

	pthread_mutex_lock(&q->mu);
	for (uint32_t i = 0; i < q->opts.max_open && !seg; i++) {
		struct entry *e = &q->v[i];

		if (!e->seg || e->trace != row->id || e->segment != row->segment)
			continue;
		e->used = ++q->clock;
		q->hits++;
		seg = fsc_seg_ref(e->seg);
	}
	if (!seg)
		q->misses++;
	pthread_mutex_unlock(&q->mu);
	return seg;
}

/* Puts it in place of the older segment of the same trace, a free entry, or the one used longest ago. */
static void remember(struct fsc_query *q, const struct fsc_trace_row *row, struct fsc_seg *seg)
{
	struct entry *best = &q->v[0];
	struct fsc_seg *old;

	pthread_mutex_lock(&q->mu);
	for (uint32_t i = 0; i < q->opts.max_open; i++) {
		struct entry *e = &q->v[i];

		if (e->seg && e->trace == row->id) {
			best = e;
			break;
		}
		if (best->seg && (!e->seg || e->used < best->used))
			best = e;
	}
	old = best->seg;
	*best = (struct entry){ row->id, row->segment, fsc_seg_ref(seg), ++q->clock };
	pthread_mutex_unlock(&q->mu);
	fsc_seg_unref(old);
}

enum fsc_status fsc_query_segment(struct fsc_query *q, const struct fsc_trace_row *row,
				  struct fsc_seg **out, struct fsc_err *err)
{
	uint64_t size;
	int fd = -1;
	enum fsc_status st;

	*out = lookup(q, row);
	if (*out)
		return FSC_OK;
	st = fsc_seg_file_open(q->opts.blobs, row->segment, &fd, &size, err);
	if (st == FSC_ENOTFOUND) {
		fsc_err_clear(err);
		return fsc_err_set(err, FSC_ENOTFOUND, "segment_missing",
				   "the trace has no segment any more, re-index its bundle");
	}
	if (st)
		return st;
	st = fsc_seg_open(out, fd, err);
	close(fd);
	if (!st)
		remember(q, row, *out);
	return st;
}

void fsc_query_stats(struct fsc_query *q, struct fsc_query_stats *out)
{
	memset(out, 0, sizeof(*out));
	pthread_mutex_lock(&q->mu);
	out->hits = q->hits;
	out->misses = q->misses;
	for (uint32_t i = 0; i < q->opts.max_open; i++)
		out->open += q->v[i].seg != NULL;
	pthread_mutex_unlock(&q->mu);
}
