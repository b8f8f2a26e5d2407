// SPDX-License-Identifier: Apache-2.0
// Ticks of a time axis and of a value axis. Pure. The number of decimals follows the step, so that two
// neighbouring labels never read the same.
import { fixed, unitFor } from './format';

export type Tick = { at: number; label: string };
export type TimeTicks = { step: number; unit: string; ticks: Tick[]; minor: number[] };

/** The smallest 1, 2 or 5 times a power of ten that is not below `raw`. */
export function niceStep(raw: number): number {
	if (!(raw > 0)) return 1;
	const p = Math.pow(10, Math.floor(Math.log10(raw)));
	for (const m of [1, 2, 5, 10]) if (m * p >= raw * (1 - 1e-9)) return m * p;
	return 10 * p;
}

export function decimalsForStep(step: number): number {
	if (step >= 1) return 0;
	return Math.min(9, Math.ceil(-Math.log10(step) - 1e-9));
}

/**
 * Ticks over [t0, t1] (ns) about `minPx` apart or more on `px` pixels. The unit fits the largest time shown,
 * one unit for the whole axis; the first label carries it.
 */
export function timeTicks(t0: number, t1: number, px: number, minPx = 90): TimeTicks {
	const len = t1 - t0;
	if (!(len > 0) || px <= 0) return { step: 1, unit: 'ns', ticks: [], minor: [] };
	const step = Math.max(1, niceStep((len * minPx) / px));
	const u = axisUnit(Math.max(Math.abs(t0), Math.abs(t1)), step);
	const decimals = decimalsForStep(step / u.ns);
	const ticks: Tick[] = [];
	const minor: number[] = [];
	const first = Math.ceil(t0 / step);
	const last = Math.floor(t1 / step);
	for (let i = first; i <= last; i++) {
		const at = i * step || 0; // never -0
		ticks.push({ at, label: fixed(at / u.ns, decimals) + (i === first ? ` ${u.name}` : '') });
	}
	const half = step / 2;
	if (half >= 1) for (let i = first - 1; i <= last; i++) {
		const at = i * step + half;
		if (at >= t0 && at <= t1) minor.push(at);
	}
	return { step, unit: u.name, ticks, minor };
}

/** Unit of an axis: from the largest value, but never so large that labels need more than 6 decimals. */
export function axisUnit(max: number, step: number): { name: string; ns: number } {
	let u = unitFor(max);
	if (u.ns === 1e9 && step < 1e7) u = { name: 'ms', ns: 1e6 };
	if (u.ns === 1e6 && step < 1) u = { name: 'µs', ns: 1e3 };
	return u;
}

/** Value axis from 0 with about `n` steps; the last tick is at or above `max`. */
export function valueTicks(max: number, n: number): number[] {
	if (!(max > 0)) return [0, 1];
	const step = niceStep(max / n);
	const out: number[] = [];
	for (let i = 0; ; i++) {
		out.push(i * step);
		if (i * step >= max * (1 - 1e-9)) return out;
	}
}
