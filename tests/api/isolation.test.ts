// SPDX-License-Identifier: Apache-2.0
// Two projects with alike data: nothing of one is seen or touched with a token of the other, by any route. The routes are read
// from server/api/routes.def, so a new one without a case fails here.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { call, type Answer, type CallOptions } from '../lib/contract.ts';
import { kinetoBytes } from '../lib/kineto.ts';
import { program, sleep, source, startServer, type TestServer } from '../lib/server.ts';

interface Route { method: string; path: string; scope: string; key: string }
const table = readFileSync(join(source, 'server/api/routes.def'), 'utf8').replace(/\/\*[\s\S]*?\*\//g, '');
const routes: Route[] = [...table.matchAll(/FSC_ROUTE\(\s*(\w+)\s*,\s*"([^"]+)"\s*,\s*\w+\s*,\s*(\w+)\s*,/g)]
	.map((m) => ({ method: m[1]!, path: m[2]!, scope: m[3]!.toLowerCase(), key: `${m[1]} ${m[2]}` }));

/** Routes that ask for no permission, and why that is right. Anything else must have one. */
const open: Record<string, string> = {
	'GET /healthz': 'says "ok"',
	'GET /readyz': 'says "ready", or that the store does not work',
	'GET /api/v1/openapi.json': 'the same for every installation of the version',
	'GET /api/v1/server': 'what the login page needs: version, limits, where a viewer is',
	'GET /api/v1/whoami': 'says who the caller is, to the caller',
	'POST /api/v1/login': 'is how one gets in',
	'POST /api/v1/logout': 'takes the own cookie away',
};

const ui = mkdtempSync(join(tmpdir(), 'fsc-iso-'));
let s: TestServer;

/** One project, filled. Each name of `b` has "hushed" in it, so that a leak shows in the text of an answer. */
interface Side {
	token: string; project: string; bundle: string; failed: string; gone: string; goneTrace: string; trace: string;
	upload: string; tokenId: string; note: string; files: Uint8Array[]; key: string; broken: string;
}
let a: Side, b: Side;

const sha = (x: Uint8Array): Buffer => createHash('sha256').update(x).digest();
const digest = (x: Uint8Array): string => `sha-256=:${sha(x).toString('base64')}:`;
const PIECE = { 'content-type': 'application/partial-upload' };

function newToken(project: string, scopes: string): string {
	const r = spawnSync(program('fleetscope-server'), ['--data', s.data, 'token', 'create', '--name', `${project}-token`, '--scopes', scopes, '--project', project], { encoding: 'utf8' });
	assert.equal(r.status, 0, r.stderr);
	return r.stdout.trim();
}

async function ready(token: string, id: string, want = 'ready'): Promise<{ traces: { id: string }[] }> {
	for (let i = 0; i < 1200; i++) {
		const r = await call(s, 'GET', `/api/v1/bundles/${id}`, { token });
		if (r.json.state === want) return r.json;
		assert.ok(!['ready', 'failed'].includes(r.json.state), JSON.stringify(r.json));
		await sleep(50);
	}
	throw new Error(`bundle ${id} is not ${want} in time`);
}

async function fill(project: string, word: string, kernels: number): Promise<Side> {
	const token = newToken(project, 'read,upload,capture,admin');
	const put = async (name: string, body: Uint8Array, headers: Record<string, string> = {}): Promise<string> => {
		const r = await call(s, 'POST', `/api/v1/bundles?name=${word}-${name}&job=${word}-job&host=${word}-host&capture=${word}-capture`, { token, body, headers });
		assert.equal(r.status, 202, JSON.stringify(r.json));
		return r.json.id;
	};
	const files = [2, 3, 4, 5].map((steps) => kinetoBytes({ steps, kernels, host: `${word}-node` }));
	const bundle = await put('one.json', files[0]!, { 'idempotency-key': `${word}-key` });
	const second = await put('two.json', files[1]!, { 'idempotency-key': `${word}-key-2` });
	const gone = await put('gone.json', files[2]!);
	const broken = new TextEncoder().encode(`{"traceEvents": [ ${word}`);
	const failed = await put('broken.json', broken);
	const trace = (await ready(token, bundle)).traces[0]!.id;
	const goneTrace = (await ready(token, gone)).traces[0]!.id;
	await ready(token, second);
	await ready(token, failed, 'failed');
	assert.equal((await call(s, 'DELETE', `/api/v1/bundles/${gone}`, { token })).status, 200);
	const noted = await call(s, 'PATCH', `/api/v1/traces/${trace}`, { token, body: { notes_add: [{ t0: 1, t1: 2, text: `${word} note` }] } });
	assert.equal(noted.status, 200);
	const begun = await call(s, 'POST', `/api/v1/uploads?name=${word}-piece.json`, { token, body: files[3]!.slice(0, 100), headers: { 'upload-complete': '?0', 'idempotency-key': `${word}-key-3` } });
	assert.equal(begun.status, 201);
	const made = await call(s, 'POST', '/api/v1/tokens', { token, body: { name: `${word}-ci`, scopes: ['read'] } });
	return { token, project, bundle, failed, gone, goneTrace, trace, files, broken: sha(broken).toString('hex'), key: `${word}-key`, upload: begun.headers.get('location')!.split('/').pop()!, tokenId: made.json.id, note: noted.json.notes[0].id };
}

before(async () => {
	writeFileSync(join(ui, 'index.html'), '<!doctype html>');
	s = await startServer({ args: ['--require-tokens', '--rate-limit', '0', '--perfetto-ui', ui] });
	[a, b] = [await fill('alpha', 'plain', 3), await fill('beta', 'hushed', 6)];
});
after(async () => {
	await s.stop();
	rmSync(ui, { recursive: true });
});

// ---- calls

/** What must never be in an answer to a: names of b, and its ids unless the request named them. */
function clean(r: Answer, asked: string): Answer {
	const text = Buffer.from(r.bytes).toString('latin1') + JSON.stringify([...r.headers]);
	for (const word of ['hushed', 'beta', b.broken, ...[b.bundle, b.failed, b.gone, b.trace, b.goneTrace, b.upload, b.tokenId, b.note].filter((id) => !asked.includes(id))]) {
		assert.ok(!text.includes(word), `${asked}: ${word} of the other project is in the answer: ${text.slice(0, 400)}`);
	}
	return r;
}
const asA = async (method: string, path: string, o: CallOptions = {}): Promise<Answer> =>
	clean(await call(s, method, path, { ...o, token: a.token }), `${method} ${path} ${typeof o.body === 'object' && !(o.body instanceof Uint8Array) ? JSON.stringify(o.body) : ''}`);
const asB = (method: string, path: string, o: CallOptions = {}): Promise<Answer> => call(s, method, path, { ...o, token: b.token });

/** a gets 404 for what b has, as for what nobody has, also when it knows b's version of the answer. */
async function hidden(method: string, path: string, o: CallOptions = {}): Promise<void> {
	const r = await asA(method, path, o);
	assert.equal(r.status, 404, `${method} ${path}: ${JSON.stringify(r.json)}`);
	const nothing = await asA(method, path.replace(/\d{10,}/, '1234567890123'), o);
	assert.deepEqual([nothing.status, nothing.json?.error?.code, nothing.json?.error?.message], [r.status, r.json?.error?.code, r.json?.error?.message], 'told apart from what does not exist');
}

/** b sees it, so that 404 for a says something. */
async function onlyB(path: string, want = 200): Promise<void> {
	const r = await asB('GET', path);
	assert.equal(r.status, want, `${path}: ${JSON.stringify(r.json)}`);
	const etag = r.headers.get('etag');
	await hidden('GET', path);
	if (etag) await hidden('GET', path, { headers: { 'if-none-match': etag } });
	await hidden('GET', path, { headers: { 'if-none-match': '*' } });
}
const ofTrace = (rest: string, want = 200) => async (): Promise<void> => onlyB(`/api/v1/traces/${b.trace}${rest}`, want);

/** Id of a track of b's trace. */
async function trackOfB(kind: string): Promise<string> {
	const found = (await asB('GET', `/api/v1/traces/${b.trace}/tracks`)).json.tracks.find((x: { kind: string }) => x.kind === kind);
	assert.ok(found, kind);
	return String(found.id);
}

/** All pages of a list of a; also with each cursor of b's pages, which gives rows of a or is refused. */
async function pages(path: string, ids: (j: any) => string[]): Promise<void> {
	const glue = path.includes('?') ? '&' : '?';
	const seen = new Set<string>();
	const theirs = (await asB('GET', `${path}${glue}limit=1`)).json;
	assert.ok(theirs.next, `b has more than one page of ${path}`);
	for (const r of [await asA('GET', `${path}${glue}limit=100`), await asA('GET', `${path}${glue}limit=100&cursor=${theirs.next}`)]) {
		assert.ok(r.status === 200 || r.status === 400, `${r.status}`);
		if (r.status === 200) for (const id of ids(r.json)) seen.add(id);
	}
	const total = (await asA('GET', `${path}${glue}limit=100`)).json;
	assert.equal(ids(total).length, total.total);
	assert.equal(seen.size, total.total, 'a cursor of b adds nothing');
}
const rowIds = (j: any): string[] => j.items.map((x: any) => x.id ?? x.bundle);

// ---- one case for each route with a permission

const cases: Record<string, () => Promise<void>> = {
	'GET /metrics': async () => {
		for (const side of [a, b]) assert.equal((await call(s, 'GET', '/metrics', { token: side.token })).json.error.code, 'operator_only', 'sums over all projects are for operators and project default');
	},
	'GET /api/v1/projects': async () => assert.deepEqual((await asA('GET', '/api/v1/projects')).json.items.map((p: { name: string }) => p.name), ['alpha']),
	'POST /api/v1/projects': async () => {
		for (const name of ['beta', 'alpha', 'gamma']) assert.equal((await call(s, 'POST', '/api/v1/projects', { token: a.token, body: { name } })).json.error.code, 'operator_only', 'also not whether there is one');
	},
	'GET /api/v1/audit': () => pages('/api/v1/audit', rowIds),
	'GET /api/v1/tokens': async () => {
		const r = await asA('GET', '/api/v1/tokens?revoked=1');
		assert.ok(r.json.items.length >= 2 && r.json.items.every((t: { name: string }) => t.name.startsWith('plain') || t.name.startsWith('alpha')), JSON.stringify(r.json));
	},
	'POST /api/v1/tokens': async () => {
		const t = (await asA('POST', '/api/v1/tokens', { body: { name: 'more', scopes: ['admin'] } })).json;
		assert.equal((await call(s, 'GET', '/api/v1/whoami', { token: t.secret })).json.project, 'alpha');
		for (const more of [{ project: 'beta' }, { project_id: '1' }]) {
			const r = await call(s, 'POST', '/api/v1/tokens', { token: a.token, body: { name: 'more', scopes: ['admin'], ...more } });
			if (r.status === 201) assert.equal((await call(s, 'GET', '/api/v1/whoami', { token: r.json.secret })).json.project, 'alpha', 'a body cannot name the project');
		}
	},
	'DELETE /api/v1/tokens/{id}': () => hidden('DELETE', `/api/v1/tokens/${b.tokenId}`),

	'POST /api/v1/bundles': async () => {
		const theirs = b.files[0]!;
		const r = await asA('POST', '/api/v1/bundles?name=x', { body: theirs.slice(), headers: { 'idempotency-key': b.key } });
		assert.deepEqual([r.status, r.json.duplicate, r.json.state], [202, false, 'queued'], 'that b has these bytes, or used this key, is not told');
		assert.notEqual(r.json.id, b.bundle);
		await ready(a.token, r.json.id);
		// what a delete frees is the same as for bytes that only a has
		const del = (await asA('DELETE', `/api/v1/bundles/${r.json.id}`)).json;
		assert.equal(del.blob_bytes, theirs.length);
	},
	'POST /api/v1/uploads': async () => {
		const theirs = b.files[1]!;
		const r = await asA('POST', '/api/v1/uploads?name=x', { headers: { 'upload-complete': '?0', 'upload-length': String(theirs.length), 'repr-digest': digest(theirs), 'idempotency-key': `${b.key}-2` } });
		assert.deepEqual([r.status, r.headers.get('upload-offset'), r.headers.get('upload-complete')], [201, '0', '?0'], 'that b has these bytes is not told');
		const at = r.headers.get('location')!;
		const end = await asA('PATCH', at, { body: theirs.slice(), headers: { ...PIECE, 'upload-offset': '0', 'upload-complete': '?1' } });
		assert.deepEqual([end.status, end.json.duplicate, end.json.state], [202, false, 'queued']);
		await ready(a.token, end.json.id);
		assert.equal((await asA('DELETE', `/api/v1/bundles/${end.json.id}`)).json.blob_bytes, theirs.length);
		// the key of an upload of b that still goes on
		const other = await asA('POST', '/api/v1/uploads?name=hushed-piece.json', { body: b.files[3]!.slice(0, 10), headers: { 'upload-complete': '?0', 'idempotency-key': `${b.key}-3` } });
		assert.deepEqual([other.status, other.headers.get('upload-offset')], [201, '10']);
		assert.equal((await asA('DELETE', other.headers.get('location')!)).status, 204);
	},
	'HEAD /api/v1/uploads/{id}': async () => {
		assert.equal((await asB('HEAD', `/api/v1/uploads/${b.upload}`)).headers.get('upload-offset'), '100');
		await hidden('HEAD', `/api/v1/uploads/${b.upload}`);
	},
	'PATCH /api/v1/uploads/{id}': () => hidden('PATCH', `/api/v1/uploads/${b.upload}`, { body: new Uint8Array([1]), headers: { ...PIECE, 'upload-offset': '100', 'upload-complete': '?1' } }),
	'DELETE /api/v1/uploads/{id}': () => hidden('DELETE', `/api/v1/uploads/${b.upload}`),
	'GET /api/v1/bundles': () => pages('/api/v1/bundles', rowIds),
	'GET /api/v1/bundles/{id}': async () => {
		await onlyB(`/api/v1/bundles/${b.bundle}`);
		await onlyB(`/api/v1/bundles/${b.failed}`);
		await onlyB(`/api/v1/bundles/${b.gone}`, 410);
	},
	'DELETE /api/v1/bundles/{id}': async () => {
		for (const id of [b.bundle, b.failed, b.gone]) for (const q of ['', '?dry_run=1', '?kept=delete']) await hidden('DELETE', `/api/v1/bundles/${id}${q}`);
	},
	'POST /api/v1/bundles/{id}/reindex': async () => {
		for (const id of [b.bundle, b.failed, b.gone]) await hidden('POST', `/api/v1/bundles/${id}/reindex`);
	},
	'POST /api/v1/deletions': async () => {
		for (const body of [{ bundle: b.bundle }, { bundle: b.gone }, { trace: b.trace }]) {
			for (const dry_run of [true, false]) assert.equal((await asA('POST', '/api/v1/deletions', { body: { ...body, dry_run, kept: 'delete' } })).status, 404, JSON.stringify(body));
		}
		for (const body of [{ job: 'hushed-job' }, { capture: 'hushed-capture' }]) {
			const r = await call(s, 'POST', '/api/v1/deletions', { token: a.token, body: { ...body, kept: 'delete' } });
			assert.deepEqual([r.status, r.json.bundles, r.json.traces, r.json.blob_bytes, r.json.items], [200, 0, 0, 0, []], JSON.stringify(body));
		}
		assert.ok((await asB('POST', '/api/v1/deletions', { body: { job: 'hushed-job', dry_run: true } })).json.traces > 0);
		// the same bytes in both: the figures are as if b did not have them
		const same = (await asA('POST', '/api/v1/bundles?name=x&job=shared', { body: b.files[0]!.slice() })).json.id;
		await ready(a.token, same);
		const dry = (await asA('POST', '/api/v1/deletions', { body: { job: 'shared', dry_run: true } })).json;
		assert.equal(dry.blob_bytes, b.files[0]!.length);
		assert.equal((await asA('POST', '/api/v1/deletions', { body: { job: 'shared' } })).json.blob_bytes, b.files[0]!.length);
	},

	'GET /api/v1/storage': async () => {
		const [mine, theirs] = [(await asA('GET', '/api/v1/storage')).json, (await asB('GET', '/api/v1/storage')).json];
		assert.equal(mine.project, 'alpha');
		assert.equal(mine.bundles, (await asA('GET', '/api/v1/bundles')).json.total);
		assert.deepEqual(mine.by_job.map((j: { job: string }) => j.job), ['plain-job']);
		assert.deepEqual(theirs.by_job.map((j: { job: string }) => j.job), ['hushed-job']);
	},
	'PUT /api/v1/retention': async () => {
		assert.equal((await asA('PUT', '/api/v1/retention', { body: { max_age_days: 365 } })).status, 200);
		assert.equal((await asB('GET', '/api/v1/storage')).json.policy.max_age_days, 0);
		assert.equal((await asA('PUT', '/api/v1/retention', { body: { max_age_days: 0 } })).status, 200);
	},
	'POST /api/v1/retention/run': async () => {
		const same = (await asA('POST', '/api/v1/bundles?name=x&job=plain-job', { body: b.files[0]!.slice() })).json.id;
		await ready(a.token, same);
		const all = (await asA('GET', '/api/v1/bundles')).json;
		assert.equal((await asA('PUT', '/api/v1/retention', { body: { max_bytes: 1 } })).status, 200);
		const dry = (await asA('POST', '/api/v1/retention/run?dry_run=1')).json;
		assert.equal(dry.bundles, all.total, 'only those of the project');
		assert.equal(dry.blob_bytes, all.items.reduce((n: number, x: { bytes: number }) => n + x.bytes, 0), 'and all of them, also what b has too');
		for (let i = 0, left = 1; left && i < 200; i++) {
			assert.equal((await asA('POST', '/api/v1/retention/run')).status, 200);
			left = (await asA('GET', '/api/v1/bundles')).json.total;
		}
		assert.equal((await asA('GET', '/api/v1/bundles')).json.total, 0);
		assert.equal((await asA('PUT', '/api/v1/retention', { body: { max_bytes: 0 } })).status, 200);
	},
	'POST /api/v1/retention/confirm-clock': async () => {
		for (const side of [a, b]) assert.equal((await call(s, 'POST', '/api/v1/retention/confirm-clock', { token: side.token })).status, 403, 'a clock is of the server');
	},

	'GET /api/v1/traces': async () => {
		await pages('/api/v1/traces', rowIds);
		await pages('/api/v1/traces?sort=name', rowIds);
		for (const q of ['hushed', 'gemm_4', b.trace]) assert.equal((await asA('GET', `/api/v1/traces?q=${q}`)).json.total, 0, q);
		assert.ok((await asB('GET', '/api/v1/traces?q=gemm_4')).json.total > 0);
		for (const q of ['job=hushed-job', 'host=hushed-host', 'capture=hushed-capture']) assert.equal((await call(s, 'GET', `/api/v1/traces?${q}`, { token: a.token })).json.total, 0, q);
		assert.match(JSON.stringify((await asB('GET', '/api/v1/traces')).json.facets), /hushed-job/, 'facets of b name its job; clean() looked at those of a');
	},
	'GET /api/v1/traces/{id}': async () => {
		await onlyB(`/api/v1/traces/${b.trace}`);
		await onlyB(`/api/v1/traces/${b.goneTrace}`, 410);
	},
	'PATCH /api/v1/traces/{id}': async () => {
		for (const body of [{}, { keep: true }, { notes: [] }, { notes_remove: [b.note] }, { notes_update: [{ id: b.note, text: 'x' }] }]) await hidden('PATCH', `/api/v1/traces/${b.trace}`, { body });
		// a note of b, named in a body about a trace of a
		for (const body of [{ notes_remove: [b.note] }, { notes_update: [{ id: b.note, text: 'x' }] }]) {
			const r = await call(s, 'PATCH', `/api/v1/traces/${a.trace}`, { token: a.token, body });
			assert.ok(r.status >= 400 && r.status < 500, `${r.status}`);
			assert.ok(!JSON.stringify(r.json).includes('hushed'));
		}
	},
	'DELETE /api/v1/traces/{id}': async () => {
		for (const id of [b.trace, b.goneTrace]) for (const q of ['', '?dry_run=1', '?kept=delete']) await hidden('DELETE', `/api/v1/traces/${id}${q}`);
	},
	'GET /api/v1/traces/{id}/tracks': ofTrace('/tracks'),
	'GET /api/v1/traces/{id}/slices': ofTrace('/slices?tracks=0'),
	'GET /api/v1/traces/{id}/slices/find': async () => onlyB(`/api/v1/traces/${b.trace}/slices/find?track=${await trackOfB('stream')}&ts=20000&name=${encodeURIComponent('gemm_0<float>')}`),
	'GET /api/v1/traces/{id}/slices/{slice}': ofTrace('/slices/0'),
	'GET /api/v1/traces/{id}/flows': ofTrace('/flows'),
	'GET /api/v1/traces/{id}/aggregate': ofTrace('/aggregate'),
	'GET /api/v1/traces/{id}/search': ofTrace('/search?q=gemm'),
	'GET /api/v1/traces/{id}/minimap': ofTrace('/minimap'),
	'GET /api/v1/traces/{id}/counters': async () => onlyB(`/api/v1/traces/${b.trace}/counters?t0=0&t1=3000000&px=10&tracks=${await trackOfB('counter')}`),
	'GET /api/v1/traces/{id}/analysis': ofTrace('/analysis'),
	'GET /api/v1/traces/{id}/kernels': ofTrace('/kernels'),
	'GET /api/v1/traces/{id}/steps': ofTrace('/steps'),
	'GET /api/v1/traces/{id}/export/{format}': async () => {
		for (const f of ['perfetto', 'chrome', 'csv']) {
			const path = `/api/v1/traces/${b.trace}/export/${f}`;
			const r = await fetch(s.url + path, { headers: { authorization: `Bearer ${b.token}` } });
			assert.deepEqual([r.status, (await r.arrayBuffer()).byteLength > 100], [200, true]);
			await hidden('GET', path);
			await hidden('GET', path, { headers: { range: 'bytes=0-9' } });
			const etag = r.headers.get('etag');
			if (etag) await hidden('GET', path, { headers: { 'if-none-match': etag } });
		}
	},
	'GET /api/v1/traces/{id}/perfetto': ofTrace('/perfetto', 303),
};

test('each route asks for a permission, or is on the list of those that need none', () => {
	assert.ok(routes.length > 40, `${routes.length} routes read`);
	assert.deepEqual(routes.filter((r) => r.scope === 'none').map((r) => r.key).sort(), Object.keys(open).sort());
	for (const r of routes) assert.ok(['none', 'read', 'upload', 'capture', 'admin'].includes(r.scope), `${r.key}: ${r.scope}`);
});

test('each route with a permission has a case, each case a route', () => {
	assert.deepEqual(Object.keys(cases).sort(), routes.filter((r) => r.scope !== 'none').map((r) => r.key).sort());
});

test('no route answers without a token, or with every scope but its own', async () => {
	const all = ['read', 'upload', 'capture'];
	const without: Record<string, string> = { admin: newToken('alpha', all.join(',')) };
	for (const scope of all) without[scope] = newToken('alpha', all.filter((x) => x !== scope).join(','));
	for (const r of routes.filter((x) => x.scope !== 'none')) {
		const path = r.path.replace('{format}', 'csv').replace(/\{\w+\}/g, a.trace);
		const send = async (token?: string): Promise<number> => (await fetch(s.url + path, { method: r.method, headers: token ? { authorization: `Bearer ${token}` } : {}, redirect: 'manual' })).status;
		assert.equal(await send(), 401, r.key);
		assert.equal(await send(without[r.scope]), 403, `${r.key} without ${r.scope}`);
	}
});

const plain = (x: unknown): unknown => JSON.parse(JSON.stringify(x, (k, v) => (['last_used_at', 'disk', 'database_bytes', 'reindex', 'last_run', 'next', 'indexed_at', 'progress', 'segment_bytes', 'request_id'].includes(k) ? undefined : v)));
async function stateOfB(): Promise<unknown> {
	const out: unknown[] = [];
	for (const path of ['bundles', `bundles/${b.bundle}`, `bundles/${b.failed}`, 'traces', `traces/${b.trace}`, 'tokens?revoked=1', 'storage', 'projects', `traces/${b.trace}/kernels`]) out.push(plain((await asB('GET', `/api/v1/${path}`)).json));
	out.push((await asB('HEAD', `/api/v1/uploads/${b.upload}`)).headers.get('upload-offset'));
	out.push((await asB('GET', '/api/v1/audit?limit=500')).json.items.filter((x: { action: string }) => x.action !== 'bundle.reindex'));
	return out;
}

test('a token of one project with every scope gets nothing of the other', async (t) => {
	const was = await stateOfB();
	// the one that deletes everything of a comes last
	const order = routes.filter((r) => r.scope !== 'none').sort((x, y) => Number(x.key.endsWith('/run')) - Number(y.key.endsWith('/run')));
	for (const r of order) await t.test(r.key, cases[r.key]);
	assert.deepEqual(await stateOfB(), was, 'and changes nothing there');
	assert.equal((await asB('POST', `/api/v1/bundles/${b.bundle}/reindex`)).status, 202);
	await ready(b.token, b.bundle);
});
