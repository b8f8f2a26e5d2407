/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrows from the host call that launched GPU work to that work, for formats that tell them by a correlation
 * number alone: both sides are noted while the file is read and matched once at its end, in whatever order they
 * came. One call may launch much work (a CUDA graph). Calls that launched nothing make no arrow and are no loss.
 * The scope keeps processes apart that use the same numbers. Owner thread.
 */
#ifndef FSC_FORMATS_LAUNCH_PAIRS_H
#define FSC_FORMATS_LAUNCH_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/build.h"

struct fsc_launch_side {
	uint64_t scope;
	int64_t correlation, ts;
	uint32_t slice; /* of the builder */
};

struct fsc_launch_pairs { /* start zeroed */
	FSC_VEC(struct fsc_launch_side) calls, works;
};

void fsc_launch_pairs_fini(struct fsc_launch_pairs *p);
/* FSC_OK or FSC_ENOMEM. */
fsc_nodiscard enum fsc_status fsc_launch_pairs_call(struct fsc_launch_pairs *p,
						    struct fsc_launch_side s);
fsc_nodiscard enum fsc_status fsc_launch_pairs_work(struct fsc_launch_pairs *p,
						    struct fsc_launch_side s);
/* Gives the arrows to the builder; *unmatched is how much work has no call. The first call of a number counts. */
fsc_nodiscard enum fsc_status fsc_launch_pairs_bind(struct fsc_launch_pairs *p, struct fsc_build *b,
						    uint64_t *unmatched);

#endif
