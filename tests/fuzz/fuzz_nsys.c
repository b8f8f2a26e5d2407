/* SPDX-License-Identifier: Apache-2.0 */
/* The Nsight Systems reader on any bytes: no crash, and what it accepts keeps the invariants of the model. */
#include "base/assert.h"
#include "formats/nsys.h"
#include "model/validate.h"
#include "tests/fuzz/fuzz.h"

static enum fsc_status got(void *ctx, struct fsc_trace *t, struct fsc_err *err)
{
	(void)ctx;
	if (fsc_trace_validate(t, err) != FSC_OK)
		fsc_assert_fail(err->msg, __FILE__, __LINE__);
	fsc_trace_free(t);
	return FSC_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fsc_reader_sink sink = { .trace = got };
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_source *src = fsc_source_mem(data, size);
	enum fsc_status st = fsc_nsys_read(src, &sink, &err);

	FSC_ASSERT(fsc_nsys_sniff(data, size) >= 0);
	if (st != FSC_OK)
		FSC_ASSERT(st < 0 && err.status == st && err.code[0]);
	fsc_source_free(src);
	return 0;
}
