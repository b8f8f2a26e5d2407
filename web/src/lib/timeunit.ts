// SPDX-License-Identifier: Apache-2.0
// A window of time as numbers that can be typed: unit, digits, and what a new start, end or length makes of it. Pure.
import { axisUnit, decimalsForStep, niceStep } from './ticks';

export type Span = { t0: number; t1: number };

/** Unit and digits with which about 1/2000 of the window is visible. */
export function rangeUnit(w: Span): { name: string; ns: number; decimals: number } {
	const step = Math.max(1, niceStep((w.t1 - w.t0) / 5000));
	const u = axisUnit(Math.max(Math.abs(w.t0), Math.abs(w.t1)), step);
	return { ...u, decimals: decimalsForStep(step / u.ns) };
}

export type Part = 't0' | 't1' | 'len';

/** The window after `part` was set to `ns`; null when it would be empty. */
export function withPart(w: Span, part: Part, ns: number): Span | null {
	const out = part === 't0' ? { t0: ns, t1: w.t1 } : part === 't1' ? { t0: w.t0, t1: ns } : { t0: w.t0, t1: w.t0 + ns };
	return out.t1 > out.t0 ? out : null;
}
