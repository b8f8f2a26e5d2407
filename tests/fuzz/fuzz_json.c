/* SPDX-License-Identifier: Apache-2.0 */
/* The trace-event JSON reader on any bytes: no crash, and what it accepts keeps the invariants of the model.
 * The first byte chooses how the rest arrives (chunk size, string scan, window). */
#include "formats/chrome.h"
#include "tests/fuzz/fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const scans[] = { "scalar", "sse2", "avx2" };
	struct fsc_reader_sink sink = { .trace = fuzz_got_trace };
	struct fsc_err err = FSC_ERR_INIT;
	uint8_t how = size ? data[0] : 0;
	struct fsc_chrome_options o = { .window = how & 64 ? 4096 : 65536,
					.chunk = how & 32 ? 1 + (how & 7) : 4096,
					.scan = fsc_jt_scan_of(scans[how % 3]) };

	if (!size)
		return 0;
	struct fsc_source *src = fsc_source_mem(data + 1, size - 1);
	enum fsc_status st = fsc_chrome_read_with(src, &sink, &o, &err);
	if (st != FSC_OK)
		FSC_ASSERT(st < 0 && err.status == st && err.code[0]);
	fsc_source_free(src);
	return 0;
}
