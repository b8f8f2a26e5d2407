/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by ingest.c (bytes come), uploads*.c (they come in several sittings), ingest_sweep.c and removal.c (bytes
 * go). Whoever makes a blob appear or vanish holds its digest meanwhile, so that an upload never gets its row
 * while a delete takes the file away. Private to server/service.
 */
#ifndef FSC_SERVICE_INGEST_INT_H
#define FSC_SERVICE_INGEST_INT_H

#include <pthread.h>
#include <stdatomic.h>

#include "service/ingest.h"

struct fsc_ingest_hold { /* on the stack of the holder */
	uint8_t sha256[FSC_SHA256_LEN];
	struct fsc_ingest_hold *next;
};

struct fsc_ingest {
	struct fsc_ingest_opts o;
	pthread_mutex_t lock; /* guards holds; never held during I/O */
	pthread_cond_t released;
	struct fsc_ingest_hold *holds; /* borrowed */
	/* Bytes that uploads under way may still take from the disk. The disk does not know of them yet. */
	_Atomic uint64_t promised;
};

/* Waits until nobody else holds this digest. */
void fsc_ingest_hold(struct fsc_ingest *in, struct fsc_ingest_hold *h,
		     const uint8_t sha256[FSC_SHA256_LEN]);
void fsc_ingest_release(struct fsc_ingest *in, struct fsc_ingest_hold *h);

/* ---- room on the disk ---- */
/* How often an upload looks whether the disk still has room, and what one of unknown length is taken to need. */
#define FSC_INGEST_STEP_BYTES (256ULL << 20)
/* What an upload of this length (-1 unknown) will take, with its segments. */
uint64_t fsc_ingest_need(int64_t length);
/* Counts bytes that will be written. FSC_EFULL "disk_full": there is no room for them and all others promised. */
fsc_nodiscard enum fsc_status fsc_ingest_promise(struct fsc_ingest *in, uint64_t bytes,
						 struct fsc_err *err);
/* They are written, or will not be. */
void fsc_ingest_unpromise(struct fsc_ingest *in, uint64_t bytes);

/* Metadata, length and limit of an upload that begins; the codes of fsc_ingest_begin. */
fsc_nodiscard enum fsc_status fsc_ingest_check(struct fsc_ingest *in,
					       const struct fsc_upload_begin *b,
					       struct fsc_err *err);
fsc_nodiscard enum fsc_status fsc_ingest_too_large(const struct fsc_ingest *in,
						   struct fsc_err *err);
struct fsc_blob_put;
/* Takes a finished put: blob, then row and queue row, and wakes the workers. Durable on FSC_OK. */
fsc_nodiscard enum fsc_status fsc_ingest_keep(struct fsc_ingest *in, struct fsc_blob_put *put,
					      const struct fsc_bundle_new *row,
					      struct fsc_upload_done *out, struct fsc_err *err);

#endif
