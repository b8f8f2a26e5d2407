/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds by category and name, and where they differ from HTA's on purpose. */
#include "model/classify.h"

#include "base/attr.h"
#include "tests/support/test.h"

static enum fsc_kind kind(const char *cat, const char *name)
{
	return fsc_classify(fsc_classify_cat(cat, strlen(cat)), name, strlen(name));
}

static void categories_of_all_ages_are_known(void **state)
{
	(void)state;
	assert_int_equal(kind("cpu_op", "aten::mm"), FSC_KIND_OP);
	assert_int_equal(kind("Operator", "aten::mm"), FSC_KIND_OP);
	assert_int_equal(kind("Runtime", "cudaLaunchKernel"), FSC_KIND_RUNTIME);
	assert_int_equal(kind("cuda_driver", "cuLaunchKernelEx"), FSC_KIND_RUNTIME);
	assert_int_equal(kind("cuda_runtime", "hipLaunchKernel"), FSC_KIND_RUNTIME);
	assert_int_equal(kind("python_function", "x.py(1): f"), FSC_KIND_PYTHON);
	assert_int_equal(kind("user_annotation", "ProfilerStep#1"), FSC_KIND_USER);
	assert_int_equal(kind("gpu_user_annotation", "ProfilerStep#1"), FSC_KIND_GPU_ANNOTATION);
	assert_int_equal(kind("overhead", "Activity Buffer Request"), FSC_KIND_OVERHEAD);
	assert_int_equal(kind("Memcpy", "Memcpy HtoD (Pageable -> Device)"), FSC_KIND_MEMCPY);
	assert_int_equal(kind("gpu_memset", "Memset (Device)"), FSC_KIND_MEMSET);
	assert_int_equal(kind("Trace", "PyTorch Profiler (0)"), FSC_KIND_OTHER);
	assert_int_equal(kind("what", "ever"), FSC_KIND_OTHER);
	assert_int_equal(kind("", ""), FSC_KIND_OTHER);
}

static void synchronisation_is_no_gpu_work(void **state)
{
	(void)state;
	assert_int_equal(kind("cuda_sync", "Stream Sync"), FSC_KIND_SYNC);
	assert_int_equal(kind("cuda_runtime", "cudaStreamSynchronize"), FSC_KIND_SYNC);
	assert_int_equal(kind("cuda_runtime", "hipDeviceSynchronize"), FSC_KIND_SYNC);
	assert_int_equal(kind("cuda_driver", "cuStreamSynchronize"), FSC_KIND_SYNC);
	assert_int_equal(kind("cuda_runtime", "cudaStreamIsCapturing"), FSC_KIND_RUNTIME);
	assert_int_equal(kind("mtia_ccp_events", "event_wait"), FSC_KIND_SYNC);
	assert_false(fsc_kind_is_gpu_work(FSC_KIND_SYNC));
	assert_true(fsc_kind_is_gpu_work(FSC_KIND_GPU_OTHER));
}

static void operations_of_xla_are_told_by_their_opcode(void **state)
{
	(void)state;
	assert_int_equal(kind("kernel", "all-reduce.7"), FSC_KIND_COMM);
	assert_int_equal(kind("kernel", "all-gather-start"), FSC_KIND_COMM);
	assert_int_equal(kind("kernel", "send.12"), FSC_KIND_COMM);
	assert_int_equal(kind("kernel", "copy-done.3"), FSC_KIND_MEMCPY);
	assert_int_equal(kind("kernel", "while.4"), FSC_KIND_GPU_OTHER);
	/* not just a beginning */
	assert_int_equal(kind("kernel", "sendKernel"), FSC_KIND_COMPUTE);
	assert_int_equal(kind("kernel", "all-reduce.7x"), FSC_KIND_COMPUTE);
	assert_int_equal(kind("kernel", "send12"), FSC_KIND_COMPUTE);
	assert_int_equal(kind("kernel", "copy.3"), FSC_KIND_COMPUTE);
}

struct expect {
	const char *name;
	enum fsc_kind ours;
	char hta;
};

static void kernels_follow_hta_except_where_it_is_wrong(void **state)
{
	static const struct expect all[] = {
		/* the same answer */
		{ "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", FSC_KIND_COMM, 'C' },
		{ "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
		  FSC_KIND_COMM, 'C' },
		{ "void ncclKernel_x(int)", FSC_KIND_COMM, 'C' },
		{ "hcclAllReduce", FSC_KIND_COMM, 'C' },
		{ "void at::native::vectorized_elementwise_kernel<4>(int)", FSC_KIND_COMPUTE, 'K' },
		{ "_combined_routing_memset", FSC_KIND_COMPUTE, 'K' },
		{ "volta_sgemm_128x64_nn", FSC_KIND_COMPUTE, 'K' },
		{ "void vllm::f<__hip_bfloat16>(int)", FSC_KIND_COMPUTE, 'K' },
		{ "void SyncBatchNormKernel<float>()", FSC_KIND_COMPUTE, 'K' },
		{ "Memcpy DtoD (Device -> Device)", FSC_KIND_MEMCPY, 'M' },
		{ "Memset (Device)", FSC_KIND_MEMSET, 'M' },
		{ "dma_request", FSC_KIND_MEMCPY, 'M' },
		{ "Context Sync", FSC_KIND_GPU_OTHER, 'O' },
		/* better */
		{ "hipMemcpyAsync", FSC_KIND_MEMCPY, 'C' },
		{ "hipMemsetAsync", FSC_KIND_MEMSET, 'C' },
		{ "rcclGenericKernel", FSC_KIND_COMM, 'K' },
		{ "void deep_ep::internode_ll::dispatch<true, 3, 10, 7168>(void*)", FSC_KIND_COMM,
		  'K' },
		{ "void deep_ep::intranode::combine<__nv_bfloat16, 8, 768>(void*)", FSC_KIND_COMM,
		  'K' },
		{ "nvshmemi_proxy_kernel", FSC_KIND_COMM, 'K' },
		{ "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(int)", FSC_KIND_COMM,
		  'K' },
		{ "void sglang::cross_device_reduce_2stage<half, 4>(int)", FSC_KIND_COMM, 'K' },
		{ "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(int)",
		  FSC_KIND_COMM, 'K' },
		{ "void (anonymous namespace)::two_shot_all_reduce_kernel<c10::BFloat16>(int)",
		  FSC_KIND_COMM, 'K' },
		{ "mscclKernel_Sum_half_LL_true", FSC_KIND_COMM, 'K' },
	};

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(all); i++) {
		if (kind("kernel", all[i].name) != all[i].ours)
			fail_msg("%s: kind %d", all[i].name, kind("kernel", all[i].name));
		if (fsc_classify_hta(all[i].name, strlen(all[i].name)) != all[i].hta)
			fail_msg("%s: HTA says %c", all[i].name, all[i].hta);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(categories_of_all_ages_are_known),
		cmocka_unit_test(synchronisation_is_no_gpu_work),
		cmocka_unit_test(operations_of_xla_are_told_by_their_opcode),
		cmocka_unit_test(kernels_follow_hta_except_where_it_is_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
