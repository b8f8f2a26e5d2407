/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks in integer nanoseconds. Any thread. */
#ifndef FSC_BASE_CLOCK_H
#define FSC_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

int64_t fsc_clock_real_ns(void); /* CLOCK_REALTIME, Unix epoch */
int64_t fsc_clock_mono_ns(void); /* CLOCK_MONOTONIC */
int64_t fsc_clock_cpu_ns(void);	 /* CLOCK_PROCESS_CPUTIME_ID */
/* "2026-11-30T21:45:03.123Z" into dst (32 bytes). */
void fsc_clock_iso8601(char dst[32], int64_t real_ns);

#endif
