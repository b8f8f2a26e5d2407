/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flows of a slice, from either side. The segment orders flows by where they start; the ends are ordered here
 * once, 8 bytes a flow. Read-only after init, so any thread.
 */
#ifndef FSC_EXPORT_FLOW_ENDS_H
#define FSC_EXPORT_FLOW_ENDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/vec.h"
#include "segment/seg_read.h"

struct fsc_flow_end {
	uint32_t slice, flow; /* flow: index into fsc_seg_flows() */
};

struct fsc_flow_ends {
	const struct fsc_flow *flows; /* borrowed from the segment */
	uint32_t n;
	FSC_VEC(struct fsc_flow_end) ins; /* by slice */
};

/* seg is borrowed. Expected: FSC_ENOMEM. Start zeroed; fini always. */
fsc_nodiscard enum fsc_status fsc_flow_ends_init(struct fsc_flow_ends *e, const struct fsc_seg *seg,
						 struct fsc_err *err);
void fsc_flow_ends_fini(struct fsc_flow_ends *e);

/* First flow that starts at slice or behind it: go on while flows[i].from == slice. */
uint32_t fsc_flow_ends_first_out(const struct fsc_flow_ends *e, uint32_t slice);
/* First end at slice or behind it: go on while ins.v[i].slice == slice. */
size_t fsc_flow_ends_first_in(const struct fsc_flow_ends *e, uint32_t slice);

#endif
