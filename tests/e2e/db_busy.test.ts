// SPDX-License-Identifier: Apache-2.0
// Another process holds the write lock of the database. For a while writes wait; for long they are 503 with Retry-After;
// reads never notice; nothing that was acknowledged is lost and everything goes on afterwards. FSC_HOLD_S: how long (12).
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { kinetoBytes } from '../lib/kineto.ts';
import { getJson, sleep, startServer, upload, uploadAndWait, waitBundle, type TestServer } from '../lib/server.ts';

const HOLD_S = Number(process.env.FSC_HOLD_S ?? 12);
const WAIT_S = 5; // how long a write waits
let made = 0;
const unique = (): Uint8Array => kinetoBytes({ steps: 3, baseNs: `${1700000000000000000n + BigInt(made++)}` });

/** Takes the write lock as a program that knows nothing of this one would. */
async function hold(s: TestServer): Promise<() => Promise<void>> {
	const c = spawn('sqlite3', ['-bail', join(s.data, 'fleetscope.db')], { stdio: ['pipe', 'pipe', 'inherit'] });
	let out = '';
	c.stdout.on('data', (d: Buffer) => (out += d.toString()));
	const ended = new Promise<number | null>((done) => c.on('close', done));
	c.stdin.write('.timeout 5000\nBEGIN IMMEDIATE;\nSELECT \'held\';\n');
	for (let i = 0; i < 200 && !out.includes('held'); i++) await sleep(50);
	assert.ok(out.includes('held'), 'the lock was not had');
	return async () => {
		c.stdin.end('ROLLBACK;\n');
		assert.equal(await ended, 0);
	};
}

/** Reads all the time; gives the longest answer in ms. */
function reading(s: TestServer, trace: string): () => Promise<{ n: number; worst: number }> {
	let stopping = false;
	let worst = 0;
	let n = 0;
	const loop = (async () => {
		for (; !stopping && n < 5000; n++) {
			const start = Date.now();
			for (const path of ['/api/v1/traces', `/api/v1/traces/${trace}`, `/api/v1/traces/${trace}/analysis`, '/healthz']) assert.equal((await fetch(s.url + path)).status, 200, path);
			worst = Math.max(worst, Date.now() - start);
			await sleep(20);
		}
	})();
	return async () => { stopping = true; await loop; return { n, worst }; };
}

test('a lock of 3 s: uploads wait for it, reads do not', { timeout: 60000 }, async (t) => {
	const s = await startServer();
	const trace = (await uploadAndWait(s, 'first', unique())).traces[0]!.id;
	const stop = reading(s, trace);
	const release = await hold(s);
	const start = Date.now();
	const pending = upload(s, unique(), { name: 'waits' });
	await sleep(3000);
	await release();
	const u = await pending;
	const took = Date.now() - start;
	assert.equal(u.status, 202, JSON.stringify(u.body));
	assert.ok(took >= 2500, `it did not wait: ${took} ms`);
	assert.equal((await waitBundle(s, u.body.id)).state, 'ready');
	const reads = await stop();
	t.diagnostic(`upload ${took} ms; ${reads.n} rounds of reads, slowest ${reads.worst} ms`);
	assert.ok(reads.n > 5 && reads.worst < 2500, JSON.stringify(reads));
	await s.stop();
});

test(`a lock of ${HOLD_S} s: uploads are 503 with Retry-After, reads go on, and then all is well`, { timeout: 120000 + HOLD_S * 2000 }, async (t) => {
	const s = await startServer();
	const trace = (await uploadAndWait(s, 'first', unique())).traces[0]!.id;
	const queued = await upload(s, unique(), { name: 'acknowledged before' });
	assert.equal(queued.status, 202);
	const stop = reading(s, trace);
	const release = await hold(s);
	const until = Date.now() + HOLD_S * 1000;
	let refused = 0;
	for (let i = 0; i < 20 && Date.now() + WAIT_S * 1000 < until; i++) {
		const start = Date.now();
		const r = await fetch(`${s.url}/api/v1/bundles?name=busy`, { method: 'POST', body: unique() as BodyInit });
		const body = (await r.json()) as { error?: { code: string } };
		const took = Date.now() - start;
		assert.equal(r.status, 503, JSON.stringify(body));
		assert.equal(body.error!.code, 'store_busy');
		assert.ok(Number(r.headers.get('retry-after')) >= 1);
		assert.ok(took > (WAIT_S - 1) * 1000 && took < WAIT_S * 3000, `${took} ms`);
		refused++;
	}
	assert.ok(refused > 0);
	const ready = await fetch(`${s.url}/readyz`);
	assert.equal(ready.status, 200, 'it can be read, so it is ready');
	while (Date.now() < until) await sleep(100);
	await release();
	const reads = await stop();
	assert.ok(reads.n > 20 && reads.worst < 2500, JSON.stringify(reads));
	assert.equal((await waitBundle(s, queued.body.id)).state, 'ready');
	const after = await upload(s, unique(), { name: 'after' });
	assert.equal(after.status, 202);
	assert.equal((await waitBundle(s, after.body.id)).state, 'ready');
	assert.equal((await getJson(s, '/traces')).items.length, 3, 'what was refused is not there');
	t.diagnostic(`${refused} refused; ${reads.n} rounds of reads, slowest ${reads.worst} ms; readyz ${JSON.stringify(await ready.json())}`);
	assert.match(await (await fetch(`${s.url}/metrics`)).text(), /^fleetscope_store_busy_total [1-9]/m);
	assert.equal((await s.stop()).code, 0, s.log());
});
