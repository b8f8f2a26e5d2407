// SPDX-License-Identifier: Apache-2.0
// Cache of slices by (level, tile, track). Fetches only what is asked for, drops what is no longer wanted, and finds
// coarser or finer content while the right one is on its way, so that the picture is never blank.
import { signal } from '@preact/signals';
import { getBuffer, isAbort } from '../lib/api';
import { busy } from '../lib/busy';
import { nameVariant } from '../lib/kinds';
import { decodeSlices } from '../lib/slices';
import type { Slices } from '../lib/slices';
import { MAX_LEVEL, TILE_PX, tileLen } from './viewport';

const MAX_TRACKS = 256;
const MAX_BYTES = 96e6;
const MAX_REQUESTS = 4;
const RETRY_MS = 3000;

/** Items of one track in one answer: `from` to `to` of `order` (or the index itself when `order` is null). */
export type Run = { s: Slices; variant: Uint8Array; order: Uint32Array | null; from: number; to: number };
export type Placed = { run: Run; t0: number; t1: number };

type Tile = { level: number; index: number; runs: Map<number, Run>; bytes: number; used: number };
type Request = { level: number; index: number; tracks: Set<number>; ctl: AbortController };

const EMPTY: Run = { s: null as unknown as Slices, variant: new Uint8Array(0), order: null, from: 0, to: 0 };

export class TileCache {
	private tiles = new Map<string, Tile>();
	private requests: Request[] = [];
	private failed = new Map<string, number>();
	private bytes = 0;
	private clock = 0;
	private retry = 0;
	readonly error = signal<Error | null>(null);
	truncated = false;

	constructor(private traceId: string, private onChange: () => void) {}

	get loading(): boolean {
		return this.requests.length > 0;
	}

	private key(level: number, index: number): string {
		return `${level}/${index}`;
	}

	private find(level: number, index: number, track: number): Run | undefined {
		const t = this.tiles.get(this.key(level, index));
		if (!t) return undefined;
		t.used = this.clock;
		return t.runs.get(track);
	}

	/** What to draw of `track` in tile `index`: the tile itself, else a coarser one, else finer ones. */
	lookup(level: number, index: number, track: number, out: Placed[]): boolean {
		const len = tileLen(level);
		const t0 = index * len;
		const exact = this.find(level, index, track);
		if (exact) {
			if (exact.to > exact.from) out.push({ run: exact, t0, t1: t0 + len });
			return true;
		}
		for (let d = 1; level + d <= MAX_LEVEL; d++) {
			const run = this.find(level + d, Math.floor(index / Math.pow(2, d)), track);
			if (!run) continue;
			if (run.to > run.from) out.push({ run, t0, t1: t0 + len });
			return false;
		}
		for (let d = 1; d <= 3 && level - d >= 0; d++) {
			const n = Math.pow(2, d);
			const before = out.length;
			for (let c = 0; c < n; c++) {
				const run = this.find(level - d, index * n + c, track);
				const a = (index * n + c) * tileLen(level - d);
				if (run && run.to > run.from) out.push({ run, t0: a, t1: a + tileLen(level - d) });
			}
			if (out.length > before) return false;
		}
		return false;
	}

	/** Asks for `tracks` in the tiles `first` to `last`; requests for anything else are dropped. */
	want(level: number, first: number, last: number, tracks: readonly number[]): void {
		this.clock++;
		this.requests = this.requests.filter((r) => {
			const keep = r.level === level && r.index >= first && r.index <= last;
			if (!keep) r.ctl.abort();
			return keep;
		});
		const mid = (first + last) / 2;
		const order: number[] = [];
		for (let i = first; i <= last; i++) order.push(i);
		order.sort((a, b) => Math.abs(a - mid) - Math.abs(b - mid));
		for (const index of order) {
			if (this.requests.length >= MAX_REQUESTS) return;
			const missing = this.missing(level, index, tracks);
			if (missing.length > 0) void this.fetch(level, index, missing.slice(0, MAX_TRACKS));
		}
	}

	private missing(level: number, index: number, tracks: readonly number[]): number[] {
		const key = this.key(level, index);
		if ((this.failed.get(key) ?? 0) > performance.now()) return [];
		const have = this.tiles.get(key)?.runs;
		const coming = this.requests.filter((r) => r.level === level && r.index === index);
		return tracks.filter((t) => !have?.has(t) && !coming.some((r) => r.tracks.has(t)));
	}

	private async fetch(level: number, index: number, tracks: number[]): Promise<void> {
		const len = tileLen(level);
		const r: Request = { level, index, tracks: new Set(tracks), ctl: new AbortController() };
		this.requests.push(r);
		const done = busy();
		try {
			const params = { t0: index * len, t1: (index + 1) * len, px: TILE_PX, tracks: tracks.join(',') };
			const buf = await getBuffer(`/traces/${this.traceId}/slices`, params, r.ctl.signal);
			this.put(level, index, tracks, decodeSlices(buf), buf.byteLength);
			this.error.value = null;
		} catch (e) {
			if (!isAbort(e)) {
				this.error.value = e as Error;
				this.failed.set(this.key(level, index), performance.now() + RETRY_MS);
				this.retry = window.setTimeout(this.onChange, RETRY_MS + 20);
			}
		} finally {
			done();
			this.requests = this.requests.filter((x) => x !== r);
			this.onChange();
		}
	}

	private put(level: number, index: number, tracks: number[], s: Slices, bytes: number): void {
		const key = this.key(level, index);
		let tile = this.tiles.get(key);
		if (!tile) this.tiles.set(key, (tile = { level, index, runs: new Map(), bytes: 0, used: this.clock }));
		tile.bytes += bytes;
		this.bytes += bytes;
		this.truncated = s.truncated;
		for (const t of tracks) tile.runs.set(t, EMPTY);
		for (const [pos, run] of splitByTrack(s)) if (pos < tracks.length) tile.runs.set(tracks[pos], run);
		this.evict();
	}

	private evict(): void {
		if (this.bytes <= MAX_BYTES) return;
		const old = [...this.tiles.entries()].filter(([, t]) => t.used < this.clock).sort((a, b) => a[1].used - b[1].used);
		for (const [key, t] of old) {
			if (this.bytes <= MAX_BYTES * 0.7) return;
			this.tiles.delete(key);
			this.bytes -= t.bytes;
		}
	}

	stop(): void {
		clearTimeout(this.retry);
		for (const r of this.requests) r.ctl.abort();
		this.requests = [];
	}
}

/** The items of each asked track; the answer is ordered by track, and if it is not, it gets sorted here. */
export function splitByTrack(s: Slices): Map<number, Run> {
	const out = new Map<number, Run>();
	const variant = Uint8Array.from(s.names, nameVariant);
	let sorted = true;
	for (let i = 1; i < s.n && sorted; i++) sorted = s.track[i] >= s.track[i - 1];
	const order = sorted ? null : Uint32Array.from({ length: s.n }, (_, i) => i).sort((a, b) => s.track[a] - s.track[b] || a - b);
	const at = (i: number) => s.track[order ? order[i] : i];
	for (let i = 0; i < s.n; ) {
		let j = i + 1;
		while (j < s.n && at(j) === at(i)) j++;
		out.set(at(i), { s, variant, order, from: i, to: j });
		i = j;
	}
	return out;
}
