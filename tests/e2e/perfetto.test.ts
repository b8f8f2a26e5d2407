// SPDX-License-Identifier: Apache-2.0
// The Perfetto export, re-read by the independent decoder of lib/perfetto.ts, against the source file itself:
// the same slices to the ns, every launch linked, nothing lost where slices overlap.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, before, test } from 'node:test';
import { hardFile } from '../lib/hard_file.ts';
import { decodePerfetto, type PfTrace } from '../lib/perfetto.ts';
import { parseRaw, type RawTrace } from '../lib/raw_trace.ts';
import { startServer, uploadAndWait, type TestServer } from '../lib/server.ts';

const testdata = process.env.FLEETSCOPE_TESTDATA;
let server: TestServer;
before(async () => { server = await startServer(); });
after(() => server.stop());

async function exported(traceId: string, range = ''): Promise<PfTrace> {
	const r = await fetch(`${server.url}/api/v1/traces/${traceId}/export/perfetto${range}`);
	assert.equal(r.status, 200, await (r.ok ? '' : r.text()));
	return decodePerfetto(new Uint8Array(await r.arrayBuffer()));
}

async function indexed(name: string, bytes: Uint8Array): Promise<string> {
	const bundle = await uploadAndWait(server, name, bytes);
	assert.equal(bundle.state, 'ready', JSON.stringify(bundle.error));
	return bundle.traces[0]!.id;
}

/** (name, ts, dur) with how often it occurs: the multiset both sides must agree on. */
function multiset(slices: { name: string; ts: bigint; dur: bigint }[]): Map<string, number> {
	const m = new Map<string, number>();
	for (const s of slices) {
		const key = `${s.ts} ${s.dur} ${s.name}`;
		m.set(key, (m.get(key) ?? 0) + 1);
	}
	return m;
}

function sameSlices(got: PfTrace, want: RawTrace) {
	const a = multiset(got.slices), b = multiset(want.slices), wrong: string[] = [];
	for (const [k, n] of b) if (a.get(k) !== n) wrong.push(`${k}: file has ${n}, export ${a.get(k) ?? 0}`);
	for (const [k, n] of a) if (!b.has(k)) wrong.push(`${k}: file has 0, export ${n}`);
	assert.equal(wrong.length, 0, `${wrong.length} differ:\n${wrong.slice(0, 8).join('\n')}`);
}

const gpuCats = new Set(['kernel', 'gpu_memcpy', 'gpu_memset', 'memcpy', 'memset']);
const launchCats = new Set(['cuda_runtime', 'cuda_driver', 'runtime', 'hip_runtime']);

/** Correlations of GPU work that some call of the file launched. */
function linkable(want: RawTrace): number {
	const calls = new Set<string>();
	for (const s of want.slices) if (launchCats.has(s.cat.toLowerCase()) && s.args.correlation !== undefined) calls.add(String(s.args.correlation));
	return want.slices.filter((s) => gpuCats.has(s.cat.toLowerCase()) && s.args.correlation !== undefined && calls.has(String(s.args.correlation))).length;
}

function linksAreRight(got: PfTrace, want: RawTrace) {
	const gpu = new Map(got.slices.filter((s) => s.gpu).map((s) => [s.eventId!, s]));
	assert.equal(gpu.size, got.slices.filter((s) => s.gpu).length, 'event ids of GPU work repeat');
	const linked = new Set<bigint>();
	for (const s of got.slices)
		for (const id of s.submits) {
			const k = gpu.get(id);
			assert.ok(k, `launch ${s.name} names GPU event ${id}, which is not in the file`);
			assert.equal(String(k.args.get('correlation')), String(s.args.get('correlation')));
			linked.add(id);
		}
	assert.equal(linked.size, linkable(want));
}

async function checkFile(name: string, bytes: Uint8Array) {
	const want = parseRaw(bytes), got = await exported(await indexed(name, bytes));
	assert.equal(got.openSlices, 0, 'begin without end');
	sameSlices(got, want);
	linksAreRight(got, want);
	for (const k of got.slices.filter((s) => s.gpu)) assert.match(k.stream ?? '', /^Stream/);
	return { want, got };
}

const files = [
	'hta/call_stack/backward_thread.json',
	'hta/amd_trace/mi250_minitoy_train_ROCm6_2_kineto.json.gz',
	'hta/gpu_user_annotation/step_based_trace_2543932.json.gz',
	'tracelens/b200/eager_trace.json.gz',
	'tracelens/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz',
	'param/dlrm_8rank/worker0_step_12.1694128201545.pt.trace.json',
	'kineto/resnet50_num_workers_0_worker0.1623143089861.pt.trace.json.gz',
	'hta/df_index_resolver/df_index_resolver.json.gz',
];
for (const f of files) {
	const path = testdata ? join(testdata, 'gpu-traces', f) : '';
	test(`${f}: every slice to the ns, every launch linked`, { skip: existsSync(path) ? false : 'skipped, no test data' }, async () => {
		await checkFile(basename(f), readFileSync(path));
	});
}

test('overlaps on host and GPU, zero lengths, text ids, graph launches of hundreds of kernels', async () => {
	const { got } = await checkFile('hard.json', hardFile());
	const graph = got.slices.find((s) => s.name === 'cudaGraphLaunch')!;
	assert.equal(graph.submits.length, 300);
	const gemm = got.slices.find((s) => s.name === 'gemm')!;
	assert.deepEqual(gemm.grid, [16, 64, 1]);
	assert.deepEqual(gemm.block, [256, 1, 1]);
	assert.equal(gemm.args.get('device'), 0n);
	assert.equal(gemm.args.get('stream'), 7n);
	assert.equal(gemm.category, 'Kernel');
	const inner = got.slices.find((s) => s.name.startsWith('inner'))!;
	assert.deepEqual(Object.fromEntries(inner.args), { text: 'a"b\\c', list: [1, { k: null }], big: 12345678901234n, f: 0.5, yes: true });
	const flow = got.slices.filter((s) => s.flowsOut.length || s.flowsIn.length);
	assert.equal(flow.length, 2);
	assert.deepEqual(flow.flatMap((s) => s.flowsOut), flow.flatMap((s) => s.flowsIn));
	assert.deepEqual(got.counters.map((c) => [c.ts - 1727743122000000000n, c.value]), [[10000n, 3], [20500n, 4.5]]);
	assert.ok(got.instants.some((i) => i.name === 'mark' && i.ts === 1727743122000015000n));
	const lane = [...got.tracks.values()].find((t) => t.pid === 100 && t.tid === 100n);
	assert.ok(lane, 'thread 100 of process 100 has a thread track');
});

test('a range holds every slice that touches it, whole', async () => {
	const bytes = hardFile(), want = parseRaw(bytes), id = await indexed('hard.json', bytes);
	const base = want.slices.reduce((m, s) => (s.ts < m ? s.ts : m), want.slices[0]!.ts);
	const t0 = 91_000n, t1 = 101_500n; // ns from the first event
	const got = await exported(id, `?t0=${t0}&t1=${t1}`);
	const touching = want.slices.filter((s) => s.ts - base < t1 && (s.dur ? s.ts + s.dur - base > t0 : s.ts - base >= t0));
	assert.ok(touching.length > 5 && touching.length < want.slices.length);
	sameSlices(got, { ...want, slices: touching });
});
