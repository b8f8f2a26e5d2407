/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Housekeeping: holds each project to its limits (store/retention.h), by age only while the wall clock can be
 * trusted (service/clock_guard.h), and has outdated bundles indexed again (service/reindex.h). A thread of its
 * own, since a pass may take long. Any thread but for new, start, stop and free.
 */
#ifndef FSC_SERVICE_RETENTION_H
#define FSC_SERVICE_RETENTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "service/clock_guard.h"
#include "store/retention.h"

struct fsc_ingest;
struct fsc_keeper;
struct fsc_reindex;

#define FSC_KEEPER_ITEMS_MAX 500 /* listed by a run */

struct fsc_keeper_opts {
	struct fsc_store *store; /* all borrowed */
	struct fsc_ingest *ingest;
	struct fsc_reindex *reindex;   /* may be NULL */
	int64_t (*mono_ns)(void *ctx); /* NULL: the system's; the wall clock is the store's */
	void *clock_ctx;
	int64_t round_ns; /* between passes; 0 = 60 s */
};
/* Never fails. */
fsc_nodiscard struct fsc_keeper *fsc_keeper_new(const struct fsc_keeper_opts *opts);
void fsc_keeper_free(struct fsc_keeper *k); /* stops first; NULL is fine */
fsc_nodiscard enum fsc_status fsc_keeper_start(struct fsc_keeper *k, struct fsc_err *err);
/* Ends the thread, after the batch that is running. */
void fsc_keeper_stop(struct fsc_keeper *k);

/* One round of the thread: the clock, then every project with a limit. Errors of the store; a project whose pass
 * fails is left for the next round. */
fsc_nodiscard enum fsc_status fsc_keeper_round(struct fsc_keeper *k, struct fsc_err *err);

struct fsc_keeper_taken {
	int64_t at_ns; /* 0: never */
	int64_t bundles, traces;
	int64_t bytes;		   /* of these: blobs that nobody else has, and segments */
	int64_t blobs, blob_bytes; /* that went alone */
};
struct fsc_keeper_run {
	struct fsc_keeper_taken taken;		  /* or, of a dry run, what would be */
	int64_t bundle_blob_bytes, segment_bytes; /* parts of taken.bytes */
	int64_t kept;	    /* bundles passed over since a trace of theirs is kept */
	int64_t over_bytes; /* above the limit all the same */
	struct fsc_retention_item
		*items; /* the first FSC_KEEPER_ITEMS_MAX, in the caller's arena */
	size_t n_items;
	bool truncated; /* there are more items */
	bool complete;	/* nothing is left to take */
};
/*
 * A pass over one project now. A dry run takes nothing and trusts the clock. Bounded in time: complete tells
 * whether housekeeping has to go on. FSC_EEXIST "retention_held": limits by age are held until the clock is
 * confirmed, and nothing was taken.
 */
fsc_nodiscard enum fsc_status fsc_keeper_pass(struct fsc_keeper *k, struct fsc_arena *a,
					      int64_t project, bool dry_run,
					      struct fsc_keeper_run *out, struct fsc_err *err);
/*
 * A dry run with limits that are not those of the project, but might become so. FSC_EINVAL "retention": they
 * could not be set either.
 */
fsc_nodiscard enum fsc_status fsc_keeper_try(struct fsc_keeper *k, struct fsc_arena *a,
					     const struct fsc_retention *limits,
					     struct fsc_keeper_run *out, struct fsc_err *err);

/* The clock is right as it is, says a person. *was: the latest time that was believed. */
fsc_nodiscard enum fsc_status fsc_keeper_confirm_clock(struct fsc_keeper *k, int64_t *was_ns,
						       struct fsc_err *err);

struct fsc_keeper_state {
	enum fsc_clock_trust trust; /* as of the last round */
	int64_t since_ns, mark_ns;  /* see struct fsc_clock_guard */
	struct fsc_keeper_taken
		last; /* of the project: last pass that took something, else the last */
};
void fsc_keeper_state(struct fsc_keeper *k, int64_t project, struct fsc_keeper_state *out);

struct fsc_keeper_stats {
	uint64_t rounds, failures;
	uint64_t by_age, by_bytes, blobs; /* bundles, bundles, blobs alone */
	uint64_t bytes;			  /* of all of these */
	enum fsc_clock_trust trust;
};
void fsc_keeper_stats(struct fsc_keeper *k, struct fsc_keeper_stats *out);

#endif
