/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One training step: data, forward, loss, backward with bucketed all-reduce, optimizer, and an .item() that
 * blocks the host. Sizes are those of a 1.3 B parameter model in bf16 with a micro-batch of 8 on A100.
 */
#include "demo/program.h"

#include "base/attr.h"
#include "base/limits.h"

#define GEMM "ampere_bf16_s16816gemm_bf16_"
#define EW "void at::native::vectorized_elementwise_kernel<4, "

enum { K_NORM, K_QKV, K_FLASH, K_PROJ, K_MLP_UP, K_GELU, K_MLP_DOWN, K_ADD, K_FORWARD_COUNT };

static const struct sim_kernel forward_kernels[K_FORWARD_COUNT] = {
	[K_NORM] = { "void at::native::(anonymous "
		     "namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>(int, float, "
		     "c10::BFloat16 const*, c10::BFloat16 const*, c10::BFloat16 const*, float*, "
		     "float*, c10::BFloat16*)",
		     { 8192, 1, 1 },
		     { 32, 4, 1 },
		     38,
		     24,
		     92.0f,
		     41000 },
	[K_QKV] = { GEMM "256x128_ldg8_f2f_stages_32x3_tn",
		    { 16, 64, 1 },
		    { 256, 1, 1 },
		    232,
		    147456,
		    13.0f,
		    402000 },
	[K_FLASH] = { "void "
		      "pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<128, "
		      "64, 64, 4, false, false, cutlass::bfloat16_t>, false, true, false, false, "
		      "true, true, false, false>(pytorch_flash::Flash_fwd_params)",
		      { 16, 8, 16 },
		      { 128, 1, 1 },
		      255,
		      81920,
		      19.0f,
		      338000 },
	[K_PROJ] = { GEMM "128x128_ldg8_f2f_stages_64x3_tn",
		     { 16, 64, 1 },
		     { 256, 1, 1 },
		     214,
		     98304,
		     13.0f,
		     148000 },
	[K_MLP_UP] = { GEMM "256x128_ldg8_f2f_stages_32x3_tn",
		       { 32, 64, 1 },
		       { 256, 1, 1 },
		       232,
		       147456,
		       13.0f,
		       520000 },
	[K_GELU] = { EW "at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, "
			"at::native::GeluType)::{lambda()#1}, at::detail::Array<char*, 2> >(int, "
			"at::native::GeluCUDAKernelImpl, at::detail::Array<char*, 2>)",
		     { 65536, 1, 1 },
		     { 128, 1, 1 },
		     30,
		     0,
		     100.0f,
		     92000 },
	[K_MLP_DOWN] = { GEMM "128x256_ldg8_f2f_stages_64x3_tn",
			 { 16, 64, 1 },
			 { 256, 1, 1 },
			 240,
			 147456,
			 13.0f,
			 511000 },
	[K_ADD] = { EW "at::native::CUDAFunctor_add<c10::BFloat16>, at::detail::Array<char*, 3> "
		       ">(int, at::native::CUDAFunctor_add<c10::BFloat16>, "
		       "at::detail::Array<char*, 3>)",
		    { 16384, 1, 1 },
		    { 128, 1, 1 },
		    32,
		    0,
		    100.0f,
		    36000 },
};

static const struct sim_kernel flash_backward = {
	"void "
	"pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<pytorch_flash::Flash_bwd_"
	"kernel_traits<128, 64, 128, 8, 4, 2, 2, false, false, cutlass::bfloat16_t>, false, true, "
	"false, false, true, true, false>(pytorch_flash::Flash_bwd_params)",
	{ 16, 8, 16 },
	{ 256, 1, 1 },
	255,
	147456,
	13.0f,
	752000
};
static const struct sim_kernel gemm_backward = { GEMM "128x128_ldg8_f2f_stages_32x5_nn",
						 { 16, 64, 1 },
						 { 128, 1, 1 },
						 202,
						 81920,
						 19.0f,
						 407000 };
static const struct sim_kernel gemm_weights = { GEMM "128x64_ldg8_relu_f2f_stages_32x5_nt",
						{ 32, 32, 1 },
						{ 128, 1, 1 },
						168,
						61440,
						25.0f,
						392000 };
static const struct sim_kernel norm_backward = {
	"void at::native::(anonymous "
	"namespace)::layer_norm_grad_input_kernel_vectorized<c10::BFloat16, float>(c10::BFloat16 "
	"const*, c10::BFloat16 const*, float const*, float const*, c10::BFloat16 const*, "
	"c10::BFloat16*, int)",
	{ 8192, 1, 1 },
	{ 128, 1, 1 },
	40,
	2048,
	92.0f,
	64000
};
static const struct sim_kernel gelu_backward = {
	EW "at::native::GeluBackwardCUDAKernelImpl(at::TensorIteratorBase&, "
	   "at::native::GeluType)::{lambda()#1}, at::detail::Array<char*, 3> >(int, "
	   "at::native::GeluBackwardCUDAKernelImpl, at::detail::Array<char*, 3>)",
	{ 65536, 1, 1 },
	{ 128, 1, 1 },
	34,
	0,
	100.0f,
	131000
};
static const struct sim_kernel embedding = {
	"void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, long, "
	"unsigned int, 2, 2, -2, true>(at::cuda::detail::TensorInfo<c10::BFloat16, unsigned int>, "
	"at::cuda::detail::TensorInfo<c10::BFloat16 const, unsigned int>, long)",
	{ 864, 1, 1 },
	{ 128, 1, 1 },
	32,
	0,
	75.0f,
	58000
};
static const struct sim_kernel cross_entropy = {
	"void (anonymous namespace)::cunn_SoftMaxForward<4, c10::BFloat16, float, float, "
	"at::native::(anonymous namespace)::LogSoftMaxForwardEpilogue>(float*, c10::BFloat16 "
	"const*, int)",
	{ 8192, 1, 1 },
	{ 1024, 1, 1 },
	32,
	4096,
	89.0f,
	612000
};
static const struct sim_kernel adam = {
	"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
	"namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous "
	"namespace)::FusedAdamMathFunctor<float, 4, (at::native::ADAM_MODE)1, false>, float "
	"const*, double, double, double, double, double, bool, float const*, float const*, "
	"(at::native::ADAM_MODE)1>",
	{ 320, 1, 1 },
	{ 512, 1, 1 },
	62,
	0,
	44.0f,
	187000
};
static const struct sim_kernel norm_of_gradients = {
	"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
	"namespace)::TensorListMetadata<1>, at::native::(anonymous "
	"namespace)::LpNormFunctor<c10::BFloat16, (at::native::NormType)1, float, 1, 1, 0>, "
	"float*, int>",
	{ 320, 1, 1 },
	{ 512, 1, 1 },
	34,
	2048,
	88.0f,
	71000
};
static const struct sim_kernel small_fill = {
	EW "at::native::FillFunctor<float>, at::detail::Array<char*, 1> >(int, "
	   "at::native::FillFunctor<float>, at::detail::Array<char*, 1>)",
	{ 1, 1, 1 },
	{ 128, 1, 1 },
	16,
	0,
	0.0f,
	1900
};

static const struct sim_collective bucket = {
	"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*, unsigned long, ncclWork*)",
	"allreduce", 52428800, 2100000
};

struct op {
	const char *outer, *inner;
	int kernel;
};
static const struct op block_ops[] = {
	{ "aten::layer_norm", "aten::native_layer_norm", K_NORM },
	{ "aten::linear", "aten::addmm", K_QKV },
	{ "aten::scaled_dot_product_attention", "aten::_flash_attention_forward", K_FLASH },
	{ "aten::linear", "aten::addmm", K_PROJ },
	{ "aten::add", "aten::add_", K_ADD },
	{ "aten::layer_norm", "aten::native_layer_norm", K_NORM },
	{ "aten::linear", "aten::addmm", K_MLP_UP },
	{ "aten::gelu", "aten::gelu", K_GELU },
	{ "aten::linear", "aten::addmm", K_MLP_DOWN },
	{ "aten::add", "aten::add_", K_ADD },
};

bool fsc_program_is_slow_step(uint32_t number)
{
	return number % 10 == 9;
}

static void op_with_kernel(struct sim_rank *r, const char *outer, const char *inner,
			   const struct sim_kernel *k)
{
	int64_t a = r->cpu, b;

	fsc_sim_work(r, 3200);
	b = r->cpu;
	fsc_sim_work(r, 5200);
	fsc_sim_launch(r, k);
	fsc_sim_work(r, 1500);
	fsc_sim_op(r, inner, b);
	fsc_sim_work(r, 1100);
	fsc_sim_op(r, outer, a);
}

static void load_batch(struct sim_rank *r, uint32_t number)
{
	int64_t a = r->cpu, b, stall = fsc_program_is_slow_step(number) ? 38000000 : 1400000;

	fsc_sim_work(r, 60000);
	b = r->cpu;
	fsc_sim_work(r, stall);
	fsc_sim_python(r, "threading.py(323): wait", b);
	fsc_sim_user(r, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", a);
	fsc_sim_loader(r, "torch/utils/data/_utils/pin_memory.py(38): do_one_step", r->cpu,
		       5200000);
	a = r->cpu;
	fsc_sim_work(r, 2000);
	b = r->cpu;
	fsc_sim_work(r, 14000);
	fsc_sim_copy_h2d(r, 8 * 1024 * 1024);
	fsc_sim_op(r, "aten::copy_", b);
	fsc_sim_work(r, 1500);
	fsc_sim_op(r, "aten::to", a);
}

static void one_block_forward(struct sim_rank *r, uint32_t layer)
{
	int64_t a = r->cpu;
	char name[64];
	struct fsc_buf b = FSC_BUF_INIT(sizeof(name));

	fsc_sim_work(r, 22000);
	for (size_t i = 0; i < FSC_ARRAY_LEN(block_ops); i++)
		op_with_kernel(r, block_ops[i].outer, block_ops[i].inner,
			       &forward_kernels[block_ops[i].kernel]);
	fsc_sim_memory(r, (int64_t)(212 * FSC_MIB));
	fsc_buf_addf(&b, "nn.Module: GPTBlock_%u", layer);
	fsc_sim_python(r, b.data, a);
	fsc_buf_fini(&b);
}

static void forward(struct sim_rank *r, uint32_t layers)
{
	int64_t a = r->cpu, gpu = r->stream_free[SIM_COMPUTE];

	op_with_kernel(r, "aten::embedding", "aten::index_select", &embedding);
	for (uint32_t i = 0; i < layers; i++)
		one_block_forward(r, i);
	op_with_kernel(r, "aten::linear", "aten::addmm", &forward_kernels[K_MLP_UP]);
	op_with_kernel(r, "aten::cross_entropy_loss", "aten::log_softmax", &cross_entropy);
	fsc_sim_user(r, "## forward ##", a);
	fsc_sim_gpu_user(r, "## forward ##", gpu + 1000, r->stream_free[SIM_COMPUTE]);
}

static void one_block_backward(struct sim_rank *r, uint32_t layer)
{
	static const char *const functions[] = { "AddmmBackward0", "GeluBackward0",
						 "NativeLayerNormBackward0",
						 "ScaledDotProductFlashAttentionBackward0" };
	const struct sim_kernel *first[] = { &gemm_backward, &gelu_backward, &norm_backward,
					     &flash_backward };
	char name[96];
	struct fsc_buf b = FSC_BUF_INIT(sizeof(name));

	for (uint32_t i = 0; i < 6; i++) {
		uint32_t f = i == 1 ? 1 : i == 3 ? 2 : i == 4 ? 3 : 0;
		int64_t a = r->cpu;

		fsc_sim_work(r, 5200);
		op_with_kernel(r, functions[f], "aten::mm", first[f]);
		if (!f)
			op_with_kernel(r, functions[f], "aten::mm", &gemm_weights);
		fsc_buf_clear(&b);
		fsc_buf_addf(&b, "autograd::engine::evaluate_function: %s", functions[f]);
		fsc_sim_op(r, b.data, a);
	}
	fsc_sim_memory(r, -(int64_t)(212 * FSC_MIB));
	(void)layer;
	fsc_buf_fini(&b);
}

/* Every rank enqueues, then all finish together when the last one has come and the bytes have moved. */
static void all_reduce(struct sim_rank *ranks, uint32_t n)
{
	int64_t ready[64], last = 0, end;

	for (uint32_t i = 0; i < n; i++) {
		int64_t a = ranks[i].cpu;

		ready[i] = fsc_sim_collective_enqueue(&ranks[i], &bucket);
		fsc_sim_user(&ranks[i], "nccl:all_reduce", a);
		if (ready[i] > last)
			last = ready[i];
	}
	end = last + fsc_sim_about(&ranks[0], bucket.transfer_ns, 0.06);
	for (uint32_t i = 0; i < n; i++)
		fsc_sim_collective_run(&ranks[i], &bucket, ready[i], end);
}

static void backward(struct sim_rank *ranks, uint32_t n, uint32_t layers)
{
	int64_t start[64], gpu[64];

	for (uint32_t i = 0; i < n; i++) {
		start[i] = ranks[i].cpu;
		gpu[i] = ranks[i].stream_free[SIM_COMPUTE];
		ranks[i].thread = SIM_AUTOGRAD;
	}
	for (uint32_t l = layers; l-- > 0;) {
		for (uint32_t i = 0; i < n; i++)
			one_block_backward(&ranks[i], l);
		if (l % 3 == 0)
			all_reduce(ranks, n);
	}
	for (uint32_t i = 0; i < n; i++) {
		ranks[i].thread = SIM_MAIN;
		fsc_sim_work(&ranks[i], 30000);
		fsc_sim_user(&ranks[i], "## backward ##", start[i]);
		fsc_sim_gpu_user(&ranks[i], "## backward ##", gpu[i] + 1000,
				 ranks[i].stream_free[SIM_COMPUTE]);
	}
}

static void optimizer(struct sim_rank *r)
{
	int64_t a = r->cpu, gpu;

	/* gradients are complete only when the last bucket is reduced */
	if (r->stream_free[SIM_COMPUTE] < r->stream_free[SIM_NCCL])
		r->stream_free[SIM_COMPUTE] = r->stream_free[SIM_NCCL];
	gpu = r->stream_free[SIM_COMPUTE];
	op_with_kernel(r, "aten::_foreach_norm", "aten::_foreach_norm", &norm_of_gradients);
	for (int i = 0; i < 9; i++)
		op_with_kernel(r, "aten::_fused_adamw_", "aten::_fused_adamw_", &adam);
	for (int i = 0; i < 40; i++)
		op_with_kernel(r, "aten::zero_", "aten::fill_", &small_fill);
	fsc_sim_user(r, "Optimizer.step#AdamW.step", a);
	fsc_sim_gpu_user(r, "Optimizer.step#AdamW.step", gpu + 1000, r->stream_free[SIM_COMPUTE]);
}

static void read_loss(struct sim_rank *r)
{
	int64_t a = r->cpu, b;

	fsc_sim_work(r, 4000);
	b = r->cpu;
	fsc_sim_work(r, 2500);
	fsc_sim_sync(r, "cudaStreamSynchronize", SIM_COMPUTE);
	fsc_sim_work(r, 1200);
	fsc_sim_op(r, "aten::_local_scalar_dense", b);
	fsc_sim_op(r, "aten::item", a);
	fsc_sim_work(r, 900000); /* logging on the main thread */
}

void fsc_program_step(struct sim_rank *ranks, uint32_t n, uint32_t layers, uint32_t number)
{
	int64_t start[64];
	char name[32];
	struct fsc_buf b = FSC_BUF_INIT(sizeof(name));

	fsc_buf_addf(&b, "ProfilerStep#%u", number);
	for (uint32_t i = 0; i < n; i++) {
		start[i] = ranks[i].cpu;
		load_batch(&ranks[i], number);
		forward(&ranks[i], layers);
	}
	backward(ranks, n, layers);
	for (uint32_t i = 0; i < n; i++) {
		optimizer(&ranks[i]);
		read_loss(&ranks[i]);
		fsc_sim_user(&ranks[i], b.data, start[i]);
	}
	fsc_buf_fini(&b);
}
