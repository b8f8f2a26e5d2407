// SPDX-License-Identifier: Apache-2.0
// Resumable uploads: an upload in pieces ends like one in a single request, whatever happens between: cuts in the
// middle, restarts and kills of the server, wrong offsets, two writers, a full disk.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { call, type Answer } from '../lib/contract.ts';
import { kinetoBytes } from '../lib/kineto.ts';
import { program, sleep, startServer, tempDir, waitBundle, type TestServer } from '../lib/server.ts';

const MAX = 64 << 20;
let s: TestServer;
before(async () => { s = await startServer({ args: ['--max-upload', String(MAX)] }); });
after(() => s.stop());

const PIECE = 'application/partial-upload';
const sha = (b: Uint8Array): Buffer => createHash('sha256').update(b).digest();
const digest = (b: Uint8Array): string => `sha-256=:${sha(b).toString('base64')}:`;
const offset = (a: Answer): number => Number(a.headers.get('upload-offset'));
let made = 0;
/** A file that is a trace and that no other test has. */
const fresh = (steps = 200): Uint8Array => kinetoBytes({ steps, rank: made, baseNs: `${1750000000000000000n + BigInt(made++)}` });

async function begin(on: TestServer, headers: Record<string, string> = {}, query = 'name=piece.json', token?: string): Promise<string> {
	const a = await call(on, 'POST', `/api/v1/uploads?${query}`, { headers: { 'upload-complete': '?0', ...headers }, token });
	assert.equal(a.status, 201, JSON.stringify(a.json));
	assert.equal(offset(a), 0);
	return a.headers.get('location')!;
}
const piece = (on: TestServer, at: string, from: number, bytes: Uint8Array, last = false, headers: Record<string, string> = {}): Promise<Answer> =>
	call(on, 'PATCH', at, { body: bytes, headers: { 'content-type': PIECE, 'upload-offset': String(from), 'upload-complete': last ? '?1' : '?0', ...headers } });
const state = (on: TestServer, at: string): Promise<Answer> => call(on, 'HEAD', at);
async function stored(on: TestServer, a: Answer, bytes: Uint8Array): Promise<void> {
	assert.equal(a.status, 202, JSON.stringify(a.json));
	const hex = sha(bytes).toString('hex');
	assert.equal(a.json.sha256, hex);
	assert.equal(a.json.bytes, bytes.length);
	assert.ok(Buffer.from(bytes).equals(readFileSync(join(on.data, 'blob', hex.slice(0, 2), hex))));
	assert.equal((await waitBundle(on, a.json.id)).state, 'ready');
}

/** Sends a head that announces more than it sends, and leaves the connection open. */
async function hang(on: TestServer, at: string, from: number, bytes: Uint8Array, announced: number, method = 'PATCH'): Promise<Socket> {
	const c = connect(on.port, '127.0.0.1');
	c.on('error', () => undefined);
	c.write(`${method} ${at} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: ${PIECE}\r\nUpload-Offset: ${from}\r\nUpload-Complete: ?0\r\nContent-Length: ${announced}\r\n\r\n`);
	await new Promise<void>((done) => c.write(bytes, () => done()));
	return c;
}
const part = (on: TestServer, at: string): string => join(on.data, 'upload', `${at.split('/').pop()}.part`);
async function partHas(on: TestServer, at: string, n: number): Promise<void> {
	for (let i = 0; i < 250; i++) {
		if (readFileSync(part(on, at)).length >= n) return;
		await sleep(20);
	}
	assert.fail(`the part has ${readFileSync(part(on, at)).length} bytes, not ${n}`);
}

test('an upload in pieces ends like one in a single request', async () => {
	const bytes = fresh();
	const at = await begin(s, { 'upload-length': String(bytes.length), 'repr-digest': digest(bytes) }, 'name=p.json&job=j&host=h&rank=4&capture=c');
	const third = Math.floor(bytes.length / 3);
	const a = await piece(s, at, 0, bytes.subarray(0, third));
	assert.equal(a.status, 204);
	assert.equal(offset(a), third);
	assert.equal(a.headers.get('upload-complete'), '?0');
	const h = await state(s, at);
	assert.equal(h.status, 204);
	assert.equal(offset(h), third);
	assert.equal(h.headers.get('upload-length'), String(bytes.length));
	assert.match(h.headers.get('upload-limit')!, new RegExp(`^max-size=${MAX}, max-age=8\\d{4}$`));
	assert.equal((await piece(s, at, third, new Uint8Array())).status, 204, 'a piece without bytes');
	assert.equal((await piece(s, at, third, bytes.subarray(third, 2 * third))).status, 204);
	const end = await piece(s, at, 2 * third, bytes.subarray(2 * third), true);
	await stored(s, end, bytes);
	const b = await call(s, 'GET', `/api/v1/bundles/${end.json.id}`);
	assert.deepEqual([b.json.name, b.json.job, b.json.host, b.json.rank, b.json.capture], ['p.json', 'j', 'h', 4, 'c']);
	assert.ok(!existsSync(part(s, at)), 'the part stays');
});

test('the answer that was missed can be asked for again, and nothing can be added', async () => {
	const bytes = fresh();
	const at = await begin(s, { 'upload-length': String(bytes.length) });
	const end = await piece(s, at, 0, bytes, true);
	await stored(s, end, bytes);
	const h = await state(s, at);
	assert.equal(h.headers.get('upload-complete'), '?1');
	assert.equal(offset(h), bytes.length);
	const again = await piece(s, at, bytes.length, new Uint8Array(), true);
	assert.equal(again.status, 202);
	assert.equal(again.json.id, end.json.id);
	const more = await piece(s, at, bytes.length, new Uint8Array(10));
	assert.equal(more.status, 409);
	assert.equal(more.json.error.code, 'upload_complete');
	assert.equal((await call(s, 'DELETE', at)).status, 204, 'forgetting an ended upload');
	assert.equal((await call(s, 'GET', `/api/v1/bundles/${end.json.id}`)).status, 200, 'its bundle stays');
});

test('a bundle that was deleted since is not asked for once more', async () => {
	const bytes = fresh(), at = await begin(s);
	const end = await piece(s, at, 0, bytes, true);
	await stored(s, end, bytes);
	for (let i = 0; i < 200 && !['ready', 'failed'].includes((await call(s, 'GET', `/api/v1/bundles/${end.json.id}`)).json.state); i++) await sleep(50);
	assert.equal((await call(s, 'DELETE', `/api/v1/bundles/${end.json.id}`)).status, 200);
	const again = await piece(s, at, bytes.length, new Uint8Array(), true);
	assert.deepEqual([again.status, again.json.error.code], [409, 'upload_complete'], 'a 404 would make a client send it all again');
});

test('the whole upload fits in the request that begins it, and in one without a length', async () => {
	const one = fresh(), two = fresh();
	await stored(s, await call(s, 'POST', '/api/v1/uploads?name=one', { body: one, headers: { 'upload-complete': '?1', 'repr-digest': digest(one) } }), one);
	const first = await call(s, 'POST', '/api/v1/uploads?name=two', { body: two.subarray(0, 100), headers: { 'upload-complete': '?0' } });
	assert.equal(first.status, 201);
	assert.equal(offset(first), 100);
	assert.equal(first.headers.get('upload-length'), null);
	const at = first.headers.get('location')!;
	// chunked: not even the length of the piece is known before its end
	const rest = Buffer.from(two.subarray(100));
	const r = await fetch(s.url + at, { method: 'PATCH', body: new Blob([rest]).stream(), duplex: 'half', headers: { 'content-type': PIECE, 'upload-offset': '100', 'upload-complete': '?1' } } as RequestInit);
	assert.equal(r.status, 202);
	assert.equal(((await r.json()) as { sha256: string }).sha256, sha(two).toString('hex'));
});

test('the same bytes again are a duplicate, and a key stands for its bytes', async () => {
	const bytes = fresh(), other = fresh();
	const key = { 'idempotency-key': `key-${made}` };
	const first = await piece(s, await begin(s, key), 0, bytes, true);
	const again = await piece(s, await begin(s, key, 'name=other'), 0, bytes, true);
	assert.equal(again.json.id, first.json.id);
	assert.equal(again.json.duplicate, true);
	assert.deepEqual(again.json.ignored, ['name']);
	const early = await call(s, 'POST', '/api/v1/uploads?name=x', { headers: { 'upload-complete': '?0', 'repr-digest': digest(other), ...key } });
	assert.equal(early.json.error.code, 'idempotency_conflict', 'said before the bytes are sent');
	const at = await begin(s, key);
	const late = await piece(s, at, 0, other, true);
	assert.equal(late.status, 409);
	assert.equal(late.json.error.code, 'idempotency_conflict');
	assert.equal((await state(s, at)).status, 404);
});

test('a key finds the upload that goes on, so that its address may be lost', async () => {
	const bytes = fresh();
	const headers = { 'upload-complete': '?0', 'upload-length': String(bytes.length), 'repr-digest': digest(bytes), 'idempotency-key': `lost-${made}` };
	const at = await begin(s, headers);
	assert.equal((await piece(s, at, 0, bytes.subarray(0, 1000))).status, 204);
	const found = await call(s, 'POST', '/api/v1/uploads?name=piece.json', { headers });
	assert.equal(found.status, 201);
	assert.equal(found.headers.get('location'), at);
	assert.equal(offset(found), 1000);
	const hung = await hang(s, at, 1000, bytes.subarray(1000, 2000), 5000);
	await partHas(s, at, 2000);
	const other = await call(s, 'POST', '/api/v1/uploads?name=piece.json', { headers });
	assert.notEqual(other.headers.get('location'), at, 'one that is being written to was given away');
	hung.destroy();
	const elsewhere = await call(s, 'POST', '/api/v1/uploads?name=piece.json', { headers: { ...headers, 'upload-length': '5' } });
	assert.notEqual(elsewhere.headers.get('location'), at);
});

test('what came before a cut counts', async () => {
	const bytes = fresh(), cutAt = Math.floor(bytes.length * 0.6);
	const at = await begin(s, { 'upload-length': String(bytes.length), 'repr-digest': digest(bytes) });
	const c = await hang(s, at, 0, bytes.subarray(0, cutAt), bytes.length);
	await partHas(s, at, cutAt);
	c.destroy();
	const h = await state(s, at);
	assert.equal(offset(h), cutAt);
	await stored(s, await piece(s, at, cutAt, bytes.subarray(cutAt), true), bytes);
	assert.match(await (await fetch(`${s.url}/metrics`)).text(), /fleetscope_uploads_cut_pieces_total [1-9]/);
});

test('a newer request takes over from one that hangs', async () => {
	const bytes = fresh();
	const at = await begin(s, { 'upload-length': String(bytes.length) });
	const old = await hang(s, at, 0, bytes.subarray(0, 3000), bytes.length);
	let answer = '';
	old.on('data', (d) => (answer += d.toString()));
	await partHas(s, at, 3000);
	const a = await piece(s, at, 3000, bytes.subarray(3000, 4000));
	assert.equal(a.status, 204, JSON.stringify(a.json));
	old.write(bytes.subarray(3000)); // it wakes up, too late
	for (let i = 0; i < 200 && !answer; i++) await sleep(20);
	assert.match(answer, /^HTTP\/1\.1 409 .*upload_superseded/s);
	assert.equal(offset(await state(s, at)), 4000);
	await stored(s, await piece(s, at, 4000, bytes.subarray(4000), true), bytes);
});

test('asking for the state takes over too, so that the answer stays true', async () => {
	const bytes = fresh();
	const at = await begin(s);
	const old = await hang(s, at, 0, bytes.subarray(0, 3000), bytes.length);
	await partHas(s, at, 3000);
	assert.equal(offset(await state(s, at)), 3000);
	old.write(bytes.subarray(3000));
	await sleep(200);
	assert.equal(offset(await state(s, at)), 3000);
	old.destroy();
	await stored(s, await piece(s, at, 3000, bytes.subarray(3000), true), bytes);
});

test('a wrong offset is refused with the right one', async () => {
	const bytes = fresh();
	const at = await begin(s);
	assert.equal((await piece(s, at, 0, bytes.subarray(0, 500))).status, 204);
	for (const wrong of [0, 499, 501, 100000]) {
		const a = await piece(s, at, wrong, bytes.subarray(500, 600));
		assert.equal(a.status, 409);
		assert.equal(a.json.error.code, 'upload_offset');
		assert.equal(offset(a), 500);
	}
	await stored(s, await piece(s, at, 500, bytes.subarray(500), true), bytes);
});

test('more or less than announced is refused, and the upload can go on', async () => {
	const bytes = fresh(), n = bytes.length;
	const at = await begin(s, { 'upload-length': String(n) });
	const over = await piece(s, at, 0, new Uint8Array(n + 1));
	assert.equal(over.json.error.code, 'length_mismatch');
	const early = await piece(s, at, 0, bytes.subarray(0, 100), true);
	assert.equal(early.json.error.code, 'upload_length');
	const said = await piece(s, at, 0, bytes.subarray(0, 100), false, { 'upload-length': String(n + 5) });
	assert.equal(said.json.error.code, 'upload_length');
	assert.equal(offset(await state(s, at)), 0);
	// chunked: it shows only when the bytes are there; those that fitted count
	const chunked = (bytes: Uint8Array, from: number) => fetch(s.url + at, {
		method: 'PATCH', body: new Blob([Buffer.from(bytes)]).stream(), duplex: 'half', headers: { 'content-type': PIECE, 'upload-offset': String(from), 'upload-complete': '?1' } } as RequestInit);
	const short = await chunked(bytes.subarray(0, 100), 0);
	assert.equal(short.status, 400);
	assert.equal(((await short.json()) as any).error.code, 'length_mismatch');
	assert.equal(offset(await state(s, at)), 100);
	await stored(s, await piece(s, at, 100, bytes.subarray(100), true), bytes);
	const later = await begin(s);
	assert.equal((await piece(s, later, 0, bytes.subarray(0, 10), false, { 'upload-length': '20' })).headers.get('upload-length'), '20', 'the length may come later');
	assert.equal((await piece(s, later, 10, new Uint8Array(11))).json.error.code, 'length_mismatch');
	const none = await begin(s);
	assert.equal((await piece(s, none, 0, new Uint8Array(), true)).json.error.code, 'empty_body');
	const limit = await call(s, 'POST', '/api/v1/uploads?name=x', { headers: { 'upload-complete': '?0', 'upload-length': String(MAX + 1) } });
	assert.equal(limit.status, 413);
});

test('another digest at the end gives the upload up and leaves nothing', async () => {
	const bytes = fresh();
	for (const when of ['begin', 'end']) {
		const wrong = { 'repr-digest': digest(randomBytes(4)) };
		const at = await begin(s, when === 'begin' ? wrong : {});
		const a = await piece(s, at, 0, bytes, true, when === 'end' ? wrong : {});
		assert.equal(a.status, 400);
		assert.equal(a.json.error.code, 'digest_mismatch');
		assert.equal((await state(s, at)).status, 404);
		assert.ok(!existsSync(part(s, at)));
	}
	const hex = sha(bytes).toString('hex');
	assert.ok(!existsSync(join(s.data, 'blob', hex.slice(0, 2), hex)));
});

test('a cancelled upload is gone, also for who still writes', async () => {
	const at = await begin(s);
	const c = await hang(s, at, 0, new Uint8Array(1000), 5000);
	await partHas(s, at, 1000);
	assert.equal((await call(s, 'DELETE', at)).status, 204);
	assert.ok(!existsSync(part(s, at)));
	let answer = '';
	c.on('data', (d) => (answer += d.toString()));
	c.write(new Uint8Array(4000));
	for (let i = 0; i < 200 && !answer; i++) await sleep(20);
	assert.match(answer, /^HTTP\/1\.1 404/);
	for (const m of ['HEAD', 'DELETE']) assert.equal((await call(s, m, at)).status, 404);
	assert.equal((await piece(s, at, 1000, new Uint8Array(5))).json.error.code, 'no_such_upload');
});

test('requests that do not say what they mean are refused', async () => {
	const at = await begin(s);
	const patch = (headers: Record<string, string>) => call(s, 'PATCH', at, { body: new Uint8Array(5), headers });
	assert.equal((await patch({ 'upload-offset': '0', 'upload-complete': '?0' })).status, 415);
	const good = { 'content-type': PIECE, 'upload-offset': '0', 'upload-complete': '?0' };
	const faults: Record<string, string>[] = [{ 'upload-offset': '-1' }, { 'upload-offset': 'x' }, { 'upload-offset': '' }, { 'upload-complete': '1' }, { 'upload-length': '9'.repeat(16) }, { 'upload-length': '1.5' }, { 'repr-digest': 'sha-256=:xx:' }];
	for (const bad of faults)
		assert.equal((await patch({ ...good, ...bad })).status, 400, JSON.stringify(bad));
	assert.equal((await call(s, 'POST', '/api/v1/uploads?name=x')).status, 400, 'without Upload-Complete');
	assert.equal((await call(s, 'POST', '/api/v1/uploads?name=x&rank=-1', { headers: { 'upload-complete': '?0' } })).status, 400);
	for (const id of ['0', 'x', '12345', '99999999999999999999']) assert.equal((await call(s, 'HEAD', `/api/v1/uploads/${id}`)).status, 404, id);
	assert.equal(offset(await state(s, at)), 0);
	const get = await fetch(s.url + at);
	assert.equal(get.status, 405);
	assert.match(get.headers.get('allow')!, /HEAD/);
});

test('an upload of another project is not there', async () => {
	const t = await startServer({ args: ['--require-tokens'] });
	const token = (project: string) => {
		const env = { ...process.env };
		const out = execFileSync(program('fleetscope-server'), ['token', 'create', '--data', t.data, '--project', project, '--scope', 'upload', '--name', project], { env, encoding: 'utf8' });
		return /fst_\S+|\S{30,}/.exec(out)![0];
	};
	try {
		const a = token('default'), b = token('other'), bytes = fresh();
		const at = await begin(t, { 'idempotency-key': 'k' }, 'name=x', a);
		for (const m of ['HEAD', 'DELETE']) assert.equal((await call(t, m, at, { token: b })).status, 404);
		const p = { 'content-type': PIECE, 'upload-offset': '0', 'upload-complete': '?1' };
		assert.equal((await call(t, 'PATCH', at, { body: bytes, headers: p, token: b })).status, 404);
		const same = await call(t, 'POST', '/api/v1/uploads?name=x', { headers: { 'upload-complete': '?0', 'idempotency-key': 'k' }, token: b });
		assert.notEqual(same.headers.get('location'), at);
		assert.equal((await call(t, 'HEAD', at)).status, 401);
		assert.equal((await call(t, 'PATCH', at, { body: bytes, headers: p, token: a })).status, 202);
	} finally { await t.stop(); }
});

test('restarts and kills of the server lose nothing that it said it has', { timeout: 120000 }, async () => {
	const data = tempDir('fsc-uploads-');
	const bytes = gzipSync(randomBytes(3 << 20), { level: 0 });
	let on = await startServer({ data });
	const at = await begin(on, { 'upload-length': String(bytes.length), 'repr-digest': digest(bytes) });
	let said = 0;
	for (let round = 0; round < 8; round++) {
		const end = Math.min(bytes.length - 1, said + 200000);
		if (round % 3 === 2) { // killed within a piece
			const c = await hang(on, at, said, bytes.subarray(said, end), bytes.length - said);
			await partHas(on, at, said + 1);
			await on.stop('SIGKILL');
			c.destroy();
		} else { // killed or stopped between pieces
			const a = await piece(on, at, said, bytes.subarray(said, end));
			assert.equal(a.status, 204);
			said = offset(a);
			assert.equal(said, end);
			await on.stop(round % 3 ? 'SIGKILL' : 'SIGTERM');
		}
		on = await startServer({ data });
		const now = offset(await state(on, at));
		assert.ok(now >= said && now <= end, `${now} of ${said}..${end}`);
		said = now;
	}
	const last = await piece(on, at, said, bytes.subarray(said), true);
	assert.equal(last.status, 202, JSON.stringify(last.json));
	assert.equal(last.json.sha256, sha(bytes).toString('hex'));
	await on.stop('SIGKILL');
	on = await startServer({ data });
	assert.equal((await piece(on, at, bytes.length, new Uint8Array(), true)).json.id, last.json.id, 'what it became is known after a kill');
	assert.deepEqual(readdirSync(join(data, 'upload')), []);
	await on.stop();
	rmSync(data, { recursive: true, force: true });
});

test('a full disk in the middle is 507, and with room the upload goes on where it was', { timeout: 60000 }, async () => {
	const data = tempDir('fsc-uploads-');
	const bytes = gzipSync(randomBytes(2 << 20), { level: 0 });
	const small = await startServer({ data, wrap: ['sh', '-c', 'ulimit -f 2048; exec "$@"', 'sh'] });
	const at = await begin(small, { 'upload-length': String(bytes.length), 'repr-digest': digest(bytes) });
	assert.equal((await piece(small, at, 0, bytes.subarray(0, 500000))).status, 204);
	const full = await piece(small, at, 500000, bytes.subarray(500000));
	assert.equal(full.status, 507, JSON.stringify(full.json));
	assert.equal(full.json.error.code, 'disk_full');
	const kept = offset(await state(small, at));
	assert.ok(kept >= 500000 && kept <= 1 << 20, `${kept}`);
	assert.equal((await fetch(`${small.url}/readyz`)).status, 200);
	await small.stop();
	const roomy = await startServer({ data });
	assert.equal(offset(await state(roomy, at)), kept);
	const end = await piece(roomy, at, kept, bytes.subarray(kept), true);
	assert.equal(end.json.sha256, sha(bytes).toString('hex'));
	await roomy.stop();
	rmSync(data, { recursive: true, force: true });
});

test('100 uploads at once, each in three pieces, are all kept', async () => {
	const files = Array.from({ length: 100 }, () => fresh(2));
	const ids = await Promise.all(files.map(async (bytes) => {
		const at = await begin(s, { 'upload-length': String(bytes.length) });
		assert.equal((await piece(s, at, 0, bytes.subarray(0, 700))).status, 204);
		assert.equal((await piece(s, at, 700, bytes.subarray(700, 1400))).status, 204);
		const end = await piece(s, at, 1400, bytes.subarray(1400), true);
		assert.equal(end.status, 202);
		assert.equal(end.json.sha256, sha(bytes).toString('hex'));
		return end.json.id as string;
	}));
	assert.equal(new Set(ids).size, 100);
});
