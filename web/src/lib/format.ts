// SPDX-License-Identifier: Apache-2.0
// Numbers and times as text. Pure. Times are ns as JS numbers (safe below 2^53, 104 days) or bigint for absolute ns.

const UNITS: readonly [string, number][] = [
	['s', 1e9],
	['ms', 1e6],
	['µs', 1e3],
	['ns', 1],
];

export type TimeUnit = { name: string; ns: number };

/** The unit in which `ns` has 1 to 999 before the point. */
export function unitFor(ns: number): TimeUnit {
	const a = Math.abs(ns);
	for (const [name, size] of UNITS) if (a >= size) return { name, ns: size };
	return { name: 'ns', ns: 1 };
}

const grouped = new Map<number, Intl.NumberFormat>();

/** One unit for a column: of its largest value, or one smaller when the smallest would read as 0. */
export function columnUnit(values: readonly number[]): TimeUnit {
	let max = 0;
	let min = Infinity;
	for (const v of values) {
		if (v > max) max = v;
		if (v > 0 && v < min) min = v;
	}
	const u = unitFor(max);
	if (u.ns > 1 && min / u.ns < 0.1) return unitFor(u.ns / 1e3);
	return u;
}

/** Fixed decimals with thousands separators, always in English style. */
export function fixed(v: number, decimals: number): string {
	let f = grouped.get(decimals);
	if (!f) {
		f = new Intl.NumberFormat('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
		grouped.set(decimals, f);
	}
	return f.format(v);
}

export function int(v: number): string {
	return fixed(Math.round(v), 0);
}

/** 3 to 4 digits: 9.07 s, 57.1 s, 186.8 ms, 640 ns. */
export function dur(ns: number): string {
	return withDigits(ns, [2, 1, 1]);
}

/** One digit more, for single facts: 9.074 s, 57.12 s, 186.8 ms. */
export function durLong(ns: number): string {
	return withDigits(ns, [3, 2, 1]);
}

function withDigits(ns: number, [ones, tens, hundreds]: [number, number, number]): string {
	if (!Number.isFinite(ns)) return '';
	const u = unitFor(ns);
	const v = ns / u.ns;
	const a = Math.abs(v);
	return `${fixed(v, u.ns === 1 ? 0 : a >= 100 ? hundreds : a >= 10 ? tens : ones)} ${u.name}`;
}

/** Exact: 1,020.000 µs, every ns visible. */
export function durExact(ns: number): string {
	const u = unitFor(ns);
	return `${fixed(ns / u.ns, decimalsOf(u.ns))} ${u.name}`;
}

export function decimalsOf(unitNs: number): number {
	return Math.round(Math.log10(unitNs));
}

/** `ns` in the given unit without its name, `decimals` digits. */
export function inUnit(ns: number, unitNs: number, decimals: number): string {
	return fixed(ns / unitNs, decimals);
}

const IEC = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

export function bytes(n: number): string {
	let v = n;
	let i = 0;
	while (v >= 1024 && i < IEC.length - 1) {
		v /= 1024;
		i++;
	}
	return `${i === 0 ? fixed(v, 0) : fixed(v, v >= 100 ? 0 : v >= 10 ? 1 : 2)} ${IEC[i]}`;
}

/** Share in per cent with one decimal: 58.1 %. */
export function pct(share: number, decimals = 1): string {
	return Number.isFinite(share) ? `${fixed(share, decimals)} %` : '';
}

/** 4.1 M, 12.3 k, 940: for progress texts only, never where an exact number is expected. */
export function short(n: number): string {
	const a = Math.abs(n);
	if (a >= 1e9) return `${fixed(n / 1e9, 1)} G`;
	if (a >= 1e6) return `${fixed(n / 1e6, 1)} M`;
	if (a >= 1e4) return `${fixed(n / 1e3, 1)} k`;
	return fixed(n, 0);
}

export function plural(n: number, one: string, many = one + 's'): string {
	return `${int(n)} ${n === 1 ? one : many}`;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const two = (n: number) => String(n).padStart(2, '0');

/** "Nov 28 14:02", UTC; with the year when it is not `nowYear`. */
export function dayTime(iso: string | undefined | null, nowYear: number): string {
	if (!iso) return '';
	const d = new Date(iso);
	if (Number.isNaN(d.getTime())) return '';
	const head = `${MONTHS[d.getUTCMonth()]} ${two(d.getUTCDate())}`;
	if (d.getUTCFullYear() !== nowYear) return `${d.getUTCFullYear()} ${head}`;
	return `${head} ${two(d.getUTCHours())}:${two(d.getUTCMinutes())}`;
}

/** "2026-11-28 14:02:11 UTC" */
export function dateTime(iso: string | undefined | null): string {
	if (!iso) return '';
	const d = new Date(iso);
	if (Number.isNaN(d.getTime())) return '';
	return d.toISOString().slice(0, 19).replace('T', ' ') + ' UTC';
}

/** "14 s", "3 min 20 s", "2 h 5 min" */
export function span(seconds: number): string {
	const s = Math.max(0, Math.round(seconds));
	if (s < 60) return `${s} s`;
	if (s < 3600) return `${Math.floor(s / 60)} min${s % 60 ? ` ${s % 60} s` : ''}`;
	return `${Math.floor(s / 3600)} h${Math.floor((s % 3600) / 60) ? ` ${Math.floor((s % 3600) / 60)} min` : ''}`;
}

/** Cuts in the middle, so that the tile, layout and template parts at the end stay visible. */
export function middle(text: string, max: number): string {
	if (text.length <= max) return text;
	if (max < 2) return '…';
	const tail = Math.floor((max - 1) / 2);
	return text.slice(0, max - 1 - tail) + '…' + text.slice(text.length - tail);
}

const TIME_IN = /^\s*(-?[\d,_\s]*\.?\d*(?:e[+-]?\d+)?)\s*(ns|us|µs|μs|ms|s|m|min)?\s*$/i;
const IN_NS: Record<string, number> = { ns: 1, us: 1e3, 'µs': 1e3, 'μs': 1e3, ms: 1e6, s: 1e9, m: 6e10, min: 6e10 };

/** What a person types in a time field; a bare number is in `defaultUnitNs`. null: not a time. */
export function parseTime(text: string, defaultUnitNs: number): number | null {
	const m = TIME_IN.exec(text);
	if (!m) return null;
	const digits = m[1].replace(/[,_\s]/g, '');
	if (digits === '' || digits === '-' || digits === '.') return null;
	const v = Number(digits);
	if (!Number.isFinite(v)) return null;
	const ns = Math.round(v * (m[2] ? IN_NS[m[2].toLowerCase()] : defaultUnitNs));
	return Number.isSafeInteger(ns) ? ns : null;
}

/** "7-30" → "7 to 30 days", "90+" → "90 days and more" */
export function ageLabel(days: string): string {
	if (days === '0-1') return 'up to 1 day';
	return days.endsWith('+') ? `${days.slice(0, -1)} days and more` : `${days.replace('-', ' to ')} days`;
}
