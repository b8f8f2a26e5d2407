/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Category and name of an event to enum fsc_kind. Pure, any thread.
 *
 * The category decides what ran where; only GPU kernels are told apart by name. The base is HTA's order
 * (communication, memory, computation, other; hta/utils at v0.6.1), changed where it is known to be wrong:
 *  - kernels of NCCL and its relatives by any prefix: ncclKernel*, ncclDevKernel* (NCCL >= 2.19, which HTA's
 *    straggler rule does not see), rccl*, hccl*, mscclKernel*, mscclpp;
 *  - DeepEP dispatch / combine and notify kernels and nvshmem kernels move tokens between GPUs, HTA counts
 *    them as computation;
 *  - one-shot and two-shot all-reduce kernels of vLLM, SGLang, TensorRT-LLM and PyTorch symmetric memory
 *    (cross_device_reduce_1stage, one_shot_all_reduce, multimem_all_reduce ...), likewise;
 *  - HLO collectives of XLA (all-reduce.7, all-gather-start.2, send.1 ...) are communication, copy-start and
 *    copy-done are copies; while, conditional and call, which hold other operations, stay unclassified;
 *  - a hip* name is not communication: hipMemcpy* and hipMemset* are copies and sets, the rest of HIP's
 *    names in a GPU row are runtime artefacts and stay "other";
 *  - ROCm writes copies and sets as kernels (CopyDeviceToHost, FillBuffer, __amd_rocclr_copyBuffer ...): they
 *    are copies and sets; barriers and markers of its queues are "other".
 */
#ifndef FSC_MODEL_CLASSIFY_H
#define FSC_MODEL_CLASSIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/trace.h"

/* What a category says before the name is looked at. */
enum fsc_cat_class {
	FSC_CAT_UNKNOWN = 0,
	FSC_CAT_OP,
	FSC_CAT_RUNTIME,
	FSC_CAT_PYTHON,
	FSC_CAT_USER,
	FSC_CAT_KERNEL, /* the name decides */
	FSC_CAT_MEMCPY,
	FSC_CAT_MEMSET,
	FSC_CAT_SYNC,
	FSC_CAT_GPU_ANNOTATION,
	FSC_CAT_DEVICE, /* work of an accelerator that is not called a kernel (mtia_ccp_events): name decides */
	FSC_CAT_COLLECTIVE, /* collective_comm: communication of a device when it names a stream, else "other" */
	FSC_CAT_OVERHEAD,
	FSC_CAT_OTHER, /* Kineto's own that are none of these */
};

/* Kineto's categories of all ages, compared without case. */
enum fsc_cat_class fsc_classify_cat(const char *cat, size_t n);
/* Kind of a slice of that class and name. */
enum fsc_kind fsc_classify(enum fsc_cat_class c, const char *name, size_t n);
/* True for classes whose slices lie on a GPU stream track. */
static inline bool fsc_cat_is_gpu(enum fsc_cat_class c)
{
	return c == FSC_CAT_KERNEL || c == FSC_CAT_MEMCPY || c == FSC_CAT_MEMSET ||
	       c == FSC_CAT_DEVICE || c == FSC_CAT_COLLECTIVE;
}

/* HTA's own answer for the name of a GPU row, for comparisons with its tables: 'C' communication, 'M' memory,
 * 'K' computation, 'O' other. */
char fsc_classify_hta(const char *name, size_t n);

#endif
