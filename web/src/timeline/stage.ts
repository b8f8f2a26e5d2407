// SPDX-License-Identifier: Apache-2.0
// The canvases of a timeline: when to draw (once per frame, only when something changed), what to fetch, and where
// things are. Interaction is in input.ts.
import { effect } from '@preact/signals';
import { dark } from '../app/theme';
import { getJson } from '../lib/api';
import { timeTicks } from '../lib/ticks';
import type { Minimap } from '../lib/types';
import { readPalette } from './colors';
import type { Palette } from './colors';
import { CounterCache } from './counters';
import { FONT_PX, TextFitter } from './labels';
import type { Row } from './layout';
import type { TimelineModel } from './model';
import { arrowsOf, paintArrows, paintRangeEdges } from './overlay';
import { Raster } from './raster';
import type { Renderer } from './renderer';
import { BAND_H, canvasFont, firstStep, MINIMAP_H, paintBand, paintMinimap, paintRuler, paintStrip, RULER_H, STRIP_H } from './ruler';
import { Scene } from './scene';
import type { Frame, Hit } from './scene';
import { TileCache } from './tiles';
import { levelFor, tilesOf } from './viewport';

const FETCH_MS = 60;
const MINIMAP_N = 1200;

export type Canvases = Record<'minimap' | 'strip' | 'ruler' | 'band' | 'tracks', HTMLCanvasElement>;

export class Stage {
	readonly tiles: TileCache;
	readonly main: Scene;
	readonly pinned: Scene;
	readonly counters: CounterCache;
	private renderer: Renderer = new Raster();
	private palette: Palette;
	private fitter: TextFitter | null = null;
	private minimap: Minimap | null = null;
	private queued = 0;
	private fetchTimer = 0;
	private asked = '';
	private stops: (() => void)[] = [];
	width = 0;
	height = 0;
	dpr = 1;
	scrollTop = 0;
	frames = 0;
	drawMs = 0;

	constructor(readonly model: TimelineModel, private el: Canvases, private onFrame: () => void) {
		this.tiles = new TileCache(model.trace.id, () => this.redraw());
		this.main = new Scene(this.tiles);
		this.pinned = new Scene(this.tiles);
		this.counters = new CounterCache(model.trace.id, (tops) => {
			model.counterTops.value = tops;
			this.redraw();
		});
		this.palette = readPalette(dark.peek());
		this.stops.push(effect(() => {
			void dark.value;
			queueMicrotask(() => {
				this.palette = readPalette(dark.peek());
				this.redraw();
			});
		}));
		this.stops.push(effect(() => this.watch()));
		void getJson<Minimap>(`/traces/${model.trace.id}/minimap`, { n: MINIMAP_N })
			.then((m) => {
				this.minimap = m;
				model.gpuWork.value = [m.compute, m.comm, m.copy, m.other].some((k) => k.some((v) => v > 0));
				this.redraw();
			})
			.catch(() => {}); // the minimap is a help, not the content
	}

	stop(): void {
		this.stops.forEach((f) => f());
		this.tiles.stop();
		this.counters.stop();
		cancelAnimationFrame(this.queued);
		clearTimeout(this.fetchTimer);
	}

	/** Reads every signal that the picture depends on. */
	private watch(): void {
		const m = this.model;
		void [m.view.value, m.sel.value, m.details.value, m.range.value, m.layout.value, m.pinned.value, m.steps.value];
		void [m.hits.q.value, m.hits.strip.value, m.dimOthers.value];
		this.redraw();
	}

	resize(width: number, height: number): void {
		this.dpr = Math.min(3, window.devicePixelRatio || 1);
		this.width = Math.max(1, Math.floor(width));
		this.height = Math.max(1, Math.floor(height));
		const sizes: [HTMLCanvasElement, number][] = [
			[this.el.minimap, MINIMAP_H], [this.el.strip, STRIP_H], [this.el.ruler, RULER_H], [this.el.band, BAND_H], [this.el.tracks, this.height],
		];
		for (const [c, h] of sizes) {
			const [w, hh] = [Math.round(this.width * this.dpr), Math.round(h * this.dpr)];
			if (c.width !== w) c.width = w;
			if (c.height !== hh) c.height = hh;
			c.style.width = `${this.width}px`;
			c.style.height = `${h}px`;
		}
		this.model.width.value = this.width;
		this.model.height.value = this.height;
		this.redraw();
	}

	redraw(): void {
		if (!this.queued) this.queued = requestAnimationFrame(() => this.draw());
	}

	private context(c: HTMLCanvasElement): CanvasRenderingContext2D {
		const ctx = c.getContext('2d', { alpha: false, willReadFrequently: c === this.el.tracks })!;
		ctx.setTransform(this.dpr, 0, 0, this.dpr, 0, 0);
		ctx.font = canvasFont();
		return ctx;
	}

	get pinnedHeight(): number {
		return Math.min(this.model.pinned.value.height, this.height / 2);
	}

	private frame(rows: readonly Row[], top: number, clipTop: number, clipBottom: number): Frame {
		const m = this.model;
		const view = m.view.value;
		const steps: number[] = [];
		const list = m.steps.value;
		for (let i = firstStep(list, view.t0); i < list.length && list[i].t0 < view.t1 && steps.length < 200; i++) {
			if (list[i].t0 > view.t0) steps.push(list[i].t0);
		}
		return {
			view, width: this.width, height: this.height, dpr: this.dpr, top, clipTop, clipBottom, rows,
			range: m.range.value, ticks: timeTicks(view.t0, view.t1, this.width).ticks.map((t) => t.at),
			steps: steps.length < 100 ? steps : [],
			needle: m.hits.needle, dimOthers: m.dimOthers.value, sel: m.sel.value, counters: this.counters.data,
		};
	}

	private draw(): void {
		this.queued = 0;
		if (this.width === 0) return;
		const began = performance.now();
		const split = this.pinnedHeight;
		const view = this.model.view.value;
		const pinnedFrame = this.frame(this.model.pinned.value.rows, 0, 0, split);
		const mainFrame = this.frame(this.model.layout.value.rows, split - this.scrollTop, split, this.height);
		const ctx = this.context(this.el.tracks);
		this.fitter ??= new TextFitter((s) => ctx.measureText(s).width);
		this.renderer.resize(this.el.tracks.width, this.el.tracks.height);
		this.main.paintPixels(mainFrame, this.renderer, this.palette);
		this.pinned.paintPixels(pinnedFrame, this.renderer, this.palette);
		this.renderer.flush(ctx);
		this.main.paintText(ctx, this.palette, this.fitter);
		if (split > 0) this.pinned.paintText(ctx, this.palette, this.fitter);
		this.paintOver(ctx, mainFrame);
		this.paintStrips();
		this.drawMs = performance.now() - began;
		this.frames++;
		this.fetchSoon(view);
		this.onFrame();
	}

	private paintOver(ctx: CanvasRenderingContext2D, f: Frame): void {
		const x = (t: number) => this.main.x(t);
		paintRangeEdges(ctx, this.palette, { ...f, clipTop: 0 }, x);
		const details = this.model.details.value;
		const place = (track: number, depth: number, id: number) => {
			const real = depth || this.main.depthOf(track, id);
			const row = this.main.place(track, real);
			const onScreen = row && row.y + row.h > f.clipTop && row.y < f.clipBottom;
			return onScreen ? row : (this.pinned.place(track, real) ?? row);
		};
		if (this.model.sel.value) paintArrows(ctx, this.palette, { ...f, clipTop: 0 }, arrowsOf(details), place, x);
	}

	private paintStrips(): void {
		const m = this.model;
		const view = m.view.value;
		paintMinimap(this.context(this.el.minimap), this.palette, this.width, m.lim, view, this.minimap);
		paintStrip(this.context(this.el.strip), this.palette, this.width, m.lim, m.hits.strip.value, view);
		paintRuler(this.context(this.el.ruler), this.palette, this.width, view, m.range.value);
		paintBand(this.context(this.el.band), this.palette, this.fitter!, this.width, view, m.steps.value, m.range.value);
	}

	visibleTracks(): number[] {
		const split = this.pinnedHeight;
		const near = { top: split - this.scrollTop, clipTop: split - 120, clipBottom: this.height + 120 };
		const rows = [
			...this.model.pinned.value.rows,
			...Scene.visible({ rows: this.model.layout.value.rows, ...near }),
		];
		const ids = new Set<number>();
		for (const r of rows) {
			if (r.track && r.track.kind !== 'counter') ids.add(r.track.id);
			for (const t of r.folded.slice(0, 32)) ids.add(t.id);
		}
		return [...ids].slice(0, 256);
	}

	/** Asks at once when the wanted tiles changed little, a moment later while the view moves. */
	private fetchSoon(view: { t0: number; t1: number }): void {
		const level = levelFor(view.t1 - view.t0, this.width * this.dpr);
		const [first, last] = tilesOf(view, level);
		const key = `${level}/${first}/${last}`;
		clearTimeout(this.fetchTimer);
		const go = () => {
			this.asked = key;
			this.tiles.want(level, first, last, this.visibleTracks());
			const counters = this.visibleCounters();
			this.counters.want(view, this.width * this.dpr, counters);
		};
		if (key === this.asked || this.frames < 3) go();
		else this.fetchTimer = window.setTimeout(go, FETCH_MS);
	}

	private visibleCounters(): number[] {
		const split = this.pinnedHeight;
		const rows = Scene.visible({ rows: this.model.layout.value.rows, top: split - this.scrollTop, clipTop: split, clipBottom: this.height });
		return [...this.model.pinned.value.rows, ...rows].filter((r) => r.track?.kind === 'counter').map((r) => r.track!.id);
	}

	hit(x: number, y: number): Hit | null {
		return y < this.pinnedHeight ? this.pinned.hit(x, y) : this.main.hit(x, y);
	}

	get labelSize(): number {
		return FONT_PX;
	}
}
