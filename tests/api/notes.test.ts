// SPDX-License-Identifier: Apache-2.0
// Keep and notes over the API: what a PATCH changes, what it refuses, and what a browser that cached the trace sees.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { call } from '../lib/contract.ts';
import { kinetoBytes } from '../lib/kineto.ts';
import { startServer, uploadAndWait, waitBundle, type BundleState, type TestServer } from '../lib/server.ts';

interface Note { id: string; t0: number; t1: number; text: string; author: string; created_at: string; updated_at: string }
let s: TestServer, bundle: BundleState, path: string;
before(async () => {
	s = await startServer();
	bundle = await uploadAndWait(s, 'noted.json', kinetoBytes());
	path = `/api/v1/traces/${bundle.traces[0]!.id}`;
});
after(() => s.stop());

const patch = (body: unknown, token?: string) => call(s, 'PATCH', path, { body: body as object, ...(token ? { token } : {}) });
const notes = async (): Promise<Note[]> => (await call(s, 'GET', path)).json.notes;

test('a trace starts without notes, not kept, and can be made again', async () => {
	const t = (await call(s, 'GET', path)).json;
	assert.deepEqual([t.keep, t.rebuildable, t.notes], [false, true, []]);
	const row = (await call(s, 'GET', '/api/v1/traces')).json.items[0];
	assert.deepEqual([row.keep, row.rebuildable], [false, true]);
});

test('notes are added, changed and removed, and come back in order', async () => {
	const text = 'zwei\nZeilen mit "Zitat" <b>und</b> \u{1f600}';
	const r = await patch({ notes_add: [{ t0: 500, t1: 900, text: 'late' }, { t0: -10, t1: -10, text }] });
	assert.equal(r.status, 200);
	assert.deepEqual((r.json.notes as Note[]).map((n) => [n.t0, n.t1, n.text, n.author]), [[-10, -10, text, 'loopback'], [500, 900, 'late', 'loopback']]);
	const [first, second] = r.json.notes as [Note, Note];
	assert.deepEqual(await notes(), r.json.notes, 'the answer is what a GET says');
	const changed = (await patch({ notes_update: [{ id: second.id, text: 'later', t0: 600 }], notes_remove: [first.id], notes_add: [{ t0: 1, t1: 2, text: 'new' }] })).json.notes as Note[];
	assert.deepEqual(changed.map((n) => [n.t0, n.t1, n.text]), [[1, 2, 'new'], [600, 900, 'later']]);
	assert.equal(changed[1]!.id, second.id);
	assert.equal(changed[1]!.created_at, second.created_at);
	const replaced = (await patch({ notes: [{ id: second.id, text: 'stays' }, { t0: 0, t1: 5, text: 'only other' }] })).json.notes as Note[];
	assert.deepEqual(replaced.map((n) => [n.text, n.id === second.id]), [['only other', false], ['stays', true]]);
	assert.deepEqual((await patch({ notes: [] })).json.notes, []);
});

test('a bad edit is refused as a whole', async () => {
	const ok = { t0: 1, t1: 2, text: 'ok' };
	const bad: [unknown, number, string][] = [
		[{ notes_add: [ok, { t0: 2, t1: 1, text: 'x' }] }, 400, 'note_range'],
		[{ notes_add: [ok, { t0: 1, t1: 2, text: '' }] }, 400, 'note_text'],
		[{ notes_add: [{ t0: 1, t1: 2, text: 'a\tb' }] }, 400, 'note_text'],
		[{ notes_add: [{ t0: 1, t1: 2, text: 'ä'.repeat(1001) }] }, 400, 'note_text'],
		[{ notes_add: [{ t0: 1.5, t1: 2, text: 'x' }] }, 400, 'bad_parameter'],
		[{ notes_add: [{ t0: 1, text: 'x' }] }, 400, 'bad_parameter'],
		[{ notes_add: [{ ...ok, id: '5' }] }, 400, 'bad_parameter'],
		[{ notes_add: ok }, 400, 'bad_parameter'],
		[{ notes_add: [ok], notes: [] }, 400, 'bad_parameter'],
		[{ notes_add: [ok], notes_update: [{ id: '12345', text: 'x' }] }, 404, 'no_such_note'],
		[{ notes_add: [ok], notes_remove: ['12345'] }, 404, 'no_such_note'],
		[{ notes_remove: [5] }, 400, 'bad_parameter'],
		[{ keep: 'yes' }, 400, 'bad_parameter'],
		[{ kept: true }, 400, 'bad_parameter'],
		[{ keep: true, notes_add: Array.from({ length: 1001 }, () => ok) }, 413, 'too_many_notes'],
		['[]', 400, 'bad_json'],
	];
	for (const [body, status, code] of bad) {
		const r = await patch(body);
		assert.deepEqual([r.status, r.json.error.code], [status, code], JSON.stringify(body).slice(0, 200));
	}
	const t = (await call(s, 'GET', path)).json;
	assert.deepEqual([t.keep, t.notes], [false, []]);
	assert.equal((await patch({ notes_add: [{ t0: 1, t1: 2, text: 'ä'.repeat(1000) }] })).status, 200);
	assert.equal((await patch({ notes: [] })).status, 200);
	assert.equal((await call(s, 'PATCH', '/api/v1/traces/12345', { body: {} })).status, 404);
});

test('what a browser holds is out of date after each change, and only then', async () => {
	const etag = async (): Promise<string> => (await call(s, 'GET', path)).headers.get('etag')!;
	const cached = (e: string) => call(s, 'GET', path, { headers: { 'if-none-match': e } });
	let e = await etag();
	assert.equal((await cached(e)).status, 304);
	const changes: unknown[] = [{ keep: true }, { notes_add: [{ t0: 1, t1: 2, text: 'a' }] }];
	for (const body of changes) {
		assert.equal((await patch(body)).status, 200);
		assert.equal((await cached(e)).status, 200, JSON.stringify(body));
		e = await etag();
		assert.equal((await cached(e)).status, 304);
	}
	const id = (await notes())[0]!.id;
	for (const body of [{ notes_update: [{ id, text: 'b' }] }, { notes_update: [{ id, t1: 9 }] }, { notes_remove: [id] }, { keep: false }]) {
		assert.equal((await patch(body)).status, 200);
		assert.equal((await cached(e)).status, 200, JSON.stringify(body));
		e = await etag();
	}
	for (const body of [{}, { keep: false }, { notes: [] }]) assert.equal((await patch(body)).status, 200);
	assert.equal((await cached(e)).status, 304, 'a change of nothing');
	const list = await call(s, 'GET', `${path}/tracks`);
	await patch({ notes_add: [{ t0: 1, t1: 2, text: 'a' }] });
	assert.equal((await call(s, 'GET', `${path}/tracks`, { headers: { 'if-none-match': list.headers.get('etag')! } })).status, 304, 'tracks do not change with notes');
	await patch({ notes: [] });
});

test('keep and notes outlive indexing again', async () => {
	await patch({ keep: true, notes_add: [{ t0: 1234, t1: 5678, text: 'here' }] });
	const before = await notes();
	assert.equal((await call(s, 'POST', `/api/v1/bundles/${bundle.id}/reindex`, { body: {} })).status, 202);
	assert.equal((await waitBundle(s, bundle.id)).state, 'ready');
	const t = (await call(s, 'GET', path)).json;
	assert.deepEqual([t.keep, t.notes], [true, before]);
	assert.equal((await call(s, 'GET', '/api/v1/traces?keep=1')).json.total, 1);
	assert.equal((await call(s, 'GET', '/api/v1/traces?keep=0')).status, 400);
	await patch({ keep: false, notes: [] });
	assert.equal((await call(s, 'GET', '/api/v1/traces?keep=1')).json.total, 0);
});

test('whoever may upload may note, whoever may only read may not, and the author is written down', async () => {
	const make = async (scope: string) => (await call(s, 'POST', '/api/v1/tokens', { body: { name: scope, scopes: [scope] } })).json;
	const read = await make('read'), upload = await make('upload');
	assert.equal((await patch({ keep: true }, read.secret)).status, 403);
	const r = await patch({ notes_add: [{ t0: 0, t1: 0, text: 'by a token' }] }, upload.secret);
	assert.equal(r.json.notes[0].author, `token:${upload.id}`);
});
