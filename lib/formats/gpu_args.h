/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Kineto's names of args say of GPU work, out of canonical args of any format: where it ran, how it was launched,
 * which collective it was. The same names are used by PyTorch's own Perfetto writer and by our exports. Owner thread.
 */
#ifndef FSC_FORMATS_GPU_ARGS_H
#define FSC_FORMATS_GPU_ARGS_H

#include "model/build.h"

struct fsc_gpu_args {
	int32_t device, context, stream; /* FSC_NO_ORDINAL */
	int64_t correlation;		 /* FSC_NO_CORRELATION */
	bool has_launch, has_collective;
	struct fsc_launch launch; /* slice is not set */
	struct fsc_collective collective;
};

/* FSC_OK, FSC_ENOMEM or FSC_ELIMIT. */
fsc_nodiscard enum fsc_status fsc_gpu_args_read(struct fsc_gpu_args *g, struct fsc_build *b,
						const char *json, size_t n);
/* The typed rows of a slice of that kind, those there are: only GPU work was launched. */
fsc_nodiscard enum fsc_status fsc_gpu_args_put(struct fsc_gpu_args *g, struct fsc_build *b,
					       uint32_t slice, uint8_t kind);

#endif
