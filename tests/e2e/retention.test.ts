// SPDX-License-Identifier: Apache-2.0
// A retention pass that is killed or stopped on the way: the server answers meanwhile, ends at once, and what is left
// holds together.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { kinetoBytes } from '../lib/kineto.ts';
import { getJson, program, sleep, startServer, tempDir, upload, waitBundle, type TestServer } from '../lib/server.ts';

const BUNDLES = 120;

async function fill(s: TestServer): Promise<void> {
	const ids: string[] = [];
	for (let i = 0; i < BUNDLES; i++) {
		// few with a trace, since indexing takes its time
		const bytes = i % 10 ? new TextEncoder().encode(`{"broken": ${i}`) : kinetoBytes({ steps: 2, rank: i });
		ids.push((await upload(s, bytes, { name: `b${i}.json` })).body.id);
	}
	for (const id of ids) await waitBundle(s, id);
}

const put = (s: TestServer, body: object): Promise<Response> => fetch(`${s.url}/api/v1/retention`, { method: 'PUT', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } });
const pass = (s: TestServer): Promise<Response | undefined> => fetch(`${s.url}/api/v1/retention/run`, { method: 'POST' }).catch(() => undefined);

test('a pass that is killed or stopped on the way leaves a folder that holds together', async () => {
	const data = tempDir('fsc-retention-');
	let left = BUNDLES;
	let s = await startServer({ data });
	await fill(s);
	assert.equal((await getJson(s, '/storage')).bundles, BUNDLES);
	for (const [signal, ms] of [['SIGKILL', 15], ['SIGTERM', 15], ['SIGKILL', 40]] as const) {
		const keepBytes = Math.floor((await getJson(s, '/storage')).blob_bytes / 3);
		assert.equal((await put(s, { max_bytes: keepBytes })).status, 200);
		const running = pass(s);
		await sleep(ms);
		const from = Date.now();
		if (signal === 'SIGTERM') assert.equal((await s.stop(signal)).code, 0);
		else await s.stop(signal);
		assert.ok(Date.now() - from < 5000, 'it ends at once');
		await running;
		const v = spawnSync(program('fleetscope-server'), ['--data', data, 'verify'], { encoding: 'utf8' });
		assert.equal(v.status, 0, v.stdout + v.stderr);
		s = await startServer({ data });
		const now = (await getJson(s, '/storage')).bundles;
		assert.ok(now <= left);
		left = now;
	}
	assert.ok(left < BUNDLES, 'the passes took something');
	// what is left of the limit is taken in the end
	const r = (await (await pass(s))!.json()) as { complete: boolean };
	assert.ok(r.complete);
	const o = await getJson(s, '/storage');
	assert.ok(o.blob_bytes + o.segment_bytes <= o.policy.max_bytes, JSON.stringify(o));
	await s.stop();
	rmSync(data, { recursive: true });
});

test('the server answers while a pass runs', async () => {
	const s = await startServer();
	await fill(s);
	assert.equal((await put(s, { max_bytes: 1 })).status, 200);
	let over = false;
	const running = pass(s).then(async (r) => { over = true; return r!.json(); });
	let during = 0, longest = 0;
	for (let i = 0; i < 10000 && !over; i++, during++) {
		const from = Date.now();
		assert.equal((await fetch(`${s.url}/healthz`)).status, 200);
		longest = Math.max(longest, Date.now() - from);
	}
	assert.ok(((await running) as { complete: boolean }).complete && during > 0);
	assert.ok(longest < 1000, `${longest} ms`);
	assert.equal((await getJson(s, '/storage')).bundles, 0);
	await s.stop();
});
