/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a project may keep, what it keeps, what a retention pass would take, and which bundles were indexed by
 * an older version. Deletes nothing but marks: deleting is store.h's. Rules of store/store.h apply (threads,
 * ownership, errors).
 */
#ifndef FSC_STORE_RETENTION_H
#define FSC_STORE_RETENTION_H

#include "store/store.h"

#define FSC_DAY_NS INT64_C(86400000000000)
#define FSC_RETENTION_DAYS_MAX 36500
#define FSC_STORAGE_JOBS 50 /* listed by name; the rest is summed */
#define FSC_STORAGE_AGES 5  /* younger than 1, 7, 30, 90 days, and the rest */

/* ---- limits of a project; 0 = none ---- */
struct fsc_retention {
	int64_t project;
	int64_t max_age_days;  /* then the bundle goes with all it gave */
	int64_t blob_age_days; /* then its bytes go, its traces stay */
	int64_t max_bytes;     /* blobs and segments; those that came first go first */
	int64_t updated_at_ns; /* 0: never set */
};
/* All zero when nobody set limits. */
fsc_nodiscard enum fsc_status fsc_store_retention_get(struct fsc_store *s, int64_t project,
						      struct fsc_retention *out,
						      struct fsc_err *err);
/* FSC_EINVAL "retention": a limit is negative or too large. */
fsc_nodiscard enum fsc_status fsc_retention_check(const struct fsc_retention *in,
						  struct fsc_err *err);
/* updated_at_ns is set by the store, in `in` too. Fails as fsc_retention_check does. */
fsc_nodiscard enum fsc_status fsc_store_retention_put(struct fsc_store *s, struct fsc_retention *in,
						      struct fsc_err *err);
#define FSC_LIMIT_AGE 1u
#define FSC_LIMIT_BLOB_AGE 2u
#define FSC_LIMIT_BYTES 4u
/* The same for the limits of `which` only, and in one step: the others stay as they are, whoever sets them at the
 * same time. *was and in are all limits before and after. */
fsc_nodiscard enum fsc_status fsc_store_retention_set(struct fsc_store *s, struct fsc_retention *in,
						      unsigned which, struct fsc_retention *was,
						      struct fsc_err *err);
struct fsc_retentions {
	struct fsc_retention *items; /* by project; only those with a limit */
	size_t n_items;
};
fsc_nodiscard enum fsc_status fsc_store_retention_list(struct fsc_store *s, struct fsc_arena *a,
						       struct fsc_retentions *out,
						       struct fsc_err *err);

/* ---- what is kept ---- */
struct fsc_versions {
	int64_t segment, analysis;
};
struct fsc_storage_part {
	const char *job; /* NULL unknown; of by_age unused */
	int64_t bundles, traces, bytes;
};
/* Traces made by an older version than asked for. */
struct fsc_outdated {
	int64_t traces;
	int64_t running, waiting; /* of them: their bundle is being indexed, queued */
	int64_t failed;		  /* of them: indexing again failed, they stay as they are */
	int64_t not_rebuildable;  /* of them: the bytes of their bundle were let go */
};
struct fsc_storage {
	int64_t bundles, traces, kept_traces;
	int64_t blob_bytes; /* what another project holds too is counted in both */
	int64_t segment_bytes, database_bytes; /* the database is that of all projects */
	int64_t oldest_received_at_ns;	       /* 0 when there is none */
	/* Blobs and segments by job of the upload, else of its first trace; most bytes first. */
	struct fsc_storage_part *by_job;
	size_t n_by_job;
	struct fsc_storage_part by_job_rest; /* of n_jobs_rest jobs */
	int64_t n_jobs_rest;
	struct fsc_storage_part by_age[FSC_STORAGE_AGES];
	struct fsc_outdated outdated;
};
fsc_nodiscard enum fsc_status fsc_store_storage(struct fsc_store *s, struct fsc_arena *a,
						int64_t project, const struct fsc_versions *v,
						struct fsc_storage *out, struct fsc_err *err);

/* ---- what a pass would take ---- */
enum fsc_retention_why {
	FSC_RETENTION_AGE,   /* the bundle, for its age */
	FSC_RETENTION_BYTES, /* the bundle, for room */
	FSC_RETENTION_BLOB,  /* only the bytes of its upload, for its age */
};
const char *fsc_retention_why_name(enum fsc_retention_why why); /* "age" "bytes" "blob_age" */
struct fsc_retention_item {
	enum fsc_retention_why why;
	int64_t bundle;
	const char *name;
	int64_t traces, blob_bytes, segment_bytes; /* what goes with it; of a blob only its bytes */
};
struct fsc_retention_query {
	struct fsc_retention limits;
	int64_t now_ns;
	bool by_age;	  /* false: the clock is not to be trusted, only max_bytes counts */
	size_t max_items; /* listed; the sums are over all */
};
struct fsc_retention_plan {
	struct fsc_retention_item *items; /* that came first, first */
	size_t n_items;
	int64_t bundles, traces, bundle_blob_bytes, segment_bytes; /* of bundles that go whole */
	int64_t blobs, blob_bytes;				   /* that go alone */
	int64_t kept;	    /* bundles that would go, but a trace of theirs is kept */
	int64_t over_bytes; /* above max_bytes after all this: kept, or being indexed */
};
/*
 * In the order in which bundles came (that of their ids, which the wall clock does not change): those older
 * than max_age_days; the blobs of those older than blob_age_days; and while the project has more than max_bytes
 * then, further bundles. A bundle with a kept trace is passed over. So is one that is queued or being indexed,
 * unless its age is over.
 */
fsc_nodiscard enum fsc_status fsc_store_retention_plan(struct fsc_store *s, struct fsc_arena *a,
						       const struct fsc_retention_query *q,
						       struct fsc_retention_plan *out,
						       struct fsc_err *err);

/* ---- letting go of the bytes of an upload ---- */
struct fsc_blob_release {
	uint8_t sha256[FSC_SHA256_LEN];
	int64_t bytes;
	bool blob_free; /* no bundle of any project needs the file any more */
};
/* The bundle stays with its traces; it cannot be indexed again. FSC_EBUSY "bundle_indexing": queued or being
 * indexed; FSC_EEXIST "kept": a trace of it is kept; FSC_ENOTFOUND "blob_gone": let go already. */
fsc_nodiscard enum fsc_status fsc_store_blob_release(struct fsc_store *s, int64_t project,
						     int64_t bundle, struct fsc_blob_release *out,
						     struct fsc_err *err);

/* ---- indexing again after a change of version ---- */
fsc_nodiscard enum fsc_status fsc_store_outdated(struct fsc_store *s, int64_t project, /* 0 = all */
						 const struct fsc_versions *v,
						 struct fsc_outdated *out, struct fsc_err *err);
struct fsc_outdated_bundle {
	int64_t project, bundle;
	int64_t traces; /* of it, outdated or not */
};
/* Ready bundles with an outdated trace and their bytes, of all projects, newest first, with an id below
 * `before`; at most `max`, *n of them. */
fsc_nodiscard enum fsc_status fsc_store_outdated_pick(struct fsc_store *s,
						      const struct fsc_versions *v, int64_t before,
						      struct fsc_outdated_bundle *out, size_t max,
						      size_t *n, struct fsc_err *err);

#endif
