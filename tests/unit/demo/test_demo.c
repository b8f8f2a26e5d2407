/* SPDX-License-Identifier: Apache-2.0 */
/* The synthetic capture: the same bytes for the same seed, limits on its size, and what the pages rely on. */
#include "tests/support/test.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fs.h"
#include "base/source.h"
#include "demo/demo.h"

struct bytes {
	char *p; /* owned */
	size_t n;
};

/* The tar inside the bundle. */
static struct bytes make(const struct fsc_demo_opts *opts)
{
	FILE *f = tmpfile();
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_source *src;
	struct bytes b = { fsc_xalloc(1, 64 << 20), 0 };
	size_t n;

	assert_non_null(f);
	assert_int_equal(fsc_demo_bundle(fileno(f), opts, &err), FSC_OK);
	assert_int_equal(lseek(fileno(f), 0, SEEK_SET), 0);
	src = fsc_source_zstd(fsc_source_fd(fileno(f)));
	while (fsc_source_read(src, b.p + b.n, (64 << 20) - b.n, &n, &err) == FSC_OK)
		b.n += n;
	assert_int_equal(err.status, FSC_OK);
	fsc_source_free(src);
	fclose(f);
	return b;
}

static size_t count(const struct bytes *b, const char *text)
{
	size_t n = 0, len = strlen(text);
	const char *p = b->p, *end = b->p + b->n;

	while ((p = memmem(p, (size_t)(end - p), text, len))) {
		n++;
		p += len;
	}
	return n;
}

static void the_same_seed_gives_the_same_bytes_and_another_seed_others(void **state)
{
	struct fsc_demo_opts o = { .ranks = 2, .steps = 2, .layers = 3, .seed = 1 }, p = o;
	struct bytes a = make(&o), b = make(&o), c;

	(void)state;
	p.seed = 2;
	c = make(&p);
	assert_int_equal(a.n, b.n);
	assert_memory_equal(a.p, b.p, a.n);
	assert_true(a.n != c.n || memcmp(a.p, c.p, a.n) != 0);
	fsc_free(a.p);
	fsc_free(b.p);
	fsc_free(c.p);
}

static void every_file_says_that_it_is_synthetic_and_every_rank_has_its_steps(void **state)
{
	struct fsc_demo_opts o = { .ranks = 3, .steps = 4, .layers = 3, .seed = 7 };
	struct bytes b = make(&o);

	(void)state;
	assert_int_equal(count(&b, "\"synthetic\": true"), 3 + 1);
	assert_int_equal(count(&b, "\"cat\": \"user_annotation\", \"name\": \"ProfilerStep#"),
			 3 * 4);
	assert_int_equal(count(&b, "\"ph\": \"s\""), count(&b, "\"ph\": \"f\""));
	assert_int_equal(count(&b, "\"ph\": \"s\""),
			 count(&b, "\"queued\": 0") + count(&b, "\"gpu_memcpy\""));
	assert_int_equal(count(&b, "-0."), 0);
	fsc_free(b.p);
}

static void sizes_out_of_range_are_refused(void **state)
{
	static const struct fsc_demo_opts bad[] = {
		{ 0, 1, 1, 1 },	   { 65, 1, 1, 1 }, { 1, 0, 1, 1 },
		{ 1, 1001, 1, 1 }, { 1, 1, 0, 1 },  { 1, 1, 201, 1 },
	};
	struct fsc_err err = FSC_ERR_INIT;

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(bad); i++)
		assert_int_equal(fsc_demo_bundle(1, &bad[i], &err), FSC_EINVAL);
}

static void a_full_disk_is_an_error(void **state)
{
	struct fsc_demo_opts o = { .ranks = 1, .steps = 1, .layers = 1, .seed = 7 };
	struct fsc_err err = FSC_ERR_INIT;
	FILE *f = fopen("/dev/full", "w");

	(void)state;
	assert_non_null(f);
	assert_true(fsc_demo_bundle(fileno(f), &o, &err) < 0);
	fclose(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_seed_gives_the_same_bytes_and_another_seed_others),
		cmocka_unit_test(every_file_says_that_it_is_synthetic_and_every_rank_has_its_steps),
		cmocka_unit_test(sizes_out_of_range_are_refused),
		cmocka_unit_test(a_full_disk_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
