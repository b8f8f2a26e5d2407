// SPDX-License-Identifier: Apache-2.0
// Draws one area of tracks (the pinned ones, or the scrolled ones): grounds and slices into the pixel buffer, then
// labels, hits and the selection with canvas 2D. Remembers what it drew, so that a point can be asked for its slice.
import { endOf, FLAG, startOf } from '../lib/slices';
import type { Slices } from '../lib/slices';
import { groupOf, KIND } from '../lib/kinds';
import type { Palette } from './colors';
import { drawCounter } from './counters';
import type { CounterData } from './counters';
import { MIN_LABEL_PX } from './labels';
import type { TextFitter } from './labels';
import { depthAt, depthHeight, depthTop, rowAt } from './layout';
import type { Row } from './layout';
import type { Renderer } from './renderer';
import type { Placed, TileCache } from './tiles';
import { levelFor, tilesOf } from './viewport';
import type { Window } from './viewport';

export type Hit = {
	track: number; depth: number; name: string; id: number; kind: number; count: number; busy: number;
	t0: number; t1: number; merged: boolean; before: boolean;
	/** CSS px inside the canvas. */
	x0: number; x1: number; y: number; h: number;
};

export type Frame = {
	view: Window;
	width: number;
	height: number;
	dpr: number;
	/** Top of the first row on the canvas, CSS px. */
	top: number;
	clipTop: number;
	clipBottom: number;
	rows: readonly Row[];
	range: Window | null;
	ticks: readonly number[];
	steps: readonly number[];
	needle: string;
	dimOthers: boolean;
	sel: { track: number; ts: number; name: string } | null;
	counters: CounterData;
};

type Drawn = { row: Row; track: number; placed: Placed[]; depthLimit: number };

export class Scene {
	private drawn: Drawn[] = [];
	private frame: Frame | null = null;
	private outlined: [number, number, number, number] | null = null;
	private matches = new WeakMap<Slices, { needle: string; dim: Uint8Array; any: boolean }>();

	constructor(private tiles: TileCache) {}

	x(t: number): number {
		const f = this.frame!;
		return ((t - f.view.t0) * f.width) / (f.view.t1 - f.view.t0);
	}

	/** Rows that touch the visible part. */
	static visible(f: Pick<Frame, 'rows' | 'top' | 'clipTop' | 'clipBottom'>): Row[] {
		return f.rows.filter((r) => f.top + r.y + r.h > f.clipTop && f.top + r.y < f.clipBottom);
	}

	paintPixels(f: Frame, r: Renderer, p: Palette): void {
		this.frame = f;
		this.drawn = [];
		const rows = Scene.visible(f);
		this.grounds(f, r, p, rows);
		const level = levelFor(f.view.t1 - f.view.t0, f.width * f.dpr);
		const [first, last] = tilesOf(f.view, level);
		for (const row of rows) {
			if (row.type === 'section') continue;
			if (row.track?.kind === 'counter') continue;
			const tracks = row.track ? [row.track.id] : row.folded.slice(0, 32).map((t) => t.id);
			for (const track of tracks) {
				const placed: Placed[] = [];
				for (let i = first; i <= last; i++) this.tiles.lookup(level, i, track, placed);
				this.drawn.push({ row, track, placed, depthLimit: row.depths });
				for (const pl of placed) this.pass(f, r, p, row, pl);
			}
		}
	}

	private grounds(f: Frame, r: Renderer, p: Palette, rows: Row[]): void {
		const d = f.dpr;
		const y0 = f.clipTop * d;
		const y1 = f.clipBottom * d;
		r.rect(0, y0, f.width * d, y1, p.px.bg);
		const bottom = rows.length ? Math.min(f.clipBottom, f.top + rows[rows.length - 1].y + rows[rows.length - 1].h) : f.clipTop;
		for (const t of f.ticks) r.rect(Math.round(this.x(t) * d), y0, Math.round(this.x(t) * d) + 1, bottom * d, p.px.soft);
		for (const row of rows) {
			const top = (f.top + row.y) * d;
			const end = top + row.h * d;
			if (row.type === 'section') r.rect(0, Math.max(y0, top), f.width * d, Math.min(y1, end), p.px.panel);
			if (end <= y1) r.rect(0, end - 1, f.width * d, end, row.type === 'section' ? p.px.soft : p.px.soft);
		}
		if (f.range) r.tint(this.x(f.range.t0) * d, y0, this.x(f.range.t1) * d, bottom * d, p.selRgb, p.selAlpha);
		for (const t of f.steps) {
			const x = Math.round(this.x(t) * d);
			for (let y = y0; y < bottom * d; y += 6 * d) r.rect(x, y, x + 1, Math.min(y + 3 * d, bottom * d), p.px.accentLine);
		}
	}

	private pass(f: Frame, r: Renderer, p: Palette, row: Row, pl: Placed): void {
		const d = f.dpr;
		const { s } = pl.run;
		const scale = (f.width * d) / (f.view.t1 - f.view.t0);
		const tops = new Int32Array(row.depths);
		const ends = new Int32Array(row.depths);
		for (let i = 0; i < row.depths; i++) {
			const y = f.top + depthTop(row, i);
			tops[i] = Math.max(Math.round(y * d), Math.round(f.clipTop * d));
			ends[i] = Math.min(Math.round((y + depthHeight(row, i)) * d), Math.round(f.clipBottom * d));
		}
		const m = f.needle && f.dimOthers ? this.match(s, f.needle) : null;
		r.slices({
			run: pl.run,
			offset: (s.base - f.view.t0) * scale,
			scale: s.tick * scale,
			clip0: this.x(pl.t0) * d,
			clip1: this.x(pl.t1) * d,
			tops,
			ends,
			gap: Math.max(1, Math.round(d)),
			exact: p.exact,
			merged: p.merged,
			dim: m && m.dim,
			dimmed: p.exactDim,
			hatch: p.hatch,
		});
	}

	private match(s: Slices, needle: string): { needle: string; dim: Uint8Array; any: boolean } {
		let m = this.matches.get(s);
		if (!m || m.needle !== needle) {
			const dim = Uint8Array.from(s.names, (n) => (n.toLowerCase().includes(needle) ? 0 : 1));
			m = { needle, dim, any: dim.some((v) => v === 0) };
			this.matches.set(s, m);
		}
		return m;
	}

	/** Everything that goes on top of the pixels. `ctx` is scaled to CSS px. */
	paintText(ctx: CanvasRenderingContext2D, p: Palette, fitter: TextFitter): void {
		const f = this.frame!;
		ctx.save();
		ctx.beginPath();
		ctx.rect(0, f.clipTop, f.width, f.clipBottom - f.clipTop);
		ctx.clip();
		ctx.textBaseline = 'middle';
		for (const row of Scene.visible(f)) {
			if (row.track?.kind === 'counter') drawCounter(ctx, p, f, row, (t) => this.x(t));
		}
		const seen = new Set<string>();
		this.outlined = null;
		for (const d of this.drawn) {
			if (d.row.type === 'fold') continue;
			for (const pl of d.placed) this.labels(ctx, p, fitter, d, pl, seen);
		}
		const o = this.outlined as [number, number, number, number] | null; // set by labels()
		if (o) outline(ctx, p, ...o);
		ctx.restore();
	}

	private labels(ctx: CanvasRenderingContext2D, p: Palette, fitter: TextFitter, d: Drawn, pl: Placed, seen: Set<string>): void {
		const f = this.frame!;
		const { s, order, from, to } = pl.run;
		const m = f.needle ? this.match(s, f.needle) : null;
		const pxPerNs = f.width / (f.view.t1 - f.view.t0);
		const minDur = MIN_LABEL_PX / pxPerNs / s.tick;
		for (let j = from; j < to; j++) {
			const i = order ? order[j] : j;
			const hit = m?.any && m.dim[s.name[i]] === 0;
			const chosen = f.sel !== null && f.sel.track === d.track && s.names[s.name[i]] === f.sel.name;
			if ((s.dur[i] < minDur && !hit && !chosen) || s.depth[i] >= d.depthLimit) continue;
			const t0 = startOf(s, i);
			const t1 = endOf(s, i);
			if (t1 < Math.max(pl.t0, f.view.t0) || t0 > Math.min(pl.t1, f.view.t1)) continue;
			const merged = (s.flags[i] & FLAG.MERGED) !== 0;
			const key = `${s.slice[i]}.${s.depth[i]}.${merged ? t0 : ''}`;
			if (seen.has(key)) continue;
			seen.add(key);
			const x0 = Math.max(0, this.x(t0));
			const x1 = Math.min(f.width, this.x(t1));
			const y = f.top + depthTop(d.row, s.depth[i]);
			const h = depthHeight(d.row, s.depth[i]);
			const selected = chosen && !merged && Math.abs(f.sel!.ts - t0) < s.tick;
			if (hit && !merged) mark(ctx, p, x0, y, Math.max(1, x1 - x0 - 1));
			if (s.kind[i] === KIND.GPU_ANNOTATION && !merged && x1 - x0 > 3) annotationEdge(ctx, p, x0, y, h);
			if (!merged && x1 - x0 >= MIN_LABEL_PX) {
				const text = fitter.fit(s.names[s.name[i]], x1 - x0 - 9);
				if (text) {
					ctx.fillStyle = f.dimOthers && m && !hit ? p.dim : p.label[s.kind[i]] ?? p.text;
					ctx.fillText(text, x0 + 4, y + h / 2 + 0.5);
				}
			}
			if (selected) this.outlined = [x0, y, x1 - x0 - 1, h];
		}
	}

	/** What is drawn at a point (CSS px of the canvas). */
	hit(x: number, y: number): Hit | null {
		const f = this.frame;
		if (!f || y < f.clipTop || y >= f.clipBottom) return null;
		const row = rowAt(f.rows, y - f.top);
		if (!row || row.type === 'section') return null;
		const depth = depthAt(row, y - f.top);
		if (depth < 0) return null;
		const t = f.view.t0 + (x / f.width) * (f.view.t1 - f.view.t0);
		const slack = (f.view.t1 - f.view.t0) / f.width / f.dpr;
		let best: Hit | null = null;
		for (const d of this.drawn) {
			if (d.row !== row) continue;
			for (const pl of d.placed) {
				if (t < pl.t0 || t >= pl.t1) continue;
				best = this.nearest(d, pl, depth, t, slack, best);
			}
		}
		return best;
	}

	private nearest(d: Drawn, pl: Placed, depth: number, t: number, slack: number, best: Hit | null): Hit | null {
		const { s, order, from, to } = pl.run;
		let out = best;
		for (let j = from; j < to; j++) {
			const i = order ? order[j] : j;
			if (s.depth[i] !== depth) continue;
			const t0 = startOf(s, i);
			if (t0 > t + slack) continue;
			const t1 = Math.max(endOf(s, i), t0 + slack);
			if (t1 < t - slack * 0.5) continue;
			// The later one wins: narrow neighbours share a pixel, and the last one drawn is what is seen.
			if (!out || t0 >= out.t0) out = this.describe(d, s, i);
		}
		return out;
	}

	private describe(d: Drawn, s: Slices, i: number): Hit {
		const f = this.frame!;
		const t0 = startOf(s, i);
		const t1 = endOf(s, i);
		return {
			track: d.track, depth: s.depth[i], name: s.names[s.name[i]], id: s.slice[i], kind: s.kind[i], count: s.count[i],
			busy: s.busy[i] / 255, t0, t1, merged: (s.flags[i] & FLAG.MERGED) !== 0, before: (s.flags[i] & FLAG.BEFORE) !== 0,
			x0: this.x(t0), x1: this.x(t1), y: f.top + depthTop(d.row, s.depth[i]), h: depthHeight(d.row, s.depth[i]),
		};
	}

	/** Where a slice of `track` would be drawn: null when its row is not on the canvas. */
	place(track: number, depth: number): { y: number; h: number } | null {
		const f = this.frame;
		const row = f?.rows.find((r) => r.track?.id === track && r.type === 'track');
		if (!f || !row) return null;
		const d = Math.min(depth, row.depths - 1);
		return { y: f.top + depthTop(row, d), h: depthHeight(row, d) };
	}

	/** Depth of a slice that is among the drawn ones, or 0. */
	depthOf(track: number, id: number): number {
		for (const d of this.drawn) {
			if (d.track !== track) continue;
			for (const pl of d.placed) {
				const { s, order, from, to } = pl.run;
				for (let j = from; j < to; j++) {
					const i = order ? order[j] : j;
					if (s.slice[i] === id) return s.depth[i];
				}
			}
		}
		return 0;
	}

	/** The drawn slices of one track, in time order: for the keyboard and for the table of the view. */
	*list(track: number | null): Generator<Hit> {
		const f = this.frame;
		if (!f) return;
		const seen = new Set<string>();
		for (const d of this.drawn) {
			if ((track !== null && d.track !== track) || d.row.type === 'fold') continue;
			for (const pl of d.placed) {
				const { s, order, from, to } = pl.run;
				for (let j = from; j < to; j++) {
					const i = order ? order[j] : j;
					const h = this.describe(d, s, i);
					const key = `${h.id}.${h.depth}.${h.merged ? h.t0 : ''}`;
					if (h.t1 < f.view.t0 || h.t0 > f.view.t1 || seen.has(key)) continue;
					seen.add(key);
					yield h;
				}
			}
		}
	}
}

function mark(ctx: CanvasRenderingContext2D, p: Palette, x: number, y: number, w: number): void {
	ctx.fillStyle = p.hit;
	ctx.fillRect(x, y - 2, w, 2);
}

function annotationEdge(ctx: CanvasRenderingContext2D, p: Palette, x: number, y: number, h: number): void {
	ctx.fillStyle = p.accent;
	ctx.fillRect(x, y, 2, h);
}

function outline(ctx: CanvasRenderingContext2D, p: Palette, x: number, y: number, w: number, h: number): void {
	ctx.strokeStyle = p.text;
	ctx.lineWidth = 2;
	ctx.strokeRect(x - 1, y - 1, Math.max(3, w + 2), h + 2);
}

export function groupName(kind: number): string {
	return groupOf(kind);
}
