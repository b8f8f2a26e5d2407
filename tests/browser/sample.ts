// SPDX-License-Identifier: Apache-2.0
// A small training trace with known numbers, as a PyTorch profiler would write it: steps, nested operators, launches,
// kernels on three streams, many tiny kernels that must merge when seen from afar. Times are exact ns.
import { gzipSync } from 'node:zlib';

export const BASE_NS = 1_795_874_531_000_000_000n;
export const STEPS = 5;
export const STEP_NS = 10_000_000;
export const GEMM = 'ampere_bf16_s16816gemm_bf16_256x128_ldg8_f2f_stages_32x3_tn';
export const TINY = 'void at::native::vectorized_elementwise_kernel<4, at::native::GeluFunctor<float>>(int, float)';
export const NCCL = 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)';
export const COPY = 'Memcpy HtoD (Pageable -> Device)';
export const GEMM_NS = 800_000;
export const GEMMS_PER_STEP = 4;
export const TINY_NS = 2_000;
export const TINY_PER_STEP = 400;
export const NCCL_NS = 1_500_000;

type Args = Record<string, unknown>;

export class Sample {
	private lines: string[] = [];
	slices = 0;
	private correlation = 1000;

	private us(ns: number): string {
		const abs = BASE_NS + BigInt(ns);
		return `${abs / 1000n}.${String(abs % 1000n).padStart(3, '0')}`;
	}

	private dur(ns: number): string {
		return `${Math.floor(ns / 1000)}.${String(ns % 1000).padStart(3, '0')}`;
	}

	slice(cat: string, name: string, pid: number, tid: number, ts: number, dur: number, args: Args = {}): void {
		this.slices++;
		const head = JSON.stringify({ ph: 'X', cat, name, pid, tid, args });
		this.lines.push(`${head.slice(0, -1)},"ts":${this.us(ts)},"dur":${this.dur(dur)}}`);
	}

	private meta(name: string, pid: number, tid: number, args: Args): void {
		this.lines.push(JSON.stringify({ ph: 'M', name, pid, tid, ts: 0, args }));
	}

	/** A kernel, the call that launches it `delay` earlier, and the flow between them. */
	kernel(name: string, stream: number, ts: number, dur: number, delay: number, cat = 'kernel'): void {
		const correlation = this.correlation++;
		const launch = cat === 'kernel' ? 'cudaLaunchKernel' : 'cudaMemcpyAsync';
		this.slice('cuda_runtime', launch, 100, 100, ts - delay, 1_500, { cbid: 211, correlation });
		this.slice(cat, name, 0, stream, ts, dur, {
			device: 0, context: 1, stream, correlation, grid: [16, 64, 1], block: [256, 1, 1], 'registers per thread': 232,
			'shared memory': 147456, 'blocks per SM': 9.48, 'warps per SM': 75.85, 'est. achieved occupancy %': 13,
		});
		const flow = (ph: string, pid: number, tid: number, at: number, extra: string) =>
			this.lines.push(`{"ph":"${ph}","cat":"ac2g","name":"ac2g","id":${correlation},"pid":${pid},"tid":${tid}${extra},"ts":${this.us(at)}}`);
		flow('s', 100, 100, ts - delay, '');
		flow('f', 0, stream, ts, ',"bp":"e"');
	}

	step(i: number): void {
		const t = i * STEP_NS;
		this.slice('user_annotation', `ProfilerStep#${i}`, 100, 100, t, STEP_NS - 1_000);
		this.slice('cpu_op', 'aten::linear', 100, 100, t + 50_000, 3_900_000, { 'External id': i });
		this.kernel(COPY, 24, t + 300_000, 200_000, 20_000, 'gpu_memcpy');
		for (let k = 0; k < GEMMS_PER_STEP; k++) this.kernel(GEMM, 7, t + 600_000 + k * 850_000, GEMM_NS, 40_000);
		for (let k = 0; k < TINY_PER_STEP; k++) this.kernel(TINY, 7, t + 4_500_000 + k * 4_000, TINY_NS, 3_000);
		this.kernel(NCCL, 20, t + 6_500_000, NCCL_NS, 60_000);
		this.slice('cuda_runtime', 'cudaStreamSynchronize', 100, 100, t + 8_500_000, 900_000, { cbid: 131 });
	}

	json(): string {
		this.meta('process_name', 100, 0, { name: 'python' });
		this.meta('process_labels', 100, 0, { labels: 'CPU' });
		this.meta('thread_name', 100, 100, { name: 'thread 100 (python)' });
		this.meta('process_name', 0, 0, { name: 'python' });
		this.meta('process_labels', 0, 0, { labels: 'GPU 0' });
		for (const s of [7, 20, 24]) this.meta('thread_name', 0, s, { name: `stream ${s}` });
		for (let i = 0; i < STEPS; i++) this.step(i);
		const head = { schemaVersion: 1, deviceProperties: [{ id: 0, name: 'NVIDIA A100-SXM4-80GB' }], distributedInfo: { backend: 'nccl', rank: 3, world_size: 8 } };
		return `${JSON.stringify(head).slice(0, -1)},"traceEvents":[\n${this.lines.join(',\n')}\n]}`;
	}
}

export function sampleGz(): { bytes: Buffer; slices: number } {
	const s = new Sample();
	const bytes = gzipSync(s.json(), { level: 6 });
	return { bytes, slices: s.slices };
}
