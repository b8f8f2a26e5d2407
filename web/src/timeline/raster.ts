// SPDX-License-Identifier: Apache-2.0
// Software rasteriser: one Uint32 per pixel, one putImageData per frame. As fast without a graphics card as with one.
// Narrow slices are written pixel by pixel: TypedArray.fill per row costs more than it saves there.
import { KIND } from '../lib/kinds';
import { FLAG } from '../lib/slices';
import type { Rgb } from './colors';
import type { Renderer, SlicePass } from './renderer';

const FILL_FROM = 32;

export class Raster implements Renderer {
	width = 0;
	height = 0;
	private image: ImageData | null = null;
	private px = new Uint32Array(0);

	resize(width: number, height: number): void {
		if (width === this.width && height === this.height && this.image) return;
		this.width = width;
		this.height = height;
		this.image = new ImageData(Math.max(1, width), Math.max(1, height));
		this.px = new Uint32Array(this.image.data.buffer);
	}

	rect(x0: number, y0: number, x1: number, y1: number, color: number): void {
		const a = Math.max(0, Math.round(x0));
		const b = Math.min(this.width, Math.round(x1));
		const end = Math.min(this.height, Math.round(y1));
		if (b <= a) return;
		for (let y = Math.max(0, Math.round(y0)); y < end; y++) {
			const row = y * this.width;
			if (b - a === 1) this.px[row + a] = color;
			else this.px.fill(color, row + a, row + b);
		}
	}

	tint(x0: number, y0: number, x1: number, y1: number, color: Rgb, alpha: number): void {
		const a = Math.max(0, Math.round(x0));
		const b = Math.min(this.width, Math.round(x1));
		const end = Math.min(this.height, Math.round(y1));
		let seen = -1;
		let blended = 0;
		for (let y = Math.max(0, Math.round(y0)); y < end; y++) {
			const row = y * this.width;
			for (let x = a; x < b; x++) {
				const p = this.px[row + x];
				if (p !== seen) {
					seen = p;
					blended = blend(p, color, alpha);
				}
				this.px[row + x] = blended;
			}
		}
	}

	slices(p: SlicePass): void {
		const { s, order, variant } = p.run;
		const { start, dur, name, depth, kind, busy, flags } = s;
		const clip0 = Math.max(0, Math.round(p.clip0));
		const clip1 = Math.min(this.width, Math.round(p.clip1));
		const depths = p.tops.length;
		if (clip1 <= clip0) return;
		for (let j = p.run.from; j < p.run.to; j++) {
			const i = order ? order[j] : j;
			const d = depth[i];
			if (d >= depths) continue;
			const left = p.offset + start[i] * p.scale;
			if (left >= clip1) continue;
			const right = left + dur[i] * p.scale;
			if (right < clip0) continue;
			let x0 = Math.round(left);
			let x1 = Math.round(right);
			const merged = (flags[i] & FLAG.MERGED) !== 0;
			if (!merged && x1 - x0 > 2 * p.gap) x1 -= p.gap;
			if (x1 <= x0) x1 = x0 + 1;
			if (x0 < clip0) x0 = clip0;
			if (x1 > clip1) x1 = clip1;
			const k = kind[i];
			let color: number;
			if (p.dim && p.dim[name[i]]) color = p.dimmed[k * 4 + variant[name[i]]];
			else if (merged) color = p.merged[k * 256 + busy[i]];
			else color = p.exact[k * 4 + variant[name[i]]];
			this.box(x0, p.tops[d], x1, p.ends[d], color);
			if (k === KIND.GPU_OTHER && !merged) this.hatch(x0, p.tops[d], x1, p.ends[d], p.hatch);
		}
	}

	private box(x0: number, y0: number, x1: number, y1: number, color: number): void {
		const { px, width } = this;
		const top = y0 < 0 ? 0 : y0;
		const end = y1 > this.height ? this.height : y1;
		if (x1 - x0 >= FILL_FROM) {
			for (let y = top; y < end; y++) px.fill(color, y * width + x0, y * width + x1);
			return;
		}
		for (let y = top; y < end; y++) {
			const stop = y * width + x1;
			for (let q = y * width + x0; q < stop; q++) px[q] = color;
		}
	}

	/** 1 px in 4 at 135 degrees. */
	private hatch(x0: number, y0: number, x1: number, y1: number, color: number): void {
		const end = Math.min(y1, this.height);
		for (let y = Math.max(0, y0); y < end; y++) {
			for (let x = x0 + ((4 - ((x0 + y) % 4)) % 4); x < x1; x += 4) this.px[y * this.width + x] = color;
		}
	}

	flush(ctx: CanvasRenderingContext2D): void {
		if (this.image && this.width > 0 && this.height > 0) ctx.putImageData(this.image, 0, 0);
	}
}

function blend(p: number, [r, g, b]: Rgb, a: number): number {
	const mixed = (old: number, now: number) => Math.round(old + (now - old) * a);
	const nr = mixed(p & 255, r);
	const ng = mixed((p >>> 8) & 255, g);
	const nb = mixed((p >>> 16) & 255, b);
	return ((255 << 24) | (nb << 16) | (ng << 8) | nr) >>> 0;
}
