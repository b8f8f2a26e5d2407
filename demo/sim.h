/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clock-accurate toy of one rank of a training job: a main thread that dispatches, a backward thread, three
 * GPU streams, and the Kineto JSON of what they did. All ranks run the same program in lockstep (program.c),
 * so that collectives can wait for the last one. Times in ns since the capture's base.
 */
#ifndef FSC_DEMO_SIM_H
#define FSC_DEMO_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

enum sim_thread { SIM_MAIN, SIM_AUTOGRAD, SIM_LOADER, SIM_THREADS };
enum sim_stream { SIM_COMPUTE, SIM_NCCL, SIM_COPY, SIM_STREAMS };

struct sim_rank {
	struct fsc_buf json; /* owned: traceEvents written so far */
	uint32_t rank, world, device;
	uint64_t rng;
	double host_scale, gpu_scale; /* > 1 is slower */
	int64_t cpu;		      /* now, on the dispatching thread */
	enum sim_thread thread;
	int64_t stream_free[SIM_STREAMS];
	int64_t allocated, reserved; /* bytes, for memory instants */
	uint32_t correlation, external_id, seq, python_id;
	bool any;
};

struct sim_kernel {
	const char *name;
	int32_t grid[3], block[3];
	int32_t registers, shared_bytes;
	float occupancy;
	int64_t dur_ns; /* on a rank of scale 1 */
};

struct sim_collective {
	const char *kernel, *name; /* "ncclDevKernel_…", "allreduce" */
	int64_t nelems;
	int64_t transfer_ns;
};

void fsc_sim_init(struct sim_rank *r, uint32_t rank, uint32_t world, uint64_t seed);
void fsc_sim_fini(struct sim_rank *r);

/* A number around mean, within +-spread (0.1 = 10 %). */
int64_t fsc_sim_about(struct sim_rank *r, int64_t mean, double spread);
/* The host works for about ns. */
void fsc_sim_work(struct sim_rank *r, int64_t ns);

/* Host slice [start, now] on the current thread; nested ones are written first, as Kineto does. */
void fsc_sim_op(struct sim_rank *r, const char *name, int64_t start);
void fsc_sim_python(struct sim_rank *r, const char *name, int64_t start);
void fsc_sim_user(struct sim_rank *r, const char *name, int64_t start);
/* The thread that fetches batches works beside the others: [start, start + about dur]. */
void fsc_sim_loader(struct sim_rank *r, const char *name, int64_t start, int64_t dur);
/* Annotation projected on the compute stream. */
void fsc_sim_gpu_user(struct sim_rank *r, const char *name, int64_t start, int64_t end);

void fsc_sim_launch(struct sim_rank *r, const struct sim_kernel *k);
void fsc_sim_copy_h2d(struct sim_rank *r, int64_t bytes);
/* Host part of a collective; returns when its GPU part could start on this rank. */
int64_t fsc_sim_collective_enqueue(struct sim_rank *r, const struct sim_collective *c);
/* GPU part: runs from `start` (own readiness) to `end` (the same moment on every rank). */
void fsc_sim_collective_run(struct sim_rank *r, const struct sim_collective *c, int64_t start,
			    int64_t end);
/* The host blocks until the stream is empty, inside the runtime call `call`. */
void fsc_sim_sync(struct sim_rank *r, const char *call, enum sim_stream s);
void fsc_sim_memory(struct sim_rank *r, int64_t delta_bytes);

#endif
