// SPDX-License-Identifier: Apache-2.0
// The server is killed at random moments while it takes uploads and indexes, again and again on one data folder.
// What it acknowledged is there afterwards, byte for byte, and becomes ready. FSC_KILLS sets how often (20).
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { kinetoBytes } from '../lib/kineto.ts';
import { getJson, sleep, startServer, tempDir, upload, waitBundle, type TestServer } from '../lib/server.ts';
import { tar } from '../lib/tar.ts';

const KILLS = Number(process.env.FSC_KILLS ?? 20);
const UPLOADERS = 4;
const PER_ROUND = 6; // uploads of one uploader before it waits for the kill
const data = tempDir('fsc-kill-');
after(() => rmSync(data, { recursive: true, force: true }));

interface Ack { id: string; sha256: string }
interface Summary { id: string; state: string; sha256: string }

const hex = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const unique = (n: number): Uint8Array => kinetoBytes({ steps: 20 + (n % 7) * 10, rank: n, baseNs: `${1700000000000000000n + BigInt(n)}` });

function body(n: number): Uint8Array {
	if (n % 3) return unique(n);
	return tar([0, 1, 2].map((r) => ({ name: `rank_${r}.json`, data: unique(n * 10 + r) })));
}

let made = 0;
async function uploadUntilKilled(s: TestServer, acks: Ack[]): Promise<void> {
	for (let i = 0; i < PER_ROUND; i++) {
		const bytes = body(made++);
		try {
			const u = await upload(s, bytes, { name: `upload ${made}`, job: 'kill' });
			assert.equal(u.status, 202, JSON.stringify(u.body));
			assert.equal(u.body.sha256, hex(bytes));
			acks.push({ id: u.body.id, sha256: u.body.sha256 });
		} catch (e) {
			if (e instanceof assert.AssertionError) throw e;
			return; // the connection went away with the server: not acknowledged
		}
	}
}

async function allBundles(s: TestServer): Promise<Summary[]> {
	const all: Summary[] = [];
	let cursor = '';
	for (let i = 0; i < 1000; i++) {
		const page = await getJson<{ items: Summary[]; next?: string | null }>(s, `/bundles?limit=200${cursor && `&cursor=${cursor}`}`);
		all.push(...page.items);
		if (!page.next) return all;
		cursor = encodeURIComponent(page.next);
	}
	throw new Error('the list of bundles does not end');
}

async function waitIdle(s: TestServer): Promise<Summary[]> {
	for (let i = 0; i < 1200; i++) {
		const all = await allBundles(s);
		if (!all.some((b) => b.state === 'queued' || b.state === 'indexing')) return all;
		await sleep(100);
	}
	throw new Error('bundles are still waiting after two minutes');
}

test(`no acknowledged upload is lost over ${KILLS} kills, and all become ready`, { timeout: 60000 + KILLS * 15000 }, async (t) => {
	const acks: Ack[] = [];
	for (let round = 0; round < KILLS; round++) {
		const s = await startServer({ data });
		const uploads = Array.from({ length: UPLOADERS }, () => uploadUntilKilled(s, acks));
		await sleep(50 + Math.random() * 700);
		const end = await s.stop('SIGKILL');
		assert.equal(end.signal, 'SIGKILL', `the server ended by itself: ${s.log()}`);
		await Promise.all(uploads);
	}
	t.diagnostic(`${acks.length} acknowledged uploads`);
	assert.ok(acks.length > KILLS / 2, 'hardly anything was acknowledged: this tests nothing');
	const started = Date.now();
	const s = await startServer({ data });
	t.diagnostic(`ready again after ${Date.now() - started} ms`);
	const all = await waitIdle(s);
	const byId = new Map(all.map((b) => [b.id, b]));
	for (const a of acks) {
		assert.equal(byId.get(a.id)?.sha256, a.sha256, `bundle ${a.id} is lost`);
		assert.equal(hex(readFileSync(join(data, 'blob', a.sha256.slice(0, 2), a.sha256))), a.sha256);
	}
	for (const b of all) {
		assert.equal(b.state, 'ready', JSON.stringify(await getJson(s, `/bundles/${b.id}`)));
		const whole = await getJson<{ traces: { id: string }[]; failures: unknown[] }>(s, `/bundles/${b.id}`);
		assert.equal(whole.failures.length, 0);
		for (const trace of whole.traces) {
			await getJson(s, `/traces/${trace.id}/tracks`); // its segment is there and opens
		}
	}
	assert.deepEqual(readdirSync(join(data, 'tmp')), [], 'temporary files were left');
	assert.equal((await s.stop()).code, 0, s.log());
});

function children(pid: number): number[] {
	return readdirSync(`/proc/${pid}/task`).flatMap((tid) => {
		try {
			return readFileSync(`/proc/${pid}/task/${tid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
		} catch {
			return []; // the thread has ended
		}
	});
}

test('a killed indexer is tried again, then its bundle fails with the reason, and nothing else', { timeout: 120000 }, async (t) => {
	const s = await startServer({ args: ['--workers', '1'] });
	const big = kinetoBytes({ steps: 1200, kernels: 24 });
	const u = await upload(s, big, { name: 'big.json' });
	assert.equal(u.status, 202);
	let kills = 0;
	const killer = (async () => {
		const deadline = Date.now() + 60000;
		while (kills < 3 && Date.now() < deadline) {
			for (const pid of children(s.child.pid!)) {
				try {
					process.kill(pid, 'SIGKILL');
					kills++;
				} catch { /* it has just ended */ }
				await sleep(200);
			}
			await sleep(2);
		}
	})();
	const b = await waitBundle(s, u.body.id, 90000);
	await killer;
	t.diagnostic(`${kills} kills`);
	assert.equal(b.state, 'failed', JSON.stringify(b));
	assert.equal(b.error!.code, 'indexer_killed');
	assert.match(b.error!.message, /signal 9|SIGKILL/);
	assert.equal(kills, 3, 'three tries');
	assert.deepEqual(readdirSync(join(s.data, 'tmp')), []);
	assert.deepEqual(readdirSync(join(s.data, 'seg/v1')), []);
	const again = await fetch(`${s.url}/api/v1/bundles/${b.id}/reindex`, { method: 'POST' });
	assert.ok(again.ok, `reindex: ${again.status}`);
	assert.equal((await waitBundle(s, b.id)).state, 'ready');
	await s.stop();
});

test('stopping during indexing gives the bundle back, and the next start finishes it', { timeout: 120000 }, async () => {
	const dir = tempDir('fsc-stop-');
	const first = await startServer({ data: dir });
	const u = await upload(first, kinetoBytes({ steps: 1200, kernels: 24 }), { name: 'big.json' });
	for (let i = 0; i < 2000 && children(first.child.pid!).length === 0; i++) await sleep(2);
	const started = Date.now();
	const end = await first.stop();
	assert.equal(end.code, 0, first.log());
	assert.ok(Date.now() - started < 15000, 'stopping took long');
	const second = await startServer({ data: dir });
	const b = await waitBundle(second, u.body.id);
	assert.equal(b.state, 'ready', JSON.stringify(b));
	await second.stop();
	rmSync(dir, { recursive: true, force: true });
});

test('two servers cannot have one data folder', async () => {
	const dir = tempDir('fsc-two-');
	const s = await startServer({ data: dir });
	await assert.rejects(startServer({ data: dir }), /another server/);
	await s.stop();
	rmSync(dir, { recursive: true, force: true });
});
