// SPDX-License-Identifier: Apache-2.0
// A backup taken while the server takes uploads, deletes and indexes again; a server on what is restored from it answers
// the same. What is broken afterwards is named, and what is killed on the way never looks finished.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, openSync, readFileSync, readdirSync, rmSync, unlinkSync, writeSync, closeSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { kinetoBytes } from '../lib/kineto.ts';
import { getJson, program, sleep, source, startServer, tempDir, upload, uploadAndWait, type TestServer } from '../lib/server.ts';
import { tar } from '../lib/tar.ts';

const dir = tempDir('fsc-backup-');
after(() => rmSync(dir, { recursive: true, force: true }));
const data = join(dir, 'data');
const out = join(dir, 'backup');

interface Ran { status: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string; ms: number }
/** Runs a verb beside whatever else goes on; killMs ends it with SIGKILL. */
function run(args: string[], killMs?: number): Promise<Ran> {
	const start = Date.now();
	const c = spawn(program('fleetscope-server'), args);
	let stdout = '';
	let stderr = '';
	c.stdout.on('data', (d: Buffer) => (stdout += d.toString()));
	c.stderr.on('data', (d: Buffer) => (stderr += d.toString()));
	const timer = killMs === undefined ? undefined : setTimeout(() => c.kill('SIGKILL'), killMs);
	return new Promise((done) => c.on('close', (status, signal) => {
		clearTimeout(timer);
		done({ status, signal, stdout, stderr, ms: Date.now() - start });
	}));
}
async function good(args: string[]): Promise<Ran> {
	const r = await run(args);
	assert.equal(r.status, 0, `${args.join(' ')}: ${r.stdout}${r.stderr}`);
	return r;
}
function* filesOf(root: string): Generator<string> {
	for (const name of readdirSync(root)) {
		const path = join(root, name);
		if (lstatSync(path).isDirectory()) yield* filesOf(path);
		else yield path;
	}
}

let made = 0;
const unique = (): Uint8Array => kinetoBytes({ steps: 5 + (made % 4) * 20, rank: made % 8, baseNs: `${1700000000000000000n + BigInt(made++)}` });

/** Uploads, deletes and indexes again until stopped; never touches what is in `kept` but by indexing it again. */
function load(s: TestServer, kept: string[]): { stop: () => Promise<{ uploaded: number; deleted: number; again: number }> } {
	const ids: string[] = [];
	const n = { uploaded: 0, deleted: 0, again: 0 };
	let stopping = false;
	const loop = async (work: () => Promise<void>) => {
		for (let i = 0; i < 2000 && !stopping; i++) await work();
	};
	const loops = [
		loop(async () => {
			const u = await upload(s, unique(), { name: `load ${made}.json`, job: 'load' });
			assert.equal(u.status, 202, JSON.stringify(u.body));
			ids.push(u.body.id);
			n.uploaded++;
		}),
		loop(async () => {
			const id = ids.length > 3 ? ids.shift() : undefined;
			if (!id) return sleep(5);
			const r = await fetch(`${s.url}/api/v1/bundles/${id}`, { method: 'DELETE' });
			assert.ok(r.ok, `DELETE: ${r.status}`);
			n.deleted++;
		}),
		loop(async () => {
			const r = await fetch(`${s.url}/api/v1/bundles/${kept[n.again % kept.length]}/reindex`, { method: 'POST' });
			assert.ok(r.ok || r.status === 409 || r.status === 503, `reindex: ${r.status}`);
			n.again++;
			await sleep(30);
		}),
	];
	return { stop: async () => { stopping = true; await Promise.all(loops); return n; } };
}

interface Summary { id: string; state: string }
async function allBundles(s: TestServer): Promise<Summary[]> {
	for (let i = 0; i < 1200; i++) {
		const all: Summary[] = [];
		let cursor = '';
		do {
			const page = await getJson<{ items: Summary[]; next?: string | null }>(s, `/bundles?limit=200${cursor}`);
			all.push(...page.items);
			cursor = page.next ? `&cursor=${encodeURIComponent(page.next)}` : '';
		} while (cursor);
		if (!all.some((b) => b.state === 'queued' || b.state === 'indexing')) return all;
		await sleep(100);
	}
	throw new Error('bundles are still waiting after two minutes');
}

// ---- every GET of the contract that is about one bundle or trace ----
interface Param { $ref?: string; in: string; name: string; required?: boolean; schema?: { enum?: string[] } }
const contract = JSON.parse(readFileSync(join(source, 'server/api/openapi.json'), 'utf8'));
const resolve = (p: Param): Param => (p.$ref ? p.$ref.split('/').slice(1).reduce((o: any, k) => o[k], contract) : p);
function gets(kind: 'bundles' | 'traces'): { path: string; params: Param[] }[] {
	// The Perfetto page is of the program, not of the data.
	return Object.entries<any>(contract.paths).filter(([path, item]) => item.get && !path.endsWith('/perfetto') && new RegExp(`^(/api/v1)?/${kind}/\\{`).test(path))
		.map(([path, item]) => ({ path: path.replace('/api/v1', ''), params: [...(item.parameters ?? []), ...(item.get.parameters ?? [])].map(resolve) }));
}

/** What a route needs to be asked: required parameters by name. */
async function values(s: TestServer, trace: string): Promise<Record<string, string>> {
	const tracks = (await getJson(s, `/traces/${trace}/tracks`)).tracks as { id: string | number; name: string }[];
	const hit = (await getJson(s, `/traces/${trace}/search?q=mm&limit=1`)).hits[0];
	return { tracks: tracks.map((t) => t.id).slice(0, 8).join(','), track: String(hit.track), ts: String(hit.ts), name: 'aten::mm', q: 'mm', slice: String(hit.id) };
}
async function urls(s: TestServer, kind: 'bundles' | 'traces', id: string): Promise<string[]> {
	const v = kind === 'traces' ? await values(s, id) : {};
	return gets(kind).flatMap(({ path, params }) => {
		const query = params.filter((p) => p.in === 'query' && p.required).map((p) => {
			assert.ok(v[p.name], `${path}: this test knows no value for ${p.name}`);
			return `${p.name}=${encodeURIComponent(v[p.name]!)}`;
		}).join('&');
		const formats = params.find((p) => p.name === 'format')?.schema?.enum ?? ['perfetto', 'chrome', 'csv'];
		return (path.includes('{format}') ? formats : ['']).map((format) => {
			const url = path.replace('{id}', id).replace('{slice}', v.slice ?? '').replace('{format}', format);
			assert.ok(!url.includes('{'), `${path}: this test knows no value for one of its parts`);
			return query ? `${url}?${query}` : url;
		});
	});
}

// Times of indexing differ when it was done again meanwhile.
const volatile = new Set(['indexed_at', 'started_at', 'finished_at', 'tries', 'updated_at', 'progress']);
async function answer(s: TestServer, path: string): Promise<string> {
	const r = await fetch(`${s.url}/api/v1${path}`);
	const bytes = Buffer.from(await r.arrayBuffer());
	assert.equal(r.status, 200, `${path}: ${bytes.toString().slice(0, 300)}`);
	if (!r.headers.get('content-type')?.startsWith('application/json')) return createHash('sha256').update(bytes).digest('hex');
	return JSON.stringify(JSON.parse(bytes.toString().replaceAll(s.url, 'URL')), (k, v) => (volatile.has(k) ? undefined : v));
}

test('a backup under load, restored, answers the same on every route', { timeout: 300000 }, async (t) => {
	const a = await startServer({ data });
	const kept: string[] = [];
	for (let i = 0; i < 4; i++) kept.push((await uploadAndWait(a, `kept ${i}.json`, unique(), { job: 'kept' })).id);
	kept.push((await uploadAndWait(a, 'ranks.tar', tar([0, 1, 2].map((r) => ({ name: `rank_${r}.json`, data: kinetoBytes({ rank: r, worldSize: 3 }) })))) ).id);
	const work = load(a, kept);
	await sleep(400);
	const first = await good(['--data', data, 'backup', out]);
	t.diagnostic(first.stdout.trim());
	await sleep(400);
	const beside = await good(['--data', data, 'verify']);
	assert.match(beside.stdout, /^faults: 0$/m);
	const second = await good(['--data', data, 'backup', out]);
	t.diagnostic(second.stdout.trim());
	const done = await work.stop();
	t.diagnostic(JSON.stringify(done));
	assert.ok(done.uploaded > 10 && done.deleted > 5 && done.again > 5, 'there was no load: this tests nothing');

	await good(['--data', join(dir, 'two'), 'restore', out]);
	const check = await good(['--data', join(dir, 'two'), 'verify']);
	assert.match(check.stdout, /^faults: 0$/m);
	assert.match(check.stdout, /^files without a row: 0 /m);
	for (const root of [out, join(dir, 'two')]) for (const path of filesOf(root)) assert.equal(lstatSync(path).mode & 0o77, 0, path);

	const b = await startServer({ data: join(dir, 'two') });
	const inA = new Map((await allBundles(a)).map((x) => [x.id, x]));
	const inB = await allBundles(b);
	for (const id of kept) assert.ok(inB.some((x) => x.id === id), `${id} is missing`);
	let compared = 0;
	for (const { id, state } of inB) {
		assert.equal(state, 'ready');
		const traces = (await getJson(b, `/bundles/${id}`)).traces as { id: string }[];
		assert.ok(traces.length > 0);
		for (const trace of traces) {
			const same = inA.has(id) && (await fetch(`${a.url}/api/v1/traces/${trace.id}`)).ok;
			for (const path of await urls(b, 'traces', trace.id)) {
				const got = await answer(b, path);
				if (!same) continue; // deleted since, or indexed for the first time on both sides
				assert.equal(got, await answer(a, path), path);
				compared++;
			}
		}
		if (kept.includes(id)) for (const path of await urls(b, 'bundles', id)) assert.equal(await answer(b, path), await answer(a, path), path);
	}
	t.diagnostic(`${inB.length} bundles restored, ${compared} answers compared`);
	assert.ok(compared >= 7 * gets('traces').length);
	await b.stop();
	await a.stop();
});

test('verify names a changed blob, a changed segment and a file that is missing', { timeout: 120000 }, async () => {
	const place = join(dir, 'three');
	await good(['--data', place, 'restore', out]);
	const flip = (path: string, at: number): void => {
		const fd = openSync(path, 'r+');
		writeSync(fd, Buffer.from([readFileSync(path)[at]! ^ 0x40]), 0, 1, at);
		closeSync(fd);
	};
	const blobs = [...filesOf(join(place, 'blob'))];
	const segments = [...filesOf(join(place, 'seg'))];
	flip(blobs[0]!, 100);
	flip(segments[0]!, Math.floor(lstatSync(segments[0]!).size / 2));
	unlinkSync(blobs[1]!);
	unlinkSync(segments[1]!);
	const r = await run(['--data', place, 'verify']);
	assert.equal(r.status, 1);
	const name = (path: string): string => path.split('/').at(-1)!.replace('.seg', '');
	for (const [kind, path] of [['blob', blobs[0]!], ['blob', blobs[1]!], ['segment', segments[0]!], ['segment', segments[1]!]]) assert.match(r.stdout, new RegExp(`^fault: ${kind} ${name(path!)}\\b`, 'm'));
	assert.match(r.stdout, /^faults: 4$/m);
	assert.match((await run(['--data', join(dir, 'nowhere'), 'verify'])).stderr, /nowhere/);
	assert.ok(!existsSync(join(dir, 'nowhere')));
});

test('a backup that is killed does not look finished, and goes on where it was', { timeout: 300000 }, async (t) => {
	const place = join(dir, 'cut');
	const whole = await good(['--data', data, 'backup', place]);
	let cut = 0;
	for (let i = 0; i < 10 || (!cut && i < 60); i++) {
		if (i % 2) rmSync(place, { recursive: true, force: true });
		const r = await run(['--data', data, 'backup', place], 1 + Math.random() * whole.ms);
		if (!existsSync(place) || r.status === 0) continue;
		const finished = existsSync(join(place, 'backup.json')) && !existsSync(join(place, 'backup.part'));
		cut += finished ? 0 : 1;
		const back = join(dir, `back ${i}`);
		const restored = await run(['--data', back, 'restore', place]);
		if (existsSync(join(place, 'backup.json'))) {
			assert.equal(restored.status, 0, restored.stderr);
			await good(['--data', back, 'verify']);
		} else {
			assert.equal(restored.status, 1);
			assert.ok(!existsSync(back), 'nothing is made of what is no backup');
		}
		rmSync(back, { recursive: true, force: true });
	}
	t.diagnostic(`${cut} were cut off before the end`);
	assert.ok(cut > 0, 'no kill came in time: this tests nothing');
	await good(['--data', data, 'backup', place]);
	assert.match((await good(['--data', place, 'verify'])).stdout, /^faults: 0$/m);
	assert.deepEqual(readdirSync(join(place, 'tmp')), []);
});

test('a restore that is killed does not look finished, and goes on where it was', { timeout: 300000 }, async (t) => {
	const place = join(dir, 'cut back');
	const whole = await good(['--data', place, 'restore', out]);
	let cut = 0;
	for (let i = 0; i < 8 || (!cut && i < 60); i++) {
		rmSync(place, { recursive: true, force: true });
		await run(['--data', place, 'restore', out], 1 + Math.random() * whole.ms);
		if (existsSync(join(place, 'restore.part'))) {
			cut++;
			const refused = spawnSync(program('fleetscope-server'), ['--data', place, '--listen', '127.0.0.1:0'], { encoding: 'utf8', timeout: 20000 });
			assert.equal(refused.status, 1);
			assert.match(refused.stderr, /restore_unfinished/);
			assert.equal((await run(['--data', place, 'verify'])).status, 1);
		}
		if (!existsSync(join(place, 'fleetscope.db')) || existsSync(join(place, 'restore.part'))) await good(['--data', place, 'restore', out]);
		assert.match((await good(['--data', place, 'verify'])).stdout, /^faults: 0$/m);
		assert.ok(!existsSync(join(place, 'restore.part')));
	}
	t.diagnostic(`${cut} were cut off before the end`);
	assert.ok(cut > 0, 'no kill came in time: this tests nothing');
	const s = await startServer({ data: place });
	assert.ok((await getJson(s, '/traces')).items.length > 0);
	await s.stop();
});

test('hard links share the bytes, and a folder with something else is refused', { timeout: 120000 }, async () => {
	const place = join(dir, 'linked');
	await good(['--data', data, '--hard-link', 'backup', place]);
	for (const path of filesOf(join(place, 'blob'))) assert.equal(lstatSync(path).nlink, 2, path);
	assert.match((await good(['--data', place, 'verify'])).stdout, /^faults: 0$/m);
	for (const args of [['--data', join(dir, 'two'), 'restore', out], ['--data', data, 'backup', join(dir, 'two')], ['--data', data, 'backup', join(data, 'inside')]]) {
		const r = await run(args);
		assert.equal(r.status, 1, args.join(' '));
		assert.match(r.stderr, /not_empty|backup_inside/);
	}
});

test('backup and verify end at once when they are told to', { timeout: 60000 }, async () => {
	const at = join(dir, 'stopped'), s = await startServer({ data: at });
	const { sha256 } = await uploadAndWait(s, 'a.json', unique());
	await s.stop();
	// A pipe in place of the bytes: whoever opens it waits for ever.
	const path = join(at, 'blob', sha256.slice(0, 2), sha256);
	unlinkSync(path);
	assert.equal(spawnSync('mkfifo', [path]).status, 0);
	for (const verb of [['backup', join(dir, 'never')], ['verify']])
		for (const signal of ['SIGINT', 'SIGTERM'] as const) {
			const c = spawn(program('fleetscope-server'), ['--data', at, ...verb], { stdio: 'ignore' });
			const ended = new Promise<NodeJS.Signals | number | null>((done) => c.on('close', (code, by) => done(by ?? code)));
			await sleep(1000);
			assert.equal(c.exitCode, null, `${verb[0]} did not wait: this tests nothing`);
			c.kill(signal);
			const late = setTimeout(() => c.kill('SIGKILL'), 5000);
			assert.equal(await ended, signal, verb[0]);
			clearTimeout(late);
		}
});
