/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A test program that is its own indexer: started again with --child it reads the blob as a script, one word
 * and its argument a line, and speaks the protocol of facts/indexer_client.h:
 *   trace NAME       one trace with a kernel named NAME, whose segment holds NAME
 *   garbage NAME     the same, but the segment is none
 *   damaged NAME     the same, but one byte of a block differs
 *   slow MS          waits
 *   progress STAGE   says so
 *   fail NAME        member NAME cannot be read
 *   withdraw NAME    a trace that turns out to be broken after its facts
 *   die              ends by SIGKILL
 *   vanish PATH      a trace named gone unless the file is there, which it makes first
 *   die_once PATH    ends by SIGKILL unless the file is there, which it makes first
 *   rows N           a trace named rows with N kernels
 *   nonsense         breaks the protocol
 *   full_if PATH     ends as a real one whose segment met a full disk, if the file is there
 *   dup_if PATH      a trace with the same row twice, which is not published, if the file is there
 *   again_if PATH    the trace rank0 once more, if the file is there
 *   io_if PATH       the same for a disk that refuses
 * END follows by itself. Include it in one file per program and call fake_indexer_main() first in main.
 */
#ifndef FSC_TESTS_JOBS_FAKE_INDEXER_H
#define FSC_TESTS_JOBS_FAKE_INDEXER_H

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include "base/log.h"
#include "model/build.h"
#include "segment/layout.h"
#include "segment/seg_read.h"
#include "segment/seg_write.h"
#include "tests/support/indexer_child.h"
#include "tests/support/test.h"

static char fake_indexer_path[512];

static void fake_failed(const char *name)
{
	child_say((struct fsc_fact){
		.type = FSC_FACT_MEMBER,
		.u.member = { name, "failed", "json_truncated", "cut short", 9 } });
}

/* A segment whose job is the name; returns its size. damage 1: not a segment, 2: one byte of a block differs. */
static int64_t fake_segment(const char *name, int damage)
{
	struct fsc_build *b = fsc_build_new();
	struct fsc_build_slice s = {
		.ts = 5,
		.dur = 5,
		.correlation = FSC_NO_CORRELATION,
		.args = FSC_NO_ARGS,
		.kind = FSC_KIND_OTHER,
	};
	struct fsc_build_id one = { .num = 1 };
	struct fsc_seg_write_stats stats = { 0 };
	struct fsc_trace *t = NULL;
	uint32_t ident, slice;
	int fd;

	child_say((struct fsc_fact){ .type = FSC_FACT_SEGMENT_WANTED });
	fd = child_receive_fd();
	if (!b || fsc_build_ident(&ident, b, one, one) || fsc_build_thread(&s.track, b, ident) ||
	    fsc_build_str(&s.name, b, name, strlen(name)) || fsc_build_cat(&s.cat, b, "c", 1) ||
	    fsc_build_slice(&slice, b, &s))
		_exit(92);
	fsc_build_trace(b)->meta.job = s.name;
	struct fsc_err err = FSC_ERR_INIT;
	if (fsc_build_finish(&t, b, &err) || fsc_seg_write(fd, t, NULL, &stats, &err)) {
		dprintf(2, "%s: %s", err.code, err.msg);
		_exit(95);
	}
	if (damage == 1 && pwrite(fd, "garbage", 7, 0) < 0)
		_exit(96);
	if (damage == 2) {
		char page[4096] = "";

		for (off_t at = FSC_SEG_HEADER_BYTES; pread(fd, page, 4, at) == 4; at += 4)
			if (!memcmp(page, "\5\0\0\0", 4)) { /* the duration in its column */
				if (pwrite(fd, "\6", 1, at) < 0)
					_exit(97);
				break;
			}
	}
	fsc_trace_free(t);
	fsc_build_free(b);
	close(fd);
	return (int64_t)stats.file_bytes;
}

static void fake_trace(const char *name, int withdrawn, int damage)
{
	int64_t bytes;

	child_say((struct fsc_fact){ .type = FSC_FACT_TRACE,
				     .u.trace = { .member = name,
						  .name = name,
						  .format = "kineto",
						  .rank = -1,
						  .world_size = -1,
						  .meta_json = "{}" } });
	child_say((struct fsc_fact){ .type = FSC_FACT_KERNEL,
				     .u.kernel = { .name = name,
						   .kind = "compute",
						   .count = 1,
						   .sum_ns = 5,
						   .min_ns = 5,
						   .max_ns = 5 } });
	bytes = fake_segment(name, damage);
	if (withdrawn)
		fake_failed(name);
	else
		child_say((struct fsc_fact){ .type = FSC_FACT_TRACE_END,
					     .u.trace_end = { bytes, 1, 1 } });
}

static void fake_rows(unsigned n, int same)
{
	child_say((struct fsc_fact){ .type = FSC_FACT_TRACE,
				     .u.trace = { .member = "rows",
						  .name = "rows",
						  .format = "kineto",
						  .rank = -1,
						  .world_size = -1,
						  .meta_json = "{}" } });
	for (unsigned i = 0; i < n; i++) {
		char name[16];

		snprintf(name, sizeof(name), "k%u", same ? 0 : i);
		child_say((struct fsc_fact){ .type = FSC_FACT_KERNEL,
					     .u.kernel = { .name = name, .kind = "compute" } });
	}
	int64_t bytes = fake_segment("rows", 0);
	child_say((struct fsc_fact){ .type = FSC_FACT_TRACE_END, .u.trace_end = { bytes, 1, 1 } });
}

static void fake_do(const char *word, const char *arg)
{
	if (!strcmp(word, "rows"))
		fake_rows((unsigned)strtoul(arg, NULL, 10), 0);
	else if (!strcmp(word, "trace"))
		fake_trace(arg, 0, 0);
	else if (!strcmp(word, "withdraw"))
		fake_trace(arg, 1, 0);
	else if (!strcmp(word, "garbage"))
		fake_trace(arg, 0, 1);
	else if (!strcmp(word, "damaged"))
		fake_trace(arg, 0, 2);
	else if (!strcmp(word, "fail"))
		fake_failed(arg);
	else if (!strcmp(word, "slow"))
		usleep((useconds_t)strtoul(arg, NULL, 10) * 1000);
	else if (!strcmp(word, "progress"))
		child_say((struct fsc_fact){ .type = FSC_FACT_PROGRESS,
					     .u.progress = { arg, "member", 3, 9, 27 } });
	else if (!strcmp(word, "nonsense") &&
		 write(FSC_INDEXER_FD_SOCKET, "\xff\xff\xff\xff----", 8) < 0)
		_exit(93);
	if (!strcmp(word, "dup_if") && access(arg, F_OK) == 0)
		fake_rows(2, 1);
	if (!strcmp(word, "again_if") && access(arg, F_OK) == 0)
		fake_trace("rank0", 0, 0);
	if (!strcmp(word, "full_if") && access(arg, F_OK) == 0)
		_exit(FSC_INDEXER_EXIT_FULL);
	if (!strcmp(word, "io_if") && access(arg, F_OK) == 0)
		_exit(FSC_INDEXER_EXIT_IO);
	if (!strcmp(word, "die_once") || !strcmp(word, "vanish")) {
		if (access(arg, F_OK) == 0)
			return;
		close(open(arg, O_CREAT | O_WRONLY, 0600));
	}
	if (!strcmp(word, "vanish"))
		fake_trace("gone", 0, 0);
	if (!strncmp(word, "die", 3))
		raise(SIGKILL);
}

static void fake_child(void)
{
	static char script[1 << 16];
	ssize_t n = pread(FSC_INDEXER_FD_BLOB, script, sizeof(script) - 1, 0);

	for (char *line = script, *end; n > 0 && *line; line = end + 1) {
		char *arg;

		end = strchrnul(line, '\n');
		int last = !*end;
		*end = '\0';
		arg = strchrnul(line, ' ');
		if (*arg)
			*arg++ = '\0';
		fake_do(line, arg);
		if (last)
			break;
	}
	child_say((struct fsc_fact){ .type = FSC_FACT_END, .u.end = { .offset = -1 } });
	_exit(FSC_INDEXER_EXIT_OK);
}

static void fake_indexer_main(int argc, char **argv)
{
	ssize_t n;

	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--child"))
			fake_child();
	fsc_log_setup(2, FSC_LOG_ERROR); /* failures are what these tests are about */
	n = readlink("/proc/self/exe", fake_indexer_path, sizeof(fake_indexer_path) - 1);
	if (n < 0)
		_exit(94);
}

#endif
