// SPDX-License-Identifier: Apache-2.0
// fleetscope-collector push of large files: through a relay that cuts connections at random bytes, over restarts of
// the server and a kill of the collector, with every byte in its place and few bytes sent twice.
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { startRelay } from '../lib/relay.ts';
import { getJson, program, sleep, startServer, tempDir } from '../lib/server.ts';

const MIB = 1 << 20;
const dir = mkdtempSync(join(tmpdir(), 'fsc-pieces-'));
after(() => rmSync(dir, { recursive: true, force: true }));

/** Random bytes: a file that is no trace, which is all the same to its upload. */
function bigFile(name: string, mib: number): { path: string; sha256: string; bytes: number } {
	const path = join(dir, name), fd = openSync(path, 'w'), h = createHash('sha256');
	for (let i = 0; i < mib; i++) {
		const b = randomBytes(MIB);
		h.update(b);
		writeSync(fd, b);
	}
	closeSync(fd);
	return { path, sha256: h.digest('hex'), bytes: mib * MIB };
}

function start(args: string[]): { child: ChildProcess; end: Promise<{ code: number; out: string; err: string }> } {
	const child = spawn(program('fleetscope-collector'), ['push', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
	let out = '', err = '';
	child.stdout!.on('data', (d) => (out += d));
	child.stderr!.on('data', (d) => (err += d));
	const timer = setTimeout(() => child.kill('SIGKILL'), 150000);
	return { child, end: new Promise((done) => child.on('close', (code) => { clearTimeout(timer); done({ code: code ?? -1, out, err }); })) };
}
const id = (out: string): string => /^queued (\d+) /.exec(out)![1]!;
function fileHash(path: string): string {
	return createHash('sha256').update(readFileSync(path)).digest('hex');
}
const blob = (data: string, hex: string): string => join(data, 'blob', hex.slice(0, 2), hex);

test('200 MiB arrive whole over a network that cuts at random bytes, and are not all sent again', { timeout: 200000 }, async (t) => {
	const s = await startServer(), f = bigFile('cut.json', 200);
	const relay = await startRelay(s.port, () => MIB * (12 + Math.random() * 24));
	const r = await start(['--server', relay.url, f.path]).end;
	assert.equal(r.code, 0, r.err);
	const b = await getJson(s, `/bundles/${id(r.out)}`);
	assert.equal(b.sha256, f.sha256);
	assert.equal(b.bytes, f.bytes);
	assert.equal(fileHash(blob(s.data, f.sha256)), f.sha256);
	t.diagnostic(`${relay.cuts()} cuts, ${(relay.sent() / f.bytes).toFixed(3)} times its bytes sent`);
	assert.ok(relay.cuts() >= 4, `${relay.cuts()} cuts: this tests nothing`);
	assert.ok(relay.sent() <= 1.2 * f.bytes, `${relay.sent()} bytes sent for ${f.bytes}`);
	assert.deepEqual(readdirSync(join(s.data, 'upload')), []);
	relay.stop();
	await s.stop();
});

test('restarts and kills of the server in the middle are sat out', { timeout: 120000 }, async (t) => {
	const data = tempDir('fsc-pieces-data-'), f = bigFile('restart.json', 96);
	let s = await startServer({ data });
	const relay = await startRelay(s.port);
	const push = start(['--server', relay.url, f.path]);
	let seen = 0, restarts = 0;
	for (const signal of ['SIGKILL', 'SIGTERM', 'SIGKILL'] as const) {
		for (let i = 0; i < 2000 && relay.sent() < seen + 20 * MIB; i++) await sleep(5);
		relay.target(0);
		await s.stop(signal);
		relay.cut();
		seen = relay.sent();
		s = await startServer({ data });
		relay.target(s.port);
		restarts++;
	}
	const r = await push.end;
	assert.equal(r.code, 0, r.err);
	assert.equal((await getJson(s, `/bundles/${id(r.out)}`)).sha256, f.sha256);
	t.diagnostic(`${restarts} restarts, ${(relay.sent() / f.bytes).toFixed(3)} times its bytes sent`);
	assert.ok(seen < f.bytes, 'the push was over before the last restart: this tests nothing');
	// Of a piece under way only what a stop threw away is sent again: at most one of 16 MiB for each.
	assert.ok(relay.sent() <= f.bytes + 3 * 17 * MIB, `${relay.sent()}`);
	relay.stop();
	await s.stop();
	rmSync(data, { recursive: true, force: true });
});

test('a push that was killed goes on where it was when it is run again', { timeout: 60000 }, async () => {
	const s = await startServer(), f = bigFile('again.json', 64);
	const relay = await startRelay(s.port);
	const first = start(['--server', relay.url, f.path]);
	for (let i = 0; i < 4000 && relay.sent() < 24 * MIB; i++) await sleep(2);
	first.child.kill('SIGKILL');
	await first.end;
	relay.cut();
	await sleep(1000); // until the server knows
	assert.equal(readdirSync(join(s.data, 'upload')).length, 1, 'the first push was over already');
	const before = relay.sent();
	const r = await start(['--server', relay.url, f.path]).end;
	assert.equal(r.code, 0, r.err);
	assert.equal((await getJson(s, `/bundles/${id(r.out)}`)).sha256, f.sha256);
	assert.ok(relay.sent() - before < f.bytes - 16 * MIB, `${relay.sent() - before} bytes sent again`);
	relay.stop();
	await s.stop();
});

test('small files go in one request, unless asked otherwise, and an upload that is gone is begun anew', async () => {
	const s = await startServer(), path = join(dir, 'small.json');
	writeFileSync(path, '{"traceEvents":[]}');
	const metric = async () => Number(/fleetscope_uploads_begun_total (\d+)/.exec(await (await fetch(`${s.url}/metrics`)).text())![1]);
	assert.equal((await start(['--server', s.url, path]).end).code, 0);
	assert.equal(await metric(), 0);
	assert.equal((await start(['--server', s.url, '--resumable', 'always', path]).end).code, 0);
	assert.equal(await metric(), 1);
	assert.equal((await start(['--server', s.url, '--resumable', 'sometimes', path]).end).code, 2);
	const f = bigFile('gone.json', 40);
	const relay = await startRelay(s.port, () => 30 * MIB);
	const push = start(['--server', relay.url, f.path]);
	for (let i = 0; i < 4000 && !relay.cuts(); i++) await sleep(2);
	const at = readdirSync(join(s.data, 'upload'))[0]!.replace('.part', '');
	assert.equal((await fetch(`${s.url}/api/v1/uploads/${at}`, { method: 'DELETE' })).status, 204);
	const r = await push.end;
	assert.equal(r.code, 0, r.err);
	assert.equal((await getJson(s, `/bundles/${id(r.out)}`)).sha256, f.sha256);
	assert.equal(await metric(), 3);
	relay.stop();
	await s.stop();
});

/** A server that answers as told; gives what it was asked. */
async function fake(answer: (nth: number, req: IncomingMessage) => [status: number, headers?: Record<string, string>, body?: unknown]) {
	const seen: string[] = [];
	const server = createServer((req, res) => {
		const [status, headers, body] = answer(seen.push(`${req.method} ${new URL(req.url!, 'http://x').pathname}`) - 1, req);
		req.resume();
		req.on('end', () => {
			res.writeHead(status, { 'content-type': 'application/json', ...headers });
			res.end(body ? JSON.stringify(body) : undefined);
		});
	});
	await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
	return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop: () => server.close() };
}

test('a server without resumable uploads that did not answer at once gets the file in one request too', async () => {
	const f = bigFile('late.json', 17);
	const s = await fake((nth, req) => nth === 0 ? [503] : req.url!.startsWith('/api/v1/bundles') ? [202, {}, { id: '77' }] : [404]);
	const r = await start(['--server', s.url, f.path]).end;
	s.stop();
	assert.equal(r.code, 0, r.err);
	assert.deepEqual(s.seen, ['POST /api/v1/uploads', 'POST /api/v1/uploads', 'POST /api/v1/bundles']);
});

test('tries that never reached the server do not count as uploads that were lost', { timeout: 60000 }, async () => {
	const f = bigFile('lost.json', 1);
	const s = await fake((nth, req) => nth < 5 || nth === 6 ? [nth === 6 ? 404 : 503]
		: req.method === 'POST' ? [201, { location: '/api/v1/uploads/7', 'upload-offset': '0' }] : [202, {}, { id: '77' }]);
	const r = await start(['--server', s.url, '--resumable', 'always', f.path]).end;
	s.stop();
	assert.equal(r.code, 0, r.err);
	assert.equal(s.seen.length, 9);
});

test('a server that takes pieces and never gets further is given up', { timeout: 60000 }, async () => {
	const f = bigFile('stuck.json', 1);
	const s = await fake((nth, req) => nth > 50 ? [400] : req.method === 'POST' ? [201, { location: '/api/v1/uploads/7', 'upload-offset': '0' }] : [204, { 'upload-offset': '0' }]);
	const r = await start(['--server', s.url, '--resumable', 'always', '--retries', '2', f.path]).end;
	s.stop();
	assert.notEqual(r.code, 0);
	assert.equal(s.seen.length, 4, 'begin, a piece and two tries more');
});

test('a server without resumable uploads gets the file in one request', async () => {
	const f = bigFile('old.json', 17), seen: string[] = [];
	let got = 0;
	const server = createServer((req, res) => {
		seen.push(`${req.method} ${new URL(req.url!, 'http://x').pathname}`);
		req.on('data', (d: Buffer) => (got += d.length));
		req.on('end', () => {
			const known = req.url!.startsWith('/api/v1/bundles');
			res.writeHead(known ? 202 : 404, { 'content-type': 'application/json' });
			res.end(JSON.stringify(known ? { id: '77' } : { error: { code: 'no_such_route', message: 'no' } }));
		});
	});
	await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
	const r = await start(['--server', `http://127.0.0.1:${(server.address() as AddressInfo).port}`, f.path]).end;
	server.close();
	assert.equal(r.code, 0, r.err);
	assert.deepEqual(seen, ['POST /api/v1/uploads', 'POST /api/v1/bundles']);
	assert.equal(got, f.bytes);
});
