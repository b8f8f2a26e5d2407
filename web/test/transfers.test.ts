// SPDX-License-Identifier: Apache-2.0
// Uploads of the page while the project changes, the server is away, or two files look alike; without a browser.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { setProject } from '../src/lib/api';
import { PIECES_FROM } from '../src/lib/pieces';
import { addFiles, remove, transfers } from '../src/lib/transfers';

type Sent = { method: string; url: string; project: string; body: Blob | null; answer: (status: number, text: string, headers?: Record<string, string>) => void };
let sent: Sent[] = [];
let requests: FakeXhr[] = [];

/** Holds each request until the test answers it. */
class FakeXhr {
	status = 0;
	responseText = '';
	upload: { onprogress?: (e: unknown) => void } = {};
	onloadend: () => void = () => {};
	private what = { method: '', url: '', project: '' };
	private headers: Record<string, string> = {};
	open(method: string, url: string): void {
		Object.assign(this.what, { method, url });
	}
	setRequestHeader(name: string, value: string): void {
		if (name === 'X-Fleetscope-Project') this.what.project = value;
	}
	getResponseHeader(name: string): string | null {
		return this.headers[name] ?? null;
	}
	abort(): void {
		this.onloadend();
	}
	send(body: Blob | null): void {
		requests.push(this);
		sent.push({ ...this.what, body, answer: (status, text, headers = {}) => {
			Object.assign(this, { status, responseText: text, headers });
			this.onloadend();
		} });
	}
}
(globalThis as { XMLHttpRequest?: unknown }).XMLHttpRequest = FakeXhr;
const memory = new Map<string, string>();
(globalThis as { localStorage?: unknown }).localStorage = {
	getItem: (k: string) => memory.get(k) ?? null, setItem: (k: string, v: string) => void memory.set(k, v), removeItem: (k: string) => void memory.delete(k),
};

const fileOf = (name: string, size = 10): File => ({ name, size, lastModified: 7, slice: () => ({ size }) as Blob }) as unknown as File;
const reply = (id: string): string => JSON.stringify({ id, sha256: '', state: 'queued', duplicate: false });
async function until(what: string, ok: () => boolean): Promise<void> {
	for (let i = 0; i < 200; i++) {
		if (ok()) return;
		await new Promise((done) => setTimeout(done, 25));
	}
	assert.fail(`not in 5 s: ${what}`);
}

afterEach(() => {
	for (const t of transfers.value) remove(t.key);
	sent = [];
	requests = [];
	memory.clear();
	setProject(null);
});

test('files go to the project they were dropped in, and are looked for there, whatever the page shows meanwhile', async () => {
	const asked: string[] = [];
	globalThis.fetch = (async (_: string, init: RequestInit) => {
		asked.push((init.headers as Record<string, string>)['X-Fleetscope-Project'] ?? '');
		return new Response(JSON.stringify({ id: '1', name: 'x', state: 'ready', traces: [] }));
	}) as typeof fetch;
	setProject('one');
	addFiles([fileOf('a'), fileOf('b'), fileOf('c')]);
	assert.equal(sent.length, 2);
	setProject('two');
	sent[0].answer(202, reply('1'));
	await until('the third is sent', () => sent.length === 3);
	assert.deepEqual(sent.map((s) => s.project), ['one', 'one', 'one']);
	sent[1].answer(202, reply('2'));
	sent[2].answer(202, reply('3'));
	await until('all are ready', () => transfers.value.every((t) => t.phase === 'ready'));
	assert.deepEqual([...new Set(asked)], ['one']);
});

test('an upload that the server has is not failed by a cut while it is indexed', async () => {
	let n = 0;
	globalThis.fetch = (async () => {
		if (++n === 1) throw new TypeError('cut');
		if (n === 2) return new Response('{"error":{"code":"store_busy","message":"busy"}}', { status: 503 });
		return new Response(JSON.stringify({ id: '1', name: 'x', state: 'ready', traces: [] }));
	}) as typeof fetch;
	addFiles([fileOf('a')]);
	sent[0].answer(202, reply('1'));
	await until('the cut is told', () => /connection lost/.test(transfers.value[0].note));
	assert.equal(transfers.value[0].phase, 'indexing');
	await until('it is ready', () => transfers.value[0].phase === 'ready');
	assert.equal(transfers.value[0].note, '');
});

test('who may send but not read is told that the file arrived; a bundle that is gone is a failure', async () => {
	globalThis.fetch = (async (url: string) => (/bundles\/1$/.test(url)
		? new Response('{"error":{"code":"scope_missing","message":"the token lacks the scope read"}}', { status: 403 })
		: new Response('{"error":{"code":"deleted","message":"this upload was deleted"}}', { status: 410 }))) as typeof fetch;
	addFiles([fileOf('a'), fileOf('b')]);
	sent[0].answer(202, reply('1'));
	sent[1].answer(202, reply('2'));
	await until('both are settled', () => transfers.value.every((t) => t.phase !== 'indexing' && t.phase !== 'sending'));
	assert.deepEqual(transfers.value.map((t) => t.phase), ['ready', 'failed']);
	assert.match(transfers.value[0].note, /Received/);
	assert.match(transfers.value[1].problem, /deleted/);
});

test('progress shows the last bytes that were told, however close together they came', async () => {
	addFiles([fileOf('a', 1000)]);
	const progress = (loaded: number) => (requests[0] as FakeXhr).upload.onprogress!({ loaded });
	for (const n of [10, 20, 700]) progress(n);
	await until('the last of them is shown', () => transfers.value[0].sent === 700);
	sent[0].answer(500, '{"error":{"code":"x","message":"y"}}');
	await until('it failed', () => transfers.value[0].phase === 'failed');
});

test('two files of one name, size and time are two uploads', async () => {
	addFiles([fileOf('rank_0.json', PIECES_FROM)]);
	sent[0].answer(201, '', { Location: '/api/v1/uploads/7' });
	await until('its first piece', () => sent.length === 2);
	addFiles([fileOf('rank_0.json', PIECES_FROM)]);
	assert.deepEqual([sent[1].method, sent[1].url, sent[2].method, sent[2].url],
		['PATCH', '/api/v1/uploads/7', 'POST', '/api/v1/uploads?name=rank_0.json']);
	for (const t of transfers.value) remove(t.key);
});
