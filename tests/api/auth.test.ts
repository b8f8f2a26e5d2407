// SPDX-License-Identifier: Apache-2.0
// Who may: tokens, scopes, projects, login cookies, the first token. Loopback needs none unless told.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { call } from '../lib/contract.ts';
import { kinetoBytes } from '../lib/kineto.ts';
import { program, sleep, startServer, tempDir, type TestServer } from '../lib/server.ts';

let s: TestServer, admin: string;
before(async () => {
	s = await startServer({ args: ['--require-tokens'] });
	admin = /first admin token, shown once: (fst_[0-9a-f]{40})/.exec(s.stdout())![1]!;
});
after(() => s.stop());

const make = async (scopes: string[], extra: object = {}): Promise<{ id: string; secret: string }> => (await call(s, 'POST', '/api/v1/tokens', { token: admin, body: { name: scopes.join('+'), scopes, ...extra } })).json;
const status = async (method: string, path: string, token?: string, body?: Uint8Array): Promise<number> => (await call(s, method, path, { token, body })).status;
/** What another process did to a token is seen within a second of the last look at the database (auth/cache.h). */
async function endsWithin(ms: number, method: string, path: string, token: string): Promise<void> {
	const start = Date.now();
	let last = 0;
	while (last !== 401) {
		const asked = Date.now() - start;
		last = await status(method, path, token);
		assert.ok(last === 401 || asked <= ms, `${last} ${asked} ms after the token ended`);
		if (last !== 401) await sleep(50);
	}
}

test('without a token nothing but the open calls answers', async () => {
	for (const path of ['/api/v1/traces', '/api/v1/bundles', '/api/v1/tokens', '/api/v1/whoami', '/metrics', '/api/v1/traces/1/export/perfetto']) {
		const r = await call(s, 'GET', path);
		assert.equal(r.status, 401, path);
		assert.match(r.headers.get('www-authenticate')!, /^Bearer/);
		assert.equal(r.json.error.code, 'token_required');
	}
	assert.equal(await status('POST', '/api/v1/bundles?name=x', undefined, kinetoBytes()), 401);
	for (const path of ['/healthz', '/readyz', '/api/v1/server', '/api/v1/openapi.json']) assert.equal(await status('GET', path), 200, path);
	assert.equal((await fetch(`${s.url}/login`)).status, 200, 'the login page is a page');
});

test('a wrong token is refused, also where none is needed to know who asks', async () => {
	for (const token of ['fst_0000000000000000000000000000000000000000', 'x', `${admin}0`, admin.slice(0, -1), admin.toUpperCase()]) {
		const r = await call(s, 'GET', '/api/v1/traces', { token });
		assert.equal(r.status, 401);
		assert.equal(r.json.error.code, 'bad_token');
	}
	const basic = await call(s, 'GET', '/api/v1/traces', { headers: { authorization: `Basic ${btoa(`x:${admin}`)}` } });
	assert.equal(basic.status, 401);
});

test('each scope opens its calls and no others', async () => {
	const read = await make(['read']), upload = await make(['upload']), capture = await make(['capture']);
	const want: [string, string, number, number, number][] = [ // read, upload, capture
		['GET', '/api/v1/traces', 200, 403, 403],
		['GET', '/api/v1/bundles', 200, 403, 403],
		['GET', '/metrics', 200, 403, 403],
		['POST', '/api/v1/bundles?name=x', 403, 202, 403],
		['GET', '/api/v1/tokens', 403, 403, 403],
		['DELETE', '/api/v1/bundles/1', 403, 403, 403],
	];
	for (const [method, path, r, u, c] of want) {
		const body = method === 'POST' ? kinetoBytes() : undefined;
		assert.equal(await status(method, path, read.secret, body), r, `read ${method} ${path}`);
		assert.equal(await status(method, path, upload.secret, body), u, `upload ${method} ${path}`);
		assert.equal(await status(method, path, capture.secret, body), c, `capture ${method} ${path}`);
	}
	const r = await call(s, 'GET', '/api/v1/tokens', { token: read.secret });
	assert.equal(r.json.error.code, 'scope_missing');
	assert.deepEqual((await call(s, 'GET', '/api/v1/whoami', { token: upload.secret })).json, { project: 'default', projects: ['default'], scopes: ['upload'], operator: false, user: null, via: 'token', auth: 'token' });
});

test('a revoked token and its session end at once', async () => {
	const t = await make(['read']);
	const login = await call(s, 'POST', '/api/v1/login', { body: { token: t.secret } });
	const cookie = login.headers.get('set-cookie')!.split(';')[0]!;
	assert.equal((await call(s, 'GET', '/api/v1/traces', { headers: { cookie } })).status, 200);
	assert.equal(await status('GET', '/api/v1/traces', t.secret), 200);
	assert.equal(await status('DELETE', `/api/v1/tokens/${t.id}`, admin), 204);
	assert.equal(await status('GET', '/api/v1/traces', t.secret), 401);
	assert.equal((await call(s, 'GET', '/api/v1/traces', { headers: { cookie } })).status, 401);
});

test('the cookie is closed to scripts and other sites, and cannot be altered', async () => {
	const t = await make(['read']);
	const r = await call(s, 'POST', '/api/v1/login', { body: { token: t.secret } });
	assert.equal(r.status, 204);
	const set = r.headers.get('set-cookie')!;
	assert.match(set, /^fleetscope_session=[0-9a-f]{64}\.[0-9]+\.[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/);
	assert.ok(!set.includes(t.secret));
	const cookie = set.split(';')[0]!;
	const who = (await call(s, 'GET', '/api/v1/whoami', { headers: { cookie } })).json;
	assert.deepEqual([who.via, who.auth], ['session', 'cookie']);
	const [digest, expiry, mac] = cookie.split('=')[1]!.split('.') as [string, string, string];
	for (const forged of [`${digest}.${Number(expiry) + 1}.${mac}`, `${'0'.repeat(64)}.${expiry}.${mac}`, `${digest}.${expiry}.${'0'.repeat(64)}`, `${digest}.${expiry}`, `${digest}.1.${mac}`, '', '...', digest]) {
		assert.equal((await call(s, 'GET', '/api/v1/traces', { headers: { cookie: `fleetscope_session=${forged}` } })).status, 401, forged);
	}
	assert.equal((await call(s, 'POST', '/api/v1/login', { body: { token: 'fst_0000000000000000000000000000000000000000' } })).status, 401);
	const out = await call(s, 'POST', '/api/v1/logout', { headers: { cookie } });
	assert.match(out.headers.get('set-cookie')!, /^fleetscope_session=; .*Max-Age=0/);
	const secure = await call(s, 'POST', '/api/v1/login', { body: { token: t.secret }, headers: { 'x-forwarded-proto': 'https' } });
	assert.match(secure.headers.get('set-cookie')!, /; Secure$/);
});

test('a page of another origin cannot use the cookie', async () => {
	const login = await call(s, 'POST', '/api/v1/login', { body: { token: admin } });
	const cookie = login.headers.get('set-cookie')!.split(';')[0]!;
	const r = await fetch(`${s.url}/api/v1/tokens`, { method: 'POST', headers: { cookie, origin: 'http://evil.example' }, body: '{"name":"x","scopes":["admin"]}' });
	assert.equal(r.status, 403);
});

test('tokens of one project do not see another', async () => {
	const cli = (...args: string[]) => spawnSync(program('fleetscope-server'), ['--data', s.data, 'token', ...args], { encoding: 'utf8' });
	const made = cli('create', '--name', 'other', '--scopes', 'read,upload,admin', '--project', 'other');
	assert.equal(made.status, 0, made.stderr);
	const other = made.stdout.trim();
	assert.match(other, /^fst_[0-9a-f]{40}$/);
	assert.equal((await call(s, 'GET', '/api/v1/whoami', { token: other })).json.project, 'other');
	const mine = await call(s, 'POST', '/api/v1/bundles?name=mine', { token: admin, body: kinetoBytes({ steps: 2 }) });
	assert.equal(mine.status, 202);
	assert.equal(await status('GET', `/api/v1/bundles/${mine.json.id}`, other), 404);
	assert.equal(await status('DELETE', `/api/v1/bundles/${mine.json.id}`, other), 404);
	assert.equal(await status('POST', `/api/v1/bundles/${mine.json.id}/reindex`, other), 404);
	assert.equal((await call(s, 'GET', '/api/v1/bundles', { token: other })).json.total, 0);
	const same = await call(s, 'POST', '/api/v1/bundles?name=theirs', { token: other, body: kinetoBytes({ steps: 2 }) });
	assert.equal(same.json.duplicate, false, 'that the bytes are there already is not told across projects');
	assert.notEqual(same.json.id, mine.json.id);
	assert.ok(!(await call(s, 'GET', '/api/v1/tokens', { token: other })).json.items.some((t: { name: string }) => t.name === 'first admin token'));
	const listed = cli('list', '--project', 'other');
	assert.match(listed.stdout, /other\tread,upload,admin/);
	const id = listed.stdout.split('\t')[0]!;
	assert.equal(cli('revoke', id, '--project', 'other').status, 0);
	await endsWithin(1000, 'GET', '/api/v1/bundles', other);
	assert.equal(cli('create').status, 1, 'a name is needed');
	assert.notEqual(cli('nonsense').status, 0);
});

test('secrets are kept as digests and the folder is closed to others', async () => {
	const t = await make(['read']);
	const grep = spawnSync('grep', ['-rlF', t.secret, s.data]);
	assert.equal(grep.status, 1, 'the secret lies in the data folder');
	assert.equal(statSync(join(s.data, 'fleetscope.db')).mode & 0o077, 0);
	assert.ok(!s.log().includes(t.secret) && !s.log().includes(admin));
});

test('a token ends at its time', async () => {
	const t = await make(['read'], { expires_days: 1 });
	assert.equal(await status('GET', '/api/v1/traces', t.secret), 200);
	const list = (await call(s, 'GET', '/api/v1/tokens', { token: admin })).json.items;
	const row = list.find((x: { id: string }) => x.id === t.id);
	const days = (Date.parse(row.expires_at) - Date.now()) / 86400000;
	assert.ok(days > 0.99 && days <= 1, `${days}`);
	const past = spawnSync('sqlite3', [join(s.data, 'fleetscope.db'), `UPDATE token SET expires_at=1000000000 WHERE id=${t.id}`]);
	assert.equal(past.status, 0, String(past.stderr));
	await endsWithin(1000, 'GET', '/api/v1/traces', t.secret);
});

test('the name of a token does nothing to a terminal', async () => {
	for (const name of ['a\u001b[2Jb', 'a\nb', 'a\u007f', 'a\u009b2Jb']) {
		const r = await call(s, 'POST', '/api/v1/tokens', { token: admin, body: { name, scopes: ['read'] } });
		assert.deepEqual([r.status, r.json.error?.code], [400, 'bad_name'], JSON.stringify(name));
	}
	assert.equal((await call(s, 'POST', '/api/v1/tokens', { token: admin, body: { name: 'Bücher £', scopes: ['read'] } })).status, 201);
});

test('the first admin token may come from a file and is then not shown', async () => {
	const dir = tempDir();
	const file = join(dir, 'token');
	writeFileSync(file, 'a-token-of-my-own-choice\n');
	const one = await startServer({ args: ['--require-tokens'], env: { FLEETSCOPE_ADMIN_TOKEN_FILE: file } });
	assert.ok(!one.stdout().includes('shown once'));
	assert.equal((await call(one, 'GET', '/api/v1/tokens', { token: 'a-token-of-my-own-choice' })).status, 200);
	const { items } = (await call(one, 'GET', '/api/v1/audit', { token: 'a-token-of-my-own-choice' })).json;
	assert.deepEqual(items.map((r: { action: string; actor: string }) => [r.action, r.actor]), [['token.create', 'config']]);
	await one.stop();
	rmSync(dir, { recursive: true });
});

test('the first token is shown once, at the first start only', async () => {
	const data = tempDir();
	const one = await startServer({ args: ['--require-tokens'], data });
	const token = /shown once: (\S+)/.exec(one.stdout())![1]!;
	await one.stop();
	const two = await startServer({ args: ['--require-tokens'], data });
	assert.ok(!two.stdout().includes('shown once'));
	assert.equal((await call(two, 'GET', '/api/v1/tokens', { token })).status, 200, 'it holds across a restart');
	const { items } = (await call(two, 'GET', '/api/v1/audit', { token })).json;
	assert.deepEqual(items.map((r: { action: string; actor: string }) => [r.action, r.actor]), [['token.create', 'first start']]);
	await two.stop();
	rmSync(data, { recursive: true });
});

test('another address than loopback asks for tokens by itself', async () => {
	const one = await startServer({ args: ['--listen', '0.0.0.0:0'] });
	const local: TestServer = { ...one, url: one.url.replace('0.0.0.0', '127.0.0.1') };
	assert.match(one.stdout(), /shown once/);
	assert.equal((await call(local, 'GET', '/api/v1/traces')).status, 401);
	await one.stop();
});

test('a server that answers to a name, so behind a proxy, asks for tokens too', async () => {
	const one = await startServer({ args: ['--allow-host', 'perf.example.com'] });
	assert.match(one.stdout(), /shown once/);
	assert.equal((await call(one, 'GET', '/api/v1/traces')).status, 401);
	await one.stop();
});

test('what a proxy passes on is not taken for the machine itself', async () => {
	const one = await startServer();
	assert.equal((await call(one, 'GET', '/api/v1/traces')).status, 200);
	for (const [name, value] of [['x-forwarded-for', '203.0.113.9'], ['forwarded', 'for=203.0.113.9'], ['via', '1.1 proxy'], ['x-real-ip', '203.0.113.9'], ['x-forwarded-host', 'perf.example.com'], ['x-forwarded-proto', 'https'], ['x-forwarded-port', '443'], ['x-forwarded-server', 'proxy']] as const) {
		assert.equal((await call(one, 'GET', '/api/v1/traces', { headers: { [name]: value } })).status, 401, name);
		assert.equal((await call(one, 'POST', '/api/v1/tokens', { headers: { [name]: value }, body: { name: 'x', scopes: ['admin'] } })).status, 401, name);
	}
	await one.stop();
	const open = await startServer({ args: ['--allow-host', 'perf.example.com', '--no-tokens'] });
	assert.equal((await call(open, 'GET', '/api/v1/traces', { headers: { 'x-forwarded-for': '203.0.113.9' } })).status, 200, 'asked for in words');
	await open.stop();
	const wide = await startServer({ args: ['--listen', '0.0.0.0:0', '--no-tokens'] });
	assert.equal((await call({ ...wide, url: wide.url.replace('0.0.0.0', '127.0.0.1') }, 'GET', '/api/v1/traces')).status, 401, 'never beyond loopback');
	await wide.stop();
});

test('administrative acts leave a row', () => {
	const r = spawnSync('sqlite3', [join(s.data, 'fleetscope.db'), 'SELECT DISTINCT action FROM audit ORDER BY 1'], { encoding: 'utf8' });
	for (const action of ['login', 'token.create', 'token.revoke']) assert.ok(r.stdout.split('\n').includes(action), `${action} in ${r.stdout}${r.stderr}`);
});
