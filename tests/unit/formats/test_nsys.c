/* SPDX-License-Identifier: Apache-2.0 */
/* The Nsight Systems reader: what becomes of each table. Databases are made here; hostile ones in test_nsys_hostile.c. */
#include <inttypes.h>
#include <zlib.h>

#include "base/vec.h"
#include "tests/support/nsys_db.h"

static const struct fsc_track *track_of(const struct fsc_trace *t, const char *slice)
{
	return &t->tracks.v[t->slices.track[slice_named(t, slice)]];
}

static const struct fsc_launch *launch_of(const struct fsc_trace *t, const char *slice)
{
	uint32_t i = slice_named(t, slice);

	for (size_t k = 0; k < t->launches.n; k++)
		if (t->launches.v[k].slice == i)
			return &t->launches.v[k];
	fail_msg("no launch of %s", slice);
	return NULL;
}

static uint8_t kind_of(const struct fsc_trace *t, const char *slice)
{
	return t->slices.kind[slice_named(t, slice)];
}

static int64_t abs_ts(const struct fsc_trace *t, const char *slice)
{
	return t->slices.ts[slice_named(t, slice)] + t->meta.t_base_ns;
}

/* ---- GPU work ---- */

static void kernels_lie_on_their_streams(void **state)
{
	struct fsc_trace *t = nsys_must_read(NSYS_WHOLE);
	const struct fsc_track *k = track_of(t, "void gemm<float>(int)");
	const struct fsc_launch *l = launch_of(t, "void gemm<float>(int)");

	(void)state;
	assert_int_equal(k->kind, FSC_TRACK_STREAM);
	assert_int_equal(k->device, 2);
	assert_int_equal(k->context, 1);
	assert_int_equal(k->stream, 7);
	assert_string_equal(str_of(t, k->name), "GPU 2 context 1 stream 7");
	assert_int_equal(t->processes.v[k->process].pid, 4321);
	assert_int_equal(abs_ts(t, "void gemm<float>(int)"), NSYS_EPOCH + 5000);
	assert_int_equal(t->slices.dur[slice_named(t, "void gemm<float>(int)")], 2000);
	assert_int_equal(kind_of(t, "void gemm<float>(int)"), FSC_KIND_COMPUTE);
	assert_int_equal(l->grid[1], 2);
	assert_int_equal(l->block[0], 128);
	assert_int_equal(l->registers, 32);
	assert_int_equal(l->shared_bytes, 1040);
	assert_int_equal(l->graph_node_id, -1);
	k = track_of(t, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL");
	assert_int_equal(k->stream, 13);
	assert_int_equal(kind_of(t, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"), FSC_KIND_COMM);
	assert_int_equal(launch_of(t, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL")->graph_node_id,
			 5001);
	fsc_trace_free(t);
}

static void copies_sets_graphs_and_waits_have_names_and_kinds(void **state)
{
	struct fsc_trace *t = nsys_must_read(NSYS_WHOLE);
	const struct fsc_launch *l = launch_of(t, "Memcpy HtoD (Pageable -> Device)");

	(void)state;
	assert_int_equal(kind_of(t, "Memcpy HtoD (Pageable -> Device)"), FSC_KIND_MEMCPY);
	assert_int_equal(l->bytes, 4000);
	assert_true(l->bandwidth_gbs > 3.99f && l->bandwidth_gbs < 4.01f);
	assert_int_equal(kind_of(t, "Memset (Device)"), FSC_KIND_MEMSET);
	assert_int_equal(launch_of(t, "Memset (Device)")->bytes, 64);
	assert_int_equal(kind_of(t, "cudaGraph 6"), FSC_KIND_GPU_OTHER);
	assert_int_equal(launch_of(t, "cudaGraph 6")->graph_id, 6);
	assert_int_equal(kind_of(t, "Stream Sync"), FSC_KIND_SYNC);
	assert_int_equal(track_of(t, "Stream Sync")->kind, FSC_TRACK_ANNOTATION);
	assert_int_equal(track_of(t, "Stream Sync")->stream, 7);
	assert_int_equal(track_of(t, "Stream Sync")->device, 2);
	fsc_trace_free(t);
}

static void calls_and_their_work_are_joined(void **state)
{
	struct fsc_trace *t = nsys_must_read(NSYS_WHOLE);

	(void)state;
	assert_int_equal(t->flows.n, 3);
	for (size_t i = 0; i < t->flows.n; i++) {
		const struct fsc_flow *f = &t->flows.v[i];

		assert_int_equal(t->slices.correlation[f->from], t->slices.correlation[f->to]);
		assert_int_equal(t->slices.kind[f->from], FSC_KIND_RUNTIME);
		assert_true(fsc_kind_is_gpu_work(t->slices.kind[f->to]));
	}
	/* the graph's call is not in the file; the set has no number */
	assert_int_equal(loss_of(t, "launch_without_call"), 1);
	assert_int_equal(loss_of(t, "flow_start_without_end"), 0);
	fsc_trace_free(t);
}

static void the_same_numbers_in_two_processes_are_kept_apart(void **state)
{
	struct fsc_trace *t = nsys_must_read(
		"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, "
		"streamId INT, "
		"correlationId INT, globalPid INT, shortName TEXT);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES "
		"(100,200,0,7,5,1<<24,'a'),(100,200,1,7,5,2<<24,'b');"
		"CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, globalTid INT, "
		"correlationId INT, "
		"nameId TEXT);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10,20,(1<<24)|1,5,'call of a'),"
		"(10,20,(2<<24)|2,5,'call of b');");

	(void)state;
	assert_int_equal(t->flows.n, 2);
	for (size_t i = 0; i < 2; i++)
		assert_string_equal(str_of(t, t->slices.name[t->flows.v[i].from]) +
					    strlen("call of "),
				    str_of(t, t->slices.name[t->flows.v[i].to]));
	fsc_trace_free(t);
}

/* ---- host ---- */

static void calls_lie_on_their_threads(void **state)
{
	struct fsc_trace *t = nsys_must_read(NSYS_WHOLE);
	const struct fsc_track *k = track_of(t, "cudaLaunchKernel");

	(void)state;
	assert_int_equal(k->kind, FSC_TRACK_THREAD);
	assert_int_equal(k->tid, 4322);
	assert_string_equal(str_of(t, k->name), "train worker");
	assert_string_equal(str_of(t, t->processes.v[k->process].name), "python3");
	assert_int_equal(kind_of(t, "cudaLaunchKernel"), FSC_KIND_RUNTIME);
	assert_int_equal(kind_of(t, "cudaStreamSynchronize"), FSC_KIND_SYNC);
	assert_string_equal(str_of(t, t->cats.v[t->slices.cat[slice_named(t, "cuMemAlloc_v2")]]),
			    "cuda_driver");
	assert_string_equal(str_of(t,
				   t->cats.v[t->slices.cat[slice_named(t, "pthread_mutex_lock")]]),
			    "osrt");
	assert_int_equal(t->slices.track[slice_named(t, "pthread_mutex_lock")],
			 t->slices.track[slice_named(t, "step 1")]);
	fsc_trace_free(t);
}

static void nvtx_ranges_nest_on_threads_and_lie_on_lanes(void **state)
{
	struct fsc_trace *t = nsys_must_read(NSYS_WHOLE);

	(void)state;
	assert_int_equal(kind_of(t, "step 1"), FSC_KIND_USER);
	assert_int_equal(t->slices.depth[slice_named(t, "step 1")], 0);
	assert_int_equal(t->slices.depth[slice_named(t, "forward")], 1);
	assert_int_equal(kind_of(t, "a mark"), FSC_KIND_INSTANT);
	assert_int_equal(t->n_instants, 1);
	/* r1 and r2 overlap, r3 begins where r1 ends */
	assert_int_equal(track_of(t, "r1")->kind, FSC_TRACK_ASYNC);
	assert_string_equal(str_of(t, track_of(t, "r1")->name), "NVTX ranges");
	assert_ptr_equal(track_of(t, "r1"), track_of(t, "r3"));
	assert_ptr_not_equal(track_of(t, "r1"), track_of(t, "r2"));
	assert_int_equal(loss_of(t, "slice_overlap_kept"), 0);
	fsc_trace_free(t);
}

static void a_range_without_end_runs_to_the_end_of_the_trace(void **state)
{
	struct fsc_trace *t = nsys_must_read(
		"CREATE TABLE NVTX_EVENTS (start INT, end INT, eventType INT, text TEXT, globalTid "
		"INT);"
		"INSERT INTO NVTX_EVENTS VALUES (0,NULL,59,'open',1<<24),(5,100,59,'shut',1<<24),"
		"(50,NULL,60,'open range',1<<24),(7,9,77,'of another kind',1<<24);");
	uint32_t i = slice_named(t, "open");

	(void)state;
	assert_int_equal(t->slices.dur[i], 100);
	assert_true(t->slices.flags[i] & FSC_SLICE_OPEN);
	assert_int_equal(t->slices.dur[slice_named(t, "open range")], 50);
	assert_int_equal(loss_of(t, "begin_without_end"), 2);
	assert_int_equal(loss_of(t, "nvtx_event_not_read"), 1);
	fsc_trace_free(t);
}

static void many_ranges_at_a_time_share_the_last_lane(void **state)
{
	struct fsc_trace *t = nsys_must_read(
		"CREATE TABLE NVTX_EVENTS (start INT, end INT, eventType INT, text TEXT, globalTid "
		"INT);"
		"WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i < 299) "
		"INSERT INTO NVTX_EVENTS SELECT i, 1000 + i, 60, 'r', 1<<24 FROM n;");

	(void)state;
	assert_int_equal(t->slices.n, 300);
	assert_int_equal(t->tracks.n, 256);
	assert_int_equal(loss_of(t, "slice_overlap_kept"), 300 - 256);
	fsc_trace_free(t);
}

/* ---- the machine ---- */

static void the_host_its_gpus_and_its_clock_are_told_and_no_secrets(void **state)
{
	struct fsc_trace *t = nsys_must_read(NSYS_WHOLE);
	const char *json = str_of(t, t->meta.json);

	(void)state;
	assert_true(t->meta.has_epoch);
	assert_string_equal(str_of(t, t->meta.host), "node-9");
	assert_non_null(
		strstr(json, "\"deviceProperties\":[{\"id\":2,\"name\":\"NVIDIA H100 80GB HBM3\""));
	for (uint32_t i = 0; i < fsc_strtab_count(t->strings); i++)
		assert_null(strstr(str_of(t, i), "SECRET"));
	fsc_trace_free(t);
}

static void a_rank_is_taken_when_there_is_one(void **state)
{
	(void)state;
	for (int two = 0; two < 2; two++) {
		struct fsc_trace *t =
			nsys_must_read(two ? "CREATE TABLE MPI_RANKS (globalTid INT, rank INT); "
					     "INSERT INTO MPI_RANKS VALUES "
					     "(1,3),(2,4);" NSYS_STRINGS NSYS_KERNELS
					   : "CREATE TABLE MPI_RANKS (globalTid INT, rank INT); "
					     "INSERT INTO MPI_RANKS VALUES "
					     "(1,3),(2,3);" NSYS_STRINGS NSYS_KERNELS);

		assert_int_equal(t->meta.rank, two ? -1 : 3);
		fsc_trace_free(t);
	}
}

static void machines_with_the_same_process_numbers_are_kept_apart(void **state)
{
	struct fsc_trace *t = nsys_must_read(
		"CREATE TABLE OSRT_API (start INT, end INT, globalTid INT, nameId TEXT);"
		"INSERT INTO OSRT_API VALUES "
		"(1,2,(1<<56)|(9<<24)|9,'a'),(1,2,(2<<56)|(9<<24)|9,'b'),"
		"(1,2,(200<<56)|(9<<24)|9,'c');");

	(void)state;
	assert_int_equal(t->processes.n, 3);
	assert_int_equal(t->processes.v[track_of(t, "a")->process].pid, 9);
	assert_ptr_not_equal(track_of(t, "b"), track_of(t, "c"));
	fsc_trace_free(t);
}

/* ---- lazily made tables, other versions ---- */

static void missing_tables_and_columns_are_no_fault(void **state)
{
	struct fsc_trace *t = nsys_must_read(
		"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100,200),(300,450);");

	(void)state;
	assert_int_equal(t->slices.n, 2);
	assert_int_equal(t->tracks.v[0].kind, FSC_TRACK_STREAM);
	assert_int_equal(t->tracks.v[0].device, FSC_NO_ORDINAL);
	assert_false(t->meta.has_epoch);
	assert_int_equal(loss_of(t, "name_missing"), 2);
	fsc_trace_free(t);
}

static void what_is_not_read_is_counted_by_table(void **state)
{
	struct fsc_trace *t = nsys_must_read(NSYS_WHOLE);

	(void)state;
	assert_int_equal(loss_of(t, "sched_events_not_read"), 2);
	assert_int_equal(loss_of(t, "tables_not_read"), 1);
	assert_non_null(
		strstr(str_of(t, t->meta.json), "\"tables_not_read\":[\"SOME_FUTURE_EVENTS\"]"));
	fsc_trace_free(t);
}

static void columns_that_are_not_known_become_arguments(void **state)
{
	struct fsc_trace *t = nsys_must_read(
		"CREATE TABLE OSRT_API (start INT, end INT, globalTid INT, nameId TEXT, future "
		"REAL, \"odd "
		"\"\"name\" TEXT, data BLOB, more INT);"
		"INSERT INTO OSRT_API VALUES "
		"(1,2,1<<24,'a',0.5,'x',x'00ff',NULL),(3,4,1<<24,'b',9e999,'',NULL,7);");

	(void)state;
	assert_int_equal(fsc_args_count(t->args), 2);
	assert_int_equal(loss_of(t, "blob_left_out"), 1);
	assert_int_equal(loss_of(t, "number_not_finite"), 1);
	fsc_trace_free(t);
}

static void wrong_types_cost_the_row_and_are_counted(void **state)
{
	struct fsc_trace *t = nsys_must_read(
		NSYS_STRINGS
		"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, "
		"correlationId, "
		"globalPid, demangledName);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES "
		"(100,200,0,7,1,1<<24,1),('100',200,0,7,1,1<<24,1),(100,NULL,0,7,1,1<<24,1),"
		"(x'01',200,0,7,1,1<<24,1),(1.5,200,0,7,1,1<<24,1),"
		"(100,200,'zero',x'07',1.5,'p',999),"
		"(9223372036854775807,9223372036854775807,0,7,1,1<<24,1),(900,800,0,7,1,1<<24,1);"
		"CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, nameId);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES "
		"(1,2,NULL,4),(1,2,'x',4),(1,2,1<<24,x'00');");

	(void)state;
	assert_int_equal(loss_of(t, "row_unreadable"), 4 + 2);
	assert_int_equal(loss_of(t, "event_bad_ts"), 1);
	assert_int_equal(loss_of(t, "negative_duration"), 1);
	/* the kernel whose name leads nowhere, and the call without one */
	assert_int_equal(loss_of(t, "name_missing"), 2);
	assert_int_equal(t->slices.n, 4);
	fsc_trace_free(t);
}

static void names_are_repaired(void **state)
{
	struct fsc_trace *t = nsys_must_read(
		"CREATE TABLE OSRT_API (start INT, end INT, globalTid INT, nameId TEXT);"
		"INSERT INTO OSRT_API VALUES (1,2,1<<24,CAST(x'61ff62' AS "
		"TEXT)),(3,4,1<<24,CAST(x'610062' AS TEXT));");

	(void)state;
	assert_int_equal(loss_of(t, "utf8_repaired"), 1);
	assert_int_equal(loss_of(t, "control_character"), 1);
	assert_int_equal(t->slices.name[0], t->slices.name[1]);
	fsc_trace_free(t);
}

/* ---- where the bytes come from ---- */

static void gzip_to(struct fsc_buf *b, const void *p, size_t n)
{
	z_stream z = { .next_in = (z_const Bytef *)(uintptr_t)p, .avail_in = (uInt)n };
	char *room = fsc_buf_room(b, n + 1000);

	assert_non_null(room);
	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_out = (Bytef *)room;
	z.avail_out = (uInt)(n + 1000);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	b->len += z.total_out;
	deflateEnd(&z);
}

static void a_compressed_database_reads_like_a_plain_one(void **state)
{
	struct fsc_trace *plain = nsys_must_read(NSYS_WHOLE), *packed;
	struct fsc_buf b = FSC_BUF_INIT(1u << 20), gz = FSC_BUF_INIT(1u << 20);
	struct fsc_err err = FSC_ERR_INIT;
	char path[300], dir[200];
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "%s/x.sqlite", test_tmpdir(dir, sizeof(dir)));
	nsys_make(path, NSYS_WHOLE);
	f = fopen(path, "rb");
	assert_non_null(f);
	assert_non_null(fsc_buf_room(&b, 1u << 19));
	b.len = fread(b.data, 1, 1u << 19, f);
	fclose(f);
	unlink(path);
	rmdir(dir);
	gzip_to(&gz, b.data, b.len);
	packed = read_trace_text(gz.data, gz.len, &err);
	assert_non_null(packed);
	assert_int_equal(packed->slices.n, plain->slices.n);
	assert_int_equal(packed->flows.n, plain->flows.n);
	assert_memory_equal(packed->slices.ts, plain->slices.ts, plain->slices.n * sizeof(int64_t));
	fsc_trace_free(packed);
	fsc_trace_free(plain);
	fsc_buf_fini(&b);
	fsc_buf_fini(&gz);
}

static void a_database_of_something_else_is_no_timeline(void **state)
{
	static const char *const all[] = {
		"CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT);",
		"PRAGMA user_version = 7; CREATE TABLE a(b); DROP TABLE a;", NSYS_STRINGS
	};

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(all); i++) {
		struct fsc_err err = FSC_ERR_INIT;

		assert_null(nsys_read(all[i], &err));
		assert_int_equal(err.status, FSC_EUNSUPPORTED);
		assert_string_equal(err.code, "not_a_timeline");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_lie_on_their_streams),
		cmocka_unit_test(copies_sets_graphs_and_waits_have_names_and_kinds),
		cmocka_unit_test(calls_and_their_work_are_joined),
		cmocka_unit_test(the_same_numbers_in_two_processes_are_kept_apart),
		cmocka_unit_test(calls_lie_on_their_threads),
		cmocka_unit_test(nvtx_ranges_nest_on_threads_and_lie_on_lanes),
		cmocka_unit_test(a_range_without_end_runs_to_the_end_of_the_trace),
		cmocka_unit_test(many_ranges_at_a_time_share_the_last_lane),
		cmocka_unit_test(the_host_its_gpus_and_its_clock_are_told_and_no_secrets),
		cmocka_unit_test(a_rank_is_taken_when_there_is_one),
		cmocka_unit_test(machines_with_the_same_process_numbers_are_kept_apart),
		cmocka_unit_test(missing_tables_and_columns_are_no_fault),
		cmocka_unit_test(what_is_not_read_is_counted_by_table),
		cmocka_unit_test(columns_that_are_not_known_become_arguments),
		cmocka_unit_test(wrong_types_cost_the_row_and_are_counted),
		cmocka_unit_test(names_are_repaired),
		cmocka_unit_test(a_compressed_database_reads_like_a_plain_one),
		cmocka_unit_test(a_database_of_something_else_is_no_timeline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
