// SPDX-License-Identifier: Apache-2.0
// A Perfetto UI of one's own: its folder on a port of its own, traces by ticket. The folder here is a stand-in with
// the shape of the release archive; its page does what the real one does with `#!/?url=`.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { call } from '../lib/contract.ts';
import { kinetoBytes } from '../lib/kineto.ts';
import { sleep, startServer, uploadAndWait, type TestServer } from '../lib/server.ts';

const ui = mkdtempSync(join(tmpdir(), 'fsc-pui-'));
let s: TestServer;
let viewer = '';
let trace = '';

before(async () => {
	mkdirSync(join(ui, 'v1.0-abc/assets'), { recursive: true });
	writeFileSync(join(ui, 'index.html'), '<!doctype html><title>viewer</title>');
	writeFileSync(join(ui, 'v1.0-abc/engine.wasm'), Buffer.alloc(3 << 20, 7));
	writeFileSync(join(ui, 'v1.0-abc/assets/a.js'), 'var a = 1;\n'.repeat(500));
	writeFileSync(join(ui, '.hidden.css'), 'a{}');
	writeFileSync(join(ui, 'empty.txt'), '');
	symlinkSync('/etc/passwd', join(ui, 'link.txt'));
	s = await startServer({ args: ['--perfetto-ui', ui] });
	const port = /Perfetto UI at http:\/\/[^\s]*:(\d+)\//.exec(s.stdout());
	assert.ok(port, s.stdout());
	viewer = `http://127.0.0.1:${port[1]}`;
	const b = await uploadAndWait(s, 'one.json', kinetoBytes({ steps: 4 }));
	trace = b.traces[0]!.id;
});
after(async () => {
	await s.stop();
	rmSync(ui, { recursive: true, force: true });
});

/** Without the normalising that fetch does to a path. */
function raw(base: string, path: string, headers: Record<string, string> = {}): Promise<{ status: number; body: string }> {
	const u = new URL(base);
	return new Promise((done, fail) => {
		const r = request({ host: u.hostname, port: u.port, path, headers }, (res) => {
			let body = '';
			res.on('data', (d: Buffer) => (body += d.toString('latin1')));
			res.on('end', () => done({ status: res.statusCode!, body }));
		});
		r.on('error', fail);
		r.end();
	});
}

test('the files are served with the types a viewer needs and without our content policy', async () => {
	const page = await fetch(`${viewer}/`);
	assert.equal(page.status, 200);
	assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8');
	assert.equal(page.headers.get('content-security-policy'), null, 'the viewer has its own');
	assert.match(await page.text(), /viewer/);
	const wasm = await fetch(`${viewer}/v1.0-abc/engine.wasm`);
	assert.equal(wasm.headers.get('content-type'), 'application/wasm');
	assert.equal((await wasm.arrayBuffer()).byteLength, 3 << 20);
	const js = await fetch(`${viewer}/v1.0-abc/assets/a.js`);
	assert.equal(js.headers.get('content-encoding'), 'gzip');
	assert.equal((await js.text()).length, 5500);
	const again = await fetch(`${viewer}/v1.0-abc/engine.wasm`, { headers: { 'if-none-match': wasm.headers.get('etag')! } });
	assert.equal(again.status, 304);
	assert.equal((await fetch(`${viewer}/empty.txt`)).status, 200);
	assert.equal((await fetch(`${viewer}/index.html`, { method: 'HEAD' })).status, 200);
	assert.equal((await fetch(`${viewer}/`, { method: 'POST', body: 'x' })).status, 405);
});

test('nothing outside the folder is served, and no link out of it', async () => {
	for (const path of ['/link.txt', '/../etc/passwd', '/%2e%2e/%2e%2e/etc/passwd', '/v1.0-abc/../../etc/passwd', '/v1.0-abc', '/v1.0-abc/', '//etc/passwd', '/index.html%00.js', '/nothing'])
		assert.ok((await raw(viewer, path)).status >= 400, path);
	assert.equal((await raw(viewer, '/', { host: 'evil.example' })).status, 421);
	assert.equal((await fetch(`${viewer}/api/v1/traces`)).status, 404, 'the API is not on this port');
});

test('the link leads to the viewer, and the viewer gets the trace by its ticket', async () => {
	const t = await call(s, 'GET', `/api/v1/traces/${trace}/perfetto`);
	assert.equal(t.status, 303);
	assert.equal(t.headers.get('location'), t.json.url);
	const link = new URL(t.json.url);
	assert.equal(link.origin, viewer);
	const params = new URLSearchParams(link.hash.replace(/^#!\/\?/, ''));
	const got = await fetch(viewer + params.get('url')!, { headers: { 'sec-fetch-site': 'same-origin' } });
	assert.equal(got.status, 200);
	const exported = await fetch(`${s.url}/api/v1/traces/${trace}/export/perfetto`);
	assert.deepEqual(Buffer.from(await got.arrayBuffer()), Buffer.from(await exported.arrayBuffer()), 'the very export');
	const left = (Date.parse(t.json.expires_at) - Date.now()) / 1000;
	assert.ok(left > 500 && left <= 601, `${left} s`);
});

test('a range and a slice are in the link in the times of the export', async () => {
	const meta = (await call(s, 'GET', `/api/v1/traces/${trace}`)).json;
	const t = await call(s, 'GET', `/api/v1/traces/${trace}/perfetto?t0=1000&t1=900000&ts=2000&dur=30`);
	const params = new URLSearchParams(new URL(t.json.url).hash.replace(/^#!\/\?/, ''));
	const head = await fetch(`${s.url}/api/v1/traces/${trace}/export/perfetto?t0=1000&t1=900000`);
	const base = BigInt(head.headers.get('x-fleetscope-base-ns')!);
	assert.equal(base, BigInt(meta.t_base_ns));
	assert.equal(params.get('visStart'), String(base + 1000n));
	assert.equal(params.get('visEnd'), String(base + 900000n));
	assert.equal(params.get('ts'), String(base + 2000n));
	assert.equal(params.get('dur'), '30');
	const got = await fetch(viewer + params.get('url')!);
	assert.deepEqual(Buffer.from(await got.arrayBuffer()), Buffer.from(await head.arrayBuffer()));
	for (const bad of ['t0=5&t1=5', 'dur=-1', 'ts=x']) assert.equal((await call(s, 'GET', `/api/v1/traces/${trace}/perfetto?${bad}`)).status, 400, bad);
	assert.equal((await call(s, 'GET', '/api/v1/traces/1/perfetto')).status, 404);
});

test('a ticket that was altered or has run out opens nothing', async () => {
	const t = await call(s, 'GET', `/api/v1/traces/${trace}/perfetto`);
	const path = new URLSearchParams(new URL(t.json.url).hash.replace(/^#!\/\?/, '')).get('url')!;
	const ticket = path.split('/')[2]!;
	for (const bad of [ticket.replace(/\.\d+\.([0-9a-f]{64})$/, '.99999999999.$1'), ticket.slice(0, -1), 'x', ticket.replace(trace, '1')]) {
		const r = await fetch(`${viewer}/trace/${bad}/trace.pftrace`);
		assert.equal(r.status, 403, bad);
		assert.equal(((await r.json()) as any).error.code, 'bad_ticket');
	}
});

test('without a viewer the link is refused, and a folder without a page is no viewer', async () => {
	const plain = await startServer();
	try {
		const b = await uploadAndWait(plain, 'one.json', kinetoBytes({ steps: 4 }));
		const r = await call(plain, 'GET', `/api/v1/traces/${b.traces[0]!.id}/perfetto`);
		assert.equal(r.status, 404);
		assert.equal(r.json.error.code, 'no_perfetto_ui');
		assert.equal((await call(plain, 'GET', '/api/v1/server')).json.perfetto_ui, false);
	} finally {
		await plain.stop();
	}
	assert.equal((await call(s, 'GET', '/api/v1/server')).json.perfetto_ui, true);
	const empty = mkdtempSync(join(tmpdir(), 'fsc-pui-'));
	await assert.rejects(startServer({ args: ['--perfetto-ui', empty] }), /no index\.html/);
	rmSync(empty, { recursive: true });
	await sleep(0);
});
