/* SPDX-License-Identifier: Apache-2.0 */
/* The XPlane reader. */
#include "formats/xplane.h"
#include "tests/fuzz/fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct fsc_reader r = { .sniff = fsc_xplane_sniff, .read = fsc_xplane_read };

	return fuzz_reader(&r, data, size);
}
