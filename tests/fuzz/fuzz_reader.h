/* SPDX-License-Identifier: Apache-2.0 */
/* A reader on any bytes: no crash, an error has a code, and what is accepted keeps the invariants of the model. */
#ifndef FSC_TESTS_FUZZ_FUZZ_READER_H
#define FSC_TESTS_FUZZ_FUZZ_READER_H

#include "base/assert.h"
#include "formats/reader.h"
#include "model/validate.h"
#include "tests/fuzz/fuzz.h"

static inline enum fsc_status fuzz_got_trace(void *ctx, struct fsc_trace *t, struct fsc_err *err)
{
	(void)ctx;
	if (fsc_trace_validate(t, err) != FSC_OK)
		fsc_assert_fail(err->msg, __FILE__, __LINE__);
	fsc_trace_free(t);
	return FSC_OK;
}

static inline int fuzz_reader(const struct fsc_reader *r, const uint8_t *data, size_t size)
{
	struct fsc_reader_sink sink = { .trace = fuzz_got_trace };
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_source *src = fsc_source_mem(data, size);
	enum fsc_status st;

	FSC_ASSERT(r->sniff(data, size < 4096 ? size : 4096) >= 0);
	st = r->read(src, &sink, &err);
	if (st != FSC_OK)
		FSC_ASSERT(st < 0 && err.status == st && err.code[0]);
	fsc_source_free(src);
	return 0;
}

#endif
