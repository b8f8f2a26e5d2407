/* SPDX-License-Identifier: Apache-2.0 */
/* Args records (canonical JSON objects) as Perfetto debug annotations and compute launch arguments. */
#ifndef FSC_EXPORT_PERFETTO_ARGS_H
#define FSC_EXPORT_PERFETTO_ARGS_H

#include "export/perfetto_seq.h"

/* DebugAnnotation messages into the packet's body as field `field`. */
void fsc_pf_annotations(struct pf_seq *q, uint32_t field, const char *json, size_t n);
/* GpuRenderStageEvent.ComputeArg messages as field `field` of the launch message in the body.
 * typed_size: grid and block stand there as typed fields already. */
void fsc_pf_launch_args(struct pf_seq *q, uint32_t field, const char *json, size_t n,
			bool typed_size);

#endif
