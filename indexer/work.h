/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The indexer's work inside the sandbox: walks the bundle on one descriptor, reads every member, and tells the
 * parent on another what came of it. Owner thread.
 */
#ifndef FSC_INDEXER_WORK_H
#define FSC_INDEXER_WORK_H

#include <stdint.h>

#include "base/err.h"
#include "indexer/identity.h"

struct fsc_work {
	int socket_fd, blob_fd;	    /* borrowed */
	const char *name;	    /* of the file, for people */
	struct fsc_identity upload; /* what the upload said */
	uint8_t blob_sha256[32];    /* zero when unknown */
};

/*
 * Lets every library that is used inside do now what needs files: configuration, character sets, hash seeds.
 * Before the sandbox, on bytes of our own.
 */
void fsc_work_warm_up(void);

/*
 * Exit status of the child: FSC_INDEXER_EXIT_*. The parent has been told everything by END, except when it is
 * gone, or when the host's trouble (err says which) ended the work: FSC_INDEXER_EXIT_FULL and _IO.
 */
int fsc_work_run(const struct fsc_work *w, struct fsc_err *err);

#endif
