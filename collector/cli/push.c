/* SPDX-License-Identifier: Apache-2.0 */
/* The push verb: options, retries and waiting. See the header for what it prints and returns. */
#include "collector/cli/push.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/num.h"
#include "collector/cli/backoff.h"
#include "collector/cli/files.h"
#include "collector/cli/pieces.h"
#include "collector/cli/progress.h"
#include "collector/cli/transport.h"

#define DEFAULT_SERVER "http://127.0.0.1:8080"
#define WAIT_PAUSE_MS 1000
#define READ_CHUNK (256 * FSC_KIB)
#define PIECES_FROM (16 * FSC_MIB)

enum in_pieces { PIECES_AUTO, PIECES_ALWAYS, PIECES_NEVER };

struct push {
	struct fsc_cli_files files;
	const char *server, *job, *host, *rank, *capture;
	char *token; /* owned */
	uint64_t retries, wait_timeout_s;
	enum in_pieces in_pieces;
	bool recursive, wait, quiet;
	struct fsc_cli_transport *transport; /* owned */
};

/* One file on its way. */
struct item {
	const char *path; /* borrowed */
	int fd;
	uint64_t bytes;
	char hex[FSC_SHA256_HEX], b64[48];
	char id[32];
	struct fsc_cli_progress progress;
};

enum {
	OPT_JOB = 256,
	OPT_HOST,
	OPT_RANK,
	OPT_CAPTURE,
	OPT_WAIT_TIMEOUT,
	OPT_RETRIES,
	OPT_RESUMABLE,
	OPT_TOKEN_FILE
};

static const struct argp_option options[] = {
	{ "server", 's', "URL", 0, "Server (default: $FLEETSCOPE_SERVER or " DEFAULT_SERVER ")",
	  0 },
	{ "recursive", 'r', NULL, 0, "Take the files of sub-folders too", 0 },
	{ "wait", 'w', NULL, 0, "Wait until each file is indexed", 0 },
	{ "wait-timeout", OPT_WAIT_TIMEOUT, "SECONDS", 0, "Longest wait per file (default 600)",
	  0 },
	{ "retries", OPT_RETRIES, "N", 0,
	  "Tries after the first one on temporary errors (default 8)", 0 },
	{ "resumable", OPT_RESUMABLE, "WHEN", 0,
	  "Send in pieces and go on after a cut where it was: always, never, or auto, from 16 MiB "
	  "on "
	  "(default)",
	  0 },
	{ "job", OPT_JOB, "NAME", 0, "Job the files belong to", 1 },
	{ "host", OPT_HOST, "NAME", 0, "Host they were recorded on", 1 },
	{ "rank", OPT_RANK, "N", 0, "Rank (one file only)", 1 },
	{ "capture", OPT_CAPTURE, "NAME", 0, "Capture: files with the same one are ranks of it",
	  1 },
	{ "token-file", OPT_TOKEN_FILE, "FILE", 0,
	  "Read the token from FILE (default: $FLEETSCOPE_TOKEN)", 2 },
	{ "quiet", 'q', NULL, 0, "No progress on the terminal", 2 },
	{ 0 },
};

static void complain(const char *what, const char *code, const char *text)
{
	fprintf(stderr, "fleetscope-collector: %s: %s%s%s\n", what, code ? code : "",
		code ? ": " : "", text);
}

static uint64_t number(struct argp_state *state, const char *arg)
{
	uint64_t v = 0;

	if (!fsc_parse_u64(&v, arg, strlen(arg)))
		argp_error(state, "not a number: %s", arg);
	return v;
}

static void read_token(struct argp_state *state, struct push *p, const char *path)
{
	struct fsc_err err = FSC_ERR_INIT;
	size_t n;

	fsc_free(p->token);
	if (fsc_fs_read_file(&p->token, &n, path, 4096, &err))
		argp_error(state, "%s", err.msg);
	while (n && strchr(" \t\r\n", p->token[n - 1]))
		p->token[--n] = '\0';
}

static enum in_pieces when(struct argp_state *state, const char *arg)
{
	static const char *const names[] = { "auto", "always", "never" };

	for (size_t i = 0; i < FSC_ARRAY_LEN(names); i++)
		if (!strcmp(arg, names[i]))
			return (enum in_pieces)i;
	argp_error(state, "--resumable takes always, never or auto, not %s", arg);
	return PIECES_AUTO;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct push *p = state->input;
	struct fsc_err err = FSC_ERR_INIT;

	switch (key) {
	case 's':
		p->server = arg;
		return 0;
	case 'r':
		p->recursive = true;
		return 0;
	case 'w':
		p->wait = true;
		return 0;
	case 'q':
		p->quiet = true;
		return 0;
	case OPT_WAIT_TIMEOUT:
		p->wait_timeout_s = number(state, arg);
		return 0;
	case OPT_RETRIES:
		p->retries = number(state, arg);
		return 0;
	case OPT_RESUMABLE:
		p->in_pieces = when(state, arg);
		return 0;
	case OPT_JOB:
		p->job = arg;
		return 0;
	case OPT_HOST:
		p->host = arg;
		return 0;
	case OPT_RANK:
		number(state, arg);
		p->rank = arg;
		return 0;
	case OPT_CAPTURE:
		p->capture = arg;
		return 0;
	case OPT_TOKEN_FILE:
		read_token(state, p, arg);
		return 0;
	case ARGP_KEY_ARGS:
		/* after all options, so that --recursive may stand anywhere */
		for (int i = state->next; i < state->argc; i++)
			if (fsc_cli_files_add(&p->files, state->argv[i], p->recursive, &err))
				argp_error(state, "%s", err.msg);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_usage(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Code and message of an error answer, in one line. */
static void complain_answer(const char *path, const struct fsc_cli_answer *a)
{
	const json_t *e = json_object_get(a->body, "error");
	const char *code = json_string_value(json_object_get(e, "code"));
	const char *text = json_string_value(json_object_get(e, "message"));
	char line[64];
	struct fsc_buf b = FSC_BUF_INIT(sizeof(line));

	if (!a->status) {
		complain(path, "no_answer", a->transport);
		return;
	}
	fsc_buf_addf(&b, "the server answered %ld", a->status);
	complain(path, code, text ? text : b.data);
	fsc_buf_fini(&b);
}

static int open_item(struct item *it, const char *path, bool quiet)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct stat sb;
	struct fsc_sha256 *h;
	uint8_t digest[FSC_SHA256_LEN];
	char *chunk;
	ssize_t n;

	*it = (struct item){ .path = path };
	fsc_cli_progress_init(&it->progress, fsc_cli_base_name(path), quiet);
	it->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (it->fd < 0 || fstat(it->fd, &sb)) {
		fsc_err_sys(&err, errno, "cannot be read");
		complain(path, NULL, err.msg);
		return FSC_PUSH_USAGE;
	}
	h = fsc_sha256_new();
	chunk = fsc_xalloc(1, READ_CHUNK);
	fsc_cli_progress_text(&it->progress, "reading");
	while ((n = read(it->fd, chunk, READ_CHUNK)) > 0) {
		fsc_sha256_update(h, chunk, (size_t)n);
		it->bytes += (uint64_t)n;
	}
	fsc_sha256_final(h, digest);
	fsc_sha256_free(h);
	fsc_free(chunk);
	if (n < 0) {
		fsc_err_sys(&err, errno, "cannot be read");
		complain(path, NULL, err.msg);
		return FSC_PUSH_USAGE;
	}
	fsc_hex(it->hex, digest, sizeof(digest));
	fsc_base64(it->b64, digest, sizeof(digest));
	return FSC_PUSH_OK;
}

static void add_param(struct push *p, struct fsc_buf *b, const char *key, const char *value)
{
	char *e;

	if (!value)
		return;
	e = fsc_cli_escape(p->transport, value);
	fsc_buf_addf(b, "&%s=%s", key, e);
	fsc_free(e);
}

static void on_bytes(void *ctx, uint64_t done, uint64_t total)
{
	fsc_cli_progress_bytes(ctx, done, total);
}

static void on_wait(void *ctx, const char *text)
{
	fsc_cli_progress_text(ctx, text);
}

/* In one request, again while the error is temporary. */
static void send_whole(struct fsc_cli_answer *a, struct push *p, struct item *it, const char *query)
{
	struct fsc_cli_upload up = { .fd = it->fd,
				     .bytes = it->bytes,
				     .digest_b64 = it->b64,
				     .idempotency_key = it->hex,
				     .ctx = &it->progress,
				     .progress = on_bytes };
	char *path = fsc_xasprintf("/api/v1/bundles%s", query);

	for (uint64_t attempt = 0;; attempt++) {
		int64_t ms;

		fsc_cli_post_file(a, p->transport, path, &up);
		if (!fsc_cli_answer_is_temporary(a) || attempt >= p->retries)
			break;
		ms = fsc_cli_backoff_ms(attempt, a->retry_after_s);
		fsc_cli_answer_fini(a);
		fsc_cli_progress_text(&it->progress, "no answer yet, trying again");
		fsc_cli_pause_ms(ms);
	}
	fsc_free(path);
}

/* False: the server is too old for it. */
static bool send_in_pieces(struct fsc_cli_answer *a, struct push *p, struct item *it,
			   const char *query)
{
	const struct fsc_cli_pieces pieces = { .query = query,
					       .fd = it->fd,
					       .bytes = it->bytes,
					       .digest_b64 = it->b64,
					       .key = it->hex,
					       .retries = p->retries,
					       .ctx = &it->progress,
					       .progress = on_bytes,
					       .say = on_wait };
	bool unknown;

	fsc_cli_send_pieces(a, &unknown, p->transport, &pieces);
	if (unknown)
		fsc_cli_answer_fini(a);
	return !unknown;
}

/* Sends the file until the server has it, or has said no. */
static int send_item(struct push *p, struct item *it)
{
	struct fsc_buf query = FSC_BUF_INIT(16 * FSC_KIB);
	bool pieces = p->in_pieces == PIECES_ALWAYS ||
		      (p->in_pieces == PIECES_AUTO && it->bytes >= PIECES_FROM);
	struct fsc_cli_answer a;
	const char *id;
	int rc = FSC_PUSH_OK;

	fsc_buf_addc(&query, '?');
	add_param(p, &query, "name", fsc_cli_base_name(it->path));
	add_param(p, &query, "job", p->job);
	add_param(p, &query, "host", p->host);
	add_param(p, &query, "rank", p->rank);
	add_param(p, &query, "capture", p->capture);
	if (!pieces || !it->bytes || !send_in_pieces(&a, p, it, query.data))
		send_whole(&a, p, it, query.data);
	id = json_string_value(json_object_get(a.body, "id"));
	if (a.status >= 200 && a.status < 300 && id) {
		size_t n = strnlen(id, sizeof(it->id) - 1);

		memcpy(it->id, id, n);
	} else {
		fsc_cli_progress_clear(&it->progress);
		complain_answer(it->path, &a);
		rc = fsc_cli_answer_is_temporary(&a) ? FSC_PUSH_NO_SERVER : FSC_PUSH_REFUSED;
	}
	fsc_cli_answer_fini(&a);
	fsc_buf_fini(&query);
	return rc;
}

static void complain_failed(const char *path, const json_t *bundle)
{
	const json_t *e = json_object_get(bundle, "error"), *offset = json_object_get(e, "offset");
	const char *file = json_string_value(json_object_get(e, "file"));
	const char *text = json_string_value(json_object_get(e, "message"));
	struct fsc_buf b = FSC_BUF_INIT(2048);

	fsc_buf_adds(&b, text ? text : "could not be indexed");
	if (file && *file)
		fsc_buf_addf(&b, " (%s", file);
	if (file && *file && json_is_integer(offset))
		fsc_buf_addf(&b, ", offset %" JSON_INTEGER_FORMAT, json_integer_value(offset));
	if (file && *file)
		fsc_buf_addc(&b, ')');
	complain(path, json_string_value(json_object_get(e, "code")), b.data);
	fsc_buf_fini(&b);
}

/* Members of a bundle that came to nothing although the bundle is ready. */
static void complain_members(const char *path, const json_t *bundle)
{
	const json_t *list = json_object_get(bundle, "failures"), *m;
	size_t i;

	json_array_foreach(list, i, m)
	{
		struct fsc_buf b = FSC_BUF_INIT(2048);
		const char *file = json_string_value(json_object_get(m, "file"));
		const char *text = json_string_value(json_object_get(m, "message"));

		fsc_buf_addf(&b, "%s: %s", file ? file : "?", text ? text : "left out");
		complain(path, json_string_value(json_object_get(m, "code")), b.data);
		fsc_buf_fini(&b);
	}
}

static void print_ready(const struct push *p, const struct item *it, const json_t *bundle)
{
	const json_t *traces = json_object_get(bundle, "traces");
	const char *trace = json_string_value(json_object_get(json_array_get(traces, 0), "id"));

	if (trace && json_array_size(traces) == 1)
		printf("ready %s %s %s/traces/%s\n", it->id, it->path, p->server, trace);
	else
		printf("ready %s %s %s/traces?q=%s\n", it->id, it->path, p->server, it->id);
}

/* 0 .. 4 when it is decided, -1 when not yet. */
static int check_item(struct push *p, struct item *it)
{
	struct fsc_buf path = FSC_BUF_INIT(256);
	struct fsc_cli_answer a;
	const char *state, *stage;
	int rc = -1;

	fsc_buf_addf(&path, "/api/v1/bundles/%s", it->id);
	fsc_cli_get(&a, p->transport, path.data);
	state = json_string_value(json_object_get(a.body, "state"));
	stage = json_string_value(json_object_get(a.body, "stage"));
	if (a.status == 200 && state && !strcmp(state, "ready")) {
		fsc_cli_progress_clear(&it->progress);
		print_ready(p, it, a.body);
		complain_members(it->path, a.body);
		rc = FSC_PUSH_OK;
	} else if (a.status == 200 && state && !strcmp(state, "failed")) {
		fsc_cli_progress_clear(&it->progress);
		complain_failed(it->path, a.body);
		rc = FSC_PUSH_REFUSED;
	} else if (a.status == 403) {
		fsc_cli_progress_clear(&it->progress);
		complain(it->path, "not_told",
			 "stored, but the token may not ask what became of it (scope read)");
		rc = FSC_PUSH_NOT_YET;
	} else if (a.status != 200 && !fsc_cli_answer_is_temporary(&a)) {
		fsc_cli_progress_clear(&it->progress);
		complain_answer(it->path, &a);
		rc = FSC_PUSH_REFUSED;
	} else {
		fsc_cli_progress_text(&it->progress, stage && *stage ? stage
						     : state	     ? state
								     : "waiting for the server");
	}
	fsc_cli_answer_fini(&a);
	fsc_buf_fini(&path);
	return rc;
}

static int wait_item(struct push *p, struct item *it)
{
	int64_t deadline = fsc_clock_mono_ns() + (int64_t)p->wait_timeout_s * 1000000000,
		pause = 50;

	for (;;) {
		int rc = check_item(p, it);

		if (rc >= 0)
			return rc;
		if (fsc_clock_mono_ns() >= deadline) {
			fsc_cli_progress_clear(&it->progress);
			complain(it->path, "not_yet", "stored, but not indexed within the wait");
			return FSC_PUSH_NOT_YET;
		}
		fsc_cli_pause_ms(pause);
		pause = pause * 2 > WAIT_PAUSE_MS ? WAIT_PAUSE_MS : pause * 2;
	}
}

static int push_one(struct push *p, const char *path)
{
	struct item it;
	int rc = open_item(&it, path, p->quiet);

	if (!rc)
		rc = send_item(p, &it);
	if (!rc && p->wait)
		rc = wait_item(p, &it);
	fsc_cli_progress_clear(&it.progress);
	if (!rc && !p->wait)
		printf("queued %s %s\n", it.id, path);
	fflush(stdout);
	if (it.fd >= 0)
		close(it.fd);
	return rc;
}

int fsc_cli_push(int argc, char **argv)
{
	static const struct argp argp = {
		options,
		parse,
		"FILE|FOLDER...",
		"Sends traces, profiles and bundles to the server.\v"
		"Exit status: 0 done, 1 refused or not indexable, 2 usage or unreadable file, "
		"3 no server, 4 not known to be indexed within the wait.",
		NULL,
		NULL,
		NULL
	};
	struct push p = { .retries = 8, .wait_timeout_s = 600 };
	int rc = FSC_PUSH_OK;

	argp_err_exit_status = FSC_PUSH_USAGE;
	p.server = secure_getenv("FLEETSCOPE_SERVER");
	if (!p.server || !*p.server)
		p.server = DEFAULT_SERVER;
	p.token = fsc_xstrdup(secure_getenv("FLEETSCOPE_TOKEN"));
	argp_parse(&argp, argc, argv, 0, NULL, &p);
	if (p.rank && p.files.v.n > 1) {
		complain("--rank", NULL, "takes one file: the others would get the same rank");
		rc = FSC_PUSH_USAGE;
	} else if (!p.files.v.n) {
		complain("push", "nothing_to_push", "no file with a known suffix was found");
		rc = FSC_PUSH_USAGE;
	} else {
		p.transport = fsc_cli_transport_new(p.server, p.token);
		for (size_t i = 0; i < p.files.v.n; i++) {
			int one = push_one(&p, p.files.v.v[i]);

			rc = one > rc ? one : rc;
		}
		fsc_cli_transport_free(p.transport);
	}
	if (p.files.skipped)
		fprintf(stderr,
			"fleetscope-collector: %u other files left out: name them to push them\n",
			p.files.skipped);
	fsc_cli_files_fini(&p.files);
	fsc_free(p.token);
	return rc;
}
