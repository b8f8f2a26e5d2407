// SPDX-License-Identifier: Apache-2.0
// Limits of a project over HTTP: figures, dry run, a pass by bytes; and segments that the program cannot read.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { call } from '../lib/contract.ts';
import { kinetoBytes } from '../lib/kineto.ts';
import { makeUnreadable } from '../lib/segment.ts';
import { sleep, startServer, uploadAndWait, type TestServer } from '../lib/server.ts';

let s: TestServer;
before(async () => {
	s = await startServer();
	// The first round of the server's own comes soon after the start, the next a minute later: these tests run between.
	for (let i = 0; i < 100 && !/^fleetscope_retention_rounds_total [1-9]/m.test(await metrics()); i++) await sleep(100);
});
after(() => s.stop());

const metrics = async (): Promise<string> => new TextDecoder().decode((await call(s, 'GET', '/metrics')).bytes);
const bytesOf = (rank: number): Uint8Array => kinetoBytes({ steps: 2, kernels: 3, rank });
const add = async (rank: number, job?: string): Promise<{ bundle: string; trace: string; bytes: Uint8Array }> => {
	const bytes = bytesOf(rank);
	const b = await uploadAndWait(s, `rank${rank}.json`, bytes, job ? { job } : {});
	assert.equal(b.state, 'ready', JSON.stringify(b));
	return { bundle: b.id, trace: b.traces[0]!.id, bytes };
};
const storage = async () => {
	const r = await call(s, 'GET', '/api/v1/storage');
	assert.equal(r.status, 200);
	return r.json;
};
const blobPath = (bytes: Uint8Array): string => {
	const hex = createHash('sha256').update(bytes).digest('hex');
	return join(s.data, 'blob', hex.slice(0, 2), hex);
};
const segments = (): string[] => readdirSync(join(s.data, 'seg/v1')).map((n) => join(s.data, 'seg/v1', n));

test('an empty project has figures and no limits', async () => {
	const o = await storage();
	assert.deepEqual(o.policy, { max_age_days: 0, blob_age_days: 0, max_bytes: 0 });
	assert.equal(o.bundles + o.traces + o.blob_bytes + o.segment_bytes, 0);
	assert.deepEqual(o.by_job, []);
	assert.deepEqual(o.by_age.map((a: { days: string }) => a.days), ['0-1', '1-7', '7-30', '30-90', '90+']);
	assert.equal(o.last_run, null);
	assert.equal(o.held, null);
	assert.ok(o.disk.total_bytes >= o.disk.free_bytes && o.disk.free_bytes > 0 && o.disk.min_free_bytes > 0);
	assert.deepEqual(o.next, { bundles: 0, traces: 0, bytes: 0, blobs: 0, blob_bytes: 0 });
});

test('limits are set one by one, checked, and leave an audit row', async () => {
	const set = (body: unknown) => call(s, 'PUT', '/api/v1/retention', { body: body as object });
	assert.equal((await set({ max_age_days: 30 })).status, 200);
	const r = await set({ max_bytes: 10 ** 12 });
	assert.equal(r.json.max_age_days, 30);
	assert.equal(r.json.max_bytes, 10 ** 12);
	assert.ok(r.json.updated_at);
	assert.deepEqual((await storage()).policy, r.json);
	for (const body of [{ max_age_days: -1 }, { max_age_days: 36501 }, { max_bytes: '1' }, { max_bytes: 1.5 }, { days: 1 }, { max_bytes: null }]) assert.equal((await set(body)).status, 400, JSON.stringify(body));
	assert.deepEqual((await storage()).policy, r.json, 'what is refused changes nothing');
	assert.equal((await set({ max_age_days: 0, max_bytes: 0 })).status, 200);
});

test('limits set by two at the same time are both set', async () => {
	const set = (body: object) => call(s, 'PUT', '/api/v1/retention', { body });
	for (let i = 1; i <= 60; i++) {
		await Promise.all([set({ max_age_days: i }), set({ blob_age_days: i }), set({ max_bytes: i * 10 ** 12 })]);
		const { max_age_days, blob_age_days, max_bytes } = (await storage()).policy;
		assert.deepEqual([max_age_days, blob_age_days, max_bytes], [i, i, i * 10 ** 12]);
	}
	assert.equal((await set({ max_age_days: 0, blob_age_days: 0, max_bytes: 0 })).status, 200);
});

test('storage adds up, and a dry run says what a pass would take', async () => {
	const one = await add(0, 'train'), two = await add(1, 'train'), three = await add(2);
	const o = await storage();
	assert.equal(o.bundles, 3);
	assert.equal(o.traces, 3);
	assert.equal(o.blob_bytes, one.bytes.length + two.bytes.length + three.bytes.length);
	assert.equal(o.by_job.length, 2);
	assert.equal(o.by_job[0].job, 'train');
	const sum = (list: { bytes: number }[]): number => list.reduce((n, x) => n + x.bytes, 0);
	assert.equal(sum(o.by_job), o.blob_bytes + o.segment_bytes);
	assert.equal(sum(o.by_age), o.blob_bytes + o.segment_bytes);
	assert.equal(o.by_age[0].bundles, 3);

	const all = o.blob_bytes + o.segment_bytes;
	await call(s, 'PUT', '/api/v1/retention', { body: { max_bytes: all - 1 } });
	const dry = await call(s, 'POST', '/api/v1/retention/run?dry_run=1');
	assert.equal(dry.json.dry_run, true);
	assert.deepEqual(dry.json.items.map((i: { bundle: string; reason: string }) => [i.bundle, i.reason]), [[one.bundle, 'bytes']]);
	assert.equal((await storage()).next.bundles, 1);
	assert.equal((await storage()).bundles, 3, 'a dry run takes nothing');
	assert.ok(existsSync(blobPath(one.bytes)));

	const run = await call(s, 'POST', '/api/v1/retention/run');
	assert.equal(run.json.bundles, 1);
	assert.equal(run.json.traces, 1);
	assert.equal(run.json.complete, true);
	assert.equal(run.json.blob_bytes, one.bytes.length);
	assert.equal(run.json.items[0].bundle, one.bundle);
	assert.ok(!existsSync(blobPath(one.bytes)), 'its bytes are gone');
	assert.equal(segments().length, 2);
	const later = await storage();
	assert.equal(later.bundles, 2);
	assert.equal(later.last_run.bundles, 1);
	assert.equal(later.next.bundles, 0);
	for (const path of [`/api/v1/bundles/${one.bundle}`, `/api/v1/traces/${one.trace}`]) assert.ok((await call(s, 'GET', path)).status >= 404, path);
	assert.equal((await call(s, 'GET', `/api/v1/traces/${two.trace}`)).status, 200);
	const text = await metrics();
	assert.match(text, /^fleetscope_retention_bundles_total\{reason="bytes"\} 1$/m);
	assert.match(text, /^fleetscope_retention_bundles_total\{reason="age"\} 0$/m);
	assert.match(text, /^fleetscope_retention_held 0$/m);
	await call(s, 'PUT', '/api/v1/retention', { body: { max_bytes: 0 } });
});

test('a dry run tries limits that nobody has set, and a pass takes none from its body', async () => {
	const o = await storage();
	const attempt = (body: object, query = '?dry_run=1') => call(s, 'POST', `/api/v1/retention/run${query}`, { body });
	assert.equal((await attempt({ max_bytes: o.blob_bytes + o.segment_bytes })).json.bundles, 0);
	const some = (await attempt({ max_bytes: o.blob_bytes + o.segment_bytes - 1 })).json;
	assert.deepEqual([some.dry_run, some.bundles, some.items[0].reason], [true, 1, 'bytes']);
	assert.equal((await attempt({ max_bytes: 1 })).json.bundles, o.bundles);
	assert.equal((await call(s, 'POST', '/api/v1/retention/run?dry_run=1')).json.bundles, 0, 'without a body: the limits that are set');
	await call(s, 'PUT', '/api/v1/retention', { body: { max_bytes: 1 << 30 } });
	assert.equal((await attempt({ max_age_days: 1 })).json.bundles, 0);
	assert.equal((await attempt({ max_bytes: 1 })).json.bundles, o.bundles, 'instead of the limit that is set');
	for (const body of [{ max_age_days: -1 }, { max_age_days: 36501 }, { max_bytes: -1 }, { max_bytes: '1' }, { bytes: 1 }, []]) assert.equal((await attempt(body)).status, 400, JSON.stringify(body));
	assert.equal((await attempt({ max_bytes: 1 }, '')).status, 400, 'limits of a pass are those that are set');
	const after = await storage();
	assert.deepEqual([after.bundles, after.policy.max_bytes], [o.bundles, 1 << 30]);
	await call(s, 'PUT', '/api/v1/retention', { body: { max_bytes: 0 } });
});

test('a pass without limits takes nothing', async () => {
	const before = await storage();
	const run = await call(s, 'POST', '/api/v1/retention/run');
	assert.equal(run.json.bundles + run.json.blobs, 0);
	assert.equal((await storage()).bundles, before.bundles);
});

test('on loopback the clock can be confirmed', async () => {
	const r = await call(s, 'POST', '/api/v1/retention/confirm-clock');
	assert.equal(r.status, 200);
	assert.ok(Math.abs(Date.parse(r.json.now) - Date.now()) < 60000);
});

test('a trace whose segment is of another version is indexed again when somebody asks for it', async () => {
	const t = await add(7);
	assert.equal((await call(s, 'GET', `/api/v1/traces/${t.trace}`)).json.outdated, false);
	const mine = segments().sort().at(-1)!; // ids rise
	makeUnreadable(mine);
	const path = `/api/v1/traces/${t.trace}/tracks`;
	const first = await call(s, 'GET', path);
	assert.equal(first.status, 503);
	assert.equal(first.json.error.code, 'reindexing');
	assert.equal(first.json.error.detail.bundle, t.bundle);
	assert.ok(Number(first.headers.get('retry-after')) > 0);
	assert.equal((await call(s, 'GET', `/api/v1/traces/${t.trace}`)).status, 200, 'its facts are served meanwhile');
	let again = first;
	for (let i = 0; i < 200 && again.status === 503; i++) {
		await sleep(50);
		again = await call(s, 'GET', path);
	}
	assert.equal(again.status, 200);
	assert.ok(!existsSync(mine), 'the old segment is gone');
});

test('without its upload such a trace says that it cannot be made again', async () => {
	const t = await add(8);
	makeUnreadable(segments().sort().at(-1)!);
	rmSync(blobPath(t.bytes));
	const r = await call(s, 'GET', `/api/v1/traces/${t.trace}/tracks`);
	assert.equal(r.status, 409);
	assert.equal(r.json.error.code, 'not_rebuildable');
});

test('a failed bundle that is uploaded again is indexed again', async () => {
	const bytes = new TextEncoder().encode('{"traceEvents": [');
	const bad = await uploadAndWait(s, 'bad.json', bytes);
	assert.equal(bad.state, 'failed');
	const elapsed = async (): Promise<number> => (await call(s, 'GET', '/api/v1/traces?state=failed')).json.items[0].progress.elapsed_ms;
	const took = await elapsed();
	await sleep(20);
	assert.equal(await elapsed(), took, 'the list does not count on after the end');
	const r = await call(s, 'POST', '/api/v1/bundles?name=bad.json', { body: bytes });
	assert.equal(r.json.id, bad.id);
	assert.equal(r.json.duplicate, true);
	assert.equal(r.json.state, 'queued');
	const state = async (): Promise<string> => (await call(s, 'GET', `/api/v1/bundles/${bad.id}`)).json.state;
	for (let i = 0; i < 200 && (await state()) !== 'failed'; i++) await sleep(50);
	assert.equal(await state(), 'failed');
});
