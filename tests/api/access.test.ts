// SPDX-License-Identifier: Apache-2.0
// Projects, the token list, the audit list, users of a trusted proxy, rate limits.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { call, type Answer } from '../lib/contract.ts';
import { kinetoBytes } from '../lib/kineto.ts';
import { raw, statuses } from '../lib/raw.ts';
import { program, startServer, tempDir, type TestServer } from '../lib/server.ts';

let s: TestServer;
const dir = tempDir();
before(async () => { s = await startServer(); });
after(async () => { await s.stop(); rmSync(dir, { recursive: true }); });

const enter = (project: string, more: Record<string, string> = {}): Record<string, string> => ({ 'x-fleetscope-project': project, ...more });
const get = (at: TestServer, path: string, headers: Record<string, string> = {}, token?: string): Promise<Answer> => call(at, 'GET', path, { headers, token });
const names = (a: Answer): string[] => a.json.items.map((x: { name: string }) => x.name);

// ---- projects

test('loopback makes projects and enters them by header or cookie', async () => {
	const who = (await get(s, '/api/v1/whoami')).json;
	assert.deepEqual(who, { project: 'default', projects: ['default'], scopes: ['read', 'upload', 'capture', 'admin'], operator: true, user: null, via: 'loopback', auth: 'loopback' });
	const made = await call(s, 'POST', '/api/v1/projects', { body: { name: 'vision' } });
	assert.equal(made.status, 201);
	assert.equal(made.json.name, 'vision');
	assert.equal((await call(s, 'POST', '/api/v1/projects', { body: { name: 'vision' } })).json.error.code, 'project_exists');
	for (const name of ['', 'Vision', 'a b', '-a', 'a'.repeat(64), 5, undefined]) {
		const r = await call(s, 'POST', '/api/v1/projects', { body: { name } });
		assert.deepEqual([r.status, r.json.error.code], [400, 'project_name'], String(name));
	}
	const list = await get(s, '/api/v1/projects', enter('vision'));
	assert.deepEqual(list.json.items.map((p: { name: string; current: boolean }) => [p.name, p.current]), [['default', false], ['vision', true]]);
	assert.equal(list.json.total, 2);
	assert.equal((await call(s, 'POST', '/api/v1/bundles?name=v', { body: kinetoBytes(), headers: enter('vision') })).status, 202);
	assert.equal((await get(s, '/api/v1/bundles', enter('vision'))).json.total, 1);
	assert.equal((await get(s, '/api/v1/bundles', { cookie: 'fleetscope_project=vision' })).json.total, 1);
	assert.equal((await get(s, '/api/v1/bundles')).json.total, 0);
	assert.equal((await get(s, '/api/v1/bundles', enter('default', { cookie: 'fleetscope_project=vision' }))).json.total, 0, 'the header goes before the cookie');
});

test('a header that does not fit is refused, a cookie that does not fit is passed over', async () => {
	for (const name of ['nobody', 'Vision', '', '../vision', 'x'.repeat(200)]) {
		const r = await get(s, '/api/v1/bundles', enter(name));
		assert.deepEqual([r.status, r.json.error.code], [403, 'project_denied'], name);
		assert.equal((await get(s, '/api/v1/whoami', { cookie: `fleetscope_project=${name}` })).json.project, 'default', name);
	}
	assert.deepEqual((await get(s, '/api/v1/whoami', enter('nobody'))).json.error.code, 'project_denied');
	const twice = await raw(s.port, 'GET /api/v1/bundles HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Fleetscope-Project: vision\r\nX-Fleetscope-Project: default\r\nConnection: close\r\n\r\n');
	assert.deepEqual(statuses(twice), [403]);
});

test('a token stays in its project and cannot make others', async () => {
	const t = (await call(s, 'POST', '/api/v1/tokens', { headers: enter('vision'), body: { name: 'v', scopes: ['admin'] } })).json;
	const who = (await get(s, '/api/v1/whoami', {}, t.secret)).json;
	assert.deepEqual([who.project, who.projects, who.operator, who.via], ['vision', ['vision'], false, 'token']);
	assert.equal((await get(s, '/api/v1/bundles', enter('vision'), t.secret)).json.total, 1);
	assert.equal((await get(s, '/api/v1/bundles', { cookie: 'fleetscope_project=default' }, t.secret)).json.total, 1);
	for (const name of ['default', 'nobody']) assert.equal((await get(s, '/api/v1/bundles', enter(name), t.secret)).json.error.code, 'project_denied', name);
	assert.deepEqual(names(await get(s, '/api/v1/projects', {}, t.secret)), ['vision']);
	const r = await call(s, 'POST', '/api/v1/projects', { token: t.secret, body: { name: 'mine' } });
	assert.deepEqual([r.status, r.json.error.code], [403, 'operator_only']);
	assert.equal((await get(s, '/metrics', {}, t.secret)).json.error.code, 'operator_only', 'figures are of all projects');
});

test('token create makes the project that is missing and says so', async () => {
	const r = spawnSync(program('fleetscope-server'), ['--data', s.data, 'token', 'create', '--name', 'a', '--project', 'audio'], { encoding: 'utf8' });
	assert.equal(r.status, 0, r.stderr);
	assert.match(r.stderr, /made the project audio/);
	assert.equal((await get(s, '/api/v1/whoami', {}, r.stdout.trim())).json.project, 'audio');
	const rows = (await get(s, '/api/v1/audit', enter('audio'))).json.items;
	assert.deepEqual(rows.map((x: { actor: string; action: string }) => [x.actor, x.action]), [['cli', 'token.create'], ['cli', 'project.create']]);
	const bad = spawnSync(program('fleetscope-server'), ['--data', s.data, 'token', 'create', '--name', 'a', '--project', 'No Name'], { encoding: 'utf8' });
	assert.equal(bad.status, 1);
});

// ---- tokens

test('the token list shows prefix, maker, use and, when asked, the revoked ones', async () => {
	const headers = enter('default');
	const t = (await call(s, 'POST', '/api/v1/tokens', { headers, body: { name: 'ci', scopes: ['read', 'upload'], expires_in_days: 30 } })).json;
	assert.equal(t.secret.slice(0, 10), t.prefix);
	assert.equal(t.created_by, 'loopback');
	assert.ok(Date.parse(t.expires_at) > Date.now() + 29 * 86400000);
	const byToken = (await call(s, 'POST', '/api/v1/tokens', { headers, body: { name: 'boss', scopes: ['admin'] } })).json;
	const made = (await call(s, 'POST', '/api/v1/tokens', { token: byToken.secret, body: { name: 'made', scopes: ['read'] } })).json;
	assert.equal(made.created_by, `token:${byToken.id}`);
	const find = async (query: string, id: string) => (await get(s, `/api/v1/tokens${query}`, headers)).json.items.find((x: { id: string }) => x.id === id);
	const row = await find('', t.id);
	assert.deepEqual([row.prefix, row.created_by, row.secret, row.revoked_at], [t.prefix, 'loopback', undefined, undefined]);
	assert.equal((await call(s, 'DELETE', `/api/v1/tokens/${t.id}`, { headers })).status, 204);
	assert.equal(await find('', t.id), undefined);
	assert.ok(Date.parse((await find('?revoked=1', t.id)).revoked_at) > Date.now() - 60000);
	assert.equal((await find('?revoked=1', made.id)).revoked_at, undefined);
	assert.equal((await get(s, '/api/v1/tokens?revoked=2')).status, 400);
	assert.equal((await call(s, 'POST', '/api/v1/tokens', { body: { name: 'x', scopes: ['read'], expires_in_days: 0 } })).json.error.code, 'bad_expiry');
});

test('a token that is revoked here ends at once, though it was in use', async () => {
	for (let i = 0; i < 20; i++) {
		const t = (await call(s, 'POST', '/api/v1/tokens', { body: { name: 'short', scopes: ['read'] } })).json;
		const busy = Array.from({ length: 4 }, () => get(s, '/api/v1/traces', {}, t.secret));
		assert.equal((await call(s, 'DELETE', `/api/v1/tokens/${t.id}`)).status, 204);
		assert.equal((await get(s, '/api/v1/traces', {}, t.secret)).status, 401);
		for (const r of await Promise.all(busy)) assert.ok([200, 401].includes(r.status));
		assert.equal((await get(s, '/api/v1/traces', {}, t.secret)).status, 401, 'what was read before is not believed after');
	}
});

// ---- audit

test('the audit list pages and filters', async () => {
	const headers = enter('paging');
	await call(s, 'POST', '/api/v1/projects', { body: { name: 'paging' } });
	for (let i = 0; i < 5; i++) {
		const t = (await call(s, 'POST', '/api/v1/tokens', { headers, body: { name: `t${i}`, scopes: ['read'] } })).json;
		if (i % 2) await call(s, 'DELETE', `/api/v1/tokens/${t.id}`, { headers });
	}
	const seen: { id: string; action: string; detail: string; actor: string; remote: string }[] = [];
	let path = '/api/v1/audit?limit=3', pages = 0;
	for (; pages < 10; pages++) {
		const page = (await get(s, path, headers)).json;
		assert.equal(page.total, 7);
		seen.push(...page.items);
		if (!page.next) break;
		path = `/api/v1/audit?limit=3&cursor=${page.next}`;
	}
	assert.equal(pages, 2);
	assert.equal(new Set(seen.map((r) => r.id)).size, 7);
	assert.deepEqual(seen.map((r) => r.action), ['token.create', 'token.revoke', 'token.create', 'token.create', 'token.revoke', 'token.create', 'token.create']);
	assert.deepEqual([seen[0]!.detail, seen[0]!.actor, seen[0]!.remote], ['t4', 'loopback', '127.0.0.1']);
	assert.equal((await get(s, '/api/v1/audit?action=token.revoke', headers)).json.total, 2);
	assert.equal((await get(s, '/api/v1/audit?action=token.', headers)).json.total, 7);
	assert.equal((await get(s, '/api/v1/audit?action=login', headers)).json.total, 0);
	for (const bad of ['limit=0', 'limit=501', 'cursor=zz', `action=${'a'.repeat(65)}`]) assert.equal((await get(s, `/api/v1/audit?${bad}`, headers)).status, 400, bad);
	assert.ok((await get(s, '/api/v1/audit?action=project.create')).json.items.some((r: { subject: string }) => r.subject === 'paging'));
});

// ---- trusted proxy

const groups = '[groups]\nml = vision:read,upload audio:read\nleads = vision:admin\nops = *:admin\n';
async function behindProxy(args: string[] = ['--trusted-proxy', '127.0.0.1'], ini = groups): Promise<TestServer> {
	const file = join(dir, `c${Math.random()}.ini`);
	writeFileSync(file, ini);
	return startServer({ args: ['--config', file, ...args] });
}
const as = (user: string, list = '', more: Record<string, string> = {}): Record<string, string> => ({ 'x-forwarded-user': user, 'x-forwarded-groups': list, 'x-forwarded-for': '203.0.113.9', ...more });

test('a trusted proxy names users, whose groups have rights in projects', async () => {
	const p = await behindProxy();
	const ann = (await get(p, '/api/v1/whoami', as('ann', 'x, ml ,y'))).json;
	assert.deepEqual(ann, { project: 'vision', projects: ['audio', 'vision'], scopes: ['read', 'upload'], operator: false, user: 'ann', via: 'proxy', auth: 'proxy' });
	assert.deepEqual((await get(p, '/api/v1/whoami', as('ann', 'ml', enter('audio')))).json.scopes, ['read'], 'rights are of each project');
	assert.equal((await get(p, '/api/v1/whoami', as('ann', 'ml', { cookie: 'fleetscope_project=audio' }))).json.project, 'audio');
	for (const name of ['default', 'nobody']) assert.equal((await get(p, '/api/v1/traces', as('ann', 'ml', enter(name)))).json.error.code, 'project_denied', name);
	assert.equal((await call(p, 'POST', '/api/v1/bundles?name=x', { body: kinetoBytes(), headers: as('ann', 'ml') })).status, 202);
	assert.equal((await call(p, 'POST', '/api/v1/bundles?name=x', { body: kinetoBytes(), headers: as('ann', 'ml', enter('audio')) })).json.error.code, 'scope_missing');
	assert.equal((await get(p, '/api/v1/tokens', as('ann', 'ml'))).json.error.code, 'scope_missing');
	assert.equal((await get(p, '/metrics', as('ann', 'ml'))).json.error.code, 'operator_only');
	const lead = (await get(p, '/api/v1/whoami', as('bob', 'leads,ml'))).json;
	assert.deepEqual([lead.scopes, lead.operator, lead.projects], [['read', 'upload', 'capture', 'admin'], false, ['audio', 'vision']]);
	assert.equal((await call(p, 'POST', '/api/v1/projects', { headers: as('bob', 'leads'), body: { name: 'n' } })).json.error.code, 'operator_only');
	const token = (await call(p, 'POST', '/api/v1/tokens', { headers: as('bob', 'leads'), body: { name: 't', scopes: ['read'] } })).json;
	assert.equal(token.created_by, 'user:bob');
	const rows = (await get(p, '/api/v1/audit', as('bob', 'leads'))).json.items;
	assert.deepEqual([rows[0].actor, rows[0].action, rows[0].remote], ['user:bob', 'token.create', '203.0.113.9']);
	assert.equal(rows.at(-1).actor, 'config', 'projects of [groups] are made at the start');
	assert.equal((await get(p, '/api/v1/whoami', as('bob', 'leads'), token.secret)).json.via, 'token', 'a token goes before the headers');
	await p.stop();
});

test('a group with *:admin are the operators', async () => {
	const p = await behindProxy();
	const who = (await get(p, '/api/v1/whoami', as('root', 'ops'))).json;
	assert.deepEqual([who.operator, who.project, who.projects], [true, 'default', ['audio', 'default', 'vision']]);
	assert.equal((await call(p, 'POST', '/api/v1/projects', { headers: as('root', 'ops'), body: { name: 'new' } })).status, 201);
	assert.equal((await get(p, '/api/v1/whoami', as('root', 'ops', enter('new')))).json.project, 'new');
	assert.equal((await get(p, '/metrics', as('root', 'ops'))).status, 200);
	await p.stop();
});

test('without a name there is nobody, without a group nothing to see', async () => {
	const p = await behindProxy();
	for (const headers of [{}, { 'x-forwarded-user': '' }, { 'x-forwarded-groups': 'ops' }] as Record<string, string>[]) {
		assert.equal((await get(p, '/api/v1/traces', headers)).json.error.code, 'token_required', JSON.stringify(headers));
		assert.equal((await get(p, '/api/v1/whoami', headers)).status, 401);
	}
	for (const list of ['', 'other', 'OPS', 'op', 'opss', 'ops;ml', '*']) {
		const r = await get(p, '/api/v1/traces', as('eve', list));
		assert.deepEqual([r.status, r.json.error.code], [403, 'no_group'], list);
		assert.equal((await get(p, '/api/v1/whoami', as('eve', list))).json.error.code, 'no_group');
	}
	await p.stop();
});

test('names of users are checked', async () => {
	const p = await behindProxy();
	const send = async (user: string | Buffer): Promise<number> => {
		const head = Buffer.concat([Buffer.from('GET /api/v1/projects HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-Groups: ml\r\nConnection: close\r\nX-Forwarded-User: '), Buffer.from(user), Buffer.from('\r\n\r\n')]);
		return statuses(await raw(p.port, head))[0]!;
	};
	for (const good of ['a', 'ann@example.com', 'Zoë Müller', '李', 'x'.repeat(128)]) assert.equal(await send(good), 200, good);
	assert.equal((await get(p, '/api/v1/whoami', { 'x-forwarded-groups': 'ml', 'x-forwarded-user': Buffer.from('Zoë').toString('latin1') })).json.user, 'Zoë');
	for (const bad of ['x'.repeat(129), Buffer.from([0x61, 0xff]), Buffer.from([0xc3]), Buffer.from('a\tb'), Buffer.from([0x61, 0xc2, 0x85]), Buffer.from([0x61, 0x7f])]) assert.equal(await send(bad), 400, String(bad));
	await p.stop();
});

test('a header that came twice is refused', async () => {
	const p = await behindProxy();
	for (const [a, b] of [['X-Forwarded-User: ann', 'X-Forwarded-User: root'], ['X-Forwarded-User: ann', 'x-forwarded-user: ann'], ['X-Forwarded-User: ann\r\nX-Forwarded-Groups: ml', 'X-FORWARDED-GROUPS: ops']]) {
		const r = await raw(p.port, `GET /api/v1/traces HTTP/1.1\r\nHost: 127.0.0.1\r\n${a}\r\n${b}\r\nConnection: close\r\n\r\n`);
		assert.deepEqual(statuses(r), [400], `${a} ${b}`);
		assert.match(r.text, /bad_proxy_header/);
	}
	await p.stop();
});

/** GET from an address of this machine, as another peer would. */
function from(port: number, address: string, head: string): Promise<string> {
	return new Promise((done, failed) => {
		let text = '';
		const c = net.connect({ port, host: '127.0.0.1', localAddress: address }, () => c.write(`GET /api/v1/whoami HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n${head}\r\n`));
		c.setTimeout(10000, () => c.destroy(new Error('no answer')));
		c.on('data', (d: Buffer) => (text += d.toString()));
		c.on('close', () => done(text));
		c.on('error', failed);
	});
}

test('headers of any other peer are ignored and counted', async () => {
	const p = await behindProxy(['--trusted-proxy', '127.0.1.0/24', '--trusted-proxy', '10.0.0.0/8']);
	const head = 'X-Forwarded-User: root\r\nX-Forwarded-Groups: ops\r\n';
	assert.match(await from(p.port, '127.0.1.77', head), /"operator":true/);
	const admin = /shown once: (\S+)/.exec(p.stdout())![1]!;
	const count = async () => Number(/^fleetscope_proxy_headers_ignored_total (\d+)$/m.exec(new TextDecoder().decode((await get(p, '/metrics', {}, admin)).bytes))![1]);
	assert.equal(await count(), 0);
	for (const address of ['127.0.0.1', '127.0.2.1', '127.1.1.0']) assert.match(await from(p.port, address, head), /^HTTP\/1.1 401 /, address);
	assert.equal(await count(), 3);
	await p.stop();
	const plain = await startServer();
	assert.equal((await get(plain, '/api/v1/traces', as('root', 'ops'))).status, 401, 'without a trusted proxy such headers are a sign of one: loopback proves nothing');
	await plain.stop();
});

test('the headers have the names of the configuration', async () => {
	const p = await behindProxy(['--trusted-proxy', '127.0.0.1', '--proxy-user-header', 'X-Auth-Request-Email', '--proxy-groups-header', 'X-Auth-Request-Groups']);
	assert.equal((await get(p, '/api/v1/whoami', as('ann', 'ml'))).status, 401);
	assert.equal((await get(p, '/api/v1/whoami', { 'x-auth-request-email': 'ann@example.com', 'x-auth-request-groups': 'ml' })).json.user, 'ann@example.com');
	await p.stop();
});

test('pages of other origins and other hosts are refused to proxy users too', async () => {
	const p = await behindProxy(['--trusted-proxy', '127.0.0.1', '--allow-host', 'perf.example.com']);
	const post = async (more: string, host = 'perf.example.com') => statuses(await raw(p.port, `POST /api/v1/projects HTTP/1.1\r\nHost: ${host}\r\nX-Forwarded-User: root\r\nX-Forwarded-Groups: ops\r\n${more}Content-Length: 12\r\nConnection: close\r\n\r\n{"name":"p"}`))[0];
	assert.equal(await post('Origin: https://evil.example\r\n'), 403);
	assert.equal(await post('Sec-Fetch-Site: cross-site\r\n'), 403);
	assert.equal(await post('', 'evil.example'), 421);
	assert.equal(await post('Origin: https://perf.example.com\r\n'), 201);
	await p.stop();
});

test('mistakes in the configuration of proxies are named', () => {
	const check = (args: string[], ini?: string) => {
		const file = join(dir, 'bad.ini');
		if (ini !== undefined) writeFileSync(file, ini);
		const r = spawnSync(program('fleetscope-server'), ['--check-config', ...(ini === undefined ? [] : ['--config', file]), ...args], { encoding: 'utf8' });
		return { status: r.status, text: r.stdout + r.stderr };
	};
	for (const peer of ['localhost', '10.0.0.0/33', '10.0.0.1/8', '::1/129', '::ffff:10.0.0.0/95', '10.0.0.0/', '10.0.0.0/x', '1.2.3']) {
		const r = check(['--trusted-proxy', peer]);
		assert.equal(r.status, 2, peer);
		assert.match(r.text, /trusted-proxy/, peer);
	}
	for (const value of ['vision', 'vision:', 'vision:write', ':read', '*:read', '*:admin,read', 'Vision:read', 'vision:read audio']) {
		const r = check(['--trusted-proxy', '127.0.0.1'], `[groups]\nok = vision:read\nml = ${value}\n`);
		assert.equal(r.status, 2, value);
		assert.match(r.text, /bad\.ini:3: group ml/, value);
	}
	assert.equal(check(['--trusted-proxy', '127.0.0.1', '--no-tokens']).status, 2);
	assert.equal(check(['--proxy-user-header', 'X Y']).status, 2);
	assert.equal(check(['--proxy-user-header', 'X-Forwarded-Groups']).status, 2);
	assert.equal(check(['--trusted-proxy', 'fd00::/8', '--trusted-proxy', '::ffff:10.1.0.0/112'], groups).status, 0);
});

// ---- rates

test('a token has a rate, and Retry-After says when to come back', async () => {
	const p = await startServer({ args: ['--require-tokens', '--rate-limit', '5'] });
	const admin = /shown once: (\S+)/.exec(p.stdout())![1]!;
	const other = (await call(p, 'POST', '/api/v1/tokens', { token: admin, body: { name: 'o', scopes: ['read'] } })).json.secret;
	let limited: Answer | undefined, asked = 0;
	while (!limited && asked++ < 400) {
		const all = await Promise.all(Array.from({ length: 10 }, () => get(p, '/api/v1/traces', {}, other)));
		limited = all.find((r) => r.status === 429);
		for (const r of all) assert.ok([200, 429].includes(r.status));
	}
	assert.ok(limited, 'the limit is met');
	assert.equal(limited.json.error.code, 'rate_limited');
	const wait = Number(limited.headers.get('retry-after'));
	assert.ok(wait >= 1 && wait <= 5, `${wait}`);
	assert.equal((await get(p, '/api/v1/tokens', {}, admin)).status, 200, 'another token is not concerned');
	assert.equal((await get(p, '/healthz', {}, other)).status, 200);
	await new Promise((r) => setTimeout(r, wait * 1000));
	assert.equal((await get(p, '/api/v1/traces', {}, other)).status, 200, 'it holds what it says');
	assert.match(new TextDecoder().decode((await get(p, '/metrics', {}, admin)).bytes), /^fleetscope_rate_limited_total [1-9]/m);
	await p.stop();
});

test('a proxy user has a rate, loopback and --rate-limit 0 have none', async () => {
	const p = await behindProxy(['--trusted-proxy', '127.0.0.1', '--rate-limit', '1']);
	const codes = await Promise.all(Array.from({ length: 20 }, async () => (await get(p, '/api/v1/projects', as('ann', 'ml'))).status));
	assert.ok(codes.includes(200) && codes.includes(429), String(codes));
	assert.equal((await get(p, '/api/v1/projects', as('bob', 'ml'))).status, 200);
	await p.stop();
	const open = await startServer({ args: ['--rate-limit', '1'] });
	for (let i = 0; i < 20; i++) assert.equal((await get(open, '/api/v1/projects')).status, 200);
	await open.stop();
	const none = await startServer({ args: ['--require-tokens', '--rate-limit', '0'] });
	const admin = /shown once: (\S+)/.exec(none.stdout())![1]!;
	assert.ok((await Promise.all(Array.from({ length: 50 }, () => get(none, '/api/v1/projects', {}, admin)))).every((r) => r.status === 200));
	await none.stop();
});

test('a login counts for its token: it leaves an audit row', async () => {
	const p = await startServer({ args: ['--require-tokens', '--rate-limit', '1'] });
	const admin = /shown once: (\S+)/.exec(p.stdout())![1]!;
	const answers: Answer[] = [];
	for (let i = 0; i < 10; i++) answers.push(await call(p, 'POST', '/api/v1/login', { body: { token: admin } }));
	assert.equal(answers[0]!.status, 204);
	const last = answers.find((r) => r.status !== 204);
	assert.deepEqual([last?.status, last?.json.error.code, last?.headers.get('retry-after')], [429, 'rate_limited', '1']);
	await p.stop();
});

test('logins with a wrong token are bounded for each address', async () => {
	const p = await startServer({ args: ['--require-tokens', '--trusted-proxy', '127.0.0.1'] });
	const admin = /shown once: (\S+)/.exec(p.stdout())![1]!;
	const login = (token: string, address?: string) => call(p, 'POST', '/api/v1/login', { body: { token }, headers: address ? { 'x-forwarded-for': `198.51.100.1, ${address}` } : {} });
	for (let i = 0; i < 15; i++) assert.equal((await login(admin)).status, 204, 'right ones do not count');
	const codes: number[] = [];
	for (let i = 0; i < 14; i++) codes.push((await login(`fst_${'0'.repeat(40)}`)).status);
	assert.deepEqual(codes.slice(0, 10), Array(10).fill(401));
	assert.ok(codes.slice(11).includes(429), String(codes));
	const r = await login(admin);
	assert.deepEqual([r.status, r.json.error.code, Number(r.headers.get('retry-after')) > 0], [429, 'login_limited', true], 'also the right one, else it would be a test of guesses');
	assert.equal((await login(admin, '203.0.113.9')).status, 204, 'a trusted proxy tells addresses apart');
	assert.match(new TextDecoder().decode((await get(p, '/metrics', {}, admin)).bytes), /^fleetscope_login_failed_total 1\d$/m);
	await p.stop();
});
