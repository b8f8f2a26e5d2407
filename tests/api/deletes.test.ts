// SPDX-License-Identifier: Apache-2.0
// Deleting by bundle, trace, job and capture; what is kept; what a deleted thing answers, on every route; that it does
// not come back; that links to slices outlive indexing again.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { call } from '../lib/contract.ts';
import { kinetoBytes } from '../lib/kineto.ts';
import { program, source, startServer, uploadAndWait, waitBundle, type BundleState, type TestServer } from '../lib/server.ts';
import { tar } from '../lib/tar.ts';

let s: TestServer;
before(async () => { s = await startServer(); });
after(() => s.stop());

let serial = 0;
/** Bytes that nobody has sent yet. */
const fresh = (): Uint8Array => kinetoBytes({ steps: 2, baseNs: String(1700000000000000000n + BigInt(++serial) * 1000000000n) });
async function ready(params: Record<string, string> = {}, bytes = fresh()): Promise<BundleState> {
	const b = await uploadAndWait(s, `t${++serial}.json`, bytes, params);
	assert.equal(b.state, 'ready', JSON.stringify(b));
	return b;
}
const ranks = (n: number): Uint8Array => tar(Array.from({ length: n }, (_, i) => ({ name: `rank_${i}.json`, data: kinetoBytes({ steps: 2, rank: i, worldSize: n, baseNs: String(1700000000000000000n + BigInt(++serial) * 1000000000n) }) })));
const del = (body: object) => call(s, 'POST', '/api/v1/deletions', { body });
const total = async (query = ''): Promise<number> => (await call(s, 'GET', `/api/v1/traces?${query}`)).json.total;
const audits = (): string => spawnSync('sqlite3', [`file:${join(s.data, 'fleetscope.db')}?mode=ro`, 'SELECT action, subject, detail FROM audit ORDER BY id'], { encoding: 'utf8' }).stdout;
const files = (kind: string): number => readdirSync(join(s.data, kind), { recursive: true, withFileTypes: true }).filter((f) => f.isFile()).length;
async function reindex(b: BundleState): Promise<BundleState> {
	assert.equal((await call(s, 'POST', `/api/v1/bundles/${b.id}/reindex`, { body: {} })).status, 202);
	return waitBundle(s, b.id);
}

test('a dry run says what a delete would take and takes nothing', async () => {
	const b = await ready({ job: 'dry' }), c = await ready({ job: 'dry' });
	const before = [files('blob'), files('seg'), await total('job=dry')];
	const plan = (await del({ job: 'dry', dry_run: true })).json;
	assert.deepEqual([plan.dry_run, plan.bundles, plan.traces, plan.kept_skipped, plan.truncated], [true, 2, 2, 0, false]);
	assert.deepEqual(plan.items.map((i: { bundle: string }) => i.bundle), [b.id, c.id]);
	const one = (await call(s, 'DELETE', `/api/v1/bundles/${b.id}?dry_run=1`)).json;
	assert.deepEqual([one.dry_run, one.bundles, one.items[0].bytes], [true, 1, plan.items[0].bytes]);
	assert.equal((await call(s, 'DELETE', `/api/v1/traces/${b.traces[0]!.id}?dry_run=1`)).json.bundles, 1);
	assert.deepEqual([files('blob'), files('seg'), await total('job=dry')], before);

	const done = (await del({ job: 'dry' })).json;
	assert.deepEqual([done.bundles, done.traces, done.blob_bytes, done.segment_bytes], [plan.bundles, plan.traces, plan.blob_bytes, plan.segment_bytes]);
	assert.deepEqual([files('blob'), files('seg'), await total('job=dry')], [before[0]! - 2, before[1]! - 2, 0]);
	assert.equal((await del({ job: 'dry' })).json.traces, 0, 'deleting what is gone is no error');
	assert.equal((await del({ job: 'no such job', dry_run: true })).json.items.length, 0);
});

test('a capture takes its traces and leaves others, also of the same bundle', async () => {
	const mine = await ready({ capture: 'c1', job: 'x' }), other = await ready({ capture: 'c2', job: 'x' });
	assert.equal((await del({ capture: 'c1' })).json.bundles, 1);
	assert.equal((await call(s, 'GET', `/api/v1/bundles/${mine.id}`)).status, 410);
	assert.equal((await call(s, 'GET', `/api/v1/bundles/${other.id}`)).status, 200);
});

test('a request that names nothing, two things or an unknown member is refused', async () => {
	for (const body of [{}, { bundle: '1', job: 'x' }, { jobs: 'x' }, { job: 5 }, { bundle: 'x' }, { bundle: 7 }, { job: 'x', dry_run: 'yes' }, { job: 'x', kept: 'perhaps' }, { job: 'j'.repeat(300) }]) assert.equal((await del(body)).status, 400, JSON.stringify(body));
	assert.equal((await del({ bundle: '12345' })).status, 404);
	assert.equal((await del({ trace: '12345' })).json.error.code, 'no_such_trace');
	assert.equal((await call(s, 'DELETE', '/api/v1/bundles/xyz')).status, 404);
	assert.equal((await call(s, 'DELETE', '/api/v1/traces/1?dry_run=maybe')).status, 400);
	assert.equal((await call(s, 'DELETE', '/api/v1/traces/1?kept=no')).status, 400);
});

test('what is kept is passed over, refused when named, and deleted when asked twice', async () => {
	const a = await ready({ job: 'k' }), b = await ready({ job: 'k' }), t = `/api/v1/traces/${a.traces[0]!.id}`;
	assert.equal((await call(s, 'PATCH', t, { body: { keep: true } })).json.keep, true);
	assert.equal(await total('keep=1'), 1);
	for (const r of [await call(s, 'DELETE', t), await call(s, 'DELETE', `/api/v1/bundles/${a.id}`), await del({ bundle: a.id }), await del({ trace: a.traces[0]!.id })]) {
		assert.equal(r.status, 409);
		assert.equal(r.json.error.code, 'kept');
		assert.match(r.json.error.message, /kept=delete/);
	}
	const look = (await call(s, 'DELETE', `/api/v1/bundles/${a.id}?dry_run=1`)).json;
	assert.deepEqual([look.bundles, look.kept_skipped, look.items[0].keep], [0, 1, true]);
	const done = (await del({ job: 'k' })).json;
	assert.deepEqual([done.bundles, done.traces, done.kept_skipped, done.items.length], [1, 1, 1, 2]);
	assert.equal((await call(s, 'GET', t)).status, 200);
	assert.equal((await call(s, 'GET', `/api/v1/bundles/${b.id}`)).status, 410);
	assert.equal((await del({ job: 'k', kept: 'delete' })).json.bundles, 1);
	assert.equal((await call(s, 'GET', t)).status, 410);
});

test('every route below a deleted bundle or trace says when, why and by whom', async () => {
	const b = await ready({ job: 'gone' }), trace = b.traces[0]!.id;
	assert.equal((await call(s, 'DELETE', `/api/v1/bundles/${b.id}`)).status, 200);
	const table = readFileSync(join(source, 'server/api/routes.def'), 'utf8');
	const routes = [...table.matchAll(/FSC_ROUTE\((\w+), "(\/api\/v1\/(bundles|traces)\/\{id\}[^"]*)"/g)];
	assert.ok(routes.length >= 18, `only ${routes.length} routes found`);
	for (const [, method, path, kind] of routes) {
		const url = path!.replace('{id}', kind === 'traces' ? trace : b.id).replace('{slice}', '0').replace('{format}', 'perfetto');
		const r = await call(s, method!, url, method === 'POST' || method === 'PATCH' ? { body: {} } : {});
		assert.equal(r.status, 410, `${method} ${path}`);
		const e = r.json.error;
		assert.equal(e.code, 'deleted');
		assert.deepEqual([e.detail.kind, e.detail.reason, e.detail.actor], [kind!.slice(0, -1), 'user', 'loopback']);
		assert.equal(e.detail.id, kind === 'traces' ? trace : b.id);
		assert.ok(Math.abs(Date.parse(e.detail.deleted_at) - Date.now()) < 60000, e.detail.deleted_at);
		assert.ok(e.message.includes(e.detail.name) && e.message.includes('loopback'), e.message);
	}
});

test('another project learns nothing, neither of what is there nor of what was', async () => {
	const made = spawnSync(program('fleetscope-server'), ['token', 'create', '--data', s.data, '--name', 'o', '--scopes', 'read,upload,admin', '--project', 'other'], { encoding: 'utf8' });
	const token = /fst_[0-9a-f]{40}/.exec(made.stdout)?.[0];
	assert.ok(token, made.stdout + made.stderr);
	const there = await ready({ job: 'p' }), gone = await ready({ job: 'p' });
	assert.equal((await call(s, 'DELETE', `/api/v1/bundles/${gone.id}`)).status, 200);
	for (const b of [there, gone]) {
		for (const path of [`/api/v1/bundles/${b.id}`, `/api/v1/traces/${b.traces[0]!.id}`]) {
			assert.equal((await call(s, 'GET', path, { token })).status, 404, path);
			assert.equal((await call(s, 'DELETE', path, { token })).status, 404, path);
		}
		assert.equal((await call(s, 'PATCH', `/api/v1/traces/${b.traces[0]!.id}`, { token, body: { keep: true } })).status, 404);
		assert.equal((await call(s, 'POST', '/api/v1/deletions', { token, body: { bundle: b.id } })).status, 404);
	}
	assert.equal((await call(s, 'POST', '/api/v1/deletions', { token, body: { job: 'p' } })).json.traces, 0);
	assert.equal((await call(s, 'GET', `/api/v1/bundles/${there.id}`)).status, 200);
});

test('a single trace stays deleted when its bundle is indexed again', async () => {
	const b = await ready({}, ranks(3)), [first, second, third] = b.traces.map((t) => t.id);
	const segments = files('seg');
	const r = (await call(s, 'DELETE', `/api/v1/traces/${second}`)).json;
	assert.deepEqual([r.bundles, r.traces, r.blob_bytes, r.items[0].trace], [0, 1, 0, second]);
	assert.equal(files('seg'), segments - 1);
	for (let round = 0; round < 2; round++) {
		const again = await reindex(b) as BundleState & { deleted_traces: number; n_traces: number };
		assert.equal(again.state, 'ready');
		assert.deepEqual(again.traces.map((t) => t.id), [first, third], 'the others keep their ids');
		assert.deepEqual([again.deleted_traces, again.n_traces], [1, 2]);
		assert.equal(files('seg'), segments - 1, 'its new segment is not kept');
		assert.equal((await call(s, 'GET', `/api/v1/traces/${second}/tracks`)).status, 410);
	}
	/* the last one takes the bundle along */
	assert.equal((await call(s, 'DELETE', `/api/v1/traces/${first}`)).json.bundles, 0);
	assert.equal((await call(s, 'DELETE', `/api/v1/traces/${third}`)).json.bundles, 1);
	assert.equal((await call(s, 'GET', `/api/v1/bundles/${b.id}`)).status, 410);
	for (const t of [first, second, third]) assert.equal((await call(s, 'GET', `/api/v1/traces/${t}`)).status, 410);
});

test('the same bytes sent again are a new bundle', async () => {
	const bytes = fresh(), b = await ready({}, bytes);
	await call(s, 'DELETE', `/api/v1/bundles/${b.id}`);
	const again = await ready({}, bytes);
	assert.notEqual(again.id, b.id);
	assert.notEqual(again.traces[0]!.id, b.traces[0]!.id);
});

test('a delete that races uploads and indexing of the same bytes leaves rows and files in step', async () => {
	const bytes = fresh(), seen = new Set<string>();
	for (let i = 0; i < 30; i++) {
		const [up] = await Promise.all([
			call(s, 'POST', `/api/v1/bundles?name=race&job=race`, { body: bytes }),
			del({ job: 'race' }),
			...[...seen].slice(-1).map((id) => call(s, 'DELETE', `/api/v1/bundles/${id}`)),
			...[...seen].slice(-1).map((id) => call(s, 'POST', `/api/v1/bundles/${id}/reindex`, { body: {} })),
		]);
		assert.equal(up.status, 202, JSON.stringify(up.json));
		seen.add(up.json.id);
		const state = await call(s, 'GET', `/api/v1/bundles/${up.json.id}`);
		assert.ok(state.status === 200 || state.status === 410, String(state.status));
	}
	const up = await uploadAndWait(s, 'race', bytes, { job: 'race' });
	assert.equal(up.state, 'ready', 'a row whose blob went');
	assert.ok(seen.size > 1);
	const hex = (await call(s, 'GET', `/api/v1/bundles/${up.id}`)).json.sha256;
	const blob = join(s.data, 'blob', hex.slice(0, 2), hex);
	assert.ok(existsSync(blob));
	await call(s, 'DELETE', `/api/v1/bundles/${up.id}`);
	assert.ok(!existsSync(blob), 'a blob that nobody has stays');
});

test('deletes leave audit rows with counts, dry runs none', () => {
	const rows = audits();
	for (const want of [/^job\.delete\|dry\|bundles=2 traces=2 /m, /^capture\.delete\|c1\|bundles=1 /m, /^bundle\.delete\|\d+\|bundles=1 /m, /^trace\.delete\|\d+\|bundles=0 traces=1 /m, /^trace\.keep\|\d+\|/m]) assert.match(rows, want);
	assert.equal(rows.split('\n').filter((l) => l.startsWith('job.delete|dry|')).length, 1, rows);
});

test('a permalink to a slice outlives indexing again, also by another number of its track', async () => {
	const b = await ready({}, ranks(2)), t = `/api/v1/traces/${b.traces[1]!.id}`;
	const tracks = (await call(s, 'GET', `${t}/tracks`)).json.tracks as { id: number; slices: number }[];
	const gpu = (await call(s, 'GET', `${t}/search?q=gemm_1`)).json.hits[0];
	const link = (track: number): string => `${t}/slices/find?track=${track}&ts=${gpu.ts}&name=${encodeURIComponent(gpu.name)}`;
	const before = (await call(s, 'GET', link(gpu.track))).json;
	assert.deepEqual([before.ts, before.name, before.track], [gpu.ts, gpu.name, gpu.track]);
	const note = (await call(s, 'PATCH', t, { body: { notes_add: [{ t0: gpu.ts, t1: gpu.ts + 5, text: 'this one' }] } })).json.notes[0];
	await reindex(b);
	const after = await call(s, 'GET', link(gpu.track));
	assert.equal(after.status, 200);
	assert.deepEqual([after.json.ts, after.json.dur, after.json.name, after.json.track], [before.ts, before.dur, before.name, before.track]);
	assert.deepEqual((await call(s, 'GET', t)).json.notes, [note]);
	/* a link of a reader that numbered the tracks in another way, or had more of them */
	for (const other of [...tracks.map((x) => x.id).filter((id) => id !== gpu.track), 4000]) {
		const r = await call(s, 'GET', link(other));
		assert.equal(r.status, 200, `track ${other}`);
		assert.deepEqual([r.json.ts, r.json.name, r.json.track], [gpu.ts, gpu.name, gpu.track]);
	}
	assert.equal((await call(s, 'GET', `${t}/slices/find?track=0&ts=${gpu.ts + 1}&name=${encodeURIComponent(gpu.name)}`)).status, 404);
});
