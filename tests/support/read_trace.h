/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one trace file or one JSON text in a test, the way the indexer does, and checks its invariants. */
#ifndef FSC_TESTS_SUPPORT_READ_TRACE_H
#define FSC_TESTS_SUPPORT_READ_TRACE_H

#include <fcntl.h>

#include "base/attr.h"
#include "formats/chrome.h"
#include "model/validate.h"
#include "tests/support/test.h"

static inline enum fsc_status read_trace_got(void *ctx, struct fsc_trace *t, struct fsc_err *err)
{
	struct fsc_trace **out = ctx;

	(void)err;
	fsc_trace_free(*out);
	*out = t;
	return FSC_OK;
}

/* Invariants hold, or the test fails with the one that does not. */
static inline void assert_valid(const struct fsc_trace *t)
{
	struct fsc_err err = FSC_ERR_INIT;

	if (fsc_trace_validate(t, &err) != FSC_OK)
		fail_msg("%s", err.msg);
}

/* NULL and err set when the file cannot be read. Takes the source. */
static inline struct fsc_trace *read_trace_source(struct fsc_source *raw, struct fsc_err *err)
{
	struct fsc_source *src = fsc_source_auto(raw);
	struct fsc_trace *t = NULL;
	struct fsc_reader_sink sink = { .ctx = &t, .trace = read_trace_got };
	const uint8_t *head;
	size_t n;
	enum fsc_status st = fsc_source_peek(src, &head, &n, err);

	if (st == FSC_OK) {
		const struct fsc_reader *r = fsc_reader_pick(head, n, err);
		st = r ? r->read(src, &sink, err) : err->status;
	}
	fsc_source_free(src);
	if (st != FSC_OK) {
		assert_true(st < 0);
		assert_int_equal(st, err->status);
		assert_true(err->code[0] != '\0');
		fsc_trace_free(t);
		return NULL;
	}
	assert_non_null(t);
	assert_valid(t);
	return t;
}

static inline struct fsc_trace *read_trace_file(const char *path, struct fsc_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct fsc_trace *t;

	if (fd < 0)
		fail_msg("cannot open %s", path);
	t = read_trace_source(fsc_source_fd(fd), err);
	close(fd);
	return t;
}

static inline struct fsc_trace *read_trace_text(const char *json, size_t n, struct fsc_err *err)
{
	return read_trace_source(fsc_source_mem(json, n), err);
}

/* As read_trace_text for JSON that must be read. */
static inline struct fsc_trace *must_read(const char *json)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_trace *t = read_trace_text(json, strlen(json), &err);

	if (!t)
		fail_msg("%s: %s at %lld", err.code, err.msg, (long long)err.offset);
	return t;
}

static inline const char *str_of(const struct fsc_trace *t, uint32_t id)
{
	return fsc_strtab_get(t->strings, id, NULL);
}

static inline uint64_t loss_of(const struct fsc_trace *t, const char *code)
{
	for (uint32_t i = 0; i < t->losses.n; i++)
		if (!strcmp(t->losses.v[i].code, code))
			return t->losses.v[i].count;
	return 0;
}

/* First slice with this name; the test fails when there is none. */
static inline uint32_t slice_named(const struct fsc_trace *t, const char *name)
{
	for (uint32_t i = 0; i < t->slices.n; i++)
		if (!strcmp(str_of(t, t->slices.name[i]), name))
			return i;
	fail_msg("no slice %s", name);
	return FSC_NO_SLICE;
}

#endif
