/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Can the wall clock be trusted to delete by? Remembers the latest wall time that was believed, in the store and
 * so across restarts, and compares with the time that really passed. A clock that is more than a day ahead of
 * that is not believed until a person confirms it (which is also the case after the server was down for more
 * than a day); one that went back is not believed until it has passed that time again. Owner thread.
 */
#ifndef FSC_SERVICE_CLOCK_GUARD_H
#define FSC_SERVICE_CLOCK_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

struct fsc_store;

#define FSC_CLOCK_AHEAD_NS INT64_C(86400000000000)

enum fsc_clock_trust {
	FSC_CLOCK_GOOD,
	FSC_CLOCK_AHEAD,  /* too far ahead: a person must confirm */
	FSC_CLOCK_BEHIND, /* went back: wait */
};

struct fsc_clock_guard {
	struct fsc_store *store;       /* borrowed; its clock is the one that is judged */
	int64_t (*mono_ns)(void *ctx); /* NULL: the system's monotonic clock */
	void *ctx;
	/* set by the functions below */
	bool loaded;
	int64_t mark_ns;      /* latest wall time that was believed */
	int64_t mark_mono_ns; /* monotonic time then; -1: it was another process */
	int64_t saved_ns;     /* what the store has of mark_ns */
	enum fsc_clock_trust trust;
	int64_t since_ns; /* wall time when trust was lost, 0 while it is good */
};

/* Looks at the clocks and sets g->trust. Errors of the store, but for a full disk once it was looked at. */
fsc_nodiscard enum fsc_status fsc_clock_guard_look(struct fsc_clock_guard *g, struct fsc_err *err);
/* A person says that the wall clock is right as it is. */
fsc_nodiscard enum fsc_status fsc_clock_guard_confirm(struct fsc_clock_guard *g,
						      struct fsc_err *err);

#endif
