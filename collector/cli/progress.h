/* SPDX-License-Identifier: Apache-2.0 */
/* One line of progress on a terminal; silent when stderr is none. Owner thread. */
#ifndef FSC_COLLECTOR_CLI_PROGRESS_H
#define FSC_COLLECTOR_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct fsc_cli_progress {
	bool on; /* stderr is a terminal and the user did not ask for quiet */
	bool drawn;
	const char *name; /* borrowed */
	int64_t started_ns, last_ns;
};

void fsc_cli_progress_init(struct fsc_cli_progress *p, const char *name, bool quiet);
/* done of total bytes sent: bar, rate and time left, at most ten times a second. */
void fsc_cli_progress_bytes(struct fsc_cli_progress *p, uint64_t done, uint64_t total);
/* What the server does now. */
void fsc_cli_progress_text(struct fsc_cli_progress *p, const char *text);
void fsc_cli_progress_clear(struct fsc_cli_progress *p);

#endif
