// SPDX-License-Identifier: Apache-2.0
// fleetscope-collector push against a stub that answers as told: retries, exit codes, and what it prints.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { getJson, program, startServer } from '../lib/server.ts';

const collector = join(process.env.FSC_BUILD ?? 'build/debug', 'fleetscope-collector');
const dir = mkdtempSync(join(tmpdir(), 'fsc-push-'));
after(() => rmSync(dir, { recursive: true, force: true }));

interface Seen { method: string; url: URL; headers: IncomingMessage['headers']; body: Buffer }
type Reply = { status: number; body?: unknown; headers?: Record<string, string>; drop?: boolean };

async function stub(answer: (seen: Seen, n: number) => Reply): Promise<{ url: string; seen: Seen[]; server: Server }> {
	const seen: Seen[] = [];
	const server = createServer((req, res) => {
		const parts: Buffer[] = [];
		req.on('data', (d: Buffer) => parts.push(d));
		req.on('end', () => {
			const one = { method: req.method!, url: new URL(req.url!, 'http://x'), headers: req.headers, body: Buffer.concat(parts) };
			seen.push(one);
			const reply = answer(one, seen.length);
			if (reply.drop) return req.socket.destroy();
			res.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
			res.end(JSON.stringify(reply.body ?? {}));
		});
	});
	await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
	return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, server };
}

function push(args: string[], env: Record<string, string> = {}): Promise<{ code: number; out: string; err: string }> {
	return new Promise((done) => {
		const clean = { ...process.env, ...env };
		if (!('FLEETSCOPE_TOKEN' in env)) delete clean.FLEETSCOPE_TOKEN;
		const p = spawn(collector, ['push', ...args], { env: clean, stdio: ['ignore', 'pipe', 'pipe'] });
		let out = '', err = '';
		p.stdout.on('data', (d) => (out += d));
		p.stderr.on('data', (d) => (err += d));
		const timer = setTimeout(() => p.kill('SIGKILL'), 60000);
		p.on('close', (code) => { clearTimeout(timer); done({ code: code ?? -1, out, err }); });
	});
}

function file(name: string, content: string | Buffer = '{"traceEvents":[]}'): string {
	const path = join(dir, name);
	writeFileSync(path, content);
	return path;
}

const accepted = { status: 202, body: { id: '77', sha256: 'x', state: 'queued', duplicate: false } };

test('a file is sent whole, with its digest, its key and the metadata given', async () => {
	const content = Buffer.alloc(3_000_000, 'fleetscope ');
	const path = file('rank 3 &x.json', content), s = await stub(() => accepted);
	const r = await push(['--server', s.url + '/', '--job', 'a b', '--host', 'h1', '--rank', '3', '--capture', 'c/1', path]);
	s.server.close();
	assert.equal(r.code, 0, r.err);
	assert.equal(r.out, `queued 77 ${path}\n`);
	assert.equal(s.seen.length, 1);
	const q = s.seen[0]!, sha = createHash('sha256').update(content).digest();
	assert.equal(q.method, 'POST');
	assert.equal(q.url.pathname, '/api/v1/bundles');
	assert.deepEqual(Object.fromEntries(q.url.searchParams), { name: 'rank 3 &x.json', job: 'a b', host: 'h1', rank: '3', capture: 'c/1' });
	assert.equal(q.headers['repr-digest'], `sha-256=:${sha.toString('base64')}:`);
	assert.equal(q.headers['idempotency-key'], `"${sha.toString('hex')}"`);
	assert.equal(q.headers['content-length'], String(content.length));
	assert.ok(q.body.equals(content));
});

test('the token comes from the environment or a file and is sent as bearer', async () => {
	const path = file('t.json'), s = await stub(() => accepted), tokenFile = file('token', 'secret-2\n');
	assert.equal((await push(['--server', s.url, path], { FLEETSCOPE_TOKEN: 'secret-1' })).code, 0);
	assert.equal((await push(['--server', s.url, '--token-file', tokenFile, path])).code, 0);
	assert.equal((await push(['--server', s.url, path])).code, 0);
	assert.equal((await push(['--server', s.url, path], { FLEETSCOPE_TOKEN: '' })).code, 0);
	s.server.close();
	assert.deepEqual(s.seen.map((q) => q.headers.authorization), ['Bearer secret-1', 'Bearer secret-2', undefined, undefined]);
});

test('temporary errors and cut connections are tried again, with the same body and key', async () => {
	const path = file('r.json', 'retry me');
	const s = await stub((_, n) => (n === 1 ? { status: 503, headers: { 'retry-after': '1' } } : n === 2 ? { status: 0, drop: true } : n === 3 ? { status: 429 } : accepted));
	const started = Date.now(), r = await push(['--server', s.url, path]);
	s.server.close();
	assert.equal(r.code, 0, r.err);
	assert.equal(s.seen.length, 4);
	assert.ok(Date.now() - started >= 1000, 'Retry-After was not kept');
	assert.ok(s.seen.every((q) => q.body.toString() === 'retry me' && q.headers['idempotency-key'] === s.seen[0]!.headers['idempotency-key']));
});

test('a refusal is final: exit 1 and the code and message of the server', async () => {
	const path = file('big.json'), s = await stub(() => ({ status: 413, body: { error: { code: 'body_too_large', message: 'body of 18 bytes exceeds 10' } } }));
	const r = await push(['--server', s.url, path]);
	s.server.close();
	assert.equal(r.code, 1);
	assert.equal(s.seen.length, 1);
	assert.equal(r.out, '');
	assert.equal(r.err, `fleetscope-collector: ${path}: body_too_large: body of 18 bytes exceeds 10\n`);
});

test('no server gives exit 3 after the retries asked for', async () => {
	const s = await stub(() => accepted);
	await new Promise((done) => s.server.close(done));
	const r = await push(['--server', s.url, '--retries', '1', file('n.json')]);
	assert.equal(r.code, 3);
	assert.match(r.err, /no_answer: /);
});

test('--wait follows the bundle to ready and prints the page of its trace', async () => {
	const path = file('w.json');
	const states = ['queued', 'indexing', 'ready'];
	const s = await stub((q) => (q.method === 'POST' ? accepted : { status: 200, body: { id: '77', state: states.length > 1 ? states.shift() : 'ready', traces: [{ id: '501' }] } }));
	const r = await push(['--server', s.url, '--wait', path]);
	s.server.close();
	assert.equal(r.code, 0, r.err);
	assert.equal(r.out, `ready 77 ${path} ${s.url}/traces/501\n`);
	assert.ok(s.seen.slice(1).every((q) => q.url.pathname === '/api/v1/bundles/77'));
});

test('--wait without the right to ask says that the file is stored, and exits 4', async () => {
	const path = file('u.json');
	const s = await stub((q) => (q.method === 'POST' ? accepted : { status: 403, body: { error: { code: 'scope_missing', message: 'the token lacks the scope read' } } }));
	const r = await push(['--server', s.url, '--wait', path]);
	s.server.close();
	assert.equal(r.code, 4);
	assert.match(r.err, /u\.json: not_told: stored, but the token may not ask/);
});

test('--wait reports a failed bundle with code, file and offset, and exits 1', async () => {
	const path = file('f.json'), error = { code: 'json_truncated', message: 'file ends inside an event', file: 'f.json', offset: 17 };
	const s = await stub((q) => (q.method === 'POST' ? accepted : { status: 200, body: { id: '77', state: 'failed', error } }));
	const r = await push(['--server', s.url, '--wait', path]);
	s.server.close();
	assert.equal(r.code, 1);
	assert.equal(r.err, `fleetscope-collector: ${path}: json_truncated: file ends inside an event (f.json, offset 17)\n`);
});

test('--wait names the members that failed in a bundle that is ready', async () => {
	const path = file('m.tar');
	const s = await stub((q) => (q.method === 'POST' ? accepted : { status: 200, body: { id: '77', state: 'ready', traces: [{ id: '1' }, { id: '2' }], failures: [{ file: 'rank3.json', outcome: 'failed', code: 'gzip_crc', message: 'checksum differs', offset: 9 }] } }));
	const r = await push(['--server', s.url, '--wait', path]);
	s.server.close();
	assert.equal(r.code, 0);
	assert.match(r.out, /^ready 77 .* http:.*\/traces\?q=77\n$/);
	assert.match(r.err, /gzip_crc: rank3\.json: checksum differs/);
});

test('--wait gives up after its timeout with exit 4', async () => {
	const s = await stub((q) => (q.method === 'POST' ? accepted : { status: 200, body: { id: '77', state: 'queued' } }));
	const r = await push(['--server', s.url, '--wait', '--wait-timeout', '1', file('slow.json')]);
	s.server.close();
	assert.equal(r.code, 4);
	assert.match(r.err, /not_yet/);
});

test('folders give their files by name, sub-folders only with --recursive, links and other files never', async () => {
	const root = join(dir, 'folder');
	mkdirSync(join(root, 'sub'), { recursive: true });
	for (const f of ['b.json', 'a.json.gz', 'notes.txt', '.hidden.json', join('sub', 'c.tar.zst')]) writeFileSync(join(root, f), f);
	symlinkSync(join(root, 'b.json'), join(root, 'link.json'));
	const s = await stub(() => accepted);
	const flat = await push(['--server', s.url, root]);
	assert.equal(flat.code, 0, flat.err);
	assert.deepEqual(s.seen.map((q) => q.url.searchParams.get('name')), ['a.json.gz', 'b.json']);
	assert.match(flat.err, /1 other files left out/);
	s.seen.length = 0;
	const deep = await push(['--server', s.url, `${root}/`, '-r']);
	assert.equal(deep.code, 0);
	assert.ok(!deep.out.includes('//'), deep.out);
	assert.deepEqual(s.seen.map((q) => q.url.searchParams.get('name')), ['a.json.gz', 'b.json', 'c.tar.zst']);
	s.server.close();
});

test('one bad file does not keep the others from being pushed, and the worst exit code wins', async () => {
	const good = file('good.json'), bad = file('bad.json');
	const s = await stub((q) => (q.url.searchParams.get('name') === 'bad.json' ? { status: 400, body: { error: { code: 'bad', message: 'no' } } } : accepted));
	const r = await push(['--server', s.url, bad, good]);
	s.server.close();
	assert.equal(r.code, 1);
	assert.equal(r.out, `queued 77 ${good}\n`);
});

test('usage errors exit 2: no file, a missing file, an empty folder, --rank with two files', async () => {
	mkdirSync(join(dir, 'empty'), { recursive: true });
	assert.equal((await push([])).code, 2);
	assert.equal((await push([join(dir, 'missing.json')])).code, 2);
	assert.equal((await push([join(dir, 'empty')])).code, 2);
	assert.equal((await push(['--rank', '1', file('x1.json'), file('x2.json')])).code, 2);
	assert.equal((await push(['--rank', 'one', file('x1.json')])).code, 2);
	const locked = file('locked.json');
	chmodSync(locked, 0);
	if (process.getuid!() !== 0) assert.equal((await push([locked])).code, 2);
});

test('an answer that is no JSON, or endless, is not believed', async () => {
	const server = createServer((req, res) => { req.resume(); req.on('end', () => { res.writeHead(202); res.end('<html>proxy</html>'); }); });
	await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
	const r = await push(['--server', `http://127.0.0.1:${(server.address() as AddressInfo).port}`, '--retries', '0', file('p.json')]);
	server.close();
	assert.equal(r.code, 1);
	assert.match(r.err, /the server answered 202/);
});

test('the address printed for a bundle of ranks lists exactly its traces', async () => {
	const server = await startServer(), path = join(dir, 'ranks.tar.zst'), other = join(dir, 'other.tar.zst');
	execFileSync(program('fleetscope-demo'), ['--ranks', '3', '--steps', '1', '--layers', '1', path]);
	execFileSync(program('fleetscope-demo'), ['--ranks', '2', '--steps', '1', '--layers', '1', other]);
	try {
		const r = await push(['--server', server.url, '--wait', path, other]);
		assert.equal(r.code, 0, r.err);
		for (const [i, ranks] of [3, 2].entries()) {
			const url = new URL(r.out.split('\n')[i]!.split(' ')[3]!);
			const list = await getJson(server, `/traces${url.search}`);
			assert.equal(list.total, ranks, url.href);
		}
	} finally {
		await server.stop();
	}
});
