// SPDX-License-Identifier: Apache-2.0
// What people send: good files in every wrapping, and everything that is not one. Each bad input ends in a clear
// refusal or a failed bundle with code, file and offset, and the server goes on.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { createGzip, gzipSync } from 'node:zlib';
import { call } from '../lib/contract.ts';
import { kinetoBytes } from '../lib/kineto.ts';
import { startServer, tempDir, uploadAndWait, waitBundle, type BundleState, type TestServer } from '../lib/server.ts';
import { tar } from '../lib/tar.ts';

const MAX = 64 << 20;
let s: TestServer;
before(async () => { s = await startServer({ args: ['--max-upload', String(MAX)] }); });
after(() => s.stop());
afterEach(async () => { assert.equal((await fetch(`${s.url}/readyz`)).status, 200, 'the server is gone'); });

const zstd = (bytes: Uint8Array): Uint8Array => execFileSync('zstd', ['-q', '-3', '-c'], { input: bytes, maxBuffer: 1 << 28 });
const text = (t: string): Uint8Array => new TextEncoder().encode(t);
const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();
const post = (bytes: Uint8Array, query = 'name=x', headers: Record<string, string> = {}) => call(s, 'POST', `/api/v1/bundles?${query}`, { body: bytes, headers });

async function ready(name: string, bytes: Uint8Array): Promise<BundleState> {
	const b = await uploadAndWait(s, name, bytes);
	assert.equal(b.state, 'ready', JSON.stringify(b));
	return b;
}
async function failed(name: string, bytes: Uint8Array): Promise<BundleState> {
	const b = await uploadAndWait(s, name, bytes);
	assert.equal(b.state, 'failed', JSON.stringify(b));
	assert.ok(b.error, 'no reason given');
	assert.match(b.error.code, /^[a-z0-9_]+$/);
	assert.ok(b.error.message.length > 5);
	return b;
}

test('a plain file, a .gz, a .zst and archives of each end in ready traces', async () => {
	const json = (n: number) => kinetoBytes({ steps: 3 + n, rank: n });
	assert.equal((await ready('a.json', json(0))).traces.length, 1);
	assert.equal((await ready('a.json.gz', gzipSync(json(1)))).traces.length, 1);
	assert.equal((await ready('a.json.zst', zstd(json(2)))).traces.length, 1);
	const members = [3, 4, 5].map((n) => ({ name: `rank_${n}.json`, data: json(n) }));
	const zst = await ready('a.tar.zst', zstd(tar(members)));
	assert.deepEqual(zst.traces.map((t) => [t.member, t.rank]), [['rank_3.json', 3], ['rank_4.json', 4], ['rank_5.json', 5]]);
	const inner = await ready('b.tar.gz', gzipSync(tar([{ name: 'd/', type: '5' }, { name: 'd/r.json.gz', data: gzipSync(json(6)) }])));
	assert.equal(inner.traces[0]!.member, 'd/r.json.gz');
	assert.equal((await ready('two.json.gz', Buffer.concat([gzipSync(json(7).subarray(0, 100)), gzipSync(json(7).subarray(100))]))).traces.length, 1, 'several gzip members');
});

test('an empty body is refused', async () => {
	const r = await post(new Uint8Array());
	assert.equal(r.status, 400);
	assert.equal(r.json.error.code, 'empty_body');
});

test('a wrong digest is refused and leaves nothing behind', async () => {
	const bytes = kinetoBytes({ steps: 20 });
	const bad = await post(bytes, 'name=d', { 'repr-digest': `sha-256=:${Buffer.alloc(32).toString('base64')}:` });
	assert.equal(bad.status, 400);
	assert.equal(bad.json.error.code, 'digest_mismatch');
	const hex = sha256(bytes).toString('hex');
	assert.ok(!existsSync(join(s.data, 'blob', hex.slice(0, 2), hex)));
	for (const header of ['sha-256=:xx:', 'sha-256=:AAAA:', 'sha-256=:' + 'A'.repeat(44)]) {
		const r = await post(bytes, 'name=d', { 'repr-digest': header });
		assert.equal(r.json.error.code, 'bad_digest', header);
	}
	const good = await post(bytes, 'name=d', { 'repr-digest': `sha-512=:AAAA:, sha-256=:${sha256(bytes).toString('base64')}:` });
	assert.equal(good.status, 202);
	assert.equal(good.json.sha256, hex);
});

test('an idempotency key stands for its bytes', async () => {
	const one = kinetoBytes({ steps: 21 });
	const first = await post(one, 'name=k', { 'idempotency-key': 'key-1' });
	const again = await post(one, 'name=k', { 'idempotency-key': 'key-1' });
	assert.equal(again.json.id, first.json.id);
	const other = await post(kinetoBytes({ steps: 22 }), 'name=k', { 'idempotency-key': 'key-1' });
	assert.equal(other.status, 409);
	assert.equal(other.json.error.code, 'idempotency_conflict');
});

test('bad metadata is refused', async () => {
	for (const q of ['rank=-1', 'rank=x', 'rank=99999999999', `name=${'n'.repeat(300)}`, 'job=%01', 'host=%ff']) {
		const r = await post(kinetoBytes(), q);
		assert.equal(r.status, 400, q);
	}
});

test('a body over the limit is refused, announced or not', async () => {
	const big = new Uint8Array(MAX + 1);
	const known = await fetch(`${s.url}/api/v1/bundles?name=big`, { method: 'POST', body: big, headers: { expect: '' } }).catch(() => undefined);
	if (known) assert.equal(known.status, 413);
	const curl = spawnSync('curl', ['-s', '-o', '/dev/null', '-w', '%{http_code}', '-T', '-', '-X', 'POST', `${s.url}/api/v1/bundles?name=big`], { input: big, encoding: 'utf8' });
	assert.equal(curl.stdout, '413');
	assert.deepEqual(readdirSync(join(s.data, 'tmp')), [], 'the rest of an upload stays');
});

const notTraces: Record<string, () => Uint8Array> = {
	'random bytes': () => randomBytes(5000),
	'one NUL byte': () => new Uint8Array(1),
	'an HTML page': () => text('<!doctype html><html><body>502 Bad Gateway</body></html>'),
	'plain text': () => text('hello world\n'.repeat(100)),
	'a JSON document that is no trace': () => text('{"a":[1,2,3],"b":{"c":null}}'),
	'an empty JSON array': () => text('[]'),
	'JSON cut in the middle': () => kinetoBytes({ steps: 30 }).subarray(0, 4000),
	'a gzip cut in the middle': () => { const g = gzipSync(kinetoBytes({ steps: 31 })); return g.subarray(0, g.length / 2); },
	'a gzip without its last bytes': () => { const g = gzipSync(kinetoBytes({ steps: 32 })); return g.subarray(0, g.length - 4); },
	'a gzip with one bit flipped': () => { const g = Buffer.from(gzipSync(kinetoBytes({ steps: 33 }))); g[g.length - 6]! ^= 1; return g; },
	'a zstd cut in the middle': () => { const z = zstd(kinetoBytes({ steps: 34 })); return z.subarray(0, z.length / 2); },
	'an empty archive': () => gzipSync(tar([])),
	'an archive cut in the middle': () => zstd(tar([{ name: 'a.json', data: kinetoBytes({ steps: 35 }) }]).subarray(0, 1500)),
	'100000 nested arrays': () => text('{"traceEvents":' + '['.repeat(100000)),
};
for (const [what, bytes] of Object.entries(notTraces)) {
	test(`${what}: the bundle fails with a reason`, async () => {
		const b = await failed(`${what}.bin`, bytes());
		assert.equal(b.traces.length, 0);
	});
}

test('a broken number costs its event and is counted, not hidden', async () => {
	const b = await ready('number.json', text('{"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1.2.3,"dur":1},{"ph":"X","name":"b","pid":1,"tid":1,"ts":5,"dur":1}]}'));
	assert.ok(b.losses.some((l) => l.code === 'number_malformed' && l.count === 1), JSON.stringify(b.losses));
});

test('a fault in a file is told with the file and the byte', async () => {
	const cut = kinetoBytes({ steps: 36 }).subarray(0, 3000);
	const b = await failed('cut.json', cut);
	assert.equal(b.error!.file, 'cut.json');
	assert.ok(b.error!.offset! > 2500 && b.error!.offset! <= 3000, `offset ${b.error!.offset}`);
});

const PIECE = Buffer.alloc(1 << 20, '[');
test('1 GB of [ fails quickly and without memory', async () => {
	const parts: Buffer[] = [];
	const gz = createGzip({ level: 1 });
	gz.on('data', (d: Buffer) => parts.push(d));
	const packed = new Promise((done) => gz.on('end', done));
	for (let i = 0; i < 1024; i++) if (!gz.write(PIECE)) await new Promise((r) => gz.once('drain', r));
	gz.end();
	await packed;
	const start = Date.now();
	const b = await failed('brackets.json.gz', Buffer.concat(parts));
	assert.ok(Date.now() - start < 20000, `${Date.now() - start} ms`);
	assert.ok(b.error!.code, JSON.stringify(b.error));
});

test('hostile archives write nothing by name, and their good members are still read', async () => {
	const outside = join(s.data, '..', `fsc-evil-${process.pid}.json`);
	const good = { name: 'good.json', data: kinetoBytes({ steps: 40 }) };
	const evil = kinetoBytes({ steps: 41 });
	const b = await ready('evil.tar.zst', zstd(tar([
		{ name: `../${outside.split('/').pop()}`, data: evil }, { name: `/tmp/fsc-evil-${process.pid}.json`, data: evil }, { name: 'link.json', type: '2', link: '/etc/passwd' },
		{ name: 'hard.json', type: '1', link: '../../etc/passwd' }, { name: 'device', type: '3' }, good, { name: 'good.json', data: evil },
	])));
	assert.deepEqual(b.traces.map((t) => t.member), ['good.json']);
	assert.deepEqual(b.failures.map((f) => f.code).sort(), ['member_absolute', 'member_device', 'member_duplicate', 'member_hardlink', 'member_symlink', 'member_traversal']);
	assert.ok(!existsSync(outside) && !existsSync(`/tmp/fsc-evil-${process.pid}.json`));
	const only = await failed('onlyevil.tar.gz', gzipSync(tar([{ name: '../x.json', data: evil }])));
	assert.equal(only.failures[0]!.code, 'member_traversal');
});

test('one bad rank fails alone', async () => {
	const b = await ready('ranks.tar.zst', zstd(tar([
		{ name: 'rank_0.json', data: kinetoBytes({ steps: 50, rank: 0 }) }, { name: 'rank_1.json', data: kinetoBytes({ steps: 51, rank: 1 }).subarray(0, 2000) },
		{ name: 'rank_2.json', data: kinetoBytes({ steps: 52, rank: 2 }) }, { name: 'notes.txt', data: text('not a trace') },
	])));
	assert.deepEqual(b.traces.map((t) => t.rank), [0, 2]);
	const bad = b.failures.find((f) => f.file === 'rank_1.json')!;
	assert.equal(bad.outcome, 'failed');
	assert.ok(bad.offset! > 1500);
	assert.equal(b.failures.find((f) => f.file === 'notes.txt')!.outcome, 'skipped');
});

test('a client that goes away in the middle leaves nothing behind', async () => {
	const c = connect(s.port, '127.0.0.1');
	c.on('error', () => undefined);
	c.write(`POST /api/v1/bundles?name=gone HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5000000\r\n\r\n`);
	c.write(new Uint8Array(1000000));
	for (let i = 0; i < 50 && !readdirSync(join(s.data, 'tmp')).length; i++) await new Promise((r) => setTimeout(r, 20));
	assert.equal(readdirSync(join(s.data, 'tmp')).length, 1, 'nothing arrived');
	c.destroy();
	for (let i = 0; i < 50 && readdirSync(join(s.data, 'tmp')).length; i++) await new Promise((r) => setTimeout(r, 50));
	assert.deepEqual(readdirSync(join(s.data, 'tmp')), []);
});

test('50 uploads at once are all kept', async () => {
	const sent = await Promise.all(Array.from({ length: 50 }, (_, i) => post(kinetoBytes({ steps: 1, kernels: 1 + i, rank: i }), `name=many-${i}`)));
	assert.ok(sent.every((r) => r.status === 202));
	assert.equal(new Set(sent.map((r) => r.json.id)).size, 50);
	for (const r of sent) assert.equal((await waitBundle(s, r.json.id)).state, 'ready');
});

test('a full disk refuses uploads with 507, and reading and deleting go on', async (t) => {
	const dir = tempDir();
	if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=96m', 'tmpfs', dir]).status !== 0) {
		rmSync(dir, { recursive: true });
		t.skip('no right to mount a small file system');
		return;
	}
	try {
		const full = await startServer({ data: dir });
		try {
			const r = await call(full, 'POST', '/api/v1/bundles?name=x', { body: kinetoBytes() });
			assert.equal(r.status, 507);
			assert.equal(r.json.error.code, 'disk_full');
			assert.ok(Number(r.headers.get('retry-after')) > 0);
			assert.equal((await call(full, 'GET', '/api/v1/traces')).status, 200);
			assert.equal((await call(full, 'DELETE', '/api/v1/bundles/1')).status, 404);
		} finally { await full.stop(); }
	} finally {
		spawnSync('umount', [dir]);
		rmSync(dir, { recursive: true, force: true });
	}
});

test('nothing outside blob, seg, tmp and the database is written', () => {
	const names = readdirSync(s.data).map((n) => n.replace(/-(wal|shm)$/, ''));
	assert.deepEqual([...new Set(names)].filter((n) => !['blob', 'seg', 'tmp', 'upload', 'reserve', 'fleetscope.db', 'lock', 'fleetscope.db.lock', 'files.lock'].includes(n)), []);
});

test('memory stays bounded through all of it', () => {
	const rss = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${s.child.pid}/status`, 'utf8'));
	assert.ok(rss && Number(rss[1]) < 400 * 1024, `peak ${rss?.[1]} kB`);
});
