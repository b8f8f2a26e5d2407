/* SPDX-License-Identifier: Apache-2.0 */
/* The Perfetto reader. */
#include "formats/perfetto.h"
#include "tests/fuzz/fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct fsc_reader r = { .sniff = fsc_perfetto_sniff,
					     .read = fsc_perfetto_read };

	return fuzz_reader(&r, data, size);
}
