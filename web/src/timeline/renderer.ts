// SPDX-License-Identifier: Apache-2.0
// What draws the many rectangles of a timeline. One implementation today (raster.ts); the interface is the place where
// another one, on a graphics API, would fit. All coordinates are device pixels.
import type { Run } from './tiles';
import type { Rgb } from './colors';

export type SlicePass = {
	run: Run;
	/** x of an item = offset + start * scale. */
	offset: number;
	scale: number;
	/** Only pixels in [clip0, clip1) are written. */
	clip0: number;
	clip1: number;
	/** Top and end (exclusive) of each depth; deeper items are left out. */
	tops: Int32Array;
	ends: Int32Array;
	/** Width of the gap after an exact slice that is wide enough for one. */
	gap: number;
	exact: Uint32Array;
	merged: Uint32Array;
	/** By name index: 1 = drawn with `dimmed`. null: none. */
	dim: Uint8Array | null;
	dimmed: Uint32Array;
	hatch: number;
};

export interface Renderer {
	readonly width: number;
	readonly height: number;
	resize(width: number, height: number): void;
	/** Opaque rectangle, cut to the surface. */
	rect(x0: number, y0: number, x1: number, y1: number, color: number): void;
	/** Blends `color` over what is there. */
	tint(x0: number, y0: number, x1: number, y1: number, color: Rgb, alpha: number): void;
	slices(p: SlicePass): void;
	/** Puts the picture on the canvas. */
	flush(ctx: CanvasRenderingContext2D): void;
}
