/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of the XPlane reader, shared by xplane*.c. An XSpace is a list of planes, and the names that the events of
 * a plane refer to come behind them, so one plane at a time is held in memory. xplane.c walks the file, xplane_meta.c
 * keeps the name tables of a plane, xplane_plane.c makes processes and tracks of planes and lines, xplane_event.c
 * slices of events, xplane_stat.c args and typed columns of stats.
 */
#ifndef FSC_FORMATS_XPLANE_INT_H
#define FSC_FORMATS_XPLANE_INT_H

#include "base/buf.h"
#include "base/json_out.h"
#include "base/limits.h"
#include "base/pb_read.h"
#include "formats/json_tok.h"
#include "formats/launch_args.h"
#include "formats/launch_pairs.h"
#include "formats/reader.h"
#include "model/build.h"
#include "model/classify.h"

/* Stats that are more than an argument. */
enum xp_role {
	XP_NONE,
	XP_CORRELATION,
	XP_KERNEL_DETAILS,
	XP_MEMCPY_DETAILS,
	XP_MEMSET_DETAILS,
	XP_MEMORY_DETAILS, /* allocations and residency: no work of a stream */
	XP_HLO_CATEGORY,
	XP_PRODUCER_TYPE,
	XP_PRODUCER_ID,
	XP_CONSUMER_TYPE,
	XP_CONSUMER_ID,
	XP_FLOW,
	XP_STEP, /* marks the event that begins a step */
};

/* An entry of event_metadata or stat_metadata. Cursors lie in the plane's bytes. */
struct xp_meta {
	int64_t id;
	struct fsc_cur name, display, body;
	uint32_t order;	  /* in the file; of two with one id the later counts */
	uint32_t name_id; /* string id of what is shown, UINT32_MAX not made yet */
	uint8_t role;	  /* of a stat: enum xp_role */
};

struct xp_table {
	FSC_VEC(struct xp_meta) v;
	size_t last; /* where the entry before was found */
};

enum xp_plane_kind { XP_HOST, XP_HOST_CALLS, XP_HOST_PYTHON, XP_DEVICE, XP_OTHER };
enum xp_line_kind { XP_THREAD, XP_STREAM, XP_ANNOTATION };

struct xp_plane {
	struct fsc_cur body, name;
	enum xp_plane_kind kind;
	int32_t device;
	struct fsc_build_id pid;
	uint32_t process;
	bool has_streams; /* a line is a stream of the hardware */
	uint64_t events, lines, metadata;
};

struct xp_line {
	struct fsc_cur body, name, display;
	int64_t id, timestamp_ns;
	enum xp_line_kind kind;
	uint32_t track;
};

/* Numbers of one stat. */
struct xp_stat {
	int64_t id;
	uint32_t num; /* field of the value, 0 none */
	uint64_t v;
	struct fsc_cur body;
};

/* What the stats of one event say. */
struct xp_facts {
	int64_t correlation;
	bool is_kernel, is_memcpy, is_memset, is_memory, is_step;
	struct fsc_cur kernel, bytes, hlo_category;
	bool produces, consumes;
	uint64_t producer[2], consumer[2]; /* type, id */
	bool has_flow;
	uint64_t flow;
};

struct xplane {
	struct fsc_source *src; /* borrowed */
	const struct fsc_reader_sink *sink;
	struct fsc_err *err;
	struct fsc_build *b; /* owned */

	struct fsc_buf raw; /* owned; the plane under way */
	uint64_t at, base;  /* offsets in the file: of the next byte, and of raw */
	struct xp_table events, stats;
	struct xp_plane plane;
	struct fsc_launch_pairs pairs;

	struct fsc_buf text, args, meta, planes, texts; /* owned */
	struct fsc_json json;				/* into args */
	int64_t seen[64];				/* ids of stats that args has */
	uint32_t n_seen;
	uint16_t cat[8];   /* enum xp_cat; FSC_BUILD_NO_CAT not made yet */
	uint64_t expanded; /* bytes that args took from the tables of names */
	uint64_t where;	   /* offset in the file of what is being read, for counters */
	struct {
		struct fsc_jt_count fields, inexact, bad_time, aggregated, no_name, no_stat,
			bad_ref, bytes, nonfinite, too_big, utf8, zeros, meta_too_big, twice,
			empty_planes, bad_corr;
	} n;
};

enum xp_cat {
	XP_CAT_KERNEL,
	XP_CAT_MEMCPY,
	XP_CAT_MEMSET,
	XP_CAT_GPU_ANNOTATION,
	XP_CAT_RUNTIME,
	XP_CAT_PYTHON,
	XP_CAT_USER,
	XP_CAT_TRACE_ME,
};

/* Counts n at the place that is being read. */
static inline void fsc_xp_note(struct xplane *x, struct fsc_jt_count *k, uint64_t n)
{
	if (!k->n)
		k->first = x->where;
	k->n += n;
}
/* What is read from now on begins at p, in the plane's bytes. */
static inline void fsc_xp_at(struct xplane *x, const uint8_t *p)
{
	x->where = x->base + (uint64_t)(p - (const uint8_t *)x->raw.data);
}

/* True when n more bytes of the tables may go into args: every event may refer to the same long text, so that what
 * they make of it has the ratio limit of decompression. */
static inline bool fsc_xp_may_expand(struct xplane *x, size_t n)
{
	x->expanded += n;
	return x->expanded <= FSC_RATIO_GRACE_BYTES || x->expanded / FSC_MAX_RATIO <= x->at;
}

/* The message that c is in is damaged where c stands. */
enum fsc_status fsc_xp_corrupt(struct xplane *x, const struct fsc_cur *c, const char *what);
/* err for a status of the builder. */
enum fsc_status fsc_xp_failed(struct xplane *x, enum fsc_status st);
/* A string of the file as a string id, repaired when it is no UTF-8. */
enum fsc_status fsc_xp_text(uint32_t *id, struct xplane *x, struct fsc_cur s);

/* The table of field 4 (event_metadata) or 5 (stat_metadata) of the plane. */
enum fsc_status fsc_xp_table_add(struct xplane *x, struct xp_table *t, struct fsc_cur entry);
void fsc_xp_table_close(struct xplane *x, struct xp_table *t);
struct xp_meta *fsc_xp_table_find(struct xp_table *t, int64_t id);

/* The whole plane in x->raw. */
enum fsc_status fsc_xp_plane(struct xplane *x);
enum fsc_status fsc_xp_event(struct xplane *x, const struct xp_line *line, struct fsc_cur body);

enum fsc_status fsc_xp_stat_read(struct xplane *x, struct xp_stat *s, struct fsc_cur body);
/* Appends the stat to x->args and what it means to facts (may be NULL). A stat that args has already is passed over. */
enum fsc_status fsc_xp_stat_take(struct xplane *x, struct xp_facts *facts, struct fsc_cur body);
void fsc_xp_args_begin(struct xplane *x);

static inline bool fsc_xp_starts(struct fsc_cur c, const char *s)
{
	size_t n = strlen(s);

	return fsc_cur_left(&c) >= n && !memcmp(c.p, s, n);
}
static inline bool fsc_xp_is(struct fsc_cur c, const char *s)
{
	return fsc_cur_left(&c) == strlen(s) && fsc_xp_starts(c, s);
}

#endif
