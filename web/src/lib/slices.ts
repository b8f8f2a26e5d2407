// SPDX-License-Identifier: Apache-2.0
// Decoder of "slices binary v1" (docs: GET /traces/{id}/slices). Typed-array views, no copies, every offset checked.

export const FLAG = { MERGED: 1, OVERLAP: 2, INSTANT: 4, OPEN: 8, BEFORE: 16, AFTER: 32 } as const;
const MAGIC = 0x314c5346;
const HEADER = 64;

export type Slices = {
	n: number;
	/** ns of tick 0 and ns per tick; both exact integers below 2^53. */
	base: number;
	tick: number;
	t0: number;
	t1: number;
	px: number;
	truncated: boolean;
	start: Uint32Array;
	dur: Uint32Array;
	name: Uint32Array;
	slice: Uint32Array;
	count: Uint32Array;
	track: Uint16Array;
	depth: Uint16Array;
	kind: Uint8Array;
	busy: Uint8Array;
	flags: Uint8Array;
	names: string[];
};

/** A 64-bit signed integer as a number; throws when it is not safe. */
function int64(v: DataView, at: number, what: string): number {
	const n = Number(v.getBigInt64(at, true));
	if (!Number.isSafeInteger(n)) throw new Error(`slices: ${what} is out of range`);
	return n;
}

export function decodeSlices(buf: ArrayBuffer): Slices {
	if (buf.byteLength < HEADER) throw new Error('slices: shorter than its header');
	const v = new DataView(buf);
	if (v.getUint32(0, true) !== MAGIC) throw new Error('slices: wrong magic');
	if (v.getUint32(4, true) !== 1) throw new Error(`slices: version ${v.getUint32(4, true)}, this page reads 1`);
	const n = v.getUint32(8, true);
	const nNames = v.getUint32(12, true);
	const tick = int64(v, 24, 'tick');
	if (tick < 1) throw new Error('slices: tick below 1');
	const wide = 4 * n;
	const narrow = 2 * n;
	const tail = HEADER + 5 * wide + 2 * narrow;
	const nameOff = Math.ceil((tail + 3 * n) / 4) * 4;
	const text = nameOff + 4 * (nNames + 1);
	if (text > buf.byteLength) throw new Error('slices: cut short');
	const u32 = (i: number) => new Uint32Array(buf, HEADER + i * wide, n);
	const offs = new Uint32Array(buf, nameOff, nNames + 1);
	const names = decodeNames(new Uint8Array(buf, text), offs);
	const out: Slices = {
		n,
		base: int64(v, 16, 'base'),
		tick,
		t0: int64(v, 32, 't0'),
		t1: int64(v, 40, 't1'),
		truncated: v.getUint32(48, true) % 2 === 1,
		px: v.getUint32(52, true),
		start: u32(0),
		dur: u32(1),
		name: u32(2),
		slice: u32(3),
		count: u32(4),
		track: new Uint16Array(buf, HEADER + 5 * wide, n),
		depth: new Uint16Array(buf, HEADER + 5 * wide + narrow, n),
		kind: new Uint8Array(buf, tail, n),
		busy: new Uint8Array(buf, tail + n, n),
		flags: new Uint8Array(buf, tail + 2 * n, n),
		names,
	};
	for (let i = 0; i < n; i++) if (out.name[i] >= nNames) throw new Error(`slices: name of item ${i} is unknown`);
	return out;
}

function decodeNames(bytes: Uint8Array, offs: Uint32Array): string[] {
	const utf8 = new TextDecoder();
	const names: string[] = [];
	for (let i = 0; i + 1 < offs.length; i++) {
		if (offs[i + 1] < offs[i] || offs[i + 1] > bytes.length) throw new Error('slices: names are damaged');
		names.push(utf8.decode(bytes.subarray(offs[i], offs[i + 1])));
	}
	return names;
}

export function startOf(s: Slices, i: number): number {
	return s.base + s.start[i] * s.tick;
}

export function endOf(s: Slices, i: number): number {
	return s.base + (s.start[i] + s.dur[i]) * s.tick;
}
