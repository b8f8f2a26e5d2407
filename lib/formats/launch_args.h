/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The args of GPU work under Kineto's names, for formats that call them otherwise: what is exported of the trace then
 * reads back as the same work. Owner thread.
 */
#ifndef FSC_FORMATS_LAUNCH_ARGS_H
#define FSC_FORMATS_LAUNCH_ARGS_H

#include "base/json_out.h"
#include "model/trace.h"

/* Into the open object. Ordinals, a correlation and fields of l that are not known are left out; l may be NULL. */
void fsc_launch_args_put(struct fsc_json *j, int32_t device, int32_t context, int32_t stream,
			 int64_t correlation, const struct fsc_launch *l);
/* A row in which nothing is known. */
void fsc_launch_clear(struct fsc_launch *l);

#endif
