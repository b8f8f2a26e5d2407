/* SPDX-License-Identifier: Apache-2.0 */
/* The Nsight Systems reader. */
#include "formats/nsys.h"
#include "tests/fuzz/fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct fsc_reader r = { .sniff = fsc_nsys_sniff, .read = fsc_nsys_read };

	return fuzz_reader(&r, data, size);
}
