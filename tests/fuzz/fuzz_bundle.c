/* SPDX-License-Identifier: Apache-2.0 */
/* The archive walk on any bytes: every member is read to its end. */
#include "base/assert.h"
#include "bundle/bundle_read.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_bundle *b;
	struct fsc_member m;
	char buf[4096];
	size_t n;

	if (fsc_bundle_open(&b, fsc_source_mem(data, size), "fuzz", &err) != FSC_OK) {
		FSC_ASSERT(err.code[0]);
		return 0;
	}
	enum fsc_status st = FSC_OK;
	while ((st = fsc_bundle_next(b, &m, &err)) == FSC_OK) {
		FSC_ASSERT(m.path);
		while (fsc_source_read(fsc_bundle_member_source(b), buf, sizeof(buf), &n, &err) ==
		       FSC_OK)
			FSC_ASSERT(n > 0);
	}
	FSC_ASSERT(st == FSC_END || err.code[0]);
	fsc_bundle_close(b);
	return 0;
}
