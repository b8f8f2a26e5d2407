// SPDX-License-Identifier: Apache-2.0
// Uploads in pieces against a server made of a few lines that cuts, forgets and refuses.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryKey, pauseMs, PIECE, sendPieces } from '../src/lib/pieces';
import type { FileLike, Ports, Reply } from '../src/lib/pieces';

const SIZE = 3 * PIECE + 5;
const file: FileLike = { name: 'a b.json', size: SIZE, lastModified: 7, slice: (from, to) => ({ size: to - from }) as Blob };

class Fake {
	have = 0;
	id = 0;
	sentBytes = 0;
	calls: string[] = [];
	memory = new Map<string, string>();
	said: string[] = [];
	pauses = 0;
	stopped = false;
	/** Answers instead of the server, for the n-th call (from 0). */
	faults = new Map<number, (f: Fake) => Partial<Reply>>();
	private reply(status: number, headers: Record<string, string> = {}, text = ''): Reply {
		return { status, text, header: (n) => headers[n] ?? null };
	}
	private answer(method: string, path: string, h: Record<string, string>, body: Blob | null): Reply {
		if (method === 'POST') {
			assert.equal(path, '/uploads?name=a%20b.json');
			assert.equal(h['Upload-Length'], String(SIZE));
			this.have = 0;
			return this.reply(201, { Location: `/api/v1/uploads/${++this.id}`, 'Upload-Offset': '0' });
		}
		if (path !== `/uploads/${this.id}`) return this.reply(404);
		if (method === 'HEAD') return this.reply(204, { 'Upload-Offset': String(this.have) });
		if (Number(h['Upload-Offset']) !== this.have) return this.reply(409, { 'Upload-Offset': String(this.have) });
		this.have += body!.size;
		this.sentBytes += body!.size;
		if (h['Upload-Complete'] === '?1') return this.have === SIZE ? this.reply(202, {}, '{"id":"9"}') : this.reply(400);
		return this.reply(204, { 'Upload-Offset': String(this.have) });
	}
	ports: Ports = {
		send: (method, path, headers, body, onSent) => {
			const fault = this.faults.get(this.calls.length);
			this.calls.push(method);
			if (fault) return Promise.resolve({ ...this.reply(0), ...fault(this) });
			const r = this.answer(method, path, headers, body);
			if (body) onSent(body.size);
			return Promise.resolve(r);
		},
		remember: (key, path) => void (path ? this.memory.set(key, path) : this.memory.delete(key)),
		recall: (key) => this.memory.get(key) ?? null,
		pause: () => Promise.resolve(void this.pauses++),
		stopped: () => this.stopped,
	};
	run(): Promise<Reply> {
		return sendPieces(file, 'p', this.ports, { sent: () => {}, say: (t) => void (t && this.said.push(t)) });
	}
}

test('a file goes in pieces, and its upload is forgotten when it is done', async () => {
	const f = new Fake();
	assert.equal((await f.run()).status, 202);
	assert.deepEqual(f.calls, ['POST', 'PATCH', 'PATCH', 'PATCH', 'PATCH']);
	assert.equal(f.sentBytes, SIZE);
	assert.equal(f.memory.size, 0);
});

test('tries that never reached the server do not count as uploads that were lost', async () => {
	const f = new Fake();
	for (const i of [0, 1, 2, 3, 4]) f.faults.set(i, () => ({}));
	f.faults.set(6, () => ({ status: 404 }));
	assert.equal((await f.run()).status, 202);
	assert.equal(f.id, 2);
});

test('after a cut it asks where it is and goes on there', async () => {
	const f = new Fake();
	f.faults.set(2, (s) => { s.have += 1000; return {}; }); // some of the second piece came through
	assert.equal((await f.run()).status, 202);
	assert.deepEqual(f.calls, ['POST', 'PATCH', 'PATCH', 'HEAD', 'PATCH', 'PATCH']);
	assert.equal(f.sentBytes, SIZE - 1000);
	assert.deepEqual(f.said, ['Connection lost, trying again', 'Going on from 8.0 MiB']);
});

test('a piece that the browser sent again by itself is no second sender', async () => {
	const f = new Fake();
	f.faults.set(2, (s) => { s.have += PIECE; s.sentBytes += PIECE; return { status: 409, header: (n) => (n === 'Upload-Offset' ? String(s.have) : null) }; });
	assert.equal((await f.run()).status, 202);
	assert.deepEqual(f.calls, ['POST', 'PATCH', 'PATCH', 'PATCH', 'PATCH']);
	assert.deepEqual([f.said, f.pauses], [[], 0]);
});

test('an upload that moves under us again and again is said, and is not asked for without a pause', async () => {
	const f = new Fake();
	for (let i = 2; i < 5; i++) f.faults.set(i, (s) => ({ status: 409, header: (n) => (n === 'Upload-Offset' ? String(s.have) : null) }));
	assert.equal((await f.run()).status, 202);
	assert.deepEqual([f.said, f.pauses], [['Sent from elsewhere too, waiting', 'Sent from elsewhere too, waiting'], 2]);
});

test('where it goes on is said until a piece has arrived', async () => {
	const f = new Fake();
	const said: string[] = [];
	f.faults.set(2, () => ({}));
	const r = await sendPieces(file, 'p', f.ports, { sent: (n) => said.push(String(n)), say: (t) => said.push(t) });
	assert.equal(r.status, 202);
	const on = said.indexOf('Going on from 8.0 MiB');
	assert.deepEqual(said.slice(on + 1, on + 4), [PIECE, 2 * PIECE, 2 * PIECE].map(String), 'nothing takes it away before the piece is there');
	assert.equal(said[on + 4], '');
});

test('a page that was loaded again goes on with the upload that it remembers', async () => {
	const f = new Fake();
	f.faults.set(2, (s) => { s.stopped = true; return {}; });
	await f.run();
	assert.equal(f.memory.get(memoryKey('p', file)), '/uploads/1');
	f.stopped = false;
	f.calls = [];
	f.faults.clear();
	assert.equal((await f.run()).status, 202);
	assert.equal(f.calls[0], 'HEAD');
	assert.equal(f.sentBytes, SIZE);
});

test('an upload that its server lost is begun anew', async () => {
	const f = new Fake();
	f.memory.set(memoryKey('p', file), '/uploads/77');
	assert.equal((await f.run()).status, 202);
	assert.deepEqual(f.calls.slice(0, 3), ['HEAD', 'POST', 'PATCH']);
});

test('a wrong offset is corrected by what the server says', async () => {
	const f = new Fake();
	f.faults.set(3, (s) => ({ status: 409, header: (n) => (n === 'Upload-Offset' ? String(s.have) : null) }));
	assert.equal((await f.run()).status, 202);
	assert.equal(f.sentBytes, SIZE);
});

test('an answer that got lost after the last byte is asked for again', async () => {
	const f = new Fake();
	f.faults.set(4, (s) => { s.have = SIZE; return {}; });
	assert.equal((await f.run()).status, 202);
	assert.deepEqual(f.calls.slice(4), ['PATCH', 'HEAD', 'PATCH']);
});

test('a refusal is final, and a server that never comes back ends it in bounded time', async () => {
	const f = new Fake();
	f.faults.set(0, () => ({ status: 413, text: 'too large' }));
	assert.equal((await f.run()).status, 413);
	assert.equal(f.calls.length, 1);
	const gone = new Fake();
	for (let i = 1; i < 100; i++) gone.faults.set(i, () => ({}));
	assert.equal((await gone.run()).status, 0);
	assert.ok(gone.calls.length < 20, `${gone.calls.length} calls`);
	const loses = new Fake();
	for (let i = 1; i < 100; i += 2) loses.faults.set(i, () => ({ status: 404 }));
	assert.equal((await loses.run()).status, 404);
	assert.ok(loses.calls.length < 20);
});

test('pauses grow, have an end, and respect what the server asks for', () => {
	assert.ok(pauseMs(0, null, 0) < pauseMs(3, null, 0));
	assert.ok(pauseMs(30, null, 1) <= 15_000);
	assert.equal(pauseMs(0, '20', 0), 20_000);
	assert.ok(pauseMs(0, '99999', 0) <= 60_000);
	assert.ok(pauseMs(0, 'soon', 0) <= 500);
});
