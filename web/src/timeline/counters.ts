// SPDX-License-Identifier: Apache-2.0
// Counter tracks: loaded for a window somewhat wider than the view, drawn as an area from 0.
import { getJson, isAbort } from '../lib/api';
import { busy } from '../lib/busy';
import type { CounterReply } from '../lib/types';
import type { Palette } from './colors';
import type { Row } from './layout';
import type { Frame } from './scene';
import type { Window } from './viewport';

export type Series = { t: number[]; max: number[]; top: number };
export type CounterData = ReadonlyMap<number, Series>;

export class CounterCache {
	data: Map<number, Series> = new Map();
	private have: (Window & { tracks: string }) | null = null;
	private ctl: AbortController | null = null;

	constructor(private traceId: string, private onChange: (tops: Map<number, number>) => void) {}

	want(view: Window, px: number, tracks: readonly number[]): void {
		if (tracks.length === 0) return;
		const key = tracks.join(',');
		const len = view.t1 - view.t0;
		const h = this.have;
		if (h && h.tracks === key && h.t0 <= view.t0 && h.t1 >= view.t1 && h.t1 - h.t0 < len * 6) return;
		const w = { t0: Math.max(0, Math.round(view.t0 - len)), t1: Math.round(view.t1 + len), tracks: key };
		this.have = w;
		void this.load(w, Math.round(px * 3));
	}

	private async load(w: Window & { tracks: string }, px: number): Promise<void> {
		this.ctl?.abort();
		const ctl = (this.ctl = new AbortController());
		const done = busy();
		try {
			const r = await getJson<CounterReply>(`/traces/${this.traceId}/counters`, { t0: w.t0, t1: w.t1, px, tracks: w.tracks }, ctl.signal);
			for (const c of r.tracks) {
				const old = this.data.get(c.track)?.top ?? 0;
				const max = c.max.map((v) => v ?? 0); // not a number in the file: drawn as nothing
				const top = max.reduce((a, v) => Math.max(a, v), old);
				this.data.set(c.track, { t: c.t, max, top });
			}
			this.onChange(new Map([...this.data].map(([track, s]) => [track, s.top])));
		} catch (e) {
			if (!isAbort(e)) this.have = null;
		} finally {
			done();
		}
	}

	stop(): void {
		this.ctl?.abort();
	}
}

export function drawCounter(ctx: CanvasRenderingContext2D, p: Palette, f: Frame, row: Row, x: (t: number) => number): void {
	const s = row.track && f.counters.get(row.track.id);
	if (!s || s.t.length === 0) return;
	const bottom = f.top + row.y + row.h - 2;
	const scale = (row.h - 8) / (s.top || 1);
	ctx.fillStyle = p.counter;
	ctx.beginPath();
	ctx.moveTo(x(s.t[0]), bottom);
	let y = bottom;
	for (let i = 0; i < s.t.length; i++) {
		const px = x(s.t[i]);
		ctx.lineTo(px, y); // a counter holds its value until the next sample
		y = bottom - Math.max(0, s.max[i]) * scale;
		ctx.lineTo(px, y);
	}
	const end = Math.max(x(s.t[s.t.length - 1]), f.width);
	ctx.lineTo(end, y);
	ctx.lineTo(end, bottom);
	ctx.fill();
}
