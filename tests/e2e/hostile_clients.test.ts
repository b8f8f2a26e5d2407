// SPDX-License-Identifier: Apache-2.0
// Thousands of slow clients, and a thousand uploads at once. The figures are printed; they are of the plain build when
// there is one, since a sanitizer needs several times the memory. FSC_SLOW=1 keeps the time-outs that people have.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { sleep, startServer, type TestServer } from '../lib/server.ts';

const HALF_OPEN = 2000;
const DRIPPING = 200;
const UPLOADS = 1000;
const UPLOAD_BYTES = 256 << 10;
const realTimeouts = process.env.FSC_SLOW === '1';
const headSeconds = realTimeouts ? 10 : 3;

const plainDir = process.env.FSC_BUILD_PLAIN ?? '';
const plain = existsSync(join(plainDir, 'fleetscope-server')) && existsSync(join(plainDir, 'fleetscope-indexer'));
function start(args: string[]): Promise<TestServer> {
	if (!plain) return startServer({ args });
	return startServer({ args, wrap: ['sh', '-c', `shift; exec "${join(plainDir, 'fleetscope-server')}" "$@"`, 'sh'], env: { FLEETSCOPE_INDEXER: join(plainDir, 'fleetscope-indexer') } });
}
const peakMiB = (s: TestServer): number => Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${s.child.pid}/status`, 'utf8'))![1]) >> 10;

/** The slow ones, in a process of their own: its event loop must not slow down who measures. Prints how long drippers lived. */
async function attack(port: number): Promise<void> {
	const lives: number[] = [];
	let opened = 0;
	const one = (first: string, everyMs: number) => {
		const from = Date.now();
		let drip: NodeJS.Timeout | undefined;
		const c = connect(port, '127.0.0.1', () => {
			opened++;
			c.write(first);
			if (everyMs) drip = setInterval(() => c.write('a'), everyMs);
		});
		c.on('error', () => undefined);
		c.on('data', () => undefined);
		c.on('close', () => { clearInterval(drip); if (everyMs) lives.push(Date.now() - from); });
	};
	for (let i = 0; i < HALF_OPEN; i++) { one('GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n', 0); if (i % 100 === 99) await sleep(10); }
	for (let i = 0; i < DRIPPING; i++) one('GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ', 1000);
	for (let i = 0; i < 500 && opened < 1500; i++) await sleep(20);
	console.log(`open ${opened}`);
	for (let i = 0; i < 1200 && lives.length < DRIPPING; i++) await sleep(100);
	console.log(`lives ${lives.length} ${Math.max(...lives)}`);
}

const agent = new Agent({ keepAlive: false });
function timed(s: TestServer): Promise<number> {
	const from = process.hrtime.bigint();
	return new Promise((done, failed) => {
		const r = request({ host: '127.0.0.1', port: s.port, path: '/api/v1/server', agent, timeout: 20000 }, (res) => {
			assert.equal(res.statusCode, 200);
			res.resume();
			res.on('end', () => done(Number(process.hrtime.bigint() - from) / 1e6));
		});
		r.on('error', failed);
		r.on('timeout', () => r.destroy(new Error('no answer in 20 s')));
		r.end();
	});
}
async function p99(s: TestServer): Promise<number> {
	const ms: number[] = [];
	for (let i = 0; i < 300; i++) ms.push(await timed(s));
	return ms.sort((a, b) => a - b)[Math.floor(ms.length * 0.99)]!;
}

function slowClients(): void {
	test(`${HALF_OPEN} half-open and ${DRIPPING} dripping clients keep nobody out`, { timeout: 240000 }, async (t) => {
		const s = await start(['--header-timeout', String(headSeconds), '--log-level', 'error']);
		const alone = await p99(s);
		const attacker = spawn(process.execPath, [process.argv[1]!], { env: { ...process.env, FSC_ATTACK: String(s.port), NODE_TEST_CONTEXT: '' }, stdio: ['ignore', 'pipe', 'inherit'] });
		let said = '';
		attacker.stdout.on('data', (d: Buffer) => (said += d.toString()));
		const gone = new Promise((done) => attacker.on('close', done));
		try {
			for (let i = 0; i < 1500 && !/open \d+/.test(said); i++) await sleep(20);
			const opened = Number(/open (\d+)/.exec(said)?.[1] ?? 0);
			assert.ok(opened >= 1500, `only ${opened} were let in: this tests nothing`);
			const beside = await p99(s);
			await gone;
			const [, n, longest] = /lives (\d+) (\d+)/.exec(said) ?? [];
			t.diagnostic(`p99 of a good request: ${beside.toFixed(1)} ms beside ${opened} slow clients, ${alone.toFixed(1)} ms alone; ${n} dripping clients closed after at most ${(Number(longest) / 1000).toFixed(1)} s; peak memory ${peakMiB(s)} MiB${plain ? '' : ' (sanitizer build)'}`);
			// on a machine that is busy with other things nothing is fast
			assert.ok(beside <= Math.max(50, 4 * alone), `${beside} ms`);
			assert.equal(Number(n), DRIPPING, 'a dripping client stays');
			assert.ok(Number(longest) <= 60000);
		} finally {
			attacker.kill('SIGKILL');
			await s.stop();
		}
	});
}

function post(s: TestServer, body: Buffer, i: number): Promise<{ status: number; sha256: string }> {
	return new Promise((done, failed) => {
		const r = request({ host: '127.0.0.1', port: s.port, method: 'POST', path: `/api/v1/bundles?name=many-${i}`, agent, headers: { 'content-length': body.length } }, (res) => {
			let text = '';
			res.on('data', (d: Buffer) => (text += d.toString()));
			res.on('end', () => done({ status: res.statusCode!, sha256: (JSON.parse(text) as { sha256: string }).sha256 }));
		});
		r.on('error', failed);
		r.end(body);
	});
}

function manyUploads(): void {
	test(`${UPLOADS} uploads at once are all kept, byte for byte`, { timeout: 240000 }, async (t) => {
		const s = await start(['--workers', '1', '--log-level', 'error']);
		try {
			const bodies = Array.from({ length: UPLOADS }, () => randomBytes(UPLOAD_BYTES));
			const from = Date.now();
			const sent = await Promise.all(bodies.map((b, i) => post(s, b, i)));
			const ms = Date.now() - from;
			const peak = peakMiB(s);
			t.diagnostic(`${sent.filter((r) => r.status === 202).length} of ${UPLOADS} uploads of ${UPLOAD_BYTES >> 10} KiB accepted in ${(ms / 1000).toFixed(1)} s, peak memory ${peak} MiB${plain ? '' : ' (sanitizer build)'}`);
			for (const [i, r] of sent.entries()) {
				assert.equal(r.status, 202);
				const hex = createHash('sha256').update(bodies[i]!).digest('hex');
				assert.equal(r.sha256, hex);
				assert.ok(readFileSync(join(s.data, 'blob', hex.slice(0, 2), hex)).equals(bodies[i]!));
			}
			assert.deepEqual(readdirSync(join(s.data, 'tmp')).filter((n) => !n.startsWith('facts')), []);
			if (plain) assert.ok(peak <= 256, `${peak} MiB`);
		} finally { await s.stop(); }
	});
}

if (process.env.FSC_ATTACK) {
	void attack(Number(process.env.FSC_ATTACK)).then(() => process.exit(0));
} else {
	slowClients();
	manyUploads();
}
