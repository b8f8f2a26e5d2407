// SPDX-License-Identifier: Apache-2.0
// The way of a trace through the browser: upload, list, timeline, zoom, range, details, analysis, Perfetto.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { startServer, type TestServer } from '../lib/server.ts';
import { assertClean, axe, canvasBox, launch, newContext, newPage, noBrowser, settled, until, view } from './browser.ts';
import { BASE_NS, GEMM, GEMM_NS, GEMMS_PER_STEP, NCCL, sampleGz, STEP_NS, STEPS, TINY, TINY_NS, TINY_PER_STEP } from './sample.ts';
import { startViewer, type Viewer } from './viewer.ts';

let s: TestServer;
let v: Viewer;
let b: Browser;
let c: BrowserContext;
let page: Page;
let faults: string[];
let trace = '';
const sample = sampleGz();
const opts = { skip: noBrowser };

before(async () => {
	if (noBrowser) return;
	v = await startViewer();
	s = await startServer({ args: ['--perfetto-origin', v.origin] });
	b = await launch();
	c = await newContext(b);
	({ page, faults } = await newPage(c));
});
after(async () => {
	await b?.close();
	await s?.stop();
	v?.stop();
});

test('an empty server says how to send the first trace', opts, async () => {
	await page.goto(`${s.url}/`);
	await page.getByRole('heading', { name: 'No traces yet' }).waitFor();
	assert.match(await page.locator('.empty code').innerText(), /fleetscope-collector push .* --server http:\/\/127\.0\.0\.1:\d+/);
	await axe(page, 'the empty list');
	await page.locator('.empty').getByRole('link', { name: 'Upload' }).click();
	await page.getByText('Drop trace files here').waitFor();
	assert.match(page.url(), /\/upload$/);
});

test('files upload, become traces, and bad ones say why', opts, async () => {
	await page.locator('#file-picker').setInputFiles([
		{ name: 'rank_3.json.gz', mimeType: 'application/gzip', buffer: sample.bytes },
		{ name: 'broken.json', mimeType: 'application/json', buffer: Buffer.from('{"traceEvents":[{"ph":"X","ts":1,"dur":2,"name":"a" "b"}]}') },
	]);
	const good = page.locator('.transfer', { hasText: 'rank_3.json.gz' });
	const bad = page.locator('.transfer', { hasText: 'broken.json' });
	await good.getByRole('link', { name: 'Open the trace' }).waitFor({ timeout: 60_000 });
	await bad.locator('.reason').waitFor({ timeout: 60_000 });
	assert.match(await bad.innerText(), /byte \d+/, 'the place in the file');
	await axe(page, 'the upload page with files');
	const href = await good.getByRole('link', { name: 'Open the trace' }).getAttribute('href');
	trace = /\/traces\/(\d+)/.exec(href ?? '')![1]!;
});

test('an upload can be cancelled and tried again', opts, async () => {
	await page.route(/name=slow/, () => {}); // never answered
	await page.locator('#file-picker').setInputFiles([{ name: 'slow.json', mimeType: 'application/json', buffer: Buffer.from('[]') }]);
	const row = page.locator('.transfer', { hasText: 'slow.json' });
	await row.getByRole('button', { name: 'Cancel' }).click();
	await row.getByText('Cancelled').waitFor();
	await page.unroute(/name=slow/);
	await row.getByRole('button', { name: 'Retry' }).click();
	await row.locator('.reason, a.btn').first().waitFor({ timeout: 30_000 });
	await row.getByRole('button', { name: 'Remove slow.json' }).click();
	assert.equal(await row.count(), 0);
});

test('a second upload of the same bytes is called a duplicate and leads to the same trace', opts, async () => {
	await page.locator('#file-picker').setInputFiles([{ name: 'again.json.gz', mimeType: 'application/gzip', buffer: sample.bytes }]);
	const row = page.locator('.transfer', { hasText: 'again.json.gz' });
	await row.getByText('Already here').waitFor({ timeout: 30_000 });
	await row.getByRole('link', { name: 'Open the trace' }).waitFor({ timeout: 30_000 });
	assert.equal(await row.getByRole('link', { name: 'Open the trace' }).getAttribute('href'), `/traces/${trace}`);
});

test('the list shows the trace and the failed file, filters, and keeps its state in the URL', opts, async () => {
	await page.getByRole('link', { name: 'Traces', exact: true }).first().click();
	await page.locator('table.list tbody tr').nth(1).waitFor();
	const rows = page.locator('table.list tbody tr');
	assert.equal(await rows.count(), 3);
	const failed = page.locator('tr.s-failed', { hasText: 'broken.json' });
	assert.match(await failed.innerText(), /at byte \d+/);
	await page.locator('.rail').getByLabel(/Ready/).check();
	await until(page, 'one row', () => document.querySelectorAll('table.list tbody tr').length === 1);
	assert.match(page.url(), /state=ready/);
	await page.goBack();
	await until(page, 'all rows again', () => document.querySelectorAll('table.list tbody tr').length === 3);
	await page.getByLabel('Filter traces').fill('rank_3');
	await until(page, 'the search', () => location.search.includes('q=rank_3') && document.querySelectorAll('table.list tbody tr').length === 1);
	const cells = await rows.first().innerText();
	assert.match(cells, /3 of 8/);
	assert.match(cells, new RegExp(sample.slices.toLocaleString('en-US')));
	await page.getByLabel('Filter traces').fill('no such trace');
	await page.getByRole('heading', { name: 'No trace matches' }).waitFor();
	await page.getByRole('button', { name: 'Clear search and filters' }).click();
	await until(page, 'all rows after clearing', () => document.querySelectorAll('table.list tbody tr').length === 3);
	await failed.getByRole('button', { name: 'Details' }).click();
	await page.locator('dialog[open]').getByText('broken.json').first().waitFor();
	assert.ok(!(await page.locator('dialog[open]').innerText()).includes('No losses'), 'an upload that failed has no events that are all there');
	await axe(page, 'the details of an upload');
	await page.keyboard.press('Escape');
});

test('the timeline opens on the whole trace', opts, async () => {
	await page.goto(`${s.url}/traces/${trace}?test`);
	await settled(page);
	assert.match(await page.locator('h1').innerText(), /rank 3 of 8/);
	const w = await view(page);
	assert.ok(w.t0 <= 0 && w.t1 >= (STEPS - 1) * STEP_NS + 9_000_000 && w.len < STEPS * STEP_NS + 1_000, JSON.stringify(w));
	const titles = await page.locator('.g-title').allInnerTexts();
	for (const t of ['Stream 7, compute', 'Stream 20, communication', 'Stream 24, copies']) assert.ok(titles.includes(t), `${t} in ${titles.join(' | ')}`);
	assert.equal(await page.locator('.band canvas').count(), 1);
});

test('keys and wheel zoom and pan, buttons too, and the URL follows', opts, async () => {
	const box = await canvasBox(page);
	await page.mouse.move(box.x + box.width / 2, box.y + 60);
	const a = await view(page);
	await page.keyboard.press('KeyW');
	const zoomed = await view(page);
	assert.ok(zoomed.len < a.len * 0.8, 'W zooms in');
	assert.ok(Math.abs((zoomed.t0 + zoomed.t1) / 2 - (a.t0 + a.t1) / 2) < a.len * 0.01, 'at the pointer');
	await page.keyboard.press('KeyD');
	assert.ok((await view(page)).t0 > zoomed.t0, 'D pans right');
	await page.keyboard.press('KeyA');
	await page.keyboard.press('KeyS');
	assert.ok((await view(page)).len > zoomed.len, 'S zooms out');
	await page.keyboard.down('Control');
	await page.mouse.wheel(0, -400);
	await page.keyboard.up('Control');
	await page.waitForTimeout(100);
	const wheel = await view(page);
	assert.ok(wheel.len < a.len * 0.6, 'Ctrl and wheel zoom');
	await page.keyboard.down('Shift');
	await page.mouse.wheel(0, 120);
	await page.keyboard.up('Shift');
	await page.waitForTimeout(100);
	assert.ok((await view(page)).t0 > wheel.t0, 'Shift and wheel pan');
	await page.getByRole('button', { name: 'Zoom out' }).click();
	await page.getByRole('button', { name: 'Whole trace' }).click();
	assert.deepEqual(await view(page), a);
	await page.getByLabel('view from').fill('20 ms');
	await page.getByLabel('view from').press('Enter');
	await until(page, 'the typed start', () => window.__ui!.view().t0 === 20_000_000 && location.search.includes('t0=20000000'));
	await page.goto(`${s.url}/traces/${trace}?test&t0=20000000&t1=30000000`);
	await settled(page);
	assert.deepEqual(await page.evaluate(() => window.__ui!.view()), { t0: 20_000_000, t1: 30_000_000 });
});

test('dragging selects a range whose table adds up to the truth', opts, async () => {
	const box = await canvasBox(page);
	const x = (t: number) => page.evaluate((at) => window.__ui!.timeToX(at), t);
	await page.mouse.move(box.x + (await x(20_500_000)), box.y + 90);
	await page.mouse.down();
	await page.mouse.move(box.x + (await x(24_000_000)), box.y + 95, { steps: 5 });
	await page.mouse.up();
	await page.locator('table.agg tbody tr').first().waitFor();
	assert.match(page.url(), /range=\d+\.\.\d+/);
	const drawn = await page.evaluate(() => window.__ui!.range()!);
	const px = STEP_NS / box.width;
	assert.ok(Math.abs(drawn.t0 - 20_500_000) < 2 * px && Math.abs(drawn.t1 - 24_000_000) < 2 * px, JSON.stringify(drawn));
	// exact edges by typing
	await page.getByLabel('range from').fill('20 ms');
	await page.getByLabel('range from').press('Enter');
	await page.getByLabel('range to').fill('30 ms');
	await page.getByLabel('range to').press('Enter');
	await until(page, 'the typed range', () => { const r = window.__ui!.range(); return r?.t0 === 20_000_000 && r.t1 === 30_000_000; });
	await until(page, 'its table', () => document.querySelectorAll('table.agg tbody tr').length === 4);
	const gemm = page.locator('table.agg tbody tr', { has: page.locator(`th[title="${GEMM}"]`) });
	const cells = (await gemm.locator('td').allInnerTexts()).map((t) => t.trim());
	assert.equal(cells[1], String(GEMMS_PER_STEP));
	assert.equal(cells[2], ((GEMMS_PER_STEP * GEMM_NS) / 1e6).toFixed(3));
	assert.equal(cells[3], `${((100 * GEMMS_PER_STEP * GEMM_NS) / STEP_NS).toFixed(1)} %`);
	const tiny = page.locator('table.agg tbody tr', { has: page.locator(`th[title="${TINY}"]`) });
	assert.equal((await tiny.locator('td').nth(1).innerText()).trim(), String(TINY_PER_STEP));
	const foot = (await page.locator('table.agg tfoot td').allInnerTexts()).map((t) => t.trim());
	assert.equal(foot[1], String(GEMMS_PER_STEP + TINY_PER_STEP + 2));
	const total = GEMMS_PER_STEP * GEMM_NS + TINY_PER_STEP * TINY_NS + 200_000 + 1_500_000;
	assert.equal(foot[2], (total / 1e6).toFixed(3));
	await page.getByRole('group', { name: 'Group by' }).getByRole('button', { name: 'kind' }).click();
	await until(page, 'rows by kind', () => document.querySelectorAll('table.agg tbody tr').length === 3);
	await page.getByRole('group', { name: 'Group by' }).getByRole('button', { name: 'name' }).click();
});

test('clicking a kernel shows its launch, its arguments and its neighbours', opts, async () => {
	const box = await canvasBox(page);
	const at = await page.evaluate((name) => {
		const h = window.__ui!.slices().find((k) => k.name === name && !k.merged && k.x0 > 0)!;
		return { x: (h.x0 + h.x1) / 2, y: h.y + h.h / 2, t0: h.t0 };
	}, GEMM);
	await page.mouse.click(box.x + at.x, box.y + at.y);
	await page.locator('.slice-name', { hasText: GEMM }).waitFor();
	assert.match(page.url(), new RegExp(`sel=\\d+\\.${at.t0}\\.`));
	const text = await page.locator('.d-right').innerText();
	for (const part of [/cudaLaunchKernel/, /40\.000 µs/, /\[16, 64, 1\]/, /\[256, 1, 1\]/, /232/, /144 KiB/, new RegExp(`${GEMMS_PER_STEP * STEPS} in trace`)]) assert.match(text, part);
	await page.getByRole('button', { name: 'Next of the same name' }).click();
	await page.waitForFunction((start) => (window.__ui!.details()?.ts ?? 0) > start, at.t0); // the next of the same name
	await page.keyboard.press('Shift+BracketLeft');
	await page.waitForFunction((start) => window.__ui!.details()?.ts === start, at.t0); // and back
	await page.getByRole('button', { name: /All \d+ args/ }).click();
	await page.locator('dialog[open]').getByText('registers per thread').waitFor();
	await page.keyboard.press('Escape');
	assert.equal(await page.locator('dialog[open]').count(), 0);
	assert.ok(await page.evaluate(() => window.__ui!.details()), 'Escape closed the dialog only');
	await page.locator('.d-right').getByRole('button', { name: 'cudaLaunchKernel' }).click();
	await until(page, 'the launch', () => window.__ui!.details()?.name === 'cudaLaunchKernel');
	await page.goBack();
	await until(page, 'back to the kernel', () => window.__ui!.details()?.launched_by?.name === 'cudaLaunchKernel');
	const kernel = await page.evaluate(() => window.__ui!.details()!.ts);
	await page.keyboard.press('BracketRight'); // a kernel launches nothing: stays
	await page.waitForTimeout(200);
	assert.equal(await page.evaluate(() => window.__ui!.details()!.ts), kernel);
	await page.keyboard.press('BracketLeft');
	await until(page, 'the launch by key', () => window.__ui!.details()?.name === 'cudaLaunchKernel');
	await page.keyboard.press('BracketRight');
	await until(page, 'the kernel by key', () => window.__ui!.details()?.launched_by?.name === 'cudaLaunchKernel');
	assert.equal(await page.evaluate(() => window.__ui!.details()!.ts), kernel);
	await page.keyboard.press('KeyP');
	await page.locator('.gutter-rows.pinned', { hasText: 'Stream 7' }).waitFor();
	assert.match(page.url(), /pin=\d+/);
	await page.keyboard.press('KeyP');
});

test('searching steps through the hits in order', opts, async () => {
	await page.keyboard.press('Slash');
	await page.keyboard.type('allreduce');
	await page.getByText(`${STEPS} hits`).waitFor();
	for (let i = 0; i < STEPS + 1; i++) {
		await page.keyboard.press('Enter');
		await page.waitForTimeout(250);
	}
	await until(page, 'a hit is selected', () => window.__ui!.details()?.name.includes('AllReduce'));
	assert.match(await page.locator('.tl-search .note').innerText(), new RegExp(`hit \\d of ${STEPS}`));
	const first = await page.evaluate(() => window.__ui!.details()!.ts);
	await page.keyboard.press('Shift+Enter');
	await page.waitForTimeout(400);
	const second = await page.evaluate(() => window.__ui!.details()!.ts);
	assert.equal(Math.abs(first - second) % STEP_NS, 0);
	assert.notEqual(first, second);
	assert.equal((await page.evaluate(() => window.__ui!.details()!.name)), NCCL);
	await page.keyboard.press('Escape');
});

test('help opens on ? and closes on Escape, and keys do nothing meanwhile', opts, async () => {
	await page.locator('.tl-fixed > canvas').focus();
	const a = await view(page);
	await page.keyboard.press('?');
	await page.getByRole('heading', { name: 'Keys' }).waitFor();
	await page.keyboard.press('KeyW');
	assert.deepEqual(await view(page), a);
	await axe(page, 'the help');
	await page.keyboard.press('Escape');
	await until(page, 'the dialog is gone', () => document.querySelector('dialog[open]') === null);
});

test('the keyboard alone selects slices', opts, async () => {
	await page.goto(`${s.url}/traces/${trace}?test&t0=20000000&t1=24000000`);
	await settled(page);
	await page.locator('.tl-fixed > canvas').focus();
	await page.keyboard.press('ArrowRight');
	await until(page, 'a slice', () => window.__ui!.details() !== null);
	const before = await page.evaluate(() => window.__ui!.details()!.ts);
	await page.keyboard.press('ArrowDown');
	await page.waitForTimeout(300);
	await page.keyboard.press('ArrowRight');
	await page.waitForTimeout(300);
	const after = await page.evaluate(() => window.__ui!.details()!.ts);
	assert.ok(after >= before);
	await page.getByRole('tab', { name: 'Slices in view' }).click();
	await page.locator('.d-left tbody tr').first().waitFor();
});

test('the analysis adds up and each kernel leads to the timeline', opts, async () => {
	await page.getByRole('link', { name: 'Analysis' }).click();
	await page.locator('.breakdown tbody tr').first().waitFor();
	assert.match(await page.locator('.breakdown tbody tr').first().innerText(), /100\.0 %/);
	const parts = (await page.locator('.breakdown .legend b').allInnerTexts()).map(Number);
	assert.equal(Math.round(parts.reduce((a, x) => a + x, 0) * 10), 1000, parts.join(' + '));
	assert.equal(await page.locator('.steps a.step').count(), STEPS);
	const rows = page.locator('.kernels tbody tr');
	assert.equal(await rows.count(), 4);
	assert.match(await rows.first().innerText(), new RegExp(`\\b${GEMMS_PER_STEP * STEPS}\\b`));
	await page.locator('.kernels').getByRole('button', { name: 'Name', exact: true }).click();
	await page.locator('.kernels').getByRole('button', { name: 'Count' }).click();
	assert.match(await rows.first().locator('th').getAttribute('title') ?? '', /vectorized_elementwise/);
	await page.getByLabel('Filter kernels').fill('gemm');
	await until(page, 'one kernel', () => document.querySelectorAll('.kernels tbody tr').length === 1);
	await page.getByRole('button', { name: 'without the last' }).click();
	await until(page, 'the scope', () => location.search.includes('steps=no_last') && document.querySelectorAll('.steps a.step').length === 4);
	assert.match(await rows.first().innerText(), new RegExp(`\\b${GEMMS_PER_STEP * (STEPS - 1)}\\b`));
	await page.getByRole('button', { name: `all ${STEPS}` }).click();
	await rows.first().locator('a').click();
	await page.waitForURL(/\/traces\/\d+\?/);
	await page.locator('.slice-name', { hasText: GEMM }).waitFor();
	assert.equal(await page.getByLabel('Search slices of this trace').inputValue(), GEMM);
	await page.goBack();
	await page.locator('.steps a.step').nth(2).click();
	await page.waitForURL(/range=20000000\.\.29999000/);
});

async function viewerAfter(click: () => Promise<void>): Promise<{ p: Page; got: NonNullable<Window['got']>; params: URLSearchParams }> {
	const [p] = await Promise.all([c.waitForEvent('page'), click()]);
	const got = await until(p, 'the trace in the viewer', () => window.got, 30_000);
	return { p, got, params: new URLSearchParams(p.url().split('?')[1]) };
}

test('a kernel opens in Perfetto: handed over, selected by absolute time', opts, async () => {
	await page.goto(`${s.url}/traces/${trace}?test&t0=20000000&t1=24000000`);
	await settled(page);
	const box = await canvasBox(page);
	const at = await page.evaluate((name) => {
		const h = window.__ui!.slices().find((k) => k.name === name && !k.merged && k.t0 > 20_000_000)!;
		return { x: (h.x0 + h.x1) / 2, y: h.y + h.h / 2, t0: h.t0, t1: h.t1 };
	}, GEMM);
	await page.mouse.click(box.x + at.x, box.y + at.y);
	await page.locator('.slice-name').waitFor();
	const { p, got, params } = await viewerAfter(() => page.locator('.d-right').getByRole('button', { name: 'Perfetto' }).click());
	assert.equal(got.origin, s.url);
	assert.equal(params.get('ts'), String(BASE_NS + BigInt(at.t0)));
	assert.equal(params.get('dur'), String(at.t1 - at.t0));
	assert.ok(BigInt(params.get('visStart')!) < BigInt(params.get('ts')!));
	assertTrace(Buffer.from(got.bytes), GEMM);
	await p.close();
});

/** A Perfetto trace is a row of TracePacket messages (field 1); gzip is not used on this way. */
function assertTrace(bytes: Buffer, name: string): void {
	const raw = bytes[0] === 0x1f ? gunzipSync(bytes) : bytes;
	assert.equal(raw[0], 0x0a, 'begins with a packet');
	let at = 0;
	let packets = 0;
	while (at < raw.length) {
		assert.equal(raw[at], 0x0a);
		let len = 0;
		let shift = 1;
		for (at++; ; at++) {
			len += (raw[at]! & 127) * shift;
			shift *= 128;
			if (raw[at]! < 128) break;
		}
		at += 1 + len;
		packets++;
	}
	assert.equal(at, raw.length, 'ends with a whole packet');
	assert.ok(packets > 5);
	assert.ok(raw.includes(Buffer.from(name)), 'holds the kernel');
}

test('the export menu offers each format for the range and for the whole trace', opts, async () => {
	await page.goto(`${s.url}/traces/${trace}?test`);
	await settled(page);
	const menu = page.locator('.export-menu');
	await menu.getByRole('button', { name: 'Export' }).click();
	await axe(page, 'the export menu');
	assert.deepEqual(await menu.locator('a').evaluateAll((a) => a.map((x) => x.getAttribute('href')!.replace(/^.*export/, ''))), ['/perfetto', '/chrome', '/csv']);
	await page.keyboard.press('Escape');
	assert.equal(await menu.locator('a').count(), 0);
	const box = await canvasBox(page);
	await page.mouse.move(box.x + 300, box.y + 60);
	await page.mouse.down();
	await page.mouse.move(box.x + 500, box.y + 60, { steps: 4 });
	await page.mouse.up();
	const range = await until(page, 'a range', () => window.__ui!.range());
	await menu.getByRole('button', { name: 'Export' }).click();
	const links = await menu.locator('a').evaluateAll((a) => a.map((x) => x.getAttribute('href')!.replace(/^.*export/, '')));
	assert.equal(links.length, 6);
	assert.equal(links[2], `/csv?t0=${range.t0}&t1=${range.t1}`);
	const [download] = await Promise.all([page.waitForEvent('download'), menu.locator('a').nth(2).click()]);
	assert.match(download.suggestedFilename(), /\.csv$/);
	assert.match(readFileSync(await download.path(), 'utf8'), /^slice,track,pid,.*\r\n\d/);
	assert.equal(await menu.locator('a').count(), 0, 'closed after a choice');
	await page.keyboard.press('Escape');
});

test('the whole trace opens in Perfetto too', opts, async () => {
	await page.goto(`${s.url}/traces/${trace}/analysis`);
	await page.locator('.breakdown').waitFor();
	const { p, got, params } = await viewerAfter(() => page.getByRole('button', { name: 'Open in Perfetto' }).click());
	assert.equal(params.get('ts'), null);
	assert.match(got.fileName, /\.pftrace$/);
	assertTrace(Buffer.from(got.bytes), NCCL);
	await p.close();
});

test('when the browser blocks the window, a second button opens it with what was fetched', opts, async () => {
	await page.evaluate(() => {
		const real = window.open;
		let blocked = false;
		window.open = (...a: Parameters<typeof window.open>) => (blocked ? real.apply(window, a) : ((blocked = true), null));
	});
	await page.getByRole('button', { name: 'Open in Perfetto' }).click();
	await page.getByText('The browser blocked the new window').waitFor();
	const { p, got } = await viewerAfter(() => page.getByRole('button', { name: 'Open the window' }).click());
	assertTrace(Buffer.from(got.bytes), NCCL);
	await p.close();
});

test('a page that is not there says so, with its request', opts, async () => {
	const other = await newPage(c);
	await other.page.goto(`${s.url}/traces/999`);
	await other.page.getByRole('alert').waitFor();
	assert.match(await other.page.getByRole('alert').innerText(), /could not be loaded[\s\S]*Request/);
	await axe(other.page, 'an error');
	await other.page.goto(`${s.url}/nowhere`);
	await other.page.getByRole('heading', { name: 'No such page' }).waitFor();
	await other.page.close();
});

test('nothing was written to the console on the whole way', opts, () => {
	assertClean(faults);
});
