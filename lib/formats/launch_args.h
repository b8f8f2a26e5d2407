/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The args of GPU work under Kineto's names, for formats that call them otherwise: what is exported of the trace then
 * reads back as the same work. And the texts in which XLA gives such args. Owner thread.
 */
#ifndef FSC_FORMATS_LAUNCH_ARGS_H
#define FSC_FORMATS_LAUNCH_ARGS_H

#include "base/bytes.h"
#include "base/json_out.h"
#include "model/trace.h"

/* Into the open object. Ordinals, a correlation and fields of l that are not known are left out; l may be NULL. */
void fsc_launch_args_put(struct fsc_json *j, int32_t device, int32_t context, int32_t stream,
			 int64_t correlation, const struct fsc_launch *l);
/* XLA's texts: "regs:32 static_shared:0 dynamic_shared:0 grid:8,1,1 block:128,1,1 occ_pct:50" of a kernel, and
 * "... size:4096 ..." of a copy or set; either may be empty. */
void fsc_launch_details(struct fsc_launch *l, struct fsc_cur kernel, struct fsc_cur bytes);
/* The n numbers behind key in such a text; what is not there stays. */
void fsc_launch_detail(double *out, int n, struct fsc_cur text, const char *key);
/* A row in which nothing is known. */
void fsc_launch_clear(struct fsc_launch *l);

#endif
