// SPDX-License-Identifier: Apache-2.0
// Every operation of the contract on a small trace whose numbers are known, each answer checked against its schema.
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { call, neverHit, withoutSchema } from '../lib/contract.ts';
import { kinetoBytes } from '../lib/kineto.ts';
import { startServer, tempDir, uploadAndWait, type BundleState, type TestServer } from '../lib/server.ts';

const STEPS = 3, KERNELS = 4;
let s: TestServer, bundle: BundleState, trace: string, base: string;
before(async () => {
	s = await startServer();
	bundle = await uploadAndWait(s, 'known.json', kinetoBytes({ steps: STEPS, kernels: KERNELS, rank: 3, worldSize: 8, host: 'node-a' }), { job: 'llm' });
	assert.equal(bundle.state, 'ready', JSON.stringify(bundle));
	trace = bundle.traces[0]!.id;
	base = `/api/v1/traces/${trace}`;
});
after(() => s.stop());

const ok = async <T = any>(path: string): Promise<T> => {
	const r = await call<T>(s, 'GET', path);
	assert.equal(r.status, 200, path);
	return r.json;
};

test('each response of the contract has a schema', () => assert.deepEqual(withoutSchema(), []));

test('the server says that it lives, is ready, and who it is', async () => {
	assert.equal((await ok('/healthz')).status, 'ok');
	assert.equal((await ok('/readyz')).status, 'ready');
	const server = await ok('/api/v1/server');
	assert.equal(server.perfetto_origin, 'https://ui.perfetto.dev');
	assert.equal(server.demo, false);
	assert.deepEqual(await ok('/api/v1/whoami'), { project: 'default', projects: ['default'], scopes: ['read', 'upload', 'capture', 'admin'], operator: true, user: null, via: 'loopback', auth: 'loopback' });
	assert.equal((await ok('/api/v1/openapi.json')).openapi, '3.1.0');
});

test('projects and audit rows are listed', async () => {
	assert.equal((await call(s, 'POST', '/api/v1/projects', { body: { name: 'second' } })).status, 201);
	assert.equal((await ok('/api/v1/projects')).total, 2);
	assert.equal((await ok('/api/v1/audit?action=project.create')).items[0].subject, 'second');
});

test('an uploaded bundle is listed with its trace', async () => {
	const one = await ok(`/api/v1/bundles/${bundle.id}`);
	assert.equal(one.job, 'llm');
	assert.equal(one.traces.length, 1);
	assert.deepEqual(one.failures, []);
	const list = await ok('/api/v1/bundles?state=ready&limit=10');
	assert.equal(list.total, 1);
	assert.equal(list.items[0].id, bundle.id);
	assert.equal((await ok('/api/v1/bundles?state=failed')).total, 0);
});

test('the list of traces filters, sorts and counts', async () => {
	const row = (await ok('/api/v1/traces')).items[0];
	assert.equal(row.id, trace);
	assert.equal(row.rank, 3);
	assert.equal(row.host, 'node-a');
	assert.equal(row.state, 'ready');
	assert.equal(row.started, '2023-11-14T22:13:20.000Z');
	for (const sort of ['received', 'started', 'duration', 'slices', 'bytes', 'busy', 'exposed', 'losses', 'rank', 'name', 'job', 'host', 'state']) {
		assert.equal((await ok(`/api/v1/traces?sort=${sort}&order=asc`)).total, 1, sort);
	}
	for (const [query, n] of [['q=known', 1], ['q=gemm_1', 1], ['q=zzz', 0], ['job=llm', 1], ['job=llm,x', 1], ['job=x', 0], ['host=node-a&state=ready', 1], ['state=failed', 0]] as const) {
		assert.equal((await ok(`/api/v1/traces?${query}`)).total, n, query);
	}
	assert.deepEqual((await ok('/api/v1/traces')).facets.job, [{ value: 'llm', count: 1 }]);
});

test('a trace has exactly the counts of its file', async () => {
	const t = await ok(base);
	assert.equal(t.t_base_ns, '1700000000000000000');
	assert.equal(t.slices, STEPS * (2 + 2 * KERNELS + 2));
	assert.equal(t.instants, STEPS);
	assert.equal(t.flows, STEPS * KERNELS);
	assert.equal(t.counters, STEPS);
	assert.deepEqual(t.launch, { pairs: STEPS * (KERNELS + 1), none: 0, ambiguous: 0 });
	const kernels = t.categories.find((c: { name: string }) => c.name === 'kernel');
	assert.deepEqual(kernels, { name: 'kernel', count: STEPS * KERNELS, sum_ns: STEPS * KERNELS * 5000 });
	assert.equal(t.meta.host_name, 'node-a');
	assert.equal(t.world_size, 8);
});

interface TrackRow { id: number; kind: string; slices: number; busy_ns: number; depths: number; device: number | null; stream: number | null; samples?: number }
const tracks = async (): Promise<TrackRow[]> => (await ok(`${base}/tracks`)).tracks;

test('tracks are listed with what is on them', async () => {
	const all = await tracks();
	const stream = all.find((t) => t.kind === 'stream')!;
	assert.equal(stream.stream, 7);
	assert.equal(stream.slices, STEPS * (KERNELS + 1));
	assert.equal(stream.busy_ns, STEPS * (KERNELS * 5000 + 7000));
	const thread = all.find((t) => t.kind === 'thread' && t.slices > 0)!;
	assert.equal(thread.depths, 3);
	assert.equal(all.find((t) => t.kind === 'counter')!.samples, STEPS);
	assert.ok(all.findIndex((t) => t.kind === 'thread') < all.findIndex((t) => t.kind === 'stream'), 'host above GPU');
});

/** Decodes the columns; independent of the page's decoder. */
function columns(bytes: Uint8Array) {
	const v = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	const n = v.getUint32(8, true), names = v.getUint32(12, true);
	assert.equal(v.getUint32(0, true), 0x314c5346);
	assert.equal(v.getUint32(4, true), 1);
	const base0 = Number(v.getBigInt64(16, true)), tick = Number(v.getBigUint64(24, true));
	const narrow = 64 + 20 * n, bytesAt = narrow + 4 * n, offs = Math.ceil((bytesAt + 3 * n) / 4) * 4, text = offs + 4 * (names + 1);
	assert.equal(text + v.getUint32(offs + 4 * names, true), bytes.length, 'nothing is left over');
	const name = (i: number) => new TextDecoder().decode(bytes.subarray(text + v.getUint32(offs + 4 * i, true), text + v.getUint32(offs + 4 * i + 4, true)));
	return {
		t0: Number(v.getBigInt64(32, true)), t1: Number(v.getBigInt64(40, true)), truncated: v.getUint32(48, true) & 1, tick,
		items: Array.from({ length: n }, (_, i) => ({
			ts: base0 + v.getUint32(64 + 4 * i, true) * tick, dur: v.getUint32(64 + 4 * (n + i), true) * tick, name: name(v.getUint32(64 + 4 * (2 * n + i), true)),
			slice: v.getUint32(64 + 4 * (3 * n + i), true), count: v.getUint32(64 + 4 * (4 * n + i), true), track: v.getUint16(narrow + 2 * i, true), depth: v.getUint16(narrow + 2 * (n + i), true),
			kind: v.getUint8(bytesAt + i), busy: v.getUint8(bytesAt + n + i), flags: v.getUint8(bytesAt + 2 * n + i),
		})),
	};
}

test('slices of a window are exact when there is a pixel for each', async () => {
	const all = await tracks();
	const stream = all.find((t) => t.kind === 'stream')!, thread = all.find((t) => t.kind === 'thread' && t.slices > 0)!;
	const r = await call(s, 'GET', `${base}/slices?t0=1000000&t1=1100000&px=4000&tracks=${stream.id},${thread.id}`);
	const c = columns(r.bytes);
	assert.equal(c.tick, 1);
	const gpu = c.items.filter((i) => i.track === 0);
	assert.deepEqual(gpu.map((i) => [i.ts, i.dur, i.count]), Array.from({ length: KERNELS }, (_, k) => [1020000 + 10000 * k, 5000, 1]));
	assert.equal(gpu[0]!.name, 'gemm_0<float>');
	const step = c.items.find((i) => i.track === 1 && i.name === 'ProfilerStep#2')!;
	assert.equal(step.depth, 0);
	assert.equal(step.ts, 1000000);
	assert.equal(step.dur, 900000);
	assert.equal(step.flags & 32, 32, 'ends after the window');
	assert.match(r.headers.get('cache-control')!, /private/);
	const again = await call(s, 'GET', `${base}/slices?t0=1000000&t1=1100000&px=4000&tracks=${stream.id},${thread.id}`, { headers: { 'If-None-Match': r.headers.get('etag')! } });
	assert.equal(again.status, 304);
});

test('a coarse view merges and says how many and how busy', async () => {
	const stream = (await tracks()).find((t) => t.kind === 'stream')!;
	const c = columns((await call(s, 'GET', `${base}/slices?t0=0&t1=3000000&px=3&tracks=${stream.id}`)).bytes);
	assert.equal(c.items.reduce((n, i) => n + i.count, 0), STEPS * (KERNELS + 1));
	assert.ok(c.items.length <= 3 && c.items.some((i) => i.flags & 1));
	for (const i of c.items.filter((x) => x.flags & 1)) assert.ok(i.busy > 0 && i.busy < 255, `${i.busy}`);
});

test('slices without tracks, with unknown tracks or with an empty window are refused', async () => {
	for (const [query, code] of [['', 'bad_tracks'], ['tracks=99999', 'bad_tracks'], ['tracks=x', 'bad_tracks'], ['tracks=0&t0=5&t1=5', 'bad_window'], ['tracks=0&px=0', 'bad_parameter'], [`tracks=${Array(257).fill(0).join(',')}`, 'bad_tracks']] as const) {
		const r = await call(s, 'GET', `${base}/slices?${query}`);
		assert.equal(r.status, 400, query);
		assert.equal(r.json.error.code, code, query);
	}
});

test('a track that is named twice is refused by every call that takes tracks', async () => {
	const [a, b] = (await tracks()).map((t) => t.id);
	for (const path of ['slices', 'aggregate', 'counters', 'tracks']) {
		for (const list of [`${a},${a}`, `${a},${b},${a}`, Array(250).fill(b).join(',')]) {
			const r = await call(s, 'GET', `${base}/${path}?tracks=${list}`);
			assert.equal(r.status, 400, `${path} ${list}`);
			assert.equal(r.json.error.code, 'bad_tracks', path);
		}
		assert.equal((await call(s, 'GET', `${base}/${path}?tracks=${b},${a}`)).status, 200, path);
	}
});

test('a kernel knows its launch, its numbers and its neighbours', async () => {
	const stream = (await tracks()).find((t) => t.kind === 'stream')!;
	const k = await ok(`${base}/slices/find?track=${stream.id}&ts=1030000&name=${encodeURIComponent('gemm_1<float>')}`);
	assert.deepEqual([k.ts, k.dur, k.kind, k.cat], [1030000, 5000, 'compute', 'kernel']);
	assert.deepEqual(k.launch.grid, [8, 1, 1]);
	assert.equal(k.launch.registers, 32);
	assert.equal(k.launched_by.name, 'cudaLaunchKernel');
	assert.equal(k.launched_by.ts, 1012000);
	assert.equal(k.launched_by.delay_ns, 18000);
	assert.equal(k.same_name.count, STEPS);
	assert.equal(k.same_name.prev.ts, 30000);
	assert.equal(k.same_name.next.ts, 2030000);
	assert.equal(k.flows.length, 1);
	assert.equal(k.flows[0].dir, 'in');
	assert.equal(k.args.correlation, k.correlation);
	assert.deepEqual(await ok(`${base}/slices/${k.id}`), k);
	const call0 = await ok(`${base}/slices/${k.launched_by.id}`);
	assert.equal(call0.launches[0].id, k.id);
	assert.equal(call0.parent.name, 'aten::mm');
	assert.deepEqual(call0.ancestors.map((a: { name: string }) => a.name), ['aten::mm', 'ProfilerStep#2']);
	const copy = await ok(`${base}/slices/find?track=${stream.id}&ts=1210000&name=${encodeURIComponent('Memcpy HtoD (Pageable -> Device)')}`);
	assert.equal(copy.kind, 'memcpy');
	assert.equal(copy.launch.bytes, 4096);
	assert.equal((await call(s, 'GET', `${base}/slices/999999`)).status, 404);
	assert.equal((await call(s, 'GET', `${base}/slices/x`)).status, 404);
	assert.equal((await call(s, 'GET', `${base}/slices/find?track=0&ts=1&name=none`)).status, 404);
	assert.equal((await call(s, 'GET', `${base}/slices/find?track=0`)).status, 400);
});

test('flows of a window lead from calls to kernels', async () => {
	const f = await ok(`${base}/flows?t0=1000000&t1=1999999`);
	assert.equal(f.items.length, KERNELS);
	assert.equal(f.truncated, false);
	for (const x of f.items) assert.equal(x.to.ts - x.from.ts, 18000);
	assert.equal((await ok(`${base}/flows?limit=2`)).truncated, true);
});

test('an aggregate clips to its window and adds up', async () => {
	const stream = (await tracks()).find((t) => t.kind === 'stream')!;
	const a = await ok(`${base}/aggregate?t0=1020000&t1=1032000&tracks=${stream.id}`);
	assert.equal(a.count, 2);
	assert.equal(a.total_ns, 7000);
	assert.equal(a.busy_ns, 7000);
	assert.equal(a.overlap_ns, 0);
	assert.deepEqual(a.rows.map((r: { key: string; total_ns: number }) => [r.key, r.total_ns]), [['gemm_0<float>', 5000], ['gemm_1<float>', 2000]]);
	const kinds = await ok(`${base}/aggregate?tracks=${stream.id}&by=kind`);
	assert.deepEqual(kinds.rows.map((r: { key: string; total_ns: number }) => [r.key, r.total_ns]), [['compute', 45000], ['memcpy', 21000], ['comm', 15000]]);
	assert.ok((await ok(`${base}/aggregate?by=track`)).rows.some((r: { key: number }) => r.key === stream.id));
	assert.equal((await call(s, 'GET', `${base}/aggregate?by=nope`)).status, 400);
});

test('search finds by part of a name and fills the strip', async () => {
	const r = await ok(`${base}/search?q=GEMM&limit=4&strip=3`);
	assert.equal(r.total, STEPS * (KERNELS - 1));
	assert.equal(r.hits.length, 4);
	assert.equal(r.truncated, true);
	assert.equal(r.strip.reduce((a: number, b: number) => a + b, 0), r.total);
	assert.equal((await ok(`${base}/search?q=nothing%20like%20it`)).total, 0);
	assert.equal((await call(s, 'GET', `${base}/search`)).status, 400);
});

test('the minimap holds the busy share of each bucket', async () => {
	const m = await ok(`${base}/minimap?t0=0&t1=3000000&n=3`);
	assert.deepEqual(m.compute, [15, 15, 15]);
	assert.deepEqual(m.comm, [5, 5, 5]);
	assert.deepEqual(m.copy, [7, 7, 7]);
});

test('counters keep their extremes', async () => {
	const track = (await tracks()).find((t) => t.kind === 'counter')!;
	const c = (await ok(`${base}/counters?t0=0&t1=3000000&px=100&tracks=${track.id}`)).tracks[0];
	assert.deepEqual(c.t, [5000, 1005000, 2005000]);
	assert.deepEqual(c.max, [0, 2, 4]);
	const one = (await ok(`${base}/counters?t0=0&t1=3000000&px=1&tracks=${track.id}`)).tracks[0];
	assert.deepEqual([one.min, one.max], [[0], [4]]);
});

test('the analysis adds up and follows its steps', async () => {
	const a = await ok(`${base}/analysis`);
	const d = a.devices[0];
	assert.deepEqual([d.compute_ns, d.comm_ns, d.memcpy_ns, d.exposed_comm_ns], [45000, 15000, 21000, 15000]);
	assert.equal(d.busy_ns + d.idle_ns, d.window_ns);
	assert.equal(d.busy_ns, 81000);
	assert.equal(a.steps.length, STEPS);
	const two = await ok(`${base}/analysis?steps=1-2`);
	assert.equal(two.devices[0].busy_ns, 54000);
	assert.equal((await ok(`${base}/analysis?steps=no_last`)).devices[0].busy_ns, 54000);
	for (const [steps, status] of [['nope', 400], ['9-10', 404], ['2-1', 400]] as const) assert.equal((await call(s, 'GET', `${base}/analysis?steps=${steps}`)).status, status, steps);
});

test('kernels are paged, searched and sorted', async () => {
	const all = await ok(`${base}/kernels`);
	assert.equal(all.total, KERNELS + 1);
	assert.equal(all.total_sum_ns, 81000);
	assert.equal(all.items[0].name, 'Memcpy HtoD (Pageable -> Device)');
	const first = await ok(`${base}/kernels?limit=2&sort=name&order=asc`);
	const second = await ok(`${base}/kernels?limit=2&sort=name&order=asc&cursor=${first.next}`);
	assert.equal(first.items.length + second.items.length, 4);
	assert.ok(first.items[1].name < second.items[0].name);
	assert.equal((await ok(`${base}/kernels?q=gemm%202`)).total, 1);
	assert.equal((await call(s, 'GET', `${base}/kernels?sort=nope`)).status, 400);
	const slice = await ok(`${base}/slices/${all.items[0].first.slice}`);
	assert.equal(slice.name, all.items[0].name);
	assert.equal((await ok(`${base}/steps`)).items.length, STEPS);
});

test('the export is streamed and named', async () => {
	const r = await call(s, 'GET', `${base}/export/perfetto`);
	assert.equal(r.status, 200);
	assert.ok(r.bytes.length > 500);
	assert.match(r.headers.get('content-disposition')!, /^attachment; filename="known\.json[^"]*"$/);
	assert.equal(r.headers.get('x-fleetscope-base-ns'), '1700000000000000000');
	const part = await call(s, 'GET', `${base}/export/perfetto?t0=0&t1=500000`);
	assert.ok(part.bytes.length < r.bytes.length);
	assert.equal((await call(s, 'GET', `${base}/export/nope`)).status, 404);
	assert.equal((await call(s, 'GET', `${base}/export/perfetto?t0=5&t1=1`)).status, 400);
});

test('what is not there is 404 with a code', async () => {
	for (const path of ['/api/v1/traces/1', '/api/v1/traces/x', '/api/v1/traces/1/tracks', '/api/v1/bundles/1', '/api/v1/bundles/99999999999999999999999']) {
		const r = await call(s, 'GET', path);
		assert.equal(r.status, 404, path);
		assert.match(r.json.error.code, /^no_such_(trace|bundle)$/);
	}
});

test('re-indexing keeps the id of the trace', async () => {
	assert.equal((await call(s, 'POST', `/api/v1/bundles/${bundle.id}/reindex`)).status, 202);
	for (let i = 0; i < 200; i++) {
		if ((await ok(`/api/v1/bundles/${bundle.id}`)).state === 'ready') break;
		await new Promise((r) => setTimeout(r, 50));
	}
	assert.equal((await ok(`/api/v1/bundles/${bundle.id}`)).traces[0].id, trace);
	assert.equal((await ok(`${base}/analysis`)).devices[0].busy_ns, 81000);
});

test('tokens are made, listed and revoked', async () => {
	const t = await call(s, 'POST', '/api/v1/tokens', { body: { name: 'ci', scopes: ['upload', 'read'], expires_days: 1 } });
	assert.equal(t.status, 201);
	assert.match(t.json.secret, /^fst_[0-9a-f]{40}$/);
	const list = await ok('/api/v1/tokens');
	assert.equal(list.items[0].id, t.json.id);
	assert.ok(!JSON.stringify(list).includes(t.json.secret), 'the secret is shown once');
	assert.equal((await call(s, 'POST', '/api/v1/login', { body: { token: t.json.secret } })).status, 204);
	assert.equal((await call(s, 'POST', '/api/v1/logout')).status, 204);
	assert.equal((await call(s, 'DELETE', `/api/v1/tokens/${t.json.id}`)).status, 204);
	assert.equal((await call(s, 'DELETE', `/api/v1/tokens/${t.json.id}`)).status, 404);
	for (const body of [{}, { name: '', scopes: ['read'] }, { name: 'x', scopes: [] }, { name: 'x', scopes: ['root'] }, { name: 'x', scopes: 'read' }, { name: 'x', scopes: ['read'], expires_days: 0 }]) assert.equal((await call(s, 'POST', '/api/v1/tokens', { body })).status, 400, JSON.stringify(body));
	for (const body of ['', '[]', '{', '{"token":1}', '"x"', '{"token":"a","token":"b"}']) assert.equal((await call(s, 'POST', '/api/v1/login', { body })).status, 400, body);
});

test('storage and limits answer as the contract says', async () => {
	assert.equal((await ok('/api/v1/storage')).traces, 1);
	assert.equal((await call(s, 'PUT', '/api/v1/retention', { body: { max_age_days: 365 } })).json.max_age_days, 365);
	assert.equal((await call(s, 'POST', '/api/v1/retention/run?dry_run=1')).json.bundles, 0);
	assert.equal((await call(s, 'POST', '/api/v1/retention/run')).json.bundles, 0);
	assert.equal((await call(s, 'POST', '/api/v1/retention/confirm-clock')).status, 200);
});

test('the metrics count all of this', async () => {
	const text = new TextDecoder().decode((await call(s, 'GET', '/metrics')).bytes);
	for (const name of ['fleetscope_bundles{state="ready"} 1', 'fleetscope_traces 1', 'fleetscope_index_runs_total{outcome="ready"} 2', 'fleetscope_jobs_waiting 0']) assert.ok(text.includes(name), `${name} in\n${text.split('\n').filter((l) => l.startsWith('fleetscope_') && !l.includes('http')).join('\n')}`);
	for (const name of ['process_cpu_seconds_total', 'process_resident_memory_bytes', 'process_open_fds', 'fleetscope_blob_bytes', 'fleetscope_http_request_seconds_bucket']) assert.match(text, new RegExp(`^${name}.* [0-9.e+]+$`, 'm'));
	const lines = text.split('\n').filter((l) => l && !l.startsWith('#'));
	for (const l of lines) assert.match(l, /^[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [0-9.e+-]+$/, l);
	assert.equal(new Set(lines.map((l) => l.split(' ')[0])).size, lines.length, 'no series twice');
});

test('deleting a bundle takes its trace away', async () => {
	assert.equal((await call(s, 'POST', '/api/v1/deletions', { body: { trace, dry_run: true } })).json.bundles, 1);
	const gone = await call(s, 'DELETE', `/api/v1/bundles/${bundle.id}`);
	assert.deepEqual([gone.status, gone.json.bundles, gone.json.traces], [200, 1, 1]);
	assert.equal((await call(s, 'GET', base)).status, 410);
	assert.equal((await call(s, 'GET', `${base}/tracks`)).status, 410);
	assert.equal((await call(s, 'DELETE', `/api/v1/bundles/${bundle.id}`)).status, 410);
	assert.equal((await ok('/api/v1/traces')).total, 0);
});

test('an upload is answered as the contract says', async () => {
	const r = await call(s, 'POST', '/api/v1/bundles?name=again.json', { body: kinetoBytes(), headers: { 'content-type': 'application/octet-stream' } });
	assert.equal(r.status, 202);
	assert.equal(r.headers.get('location'), `/api/v1/bundles/${r.json.id}`);
	assert.equal(r.json.duplicate, false);
	const twice = await call(s, 'POST', '/api/v1/bundles?name=other.json&job=j', { body: kinetoBytes() });
	assert.equal(twice.json.id, r.json.id);
	assert.equal(twice.json.duplicate, true);
	assert.deepEqual(twice.json.ignored.sort(), ['job', 'name']);
});

test('a single trace is kept, noted and deleted', async () => {
	const b = await uploadAndWait(s, 'one.json', kinetoBytes({ steps: 9 }));
	const path = `/api/v1/traces/${b.traces[0]!.id}`;
	const t = await call(s, 'PATCH', path, { body: { keep: true, notes_add: [{ t0: 5, t1: 9, text: 'here' }] } });
	assert.deepEqual([t.status, t.json.keep, t.json.notes[0].text], [200, true, 'here']);
	assert.equal((await call(s, 'DELETE', path)).status, 409);
	assert.equal((await call(s, 'DELETE', `${path}?kept=delete`)).status, 200);
	assert.equal((await call(s, 'PATCH', path, { body: {} })).status, 410);
});

test('an upload in pieces is answered as the contract says', async () => {
	const at = (await call(s, 'POST', '/api/v1/uploads?name=piece.json', { headers: { 'upload-complete': '?0' } })).headers.get('location')!;
	const piece = { 'content-type': 'application/partial-upload', 'upload-offset': '0', 'upload-complete': '?0' };
	assert.equal((await call(s, 'PATCH', at, { body: kinetoBytes(), headers: piece })).status, 204);
	assert.equal((await call(s, 'HEAD', at)).status, 204);
	assert.equal((await call(s, 'DELETE', at)).status, 204);
});

test('a trace opens in a Perfetto UI of our own', async () => {
	const ui = tempDir();
	writeFileSync(join(ui, 'index.html'), '<!doctype html>');
	const own = await startServer({ args: ['--perfetto-ui', ui] });
	const b = await uploadAndWait(own, 'p.json', kinetoBytes());
	const r = await call(own, 'GET', `/api/v1/traces/${b.traces[0]!.id}/perfetto`);
	assert.equal(r.status, 303);
	assert.equal(r.headers.get('location'), r.json.url);
	await own.stop();
	rmSync(ui, { recursive: true });
});

test('every operation of the contract was called', () => assert.deepEqual(neverHit(), []));
