/* SPDX-License-Identifier: Apache-2.0 */
/* The real program in its sandbox: bundles good, bad and mixed, and what it tells about them. */
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/crypto.h"
#include "base/limits.h"
#include "tests/unit/bundle/tar_util.h"
#include "tests/unit/indexer/run_program.h"

static const char good[] =
	"{\"schemaVersion\":1,\"distributedInfo\":{\"rank\":5,\"world_size\":8},"
	"\"baseTimeNanoseconds\":1000000,"
	"\"traceEvents\":["
	"{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#1\",\"pid\":9,\"tid\":9,"
	"\"ts\":10,\"dur\":100},"
	"{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#2\",\"pid\":9,\"tid\":9,"
	"\"ts\":110,\"dur\":100},"
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":9,\"tid\":9,"
	"\"ts\":20,\"dur\":2,"
	"\"args\":{\"correlation\":1}},"
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":9,\"tid\":9,"
	"\"ts\":120,\"dur\":2,"
	"\"args\":{\"correlation\":2}},"
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":30.5,"
	"\"dur\":20,"
	"\"args\":{\"device\":0,\"context\":1,\"stream\":7,\"correlation\":1}},"
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_X\",\"pid\":0,\"tid\":7,\"ts\":"
	"130,\"dur\":7.25,"
	"\"args\":{\"device\":0,\"context\":1,\"stream\":7,\"correlation\":2}}]}";

static struct fsc_indexer_job new_job(const char *name)
{
	struct fsc_indexer_job job = FSC_INDEXER_JOB_INIT;

	job.name = name;
	job.max_wall_s = 120;
	return job;
}

static void must_run(const struct told *d)
{
	if (d->st != FSC_OK)
		fail_msg("%s: %s", d->err.code, d->err.msg);
}

static const struct fsc_fact_member *member(const struct told *d, const char *path)
{
	for (size_t i = 0; i < d->members.n; i++)
		if (!strcmp(d->members.v[i].member, path))
			return &d->members.v[i];
	fail_msg("nothing was told about %s", path);
	return NULL;
}

static void a_single_file_becomes_one_trace_with_its_facts(void **state)
{
	struct fsc_indexer_job job = new_job("up.json");
	uint8_t sha[32] = { 7, 8, 9 };
	struct told d;

	(void)state;
	job.job = "train";
	job.host = "node-1";
	job.capture = "c";
	job.blob_sha256 = sha;
	told_run_bytes(&d, job, good, strlen(good));
	must_run(&d);
	assert_int_equal(d.end.status, FSC_OK);
	assert_int_equal(d.members.n, 0);
	assert_int_equal(d.traces.n, 1);
	assert_true(d.n_progress >= 2);
	const struct told_trace *t = &d.traces.v[0];
	assert_string_equal(t->t.member, "up.json");
	assert_string_equal(t->t.name, "up.json");
	assert_string_equal(t->t.format, "kineto");
	assert_string_equal(t->t.job, "train");
	assert_string_equal(t->t.host, "node-1");
	assert_string_equal(t->t.capture, "c");
	assert_int_equal(t->t.rank, 5);
	assert_int_equal(t->t.world_size, 8);
	assert_int_equal(t->t.slices, 6);
	assert_int_equal(t->t.launch_pairs, 2);
	assert_int_equal(t->t.launch_none, 0);
	assert_string_equal(t->t.source_disagreements, "");
	assert_non_null(strstr(t->t.meta_json, "\"world_size\":8"));
	/* two steps: both scopes */
	assert_int_equal(t->devices.n, 2);
	assert_int_equal(t->devices.v[0].scope, FSC_SCOPE_ALL);
	assert_int_equal(t->devices.v[0].busy_ns, 27250);
	assert_int_equal(t->devices.v[1].scope, FSC_SCOPE_NO_LAST);
	assert_int_equal(t->devices.v[1].busy_ns, 20000);
	assert_int_equal(t->kernels.n, 2);
	assert_string_equal(t->kernels.v[0].name, "gemm");
	assert_string_equal(t->kernels.v[1].kind, "comm");
	assert_int_equal(t->steps.n, 2);
	assert_int_equal(t->categories.n, 3);
	/* the segment says the same */
	assert_int_equal(fsc_seg_verify(t->seg, NULL), FSC_OK);
	assert_int_equal(fsc_seg_info(t->seg)->rank, 5);
	assert_memory_equal(fsc_seg_info(t->seg)->blob_sha256, sha, 32);
	assert_string_equal(fsc_seg_str(t->seg, fsc_seg_info(t->seg)->job, NULL), "train");
	told_fini(&d);
}

static void a_bad_rank_among_good_ones_fails_alone(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(1 << 20);
	struct told d;

	(void)state;
	tar_file(&b, "run/rank0.json", good);
	tar_header(&b, "run/rank1.json", '0', 200, NULL);
	tar_data(&b, good, 200);
	tar_file(&b, "run/notes.txt", "hello");
	tar_file(&b, "run/page.json", "<html>no</html>");
	tar_header(&b, "run/link", '2', 0, "/etc/passwd");
	tar_header(&b, "run/dev", '3', 0, NULL);
	tar_file(&b, "../../escape.json", good);
	tar_file(&b, "/abs.json", good);
	tar_file(&b, "run/rank2.json", good);
	tar_file(&b, "run/rank2.json", good);
	tar_end(&b);
	told_run_bytes(&d, new_job("run.tar"), b.data, b.len);
	must_run(&d);
	assert_int_equal(d.end.status, FSC_OK);
	assert_int_equal(d.traces.n, 2);
	assert_string_equal(d.traces.v[0].t.name, "run/rank0.json");
	assert_true(d.traces.v[0].finished && d.traces.v[1].finished);
	assert_string_equal(member(&d, "run/rank1.json")->outcome, "failed");
	assert_true(member(&d, "run/rank1.json")->offset > 0);
	assert_string_equal(member(&d, "run/notes.txt")->outcome, "skipped");
	assert_string_equal(member(&d, "run/page.json")->code, "html");
	assert_string_equal(member(&d, "run/link")->code, "member_symlink");
	assert_string_equal(member(&d, "run/dev")->code, "member_device");
	assert_string_equal(member(&d, "../../escape.json")->code, "member_traversal");
	assert_string_equal(member(&d, "/abs.json")->code, "member_absolute");
	assert_string_equal(member(&d, "run/rank2.json")->code, "member_duplicate");
	/* the trace says rank 5, the names 0 and 2: told, not hidden */
	assert_int_equal(d.traces.v[0].t.rank, 5);
	assert_non_null(strstr(d.traces.v[0].t.source_disagreements, "\"other\":\"0\""));
	bool counted = false;
	for (size_t i = 0; i < d.traces.v[0].losses.n; i++)
		counted |= !strcmp(d.traces.v[0].losses.v[i].code, "identity_disagreement");
	assert_true(counted);
	told_fini(&d);
	fsc_buf_fini(&b);
}

static void the_manifest_says_who_a_file_is_of(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(1 << 20), m = FSC_BUF_INIT(1 << 20);
	char hex[FSC_SHA256_HEX];
	uint8_t sha[32];
	struct told d;

	(void)state;
	fsc_sha256(sha, good, strlen(good));
	fsc_hex(hex, sha, 32);
	fsc_buf_addf(
		&m,
		"{\"version\":1,\"job\":\"mjob\",\"host\":\"mhost\",\"world_size\":16,\"files\":["
		"{\"path\":\"x.json\",\"rank\":3,\"sha256\":\"%s\"},"
		"{\"path\":\"y.json\",\"rank\":4,\"sha256\":\"%064d\"}]}",
		hex, 0);
	tar_file(&b, "manifest.json", m.data);
	tar_file(&b, "x.json", good);
	tar_file(&b, "y.json", good);
	tar_end(&b);
	told_run_bytes(&d, new_job("m.tar"), b.data, b.len);
	must_run(&d);
	/* a file with another digest than promised is not published */
	assert_int_equal(d.traces.n, 1);
	assert_true(d.traces.v[0].finished);
	assert_string_equal(member(&d, "y.json")->outcome, "failed");
	assert_string_equal(member(&d, "y.json")->code, "digest_mismatch");
	assert_string_equal(d.traces.v[0].t.job, "mjob");
	assert_string_equal(d.traces.v[0].t.host, "mhost");
	assert_int_equal(d.traces.v[0].t.rank, 3);
	assert_int_equal(d.traces.v[0].t.world_size, 16);
	assert_non_null(strstr(d.end.manifest_json, "\"mjob\""));
	told_fini(&d);
	fsc_buf_fini(&b);
	fsc_buf_fini(&m);
}

/* A blob alone: what is told about it. */
static void refuse(const void *p, size_t n, const char *code)
{
	struct told d;

	told_run_bytes(&d, new_job("blob"), p, n);
	must_run(&d);
	assert_int_equal(d.traces.n, 0);
	if (d.end.status == FSC_OK) {
		assert_int_equal(d.members.n, 1);
		assert_string_equal(d.members.v[0].outcome, "failed");
		assert_string_equal(d.members.v[0].code, code);
		assert_true(d.members.v[0].message[0] != '\0');
	} else {
		assert_string_equal(d.end.code, code);
		assert_true(d.end.message[0] != '\0');
	}
	told_fini(&d);
}

static void what_is_no_trace_is_refused_by_name(void **state)
{
	static const uint8_t noise[] = { 0xC3, 0x28, 0xFF, 0x00, 0x13, 0x37, 0x80, 0x81 };
	static const char html[] = "<!doctype html><title>502 Bad Gateway</title>";
	static const char list[] = "{\"nodes\":[],\"other\":{}}";

	(void)state;
	refuse("", 0, "empty_file");
	refuse(noise, sizeof(noise), "unknown_format");
	refuse(html, strlen(html), "html");
	refuse(list, strlen(list), "not_a_timeline");
	refuse(good, strlen(good) - 40, "json_truncated");
}

static void an_archive_without_any_trace_is_refused(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(1 << 20);
	struct told d;

	(void)state;
	tar_file(&b, "notes.txt", "hello");
	tar_end(&b);
	told_run_bytes(&d, new_job("notes.tar"), b.data, b.len);
	must_run(&d);
	assert_int_equal(d.end.status, FSC_EUNSUPPORTED);
	assert_string_equal(d.end.code, "no_trace");
	assert_string_equal(member(&d, "notes.txt")->outcome, "skipped");
	told_fini(&d);
	fsc_buf_fini(&b);
}

static void a_million_brackets_are_refused_quickly(void **state)
{
	size_t n = 64u << 20;
	char *p = malloc(n);

	(void)state;
	assert_non_null(p);
	memset(p, '[', n);
	refuse(p, n, "json_too_deep");
	free(p);
}

static void names_outside_ascii_survive_the_sandbox(void **state)
{
	/* a zip with the UTF-8 flag: its reader asks the C library for time zone and character sets */
	static const uint8_t zip[] = {
		'P',  'K',  3,	  4,   20,  0,	 0,   8,   0,	 0,    0,    0,	   0x21, 0x50, 0x43,
		0xBF, 0xA6, 0xA3, 2,   0,   0,	 0,   2,   0,	 0,    0,    7,	   0,	 0,    0,
		0xC3, 0xA9, '.',  'j', 's', 'o', 'n', '{', '}',	 'P',  'K',  1,	   2,	 20,   0,
		20,   0,    0,	  8,   0,   0,	 0,   0,   0x21, 0x50, 0x43, 0xBF, 0xA6, 0xA3, 2,
		0,    0,    0,	  2,   0,   0,	 0,   7,   0,	 0,    0,    0,	   0,	 0,    0,
		0,    0,    0,	  0,   0,   0,	 0,   0,   0,	 0,    0xC3, 0xA9, '.',	 'j',  's',
		'o',  'n',  'P',  'K', 5,   6,	 0,   0,   0,	 0,    1,    0,	   1,	 0,    53,
		0,    0,    0,	  39,  0,   0,	 0,   0,   0
	};
	struct told d;

	(void)state;
	told_run_bytes(&d, new_job("z.zip"), zip, sizeof(zip));
	must_run(&d);
	assert_string_equal(d.end.code, "no_trace");
	assert_string_equal(member(&d, "\xC3\xA9.json")->outcome, "skipped");
	assert_string_equal(member(&d, "\xC3\xA9.json")->code, "not_a_timeline");
	told_fini(&d);
}

/* Half a million slices with names of their own, in an address space that does not hold them. */
static void a_trace_too_big_for_the_memory_limit_fails_with_that_reason(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(512 << 20);
	struct fsc_indexer_job job = new_job("big.json");
	char program[4096];
	bool plain = false;
	struct told d;

	(void)state;
	indexer_program(program, sizeof(program), &plain);
	if (!plain) {
		print_message("skipped, a sanitizer build has no memory limit\n");
		skip();
	}
	fsc_buf_adds(&b, "{\"schemaVersion\":1,\"traceEvents\":[{\"ph\":\"M\"}");
	for (int i = 0; i < 500000; i++)
		fsc_buf_addf(&b,
			     ",{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"operator with a name of "
			     "its own %d\",\"pid\":1,"
			     "\"tid\":1,\"ts\":%d,\"dur\":1}",
			     i, 2 * i);
	fsc_buf_adds(&b, "]}");
	job.max_memory_bytes = 64 << 20;
	told_run_bytes(&d, job, b.data, b.len);
	if (d.st == FSC_OK) {
		assert_int_equal(d.traces.n, 0);
		assert_string_equal(d.members.v[0].code, "indexer_memory");
	} else {
		assert_string_equal(d.err.code, "indexer_memory");
	}
	told_fini(&d);
	/* the same file is fine with room */
	job.max_memory_bytes = 0;
	told_run_bytes(&d, job, b.data, b.len);
	must_run(&d);
	assert_int_equal(d.traces.n, 1);
	assert_int_equal(d.traces.v[0].t.slices, 500000);
	told_fini(&d);
	fsc_buf_fini(&b);
}

static uint64_t loss_of(const struct told_trace *t, const char *code)
{
	for (size_t i = 0; i < t->losses.n; i++)
		if (!strcmp(t->losses.v[i].code, code))
			return (uint64_t)t->losses.v[i].count;
	return 0;
}

/* More rows than one transaction should have: the largest are told, the others counted, the segment has all. */
static void facts_of_a_trace_without_end_are_bounded_and_counted(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(64 << 20);
	const unsigned n = FSC_FACT_ROWS_KIND + 700;
	struct told d;

	(void)state;
	fsc_buf_adds(&b, "{\"schemaVersion\":1,\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\","
			 "\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":1}");
	for (unsigned i = 0; i < n; i++) {
		fsc_buf_addf(&b,
			     ",{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k%u\",\"pid\":0,"
			     "\"tid\":7,\"ts\":%u,\"dur\":%u,\"args\":{\"device\":0,"
			     "\"stream\":7}}",
			     i, i * 10, 1 + (i < 700 ? 0 : 5));
		fsc_buf_addf(&b,
			     ",{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":"
			     "\"ProfilerStep#%u\",\"pid\":1,\"tid\":1,\"ts\":%u,\"dur\":10}",
			     i, i * 10);
	}
	fsc_buf_adds(&b, "]}");
	told_run_bytes(&d, new_job("many.json"), b.data, b.len);
	must_run(&d);
	assert_int_equal(d.traces.n, 1);
	const struct told_trace *t = &d.traces.v[0];
	assert_int_equal(t->kernels.n, FSC_FACT_ROWS_KIND);
	assert_int_equal(loss_of(t, "kernels_not_stored"), 700);
	assert_int_equal(t->steps.n, FSC_FACT_ROWS_KIND);
	assert_int_equal(loss_of(t, "steps_not_stored"), 700);
	for (size_t i = 0; i < t->kernels.n; i++)
		assert_true(t->kernels.v[i].sum_ns == 6000); /* none of the short ones */
	assert_int_equal(t->t.slices, 2 * n + 1);
	told_fini(&d);
	fsc_buf_fini(&b);
}

/* A limit on file sizes stands for a full disk. It cannot be raised again, so a process of its own has it. */
static int run_on_a_full_disk(const char *bytes, size_t n)
{
	struct told d;
	int pid = fork(), status = 0;

	assert_true(pid >= 0);
	if (pid == 0) {
		struct rlimit r = { 4096, 4096 };
		int code = 0;

		if (setrlimit(RLIMIT_FSIZE, &r))
			_exit(1);
		told_run_bytes(&d, new_job("up"), bytes, n);
		if (d.st != FSC_EFULL || strcmp(d.err.code, "disk_full") != 0)
			code |= 2;
		if (d.members.n || (d.traces.n && d.traces.v[0].finished))
			code |= 4;
		if (d.res.exit_code != FSC_INDEXER_EXIT_FULL)
			code |= 8;
		_exit(code);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 256;
}

static void a_full_disk_is_no_fault_of_the_trace(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(1 << 20);

	(void)state;
	assert_int_equal(run_on_a_full_disk(good, strlen(good)), 0);
	/* nor of the members of an archive, of which one could be skipped */
	tar_header(&b, "a", '0', strlen(good), NULL);
	tar_data(&b, good, strlen(good));
	tar_end(&b);
	assert_true(b.len <= 4096);
	assert_int_equal(run_on_a_full_disk(b.data, b.len), 0);
	fsc_buf_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_single_file_becomes_one_trace_with_its_facts),
		cmocka_unit_test(a_bad_rank_among_good_ones_fails_alone),
		cmocka_unit_test(the_manifest_says_who_a_file_is_of),
		cmocka_unit_test(what_is_no_trace_is_refused_by_name),
		cmocka_unit_test(an_archive_without_any_trace_is_refused),
		cmocka_unit_test(a_million_brackets_are_refused_quickly),
		cmocka_unit_test(names_outside_ascii_survive_the_sandbox),
		cmocka_unit_test(a_trace_too_big_for_the_memory_limit_fails_with_that_reason),
		cmocka_unit_test(facts_of_a_trace_without_end_are_bounded_and_counted),
		cmocka_unit_test(a_full_disk_is_no_fault_of_the_trace),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
