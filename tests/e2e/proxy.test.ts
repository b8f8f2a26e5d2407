// SPDX-License-Identifier: Apache-2.0
// The nginx configuration of docs/access.md, run: only addresses, ports and TLS are replaced. What answers /oauth2/auth is a
// stand-in for oauth2-proxy that knows two cookies.
import assert from 'node:assert/strict';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { kinetoBytes } from '../lib/kineto.ts';
import { program, sleep, source, startServer, tempDir, type TestServer } from '../lib/server.ts';

const page = readFileSync(join(source, 'docs/access.md'), 'utf8');
const block = (after: string, fence: string): string => {
	const from = page.indexOf(fence, page.indexOf(after));
	assert.ok(from > 0, `${fence} after ${after}`);
	return page.slice(from + fence.length, page.indexOf('\n```', from + fence.length));
};
const skip = spawnSync('nginx', ['-v']).status === 0 ? false : 'skipped, no nginx';

const dir = tempDir();
let s: TestServer, oauth: Server, nginx: ChildProcess, port: number, token: string;

/** What oauth2-proxy answers for a session that it knows. */
const sessions: Record<string, Record<string, string>> = {
	ann: { 'x-auth-request-user': '1234', 'x-auth-request-email': 'ann@example.com', 'x-auth-request-groups': 'staff,vision' },
	root: { 'x-auth-request-user': '1', 'x-auth-request-email': 'root@example.com', 'x-auth-request-groups': 'ml-infra' },
};

async function freePort(): Promise<number> {
	const l = net.createServer().listen(0, '127.0.0.1');
	await new Promise((r) => l.once('listening', r));
	const p = (l.address() as AddressInfo).port;
	await new Promise((r) => l.close(r));
	return p;
}

before(async () => {
	if (skip) return;
	const ini = join(dir, 'server.ini');
	writeFileSync(ini, block('## A proxy that knows the users', '```').replace(/^listen = .*\n/m, ''));
	s = await startServer({ args: ['--config', ini] });
	token = spawnSync(program('fleetscope-server'), ['--data', s.data, 'token', 'create', '--name', 'c', '--scopes', 'upload', '--project', 'vision'], { encoding: 'utf8' }).stdout.trim();
	oauth = createServer((req, res) => {
		const who = /session=(\w+)/.exec(req.headers.cookie ?? '')?.[1];
		const known = req.url === '/oauth2/auth' && who ? sessions[who] : undefined;
		res.writeHead(known ? 202 : req.url === '/oauth2/auth' ? 401 : 200, known ?? {}).end();
	}).listen(0, '127.0.0.1');
	await new Promise((r) => oauth.once('listening', r));
	port = await freePort();
	const servers = block('### nginx and oauth2-proxy', '```nginx').replaceAll('listen 443 ssl;', `listen 127.0.0.1:${port};`).replace(/^\s*ssl_.*$/gm, '')
		.replaceAll('127.0.0.1:4180', `127.0.0.1:${(oauth.address() as AddressInfo).port}`).replaceAll('127.0.0.1:8080', `127.0.0.1:${s.port}`);
	assert.ok(!/443|4180|8080|ssl/.test(servers));
	mkdirSync(join(dir, 'tmp'));
	const temps = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((t) => `${t}_temp_path ${dir}/tmp/${t};`).join('\n');
	writeFileSync(join(dir, 'nginx.conf'), `daemon off;\nmaster_process off;\npid ${dir}/pid;\nerror_log ${dir}/error.log;\nevents {}\nhttp {\naccess_log off;\n${temps}\n${servers}\n}\n`);
	nginx = spawn('nginx', ['-c', join(dir, 'nginx.conf'), '-p', dir, '-e', join(dir, 'error.log')], { stdio: 'inherit' });
	for (let i = 0; i < 200; i++) {
		if (await new Promise<boolean>((r) => net.connect(port, '127.0.0.1', function (this: net.Socket) { this.end(); r(true); }).on('error', () => r(false)))) return;
		assert.equal(nginx.exitCode, null, 'nginx runs');
		await sleep(50);
	}
	throw new Error('nginx does not listen');
});
after(async () => {
	if (skip) return;
	nginx.kill('SIGTERM');
	await new Promise((r) => (nginx.exitCode !== null ? r(0) : nginx.once('exit', r)));
	await new Promise((r) => oauth.close(r));
	await s.stop();
	rmSync(dir, { recursive: true, force: true });
});

interface Got { status: number; json: any; location: string | undefined }
function ask(path: string, headers: Record<string, string | string[]>, method = 'GET', body?: Uint8Array, host = 'perf.example.com'): Promise<Got> {
	return new Promise((done, failed) => {
		const r = request({ host: '127.0.0.1', port, path, method, headers: { host, ...headers }, agent: false }, (res) => {
			let text = '';
			res.on('data', (d: Buffer) => (text += d.toString()));
			res.on('end', () => done({ status: res.statusCode!, json: text.startsWith('{') ? JSON.parse(text) : undefined, location: res.headers.location }));
		});
		r.on('error', failed);
		r.end(body);
	});
}

test('a person is known by the session at the proxy, and needs no login page', { skip }, async () => {
	const who = (await ask('/api/v1/whoami', { cookie: 'session=ann' })).json;
	assert.deepEqual([who.user, who.via, who.project, who.projects, who.operator], ['ann@example.com', 'proxy', 'vision', ['audio', 'vision'], false]);
	assert.equal((await ask('/api/v1/whoami', { cookie: 'session=root' })).json.operator, true);
	assert.equal((await ask('/', { cookie: 'session=ann' })).status, 200);
	const out = await ask('/traces?x=1', {});
	assert.equal(out.status, 302);
	assert.match(out.location!, /\/oauth2\/sign_in\?rd=/);
});

test('headers of clients do not get through', { skip }, async () => {
	const forged: Record<string, string | string[]> = { 'x-forwarded-user': 'root@example.com', 'x-forwarded-groups': 'ml-infra', 'X_Forwarded_Groups': 'ml-infra' };
	const who = (await ask('/api/v1/whoami', { cookie: 'session=ann', ...forged })).json;
	assert.deepEqual([who.user, who.operator], ['ann@example.com', false]);
	assert.equal((await ask('/api/v1/whoami', forged)).status, 302);
	assert.equal((await ask('/api/v1/whoami', { cookie: 'session=ann', authorization: `Bearer ${token}` })).json.via, 'proxy', 'nor does a token on the name for people');
	assert.equal((await ask('/api/v1/traces', forged, 'GET', undefined, 'collect.perf.example.com')).status, 401, 'and the name for scripts has no users');
});

test('a person uploads, and pages of other sites cannot', { skip }, async () => {
	const put = (headers: Record<string, string>) => ask('/api/v1/bundles?name=p.json', { cookie: 'session=ann', 'content-length': String(kinetoBytes().length), ...headers }, 'POST', kinetoBytes());
	assert.equal((await put({ origin: 'http://perf.example.com' })).status, 202);
	assert.equal((await put({ origin: 'http://evil.example' })).status, 403);
});

test('a collector comes with its token', { skip }, async () => {
	const body = kinetoBytes({ steps: 7 });
	const r = await ask('/api/v1/bundles?name=c.json', { authorization: `Bearer ${token}`, 'content-length': String(body.length) }, 'POST', body, 'collect.perf.example.com');
	assert.equal(r.status, 202, JSON.stringify(r.json));
});
