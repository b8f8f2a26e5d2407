/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting between tries; see the header. */
#include "collector/cli/backoff.h"

#include <time.h>

#include "base/crypto.h"

#define FIRST_PAUSE_MS 500
#define LONGEST_PAUSE_MS 30000
#define LONGEST_ASKED_S 300

void fsc_cli_pause_ms(int64_t ms)
{
	struct timespec ts = { ms / 1000, (ms % 1000) * 1000000 };

	nanosleep(&ts, NULL);
}

int64_t fsc_cli_backoff_ms(uint64_t attempt, long retry_after_s)
{
	int64_t ms = FIRST_PAUSE_MS;
	uint32_t random;

	if (retry_after_s >= 0)
		return (retry_after_s > LONGEST_ASKED_S ? LONGEST_ASKED_S : retry_after_s) * 1000;
	for (uint64_t i = 0; i < attempt && ms < LONGEST_PAUSE_MS; i++)
		ms *= 2;
	if (ms > LONGEST_PAUSE_MS)
		ms = LONGEST_PAUSE_MS;
	fsc_random_bytes(&random, sizeof(random));
	return ms / 2 + random % (ms / 2 + 1);
}
