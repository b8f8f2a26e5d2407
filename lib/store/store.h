/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store: what the server must not lose (projects, bundles, traces, jobs, tokens, audit) and the facts
 * derived from bundles. Typed functions over a small ops struct of named queries (store/store_ops.h);
 * SQLite is the first implementation. All of this is behind one handle, `struct fsc_store`.
 *
 * Thread rule: open and close are start-up and shut-down only; every other function is for any thread, and
 * blocks until its data is read or, for writes, durable (one writer thread commits groups of writes; the
 * call returns after the commit that holds its write).
 * Ownership: inputs are borrowed for the call. Strings and arrays in results lie in the caller's arena.
 * Times are ns of the Unix epoch where the name ends in _at_ns; trace times are relative to t_base_ns.
 * Every function that takes `project` sees only that project's rows: a row of another project is
 * FSC_ENOTFOUND.
 * Errors of every function: FSC_EBUSY (another process holds the database too long; code "store_busy"),
 * FSC_EFULL (disk full), FSC_EIO ("store_broken": after a failed commit or fsync no later write is accepted,
 * the process must be restarted), FSC_ENOMEM (also: arena full). Others are named at the function.
 */
#ifndef FSC_STORE_STORE_H
#define FSC_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/crypto.h"
#include "base/err.h"
#include "facts/fact.h"

#define FSC_PROJECT_DEFAULT 1 /* project "default", made by the first migration */
#define FSC_STORE_PAGE_MAX 500
#define FSC_STORE_FILTER_MAX 4 /* values per filter */
#define FSC_STORE_WORDS_MAX 4  /* words of a search */
#define FSC_STORE_FACET_MAX 50 /* values listed per facet; the rest is summed */

struct fsc_store;

struct fsc_store_opts {
	bool exclusive; /* hold the data folder: a second exclusive open is FSC_EBUSY "data_in_use" */
	/* Nothing is written, made or migrated: FSC_ENOTFOUND without a database, FSC_EUNSUPPORTED "store_older" or
	 * "store_newer" for another version, FSC_EDENIED "store_read_only" for each write. */
	bool read_only;
	int busy_timeout_ms;  /* how long a write waits for another process; 0 = 5000 */
	uint32_t max_readers; /* reader connections; 0 = 16 */
	/* Wall clock, ns of the Unix epoch, for every time the store writes or compares; NULL: the system's. */
	int64_t (*now_ns)(void *ctx);
	void *now_ctx;
};

/*
 * url: "sqlite:PATH" (PATH of the database file; its folder must exist) or a plain PATH. Creates and migrates
 * the database. opts may be NULL. Errors: FSC_EUNSUPPORTED "store_newer" (made by a newer version of the
 * program: nothing is touched), FSC_ECORRUPT "store_migration" (an applied migration differs from the one
 * built in), FSC_EBUSY "data_in_use" (also when it would have to be migrated under a server that is at work), FSC_EINVAL
 * (unknown kind of URL).
 */
fsc_nodiscard enum fsc_status fsc_store_open(struct fsc_store **out, const char *url,
					     const struct fsc_store_opts *opts,
					     struct fsc_err *err);
void fsc_store_close(struct fsc_store *s); /* waits for writes in flight; NULL is fine */
/* FSC_OK when reads and writes work. Cheap enough for /readyz. */
fsc_nodiscard enum fsc_status fsc_store_health(struct fsc_store *s, struct fsc_err *err);
/* The store's wall clock (fsc_store_opts.now_ns): the same for all who compare with times of the store. */
int64_t fsc_store_now(const struct fsc_store *s);
int64_t fsc_store_new_id(
	struct fsc_store *s); /* 64-bit, positive, rising; unique across processes */
/* A consistent copy of the database to a file that must not exist (FSC_EEXIST); not synced. Unfinished uploads are not
 * in it, since their bytes are not. */
fsc_nodiscard enum fsc_status fsc_store_backup(struct fsc_store *s, const char *path,
					       struct fsc_err *err);

/* ---- projects ---- */
/* Id of a project by name; FSC_ENOTFOUND. */
fsc_nodiscard enum fsc_status fsc_store_project_find(struct fsc_store *s, const char *name,
						     int64_t *id, struct fsc_err *err);
/* Finds or makes it. Names are [a-z0-9][a-z0-9_-]{0,62} (FSC_EINVAL "project_name"). */
fsc_nodiscard enum fsc_status fsc_store_project_put(struct fsc_store *s, const char *name,
						    int64_t *id, struct fsc_err *err);
bool fsc_store_project_name_ok(const char *name);
/* As put, but FSC_EEXIST "project_exists" when there is one of that name. */
fsc_nodiscard enum fsc_status fsc_store_project_create(struct fsc_store *s, const char *name,
						       int64_t *id, struct fsc_err *err);
struct fsc_project {
	int64_t id;
	const char *name;
	int64_t created_at_ns;
};
struct fsc_projects {
	struct fsc_project *items; /* by name */
	size_t n_items;
};
fsc_nodiscard enum fsc_status fsc_store_project_list(struct fsc_store *s, struct fsc_arena *a,
						     struct fsc_projects *out, struct fsc_err *err);
fsc_nodiscard enum fsc_status fsc_store_project_name(struct fsc_store *s, struct fsc_arena *a,
						     int64_t id, const char **name,
						     struct fsc_err *err);

/* ---- bundles ---- */
enum fsc_bundle_state {
	FSC_BUNDLE_QUEUED,
	FSC_BUNDLE_INDEXING,
	FSC_BUNDLE_READY,
	FSC_BUNDLE_FAILED,
};
const char *fsc_bundle_state_name(enum fsc_bundle_state st); /* "queued" ... never NULL */

/* Upload metadata, also a mask of which were ignored because the bundle was there already. */
#define FSC_META_NAME 1u
#define FSC_META_JOB 2u
#define FSC_META_HOST 4u
#define FSC_META_RANK 8u
#define FSC_META_CAPTURE 16u

struct fsc_bundle_new {
	int64_t project;
	uint8_t sha256[FSC_SHA256_LEN];
	int64_t bytes;
	const char *name, *job, *host, *capture; /* NULL when not given */
	int64_t rank;				 /* -1 when not given */
	const char *idempotency_key;		 /* NULL when not given */
	int64_t upload; /* resumable upload that this ends, in the same transaction; 0 none */
};
struct fsc_bundle_put {
	int64_t id;
	enum fsc_bundle_state state;
	bool duplicate;	  /* the project had these bytes: no row was made */
	unsigned ignored; /* FSC_META_*: given now and different from what is kept */
	bool restored;	  /* its bytes had been let go: they count again */
	bool requeued;	  /* it had failed: it is queued again */
};
/* Row and queue row in one transaction, durable on return. Same (project, sha256) gives the existing row;
 * one whose bytes had been let go has them again, one that had failed is queued again.
 * FSC_EEXIST "idempotency_conflict": the key was used for other bytes. */
fsc_nodiscard enum fsc_status fsc_store_bundle_put(struct fsc_store *s,
						   const struct fsc_bundle_new *in,
						   struct fsc_bundle_put *out, struct fsc_err *err);
/* The bundle an idempotency key stands for; FSC_ENOTFOUND when the key is new. sha256 may be NULL. */
fsc_nodiscard enum fsc_status fsc_store_idempotency_find(struct fsc_store *s, int64_t project,
							 const char *key, int64_t *bundle,
							 uint8_t sha256[FSC_SHA256_LEN],
							 struct fsc_err *err);

struct fsc_bundle {
	int64_t id, project;
	uint8_t sha256[FSC_SHA256_LEN];
	char sha256_hex[FSC_SHA256_HEX];
	int64_t bytes;
	const char *name;		  /* "" when unknown */
	const char *job, *host, *capture; /* NULL when unknown */
	int64_t rank;			  /* -1 unknown */
	enum fsc_bundle_state state;
	int64_t received_at_ns;
	int64_t started_at_ns;	/* first try of the running or last indexing, 0 never */
	int64_t finished_at_ns; /* became ready or failed, 0 not yet */
	int64_t tries;
	const char *stage, *member; /* of the running indexing, "" when none */
	int64_t done, total, events;
	const char *
		err_code; /* NULL when there is none; also set on a ready bundle that was cut short */
	const char *err_message, *err_file;
	int64_t err_offset; /* -1 unknown */
	int64_t n_traces, n_failures;
	int64_t losses_kinds, losses_count; /* over its traces */
	int64_t deleted_traces; /* that a person deleted: indexing again does not bring them back */
	int64_t blob_deleted_at_ns; /* when retention let its bytes go, 0: they are kept */
};
fsc_nodiscard enum fsc_status fsc_store_bundle_get(struct fsc_store *s, struct fsc_arena *a,
						   int64_t project, int64_t id,
						   struct fsc_bundle *out, struct fsc_err *err);

struct fsc_bundle_query {
	int64_t project;
	const char *state;  /* NULL any */
	const char *cursor; /* NULL first page; FSC_EINVAL "cursor" when not ours */
	uint32_t limit;	    /* 1..FSC_STORE_PAGE_MAX; 0 = 50 */
};
struct fsc_bundle_page {
	struct fsc_bundle *items; /* newest first */
	size_t n_items;
	const char *next; /* NULL at the end */
	int64_t total;
};
fsc_nodiscard enum fsc_status fsc_store_bundle_list(struct fsc_store *s, struct fsc_arena *a,
						    const struct fsc_bundle_query *q,
						    struct fsc_bundle_page *out,
						    struct fsc_err *err);

/* A member of a bundle that gave no trace. */
struct fsc_failure {
	const char *file, *outcome; /* outcome: "failed" or "skipped" */
	const char *code, *message;
	int64_t offset; /* -1 unknown */
};
struct fsc_failures {
	struct fsc_failure *items;
	size_t n_items;
};
fsc_nodiscard enum fsc_status fsc_store_bundle_failures(struct fsc_store *s, struct fsc_arena *a,
							int64_t bundle, struct fsc_failures *out,
							struct fsc_err *err);

struct fsc_loss_row {
	const char *code;
	int64_t count;
	int64_t first_offset; /* byte of the unpacked file, -1 not known; -1 in sums over traces */
};
struct fsc_loss_rows {
	struct fsc_loss_row *items; /* most first */
	size_t n_items;
};
/* Summed over the traces of the bundle. */
fsc_nodiscard enum fsc_status fsc_store_bundle_losses(struct fsc_store *s, struct fsc_arena *a,
						      int64_t bundle, struct fsc_loss_rows *out,
						      struct fsc_err *err);

struct fsc_trace_ref {
	int64_t id;
	const char *name, *member, *format;
	int64_t slot, rank; /* rank -1 unknown */
};
struct fsc_trace_refs {
	struct fsc_trace_ref *items; /* by member, slot */
	size_t n_items;
};
fsc_nodiscard enum fsc_status fsc_store_bundle_traces(struct fsc_store *s, struct fsc_arena *a,
						      int64_t bundle, struct fsc_trace_refs *out,
						      struct fsc_err *err);

/* manifest.json of the bundle as the indexer found it; "" when there is none or it was not indexed yet. */
fsc_nodiscard enum fsc_status fsc_store_bundle_manifest(struct fsc_store *s, struct fsc_arena *a,
							int64_t bundle, const char **json,
							struct fsc_err *err);

/* Deleting: store/deletes.h. */

/* Queues it again; its traces stay as they are until the new ones are published. A bundle that is queued
 * already stays so (FSC_OK); one that is being indexed is FSC_EBUSY "bundle_indexing", one whose bytes were let
 * go FSC_ENOTFOUND "blob_gone". */
fsc_nodiscard enum fsc_status fsc_store_bundle_reindex(struct fsc_store *s, int64_t project,
						       int64_t id, struct fsc_err *err);

struct fsc_progress {
	const char *stage, *member;
	int64_t done, total, events;
};
/* Seen by bundle_get; callers limit their rate. Ignored when the bundle is gone or not being indexed. */
fsc_nodiscard enum fsc_status fsc_store_bundle_progress(struct fsc_store *s, int64_t bundle,
							const struct fsc_progress *p,
							struct fsc_err *err);

/* ---- publishing what an indexer found ---- */
struct fsc_store_lease; /* store/queue.h */

/* One trace of the fact stream, in stream order. Its id comes from fsc_store_trace_id. */
struct fsc_publish_trace {
	int64_t id;
	int64_t segment; /* name of its new segment file, from fsc_store_new_id */
	int64_t segment_bytes;
};
struct fsc_publish {
	int64_t bundle;
	/* Checked and completed in the same transaction; NULL for a publish without a job. */
	const struct fsc_store_lease *lease;
	const struct fsc_publish_trace *traces; /* n-th TRACE frame gets the n-th of these */
	size_t n_traces;
	/* The facts in stream order, FSC_END after the last. Called on another thread; strings need to live
	 * until the next call. Never called again after anything but FSC_OK. */
	enum fsc_status (*next)(void *ctx, struct fsc_fact *f, struct fsc_err *err);
	void *ctx;
};
struct fsc_published {
	enum fsc_bundle_state state;
	int64_t *
		removed; /* segments the bundle's traces had before, or have for nobody: their files may go */
	size_t n_removed;
	struct fsc_err why; /* of a failed bundle, as it is kept */
};
/*
 * Replaces everything derived from the bundle in ONE transaction, and sets its state: ready when there is at
 * least one trace, else failed with the error of the END frame, the first failed member, "traces_deleted" or
 * "no_traces". Traces that a person deleted out of the bundle are passed over, and their new segments are among
 * the removed. Traces that the bundle had and the stream has not leave a tombstone (store/deletes.h);
 * but a stream without any trace leaves those of before as they are, and the bundle failed.
 * FSC_ECANCELED "lease_lost": the lease is not this one's any more, nothing was written. FSC_ENOTFOUND: the
 * bundle was deleted. FSC_EPARSE "facts": the stream does not hold together (more TRACE frames than ids,
 * the same member and slot twice).
 */
fsc_nodiscard enum fsc_status fsc_store_publish(struct fsc_store *s, struct fsc_arena *a,
						const struct fsc_publish *in,
						struct fsc_published *out, struct fsc_err *err);
/* The id that (bundle, member, slot) has, or had before an indexing did not find it any more; or a new one (not
 * stored yet; *known false). */
fsc_nodiscard enum fsc_status fsc_store_trace_id(struct fsc_store *s, int64_t bundle,
						 const char *member, int64_t slot, int64_t *id,
						 bool *known, struct fsc_err *err);

/* ---- traces ---- */
struct fsc_trace_row {
	int64_t id, project, bundle;
	const char *bundle_name;
	const char *name, *member, *format;
	int64_t slot;
	const char *job, *host, *capture; /* NULL when unknown */
	int64_t rank, world_size;	  /* -1 unknown */
	bool has_epoch;
	int64_t t_base_ns, t_min_ns, t_max_ns;
	int64_t slices, instants, flows, counters, tracks, events;
	int64_t launch_pairs, launch_none, launch_ambiguous;
	const char *meta_json;		  /* JSON object text, "" when none; NULL in lists */
	const char *source_disagreements; /* as the indexer said it; NULL in lists */
	int64_t segment;		  /* name of its segment file */
	int64_t blob_bytes, segment_bytes, segment_version, analysis_version;
	/* Parts per million of the GPU window, over all devices, scope all; -1 without GPU work. */
	int64_t gpu_busy_ppm, exposed_comm_ppm;
	bool synthetic;
	int64_t losses_kinds, losses_count;
	int64_t received_at_ns;
	int64_t indexed_at_ns; /* changes with every publish: good for an ETag */
	bool keep;	       /* retention passes over it (store/notes.h) */
	int64_t blob_deleted_at_ns; /* when its upload was let go: it cannot be indexed again; 0 = it is there */
};
fsc_nodiscard enum fsc_status fsc_store_trace_get(struct fsc_store *s, struct fsc_arena *a,
						  int64_t project, int64_t id,
						  struct fsc_trace_row *out, struct fsc_err *err);

enum fsc_trace_sort {
	FSC_SORT_RECEIVED, /* default */
	FSC_SORT_STARTED,  /* recorded at; traces without an epoch sort as oldest */
	FSC_SORT_DURATION,
	FSC_SORT_SLICES,
	FSC_SORT_BYTES,
	FSC_SORT_GPU_BUSY,
	FSC_SORT_EXPOSED_COMM,
	FSC_SORT_LOSSES,
	FSC_SORT_RANK,
	FSC_SORT_NAME,
	FSC_SORT_JOB,
	FSC_SORT_HOST,
	FSC_SORT_STATE,
};
/* Names in URLs: "received" "started" "duration" "slices" "bytes" "gpu_busy" "exposed_comm" "losses" "rank"
 * "name" "job" "host" "state". False for another. */
fsc_nodiscard bool fsc_trace_sort_parse(enum fsc_trace_sort *out, const char *s);

struct fsc_filter {
	const char *v[FSC_STORE_FILTER_MAX]; /* any of these; "" stands for unknown */
	size_t n;			     /* 0 = no filter */
};
struct fsc_trace_query {
	int64_t project;
	/* Words, all of which must occur in name, file, job, host or capture, or in a kernel's name. */
	const char *q;			    /* NULL or "" = any */
	struct fsc_filter state, job, host; /* state: "queued" "indexing" "ready" "failed" */
	struct fsc_filter capture;
	bool only_kept;
	enum fsc_trace_sort sort;
	bool ascending;
	const char *cursor; /* FSC_EINVAL "cursor" when not ours or made for another sort */
	uint32_t limit;	    /* 1..FSC_STORE_PAGE_MAX; 0 = 50 */
};
/* A ready trace, or a bundle that has none yet (queued, indexing, failed): then has_trace is false, and of
 * `t` only bundle, project, name, job, host, capture, rank, received_at_ns and blob_bytes are meaningful. */
struct fsc_trace_item {
	bool has_trace;
	struct fsc_trace_row t;
	enum fsc_bundle_state state;
	/* without a trace only: */
	const char *stage, *member;
	int64_t done, total, events, started_at_ns;
	int64_t finished_at_ns;			       /* of one that failed, 0 not yet */
	const char *err_code, *err_message, *err_file; /* code NULL when none */
	int64_t err_offset;
};
struct fsc_facet_value {
	const char *value; /* "" unknown */
	int64_t count;
};
struct fsc_facet {
	struct fsc_facet_value *items; /* most first, at most FSC_STORE_FACET_MAX */
	size_t n_items;
	int64_t other_values, other_count; /* what was cut */
};
struct fsc_trace_page {
	struct fsc_trace_item *items;
	size_t n_items;
	const char *next; /* NULL at the end */
	int64_t total;	  /* rows that match, over all pages */
	/* Each counted with every filter but its own. */
	struct fsc_facet state, job, host;
};
fsc_nodiscard enum fsc_status fsc_store_trace_list(struct fsc_store *s, struct fsc_arena *a,
						   const struct fsc_trace_query *q,
						   struct fsc_trace_page *out, struct fsc_err *err);

/* The rows below belong to a trace the caller has already found with fsc_store_trace_get. */
struct fsc_category_row {
	const char *name;
	int64_t count, sum_ns;
};
struct fsc_category_rows {
	struct fsc_category_row *items; /* most time first */
	size_t n_items;
};
fsc_nodiscard enum fsc_status fsc_store_trace_categories(struct fsc_store *s, struct fsc_arena *a,
							 int64_t trace,
							 struct fsc_category_rows *out,
							 struct fsc_err *err);
fsc_nodiscard enum fsc_status fsc_store_trace_losses(struct fsc_store *s, struct fsc_arena *a,
						     int64_t trace, struct fsc_loss_rows *out,
						     struct fsc_err *err);
struct fsc_device_rows {
	struct fsc_fact_device *items; /* by device */
	size_t n_items;
};
fsc_nodiscard enum fsc_status fsc_store_trace_devices(struct fsc_store *s, struct fsc_arena *a,
						      int64_t trace, enum fsc_scope scope,
						      struct fsc_device_rows *out,
						      struct fsc_err *err);
struct fsc_idle_rows {
	struct fsc_fact_idle *items; /* by device, stream */
	size_t n_items;
};
fsc_nodiscard enum fsc_status fsc_store_trace_idle(struct fsc_store *s, struct fsc_arena *a,
						   int64_t trace, enum fsc_scope scope,
						   struct fsc_idle_rows *out, struct fsc_err *err);
struct fsc_step_rows {
	struct fsc_fact_step *items; /* by idx */
	size_t n_items;
};
fsc_nodiscard enum fsc_status fsc_store_trace_steps(struct fsc_store *s, struct fsc_arena *a,
						    int64_t trace, struct fsc_step_rows *out,
						    struct fsc_err *err);

enum fsc_kernel_sort {
	FSC_KERNEL_SUM, /* default, most first */
	FSC_KERNEL_COUNT,
	FSC_KERNEL_MEAN,
	FSC_KERNEL_MIN,
	FSC_KERNEL_MAX,
	FSC_KERNEL_NAME,
};
/* "sum" "count" "mean" "min" "max" "name". */
fsc_nodiscard bool fsc_kernel_sort_parse(enum fsc_kernel_sort *out, const char *s);
struct fsc_kernel_query {
	int64_t trace;
	enum fsc_scope scope;
	const char *q; /* words that must all occur in the name; NULL any */
	enum fsc_kernel_sort sort;
	bool ascending;
	const char *cursor;
	uint32_t limit; /* 0 = no limit: every kernel, no cursor */
};
struct fsc_kernel_page {
	struct fsc_fact_kernel *items;
	size_t n_items;
	const char *next;
	int64_t total;			   /* rows that match */
	int64_t total_count, total_sum_ns; /* over the rows that match */
};
fsc_nodiscard enum fsc_status fsc_store_trace_kernels(struct fsc_store *s, struct fsc_arena *a,
						      const struct fsc_kernel_query *q,
						      struct fsc_kernel_page *out,
						      struct fsc_err *err);

/* ---- tokens ---- */
#define FSC_SCOPE_BIT_READ 1u
#define FSC_SCOPE_BIT_UPLOAD 2u
#define FSC_SCOPE_BIT_CAPTURE 4u
#define FSC_SCOPE_BIT_ADMIN 8u

struct fsc_token_new {
	int64_t project;
	const char *name;
	unsigned scopes;		       /* FSC_SCOPE_BIT_* */
	uint8_t secret_sha256[FSC_SHA256_LEN]; /* the secret itself is never stored */
	int64_t expires_at_ns;		       /* 0 never */
	const char *prefix, *created_by;       /* first characters of the secret; actor; or NULL */
};
struct fsc_token {
	int64_t id, project;
	const char *project_name, *name;
	unsigned scopes;
	int64_t created_at_ns, expires_at_ns, last_used_at_ns, revoked_at_ns; /* 0 = never */
	const char *prefix, *created_by; /* "" when not known */
};
/* FSC_EEXIST when the secret's digest is known. */
fsc_nodiscard enum fsc_status fsc_store_token_put(struct fsc_store *s,
						  const struct fsc_token_new *in, int64_t *id,
						  struct fsc_err *err);
/* FSC_ENOTFOUND: unknown, revoked or expired. */
fsc_nodiscard enum fsc_status fsc_store_token_find(struct fsc_store *s, struct fsc_arena *a,
						   const uint8_t secret_sha256[FSC_SHA256_LEN],
						   struct fsc_token *out, struct fsc_err *err);
struct fsc_tokens {
	struct fsc_token *items; /* newest first */
	size_t n_items;
};
fsc_nodiscard enum fsc_status fsc_store_token_list(struct fsc_store *s, struct fsc_arena *a,
						   int64_t project, bool with_revoked,
						   struct fsc_tokens *out, struct fsc_err *err);
fsc_nodiscard enum fsc_status fsc_store_token_revoke(struct fsc_store *s, int64_t project,
						     int64_t id, struct fsc_err *err);
/* Remembers the use; callers limit the rate (once a minute is enough). */
fsc_nodiscard enum fsc_status fsc_store_token_used(struct fsc_store *s, int64_t id, int64_t at_ns,
						   struct fsc_err *err);
fsc_nodiscard enum fsc_status fsc_store_token_count(struct fsc_store *s, int64_t *n,
						    struct fsc_err *err); /* live, all projects */

/* ---- audit, settings ---- */
struct fsc_audit {
	int64_t id, project, at_ns;	       /* id and at_ns are set by the store */
	const char *actor;		       /* "token:<id>", "user:<name>", "loopback", "cli" */
	const char *action;		       /* "token.create", "bundle.delete", ... */
	const char *subject, *detail, *remote; /* "" when none */
};
fsc_nodiscard enum fsc_status fsc_store_audit_put(struct fsc_store *s, const struct fsc_audit *in,
						  struct fsc_err *err);
struct fsc_audit_query {
	int64_t project;
	const char *action; /* NULL any; "token." means all that begin so */
	const char *cursor; /* NULL first page; FSC_EINVAL "cursor" when not ours */
	uint32_t limit;	    /* 1..FSC_STORE_PAGE_MAX; 0 = 50 */
};
struct fsc_audit_page {
	struct fsc_audit *items; /* newest first */
	size_t n_items;
	const char *next; /* NULL at the end */
	int64_t total;	  /* rows that match, over all pages */
};
fsc_nodiscard enum fsc_status fsc_store_audit_list(struct fsc_store *s, struct fsc_arena *a,
						   const struct fsc_audit_query *q,
						   struct fsc_audit_page *out, struct fsc_err *err);
/* Small values of the installation (keys for cookies and the like), not of a project. FSC_ENOTFOUND. */
fsc_nodiscard enum fsc_status fsc_store_setting_get(struct fsc_store *s, struct fsc_arena *a,
						    const char *key, const uint8_t **value,
						    size_t *n, struct fsc_err *err);
/* Keeps the value that is there when `only_new`, and returns OK; read it back to see which won. */
fsc_nodiscard enum fsc_status fsc_store_setting_put(struct fsc_store *s, const char *key,
						    const void *value, size_t n, bool only_new,
						    struct fsc_err *err);

/* ---- figures of the server, and what the sweep asks ---- */
struct fsc_store_stats {
	int64_t bundles[4]; /* by enum fsc_bundle_state */
	int64_t traces, slices;
	int64_t blob_bytes; /* of distinct blobs */
	int64_t segment_bytes, database_bytes;
	int64_t jobs_waiting, jobs_running;
	int64_t oldest_waiting_at_ns; /* 0 when none waits */
	/* writes since open */
	uint64_t commits, writes, busy;
};
/* Over all projects. */
fsc_nodiscard enum fsc_status fsc_store_stats(struct fsc_store *s, struct fsc_store_stats *out,
					      struct fsc_err *err);
fsc_nodiscard enum fsc_status fsc_store_blob_referenced(struct fsc_store *s,
							const uint8_t sha256[FSC_SHA256_LEN],
							bool *yes, struct fsc_err *err);
fsc_nodiscard enum fsc_status fsc_store_segment_referenced(struct fsc_store *s, int64_t segment,
							   bool *yes, struct fsc_err *err);

#endif
