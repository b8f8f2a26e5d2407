/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking bundles and traces away, and what is remembered of them: a tombstone per bundle and trace, written in
 * the transaction that deletes, says when, why and by whom. Thread rule, ownership and common errors:
 * store/store.h.
 *
 * Rules that hold whoever deletes: the last trace of a bundle takes the bundle along. What is kept (store/notes.h)
 * goes only when the request says so, checked in the transaction that deletes. A single trace that a person
 * deleted (reason "user") does not come back when its bundle is indexed again.
 */
#ifndef FSC_STORE_DELETES_H
#define FSC_STORE_DELETES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/crypto.h"
#include "base/err.h"

struct fsc_store;

enum fsc_delete_reason {
	FSC_DELETE_USER,
	FSC_DELETE_AGE,	    /* retention: too old */
	FSC_DELETE_BYTES,   /* retention: too much */
	FSC_DELETE_REINDEX, /* indexing again did not find it; written by fsc_store_publish */
};
const char *fsc_delete_reason_name(enum fsc_delete_reason r); /* "user" "age" "bytes" "reindex" */

/* A whole bundle (trace 0), or one trace (then bundle is not looked at). */
struct fsc_delete_unit {
	int64_t bundle, trace;
};
struct fsc_delete_request {
	int64_t project;
	int64_t bundle, trace; /* as in a unit; not looked at by fsc_store_delete_some */
	enum fsc_delete_reason reason;
	const char *actor; /* who: "loopback", "token:5", "retention" */
	const char *
		detail; /* more of why, for people: "job train-7", "older than 30 days"; NULL or "" none */
	bool kept; /* also what is kept */
};

struct fsc_deleted_blob {
	uint8_t sha256[FSC_SHA256_LEN];
	int64_t bytes;
};
/* What a delete took away. The rows are gone: the files of these are for nobody any more. Before a blob's file
 * goes ask fsc_store_blob_referenced once more with its digest held (service/removal.h does): the same bytes
 * may have come again. */
struct fsc_bundle_deleted {
	int64_t bundles, traces; /* with the traces of the bundles */
	int64_t kept;		 /* units passed over because something in them is kept */
	int64_t missing;	 /* units that were not there */
	int64_t segment_bytes;	 /* of the segments */
	int64_t blob_bytes; /* of the uploads, also when another project keeps the same bytes */
	struct fsc_deleted_blob *blobs; /* that no bundle of any project refers to any more */
	size_t n_blobs;
	int64_t *segments;
	size_t n_segments;
	size_t n_units; /* of the units given, those that were dealt with; the others were not looked at */
};

/*
 * Deletes one unit with its facts, notes and job; a worker that is indexing the bundle loses its lease (a single
 * trace of several: the worker goes on, and the trace is passed over when it publishes). FSC_ENOTFOUND
 * "not_found". FSC_EEXIST "kept": it, or a trace in it, is kept and the request does not say `kept`.
 */
fsc_nodiscard enum fsc_status fsc_store_delete(struct fsc_store *s, struct fsc_arena *a,
					       const struct fsc_delete_request *req,
					       struct fsc_bundle_deleted *out, struct fsc_err *err);
/* As many of the units as can be done in about max_ns (at least one), in one transaction. What is kept or not
 * there is counted and no error. */
fsc_nodiscard enum fsc_status fsc_store_delete_some(struct fsc_store *s, struct fsc_arena *a,
						    const struct fsc_delete_request *req,
						    const struct fsc_delete_unit *units,
						    size_t n_units, int64_t max_ns,
						    struct fsc_bundle_deleted *out,
						    struct fsc_err *err);

/* ---- what a delete would take ---- */
#define FSC_DELETE_ITEMS_MAX 500

/* Exactly one of bundle, trace, job, capture. A job or capture takes the traces that carry its name, and bundles
 * without a trace that do; a bundle all of whose traces go goes as a whole. */
struct fsc_delete_target {
	int64_t project;
	int64_t bundle, trace;	   /* 0 = not this */
	const char *job, *capture; /* NULL = not this; "" = unknown */
	bool kept;		   /* also what is kept */
};
struct fsc_delete_item {
	int64_t bundle, trace; /* trace 0: the whole bundle */
	const char *name;
	int64_t bytes; /* blob (when freed) and segments */
	bool keep;     /* it, or a trace in it, is kept: it stays unless the target says kept */
};
struct fsc_delete_plan {
	struct fsc_delete_unit *units; /* to be given to fsc_store_delete_some, in this order */
	size_t n_units;
	int64_t bundles, traces; /* that would go */
	int64_t kept;		 /* traces that would stay because they are kept */
	int64_t blob_bytes; /* of the uploads, also when another project keeps the same bytes */
	int64_t segment_bytes;
	struct fsc_delete_item *items; /* the first ones, also those that stay */
	size_t n_items;
	bool truncated; /* there are more items than these */
};
/* FSC_ENOTFOUND "not_found" for a bundle or trace; a job or capture that nothing carries is an empty plan. */
fsc_nodiscard enum fsc_status fsc_store_delete_plan(struct fsc_store *s, struct fsc_arena *a,
						    const struct fsc_delete_target *t,
						    struct fsc_delete_plan *out,
						    struct fsc_err *err);

/* ---- what was there ---- */
struct fsc_tombstone {
	int64_t id;
	bool is_bundle; /* else a trace */
	int64_t bundle; /* of a trace: where it was */
	const char *member, *name;
	int64_t slot;
	int64_t deleted_at_ns;
	enum fsc_delete_reason reason;
	const char *actor, *detail; /* detail may be "" */
};
/* FSC_ENOTFOUND "not_found": nothing with this id was deleted in the project. */
fsc_nodiscard enum fsc_status fsc_store_tombstone_get(struct fsc_store *s, struct fsc_arena *a,
						      int64_t project, bool is_bundle, int64_t id,
						      struct fsc_tombstone *out,
						      struct fsc_err *err);

#endif
