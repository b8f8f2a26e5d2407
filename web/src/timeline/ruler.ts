// SPDX-License-Identifier: Apache-2.0
// Strips above the tracks: minimap of the whole trace, search hits, ruler, band of steps. Plain canvas 2D.
import { dur } from '../lib/format';
import { timeTicks } from '../lib/ticks';
import type { Minimap, Step } from '../lib/types';
import type { Palette } from './colors';
import { FONT_PX } from './labels';
import type { TextFitter } from './labels';
import type { Window } from './viewport';

export const MINIMAP_H = 40;
export const STRIP_H = 15;
export const RULER_H = 18;
export const BAND_H = 18;
const MIN_WINDOW_PX = 10;

export function xOf(w: Window, width: number, t: number): number {
	return ((t - w.t0) * width) / (w.t1 - w.t0);
}

export function timeOf(w: Window, width: number, x: number): number {
	return w.t0 + ((w.t1 - w.t0) * x) / width;
}

/** Pixels of the window that the minimap marks, never narrower than 10 px. */
export function minimapWindow(whole: Window, view: Window, width: number): [number, number] {
	const a = Math.max(0, xOf(whole, width, view.t0));
	const b = Math.min(width, xOf(whole, width, view.t1));
	if (b - a >= MIN_WINDOW_PX) return [a, b];
	const mid = Math.min(width - MIN_WINDOW_PX / 2, Math.max(MIN_WINDOW_PX / 2, (a + b) / 2));
	return [mid - MIN_WINDOW_PX / 2, mid + MIN_WINDOW_PX / 2];
}

export function paintMinimap(ctx: CanvasRenderingContext2D, p: Palette, width: number, whole: Window, view: Window, m: Minimap | null): void {
	ctx.fillStyle = p.panel;
	ctx.fillRect(0, 0, width, MINIMAP_H);
	if (m) {
		const order = [['compute', 5], ['comm', 6], ['copy', 7], ['other', 10]] as const;
		const x0 = xOf(whole, width, m.t0);
		const step = (xOf(whole, width, m.t1) - x0) / m.n;
		const room = MINIMAP_H - 6;
		for (let i = 0; i < m.n; i++) {
			let y = MINIMAP_H;
			const a = Math.round(x0 + i * step);
			const b = Math.max(a + 1, Math.round(x0 + (i + 1) * step));
			const sum = order.reduce((acc, [k]) => acc + (m[k][i] ?? 0), 0);
			const scale = sum > 1000 ? 1000 / sum : 1; // kinds overlap; their stack stays within 100 %
			for (const [k, kind] of order) {
				const h = ((m[k][i] ?? 0) * scale * room) / 1000;
				if (h <= 0) continue;
				ctx.fillStyle = `rgb(${p.kindRgb[kind].join(',')})`;
				ctx.fillRect(a, y - h, b - a, h);
				y -= h;
			}
		}
	}
	const [a, b] = minimapWindow(whole, view, width);
	ctx.fillStyle = p.panel;
	ctx.globalAlpha = 0.25; // outside the window
	ctx.fillRect(0, 0, a, MINIMAP_H);
	ctx.fillRect(b, 0, width - b, MINIMAP_H);
	ctx.globalAlpha = 1;
	if (b - a > width - 2) return;
	ctx.strokeStyle = p.accent;
	ctx.lineWidth = 2;
	ctx.strokeRect(a + 1, 1, b - a - 2, MINIMAP_H - 2);
}

export function paintStrip(ctx: CanvasRenderingContext2D, p: Palette, width: number, whole: Window, hits: readonly number[], view: Window): void {
	ctx.fillStyle = p.panel;
	ctx.fillRect(0, 0, width, STRIP_H);
	ctx.fillStyle = p.hit;
	const n = hits.length;
	for (let i = 0; i < n; i++) {
		if (hits[i] > 0) ctx.fillRect(Math.round((i * width) / n), 5, 1, 6);
	}
	const [a, b] = minimapWindow(whole, view, width);
	if (b - a > width - 2) return;
	ctx.fillStyle = `rgba(${p.selRgb.join(',')},${p.selAlpha})`;
	ctx.fillRect(a, 0, b - a, STRIP_H);
}

export function paintRuler(ctx: CanvasRenderingContext2D, p: Palette, width: number, view: Window, range: Window | null): void {
	ctx.fillStyle = p.bg;
	ctx.fillRect(0, 0, width, RULER_H);
	if (range) tintRange(ctx, p, width, view, range, RULER_H);
	const { ticks, minor } = timeTicks(view.t0, view.t1, width);
	ctx.fillStyle = p.line;
	for (const t of minor) ctx.fillRect(Math.round(xOf(view, width, t)), 13, 1, 5);
	ctx.textBaseline = 'middle';
	for (const t of ticks) {
		const x = Math.round(xOf(view, width, t.at));
		ctx.fillStyle = p.bar;
		ctx.fillRect(x, 4, 1, 14);
		ctx.fillStyle = p.dim;
		if (x + ctx.measureText(t.label).width + 6 < width) ctx.fillText(t.label, x + 4, 10);
	}
}

function tintRange(ctx: CanvasRenderingContext2D, p: Palette, width: number, view: Window, r: Window, h: number): void {
	const a = xOf(view, width, r.t0);
	ctx.fillStyle = `rgba(${p.selRgb.join(',')},${p.selAlpha})`;
	ctx.fillRect(a, 0, xOf(view, width, r.t1) - a, h);
}

/** First step that ends after `t`; steps are in time order. */
export function firstStep(steps: readonly Step[], t: number): number {
	let lo = 0;
	let hi = steps.length;
	while (lo < hi) {
		const m = (lo + hi) >> 1;
		if (steps[m].t0 + steps[m].dur_ns > t) hi = m;
		else lo = m + 1;
	}
	return lo;
}

export function stepTitle(name: string): string {
	const m = /^ProfilerStep#(\d+)$/.exec(name);
	return m ? `Step ${m[1]}` : name;
}

export function paintBand(ctx: CanvasRenderingContext2D, p: Palette, fitter: TextFitter, width: number, view: Window, steps: readonly Step[], range: Window | null): void {
	ctx.fillStyle = p.bg;
	ctx.fillRect(0, 0, width, BAND_H);
	ctx.textBaseline = 'middle';
	for (let i = firstStep(steps, view.t0); i < steps.length && steps[i].t0 < view.t1; i++) {
		const s = steps[i];
		const a = Math.max(0, xOf(view, width, s.t0));
		const b = Math.min(width, xOf(view, width, s.t0 + s.dur_ns));
		ctx.fillStyle = p.accentWeak;
		ctx.fillRect(a, 1, Math.max(1, b - a), BAND_H - 2);
		if (a > 0) {
			ctx.fillStyle = p.accentLine;
			ctx.fillRect(Math.round(a), 1, 1, BAND_H - 2);
		}
		if (b - a < 34) continue;
		const title = fitter.fit(stepTitle(s.name), b - a - 12);
		ctx.fillStyle = p.accent;
		ctx.font = canvasFont(600);
		ctx.fillText(title, a + 8, BAND_H / 2 + 0.5);
		const used = ctx.measureText(title).width + 16;
		ctx.font = canvasFont();
		const length = dur(s.dur_ns);
		if (b - a - used > ctx.measureText(length).width + 8) ctx.fillText(length, a + used, BAND_H / 2 + 0.5);
	}
	if (range) rangeHandles(ctx, p, width, view, range);
}

function rangeHandles(ctx: CanvasRenderingContext2D, p: Palette, width: number, view: Window, r: Window): void {
	tintRange(ctx, p, width, view, r, BAND_H);
	const a = xOf(view, width, r.t0);
	const b = xOf(view, width, r.t1);
	ctx.fillStyle = p.selLine;
	ctx.fillRect(a - 2, 0, 4, BAND_H);
	ctx.fillRect(b - 2, 0, 4, BAND_H);
	const text = dur(r.t1 - r.t0);
	ctx.font = canvasFont(600);
	const w = ctx.measureText(text).width + 12;
	const at = Math.min(width - w - 4, Math.max(4, b - w - 6));
	if (b > 0 && a < width && b - a > 30) {
		ctx.fillRect(at, 1, w, BAND_H - 2);
		ctx.fillStyle = p.onAccent;
		ctx.fillText(text, at + 6, BAND_H / 2 + 0.5);
	}
	ctx.font = canvasFont();
}

export function canvasFont(weight = 400): string {
	return `${weight} ${FONT_PX}px ${getComputedStyle(document.body).fontFamily}`;
}
