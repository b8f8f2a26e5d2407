/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by uploads.c (the table of uploads that go on), uploads_piece.c (bytes come) and uploads_sweep.c (they
 * go). Private to server/service/uploads*.
 *
 * An upload is in the table from its first touch in this process until it ends, so that the state of its hash is
 * not lost between pieces. Work that waits for the disk is done with `busy` set and the lock open: callers on an
 * I/O thread are then refused instead of waiting.
 */
#ifndef FSC_SERVICE_UPLOADS_INT_H
#define FSC_SERVICE_UPLOADS_INT_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/arena.h"
#include "service/ingest_int.h"
#include "service/uploads.h"
#include "store/blob.h"
#include "store/uploads.h"

#define FSC_UPLOAD_BUCKETS 1024

struct fsc_session {
	struct fsc_uploads *u;	   /* borrowed */
	struct fsc_session *next;  /* in its bucket; guarded by the table's lock */
	unsigned refs;		   /* guarded by the table's lock */
	atomic_bool stored;	   /* its row is in the store */
	atomic_bool ended;	   /* gone or completed: leaves the table with its last reference */
	pthread_mutex_t lock;	   /* guards everything below; not held while syncing or hashing */
	pthread_cond_t idle;	   /* busy became false */
	bool busy;		   /* someone works on put without the lock */
	bool gone;		   /* cancelled, expired or lost */
	uint64_t writer;	   /* number of the piece that may write, 0 none */
	struct fsc_blob_put *put;  /* owned; NULL until it is needed */
	struct fsc_upload_row row; /* strings in arena */
	struct fsc_arena arena;
	uint64_t promised; /* its part of what ingest has promised */
	uint64_t next_look;
	int64_t touched_ns; /* monotonic */
};

struct fsc_uploads {
	struct fsc_uploads_opts o;
	pthread_mutex_t lock; /* guards buckets, next and refs of sessions; never held during I/O */
	struct fsc_session *buckets[FSC_UPLOAD_BUCKETS];
	_Atomic uint64_t pieces; /* begun since start-up; numbers the writers */
	_Atomic uint64_t begun, completed, cut, superseded, cancelled, expired, expired_bytes;
};

/* ---- uploads.c ---- */
/* The upload with a reference; "no_such_upload". A completed one has row.bundle set. */
fsc_nodiscard enum fsc_status fsc_session_get(struct fsc_session **out, struct fsc_uploads *u,
					      int64_t project, int64_t id, struct fsc_err *err);
/* The same, also when it has expired. */
fsc_nodiscard enum fsc_status fsc_session_any(struct fsc_session **out, struct fsc_uploads *u,
					      int64_t project, int64_t id, struct fsc_err *err);
/* Lock held. Never while somebody writes: the end of a piece gives more time. */
bool fsc_session_expired(const struct fsc_session *s);
/* A new one, not in the store yet. */
fsc_nodiscard struct fsc_session *fsc_session_new(struct fsc_uploads *u,
						  const struct fsc_upload_row *row);
void fsc_session_unref(struct fsc_session *s);
/* Lock held: waits a little for busy to end. FSC_EBUSY "upload_busy". */
fsc_nodiscard enum fsc_status fsc_session_wait(struct fsc_session *s, struct fsc_err *err);
/* Lock held: opens the part when it is not. "no_such_upload" when it is lost. */
fsc_nodiscard enum fsc_status fsc_session_open(struct fsc_session *s, struct fsc_err *err);
/* Lock held, not busy; opens the lock meanwhile: what was written is durable. An upload whose bytes the disk has lost
 * ("part_lost") is gone. */
fsc_nodiscard enum fsc_status fsc_session_sync(struct fsc_session *s, struct fsc_err *err);
/* Lock held, not busy; opens the lock meanwhile: row and part go. On failure all is as it was. */
fsc_nodiscard enum fsc_status fsc_session_remove(struct fsc_session *s, struct fsc_err *err);
/* Lock held. */
void fsc_session_unpromise(struct fsc_session *s, uint64_t bytes);
void fsc_session_state(const struct fsc_session *s, struct fsc_upload_state *out);
enum fsc_status fsc_uploads_none(struct fsc_err *err);
/* In no order; no lock is held during fn, a reference is. Those that come or go meanwhile may be left out. */
void fsc_uploads_each(struct fsc_uploads *u, void (*fn)(struct fsc_session *s, void *ctx),
		      void *ctx);
bool fsc_uploads_knows(struct fsc_uploads *u, int64_t id);

#endif
