/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The synthetic capture that `--demo` shows: one training job of eight ranks on two hosts, ten steps each,
 * with realistic kernel names, one slow rank and two slow steps. Everything is computed, nothing is copied
 * from a real trace, and every file says `"synthetic": true`. The same seed gives the same bytes.
 */
#ifndef FSC_DEMO_DEMO_H
#define FSC_DEMO_DEMO_H

#include <stdint.h>

#include "base/err.h"

struct fsc_demo_opts {
	uint32_t ranks;	 /* 1..64 */
	uint32_t steps;	 /* 1..1000 */
	uint32_t layers; /* transformer blocks, 1..200 */
	uint64_t seed;
};
#define FSC_DEMO_OPTS_INIT                                       \
	{                                                        \
		.ranks = 8, .steps = 10, .layers = 12, .seed = 7 \
	}

/* Rank that is late in every collective, and steps that are slow (names ProfilerStep#N), for tests. */
#define FSC_DEMO_SLOW_RANK 5
#define FSC_DEMO_FIRST_STEP 1216

/* Writes the bundle (tar.zst: manifest.json and one Kineto JSON per rank) to fd. opts NULL = the defaults.
 * Expected: FSC_EINVAL (opts out of range), FSC_EIO, FSC_EFULL. Any thread. */
fsc_nodiscard enum fsc_status fsc_demo_bundle(int fd, const struct fsc_demo_opts *opts,
					      struct fsc_err *err);

#endif
