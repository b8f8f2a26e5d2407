/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes finished traces straight into struct fsc_trace, without a reader: nested rows, slices longer than
 * 4.29 s, zero-length ones, instants, partly overlapping ones, counters, flows, launches, args.
 * The same options give the same trace. Aborts when memory is gone. For tests and benchmarks.
 */
#ifndef FSC_TESTS_UNIT_SEGMENT_HELP_GEN_TRACE_H
#define FSC_TESTS_UNIT_SEGMENT_HELP_GEN_TRACE_H

#include "model/trace.h"

enum gen_shape {
	GEN_EVEN,  /* slices and gaps of one scale */
	GEN_BURST, /* dense bursts with long gaps between them */
	GEN_WILD,  /* lengths from 0 ns to 20 s side by side */
};

struct gen_opts {
	uint64_t seed;
	enum gen_shape shape;
	uint32_t n_threads, n_streams;
	uint32_t n_outer;   /* slices of depth 0 of each track */
	uint32_t max_depth; /* of threads */
	uint32_t n_names;
	bool side_tables;      /* flows, counters, launches, collectives, args */
	bool big_correlations; /* some do not fit 32 bits, some are negative */
};

struct fsc_trace *gen_trace(const struct gen_opts *o);

uint64_t gen_rand(uint64_t *state);
/* 0 .. n-1 */
uint64_t gen_below(uint64_t *state, uint64_t n);

#endif
