/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Damaged and hostile segments. Any changed byte gives FSC_ECORRUPT or the same answers; any cut is refused;
 * files with right checksums and wrong contents do no harm (run under the sanitizers).
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "segment/seg_write.h"
#include "tests/support/test.h"
#include "tests/unit/segment/help_exercise.h"
#include "tests/unit/segment/help_gen_trace.h"

struct file {
	int fd;
	uint8_t *p;
	size_t n;
};

static struct file segment_with(const struct gen_opts *o)
{
	struct fsc_trace *t = gen_trace(o);
	struct file f = { .fd = memfd_create("segment", MFD_CLOEXEC) };
	struct stat sb;

	/* Counters weigh most in so small a file, and are all alike. */
	for (size_t i = 0; i < t->tracks.n; i++)
		if (t->tracks.v[i].n > 20 && t->tracks.v[i].kind == FSC_TRACK_COUNTER)
			t->tracks.v[i].n = 20;
	t->counters.n = t->counters.n < 20 ? t->counters.n : 20;
	assert_int_equal(fsc_seg_write(f.fd, t, NULL, NULL, NULL), FSC_OK);
	fsc_trace_free(t);
	assert_int_equal(fstat(f.fd, &sb), 0);
	f.n = (size_t)sb.st_size;
	f.p = malloc(f.n);
	assert_non_null(f.p);
	assert_int_equal(pread(f.fd, f.p, f.n, 0), (ssize_t)f.n);
	return f;
}

static struct file small_segment(uint64_t seed)
{
	struct gen_opts o = { .seed = seed,
			      .shape = seed % 2 ? GEN_WILD : GEN_EVEN,
			      .n_threads = 1,
			      .n_streams = 1,
			      .n_outer = 66,
			      .max_depth = 1,
			      .n_names = 6,
			      .side_tables = true,
			      .big_correlations = seed % 2 };

	return segment_with(&o);
}

static void drop(struct file *f)
{
	free(f->p);
	close(f->fd);
}

static void every_changed_byte_is_found_or_changes_nothing(void **state)
{
	static struct help_steps want, got;
	struct fsc_seg *s;
	unsigned found_at_open = 0, found_later = 0, same = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 2; seed++) {
		struct file f = small_segment(seed);

		assert_int_equal(fsc_seg_open(&s, f.fd, NULL), FSC_OK);
		help_exercise(&want, s);
		fsc_seg_unref(s);
		/* The second file differs in its slices only: a seventh of its bytes will do. */
		for (size_t at = 0; at < f.n; at += seed == 1 ? 1 : 7) {
			uint8_t bad = f.p[at] ^ (uint8_t)(at % 3 ? 1u << (at % 8) : 0xff);
			bool later = false;
			enum fsc_status st;

			assert_int_equal(pwrite(f.fd, &bad, 1, (off_t)at), 1);
			st = fsc_seg_open(&s, f.fd, NULL);
			if (st == FSC_OK) {
				help_exercise(&got, s);
				fsc_seg_unref(s);
				assert_int_equal(got.n, want.n);
				for (uint32_t i = 0; i < got.n; i++) {
					bool differs = got.st[i] != want.st[i] ||
						       got.hash[i] != want.hash[i];

					if (differs && got.st[i] != FSC_ECORRUPT)
						fail_msg("byte %zu: step %u answers something else",
							 at, i);
					later |= differs;
				}
			} else {
				assert_int_equal(st, FSC_ECORRUPT);
				found_at_open++;
			}
			found_later += later;
			same += st == FSC_OK && !later;
			assert_int_equal(pwrite(f.fd, &f.p[at], 1, (off_t)at), 1);
		}
		drop(&f);
	}
	/* Only padding and bytes that no question reaches may stay unnoticed. */
	assert_true(found_at_open > 1000 && found_later > 500);
	assert_true(same < found_at_open);
}

static void verify_notices_every_changed_byte_of_a_section(void **state)
{
	struct file f = small_segment(2);
	const struct fsc_seg_d_header *h = (const void *)f.p;
	const struct fsc_seg_d_section *t = (const void *)(f.p + h->table_offset);
	uint8_t *in_section = calloc(f.n, 1);

	(void)state;
	for (uint32_t i = 0; i < h->n_sections; i++)
		memset(in_section + t[i].offset, 1, t[i].stored_bytes);
	for (size_t at = FSC_SEG_HEADER_BYTES; at < h->table_offset; at++) {
		uint8_t bad = f.p[at] ^ 0x10;
		struct fsc_seg *s;
		enum fsc_status st;

		assert_int_equal(pwrite(f.fd, &bad, 1, (off_t)at), 1);
		st = fsc_seg_open(&s, f.fd, NULL);
		if (st == FSC_OK) {
			st = fsc_seg_verify(s, NULL);
			fsc_seg_unref(s);
		}
		assert_int_equal(st, in_section[at] ? FSC_ECORRUPT : FSC_OK);
		assert_int_equal(pwrite(f.fd, &f.p[at], 1, (off_t)at), 1);
	}
	free(in_section);
	drop(&f);
}

static void a_file_cut_anywhere_is_refused(void **state)
{
	struct file f = small_segment(1);

	(void)state;
	for (size_t n = f.n; n-- > 0;) {
		struct fsc_seg *s = NULL;

		assert_int_equal(ftruncate(f.fd, (off_t)n), 0);
		assert_int_equal(fsc_seg_open(&s, f.fd, NULL), FSC_ECORRUPT);
		assert_null(s);
	}
	drop(&f);
}

static void a_file_with_bytes_appended_is_refused(void **state)
{
	struct file f = small_segment(1);
	struct fsc_seg *s;

	(void)state;
	assert_int_equal(pwrite(f.fd, "x", 1, (off_t)f.n), 1);
	assert_int_equal(fsc_seg_open(&s, f.fd, NULL), FSC_ECORRUPT);
	drop(&f);
}

static void another_major_version_is_unsupported_and_a_later_minor_is_read(void **state)
{
	struct file f = small_segment(1);
	struct fsc_seg_d_header *h = (void *)f.p;
	struct fsc_seg_d_section *t = (void *)(f.p + h->table_offset);
	struct fsc_seg *s;

	(void)state;
	h->minor = 9;
	for (uint32_t i = 0; i < h->n_sections; i++)
		if (t[i].type == FSC_SEG_COL_ARGS)
			t[i].type = 12345; /* an unknown section is passed over */
	help_reseal(f.p, f.n);
	/* Blocks cover the args column, which is gone now: seal them without it. */
	assert_int_equal(pwrite(f.fd, f.p, f.n, 0), (ssize_t)f.n);
	assert_int_equal(fsc_seg_open(&s, f.fd, NULL), FSC_OK);
	fsc_seg_unref(s);
	h->major = 2;
	h->header_crc = 0;
	h->header_crc = fsc_crc32c(0, f.p, FSC_SEG_HEADER_BYTES);
	assert_int_equal(pwrite(f.fd, f.p, f.n, 0), (ssize_t)f.n);
	assert_int_equal(fsc_seg_open(&s, f.fd, NULL), FSC_EUNSUPPORTED);
	drop(&f);
}

/* One word of the file is changed and every checksum made right: no crash, whatever is asked. */
static void wrong_contents_behind_right_checksums_do_no_harm(void **state)
{
	static const uint32_t words[] = { 0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 64 };
	static struct help_steps got;
	unsigned opened = 0, refused = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 2; seed++) {
		struct file f = small_segment(seed);
		uint8_t *bad = malloc(f.n);

		for (size_t at = 0; at + 4 <= f.n; at += seed == 1 ? 4 : 12) {
			uint32_t w = words[(at / 4 + seed) % FSC_ARRAY_LEN(words)];
			struct fsc_seg *s;

			memcpy(bad, f.p, f.n);
			memcpy(bad + at, &w, sizeof(w));
			help_reseal(bad, f.n);
			assert_int_equal(pwrite(f.fd, bad, f.n, 0), (ssize_t)f.n);
			if (fsc_seg_open(&s, f.fd, NULL) != FSC_OK) {
				refused++;
				continue;
			}
			help_exercise(&got, s);
			(void)!fsc_seg_verify(s, NULL);
			fsc_seg_unref(s);
			opened++;
		}
		free(bad);
		drop(&f);
	}
	assert_true(opened > 500 && refused > 300);
}

/* Puts the ends of the range, where sums and differences overflow (UBSan watches), in place of each 64-bit
 * word of [from, to), and asks everything. Returns how many of these files were opened. */
static unsigned try_ends(const struct file *f, size_t from, size_t to)
{
	static const int64_t ends[] = { INT64_MAX, INT64_MIN, INT64_MAX - 3 };
	static struct help_steps got;
	uint8_t *bad = malloc(f->n);
	unsigned opened = 0;

	for (size_t at = from; at + 8 <= to; at += 8) {
		for (size_t k = 0; k < FSC_ARRAY_LEN(ends); k++) {
			struct fsc_seg *s;

			memcpy(bad, f->p, f->n);
			memcpy(bad + at, &ends[k], sizeof(ends[k]));
			help_reseal(bad, f->n);
			assert_int_equal(pwrite(f->fd, bad, f->n, 0), (ssize_t)f->n);
			if (fsc_seg_open(&s, f->fd, NULL) != FSC_OK)
				continue;
			/* what the server counts with before it asks anything */
			assert_true(fsc_seg_info(s)->t_max_ns <= FSC_SEG_TIME_MAX);
			assert_true(fsc_seg_info(s)->t_min_ns >= -FSC_SEG_TIME_MAX);
			help_exercise(&got, s);
			fsc_seg_unref(s);
			opened++;
		}
	}
	free(bad);
	return opened;
}

static void numbers_at_the_ends_of_their_range_do_no_harm(void **state)
{
	/* enough intervals that covered time is kept on a grid */
	struct gen_opts many = {
		.seed = 3, .shape = GEN_EVEN, .n_streams = 1, .n_outer = 9000, .n_names = 1
	};
	struct file f = small_segment(2);
	const struct fsc_seg_d_header *h = (const void *)f.p;
	const struct fsc_seg_d_section *t;
	unsigned grids = 0;

	(void)state;
	assert_true(try_ends(&f, offsetof(struct fsc_seg_d_header, t_base_ns), f.n) > 500);
	drop(&f);
	f = segment_with(&many);
	h = (const void *)f.p;
	t = (const void *)(f.p + h->table_offset);
	for (uint32_t i = 0; i < h->n_sections; i++) {
		const struct fsc_seg_d_cover *c = (const void *)(f.p + t[i].offset);

		if (t[i].type != FSC_SEG_COVER)
			continue;
		for (uint32_t k = 0; k < h->n_covers; k++)
			grids += c[k].form == FSC_SEG_COVER_GRID;
		(void)try_ends(&f, t[i].offset, t[i].offset + t[i].stored_bytes);
	}
	assert_true(grids > 0);
	drop(&f);
}

static void what_is_no_segment_is_refused(void **state)
{
	char path[256];
	struct fsc_seg *s;
	int fd = memfd_create("segment", MFD_CLOEXEC), dir;
	uint8_t junk[8192];

	(void)state;
	memset(junk, 'x', sizeof(junk));
	assert_int_equal(pwrite(fd, junk, sizeof(junk), 0), sizeof(junk));
	assert_int_equal(fsc_seg_open(&s, fd, NULL), FSC_ECORRUPT);
	close(fd);
	dir = open(test_tmpdir(path, sizeof(path)), O_RDONLY | O_DIRECTORY);
	assert_int_equal(fsc_seg_open(&s, dir, NULL), FSC_EINVAL);
	close(dir);
	rmdir(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_changed_byte_is_found_or_changes_nothing),
		cmocka_unit_test(verify_notices_every_changed_byte_of_a_section),
		cmocka_unit_test(a_file_cut_anywhere_is_refused),
		cmocka_unit_test(a_file_with_bytes_appended_is_refused),
		cmocka_unit_test(another_major_version_is_unsupported_and_a_later_minor_is_read),
		cmocka_unit_test(wrong_contents_behind_right_checksums_do_no_harm),
		cmocka_unit_test(numbers_at_the_ends_of_their_range_do_no_harm),
		cmocka_unit_test(what_is_no_segment_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
