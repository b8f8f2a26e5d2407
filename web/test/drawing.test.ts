// SPDX-License-Identifier: Apache-2.0
// Rasteriser, tile cache and hit list, with stand-ins for the browser's ImageData and fetch.
import assert from 'node:assert/strict';
import test from 'node:test';
import { decodeSlices, FLAG } from '../src/lib/slices';
import { HitList } from '../src/timeline/hits';
import { Raster } from '../src/timeline/raster';
import { splitByTrack, TileCache } from '../src/timeline/tiles';
import type { Placed } from '../src/timeline/tiles';
import { tileLen } from '../src/timeline/viewport';
import { encode, item } from './encode';
import type { Item } from './encode';

class FakeImageData {
	data: Uint8ClampedArray;
	constructor(readonly width: number, readonly height: number) {
		this.data = new Uint8ClampedArray(width * height * 4);
	}
}
Object.assign(globalThis, { ImageData: FakeImageData, window: globalThis });

const W = 100;
const H = 20;

/** Draws items (1 ns = 1 px) and gives the pixels of one row. */
function draw(items: Item[], names: string[], opt: { clip0?: number; clip1?: number; gap?: number } = {}): { row: (y: number) => number[] } {
	const s = decodeSlices(encode(items, names, 0n, 1n));
	const run = splitByTrack(s).get(0)!;
	const r = new Raster();
	r.resize(W, H);
	r.rect(0, 0, W, H, 1);
	const exact = new Uint32Array(60).fill(7);
	const merged = Uint32Array.from({ length: 15 * 256 }, (_, i) => 1000 + (i % 256));
	r.slices({
		run, offset: 0, scale: 1, clip0: opt.clip0 ?? 0, clip1: opt.clip1 ?? W, tops: Int32Array.of(0, 10), ends: Int32Array.of(9, 19),
		gap: opt.gap ?? 1, exact, merged, dim: null, dimmed: new Uint32Array(60), hatch: 9,
	});
	let px: Uint32Array = new Uint32Array(0);
	r.flush({ putImageData: (d: FakeImageData) => (px = new Uint32Array(d.data.buffer)) } as unknown as CanvasRenderingContext2D);
	return { row: (y) => [...px.subarray(y * W, (y + 1) * W)] };
}

const where = (row: number[], color: number) => row.flatMap((c, x) => (c === color ? [x] : []));

test('a slice fills its pixels but the last one, which is the gap', () => {
	const p = draw([item({ start: 10, dur: 20 })], ['a']);
	assert.deepEqual(where(p.row(0), 7), Array.from({ length: 19 }, (_, i) => 10 + i));
	assert.deepEqual(where(p.row(9), 7), [], 'rows end where they should');
	assert.deepEqual(where(p.row(10), 7), []);
});

test('the narrowest slice still has a pixel, and neighbours do not hide each other', () => {
	const p = draw([item({ start: 10, dur: 0 }), item({ start: 11, dur: 1, slice: 1 }), item({ start: 12, dur: 2, slice: 2 })], ['a']);
	assert.deepEqual(where(p.row(3), 7), [10, 11, 12, 13]);
});

test('wide slices are drawn like narrow ones', () => {
	const p = draw([item({ start: 2, dur: 90, depth: 1 })], ['a']);
	assert.equal(where(p.row(12), 7).length, 89);
	assert.equal(where(p.row(2), 7).length, 0);
});

test('nothing is drawn outside the clip, and deeper rows than shown are left out', () => {
	const p = draw([item({ start: 0, dur: 100 }), item({ start: 0, dur: 100, depth: 2, slice: 1 })], ['a'], { clip0: 30, clip1: 40 });
	assert.deepEqual(where(p.row(0), 7), Array.from({ length: 10 }, (_, i) => 30 + i));
	assert.ok(p.row(19).every((c) => c === 1));
});

test('merged buckets have no gap and the shade of their busy share', () => {
	const p = draw([item({ start: 10, dur: 4, flags: FLAG.MERGED, busy: 40, count: 9 }), item({ start: 14, dur: 4, flags: FLAG.MERGED, busy: 200, count: 3, slice: 1 })], ['a']);
	assert.deepEqual(where(p.row(0), 1040), [10, 11, 12, 13]);
	assert.deepEqual(where(p.row(0), 1200), [14, 15, 16, 17]);
});

test('work that no rule classifies is hatched', () => {
	const p = draw([item({ start: 10, dur: 40, kind: 9 })], ['a']);
	const dots = where(p.row(0), 9);
	assert.ok(dots.length >= 9 && dots.every((x, i) => i === 0 || x - dots[i - 1] === 4));
	assert.notDeepEqual(where(p.row(1), 9), dots);
});

// ---- tiles ----

type Asked = { t0: number; t1: number; tracks: number[] };

function fakeSlices(asked: Asked[]): void {
	globalThis.fetch = ((target: string) => {
		const p = new URL(target, 'http://x').searchParams;
		const tracks = p.get('tracks')!.split(',').map(Number);
		asked.push({ t0: Number(p.get('t0')), t1: Number(p.get('t1')), tracks });
		const items = tracks.map((_, i) => item({ track: i, slice: i }));
		return Promise.resolve(new Response(encode(items, ['a'], BigInt(p.get('t0')!), 1n)));
	}) as unknown as typeof fetch;
}
const rest = () => new Promise((done) => setTimeout(done, 20));

test('a tile is asked for once, and only for tracks that are missing', async () => {
	const asked: Asked[] = [];
	fakeSlices(asked);
	const c = new TileCache('1', () => {});
	c.want(5, 2, 3, [10, 11]);
	c.want(5, 2, 3, [10, 11]);
	await rest();
	assert.equal(asked.length, 2);
	assert.deepEqual(asked[0].tracks, [10, 11]);
	assert.equal(asked[0].t1 - asked[0].t0, tileLen(5));
	c.want(5, 2, 3, [10, 11, 12]);
	await rest();
	assert.deepEqual(asked.slice(2).map((a) => a.tracks), [[12], [12]]);
	assert.equal(c.loading, false);
});

test('while a tile is missing, a coarser or finer one stands in for it', async () => {
	fakeSlices([]);
	const c = new TileCache('1', () => {});
	c.want(6, 1, 1, [10]);
	await rest();
	const found = (level: number, index: number): Placed[] => {
		const out: Placed[] = [];
		c.lookup(level, index, 10, out);
		return out;
	};
	assert.equal(found(6, 1).length, 1);
	const finer = found(4, 5); // tile 5 of level 4 lies in tile 1 of level 6
	assert.deepEqual([finer.length, finer[0].t0, finer[0].t1], [1, 5 * tileLen(4), 6 * tileLen(4)]);
	const coarser = found(7, 0); // tile 1 of level 6 is its second half
	assert.deepEqual([coarser.length, coarser[0].t0, coarser[0].t1], [1, tileLen(6), 2 * tileLen(6)]);
	assert.equal(found(6, 9).length, 0);
	assert.equal(c.lookup(6, 1, 99, []), false);
});

test('requests for tiles that went out of view are given up', async () => {
	const aborted: string[] = [];
	globalThis.fetch = ((target: string, init: RequestInit) => new Promise((_, failed) => {
		init.signal!.addEventListener('abort', () => {
			aborted.push(target);
			failed(new DOMException('', 'AbortError'));
		});
	})) as unknown as typeof fetch;
	const c = new TileCache('1', () => {});
	c.want(5, 0, 1, [10]);
	c.want(5, 50, 50, [10]);
	await rest();
	assert.equal(aborted.length, 2);
	assert.equal(c.error.value, null, 'giving up is not an error');
	c.stop();
});

test('a failed tile is an error, and is asked for again later', async () => {
	let calls = 0;
	globalThis.fetch = (() => {
		calls++;
		return Promise.resolve(new Response('{"error":{"code":"busy","message":"try later","request_id":"r1"}}', { status: 503 }));
	}) as unknown as typeof fetch;
	const c = new TileCache('1', () => {});
	c.want(5, 0, 0, [10]);
	await rest();
	assert.equal(c.error.value?.message, 'try later');
	c.want(5, 0, 0, [10]);
	await rest();
	assert.equal(calls, 1, 'not in a tight loop');
	c.stop();
});

// ---- hits ----

const HITS = Array.from({ length: 1733 }, (_, i) => 1000 + i * 37);

function fakeSearch(): { calls: number } {
	const seen = { calls: 0 };
	globalThis.fetch = ((target: string) => {
		seen.calls++;
		const p = new URL(target, 'http://x').searchParams;
		const [t0, t1, limit, n] = ['t0', 't1', 'limit', 'strip'].map((k) => Number(p.get(k)));
		const inside = HITS.filter((ts) => ts + 10 > t0 && ts < t1); // a slice that began before t0 reaches into it
		const strip = n ? new Array<number>(n).fill(0) : undefined;
		if (strip) for (const ts of inside) strip[Math.min(n - 1, Math.floor(((ts - t0) / (t1 - t0)) * n))]++;
		const hits = inside.slice(0, limit).map((ts) => ({ id: ts, track: 1, depth: 0, name: 'gemm', ts, dur: 10 }));
		return Promise.resolve(new Response(JSON.stringify({ total: inside.length, hits, strip, truncated: inside.length > limit })));
	}) as unknown as typeof fetch;
	return seen;
}

const hitList = () => {
	const h = new HitList('1', { t0: 0, t1: 70_000 });
	h.set('gemm');
	return h;
};

test('stepping forward visits every hit in order and comes round', async () => {
	const seen = fakeSearch();
	const h = hitList();
	for (let i = 0; i < HITS.length + 3; i++) {
		const hit = await h.step(1, 0);
		assert.equal(hit?.ts, HITS[i % HITS.length], `step ${i}`);
		assert.equal(h.at.value, i % HITS.length);
	}
	assert.equal(h.total.value, HITS.length);
	assert.ok(seen.calls < 12, `${seen.calls} requests`);
});

test('stepping back from the start goes to the last hit, and back through all of them', async () => {
	fakeSearch();
	const h = hitList();
	await h.step(1, 0);
	for (let i = HITS.length - 1; i > HITS.length - 1300; i--) {
		const hit = await h.step(-1, 0);
		assert.equal(hit?.ts, HITS[i], `hit ${i}`);
		assert.equal(h.at.value, i);
	}
});

test('the first step starts at what is visible, in both directions', async () => {
	fakeSearch();
	const from = HITS[900] + 5; // inside hit 900: the next one is 901, the previous one 900
	const forward = hitList();
	assert.equal((await forward.step(1, from))?.ts, HITS[901]);
	assert.equal(forward.at.value, 901);
	const back = hitList();
	assert.equal((await back.step(-1, from))?.ts, HITS[900]);
	assert.equal(back.at.value, 900);
});
