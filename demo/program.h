/* SPDX-License-Identifier: Apache-2.0 */
/* The training program that the simulated ranks run: a GPT-like model, one step after another. */
#ifndef FSC_DEMO_PROGRAM_H
#define FSC_DEMO_PROGRAM_H

#include "demo/sim.h"

/* Runs one step (named ProfilerStep#number) on all ranks in lockstep. */
void fsc_program_step(struct sim_rank *ranks, uint32_t n, uint32_t layers, uint32_t number);
/* Steps whose data loading stalls, so that a reader finds an outlier. */
bool fsc_program_is_slow_step(uint32_t number);

#endif
