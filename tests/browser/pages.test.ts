// SPDX-License-Identifier: Apache-2.0
// Every page in both colour schemes: nothing for axe at WCAG AA, clean console, and the canvas shows what hit() says.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { startServer, uploadAndWait, type TestServer } from '../lib/server.ts';
import { assertClean, axe, launch, newContext, newPage, noBrowser, settled, until, type Scheme } from './browser.ts';
import { GEMM, sampleGz, TINY_PER_STEP } from './sample.ts';

let s: TestServer;
let b: Browser;
let trace = '';

before(async () => {
	if (noBrowser) return;
	s = await startServer();
	const bundle = await uploadAndWait(s, 'rank_3.json.gz', sampleGz().bytes, { job: 'gpt-1b3-pretrain', host: 'gpu-a03' });
	assert.equal(bundle.state, 'ready', JSON.stringify(bundle.error));
	trace = bundle.traces[0]!.id;
	await uploadAndWait(s, 'broken.json', Buffer.from('{"traceEvents":[{]}'), { job: 'gpt-1b3-pretrain' });
	b = await launch();
});
after(async () => {
	await b?.close();
	await s?.stop();
});

const PAGES: Record<string, { path: () => string; ready: (p: Page) => Promise<unknown> }> = {
	list: { path: () => '/traces', ready: (p) => p.locator('table.list tbody tr').first().waitFor() },
	upload: { path: () => '/upload', ready: (p) => p.getByText('Drop trace files here').waitFor() },
	timeline: { path: () => `/traces/${trace}?test&t0=20000000&t1=30000000&range=21000000..27000000&q=gemm`, ready: select },
	analysis: { path: () => `/traces/${trace}/analysis`, ready: (p) => p.locator('.kernels tbody tr').first().waitFor() },
	login: { path: () => '/login?next=%2Ftraces', ready: (p) => p.getByLabel('Access token').waitFor() },
};

/** The fullest state of the timeline: range, search, selected kernel, hover card. */
async function select(p: Page): Promise<void> {
	await settled(p);
	await p.locator('.tl-fixed > canvas').focus();
	await p.keyboard.press('Enter');
	await p.locator('.slice-name').waitFor();
	await p.locator('table.agg tbody tr').first().waitFor();
}

for (const scheme of ['light', 'dark'] as Scheme[]) {
	for (const [name, { path, ready }] of Object.entries(PAGES)) {
		test(`the ${name} page is accessible and clean in ${scheme}`, { skip: noBrowser }, async () => {
			const c = await newContext(b, scheme);
			const { page, faults } = await newPage(c);
			await page.goto(s.url + path());
			await ready(page);
			await page.waitForTimeout(200);
			assert.equal(await page.evaluate(() => document.documentElement.getAttribute('data-theme')), scheme);
			await axe(page, `${name}, ${scheme}`);
			assertClean(faults);
			await c.close();
		});
	}

	test(`the canvas shows the slices that hit() names, in ${scheme}`, { skip: noBrowser }, async () => {
		const c = await newContext(b, scheme);
		const { page } = await newPage(c);
		await page.goto(`${s.url}/traces/${trace}?test&t0=20000000&t1=29900000`);
		await settled(page);
		const r = await page.evaluate(sampleCanvas);
		assert.ok(r.points > 30, `${r.points} points`);
		assert.deepEqual(r.wrong, []);
		// Compute, communication and copy must differ from each other and from the ground.
		const colors = new Set([r.byKind['5'], r.byKind['6'], r.byKind['7'], r.ground]);
		assert.equal(colors.size, 4, JSON.stringify(r.byKind));
		await c.close();

		/** Colours 2 px or more inside slices, away from text; all of one kind must look alike. */
		function sampleCanvas() {
			const ui = window.__ui!;
			const canvas = document.querySelector<HTMLCanvasElement>('.tl-fixed > canvas')!;
			const ctx = canvas.getContext('2d')!;
			const pixel = (x: number, y: number) => [...ctx.getImageData(Math.round(x), Math.round(y), 1, 1).data].slice(0, 3).join(',');
			const ground = pixel(ui.timeToX(29_700_000), canvas.height - 4);
			const wrong: string[] = [];
			const byKind: Record<string, string> = {};
			const byName: Record<string, string> = {};
			let points = 0;
			for (const h of ui.slices()) {
				if (h.merged || h.x1 - h.x0 < 8 || h.kind < 5) continue;
				const x = Math.max(2, h.x1 - 4);
				const y = h.y + h.h - 3;
				if (x >= canvas.width - 2 || y >= canvas.height) continue;
				const at = ui.hit(x, y);
				const color = pixel(x, y);
				points++;
				if (at?.id !== h.id) wrong.push(`hit(${x}, ${y}) is ${at?.name}, not ${h.name}`);
				byName[h.name] ??= color;
				if (byName[h.name] !== color) wrong.push(`${h.name} is ${color} and ${byName[h.name]}`);
				if (color === ground) wrong.push(`${h.name} looks like the ground`);
				byKind[h.kind] ??= color;
			}
			for (const h of ui.slices()) {
				if (h.kind >= 5 || h.merged || h.x1 - h.x0 < 8) continue;
				const y = h.y + h.h - 3;
				const x = Math.min(canvas.width - 3, h.x1 - 4);
				points++;
				if (y < canvas.height && x > 2 && ui.hit(x, y)?.id !== h.id) wrong.push(`hit misses ${h.name}`);
				if (y < canvas.height && x > 2 && pixel(x, y) === ground) wrong.push(`${h.name} is not drawn`);
			}
			// rows of tiny kernels: every 3rd pixel of the busy stretch has some kernel's shade
			for (let t = 24_510_000; t < 26_090_000; t += 40_000) {
				const row = ui.slices().find((h) => h.kind === 5)!;
				points++;
				if (!ui.hit(ui.timeToX(t), row.y + 5)) wrong.push(`nothing at ${t}`);
			}
			return { points, wrong: wrong.slice(0, 8), byKind, ground };
		}
	});
}

test('merged buckets say how many kernels they stand for and how busy they are', { skip: noBrowser }, async () => {
	const c = await newContext(b);
	const { page, faults } = await newPage(c);
	await page.goto(`${s.url}/traces/${trace}?test`);
	await settled(page);
	const merged = await page.evaluate(() => window.__ui!.slices().filter((h) => h.merged && h.kind === 5 && h.count > 1).map((h) => ({ count: h.count, busy: h.busy, x: (h.x0 + h.x1) / 2, y: h.y + h.h / 2, len: h.t1 - h.t0 })));
	assert.ok(merged.length > 10);
	const inside = merged.filter((m) => m.count > 5);
	for (const m of inside) assert.ok(m.busy > 0.3 && m.busy < 0.75, `half busy kernels are drawn ${m.busy} busy`);
	const total = merged.reduce((a, m) => a + m.count, 0);
	assert.ok(total > TINY_PER_STEP, `${total} kernels in buckets`);
	const box = (await page.locator('.tl-fixed > canvas').boundingBox())!;
	const m = inside[Math.floor(inside.length / 2)]!;
	await page.mouse.move(box.x + m.x, box.y + m.y);
	await page.locator('.hover-card').waitFor();
	assert.match(await page.locator('.hover-card').innerText(), /^\d+ kernels, \d+ % busy/);
	await page.mouse.click(box.x + m.x, box.y + m.y);
	await until(page, 'a click zooms into the bucket', () => window.__ui!.view().t1 - window.__ui!.view().t0 < 2_000_000);
	assertClean(faults);
	await c.close();
});

test('old pixels stay while finer ones are on their way', { skip: noBrowser }, async () => {
	const c = await newContext(b);
	const { page } = await newPage(c);
	await page.goto(`${s.url}/traces/${trace}?test`);
	await settled(page);
	await page.route(/\/slices\?/, async (r) => {
		await new Promise((done) => setTimeout(done, 1500));
		await r.continue().catch(() => {}); // aborted meanwhile
	});
	const box = (await page.locator('.tl-fixed > canvas').boundingBox())!;
	await page.mouse.move(box.x + box.width / 2, box.y + 60);
	for (let i = 0; i < 4; i++) await page.keyboard.press('KeyW');
	await page.waitForTimeout(250);
	const r = await page.evaluate(() => {
		const ui = window.__ui!;
		const row = ui.rows().find((x) => x.title === 'Stream 7, compute')!;
		const view = ui.view();
		const i = Math.ceil(view.t0 / 10_000_000);
		const x = ui.timeToX(i * 10_000_000 + 1_000_000); // inside the first GEMM of a step
		const canvas = document.querySelector<HTMLCanvasElement>('.tl-fixed > canvas')!;
		const pixel = (px: number, y: number) => [...canvas.getContext('2d')!.getImageData(Math.round(px), Math.round(y), 1, 1).data].join();
		const y = row.top + row.first / 2 - ui.size().scrollTop;
		return { loading: ui.loading(), there: ui.hit(x, y) !== null, drawn: pixel(x, y) !== pixel(ui.timeToX(i * 10_000_000 + 8_200_000), y) };
	});
	assert.deepEqual(r, { loading: true, there: true, drawn: true });
	await page.unroute(/\/slices\?/);
	await settled(page);
	await c.close();
});

test('a bundle that is being indexed shows its progress and turns into traces by itself', { skip: noBrowser }, async () => {
	const c = await newContext(b);
	const { page, faults } = await newPage(c);
	const row = { id: null, bundle: '77', name: 'coming.json.gz', state: 'indexing', stage: 'segment', job: 'coming', host: 'gpu-z', capture: null, rank: 4, bytes: 5, received_at: '2026-11-28T14:02:11Z', progress: { done: 62, total: 100, member: 'coming.json', events: 4_100_000, elapsed_ms: 23_000 } };
	let asked = 0;
	await page.route(/\/api\/v1\/traces\?/, (r) => {
		asked++;
		if (asked > 2) return r.continue();
		return r.fulfill({ json: { items: [row], next: null, total: 1, facets: { state: [{ value: 'indexing', count: 1 }], job: [], host: [] } } });
	});
	await page.goto(`${s.url}/traces`);
	const working = page.locator('tr.s-indexing');
	await working.waitFor();
	const text = await working.innerText();
	for (const part of [/coming/, /62 %/, /4\.1 M events/, /about 14 s left/]) assert.match(text, part);
	await axe(page, 'a list with progress');
	await page.locator('tr.s-ready').first().waitFor();
	assert.equal(await working.count(), 0);
	assertClean(faults);
	await c.close();
});

test('a link reopens exactly what was shown', { skip: noBrowser }, async () => {
	const c = await newContext(b);
	const { page } = await newPage(c);
	await page.goto(`${s.url}/traces/${trace}?test&t0=20000000&t1=24000000&range=20500000..23000000`);
	await settled(page);
	const at = await page.evaluate((name) => {
		const h = window.__ui!.slices().find((k) => k.name === name && k.x0 > 0)!;
		return { x: (h.x0 + h.x1) / 2, y: h.y + h.h / 2 };
	}, GEMM);
	const box = (await page.locator('.tl-fixed > canvas').boundingBox())!;
	await page.mouse.click(box.x + at.x, box.y + at.y);
	await page.locator('.slice-name').waitFor();
	await page.keyboard.press('KeyP');
	await page.getByRole('button', { name: /^Fold python/ }).first().click();
	await page.waitForTimeout(400);
	const link = page.url();
	const state = () => ({ view: window.__ui!.view(), range: window.__ui!.range(), ts: window.__ui!.details()?.ts, name: window.__ui!.details()?.name, pinned: document.querySelectorAll('.gutter-rows.pinned .g-row').length, rows: window.__ui!.rows().map((r) => r.title) });
	const before = await page.evaluate(state);
	assert.equal(before.pinned, 2);
	const { page: again } = await newPage(c);
	await again.goto(link);
	await again.locator('.slice-name').waitFor();
	await settled(again);
	assert.deepEqual(await again.evaluate(state), before);
	await c.close();
});

test('the theme switch stays after a reload', { skip: noBrowser }, async () => {
	const c = await newContext(b, 'light');
	const { page } = await newPage(c);
	await page.goto(`${s.url}/traces`);
	await page.getByRole('button', { name: 'Dark theme' }).click();
	assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), 'rgb(20, 23, 28)');
	await page.reload();
	await page.getByRole('button', { name: 'Light theme' }).waitFor();
	assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), 'rgb(20, 23, 28)');
	await c.close();
});

test('without a token every page leads to the login, and back after it', { skip: noBrowser }, async () => {
	const locked = await startServer({ args: ['--require-tokens'] });
	const c = await newContext(b);
	try {
		const { page } = await newPage(c);
		await page.goto(`${locked.url}/traces?q=x`);
		await page.waitForURL(/\/login\?next=%2Ftraces%3Fq%3Dx/);
		await page.getByLabel('Access token').fill('fst_0000000000000000000000000000000000000000');
		await page.getByRole('button', { name: 'Sign in' }).click();
		await page.getByRole('alert').waitFor();
		assert.match(await page.getByRole('alert').innerText(), /not valid/);
		const token = /first admin token, shown once: (fst_[0-9a-f]{40})/.exec(locked.stdout())?.[1];
		assert.ok(token, 'the server prints its first token');
		await page.getByLabel('Access token').fill(token);
		await page.getByRole('button', { name: 'Sign in' }).click();
		await page.waitForURL(/\/traces\?q=x/);
		await page.getByRole('button', { name: 'Sign out' }).click();
		await page.waitForURL(/\/login/);
	} finally {
		await c.close();
		await locked.stop();
	}
});
