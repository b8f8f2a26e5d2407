// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import test from 'node:test';
import { decodeSlices, endOf, FLAG, startOf } from '../src/lib/slices';
import { encode, item } from './encode';
import { splitByTrack } from '../src/timeline/tiles';

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
