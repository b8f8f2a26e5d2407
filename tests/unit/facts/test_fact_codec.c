/* SPDX-License-Identifier: Apache-2.0 */
/* The fact stream: what is encoded comes back, and nothing that breaks the rules gets through. */
#include "facts/fact_codec.h"

#include "base/bytes.h"
#include "base/limits.h"
#include "tests/support/test.h"

static void put(struct fsc_buf *b, struct fsc_fact f)
{
	assert_int_equal(fsc_fact_encode(b, &f), FSC_OK);
}

static struct fsc_fact trace_fact(void)
{
	struct fsc_fact f = { .type = FSC_FACT_TRACE };

	f.u.trace = (struct fsc_fact_trace){ .member = "a/rank0.json",
					     .format = "kineto",
					     .rank = -1,
					     .world_size = 8,
					     .job = "j\xc3\xb6"
						    "b",
					     .host = "",
					     .capture = NULL,
					     .name = "n",
					     .t_base_ns = INT64_MIN,
					     .t_max_ns = INT64_MAX,
					     .slices = 5,
					     .meta_json = "{}",
					     .source_disagreements = "" };
	return f;
}

/* TRACE, SEGMENT_WANTED, rows, TRACE_END, END */
static void put_sound_stream(struct fsc_buf *b)
{
	put(b, (struct fsc_fact){ .type = FSC_FACT_PROGRESS, .u.progress = { .stage = "read" } });
	put(b, trace_fact());
	put(b, (struct fsc_fact){ .type = FSC_FACT_SEGMENT_WANTED, .u.segment_wanted = { 7 } });
	put(b, (struct fsc_fact){ .type = FSC_FACT_LOSS, .u.loss = { "x", 3, 17 } });
	put(b, (struct fsc_fact){ .type = FSC_FACT_CATEGORY, .u.category = { "kernel", 2, 9 } });
	put(b,
	    (struct fsc_fact){ .type = FSC_FACT_DEVICE, .u.device = { .scope = 1, .device = -1 } });
	put(b, (struct fsc_fact){ .type = FSC_FACT_IDLE, .u.idle = { .kernel_wait_ns = -12 } });
	put(b, (struct fsc_fact){ .type = FSC_FACT_KERNEL,
				  .u.kernel = { .name = "k", .kind = "comm" } });
	put(b, (struct fsc_fact){ .type = FSC_FACT_STEP, .u.step = { .name = "ProfilerStep#1" } });
	put(b, (struct fsc_fact){ .type = FSC_FACT_TRACE_END, .u.trace_end = { 100, 1, 1 } });
	put(b, (struct fsc_fact){ .type = FSC_FACT_MEMBER,
				  .u.member = { "m", "skipped", "not_a_timeline", "why", -1 } });
	put(b, (struct fsc_fact){ .type = FSC_FACT_END, .u.end = { .status = -2, .code = "c" } });
}

/* Status of the decoder over the whole of b: that of the first fault, or of finish. */
static enum fsc_status decode_all(const struct fsc_buf *b, size_t portion, unsigned *n,
				  struct fsc_err *err)
{
	struct fsc_fact_decoder d;
	enum fsc_status st = FSC_AGAIN;
	struct fsc_fact f;

	*n = 0;
	fsc_fact_decoder_init(&d);
	for (size_t at = 0; st == FSC_AGAIN && at < b->len; at += portion) {
		size_t len = b->len - at < portion ? b->len - at : portion;

		st = fsc_fact_decoder_put(&d, b->data + at, len, err);
		while (st == FSC_OK && (st = fsc_fact_decoder_next(&f, &d, err)) == FSC_OK)
			(*n)++;
	}
	if (st == FSC_AGAIN)
		st = fsc_fact_decoder_finish(&d, err);
	fsc_fact_decoder_fini(&d);
	return st;
}

static void every_field_survives_the_stream(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(1 << 20);
	struct fsc_fact_decoder d;
	struct fsc_fact f;
	struct fsc_err err = FSC_ERR_INIT;

	(void)state;
	put(&b, trace_fact());
	put(&b, (struct fsc_fact){ .type = FSC_FACT_IDLE,
				   .u.idle = { 1, 2, 3, -4, INT64_MIN, INT64_MAX } });
	fsc_fact_decoder_init(&d);
	assert_int_equal(fsc_fact_decoder_put(&d, b.data, b.len, &err), FSC_OK);
	assert_int_equal(fsc_fact_decoder_next(&f, &d, &err), FSC_OK);
	assert_int_equal(f.type, FSC_FACT_TRACE);
	assert_string_equal(f.u.trace.member, "a/rank0.json");
	assert_string_equal(f.u.trace.format, "kineto");
	assert_string_equal(f.u.trace.job, "j\xc3\xb6"
					   "b");
	assert_string_equal(f.u.trace.capture, "");
	assert_string_equal(f.u.trace.meta_json, "{}");
	assert_int_equal(f.u.trace.rank, -1);
	assert_int_equal(f.u.trace.world_size, 8);
	assert_int_equal(f.u.trace.slices, 5);
	assert_true(f.u.trace.t_base_ns == INT64_MIN);
	assert_true(f.u.trace.t_max_ns == INT64_MAX);
	assert_int_equal(fsc_fact_decoder_next(&f, &d, &err), FSC_OK);
	assert_int_equal(f.type, FSC_FACT_IDLE);
	assert_int_equal(f.u.idle.host_wait_ns, -4);
	assert_true(f.u.idle.kernel_wait_ns == INT64_MIN);
	assert_true(f.u.idle.other_ns == INT64_MAX);
	assert_int_equal(fsc_fact_decoder_next(&f, &d, &err), FSC_AGAIN);
	fsc_fact_decoder_fini(&d);
	fsc_buf_fini(&b);
}

static void a_stream_may_come_in_any_portions(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(1 << 20);
	struct fsc_err err = FSC_ERR_INIT;
	unsigned n = 0;

	(void)state;
	put_sound_stream(&b);
	for (size_t portion = 1; portion <= b.len; portion++) {
		assert_int_equal(decode_all(&b, portion, &n, &err), FSC_OK);
		assert_int_equal(n, 12);
	}
	fsc_buf_fini(&b);
}

static void a_stream_cut_anywhere_is_not_complete(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(1 << 20);
	unsigned n = 0;

	(void)state;
	put_sound_stream(&b);
	size_t whole = b.len;
	for (b.len = 0; b.len < whole; b.len++) {
		struct fsc_err err = FSC_ERR_INIT;

		assert_int_equal(decode_all(&b, 64, &n, &err), FSC_EPARSE);
		assert_string_equal(err.code, "indexer_protocol");
		assert_true(n < 12);
	}
	fsc_buf_fini(&b);
}

/* One fact after a prefix that opens a trace, or not. */
static void refuse(bool in_trace, struct fsc_fact f, const char *why)
{
	struct fsc_buf b = FSC_BUF_INIT(1 << 20);
	struct fsc_err err = FSC_ERR_INIT;
	unsigned n = 0;

	if (in_trace) {
		put(&b, trace_fact());
		put(&b, (struct fsc_fact){ .type = FSC_FACT_SEGMENT_WANTED });
	}
	put(&b, f);
	assert_int_equal(decode_all(&b, b.len, &n, &err), FSC_EPARSE);
	assert_non_null(strstr(err.msg, why));
	assert_int_equal(n, in_trace ? 2 : 0);
	fsc_buf_fini(&b);
}

static void rows_out_of_order_are_refused(void **state)
{
	(void)state;
	refuse(false, (struct fsc_fact){ .type = FSC_FACT_LOSS }, "outside a trace");
	refuse(false, (struct fsc_fact){ .type = FSC_FACT_KERNEL }, "outside a trace");
	refuse(false, (struct fsc_fact){ .type = FSC_FACT_SEGMENT_WANTED }, "not expected");
	refuse(false, (struct fsc_fact){ .type = FSC_FACT_TRACE_END }, "ends no trace");
	refuse(false, (struct fsc_fact){ .type = FSC_FACT_MEMBER, .u.member.outcome = "lost" },
	       "unknown outcome");
	refuse(true, trace_fact(), "inside another");
	refuse(true, (struct fsc_fact){ .type = FSC_FACT_SEGMENT_WANTED }, "not expected");
	refuse(true, (struct fsc_fact){ .type = FSC_FACT_END }, "inside a trace");
	refuse(true, (struct fsc_fact){ .type = FSC_FACT_MEMBER, .u.member.outcome = "skipped" },
	       "inside a trace");
}

static void a_trace_needs_its_segment_before_it_ends(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(1 << 20);
	struct fsc_err err = FSC_ERR_INIT;
	unsigned n = 0;

	(void)state;
	put(&b, trace_fact());
	put(&b, (struct fsc_fact){ .type = FSC_FACT_TRACE_END });
	assert_int_equal(decode_all(&b, b.len, &n, &err), FSC_EPARSE);
	assert_int_equal(n, 1);
	fsc_buf_fini(&b);
}

static void a_failed_member_withdraws_the_open_trace(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(1 << 20);
	struct fsc_err err = FSC_ERR_INIT;
	unsigned n = 0;

	(void)state;
	put(&b, trace_fact());
	put(&b, (struct fsc_fact){ .type = FSC_FACT_MEMBER, .u.member.outcome = "failed" });
	put(&b, (struct fsc_fact){ .type = FSC_FACT_END });
	assert_int_equal(decode_all(&b, b.len, &n, &err), FSC_OK);
	assert_int_equal(n, 3);
	fsc_buf_fini(&b);
}

static void nothing_may_follow_the_end(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(1 << 20);
	struct fsc_err err = FSC_ERR_INIT;
	unsigned n = 0;

	(void)state;
	put(&b, (struct fsc_fact){ .type = FSC_FACT_END });
	put(&b, (struct fsc_fact){ .type = FSC_FACT_PROGRESS });
	assert_int_equal(decode_all(&b, b.len, &n, &err), FSC_EPARSE);
	assert_non_null(strstr(err.msg, "end frame"));
	fsc_buf_fini(&b);
}

static void negative_counts_and_unknown_scopes_are_refused(void **state)
{
	(void)state;
	refuse(true, (struct fsc_fact){ .type = FSC_FACT_LOSS, .u.loss = { "x", -1, -1 } },
	       "field count is negative");
	refuse(true, (struct fsc_fact){ .type = FSC_FACT_DEVICE, .u.device.busy_ns = -1 },
	       "busy_ns");
	refuse(true, (struct fsc_fact){ .type = FSC_FACT_DEVICE, .u.device.scope = 2 }, "scope");
	struct fsc_fact f = trace_fact();
	f.u.trace.rank = -2;
	refuse(false, f, "rank");
}

static void text_that_is_not_utf8_is_refused(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(1 << 20);
	struct fsc_err err = FSC_ERR_INIT;
	unsigned n = 0;

	(void)state;
	refuse(true, (struct fsc_fact){ .type = FSC_FACT_LOSS, .u.loss = { "\xff", 1, -1 } },
	       "UTF-8");
	/* a NUL inside: the encoder cannot write one, so the frame is made by hand */
	put(&b, trace_fact());
	fsc_buf_u32(&b, 5);
	fsc_buf_u16(&b, FSC_FACT_LOSS);
	fsc_buf_u16(&b, 0);
	fsc_buf_add(&b,
		    "\x03"
		    "a\0b"
		    "\x02",
		    5);
	assert_int_equal(decode_all(&b, b.len, &n, &err), FSC_EPARSE);
	assert_non_null(strstr(err.msg, "UTF-8"));
	assert_int_equal(err.offset, (int64_t)b.len - 13);
	fsc_buf_fini(&b);
}

static void foreign_and_oversized_frames_are_refused_before_they_are_read(void **state)
{
	static const struct {
		uint32_t payload;
		uint16_t type, zero;
	} bad[] = { { 0, 0, 0 },	  { 0, 13, 0 },
		    { 0, 65535, 0 },	  { FSC_MAX_FACT_FRAME + 1, 1, 0 },
		    { UINT32_MAX, 1, 0 }, { 0, 11, 1 } };

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(bad); i++) {
		struct fsc_buf b = FSC_BUF_INIT(1 << 20);
		struct fsc_err err = FSC_ERR_INIT;
		unsigned n = 0;

		fsc_buf_u32(&b, bad[i].payload);
		fsc_buf_u16(&b, bad[i].type);
		fsc_buf_u16(&b, bad[i].zero);
		assert_int_equal(decode_all(&b, b.len, &n, &err), FSC_EPARSE);
		assert_int_equal(err.offset, 0);
		fsc_buf_fini(&b);
	}
}

static void bytes_after_the_last_field_are_refused(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(1 << 20);
	struct fsc_err err = FSC_ERR_INIT;
	unsigned n = 0;

	(void)state;
	put(&b, (struct fsc_fact){ .type = FSC_FACT_PROGRESS });
	fsc_buf_addc(&b, 0);
	b.data[0]++;
	assert_int_equal(decode_all(&b, b.len, &n, &err), FSC_EPARSE);
	assert_non_null(strstr(err.msg, "after its last field"));
	fsc_buf_fini(&b);
}

static void a_fact_too_big_for_a_frame_leaves_the_buffer_as_it_was(void **state)
{
	struct fsc_buf b = FSC_BUF_INIT(16 << 20);
	struct fsc_fact f = trace_fact();
	char *big = malloc(FSC_MAX_FACT_FRAME + 1);

	(void)state;
	assert_non_null(big);
	memset(big, 'x', FSC_MAX_FACT_FRAME);
	big[FSC_MAX_FACT_FRAME] = '\0';
	f.u.trace.meta_json = big;
	put(&b, trace_fact());
	size_t before = b.len;
	assert_int_equal(fsc_fact_encode(&b, &f), FSC_ELIMIT);
	assert_int_equal(b.len, before);
	assert_int_equal(fsc_buf_status(&b), FSC_OK);
	free(big);
	fsc_buf_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_survives_the_stream),
		cmocka_unit_test(a_stream_may_come_in_any_portions),
		cmocka_unit_test(a_stream_cut_anywhere_is_not_complete),
		cmocka_unit_test(rows_out_of_order_are_refused),
		cmocka_unit_test(a_trace_needs_its_segment_before_it_ends),
		cmocka_unit_test(a_failed_member_withdraws_the_open_trace),
		cmocka_unit_test(nothing_may_follow_the_end),
		cmocka_unit_test(negative_counts_and_unknown_scopes_are_refused),
		cmocka_unit_test(text_that_is_not_utf8_is_refused),
		cmocka_unit_test(foreign_and_oversized_frames_are_refused_before_they_are_read),
		cmocka_unit_test(bytes_after_the_last_field_are_refused),
		cmocka_unit_test(a_fact_too_big_for_a_frame_leaves_the_buffer_as_it_was),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
