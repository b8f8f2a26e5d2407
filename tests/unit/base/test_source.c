/* SPDX-License-Identifier: Apache-2.0 */
/* Plain sources, and the one that finds out what it reads. */
#include "base/source.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <zstd.h>

#include "base/attr.h"
#include "base/limits.h"
#include "tests/unit/base/gzip_util.h"
#include "tests/unit/base/source_util.h"

static void memory_is_read_whole_and_in_pieces(void **state)
{
	(void)state;
	struct fsc_buf plain = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_buf out = FSC_BUF_INIT(SIZE_MAX);
	sample(&plain, 10000);
	for (size_t step = 1; step < 20000; step *= 5) {
		fsc_buf_clear(&out);
		assert_int_equal(drain(fsc_source_mem(plain.data, plain.len), step, &out, NULL),
				 FSC_END);
		assert_int_equal(out.len, plain.len);
		assert_memory_equal(out.data, plain.data, plain.len);
	}
	fsc_buf_clear(&out);
	assert_int_equal(drain(fsc_source_mem(NULL, 0), 5, &out, NULL), FSC_END);
	fsc_source_free(NULL);
	fsc_buf_fini(&plain);
	fsc_buf_fini(&out);
}

static void a_read_fills_the_buffer_over_short_reads_below(void **state)
{
	(void)state;
	struct dribble *d = dribble_new("abcdefghijklmnopqrstuvwxyz", 26, 3);
	char got[20];
	size_t n = 0;
	assert_int_equal(fsc_source_read(&d->base, got, sizeof(got), &n, NULL), FSC_OK);
	assert_int_equal(n, 20);
	assert_memory_equal(got, "abcdefghijklmnopqrst", 20);
	assert_int_equal(fsc_source_read(&d->base, got, sizeof(got), &n, NULL), FSC_OK);
	assert_int_equal(n, 6);
	assert_int_equal(fsc_source_read(&d->base, got, sizeof(got), &n, NULL), FSC_END);
	assert_int_equal(n, 0);
	assert_int_equal(d->base.consumed, 26);
	fsc_source_free(&d->base);
}

static void bytes_before_a_fault_come_first(void **state)
{
	(void)state;
	struct dribble *d = dribble_new("abc", 3, 10);
	d->last = FSC_EIO;
	char got[20];
	size_t n = 0;
	struct fsc_err e = FSC_ERR_INIT;
	assert_int_equal(fsc_source_read(&d->base, got, sizeof(got), &n, &e), FSC_OK);
	assert_int_equal(n, 3);
	assert_int_equal(e.status, FSC_OK);
	assert_int_equal(fsc_source_read(&d->base, got, sizeof(got), &n, &e), FSC_EIO);
	assert_int_equal(n, 0);
	assert_string_equal(e.code, "planted");
	fsc_source_free(&d->base);
}

static void a_descriptor_is_read_from_its_position(void **state)
{
	(void)state;
	char path[] = "/tmp/fsc-test-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(write(fd, "0123456789", 10), 10);
	assert_int_equal(lseek(fd, 4, SEEK_SET), 4);
	struct fsc_buf out = FSC_BUF_INIT(100);
	assert_int_equal(drain(fsc_source_fd(fd), 3, &out, NULL), FSC_END);
	assert_string_equal(out.data, "456789");
	fsc_buf_fini(&out);
	/* borrowed, so still open */
	assert_int_equal(close(fd), 0);
}

static void a_pipe_is_read_to_its_end(void **state)
{
	(void)state;
	int fds[2];
	assert_int_equal(pipe(fds), 0);
	pid_t pid = fork();
	if (pid == 0) {
		static char piece[3000];
		close(fds[0]);
		for (int i = 0; i < 100; i++) {
			memset(piece, 'a' + i % 26, sizeof(piece));
			for (size_t k = 0; k < sizeof(piece);)
				k += (size_t)write(fds[1], piece + k, sizeof(piece) - k);
		}
		_exit(0);
	}
	close(fds[1]);
	struct fsc_buf out = FSC_BUF_INIT(SIZE_MAX);
	assert_int_equal(drain(fsc_source_auto(fsc_source_fd(fds[0])), 100000, &out, NULL),
			 FSC_END);
	assert_int_equal(out.len, 300000);
	assert_int_equal(out.data[299999], 'a' + 99 % 26);
	fsc_buf_fini(&out);
	close(fds[0]);
	waitpid(pid, NULL, 0);
}

static void wrap_gzip(struct fsc_buf *b);

static void a_plain_file_is_told_from_bytes_that_were_made(void **state)
{
	char path[] = "/tmp/fsc-plain-XXXXXX", buf[8];
	int fd = mkstemp(path), pipes[2];
	struct fsc_buf gz = FSC_BUF_INIT(1u << 16);
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_source *s;
	size_t n;

	(void)state;
	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(write(fd, "0123456789", 10), 10);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	s = fsc_source_auto(fsc_source_fd(fd));
	assert_int_equal(fsc_source_plain_fd(s), fd);
	assert_int_equal(fsc_source_read(s, buf, 4, &n, &err), FSC_OK);
	assert_int_equal(fsc_source_plain_fd(s), fd);
	fsc_source_free(s);
	/* it does not begin at the first byte of the file */
	assert_int_equal(lseek(fd, 3, SEEK_SET), 3);
	s = fsc_source_fd(fd);
	assert_int_equal(fsc_source_plain_fd(s), -1);
	fsc_source_free(s);
	/* compressed, in memory, from a pipe */
	fsc_buf_adds(&gz, "0123456789");
	wrap_gzip(&gz);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, gz.data, gz.len, 0), gz.len);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	s = fsc_source_auto(fsc_source_fd(fd));
	assert_int_equal(fsc_source_plain_fd(s), -1);
	fsc_source_free(s);
	s = fsc_source_mem("x", 1);
	assert_int_equal(fsc_source_plain_fd(s), -1);
	fsc_source_free(s);
	assert_int_equal(pipe(pipes), 0);
	s = fsc_source_fd(pipes[0]);
	assert_int_equal(fsc_source_plain_fd(s), -1);
	fsc_source_free(s);
	close(pipes[0]);
	close(pipes[1]);
	close(fd);
	fsc_buf_fini(&gz);
}

static void a_descriptor_that_cannot_be_read_is_told_again_and_again(void **state)
{
	(void)state;
	int fd = open("/tmp", O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	struct fsc_buf out = FSC_BUF_INIT(100);
	struct fsc_err e = FSC_ERR_INIT;
	assert_int_equal(drain(fsc_source_fd(fd), 10, &out, &e), FSC_EIO);
	assert_non_null(strstr(e.msg, "read input: Is a directory"));
	assert_int_equal(e.offset, 0);
	fsc_err_clear(&e);
	assert_int_equal(drain(fsc_source_auto(fsc_source_fd(fd)), 10, &out, &e), FSC_EIO);
	fsc_buf_fini(&out);
	close(fd);
}

static void wrap_gzip(struct fsc_buf *b)
{
	struct fsc_buf in = *b;
	fsc_buf_init(b, SIZE_MAX);
	gz_member(b, in.data, in.len, 6, 0);
	fsc_buf_fini(&in);
}

static void wrap_zstd(struct fsc_buf *b)
{
	struct fsc_buf in = *b;
	fsc_buf_init(b, SIZE_MAX);
	size_t bound = ZSTD_compressBound(in.len);
	size_t r = ZSTD_compress(fsc_buf_room(b, bound), bound, in.data, in.len, 3);
	assert_false(ZSTD_isError(r));
	b->len = r;
	fsc_buf_fini(&in);
}

/* Each letter is a layer, the innermost first: g(zip), z(std). */
static void make_layers(struct fsc_buf *b, size_t n, const char *layers)
{
	fsc_buf_init(b, SIZE_MAX);
	sample(b, n);
	for (; *layers; layers++) {
		if (*layers == 'g')
			wrap_gzip(b);
		else
			wrap_zstd(b);
	}
}

static void up_to_three_layers_are_unwrapped(void **state)
{
	(void)state;
	static const char *const layers[] = { "",   "g",   "z",	  "gg",	 "gz", "zg",
					      "zz", "ggg", "gzg", "zgz", "zzz" };
	static const size_t sizes[] = { 0, 1, 3, 4095, 4096, 4097, 100000 };
	struct fsc_buf out = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_buf plain;
	struct fsc_buf b;
	for (size_t i = 0; i < FSC_ARRAY_LEN(sizes) * FSC_ARRAY_LEN(layers); i++) {
		size_t n = sizes[i % FSC_ARRAY_LEN(sizes)];
		const char *l = layers[i / FSC_ARRAY_LEN(sizes)];
		make_layers(&plain, n, "");
		make_layers(&b, n, l);
		for (size_t step = 1; step < 5000; step += 2400) {
			struct fsc_err e = FSC_ERR_INIT;
			struct dribble *d = dribble_new(b.data, b.len, step);
			fsc_buf_clear(&out);
			if (drain(fsc_source_auto(&d->base), 3000, &out, &e) != FSC_END)
				fail_msg("layers '%s' of %zu: %s", l, n, e.msg);
			assert_int_equal(out.len, n);
			assert_memory_equal(out.data, plain.data, n);
		}
		fsc_buf_fini(&b);
		fsc_buf_fini(&plain);
	}
	fsc_buf_fini(&out);
}

static void a_fourth_layer_is_refused(void **state)
{
	(void)state;
	static const char *const layers[] = { "gggg", "zzzz", "gzgz", "ggggg" };
	struct fsc_buf out = FSC_BUF_INIT(SIZE_MAX);
	for (size_t i = 0; i < FSC_ARRAY_LEN(layers); i++) {
		struct fsc_buf b;
		struct fsc_err e = FSC_ERR_INIT;
		make_layers(&b, 1000, layers[i]);
		fsc_buf_clear(&out);
		assert_int_equal(drain(fsc_source_auto(fsc_source_mem(b.data, b.len)), 100, &out,
				       &e),
				 FSC_ELIMIT);
		assert_string_equal(e.code, "compression_nest");
		assert_int_equal(out.len, 0);
		fsc_buf_fini(&b);
	}
	fsc_buf_fini(&out);
}

static void a_skippable_frame_first_is_zstd_too(void **state)
{
	(void)state;
	struct fsc_buf b = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_buf frame = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_buf out = FSC_BUF_INIT(SIZE_MAX);
	fsc_buf_u32(&b, 0x184D2A50u);
	fsc_buf_u32(&b, 2);
	fsc_buf_adds(&b, "xx");
	fsc_buf_adds(&frame, "content");
	wrap_zstd(&frame);
	fsc_buf_add(&b, frame.data, frame.len);
	assert_int_equal(drain(fsc_source_auto(fsc_source_mem(b.data, b.len)), 100, &out, NULL),
			 FSC_END);
	assert_string_equal(out.data, "content");
	fsc_buf_fini(&b);
	fsc_buf_fini(&frame);
	fsc_buf_fini(&out);
}

static void a_peek_consumes_nothing(void **state)
{
	(void)state;
	static const char *const layers[] = { "", "g", "zg" };
	static const size_t sizes[] = { 0, 1, 5, 4096, 50000 };
	struct fsc_buf out = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_buf plain;
	struct fsc_buf b;
	for (size_t i = 0; i < FSC_ARRAY_LEN(sizes) * FSC_ARRAY_LEN(layers); i++) {
		size_t n = sizes[i % FSC_ARRAY_LEN(sizes)];
		make_layers(&plain, n, "");
		make_layers(&b, n, layers[i / FSC_ARRAY_LEN(sizes)]);
		struct dribble *d = dribble_new(b.data, b.len, 700);
		struct fsc_source *s = fsc_source_auto(&d->base);
		for (int twice = 0; twice < 2; twice++) {
			const uint8_t *p = NULL;
			size_t got = 0;
			assert_int_equal(fsc_source_peek(s, &p, &got, NULL), FSC_OK);
			assert_int_equal(got, n < 4096 ? n : 4096);
			assert_memory_equal(p, plain.data, got);
		}
		assert_int_equal(s->consumed, 0);
		fsc_buf_clear(&out);
		assert_int_equal(drain(s, 1500, &out, NULL), FSC_END);
		assert_int_equal(out.len, n);
		assert_memory_equal(out.data, plain.data, n);
		fsc_buf_fini(&b);
		fsc_buf_fini(&plain);
	}
	fsc_buf_fini(&out);
}

static void a_peek_between_reads_shows_what_comes_next(void **state)
{
	(void)state;
	struct fsc_buf plain;
	struct fsc_buf b;
	make_layers(&plain, 20000, "");
	make_layers(&b, 20000, "g");
	struct fsc_source *s = fsc_source_auto(fsc_source_mem(b.data, b.len));
	char piece[1000];
	size_t at = 0;
	for (size_t n = 1; n; at += n) {
		const uint8_t *p = NULL;
		size_t got = 0;
		assert_int_equal(fsc_source_peek(s, &p, &got, NULL), FSC_OK);
		assert_int_equal(got, plain.len - at < 4096 ? plain.len - at : 4096);
		assert_memory_equal(p, plain.data + at, got);
		enum fsc_status st = fsc_source_read(s, piece, at % 900 + 1, &n, NULL);
		assert_int_equal(st, n ? FSC_OK : FSC_END);
		assert_memory_equal(piece, plain.data + at, n);
	}
	assert_int_equal(at, plain.len);
	fsc_source_free(s);
	fsc_buf_fini(&b);
	fsc_buf_fini(&plain);
}

static void a_peek_tells_a_fault_only_when_no_byte_comes_before_it(void **state)
{
	(void)state;
	struct fsc_buf b;
	const uint8_t *p = NULL;
	size_t n = 0;
	struct fsc_err e = FSC_ERR_INIT;
	/* nothing but the magic */
	struct fsc_source *s = fsc_source_auto(fsc_source_mem("\x1f\x8b", 2));
	assert_int_equal(fsc_source_peek(s, &p, &n, &e), FSC_ECORRUPT);
	assert_string_equal(e.code, "gzip_truncated");
	assert_int_equal(n, 0);
	fsc_source_free(s);
	/* content, then the checksum is wrong */
	make_layers(&b, 300, "g");
	b.data[b.len - 8] ^= 1;
	s = fsc_source_auto(fsc_source_mem(b.data, b.len));
	fsc_err_clear(&e);
	assert_int_equal(fsc_source_peek(s, &p, &n, &e), FSC_OK);
	assert_int_equal(n, 300);
	char piece[1000];
	assert_int_equal(fsc_source_read(s, piece, sizeof(piece), &n, &e), FSC_OK);
	assert_int_equal(n, 300);
	assert_int_equal(fsc_source_read(s, piece, sizeof(piece), &n, &e), FSC_ECORRUPT);
	assert_string_equal(e.code, "gzip_crc");
	assert_int_equal(e.offset, 300);
	assert_int_equal(fsc_source_peek(s, &p, &n, &e), FSC_ECORRUPT);
	fsc_source_free(s);
	fsc_buf_fini(&b);
	/* other sources have no head */
	s = fsc_source_mem("x", 1);
	assert_int_equal(fsc_source_peek(s, &p, &n, &e), FSC_EBUG);
	fsc_source_free(s);
}

static void short_and_odd_heads_pass_through(void **state)
{
	(void)state;
	static const char *const heads[] = { "\x1f",	     "\x1f\x8c", "PK\x03\x04",
					     "\x28\xb5\x2f", "{",	 "\x50\x2a\x4d" };
	for (size_t i = 0; i < FSC_ARRAY_LEN(heads); i++) {
		struct fsc_buf out = FSC_BUF_INIT(100);
		size_t n = strlen(heads[i]);
		assert_int_equal(drain(fsc_source_auto(fsc_source_mem(heads[i], n)), 10, &out,
				       NULL),
				 FSC_END);
		assert_string_equal(out.data, heads[i]);
		fsc_buf_fini(&out);
	}
}

/*
 * Two layers, neither of which is a bomb alone: a member of equal chunks (1 KiB of noise and 120 KiB of
 * zeros, about 100:1), whose compressed chunks are equal too, inside a zstd frame.
 */
static void a_bomb_of_layers_is_stopped(void **state)
{
	(void)state;
	enum { CHUNK = 121 * 1024 };
	char *chunk = fsc_xalloc(CHUNK, 1);
	uint32_t x = 1;
	for (int i = 0; i < 1024; i++) {
		x = x * 1664525u + 1013904223u;
		chunk[i] = (char)(x >> 24);
	}
	struct fsc_buf one = FSC_BUF_INIT(SIZE_MAX);
	struct fsc_buf b = FSC_BUF_INIT(SIZE_MAX);
	gz_deflate(&one, chunk, CHUNK, 6, Z_DEFAULT_STRATEGY, Z_FULL_FLUSH);
	gz_head(&b, 0);
	size_t k = (size_t)(FSC_RATIO_GRACE_BYTES / CHUNK) * 2;
	for (size_t i = 0; i < k; i++)
		fsc_buf_add(&b, one.data, one.len);
	assert_true(b.len * FSC_MAX_RATIO > k * CHUNK);
	struct fsc_source *gz = fsc_source_gzip(fsc_source_mem(b.data, b.len));
	static char piece[1 << 16];
	size_t n = 0;
	struct fsc_err e = FSC_ERR_INIT;
	enum fsc_status st = FSC_OK;
	while (st == FSC_OK)
		st = fsc_source_read(gz, piece, sizeof(piece), &n, &e);
	assert_string_equal(e.code, "gzip_truncated");
	assert_true(gz->consumed > FSC_RATIO_GRACE_BYTES);
	fsc_source_free(gz);

	wrap_zstd(&b);
	struct fsc_source *s = fsc_source_auto(fsc_source_mem(b.data, b.len));
	st = FSC_OK;
	while (st == FSC_OK)
		st = fsc_source_read(s, piece, sizeof(piece), &n, &e);
	assert_int_equal(st, FSC_ELIMIT);
	assert_string_equal(e.code, "bomb");
	assert_true(s->consumed <= FSC_RATIO_GRACE_BYTES + sizeof(piece));
	fsc_source_free(s);
	fsc_buf_fini(&one);
	fsc_buf_fini(&b);
	fsc_free(chunk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_read_whole_and_in_pieces),
		cmocka_unit_test(a_read_fills_the_buffer_over_short_reads_below),
		cmocka_unit_test(bytes_before_a_fault_come_first),
		cmocka_unit_test(a_descriptor_is_read_from_its_position),
		cmocka_unit_test(a_pipe_is_read_to_its_end),
		cmocka_unit_test(a_plain_file_is_told_from_bytes_that_were_made),
		cmocka_unit_test(a_descriptor_that_cannot_be_read_is_told_again_and_again),
		cmocka_unit_test(up_to_three_layers_are_unwrapped),
		cmocka_unit_test(a_fourth_layer_is_refused),
		cmocka_unit_test(a_skippable_frame_first_is_zstd_too),
		cmocka_unit_test(a_peek_consumes_nothing),
		cmocka_unit_test(a_peek_between_reads_shows_what_comes_next),
		cmocka_unit_test(a_peek_tells_a_fault_only_when_no_byte_comes_before_it),
		cmocka_unit_test(short_and_odd_heads_pass_through),
		cmocka_unit_test(a_bomb_of_layers_is_stopped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
