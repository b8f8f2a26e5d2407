/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The indexer's whole run over a bundle, in which the n-th allocation or the n-th operation on a file fails.
 * The parent learns of it each time: by an error that names memory or the disk, or by facts that are the same
 * as those of a run without trouble. No run dies in another way, and none leaks. The program is its own
 * indexer: started with --child it does what fleetscope-indexer does, outside the sandbox, with a fault armed.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/crypto.h"
#include "base/log.h"
#include "base/num.h"
#include "demo/demo.h"
#include "facts/fact_codec.h"
#include "facts/indexer_client.h"
#include "indexer/work.h"
#include "tests/support/torture.h"

#define LEAKED 77

/* Shared with the child through a file that it finds by the name of the upload. */
struct report {
	uint64_t count;
	bool fired;
	char where[FAULTS_WHERE];
	uint32_t stacks[TORTURE_MAX];
};
#define REPORT_BYTES sizeof(struct report)

/* ---- the child ---- */

/* --name=KIND:N:REPORT */
static int child(char *spec)
{
	struct fsc_work work = { .socket_fd = FSC_INDEXER_FD_SOCKET,
				 .blob_fd = FSC_INDEXER_FD_BLOB,
				 .name = "upload",
				 .upload = FSC_IDENTITY_INIT };
	struct fsc_err err = FSC_ERR_INIT;
	struct report *r;
	char *colon = strchr(spec + 2, ':');
	enum fault_kind kind = spec[0] == 'a' ? FAULT_ALLOC : FAULT_IO;
	uint64_t n = 0;
	int fd, code;

	if (!colon || !fsc_parse_u64(&n, spec + 2, (size_t)(colon - spec - 2)))
		return 90;
	fd = open(colon + 1, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return 91;
	r = mmap(NULL, REPORT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (r == MAP_FAILED)
		return 92;
	fsc_log_setup(2, FSC_LOG_ERROR);
	fsc_work_warm_up();
	if (!n)
		faults_record(r->stacks, TORTURE_MAX);
	faults_tell(r->where);
	faults_arm(kind, n);
	code = fsc_work_run(&work, &err);
	faults_disarm();
	if (err.status != FSC_OK)
		dprintf(2, "%s\n", err.msg);
	r->count = faults_count();
	r->fired = faults_fired();
	return n && faults_leaked() ? LEAKED : code;
}

/* ---- the parent ---- */

struct seen {
	struct fsc_sha256 *hash; /* of all facts but progress */
	bool says_memory;
	char failed[256]; /* why a member or the bundle failed */
	FILE *segment;
};

static enum fsc_status take_fact(void *ctx, const struct fsc_fact *f, struct fsc_err *err)
{
	struct fsc_buf b = FSC_BUF_INIT(4 << 20);
	struct seen *s = ctx;
	const char *code = f->type == FSC_FACT_MEMBER ? f->u.member.code
			   : f->type == FSC_FACT_END  ? f->u.end.code
						      : "";

	(void)err;
	if (f->type == FSC_FACT_PROGRESS)
		return FSC_OK;
	assert_int_equal(fsc_fact_encode(&b, f), FSC_OK);
	fsc_sha256_update(s->hash, b.data, b.len);
	fsc_buf_fini(&b);
	s->says_memory |= !strcmp(code, "indexer_memory");
	if (code[0])
		snprintf(s->failed, sizeof(s->failed), "%s: %.200s", code,
			 f->type == FSC_FACT_MEMBER ? f->u.member.message : f->u.end.message);
	if ((f->type == FSC_FACT_TRACE_END || f->type == FSC_FACT_MEMBER) && s->segment) {
		fclose(s->segment);
		s->segment = NULL;
	}
	return FSC_OK;
}

static enum fsc_status give_segment(void *ctx, int *fd, struct fsc_err *err)
{
	struct seen *s = ctx;

	(void)err;
	s->segment = tmpfile();
	assert_non_null(s->segment);
	*fd = fileno(s->segment);
	return FSC_OK;
}

static char self[4096];

struct outcome {
	enum fsc_status st;
	struct fsc_err err;
	struct fsc_indexer_result res;
	uint8_t facts[FSC_SHA256_LEN];
	bool says_memory;
	char failed[256];
};

static void run_one(struct outcome *o, int blob, struct report *report, const char *path,
		    enum fault_kind kind, uint64_t n)
{
	struct fsc_indexer_job job = FSC_INDEXER_JOB_INIT;
	struct seen seen = { .hash = fsc_sha256_new() };
	struct fsc_indexer_sink sink = { &seen, take_fact, give_segment };
	char name[512];

	memset(o, 0, sizeof(*o));
	report->where[0] = '\0';
	report->fired = false;
	snprintf(name, sizeof(name), "%c:%llu:%s", kind == FAULT_ALLOC ? 'a' : 'i',
		 (unsigned long long)n, path);
	job.program = self;
	job.name = name;
	job.max_wall_s = 120;
	job.blob_fd = blob;
	assert_int_equal(lseek(blob, 0, SEEK_SET), 0);
	o->st = fsc_indexer_run(&job, &sink, &o->res, NULL, &o->err);
	if (seen.segment)
		fclose(seen.segment);
	fsc_sha256_final(seen.hash, o->facts);
	fsc_sha256_free(seen.hash);
	o->says_memory = seen.says_memory;
	memcpy(o->failed, seen.failed, sizeof(o->failed));
}

/* By signal, or as a sanitizer tells of it (AddressSanitizer with status 1, ThreadSanitizer with 66). */
static bool died_of_segv(const struct outcome *o)
{
	return o->res.term_signal == SIGSEGV ||
	       ((o->res.exit_code == 1 || o->res.exit_code == 66) &&
		strstr(o->err.msg, "Sanitizer:DEADLYSIGNAL"));
}

/* What may come of a fault: the same facts, or the truth about what was missing. */
static bool is_honest(const struct outcome *o, const struct outcome *sound, enum fault_kind kind,
		      const char *where)
{
	if (o->st == FSC_OK)
		return o->says_memory ? kind == FAULT_ALLOC
				      : !memcmp(o->facts, sound->facts, FSC_SHA256_LEN);
	/* libarchive 3.6 uses what it got from archive_entry_new() and some more without a look: the run dies of
	 * SIGSEGV, which the worker tells as a killed indexer and tries again */
	if (strstr(where, "libarchive") && o->err.code[0] && !strcmp(o->err.code, "indexer_killed"))
		return died_of_segv(o);
	if (kind == FAULT_ALLOC)
		return !strcmp(o->err.code, "indexer_memory");
	return !strcmp(o->err.code, "disk_full") || !strcmp(o->err.code, "indexer_io");
}

static int make_bundle(void)
{
	struct fsc_demo_opts opts = { .ranks = 2, .steps = 2, .layers = 1, .seed = 7 };
	struct fsc_err err = FSC_ERR_INIT;
	int fd = memfd_create("bundle", MFD_CLOEXEC);

	assert_true(fd >= 0);
	if (fsc_demo_bundle(fd, &opts, &err) != FSC_OK)
		fail_msg("%s", err.msg);
	return fd;
}

static void torture(enum fault_kind kind)
{
	char dir[256], path[300];
	int blob = make_bundle(), fd, bad = 0;
	struct outcome sound, o;
	size_t fired = 0;

	if (test_is_wrapped())
		skip();
	snprintf(path, sizeof(path), "%s/report", test_tmpdir(dir, sizeof(dir)));
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, REPORT_BYTES), 0);
	struct report *r = mmap(NULL, REPORT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	assert_true(r != MAP_FAILED);
	run_one(&sound, blob, r, path, kind, 0);
	if (sound.st != FSC_OK || sound.failed[0])
		fail_msg("%s %s: %s", sound.failed, sound.err.code, sound.err.msg);
	struct torture_plan plan = torture_plan(r->stacks, r->count);

	print_message("# %zu of %zu %ss are to fail in turn\n", plan.len, (size_t)r->count,
		      torture_kind(kind));
	for (size_t i = 0; i < plan.len; i++) {
		run_one(&o, blob, r, path, kind, plan.n[i]);
		fired += r->where[0] != '\0';
		if (is_honest(&o, &sound, kind, r->where))
			continue;
		print_message("# %s %u (%s): status %d %s: %s; exit %d; facts: %s\n",
			      torture_kind(kind), plan.n[i], r->where, o.st, o.err.code, o.err.msg,
			      o.res.exit_code, o.failed);
		bad++;
	}
	munmap(r, REPORT_BYTES);
	free(plan.n);
	close(fd);
	close(blob);
	unlink(path);
	rmdir(dir);
	assert_int_equal(bad, 0);
	assert_int_equal(fired, plan.len);
}

static void an_allocation_that_fails_is_told_as_such(void **state)
{
	(void)state;
	torture(FAULT_ALLOC);
}

static void a_file_operation_that_fails_is_told_as_such(void **state)
{
	(void)state;
	torture(FAULT_IO);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_allocation_that_fails_is_told_as_such),
		cmocka_unit_test(a_file_operation_that_fails_is_told_as_such),
	};

	for (int i = 1; i < argc; i++)
		if (!strncmp(argv[i], "--name=", 7))
			_exit(child(argv[i] + 7));
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	torture_use_memory();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
