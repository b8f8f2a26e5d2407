/* SPDX-License-Identifier: Apache-2.0 */
/* How long to wait before another try. Any thread. */
#ifndef FSC_COLLECTOR_CLI_BACKOFF_H
#define FSC_COLLECTOR_CLI_BACKOFF_H

#include <stdint.h>

void fsc_cli_pause_ms(int64_t ms);
/* Doubling with each attempt (0 is the first), half of it random, so that a fleet does not come back all at once.
 * retry_after_s: what the server asks for, -1 when it asks for nothing; at most 5 minutes are taken from it. */
int64_t fsc_cli_backoff_ms(uint64_t attempt, long retry_after_s);

#endif
