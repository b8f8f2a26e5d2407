/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of the collector to its server, over libcurl: one try each, no retries here. The answer is read
 * as JSON of at most FSC_MAX_CONTROL_JSON bytes. A transport belongs to one thread.
 */
#ifndef FSC_COLLECTOR_CLI_TRANSPORT_H
#define FSC_COLLECTOR_CLI_TRANSPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct fsc_cli_transport;

struct fsc_cli_answer {
	long status;	       /* HTTP status, 0 when there was no answer */
	json_t *body;	       /* owned; NULL when the body was no JSON object */
	long retry_after_s;    /* -1 when not given */
	char transport[160];   /* why there was no answer, "" when there was one */
	char location[160];    /* header, "" when not given or longer */
	int64_t upload_offset; /* header, -1 when not given */
};

/* A request with headers of its own. */
struct fsc_cli_request {
	const char *method, *path;  /* path begins with '/' */
	const char *const *headers; /* "Name: value", ends with NULL; or NULL */
	int fd;			    /* body: `bytes` of it from `offset` on; borrowed */
	uint64_t offset, bytes;
	uint64_t total; /* for progress: offset and bytes are of this */
	void *ctx;
	void (*progress)(void *ctx, uint64_t done, uint64_t total); /* may be NULL */
};

struct fsc_cli_upload {
	int fd; /* borrowed, read from offset 0 */
	uint64_t bytes;
	const char *digest_b64;	     /* sha-256 of the file, base64 */
	const char *idempotency_key; /* same key, same file: the server answers as the first time */
	void *ctx;
	void (*progress)(void *ctx, uint64_t done, uint64_t total);
};

/* server: "http://host:port"; token NULL or a bearer token. Aborts only when memory is gone. */
struct fsc_cli_transport *fsc_cli_transport_new(const char *server, const char *token);
void fsc_cli_transport_free(struct fsc_cli_transport *t);

/* path begins with '/'. The answer must be ended with fsc_cli_answer_fini. */
void fsc_cli_get(struct fsc_cli_answer *a, struct fsc_cli_transport *t, const char *path);
void fsc_cli_post_file(struct fsc_cli_answer *a, struct fsc_cli_transport *t, const char *path,
		       const struct fsc_cli_upload *up);
void fsc_cli_request(struct fsc_cli_answer *a, struct fsc_cli_transport *t,
		     const struct fsc_cli_request *r);
void fsc_cli_answer_fini(struct fsc_cli_answer *a);
/* Worth trying again: no answer, or 408, 425, 429, 500, 502, 503, 504. */
bool fsc_cli_answer_is_temporary(const struct fsc_cli_answer *a);
/* Percent-encoded for a query value; fsc_free'd by the caller. */
char *fsc_cli_escape(struct fsc_cli_transport *t, const char *s);

#endif
