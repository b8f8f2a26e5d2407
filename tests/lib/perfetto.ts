// SPDX-License-Identifier: Apache-2.0
// An independent reader of Perfetto protobuf files, written from the published .proto files and sharing
// nothing with the exporter: what it finds is what another program would find. Times are BigInt ns.

export interface PfSlice { name: string; ts: bigint; dur: bigint; gpu: boolean; eventId?: bigint; track: string; submits: bigint[]; flowsOut: bigint[]; flowsIn: bigint[]; category?: string; args: Map<string, unknown>; grid?: number[]; block?: number[]; stream?: string }
export interface PfCounter { track: string; ts: bigint; value: number }
export interface PfTrace { slices: PfSlice[]; instants: { name: string; ts: bigint; track: string }[]; counters: PfCounter[]; tracks: Map<string, PfTrack>; packets: number; openSlices: number }
export interface PfTrack { uuid: string; parent?: string; name?: string; pid?: number; tid?: bigint; threadName?: string; processName?: string; counter: boolean }

type Field = { no: number; wire: number; v: bigint; b?: Uint8Array };

class Reader {
	pos = 0;
	constructor(readonly b: Uint8Array) {}
	varint(): bigint {
		let low = 0, high = 0n, shift = 0;
		for (;;) {
			if (this.pos >= this.b.length) throw new Error(`varint cut at ${this.pos}`);
			const c = this.b[this.pos++]!;
			if (shift < 28) low += (c & 127) * 2 ** shift;
			else high |= BigInt(c & 127) << BigInt(shift);
			if (c < 128) return BigInt.asUintN(64, BigInt(low) | high);
			shift += 7;
			if (shift > 63) throw new Error(`varint too long at ${this.pos}`);
		}
	}
	next(): Field | undefined {
		if (this.pos >= this.b.length) return undefined;
		const tag = Number(this.varint()), no = Math.floor(tag / 8), wire = tag & 7;
		if (wire === 0) return { no, wire, v: this.varint() };
		if (wire === 2) {
			const n = Number(this.varint());
			if (this.pos + n > this.b.length) throw new Error(`field ${no} of ${n} bytes passes the end`);
			const b = this.b.subarray(this.pos, this.pos + n);
			this.pos += n;
			return { no, wire, v: 0n, b };
		}
		if (wire === 1) {
			const d = new DataView(this.b.buffer, this.b.byteOffset + this.pos, 8);
			this.pos += 8;
			return { no, wire, v: d.getBigUint64(0, true) };
		}
		throw new Error(`wire type ${wire} of field ${no}`);
	}
}

function* fields(b: Uint8Array | undefined): Generator<Field> {
	if (!b) return;
	const r = new Reader(b);
	for (let f = r.next(); f; f = r.next()) yield f;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });
const text = (f: Field) => utf8.decode(f.b);
const int64 = (v: bigint) => BigInt.asIntN(64, v);

function double(v: bigint): number {
	const d = new DataView(new ArrayBuffer(8));
	d.setBigUint64(0, v);
	return d.getFloat64(0);
}

interface Sequence {
	dict: Map<string, string>; // "<field>/<iid>" -> text
	clock: bigint; // absolute ns of the incremental clock
	incremental?: number; // id of the incremental clock
	defaultClock?: number;
	defaultTrack?: string;
	cleared: boolean;
}

const DICTS = [1, 2, 3, 24, 29, 1000, 1001];

function intern(s: Sequence, b: Uint8Array) {
	for (const f of fields(b)) {
		if (!DICTS.includes(f.no)) continue;
		let iid = 0n, name = '';
		for (const g of fields(f.b)) {
			if (g.no === 1) iid = g.v;
			else if (g.no === 2) name = text(g);
		}
		if (!iid) throw new Error('interning id 0');
		s.dict.set(`${f.no}/${iid}`, name);
	}
}

function lookup(s: Sequence, dict: number, iid: bigint): string {
	const v = s.dict.get(`${dict}/${iid}`);
	if (v === undefined) throw new Error(`iid ${iid} of dictionary ${dict} was never interned on its sequence`);
	return v;
}

function annotation(s: Sequence, b: Uint8Array, args: Map<string, unknown>) {
	let key = '', value: unknown;
	for (const f of fields(b)) {
		if (f.no === 1) key = lookup(s, 3, f.v);
		else if (f.no === 10) key = text(f);
		else if (f.no === 2) value = f.v !== 0n;
		else if (f.no === 4) value = int64(f.v);
		else if (f.no === 5) value = double(f.v);
		else if (f.no === 6) value = text(f);
		else if (f.no === 9) value = JSON.parse(text(f));
		else if (f.no === 17) value = lookup(s, 29, f.v);
	}
	args.set(key, value);
}

function computeArg(s: Sequence, b: Uint8Array, args: Map<string, unknown>) {
	let key = '', value: unknown;
	for (const f of fields(b)) {
		if (f.no === 1) key = lookup(s, 1001, f.v);
		else if (f.no === 2) key = text(f);
		else if (f.no === 3) value = int64(f.v);
		else if (f.no === 5) value = double(f.v);
		else if (f.no === 6) value = text(f);
	}
	args.set(key, value);
}

function dim3(b: Uint8Array): number[] {
	const v = [0, 0, 0];
	for (const f of fields(b)) v[f.no - 1] = Number(f.v);
	return v;
}

function renderStage(s: Sequence, b: Uint8Array, ts: bigint, out: PfTrace) {
	const slice: PfSlice = { name: '', ts, dur: 0n, gpu: true, track: '', submits: [], flowsOut: [], flowsIn: [], args: new Map() };
	for (const f of fields(b)) {
		if (f.no === 1) slice.eventId = f.v;
		else if (f.no === 2) slice.dur = f.v;
		else if (f.no === 13) slice.stream = lookup(s, 24, f.v);
		else if (f.no === 14) slice.category = lookup(s, 24, f.v);
		else if (f.no === 17) slice.name = text(f);
		else if (f.no === 20) slice.name = lookup(s, 2, f.v);
		else if (f.no === 21) {
			for (const g of fields(f.b)) {
				if (g.no === 1) slice.grid = dim3(g.b!);
				else if (g.no === 2) slice.block = dim3(g.b!);
				else if (g.no === 3) computeArg(s, g.b!, slice.args);
			}
		}
	}
	out.slices.push(slice);
}

function trackEvent(s: Sequence, b: Uint8Array, ts: bigint, out: PfTrace, open: Map<string, PfSlice[]>) {
	let type = 0, track = s.defaultTrack ?? '', value = 0;
	const e: PfSlice = { name: '', ts, dur: 0n, gpu: false, track, submits: [], flowsOut: [], flowsIn: [], args: new Map() };
	for (const f of fields(b)) {
		if (f.no === 9) type = Number(f.v);
		else if (f.no === 11) track = f.v.toString();
		else if (f.no === 3) e.category = lookup(s, 1, f.v);
		else if (f.no === 10) e.name = lookup(s, 2, f.v);
		else if (f.no === 23) e.name = text(f);
		else if (f.no === 44) value = double(f.v);
		else if (f.no === 30) value = Number(int64(f.v));
		else if (f.no === 47) e.flowsOut.push(f.v);
		else if (f.no === 48) e.flowsIn.push(f.v);
		else if (f.no === 4) annotation(s, f.b!, e.args);
		else if (f.no === 3000) for (const g of fields(f.b)) if (g.no === 1) e.submits.push(g.v);
	}
	e.track = track;
	if (!out.tracks.has(track)) throw new Error(`event on a track without a descriptor: ${track}`);
	const stack = open.get(track) ?? [];
	open.set(track, stack);
	if (type === 1) stack.push(e);
	else if (type === 2) {
		const begun = stack.pop();
		if (!begun) throw new Error(`end without begin on track ${track} at ${ts}`);
		begun.dur = ts - begun.ts;
		out.slices.push(begun);
	} else if (type === 3) out.instants.push({ name: e.name, ts, track });
	else if (type === 4) out.counters.push({ track, ts, value });
}

function descriptor(b: Uint8Array, out: PfTrace) {
	const t: PfTrack = { uuid: '', counter: false };
	for (const f of fields(b)) {
		if (f.no === 1) t.uuid = f.v.toString();
		else if (f.no === 5) t.parent = f.v.toString();
		else if (f.no === 2) t.name = text(f);
		else if (f.no === 3) for (const g of fields(f.b)) { if (g.no === 1) t.pid = Number(int64(g.v)); else if (g.no === 6) t.processName = text(g); }
		else if (f.no === 4) for (const g of fields(f.b)) { if (g.no === 1) t.pid = Number(int64(g.v)); else if (g.no === 2) t.tid = int64(g.v); else if (g.no === 5) t.threadName = text(g); }
		else if (f.no === 8) t.counter = true;
	}
	if (!t.uuid || t.uuid === '0') throw new Error('track without uuid');
	out.tracks.set(t.uuid, t);
}

function snapshot(s: Sequence, b: Uint8Array) {
	for (const f of fields(b)) {
		if (f.no !== 1) continue;
		let id = 0, ts = 0n, incremental = false;
		for (const g of fields(f.b)) {
			if (g.no === 1) id = Number(g.v);
			else if (g.no === 2) ts = g.v;
			else if (g.no === 3) incremental = g.v !== 0n;
		}
		if (id === 6) s.clock = ts;
		if (incremental) s.incremental = id;
	}
}

function defaults(s: Sequence, b: Uint8Array) {
	for (const f of fields(b)) {
		if (f.no === 58) s.defaultClock = Number(f.v);
		else if (f.no === 11) for (const g of fields(f.b)) if (g.no === 11) s.defaultTrack = g.v.toString();
	}
}

export function decodePerfetto(file: Uint8Array): PfTrace {
	const out: PfTrace = { slices: [], instants: [], counters: [], tracks: new Map(), packets: 0, openSlices: 0 };
	const sequences = new Map<number, Sequence>(), open = new Map<string, PfSlice[]>();
	for (const packet of fields(file)) {
		if (packet.no !== 1 || !packet.b) throw new Error(`not a packet: field ${packet.no}`);
		out.packets++;
		const parts = [...fields(packet.b)], get = (no: number) => parts.find((f) => f.no === no);
		const id = Number(get(10)?.v ?? 0n), flags = Number(get(13)?.v ?? 0n);
		if (!id) throw new Error('packet without a sequence id');
		let s = sequences.get(id);
		if (!s || flags & 1) sequences.set(id, s = { dict: new Map(), clock: 0n, cleared: (flags & 1) !== 0 });
		if (flags & 2 && !s.cleared) throw new Error(`sequence ${id} needs state that was never set up`);
		if (get(6)) snapshot(s, get(6)!.b!);
		if (get(59)) defaults(s, get(59)!.b!);
		if (get(12)) intern(s, get(12)!.b!);
		if (get(60)) descriptor(get(60)!.b!, out);
		const stamp = get(8);
		if (!stamp) continue;
		if (s.defaultClock === undefined || s.defaultClock !== s.incremental) throw new Error('packet is not on the incremental clock');
		s.clock += stamp.v;
		if (get(53)) renderStage(s, get(53)!.b!, s.clock, out);
		if (get(11)) trackEvent(s, get(11)!.b!, s.clock, out, open);
	}
	for (const stack of open.values()) out.openSlices += stack.length;
	return out;
}
