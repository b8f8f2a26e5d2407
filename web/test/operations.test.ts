// SPDX-License-Identifier: Apache-2.0
// What runs behind the storage, token and audit pages, deletes, projects and notes: forms, sums, links, marks.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, errorOf, getJson, setProject } from '../src/lib/api';
import { addDeletion, deleteAll, noDeletion } from '../src/lib/deletion';
import { ageLabel } from '../src/lib/format';
import { projectCookie, projectOfUrl, withoutProject, withProject } from '../src/lib/project';
import { formOf, parseForm, samePolicy } from '../src/lib/retention';
import { createBody, tokenState } from '../src/lib/tokens';
import { reindexProgress, tombstoneOf, whyDeleted } from '../src/lib/tombstone';
import type { Deletion, Note } from '../src/lib/types';
import { noteFault, Notes, placeNotes } from '../src/timeline/notes';

const GiB = 2 ** 30;
type Call = { url: string; method: string; body: unknown; headers: Record<string, string> };

/** Answers calls with `reply`; what was asked. */
async function withFetch<T>(reply: (c: Call) => { status?: number; json: unknown }, f: (calls: Call[]) => Promise<T>): Promise<T> {
	const real = globalThis.fetch;
	const calls: Call[] = [];
	globalThis.fetch = (async (url: string, init: RequestInit) => {
		const c: Call = { url, method: init.method ?? 'GET', body: init.body ? JSON.parse(String(init.body)) : null, headers: { ...(init.headers as Record<string, string>) } };
		calls.push(c);
		const r = reply(c);
		return new Response(JSON.stringify(r.json), { status: r.status ?? 200 });
	}) as typeof fetch;
	try {
		return await f(calls);
	} finally {
		globalThis.fetch = real;
	}
}

test('a policy survives its form, whatever its size', () => {
	for (const max of [0, 2 ** 20, 5 * GiB, 4 * 2 ** 40, 1536 * 2 ** 20, 12_345_678_901]) {
		const p = { max_age_days: 30, blob_age_days: 0, max_bytes: max };
		const back = parseForm(formOf(p)).policy;
		assert.ok(back, `${max}`);
		assert.ok(Math.abs(back.max_bytes - max) <= 1, `${max} became ${back.max_bytes}`);
		assert.equal(back.max_age_days, 30);
	}
	assert.deepEqual(formOf({ max_age_days: 0, blob_age_days: 7, max_bytes: 2 * GiB }), { age: '', blobAge: '7', size: '2', unit: 'GiB' });
	assert.ok(samePolicy(parseForm({ age: '', blobAge: '', size: '', unit: 'GiB' }).policy!, { max_age_days: 0, blob_age_days: 0, max_bytes: 0 }));
});

test('a policy that says nothing clear is refused with the field and the reason', () => {
	const f = { age: '30', blobAge: '', size: '', unit: 'GiB' as const };
	for (const age of ['0', '-1', '1.5', 'ten', '36501', '1e3']) {
		const r = parseForm({ ...f, age });
		assert.equal(r.policy, null, age);
		assert.ok(r.errors.age && !r.errors.size);
	}
	for (const size of ['0', '-4', 'x', '0.0000001', '99999999999999']) assert.ok(parseForm({ ...f, size }).errors.size, size);
	assert.match(parseForm({ ...f, blobAge: '30' }).hint, /never go alone/);
	assert.equal(parseForm({ ...f, blobAge: '7' }).hint, '');
});

test('a token needs a name and a scope, and expires or not', () => {
	assert.deepEqual(createBody({ name: ' ci ', scopes: ['upload', 'read'], days: '90' }).body, { name: 'ci', scopes: ['read', 'upload'], expires_in_days: 90 });
	assert.equal(createBody({ name: 'ci', scopes: ['read'], days: '' }).body?.expires_in_days, undefined);
	assert.deepEqual(Object.keys(createBody({ name: ' ', scopes: [], days: '0' }).errors).sort(), ['days', 'name', 'scopes']);
	const t = { id: '1', name: 'x', scopes: [] };
	assert.equal(tokenState(t, 5), 'valid');
	assert.equal(tokenState({ ...t, expires_at: '1970-01-01T00:00:01Z' }, 1000), 'expired');
	assert.equal(tokenState({ ...t, revoked_at: '1970-01-01T00:00:01Z' }, 0), 'revoked');
});

test('a link carries its project, and nonsense asks for none', () => {
	assert.equal(withProject('http://h/traces/1?t0=5&project=old', 'lab-2'), 'http://h/traces/1?t0=5&project=lab-2');
	assert.equal(projectOfUrl('?project=lab-2'), 'lab-2');
	for (const q of ['', '?project=', '?project=A', '?project=a;b', '?project=a%20b', `?project=${'a'.repeat(64)}`]) assert.equal(projectOfUrl(q), null, q);
	assert.equal(withoutProject('?q=x&project=lab-2'), '?q=x');
	assert.match(projectCookie('lab-2'), /^fleetscope_project=lab-2; path=\//);
});

test('the project of the page goes with every call once it is known', async () => {
	await withFetch(() => ({ json: {} }), async (calls) => {
		await getJson('/traces');
		setProject('lab-2');
		await getJson('/traces');
		setProject(null);
		assert.deepEqual(calls.map((c) => c.headers['X-Fleetscope-Project']), [undefined, 'lab-2']);
		assert.equal(calls[1]!.headers.Accept, 'application/json');
	});
});

const one = (n: number): Deletion => ({ ...noDeletion(true), bundles: n, traces: 2 * n, kept_skipped: 1, blob_bytes: 10, segment_bytes: 5, items: [{ bundle: '1', name: 'a', bytes: 15 }] });

test('several deletes are summed up, and what is gone already is no failure', async () => {
	const sum = addDeletion(one(1), one(2));
	assert.deepEqual([sum.bundles, sum.traces, sum.kept_skipped, sum.blob_bytes, sum.segment_bytes, sum.items.length], [3, 6, 2, 20, 10, 2]);
	const targets = Array.from({ length: 9 }, (_, i) => ({ trace: String(i) }));
	const gone = (c: Call) => ((c.body as { trace: string }).trace === '4' ? { status: 410, json: { error: { code: 'deleted', message: 'gone' } } } : { json: one(1) });
	await withFetch(gone, async (calls) => {
		const d = await deleteAll(targets, false, 'skip');
		assert.equal(d.bundles, 8);
		assert.equal(calls.length, 9);
		assert.deepEqual(calls[0]!.body, { trace: '0', dry_run: false, kept: 'skip' });
	});
	const kept = (c: Call) => ((c.body as { trace: string }).trace === '4' ? { status: 409, json: { error: { code: 'kept', message: 'kept' } } } : { json: { ...one(1), kept_skipped: 0 } });
	await withFetch(kept, async () => assert.equal((await deleteAll(targets, true, 'skip')).kept_skipped, 1, 'a kept one is passed over'));
	const broken = (c: Call) => ((c.body as { trace: string }).trace === '4' ? { status: 500, json: { error: { code: 'internal', message: 'boom' } } } : { json: one(1) });
	await withFetch(broken, async (calls) => {
		await assert.rejects(deleteAll(targets, false, 'skip'), /boom/);
		assert.equal(calls.length, 9, 'the others are deleted all the same');
	});
});

test('a tombstone says what, when, why and by whom; other failures are none', async () => {
	const detail = { kind: 'trace', name: 'rank_3', deleted_at: '2026-12-01T00:00:00Z', reason: 'age', actor: 'retention' };
	const e = await errorOf(410, JSON.stringify({ error: { code: 'deleted', message: 'was deleted', detail } }), null);
	assert.deepEqual(tombstoneOf(e), detail);
	assert.match(whyDeleted(tombstoneOf(e)!), /older than the retention/);
	assert.equal(tombstoneOf(new ApiError('x', 404, 'not_found', null)), null);
	assert.equal(tombstoneOf(new Error('x')), null);
	for (const reason of ['user', 'age', 'bytes', 'reindex'] as const) assert.ok(whyDeleted({ ...tombstoneOf(e)!, reason }));
});

test('progress of a re-index is read from the detail, if it is there', () => {
	assert.deepEqual(reindexProgress({ done: 7, total: 5 }), { done: 5, total: 5 });
	assert.deepEqual(reindexProgress({ progress: { done: 1, total: 4 } }), { done: 1, total: 4 });
	for (const d of [null, undefined, {}, { done: 1 }, { done: 1, total: 0 }, 'x']) assert.equal(reindexProgress(d), null);
});

const note = (id: string, t0: number, t1: number): Note => ({ id, t0, t1, text: `note ${id}` });

test('marks of notes stand where their range is, and share one where they would overlap', () => {
	const notes = [note('1', 0, 100), note('2', 500, 500), note('3', 505, 700), note('4', 990, 2000), note('5', 5000, 6000)];
	const marks = placeNotes(notes, { t0: 50, t1: 1050 }, 1000);
	assert.deepEqual(marks.map((m) => [m.x, m.w, m.notes.map((n) => n.id).join()]), [[0, 50, '1'], [450, 200, '2,3'], [940, 60, '4']]);
	const many = Array.from({ length: 1000 }, (_, i) => note(String(i), i, i + 1));
	const all = placeNotes(many, { t0: 0, t1: 1000 }, 1000);
	assert.ok(all.length <= 1000 / 24 + 1, `${all.length} marks`);
	assert.equal(all.reduce((a, m) => a + m.notes.length, 0), 1000, 'none is left out');
	assert.deepEqual(placeNotes([], { t0: 0, t1: 1 }, 10), []);
});

test('the text of a note has a limit in bytes and no control characters', () => {
	assert.equal(noteFault('two\nlines é'), '');
	assert.ok(noteFault('  \n '));
	assert.equal(noteFault('é'.repeat(1000)), '');
	assert.match(noteFault('é'.repeat(1001)), /2000 bytes/);
	assert.ok(noteFault('a\u0007b') && noteFault('a\tb'));
});

test('notes are added, changed and removed by the server, and a failure keeps the draft', async () => {
	let stored: Note[] = [];
	const patch = (c: Call) => {
		const b = c.body as { notes_add?: Note[]; notes_update?: Note[]; notes_remove?: string[] };
		if (b.notes_add?.[0]?.text === 'no') return { status: 400, json: { error: { code: 'bad', message: 'refused' } } };
		stored = stored.filter((n) => !b.notes_remove?.includes(n.id)).map((n) => ({ ...n, ...b.notes_update?.find((u) => u.id === n.id) }));
		for (const n of b.notes_add ?? []) stored.push({ ...n, id: String(stored.length + 7) });
		return { json: { id: '5', notes: stored } };
	};
	await withFetch(patch, async (calls) => {
		const notes = new Notes('5', [note('3', 9, 10), note('1', 1, 2)]);
		assert.deepEqual(notes.items.value.map((n) => n.id), ['1', '3'], 'in order of time');
		notes.draft.value = { id: null, text: ' slow here ' };
		const made = await notes.save({ t0: 10.4, t1: 20.6 });
		assert.deepEqual(calls[0], { url: '/api/v1/traces/5', method: 'PATCH', body: { notes_add: [{ t0: 10, t1: 21, text: 'slow here' }] }, headers: { 'Content-Type': 'application/json' } });
		assert.equal(made?.text, 'slow here');
		assert.equal(notes.draft.value, null);
		notes.draft.value = { id: made!.id, text: 'fast now' };
		assert.equal((await notes.save({ t0: 11, t1: 12 }))?.text, 'fast now');
		assert.equal(notes.items.value[0]!.t0, 11);
		notes.draft.value = { id: null, text: 'no' };
		assert.equal(await notes.save({ t0: 1, t1: 2 }), null);
		assert.equal(notes.draft.value.text, 'no');
		assert.match(notes.error.value!.message, /refused/);
		notes.at.value = made!.id;
		await notes.remove(made!.id);
		assert.deepEqual([notes.items.value.length, notes.at.value, notes.error.value], [0, null, null]);
	});
});

test('ages are words', () => {
	assert.deepEqual(['0-1', '7-30', '90+'].map(ageLabel), ['up to 1 day', '7 to 30 days', '90 days and more']);
});
