/* SPDX-License-Identifier: Apache-2.0 */
/* Category and name to kind; the rules and their reasons are in classify.h. */
#include "model/classify.h"

#include <string.h>
#include <strings.h>

#include "base/attr.h"

struct cat_rule {
	const char *name;
	enum fsc_cat_class c;
};

static const struct cat_rule cat_rules[] = {
	{ "cpu_op", FSC_CAT_OP },
	{ "kernel", FSC_CAT_KERNEL },
	{ "cuda_runtime", FSC_CAT_RUNTIME },
	{ "python_function", FSC_CAT_PYTHON },
	{ "user_annotation", FSC_CAT_USER },
	{ "gpu_memcpy", FSC_CAT_MEMCPY },
	{ "gpu_memset", FSC_CAT_MEMSET },
	{ "cuda_driver", FSC_CAT_RUNTIME },
	{ "gpu_user_annotation", FSC_CAT_GPU_ANNOTATION },
	{ "cuda_sync", FSC_CAT_SYNC },
	{ "overhead", FSC_CAT_OVERHEAD },
	/* before 2022 */
	{ "operator", FSC_CAT_OP },
	{ "runtime", FSC_CAT_RUNTIME },
	{ "memcpy", FSC_CAT_MEMCPY },
	{ "memset", FSC_CAT_MEMSET },
	/* other makers and newer activities */
	{ "hip_runtime", FSC_CAT_RUNTIME },
	{ "hip_driver", FSC_CAT_RUNTIME },
	{ "xpu_runtime", FSC_CAT_RUNTIME },
	{ "xpu_driver", FSC_CAT_RUNTIME },
	{ "mtia_runtime", FSC_CAT_RUNTIME },
	{ "glow_runtime", FSC_CAT_RUNTIME },
	{ "privateuse1_runtime", FSC_CAT_RUNTIME },
	{ "privateuse1_driver", FSC_CAT_RUNTIME },
	{ "mtia_ccp_events", FSC_CAT_DEVICE },
	{ "concurrent_kernel", FSC_CAT_KERNEL },
	{ "hpu_op", FSC_CAT_KERNEL },
	{ "mtia_workloadd", FSC_CAT_OTHER },
	{ "mtia_insight", FSC_CAT_OTHER },
	{ "cuda_event", FSC_CAT_SYNC },
	{ "xpu_sync", FSC_CAT_SYNC },
	{ "cuda_profiler_range", FSC_CAT_OTHER },
	{ "cpu_instant_event", FSC_CAT_OTHER },
	{ "collective_comm", FSC_CAT_COLLECTIVE },
	{ "hardware_counters", FSC_CAT_OTHER },
	{ "gpu_pm_counter", FSC_CAT_OTHER },
	{ "mtia_counters", FSC_CAT_OTHER },
	{ "xpu_scope_profiler", FSC_CAT_OTHER },
	{ "external_correlation", FSC_CAT_OTHER },
	{ "trace", FSC_CAT_OTHER },
};

enum fsc_cat_class fsc_classify_cat(const char *cat, size_t n)
{
	for (size_t i = 0; i < FSC_ARRAY_LEN(cat_rules); i++)
		if (strlen(cat_rules[i].name) == n && !strncasecmp(cat, cat_rules[i].name, n))
			return cat_rules[i].c;
	return FSC_CAT_UNKNOWN;
}

static bool starts(const char *s, size_t n, const char *prefix)
{
	size_t k = strlen(prefix);
	return n >= k && memcmp(s, prefix, k) == 0;
}

static bool holds(const char *s, size_t n, const char *part)
{
	return memmem(s, n, part, strlen(part)) != NULL;
}

static bool any_start(const char *s, size_t n, const char *const *list)
{
	for (; *list; list++)
		if (starts(s, n, *list))
			return true;
	return false;
}

static bool any_part(const char *s, size_t n, const char *const *list)
{
	for (; *list; list++)
		if (holds(s, n, *list))
			return true;
	return false;
}

/* Names that start so are communication. */
static const char *const comm_starts[] = { "nccl",   "rccl",	    "hccl",    "mccl",
					   "oneccl", "mscclKernel", "mscclpp", NULL };
/* Names that hold this anywhere (templates, namespaces, mangled) are communication. */
static const char *const comm_parts[] = {
	"ncclKernel",
	"ncclDevKernel",
	"mscclKernel",
	"mscclpp::",
	"nvshmem",
	"rocshmem",
	/* DeepEP: namespaces internode, intranode, internode_ll */
	"deep_ep::",
	"internode::",
	"intranode::",
	"internode_ll::",
	/* vLLM / SGLang custom all-reduce */
	"cross_device_reduce_1stage",
	"cross_device_reduce_2stage",
	"quickreduce::",
	"one_shot_all_reduce",
	"two_shot_all_reduce",
	"multimem_all_reduce",
	"multimem_one_shot",
	"multimem_all_gather",
	/* TensorRT-LLM, FlashInfer */
	"oneShotAllReduceKernel",
	"twoShotAllReduceKernel",
	"allreduce_fusion_kernel",
	"moe_all_to_all",
	"moeAllToAll",
	NULL,
};
/* HLO opcodes, with the halves of asynchronous ones. */
static const char *const hlo_comm[] = {
	"all-reduce",
	"all-reduce-start",
	"all-reduce-done",
	"all-gather",
	"all-gather-start",
	"all-gather-done",
	"all-to-all",
	"ragged-all-to-all",
	"reduce-scatter",
	"collective-permute",
	"collective-permute-start",
	"collective-permute-done",
	"collective-broadcast",
	"send",
	"send-done",
	"recv",
	"recv-done",
	NULL,
};
/* Hold the operations of their bodies, which are rows below them. */
static const char *const hlo_holds[] = { "while", "conditional", "call", NULL };
static const char *const hlo_copy[] = { "copy-start", "copy-done", NULL };
static const char *const memory_starts[] = {
	"Memcpy", "Memset", "hipMemcpy", "hipMemset", "dma",
	/* ROCm: what the tracer calls copies, and the kernels by which its runtime makes them */
	"CopyHostTo", "CopyDeviceTo", "FillBuffer", "MEMORY_COPY_", "__amd_rocclr_copy",
	"__amd_rocclr_fill", NULL
};
static const char *const set_starts[] = { "Memset", "hipMemset", "FillBuffer", "__amd_rocclr_fill",
					  NULL };
static const char *const not_compute[] = {
	"hip",	      "cuda",	     "Context Sync",	  "Stream Sync",
	"Event Sync", "Device Sync", "Stream Wait Event", "cuLaunch",
	NULL
};

static bool is_one_of(const char *s, size_t n, const char *const *list)
{
	for (; *list; list++)
		if (strlen(*list) == n && !memcmp(*list, s, n))
			return true;
	return false;
}

/* Synchronisation calls of the host that block until the GPU is done: CUDA, HIP, Level Zero, Unified Runtime and
 * its predecessor, ACL, MUSA, MTIA. */
static bool is_blocking_sync(const char *s, size_t n)
{
	static const char *const api[] = { "cu", "hip", "ze", "acl", "musa", NULL };
	static const char *const waits[] = { "urEventWait",
					     "urQueueFinish",
					     "piEventsWait",
					     "piQueueFinish",
					     "synchronizeStream",
					     "synchronize",
					     NULL };
	return is_one_of(s, n, waits) || (any_start(s, n, api) && holds(s, n, "Synchronize"));
}

/* XLA names an operation by its HLO opcode and a number: "all-reduce-start.7". No kernel has such a name. */
static bool is_hlo(const char *s, size_t n, const char *const *opcodes)
{
	size_t k = n;

	while (k > 0 && s[k - 1] >= '0' && s[k - 1] <= '9')
		k--;
	if (k > 0 && k < n && s[k - 1] == '.')
		n = k - 1;
	for (; *opcodes; opcodes++)
		if (strlen(*opcodes) == n && memcmp(*opcodes, s, n) == 0)
			return true;
	return false;
}

/* Packets of a ROCm queue that are no work. */
static const char *const queue_marks[] = { "Marker", "Barrier", "Barrier-And", "Barrier-Or", NULL };

static enum fsc_kind kernel_kind(const char *s, size_t n)
{
	if (is_hlo(s, n, hlo_comm))
		return FSC_KIND_COMM;
	if (is_hlo(s, n, hlo_copy))
		return FSC_KIND_MEMCPY;
	if (is_hlo(s, n, hlo_holds))
		return FSC_KIND_GPU_OTHER;
	if (any_start(s, n, comm_starts) || any_part(s, n, comm_parts))
		return FSC_KIND_COMM;
	if (any_start(s, n, memory_starts))
		return any_start(s, n, set_starts) ? FSC_KIND_MEMSET : FSC_KIND_MEMCPY;
	if (n == 0 || any_start(s, n, not_compute) || is_one_of(s, n, queue_marks))
		return FSC_KIND_GPU_OTHER;
	return FSC_KIND_COMPUTE;
}

/* Queue entries of an accelerator: copies by their name, waits and marks are no work of its engines. */
static enum fsc_kind device_kind(const char *s, size_t n)
{
	if (starts(s, n, "dma"))
		return FSC_KIND_MEMCPY;
	if (starts(s, n, "event_"))
		return FSC_KIND_SYNC;
	return kernel_kind(s, n);
}

enum fsc_kind fsc_classify(enum fsc_cat_class c, const char *name, size_t n)
{
	switch (c) {
	case FSC_CAT_OP:
		return FSC_KIND_OP;
	case FSC_CAT_RUNTIME:
		return is_blocking_sync(name, n) ? FSC_KIND_SYNC : FSC_KIND_RUNTIME;
	case FSC_CAT_PYTHON:
		return FSC_KIND_PYTHON;
	case FSC_CAT_USER:
		return FSC_KIND_USER;
	case FSC_CAT_KERNEL:
		return kernel_kind(name, n);
	case FSC_CAT_MEMCPY:
		return FSC_KIND_MEMCPY;
	case FSC_CAT_MEMSET:
		return FSC_KIND_MEMSET;
	case FSC_CAT_SYNC:
		return FSC_KIND_SYNC;
	case FSC_CAT_GPU_ANNOTATION:
		return FSC_KIND_GPU_ANNOTATION;
	case FSC_CAT_DEVICE:
		return device_kind(name, n);
	case FSC_CAT_COLLECTIVE:
		return FSC_KIND_COMM;
	case FSC_CAT_OVERHEAD:
		return FSC_KIND_OVERHEAD;
	case FSC_CAT_UNKNOWN:
	case FSC_CAT_OTHER:
		break;
	}
	return FSC_KIND_OTHER;
}

char fsc_classify_hta(const char *s, size_t n)
{
	static const char *const comm[] = { "nccl", "hip", "hccl", NULL };
	static const char *const memory[] = { "Memcpy", "Memset", "dma", NULL };
	static const char *const deny[] = { "Context Sync",	 "Stream Sync",
					    "Event Sync",	 "Device Sync",
					    "Stream Wait Event", "cudaLaunch",
					    "cuLaunch",		 NULL };
	if (any_start(s, n, comm) || holds(s, n, "ncclKernel"))
		return 'C';
	if (any_start(s, n, memory))
		return 'M';
	return any_start(s, n, deny) ? 'O' : 'K';
}
