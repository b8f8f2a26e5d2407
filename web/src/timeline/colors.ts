// SPDX-License-Identifier: Apache-2.0
// The palette of the canvas, read from the custom properties of the page, as text for canvas 2D and as pixels
// (little-endian ABGR) for the rasteriser.
import { groupOf, KIND_COUNT } from '../lib/kinds';

export type Rgb = [number, number, number];
export type Palette = {
	bg: string; panel: string; raised: string; line: string; soft: string; grid: string; text: string; dim: string;
	accent: string; onAccent: string; accentWeak: string; accentLine: string; sel: string; selLine: string; hit: string;
	bar: string; counter: string;
	px: { bg: number; panel: number; line: number; soft: number; sel: number; accentLine: number };
	selAlpha: number;
	selRgb: Rgb;
	/** [kind * 4 + variant]: exact slices. */
	exact: Uint32Array;
	/** [kind * 256 + busy]: merged slices, shade by busy share. */
	merged: Uint32Array;
	/** The same for slices that a search does not match. */
	exactDim: Uint32Array;
	hatch: number;
	label: string[];
	kindRgb: Rgb[];
};

export function parseColor(s: string): Rgb {
	const h = /^#([0-9a-f]{6})$/i.exec(s.trim());
	if (h) return [0, 2, 4].map((i) => parseInt(h[1].slice(i, i + 2), 16)) as Rgb;
	const m = /(\d+)\D+(\d+)\D+(\d+)/.exec(s);
	return m ? [Number(m[1]), Number(m[2]), Number(m[3])] : [128, 128, 128];
}

export function pixel([r, g, b]: Rgb): number {
	return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

export function mix(a: Rgb, b: Rgb, share: number): Rgb {
	return [0, 1, 2].map((i) => Math.round(a[i] + (b[i] - a[i]) * share)) as Rgb;
}

/** A name only varies lightness inside its kind. */
function variantOf(c: Rgb, v: number, group: string, dark: boolean): Rgb {
	if (group === 'op' || group === 'rt') return c;
	const white: Rgb = [255, 255, 255];
	const black: Rgb = [0, 0, 0];
	if (group === 'compute') return v === 0 ? c : v === 1 ? mix(c, black, 0.2) : v === 2 ? mix(c, white, dark ? 0.06 : 0.05) : mix(c, black, 0.1);
	return v === 0 ? c : v === 1 ? mix(c, white, 0.12) : v === 2 ? mix(c, black, 0.06) : mix(c, white, 0.06);
}

export function readPalette(dark: boolean): Palette {
	const css = getComputedStyle(document.documentElement);
	const v = (name: string) => css.getPropertyValue(name).trim();
	const rgb = (name: string) => parseColor(v(name));
	const bg = rgb('--bg');
	const base: Record<string, Rgb[]> = {
		compute: [rgb('--k-compute')], comm: [rgb('--k-comm')], copy: [rgb('--k-copy')], sync: [rgb('--k-sync')],
		uncl: [rgb('--k-sync')], op: [rgb('--k-op'), rgb('--k-op2')], rt: [rgb('--k-rt')], ann: [rgb('--accent-ann')],
	};
	const exact = new Uint32Array(KIND_COUNT * 4);
	const exactDim = new Uint32Array(KIND_COUNT * 4);
	const merged = new Uint32Array(KIND_COUNT * 256);
	const label: string[] = [];
	const kindRgb: Rgb[] = [];
	for (let k = 0; k < KIND_COUNT; k++) {
		const g = groupOf(k);
		const colors = base[g];
		for (let i = 0; i < 4; i++) {
			const c = variantOf(colors[i % colors.length], i, g, dark);
			exact[k * 4 + i] = pixel(c);
			exactDim[k * 4 + i] = pixel(mix(bg, c, 0.45));
		}
		for (let b = 0; b < 256; b++) merged[k * 256 + b] = pixel(mix(bg, colors[colors.length - 1], 0.3 + (0.7 * b) / 255));
		label.push(g === 'compute' ? '#ffffff' : g === 'op' || g === 'rt' || g === 'ann' ? v('--text') : '#14171c');
		kindRgb.push(colors[0]);
	}
	return {
		bg: v('--bg'), panel: v('--panel'), raised: v('--raised'), line: v('--line'), soft: v('--line-soft'), grid: v('--grid'),
		text: v('--text'), dim: v('--dim'), accent: v('--accent'), onAccent: v('--on-accent'), accentWeak: v('--accent-weak'),
		accentLine: v('--accent-line'), sel: v('--sel-line'), selLine: v('--sel-line'), hit: v('--hit'), bar: v('--bar'),
		counter: v('--i-host'),
		px: {
			bg: pixel(bg), panel: pixel(rgb('--panel')), line: pixel(rgb('--line')), soft: pixel(rgb('--line-soft')),
			sel: pixel(rgb('--sel-line')), accentLine: pixel(rgb('--accent-line')),
		},
		selAlpha: dark ? 0.13 : 0.1,
		selRgb: rgb('--sel-line'),
		exact, merged, exactDim,
		hatch: pixel(mix(rgb('--k-sync'), rgb('--text'), 0.42)),
		label, kindRgb,
	};
}
