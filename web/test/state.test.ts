// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import test from 'node:test';
import { EMPTY_STATE, parseState, writeState } from '../src/lib/urlstate';
import { apiParams, listState, withState } from '../src/pages/list_state';
import { safeNext } from '../src/lib/next';
import { downloadUrl } from '../src/lib/exports';
import { absolute, exportUrl, ownViewerUrl, padded, viewerUrl } from '../src/lib/perfetto';
import { lossSummary, traceTitle } from '../src/lib/text';

test('the state of a timeline survives the URL, names with dots and spaces included', () => {
	const s = { t0: 5, t1: 9_007_199_254_740, sel: { track: 3, ts: 4_532_013_000, name: 'void f<a.b>(x, 1.5) & more' }, q: 'gemm 16', pin: [2, 7], range: { t0: 1, t1: 2 }, note: '12', tab: 'slices', open: [['t5', true], ['p-1', false], ['p0:small', true]] as [string, boolean][] };
	assert.deepEqual(parseState(writeState('?test&keep=1', s)), s);
});

test('unknown parameters stay, and empty state leaves none of its own', () => {
	const q = writeState('?test=&keep=1&t0=1&t1=2&q=x', EMPTY_STATE);
	assert.equal(q, '?test=&keep=1');
	assert.equal(writeState('', EMPTY_STATE), '');
});

test('nonsense in the URL is left out', () => {
	const s = parseState('?t0=9&t1=3&sel=1.x.y&pin=a,2,-1&range=5..5&open=x,t,%3Cscript%3E');
	assert.deepEqual(s, { ...EMPTY_STATE, pin: [2] });
	assert.equal(parseState('?t0=99999999999999999999&t1=3').t0, null);
});

test('filters of the list survive the URL', () => {
	const s = listState('?q=gpt&state=ready&state=failed&job=a%2Cb&sort=busy&order=asc&keep=1&capture=c1&tick=12,b34,evil&x=1');
	assert.deepEqual([s.q, s.state, s.job, s.sort, s.order], ['gpt', ['ready', 'failed'], ['a,b'], 'busy', 'asc']);
	assert.deepEqual([s.keep, s.capture, s.tick], [true, 'c1', ['12', 'b34']]);
	assert.deepEqual([apiParams(s).keep, apiParams(s).capture, 'tick' in apiParams(s)], ['1', 'c1', false]);
	assert.deepEqual(listState(withState('?x=1', s)), s);
	assert.ok(withState('?x=1', s).startsWith('?x=1&'));
	assert.equal(listState('?sort=evil').sort, 'started');
	assert.equal(apiParams(s).state, 'ready,failed');
	assert.equal(apiParams({ ...s, job: [''] }).job, ',');
	assert.equal(apiParams({ ...s, job: ['a', ''] }).job, 'a,,');
});

test('login goes back to pages of this site only', () => {
	assert.equal(safeNext('/traces/1?t0=5'), '/traces/1?t0=5');
	for (const bad of [null, '', 'https://evil.example', '//evil.example', '/\\evil.example', '/login?next=/x']) assert.equal(safeNext(bad), '/traces', String(bad));
});

test('absolute times keep every nanosecond', () => {
	assert.equal(absolute('1795874531000000001', 2), '1795874531000000003');
	const u = viewerUrl('https://viewer.example/', '1795874531000000001', { t0: 1000, t1: 2000, select: { ts: 1000, dur: 1000 } });
	const p = new URLSearchParams(u.split('?')[1]);
	assert.ok(u.startsWith('https://viewer.example/#!/?'));
	assert.deepEqual([p.get('ts'), p.get('dur')], ['1795874531000001001', '1000']);
	assert.ok(BigInt(p.get('visStart')!) <= BigInt(p.get('ts')!) && BigInt(p.get('visEnd')!) >= BigInt(p.get('ts')!) + 1000n);
});

test('an export asks for the range with some room, never before the start', () => {
	assert.equal(exportUrl('7', null), '/api/v1/traces/7/export/perfetto');
	const w = padded({ t0: 10, t1: 1010, select: { ts: 10, dur: 1000 } });
	assert.ok(w.t0 === 0 && w.t1 > 1010);
});

test('the link to the own viewer carries the window and the slice', () => {
	assert.equal(ownViewerUrl('7', null), '/api/v1/traces/7/perfetto');
	const u = new URL(ownViewerUrl('7', { t0: 5000, t1: 6000, select: { ts: 5000, dur: 1000 } }), 'http://x');
	assert.deepEqual([u.searchParams.get('ts'), u.searchParams.get('dur')], ['5000', '1000']);
	assert.ok(Number(u.searchParams.get('t0')) < 5000 && Number(u.searchParams.get('t1')) > 6000);
	assert.equal(new URL(ownViewerUrl('7', { t0: 5000, t1: 6000 }), 'http://x').searchParams.get('dur'), null);
});

test('a download is of exactly the range', () => {
	assert.equal(downloadUrl('7', 'csv', null), '/api/v1/traces/7/export/csv');
	assert.equal(downloadUrl('7', 'chrome', { t0: 10, t1: 1010 }), '/api/v1/traces/7/export/chrome?t0=10&t1=1010');
});

test('titles and loss badges read well', () => {
	assert.equal(traceTitle({ job: 'gpt', name: 'f.json', rank: 3, world_size: 8 }), 'gpt, rank 3 of 8');
	assert.equal(traceTitle({ job: null, name: 'f.json', rank: -1, world_size: -1 }), 'f.json');
	assert.equal(lossSummary([]), 'no losses');
	assert.equal(lossSummary([{ code: 'a', count: 40 }, { code: 'b', count: 1 }, { code: 'c', count: 0 }]), '2 kinds of repair, 41 events');
	assert.equal(lossSummary([{ code: 'a', count: 1 }]), '1 kind of repair, 1 event');
});
