// SPDX-License-Identifier: Apache-2.0
// Writes "slices binary v1" for tests.

export type Item = { start: number; dur: number; name: number; slice: number; count: number; track: number; depth: number; kind: number; busy: number; flags: number };

export const item = (p: Partial<Item>): Item => ({ start: 0, dur: 1, name: 0, slice: 0, count: 1, track: 0, depth: 0, kind: 5, busy: 255, flags: 0, ...p });

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
