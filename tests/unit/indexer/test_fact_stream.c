/* SPDX-License-Identifier: Apache-2.0 */
/* The child's end of the fact stream: text made fit for frames, descriptors received, a parent that is gone. */
#include "indexer/fact_stream.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>

#include "base/utf8.h"
#include "facts/fact_codec.h"
#include "tests/support/test.h"

static void sound_text_is_passed_on_as_it_is(void **state)
{
	struct fsc_fact_stream s;
	const char *text = "gr\xC3\xBC\xC3\x9F";

	(void)state;
	fsc_fact_stream_init(&s, -1);
	assert_ptr_equal(fsc_fact_stream_text(&s, text, strlen(text)), text);
	assert_int_equal(s.n_cut, 0);
	fsc_fact_stream_fini(&s);
}

static void other_text_is_repaired_and_counted(void **state)
{
	struct fsc_fact_stream s;

	(void)state;
	fsc_fact_stream_init(&s, -1);
	assert_string_equal(fsc_fact_stream_text(&s, "a\xFFz", 3), "a\xEF\xBF\xBDz");
	assert_string_equal(fsc_fact_stream_text(&s, "a\0z", 3), "a\xE2\x90\x80z");
	assert_int_equal(s.n_cut, 2);
	fsc_fact_stream_fini(&s);
}

static void long_text_is_cut_between_characters(void **state)
{
	char *text = malloc(4 * FSC_FACT_TEXT_MAX + 1);
	struct fsc_fact_stream s;

	(void)state;
	assert_non_null(text);
	for (size_t shift = 0; shift < 4; shift++) {
		size_t n = 0;

		/* characters of 4 bytes, at every phase to the limit */
		for (; n < shift; n++)
			text[n] = 'x';
		for (; n + 4 < 2 * FSC_FACT_TEXT_MAX; n += 4)
			memcpy(text + n, "\xF0\x9F\x98\x80", 4);
		text[n] = '\0';
		fsc_fact_stream_init(&s, -1);
		const char *cut = fsc_fact_stream_text(&s, text, n);
		assert_true(strlen(cut) <= FSC_FACT_TEXT_MAX &&
			    strlen(cut) > FSC_FACT_TEXT_MAX - 4);
		assert_true(fsc_utf8_valid(cut, strlen(cut)));
		assert_memory_equal(cut, text, strlen(cut));
		assert_int_equal(s.n_cut, 1);
		fsc_fact_stream_fini(&s);
	}
	free(text);
}

static void frames_are_written_when_they_matter(void **state)
{
	struct fsc_fact f = { .type = FSC_FACT_TRACE, .u.trace = { .member = "m", .rank = -1 } };
	struct fsc_fact_decoder d;
	struct fsc_fact_stream s;
	struct fsc_fact got;
	char buf[4096];
	int pair[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	fsc_fact_stream_init(&s, pair[0]);
	assert_int_equal(fsc_fact_stream_put(&s, &f, NULL), FSC_OK);
	assert_int_equal(recv(pair[1], buf, sizeof(buf), MSG_DONTWAIT), -1);
	/* progress carries what was held back */
	f = (struct fsc_fact){ .type = FSC_FACT_PROGRESS };
	assert_int_equal(fsc_fact_stream_put(&s, &f, NULL), FSC_OK);
	ssize_t n = recv(pair[1], buf, sizeof(buf), MSG_DONTWAIT);
	assert_true(n > 0);
	fsc_fact_decoder_init(&d);
	assert_int_equal(fsc_fact_decoder_put(&d, buf, (size_t)n, NULL), FSC_OK);
	assert_int_equal(fsc_fact_decoder_next(&got, &d, NULL), FSC_OK);
	assert_string_equal(got.u.trace.member, "m");
	assert_int_equal(fsc_fact_decoder_next(&got, &d, NULL), FSC_OK);
	assert_int_equal(got.type, FSC_FACT_PROGRESS);
	fsc_fact_decoder_fini(&d);
	fsc_fact_stream_fini(&s);
	close(pair[0]);
	close(pair[1]);
}

static void a_parent_that_is_gone_breaks_the_stream_for_good(void **state)
{
	struct fsc_fact f = { .type = FSC_FACT_PROGRESS };
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_fact_stream s;
	int pair[2], fd = -1;

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	close(pair[1]);
	fsc_fact_stream_init(&s, pair[0]);
	assert_int_equal(fsc_fact_stream_put(&s, &f, &err), FSC_EIO);
	assert_string_equal(err.code, "parent_gone");
	assert_true(s.broken);
	assert_int_equal(fsc_fact_stream_segment(&fd, &s, 0, &err), FSC_EIO);
	assert_int_equal(fd, -1);
	fsc_fact_stream_fini(&s);
	close(pair[0]);
}

static void an_answer_without_a_descriptor_is_refused(void **state)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_fact_stream s;
	int pair[2], fd = -1;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(write(pair[1], "F", 1), 1);
	fsc_fact_stream_init(&s, pair[0]);
	assert_int_equal(fsc_fact_stream_segment(&fd, &s, 0, &err), FSC_EIO);
	assert_true(s.broken);
	assert_int_equal(fd, -1);
	fsc_fact_stream_fini(&s);
	close(pair[0]);
	close(pair[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sound_text_is_passed_on_as_it_is),
		cmocka_unit_test(other_text_is_repaired_and_counted),
		cmocka_unit_test(long_text_is_cut_between_characters),
		cmocka_unit_test(frames_are_written_when_they_matter),
		cmocka_unit_test(a_parent_that_is_gone_breaks_the_stream_for_good),
		cmocka_unit_test(an_answer_without_a_descriptor_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
