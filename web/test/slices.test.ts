// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import test from 'node:test';
import { decodeSlices, endOf, FLAG, startOf } from '../src/lib/slices';
import { splitByTrack } from '../src/timeline/tiles';

type Item = { start: number; dur: number; name: number; slice: number; count: number; track: number; depth: number; kind: number; busy: number; flags: number };

export function encode(items: Item[], names: string[], base: bigint, tick: bigint): ArrayBuffer {
	const text = names.map((s) => new TextEncoder().encode(s));
	const n = items.length;
	const off = Math.ceil((64 + 24 * n + 3 * n) / 4) * 4;
	const buf = new ArrayBuffer(off + 4 * (names.length + 1) + text.reduce((a, t) => a + t.length, 0));
	const v = new DataView(buf);
	v.setUint32(0, 0x314c5346, true);
	v.setUint32(4, 1, true);
	v.setUint32(8, n, true);
	v.setUint32(12, names.length, true);
	v.setBigInt64(16, base, true);
	v.setBigUint64(24, tick, true);
	v.setUint32(52, 1024, true);
	items.forEach((it, i) => {
		[it.start, it.dur, it.name, it.slice, it.count].forEach((x, c) => v.setUint32(64 + c * 4 * n + 4 * i, x, true));
		v.setUint16(64 + 20 * n + 2 * i, it.track, true);
		v.setUint16(64 + 22 * n + 2 * i, it.depth, true);
		[it.kind, it.busy, it.flags].forEach((x, c) => v.setUint8(64 + 24 * n + c * n + i, x));
	});
	let at = 0;
	text.forEach((t, i) => {
		v.setUint32(off + 4 * i, at, true);
		new Uint8Array(buf).set(t, off + 4 * (names.length + 1) + at);
		at += t.length;
	});
	v.setUint32(off + 4 * names.length, at, true);
	return buf;
}

const item = (p: Partial<Item>): Item => ({ start: 0, dur: 1, name: 0, slice: 0, count: 1, track: 0, depth: 0, kind: 5, busy: 255, flags: 0, ...p });

test('columns come back as they were written, with exact times beyond 32 bits', () => {
	const base = 4_524_593_000n * 1000n;
	const s = decodeSlices(encode([item({ start: 4_294_967_295, dur: 7, name: 1, slice: 99, kind: 6, flags: FLAG.OVERLAP }), item({ depth: 3 })], ['a', 'gemm µ'], base, 1n));
	assert.equal(s.n, 2);
	assert.equal(startOf(s, 0), Number(base) + 4_294_967_295);
	assert.equal(endOf(s, 0) - startOf(s, 0), 7);
	assert.equal(s.names[s.name[0]], 'gemm µ');
	assert.deepEqual([s.slice[0], s.kind[0], s.flags[0], s.depth[1]], [99, 6, FLAG.OVERLAP, 3]);
});

test('ticks wider than a nanosecond scale both start and duration', () => {
	const s = decodeSlices(encode([item({ start: 10, dur: 5 })], ['x'], 64n, 16n));
	assert.deepEqual([startOf(s, 0), endOf(s, 0)], [64 + 160, 64 + 240]);
});

test('a damaged answer is refused at every length, not read past its end', () => {
	const whole = encode([item({}), item({ name: 1 })], ['a', 'bc'], 0n, 1n);
	for (let n = 0; n < whole.byteLength; n++) assert.throws(() => decodeSlices(whole.slice(0, n)), /slices|length|offset|Offset/, `${n} bytes`);
	const bad = whole.slice(0);
	new DataView(bad).setUint32(64 + 8 * 2, 7, true); // name index
	assert.throws(() => decodeSlices(bad), /name of item 0/);
	const version = whole.slice(0);
	new DataView(version).setUint32(4, 2, true);
	assert.throws(() => decodeSlices(version), /version 2/);
});

test('an empty answer is fine', () => {
	assert.equal(decodeSlices(encode([], [], 0n, 1n)).n, 0);
});

test('items are grouped by track, whatever their order', () => {
	for (const order of [[0, 0, 1, 2], [2, 0, 1, 0]]) {
		const s = decodeSlices(encode(order.map((track, i) => item({ track, slice: i })), ['a'], 0n, 1n));
		const runs = splitByTrack(s);
		const seen = [...runs].map(([track, r]) => {
			const ids = [];
			for (let j = r.from; j < r.to; j++) ids.push(s.track[r.order ? r.order[j] : j]);
			assert.ok(ids.every((t) => t === track));
			return [track, ids.length];
		});
		assert.deepEqual(seen, [[0, 2], [1, 1], [2, 1]]);
	}
});
