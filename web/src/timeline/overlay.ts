// SPDX-License-Identifier: Apache-2.0
// What lies over the tracks: edges of the range and the arrows between launches and kernels. An end that is off the
// screen gets a marker at the edge, with its distance in time.
import { dur } from '../lib/format';
import type { Details, SliceRef } from '../lib/types';
import type { Palette } from './colors';
import type { Frame } from './scene';

export type Arrow = { from: SliceRef; to: SliceRef; note: string; strong: boolean };
export type Place = (track: number, depth: number, id: number) => { y: number; h: number } | null;
const MAX_ARROWS = 24;

/** Arrows of the selected slice: who launched it, what it launches, and its other flows. */
export function arrowsOf(d: Details | null): Arrow[] {
	if (!d) return [];
	const me: SliceRef = { id: d.id, name: d.name, track: d.track, depth: d.depth, ts: d.ts, dur: d.dur };
	const out: Arrow[] = [];
	const late = (r: SliceRef) => (r.delay_ns !== undefined ? `launch to start ${dur(r.delay_ns)}` : '');
	if (d.launched_by) out.push({ from: d.launched_by, to: me, note: late(d.launched_by), strong: true });
	for (const k of (d.launches ?? []).slice(0, MAX_ARROWS)) {
		out.push({ from: me, to: k, note: d.launches!.length === 1 ? late(k) : '', strong: true });
	}
	const known = new Set([d.launched_by?.id, ...(d.launches ?? []).map((k) => k.id)]);
	for (const f of (d.flows ?? []).slice(0, MAX_ARROWS)) {
		if (known.has(f.id)) continue;
		out.push(f.dir === 'in' ? { from: f, to: me, note: '', strong: false } : { from: me, to: f, note: '', strong: false });
	}
	return out;
}

export function paintRangeEdges(ctx: CanvasRenderingContext2D, p: Palette, f: Frame, x: (t: number) => number): void {
	if (!f.range) return;
	ctx.fillStyle = p.selLine;
	for (const t of [f.range.t0, f.range.t1]) {
		const at = Math.round(x(t));
		if (at >= 0 && at <= f.width) ctx.fillRect(at, f.clipTop, 1, f.clipBottom - f.clipTop);
	}
}

type End = { x: number; y: number; off: '' | 'left' | 'right' | 'up' | 'down' };

/** x of an arrow's end: a launch points from its end, a kernel is met at its start. */
function endAt(f: Frame, t: number, pos: { y: number; h: number } | null, top: boolean, x: (t: number) => number): End {
	let px = x(t);
	let off: End['off'] = '';
	if (px < 0) {
		px = 6;
		off = 'left';
	} else if (px > f.width) {
		px = f.width - 6;
		off = 'right';
	}
	let y = pos ? (top ? pos.y : pos.y + pos.h) : f.clipBottom;
	if (!pos || y < f.clipTop) {
		y = pos ? f.clipTop + 6 : y;
		off = off || 'up';
	}
	if (y > f.clipBottom) {
		y = f.clipBottom - 6;
		off = off || 'down';
	}
	return { x: px, y, off };
}

export function paintArrows(ctx: CanvasRenderingContext2D, p: Palette, f: Frame, arrows: readonly Arrow[], place: Place, x: (t: number) => number): void {
	ctx.save();
	ctx.beginPath();
	ctx.rect(0, f.clipTop, f.width, f.clipBottom - f.clipTop);
	ctx.clip();
	for (const a of arrows) paintArrow(ctx, p, f, a, place, x);
	ctx.restore();
}

function paintArrow(ctx: CanvasRenderingContext2D, p: Palette, f: Frame, a: Arrow, place: Place, x: (t: number) => number): void {
	const from = place(a.from.track, a.from.depth ?? 0, a.from.id);
	const to = place(a.to.track, a.to.depth ?? 0, a.to.id);
	const down = !from || !to || from.y <= to.y;
	const start = endAt(f, a.from.ts, from, !down, x);
	const end = endAt(f, a.to.ts, to, down, x);
	if (start.off === end.off && (start.off === 'left' || start.off === 'right')) return;
	if (from && !start.off) {
		ctx.fillStyle = p.text; // the launch itself is often narrower than a pixel
		ctx.fillRect(start.x - 1, from.y - 1, 4, from.h + 2);
		start.x += 1;
	}
	ctx.strokeStyle = a.strong ? p.text : p.dim;
	ctx.lineWidth = 1.5;
	ctx.setLineDash(a.strong ? [] : [4, 3]);
	const bend = Math.max(12, Math.abs(end.y - start.y) * 0.5) * (down ? 1 : -1);
	ctx.beginPath();
	ctx.moveTo(start.x, start.y);
	ctx.bezierCurveTo(start.x, start.y + bend, end.x, end.y - bend, end.x, end.y - (down ? 3 : -3));
	ctx.stroke();
	ctx.setLineDash([]);
	if (end.off) marker(ctx, p, end, `${dur(Math.abs(a.to.ts - a.from.ts))} later`, f.width);
	else head(ctx, p, end.x, end.y, down, a.strong);
	if (start.off) marker(ctx, p, start, `${dur(Math.abs(a.to.ts - a.from.ts))} earlier`, f.width);
	if (a.note && !end.off && !start.off) note(ctx, p, a.note, (start.x + end.x) / 2, (start.y + end.y) / 2 - 4, f.width);
}

function head(ctx: CanvasRenderingContext2D, p: Palette, x: number, y: number, down: boolean, strong: boolean): void {
	const s = down ? -7 : 7;
	ctx.fillStyle = strong ? p.text : p.dim;
	ctx.beginPath();
	ctx.moveTo(x, y);
	ctx.lineTo(x - 4, y + s);
	ctx.lineTo(x + 4, y + s);
	ctx.fill();
}

const ARROW = { left: '←', right: '→', up: '↑', down: '↓', '': '' } as const;

function marker(ctx: CanvasRenderingContext2D, p: Palette, e: End, text: string, width: number): void {
	ctx.beginPath();
	ctx.fillStyle = p.text;
	ctx.arc(e.x, e.y, 3, 0, 7);
	ctx.fill();
	const y = e.off === 'up' ? e.y + 12 : e.off === 'down' ? e.y - 12 : e.y - 12;
	note(ctx, p, `${ARROW[e.off]} ${text}`, e.x, y, width);
}

function note(ctx: CanvasRenderingContext2D, p: Palette, text: string, x: number, y: number, width: number): void {
	const w = ctx.measureText(text).width + 10;
	const left = Math.max(2, Math.min(width - w - 2, x - w - 4 < 2 ? x + 8 : x - w - 4));
	ctx.fillStyle = p.bg;
	ctx.strokeStyle = p.line;
	ctx.lineWidth = 1;
	ctx.fillRect(left, y - 9, w, 18);
	ctx.strokeRect(left + 0.5, y - 8.5, w - 1, 17);
	ctx.fillStyle = p.text;
	ctx.textBaseline = 'middle';
	ctx.fillText(text, left + 5, y + 0.5);
}
