/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One file through /api/v1/uploads: in pieces, going on after cuts and restarts of the server, and after a kill of
 * this program too, since the server finds the upload by its Idempotency-Key. Owner thread.
 */
#ifndef FSC_COLLECTOR_CLI_PIECES_H
#define FSC_COLLECTOR_CLI_PIECES_H

#include "collector/cli/transport.h"

#define FSC_CLI_PIECE_BYTES (16u << 20)

struct fsc_cli_pieces {
	const char *query; /* "?name=...", of the request that begins the upload */
	int fd;		   /* borrowed, read by position */
	uint64_t bytes;
	const char *digest_b64, *key; /* as in struct fsc_cli_upload */
	uint64_t retries;	      /* tries in a row that bring no byte further */
	void *ctx;
	void (*progress)(void *ctx, uint64_t done, uint64_t total);
	void (*say)(void *ctx, const char *text); /* why nothing moves */
};
/* *a is the last answer, to be ended with fsc_cli_answer_fini: 202 with the bundle when all went well, 404 or
 * 405 with *unknown when the server does not know resumable uploads. */
void fsc_cli_send_pieces(struct fsc_cli_answer *a, bool *unknown, struct fsc_cli_transport *t,
			 const struct fsc_cli_pieces *p);

#endif
