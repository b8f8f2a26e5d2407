// SPDX-License-Identifier: Apache-2.0
// The timeline in headless Chromium on a made-up trace of 10 M slices on 10,000 tracks (FSC_BENCH_SLICES and
// FSC_BENCH_TRACKS change that): time to the first slices on the screen, time to draw a frame while panning and
// zooming, heap. Prints lines `name value unit ratio baseline`, the baseline being the target. Not part of the tests.
import { createReadStream, createWriteStream, rmSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { launch, newContext, newPage, noBrowser, settled } from '../browser/browser.ts';
import { getJson, startServer, tempDir, waitBundle } from '../lib/server.ts';

const SLICES = Number(process.env.FSC_BENCH_SLICES ?? 10_000_000);
const TRACKS = Number(process.env.FSC_BENCH_TRACKS ?? 10_000);
const KEYS = ['KeyD', 'KeyW', 'KeyD', 'KeyA', 'KeyS', 'KeyW'];
const STEPS = 120;

/** Pairs on every track, nested on threads and in a row on streams; lengths and names from a small generator; the same file each time. */
function* events(): Generator<string> {
	let seed = 42, text = '{"schemaVersion":1,"baseTimeNanoseconds":1727743122000000000,"traceEvents":[';
	const below = (n: number) => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) % n;
	const each = Math.max(2, Math.floor(SLICES / TRACKS));
	for (let track = 0; track < TRACKS; track++) {
		const pid = 1 + Math.floor(track / 100), stream = track % 10 === 0;
		for (let i = 0, ts = below(1000); i < each; i += 2) {
			const dur = 20 + below(400);
			for (let k = 0; k < 2; k++)
				text += `${i + k + track ? ',' : ''}\n{"ph":"X","name":"op${below(500)}","cat":"${stream ? 'kernel' : 'cpu_op'}","pid":${pid},"tid":${track},"ts":${k ? ts + dur / 2 : ts},"dur":${k || stream ? dur / 2 : dur}${stream ? `,"args":{"device":0,"stream":${track}}` : ''}}`;
			ts += dur + below(600);
			if (text.length > 1 << 18) { yield text; text = ''; }
		}
	}
	yield text + ']}';
}

function report(name: string, value: number, unit: string, target: number) {
	console.log(`${name} ${value.toFixed(1)} ${unit} ${(value / target).toFixed(2)} target`);
}
/** Uploads the file without reading it into memory; the id of its bundle. */
function send(url: string, file: string): Promise<string> {
	return new Promise((done, fail) => {
		const q = request(`${url}/api/v1/bundles?name=bench.json.gz`, { method: 'POST', headers: { 'Content-Length': statSync(file).size } }, (r) => {
			let text = '';
			r.on('data', (d: Buffer) => (text += d.toString()));
			r.on('end', () => (r.statusCode === 202 ? done(JSON.parse(text).id) : fail(new Error(`upload: HTTP ${r.statusCode} ${text}`))));
		});
		q.on('error', fail);
		createReadStream(file).on('error', fail).pipe(q);
	});
}
const median = (v: number[]): number => v.sort((a, b) => a - b)[v.length >> 1]!;

async function main() {
	if (noBrowser) return void console.error(`bench browser: skipped, ${noBrowser}`);
	const dir = tempDir('fsc-bench-'), file = join(dir, 'bench.json.gz'), data = join(dir, 'data');
	const server = await startServer({ data });
	const browser = await launch();
	try {
		await pipeline(Readable.from(events()), createGzip({ level: 1 }), createWriteStream(file));
		const bundle = await waitBundle(server, await send(server.url, file), 600_000);
		if (bundle.state !== 'ready') throw new Error(JSON.stringify(bundle.error));
		const made = await getJson<{ slices: number; tracks: number }>(server, `/traces/${bundle.traces[0]!.id}`);
		if (made.slices < SLICES * 0.99 || made.tracks !== TRACKS) throw new Error(`the trace has ${made.slices} slices on ${made.tracks} tracks`);
		const { page, faults } = await newPage(await newContext(browser));
		await page.addInitScript(() => {
			const w = window as unknown as { __first?: number };
			const look = () => {
				if (window.__ui && window.__ui.frames() > 0 && window.__ui.slices().length > 0) w.__first = performance.now();
				else requestAnimationFrame(look);
			};
			requestAnimationFrame(look);
		});
		const url = `${server.url}/traces/${bundle.traces[0]!.id}?test`, paints: number[] = [];
		for (let i = 0; i < 5; i++) {
			await page.goto(url);
			await settled(page);
			paints.push(await page.evaluate(() => (window as unknown as { __first: number }).__first));
		}
		const first = paints[0]!;
		const frames: number[] = [];
		let seen = -1;
		for (let i = 0; i < STEPS; i++) {
			await page.keyboard.press(KEYS[i % KEYS.length]!);
			const s = await page.evaluate(() => new Promise<{ n: number; ms: number }>((done) => requestAnimationFrame(() => requestAnimationFrame(() => done({ n: window.__ui!.frames(), ms: window.__ui!.drawMs() })))));
			if (s.n !== seen) frames.push(s.ms);
			seen = s.n;
		}
		await settled(page);
		const cdp = await page.context().newCDPSession(page);
		await cdp.send('HeapProfiler.collectGarbage');
		const heap = (await cdp.send('Runtime.getHeapUsage')) as { usedSize: number; embedderHeapUsedSize?: number; backingStorageSize?: number };
		if (faults.length) throw new Error(faults.join('\n'));
		if (frames.length < STEPS / 4) throw new Error(`only ${frames.length} frames were drawn`);
		report('browser_first_paint_cold', first, 'ms', 1000);
		report('browser_first_paint', median(paints), 'ms', 1000);
		report('browser_frame', median(frames), 'ms', 16);
		report('browser_heap', (heap.usedSize + (heap.embedderHeapUsedSize ?? 0) + (heap.backingStorageSize ?? 0)) / 1e6, 'MB', 100);
	} finally {
		await browser.close();
		await server.stop();
		rmSync(dir, { recursive: true, force: true });
	}
}

main().catch((e) => {
	console.error(`bench browser: ${e instanceof Error ? e.message : e}`);
	process.exitCode = 1;
});
