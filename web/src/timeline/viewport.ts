// SPDX-License-Identifier: Apache-2.0
// Arithmetic of the visible time window. Pure; no bit operations on times (they overflow at 2.1 s).

export type Window = { t0: number; t1: number };
export const MIN_LEN = 20;

/** The whole trace, never narrower than the closest zoom. */
export function limits(min: number, max: number): Window {
	return { t0: min, t1: Math.max(max, min + MIN_LEN) };
}

/** Keeps the length if it can, and stays inside `lim`. */
export function clamp(w: Window, lim: Window): Window {
	const len = Math.min(Math.max(w.t1 - w.t0, MIN_LEN), lim.t1 - lim.t0);
	let t0 = w.t0;
	if (w.t1 - w.t0 !== len) t0 = (w.t0 + w.t1 - len) / 2;
	t0 = Math.min(Math.max(t0, lim.t0), lim.t1 - len);
	return { t0, t1: t0 + len };
}

/** factor < 1 zooms in; `at` in 0..1 is the place that stays. */
export function zoom(w: Window, factor: number, at: number, lim: Window): Window {
	const len = w.t1 - w.t0;
	const want = Math.min(Math.max(len * factor, MIN_LEN), lim.t1 - lim.t0);
	const fixed = w.t0 + len * at;
	return clamp({ t0: fixed - want * at, t1: fixed + want * (1 - at) }, lim);
}

export function pan(w: Window, share: number, lim: Window): Window {
	const d = (w.t1 - w.t0) * share;
	return clamp({ t0: w.t0 + d, t1: w.t1 + d }, lim);
}

/** A window that shows [t0, t1] with some room on both sides. */
export function around(t0: number, t1: number, lim: Window, room = 0.3): Window {
	const len = Math.max(t1 - t0, MIN_LEN / 4);
	return clamp({ t0: t0 - len * room, t1: t0 + len * (1 + room) }, lim);
}

/** Moves the window just enough to have [t0, t1] in it; zooms in when that would be narrower than 6 of `px`. */
export function reveal(w: Window, t0: number, t1: number, px: number, lim: Window): Window {
	const len = w.t1 - w.t0;
	const wide = ((t1 - t0) / len) * px;
	if (wide < 6) return around(t0, t1, lim, (Math.min(len, Math.max(t1 - t0, 10) * 60) / Math.max(t1 - t0, 10) - 1) / 2);
	if (t1 - t0 > len) return around(t0, t1, lim, 0.2);
	if (t0 >= w.t0 && t1 <= w.t1) return w;
	const mid = (t0 + t1) / 2;
	return clamp({ t0: mid - len / 2, t1: mid + len / 2 }, lim);
}

// ---- tiles: windows of 1024 times 2^level ns, aligned, so that requests repeat and caches work ----

export const TILE_PX = 1024;
export const MAX_LEVEL = 42;

export function levelFor(len: number, devicePx: number): number {
	const perPx = len / Math.max(1, devicePx);
	return Math.min(MAX_LEVEL, Math.max(0, Math.round(Math.log2(perPx))));
}

export function tileLen(level: number): number {
	return TILE_PX * Math.pow(2, level);
}

/** First and last tile that touch the window, not before 0. */
export function tilesOf(w: Window, level: number): [number, number] {
	const len = tileLen(level);
	const last = Math.max(0, Math.ceil(w.t1 / len) - 1);
	return [Math.min(last, Math.max(0, Math.floor(w.t0 / len))), last];
}
