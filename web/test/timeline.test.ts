// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Details, Process, SliceRef, Track } from '../src/lib/types';
import { MAX_DEPTHS, buildLayout, buildPinned, depthAt, depthHeight, depthTop, rowAt, trackLabel } from '../src/timeline/layout';
import { TextFitter } from '../src/timeline/labels';
import { minimapWindow, stepTitle, firstStep } from '../src/timeline/ruler';
import { rangeUnit, withPart } from '../src/lib/timeunit';
import { follow, linksOf } from '../src/timeline/links';
import * as v from '../src/timeline/viewport';
import { mergedText } from '../src/lib/merged';

const thread = (id: number, slices = 100, depths = 5): Track => ({ id, kind: 'thread', process: 0, tid: 1000 + id, name: '', depths, slices });
const stream = (id: number, stream: number, main: string): Track => ({ id, kind: 'stream', process: 1, device: 3, stream, depths: 1, slices: 5, main_kind: main });
const processes: Process[] = [{ index: 0, pid: 48213, name: 'python', labels: 'rank 3' }, { index: 1, pid: 3, name: 'python', labels: 'GPU 3' }];
const none = { open: new Map<string, boolean>(), pins: [] };

test('rows follow each other without gaps, and a point finds its row', () => {
	const { rows, height } = buildLayout([thread(0), thread(1), stream(2, 7, 'compute'), stream(3, 20, 'comm')], processes, none);
	let y = 0;
	for (const r of rows) {
		assert.equal(r.y, y);
		y += r.h;
		assert.equal(rowAt(rows, r.y), r);
		assert.equal(rowAt(rows, r.y + r.h - 0.5), r);
	}
	assert.equal(height, y);
	assert.equal(rowAt(rows, y), null);
	assert.deepEqual(rows.filter((r) => r.type === 'section').map((r) => r.title), ['python 48213, rank 3', 'GPU 3']);
});

test('every depth lies inside its row and is found again', () => {
	const { rows } = buildLayout([thread(0, 10, 9), { ...stream(2, 7, 'compute'), depths: 3 }], processes, none);
	for (const r of rows.filter((x) => x.type === 'track')) {
		for (let d = 0; d < r.depths; d++) {
			assert.ok(depthTop(r, d) >= r.y && depthTop(r, d) + depthHeight(r, d) <= r.y + r.h);
			assert.equal(depthAt(r, depthTop(r, d)), d);
			assert.equal(depthAt(r, depthTop(r, d) + depthHeight(r, d) - 1), d);
		}
	}
});

test('deep threads are cut until they are opened, and say how much is hidden', () => {
	const deep = thread(0, 10, 60);
	const row = (open: Map<string, boolean>) => buildLayout([deep], processes, { open, pins: [] }).rows.find((r) => r.track === deep)!;
	assert.equal(row(new Map()).depths, MAX_DEPTHS);
	assert.equal(row(new Map([['t0', true]])).depths, 60);
	assert.equal(row(new Map([['t0', false]])).depths, 1);
});

test('small threads fold together, and all of them are in the fold', () => {
	const many = Array.from({ length: 16 }, (_, i) => thread(i, 1000 - i));
	const rows = buildLayout(many, processes, none).rows;
	const fold = rows.find((r) => r.type === 'fold')!;
	assert.equal(fold.folded.length + rows.filter((r) => r.track).length, 16);
	assert.equal(fold.title, '13 more threads');
	const open = buildLayout(many, processes, { open: new Map([['p0:small', true]]), pins: [] }).rows;
	assert.equal(open.filter((r) => r.track).length, 16);
});

test('sections that hold next to nothing come last', () => {
	const marks: Track = { ...thread(9, 0, 1), process: 5 };
	const rows = buildLayout([marks, thread(0), stream(1, 7, 'compute')], processes, none).rows;
	assert.deepEqual(rows.filter((r) => r.track).map((r) => r.track!.id), [0, 1, 9]);
});

test('a closed section hides its tracks', () => {
	const rows = buildLayout([thread(0), stream(1, 7, 'compute')], processes, { open: new Map([['p0', false]]), pins: [] }).rows;
	assert.deepEqual(rows.map((r) => r.type), ['section', 'section', 'track']);
});

test('pinned tracks repeat on top', () => {
	const tracks = [thread(0), stream(1, 20, 'comm')];
	const { rows } = buildPinned(tracks, { open: new Map(), pins: [1, 99] });
	assert.deepEqual(rows.map((r) => r.title), ['Pinned', 'Stream 20, communication']);
	assert.equal(rows[1].note, 'GPU 3');
	assert.equal(buildPinned(tracks, none).height, 0);
});

test('labels of threads do not repeat their number', () => {
	assert.equal(trackLabel({ ...thread(1), name: 'thread 1001 (main)' }), 'Thread 1001, main');
	assert.equal(trackLabel({ ...thread(1), name: 'pt_autograd_0' }), 'Thread 1001, pt_autograd_0');
	assert.equal(trackLabel(thread(1)), 'Thread 1001');
});

test('zooming keeps the time at the pointer, also past 2^31 ns', () => {
	const lim = v.limits(0, 9_074_000_000);
	const w = { t0: 4_524_593_000, t1: 4_536_593_000 };
	for (const at of [0, 0.25, 1]) {
		const z = v.zoom(w, 0.5, at, lim);
		const before = w.t0 + (w.t1 - w.t0) * at;
		assert.ok(Math.abs(z.t0 + (z.t1 - z.t0) * at - before) < 1e-3);
		assert.ok(Math.abs(z.t1 - z.t0 - 6e6) < 1e-3);
	}
});

test('a window never leaves the trace and never gets too small', () => {
	const lim = v.limits(0, 1e9);
	let w = v.clamp({ t0: -5e9, t1: -4e9 }, lim);
	assert.equal(w.t0, lim.t0);
	w = v.clamp({ t0: 5, t1: 5 }, lim);
	assert.ok(w.t1 - w.t0 >= v.MIN_LEN);
	assert.deepEqual(v.zoom(w, 1e12, 0.5, lim), lim);
	const moved = v.pan({ t0: 9e8, t1: 1e9 }, 50, lim);
	assert.equal(moved.t1, lim.t1);
});

test('reveal shows a slice and keeps the window when it is there already', () => {
	const lim = v.limits(0, 1e9);
	const w = { t0: 1e8, t1: 2e8 };
	assert.equal(v.reveal(w, 1.2e8, 1.5e8, 1000, lim), w);
	const r = v.reveal(w, 9e8, 9e8 + 100, 1000, lim);
	assert.ok(r.t0 <= 9e8 && r.t1 >= 9e8 + 100 && (100 / (r.t1 - r.t0)) * 1000 >= 6);
});

test('tiles cover the window and are about one pixel a bucket', () => {
	for (const len of [500, 1e4, 1e7, 9.07e9, 1e14]) {
		const w = { t0: 3 * len, t1: 4 * len };
		const level = v.levelFor(len, 1150);
		const [a, b] = v.tilesOf(w, level);
		assert.ok(a * v.tileLen(level) <= w.t0 && (b + 1) * v.tileLen(level) >= w.t1, `covers ${len}`);
		assert.ok(b - a <= 4, `${b - a} tiles for ${len}`);
		if (level > 0) assert.ok(2 ** level / (len / 1150) > 0.7 && 2 ** level / (len / 1150) < 1.42);
	}
});

test('the frame of the minimap never gets narrower than 10 px', () => {
	const whole = { t0: 0, t1: 9e9 };
	for (const t of [0, 4e9, 9e9 - 1000]) {
		const [a, b] = minimapWindow(whole, { t0: t, t1: t + 1000 }, 1150);
		assert.ok(b - a >= 10 && a >= 0 && b <= 1150);
	}
});

test('text is cut to its room: at the end when short, in the middle when its end fits too', () => {
	const fit = new TextFitter((s) => s.length * 6);
	assert.equal(fit.fit('abc', 18), 'abc');
	assert.equal(fit.fit('abcdefgh', 36), 'abcde…');
	const long = fit.fit('ncclDevKernel_AllReduce_Sum_bf16_RING_LL', 150);
	assert.ok(long.length * 6 <= 150 && long.startsWith('ncclDev') && long.endsWith('LL') && long.includes('…'));
	assert.equal(fit.fit('abcdef', 10), '');
});

test('typed parts of a range change only what they name', () => {
	const w = { t0: 100, t1: 200 };
	assert.deepEqual(withPart(w, 't0', 150), { t0: 150, t1: 200 });
	assert.deepEqual(withPart(w, 'len', 20), { t0: 100, t1: 120 });
	assert.equal(withPart(w, 't1', 50), null);
});

test('digits of a range show a thousandth of its length', () => {
	const u = rangeUnit({ t0: 4_524_593_000, t1: 4_536_593_000 });
	assert.equal(u.name, 'ms');
	assert.ok(u.decimals >= 2);
	assert.equal(rangeUnit({ t0: 0, t1: 40 }).name, 'ns');
});

test('steps are found by time and titled by number', () => {
	const steps = [0, 1, 2].map((i) => ({ name: `ProfilerStep#${i}`, t0: i * 10, dur_ns: 10 }));
	assert.deepEqual([firstStep(steps, 0), firstStep(steps, 10), firstStep(steps, 29), firstStep(steps, 30)], [0, 1, 2, 3]);
	assert.equal(stepTitle('ProfilerStep#1224'), 'Step 1224');
	assert.equal(stepTitle('epoch'), 'epoch');
});

test('a merged bucket says what it stands for', () => {
	assert.equal(mergedText({ count: 37, busy: 0.81, kind: 5 }), '37 kernels, 81 % busy');
	assert.equal(mergedText({ count: 2, busy: 1, kind: 1 }), '2 slices, 100 % busy');
});

test('the way along a flow prefers launches, goes over flows, and ends where there is none', () => {
	const ref = (id: number): SliceRef => ({ id, name: `s${id}`, track: 0, ts: id, dur: 1 });
	const d = (more: Partial<Details>): Details => ({ id: 9, track: 0, depth: 0, name: 'x', kind: 'op', ts: 9, dur: 1, ...more });
	assert.equal(follow(null, 'next'), null);
	assert.equal(follow(d({}), 'prev'), null);
	const launch = d({ launches: [ref(1), ref(2)], flows: [{ ...ref(1), dir: 'out', cat: 'ac2g' }, { ...ref(5), dir: 'out', cat: 'fwdbwd' }, { ...ref(6), dir: 'in' }] });
	assert.equal(follow(launch, 'next')!.id, 1);
	assert.equal(follow(launch, 'prev')!.id, 6);
	assert.deepEqual(linksOf(launch).map((l) => [l.how, l.to.id]), [['launches', 1], ['launches', 2], ['to, fwdbwd', 5], ['from, flow', 6]]);
	assert.equal(follow(d({ launched_by: ref(3), flows: [{ ...ref(4), dir: 'in' }] }), 'prev')!.id, 3);
	assert.equal(follow(d({ launched_by: ref(3) }), 'next'), null);
});
