/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by ingest.c (bytes come), ingest_sweep.c and removal.c (bytes go). Whoever makes a blob appear or vanish holds
 * its digest meanwhile, so that an upload never gets its row while a delete takes the file away. Private to
 * server/service/{ingest*,removal}.c.
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

#endif
