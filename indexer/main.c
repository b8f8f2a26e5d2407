/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleetscope-indexer: turns one bundle into segments and facts.
 *   --child            run by a worker (facts/indexer_client.h): sandbox first, then the work
 *   FILE --out DIR     by hand: starts itself as such a child, writes DIR/<n>.seg, prints what it found
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/crypto.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/num.h"
#include "facts/indexer_client.h"
#include "indexer/sandbox.h"
#include "indexer/summary.h"
#include "indexer/work.h"

#define EXIT_SOME_FAILED 1
#define EXIT_BAD_INPUT 2

const char *argp_program_version = "fleetscope-indexer " FSC_VERSION;

struct options {
	bool child, summary, has_sha;
	const char *file, *out, *name;
	struct fsc_identity upload;
	struct fsc_analysis_scope scope;
	uint8_t blob_sha256[FSC_SHA256_LEN];
	uint64_t max_memory;
	int max_cpu_s, max_wall_s;
};

/* ---- command line ---- */

enum {
	OPT_CHILD = 256,
	OPT_OUT,
	OPT_SUMMARY,
	OPT_STEPS,
	OPT_NAME,
	OPT_JOB,
	OPT_HOST,
	OPT_CAPTURE,
	OPT_RANK,
	OPT_SHA,
	OPT_MEMORY,
	OPT_CPU,
	OPT_WALL,
};

static const struct argp_option option_table[] = {
	{ "out", OPT_OUT, "DIR", 0, "write segments as DIR/<n>.seg (made when missing)", 0 },
	{ "summary", OPT_SUMMARY, NULL, 0,
	  "print one JSON document with traces, analyses and failures", 0 },
	{ "steps", OPT_STEPS, "all|no_last|A-B", 0, "steps that the analyses of --summary cover",
	  0 },
	{ "rank", OPT_RANK, "N", 0, "rank of the trace", 1 },
	{ "job", OPT_JOB, "NAME", 0, "job it belongs to", 1 },
	{ "host", OPT_HOST, "NAME", 0, "host it comes from", 1 },
	{ "capture", OPT_CAPTURE, "NAME", 0, "capture it is part of", 1 },
	{ "name", OPT_NAME, "NAME", 0, "name to show instead of the file's", 1 },
	{ "max-memory", OPT_MEMORY, "BYTES", 0, "address space of the sandboxed part", 2 },
	{ "max-cpu", OPT_CPU, "SECONDS", 0, "CPU time of the sandboxed part", 2 },
	{ "max-wall", OPT_WALL, "SECONDS", 0, "deadline of the sandboxed part", 2 },
	{ "child", OPT_CHILD, NULL, OPTION_HIDDEN, NULL, 3 },
	{ "blob-sha256", OPT_SHA, "HEX", OPTION_HIDDEN, NULL, 3 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static int64_t number(struct argp_state *state, const char *what, const char *arg, int64_t max)
{
	int64_t v = 0;

	if (!fsc_parse_i64(&v, arg, strlen(arg)) || v < 0 || v > max)
		argp_error(state, "--%s must be a number from 0 to %" PRId64, what, max);
	return v;
}

static void parse_limit(struct options *o, int key, const char *arg, struct argp_state *state)
{
	if (key == OPT_MEMORY)
		o->max_memory = (uint64_t)number(state, "max-memory", arg, INT64_MAX);
	else if (key == OPT_CPU)
		o->max_cpu_s = (int)number(state, "max-cpu", arg, 1000000);
	else
		o->max_wall_s = (int)number(state, "max-wall", arg, 1000000);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	struct fsc_err err = FSC_ERR_INIT;

	switch (key) {
	case OPT_CHILD:
		o->child = true;
		return 0;
	case OPT_OUT:
		o->out = arg;
		return 0;
	case OPT_SUMMARY:
		o->summary = true;
		return 0;
	case OPT_STEPS:
		if (fsc_analysis_scope_parse(&o->scope, arg, &err) != FSC_OK)
			argp_error(state, "%s", err.msg);
		return 0;
	case OPT_NAME:
		o->name = arg;
		return 0;
	case OPT_JOB:
		o->upload.job = arg;
		return 0;
	case OPT_HOST:
		o->upload.host = arg;
		return 0;
	case OPT_CAPTURE:
		o->upload.capture = arg;
		return 0;
	case OPT_RANK:
		o->upload.rank = number(state, "rank", arg, INT32_MAX);
		return 0;
	case OPT_SHA:
		o->has_sha = strlen(arg) == 2 * FSC_SHA256_LEN &&
			     fsc_unhex(o->blob_sha256, arg, FSC_SHA256_LEN);
		return 0;
	case OPT_MEMORY:
	case OPT_CPU:
	case OPT_WALL:
		parse_limit(o, key, arg, state);
		return 0;
	case ARGP_KEY_ARG:
		if (o->file)
			argp_error(state, "one file at a time");
		o->file = arg;
		return 0;
	case ARGP_KEY_END:
		if (!o->child && (!o->file || !o->out))
			argp_error(state, "a file and --out DIR are needed");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* ---- child ---- */

static int run_child(const struct options *o)
{
	struct fsc_sandbox_limits limits = {
		.max_memory_bytes = o->max_memory ? o->max_memory : FSC_INDEXER_DEFAULT_MEMORY,
		.max_file_bytes = FSC_MAX_ARCHIVE_BYTES,
		.max_cpu_s = o->max_cpu_s ? o->max_cpu_s : FSC_INDEXER_DEFAULT_CPU_S,
	};
	struct fsc_work work = { .socket_fd = FSC_INDEXER_FD_SOCKET,
				 .blob_fd = FSC_INDEXER_FD_BLOB,
				 .name = o->name,
				 .upload = o->upload };
	struct fsc_err err = FSC_ERR_INIT;

	memcpy(work.blob_sha256, o->blob_sha256, sizeof(work.blob_sha256));
	fsc_log_setup(STDERR_FILENO, FSC_LOG_ERROR);
	fsc_work_warm_up();
	if (fsc_sandbox_enter(&limits, NULL, &err) != FSC_OK) {
		fprintf(stderr, "%s\n", err.msg);
		return FSC_INDEXER_EXIT_SANDBOX;
	}
	int code = fsc_work_run(&work, &err);
	if (err.status != FSC_OK)
		fprintf(stderr, "%s\n", err.msg);
	return code;
}

/* ---- by hand ---- */

struct by_hand {
	const struct options *o;
	struct fsc_summary summary;
	unsigned n_segments;
	char path[4096];
	int fd; /* of the open trace's segment, -1 none */
};

static enum fsc_status take_fact(void *ctx, const struct fsc_fact *f, struct fsc_err *err)
{
	struct by_hand *h = ctx;
	enum fsc_status st = fsc_summary_take(&h->summary, f, h->path, err);

	if (h->fd >= 0 && (f->type == FSC_FACT_TRACE_END || f->type == FSC_FACT_MEMBER)) {
		close(h->fd);
		h->fd = -1;
		/* a withdrawn trace leaves nothing behind; its number is given to the next */
		if (f->type == FSC_FACT_MEMBER)
			unlink(h->path);
		else
			h->n_segments++;
	}
	return st;
}

static enum fsc_status give_segment(void *ctx, int *fd, struct fsc_err *err)
{
	struct by_hand *h = ctx;

	snprintf(h->path, sizeof(h->path), "%s/%u.seg", h->o->out, h->n_segments);
	h->fd = open(h->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (h->fd < 0)
		return fsc_err_sys(err, errno, "%s", h->path);
	*fd = h->fd;
	return FSC_OK;
}

static void print_lines(const struct fsc_summary *s)
{
	for (size_t i = 0; i < s->traces.n; i++) {
		const struct fsc_summary_trace *t = &s->traces.v[i];

		printf("%s: %s, %" PRId64 " slices, %" PRId64 " events, %" PRId64 " bytes\n",
		       t->segment_path, t->t.name, t->t.slices, t->t.events, t->segment_bytes);
	}
	for (size_t i = 0; i < s->failures.n; i++) {
		const struct fsc_fact_member *m = &s->failures.v[i];

		fprintf(stderr, "%s: %s (%s): %s\n", m->member, m->outcome, m->code, m->message);
	}
	if (s->end.status != FSC_OK)
		fprintf(stderr, "bundle: %s: %s\n", s->end.code, s->end.message);
}

static int print_result(struct by_hand *h, struct fsc_err *err)
{
	const struct fsc_summary *s = &h->summary;
	struct fsc_buf doc = FSC_BUF_INIT(2 * FSC_GIB);

	if (h->o->summary) {
		if (fsc_summary_json(&doc, s, &h->o->scope, err) != FSC_OK) {
			fsc_buf_fini(&doc);
			return EXIT_BAD_INPUT;
		}
		fwrite(doc.data, 1, doc.len, stdout);
		fsc_buf_fini(&doc);
	} else {
		print_lines(s);
	}
	if (s->end.status != FSC_OK || !s->traces.n)
		return EXIT_BAD_INPUT;
	return s->n_failed ? EXIT_SOME_FAILED : EXIT_SUCCESS;
}

/* This very program: the child must be the same build as the parent. */
static char *own_path(void)
{
	char buf[4096];
	ssize_t n = readlink("/proc/self/exe", buf, sizeof(buf));

	return n > 0 && n < (ssize_t)sizeof(buf) ? fsc_xstrndup(buf, (size_t)n) : NULL;
}

static int run_by_hand(const struct options *o)
{
	struct fsc_indexer_job job = FSC_INDEXER_JOB_INIT;
	struct by_hand h = { .o = o, .fd = -1 };
	struct fsc_indexer_sink sink = { &h, take_fact, give_segment };
	struct fsc_err err = FSC_ERR_INIT;
	const char *slash = strrchr(o->file, '/');
	char *self = own_path();
	int code = EXIT_BAD_INPUT;

	fsc_summary_init(&h.summary);
	job.program = self;
	job.name = o->name ? o->name : slash ? slash + 1 : o->file;
	job.job = o->upload.job;
	job.host = o->upload.host;
	job.capture = o->upload.capture;
	job.rank = o->upload.rank;
	job.max_memory_bytes = o->max_memory;
	job.max_cpu_s = o->max_cpu_s;
	job.max_wall_s = o->max_wall_s;
	job.blob_fd = open(o->file, O_RDONLY | O_CLOEXEC);
	if (job.blob_fd < 0)
		fsc_err_sys(&err, errno, "%s", o->file);
	else if (fsc_fs_mkdirs(o->out, 0777, &err) == FSC_OK &&
		 fsc_indexer_run(&job, &sink, NULL, NULL, &err) == FSC_OK)
		code = print_result(&h, &err);
	if (err.status != FSC_OK)
		fprintf(stderr, "fleetscope-indexer: %s: %s\n", err.code, err.msg);
	if (h.fd >= 0)
		close(h.fd);
	if (job.blob_fd >= 0)
		close(job.blob_fd);
	fsc_summary_fini(&h.summary);
	fsc_free(self);
	return code;
}

int main(int argc, char **argv)
{
	static const struct argp parser = {
		option_table,
		parse_option,
		"FILE --out DIR",
		"Indexes one trace file or bundle in a sandbox.\v"
		"Exit status: 0 all was read, 1 some members failed, 2 nothing "
		"could be read or the command line is wrong.",
		NULL,
		NULL,
		NULL
	};
	struct options o = { .upload = FSC_IDENTITY_INIT };

	argp_err_exit_status = EXIT_BAD_INPUT;
	argp_parse(&parser, argc, argv, 0, NULL, &o);
	if (o.child) {
		/* no atexit handlers in the sandbox: they belong to libraries, and to leak checkers */
		_exit(run_child(&o));
	}
	return run_by_hand(&o);
}
