/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bombs on every path into the real program in its sandbox: each is refused, for at most 2 s of CPU and 64 MiB of
 * memory, and leaves nothing. A line per bomb says what it took. The archives are made here, small ones that grow.
 */
#include <sys/stat.h>
#include <sys/wait.h>
#include <zlib.h>
#include <zstd.h>

#include "base/limits.h"
#include "tests/unit/bundle/tar_util.h"
#include "tests/unit/bundle/zip_util.h"
#include "tests/unit/indexer/run_program.h"

#define MAX_CPU_NS 2000000000LL
#define MAX_RSS (64LL << 20)

/* ---- makers: n bytes of one kind, packed piece by piece ---- */

#define PIECE ((size_t)1 << 20)

/* c n times in whole pieces; spaces come behind a bracket, as a trace begins. */
static void gz_fill(struct fsc_buf *out, char c, uint64_t n)
{
	z_stream z = { .zalloc = Z_NULL };
	static char piece[PIECE];
	Bytef room[16384];

	fsc_buf_add(out, "\x1f\x8b\x08\0\0\0\0\0\0\3", 10);
	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY), Z_OK);
	for (int first = 1; first >= 0; first--) {
		memset(piece, c, sizeof(piece));
		if (first && c == ' ')
			piece[0] = '[';
		z.next_in = (Bytef *)piece;
		z.avail_in = PIECE;
		z.next_out = room;
		z.avail_out = sizeof(room);
		/* nothing reaches over a full flush: what follows is the same again and again */
		assert_int_equal(deflate(&z, Z_FULL_FLUSH), Z_OK);
		assert_int_equal(z.avail_in, 0);
		for (uint64_t i = first ? 1 : n / PIECE - 1; i > 0; i--)
			fsc_buf_add(out, room, sizeof(room) - z.avail_out);
	}
	deflateEnd(&z);
	fsc_buf_add(out, "\3\0\0\0\0\0\0\0\0\0", 10);
}

static void zst_fill(struct fsc_buf *out, char c, uint64_t n, int window_log)
{
	ZSTD_CCtx *z = ZSTD_createCCtx();
	static char piece[PIECE];
	size_t left = 1;

	memset(piece, c, sizeof(piece));
	piece[0] = '[';
	assert_non_null(z);
	ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, 1);
	ZSTD_CCtx_setParameter(z, ZSTD_c_windowLog, window_log);
	for (uint64_t i = n / PIECE; i > 0; i--) {
		ZSTD_inBuffer in = { piece, PIECE, 0 };
		do {
			ZSTD_outBuffer o = { fsc_buf_room(out, 65536), 65536, 0 };
			assert_non_null(o.dst);
			left = ZSTD_compressStream2(z, &o, &in,
						    i > 1 ? ZSTD_e_continue : ZSTD_e_end);
			assert_false(ZSTD_isError(left));
			out->len += o.pos;
		} while (in.pos < in.size || (i == 1 && left));
		piece[0] = c;
	}
	ZSTD_freeCCtx(z);
}

static void gz_of(struct fsc_buf *out, const struct fsc_buf *in)
{
	size_t cap = in->len + 65536;
	z_stream z = { .zalloc = Z_NULL };

	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 31, 9, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (Bytef *)in->data;
	z.avail_in = (uInt)in->len;
	z.next_out = (Bytef *)fsc_buf_room(out, cap);
	z.avail_out = (uInt)cap;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	out->len += z.total_out;
	deflateEnd(&z);
}

static void zst_of(struct fsc_buf *out, const struct fsc_buf *in)
{
	size_t cap = ZSTD_compressBound(in->len);
	size_t n = ZSTD_compress(fsc_buf_room(out, cap), cap, in->data, in->len, 3);

	assert_false(ZSTD_isError(n));
	out->len += n;
}

static void tar_member(struct fsc_buf *b, const char *name, const struct fsc_buf *data)
{
	tar_header(b, name, '0', data->len, NULL);
	tar_data(b, data->data, data->len);
}

/* ---- the bombs ---- */

#define GIB_OUT ((uint64_t)1 << 30)

static void bare_gz(struct fsc_buf *out)
{
	gz_fill(out, ' ', GIB_OUT);
}

static void bare_zst(struct fsc_buf *out)
{
	zst_fill(out, ' ', GIB_OUT, 20);
}

static void zst_with_the_largest_window(struct fsc_buf *out)
{
	zst_fill(out, ' ', GIB_OUT, FSC_MAX_ZSTD_WINDOW_LOG);
}

static void gz_of_events(struct fsc_buf *out)
{
	struct fsc_buf one = FSC_BUF_INIT(SIZE_MAX);

	/* many gzip members make one file */
	fsc_buf_adds(&one, "[");
	for (int i = 0; i < 20000; i++)
		fsc_buf_adds(&one, "{\"ph\":\"M\",\"name\":\"x\"},");
	struct fsc_buf z = FSC_BUF_INIT(SIZE_MAX);
	gz_of(&z, &one);
	fsc_buf_add(out, z.data, z.len);
	one.data[0] = ' ';
	fsc_buf_clear(&z);
	gz_of(&z, &one);
	for (int i = 0; i < 2000; i++)
		fsc_buf_add(out, z.data, z.len);
	fsc_buf_fini(&z);
	fsc_buf_fini(&one);
}

static void zip_deflated(struct fsc_buf *out)
{
	struct fsc_buf z = FSC_BUF_INIT(SIZE_MAX);
	struct zip zip;

	gz_fill(&z, ' ', GIB_OUT);
	/* raw deflate is what is between the 10 bytes of header and 8 of trailer */
	struct zip_sizes s = { (uint32_t)crc32_z(0, NULL, 0), z.len - 18, GIB_OUT };
	zip_init(&zip);
	zip_local(&zip, "a.json", ZIP_DEFLATED, &s);
	fsc_buf_add(&zip.out, z.data + 10, z.len - 18);
	zip_listed(&zip, "a.json", ZIP_DEFLATED, &s, 0);
	zip_end(&zip, false);
	fsc_buf_add(out, zip.out.data, zip.out.len);
	zip_fini(&zip);
	fsc_buf_fini(&z);
}

/* One member of zeros; not sparse, so that the compression is what grows. */
static void tar_of_spaces(struct fsc_buf *tar, struct fsc_buf *spaces)
{
	fsc_buf_init(tar, SIZE_MAX);
	fsc_buf_init(spaces, SIZE_MAX);
	tar_header(tar, "a.json", '0', GIB_OUT - 1, NULL);
}

static void tar_gz(struct fsc_buf *out)
{
	struct fsc_buf tar, data;

	tar_of_spaces(&tar, &data);
	gz_of(out, &tar);
	gz_fill(&data, ' ', GIB_OUT);
	fsc_buf_add(out, data.data, data.len); /* a second gzip member goes on */
	fsc_buf_fini(&data);
	fsc_buf_fini(&tar);
}

static void tar_zst(struct fsc_buf *out)
{
	struct fsc_buf tar, data;

	tar_of_spaces(&tar, &data);
	zst_of(out, &tar);
	zst_fill(&data, ' ', GIB_OUT, 20);
	fsc_buf_add(out, data.data, data.len);
	fsc_buf_fini(&data);
	fsc_buf_fini(&tar);
}

static void inner(struct fsc_buf *out, bool zip, bool zst)
{
	struct fsc_buf z = FSC_BUF_INIT(SIZE_MAX);

	if (zst)
		zst_fill(&z, ' ', GIB_OUT, 20);
	else
		gz_fill(&z, ' ', GIB_OUT);
	if (zip) {
		struct zip a;
		zip_init(&a);
		zip_add(&a, "a.json", z.data, z.len, 0);
		zip_end(&a, false);
		fsc_buf_add(out, a.out.data, a.out.len);
		zip_fini(&a);
	} else {
		tar_member(out, "a.json", &z);
		tar_end(out);
	}
	fsc_buf_fini(&z);
}

static void gz_in_tar(struct fsc_buf *out)
{
	inner(out, false, false);
}

static void zst_in_tar(struct fsc_buf *out)
{
	inner(out, false, true);
}

static void gz_in_zip(struct fsc_buf *out)
{
	inner(out, true, false);
}

static void zst_in_zip(struct fsc_buf *out)
{
	inner(out, true, true);
}

/* No member passes the 64 MiB that are free, all together are 500 GiB. */
static void many_small_members(struct fsc_buf *out)
{
	struct fsc_buf z = FSC_BUF_INIT(SIZE_MAX);
	char name[32];

	zst_fill(&z, ' ', 50 << 20, 20);
	for (int i = 0; i < 9990; i++) {
		snprintf(name, sizeof(name), "%d.json", i);
		tar_member(out, name, &z);
	}
	tar_end(out);
	fsc_buf_fini(&z);
}

/* The same, packed once more: the archive itself hardly grows against its members. */
static void many_small_members_packed(struct fsc_buf *out)
{
	struct fsc_buf tar = FSC_BUF_INIT(SIZE_MAX);

	many_small_members(&tar);
	gz_of(out, &tar);
	fsc_buf_fini(&tar);
}

static void gz_in_gz(struct fsc_buf *out)
{
	struct fsc_buf z = FSC_BUF_INIT(SIZE_MAX);

	gz_fill(&z, ' ', 4 * GIB_OUT);
	gz_of(out, &z);
	fsc_buf_fini(&z);
}

/* The inner layer makes nothing of a gigabyte: empty gzip members, a header without end, padding. */
static void nothing_out_of(struct fsc_buf *out, const char *start, size_t n, char fill)
{
	struct fsc_buf head = FSC_BUF_INIT(SIZE_MAX), rest = FSC_BUF_INIT(SIZE_MAX);

	fsc_buf_add(&head, start, n);
	gz_of(out, &head);
	gz_fill(&rest, fill, GIB_OUT);
	fsc_buf_add(out, rest.data, rest.len);
	fsc_buf_fini(&head);
	fsc_buf_fini(&rest);
}

static void endless_gzip_name(struct fsc_buf *out)
{
	nothing_out_of(out, "\x1f\x8b\x08\x08\0\0\0\0\0\3", 10, 'n');
}

static void endless_gzip_padding(struct fsc_buf *out)
{
	nothing_out_of(out, "\x1f\x8b\x08\0\0\0\0\0\0\3\3\0\0\0\0\0\0\0\0\0", 20, '\0');
}

static void empty_gzip_members(struct fsc_buf *out)
{
	struct fsc_buf some = FSC_BUF_INIT(SIZE_MAX), z = FSC_BUF_INIT(SIZE_MAX);

	for (int i = 0; i < 100000; i++)
		fsc_buf_add(&some, "\x1f\x8b\x08\0\0\0\0\0\0\3\3\0\0\0\0\0\0\0\0\0", 20);
	gz_of(&z, &some);
	for (int i = 0; i < 500; i++)
		fsc_buf_add(out, z.data, z.len);
	fsc_buf_fini(&some);
	fsc_buf_fini(&z);
}

static void a_million_entries(struct fsc_buf *out)
{
	struct fsc_buf some = FSC_BUF_INIT(SIZE_MAX), z = FSC_BUF_INIT(SIZE_MAX);
	char name[32];

	for (int i = 0; i < 20000; i++) {
		snprintf(name, sizeof(name), "%d.json", i);
		tar_header(&some, name, '0', 0, NULL);
	}
	zst_of(&z, &some);
	for (int i = 0; i < 50; i++)
		fsc_buf_add(out, z.data, z.len);
	fsc_buf_fini(&some);
	fsc_buf_fini(&z);
}

static void a_million_zip_entries(struct fsc_buf *out)
{
	struct zip z;

	zip_init(&z);
	zip_add(&z, "1.json", "", 0, 0);
	for (int i = 0; i < 1000000; i++)
		fsc_buf_add(out, z.out.data, z.out.len);
	z.n = 1000000;
	fsc_buf_clear(&z.out);
	zip_end(&z, true);
	fsc_buf_add(out, z.out.data, z.out.len);
	zip_fini(&z);
}

static void a_million_folders(struct fsc_buf *out)
{
	struct fsc_buf some = FSC_BUF_INIT(SIZE_MAX), z = FSC_BUF_INIT(SIZE_MAX);

	for (int i = 0; i < 20000; i++)
		tar_header(&some, "d/", '5', 0, NULL);
	zst_of(&z, &some);
	for (int i = 0; i < 50; i++)
		fsc_buf_add(out, z.data, z.len);
	fsc_buf_fini(&some);
	fsc_buf_fini(&z);
}

static const struct {
	const char *name;
	void (*make)(struct fsc_buf *out);
	const char *code;
} bombs[] = {
	{ "1 GiB in a .gz", bare_gz, "bomb" },
	{ "1 GiB in a .zst", bare_zst, "bomb" },
	{ "1 GiB in a .zst, window 128 MiB", zst_with_the_largest_window, "bomb" },
	{ "events in a .gz, 2,001 members", gz_of_events, "bomb" },
	{ "4 GiB in a .gz.gz", gz_in_gz, "bomb" },
	{ "gzip in gzip, endless name", endless_gzip_name, "gzip_header" },
	{ "gzip in gzip, endless padding", endless_gzip_padding, "bomb" },
	{ "gzip in gzip, 50 M empty members", empty_gzip_members, "bomb" },
	{ "1 GiB in a zip", zip_deflated, "bomb" },
	{ "1 GiB in a tar.gz", tar_gz, "bomb" },
	{ "1 GiB in a tar.zst", tar_zst, "bomb" },
	{ "1 GiB in a .gz in a tar", gz_in_tar, "bomb" },
	{ "1 GiB in a .zst in a tar", zst_in_tar, "bomb" },
	{ "1 GiB in a .gz in a zip", gz_in_zip, "bomb" },
	{ "1 GiB in a .zst in a zip", zst_in_zip, "bomb" },
	{ "500 GiB in 9,990 members of a tar", many_small_members, "bomb" },
	{ "500 GiB in 9,990 members of a tar.gz", many_small_members_packed, "bomb" },
	{ "1,000,000 files in a tar.zst", a_million_entries, "too_many_entries" },
	{ "1,000,000 folders in a tar.zst", a_million_folders, "too_many_entries" },
	{ "1,000,000 files in a zip", a_million_zip_entries, "too_many_entries" },
};

/* The bytes in an unnamed file: the memory of this process counts for the one that it starts. */
static int file_of(void (*make)(struct fsc_buf *), int64_t *size)
{
	char name[] = "/tmp/fsc-bomb-XXXXXX";
	int fd = mkstemp(name);
	struct stat st;

	assert_true(fd >= 0);
	unlink(name);
	pid_t pid = fork();
	if (pid == 0) {
		struct fsc_buf b = FSC_BUF_INIT(SIZE_MAX);
		make(&b);
		_exit(write(fd, b.data, b.len) == (ssize_t)b.len ? 0 : 1);
	}
	int status = -1;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	*size = st.st_size;
	return fd;
}

/* The code that ended it: of the bundle, or of its only file. */
static const char *reason(const struct told *d)
{
	if (d->end.status != FSC_OK && strcmp(d->end.code, "no_trace") != 0)
		return d->end.code;
	return d->members.n ? d->members.v[d->members.n - 1].code : "";
}

static void every_bomb_is_refused_for_little_time_and_memory(void **state)
{
	unsigned failed = 0;

	(void)state;
	print_message("%-40s %10s  %-18s %8s %9s\n", "bomb", "bytes", "refused as", "CPU",
		      "memory");
	for (size_t i = 0; i < FSC_ARRAY_LEN(bombs); i++) {
		struct fsc_indexer_job job = FSC_INDEXER_JOB_INIT;
		struct told d;
		int64_t size = 0;
		int fd = file_of(bombs[i].make, &size);
		job.name = "bomb";
		job.max_wall_s = 60;
		told_run(&d, job, fd);
		close(fd);
		bool good = d.st == FSC_OK && !strcmp(reason(&d), bombs[i].code) && !d.traces.n &&
			    d.res.cpu_ns <= MAX_CPU_NS && d.res.maxrss_bytes <= MAX_RSS;
		print_message("%-40s %10lld  %-18s %6.2f s %5lld MiB%s\n", bombs[i].name,
			      (long long)size, reason(&d), (double)d.res.cpu_ns / 1e9,
			      (long long)(d.res.maxrss_bytes >> 20),
			      good ? "" : "  <-- not as it should be");
		failed += !good;
		told_fini(&d);
	}
	assert_int_equal(failed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_bomb_is_refused_for_little_time_and_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
