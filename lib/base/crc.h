/* SPDX-License-Identifier: Apache-2.0 */
/* CRC-32C (Castagnoli, RFC 3720 appendix B.4), SSE4.2 when the CPU has it; and the CRC-32 of zip. Any thread. */
#ifndef FSC_BASE_CRC_H
#define FSC_BASE_CRC_H

#include <stddef.h>
#include <stdint.h>

uint32_t fsc_crc32c(uint32_t seed, const void *p, size_t n); /* seed 0 to start; chainable */
/* The same without special instructions, whatever the CPU has: for tests of the fallback. */
uint32_t fsc_crc32c_table(uint32_t seed, const void *p, size_t n);

/* CRC-32 of gzip and zip (reflected 0xEDB88320), over p, continuing from crc (0 to start). */
uint32_t fsc_crc32(uint32_t crc, const void *p, size_t n);

#endif
