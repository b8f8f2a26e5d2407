// SPDX-License-Identifier: Apache-2.0
// Reads a Chrome / Kineto JSON with the language's own JSON parser and exact decimal arithmetic, so that tests
// can compare what the product made of a file with the file itself. For small and middle-sized files.
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

export interface RawSlice { name: string; cat: string; ts: bigint; dur: bigint; pid: string; tid: string; args: Record<string, unknown> }
export interface RawTrace { base: bigint; slices: RawSlice[]; doc: Record<string, unknown> }

/** Microseconds as text to ns: half a ns rounds away from zero. */
export function usToNs(s: string): bigint | undefined {
	const m = /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/.exec(s);
	if (!m || (m[2] === '' && m[3] === '')) return undefined;
	const exponent = Number(m[4] ?? '0') + 3, digits = m[2]! + m[3]!, point = m[2]!.length + exponent;
	let whole: bigint, rest: string;
	if (point >= digits.length) { whole = BigInt(digits + '0'.repeat(point - digits.length)); rest = ''; }
	else if (point < 0) { whole = 0n; rest = '0'; }
	else { whole = BigInt(digits.slice(0, point) || '0'); rest = digits.slice(point); }
	if (rest !== '' && rest[0]! >= '5') whole += 1n;
	return m[1] === '-' ? -whole : whole;
}

export function parseRaw(bytes: Uint8Array): RawTrace {
	const plain = bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : Buffer.from(bytes);
	// Times must not pass through a double: they become strings before parsing.
	const text = plain.toString('utf8').replace(/"(ts|dur|baseTimeNanoseconds)"\s*:\s*(-?[0-9.eE+-]+)/g, '"$1":"$2"');
	const parsed = JSON.parse(text), doc = Array.isArray(parsed) ? { traceEvents: parsed } : parsed;
	const base = BigInt(doc.baseTimeNanoseconds ?? '0');
	const slices: RawSlice[] = [];
	for (const e of doc.traceEvents) {
		if (!e || e.ph !== 'X') continue;
		const ts = e.ts === undefined ? undefined : usToNs(String(e.ts)), dur = e.dur === undefined ? undefined : usToNs(String(e.dur));
		if (ts === undefined || dur === undefined) continue;
		slices.push({ name: String(e.name ?? ''), cat: String(e.cat ?? ''), ts: ts + base, dur, pid: String(e.pid), tid: String(e.tid ?? e.pid), args: e.args ?? {} });
	}
	return { base, slices, doc };
}

export function readRaw(path: string): RawTrace {
	return parseRaw(readFileSync(path));
}
