/* SPDX-License-Identifier: Apache-2.0 */
/* libcurl wrapper; see the header. */
#include "collector/cli/transport.h"

#include <curl/curl.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/num.h"

#define CONNECT_TIMEOUT_S 10L
#define ANSWER_TIMEOUT_S 60L
/* An upload may take as long as it moves: slower than this for that long is a dead connection. */
#define SLOW_BYTES_PER_S 1024L
#define SLOW_FOR_S 60L

struct fsc_cli_transport {
	CURL *curl;
	char *server, *authorization; /* owned */
};

struct request {
	struct fsc_buf body;
	const struct fsc_cli_request *ask;
	uint64_t sent; /* bytes of the body */
	char error[CURL_ERROR_SIZE];
};

struct fsc_cli_transport *fsc_cli_transport_new(const char *server, const char *token)
{
	struct fsc_cli_transport *t = fsc_xalloc(1, sizeof(*t));
	size_t n = strlen(server);

	while (n && server[n - 1] == '/')
		n--;
	curl_global_init(CURL_GLOBAL_DEFAULT);
	t->curl = curl_easy_init();
	t->server = fsc_xstrndup(server, n);
	if (token && *token)
		t->authorization = fsc_xasprintf("Authorization: Bearer %s", token);
	return t;
}

void fsc_cli_transport_free(struct fsc_cli_transport *t)
{
	if (!t)
		return;
	curl_easy_cleanup(t->curl);
	curl_global_cleanup();
	fsc_free(t->server);
	fsc_free(t->authorization);
	fsc_free(t);
}

char *fsc_cli_escape(struct fsc_cli_transport *t, const char *s)
{
	char *e = curl_easy_escape(t->curl, s, 0), *copy = fsc_xstrdup(e);

	curl_free(e);
	return copy;
}

static size_t take_body(char *p, size_t size, size_t n, void *user)
{
	struct request *r = user;

	fsc_buf_add(&r->body, p, size * n);
	return r->body.failed ? 0 : size * n;
}

static size_t give_file(char *p, size_t size, size_t n, void *user)
{
	struct request *r = user;
	uint64_t left = r->ask->bytes - r->sent;
	size_t want = size * n < left ? size * n : (size_t)left;
	ssize_t got = pread(r->ask->fd, p, want, (off_t)(r->ask->offset + r->sent));

	/* A file that became shorter ends the request, it does not make up bytes. */
	if (got < 0 || (want && !got))
		return CURL_READFUNC_ABORT;
	r->sent += (uint64_t)got;
	return (size_t)got;
}

static int rewind_file(void *user, curl_off_t offset, int origin)
{
	struct request *r = user;

	if (origin != SEEK_SET || offset < 0)
		return CURL_SEEKFUNC_FAIL;
	r->sent = (uint64_t)offset;
	return CURL_SEEKFUNC_OK;
}

static int on_progress(void *user, curl_off_t dl_total, curl_off_t dl_now, curl_off_t ul_total,
		       curl_off_t ul_now)
{
	struct request *r = user;

	(void)dl_total;
	(void)dl_now;
	(void)ul_total;
	if (r->ask && r->ask->progress && ul_now)
		r->ask->progress(r->ask->ctx, r->ask->offset + (uint64_t)ul_now, r->ask->total);
	return 0;
}

/* "" when the answer has no such header, or a longer one. */
static void take_header(struct fsc_cli_transport *t, const char *name, char *out, size_t cap)
{
	struct curl_header *h;
	size_t n;

	out[0] = '\0';
	if (curl_easy_header(t->curl, name, 0, CURLH_HEADER, -1, &h) != CURLHE_OK)
		return;
	n = strlen(h->value);
	if (n < cap)
		memcpy(out, h->value, n + 1);
}

static void perform(struct fsc_cli_answer *a, struct fsc_cli_transport *t, struct request *r)
{
	CURLcode rc = curl_easy_perform(t->curl);
	curl_off_t retry = 0;
	char offset[24];
	json_error_t jerr;

	*a = (struct fsc_cli_answer){ .retry_after_s = -1, .upload_offset = -1 };
	curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &a->status);
	/* A server that refuses early closes while we still send: its answer counts, not our broken pipe. */
	if (rc != CURLE_OK && a->status < 300) {
		const char *why = r->error[0] ? r->error : curl_easy_strerror(rc);
		size_t n = strnlen(why, sizeof(a->transport) - 1);

		a->status = 0;
		memcpy(a->transport, why, n);
	}
	if (!curl_easy_getinfo(t->curl, CURLINFO_RETRY_AFTER, &retry) && retry > 0)
		a->retry_after_s = (long)retry;
	if (a->status) {
		take_header(t, "Location", a->location, sizeof(a->location));
		take_header(t, "Upload-Offset", offset, sizeof(offset));
		if (!offset[0] || !fsc_parse_i64(&a->upload_offset, offset, strlen(offset)))
			a->upload_offset = -1;
	}
	if (r->body.data)
		a->body = json_loadb(r->body.data, r->body.len, 0, &jerr);
	fsc_buf_fini(&r->body);
}

static void common(struct fsc_cli_transport *t, struct request *r, const char *path, char **url)
{
	*url = fsc_xasprintf("%s%s", t->server, path);
	*r = (struct request){ .body = FSC_BUF_INIT(FSC_MAX_CONTROL_JSON) };
	curl_easy_reset(t->curl);
	curl_easy_setopt(t->curl, CURLOPT_URL, *url);
	curl_easy_setopt(t->curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(t->curl, CURLOPT_USERAGENT, "fleetscope-collector");
	curl_easy_setopt(t->curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(t->curl, CURLOPT_ERRORBUFFER, r->error);
	curl_easy_setopt(t->curl, CURLOPT_CONNECTTIMEOUT, CONNECT_TIMEOUT_S);
	curl_easy_setopt(t->curl, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(t->curl, CURLOPT_WRITEDATA, r);
}

void fsc_cli_get(struct fsc_cli_answer *a, struct fsc_cli_transport *t, const char *path)
{
	struct curl_slist *headers =
		t->authorization ? curl_slist_append(NULL, t->authorization) : NULL;
	struct request r;
	char *url;

	common(t, &r, path, &url);
	curl_easy_setopt(t->curl, CURLOPT_TIMEOUT, ANSWER_TIMEOUT_S);
	curl_easy_setopt(t->curl, CURLOPT_HTTPHEADER, headers);
	perform(a, t, &r);
	curl_slist_free_all(headers);
	fsc_free(url);
}

static void set_body(struct fsc_cli_transport *t, struct request *r)
{
	curl_easy_setopt(t->curl, CURLOPT_POST, 1L);
	curl_easy_setopt(t->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->ask->bytes);
	curl_easy_setopt(t->curl, CURLOPT_UPLOAD_BUFFERSIZE, 512L * 1024L);
	curl_easy_setopt(t->curl, CURLOPT_READFUNCTION, give_file);
	curl_easy_setopt(t->curl, CURLOPT_READDATA, r);
	curl_easy_setopt(t->curl, CURLOPT_SEEKFUNCTION, rewind_file);
	curl_easy_setopt(t->curl, CURLOPT_SEEKDATA, r);
	curl_easy_setopt(t->curl, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(t->curl, CURLOPT_XFERINFOFUNCTION, on_progress);
	curl_easy_setopt(t->curl, CURLOPT_XFERINFODATA, r);
	curl_easy_setopt(t->curl, CURLOPT_LOW_SPEED_LIMIT, SLOW_BYTES_PER_S);
	curl_easy_setopt(t->curl, CURLOPT_LOW_SPEED_TIME, SLOW_FOR_S);
}

void fsc_cli_request(struct fsc_cli_answer *a, struct fsc_cli_transport *t,
		     const struct fsc_cli_request *ask)
{
	struct curl_slist *headers = NULL;
	struct request r;
	char *url;

	common(t, &r, ask->path, &url);
	r.ask = ask;
	for (const char *const *h = ask->headers; h && *h; h++)
		headers = curl_slist_append(headers, *h);
	if (t->authorization)
		headers = curl_slist_append(headers, t->authorization);
	curl_easy_setopt(t->curl, CURLOPT_HTTPHEADER, headers);
	if (!strcmp(ask->method, "HEAD")) {
		curl_easy_setopt(t->curl, CURLOPT_NOBODY, 1L);
		curl_easy_setopt(t->curl, CURLOPT_TIMEOUT, ANSWER_TIMEOUT_S);
	} else {
		set_body(t, &r);
		curl_easy_setopt(t->curl, CURLOPT_CUSTOMREQUEST, ask->method);
	}
	perform(a, t, &r);
	curl_slist_free_all(headers);
	fsc_free(url);
}

void fsc_cli_post_file(struct fsc_cli_answer *a, struct fsc_cli_transport *t, const char *path,
		       const struct fsc_cli_upload *up)
{
	char *digest = fsc_xasprintf("Repr-Digest: sha-256=:%s:", up->digest_b64);
	char *key = fsc_xasprintf("Idempotency-Key: \"%s\"", up->idempotency_key);
	const char *headers[] = { "Content-Type: application/octet-stream", digest, key, NULL };
	const struct fsc_cli_request r = { .method = "POST",
					   .path = path,
					   .headers = headers,
					   .fd = up->fd,
					   .bytes = up->bytes,
					   .total = up->bytes,
					   .ctx = up->ctx,
					   .progress = up->progress };

	fsc_cli_request(a, t, &r);
	fsc_free(digest);
	fsc_free(key);
}

void fsc_cli_answer_fini(struct fsc_cli_answer *a)
{
	json_decref(a->body);
	a->body = NULL;
}

bool fsc_cli_answer_is_temporary(const struct fsc_cli_answer *a)
{
	static const long again[] = { 0, 408, 425, 429, 500, 502, 503, 504 };

	for (size_t i = 0; i < FSC_ARRAY_LEN(again); i++)
		if (a->status == again[i])
			return true;
	return false;
}
