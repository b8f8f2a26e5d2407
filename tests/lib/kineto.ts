// SPDX-License-Identifier: Apache-2.0
// A small Kineto trace whose numbers are known: per step one host operator that launches kernels and a copy.
export interface KinetoOptions { steps?: number; kernels?: number; rank?: number; worldSize?: number; host?: string; baseNs?: string }

export interface Kineto { schemaVersion: number; deviceProperties: unknown[]; traceEvents: Record<string, unknown>[]; [key: string]: unknown }

/** Times in µs. Step i starts at 1000*i; its kernels start at 1000*i+20+10*k and take 5 µs; its copy takes 7 µs. */
export function kineto(o: KinetoOptions = {}): Kineto {
	const steps = o.steps ?? 3;
	const kernels = o.kernels ?? 4;
	const ev: Record<string, unknown>[] = [
		{ ph: 'M', name: 'process_name', pid: 100, tid: 0, ts: 0, args: { name: 'python' } },
		{ ph: 'M', name: 'process_labels', pid: 100, tid: 0, ts: 0, args: { labels: 'CPU' } },
		{ ph: 'M', name: 'process_sort_index', pid: 100, tid: 0, ts: 0, args: { sort_index: 100 } },
		{ ph: 'M', name: 'process_name', pid: 0, tid: 0, ts: 0, args: { name: 'python' } },
		{ ph: 'M', name: 'process_labels', pid: 0, tid: 0, ts: 0, args: { labels: 'GPU 0' } },
		{ ph: 'M', name: 'process_sort_index', pid: 0, tid: 0, ts: 0, args: { sort_index: 5000000 } },
		{ ph: 'M', name: 'thread_name', pid: 100, tid: 101, ts: 0, args: { name: 'thread 101 (python)' } },
		{ ph: 'M', name: 'thread_name', pid: 0, tid: 7, ts: 0, args: { name: 'stream 7' } },
	];
	let corr = 1;
	for (let i = 0; i < steps; i++) {
		const t = 1000 * i;
		ev.push({ ph: 'X', cat: 'user_annotation', name: `ProfilerStep#${i + 1}`, pid: 100, tid: 101, ts: t, dur: 900 });
		ev.push({ ph: 'X', cat: 'cpu_op', name: 'aten::mm', pid: 100, tid: 101, ts: t + 1, dur: 300, args: { 'Sequence number': i } });
		for (let k = 0; k < kernels; k++, corr++) {
			const call = t + 2 + 10 * k;
			const run = t + 20 + 10 * k;
			const comm = k === kernels - 1;
			ev.push({ ph: 'X', cat: 'cuda_runtime', name: 'cudaLaunchKernel', pid: 100, tid: 101, ts: call, dur: 3, args: { correlation: corr, cbid: 211 } });
			ev.push({ ph: 'X', cat: 'kernel', name: comm ? 'ncclDevKernel_AllReduce_Sum_f32_RING_LL' : `gemm_${k}<float>`, pid: 0, tid: 7, ts: run, dur: 5,
				args: { device: 0, context: 1, stream: 7, correlation: corr, grid: [8, 1, 1], block: [128, 1, 1], 'registers per thread': 32, 'shared memory': 1024, 'blocks per SM': 0.5, 'warps per SM': 2, 'est. achieved occupancy %': 30 } });
			ev.push({ ph: 's', id: corr, cat: 'ac2g', name: 'ac2g', pid: 100, tid: 101, ts: call });
			ev.push({ ph: 'f', id: corr, cat: 'ac2g', name: 'ac2g', pid: 0, tid: 7, ts: run, bp: 'e' });
		}
		ev.push({ ph: 'X', cat: 'cuda_runtime', name: 'cudaMemcpyAsync', pid: 100, tid: 101, ts: t + 200, dur: 4, args: { correlation: corr } });
		ev.push({ ph: 'X', cat: 'gpu_memcpy', name: 'Memcpy HtoD (Pageable -> Device)', pid: 0, tid: 7, ts: t + 210, dur: 7, args: { device: 0, context: 1, stream: 7, correlation: corr, bytes: 4096, 'memory bandwidth (GB/s)': 0.5 } });
		corr++;
		ev.push({ ph: 'C', name: 'queue', pid: 100, tid: 0, ts: t + 5, args: { depth: i * 2 } });
		ev.push({ ph: 'i', s: 't', cat: 'user', name: 'mark', pid: 100, tid: 101, ts: t + 400 });
	}
	return {
		schemaVersion: 1,
		deviceProperties: [{ id: 0, name: 'Test GPU', numSms: 8 }],
		baseTimeNanoseconds: o.baseNs ?? '1700000000000000000',
		...(o.rank === undefined ? {} : { distributedInfo: { backend: 'nccl', rank: o.rank, world_size: o.worldSize ?? o.rank + 1 } }),
		...(o.host === undefined ? {} : { host_name: o.host }),
		traceEvents: ev,
	};
}

export const kinetoBytes = (o: KinetoOptions = {}): Uint8Array => new TextEncoder().encode(JSON.stringify(kineto(o)));
