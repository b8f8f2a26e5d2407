/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fixed JSON shape of an analysis, written in one place for the server and for fleetscope-indexer.
 * Writers put members into an object that the caller has opened; the buffer's limit bounds them.
 */
#ifndef FSC_ANALYSIS_ANALYSIS_JSON_H
#define FSC_ANALYSIS_ANALYSIS_JSON_H

#include "analysis/analysis.h"
#include "base/json_out.h"

/* "compute", "comm", "memcpy", "memset", "unclassified" for GPU work; "op", "runtime", "python", "user",
 * "sync", "annotation", "overhead", "instant", "other" for the rest. Never NULL. */
const char *fsc_analysis_kind_name(uint8_t kind);

/* Members "unit", "scope", "steps_total", "devices", "idle", "kernels", "steps", "losses". */
void fsc_analysis_json(struct fsc_json *j, const struct fsc_analysis *a, const struct fsc_seg *s);

/* One element of "kernels": {"name","kind","count","sum_ns","min_ns","max_ns","mean_ns","first":{…}}. */
void fsc_analysis_json_kernel(struct fsc_json *j, const struct fsc_kernel_row *k, const char *name);
/* One element of "devices" and of "steps". */
void fsc_analysis_json_device(struct fsc_json *j, const struct fsc_device_row *d);
void fsc_analysis_json_step(struct fsc_json *j, const struct fsc_step_row *r, const char *name);

#endif
