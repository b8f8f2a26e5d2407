/* SPDX-License-Identifier: Apache-2.0 */
/* Progress line; see the header. */
#include "collector/cli/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"

#define BAR 24

void fsc_cli_progress_init(struct fsc_cli_progress *p, const char *name, bool quiet)
{
	*p = (struct fsc_cli_progress){ .name = name };
	p->on = !quiet && isatty(STDERR_FILENO);
	p->started_ns = fsc_clock_mono_ns();
}

static bool due(struct fsc_cli_progress *p)
{
	int64_t now = fsc_clock_mono_ns();

	if (!p->on || (p->drawn && now - p->last_ns < 100000000))
		return false;
	p->last_ns = now;
	p->drawn = true;
	return true;
}

void fsc_cli_progress_bytes(struct fsc_cli_progress *p, uint64_t done, uint64_t total)
{
	static const char full[] = "########################", none[] = "........................";
	double share, seconds, rate;
	int filled;

	if (!total || !due(p))
		return;
	share = (double)done / (double)total;
	filled = (int)(share * BAR);
	seconds = (double)(p->last_ns - p->started_ns) / 1e9;
	rate = seconds > 0 ? (double)done / seconds : 0;
	fprintf(stderr, "\r\033[K%s  [%.*s%.*s] %3.0f %%  %.1f of %.1f MiB", p->name, filled, full,
		BAR - filled, none, share * 100, (double)done / 1048576.0,
		(double)total / 1048576.0);
	if (rate > 0)
		fprintf(stderr, "  %.1f MiB/s  %.0f s left", rate / 1048576.0,
			(double)(total - done) / rate);
	fflush(stderr);
}

void fsc_cli_progress_text(struct fsc_cli_progress *p, const char *text)
{
	if (!due(p))
		return;
	fprintf(stderr, "\r\033[K%s  %s", p->name, text);
	fflush(stderr);
}

void fsc_cli_progress_clear(struct fsc_cli_progress *p)
{
	if (p->drawn)
		fprintf(stderr, "\r\033[K");
	p->drawn = false;
}
