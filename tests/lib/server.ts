// SPDX-License-Identifier: Apache-2.0
// Starts a server of the build under test on a free loopback port with a data folder of its own, and talks to it.
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const build = process.env.FSC_BUILD ?? join(process.cwd(), 'build/debug');
export const source = process.env.FSC_SRC ?? process.cwd();
export const program = (name: string): string => join(build, name);
/** A file of the test data, or undefined: then the test says "skipped, no test data". */
export function testdata(rel: string): string | undefined {
	const root = process.env.FLEETSCOPE_TESTDATA;
	const path = root ? join(root, rel) : '';
	return root && existsSync(path) ? path : undefined;
}

export interface TestServer {
	url: string; // without a slash at the end
	port: number;
	data: string;
	child: ChildProcess;
	/** Lines of standard output and of the log so far. */
	stdout: () => string;
	log: () => string;
	/** Sends the signal and waits for the end; the data folder stays when it was given. */
	stop: (signal?: NodeJS.Signals) => Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}
export interface StartOptions { args?: string[]; env?: Record<string, string>; data?: string; wrap?: string[]; readyMs?: number }

const running = new Set<ChildProcess>();
process.on('exit', () => running.forEach((c) => c.kill('SIGKILL')));

export function tempDir(prefix = 'fsc-api-'): string {
	return mkdtempSync(join(tmpdir(), prefix));
}

export async function startServer(options: StartOptions = {}): Promise<TestServer> {
	const data = options.data ?? tempDir();
	const argv = [...(options.wrap ?? []), program('fleetscope-server'), '--listen', '127.0.0.1:0', '--data', data, ...(options.args ?? [])];
	const env: NodeJS.ProcessEnv = { ...process.env, FLEETSCOPE_INDEXER: program('fleetscope-indexer'), ...options.env };
	const child = spawn(argv[0]!, argv.slice(1), { stdio: ['ignore', 'pipe', 'pipe'], env });
	let out = '';
	let log = '';
	running.add(child);
	child.stdout!.on('data', (d: Buffer) => (out += d.toString()));
	child.stderr!.on('data', (d: Buffer) => (log += d.toString()));
	const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((done) => {
		child.on('close', (code, signal) => {
			running.delete(child);
			if (!options.data) rmSync(data, { recursive: true, force: true });
			done({ code, signal });
		});
		child.on('error', (e) => (log += String(e)));
	});
	// A test that fails must not keep the process alive for its server; stop() takes the handles back.
	const handles = [child, child.stdout, child.stderr] as unknown as { ref(): void; unref(): void }[];
	handles.forEach((h) => h.unref());
	const deadline = Date.now() + (options.readyMs ?? 20000);
	let m: RegExpExecArray | null = null;
	while (!(m = /listening on (http:\/\/[^\s/]+)\//.exec(out))) {
		if (child.exitCode !== null || child.signalCode !== null || Date.now() > deadline) {
			child.kill('SIGKILL');
			throw new Error(`the server did not start: ${out}${log}`);
		}
		await sleep(20);
	}
	const url = m[1]!;
	return {
		url, data, child, port: Number(new URL(url).port), stdout: () => out, log: () => log,
		stop: async (signal = 'SIGTERM') => {
			handles.forEach((h) => h.ref());
			child.kill(signal);
			return ended;
		},
	};
}

export const sleep = (ms: number): Promise<void> => new Promise((r) => setTimeout(r, ms));

export interface BundleState {
	id: string; sha256: string; state: 'queued' | 'indexing' | 'ready' | 'failed';
	error?: { code: string; message: string; file?: string; offset?: number };
	traces: { id: string; name: string; member: string; rank: number | null }[];
	failures: { file: string; outcome: string; code: string; message: string; offset: number | null }[];
	losses: { code: string; count: number }[];
}

type Params = Record<string, string | number>;
const query = (p: Params): string => new URLSearchParams(Object.entries(p).map(([k, v]) => [k, String(v)])).toString();

export interface Uploaded { status: number; body: { id: string; sha256: string; state: string; duplicate: boolean; error?: { code: string; message: string } } }
export async function upload(s: TestServer, bytes: Uint8Array, params: Params = {}, headers: Record<string, string> = {}): Promise<Uploaded> {
	const r = await fetch(`${s.url}/api/v1/bundles?${query(params)}`, { method: 'POST', body: bytes as BodyInit, headers });
	return { status: r.status, body: (await r.json()) as Uploaded['body'] };
}

/** Waits until the bundle is ready or failed. */
export async function waitBundle(s: TestServer, id: string, ms = 60000): Promise<BundleState> {
	const deadline = Date.now() + ms;
	for (;;) {
		const r = await fetch(`${s.url}/api/v1/bundles/${id}`);
		if (!r.ok) throw new Error(`bundle ${id}: HTTP ${r.status} ${await r.text()}`);
		const b = (await r.json()) as BundleState;
		if (b.state === 'ready' || b.state === 'failed') return b;
		if (Date.now() > deadline) throw new Error(`bundle ${id} is ${b.state} after ${ms} ms`);
		await sleep(50);
	}
}

/** Uploads and waits; throws when the upload is refused. A failed bundle is returned, not thrown. */
export async function uploadAndWait(s: TestServer, name: string, bytes: Uint8Array, params: Params = {}, ms = 60000): Promise<BundleState> {
	const u = await upload(s, bytes, { name, ...params });
	if (u.status !== 202) throw new Error(`upload: HTTP ${u.status} ${JSON.stringify(u.body)}`);
	return waitBundle(s, u.body.id, ms);
}

export async function getJson<T = any>(s: TestServer, path: string): Promise<T> {
	const r = await fetch(`${s.url}/api/v1${path}`);
	if (!r.ok) throw new Error(`${path}: HTTP ${r.status} ${await r.text()}`);
	return (await r.json()) as T;
}
