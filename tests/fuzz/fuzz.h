/* SPDX-License-Identifier: Apache-2.0 */
/* What every fuzz target defines. */
#ifndef FSC_TESTS_FUZZ_FUZZ_H
#define FSC_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
