/* SPDX-License-Identifier: Apache-2.0 */
/* The XPlane reader: hand-made planes of a TPU, a GPU and their host, and every way they can be broken. */
#include <inttypes.h>
#include <math.h>
#include <zstd.h>

#include "formats/xplane.h"
#include "tests/support/read_trace.h"
#include "tests/support/xspace.h"

#define T0 1700000000000000000LL

/* All args records of the trace, one behind the other. */
static const char *args_text(const struct fsc_trace *t)
{
	static char raw[FSC_ARGS_BLOCK_BYTES * 2];
	uint64_t n;
	uint32_t blocks;
	const uint8_t *bytes = fsc_args_bytes(t->args, &n);
	const struct fsc_args_block *k = fsc_args_blocks(t->args, &blocks);

	raw[0] = '\0';
	if (blocks) {
		size_t m =
			ZSTD_decompress(raw, sizeof(raw) - 1, bytes + k->offset, k->stored_bytes);

		assert_false(ZSTD_isError(m));
		for (size_t i = 0; i < m; i++)
			if (!raw[i])
				raw[i] = '?';
		raw[m] = '\0';
	}
	return raw;
}

static struct fsc_trace *read_space(const struct fsc_buf *b)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_trace *t = read_trace_text(b->data, b->len, &err);

	if (!t)
		fail_msg("%s: %s at %lld", err.code, err.msg, (long long)err.offset);
	assert_string_equal(str_of(t, t->meta.format), "xplane");
	return t;
}

static const struct fsc_track *track_of(const struct fsc_trace *t, const char *slice)
{
	return &t->tracks.v[t->slices.track[slice_named(t, slice)]];
}

/* ---- samples ---- */

static void gpu_plane(struct fsc_buf *b)
{
	size_t p = xs_plane(b, 1, "/device:GPU:3"),
	       l = xs_line(b, 13, "Stream #13(Memcpy,Compute)", T0), e;

	e = xs_event(b, 1, 5000000, 2000000);
	xs_stat_uint(b, 4, 1, 77);
	xs_stat_str(b, 4, 2,
		    "regs:32 static_shared:1024 dynamic_shared:16 grid:8,2,1 block:128,1,1 "
		    "occ_pct:37.5");
	xs_end(b, e);
	e = xs_event(b, 2, 8000000, 1000000);
	xs_stat_uint(b, 4, 1, 78);
	xs_stat_str(b, 4, 3, "kind_src:pageable kind_dst:device size:4096 dest:0 async:1");
	xs_end(b, e);
	e = xs_event(b, 3, 9000000, 1000000);
	xs_stat_uint(b, 4, 1, 79);
	xs_end(b, e);
	xs_end(b, l);
	l = xs_line(b, 1, "XLA Ops", T0);
	xs_plain_event(b, 4, 5000000, 2000000);
	xs_end(b, l);
	xs_name(b, 4, 1, "loop_fusion_3");
	xs_name(b, 4, 2, "MemcpyH2D");
	xs_name(b, 4, 3, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
	xs_name(b, 4, 4, "fusion.3");
	xs_name(b, 5, 1, "correlation_id");
	xs_name(b, 5, 2, "kernel_details");
	xs_name(b, 5, 3, "memcpy_details");
	xs_name(b, 5, 4, "clock_rate");
	xs_stat_uint(b, 6, 4, 1410000);
	xs_end(b, p);
}

static void host_planes(struct fsc_buf *b)
{
	static const char *const calls[] = { "cuLaunchKernel", "cuMemcpyHtoDAsync_v2",
					     "cuMemAlloc_v2", "cuStreamSynchronize" };
	size_t p = xs_plane(b, 2, "/host:CUPTI"), l = xs_line(b, 4242, "thread/4242", T0), e;

	for (int i = 0; i < 4; i++) {
		e = xs_event(b, i + 1, 1000000 * (i + 1), 500000);
		xs_stat_uint(b, 4, 9, i < 2 ? 77u + (unsigned)i : 500u + (unsigned)i);
		xs_end(b, e);
	}
	xs_end(b, l);
	for (int i = 0; i < 4; i++)
		xs_name(b, 4, i + 1, calls[i]);
	xs_name(b, 5, 9, "correlation_id");
	xs_end(b, p);
	p = xs_plane(b, 3, "/host:CPU");
	l = xs_line(b, 4242, "python3", T0);
	e = xs_event(b, 1, 0, 20000000);
	xs_stat_uint(b, 4, 2, 7);
	xs_end(b, e);
	xs_plain_event(b, 2, 500000, 8000000);
	xs_plain_event(b, 3, 600000, 0);
	xs_end(b, l);
	xs_name(b, 4, 1, "train");
	xs_name(b, 4, 2, "$train.py:12 step");
	xs_name(b, 4, 3, "a mark");
	xs_name(b, 5, 2, "step_num");
	xs_end(b, p);
}

static void tpu_plane(struct fsc_buf *b)
{
	static const char *const ops[] = { "fusion.1", "all-reduce-start.7", "copy-done.2",
					   "while.4" };
	size_t p = xs_plane(b, 1, "/device:TPU:1"), l = xs_line(b, 1, "Steps", T0);

	xs_plain_event(b, 9, 0, 4000000);
	xs_end(b, l);
	l = xs_line(b, 2, "XLA Ops", T0);
	for (int i = 0; i < 4; i++) {
		size_t e = xs_event(b, i + 1, 1000000 * i, 1000000);

		xs_stat_ref(b, 4, 1, i == 3 ? 3 : 2);
		xs_end(b, e);
	}
	xs_end(b, l);
	for (int i = 0; i < 4; i++)
		xs_name(b, 4, i + 1, ops[i]);
	xs_name(b, 4, 9, "0");
	xs_name(b, 5, 1, "hlo_category");
	xs_name(b, 5, 2, "convolution fusion");
	xs_name(b, 5, 3, "while");
	xs_end(b, p);
}

/* ---- what is read ---- */

static void streams_of_a_gpu_are_streams_with_kinds(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(1u << 20);
	struct fsc_trace *t;
	const struct fsc_track *k;
	uint32_t i;

	(void)state;
	gpu_plane(&b);
	host_planes(&b);
	pb_str(&b, 4, "host-7");
	t = read_space(&b);
	i = slice_named(t, "loop_fusion_3");
	k = track_of(t, "loop_fusion_3");
	assert_int_equal(k->kind, FSC_TRACK_STREAM);
	assert_int_equal(k->device, 3);
	assert_int_equal(k->stream, 13);
	assert_int_equal(t->slices.kind[i], FSC_KIND_COMPUTE);
	assert_int_equal(t->slices.ts[i] + t->meta.t_base_ns, T0 + 5000);
	assert_int_equal(t->slices.dur[i], 2000);
	assert_int_equal(t->slices.correlation[i], 77);
	assert_int_equal(t->slices.kind[slice_named(t, "MemcpyH2D")], FSC_KIND_MEMCPY);
	i = slice_named(t, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
	assert_int_equal(t->slices.kind[i], FSC_KIND_COMM);
	/* the same work again, as operations: not a second time */
	assert_int_equal(track_of(t, "fusion.3")->kind, FSC_TRACK_ANNOTATION);
	assert_int_equal(track_of(t, "fusion.3")->device, 3);
	assert_int_equal(track_of(t, "fusion.3")->stream, FSC_NO_ORDINAL);
	assert_string_equal(str_of(t, t->meta.host), "host-7");
	assert_non_null(strstr(str_of(t, t->meta.json),
			       "{\"name\":\"/device:GPU:3\",\"stats\":{\"clock_rate\":1410000}}"));
	assert_true(t->meta.has_epoch);
	fsc_trace_free(t);
	fsc_buf_fini(&b);
}

static void launch_details_become_columns(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(1u << 20);
	const struct fsc_launch *l;
	struct fsc_trace *t;

	(void)state;
	gpu_plane(&b);
	t = read_space(&b);
	assert_int_equal(t->launches.n, 2);
	l = &t->launches.v[0];
	assert_int_equal(l->slice, slice_named(t, "loop_fusion_3"));
	assert_int_equal(l->registers, 32);
	assert_int_equal(l->shared_bytes, 1040);
	assert_int_equal(l->grid[0], 8);
	assert_int_equal(l->grid[1], 2);
	assert_int_equal(l->block[0], 128);
	assert_true(fabsf(l->occupancy_pct - 37.5f) < 1e-6f);
	assert_int_equal(l->bytes, -1);
	assert_int_equal(t->launches.v[1].bytes, 4096);
	assert_int_equal(t->launches.v[1].grid[0], -1);
	fsc_trace_free(t);
	fsc_buf_fini(&b);
}

static void calls_and_their_work_are_joined_in_either_order_of_planes(void **state)
{
	(void)state;
	for (int host_first = 0; host_first < 2; host_first++) {
		struct fsc_buf b = FSC_BUF_INIT(1u << 20);
		struct fsc_trace *t;

		if (host_first)
			host_planes(&b);
		gpu_plane(&b);
		if (!host_first)
			host_planes(&b);
		t = read_space(&b);
		assert_int_equal(t->flows.n, 2);
		for (size_t i = 0; i < 2; i++) {
			const struct fsc_flow *f = &t->flows.v[i];

			assert_int_equal(t->slices.correlation[f->from],
					 t->slices.correlation[f->to]);
			assert_string_equal(str_of(t, f->cat), "ac2g");
			assert_int_equal(t->slices.kind[f->from], FSC_KIND_RUNTIME);
		}
		/* the third has no call in the file; cuMemAlloc launched nothing and is no loss */
		assert_int_equal(loss_of(t, "launch_without_call"), 1);
		assert_int_equal(loss_of(t, "flow_start_without_end"), 0);
		fsc_trace_free(t);
		fsc_buf_fini(&b);
	}
}

static void planes_of_the_host_share_its_threads(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(1u << 20);
	struct fsc_trace *t;

	(void)state;
	host_planes(&b);
	t = read_space(&b);
	assert_int_equal(t->processes.n, 1);
	assert_int_equal(t->tracks.n, 1);
	assert_int_equal(t->tracks.v[0].kind, FSC_TRACK_THREAD);
	assert_int_equal(t->tracks.v[0].tid, 4242);
	assert_string_equal(str_of(t, t->processes.v[0].name), "/host:CPU");
	assert_int_equal(t->slices.kind[slice_named(t, "train")], FSC_KIND_USER);
	assert_int_equal(t->slices.kind[slice_named(t, "$train.py:12 step")], FSC_KIND_PYTHON);
	assert_int_equal(t->slices.kind[slice_named(t, "cuLaunchKernel")], FSC_KIND_RUNTIME);
	assert_int_equal(t->slices.kind[slice_named(t, "cuStreamSynchronize")], FSC_KIND_SYNC);
	assert_int_equal(t->slices.kind[slice_named(t, "a mark")], FSC_KIND_INSTANT);
	assert_int_equal(t->n_instants, 1);
	fsc_trace_free(t);
	fsc_buf_fini(&b);
}

static void operations_of_a_tpu_are_its_stream(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(1u << 20);
	struct fsc_trace *t;
	const struct fsc_track *k;

	(void)state;
	tpu_plane(&b);
	t = read_space(&b);
	k = track_of(t, "fusion.1");
	assert_int_equal(k->kind, FSC_TRACK_STREAM);
	assert_int_equal(k->device, 1);
	assert_int_equal(k->stream, 2);
	assert_int_equal(t->slices.kind[slice_named(t, "fusion.1")], FSC_KIND_COMPUTE);
	assert_int_equal(t->slices.kind[slice_named(t, "all-reduce-start.7")], FSC_KIND_COMM);
	assert_int_equal(t->slices.kind[slice_named(t, "copy-done.2")], FSC_KIND_MEMCPY);
	assert_int_equal(t->slices.kind[slice_named(t, "while.4")], FSC_KIND_GPU_OTHER);
	k = track_of(t, "0");
	assert_int_equal(k->kind, FSC_TRACK_ANNOTATION);
	assert_string_equal(str_of(t, k->name), "Steps");
	fsc_trace_free(t);
	fsc_buf_fini(&b);
}

static void picoseconds_are_rounded_so_that_what_touches_still_does(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(1u << 16);
	size_t p = xs_plane(&b, 1, "/host:CPU"), l = xs_line(&b, 1, "t", T0);
	struct fsc_trace *t;
	uint32_t a, c;

	(void)state;
	xs_plain_event(&b, 1, 1499, 1001); /* 1.499 .. 2.500 ns */
	xs_plain_event(&b, 2, 2500, 3000);
	xs_plain_event(&b, 3, -1500, 500);
	xs_end(&b, l);
	xs_name(&b, 4, 1, "a");
	xs_name(&b, 4, 2, "b");
	xs_name(&b, 4, 3, "c");
	xs_end(&b, p);
	t = read_space(&b);
	a = slice_named(t, "a");
	c = slice_named(t, "b");
	assert_int_equal(t->slices.ts[a] + t->meta.t_base_ns, T0 + 1);
	assert_int_equal(t->slices.ts[a] + t->slices.dur[a], t->slices.ts[c]);
	assert_int_equal(t->slices.dur[c], 3);
	assert_int_equal(t->slices.ts[slice_named(t, "c")] + t->meta.t_base_ns, T0 - 1);
	assert_int_equal(loss_of(t, "time_below_1_ns"), 3);
	assert_int_equal(loss_of(t, "slice_overlap_kept"), 0);
	fsc_trace_free(t);
	fsc_buf_fini(&b);
}

static void stats_of_every_type_become_args(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(1u << 16);
	size_t p = xs_plane(&b, 1, "/host:CPU"), l = xs_line(&b, 1, "t", T0), e, s;
	struct fsc_trace *t;
	const char *args;

	(void)state;
	e = xs_event(&b, 1, 0, 1000);
	xs_stat_uint(&b, 4, 1, UINT64_MAX);
	s = xs_stat(&b, 4, 2);
	pb_int(&b, 4, -5);
	pb_end(&b, s);
	s = xs_stat(&b, 4, 3);
	pb_double(&b, 2, 0.25);
	pb_end(&b, s);
	s = xs_stat(&b, 4, 4);
	pb_double(&b, 2, (double)NAN);
	pb_end(&b, s);
	xs_stat_str(&b, 4, 5, "a\"b\n\xFF");
	xs_stat_ref(&b, 4, 6, 2);
	xs_stat_ref(&b, 4, 7, 999);
	s = xs_stat(&b, 4, 8);
	pb_bytes(&b, 6, "\0\1", 2);
	pb_end(&b, s);
	xs_stat_uint(&b, 4, 55, 1);
	xs_end(&b, e);
	xs_end(&b, l);
	/* the name has stats too; those of the event come first */
	e = pb_begin(&b, 4);
	pb_int(&b, 1, 1);
	s = pb_begin(&b, 2);
	pb_str(&b, 2, "%op = f32[8]{0} fusion(...)");
	pb_str(&b, 4, "op");
	xs_stat_uint(&b, 5, 9, 3);
	xs_stat_uint(&b, 5, 1, 4);
	pb_end(&b, s);
	pb_end(&b, e);
	for (int i = 1; i <= 9; i++)
		xs_name(&b, 5, i,
			(const char *[]){ "u", "i", "d", "nan", "s", "ref", "bad", "bytes",
					  "of name" }[i - 1]);
	xs_end(&b, p);
	t = read_space(&b);
	assert_int_equal(slice_named(t, "op"), 0);
	args = strchr(args_text(t), '{');
	assert_string_equal(
		args, "{\"u\":18446744073709551615,\"i\":-5,\"d\":0.25,\"nan\":null,"
		      "\"s\":\"a\\\"b\\n\xEF\xBF\xBD\",\"ref\":\"i\",\"bad\":999,\"of name\":3,"
		      "\"long_name\":\"%op = f32[8]{0} fusion(...)\"}");
	assert_int_equal(loss_of(t, "number_not_finite"), 1);
	assert_int_equal(loss_of(t, "stat_ref_unknown"), 1);
	assert_int_equal(loss_of(t, "stat_bytes_left_out"), 1);
	assert_int_equal(loss_of(t, "stat_name_missing"), 1);
	fsc_trace_free(t);
	fsc_buf_fini(&b);
}

static void producers_consumers_and_flows_make_arrows(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(1u << 16);
	size_t p = xs_plane(&b, 1, "/host:CPU"), l = xs_line(&b, 1, "t", T0), e;
	struct fsc_trace *t;

	(void)state;
	for (int i = 0; i < 4; i++) {
		e = xs_event(&b, i + 1, 10000 * i, 1000);
		if (i < 2) {
			xs_stat_uint(&b, 4, i == 0 ? 1 : 3, 2);
			xs_stat_uint(&b, 4, i == 0 ? 2 : 4, 1234);
		} else {
			xs_stat_uint(&b, 4, 5, 77 << 2 | (i == 2 ? 2 : 1));
		}
		xs_end(&b, e);
	}
	xs_end(&b, l);
	for (int i = 0; i < 4; i++)
		xs_name(&b, 4, i + 1, (const char *[]){ "from", "to", "out", "in" }[i]);
	for (int i = 0; i < 5; i++)
		xs_name(&b, 5, i + 1, (const char *[]){ "_pt", "_p", "_ct", "_c", "flow" }[i]);
	xs_end(&b, p);
	t = read_space(&b);
	assert_int_equal(t->flows.n, 2);
	assert_int_equal(t->flows.v[0].from, slice_named(t, "from"));
	assert_int_equal(t->flows.v[0].to, slice_named(t, "to"));
	assert_int_equal(t->flows.v[1].from, slice_named(t, "out"));
	assert_int_equal(t->flows.v[1].to, slice_named(t, "in"));
	fsc_trace_free(t);
	fsc_buf_fini(&b);
}

/* ---- what is not ---- */

static void what_is_not_read_is_counted(void **state)
{
	static const char *const codes[] = { "event_aggregated",     "event_bad_ts",
					     "event_name_missing",   "xplane_field_unknown",
					     "plane_without_events", "duplicate_key",
					     "utf8_repaired",	     "control_character",
					     "negative_duration" };
	struct fsc_buf b = FSC_BUF_INIT(1u << 16);
	size_t p = xs_plane(&b, 1, "/host:CPU"), l = xs_line(&b, 1, "t\xFF", T0), e;
	struct fsc_trace *t;

	(void)state;
	e = pb_begin(&b, 4);
	pb_int(&b, 1, 1);
	pb_int(&b, 5, 12);
	pb_end(&b, e);
	xs_plain_event(&b, 1, INT64_MAX - 5, 10);
	xs_plain_event(&b, 40, 0, 1000);
	xs_plain_event(&b, 1, 50000, -1000);
	xs_plain_event(&b, 2, 60000, 1000);
	xs_end(&b, l);
	xs_name(&b, 4, 1, "first");
	xs_name(&b, 4, 1, "second");
	e = pb_begin(&b, 4);
	pb_int(&b, 1, 2);
	l = pb_begin(&b, 2);
	pb_bytes(&b, 2, "a\0b", 3);
	pb_end(&b, l);
	pb_end(&b, e);
	xs_end(&b, p);
	xs_end(&b, xs_plane(&b, 9, "/host:metadata"));
	pb_uint(&b, 30, 5);
	t = read_space(&b);
	for (size_t i = 0; i < FSC_ARRAY_LEN(codes); i++)
		if (loss_of(t, codes[i]) != 1)
			fail_msg("%s is %" PRIu64, codes[i], loss_of(t, codes[i]));
	slice_named(t, "event 40");
	slice_named(t, "second");
	slice_named(t, "a\xEF\xBF\xBD"
		       "b");
	fsc_trace_free(t);
	fsc_buf_fini(&b);
}

static void the_first_case_of_each_counter_has_its_place(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(1u << 16);
	size_t p = xs_plane(&b, 1, "/host:CPU"), l = xs_line(&b, 1, "t", T0), at;
	struct fsc_trace *t;

	(void)state;
	xs_plain_event(&b, 1, 0, 1000);
	at = b.len;
	xs_plain_event(&b, 40, 0, 1000);
	xs_plain_event(&b, 41, 0, 1000);
	xs_end(&b, l);
	xs_name(&b, 4, 1, "a");
	xs_end(&b, p);
	t = read_space(&b);
	for (uint32_t i = 0; i < t->losses.n; i++)
		if (!strcmp(t->losses.v[i].code, "event_name_missing"))
			/* behind the event's tag and length */
			assert_int_equal(fsc_loss_offset(&t->losses.v[i]), at + 2);
	assert_int_equal(loss_of(t, "event_name_missing"), 2);
	fsc_trace_free(t);
	fsc_buf_fini(&b);
}

static void a_file_without_events_is_no_timeline(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(1u << 16);
	struct fsc_err err = FSC_ERR_INIT;

	(void)state;
	xs_end(&b, xs_plane(&b, 9, "/host:metadata"));
	pb_str(&b, 4, "host");
	assert_null(read_trace_text(b.data, b.len, &err));
	assert_string_equal(err.code, "not_a_timeline");
	fsc_buf_fini(&b);
}

/* Between two fields of the XSpace a cut cannot be told; everywhere else it is. */
static void a_file_that_was_cut_short_is_refused_where_it_ends(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(1u << 20);
	size_t ends[4], k = 0;

	(void)state;
	host_planes(&b);
	ends[0] = b.len;
	gpu_plane(&b);
	ends[1] = b.len;
	for (size_t n = 0, cut = 1; cut < b.len; cut++) {
		struct fsc_err err = FSC_ERR_INIT;
		struct fsc_reader_sink sink = { .trace = NULL };
		struct fsc_trace *t = NULL;
		struct fsc_source *src = fsc_source_mem(b.data, cut);

		sink.ctx = &t;
		sink.trace = read_trace_got;
		enum fsc_status st = fsc_xplane_read(src, &sink, &err);
		fsc_source_free(src);
		if (st == FSC_OK) {
			/* behind one of the planes */
			assert_non_null(t);
			n++;
			assert_true(cut <= ends[0]);
			k = cut;
		} else {
			assert_int_equal(st, FSC_ECORRUPT);
			assert_string_equal(err.code, "xplane_truncated");
			assert_int_equal(err.offset, cut);
		}
		fsc_trace_free(t);
		assert_true(n <= 2);
	}
	assert_int_equal(k, ends[0]);
	fsc_buf_fini(&b);
}

static void damage_is_told_with_its_place(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(1u << 16), c = FSC_BUF_INIT(1u << 16);
	size_t p = xs_plane(&b, 1, "/host:CPU"), l = xs_line(&b, 1, "t", T0), at;
	struct fsc_err err = FSC_ERR_INIT;

	(void)state;
	at = b.len;
	xs_plain_event(&b, 1, 0, 1000);
	xs_end(&b, l);
	xs_end(&b, p);
	b.data[at + 2] = 0x7B; /* a field that ends a group */
	assert_null(read_trace_text(b.data, b.len, &err));
	assert_string_equal(err.code, "xplane_corrupt");
	assert_int_equal(err.offset, at + 2);
	fsc_err_clear(&err);
	fsc_buf_add(&c, b.data, at);
	for (int i = 0; i < 20; i++)
		fsc_buf_adds(&c, "\xEF\xBF\xBD");
	c.data[1] = (char)(c.len - 2);
	assert_null(read_trace_text(c.data, c.len, &err));
	assert_string_equal(err.code, "xplane_corrupt");
	assert_non_null(strstr(err.msg, "saved as text"));
	fsc_buf_fini(&b);
	fsc_buf_fini(&c);
}

static void lengths_that_lie_allocate_nothing(void **state)
{
	/* a plane of 1 TiB, and one of 1 GiB with nothing in it */
	static const uint8_t huge[] = { 0x0A, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20, 0x12, 0x09, '/' };
	static const uint8_t large[] = { 0x0A, 0x80, 0x80, 0x80, 0x80, 0x04, 0x12, 0x01, 'x' };
	struct fsc_reader_sink sink = { .trace = read_trace_got };
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_source *src = fsc_source_mem(huge, sizeof(huge));

	(void)state;
	assert_int_equal(fsc_xplane_read(src, &sink, &err), FSC_ELIMIT);
	assert_string_equal(err.code, "plane_too_big");
	fsc_source_free(src);
	src = fsc_source_mem(large, sizeof(large));
	assert_int_equal(fsc_xplane_read(src, &sink, &err), FSC_ECORRUPT);
	assert_string_equal(err.code, "xplane_truncated");
	fsc_source_free(src);
}

/* 20,000 events that each refer to 64 KiB of names: what passes 64 MiB and 200 times the file is left out. */
static void events_cannot_multiply_long_names(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(16u << 20);
	size_t p = xs_plane(&b, 1, "/host:CPU"), l = xs_line(&b, 1, "t", T0), e, s;
	char *name = malloc(64 << 10);
	struct fsc_trace *t;

	(void)state;
	assert_non_null(name);
	memset(name, 'x', 64 << 10);
	name[(64 << 10) - 1] = '\0';
	for (int i = 0; i < 20000; i++)
		xs_plain_event(&b, 1, 10000 * i, 1000);
	xs_end(&b, l);
	e = pb_begin(&b, 4);
	pb_int(&b, 1, 1);
	s = pb_begin(&b, 2);
	pb_str(&b, 2, name);
	pb_str(&b, 4, "short");
	pb_end(&b, s);
	pb_end(&b, e);
	xs_end(&b, p);
	t = read_space(&b);
	assert_int_equal(t->slices.n, 20000);
	assert_in_range(loss_of(t, "args_too_big"), 20000 - 2100, 20000 - 1000);
	fsc_trace_free(t);
	fsc_buf_fini(&b);
	free(name);
}

static void it_is_told_by_its_bytes(void **state)
{
	static const uint8_t perfetto[] = { 0x0A, 0x08, 0x12, 0x06, 0x0A,
					    0x04, 0x08, 0x01, 0x10, 0x02 };
	static const uint8_t pprof[] = {
		0x0A, 0x04, 0x08, 0x01, 0x10, 0x02, 0x12, 0x04, 0x08, 0x01
	};
	struct fsc_buf b = FSC_BUF_INIT(1u << 16);

	(void)state;
	gpu_plane(&b);
	assert_true(fsc_xplane_sniff((const uint8_t *)b.data, b.len) > 90);
	assert_true(fsc_xplane_sniff((const uint8_t *)b.data, 40) > 90);
	fsc_buf_clear(&b);
	xs_end(&b, xs_plane(&b, 0, "/host:CPU"));
	assert_true(fsc_xplane_sniff((const uint8_t *)b.data, b.len) > 90);
	assert_int_equal(fsc_xplane_sniff(perfetto, sizeof(perfetto)), 0);
	assert_int_equal(fsc_xplane_sniff(pprof, sizeof(pprof)), 0);
	assert_int_equal(fsc_xplane_sniff((const uint8_t *)"{\"traceEvents\":[", 16), 0);
	for (size_t n = 0; n < 40 && n < b.len; n++)
		fsc_xplane_sniff((const uint8_t *)b.data, n);
	fsc_buf_fini(&b);
}

/* ---- test data ---- */

static int64_t sum_of(const struct fsc_trace *t, const char *name)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < t->slices.n; i++)
		if (!strcmp(str_of(t, t->slices.name[i]), name))
			sum += t->slices.dur[i];
	return sum;
}

static void the_synthetic_file_has_the_expected_sums(void **state)
{
	struct fsc_err err = FSC_ERR_INIT;
	int64_t busy = 0, first = INT64_MAX, last = 0;
	struct fsc_trace *t;
	char path[512];

	(void)state;
	t = read_trace_file(test_data(path, sizeof(path), "profiles/xplane/synthetic.xplane.pb"),
			    &err);
	assert_non_null(t);
	assert_int_equal(t->processes.n, 2);
	for (int i = 0; i < 3; i++) {
		char name[] = "step 0";

		name[5] = (char)('0' + i);
		assert_int_equal(sum_of(t, name), 9000000);
	}
	assert_int_equal(sum_of(t, "fusion.1"), 18000000);
	assert_int_equal(sum_of(t, "all-reduce.7"), 7500000);
	assert_int_equal(t->slices.kind[slice_named(t, "all-reduce.7")], FSC_KIND_COMM);
	for (uint32_t i = 0; i < t->slices.n; i++) {
		if (!fsc_kind_is_gpu_work(t->slices.kind[i]))
			continue;
		busy += t->slices.dur[i];
		first = t->slices.ts[i] < first ? t->slices.ts[i] : first;
		if (t->slices.ts[i] + t->slices.dur[i] > last)
			last = t->slices.ts[i] + t->slices.dur[i];
	}
	assert_int_equal(busy, 25500000);
	assert_int_equal(last - first, 29500000);
	assert_string_equal(str_of(t, t->meta.host), "host-0");
	assert_non_null(strstr(args_text(t), "\"hlo_category\":\"convolution fusion\""));
	fsc_trace_free(t);
}

static void the_trace_viewers_json_opens_too(void **state)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_trace *t;
	char path[512];

	(void)state;
	t = read_trace_file(test_data(path, sizeof(path),
				      "profiles/xplane/tf_trace_viewer_trace.json"),
			    &err);
	assert_non_null(t);
	assert_string_equal(str_of(t, t->meta.format), "chrome_json");
	assert_int_equal(t->slices.dur[slice_named(t, "Long X type")], 15000);
	assert_int_equal(loss_of(t, "sample_as_instant"), 3);
	fsc_trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(streams_of_a_gpu_are_streams_with_kinds),
		cmocka_unit_test(launch_details_become_columns),
		cmocka_unit_test(calls_and_their_work_are_joined_in_either_order_of_planes),
		cmocka_unit_test(planes_of_the_host_share_its_threads),
		cmocka_unit_test(operations_of_a_tpu_are_its_stream),
		cmocka_unit_test(picoseconds_are_rounded_so_that_what_touches_still_does),
		cmocka_unit_test(stats_of_every_type_become_args),
		cmocka_unit_test(producers_consumers_and_flows_make_arrows),
		cmocka_unit_test(what_is_not_read_is_counted),
		cmocka_unit_test(the_first_case_of_each_counter_has_its_place),
		cmocka_unit_test(a_file_without_events_is_no_timeline),
		cmocka_unit_test(a_file_that_was_cut_short_is_refused_where_it_ends),
		cmocka_unit_test(damage_is_told_with_its_place),
		cmocka_unit_test(lengths_that_lie_allocate_nothing),
		cmocka_unit_test(events_cannot_multiply_long_names),
		cmocka_unit_test(it_is_told_by_its_bytes),
		cmocka_unit_test(the_synthetic_file_has_the_expected_sums),
		cmocka_unit_test(the_trace_viewers_json_opens_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
