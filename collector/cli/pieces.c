/* SPDX-License-Identifier: Apache-2.0 */
/* Uploads in pieces; see the header. */
#include "collector/cli/pieces.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/attr.h"
#include "base/limits.h"
#include "collector/cli/backoff.h"

#define PREFIX "/api/v1/uploads/"
#define STARTS_MAX 4 /* an upload may expire under us, but not for ever */

struct sending {
	struct fsc_cli_transport *t;
	const struct fsc_cli_pieces *p;
	char at[160];	 /* path of the upload, "" when there is none */
	bool known;	 /* offset is where the upload is */
	uint64_t offset; /* there, or where it was last */
	uint64_t farthest;
	uint64_t attempt; /* in a row without a byte more */
	unsigned starts;  /* uploads that the server began for us */
	bool stuck;	  /* it took a piece and is no further */
};

static void request(struct fsc_cli_answer *a, struct sending *s, struct fsc_cli_request *r,
		    const char *path)
{
	r->path = path;
	r->ctx = s->p->ctx;
	r->progress = s->p->progress;
	r->fd = s->p->fd;
	r->total = s->p->bytes;
	fsc_cli_request(a, s->t, r);
}

static void begin(struct fsc_cli_answer *a, struct sending *s)
{
	char *path = fsc_xasprintf("/api/v1/uploads%s", s->p->query);
	char *length = fsc_xasprintf("Upload-Length: %llu", (unsigned long long)s->p->bytes);
	char *digest = fsc_xasprintf("Repr-Digest: sha-256=:%s:", s->p->digest_b64);
	char *key = fsc_xasprintf("Idempotency-Key: \"%s\"", s->p->key);
	const char *headers[] = { "Upload-Complete: ?0", length, digest, key, NULL };
	struct fsc_cli_request r = { .method = "POST", .headers = headers };

	s->stuck = false;
	request(a, s, &r, path);
	if (a->status == 201 && !strncmp(a->location, PREFIX, strlen(PREFIX))) {
		s->starts++;
		memcpy(s->at, a->location, sizeof(s->at));
		s->known = a->upload_offset >= 0;
		s->offset = s->known ? (uint64_t)a->upload_offset : 0;
	}
	fsc_free(path);
	fsc_free(length);
	fsc_free(digest);
	fsc_free(key);
}

static void ask(struct fsc_cli_answer *a, struct sending *s)
{
	struct fsc_cli_request r = { .method = "HEAD" };
	char text[96];

	s->stuck = false;
	request(a, s, &r, s->at);
	if (a->status != 204 || a->upload_offset < 0)
		return;
	s->known = true;
	s->offset = (uint64_t)a->upload_offset;
	snprintf(text, sizeof(text), "connection lost, resuming from %llu MiB",
		 (unsigned long long)(s->offset / FSC_MIB));
	s->p->say(s->p->ctx, text);
}

static void send_piece(struct fsc_cli_answer *a, struct sending *s)
{
	uint64_t left = s->offset < s->p->bytes ? s->p->bytes - s->offset : 0;
	uint64_t n = left < FSC_CLI_PIECE_BYTES ? left : FSC_CLI_PIECE_BYTES;
	char *offset = fsc_xasprintf("Upload-Offset: %llu", (unsigned long long)s->offset);
	const char *headers[] = { "Content-Type: application/partial-upload", offset,
				  n == left ? "Upload-Complete: ?1" : "Upload-Complete: ?0", NULL };
	struct fsc_cli_request r = {
		.method = "PATCH", .headers = headers, .offset = s->offset, .bytes = n
	};

	request(a, s, &r, s->at);
	fsc_free(offset);
	/* Where it is now is only known when the server said so. */
	s->known = a->upload_offset >= 0 && (a->status == 204 || a->status == 409);
	s->stuck = s->known && a->status == 204 && (uint64_t)a->upload_offset <= s->offset;
	if (s->known)
		s->offset = (uint64_t)a->upload_offset;
}

static bool has_code(const struct fsc_cli_answer *a, const char *code)
{
	const char *have =
		json_string_value(json_object_get(json_object_get(a->body, "error"), "code"));

	return have && !strcmp(have, code);
}

/* Nothing was wrong with what we sent: the same upload can go on later. */
static bool goes_on_later(const struct fsc_cli_answer *a)
{
	return fsc_cli_answer_is_temporary(a) || a->status == 507 || has_code(a, "upload_offset") ||
	       has_code(a, "upload_superseded");
}

/* False: the answer is final. */
static bool try_again(const struct fsc_cli_answer *a, struct sending *s)
{
	if (s->offset > s->farthest) {
		s->farthest = s->offset;
		s->attempt = 0;
	}
	if ((a->status == 201 || a->status == 204) && !s->stuck)
		return s->at[0] && s->known;
	if (a->status == 404 && s->at[0] && s->starts < STARTS_MAX) {
		/* It expired, or the server lost its data: from the start. */
		s->at[0] = '\0';
		s->farthest = 0;
		return true;
	}
	if (!(s->stuck || goes_on_later(a)) || s->attempt >= s->p->retries)
		return false;
	s->p->say(s->p->ctx, a->status == 507 ? "the disk of the server is full, waiting"
			     : s->stuck	      ? "the server is no further, trying again"
					      : "connection lost, trying again");
	fsc_cli_pause_ms(fsc_cli_backoff_ms(s->attempt++, a->retry_after_s));
	return true;
}

void fsc_cli_send_pieces(struct fsc_cli_answer *a, bool *unknown, struct fsc_cli_transport *t,
			 const struct fsc_cli_pieces *p)
{
	struct sending s = { .t = t, .p = p };

	for (;;) {
		bool begins = !s.at[0];

		if (begins)
			begin(a, &s);
		else if (!s.known)
			ask(a, &s);
		else
			send_piece(a, &s);
		*unknown = begins && !s.starts && (a->status == 404 || a->status == 405);
		if (a->status == 202 || !try_again(a, &s))
			return;
		fsc_cli_answer_fini(a);
	}
}
