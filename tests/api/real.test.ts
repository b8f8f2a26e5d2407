// SPDX-License-Identifier: Apache-2.0
// The public traces through the whole API: every answer keeps to its schema, and the pieces agree with each other.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { call } from '../lib/contract.ts';
import { startServer, testdata, uploadAndWait, type TestServer } from '../lib/server.ts';

let s: TestServer;
before(async () => { s = await startServer(); });
after(() => s.stop());

function walk(dir: string): string[] {
	return readdirSync(dir).flatMap((n) => (statSync(join(dir, n)).isDirectory() ? walk(join(dir, n)) : [join(dir, n)]));
}
const root = testdata('gpu-traces');
const files = ['hta', 'kineto', 'tracelens', 'param'].flatMap((d) => (root && existsSync(join(root, d)) ? walk(join(root, d)) : [])).filter((f) => /\.json(\.gz)?$/.test(f));
// Every third is enough here: all of them are compared with the recount elsewhere.
const some = files.filter((_, i) => i % 3 === 0);

const ok = async <T = any>(path: string): Promise<T> => {
	const r = await call<T>(s, 'GET', path);
	assert.equal(r.status, 200, path);
	return r.json;
};

async function look(id: string): Promise<void> {
	const base = `/api/v1/traces/${id}`;
	const t = await ok(base);
	const list = (await ok(`${base}/tracks`)).tracks as { id: number; slices: number; kind: string; busy_ns: number; depths: number }[];
	assert.equal(list.length, t.tracks);
	const withSlices = list.filter((x) => x.slices > 0);
	assert.equal(withSlices.reduce((n, x) => n + x.slices, 0) >= t.slices, true, 'tracks hold fewer slices than the trace');
	const ids = withSlices.slice(0, 64).map((x) => x.id);
	if (ids.length) {
		const span = t.t_max_ns - t.t_min_ns;
		for (const [t0, t1, px] of [[t.t_min_ns, t.t_max_ns + 1, 1400], [t.t_min_ns + Math.floor(span / 3), t.t_min_ns + Math.floor(span / 2) + 1, 700], [t.t_min_ns, t.t_min_ns + 1, 1]]) {
			const r = await call(s, 'GET', `${base}/slices?t0=${t0}&t1=${t1}&px=${px}&tracks=${ids.join(',')}`);
			assert.equal(r.status, 200);
			const v = new DataView(r.bytes.buffer, r.bytes.byteOffset);
			const rows = withSlices.slice(0, 64).reduce((n, x) => n + x.depths, 0);
			assert.ok(v.getUint32(8, true) <= px! * rows, 'more items than pixels');
		}
		await ok(`${base}/flows?limit=100`);
		const hits = (await ok(`${base}/search?q=e&limit=5&strip=50`)).hits as { id: number; track: number; ts: number; name: string }[];
		for (const h of hits) {
			const one = await ok(`${base}/slices/${h.id}`);
			assert.deepEqual([one.track, one.ts, one.name], [h.track, h.ts, h.name]);
			const found = await ok(`${base}/slices/find?track=${h.track}&ts=${h.ts}&name=${encodeURIComponent(h.name)}`);
			assert.equal(found.name, h.name);
		}
	}
	const streams = list.filter((x) => x.kind === 'stream');
	const analysis = await ok(`${base}/analysis`);
	for (const d of analysis.devices) {
		assert.equal(d.busy_ns + d.idle_ns, d.window_ns);
		assert.equal(d.compute_ns + d.exposed_comm_ns + d.exposed_memcpy_ns + d.unclassified_exposed_ns, d.busy_ns);
	}
	if (streams.length && analysis.devices.length === 1) {
		const a = await ok(`${base}/aggregate?by=kind&tracks=${streams.map((x) => x.id).join(',')}`);
		assert.equal(a.busy_ns, analysis.devices[0].busy_ns, 'aggregate and breakdown differ');
	}
	const kernels = await ok(`${base}/kernels?limit=500`);
	assert.equal(kernels.total, analysis.kernels.length);
	await ok(`${base}/steps`);
	await ok(`${base}/minimap?n=200`);
	const counters = list.filter((x) => x.kind === 'counter').slice(0, 8);
	if (counters.length) await ok(`${base}/counters?px=200&tracks=${counters.map((x) => x.id).join(',')}`);
}

test('there is test data', (t) => {
	if (!root) t.skip('skipped, no test data');
	else assert.ok(files.length > 50, `${files.length} files`);
});

for (const file of some) {
	test(`${file.slice(root!.length + 1)} keeps to the contract`, async () => {
		const b = await uploadAndWait(s, file.split('/').pop()!, readFileSync(file), { capture: file.split('/').slice(-2)[0]! });
		if (b.state === 'failed') assert.ok(b.error?.code && b.error.message, 'refused without a reason');
		for (const t of b.traces) await look(t.id);
	});
}

test('the list holds what was read', async () => {
	if (!root) return;
	const all = await ok('/api/v1/traces?state=ready&limit=500');
	assert.ok(all.total > 10);
	for (const sort of ['started', 'duration', 'slices', 'gpu_busy', 'exposed_comm', 'losses', 'rank', 'name']) {
		let cursor = '', seen = 0, pages = 0;
		do {
			const page = await ok(`/api/v1/traces?state=ready&limit=7&sort=${sort}&cursor=${encodeURIComponent(cursor)}`);
			seen += page.items.length;
			cursor = page.next ?? '';
			assert.ok(++pages < 100);
		} while (cursor);
		assert.equal(seen, all.total, sort);
	}
});
